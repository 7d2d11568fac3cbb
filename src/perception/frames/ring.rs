//! The pixels of the last frames. Each slot is a whole image. Its watched pixels are valid.
//!
//! A frame that equals the one before it has no slot of its own: both are in one slot.

use super::options::MAX_HISTORY;
use crate::base::{Result, try_push};
use crate::perception::image::{Image, Shape, View};

/// An image.
#[derive(Debug)]
struct Slot {
    image: Image,
    /// The frame whose changes are all in the image. 0: none.
    held: u64,
    /// The last frame that is found here. 0: none.
    newest: u64,
}

/// The slots.
#[derive(Debug)]
pub(super) struct Ring {
    slots: Vec<Slot>,
    /// The slot of the last frame.
    current: usize,
    /// The slot that the next frame may overwrite.
    free: usize,
    /// The first frame of the ring. 0: it has no frame.
    first_frame: u64,
    /// By number of the frame, modulo the length: its slot.
    slot_of: [u8; MAX_HISTORY + 1],
}

impl Default for Ring {
    fn default() -> Self {
        Self { slots: Vec::new(), current: 0, free: 1, first_frame: 0, slot_of: [0; MAX_HISTORY + 1] }
    }
}

/// The images that a pass works with.
pub(super) struct Images<'a> {
    /// The last frame, unless `has_last` is false.
    pub(super) last: &'a mut Image,
    pub(super) has_last: bool,
    /// An image that no frame of the history needs.
    pub(super) target: &'a mut Image,
    /// The frame whose changes are all in the target. 0: none.
    pub(super) held: u64,
}

/// Where a frame was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Written {
    /// Into the target.
    Target,
    /// Over the last frame, whose old pixels are in the target now.
    OverLast,
    /// Nowhere: it equals the last frame, and both images hold it.
    Nowhere,
}

impl Ring {
    pub(super) fn new(shape: Shape, count: usize) -> Result<Self> {
        let mut slots = Vec::new();
        for _ in 0..count {
            try_push(&mut slots, Slot { image: Image::new(shape)?, held: 0, newest: 0 })?;
        }
        Ok(Self { slots, ..Self::default() })
    }

    /// Add slots. Of the frames before `first` the pixels may be lost already.
    pub(super) fn grow(&mut self, shape: Shape, count: usize, first: u64) -> Result<()> {
        let more = Self::new(shape, count.saturating_sub(self.slots.len()))?;
        self.slots.try_reserve(more.slots.len())?;
        self.slots.extend(more.slots);
        if self.first_frame != 0 {
            self.first_frame = self.first_frame.max(first);
        }
        self.find_free();
        Ok(())
    }

    fn find_free(&mut self) {
        let others = (0..self.slots.len()).filter(|&slot| slot != self.current);
        self.free = others.min_by_key(|&slot| self.slots[slot].newest).unwrap_or(0);
    }

    /// The images for the next frame. `None`: the ring keeps no pixels.
    pub(super) fn images(&mut self) -> Option<Images<'_>> {
        let has_last = self.first_frame != 0;
        let [last, target] = self.slots.get_disjoint_mut([self.current, self.free]).ok()?;
        Some(Images { last: &mut last.image, has_last, target: &mut target.image, held: target.held })
    }

    /// Note where a frame was written.
    pub(super) fn finish(&mut self, number: u64, written: Written) {
        let (last, target) = (self.current, self.free);
        if self.slots.is_empty() {
            return;
        }
        if self.first_frame == 0 {
            self.first_frame = number;
        }
        self.slots[target].held = number;
        match written {
            Written::Target => self.current = target,
            Written::OverLast => {
                self.slots[target].held = number - 1;
                self.slots[target].newest = number - 1;
                let moved = self.slot_of.iter_mut().filter(|slot| usize::from(**slot) == last);
                moved.for_each(|slot| *slot = target as u8);
            }
            Written::Nowhere => (),
        }
        self.slots[self.current].held = number;
        self.slots[self.current].newest = number;
        self.slot_of[number as usize % self.slot_of.len()] = self.current as u8;
        self.find_free();
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
