//! `goblin.h`: control of single settings and decisions by the host.

use hobgoblin_macros::entry;

use super::create::{config_of, hob_goblin, hob_goblin_desc};
use super::ids::{hob_lane, hob_setting_id};
use super::tuning::hob_goblin_tuning;
use crate::ffi::base::result::hob_result;
use crate::ffi::base::structs::Versioned;

/// Changes the parameters.
/// All fields are replaced: 0 sets the default, also here; only a desc without `tuning` leaves the tuning unchanged. To
/// change one field, begin with hob_goblin_get_desc. Learned burdens stay, except on lanes without a limit in any
/// strategy. If lanes gain or lose their limit, samples of earlier decisions are refused. Threads: exclusive.
#[entry(exclusive)]
pub extern "C" fn hob_goblin_set_desc(goblin: *mut hob_goblin, desc: *const hob_goblin_desc) -> hob_result {
    goblin.with(|cell| {
        let config = config_of(&desc, cell.goblin.config())?;
        cell.goblin.configure(&config)
    })
}

/// Gets the parameters in force; `tuning` is NULL: see hob_goblin_get_tuning.
/// Threads: shared.
#[entry(shared)]
pub extern "C" fn hob_goblin_get_desc(goblin: *const hob_goblin, out_desc: *mut hob_goblin_desc) -> hob_result {
    out_desc.write(hob_goblin_desc::from(goblin.goblin.config()));
    Ok(())
}

/// Changes how the goblin decides; NULL: back to the defaults.
/// Threads: exclusive.
#[entry(exclusive, nullable(tuning))]
pub extern "C" fn hob_goblin_set_tuning(goblin: *mut hob_goblin, tuning: *const hob_goblin_tuning) -> hob_result {
    let tuning = tuning.unwrap_or_else(hob_goblin_tuning::defaults);
    goblin.with(|cell| {
        let config = tuning.apply(cell.goblin.config())?;
        cell.goblin.configure(&config)
    })
}

/// Gets how the goblin decides.
/// Threads: shared.
#[entry(shared)]
pub extern "C" fn hob_goblin_get_tuning(goblin: *const hob_goblin, out_tuning: *mut hob_goblin_tuning) -> hob_result {
    out_tuning.write(hob_goblin_tuning::from(goblin.goblin.config()));
    Ok(())
}

// == Control ==

/// Allows only the options from `first` (a floor) to `last` (a ceiling), from the next decision on.
/// `first` must exist; a `last` beyond the last option, such as UINT32_MAX, means the last. 0 to UINT32_MAX allows all.
/// If no allowed option is ready, the one nearest to the default is chosen. Threads: exclusive.
#[entry(exclusive)]
pub extern "C" fn hob_goblin_set_range(
    goblin: *mut hob_goblin,
    setting: hob_setting_id,
    first: u32,
    last: u32,
) -> hob_result {
    goblin.with(|cell| cell.goblin.set_range(setting.into(), first, last))
}

/// Allows only one option, from the next decision on: hob_goblin_set_range from it to itself.
/// The other settings make room for it. hob_goblin_set_range from 0 to UINT32_MAX allows all again. Threads: exclusive.
#[entry(exclusive)]
pub extern "C" fn hob_goblin_pin(goblin: *mut hob_goblin, setting: hob_setting_id, option: u32) -> hob_result {
    goblin.with(|cell| cell.goblin.set_range(setting.into(), option, option))
}

/// Takes a setting out of decisions (`enabled` 0) or back in.
/// While it is out it costs nothing, is worth nothing and keeps its choice; learned burdens stay. Samples of decisions
/// without it get HOB_RESULT_NOT_FOUND. Threads: exclusive.
#[entry(exclusive)]
pub extern "C" fn hob_goblin_set_enabled(goblin: *mut hob_goblin, setting: hob_setting_id, enabled: u32) -> hob_result {
    goblin.with(|cell| cell.goblin.set_enabled(setting.into(), enabled != 0))
}

/// Multiplies every switch_burden, and the patience.
/// 0 to 1e9; initially 1. Below 1 while changes are hard to notice, as in a cut or a menu; above 1 while they are easy
/// to notice. At 0 changes are free, and choices follow every change of an estimate: use it only for frames in which
/// nobody sees them. Threads: exclusive.
#[entry(exclusive, hot)]
pub extern "C" fn hob_goblin_set_switch_scale(goblin: *mut hob_goblin, scale: f64) -> hob_result {
    goblin.with(|cell| cell.goblin.set_switch_scale(scale))
}

/// Multiplies the switch_burden and the patience of one setting, in addition to hob_goblin_set_switch_scale.
/// 0 to 1e9; initially 1. Below 1 for a setting whose changes are hard to notice, such as a shadow distance. A change
/// of it then counts as that share of a change in hob_goblin_desc.changes_per_second. Threads: exclusive.
#[entry(exclusive)]
pub extern "C" fn hob_goblin_set_setting_switch_scale(
    goblin: *mut hob_goblin,
    setting: hob_setting_id,
    scale: f64,
) -> hob_result {
    goblin.with(|cell| cell.goblin.set_setting_switch_scale(setting.into(), scale))
}

/// Allows more trials for the next `decisions` decisions: in a menu, on a loading screen, in a cut.
/// Any number of options may be on trial in a frame, and such a frame may exceed each limit by `share` of it, 0 to 1e9.
/// A new window replaces the present one; 0 `decisions` close it. Without effect if hob_goblin_tuning.trial_limit is
/// HOB_NO_TRIALS. Threads: exclusive.
#[entry(exclusive)]
pub extern "C" fn hob_goblin_open_trial_window(goblin: *mut hob_goblin, decisions: u32, share: f64) -> hob_result {
    goblin.with(|cell| cell.goblin.open_trial_window(decisions, share))
}

/// Reports the thermal headroom of the device behind a lane, about once a second.
/// 0 is cool, and 1 is the heat at which the device throttles: at most 100. NaN is refused. Android's
/// `getThermalHeadroom(10)` and Unreal's `GetThermalStress` have this scale. To keep more distance, report a greater
/// number.
///
/// From the first report on, the goblin uses the share of the lane's limit that keeps the headroom just below 1. The
/// share changes at most once in ten seconds, and hob_decision_lane.capacity contains it. A minute without a report
/// restores the whole limit; less than .3 of it is never used. On a lane without a limit it has no effect. Without
/// reports, costs that rise for tens of seconds are forecast, but not when the device throttles. Threads: exclusive.
#[entry(exclusive)]
pub extern "C" fn hob_goblin_set_thermal_headroom(
    goblin: *mut hob_goblin,
    lane: hob_lane,
    headroom: f64,
) -> hob_result {
    let lane = lane.check("lane")?.0;
    goblin.with(|cell| cell.goblin.set_thermal_headroom(lane, headroom))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ffi::base::argument::Argument;
    use crate::goblin::Config;

    fn config(desc: &hob_goblin_desc) -> Config {
        config_of(desc, &Config { sigmas: 7.0, node_limit: 9, ..Config::default() }).expect("the desc is valid")
    }

    #[test]
    fn initialised_and_zeroed_structs_have_the_core_defaults() {
        let tuning = hob_goblin_tuning::defaults();
        let desc = hob_goblin_desc { tuning: &raw const tuning, ..hob_goblin_desc::defaults() };
        assert_eq!(config(&desc), Config::default());

        // SAFETY: every bit pattern is a value.
        let (mut tuning, mut desc) =
            unsafe { (std::mem::zeroed::<hob_goblin_tuning>(), std::mem::zeroed::<hob_goblin_desc>()) };
        tuning.struct_size = size_of::<hob_goblin_tuning>() as u32;
        desc.struct_size = size_of::<hob_goblin_desc>() as u32;
        desc.tuning = &raw const tuning;
        // SAFETY: it is a struct of this size.
        let desc = unsafe { hob_goblin_desc::take(&raw const desc, "desc") }.expect("a zeroed struct is valid");
        assert_eq!(config(&desc), Config::default());
    }

    #[test]
    fn desc_without_tuning_keeps_the_current_tuning() {
        let kept = config(&hob_goblin_desc::defaults());
        assert_eq!((kept.sigmas, kept.node_limit), (7.0, 9));
    }

    #[test]
    fn coarse_precision_raises_the_default_node_limit() {
        let nodes = |precision: u32, node_limit: u64| {
            let tuning = hob_goblin_tuning { precision, node_limit, ..hob_goblin_tuning::defaults() };
            config(&hob_goblin_desc { tuning: &raw const tuning, ..hob_goblin_desc::defaults() }).node_limit
        };
        assert_eq!((nodes(20, 256), nodes(100, 256), nodes(101, 256)), (4096, 4096, 256));
        assert_eq!((nodes(20, 255), nodes(crate::ffi::goblin::tuning::HOB_PRECISION_PROVEN, 256)), (255, 256));
    }

    #[test]
    fn parameters_survive_a_round_trip() {
        let changed = Config {
            sigmas: 0.0,
            patience: 0.0,
            trial_limit: 0,
            precision: 0,
            switch_limit: 2.5,
            dwell: 3,
            limits: [16.0; crate::goblin::LANES],
            ..Config::default()
        };
        let tuning = hob_goblin_tuning::from(&changed);
        let desc = hob_goblin_desc { tuning: &raw const tuning, ..hob_goblin_desc::from(&changed) };
        assert_eq!(config(&desc), changed);
    }
}
