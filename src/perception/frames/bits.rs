//! Rows of bits, one for each column of tiles.

use std::ops::Range;

/// Words that hold `bits` bits.
pub(super) const fn words(bits: usize) -> usize {
    bits.div_ceil(64)
}

/// Whether bit `index` is set.
#[inline]
pub(super) fn has(words: &[u64], index: usize) -> bool {
    words[index / 64] >> (index % 64) & 1 != 0
}

/// Set bit `index`.
#[inline]
pub(super) fn set(words: &mut [u64], index: usize) {
    words[index / 64] |= 1 << (index % 64);
}

/// The bits of word `index` that lie in a range.
#[inline]
fn part(index: usize, range: &Range<usize>) -> u64 {
    let start = range.start.saturating_sub(index * 64).min(64);
    let end = range.end.saturating_sub(index * 64).min(64);
    if start >= end { 0 } else { (!0 >> (64 - (end - start))) << start }
}

/// Each word that a range touches, and the bits of it that lie in the range.
#[inline]
fn parts(range: Range<usize>) -> impl Iterator<Item = (usize, u64)> {
    (range.start / 64..words(range.end)).map(move |index| (index, part(index, &range)))
}

/// Set all bits of a range that `allowed` has.
pub(super) fn set_range(target: &mut [u64], allowed: &[u64], range: Range<usize>) {
    parts(range).for_each(|(index, part)| target[index] |= allowed[index] & part);
}

/// Whether a range has a bit that is set, and is not set in `without`.
#[inline]
pub(super) fn any(bits: &[u64], without: &[u64], range: Range<usize>) -> bool {
    parts(range).any(|(index, part)| bits[index] & !without[index] & part != 0)
}

/// The first bit of a range that is set, or with `flip` of all ones that is clear. The range's end if it has no such bit.
#[inline]
pub(super) fn next(bits: &[u64], range: Range<usize>, flip: u64) -> usize {
    let end = range.end;
    let found = parts(range).find_map(|(index, part)| {
        let found = (bits[index] ^ flip) & part;
        (found != 0).then(|| index * 64 + found.trailing_zeros() as usize)
    });
    found.unwrap_or(end)
}

/// The next run of set bits, or with `flip` of all ones of clear bits. Empty, at the range's end, without such a bit.
#[inline]
pub(super) fn run(bits: &[u64], range: Range<usize>, flip: u64) -> Range<usize> {
    let start = next(bits, range.clone(), flip);
    start..next(bits, start..range.end, !flip)
}

/// Number of set bits.
pub(super) fn count(bits: &[u64]) -> u64 {
    bits.iter().map(|word| u64::from(word.count_ones())).sum()
}
