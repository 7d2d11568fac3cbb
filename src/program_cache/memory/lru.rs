//! Keys in order of their last use.

use std::collections::HashMap;
use std::hash::Hash;

use crate::base::Result;

/// No link.
const END: u32 = u32::MAX;

#[derive(Debug)]
struct Link<T> {
    key: T,
    older: u32,
    newer: u32,
}

/// A list of keys, each once, from the least to the most recently used. Every operation takes constant time.
#[derive(Debug)]
pub struct Lru<T> {
    links: Vec<Link<T>>,
    places: HashMap<T, u32>,
    oldest: u32,
    newest: u32,
}

impl<T: Copy + Eq + Hash> Default for Lru<T> {
    fn default() -> Self {
        Self { links: Vec::new(), places: HashMap::new(), oldest: END, newest: END }
    }
}

impl<T: Copy + Eq + Hash> Lru<T> {
    /// The number of keys.
    pub fn len(&self) -> usize {
        self.links.len()
    }

    /// Whether it holds no keys.
    pub fn is_empty(&self) -> bool {
        self.links.is_empty()
    }

    /// Make `key` the most recently used, and add it if it is new. On an error nothing changes.
    pub fn touch(&mut self, key: T) -> Result<()> {
        let place = match self.places.get(&key) {
            Some(&place) => {
                self.unlink(place);
                place
            }
            None => {
                self.links.try_reserve(1)?;
                self.places.try_reserve(1)?;
                let place = self.links.len() as u32;
                self.links.push(Link { key, older: END, newer: END });
                self.places.insert(key, place);
                place
            }
        };
        self.link_as_newest(place);
        Ok(())
    }

    /// The least recently used key.
    pub fn peek(&self) -> Option<T> {
        self.links.get(self.oldest as usize).map(|link| link.key)
    }

    /// Remove the least recently used key.
    pub fn pop(&mut self) -> Option<T> {
        let key = self.peek()?;
        self.remove(&key);
        Some(key)
    }

    /// Remove a key. Returns whether it was present.
    pub fn remove(&mut self, key: &T) -> bool {
        let Some(place) = self.places.remove(key) else { return false };
        self.unlink(place);
        self.links.swap_remove(place as usize);
        let moved_from = self.links.len() as u32;
        if let Some(moved) = self.links.get(place as usize) {
            let (key, older, newer) = (moved.key, moved.older, moved.newer);
            self.places.insert(key, place);
            debug_assert_ne!(place, moved_from);
            *self.newer_of(older) = place;
            *self.older_of(newer) = place;
        }
        true
    }

    /// Remove all keys, and keep the memory.
    pub fn clear(&mut self) {
        self.links.clear();
        self.places.clear();
        (self.oldest, self.newest) = (END, END);
    }

    /// Bytes held, estimated: the standard library does not report the size of its table.
    pub fn memory_used(&self) -> usize {
        self.links.capacity() * size_of::<Link<T>>() + self.places.capacity() * (size_of::<(T, u32)>() + 1)
    }

    fn unlink(&mut self, place: u32) {
        let Link { older, newer, .. } = self.links[place as usize];
        *self.newer_of(older) = newer;
        *self.older_of(newer) = older;
    }

    fn link_as_newest(&mut self, place: u32) {
        let before = self.newest;
        let link = &mut self.links[place as usize];
        (link.older, link.newer) = (before, END);
        *self.newer_of(before) = place;
        self.newest = place;
    }

    /// The link from `place` to the next newer key.
    fn newer_of(&mut self, place: u32) -> &mut u32 {
        self.links.get_mut(place as usize).map_or(&mut self.oldest, |link| &mut link.newer)
    }

    /// The link from `place` to the next older key.
    fn older_of(&mut self, place: u32) -> &mut u32 {
        self.links.get_mut(place as usize).map_or(&mut self.newest, |link| &mut link.older)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(keys: &[u32]) -> Lru<u32> {
        let mut lru = Lru::default();
        keys.iter().for_each(|&key| lru.touch(key).unwrap());
        lru
    }

    fn popped(lru: &mut Lru<u32>) -> Vec<u32> {
        std::iter::from_fn(|| lru.pop()).collect()
    }

    #[test]
    fn peek_removes_nothing_and_pop_starts_with_the_least_recently_used() {
        let mut lru = used(&[1, 2, 3, 4]);
        assert_eq!((lru.peek(), lru.peek()), (Some(1), Some(1)));
        assert_eq!(popped(&mut lru), [1, 2, 3, 4]);
        assert!(lru.is_empty() && lru.peek().is_none() && lru.pop().is_none());
    }

    #[test]
    fn use_moves_a_key_to_the_end() {
        assert_eq!(popped(&mut used(&[1, 2, 4, 2, 3, 1, 1, 2])), [4, 3, 1, 2]);
    }

    #[test]
    fn clear_empties_and_keeps_it_usable() {
        let mut lru = used(&[1, 2, 3]);
        lru.clear();
        assert!(lru.is_empty() && lru.pop().is_none());
        lru.touch(7).unwrap();
        assert_eq!(popped(&mut lru), [7]);
    }

    #[test]
    fn order_is_that_of_a_plain_list_after_any_uses_and_removals() {
        let mut state = 1_u64;
        let (mut lru, mut list) = (Lru::default(), Vec::new());
        for _ in 0..20_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let key = (state >> 60) as u32;
            match state >> 40 & 7 {
                0 => assert_eq!(lru.pop(), (!list.is_empty()).then(|| list.remove(0))),
                1 | 2 => {
                    let place = list.iter().position(|&other| other == key);
                    assert_eq!(lru.remove(&key), place.map(|place| list.remove(place)).is_some());
                }
                _ => {
                    list.retain(|&other| other != key);
                    list.push(key);
                    lru.touch(key).unwrap();
                }
            }
            assert_eq!((lru.len(), lru.peek()), (list.len(), list.first().copied()));
        }
        assert_eq!(popped(&mut lru), list);
    }
}
