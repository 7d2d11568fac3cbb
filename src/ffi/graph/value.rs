//! Ids.

use hobgoblin_macros::element;

use crate::base::Id;

// == Experimental: Ids ==

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
