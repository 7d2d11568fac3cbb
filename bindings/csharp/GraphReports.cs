// Graphs: failures, reasons, statistics, audit, bake, and graphs as text. MIT OR Apache-2.0.
using System;
using System.Text;
using Hobgoblin.Interop;

namespace Hobgoblin
{
    /// <summary>Sets what a node runs, and returns false for an unknown type.
    /// Called by <c>Graph.Load</c> for each node but those of <c>NodeClass.Input</c>. Its exception is thrown by Load.</summary>
    public delegate bool NodeResolver(LoadingNode node);

    public sealed unsafe partial class Graph
    {
        // ---- Failures and reasons

        /// <summary>Gets the reason of a node's failure. Empty without a failure.</summary>
        public string GetFailure(NodeId node)
        {
            return GetFailure(node, out var source);
        }

        /// <summary>Gets the reason of a node's failure, and the node that failed: this one, or one that it depends
        /// on.</summary>
        public string GetFailure(NodeId node, out NodeId source)
        {
            var id = *(hob_node_id*)&node;
            NodeId failed;
            using (Shared(out var graph))
            {
                var text = Calls.ReadText((buffer, capacity, size) => Native.hob_graph_get_failure(
                    (hob_graph*)graph, id, buffer, capacity, size, null));
                var length = UIntPtr.Zero;
                Check(Native.hob_graph_get_failure((hob_graph*)graph, id, null, UIntPtr.Zero, &length, (hob_node_id*)&failed));
                source = failed;
                return text;
            }
        }

        /// <summary>Gets the path from a broken node to the failed node, both included. Empty without a failure.</summary>
        public NodeId[] GetFailurePath(NodeId node)
        {
            var id = *(hob_node_id*)&node;
            using (Shared(out var graph))
            {
                return Nodes((items, capacity, count) => Native.hob_graph_get_failure_path((hob_graph*)graph,
                    id, (hob_node_id*)items, (UIntPtr)sizeof(hob_node_id), capacity, count));
            }
        }

        static NodeId[] Nodes(ListCall call)
        {
            using (var arena = new Arena())
            {
                var items = (NodeId*)Calls.List(arena, sizeof(NodeId), out var count, call);
                var nodes = new NodeId[count];
                for (var i = 0; i < count; ++i) nodes[i] = items[i];
                return nodes;
            }
        }

        /// <summary>Gets why a node ran in the last evaluation, or did not.</summary>
        public NodeReason GetReason(NodeId node)
        {
            NodeReason reason;
            ((hob_node_reason*)&reason)->struct_size = (uint)sizeof(hob_node_reason);
            using (Shared(out var graph))
                Check(Native.hob_graph_get_reason((hob_graph*)graph, *(hob_node_id*)&node, (hob_node_reason*)&reason));
            return reason;
        }

        /// <summary>Gets why a node ran in the last evaluation, or did not, as a sentence.</summary>
        public string GetReasonText(NodeId node)
        {
            var id = *(hob_node_id*)&node;
            using (Shared(out var graph))
            {
                return Calls.ReadText((buffer, capacity, size) => Native.hob_graph_get_reason_text(
                    (hob_graph*)graph, id, buffer, capacity, size));
            }
        }

        // ---- Statistics

        /// <summary>Gets the counts of the graph.</summary>
        public GraphStatistics GetStatistics()
        {
            GraphStatistics statistics;
            ((hob_graph_statistics*)&statistics)->struct_size = (uint)sizeof(hob_graph_statistics);
            using (Shared(out var graph))
                Check(Native.hob_graph_get_statistics((hob_graph*)graph, (hob_graph_statistics*)&statistics));
            return statistics;
        }

        /// <summary>Gets the counts of a node. False: there is no such node.</summary>
        public bool TryGetNodeStatistics(NodeId node, out NodeStatistics statistics)
        {
            NodeStatistics found;
            ((hob_node_statistics*)&found)->struct_size = (uint)sizeof(hob_node_statistics);
            using (Shared(out var graph))
            {
                var isKnown = Hob.CheckUnless(Native.hob_graph_get_node_statistics(
                    (hob_graph*)graph, *(hob_node_id*)&node, (hob_node_statistics*)&found), hob_result.HOB_RESULT_NOT_FOUND);
                statistics = isKnown ? found : default(NodeStatistics);
                return isKnown;
            }
        }

        /// <summary>Gets the number of a node's runs, without those that ended with <c>Verdict.Need</c>.</summary>
        public ulong GetRuns(NodeId node)
        {
            ulong runs;
            using (Shared(out var graph))
                Check(Native.hob_graph_get_node_runs((hob_graph*)graph, *(hob_node_id*)&node, &runs));
            return runs;
        }

        /// <summary>Sets a limit of the bytes that owned outputs hold between frames; <c>ulong.MaxValue</c>: no limit.
        /// Nodes report them with <c>NodeCall.ReportHeld</c>.</summary>
        public void SetMemoryLimit(ulong bytes)
        {
            using (Exclusive(out var graph)) Check(Native.hob_graph_set_memory_limit((hob_graph*)graph, bytes));
        }

        // ---- Audit

        /// <summary>Starts the audit, a share of extra runs that finds wrong classes, such as 0.02. 0 stops it.</summary>
        public void SetAudit(double share)
        {
            using (Exclusive(out var graph)) Check(Native.hob_graph_set_audit((hob_graph*)graph, share));
        }

        /// <summary>Gets the findings of the audit: the first one of each node, at most 64.</summary>
        public GraphFinding[] GetFindings()
        {
            using (var arena = new Arena())
            using (Shared(out var graph))
            {
                var items = (GraphFinding*)Calls.List(arena, sizeof(GraphFinding), out var length,
                    (findings, capacity, count) => Native.hob_graph_get_findings((hob_graph*)graph,
                        (hob_graph_finding*)findings, (UIntPtr)sizeof(GraphFinding), capacity, count));
                var found = new GraphFinding[length];
                for (var i = 0; i < length; ++i) found[i] = items[i];
                return found;
            }
        }

        // ---- Bake

        /// <summary>Makes a graph with the same values at its sinks, for a host that sets no more inputs.
        /// <paramref name="keep"/> are nodes to keep beside the sinks. Both graphs run the same functions, perhaps at the same
        /// time; the exception of a node may then be thrown by the other graph's call. <see cref="GetCopy"/> of the new graph
        /// gets its nodes.</summary>
        public Graph Bake(params NodeId[] keep)
        {
            hob_graph* baked;
            using (Shared(out var graph))
            {
                fixed (NodeId* nodes = keep)
                {
                    Check(Native.hob_graph_bake((hob_graph*)graph, (hob_node_id*)nodes, (UIntPtr)sizeof(hob_node_id),
                        (UIntPtr)(keep == null ? 0 : keep.Length), &baked));
                }
            }
            return new Graph(baked, exceptions);
        }

        /// <summary>Gets the node that was made of another graph's node, by Bake or Load.</summary>
        public NodeId GetCopy(NodeId original)
        {
            NodeId node;
            using (Shared(out var graph))
                Check(Native.hob_graph_get_copy((hob_graph*)graph, *(hob_node_id*)&original, (hob_node_id*)&node));
            return node;
        }

        // ---- Graphs as text

        /// <summary>Saves nodes and links as JSON, for <see cref="Load"/> and for tools.</summary>
        public string SaveJson()
        {
            using (Shared(out var graph))
            {
                return Calls.ReadText((buffer, capacity, size) =>
                    Native.hob_graph_save_json((hob_graph*)graph, buffer, capacity, size));
            }
        }

        /// <summary>Saves a picture of the graph for Graphviz.</summary>
        public string SaveDot()
        {
            using (Shared(out var graph))
            {
                return Calls.ReadText((buffer, capacity, size) =>
                    Native.hob_graph_save_dot((hob_graph*)graph, buffer, capacity, size));
            }
        }

        /// <summary>Gets the graph as C99 source, which calls the functions of the nodes by their type names.
        /// <paramref name="prefix"/> starts all other names. Usually a baked graph is written.</summary>
        public string EmitC(string prefix)
        {
            using (var text = new Utf8(prefix ?? "", nameof(prefix)))
            using (Shared(out var graph))
            {
                var name = text.Str;
                return Calls.ReadText((buffer, capacity, size) =>
                    Native.hob_graph_emit((hob_graph*)graph, name, buffer, capacity, size));
            }
        }

        /// <summary>Gets the nodes in the order of their numbers in that source.</summary>
        public NodeId[] GetEmittedNodes()
        {
            using (Shared(out var graph))
            {
                return Nodes((items, capacity, count) => Native.hob_graph_get_emitted_nodes(
                    (hob_graph*)graph, (hob_node_id*)items, (UIntPtr)sizeof(hob_node_id), capacity, count));
            }
        }

        /// <summary>Makes a graph of the JSON of <see cref="SaveJson"/>. <see cref="GetCopy"/> gets the nodes by their old
        /// ids. Throws with <c>Result.NotFound</c> if <paramref name="resolve"/> does not know a type.</summary>
        public static Graph Load(string json, NodeResolver resolve)
        {
            if (json == null) throw new ArgumentNullException(nameof(json));
            if (resolve == null) throw new ArgumentNullException(nameof(resolve));
            Hob.Ready(Room.Graph);
            var resolving = new NodeCallbacks.Resolving { Resolve = resolve };
            var bytes = Text.Bytes(json, nameof(json));
            var self = Callbacks.Keep(resolving);
            try
            {
                hob_graph* graph = null;
                fixed (byte* text = bytes)
                {
                    var result = Native.hob_graph_load(
                        text, (UIntPtr)bytes.Length, NodeCallbacks.ResolvePointer, self, &graph);
                    if (graph == null || result != hob_result.HOB_RESULT_OK)
                    {
                        resolving.Exceptions.Rethrow();
                        Hob.Check(result);
                    }
                }
                return new Graph(graph, resolving.Exceptions);
            }
            finally
            {
                Callbacks.Drop(self);
            }
        }
    }

    /// <summary>The functions that the library calls for nodes.</summary>
    internal static unsafe class NodeCallbacks
    {
        static readonly hob_node_desc_evaluate_fn EvaluateCallback = OnEvaluate;
        static readonly hob_node_desc_is_equal_fn IsEqualCallback = OnIsEqual;
        static readonly hob_node_desc_release_value_fn ReleaseValueCallback = OnReleaseValue;
        static readonly hob_graph_load_resolve_fn ResolveCallback = OnResolve;
        static readonly IntPtr EvaluatePointer = Callbacks.Pointer(EvaluateCallback);
        static readonly IntPtr IsEqualPointer = Callbacks.Pointer(IsEqualCallback);
        static readonly IntPtr ReleaseValuePointer = Callbacks.Pointer(ReleaseValueCallback);
        internal static readonly IntPtr ResolvePointer = Callbacks.Pointer(ResolveCallback);

        internal sealed class Resolving
        {
            internal NodeResolver Resolve;
            internal readonly SharedException Exceptions = new SharedException();
        }

        /// <summary>Sets the callbacks of a node. The library owns the box after success.</summary>
        internal static void Describe(hob_node_desc* desc, NodeBox box, bool hasEvaluate)
        {
            desc->user_data = Callbacks.Keep(box);
            desc->release = Callbacks.ReleasePointer;
            desc->evaluate = hasEvaluate ? EvaluatePointer : IntPtr.Zero;
            desc->is_equal = box.HasIsEqual ? IsEqualPointer : IntPtr.Zero;
            desc->release_value = box.HasReleaseValue ? ReleaseValuePointer : IntPtr.Zero;
        }

        [MonoPInvokeCallback(typeof(hob_node_desc_evaluate_fn))]
        static hob_verdict OnEvaluate(void* userData, hob_node_call* node)
        {
            var call = Callbacks.Begin();
            var box = Callbacks.Get<NodeBox>(userData);
            try
            {
                return (hob_verdict)box.Evaluate(new NodeCall(node));
            }
            catch (Exception exception)
            {
                box.Exceptions.Keep(exception);
                Calls.WriteMessage(node->message, node->message_capacity, Callbacks.MessageOf(exception));
                return hob_verdict.HOB_VERDICT_FAILED;
            }
            finally
            {
                call.End();
            }
        }

        [MonoPInvokeCallback(typeof(hob_node_desc_is_equal_fn))]
        static uint OnIsEqual(void* userData, uint output, hob_value* before, hob_value* after)
        {
            var call = Callbacks.Begin();
            var box = Callbacks.Get<NodeBox>(userData);
            try
            {
                return box.IsEqual(output, *(Value*)before, *(Value*)after) ? 1u : 0u;
            }
            catch (Exception exception)
            {
                // Dependants run once too often rather than never.
                box.Exceptions.Keep(exception);
                return 0;
            }
            finally
            {
                call.End();
            }
        }

        [MonoPInvokeCallback(typeof(hob_node_desc_release_value_fn))]
        static void OnReleaseValue(void* userData, uint output, hob_value* value)
        {
            var call = Callbacks.Begin();
            var box = Callbacks.Get<NodeBox>(userData);
            try
            {
                box.ReleaseValue(output, *(Value*)value);
            }
            catch (Exception exception)
            {
                box.Exceptions.Keep(exception);
            }
            finally
            {
                call.End();
            }
        }

        [MonoPInvokeCallback(typeof(hob_graph_load_resolve_fn))]
        static uint OnResolve(void* userData, uint id, hob_node_desc* desc)
        {
            var call = Callbacks.Begin();
            var resolving = Callbacks.Get<Resolving>(userData);
            try
            {
                var node = new LoadingNode(id, (NodeClass)desc->node_class, Text.From(desc->name), Text.From(desc->type_name),
                    (int)(ulong)desc->input_count, (int)(ulong)desc->output_count,
                    (desc->flags & Constants.HOB_NODE_SINK) != 0, resolving.Exceptions);
                if (!resolving.Resolve(node)) return 0;
                if (node.Box != null) Describe(desc, node.Box, true);
                return 1;
            }
            catch (Exception exception)
            {
                resolving.Exceptions.Keep(exception);
                return 0;
            }
            finally
            {
                call.End();
            }
        }
    }
}
