// Parameters and answers of a goblin; see goblin.h. MIT OR Apache-2.0.
using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;
using Hobgoblin.Interop;

namespace Hobgoblin
{
    /// <summary>A resource of a frame; see hob_lane. Time is in milliseconds, memory in MiB.</summary>
    public enum Lane : uint
    {
        /// <summary>Work of the GPU.</summary>
        Gpu = 0,
        /// <summary>The whole frame, for hosts without finer timers.</summary>
        Frame = 1,
        /// <summary>The game thread.</summary>
        GameThread = 2,
        /// <summary>The render thread.</summary>
        RenderThread = 3,
        /// <summary>Video memory.</summary>
        VideoMemory = 4,
        /// <summary>For the host, in a unit of its own.</summary>
        User0 = 5,
        /// <summary>For the host, in a unit of its own.</summary>
        User1 = 6,
        /// <summary>For the host, in a unit of its own.</summary>
        User2 = 7,
    }

    /// <summary>The quality of a sample; see hob_sample_quality.</summary>
    public enum SampleQuality : uint
    {
        /// <summary>Learn from it.</summary>
        Ok = 0,
        /// <summary>Vsync or a frame cap hid the true burden. Counted, not learned from.</summary>
        Capped = 1,
        /// <summary>An unrelated hitch spoiled it. Counted, not learned from.</summary>
        Hitch = 2,
        /// <summary>The game was paused, loading or in the background. Counted, not learned from.</summary>
        Paused = 3,
    }

    /// <summary>Where burdens come from; see hob_burdens.</summary>
    public enum Burdens : uint
    {
        /// <summary>From Goblin.Measure, or from the settings' measure callbacks.</summary>
        Learned = 0,
        /// <summary>From Option.RelativeBurden. Only whole frames are measured, with Goblin.MeasureTotal. A
        /// controller finds the capacity, in units of RelativeBurden: late frames lower it, slack raises it. Only the
        /// first lane is steered; give the others no limit.</summary>
        Relative = 1,
        /// <summary>From totals alone: a regression on totals and choices finds the burden of each option. Relative
        /// burdens serve until it has converged. Best up to 128 options; with more, it converges more slowly. Only the
        /// first lane is steered.</summary>
        Totals = 2,
    }

    /// <summary>How options of unknown burden are tried; see hob_exploration.</summary>
    public enum Exploration : uint
    {
        /// <summary>Only if the other settings leave room for a cautious guess. If the guess is too low, frames of the
        /// trial are late. After the learning phase, other settings make room for a little-known option that does not
        /// fit otherwise. They do so for a second, and at most once in 320 s.</summary>
        Bounded = 0,
        /// <summary>An unknown option is taken to be cheap, so it is chosen until its burden is known (as in
        /// Performance Goblin). Learns fast where late frames do not matter, as on a loading screen. A common slow-down
        /// is measured (GoblinStatistics.Anomaly), but estimates do not use it.</summary>
        Optimistic = 1,
    }

    /// <summary>Why a setting has its choice; see hob_why.</summary>
    public enum Why : uint
    {
        /// <summary>Nothing was decided yet.</summary>
        Undecided = 0,
        /// <summary>Nothing is known of its burdens, so it has its default.</summary>
        Unknown = 1,
        /// <summary>Part of the most valuable choices that fit.</summary>
        Best = 2,
        /// <summary>More valuable than before: there was room.</summary>
        Raised = 3,
        /// <summary>Less valuable than before, so that everything fits or another setting can be raised.</summary>
        Lowered = 4,
        /// <summary>A better choice would fit, but is delayed. Its gain has not paid for the change yet; or
        /// ChangesPerSecond, Dwell or SwitchLimit delays it.</summary>
        Held = 5,
        /// <summary>Chosen to learn its burden: for a frame, and after the learning phase for up to a second.</summary>
        Trial = 6,
        /// <summary>The host allows no other option.</summary>
        Pinned = 7,
        /// <summary>The host's range excludes a more valuable option.</summary>
        Limited = 8,
        /// <summary>A more valuable option is not ready.</summary>
        NotReady = 9,
        /// <summary>Nothing fits: the choice that exceeds the limits least.</summary>
        NothingFits = 10,
        /// <summary>Takes up the last slack (IsTrim).</summary>
        Trim = 11,
        /// <summary>The setting is disabled.</summary>
        Disabled = 12,
        /// <summary>The strategy has changed.</summary>
        Strategy = 13,
        /// <summary>Moved for as long as the trial of another setting lasts, so that it fits.</summary>
        MakesRoom = 14,
        /// <summary>Restored to an earlier option and left alone for 60 seconds, because the cheaper option saved
        /// nothing.</summary>
        DeadLever = 15,
    }

    /// <summary>Why a replay ended; see hob_replay_end.</summary>
    public enum ReplayEnd : uint
    {
        /// <summary>The whole recording was repeated.</summary>
        Complete = 0,
        /// <summary>The recording is cut off: its last block is incomplete or missing.</summary>
        Truncated = 1,
        /// <summary>The bytes are not what was written.</summary>
        Damaged = 2,
        /// <summary>A decision failed when it was recorded, as without memory. The rest cannot be repeated.</summary>
        Failed = 3,
        /// <summary>A call is refused that succeeded when it was recorded; the exception has the reason.</summary>
        Refused = 4,
    }

    /// <summary>Parameters of a goblin; see hob_goblin_desc. Give at least one lane a limit.</summary>
    public sealed unsafe class GoblinDesc
    {
        internal hob_goblin_desc Raw;

        public GoblinDesc()
        {
            Hob.Ready(Room.Goblin);
            fixed (hob_goblin_desc* raw = &Raw)
                Hob.Check(Native.hob_goblin_desc_init(raw, (uint)sizeof(hob_goblin_desc)));
        }

        /// <summary>The budget of a lane, above 0, in its unit. 0 or infinity: no limit.</summary>
        public double this[Lane lane]
        {
            get { fixed (hob_lane_desc* lanes = &Raw.lanes_0) return lanes[Lanes.Check(lane)].limit; }
            set { fixed (hob_lane_desc* lanes = &Raw.lanes_0) lanes[Lanes.Check(lane)].limit = value; }
        }
        /// <summary>Where burdens come from. Default: Burdens.Learned.</summary>
        public Burdens Burdens { get => (Burdens)Raw.burdens; set => Raw.burdens = (hob_burdens)value; }
        /// <summary>Share of frames that may exceed a limit, at most 0.5. 0: the margin is Tuning.Sigmas.</summary>
        public double OverrunProbability { get => Raw.overrun_probability; set => Raw.overrun_probability = value; }
        /// <summary>How long an improvement must persist before it is applied. Default 1. Negative: at once.</summary>
        public double Patience { get => Raw.patience; set => Raw.patience = value; }
        /// <summary>Most bytes that the goblin may hold. Default: no limit.</summary>
        public ulong MemoryLimit { get => Raw.memory_limit; set => Raw.memory_limit = value; }
        /// <summary>Decisions that are remembered for late samples, 1 to 65536. Default 64.</summary>
        public uint History { get => Raw.history; set => Raw.history = value; }
        /// <summary>Most settings. Default 65536.</summary>
        public uint MaxSettings { get => Raw.max_settings; set => Raw.max_settings = value; }
        /// <summary>Most visible changes a second. Infinity: no limit. Default 1.</summary>
        public double ChangesPerSecond { get => Raw.changes_per_second; set => Raw.changes_per_second = value; }
        /// <summary>Decisions a second. Default 60.</summary>
        public double DecisionsPerSecond { get => Raw.decisions_per_second; set => Raw.decisions_per_second = value; }
        /// <summary>How it decides. Null: the defaults; for SetDesc: unchanged.</summary>
        public GoblinTuning Tuning { get; set; }
    }

    /// <summary>How a goblin decides; see hob_goblin_tuning. 0 in a property means its default.</summary>
    public sealed unsafe class GoblinTuning
    {
        /// <summary>TrialLimit: no option is tried.</summary>
        public const uint NoTrials = Constants.HOB_NO_TRIALS;
        /// <summary>Precision: the proven optimum.</summary>
        public const uint PrecisionProven = Constants.HOB_PRECISION_PROVEN;

        internal hob_goblin_tuning Raw;

        public GoblinTuning()
        {
            Hob.Ready(Room.Goblin);
            fixed (hob_goblin_tuning* raw = &Raw)
                Hob.Check(Native.hob_goblin_tuning_init(raw, (uint)sizeof(hob_goblin_tuning)));
        }

        /// <summary>How unknown options are tried. Default: Exploration.Bounded.</summary>
        public Exploration Exploration
        {
            get => (Exploration)Raw.exploration;
            set => Raw.exploration = (hob_exploration)value;
        }
        /// <summary>Safety margin in standard deviations, 0 to 100. Default 3. Negative: none.</summary>
        public double Sigmas { get => Raw.sigmas; set => Raw.sigmas = value; }
        /// <summary>Extra value of an option with fewer samples than MeasureQuota. Default 0.</summary>
        public double ExploreValue { get => Raw.explore_value; set => Raw.explore_value = value; }
        /// <summary>Probability that trials make a frame late. Default 0.015.</summary>
        public double TrialRisk { get => Raw.trial_risk; set => Raw.trial_risk = value; }
        /// <summary>Most options on trial in one frame. Default 8.</summary>
        public uint TrialLimit { get => Raw.trial_limit; set => Raw.trial_limit = value; }
        /// <summary>Samples of an option after which only recent ones count. Default 30.</summary>
        public uint MeasureQuota { get => Raw.measure_quota; set => Raw.measure_quota = value; }
        /// <summary>Largest total SwitchBurden of voluntary changes in one decision. Default: no limit.</summary>
        public double SwitchLimit { get => Raw.switch_limit; set => Raw.switch_limit = value; }
        /// <summary>Decisions for which a setting keeps a choice that still fits. Default 0.</summary>
        public uint Dwell { get => Raw.dwell; set => Raw.dwell = value; }
        /// <summary>Accepted distance from the optimum, as 1/precision. Default 1000.</summary>
        public uint Precision { get => Raw.precision; set => Raw.precision = value; }
        /// <summary>Most nodes of the solver's search in one decision. Default 256.</summary>
        public ulong NodeLimit { get => Raw.node_limit; set => Raw.node_limit = value; }
    }

    /// <summary>The decision of a frame; see hob_decision.</summary>
    public struct Decision
    {
        internal hob_decision Raw;

        /// <summary>Whether the choices fit the limits. If nothing fits, they exceed the limits least.</summary>
        public bool IsFeasible => Raw.feasible != 0;
        /// <summary>Counts up from 1. Pass it with the samples of the frame.</summary>
        public ulong Id => Raw.id;
        /// <summary>Sum of the chosen values.</summary>
        public double Value => Raw.value;
        /// <summary>Largest possible distance of Value from the optimum, 0 to 1.</summary>
        public double Gap => Raw.gap;
        /// <summary>Settings whose choice differs from the decision before.</summary>
        public uint ChangeCount => Raw.change_count;
        /// <summary>Settings with an option on trial in this frame.</summary>
        public uint TrialCount => Raw.trial_count;
        /// <summary>The strategy in force; 0 without strategies.</summary>
        public uint Strategy => Raw.strategy;
    }

    /// <summary>The result of a decision on one lane; see hob_decision_lane.</summary>
    public struct DecisionLane
    {
        internal hob_decision_lane Raw;

        /// <summary>Mean + sigmas · deviation of the choices, with the residual: compared with the capacity.</summary>
        public double Burden => Raw.burden;
        public double Mean => Raw.mean;
        public double Deviation => Raw.deviation;
        /// <summary>The limit in force.</summary>
        public double Capacity => Raw.capacity;
        /// <summary>By how much the burden exceeds the capacity.</summary>
        public double Excess => Raw.excess;
        /// <summary>Expected burden with the lightest option of every setting.</summary>
        public double LightestMean => Raw.lightest_mean;
        /// <summary>Expected burden with the most valuable option of every setting.</summary>
        public double HighestMean => Raw.highest_mean;
    }

    /// <summary>Details of a decision; see hob_decision_details.</summary>
    public unsafe struct DecisionDetails
    {
        internal hob_decision_details Raw;

        public bool IsFeasible => Raw.feasible != 0;
        public ulong Id => Raw.id;
        public double Value => Raw.value;
        public double Gap => Raw.gap;
        public uint ChangeCount => Raw.change_count;
        public uint TrialCount => Raw.trial_count;
        public uint Strategy => Raw.strategy;
        /// <summary>Settings that took part.</summary>
        public uint SettingCount => Raw.setting_count;
        public DecisionLane this[Lane lane]
        {
            get
            {
                fixed (hob_decision_lane* lanes = &Raw.lanes_0)
                    return new DecisionLane { Raw = lanes[Lanes.Check(lane)] };
            }
        }
        /// <summary>Value with the lightest option of every setting.</summary>
        public double LightestValue => Raw.lightest_value;
        /// <summary>Value with the most valuable option of every setting.</summary>
        public double HighestValue => Raw.highest_value;
        /// <summary>Nodes that the solver visited; 0 if nothing was solved.</summary>
        public ulong Nodes => Raw.nodes;
        /// <summary>Nanoseconds that the decision took; 0 without Hob.SetClockHook.</summary>
        public ulong ElapsedNanoseconds => Raw.elapsed_ns;
    }

    /// <summary>Why a setting has its choice; see hob_reason.</summary>
    public struct Reason
    {
        internal hob_reason Raw;

        public Why Why => (Why)Raw.why;
        /// <summary>The option before the last change. On trial: the option to which it returns.</summary>
        public uint From => Raw.from;
        /// <summary>The present option.</summary>
        public uint To => Raw.to;
        /// <summary>The decision of the last change that was no trial; 0: none.</summary>
        public ulong Since => Raw.since;
        /// <summary>The slack on Lane, in its unit; negative: the excess.</summary>
        public double Headroom => Raw.headroom;
        /// <summary>The value gained by the change, or lost in each frame by waiting.</summary>
        public double Gain => Raw.gain;
        public Lane Lane => (Lane)Raw.lane;
    }

    /// <summary>Counters of a goblin; see hob_goblin_statistics.</summary>
    public unsafe struct GoblinStatistics
    {
        internal hob_goblin_statistics Raw;

        public uint SettingCount => Raw.setting_count;
        public ulong Decisions => Raw.decisions;
        public ulong Samples => Raw.samples;
        public ulong Flagged => Raw.flagged;
        public ulong Ungoverned => Raw.ungoverned;
        public ulong Refused => Raw.refused;
        public ulong Totals => Raw.totals;
        public ulong TotalsOver => Raw.totals_over;
        /// <summary>Ratio of the latest samples to their typical burdens; 0: no samples yet.</summary>
        public double Anomaly => Raw.anomaly;
        public double RecentAnomaly => Raw.recent_anomaly;
        /// <summary>Ratio of present to past burdens.</summary>
        public double PastRatio => Raw.past_ratio;
        public ulong MemoryUsed => Raw.memory_used;
        public uint StrategyCount => Raw.strategy_count;

        /// <summary>The part of a lane's totals that no setting accounts for; 0 while it is unknown.</summary>
        public double GetResidual(Lane lane)
        {
            fixed (double* residual = Raw.residual) return residual[Lanes.Check(lane)];
        }
    }

    /// <summary>The outcome of a replay; see hob_replay_report.</summary>
    public struct ReplayReport
    {
        internal hob_replay_report Raw;

        public ReplayEnd End => (ReplayEnd)Raw.end;
        /// <summary>The byte at which it ended.</summary>
        public ulong Bytes => Raw.bytes;
        public ulong Calls => Raw.calls;
        public ulong Decisions => Raw.decisions;
        /// <summary>Decisions with a different outcome. 0: all choices are identical.</summary>
        public ulong Different => Raw.different;
        /// <summary>The id of the first of those; 0: none.</summary>
        public ulong FirstDifferent => Raw.first_different;
        /// <summary>
        /// The index of the first setting with a different choice in that decision, as in Setting.Index; negative if the
        /// strategy differs.
        /// </summary>
        public int SettingIndex => (int)Raw.setting.index1 - 1;
        /// <summary>Its recorded choice (or strategy); uint.MaxValue: none.</summary>
        public uint Recorded => Raw.recorded;
        public uint Replayed => Raw.replayed;
        /// <summary>The version of the library that recorded.</summary>
        public Version LibraryVersion => Hob.Unpack(Raw.library_version);
    }

    /// <summary>One option of a setting; see hob_option.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct Option
    {
        /// <summary>Its worth, in any unit that all settings share.</summary>
        public double Value;
        /// <summary>Rough burden, for Burdens.Relative and Burdens.Totals.</summary>
        public double RelativeBurden;
        uint flags;
        uint reserved;

        public Option(double value, double relativeBurden = 0, bool isReady = true)
        {
            Value = value;
            RelativeBurden = relativeBurden;
            flags = isReady ? 0 : Constants.HOB_OPTION_NOT_READY;
            reserved = 0;
        }

        /// <summary>Whether it can be chosen now. Default true.</summary>
        public bool IsReady
        {
            get => (flags & Constants.HOB_OPTION_NOT_READY) == 0;
            set => flags = value
                ? flags & ~Constants.HOB_OPTION_NOT_READY
                : flags | Constants.HOB_OPTION_NOT_READY;
        }
    }

    /// <summary>A sample, for SettingCallbacks.Measure; see hob_sample. All properties are preset.</summary>
    public struct Sample
    {
        internal hob_sample Raw;

        /// <summary>Preset to the first lane with a limit.</summary>
        public Lane Lane { get => (Lane)Raw.lane; set => Raw.lane = (hob_lane)value; }
        /// <summary>Preset to the latest decision.</summary>
        public ulong DecisionId { get => Raw.decision_id; set => Raw.decision_id = value; }
        /// <summary>The cost, in the lane's unit.</summary>
        public double Burden { get => Raw.burden; set => Raw.burden = value; }
        /// <summary>Preset to SampleQuality.Ok.</summary>
        public SampleQuality Quality
        {
            get => (SampleQuality)Raw.quality;
            set => Raw.quality = (hob_sample_quality)value;
        }
    }

    /// <summary>Fills in a sample and returns true, or returns false if there is no sample.</summary>
    public delegate bool MeasureCallback(ref Sample sample);

    /// <summary>
    /// Callbacks of a setting; see hob_setting_desc. They run inside calls on the goblin, on the thread of the call, which
    /// rethrows their exceptions. Queries of that goblin work inside them; calls that change it throw with Result.Busy.
    /// </summary>
    public sealed class SettingCallbacks
    {
        /// <summary>Fills in the options, in a list that is empty: when the setting is added and before each decision.</summary>
        public Action<List<Option>> GetOptions;
        /// <summary>Returns the default choice when the setting is added.</summary>
        public Func<uint> GetDefaultChoice;
        /// <summary>Receives a choice that has changed, and its decision.</summary>
        public Action<uint, ulong> SetChoice;
        /// <summary>Gives the id when the setting is added with an empty one.</summary>
        public Func<string> GetId;
        /// <summary>Gives samples, until it returns false.</summary>
        public MeasureCallback Measure;
        /// <summary>Runs once, after the setting was removed or the goblin destroyed.</summary>
        public Action Released;
    }

    /// <summary>Parameters of a setting beside its options; see hob_setting_desc.</summary>
    public struct SettingOptions
    {
        /// <summary>The choice while nothing is known of the setting.</summary>
        public uint DefaultChoice;
        /// <summary>Cost of a change on the frame that makes it, on the first lane with a limit.</summary>
        public double SwitchBurden;
        /// <summary>A fine ladder that uses the last slack of every frame, such as a dynamic resolution.</summary>
        public bool IsTrim;
    }

    /// <summary>One axis of a product; see hob_product_axis.</summary>
    public struct ProductAxis
    {
        /// <summary>The value of each index.</summary>
        public double[] Values;
        /// <summary>The factor of each index on the burden. Null: the burden of each index is measured.</summary>
        public double[] Works;
        public uint DefaultIndex;
    }

    /// <summary>Parameters of a strategy, other limits for the same settings; see hob_strategy_desc.</summary>
    public sealed unsafe class StrategyDesc
    {
        internal hob_strategy_desc Raw;

        public StrategyDesc()
        {
            Hob.Ready(Room.Goblin);
            fixed (hob_strategy_desc* raw = &Raw)
                Hob.Check(Native.hob_strategy_desc_init(raw, (uint)sizeof(hob_strategy_desc)));
        }

        /// <summary>The budget of a lane, above 0, in its unit. 0 or infinity: no limit.</summary>
        public double this[Lane lane]
        {
            get { fixed (hob_lane_desc* lanes = &Raw.lanes_0) return lanes[Lanes.Check(lane)].limit; }
            set { fixed (hob_lane_desc* lanes = &Raw.lanes_0) lanes[Lanes.Check(lane)].limit = value; }
        }
        /// <summary>Its own worth. Default 0.</summary>
        public double Incentive { get => Raw.incentive; set => Raw.incentive = value; }
    }

    internal static class Lanes
    {
        /// <summary>The lane as an index. Throws if it is invalid.</summary>
        internal static uint Check(Lane lane)
        {
            if ((uint)lane < Constants.HOB_LANE_COUNT) return (uint)lane;
            throw new ArgumentOutOfRangeException(nameof(lane), lane, "a lane is one of the names of the enum Lane");
        }
    }
}
