//! A list that grows while other threads read it.

use std::sync::OnceLock;

use crate::base::{Result, try_collect};

/// Items of the first chunk. Each chunk holds twice as many as the one before.
const FIRST: usize = 16;
/// Chunks for 2^32 items.
const CHUNKS: usize = 29;

/// A list in chunks that never move, so that a reader needs no lock. The items are atomics, or made of them.
pub struct Grown<T> {
    chunks: [OnceLock<Vec<T>>; CHUNKS],
}

impl<T> Default for Grown<T> {
    fn default() -> Self {
        Self { chunks: [const { OnceLock::new() }; CHUNKS] }
    }
}

/// The chunk of an item, and its place there.
fn place(index: usize) -> (usize, usize) {
    let chunk = (index / FIRST + 1).ilog2() as usize;
    (chunk, index - FIRST * ((1 << chunk) - 1))
}

impl<T: Default> Grown<T> {
    /// The item at `index`, if there is memory for it.
    #[inline]
    pub fn get(&self, index: usize) -> Option<&T> {
        let (chunk, place) = place(index);
        self.chunks.get(chunk)?.get()?.get(place)
    }

    /// Make room for `count` items, which are default values until they are written. One thread at a time.
    pub fn reserve(&self, count: usize) -> Result<()> {
        let Some(last) = count.checked_sub(1) else { return Ok(()) };
        for (chunk, items) in self.chunks.iter().enumerate().take(place(last).0 + 1) {
            if items.get().is_none() {
                // If another thread was faster, its chunk is as good.
                _ = items.set(try_collect((0..FIRST << chunk).map(|_| T::default()))?);
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
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    use super::*;
    use crate::testing::allocator::with_allowance;

    #[test]
    fn items_stay_in_place_while_the_list_grows() {
        let list = Grown::<AtomicUsize>::default();
        for index in 0..5000 {
            list.reserve(index + 1).expect("memory");
            list.get(index).expect("reserved").store(index, Relaxed);
        }
        assert!((0..5000).all(|index| list.get(index).expect("reserved").load(Relaxed) == index));
        assert_eq!(place(FIRST - 1), (0, FIRST - 1));
        assert_eq!(place(FIRST), (1, 0));
        assert_eq!(place(u32::MAX as usize).0, CHUNKS - 1);
    }

    #[test]
    fn failed_growth_keeps_the_list() {
        let list = Grown::<AtomicUsize>::default();
        list.reserve(FIRST).expect("memory");
        assert!(with_allowance(0, || list.reserve(FIRST + 1)).is_err());
        assert!(list.get(FIRST - 1).is_some() && list.get(FIRST).is_none());
        list.reserve(FIRST + 1).expect("memory");
        assert!(list.get(FIRST).is_some());
    }
}
