//! The limit of the memory that values hold.

use hobgoblin_macros::entry;

use super::create::hob_graph;
use crate::ffi::base::result::hob_result;

// == Experimental: Memory of values ==

/// Sets a limit of the bytes that owned outputs hold between frames; UINT64_MAX: no limit.
/// A frame that ends above it releases values until the limit is kept. A node whose value was released runs again when
/// another node reads it. Released first are values that cost little time for their bytes, and that are seldom read
/// before they change.
///
///     hob_graph_set_memory_limit(graph, 256 << 20); /* before the first frame */
///
///     /* in a node: */
///     call->outputs[0].pointer = make_image(&size);
///     call->held_bytes = size;
///
/// Only nodes of HOB_NODE_CLASS_PURE and HOB_NODE_CLASS_CONSTANT that write hob_node_call.held_bytes release their
/// values. Sinks do not, and neither do sources of an input with HOB_NODE_INPUT_HOLD, or nodes whose handle another
/// node passes on unchanged. Runs before the first limit below UINT64_MAX do not count.
///
/// After a release, an output counts as changed in the next run after a change of an input, except with
/// HOB_CUTOFF_GENERATION: the old value is not there to be compared. The same holds when its node becomes a sink. A
/// failure of the first run after a release leaves no last good value.
///
/// hob_graph_get_statistics has the counts. Threads: exclusive.
#[entry(exclusive, experimental)]
pub extern "C" fn hob_graph_set_memory_limit(graph: *mut hob_graph, bytes: u64) -> hob_result {
    graph.with(|cell| cell.graph.set_memory_limit(bytes))
}
