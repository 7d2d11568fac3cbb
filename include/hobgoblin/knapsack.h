// hobgoblin/knapsack.h: The multiple-choice knapsack alone: one option of each setting, greatest value, inside a capacity.
// Generated from src/ffi/knapsack.rs; do not edit. MIT OR Apache-2.0.

#ifndef HOBGOBLIN_KNAPSACK_H
#define HOBGOBLIN_KNAPSACK_H

#include "base.h"

/// The choice of a setting that has no options.
#define HOB_NO_CHOICE 65535

/// The most resources that a knapsack can have.
#define HOB_KNAPSACK_MOST_RESOURCES 8

/// A multiple-choice knapsack: add settings, solve, read the choices; clear and repeat. A handle; see
/// docs/ownership.md.
typedef struct hob_knapsack hob_knapsack;

/// Parameters of a knapsack.
typedef struct {
    /// sizeof(hob_knapsack_desc); set by hob_knapsack_desc_init.
    uint32_t struct_size;
    /// Zero.
    uint32_t reserved;
    /// Most bytes that settings and options may take; what a hard proof takes is bounded by node_limit. Default
    /// UINT64_MAX.
    uint64_t memory_limit;
    /// 0: one resource, for hob_knapsack_add and hob_knapsack_solve. 1 to HOB_KNAPSACK_MOST_RESOURCES: so many, for
    /// hob_knapsack_add_resources and hob_knapsack_solve_resources. Default 0.
    uint32_t resource_count;
    /// Zero.
    uint32_t reserved2;
} hob_knapsack_desc;

/// What to solve for.
typedef struct {
    /// sizeof(hob_knapsack_solve_desc); set by hob_knapsack_solve_desc_init.
    uint32_t struct_size;
    /// Zero.
    uint32_t reserved;
    /// sum(mean) + sigmas * sqrt(sum(variance)) must not exceed this. Default INFINITY. Equality fits.
    double capacity;
    /// How many deviations of the total count as burden. Not negative. Default 0.
    double sigmas;
    /// Relative distance from the optimum that is good enough. Default 0: the optimum, proven.
    double accepted_gap;
    /// The search stops after about this many nodes with the best answer and bound so far. Default 4 000 000.
    uint64_t node_limit;
} hob_knapsack_solve_desc;

/// What was found. Filled in by the library; initialise with HOB_KNAPSACK_SOLUTION_INIT.
typedef struct {
    /// sizeof(hob_knapsack_solution); set by hob_knapsack_solution_init.
    uint32_t struct_size;
    /// 1 if the answer fits. If 0, nothing fits, and the answer is the one of least burden.
    uint32_t feasible;
    /// 1 if the answer is known to be the optimum (or nothing to fit).
    uint32_t proven;
    /// Zero.
    uint32_t reserved;
    /// Sum of the chosen values.
    double value;
    /// Sum of the chosen means.
    double mean;
    /// Sum of the chosen variances.
    double variance;
    /// mean + sigmas * sqrt(variance).
    double burden;
    /// By how much the burden exceeds the capacity; 0 when feasible.
    double excess;
    /// No answer that fits has more value.
    double upper_bound;
    /// (upper_bound - value) / |upper_bound|; 0 when proven.
    double gap;
    /// Nodes the search took.
    uint64_t nodes;
} hob_knapsack_solution;

/// How much of a resource the choices take. Filled in by the library; initialise with HOB_KNAPSACK_USAGE_INIT.
typedef struct {
    /// sizeof(hob_knapsack_usage); set by hob_knapsack_usage_init.
    uint32_t struct_size;
    /// Zero.
    uint32_t reserved;
    /// Sum of the chosen means.
    double mean;
    /// Sum of the chosen variances.
    double variance;
    /// mean + sigmas * sqrt(variance).
    double burden;
    /// By how much the burden exceeds the capacity; 0 where it fits.
    double excess;
    /// About how much more value one more unit of this resource would buy; 0 where there is room to spare.
    double price;
} hob_knapsack_usage;

/// One option of a setting.
typedef struct {
    /// What choosing it is worth; finite, at most 1e100 in magnitude, may be negative.
    double value;
    /// Mean of its burden; may be negative; INFINITY: it cannot be chosen.
    double mean;
    /// Variance of its burden; not negative.
    double variance;
} hob_knapsack_option;

/// What an option takes of one resource.
typedef struct {
    /// Mean; may be negative; INFINITY: the option cannot be chosen.
    double mean;
    /// Variance; not negative.
    double variance;
} hob_knapsack_weight;

/// What the burdens of one resource must fit into.
typedef struct {
    /// sum(mean) + sigmas * sqrt(sum(variance)) must not exceed this; INFINITY: no limit. Equality fits.
    double capacity;
    /// How many deviations of the total count as burden. Not negative.
    double sigmas;
} hob_knapsack_resource;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/// Fill in defaults; `size` is sizeof(hob_knapsack_desc). Usually by HOB_KNAPSACK_DESC_INIT.
HOB_API hob_result hob_knapsack_desc_init(hob_knapsack_desc *desc, uint32_t size);

/// Fill in defaults; `size` is sizeof(hob_knapsack_solve_desc). Usually by HOB_KNAPSACK_SOLVE_DESC_INIT.
HOB_API hob_result hob_knapsack_solve_desc_init(hob_knapsack_solve_desc *desc, uint32_t size);

/// Fill in defaults; `size` is sizeof(hob_knapsack_solution). Usually by HOB_KNAPSACK_SOLUTION_INIT.
HOB_API hob_result hob_knapsack_solution_init(hob_knapsack_solution *solution, uint32_t size);

/// Fill in defaults; `size` is sizeof(hob_knapsack_usage). Usually by HOB_KNAPSACK_USAGE_INIT.
HOB_API hob_result hob_knapsack_usage_init(hob_knapsack_usage *usage, uint32_t size);

/// Create an empty knapsack. `desc` NULL: defaults. `*out_knapsack` is written on success, and is then the caller's to
/// destroy. Threads: any.
HOB_NODISCARD HOB_API hob_result hob_knapsack_create(const hob_knapsack_desc *desc, hob_knapsack **out_knapsack);

/// Destroy a knapsack; NULL is fine. Threads: no other call on it may run.
HOB_API void hob_knapsack_destroy(hob_knapsack *knapsack);

/// Take memory for so many settings and options in all, so that adding and solving up to that takes none; only a search
/// of more than 4096 nodes for one resource may take more, which it keeps (see node_limit). Threads: exclusive.
HOB_API hob_result hob_knapsack_reserve(hob_knapsack *knapsack, uint32_t settings, uint32_t options);

/// Remove all settings; keep the memory, and the choices of the last solve. Threads: exclusive.
HOB_API hob_result hob_knapsack_clear(hob_knapsack *knapsack);

/// Add a setting of `count` options (0 to 65535), `stride` bytes apart; they are copied. `*out_index` (may be NULL)
/// gets its index: 0, 1, 2, ... Threads: exclusive.
HOB_API
hob_result hob_knapsack_add(hob_knapsack *knapsack,
                            const hob_knapsack_option *options,
                            size_t stride,
                            uint32_t count,
                            uint32_t *out_index);

/// Add a setting of `count` options (0 to 65535) to a knapsack with a resource_count; they are copied. Option n has the
/// value that is n * `value_stride` bytes after `values`, and resource_count weights side by side that begin
/// n * `weights_stride` bytes after `weights`. `*out_index` (may be NULL) gets the setting's index: 0, 1, 2, ...
/// HOB_RESULT_UNSUPPORTED for a knapsack without resource_count. Threads: exclusive.
HOB_API
hob_result hob_knapsack_add_resources(hob_knapsack *knapsack,
                                      const double *values,
                                      size_t value_stride,
                                      const hob_knapsack_weight *weights,
                                      size_t weights_stride,
                                      uint32_t count,
                                      uint32_t *out_index);

/// Choose one option of each setting such that the sum of values is greatest while the burden fits. `out_solution` may
/// be NULL. Exact and proven unless the node limit ends the search; then the gap is reported. That nothing fits is an
/// answer (feasible 0), not an error. Deterministic. Threads: exclusive.
HOB_API
hob_result hob_knapsack_solve(hob_knapsack *knapsack,
                              const hob_knapsack_solve_desc *desc,
                              hob_knapsack_solution *out_solution);

/// The same for a knapsack with a resource_count: every resource must fit. `resources` are resource_count capacities,
/// `stride` bytes apart, in the order of the weights; `count` must be resource_count. `desc` (NULL: defaults) keeps its
/// default capacity and sigmas. In `*out_solution` (may be NULL) mean, variance, burden and excess stay 0: see
/// hob_knapsack_resource_usage. Optimality is proven where the node limit allows; a limit of 3000 suits a frame, and
/// what is then missing to the proof is the gap. An answer that does not fit (feasible 0) overdraws little, relative to
/// the capacities; proven says whether nothing fits. Begins where the last solve ended, if the counts are the same.
/// Deterministic: the same calls in the same order give the same answers. Threads: exclusive.
HOB_API
hob_result hob_knapsack_solve_resources(hob_knapsack *knapsack,
                                        const hob_knapsack_resource *resources,
                                        size_t stride,
                                        uint32_t count,
                                        const hob_knapsack_solve_desc *desc,
                                        hob_knapsack_solution *out_solution);

/// How much of resource number `resource` the choices of the last hob_knapsack_solve_resources take.
/// HOB_RESULT_NOT_FOUND before that, and for a number that is not below resource_count. Threads: shared.
HOB_API
hob_result hob_knapsack_resource_usage(const hob_knapsack *knapsack,
                                       uint32_t resource,
                                       hob_knapsack_usage *out_usage);

/// Settings added since the last clear; 0 for a bad handle. Threads: shared.
HOB_NODISCARD HOB_API uint32_t hob_knapsack_setting_count(const hob_knapsack *knapsack);

/// The choices of the last solve, one for each setting in the order in which they were added; HOB_NO_CHOICE for a
/// setting without options. `*out_count` (may be NULL) gets their number; `choices` NULL asks only for that.
/// HOB_RESULT_BUFFER_TOO_SMALL when `capacity` is less. Threads: shared.
HOB_API
hob_result hob_knapsack_choices(const hob_knapsack *knapsack,
                                uint16_t *choices,
                                uint32_t capacity,
                                uint32_t *out_count);

/// Bytes the knapsack holds; 0 for a bad handle. Threads: shared.
HOB_NODISCARD HOB_API size_t hob_knapsack_memory_used(const hob_knapsack *knapsack);

/// The sentence of this handle's last failed exclusive call. Valid until the next one. Threads: shared.
HOB_NODISCARD HOB_API const char *hob_knapsack_last_error(const hob_knapsack *knapsack);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

/// A hob_knapsack_desc with defaults, of this header's size.
static inline hob_knapsack_desc hob_knapsack_desc_default(void) {
    hob_knapsack_desc value;
    (void)hob_knapsack_desc_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_KNAPSACK_DESC_INIT (hob_knapsack_desc_default())

/// A hob_knapsack_solve_desc with defaults, of this header's size.
static inline hob_knapsack_solve_desc hob_knapsack_solve_desc_default(void) {
    hob_knapsack_solve_desc value;
    (void)hob_knapsack_solve_desc_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_KNAPSACK_SOLVE_DESC_INIT (hob_knapsack_solve_desc_default())

/// A hob_knapsack_solution with defaults, of this header's size.
static inline hob_knapsack_solution hob_knapsack_solution_default(void) {
    hob_knapsack_solution value;
    (void)hob_knapsack_solution_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_KNAPSACK_SOLUTION_INIT (hob_knapsack_solution_default())

/// A hob_knapsack_usage with defaults, of this header's size.
static inline hob_knapsack_usage hob_knapsack_usage_default(void) {
    hob_knapsack_usage value;
    (void)hob_knapsack_usage_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_KNAPSACK_USAGE_INIT (hob_knapsack_usage_default())

#endif  // HOBGOBLIN_KNAPSACK_H
