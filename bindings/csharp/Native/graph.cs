// hobgoblin/graph.h: Experimental: Dataflow graphs, which evaluate only what changed.
// Generated from abi/hobgoblin-api.json; do not edit. MIT OR Apache-2.0.

using System;
using System.Runtime.InteropServices;

namespace Hobgoblin.Interop
{
    /// <summary>The numeric macros of the headers.</summary>
    public static partial class Constants
    {
        /// <summary>Experimental: hob_node_input.flags: evaluate the source only if the node asks for it.</summary>
        /// <remarks>
        /// For the first 64 inputs of a node.
        /// </remarks>
        public const uint HOB_NODE_INPUT_LAZY = 1;

        /// <summary>Experimental: hob_node_input.flags: after a failure of the source, read its last good value.</summary>
        /// <remarks>
        /// Without it, or without a good value, the node does not run until the source recovers. Then it runs, also if the
        /// value is the last one.
        /// </remarks>
        public const uint HOB_NODE_INPUT_HOLD = 2;

        /// <summary>Experimental: hob_node_output.flags: the value is a handle of the host that the graph owns.</summary>
        /// <remarks>
        /// When a node replaces it, and when the node is removed, the graph passes it to hob_node_desc.release_value. A handle
        /// is not all zero.
        /// <para/>
        /// Other nodes may pass it on, in outputs that are not owned. It must then differ from all handles before it, but
        /// addresses are used again: count up words[1] beside a pointer. Do not read such an output by HOB_NODE_INPUT_HOLD or
        /// feedback: the handle may have been released.
        /// </remarks>
        public const uint HOB_NODE_OUTPUT_OWNED = 1;

        /// <summary>Experimental: hob_node_desc.flags: the node is a sink.</summary>
        /// <remarks>
        /// See hob_graph_set_sink.
        /// </remarks>
        public const uint HOB_NODE_SINK = 1;
    }

    /// <summary>Experimental: The causes of a change of a node's outputs, beside its inputs.</summary>
    public enum hob_node_class : uint
    {
        /// <summary>Any, such as the time or a device: it runs in every frame in which a sink depends on it. The default, because
        /// the opposite mistake gives wrong values.</summary>
        HOB_NODE_CLASS_VOLATILE = 0,

        /// <summary>None: it runs only after a change of an input.</summary>
        HOB_NODE_CLASS_PURE = 1,

        /// <summary>As HOB_NODE_CLASS_PURE, for a node whose inputs never change: such a node runs once.</summary>
        HOB_NODE_CLASS_CONSTANT = 2,

        /// <summary>Calls of hob_graph_set_input. It has outputs only, and no callbacks.</summary>
        HOB_NODE_CLASS_INPUT = 3,

        /// <summary>None, but it has an effect outside of the graph: it is always a sink.</summary>
        HOB_NODE_CLASS_EFFECT = 4,
    }

    /// <summary>Experimental: When an output counts as changed after its node ran.</summary>
    /// <remarks>
    /// Otherwise it keeps its old value. The first run is a change. Nodes of HOB_NODE_CLASS_INPUT and feedback links
    /// compare the 16 bytes in any case.
    /// </remarks>
    public enum hob_cutoff : uint
    {
        /// <summary>Its 16 bytes differ.</summary>
        HOB_CUTOFF_BYTES = 0,

        /// <summary><c>words[1]</c> differs: a generation that the node counts up.</summary>
        HOB_CUTOFF_GENERATION = 1,

        /// <summary><c>number</c> differs by more than hob_node_output.epsilon, or the other 8 bytes differ. NaN equals NaN.</summary>
        HOB_CUTOFF_EPSILON = 2,

        /// <summary>Its bytes differ, and hob_node_desc.is_equal returns 0.</summary>
        HOB_CUTOFF_CALLBACK = 3,

        /// <summary>After every run.</summary>
        HOB_CUTOFF_NEVER = 4,
    }

    /// <summary>Experimental: The result of hob_node_desc.evaluate.</summary>
    /// <remarks>
    /// Another number counts as failed.
    /// </remarks>
    public enum hob_verdict : uint
    {
        /// <summary>The outputs are written.</summary>
        HOB_VERDICT_DONE = 0,

        /// <summary>The node needs the lazy inputs in hob_node_call.need. It is called again when they are up to date. A node that
        /// asks only for inputs in hob_node_call.available has failed.</summary>
        HOB_VERDICT_NEED = 1,

        /// <summary>It failed. Its outputs keep their values, and nodes that depend on it do not run.</summary>
        HOB_VERDICT_FAILED = 2,
    }

    /// <summary>Experimental: How an evaluation finds the nodes to run.</summary>
    /// <remarks>
    /// All evaluators give the same values and run the same nodes.
    /// </remarks>
    public enum hob_evaluator : uint
    {
        /// <summary>The fitting one: HOB_EVALUATOR_LAZY in the first frames after an edit, then another.</summary>
        HOB_EVALUATOR_AUTO = 0,

        /// <summary>Recursion from the sinks. It serves at once after an edit.</summary>
        HOB_EVALUATOR_LAZY = 1,

        /// <summary>A list of all nodes that sinks depend on.</summary>
        HOB_EVALUATOR_LIST = 2,

        /// <summary>The set of the nodes that changed. The fastest on one thread.</summary>
        HOB_EVALUATOR_BITSET = 3,

        /// <summary>As HOB_EVALUATOR_BITSET, on the threads of the executor: nodes that take long enough run at the same time.</summary>
        /// <remarks>
        /// Nodes with lazy inputs, and nodes that only lazy inputs ask for, run on the calling thread.
        /// </remarks>
        HOB_EVALUATOR_PARALLEL = 4,
    }

    /// <summary>Experimental: Why a node ran in the last evaluation, or did not.</summary>
    public enum hob_node_why : uint
    {
        /// <summary>It did not run: no input changed.</summary>
        HOB_NODE_WHY_NO_CHANGE = 0,

        /// <summary>It did not run: no sink depends on it.</summary>
        HOB_NODE_WHY_NO_SINK = 1,

        /// <summary>It did not run: sinks depend on it only through <c>input</c> of <c>node</c>, which is lazy and was not asked for.</summary>
        HOB_NODE_WHY_NOT_ASKED = 2,

        /// <summary>It did not run: it depends on <c>node</c>, which failed.</summary>
        HOB_NODE_WHY_BROKEN = 3,

        /// <summary>It did not run: the evaluation ended before.</summary>
        HOB_NODE_WHY_WAITS = 4,

        /// <summary>It ran: it is volatile.</summary>
        HOB_NODE_WHY_VOLATILE = 5,

        /// <summary>It ran: its <c>input</c> changed, or the source of it recovered.</summary>
        HOB_NODE_WHY_CHANGED = 6,

        /// <summary>It ran: it was new, edited, set or invalidated.</summary>
        /// <remarks>
        /// Or an input had changed while no sink asked for it, or a feedback link passed on a change.
        /// </remarks>
        HOB_NODE_WHY_EDITED = 7,

        /// <summary>It ran: <c>node</c> read its value, which had been released; see hob_graph_set_memory_limit.</summary>
        HOB_NODE_WHY_RESTORED = 8,
    }

    /// <summary>Experimental: A graph.</summary>
    /// <remarks>
    /// A handle: see "Handles" in base.h.
    /// </remarks>
    public struct hob_graph
    {
    }

    /// <summary>Experimental: A node of a graph.</summary>
    /// <remarks>
    /// All zero is no node.
    /// </remarks>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_node_id
    {
        /// <summary>Its place, from 1 on; 0 is no node.</summary>
        public uint index1;

        /// <summary>Distinguishes it from earlier nodes at that place.</summary>
        public uint generation;
    }

    /// <summary>Experimental: An input pin.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_node_input
    {
        /// <summary>HOB_NODE_INPUT_ bits. Default 0.</summary>
        public uint flags;

        /// <summary>Must be 0.</summary>
        public uint reserved;

        /// <summary>Its value without a link. Default: all zero.</summary>
        public hob_value value;
    }

    /// <summary>Experimental: An output pin.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_node_output
    {
        /// <summary>When it counts as changed. Default HOB_CUTOFF_BYTES.</summary>
        public hob_cutoff cutoff;

        /// <summary>HOB_NODE_OUTPUT_ bits. Default 0.</summary>
        public uint flags;

        /// <summary>For HOB_CUTOFF_EPSILON: the largest difference that is no change. At least 0.</summary>
        public double epsilon;

        /// <summary>Its value before the first run. Default: all zero.</summary>
        public hob_value value;
    }

    /// <summary>Experimental: Inputs and outputs of a running node: the argument of hob_node_desc.evaluate.</summary>
    /// <remarks>
    /// All pointers are valid during the call.
    /// </remarks>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_node_call
    {
        /// <summary>sizeof(hob_node_call) of the library.</summary>
        public uint struct_size;

        /// <summary>Number of inputs.</summary>
        public uint input_count;

        /// <summary>The values of the inputs. A lazy input that is not in <c>available</c> may have an old value.</summary>
        public hob_value* inputs;

        /// <summary>The values of the outputs, which the node overwrites. At first those of the last run; released ones are 0.</summary>
        /// <remarks>
        /// Write owned handles only before HOB_VERDICT_DONE: after another verdict they are not released.
        /// </remarks>
        public hob_value* outputs;

        /// <summary>Number of outputs.</summary>
        public uint output_count;

        /// <summary>Bytes of <c>message</c>.</summary>
        public uint message_capacity;

        /// <summary>The lazy inputs that are up to date: bit i for input i. Each run of a node begins with 0.</summary>
        public ulong available;

        /// <summary>For HOB_VERDICT_NEED: the lazy inputs that are wanted, bit i for input i. At first 0.</summary>
        public ulong need;

        /// <summary>For HOB_VERDICT_FAILED: write the reason here, ended by NUL. At first empty.</summary>
        public byte* message;

        /// <summary>For hob_graph_set_memory_limit: write the bytes that the owned outputs hold here. At first 0.</summary>
        public ulong held_bytes;

        /// <summary>With <c>held_bytes</c>: the time of another run in nanoseconds, for instance on a GPU. At first 0: the duration of
        /// this call.</summary>
        public double cost_ns;
    }

    /// <summary>Experimental: Parameters of a node.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_node_desc
    {
        /// <summary>sizeof(hob_node_desc).</summary>
        public uint struct_size;

        /// <summary>The causes of a change of its outputs. Default HOB_NODE_CLASS_VOLATILE.</summary>
        public hob_node_class node_class;

        /// <summary>A name for messages. Default empty: messages show its number.</summary>
        public hob_str name;

        /// <summary>The host's name of its type, for hob_graph_load and hob_graph_emit. Default empty.</summary>
        public hob_str type_name;

        /// <summary>Computes the outputs from the inputs. Must be set, except for HOB_NODE_CLASS_INPUT, which has none.</summary>
        /// <remarks>
        /// Runs inside hob_graph_evaluate: on its thread, and on threads of its executor. A node runs on one thread at a
        /// time, but several nodes may run at once. It must not call its own graph, except hob_graph_cancel.
        /// </remarks>
        public IntPtr evaluate;

        /// <summary>Passed to the callbacks.</summary>
        public void* user_data;

        /// <summary>Called exactly once, when the node is removed or its graph is destroyed, after all other callbacks. May be NULL.</summary>
        public IntPtr release;

        /// <summary>For HOB_CUTOFF_CALLBACK: not 0 if the new value counts as equal to the old one. Runs as <c>evaluate</c> does.</summary>
        public IntPtr is_equal;

        /// <summary>For HOB_NODE_OUTPUT_OWNED: releases a handle. Runs as <c>evaluate</c> does, and in hob_graph_remove_node and
        /// hob_graph_destroy.</summary>
        public IntPtr release_value;

        /// <summary>The inputs; copied. NULL: <c>input_count</c> inputs with the defaults of hob_node_input.</summary>
        public hob_node_input* inputs;

        /// <summary>Bytes from one input to the next: sizeof(hob_node_input). Default 0: its first released size.</summary>
        public UIntPtr input_stride;

        /// <summary>Number of inputs. At most 65535 with the outputs.</summary>
        public UIntPtr input_count;

        /// <summary>The outputs; copied. NULL: <c>output_count</c> outputs with the defaults of hob_node_output.</summary>
        public hob_node_output* outputs;

        /// <summary>Bytes from one output to the next: sizeof(hob_node_output). Default 0: its first released size.</summary>
        public UIntPtr output_stride;

        /// <summary>Number of outputs.</summary>
        public UIntPtr output_count;

        /// <summary>HOB_NODE_SINK, or 0. Default 0.</summary>
        public uint flags;

        /// <summary>Must be 0.</summary>
        public uint reserved;
    }

    /// <summary>Experimental: Parameters of a graph.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_graph_desc
    {
        /// <summary>sizeof(hob_graph_desc).</summary>
        public uint struct_size;

        /// <summary>Limit of the nodes. Default 0: no limit.</summary>
        public uint max_nodes;
    }

    /// <summary>Experimental: Parameters of an evaluation.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_evaluation_desc
    {
        /// <summary>sizeof(hob_evaluation_desc).</summary>
        public uint struct_size;

        /// <summary>Default HOB_EVALUATOR_AUTO.</summary>
        public hob_evaluator evaluator;

        /// <summary>Limit of the nodes that run. The next evaluation goes on with the frame. Default 0: no limit.</summary>
        public ulong node_limit;

        /// <summary>Brings only this node up to date, by HOB_EVALUATOR_LAZY on this thread. It is no frame: nodes of
        /// HOB_NODE_CLASS_VOLATILE and feedback links keep the values of the last frame. Default all zero: all sinks.</summary>
        public hob_node_id only;
    }

    /// <summary>Experimental: Counts of one evaluation.</summary>
    /// <remarks>
    /// An answer: set struct_size, or begin with HOB_EVALUATION_SUMMARY_INIT.
    /// </remarks>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_evaluation_summary
    {
        /// <summary>sizeof(hob_evaluation_summary).</summary>
        public uint struct_size;

        /// <summary>1: all sinks are up to date, or hob_evaluation_desc.only is. 0: it was cancelled or reached its limit, and the
        /// next evaluation goes on.</summary>
        public uint is_complete;

        /// <summary>The evaluator that was used.</summary>
        public hob_evaluator evaluator;

        /// <summary>Must be 0.</summary>
        public uint reserved;

        /// <summary>Nodes that ran. Includes failed nodes, and nodes of HOB_NODE_CLASS_INPUT that were set.</summary>
        public ulong runs;

        /// <summary>Runs that ended with HOB_VERDICT_NEED. <c>runs</c> does not include them.</summary>
        public ulong requests;

        /// <summary>Nodes that have failed, or do not run because of one that has. Nodes that no sink depends on any more keep their
        /// last state.</summary>
        public ulong broken;

        /// <summary>Inputs that HOB_EVALUATOR_LAZY examined. The others use it for lazy inputs.</summary>
        public ulong examined_inputs;
    }

    /// <summary>Experimental: Why a node ran or did not.</summary>
    /// <remarks>
    /// An answer: set struct_size, or begin with HOB_NODE_REASON_INIT.
    /// </remarks>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_node_reason
    {
        /// <summary>sizeof(hob_node_reason).</summary>
        public uint struct_size;

        /// <summary>The kind of reason.</summary>
        public hob_node_why why;

        /// <summary>Another node, if <c>why</c> names one. Otherwise all zero.</summary>
        public hob_node_id node;

        /// <summary>An input, if <c>why</c> names one. Otherwise 0.</summary>
        public uint input;

        /// <summary>Must be 0.</summary>
        public uint reserved;
    }

    /// <summary>Experimental: Counts of a graph since it was created.</summary>
    /// <remarks>
    /// An answer: set struct_size, or begin with HOB_GRAPH_STATISTICS_INIT.
    /// </remarks>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_graph_statistics
    {
        /// <summary>sizeof(hob_graph_statistics).</summary>
        public uint struct_size;

        /// <summary>Must be 0.</summary>
        public uint reserved;

        /// <summary>Nodes now.</summary>
        public ulong nodes;

        /// <summary>Links now, feedback links included.</summary>
        public ulong links;

        /// <summary>Evaluations.</summary>
        public ulong evaluations;

        /// <summary>Complete frames.</summary>
        public ulong frames;

        /// <summary>Runs of nodes, without those that ended with HOB_VERDICT_NEED.</summary>
        public ulong runs;

        /// <summary>Runs that ended with HOB_VERDICT_NEED.</summary>
        public ulong requests;

        /// <summary>Blocks of nodes that were given to an executor.</summary>
        public ulong blocks;

        /// <summary>Bytes of memory held, without what values and <c>user_data</c> refer to.</summary>
        public ulong memory_used;

        /// <summary>Bytes that owned outputs hold now, by hob_node_call.held_bytes. 0 before the first limit.</summary>
        public ulong held_bytes;

        /// <summary>Nodes whose values were released to keep the limit.</summary>
        public ulong releases;

        /// <summary>Runs that only brought a released value back. <c>runs</c> includes them.</summary>
        public ulong restores;
    }

    /// <summary>Experimental: Counts of a node since it was added.</summary>
    /// <remarks>
    /// An answer: set struct_size, or begin with HOB_NODE_STATISTICS_INIT.
    /// </remarks>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_node_statistics
    {
        /// <summary>sizeof(hob_node_statistics).</summary>
        public uint struct_size;

        /// <summary>Must be 0.</summary>
        public uint reserved;

        /// <summary>Runs, without those that ended with HOB_VERDICT_NEED.</summary>
        public ulong runs;

        /// <summary>Mean duration of a run in nanoseconds, measured in the second run and in every 64th after it. 0: not known.</summary>
        public double mean_ns;

        /// <summary>Bytes that its owned outputs hold now. 0 before the first limit.</summary>
        public ulong held_bytes;
    }

    /// <summary>Experimental: A node of HOB_NODE_CLASS_PURE or HOB_NODE_CLASS_CONSTANT that gave other outputs for the same inputs.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_graph_finding
    {
        /// <summary>The node. It depends on something that is not an input: time, state, or another node.</summary>
        public hob_node_id node;

        /// <summary>The output that differs.</summary>
        public uint output;

        /// <summary>Evaluations between both runs.</summary>
        public uint evaluations;

        /// <summary>The value of the first run.</summary>
        public hob_value before;

        /// <summary>The value of the second run. All zero also if that failed or asked for other inputs.</summary>
        public hob_value after;
    }

    /// <summary>The type of hob_node_desc.evaluate, whose C type is a pointer to it.</summary>
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    public unsafe delegate hob_verdict hob_node_desc_evaluate_fn(void* user_data, hob_node_call* call);

    /// <summary>The type of hob_node_desc.release, whose C type is a pointer to it.</summary>
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    public unsafe delegate void hob_node_desc_release_fn(void* user_data);

    /// <summary>The type of hob_node_desc.is_equal, whose C type is a pointer to it.</summary>
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    public unsafe delegate uint hob_node_desc_is_equal_fn(void* user_data, uint output, hob_value* old_value, hob_value* new_value);

    /// <summary>The type of hob_node_desc.release_value, whose C type is a pointer to it.</summary>
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    public unsafe delegate void hob_node_desc_release_value_fn(void* user_data, uint output, hob_value* value);

    /// <summary>The type of hob_graph_load.resolve, whose C type is a pointer to it.</summary>
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    public unsafe delegate uint hob_graph_load_resolve_fn(void* user_data, uint id, hob_node_desc* desc);

    /// <summary>The functions of the library.</summary>
    public static unsafe partial class Native
    {
        /// <summary>Experimental: Creates an empty graph.</summary>
        /// <remarks>
        /// <c>desc</c> may be NULL: defaults. On success <c>*out_graph</c> is the caller's to destroy.
        /// <para/>
        /// <code>
        /// hob_graph *graph = NULL;
        /// if (hob_graph_create(NULL, &amp;graph) != HOB_RESULT_OK) fail(hob_last_error());
        /// </code>
        /// Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_graph_create(hob_graph_desc* desc, hob_graph** out_graph);

        /// <summary>Experimental: Destroys a graph with its nodes; NULL is allowed.</summary>
        /// <remarks>
        /// Owned values are released, then each node's <c>user_data</c>. Unlike other handles, it is not destroyed inside its own
        /// callbacks: the call does nothing there, and hob_last_error says so. Threads: no call on it may run on another
        /// thread.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern void hob_graph_destroy(hob_graph* graph);

        /// <summary>Experimental: Adds a node.</summary>
        /// <remarks>
        /// On success <c>*out_node</c> is its id, and <c>user_data</c> belongs to the graph.
        /// <para/>
        /// <code>
        /// hob_node_desc desc = HOB_NODE_DESC_INIT;
        /// desc.name = HOB_STR("blur");
        /// desc.node_class = HOB_NODE_CLASS_PURE;
        /// desc.evaluate = blur;
        /// desc.user_data = settings;
        /// desc.input_count = desc.output_count = 1;
        /// if (hob_graph_add_node(graph, &amp;desc, &amp;node) != HOB_RESULT_OK) fail(hob_last_error());
        /// </code>
        /// HOB_RESULT_LIMIT_EXCEEDED: too many nodes or pins. Threads: exclusive.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_graph_add_node(hob_graph* graph, hob_node_desc* desc, hob_node_id* out_node);

        /// <summary>Experimental: Removes a node and its links.</summary>
        /// <remarks>
        /// Inputs that read it have their values without a link again. Releases owned values, then <c>user_data</c>.
        /// HOB_RESULT_NOT_FOUND: there is no such node. Threads: exclusive.
        /// <para/>
        /// Callbacks: <c>release_value</c> and <c>release</c>, on this thread. There, calls on this graph return HOB_RESULT_BUSY.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_graph_remove_node(hob_graph* graph, hob_node_id node);

        /// <summary>Experimental: Links an output of <c>source</c> to an input of <c>target</c>.</summary>
        /// <remarks>
        /// Replaces the input's earlier link. <c>output</c> and <c>input</c> are numbered from 0.
        /// <para/>
        /// HOB_RESULT_INVALID_ARGUMENT: there is no such pin, <c>target</c> is of HOB_NODE_CLASS_INPUT, or the link would close a
        /// cycle. hob_last_error then names the nodes of the cycle. HOB_RESULT_NOT_FOUND: there is no such node.
        /// Threads: exclusive.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_graph_connect(hob_graph* graph, hob_node_id source, uint output, hob_node_id target, uint input);

        /// <summary>Experimental: Links an output of <c>source</c> to an input of <c>target</c>, which reads the value of the last frame.</summary>
        /// <remarks>
        /// Such a link may close a cycle. Before <c>source</c> has run, the input has hob_node_output.value of the output. A value
        /// that hob_evaluation_desc.only has made since counts as that of the last frame. <c>source</c> is evaluated in every frame.
        /// Parameters and errors as for hob_graph_connect, and HOB_RESULT_UNSUPPORTED: the output is owned. Threads: exclusive.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_graph_connect_feedback(hob_graph* graph, hob_node_id source, uint output, hob_node_id target, uint input);

        /// <summary>Experimental: Removes the link of an input, which has its value without a link again.</summary>
        /// <remarks>
        /// HOB_RESULT_NOT_FOUND: the input has no link, or there is no such node. Threads: exclusive.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_graph_disconnect(hob_graph* graph, hob_node_id node, uint input);

        /// <summary>Experimental: Sets whether a node is wanted in every frame: 1 or 0.</summary>
        /// <remarks>
        /// Nodes of HOB_NODE_CLASS_EFFECT are always. HOB_RESULT_INVALID_ARGUMENT: <c>is_sink</c> is another number.
        /// HOB_RESULT_NOT_FOUND: there is no such node. Threads: exclusive.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_graph_set_sink(hob_graph* graph, hob_node_id node, uint is_sink);

        /// <summary>Experimental: Sets an output of a node of HOB_NODE_CLASS_INPUT, or the value of another node's input without a link.</summary>
        /// <remarks>
        /// <c>input</c> is its number. An equal value is no change. Such an edit keeps the plan of the graph.
        /// <para/>
        /// <code>
        /// hob_value value = hob_value_of_number(seconds);
        /// hob_graph_set_input(graph, time, 0, &amp;value);
        /// </code>
        /// HOB_RESULT_INVALID_ARGUMENT: the input has a link, or there is no such pin. HOB_RESULT_NOT_FOUND: there is no such
        /// node. Threads: exclusive.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_graph_set_input(hob_graph* graph, hob_node_id node, uint input, hob_value* value);

        /// <summary>Experimental: Marks a node as changed: it runs in the next frame that wants it.</summary>
        /// <remarks>
        /// For instance after a change of the data behind its <c>user_data</c>. HOB_RESULT_NOT_FOUND: there is no such node.
        /// Threads: exclusive.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_graph_invalidate(hob_graph* graph, hob_node_id node);

        /// <summary>Experimental: Brings all sinks up to date: one frame.</summary>
        /// <remarks>
        /// <c>executor</c> may be NULL: only this thread runs nodes. <c>desc</c> may be NULL: defaults. <c>out_summary</c> may be NULL.
        /// <para/>
        /// <code>
        /// hob_evaluation_summary summary = HOB_EVALUATION_SUMMARY_INIT;
        /// if (hob_graph_evaluate(graph, executor, NULL, &amp;summary) != HOB_RESULT_OK) fail(hob_last_error());
        /// if (summary.broken &gt; 0) report_failures();
        /// </code>
        /// HOB_RESULT_OK also if nodes have failed, or if it was cancelled. HOB_RESULT_NOT_FOUND: <c>desc-&gt;only</c> does not exist.
        /// Does not allocate, apart from the first frames after an edit and after a change of the executor, and for the
        /// messages of more nodes that fail.
        /// <para/>
        /// Threads: exclusive. Callbacks: the nodes' <c>evaluate</c>, <c>is_equal</c> and <c>release_value</c>, on this thread and those of
        /// the executor, in this thread's floating-point environment. There, all calls on this graph except hob_graph_cancel
        /// return HOB_RESULT_BUSY.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_graph_evaluate(hob_graph* graph, hob_executor* executor, hob_evaluation_desc* desc, hob_evaluation_summary* out_summary);

        /// <summary>Experimental: Ends the running evaluation before its next node, or else the next evaluation before its first one.</summary>
        /// <remarks>
        /// The evaluation after it goes on with the frame. Threads: any, also inside nodes.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_graph_cancel(hob_graph* graph);

        /// <summary>Experimental: Gets the value of an output after the last evaluation.</summary>
        /// <remarks>
        /// After a failure of its node: the last good value, or all zero if it failed after a release. HOB_RESULT_NOT_FOUND:
        /// there is no such node, or its value was released, see hob_graph_set_memory_limit; sinks keep theirs.
        /// HOB_RESULT_INVALID_ARGUMENT: there is no such output. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_graph_get_value(hob_graph* graph, hob_node_id node, uint output, hob_value* out_value);

        /// <summary>Experimental: Gets the reason of a node's failure, without a NUL.</summary>
        /// <remarks>
        /// <c>*out_source</c> receives the node that failed: this one, or one that it depends on. <c>out_source</c> may be NULL. Without
        /// a failure, the text is empty and <c>*out_source</c> is all zero.
        /// <para/>
        /// <c>*out_size</c> receives the required size. <c>buffer</c> NULL asks only for that. If <c>capacity</c> is too small, the result is
        /// HOB_RESULT_BUFFER_TOO_SMALL. HOB_RESULT_NOT_FOUND: there is no such node. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_graph_get_failure(hob_graph* graph, hob_node_id node, byte* buffer, UIntPtr capacity, UIntPtr* out_size, hob_node_id* out_source);

        /// <summary>Experimental: Gets the path from a broken node to the failed node, both included.</summary>
        /// <remarks>
        /// <c>*out_count</c> receives their number, 0 without a failure. <c>nodes</c> NULL asks only for that. <c>node_stride</c> is
        /// sizeof(hob_node_id). If <c>capacity</c> is too small, the result is HOB_RESULT_BUFFER_TOO_SMALL. HOB_RESULT_NOT_FOUND:
        /// there is no such node. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_graph_get_failure_path(hob_graph* graph, hob_node_id node, hob_node_id* nodes, UIntPtr node_stride, UIntPtr capacity, UIntPtr* out_count);

        /// <summary>Experimental: Gets why a node ran in the last evaluation, or did not.</summary>
        /// <remarks>
        /// May examine all nodes that depend on it. HOB_RESULT_NOT_FOUND: there is no such node. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_graph_get_reason(hob_graph* graph, hob_node_id node, hob_node_reason* out_reason);

        /// <summary>Experimental: Gets the sentence of hob_graph_get_reason, without a NUL.</summary>
        /// <remarks>
        /// For instance: "data" did not run: input 0 of "builder" is lazy, and was not asked for.
        /// <para/>
        /// <c>*out_size</c> receives the required size. <c>buffer</c> NULL asks only for that. If <c>capacity</c> is too small, the result is
        /// HOB_RESULT_BUFFER_TOO_SMALL. HOB_RESULT_NOT_FOUND: there is no such node. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_graph_get_reason_text(hob_graph* graph, hob_node_id node, byte* buffer, UIntPtr capacity, UIntPtr* out_size);

        /// <summary>Experimental: Gets the counts of a graph.</summary>
        /// <remarks>
        /// Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_graph_get_statistics(hob_graph* graph, hob_graph_statistics* out_statistics);

        /// <summary>Experimental: Gets the counts of a node.</summary>
        /// <remarks>
        /// HOB_RESULT_NOT_FOUND: there is no such node. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_graph_get_node_statistics(hob_graph* graph, hob_node_id node, hob_node_statistics* out_statistics);

        /// <summary>Experimental: Gets the number of a node's runs, without those that ended with HOB_VERDICT_NEED.</summary>
        /// <remarks>
        /// HOB_RESULT_NOT_FOUND: there is no such node. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_graph_get_node_runs(hob_graph* graph, hob_node_id node, ulong* out_runs);

        /// <summary>Experimental: Sets a limit of the bytes that owned outputs hold between frames; UINT64_MAX: no limit.</summary>
        /// <remarks>
        /// A frame that ends above it releases values until the limit is kept. A node whose value was released runs again when
        /// another node reads it. Released first are values that cost little time for their bytes, and that are seldom read
        /// before they change.
        /// <para/>
        /// <code>
        /// hob_graph_set_memory_limit(graph, 256 &lt;&lt; 20); /* before the first frame */
        ///
        /// /* in a node: */
        /// call-&gt;outputs[0].pointer = make_image(&amp;size);
        /// call-&gt;held_bytes = size;
        /// </code>
        /// Only nodes of HOB_NODE_CLASS_PURE and HOB_NODE_CLASS_CONSTANT that write hob_node_call.held_bytes release their
        /// values. Sinks do not, and neither do sources of an input with HOB_NODE_INPUT_HOLD, or nodes whose handle another
        /// node passes on unchanged. Runs before the first limit below UINT64_MAX do not count.
        /// <para/>
        /// After a release, an output counts as changed in the next run after a change of an input, except with
        /// HOB_CUTOFF_GENERATION: the old value is not there to be compared. The same holds when its node becomes a sink. A
        /// failure of the first run after a release leaves no last good value.
        /// <para/>
        /// hob_graph_get_statistics has the counts. Threads: exclusive.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_graph_set_memory_limit(hob_graph* graph, ulong bytes);

        /// <summary>Experimental: Starts or stops the audit: a share of extra runs that finds wrong classes.</summary>
        /// <remarks>
        /// Nodes are run again with the inputs that they had some frames before. <c>share</c> is the extra runs per run, for
        /// instance 0.02; 0 stops the audit. A start forgets earlier findings. Extra runs change no value and no count, and no
        /// limit of an evaluation includes them.
        /// <para/>
        /// <code>
        /// hob_graph_set_audit(graph, 0.02); /* in a debug build */
        /// </code>
        /// Where all nodes run in each frame, 0.02 examines each node once in 150 frames, up to 3,800 nodes; larger graphs take
        /// longer. Not examined are outputs with HOB_CUTOFF_NEVER, and nodes that read or write owned handles or have more than
        /// 32 inputs or outputs. A node with a value that may be a pointer is run again only while its inputs have not changed.
        /// <para/>
        /// HOB_RESULT_INVALID_ARGUMENT: <c>share</c> is not 0 to 1. Threads: exclusive.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_graph_set_audit(hob_graph* graph, double share);

        /// <summary>Experimental: Gets the findings of the audit: the first one of each node, at most 64.</summary>
        /// <remarks>
        /// <c>*out_count</c> receives their number. <c>findings</c> NULL asks only for that. <c>finding_stride</c> is
        /// sizeof(hob_graph_finding). If <c>capacity</c> is too small, the result is HOB_RESULT_BUFFER_TOO_SMALL. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_graph_get_findings(hob_graph* graph, hob_graph_finding* findings, UIntPtr finding_stride, UIntPtr capacity, UIntPtr* out_count);

        /// <summary>Experimental: Makes a graph with the same values at its sinks, for a host that sets no more inputs.</summary>
        /// <remarks>
        /// Nodes whose inputs cannot change any more are removed; their values are stored where they were read. Nodes that no
        /// sink depends on are removed; the source of a feedback link to such a node becomes a sink. The others are copied.
        /// <para/>
        /// Both graphs use the same <c>user_data</c>, perhaps at the same time, and <c>release</c> is called for the last copy. On
        /// success <c>*out_graph</c> is the caller's to destroy.
        /// <para/>
        /// <code>
        /// hob_graph *baked = NULL;
        /// if (hob_graph_bake(graph, NULL, 0, 0, &amp;baked) != HOB_RESULT_OK) fail(hob_last_error());
        /// hob_graph_get_copy(baked, sink, &amp;sink_in_baked);
        /// </code>
        /// Sinks are kept, and nodes of HOB_NODE_CLASS_VOLATILE and HOB_NODE_CLASS_EFFECT, nodes that failed or have never run,
        /// nodes that own a handle or pass one on, and sources of feedback links. <c>keep</c> are further nodes to keep, with all
        /// that they depend on, such as nodes that the host will read or make a sink. <c>keep_stride</c> is sizeof(hob_node_id).
        /// Feedback links go on with their values; the last good value of an owned output is not copied.
        /// <para/>
        /// HOB_RESULT_INVALID_ARGUMENT: the last evaluation was not complete, or the graph was edited, set or invalidated after
        /// it. HOB_RESULT_NOT_FOUND: a node of <c>keep</c> does not exist. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_graph_bake(hob_graph* graph, hob_node_id* keep, UIntPtr keep_stride, UIntPtr keep_count, hob_graph** out_graph);

        /// <summary>Experimental: Gets the node that was made of another graph's node, by hob_graph_bake or hob_graph_load.</summary>
        /// <remarks>
        /// <c>original</c> is the node's id in the graph that was baked or saved. HOB_RESULT_NOT_FOUND: there is no such node, for
        /// instance because baking removed it, or the copy was removed. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_graph_get_copy(hob_graph* graph, hob_node_id original, hob_node_id* out_node);

        /// <summary>Experimental: Saves nodes and links as JSON, without a NUL.</summary>
        /// <remarks>
        /// For hob_graph_load and for tools. Functions are named by hob_node_desc.type_name. Saved values are those of
        /// HOB_NODE_CLASS_INPUT and of inputs without a link, pointers in them as numbers. Other values of outputs, those of
        /// feedback links, and counts are not saved.
        /// <para/>
        /// <c>*out_size</c> receives the required size. <c>buffer</c> NULL asks only for that. If <c>capacity</c> is too small, the result is
        /// HOB_RESULT_BUFFER_TOO_SMALL. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_graph_save_json(hob_graph* graph, byte* buffer, UIntPtr capacity, UIntPtr* out_size);

        /// <summary>Experimental: Saves a picture of the graph for Graphviz, in the language DOT, without a NUL.</summary>
        /// <remarks>
        /// Lazy links are dashed, feedback links are dotted, sinks have a double border, and nodes that failed are red.
        /// <para/>
        /// <c>*out_size</c>, <c>buffer</c> and <c>capacity</c> are as for hob_graph_save_json. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_graph_save_dot(hob_graph* graph, byte* buffer, UIntPtr capacity, UIntPtr* out_size);

        /// <summary>Experimental: Makes a graph of the JSON of hob_graph_save_json.</summary>
        /// <remarks>
        /// <c>resolve</c> is called for each node but those of HOB_NODE_CLASS_INPUT. <c>id</c> is the index1 that the node had. <c>desc</c>
        /// has its class, names, flags and pins; set <c>evaluate</c>, and the other callbacks and <c>user_data</c> if it needs them.
        /// Other changes of <c>desc</c> are ignored. Refuse numbers of pins that the type cannot have. Return 1, or 0 if the type is
        /// unknown.
        /// <para/>
        /// On success <c>*out_graph</c> is the caller's to destroy, and hob_graph_get_copy gets the nodes by their old ids.
        /// <para/>
        /// <code>
        /// /* uint32_t resolve(void *types, uint32_t id, hob_node_desc *desc) {
        ///        desc-&gt;evaluate = find(types, desc-&gt;type_name);
        ///        return desc-&gt;evaluate != NULL;
        ///    } */
        /// if (hob_graph_load(text, size, resolve, types, &amp;graph) != HOB_RESULT_OK) fail(hob_last_error());
        /// </code>
        /// Values in a text from elsewhere may be anything: do not use them as pointers. If loading fails after <c>resolve</c>
        /// returned 1, <c>user_data</c> is released. HOB_RESULT_NOT_FOUND: <c>resolve</c> returned 0. HOB_RESULT_INVALID_ARGUMENT: it
        /// left out a callback. HOB_RESULT_MALFORMED: the text is no such JSON, or has a node or a link that the graph refuses;
        /// hob_last_error names the line. Threads: any. Callbacks: <c>resolve</c>, and <c>release</c> after a failure, inside this call.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_graph_load(void* json, UIntPtr size, IntPtr resolve, void* user_data, hob_graph** out_graph);

        /// <summary>Experimental: Gets the graph as C99 source, without a NUL, which calls the functions of the nodes.</summary>
        /// <remarks>
        /// It gives the values of the graph, runs the same nodes, and needs only the headers of hobgoblin.
        /// hob_node_desc.type_name is the name of a node's function; <c>prefix</c> starts all other names.
        /// <para/>
        /// <code>
        /// size_t size = 0;
        /// hob_graph_emit(graph, HOB_STR("patch"), NULL, 0, &amp;size);
        /// char *source = malloc(size);
        /// if (hob_graph_emit(graph, HOB_STR("patch"), source, size, &amp;size) != HOB_RESULT_OK) fail(hob_last_error());
        /// fwrite(source, 1, size, file); /* patch_init, patch_evaluate, patch_set_input and more */
        /// </code>
        /// Usually a baked graph is written. All nodes run in the first frame. Failures are not kept, and nodes that no sink
        /// depends on are omitted. docs/graph.md lists the functions. Buffer and result as for hob_graph_save_json.
        /// <para/>
        /// HOB_RESULT_INVALID_ARGUMENT: a name cannot be used in C, or the last evaluation was not complete.
        /// HOB_RESULT_UNSUPPORTED: an output is owned, or has HOB_CUTOFF_CALLBACK. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_graph_emit(hob_graph* graph, hob_str prefix, byte* buffer, UIntPtr capacity, UIntPtr* out_size);

        /// <summary>Experimental: Gets the nodes in the order of their numbers in the source of hob_graph_emit: each after those that it reads.</summary>
        /// <remarks>
        /// <c>*out_count</c> receives their number. <c>nodes</c> NULL asks only for that. <c>node_stride</c> is sizeof(hob_node_id). If
        /// <c>capacity</c> is too small, the result is HOB_RESULT_BUFFER_TOO_SMALL. Errors as for hob_graph_emit. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_graph_get_emitted_nodes(hob_graph* graph, hob_node_id* nodes, UIntPtr node_stride, UIntPtr capacity, UIntPtr* out_count);

        /// <summary>Experimental: Sets the defaults of a hob_node_call.</summary>
        /// <remarks>
        /// <c>size</c> is sizeof(hob_node_call). Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_node_call_init(hob_node_call* value, uint size);

        /// <summary>Experimental: Sets the defaults of a hob_node_desc.</summary>
        /// <remarks>
        /// <c>size</c> is sizeof(hob_node_desc). Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_node_desc_init(hob_node_desc* value, uint size);

        /// <summary>Experimental: Sets the defaults of a hob_graph_desc.</summary>
        /// <remarks>
        /// <c>size</c> is sizeof(hob_graph_desc). Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_graph_desc_init(hob_graph_desc* value, uint size);

        /// <summary>Experimental: Sets the defaults of a hob_evaluation_desc.</summary>
        /// <remarks>
        /// <c>size</c> is sizeof(hob_evaluation_desc). Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_evaluation_desc_init(hob_evaluation_desc* value, uint size);

        /// <summary>Experimental: Sets the defaults of a hob_evaluation_summary.</summary>
        /// <remarks>
        /// <c>size</c> is sizeof(hob_evaluation_summary). Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_evaluation_summary_init(hob_evaluation_summary* value, uint size);

        /// <summary>Experimental: Sets the defaults of a hob_node_reason.</summary>
        /// <remarks>
        /// <c>size</c> is sizeof(hob_node_reason). Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_node_reason_init(hob_node_reason* value, uint size);

        /// <summary>Experimental: Sets the defaults of a hob_graph_statistics.</summary>
        /// <remarks>
        /// <c>size</c> is sizeof(hob_graph_statistics). Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_graph_statistics_init(hob_graph_statistics* value, uint size);

        /// <summary>Experimental: Sets the defaults of a hob_node_statistics.</summary>
        /// <remarks>
        /// <c>size</c> is sizeof(hob_node_statistics). Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_node_statistics_init(hob_node_statistics* value, uint size);
    }
}
