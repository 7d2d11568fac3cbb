// hobgoblin/graph.h: Experimental: Dataflow graphs, which evaluate only what changed.
//
//     // hob_verdict multiply(void *user_data, hob_node_call *call) {
//     //     call->outputs[0].number = call->inputs[0].number * call->inputs[1].number;
//     //     return HOB_VERDICT_DONE;
//     // }
//     hob_graph *graph = NULL;
//     if (hob_graph_create(NULL, &graph) != HOB_RESULT_OK) fail(hob_last_error());
//
//     hob_node_desc desc = HOB_NODE_DESC_INIT;
//     desc.node_class = HOB_NODE_CLASS_INPUT;           /* its value is set by the host */
//     desc.output_count = 1;
//     hob_node_id speed, product;
//     hob_graph_add_node(graph, &desc, &speed);
//
//     desc.node_class = HOB_NODE_CLASS_PURE;            /* it runs only after a change of an input */
//     desc.evaluate = multiply;
//     desc.input_count = 2;
//     desc.flags = HOB_NODE_SINK;                       /* its value is wanted in every frame */
//     hob_graph_add_node(graph, &desc, &product);
//     hob_graph_connect(graph, speed, 0, product, 0);
//     hob_graph_connect(graph, speed, 0, product, 1);
//
//     /* once a frame: */
//     hob_value value = hob_value_of_number(3);
//     hob_graph_set_input(graph, speed, 0, &value);
//     if (hob_graph_evaluate(graph, NULL, NULL, NULL) != HOB_RESULT_OK) fail(hob_last_error());
//     hob_graph_get_value(graph, product, 0, &value);   /* value.number is 9 */
//
// Terms:
// - Node: a function of the host with input and output pins. A pin is numbered from 0 on each side.
// - Link: an output that an input reads. An output may have many links, an input has at most one.
// - Sink: a node that is wanted in every frame. Nodes that no sink depends on do not run.
// - Class: the causes of a change of the outputs, beside the inputs.
// - Cut-off: the rule that decides whether an output changed. Dependants run only after a change.
// - Lazy input: an input whose source is evaluated only if the node asks for it.
// - Feedback link: a link that carries the value of the last frame. It may close a cycle.
// - Frame: one complete evaluation.
//
// docs/graph.md has the details.
//
// Generated from src/ffi/graph; do not edit. MIT OR Apache-2.0.

#ifndef HOBGOBLIN_GRAPH_H
#define HOBGOBLIN_GRAPH_H

#include "base.h"
#include "executor.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- Experimental: Ids ----------------------------------------------------------------------------------------------

/// A node of a graph.
/// All zero is no node.
typedef struct hob_node_id {
    /// Its place, from 1 on; 0 is no node.
    uint32_t index1;
    /// Distinguishes it from earlier nodes at that place.
    uint32_t generation;
} hob_node_id;

// ---- Experimental: Nodes --------------------------------------------------------------------------------------------

/// The causes of a change of a node's outputs, beside its inputs.
typedef enum hob_node_class {
    /// Any, such as the time or a device: it runs in every frame in which a sink depends on it. The default, because
    /// the opposite mistake gives wrong values.
    HOB_NODE_CLASS_VOLATILE = 0,
    /// None: it runs only after a change of an input.
    HOB_NODE_CLASS_PURE = 1,
    /// As HOB_NODE_CLASS_PURE, for a node whose inputs never change: such a node runs once.
    HOB_NODE_CLASS_CONSTANT = 2,
    /// Calls of hob_graph_set_input. It has outputs only, and no callbacks.
    HOB_NODE_CLASS_INPUT = 3,
    /// None, but it has an effect outside of the graph: it is always a sink.
    HOB_NODE_CLASS_EFFECT = 4,
} hob_node_class;

/// When an output counts as changed after its node ran.
/// Otherwise it keeps its old value. The first run is a change. Nodes of HOB_NODE_CLASS_INPUT and feedback links
/// compare the 16 bytes in any case.
typedef enum hob_cutoff {
    /// Its 16 bytes differ.
    HOB_CUTOFF_BYTES = 0,
    /// `words[1]` differs: a generation that the node counts up.
    HOB_CUTOFF_GENERATION = 1,
    /// `number` differs by more than hob_node_output.epsilon, or the other 8 bytes differ. NaN equals NaN.
    HOB_CUTOFF_EPSILON = 2,
    /// Its bytes differ, and hob_node_desc.is_equal returns 0.
    HOB_CUTOFF_CALLBACK = 3,
    /// After every run.
    HOB_CUTOFF_NEVER = 4,
} hob_cutoff;

/// The result of hob_node_desc.evaluate.
/// Another number counts as failed.
typedef enum hob_verdict {
    /// The outputs are written.
    HOB_VERDICT_DONE = 0,
    /// The node needs the lazy inputs in hob_node_call.need. It is called again when they are up to date. A node that
    /// asks only for inputs in hob_node_call.available has failed.
    HOB_VERDICT_NEED = 1,
    /// It failed. Its outputs keep their values, and nodes that depend on it do not run.
    HOB_VERDICT_FAILED = 2,
} hob_verdict;

/// hob_node_input.flags: evaluate the source only if the node asks for it.
/// For the first 64 inputs of a node.
#define HOB_NODE_INPUT_LAZY 1

/// hob_node_input.flags: after a failure of the source, read its last good value.
/// Without it, or without a good value, the node does not run until the source recovers. Then it runs, also if the
/// value is the last one.
#define HOB_NODE_INPUT_HOLD 2

/// hob_node_output.flags: the value is a handle of the host that the graph owns.
/// When a node replaces it, and when the node is removed, the graph passes it to hob_node_desc.release_value. A handle
/// is not all zero.
///
/// Other nodes may pass it on, in outputs that are not owned. It must then differ from all handles before it, but
/// addresses are used again: count up words[1] beside a pointer. Do not read such an output by HOB_NODE_INPUT_HOLD or
/// feedback: the handle may have been released.
#define HOB_NODE_OUTPUT_OWNED 1

/// hob_node_desc.flags: the node is a sink.
/// See hob_graph_set_sink.
#define HOB_NODE_SINK 1

/// An input pin.
typedef struct hob_node_input {
    /// HOB_NODE_INPUT_ bits. Default 0.
    uint32_t flags;
    /// Must be 0.
    uint32_t reserved;
    /// Its value without a link. Default: all zero.
    hob_value value;
} hob_node_input;

/// An output pin.
typedef struct hob_node_output {
    /// When it counts as changed. Default HOB_CUTOFF_BYTES.
    hob_cutoff cutoff;
    /// HOB_NODE_OUTPUT_ bits. Default 0.
    uint32_t flags;
    /// For HOB_CUTOFF_EPSILON: the largest difference that is no change. At least 0.
    double epsilon;
    /// Its value before the first run. Default: all zero.
    hob_value value;
} hob_node_output;

/// Inputs and outputs of a running node: the argument of hob_node_desc.evaluate.
/// All pointers are valid during the call.
typedef struct hob_node_call {
    /// sizeof(hob_node_call) of the library.
    uint32_t struct_size;
    /// Number of inputs.
    uint32_t input_count;
    /// The values of the inputs. A lazy input that is not in `available` may have an old value.
    const hob_value *inputs;
    /// The values of the outputs, which the node overwrites. At first those of the last run; released ones are 0.
    /// Write owned handles only before HOB_VERDICT_DONE: after another verdict they are not released.
    hob_value *outputs;
    /// Number of outputs.
    uint32_t output_count;
    /// Bytes of `message`.
    uint32_t message_capacity;
    /// The lazy inputs that are up to date: bit i for input i. Each run of a node begins with 0.
    uint64_t available;
    /// For HOB_VERDICT_NEED: the lazy inputs that are wanted, bit i for input i. At first 0.
    uint64_t need;
    /// For HOB_VERDICT_FAILED: write the reason here, ended by NUL. At first empty.
    char *message;
    /// For hob_graph_set_memory_limit: write the bytes that the owned outputs hold here. At first 0.
    uint64_t held_bytes;
    /// With `held_bytes`: the time of another run in nanoseconds, for instance on a GPU. At first 0: the duration of
    /// this call.
    double cost_ns;
} hob_node_call;

/// Parameters of a node.
typedef struct hob_node_desc {
    /// sizeof(hob_node_desc).
    uint32_t struct_size;
    /// The causes of a change of its outputs. Default HOB_NODE_CLASS_VOLATILE.
    hob_node_class node_class;
    /// A name for messages. Default empty: messages show its number.
    hob_str name;
    /// The host's name of its type, for hob_graph_load and hob_graph_emit. Default empty.
    hob_str type_name;
    /// Computes the outputs from the inputs. Must be set, except for HOB_NODE_CLASS_INPUT, which has none.
    /// Runs inside hob_graph_evaluate: on its thread, and on threads of its executor. A node runs on one thread at a
    /// time, but several nodes may run at once. It must not call its own graph, except hob_graph_cancel.
    hob_verdict (*evaluate)(void *user_data, hob_node_call *call);
    /// Passed to the callbacks.
    void *user_data;
    /// Called exactly once, when the node is removed or its graph is destroyed, after all other callbacks. May be NULL.
    void (*release)(void *user_data);
    /// For HOB_CUTOFF_CALLBACK: not 0 if the new value counts as equal to the old one. Runs as `evaluate` does.
    uint32_t (*is_equal)(void *user_data, uint32_t output, const hob_value *old_value, const hob_value *new_value);
    /// For HOB_NODE_OUTPUT_OWNED: releases a handle. Runs as `evaluate` does, and in hob_graph_remove_node and
    /// hob_graph_destroy.
    void (*release_value)(void *user_data, uint32_t output, const hob_value *value);
    /// The inputs; copied. NULL: `input_count` inputs with the defaults of hob_node_input.
    const hob_node_input *inputs;
    /// Bytes from one input to the next: sizeof(hob_node_input). Default 0: its first released size.
    size_t input_stride;
    /// Number of inputs. At most 65535 with the outputs.
    size_t input_count;
    /// The outputs; copied. NULL: `output_count` outputs with the defaults of hob_node_output.
    const hob_node_output *outputs;
    /// Bytes from one output to the next: sizeof(hob_node_output). Default 0: its first released size.
    size_t output_stride;
    /// Number of outputs.
    size_t output_count;
    /// HOB_NODE_SINK, or 0. Default 0.
    uint32_t flags;
    /// Must be 0.
    uint32_t reserved;
} hob_node_desc;

// ---- Experimental: Create and destroy -------------------------------------------------------------------------------

/// A graph.
/// A handle: see "Handles" in base.h.
typedef struct hob_graph hob_graph;

/// Parameters of a graph.
typedef struct hob_graph_desc {
    /// sizeof(hob_graph_desc).
    uint32_t struct_size;
    /// Limit of the nodes. Default 0: no limit.
    uint32_t max_nodes;
} hob_graph_desc;

/// Creates an empty graph.
/// `desc` may be NULL: defaults. On success `*out_graph` is the caller's to destroy.
///
///     hob_graph *graph = NULL;
///     if (hob_graph_create(NULL, &graph) != HOB_RESULT_OK) fail(hob_last_error());
///
/// Threads: any.
HOB_NODISCARD HOB_EXPERIMENTAL_API hob_result hob_graph_create(const hob_graph_desc *desc, hob_graph **out_graph);

/// Destroys a graph with its nodes; NULL is allowed.
/// Owned values are released, then each node's `user_data`. Unlike other handles, it is not destroyed inside its own
/// callbacks: the call does nothing there, and hob_last_error says so. Threads: no call on it may run on another
/// thread.
HOB_EXPERIMENTAL_API void hob_graph_destroy(hob_graph *graph);

// ---- Experimental: Nodes and links ----------------------------------------------------------------------------------

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
HOB_EXPERIMENTAL_API hob_result hob_graph_add_node(hob_graph *graph, const hob_node_desc *desc, hob_node_id *out_node);

/// Removes a node and its links.
/// Inputs that read it have their values without a link again. Releases owned values, then `user_data`.
/// HOB_RESULT_NOT_FOUND: there is no such node. Threads: exclusive.
///
/// Callbacks: `release_value` and `release`, on this thread. There, calls on this graph return HOB_RESULT_BUSY.
HOB_EXPERIMENTAL_API hob_result hob_graph_remove_node(hob_graph *graph, hob_node_id node);

/// Links an output of `source` to an input of `target`.
/// Replaces the input's earlier link. `output` and `input` are numbered from 0.
///
/// HOB_RESULT_INVALID_ARGUMENT: there is no such pin, `target` is of HOB_NODE_CLASS_INPUT, or the link would close a
/// cycle. hob_last_error then names the nodes of the cycle. HOB_RESULT_NOT_FOUND: there is no such node.
/// Threads: exclusive.
HOB_EXPERIMENTAL_API hob_result hob_graph_connect(
    hob_graph *graph, hob_node_id source, uint32_t output, hob_node_id target, uint32_t input);

/// Links an output of `source` to an input of `target`, which reads the value of the last frame.
/// Such a link may close a cycle. Before `source` has run, the input has hob_node_output.value of the output. A value
/// that hob_evaluation_desc.only has made since counts as that of the last frame. `source` is evaluated in every frame.
/// Parameters and errors as for hob_graph_connect, and HOB_RESULT_UNSUPPORTED: the output is owned. Threads: exclusive.
HOB_EXPERIMENTAL_API hob_result hob_graph_connect_feedback(
    hob_graph *graph, hob_node_id source, uint32_t output, hob_node_id target, uint32_t input);

/// Removes the link of an input, which has its value without a link again.
/// HOB_RESULT_NOT_FOUND: the input has no link, or there is no such node. Threads: exclusive.
HOB_EXPERIMENTAL_API hob_result hob_graph_disconnect(hob_graph *graph, hob_node_id node, uint32_t input);

/// Sets whether a node is wanted in every frame: 1 or 0.
/// Nodes of HOB_NODE_CLASS_EFFECT are always. HOB_RESULT_INVALID_ARGUMENT: `is_sink` is another number.
/// HOB_RESULT_NOT_FOUND: there is no such node. Threads: exclusive.
HOB_EXPERIMENTAL_API hob_result hob_graph_set_sink(hob_graph *graph, hob_node_id node, uint32_t is_sink);

// ---- Experimental: The frame ----------------------------------------------------------------------------------------

/// Sets an output of a node of HOB_NODE_CLASS_INPUT, or the value of another node's input without a link.
/// `input` is its number. An equal value is no change. Such an edit keeps the plan of the graph.
///
///     hob_value value = hob_value_of_number(seconds);
///     hob_graph_set_input(graph, time, 0, &value);
///
/// HOB_RESULT_INVALID_ARGUMENT: the input has a link, or there is no such pin. HOB_RESULT_NOT_FOUND: there is no such
/// node. Threads: exclusive.
HOB_EXPERIMENTAL_API hob_result hob_graph_set_input(
    hob_graph *graph, hob_node_id node, uint32_t input, const hob_value *value);

/// Marks a node as changed: it runs in the next frame that wants it.
/// For instance after a change of the data behind its `user_data`. HOB_RESULT_NOT_FOUND: there is no such node.
/// Threads: exclusive.
HOB_EXPERIMENTAL_API hob_result hob_graph_invalidate(hob_graph *graph, hob_node_id node);

/// How an evaluation finds the nodes to run.
/// All evaluators give the same values and run the same nodes.
typedef enum hob_evaluator {
    /// The fitting one: HOB_EVALUATOR_LAZY in the first frames after an edit, then another.
    HOB_EVALUATOR_AUTO = 0,
    /// Recursion from the sinks. It serves at once after an edit.
    HOB_EVALUATOR_LAZY = 1,
    /// A list of all nodes that sinks depend on.
    HOB_EVALUATOR_LIST = 2,
    /// The set of the nodes that changed. The fastest on one thread.
    HOB_EVALUATOR_BITSET = 3,
    /// As HOB_EVALUATOR_BITSET, on the threads of the executor: nodes that take long enough run at the same time.
    /// Nodes with lazy inputs, and nodes that only lazy inputs ask for, run on the calling thread.
    HOB_EVALUATOR_PARALLEL = 4,
} hob_evaluator;

/// Parameters of an evaluation.
typedef struct hob_evaluation_desc {
    /// sizeof(hob_evaluation_desc).
    uint32_t struct_size;
    /// Default HOB_EVALUATOR_AUTO.
    hob_evaluator evaluator;
    /// Limit of the nodes that run. The next evaluation goes on with the frame. Default 0: no limit.
    uint64_t node_limit;
    /// Brings only this node up to date, by HOB_EVALUATOR_LAZY on this thread. It is no frame: nodes of
    /// HOB_NODE_CLASS_VOLATILE and feedback links keep the values of the last frame. Default all zero: all sinks.
    hob_node_id only;
} hob_evaluation_desc;

/// Counts of one evaluation.
/// An answer: set struct_size, or begin with HOB_EVALUATION_SUMMARY_INIT.
typedef struct hob_evaluation_summary {
    /// sizeof(hob_evaluation_summary).
    uint32_t struct_size;
    /// 1: all sinks are up to date, or hob_evaluation_desc.only is. 0: it was cancelled or reached its limit, and the
    /// next evaluation goes on.
    uint32_t is_complete;
    /// The evaluator that was used.
    hob_evaluator evaluator;
    /// Must be 0.
    uint32_t reserved;
    /// Nodes that ran. Includes failed nodes, and nodes of HOB_NODE_CLASS_INPUT that were set.
    uint64_t runs;
    /// Runs that ended with HOB_VERDICT_NEED. `runs` does not include them.
    uint64_t requests;
    /// Nodes that have failed, or do not run because of one that has. Nodes that no sink depends on any more keep their
    /// last state.
    uint64_t broken;
    /// Inputs that HOB_EVALUATOR_LAZY examined. The others use it for lazy inputs.
    uint64_t examined_inputs;
} hob_evaluation_summary;

/// Brings all sinks up to date: one frame.
/// `executor` may be NULL: only this thread runs nodes. `desc` may be NULL: defaults. `out_summary` may be NULL.
///
///     hob_evaluation_summary summary = HOB_EVALUATION_SUMMARY_INIT;
///     if (hob_graph_evaluate(graph, executor, NULL, &summary) != HOB_RESULT_OK) fail(hob_last_error());
///     if (summary.broken > 0) report_failures();
///
/// HOB_RESULT_OK also if nodes have failed, or if it was cancelled. HOB_RESULT_NOT_FOUND: `desc->only` does not exist.
/// Does not allocate, apart from the first frames after an edit and after a change of the executor, and for the
/// messages of more nodes that fail.
///
/// Threads: exclusive. Callbacks: the nodes' `evaluate`, `is_equal` and `release_value`, on this thread and those of
/// the executor, in this thread's floating-point environment. There, all calls on this graph except hob_graph_cancel
/// return HOB_RESULT_BUSY.
HOB_EXPERIMENTAL_API hob_result hob_graph_evaluate(
    hob_graph *graph, const hob_executor *executor, const hob_evaluation_desc *desc,
    hob_evaluation_summary *out_summary);

/// Ends the running evaluation before its next node, or else the next evaluation before its first one.
/// The evaluation after it goes on with the frame. Threads: any, also inside nodes.
HOB_EXPERIMENTAL_API hob_result hob_graph_cancel(const hob_graph *graph);

/// Gets the value of an output after the last evaluation.
/// After a failure of its node: the last good value, or all zero if it failed after a release. HOB_RESULT_NOT_FOUND:
/// there is no such node, or its value was released, see hob_graph_set_memory_limit; sinks keep theirs.
/// HOB_RESULT_INVALID_ARGUMENT: there is no such output. Threads: shared.
HOB_EXPERIMENTAL_API hob_result hob_graph_get_value(
    const hob_graph *graph, hob_node_id node, uint32_t output, hob_value *out_value);

// ---- Experimental: Failures -----------------------------------------------------------------------------------------

/// Gets the reason of a node's failure, without a NUL.
/// `*out_source` receives the node that failed: this one, or one that it depends on. `out_source` may be NULL. Without
/// a failure, the text is empty and `*out_source` is all zero.
///
/// `*out_size` receives the required size. `buffer` NULL asks only for that. If `capacity` is too small, the result is
/// HOB_RESULT_BUFFER_TOO_SMALL. HOB_RESULT_NOT_FOUND: there is no such node. Threads: shared.
HOB_EXPERIMENTAL_API hob_result hob_graph_get_failure(
    const hob_graph *graph, hob_node_id node, char *buffer, size_t capacity, size_t *out_size, hob_node_id *out_source);

/// Gets the path from a broken node to the failed node, both included.
/// `*out_count` receives their number, 0 without a failure. `nodes` NULL asks only for that. `node_stride` is
/// sizeof(hob_node_id). If `capacity` is too small, the result is HOB_RESULT_BUFFER_TOO_SMALL. HOB_RESULT_NOT_FOUND:
/// there is no such node. Threads: shared.
HOB_EXPERIMENTAL_API hob_result hob_graph_get_failure_path(
    const hob_graph *graph, hob_node_id node, hob_node_id *nodes, size_t node_stride, size_t capacity,
    size_t *out_count);

// ---- Experimental: Reasons ------------------------------------------------------------------------------------------

/// Why a node ran in the last evaluation, or did not.
typedef enum hob_node_why {
    /// It did not run: no input changed.
    HOB_NODE_WHY_NO_CHANGE = 0,
    /// It did not run: no sink depends on it.
    HOB_NODE_WHY_NO_SINK = 1,
    /// It did not run: sinks depend on it only through `input` of `node`, which is lazy and was not asked for.
    HOB_NODE_WHY_NOT_ASKED = 2,
    /// It did not run: it depends on `node`, which failed.
    HOB_NODE_WHY_BROKEN = 3,
    /// It did not run: the evaluation ended before.
    HOB_NODE_WHY_WAITS = 4,
    /// It ran: it is volatile.
    HOB_NODE_WHY_VOLATILE = 5,
    /// It ran: its `input` changed, or the source of it recovered.
    HOB_NODE_WHY_CHANGED = 6,
    /// It ran: it was new, edited, set or invalidated.
    /// Or an input had changed while no sink asked for it, or a feedback link passed on a change.
    HOB_NODE_WHY_EDITED = 7,
    /// It ran: `node` read its value, which had been released; see hob_graph_set_memory_limit.
    HOB_NODE_WHY_RESTORED = 8,
} hob_node_why;

/// Why a node ran or did not.
/// An answer: set struct_size, or begin with HOB_NODE_REASON_INIT.
typedef struct hob_node_reason {
    /// sizeof(hob_node_reason).
    uint32_t struct_size;
    /// The kind of reason.
    hob_node_why why;
    /// Another node, if `why` names one. Otherwise all zero.
    hob_node_id node;
    /// An input, if `why` names one. Otherwise 0.
    uint32_t input;
    /// Must be 0.
    uint32_t reserved;
} hob_node_reason;

/// Gets why a node ran in the last evaluation, or did not.
/// May examine all nodes that depend on it. HOB_RESULT_NOT_FOUND: there is no such node. Threads: shared.
HOB_EXPERIMENTAL_API hob_result hob_graph_get_reason(
    const hob_graph *graph, hob_node_id node, hob_node_reason *out_reason);

/// Gets the sentence of hob_graph_get_reason, without a NUL.
/// For instance: "data" did not run: input 0 of "builder" is lazy, and was not asked for.
///
/// `*out_size` receives the required size. `buffer` NULL asks only for that. If `capacity` is too small, the result is
/// HOB_RESULT_BUFFER_TOO_SMALL. HOB_RESULT_NOT_FOUND: there is no such node. Threads: shared.
HOB_EXPERIMENTAL_API hob_result hob_graph_get_reason_text(
    const hob_graph *graph, hob_node_id node, char *buffer, size_t capacity, size_t *out_size);

// ---- Experimental: Statistics ---------------------------------------------------------------------------------------

/// Counts of a graph since it was created.
/// An answer: set struct_size, or begin with HOB_GRAPH_STATISTICS_INIT.
typedef struct hob_graph_statistics {
    /// sizeof(hob_graph_statistics).
    uint32_t struct_size;
    /// Must be 0.
    uint32_t reserved;
    /// Nodes now.
    uint64_t nodes;
    /// Links now, feedback links included.
    uint64_t links;
    /// Evaluations.
    uint64_t evaluations;
    /// Complete frames.
    uint64_t frames;
    /// Runs of nodes, without those that ended with HOB_VERDICT_NEED.
    uint64_t runs;
    /// Runs that ended with HOB_VERDICT_NEED.
    uint64_t requests;
    /// Blocks of nodes that were given to an executor.
    uint64_t blocks;
    /// Bytes of memory held, without what values and `user_data` refer to.
    uint64_t memory_used;
    /// Bytes that owned outputs hold now, by hob_node_call.held_bytes. 0 before the first limit.
    uint64_t held_bytes;
    /// Nodes whose values were released to keep the limit.
    uint64_t releases;
    /// Runs that only brought a released value back. `runs` includes them.
    uint64_t restores;
} hob_graph_statistics;

/// Gets the counts of a graph.
/// Threads: shared.
HOB_EXPERIMENTAL_API hob_result hob_graph_get_statistics(const hob_graph *graph, hob_graph_statistics *out_statistics);

/// Counts of a node since it was added.
/// An answer: set struct_size, or begin with HOB_NODE_STATISTICS_INIT.
typedef struct hob_node_statistics {
    /// sizeof(hob_node_statistics).
    uint32_t struct_size;
    /// Must be 0.
    uint32_t reserved;
    /// Runs, without those that ended with HOB_VERDICT_NEED.
    uint64_t runs;
    /// Mean duration of a run in nanoseconds, measured in the second run and in every 64th after it. 0: not known.
    double mean_ns;
    /// Bytes that its owned outputs hold now. 0 before the first limit.
    uint64_t held_bytes;
} hob_node_statistics;

/// Gets the counts of a node.
/// HOB_RESULT_NOT_FOUND: there is no such node. Threads: shared.
HOB_EXPERIMENTAL_API hob_result hob_graph_get_node_statistics(
    const hob_graph *graph, hob_node_id node, hob_node_statistics *out_statistics);

/// Gets the number of a node's runs, without those that ended with HOB_VERDICT_NEED.
/// HOB_RESULT_NOT_FOUND: there is no such node. Threads: shared.
HOB_EXPERIMENTAL_API hob_result hob_graph_get_node_runs(const hob_graph *graph, hob_node_id node, uint64_t *out_runs);

// ---- Experimental: Memory of values ---------------------------------------------------------------------------------

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
HOB_EXPERIMENTAL_API hob_result hob_graph_set_memory_limit(hob_graph *graph, uint64_t bytes);

// ---- Experimental: Audit --------------------------------------------------------------------------------------------

/// A node of HOB_NODE_CLASS_PURE or HOB_NODE_CLASS_CONSTANT that gave other outputs for the same inputs.
typedef struct hob_graph_finding {
    /// The node. It depends on something that is not an input: time, state, or another node.
    hob_node_id node;
    /// The output that differs.
    uint32_t output;
    /// Evaluations between both runs.
    uint32_t evaluations;
    /// The value of the first run.
    hob_value before;
    /// The value of the second run. All zero also if that failed or asked for other inputs.
    hob_value after;
} hob_graph_finding;

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
HOB_EXPERIMENTAL_API hob_result hob_graph_set_audit(hob_graph *graph, double share);

/// Gets the findings of the audit: the first one of each node, at most 64.
/// `*out_count` receives their number. `findings` NULL asks only for that. `finding_stride` is
/// sizeof(hob_graph_finding). If `capacity` is too small, the result is HOB_RESULT_BUFFER_TOO_SMALL. Threads: shared.
HOB_EXPERIMENTAL_API hob_result hob_graph_get_findings(
    const hob_graph *graph, hob_graph_finding *findings, size_t finding_stride, size_t capacity, size_t *out_count);

// ---- Experimental: Bake ---------------------------------------------------------------------------------------------

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
HOB_EXPERIMENTAL_API hob_result hob_graph_bake(
    const hob_graph *graph, const hob_node_id *keep, size_t keep_stride, size_t keep_count, hob_graph **out_graph);

/// Gets the node that was made of another graph's node, by hob_graph_bake or hob_graph_load.
/// `original` is the node's id in the graph that was baked or saved. HOB_RESULT_NOT_FOUND: there is no such node, for
/// instance because baking removed it, or the copy was removed. Threads: shared.
HOB_EXPERIMENTAL_API hob_result hob_graph_get_copy(const hob_graph *graph, hob_node_id original, hob_node_id *out_node);

// ---- Experimental: Graphs as text -----------------------------------------------------------------------------------

/// Saves nodes and links as JSON, without a NUL.
/// For hob_graph_load and for tools. Functions are named by hob_node_desc.type_name. Saved values are those of
/// HOB_NODE_CLASS_INPUT and of inputs without a link, pointers in them as numbers. Other values of outputs, those of
/// feedback links, and counts are not saved.
///
/// `*out_size` receives the required size. `buffer` NULL asks only for that. If `capacity` is too small, the result is
/// HOB_RESULT_BUFFER_TOO_SMALL. Threads: shared.
HOB_EXPERIMENTAL_API hob_result hob_graph_save_json(
    const hob_graph *graph, char *buffer, size_t capacity, size_t *out_size);

/// Saves a picture of the graph for Graphviz, in the language DOT, without a NUL.
/// Lazy links are dashed, feedback links are dotted, sinks have a double border, and nodes that failed are red.
///
/// `*out_size`, `buffer` and `capacity` are as for hob_graph_save_json. Threads: shared.
HOB_EXPERIMENTAL_API hob_result hob_graph_save_dot(
    const hob_graph *graph, char *buffer, size_t capacity, size_t *out_size);

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
HOB_EXPERIMENTAL_API hob_result hob_graph_load(
    const void *json, size_t size, uint32_t (*resolve)(void *user_data, uint32_t id, hob_node_desc *desc),
    void *user_data, hob_graph **out_graph);

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
HOB_EXPERIMENTAL_API hob_result hob_graph_emit(
    const hob_graph *graph, hob_str prefix, char *buffer, size_t capacity, size_t *out_size);

/// Gets the nodes in the order of their numbers in the source of hob_graph_emit: each after those that it reads.
/// `*out_count` receives their number. `nodes` NULL asks only for that. `node_stride` is sizeof(hob_node_id). If
/// `capacity` is too small, the result is HOB_RESULT_BUFFER_TOO_SMALL. Errors as for hob_graph_emit. Threads: shared.
HOB_EXPERIMENTAL_API hob_result hob_graph_get_emitted_nodes(
    const hob_graph *graph, hob_node_id *nodes, size_t node_stride, size_t capacity, size_t *out_count);

// ---- Initialisers ---------------------------------------------------------------------------------------------------
//
// HOB_X_INIT is a hob_x with the library's defaults and this header's size: `hob_x value = HOB_X_INIT;`
// hob_x_init does the same for other languages: `size` is sizeof(hob_x).

HOB_EXPERIMENTAL_API hob_result hob_node_call_init(hob_node_call *value, uint32_t size);
static inline hob_node_call hob_node_call_default(void) {
    hob_node_call value;
    (void)hob_node_call_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_NODE_CALL_INIT (hob_node_call_default())

HOB_EXPERIMENTAL_API hob_result hob_node_desc_init(hob_node_desc *value, uint32_t size);
static inline hob_node_desc hob_node_desc_default(void) {
    hob_node_desc value;
    (void)hob_node_desc_init(&value, (uint32_t)sizeof(value));
    value.input_stride = sizeof(hob_node_input);
    value.output_stride = sizeof(hob_node_output);
    return value;
}
#define HOB_NODE_DESC_INIT (hob_node_desc_default())

HOB_EXPERIMENTAL_API hob_result hob_graph_desc_init(hob_graph_desc *value, uint32_t size);
static inline hob_graph_desc hob_graph_desc_default(void) {
    hob_graph_desc value;
    (void)hob_graph_desc_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_GRAPH_DESC_INIT (hob_graph_desc_default())

HOB_EXPERIMENTAL_API hob_result hob_evaluation_desc_init(hob_evaluation_desc *value, uint32_t size);
static inline hob_evaluation_desc hob_evaluation_desc_default(void) {
    hob_evaluation_desc value;
    (void)hob_evaluation_desc_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_EVALUATION_DESC_INIT (hob_evaluation_desc_default())

HOB_EXPERIMENTAL_API hob_result hob_evaluation_summary_init(hob_evaluation_summary *value, uint32_t size);
static inline hob_evaluation_summary hob_evaluation_summary_default(void) {
    hob_evaluation_summary value;
    (void)hob_evaluation_summary_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_EVALUATION_SUMMARY_INIT (hob_evaluation_summary_default())

HOB_EXPERIMENTAL_API hob_result hob_node_reason_init(hob_node_reason *value, uint32_t size);
static inline hob_node_reason hob_node_reason_default(void) {
    hob_node_reason value;
    (void)hob_node_reason_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_NODE_REASON_INIT (hob_node_reason_default())

HOB_EXPERIMENTAL_API hob_result hob_graph_statistics_init(hob_graph_statistics *value, uint32_t size);
static inline hob_graph_statistics hob_graph_statistics_default(void) {
    hob_graph_statistics value;
    (void)hob_graph_statistics_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_GRAPH_STATISTICS_INIT (hob_graph_statistics_default())

HOB_EXPERIMENTAL_API hob_result hob_node_statistics_init(hob_node_statistics *value, uint32_t size);
static inline hob_node_statistics hob_node_statistics_default(void) {
    hob_node_statistics value;
    (void)hob_node_statistics_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_NODE_STATISTICS_INIT (hob_node_statistics_default())

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // HOBGOBLIN_GRAPH_H
