//! Parameters of nodes, and the argument of a running node.

use std::ffi::{c_char, c_void};

use hobgoblin_macros::{element, open_enum, versioned};

use crate::base::{Result, error, try_filled};
use crate::ffi::base::array::Array;
use crate::ffi::base::text::hob_str;
use crate::ffi::base::value::hob_value;
use crate::graph::{Class, Cutoff, Input, MAX_PINS, Output, Value};

// == Experimental: Nodes ==

/// The causes of a change of a node's outputs, beside its inputs.
#[open_enum]
#[repr(C)]
pub enum hob_node_class {
    /// Any, such as the time or a device: it runs in every frame in which a sink depends on it. The default, because
    /// the opposite mistake gives wrong values.
    Volatile = 0,
    /// None: it runs only after a change of an input.
    Pure = 1,
    /// As HOB_NODE_CLASS_PURE, for a node whose inputs never change: such a node runs once.
    Constant = 2,
    /// Calls of hob_graph_set_input. It has outputs only, and no callbacks.
    Input = 3,
    /// None, but it has an effect outside of the graph: it is always a sink.
    Effect = 4,
}

/// When an output counts as changed after its node ran.
/// Otherwise it keeps its old value. The first run is a change. Nodes of HOB_NODE_CLASS_INPUT and feedback links
/// compare the 16 bytes in any case.
#[open_enum]
#[repr(C)]
pub enum hob_cutoff {
    /// Its 16 bytes differ.
    Bytes = 0,
    /// `words[1]` differs: a generation that the node counts up.
    Generation = 1,
    /// `number` differs by more than hob_node_output.epsilon, or the other 8 bytes differ. NaN equals NaN.
    Epsilon = 2,
    /// Its bytes differ, and hob_node_desc.is_equal returns 0.
    Callback = 3,
    /// After every run.
    Never = 4,
}

/// The result of hob_node_desc.evaluate.
/// Another number counts as failed.
#[open_enum]
#[repr(C)]
pub enum hob_verdict {
    /// The outputs are written.
    Done = 0,
    /// The node needs the lazy inputs in hob_node_call.need. It is called again when they are up to date. A node that
    /// asks only for inputs in hob_node_call.available has failed.
    Need = 1,
    /// It failed. Its outputs keep their values, and nodes that depend on it do not run.
    Failed = 2,
}

/// hob_node_input.flags: evaluate the source only if the node asks for it.
/// For the first 64 inputs of a node.
pub const HOB_NODE_INPUT_LAZY: u32 = 1;
/// hob_node_input.flags: after a failure of the source, read its last good value.
/// Without it, or without a good value, the node does not run until the source recovers. Then it runs, also if the
/// value is the last one.
pub const HOB_NODE_INPUT_HOLD: u32 = 2;
/// hob_node_output.flags: the value is a handle of the host that the graph owns.
/// When a node replaces it, and when the node is removed, the graph passes it to hob_node_desc.release_value. A handle
/// is not all zero.
///
/// Other nodes may pass it on, in outputs that are not owned. It must then differ from all handles before it, but
/// addresses are used again: count up words[1] beside a pointer. Do not read such an output by HOB_NODE_INPUT_HOLD or
/// feedback: the handle may have been released.
pub const HOB_NODE_OUTPUT_OWNED: u32 = 1;
/// hob_node_desc.flags: the node is a sink.
/// See hob_graph_set_sink.
pub const HOB_NODE_SINK: u32 = 1;

/// An input pin.
#[element(size = 24, last = value)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_node_input {
    /// HOB_NODE_INPUT_ bits. Default 0.
    pub flags: u32,
    /// Must be 0.
    pub reserved: u32,
    /// Its value without a link. Default: all zero.
    pub value: hob_value,
}

/// An output pin.
#[element(size = 32, last = value)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_node_output {
    /// When it counts as changed. Default HOB_CUTOFF_BYTES.
    pub cutoff: hob_cutoff,
    /// HOB_NODE_OUTPUT_ bits. Default 0.
    pub flags: u32,
    /// For HOB_CUTOFF_EPSILON: the largest difference that is no change. At least 0.
    pub epsilon: f64,
    /// Its value before the first run. Default: all zero.
    pub value: hob_value,
}

/// Inputs and outputs of a running node: the argument of hob_node_desc.evaluate.
/// All pointers are valid during the call.
#[versioned(size = 72, last = cost_ns)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_node_call {
    /// sizeof(hob_node_call) of the library.
    pub struct_size: u32,
    /// Number of inputs.
    pub input_count: u32,
    /// The values of the inputs. A lazy input that is not in `available` may have an old value.
    pub inputs: *const hob_value,
    /// The values of the outputs, which the node overwrites. At first those of the last run; released ones are 0.
    /// Write owned handles only before HOB_VERDICT_DONE: after another verdict they are not released.
    pub outputs: *mut hob_value,
    /// Number of outputs.
    pub output_count: u32,
    /// Bytes of `message`.
    pub message_capacity: u32,
    /// The lazy inputs that are up to date: bit i for input i. Each run of a node begins with 0.
    pub available: u64,
    /// For HOB_VERDICT_NEED: the lazy inputs that are wanted, bit i for input i. At first 0.
    pub need: u64,
    /// For HOB_VERDICT_FAILED: write the reason here, ended by NUL. At first empty.
    pub message: *mut c_char,
    /// For hob_graph_set_memory_limit: write the bytes that the owned outputs hold here. At first 0.
    pub held_bytes: u64,
    /// With `held_bytes`: the time of another run in nanoseconds, for instance on a GPU. At first 0: the duration of
    /// this call.
    pub cost_ns: f64,
}

/// Parameters of a node.
#[versioned(size = 136, last = reserved)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_node_desc {
    /// sizeof(hob_node_desc).
    pub struct_size: u32,
    /// The causes of a change of its outputs. Default HOB_NODE_CLASS_VOLATILE.
    pub node_class: hob_node_class,
    /// A name for messages. Default empty: messages show its number.
    pub name: hob_str,
    /// The host's name of its type, for hob_graph_load and hob_graph_emit. Default empty.
    pub type_name: hob_str,
    /// Computes the outputs from the inputs. Must be set, except for HOB_NODE_CLASS_INPUT, which has none.
    /// Runs inside hob_graph_evaluate: on its thread, and on threads of its executor. A node runs on one thread at a
    /// time, but several nodes may run at once. It must not call its own graph, except hob_graph_cancel.
    pub evaluate: Option<extern "C" fn(user_data: *mut c_void, call: *mut hob_node_call) -> hob_verdict>,
    /// Passed to the callbacks.
    pub user_data: *mut c_void,
    /// Called exactly once, when the node is removed or its graph is destroyed, after all other callbacks. May be NULL.
    pub release: Option<extern "C" fn(user_data: *mut c_void)>,
    /// For HOB_CUTOFF_CALLBACK: not 0 if the new value counts as equal to the old one. Runs as `evaluate` does.
    pub is_equal: Option<
        extern "C" fn(
            user_data: *mut c_void,
            output: u32,
            old_value: *const hob_value,
            new_value: *const hob_value,
        ) -> u32,
    >,
    /// For HOB_NODE_OUTPUT_OWNED: releases a handle. Runs as `evaluate` does, and in hob_graph_remove_node and
    /// hob_graph_destroy.
    pub release_value: Option<extern "C" fn(user_data: *mut c_void, output: u32, value: *const hob_value)>,
    /// The inputs; copied. NULL: `input_count` inputs with the defaults of hob_node_input.
    pub inputs: *const hob_node_input,
    /// Bytes from one input to the next: sizeof(hob_node_input). Default 0: its first released size.
    pub input_stride: usize,
    /// Number of inputs. At most 65535 with the outputs.
    pub input_count: usize,
    /// The outputs; copied. NULL: `output_count` outputs with the defaults of hob_node_output.
    pub outputs: *const hob_node_output,
    /// Bytes from one output to the next: sizeof(hob_node_output). Default 0: its first released size.
    pub output_stride: usize,
    /// Number of outputs.
    pub output_count: usize,
    /// HOB_NODE_SINK, or 0. Default 0.
    pub flags: u32,
    /// Must be 0.
    pub reserved: u32,
}

impl From<&Input> for hob_node_input {
    fn from(pin: &Input) -> Self {
        let (lazy, hold) = (u32::from(pin.lazy) * HOB_NODE_INPUT_LAZY, u32::from(pin.hold) * HOB_NODE_INPUT_HOLD);
        Self { flags: lazy | hold, reserved: 0, value: pin.default.into() }
    }
}

impl From<&Output> for hob_node_output {
    fn from(pin: &Output) -> Self {
        let (cutoff, epsilon) = match pin.cutoff {
            Cutoff::Bytes => (hob_cutoff::Bytes, 0.0),
            Cutoff::Generation => (hob_cutoff::Generation, 0.0),
            Cutoff::Epsilon(epsilon) => (hob_cutoff::Epsilon, epsilon),
            Cutoff::Callback => (hob_cutoff::Callback, 0.0),
            Cutoff::Never => (hob_cutoff::Never, 0.0),
        };
        let flags = u32::from(pin.is_owned) * HOB_NODE_OUTPUT_OWNED;
        Self { cutoff, flags, epsilon, value: pin.initial.into() }
    }
}

impl hob_node_class {
    pub fn class(self) -> Result<Class> {
        Ok(match self.check("hob_node_desc.node_class")? {
            Self::Pure => Class::Pure,
            Self::Constant => Class::Constant,
            Self::Input => Class::Input,
            Self::Effect => Class::Effect,
            _ => Class::Volatile,
        })
    }
}

impl hob_node_desc {
    /// # Safety
    /// `inputs` is what the header says.
    pub unsafe fn inputs<'a>(&self, room: &'a mut Option<Pins<Input>>) -> Result<&'a [Input]> {
        let convert = |at: usize, pin: hob_node_input| {
            check_flags("inputs", at, pin.flags, HOB_NODE_INPUT_LAZY | HOB_NODE_INPUT_HOLD)?;
            let (lazy, hold) = (pin.flags & HOB_NODE_INPUT_LAZY != 0, pin.flags & HOB_NODE_INPUT_HOLD != 0);
            Ok(Input { lazy, hold, default: pin.value.into() })
        };
        // SAFETY: by this function's contract.
        unsafe { pins(self.inputs, self.input_stride, self.input_count, "inputs", &USUAL_INPUTS, room, convert) }
    }

    /// # Safety
    /// `outputs` is what the header says.
    pub unsafe fn outputs<'a>(&self, room: &'a mut Option<Pins<Output>>) -> Result<&'a [Output]> {
        let convert = |at: usize, pin: hob_node_output| {
            check_flags("outputs", at, pin.flags, HOB_NODE_OUTPUT_OWNED)?;
            let cutoff = self.cutoff(at, &pin)?;
            let is_owned = pin.flags & HOB_NODE_OUTPUT_OWNED != 0;
            if is_owned && self.release_value.is_none() {
                return Err(error!(InvalidArgument, "outputs[{at}] is owned: set hob_node_desc.release_value"));
            }
            Ok(Output { cutoff, is_owned, initial: pin.value.into() })
        };
        // SAFETY: by this function's contract.
        unsafe { pins(self.outputs, self.output_stride, self.output_count, "outputs", &USUAL_OUTPUTS, room, convert) }
    }

    fn cutoff(&self, at: usize, pin: &hob_node_output) -> Result<Cutoff> {
        // Without a comparison of numbers, which could trap.
        let bits = pin.epsilon.to_bits();
        let is_number = bits <= f64::INFINITY.to_bits() || bits == (-0.0_f64).to_bits();
        Ok(match pin.cutoff.check("hob_node_output.cutoff")? {
            hob_cutoff::Generation => Cutoff::Generation,
            hob_cutoff::Epsilon if is_number => Cutoff::Epsilon(pin.epsilon),
            hob_cutoff::Epsilon => {
                return Err(error!(InvalidArgument, "outputs[{at}].epsilon is negative or NaN: it must be at least 0"));
            }
            hob_cutoff::Callback if self.is_equal.is_some() => Cutoff::Callback,
            hob_cutoff::Callback => {
                return Err(error!(
                    InvalidArgument,
                    "outputs[{at}] is compared by a callback: set hob_node_desc.is_equal, which nodes of class input cannot have"
                ));
            }
            hob_cutoff::Never => Cutoff::Never,
            _ => Cutoff::Bytes,
        })
    }
}

fn check_flags(what: &str, at: usize, flags: u32, known: u32) -> Result<()> {
    if flags & !known != 0 {
        return Err(error!(Unsupported, "{what}[{at}].flags {flags:#x} has bits that this library does not know"));
    }
    Ok(())
}

/// Most nodes have no more pins than this, of each kind.
const FEW: usize = 4;

/// Pins that are converted. A few of them take no memory, which would be an eighth of the time of the call.
pub enum Pins<T> {
    Few([T; FEW]),
    Many(Vec<T>),
}

const USUAL_INPUT: Input = Input { lazy: false, hold: false, default: Value([0, 0]) };
const USUAL_OUTPUT: Output = Output { cutoff: Cutoff::Bytes, is_owned: false, initial: Value([0, 0]) };
static USUAL_INPUTS: [Input; FEW] = [USUAL_INPUT; FEW];
static USUAL_OUTPUTS: [Output; FEW] = [USUAL_OUTPUT; FEW];

/// The caller's pins, converted in `room`. Without an array all have their defaults: `usual`.
///
/// # Safety
/// `start` is NULL, or an array of that stride and count.
#[inline]
unsafe fn pins<'a, T: crate::ffi::base::array::Element, R: Copy + Default>(
    start: *const T,
    stride: usize,
    count: usize,
    what: &str,
    usual: &'static [R],
    room: &'a mut Option<Pins<R>>,
    convert: impl Fn(usize, T) -> Result<R>,
) -> Result<&'a [R]> {
    if start.is_null()
        && let Some(usual) = usual.get(..count)
    {
        return Ok(usual);
    }
    // SAFETY: by this function's contract.
    unsafe { pins_of_array(start, stride, count, what, room, convert) }
}

/// # Safety
/// As [`pins`].
#[inline(never)]
unsafe fn pins_of_array<'a, T: crate::ffi::base::array::Element, R: Copy + Default>(
    start: *const T,
    stride: usize,
    count: usize,
    what: &str,
    room: &'a mut Option<Pins<R>>,
    convert: impl Fn(usize, T) -> Result<R>,
) -> Result<&'a [R]> {
    if count > MAX_PINS {
        return Err(error!(LimitExceeded, "{what}: {count} pins are too many: a node has at most {MAX_PINS}"));
    }
    let pins = match room.insert(if count > FEW {
        Pins::Many(try_filled(R::default(), count)?)
    } else {
        Pins::Few([R::default(); FEW])
    }) {
        Pins::Few(pins) => &mut pins[..count],
        Pins::Many(pins) => pins,
    };
    if !start.is_null() {
        // SAFETY: by this function's contract.
        let array = unsafe { Array::new(start, stride, count, what) }?;
        for (at, (to, pin)) in pins.iter_mut().zip(array.iter()).enumerate() {
            *to = convert(at, pin)?;
        }
    }
    Ok(pins)
}
