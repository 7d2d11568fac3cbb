// Dataflow graphs, which evaluate only what changed. MIT OR Apache-2.0.
//
//     using (var graph = new Graph())
//     {
//         var speed = graph.AddInput("speed", 1);
//         var square = graph.AddNode(new NodeDesc
//         {
//             NodeClass = NodeClass.Pure, InputCount = 2, IsSink = true,
//             Evaluate = call =>
//             {
//                 call.Output(0).Number = call.Input(0).Number * call.Input(1).Number;
//                 return Verdict.Done;
//             },
//         });
//         graph.Connect(speed, 0, square, 0);
//         graph.Connect(speed, 0, square, 1);
//         // once a frame:
//         graph.SetInput(speed, 0, 3);
//         graph.Evaluate();
//         Use(graph.GetValue(square).Number);                    // 9
//     }
using System;
using System.Text;
using Hobgoblin.Interop;

namespace Hobgoblin
{
    /// <summary>Evaluates only what changed.
    /// For one thread at a time: a call during another one fails with <c>Result.Busy</c>, also inside nodes. Only
    /// <see cref="Cancel"/> may be called at any time. Disposed inside a node, it ends when the running call returns.</summary>
    public sealed unsafe partial class Graph : ExclusiveHandle
    {
        // Shared with baked graphs, whose nodes are the same objects.
        readonly SharedException exceptions;

        /// <summary>Creates an empty graph. <paramref name="maxNodes"/> limits the nodes; 0: no limit.</summary>
        public Graph(uint maxNodes = 0)
        {
            Hob.Ready(Room.Graph);
            exceptions = new SharedException();
            hob_graph_desc desc;
            Hob.Check(Native.hob_graph_desc_init(&desc, (uint)sizeof(hob_graph_desc)));
            desc.max_nodes = maxNodes;
            hob_graph* graph;
            Hob.Check(Native.hob_graph_create(&desc, &graph));
            Adopt(graph);
        }

        Graph(hob_graph* graph, SharedException exceptions)
        {
            this.exceptions = exceptions;
            Adopt(graph);
        }

        internal override void Destroy(IntPtr native)
        {
            Native.hob_graph_destroy((hob_graph*)native);
            exceptions.Report();
        }

        /// <summary>Throws the first exception of the nodes, or else the failure of the call.</summary>
        void Check(hob_result result)
        {
            exceptions.Rethrow();
            Hob.Check(result);
        }

        // ---- Nodes and links

        /// <summary>Adds a node. Throws with <c>Result.LimitExceeded</c> with too many nodes or pins.</summary>
        public NodeId AddNode(NodeDesc desc)
        {
            if (desc == null) throw new ArgumentNullException(nameof(desc));
            var hasFunction = desc.Evaluate != null || desc.IsEqual != null || desc.ReleaseValue != null;
            var box = hasFunction
                ? new FunctionBox(desc.Evaluate, desc.IsEqual, desc.ReleaseValue, exceptions) : null;
            return Add(desc, desc.Outputs, box, desc.Evaluate != null);
        }

        /// <summary>Adds a node whose only output is an object that the graph owns.
        /// Nodes that read it use <c>NodeCall.Object</c>. The graph disposes an object that is IDisposable when the node makes
        /// another one, and when the node is removed. If T is IEquatable, an equal object counts as no change. Evaluate,
        /// IsEqual, ReleaseValue and the outputs of <paramref name="desc"/> are not used.</summary>
        public NodeId AddObject<T>(NodeDesc desc, NodeMaker<T> make) where T : class
        {
            if (desc == null) throw new ArgumentNullException(nameof(desc));
            if (make == null) throw new ArgumentNullException(nameof(make));
            return Add(desc, new[] { ObjectBox<T>.Output }, new ObjectBox<T>(make, exceptions), true);
        }

        /// <summary>Adds a node of <c>NodeClass.Input</c> with one output.</summary>
        public NodeId AddInput(string name, Value value)
        {
            return AddNode(new NodeDesc
            {
                Name = name, NodeClass = NodeClass.Input, Outputs = new[] { new NodeOutput { Value = value } },
            });
        }

        NodeId Add(NodeDesc desc, NodeOutput[] outputs, NodeBox box, bool hasEvaluate)
        {
            if (desc.InputCount < 0 || desc.OutputCount < 0)
                throw new ArgumentOutOfRangeException(nameof(desc), "a number of pins is negative");
            hob_node_desc raw;
            NodeId node;
            var inputs = desc.Inputs;
            using (var arena = new Arena())
            using (Exclusive(out var graph))
            {
                Hob.Check(Native.hob_node_desc_init(&raw, (uint)sizeof(hob_node_desc)));
                raw.node_class = (hob_node_class)desc.NodeClass;
                raw.name = arena.Text(desc.Name);
                raw.type_name = arena.Text(desc.TypeName);
                raw.flags = desc.IsSink ? Constants.HOB_NODE_SINK : 0;
                raw.input_stride = (UIntPtr)sizeof(hob_node_input);
                raw.output_stride = (UIntPtr)sizeof(hob_node_output);
                raw.input_count = (UIntPtr)(inputs == null ? desc.InputCount : inputs.Length);
                raw.output_count = (UIntPtr)(outputs == null ? desc.OutputCount : outputs.Length);
                if (box != null) NodeCallbacks.Describe(&raw, box, hasEvaluate);
                hob_result result;
                fixed (NodeInput* inputsAt = inputs)
                fixed (NodeOutput* outputsAt = outputs)
                {
                    raw.inputs = (hob_node_input*)inputsAt;
                    raw.outputs = (hob_node_output*)outputsAt;
                    result = Native.hob_graph_add_node((hob_graph*)graph, &raw, (hob_node_id*)&node);
                }
                if (result != hob_result.HOB_RESULT_OK) Callbacks.Drop(raw.user_data);
                Check(result);
            }
            return node;
        }

        /// <summary>Removes a node and its links. Inputs that read it have their values without a link again.</summary>
        public void RemoveNode(NodeId node)
        {
            using (Exclusive(out var graph)) Check(Native.hob_graph_remove_node((hob_graph*)graph, *(hob_node_id*)&node));
        }

        /// <summary>Links an output of <paramref name="source"/> to an input of <paramref name="target"/>, and replaces the
        /// input's earlier link. Throws with <c>Result.InvalidArgument</c> if the link would close a cycle.</summary>
        public void Connect(NodeId source, uint output, NodeId target, uint input)
        {
            using (Exclusive(out var graph))
            {
                Check(Native.hob_graph_connect(
                    (hob_graph*)graph, *(hob_node_id*)&source, output, *(hob_node_id*)&target, input));
            }
        }

        /// <summary>Links an output to an input that reads the value of the last frame. Such a link may close a
        /// cycle.</summary>
        public void ConnectFeedback(NodeId source, uint output, NodeId target, uint input)
        {
            using (Exclusive(out var graph))
            {
                Check(Native.hob_graph_connect_feedback(
                    (hob_graph*)graph, *(hob_node_id*)&source, output, *(hob_node_id*)&target, input));
            }
        }

        /// <summary>Removes the link of an input, which has its value without a link again.</summary>
        public void Disconnect(NodeId node, uint input)
        {
            using (Exclusive(out var graph)) Check(Native.hob_graph_disconnect((hob_graph*)graph, *(hob_node_id*)&node, input));
        }

        /// <summary>Sets whether a node is wanted in every frame.</summary>
        public void SetSink(NodeId node, bool isSink)
        {
            using (Exclusive(out var graph))
                Check(Native.hob_graph_set_sink((hob_graph*)graph, *(hob_node_id*)&node, isSink ? 1u : 0u));
        }

        // ---- The frame

        /// <summary>Sets an output of a node of <c>NodeClass.Input</c>, or the value of another node's input without a link.
        /// An equal value is no change. Allocates nothing.</summary>
        public void SetInput(NodeId node, uint input, Value value)
        {
            using (Exclusive(out var graph))
                Check(Native.hob_graph_set_input((hob_graph*)graph, *(hob_node_id*)&node, input, (hob_value*)&value));
        }

        /// <summary>Marks a node as changed: it runs in the next frame that wants it.</summary>
        public void Invalidate(NodeId node)
        {
            using (Exclusive(out var graph)) Check(Native.hob_graph_invalidate((hob_graph*)graph, *(hob_node_id*)&node));
        }

        /// <summary>Brings all sinks up to date: one frame.
        /// Without an executor only this thread runs nodes. Failed nodes are no exception: see
        /// <see cref="EvaluationSummary.Broken"/>; but an exception of a node is thrown at the end. Allocates nothing, apart
        /// from the first frames after an edit.</summary>
        public EvaluationSummary Evaluate(Executor executor = null, EvaluationDesc desc = default(EvaluationDesc))
        {
            using (Exclusive(out var graph)) return Evaluate(graph, executor, desc);
        }

        /// <summary>As <see cref="Evaluate(Executor, EvaluationDesc)"/>. False: another call on the graph is running.</summary>
        public bool TryEvaluate(out EvaluationSummary summary, Executor executor = null,
            EvaluationDesc desc = default(EvaluationDesc))
        {
            summary = default(EvaluationSummary);
            if (!TryExclusive(out var use, out var graph)) return false;
            using (use) summary = Evaluate(graph, executor, desc);
            return true;
        }

        EvaluationSummary Evaluate(IntPtr graph, Executor executor, EvaluationDesc desc)
        {
            EvaluationSummary summary;
            using (Use.Begin(executor, out var threads))
            {
                ((hob_evaluation_desc*)&desc)->struct_size = (uint)sizeof(hob_evaluation_desc);
                ((hob_evaluation_summary*)&summary)->struct_size = (uint)sizeof(hob_evaluation_summary);
                hob_result result;
                try { }
                finally
                {
                    result = Native.hob_graph_evaluate((hob_graph*)graph, (hob_executor*)threads, (hob_evaluation_desc*)&desc,
                        (hob_evaluation_summary*)&summary);
                }
                Check(result);
            }
            return summary;
        }

        /// <summary>Ends the running evaluation before its next node, or else the next evaluation before its first one.
        /// From any thread at any time, also inside nodes.</summary>
        public void Cancel()
        {
            using (Hold(out var graph)) Hob.Check(Native.hob_graph_cancel((hob_graph*)graph));
        }

        /// <summary>Gets the value of an output after the last evaluation. Allocates nothing.</summary>
        public Value GetValue(NodeId node, uint output = 0)
        {
            Value value;
            using (Shared(out var graph))
                Check(Native.hob_graph_get_value((hob_graph*)graph, *(hob_node_id*)&node, output, (hob_value*)&value));
            return value;
        }

        /// <summary>Gets the value of an output. False: there is no such node, or its value was released.</summary>
        public bool TryGetValue(NodeId node, uint output, out Value value)
        {
            Value found;
            using (Shared(out var graph))
            {
                var isKnown = Hob.CheckUnless(
                    Native.hob_graph_get_value((hob_graph*)graph, *(hob_node_id*)&node, output, (hob_value*)&found),
                    hob_result.HOB_RESULT_NOT_FOUND);
                value = isKnown ? found : default(Value);
                return isKnown;
            }
        }

        /// <summary>Gets the object of an object node. Null: it has none yet.
        /// The graph owns it: it may be disposed in the next evaluation.</summary>
        public T GetObject<T>(NodeId node) where T : class
        {
            return GetValue(node).Object<T>();
        }
    }
}
