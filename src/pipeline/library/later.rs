//! Uses after the first one, summed by pipeline and mask until they are written.
//!
//! A host may change its mask in every frame. So a change of the mask adds to sums, and writes nothing. Memory is bounded
//! by the number of pipelines and of masks.

use super::known::Known;
use crate::base::{Level, Result, host_log, try_push};
use crate::pipeline::Mask;

/// Most masks of a run. Uses with further masks are not counted, except the first use of a pipeline.
pub const MASKS: usize = 256;

/// The later uses of a pipeline with a mask.
#[derive(Clone, Copy)]
struct Sum {
    /// The number of the mask.
    mask: u16,
    /// The user's cache has the mask.
    is_noted: bool,
    /// Uses that are not written.
    times: u32,
}

/// A pipeline.
#[derive(Default)]
struct Counted {
    /// Uses that were added to a sum, and the first one.
    uses: u64,
    /// Sorted by the number of the mask.
    sums: Vec<Sum>,
}

impl Counted {
    fn sum(&mut self, mask: u16) -> Result<&mut Sum> {
        let at = match self.sums.binary_search_by_key(&mask, |sum| sum.mask) {
            Ok(at) => at,
            Err(at) => {
                try_push(&mut self.sums, Sum { mask, is_noted: false, times: 0 })?;
                self.sums[at..].rotate_right(1);
                at
            }
        };
        Ok(&mut self.sums[at])
    }
}

/// Later uses to write.
#[derive(Clone, Copy, Debug)]
pub struct Later {
    /// The pipeline.
    pub index: u32,
    /// Uses that are not written. May be 0 if the mask is new.
    pub times: u32,
    /// Their mask.
    pub mask: Mask,
    /// The user's cache lacks the mask.
    pub is_new_mask: bool,
    number: u16,
}

/// The later uses of all pipelines in this run.
#[derive(Default)]
pub struct LaterSums {
    masks: Vec<Mask>,
    /// By index.
    list: Vec<Counted>,
    /// Whether a pipeline was used with a mask that is new for it.
    has_new_masks: bool,
    is_full: bool,
}

impl LaterSums {
    /// The number of a mask. `None`: there are too many.
    fn number(&mut self, mask: Mask) -> Result<Option<u16>> {
        if let Some(at) = self.masks.iter().rposition(|known| *known == mask) {
            return Ok(Some(at as u16));
        }
        if self.masks.len() == MASKS {
            if !std::mem::replace(&mut self.is_full, true) {
                host_log(
                    Level::Warning,
                    format_args!("the run has more than {MASKS} masks: later uses with further masks are not counted"),
                );
            }
            return Ok(None);
        }
        try_push(&mut self.masks, mask)?;
        Ok(Some(self.masks.len() as u16 - 1))
    }

    /// The uses of the first `count` pipelines since the last call had this mask. On an error the rest is counted by the
    /// next call.
    pub fn count(&mut self, known: &Known, count: usize, mask: Mask) -> Result<()> {
        let number = self.number(mask)?;
        self.list.try_reserve(count.saturating_sub(self.list.len()))?;
        self.list.resize_with(count.max(self.list.len()), Counted::default);
        for (index, counted) in (0..).zip(&mut self.list) {
            let uses = known.uses.uses(index);
            if uses <= counted.uses {
                continue;
            }
            let is_first = counted.uses == 0;
            if let Some(number) = number {
                // The first use is written on its own, with its mask.
                let times = uses - counted.uses - u64::from(is_first);
                let sum = counted.sum(number)?;
                sum.times = sum.times.saturating_add(u32::try_from(times).unwrap_or(u32::MAX));
                sum.is_noted |= is_first;
                self.has_new_masks |= !sum.is_noted;
            }
            counted.uses = uses;
        }
        Ok(())
    }

    /// Whether a pipeline was used with a mask that is new for it, since the last [`next`](Self::next) from the begin.
    pub fn has_new_masks(&self) -> bool {
        self.has_new_masks
    }

    /// Put sums into `batch`, as many as it has room for, of the pipelines from `from` on. Returns the pipeline after them.
    pub fn next(&mut self, from: usize, batch: &mut Vec<Later>) -> usize {
        batch.clear();
        self.has_new_masks &= from > 0;
        for (index, counted) in self.list.iter().enumerate().skip(from) {
            let sums = || counted.sums.iter().filter(|sum| sum.times > 0 || !sum.is_noted);
            if batch.capacity() - batch.len() < sums().count() {
                return index;
            }
            batch.extend(sums().map(|&Sum { mask: number, is_noted, times }| {
                let mask = self.masks[usize::from(number)];
                Later { index: index as u32, times, mask, is_new_mask: !is_noted, number }
            }));
        }
        self.list.len()
    }

    /// The user's cache has these masks.
    pub fn kept(&mut self, batch: &[Later]) {
        self.change(batch, |sum, _| sum.is_noted = true);
    }

    /// These sums are recorded: subtract them.
    pub fn recorded(&mut self, batch: &[Later]) {
        self.change(batch, |sum, later| sum.times -= later.times);
    }

    fn change(&mut self, batch: &[Later], mut change: impl FnMut(&mut Sum, &Later)) {
        for later in batch {
            let sums = &mut self.list[later.index as usize].sums;
            if let Ok(at) = sums.binary_search_by_key(&later.number, |sum| sum.mask) {
                change(&mut sums[at], later);
            }
        }
    }

    /// Bytes held.
    pub fn memory_used(&self) -> usize {
        let sums = self.list.iter().map(|counted| counted.sums.capacity() * size_of::<Sum>()).sum::<usize>();
        sums + self.list.capacity() * size_of::<Counted>() + self.masks.capacity() * size_of::<Mask>()
    }
}
