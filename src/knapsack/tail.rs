//! The best completions by the deepest core classes, listed once and looked up for every state.
//!
//! Meeting in the middle: the deepest classes are combined beforehand into a list, sorted by weight. It holds the
//! combinations that are worth more than all lighter ones. A binary search then finds the combination that fills a
//! state's room. In scalar knapsacks that completes a state exactly, so lists need not go deeper. With normal burdens
//! the true weight depends on the whole, so the tail only finds good answers early. On data such as subset sums, bounds
//! are useless, and some combination fills nearly every room exactly. The tail finds that combination.

use super::core::{Change, Core};
use super::input::Totals;
use super::secant::Linear;
use super::{bytes, reserve_total};
use crate::base::Result;

/// The most combinations listed.
const MOST_ENTRIES: usize = 16 * 1024;

/// Changes remembered per combination, including those of removed ones.
const TRAILS_PER_COMBINATION: usize = 2;

/// Ends a trail.
pub(super) const NO_TRAIL: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Combination {
    weight: f64,
    value: f64,
    trail: u32,
}

/// A change, which links to all earlier ones.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trail {
    pub before: u32,
    pub change: u32,
}

/// The changes of a trail, from the last to the first.
pub(super) fn changes(trails: &[Trail], core: &Core, last: u32) -> impl Iterator<Item = Change> {
    let trail = |index: u32| (index != NO_TRAIL).then(|| trails[index as usize]);
    let all = std::iter::successors(trail(last), move |later| trail(later.before));
    all.map(|trail| core.changes[trail.change as usize])
}

#[derive(Debug, Default)]
pub(super) struct Tail {
    entries: Vec<Combination>,
    joined: Vec<Combination>,
    merged: Vec<Combination>,
    trails: Vec<Trail>,
    /// The first depth that the list covers.
    pub depth: usize,
}

impl Tail {
    /// Reserve the memory for as many entries as `states` allow.
    pub fn reserve(&mut self, states: usize) -> Result<()> {
        let entries = states.min(MOST_ENTRIES);
        reserve_total(&mut self.entries, entries)?;
        reserve_total(&mut self.joined, entries)?;
        reserve_total(&mut self.merged, entries)?;
        reserve_total(&mut self.trails, entries * TRAILS_PER_COMBINATION)
    }

    pub fn memory_used(&self) -> usize {
        bytes(&self.entries) + bytes(&self.joined) + bytes(&self.merged) + bytes(&self.trails)
    }

    /// Combine as many of the deepest classes as fit into `most` entries. Combinations that cost `most_cost` or more at
    /// the price `lambda` are skipped. Returns the number of entries visited.
    pub fn build(&mut self, core: &Core, linear: &Linear, lambda: f64, most_cost: f64, most: usize) -> Result<u64> {
        let most = most.clamp(1, MOST_ENTRIES);
        self.reserve(most)?;
        self.trails.clear();
        self.entries.clear();
        self.entries.push(Combination { weight: 0.0, value: 0.0, trail: NO_TRAIL });
        self.depth = core.depth();
        let mut looked_at = 0;
        while self.depth > 0 {
            let changes = core.starts[self.depth - 1]..core.starts[self.depth];
            let count = self.entries.len() * changes.len();
            if self.entries.len() + count > most || self.trails.len() + count > most * TRAILS_PER_COMBINATION {
                break;
            }
            self.joined.clear();
            self.joined.extend_from_slice(&self.entries);
            for index in changes {
                let by = core.changes[index as usize].by;
                self.merge(index, linear.weight(by), by.value, lambda, most_cost);
            }
            std::mem::swap(&mut self.entries, &mut self.joined);
            self.depth -= 1;
            looked_at += count as u64;
        }
        Ok(looked_at)
    }

    /// `joined` becomes the undominated entries of itself and of all `entries` after one more change.
    fn merge(&mut self, index: u32, weight: f64, value: f64, lambda: f64, most_cost: f64) {
        self.merged.clear();
        let mut unchanged = self.joined.iter().peekable();
        for &entry in &self.entries {
            let changed = Combination { weight: entry.weight + weight, value: entry.value + value, ..entry };
            if lambda * changed.weight - changed.value >= most_cost {
                continue;
            }
            let before = |other: &&Combination| (other.weight, -other.value) <= (changed.weight, -changed.value);
            while let Some(&other) = unchanged.next_if(before) {
                push_if_better(&mut self.merged, other);
            }
            if push_if_better(&mut self.merged, Combination { trail: self.trails.len() as u32, ..changed }) {
                self.trails.push(Trail { before: entry.trail, change: index });
            }
        }
        for &other in unchanged {
            push_if_better(&mut self.merged, other);
        }
        std::mem::swap(&mut self.joined, &mut self.merged);
    }

    /// The most valuable combination no heavier than `room`. Returns the value it adds, and a handle for
    /// [`Self::write`].
    pub fn complete(&self, room: f64) -> Option<(f64, usize)> {
        let index = self.entries.partition_point(|entry| entry.weight <= room).checked_sub(1)?;
        Some((self.entries[index].value, index))
    }

    /// Write the changes of a combination to the picks.
    pub fn write(&self, core: &Core, entry: usize, picks: &mut [u32]) {
        for change in changes(&self.trails, core, self.entries[entry].trail) {
            picks[change.class as usize] = change.position;
        }
    }

    /// The sums that a combination adds.
    pub fn totals(&self, core: &Core, entry: usize) -> Totals {
        let all = changes(&self.trails, core, self.entries[entry].trail);
        all.fold(Totals::default(), |totals, change| totals.plus(change.by))
    }
}

fn push_if_better(list: &mut Vec<Combination>, entry: Combination) -> bool {
    let better = list.last().is_none_or(|last| entry.value > last.value);
    if better {
        list.push(entry);
    }
    better
}
