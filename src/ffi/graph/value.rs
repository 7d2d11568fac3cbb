//! Values and ids.

use std::ffi::c_void;

use hobgoblin_macros::element;

use crate::base::{Id, Result};
use crate::ffi::base::argument::{Argument, null};
use crate::ffi::base::out::Output;
use crate::graph::Value;

// == Experimental: Ids and values ==

/// A node of a graph.
/// All zero is no node.
#[element(size = 8, last = generation)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_node_id {
    /// Its place, from 1 on; 0 is no node.
    pub index1: u32,
    /// Distinguishes it from earlier nodes at that place.
    pub generation: u32,
}

impl From<hob_node_id> for Id {
    fn from(id: hob_node_id) -> Self {
        Self { index1: id.index1, generation: id.generation }
    }
}

impl From<Id> for hob_node_id {
    fn from(id: Id) -> Self {
        Self { index1: id.index1, generation: id.generation }
    }
}

/// A value between nodes: 16 bytes whose meaning is the host's.
/// Larger data is a handle of the host in these bytes. All 16 bytes count: set those that are not used to 0, as
/// `hob_value value = {{0}};` and hob_value_of_number do.
#[repr(C)]
#[derive(Clone, Copy)]
pub union hob_value {
    /// Two numbers.
    pub numbers: [f64; 2],
    /// One number: the first of `numbers`.
    pub number: f64,
    /// Four numbers of single precision.
    pub vector: [f32; 4],
    /// An integer.
    pub integer: i64,
    /// Two words. HOB_CUTOFF_GENERATION compares the second one.
    pub words: [u64; 2],
    /// A pointer of the host.
    pub pointer: *mut c_void,
    /// All bytes.
    pub bytes: [u8; 16],
}

// The core's arrays of values are passed to nodes without a copy.
const _: () = assert!(size_of::<hob_value>() == size_of::<Value>() && align_of::<hob_value>() == align_of::<Value>());

impl From<hob_value> for Value {
    fn from(value: hob_value) -> Self {
        // SAFETY: every bit pattern is a value of each field.
        Self(unsafe { value.words })
    }
}

impl From<Value> for hob_value {
    fn from(value: Value) -> Self {
        Self { words: value.0 }
    }
}

// SAFETY: plain data, and every bit pattern is a value.
unsafe impl Output for hob_value {}

// SAFETY: reads as many bytes as the type has.
unsafe impl Argument for hob_value {
    type Taken<'a> = Value;

    unsafe fn take<'a>(pointer: *const Self, what: &'static str) -> Result<Self::Taken<'a>> {
        if pointer.is_null() {
            return Err(null(what, "a hob_value"));
        }
        // SAFETY: by the contract of `take`.
        Ok(unsafe { pointer.read_unaligned() }.into())
    }
}
