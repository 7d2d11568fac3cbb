//! The slot table: the newest result of each node and the frames in which it holds, in a flat array; and older results.

use std::collections::VecDeque;

use super::frames::{FrameStore, RegionId};
use crate::base::Result;
use crate::base::Value;

/// A result and the frames in which it holds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Span {
    /// The result. Zero after a failure.
    pub value: Value,
    /// The first frame.
    pub first: u64,
    /// The last one. 0: there is no result.
    pub last: u64,
    /// The cognition failed.
    pub is_failed: bool,
}

impl Span {
    /// Whether the result holds in a frame.
    pub const fn holds(&self, frame: u64) -> bool {
        self.first <= frame && frame <= self.last
    }
}

/// A node in the slot table.
#[derive(Clone, Copy, Debug, Default)]
pub struct Slot {
    /// Its newest result.
    pub span: Span,
    /// Counts results that differ from the one before.
    pub version: u32,
    /// The only region on which it depends, as `index + 1`. 0: there are none, or several.
    region: u32,
    /// Whether a result can be taken over to the next frame.
    pub is_graftable: bool,
    /// The frame before [`Span::first`] had another result.
    pub is_run_known: bool,
    /// Mean duration of a run in nanoseconds. 0: it did not run yet.
    pub cost_ns: f32,
}

/// The results of all nodes.
#[derive(Debug, Default)]
pub struct Table {
    pub slots: Vec<Slot>,
    /// By node: its regions, if there are several.
    regions: Vec<Vec<RegionId>>,
    /// By node: results before the newest one, the newest of them first. They do not overlap.
    older: Vec<VecDeque<Span>>,
}

/// The weight of a new duration in the mean.
const COST_WEIGHT: f32 = 0.125;

impl Table {
    /// Make room for more nodes, each with `history` older results.
    pub fn grow(&mut self, nodes: usize, history: usize) -> Result<()> {
        let more = nodes.saturating_sub(self.slots.len());
        self.slots.try_reserve(more)?;
        self.regions.try_reserve(more)?;
        self.older.try_reserve(more)?;
        for older in &mut self.older {
            older.try_reserve((history + 2).saturating_sub(older.len()))?;
        }
        while self.slots.len() < nodes {
            let mut older = VecDeque::new();
            older.try_reserve(history + 2)?;
            self.older.push(older);
            self.slots.push(Slot::default());
            self.regions.push(Vec::new());
        }
        Ok(())
    }

    /// Set the regions of a node that has no result.
    pub fn place(&mut self, node: u32, regions: &[RegionId], is_graftable: bool) -> Result<()> {
        let at = node as usize;
        let one = if let [region] = regions { region.index() as u32 + 1 } else { 0 };
        let mut several = Vec::new();
        if regions.len() > 1 {
            several = crate::base::try_to_vec(regions)?;
        }
        self.regions[at] = several;
        self.slots[at] = Slot { region: one, is_graftable, ..Slot::default() };
        Ok(())
    }

    /// Forget a node. `release` gets its values.
    pub fn clear(&mut self, node: u32, release: &mut dyn FnMut(Value)) {
        let at = node as usize;
        let slot = std::mem::take(&mut self.slots[at]);
        self.regions[at].clear();
        let spans = self.older[at].drain(..).chain([slot.span]);
        spans.filter(|span| span.last > 0 && !span.is_failed).for_each(|span| release(span.value));
    }

    /// The last frame at which something changed on which a node depends.
    #[inline]
    pub fn changed_at(&self, node: u32, frames: &FrameStore) -> u64 {
        let region = self.slots[node as usize].region;
        if region != 0 {
            return frames.changed_at(RegionId::at(region - 1));
        }
        self.regions[node as usize].iter().map(|&region| frames.changed_at(region)).max().unwrap_or(0)
    }

    /// Bit k is set if something changed k frames ago on which a node depends.
    pub fn changes(&self, node: u32, frames: &FrameStore) -> u64 {
        let region = self.slots[node as usize].region;
        if region != 0 {
            return frames.changes(RegionId::at(region - 1));
        }
        self.regions[node as usize].iter().fold(0, |all, &region| all | frames.changes(region))
    }

    /// The first frame whose pixels are known.
    pub fn known_since(&self, node: u32, frames: &FrameStore) -> u64 {
        let region = self.slots[node as usize].region;
        if region != 0 {
            return frames.known_since(RegionId::at(region - 1));
        }
        self.regions[node as usize].iter().map(|&region| frames.known_since(region)).max().unwrap_or(0)
    }

    /// Take over the newest result if nothing changed since. This is all that a graft is.
    #[inline]
    pub fn graft(&mut self, node: u32, frames: &FrameStore) -> bool {
        let slot = &self.slots[node as usize];
        let can = slot.is_graftable && slot.span.last > 0 && self.changed_at(node, frames) <= slot.span.last;
        if can {
            self.slots[node as usize].span.last = frames.number();
        }
        can
    }

    /// Store a result of the present frame, which holds since `since`. `is_equal`: the result before means the same, in
    /// value and image. `release` gets a value that is not needed. `oldest`: results before this frame are forgotten.
    pub fn put(&mut self, node: u32, new: Span, is_equal: bool, oldest: u64, release: &mut dyn FnMut(Value)) {
        let at = node as usize;
        let slot = &mut self.slots[at];
        let old = slot.span;
        let has_old = old.last > 0;
        let is_next = has_old && old.last + 1 >= new.first;
        if is_equal && is_next {
            if !new.is_failed && new.value != old.value {
                release(new.value);
            }
            slot.span.last = new.last;
            return;
        }
        slot.span = Span { first: new.first.max(old.last + 1), ..new };
        slot.is_run_known = is_next;
        slot.version = slot.version.wrapping_add(u32::from(!is_equal));
        let older = &mut self.older[at];
        let mut drop_span = |span: Span| {
            // A value that the new result holds, too, is still needed.
            if !span.is_failed && span.value != new.value {
                release(span.value);
            }
        };
        while older.back().is_some_and(|span| span.last < oldest) {
            drop_span(older.pop_back().expect("there is one"));
        }
        if !has_old {
            return;
        }
        if old.last < oldest || older.len() == older.capacity() {
            drop_span(old);
        } else {
            older.push_front(old);
        }
    }

    /// Note the duration of a run.
    pub fn add_cost(&mut self, node: u32, nanoseconds: u64) {
        let cost = &mut self.slots[node as usize].cost_ns;
        let new = nanoseconds.max(1) as f32;
        *cost = if *cost == 0.0 { new } else { *cost + COST_WEIGHT * (new - *cost) };
    }

    /// The result of a node in a frame, if it is known.
    pub fn at(&self, node: u32, frame: u64) -> Option<Span> {
        let newest = self.slots[node as usize].span;
        if newest.holds(frame) {
            return Some(newest);
        }
        self.older[node as usize].iter().copied().find(|span| span.holds(frame))
    }

    /// Store a result of a past frame, between the known ones. False: there is no room.
    pub fn put_past(&mut self, node: u32, new: Span) -> bool {
        let older = &mut self.older[node as usize];
        if older.len() == older.capacity() {
            return false;
        }
        let place = older.iter().position(|span| span.last < new.first).unwrap_or(older.len());
        older.insert(place, new);
        true
    }

    /// Extend the newest run of equal results back to the result before it, which means the same.
    pub fn join(&mut self, node: u32, release: &mut dyn FnMut(Value)) {
        let at = node as usize;
        let slot = &mut self.slots[at];
        if let Some(before) = self.older[at].pop_front() {
            if before.value != slot.span.value {
                release(slot.span.value);
            }
            slot.span = Span { last: slot.span.last, ..before };
            slot.is_run_known = false;
        }
    }

    /// Note that the frame before the newest run has another result.
    pub fn end_run(&mut self, node: u32) {
        self.slots[node as usize].is_run_known = true;
    }

    /// Different results within the last frames, from `oldest` on, the newest one included.
    pub fn variations(&self, node: u32, oldest: u64) -> usize {
        let newest = usize::from(self.slots[node as usize].span.last > 0);
        newest + self.older[node as usize].iter().filter(|span| span.last >= oldest).count()
    }

    /// Bytes that the table holds.
    pub fn memory_used(&self) -> usize {
        let older = self.older.iter().map(|older| older.capacity() * size_of::<Span>()).sum::<usize>();
        let regions = self.regions.iter().map(|list| list.capacity() * size_of::<RegionId>()).sum::<usize>();
        self.slots.capacity() * size_of::<Slot>()
            + self.older.capacity() * size_of::<VecDeque<Span>>()
            + self.regions.capacity() * size_of::<Vec<RegionId>>()
            + older
            + regions
    }
}

impl Table {
    /// Never take over results of a node again. The present one is computed anew.
    pub fn distrust(&mut self, node: u32) {
        let slot = &mut self.slots[node as usize];
        slot.is_graftable = false;
        // Its result is that of the frame before, at most.
        slot.span.last = slot.span.last.saturating_sub(1).max(slot.span.first);
    }
}
