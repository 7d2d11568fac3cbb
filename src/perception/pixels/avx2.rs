//! The kernels with AVX2. Each gives the same answer as its namesake in [`plain`](super::plain).
#![allow(unsafe_code)]

use std::arch::x86_64::*;

/// Bytes of a register.
const WIDTH: usize = 32;
/// Bytes that are compared between two branches.
const CHUNK: usize = 4 * WIDTH;

/// Whether the processor has AVX2. Costs a load once it is known.
#[inline]
pub(super) fn is_there() -> bool {
    is_x86_feature_detected!("avx2")
}

/// 32 bytes from `start` on.
#[inline]
#[target_feature(enable = "avx2")]
fn load(bytes: &[u8], start: usize) -> __m256i {
    let bytes: &[u8] = &bytes[start..start + WIDTH];
    // SAFETY: the slice has 32 bytes, which can be read at any alignment.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
}

/// See [`plain::first_difference`](super::plain::first_difference).
#[target_feature(enable = "avx2")]
pub(super) fn first_difference(one: &[u8], other: &[u8], significant: u64) -> Option<usize> {
    let length = one.len().min(other.len());
    if length < WIDTH {
        return super::plain::first_difference(one, other, significant);
    }
    let mask = _mm256_set1_epi64x(significant as i64);
    let differing = |start: usize| _mm256_and_si256(_mm256_xor_si256(load(one, start), load(other, start)), mask);
    let mut start = 0;
    while length - start >= CHUNK {
        let low = _mm256_or_si256(differing(start), differing(start + WIDTH));
        let high = _mm256_or_si256(differing(start + 2 * WIDTH), differing(start + 3 * WIDTH));
        let any = _mm256_or_si256(low, high);
        if _mm256_testz_si256(any, any) == 0 {
            break;
        }
        start += CHUNK;
    }
    // The last register overlaps the one before it.
    while start < length {
        start = start.min(length - WIDTH);
        let equal = _mm256_cmpeq_epi8(differing(start), _mm256_setzero_si256());
        let unequal = !_mm256_movemask_epi8(equal) as u32;
        if unequal != 0 {
            return Some(start + unequal.trailing_zeros() as usize);
        }
        start += WIDTH;
    }
    None
}

/// See [`plain::differing_bytes`](super::plain::differing_bytes).
#[target_feature(enable = "avx2")]
pub(super) fn differing_bytes(one: &[u8], other: &[u8], significant: u64) -> [u64; 4] {
    let length = one.len().min(other.len());
    let whole = length - length % WIDTH;
    let mut bits = super::plain::differing_bytes(&one[whole..length], &other[whole..length], significant);
    bits.rotate_right(whole / 64);
    if whole % 64 != 0 {
        bits[whole / 64] <<= whole % 64;
    }
    let mask = _mm256_set1_epi64x(significant as i64);
    for start in (0..whole).step_by(WIDTH) {
        let differing = _mm256_and_si256(_mm256_xor_si256(load(one, start), load(other, start)), mask);
        let equal = _mm256_cmpeq_epi8(differing, _mm256_setzero_si256());
        bits[start / 64] |= u64::from(!_mm256_movemask_epi8(equal) as u32) << (start % 64);
    }
    bits
}

/// See [`plain::bytes_within`](super::plain::bytes_within).
#[target_feature(enable = "avx2")]
pub(super) fn bytes_within(one: &[u8], other: &[u8], tolerance: u8, significant: u64) -> bool {
    let length = one.len().min(other.len());
    if length < WIDTH {
        return super::plain::bytes_within(one, other, tolerance, significant);
    }
    let mask = _mm256_set1_epi64x(significant as i64);
    let tolerance = _mm256_set1_epi8(tolerance as i8);
    let mut start = 0;
    while start < length {
        start = start.min(length - WIDTH);
        let (one, other) = (load(one, start), load(other, start));
        let difference = _mm256_or_si256(_mm256_subs_epu8(one, other), _mm256_subs_epu8(other, one));
        let excess = _mm256_subs_epu8(_mm256_and_si256(difference, mask), tolerance);
        if _mm256_testz_si256(excess, excess) == 0 {
            return false;
        }
        start += WIDTH;
    }
    true
}
