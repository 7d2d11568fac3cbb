//! The pixels of the last frames. Each slot is a whole image, of which the watched pixels are valid.

use crate::base::{Result, try_push};
use crate::perception::image::{Image, Shape, View};

/// An image and the frame that it holds. 0: none.
#[derive(Debug)]
pub(super) struct Slot {
    pub(super) image: Image,
    pub(super) frame: u64,
}

/// The slots. A frame lies in the slot of its number modulo the number of slots.
#[derive(Debug, Default)]
pub(super) struct Ring(Vec<Slot>);

impl Ring {
    pub(super) fn new(shape: Shape, count: usize) -> Result<Self> {
        let mut slots = Vec::new();
        for _ in 0..count {
            try_push(&mut slots, Slot { image: Image::new(shape)?, frame: 0 })?;
        }
        Ok(Self(slots))
    }

    fn index(&self, number: u64) -> usize {
        (number % self.0.len() as u64) as usize
    }

    /// The slot for a frame, and the view of the frame before it, if that is held.
    pub(super) fn advance(&mut self, number: u64) -> Option<(&mut Slot, Option<View<'_>>)> {
        if self.0.is_empty() {
            return None;
        }
        let places = [self.index(number), self.index(number - 1)];
        let [slot, last] = self.0.get_disjoint_mut(places).ok()?;
        let last = (last.frame != 0 && last.frame == number - 1).then(|| last.image.view());
        Some((slot, last))
    }

    /// The pixels of a frame, if they are held.
    pub(super) fn view(&self, number: u64) -> Option<View<'_>> {
        if self.0.is_empty() || number == 0 {
            return None;
        }
        let slot = &self.0[self.index(number)];
        (slot.frame == number).then(|| slot.image.view())
    }

    pub(super) fn memory_used(&self) -> usize {
        self.0.capacity() * size_of::<Slot>() + self.0.iter().map(|slot| slot.image.memory_used()).sum::<usize>()
    }
}
