// hobgoblin/goblin.h: The goblin keeps a frame inside its budget: settings in, choices out, every frame.
//
// It learns what each option of each quality setting costs, and picks the options of greatest total value that fit.
//
//     hob_goblin_desc desc = HOB_GOBLIN_DESC_INIT;
//     desc.lanes[HOB_LANE_GPU].limit = 16.6;                  /* milliseconds */
//     desc.overrun_probability = 0.01;                        /* one frame in a hundred may be late */
//     hob_goblin *goblin = NULL;
//     if (hob_goblin_create(&desc, &goblin) != HOB_RESULT_OK) fail(hob_last_error());
//
//     const double values[] = {0, 4, 6, 7};                   /* off, low, medium, high */
//     hob_setting_id shadows = {0, 0};
//     if (hob_goblin_add_array(goblin, HOB_STR("shadows"), values, 4, &shadows) != HOB_RESULT_OK)
//         fail(hob_last_error());
//
//     struct { uint64_t decision_id; gpu_timer timer; } frames[4];         /* in flight on the GPU */
//     for (unsigned n = 0;; ++n) {
//         if (n >= 4) {                                       /* the timer of four frames ago has its result */
//             double ms = read_timer(frames[n % 4].timer);
//             hob_goblin_measure(goblin, frames[n % 4].decision_id, shadows, HOB_LANE_GPU, ms, HOB_SAMPLE_QUALITY_OK);
//         }
//         hob_decision decision = HOB_DECISION_INIT;
//         if (hob_goblin_update(goblin, &decision) != HOB_RESULT_OK) log(hob_last_error());
//         frames[n % 4].decision_id = decision.id;
//         frames[n % 4].timer = draw_shadows(hob_goblin_choice(goblin, shadows));
//     }
//
// Terms:
// - Setting: something with several options, such as shadow quality. One option is chosen for each frame.
// - Value: the worth of an option to the player, in any unit that all settings share. Higher is better; values add up.
// - Burden: the cost of an option in one frame: milliseconds, or MiB of video memory.
// - Lane: a resource that can have a limit of its own, such as GPU time or the game thread. With a limit it is
//   governed.
// - First lane: the lane with a limit that has the lowest number of hob_lane.
// - Decision: the choices of one frame. Pass its id with the samples of that frame.
// - Sample: one measured burden of a setting in one frame. It may arrive frames later.
// - Total: the measured cost of a whole frame on a lane.
// - Residual: the part of the totals that no setting accounts for.
// - Learning phase: the first 18 seconds of a setting with samples; see hob_goblin_desc.changes_per_second.
// - Trial: an option that is chosen to learn its burden: for a frame, and after the learning phase for up to a second.
// - Task: the name under which burdens are learned and saved; the id of a setting.
// - Strategy: an alternative set of limits, such as those of 30 frames a second.
// - Product: one setting that stands for all combinations of several.
// - Sigmas: the safety margin, in standard deviations of the total burden.
// - Voluntary change: one for more value or for a trial, while the present choices still fit. All others are forced.
// - Trim: a setting that takes up the last slack of every frame, such as dynamic resolution.
//
// Generated from src/ffi/goblin; do not edit. MIT OR Apache-2.0.

#ifndef HOBGOBLIN_GOBLIN_H
#define HOBGOBLIN_GOBLIN_H

#include "base.h"
#include "profile.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- Ids, lanes, samples --------------------------------------------------------------------------------------------

/// Names a setting of a goblin.
/// All zero: none. The id of a removed setting never names another one.
typedef struct hob_setting_id {
    /// Position of the setting, plus 1.
    uint32_t index1;
    /// Distinguishes it from earlier settings at that position.
    uint32_t generation;
} hob_setting_id;

/// The resources of a frame.
/// Lanes of time are in milliseconds, the lane of memory is in MiB. Each lane has its own limit, because threads and
/// the GPU work in parallel. A lane without a limit is not governed: nothing is learned on it while another has one.
typedef enum hob_lane {
    /// Work of the GPU.
    HOB_LANE_GPU = 0,
    /// The whole frame, for hosts without finer timers.
    HOB_LANE_FRAME = 1,
    /// The game thread.
    HOB_LANE_GAME_THREAD = 2,
    /// The render thread.
    HOB_LANE_RENDER_THREAD = 3,
    /// Video memory.
    HOB_LANE_VIDEO_MEMORY = 4,
    /// For the host, in a unit of its own.
    HOB_LANE_USER0 = 5,
    /// For the host, in a unit of its own.
    HOB_LANE_USER1 = 6,
    /// For the host, in a unit of its own.
    HOB_LANE_USER2 = 7,
} hob_lane;

/// Number of lanes; it never changes.
#define HOB_LANE_COUNT 8

/// A decision_id: the latest decision.
#define HOB_DECISION_LATEST UINT64_MAX

/// The quality of a sample.
typedef enum hob_sample_quality {
    /// Learn from it.
    HOB_SAMPLE_QUALITY_OK = 0,
    /// Vsync or a frame cap hid the true burden. Counted, not learned from.
    HOB_SAMPLE_QUALITY_CAPPED = 1,
    /// An unrelated hitch spoiled it. Counted, not learned from.
    HOB_SAMPLE_QUALITY_HITCH = 2,
    /// The game was paused, loading or in the background. Counted, not learned from.
    HOB_SAMPLE_QUALITY_PAUSED = 3,
} hob_sample_quality;

/// Parameters of a lane.
typedef struct hob_lane_desc {
    /// The budget, above 0, in the lane's unit. 0 or HUGE_VAL: no limit. Several lanes may have one.
    double limit;
} hob_lane_desc;

/// Keeps a frame inside its budget.
/// A handle: see "Handles" in base.h.
typedef struct hob_goblin hob_goblin;

// ---- Create and destroy ---------------------------------------------------------------------------------------------

/// Where burdens come from.
typedef enum hob_burdens {
    /// From hob_goblin_measure, or from the settings' measure callbacks.
    HOB_BURDENS_LEARNED = 0,
    /// From hob_option.relative_burden. Only whole frames are measured, with hob_goblin_measure_total. A controller
    /// finds the capacity, in units of relative_burden: late frames lower it, slack raises it. Only the first lane is
    /// steered; give the others no limit. A HOB_SETTING_TRIM setting is changed as seldom as others.
    HOB_BURDENS_RELATIVE = 1,
    /// From totals alone: a regression on totals and choices finds the burden of each option. Relative burdens serve
    /// until it has converged. Best up to 128 options; with more, it converges more slowly. Only the first lane is
    /// steered. Samples of settings are counted and not used. Trials of a frame each go on for ever, because the
    /// regression needs them; after the learning phase they make at most half of the changes that `changes_per_second`
    /// allows.
    HOB_BURDENS_TOTALS = 2,
} hob_burdens;

/// Parameters of a goblin.
/// Give at least one lane a limit; without any, each setting gets the most valuable option that was measured. 0 in a
/// field means its default.
typedef struct hob_goblin_desc {
    /// sizeof(hob_goblin_desc).
    uint32_t struct_size;
    /// Where burdens come from. Default HOB_BURDENS_LEARNED.
    hob_burdens burdens;
    /// The limits, by hob_lane. Default: none.
    hob_lane_desc lanes[HOB_LANE_COUNT];
    /// Share of frames that may exceed a limit, on each lane; at most 0.5. Default 0: the margin is
    /// hob_goblin_tuning.sigmas instead, for burdens that are normal and independent. HOB_BURDENS_RELATIVE ignores it.
    ///
    /// The margin follows the share of late frames. A choice that is kept has a smaller margin than a new one, down to
    /// none, while fewer frames are late than asked. Frames that are late because of a switch_burden are not included
    /// in the share. Only frames with samples of all costly settings calibrate it. To skip samples, skip all those of a
    /// frame, at random; if single settings are skipped, more frames are late.
    double overrun_probability;
    /// How long an improvement must persist before it is applied. Higher: fewer changes. Default 1. Negative: at once.
    ///
    /// A change is applied when its gains, added up over the frames, reach its price: `patience` times the sum of the
    /// settings' rises in value and 1.5 times their falls. In the minute after a large change, falls come to count 3
    /// times, and all of the price grows to 16 times as much.
    ///
    /// A return to an option within 10 s after its replacement costs twice as much. Beyond 1.25 such returns a minute,
    /// each costs the value of a whole frame in addition.
    ///
    /// A better choice that leaves no room for the fluctuations of the burdens waits, too. A choice that does not fit
    /// is replaced at once. At most 1e9.
    double patience;
    /// Most bytes that the goblin may hold. Calls that would exceed it return HOB_RESULT_LIMIT_EXCEEDED. The solver's
    /// own memory, about a megabyte, counts but is never refused. Default: no limit.
    uint64_t memory_limit;
    /// Decisions that are remembered for late samples, 1 to 65536. Default 64.
    uint32_t history;
    /// Most settings, at most 16777216. Default 65536.
    uint32_t max_settings;
    /// How it decides; copied. NULL: the defaults. For hob_goblin_set_desc NULL means unchanged.
    const struct hob_goblin_tuning *tuning;
    /// Most visible changes a second, at least 0.001. HUGE_VAL: no limit. Default 1.
    ///
    /// A change is one setting whose choice differs from the frame before. Trials and their ends count, TRIM settings
    /// do not. A change is *forced* if the former choices do not fit or are not available, if the strategy changes, or
    /// if an earlier change without effect is taken back (HOB_WHY_DEAD_LEVER). All others are *voluntary*.
    ///
    /// Each change takes 1 / `changes_per_second` seconds from a credit, which grows with time up to 6 s. A forced
    /// change is made at once, also without credit. A voluntary one waits until the credit is enough for it, so it may
    /// follow a forced one at once.
    ///
    /// No second has more voluntary changes than this, with two exceptions. One decision may change several related
    /// settings, and waits until as many changes are due. The begin and the end of a trial may be in one second. No
    /// voluntary change makes a minute exceed 60 times this, forced changes included.
    ///
    /// Changes are free in the learning phase, in trial windows and while the switch scale is 0. With
    /// HOB_BURDENS_TOTALS it limits trials only, and with a negative `patience` nothing.
    ///
    /// The learning phase follows the creation of a setting and takes 18 s, but at least 256 and at most 1024
    /// decisions. With HOB_BURDENS_LEARNED, a decision counts only if it, or one of the 4 before it, has a new sample.
    ///
    /// It begins again when a lane gets a limit. It also does when options that were never measured become ready,
    /// allowed by the range or enabled, and their setting has at most one measured option. From the fifth time on,
    /// that takes at most an eighth of all decisions.
    double changes_per_second;
    /// Decisions a second, which convert seconds to decisions: 0.001 to 1e9. Default 60.
    double decisions_per_second;
} hob_goblin_desc;

/// Creates a goblin.
/// On success `*out_goblin` is the caller's to destroy. HOB_RESULT_INVALID_ARGUMENT for a limit that is negative or
/// NaN. Without any limit the first decision logs a warning. Threads: any.
///
///     hob_goblin_tuning tuning = HOB_GOBLIN_TUNING_INIT;   // only where a default does not suit
///     tuning.switch_limit = 2.0;
///     hob_goblin_desc desc = HOB_GOBLIN_DESC_INIT;
///     desc.lanes[HOB_LANE_GPU].limit = 16.6;
///     desc.tuning = &tuning;
///     hob_result result = hob_goblin_create(&desc, &goblin);
HOB_NODISCARD HOB_API hob_result hob_goblin_create(const hob_goblin_desc *desc, hob_goblin **out_goblin);

/// Destroys a goblin and its settings; NULL is allowed.
/// From inside one of its callbacks it is destroyed when the running call returns. Threads: no call on it may run on
/// another thread.
HOB_API void hob_goblin_destroy(hob_goblin *goblin);

/// Returns the bytes that the goblin holds; 0 for an invalid handle.
/// Threads: shared.
HOB_NODISCARD HOB_API size_t hob_goblin_memory_used(const hob_goblin *goblin);

/// Returns the sentence of this handle's last failed exclusive call.
/// It is empty if none has failed, and valid until the next failure. Threads: shared.
HOB_NODISCARD HOB_API const char *hob_goblin_last_error(const hob_goblin *goblin);

// ---- Every frame ----------------------------------------------------------------------------------------------------

/// The decision of a frame.
/// An answer: set struct_size, or begin with HOB_DECISION_INIT. hob_goblin_get_decision has the details.
typedef struct hob_decision {
    /// sizeof(hob_decision).
    uint32_t struct_size;
    /// 1 if mean + sigmas * deviation of the choices fits the limit of every lane. 0: nothing fits, and the choices are
    /// those that exceed the limits least. Trials do not count, nor does the noise that HOB_SETTING_TRIM follows.
    uint32_t feasible;
    /// Counts up from 1. Pass it with the samples of the frame.
    uint64_t id;
    /// Sum of the chosen values.
    double value;
    /// Largest possible distance of `value` from the optimum, 0 to 1. 0: it is the optimum.
    ///
    /// It is a share of the optimum's value above the value of the lightest options. The optimum has the margin of a
    /// new choice. While choices are held without a new solve, it is an estimate: the last proven gap, corrected for
    /// changed burdens.
    double gap;
    /// Settings whose choice differs from the decision before; in the first decision, from their defaults.
    uint32_t change_count;
    /// Settings with an option on trial in this frame. The first and the last frame of a trial are changes, too.
    uint32_t trial_count;
    /// The strategy in force; 0 without strategies.
    uint32_t strategy;
    /// 0.
    uint32_t reserved;
} hob_decision;

/// Decides a frame: call it once, before the frame is drawn.
/// It is hob_goblin_collect_samples, then hob_goblin_decide. `out_decision` may be NULL. If nothing fits, `feasible` is
/// 0; that is no error. After a failure the previous choices stay in force, as hob_goblin_decide says. It waits for
/// nothing, and allocates nothing unless node_limit is above 4096 or get_options gives more options than before.
/// Threads: exclusive. Callbacks: those of the settings, on this thread.
///
///     hob_decision decision = HOB_DECISION_INIT;
///     hob_goblin_update(goblin, &decision);
///     set_shadow_quality(hob_goblin_choice(goblin, shadows));
HOB_API hob_result hob_goblin_update(hob_goblin *goblin, hob_decision *out_decision);

/// Returns the choice of a setting: that of its latest decision, or before its first one, its default.
/// 0 for an invalid handle or id, or a setting without options, so that it can index an array; hob_last_error has the
/// reason. It never waits and is never busy. A render thread that is a frame behind calls hob_goblin_choices or
/// hob_goblin_choice_of with the decision of its frame. Threads: any.
HOB_NODISCARD HOB_API uint32_t hob_goblin_choice(const hob_goblin *goblin, hob_setting_id setting);

/// Gets the option that one decision chose for a setting.
/// With HOB_DECISION_LATEST it is that of the latest decision; before the goblin's first decision, the default.
/// HOB_RESULT_NOT_FOUND if the decision is not remembered any more (hob_goblin_desc.history), or if the setting took no
/// part in it. It never waits and is never busy. Threads: any.
HOB_API hob_result hob_goblin_choice_of(
    const hob_goblin *goblin, uint64_t decision_id, hob_setting_id setting, uint32_t *out_choice);

/// hob_goblin_choices: the setting at this index has no choice in the decision.
#define HOB_CHOICE_NONE UINT32_MAX

/// Gets all choices of one decision, for a renderer that wants them once a frame.
/// With HOB_DECISION_LATEST they are those of the latest decision; before the goblin's first decision, the defaults.
/// The choice of setting s is at s.index1 - 1; HOB_CHOICE_NONE if it took no part, as while it is disabled.
/// HOB_RESULT_NOT_FOUND if the decision is not remembered any more.
///
/// `*out_count` receives the required size, the highest index1 so far; `*out_decision_id` receives the decision, 0
/// before the first. Either may be NULL. HOB_RESULT_BUFFER_TOO_SMALL: `capacity` is less than the required size; only
/// `*out_count` is written.
///
/// All choices are of the same decision, even if another thread decides meanwhile. Threads: any.
///
///     uint32_t choices[MAX_SETTINGS];
///     uint64_t decision_id;
///     hob_goblin_choices(goblin, HOB_DECISION_LATEST, choices, MAX_SETTINGS, NULL, &decision_id);
///     set_shadow_quality(choices[shadows.index1 - 1]);
HOB_API hob_result hob_goblin_choices(
    const hob_goblin *goblin, uint64_t decision_id, uint32_t *choices, uint32_t capacity, uint32_t *out_count,
    uint64_t *out_decision_id);

/// Adds a sample: the cost of a setting on a lane in the frame of `decision_id` (or HOB_DECISION_LATEST).
/// Call it when the cost is known; with GPU timers that is frames later, so pass the id of that frame's decision. Add
/// up the passes of a setting first: one sample per decision, setting and lane. `burden` is in the lane's unit, 0 to
/// 1e9.
///
/// Samples of lanes without a limit are counted and dropped. HOB_RESULT_NOT_FOUND if the decision is not remembered
/// any more (hob_goblin_desc.history). Samples may be skipped: best of whole frames, and at random. The number of
/// samples that learning takes stays the same, so with a tenth of them it takes ten times as long.
///
/// If changes of a setting take time, set its hob_setting_desc.switch_burden. If that is above 2 % of the limit, a
/// sample of the frame of a change, or of the two after it, may have that time or not. The goblin tells which.
/// Otherwise the time counts as the option's burden.
///
/// A second sample of one decision, setting and lane counts separately. Threads: exclusive. A host that measures on
/// other threads queues those samples for the thread that calls hob_goblin_update.
///
///     double ms = read_gpu_timer(frame.shadow_query);     // a frame that ended a while ago
///     hob_goblin_measure(goblin, frame.decision_id, shadows, HOB_LANE_GPU, ms, HOB_SAMPLE_QUALITY_OK);
HOB_API hob_result hob_goblin_measure(
    hob_goblin *goblin, uint64_t decision_id, hob_setting_id setting, hob_lane lane, double burden,
    hob_sample_quality quality);

/// Adds a total: the cost of the whole frame of `decision_id` on a lane.
/// Parameters as in hob_goblin_measure. With HOB_BURDENS_RELATIVE and HOB_BURDENS_TOTALS, totals of the first lane
/// steer the goblin. With HOB_BURDENS_LEARNED, a total teaches the residual of its lane. The total and the samples of a
/// decision may come in any order. Threads: exclusive.
HOB_API hob_result hob_goblin_measure_total(
    hob_goblin *goblin, uint64_t decision_id, hob_lane lane, double burden, hob_sample_quality quality);

/// Reports that the frame of `decision_id` (or HOB_DECISION_LATEST) used `choice` instead of the decided option.
/// Call it before the samples of that frame: they then count for `choice`. hob_goblin_choice_of still returns the
/// decided option. Threads: exclusive.
HOB_API hob_result hob_goblin_report_applied(
    hob_goblin *goblin, uint64_t decision_id, hob_setting_id setting, uint32_t choice);

/// Collects samples: the first half of hob_goblin_update.
/// It runs the measure callbacks and takes in all samples since the last call. A host with measure callbacks adds its
/// totals after this and before hob_goblin_decide. Threads: exclusive.
HOB_API hob_result hob_goblin_collect_samples(hob_goblin *goblin);

/// Decides: the second half of hob_goblin_update.
/// It estimates, solves, and publishes the choices. `out_decision` may be NULL. After a failure the previous choices
/// stay in force, except for settings whose get_options gave a new number of options: those are at their default.
/// Threads: exclusive.
HOB_API hob_result hob_goblin_decide(hob_goblin *goblin, hob_decision *out_decision);

// ---- Settings -------------------------------------------------------------------------------------------------------

/// hob_option.flags: the option cannot be chosen now.
/// It is streaming in, compiling, or not bought.
#define HOB_OPTION_NOT_READY 1

/// One option of a setting.
/// 0 is a good start for every field.
typedef struct hob_option {
    /// Its worth, in any unit that all settings share. -1e9 to 1e9.
    double value;
    /// Rough burden, in any unit that all settings share, for HOB_BURDENS_RELATIVE and HOB_BURDENS_TOTALS. With
    /// HOB_BURDENS_LEARNED it is the first guess of an option. 0, or 1e-9 to 1e9.
    double relative_burden;
    /// HOB_OPTION_ flags.
    uint32_t flags;
    /// Must be 0.
    uint32_t reserved;
} hob_option;

/// A sample, for the measure callback.
/// The library presets every field.
typedef struct hob_sample {
    /// sizeof(hob_sample), set by the library.
    uint32_t struct_size;
    /// The lane. Preset to the first one that has a limit.
    hob_lane lane;
    /// The decision of the frame. Preset to HOB_DECISION_LATEST.
    uint64_t decision_id;
    /// The cost, in the lane's unit. 0 to 1e9.
    double burden;
    /// The quality. Preset to HOB_SAMPLE_QUALITY_OK.
    hob_sample_quality quality;
    /// 0.
    uint32_t reserved;
} hob_sample;

/// hob_setting_desc.flags: a fine ladder, such as a dynamic resolution.
/// Every decision sets it anew to use up the last slack, even if no other setting changes. If its switch_burden is more
/// than a tenth of the first lane's limit, it changes as seldom as others.
#define HOB_SETTING_TRIM 1

/// Parameters of a setting.
/// Its options come from the array or from the callback get_options.
typedef struct hob_setting_desc {
    /// sizeof(hob_setting_desc).
    uint32_t struct_size;
    /// Options in the array: 0 to 65535.
    uint32_t option_count;
    /// The task: burdens are learned and saved under this name. Settings of one task pool their samples, and must have
    /// the same number of options. Empty: get_id is called.
    hob_str id;
    /// The options; choices are indices into them. Copied.
    const hob_option *options;
    /// Bytes from one option to the next, also for get_options: sizeof(hob_option). 0: its first released size.
    size_t option_stride;
    /// The choice while nothing is known of the setting. Default 0.
    uint32_t default_choice;
    /// HOB_SETTING_ flags. Default 0.
    uint32_t flags;
    /// Cost of a change on the frame that makes it, on the first lane. 0 to 1e9. Default 0.
    /// If a change takes two or three frames, give the cost of one of them. hob_decision does not include it.
    ///
    /// A voluntary change waits until its gains, added up over the frames, reach this burden times what a unit of
    /// burden is worth now. See also hob_goblin_set_switch_scale. Changes of HOB_SETTING_TRIM settings that make their
    /// own frame late are rare: half of the late frames that overrun_probability or the sigmas allow.
    double switch_burden;
    /// Passed to all callbacks.
    void *user_data;
    /// Called exactly once, after the setting was removed or the goblin destroyed.
    /// No other callback of the goblin runs at that time. Not called if adding the setting failed. May be NULL, like
    /// every callback.
    void (*release)(void *user_data);
    /// Fills in `options` and returns their number; the array above is then ignored. `options` is zeroed and has room
    /// for `capacity`, option_stride apart. If that is too small, return the number and fill in nothing: the call is
    /// repeated with more room. With an invalid answer, such as a NaN, the running call returns
    /// HOB_RESULT_INVALID_ARGUMENT.
    ///
    /// Called when the setting is added and before every decision, so values can follow the scene. Its answer replaces
    /// what hob_goblin_set_options, hob_goblin_set_value and hob_goblin_set_ready have set.
    uint32_t (*get_options)(void *user_data, hob_option *options, uint32_t capacity);
    /// Returns the default choice, instead of default_choice. Called when the setting is added.
    uint32_t (*get_default_choice)(void *user_data);
    /// Receives the choice: after the first decision, and after every decision that changed it, trials included.
    void (*set_choice)(void *user_data, uint32_t choice, uint64_t decision_id);
    /// Gives the task's name, if `id` is empty. Called when the setting is added; the text is copied as soon as this
    /// returns.
    void (*get_id)(void *user_data, hob_str *out_id);
    /// Fills in a sample and returns 1; returns 0 if there is no sample. hob_goblin_collect_samples calls it until it
    /// returns 0, at most 64 times. An unusable sample (NaN, too late) is counted and dropped.
    uint32_t (*measure)(void *user_data, hob_sample *out_sample);
} hob_setting_desc;

/// Adds a setting, at any time; `*out_setting` receives its id.
/// HOB_RESULT_INVALID_ARGUMENT for an empty id, or if another setting of that id has a different number of options.
/// HOB_RESULT_LIMIT_EXCEEDED: max_settings or memory_limit is reached. Threads: exclusive. Callbacks: they run inside
/// calls on this goblin, on the thread of the call. Inside them, const functions work; hob_goblin_remove_setting and
/// hob_goblin_destroy take effect when the running call returns; all others return HOB_RESULT_BUSY.
///
///     hob_option options[] = {{.value = 0}, {.value = 4}, {.value = 6}};
///     hob_setting_desc desc = HOB_SETTING_DESC_INIT;
///     desc.id = HOB_STR("shadows");
///     desc.options = options;
///     desc.option_count = 3;
///     desc.switch_burden = 2.0;   // milliseconds that a change costs
///     hob_goblin_add_setting(goblin, &desc, &shadows);
HOB_API hob_result hob_goblin_add_setting(
    hob_goblin *goblin, const hob_setting_desc *desc, hob_setting_id *out_setting);

/// Adds a setting that is off (0, worth nothing) or on (1, worth `value`).
/// Threads: exclusive.
HOB_API hob_result hob_goblin_add_binary(hob_goblin *goblin, hob_str id, double value, hob_setting_id *out_setting);

/// Adds a setting that is off (0, worth `value_off`) or on (1, worth `value_on`).
/// `default_choice`, 0 or 1, is the choice while nothing is known of the setting. Threads: exclusive.
HOB_API hob_result hob_goblin_add_binary_with_default(
    hob_goblin *goblin, hob_str id, double value_off, double value_on, uint32_t default_choice,
    hob_setting_id *out_setting);

/// Adds a setting with `count` options of these values.
/// Threads: exclusive.
HOB_API hob_result hob_goblin_add_array(
    hob_goblin *goblin, hob_str id, const double *values, uint32_t count, hob_setting_id *out_setting);

/// Adds a setting with `count` options of these values, and a default.
/// `default_choice` is the choice while nothing is known of the setting. Threads: exclusive.
HOB_API hob_result hob_goblin_add_array_with_default(
    hob_goblin *goblin, hob_str id, const double *values, uint32_t count, uint32_t default_choice,
    hob_setting_id *out_setting);

/// Adds a burden without a choice, such as the rest of the frame: a setting with one option, measured like all others.
/// Threads: exclusive.
HOB_API hob_result hob_goblin_add_fixed_burden(hob_goblin *goblin, hob_str id, hob_setting_id *out_setting);

/// Adds a burden without a choice that is worth `value`, -1e9 to 1e9.
/// hob_goblin_set_strategy_value can vary the value by strategy. Threads: exclusive.
HOB_API hob_result hob_goblin_add_fixed_burden_with_value(
    hob_goblin *goblin, hob_str id, double value, hob_setting_id *out_setting);

/// Adds a value without a choice or a burden; hob_goblin_set_strategy_value can vary it by strategy.
/// It is not measured. Threads: exclusive.
HOB_API hob_result hob_goblin_add_fixed_incentive(
    hob_goblin *goblin, hob_str id, double value, hob_setting_id *out_setting);

/// Removes a setting, at any time; its `release` is called before this returns.
/// Learned burdens of its task stay, for a later setting of that id. Inside a callback of the goblin, the setting is
/// removed, and `release` called, when the running call returns; its other callbacks are not called any more.
/// Threads: exclusive.
HOB_API hob_result hob_goblin_remove_setting(hob_goblin *goblin, hob_setting_id setting);

/// Replaces a setting's options: `count` of them, `stride` bytes apart.
/// `stride` is sizeof(hob_option); 0 means its first released size. With a different count, learned burdens of the task
/// and its values under strategies are dropped; the log says so. Other settings of the task keep their number of
/// options: change theirs, too. Range, pin and `enabled` stay. HOB_RESULT_INVALID_ARGUMENT for a product with a
/// different count. Threads: exclusive.
HOB_API hob_result hob_goblin_set_options(
    hob_goblin *goblin, hob_setting_id setting, const hob_option *options, size_t stride, uint32_t count);

/// Changes the value of one option; -1e9 to 1e9.
/// Threads: exclusive.
HOB_API hob_result hob_goblin_set_value(hob_goblin *goblin, hob_setting_id setting, uint32_t option, double value);

/// Sets whether an option can be chosen now.
/// `ready` 0: it is streaming in or compiling. An option that does not exist gives HOB_RESULT_INVALID_ARGUMENT, as in
/// all functions that change one. Threads: exclusive.
HOB_API hob_result hob_goblin_set_ready(hob_goblin *goblin, hob_setting_id setting, uint32_t option, uint32_t ready);

/// Sets how much work a setting has from the next decision on: objects, pixels, lights, in any unit.
/// Burdens are learned per unit of work, so the cost of a heavier scene is known at once. 1e-9 to 1e9; initially 1. A
/// late sample counts with the work of its own decision.
/// Threads: exclusive.
HOB_API hob_result hob_goblin_set_work(hob_goblin *goblin, hob_setting_id setting, double work);

// ---- Parameters -----------------------------------------------------------------------------------------------------

/// How options of unknown burden are tried.
typedef enum hob_exploration {
    /// Only if the other settings leave room for a cautious guess. If the guess is too low, frames of the trial are
    /// late. A trial lasts a frame, or until it is measured if its switch_burden is above 2 % of the limit. After the
    /// learning phase, other settings make room for a little-known option that does not fit otherwise. They do so for a
    /// second, and at most once in 320 s, or more often if changes_per_second is HUGE_VAL.
    HOB_EXPLORATION_BOUNDED = 0,
    /// An unknown option is taken to be cheap, so it is chosen until its burden is known (as in Performance Goblin).
    /// Learns fast where late frames do not matter, as on a loading screen. A common slow-down is measured
    /// (hob_goblin_statistics.anomaly), but estimates do not use it.
    HOB_EXPLORATION_OPTIMISTIC = 1,
} hob_exploration;

/// hob_goblin_tuning.trial_limit: no option is tried.
/// An option that was never measured, and that no past profile has, is then never chosen.
#define HOB_NO_TRIALS UINT32_MAX

/// hob_goblin_tuning.precision: the proven optimum.
#define HOB_PRECISION_PROVEN UINT32_MAX

/// How a goblin decides.
/// The defaults suit most renderers. 0 in a field means its default.
typedef struct hob_goblin_tuning {
    /// sizeof(hob_goblin_tuning).
    uint32_t struct_size;
    /// How unknown options are tried. Default HOB_EXPLORATION_BOUNDED.
    hob_exploration exploration;
    /// Safety margin, in standard deviations: mean + sigmas * deviation of the total burden must fit the limit. 0 to
    /// 100. Default 3. Negative: deviations are ignored. If overrun_probability is set, it replaces this.
    double sigmas;
    /// Extra value of an option with fewer samples than measure_quota, so that it is chosen and measured more often.
    /// -1e9 to 1e9. Default 0.
    double explore_value;
    /// Probability that the options on trial make a frame late. 1e-6 to 0.5. Default 0.015. A switch_burden comes on
    /// top: where changes take long, the first seconds have more late frames.
    double trial_risk;
    /// Most options on trial in one frame. Default 8. HOB_NO_TRIALS: no trials.
    uint32_t trial_limit;
    /// Samples of an option after which only its recent samples count. Default 30.
    uint32_t measure_quota;
    /// Largest total switch_burden of voluntary changes in one decision; the other changes wait. One voluntary change
    /// is always allowed. Default: no limit.
    double switch_limit;
    /// Decisions for which a setting keeps a choice that still fits. Default 0.
    uint32_t dwell;
    /// Accepted distance from the optimum, as 1/precision. Default 1000. It is a share of the optimum's value above
    /// that of the lightest choices: see hob_knapsack_solve_desc.accepted_gap. HOB_PRECISION_PROVEN: the optimum. If
    /// node_limit ends the search first, the distance can be greater; hob_decision.gap shows it.
    uint32_t precision;
    /// Most nodes of the solver's search in one decision. It limits the time without a clock. Default 256. If precision
    /// is at most 100, 256 means 4096: then the search usually ends long before, but needs more on rare hard values.
    /// Above 4096 a decision may allocate memory.
    uint64_t node_limit;
} hob_goblin_tuning;

/// Changes the parameters.
/// All fields are replaced: 0 sets the default, also here; only a desc without `tuning` leaves the tuning unchanged. To
/// change one field, begin with hob_goblin_get_desc. Learned burdens stay, except on lanes without a limit in any
/// strategy. If lanes gain or lose their limit, samples of earlier decisions are refused. Threads: exclusive.
HOB_API hob_result hob_goblin_set_desc(hob_goblin *goblin, const hob_goblin_desc *desc);

/// Gets the parameters in force; `tuning` is NULL: see hob_goblin_get_tuning.
/// Threads: shared.
HOB_API hob_result hob_goblin_get_desc(const hob_goblin *goblin, hob_goblin_desc *out_desc);

/// Changes how the goblin decides; NULL: back to the defaults.
/// Threads: exclusive.
HOB_API hob_result hob_goblin_set_tuning(hob_goblin *goblin, const hob_goblin_tuning *tuning);

/// Gets how the goblin decides.
/// Threads: shared.
HOB_API hob_result hob_goblin_get_tuning(const hob_goblin *goblin, hob_goblin_tuning *out_tuning);

// ---- Control --------------------------------------------------------------------------------------------------------

/// Allows only the options from `first` (a floor) to `last` (a ceiling), from the next decision on.
/// `first` must exist; a `last` beyond the last option, such as UINT32_MAX, means the last. 0 to UINT32_MAX allows all.
/// If no allowed option is ready, the one nearest to the default is chosen. Threads: exclusive.
HOB_API hob_result hob_goblin_set_range(hob_goblin *goblin, hob_setting_id setting, uint32_t first, uint32_t last);

/// Allows only one option, from the next decision on: hob_goblin_set_range from it to itself.
/// The other settings make room for it. hob_goblin_set_range from 0 to UINT32_MAX allows all again. Threads: exclusive.
HOB_API hob_result hob_goblin_pin(hob_goblin *goblin, hob_setting_id setting, uint32_t option);

/// Takes a setting out of decisions (`enabled` 0) or back in.
/// While it is out it costs nothing, is worth nothing and keeps its choice; learned burdens stay. Samples of decisions
/// without it get HOB_RESULT_NOT_FOUND. Threads: exclusive.
HOB_API hob_result hob_goblin_set_enabled(hob_goblin *goblin, hob_setting_id setting, uint32_t enabled);

/// Multiplies every switch_burden, and the patience.
/// 0 to 1e9; initially 1. Below 1 while changes are hard to notice, as in a cut or a menu; above 1 while they are easy
/// to notice. At 0 changes are free, and choices follow every change of an estimate: use it only for frames in which
/// nobody sees them. Threads: exclusive.
HOB_API hob_result hob_goblin_set_switch_scale(hob_goblin *goblin, double scale);

/// Multiplies the switch_burden and the patience of one setting, in addition to hob_goblin_set_switch_scale.
/// 0 to 1e9; initially 1. Below 1 for a setting whose changes are hard to notice, such as a shadow distance. A change
/// of it then counts as that share of a change in hob_goblin_desc.changes_per_second. Threads: exclusive.
HOB_API hob_result hob_goblin_set_setting_switch_scale(hob_goblin *goblin, hob_setting_id setting, double scale);

/// Allows more trials for the next `decisions` decisions: in a menu, on a loading screen, in a cut.
/// Any number of options may be on trial in a frame, and such a frame may exceed each limit by `share` of it, 0 to 1e9.
/// A new window replaces the present one; 0 `decisions` close it. Without effect if hob_goblin_tuning.trial_limit is
/// HOB_NO_TRIALS. Threads: exclusive.
HOB_API hob_result hob_goblin_open_trial_window(hob_goblin *goblin, uint32_t decisions, double share);

/// Reports the thermal headroom of the device behind a lane, about once a second.
/// 0 is cool, and 1 is the heat at which the device throttles: at most 100. NaN is refused. Android's
/// `getThermalHeadroom(10)` and Unreal's `GetThermalStress` have this scale. To keep more distance, report a greater
/// number.
///
/// From the first report on, the goblin uses the share of the lane's limit that keeps the headroom just below 1. The
/// share changes at most once in ten seconds, and hob_decision_lane.capacity contains it. A minute without a report
/// restores the whole limit; less than .3 of it is never used. On a lane without a limit it has no effect. Without
/// reports, costs that rise for tens of seconds are forecast, but not when the device throttles. Threads: exclusive.
HOB_API hob_result hob_goblin_set_thermal_headroom(hob_goblin *goblin, hob_lane lane, double headroom);

// ---- The latest decision --------------------------------------------------------------------------------------------

/// The result of a decision on one lane.
/// All 0 for a lane that no strategy limits, except the first one if there is no limit at all.
typedef struct hob_decision_lane {
    /// Mean + sigmas * deviation of the choices: compared with the capacity. Includes the residual, as do `mean` and
    /// `deviation`. With overrun_probability the sigmas are those in force, perhaps 0 for a choice that is kept.
    ///
    /// While options are on trial, it has a cautious guess of their burden instead of the expected one. With settings
    /// of HOB_SETTING_TRIM, it is for the noise of the present frames, which no other setting follows; where they
    /// cannot make up for that, it exceeds the capacity.
    double burden;
    /// Expected burden of the choices.
    double mean;
    /// Its standard deviation.
    double deviation;
    /// The limit of the strategy in force; HUGE_VAL if it has none. With HOB_BURDENS_RELATIVE the controller's
    /// capacity, in units of relative_burden.
    double capacity;
    /// By how much the burden exceeds the capacity; 0 if it fits.
    double excess;
    /// Expected burden with the lightest option of every setting.
    double lightest_mean;
    /// Expected burden with the most valuable option of every setting.
    double highest_mean;
} hob_decision_lane;

/// Details of a decision.
/// An answer: set struct_size, or begin with HOB_DECISION_DETAILS_INIT.
typedef struct hob_decision_details {
    /// sizeof(hob_decision_details).
    uint32_t struct_size;
    /// As in hob_decision.
    uint32_t feasible;
    /// As in hob_decision.
    uint64_t id;
    /// As in hob_decision.
    double value;
    /// As in hob_decision.
    double gap;
    /// As in hob_decision.
    uint32_t change_count;
    /// As in hob_decision.
    uint32_t trial_count;
    /// As in hob_decision.
    uint32_t strategy;
    /// Settings that took part.
    uint32_t setting_count;
    /// By hob_lane.
    hob_decision_lane lanes[HOB_LANE_COUNT];
    /// Value with the lightest option of every setting.
    double lightest_value;
    /// Value with the most valuable option of every setting, whether or not it fits.
    double highest_value;
    /// Nodes that the solver visited; 0 if nothing was solved.
    uint64_t nodes;
    /// Nanoseconds that the decision took, by the clock hook; 0 without one.
    uint64_t elapsed_ns;
} hob_decision_details;

/// Gets the details of the latest decision.
/// HOB_RESULT_NOT_FOUND before the first. Threads: shared.
HOB_API hob_result hob_goblin_get_decision(const hob_goblin *goblin, hob_decision_details *out_details);

// ---- Why ------------------------------------------------------------------------------------------------------------

/// Why a setting has its choice.
typedef enum hob_why {
    /// Nothing was decided yet.
    HOB_WHY_UNDECIDED = 0,
    /// Nothing is known of its burdens, so it has its default.
    HOB_WHY_UNKNOWN = 1,
    /// Part of the most valuable choices that fit.
    HOB_WHY_BEST = 2,
    /// More valuable than before: there was room.
    HOB_WHY_RAISED = 3,
    /// Less valuable than before, so that everything fits or another setting can be raised.
    HOB_WHY_LOWERED = 4,
    /// A better choice would fit, but is delayed.
    /// Its gain has not paid for the change yet (hob_goblin_desc.patience), or it leaves no room for fluctuations, or
    /// changes_per_second, dwell or switch_limit delays it.
    HOB_WHY_HELD = 5,
    /// Chosen to learn its burden.
    /// For a frame, or a few if the change takes time; after the learning phase for up to a second.
    HOB_WHY_TRIAL = 6,
    /// The host's range has no other option, ready or not.
    HOB_WHY_PINNED = 7,
    /// The host's range excludes a more valuable option.
    HOB_WHY_LIMITED = 8,
    /// A more valuable option is not ready.
    HOB_WHY_NOT_READY = 9,
    /// Nothing fits: the choice that exceeds the limits least.
    HOB_WHY_NOTHING_FITS = 10,
    /// Takes up the last slack (HOB_SETTING_TRIM).
    HOB_WHY_TRIM = 11,
    /// The setting is disabled.
    HOB_WHY_DISABLED = 12,
    /// The strategy has changed.
    HOB_WHY_STRATEGY = 13,
    /// Moved for as long as the trial of another setting lasts, so that it fits.
    HOB_WHY_MAKES_ROOM = 14,
    /// Restored to an earlier option and left alone for 60 seconds, because the cheaper option saved nothing.
    /// 24 samples of the setting itself showed less than a quarter of the expected saving. If 24 samples after that
    /// show that the earlier option does cost more, the setting is free again. Savings of less than 3 deviations are
    /// not checked. A setting that is most of its lane is not recognised: it looks as if the whole frame were slower.
    HOB_WHY_DEAD_LEVER = 15,
} hob_why;

/// Why a setting has its choice.
/// An answer: set struct_size, or begin with HOB_REASON_INIT.
typedef struct hob_reason {
    /// sizeof(hob_reason).
    uint32_t struct_size;
    /// The reason.
    hob_why why;
    /// The option before the last change; the present one if it never changed. With HOB_WHY_TRIAL and
    /// HOB_WHY_MAKES_ROOM: the option to which it returns.
    uint32_t from;
    /// The present option.
    uint32_t to;
    /// The decision of the last change that was no trial; 0 if it never changed.
    uint64_t since;
    /// The slack on `lane`, in its unit. If negative, it is the excess. With HOB_WHY_RAISED, HOB_WHY_LOWERED and
    /// HOB_WHY_STRATEGY: the slack before the change.
    double headroom;
    /// With HOB_WHY_HELD: the value that a better choice would gain in each frame, and that waiting loses. With
    /// HOB_WHY_RAISED, HOB_WHY_LOWERED and HOB_WHY_STRATEGY: the total value that the change gained, negative if it
    /// lost some. Otherwise 0.
    double gain;
    /// The lane of `headroom`: the one with an excess, otherwise that on which the choice or its change costs most.
    hob_lane lane;
    /// 0.
    uint32_t reserved;
} hob_reason;

/// Gets why a setting has its choice.
/// Threads: shared.
HOB_API hob_result hob_goblin_get_reason(const hob_goblin *goblin, hob_setting_id setting, hob_reason *out_reason);

/// Writes why a setting has its choice as an English sentence into a buffer, with a NUL.
/// For example "raised from 1 to 2 in decision 512: the headroom was 1.80". `*out_size` receives the required size with
/// the NUL; it may be NULL if `buffer` is not. 256 bytes are always enough. HOB_RESULT_BUFFER_TOO_SMALL leaves the
/// buffer unchanged. Threads: shared.
HOB_API hob_result hob_goblin_get_reason_text(
    const hob_goblin *goblin, hob_setting_id setting, char *buffer, size_t capacity, size_t *out_size);

// ---- What was learned -----------------------------------------------------------------------------------------------

/// Gets what an option is expected to cost on a lane in the next frame.
/// It is for the setting's present work and the strategy in force; the count is of this run's samples. It allocates, so
/// do not call it in every frame.
/// HOB_RESULT_INVALID_ARGUMENT for an option that does not exist, HOB_RESULT_NOT_FOUND for a lane without a limit.
/// Threads: shared.
HOB_API hob_result hob_goblin_get_estimate(
    const hob_goblin *goblin, hob_setting_id setting, uint32_t option, hob_lane lane, hob_estimate *out_estimate);

/// Counters of a goblin.
/// An answer: set struct_size, or begin with HOB_GOBLIN_STATISTICS_INIT.
typedef struct hob_goblin_statistics {
    /// sizeof(hob_goblin_statistics).
    uint32_t struct_size;
    /// Settings at present.
    uint32_t setting_count;
    /// Decisions so far, which is also the id of the latest.
    uint64_t decisions;
    /// Samples learned from.
    uint64_t samples;
    /// Samples and totals that were not HOB_SAMPLE_QUALITY_OK.
    uint64_t flagged;
    /// Samples of lanes without a limit, or of settings without a burden.
    uint64_t ungoverned;
    /// Samples refused. Their decision was not remembered, their setting took no part in it, or a callback gave an
    /// invalid one.
    uint64_t refused;
    /// Totals received.
    uint64_t totals;
    /// Totals above the limit of their lane.
    uint64_t totals_over;
    /// Ratio of the latest samples to their typical burdens, on the first lane. 1 is normal, 2 is twice as slow; 0: no
    /// samples yet.
    double anomaly;
    /// The same, smoothed over about 30 frames.
    double recent_anomaly;
    /// Ratio of present to past burdens (hob_goblin_set_past_profile), on the first lane. 1 until both are known.
    double past_ratio;
    /// Bytes held.
    uint64_t memory_used;
    /// The residual of each lane, by hob_lane; 0 while it is unknown.
    double residual[HOB_LANE_COUNT];
    /// Strategies; 1 if the host has added none.
    uint32_t strategy_count;
    /// 0.
    uint32_t reserved;
} hob_goblin_statistics;

/// Gets the counters of a goblin.
/// Threads: shared.
HOB_API hob_result hob_goblin_get_statistics(const hob_goblin *goblin, hob_goblin_statistics *out_statistics);

// ---- Profiles -------------------------------------------------------------------------------------------------------

/// Uses the burdens of a past run, perhaps of another machine.
/// The first samples show how much slower or faster this machine is. The profile is copied; it replaces an earlier one.
/// Tasks with a different number of options are not used; the log says so. Threads: exclusive; shared for `profile`.
HOB_API hob_result hob_goblin_set_past_profile(hob_goblin *goblin, const hob_profile *profile);

/// Uses the burdens of a past run, as JSON of hob_goblin_save_profile.
/// See hob_profile_load. Threads: exclusive.
HOB_API hob_result hob_goblin_load_profile(hob_goblin *goblin, const void *data, size_t size);

/// Writes the burdens as JSON into a buffer: those of this run, otherwise scaled ones of the past profile.
/// Only HOB_BURDENS_LEARNED has burdens of single options: otherwise it is the past profile, or empty. Sizes and buffer
/// as in hob_profile_save. Threads: shared.
HOB_API hob_result hob_goblin_save_profile(const hob_goblin *goblin, char *buffer, size_t capacity, size_t *out_size);

// ---- Experimental: products of settings -----------------------------------------------------------------------------

/// One axis of a product, such as the resolution.
typedef struct hob_product_axis {
    /// The worth of each index, in the unit of hob_option.value. A combination is worth the sum over the axes; for
    /// other worths call hob_goblin_set_value. Copied.
    const double *values;
    /// By how much each index multiplies the burden, such as the megapixels of a resolution. Each is 1e-9 to 1e9, and
    /// so is the product over all axes. A sample of one index then teaches all others. NULL: unknown, so every index is
    /// measured. Copied.
    const double *works;
    /// Number of values, and of works.
    uint32_t count;
    /// The index of the default choice.
    uint32_t default_index;
} hob_product_axis;

/// Parameters of a product: a setting whose options are all combinations of several axes.
/// It is for axes whose burdens do not add up, such as resolution and samples per pixel. In the numbering of
/// combinations, axes without works come first, then those with works, each group in array order. The last axis varies
/// fastest. Burdens are learned per combination of the axes without works: 20 resolutions with works and 4 sample
/// counts are 4 burdens.
typedef struct hob_product_desc {
    /// sizeof(hob_product_desc).
    uint32_t struct_size;
    /// Axes in the array: 1 to 16, with at most 65535 combinations.
    uint32_t axis_count;
    /// The task, as in hob_setting_desc; not empty.
    hob_str id;
    /// The axes, in the order of hob_goblin_product_index. Copied.
    const hob_product_axis *axes;
    /// Bytes from one axis to the next: sizeof(hob_product_axis). 0: its first released size.
    size_t axis_stride;
    /// hob_option.relative_burden per unit of work, for every combination. Default 0.
    double relative_burden;
    /// As in hob_setting_desc. Default 0.
    double switch_burden;
    /// HOB_SETTING_ flags. Default 0.
    uint32_t flags;
    /// Must be 0.
    uint32_t reserved;
} hob_product_desc;

/// Adds a product, at any time; `*out_setting` receives its id.
/// It is a setting like others, except that its number of options is fixed. HOB_RESULT_LIMIT_EXCEEDED with too many
/// axes or combinations. Threads: exclusive.
HOB_EXPERIMENTAL_API hob_result hob_goblin_add_product(
    hob_goblin *goblin, const hob_product_desc *desc, hob_setting_id *out_setting);

/// Returns the index of a product's choice on one axis.
/// 0 for an invalid handle or id, and for an unknown choice or axis, so that it can index an array; hob_last_error has
/// the reason. 0 during another thread's exclusive call: a render thread must call it before that. Threads: shared.
HOB_NODISCARD HOB_EXPERIMENTAL_API uint32_t hob_goblin_product_index(
    const hob_goblin *goblin, hob_setting_id setting, uint32_t choice, uint32_t axis);

/// Gets the choice of a product at these indices, one for each axis.
/// It is for hob_goblin_pin, hob_goblin_set_ready and other functions that take an option. Threads: shared.
HOB_EXPERIMENTAL_API hob_result hob_goblin_get_product_choice(
    const hob_goblin *goblin, hob_setting_id setting, const uint32_t *indices, uint32_t index_count,
    uint32_t *out_choice);

// ---- Experimental: strategies ---------------------------------------------------------------------------------------

/// Parameters of a strategy: other limits for the same settings, such as those of 30 frames a second beside 60.
/// Every decision finds the best choices under each strategy. The greatest net value wins: the chosen values plus the
/// strategy's incentive. A better strategy's gains must first add up to `patience` times the difference of
/// highest_value and lightest_value, unless the present one no longer fits.
typedef struct hob_strategy_desc {
    /// sizeof(hob_strategy_desc).
    uint32_t struct_size;
    /// Must be 0.
    uint32_t reserved;
    /// The limits, by hob_lane; those of hob_goblin_desc do not apply. Default: none.
    hob_lane_desc lanes[HOB_LANE_COUNT];
    /// Its own worth, such as that of 60 frames a second. -1e9 to 1e9. Default 0. -1e9: it is chosen only if no
    /// other one fits better.
    double incentive;
} hob_strategy_desc;

/// Adds a strategy; `*out_strategy` receives its number.
/// Number 0 always exists and has the limits of hob_goblin_desc; there can be 15 more. Each adds one solve to a
/// decision. If a lane gains its first limit, samples of earlier decisions are refused. Threads: exclusive.
HOB_EXPERIMENTAL_API hob_result hob_goblin_add_strategy(
    hob_goblin *goblin, const hob_strategy_desc *desc, uint32_t *out_strategy);

/// Changes a strategy's limits and incentive.
/// HOB_RESULT_NOT_FOUND for an unknown number. For strategy 0 only the incentive is used: hob_goblin_set_desc changes
/// its limits. Threads: exclusive.
HOB_EXPERIMENTAL_API hob_result hob_goblin_set_strategy(
    hob_goblin *goblin, uint32_t strategy, const hob_strategy_desc *desc);

/// Sets the value of an option under a strategy other than 0; -1e9 to 1e9.
/// It is dropped when the setting gets a different number of options. Threads: exclusive.
HOB_EXPERIMENTAL_API hob_result hob_goblin_set_strategy_value(
    hob_goblin *goblin, uint32_t strategy, hob_setting_id setting, uint32_t option, double value);

/// Multiplies a setting's work under a strategy other than 0 by `factor`, 1e-9 to 1e9.
/// For example, a pass that runs every other frame costs half. Samples of decisions under the strategy are taken to
/// have that work. It is dropped when the setting gets a different number of options. Threads: exclusive.
HOB_EXPERIMENTAL_API hob_result hob_goblin_set_strategy_work(
    hob_goblin *goblin, uint32_t strategy, hob_setting_id setting, double factor);

/// Multiplies one option's work under a strategy other than 0 by `factor`, 1e-9 to 1e9.
/// It is for options whose costs differ by other factors, such as a simulation with twice the steps in its highest
/// option only. The factor of hob_goblin_set_strategy_work also applies. It is dropped when the setting gets a
/// different number of options. Threads: exclusive.
HOB_EXPERIMENTAL_API hob_result hob_goblin_set_strategy_option_work(
    hob_goblin *goblin, uint32_t strategy, hob_setting_id setting, uint32_t option, double factor);

/// Gets the net value of a strategy's best choices in the latest decision.
/// 0 before the first decision, and if there is only one strategy. Threads: shared.
HOB_EXPERIMENTAL_API hob_result hob_goblin_get_strategy_net(
    const hob_goblin *goblin, uint32_t strategy, double *out_net);

// ---- Experimental: recordings ---------------------------------------------------------------------------------------

/// Records the run from here on, so that hob_goblin_replay can repeat it; docs/formats.md has the format.
/// Call it right after hob_goblin_create: after any other change the result is HOB_RESULT_UNSUPPORTED.
///
/// `write` receives pieces that together are the recording: a header at once, and at least one block per decision. The
/// last piece comes from hob_goblin_stop_recording or hob_goblin_destroy. Each frame adds about 14
/// bytes per sample and 1 per setting, and allocates nothing. `release` may be NULL; it is called once, after the end.
///
/// Threads: exclusive. Callbacks: `write` runs inside the calls on this goblin, on their thread. Inside it, shared and
/// exclusive functions on this goblin return HOB_RESULT_BUSY, and hob_goblin_destroy takes effect when the running call
/// returns.
HOB_EXPERIMENTAL_API hob_result hob_goblin_start_recording(
    hob_goblin *goblin, void (*write)(void *user_data, const void *data, size_t size), void *user_data,
    void (*release)(void *user_data));

/// Ends the recording for good; without one it does nothing.
/// Threads: exclusive. Callbacks: `write`, then `release`.
HOB_EXPERIMENTAL_API hob_result hob_goblin_stop_recording(hob_goblin *goblin);

/// Why a replay ended.
typedef enum hob_replay_end {
    /// The whole recording was repeated.
    HOB_REPLAY_END_COMPLETE = 0,
    /// The recording is cut off: its last block is incomplete or missing.
    HOB_REPLAY_END_TRUNCATED = 1,
    /// The bytes are not what was written.
    HOB_REPLAY_END_DAMAGED = 2,
    /// A decision failed when it was recorded, as without memory. The rest cannot be repeated.
    HOB_REPLAY_END_FAILED = 3,
    /// A call is refused that succeeded when it was recorded; hob_last_error has the reason.
    HOB_REPLAY_END_REFUSED = 4,
} hob_replay_end;

/// The outcome of a replay.
/// An answer: set struct_size, or begin with HOB_REPLAY_REPORT_INIT.
typedef struct hob_replay_report {
    /// sizeof(hob_replay_report).
    uint32_t struct_size;
    /// Why it ended.
    hob_replay_end end;
    /// The byte at which it ended; the size of the recording if that is complete.
    uint64_t bytes;
    /// Calls repeated, decisions included.
    uint64_t calls;
    /// Decisions repeated.
    uint64_t decisions;
    /// Decisions with a different outcome. 0: all choices are identical.
    uint64_t different;
    /// The id of the first of those; 0: none.
    uint64_t first_different;
    /// The first setting with a different choice in that decision; all zero if the strategy differs.
    hob_setting_id setting;
    /// The recorded choice of that setting (or strategy); UINT32_MAX: none.
    uint32_t recorded;
    /// The replayed one.
    uint32_t replayed;
    /// The version of the library that recorded, as HOB_MAKE_VERSION. Another version may decide differently.
    uint32_t library_version;
    /// 0.
    uint32_t reserved;
} hob_replay_report;

/// Repeats a recorded run in a goblin of its own and compares every decision.
/// A truncated or damaged recording is repeated up to that point. The result is HOB_RESULT_OK even then, and if choices
/// differ. The same build of the library makes the same choices; another may not. HOB_RESULT_MALFORMED if the bytes are
/// no recording, HOB_RESULT_UNSUPPORTED for the format of another version.
///
/// The bytes may be hostile: a replay's memory is at most 128 MiB, and at most 64 times `size`. Threads: any.
HOB_EXPERIMENTAL_API hob_result hob_goblin_replay(const void *data, size_t size, hob_replay_report *out_report);

// ---- Initialisers ---------------------------------------------------------------------------------------------------
//
// HOB_X_INIT is a hob_x with the library's defaults and this header's size: `hob_x value = HOB_X_INIT;`
// hob_x_init does the same for other languages: `size` is sizeof(hob_x).

HOB_API hob_result hob_goblin_desc_init(hob_goblin_desc *value, uint32_t size);
static inline hob_goblin_desc hob_goblin_desc_default(void) {
    hob_goblin_desc value;
    (void)hob_goblin_desc_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_GOBLIN_DESC_INIT (hob_goblin_desc_default())

HOB_API hob_result hob_decision_init(hob_decision *value, uint32_t size);
static inline hob_decision hob_decision_default(void) {
    hob_decision value;
    (void)hob_decision_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_DECISION_INIT (hob_decision_default())

HOB_API hob_result hob_sample_init(hob_sample *value, uint32_t size);
static inline hob_sample hob_sample_default(void) {
    hob_sample value;
    (void)hob_sample_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_SAMPLE_INIT (hob_sample_default())

HOB_API hob_result hob_setting_desc_init(hob_setting_desc *value, uint32_t size);
static inline hob_setting_desc hob_setting_desc_default(void) {
    hob_setting_desc value;
    (void)hob_setting_desc_init(&value, (uint32_t)sizeof(value));
    value.option_stride = sizeof(hob_option);
    return value;
}
#define HOB_SETTING_DESC_INIT (hob_setting_desc_default())

HOB_API hob_result hob_goblin_tuning_init(hob_goblin_tuning *value, uint32_t size);
static inline hob_goblin_tuning hob_goblin_tuning_default(void) {
    hob_goblin_tuning value;
    (void)hob_goblin_tuning_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_GOBLIN_TUNING_INIT (hob_goblin_tuning_default())

HOB_API hob_result hob_decision_details_init(hob_decision_details *value, uint32_t size);
static inline hob_decision_details hob_decision_details_default(void) {
    hob_decision_details value;
    (void)hob_decision_details_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_DECISION_DETAILS_INIT (hob_decision_details_default())

HOB_API hob_result hob_reason_init(hob_reason *value, uint32_t size);
static inline hob_reason hob_reason_default(void) {
    hob_reason value;
    (void)hob_reason_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_REASON_INIT (hob_reason_default())

HOB_API hob_result hob_goblin_statistics_init(hob_goblin_statistics *value, uint32_t size);
static inline hob_goblin_statistics hob_goblin_statistics_default(void) {
    hob_goblin_statistics value;
    (void)hob_goblin_statistics_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_GOBLIN_STATISTICS_INIT (hob_goblin_statistics_default())

HOB_EXPERIMENTAL_API hob_result hob_product_desc_init(hob_product_desc *value, uint32_t size);
static inline hob_product_desc hob_product_desc_default(void) {
    hob_product_desc value;
    (void)hob_product_desc_init(&value, (uint32_t)sizeof(value));
    value.axis_stride = sizeof(hob_product_axis);
    return value;
}
#define HOB_PRODUCT_DESC_INIT (hob_product_desc_default())

HOB_EXPERIMENTAL_API hob_result hob_strategy_desc_init(hob_strategy_desc *value, uint32_t size);
static inline hob_strategy_desc hob_strategy_desc_default(void) {
    hob_strategy_desc value;
    (void)hob_strategy_desc_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_STRATEGY_DESC_INIT (hob_strategy_desc_default())

HOB_EXPERIMENTAL_API hob_result hob_replay_report_init(hob_replay_report *value, uint32_t size);
static inline hob_replay_report hob_replay_report_default(void) {
    hob_replay_report value;
    (void)hob_replay_report_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_REPLAY_REPORT_INIT (hob_replay_report_default())

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // HOBGOBLIN_GOBLIN_H
