//! A plan: all that the sinks depend on, in arrays and in an order in which a loop can evaluate it. It never changes, and
//! is used only while the links are the ones from which it was made.

use std::ops::Range;

use super::kernel::SIMPLE_INPUTS;
use super::rebuild::outdated;
use super::structure::{FEEDBACK, HOLD, LAZY, NONE, Node, OWN, Structure};
use crate::base::{Result, try_collect, try_filled, try_push};

/// Marks entries of [`Plan::readers`] that are inputs: those that hold, and those whose owner has lazy inputs or no turn of
/// its own.
pub const BY_INPUT: u32 = 1 << 31;

/// A plan that is being made looks whether it has become useless after this many nodes.
const NODES_PER_LOOK: usize = 1024;

/// One node of a plan.
#[derive(Clone, Copy)]
pub struct Step {
    pub node: u32,
    first_output: u32,
    /// Its first entry of [`Plan::reads`].
    first_read: u32,
    /// The entry of [`Plan::first_reader`] of its first output.
    first_reader: u32,
    /// The entries of [`Plan::readers`] of its first output.
    readers: (u32, u32),
    output_count: u16,
    input_count: u16,
    pub is_lazy: bool,
    /// One output and few inputs, none of them lazy.
    pub is_simple: bool,
    /// Whether it is demanded whenever a sink is.
    pub is_strict: bool,
}

impl Step {
    fn new(node: u32, pins: &Node) -> Self {
        Self {
            node,
            first_output: pins.first_output,
            first_read: 0,
            first_reader: 0,
            readers: (0, 0),
            // A node has at most `MAX_PINS` of both.
            output_count: pins.output_count as u16,
            input_count: pins.input_count as u16,
            is_lazy: pins.lazy != 0,
            is_simple: pins.lazy == 0 && pins.output_count == 1 && pins.input_count as usize <= SIMPLE_INPUTS,
            is_strict: false,
        }
    }

    /// Its entries of [`Plan::reads`].
    #[inline]
    pub fn range_of_reads(&self) -> Range<usize> {
        self.first_read as usize..self.first_read as usize + usize::from(self.input_count)
    }

    /// The entries of [`Plan::readers`] of its first output.
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
    /// By node: its position, or [`NONE`].
    positions: Vec<u32>,
    /// The reads of all inputs of all steps: see [`Structure::read_by`].
    reads: Vec<u32>,
    /// By output of all steps: its first entry of `readers`.
    first_reader: Vec<u32>,
    /// Positions that read an output, or inputs with [`BY_INPUT`].
    readers: Vec<u32>,
    /// By level: its first position; one more at the end.
    levels: Vec<u32>,
    /// Positions in the order of the list evaluator.
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
}

impl Plan {
    /// Makes the plan of these links, unless `is_over` says that it has become useless.
    pub fn new(structure: &Structure, is_over: &dyn Fn() -> bool) -> Result<Self> {
        let roots = try_collect(structure.roots())?;
        let order = list_order(structure, &roots, is_over)?;
        let mut plan = Self::default();
        plan.levels = plan.place(structure, &order)?;
        if is_over() {
            return Err(outdated());
        }
        plan.mark_strict(structure, &roots);
        plan.link(structure)?;
        Ok(plan)
    }

    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// The steps, the reads of their inputs, and the readers of their outputs.
    pub fn arrays(&self) -> (&[Step], &[u32], &[u32]) {
        (&self.steps, &self.reads, &self.readers)
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
            Some(&position) if position != NONE && self.steps[position as usize].is_strict => position,
            _ => NONE,
        }
    }

    /// The reads of a step's inputs.
    #[inline]
    pub fn reads(&self, step: &Step) -> &[u32] {
        &self.reads[step.range_of_reads()]
    }

    /// The readers of an output of a step: positions, or inputs with [`BY_INPUT`].
    #[inline]
    pub fn readers(&self, step: &Step, output: u32) -> &[u32] {
        let at = (step.first_reader + output - step.first_output) as usize;
        &self.readers[self.first_reader[at] as usize..self.first_reader[at + 1] as usize]
    }

    /// The readers of the output of a simple step.
    #[inline]
    pub fn readers_of_simple(&self, step: &Step) -> &[u32] {
        &self.readers[step.range_of_readers()]
    }

    /// Positions in the order of the list evaluator.
    pub fn list(&self) -> &[u32] {
        &self.list
    }

    /// The positions of each level.
    pub fn level_of(&self, level: usize) -> Range<u32> {
        self.levels[level]..self.levels[level + 1]
    }

    pub fn levels(&self) -> usize {
        self.levels.len().saturating_sub(1)
    }

    /// Orders the nodes by level, and nodes of a level as in `order`. Returns the starts of the levels.
    fn place(&mut self, structure: &Structure, order: &[u32]) -> Result<Vec<u32>> {
        // The level of each node first, in place of its position.
        self.positions = try_filled(NONE, structure.positions())?;
        let mut starts: Vec<u32> = Vec::new();
        for &node in order {
            let mut level = 0;
            for input in structure.node(node).inputs() {
                let source = structure.source_node(input);
                if source != NONE {
                    level = level.max(self.positions[source as usize] + 1);
                }
            }
            self.positions[node as usize] = level;
            while starts.len() < level as usize + 2 {
                try_push(&mut starts, 0)?;
            }
            starts[level as usize + 1] += 1;
        }
        for level in 1..starts.len() {
            starts[level] += starts[level - 1];
        }
        let mut next = try_filled(0u32, starts.len())?;
        next.copy_from_slice(&starts);
        self.steps = try_filled(Step::new(NONE, &Node::default()), order.len())?;
        self.list.try_reserve_exact(order.len())?;
        for &node in order {
            let level = self.positions[node as usize] as usize;
            let position = next[level];
            next[level] += 1;
            self.positions[node as usize] = position;
            self.steps[position as usize] = Step::new(node, structure.node(node));
            self.list.push(position);
        }
        Ok(starts)
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
        let outputs: usize = self.steps.iter().map(|step| usize::from(step.output_count)).sum();
        let inputs: usize = self.steps.iter().map(|step| usize::from(step.input_count)).sum();
        self.reads.try_reserve_exact(inputs)?;
        self.first_reader.try_reserve_exact(outputs + 1)?;
        self.readers.try_reserve_exact(structure.link_count())?;
        for position in 0..self.steps.len() {
            let pins = structure.node(self.steps[position].node);
            self.steps[position].first_read = self.reads.len() as u32;
            self.steps[position].first_reader = self.first_reader.len() as u32;
            let bounds = &mut self.bounds;
            bounds.nodes = bounds.nodes.max(self.steps[position].node as usize + 1);
            bounds.outputs = bounds.outputs.max(pins.outputs().end as usize);
            for read in pins.inputs().map(|input| structure.read_by(input)) {
                if read & OWN == 0 {
                    bounds.outputs = bounds.outputs.max(read as usize + 1);
                }
                self.reads.push(read);
            }
            for output in pins.outputs() {
                let start = self.readers.len() as u32;
                self.first_reader.push(start);
                self.link_output(structure, output)?;
                if output == pins.first_output {
                    self.steps[position].readers = (start, self.readers.len() as u32);
                }
            }
        }
        self.first_reader.push(self.readers.len() as u32);
        Ok(())
    }

    fn link_output(&mut self, structure: &Structure, output: u32) -> Result<()> {
        let mut last = NONE;
        for input in structure.dependants(output) {
            if structure.kind(input) & FEEDBACK != 0 {
                continue;
            }
            let reader = structure.reader(input);
            let position = self.strict_position(reader);
            let is_plain = structure.node(reader).lazy == 0 && structure.kind(input) & HOLD == 0;
            let entry = if position != NONE && is_plain { position } else { BY_INPUT | input };
            // Several inputs of one node usually follow each other.
            if entry != last {
                try_push(&mut self.readers, entry)?;
            }
            last = entry;
        }
        Ok(())
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

/// All nodes that the roots depend on, each after what it depends on.
///
/// From each root the order is that of the seed's list: pre-order with repeats, reversed, first occurrences kept. That is
/// the post-order of a depth-first search that visits inputs right to left, and takes each node once. The roots have their
/// own order, so that independent sinks run in the order in which the lazy evaluator runs them.
fn list_order(structure: &Structure, roots: &[u32], is_over: &dyn Fn() -> bool) -> Result<Vec<u32>> {
    let mut order = Vec::new();
    let mut is_seen = try_filled(false, structure.positions())?;
    // A node, and how many of its inputs are still to be visited.
    let mut path: Vec<(u32, u32)> = Vec::new();
    for &root in roots {
        if std::mem::replace(&mut is_seen[root as usize], true) {
            continue;
        }
        try_push(&mut path, (root, structure.node(root).input_count))?;
        while let Some((node, rest)) = path.last_mut() {
            if *rest == 0 {
                try_push(&mut order, *node)?;
                path.pop();
                if order.len() % NODES_PER_LOOK == 0 && is_over() {
                    return Err(outdated());
                }
                continue;
            }
            *rest -= 1;
            let source = structure.source_node(structure.node(*node).first_input + *rest);
            if source != NONE && !std::mem::replace(&mut is_seen[source as usize], true) {
                try_push(&mut path, (source, structure.node(source).input_count))?;
            }
        }
    }
    Ok(order)
}
