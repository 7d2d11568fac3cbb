// The goblin keeps a frame inside its budget: settings in, choices out, every frame; see goblin.h. MIT OR Apache-2.0.
//
//     var goblin = new Goblin(new GoblinDesc { [Lane.Gpu] = 16.6, OverrunProbability = 0.01 });
//     Setting shadows = goblin.Add("shadows", 0, 4, 6, 7);               // off, low, medium, high
//     for (;;)
//     {
//         Decision decision = goblin.Update();
//         Draw(shadows.Choice);
//         goblin.TryMeasure(frame.DecisionId, shadows, Lane.Gpu, frame.Milliseconds);    // of a frame some time ago
//     }
using System;
using System.Text;
using Hobgoblin.Interop;

namespace Hobgoblin
{
    /// <summary>Names a setting of a goblin. Copies are cheap; the default value is no setting.</summary>
    public struct Setting : IEquatable<Setting>
    {
        internal readonly hob_setting_id Id;
        readonly Goblin goblin;

        internal Setting(Goblin goblin, hob_setting_id id)
        {
            this.goblin = goblin;
            Id = id;
        }

        /// <summary>The choice of the latest decision, or before its first one, the default. 0 for a removed setting.</summary>
        public uint Choice => goblin == null ? 0 : goblin.GetChoice(this);
        /// <summary>The position of its choice in Goblin.GetChoices; negative: no setting.</summary>
        public int Index => (int)Id.index1 - 1;

        /// <summary>Its id in a goblin, which must be its own: ids of another one may name a setting there, too.</summary>
        internal hob_setting_id In(Goblin owner)
        {
            if (goblin != null && goblin != owner)
                throw new ArgumentException("the setting belongs to another goblin: pass a setting of this one");
            return Id;
        }

        internal Goblin Goblin => goblin ?? throw new InvalidOperationException("this is no setting: add one to a goblin");

        public bool Equals(Setting other)
        {
            return goblin == other.goblin && Id.index1 == other.Id.index1 && Id.generation == other.Id.generation;
        }

        public override bool Equals(object other) => other is Setting && Equals((Setting)other);
        public override int GetHashCode() => (int)(Id.index1 * 31 + Id.generation);
    }

    /// <summary>
    /// Keeps a frame inside its budget; see hob_goblin. One thread at a time may call it, except for the choices, which any
    /// thread reads at any time. Dispose it: callbacks that refer to it keep it alive.
    /// </summary>
    public sealed unsafe partial class Goblin : ExclusiveHandle
    {
        /// <summary>A decision id: the latest decision.</summary>
        public const ulong LatestDecision = Constants.HOB_DECISION_LATEST;
        /// <summary>GetChoices: the setting has no choice in the decision.</summary>
        public const uint ChoiceNone = Constants.HOB_CHOICE_NONE;

        public Goblin(GoblinDesc desc)
        {
            if (desc == null) throw new ArgumentNullException(nameof(desc));
            Hob.Ready(Room.Goblin);
            hob_goblin* native = null;
            var raw = desc.Raw;
            var tuning = desc.Tuning == null ? new hob_goblin_tuning() : desc.Tuning.Raw;
            raw.tuning = desc.Tuning == null ? null : &tuning;
            Hob.Check(Native.hob_goblin_create(&raw, &native));
            Adopt(native);
        }

        internal override void Destroy(IntPtr native)
        {
            Native.hob_goblin_destroy((hob_goblin*)native);
        }

        Use Hold(out hob_goblin* goblin)
        {
            var use = Hold(out IntPtr native);
            goblin = (hob_goblin*)native;
            return use;
        }

        GatedUse Exclusive(out hob_goblin* goblin)
        {
            var use = Exclusive(out IntPtr native);
            goblin = (hob_goblin*)native;
            return use;
        }

        GatedUse Shared(out hob_goblin* goblin)
        {
            var use = Shared(out IntPtr native);
            goblin = (hob_goblin*)native;
            return use;
        }

        /// <summary>Bytes that it holds.</summary>
        public ulong MemoryUsed
        {
            get { using (Shared(out hob_goblin* goblin)) return (ulong)Native.hob_goblin_memory_used(goblin); }
        }

        /// <summary>The sentence of its last call that failed and would have changed it.</summary>
        public string LastError
        {
            get { using (Shared(out hob_goblin* goblin)) return Text.From(Native.hob_goblin_last_error(goblin)); }
        }

        // Every frame. None of these allocates managed memory; callbacks may.

        /// <summary>Collects samples and decides. Call it once, before the frame is drawn.</summary>
        public Decision Update()
        {
            var decision = EmptyDecision();
            using (Exclusive(out hob_goblin* goblin))
            {
                hob_result result;
                try { } // see "Threads that are aborted" in Callbacks.cs
                finally { result = Native.hob_goblin_update(goblin, &decision.Raw); }
                Hob.Check(result);
            }
            return decision;
        }

        /// <summary>The first half of Update: runs the measure callbacks and takes in the samples.</summary>
        public void CollectSamples()
        {
            using (Exclusive(out hob_goblin* goblin))
            {
                hob_result result;
                try { }
                finally { result = Native.hob_goblin_collect_samples(goblin); }
                Hob.Check(result);
            }
        }

        /// <summary>The second half of Update: estimates, solves and publishes the choices.</summary>
        public Decision Decide()
        {
            var decision = EmptyDecision();
            using (Exclusive(out hob_goblin* goblin))
            {
                hob_result result;
                try { }
                finally { result = Native.hob_goblin_decide(goblin, &decision.Raw); }
                Hob.Check(result);
            }
            return decision;
        }

        /// <summary>The choice of a setting: that of its latest decision, or its default. Any thread, any time.</summary>
        public uint GetChoice(Setting setting)
        {
            using (Hold(out hob_goblin* goblin)) return Native.hob_goblin_choice(goblin, setting.In(this));
        }

        /// <summary>The option that a decision chose. Any thread, any time.</summary>
        public uint GetChoiceOf(ulong decisionId, Setting setting)
        {
            if (TryGetChoiceOf(decisionId, setting, out var choice)) return choice;
            throw Hob.Failure(hob_result.HOB_RESULT_NOT_FOUND);
        }

        /// <summary>
        /// The option that a decision chose. False: the decision is not remembered, or the setting took no part in it.
        /// </summary>
        public bool TryGetChoiceOf(ulong decisionId, Setting setting, out uint choice)
        {
            using (Hold(out hob_goblin* goblin))
            {
                uint found = 0;
                var isFound = Hob.CheckUnless(
                    Native.hob_goblin_choice_of(goblin, decisionId, setting.In(this), &found), hob_result.HOB_RESULT_NOT_FOUND);
                choice = found;
                return isFound;
            }
        }

        /// <summary>All choices of the latest decision, each at the Index of its setting.</summary>
        public uint[] GetChoices()
        {
            for (;;)
            {
                var choices = new uint[ChoiceCapacity];
                if (TryCopyChoices(LatestDecision, choices, out _, out _)) return choices;
            }
        }

        /// <summary>The size that CopyChoices needs: the highest Index so far, plus 1.</summary>
        public int ChoiceCapacity
        {
            get
            {
                using (Hold(out hob_goblin* goblin))
                {
                    uint count = 0;
                    var result = Native.hob_goblin_choices(goblin, LatestDecision, null, 0, &count, null);
                    Hob.CheckUnless(result, hob_result.HOB_RESULT_BUFFER_TOO_SMALL);
                    return checked((int)count);
                }
            }
        }

        /// <summary>
        /// Copies all choices of one decision, each at the Index of its setting. False: the decision is not remembered, or
        /// the array is smaller than <paramref name="count"/>. Any thread, any time.
        /// </summary>
        public bool TryCopyChoices(ulong ofDecision, uint[] choices, out int count, out ulong decisionId)
        {
            if (choices == null) throw new ArgumentNullException(nameof(choices));
            using (Hold(out hob_goblin* goblin))
            fixed (uint* first = choices)
            {
                uint size = 0;
                ulong id = 0;
                var result = Native.hob_goblin_choices(goblin, ofDecision, first, (uint)choices.Length, &size, &id);
                count = checked((int)size);
                decisionId = id;
                return result != hob_result.HOB_RESULT_BUFFER_TOO_SMALL
                    && Hob.CheckUnless(result, hob_result.HOB_RESULT_NOT_FOUND);
            }
        }

        /// <summary>Adds a sample: the cost of a setting in the frame of a decision.</summary>
        public void Measure(
            ulong decisionId, Setting setting, Lane lane, double burden, SampleQuality quality = SampleQuality.Ok)
        {
            if (!TryMeasure(decisionId, setting, lane, burden, quality))
                throw Hob.Failure(hob_result.HOB_RESULT_NOT_FOUND);
        }

        /// <summary>
        /// Adds a sample. False: the decision is not remembered, or the setting took no part in it or was removed.
        /// </summary>
        public bool TryMeasure(
            ulong decisionId, Setting setting, Lane lane, double burden, SampleQuality quality = SampleQuality.Ok)
        {
            using (Exclusive(out hob_goblin* goblin))
                return Hob.CheckUnless(
                    Native.hob_goblin_measure(
                        goblin, decisionId, setting.In(this), (hob_lane)lane, burden, (hob_sample_quality)quality),
                    hob_result.HOB_RESULT_NOT_FOUND);
        }

        /// <summary>Adds a total: the cost of the whole frame of a decision.</summary>
        public void MeasureTotal(ulong decisionId, Lane lane, double burden, SampleQuality quality = SampleQuality.Ok)
        {
            if (!TryMeasureTotal(decisionId, lane, burden, quality)) throw Hob.Failure(hob_result.HOB_RESULT_NOT_FOUND);
        }

        /// <summary>Adds a total. False: the decision is not remembered.</summary>
        public bool TryMeasureTotal(ulong decisionId, Lane lane, double burden, SampleQuality quality = SampleQuality.Ok)
        {
            using (Exclusive(out hob_goblin* goblin))
                return Hob.CheckUnless(
                    Native.hob_goblin_measure_total(
                        goblin, decisionId, (hob_lane)lane, burden, (hob_sample_quality)quality),
                    hob_result.HOB_RESULT_NOT_FOUND);
        }

        /// <summary>Reports that the frame of a decision used another choice. Call it before its samples.</summary>
        public void ReportApplied(ulong decisionId, Setting setting, uint choice)
        {
            if (!TryReportApplied(decisionId, setting, choice)) throw Hob.Failure(hob_result.HOB_RESULT_NOT_FOUND);
        }

        /// <summary>As ReportApplied. False: the decision is not remembered.</summary>
        public bool TryReportApplied(ulong decisionId, Setting setting, uint choice)
        {
            using (Exclusive(out hob_goblin* goblin))
                return Hob.CheckUnless(
                    Native.hob_goblin_report_applied(goblin, decisionId, setting.In(this), choice),
                    hob_result.HOB_RESULT_NOT_FOUND);
        }

        /// <summary>Sets how much work a setting has from the next decision on. Burdens are learned per unit of work.</summary>
        public void SetWork(Setting setting, double work)
        {
            using (Exclusive(out hob_goblin* goblin)) Hob.Check(Native.hob_goblin_set_work(goblin, setting.In(this), work));
        }

        // Parameters.

        /// <summary>The parameters in force, without Tuning.</summary>
        public GoblinDesc GetDesc()
        {
            var desc = new GoblinDesc();
            using (Shared(out hob_goblin* goblin))
            fixed (hob_goblin_desc* raw = &desc.Raw)
                Hob.Check(Native.hob_goblin_get_desc(goblin, raw));
            return desc;
        }

        /// <summary>Replaces the parameters. Estimates stay; so does the tuning if Tuning is null.</summary>
        public void SetDesc(GoblinDesc desc)
        {
            if (desc == null) throw new ArgumentNullException(nameof(desc));
            var raw = desc.Raw;
            var tuning = desc.Tuning == null ? new hob_goblin_tuning() : desc.Tuning.Raw;
            raw.tuning = desc.Tuning == null ? null : &tuning;
            using (Exclusive(out hob_goblin* goblin)) Hob.Check(Native.hob_goblin_set_desc(goblin, &raw));
        }

        /// <summary>The tuning in force.</summary>
        public GoblinTuning GetTuning()
        {
            var tuning = new GoblinTuning();
            using (Shared(out hob_goblin* goblin))
            fixed (hob_goblin_tuning* raw = &tuning.Raw)
                Hob.Check(Native.hob_goblin_get_tuning(goblin, raw));
            return tuning;
        }

        /// <summary>Changes how it decides; null: back to the defaults.</summary>
        public void SetTuning(GoblinTuning tuning)
        {
            var raw = tuning == null ? new hob_goblin_tuning() : tuning.Raw;
            using (Exclusive(out hob_goblin* goblin))
                Hob.Check(Native.hob_goblin_set_tuning(goblin, tuning == null ? null : &raw));
        }

        // Control, from the next decision on.

        /// <summary>Allows only the options from a floor to a ceiling. 0 alone allows all.</summary>
        public void SetRange(Setting setting, uint first, uint last = uint.MaxValue)
        {
            using (Exclusive(out hob_goblin* goblin))
                Hob.Check(Native.hob_goblin_set_range(goblin, setting.In(this), first, last));
        }

        /// <summary>Allows only one option. SetRange(setting, 0) allows all again.</summary>
        public void Pin(Setting setting, uint option)
        {
            using (Exclusive(out hob_goblin* goblin)) Hob.Check(Native.hob_goblin_pin(goblin, setting.In(this), option));
        }

        /// <summary>Takes a setting out of decisions, or back in.</summary>
        public void SetEnabled(Setting setting, bool isEnabled)
        {
            using (Exclusive(out hob_goblin* goblin))
                Hob.Check(Native.hob_goblin_set_enabled(goblin, setting.In(this), isEnabled ? 1u : 0));
        }

        /// <summary>Sets the factor on the cost of changes. Below 1 while they are hard to notice.</summary>
        public void SetSwitchScale(double scale)
        {
            using (Exclusive(out hob_goblin* goblin)) Hob.Check(Native.hob_goblin_set_switch_scale(goblin, scale));
        }

        /// <summary>Sets the factor on the cost of one setting's changes, in addition to that of all.</summary>
        public void SetSwitchScale(Setting setting, double scale)
        {
            using (Exclusive(out hob_goblin* goblin))
                Hob.Check(Native.hob_goblin_set_setting_switch_scale(goblin, setting.In(this), scale));
        }

        /// <summary>Allows more trials for some decisions; such frames may exceed each limit by that share of it.</summary>
        public void OpenTrialWindow(uint decisions, double share)
        {
            using (Exclusive(out hob_goblin* goblin))
                Hob.Check(Native.hob_goblin_open_trial_window(goblin, decisions, share));
        }

        /// <summary>Reports the thermal headroom of a lane's device, about once a second: 0 is cool, at 1 it throttles.</summary>
        public void SetThermalHeadroom(Lane lane, double headroom)
        {
            using (Exclusive(out hob_goblin* goblin))
                Hob.Check(Native.hob_goblin_set_thermal_headroom(goblin, (hob_lane)lane, headroom));
        }

        // Answers.

        /// <summary>Details of the latest decision.</summary>
        public DecisionDetails GetDecision()
        {
            if (TryGetDecision(out var details)) return details;
            throw Hob.Failure(hob_result.HOB_RESULT_NOT_FOUND);
        }

        /// <summary>Details of the latest decision. False: nothing was decided yet.</summary>
        public bool TryGetDecision(out DecisionDetails details)
        {
            using (Shared(out hob_goblin* goblin))
            {
                var found = new DecisionDetails();
                Hob.Check(Native.hob_decision_details_init(&found.Raw, (uint)sizeof(hob_decision_details)));
                var isFound = Hob.CheckUnless(
                    Native.hob_goblin_get_decision(goblin, &found.Raw), hob_result.HOB_RESULT_NOT_FOUND);
                details = found;
                return isFound;
            }
        }

        /// <summary>Why a setting has its choice.</summary>
        public Reason GetReason(Setting setting)
        {
            using (Shared(out hob_goblin* goblin))
            {
                var reason = new Reason();
                Hob.Check(Native.hob_reason_init(&reason.Raw, (uint)sizeof(hob_reason)));
                Hob.Check(Native.hob_goblin_get_reason(goblin, setting.In(this), &reason.Raw));
                return reason;
            }
        }

        /// <summary>Why a setting has its choice, as an English sentence.</summary>
        public string GetReasonText(Setting setting)
        {
            const int enough = 256;
            var buffer = stackalloc byte[enough];
            using (Shared(out hob_goblin* goblin))
                Hob.Check(Native.hob_goblin_get_reason_text(goblin, setting.In(this), buffer, (UIntPtr)enough, null));
            return Text.From(buffer);
        }

        /// <summary>What an option is expected to cost on a lane in the next frame.</summary>
        public Estimate GetEstimate(Setting setting, uint option, Lane lane)
        {
            if (TryGetEstimate(setting, option, lane, out var estimate)) return estimate;
            throw Hob.Failure(hob_result.HOB_RESULT_NOT_FOUND);
        }

        /// <summary>As GetEstimate. False: the lane has no limit, or the setting was removed.</summary>
        public bool TryGetEstimate(Setting setting, uint option, Lane lane, out Estimate estimate)
        {
            using (Shared(out hob_goblin* goblin))
            {
                var found = Estimate.Empty();
                var isFound = Hob.CheckUnless(
                    Native.hob_goblin_get_estimate(goblin, setting.In(this), option, (hob_lane)lane, &found.Raw),
                    hob_result.HOB_RESULT_NOT_FOUND);
                estimate = found;
                return isFound;
            }
        }

        public GoblinStatistics GetStatistics()
        {
            using (Shared(out hob_goblin* goblin))
            {
                var statistics = new GoblinStatistics();
                Hob.Check(Native.hob_goblin_statistics_init(&statistics.Raw, (uint)sizeof(hob_goblin_statistics)));
                Hob.Check(Native.hob_goblin_get_statistics(goblin, &statistics.Raw));
                return statistics;
            }
        }

        // Profiles.

        /// <summary>Uses the burdens of a past run, perhaps of another machine. The profile is copied.</summary>
        public void SetPastProfile(Profile profile)
        {
            using (GatedUse.Shared(profile, out var past))
            using (Exclusive(out hob_goblin* goblin))
                Hob.Check(Native.hob_goblin_set_past_profile(goblin, (hob_profile*)past));
        }

        /// <summary>Uses the burdens of a past run, as JSON of SaveProfile.</summary>
        public void LoadProfile(string json)
        {
            var bytes = Text.Bytes(json, nameof(json));
            fixed (byte* data = bytes)
            using (Exclusive(out hob_goblin* goblin))
                Hob.Check(Native.hob_goblin_load_profile(goblin, data, (UIntPtr)(uint)bytes.Length));
        }

        /// <summary>The burdens as JSON: those of this run, otherwise scaled ones of the past profile.</summary>
        public string SaveProfile()
        {
            using (Shared(out hob_goblin* goblin))
            {
                var native = goblin;
                return Encoding.UTF8.GetString(Buffers.ReadAll(
                    (buffer, capacity, size) => Native.hob_goblin_save_profile(native, buffer, capacity, size)));
            }
        }

        static Decision EmptyDecision()
        {
            var decision = new Decision();
            decision.Raw.struct_size = (uint)sizeof(hob_decision);
            return decision;
        }
    }
}
