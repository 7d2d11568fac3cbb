//! Multiple-choice knapsack: choose one option of each setting for the greatest total value.
//!
//! The goblin decides with this solver. Use it directly for budgets of other kinds.
//!
//! ```c
//! hob_knapsack *knapsack = NULL;
//! if (hob_knapsack_create(NULL, &knapsack) != HOB_RESULT_OK) fail(hob_last_error());
//!
//! const hob_knapsack_option shadows[] = {{0.2, 1.0, 0.0}, {0.8, 2.5, 0.1}};    /* value, mean, variance */
//! const hob_knapsack_option water[] = {{0.1, 0.5, 0.0}, {0.6, 1.5, 0.2}};
//! hob_knapsack_add_setting(knapsack, shadows, sizeof shadows[0], 2, NULL);
//! hob_knapsack_add_setting(knapsack, water, sizeof water[0], 2, NULL);
//!
//! hob_knapsack_solve_desc desc = HOB_KNAPSACK_SOLVE_DESC_INIT;
//! desc.capacity = 4.0;
//! if (hob_knapsack_solve(knapsack, &desc, NULL) != HOB_RESULT_OK) fail(hob_last_error());
//! uint16_t choices[2];                                    /* the option of shadows, the option of water */
//! hob_knapsack_choices(knapsack, choices, 2, NULL);
//! hob_knapsack_destroy(knapsack);
//! ```
//!
//! Terms:
//! - Setting: a list of options. A solve chooses exactly one of them.
//! - Value: the worth of an option. The sum over all settings is maximised.
//! - Burden: the cost of an option as mean and variance. Burdens are independent, so both add up.
//! - Deviation: the standard deviation, which is the square root of the variance.
//! - Total burden: sum of means + `sigmas` * square root of the sum of variances. It fits if at most the capacity.
//! - Resource: one of several quantities, each with a burden per option and a capacity of its own.
//! - Node: a unit of search work; the same problem takes as many nodes on every machine.

mod cell;

use std::ffi::c_char;

use hobgoblin_macros::{element, entry, opaque, versioned};

use super::base::array::Array;
use super::base::guard;
use super::base::handle;
use super::base::out::write_if;
use super::base::result::hob_result;
use super::base::structs::Versioned;
use crate::base::error;
use crate::knapsack::several::{MOST_RESOURCES, Weight};
use crate::knapsack::{Candidate, Economy, Effort, NO_CHOICE};
use cell::{DEFAULT_MEMORY_LIMIT, KnapsackCell, Solver, without_resources};

/// Settings, and the choices of the last solve.
/// A handle: see "Handles" in base.h.
#[opaque(KnapsackCell, tag = b"hobknaps")]
pub struct hob_knapsack {
    _private: [u8; 0],
}

/// The choice of a setting that has no options.
pub const HOB_KNAPSACK_CHOICE_NONE: u16 = 65535;
const _: () = assert!(HOB_KNAPSACK_CHOICE_NONE == NO_CHOICE);

/// Upper limit of `resource_count`.
pub const HOB_KNAPSACK_MAX_RESOURCES: u32 = 8;
const _: () = assert!(HOB_KNAPSACK_MAX_RESOURCES as usize == MOST_RESOURCES);

// == Create and destroy ==

/// Parameters of a knapsack.
#[versioned(size = 24, last = reserved2)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_knapsack_desc {
    /// sizeof(hob_knapsack_desc).
    pub struct_size: u32,
    /// Must be 0.
    pub reserved: u32,
    /// Limit of the memory for settings and options, in bytes. Default: 1 GiB; UINT64_MAX: no limit.
    /// The memory of a long search is limited by `node_limit` instead.
    #[default(DEFAULT_MEMORY_LIMIT)]
    pub memory_limit: u64,
    /// Number of resources, up to HOB_KNAPSACK_MAX_RESOURCES, for the functions under "Several resources".
    /// Default 0: one resource, and the functions under "Solve".
    pub resource_count: u32,
    /// Must be 0.
    pub reserved2: u32,
}

/// Creates an empty knapsack.
/// `desc` may be NULL: defaults. On success `*out_knapsack` is the caller's to destroy. Threads: any.
///
///     hob_knapsack_desc desc = HOB_KNAPSACK_DESC_INIT;
///     desc.resource_count = 2;                            /* time and memory */
///     hob_knapsack *knapsack = NULL;
///     if (hob_knapsack_create(&desc, &knapsack) != HOB_RESULT_OK) fail(hob_last_error());
#[entry(any, nullable(desc))]
#[must_use]
pub extern "C" fn hob_knapsack_create(
    desc: *const hob_knapsack_desc,
    out_knapsack: *mut *mut hob_knapsack,
) -> hob_result {
    let desc = desc.unwrap_or_else(hob_knapsack_desc::defaults);
    out_knapsack.write(handle::create(KnapsackCell::new(desc.resource_count, desc.memory_limit)?)?);
    Ok(())
}

/// Destroys a knapsack; NULL is allowed.
/// Threads: no call on it may run on another thread.
#[entry(destroy)]
pub extern "C" fn hob_knapsack_destroy(knapsack: *mut hob_knapsack) {}

// == Solve ==

/// Removes all settings.
/// The memory and the choices of the last solve are kept. Threads: exclusive.
#[entry(exclusive)]
pub extern "C" fn hob_knapsack_clear(knapsack: *mut hob_knapsack) -> hob_result {
    knapsack.with(|cell| match &mut cell.solver {
        Solver::One { knapsack, .. } => {
            knapsack.clear();
            Ok(())
        }
        Solver::Several(cell) => cell.several.clear(cell.resources),
    })
}

/// One option of a setting.
#[element(size = 24, last = variance)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_knapsack_option {
    /// Value of choosing it: finite, at most 1e100 in magnitude, may be negative.
    pub value: f64,
    /// Mean of its burden: at most 1e100 in magnitude, may be negative. HUGE_VAL: the option cannot be chosen. If that
    /// is so for all options of a setting, nothing fits.
    pub mean: f64,
    /// Variance of its burden: 0 to 1e100.
    pub variance: f64,
}

/// Adds a setting of `count` options (0 to 65535), `stride` bytes apart.
/// The options are copied. `stride` 0 means the option's first released size. `*out_index` receives the setting's
/// index: 0, 1, 2, …; it may be NULL. HOB_RESULT_LIMIT_EXCEEDED: too many options, or the memory limit is reached.
/// HOB_RESULT_UNSUPPORTED: the knapsack has a resource_count. After a failure nothing is added. Threads: exclusive.
#[entry(exclusive, nullable(out_index))]
pub extern "C" fn hob_knapsack_add_setting(
    knapsack: *mut hob_knapsack,
    options: *const hob_knapsack_option,
    stride: usize,
    count: u32,
    out_index: *mut u32,
) -> hob_result {
    let index = knapsack.with(|cell| {
        cell.check_room(count)?;
        let (knapsack, scratch) = cell.one()?;
        scratch.clear();
        scratch.try_reserve(options.len())?;
        scratch.extend(options.iter().map(|o| Candidate { value: o.value, mean: o.mean, variance: o.variance }));
        knapsack.add_setting(scratch)
    })?;
    write_if(out_index, index as u32);
    Ok(())
}

/// Parameters of a solve.
#[versioned(size = 40, last = node_limit)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_knapsack_solve_desc {
    /// sizeof(hob_knapsack_solve_desc).
    pub struct_size: u32,
    /// Must be 0.
    pub reserved: u32,
    /// Upper limit of the total burden. A total that equals it up to rounding (1e-12 of its terms) fits. 0 is a value:
    /// only a total of at most 0 fits. HUGE_VAL: no limit, which HOB_KNAPSACK_SOLVE_DESC_INIT sets.
    #[initial(f64::INFINITY)]
    pub capacity: f64,
    /// Number of deviations that count as burden: 0 to 1e100. 0 is a value, and the default: only means count.
    pub sigmas: f64,
    /// Gap to the optimum at which the search may stop: 0.01 is one percent, finite, not negative. 0 is a value, and
    /// the default: the search stops only at the optimum, or at node_limit.
    ///
    /// The gap is a share of the optimum's value above the value of the lightest choices. These are each setting's
    /// option of least mean. So a constant added to all values of a setting changes neither choices nor proof. With
    /// several resources, the least valuable options take the place of the lightest. Options with a better one that is
    /// no heavier in any resource don't count.
    pub accepted_gap: f64,
    /// Limit of the search work, in nodes. Default: 4,000,000, which takes about half a second. A few thousand suit a
    /// frame.
    ///
    /// There is an answer and an upper bound at any limit. With n options in sum they take at most 20 n + 300 nodes.
    /// With several resources, the search may exceed the limit by n / 2 + 600.
    #[default(Effort::DEFAULT_NODE_LIMIT)]
    pub node_limit: u64,
}

/// The result of a solve.
/// An answer: set struct_size, or begin with HOB_KNAPSACK_SOLUTION_INIT.
#[versioned(size = 80, last = nodes)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_knapsack_solution {
    /// sizeof(hob_knapsack_solution).
    pub struct_size: u32,
    /// 1 if the choices fit; 0 if they exceed a capacity.
    pub feasible: u32,
    /// 1 if the choices are known to be optimal, or if it is known that nothing fits. A value that is better by 1e-12
    /// of the values at stake counts as equal.
    pub proven: u32,
    /// Always 0.
    pub reserved: u32,
    /// Sum of the chosen values.
    pub value: f64,
    /// Sum of the chosen means. 0 with several resources, like the next three fields.
    pub mean: f64,
    /// Sum of the chosen variances.
    pub variance: f64,
    /// Total burden: mean + sigmas * sqrt(variance).
    pub burden: f64,
    /// Part of the burden that exceeds the capacity; 0 if feasible.
    pub excess: f64,
    /// Upper bound of the value of any choices that fit.
    pub upper_bound: f64,
    /// Gap to the upper bound; 0 if proven.
    /// It is a share of the upper bound above the value of the lightest choices: see
    /// hob_knapsack_solve_desc.accepted_gap. 1 if the choices are worth no more than the lightest, or don't fit.
    pub gap: f64,
    /// Nodes that the search took.
    pub nodes: u64,
}

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
#[entry(exclusive, nullable(out_solution))]
pub extern "C" fn hob_knapsack_solve(
    knapsack: *mut hob_knapsack,
    desc: *const hob_knapsack_solve_desc,
    out_solution: *mut hob_knapsack_solution,
) -> hob_result {
    let economy = Economy { capacity: desc.capacity, sigmas: desc.sigmas };
    let found = knapsack.with(|cell| cell.one()?.0.solve(economy, effort_of(&desc)))?;
    let solution = hob_knapsack_solution {
        feasible: u32::from(found.feasible),
        proven: u32::from(found.proven),
        value: found.value,
        mean: found.mean,
        variance: found.variance,
        burden: found.burden,
        excess: found.excess,
        upper_bound: found.upper_bound,
        gap: found.gap,
        nodes: found.nodes,
        ..hob_knapsack_solution::defaults()
    };
    write_if(out_solution, solution);
    Ok(())
}

fn effort_of(desc: &hob_knapsack_solve_desc) -> Effort {
    Effort { accepted_gap: desc.accepted_gap, node_limit: desc.node_limit }
}

/// Copies the choices of the last solve: one option index per setting, in the order of the settings.
/// A setting without options has HOB_KNAPSACK_CHOICE_NONE. `*out_count` receives the number of settings in the last
/// solve, 0 before the first. `choices` NULL asks only for that; otherwise `out_count` may be NULL.
/// HOB_RESULT_BUFFER_TOO_SMALL: `capacity` is less than the number, and `choices` is unchanged. Threads: shared.
#[entry(shared)]
pub extern "C" fn hob_knapsack_choices(
    knapsack: *const hob_knapsack,
    choices: *mut u16,
    capacity: u32,
    out_count: *mut u32,
) -> hob_result {
    choices.fill(knapsack.choices().iter().copied())
}

// == Several resources ==

/// Burden of an option in one resource.
/// Weights stand side by side in rows, so this struct never grows.
#[element(size = 16, last = variance)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_knapsack_weight {
    /// Mean: at most 1e100 in magnitude, may be negative. HUGE_VAL: the option cannot be chosen. If that is so for all
    /// options of a setting, nothing fits.
    pub mean: f64,
    /// Variance: 0 to 1e100.
    pub variance: f64,
}

/// Adds a setting of `count` options (0 to 65535) to a knapsack with a resource_count.
/// The options are copied. The value of option n is at n * `value_stride` bytes from `values`. Its resource_count
/// weights are side by side at n * `weights_stride` bytes from `weights`. Stride 0 means no gaps. `*out_index` receives
/// the setting's index; it may be NULL. HOB_RESULT_LIMIT_EXCEEDED: as hob_knapsack_add_setting. HOB_RESULT_UNSUPPORTED:
/// the knapsack has no resource_count. Threads: exclusive.
///
///     const double values[] = {0.2, 0.8};
///     const hob_knapsack_weight weights[][2] = {{{1.0, 0.0}, {64.0, 0.0}}, {{2.5, 0.1}, {256.0, 0.0}}};
///     hob_knapsack_add_setting_resources(knapsack, values, sizeof values[0], weights[0], sizeof weights[0], 2, NULL);
#[entry(exclusive, nullable(out_index))]
pub extern "C" fn hob_knapsack_add_setting_resources(
    knapsack: *mut hob_knapsack,
    values: *const f64,
    value_stride: usize,
    weights: *const hob_knapsack_weight,
    weights_stride: usize,
    count: u32,
    out_index: *mut u32,
) -> hob_result {
    // SAFETY: the header asks for `count` values.
    let values = unsafe { Array::new(values, value_stride, count as usize, "values") }?;
    let index = knapsack.with(|cell| {
        cell.check_room(count)?;
        let cell = cell.several()?;
        // SAFETY: the header asks for `count` rows of weights.
        let rows = unsafe { weights.rows(cell.resources, "weights_stride") }?;
        cell.values.clear();
        cell.values.try_reserve(values.len())?;
        cell.values.extend(values.iter());
        cell.weights.clear();
        cell.weights.try_reserve(values.len() * cell.resources)?;
        for row in rows {
            cell.weights.extend(row.iter().map(|w| Weight { mean: w.mean, variance: w.variance }));
        }
        cell.several.add_setting(&cell.values, &cell.weights)
    })?;
    write_if(out_index, index as u32);
    Ok(())
}

/// Capacity of one resource.
#[element(size = 16, last = sigmas)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_knapsack_resource {
    /// Upper limit of the resource's total burden; equality fits. 0 is a value. HUGE_VAL: no limit.
    pub capacity: f64,
    /// Number of deviations that count as burden: 0 to 1e100.
    pub sigmas: f64,
}

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
#[entry(exclusive, nullable(desc, out_solution))]
pub extern "C" fn hob_knapsack_solve_resources(
    knapsack: *mut hob_knapsack,
    resources: *const hob_knapsack_resource,
    stride: usize,
    count: u32,
    desc: *const hob_knapsack_solve_desc,
    out_solution: *mut hob_knapsack_solution,
) -> hob_result {
    let desc = desc.unwrap_or_else(hob_knapsack_solve_desc::defaults);
    if !(desc.capacity == f64::INFINITY || desc.capacity == 0.0) || desc.sigmas != 0.0 {
        return Err(error!(
            InvalidArgument,
            "hob_knapsack_solve_desc sets capacity or sigmas: with several resources each has its own, so leave them 0"
        ));
    }
    let found = knapsack.with(|cell| {
        let cell = cell.several()?;
        if resources.len() != cell.resources {
            return Err(error!(
                InvalidArgument,
                "{count} resources are passed: the knapsack was created with resource_count {}", cell.resources
            ));
        }
        let mut economies = [Economy::default(); MOST_RESOURCES];
        for (economy, resource) in economies.iter_mut().zip(resources.iter()) {
            *economy = Economy { capacity: resource.capacity, sigmas: resource.sigmas };
        }
        let answer = cell.several.solve(&economies[..cell.resources], effort_of(&desc))?;
        cell.answer = Some(answer);
        Ok(answer)
    })?;
    let solution = hob_knapsack_solution {
        feasible: u32::from(found.feasible),
        proven: u32::from(found.proven),
        value: found.value,
        upper_bound: found.upper_bound,
        gap: found.gap,
        nodes: found.nodes,
        ..hob_knapsack_solution::defaults()
    };
    write_if(out_solution, solution);
    Ok(())
}

/// Usage of one resource by the choices.
/// An answer: set struct_size, or begin with HOB_KNAPSACK_USAGE_INIT.
#[versioned(size = 48, last = price)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_knapsack_usage {
    /// sizeof(hob_knapsack_usage).
    pub struct_size: u32,
    /// Always 0.
    pub reserved: u32,
    /// Sum of the chosen means.
    pub mean: f64,
    /// Sum of the chosen variances.
    pub variance: f64,
    /// Total burden: mean + sigmas * sqrt(variance).
    pub burden: f64,
    /// Part of the burden that exceeds the capacity; 0 if it fits.
    pub excess: f64,
    /// Shadow price: the approximate value of one more unit of capacity. It is that of the relaxed problem, which may
    /// use capacity that the choices leave free.
    pub price: f64,
}

/// Gets the usage of resource `resource` (0 to resource_count - 1) by the last hob_knapsack_solve_resources.
/// HOB_RESULT_NOT_FOUND: there is no such resource, or no such solve yet. HOB_RESULT_UNSUPPORTED: the knapsack has no
/// resource_count. Threads: shared.
#[entry(shared)]
pub extern "C" fn hob_knapsack_get_resource_usage(
    knapsack: *const hob_knapsack,
    resource: u32,
    out_usage: *mut hob_knapsack_usage,
) -> hob_result {
    let Solver::Several(cell) = &knapsack.solver else { return Err(without_resources()) };
    let index = resource as usize;
    if index >= cell.resources {
        return Err(error!(NotFound, "resource {resource} does not exist: resource_count is {}", cell.resources));
    }
    let Some(answer) = &cell.answer else {
        return Err(error!(NotFound, "the resources were not solved yet: call hob_knapsack_solve_resources first"));
    };
    out_usage.write(hob_knapsack_usage {
        mean: answer.totals[index].mean,
        variance: answer.totals[index].variance,
        burden: answer.burden[index],
        excess: answer.excess[index],
        price: answer.prices[index],
        ..hob_knapsack_usage::defaults()
    });
    Ok(())
}

// == Memory ==

/// Reserves memory for `settings` settings with `options` options in total.
/// Within these counts, adding and solving allocate nothing more. The exception: with one resource, a search of more
/// than 4096 nodes may allocate, and keeps that memory. HOB_RESULT_LIMIT_EXCEEDED: the memory limit is too low.
/// Threads: exclusive.
#[entry(exclusive)]
pub extern "C" fn hob_knapsack_reserve(knapsack: *mut hob_knapsack, settings: u32, options: u32) -> hob_result {
    knapsack.with(|cell| cell.reserve(settings as usize, options as usize))
}

// == Queries ==

/// Returns the number of settings since the last clear; 0 for an invalid handle.
/// Threads: shared.
#[entry(shared)]
pub extern "C" fn hob_knapsack_setting_count(knapsack: *const hob_knapsack) -> u32 {
    Ok(knapsack.counts().0 as u32)
}

/// Returns the bytes that the knapsack holds; 0 for an invalid handle.
/// Threads: shared.
#[entry(shared)]
pub extern "C" fn hob_knapsack_memory_used(knapsack: *const hob_knapsack) -> usize {
    Ok(knapsack.memory_used())
}

/// Returns the sentence of this handle's last failed exclusive call.
/// It is empty if none has failed, and valid until the next failure. Threads: shared.
#[entry(handle, or = guard::last_error())]
pub extern "C" fn hob_knapsack_last_error(knapsack: *const hob_knapsack) -> *const c_char {
    Ok(knapsack.last_error())
}
