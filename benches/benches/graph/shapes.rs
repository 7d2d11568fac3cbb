//! Graphs by the numbers of the nodes that each node reads, and the hand-written loop that evaluates them.

use std::ffi::c_void;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

use hobgoblin::graph::Value;

/// Heads of [`mux`].
const HEADS: u32 = 100;

/// The function of a node.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// Its input plus 1.
    PlusOne,
    /// Two inputs, mixed.
    Mix,
    /// The sum of any number of inputs.
    Sum,
    /// 0.
    Zero,
    /// The sum of its inputs, after as many rounds of arithmetic as `user_data` points at.
    Work,
    /// A table of [`HEADS`] inputs, by its address.
    Collect,
    /// This entry of the table that its input is.
    Entry(u32),
}

/// The tables of a node with [`Op::Collect`]. It fills them in turns, so that its value is never the one before.
pub struct Tables {
    tables: [[AtomicU64; HEADS as usize]; 2],
    turn: AtomicUsize,
}

impl Tables {
    pub const fn new() -> Self {
        Self { tables: [const { [const { AtomicU64::new(0) }; HEADS as usize] }; 2], turn: AtomicUsize::new(0) }
    }

    fn fill(&self, inputs: impl Iterator<Item = u64>) -> u64 {
        let turn = 1 - self.turn.load(Relaxed);
        self.turn.store(turn, Relaxed);
        let table = &self.tables[turn];
        table.iter().zip(inputs).for_each(|(entry, input)| entry.store(input, Relaxed));
        table.as_ptr().expose_provenance() as u64
    }
}

/// An entry of the table at this address, which is of [`Tables`].
fn entry(table: u64, at: usize) -> u64 {
    assert!(at < HEADS as usize && table != 0, "the table is filled");
    // SAFETY: addresses of tables come from `Tables::fill` alone, and the tables live as long as the graph.
    unsafe { &*std::ptr::with_exposed_provenance::<AtomicU64>(table as usize).add(at) }.load(Relaxed)
}

impl Op {
    /// The value of a node in a graph with these tables.
    #[inline(always)]
    pub fn apply(self, tables: &Tables, mut inputs: impl Iterator<Item = u64>) -> u64 {
        match self {
            Self::Collect => tables.fill(inputs),
            Self::Entry(at) => entry(inputs.next().unwrap_or(0), at as usize),
            Self::PlusOne => inputs.next().unwrap_or(0).wrapping_add(1),
            Self::Mix => {
                let (one, other) = (inputs.next().unwrap_or(0), inputs.next().unwrap_or(0));
                one.rotate_left(1) ^ other.wrapping_add(1)
            }
            Self::Sum | Self::Work => inputs.fold(0, u64::wrapping_add),
            Self::Zero => inputs.next().map_or(0, |_| 0),
        }
    }

    /// Calls `of` with the number of this function as a constant.
    pub fn pick<R>(self, of: [R; 7]) -> R {
        let is_same = |at: &usize| std::mem::discriminant(&Self::of(*at as u8)) == std::mem::discriminant(&self);
        let at = (0..7).find(is_same).expect("each function has a number");
        of.into_iter().nth(at).expect("there are seven functions")
    }

    /// The function with a number.
    const fn of(number: u8) -> Self {
        match number {
            0 => Self::PlusOne,
            1 => Self::Mix,
            2 => Self::Sum,
            3 => Self::Zero,
            WORK => Self::Work,
            COLLECT => Self::Collect,
            _ => Self::Entry(0),
        }
    }

    /// The `user_data` of a node's callback. `rounds`: for [`Op::Work`].
    pub fn user_data(self, rounds: &u32, tables: &Tables) -> *mut c_void {
        match self {
            Self::Entry(at) => std::ptr::without_provenance_mut(at as usize),
            Self::Collect => (&raw const *tables).cast_mut().cast(),
            _ => (&raw const *rounds).cast_mut().cast(),
        }
    }
}

/// Numbers of the functions that use their `user_data`.
const WORK: u8 = 4;
const COLLECT: u8 = 5;
const ENTRY: u8 = 6;

/// The value of function number `OP`, for callbacks that know it when they are compiled.
#[inline(always)]
pub fn value<const OP: u8>(user_data: *mut c_void, inputs: &[Value]) -> u64 {
    static NO_TABLES: Tables = Tables::new();
    let op = if OP == ENTRY { Op::Entry(user_data.addr() as u32) } else { const { Op::of(OP) } };
    // SAFETY: nodes of this function have a pointer to tables, which outlive them.
    let tables = if OP == COLLECT { unsafe { &*user_data.cast::<Tables>() } } else { &NO_TABLES };
    let value = op.apply(tables, inputs.iter().map(|input| input.0[0]));
    if OP == WORK {
        // SAFETY: nodes of this function have a pointer to the number of rounds, which outlives them.
        return spin(unsafe { *user_data.cast::<u32>() }, value);
    }
    value
}

/// Arithmetic whose rounds depend on each other.
pub fn spin(rounds: u32, start: u64) -> u64 {
    (0..rounds).fold(start, |state, _| std::hint::black_box(state.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ (state >> 29)))
}

/// A graph. Its first nodes are heads: values that the host sets.
#[derive(Clone)]
pub struct Shape {
    pub name: &'static str,
    pub heads: u32,
    /// The other nodes, after the nodes that they read.
    pub nodes: Vec<(Op, Vec<u32>)>,
    /// Nodes that run after one head has changed, and the head.
    pub runs: u64,
}

impl Shape {
    fn new(name: &'static str, nodes: Vec<(Op, Vec<u32>)>) -> Self {
        let runs = nodes.len() as u64 + 1;
        Self { name, heads: 1, nodes, runs }
    }

    pub fn edges(&self) -> usize {
        self.nodes.iter().map(|(_, inputs)| inputs.len()).sum()
    }

    /// The nodes that no other node reads.
    pub fn sinks(&self) -> Vec<u32> {
        let mut is_read = vec![false; self.heads as usize + self.nodes.len()];
        for &input in self.nodes.iter().flat_map(|(_, inputs)| inputs) {
            is_read[input as usize] = true;
        }
        (self.heads..is_read.len() as u32).filter(|&at| !is_read[at as usize]).collect()
    }

    /// The same graph, whose nodes do work.
    pub fn at_work(mut self) -> Self {
        self.nodes.iter_mut().for_each(|(op, _)| *op = Op::Work);
        self
    }
}

/// Each node reads the one before.
pub fn chain(name: &'static str, count: u32) -> Shape {
    Shape::new(name, (0..count).map(|at| (Op::PlusOne, vec![at])).collect())
}

/// Each node reads two nodes of the level before.
pub fn levels(name: &'static str, width: u32) -> Shape {
    let node = |at: u32| match at / width {
        0 => (Op::PlusOne, vec![0]),
        level => (Op::Mix, vec![(level - 1) * width + at % width + 1, (level - 1) * width + (at + 1) % width + 1]),
    };
    Shape::new(name, (0..width * width).map(node).collect())
}

/// Each node is read by two.
pub fn tree(name: &'static str, count: u32) -> Shape {
    Shape::new(name, (0..count).map(|at| (Op::PlusOne, vec![at.div_ceil(2)])).collect())
}

/// A square whose nodes read the nodes on the left and above.
pub fn wave(name: &'static str, width: u32) -> Shape {
    let node = |at: u32| match (at / width, at % width) {
        (0, 0) => (Op::PlusOne, vec![0]),
        (0, _) => (Op::PlusOne, vec![at]),
        (_, 0) => (Op::PlusOne, vec![at - width + 1]),
        _ => (Op::Mix, vec![at, at - width + 1]),
    };
    Shape::new(name, (0..width * width).map(node).collect())
}

/// The shapes of reactive benchmarks: see src/graph/tests/shapes.rs.
pub fn reactive() -> Vec<Shape> {
    let plus = |input: u32| (Op::PlusOne, vec![input]);
    let mut deep = chain("deep-50", 50);
    deep.nodes.push((Op::Sum, vec![50]));
    deep.runs += 1;
    let broad = (0..150).map(|at| if at < 50 { plus(0) } else { plus(at - 49) }).collect();
    let mut diamond: Vec<_> = (0..5).map(|_| plus(0)).collect();
    diamond.extend([(Op::Sum, (1..6).collect()), plus(6)]);
    let fan_in = vec![(Op::Sum, (0..HEADS).collect()), plus(HEADS), plus(HEADS + 1)];
    let avoidable = vec![plus(0), (Op::Zero, vec![1]), plus(2), plus(3), plus(4), plus(5)];
    vec![
        deep,
        Shape::new("broad-50", broad),
        Shape::new("diamond", diamond),
        mux(),
        Shape { runs: 3, ..Shape::new("avoidable", avoidable) },
        Shape { heads: HEADS, ..Shape::new("fan-in-100", fan_in) },
    ]
}

/// One node collects all heads. For each of them a node takes its entry, and two more follow. Of these, only those of the
/// written head run.
fn mux() -> Shape {
    let mut nodes = vec![(Op::Collect, (0..HEADS).collect())];
    nodes.extend((0..HEADS).map(|at| (Op::Entry(at), vec![HEADS])));
    nodes.extend((0..2 * HEADS).map(|at| (Op::PlusOne, vec![HEADS + 1 + at])));
    Shape { heads: HEADS, runs: 1 + 1 + u64::from(HEADS) + 2, ..Shape::new("mux", nodes) }
}

type Run = extern "C" fn(*mut c_void, *const Value, usize, *mut Value) -> u32;

extern "C" fn run<const OP: u8>(user_data: *mut c_void, inputs: *const Value, count: usize, output: *mut Value) -> u32 {
    // SAFETY: the loop passes this number of inputs, and one output.
    unsafe { (*output).0[0] = value::<OP>(user_data, std::slice::from_raw_parts(inputs, count)) };
    0
}

/// The hand-written loop: calls each function with the values that it reads, and stores its value.
pub struct Floor {
    nodes: Vec<(Run, *mut c_void, [u32; 2], u32)>,
    /// By words: a value that is written as 8 bytes and read as 16 would wait for the processor's store buffer.
    values: Vec<[AtomicU64; 2]>,
    heads: usize,
    _tables: Box<Tables>,
}

impl Floor {
    /// The loop over the nodes of a shape that run after one head has changed. Their values lie side by side if a node reads
    /// more than two.
    pub fn new(shape: &Shape) -> Self {
        let tables = Box::new(Tables::new());
        let node = |(op, inputs): &(Op, Vec<u32>)| {
            let run: Run = op.pick([run::<0>, run::<1>, run::<2>, run::<3>, run::<4>, run::<5>, run::<6>]);
            assert!(inputs.len() <= 2 || inputs.windows(2).all(|pair| pair[1] == pair[0] + 1), "side by side");
            let read = [inputs[0], inputs.get(1).copied().unwrap_or(0)];
            (run, op.user_data(&0, &tables), read, inputs.len() as u32)
        };
        let nodes = shape.nodes.iter().take(shape.runs as usize - 1).map(node).collect();
        let heads = shape.heads as usize;
        let values = (0..heads + shape.nodes.len()).map(|_| Default::default()).collect();
        Self { nodes, values, heads, _tables: tables }
    }

    pub fn frame(&self, head: usize, number: u64) {
        self.values[head][0].store(number, Relaxed);
        for ((run, user_data, inputs, count), value) in self.nodes.iter().zip(&self.values[self.heads..]) {
            let mut read = [Value::default(); 2];
            let inputs: *const Value = match *count {
                0..=2 => {
                    for (to, &from) in read.iter_mut().zip(inputs).take(*count as usize) {
                        *to = Value([0, 1].map(|word| self.values[from as usize][word].load(Relaxed)));
                    }
                    read.as_ptr()
                }
                count => self.values[inputs[0] as usize..][..count as usize].as_ptr().cast(),
            };
            let mut written = Value::default();
            if run(*user_data, inputs, *count as usize, &raw mut written) != 0 {
                return;
            }
            value.iter().zip(written.0).for_each(|(word, written)| word.store(written, Relaxed));
        }
    }
}
