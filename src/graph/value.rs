//! Values between nodes, and the cells that hold them.

use std::sync::atomic::{AtomicU64, Ordering};

use super::structure::{OWN, try_reserve_to};
use crate::base::Result;

pub use crate::base::Value;

/// When an output counts as changed after its node ran. Dependants run only after a change.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Cutoff {
    /// The 16 bytes differ. Default.
    #[default]
    Bytes,
    /// The second half differs: a generation that the node counts up.
    Generation,
    /// The `f64` in the first half differs by more than this, or the second half differs. Not a number equals itself.
    Epsilon(f64),
    /// The node's [`is_equal`](super::Function::is_equal) says that they differ.
    Callback,
    /// Every run is a change.
    Never,
}

/// All values of a graph. Threads that run different nodes write different ones.
#[derive(Default)]
pub(super) struct Values {
    outputs: Vec<Slot>,
    /// Of inputs: their default, or what a feedback link carries.
    own: Vec<Slot>,
}

#[repr(transparent)]
pub(super) struct Slot([AtomicU64; 2]);

impl Slot {
    fn new(value: Value) -> Self {
        Self(value.0.map(AtomicU64::new))
    }

    #[inline]
    pub fn get(&self) -> Value {
        Value([self.0[0].load(Ordering::Relaxed), self.0[1].load(Ordering::Relaxed)])
    }

    #[inline]
    pub fn set(&self, value: Value) {
        self.0[0].store(value.0[0], Ordering::Relaxed);
        self.0[1].store(value.0[1], Ordering::Relaxed);
    }
}

impl Values {
    /// Makes room for outputs and inputs below these numbers.
    pub fn reserve(&mut self, outputs: usize, inputs: usize) -> Result<()> {
        try_reserve_to(&mut self.outputs, outputs)?;
        try_reserve_to(&mut self.own, inputs)
    }

    /// Puts the values of outputs that are added, for which there is room.
    #[inline]
    pub fn add_outputs(&mut self, first: u32, values: impl Iterator<Item = Value>) {
        add(&mut self.outputs, first, values);
    }

    /// Puts the own values of inputs that are added, for which there is room.
    #[inline]
    pub fn add_own(&mut self, first: u32, values: impl Iterator<Item = Value>) {
        add(&mut self.own, first, values);
    }

    /// The value that an input reads: see [`Structure::read_by`](super::structure::Structure::read_by).
    #[inline]
    pub fn read(&self, read: u32) -> Value {
        if read & OWN == 0 { self.output(read) } else { self.own(read & !OWN) }
    }

    #[inline]
    pub fn output(&self, output: u32) -> Value {
        self.outputs[output as usize].get()
    }

    #[inline]
    pub fn set_output(&self, output: u32, value: Value) {
        self.outputs[output as usize].set(value);
    }

    /// The values of outputs.
    pub fn slots(&self) -> &[Slot] {
        &self.outputs
    }

    pub fn own(&self, input: u32) -> Value {
        self.own[input as usize].get()
    }

    pub fn set_own(&self, input: u32, value: Value) {
        self.own[input as usize].set(value);
    }

    pub fn memory_used(&self) -> usize {
        (self.outputs.capacity() + self.own.capacity()) * size_of::<Slot>()
    }
}

#[inline]
fn add(list: &mut Vec<Slot>, first: u32, values: impl Iterator<Item = Value>) {
    let first = first as usize;
    if first >= list.len() {
        values.for_each(|value| list.push(Slot::new(value)));
    } else {
        list[first..].iter_mut().zip(values).for_each(|(slot, value)| *slot = Slot::new(value));
    }
}

/// Whether two numbers differ by at most `epsilon`. Not a number equals itself only.
pub(super) fn is_near(old: f64, new: f64, epsilon: f64) -> bool {
    old.to_bits() == new.to_bits() || (old.is_nan() && new.is_nan()) || (old - new).abs() <= epsilon
}
