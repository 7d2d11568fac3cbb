//! The data that most nodes do not have: names, kinds, and outputs that are not plain.

use super::node::{Function, Output};
use super::structure::Node;
use super::value::{Value, Values};

/// The data that most nodes do not have.
#[derive(Default)]
pub struct Record {
    /// Empty if plain.
    pub outputs: Vec<Output>,
    pub name: String,
    pub kind: String,
}

/// The record of a plain node without a name.
pub static PLAIN_RECORD: Record = Record { outputs: Vec::new(), name: String::new(), kind: String::new() };

impl Record {
    /// Releases all values that the graph owns.
    pub fn release_all<F: Function>(&self, function: &F, node: &Node, values: &Values) {
        for (at, (cell, output)) in node.outputs().zip(&self.outputs).enumerate() {
            let value = values.output(cell);
            if output.is_owned && value != Value::default() {
                function.release(at, value);
            }
        }
    }

    /// Whether the graph releases the values of an output.
    pub fn owns(&self, output: u32) -> bool {
        self.outputs.get(output as usize).is_some_and(|output| output.is_owned)
    }

    /// Whether the graph releases values of it.
    pub fn owns_any(&self) -> bool {
        self.outputs.iter().any(|output| output.is_owned)
    }

    /// The parameters of an output, apart from its initial value.
    pub fn output(&self, output: u32) -> Output {
        self.outputs.get(output as usize).copied().unwrap_or_default()
    }

    /// Bytes held.
    pub fn memory_used(&self) -> usize {
        size_of::<Self>() + self.outputs.capacity() * size_of::<Output>() + self.name.capacity() + self.kind.capacity()
    }
}
