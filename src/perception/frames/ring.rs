//! The pixels of the last frames. Each slot is a whole image, of which the watched pixels are valid.
//!
//! A frame that equals the one before it has no slot of its own: both are in one slot.

use super::options::MAX_HISTORY;
use crate::base::{Result, try_push};
use crate::perception::image::{Image, Shape, View};

/// An image, and the frame whose changes are all in it. 0: none.
#[derive(Debug)]
struct Slot {
    image: Image,
    frame: u64,
}

/// The slots, which are used in turn.
#[derive(Debug)]
pub(super) struct Ring {
    slots: Vec<Slot>,
    /// The slot of the last frame.
    current: usize,
    /// The first frame of the ring. 0: it has no frame.
    first_frame: u64,
    /// By number of the frame, modulo the length: its slot.
    slot_of: [u8; MAX_HISTORY + 1],
}

impl Default for Ring {
    fn default() -> Self {
        Self { slots: Vec::new(), current: 0, first_frame: 0, slot_of: [0; MAX_HISTORY + 1] }
    }
}

/// Where a frame is written.
pub(super) struct Target<'a> {
    pub(super) image: &'a mut Image,
    /// The frame whose changes are all in the image. 0: none.
    pub(super) held: u64,
}

impl Ring {
    pub(super) fn new(shape: Shape, count: usize) -> Result<Self> {
        let mut slots = Vec::new();
        for _ in 0..count {
            try_push(&mut slots, Slot { image: Image::new(shape)?, frame: 0 })?;
        }
        Ok(Self { slots, ..Self::default() })
    }

    fn next(&self) -> usize {
        (self.current + 1) % self.slots.len().max(1)
    }

    /// Where to write the next frame, and the last frame, if there is one.
    pub(super) fn advance(&mut self) -> Option<(Target<'_>, Option<View<'_>>)> {
        let places = [self.next(), self.current];
        let has_last = self.first_frame != 0;
        let [slot, last] = self.slots.get_disjoint_mut(places).ok()?;
        let target = Target { image: &mut slot.image, held: slot.frame };
        Some((target, has_last.then(|| last.image.view())))
    }

    /// Note that a frame was written. One without changes shares the slot of the frame before it.
    pub(super) fn finish(&mut self, number: u64, has_changes: bool) {
        let next = self.next();
        if let Some(slot) = self.slots.get_mut(next) {
            slot.frame = number;
            if has_changes || self.first_frame == 0 {
                self.current = next;
            }
            self.slot_of[number as usize % self.slot_of.len()] = self.current as u8;
            if self.first_frame == 0 {
                self.first_frame = number;
            }
        }
    }

    /// The pixels of a frame, which must be the last one or one of the history before it.
    pub(super) fn view(&self, number: u64) -> Option<View<'_>> {
        let is_held = self.first_frame != 0 && number >= self.first_frame;
        is_held.then(|| self.slots[usize::from(self.slot_of[number as usize % self.slot_of.len()])].image.view())
    }

    pub(super) fn memory_used(&self) -> usize {
        let images = self.slots.iter().map(|slot| slot.image.memory_used());
        self.slots.capacity() * size_of::<Slot>() + images.sum::<usize>()
    }
}
