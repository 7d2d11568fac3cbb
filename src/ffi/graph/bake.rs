//! Baking.

use hobgoblin_macros::entry;

use super::create::{GraphCell, hob_graph};
use super::host_node::Calls;
use super::value::hob_node_id;
use crate::base::{Id, Shared, error, try_collect};
use crate::ffi::base::result::hob_result;
use crate::graph::sorted_by_origin;

// == Experimental: Bake ==

/// Makes a graph with the same values at its sinks, for a host that sets no more inputs.
/// Nodes whose inputs cannot change any more are removed; their values are stored where they were read. Nodes that no
/// sink depends on are removed; the source of a feedback link to such a node becomes a sink. The others are copied.
///
/// Both graphs use the same `user_data`, perhaps at the same time, and `release` is called for the last copy. On
/// success `*out_graph` is the caller's to destroy.
///
///     hob_graph *baked = NULL;
///     if (hob_graph_bake(graph, NULL, 0, 0, &baked) != HOB_RESULT_OK) fail(hob_last_error());
///     hob_graph_get_copy(baked, sink, &sink_in_baked);
///
/// Sinks are kept, and nodes of HOB_NODE_CLASS_VOLATILE and HOB_NODE_CLASS_EFFECT, nodes that failed or have never run,
/// nodes that own a handle or pass one on, and sources of feedback links. `keep` are further nodes to keep, with all
/// that they depend on, such as nodes that the host will read or make a sink. `keep_stride` is sizeof(hob_node_id).
/// Feedback links go on with their values; the last good value of an owned output is not copied.
///
/// HOB_RESULT_INVALID_ARGUMENT: the last evaluation was not complete, or the graph was edited, set or invalidated after
/// it. HOB_RESULT_NOT_FOUND: a node of `keep` does not exist. Threads: shared.
#[entry(shared, experimental)]
#[must_use]
pub extern "C" fn hob_graph_bake(
    graph: *const hob_graph,
    keep: *const hob_node_id,
    keep_stride: usize,
    keep_count: usize,
    out_graph: *mut *mut hob_graph,
) -> hob_result {
    for id in keep.iter() {
        graph.graph.runs(id.into())?;
    }
    let kept = sorted_by_origin(&try_collect(keep.iter().map(|id| (id.into(), Id::default())))?)?;
    let calls = Shared::try_new(Calls::default())?;
    let is_kept = |id: Id| {
        let first = kept.partition_point(|(kept, _)| kept.index1 < id.index1);
        kept[first..].iter().take_while(|(kept, _)| kept.index1 == id.index1).any(|(kept, _)| *kept == id)
    };
    // SAFETY: `calls` is older than the graph, and so dropped after it, here and in `handle`.
    let baked = graph.graph.bake(is_kept, |node| unsafe { node.copy(&calls) })?;
    out_graph.write(GraphCell::handle(calls, baked.graph, graph.max_nodes, &baked.kept)?);
    Ok(())
}

/// Gets the node that was made of another graph's node, by hob_graph_bake or hob_graph_load.
/// `original` is the node's id in the graph that was baked or saved. HOB_RESULT_NOT_FOUND: there is no such node, for
/// instance because baking removed it, or the copy was removed. Threads: shared.
#[entry(shared, experimental)]
pub extern "C" fn hob_graph_get_copy(
    graph: *const hob_graph,
    original: hob_node_id,
    out_node: *mut hob_node_id,
) -> hob_result {
    let found = graph.origins.binary_search_by_key(&original.index1, |(origin, _)| origin.index1);
    let exists = |(origin, copy): &(Id, Id)| *origin == original.into() && graph.graph.runs(*copy).is_ok();
    let copy = found.ok().map(|at| graph.origins[at]).filter(exists);
    let copy = copy.ok_or_else(|| error!(NotFound, "no node of this graph was made of node {}", original.index1))?;
    out_node.write(copy.1.into());
    Ok(())
}
