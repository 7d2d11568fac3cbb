//! The loops over bytes. Each is compiled twice, for every processor and for AVX2, from the same safe code. So both give
//! the same results.
//!
//! Uses no intrinsics: the compiler vectorises these loops. Measurements stand in the benchmark of the room.

/// Defines functions that run the code for AVX2 where the processor has it.
macro_rules! kernels {
    ($($(#[$meta:meta])* pub fn $name:ident($($argument:ident: $type:ty),+ $(,)?) $(-> $result:ty)? $body:block)+) => {
        $(
            $(#[$meta])*
            #[inline(never)]
            pub fn $name($($argument: $type),+) $(-> $result)? {
                #[cfg(target_arch = "x86_64")]
                if std::arch::is_x86_feature_detected!("avx2") {
                    // SAFETY: the processor has AVX2, which is all that the callee needs.
                    return unsafe { avx2::$name($($argument),+) };
                }
                plain::$name($($argument),+)
            }
        )+

        /// For every processor.
        pub(super) mod plain {
            $(
                #[inline(always)]
                pub fn $name($($argument: $type),+) $(-> $result)? $body
            )+
        }

        #[cfg(target_arch = "x86_64")]
        mod avx2 {
            $(
                #[target_feature(enable = "avx2")]
                pub fn $name($($argument: $type),+) $(-> $result)? {
                    super::plain::$name($($argument),+)
                }
            )+
        }
    };
}

kernels! {
    /// `(sum of three weighted bytes + 128) / 256` of pixels of 4 bytes.
    pub fn weigh_4(pixels: &[u8], weights: &[u32; 3], out: &mut [u8]) {
        let [first, second, third] = *weights;
        for (out, pixel) in out.iter_mut().zip(pixels.as_chunks::<4>().0) {
            let bits = u32::from_le_bytes(*pixel);
            let sum = (bits & 255) * first + (bits >> 8 & 255) * second + (bits >> 16 & 255) * third;
            *out = ((sum + 128) >> 8) as u8;
        }
    }

    /// `(sum of three weighted bytes + 128) / 256` of pixels of 3 bytes.
    pub fn weigh_3(pixels: &[u8], weights: &[u32; 3], out: &mut [u8]) {
        for (out, pixel) in out.iter_mut().zip(pixels.as_chunks::<3>().0) {
            let sum: u32 = (0..3).map(|i| u32::from(pixel[i]) * weights[i]).sum();
            *out = ((sum + 128) >> 8) as u8;
        }
    }

    /// `yes` where a byte is above `level`, its complement elsewhere.
    pub fn threshold(bytes: &mut [u8], level: u8, yes: u8) {
        for byte in bytes {
            *byte = if *byte > level { yes } else { !yes };
        }
    }

    /// Differences of bytes.
    pub fn differences(one: &[u8], other: &[u8], out: &mut [u8]) {
        for ((out, one), other) in out.iter_mut().zip(one).zip(other) {
            *out = one.abs_diff(*other);
        }
    }

    /// The largest difference of the first three of four bytes.
    pub fn differences_4(one: &[u8], other: &[u8], out: &mut [u8]) {
        for ((out, one), other) in out.iter_mut().zip(one.as_chunks::<4>().0).zip(other.as_chunks::<4>().0) {
            let (one, other) = (u32::from_le_bytes(*one), u32::from_le_bytes(*other));
            let part = |shift: u32| (one >> shift & 255).abs_diff(other >> shift & 255);
            *out = part(0).max(part(8)).max(part(16)) as u8;
        }
    }

    /// Add bytes to sums.
    pub fn add(sums: &mut [u16], bytes: &[u8]) {
        for (sum, byte) in sums.iter_mut().zip(bytes) {
            *sum += u16::from(*byte);
        }
    }

    /// Subtract bytes from sums.
    pub fn subtract(sums: &mut [u16], bytes: &[u8]) {
        for (sum, byte) in sums.iter_mut().zip(bytes) {
            *sum -= u16::from(*byte);
        }
    }

    /// The lesser bytes, or with a mask of all ones the greater ones.
    pub fn lesser(kept: &mut [u8], bytes: &[u8], mask: u8) {
        for (kept, byte) in kept.iter_mut().zip(bytes) {
            *kept = (*kept ^ mask).min(*byte ^ mask) ^ mask;
        }
    }

    /// The lesser one of each byte and the byte `distance` further, or with a mask of all ones the greater one.
    pub fn lesser_ahead(bytes: &mut [u8], distance: usize, mask: u8) {
        for i in 0..bytes.len().saturating_sub(distance) {
            bytes[i] = (bytes[i] ^ mask).min(bytes[i + distance] ^ mask) ^ mask;
        }
    }

    /// Replace each sum by the sum of `count` sums from it on: 1, 4 or 8. The last ones lack some.
    pub fn add_ahead(sums: &[u16], count: usize, out: &mut [i16]) {
        let parts = |count: usize, sums: &[u16], out: &mut [i16]| match count {
            8 => {
                for (out, sums) in out.iter_mut().zip(sums.windows(8)) {
                    *out = (sums[0] + sums[1] + sums[2] + sums[3] + sums[4] + sums[5] + sums[6] + sums[7]) as i16;
                }
            }
            4 => {
                for (out, sums) in out.iter_mut().zip(sums.windows(4)) {
                    *out = (sums[0] + sums[1] + sums[2] + sums[3]) as i16;
                }
            }
            _ => {
                for (out, sum) in out.iter_mut().zip(sums) {
                    *out = *sum as i16;
                }
            }
        };
        parts(count, sums, out);
    }

    /// Add `p (p - 256)` of bytes to sums, which wrap.
    pub fn add_terms(sums: &mut [u32], bytes: &[u8]) {
        for (sum, byte) in sums.iter_mut().zip(bytes) {
            let byte = i16::from(*byte);
            *sum = sum.wrapping_add((byte * (byte - 256)) as u32);
        }
    }

    /// Add `p (p - 256)` of entering bytes to sums, and subtract that of leaving ones.
    pub fn move_terms(sums: &mut [u32], entering: &[u8], leaving: &[u8]) {
        for ((sum, entering), leaving) in sums.iter_mut().zip(entering).zip(leaving) {
            let (entering, leaving) = (i16::from(*entering), i16::from(*leaving));
            let terms = i32::from(entering * (entering - 256)) - i32::from(leaving * (leaving - 256));
            *sum = sum.wrapping_add(terms as u32);
        }
    }

    /// The sums of each number and the one `distance` further, which wrap. There are `distance` fewer than numbers.
    pub fn pair_sums(numbers: &[u32], distance: usize, out: &mut [u32]) {
        for ((out, one), other) in out.iter_mut().zip(numbers).zip(&numbers[distance..]) {
            *out = one.wrapping_add(*other);
        }
    }

    /// Add sums to others, which wrap.
    pub fn add_sums(sums: &mut [u32], more: &[u32]) {
        for (sum, more) in sums.iter_mut().zip(more) {
            *sum = sum.wrapping_add(*more);
        }
    }

    /// `first + last - 2 product` for each product, which wraps.
    pub fn finish_scores(products: &mut [u32], first: &[u32], last: u32) {
        for (product, first) in products.iter_mut().zip(first) {
            *product = first.wrapping_add(last).wrapping_sub(*product << 1);
        }
    }

    /// Numbers that are at most `most`.
    pub fn count_at_most(numbers: &[u32], most: u32) -> u32 {
        numbers.iter().map(|number| u32::from(*number <= most)).sum()
    }

    /// The least number.
    pub fn least(numbers: &[u32]) -> u32 {
        numbers.iter().fold(u32::MAX, |least, number| least.min(*number))
    }

    /// The sum of the differences of masked bytes.
    pub fn masked_differences(one: &[u8], other: &[u8], mask: &[u8]) -> u32 {
        let mut sum = 0;
        for ((one, other), mask) in one.iter().zip(other).zip(mask) {
            sum += u32::from(one.abs_diff(*other) & mask);
        }
        sum
    }
}
