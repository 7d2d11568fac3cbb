//! `knapsack.h`: the solver alone.

use std::ffi::c_char;

use super::base::hob_result;
use super::guard::guard;
use super::handle::{self, Opaque, exclusive, inspect, shared};
use super::layout::{Array, Element, Out, Versioned, init_struct, read_struct, write_struct};
use crate::base::{Result, error};
use crate::knapsack::{Candidate, Economy, Effort, Knapsack, NO_CHOICE};

/// The choice of a setting that has no options.
pub const HOB_NO_CHOICE: u16 = 65535;
const _: () = assert!(HOB_NO_CHOICE == NO_CHOICE);

/// A multiple-choice knapsack: add settings, solve, read the choices; clear and repeat. A handle; see docs/ownership.md.
pub struct hob_knapsack {
    _private: [u8; 0],
}

/// A knapsack and the limit it was created with.
pub struct KnapsackCell {
    knapsack: Knapsack,
    scratch: Vec<Candidate>,
    memory_limit: u64,
}

impl Opaque for hob_knapsack {
    type Value = KnapsackCell;
    const NAME: &'static str = "hob_knapsack";
    const TAG: [u8; 8] = *b"hobknaps";
}

impl KnapsackCell {
    fn memory_used(&self) -> usize {
        size_of::<Self>() + self.knapsack.memory_used() + self.scratch.capacity() * size_of::<Candidate>()
    }

    /// Bytes a setting and an option take, from above.
    const PER_SETTING: usize = 256;
    const PER_OPTION: usize = 256;

    fn check_memory(&self, settings: usize, options: usize) -> Result<()> {
        let of_settings = settings.saturating_mul(Self::PER_SETTING);
        let wanted = options.saturating_mul(Self::PER_OPTION).saturating_add(of_settings);
        let wanted = wanted.saturating_add(self.memory_used());
        if wanted as u64 > self.memory_limit {
            return Err(error!(
                LimitExceeded,
                "this may take {wanted} bytes in all; the limit is {}", self.memory_limit
            ));
        }
        Ok(())
    }
}

/// Parameters of a knapsack.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_knapsack_desc {
    /// sizeof(hob_knapsack_desc); set by hob_knapsack_desc_init.
    pub struct_size: u32,
    /// Zero.
    pub reserved: u32,
    /// Most bytes that settings and options may take; what a hard proof takes is bounded by node_limit. Default UINT64_MAX.
    pub memory_limit: u64,
}

// SAFETY: repr(C), begins with struct_size, integers.
unsafe impl Versioned for hob_knapsack_desc {
    const NAME: &'static str = "hob_knapsack_desc";
    const FIRST_SIZE: usize = 16;
    fn defaults() -> Self {
        Self { struct_size: size_of::<Self>() as u32, reserved: 0, memory_limit: u64::MAX }
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
        let cell = KnapsackCell { knapsack: Knapsack::new(), scratch: Vec::new(), memory_limit: desc.memory_limit };
        out.write(handle::create(cell)?);
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
/// of more than 4096 nodes may take more, which it keeps (see node_limit). Threads: exclusive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_knapsack_reserve(knapsack: *mut hob_knapsack, settings: u32, options: u32) -> hob_result {
    // SAFETY: the header's contract.
    unsafe {
        exclusive(knapsack, |held| {
            held.with(|cell| {
                cell.check_memory(settings as usize, options as usize)?;
                cell.scratch.try_reserve((options as usize).min(usize::from(NO_CHOICE)))?;
                cell.knapsack.reserve(settings as usize, options as usize)
            })
        })
    }
}

/// Remove all settings; keep the memory, and the choices of the last solve. Threads: exclusive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_knapsack_clear(knapsack: *mut hob_knapsack) -> hob_result {
    // SAFETY: the header's contract.
    unsafe {
        exclusive(knapsack, |held| {
            held.with(|cell| cell.knapsack.clear());
            Ok(())
        })
    }
}

/// Add a setting of `count` options (0 to 65535), `stride` bytes apart; they are copied. `*out_index` (may be NULL) gets
/// its index: 0, 1, 2, ... Threads: exclusive.
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
                if count > u32::from(NO_CHOICE) {
                    return Err(error!(LimitExceeded, "{count} options; a setting can have {NO_CHOICE}"));
                }
                let so_far = &cell.knapsack;
                cell.check_memory(so_far.setting_count() + 1, so_far.option_count() + count as usize)?;
                cell.scratch.clear();
                cell.scratch.try_reserve(count as usize)?;
                cell.scratch.extend(options.iter().map(|o| Candidate {
                    value: o.value,
                    mean: o.mean,
                    variance: o.variance,
                }));
                cell.knapsack.add_setting(&cell.scratch)
            })?;
            if let Some(out) = Out::optional(out_index) {
                out.write(index as u32);
            }
            Ok(())
        })
    }
}

/// Choose one option of each setting such that the sum of values is greatest while the burden fits. `out_solution` may be
/// NULL. Exact and proven unless the node limit ends the search; then the gap is reported. That nothing fits is an
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
            let found = held.with(|cell| cell.knapsack.solve(economy, effort))?;
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

/// Settings added since the last clear; 0 for a bad handle. Threads: shared.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn hob_knapsack_setting_count(knapsack: *const hob_knapsack) -> u32 {
    // SAFETY: the header's contract.
    unsafe { shared(knapsack, |cell| Ok(cell.knapsack.setting_count() as u32)) }.unwrap_or(0)
}

/// The choices of the last solve, one for each setting in the order in which they were added; HOB_NO_CHOICE for a setting
/// without options. `*out_count` (may be NULL) gets their number; `choices` NULL asks only for that.
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
            let found = cell.knapsack.choices();
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
