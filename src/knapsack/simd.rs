//! Four numbers at a time: as plain arithmetic, with SSE2 and with AVX2. All variants give the same results to the last
//! bit: none uses fused operations or estimates.
//!
//! Uses intrinsics, because a library for every x86-64 may use AVX2 only after checking the processor.
#![allow(unsafe_code)]

/// The number of columns.
pub(super) const WIDTH: usize = 4;

/// [`WIDTH`] numbers, and the operations of the passes on them.
pub(super) trait Vector: Copy {
    type Mask: Copy;
    fn load(from: &[f64; WIDTH]) -> Self;
    fn splat(number: f64) -> Self;
    fn of(a: f64, b: f64, c: f64, d: f64) -> Self;
    fn store(self) -> [f64; WIDTH];
    /// Rows, as whole numbers from 0 up to `i32::MAX`, as positions: `(start + row) * WIDTH + column`.
    fn positions(self, start: u32) -> [u32; WIDTH];
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    /// The greater one of each column; `other` if they are equal or unordered.
    fn most(self, other: Self) -> Self;
    /// The lesser one of each column; `other` if they are equal or unordered.
    fn least(self, other: Self) -> Self;
    fn greater(self, other: Self) -> Self::Mask;
    fn at_least(self, other: Self) -> Self::Mask;
    fn and(one: Self::Mask, other: Self::Mask) -> Self::Mask;
    fn or(one: Self::Mask, other: Self::Mask) -> Self::Mask;
    /// A bit for each column.
    fn bits(mask: Self::Mask) -> u32;
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;
}

/// The widest vectors that every processor of the target supports.
#[cfg(target_arch = "x86_64")]
pub(super) use sse2::Sse2 as Baseline;
#[cfg(not(target_arch = "x86_64"))]
pub(super) type Baseline = Plain;

#[cfg(any(test, not(target_arch = "x86_64")))]
#[derive(Clone, Copy)]
pub(super) struct Plain([f64; WIDTH]);

#[cfg(any(test, not(target_arch = "x86_64")))]
impl Plain {
    #[inline(always)]
    fn zip(self, other: Self, each: impl Fn(f64, f64) -> f64) -> Self {
        Self(std::array::from_fn(|column| each(self.0[column], other.0[column])))
    }
}

#[cfg(any(test, not(target_arch = "x86_64")))]
impl Vector for Plain {
    type Mask = [bool; WIDTH];

    #[inline(always)]
    fn load(from: &[f64; WIDTH]) -> Self {
        Self(*from)
    }

    #[inline(always)]
    fn splat(number: f64) -> Self {
        Self([number; WIDTH])
    }

    #[inline(always)]
    fn of(a: f64, b: f64, c: f64, d: f64) -> Self {
        Self([a, b, c, d])
    }

    #[inline(always)]
    fn store(self) -> [f64; WIDTH] {
        self.0
    }

    #[inline(always)]
    fn positions(self, start: u32) -> [u32; WIDTH] {
        std::array::from_fn(|column| (start + self.0[column] as u32) * WIDTH as u32 + column as u32)
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.zip(other, |a, b| a + b)
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.zip(other, |a, b| a - b)
    }

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        self.zip(other, |a, b| a * b)
    }

    #[inline(always)]
    fn most(self, other: Self) -> Self {
        self.zip(other, |a, b| if a > b { a } else { b })
    }

    #[inline(always)]
    fn least(self, other: Self) -> Self {
        self.zip(other, |a, b| if a < b { a } else { b })
    }

    #[inline(always)]
    fn greater(self, other: Self) -> [bool; WIDTH] {
        std::array::from_fn(|column| self.0[column] > other.0[column])
    }

    #[inline(always)]
    fn at_least(self, other: Self) -> [bool; WIDTH] {
        std::array::from_fn(|column| self.0[column] >= other.0[column])
    }

    #[inline(always)]
    fn and(one: [bool; WIDTH], other: [bool; WIDTH]) -> [bool; WIDTH] {
        std::array::from_fn(|column| one[column] & other[column])
    }

    #[inline(always)]
    fn or(one: [bool; WIDTH], other: [bool; WIDTH]) -> [bool; WIDTH] {
        std::array::from_fn(|column| one[column] | other[column])
    }

    #[inline(always)]
    fn bits(mask: [bool; WIDTH]) -> u32 {
        (0..WIDTH).map(|column| u32::from(mask[column]) << column).sum()
    }

    #[inline(always)]
    fn select(mask: [bool; WIDTH], yes: Self, no: Self) -> Self {
        Self(std::array::from_fn(|column| if mask[column] { yes.0[column] } else { no.0[column] }))
    }
}

#[cfg(target_arch = "x86_64")]
mod sse2 {
    use std::arch::x86_64::*;

    use super::{Vector, WIDTH};

    #[derive(Clone, Copy)]
    pub(in super::super) struct Sse2([__m128d; 2]);

    /// One intrinsic applied to the lower and the upper half.
    macro_rules! both {
        ($intrinsic:ident, $one:expr, $other:expr) => {{
            let (one, other): ([__m128d; 2], [__m128d; 2]) = ($one, $other);
            // SAFETY: every x86-64 processor has SSE2.
            unsafe { [$intrinsic(one[0], other[0]), $intrinsic(one[1], other[1])] }
        }};
    }

    #[inline(always)]
    pub(super) fn positions(rows: __m128i, start: u32) -> [u32; WIDTH] {
        let first = (start * WIDTH as u32) as i32;
        let mut to = [0; WIDTH];
        // SAFETY: every x86-64 processor has SSE2, and four integers can be written there, of any alignment.
        unsafe {
            let columns = _mm_add_epi32(_mm_set1_epi32(first), _mm_set_epi32(3, 2, 1, 0));
            _mm_storeu_si128(to.as_mut_ptr().cast(), _mm_add_epi32(_mm_slli_epi32::<2>(rows), columns));
        }
        to
    }

    impl Vector for Sse2 {
        type Mask = [__m128d; 2];

        #[inline(always)]
        fn load(from: &[f64; WIDTH]) -> Self {
            // SAFETY: two numbers each can be read there, of any alignment.
            Self(unsafe { [_mm_loadu_pd(from.as_ptr()), _mm_loadu_pd(from.as_ptr().add(2))] })
        }

        #[inline(always)]
        fn splat(number: f64) -> Self {
            // SAFETY: every x86-64 processor has SSE2.
            Self(unsafe { [_mm_set1_pd(number); 2] })
        }

        #[inline(always)]
        fn of(a: f64, b: f64, c: f64, d: f64) -> Self {
            // SAFETY: every x86-64 processor has SSE2.
            Self(unsafe { [_mm_setr_pd(a, b), _mm_setr_pd(c, d)] })
        }

        #[inline(always)]
        fn store(self) -> [f64; WIDTH] {
            let mut to = [0.0; WIDTH];
            // SAFETY: two numbers each can be written there, of any alignment.
            unsafe {
                _mm_storeu_pd(to.as_mut_ptr(), self.0[0]);
                _mm_storeu_pd(to.as_mut_ptr().add(2), self.0[1]);
            }
            to
        }

        #[inline(always)]
        fn positions(self, start: u32) -> [u32; WIDTH] {
            // SAFETY: every x86-64 processor has SSE2.
            positions(unsafe { _mm_unpacklo_epi64(_mm_cvttpd_epi32(self.0[0]), _mm_cvttpd_epi32(self.0[1])) }, start)
        }

        #[inline(always)]
        fn add(self, other: Self) -> Self {
            Self(both!(_mm_add_pd, self.0, other.0))
        }

        #[inline(always)]
        fn sub(self, other: Self) -> Self {
            Self(both!(_mm_sub_pd, self.0, other.0))
        }

        #[inline(always)]
        fn mul(self, other: Self) -> Self {
            Self(both!(_mm_mul_pd, self.0, other.0))
        }

        #[inline(always)]
        fn most(self, other: Self) -> Self {
            Self(both!(_mm_max_pd, self.0, other.0))
        }

        #[inline(always)]
        fn least(self, other: Self) -> Self {
            Self(both!(_mm_min_pd, self.0, other.0))
        }

        #[inline(always)]
        fn greater(self, other: Self) -> [__m128d; 2] {
            both!(_mm_cmpgt_pd, self.0, other.0)
        }

        #[inline(always)]
        fn at_least(self, other: Self) -> [__m128d; 2] {
            both!(_mm_cmpge_pd, self.0, other.0)
        }

        #[inline(always)]
        fn and(one: [__m128d; 2], other: [__m128d; 2]) -> [__m128d; 2] {
            both!(_mm_and_pd, one, other)
        }

        #[inline(always)]
        fn or(one: [__m128d; 2], other: [__m128d; 2]) -> [__m128d; 2] {
            both!(_mm_or_pd, one, other)
        }

        #[inline(always)]
        fn bits(mask: [__m128d; 2]) -> u32 {
            // SAFETY: every x86-64 processor has SSE2.
            unsafe { (_mm_movemask_pd(mask[0]) | _mm_movemask_pd(mask[1]) << 2) as u32 }
        }

        #[inline(always)]
        fn select(mask: [__m128d; 2], yes: Self, no: Self) -> Self {
            Self(both!(_mm_or_pd, both!(_mm_and_pd, mask, yes.0), both!(_mm_andnot_pd, mask, no.0)))
        }
    }
}

#[cfg(target_arch = "x86_64")]
pub(super) use avx2::Avx2;

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::*;

    use super::{Vector, WIDTH};

    /// Use it only where the processor is known to have AVX2: in functions with AVX2 enabled, into which all of this is
    /// inlined.
    #[derive(Clone, Copy)]
    pub(in super::super) struct Avx2(__m256d);

    impl Vector for Avx2 {
        type Mask = __m256d;

        #[inline(always)]
        fn load(from: &[f64; WIDTH]) -> Self {
            // SAFETY: four numbers can be read there, of any alignment; AVX2 is there (see above).
            Self(unsafe { _mm256_loadu_pd(from.as_ptr()) })
        }

        #[inline(always)]
        fn splat(number: f64) -> Self {
            // SAFETY: AVX2 is there (see above).
            Self(unsafe { _mm256_set1_pd(number) })
        }

        #[inline(always)]
        fn of(a: f64, b: f64, c: f64, d: f64) -> Self {
            // SAFETY: AVX2 is there (see above).
            Self(unsafe { _mm256_setr_pd(a, b, c, d) })
        }

        #[inline(always)]
        fn store(self) -> [f64; WIDTH] {
            let mut to = [0.0; WIDTH];
            // SAFETY: four numbers can be written there, of any alignment; AVX2 is there (see above).
            unsafe { _mm256_storeu_pd(to.as_mut_ptr(), self.0) };
            to
        }

        #[inline(always)]
        fn positions(self, start: u32) -> [u32; WIDTH] {
            // SAFETY: AVX2 is there (see above).
            super::sse2::positions(unsafe { _mm256_cvttpd_epi32(self.0) }, start)
        }

        #[inline(always)]
        fn add(self, other: Self) -> Self {
            // SAFETY: AVX2 is there (see above).
            Self(unsafe { _mm256_add_pd(self.0, other.0) })
        }

        #[inline(always)]
        fn sub(self, other: Self) -> Self {
            // SAFETY: AVX2 is there (see above).
            Self(unsafe { _mm256_sub_pd(self.0, other.0) })
        }

        #[inline(always)]
        fn mul(self, other: Self) -> Self {
            // SAFETY: AVX2 is there (see above).
            Self(unsafe { _mm256_mul_pd(self.0, other.0) })
        }

        #[inline(always)]
        fn most(self, other: Self) -> Self {
            // SAFETY: AVX2 is there (see above).
            Self(unsafe { _mm256_max_pd(self.0, other.0) })
        }

        #[inline(always)]
        fn least(self, other: Self) -> Self {
            // SAFETY: AVX2 is there (see above).
            Self(unsafe { _mm256_min_pd(self.0, other.0) })
        }

        #[inline(always)]
        fn greater(self, other: Self) -> __m256d {
            // SAFETY: AVX2 is there (see above).
            unsafe { _mm256_cmp_pd::<_CMP_GT_OQ>(self.0, other.0) }
        }

        #[inline(always)]
        fn at_least(self, other: Self) -> __m256d {
            // SAFETY: AVX2 is there (see above).
            unsafe { _mm256_cmp_pd::<_CMP_GE_OQ>(self.0, other.0) }
        }

        #[inline(always)]
        fn and(one: __m256d, other: __m256d) -> __m256d {
            // SAFETY: AVX2 is there (see above).
            unsafe { _mm256_and_pd(one, other) }
        }

        #[inline(always)]
        fn or(one: __m256d, other: __m256d) -> __m256d {
            // SAFETY: AVX2 is there (see above).
            unsafe { _mm256_or_pd(one, other) }
        }

        #[inline(always)]
        fn bits(mask: __m256d) -> u32 {
            // SAFETY: AVX2 is there (see above).
            unsafe { _mm256_movemask_pd(mask) as u32 }
        }

        #[inline(always)]
        fn select(mask: __m256d, yes: Self, no: Self) -> Self {
            // SAFETY: AVX2 is there (see above).
            Self(unsafe { _mm256_blendv_pd(no.0, yes.0, mask) })
        }
    }
}
