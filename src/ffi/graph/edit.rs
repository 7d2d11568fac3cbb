//! Edits: nodes, links and inputs.

use hobgoblin_macros::entry;

use super::create::hob_graph;
use super::host_node::HostNode;
use super::node::{HOB_NODE_SINK, hob_node_class, hob_node_desc};
use super::value::hob_node_id;
use crate::base::error;
use crate::ffi::base::result::hob_result;
use crate::ffi::base::value::hob_value;
use crate::graph::NodeOptions;

// == Experimental: Nodes and links ==

/// Adds a node.
/// On success `*out_node` is its id, and `user_data` belongs to the graph.
///
///     hob_node_desc desc = HOB_NODE_DESC_INIT;
///     desc.name = HOB_STR("blur");
///     desc.node_class = HOB_NODE_CLASS_PURE;
///     desc.evaluate = blur;
///     desc.user_data = settings;
///     desc.input_count = desc.output_count = 1;
///     if (hob_graph_add_node(graph, &desc, &node) != HOB_RESULT_OK) fail(hob_last_error());
///
/// HOB_RESULT_LIMIT_EXCEEDED: too many nodes or pins. Threads: exclusive.
#[entry(exclusive, hot, integers, experimental)]
pub extern "C" fn hob_graph_add_node(
    graph: *mut hob_graph,
    desc: *const hob_node_desc,
    out_node: *mut hob_node_id,
) -> hob_result {
    if desc.flags & !HOB_NODE_SINK != 0 {
        return Err(error!(
            Unsupported,
            "hob_node_desc.flags {:#x} has bits that this library does not know", desc.flags
        ));
    }
    let class = desc.node_class.class()?;
    let (mut of_inputs, mut of_outputs) = (None, None);
    // SAFETY: the header's contract for the fields, here and below.
    let (inputs, outputs) = unsafe { (desc.inputs(&mut of_inputs)?, desc.outputs(&mut of_outputs)?) };
    let name = unsafe { desc.name.argument("hob_node_desc.name") }.text()?;
    let kind = unsafe { desc.type_name.argument("hob_node_desc.type_name") }.text()?;
    let options = NodeOptions { name, kind, class, is_sink: desc.flags & HOB_NODE_SINK != 0, inputs, outputs };
    let is_input = desc.node_class == hob_node_class::Input;
    match desc.evaluate {
        Some(_) if is_input => {
            return Err(error!(InvalidArgument, "a node of HOB_NODE_CLASS_INPUT never runs: leave evaluate NULL"));
        }
        None if !is_input => return Err(error!(InvalidArgument, "hob_node_desc.evaluate is NULL: set it")),
        _ => {}
    }
    if is_input && (desc.release.is_some() || desc.is_equal.is_some() || desc.release_value.is_some()) {
        let why = "its values and user_data stay the host's: leave release, is_equal and release_value NULL";
        return Err(error!(InvalidArgument, "a node of HOB_NODE_CLASS_INPUT: {why}"));
    }
    let node = graph.with(|cell| {
        if cell.graph.len() >= cell.max_nodes {
            let limit = cell.max_nodes;
            return Err(error!(
                LimitExceeded,
                "the graph has {limit} nodes, as many as hob_graph_desc.max_nodes allows"
            ));
        }
        let Some(evaluate) = desc.evaluate else { return cell.graph.add(&options, None) };
        // SAFETY: a cell drops its nodes before its calls.
        let (function, owner) = unsafe { HostNode::new(&desc, evaluate, &cell.calls) }?;
        let node = cell.graph.add(&options, Some(function))?;
        owner.iter().for_each(|owner| owner.own());
        Ok(node)
    })?;
    out_node.write(node.into());
    Ok(())
}

/// Removes a node and its links.
/// Inputs that read it have their values without a link again. Releases owned values, then `user_data`.
/// HOB_RESULT_NOT_FOUND: there is no such node. Threads: exclusive.
///
/// Callbacks: `release_value` and `release`, on this thread. There, calls on this graph return HOB_RESULT_BUSY.
#[entry(exclusive, experimental)]
pub extern "C" fn hob_graph_remove_node(graph: *mut hob_graph, node: hob_node_id) -> hob_result {
    graph.with(|cell| cell.graph.remove(node.into()))
}

/// Links an output of `source` to an input of `target`.
/// Replaces the input's earlier link. `output` and `input` are numbered from 0.
///
/// HOB_RESULT_INVALID_ARGUMENT: there is no such pin, `target` is of HOB_NODE_CLASS_INPUT, or the link would close a
/// cycle. hob_last_error then names the nodes of the cycle. HOB_RESULT_NOT_FOUND: there is no such node.
/// Threads: exclusive.
#[entry(exclusive, hot, integers, experimental)]
pub extern "C" fn hob_graph_connect(
    graph: *mut hob_graph,
    source: hob_node_id,
    output: u32,
    target: hob_node_id,
    input: u32,
) -> hob_result {
    graph.with(|cell| cell.graph.connect(source.into(), output as usize, target.into(), input as usize))
}

/// Links an output of `source` to an input of `target`, which reads the value of the last frame.
/// Such a link may close a cycle. Before `source` has run, the input has hob_node_output.value of the output. A value
/// that hob_evaluation_desc.only has made since counts as that of the last frame. `source` is evaluated in every frame.
/// Parameters and errors as for hob_graph_connect, and HOB_RESULT_UNSUPPORTED: the output is owned. Threads: exclusive.
#[entry(exclusive, experimental)]
pub extern "C" fn hob_graph_connect_feedback(
    graph: *mut hob_graph,
    source: hob_node_id,
    output: u32,
    target: hob_node_id,
    input: u32,
) -> hob_result {
    graph.with(|cell| cell.graph.connect_feedback(source.into(), output as usize, target.into(), input as usize))
}

/// Removes the link of an input, which has its value without a link again.
/// HOB_RESULT_NOT_FOUND: the input has no link, or there is no such node. Threads: exclusive.
#[entry(exclusive, experimental)]
pub extern "C" fn hob_graph_disconnect(graph: *mut hob_graph, node: hob_node_id, input: u32) -> hob_result {
    graph.with(|cell| cell.graph.disconnect(node.into(), input as usize))
}

/// Sets whether a node is wanted in every frame: 1 or 0.
/// Nodes of HOB_NODE_CLASS_EFFECT are always. HOB_RESULT_INVALID_ARGUMENT: `is_sink` is another number.
/// HOB_RESULT_NOT_FOUND: there is no such node. Threads: exclusive.
#[entry(exclusive, experimental)]
pub extern "C" fn hob_graph_set_sink(graph: *mut hob_graph, node: hob_node_id, is_sink: u32) -> hob_result {
    if is_sink > 1 {
        return Err(error!(InvalidArgument, "is_sink is {is_sink}: pass 1 or 0"));
    }
    graph.with(|cell| cell.graph.set_sink(node.into(), is_sink == 1))
}

// == Experimental: The frame ==

/// Sets an output of a node of HOB_NODE_CLASS_INPUT, or the value of another node's input without a link.
/// `input` is its number. An equal value is no change. Such an edit keeps the plan of the graph.
///
///     hob_value value = hob_value_of_number(seconds);
///     hob_graph_set_input(graph, time, 0, &value);
///
/// HOB_RESULT_INVALID_ARGUMENT: the input has a link, or there is no such pin. HOB_RESULT_NOT_FOUND: there is no such
/// node. Threads: exclusive.
#[entry(exclusive, hot, integers, experimental)]
pub extern "C" fn hob_graph_set_input(
    graph: *mut hob_graph,
    node: hob_node_id,
    input: u32,
    value: *const hob_value,
) -> hob_result {
    graph.with(|cell| cell.graph.set_input(node.into(), input as usize, value))
}

/// Marks a node as changed: it runs in the next frame that wants it.
/// For instance after a change of the data behind its `user_data`. HOB_RESULT_NOT_FOUND: there is no such node.
/// Threads: exclusive.
#[entry(exclusive, experimental)]
pub extern "C" fn hob_graph_invalidate(graph: *mut hob_graph, node: hob_node_id) -> hob_result {
    graph.with(|cell| cell.graph.invalidate(node.into()))
}
