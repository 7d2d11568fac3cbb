// hobgoblin/goblin.h: Settings in, choices out, every frame: the goblin keeps a frame inside its budget.
// Generated from src/ffi/goblin.rs; do not edit. MIT OR Apache-2.0.

#ifndef HOBGOBLIN_GOBLIN_H
#define HOBGOBLIN_GOBLIN_H

#include "base.h"
#include "profile.h"

/// Number of lanes.
#define HOB_LANE_COUNT 8

/// hob_option.flags: the option cannot be chosen now (it is streaming in, compiling, not bought).
#define HOB_OPTION_NOT_READY 1

/// What a frame can be short of. Time lanes are in milliseconds, the memory lane in MiB.
typedef enum {
    /// Work of the GPU.
    HOB_LANE_GPU = 0,
    /// The whole frame, where nothing finer is measured.
    HOB_LANE_FRAME = 1,
    /// The game thread.
    HOB_LANE_GAME_THREAD = 2,
    /// The render thread.
    HOB_LANE_RENDER_THREAD = 3,
    /// Video memory.
    HOB_LANE_VIDEO_MEMORY = 4,
    /// The host's own.
    HOB_LANE_USER0 = 5,
    /// The host's own.
    HOB_LANE_USER1 = 6,
    /// The host's own.
    HOB_LANE_USER2 = 7,
} hob_lane;

/// How an option is tried whose burden is not known.
typedef enum {
    /// For one frame at a time, and only when the others can be chosen so that a cautious guess of its burden fits.
    /// The most that trying can cost is single frames, over by as much as the guess was wrong.
    HOB_EXPLORATION_BOUNDED = 0,
    /// As Performance Goblin does: the unknown looks cheap, so it is chosen until it has proven dear. Learns fast where
    /// frames over budget do not matter, as on a loading screen.
    HOB_EXPLORATION_OPTIMISTIC = 1,
} hob_exploration;

/// Where burdens come from.
typedef enum {
    /// From hob_goblin_measure or the settings' measure callbacks.
    HOB_BURDENS_LEARNED = 0,
    /// From hob_option.relative_burden; only whole frames are measured (hob_goblin_measure_total), and a controller
    /// finds how much of the host's unit fits: lowered when frames are late, raised when there is time to spare.
    HOB_BURDENS_RELATIVE = 1,
} hob_burdens;

/// What a sample is good for.
typedef enum {
    /// Learn from it.
    HOB_SAMPLE_OK = 0,
    /// Vsync or a frame cap hid the true burden: counted, not learned from.
    HOB_SAMPLE_CAPPED = 1,
    /// A hitch that has nothing to do with the choice spoiled it: counted, not learned from.
    HOB_SAMPLE_HITCH = 2,
    /// The game was paused, loading or in the background: counted, not learned from.
    HOB_SAMPLE_PAUSED = 3,
} hob_sample;

/// Keeps a frame inside its budget. A handle; see docs/ownership.md.
typedef struct hob_goblin hob_goblin;

/// What is asked of a lane.
typedef struct {
    /// The budget, in the lane's unit. Default INFINITY: not governed. This version governs one lane at a time.
    double limit;
} hob_lane_desc;

/// Parameters of a goblin.
typedef struct {
    /// sizeof(hob_goblin_desc); set by hob_goblin_desc_init.
    uint32_t struct_size;
    /// A hob_exploration. Default HOB_EXPLORATION_BOUNDED.
    uint32_t exploration;
    /// By hob_lane.
    hob_lane_desc lanes[HOB_LANE_COUNT];
    /// Deviations of the total burden that are kept free: mean + sigmas * deviation fits the limit. 0 to 100, default 3.
    double sigmas;
    /// If above 0: the share of frames that may be over the limit, at most 0.5, in place of sigmas. The sigmas that this
    /// takes are corrected by how the totals come out against their forecasts, so it does not suppose that burdens are
    /// normal or independent. It needs samples of every setting that matters. Default 0.
    double overrun_probability;
    /// How long a better choice is waited with, so that settings do not flicker: until what it would have gained adds up
    /// to this many times the difference between the highest and the lightest value. So one that gains a tenth of that
    /// is taken after ten frames. What no longer fits is left at once. 0: every gain is taken at once. Default 1.
    double patience;
    /// Extra value of an option with fewer samples than measure_quota. Default 0.
    double explore_value;
    /// Samples of an option in this run from which on its recent burden alone is used. Default 30.
    uint32_t measure_quota;
    /// Options that may be tried in one frame with HOB_EXPLORATION_BOUNDED. 0: none are tried. Default 1.
    uint32_t explore_limit;
    /// Accept an answer within 1/precision of the optimum. 0: the optimum, proven. Default 0.
    uint32_t precision;
    /// Decisions that are remembered for samples that arrive late. 1 to 65536, default 64.
    uint32_t history;
    /// A hob_burdens. Default HOB_BURDENS_LEARNED.
    uint32_t burdens;
    /// Most settings. Default 65536.
    uint32_t max_settings;
    /// Most bytes the goblin may hold: settings, options, a past profile or more history beyond it are refused. The solver's
    /// own memory, about a megabyte, counts as used but is not refused. Default UINT64_MAX.
    uint64_t memory_limit;
    /// Most nodes that the solver visits in one decision: this, not a clock, bounds the time. Default 4096, above which a
    /// decision may allocate.
    uint64_t node_limit;
} hob_goblin_desc;

/// One option of a setting. Zero is a good start for every field.
typedef struct {
    /// What choosing it is worth to the host, in any unit that all settings share. -1e9 to 1e9.
    double value;
    /// Rough burden in any unit that all settings share, for HOB_BURDENS_RELATIVE. 0 to 1e9.
    double relative_burden;
    /// HOB_OPTION_ flags.
    uint32_t flags;
    /// Zero.
    uint32_t reserved;
} hob_option;

/// A measurement, for the measure callback.
typedef struct {
    /// sizeof(hob_measurement), set by the library.
    uint32_t struct_size;
    /// A hob_lane. Preset to the governed one.
    uint32_t lane;
    /// The decision of the frame it belongs to. Preset to 0, the latest.
    uint64_t decision_id;
    /// What it cost, in the lane's unit. 0 to 1e9.
    double burden;
    /// A hob_sample. Preset to HOB_SAMPLE_OK.
    uint32_t sample;
    /// Zero.
    uint32_t reserved;
} hob_measurement;

/// A setting. Give it options as an array, or callbacks, or both.
typedef struct {
    /// sizeof(hob_setting_desc); set by hob_setting_desc_init.
    uint32_t struct_size;
    /// Options in the array: 0 to 65535.
    uint32_t option_count;
    /// Its task: what is learned is kept under this name, in the profile too. Settings may share one: their samples are
    /// pooled. Empty: id_get is asked.
    hob_str id;
    /// The options, in the order in which choices count them. Copied.
    const hob_option *options;
    /// sizeof(hob_option), or of the host's struct that begins with one. Also that of what options_get fills in.
    size_t option_stride;
    /// Chosen as long as nothing at all is known of the setting. Default 0.
    uint32_t default_choice;
    /// Zero.
    uint32_t reserved;
    /// Milliseconds lost on the frame in which it changes. 0 to 1e9. Accepted and not yet used. Default 0.
    double switch_burden;
    /// Passed to every callback below.
    void *user_data;
    /// Called exactly once when the setting is gone: after hob_goblin_remove_setting or hob_goblin_destroy, never while
    /// another callback of the goblin runs. Not called if adding failed. May be NULL, as every callback.
    void (*release)(void *user_data);
    /// Fill `options` (zeroed, option_stride apart, room for `capacity`) and return how many there are; with more than
    /// `capacity`, fill nothing and be called again with more room. Called when the setting is added and before every
    /// decision, so that values may follow the scene.
    uint32_t (*options_get)(void *user_data, hob_option *options, uint32_t capacity);
    /// The default choice; called when the setting is added, in place of default_choice.
    uint32_t (*choice_default)(void *user_data);
    /// Take the choice. Called after the first decision, and after every decision in which it changed.
    void (*choice_set)(void *user_data, uint32_t choice, uint64_t decision_id);
    /// The task's name; called when the setting is added, if `id` is empty. The text is copied.
    void (*id_get)(void *user_data, hob_str *out_id);
    /// Fill in a measurement and return 1, or return 0 when there is none. Called by harvest until it returns 0, at most
    /// 64 times. A sample that cannot be used (NaN, too late) is counted and dropped.
    uint32_t (*measure)(void *user_data, hob_measurement *out_measurement);
} hob_setting_desc;

/// What was decided. Filled in by the library; initialise with HOB_DECISION_INIT. Arrays are by hob_lane; lanes that are
/// not governed are 0.
typedef struct {
    /// sizeof(hob_decision); set by hob_decision_init.
    uint32_t struct_size;
    /// 1 if mean + sigmas * deviation of the choice fits the limit. If 0, nothing fits, and the choice is the lightest.
    uint32_t feasible;
    /// Counts up from 1. Samples quote it.
    uint64_t id;
    /// Sum of the chosen values.
    double value;
    /// The optimum is at most this share above `value`; 0: it is the optimum. What is held for the sake of patience may be
    /// farther off than `precision` accepts. Options on trial are part of the question.
    double gap;
    /// Mean + sigmas * deviation of the choice: what was held against the capacity.
    double burden[HOB_LANE_COUNT];
    /// Expected burden of the choice.
    double mean[HOB_LANE_COUNT];
    /// Its deviation.
    double deviation[HOB_LANE_COUNT];
    /// What the burden was held against: the limit; with HOB_BURDENS_RELATIVE the controller's capacity, in the host's
    /// unit.
    double capacity[HOB_LANE_COUNT];
    /// By how much the burden is over the capacity; 0 when feasible.
    double excess[HOB_LANE_COUNT];
    /// Expected burden of the lightest option of every setting.
    double lightest_mean[HOB_LANE_COUNT];
    /// Expected burden of the most valuable option of every setting.
    double highest_mean[HOB_LANE_COUNT];
    /// Value of the lightest choice.
    double lightest_value;
    /// Value of the most valuable choice, whether or not it fits.
    double highest_value;
    /// Settings there were.
    uint32_t setting_count;
    /// Options that are tried in this frame in order to learn their burden.
    uint32_t trial_count;
    /// The strategy that won. Always 0 in this version.
    uint32_t strategy;
    /// Zero.
    uint32_t reserved;
    /// Nodes that the solver visited.
    uint64_t nodes;
    /// Nanoseconds the decision took, by the clock hook; 0 without one.
    uint64_t elapsed_ns;
} hob_decision;

/// What has come in so far. Filled in by the library; initialise with HOB_GOBLIN_STATISTICS_INIT.
typedef struct {
    /// sizeof(hob_goblin_statistics); set by hob_goblin_statistics_init.
    uint32_t struct_size;
    /// Settings there are.
    uint32_t setting_count;
    /// Decisions so far; the latest has this id.
    uint64_t decisions;
    /// Samples learned from.
    uint64_t samples;
    /// Samples and totals that were not HOB_SAMPLE_OK.
    uint64_t flagged;
    /// Samples of lanes that are not governed, or of settings without a burden.
    uint64_t ungoverned;
    /// Samples refused: their decision was not remembered, or the callback gave nonsense.
    uint64_t refused;
    /// Totals of frames.
    uint64_t totals;
    /// Totals over the limit.
    uint64_t totals_over;
    /// The last harvest's samples over what they typically cost; 1 is normal, 0 nothing yet.
    double anomaly;
    /// The same, fading by 1/30 a harvest.
    double recent_anomaly;
    /// Present over past burdens (hob_goblin_set_past_profile); 1 while nothing can be compared.
    double past_ratio;
    /// Bytes held.
    uint64_t memory_used;
} hob_goblin_statistics;

/// Names a setting of a goblin. All zero: none. The id of a removed setting finds nothing, ever.
typedef struct {
    uint32_t index1;
    uint32_t generation;
} hob_setting_id;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/// Fill in defaults; `size` is sizeof(hob_goblin_desc). Usually by HOB_GOBLIN_DESC_INIT.
HOB_API hob_result hob_goblin_desc_init(hob_goblin_desc *desc, uint32_t size);

/// Fill in defaults; `size` is sizeof(hob_setting_desc). Usually by HOB_SETTING_DESC_INIT.
HOB_API hob_result hob_setting_desc_init(hob_setting_desc *desc, uint32_t size);

/// Fill in defaults; `size` is sizeof(hob_decision). Usually by HOB_DECISION_INIT.
HOB_API hob_result hob_decision_init(hob_decision *decision, uint32_t size);

/// Fill in defaults; `size` is sizeof(hob_goblin_statistics). Usually by HOB_GOBLIN_STATISTICS_INIT.
HOB_API hob_result hob_goblin_statistics_init(hob_goblin_statistics *statistics, uint32_t size);

/// Create a goblin. `*out_goblin` is written on success, and is then the caller's to destroy. Threads: any.
HOB_NODISCARD HOB_API hob_result hob_goblin_create(const hob_goblin_desc *desc, hob_goblin **out_goblin);

/// Destroy a goblin and release its settings; NULL is fine. From inside one of its callbacks, it is destroyed when the
/// running call returns. Threads: no other call on it may run.
HOB_API void hob_goblin_destroy(hob_goblin *goblin);

/// Exchange the parameters. What was learned stays. The governed lane can only change while no sample was learned.
/// On a failure nothing changed. Threads: exclusive.
HOB_API hob_result hob_goblin_configure(hob_goblin *goblin, const hob_goblin_desc *desc);

/// The parameters in force. Threads: shared.
HOB_API hob_result hob_goblin_config(const hob_goblin *goblin, hob_goblin_desc *out_desc);

/// Add a setting, at any time. `*out_setting` is written on success.
/// The callbacks are called on the thread that calls hob_goblin_ functions, never at any other time. From inside them,
/// const functions on the goblin work; hob_goblin_remove_setting and hob_goblin_destroy are put off until the running call
/// returns; all others answer HOB_RESULT_BUSY. They must return on the OS thread on which they were called, and no
/// exception may leave them. Threads: exclusive.
HOB_API
hob_result hob_goblin_add_setting(hob_goblin *goblin,
                                  const hob_setting_desc *desc,
                                  hob_setting_id *out_setting);

/// Add a setting that is off (0, worth nothing) or on (1, worth `value`). Threads: exclusive.
HOB_API hob_result hob_goblin_add_binary(hob_goblin *goblin, hob_str id, double value, hob_setting_id *out_setting);

/// Add a setting with `count` options of these values. Threads: exclusive.
HOB_API
hob_result hob_goblin_add_array(hob_goblin *goblin,
                                hob_str id,
                                const double *values,
                                uint32_t count,
                                hob_setting_id *out_setting);

/// Add what there is no choice about but costs something, such as the rest of the frame: one option, measured as all
/// are. Threads: exclusive.
HOB_API hob_result hob_goblin_add_fixed_burden(hob_goblin *goblin, hob_str id, hob_setting_id *out_setting);

/// Add what there is no choice about and costs nothing but is worth `value`, so that totals can be compared. It is not
/// measured. Threads: exclusive.
HOB_API
hob_result hob_goblin_add_fixed_incentive(hob_goblin *goblin,
                                          hob_str id,
                                          double value,
                                          hob_setting_id *out_setting);

/// Remove a setting, at any time; its release callback is called before this returns. What was learned of its task stays,
/// for when a setting of that id comes back. From inside a callback of the goblin, the setting is removed when the
/// running call returns, and gets no callback but release any more. Threads: exclusive.
HOB_API
hob_result hob_goblin_remove_setting(hob_goblin *goblin,
                                     hob_setting_id setting);

/// Exchange a setting's options: `count` of them, `stride` bytes apart. With another count than before they are other
/// options: the task's estimates are dropped and learned anew (the log says so). Threads: exclusive.
HOB_API
hob_result hob_goblin_set_options(hob_goblin *goblin,
                                  hob_setting_id setting,
                                  const hob_option *options,
                                  size_t stride,
                                  uint32_t count);

/// Exchange the value of one option; -1e9 to 1e9. Threads: exclusive.
HOB_API hob_result hob_goblin_set_value(hob_goblin *goblin, hob_setting_id setting, uint32_t option, double value);

/// Say whether an option can be chosen now (`ready` 0: it is streaming in or compiling). Threads: exclusive.
HOB_API hob_result hob_goblin_set_ready(hob_goblin *goblin, hob_setting_id setting, uint32_t option, uint32_t ready);

/// State how much a setting has to do from the next decision on (objects, pixels, lights), in any unit: burdens are
/// learned per unit of work, so a heavier scene is known at once. 1e-9 to 1e9; 1 until said otherwise.
/// Threads: exclusive.
HOB_API hob_result hob_goblin_set_work(hob_goblin *goblin, hob_setting_id setting, double work);

/// Once a frame: hob_goblin_harvest, then hob_goblin_decide. `out_decision` may be NULL. Allocates nothing, waits for
/// nothing. Threads: exclusive.
HOB_API hob_result hob_goblin_update(hob_goblin *goblin, hob_decision *out_decision);

/// The first half of hob_goblin_update: ask the measure callbacks, and close the books on the samples since the last
/// harvest. Threads: exclusive.
HOB_API hob_result hob_goblin_harvest(hob_goblin *goblin);

/// The second half of hob_goblin_update: estimate, solve, hand out the choices. `out_decision` may be NULL. That nothing
/// fits is an answer (feasible 0), not an error. On a failure the choices before stand, but for settings whose options_get
/// had given another number of options by then: those are at their default. Threads: exclusive.
HOB_API
hob_result hob_goblin_decide(hob_goblin *goblin,
                             hob_decision *out_decision);

/// What the latest decision gave a setting; before the first, its default. 0 for a stale id, a bad or busy handle, or a
/// setting without options, so that it can index an array at once; hob_last_error tells. Threads: shared.
HOB_NODISCARD HOB_API uint32_t hob_goblin_choice(const hob_goblin *goblin, hob_setting_id setting);

/// Report what a setting's choice cost in the frame of `decision_id` (0: the latest): whenever it is known, frames later
/// with GPU timers. `burden` in the lane's unit, 0 to 1e9; `sample` is a hob_sample. Samples of lanes that are
/// not governed are counted and dropped. HOB_RESULT_NOT_FOUND if the decision is not remembered (see `history`).
/// Threads: exclusive.
HOB_API
hob_result hob_goblin_measure(hob_goblin *goblin,
                              uint64_t decision_id,
                              hob_setting_id setting,
                              uint32_t lane,
                              double burden,
                              uint32_t sample);

/// Report what a whole frame cost. With HOB_BURDENS_RELATIVE this is what the goblin steers by; else it is counted.
/// Parameters as in hob_goblin_measure. Threads: exclusive.
HOB_API
hob_result hob_goblin_measure_total(hob_goblin *goblin,
                                    uint64_t decision_id,
                                    uint32_t lane,
                                    double burden,
                                    uint32_t sample);

/// Say that in the frame of `decision_id` (0: the latest) the host used `choice` instead of what was decided, because it
/// was late or impossible: samples of that frame are booked on it. Threads: exclusive.
HOB_API
hob_result hob_goblin_applied(hob_goblin *goblin,
                              uint64_t decision_id,
                              hob_setting_id setting,
                              uint32_t choice);

/// What an option is expected to cost in the next frame, for the setting's present work; the count is of this run's
/// samples. Threads: shared.
HOB_API
hob_result hob_goblin_estimate(const hob_goblin *goblin,
                               hob_setting_id setting,
                               uint32_t option,
                               hob_estimate *out_estimate);

/// What has come in so far. Threads: shared.
HOB_API hob_result hob_goblin_get_statistics(const hob_goblin *goblin, hob_goblin_statistics *out_statistics);

/// Use what a past run knew, perhaps on another machine: how much slower or faster this one is, is learned from the first
/// samples. Copied; replaces an earlier past. Tasks whose number of options differs are not used, and the log says so.
/// Threads: exclusive; shared for `profile`.
HOB_API
hob_result hob_goblin_set_past_profile(hob_goblin *goblin,
                                       const hob_profile *profile);

/// hob_goblin_set_past_profile from JSON as hob_goblin_save_profile writes it; see hob_profile_load.
/// Threads: exclusive.
HOB_API hob_result hob_goblin_load_profile(hob_goblin *goblin, const void *data, size_t size);

/// Write what is known as JSON: this run's samples, and where there are none what the past knew, scaled to this machine.
/// Sizes and buffer as in hob_profile_save. Threads: shared.
HOB_API
hob_result hob_goblin_save_profile(const hob_goblin *goblin,
                                   char *buffer,
                                   size_t capacity,
                                   size_t *out_size);

/// Bytes the goblin holds; 0 for a bad handle. Threads: shared.
HOB_NODISCARD HOB_API size_t hob_goblin_memory_used(const hob_goblin *goblin);

/// The sentence of this handle's last failed exclusive call. Valid until the next one. Threads: shared.
HOB_NODISCARD HOB_API const char *hob_goblin_last_error(const hob_goblin *goblin);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

/// A hob_goblin_desc with defaults, of this header's size.
static inline hob_goblin_desc hob_goblin_desc_default(void) {
    hob_goblin_desc value;
    (void)hob_goblin_desc_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_GOBLIN_DESC_INIT (hob_goblin_desc_default())

/// A hob_setting_desc with defaults, of this header's size.
static inline hob_setting_desc hob_setting_desc_default(void) {
    hob_setting_desc value;
    (void)hob_setting_desc_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_SETTING_DESC_INIT (hob_setting_desc_default())

/// A hob_decision with defaults, of this header's size.
static inline hob_decision hob_decision_default(void) {
    hob_decision value;
    (void)hob_decision_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_DECISION_INIT (hob_decision_default())

/// A hob_goblin_statistics with defaults, of this header's size.
static inline hob_goblin_statistics hob_goblin_statistics_default(void) {
    hob_goblin_statistics value;
    (void)hob_goblin_statistics_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_GOBLIN_STATISTICS_INIT (hob_goblin_statistics_default())

#endif  // HOBGOBLIN_GOBLIN_H
