// hobgoblin/profile.h: The costs of settings: a table of tasks, saved as JSON for the next run or another machine.
// Generated from abi/hobgoblin-api.json; do not edit. MIT OR Apache-2.0.

using System;
using System.Runtime.InteropServices;

namespace Hobgoblin.Interop
{
    /// <summary>Where an estimate comes from.</summary>
    public enum hob_estimate_source : uint
    {
        /// <summary>Nothing is known of the option: a guess from the other options of its setting.</summary>
        HOB_ESTIMATE_SOURCE_BLIND = 0,

        /// <summary>The past profile, scaled to this machine.</summary>
        HOB_ESTIMATE_SOURCE_PAST = 1,

        /// <summary>A few samples of this run, blended with a prior.</summary>
        HOB_ESTIMATE_SOURCE_RAMP = 2,

        /// <summary>Recent samples of this run.</summary>
        HOB_ESTIMATE_SOURCE_RECENT = 3,
    }

    /// <summary>Tasks and what their options cost.</summary>
    /// <remarks>
    /// A handle: see "Handles" in base.h.
    /// </remarks>
    public struct hob_profile
    {
    }

    /// <summary>Parameters of a profile.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_profile_desc
    {
        /// <summary>sizeof(hob_profile_desc).</summary>
        public uint struct_size;

        /// <summary>Must be 0.</summary>
        public uint reserved;

        /// <summary>Limit of the memory, in bytes. Default 0: no limit.</summary>
        public ulong memory_limit;
    }

    /// <summary>The cost of one option.</summary>
    /// <remarks>
    /// An answer: set struct_size, or begin with HOB_ESTIMATE_INIT.
    /// </remarks>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_estimate
    {
        /// <summary>sizeof(hob_estimate).</summary>
        public uint struct_size;

        /// <summary>Where it comes from.</summary>
        public hob_estimate_source source;

        /// <summary>Samples behind it; 0: nothing was measured.</summary>
        public ulong count;

        /// <summary>Mean burden in the lane's unit, milliseconds for lanes of time. Not negative.</summary>
        public double mean;

        /// <summary>Population standard deviation, in the same unit.</summary>
        public double deviation;
    }

    /// <summary>One option of a task, for hob_profile_set_task.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_profile_option
    {
        /// <summary>Samples behind it; 0: unknown. Counts above 2^53 are saved as 2^53.</summary>
        public ulong count;

        /// <summary>Mean burden: finite, not negative.</summary>
        public double mean;

        /// <summary>Standard deviation: finite, not negative.</summary>
        public double deviation;
    }

    /// <summary>The functions of the library.</summary>
    public static unsafe partial class Native
    {
        /// <summary>Creates an empty profile.</summary>
        /// <remarks>
        /// <c>desc</c> may be NULL: defaults. On success <c>*out_profile</c> is the caller's to destroy. Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_profile_create(hob_profile_desc* desc, hob_profile** out_profile);

        /// <summary>Destroys a profile; NULL is allowed.</summary>
        /// <remarks>
        /// Threads: no call on it may run on another thread.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern void hob_profile_destroy(hob_profile* profile);

        /// <summary>Replaces all tasks by those of a JSON text, <c>{"id":[[count,mean,deviation],...],...}</c>.</summary>
        /// <remarks>
        /// Each task has a list of its options: number of samples, mean, standard deviation. <c>data</c> is UTF-8; no NUL needed.
        /// HOB_RESULT_MALFORMED: the sentence has line and column. After a failure the profile is unchanged. Threads:
        /// exclusive.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_profile_load(hob_profile* profile, void* data, UIntPtr size);

        /// <summary>Writes the profile as JSON into a buffer, without a NUL; loading it restores every number exactly.</summary>
        /// <remarks>
        /// A count above 2^53 is written as 2^53. <c>*out_size</c> receives the required size. <c>buffer</c> NULL asks only for that. If
        /// <c>capacity</c> is too small, the result is HOB_RESULT_BUFFER_TOO_SMALL and the buffer stays unchanged. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_profile_save(hob_profile* profile, byte* buffer, UIntPtr capacity, UIntPtr* out_size);

        /// <summary>Replaces all tasks by those of a JSON file: as hob_profile_load, from a file.</summary>
        /// <remarks>
        /// Only a regular file is read. HOB_RESULT_IO: it is missing, unreadable, or not a regular file. Blocks on the disk. A
        /// host with its own file layer calls hob_profile_load instead. Threads: exclusive.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_profile_load_file(hob_profile* profile, hob_str path);

        /// <summary>Saves the profile as a JSON file.</summary>
        /// <remarks>
        /// A crash leaves the old file or the new one: the text goes to a new file, which then replaces <c>path</c>. A symbolic link
        /// at <c>path</c> is replaced, not followed. Several threads and processes may save to one path. A killed process may
        /// leave its new file, <c>.hobgoblin-*.new</c>, in the directory; it can be deleted. Blocks on the disk.
        /// Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_profile_save_file(hob_profile* profile, hob_str path);

        /// <summary>Sets the estimates of task <c>id</c>: <c>count</c> options, <c>stride</c> bytes apart.</summary>
        /// <remarks>
        /// A new task is added; an old one is replaced. <c>stride</c> is sizeof(hob_profile_option); 0 means its first released
        /// size. HOB_RESULT_LIMIT_EXCEEDED with more than 65535 options. Threads: exclusive.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_profile_set_task(hob_profile* profile, hob_str id, hob_profile_option* options, UIntPtr stride, uint count);

        /// <summary>Removes task <c>id</c>.</summary>
        /// <remarks>
        /// HOB_RESULT_NOT_FOUND if there is no such task. Threads: exclusive.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_profile_remove_task(hob_profile* profile, hob_str id);

        /// <summary>Removes all tasks.</summary>
        /// <remarks>
        /// Threads: exclusive.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_profile_clear(hob_profile* profile);

        /// <summary>Adds all tasks of <c>other</c>, and pools the samples of tasks that both have.</summary>
        /// <remarks>
        /// Where the two have different numbers of options for a task, the side with more samples is kept. A profile can be
        /// added to itself, which doubles its counts. HOB_RESULT_INVALID_ARGUMENT: a pooled mean or deviation overflows, as it
        /// may with burdens above 1e150. After a failure the profile is unchanged. Threads: exclusive; shared for <c>other</c>.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_profile_merge(hob_profile* profile, hob_profile* other);

        /// <summary>Multiplies every burden by <c>factor</c> (finite, above 0), as for a machine that is slower by that factor.</summary>
        /// <remarks>
        /// Threads: exclusive.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_profile_scale(hob_profile* profile, double factor);

        /// <summary>Returns the number of tasks; 0 for an invalid handle.</summary>
        /// <remarks>
        /// Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern uint hob_profile_task_count(hob_profile* profile);

        /// <summary>Gets the id of the task at <c>index</c> and its number of options.</summary>
        /// <remarks>
        /// Tasks are in order of id. <c>*out_id</c> is a view that is valid until the profile changes. <c>out_option_count</c> may be
        /// NULL. HOB_RESULT_NOT_FOUND if <c>index</c> is not below the number of tasks. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_profile_get_task(hob_profile* profile, uint index, hob_str* out_id, uint* out_option_count);

        /// <summary>Gets the estimate of one option of task <c>id</c>.</summary>
        /// <remarks>
        /// The source is HOB_ESTIMATE_SOURCE_PAST, or HOB_ESTIMATE_SOURCE_BLIND if its count is 0. HOB_RESULT_NOT_FOUND for an
        /// unknown task or option. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_profile_get_estimate(hob_profile* profile, hob_str id, uint option, hob_estimate* out_estimate);

        /// <summary>Returns the bytes that the profile holds; 0 for an invalid handle.</summary>
        /// <remarks>
        /// Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern UIntPtr hob_profile_memory_used(hob_profile* profile);

        /// <summary>Returns the sentence of this handle's last failed exclusive call.</summary>
        /// <remarks>
        /// It is empty if none has failed, and valid until the next failure. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern byte* hob_profile_last_error(hob_profile* profile);

        /// <summary>Sets the defaults of a hob_profile_desc.</summary>
        /// <remarks>
        /// <c>size</c> is sizeof(hob_profile_desc). Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_profile_desc_init(hob_profile_desc* value, uint size);

        /// <summary>Sets the defaults of a hob_estimate.</summary>
        /// <remarks>
        /// <c>size</c> is sizeof(hob_estimate). Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_estimate_init(hob_estimate* value, uint size);
    }
}
