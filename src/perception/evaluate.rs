//! Brings nodes up to date for the present frame.

use super::cognition::Cognition;
use super::pipelines::Prefetch;
use super::table::{Span, Table};
use super::tree::{Input, Source, Tree};
use super::work::{Outcome, Run, read, write};
use super::{Choice, Perception};
use crate::base::{Result, Value, sort_numbers};
use crate::executor::{Executor, Priority};

/// Least work of a block of nodes, in nanoseconds. Waking a thread costs several microseconds.
const LEAST_BLOCK_NS: f32 = 20_000.0;
/// The nodes to run when a frame begins.
#[derive(Debug, Default)]
pub struct Plan {
    /// Inputs before what needs them.
    nodes: Vec<u32>,
    /// By node: the number of the plan into which it was last put.
    planned: Vec<u64>,
    /// The number of the present plan.
    number: u64,
    /// Nodes whose inputs are still to be looked at, and how many were.
    stack: Vec<(u32, u32)>,
    /// Starts of blocks of a level.
    blocks: Vec<u32>,
}

impl Plan {
    fn begin(&mut self) {
        self.nodes.clear();
        self.number += 1;
    }

    pub fn grow(&mut self, nodes: usize) -> Result<()> {
        let more = |len: usize| nodes.saturating_sub(len);
        self.nodes.try_reserve(nodes)?;
        self.stack.try_reserve(nodes)?;
        self.blocks.try_reserve(nodes + 1)?;
        self.planned.try_reserve(more(self.planned.len()))?;
        while self.planned.len() < nodes {
            self.planned.push(0);
        }
        Ok(())
    }
}

impl<C: Cognition> Perception<C> {
    /// Bring a node up to date, and first what it needs.
    pub(super) fn update(&mut self, node: u32) {
        self.plan.begin();
        self.plan_node(node);
        let executor = self.executor.clone();
        for at in 0..self.plan.nodes.len() {
            let node = self.plan.nodes[at];
            if !self.settle_without_run(node) {
                self.scene().run(node, &Run { age: 0, executor: &executor, is_alone: true });
                self.settle(node);
            }
        }
    }

    /// Put a node and all that it needs into the plan, unless they are up to date or can be taken over.
    fn plan_node(&mut self, node: u32) {
        self.plan.stack.push((node, 0));
        while let Some((at, looked)) = self.plan.stack.pop() {
            let is_planned = self.plan.planned[at as usize] == self.plan.number;
            if looked == 0 && (is_planned || self.is_current(at) || self.graft(at)) {
                continue;
            }
            let inputs = self.tree.node(at).inputs.iter().enumerate().skip(looked as usize);
            let next = inputs.into_iter().find_map(|(index, input)| match input.source {
                Source::Node(source) => Some((index as u32, source)),
                Source::Frame => None,
            });
            if let Some((index, source)) = next {
                self.plan.stack.push((at, index + 1));
                self.plan.stack.push((source, 0));
            } else {
                self.plan.planned[at as usize] = self.plan.number;
                self.plan.nodes.push(at);
            }
        }
    }

    fn is_current(&self, at: u32) -> bool {
        self.table.slots[at as usize].span.last == self.frames.number()
    }

    /// Take over the result of a node, if nothing changed on which it depends.
    #[inline]
    pub(super) fn graft(&mut self, at: u32) -> bool {
        let can = self.table.graft(at, &self.frames);
        if can {
            self.counters.grafts += 1;
            self.spent.saved_ns += u64::from(self.table.slots[at as usize].chain_ns);
        }
        can
    }

    /// Settle a node that cannot run, or need not: an input failed, it has a problem, or all inputs are equal.
    fn settle_without_run(&mut self, at: u32) -> bool {
        let node = self.tree.node(at);
        let failed = node.inputs.iter().any(|input| match input.source {
            Source::Node(source) => self.table.slots[source as usize].span.is_failed,
            Source::Frame => false,
        });
        if failed || self.places[at as usize].problem.is_some() {
            self.put(at, Span { is_failed: true, ..Span::default() }, false);
            return true;
        }
        if self.scene().is_cut_off(at) {
            self.table.slots[at as usize].span.last = self.frames.number();
            self.counters.cut_offs += 1;
            self.spent.saved_ns += self.table.slots[at as usize].cost_ns as u64;
            return true;
        }
        false
    }

    /// Store the outcome of a run.
    fn settle(&mut self, at: u32) {
        let outcome = read(&self.works[at as usize]).outcome;
        self.counters.runs += 1;
        self.counters.operations += outcome.operations;
        self.add_cost(at, self.cost(&outcome));
        self.store(at, &outcome);
    }

    /// Note the duration of a run, and the node's share of those of its inputs.
    fn add_cost(&mut self, at: u32, nanoseconds: u64) {
        let inputs = cost_of_inputs(&self.tree, &self.table, at);
        self.spent.ran_ns += self.table.add_cost(at, nanoseconds, inputs) as u64;
        self.spent.mean_ns += self.table.slots[at as usize].cost_ns as u64;
    }

    /// Store the outcome of a run as the result of the present frame.
    pub(super) fn store(&mut self, at: u32, outcome: &Outcome) {
        let old = self.table.slots[at as usize].span;
        let entry = self.entry_of(at);
        let is_equal = old.last > 0
            && old.is_failed == outcome.is_failed
            && (outcome.is_failed || entry.action.is_equal(old.value, outcome.value));
        let new = Span { value: outcome.value, is_failed: outcome.is_failed, ..Span::default() };
        if outcome.is_image_changed {
            self.table.change_image(at);
        }
        self.put(at, new, is_equal);
    }

    fn put(&mut self, at: u32, result: Span, is_equal: bool) {
        let now = self.frames.number();
        // A result of pure steps holds since the last change. Without a compare that is now.
        let since =
            if self.table.slots[at as usize].is_graftable { self.table.changed_at(at, &self.frames) } else { now };
        let oldest = self.oldest();
        let Self { table, tree, .. } = self;
        let entry = tree.entry(tree.node(at));
        let new = Span { first: since.clamp(1, now), last: now, ..result };
        table.put(at, new, is_equal, oldest, &mut |value| entry.release(value));
    }

    /// The oldest frame whose results are kept: those of the last one, for moves.
    pub(super) fn oldest(&self) -> u64 {
        self.frames.number().saturating_sub(self.options.frames.history.max(1) as u64)
    }

    /// Compute the pipelines that are asked for in most frames, unless little of them remains.
    pub(super) fn prefetch(&mut self) {
        self.prefetched = 0;
        self.plan.begin();
        if self.options.prefetch == Choice::Never {
            return;
        }
        let by_profile = self.options.prefetch == Choice::Measured;
        let (mut set, mut left) = (0, 0);
        for position in 0..self.tree.pipelines.positions() {
            let Some((pipeline, demand)) = self.tree.pipelines.at(position) else { continue };
            let wanted = match pipeline.prefetch {
                Prefetch::Always => true,
                Prefetch::Never => false,
                Prefetch::Profile if by_profile => demand.is_hot,
                Prefetch::Profile => !pipeline.is_nested || demand.is_asked(),
            };
            let node = pipeline.node;
            if !wanted || !self.places[node as usize].is_placed {
                continue;
            }
            set += 1;
            self.plan_node(node);
            left += usize::from(self.plan.planned[node as usize] == self.plan.number);
        }
        let divisor = self.options.prefetch_divisor as usize;
        let workers = self.executor.max_concurrency();
        let is_little = divisor > 0 && (left <= set / divisor || left <= workers / divisor);
        if left == 0 || is_little {
            self.counters.prefetches_left_out += u64::from(left > 0);
            return;
        }
        self.prefetched = left;
        self.run_levels();
    }

    /// Run the planned nodes, level by level: those of a level at the same time.
    fn run_levels(&mut self) {
        let Self { plan, tree, .. } = self;
        sort_numbers(&mut plan.nodes, &mut |one, other| {
            (tree.node(one).depth, one).cmp(&(tree.node(other).depth, other))
        });
        let mut nodes = std::mem::take(&mut self.plan.nodes);
        let mut start = 0;
        while start < nodes.len() {
            let depth = self.tree.node(nodes[start]).depth;
            let len = nodes[start..].iter().take_while(|&&node| self.tree.node(node).depth == depth).count();
            let end = start + len;
            self.run_level(&mut nodes[start..end]);
            start = end;
        }
        nodes.clear();
        self.plan.nodes = nodes;
    }

    fn run_level(&mut self, level: &mut [u32]) {
        let mut kept = 0;
        for at in 0..level.len() {
            let node = level[at];
            if !self.settle_without_run(node) {
                level[kept] = node;
                kept += 1;
            }
        }
        let level = &level[..kept];
        let executor = self.executor.clone();
        let workers = executor.max_concurrency();
        self.cut_into_blocks(level, workers);
        let blocks = std::mem::take(&mut self.plan.blocks);
        let scene = self.scene();
        if level.len() > 1 && blocks.len() > 2 && workers > 1 {
            executor.parallel_for(blocks.len() - 1, Priority::High, "perception", &|_, block| {
                for &node in &level[blocks[block] as usize..blocks[block + 1] as usize] {
                    scene.run(node, &Run { age: 0, executor: &Executor::inline(), is_alone: false });
                }
            });
        } else {
            for &node in level {
                scene.run(node, &Run { age: 0, executor: &executor, is_alone: true });
            }
        }
        self.plan.blocks = blocks;
        for &node in level {
            self.settle(node);
        }
        self.counters.prefetch_runs += level.len() as u64;
    }

    /// Cut a level into blocks that are worth a thread's while. A node of unknown duration is a block.
    fn cut_into_blocks(&mut self, level: &[u32], workers: usize) {
        let Self { table, plan, tree, .. } = self;
        let cost = |node: u32| match table.slots[node as usize].cost_ns {
            0.0 => tree.entry(tree.node(node)).traits.cost_ns as f32,
            measured => measured,
        };
        let total: f32 = level.iter().map(|&node| cost(node)).sum();
        let least = LEAST_BLOCK_NS.max(total / (8 * workers) as f32);
        plan.blocks.clear();
        plan.blocks.push(0);
        let mut sum = 0.0;
        for (at, &node) in level.iter().enumerate() {
            sum += if cost(node) == 0.0 { least } else { cost(node) };
            if sum >= least || at + 1 == level.len() {
                plan.blocks.push(at as u32 + 1);
                sum = 0.0;
            }
        }
    }

    /// Take over results of another place: pixels that moved have the result that they had there.
    pub(super) fn take_moved(&mut self) {
        if !self.frames.has_moves() {
            return;
        }
        let now = self.frames.number();
        for position in 0..self.tree.pipelines.positions() {
            let Some(node) = self.tree.pipelines.at(position).map(|(pipeline, _)| pipeline.node) else { continue };
            if self.is_current(node) || self.graft(node) {
                continue;
            }
            let Some(source) = self.moved_from(node) else { continue };
            let span = self.table.at(source, now - 1).filter(|span| !span.is_failed);
            let Some(span) = span else { continue };
            self.counters.moved += 1;
            self.put_moved(node, span.value);
        }
    }

    fn put_moved(&mut self, node: u32, value: Value) {
        let old = self.table.slots[node as usize].span;
        let is_equal = old.last > 0 && !old.is_failed && self.entry_of(node).action.is_equal(old.value, value);
        write(&self.works[node as usize]).is_moved = true;
        self.put(node, Span { value, ..Span::default() }, is_equal);
    }

    /// The node with the same steps at the place from which the pixels of this one come.
    fn moved_from(&self, at: u32) -> Option<u32> {
        let (node, place) = (self.tree.node(at), self.places.get(at as usize)?);
        if place.shape.is_some() || self.tree.entry(node).traits.is_owned {
            return None;
        }
        self.twin(at)
    }

    /// [`moved_from`](Self::moved_from) for any step: all steps up to it are invariant.
    fn twin(&self, at: u32) -> Option<u32> {
        let (node, place) = (self.tree.node(at), self.places.get(at as usize)?);
        let traits = &self.tree.entry(node).traits;
        let [input] = node.inputs.as_slice() else { return None };
        if !traits.is_invariant || traits.support > 0 || !place.is_pure || !place.is_exact {
            return None;
        }
        match input.source {
            Source::Frame => {
                let (part, _) = *place.parts.first()?;
                let from = self.frames.moved_from(part)?;
                self.tree.find_like(node, Input { source: Source::Frame, part: from })
            }
            Source::Node(source) => {
                let source = Source::Node(self.twin(source)?);
                self.tree.find_like(node, Input { source, part: input.part })
            }
        }
    }
}

/// The share of a node in the durations of its inputs, and of theirs.
pub(super) fn cost_of_inputs<C: Cognition>(tree: &Tree<C>, table: &Table, at: u32) -> f32 {
    let shares = tree.node(at).inputs.iter().filter_map(|input| match input.source {
        Source::Node(source) => Some(table.slots[source as usize].chain_ns as f32 / tree.node(source).users as f32),
        Source::Frame => None,
    });
    shares.sum()
}
