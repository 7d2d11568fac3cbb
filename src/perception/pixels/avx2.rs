//! The kernels with AVX2. Each gives the same answer as its namesake in [`plain`](super::plain).
#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::{Layout, Span};

/// Bytes of a register.
const WIDTH: usize = 32;
/// Bytes that are compared between two branches.
const CHUNK: usize = 4 * WIDTH;
/// Bytes from which on loads are aligned.
const ALIGN_FROM: usize = 8 * WIDTH;

/// Whether the processor has AVX2. Costs a load once it is known.
#[inline]
pub(super) fn is_there() -> bool {
    is_x86_feature_detected!("avx2")
}

/// The bytes that differ and count, of 32 from `start` on.
///
/// # Safety
/// Both slices have 32 bytes from `start` on.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn differing(one: &[u8], other: &[u8], start: usize, mask: __m256i) -> __m256i {
    // SAFETY: by this function's contract. Any alignment is allowed.
    let [one, other] = unsafe { [load(one, start), load(other, start)] };
    _mm256_and_si256(_mm256_xor_si256(one, other), mask)
}

/// 32 bytes from `start` on.
///
/// # Safety
/// The slice has 32 bytes from `start` on.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn load(bytes: &[u8], start: usize) -> __m256i {
    debug_assert!(start + WIDTH <= bytes.len());
    // SAFETY: by this function's contract. Any alignment is allowed.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().add(start).cast()) }
}

/// Whether 128 bytes from `start` on differ where it counts.
///
/// # Safety
/// Both slices have 128 bytes from `start` on.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn chunk_differs(one: &[u8], other: &[u8], start: usize, mask: __m256i) -> bool {
    let (second, third, fourth) = (start + WIDTH, start + 2 * WIDTH, start + 3 * WIDTH);
    // SAFETY: by this function's contract.
    let any = unsafe {
        let low = _mm256_or_si256(differing(one, other, start, mask), differing(one, other, second, mask));
        let high = _mm256_or_si256(differing(one, other, third, mask), differing(one, other, fourth, mask));
        _mm256_or_si256(low, high)
    };
    _mm256_testz_si256(any, any) == 0
}

/// The position of the first byte from `start` on that differs and counts.
#[inline]
#[target_feature(enable = "avx2")]
fn locate(one: &[u8], other: &[u8], mut start: usize, mask: __m256i) -> Option<usize> {
    let length = one.len().min(other.len());
    // The last register overlaps the one before it.
    while start < length {
        start = start.min(length - WIDTH);
        // SAFETY: both slices have `length` bytes, so 32 from `start` on.
        let differing = unsafe { differing(one, other, start, mask) };
        let unequal = !_mm256_movemask_epi8(_mm256_cmpeq_epi8(differing, _mm256_setzero_si256())) as u32;
        if unequal != 0 {
            return Some(start + unequal.trailing_zeros() as usize);
        }
        start += WIDTH;
    }
    None
}

/// See [`plain::first_difference`](super::plain::first_difference).
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn first_difference(one: &[u8], other: &[u8], significant: u64) -> Option<usize> {
    let length = one.len().min(other.len());
    if length < WIDTH {
        return super::plain::first_difference(one, other, significant);
    }
    let mask = _mm256_set1_epi64x(significant as i64);
    if length < CHUNK {
        return locate(&one[..length], &other[..length], 0, mask);
    }
    let mut start = 0;
    if length >= ALIGN_FROM {
        // SAFETY: both slices have 128 bytes.
        if unsafe { chunk_differs(one, other, 0, mask) } {
            return locate(one, other, 0, mask);
        }
        // A load that crosses a cache line takes twice as long.
        start = (CHUNK - one.as_ptr().addr() % WIDTH) & !3;
    }
    while length - start > CHUNK {
        // SAFETY: both slices have `length` bytes, so 128 from `start` on.
        if unsafe { chunk_differs(one, other, start, mask) } {
            return locate(one, other, start, mask);
        }
        start += CHUNK;
    }
    // The last chunk overlaps the one before it.
    start = length - CHUNK;
    // SAFETY: both slices have 128 bytes from `start` on.
    if unsafe { chunk_differs(one, other, start, mask) } { locate(one, other, start, mask) } else { None }
}

/// See [`plain::is_same_in`](super::plain::is_same_in).
#[target_feature(enable = "avx2")]
pub(super) fn is_same_in(one: &[u8], other: &[u8], spans: &[Span], layout: Layout, significant: u64) -> bool {
    for span in spans {
        let bytes = layout.bytes(*span);
        if first_difference(&one[bytes.clone()], &other[bytes], significant).is_some() {
            return false;
        }
    }
    true
}

/// See [`plain::differing_words`](super::plain::differing_words).
#[target_feature(enable = "avx2")]
pub(super) fn differing_words(one: &[u8], other: &[u8], significant: u64) -> u64 {
    let length = one.len().min(other.len()).min(64 * 4);
    let whole = length - length % WIDTH;
    let mask = _mm256_set1_epi64x(significant as i64);
    let mut bits = 0;
    for start in (0..whole).step_by(WIDTH) {
        // SAFETY: both slices have `whole` bytes, so 32 from `start` on.
        let differing = unsafe { differing(one, other, start, mask) };
        let equal = _mm256_cmpeq_epi32(differing, _mm256_setzero_si256());
        let unequal = !_mm256_movemask_ps(_mm256_castsi256_ps(equal)) as u8;
        bits |= u64::from(unequal) << (start / 4);
    }
    if whole < length {
        bits |= super::plain::differing_words(&one[whole..length], &other[whole..length], significant) << (whole / 4);
    }
    bits
}

/// See [`plain::differing_bytes`](super::plain::differing_bytes).
#[target_feature(enable = "avx2")]
pub(super) fn differing_bytes(one: &[u8], other: &[u8], significant: u64) -> [u64; 4] {
    let length = one.len().min(other.len());
    let whole = length - length % WIDTH;
    let mut bits = super::plain::differing_bytes(&one[whole..length], &other[whole..length], significant);
    bits.rotate_right(whole / 64);
    if !whole.is_multiple_of(64) {
        bits[whole / 64] <<= whole % 64;
    }
    let mask = _mm256_set1_epi64x(significant as i64);
    for start in (0..whole).step_by(WIDTH) {
        // SAFETY: both slices have `whole` bytes, so 32 from `start` on.
        let differing = unsafe { differing(one, other, start, mask) };
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
        // SAFETY: both slices have `length` bytes, so 32 from `start` on.
        let (one, other) = unsafe { (load(one, start), load(other, start)) };
        let difference = _mm256_or_si256(_mm256_subs_epu8(one, other), _mm256_subs_epu8(other, one));
        let excess = _mm256_subs_epu8(_mm256_and_si256(difference, mask), tolerance);
        if _mm256_testz_si256(excess, excess) == 0 {
            return false;
        }
        start += WIDTH;
    }
    true
}
