//! Values between nodes, and the cells that hold them.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::base::{Result, try_push};

/// A value between two nodes: 16 bytes whose meaning is the host's. Larger data is a handle of the host in these bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Value(pub [u64; 2]);

impl Value {
    /// A value with an `f64` in its first half.
    pub fn number(number: f64) -> Self {
        Self([number.to_bits(), 0])
    }

    /// The `f64` in the first half.
    pub fn as_number(self) -> f64 {
        f64::from_bits(self.0[0])
    }
}

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

/// All values of a graph by cell. Threads that run different nodes write different cells.
#[derive(Default)]
pub(super) struct Values(Vec<[AtomicU64; 2]>);

impl Values {
    /// Makes room for cells below `end`.
    pub fn grow(&mut self, end: usize) -> Result<()> {
        while self.0.len() < end {
            try_push(&mut self.0, Default::default())?;
        }
        Ok(())
    }

    #[inline]
    pub fn get(&self, cell: u32) -> Value {
        let [first, second] = &self.0[cell as usize];
        Value([first.load(Ordering::Relaxed), second.load(Ordering::Relaxed)])
    }

    #[inline]
    pub fn set(&self, cell: u32, value: Value) {
        let [first, second] = &self.0[cell as usize];
        first.store(value.0[0], Ordering::Relaxed);
        second.store(value.0[1], Ordering::Relaxed);
    }

    pub fn memory_used(&self) -> usize {
        self.0.capacity() * size_of::<[AtomicU64; 2]>()
    }
}

/// Whether two numbers differ by at most `epsilon`. Not a number equals itself only.
pub(super) fn is_near(old: f64, new: f64, epsilon: f64) -> bool {
    old.to_bits() == new.to_bits() || (old.is_nan() && new.is_nan()) || (old - new).abs() <= epsilon
}
