//! A hash table of numbers, whose keys are elsewhere.

use crate::base::{Result, try_filled};

/// Slots of the first table.
const FIRST: usize = 1024;

/// A table of at least twice as many slots as numbers. A slot has 32 bits of a hash, and one more than a number. 0 is an
/// empty slot.
#[derive(Default)]
pub struct Slots {
    slots: Vec<u64>,
    count: usize,
}

impl Slots {
    /// The number of a hash that `is_wanted` accepts.
    #[inline]
    pub fn find(&self, hash: u32, mut is_wanted: impl FnMut(u32) -> bool) -> Option<u32> {
        let mut at = hash as usize;
        loop {
            // An empty table has no slots.
            let slot = *self.slots.get(at & self.slots.len().wrapping_sub(1))?;
            let number = (slot as u32).checked_sub(1)?;
            if slot >> 32 == u64::from(hash) && is_wanted(number) {
                return Some(number);
            }
            at += 1;
        }
    }

    /// Add a number that the table does not have. On an error nothing changes.
    pub fn insert(&mut self, hash: u32, number: u32) -> Result<()> {
        if 2 * (self.count + 1) > self.slots.len() {
            let mut slots = try_filled(0, (2 * self.slots.len()).max(FIRST))?;
            self.slots.iter().filter(|&&slot| slot > 0).for_each(|&slot| put(&mut slots, slot));
            self.slots = slots;
        }
        put(&mut self.slots, u64::from(hash) << 32 | (u64::from(number) + 1));
        self.count += 1;
        Ok(())
    }

    /// Whether there is no number.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Bytes held.
    pub fn memory_used(&self) -> usize {
        self.slots.capacity() * size_of::<u64>()
    }
}

/// Put a slot into the first empty one. There is one.
fn put(slots: &mut [u64], slot: u64) {
    let (mut at, mask) = ((slot >> 32) as usize, slots.len() - 1);
    while slots[at & mask] > 0 {
        at += 1;
    }
    slots[at & mask] = slot;
}
