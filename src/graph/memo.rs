//! A limit of the memory that the values of nodes hold. A value that is worth little is released after a frame, and its node
//! runs again when a value of it is read.
//!
//! Only owned outputs of pure nodes are released: the same inputs give an equal value. Sinks, broken nodes, nodes whose last
//! good value somebody may need after a failure, and nodes whose handle another node passes on keep theirs.
//!
//! The worth of a value is the cost of a run of its node, times the chance that it is read before it changes. It counts per
//! byte, and per evaluation until that read. Chance and waiting time are those of the last few events of the node. Values that
//! were not read for longer than usual are worth less, as in hyperbolic caching (Blankstein, Sen, Freedman 2017). Three
//! other waiting times cost more in the traces of `tests::memo`: the mean alone, the time since the last read alone, and one
//! that shrinks towards the next expected read.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use super::Graph;
use super::marks::Pending;
use super::node::{Class, Function, Held};
use super::pull::{Stop, Work};
use super::state::{BROKEN, DIRTY, HAS_VALUE, MAYBE, READS_OWNED, RELEASED, Run};
use super::structure::{HOLD, LAZY, NONE};
use super::value::Value;
use crate::base::{Result, sort_numbers, try_push};

/// Weight of an event in the averages of a node.
const EVENT_WEIGHT: f32 = 0.25;
/// Weight of a run in the average cost of a node.
const COST_WEIGHT: f32 = 0.25;
/// The chance that a new value is read again before it changes.
const UNKNOWN_CHANCE: f32 = 0.5;

/// Most bytes of a node that count, so that the sum of all nodes is a number of 64 bits.
const MOST_BYTES: u64 = 1 << 40;
/// Most nanoseconds of a run that count.
const MOST_COST_NS: f64 = 1e15;

/// Statistics of the values of one node. A node runs on one thread at a time, so no field is contended.
struct Item {
    /// Bytes that its owned outputs hold now.
    bytes: AtomicU64,
    /// Mean time of a run in nanoseconds.
    cost: Float,
    /// The chance that its value is read again before it changes.
    chance: Float,
    /// Mean number of evaluations until a value is read again. 0: not known.
    gap: Float,
    /// The evaluation in which its value changed, or was read again, last.
    last: AtomicU32,
    /// Its worth, when values are released. Of a released value: the cost of bringing it back.
    worth: Float,
}

/// An `f32` that several threads may see.
struct Float(AtomicU32);

impl Float {
    fn new(number: f32) -> Self {
        Self(AtomicU32::new(number.to_bits()))
    }

    fn get(&self) -> f32 {
        f32::from_bits(self.0.load(Relaxed))
    }

    fn set(&self, number: f32) {
        self.0.store(number.to_bits(), Relaxed);
    }

    fn approach(&self, number: f32, weight: f32) {
        self.set(self.get() + weight * (number - self.get()));
    }
}

impl Default for Item {
    fn default() -> Self {
        let zero = || Float::new(0.0);
        let (bytes, last) = (AtomicU64::new(0), AtomicU32::new(0));
        Self { bytes, cost: zero(), chance: Float::new(UNKNOWN_CHANCE), gap: zero(), last, worth: zero() }
    }
}

/// See above.
pub struct Memo {
    limit: u64,
    /// Bytes that all values hold.
    held: AtomicU64,
    /// By node.
    items: Vec<Item>,
    /// Nodes with owned outputs.
    owners: Vec<u32>,
    /// Nodes whose values may be released.
    candidates: Vec<u32>,
    releases: u64,
    pub restores: u64,
}

impl Memo {
    /// Makes room for a node at a position.
    pub fn grow(&mut self, position: usize) -> Result<()> {
        while self.items.len() <= position {
            try_push(&mut self.items, Item::default())?;
        }
        self.owners.try_reserve(1)?;
        self.candidates.clear();
        self.candidates.try_reserve(self.owners.len() + 1)?;
        Ok(())
    }

    /// A node was added for which there is room.
    pub fn add(&mut self, node: u32) {
        self.items[node as usize] = Item::default();
        self.owners.push(node);
    }

    /// A node was removed.
    pub fn remove(&mut self, node: u32) {
        if let Some(at) = self.owners.iter().position(|&owner| owner == node) {
            self.owners.swap_remove(at);
            self.held.fetch_sub(self.items[node as usize].bytes.swap(0, Relaxed), Relaxed);
        }
    }

    /// A node has run, because it had to or to bring its value back.
    pub fn note_run(&self, node: u32, held: Held, measured_ns: f32, evaluation: u32, is_restore: bool) {
        let item = &self.items[node as usize];
        let bytes = held.bytes.min(MOST_BYTES);
        let old = item.bytes.swap(bytes, Relaxed);
        self.held.fetch_add(bytes.wrapping_sub(old), Relaxed);
        let cost = if held.cost_ns > 0.0 { held.cost_ns.min(MOST_COST_NS) as f32 } else { measured_ns };
        let is_first = item.cost.get() == 0.0;
        item.cost.approach(cost, if is_first { 1.0 } else { COST_WEIGHT });
        if !is_restore {
            if !is_first {
                item.chance.approach(0.0, EVENT_WEIGHT);
            }
            item.last.store(evaluation, Relaxed);
        }
    }

    /// A node reads the value of `node`.
    fn note_use(&self, node: u32, evaluation: u32) {
        let item = &self.items[node as usize];
        let last = item.last.swap(evaluation, Relaxed);
        if last != evaluation {
            let gap = (evaluation - last) as f32;
            item.chance.approach(1.0, EVENT_WEIGHT);
            item.gap.approach(gap, if item.gap.get() == 0.0 { 1.0 } else { EVENT_WEIGHT });
        }
    }

    /// The worth of a value that is held, per byte. `sources_ns`: the cost of bringing back its sources first.
    fn worth(&self, node: u32, flags: u32, sources_ns: f32, evaluation: u32) -> f32 {
        let item = &self.items[node as usize];
        let chance = match () {
            () if flags & DIRTY != 0 => 0.0,
            () if flags & MAYBE != 0 => item.chance.get() / 2.0,
            () => item.chance.get(),
        };
        let waited = evaluation.saturating_sub(item.last.load(Relaxed)) as f32;
        let rest = item.gap.get().max(waited).max(1.0);
        chance * (item.cost.get() + sources_ns) / (rest * item.bytes.load(Relaxed) as f32)
    }

    /// Bytes that the values of a node hold.
    pub fn held_by(&self, node: u32) -> u64 {
        self.items.get(node as usize).map_or(0, |item| item.bytes.load(Relaxed))
    }

    fn held(&self) -> u64 {
        self.held.load(Relaxed)
    }

    pub fn memory_used(&self) -> usize {
        self.items.capacity() * size_of::<Item>() + (self.owners.capacity() + self.candidates.capacity()) * 4
    }
}

/// Counts of the limit of memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoCounts {
    /// Bytes that owned values hold now.
    pub held: u64,
    /// Nodes whose values were released.
    pub releases: u64,
    /// Runs of nodes to bring their values back.
    pub restores: u64,
}

impl<F: Function> Graph<F> {
    /// Sets the most bytes that owned values hold between frames. `u64::MAX`: no limit.
    ///
    /// Nodes say with [`Held`] what their values hold. Values are released after a complete evaluation.
    pub fn set_memory_limit(&mut self, limit: u64) -> Result<()> {
        if self.state.memo.is_none() {
            if limit == u64::MAX {
                return Ok(());
            }
            self.state.memo = Some(self.new_memo(limit)?);
            self.has_floats = true;
            for input in 0..self.structure.pin_counts().1 as u32 {
                let source = self.structure.source(input);
                if source != NONE {
                    self.mark_reader(source, self.structure.reader(input));
                }
            }
        }
        if let Some(memo) = &mut self.state.memo {
            memo.limit = limit;
        }
        Ok(())
    }

    fn new_memo(&self, limit: u64) -> Result<Memo> {
        let mut memo = Memo {
            limit,
            held: AtomicU64::new(0),
            items: Vec::new(),
            owners: Vec::new(),
            candidates: Vec::new(),
            releases: 0,
            restores: 0,
        };
        for position in 0..self.structure.positions() {
            if self.nodes.at(position).is_some() {
                memo.grow(position)?;
                if self.state.record_of(position as u32).owns_any() {
                    memo.add(position as u32);
                }
            }
        }
        Ok(memo)
    }

    /// The counts of the limit of memory.
    pub fn memo_counts(&self) -> MemoCounts {
        self.state.memo.as_ref().map_or(MemoCounts::default(), |memo| MemoCounts {
            held: memo.held(),
            releases: memo.releases,
            restores: memo.restores,
        })
    }

    /// Notes that a node reads this output, which may be owned.
    pub(super) fn mark_reader(&self, output: u32, reader: u32) {
        if self.state.owns(&self.structure, output) {
            self.state.change_flags(reader, READS_OWNED, 0);
        }
    }

    /// After a complete evaluation: releases the values that are worth least until the limit is kept.
    pub(super) fn shrink(&mut self) {
        let Some(mut memo) = self.state.memo.take() else { return };
        if memo.held() > memo.limit {
            memo.candidates.clear();
            for at in 0..memo.owners.len() {
                let node = memo.owners[at];
                if self.may_release(&memo, node) {
                    let worth =
                        memo.worth(node, self.state.flags(node), self.cost_of_sources(&memo, node), self.evaluation);
                    memo.items[node as usize].worth.set(worth);
                    memo.candidates.push(node);
                }
            }
            self.release_least(&mut memo);
        }
        self.state.memo = Some(memo);
    }

    fn may_release(&self, memo: &Memo, node: u32) -> bool {
        let cells = self.structure.node(node);
        let holds = |output| self.structure.dependants(output).any(|input| self.structure.kind(input) & HOLD != 0);
        memo.items[node as usize].bytes.load(Relaxed) > 0
            && !cells.is_sink
            && matches!(self.state.class(node), Class::Pure | Class::Constant)
            && self.state.flags(node) & (BROKEN | HAS_VALUE | RELEASED) == HAS_VALUE
            && !cells.outputs().any(|output| holds(output) || self.is_passed_on(output))
    }

    /// Whether a node that reads a handle has it as its own output, which does not own it.
    fn is_passed_on(&self, output: u32) -> bool {
        let (structure, values) = (&self.structure, &self.state.values);
        let handle = values.output(output);
        let passes = |input| {
            let mut outputs = structure.node(structure.reader(input)).outputs();
            outputs.any(|other| values.output(other) == handle && !self.state.owns(structure, other))
        };
        handle != Value::default() && self.state.owns(structure, output) && structure.dependants(output).any(passes)
    }

    /// The time of bringing back the sources of a node.
    fn cost_of_sources(&self, memo: &Memo, node: u32) -> f32 {
        let sources = self.structure.node(node).inputs().map(|input| self.structure.source_node(input));
        let released = sources.filter(|&source| source != NONE && self.state.flags(source) & RELEASED != 0);
        released.map(|source| memo.items[source as usize].worth.get()).sum()
    }

    fn release_least(&mut self, memo: &mut Memo) {
        let items = &memo.items;
        let worth = |node: u32| items[node as usize].worth.get();
        sort_numbers(&mut memo.candidates, &mut |one, other| worth(one).total_cmp(&worth(other)).then(one.cmp(&other)));
        let bytes = |node: u32| items[node as usize].bytes.load(Relaxed);
        let mut excess = memo.held() - memo.limit;
        let mut count = 0;
        while count < memo.candidates.len() && excess > 0 {
            excess = excess.saturating_sub(bytes(memo.candidates[count]));
            count += 1;
        }
        // More was chosen than the limit needs: the best that fit stay after all.
        let released: u64 = memo.candidates[..count].iter().map(|&node| bytes(node)).sum();
        let mut spare = (memo.limit + released).saturating_sub(memo.held());
        for at in (0..count).rev() {
            let node = memo.candidates[at];
            if bytes(node) <= spare {
                spare -= bytes(node);
                continue;
            }
            let cost = memo.items[node as usize].cost.get() + self.cost_of_sources(memo, node);
            memo.items[node as usize].worth.set(cost);
            self.state.release_values(node, self.structure.node(node));
            memo.held.fetch_sub(memo.items[node as usize].bytes.swap(0, Relaxed), Relaxed);
            memo.releases += 1;
        }
    }

    /// Whether the value of a node was released, and its node has not run since.
    pub fn is_released(&self, node: crate::base::Id) -> Result<bool> {
        Ok(self.state.flags(self.position(node)?) & RELEASED != 0)
    }
}

impl<F: Function> Work<'_, F> {
    /// Brings back the released values that a node is about to read. Whether it may run.
    #[inline]
    pub fn make_ready(&mut self, position: u32, available: u64, pending: &mut Option<Pending<'_>>) -> bool {
        match &self.state.memo {
            Some(memo) if self.state.flags(position) & READS_OWNED != 0 => {
                self.make_sources_ready(memo, position, available, pending)
            }
            _ => true,
        }
    }

    #[cold]
    fn make_sources_ready(
        &mut self,
        memo: &Memo,
        position: u32,
        available: u64,
        pending: &mut Option<Pending<'_>>,
    ) -> bool {
        let node = self.structure.node(position);
        if self.state.broken() > 0 && self.state.broken_input(self.structure, node, available) != NONE {
            return true;
        }
        let mut next = 0;
        while let Some(source) = self.next_released(memo, position, available, &mut next) {
            if !self.restore(memo, source, pending) {
                return false;
            }
        }
        true
    }

    /// Brings a node up to date, and its value back. Whether that is complete.
    pub fn pull_and_restore(&mut self, node: u32) -> bool {
        let state = self.state;
        self.pull(node, &mut None)
            && match &state.memo {
                Some(memo) if state.flags(node) & (RELEASED | BROKEN) == RELEASED => {
                    self.restore(memo, node, &mut None)
                }
                _ => true,
            }
    }

    /// The next source of a node whose value was released.
    fn next_released(&self, memo: &Memo, position: u32, available: u64, next: &mut u32) -> Option<u32> {
        let node = self.structure.node(position);
        while *next < node.input_count() {
            let (at, input) = (*next, node.first_input + *next);
            *next += 1;
            let source = self.structure.source_node(input);
            let is_unread = self.structure.kind(input) & LAZY != 0 && available & (1 << at) == 0;
            if source != NONE && !is_unread && self.reads_owned(input) {
                memo.note_use(source, self.evaluation);
                if self.state.flags(source) & (RELEASED | BROKEN) == RELEASED {
                    return Some(source);
                }
            }
        }
        None
    }

    fn reads_owned(&self, input: u32) -> bool {
        self.state.owns(self.structure, self.structure.source(input))
    }

    /// Runs a node again, whose value was released, and first those that it reads. Whether the value is there.
    fn restore(&mut self, memo: &Memo, root: u32, pending: &mut Option<Pending<'_>>) -> bool {
        let (structure, state) = (self.structure, self.state);
        let bottom = self.path.0.len();
        self.path.0.push(Stop { node: root, next: 0 });
        while self.path.0.len() > bottom {
            let at = self.path.0.len() - 1;
            let Stop { node: position, mut next } = self.path.0[at];
            let available = self.marks.in_use(position);
            let released = self.next_released(memo, position, available, &mut next);
            self.path.0[at].next = next;
            if let Some(node) = released {
                self.path.0.push(Stop { node, next: 0 });
                continue;
            }
            if !self.may_start() {
                self.path.0.truncate(bottom);
                return false;
            }
            let node = structure.node(position);
            let reads = node.inputs().map(|input| structure.read_by(input));
            let marks = &mut *self.marks;
            let on_change = |output: u32| marks.change(structure, state, output, pending);
            let evaluation = self.evaluation;
            let run = Run { structure, position, outputs: node.outputs(), available, evaluation, is_restore: true };
            state.run_apart(&run, reads, self.scratch, on_change);
            self.summary.evaluated += 1;
            self.summary.restored += 1;
            // Its other readers may have had their turn.
            self.is_disturbed |= state.flags(position) & BROKEN != 0;
            self.path.0.pop();
        }
        true
    }
}
