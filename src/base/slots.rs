//! A slot map: values with generational ids. The id of a removed value finds nothing, never another value.

use super::Result;

/// The id of a value in a [`Slots`]. The default is invalid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Id {
    /// Position plus one; 0 is invalid.
    pub index1: u32,
    /// Number of removals at this position before the id was made.
    pub generation: u32,
}

#[derive(Debug)]
struct Slot<T> {
    generation: u32,
    value: Option<T>,
}

/// A growing list that reuses free positions.
#[derive(Debug)]
pub struct Slots<T> {
    slots: Vec<Slot<T>>,
    free: Vec<u32>,
    /// Positions whose generations are used up: they are never reused.
    retired: usize,
}

impl<T> Default for Slots<T> {
    fn default() -> Self {
        Self { slots: Vec::new(), free: Vec::new(), retired: 0 }
    }
}

impl<T> Slots<T> {
    /// Number of values.
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len() - self.retired
    }

    /// Whether it holds no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of positions, free ones included. Every position is below it.
    pub fn positions(&self) -> usize {
        self.slots.len()
    }

    /// Reserve memory for one more value, so that the next [`insert`](Self::insert) cannot fail.
    pub fn reserve_one(&mut self) -> Result<()> {
        if self.free.is_empty() {
            self.slots.try_reserve(1)?;
            // All slots may become free, and `remove` must not fail.
            let wanted = self.slots.capacity() - self.free.len();
            self.free.try_reserve_exact(wanted)?;
        }
        Ok(())
    }

    /// The position that the next [`insert`](Self::insert) will use.
    pub fn next_position(&self) -> usize {
        self.free.last().map_or(self.slots.len(), |&position| position as usize)
    }

    /// Insert a value. Call [`reserve_one`](Self::reserve_one) before.
    pub fn insert(&mut self, value: T) -> Id {
        let position = match self.free.pop() {
            Some(position) => {
                self.slots[position as usize].value = Some(value);
                position as usize
            }
            None => {
                self.slots.push(Slot { generation: 0, value: Some(value) });
                self.slots.len() - 1
            }
        };
        self.id_at(position)
    }

    /// Remove a value and return it.
    pub fn remove(&mut self, id: Id) -> Option<T> {
        let position = self.position(id)?;
        let slot = &mut self.slots[position];
        // After 2^32 uses a position is retired, so that no old id is valid again.
        match slot.generation.checked_add(1) {
            Some(next) => {
                slot.generation = next;
                self.free.push(position as u32);
            }
            None => self.retired += 1,
        }
        slot.value.take()
    }

    /// The position of the value of an id, unless it was removed.
    pub fn position(&self, id: Id) -> Option<usize> {
        let position = (id.index1 as usize).checked_sub(1)?;
        let slot = self.slots.get(position)?;
        (slot.generation == id.generation && slot.value.is_some()).then_some(position)
    }

    /// The id of the value at a position, or of the next value at a free position.
    pub fn id_at(&self, position: usize) -> Id {
        Id { index1: position as u32 + 1, generation: self.slots[position].generation }
    }

    /// The value at a position.
    pub fn at(&self, position: usize) -> Option<&T> {
        self.slots.get(position)?.value.as_ref()
    }

    /// The value at a position.
    pub fn at_mut(&mut self, position: usize) -> Option<&mut T> {
        self.slots.get_mut(position)?.value.as_mut()
    }

    /// All values and their positions, in order of position.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &T)> {
        self.slots.iter().enumerate().filter_map(|(position, slot)| Some((position, slot.value.as_ref()?)))
    }

    /// All values and their positions, in order of position.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (usize, &mut T)> {
        self.slots.iter_mut().enumerate().filter_map(|(position, slot)| Some((position, slot.value.as_mut()?)))
    }

    /// Bytes held, without memory that the values own.
    pub fn memory_used(&self) -> usize {
        self.slots.capacity() * size_of::<Slot<T>>() + self.free.capacity() * size_of::<u32>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(slots: &mut Slots<&'static str>, value: &'static str) -> Id {
        slots.reserve_one().unwrap();
        slots.insert(value)
    }

    #[test]
    fn stale_id_does_not_resolve_after_slot_reuse() {
        let mut slots = Slots::default();
        let first = put(&mut slots, "first");
        assert_eq!(slots.remove(first), Some("first"));
        let second = put(&mut slots, "second");
        assert_eq!(first.index1, second.index1);
        assert_eq!((slots.position(first), slots.remove(first), slots.len()), (None, None, 1));
        assert_eq!(slots.position(second).and_then(|at| slots.at(at)), Some(&"second"));
    }

    #[test]
    fn slot_is_retired_after_its_last_generation() {
        let mut slots = Slots::default();
        let first = put(&mut slots, "first");
        slots.slots[0].generation = u32::MAX - 1;
        let first = Id { generation: u32::MAX - 1, ..first };
        assert_eq!(slots.remove(first), Some("first"));
        let last = put(&mut slots, "last");
        assert_eq!(last, Id { index1: 1, generation: u32::MAX });
        assert_eq!(slots.remove(last), Some("last"), "the value is dropped");
        assert_eq!((slots.remove(last), slots.position(last), slots.at(0)), (None, None, None), "the id is dead");
        assert_eq!((slots.len(), slots.is_empty(), slots.iter().count()), (0, true, 0));
        let next = put(&mut slots, "next");
        assert_eq!((next, slots.len()), (Id { index1: 2, generation: 0 }, 1), "the position is not used again");
    }

    #[test]
    fn null_and_invented_ids_do_not_resolve() {
        let mut slots = Slots::default();
        put(&mut slots, "only");
        for id in [Id::default(), Id { index1: 2, generation: 0 }, Id { index1: u32::MAX, generation: u32::MAX }] {
            assert_eq!(slots.position(id), None);
        }
    }
}
