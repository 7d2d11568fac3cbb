//! A plan: all that the sinks depend on, in arrays and in an order in which a loop can evaluate it. It never changes, and
//! is used only while the links are the ones from which it was made.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::rebuild::outdated;
use super::structure::{FEEDBACK, HOLD, LAZY, NONE, Node, OWN, Structure};
use crate::base::{Result, try_collect, try_filled, try_push};

/// Marks entries of [`Plan::readers`] that are inputs: those that hold, and those whose owner has lazy inputs or no turn of
/// its own.
pub const BY_INPUT: u32 = 1 << 31;

/// Marks positions of nodes that are not demanded whenever a sink is.
const SELDOM: u32 = 1 << 31;

/// Most inputs of a step whose reads are in the step itself.
pub const FEW_READS: usize = 2;

/// A plan that is being made looks whether it has become useless after this many nodes.
const NODES_PER_LOOK: usize = 1024;

/// One node of a plan.
#[derive(Clone, Copy)]
pub struct Step {
    pub node: u32,
    first_output: u32,
    /// The reads of its inputs, if these are few. Otherwise the read of its first input, and its first entry of
    /// [`Plan::reads`].
    reads: [u32; FEW_READS],
    /// With one output: the entries of [`Plan::readers`] of it. Otherwise the first is the entry of
    /// [`Plan::first_reader`] of its first output.
    readers: (u32, u32),
    output_count: u16,
    input_count: u16,
    pub how: Reads,
    /// Whether an entry of the readers of its only output has [`BY_INPUT`].
    pub has_inputs_to_mark: bool,
    pub is_lazy: bool,
    /// Whether it is demanded whenever a sink is.
    pub is_strict: bool,
}

/// How a step reads its inputs, and how it gets its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Reads {
    /// Any inputs. It gets a turn by a mark only, because it is lazy, or not always demanded.
    Marked,
    /// Outputs that lie next to each other, at least one. It gets a turn if one of them has changed.
    Adjacent,
    /// Two outputs. It gets a turn if one of them has changed.
    Two,
    /// Any inputs. It gets a turn if an output that it reads has changed.
    Mixed,
}

impl Step {
    fn new(node: u32, pins: &Node) -> Self {
        Self {
            node,
            first_output: pins.first_output,
            reads: [0; FEW_READS],
            readers: (0, 0),
            output_count: pins.output_count() as u16,
            input_count: pins.input_count() as u16,
            how: Reads::Marked,
            has_inputs_to_mark: false,
            is_lazy: pins.lazy != 0,
            is_strict: false,
        }
    }

    #[inline]
    pub fn inputs(&self) -> usize {
        usize::from(self.input_count)
    }

    /// The reads of its inputs, if these are few.
    #[inline]
    pub fn few_reads(&self) -> &[u32; FEW_READS] {
        &self.reads
    }

    /// Its entries of [`Plan::reads`], if these are not few.
    #[inline]
    pub fn range_of_reads(&self) -> Range<usize> {
        self.reads[1] as usize..self.reads[1] as usize + self.inputs()
    }

    /// Whether it gets its turn by a change alone, not by a mark. So do its readers.
    pub fn gives_and_has_turns_by_changes(&self) -> bool {
        self.how != Reads::Marked && !self.has_inputs_to_mark
    }

    /// The entries of [`Plan::readers`] of its only output.
    #[inline]
    pub fn range_of_readers(&self) -> Range<usize> {
        self.readers.0 as usize..self.readers.1 as usize
    }

    /// The output of a simple step.
    #[inline]
    pub fn output(&self) -> u32 {
        self.first_output
    }

    #[inline]
    pub fn outputs(&self) -> Range<u32> {
        self.first_output..self.first_output + u32::from(self.output_count)
    }
}

/// See above. Positions are by level: a node's level is above those of all that it reads.
#[derive(Default)]
pub struct Plan {
    steps: Vec<Step>,
    /// By node: its position, with [`SELDOM`] if it is not strict; or [`NONE`].
    positions: Vec<u32>,
    /// The reads of inputs that are not in their step: see [`Structure::read_by`].
    reads: Vec<u32>,
    /// By output of all steps with several: its first entry of `readers`. One more for each such step.
    first_reader: Vec<u32>,
    /// Positions that read an output, or inputs with [`BY_INPUT`].
    readers: Vec<u32>,
    /// By level: its first position; one more at the end.
    levels: Vec<u32>,
    /// Nodes in the order of the list evaluator.
    list: Vec<u32>,
    bounds: Bounds,
}

/// Above the largest numbers in a plan.
#[derive(Clone, Copy, Default)]
pub struct Bounds {
    /// Of nodes.
    pub nodes: usize,
    /// Of outputs, those that are read included.
    pub outputs: usize,
    /// The most inputs of a node.
    pub inputs: usize,
}

impl Plan {
    /// Makes the plan of these links, unless `is_over` says that it has become useless.
    pub fn new(structure: &Structure, is_over: &dyn Fn() -> bool) -> Result<Self> {
        let roots = try_collect(structure.roots())?;
        let mut plan = Self::default();
        let starts = plan.search(structure, &roots, is_over)?;
        let is_any_lazy = plan.place(structure, starts)?;
        if is_over() {
            return Err(outdated());
        }
        if is_any_lazy {
            plan.mark_strict(structure, &roots);
        } else {
            plan.steps.iter_mut().for_each(|step| step.is_strict = true);
        }
        plan.link(structure)?;
        for step in plan.steps.iter().filter(|step| !step.is_strict) {
            plan.positions[step.node as usize] |= SELDOM;
        }
        Ok(plan)
    }

    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// The steps, and the readers of their outputs.
    pub fn arrays(&self) -> (&[Step], &[u32]) {
        (&self.steps, &self.readers)
    }

    pub fn bounds(&self) -> Bounds {
        self.bounds
    }

    #[inline]
    pub fn step(&self, position: u32) -> &Step {
        &self.steps[position as usize]
    }

    /// The position of a node that is demanded whenever a sink is, or [`NONE`].
    #[inline]
    pub fn strict_position(&self, node: u32) -> u32 {
        match self.positions.get(node as usize) {
            Some(&position) if position & SELDOM == 0 => position,
            _ => NONE,
        }
    }

    /// The reads of a step's inputs.
    #[inline]
    pub fn reads<'a>(&'a self, step: &'a Step) -> &'a [u32] {
        if step.inputs() <= FEW_READS { &step.reads[..step.inputs()] } else { &self.reads[step.range_of_reads()] }
    }

    /// The readers of an output of a step: positions, or inputs with [`BY_INPUT`].
    #[inline]
    pub fn readers(&self, step: &Step, output: u32) -> &[u32] {
        if step.output_count == 1 {
            return self.readers_of_simple(step);
        }
        let at = (step.readers.0 + output - step.first_output) as usize;
        &self.readers[self.first_reader[at] as usize..self.first_reader[at + 1] as usize]
    }

    /// Whether a step gets a turn because an output that it reads, apart from these, has changed.
    #[inline(never)]
    pub fn has_changed_read(
        &self,
        step: &Step,
        changed_at: &[AtomicU32],
        evaluation: u32,
        except: &Range<u32>,
    ) -> bool {
        let has_changed = |read: &u32| changed_at.get(*read as usize).is_some_and(|at| at.load(Relaxed) == evaluation);
        step.how != Reads::Marked && self.reads(step).iter().any(|read| has_changed(read) && !except.contains(read))
    }

    /// The readers of the only output of a step.
    #[inline]
    pub fn readers_of_simple(&self, step: &Step) -> &[u32] {
        &self.readers[step.range_of_readers()]
    }

    /// Positions in the order of the list evaluator.
    pub fn list(&self) -> impl Iterator<Item = u32> + '_ {
        self.list.iter().map(|&node| self.positions[node as usize] & !SELDOM)
    }

    /// The positions of each level.
    pub fn level_of(&self, level: usize) -> Range<u32> {
        self.levels[level]..self.levels[level + 1]
    }

    pub fn levels(&self) -> usize {
        self.levels.len().saturating_sub(1)
    }

    /// Lists all nodes that the roots depend on, each after what it depends on, with their levels as positions. Returns the
    /// starts of the levels.
    ///
    /// From each root the order is that of the seed's list: pre-order with repeats, reversed, first occurrences kept. That
    /// is the post-order of a depth-first search that visits inputs right to left, and takes each node once. The roots have
    /// their own order, so that independent sinks run in the order in which the lazy evaluator runs them.
    fn search(&mut self, structure: &Structure, roots: &[u32], is_over: &dyn Fn() -> bool) -> Result<Vec<u32>> {
        self.positions = try_filled(NONE, structure.positions())?;
        self.list.try_reserve_exact(structure.positions())?;
        let mut starts: Vec<u32> = Vec::new();
        let levels = &mut self.positions;
        // A node, and how many of its inputs are still to be visited.
        let mut path: Vec<(u32, u32)> = Vec::new();
        for &root in roots {
            if levels[root as usize] != NONE {
                continue;
            }
            levels[root as usize] = 0;
            try_push(&mut path, (root, structure.node(root).input_count()))?;
            while let Some((node, rest)) = path.last_mut() {
                let node = *node;
                if *rest == 0 {
                    path.pop();
                    let level = levels[node as usize];
                    if let Some(&(reader, _)) = path.last() {
                        let above = &mut levels[reader as usize];
                        *above = (level + 1).max(*above);
                    }
                    while starts.len() < level as usize + 2 {
                        try_push(&mut starts, 0)?;
                    }
                    starts[level as usize + 1] += 1;
                    self.list.push(node);
                    if self.list.len().is_multiple_of(NODES_PER_LOOK) && is_over() {
                        return Err(outdated());
                    }
                    continue;
                }
                *rest -= 1;
                let source = structure.source_node(structure.node(node).first_input + *rest);
                if source == NONE {
                    continue;
                }
                match levels[source as usize] {
                    NONE => {
                        levels[source as usize] = 0;
                        try_push(&mut path, (source, structure.node(source).input_count()))?;
                    }
                    // It is listed: links close no cycle.
                    level => levels[node as usize] = levels[node as usize].max(level + 1),
                }
            }
        }
        for level in 1..starts.len() {
            starts[level] += starts[level - 1];
        }
        Ok(starts)
    }

    /// Orders the nodes by level, and nodes of a level as in the list. `starts`: of the levels. Whether a node is lazy.
    fn place(&mut self, structure: &Structure, mut starts: Vec<u32>) -> Result<bool> {
        self.steps = try_filled(Step::new(NONE, &Node::default()), self.list.len())?;
        let mut is_any_lazy = false;
        for &node in &self.list {
            let next = &mut starts[self.positions[node as usize] as usize];
            let position = *next;
            *next += 1;
            self.positions[node as usize] = position;
            let step = Step::new(node, structure.node(node));
            is_any_lazy |= step.is_lazy;
            self.steps[position as usize] = step;
        }
        // Each start has become that of the next level.
        if !starts.is_empty() {
            starts.rotate_right(1);
            starts[0] = 0;
        }
        self.levels = starts;
        Ok(is_any_lazy)
    }

    fn mark_strict(&mut self, structure: &Structure, roots: &[u32]) {
        for &root in roots {
            self.steps[self.positions[root as usize] as usize].is_strict = true;
        }
        for position in (0..self.steps.len()).rev() {
            let step = self.steps[position];
            for input in structure.node(step.node).inputs() {
                let source = structure.source_node(input);
                if step.is_strict && source != NONE && structure.kind(input) & LAZY == 0 {
                    self.steps[self.positions[source as usize] as usize].is_strict = true;
                }
            }
        }
    }

    /// Lists what each step reads, and what reads it.
    fn link(&mut self, structure: &Structure) -> Result<()> {
        self.readers.try_reserve_exact(structure.link_count())?;
        let inputs = self.steps.iter().map(Step::inputs).max().unwrap_or(0);
        self.bounds = Bounds { nodes: structure.positions(), outputs: structure.pin_counts().0, inputs };
        // Fields are written one by one: a step that is written in parts and copied as a whole waits for the processor's
        // store buffer.
        for position in 0..self.steps.len() {
            let Step { node, output_count, input_count, is_strict, is_lazy, .. } = self.steps[position];
            let pins = structure.node(node);
            let mut few = [0; FEW_READS];
            let is_few = usize::from(input_count) <= FEW_READS;
            if is_few {
                for (to, input) in few.iter_mut().zip(pins.inputs()) {
                    *to = structure.read_by(input);
                }
            } else {
                few = [structure.read_by(pins.first_input), self.reads.len() as u32];
                self.reads.try_reserve(input_count.into())?;
                self.reads.extend(pins.inputs().map(|input| structure.read_by(input)));
            }
            self.steps[position].reads = few;
            if is_strict && !is_lazy {
                let of_step = if is_few { &few[..input_count.into()] } else { &self.reads[few[1] as usize..] };
                self.steps[position].how = how(of_step);
            }
            let start = self.readers.len() as u32;
            if output_count == 1 {
                let has_inputs_to_mark = self.link_output(structure, pins.first_output);
                let step = &mut self.steps[position];
                step.has_inputs_to_mark = has_inputs_to_mark;
                step.readers = (start, self.readers.len() as u32);
            } else {
                self.steps[position].readers.0 = self.first_reader.len() as u32;
                self.first_reader.try_reserve(usize::from(output_count) + 1)?;
                self.first_reader.push(start);
                for output in pins.outputs() {
                    self.link_output(structure, output);
                    self.first_reader.push(self.readers.len() as u32);
                }
            }
        }
        Ok(())
    }

    /// Lists the readers of an output. There is room for all links. Whether an entry has [`BY_INPUT`].
    #[inline]
    fn link_output(&mut self, structure: &Structure, output: u32) -> bool {
        let (mut last, mut has_inputs) = (NONE, false);
        for input in structure.dependants(output) {
            let kind = structure.kind(input);
            if kind & FEEDBACK != 0 {
                continue;
            }
            let position = self.positions[structure.reader(input) as usize];
            let is_plain = position != NONE && kind & HOLD == 0 && {
                let step = &self.steps[position as usize];
                step.is_strict && !step.is_lazy
            };
            let entry = if is_plain { position } else { BY_INPUT | input };
            has_inputs |= !is_plain;
            // Several inputs of one node usually follow each other.
            if entry != last {
                self.readers.push(entry);
            }
            last = entry;
        }
        has_inputs
    }

    /// Bytes held.
    pub fn memory_used(&self) -> usize {
        self.steps.capacity() * size_of::<Step>()
            + (self.positions.capacity()
                + self.reads.capacity()
                + self.first_reader.capacity()
                + self.readers.capacity()
                + self.levels.capacity()
                + self.list.capacity())
                * 4
    }
}

/// How a step with these reads reads its inputs, if a change of them gives it a turn.
#[inline]
fn how(reads: &[u32]) -> Reads {
    let is_adjacent = |pair: &[u32]| pair[0].wrapping_add(1) == pair[1];
    match *reads {
        [first, ..] if first & OWN == 0 && reads.windows(2).all(is_adjacent) => Reads::Adjacent,
        [first, second] if (first | second) & OWN == 0 => Reads::Two,
        _ => Reads::Mixed,
    }
}
