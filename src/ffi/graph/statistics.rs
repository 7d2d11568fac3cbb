//! Counts of a graph.

use hobgoblin_macros::{entry, versioned};

use super::create::hob_graph;
use super::value::hob_node_id;
use crate::ffi::base::result::hob_result;
use crate::ffi::base::structs::Versioned;

// == Experimental: Statistics ==

/// Counts of a graph since it was created.
/// An answer: set struct_size, or begin with HOB_GRAPH_STATISTICS_INIT.
#[versioned(size = 96, last = restores)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_graph_statistics {
    /// sizeof(hob_graph_statistics).
    pub struct_size: u32,
    /// Must be 0.
    pub reserved: u32,
    /// Nodes now.
    pub nodes: u64,
    /// Links now, feedback links included.
    pub links: u64,
    /// Evaluations.
    pub evaluations: u64,
    /// Complete frames.
    pub frames: u64,
    /// Runs of nodes, without those that ended with HOB_VERDICT_NEED.
    pub runs: u64,
    /// Runs that ended with HOB_VERDICT_NEED.
    pub requests: u64,
    /// Blocks of nodes that were given to an executor.
    pub blocks: u64,
    /// Bytes of memory held, without what values and `user_data` refer to.
    pub memory_used: u64,
    /// Bytes that owned outputs hold now, by hob_node_call.held_bytes. 0 before the first limit.
    pub held_bytes: u64,
    /// Nodes whose values were released to keep the limit.
    pub releases: u64,
    /// Runs that only brought a released value back. `runs` includes them.
    pub restores: u64,
}

/// Gets the counts of a graph.
/// Threads: shared.
#[entry(shared, experimental)]
pub extern "C" fn hob_graph_get_statistics(
    graph: *const hob_graph,
    out_statistics: *mut hob_graph_statistics,
) -> hob_result {
    let (core, totals) = (&graph.graph, graph.totals);
    let memo = core.memo_counts();
    out_statistics.write(hob_graph_statistics {
        nodes: core.len() as u64,
        links: core.links() as u64,
        evaluations: core.evaluations(),
        frames: totals.frames,
        runs: totals.runs,
        requests: totals.requests,
        blocks: core.blocks_handed_out(),
        memory_used: (core.memory_used() + graph.calls.memory_used()) as u64,
        held_bytes: memo.held,
        releases: memo.releases,
        restores: memo.restores,
        ..hob_graph_statistics::defaults()
    });
    Ok(())
}

/// Counts of a node since it was added.
/// An answer: set struct_size, or begin with HOB_NODE_STATISTICS_INIT.
#[versioned(size = 32, last = held_bytes)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_node_statistics {
    /// sizeof(hob_node_statistics).
    pub struct_size: u32,
    /// Must be 0.
    pub reserved: u32,
    /// Runs, without those that ended with HOB_VERDICT_NEED.
    pub runs: u64,
    /// Mean duration of a run in nanoseconds, measured in the second run and in every 64th after it. 0: not known.
    pub mean_ns: f64,
    /// Bytes that its owned outputs hold now. 0 before the first limit.
    pub held_bytes: u64,
}

/// Gets the counts of a node.
/// HOB_RESULT_NOT_FOUND: there is no such node. Threads: shared.
#[entry(shared, experimental)]
pub extern "C" fn hob_graph_get_node_statistics(
    graph: *const hob_graph,
    node: hob_node_id,
    out_statistics: *mut hob_node_statistics,
) -> hob_result {
    let counts = graph.graph.node_counts(node.into())?;
    out_statistics.write(hob_node_statistics {
        runs: counts.runs,
        mean_ns: counts.duration_ns.into(),
        held_bytes: counts.held,
        ..hob_node_statistics::defaults()
    });
    Ok(())
}

/// Gets the number of a node's runs, without those that ended with HOB_VERDICT_NEED.
/// HOB_RESULT_NOT_FOUND: there is no such node. Threads: shared.
#[entry(shared, experimental)]
pub extern "C" fn hob_graph_get_node_runs(
    graph: *const hob_graph,
    node: hob_node_id,
    out_runs: *mut u64,
) -> hob_result {
    out_runs.write(graph.graph.runs(node.into())?);
    Ok(())
}
