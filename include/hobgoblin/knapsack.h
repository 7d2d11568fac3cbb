// hobgoblin/knapsack.h: Multiple-choice knapsack: choose one option of each setting for the greatest total value.
//
// The goblin decides with this solver. Use it directly for budgets of other kinds.
//
//     hob_knapsack *knapsack = NULL;
//     if (hob_knapsack_create(NULL, &knapsack) != HOB_RESULT_OK) fail(hob_last_error());
//
//     const hob_knapsack_option shadows[] = {{0.2, 1.0, 0.0}, {0.8, 2.5, 0.1}};    /* value, mean, variance */
//     const hob_knapsack_option water[] = {{0.1, 0.5, 0.0}, {0.6, 1.5, 0.2}};
//     hob_knapsack_add_setting(knapsack, shadows, sizeof shadows[0], 2, NULL);
//     hob_knapsack_add_setting(knapsack, water, sizeof water[0], 2, NULL);
//
//     hob_knapsack_solve_desc desc = HOB_KNAPSACK_SOLVE_DESC_INIT;
//     desc.capacity = 4.0;
//     if (hob_knapsack_solve(knapsack, &desc, NULL) != HOB_RESULT_OK) fail(hob_last_error());
//     uint16_t choices[2];                                    /* the option of shadows, the option of water */
//     hob_knapsack_choices(knapsack, choices, 2, NULL);
//     hob_knapsack_destroy(knapsack);
//
// Terms:
// - Setting: a list of options. A solve chooses exactly one of them.
// - Value: the worth of an option. The sum over all settings is maximised.
// - Burden: the cost of an option as mean and variance. Burdens are independent, so both add up.
// - Deviation: the standard deviation, which is the square root of the variance.
// - Total burden: sum of means + `sigmas` * square root of the sum of variances. It fits if at most the capacity.
// - Resource: one of several quantities, each with a burden per option and a capacity of its own.
// - Node: a unit of search work; the same problem takes as many nodes on every machine.
//
// Generated from src/ffi/knapsack; do not edit. MIT OR Apache-2.0.

#ifndef HOBGOBLIN_KNAPSACK_H
#define HOBGOBLIN_KNAPSACK_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Settings, and the choices of the last solve.
/// A handle: see "Handles" in base.h.
typedef struct hob_knapsack hob_knapsack;

/// The choice of a setting that has no options.
#define HOB_KNAPSACK_CHOICE_NONE 65535

/// Upper limit of `resource_count`.
#define HOB_KNAPSACK_MAX_RESOURCES 8

// ---- Create and destroy ---------------------------------------------------------------------------------------------

/// Parameters of a knapsack.
typedef struct hob_knapsack_desc {
    /// sizeof(hob_knapsack_desc).
    uint32_t struct_size;
    /// Must be 0.
    uint32_t reserved;
    /// Limit of the memory for settings and options, in bytes. Default: 1 GiB; UINT64_MAX: no limit.
    /// The memory of a long search is limited by `node_limit` instead.
    uint64_t memory_limit;
    /// Number of resources, up to HOB_KNAPSACK_MAX_RESOURCES, for the functions under "Several resources".
    /// Default 0: one resource, and the functions under "Solve".
    uint32_t resource_count;
    /// Must be 0.
    uint32_t reserved2;
} hob_knapsack_desc;

/// Creates an empty knapsack.
/// `desc` may be NULL: defaults. On success `*out_knapsack` is the caller's to destroy. Threads: any.
///
///     hob_knapsack_desc desc = HOB_KNAPSACK_DESC_INIT;
///     desc.resource_count = 2;                            /* time and memory */
///     hob_knapsack *knapsack = NULL;
///     if (hob_knapsack_create(&desc, &knapsack) != HOB_RESULT_OK) fail(hob_last_error());
HOB_NODISCARD HOB_API hob_result hob_knapsack_create(const hob_knapsack_desc *desc, hob_knapsack **out_knapsack);

/// Destroys a knapsack; NULL is allowed.
/// Threads: no call on it may run on another thread.
HOB_API void hob_knapsack_destroy(hob_knapsack *knapsack);

// ---- Solve ----------------------------------------------------------------------------------------------------------

/// Removes all settings.
/// The memory and the choices of the last solve are kept. Threads: exclusive.
HOB_API hob_result hob_knapsack_clear(hob_knapsack *knapsack);

/// One option of a setting.
typedef struct hob_knapsack_option {
    /// Value of choosing it: finite, at most 1e100 in magnitude, may be negative.
    double value;
    /// Mean of its burden: at most 1e100 in magnitude, may be negative. HUGE_VAL: the option cannot be chosen. If that
    /// is so for all options of a setting, nothing fits.
    double mean;
    /// Variance of its burden: 0 to 1e100.
    double variance;
} hob_knapsack_option;

/// Adds a setting of `count` options (0 to 65535), `stride` bytes apart.
/// The options are copied. `stride` 0 means the option's first released size. `*out_index` receives the setting's
/// index: 0, 1, 2, …; it may be NULL. HOB_RESULT_LIMIT_EXCEEDED: too many options, or the memory limit is reached.
/// HOB_RESULT_UNSUPPORTED: the knapsack has a resource_count. After a failure nothing is added. Threads: exclusive.
HOB_API hob_result hob_knapsack_add_setting(
    hob_knapsack *knapsack, const hob_knapsack_option *options, size_t stride, uint32_t count, uint32_t *out_index);

/// Parameters of a solve.
typedef struct hob_knapsack_solve_desc {
    /// sizeof(hob_knapsack_solve_desc).
    uint32_t struct_size;
    /// Must be 0.
    uint32_t reserved;
    /// Upper limit of the total burden. A total that equals it up to rounding (1e-12 of its terms) fits. 0 is a value:
    /// only a total of at most 0 fits. HUGE_VAL: no limit, which HOB_KNAPSACK_SOLVE_DESC_INIT sets.
    double capacity;
    /// Number of deviations that count as burden: 0 to 1e100. 0 is a value, and the default: only means count.
    double sigmas;
    /// Gap to the optimum at which the search may stop: 0.01 is one percent, finite, not negative. 0 is a value, and
    /// the default: the search stops only at the optimum, or at node_limit.
    ///
    /// The gap is a share of the optimum's value above the value of the lightest choices. These are each setting's
    /// option of least mean. So a constant added to all values of a setting changes neither choices nor proof. With
    /// several resources, the least valuable options take the place of the lightest. Options with a better one that is
    /// no heavier in any resource don't count.
    double accepted_gap;
    /// Limit of the search work, in nodes. Default: 4,000,000, which takes about half a second. A few thousand suit a
    /// frame.
    ///
    /// There is an answer and an upper bound at any limit. With n options in sum they take at most 20 n + 300 nodes.
    /// With several resources, the search may exceed the limit by n / 2 + 600.
    uint64_t node_limit;
} hob_knapsack_solve_desc;

/// The result of a solve.
/// An answer: set struct_size, or begin with HOB_KNAPSACK_SOLUTION_INIT.
typedef struct hob_knapsack_solution {
    /// sizeof(hob_knapsack_solution).
    uint32_t struct_size;
    /// 1 if the choices fit; 0 if they exceed a capacity.
    uint32_t feasible;
    /// 1 if the choices are known to be optimal, or if it is known that nothing fits. A value that is better by 1e-12
    /// of the values at stake counts as equal.
    uint32_t proven;
    /// Always 0.
    uint32_t reserved;
    /// Sum of the chosen values.
    double value;
    /// Sum of the chosen means. 0 with several resources, like the next three fields.
    double mean;
    /// Sum of the chosen variances.
    double variance;
    /// Total burden: mean + sigmas * sqrt(variance).
    double burden;
    /// Part of the burden that exceeds the capacity; 0 if feasible.
    double excess;
    /// Upper bound of the value of any choices that fit.
    double upper_bound;
    /// Gap to the upper bound; 0 if proven.
    /// It is a share of the upper bound above the value of the lightest choices: see
    /// hob_knapsack_solve_desc.accepted_gap. 1 if the choices are worth no more than the lightest, or don't fit.
    double gap;
    /// Nodes that the search took.
    uint64_t nodes;
} hob_knapsack_solution;

/// Chooses one option of each setting, with the greatest total value whose total burden fits.
/// The choices are optimal unless `node_limit` or `accepted_gap` ends the search; then `gap` is positive. If nothing
/// fits, the choices are those of least burden, and the result is HOB_RESULT_OK with `feasible` 0. The same calls in
/// the same order give the same choices. `out_solution` may be NULL. HOB_RESULT_UNSUPPORTED: the knapsack has a
/// resource_count. Threads: exclusive.
///
///     hob_knapsack_solve_desc desc = HOB_KNAPSACK_SOLVE_DESC_INIT;
///     desc.capacity = 16.6;
///     desc.sigmas = 2.0;                                  /* stay below it in 97.7 % of the frames */
///     desc.node_limit = 3000;
///     hob_knapsack_solution solution = HOB_KNAPSACK_SOLUTION_INIT;
///     hob_knapsack_solve(knapsack, &desc, &solution);
HOB_API hob_result hob_knapsack_solve(
    hob_knapsack *knapsack, const hob_knapsack_solve_desc *desc, hob_knapsack_solution *out_solution);

/// Copies the choices of the last solve: one option index per setting, in the order of the settings.
/// A setting without options has HOB_KNAPSACK_CHOICE_NONE. `*out_count` receives the number of settings in the last
/// solve, 0 before the first. `choices` NULL asks only for that; otherwise `out_count` may be NULL.
/// HOB_RESULT_BUFFER_TOO_SMALL: `capacity` is less than the number, and `choices` is unchanged. Threads: shared.
HOB_API hob_result hob_knapsack_choices(
    const hob_knapsack *knapsack, uint16_t *choices, uint32_t capacity, uint32_t *out_count);

// ---- Several resources ----------------------------------------------------------------------------------------------

/// Burden of an option in one resource.
/// Weights stand side by side in rows, so this struct never grows.
typedef struct hob_knapsack_weight {
    /// Mean: at most 1e100 in magnitude, may be negative. HUGE_VAL: the option cannot be chosen. If that is so for all
    /// options of a setting, nothing fits.
    double mean;
    /// Variance: 0 to 1e100.
    double variance;
} hob_knapsack_weight;

/// Adds a setting of `count` options (0 to 65535) to a knapsack with a resource_count.
/// The options are copied. The value of option n is at n * `value_stride` bytes from `values`. Its resource_count
/// weights are side by side at n * `weights_stride` bytes from `weights`. Stride 0 means no gaps. `*out_index` receives
/// the setting's index; it may be NULL. HOB_RESULT_LIMIT_EXCEEDED: as hob_knapsack_add_setting. HOB_RESULT_UNSUPPORTED:
/// the knapsack has no resource_count. Threads: exclusive.
///
///     const double values[] = {0.2, 0.8};
///     const hob_knapsack_weight weights[][2] = {{{1.0, 0.0}, {64.0, 0.0}}, {{2.5, 0.1}, {256.0, 0.0}}};
///     hob_knapsack_add_setting_resources(knapsack, values, sizeof values[0], weights[0], sizeof weights[0], 2, NULL);
HOB_API hob_result hob_knapsack_add_setting_resources(
    hob_knapsack *knapsack, const double *values, size_t value_stride, const hob_knapsack_weight *weights,
    size_t weights_stride, uint32_t count, uint32_t *out_index);

/// Capacity of one resource.
typedef struct hob_knapsack_resource {
    /// Upper limit of the resource's total burden; equality fits. 0 is a value. HUGE_VAL: no limit.
    double capacity;
    /// Number of deviations that count as burden: 0 to 1e100.
    double sigmas;
} hob_knapsack_resource;

/// Chooses one option of each setting, with the greatest total value whose burden fits in every resource.
/// `resources` are resource_count capacities, `stride` bytes apart (0: the first released size), in the order of the
/// weights. `count` must be resource_count. `desc` may be NULL: defaults; its `capacity` must be 0 or HUGE_VAL, its
/// `sigmas` 0. `out_solution` may be NULL. Otherwise as hob_knapsack_solve, with two differences:
///
/// - If `feasible` is 0, the choices exceed the capacities by little; only `proven` 1 means that nothing fits.
/// - The search starts from the last choices if the counts of settings and options are unchanged.
///
/// Threads: exclusive.
///
///     const hob_knapsack_resource resources[] = {{16.6, 2.0}, {2048.0, 0.0}};    /* milliseconds, megabytes */
///     hob_knapsack_solve_resources(knapsack, resources, sizeof resources[0], 2, NULL, NULL);
HOB_API hob_result hob_knapsack_solve_resources(
    hob_knapsack *knapsack, const hob_knapsack_resource *resources, size_t stride, uint32_t count,
    const hob_knapsack_solve_desc *desc, hob_knapsack_solution *out_solution);

/// Usage of one resource by the choices.
/// An answer: set struct_size, or begin with HOB_KNAPSACK_USAGE_INIT.
typedef struct hob_knapsack_usage {
    /// sizeof(hob_knapsack_usage).
    uint32_t struct_size;
    /// Always 0.
    uint32_t reserved;
    /// Sum of the chosen means.
    double mean;
    /// Sum of the chosen variances.
    double variance;
    /// Total burden: mean + sigmas * sqrt(variance).
    double burden;
    /// Part of the burden that exceeds the capacity; 0 if it fits.
    double excess;
    /// Shadow price: the approximate value of one more unit of capacity. It is that of the relaxed problem, which may
    /// use capacity that the choices leave free.
    double price;
} hob_knapsack_usage;

/// Gets the usage of resource `resource` (0 to resource_count - 1) by the last hob_knapsack_solve_resources.
/// HOB_RESULT_NOT_FOUND: there is no such resource, or no such solve yet. HOB_RESULT_UNSUPPORTED: the knapsack has no
/// resource_count. Threads: shared.
HOB_API hob_result hob_knapsack_get_resource_usage(
    const hob_knapsack *knapsack, uint32_t resource, hob_knapsack_usage *out_usage);

// ---- Memory ---------------------------------------------------------------------------------------------------------

/// Reserves memory for `settings` settings with `options` options in total.
/// Within these counts, adding and solving allocate nothing more. The exception: with one resource, a search of more
/// than 4096 nodes may allocate, and keeps that memory. HOB_RESULT_LIMIT_EXCEEDED: the memory limit is too low.
/// Threads: exclusive.
HOB_API hob_result hob_knapsack_reserve(hob_knapsack *knapsack, uint32_t settings, uint32_t options);

// ---- Queries --------------------------------------------------------------------------------------------------------

/// Returns the number of settings since the last clear; 0 for an invalid handle.
/// Threads: shared.
HOB_NODISCARD HOB_API uint32_t hob_knapsack_setting_count(const hob_knapsack *knapsack);

/// Returns the bytes that the knapsack holds; 0 for an invalid handle.
/// Threads: shared.
HOB_NODISCARD HOB_API size_t hob_knapsack_memory_used(const hob_knapsack *knapsack);

/// Returns the sentence of this handle's last failed exclusive call.
/// It is empty if none has failed, and valid until the next failure. Threads: shared.
HOB_NODISCARD HOB_API const char *hob_knapsack_last_error(const hob_knapsack *knapsack);

// ---- Initialisers ---------------------------------------------------------------------------------------------------
//
// HOB_X_INIT is a hob_x with the library's defaults and this header's size: `hob_x value = HOB_X_INIT;`
// hob_x_init does the same for other languages: `size` is sizeof(hob_x).

HOB_API hob_result hob_knapsack_desc_init(hob_knapsack_desc *value, uint32_t size);
static inline hob_knapsack_desc hob_knapsack_desc_default(void) {
    hob_knapsack_desc value;
    (void)hob_knapsack_desc_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_KNAPSACK_DESC_INIT (hob_knapsack_desc_default())

HOB_API hob_result hob_knapsack_solve_desc_init(hob_knapsack_solve_desc *value, uint32_t size);
static inline hob_knapsack_solve_desc hob_knapsack_solve_desc_default(void) {
    hob_knapsack_solve_desc value;
    (void)hob_knapsack_solve_desc_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_KNAPSACK_SOLVE_DESC_INIT (hob_knapsack_solve_desc_default())

HOB_API hob_result hob_knapsack_solution_init(hob_knapsack_solution *value, uint32_t size);
static inline hob_knapsack_solution hob_knapsack_solution_default(void) {
    hob_knapsack_solution value;
    (void)hob_knapsack_solution_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_KNAPSACK_SOLUTION_INIT (hob_knapsack_solution_default())

HOB_API hob_result hob_knapsack_usage_init(hob_knapsack_usage *value, uint32_t size);
static inline hob_knapsack_usage hob_knapsack_usage_default(void) {
    hob_knapsack_usage value;
    (void)hob_knapsack_usage_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_KNAPSACK_USAGE_INIT (hob_knapsack_usage_default())

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // HOBGOBLIN_KNAPSACK_H
