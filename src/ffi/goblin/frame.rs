//! `goblin.h`: the frame. Decisions out, samples in.

use super::base::hob_result;
use super::callbacks::{GoblinCell, decide, exclusive, harvest};
use super::goblin::{HOB_LANE_COUNT, hob_goblin, hob_setting_id};
use super::guard::guard;
use super::handle::{Held, inspect, shared};
use super::layout::{Versioned, checked_size, init_struct, write_struct};
use super::profile::{hob_estimate, hob_estimate_source};
use crate::base::{Result, error};
use crate::goblin::{Decision, LANES, Sample};

/// What a sample is good for.
#[repr(C)]
pub enum hob_sample {
    /// Learn from it.
    Ok = 0,
    /// Vsync or a frame cap hid the true burden: counted, not learned from.
    Capped = 1,
    /// A hitch that has nothing to do with the choice spoiled it: counted, not learned from.
    Hitch = 2,
    /// The game was paused, loading or in the background: counted, not learned from.
    Paused = 3,
}

/// What was decided. Filled in by the library; initialise with HOB_DECISION_INIT. Arrays are by hob_lane; lanes that
/// are not governed are 0.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_decision {
    /// sizeof(hob_decision); set by hob_decision_init.
    pub struct_size: u32,
    /// 1 if mean + sigmas * deviation of the choice fits the limit of every lane. If 0, nothing fits, and the choice is
    /// the one that is least over.
    pub feasible: u32,
    /// Counts up from 1. Samples quote it.
    pub id: u64,
    /// Sum of the chosen values.
    pub value: f64,
    /// The optimum is at most this share above `value`; 0: it is the optimum. What is held for the sake of patience may
    /// be farther off than `precision` accepts. Options on trial are not counted. Most decisions
    /// that hold a choice, or leave it for one near by, don't solve for the best one: then it is what the latest such
    /// solve proved, carried on by how estimates have moved since.
    pub gap: f64,
    /// Mean + sigmas * deviation of the choice: what was held against the capacity. With what totals have beyond the
    /// samples, as the mean and the deviation.
    pub burden: [f64; HOB_LANE_COUNT],
    /// Expected burden of the choice.
    pub mean: [f64; HOB_LANE_COUNT],
    /// Its deviation.
    pub deviation: [f64; HOB_LANE_COUNT],
    /// What the burden was held against: the limit of the strategy in force; with HOB_BURDENS_RELATIVE the controller's
    /// capacity, in the host's unit.
    pub capacity: [f64; HOB_LANE_COUNT],
    /// By how much the burden is over the capacity; 0 when feasible.
    pub excess: [f64; HOB_LANE_COUNT],
    /// Expected burden of the lightest option of every setting.
    pub lightest_mean: [f64; HOB_LANE_COUNT],
    /// Expected burden of the most valuable option of every setting.
    pub highest_mean: [f64; HOB_LANE_COUNT],
    /// Value of the lightest choice.
    pub lightest_value: f64,
    /// Value of the most valuable choice, whether or not it fits.
    pub highest_value: f64,
    /// Settings there were.
    pub setting_count: u32,
    /// Options that are tried in this frame in order to learn their burden.
    pub trial_count: u32,
    /// The strategy in force; 0 where the host has added none.
    pub strategy: u32,
    /// Zero.
    pub reserved: u32,
    /// Nodes that the solver visited, for the best choice and for what is tried or changed on the way; 0 where nothing was
    /// solved.
    pub nodes: u64,
    /// Nanoseconds the decision took, by the clock hook; 0 without one.
    pub elapsed_ns: u64,
    /// Settings whose choice is another than in the decision before.
    pub change_count: u32,
    /// Zero.
    pub reserved2: u32,
}

// SAFETY: repr(C), begins with struct_size, numbers.
unsafe impl Versioned for hob_decision {
    const NAME: &'static str = "hob_decision";
    const FIRST_SIZE: usize = 32 + 7 * 8 * LANES + 16 + 16 + 16;
    fn defaults() -> Self {
        // SAFETY: numbers may be zero.
        let zero = unsafe { std::mem::zeroed() };
        Self { struct_size: size_of::<Self>() as u32, ..zero }
    }
}

impl hob_decision {
    pub fn new(decision: &Decision) -> Self {
        Self {
            feasible: u32::from(decision.feasible),
            id: decision.id,
            value: decision.chosen.value,
            gap: decision.gap,
            lightest_value: decision.lightest.value,
            highest_value: decision.highest.value,
            setting_count: decision.settings,
            trial_count: decision.trials,
            nodes: decision.nodes,
            elapsed_ns: decision.elapsed_ns,
            burden: decision.burden,
            mean: decision.chosen.mean,
            deviation: decision.chosen.deviation,
            capacity: decision.capacity,
            excess: decision.excess,
            lightest_mean: decision.lightest.mean,
            highest_mean: decision.highest.mean,
            strategy: decision.strategy,
            change_count: decision.changes,
            ..Self::defaults()
        }
    }
}

/// Fill in defaults; `size` is sizeof(hob_decision). Usually by HOB_DECISION_INIT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_decision_init(decision: *mut hob_decision, size: u32) -> hob_result {
    // SAFETY: the header's contract.
    guard(|| unsafe { init_struct(decision, size) })
}

/// Once a frame: hob_goblin_harvest, then hob_goblin_decide. `out_decision` may be NULL. Allocates nothing, waits for
/// nothing. Threads: exclusive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_goblin_update(goblin: *mut hob_goblin, out_decision: *mut hob_decision) -> hob_result {
    // SAFETY: the header's contract.
    unsafe {
        exclusive(goblin, |held| {
            check_decision(out_decision)?;
            harvest(held)?;
            decide_into(held, out_decision)
        })
    }
}

/// The first half of hob_goblin_update: ask the measure callbacks, and close the books on the samples since the last
/// harvest. Threads: exclusive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_goblin_harvest(goblin: *mut hob_goblin) -> hob_result {
    // SAFETY: the header's contract.
    unsafe { exclusive(goblin, harvest) }
}

/// The second half of hob_goblin_update: estimate, solve, hand out the choices. `out_decision` may be NULL. That
/// nothing fits is an answer (feasible 0), not an error. On a failure the choices before stand, but for settings whose
/// options_get had given another number of options by then: those are at their default. Threads: exclusive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_goblin_decide(goblin: *mut hob_goblin, out_decision: *mut hob_decision) -> hob_result {
    // SAFETY: the header's contract.
    unsafe {
        exclusive(goblin, |held| {
            check_decision(out_decision)?;
            decide_into(held, out_decision)
        })
    }
}

/// # Safety
/// As [`checked_size`].
unsafe fn check_decision(out_decision: *const hob_decision) -> Result<()> {
    if out_decision.is_null() {
        return Ok(());
    }
    // SAFETY: by this function's contract.
    unsafe { checked_size(out_decision) }.map(|_| ())
}

/// # Safety
/// As [`write_struct`].
unsafe fn decide_into(held: &Held<'_, GoblinCell>, out_decision: *mut hob_decision) -> Result<()> {
    let decision = decide(held)?;
    if out_decision.is_null() {
        return Ok(());
    }
    // SAFETY: by this function's contract.
    unsafe { write_struct(out_decision, &hob_decision::new(&decision)) }
}

/// What the latest decision gave a setting; before the first, its default. 0 for a stale id, a bad or busy handle, or a
/// setting without options, so that it can index an array at once; hob_last_error tells. Threads: shared.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn hob_goblin_choice(goblin: *const hob_goblin, setting: hob_setting_id) -> u32 {
    // SAFETY: the header's contract.
    let choice = unsafe { shared(goblin, |cell| cell.goblin.choice(setting.into())) };
    choice.ok().flatten().map_or(0, u32::from)
}

/// Report what a setting's choice cost on a lane in the frame of `decision_id` (0: the latest): whenever it is known,
/// frames later with GPU timers. `burden` in the lane's unit, 0 to 1e9; `sample` is a hob_sample. Samples of lanes that
/// are not governed are counted and dropped. HOB_RESULT_NOT_FOUND if the decision is not remembered (see `history`).
/// Threads: exclusive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_goblin_measure(
    goblin: *mut hob_goblin,
    decision_id: u64,
    setting: hob_setting_id,
    lane: u32,
    burden: f64,
    sample: u32,
) -> hob_result {
    // SAFETY: the header's contract.
    unsafe {
        exclusive(goblin, |held| {
            let sample = Sample { decision: decision_id, lane, burden, good: is_good(sample)? };
            held.with(|cell| cell.goblin.measure(setting.into(), &sample))
        })
    }
}

/// Report what a whole frame cost on a lane. With HOB_BURDENS_RELATIVE and HOB_BURDENS_TOTALS this is what the goblin
/// steers by, on the first lane that has a limit. With HOB_BURDENS_LEARNED, once all samples of the decision are in,
/// what the total has beyond them is learned, by lane, as a burden that is always there; a total whose samples do not
/// all come teaches nothing. Parameters as in hob_goblin_measure. Threads: exclusive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_goblin_measure_total(
    goblin: *mut hob_goblin,
    decision_id: u64,
    lane: u32,
    burden: f64,
    sample: u32,
) -> hob_result {
    // SAFETY: the header's contract.
    unsafe {
        exclusive(goblin, |held| {
            let sample = Sample { decision: decision_id, lane, burden, good: is_good(sample)? };
            held.with(|cell| cell.goblin.measure_total(&sample))
        })
    }
}

pub fn is_good(sample: u32) -> Result<bool> {
    match sample {
        0 => Ok(true),
        1..=3 => Ok(false),
        other => Err(error!(InvalidArgument, "sample {other} is not a hob_sample")),
    }
}

/// Say that in the frame of `decision_id` (0: the latest) the host used `choice` instead of what was decided, because
/// it was late or impossible: samples of that frame are booked on it. Threads: exclusive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_goblin_applied(
    goblin: *mut hob_goblin,
    decision_id: u64,
    setting: hob_setting_id,
    choice: u32,
) -> hob_result {
    // SAFETY: the header's contract.
    unsafe { exclusive(goblin, |held| held.with(|cell| cell.goblin.applied(setting.into(), decision_id, choice))) }
}

/// What an option is expected to cost on a lane in the next frame, for the setting's present work and under the
/// strategy in force; the count is of this run's samples. HOB_RESULT_NOT_FOUND for a lane without a limit: nothing is
/// learned on it. Threads: shared.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_goblin_estimate(
    goblin: *const hob_goblin,
    setting: hob_setting_id,
    option: u32,
    lane: u32,
    out_estimate: *mut hob_estimate,
) -> hob_result {
    // SAFETY: the header's contract.
    unsafe {
        inspect(goblin, |cell| {
            let (burden, count) = cell.goblin.estimate(setting.into(), option, lane as usize)?;
            let estimate = hob_estimate {
                source: hob_estimate_source::from(burden.source) as u32,
                count,
                mean: burden.normal.mean,
                deviation: burden.normal.deviation(),
                ..hob_estimate::defaults()
            };
            write_struct(out_estimate, &estimate)
        })
    }
}
