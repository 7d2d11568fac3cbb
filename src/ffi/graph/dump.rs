//! Graphs as text.

use std::ffi::{c_char, c_void};

use hobgoblin_macros::entry;

use super::create::{GraphCell, hob_graph};
use super::host_node::{Calls, HostNode};
use super::node::{HOB_NODE_SINK, hob_node_class, hob_node_desc, hob_node_input, hob_node_output};
use super::value::hob_node_id;
use crate::base::{Result, Shared, error, try_collect};
use crate::ffi::base::guard::call_host;
use crate::ffi::base::result::hob_result;
use crate::ffi::base::structs::Versioned;
use crate::ffi::base::text::hob_str;
use crate::ffi::base::user_data::UserData;
use crate::graph::{Class, Cutoff, Graph, NodeText};

// == Experimental: Graphs as text ==

/// Saves nodes and links as JSON, without a NUL.
/// For hob_graph_load and for tools. Functions are named by hob_node_desc.type_name. Saved values are those of
/// HOB_NODE_CLASS_INPUT and of inputs without a link, pointers in them as numbers. Other values of outputs, those of
/// feedback links, and counts are not saved.
///
/// `*out_size` receives the required size. `buffer` NULL asks only for that. If `capacity` is too small, the result is
/// HOB_RESULT_BUFFER_TOO_SMALL. Threads: shared.
#[entry(shared, experimental)]
pub extern "C" fn hob_graph_save_json(
    graph: *const hob_graph,
    buffer: *mut c_char,
    capacity: usize,
    out_size: *mut usize,
) -> hob_result {
    buffer.fill(graph.graph.json_size(), |bytes| graph.graph.to_json(bytes))
}

/// Saves a picture of the graph for Graphviz, in the language DOT, without a NUL.
/// Lazy links are dashed, feedback links are dotted, sinks have a double border, and nodes that failed are red.
///
/// `*out_size`, `buffer` and `capacity` are as for hob_graph_save_json. Threads: shared.
#[entry(shared, experimental)]
pub extern "C" fn hob_graph_save_dot(
    graph: *const hob_graph,
    buffer: *mut c_char,
    capacity: usize,
    out_size: *mut usize,
) -> hob_result {
    buffer.fill(graph.graph.dot_size(), |bytes| graph.graph.to_dot(bytes))
}

/// Makes a graph of the JSON of hob_graph_save_json.
/// `resolve` is called for each node but those of HOB_NODE_CLASS_INPUT. `id` is the index1 that the node had. `desc`
/// has its class, names, flags and pins; set `evaluate`, and the other callbacks and `user_data` if it needs them.
/// Other changes of `desc` are ignored. Refuse numbers of pins that the type cannot have. Return 1, or 0 if the type is
/// unknown.
///
/// On success `*out_graph` is the caller's to destroy, and hob_graph_get_copy gets the nodes by their old ids.
///
///     /* uint32_t resolve(void *types, uint32_t id, hob_node_desc *desc) {
///            desc->evaluate = find(types, desc->type_name);
///            return desc->evaluate != NULL;
///        } */
///     if (hob_graph_load(text, size, resolve, types, &graph) != HOB_RESULT_OK) fail(hob_last_error());
///
/// Values in a text from elsewhere may be anything: do not use them as pointers. If loading fails after `resolve`
/// returned 1, `user_data` is released. HOB_RESULT_NOT_FOUND: `resolve` returned 0. HOB_RESULT_INVALID_ARGUMENT: it
/// left out a callback. HOB_RESULT_MALFORMED: the text is no such JSON, or has a node or a link that the graph refuses;
/// hob_last_error names the line. Threads: any. Callbacks: `resolve`, and `release` after a failure, inside this call.
#[entry(any, experimental)]
#[must_use]
pub extern "C" fn hob_graph_load(
    json: *const c_void,
    size: usize,
    resolve: Option<extern "C" fn(user_data: *mut c_void, id: u32, desc: *mut hob_node_desc) -> u32>,
    user_data: *mut c_void,
    out_graph: *mut *mut hob_graph,
) -> hob_result {
    let resolve = resolve.ok_or_else(|| error!(InvalidArgument, "resolve is NULL: pass a function"))?;
    let calls = Shared::try_new(Calls::default())?;
    let loaded = Graph::load(json, |node| {
        let options = node.options;
        let inputs = try_collect(options.inputs.iter().map(hob_node_input::from))?;
        let outputs = try_collect(options.outputs.iter().map(hob_node_output::from))?;
        let mut desc = described(node, &inputs, &outputs);
        if call_host(|| resolve(user_data, node.id, &raw mut desc)) == 0 {
            let (id, kind) = (node.id, node.options.kind);
            return Err(error!(NotFound, "resolve returned 0 for node {id}, of type {kind:?}"));
        }
        // SAFETY: `calls` is older than the graph, and so dropped after it, here and in `handle`.
        unsafe { resolved(node, &desc, &calls) }
    })?;
    out_graph.write(GraphCell::handle(calls, loaded.graph, usize::MAX, &loaded.nodes)?);
    Ok(())
}

/// Gets the graph as C99 source, without a NUL, which calls the functions of the nodes.
/// It gives the values of the graph, runs the same nodes, and needs only the headers of hobgoblin.
/// hob_node_desc.type_name is the name of a node's function; `prefix` starts all other names.
///
///     size_t size = 0;
///     hob_graph_emit(graph, HOB_STR("patch"), NULL, 0, &size);
///     char *source = malloc(size);
///     if (hob_graph_emit(graph, HOB_STR("patch"), source, size, &size) != HOB_RESULT_OK) fail(hob_last_error());
///     fwrite(source, 1, size, file); /* patch_init, patch_evaluate, patch_set_input and more */
///
/// Usually a baked graph is written. All nodes run in the first frame. Failures are not kept, and nodes that no sink
/// depends on are omitted. docs/graph.md lists the functions. Buffer and result as for hob_graph_save_json.
///
/// HOB_RESULT_INVALID_ARGUMENT: a name cannot be used in C, or the last evaluation was not complete.
/// HOB_RESULT_UNSUPPORTED: an output is owned, or has HOB_CUTOFF_CALLBACK. Threads: shared.
#[entry(shared, experimental)]
pub extern "C" fn hob_graph_emit(
    graph: *const hob_graph,
    prefix: hob_str,
    buffer: *mut c_char,
    capacity: usize,
    out_size: *mut usize,
) -> hob_result {
    let source = graph.graph.emit(prefix.text()?)?;
    buffer.text(&source)
}

/// Gets the nodes in the order of their numbers in the source of hob_graph_emit: each after those that it reads.
/// `*out_count` receives their number. `nodes` NULL asks only for that. `node_stride` is sizeof(hob_node_id). If
/// `capacity` is too small, the result is HOB_RESULT_BUFFER_TOO_SMALL. Errors as for hob_graph_emit. Threads: shared.
#[entry(shared, experimental)]
pub extern "C" fn hob_graph_get_emitted_nodes(
    graph: *const hob_graph,
    nodes: *mut hob_node_id,
    node_stride: usize,
    capacity: usize,
    out_count: *mut usize,
) -> hob_result {
    let emitted = graph.graph.emitted_nodes()?;
    nodes.fill(emitted.into_iter().map(Into::into))
}

/// A node, as `resolve` gets it.
fn described(node: &NodeText<'_>, inputs: &[hob_node_input], outputs: &[hob_node_output]) -> hob_node_desc {
    let options = node.options;
    hob_node_desc {
        node_class: match options.class {
            Class::Volatile => hob_node_class::Volatile,
            Class::Pure => hob_node_class::Pure,
            Class::Constant => hob_node_class::Constant,
            Class::Input => hob_node_class::Input,
            Class::Effect => hob_node_class::Effect,
        },
        name: hob_str::from(options.name),
        type_name: hob_str::from(options.kind),
        inputs: inputs.as_ptr(),
        input_stride: size_of::<hob_node_input>(),
        input_count: inputs.len(),
        outputs: outputs.as_ptr(),
        output_stride: size_of::<hob_node_output>(),
        output_count: outputs.len(),
        flags: if options.is_sink { HOB_NODE_SINK } else { 0 },
        ..hob_node_desc::defaults()
    }
}

/// The node with the callbacks of `resolve`.
///
/// # Safety
/// As [`HostNode::new`].
unsafe fn resolved(node: &NodeText<'_>, desc: &hob_node_desc, calls: &Shared<Calls>) -> Result<HostNode> {
    // Released if the node is refused.
    let owned = UserData::owned(desc.user_data, desc.release);
    let refused = |missing: &str| {
        let id = node.id;
        Err(error!(InvalidArgument, "resolve has set no {missing} for node {id}: it needs one"))
    };
    let Some(evaluate) = desc.evaluate else { return refused("evaluate") };
    let outputs = node.options.outputs;
    if desc.release_value.is_none() && outputs.iter().any(|output| output.is_owned) {
        return refused("release_value");
    }
    if desc.is_equal.is_none() && outputs.iter().any(|output| output.cutoff == Cutoff::Callback) {
        return refused("is_equal");
    }
    // SAFETY: by this function's contract.
    let (host_node, owner) = unsafe { HostNode::new(desc, evaluate, calls) }?;
    owner.iter().for_each(|owner| owner.own());
    std::mem::forget(owned);
    Ok(host_node)
}
