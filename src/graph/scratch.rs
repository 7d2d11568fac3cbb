//! Memory of a thread that runs nodes.

use super::node::Failure;
use super::structure::try_reserve_to;
use super::value::{Value, Values};
use crate::base::Result;

/// Memory of a thread that runs nodes.
#[derive(Default)]
pub struct Scratch {
    pub(super) inputs: Vec<Value>,
    pub(super) outputs: Vec<Value>,
    pub(super) failure: Failure,
}

impl Scratch {
    /// Makes room for nodes with this number of pins.
    pub fn grow(&mut self, inputs: usize, outputs: usize) -> Result<()> {
        for (list, count) in [(&mut self.inputs, inputs), (&mut self.outputs, outputs)] {
            try_reserve_to(list, count)?;
            while list.len() < count {
                list.push(Value::default());
            }
        }
        Ok(())
    }

    /// Takes the values of inputs that read these. Returns their number.
    #[inline]
    pub fn read(&mut self, values: &Values, reads: impl Iterator<Item = u32>) -> usize {
        let mut count = 0;
        for (place, read) in self.inputs.iter_mut().zip(reads) {
            *place = values.read(read);
            count += 1;
        }
        count
    }

    /// Room for the inputs of a node, and for its message.
    pub fn inputs_and_failure(&mut self) -> (&mut [Value], &mut Failure) {
        (&mut self.inputs, &mut self.failure)
    }

    /// Bytes held.
    pub fn memory_used(&self) -> usize {
        (self.inputs.capacity() + self.outputs.capacity()) * size_of::<Value>()
    }
}
