// hobgoblin/profile.h: What things have been found to cost: kept, merged, carried to another machine.
// Generated from src/ffi/profile.rs; do not edit. MIT OR Apache-2.0.

#ifndef HOBGOBLIN_PROFILE_H
#define HOBGOBLIN_PROFILE_H

#include "base.h"

/// Where an estimate comes from.
typedef enum {
    /// Nothing is known of the option: a guess from the other options of its setting.
    HOB_ESTIMATE_SOURCE_BLIND = 0,
    /// The past profile, scaled to this machine.
    HOB_ESTIMATE_SOURCE_PAST = 1,
    /// Samples of this run, fewer than the quota, and a prior.
    HOB_ESTIMATE_SOURCE_RAMP = 2,
    /// Recent samples of this run.
    HOB_ESTIMATE_SOURCE_RECENT = 3,
} hob_estimate_source;

/// Tasks and what their options cost. A handle; see docs/ownership.md.
typedef struct hob_profile hob_profile;

/// Parameters of a profile.
typedef struct {
    /// sizeof(hob_profile_desc); set by hob_profile_desc_init.
    uint32_t struct_size;
    /// Zero.
    uint32_t reserved;
    /// Most bytes that it may hold. Default UINT64_MAX.
    uint64_t memory_limit;
} hob_profile_desc;

/// What one option costs. Filled in by the library; initialise with HOB_ESTIMATE_INIT.
typedef struct {
    /// sizeof(hob_estimate); set by hob_estimate_init.
    uint32_t struct_size;
    /// A hob_estimate_source.
    uint32_t source;
    /// Samples behind it; 0: nothing was measured.
    uint64_t count;
    /// Mean burden in the lane's unit, milliseconds for time lanes. Not negative.
    double mean;
    /// Its (population) standard deviation, in the same unit.
    double deviation;
} hob_estimate;

/// One option of a task, for hob_profile_set.
typedef struct {
    /// Samples behind it; 0: unknown.
    uint64_t count;
    /// Mean burden; finite, not negative.
    double mean;
    /// Standard deviation; finite, not negative.
    double deviation;
} hob_profile_option;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/// Fill in defaults; `size` is sizeof(hob_profile_desc). Usually by HOB_PROFILE_DESC_INIT.
HOB_API hob_result hob_profile_desc_init(hob_profile_desc *desc, uint32_t size);

/// Fill in defaults; `size` is sizeof(hob_estimate). Usually by HOB_ESTIMATE_INIT.
HOB_API hob_result hob_estimate_init(hob_estimate *estimate, uint32_t size);

/// Create an empty profile. `desc` NULL: defaults. `*out_profile` is written on success, and is then the caller's to
/// destroy. Threads: any.
HOB_NODISCARD HOB_API hob_result hob_profile_create(const hob_profile_desc *desc, hob_profile **out_profile);

/// Destroy a profile; NULL is fine. Threads: no other call on it may run.
HOB_API void hob_profile_destroy(hob_profile *profile);

/// Replace what the profile knows by JSON of the form {"id":[[count,mean,deviation],...],...}: for every task a list of
/// its options, each with its number of samples, their mean and their standard deviation.
/// `data` is UTF-8 of `size` bytes; no NUL needed. HOB_RESULT_MALFORMED has line and column in its sentence; on any
/// failure the profile is as it was. Threads: exclusive.
HOB_API hob_result hob_profile_load(hob_profile *profile, const void *data, size_t size);

/// Write the profile as JSON, without a NUL: tasks in order of id, a line each, every number exact.
/// `*out_size` gets the bytes needed. With `buffer` NULL that is all; with `capacity` too small the result is
/// HOB_RESULT_BUFFER_TOO_SMALL and the buffer is left alone. Threads: shared.
HOB_API hob_result hob_profile_save(const hob_profile *profile, char *buffer, size_t capacity, size_t *out_size);

/// hob_profile_load from a file, through the file hook if there is one. Waits for the file. Threads: exclusive.
HOB_API hob_result hob_profile_load_file(hob_profile *profile, hob_str path);

/// hob_profile_save to a file, through the file hook if there is one. A crash leaves the old file or the new one: the
/// text goes to `path` + ".new", which then takes the name; so no two may save to one path at once. Waits for the file.
/// Threads: shared.
HOB_API hob_result hob_profile_save_file(const hob_profile *profile, hob_str path);

/// Replace what is known of task `id`: `count` options, `stride` bytes apart. Threads: exclusive.
HOB_API
hob_result hob_profile_set(hob_profile *profile,
                           hob_str id,
                           const hob_profile_option *options,
                           size_t stride,
                           uint32_t count);

/// Forget task `id`. HOB_RESULT_NOT_FOUND if it is not there. Threads: exclusive.
HOB_API hob_result hob_profile_remove(hob_profile *profile, hob_str id);

/// Forget all tasks. Threads: exclusive.
HOB_API hob_result hob_profile_clear(hob_profile *profile);

/// Take in all that `other` knows, its samples counting as much as those here. Where a task has another number of
/// options there, the side with more samples is kept. On a failure nothing changed. Threads: exclusive; shared for
/// `other`.
HOB_API hob_result hob_profile_merge(hob_profile *profile, const hob_profile *other);

/// Multiply every burden by `factor` (finite, above 0): the same knowledge for a machine that is so much slower.
/// Threads: exclusive.
HOB_API hob_result hob_profile_scale(hob_profile *profile, double factor);

/// How many tasks the profile has; 0 for a bad handle. Threads: shared.
HOB_NODISCARD HOB_API uint32_t hob_profile_task_count(const hob_profile *profile);

/// The id of the task at `index` (in order of id) and its number of options; `out_options` may be NULL.
/// `*out_id` is a view that is valid until the profile changes. Threads: shared.
HOB_API hob_result hob_profile_task(const hob_profile *profile, uint32_t index, hob_str *out_id, uint32_t *out_options);

/// What option `option` of task `id` costs; the source is HOB_ESTIMATE_SOURCE_PAST, or BLIND when its count is 0.
/// Threads: shared.
HOB_API hob_result hob_profile_get(const hob_profile *profile, hob_str id, uint32_t option, hob_estimate *out_estimate);

/// Bytes the profile holds; 0 for a bad handle. Threads: shared.
HOB_NODISCARD HOB_API size_t hob_profile_memory_used(const hob_profile *profile);

/// The sentence of this handle's last failed exclusive call. Valid until the next one. Threads: shared.
HOB_NODISCARD HOB_API const char *hob_profile_last_error(const hob_profile *profile);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

/// A hob_profile_desc with defaults, of this header's size.
static inline hob_profile_desc hob_profile_desc_default(void) {
    hob_profile_desc value;
    (void)hob_profile_desc_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_PROFILE_DESC_INIT (hob_profile_desc_default())

/// A hob_estimate with defaults, of this header's size.
static inline hob_estimate hob_estimate_default(void) {
    hob_estimate value;
    (void)hob_estimate_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_ESTIMATE_INIT (hob_estimate_default())

#endif  // HOBGOBLIN_PROFILE_H
