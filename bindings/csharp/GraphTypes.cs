// Parameters and answers of graphs. MIT OR Apache-2.0.
using System;
using System.Runtime.InteropServices;
using Hobgoblin.Interop;

#pragma warning disable 169, 649 // the library writes these fields

namespace Hobgoblin
{
    /// <summary>A node of a graph. All zero is no node.</summary>
    public readonly struct NodeId : IEquatable<NodeId>
    {
        readonly uint index1, generation;
        /// <summary>Whether this is not the zero id.</summary>
        public bool IsValid => index1 != 0;
        /// <summary>Its place, from 1 on; 0 is no id.</summary>
        public uint Index1 => index1;
        /// <summary>Compares all bits.</summary>
        public bool Equals(NodeId other) => index1 == other.index1 && generation == other.generation;
        /// <summary>Compares all bits.</summary>
        public override bool Equals(object other) => other is NodeId && Equals((NodeId)other);
        /// <summary>Hashes all bits.</summary>
        public override int GetHashCode() => (int)(index1 * 31 + generation);
        /// <summary>Compares all bits.</summary>
        public static bool operator ==(NodeId a, NodeId b) => a.Equals(b);
        /// <summary>Compares all bits.</summary>
        public static bool operator !=(NodeId a, NodeId b) => !a.Equals(b);
    }
    /// <summary>The causes of a change of a node's outputs, beside its inputs.</summary>
    public enum NodeClass : uint
    {
        /// <summary>Any, such as the time or a device: it runs in every frame in which a sink depends on it. The default,
        /// because the opposite mistake gives wrong values.</summary>
        Volatile = 0,
        /// <summary>None: it runs only after a change of an input.</summary>
        Pure = 1,
        /// <summary>None, and its inputs do not change: it runs once.</summary>
        Constant = 2,
        /// <summary>Calls of <c>Graph.SetInput</c>. It has outputs only, and no <c>Evaluate</c>.</summary>
        Input = 3,
        /// <summary>None, but it has an effect outside of the graph: it is always a sink.</summary>
        Effect = 4,
    }
    /// <summary>When an output counts as changed after its node ran.</summary>
    public enum Cutoff : uint
    {
        /// <summary>Its 16 bytes differ.</summary>
        Bytes = 0,
        /// <summary><c>Word1</c> differs: a generation that the node counts up.</summary>
        Generation = 1,
        /// <summary><c>Number</c> differs by more than <c>NodeOutput.Epsilon</c>, or the other 8 bytes differ. NaN equals
        /// NaN.</summary>
        Epsilon = 2,
        /// <summary>Its bytes differ, and <c>NodeDesc.IsEqual</c> returns 0.</summary>
        Callback = 3,
        /// <summary>After every run.</summary>
        Never = 4,
    }
    /// <summary>The result of <c>NodeDesc.Evaluate</c>. Another number counts as failed.</summary>
    public enum Verdict : uint
    {
        /// <summary>The outputs are written.</summary>
        Done = 0,
        /// <summary>The node needs the lazy inputs in <c>NodeCall.Need</c>. It is called again when they are up to
        /// date.</summary>
        Need = 1,
        /// <summary>It failed. Its outputs keep their values, and nodes that depend on it do not run.</summary>
        Failed = 2,
    }
    [Flags]
    public enum NodeInputFlags : uint
    {
        /// <summary>None.</summary>
        None = 0,
        /// <summary>Evaluate the source only if the node asks for it. For the first 64 inputs of a node.</summary>
        Lazy = 1,
        /// <summary>After a failure of the source, read its last good value. Without it the node does not run until the
        /// source recovers.</summary>
        Hold = 2,
    }
    [Flags]
    public enum NodeOutputFlags : uint
    {
        /// <summary>None.</summary>
        None = 0,
        /// <summary>The value is a handle of the host that the graph owns. When a node replaces it, and when the node is
        /// removed, the graph passes it to <c>NodeDesc.ReleaseValue</c>. A handle is not all zero. Other nodes may pass
        /// it on, in outputs that are not owned. It must then differ from all handles before it, but addresses are used
        /// again: count up <c>Word1</c> beside a pointer.</summary>
        Owned = 1,
    }
    /// <summary>An input pin.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct NodeInput
    {
        /// <summary>Default none.</summary>
        public NodeInputFlags Flags;
        uint reserved;
        /// <summary>Its value without a link. Default: all zero.</summary>
        public Value Value;
    }
    /// <summary>An output pin.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct NodeOutput
    {
        /// <summary>When it counts as changed. Default <c>Cutoff.Bytes</c>.</summary>
        public Cutoff Cutoff;
        /// <summary><c>HOB_NODE_OUTPUT_</c> bits. Default 0.</summary>
        public NodeOutputFlags Flags;
        /// <summary>For <c>Cutoff.Epsilon</c>: the largest difference that is no change. At least 0.</summary>
        public double Epsilon;
        /// <summary>Its value before the first run. Default: all zero.</summary>
        public Value Value;
    }
    /// <summary>Computes the outputs of a node from its inputs.
    /// Runs inside <c>Graph.Evaluate</c>: on its thread, and on threads of its executor. It must not call its own graph,
    /// except <c>Graph.Cancel</c>. An exception fails the node, with its message as the reason; Evaluate continues, and
    /// throws the first exception at its end.</summary>
    public delegate Verdict NodeFunction(NodeCall call);

    /// <summary>Makes the object of an object node. Null: the node needs the inputs of <c>NodeCall.Need</c>, or else it
    /// failed.</summary>
    public delegate T NodeMaker<T>(NodeCall call) where T : class;

    /// <summary>Inputs and outputs of a running node, valid during the call.</summary>
    public readonly unsafe ref struct NodeCall
    {
        internal readonly hob_node_call* Raw;

        internal NodeCall(hob_node_call* raw)
        {
            Raw = raw;
        }

        /// <summary>Number of inputs.</summary>
        public int InputCount => (int)Raw->input_count;
        /// <summary>Number of outputs.</summary>
        public int OutputCount => (int)Raw->output_count;

        /// <summary>The value of an input. A lazy input that is not available may have an old value.</summary>
        public Value Input(int index)
        {
            if ((uint)index >= Raw->input_count) throw new ArgumentOutOfRangeException(nameof(index));
            return ((Value*)Raw->inputs)[index];
        }

        /// <summary>The value of an output, to be overwritten. At first that of the last run.</summary>
        public ref Value Output(int index)
        {
            if ((uint)index >= Raw->output_count) throw new ArgumentOutOfRangeException(nameof(index));
            return ref ((Value*)Raw->outputs)[index];
        }

        /// <summary>The object of an input that reads an object node. Null: it has none yet.
        /// It is valid until its node makes the next one: do not keep it.</summary>
        public T Object<T>(int index) where T : class
        {
            return Input(index).Object<T>();
        }

        /// <summary>Whether a lazy input is up to date.</summary>
        public bool IsAvailable(int input)
        {
            return (Raw->available & Bit(input)) != 0;
        }

        /// <summary>Asks for a lazy input. Return the result: the node is called again when the input is up to date.</summary>
        public Verdict Need(int input)
        {
            Raw->need |= Bit(input);
            return Verdict.Need;
        }

        /// <summary>Fails with a reason: return the result.</summary>
        public Verdict Fail(string reason)
        {
            Calls.WriteMessage(Raw->message, Raw->message_capacity, reason);
            return Verdict.Failed;
        }

        /// <summary>Reports the bytes that the owned outputs hold, for <c>Graph.SetMemoryLimit</c>.
        /// <paramref name="costNs"/> is the time of another run in nanoseconds. 0: the duration of this call.</summary>
        public void ReportHeld(ulong bytes, double costNs = 0)
        {
            Raw->held_bytes = bytes;
            Raw->cost_ns = costNs;
        }

        ulong Bit(int input)
        {
            if ((uint)input >= Math.Min(Raw->input_count, 64)) throw new ArgumentOutOfRangeException(nameof(input));
            return 1ul << input;
        }
    }

    /// <summary>Parameters of a node.</summary>
    public sealed class NodeDesc
    {
        /// <summary>The causes of a change of its outputs. Default <c>NodeClass.Volatile</c>.</summary>
        public NodeClass NodeClass { get; set; }
        /// <summary>A name for messages. Null or empty: messages show its number.</summary>
        public string Name { get; set; }
        /// <summary>The host's name of its type, for <c>Graph.Load</c> and <c>Graph.EmitC</c>.</summary>
        public string TypeName { get; set; }
        /// <summary>Computes the outputs. Must be set, except for <c>NodeClass.Input</c>, which has none.</summary>
        public NodeFunction Evaluate { get; set; }
        /// <summary>For <c>Cutoff.Callback</c>: whether the new value of an output counts as equal to the old one. Runs as
        /// Evaluate does. Arguments: the output, the old and the new value.</summary>
        public Func<uint, Value, Value, bool> IsEqual { get; set; }
        /// <summary>For <c>NodeOutputFlags.Owned</c>: releases a handle. Runs as Evaluate does, and in RemoveNode and
        /// Dispose.</summary>
        public Action<uint, Value> ReleaseValue { get; set; }
        /// <summary>The inputs. Null: <see cref="InputCount"/> inputs with the defaults.</summary>
        public NodeInput[] Inputs { get; set; }
        /// <summary>Number of inputs if <see cref="Inputs"/> is null.</summary>
        public int InputCount { get; set; }
        /// <summary>The outputs. Null: <see cref="OutputCount"/> outputs with the defaults.</summary>
        public NodeOutput[] Outputs { get; set; }
        /// <summary>Number of outputs if <see cref="Outputs"/> is null.</summary>
        public int OutputCount { get; set; } = 1;
        /// <summary>Whether the node is wanted in every frame; see <c>Graph.SetSink</c>.</summary>
        public bool IsSink { get; set; }
    }

    /// <summary>How an evaluation finds the nodes to run. All evaluators give the same values and run the same
    /// nodes.</summary>
    public enum Evaluator : uint
    {
        /// <summary>The fitting one: <c>Evaluator.Lazy</c> in the first frames after an edit, then another.</summary>
        Auto = 0,
        /// <summary>Recursion from the sinks. It serves at once after an edit.</summary>
        Lazy = 1,
        /// <summary>A list of all nodes that sinks depend on.</summary>
        List = 2,
        /// <summary>The set of the nodes that changed. The fastest on one thread.</summary>
        Bitset = 3,
        /// <summary>As <c>Evaluator.Bitset</c>, on the threads of the executor: nodes that take long enough run at the
        /// same time. Nodes with lazy inputs, and nodes that only lazy inputs ask for, run on the calling thread.</summary>
        Parallel = 4,
    }
    /// <summary>Parameters of an evaluation.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct EvaluationDesc
    {
        uint structSize;
        /// <summary>Default <c>Evaluator.Auto</c>.</summary>
        public Evaluator Evaluator;
        /// <summary>Limit of the nodes that run. The next evaluation goes on with the frame. Default 0: no
        /// limit.</summary>
        public ulong NodeLimit;
        /// <summary>Brings only this node up to date, by <c>Evaluator.Lazy</c> on this thread. It is no frame: nodes of
        /// <c>NodeClass.Volatile</c> and feedback links keep the values of the last frame. Default all zero: all
        /// sinks.</summary>
        public NodeId Only;
    }
    /// <summary>Counts of one evaluation.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct EvaluationSummary
    {
        uint structSize;
        /// <summary>1: all sinks are up to date, or <c>EvaluationDesc.Only</c> is. 0: it was cancelled or reached its
        /// limit, and the next evaluation goes on.</summary>
        public uint IsComplete;
        /// <summary>The evaluator that was used.</summary>
        public Evaluator Evaluator;
        uint reserved;
        /// <summary>Nodes that ran. Includes failed nodes, and nodes of <c>NodeClass.Input</c> with a new
        /// value.</summary>
        public ulong Runs;
        /// <summary>Runs that ended with <c>Verdict.Need</c>. <c>Runs</c> does not include them.</summary>
        public ulong Requests;
        /// <summary>Nodes that have failed, or do not run because of one that has.</summary>
        public ulong Broken;
        /// <summary>Inputs that <c>Evaluator.Lazy</c> examined.</summary>
        public ulong ExaminedInputs;
    }
    /// <summary>Why a node ran in the last evaluation, or did not.</summary>
    public enum NodeWhy : uint
    {
        /// <summary>It did not run: no input changed.</summary>
        NoChange = 0,
        /// <summary>It did not run: no sink depends on it.</summary>
        NoSink = 1,
        /// <summary>It did not run: sinks depend on it only through <c>Input</c> of <c>Node</c>, which is lazy and was
        /// not asked for.</summary>
        NotAsked = 2,
        /// <summary>It did not run: it depends on <c>Node</c>, which failed.</summary>
        Broken = 3,
        /// <summary>It did not run: the evaluation ended before.</summary>
        Waits = 4,
        /// <summary>It ran: it is volatile.</summary>
        Volatile = 5,
        /// <summary>It ran: its <c>Input</c> changed.</summary>
        Changed = 6,
        /// <summary>It ran: it was new, edited, set or invalidated. Or an input had changed while no sink asked for it, or a
        /// feedback link passed on a change.</summary>
        Edited = 7,
        /// <summary>It ran: <c>Node</c> read its value, which had been released; see
        /// <c>Graph.SetMemoryLimit</c>.</summary>
        Restored = 8,
    }
    /// <summary>Why a node ran or did not.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct NodeReason
    {
        uint structSize;
        /// <summary>The kind of reason.</summary>
        public NodeWhy Why;
        /// <summary>Another node, if <c>Why</c> names one. Otherwise all zero.</summary>
        public NodeId Node;
        /// <summary>An input, if <c>Why</c> names one. Otherwise 0.</summary>
        public uint Input;
        uint reserved;
    }
    /// <summary>Counts of a graph since it was created.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct GraphStatistics
    {
        uint structSize;
        uint reserved;
        /// <summary>Nodes now.</summary>
        public ulong Nodes;
        /// <summary>Links now, feedback links included.</summary>
        public ulong Links;
        /// <summary>Evaluations.</summary>
        public ulong Evaluations;
        /// <summary>Complete frames.</summary>
        public ulong Frames;
        /// <summary>Runs of nodes, without those that ended with <c>Verdict.Need</c>.</summary>
        public ulong Runs;
        /// <summary>Runs that ended with <c>Verdict.Need</c>.</summary>
        public ulong Requests;
        /// <summary>Blocks of nodes that were given to an executor.</summary>
        public ulong Blocks;
        /// <summary>Bytes of memory held, without what values and <c>UserData</c> refer to.</summary>
        public ulong MemoryUsed;
        /// <summary>Bytes that owned outputs hold now with their <c>HeldBytes</c>. 0 before
        /// <c>Graph.SetMemoryLimit</c>.</summary>
        public ulong HeldBytes;
        /// <summary>Nodes whose values were released to keep the limit.</summary>
        public ulong Releases;
        /// <summary>Runs of nodes whose value had been released. <c>Runs</c> includes them.</summary>
        public ulong Restores;
    }
    /// <summary>Counts of a node since it was added.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct NodeStatistics
    {
        uint structSize;
        uint reserved;
        /// <summary>Runs, without those that ended with <c>Verdict.Need</c>.</summary>
        public ulong Runs;
        /// <summary>Mean duration of a run in nanoseconds, measured in the second run and in every 64th after it.
        /// 0: not known.</summary>
        public double MeanNs;
        /// <summary>Bytes that its owned outputs hold now. 0 before <c>Graph.SetMemoryLimit</c>.</summary>
        public ulong HeldBytes;
    }
    /// <summary>A node of <c>NodeClass.Pure</c> or <c>NodeClass.Constant</c> that gave other outputs for the same
    /// inputs.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct GraphFinding
    {
        /// <summary>The node. It depends on something that is not an input: time, state, or another node.</summary>
        public NodeId Node;
        /// <summary>The output that differs.</summary>
        public uint Output;
        /// <summary>Evaluations between both runs.</summary>
        public uint Evaluations;
        /// <summary>The value of the first run.</summary>
        public Value Before;
        /// <summary>The value of the second run. All zero also if that failed or asked for other inputs.</summary>
        public Value After;
    }
    /// <summary>A node that <c>Graph.Load</c> is loading: its data in the text, and the function to run.</summary>
    public sealed class LoadingNode
    {
        internal NodeBox Box;
        internal readonly SharedException Exceptions;

        internal LoadingNode(uint id, NodeClass nodeClass, string name, string typeName, int inputs, int outputs, bool isSink,
            SharedException exceptions)
        {
            Id = id;
            NodeClass = nodeClass;
            Name = name;
            TypeName = typeName;
            InputCount = inputs;
            OutputCount = outputs;
            IsSink = isSink;
            Exceptions = exceptions;
        }

        /// <summary>The Index1 that its id had.</summary>
        public uint Id { get; }
        /// <summary>Its class.</summary>
        public NodeClass NodeClass { get; }
        /// <summary>Its name.</summary>
        public string Name { get; }
        /// <summary>The name of its type.</summary>
        public string TypeName { get; }
        /// <summary>Number of inputs. Refuse numbers of pins that the type cannot have.</summary>
        public int InputCount { get; }
        /// <summary>Number of outputs.</summary>
        public int OutputCount { get; }
        /// <summary>Whether it is a sink.</summary>
        public bool IsSink { get; }

        /// <summary>Sets what it runs; see <see cref="NodeDesc"/>.</summary>
        public void Set(NodeFunction evaluate, Func<uint, Value, Value, bool> isEqual = null,
            Action<uint, Value> releaseValue = null)
        {
            if (evaluate == null) throw new ArgumentNullException(nameof(evaluate));
            Box = new FunctionBox(evaluate, isEqual, releaseValue, Exceptions);
        }

        /// <summary>Sets what it runs; see <c>Graph.AddObject</c>.</summary>
        public void SetObject<T>(NodeMaker<T> make) where T : class
        {
            if (make == null) throw new ArgumentNullException(nameof(make));
            Box = new ObjectBox<T>(make, Exceptions);
        }
    }

    /// <summary>What a node runs: the user data of its callbacks.</summary>
    internal abstract class NodeBox
    {
        internal readonly SharedException Exceptions;

        protected NodeBox(SharedException exceptions)
        {
            Exceptions = exceptions;
        }

        internal abstract bool HasIsEqual { get; }
        internal abstract bool HasReleaseValue { get; }
        internal abstract Verdict Evaluate(NodeCall call);
        internal abstract bool IsEqual(uint output, Value before, Value after);
        internal abstract void ReleaseValue(uint output, Value value);
    }

    internal sealed class FunctionBox : NodeBox
    {
        readonly NodeFunction evaluate;
        readonly Func<uint, Value, Value, bool> isEqual;
        readonly Action<uint, Value> releaseValue;

        internal FunctionBox(NodeFunction evaluate, Func<uint, Value, Value, bool> isEqual, Action<uint, Value> releaseValue,
            SharedException exceptions) : base(exceptions)
        {
            this.evaluate = evaluate;
            this.isEqual = isEqual;
            this.releaseValue = releaseValue;
        }

        internal override bool HasIsEqual => isEqual != null;
        internal override bool HasReleaseValue => releaseValue != null;
        internal override Verdict Evaluate(NodeCall call) => evaluate(call);
        internal override bool IsEqual(uint output, Value before, Value after) => isEqual(output, before, after);
        internal override void ReleaseValue(uint output, Value value) => releaseValue(output, value);
    }

    /// <summary>Makes objects, which are values by their number in the table.</summary>
    internal sealed class ObjectBox<T> : NodeBox where T : class
    {
        readonly NodeMaker<T> make;

        internal ObjectBox(NodeMaker<T> make, SharedException exceptions) : base(exceptions)
        {
            this.make = make;
        }

        /// <summary>The only output of such a node.</summary>
        internal static NodeOutput Output => new NodeOutput
        {
            Flags = NodeOutputFlags.Owned, Cutoff = IsComparable ? Cutoff.Callback : Cutoff.Bytes,
        };

        static bool IsComparable => typeof(IEquatable<T>).IsAssignableFrom(typeof(T));

        internal override bool HasIsEqual => IsComparable;
        internal override bool HasReleaseValue => true;

        internal override unsafe Verdict Evaluate(NodeCall call)
        {
            var made = make(call);
            if (made == null) return call.Raw->need != 0 ? Verdict.Need : Verdict.Failed;
            call.Output(0) = ObjectTable.Add(made);
            return Verdict.Done;
        }

        internal override bool IsEqual(uint output, Value before, Value after)
        {
            var one = before.Object<T>() as IEquatable<T>;
            var other = after.Object<T>();
            return one != null && other != null && one.Equals(other);
        }

        internal override void ReleaseValue(uint output, Value value) => ObjectTable.Remove(value);
    }
}
