// hobgoblin/base.h: Results, strings, versions and hooks: the basis of all other headers.
// Generated from abi/hobgoblin-api.json; do not edit. MIT OR Apache-2.0.

using System;
using System.Runtime.InteropServices;

namespace Hobgoblin.Interop
{
    /// <summary>The numeric macros of the headers.</summary>
    public static partial class Constants
    {
        /// <summary>The version of the headers, as hob_version() returns it.</summary>
        public const uint HOB_VERSION = 4096;

        /// <summary>The header's major version.</summary>
        /// <remarks>
        /// hob_version() returns the library's.
        /// </remarks>
        public const uint HOB_VERSION_MAJOR = 0;

        /// <summary>The header's minor version.</summary>
        public const uint HOB_VERSION_MINOR = 1;

        /// <summary>The header's patch version.</summary>
        public const uint HOB_VERSION_PATCH = 0;

        /// <summary>The version of the ABI.</summary>
        /// <remarks>
        /// It rises when programs compiled against an older header no longer work with the library.
        /// </remarks>
        public const uint HOB_ABI_VERSION = 1;
    }

    /// <summary>Marks stable functions: from 1.0 on they and their types never change.</summary>
    /// <remarks>
    /// Until then CHANGELOG.md lists the changes.
    /// Marks experimental functions: they and their types may change at any release.
    /// Marks functions whose result must be used.
    /// Packs a version into a number, in ascending order.
    /// The header's version, as HOB_MAKE_VERSION.
    /// The result of a function that can fail.
    /// 0 is success; codes are only appended. hob_last_error() has the sentence that belongs to a failure.
    /// </remarks>
    public enum hob_result : uint
    {
        /// <summary>Success.</summary>
        HOB_RESULT_OK = 0,

        /// <summary>An argument is invalid, and nothing was changed. Or a callback returned an invalid value.</summary>
        HOB_RESULT_INVALID_ARGUMENT = 1,

        /// <summary>It does not exist, or was removed. Nothing was changed.</summary>
        HOB_RESULT_NOT_FOUND = 2,

        /// <summary>A limit of the handle would be exceeded. Nothing was changed.</summary>
        HOB_RESULT_LIMIT_EXCEEDED = 3,

        /// <summary>Out of memory. Nothing was changed.</summary>
        HOB_RESULT_OUT_OF_MEMORY = 4,

        /// <summary>The bytes are not in the expected format. Nothing was changed.</summary>
        HOB_RESULT_MALFORMED = 5,

        /// <summary>Not possible with this version, build or machine, or with this kind of handle.</summary>
        HOB_RESULT_UNSUPPORTED = 6,

        /// <summary>Another call on the handle is running: on another thread, or on this one, around a callback. Or another process
        /// keeps changing the files.</summary>
        HOB_RESULT_BUSY = 7,

        /// <summary>The buffer is too small. Only the required size was written.</summary>
        HOB_RESULT_BUFFER_TOO_SMALL = 8,

        /// <summary>A file operation failed.</summary>
        HOB_RESULT_IO = 9,

        /// <summary>An internal error was caught; the sentence has file and line. A handle that was being changed is poisoned.</summary>
        /// <remarks>
        /// Please report it.
        /// </remarks>
        HOB_RESULT_PANIC = 10,

        /// <summary>An earlier call on this handle ended in HOB_RESULT_PANIC. Const functions still answer from the last good
        /// state; all others do nothing. Destroy the handle and create a new one when convenient.</summary>
        HOB_RESULT_POISONED = 11,

        /// <summary>The time was too short: some work still waits. Call again, or allow more time.</summary>
        HOB_RESULT_TIMEOUT = 12,

        /// <summary>The program is banned: the process ended too often while it was in use. Build it from source.</summary>
        HOB_RESULT_BANNED = 13,

        /// <summary>The driver failed to compile a shader or to link a program.</summary>
        HOB_RESULT_BUILD_FAILED = 14,

        /// <summary>The last frames do not agree, or not enough of them are known yet.</summary>
        HOB_RESULT_NO_CONSENSUS = 15,

        /// <summary>A cognition failed: hob_perception_get_failure has its message.</summary>
        HOB_RESULT_COGNITION_FAILED = 16,
    }

    /// <summary>How important a log line is.</summary>
    public enum hob_log_level : uint
    {
        /// <summary>Details, for finding a fault.</summary>
        HOB_LOG_LEVEL_DEBUG = 0,

        /// <summary>Worth knowing.</summary>
        HOB_LOG_LEVEL_INFO = 1,

        /// <summary>Something is wrong; the library goes on.</summary>
        HOB_LOG_LEVEL_WARNING = 2,

        /// <summary>Something failed.</summary>
        HOB_LOG_LEVEL_ERROR = 3,
    }

    /// <summary>Experimental: 16 bytes whose meaning is the host's: a value between the nodes of a graph, or the value of a perception.</summary>
    /// <remarks>
    /// Larger data is a handle of the host in these bytes. All 16 bytes count: set those that are not used to 0, as
    /// <c>hob_value value = {{0}};</c> and hob_value_of_number do.
    /// </remarks>
    [StructLayout(LayoutKind.Explicit)]
    public unsafe struct hob_value
    {
        /// <summary>Two numbers.</summary>
        [FieldOffset(0)]
        public fixed double numbers[2];

        /// <summary>One number: the first of <c>numbers</c>.</summary>
        [FieldOffset(0)]
        public double number;

        /// <summary>Four numbers of single precision.</summary>
        [FieldOffset(0)]
        public fixed float vector[4];

        /// <summary>An integer.</summary>
        [FieldOffset(0)]
        public long integer;

        /// <summary>Two words. HOB_CUTOFF_GENERATION of graph.h compares the second one.</summary>
        [FieldOffset(0)]
        public fixed ulong words[2];

        /// <summary>A pointer of the host.</summary>
        [FieldOffset(0)]
        public void* pointer;

        /// <summary>All bytes.</summary>
        [FieldOffset(0)]
        public fixed byte bytes[16];
    }

    /// <summary>Text that is passed in: UTF-8, <c>len</c> bytes, no NUL needed.</summary>
    /// <remarks>
    /// With <c>len</c> SIZE_MAX, <c>data</c> ends in NUL. <c>data</c> may be NULL when <c>len</c> is 0. The library copies what it keeps. See
    /// HOB_STR and hob_str_of.
    /// </remarks>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_str
    {
        /// <summary>The first byte.</summary>
        public byte* data;

        /// <summary>Bytes, without a NUL; SIZE_MAX: <c>data</c> ends in NUL.</summary>
        public UIntPtr len;
    }

    /// <summary>Receives log lines.</summary>
    /// <remarks>
    /// Without this hook they are dropped: the library never prints.
    /// </remarks>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_log_hook
    {
        /// <summary>sizeof(hob_log_hook).</summary>
        public uint struct_size;

        /// <summary>Lines below this level are dropped. HOB_LOG_HOOK_INIT sets HOB_LOG_LEVEL_INFO. 0 is a value,
        /// HOB_LOG_LEVEL_DEBUG: a zeroed struct receives everything.</summary>
        public hob_log_level minimum_level;

        /// <summary>Passed to <c>write</c>.</summary>
        public void* user_data;

        /// <summary>Receives one line of at most 512 bytes, without a line end. <c>line.data</c> ends in NUL and is valid during the
        /// call. Runs on any thread that runs library code, perhaps on several at once, inside a call: call no function on
        /// that call's handle.</summary>
        public IntPtr write;
    }

    /// <summary>A clock for measured times: hob_decision_details.elapsed_ns, and build times of a hob_program_manager.</summary>
    /// <remarks>
    /// Without this hook they stay 0. Timeouts and time budgets use it too, or the operating system's clock without it.
    /// hob_goblin_update never reads the operating system's.
    /// </remarks>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_clock_hook
    {
        /// <summary>sizeof(hob_clock_hook).</summary>
        public uint struct_size;

        /// <summary>Must be 0.</summary>
        public uint reserved;

        /// <summary>Passed to <c>now_ns</c>.</summary>
        public void* user_data;

        /// <summary>Returns monotonic nanoseconds. Runs on any thread that runs library code, perhaps on several at once.</summary>
        public IntPtr now_ns;
    }

    /// <summary>Receives profiler zones: the library's larger steps, by name.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_zone_hook
    {
        /// <summary>sizeof(hob_zone_hook).</summary>
        public uint struct_size;

        /// <summary>Must be 0.</summary>
        public uint reserved;

        /// <summary>Passed to <c>begin</c> and <c>end</c>.</summary>
        public void* user_data;

        /// <summary>A zone begins on this thread. <c>name</c> ends in NUL and lives as long as the library.</summary>
        public IntPtr begin;

        /// <summary>The innermost zone of this thread ends.</summary>
        public IntPtr end;
    }

    /// <summary>The host's allocator.</summary>
    /// <remarks>
    /// Only in builds with the feature <c>host-allocator</c>, which packaged builds have.
    /// </remarks>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_allocator_hook
    {
        /// <summary>sizeof(hob_allocator_hook).</summary>
        public uint struct_size;

        /// <summary>Must be 0.</summary>
        public uint reserved;

        /// <summary>Passed to <c>allocate</c> and <c>free</c>.</summary>
        public void* user_data;

        /// <summary>Returns <c>size</c> bytes (never 0), at a multiple of <c>alignment</c>, a power of two. NULL: out of memory; the call that
        /// needed it returns HOB_RESULT_OUT_OF_MEMORY. Runs on any thread that runs library code, perhaps on several at
        /// once; must not call the library.</summary>
        public IntPtr allocate;

        /// <summary>Takes back memory of <c>allocate</c>, with the same size and alignment.</summary>
        public IntPtr free;
    }

    /// <summary>The type of hob_log_hook.write, whose C type is a pointer to it.</summary>
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    public unsafe delegate void hob_log_hook_write_fn(void* user_data, hob_log_level level, hob_str line);

    /// <summary>The type of hob_clock_hook.now_ns, whose C type is a pointer to it.</summary>
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    public unsafe delegate ulong hob_clock_hook_now_ns_fn(void* user_data);

    /// <summary>The type of hob_zone_hook.begin, whose C type is a pointer to it.</summary>
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    public unsafe delegate void hob_zone_hook_begin_fn(void* user_data, byte* name);

    /// <summary>The type of hob_zone_hook.end, whose C type is a pointer to it.</summary>
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    public unsafe delegate void hob_zone_hook_end_fn(void* user_data);

    /// <summary>The type of hob_allocator_hook.allocate, whose C type is a pointer to it.</summary>
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    public unsafe delegate void* hob_allocator_hook_allocate_fn(void* user_data, UIntPtr size, UIntPtr alignment);

    /// <summary>The type of hob_allocator_hook.free, whose C type is a pointer to it.</summary>
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    public unsafe delegate void hob_allocator_hook_free_fn(void* user_data, void* memory, UIntPtr size, UIntPtr alignment);

    /// <summary>The functions of the library.</summary>
    public static unsafe partial class Native
    {
#if (UNITY_IOS || UNITY_TVOS || UNITY_WEBGL) && !UNITY_EDITOR
        /// <summary>The library is linked into the program.</summary>
        public const string Library = "__Internal";
#else
        /// <summary>Name of the library, without a prefix and an extension.</summary>
        public const string Library = "hobgoblin";
#endif

        /// <summary>Returns the library's version, as HOB_MAKE_VERSION(major, minor, patch).</summary>
        /// <remarks>
        /// HOB_VERSION is the header's. Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern uint hob_version();

        /// <summary>Returns the library's HOB_ABI_VERSION, which must equal the header's.</summary>
        /// <remarks>
        /// Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern uint hob_abi_version();

        /// <summary>Returns the name of a result: "HOB_RESULT_OK" and so on, "HOB_RESULT_UNKNOWN" for an unknown number.</summary>
        /// <remarks>
        /// The text is static and ends in NUL. Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern byte* hob_result_name(hob_result result);

        /// <summary>Returns the sentence of the last call that failed on this thread: the mistake, and how to correct it.</summary>
        /// <remarks>
        /// It is empty if no call has failed; a call that succeeds leaves it unchanged. Handles keep their own sentence as well
        /// (hob_goblin_last_error and so on), for hosts whose fibers change threads. The text ends in NUL and is valid until
        /// the next failure on this thread. Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern byte* hob_last_error();

        /// <summary>Sets the log hook; NULL: none.</summary>
        /// <remarks>
        /// The struct is copied; a NULL <c>write</c> means none. Keep the previous <c>user_data</c> until all calls that began before
        /// have returned. Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_set_log_hook(hob_log_hook* hook);

        /// <summary>Sets the clock hook; NULL: none.</summary>
        /// <remarks>
        /// The struct is copied. Threads: while no other call runs, otherwise one duration may be measured with two clocks.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_set_clock_hook(hob_clock_hook* hook);

        /// <summary>Sets the profiler hook; NULL: none.</summary>
        /// <remarks>
        /// The struct is copied. Threads: while no other call runs, otherwise a zone may begin in one profiler and end in
        /// another.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_set_zone_hook(hob_zone_hook* hook);

        /// <summary>Sets the allocator; NULL: the system's.</summary>
        /// <remarks>
        /// The struct is copied; both functions must be set. HOB_RESULT_BUSY while the library holds any memory: destroy all
        /// handles, release all blobs, and let posted tasks run first. HOB_RESULT_UNSUPPORTED in a build without the feature
        /// <c>host-allocator</c>. Threads: while no other call runs.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_set_allocator_hook(hob_allocator_hook* hook);

        /// <summary>Sets the defaults of a hob_log_hook.</summary>
        /// <remarks>
        /// <c>size</c> is sizeof(hob_log_hook). Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_log_hook_init(hob_log_hook* value, uint size);

        /// <summary>Sets the defaults of a hob_clock_hook.</summary>
        /// <remarks>
        /// <c>size</c> is sizeof(hob_clock_hook). Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_clock_hook_init(hob_clock_hook* value, uint size);

        /// <summary>Sets the defaults of a hob_zone_hook.</summary>
        /// <remarks>
        /// <c>size</c> is sizeof(hob_zone_hook). Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_zone_hook_init(hob_zone_hook* value, uint size);

        /// <summary>Sets the defaults of a hob_allocator_hook.</summary>
        /// <remarks>
        /// <c>size</c> is sizeof(hob_allocator_hook). Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_allocator_hook_init(hob_allocator_hook* value, uint size);
    }
}
