// Strategies and recordings of a goblin. Experimental. MIT OR Apache-2.0.
using System;
using Hobgoblin.Interop;

namespace Hobgoblin
{
    public sealed unsafe partial class Goblin
    {
        /// <summary>Adds a strategy and returns its number. Number 0 is the goblin's own desc.</summary>
        public uint AddStrategy(StrategyDesc desc)
        {
            if (desc == null) throw new ArgumentNullException(nameof(desc));
            using (Exclusive(out hob_goblin* goblin))
            fixed (hob_strategy_desc* raw = &desc.Raw)
            {
                uint strategy;
                Hob.Check(Native.hob_goblin_add_strategy(goblin, raw, &strategy));
                return strategy;
            }
        }

        /// <summary>Replaces the limits and the incentive of a strategy; of number 0 only the incentive.</summary>
        public void SetStrategy(uint strategy, StrategyDesc desc)
        {
            if (desc == null) throw new ArgumentNullException(nameof(desc));
            using (Exclusive(out hob_goblin* goblin))
            fixed (hob_strategy_desc* raw = &desc.Raw)
                Hob.Check(Native.hob_goblin_set_strategy(goblin, strategy, raw));
        }

        /// <summary>Sets the value of an option under a strategy other than 0.</summary>
        public void SetStrategyValue(uint strategy, Setting setting, uint option, double value)
        {
            using (Exclusive(out hob_goblin* goblin))
                Hob.Check(Native.hob_goblin_set_strategy_value(goblin, strategy, setting.In(this), option, value));
        }

        /// <summary>Sets the factor on a setting's work under a strategy other than 0.</summary>
        public void SetStrategyWork(uint strategy, Setting setting, double factor)
        {
            using (Exclusive(out hob_goblin* goblin))
                Hob.Check(Native.hob_goblin_set_strategy_work(goblin, strategy, setting.In(this), factor));
        }

        /// <summary>Sets a factor on an option's work under a strategy other than 0. The setting's factor also applies.</summary>
        public void SetStrategyWork(uint strategy, Setting setting, uint option, double factor)
        {
            using (Exclusive(out hob_goblin* goblin))
                Hob.Check(Native.hob_goblin_set_strategy_option_work(goblin, strategy, setting.In(this), option, factor));
        }

        /// <summary>The net value of a strategy's best choices in the latest decision.</summary>
        public double GetStrategyNet(uint strategy)
        {
            using (Shared(out hob_goblin* goblin))
            {
                double net;
                Hob.Check(Native.hob_goblin_get_strategy_net(goblin, strategy, &net));
                return net;
            }
        }

        /// <summary>
        /// Records the run, from right after creation on. <paramref name="write"/> receives pieces that together are the
        /// recording, inside calls on this goblin and its Dispose. Calls rethrow its exceptions; those during Dispose go to
        /// Hob.UnhandledCallbackException.
        /// </summary>
        public void StartRecording(Action<byte[]> write)
        {
            var userData = Recording.Keep(write);
            var isStarted = false;
            try
            {
                using (Exclusive(out hob_goblin* goblin))
                {
                    hob_result result;
                    try { }
                    finally
                    {
                        result = Native.hob_goblin_start_recording(
                            goblin, Recording.WritePointer, userData, Callbacks.ReleasePointer);
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

        /// <summary>Ends the recording for good.</summary>
        public void StopRecording()
        {
            using (Exclusive(out hob_goblin* goblin)) Hob.Check(Native.hob_goblin_stop_recording(goblin));
        }

        /// <summary>
        /// Repeats a recorded run in a goblin of its own and compares every decision. A truncated or damaged recording is
        /// repeated up to that point.
        /// </summary>
        public static ReplayReport Replay(byte[] recording)
        {
            Hob.Ready(Room.Goblin);
            if (recording == null) throw new ArgumentNullException(nameof(recording));
            var report = new ReplayReport();
            Hob.Check(Native.hob_replay_report_init(&report.Raw, (uint)sizeof(hob_replay_report)));
            fixed (byte* data = recording)
                Hob.Check(Native.hob_goblin_replay(data, (UIntPtr)(uint)recording.Length, &report.Raw));
            return report;
        }
    }
}
