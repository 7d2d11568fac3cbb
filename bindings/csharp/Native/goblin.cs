// hobgoblin/goblin.h: The goblin keeps a frame inside its budget: settings in, choices out, every frame.
// Generated from abi/hobgoblin-api.json; do not edit. MIT OR Apache-2.0.

using System;
using System.Runtime.InteropServices;

namespace Hobgoblin.Interop
{
    /// <summary>The numeric macros of the headers.</summary>
    public static partial class Constants
    {
        /// <summary>Number of lanes; it never changes.</summary>
        public const uint HOB_LANE_COUNT = 8;

        /// <summary>A decision_id: the latest decision.</summary>
        public const ulong HOB_DECISION_LATEST = 18446744073709551615UL;

        /// <summary>hob_goblin_choices: the setting at this index has no choice in the decision.</summary>
        public const uint HOB_CHOICE_NONE = 4294967295;

        /// <summary>hob_option.flags: the option cannot be chosen now.</summary>
        /// <remarks>
        /// It is streaming in, compiling, or not bought.
        /// </remarks>
        public const uint HOB_OPTION_NOT_READY = 1;

        /// <summary>hob_setting_desc.flags: a fine ladder, such as a dynamic resolution.</summary>
        /// <remarks>
        /// Every decision sets it anew to use up the last slack, even if no other setting changes. If its switch_burden is more
        /// than a tenth of the first lane's limit, it changes as seldom as others.
        /// </remarks>
        public const uint HOB_SETTING_TRIM = 1;

        /// <summary>hob_goblin_tuning.trial_limit: no option is tried.</summary>
        /// <remarks>
        /// An option that was never measured, and that no past profile has, is then never chosen.
        /// </remarks>
        public const uint HOB_NO_TRIALS = 4294967295;

        /// <summary>hob_goblin_tuning.precision: the proven optimum.</summary>
        public const uint HOB_PRECISION_PROVEN = 4294967295;
    }

    /// <summary>The resources of a frame.</summary>
    /// <remarks>
    /// Lanes of time are in milliseconds, the lane of memory is in MiB. Each lane has its own limit, because threads and
    /// the GPU work in parallel. A lane without a limit is not governed: nothing is learned on it while another has one.
    /// </remarks>
    public enum hob_lane : uint
    {
        /// <summary>Work of the GPU.</summary>
        HOB_LANE_GPU = 0,

        /// <summary>The whole frame, for hosts without finer timers.</summary>
        HOB_LANE_FRAME = 1,

        /// <summary>The game thread.</summary>
        HOB_LANE_GAME_THREAD = 2,

        /// <summary>The render thread.</summary>
        HOB_LANE_RENDER_THREAD = 3,

        /// <summary>Video memory.</summary>
        HOB_LANE_VIDEO_MEMORY = 4,

        /// <summary>For the host, in a unit of its own.</summary>
        HOB_LANE_USER0 = 5,

        /// <summary>For the host, in a unit of its own.</summary>
        HOB_LANE_USER1 = 6,

        /// <summary>For the host, in a unit of its own.</summary>
        HOB_LANE_USER2 = 7,
    }

    /// <summary>The quality of a sample.</summary>
    public enum hob_sample_quality : uint
    {
        /// <summary>Learn from it.</summary>
        HOB_SAMPLE_QUALITY_OK = 0,

        /// <summary>Vsync or a frame cap hid the true burden. Counted, not learned from.</summary>
        HOB_SAMPLE_QUALITY_CAPPED = 1,

        /// <summary>An unrelated hitch spoiled it. Counted, not learned from.</summary>
        HOB_SAMPLE_QUALITY_HITCH = 2,

        /// <summary>The game was paused, loading or in the background. Counted, not learned from.</summary>
        HOB_SAMPLE_QUALITY_PAUSED = 3,
    }

    /// <summary>Where burdens come from.</summary>
    public enum hob_burdens : uint
    {
        /// <summary>From hob_goblin_measure, or from the settings' measure callbacks.</summary>
        HOB_BURDENS_LEARNED = 0,

        /// <summary>From hob_option.relative_burden. Only whole frames are measured, with hob_goblin_measure_total. A controller
        /// finds the capacity, in units of relative_burden: late frames lower it, slack raises it. Only the first lane is
        /// steered; give the others no limit. A HOB_SETTING_TRIM setting is changed as seldom as others.</summary>
        HOB_BURDENS_RELATIVE = 1,

        /// <summary>From totals alone: a regression on totals and choices finds the burden of each option. Relative burdens serve
        /// until it has converged. Best up to 128 options; with more, it converges more slowly. Only the first lane is
        /// steered. Samples of settings are counted and not used. Trials of a frame each go on for ever, because the
        /// regression needs them; after the learning phase they make at most half of the changes that <c>changes_per_second</c>
        /// allows.</summary>
        HOB_BURDENS_TOTALS = 2,
    }

    /// <summary>How options of unknown burden are tried.</summary>
    public enum hob_exploration : uint
    {
        /// <summary>Only if the other settings leave room for a cautious guess. If the guess is too low, frames of the trial are
        /// late. A trial lasts a frame, or until it is measured if its switch_burden is above 2 % of the limit. After the
        /// learning phase, other settings make room for a little-known option that does not fit otherwise. They do so for a
        /// second, and at most once in 320 s, or more often if changes_per_second is HUGE_VAL.</summary>
        HOB_EXPLORATION_BOUNDED = 0,

        /// <summary>An unknown option is taken to be cheap, so it is chosen until its burden is known (as in Performance Goblin).</summary>
        /// <remarks>
        /// Learns fast where late frames do not matter, as on a loading screen. A common slow-down is measured
        /// (hob_goblin_statistics.anomaly), but estimates do not use it.
        /// </remarks>
        HOB_EXPLORATION_OPTIMISTIC = 1,
    }

    /// <summary>Why a setting has its choice.</summary>
    public enum hob_why : uint
    {
        /// <summary>Nothing was decided yet.</summary>
        HOB_WHY_UNDECIDED = 0,

        /// <summary>Nothing is known of its burdens, so it has its default.</summary>
        HOB_WHY_UNKNOWN = 1,

        /// <summary>Part of the most valuable choices that fit.</summary>
        HOB_WHY_BEST = 2,

        /// <summary>More valuable than before: there was room.</summary>
        HOB_WHY_RAISED = 3,

        /// <summary>Less valuable than before, so that everything fits or another setting can be raised.</summary>
        HOB_WHY_LOWERED = 4,

        /// <summary>A better choice would fit, but is delayed.</summary>
        /// <remarks>
        /// Its gain has not paid for the change yet (hob_goblin_desc.patience), or it leaves no room for fluctuations, or
        /// changes_per_second, dwell or switch_limit delays it.
        /// </remarks>
        HOB_WHY_HELD = 5,

        /// <summary>Chosen to learn its burden.</summary>
        /// <remarks>
        /// For a frame, or a few if the change takes time; after the learning phase for up to a second.
        /// </remarks>
        HOB_WHY_TRIAL = 6,

        /// <summary>The host's range has no other option, ready or not.</summary>
        HOB_WHY_PINNED = 7,

        /// <summary>The host's range excludes a more valuable option.</summary>
        HOB_WHY_LIMITED = 8,

        /// <summary>A more valuable option is not ready.</summary>
        HOB_WHY_NOT_READY = 9,

        /// <summary>Nothing fits: the choice that exceeds the limits least.</summary>
        HOB_WHY_NOTHING_FITS = 10,

        /// <summary>Takes up the last slack (HOB_SETTING_TRIM).</summary>
        HOB_WHY_TRIM = 11,

        /// <summary>The setting is disabled.</summary>
        HOB_WHY_DISABLED = 12,

        /// <summary>The strategy has changed.</summary>
        HOB_WHY_STRATEGY = 13,

        /// <summary>Moved for as long as the trial of another setting lasts, so that it fits.</summary>
        HOB_WHY_MAKES_ROOM = 14,

        /// <summary>Restored to an earlier option and left alone for 60 seconds, because the cheaper option saved nothing.</summary>
        /// <remarks>
        /// 24 samples of the setting itself showed less than a quarter of the expected saving. If 24 samples after that
        /// show that the earlier option does cost more, the setting is free again. Savings of less than 3 deviations are
        /// not checked. A setting that is most of its lane is not recognised: it looks as if the whole frame were slower.
        /// </remarks>
        HOB_WHY_DEAD_LEVER = 15,
    }

    /// <summary>Experimental: Why a replay ended.</summary>
    public enum hob_replay_end : uint
    {
        /// <summary>The whole recording was repeated.</summary>
        HOB_REPLAY_END_COMPLETE = 0,

        /// <summary>The recording is cut off: its last block is incomplete or missing.</summary>
        HOB_REPLAY_END_TRUNCATED = 1,

        /// <summary>The bytes are not what was written.</summary>
        HOB_REPLAY_END_DAMAGED = 2,

        /// <summary>A decision failed when it was recorded, as without memory. The rest cannot be repeated.</summary>
        HOB_REPLAY_END_FAILED = 3,

        /// <summary>A call is refused that succeeded when it was recorded; hob_last_error has the reason.</summary>
        HOB_REPLAY_END_REFUSED = 4,
    }

    /// <summary>Keeps a frame inside its budget.</summary>
    /// <remarks>
    /// A handle: see "Handles" in base.h.
    /// </remarks>
    public struct hob_goblin
    {
    }

    /// <summary>Names a setting of a goblin.</summary>
    /// <remarks>
    /// All zero: none. The id of a removed setting never names another one.
    /// </remarks>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_setting_id
    {
        /// <summary>Position of the setting, plus 1.</summary>
        public uint index1;

        /// <summary>Distinguishes it from earlier settings at that position.</summary>
        public uint generation;
    }

    /// <summary>Parameters of a lane.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_lane_desc
    {
        /// <summary>The budget, above 0, in the lane's unit. 0 or HUGE_VAL: no limit. Several lanes may have one.</summary>
        public double limit;
    }

    /// <summary>Parameters of a goblin.</summary>
    /// <remarks>
    /// Give at least one lane a limit; without any, each setting gets the most valuable option that was measured. 0 in a
    /// field means its default.
    /// </remarks>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_goblin_desc
    {
        /// <summary>sizeof(hob_goblin_desc).</summary>
        public uint struct_size;

        /// <summary>Where burdens come from. Default HOB_BURDENS_LEARNED.</summary>
        public hob_burdens burdens;

        /// <summary>The limits, by hob_lane. Default: none.</summary>
        public hob_lane_desc lanes_0;

        /// <summary>Element 1 of lanes.</summary>
        public hob_lane_desc lanes_1;

        /// <summary>Element 2 of lanes.</summary>
        public hob_lane_desc lanes_2;

        /// <summary>Element 3 of lanes.</summary>
        public hob_lane_desc lanes_3;

        /// <summary>Element 4 of lanes.</summary>
        public hob_lane_desc lanes_4;

        /// <summary>Element 5 of lanes.</summary>
        public hob_lane_desc lanes_5;

        /// <summary>Element 6 of lanes.</summary>
        public hob_lane_desc lanes_6;

        /// <summary>Element 7 of lanes.</summary>
        public hob_lane_desc lanes_7;

        /// <summary>Share of frames that may exceed a limit, on each lane; at most 0.5. Default 0: the margin is
        /// hob_goblin_tuning.sigmas instead, for burdens that are normal and independent. HOB_BURDENS_RELATIVE ignores it.</summary>
        /// <remarks>
        /// The margin follows the share of late frames. A choice that is kept has a smaller margin than a new one, down to
        /// none, while fewer frames are late than asked. Frames that are late because of a switch_burden are not included
        /// in the share. Only frames with samples of all costly settings calibrate it. To skip samples, skip all those of a
        /// frame, at random; if single settings are skipped, more frames are late.
        /// </remarks>
        public double overrun_probability;

        /// <summary>How long an improvement must persist before it is applied. Higher: fewer changes. Default 1. Negative: at once.</summary>
        /// <remarks>
        /// A change is applied when its gains, added up over the frames, reach its price: <c>patience</c> times the sum of the
        /// settings' rises in value and 1.5 times their falls. In the minute after a large change, falls come to count 3
        /// times, and all of the price grows to 16 times as much.
        /// <para/>
        /// A return to an option within 10 s after its replacement costs twice as much. Beyond 1.25 such returns a minute,
        /// each costs the value of a whole frame in addition.
        /// <para/>
        /// A better choice that leaves no room for the fluctuations of the burdens waits, too. A choice that does not fit
        /// is replaced at once. At most 1e9.
        /// </remarks>
        public double patience;

        /// <summary>Most bytes that the goblin may hold. Calls that would exceed it return HOB_RESULT_LIMIT_EXCEEDED. The solver's
        /// own memory, about a megabyte, counts but is never refused. Default: no limit.</summary>
        public ulong memory_limit;

        /// <summary>Decisions that are remembered for late samples, 1 to 65536. Default 64.</summary>
        public uint history;

        /// <summary>Most settings, at most 16777216. Default 65536.</summary>
        public uint max_settings;

        /// <summary>How it decides; copied. NULL: the defaults. For hob_goblin_set_desc NULL means unchanged.</summary>
        public hob_goblin_tuning* tuning;

        /// <summary>Most visible changes a second, at least 0.001. HUGE_VAL: no limit. Default 1.</summary>
        /// <remarks>
        /// A change is one setting whose choice differs from the frame before. Trials and their ends count, TRIM settings
        /// do not. A change is *forced* if the former choices do not fit or are not available, if the strategy changes, or
        /// if an earlier change without effect is taken back (HOB_WHY_DEAD_LEVER). All others are *voluntary*.
        /// <para/>
        /// Each change takes 1 / <c>changes_per_second</c> seconds from a credit, which grows with time up to 6 s. A forced
        /// change is made at once, also without credit. A voluntary one waits until the credit is enough for it, so it may
        /// follow a forced one at once.
        /// <para/>
        /// No second has more voluntary changes than this, with two exceptions. One decision may change several related
        /// settings, and waits until as many changes are due. The begin and the end of a trial may be in one second. No
        /// voluntary change makes a minute exceed 60 times this, forced changes included.
        /// <para/>
        /// Changes are free in the learning phase, in trial windows and while the switch scale is 0. With
        /// HOB_BURDENS_TOTALS it limits trials only, and with a negative <c>patience</c> nothing.
        /// <para/>
        /// The learning phase follows the creation of a setting and takes 18 s, but at least 256 and at most 1024
        /// decisions. With HOB_BURDENS_LEARNED, a decision counts only if it, or one of the 4 before it, has a new sample.
        /// <para/>
        /// It begins again when a lane gets a limit. It also does when options that were never measured become ready,
        /// allowed by the range or enabled, and their setting has at most one measured option. From the fifth time on,
        /// that takes at most an eighth of all decisions.
        /// </remarks>
        public double changes_per_second;

        /// <summary>Decisions a second, which convert seconds to decisions: 0.001 to 1e9. Default 60.</summary>
        public double decisions_per_second;
    }

    /// <summary>The decision of a frame.</summary>
    /// <remarks>
    /// An answer: set struct_size, or begin with HOB_DECISION_INIT. hob_goblin_get_decision has the details.
    /// </remarks>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_decision
    {
        /// <summary>sizeof(hob_decision).</summary>
        public uint struct_size;

        /// <summary>1 if mean + sigmas * deviation of the choices fits the limit of every lane. 0: nothing fits, and the choices are
        /// those that exceed the limits least. Trials do not count, nor does the noise that HOB_SETTING_TRIM follows.</summary>
        public uint feasible;

        /// <summary>Counts up from 1. Pass it with the samples of the frame.</summary>
        public ulong id;

        /// <summary>Sum of the chosen values.</summary>
        public double value;

        /// <summary>Largest possible distance of <c>value</c> from the optimum, 0 to 1. 0: it is the optimum.</summary>
        /// <remarks>
        /// It is a share of the optimum's value above the value of the lightest options. The optimum has the margin of a
        /// new choice. While choices are held without a new solve, it is an estimate: the last proven gap, corrected for
        /// changed burdens.
        /// </remarks>
        public double gap;

        /// <summary>Settings whose choice differs from the decision before; in the first decision, from their defaults.</summary>
        public uint change_count;

        /// <summary>Settings with an option on trial in this frame. The first and the last frame of a trial are changes, too.</summary>
        public uint trial_count;

        /// <summary>The strategy in force; 0 without strategies.</summary>
        public uint strategy;

        /// <summary>0.</summary>
        public uint reserved;
    }

    /// <summary>One option of a setting.</summary>
    /// <remarks>
    /// 0 is a good start for every field.
    /// </remarks>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_option
    {
        /// <summary>Its worth, in any unit that all settings share. -1e9 to 1e9.</summary>
        public double value;

        /// <summary>Rough burden, in any unit that all settings share, for HOB_BURDENS_RELATIVE and HOB_BURDENS_TOTALS. With
        /// HOB_BURDENS_LEARNED it is the first guess of an option. 0, or 1e-9 to 1e9.</summary>
        public double relative_burden;

        /// <summary>HOB_OPTION_ flags.</summary>
        public uint flags;

        /// <summary>Must be 0.</summary>
        public uint reserved;
    }

    /// <summary>A sample, for the measure callback.</summary>
    /// <remarks>
    /// The library presets every field.
    /// </remarks>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_sample
    {
        /// <summary>sizeof(hob_sample), set by the library.</summary>
        public uint struct_size;

        /// <summary>The lane. Preset to the first one that has a limit.</summary>
        public hob_lane lane;

        /// <summary>The decision of the frame. Preset to HOB_DECISION_LATEST.</summary>
        public ulong decision_id;

        /// <summary>The cost, in the lane's unit. 0 to 1e9.</summary>
        public double burden;

        /// <summary>The quality. Preset to HOB_SAMPLE_QUALITY_OK.</summary>
        public hob_sample_quality quality;

        /// <summary>0.</summary>
        public uint reserved;
    }

    /// <summary>Parameters of a setting.</summary>
    /// <remarks>
    /// Its options come from the array or from the callback get_options.
    /// </remarks>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_setting_desc
    {
        /// <summary>sizeof(hob_setting_desc).</summary>
        public uint struct_size;

        /// <summary>Options in the array: 0 to 65535.</summary>
        public uint option_count;

        /// <summary>The task: burdens are learned and saved under this name. Settings of one task pool their samples, and must have
        /// the same number of options. Empty: get_id is called.</summary>
        public hob_str id;

        /// <summary>The options; choices are indices into them. Copied.</summary>
        public hob_option* options;

        /// <summary>Bytes from one option to the next, also for get_options: sizeof(hob_option). 0: its first released size.</summary>
        public UIntPtr option_stride;

        /// <summary>The choice while nothing is known of the setting. Default 0.</summary>
        public uint default_choice;

        /// <summary>HOB_SETTING_ flags. Default 0.</summary>
        public uint flags;

        /// <summary>Cost of a change on the frame that makes it, on the first lane. 0 to 1e9. Default 0.</summary>
        /// <remarks>
        /// If a change takes two or three frames, give the cost of one of them. hob_decision does not include it.
        /// <para/>
        /// A voluntary change waits until its gains, added up over the frames, reach this burden times what a unit of
        /// burden is worth now. See also hob_goblin_set_switch_scale. Changes of HOB_SETTING_TRIM settings that make their
        /// own frame late are rare: half of the late frames that overrun_probability or the sigmas allow.
        /// </remarks>
        public double switch_burden;

        /// <summary>Passed to all callbacks.</summary>
        public void* user_data;

        /// <summary>Called exactly once, after the setting was removed or the goblin destroyed.</summary>
        /// <remarks>
        /// No other callback of the goblin runs at that time. Not called if adding the setting failed. May be NULL, like
        /// every callback.
        /// </remarks>
        public IntPtr release;

        /// <summary>Fills in <c>options</c> and returns their number; the array above is then ignored. <c>options</c> is zeroed and has room
        /// for <c>capacity</c>, option_stride apart. If that is too small, return the number and fill in nothing: the call is
        /// repeated with more room. With an invalid answer, such as a NaN, the running call returns
        /// HOB_RESULT_INVALID_ARGUMENT.</summary>
        /// <remarks>
        /// Called when the setting is added and before every decision, so values can follow the scene. Its answer replaces
        /// what hob_goblin_set_options, hob_goblin_set_value and hob_goblin_set_ready have set.
        /// </remarks>
        public IntPtr get_options;

        /// <summary>Returns the default choice, instead of default_choice. Called when the setting is added.</summary>
        public IntPtr get_default_choice;

        /// <summary>Receives the choice: after the first decision, and after every decision that changed it, trials included.</summary>
        public IntPtr set_choice;

        /// <summary>Gives the task's name, if <c>id</c> is empty. Called when the setting is added; the text is copied as soon as this
        /// returns.</summary>
        public IntPtr get_id;

        /// <summary>Fills in a sample and returns 1; returns 0 if there is no sample. hob_goblin_collect_samples calls it until it
        /// returns 0, at most 64 times. An unusable sample (NaN, too late) is counted and dropped.</summary>
        public IntPtr measure;
    }

    /// <summary>How a goblin decides.</summary>
    /// <remarks>
    /// The defaults suit most renderers. 0 in a field means its default.
    /// </remarks>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_goblin_tuning
    {
        /// <summary>sizeof(hob_goblin_tuning).</summary>
        public uint struct_size;

        /// <summary>How unknown options are tried. Default HOB_EXPLORATION_BOUNDED.</summary>
        public hob_exploration exploration;

        /// <summary>Safety margin, in standard deviations: mean + sigmas * deviation of the total burden must fit the limit. 0 to
        /// 100. Default 3. Negative: deviations are ignored. If overrun_probability is set, it replaces this.</summary>
        public double sigmas;

        /// <summary>Extra value of an option with fewer samples than measure_quota, so that it is chosen and measured more often.</summary>
        /// <remarks>
        /// -1e9 to 1e9. Default 0.
        /// </remarks>
        public double explore_value;

        /// <summary>Probability that the options on trial make a frame late. 1e-6 to 0.5. Default 0.015. A switch_burden comes on
        /// top: where changes take long, the first seconds have more late frames.</summary>
        public double trial_risk;

        /// <summary>Most options on trial in one frame. Default 8. HOB_NO_TRIALS: no trials.</summary>
        public uint trial_limit;

        /// <summary>Samples of an option after which only its recent samples count. Default 30.</summary>
        public uint measure_quota;

        /// <summary>Largest total switch_burden of voluntary changes in one decision; the other changes wait. One voluntary change
        /// is always allowed. Default: no limit.</summary>
        public double switch_limit;

        /// <summary>Decisions for which a setting keeps a choice that still fits. Default 0.</summary>
        public uint dwell;

        /// <summary>Accepted distance from the optimum, as 1/precision. Default 1000. It is a share of the optimum's value above
        /// that of the lightest choices: see hob_knapsack_solve_desc.accepted_gap. HOB_PRECISION_PROVEN: the optimum. If
        /// node_limit ends the search first, the distance can be greater; hob_decision.gap shows it.</summary>
        public uint precision;

        /// <summary>Most nodes of the solver's search in one decision. It limits the time without a clock. Default 256. If precision
        /// is at most 100, 256 means 4096: then the search usually ends long before, but needs more on rare hard values.</summary>
        /// <remarks>
        /// Above 4096 a decision may allocate memory.
        /// </remarks>
        public ulong node_limit;
    }

    /// <summary>The result of a decision on one lane.</summary>
    /// <remarks>
    /// All 0 for a lane that no strategy limits, except the first one if there is no limit at all.
    /// </remarks>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_decision_lane
    {
        /// <summary>Mean + sigmas * deviation of the choices: compared with the capacity. Includes the residual, as do <c>mean</c> and
        /// <c>deviation</c>. With overrun_probability the sigmas are those in force, perhaps 0 for a choice that is kept.</summary>
        /// <remarks>
        /// While options are on trial, it has a cautious guess of their burden instead of the expected one. With settings
        /// of HOB_SETTING_TRIM, it is for the noise of the present frames, which no other setting follows; where they
        /// cannot make up for that, it exceeds the capacity.
        /// </remarks>
        public double burden;

        /// <summary>Expected burden of the choices.</summary>
        public double mean;

        /// <summary>Its standard deviation.</summary>
        public double deviation;

        /// <summary>The limit of the strategy in force; HUGE_VAL if it has none. With HOB_BURDENS_RELATIVE the controller's
        /// capacity, in units of relative_burden.</summary>
        public double capacity;

        /// <summary>By how much the burden exceeds the capacity; 0 if it fits.</summary>
        public double excess;

        /// <summary>Expected burden with the lightest option of every setting.</summary>
        public double lightest_mean;

        /// <summary>Expected burden with the most valuable option of every setting.</summary>
        public double highest_mean;
    }

    /// <summary>Details of a decision.</summary>
    /// <remarks>
    /// An answer: set struct_size, or begin with HOB_DECISION_DETAILS_INIT.
    /// </remarks>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_decision_details
    {
        /// <summary>sizeof(hob_decision_details).</summary>
        public uint struct_size;

        /// <summary>As in hob_decision.</summary>
        public uint feasible;

        /// <summary>As in hob_decision.</summary>
        public ulong id;

        /// <summary>As in hob_decision.</summary>
        public double value;

        /// <summary>As in hob_decision.</summary>
        public double gap;

        /// <summary>As in hob_decision.</summary>
        public uint change_count;

        /// <summary>As in hob_decision.</summary>
        public uint trial_count;

        /// <summary>As in hob_decision.</summary>
        public uint strategy;

        /// <summary>Settings that took part.</summary>
        public uint setting_count;

        /// <summary>By hob_lane.</summary>
        public hob_decision_lane lanes_0;

        /// <summary>Element 1 of lanes.</summary>
        public hob_decision_lane lanes_1;

        /// <summary>Element 2 of lanes.</summary>
        public hob_decision_lane lanes_2;

        /// <summary>Element 3 of lanes.</summary>
        public hob_decision_lane lanes_3;

        /// <summary>Element 4 of lanes.</summary>
        public hob_decision_lane lanes_4;

        /// <summary>Element 5 of lanes.</summary>
        public hob_decision_lane lanes_5;

        /// <summary>Element 6 of lanes.</summary>
        public hob_decision_lane lanes_6;

        /// <summary>Element 7 of lanes.</summary>
        public hob_decision_lane lanes_7;

        /// <summary>Value with the lightest option of every setting.</summary>
        public double lightest_value;

        /// <summary>Value with the most valuable option of every setting, whether or not it fits.</summary>
        public double highest_value;

        /// <summary>Nodes that the solver visited; 0 if nothing was solved.</summary>
        public ulong nodes;

        /// <summary>Nanoseconds that the decision took, by the clock hook; 0 without one.</summary>
        public ulong elapsed_ns;
    }

    /// <summary>Why a setting has its choice.</summary>
    /// <remarks>
    /// An answer: set struct_size, or begin with HOB_REASON_INIT.
    /// </remarks>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_reason
    {
        /// <summary>sizeof(hob_reason).</summary>
        public uint struct_size;

        /// <summary>The reason.</summary>
        public hob_why why;

        /// <summary>The option before the last change; the present one if it never changed. With HOB_WHY_TRIAL and
        /// HOB_WHY_MAKES_ROOM: the option to which it returns.</summary>
        public uint from;

        /// <summary>The present option.</summary>
        public uint to;

        /// <summary>The decision of the last change that was no trial; 0 if it never changed.</summary>
        public ulong since;

        /// <summary>The slack on <c>lane</c>, in its unit. If negative, it is the excess. With HOB_WHY_RAISED, HOB_WHY_LOWERED and
        /// HOB_WHY_STRATEGY: the slack before the change.</summary>
        public double headroom;

        /// <summary>With HOB_WHY_HELD: the value that a better choice would gain in each frame, and that waiting loses. With
        /// HOB_WHY_RAISED, HOB_WHY_LOWERED and HOB_WHY_STRATEGY: the total value that the change gained, negative if it
        /// lost some. Otherwise 0.</summary>
        public double gain;

        /// <summary>The lane of <c>headroom</c>: the one with an excess, otherwise that on which the choice or its change costs most.</summary>
        public hob_lane lane;

        /// <summary>0.</summary>
        public uint reserved;
    }

    /// <summary>Counters of a goblin.</summary>
    /// <remarks>
    /// An answer: set struct_size, or begin with HOB_GOBLIN_STATISTICS_INIT.
    /// </remarks>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_goblin_statistics
    {
        /// <summary>sizeof(hob_goblin_statistics).</summary>
        public uint struct_size;

        /// <summary>Settings at present.</summary>
        public uint setting_count;

        /// <summary>Decisions so far, which is also the id of the latest.</summary>
        public ulong decisions;

        /// <summary>Samples learned from.</summary>
        public ulong samples;

        /// <summary>Samples and totals that were not HOB_SAMPLE_QUALITY_OK.</summary>
        public ulong flagged;

        /// <summary>Samples of lanes without a limit, or of settings without a burden.</summary>
        public ulong ungoverned;

        /// <summary>Samples refused. Their decision was not remembered, their setting took no part in it, or a callback gave an
        /// invalid one.</summary>
        public ulong refused;

        /// <summary>Totals received.</summary>
        public ulong totals;

        /// <summary>Totals above the limit of their lane.</summary>
        public ulong totals_over;

        /// <summary>Ratio of the latest samples to their typical burdens, on the first lane. 1 is normal, 2 is twice as slow; 0: no
        /// samples yet.</summary>
        public double anomaly;

        /// <summary>The same, smoothed over about 30 frames.</summary>
        public double recent_anomaly;

        /// <summary>Ratio of present to past burdens (hob_goblin_set_past_profile), on the first lane. 1 until both are known.</summary>
        public double past_ratio;

        /// <summary>Bytes held.</summary>
        public ulong memory_used;

        /// <summary>The residual of each lane, by hob_lane; 0 while it is unknown.</summary>
        public fixed double residual[8];

        /// <summary>Strategies; 1 if the host has added none.</summary>
        public uint strategy_count;

        /// <summary>0.</summary>
        public uint reserved;
    }

    /// <summary>Experimental: One axis of a product, such as the resolution.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_product_axis
    {
        /// <summary>The worth of each index, in the unit of hob_option.value. A combination is worth the sum over the axes; for
        /// other worths call hob_goblin_set_value. Copied.</summary>
        public double* values;

        /// <summary>By how much each index multiplies the burden, such as the megapixels of a resolution. Each is 1e-9 to 1e9, and
        /// so is the product over all axes. A sample of one index then teaches all others. NULL: unknown, so every index is
        /// measured. Copied.</summary>
        public double* works;

        /// <summary>Number of values, and of works.</summary>
        public uint count;

        /// <summary>The index of the default choice.</summary>
        public uint default_index;
    }

    /// <summary>Experimental: Parameters of a product: a setting whose options are all combinations of several axes.</summary>
    /// <remarks>
    /// It is for axes whose burdens do not add up, such as resolution and samples per pixel. In the numbering of
    /// combinations, axes without works come first, then those with works, each group in array order. The last axis varies
    /// fastest. Burdens are learned per combination of the axes without works: 20 resolutions with works and 4 sample
    /// counts are 4 burdens.
    /// </remarks>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_product_desc
    {
        /// <summary>sizeof(hob_product_desc).</summary>
        public uint struct_size;

        /// <summary>Axes in the array: 1 to 16, with at most 65535 combinations.</summary>
        public uint axis_count;

        /// <summary>The task, as in hob_setting_desc; not empty.</summary>
        public hob_str id;

        /// <summary>The axes, in the order of hob_goblin_product_index. Copied.</summary>
        public hob_product_axis* axes;

        /// <summary>Bytes from one axis to the next: sizeof(hob_product_axis). 0: its first released size.</summary>
        public UIntPtr axis_stride;

        /// <summary>hob_option.relative_burden per unit of work, for every combination. Default 0.</summary>
        public double relative_burden;

        /// <summary>As in hob_setting_desc. Default 0.</summary>
        public double switch_burden;

        /// <summary>HOB_SETTING_ flags. Default 0.</summary>
        public uint flags;

        /// <summary>Must be 0.</summary>
        public uint reserved;
    }

    /// <summary>Experimental: Parameters of a strategy: other limits for the same settings, such as those of 30 frames a second beside 60.</summary>
    /// <remarks>
    /// Every decision finds the best choices under each strategy. The greatest net value wins: the chosen values plus the
    /// strategy's incentive. A better strategy's gains must first add up to <c>patience</c> times the difference of
    /// highest_value and lightest_value, unless the present one no longer fits.
    /// </remarks>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_strategy_desc
    {
        /// <summary>sizeof(hob_strategy_desc).</summary>
        public uint struct_size;

        /// <summary>Must be 0.</summary>
        public uint reserved;

        /// <summary>The limits, by hob_lane; those of hob_goblin_desc do not apply. Default: none.</summary>
        public hob_lane_desc lanes_0;

        /// <summary>Element 1 of lanes.</summary>
        public hob_lane_desc lanes_1;

        /// <summary>Element 2 of lanes.</summary>
        public hob_lane_desc lanes_2;

        /// <summary>Element 3 of lanes.</summary>
        public hob_lane_desc lanes_3;

        /// <summary>Element 4 of lanes.</summary>
        public hob_lane_desc lanes_4;

        /// <summary>Element 5 of lanes.</summary>
        public hob_lane_desc lanes_5;

        /// <summary>Element 6 of lanes.</summary>
        public hob_lane_desc lanes_6;

        /// <summary>Element 7 of lanes.</summary>
        public hob_lane_desc lanes_7;

        /// <summary>Its own worth, such as that of 60 frames a second. -1e9 to 1e9. Default 0. -1e9: it is chosen only if no
        /// other one fits better.</summary>
        public double incentive;
    }

    /// <summary>Experimental: The outcome of a replay.</summary>
    /// <remarks>
    /// An answer: set struct_size, or begin with HOB_REPLAY_REPORT_INIT.
    /// </remarks>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_replay_report
    {
        /// <summary>sizeof(hob_replay_report).</summary>
        public uint struct_size;

        /// <summary>Why it ended.</summary>
        public hob_replay_end end;

        /// <summary>The byte at which it ended; the size of the recording if that is complete.</summary>
        public ulong bytes;

        /// <summary>Calls repeated, decisions included.</summary>
        public ulong calls;

        /// <summary>Decisions repeated.</summary>
        public ulong decisions;

        /// <summary>Decisions with a different outcome. 0: all choices are identical.</summary>
        public ulong different;

        /// <summary>The id of the first of those; 0: none.</summary>
        public ulong first_different;

        /// <summary>The first setting with a different choice in that decision; all zero if the strategy differs.</summary>
        public hob_setting_id setting;

        /// <summary>The recorded choice of that setting (or strategy); UINT32_MAX: none.</summary>
        public uint recorded;

        /// <summary>The replayed one.</summary>
        public uint replayed;

        /// <summary>The version of the library that recorded, as HOB_MAKE_VERSION. Another version may decide differently.</summary>
        public uint library_version;

        /// <summary>0.</summary>
        public uint reserved;
    }

    /// <summary>The type of hob_setting_desc.release, whose C type is a pointer to it.</summary>
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    public unsafe delegate void hob_setting_desc_release_fn(void* user_data);

    /// <summary>The type of hob_setting_desc.get_options, whose C type is a pointer to it.</summary>
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    public unsafe delegate uint hob_setting_desc_get_options_fn(void* user_data, hob_option* options, uint capacity);

    /// <summary>The type of hob_setting_desc.get_default_choice, whose C type is a pointer to it.</summary>
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    public unsafe delegate uint hob_setting_desc_get_default_choice_fn(void* user_data);

    /// <summary>The type of hob_setting_desc.set_choice, whose C type is a pointer to it.</summary>
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    public unsafe delegate void hob_setting_desc_set_choice_fn(void* user_data, uint choice, ulong decision_id);

    /// <summary>The type of hob_setting_desc.get_id, whose C type is a pointer to it.</summary>
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    public unsafe delegate void hob_setting_desc_get_id_fn(void* user_data, hob_str* out_id);

    /// <summary>The type of hob_setting_desc.measure, whose C type is a pointer to it.</summary>
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    public unsafe delegate uint hob_setting_desc_measure_fn(void* user_data, hob_sample* out_sample);

    /// <summary>The type of hob_goblin_start_recording.write, whose C type is a pointer to it.</summary>
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    public unsafe delegate void hob_goblin_start_recording_write_fn(void* user_data, void* data, UIntPtr size);

    /// <summary>The type of hob_goblin_start_recording.release, whose C type is a pointer to it.</summary>
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    public unsafe delegate void hob_goblin_start_recording_release_fn(void* user_data);

    /// <summary>The functions of the library.</summary>
    public static unsafe partial class Native
    {
        /// <summary>Creates a goblin.</summary>
        /// <remarks>
        /// On success <c>*out_goblin</c> is the caller's to destroy. HOB_RESULT_INVALID_ARGUMENT for a limit that is negative or
        /// NaN. Without any limit the first decision logs a warning. Threads: any.
        /// <para/>
        /// <code>
        /// hob_goblin_tuning tuning = HOB_GOBLIN_TUNING_INIT;   // only where a default does not suit
        /// tuning.switch_limit = 2.0;
        /// hob_goblin_desc desc = HOB_GOBLIN_DESC_INIT;
        /// desc.lanes[HOB_LANE_GPU].limit = 16.6;
        /// desc.tuning = &amp;tuning;
        /// hob_result result = hob_goblin_create(&amp;desc, &amp;goblin);
        /// </code>
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_goblin_create(hob_goblin_desc* desc, hob_goblin** out_goblin);

        /// <summary>Destroys a goblin and its settings; NULL is allowed.</summary>
        /// <remarks>
        /// From inside one of its callbacks it is destroyed when the running call returns. Threads: no call on it may run on
        /// another thread.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern void hob_goblin_destroy(hob_goblin* goblin);

        /// <summary>Returns the bytes that the goblin holds; 0 for an invalid handle.</summary>
        /// <remarks>
        /// Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern UIntPtr hob_goblin_memory_used(hob_goblin* goblin);

        /// <summary>Returns the sentence of this handle's last failed exclusive call.</summary>
        /// <remarks>
        /// It is empty if none has failed, and valid until the next failure. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern byte* hob_goblin_last_error(hob_goblin* goblin);

        /// <summary>Decides a frame: call it once, before the frame is drawn.</summary>
        /// <remarks>
        /// It is hob_goblin_collect_samples, then hob_goblin_decide. <c>out_decision</c> may be NULL. If nothing fits, <c>feasible</c> is
        /// 0; that is no error. After a failure the previous choices stay in force, as hob_goblin_decide says. It waits for
        /// nothing, and allocates nothing unless node_limit is above 4096 or get_options gives more options than before.
        /// Threads: exclusive. Callbacks: those of the settings, on this thread.
        /// <para/>
        /// <code>
        /// hob_decision decision = HOB_DECISION_INIT;
        /// hob_goblin_update(goblin, &amp;decision);
        /// set_shadow_quality(hob_goblin_choice(goblin, shadows));
        /// </code>
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_goblin_update(hob_goblin* goblin, hob_decision* out_decision);

        /// <summary>Returns the choice of a setting: that of its latest decision, or before its first one, its default.</summary>
        /// <remarks>
        /// 0 for an invalid handle or id, or a setting without options, so that it can index an array; hob_last_error has the
        /// reason. It never waits and is never busy. A render thread that is a frame behind calls hob_goblin_choices or
        /// hob_goblin_choice_of with the decision of its frame. Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern uint hob_goblin_choice(hob_goblin* goblin, hob_setting_id setting);

        /// <summary>Gets the option that one decision chose for a setting.</summary>
        /// <remarks>
        /// With HOB_DECISION_LATEST it is that of the latest decision; before the goblin's first decision, the default.
        /// HOB_RESULT_NOT_FOUND if the decision is not remembered any more (hob_goblin_desc.history), or if the setting took no
        /// part in it. It never waits and is never busy. Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_goblin_choice_of(hob_goblin* goblin, ulong decision_id, hob_setting_id setting, uint* out_choice);

        /// <summary>Gets all choices of one decision, for a renderer that wants them once a frame.</summary>
        /// <remarks>
        /// With HOB_DECISION_LATEST they are those of the latest decision; before the goblin's first decision, the defaults.
        /// The choice of setting s is at s.index1 - 1; HOB_CHOICE_NONE if it took no part, as while it is disabled.
        /// HOB_RESULT_NOT_FOUND if the decision is not remembered any more.
        /// <para/>
        /// <c>*out_count</c> receives the required size, the highest index1 so far; <c>*out_decision_id</c> receives the decision, 0
        /// before the first. Either may be NULL. HOB_RESULT_BUFFER_TOO_SMALL: <c>capacity</c> is less than the required size; only
        /// <c>*out_count</c> is written.
        /// <para/>
        /// All choices are of the same decision, even if another thread decides meanwhile. Threads: any.
        /// <para/>
        /// <code>
        /// uint32_t choices[MAX_SETTINGS];
        /// uint64_t decision_id;
        /// hob_goblin_choices(goblin, HOB_DECISION_LATEST, choices, MAX_SETTINGS, NULL, &amp;decision_id);
        /// set_shadow_quality(choices[shadows.index1 - 1]);
        /// </code>
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_goblin_choices(hob_goblin* goblin, ulong decision_id, uint* choices, uint capacity, uint* out_count, ulong* out_decision_id);

        /// <summary>Adds a sample: the cost of a setting on a lane in the frame of <c>decision_id</c> (or HOB_DECISION_LATEST).</summary>
        /// <remarks>
        /// Call it when the cost is known; with GPU timers that is frames later, so pass the id of that frame's decision. Add
        /// up the passes of a setting first: one sample per decision, setting and lane. <c>burden</c> is in the lane's unit, 0 to
        /// 1e9.
        /// <para/>
        /// Samples of lanes without a limit are counted and dropped. HOB_RESULT_NOT_FOUND if the decision is not remembered
        /// any more (hob_goblin_desc.history). Samples may be skipped: best of whole frames, and at random. The number of
        /// samples that learning takes stays the same, so with a tenth of them it takes ten times as long.
        /// <para/>
        /// If changes of a setting take time, set its hob_setting_desc.switch_burden. If that is above 2 % of the limit, a
        /// sample of the frame of a change, or of the two after it, may have that time or not. The goblin tells which.
        /// Otherwise the time counts as the option's burden.
        /// <para/>
        /// A second sample of one decision, setting and lane counts separately. Threads: exclusive. A host that measures on
        /// other threads queues those samples for the thread that calls hob_goblin_update.
        /// <para/>
        /// <code>
        /// double ms = read_gpu_timer(frame.shadow_query);     // a frame that ended a while ago
        /// hob_goblin_measure(goblin, frame.decision_id, shadows, HOB_LANE_GPU, ms, HOB_SAMPLE_QUALITY_OK);
        /// </code>
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_goblin_measure(hob_goblin* goblin, ulong decision_id, hob_setting_id setting, hob_lane lane, double burden, hob_sample_quality quality);

        /// <summary>Adds a total: the cost of the whole frame of <c>decision_id</c> on a lane.</summary>
        /// <remarks>
        /// Parameters as in hob_goblin_measure. With HOB_BURDENS_RELATIVE and HOB_BURDENS_TOTALS, totals of the first lane
        /// steer the goblin. With HOB_BURDENS_LEARNED, a total teaches the residual of its lane. The total and the samples of a
        /// decision may come in any order. Threads: exclusive.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_goblin_measure_total(hob_goblin* goblin, ulong decision_id, hob_lane lane, double burden, hob_sample_quality quality);

        /// <summary>Reports that the frame of <c>decision_id</c> (or HOB_DECISION_LATEST) used <c>choice</c> instead of the decided option.</summary>
        /// <remarks>
        /// Call it before the samples of that frame: they then count for <c>choice</c>. hob_goblin_choice_of still returns the
        /// decided option. Threads: exclusive.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_goblin_report_applied(hob_goblin* goblin, ulong decision_id, hob_setting_id setting, uint choice);

        /// <summary>Collects samples: the first half of hob_goblin_update.</summary>
        /// <remarks>
        /// It runs the measure callbacks and takes in all samples since the last call. A host with measure callbacks adds its
        /// totals after this and before hob_goblin_decide. Threads: exclusive.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_goblin_collect_samples(hob_goblin* goblin);

        /// <summary>Decides: the second half of hob_goblin_update.</summary>
        /// <remarks>
        /// It estimates, solves, and publishes the choices. <c>out_decision</c> may be NULL. After a failure the previous choices
        /// stay in force, except for settings whose get_options gave a new number of options: those are at their default.
        /// Threads: exclusive.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_goblin_decide(hob_goblin* goblin, hob_decision* out_decision);

        /// <summary>Adds a setting, at any time; <c>*out_setting</c> receives its id.</summary>
        /// <remarks>
        /// HOB_RESULT_INVALID_ARGUMENT for an empty id, or if another setting of that id has a different number of options.
        /// HOB_RESULT_LIMIT_EXCEEDED: max_settings or memory_limit is reached. Threads: exclusive. Callbacks: they run inside
        /// calls on this goblin, on the thread of the call. Inside them, const functions work; hob_goblin_remove_setting and
        /// hob_goblin_destroy take effect when the running call returns; all others return HOB_RESULT_BUSY.
        /// <para/>
        /// <code>
        /// hob_option options[] = {{.value = 0}, {.value = 4}, {.value = 6}};
        /// hob_setting_desc desc = HOB_SETTING_DESC_INIT;
        /// desc.id = HOB_STR("shadows");
        /// desc.options = options;
        /// desc.option_count = 3;
        /// desc.switch_burden = 2.0;   // milliseconds that a change costs
        /// hob_goblin_add_setting(goblin, &amp;desc, &amp;shadows);
        /// </code>
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_goblin_add_setting(hob_goblin* goblin, hob_setting_desc* desc, hob_setting_id* out_setting);

        /// <summary>Adds a setting that is off (0, worth nothing) or on (1, worth <c>value</c>).</summary>
        /// <remarks>
        /// Threads: exclusive.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_goblin_add_binary(hob_goblin* goblin, hob_str id, double value, hob_setting_id* out_setting);

        /// <summary>Adds a setting that is off (0, worth <c>value_off</c>) or on (1, worth <c>value_on</c>).</summary>
        /// <remarks>
        /// <c>default_choice</c>, 0 or 1, is the choice while nothing is known of the setting. Threads: exclusive.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_goblin_add_binary_with_default(hob_goblin* goblin, hob_str id, double value_off, double value_on, uint default_choice, hob_setting_id* out_setting);

        /// <summary>Adds a setting with <c>count</c> options of these values.</summary>
        /// <remarks>
        /// Threads: exclusive.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_goblin_add_array(hob_goblin* goblin, hob_str id, double* values, uint count, hob_setting_id* out_setting);

        /// <summary>Adds a setting with <c>count</c> options of these values, and a default.</summary>
        /// <remarks>
        /// <c>default_choice</c> is the choice while nothing is known of the setting. Threads: exclusive.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_goblin_add_array_with_default(hob_goblin* goblin, hob_str id, double* values, uint count, uint default_choice, hob_setting_id* out_setting);

        /// <summary>Adds a burden without a choice, such as the rest of the frame: a setting with one option, measured like all others.</summary>
        /// <remarks>
        /// Threads: exclusive.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_goblin_add_fixed_burden(hob_goblin* goblin, hob_str id, hob_setting_id* out_setting);

        /// <summary>Adds a burden without a choice that is worth <c>value</c>, -1e9 to 1e9.</summary>
        /// <remarks>
        /// hob_goblin_set_strategy_value can vary the value by strategy. Threads: exclusive.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_goblin_add_fixed_burden_with_value(hob_goblin* goblin, hob_str id, double value, hob_setting_id* out_setting);

        /// <summary>Adds a value without a choice or a burden; hob_goblin_set_strategy_value can vary it by strategy.</summary>
        /// <remarks>
        /// It is not measured. Threads: exclusive.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_goblin_add_fixed_incentive(hob_goblin* goblin, hob_str id, double value, hob_setting_id* out_setting);

        /// <summary>Removes a setting, at any time; its <c>release</c> is called before this returns.</summary>
        /// <remarks>
        /// Learned burdens of its task stay, for a later setting of that id. Inside a callback of the goblin, the setting is
        /// removed, and <c>release</c> called, when the running call returns; its other callbacks are not called any more.
        /// Threads: exclusive.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_goblin_remove_setting(hob_goblin* goblin, hob_setting_id setting);

        /// <summary>Replaces a setting's options: <c>count</c> of them, <c>stride</c> bytes apart.</summary>
        /// <remarks>
        /// <c>stride</c> is sizeof(hob_option); 0 means its first released size. With a different count, learned burdens of the task
        /// and its values under strategies are dropped; the log says so. Other settings of the task keep their number of
        /// options: change theirs, too. Range, pin and <c>enabled</c> stay. HOB_RESULT_INVALID_ARGUMENT for a product with a
        /// different count. Threads: exclusive.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_goblin_set_options(hob_goblin* goblin, hob_setting_id setting, hob_option* options, UIntPtr stride, uint count);

        /// <summary>Changes the value of one option; -1e9 to 1e9.</summary>
        /// <remarks>
        /// Threads: exclusive.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_goblin_set_value(hob_goblin* goblin, hob_setting_id setting, uint option, double value);

        /// <summary>Sets whether an option can be chosen now.</summary>
        /// <remarks>
        /// <c>ready</c> 0: it is streaming in or compiling. An option that does not exist gives HOB_RESULT_INVALID_ARGUMENT, as in
        /// all functions that change one. Threads: exclusive.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_goblin_set_ready(hob_goblin* goblin, hob_setting_id setting, uint option, uint ready);

        /// <summary>Sets how much work a setting has from the next decision on: objects, pixels, lights, in any unit.</summary>
        /// <remarks>
        /// Burdens are learned per unit of work, so the cost of a heavier scene is known at once. 1e-9 to 1e9; initially 1. A
        /// late sample counts with the work of its own decision.
        /// Threads: exclusive.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_goblin_set_work(hob_goblin* goblin, hob_setting_id setting, double work);

        /// <summary>Changes the parameters.</summary>
        /// <remarks>
        /// All fields are replaced: 0 sets the default, also here; only a desc without <c>tuning</c> leaves the tuning unchanged. To
        /// change one field, begin with hob_goblin_get_desc. Learned burdens stay, except on lanes without a limit in any
        /// strategy. If lanes gain or lose their limit, samples of earlier decisions are refused. Threads: exclusive.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_goblin_set_desc(hob_goblin* goblin, hob_goblin_desc* desc);

        /// <summary>Gets the parameters in force; <c>tuning</c> is NULL: see hob_goblin_get_tuning.</summary>
        /// <remarks>
        /// Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_goblin_get_desc(hob_goblin* goblin, hob_goblin_desc* out_desc);

        /// <summary>Changes how the goblin decides; NULL: back to the defaults.</summary>
        /// <remarks>
        /// Threads: exclusive.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_goblin_set_tuning(hob_goblin* goblin, hob_goblin_tuning* tuning);

        /// <summary>Gets how the goblin decides.</summary>
        /// <remarks>
        /// Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_goblin_get_tuning(hob_goblin* goblin, hob_goblin_tuning* out_tuning);

        /// <summary>Allows only the options from <c>first</c> (a floor) to <c>last</c> (a ceiling), from the next decision on.</summary>
        /// <remarks>
        /// <c>first</c> must exist; a <c>last</c> beyond the last option, such as UINT32_MAX, means the last. 0 to UINT32_MAX allows all.
        /// If no allowed option is ready, the one nearest to the default is chosen. Threads: exclusive.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_goblin_set_range(hob_goblin* goblin, hob_setting_id setting, uint first, uint last);

        /// <summary>Allows only one option, from the next decision on: hob_goblin_set_range from it to itself.</summary>
        /// <remarks>
        /// The other settings make room for it. hob_goblin_set_range from 0 to UINT32_MAX allows all again. Threads: exclusive.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_goblin_pin(hob_goblin* goblin, hob_setting_id setting, uint option);

        /// <summary>Takes a setting out of decisions (<c>enabled</c> 0) or back in.</summary>
        /// <remarks>
        /// While it is out it costs nothing, is worth nothing and keeps its choice; learned burdens stay. Samples of decisions
        /// without it get HOB_RESULT_NOT_FOUND. Threads: exclusive.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_goblin_set_enabled(hob_goblin* goblin, hob_setting_id setting, uint enabled);

        /// <summary>Multiplies every switch_burden, and the patience.</summary>
        /// <remarks>
        /// 0 to 1e9; initially 1. Below 1 while changes are hard to notice, as in a cut or a menu; above 1 while they are easy
        /// to notice. At 0 changes are free, and choices follow every change of an estimate: use it only for frames in which
        /// nobody sees them. Threads: exclusive.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_goblin_set_switch_scale(hob_goblin* goblin, double scale);

        /// <summary>Multiplies the switch_burden and the patience of one setting, in addition to hob_goblin_set_switch_scale.</summary>
        /// <remarks>
        /// 0 to 1e9; initially 1. Below 1 for a setting whose changes are hard to notice, such as a shadow distance. A change
        /// of it then counts as that share of a change in hob_goblin_desc.changes_per_second. Threads: exclusive.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_goblin_set_setting_switch_scale(hob_goblin* goblin, hob_setting_id setting, double scale);

        /// <summary>Allows more trials for the next <c>decisions</c> decisions: in a menu, on a loading screen, in a cut.</summary>
        /// <remarks>
        /// Any number of options may be on trial in a frame, and such a frame may exceed each limit by <c>share</c> of it, 0 to 1e9.
        /// A new window replaces the present one; 0 <c>decisions</c> close it. Without effect if hob_goblin_tuning.trial_limit is
        /// HOB_NO_TRIALS. Threads: exclusive.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_goblin_open_trial_window(hob_goblin* goblin, uint decisions, double share);

        /// <summary>Reports the thermal headroom of the device behind a lane, about once a second.</summary>
        /// <remarks>
        /// 0 is cool, and 1 is the heat at which the device throttles: at most 100. NaN is refused. Android's
        /// <c>getThermalHeadroom(10)</c> and Unreal's <c>GetThermalStress</c> have this scale. To keep more distance, report a greater
        /// number.
        /// <para/>
        /// From the first report on, the goblin uses the share of the lane's limit that keeps the headroom just below 1. The
        /// share changes at most once in ten seconds, and hob_decision_lane.capacity contains it. A minute without a report
        /// restores the whole limit; less than .3 of it is never used. On a lane without a limit it has no effect. Without
        /// reports, costs that rise for tens of seconds are forecast, but not when the device throttles. Threads: exclusive.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_goblin_set_thermal_headroom(hob_goblin* goblin, hob_lane lane, double headroom);

        /// <summary>Gets the details of the latest decision.</summary>
        /// <remarks>
        /// HOB_RESULT_NOT_FOUND before the first. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_goblin_get_decision(hob_goblin* goblin, hob_decision_details* out_details);

        /// <summary>Gets why a setting has its choice.</summary>
        /// <remarks>
        /// Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_goblin_get_reason(hob_goblin* goblin, hob_setting_id setting, hob_reason* out_reason);

        /// <summary>Writes why a setting has its choice as an English sentence into a buffer, with a NUL.</summary>
        /// <remarks>
        /// For example "raised from 1 to 2 in decision 512: the headroom was 1.80". <c>*out_size</c> receives the required size with
        /// the NUL; it may be NULL if <c>buffer</c> is not. 256 bytes are always enough. HOB_RESULT_BUFFER_TOO_SMALL leaves the
        /// buffer unchanged. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_goblin_get_reason_text(hob_goblin* goblin, hob_setting_id setting, byte* buffer, UIntPtr capacity, UIntPtr* out_size);

        /// <summary>Gets what an option is expected to cost on a lane in the next frame.</summary>
        /// <remarks>
        /// It is for the setting's present work and the strategy in force; the count is of this run's samples. It allocates, so
        /// do not call it in every frame.
        /// HOB_RESULT_INVALID_ARGUMENT for an option that does not exist, HOB_RESULT_NOT_FOUND for a lane without a limit.
        /// Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_goblin_get_estimate(hob_goblin* goblin, hob_setting_id setting, uint option, hob_lane lane, hob_estimate* out_estimate);

        /// <summary>Gets the counters of a goblin.</summary>
        /// <remarks>
        /// Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_goblin_get_statistics(hob_goblin* goblin, hob_goblin_statistics* out_statistics);

        /// <summary>Uses the burdens of a past run, perhaps of another machine.</summary>
        /// <remarks>
        /// The first samples show how much slower or faster this machine is. The profile is copied; it replaces an earlier one.
        /// Tasks with a different number of options are not used; the log says so. Threads: exclusive; shared for <c>profile</c>.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_goblin_set_past_profile(hob_goblin* goblin, hob_profile* profile);

        /// <summary>Uses the burdens of a past run, as JSON of hob_goblin_save_profile.</summary>
        /// <remarks>
        /// See hob_profile_load. Threads: exclusive.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_goblin_load_profile(hob_goblin* goblin, void* data, UIntPtr size);

        /// <summary>Writes the burdens as JSON into a buffer: those of this run, otherwise scaled ones of the past profile.</summary>
        /// <remarks>
        /// Only HOB_BURDENS_LEARNED has burdens of single options: otherwise it is the past profile, or empty. Sizes and buffer
        /// as in hob_profile_save. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_goblin_save_profile(hob_goblin* goblin, byte* buffer, UIntPtr capacity, UIntPtr* out_size);

        /// <summary>Experimental: Adds a product, at any time; <c>*out_setting</c> receives its id.</summary>
        /// <remarks>
        /// It is a setting like others, except that its number of options is fixed. HOB_RESULT_LIMIT_EXCEEDED with too many
        /// axes or combinations. Threads: exclusive.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_goblin_add_product(hob_goblin* goblin, hob_product_desc* desc, hob_setting_id* out_setting);

        /// <summary>Experimental: Returns the index of a product's choice on one axis.</summary>
        /// <remarks>
        /// 0 for an invalid handle or id, and for an unknown choice or axis, so that it can index an array; hob_last_error has
        /// the reason. 0 during another thread's exclusive call: a render thread must call it before that. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern uint hob_goblin_product_index(hob_goblin* goblin, hob_setting_id setting, uint choice, uint axis);

        /// <summary>Experimental: Gets the choice of a product at these indices, one for each axis.</summary>
        /// <remarks>
        /// It is for hob_goblin_pin, hob_goblin_set_ready and other functions that take an option. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_goblin_get_product_choice(hob_goblin* goblin, hob_setting_id setting, uint* indices, uint index_count, uint* out_choice);

        /// <summary>Experimental: Adds a strategy; <c>*out_strategy</c> receives its number.</summary>
        /// <remarks>
        /// Number 0 always exists and has the limits of hob_goblin_desc; there can be 15 more. Each adds one solve to a
        /// decision. If a lane gains its first limit, samples of earlier decisions are refused. Threads: exclusive.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_goblin_add_strategy(hob_goblin* goblin, hob_strategy_desc* desc, uint* out_strategy);

        /// <summary>Experimental: Changes a strategy's limits and incentive.</summary>
        /// <remarks>
        /// HOB_RESULT_NOT_FOUND for an unknown number. For strategy 0 only the incentive is used: hob_goblin_set_desc changes
        /// its limits. Threads: exclusive.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_goblin_set_strategy(hob_goblin* goblin, uint strategy, hob_strategy_desc* desc);

        /// <summary>Experimental: Sets the value of an option under a strategy other than 0; -1e9 to 1e9.</summary>
        /// <remarks>
        /// It is dropped when the setting gets a different number of options. Threads: exclusive.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_goblin_set_strategy_value(hob_goblin* goblin, uint strategy, hob_setting_id setting, uint option, double value);

        /// <summary>Experimental: Multiplies a setting's work under a strategy other than 0 by <c>factor</c>, 1e-9 to 1e9.</summary>
        /// <remarks>
        /// For example, a pass that runs every other frame costs half. Samples of decisions under the strategy are taken to
        /// have that work. It is dropped when the setting gets a different number of options. Threads: exclusive.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_goblin_set_strategy_work(hob_goblin* goblin, uint strategy, hob_setting_id setting, double factor);

        /// <summary>Experimental: Multiplies one option's work under a strategy other than 0 by <c>factor</c>, 1e-9 to 1e9.</summary>
        /// <remarks>
        /// It is for options whose costs differ by other factors, such as a simulation with twice the steps in its highest
        /// option only. The factor of hob_goblin_set_strategy_work also applies. It is dropped when the setting gets a
        /// different number of options. Threads: exclusive.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_goblin_set_strategy_option_work(hob_goblin* goblin, uint strategy, hob_setting_id setting, uint option, double factor);

        /// <summary>Experimental: Gets the net value of a strategy's best choices in the latest decision.</summary>
        /// <remarks>
        /// 0 before the first decision, and if there is only one strategy. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_goblin_get_strategy_net(hob_goblin* goblin, uint strategy, double* out_net);

        /// <summary>Experimental: Records the run from here on, so that hob_goblin_replay can repeat it; docs/formats.md has the format.</summary>
        /// <remarks>
        /// Call it right after hob_goblin_create: after any other change the result is HOB_RESULT_UNSUPPORTED.
        /// <para/>
        /// <c>write</c> receives pieces that together are the recording: a header at once, and at least one block per decision. The
        /// last piece comes from hob_goblin_stop_recording or hob_goblin_destroy. Each frame adds about 14
        /// bytes per sample and 1 per setting, and allocates nothing. <c>release</c> may be NULL; it is called once, after the end.
        /// <para/>
        /// Threads: exclusive. Callbacks: <c>write</c> runs inside the calls on this goblin, on their thread. Inside it, shared and
        /// exclusive functions on this goblin return HOB_RESULT_BUSY, and hob_goblin_destroy takes effect when the running call
        /// returns.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_goblin_start_recording(hob_goblin* goblin, IntPtr write, void* user_data, IntPtr release);

        /// <summary>Experimental: Ends the recording for good; without one it does nothing.</summary>
        /// <remarks>
        /// Threads: exclusive. Callbacks: <c>write</c>, then <c>release</c>.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_goblin_stop_recording(hob_goblin* goblin);

        /// <summary>Experimental: Repeats a recorded run in a goblin of its own and compares every decision.</summary>
        /// <remarks>
        /// A truncated or damaged recording is repeated up to that point. The result is HOB_RESULT_OK even then, and if choices
        /// differ. The same build of the library makes the same choices; another may not. HOB_RESULT_MALFORMED if the bytes are
        /// no recording, HOB_RESULT_UNSUPPORTED for the format of another version.
        /// <para/>
        /// The bytes may be hostile: a replay's memory is at most 128 MiB, and at most 64 times <c>size</c>. Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_goblin_replay(void* data, UIntPtr size, hob_replay_report* out_report);

        /// <summary>Sets the defaults of a hob_goblin_desc.</summary>
        /// <remarks>
        /// <c>size</c> is sizeof(hob_goblin_desc). Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_goblin_desc_init(hob_goblin_desc* value, uint size);

        /// <summary>Sets the defaults of a hob_decision.</summary>
        /// <remarks>
        /// <c>size</c> is sizeof(hob_decision). Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_decision_init(hob_decision* value, uint size);

        /// <summary>Sets the defaults of a hob_sample.</summary>
        /// <remarks>
        /// <c>size</c> is sizeof(hob_sample). Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_sample_init(hob_sample* value, uint size);

        /// <summary>Sets the defaults of a hob_setting_desc.</summary>
        /// <remarks>
        /// <c>size</c> is sizeof(hob_setting_desc). Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_setting_desc_init(hob_setting_desc* value, uint size);

        /// <summary>Sets the defaults of a hob_goblin_tuning.</summary>
        /// <remarks>
        /// <c>size</c> is sizeof(hob_goblin_tuning). Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_goblin_tuning_init(hob_goblin_tuning* value, uint size);

        /// <summary>Sets the defaults of a hob_decision_details.</summary>
        /// <remarks>
        /// <c>size</c> is sizeof(hob_decision_details). Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_decision_details_init(hob_decision_details* value, uint size);

        /// <summary>Sets the defaults of a hob_reason.</summary>
        /// <remarks>
        /// <c>size</c> is sizeof(hob_reason). Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_reason_init(hob_reason* value, uint size);

        /// <summary>Sets the defaults of a hob_goblin_statistics.</summary>
        /// <remarks>
        /// <c>size</c> is sizeof(hob_goblin_statistics). Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_goblin_statistics_init(hob_goblin_statistics* value, uint size);

        /// <summary>Experimental: Sets the defaults of a hob_product_desc.</summary>
        /// <remarks>
        /// <c>size</c> is sizeof(hob_product_desc). Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_product_desc_init(hob_product_desc* value, uint size);

        /// <summary>Experimental: Sets the defaults of a hob_strategy_desc.</summary>
        /// <remarks>
        /// <c>size</c> is sizeof(hob_strategy_desc). Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_strategy_desc_init(hob_strategy_desc* value, uint size);

        /// <summary>Experimental: Sets the defaults of a hob_replay_report.</summary>
        /// <remarks>
        /// <c>size</c> is sizeof(hob_replay_report). Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_replay_report_init(hob_replay_report* value, uint size);
    }
}
