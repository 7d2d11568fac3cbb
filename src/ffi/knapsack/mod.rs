//! `knapsack.h`: the solver alone.

use std::ffi::c_char;

use super::base::hob_result;
use super::guard::guard;
use super::handle::{self, Opaque, exclusive, inspect, shared};
use super::knapsack_cell::{KnapsackCell, SeveralCell, Solver, without_resources};
use super::layout::{Array, Element, Out, Versioned, init_struct, read_struct, write_struct};
use crate::base::error;
use crate::knapsack::several::{MOST_RESOURCES, Weight};
use crate::knapsack::{Candidate, Economy, Effort, NO_CHOICE};

/// The choice of a setting that has no options.
pub const HOB_NO_CHOICE: u16 = 65535;
const _: () = assert!(HOB_NO_CHOICE == NO_CHOICE);

/// A multiple-choice knapsack: add settings, solve, read the choices; clear and repeat. A handle; see
/// docs/ownership.md.
pub struct hob_knapsack {
    _private: [u8; 0],
}

/// The most resources that a knapsack can have.
pub const HOB_KNAPSACK_MOST_RESOURCES: u32 = 8;
const _: () = assert!(HOB_KNAPSACK_MOST_RESOURCES as usize == MOST_RESOURCES);

impl Opaque for hob_knapsack {
    type Value = KnapsackCell;
    const NAME: &'static str = "hob_knapsack";
    const TAG: [u8; 8] = *b"hobknaps";
}

/// Parameters of a knapsack.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_knapsack_desc {
    /// sizeof(hob_knapsack_desc); set by hob_knapsack_desc_init.
    pub struct_size: u32,
    /// Zero.
    pub reserved: u32,
    /// Most bytes that settings and options may take; what a hard proof takes is bounded by node_limit. Default
    /// UINT64_MAX.
    pub memory_limit: u64,
    /// 0: one resource, for hob_knapsack_add and hob_knapsack_solve. 1 to HOB_KNAPSACK_MOST_RESOURCES: so many, for
    /// hob_knapsack_add_resources and hob_knapsack_solve_resources. Default 0.
    pub resource_count: u32,
    /// Zero.
    pub reserved2: u32,
}

// SAFETY: repr(C), begins with struct_size, integers.
unsafe impl Versioned for hob_knapsack_desc {
    const NAME: &'static str = "hob_knapsack_desc";
    const FIRST_SIZE: usize = 24;
    fn defaults() -> Self {
        let struct_size = size_of::<Self>() as u32;
        Self { struct_size, reserved: 0, memory_limit: u64::MAX, resource_count: 0, reserved2: 0 }
    }
}

/// One option of a setting.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct hob_knapsack_option {
    /// What choosing it is worth; finite, at most 1e100 in magnitude, may be negative.
    pub value: f64,
    /// Mean of its burden; may be negative; INFINITY: it cannot be chosen.
    pub mean: f64,
    /// Variance of its burden; not negative.
    pub variance: f64,
}

// SAFETY: repr(C), numbers.
unsafe impl Element for hob_knapsack_option {
    const NAME: &'static str = "hob_knapsack_option";
    const FIRST_SIZE: usize = 24;
}

/// What an option takes of one resource.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct hob_knapsack_weight {
    /// Mean; may be negative; INFINITY: the option cannot be chosen.
    pub mean: f64,
    /// Variance; not negative.
    pub variance: f64,
}

// SAFETY: repr(C), numbers.
unsafe impl Element for hob_knapsack_weight {
    const NAME: &'static str = "hob_knapsack_weight";
    const FIRST_SIZE: usize = 16;
}

// SAFETY: a number.
unsafe impl Element for f64 {
    const NAME: &'static str = "double";
    const FIRST_SIZE: usize = 8;
}

/// What the burdens of one resource must fit into.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct hob_knapsack_resource {
    /// sum(mean) + sigmas * sqrt(sum(variance)) must not exceed this; INFINITY: no limit. Equality fits.
    pub capacity: f64,
    /// How many deviations of the total count as burden. Not negative.
    pub sigmas: f64,
}

// SAFETY: repr(C), numbers.
unsafe impl Element for hob_knapsack_resource {
    const NAME: &'static str = "hob_knapsack_resource";
    const FIRST_SIZE: usize = 16;
}

/// What to solve for.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_knapsack_solve_desc {
    /// sizeof(hob_knapsack_solve_desc); set by hob_knapsack_solve_desc_init.
    pub struct_size: u32,
    /// Zero.
    pub reserved: u32,
    /// sum(mean) + sigmas * sqrt(sum(variance)) must not exceed this. Default INFINITY. Equality fits.
    pub capacity: f64,
    /// How many deviations of the total count as burden. Not negative. Default 0.
    pub sigmas: f64,
    /// Relative distance from the optimum that is good enough. Default 0: the optimum, proven.
    pub accepted_gap: f64,
    /// The search stops after about this many nodes with the best answer and bound so far. Default 4 000 000.
    pub node_limit: u64,
}

// SAFETY: repr(C), begins with struct_size, numbers.
unsafe impl Versioned for hob_knapsack_solve_desc {
    const NAME: &'static str = "hob_knapsack_solve_desc";
    const FIRST_SIZE: usize = 40;
    fn defaults() -> Self {
        let (economy, effort) = (Economy::default(), Effort::default());
        Self {
            struct_size: size_of::<Self>() as u32,
            reserved: 0,
            capacity: economy.capacity,
            sigmas: economy.sigmas,
            accepted_gap: effort.accepted_gap,
            node_limit: effort.node_limit,
        }
    }
}

/// What was found. Filled in by the library; initialise with HOB_KNAPSACK_SOLUTION_INIT.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_knapsack_solution {
    /// sizeof(hob_knapsack_solution); set by hob_knapsack_solution_init.
    pub struct_size: u32,
    /// 1 if the answer fits. If 0, nothing fits, and the answer is the one of least burden.
    pub feasible: u32,
    /// 1 if the answer is known to be the optimum (or nothing to fit).
    pub proven: u32,
    /// Zero.
    pub reserved: u32,
    /// Sum of the chosen values.
    pub value: f64,
    /// Sum of the chosen means.
    pub mean: f64,
    /// Sum of the chosen variances.
    pub variance: f64,
    /// mean + sigmas * sqrt(variance).
    pub burden: f64,
    /// By how much the burden exceeds the capacity; 0 when feasible.
    pub excess: f64,
    /// No answer that fits has more value.
    pub upper_bound: f64,
    /// (upper_bound - value) / |upper_bound|; 0 when proven.
    pub gap: f64,
    /// Nodes the search took.
    pub nodes: u64,
}

// SAFETY: repr(C), begins with struct_size, numbers.
unsafe impl Versioned for hob_knapsack_solution {
    const NAME: &'static str = "hob_knapsack_solution";
    const FIRST_SIZE: usize = 80;
    fn defaults() -> Self {
        Self {
            struct_size: size_of::<Self>() as u32,
            feasible: 0,
            proven: 0,
            reserved: 0,
            value: 0.0,
            mean: 0.0,
            variance: 0.0,
            burden: 0.0,
            excess: 0.0,
            upper_bound: 0.0,
            gap: 0.0,
            nodes: 0,
        }
    }
}

/// How much of a resource the choices take. Filled in by the library; initialise with HOB_KNAPSACK_USAGE_INIT.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_knapsack_usage {
    /// sizeof(hob_knapsack_usage); set by hob_knapsack_usage_init.
    pub struct_size: u32,
    /// Zero.
    pub reserved: u32,
    /// Sum of the chosen means.
    pub mean: f64,
    /// Sum of the chosen variances.
    pub variance: f64,
    /// mean + sigmas * sqrt(variance).
    pub burden: f64,
    /// By how much the burden exceeds the capacity; 0 where it fits.
    pub excess: f64,
    /// About how much more value one more unit of this resource would buy; 0 where there is room to spare.
    pub price: f64,
}

// SAFETY: repr(C), begins with struct_size, numbers.
unsafe impl Versioned for hob_knapsack_usage {
    const NAME: &'static str = "hob_knapsack_usage";
    const FIRST_SIZE: usize = 48;
    fn defaults() -> Self {
        let struct_size = size_of::<Self>() as u32;
        Self { struct_size, reserved: 0, mean: 0.0, variance: 0.0, burden: 0.0, excess: 0.0, price: 0.0 }
    }
}

/// Fill in defaults; `size` is sizeof(hob_knapsack_desc). Usually by HOB_KNAPSACK_DESC_INIT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_knapsack_desc_init(desc: *mut hob_knapsack_desc, size: u32) -> hob_result {
    // SAFETY: the header's contract.
    guard(|| unsafe { init_struct(desc, size) })
}

/// Fill in defaults; `size` is sizeof(hob_knapsack_solve_desc). Usually by HOB_KNAPSACK_SOLVE_DESC_INIT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_knapsack_solve_desc_init(desc: *mut hob_knapsack_solve_desc, size: u32) -> hob_result {
    // SAFETY: the header's contract.
    guard(|| unsafe { init_struct(desc, size) })
}

/// Fill in defaults; `size` is sizeof(hob_knapsack_solution). Usually by HOB_KNAPSACK_SOLUTION_INIT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_knapsack_solution_init(solution: *mut hob_knapsack_solution, size: u32) -> hob_result {
    // SAFETY: the header's contract.
    guard(|| unsafe { init_struct(solution, size) })
}

/// Fill in defaults; `size` is sizeof(hob_knapsack_usage). Usually by HOB_KNAPSACK_USAGE_INIT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_knapsack_usage_init(usage: *mut hob_knapsack_usage, size: u32) -> hob_result {
    // SAFETY: the header's contract.
    guard(|| unsafe { init_struct(usage, size) })
}

/// Create an empty knapsack. `desc` NULL: defaults. `*out_knapsack` is written on success, and is then the caller's to
/// destroy. Threads: any.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn hob_knapsack_create(
    desc: *const hob_knapsack_desc,
    out_knapsack: *mut *mut hob_knapsack,
) -> hob_result {
    // SAFETY: the header's contract.
    guard(|| unsafe {
        let out = Out::new(out_knapsack, "out_knapsack")?;
        let desc = if desc.is_null() { hob_knapsack_desc::defaults() } else { read_struct(desc)? };
        out.write(handle::create(KnapsackCell::new(desc.resource_count, desc.memory_limit)?)?);
        Ok(())
    })
}

/// Destroy a knapsack; NULL is fine. Threads: no other call on it may run.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_knapsack_destroy(knapsack: *mut hob_knapsack) {
    // SAFETY: the header's contract.
    unsafe { handle::destroy(knapsack) }
}

/// Take memory for so many settings and options in all, so that adding and solving up to that takes none; only a search
/// of more than 4096 nodes for one resource may take more, which it keeps (see node_limit). Threads: exclusive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_knapsack_reserve(knapsack: *mut hob_knapsack, settings: u32, options: u32) -> hob_result {
    // SAFETY: the header's contract.
    unsafe { exclusive(knapsack, |held| held.with(|cell| cell.reserve(settings as usize, options as usize))) }
}

/// Remove all settings; keep the memory, and the choices of the last solve. Threads: exclusive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_knapsack_clear(knapsack: *mut hob_knapsack) -> hob_result {
    // SAFETY: the header's contract.
    unsafe {
        exclusive(knapsack, |held| {
            held.with(|cell| match &mut cell.solver {
                Solver::One { knapsack, .. } => {
                    knapsack.clear();
                    Ok(())
                }
                Solver::Several(cell) => cell.several.clear(cell.resources),
            })
        })
    }
}

/// Add a setting of `count` options (0 to 65535), `stride` bytes apart; they are copied. `*out_index` (may be NULL)
/// gets its index: 0, 1, 2, ... Threads: exclusive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_knapsack_add(
    knapsack: *mut hob_knapsack,
    options: *const hob_knapsack_option,
    stride: usize,
    count: u32,
    out_index: *mut u32,
) -> hob_result {
    // SAFETY: the header's contract.
    unsafe {
        exclusive(knapsack, |held| {
            let options = Array::new(options, stride, count as usize)?;
            let index = held.with(|cell| {
                cell.check_room(count)?;
                let (knapsack, scratch) = cell.one()?;
                scratch.clear();
                scratch.try_reserve(count as usize)?;
                scratch.extend(options.iter().map(|o| Candidate {
                    value: o.value,
                    mean: o.mean,
                    variance: o.variance,
                }));
                knapsack.add_setting(scratch)
            })?;
            if let Some(out) = Out::optional(out_index) {
                out.write(index as u32);
            }
            Ok(())
        })
    }
}

/// Add a setting of `count` options (0 to 65535) to a knapsack with a resource_count; they are copied. Option n has the
/// value that is n * `value_stride` bytes after `values`, and resource_count weights side by side that begin
/// n * `weights_stride` bytes after `weights`. `*out_index` (may be NULL) gets the setting's index: 0, 1, 2, ...
/// HOB_RESULT_UNSUPPORTED for a knapsack without resource_count. Threads: exclusive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_knapsack_add_resources(
    knapsack: *mut hob_knapsack,
    values: *const f64,
    value_stride: usize,
    weights: *const hob_knapsack_weight,
    weights_stride: usize,
    count: u32,
    out_index: *mut u32,
) -> hob_result {
    // SAFETY: the header's contract.
    unsafe {
        exclusive(knapsack, |held| {
            let values = Array::new(values, value_stride, count as usize)?;
            // Checked before offsets into it are formed.
            Array::new(weights, weights_stride, count as usize)?;
            let index = held.with(|cell| {
                cell.check_room(count)?;
                let SeveralCell { several, resources, values: own_values, weights: own_weights, .. } =
                    cell.several()?;
                let (resources, count) = (*resources, count as usize);
                if count > 1 && weights_stride < resources * size_of::<hob_knapsack_weight>() {
                    return Err(error!(
                        InvalidArgument,
                        "weights_stride is {weights_stride}: the weights of an option are {resources} \
                         hob_knapsack_weight, so set it to the size of all of them, or of what they are part of"
                    ));
                }
                own_values.clear();
                own_values.try_reserve(count)?;
                own_values.extend(values.iter());
                own_weights.clear();
                own_weights.try_reserve(count * resources)?;
                for option in 0..count {
                    let row = weights.byte_add(option * weights_stride);
                    let row = Array::new(row, size_of::<hob_knapsack_weight>(), resources)?;
                    own_weights.extend(row.iter().map(|w| Weight { mean: w.mean, variance: w.variance }));
                }
                several.add_setting(own_values, own_weights)
            })?;
            if let Some(out) = Out::optional(out_index) {
                out.write(index as u32);
            }
            Ok(())
        })
    }
}

/// Choose one option of each setting such that the sum of values is greatest while the burden fits. `out_solution` may
/// be NULL. Exact and proven unless the node limit ends the search; then the gap is reported. That nothing fits is an
/// answer (feasible 0), not an error. Deterministic. Threads: exclusive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_knapsack_solve(
    knapsack: *mut hob_knapsack,
    desc: *const hob_knapsack_solve_desc,
    out_solution: *mut hob_knapsack_solution,
) -> hob_result {
    // SAFETY: the header's contract.
    unsafe {
        exclusive(knapsack, |held| {
            let desc = read_struct(desc)?;
            if !out_solution.is_null() {
                super::layout::checked_size(out_solution)?;
            }
            let economy = Economy { capacity: desc.capacity, sigmas: desc.sigmas };
            let effort = Effort { accepted_gap: desc.accepted_gap, node_limit: desc.node_limit };
            let found = held.with(|cell| cell.one()?.0.solve(economy, effort))?;
            if out_solution.is_null() {
                return Ok(());
            }
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
            write_struct(out_solution, &solution)
        })
    }
}

/// The same for a knapsack with a resource_count: every resource must fit. `resources` are resource_count capacities,
/// `stride` bytes apart, in the order of the weights; `count` must be resource_count. `desc` (NULL: defaults) keeps its
/// default capacity and sigmas. In `*out_solution` (may be NULL) mean, variance, burden and excess stay 0: see
/// hob_knapsack_resource_usage. Optimality is proven where the node limit allows; a limit of 3000 suits a frame, and
/// what is then missing to the proof is the gap. An answer that does not fit (feasible 0) overdraws little, relative to
/// the capacities; proven says whether nothing fits. Begins where the last solve ended, if the counts are the same.
/// Deterministic: the same calls in the same order give the same answers. Threads: exclusive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_knapsack_solve_resources(
    knapsack: *mut hob_knapsack,
    resources: *const hob_knapsack_resource,
    stride: usize,
    count: u32,
    desc: *const hob_knapsack_solve_desc,
    out_solution: *mut hob_knapsack_solution,
) -> hob_result {
    // SAFETY: the header's contract.
    unsafe {
        exclusive(knapsack, |held| {
            let resources = Array::new(resources, stride, count as usize)?;
            let desc = if desc.is_null() { hob_knapsack_solve_desc::defaults() } else { read_struct(desc)? };
            if !out_solution.is_null() {
                super::layout::checked_size(out_solution)?;
            }
            if desc.capacity != f64::INFINITY || desc.sigmas != 0.0 {
                return Err(error!(
                    InvalidArgument,
                    "hob_knapsack_solve_desc sets capacity or sigmas: with several resources each has its own"
                ));
            }
            let effort = Effort { accepted_gap: desc.accepted_gap, node_limit: desc.node_limit };
            let found = held.with(|cell| {
                let cell = cell.several()?;
                if count as usize != cell.resources {
                    return Err(error!(
                        InvalidArgument,
                        "{count} resources were passed; the knapsack was created with resource_count {}",
                        cell.resources
                    ));
                }
                let mut economies = [Economy::default(); MOST_RESOURCES];
                for (economy, resource) in economies.iter_mut().zip(resources.iter()) {
                    *economy = Economy { capacity: resource.capacity, sigmas: resource.sigmas };
                }
                let answer = cell.several.solve(&economies[..cell.resources], effort)?;
                cell.answer = Some(answer);
                Ok(answer)
            })?;
            if out_solution.is_null() {
                return Ok(());
            }
            let solution = hob_knapsack_solution {
                feasible: u32::from(found.feasible),
                proven: u32::from(found.proven),
                value: found.value,
                upper_bound: found.upper_bound,
                gap: found.gap,
                nodes: found.nodes,
                ..hob_knapsack_solution::defaults()
            };
            write_struct(out_solution, &solution)
        })
    }
}

/// How much of resource number `resource` the choices of the last hob_knapsack_solve_resources take.
/// HOB_RESULT_NOT_FOUND before that, and for a number that is not below resource_count. Threads: shared.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_knapsack_resource_usage(
    knapsack: *const hob_knapsack,
    resource: u32,
    out_usage: *mut hob_knapsack_usage,
) -> hob_result {
    // SAFETY: the header's contract.
    unsafe {
        inspect(knapsack, |cell| {
            let Solver::Several(cell) = &cell.solver else { return Err(without_resources()) };
            let index = resource as usize;
            if index >= cell.resources {
                return Err(error!(NotFound, "there is no resource {resource}: resource_count is {}", cell.resources));
            }
            let Some(answer) = &cell.answer else {
                return Err(error!(NotFound, "nothing is used yet: call hob_knapsack_solve_resources first"));
            };
            let usage = hob_knapsack_usage {
                mean: answer.totals[index].mean,
                variance: answer.totals[index].variance,
                burden: answer.burden[index],
                excess: answer.excess[index],
                price: answer.prices[index],
                ..hob_knapsack_usage::defaults()
            };
            write_struct(out_usage, &usage)
        })
    }
}

/// Settings added since the last clear; 0 for a bad handle. Threads: shared.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn hob_knapsack_setting_count(knapsack: *const hob_knapsack) -> u32 {
    // SAFETY: the header's contract.
    unsafe { shared(knapsack, |cell| Ok(cell.counts().0 as u32)) }.unwrap_or(0)
}

/// The choices of the last solve, one for each setting in the order in which they were added; HOB_NO_CHOICE for a
/// setting without options. `*out_count` (may be NULL) gets their number; `choices` NULL asks only for that.
/// HOB_RESULT_BUFFER_TOO_SMALL when `capacity` is less. Threads: shared.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_knapsack_choices(
    knapsack: *const hob_knapsack,
    choices: *mut u16,
    capacity: u32,
    out_count: *mut u32,
) -> hob_result {
    // SAFETY: the header's contract.
    unsafe {
        inspect(knapsack, |cell| {
            let found = cell.choices();
            if let Some(out) = Out::optional(out_count) {
                out.write(found.len() as u32);
            }
            if choices.is_null() {
                return Ok(());
            }
            if (capacity as usize) < found.len() {
                return Err(error!(BufferTooSmall, "there are {} choices, and room for {capacity}", found.len()));
            }
            std::ptr::copy_nonoverlapping(found.as_ptr().cast::<u8>(), choices.cast(), size_of_val(found));
            Ok(())
        })
    }
}

/// Bytes the knapsack holds; 0 for a bad handle. Threads: shared.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn hob_knapsack_memory_used(knapsack: *const hob_knapsack) -> usize {
    // SAFETY: the header's contract.
    unsafe { shared(knapsack, |cell| Ok(cell.memory_used())) }.unwrap_or(0)
}

/// The sentence of this handle's last failed exclusive call. Valid until the next one. Threads: shared.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn hob_knapsack_last_error(knapsack: *const hob_knapsack) -> *const c_char {
    // SAFETY: the header's contract.
    unsafe { handle::last_error(knapsack) }
}
