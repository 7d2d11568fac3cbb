//! The links of a graph: plain data in arrays, without values and functions.
//!
//! All pins of a node are consecutive cells: its outputs, then its inputs. An input holds its source. The dependants of
//! an output are a doubly linked list through the inputs, so that each edit takes constant time and no memory.

use crate::base::{Result, try_push, try_to_vec};

/// No cell or node.
pub const NONE: u32 = u32::MAX;

/// Bits of [`Structure::kind`].
pub const LAZY: u8 = 1;
pub const HOLD: u8 = 2;
/// The link carries the value of the last frame, and does not order its nodes.
pub const FEEDBACK: u8 = 4;

/// The cells of a node.
#[derive(Clone, Copy, Debug, Default)]
pub struct Node {
    pub first: u32,
    pub outputs: u32,
    pub inputs: u32,
    /// Its lazy inputs (bit i: input i).
    pub lazy: u64,
    /// Whether it is demanded in each frame.
    pub is_sink: bool,
}

impl Node {
    pub fn output_cells(&self) -> std::ops::Range<u32> {
        self.first..self.first + self.outputs
    }

    pub fn input_cells(&self) -> std::ops::Range<u32> {
        let first = self.first + self.outputs;
        first..first + self.inputs
    }

    pub fn input_cell(&self, input: u32) -> u32 {
        self.first + self.outputs + input
    }

    pub fn input_of_cell(&self, cell: u32) -> u32 {
        cell - self.first - self.outputs
    }
}

#[derive(Clone, Copy, Debug)]
struct Cell {
    owner: u32,
    /// Of an input: its source. Of an output: the first input that reads it.
    link: u32,
    /// Of an input: its neighbours in the list of its source. Of the first cell of a free range: the next free range.
    next: u32,
    previous: u32,
}

/// All links.
#[derive(Default)]
pub struct Structure {
    nodes: Vec<Node>,
    cells: Vec<Cell>,
    kinds: Vec<u8>,
    /// First free range by its number of cells.
    free: Vec<u32>,
    /// Number of links, feedback included.
    links: usize,
}

impl Structure {
    /// Number of cells, free ones included.
    pub fn cell_count(&self) -> usize {
        self.cells.len()
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

    pub fn owner(&self, cell: u32) -> u32 {
        self.cells[cell as usize].owner
    }

    /// The output that an input reads, or [`NONE`]. Feedback included.
    pub fn source(&self, input: u32) -> u32 {
        self.cells[input as usize].link
    }

    /// The cell whose value an input reads: its source, or its own for feedback and without a link.
    pub fn value_cell(&self, input: u32) -> u32 {
        let source = self.source(input);
        if source == NONE || self.kind(input) & FEEDBACK != 0 { input } else { source }
    }

    /// The node before an input in the order, or [`NONE`]. Feedback is none.
    pub fn source_node(&self, input: u32) -> u32 {
        let cell = self.value_cell(input);
        if cell == input { NONE } else { self.owner(cell) }
    }

    /// The inputs that read an output, feedback included, the latest link first.
    pub fn dependants(&self, output: u32) -> impl Iterator<Item = u32> + '_ {
        let known = |cell: u32| (cell != NONE).then_some(cell);
        std::iter::successors(known(self.cells[output as usize].link), move |&input| {
            known(self.cells[input as usize].next)
        })
    }

    /// Adds a node at a position. `kinds` are those of its inputs.
    pub fn add(&mut self, position: usize, outputs: usize, kinds: impl ExactSizeIterator<Item = u8>) -> Result<Node> {
        let count = outputs + kinds.len();
        while self.nodes.len() <= position {
            try_push(&mut self.nodes, Node::default())?;
        }
        while self.free.len() <= count {
            try_push(&mut self.free, NONE)?;
        }
        let unused = Cell { owner: NONE, link: NONE, next: NONE, previous: NONE };
        let mut first = self.free[count];
        if count == 0 {
            first = 0;
        } else if first != NONE {
            self.free[count] = self.cells[first as usize].next;
        } else {
            self.cells.try_reserve(count)?;
            self.kinds.try_reserve(count)?;
            first = self.cells.len() as u32;
            self.cells.resize(first as usize + count, unused);
            self.kinds.resize(first as usize + count, 0);
        }
        let node = Node {
            first,
            outputs: outputs as u32,
            inputs: kinds.len() as u32,
            lazy: 0,
            is_sink: false,
        };
        self.cells[first as usize..first as usize + count].fill(Cell { owner: position as u32, ..unused });
        self.nodes[position] = node;
        for (input, kind) in node.input_cells().zip(kinds) {
            self.set_kind(input, kind);
        }
        Ok(self.nodes[position])
    }

    /// Removes a node whose links are all removed.
    pub fn remove(&mut self, node: u32) {
        let removed = std::mem::take(&mut self.nodes[node as usize]);
        let count = (removed.outputs + removed.inputs) as usize;
        if count > 0 {
            let unused = Cell { owner: NONE, link: NONE, next: NONE, previous: NONE };
            self.cells[removed.first as usize..][..count].fill(unused);
            self.cells[removed.first as usize].next = self.free[count];
            self.free[count] = removed.first;
        }
    }

    /// A copy on the heap.
    pub fn try_clone(&self) -> Result<Self> {
        Ok(Self {
            nodes: try_to_vec(&self.nodes)?,
            cells: try_to_vec(&self.cells)?,
            kinds: try_to_vec(&self.kinds)?,
            free: try_to_vec(&self.free)?,
            links: self.links,
        })
    }

    /// The nodes that are demanded in each frame, and the sources of feedback links.
    pub fn roots(&self) -> impl Iterator<Item = u32> + '_ {
        let sinks = (0u32..).zip(&self.nodes).filter(|(_, node)| node.is_sink).map(|(at, _)| at);
        let feedback = (0u32..).zip(&self.kinds).filter(|(_, kind)| **kind & FEEDBACK != 0);
        sinks.chain(feedback.map(|(input, _)| self.owner(self.source(input))))
    }

    /// Makes an input lazy, or one that holds.
    pub fn set_kind(&mut self, input: u32, kind: u8) {
        self.kinds[input as usize] = kind & (LAZY | HOLD);
        let node = &mut self.nodes[self.cells[input as usize].owner as usize];
        node.lazy |= if kind & LAZY != 0 { 1 << node.input_of_cell(input) } else { 0 };
    }

    pub fn set_sink(&mut self, node: u32, is_sink: bool) {
        self.nodes[node as usize].is_sink = is_sink;
    }

    /// Links an input without a link to an output.
    pub fn link(&mut self, output: u32, input: u32, is_feedback: bool) {
        let first = self.cells[output as usize].link;
        let cell = &mut self.cells[input as usize];
        debug_assert_eq!(cell.link, NONE);
        (cell.link, cell.next, cell.previous) = (output, first, NONE);
        if first != NONE {
            self.cells[first as usize].previous = input;
        }
        self.cells[output as usize].link = input;
        self.links += 1;
        if is_feedback {
            self.kinds[input as usize] |= FEEDBACK;
        }
    }

    /// Removes the link of an input, if it has one.
    pub fn unlink(&mut self, input: u32) {
        let Cell { link: source, next, previous, .. } = self.cells[input as usize];
        if source == NONE {
            return;
        }
        match previous {
            NONE => self.cells[source as usize].link = next,
            previous => self.cells[previous as usize].next = next,
        }
        if next != NONE {
            self.cells[next as usize].previous = previous;
        }
        let cell = &mut self.cells[input as usize];
        (cell.link, cell.next, cell.previous) = (NONE, NONE, NONE);
        self.links -= 1;
        if self.kinds[input as usize] & FEEDBACK != 0 {
            self.kinds[input as usize] &= !FEEDBACK;
        }
    }

    /// Bytes held.
    pub fn memory_used(&self) -> usize {
        self.nodes.capacity() * size_of::<Node>()
            + self.cells.capacity() * (size_of::<Cell>() + 1)
            + self.free.capacity() * size_of::<u32>()
    }
}
