// Multiple-choice knapsack: one option of each setting, for the greatest total value; see knapsack.h.
// MIT OR Apache-2.0.
//
//     using (var knapsack = new Knapsack())
//     {
//         knapsack.Add(new KnapsackOption(0.2, 1.0), new KnapsackOption(0.8, 2.5, 0.1));    // value, mean, variance
//         knapsack.Add(new KnapsackOption(0.1, 0.5), new KnapsackOption(0.6, 1.5, 0.2));
//         var solution = knapsack.Solve(new KnapsackSolveDesc { Capacity = 4.0, Sigmas = 2.0 });
//         ushort[] choices = knapsack.GetChoices();
//     }
using System;
using System.Runtime.InteropServices;
using Hobgoblin.Interop;

namespace Hobgoblin
{
    /// <summary>Parameters of a knapsack; see hob_knapsack_desc.</summary>
    public sealed unsafe class KnapsackDesc
    {
        internal hob_knapsack_desc Raw;

        public KnapsackDesc()
        {
            Hob.Ready(Room.Goblin);
            fixed (hob_knapsack_desc* raw = &Raw)
                Hob.Check(Native.hob_knapsack_desc_init(raw, (uint)sizeof(hob_knapsack_desc)));
        }

        /// <summary>Limit of the memory for settings and options, in bytes. Default: 1 GiB.</summary>
        public ulong MemoryLimit { get => Raw.memory_limit; set => Raw.memory_limit = value; }
        /// <summary>Number of resources, up to 8, for AddResources and SolveResources. Default 0: one, and Add and Solve.</summary>
        public uint ResourceCount { get => Raw.resource_count; set => Raw.resource_count = value; }
    }

    /// <summary>One option of a setting; see hob_knapsack_option.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct KnapsackOption
    {
        /// <summary>Value of choosing it; may be negative.</summary>
        public double Value;
        /// <summary>Mean of its burden. Infinity: the option cannot be chosen.</summary>
        public double Mean;
        /// <summary>Variance of its burden.</summary>
        public double Variance;

        public KnapsackOption(double value, double mean, double variance = 0)
        {
            Value = value;
            Mean = mean;
            Variance = variance;
        }
    }

    /// <summary>Burden of an option in one resource; see hob_knapsack_weight.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct KnapsackWeight
    {
        /// <summary>Mean. Infinity: the option cannot be chosen.</summary>
        public double Mean;
        public double Variance;

        public KnapsackWeight(double mean, double variance = 0)
        {
            Mean = mean;
            Variance = variance;
        }
    }

    /// <summary>Capacity of one resource; see hob_knapsack_resource.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct KnapsackResource
    {
        /// <summary>Upper limit of the total burden. 0 is a value; infinity: no limit.</summary>
        public double Capacity;
        /// <summary>Number of deviations that count as burden.</summary>
        public double Sigmas;

        public KnapsackResource(double capacity, double sigmas = 0)
        {
            Capacity = capacity;
            Sigmas = sigmas;
        }
    }

    /// <summary>Parameters of a solve; see hob_knapsack_solve_desc.</summary>
    public sealed unsafe class KnapsackSolveDesc
    {
        internal hob_knapsack_solve_desc Raw;

        public KnapsackSolveDesc()
        {
            Hob.Ready(Room.Goblin);
            fixed (hob_knapsack_solve_desc* raw = &Raw)
                Hob.Check(Native.hob_knapsack_solve_desc_init(raw, (uint)sizeof(hob_knapsack_solve_desc)));
        }

        /// <summary>Upper limit of the total burden. 0 is a value. Default: infinity, no limit.</summary>
        public double Capacity { get => Raw.capacity; set => Raw.capacity = value; }
        /// <summary>Number of deviations that count as burden. Default 0: only means count.</summary>
        public double Sigmas { get => Raw.sigmas; set => Raw.sigmas = value; }
        /// <summary>Gap to the optimum at which the search may stop, such as 0.01. Default 0: only at the optimum.</summary>
        public double AcceptedGap { get => Raw.accepted_gap; set => Raw.accepted_gap = value; }
        /// <summary>Limit of the search. Default: 4,000,000, about half a second. A few thousand suit a frame.</summary>
        public ulong NodeLimit { get => Raw.node_limit; set => Raw.node_limit = value; }
    }

    /// <summary>The result of a solve; see hob_knapsack_solution.</summary>
    public struct KnapsackSolution
    {
        internal hob_knapsack_solution Raw;

        /// <summary>Whether the choices fit.</summary>
        public bool IsFeasible => Raw.feasible != 0;
        /// <summary>Whether the choices are known to be optimal, or it is known that nothing fits.</summary>
        public bool IsProven => Raw.proven != 0;
        /// <summary>Sum of the chosen values.</summary>
        public double Value => Raw.value;
        public double Mean => Raw.mean;
        public double Variance => Raw.variance;
        /// <summary>Total burden: mean + sigmas · √variance.</summary>
        public double Burden => Raw.burden;
        /// <summary>Part of the burden that exceeds the capacity.</summary>
        public double Excess => Raw.excess;
        /// <summary>Upper bound of the value of any choices that fit.</summary>
        public double UpperBound => Raw.upper_bound;
        /// <summary>Gap to the upper bound, 0 to 1; 0 if proven.</summary>
        public double Gap => Raw.gap;
        /// <summary>Nodes that the search took.</summary>
        public ulong Nodes => Raw.nodes;
    }

    /// <summary>Usage of one resource by the choices; see hob_knapsack_usage.</summary>
    public struct KnapsackUsage
    {
        internal hob_knapsack_usage Raw;

        public double Mean => Raw.mean;
        public double Variance => Raw.variance;
        /// <summary>Total burden: mean + sigmas · √variance.</summary>
        public double Burden => Raw.burden;
        /// <summary>Part of the burden that exceeds the capacity.</summary>
        public double Excess => Raw.excess;
        /// <summary>Shadow price: the approximate value of one more unit of capacity.</summary>
        public double Price => Raw.price;
    }

    /// <summary>
    /// Settings, and the choices of the last solve; see hob_knapsack. Several threads may read it at once; a call that
    /// changes or solves it must be the only one.
    /// </summary>
    public sealed unsafe class Knapsack : ExclusiveHandle
    {
        /// <summary>The choice of a setting that has no options.</summary>
        public const ushort ChoiceNone = (ushort)Constants.HOB_KNAPSACK_CHOICE_NONE;

        readonly uint resourceCount;

        public Knapsack(KnapsackDesc desc = null)
        {
            Hob.Ready(Room.Goblin);
            hob_knapsack* native = null;
            var raw = new hob_knapsack_desc();
            if (desc != null) raw = desc.Raw;
            Hob.Check(Native.hob_knapsack_create(desc == null ? null : &raw, &native));
            resourceCount = raw.resource_count;
            Adopt(native);
        }

        internal override void Destroy(IntPtr native)
        {
            Native.hob_knapsack_destroy((hob_knapsack*)native);
        }

        GatedUse Exclusive(out hob_knapsack* knapsack)
        {
            var use = Exclusive(out IntPtr native);
            knapsack = (hob_knapsack*)native;
            return use;
        }

        GatedUse Shared(out hob_knapsack* knapsack)
        {
            var use = Shared(out IntPtr native);
            knapsack = (hob_knapsack*)native;
            return use;
        }

        /// <summary>Removes all settings. Memory, and the choices of the last solve, stay.</summary>
        public void Clear()
        {
            using (Exclusive(out hob_knapsack* knapsack)) Hob.Check(Native.hob_knapsack_clear(knapsack));
        }

        /// <summary>Adds a setting and returns its index.</summary>
        public uint Add(params KnapsackOption[] options)
        {
            if (options == null) throw new ArgumentNullException(nameof(options));
            return Add(options, 0, options.Length);
        }

        /// <summary>Adds a setting of <paramref name="count"/> options of an array. Returns its index.</summary>
        public uint Add(KnapsackOption[] options, int offset, int count)
        {
            Buffers.CheckRange(options, offset, count);
            fixed (KnapsackOption* first = options)
            using (Exclusive(out hob_knapsack* knapsack))
            {
                uint index;
                Hob.Check(Native.hob_knapsack_add_setting(
                    knapsack, (hob_knapsack_option*)(first + offset), (UIntPtr)(uint)sizeof(KnapsackOption), (uint)count,
                    &index));
                return index;
            }
        }

        /// <summary>Solves it for one resource. If nothing fits, the choices are those of least burden.</summary>
        public KnapsackSolution Solve(KnapsackSolveDesc desc)
        {
            if (desc == null) throw new ArgumentNullException(nameof(desc));
            using (Exclusive(out hob_knapsack* knapsack))
            fixed (hob_knapsack_solve_desc* raw = &desc.Raw)
            {
                var solution = EmptySolution();
                Hob.Check(Native.hob_knapsack_solve(knapsack, raw, &solution.Raw));
                return solution;
            }
        }

        /// <summary>The choices of the last solve: one option index per setting, in the order of the settings.</summary>
        public ushort[] GetChoices()
        {
            var choices = new ushort[CopyChoices(null)];
            if (choices.Length > 0) CopyChoices(choices);
            return choices;
        }

        /// <summary>
        /// Copies the choices of the last solve and returns their number. Null asks only for that; an array that is too
        /// small is an error.
        /// </summary>
        public int CopyChoices(ushort[] choices)
        {
            using (Shared(out hob_knapsack* knapsack))
            fixed (ushort* first = choices)
            {
                uint count;
                // An empty array has no first element, so it must not ask for the number.
                ushort none;
                Hob.Check(Native.hob_knapsack_choices(
                    knapsack, choices != null && first == null ? &none : first, (uint)(choices?.Length ?? 0), &count));
                return checked((int)count);
            }
        }

        /// <summary>
        /// Adds a setting to a knapsack with several resources and returns its index. The weights of an option stand side by
        /// side, one for each resource.
        /// </summary>
        public uint AddResources(double[] values, KnapsackWeight[] weights)
        {
            if (values == null) throw new ArgumentNullException(nameof(values));
            if (weights == null) throw new ArgumentNullException(nameof(weights));
            if ((long)values.Length * resourceCount != weights.Length && resourceCount != 0)
                throw new ArgumentException(
                    $"expected {resourceCount} weights for each of {values.Length} values, not {weights.Length} in total");
            fixed (double* value = values)
            fixed (KnapsackWeight* weight = weights)
            using (Exclusive(out hob_knapsack* knapsack))
            {
                uint index;
                Hob.Check(Native.hob_knapsack_add_setting_resources(
                    knapsack, value, UIntPtr.Zero, (hob_knapsack_weight*)weight, UIntPtr.Zero, (uint)values.Length, &index));
                return index;
            }
        }

        /// <summary>Solves it for several resources. <paramref name="desc"/> may be null; its capacity is not used.</summary>
        public KnapsackSolution SolveResources(KnapsackResource[] resources, KnapsackSolveDesc desc = null)
        {
            if (resources == null) throw new ArgumentNullException(nameof(resources));
            var raw = new hob_knapsack_solve_desc();
            if (desc != null) raw = desc.Raw;
            fixed (KnapsackResource* first = resources)
            using (Exclusive(out hob_knapsack* knapsack))
            {
                var solution = EmptySolution();
                Hob.Check(Native.hob_knapsack_solve_resources(
                    knapsack, (hob_knapsack_resource*)first, (UIntPtr)(uint)sizeof(KnapsackResource),
                    (uint)resources.Length, desc == null ? null : &raw, &solution.Raw));
                return solution;
            }
        }

        /// <summary>The usage of a resource by the last SolveResources.</summary>
        public KnapsackUsage GetResourceUsage(uint resource)
        {
            if (TryGetResourceUsage(resource, out var usage)) return usage;
            throw Hob.Failure(hob_result.HOB_RESULT_NOT_FOUND);
        }

        /// <summary>As GetResourceUsage. False: there is no such resource, or no such solve yet.</summary>
        public bool TryGetResourceUsage(uint resource, out KnapsackUsage usage)
        {
            using (Shared(out hob_knapsack* knapsack))
            {
                var found = new KnapsackUsage();
                Hob.Check(Native.hob_knapsack_usage_init(&found.Raw, (uint)sizeof(hob_knapsack_usage)));
                var isFound = Hob.CheckUnless(
                    Native.hob_knapsack_get_resource_usage(knapsack, resource, &found.Raw),
                    hob_result.HOB_RESULT_NOT_FOUND);
                usage = found;
                return isFound;
            }
        }

        /// <summary>Reserves memory: up to these counts, adding and solving allocate nothing.</summary>
        public void Reserve(uint settings, uint options)
        {
            using (Exclusive(out hob_knapsack* knapsack))
                Hob.Check(Native.hob_knapsack_reserve(knapsack, settings, options));
        }

        public uint SettingCount
        {
            get { using (Shared(out hob_knapsack* knapsack)) return Native.hob_knapsack_setting_count(knapsack); }
        }

        /// <summary>Bytes that it holds.</summary>
        public ulong MemoryUsed
        {
            get { using (Shared(out hob_knapsack* knapsack)) return (ulong)Native.hob_knapsack_memory_used(knapsack); }
        }

        /// <summary>The sentence of its last call that failed and would have changed it.</summary>
        public string LastError
        {
            get { using (Shared(out hob_knapsack* knapsack)) return Text.From(Native.hob_knapsack_last_error(knapsack)); }
        }

        static KnapsackSolution EmptySolution()
        {
            var solution = new KnapsackSolution();
            Hob.Check(Native.hob_knapsack_solution_init(&solution.Raw, (uint)sizeof(hob_knapsack_solution)));
            return solution;
        }
    }
}
