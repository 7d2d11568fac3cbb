//! The links of a graph: plain data in arrays, without values and functions.
//!
//! Outputs and inputs have numbers of their own; those of one node are consecutive. An input holds its source. The
//! dependants of an output are a doubly linked list through the inputs, so that each edit takes constant time and no
//! memory.

use std::ops::Range;

use crate::base::Result;

/// No cell or node.
pub const NONE: u32 = u32::MAX;

/// Bits of [`Structure::kind`].
pub const LAZY: u8 = 1;
pub const HOLD: u8 = 2;
/// The link carries the value of the last frame, and does not order its nodes.
pub const FEEDBACK: u8 = 4;

/// Marks an input whose own value is read, in the answers of [`Structure::read_by`].
pub const OWN: u32 = 1 << 31;

/// The pins of a node.
#[derive(Clone, Copy, Debug, Default)]
pub struct Node {
    pub first_output: u32,
    pub first_input: u32,
    // A node has at most `MAX_PINS` of both.
    output_count: u16,
    input_count: u16,
    /// Its lazy inputs (bit i: input i).
    pub lazy: u64,
    /// Whether it is demanded in each frame.
    pub is_sink: bool,
}

impl Node {
    pub fn output_count(&self) -> u32 {
        self.output_count.into()
    }

    pub fn input_count(&self) -> u32 {
        self.input_count.into()
    }

    pub fn outputs(&self) -> Range<u32> {
        self.first_output..self.first_output + self.output_count()
    }

    pub fn inputs(&self) -> Range<u32> {
        self.first_input..self.first_input + self.input_count()
    }
}

#[derive(Clone, Copy, Debug)]
struct OutputPin {
    owner: u32,
    /// The first input that reads it. Of the first output of a free range: the next free range.
    first_reader: u32,
}

#[derive(Clone, Copy, Debug)]
struct InputPin {
    owner: u32,
    /// The output that it reads.
    source: u32,
    /// Its neighbours in the list of its source. Of the first input of a free range: the next free range.
    next: u32,
    previous: u32,
}

const NO_OUTPUT: OutputPin = OutputPin { owner: NONE, first_reader: NONE };
const NO_INPUT: InputPin = InputPin { owner: NONE, source: NONE, next: NONE, previous: NONE };

/// All links.
#[derive(Default)]
pub struct Structure {
    nodes: Vec<Node>,
    outputs: Vec<OutputPin>,
    inputs: Vec<InputPin>,
    kinds: Vec<u8>,
    /// First free range by its number of pins.
    free_outputs: Vec<u32>,
    free_inputs: Vec<u32>,
    /// Number of links, feedback included.
    links: usize,
}

impl Structure {
    /// Number of outputs and of inputs, free ones included.
    pub fn pin_counts(&self) -> (usize, usize) {
        (self.outputs.len(), self.inputs.len())
    }

    /// Number of node positions, free ones included.
    pub fn positions(&self) -> usize {
        self.nodes.len()
    }

    pub fn link_count(&self) -> usize {
        self.links
    }

    pub fn node(&self, node: u32) -> &Node {
        &self.nodes[node as usize]
    }

    pub fn kind(&self, input: u32) -> u8 {
        self.kinds[input as usize]
    }

    /// The node of an output.
    pub fn writer(&self, output: u32) -> u32 {
        self.outputs[output as usize].owner
    }

    /// The node of an input.
    pub fn reader(&self, input: u32) -> u32 {
        self.inputs[input as usize].owner
    }

    /// The output that an input reads, or [`NONE`]. Feedback included.
    pub fn source(&self, input: u32) -> u32 {
        self.inputs[input as usize].source
    }

    /// The output whose value an input reads, or, for feedback and without a link, itself with [`OWN`].
    pub fn read_by(&self, input: u32) -> u32 {
        let source = self.source(input);
        if source == NONE || self.kind(input) & FEEDBACK != 0 { OWN | input } else { source }
    }

    /// The node before an input in the order, or [`NONE`], also for feedback.
    pub fn source_node(&self, input: u32) -> u32 {
        let read = self.read_by(input);
        if read & OWN != 0 { NONE } else { self.writer(read) }
    }

    /// The inputs that read an output, feedback included, the latest link first.
    pub fn dependants(&self, output: u32) -> impl Iterator<Item = u32> + '_ {
        let known = |input: u32| (input != NONE).then_some(input);
        std::iter::successors(known(self.outputs[output as usize].first_reader), move |&input| {
            known(self.inputs[input as usize].next)
        })
    }

    /// Makes room for one more node with these numbers of pins.
    pub fn grow(&mut self, outputs: usize, inputs: usize) -> Result<()> {
        self.nodes.try_reserve(1)?;
        self.outputs.try_reserve(outputs)?;
        self.inputs.try_reserve(inputs)?;
        self.kinds.try_reserve(inputs)?;
        self.reserve_free(outputs, inputs)
    }

    /// Makes room for nodes, outputs and inputs below these numbers.
    pub fn reserve(&mut self, nodes: usize, outputs: usize, inputs: usize) -> Result<()> {
        try_reserve_to(&mut self.nodes, nodes)?;
        try_reserve_to(&mut self.outputs, outputs)?;
        try_reserve_to(&mut self.inputs, inputs)?;
        try_reserve_to(&mut self.kinds, inputs)
    }

    /// Makes room for the lists of free pins of nodes with these numbers of pins.
    pub fn reserve_free(&mut self, outputs: usize, inputs: usize) -> Result<()> {
        for (free, count) in [(&mut self.free_outputs, outputs), (&mut self.free_inputs, inputs)] {
            if free.len() <= count {
                free.try_reserve(count + 1 - free.len())?;
                free.resize(count + 1, NONE);
            }
        }
        Ok(())
    }

    /// Adds a node at a position for which there is room, as there is for its pins.
    pub fn add(&mut self, position: usize, outputs: usize, inputs: usize) -> Node {
        let node = Node {
            first_output: self.take_outputs(position as u32, outputs),
            first_input: self.take_inputs(position as u32, inputs),
            output_count: outputs as u16,
            input_count: inputs as u16,
            lazy: 0,
            is_sink: false,
        };
        put(&mut self.nodes, position, node);
        node
    }

    fn take_outputs(&mut self, owner: u32, count: usize) -> u32 {
        let pin = OutputPin { owner, ..NO_OUTPUT };
        let free = self.free_outputs[count];
        if free == NONE || count == 0 {
            let first = self.outputs.len();
            (0..count).for_each(|_| self.outputs.push(pin));
            return first as u32;
        }
        self.free_outputs[count] = self.outputs[free as usize].first_reader;
        self.outputs[free as usize..][..count].fill(pin);
        free
    }

    fn take_inputs(&mut self, owner: u32, count: usize) -> u32 {
        let pin = InputPin { owner, ..NO_INPUT };
        let free = self.free_inputs[count];
        if free == NONE || count == 0 {
            let first = self.inputs.len();
            for _ in 0..count {
                self.inputs.push(pin);
                self.kinds.push(0);
            }
            return first as u32;
        }
        self.free_inputs[count] = self.inputs[free as usize].next;
        self.inputs[free as usize..][..count].fill(pin);
        self.kinds[free as usize..][..count].fill(0);
        free
    }

    /// Removes a node whose links are all removed.
    pub fn remove(&mut self, node: u32) {
        let removed = std::mem::take(&mut self.nodes[node as usize]);
        if removed.output_count > 0 {
            let first = removed.first_output;
            self.outputs[first as usize..][..removed.output_count as usize].fill(NO_OUTPUT);
            let free = &mut self.free_outputs[removed.output_count as usize];
            self.outputs[first as usize].first_reader = std::mem::replace(free, first);
        }
        if removed.input_count > 0 {
            let first = removed.first_input;
            self.inputs[first as usize..][..removed.input_count as usize].fill(NO_INPUT);
            let free = &mut self.free_inputs[removed.input_count as usize];
            self.inputs[first as usize].next = std::mem::replace(free, first);
        }
    }

    /// A copy on the heap, with the same room for more.
    #[inline(never)]
    pub fn try_clone(&self) -> Result<Self> {
        fn copy<T: Clone>(items: &Vec<T>) -> Result<Vec<T>> {
            let mut copy = Vec::new();
            copy.try_reserve_exact(items.capacity())?;
            copy.extend_from_slice(items);
            Ok(copy)
        }
        Ok(Self {
            nodes: copy(&self.nodes)?,
            outputs: copy(&self.outputs)?,
            inputs: copy(&self.inputs)?,
            kinds: copy(&self.kinds)?,
            free_outputs: copy(&self.free_outputs)?,
            free_inputs: copy(&self.free_inputs)?,
            links: self.links,
        })
    }

    /// The nodes that are demanded in each frame, and the sources of feedback links.
    pub fn roots(&self) -> impl Iterator<Item = u32> + '_ {
        let sinks = (0u32..).zip(&self.nodes).filter(|(_, node)| node.is_sink).map(|(at, _)| at);
        let feedback = (0u32..).zip(&self.kinds).filter(|(_, kind)| **kind & FEEDBACK != 0);
        sinks.chain(feedback.map(|(input, _)| self.writer(self.source(input))))
    }

    /// Makes an input lazy, or one that holds.
    pub fn set_kind(&mut self, input: u32, kind: u8) {
        self.kinds[input as usize] = kind & (LAZY | HOLD);
        let node = &mut self.nodes[self.inputs[input as usize].owner as usize];
        node.lazy |= if kind & LAZY != 0 { 1 << (input - node.first_input) } else { 0 };
    }

    pub fn set_sink(&mut self, node: u32, is_sink: bool) {
        self.nodes[node as usize].is_sink = is_sink;
    }

    /// Links an input without a link to an output.
    pub fn link(&mut self, output: u32, input: u32, is_feedback: bool) {
        let first = std::mem::replace(&mut self.outputs[output as usize].first_reader, input);
        let pin = &mut self.inputs[input as usize];
        debug_assert_eq!(pin.source, NONE);
        (pin.source, pin.next, pin.previous) = (output, first, NONE);
        if first != NONE {
            self.inputs[first as usize].previous = input;
        }
        self.links += 1;
        if is_feedback {
            self.kinds[input as usize] |= FEEDBACK;
        }
    }

    /// Removes the link of an input, if it has one.
    pub fn unlink(&mut self, input: u32) {
        let InputPin { owner, source, next, previous } = self.inputs[input as usize];
        if source == NONE {
            return;
        }
        match previous {
            NONE => self.outputs[source as usize].first_reader = next,
            previous => self.inputs[previous as usize].next = next,
        }
        if next != NONE {
            self.inputs[next as usize].previous = previous;
        }
        self.inputs[input as usize] = InputPin { owner, ..NO_INPUT };
        self.links -= 1;
        self.kinds[input as usize] &= !FEEDBACK;
    }

    /// Bytes held.
    pub fn memory_used(&self) -> usize {
        self.nodes.capacity() * size_of::<Node>()
            + self.outputs.capacity() * size_of::<OutputPin>()
            + self.inputs.capacity() * (size_of::<InputPin>() + 1)
            + (self.free_outputs.capacity() + self.free_inputs.capacity()) * size_of::<u32>()
    }
}

/// Makes room for items below this number.
#[inline(never)]
pub fn try_reserve_to<T>(list: &mut Vec<T>, count: usize) -> Result<()> {
    Ok(list.try_reserve_exact(count.saturating_sub(list.len()))?)
}

/// Puts an item in the place of another, or behind the last one, for which there is room.
#[inline]
pub fn put<T>(list: &mut Vec<T>, at: usize, item: T) {
    match list.get_mut(at) {
        Some(place) => *place = item,
        None => list.push(item),
    }
}
