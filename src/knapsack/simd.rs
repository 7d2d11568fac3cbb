//! Four numbers at a time: as plain arithmetic, which the compiler vectorises, and with AVX2. Both give the same results
//! to the last bit: neither uses fused operations or estimates.
//!
//! Uses intrinsics, because a library for every x86-64 may use AVX2 only after checking the processor. With plain
//! arithmetic that is compiled for AVX2, cold solves take 1.04 to 1.2 times as long. Warm solves of 50 and 1000 settings
//! take 1.4 and 1.7 times as long. SSE2 intrinsics would save 1 to 10 % of a cold solve, and 3 % of a goblin's update,
//! but only on processors without AVX2.
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

#[derive(Clone, Copy)]
pub(super) struct Plain([f64; WIDTH]);

impl Plain {
    fn zip(self, other: Self, each: impl Fn(f64, f64) -> f64) -> Self {
        Self(std::array::from_fn(|column| each(self.0[column], other.0[column])))
    }
}

impl Vector for Plain {
    type Mask = [bool; WIDTH];

    fn load(from: &[f64; WIDTH]) -> Self {
        Self(*from)
    }

    fn splat(number: f64) -> Self {
        Self([number; WIDTH])
    }

    fn of(a: f64, b: f64, c: f64, d: f64) -> Self {
        Self([a, b, c, d])
    }

    fn store(self) -> [f64; WIDTH] {
        self.0
    }

    fn positions(self, start: u32) -> [u32; WIDTH] {
        std::array::from_fn(|column| (start + self.0[column] as u32) * WIDTH as u32 + column as u32)
    }

    fn add(self, other: Self) -> Self {
        self.zip(other, |a, b| a + b)
    }

    fn sub(self, other: Self) -> Self {
        self.zip(other, |a, b| a - b)
    }

    fn mul(self, other: Self) -> Self {
        self.zip(other, |a, b| a * b)
    }

    fn most(self, other: Self) -> Self {
        self.zip(other, |a, b| if a > b { a } else { b })
    }

    fn least(self, other: Self) -> Self {
        self.zip(other, |a, b| if a < b { a } else { b })
    }

    fn greater(self, other: Self) -> [bool; WIDTH] {
        std::array::from_fn(|column| self.0[column] > other.0[column])
    }

    fn at_least(self, other: Self) -> [bool; WIDTH] {
        std::array::from_fn(|column| self.0[column] >= other.0[column])
    }

    fn and(one: [bool; WIDTH], other: [bool; WIDTH]) -> [bool; WIDTH] {
        std::array::from_fn(|column| one[column] & other[column])
    }

    fn or(one: [bool; WIDTH], other: [bool; WIDTH]) -> [bool; WIDTH] {
        std::array::from_fn(|column| one[column] | other[column])
    }

    fn bits(mask: [bool; WIDTH]) -> u32 {
        (0..WIDTH).map(|column| u32::from(mask[column]) << column).sum()
    }

    fn select(mask: [bool; WIDTH], yes: Self, no: Self) -> Self {
        Self(std::array::from_fn(|column| if mask[column] { yes.0[column] } else { no.0[column] }))
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

    /// Methods with another vector that are one intrinsic each.
    macro_rules! with_other {
        ($($method:ident = $intrinsic:expr),+) => {$(
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                // SAFETY: AVX2 is there (see above).
                Self(unsafe { $intrinsic(self.0, other.0) })
            }
        )+};
    }

    impl Vector for Avx2 {
        type Mask = Self;

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
            let mut to = [0; WIDTH];
            // SAFETY: four integers can be written there, of any alignment; AVX2 is there (see above).
            unsafe {
                let first = _mm_add_epi32(_mm_set1_epi32((start * WIDTH as u32) as i32), _mm_setr_epi32(0, 1, 2, 3));
                let rows = _mm_slli_epi32::<2>(_mm256_cvttpd_epi32(self.0));
                _mm_storeu_si128(to.as_mut_ptr().cast(), _mm_add_epi32(rows, first));
            }
            to
        }

        with_other! {
            add = _mm256_add_pd,
            sub = _mm256_sub_pd,
            mul = _mm256_mul_pd,
            most = _mm256_max_pd,
            least = _mm256_min_pd,
            greater = _mm256_cmp_pd::<_CMP_GT_OQ>,
            at_least = _mm256_cmp_pd::<_CMP_GE_OQ>
        }

        #[inline(always)]
        fn and(one: Self, other: Self) -> Self {
            // SAFETY: AVX2 is there (see above).
            Self(unsafe { _mm256_and_pd(one.0, other.0) })
        }

        #[inline(always)]
        fn or(one: Self, other: Self) -> Self {
            // SAFETY: AVX2 is there (see above).
            Self(unsafe { _mm256_or_pd(one.0, other.0) })
        }

        #[inline(always)]
        fn bits(mask: Self) -> u32 {
            // SAFETY: AVX2 is there (see above).
            unsafe { _mm256_movemask_pd(mask.0) as u32 }
        }

        #[inline(always)]
        fn select(mask: Self, yes: Self, no: Self) -> Self {
            // SAFETY: AVX2 is there (see above).
            Self(unsafe { _mm256_blendv_pd(no.0, yes.0, mask.0) })
        }
    }
}
