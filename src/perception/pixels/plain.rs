//! The kernels for every processor. On AArch64 the compiler makes them of NEON, which every such processor has.
//!
//! `significant` has a byte of ones for each byte that counts, in the order of memory. It repeats each 4 bytes, so it fits
//! from any pixel on.

use super::{Layout, Span};

/// Bytes that are compared between two branches.
const CHUNK: usize = 64;

/// Eight bytes, the first one lowest.
#[inline(always)]
fn word(bytes: &[u8]) -> u64 {
    let mut padded = [0; 8];
    match bytes.first_chunk() {
        Some(whole) => padded = *whole,
        None => padded[..bytes.len()].copy_from_slice(bytes),
    }
    u64::from_le_bytes(padded)
}

/// The position of the first byte that differs.
pub(super) fn first_difference(one: &[u8], other: &[u8], significant: u64) -> Option<usize> {
    let length = one.len().min(other.len());
    let (one, other) = (&one[..length], &other[..length]);
    let mut start = 0;
    for (one, other) in one.as_chunks::<CHUNK>().0.iter().zip(other.as_chunks::<CHUNK>().0) {
        let pairs = one.as_chunks::<8>().0.iter().zip(other.as_chunks::<8>().0);
        let differing =
            pairs.fold(0, |all, (one, other)| all | (u64::from_ne_bytes(*one) ^ u64::from_ne_bytes(*other)));
        if differing & significant.to_le() != 0 {
            break;
        }
        start += CHUNK;
    }
    let rest = one[start..].chunks(8).zip(other[start..].chunks(8));
    rest.enumerate().find_map(|(index, (one, other))| {
        let differing = (word(one) ^ word(other)) & significant;
        (differing != 0).then(|| start + index * 8 + differing.trailing_zeros() as usize / 8)
    })
}

/// Whether the bytes of all spans are equal.
pub(super) fn is_same_in(one: &[u8], other: &[u8], spans: &[Span], layout: Layout, significant: u64) -> bool {
    spans.iter().all(|span| {
        let bytes = layout.bytes(*span);
        first_difference(&one[bytes.clone()], &other[bytes], significant).is_none()
    })
}

/// A bit for each of up to 256 bytes that differs.
pub(super) fn differing_bytes(one: &[u8], other: &[u8], significant: u64) -> [u64; 4] {
    let mut bits = [0; 4];
    for (index, (one, other)) in one.chunks(8).zip(other.chunks(8)).enumerate() {
        let mut differing = (word(one) ^ word(other)) & significant;
        while differing != 0 {
            let byte = differing.trailing_zeros() / 8;
            bits[index / 8] |= 1 << (index % 8 * 8 + byte as usize);
            differing &= !(0xff << (byte * 8));
        }
    }
    bits
}

/// A bit for each of up to 64 words of four bytes that differs.
pub(super) fn differing_words(one: &[u8], other: &[u8], significant: u64) -> u64 {
    let words = one.as_chunks::<4>().0.iter().zip(other.as_chunks::<4>().0).take(64).enumerate();
    words.fold(0, |bits, (index, (one, other))| {
        let differing = (u32::from_le_bytes(*one) ^ u32::from_le_bytes(*other)) & significant as u32;
        bits | u64::from(differing != 0) << index
    })
}

/// Whether no byte that counts differs by more than `tolerance`.
pub(super) fn bytes_within(one: &[u8], other: &[u8], tolerance: u8, significant: u64) -> bool {
    let mask = significant.to_le_bytes();
    let is_within = |one: &[u8], other: &[u8]| {
        let all = one.iter().zip(other).zip(mask.iter().cycle());
        all.fold(0, |most: u8, ((&one, &other), &mask)| most.max(one.abs_diff(other) & mask)) <= tolerance
    };
    one.chunks(CHUNK).zip(other.chunks(CHUNK)).all(|(one, other)| is_within(one, other))
}
