//! A list that grows while other threads read it.

use std::sync::OnceLock;

use crate::base::Result;

/// The first chunk has 2^`FIRST` indices. Each chunk has twice as many as the one before.
const FIRST: u32 = 5;
/// Chunks for 2^32 indices. A chunk is named after the logarithm of its indices, so that a use need not subtract; the
/// smaller ones stay empty.
const CHUNKS: usize = 33;

/// The place of an index. It is the same in all lists, so that a use works it out once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The index.
    pub index: u32,
    chunk: u32,
    at: usize,
}

impl Place {
    /// The place of an index.
    #[inline(always)]
    pub fn of(index: u32) -> Self {
        // The highest bit of this number is the chunk, and the other bits are the place in it.
        let number = u64::from(index) + (1 << FIRST);
        let chunk = number.ilog2();
        Self { index, chunk, at: (number ^ 1 << chunk) as usize }
    }
}

/// A list in chunks that never move, so that a reader needs no lock. The items are atomics, or made of them. `SHARED`
/// indices have an item together; it divides the first chunk.
pub struct Grown<T, const SHARED: usize = 1> {
    chunks: [OnceLock<Vec<T>>; CHUNKS],
}

impl<T, const SHARED: usize> Default for Grown<T, SHARED> {
    // Compiled once, as its owners have up to nine.
    #[inline(never)]
    fn default() -> Self {
        Self { chunks: [const { OnceLock::new() }; CHUNKS] }
    }
}

impl<T: Default, const SHARED: usize> Grown<T, SHARED> {
    /// The item of `index`, if there is memory for it.
    #[inline]
    pub fn get(&self, index: u32) -> Option<&T> {
        self.at(Place::of(index))
    }

    /// [`get`](Self::get) of an index whose place is known.
    #[inline(always)]
    pub fn at(&self, place: Place) -> Option<&T> {
        self.chunks[place.chunk as usize].get()?.get(place.at / SHARED)
    }

    /// Make room for `count` indices. Their items are default values until they are written. One thread at a time.
    pub fn reserve(&self, count: usize) -> Result<()> {
        let Some(last) = count.checked_sub(1) else { return Ok(()) };
        // There are no more indices.
        let last = Place::of(u32::try_from(last).unwrap_or(u32::MAX)).chunk as usize;
        for (chunk, items) in (0..=last).zip(&self.chunks).skip(FIRST as usize) {
            if items.get().is_none() {
                let (mut made, count) = (Vec::new(), (1 << chunk) / SHARED);
                made.try_reserve_exact(count)?;
                made.resize_with(count, T::default);
                // If another thread was faster, its chunk is as good.
                _ = items.set(made);
            }
        }
        Ok(())
    }

    /// Bytes on the heap.
    pub fn memory_used(&self) -> usize {
        self.chunks.iter().filter_map(OnceLock::get).map(|items| items.capacity() * size_of::<T>()).sum()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

    use super::*;
    use crate::testing::allocator::with_allowance;

    #[test]
    fn items_stay_in_place_while_the_list_grows() {
        let list: Grown<AtomicU32> = Grown::default();
        for index in 0..5000 {
            list.reserve(index as usize + 1).expect("memory");
            list.get(index).expect("reserved").store(index, Relaxed);
        }
        assert!((0..5000).all(|index| list.get(index).expect("reserved").load(Relaxed) == index));
    }

    #[test]
    fn every_index_has_a_place_of_its_own() {
        let place = |index| (Place::of(index).chunk, Place::of(index).at);
        assert_eq!([place(0), place(31), place(32)], [(5, 0), (5, 31), (6, 0)]);
        assert_eq!([place(95), place(96), place(u32::MAX)], [(6, 63), (7, 0), (32, 31)]);
    }

    #[test]
    fn neighbours_share_an_item() {
        let list: Grown<AtomicU32, 32> = Grown::default();
        list.reserve(33).expect("memory");
        for index in 0..96 {
            list.get(index).expect("reserved").fetch_add(1, Relaxed);
        }
        assert!(list.get(96).is_none());
        assert!([0, 32, 64].iter().all(|&index| list.get(index).expect("reserved").load(Relaxed) == 32));
    }

    #[test]
    fn failed_growth_keeps_the_list() {
        let (list, first): (Grown<AtomicU32>, _) = (Grown::default(), 1 << FIRST);
        list.reserve(first).expect("memory");
        assert!(with_allowance(0, || list.reserve(first + 1)).is_err());
        assert!(list.get(first as u32 - 1).is_some() && list.get(first as u32).is_none());
        list.reserve(first + 1).expect("memory");
        assert!(list.get(first as u32).is_some());
    }
}
