//! Evaluation by a plan on several threads: level by level, in blocks that are worth a thread's while.
//!
//! In a frame in which most nodes run, blocks are parts of a level, and threads look themselves which of its nodes wait. In
//! other frames the calling thread lists the nodes that wait.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use super::kernel::{Rest, is_simple};
use super::marks::{Bits, Marks, Pending};
use super::plan::Plan;
use super::pull::{Path, Work};
use super::scratch::Scratch;
use super::state::{DIRTY, Run};
use super::{Function, Summary};
use crate::base::{Result, try_push};
use crate::executor::{Executor, Priority, Stopwatch};

/// A level with less work runs on the calling thread. Two threads break even at 64 µs of nodes of 400 ns. From 40 to 64 µs
/// they took up to 1.18 times as long as one. A quarter is added, because durations are means.
const LEAST_LEVEL_NS: u64 = 80_000;
/// The same for parts of levels that follow each other, between which workers stay awake.
const LEAST_PART_LEVEL_NS: u64 = 16_000;
/// Workers stay awake for levels of at least this work together, if they are most of the work of the plan.
const LEAST_AWAKE_NS: u64 = 4 * LEAST_LEVEL_NS;
/// Least work of a block.
const LEAST_BLOCK_NS: u64 = 10_000;
/// The cost of a node of a block beside its run. It is collected, run through the general path, and passed on by the
/// calling thread; and the clock adds to its duration.
const NODE_OF_BLOCK_NS: u64 = 50;
/// Most evaluations without parts after one in which they saved no time.
const LONGEST_PAUSE: u32 = 128;
/// Levels are measured in evaluations 0, 1, 2, 4, 8, … of a plan, and from here on once in this many: nodes become slower.
const EVALUATIONS_PER_LOOK: u32 = 64;

/// The levels that several threads run, and the memory of threads.
pub struct Threads {
    workers: Vec<Mutex<Worker>>,
    /// The nodes of a level that run, and the starts of blocks of them.
    level: Vec<u32>,
    blocks: Vec<u32>,
    /// Blocks handed to an executor.
    pub handed_out: u64,
    /// The levels of the plan that are worth several threads, by the last measurement.
    pub heavy: Vec<u32>,
    /// Whether these follow each other, and all of their nodes are simple: in frames of most nodes, threads run parts of them.
    has_parts: bool,
    /// The best time of recent evaluations of most nodes without parts.
    alone: Duration,
    /// Evaluations without parts that remain, and that follow the next one in which parts save no time.
    pub pause: u32,
    next_pause: u32,
    /// Number of evaluations of the plan.
    evaluations: u32,
    /// The last [`grow`](Self::grow): node positions, levels, pins, threads.
    grown: (usize, usize, (usize, usize), usize),
    least_level_ns: u64,
    least_block_ns: u64,
    node_of_block_ns: u64,
    #[cfg(test)]
    splits_everything: bool,
}

/// Memory of a thread. Only the scratch is used beside parts of levels.
#[derive(Default)]
struct Worker {
    scratch: Scratch,
    marks: Marks,
    path: Path,
    bits: Bits,
}

impl Default for Threads {
    fn default() -> Self {
        Self {
            workers: Vec::new(),
            level: Vec::new(),
            blocks: Vec::new(),
            handed_out: 0,
            heavy: Vec::new(),
            has_parts: false,
            alone: Duration::MAX,
            pause: 1,
            next_pause: 1,
            evaluations: 0,
            grown: (0, 0, (0, 0), 0),
            least_level_ns: LEAST_LEVEL_NS,
            least_block_ns: LEAST_BLOCK_NS,
            node_of_block_ns: NODE_OF_BLOCK_NS,
            #[cfg(test)]
            splits_everything: false,
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
        while self.workers.len() < threads {
            try_push(&mut self.workers, Mutex::default())?;
        }
        for worker in &mut self.workers {
            let worker = worker.get_mut().unwrap_or_else(|poison| poison.into_inner());
            worker.scratch.grow(pins.0, pins.1)?;
            // A plan has at most as many positions.
            worker.bits = Bits::new(positions)?;
        }
        self.grown = wanted;
        Ok(())
    }

    /// Whether the calling thread runs an evaluation alone, with an executor of so many threads. By the last measurement no
    /// level is worth several, and it is not the time to measure again. Then the evaluation is counted.
    #[inline]
    pub fn count_alone(&mut self, threads: usize) -> bool {
        let is_alone = self.grown.3 == threads && self.heavy.is_empty() && !is_look(self.evaluations);
        self.evaluations = self.evaluations.wrapping_add(u32::from(is_alone));
        is_alone
    }

    /// Makes each node a block, for tests whose nodes take no time.
    #[cfg(test)]
    pub fn split_everything(&mut self) {
        (self.least_level_ns, self.least_block_ns, self.node_of_block_ns) = (0, 0, 0);
        self.splits_everything = true;
    }

    /// Whether several threads make a level of so many nodes faster. Of one node they do not, even if it seems to take long: the
    /// thread may have lost its processor while the node was timed.
    fn is_worth(&self, level_ns: u64, nodes: usize, executor: &Executor) -> bool {
        let threads = executor.max_concurrency() as u64;
        level_ns >= self.least_level_ns
            && threads > 1
            && nodes > 1
            && level_ns - level_ns / threads >= self.node_of_block_ns * nodes as u64
    }

    /// Number of parts of a level whose nodes take about as long as its first one.
    fn parts_of(&self, node_ns: u64, range: &Range<u32>, executor: &Executor) -> u32 {
        let threads = executor.max_concurrency() as u64;
        let nodes = range.len() as u64;
        let wanted = (node_ns * nodes / self.least_block_ns.max(1)).max(2);
        // As many for each thread.
        let even = if wanted > threads { wanted - wanted % threads } else { wanted };
        even.min(nodes) as u32
    }

    /// Whether this evaluation goes without parts.
    fn must_pause(&mut self) -> bool {
        #[cfg(test)]
        if self.splits_everything {
            return false;
        }
        let must = self.pause > 0;
        self.pause -= u32::from(must);
        must
    }

    /// Learns from the time of an evaluation of most nodes. If other programs use the processors, parts save none.
    fn learn(&mut self, is_alone: bool, passed: Duration) {
        if is_alone {
            self.alone = passed.min(self.alone.saturating_add(self.alone / 16));
        } else if passed <= self.alone - self.alone / 8 {
            self.next_pause = 1;
        } else {
            self.pause = self.next_pause;
            self.next_pause = (2 * self.next_pause).min(LONGEST_PAUSE);
        }
    }

    /// Adds the bits of the workers to others.
    #[cold]
    fn take_bits(&mut self, bits: &mut Bits) {
        for worker in &mut self.workers {
            let from = &mut worker.get_mut().unwrap_or_else(|poison| poison.into_inner()).bits;
            while let Some(position) = from.next(0) {
                from.clear(position);
                bits.set(position);
            }
        }
    }

    /// Forgets the levels of a plan.
    pub fn forget_levels(&mut self) {
        (self.alone, self.pause, self.next_pause) = (Duration::MAX, 1, 1);
        self.grown = (0, 0, (0, 0), 0);
    }

    pub fn memory_used(&self) -> usize {
        let of_worker = |worker: &Mutex<Worker>| {
            let worker = worker.lock().unwrap_or_else(|poison| poison.into_inner());
            worker.scratch.memory_used() + worker.bits.memory_used()
        };
        (self.level.capacity() + self.blocks.capacity() + self.heavy.capacity()) * 4
            + self.workers.capacity() * size_of::<Mutex<Worker>>()
            + self.workers.iter().map(of_worker).sum::<usize>()
    }
}

impl<F: Function> Work<'_, F> {
    /// Runs what waits, level by level. Whether nothing waits any more.
    pub fn walk_levels(&mut self, plan: &Plan, bits: &mut Bits, threads: &mut Threads, executor: &Executor) -> bool {
        let count = threads.evaluations;
        threads.evaluations = count.wrapping_add(1);
        if is_look(count) {
            self.measure(plan, threads, executor);
        }
        if threads.heavy.is_empty() {
            return self.walk(plan, bits, 0..plan.len() as u32);
        }
        self.expects_most &= threads.has_parts;
        if !self.expects_most {
            return self.walk_heavy(plan, bits, threads, executor);
        }
        let watch = Stopwatch::begin();
        let is_alone = threads.must_pause();
        let is_done = if is_alone {
            self.walk(plan, bits, 0..plan.len() as u32)
        } else {
            let _awake = executor.stay_awake();
            self.walk_heavy(plan, bits, threads, executor)
        };
        if is_done && self.expects_most {
            threads.learn(is_alone, watch.passed());
        }
        is_done
    }

    /// Runs what waits: heavy levels on several threads, and those between on this one.
    fn walk_heavy(&mut self, plan: &Plan, bits: &mut Bits, threads: &mut Threads, executor: &Executor) -> bool {
        let mut start = 0;
        for at in 0..threads.heavy.len() {
            let range = plan.level_of(threads.heavy[at] as usize);
            let end = range.end;
            // The levels between are one walk.
            let is_done = self.walk(plan, bits, start..range.start)
                && if self.expects_most {
                    self.run_parts(plan, bits, range, threads, executor)
                } else {
                    self.run_level(plan, bits, range, threads, executor)
                };
            if !is_done {
                return false;
            }
            start = end;
        }
        self.walk(plan, bits, start..plan.len() as u32)
    }

    /// Lists the levels that are worth several threads.
    fn measure(&self, plan: &Plan, threads: &mut Threads, executor: &Executor) {
        let mut all = 0;
        let mut work = 0;
        threads.heavy.clear();
        for level in 0..plan.levels() {
            let range = plan.level_of(level);
            let level_ns = self.duration_of_level(plan, level);
            all += level_ns;
            if level_ns >= LEAST_PART_LEVEL_NS.min(threads.least_level_ns)
                && range.len() > 1
                && range.clone().all(|position| self.has_simple(plan, position))
            {
                threads.heavy.push(level as u32);
                work += level_ns;
            }
        }
        // While other levels run, workers would look for the next one in vain.
        threads.has_parts = executor.has_pool() && work >= LEAST_AWAKE_NS && 5 * work >= 4 * all;
        #[cfg(test)]
        {
            threads.has_parts |= threads.splits_everything;
        }
        if threads.has_parts {
            return;
        }
        threads.heavy.clear();
        for level in 0..plan.levels() {
            if threads.is_worth(self.duration_of_level(plan, level), plan.level_of(level).len(), executor) {
                threads.heavy.push(level as u32);
            }
        }
    }

    fn duration_of_level(&self, plan: &Plan, level: usize) -> u64 {
        plan.level_of(level).map(|position| self.duration_of(plan, position)).sum()
    }

    /// Whether the node at a position is simple, and gets its turn by a change alone. So do its readers.
    fn has_simple(&self, plan: &Plan, position: u32) -> bool {
        let step = plan.step(position);
        is_simple(self.state.flags(step.node)) && step.gives_and_has_turns_by_changes()
    }

    /// Runs a level whose nodes are simple, in parts, while most nodes are expected to run. Whether nothing waits there any
    /// more.
    fn run_parts(
        &mut self,
        plan: &Plan,
        bits: &mut Bits,
        range: Range<u32>,
        threads: &mut Threads,
        executor: &Executor,
    ) -> bool {
        let count = threads.parts_of(self.duration_of(plan, range.start), &range, executor);
        threads.handed_out += u64::from(count);
        let (structure, state, cancel, evaluation) = (self.structure, self.state, self.cancel, self.evaluation);
        let (evaluated, is_stopped, has_others) = (AtomicU64::new(0), AtomicBool::new(false), AtomicBool::new(false));
        let shared = &*threads;
        executor.parallel_for(count as usize, Priority::Normal, "graph", &|context, part| {
            let mut worker = shared.workers[context.worker()].lock().unwrap_or_else(|poison| poison.into_inner());
            let Worker { scratch, marks, path, bits } = &mut *worker;
            let mut work = Work {
                structure,
                state,
                marks,
                scratch,
                path,
                evaluation,
                node_limit: u64::MAX,
                cancel,
                summary: Summary::default(),
                is_disturbed: false,
                expects_most: true,
            };
            let bound = |part: usize| range.start + (range.len() * part / count as usize) as u32;
            let (mut next, end) = (bound(part), bound(part + 1));
            while next < end {
                next = match work.run_simple::<true>(plan, bits, next, end) {
                    Rest::Done => break,
                    Rest::Unsuccessful(at, _) => at + 1,
                    Rest::General(at) => {
                        has_others.store(true, Relaxed);
                        at + 1
                    }
                    Rest::Stopped(_) => {
                        is_stopped.store(true, Relaxed);
                        break;
                    }
                };
            }
            evaluated.fetch_add(work.summary.evaluated, Relaxed);
        });
        self.summary.evaluated += evaluated.into_inner();
        let mut is_done = !is_stopped.into_inner();
        if self.state.broken() != 0 {
            threads.take_bits(bits);
        }
        if has_others.into_inner() || !is_done || self.state.broken() != 0 {
            self.expect_few(plan, bits, range.start, 0..0);
            is_done = is_done && self.walk(plan, bits, range);
        }
        is_done
    }

    fn run_level(
        &mut self,
        plan: &Plan,
        bits: &mut Bits,
        range: Range<u32>,
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
        // Blocks count their nodes in advance. Nodes that do not run take nothing of the limit, so a walk counts them.
        let is_limited =
            self.state.broken() > 0 && self.summary.evaluated + threads.level.len() as u64 > self.node_limit;
        if threads.level.len() < 2 || is_limited || !threads.is_worth(known, threads.level.len(), executor) {
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
            let mut worker = shared.workers[context.worker()].lock().unwrap_or_else(|poison| poison.into_inner());
            let of_block = shared.blocks[block] as usize..shared.blocks[block + 1] as usize;
            for &position in &shared.level[of_block] {
                if cancel.load(Relaxed) {
                    return;
                }
                let step = plan.step(position);
                let (position, outputs) = (step.node, step.outputs());
                let run = Run { structure, position, outputs, available: 0, evaluation, is_restore: false };
                state.run_apart(&run, plan.reads(step).iter().copied(), &mut worker.scratch, |_| ());
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
            let pending = Pending { plan, bits };
            self.marks.change_readers(self.structure, self.state, plan.readers(step, output), pending);
        }
    }
}

/// Whether levels are measured in evaluation number `count` of a plan.
fn is_look(count: u32) -> bool {
    count.is_multiple_of(EVALUATIONS_PER_LOOK) || (count < EVALUATIONS_PER_LOOK && count.is_power_of_two())
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
