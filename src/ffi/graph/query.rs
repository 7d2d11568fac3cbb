//! Queries: failures, and why a node ran or did not.

use std::ffi::c_char;

use hobgoblin_macros::{entry, open_enum, versioned};

use super::create::hob_graph;
use super::value::hob_node_id;
use crate::base::{Id, try_collect_all};
use crate::ffi::base::out::write_if;
use crate::ffi::base::result::hob_result;
use crate::ffi::base::structs::Versioned;
use crate::graph::{Why, WhyNot};

// == Experimental: Failures ==

/// Gets the reason of a node's failure, without a NUL.
/// `*out_source` receives the node that failed: this one, or one that it depends on. `out_source` may be NULL. Without
/// a failure, the text is empty and `*out_source` is all zero.
///
/// `*out_size` receives the required size. `buffer` NULL asks only for that. If `capacity` is too small, the result is
/// HOB_RESULT_BUFFER_TOO_SMALL. HOB_RESULT_NOT_FOUND: there is no such node. Threads: shared.
#[entry(shared, nullable(out_source), experimental)]
pub extern "C" fn hob_graph_get_failure(
    graph: *const hob_graph,
    node: hob_node_id,
    buffer: *mut c_char,
    capacity: usize,
    out_size: *mut usize,
    out_source: *mut hob_node_id,
) -> hob_result {
    let failure = graph.graph.failure(node.into())?;
    let (source, text) = failure.unwrap_or_default();
    buffer.text(text.as_str())?;
    write_if(out_source, source.into());
    Ok(())
}

/// Gets the path from a broken node to the failed node, both included.
/// `*out_count` receives their number, 0 without a failure. `nodes` NULL asks only for that. `node_stride` is
/// sizeof(hob_node_id). If `capacity` is too small, the result is HOB_RESULT_BUFFER_TOO_SMALL. HOB_RESULT_NOT_FOUND:
/// there is no such node. Threads: shared.
#[entry(shared, experimental)]
pub extern "C" fn hob_graph_get_failure_path(
    graph: *const hob_graph,
    node: hob_node_id,
    nodes: *mut hob_node_id,
    node_stride: usize,
    capacity: usize,
    out_count: *mut usize,
) -> hob_result {
    let path = try_collect_all(graph.graph.failure_path(node.into())?.map(|id| Ok(id.into())))?;
    nodes.fill(path.into_iter())
}

// == Experimental: Reasons ==

/// Why a node ran in the last evaluation, or did not.
#[open_enum]
#[repr(C)]
pub enum hob_node_why {
    /// It did not run: no input changed.
    NoChange = 0,
    /// It did not run: no sink depends on it.
    NoSink = 1,
    /// It did not run: sinks depend on it only through `input` of `node`, which is lazy and was not asked for.
    NotAsked = 2,
    /// It did not run: it depends on `node`, which failed.
    Broken = 3,
    /// It did not run: the evaluation ended before.
    Waits = 4,
    /// It ran: it is volatile.
    Volatile = 5,
    /// It ran: its `input` changed, or the source of it recovered.
    Changed = 6,
    /// It ran: it was new, edited, set or invalidated.
    /// Or an input had changed while no sink asked for it, or a feedback link passed on a change.
    Edited = 7,
    /// It ran: `node` read its value, which had been released; see hob_graph_set_memory_limit.
    Restored = 8,
}

/// Why a node ran or did not.
/// An answer: set struct_size, or begin with HOB_NODE_REASON_INIT.
#[versioned(size = 24, last = reserved)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_node_reason {
    /// sizeof(hob_node_reason).
    pub struct_size: u32,
    /// The kind of reason.
    pub why: hob_node_why,
    /// Another node, if `why` names one. Otherwise all zero.
    pub node: hob_node_id,
    /// An input, if `why` names one. Otherwise 0.
    pub input: u32,
    /// Must be 0.
    pub reserved: u32,
}

/// Gets why a node ran in the last evaluation, or did not.
/// May examine all nodes that depend on it. HOB_RESULT_NOT_FOUND: there is no such node. Threads: shared.
#[entry(shared, experimental)]
pub extern "C" fn hob_graph_get_reason(
    graph: *const hob_graph,
    node: hob_node_id,
    out_reason: *mut hob_node_reason,
) -> hob_result {
    let reason =
        |why, node: Id, input| hob_node_reason { why, node: node.into(), input, ..hob_node_reason::defaults() };
    let only = |why| reason(why, Id::default(), 0);
    out_reason.write(match graph.graph.why(node.into())? {
        Why::Volatile => only(hob_node_why::Volatile),
        Why::Changed { input } => reason(hob_node_why::Changed, Id::default(), input),
        Why::Edited => only(hob_node_why::Edited),
        Why::Restored(node) => reason(hob_node_why::Restored, node, 0),
        Why::Not(WhyNot::NoChange) => only(hob_node_why::NoChange),
        Why::Not(WhyNot::NoSink) => only(hob_node_why::NoSink),
        Why::Not(WhyNot::NotAsked { node, input }) => reason(hob_node_why::NotAsked, node, input),
        Why::Not(WhyNot::Broken(node)) => reason(hob_node_why::Broken, node, 0),
        Why::Not(WhyNot::Waits) => only(hob_node_why::Waits),
    });
    Ok(())
}

/// Gets the sentence of hob_graph_get_reason, without a NUL.
/// For instance: "data" did not run: input 0 of "builder" is lazy, and was not asked for.
///
/// `*out_size` receives the required size. `buffer` NULL asks only for that. If `capacity` is too small, the result is
/// HOB_RESULT_BUFFER_TOO_SMALL. HOB_RESULT_NOT_FOUND: there is no such node. Threads: shared.
#[entry(shared, experimental)]
pub extern "C" fn hob_graph_get_reason_text(
    graph: *const hob_graph,
    node: hob_node_id,
    buffer: *mut c_char,
    capacity: usize,
    out_size: *mut usize,
) -> hob_result {
    buffer.text(graph.graph.why_text(node.into())?.as_str())
}
