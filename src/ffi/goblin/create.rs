//! `goblin.h`: the handle and its parameters.

use std::ffi::c_char;

use hobgoblin_macros::{entry, opaque, open_enum, versioned};

use super::cell::{GoblinCell, remove_doomed};
use super::ids::{HOB_LANE_COUNT, hob_lane_desc, limits_of, or_else};
use super::tuning::hob_goblin_tuning;
use crate::base::{Result, Shared, error};
use crate::ffi::base::argument::Argument;
use crate::ffi::base::guard;
use crate::ffi::base::handle;
use crate::ffi::base::result::hob_result;
use crate::ffi::base::structs::Versioned;
use crate::goblin::{Burdens, Config, Goblin, Published};

/// Keeps a frame inside its budget.
/// A handle: see "Handles" in base.h.
#[opaque(GoblinCell, tag = b"hobgobln", published = Shared<Published>, after = remove_doomed)]
pub struct hob_goblin {
    _private: [u8; 0],
}

// == Create and destroy ==

/// Where burdens come from.
#[open_enum]
#[repr(C)]
pub enum hob_burdens {
    /// From hob_goblin_measure, or from the settings' measure callbacks.
    Learned = 0,
    /// From hob_option.relative_burden. Only whole frames are measured, with hob_goblin_measure_total. A controller
    /// finds the capacity, in units of relative_burden: late frames lower it, slack raises it. Only the first lane is
    /// steered; give the others no limit. A HOB_SETTING_TRIM setting is changed as seldom as others.
    Relative = 1,
    /// From totals alone: a regression on totals and choices finds the burden of each option. Relative burdens serve
    /// until it has converged. Best up to 128 options; with more, it converges more slowly. Only the first lane is
    /// steered. Samples of settings are counted and not used. Trials of a frame each go on for ever, because the
    /// regression needs them; after the learning phase they make at most half of the changes that `changes_per_second`
    /// allows.
    Totals = 2,
}

/// Parameters of a goblin.
/// Give at least one lane a limit; without any, each setting gets the most valuable option that was measured. 0 in a
/// field means its default.
#[versioned(size = 112, last = tuning)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_goblin_desc {
    /// sizeof(hob_goblin_desc).
    pub struct_size: u32,
    /// Where burdens come from. Default HOB_BURDENS_LEARNED.
    pub burdens: hob_burdens,
    /// The limits, by hob_lane. Default: none.
    pub lanes: [hob_lane_desc; HOB_LANE_COUNT],
    /// Share of frames that may exceed a limit, on each lane; at most 0.5. Default 0: the margin is
    /// hob_goblin_tuning.sigmas instead, for burdens that are normal and independent. HOB_BURDENS_RELATIVE ignores it.
    ///
    /// The margin follows the share of late frames. A choice that is kept has a smaller margin than a new one, down to
    /// none, while fewer frames are late than asked. Frames that are late because of a switch_burden are not included
    /// in the share. Only frames with samples of all costly settings calibrate it. To skip samples, skip all those of a
    /// frame, at random; if single settings are skipped, more frames are late.
    pub overrun_probability: f64,
    /// How long an improvement must persist before it is applied. Higher: fewer changes. Default 1. Negative: at once.
    ///
    /// A change is applied when its gains, added up over the frames, reach its price: `patience` times the sum of the
    /// settings' rises in value and 1.5 times their falls. In the minute after a large change, falls come to count 3
    /// times, and all of the price grows to 16 times as much.
    ///
    /// A return to an option within 10 s after its replacement costs twice as much. Beyond 1.25 such returns a minute,
    /// each costs the value of a whole frame in addition.
    ///
    /// A better choice that leaves no room for the fluctuations of the burdens waits, too. A choice that does not fit
    /// is replaced at once. At most 1e9.
    #[default(1.0)]
    pub patience: f64,
    /// Most bytes that the goblin may hold. Calls that would exceed it return HOB_RESULT_LIMIT_EXCEEDED. The solver's
    /// own memory, about a megabyte, counts but is never refused. Default: no limit.
    #[default(u64::MAX)]
    pub memory_limit: u64,
    /// Decisions that are remembered for late samples, 1 to 65536. Default 64.
    #[default(64)]
    pub history: u32,
    /// Most settings, at most 16777216. Default 65536.
    #[default(65_536)]
    pub max_settings: u32,
    /// How it decides; copied. NULL: the defaults. For hob_goblin_set_desc NULL means unchanged.
    pub tuning: *const hob_goblin_tuning,
    /// Most visible changes a second, at least 0.001. HUGE_VAL: no limit. Default 1.
    ///
    /// A change is one setting whose choice differs from the frame before. Trials and their ends count, TRIM settings
    /// do not. A change is *forced* if the former choices do not fit or are not available, if the strategy changes, or
    /// if an earlier change without effect is taken back (HOB_WHY_DEAD_LEVER). All others are *voluntary*.
    ///
    /// Each change takes 1 / `changes_per_second` seconds from a credit, which grows with time up to 6 s. A forced
    /// change is made at once, also without credit. A voluntary one waits until the credit is enough for it, so it may
    /// follow a forced one at once.
    ///
    /// No second has more voluntary changes than this, with two exceptions. One decision may change several related
    /// settings, and waits until as many changes are due. The begin and the end of a trial may be in one second. No
    /// voluntary change makes a minute exceed 60 times this, forced changes included.
    ///
    /// Changes are free in the learning phase, in trial windows and while the switch scale is 0. With
    /// HOB_BURDENS_TOTALS it limits trials only, and with a negative `patience` nothing.
    ///
    /// The learning phase follows the creation of a setting and takes 18 s, but at least 256 and at most 1024
    /// decisions. With HOB_BURDENS_LEARNED, a decision counts only if it, or one of the 4 before it, has a new sample.
    ///
    /// It begins again when a lane gets a limit. It also does when options that were never measured become ready,
    /// allowed by the range or enabled, and their setting has at most one measured option. From the fifth time on,
    /// that takes at most an eighth of all decisions.
    #[default(1.0)]
    pub changes_per_second: f64,
    /// Decisions a second, which convert seconds to decisions: 0.001 to 1e9. Default 60.
    #[default(60.0)]
    pub decisions_per_second: f64,
}

/// Creates a goblin.
/// On success `*out_goblin` is the caller's to destroy. HOB_RESULT_INVALID_ARGUMENT for a limit that is negative or
/// NaN. Without any limit the first decision logs a warning. Threads: any.
///
///     hob_goblin_tuning tuning = HOB_GOBLIN_TUNING_INIT;   // only where a default does not suit
///     tuning.switch_limit = 2.0;
///     hob_goblin_desc desc = HOB_GOBLIN_DESC_INIT;
///     desc.lanes[HOB_LANE_GPU].limit = 16.6;
///     desc.tuning = &tuning;
///     hob_result result = hob_goblin_create(&desc, &goblin);
#[entry(any)]
pub extern "C" fn hob_goblin_create(desc: *const hob_goblin_desc, out_goblin: *mut *mut hob_goblin) -> hob_result {
    let goblin = Goblin::new(&config_of(&desc, &Config::default())?)?;
    let published = goblin.published().clone();
    out_goblin.write(handle::create_with(GoblinCell::new(goblin), published)?);
    Ok(())
}

/// Destroys a goblin and its settings; NULL is allowed.
/// From inside one of its callbacks it is destroyed when the running call returns. Threads: no call on it may run on
/// another thread.
#[entry(destroy)]
pub extern "C" fn hob_goblin_destroy(goblin: *mut hob_goblin) {}

/// Returns the bytes that the goblin holds; 0 for an invalid handle.
/// Threads: shared.
#[entry(shared)]
pub extern "C" fn hob_goblin_memory_used(goblin: *const hob_goblin) -> usize {
    Ok(goblin.memory_used())
}

/// Returns the sentence of this handle's last failed exclusive call.
/// It is empty if none has failed, and valid until the next failure. Threads: shared.
#[entry(handle, or = guard::last_error())]
pub extern "C" fn hob_goblin_last_error(goblin: *const hob_goblin) -> *const c_char {
    Ok(goblin.last_error())
}

/// The core's parameters. Without a tuning from the caller, the current tuning is used.
pub fn config_of(desc: &hob_goblin_desc, present: &Config) -> Result<Config> {
    let config = Config {
        limits: limits_of(&desc.lanes),
        overrun_probability: desc.overrun_probability,
        patience: if desc.patience < 0.0 { 0.0 } else { desc.patience },
        changes_per_second: desc.changes_per_second,
        decisions_per_second: desc.decisions_per_second,
        history: desc.history,
        burdens: match desc.burdens {
            hob_burdens::Learned => Burdens::Learned,
            hob_burdens::Relative => Burdens::Relative,
            hob_burdens::Totals => Burdens::Totals,
            other => return Err(error!(InvalidArgument, "burdens {} is not a hob_burdens", other.0)),
        },
        max_settings: desc.max_settings,
        memory_limit: desc.memory_limit,
        ..*present
    };
    if desc.tuning.is_null() {
        return Ok(config);
    }
    // SAFETY: the header asks for NULL or a hob_goblin_tuning.
    unsafe { hob_goblin_tuning::take(desc.tuning, "tuning") }?.apply(&config)
}

impl From<&Config> for hob_goblin_desc {
    fn from(config: &Config) -> Self {
        Self {
            burdens: match config.burdens {
                Burdens::Learned => hob_burdens::Learned,
                Burdens::Relative => hob_burdens::Relative,
                Burdens::Totals => hob_burdens::Totals,
            },
            lanes: config.limits.map(|limit| hob_lane_desc { limit }),
            overrun_probability: config.overrun_probability,
            patience: or_else(config.patience, -1.0),
            changes_per_second: config.changes_per_second,
            decisions_per_second: config.decisions_per_second,
            memory_limit: config.memory_limit,
            history: config.history,
            max_settings: config.max_settings,
            ..Self::defaults()
        }
    }
}
