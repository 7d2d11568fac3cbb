//! Parameters of a node, and the argument of its run.

use super::value::{Cutoff, Value};
use crate::base::Text;

/// Most pins of one node, inputs and outputs together.
pub const MAX_PINS: usize = 65_535;
/// Lazy inputs are among the first inputs of a node, so that a mask can name them.
pub const MAX_LAZY_INPUT: usize = 64;

/// The message of a node that failed.
pub type Failure = Text<160>;

/// The causes of a change of a node's outputs, beside its inputs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Class {
    /// Anything: it runs in each frame in which it is demanded. Default, because the opposite mistake gives wrong values.
    #[default]
    Volatile = 0,
    /// Nothing: it runs after a change of an input only.
    Pure = 1,
    /// Nothing, and its value is part of the graph: bake stores it.
    Constant = 2,
    /// Values that the host sets with `set_input`. It has no inputs and never runs.
    Input = 3,
    /// Nothing, and its run has an effect outside: it is demanded always, and bake keeps it.
    Effect = 4,
}

/// An input pin.
#[derive(Clone, Copy, Debug, Default)]
pub struct Input {
    /// Evaluate what it depends on only if the node asks for it.
    pub lazy: bool,
    /// After a failure of its source, read the last good value. Default: the node fails, too.
    pub hold: bool,
    /// The value without a link.
    pub default: Value,
}

/// An output pin.
#[derive(Clone, Copy, Debug, Default)]
pub struct Output {
    /// When it counts as changed.
    pub cutoff: Cutoff,
    /// The value is a handle that the graph releases by [`Function::release`].
    pub is_owned: bool,
    /// The value before the node has run.
    pub initial: Value,
}

/// Parameters of a node.
#[derive(Clone, Copy, Debug, Default)]
pub struct NodeOptions<'a> {
    /// A name for messages and dumps. May be empty.
    pub name: &'a str,
    /// The host's name of its type, for dumps. May be empty.
    pub kind: &'a str,
    /// The causes of a change of its outputs.
    pub class: Class,
    /// It is demanded in each frame. Effects are sinks always.
    pub is_sink: bool,
    /// Its input pins.
    pub inputs: &'a [Input],
    /// Its output pins.
    pub outputs: &'a [Output],
}

/// The end of a run of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The outputs are written.
    Done,
    /// These lazy inputs (bit i: input i) are wanted. The node runs again with them; outputs are not looked at.
    Need(u64),
    /// The node failed. Outputs keep their values.
    Failed,
}

/// Inputs and outputs of a running node.
pub struct Call<'a> {
    /// The values of all inputs. A lazy input that was not asked for has an old value.
    pub inputs: &'a [Value],
    /// The lazy inputs that are up to date (bit i: input i).
    pub available: u64,
    /// On entry the values of the last run.
    pub outputs: &'a mut [Value],
    /// The message of a failure, for [`Verdict::Failed`].
    pub failure: &'a mut Failure,
    /// The memory of the owned outputs. On entry: nothing.
    pub held: Held,
}

/// The memory of the owned outputs of a node after its run, for [`Graph::set_memory_limit`](super::Graph::set_memory_limit).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Held {
    /// Bytes. 0: they are never released to save memory.
    pub bytes: u64,
    /// The time of another run in nanoseconds. 0: the duration of this one.
    pub cost_ns: f64,
}

/// The host's part of a node.
pub trait Function: Send + Sync {
    /// Compute the outputs from the inputs. Nodes of one level run on several threads.
    fn evaluate(&self, call: &mut Call<'_>) -> Verdict;

    /// For [`Cutoff::Callback`]: whether dependants need not run.
    fn is_equal(&self, _output: usize, old: Value, new: Value) -> bool {
        old == new
    }

    /// A second handle to the data of an owned output. `None`: out of memory.
    fn duplicate(&self, _output: usize, value: Value) -> Option<Value> {
        Some(value)
    }

    /// Release the handle of an owned output.
    fn release(&self, _output: usize, _value: Value) {}
}
