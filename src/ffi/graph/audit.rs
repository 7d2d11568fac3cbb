//! The audit of classes.

use hobgoblin_macros::{element, entry};

use super::create::hob_graph;
use super::value::hob_node_id;
use crate::ffi::base::result::hob_result;
use crate::ffi::base::value::hob_value;

// == Experimental: Audit ==

/// A node of HOB_NODE_CLASS_PURE or HOB_NODE_CLASS_CONSTANT that gave other outputs for the same inputs.
#[element(size = 48, last = after)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_graph_finding {
    /// The node. It depends on something that is not an input: time, state, or another node.
    pub node: hob_node_id,
    /// The output that differs.
    pub output: u32,
    /// Evaluations between both runs.
    pub evaluations: u32,
    /// The value of the first run.
    pub before: hob_value,
    /// The value of the second run. All zero also if that failed or asked for other inputs.
    pub after: hob_value,
}

/// Starts or stops the audit: a share of extra runs that finds wrong classes.
/// Nodes are run again with the inputs that they had some frames before. `share` is the extra runs per run, for
/// instance 0.02; 0 stops the audit. A start forgets earlier findings. Extra runs change no value and no count, and no
/// limit of an evaluation includes them.
///
///     hob_graph_set_audit(graph, 0.02); /* in a debug build */
///
/// Where all nodes run in each frame, 0.02 examines each node once in 150 frames, up to 3,800 nodes; larger graphs take
/// longer. Not examined are outputs with HOB_CUTOFF_NEVER, and nodes that read or write owned handles or have more than
/// 32 inputs or outputs. A node with a value that may be a pointer is run again only while its inputs have not changed.
///
/// HOB_RESULT_INVALID_ARGUMENT: `share` is not 0 to 1. Threads: exclusive.
#[entry(exclusive, experimental)]
pub extern "C" fn hob_graph_set_audit(graph: *mut hob_graph, share: f64) -> hob_result {
    graph.with(|cell| cell.graph.set_audit(share))
}

/// Gets the findings of the audit: the first one of each node, at most 64.
/// `*out_count` receives their number. `findings` NULL asks only for that. `finding_stride` is
/// sizeof(hob_graph_finding). If `capacity` is too small, the result is HOB_RESULT_BUFFER_TOO_SMALL. Threads: shared.
#[entry(shared, experimental)]
pub extern "C" fn hob_graph_get_findings(
    graph: *const hob_graph,
    findings: *mut hob_graph_finding,
    finding_stride: usize,
    capacity: usize,
    out_count: *mut usize,
) -> hob_result {
    findings.fill(graph.graph.findings().iter().map(|finding| hob_graph_finding {
        node: finding.node.into(),
        output: finding.output,
        evaluations: finding.frames,
        before: finding.before.into(),
        after: finding.after.into(),
    }))
}
