//! `goblin.h`: queries of the latest decision and of learned burdens.

use std::ffi::c_char;

use hobgoblin_macros::{entry, open_enum, versioned};

use super::create::hob_goblin;
use super::ids::{HOB_LANE_COUNT, hob_lane, hob_setting_id};
use crate::base::{Text, error};
use crate::ffi::base::result::hob_result;
use crate::ffi::base::structs::Versioned;
use crate::ffi::profile::{hob_estimate, hob_estimate_source};
use crate::goblin::{Decision, Reason, Why};

// == The latest decision ==

/// The result of a decision on one lane.
/// All 0 for a lane that no strategy limits, except the first one if there is no limit at all.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_decision_lane {
    /// Mean + sigmas * deviation of the choices: compared with the capacity. Includes the residual, as do `mean` and
    /// `deviation`. With overrun_probability the sigmas are those in force, perhaps 0 for a choice that is kept.
    ///
    /// While options are on trial, it has a cautious guess of their burden instead of the expected one. With settings
    /// of HOB_SETTING_TRIM, it is for the noise of the present frames, which no other setting follows; where they
    /// cannot make up for that, it exceeds the capacity.
    pub burden: f64,
    /// Expected burden of the choices.
    pub mean: f64,
    /// Its standard deviation.
    pub deviation: f64,
    /// The limit of the strategy in force; HUGE_VAL if it has none. With HOB_BURDENS_RELATIVE the controller's
    /// capacity, in units of relative_burden.
    pub capacity: f64,
    /// By how much the burden exceeds the capacity; 0 if it fits.
    pub excess: f64,
    /// Expected burden with the lightest option of every setting.
    pub lightest_mean: f64,
    /// Expected burden with the most valuable option of every setting.
    pub highest_mean: f64,
}

/// Details of a decision.
/// An answer: set struct_size, or begin with HOB_DECISION_DETAILS_INIT.
#[versioned(size = 528, last = elapsed_ns)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_decision_details {
    /// sizeof(hob_decision_details).
    pub struct_size: u32,
    /// As in hob_decision.
    pub feasible: u32,
    /// As in hob_decision.
    pub id: u64,
    /// As in hob_decision.
    pub value: f64,
    /// As in hob_decision.
    pub gap: f64,
    /// As in hob_decision.
    pub change_count: u32,
    /// As in hob_decision.
    pub trial_count: u32,
    /// As in hob_decision.
    pub strategy: u32,
    /// Settings that took part.
    pub setting_count: u32,
    /// By hob_lane.
    pub lanes: [hob_decision_lane; HOB_LANE_COUNT],
    /// Value with the lightest option of every setting.
    pub lightest_value: f64,
    /// Value with the most valuable option of every setting, whether or not it fits.
    pub highest_value: f64,
    /// Nodes that the solver visited; 0 if nothing was solved.
    pub nodes: u64,
    /// Nanoseconds that the decision took, by the clock hook; 0 without one.
    pub elapsed_ns: u64,
}

impl From<&Decision> for hob_decision_details {
    fn from(decision: &Decision) -> Self {
        let Decision { chosen, lightest, highest, .. } = decision;
        Self {
            feasible: u32::from(decision.feasible),
            id: decision.id,
            value: chosen.value,
            gap: decision.gap,
            change_count: decision.changes,
            trial_count: decision.trials,
            strategy: decision.strategy,
            setting_count: decision.settings,
            lanes: std::array::from_fn(|lane| hob_decision_lane {
                burden: decision.burden[lane],
                mean: chosen.mean[lane],
                deviation: chosen.deviation[lane],
                capacity: decision.capacity[lane],
                excess: decision.excess[lane],
                lightest_mean: lightest.mean[lane],
                highest_mean: highest.mean[lane],
            }),
            lightest_value: lightest.value,
            highest_value: highest.value,
            nodes: decision.nodes,
            elapsed_ns: decision.elapsed_ns,
            ..Self::defaults()
        }
    }
}

/// Gets the details of the latest decision.
/// HOB_RESULT_NOT_FOUND before the first. Threads: shared.
#[entry(shared)]
pub extern "C" fn hob_goblin_get_decision(
    goblin: *const hob_goblin,
    out_details: *mut hob_decision_details,
) -> hob_result {
    let latest = goblin.latest.as_ref();
    let latest = latest.ok_or_else(|| error!(NotFound, "there is no decision yet: call hob_goblin_update first"))?;
    out_details.write(latest.into());
    Ok(())
}

// == Why ==

/// Why a setting has its choice.
#[open_enum]
#[repr(C)]
pub enum hob_why {
    /// Nothing was decided yet.
    Undecided = 0,
    /// Nothing is known of its burdens, so it has its default.
    Unknown = 1,
    /// Part of the most valuable choices that fit.
    Best = 2,
    /// More valuable than before: there was room.
    Raised = 3,
    /// Less valuable than before, so that everything fits or another setting can be raised.
    Lowered = 4,
    /// A better choice would fit, but is delayed.
    /// Its gain has not paid for the change yet (hob_goblin_desc.patience), or it leaves no room for fluctuations, or
    /// changes_per_second, dwell or switch_limit delays it.
    Held = 5,
    /// Chosen to learn its burden.
    /// For a frame, or a few if the change takes time; after the learning phase for up to a second.
    Trial = 6,
    /// The host's range has no other option, ready or not.
    Pinned = 7,
    /// The host's range excludes a more valuable option.
    Limited = 8,
    /// A more valuable option is not ready.
    NotReady = 9,
    /// Nothing fits: the choice that exceeds the limits least.
    NothingFits = 10,
    /// Takes up the last slack (HOB_SETTING_TRIM).
    Trim = 11,
    /// The setting is disabled.
    Disabled = 12,
    /// The strategy has changed.
    Strategy = 13,
    /// Moved for as long as the trial of another setting lasts, so that it fits.
    MakesRoom = 14,
    /// Restored to an earlier option and left alone for 60 seconds, because the cheaper option saved nothing.
    /// 24 samples of the setting itself showed less than a quarter of the expected saving. If 24 samples after that
    /// show that the earlier option does cost more, the setting is free again. Savings of less than 3 deviations are
    /// not checked. A setting that is most of its lane is not recognised: it looks as if the whole frame were slower.
    DeadLever = 15,
}

impl From<Why> for hob_why {
    fn from(why: Why) -> Self {
        match why {
            Why::Undecided => Self::Undecided,
            Why::Unknown => Self::Unknown,
            Why::Best => Self::Best,
            Why::Raised => Self::Raised,
            Why::Lowered => Self::Lowered,
            Why::Held => Self::Held,
            Why::Trial => Self::Trial,
            Why::Pinned => Self::Pinned,
            Why::Limited => Self::Limited,
            Why::NotReady => Self::NotReady,
            Why::NothingFits => Self::NothingFits,
            Why::Trim => Self::Trim,
            Why::Disabled => Self::Disabled,
            Why::Strategy => Self::Strategy,
            Why::MakesRoom => Self::MakesRoom,
            Why::DeadLever => Self::DeadLever,
        }
    }
}

/// Why a setting has its choice.
/// An answer: set struct_size, or begin with HOB_REASON_INIT.
#[versioned(size = 40, last = gain)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_reason {
    /// sizeof(hob_reason).
    pub struct_size: u32,
    /// The reason.
    pub why: hob_why,
    /// The option before the last change; the present one if it never changed. With HOB_WHY_TRIAL and
    /// HOB_WHY_MAKES_ROOM: the option to which it returns.
    pub from: u32,
    /// The present option.
    pub to: u32,
    /// The decision of the last change that was no trial; 0 if it never changed.
    pub since: u64,
    /// The slack on `lane`, in its unit. If negative, it is the excess. With HOB_WHY_RAISED, HOB_WHY_LOWERED and
    /// HOB_WHY_STRATEGY: the slack before the change.
    pub headroom: f64,
    /// With HOB_WHY_HELD: the value that a better choice would gain in each frame, and that waiting loses. With
    /// HOB_WHY_RAISED, HOB_WHY_LOWERED and HOB_WHY_STRATEGY: the total value that the change gained, negative if it
    /// lost some. Otherwise 0.
    pub gain: f64,
    /// The lane of `headroom`: the one with an excess, otherwise that on which the choice or its change costs most.
    pub lane: hob_lane,
    /// 0.
    pub reserved: u32,
}

impl From<Reason> for hob_reason {
    fn from(reason: Reason) -> Self {
        Self {
            why: hob_why::from(reason.why),
            from: u32::from(reason.from),
            to: u32::from(reason.to),
            since: reason.since,
            headroom: reason.headroom,
            gain: reason.gain,
            lane: hob_lane(u32::from(reason.lane)),
            ..Self::defaults()
        }
    }
}

/// Gets why a setting has its choice.
/// Threads: shared.
#[entry(shared)]
pub extern "C" fn hob_goblin_get_reason(
    goblin: *const hob_goblin,
    setting: hob_setting_id,
    out_reason: *mut hob_reason,
) -> hob_result {
    out_reason.write(goblin.goblin.reason(setting.into())?.into());
    Ok(())
}

/// Writes why a setting has its choice as an English sentence into a buffer, with a NUL.
/// For example "raised from 1 to 2 in decision 512: the headroom was 1.80". `*out_size` receives the required size with
/// the NUL; it may be NULL if `buffer` is not. 256 bytes are always enough. HOB_RESULT_BUFFER_TOO_SMALL leaves the
/// buffer unchanged. Threads: shared.
#[entry(shared)]
pub extern "C" fn hob_goblin_get_reason_text(
    goblin: *const hob_goblin,
    setting: hob_setting_id,
    buffer: *mut c_char,
    capacity: usize,
    out_size: *mut usize,
) -> hob_result {
    let text = Text::<255>::format(format_args!("{}", goblin.goblin.reason(setting.into())?));
    let text = text.as_str().as_bytes();
    // The buffer is zeroed, so the text ends in NUL.
    buffer.fill(text.len() + 1, |bytes| {
        bytes[..text.len()].copy_from_slice(text);
        Ok(bytes.len())
    })
}

// == What was learned ==

/// Gets what an option is expected to cost on a lane in the next frame.
/// It is for the setting's present work and the strategy in force; the count is of this run's samples. It allocates, so
/// do not call it in every frame.
/// HOB_RESULT_INVALID_ARGUMENT for an option that does not exist, HOB_RESULT_NOT_FOUND for a lane without a limit.
/// Threads: shared.
#[entry(shared)]
pub extern "C" fn hob_goblin_get_estimate(
    goblin: *const hob_goblin,
    setting: hob_setting_id,
    option: u32,
    lane: hob_lane,
    out_estimate: *mut hob_estimate,
) -> hob_result {
    let lane = lane.check("lane")?.0 as usize;
    let (burden, count) = goblin.goblin.estimate(setting.into(), option, lane)?;
    out_estimate.write(hob_estimate {
        source: hob_estimate_source::from(burden.source),
        count,
        mean: burden.normal.mean,
        deviation: burden.normal.deviation(),
        ..hob_estimate::defaults()
    });
    Ok(())
}

/// Counters of a goblin.
/// An answer: set struct_size, or begin with HOB_GOBLIN_STATISTICS_INIT.
#[versioned(size = 168, last = reserved)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_goblin_statistics {
    /// sizeof(hob_goblin_statistics).
    pub struct_size: u32,
    /// Settings at present.
    pub setting_count: u32,
    /// Decisions so far, which is also the id of the latest.
    pub decisions: u64,
    /// Samples learned from.
    pub samples: u64,
    /// Samples and totals that were not HOB_SAMPLE_QUALITY_OK.
    pub flagged: u64,
    /// Samples of lanes without a limit, or of settings without a burden.
    pub ungoverned: u64,
    /// Samples refused. Their decision was not remembered, their setting took no part in it, or a callback gave an
    /// invalid one.
    pub refused: u64,
    /// Totals received.
    pub totals: u64,
    /// Totals above the limit of their lane.
    pub totals_over: u64,
    /// Ratio of the latest samples to their typical burdens, on the first lane. 1 is normal, 2 is twice as slow; 0: no
    /// samples yet.
    pub anomaly: f64,
    /// The same, smoothed over about 30 frames.
    pub recent_anomaly: f64,
    /// Ratio of present to past burdens (hob_goblin_set_past_profile), on the first lane. 1 until both are known.
    pub past_ratio: f64,
    /// Bytes held.
    pub memory_used: u64,
    /// The residual of each lane, by hob_lane; 0 while it is unknown.
    pub residual: [f64; HOB_LANE_COUNT],
    /// Strategies; 1 if the host has added none.
    pub strategy_count: u32,
    /// 0.
    pub reserved: u32,
}

/// Gets the counters of a goblin.
/// Threads: shared.
#[entry(shared)]
pub extern "C" fn hob_goblin_get_statistics(
    goblin: *const hob_goblin,
    out_statistics: *mut hob_goblin_statistics,
) -> hob_result {
    let found = goblin.goblin.statistics();
    out_statistics.write(hob_goblin_statistics {
        setting_count: goblin.goblin.setting_count() as u32,
        decisions: goblin.goblin.latest_decision(),
        samples: found.samples,
        flagged: found.flagged,
        ungoverned: found.ungoverned,
        refused: found.refused + goblin.refused,
        totals: found.totals,
        totals_over: found.totals_over,
        anomaly: found.anomaly,
        recent_anomaly: found.recent_anomaly,
        past_ratio: goblin.goblin.ratio(),
        memory_used: goblin.memory_used() as u64,
        residual: std::array::from_fn(|lane| goblin.goblin.residual(lane)),
        strategy_count: goblin.goblin.strategy_count() as u32,
        ..hob_goblin_statistics::defaults()
    });
    Ok(())
}
