// hobgoblin/profile.h: The costs of settings: a table of tasks, saved as JSON for the next run or another machine.
//
//     hob_profile *profile = NULL;
//     if (hob_profile_create(NULL, &profile) != HOB_RESULT_OK) fail(hob_last_error());
//     hob_profile_load_file(profile, HOB_STR("costs.json"));
//     hob_profile_scale(profile, 1.5);                    /* optional: this machine needs 1.5 times as long */
//     hob_goblin_set_past_profile(goblin, profile);
//     hob_profile_destroy(profile);
//
// Terms:
// - Task: all settings that are measured under one id.
// - Burden: the cost of an option, in the unit of its lane; milliseconds for lanes of time.
// - Lane: a resource of a goblin, such as GPU time. The first lane with a limit is saved under the task's id, others
//   under "id@lane", such as "shadows@render_thread".
// - Estimate: mean and standard deviation of a burden, and the number of samples behind them.
//
// Generated from src/ffi/profile; do not edit. MIT OR Apache-2.0.

#ifndef HOBGOBLIN_PROFILE_H
#define HOBGOBLIN_PROFILE_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Tasks and what their options cost.
/// A handle: see "Handles" in base.h.
typedef struct hob_profile hob_profile;

// ---- Create and destroy ---------------------------------------------------------------------------------------------

/// Parameters of a profile.
typedef struct hob_profile_desc {
    /// sizeof(hob_profile_desc).
    uint32_t struct_size;
    /// Must be 0.
    uint32_t reserved;
    /// Limit of the memory, in bytes. Default 0: no limit.
    uint64_t memory_limit;
} hob_profile_desc;

/// Creates an empty profile.
/// `desc` may be NULL: defaults. On success `*out_profile` is the caller's to destroy. Threads: any.
HOB_NODISCARD HOB_API hob_result hob_profile_create(const hob_profile_desc *desc, hob_profile **out_profile);

/// Destroys a profile; NULL is allowed.
/// Threads: no call on it may run on another thread.
HOB_API void hob_profile_destroy(hob_profile *profile);

// ---- Load and save --------------------------------------------------------------------------------------------------

/// Replaces all tasks by those of a JSON text, `{"id":[[count,mean,deviation],...],...}`.
/// Each task has a list of its options: number of samples, mean, standard deviation. `data` is UTF-8; no NUL needed.
/// HOB_RESULT_MALFORMED: the sentence has line and column. After a failure the profile is unchanged. Threads:
/// exclusive.
HOB_API hob_result hob_profile_load(hob_profile *profile, const void *data, size_t size);

/// Writes the profile as JSON into a buffer, without a NUL; loading it restores every number exactly.
/// A count above 2^53 is written as 2^53. `*out_size` receives the required size. `buffer` NULL asks only for that. If
/// `capacity` is too small, the result is HOB_RESULT_BUFFER_TOO_SMALL and the buffer stays unchanged. Threads: shared.
HOB_API hob_result hob_profile_save(const hob_profile *profile, char *buffer, size_t capacity, size_t *out_size);

/// Replaces all tasks by those of a JSON file: as hob_profile_load, from a file.
/// Only a regular file is read. HOB_RESULT_IO: it is missing, unreadable, or not a regular file. Blocks on the disk. A
/// host with its own file layer calls hob_profile_load instead. Threads: exclusive.
HOB_API hob_result hob_profile_load_file(hob_profile *profile, hob_str path);

/// Saves the profile as a JSON file.
/// A crash leaves the old file or the new one: the text goes to a new file, which then replaces `path`. A symbolic link
/// at `path` is replaced, not followed. Several threads and processes may save to one path. A killed process may
/// leave its new file, `.hobgoblin-*.new`, in the directory; it can be deleted. Blocks on the disk.
/// Threads: shared.
HOB_API hob_result hob_profile_save_file(const hob_profile *profile, hob_str path);

// ---- Tasks ----------------------------------------------------------------------------------------------------------

/// Where an estimate comes from.
typedef enum hob_estimate_source {
    /// Nothing is known of the option: a guess from the other options of its setting.
    HOB_ESTIMATE_SOURCE_BLIND = 0,
    /// The past profile, scaled to this machine.
    HOB_ESTIMATE_SOURCE_PAST = 1,
    /// A few samples of this run, blended with a prior.
    HOB_ESTIMATE_SOURCE_RAMP = 2,
    /// Recent samples of this run.
    HOB_ESTIMATE_SOURCE_RECENT = 3,
} hob_estimate_source;

/// The cost of one option.
/// An answer: set struct_size, or begin with HOB_ESTIMATE_INIT.
typedef struct hob_estimate {
    /// sizeof(hob_estimate).
    uint32_t struct_size;
    /// Where it comes from.
    hob_estimate_source source;
    /// Samples behind it; 0: nothing was measured.
    uint64_t count;
    /// Mean burden in the lane's unit, milliseconds for lanes of time. Not negative.
    double mean;
    /// Population standard deviation, in the same unit.
    double deviation;
} hob_estimate;

/// One option of a task, for hob_profile_set_task.
typedef struct hob_profile_option {
    /// Samples behind it; 0: unknown. Counts above 2^53 are saved as 2^53.
    uint64_t count;
    /// Mean burden: finite, not negative.
    double mean;
    /// Standard deviation: finite, not negative.
    double deviation;
} hob_profile_option;

/// Sets the estimates of task `id`: `count` options, `stride` bytes apart.
/// A new task is added; an old one is replaced. `stride` is sizeof(hob_profile_option); 0 means its first released
/// size. HOB_RESULT_LIMIT_EXCEEDED with more than 65535 options. Threads: exclusive.
HOB_API hob_result hob_profile_set_task(
    hob_profile *profile, hob_str id, const hob_profile_option *options, size_t stride, uint32_t count);

/// Removes task `id`.
/// HOB_RESULT_NOT_FOUND if there is no such task. Threads: exclusive.
HOB_API hob_result hob_profile_remove_task(hob_profile *profile, hob_str id);

/// Removes all tasks.
/// Threads: exclusive.
HOB_API hob_result hob_profile_clear(hob_profile *profile);

/// Adds all tasks of `other`, and pools the samples of tasks that both have.
/// Where the two have different numbers of options for a task, the side with more samples is kept. A profile can be
/// added to itself, which doubles its counts. HOB_RESULT_INVALID_ARGUMENT: a pooled mean or deviation overflows, as it
/// may with burdens above 1e150. After a failure the profile is unchanged. Threads: exclusive; shared for `other`.
HOB_API hob_result hob_profile_merge(hob_profile *profile, const hob_profile *other);

/// Multiplies every burden by `factor` (finite, above 0), as for a machine that is slower by that factor.
/// Threads: exclusive.
HOB_API hob_result hob_profile_scale(hob_profile *profile, double factor);

// ---- Queries --------------------------------------------------------------------------------------------------------

/// Returns the number of tasks; 0 for an invalid handle.
/// Threads: shared.
HOB_NODISCARD HOB_API uint32_t hob_profile_task_count(const hob_profile *profile);

/// Gets the id of the task at `index` and its number of options.
/// Tasks are in order of id. `*out_id` is a view that is valid until the profile changes. `out_option_count` may be
/// NULL. HOB_RESULT_NOT_FOUND if `index` is not below the number of tasks. Threads: shared.
HOB_API hob_result hob_profile_get_task(
    const hob_profile *profile, uint32_t index, hob_str *out_id, uint32_t *out_option_count);

/// Gets the estimate of one option of task `id`.
/// The source is HOB_ESTIMATE_SOURCE_PAST, or HOB_ESTIMATE_SOURCE_BLIND if its count is 0. HOB_RESULT_NOT_FOUND for an
/// unknown task or option. Threads: shared.
HOB_API hob_result hob_profile_get_estimate(
    const hob_profile *profile, hob_str id, uint32_t option, hob_estimate *out_estimate);

/// Returns the bytes that the profile holds; 0 for an invalid handle.
/// Threads: shared.
HOB_NODISCARD HOB_API size_t hob_profile_memory_used(const hob_profile *profile);

/// Returns the sentence of this handle's last failed exclusive call.
/// It is empty if none has failed, and valid until the next failure. Threads: shared.
HOB_NODISCARD HOB_API const char *hob_profile_last_error(const hob_profile *profile);

// ---- Initialisers ---------------------------------------------------------------------------------------------------
//
// HOB_X_INIT is a hob_x with the library's defaults and this header's size: `hob_x value = HOB_X_INIT;`
// hob_x_init does the same for other languages: `size` is sizeof(hob_x).

HOB_API hob_result hob_profile_desc_init(hob_profile_desc *value, uint32_t size);
static inline hob_profile_desc hob_profile_desc_default(void) {
    hob_profile_desc value;
    (void)hob_profile_desc_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_PROFILE_DESC_INIT (hob_profile_desc_default())

HOB_API hob_result hob_estimate_init(hob_estimate *value, uint32_t size);
static inline hob_estimate hob_estimate_default(void) {
    hob_estimate value;
    (void)hob_estimate_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_ESTIMATE_INIT (hob_estimate_default())

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // HOBGOBLIN_PROFILE_H
