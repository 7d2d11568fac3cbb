// hobgoblin/knapsack.h: Multiple-choice knapsack: choose one option of each setting for the greatest total value.
// Generated from abi/hobgoblin-api.json; do not edit. MIT OR Apache-2.0.

using System;
using System.Runtime.InteropServices;

namespace Hobgoblin.Interop
{
    /// <summary>The numeric macros of the headers.</summary>
    public static partial class Constants
    {
        /// <summary>The choice of a setting that has no options.</summary>
        public const uint HOB_KNAPSACK_CHOICE_NONE = 65535;

        /// <summary>Upper limit of <c>resource_count</c>.</summary>
        public const uint HOB_KNAPSACK_MAX_RESOURCES = 8;
    }

    /// <summary>Settings, and the choices of the last solve.</summary>
    /// <remarks>
    /// A handle: see "Handles" in base.h.
    /// </remarks>
    public struct hob_knapsack
    {
    }

    /// <summary>Parameters of a knapsack.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_knapsack_desc
    {
        /// <summary>sizeof(hob_knapsack_desc).</summary>
        public uint struct_size;

        /// <summary>Must be 0.</summary>
        public uint reserved;

        /// <summary>Limit of the memory for settings and options, in bytes. Default: 1 GiB; UINT64_MAX: no limit.</summary>
        /// <remarks>
        /// The memory of a long search is limited by <c>node_limit</c> instead.
        /// </remarks>
        public ulong memory_limit;

        /// <summary>Number of resources, up to HOB_KNAPSACK_MAX_RESOURCES, for the functions under "Several resources".</summary>
        /// <remarks>
        /// Default 0: one resource, and the functions under "Solve".
        /// </remarks>
        public uint resource_count;

        /// <summary>Must be 0.</summary>
        public uint reserved2;
    }

    /// <summary>One option of a setting.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_knapsack_option
    {
        /// <summary>Value of choosing it: finite, at most 1e100 in magnitude, may be negative.</summary>
        public double value;

        /// <summary>Mean of its burden: at most 1e100 in magnitude, may be negative. HUGE_VAL: the option cannot be chosen. If that
        /// is so for all options of a setting, nothing fits.</summary>
        public double mean;

        /// <summary>Variance of its burden: 0 to 1e100.</summary>
        public double variance;
    }

    /// <summary>Parameters of a solve.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_knapsack_solve_desc
    {
        /// <summary>sizeof(hob_knapsack_solve_desc).</summary>
        public uint struct_size;

        /// <summary>Must be 0.</summary>
        public uint reserved;

        /// <summary>Upper limit of the total burden. A total that equals it up to rounding (1e-12 of its terms) fits. 0 is a value:</summary>
        /// <remarks>
        /// only a total of at most 0 fits. HUGE_VAL: no limit, which HOB_KNAPSACK_SOLVE_DESC_INIT sets.
        /// </remarks>
        public double capacity;

        /// <summary>Number of deviations that count as burden: 0 to 1e100. 0 is a value, and the default: only means count.</summary>
        public double sigmas;

        /// <summary>Gap to the optimum at which the search may stop: 0.01 is one percent, finite, not negative. 0 is a value, and
        /// the default: the search stops only at the optimum, or at node_limit.</summary>
        /// <remarks>
        /// The gap is a share of the optimum's value above the value of the lightest choices. These are each setting's
        /// option of least mean. So a constant added to all values of a setting changes neither choices nor proof. With
        /// several resources, the least valuable options take the place of the lightest. Options with a better one that is
        /// no heavier in any resource don't count.
        /// </remarks>
        public double accepted_gap;

        /// <summary>Limit of the search work, in nodes. Default: 4,000,000, which takes about half a second. A few thousand suit a
        /// frame.</summary>
        /// <remarks>
        /// There is an answer and an upper bound at any limit. With n options in sum they take at most 20 n + 300 nodes.
        /// With several resources, the search may exceed the limit by n / 2 + 600.
        /// </remarks>
        public ulong node_limit;
    }

    /// <summary>The result of a solve.</summary>
    /// <remarks>
    /// An answer: set struct_size, or begin with HOB_KNAPSACK_SOLUTION_INIT.
    /// </remarks>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_knapsack_solution
    {
        /// <summary>sizeof(hob_knapsack_solution).</summary>
        public uint struct_size;

        /// <summary>1 if the choices fit; 0 if they exceed a capacity.</summary>
        public uint feasible;

        /// <summary>1 if the choices are known to be optimal, or if it is known that nothing fits. A value that is better by 1e-12
        /// of the values at stake counts as equal.</summary>
        public uint proven;

        /// <summary>Always 0.</summary>
        public uint reserved;

        /// <summary>Sum of the chosen values.</summary>
        public double value;

        /// <summary>Sum of the chosen means. 0 with several resources, like the next three fields.</summary>
        public double mean;

        /// <summary>Sum of the chosen variances.</summary>
        public double variance;

        /// <summary>Total burden: mean + sigmas * sqrt(variance).</summary>
        public double burden;

        /// <summary>Part of the burden that exceeds the capacity; 0 if feasible.</summary>
        public double excess;

        /// <summary>Upper bound of the value of any choices that fit.</summary>
        public double upper_bound;

        /// <summary>Gap to the upper bound; 0 if proven.</summary>
        /// <remarks>
        /// It is a share of the upper bound above the value of the lightest choices: see
        /// hob_knapsack_solve_desc.accepted_gap. 1 if the choices are worth no more than the lightest, or don't fit.
        /// </remarks>
        public double gap;

        /// <summary>Nodes that the search took.</summary>
        public ulong nodes;
    }

    /// <summary>Burden of an option in one resource.</summary>
    /// <remarks>
    /// Weights stand side by side in rows, so this struct never grows.
    /// </remarks>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_knapsack_weight
    {
        /// <summary>Mean: at most 1e100 in magnitude, may be negative. HUGE_VAL: the option cannot be chosen. If that is so for all
        /// options of a setting, nothing fits.</summary>
        public double mean;

        /// <summary>Variance: 0 to 1e100.</summary>
        public double variance;
    }

    /// <summary>Capacity of one resource.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_knapsack_resource
    {
        /// <summary>Upper limit of the resource's total burden; equality fits. 0 is a value. HUGE_VAL: no limit.</summary>
        public double capacity;

        /// <summary>Number of deviations that count as burden: 0 to 1e100.</summary>
        public double sigmas;
    }

    /// <summary>Usage of one resource by the choices.</summary>
    /// <remarks>
    /// An answer: set struct_size, or begin with HOB_KNAPSACK_USAGE_INIT.
    /// </remarks>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_knapsack_usage
    {
        /// <summary>sizeof(hob_knapsack_usage).</summary>
        public uint struct_size;

        /// <summary>Always 0.</summary>
        public uint reserved;

        /// <summary>Sum of the chosen means.</summary>
        public double mean;

        /// <summary>Sum of the chosen variances.</summary>
        public double variance;

        /// <summary>Total burden: mean + sigmas * sqrt(variance).</summary>
        public double burden;

        /// <summary>Part of the burden that exceeds the capacity; 0 if it fits.</summary>
        public double excess;

        /// <summary>Shadow price: the approximate value of one more unit of capacity. It is that of the relaxed problem, which may
        /// use capacity that the choices leave free.</summary>
        public double price;
    }

    /// <summary>The functions of the library.</summary>
    public static unsafe partial class Native
    {
        /// <summary>Creates an empty knapsack.</summary>
        /// <remarks>
        /// <c>desc</c> may be NULL: defaults. On success <c>*out_knapsack</c> is the caller's to destroy. Threads: any.
        /// <para/>
        /// <code>
        /// hob_knapsack_desc desc = HOB_KNAPSACK_DESC_INIT;
        /// desc.resource_count = 2;                            /* time and memory */
        /// hob_knapsack *knapsack = NULL;
        /// if (hob_knapsack_create(&amp;desc, &amp;knapsack) != HOB_RESULT_OK) fail(hob_last_error());
        /// </code>
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_knapsack_create(hob_knapsack_desc* desc, hob_knapsack** out_knapsack);

        /// <summary>Destroys a knapsack; NULL is allowed.</summary>
        /// <remarks>
        /// Threads: no call on it may run on another thread.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern void hob_knapsack_destroy(hob_knapsack* knapsack);

        /// <summary>Removes all settings.</summary>
        /// <remarks>
        /// The memory and the choices of the last solve are kept. Threads: exclusive.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_knapsack_clear(hob_knapsack* knapsack);

        /// <summary>Adds a setting of <c>count</c> options (0 to 65535), <c>stride</c> bytes apart.</summary>
        /// <remarks>
        /// The options are copied. <c>stride</c> 0 means the option's first released size. <c>*out_index</c> receives the setting's
        /// index: 0, 1, 2, …; it may be NULL. HOB_RESULT_LIMIT_EXCEEDED: too many options, or the memory limit is reached.
        /// HOB_RESULT_UNSUPPORTED: the knapsack has a resource_count. After a failure nothing is added. Threads: exclusive.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_knapsack_add_setting(hob_knapsack* knapsack, hob_knapsack_option* options, UIntPtr stride, uint count, uint* out_index);

        /// <summary>Chooses one option of each setting, with the greatest total value whose total burden fits.</summary>
        /// <remarks>
        /// The choices are optimal unless <c>node_limit</c> or <c>accepted_gap</c> ends the search; then <c>gap</c> is positive. If nothing
        /// fits, the choices are those of least burden, and the result is HOB_RESULT_OK with <c>feasible</c> 0. The same calls in
        /// the same order give the same choices. <c>out_solution</c> may be NULL. HOB_RESULT_UNSUPPORTED: the knapsack has a
        /// resource_count. Threads: exclusive.
        /// <para/>
        /// <code>
        /// hob_knapsack_solve_desc desc = HOB_KNAPSACK_SOLVE_DESC_INIT;
        /// desc.capacity = 16.6;
        /// desc.sigmas = 2.0;                                  /* stay below it in 97.7 % of the frames */
        /// desc.node_limit = 3000;
        /// hob_knapsack_solution solution = HOB_KNAPSACK_SOLUTION_INIT;
        /// hob_knapsack_solve(knapsack, &amp;desc, &amp;solution);
        /// </code>
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_knapsack_solve(hob_knapsack* knapsack, hob_knapsack_solve_desc* desc, hob_knapsack_solution* out_solution);

        /// <summary>Copies the choices of the last solve: one option index per setting, in the order of the settings.</summary>
        /// <remarks>
        /// A setting without options has HOB_KNAPSACK_CHOICE_NONE. <c>*out_count</c> receives the number of settings in the last
        /// solve, 0 before the first. <c>choices</c> NULL asks only for that; otherwise <c>out_count</c> may be NULL.
        /// HOB_RESULT_BUFFER_TOO_SMALL: <c>capacity</c> is less than the number, and <c>choices</c> is unchanged. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_knapsack_choices(hob_knapsack* knapsack, ushort* choices, uint capacity, uint* out_count);

        /// <summary>Adds a setting of <c>count</c> options (0 to 65535) to a knapsack with a resource_count.</summary>
        /// <remarks>
        /// The options are copied. The value of option n is at n * <c>value_stride</c> bytes from <c>values</c>. Its resource_count
        /// weights are side by side at n * <c>weights_stride</c> bytes from <c>weights</c>. Stride 0 means no gaps. <c>*out_index</c> receives
        /// the setting's index; it may be NULL. HOB_RESULT_LIMIT_EXCEEDED: as hob_knapsack_add_setting. HOB_RESULT_UNSUPPORTED:
        /// the knapsack has no resource_count. Threads: exclusive.
        /// <para/>
        /// <code>
        /// const double values[] = {0.2, 0.8};
        /// const hob_knapsack_weight weights[][2] = {{{1.0, 0.0}, {64.0, 0.0}}, {{2.5, 0.1}, {256.0, 0.0}}};
        /// hob_knapsack_add_setting_resources(knapsack, values, sizeof values[0], weights[0], sizeof weights[0], 2, NULL);
        /// </code>
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_knapsack_add_setting_resources(hob_knapsack* knapsack, double* values, UIntPtr value_stride, hob_knapsack_weight* weights, UIntPtr weights_stride, uint count, uint* out_index);

        /// <summary>Chooses one option of each setting, with the greatest total value whose burden fits in every resource.</summary>
        /// <remarks>
        /// <c>resources</c> are resource_count capacities, <c>stride</c> bytes apart (0: the first released size), in the order of the
        /// weights. <c>count</c> must be resource_count. <c>desc</c> may be NULL: defaults; its <c>capacity</c> must be 0 or HUGE_VAL, its
        /// <c>sigmas</c> 0. <c>out_solution</c> may be NULL. Otherwise as hob_knapsack_solve, with two differences:
        /// <para/>
        /// - If <c>feasible</c> is 0, the choices exceed the capacities by little; only <c>proven</c> 1 means that nothing fits.
        /// - The search starts from the last choices if the counts of settings and options are unchanged.
        /// <para/>
        /// Threads: exclusive.
        /// <para/>
        /// <code>
        /// const hob_knapsack_resource resources[] = {{16.6, 2.0}, {2048.0, 0.0}};    /* milliseconds, megabytes */
        /// hob_knapsack_solve_resources(knapsack, resources, sizeof resources[0], 2, NULL, NULL);
        /// </code>
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_knapsack_solve_resources(hob_knapsack* knapsack, hob_knapsack_resource* resources, UIntPtr stride, uint count, hob_knapsack_solve_desc* desc, hob_knapsack_solution* out_solution);

        /// <summary>Gets the usage of resource <c>resource</c> (0 to resource_count - 1) by the last hob_knapsack_solve_resources.</summary>
        /// <remarks>
        /// HOB_RESULT_NOT_FOUND: there is no such resource, or no such solve yet. HOB_RESULT_UNSUPPORTED: the knapsack has no
        /// resource_count. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_knapsack_get_resource_usage(hob_knapsack* knapsack, uint resource, hob_knapsack_usage* out_usage);

        /// <summary>Reserves memory for <c>settings</c> settings with <c>options</c> options in total.</summary>
        /// <remarks>
        /// Within these counts, adding and solving allocate nothing more. The exception: with one resource, a search of more
        /// than 4096 nodes may allocate, and keeps that memory. HOB_RESULT_LIMIT_EXCEEDED: the memory limit is too low.
        /// Threads: exclusive.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_knapsack_reserve(hob_knapsack* knapsack, uint settings, uint options);

        /// <summary>Returns the number of settings since the last clear; 0 for an invalid handle.</summary>
        /// <remarks>
        /// Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern uint hob_knapsack_setting_count(hob_knapsack* knapsack);

        /// <summary>Returns the bytes that the knapsack holds; 0 for an invalid handle.</summary>
        /// <remarks>
        /// Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern UIntPtr hob_knapsack_memory_used(hob_knapsack* knapsack);

        /// <summary>Returns the sentence of this handle's last failed exclusive call.</summary>
        /// <remarks>
        /// It is empty if none has failed, and valid until the next failure. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern byte* hob_knapsack_last_error(hob_knapsack* knapsack);

        /// <summary>Sets the defaults of a hob_knapsack_desc.</summary>
        /// <remarks>
        /// <c>size</c> is sizeof(hob_knapsack_desc). Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_knapsack_desc_init(hob_knapsack_desc* value, uint size);

        /// <summary>Sets the defaults of a hob_knapsack_solve_desc.</summary>
        /// <remarks>
        /// <c>size</c> is sizeof(hob_knapsack_solve_desc). Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_knapsack_solve_desc_init(hob_knapsack_solve_desc* value, uint size);

        /// <summary>Sets the defaults of a hob_knapsack_solution.</summary>
        /// <remarks>
        /// <c>size</c> is sizeof(hob_knapsack_solution). Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_knapsack_solution_init(hob_knapsack_solution* value, uint size);

        /// <summary>Sets the defaults of a hob_knapsack_usage.</summary>
        /// <remarks>
        /// <c>size</c> is sizeof(hob_knapsack_usage). Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_knapsack_usage_init(hob_knapsack_usage* value, uint size);
    }
}
