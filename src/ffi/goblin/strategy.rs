//! `goblin.h`: strategies.

use super::base::hob_result;
use super::callbacks::exclusive;
use super::goblin::{HOB_LANE_COUNT, hob_goblin, hob_lane_desc, hob_setting_id};
use super::guard::guard;
use super::handle::inspect;
use super::layout::{Out, Versioned, init_struct, read_struct};
use crate::goblin::StrategyDesc;

/// A strategy: other limits for the same settings, such as those of 30 frames a second beside those of 60. In every
/// decision the best choice under each strategy is found, and the best net value wins: that of the choice and the
/// strategy's own incentive. A better strategy is waited with until what it would have gained, added up, is `patience`
/// times the difference between the highest and the lightest value; it is taken at once where the old one no longer
/// fits and it does.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_strategy_desc {
    /// sizeof(hob_strategy_desc); set by hob_strategy_desc_init.
    pub struct_size: u32,
    /// Zero.
    pub reserved: u32,
    /// Its limits, by hob_lane. Default INFINITY: none.
    pub lanes: [hob_lane_desc; HOB_LANE_COUNT],
    /// What it is worth beside its choices, such as what 60 frames a second are worth by themselves. -1e9 to 1e9;
    /// default
    /// 0. -1e9 takes it out of the game.
    pub incentive: f64,
}

// SAFETY: repr(C), begins with struct_size, numbers.
unsafe impl Versioned for hob_strategy_desc {
    const NAME: &'static str = "hob_strategy_desc";
    const FIRST_SIZE: usize = 80;
    fn defaults() -> Self {
        Self {
            struct_size: size_of::<Self>() as u32,
            reserved: 0,
            lanes: [hob_lane_desc { limit: f64::INFINITY }; HOB_LANE_COUNT],
            incentive: 0.0,
        }
    }
}

impl From<hob_strategy_desc> for StrategyDesc {
    fn from(desc: hob_strategy_desc) -> Self {
        Self { limits: desc.lanes.map(|lane| lane.limit), incentive: desc.incentive }
    }
}

/// Fill in defaults; `size` is sizeof(hob_strategy_desc). Usually by HOB_STRATEGY_DESC_INIT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_strategy_desc_init(desc: *mut hob_strategy_desc, size: u32) -> hob_result {
    // SAFETY: the header's contract.
    guard(|| unsafe { init_struct(desc, size) })
}

/// Add a strategy; `*out_strategy` gets its number. Number 0 is there from the start: the limits of hob_goblin_desc.
/// There can be 15 others. Each costs a decision another solve. Lanes that had no limit are learned from now on, and
/// samples of earlier decisions are refused then. Threads: exclusive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_goblin_add_strategy(
    goblin: *mut hob_goblin,
    desc: *const hob_strategy_desc,
    out_strategy: *mut u32,
) -> hob_result {
    // SAFETY: the header's contract.
    unsafe {
        exclusive(goblin, |held| {
            let out = Out::new(out_strategy, "out_strategy")?;
            let desc = read_struct(desc)?.into();
            out.write(held.with(|cell| cell.goblin.add_strategy(&desc))? as u32);
            Ok(())
        })
    }
}

/// Exchange a strategy's limits and incentive; of strategy 0 the incentive only, for its limits are changed by
/// hob_goblin_configure and must be INFINITY here. HOB_RESULT_NOT_FOUND for a number that was not given.
/// Threads: exclusive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_goblin_set_strategy(
    goblin: *mut hob_goblin,
    strategy: u32,
    desc: *const hob_strategy_desc,
) -> hob_result {
    // SAFETY: the header's contract.
    unsafe {
        exclusive(goblin, |held| {
            let desc = read_struct(desc)?.into();
            held.with(|cell| cell.goblin.set_strategy(strategy as usize, &desc))
        })
    }
}

/// Give an option another value under a strategy; -1e9 to 1e9. Strategy 0 has the options' own values, which
/// hob_goblin_set_value changes. Forgotten when the setting gets another number of options. Threads: exclusive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_goblin_set_strategy_value(
    goblin: *mut hob_goblin,
    strategy: u32,
    setting: hob_setting_id,
    option: u32,
    value: f64,
) -> hob_result {
    // SAFETY: the header's contract.
    unsafe {
        exclusive(goblin, |held| {
            held.with(|cell| cell.goblin.set_strategy_value(strategy as usize, setting.into(), option, value))
        })
    }
}

/// Multiply a setting's work under a strategy by `factor`, 1e-9 to 1e9: what is updated every other frame costs half.
/// Samples of decisions under the strategy are taken to be of that work. Strategy 0 has the setting's own, see
/// hob_goblin_set_work. Forgotten when the setting gets another number of options. Threads: exclusive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_goblin_set_strategy_work(
    goblin: *mut hob_goblin,
    strategy: u32,
    setting: hob_setting_id,
    factor: f64,
) -> hob_result {
    // SAFETY: the header's contract.
    unsafe {
        exclusive(goblin, |held| {
            held.with(|cell| cell.goblin.set_strategy_work(strategy as usize, setting.into(), factor))
        })
    }
}

/// The net value of a strategy's best choice in the last decision: by how much the one in force is ahead, or held. 0
/// before the first decision, and where there is but one strategy. Threads: shared.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_goblin_strategy_net(
    goblin: *const hob_goblin,
    strategy: u32,
    out_net: *mut f64,
) -> hob_result {
    // SAFETY: the header's contract.
    unsafe {
        inspect(goblin, |cell| {
            let out = Out::new(out_net, "out_net")?;
            out.write(cell.goblin.strategy_net(strategy as usize)?);
            Ok(())
        })
    }
}
