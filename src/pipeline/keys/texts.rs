//! The texts of stable keys, and their order.
//!
//! Neighbours in a sorted list share their begins. The length of a shared begin decides most comparisons with a third text:
//! see [`Near`].

use std::cmp::Ordering;

use super::reserve_one;
use crate::base::{Result, try_collect};
use crate::pipeline::files::Slots;

/// A full list of bytes grows by one part in this many.
pub const GROWTH: usize = 8;

/// Texts one after the other.
#[derive(Default)]
pub struct Texts {
    pub bytes: String,
    pub ends: Vec<u64>,
}

impl Texts {
    #[inline]
    pub fn get(&self, number: u32) -> &str {
        let at = number as usize;
        let begin = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[begin as usize..self.ends[at] as usize]
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Append a text. Returns its number.
    pub fn push(&mut self, text: &str) -> Result<u32> {
        reserve_one(&mut self.ends)?;
        if self.bytes.capacity() - self.bytes.len() < text.len() {
            self.bytes.try_reserve_exact(text.len().max(self.bytes.len() / GROWTH).max(1 << 10))?;
        }
        self.bytes.push_str(text);
        self.ends.push(self.bytes.len() as u64);
        Ok(self.ends.len() as u32 - 1)
    }

    /// The numbers of all texts, which differ, in the order of the texts.
    pub fn sorted(&self) -> Result<Vec<u32>> {
        let mut items = try_collect((0..self.len() as u32).map(|number| Item { number, ..Item::default() }))?;
        self.sort(&mut items, 0);
        try_collect(items.iter().map(|item| item.number))
    }

    /// Sort texts that share their first bytes.
    fn sort(&self, items: &mut [Item], mut shared: usize) {
        loop {
            for item in &mut *items {
                let rest = self.get(item.number).as_bytes().get(shared..).unwrap_or_default();
                item.left = rest.len().min(PART + 1) as u32;
                item.part = match rest.first_chunk() {
                    Some(part) => u64::from_be_bytes(*part),
                    None => {
                        let mut part = [0; PART];
                        part[..rest.len()].copy_from_slice(rest);
                        u64::from_be_bytes(part)
                    }
                };
            }
            let Some(first) = items.first().copied() else { return };
            // Parts may be equal although one text ends earlier: the other text has zeros there.
            let place = |item: &Item| (item.part, item.left);
            let is_longer = |item: &Item| item.left as usize > PART;
            shared += PART;
            if items.iter().any(|item| place(item) != place(&first)) {
                items.sort_unstable_by_key(place);
                for same in items.chunk_by_mut(|one, other| place(one) == place(other)) {
                    if same.len() > 1 && is_longer(&same[0]) {
                        self.sort(same, shared);
                    }
                }
                return;
            }
            if items.len() == 1 || !is_longer(&first) {
                return;
            }
        }
    }
}

/// Bytes of texts that are compared at a time.
const PART: usize = size_of::<u64>();

/// A text while texts are sorted.
#[derive(Clone, Copy, Default)]
struct Item {
    /// Some of its bytes, the first one highest.
    part: u64,
    /// Bytes from the begin of the part on, at most one more than a part.
    left: u32,
    number: u32,
}

/// Texts, each once, with a table to find them.
#[derive(Default)]
pub struct Interned {
    pub texts: Texts,
    slots: Slots,
}

impl Interned {
    /// These texts without a table, so that [`find`](Self::find) finds no text.
    pub fn without_table(texts: Texts) -> Self {
        Self { texts, slots: Slots::default() }
    }

    /// The number of a text.
    pub fn find(&self, text: &str) -> Option<u32> {
        self.find_hash(text_hash(text), text)
    }

    fn find_hash(&self, hash: u32, text: &str) -> Option<u32> {
        self.slots.find(hash, |number| self.texts.get(number) == text)
    }

    /// The number of a text, which is added if it is new.
    pub fn intern(&mut self, text: &str) -> Result<u32> {
        let hash = text_hash(text);
        if let Some(number) = self.find_hash(hash, text) {
            return Ok(number);
        }
        let number = self.texts.push(text)?;
        self.slots.insert(hash, number)?;
        Ok(number)
    }

    /// Whether the table has no text.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Bytes held.
    pub fn memory_used(&self) -> usize {
        self.texts.bytes.capacity() + self.texts.ends.capacity() * size_of::<u64>() + self.slots.memory_used()
    }
}

/// A hash that takes about 10 ns for a stable key of 100 bytes, the same in every process. It is for tables alone: texts
/// with equal hashes are easy to make.
fn text_hash(text: &str) -> u32 {
    const ODD: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xd1b5_4a32_d192_ed03];
    let step = |hash: u64, bytes: &[u8; 16]| {
        let number = u128::from_le_bytes(*bytes);
        let product = u128::from(number as u64 ^ hash ^ ODD[0]) * u128::from((number >> 64) as u64 ^ ODD[1]);
        product as u64 ^ (product >> 64) as u64
    };
    let (chunks, rest) = text.as_bytes().as_chunks();
    let hash = chunks.iter().fold(text.len() as u64, step);
    let mut last = [0; 16];
    last[..rest.len()].copy_from_slice(rest);
    (step(hash, &last) >> 32) as u32
}

/// Bytes that two texts share at their begins.
pub fn shared_bytes(one: &[u8], other: &[u8]) -> usize {
    let same = |(one, other): &(&[u8; PART], &[u8; PART])| one == other;
    let (chunks, other_chunks) = (one.as_chunks().0, other.as_chunks().0);
    let begin = PART * chunks.iter().zip(other_chunks).take_while(same).count();
    begin + one[begin..].iter().zip(&other[begin..]).take_while(|(one, other)| one == other).count()
}

/// The order of a text, which moves forward, to a text that is ahead of it.
///
/// A text K moves to the next text K' > K. It shares s bytes with K, and K shares n bytes with the text B ahead, K < B.
/// If s > n, then K' has the byte that made K less, so K' < B. If s < n, then K' is greater than K in a byte that K and B
/// share, so K' > B. Only if s = n, bytes are compared.
#[derive(Clone, Copy)]
pub struct Near {
    /// The order of the text to the one ahead.
    pub order: Ordering,
    /// Bytes that they share.
    shared: usize,
}

impl Near {
    /// Compare two texts, which share their first `shared` bytes.
    pub fn of(text: &[u8], ahead: &[u8], shared: usize) -> Self {
        let shared = shared + shared_bytes(&text[shared..], &ahead[shared..]);
        Self { order: text[shared..].first().cmp(&ahead[shared..].first()), shared }
    }

    /// Whether the text is less for sure after it moves to one that shares so many bytes with it.
    #[inline]
    pub fn stays_less(&self, shared: usize) -> bool {
        self.order == Ordering::Less && shared > self.shared
    }

    /// The text moves to `text`, and shares so many bytes with it.
    pub fn follow(&mut self, text: &[u8], ahead: &[u8], shared: usize) {
        match self.order {
            Ordering::Less if shared > self.shared => {}
            Ordering::Less if shared == self.shared => *self = Self::of(text, ahead, shared),
            // It may share less now, but it stays greater.
            _ => self.order = Ordering::Greater,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn texts_with_any_shared_begin_are_sorted(texts in prop::collection::btree_set("[ab\0]{0,20}", 0..60)) {
            let mut all = Texts::default();
            let shuffled = texts.iter().skip(texts.len() / 2).chain(texts.iter().take(texts.len() / 2)).rev();
            shuffled.for_each(|text| _ = all.push(text).expect("memory"));
            let sorted: Vec<&str> = all.sorted().expect("memory").into_iter().map(|number| all.get(number)).collect();
            prop_assert!(sorted.iter().eq(&texts.iter().map(String::as_str).collect::<Vec<_>>()));
        }

        #[test]
        fn order_to_a_text_ahead_follows_a_text_that_moves_forward(
            texts in prop::collection::btree_set("[ab]{0,9}", 1..40),
            ahead in "[ab]{0,9}",
        ) {
            let texts: Vec<&[u8]> = texts.iter().map(String::as_bytes).collect();
            let mut near = Near::of(texts[0], ahead.as_bytes(), 0);
            for pair in texts.windows(2) {
                let shared = shared_bytes(pair[0], pair[1]);
                let is_less = near.stays_less(shared);
                near.follow(pair[1], ahead.as_bytes(), shared);
                prop_assert_eq!(near.order, pair[1].cmp(ahead.as_bytes()));
                prop_assert!(!is_less || near.order == Ordering::Less);
            }
        }
    }
}
