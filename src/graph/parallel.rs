//! Evaluation by a plan on several threads: level by level, in blocks that are worth a thread's while.

use std::sync::Mutex;
use std::sync::atomic::Ordering::Relaxed;

use super::Function;
use super::marks::{Bits, Pending};
use super::plan::{BY_INPUT, Plan};
use super::pull::Work;
use super::state::{DIRTY, Run, Scratch};
use crate::base::{Result, try_push};
use crate::executor::{Executor, Priority};

/// A level with less work runs on the calling thread. Two threads break even at 64 µs of nodes of 400 ns. From 40 to 64 µs
/// they took up to 1.18 times as long as one. A quarter is added, because durations are means.
const LEAST_LEVEL_NS: u64 = 80_000;
/// Least work of a block.
const LEAST_BLOCK_NS: u64 = 10_000;
/// The cost of a node of a block beside its run. It is collected, run through the general path, and passed on by the
/// calling thread; and the clock adds to its duration.
const NODE_OF_BLOCK_NS: u64 = 50;
/// Levels are measured in evaluations 0, 1, 2, 4, 8, … of a plan, and from here on once in this many: nodes become slower.
const EVALUATIONS_PER_LOOK: u32 = 64;

/// The levels that several threads run, and the memory of threads.
pub struct Threads {
    scratch: Vec<Mutex<Scratch>>,
    /// The nodes of a level that run, and the starts of blocks of them.
    level: Vec<u32>,
    blocks: Vec<u32>,
    /// Blocks handed to an executor.
    pub handed_out: u64,
    /// The levels of the plan that are worth several threads, by the last measurement.
    heavy: Vec<u32>,
    /// Number of evaluations of the plan.
    evaluations: u32,
    /// The last [`grow`](Self::grow): node positions, levels, pins, threads.
    grown: (usize, usize, (usize, usize), usize),
    least_level_ns: u64,
    least_block_ns: u64,
    node_of_block_ns: u64,
}

impl Default for Threads {
    fn default() -> Self {
        Self {
            scratch: Vec::new(),
            level: Vec::new(),
            blocks: Vec::new(),
            handed_out: 0,
            heavy: Vec::new(),
            evaluations: 0,
            grown: (0, 0, (0, 0), 0),
            least_level_ns: LEAST_LEVEL_NS,
            least_block_ns: LEAST_BLOCK_NS,
            node_of_block_ns: NODE_OF_BLOCK_NS,
        }
    }
}

impl Threads {
    /// Makes room for a graph with these numbers of node positions and most pins, on this number of threads.
    pub fn grow(&mut self, positions: usize, levels: usize, pins: (usize, usize), executor: &Executor) -> Result<()> {
        let threads = executor.max_concurrency();
        let wanted = (positions, levels, pins, threads);
        if wanted == self.grown {
            return Ok(());
        }
        for (list, count) in [(&mut self.level, positions), (&mut self.blocks, positions), (&mut self.heavy, levels)] {
            list.clear();
            list.try_reserve(count + 1)?;
        }
        self.evaluations = 0;
        while self.scratch.len() < threads {
            try_push(&mut self.scratch, Mutex::default())?;
        }
        for scratch in &mut self.scratch {
            scratch.get_mut().unwrap_or_else(|poison| poison.into_inner()).grow(pins.0, pins.1)?;
        }
        self.grown = wanted;
        Ok(())
    }

    /// Makes each node a block, for tests whose nodes take no time.
    #[cfg(test)]
    pub fn split_everything(&mut self) {
        (self.least_level_ns, self.least_block_ns, self.node_of_block_ns) = (0, 0, 0);
    }

    /// Whether several threads make a level of so many nodes faster.
    fn is_worth(&self, level_ns: u64, nodes: usize, executor: &Executor) -> bool {
        let threads = executor.max_concurrency() as u64;
        level_ns >= self.least_level_ns
            && threads > 1
            && level_ns - level_ns / threads >= self.node_of_block_ns * nodes as u64
    }

    /// Forgets the levels of a plan.
    pub fn forget_levels(&mut self) {
        self.grown = (0, 0, (0, 0), 0);
    }

    pub fn memory_used(&self) -> usize {
        (self.level.capacity() + self.blocks.capacity() + self.heavy.capacity()) * 4
            + self.scratch.capacity() * size_of::<Mutex<Scratch>>()
    }
}

impl<F: Function> Work<'_, F> {
    /// Runs what waits, level by level. Whether nothing waits any more.
    pub fn walk_levels(&mut self, plan: &Plan, bits: &mut Bits, threads: &mut Threads, executor: &Executor) -> bool {
        let count = threads.evaluations;
        threads.evaluations = count.wrapping_add(1);
        if count.is_multiple_of(EVALUATIONS_PER_LOOK) || (count < EVALUATIONS_PER_LOOK && count.is_power_of_two()) {
            self.measure(plan, threads, executor);
        }
        // Levels are run by their bits.
        self.expects_most &= threads.heavy.is_empty();
        let mut start = 0;
        for at in 0..threads.heavy.len() {
            let range = plan.level_of(threads.heavy[at] as usize);
            let end = range.end;
            // The levels between are one walk.
            if !self.walk(plan, bits, start..range.start) || !self.run_level(plan, bits, range, threads, executor) {
                return false;
            }
            start = end;
        }
        self.walk(plan, bits, start..plan.len() as u32)
    }

    /// Lists the levels that are worth several threads.
    fn measure(&self, plan: &Plan, threads: &mut Threads, executor: &Executor) {
        threads.heavy.clear();
        for level in 0..plan.levels() {
            let range = plan.level_of(level);
            let level_ns = range.clone().map(|position| self.duration_of(plan, position)).sum();
            if threads.is_worth(level_ns, range.len(), executor) {
                threads.heavy.push(level as u32);
            }
        }
    }

    fn run_level(
        &mut self,
        plan: &Plan,
        bits: &mut Bits,
        range: std::ops::Range<u32>,
        threads: &mut Threads,
        executor: &Executor,
    ) -> bool {
        threads.level.clear();
        let mut known = 0u64;
        let mut at = range.start;
        while let Some(position) = bits.next(at).filter(|&position| position < range.end) {
            let step = plan.step(position);
            if !step.is_lazy {
                let cost = self.duration_of(plan, position);
                known += cost;
                if cost != 0 {
                    threads.level.push(position);
                } else if !self.step_and_clear(plan, bits, position) {
                    return false;
                }
            }
            at = position + 1;
        }
        if threads.level.len() < 2 || !threads.is_worth(known, threads.level.len(), executor) {
            return self.walk(plan, bits, range);
        }
        let is_done = self.run_blocks(plan, bits, threads, executor);
        // Lazy inputs are pulled by this thread.
        at = range.start;
        while let Some(position) = bits.next(at).filter(|&position| is_done && position < range.end) {
            if !self.step(plan, bits, position) {
                return false;
            }
            bits.clear(position);
            at = position + 1;
        }
        is_done
    }

    fn step_and_clear(&mut self, plan: &Plan, bits: &mut Bits, position: u32) -> bool {
        let is_done = self.step(plan, bits, position);
        if is_done {
            bits.clear(position);
        }
        is_done
    }

    /// Mean duration of the node at a position in nanoseconds. 0: not known.
    fn duration_of(&self, plan: &Plan, position: u32) -> u64 {
        self.state.duration_ns(plan.step(position).node).into()
    }

    fn run_blocks(&mut self, plan: &Plan, bits: &mut Bits, threads: &mut Threads, executor: &Executor) -> bool {
        let is_ready = threads
            .level
            .iter()
            .all(|&position| self.make_ready(plan.step(position).node, 0, &mut Some(Pending { plan, bits })));
        if !is_ready {
            return false;
        }
        let rest = usize::try_from(self.node_limit - self.summary.evaluated).unwrap_or(usize::MAX);
        let allowed = threads.level.len().min(rest);
        let (structure, state) = (self.structure, self.state);
        cut(threads, allowed, |position| state.duration_ns(plan.step(position).node));
        for &position in &threads.level[..allowed] {
            state.change_flags(plan.step(position).node, DIRTY, 0);
        }
        let blocks = threads.blocks.len() - 1;
        threads.handed_out += blocks as u64;
        let (cancel, evaluation) = (self.cancel, self.evaluation);
        let shared = &*threads;
        executor.parallel_for(blocks, Priority::Normal, "graph", &|context, block| {
            let mut scratch = shared.scratch[context.worker()].lock().unwrap_or_else(|poison| poison.into_inner());
            let of_block = shared.blocks[block] as usize..shared.blocks[block + 1] as usize;
            for &position in &shared.level[of_block] {
                if cancel.load(Relaxed) {
                    return;
                }
                let step = plan.step(position);
                let (position, outputs) = (step.node, step.outputs());
                let run = Run { structure, position, outputs, available: 0, evaluation, is_restore: false };
                state.run(&run, plan.reads(step).iter().copied(), &mut scratch, |_| ());
            }
        });
        let mut is_done = allowed == threads.level.len();
        for &position in &threads.level[..allowed] {
            let step = plan.step(position);
            if state.is_stale(step.node) {
                is_done = false;
                continue;
            }
            self.summary.evaluated += u64::from(state.ran_at(step.node) == evaluation);
            self.pass_on(plan, bits, position);
            bits.clear(position);
        }
        is_done
    }

    /// Gives what reads the outputs that a node has changed its turn.
    fn pass_on(&mut self, plan: &Plan, bits: &mut Bits, position: u32) {
        let step = plan.step(position);
        for output in step.outputs() {
            if self.state.changed_at(output) != self.evaluation {
                continue;
            }
            for &reader in plan.readers(step, output) {
                if reader & BY_INPUT == 0 {
                    bits.set(reader);
                } else {
                    let pending = &mut Some(Pending { plan, bits });
                    self.marks.change_input(self.structure, self.state, reader & !BY_INPUT, pending);
                }
            }
        }
    }
}

/// Cuts the nodes of a level into blocks.
fn cut(threads: &mut Threads, allowed: usize, duration_ns: impl Fn(u32) -> u32) {
    threads.blocks.clear();
    threads.blocks.push(0);
    let mut work = 0;
    for at in 0..allowed {
        work += u64::from(duration_ns(threads.level[at]));
        if work >= threads.least_block_ns && at + 1 < allowed {
            threads.blocks.push(at as u32 + 1);
            work = 0;
        }
    }
    threads.blocks.push(allowed as u32);
}
