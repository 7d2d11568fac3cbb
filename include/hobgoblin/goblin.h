// hobgoblin/goblin.h: Settings in, choices out, every frame: the goblin keeps a frame inside its budget.
// Generated from src/ffi/goblin*.rs; do not edit. MIT OR Apache-2.0.

#ifndef HOBGOBLIN_GOBLIN_H
#define HOBGOBLIN_GOBLIN_H

#include "base.h"
#include "profile.h"

/// Number of lanes.
#define HOB_LANE_COUNT 8

/// hob_option.flags: the option cannot be chosen now (it is streaming in, compiling, not bought).
#define HOB_OPTION_NOT_READY 1

/// hob_setting_desc.flags: a fine ladder, such as a dynamic resolution, that takes up the last slack of every frame: it
/// is set anew in each, while the other settings stay put.
#define HOB_SETTING_TRIM 1

/// What a frame can be short of. Time lanes are in milliseconds, the memory lane in MiB. Every lane that has a limit is
/// a limit of its own: what runs side by side, as threads and the GPU do, is not added up, so a frame is in time when
/// each of its time lanes is. Lanes without a limit are not learned.
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
    /// As HOB_BURDENS_RELATIVE, but a regression on totals and choices finds what each option really costs; the host's
    /// burdens serve from the first total on. Best up to 128 options; with more, it is slower to tell them apart.
    HOB_BURDENS_TOTALS = 2,
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

/// What made a choice.
typedef enum {
    /// Nothing was decided yet.
    HOB_WHY_UNDECIDED = 0,
    /// Nothing is known of the setting's burdens: its default.
    HOB_WHY_UNKNOWN = 1,
    /// Part of the most valuable choice that fits.
    HOB_WHY_BEST = 2,
    /// A more valuable option than before: there was room.
    HOB_WHY_RAISED = 3,
    /// A less valuable option than before, so that the whole fits, or something worth more does.
    HOB_WHY_LOWERED = 4,
    /// A better choice would fit, but its gain has not paid for the change yet.
    HOB_WHY_HELD = 5,
    /// Chosen for one frame in order to learn what it costs.
    HOB_WHY_TRIAL = 6,
    /// The host allows no other.
    HOB_WHY_PINNED = 7,
    /// The host's floor or ceiling keeps a more valuable one away.
    HOB_WHY_LIMITED = 8,
    /// A more valuable one is not ready.
    HOB_WHY_NOT_READY = 9,
    /// Nothing fits: the least over.
    HOB_WHY_NOTHING_FITS = 10,
    /// Takes up the last slack (HOB_SETTING_TRIM).
    HOB_WHY_TRIM = 11,
    /// The setting is disabled.
    HOB_WHY_DISABLED = 12,
    /// Another strategy was taken.
    HOB_WHY_STRATEGY = 13,
} hob_why;

/// Why a replay ended.
typedef enum {
    /// There the recording was stopped.
    HOB_REPLAY_END_COMPLETE = 0,
    /// The recording is cut off: the block that begins there is not all there, or there is none.
    HOB_REPLAY_END_TRUNCATED = 1,
    /// What is there is not what was written.
    HOB_REPLAY_END_DAMAGED = 2,
    /// A decision failed there when it was recorded, for want of memory. What that left cannot be repeated.
    HOB_REPLAY_END_FAILED = 3,
    /// A call is refused there that succeeded when it was recorded; hob_last_error says why.
    HOB_REPLAY_END_REFUSED = 4,
} hob_replay_end;

/// Keeps a frame inside its budget. A handle; see docs/ownership.md.
typedef struct hob_goblin hob_goblin;

/// What is asked of a lane.
typedef struct {
    /// The budget, in the lane's unit. Default INFINITY: not governed. Several lanes may have one.
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
    /// Deviations of the total burden that are kept free: mean + sigmas * deviation fits the limit. 0 to 100, default
    /// 3.
    double sigmas;
    /// If above 0: the share of frames that may be over the limit, at most 0.5, in place of sigmas. The sigmas that
    /// this takes are corrected by how the totals come out against their forecasts, so it does not suppose that burdens
    /// are normal or independent. It needs samples of every setting that matters. Default 0.
    double overrun_probability;
    /// How long a better choice is waited with, so that settings do not flicker: until what it would have gained, added
    /// up frame by frame, is this many times the value by which settings rise for it and ten times that by which others
    /// fall, and has paid for their switch_burden. So with 1 settings are raised at once where there is room, and
    /// exchanging one for another that is worth a tenth more takes about a hundred frames. What no longer fits is left
    /// at once. 0: every gain is taken at once. Default 1.
    double patience;
    /// Extra value of an option with fewer samples than measure_quota. Default 0.
    double explore_value;
    /// Samples of an option in this run from which on its recent burden alone is used. Default 30.
    uint32_t measure_quota;
    /// Options that may be tried in one frame with HOB_EXPLORATION_BOUNDED. 0: none are tried. Default 8.
    uint32_t explore_limit;
    /// Accept an answer within 1/precision of the optimum. 0: the optimum, proven, however long it takes up to
    /// node_limit. Default 1000.
    uint32_t precision;
    /// Decisions that are remembered for samples that arrive late. 1 to 65536, default 64.
    uint32_t history;
    /// A hob_burdens. Default HOB_BURDENS_LEARNED.
    uint32_t burdens;
    /// Most settings. Default 65536.
    uint32_t max_settings;
    /// Most bytes the goblin may hold: settings, options, a past profile or more history beyond it are refused. The
    /// solver's own memory, about a megabyte, counts as used but is not refused. Default UINT64_MAX.
    uint64_t memory_limit;
    /// Most nodes that the solver visits in one decision: this, not a clock, bounds the time. Default 256; above 4096 a
    /// decision may allocate.
    uint64_t node_limit;
    /// Probability, about, with which a frame with options on trial may be over the limit because of them. 1e-6 to 0.5,
    /// default 0.015.
    double explore_risk;
    /// Most switch_burden of changes in one decision that are not needed to keep a limit; what is beyond waits. One
    /// such change is always made. Default INFINITY.
    double switch_limit;
    /// Decisions for which a setting keeps its choice at least, unless it no longer fits. Default 0.
    uint32_t dwell;
    /// Zero.
    uint32_t reserved;
} hob_goblin_desc;

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
    /// Totals over their lane's limit.
    uint64_t totals_over;
    /// The last harvest's samples over what they typically cost, on the first lane that has a limit; 1 is normal, 0
    /// nothing yet.
    double anomaly;
    /// The same, fading by 1/30 a harvest.
    double recent_anomaly;
    /// Present over past burdens (hob_goblin_set_past_profile), on the first lane that has a limit; 1 while nothing can
    /// be compared.
    double past_ratio;
    /// Bytes held.
    uint64_t memory_used;
    /// By hob_lane: what totals have beyond the samples, see hob_goblin_measure_total. 0 while that is not known.
    double residual[HOB_LANE_COUNT];
    /// Strategies there are; 1 where the host has added none.
    uint32_t strategy_count;
    /// Zero.
    uint32_t reserved;
} hob_goblin_statistics;

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
    /// HOB_SETTING_ flags. Default 0.
    uint32_t flags;
    /// What is lost on the frame in which it changes, on the first lane that has a limit, in that lane's unit: a change
    /// that is not needed to keep a limit is made when what it gains has paid for that, at the present price of the
    /// lane. See also switch_limit of hob_goblin_desc and hob_goblin_set_switch_scale. 0 to 1e9, default 0.
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
    /// Fill in a measurement and return 1, or return 0 when there is none. Called by harvest until it returns 0, at
    /// most 64 times. A sample that cannot be used (NaN, too late) is counted and dropped.
    uint32_t (*measure)(void *user_data, hob_measurement *out_measurement);
} hob_setting_desc;

/// Names a setting of a goblin. All zero: none. The id of a removed setting finds nothing, ever.
typedef struct {
    uint32_t index1;
    uint32_t generation;
} hob_setting_id;

/// What was decided. Filled in by the library; initialise with HOB_DECISION_INIT. Arrays are by hob_lane; lanes that
/// are not governed are 0.
typedef struct {
    /// sizeof(hob_decision); set by hob_decision_init.
    uint32_t struct_size;
    /// 1 if mean + sigmas * deviation of the choice fits the limit of every lane. If 0, nothing fits, and the choice is
    /// the one that is least over.
    uint32_t feasible;
    /// Counts up from 1. Samples quote it.
    uint64_t id;
    /// Sum of the chosen values.
    double value;
    /// The optimum is at most this share above `value`; 0: it is the optimum. What is held for the sake of patience may
    /// be farther off than `precision` accepts. Options on trial are not counted. Most decisions
    /// that hold a choice, or leave it for one near by, don't solve for the best one: then it is what the latest such
    /// solve proved, carried on by how estimates have moved since.
    double gap;
    /// Mean + sigmas * deviation of the choice: what was held against the capacity. With what totals have beyond the
    /// samples, as the mean and the deviation.
    double burden[HOB_LANE_COUNT];
    /// Expected burden of the choice.
    double mean[HOB_LANE_COUNT];
    /// Its deviation.
    double deviation[HOB_LANE_COUNT];
    /// What the burden was held against: the limit of the strategy in force; with HOB_BURDENS_RELATIVE the controller's
    /// capacity, in the host's unit.
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
    /// The strategy in force; 0 where the host has added none.
    uint32_t strategy;
    /// Zero.
    uint32_t reserved;
    /// Nodes that the solver visited, for the best choice and for what is tried or changed on the way; 0 where nothing was
    /// solved.
    uint64_t nodes;
    /// Nanoseconds the decision took, by the clock hook; 0 without one.
    uint64_t elapsed_ns;
    /// Settings whose choice is another than in the decision before.
    uint32_t change_count;
    /// Zero.
    uint32_t reserved2;
} hob_decision;

/// Why a choice is what it is. Filled in by the library; initialise with HOB_REASON_INIT.
typedef struct {
    /// sizeof(hob_reason); set by hob_reason_init.
    uint32_t struct_size;
    /// A hob_why.
    uint32_t why;
    /// The option before the last change; the present one if it never changed. On trial: the one that it goes back to.
    uint32_t from;
    /// The option.
    uint32_t to;
    /// The decision in which it changed last, trials apart; 0 if it never did.
    uint64_t since;
    /// What was left free on the first lane that has a limit, in its unit; below 0: what it was over by. After a
    /// change, as it was before that.
    double headroom;
    /// The value that a better choice would gain in each frame, and that waiting forgoes.
    double gain;
} hob_reason;

/// One of the choices that make a product setting.
typedef struct {
    /// What each index is worth, in the unit of hob_option.value. A combination is worth the sum over the axes; where
    /// that is not so, exchange values by hob_goblin_set_value. Copied.
    const double *values;
    /// By what each index multiplies the burden, such as the megapixels of a resolution: what is learned of one index
    /// is known of the others. 1e-9 to 1e9, and so their products. NULL: not known, so that every index is measured.
    /// Copied.
    const double *works;
    /// How many values there are, and works.
    uint32_t count;
    /// The index of the default choice.
    uint32_t default_index;
} hob_product_axis;

/// A product setting: related choices, such as resolution and samples a pixel, whose burdens are no sum. It is one
/// setting whose options are all combinations, ordered with the measured axes outermost and the axes with works
/// innermost, in each group as they are given, the last one changing fastest. What is learned is learned of the
/// combinations of the measured axes: resolutions with works by 4 sample counts are 4 burdens, however many resolutions
/// there are.
typedef struct {
    /// sizeof(hob_product_desc); set by hob_product_desc_init.
    uint32_t struct_size;
    /// Axes in the array: 1 to 16, of at most 65535 combinations.
    uint32_t axis_count;
    /// Its task, as that of hob_setting_desc, but never empty.
    hob_str id;
    /// The axes, in the order in which hob_goblin_product_index counts them. Copied.
    const hob_product_axis *axes;
    /// sizeof(hob_product_axis), or of the host's struct that begins with one.
    size_t axis_stride;
    /// As hob_option.relative_burden, of every combination for each unit of its work. Default 0.
    double relative_burden;
    /// As that of hob_setting_desc. Default 0.
    double switch_burden;
    /// HOB_SETTING_ flags. Default 0.
    uint32_t flags;
    /// Zero.
    uint32_t reserved;
} hob_product_desc;

/// A strategy: other limits for the same settings, such as those of 30 frames a second beside those of 60. In every
/// decision the best choice under each strategy is found, and the best net value wins: that of the choice and the
/// strategy's own incentive. A better strategy is waited with until what it would have gained, added up, is `patience`
/// times the difference between the highest and the lightest value; it is taken at once where the old one no longer
/// fits and it does.
typedef struct {
    /// sizeof(hob_strategy_desc); set by hob_strategy_desc_init.
    uint32_t struct_size;
    /// Zero.
    uint32_t reserved;
    /// Its limits, by hob_lane. Default INFINITY: none.
    hob_lane_desc lanes[HOB_LANE_COUNT];
    /// What it is worth beside its choices, such as what 60 frames a second are worth by themselves. -1e9 to 1e9;
    /// default
    /// 0. -1e9 takes it out of the game.
    double incentive;
} hob_strategy_desc;

/// How a replay went. Filled in by the library; initialise with HOB_REPLAY_REPORT_INIT.
typedef struct {
    /// sizeof(hob_replay_report); set by hob_replay_report_init.
    uint32_t struct_size;
    /// A hob_replay_end.
    uint32_t end;
    /// The byte at which it ended; the size of the recording if that is complete.
    uint64_t bytes;
    /// Calls that were repeated, decisions included.
    uint64_t calls;
    /// Decisions that were repeated.
    uint64_t decisions;
    /// How many of them came out differently. 0: all choices are identical.
    uint64_t different;
    /// The first of those; 0 if there is none.
    uint64_t decision;
    /// The first setting in it with another choice; none if it is the strategy that differs.
    hob_setting_id setting;
    /// The choice of that setting (or the strategy) when it was recorded; UINT32_MAX for none.
    uint32_t recorded;
    /// And now.
    uint32_t replayed;
    /// The version of the library that recorded, as HOB_MAKE_VERSION: another one may choose otherwise.
    uint32_t library_version;
    /// Zero.
    uint32_t reserved;
} hob_replay_report;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/// Fill in defaults; `size` is sizeof(hob_goblin_desc). Usually by HOB_GOBLIN_DESC_INIT.
HOB_API hob_result hob_goblin_desc_init(hob_goblin_desc *desc, uint32_t size);

/// Fill in defaults; `size` is sizeof(hob_goblin_statistics). Usually by HOB_GOBLIN_STATISTICS_INIT.
HOB_API hob_result hob_goblin_statistics_init(hob_goblin_statistics *statistics, uint32_t size);

/// Create a goblin. `*out_goblin` is written on success, and is then the caller's to destroy. Threads: any.
HOB_NODISCARD HOB_API hob_result hob_goblin_create(const hob_goblin_desc *desc, hob_goblin **out_goblin);

/// Destroy a goblin and release its settings; NULL is fine. From inside one of its callbacks, it is destroyed when the
/// running call returns. Threads: no other call on it may run.
HOB_API void hob_goblin_destroy(hob_goblin *goblin);

/// Exchange the parameters. What was learned stays, but for lanes that no longer have a limit, here or in a strategy;
/// when lanes come or go, samples of earlier decisions are refused. On a failure nothing changed. Threads: exclusive.
HOB_API hob_result hob_goblin_configure(hob_goblin *goblin, const hob_goblin_desc *desc);

/// The parameters in force. Threads: shared.
HOB_API hob_result hob_goblin_config(const hob_goblin *goblin, hob_goblin_desc *out_desc);

/// What has come in so far. Threads: shared.
HOB_API hob_result hob_goblin_get_statistics(const hob_goblin *goblin, hob_goblin_statistics *out_statistics);

/// Use what a past run knew, perhaps on another machine: how much slower or faster this one is, is learned from the
/// first samples. Copied; replaces an earlier past. Tasks whose number of options differs are not used, and the log
/// says so. Threads: exclusive; shared for `profile`.
HOB_API hob_result hob_goblin_set_past_profile(hob_goblin *goblin, const hob_profile *profile);

/// hob_goblin_set_past_profile from JSON as hob_goblin_save_profile writes it; see hob_profile_load.
/// Threads: exclusive.
HOB_API hob_result hob_goblin_load_profile(hob_goblin *goblin, const void *data, size_t size);

/// Write what is known as JSON: this run's samples, and where there are none what the past knew, scaled to this
/// machine. Sizes and buffer as in hob_profile_save. Threads: shared.
HOB_API hob_result hob_goblin_save_profile(const hob_goblin *goblin, char *buffer, size_t capacity, size_t *out_size);

/// Bytes the goblin holds; 0 for a bad handle. Threads: shared.
HOB_NODISCARD HOB_API size_t hob_goblin_memory_used(const hob_goblin *goblin);

/// The sentence of this handle's last failed exclusive call. Valid until the next one. Threads: shared.
HOB_NODISCARD HOB_API const char *hob_goblin_last_error(const hob_goblin *goblin);

/// Fill in defaults; `size` is sizeof(hob_setting_desc). Usually by HOB_SETTING_DESC_INIT.
HOB_API hob_result hob_setting_desc_init(hob_setting_desc *desc, uint32_t size);

/// Add a setting, at any time. `*out_setting` is written on success.
/// The callbacks are called on the thread that calls hob_goblin_ functions, never at any other time. From inside them,
/// const functions on the goblin work; hob_goblin_remove_setting and hob_goblin_destroy are put off until the running
/// call returns; all others answer HOB_RESULT_BUSY. They must return on the OS thread on which they were called, and no
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

/// Remove a setting, at any time; its release callback is called before this returns. What was learned of its task
/// stays, for when a setting of that id comes back. From inside a callback of the goblin, the setting is removed when
/// the running call returns, and gets no callback but release any more. Threads: exclusive.
HOB_API hob_result hob_goblin_remove_setting(hob_goblin *goblin, hob_setting_id setting);

/// Exchange a setting's options: `count` of them, `stride` bytes apart. With another count than before they are other
/// options: the task's estimates are dropped and learned anew (the log says so), and what strategies had of its own is
/// void. A product keeps its count and its works: another count is HOB_RESULT_INVALID_ARGUMENT. Threads: exclusive.
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

/// Fill in defaults; `size` is sizeof(hob_decision). Usually by HOB_DECISION_INIT.
HOB_API hob_result hob_decision_init(hob_decision *decision, uint32_t size);

/// Once a frame: hob_goblin_harvest, then hob_goblin_decide. `out_decision` may be NULL. Allocates nothing, waits for
/// nothing. Threads: exclusive.
HOB_API hob_result hob_goblin_update(hob_goblin *goblin, hob_decision *out_decision);

/// The first half of hob_goblin_update: ask the measure callbacks, and close the books on the samples since the last
/// harvest. Threads: exclusive.
HOB_API hob_result hob_goblin_harvest(hob_goblin *goblin);

/// The second half of hob_goblin_update: estimate, solve, hand out the choices. `out_decision` may be NULL. That
/// nothing fits is an answer (feasible 0), not an error. On a failure the choices before stand, but for settings whose
/// options_get had given another number of options by then: those are at their default. Threads: exclusive.
HOB_API hob_result hob_goblin_decide(hob_goblin *goblin, hob_decision *out_decision);

/// What the latest decision gave a setting; before the first, its default. 0 for a stale id, a bad or busy handle, or a
/// setting without options, so that it can index an array at once; hob_last_error tells. Threads: shared.
HOB_NODISCARD HOB_API uint32_t hob_goblin_choice(const hob_goblin *goblin, hob_setting_id setting);

/// Report what a setting's choice cost on a lane in the frame of `decision_id` (0: the latest): whenever it is known,
/// frames later with GPU timers. `burden` in the lane's unit, 0 to 1e9; `sample` is a hob_sample. Samples of lanes that
/// are not governed are counted and dropped. HOB_RESULT_NOT_FOUND if the decision is not remembered (see `history`).
/// Threads: exclusive.
HOB_API
hob_result hob_goblin_measure(hob_goblin *goblin,
                              uint64_t decision_id,
                              hob_setting_id setting,
                              uint32_t lane,
                              double burden,
                              uint32_t sample);

/// Report what a whole frame cost on a lane. With HOB_BURDENS_RELATIVE and HOB_BURDENS_TOTALS this is what the goblin
/// steers by, on the first lane that has a limit. With HOB_BURDENS_LEARNED, once all samples of the decision are in,
/// what the total has beyond them is learned, by lane, as a burden that is always there; a total whose samples do not
/// all come teaches nothing. Parameters as in hob_goblin_measure. Threads: exclusive.
HOB_API
hob_result hob_goblin_measure_total(hob_goblin *goblin,
                                    uint64_t decision_id,
                                    uint32_t lane,
                                    double burden,
                                    uint32_t sample);

/// Say that in the frame of `decision_id` (0: the latest) the host used `choice` instead of what was decided, because
/// it was late or impossible: samples of that frame are booked on it. Threads: exclusive.
HOB_API
hob_result hob_goblin_applied(hob_goblin *goblin,
                              uint64_t decision_id,
                              hob_setting_id setting,
                              uint32_t choice);

/// What an option is expected to cost on a lane in the next frame, for the setting's present work and under the
/// strategy in force; the count is of this run's samples. HOB_RESULT_NOT_FOUND for a lane without a limit: nothing is
/// learned on it. Threads: shared.
HOB_API
hob_result hob_goblin_estimate(const hob_goblin *goblin,
                               hob_setting_id setting,
                               uint32_t option,
                               uint32_t lane,
                               hob_estimate *out_estimate);

/// Fill in defaults; `size` is sizeof(hob_reason). Usually by HOB_REASON_INIT.
HOB_API hob_result hob_reason_init(hob_reason *reason, uint32_t size);

/// Allow only the options from `first`, a floor, to `last`, a ceiling, from the next decision on. `first` must exist;
/// UINT32_MAX and all else beyond the last means the last. 0 to UINT32_MAX allows all again. If none of them is ready,
/// the nearest to the default is chosen all the same. Threads: exclusive.
HOB_API hob_result hob_goblin_set_range(hob_goblin *goblin, hob_setting_id setting, uint32_t first, uint32_t last);

/// Allow only one option from the next decision on, as the player wishes: hob_goblin_set_range from it to itself. The
/// others make room for it. Threads: exclusive.
HOB_API hob_result hob_goblin_pin(hob_goblin *goblin, hob_setting_id setting, uint32_t option);

/// Take a setting out of decisions (`enabled` 0) or back in. While it is out it costs nothing, is worth nothing and
/// keeps its choice; what was learned of it stays. Samples of decisions without it are HOB_RESULT_NOT_FOUND. Threads:
/// exclusive.
HOB_API hob_result hob_goblin_set_enabled(hob_goblin *goblin, hob_setting_id setting, uint32_t enabled);

/// Multiply what changes cost, in burden and in patience, until said otherwise: below 1 while they are hard to notice,
/// as in a cut or a menu; above 1 while they are easy to. 0 to 1e9; 1 until said otherwise. Threads: exclusive.
HOB_API hob_result hob_goblin_set_switch_scale(hob_goblin *goblin, double scale);

/// Open a window in which more may be tried, for so many decisions from the next on: a menu, a loading screen, a cut.
/// Any number of options may be on trial in a frame, and frames with trials may be over each limit by `share` of it, 0
/// to 1e9. A new window takes the place of an old one; 0 `decisions` close it. Nothing is tried where explore_limit is
/// 0. Threads: exclusive.
HOB_API hob_result hob_goblin_open_window(hob_goblin *goblin, uint32_t decisions, double share);

/// Why a setting's choice is what it is. Threads: shared.
HOB_API hob_result hob_goblin_get_reason(const hob_goblin *goblin, hob_setting_id setting, hob_reason *out_reason);

/// The same as an English sentence, such as "raised from 1 to 2 in decision 512: 1.80 was left free", with a NUL at its
/// end. `*out_size`, which may be NULL where `buffer` is not, gets the bytes needed, the NUL among them. With `buffer`
/// NULL that is all; with `capacity` too small the result is HOB_RESULT_BUFFER_TOO_SMALL and the buffer is left alone;
/// 256 bytes are always enough. Threads: shared.
HOB_API
hob_result hob_goblin_reason_text(const hob_goblin *goblin,
                                  hob_setting_id setting,
                                  char *buffer,
                                  size_t capacity,
                                  size_t *out_size);

/// Fill in defaults; `size` is sizeof(hob_product_desc). Usually by HOB_PRODUCT_DESC_INIT.
HOB_API hob_result hob_product_desc_init(hob_product_desc *desc, uint32_t size);

/// Add a product setting, at any time. It is a setting like others, whose options are its combinations; only another
/// number of options is refused. `*out_setting` is written on success. HOB_RESULT_LIMIT_EXCEEDED with too many axes or
/// combinations. Threads: exclusive.
HOB_API
hob_result hob_goblin_add_product(hob_goblin *goblin,
                                  const hob_product_desc *desc,
                                  hob_setting_id *out_setting);

/// Where a product's choice stands on one of its axes: the index into that axis's values. 0 for a stale id, a bad or
/// busy handle, or a choice or axis that does not exist, so that it can index an array at once; hob_last_error tells.
/// Threads: shared.
HOB_NODISCARD HOB_API
uint32_t hob_goblin_product_index(const hob_goblin *goblin,
                                  hob_setting_id setting,
                                  uint32_t choice,
                                  uint32_t axis);

/// The choice of a product that stands at these indices, one for each axis: for hob_goblin_pin, hob_goblin_set_ready,
/// hob_goblin_applied and what else takes an option. Threads: shared.
HOB_API
hob_result hob_goblin_product_choice(const hob_goblin *goblin,
                                     hob_setting_id setting,
                                     const uint32_t *indices,
                                     uint32_t index_count,
                                     uint32_t *out_choice);

/// Fill in defaults; `size` is sizeof(hob_strategy_desc). Usually by HOB_STRATEGY_DESC_INIT.
HOB_API hob_result hob_strategy_desc_init(hob_strategy_desc *desc, uint32_t size);

/// Add a strategy; `*out_strategy` gets its number. Number 0 is there from the start: the limits of hob_goblin_desc.
/// There can be 15 others. Each costs a decision another solve. Lanes that had no limit are learned from now on, and
/// samples of earlier decisions are refused then. Threads: exclusive.
HOB_API hob_result hob_goblin_add_strategy(hob_goblin *goblin, const hob_strategy_desc *desc, uint32_t *out_strategy);

/// Exchange a strategy's limits and incentive; of strategy 0 the incentive only, for its limits are changed by
/// hob_goblin_configure and must be INFINITY here. HOB_RESULT_NOT_FOUND for a number that was not given.
/// Threads: exclusive.
HOB_API hob_result hob_goblin_set_strategy(hob_goblin *goblin, uint32_t strategy, const hob_strategy_desc *desc);

/// Give an option another value under a strategy; -1e9 to 1e9. Strategy 0 has the options' own values, which
/// hob_goblin_set_value changes. Forgotten when the setting gets another number of options. Threads: exclusive.
HOB_API
hob_result hob_goblin_set_strategy_value(hob_goblin *goblin,
                                         uint32_t strategy,
                                         hob_setting_id setting,
                                         uint32_t option,
                                         double value);

/// Multiply a setting's work under a strategy by `factor`, 1e-9 to 1e9: what is updated every other frame costs half.
/// Samples of decisions under the strategy are taken to be of that work. Strategy 0 has the setting's own, see
/// hob_goblin_set_work. Forgotten when the setting gets another number of options. Threads: exclusive.
HOB_API
hob_result hob_goblin_set_strategy_work(hob_goblin *goblin,
                                        uint32_t strategy,
                                        hob_setting_id setting,
                                        double factor);

/// The net value of a strategy's best choice in the last decision: by how much the one in force is ahead, or held. 0
/// before the first decision, and where there is but one strategy. Threads: shared.
HOB_API hob_result hob_goblin_strategy_net(const hob_goblin *goblin, uint32_t strategy, double *out_net);

/// Write down the run from here on, so that hob_replay can repeat it; docs/formats.md describes the bytes. Call it
/// right after hob_goblin_create: a replay needs the whole run, so after any other call that changed something the
/// answer is HOB_RESULT_UNSUPPORTED. `write` gets a header at once, a block with every decision and in between when
/// there is much to write, and the end from hob_goblin_destroy or from hob_goblin_record with a NULL `write`, which
/// stops the recording for good; one after the other, they are the recording. A frame takes about 14 bytes a sample and
/// one a setting, and nothing is allocated for it. `release` may be NULL; else it gets `user_data` once, after the end
/// was written. On a failure nothing is owned. Threads: exclusive. Callbacks: `write` runs on the thread that makes a
/// call, inside it, so no function works on this goblin but hob_goblin_destroy, which is put off; the others answer
/// HOB_RESULT_BUSY.
HOB_API
hob_result hob_goblin_record(hob_goblin *goblin,
                             void (*write)(void *user_data, const void *data, size_t size),
                             void *user_data,
                             void (*release)(void *user_data));

/// Fill in defaults; `size` is sizeof(hob_replay_report). Usually by HOB_REPLAY_REPORT_INIT.
HOB_API hob_result hob_replay_report_init(hob_replay_report *report, uint32_t size);

/// Repeat a recorded run in a goblin of its own, and compare every decision. A recording that is cut off or damaged is
/// repeated up to there, and `out_report` says where and why; that, and choices that differ, are answers, not errors.
/// The same build of the library makes the same choices; another may not. HOB_RESULT_MALFORMED if the bytes are no
/// recording, HOB_RESULT_UNSUPPORTED if they have the form of another version. Bytes may be anything: they can ask for
/// 128 MiB at most, and 64 times their size. Threads: any.
HOB_API hob_result hob_replay(const void *data, size_t size, hob_replay_report *out_report);

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

/// A hob_goblin_statistics with defaults, of this header's size.
static inline hob_goblin_statistics hob_goblin_statistics_default(void) {
    hob_goblin_statistics value;
    (void)hob_goblin_statistics_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_GOBLIN_STATISTICS_INIT (hob_goblin_statistics_default())

/// A hob_setting_desc with defaults, of this header's size.
static inline hob_setting_desc hob_setting_desc_default(void) {
    hob_setting_desc value;
    (void)hob_setting_desc_init(&value, (uint32_t)sizeof(value));
    value.option_stride = sizeof(hob_option);
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

/// A hob_reason with defaults, of this header's size.
static inline hob_reason hob_reason_default(void) {
    hob_reason value;
    (void)hob_reason_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_REASON_INIT (hob_reason_default())

/// A hob_product_desc with defaults, of this header's size.
static inline hob_product_desc hob_product_desc_default(void) {
    hob_product_desc value;
    (void)hob_product_desc_init(&value, (uint32_t)sizeof(value));
    value.axis_stride = sizeof(hob_product_axis);
    return value;
}
#define HOB_PRODUCT_DESC_INIT (hob_product_desc_default())

/// A hob_strategy_desc with defaults, of this header's size.
static inline hob_strategy_desc hob_strategy_desc_default(void) {
    hob_strategy_desc value;
    (void)hob_strategy_desc_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_STRATEGY_DESC_INIT (hob_strategy_desc_default())

/// A hob_replay_report with defaults, of this header's size.
static inline hob_replay_report hob_replay_report_default(void) {
    hob_replay_report value;
    (void)hob_replay_report_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_REPLAY_REPORT_INIT (hob_replay_report_default())

#endif  // HOBGOBLIN_GOBLIN_H
