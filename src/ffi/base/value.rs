//! Values whose meaning is the host's.

use std::ffi::c_void;

use super::argument::{Argument, null};
use super::out::Output;
use crate::base::{Result, Value};

// == Experimental: Values ==

/// 16 bytes whose meaning is the host's: a value between the nodes of a graph, or the value of a perception.
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
    /// Two words. HOB_CUTOFF_GENERATION of graph.h compares the second one.
    pub words: [u64; 2],
    /// A pointer of the host.
    pub pointer: *mut c_void,
    /// All bytes.
    pub bytes: [u8; 16],
}

// The core's arrays of values are passed to the host without a copy.
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
