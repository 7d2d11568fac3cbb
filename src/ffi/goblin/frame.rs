//! `goblin.h`: the calls of a frame, for decisions and samples.

use hobgoblin_macros::{entry, versioned};

use super::cell::{GoblinCell, collect, decide};
use super::create::hob_goblin;
use super::ids::{decision_number, hob_lane, hob_sample_quality, hob_setting_id};
use crate::base::{Result, error};
use crate::ffi::base::handle::Held;
use crate::ffi::base::out::{Out, write_if};
use crate::ffi::base::result::hob_result;
use crate::ffi::base::structs::Versioned;
use crate::goblin::{Decision, Sample};

// == Every frame ==

/// The decision of a frame.
/// An answer: set struct_size, or begin with HOB_DECISION_INIT. hob_goblin_get_decision has the details.
#[versioned(size = 48, last = reserved)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_decision {
    /// sizeof(hob_decision).
    pub struct_size: u32,
    /// 1 if mean + sigmas * deviation of the choices fits the limit of every lane. 0: nothing fits, and the choices are
    /// those that exceed the limits least. Trials do not count, nor does the noise that HOB_SETTING_TRIM follows.
    pub feasible: u32,
    /// Counts up from 1. Pass it with the samples of the frame.
    pub id: u64,
    /// Sum of the chosen values.
    pub value: f64,
    /// Largest possible distance of `value` from the optimum, 0 to 1. 0: it is the optimum.
    ///
    /// It is a share of the optimum's value above the value of the lightest options. The optimum has the margin of a
    /// new choice. While choices are held without a new solve, it is an estimate: the last proven gap, corrected for
    /// changed burdens.
    pub gap: f64,
    /// Settings whose choice differs from the decision before; in the first decision, from their defaults.
    pub change_count: u32,
    /// Settings with an option on trial in this frame. The first and the last frame of a trial are changes, too.
    pub trial_count: u32,
    /// The strategy in force; 0 without strategies.
    pub strategy: u32,
    /// 0.
    pub reserved: u32,
}

impl From<&Decision> for hob_decision {
    fn from(decision: &Decision) -> Self {
        Self {
            feasible: u32::from(decision.feasible),
            id: decision.id,
            value: decision.chosen.value,
            gap: decision.gap,
            change_count: decision.changes,
            trial_count: decision.trials,
            strategy: decision.strategy,
            ..Self::defaults()
        }
    }
}

/// Decides a frame: call it once, before the frame is drawn.
/// It is hob_goblin_collect_samples, then hob_goblin_decide. `out_decision` may be NULL. If nothing fits, `feasible` is
/// 0; that is no error. After a failure the previous choices stay in force, as hob_goblin_decide says. It waits for
/// nothing, and allocates nothing unless node_limit is above 4096 or get_options gives more options than before.
/// Threads: exclusive. Callbacks: those of the settings, on this thread.
///
///     hob_decision decision = HOB_DECISION_INIT;
///     hob_goblin_update(goblin, &decision);
///     set_shadow_quality(hob_goblin_choice(goblin, shadows));
#[entry(exclusive, hot, nullable(out_decision))]
pub extern "C" fn hob_goblin_update(goblin: *mut hob_goblin, out_decision: *mut hob_decision) -> hob_result {
    collect(goblin)?;
    decide_into(goblin, out_decision)
}

/// Returns the choice of a setting: that of its latest decision, or before its first one, its default.
/// 0 for an invalid handle or id, or a setting without options, so that it can index an array; hob_last_error has the
/// reason. It never waits and is never busy. A render thread that is a frame behind calls hob_goblin_choices or
/// hob_goblin_choice_of with the decision of its frame. Threads: any.
#[entry(published, hot)]
pub extern "C" fn hob_goblin_choice(goblin: *const hob_goblin, setting: hob_setting_id) -> u32 {
    Ok(goblin.choice(setting.into())?.map_or(0, u32::from))
}

/// Gets the option that one decision chose for a setting.
/// With HOB_DECISION_LATEST it is that of the latest decision; before the goblin's first decision, the default.
/// HOB_RESULT_NOT_FOUND if the decision is not remembered any more (hob_goblin_desc.history), or if the setting took no
/// part in it. It never waits and is never busy. Threads: any.
#[entry(published, hot)]
pub extern "C" fn hob_goblin_choice_of(
    goblin: *const hob_goblin,
    decision_id: u64,
    setting: hob_setting_id,
    out_choice: *mut u32,
) -> hob_result {
    out_choice.write(u32::from(goblin.choice_of(number(decision_id)?, setting.into())?));
    Ok(())
}

/// hob_goblin_choices: the setting at this index has no choice in the decision.
pub const HOB_CHOICE_NONE: u32 = 4294967295;

/// Gets all choices of one decision, for a renderer that wants them once a frame.
/// With HOB_DECISION_LATEST they are those of the latest decision; before the goblin's first decision, the defaults.
/// The choice of setting s is at s.index1 - 1; HOB_CHOICE_NONE if it took no part, as while it is disabled.
/// HOB_RESULT_NOT_FOUND if the decision is not remembered any more.
///
/// `*out_count` receives the required size, the highest index1 so far; `*out_decision_id` receives the decision, 0
/// before the first. Either may be NULL. HOB_RESULT_BUFFER_TOO_SMALL: `capacity` is less than the required size; only
/// `*out_count` is written.
///
/// All choices are of the same decision, even if another thread decides meanwhile. Threads: any.
///
///     uint32_t choices[MAX_SETTINGS];
///     uint64_t decision_id;
///     hob_goblin_choices(goblin, HOB_DECISION_LATEST, choices, MAX_SETTINGS, NULL, &decision_id);
///     set_shadow_quality(choices[shadows.index1 - 1]);
#[entry(published, hot, nullable(out_decision_id))]
pub extern "C" fn hob_goblin_choices(
    goblin: *const hob_goblin,
    decision_id: u64,
    choices: *mut u32,
    capacity: u32,
    out_count: *mut u32,
    out_decision_id: *mut u64,
) -> hob_result {
    let decision = number(decision_id)?;
    let mut found = goblin.read_choices(decision, 0, |_, _| ())?;
    choices.fill_by_index(found.count, |place| {
        found = goblin.read_choices(decision, found.count, place)?;
        Ok(())
    })?;
    write_if(out_decision_id, found.decision);
    Ok(())
}

/// Adds a sample: the cost of a setting on a lane in the frame of `decision_id` (or HOB_DECISION_LATEST).
/// Call it when the cost is known; with GPU timers that is frames later, so pass the id of that frame's decision. Add
/// up the passes of a setting first: one sample per decision, setting and lane. `burden` is in the lane's unit, 0 to
/// 1e9.
///
/// Samples of lanes without a limit are counted and dropped. HOB_RESULT_NOT_FOUND if the decision is not remembered
/// any more (hob_goblin_desc.history). Samples may be skipped: best of whole frames, and at random. The number of
/// samples that learning takes stays the same, so with a tenth of them it takes ten times as long.
///
/// If changes of a setting take time, set its hob_setting_desc.switch_burden. If that is above 2 % of the limit, a
/// sample of the frame of a change, or of the two after it, may have that time or not. The goblin tells which.
/// Otherwise the time counts as the option's burden.
///
/// A second sample of one decision, setting and lane counts separately. Threads: exclusive. A host that measures on
/// other threads queues those samples for the thread that calls hob_goblin_update.
///
///     double ms = read_gpu_timer(frame.shadow_query);     // a frame that ended a while ago
///     hob_goblin_measure(goblin, frame.decision_id, shadows, HOB_LANE_GPU, ms, HOB_SAMPLE_QUALITY_OK);
#[entry(exclusive, hot)]
pub extern "C" fn hob_goblin_measure(
    goblin: *mut hob_goblin,
    decision_id: u64,
    setting: hob_setting_id,
    lane: hob_lane,
    burden: f64,
    quality: hob_sample_quality,
) -> hob_result {
    let sample = checked(decision_id, lane, burden, quality)?;
    goblin.with(|cell| cell.goblin.measure(setting.into(), &sample))
}

/// Adds a total: the cost of the whole frame of `decision_id` on a lane.
/// Parameters as in hob_goblin_measure. With HOB_BURDENS_RELATIVE and HOB_BURDENS_TOTALS, totals of the first lane
/// steer the goblin. With HOB_BURDENS_LEARNED, a total teaches the residual of its lane. The total and the samples of a
/// decision may come in any order. Threads: exclusive.
#[entry(exclusive, hot)]
pub extern "C" fn hob_goblin_measure_total(
    goblin: *mut hob_goblin,
    decision_id: u64,
    lane: hob_lane,
    burden: f64,
    quality: hob_sample_quality,
) -> hob_result {
    let sample = checked(decision_id, lane, burden, quality)?;
    goblin.with(|cell| cell.goblin.measure_total(&sample))
}

/// Reports that the frame of `decision_id` (or HOB_DECISION_LATEST) used `choice` instead of the decided option.
/// Call it before the samples of that frame: they then count for `choice`. hob_goblin_choice_of still returns the
/// decided option. Threads: exclusive.
#[entry(exclusive, hot)]
pub extern "C" fn hob_goblin_report_applied(
    goblin: *mut hob_goblin,
    decision_id: u64,
    setting: hob_setting_id,
    choice: u32,
) -> hob_result {
    let decision = number(decision_id)?;
    goblin.with(|cell| cell.goblin.applied(setting.into(), decision, choice))
}

/// Collects samples: the first half of hob_goblin_update.
/// It runs the measure callbacks and takes in all samples since the last call. A host with measure callbacks adds its
/// totals after this and before hob_goblin_decide. Threads: exclusive.
#[entry(exclusive)]
pub extern "C" fn hob_goblin_collect_samples(goblin: *mut hob_goblin) -> hob_result {
    collect(goblin)
}

/// Decides: the second half of hob_goblin_update.
/// It estimates, solves, and publishes the choices. `out_decision` may be NULL. After a failure the previous choices
/// stay in force, except for settings whose get_options gave a new number of options: those are at their default.
/// Threads: exclusive.
#[entry(exclusive, nullable(out_decision))]
pub extern "C" fn hob_goblin_decide(goblin: *mut hob_goblin, out_decision: *mut hob_decision) -> hob_result {
    decide_into(goblin, out_decision)
}

fn decide_into(goblin: &Held<'_, GoblinCell>, out_decision: Option<Out<hob_decision>>) -> Result<()> {
    let decision = decide(goblin)?;
    write_if(out_decision, hob_decision::from(&decision));
    Ok(())
}

fn checked(decision_id: u64, lane: hob_lane, burden: f64, quality: hob_sample_quality) -> Result<Sample> {
    let lane = lane.check("lane")?.0;
    let good = quality.check("quality")? == hob_sample_quality::Ok;
    if burden.is_nan() {
        return Err(error!(InvalidArgument, "burden is not a number: pass 0 to 1e9, or no sample"));
    }
    Ok(Sample { decision: number(decision_id)?, lane, burden, good })
}

/// The core's number of a decision, or of the latest one.
fn number(decision_id: u64) -> Result<u64> {
    decision_number(decision_id).ok_or_else(|| {
        error!(NotFound, "decision_id is 0, which is invalid: pass hob_decision.id, or HOB_DECISION_LATEST")
    })
}
