//! `goblin.h`: strategies.

use hobgoblin_macros::{entry, versioned};

use super::create::hob_goblin;
use super::ids::{HOB_LANE_COUNT, hob_lane_desc, hob_setting_id, limits_of};
use crate::ffi::base::result::hob_result;
use crate::goblin::StrategyDesc;

// == Experimental: strategies ==

/// Parameters of a strategy: other limits for the same settings, such as those of 30 frames a second beside 60.
/// Every decision finds the best choices under each strategy. The greatest net value wins: the chosen values plus the
/// strategy's incentive. A better strategy's gains must first add up to `patience` times the difference of
/// highest_value and lightest_value, unless the present one no longer fits.
#[versioned(size = 80, last = incentive)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_strategy_desc {
    /// sizeof(hob_strategy_desc).
    pub struct_size: u32,
    /// Must be 0.
    pub reserved: u32,
    /// The limits, by hob_lane; those of hob_goblin_desc do not apply. Default: none.
    pub lanes: [hob_lane_desc; HOB_LANE_COUNT],
    /// Its own worth, such as that of 60 frames a second. -1e9 to 1e9. Default 0. -1e9: it is chosen only if no
    /// other one fits better.
    pub incentive: f64,
}

impl From<hob_strategy_desc> for StrategyDesc {
    fn from(desc: hob_strategy_desc) -> Self {
        Self { limits: limits_of(&desc.lanes), incentive: desc.incentive }
    }
}

/// Adds a strategy; `*out_strategy` receives its number.
/// Number 0 always exists and has the limits of hob_goblin_desc; there can be 15 more. Each adds one solve to a
/// decision. If a lane gains its first limit, samples of earlier decisions are refused. Threads: exclusive.
#[entry(exclusive, experimental)]
pub extern "C" fn hob_goblin_add_strategy(
    goblin: *mut hob_goblin,
    desc: *const hob_strategy_desc,
    out_strategy: *mut u32,
) -> hob_result {
    out_strategy.write(goblin.with(|cell| cell.goblin.add_strategy(&desc.into()))? as u32);
    Ok(())
}

/// Changes a strategy's limits and incentive.
/// HOB_RESULT_NOT_FOUND for an unknown number. For strategy 0 only the incentive is used: hob_goblin_set_desc changes
/// its limits. Threads: exclusive.
#[entry(exclusive, experimental)]
pub extern "C" fn hob_goblin_set_strategy(
    goblin: *mut hob_goblin,
    strategy: u32,
    desc: *const hob_strategy_desc,
) -> hob_result {
    goblin.with(|cell| cell.goblin.set_strategy(strategy as usize, &desc.into()))
}

/// Sets the value of an option under a strategy other than 0; -1e9 to 1e9.
/// It is dropped when the setting gets a different number of options. Threads: exclusive.
#[entry(exclusive, experimental)]
pub extern "C" fn hob_goblin_set_strategy_value(
    goblin: *mut hob_goblin,
    strategy: u32,
    setting: hob_setting_id,
    option: u32,
    value: f64,
) -> hob_result {
    goblin.with(|cell| cell.goblin.set_strategy_value(strategy as usize, setting.into(), option, value))
}

/// Multiplies a setting's work under a strategy other than 0 by `factor`, 1e-9 to 1e9.
/// For example, a pass that runs every other frame costs half. Samples of decisions under the strategy are taken to
/// have that work. It is dropped when the setting gets a different number of options. Threads: exclusive.
#[entry(exclusive, experimental)]
pub extern "C" fn hob_goblin_set_strategy_work(
    goblin: *mut hob_goblin,
    strategy: u32,
    setting: hob_setting_id,
    factor: f64,
) -> hob_result {
    goblin.with(|cell| cell.goblin.set_strategy_work(strategy as usize, setting.into(), factor))
}

/// Multiplies one option's work under a strategy other than 0 by `factor`, 1e-9 to 1e9.
/// It is for options whose costs differ by other factors, such as a simulation with twice the steps in its highest
/// option only. The factor of hob_goblin_set_strategy_work also applies. It is dropped when the setting gets a
/// different number of options. Threads: exclusive.
#[entry(exclusive, experimental)]
pub extern "C" fn hob_goblin_set_strategy_option_work(
    goblin: *mut hob_goblin,
    strategy: u32,
    setting: hob_setting_id,
    option: u32,
    factor: f64,
) -> hob_result {
    goblin.with(|cell| cell.goblin.set_strategy_option_work(strategy as usize, setting.into(), option, factor))
}

/// Gets the net value of a strategy's best choices in the latest decision.
/// 0 before the first decision, and if there is only one strategy. Threads: shared.
#[entry(shared, experimental)]
pub extern "C" fn hob_goblin_get_strategy_net(
    goblin: *const hob_goblin,
    strategy: u32,
    out_net: *mut f64,
) -> hob_result {
    out_net.write(goblin.goblin.strategy_net(strategy as usize)?);
    Ok(())
}
