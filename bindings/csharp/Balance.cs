// Chooses among strategies for the same work by measured time; see balance.h. Experimental. MIT OR Apache-2.0.
//
//     using (var balance = new Balance(new BalanceDesc { StrategyCount = 2 }))
//         for (;;)
//         {
//             uint strategy = balance.Choose();
//             var start = Stopwatch.GetTimestamp();
//             if (strategy == 0) UpdateEverything(); else UpdateChanges();
//             balance.Measure(strategy, (Stopwatch.GetTimestamp() - start) * 1e9 / Stopwatch.Frequency);
//         }
using System;
using Hobgoblin.Interop;

namespace Hobgoblin
{
    /// <summary>How a balance chooses; see hob_balance_policy.</summary>
    public enum BalancePolicy : uint
    {
        /// <summary>The fastest strategy. Trials are paid from TrialShare: one that takes little longer is tried
        /// often, one that takes four times as long about every 200 pieces of work.</summary>
        Accounts = 0,
        /// <summary>At random, for two strategies, by the means of their last 20 durations. The share of the faster one
        /// is 50 %, or 75, 90 or 95 % if the other takes 1.15, 1.3 or 1.5 times as long. It costs 15 % beside a
        /// strategy that takes four times as long, and turns slowly.</summary>
        Table = 1,
    }

    /// <summary>Why a replay ended; see hob_balance_replay_end.</summary>
    public enum BalanceReplayEnd : uint
    {
        /// <summary>The whole recording was repeated.</summary>
        Complete = 0,
        /// <summary>As many calls were repeated as were asked for.</summary>
        Stopped = 1,
        /// <summary>The recording is cut off: its last block is incomplete or missing.</summary>
        Truncated = 2,
        /// <summary>The bytes are not what was written.</summary>
        Damaged = 3,
    }

    /// <summary>Parameters of a balance; see hob_balance_desc.</summary>
    public sealed unsafe class BalanceDesc
    {
        internal hob_balance_desc Raw;

        public BalanceDesc()
        {
            Hob.Ready(Room.Balance);
            fixed (hob_balance_desc* raw = &Raw)
                Hob.Check(Native.hob_balance_desc_init(raw, (uint)sizeof(hob_balance_desc)));
        }

        /// <summary>Number of strategies: 1 to 64. Default 2.</summary>
        public uint StrategyCount { get => Raw.strategy_count; set => Raw.strategy_count = value; }
        /// <summary>How it chooses. Default: BalancePolicy.Accounts.</summary>
        public BalancePolicy Policy { get => (BalancePolicy)Raw.policy; set => Raw.policy = (hob_balance_policy)value; }
        /// <summary>Share of the time that trials may cost: above 0, up to 1. Default 0.015.</summary>
        public double TrialShare { get => Raw.trial_share; set => Raw.trial_share = value; }
        /// <summary>Seed of the random numbers. Default 0.</summary>
        public ulong Seed { get => Raw.seed; set => Raw.seed = value; }
    }

    /// <summary>A strategy as it was measured; see hob_balance_statistics.</summary>
    public struct BalanceStatistics
    {
        internal hob_balance_statistics Raw;

        /// <summary>Whether it is the fastest as far as is known.</summary>
        public bool IsFastest => Raw.is_fastest != 0;
        public ulong Chosen => Raw.chosen;
        public ulong Measured => Raw.measured;
        public ulong Ignored => Raw.ignored;
        /// <summary>How often its durations changed.</summary>
        public ulong Changes => Raw.changes;
        /// <summary>Its share of the last 128 choices.</summary>
        public double Share => Raw.share;
        /// <summary>Mean of its recent durations, in nanoseconds. 0: none since the last restart.</summary>
        public double MeanNanoseconds => Raw.mean_ns;
        public double DeviationNanoseconds => Raw.deviation_ns;
    }

    /// <summary>The outcome of a replay; see hob_balance_replay_report.</summary>
    public struct BalanceReplayReport
    {
        internal hob_balance_replay_report Raw;

        public BalanceReplayEnd End => (BalanceReplayEnd)Raw.end;
        /// <summary>The byte at which it ended.</summary>
        public ulong Bytes => Raw.bytes;
        /// <summary>Calls repeated: choices, durations and restarts.</summary>
        public ulong Calls => Raw.calls;
        public ulong Choices => Raw.choices;
        /// <summary>Choices of another strategy than recorded.</summary>
        public ulong Different => Raw.different;
        /// <summary>The call of the first of them, from 1; 0: none.</summary>
        public ulong FirstDifferent => Raw.first_different;
        public uint Recorded => Raw.recorded;
        public uint Replayed => Raw.replayed;
        /// <summary>The version of the library that recorded.</summary>
        public Version LibraryVersion => Hob.Unpack(Raw.library_version);
    }

    /// <summary>
    /// Durations of strategies, and the next choice; see hob_balance. A call that chooses or measures must be the only one.
    /// </summary>
    public sealed unsafe class Balance : ExclusiveHandle
    {
        public Balance(BalanceDesc desc = null)
        {
            Hob.Ready(Room.Balance);
            hob_balance* native = null;
            var raw = new hob_balance_desc();
            if (desc != null) raw = desc.Raw;
            Hob.Check(Native.hob_balance_create(desc == null ? null : &raw, &native));
            Adopt(native);
        }

        Balance(hob_balance* native)
        {
            Adopt(native);
        }

        internal override void Destroy(IntPtr native)
        {
            Native.hob_balance_destroy((hob_balance*)native);
        }

        GatedUse Exclusive(out hob_balance* balance)
        {
            var use = Exclusive(out IntPtr native);
            balance = (hob_balance*)native;
            return use;
        }

        GatedUse Shared(out hob_balance* balance)
        {
            var use = Shared(out IntPtr native);
            balance = (hob_balance*)native;
            return use;
        }

        /// <summary>Chooses the strategy for the next piece of work.</summary>
        public uint Choose()
        {
            using (Exclusive(out hob_balance* balance))
            {
                uint strategy;
                Hob.Check(Native.hob_balance_choose(balance, &strategy));
                return strategy;
            }
        }

        /// <summary>Reports how long a piece of work took with a strategy.</summary>
        public void Measure(uint strategy, double durationNanoseconds)
        {
            using (Exclusive(out hob_balance* balance))
                Hob.Check(Native.hob_balance_measure(balance, strategy, durationNanoseconds));
        }

        /// <summary>Forgets all durations, for a new scene.</summary>
        public void Restart()
        {
            using (Exclusive(out hob_balance* balance)) Hob.Check(Native.hob_balance_restart(balance));
        }

        /// <summary>What is known of a strategy.</summary>
        public BalanceStatistics GetStatistics(uint strategy)
        {
            using (Shared(out hob_balance* balance))
            {
                var statistics = new BalanceStatistics();
                Hob.Check(Native.hob_balance_statistics_init(&statistics.Raw, (uint)sizeof(hob_balance_statistics)));
                Hob.Check(Native.hob_balance_get_statistics(balance, strategy, &statistics.Raw));
                return statistics;
            }
        }

        public uint StrategyCount
        {
            get { using (Shared(out hob_balance* balance)) return Native.hob_balance_strategy_count(balance); }
        }

        /// <summary>The sentence of its last call that failed and would have changed it.</summary>
        public string LastError
        {
            get { using (Shared(out hob_balance* balance)) return Text.From(Native.hob_balance_last_error(balance)); }
        }

        /// <summary>
        /// Records all calls from here on, right after creation or Restart. <paramref name="write"/> receives pieces that
        /// together are the recording, inside calls on this balance and its Dispose. They rethrow its exceptions.
        /// </summary>
        public void StartRecording(Action<byte[]> write)
        {
            var userData = Recording.Keep(write);
            var isStarted = false;
            try
            {
                using (Exclusive(out hob_balance* balance))
                {
                    hob_result result;
                    try { }
                    finally
                    {
                        result = Native.hob_balance_start_recording(
                            balance, Recording.WritePointer, userData, Callbacks.ReleasePointer);
                        isStarted = result == hob_result.HOB_RESULT_OK;
                    }
                    Hob.Check(result);
                }
            }
            finally
            {
                if (!isStarted) Callbacks.Drop(userData);
            }
        }

        /// <summary>Ends the recording.</summary>
        public void StopRecording()
        {
            using (Exclusive(out hob_balance* balance)) Hob.Check(Native.hob_balance_stop_recording(balance));
        }

        /// <summary>
        /// Repeats the first calls of a recording and compares every choice. <paramref name="balance"/> receives a balance
        /// as the recorded one was then. A truncated or damaged recording is repeated up to that point.
        /// </summary>
        public static BalanceReplayReport Replay(
            byte[] recording, out Balance balance, ulong mostCalls = ulong.MaxValue)
        {
            hob_balance* native = null;
            var report = ReplayInto(recording, mostCalls, &native);
            balance = new Balance(native);
            return report;
        }

        /// <summary>Repeats a recording and compares every choice.</summary>
        public static BalanceReplayReport Replay(byte[] recording)
        {
            return ReplayInto(recording, ulong.MaxValue, null);
        }

        static BalanceReplayReport ReplayInto(byte[] recording, ulong mostCalls, hob_balance** native)
        {
            Hob.Ready(Room.Balance);
            if (recording == null) throw new ArgumentNullException(nameof(recording));
            var report = new BalanceReplayReport();
            Hob.Check(Native.hob_balance_replay_report_init(&report.Raw, (uint)sizeof(hob_balance_replay_report)));
            fixed (byte* data = recording)
                Hob.Check(Native.hob_balance_replay(
                    data, (UIntPtr)(uint)recording.Length, mostCalls, native, &report.Raw));
            return report;
        }
    }
}
