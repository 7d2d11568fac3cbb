//! A dataflow graph that runs what changed, and what a sink depends on, once per frame.
//!
//! Nodes have input and output pins with 16-byte [values](Value). [`Graph::evaluate`] brings all sinks up to date. A node
//! runs when an input has changed, and what is equal to its last value is no change. Lazy inputs are evaluated only when
//! their node asks for them. A feedback link carries the value of the last frame.
//!
//! Invariants:
//! 1. After a complete evaluation all that the sinks depend on, by inputs that were read, is up to date.
//! 2. A node runs at most once per frame, and only if it is demanded and an input has changed, or it is volatile.
//! 3. All evaluators give the same values and the same counts of runs, on any number of threads.
//! 4. A refused edit changes nothing. A cycle is refused when it would be closed.
//! 5. A plan is used only while the links are the ones from which it was made.
//! 6. An evaluation does not allocate once there is a plan.
//!
//! Source: the problem, lazy pins, the list evaluator and its order are from "Graph Evaluation (Again)" (N. Cano). Cut-offs
//! are known from Jane Street's Incremental. Nothing of its code is here.
//!
//! | file | content |
//! |---|---|
//! | `node` | parameters of a node, and what it sees while it runs |
//! | `value` | values, and when they count as changed |
//! | `structure` | links, in arrays |
//! | `order` | the topological order during edits; cycles |
//! | `state` | flags, values and counts by node; runs a node |
//! | `record` | what most nodes do not have: names, kinds, outputs that are not plain |
//! | `scratch` | memory of a thread that runs nodes |
//! | `failure` | nodes that failed, and what depends on them |
//! | `kernel` | runs simple nodes |
//! | `marks` | what is stale, and what waits for its turn |
//! | `pull` | the lazy evaluator |
//! | `plan` | the order of all that is demanded |
//! | `walk` | the evaluators of a plan on one thread |
//! | `parallel` | the evaluator of a plan on several threads |
//! | `rebuild` | plans that are made in the background |
//! | `evaluate` | one evaluation: its evaluator, its plan, its nodes |
//! | `edit` | adding, linking and removing nodes |
//! | `bake` | a graph in which all that cannot change is stored |
//! | `memo` | a limit of the memory that values hold |
//! | `audit` | finds pure nodes that are not pure |
//! | `dump` | a graph as JSON and as DOT; loading |
//! | `emit` | a graph as C source |
//! | `explain` | why a node has run or not, and what failed |
// All but `kernel`.
#![deny(unsafe_code)]

mod audit;
mod bake;
mod dump;
mod edit;
mod emit;
mod evaluate;
mod explain;
mod failure;
mod kernel;
mod marks;
mod memo;
mod node;
mod order;
mod parallel;
mod plan;
mod pull;
mod rebuild;
mod record;
mod scratch;
mod state;
mod structure;
#[cfg(test)]
mod tests;
mod value;
mod walk;

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::base::{Error, Id, Result, Shared, Slots, error};

use audit::Audit;
pub use audit::Finding;
pub use bake::{Baked, sorted_by_origin};
pub use dump::{Loaded, NodeText};
pub use explain::{Why, WhyNot};
use marks::Marks;
pub use memo::MemoCounts;
pub use node::{Call, Class, Failure, Function, Held, Input, MAX_LAZY_INPUT, MAX_PINS, NodeOptions, Output, Verdict};
use order::Order;
use parallel::Threads;
use pull::Path;
use rebuild::{Made, Rebuild};
use scratch::Scratch;
use state::State;
use structure::Structure;
pub use value::{Cutoff, Value};
use walk::Guess;

/// How demanded nodes are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Evaluator {
    /// Lazy after edits, else by a plan: on several threads if the executor has them. Default.
    #[default]
    Auto,
    /// Recursion from the sinks, without a plan.
    Lazy,
    /// The list of all that is demanded, in order.
    List,
    /// The set of all that has changed, in order.
    Bitset,
    /// The bitset, level by level, on the threads of the executor.
    Parallel,
}

/// Parameters of an evaluation.
#[derive(Clone, Copy, Debug)]
pub struct Evaluation {
    /// How demanded nodes are found.
    pub evaluator: Evaluator,
    /// Most nodes that run. The next evaluation goes on. Default: no limit.
    pub node_limit: u64,
    /// Bring this node up to date, not the sinks. Default: the sinks.
    pub only: Option<Id>,
}

impl Default for Evaluation {
    fn default() -> Self {
        Self { evaluator: Evaluator::Auto, node_limit: u64::MAX, only: None }
    }
}

/// The counts of an evaluation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Whether the sinks are up to date. Otherwise the next evaluation goes on with the same frame.
    pub is_complete: bool,
    /// Nodes that ran, failed ones included.
    pub evaluated: u64,
    /// Of these, runs that brought a value back that was released.
    pub restored: u64,
    /// Runs that ended with a request for lazy inputs. `evaluated` does not include them.
    pub requests: u64,
    /// Nodes that have failed, or depend on one that has, after this evaluation.
    pub broken: u64,
    /// Inputs that the lazy evaluator has looked at.
    pub looked_at: u64,
    /// The evaluator that did it.
    pub evaluator: Evaluator,
}

/// The counts of one node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NodeCounts {
    /// Number of runs, without those that asked for lazy inputs.
    pub runs: u64,
    /// Mean duration of a run in nanoseconds, measured in the second run and in every 64th after it. 0: not known.
    pub duration_ns: u32,
    /// Bytes that its owned values hold. 0 without a limit of memory.
    pub held: u64,
}

/// Ends an evaluation before its next node, from any thread.
#[derive(Clone)]
pub struct Canceller(Shared<AtomicBool>);

impl Canceller {
    /// Cancel the evaluation at work, or else the next one.
    pub fn cancel(&self) {
        self.0.store(true, Relaxed);
    }
}

/// See the room's page.
pub struct Graph<F: Function> {
    nodes: Slots<()>,
    structure: Structure,
    order: Order,
    state: State<F>,
    marks: Marks,
    /// Nodes that are sinks.
    sinks: Vec<u32>,
    feedback: Vec<Feedback>,
    volatile: Vec<u32>,
    /// Most inputs, and most outputs, of a node.
    pins: (usize, usize),
    room: Room,
    scratch: Scratch,
    path: Path,
    threads: Threads,
    made: Made,
    rebuild: Rebuild,
    audit: Option<Audit>,
    /// Whether evaluations may compute with floating-point numbers: for an audit, a limit of memory or a cut-off by epsilon.
    has_floats: bool,
    /// Whether `made` is the plan of the links.
    has_plan: bool,
    /// Whether an evaluation was complete since the last edit.
    is_settled: bool,
    /// Whether stale nodes of the plan have no turn: it is new, or a lazy evaluation has stopped.
    must_scan: bool,
    guess: Guess,
    /// The answer of [`Marks::start_by_plan`] in the last evaluation by a plan.
    touched: u64,
    /// Number of evaluations.
    evaluation: u32,
    /// Whether the last evaluation is to be continued.
    is_within_frame: bool,
    /// Frames since the last edit.
    quiet_frames: u32,
    cancel: Canceller,
}

/// The numbers of nodes and pins for which all lists have room.
#[derive(Clone, Copy, Default)]
struct Room {
    nodes: usize,
    outputs: usize,
    inputs: usize,
}

/// An input with a feedback link.
struct Feedback {
    input: u32,
    /// Its value without a link.
    default: Value,
}

impl<F: Function> Graph<F> {
    /// An empty graph.
    pub fn new() -> Result<Self> {
        Ok(Self {
            nodes: Slots::default(),
            structure: Structure::default(),
            order: Order::default(),
            state: State::default(),
            marks: Marks::default(),
            sinks: Vec::new(),
            feedback: Vec::new(),
            volatile: Vec::new(),
            pins: (0, 0),
            room: Room::default(),
            scratch: Scratch::default(),
            path: Path::default(),
            threads: Threads::default(),
            made: Made::default(),
            rebuild: Rebuild::new()?,
            audit: None,
            has_floats: false,
            has_plan: false,
            is_settled: true,
            must_scan: false,
            guess: Guess::default(),
            touched: 0,
            evaluation: 0,
            is_within_frame: false,
            quiet_frames: 0,
            cancel: Canceller(Shared::try_new(AtomicBool::new(false))?),
        })
    }

    /// Ends evaluations from other threads.
    pub fn canceller(&self) -> Canceller {
        self.cancel.clone()
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether it has no nodes.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Number of links, feedback included.
    pub fn links(&self) -> usize {
        self.structure.link_count()
    }

    /// The value of an output after the last evaluation. After a failure of its node: the last good value.
    pub fn value(&self, node: Id, output: usize) -> Result<Value> {
        let pins = self.structure.node(self.position(node)?);
        let output = nth(pins.outputs(), output).ok_or_else(|| no_pin("output", output, pins.output_count()))?;
        let writer = self.structure.writer(output);
        if self.state.flags(writer) & state::RELEASED != 0 && self.state.owns(&self.structure, output) {
            let name = self.name(writer);
            return Err(error!(
                NotFound,
                "the value of {name} was released to keep the memory limit: evaluate it alone, or make it a sink"
            ));
        }
        Ok(self.state.values.output(output))
    }

    /// Number of runs of a node, without those that asked for lazy inputs.
    pub fn runs(&self, node: Id) -> Result<u64> {
        Ok(self.state.runs(self.position(node)?))
    }

    /// The counts of a node.
    pub fn node_counts(&self, node: Id) -> Result<NodeCounts> {
        let position = self.position(node)?;
        let (runs, duration_ns) = (self.state.runs(position), self.state.duration_ns(position));
        let held = self.state.memo.as_ref().map_or(0, |memo| memo.held_by(position));
        Ok(NodeCounts { runs, duration_ns, held })
    }

    /// Number of blocks that evaluations have handed to executors.
    pub fn blocks_handed_out(&self) -> u64 {
        self.threads.handed_out
    }

    /// Number of nodes that edits have looked at to keep the order.
    pub fn order_work(&self) -> u64 {
        self.order.work
    }

    /// Bytes held, without what values and functions refer to.
    pub fn memory_used(&self) -> usize {
        self.nodes.memory_used()
            + self.structure.memory_used()
            + self.order.memory_used()
            + self.state.memory_used()
            + self.marks.memory_used()
            + self.scratch.memory_used()
            + self.path.memory_used()
            + self.threads.memory_used()
            + self.made.plan.memory_used()
            + self.made.bits.memory_used()
            + self.rebuild.memory_used()
            + self.audit.as_ref().map_or(0, Audit::memory_used)
            + (self.sinks.capacity() + self.volatile.capacity()) * size_of::<u32>()
            + self.feedback.capacity() * size_of::<Feedback>()
    }

    fn position(&self, node: Id) -> Result<u32> {
        let unknown = || error!(NotFound, "there is no such node: it was removed, or is of another graph");
        Ok(self.nodes.position(node).ok_or_else(unknown)? as u32)
    }
}

impl<F: Function> Drop for Graph<F> {
    fn drop(&mut self) {
        self.state.release_all(&self.structure);
    }
}

fn nth(pins: std::ops::Range<u32>, at: usize) -> Option<u32> {
    (at < (pins.end - pins.start) as usize).then(|| pins.start + at as u32)
}

fn no_pin(kind: &str, at: usize, count: u32) -> Error {
    error!(InvalidArgument, "no {kind} {at}: the node has {count} of them, numbered from 0")
}
