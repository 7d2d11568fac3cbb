//! A list in a report. It may be long, so all items are counted, and only the first ones in their order are kept.

use crate::base::{Result, sort_slowly, try_push};

/// Most items that are kept, and most bytes of them.
const MOST: usize = if cfg!(test) { 100 } else { 10_000 };
const MOST_BYTES: usize = 1 << 20;

/// An item of a [`Listed`].
pub trait Listable: Ord {
    /// Bytes that it has elsewhere in memory.
    fn bytes(&self) -> usize;
}

/// The first items of a list in their order, each once, and the number of all. It does not depend on the order in which
/// they were added. At most 10,000 are kept, and at most a mebibyte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed<T> {
    items: Vec<T>,
    bytes: usize,
    count: u64,
    /// The first item that was removed.
    end: Option<T>,
}

impl<T> Default for Listed<T> {
    fn default() -> Self {
        Self { items: Vec::new(), bytes: 0, count: 0, end: None }
    }
}

impl<T> Listed<T> {
    /// Number of all items.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The first items in their order.
    pub fn first(&self) -> &[T] {
        &self.items
    }
}

impl<T: Listable> Listed<T> {
    /// Add an item.
    pub(super) fn add(&mut self, item: T) -> Result<()> {
        self.count += 1;
        if self.end.as_ref().is_some_and(|end| item >= *end) {
            return Ok(());
        }
        self.bytes += size_of::<T>() + item.bytes();
        try_push(&mut self.items, item)?;
        if self.items.len() >= 2 * MOST || self.bytes > 2 * MOST_BYTES {
            self.cut();
        }
        Ok(())
    }

    /// The complete list. `count` is the number of its items, if some were added twice.
    pub(super) fn finish(mut self, count: u64) -> Self {
        self.cut();
        Self { count, end: None, ..self }
    }

    /// Keep the first items.
    fn cut(&mut self) {
        sort_slowly(&mut self.items, Ord::cmp);
        self.items.dedup();
        let (mut bytes, mut kept) = (0, 0);
        for item in self.items.iter().take(MOST) {
            let more = size_of::<T>() + item.bytes();
            if bytes + more > MOST_BYTES {
                break;
            }
            (bytes, kept) = (bytes + more, kept + 1);
        }
        self.end = self.items.drain(kept..).next().or(self.end.take());
        self.bytes = bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Listable for (u32, usize) {
        fn bytes(&self) -> usize {
            self.1
        }
    }

    fn listed(items: impl Iterator<Item = (u32, usize)>) -> Listed<(u32, usize)> {
        let mut list = Listed::default();
        items.for_each(|item| list.add(item).expect("memory"));
        let count = list.count();
        list.finish(count)
    }

    #[test]
    fn list_keeps_the_first_items_and_counts_all() {
        let list = listed((0..1000).map(|number| (number * 7 % 1000, 0)));
        assert_eq!((list.count(), list.first().len()), (1000, MOST));
        assert!(list.first().iter().map(|(number, _)| *number).eq(0..MOST as u32));
        assert_eq!(list, listed((0..1000).rev().map(|number| (number, 0))));
    }

    #[test]
    fn list_of_long_items_is_bounded_in_bytes() {
        let lengths = |number: u32| (number, 1 + number as usize % 7 * 100_000);
        let list = listed((0..90).map(lengths));
        let bytes: usize = list.first().iter().map(|(_, bytes)| bytes).sum();
        assert!(list.count() == 90 && (1..50).contains(&list.first().len()) && bytes <= MOST_BYTES);
        assert_eq!(list, listed((0..90).rev().map(lengths)));
    }

    #[test]
    fn item_that_is_added_twice_is_listed_once() {
        let list = listed([(2, 0), (1, 0), (2, 0)].into_iter());
        assert_eq!(list.first(), [(1, 0), (2, 0)]);
        assert_eq!(list.finish(2).count(), 2);
    }
}
