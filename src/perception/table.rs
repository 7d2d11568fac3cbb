//! The slot table: the newest result of each node and the frames in which it holds, in a flat array; and older results.

use std::collections::VecDeque;

use super::frames::{FrameStore, RegionId};
use super::strategy::{LONGEST, WEIGHT};
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

/// A node in the slot table. A query and a graft read one cache line of it.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub struct Slot {
    /// Its newest result.
    pub span: Span,
    /// The only region on which it depends, as `index + 1`. 0: no region, or several.
    region: u32,
    /// The same if a result can be taken over to the next frame, else 0.
    grafted_by: u32,
    /// Whether a result can be taken over to the next frame.
    pub is_graftable: bool,
    /// Mean duration of a run with its share of the runs of its inputs, in nanoseconds. A graft saves so much. The
    /// expected duration until it was measured.
    pub chain_ns: u32,
    /// Mean duration of a run in nanoseconds. 0: it did not run yet.
    pub cost_ns: f32,
    /// Counts results that differ from the one before.
    pub version: u32,
}

impl Slot {
    /// Whether the result is that of the present frame, and was the same in the last `frames` frames.
    #[inline]
    pub fn is_known(&self, now: u64, frames: u32) -> bool {
        let Span { first, last, is_failed, .. } = self.span;
        last == now && now > 0 && !is_failed && now - first + 1 >= frames.into()
    }

    /// Take over the result if nothing changed since. This is all that a graft is. `false` also if it depends on several
    /// regions: see [`Table::graft`].
    #[inline]
    pub fn graft(&mut self, frames: &FrameStore) -> bool {
        let Some(region) = self.grafted_by.checked_sub(1) else { return false };
        // Every region changed in its first frame, so it changed later than a slot without a result.
        let can = frames.changed_at(RegionId::at(region)) <= self.span.last;
        if can {
            self.span.last = frames.number();
        }
        can
    }
}

/// The results of all nodes.
#[derive(Debug, Default)]
pub struct Table {
    pub slots: Vec<Slot>,
    /// By node: its regions, if there are several.
    regions: Vec<Vec<RegionId>>,
    /// By node: other results, by their last frames, the latest first. Each frame's result is the first one that holds.
    /// Those that [`join`](Self::join) has hidden wait here until they are too old.
    older: Vec<VecDeque<Span>>,
}

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
        let grafted_by = if is_graftable { one } else { 0 };
        self.slots[at] = Slot { region: one, grafted_by, is_graftable, ..Slot::default() };
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

    /// Take over the newest result if nothing changed since.
    #[inline]
    pub fn graft(&mut self, node: u32, frames: &FrameStore) -> bool {
        let slot = self.slots[node as usize];
        if slot.region != 0 {
            return self.slots[node as usize].graft(frames);
        }
        let can = slot.is_graftable && slot.span.last > 0 && self.changed_at(node, frames) <= slot.span.last;
        if can {
            self.slots[node as usize].span.last = frames.number();
        }
        can
    }

    /// Store a result of the present frame, which holds since its first frame. `is_equal`: the value before means the
    /// same. `release` gets values that are not needed. `oldest`: results before this frame are forgotten.
    pub fn put(&mut self, node: u32, new: Span, is_equal: bool, oldest: u64, release: &mut dyn FnMut(Value)) {
        let slot = &mut self.slots[node as usize];
        slot.version = slot.version.wrapping_add(u32::from(!is_equal));
        let old = slot.span;
        if is_equal && old.last > 0 && old.last + 1 >= new.first {
            if !new.is_failed {
                release(new.value);
            }
            slot.span.last = new.last;
            return;
        }
        slot.span = Span { first: new.first.max(old.last + 1), ..new };
        self.keep(node, old, oldest, release);
    }

    /// Store a result beside the newest one, if it holds in a frame from `oldest` on.
    pub fn keep(&mut self, node: u32, span: Span, oldest: u64, release: &mut dyn FnMut(Value)) {
        let older = &mut self.older[node as usize];
        let mut drop_span = |span: Span| {
            if span.last > 0 && !span.is_failed {
                release(span.value);
            }
        };
        while older.back().is_some_and(|span| span.last < oldest) || older.len() == older.capacity() {
            older.pop_back().into_iter().for_each(&mut drop_span);
        }
        if span.last == 0 || span.last < oldest {
            return drop_span(span);
        }
        // No two have the same last frame, and few frames are kept, so there is room.
        let place = older.iter().position(|other| other.last < span.last).unwrap_or(older.len());
        older.insert(place, span);
    }

    /// Note that the image of a node changed, beside its value or not.
    pub fn change_image(&mut self, node: u32) {
        let version = &mut self.slots[node as usize].version;
        *version = version.wrapping_add(1);
    }

    /// Note the duration of a run, and the node's share of those of its inputs. Returns the duration as it counts.
    pub fn add_cost(&mut self, node: u32, nanoseconds: u64, inputs: f32) -> f32 {
        let slot = &mut self.slots[node as usize];
        let (old, new) = (slot.cost_ns, nanoseconds.max(1) as f32);
        let new = if old == 0.0 { new } else { new.min(LONGEST as f32 * old) };
        slot.cost_ns = if old == 0.0 { new } else { old + WEIGHT as f32 * (new - old) };
        slot.chain_ns = (slot.cost_ns + inputs) as u32;
        new
    }

    /// The result of a node in a frame, if it is known.
    pub fn at(&self, node: u32, frame: u64) -> Option<Span> {
        let newest = self.slots[node as usize].span;
        if newest.holds(frame) {
            return Some(newest);
        }
        self.older[node as usize].iter().copied().find(|span| span.holds(frame))
    }

    /// A result that holds in one of these frames.
    pub fn between(&self, node: u32, first: u64, last: u64) -> Option<Span> {
        let meets = |span: &&Span| span.last > 0 && span.first <= last && first <= span.last;
        let newest = Some(&self.slots[node as usize].span).filter(meets);
        newest.or_else(|| self.older[node as usize].iter().find(meets)).copied()
    }

    /// Extend the newest run of equal results back. Results that mean the same are hidden, not released: the host may
    /// still have one from a query of this frame.
    pub fn join(&mut self, node: u32, first: u64) {
        self.slots[node as usize].span.first = first;
    }

    /// Never take over results of a node again. A result of this frame is computed again.
    pub fn distrust(&mut self, node: u32, now: u64) {
        let slot = &mut self.slots[node as usize];
        (slot.is_graftable, slot.grafted_by) = (false, 0);
        slot.span.last = slot.span.last.min(now - 1);
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
