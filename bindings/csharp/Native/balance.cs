// hobgoblin/balance.h: Experimental: Chooses among strategies for the same work by measured time.
// Generated from abi/hobgoblin-api.json; do not edit. MIT OR Apache-2.0.

using System;
using System.Runtime.InteropServices;

namespace Hobgoblin.Interop
{
    /// <summary>The numeric macros of the headers.</summary>
    public static partial class Constants
    {
        /// <summary>Experimental: Most strategies of a balance.</summary>
        public const uint HOB_BALANCE_MAX_STRATEGIES = 64;
    }

    /// <summary>Experimental: How a balance chooses.</summary>
    public enum hob_balance_policy : uint
    {
        /// <summary>The fastest strategy. Trials are paid from <c>trial_share</c>: one that takes little longer is tried often, one that
        /// takes four times as long about every 200 pieces of work.</summary>
        HOB_BALANCE_POLICY_ACCOUNTS = 0,

        /// <summary>At random, for two strategies, by the means of their last 20 durations.</summary>
        /// <remarks>
        /// The share of the faster one is 50 %, or 75, 90 or 95 % if the other takes 1.15, 1.3 or 1.5 times as long. It
        /// costs 15 % beside a strategy that takes four times as long, and turns slowly.
        /// </remarks>
        HOB_BALANCE_POLICY_TABLE = 1,
    }

    /// <summary>Experimental: Why a replay ended.</summary>
    public enum hob_balance_replay_end : uint
    {
        /// <summary>The whole recording was repeated.</summary>
        HOB_BALANCE_REPLAY_END_COMPLETE = 0,

        /// <summary>As many calls were repeated as were asked for.</summary>
        HOB_BALANCE_REPLAY_END_STOPPED = 1,

        /// <summary>The recording is cut off: its last block is incomplete or missing.</summary>
        HOB_BALANCE_REPLAY_END_TRUNCATED = 2,

        /// <summary>The bytes are not what was written.</summary>
        HOB_BALANCE_REPLAY_END_DAMAGED = 3,
    }

    /// <summary>Experimental: Durations of strategies, and the next choice.</summary>
    /// <remarks>
    /// A handle: see "Handles" in base.h.
    /// </remarks>
    public struct hob_balance
    {
    }

    /// <summary>Experimental: Parameters of a balance.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_balance_desc
    {
        /// <summary>sizeof(hob_balance_desc).</summary>
        public uint struct_size;

        /// <summary>Number of strategies: 1 to HOB_BALANCE_MAX_STRATEGIES. Default: 2, which HOB_BALANCE_POLICY_TABLE requires.</summary>
        public uint strategy_count;

        /// <summary>How it chooses. Default: HOB_BALANCE_POLICY_ACCOUNTS.</summary>
        public hob_balance_policy policy;

        /// <summary>Must be 0.</summary>
        public uint reserved;

        /// <summary>Share of the time that trials may cost: above 0, up to 1. Default: 0.015. Lower: a strategy that becomes the
        /// fastest is found later. HOB_BALANCE_POLICY_TABLE ignores it.</summary>
        public double trial_share;

        /// <summary>Seed of the random numbers. 0 is a value, and the default. The same seed and calls give the same choices.</summary>
        public ulong seed;
    }

    /// <summary>Experimental: A strategy as it was measured.</summary>
    /// <remarks>
    /// An answer: set struct_size, or begin with HOB_BALANCE_STATISTICS_INIT.
    /// </remarks>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_balance_statistics
    {
        /// <summary>sizeof(hob_balance_statistics).</summary>
        public uint struct_size;

        /// <summary>1 if it is the fastest strategy as far as is known. 0 for all strategies until one is measured.</summary>
        public uint is_fastest;

        /// <summary>Pieces of work for which it was chosen.</summary>
        public ulong chosen;

        /// <summary>Durations that count.</summary>
        public ulong measured;

        /// <summary>Durations that were ignored: negative, 0, not finite, or more than an hour.</summary>
        public ulong ignored;

        /// <summary>How often its durations changed, as with the scene.</summary>
        public ulong changes;

        /// <summary>Its share of the last 128 choices since the last restart: 0 to 1.</summary>
        public double share;

        /// <summary>Mean of its recent durations, in nanoseconds. 0: none since the last restart.</summary>
        /// <remarks>
        /// Single long durations count little until there are dozens of durations.
        /// </remarks>
        public double mean_ns;

        /// <summary>Their standard deviation without single long ones, in nanoseconds.</summary>
        public double deviation_ns;
    }

    /// <summary>Experimental: The outcome of a replay.</summary>
    /// <remarks>
    /// An answer: set struct_size, or begin with HOB_BALANCE_REPLAY_REPORT_INIT.
    /// </remarks>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_balance_replay_report
    {
        /// <summary>sizeof(hob_balance_replay_report).</summary>
        public uint struct_size;

        /// <summary>Why it ended.</summary>
        public hob_balance_replay_end end;

        /// <summary>The byte at which it ended; the size of the recording if that is complete.</summary>
        public ulong bytes;

        /// <summary>Calls repeated: choices, durations, also ignored ones, and restarts.</summary>
        public ulong calls;

        /// <summary>Choices repeated.</summary>
        public ulong choices;

        /// <summary>Choices of another strategy than recorded. 0: all are identical.</summary>
        public ulong different;

        /// <summary>The call of the first of them, counted from 1; 0: none.</summary>
        public ulong first_different;

        /// <summary>The recorded strategy of that call.</summary>
        public uint recorded;

        /// <summary>The replayed one.</summary>
        public uint replayed;

        /// <summary>The version of the library that recorded, as HOB_MAKE_VERSION. Another version may choose differently.</summary>
        public uint library_version;

        /// <summary>0.</summary>
        public uint reserved;
    }

    /// <summary>The type of hob_balance_start_recording.write, whose C type is a pointer to it.</summary>
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    public unsafe delegate void hob_balance_start_recording_write_fn(void* user_data, void* data, UIntPtr size);

    /// <summary>The type of hob_balance_start_recording.release, whose C type is a pointer to it.</summary>
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    public unsafe delegate void hob_balance_start_recording_release_fn(void* user_data);

    /// <summary>The functions of the library.</summary>
    public static unsafe partial class Native
    {
        /// <summary>Experimental: Creates a balance.</summary>
        /// <remarks>
        /// <c>desc</c> may be NULL: two strategies. On success <c>*out_balance</c> is the caller's to destroy. Later calls allocate
        /// nothing, but for hob_balance_start_recording. Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_balance_create(hob_balance_desc* desc, hob_balance** out_balance);

        /// <summary>Experimental: Destroys a balance; NULL is allowed.</summary>
        /// <remarks>
        /// It ends a recording. Threads: no call on it may run on another thread. Callbacks: <c>write</c> and <c>release</c> of the
        /// recording.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern void hob_balance_destroy(hob_balance* balance);

        /// <summary>Experimental: Chooses the strategy for the next piece of work.</summary>
        /// <remarks>
        /// In the beginning and after hob_balance_restart, each strategy is chosen twice. A choice need not be measured.
        /// Threads: exclusive. Callbacks: <c>write</c> of a recording.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_balance_choose(hob_balance* balance, uint* out_strategy);

        /// <summary>Experimental: Reports how long a piece of work took with a strategy, in nanoseconds.</summary>
        /// <remarks>
        /// Durations may come late and in any order, as those of a GPU do. They need not be of chosen pieces. A duration of 0
        /// or of more than an hour is ignored and counted: HOB_RESULT_OK. HOB_RESULT_INVALID_ARGUMENT: it is negative or not
        /// finite; it is counted, too. HOB_RESULT_NOT_FOUND: there is no such strategy. Threads: exclusive. Callbacks: <c>write</c>
        /// of a recording.
        /// <para/>
        /// <code>
        /// hob_balance_measure(balance, strategy, gpu_ms * 1e6);
        /// </code>
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_balance_measure(hob_balance* balance, uint strategy, double duration_ns);

        /// <summary>Experimental: Forgets all durations, for a new scene: each strategy is chosen twice, as in the beginning.</summary>
        /// <remarks>
        /// Counts of the statistics stay. Durations of earlier pieces that come later count for the new scene.
        /// <para/>
        /// A balance also finds changes by itself. A strategy in use that becomes slower shows within about 12 pieces of work.
        /// Another one that becomes the fastest shows only in its next trials. If it took 1.3 times as long before, that is
        /// after about 10 pieces; 4 times: 100; 8 times: 270. Durations that vary by 30 % make it 5 to 13 times as many.
        /// Threads: exclusive. Callbacks: <c>write</c> of a recording.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_balance_restart(hob_balance* balance);

        /// <summary>Experimental: Gets what is known of a strategy.</summary>
        /// <remarks>
        /// HOB_RESULT_NOT_FOUND: there is no such strategy. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_balance_get_statistics(hob_balance* balance, uint strategy, hob_balance_statistics* out_statistics);

        /// <summary>Experimental: Returns the number of strategies; 0 for an invalid handle.</summary>
        /// <remarks>
        /// Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern uint hob_balance_strategy_count(hob_balance* balance);

        /// <summary>Experimental: Returns the sentence of this handle's last failed exclusive call.</summary>
        /// <remarks>
        /// It is empty if none has failed, and valid until the next failure. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern byte* hob_balance_last_error(hob_balance* balance);

        /// <summary>Experimental: Records all calls from here on, so that hob_balance_replay can repeat them; docs/formats.md has the format.</summary>
        /// <remarks>
        /// Call it right after hob_balance_create or hob_balance_restart. After a choice or a duration, or while calls are
        /// recorded, the result is HOB_RESULT_UNSUPPORTED.
        /// <para/>
        /// <c>write</c> receives pieces that together are the recording: 46 bytes at once, then blocks of about 100 pieces of work.
        /// The last one comes from hob_balance_stop_recording or hob_balance_destroy. A piece of work takes 10 bytes, and
        /// allocates nothing. <c>release</c> may be NULL; it is called once, after the end.
        /// <para/>
        /// Threads: exclusive. Callbacks: <c>write</c> runs inside the calls on this balance, on their thread. Inside it, shared and
        /// exclusive functions on this balance return HOB_RESULT_BUSY, and hob_balance_destroy takes effect when the running
        /// call returns.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_balance_start_recording(hob_balance* balance, IntPtr write, void* user_data, IntPtr release);

        /// <summary>Experimental: Ends the recording; without one it does nothing.</summary>
        /// <remarks>
        /// Another one can begin after hob_balance_restart. Threads: exclusive. Callbacks: <c>write</c>, then <c>release</c>.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_balance_stop_recording(hob_balance* balance);

        /// <summary>Experimental: Repeats the first <c>most_calls</c> calls of a recording, and compares every choice; UINT64_MAX: all calls.</summary>
        /// <remarks>
        /// <c>*out_balance</c> receives a balance as the recorded one was after those calls, and <c>*out_report</c> the outcome; either
        /// may be NULL. The balance is the caller's to destroy: look at its statistics, or go on with it. Its counts begin with
        /// the recording.
        /// <para/>
        /// A truncated or damaged recording is repeated up to that point. The result is HOB_RESULT_OK even then, and if choices
        /// differ. The same build of the library makes the same choices; another may not. HOB_RESULT_MALFORMED: the bytes are
        /// no recording, or its first 46 bytes are cut off or damaged. HOB_RESULT_UNSUPPORTED: the format of another version.
        /// Threads: any.
        /// <para/>
        /// <code>
        /// hob_balance *balance = NULL;                        /* on the customer's machine, after 500 calls */
        /// hob_balance_replay(data, size, 500, &amp;balance, NULL);
        /// hob_balance_get_statistics(balance, 0, &amp;statistics);
        /// </code>
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_balance_replay(void* data, UIntPtr size, ulong most_calls, hob_balance** out_balance, hob_balance_replay_report* out_report);

        /// <summary>Experimental: Sets the defaults of a hob_balance_desc.</summary>
        /// <remarks>
        /// <c>size</c> is sizeof(hob_balance_desc). Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_balance_desc_init(hob_balance_desc* value, uint size);

        /// <summary>Experimental: Sets the defaults of a hob_balance_statistics.</summary>
        /// <remarks>
        /// <c>size</c> is sizeof(hob_balance_statistics). Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_balance_statistics_init(hob_balance_statistics* value, uint size);

        /// <summary>Experimental: Sets the defaults of a hob_balance_replay_report.</summary>
        /// <remarks>
        /// <c>size</c> is sizeof(hob_balance_replay_report). Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_balance_replay_report_init(hob_balance_replay_report* value, uint size);
    }
}
