//! The calls that may change a goblin's choices.
//!
//! Calls of the host, recordings and replays all go through [`Command::apply`], so that a recording misses none.

use crate::base::{Id, Result};
use crate::goblin::config::Config;
use crate::goblin::core::Core;
use crate::goblin::learn::harvest::Sample;
use crate::goblin::question::product::ProductDesc;
use crate::goblin::question::setting::{OptionDesc, SettingDesc};
use crate::goblin::question::strategy::StrategyDesc;
use crate::profile::Profile;

/// A call that may change a goblin's choices. [`Goblin`](super::goblin::Goblin) has a method for each, with the meaning
/// of its parameters.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "each is documented at its method")]
pub enum Command<'a> {
    Configure(&'a Config),
    AddSetting(&'a SettingDesc<'a>),
    AddProduct(&'a ProductDesc<'a>),
    RemoveSetting(Id),
    SetOptions(Id, &'a [OptionDesc]),
    SetValue(Id, u32, f64),
    SetReady(Id, u32, bool),
    SetWork(Id, f64),
    SetRange(Id, u32, u32),
    SetEnabled(Id, bool),
    SetSwitchScale(f64),
    SetSettingSwitchScale(Id, f64),
    SetThermalHeadroom(u32, f64),
    OpenTrialWindow(u32, f64),
    AddStrategy(&'a StrategyDesc),
    SetStrategy(usize, &'a StrategyDesc),
    SetStrategyValue(usize, Id, u32, f64),
    SetStrategyWork(usize, Id, f64),
    SetStrategyOptionWork(usize, Id, u32, f64),
    SetPastProfile(&'a Profile),
    Measure(Id, &'a Sample),
    MeasureTotal(&'a Sample),
    Applied(Id, u64, u32),
    Harvest,
    Decide,
}

/// The result of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The command has no result.
    Done,
    /// The id of the setting that was added.
    Setting(Id),
    /// The number of the strategy that was added.
    Strategy(usize),
}

impl Answer {
    /// The id of the setting that was added; 0 otherwise.
    pub fn id(self) -> Id {
        if let Self::Setting(id) = self { id } else { Id::default() }
    }

    /// The number of the strategy that was added; 0 otherwise.
    pub fn number(self) -> usize {
        if let Self::Strategy(number) = self { number } else { 0 }
    }
}

impl Command<'_> {
    /// Make the call. On an error nothing changed that choices depend on, except for [`Command::Decide`].
    pub(in crate::goblin) fn apply(&self, core: &mut Core) -> Result<Answer> {
        match *self {
            Self::Configure(config) => core.configure(config),
            Self::AddSetting(desc) => return core.add_setting(desc).map(Answer::Setting),
            Self::AddProduct(desc) => return core.add_product(desc).map(Answer::Setting),
            Self::RemoveSetting(id) => core.remove_setting(id),
            Self::SetOptions(id, options) => core.set_options(id, options),
            Self::SetValue(id, option, value) => core.set_value(id, option, value),
            Self::SetReady(id, option, ready) => core.set_ready(id, option, ready),
            Self::SetWork(id, work) => core.set_work(id, work),
            Self::SetRange(id, first, last) => core.set_range(id, first, last),
            Self::SetEnabled(id, enabled) => core.set_enabled(id, enabled),
            Self::SetSwitchScale(scale) => core.set_switch_scale(scale),
            Self::SetSettingSwitchScale(id, scale) => core.set_setting_switch_scale(id, scale),
            Self::SetThermalHeadroom(lane, headroom) => core.set_thermal_headroom(lane, headroom),
            Self::OpenTrialWindow(decisions, share) => core.open_trial_window(decisions, share),
            Self::AddStrategy(desc) => return core.add_strategy(desc).map(Answer::Strategy),
            Self::SetStrategy(strategy, desc) => core.set_strategy(strategy, desc),
            Self::SetStrategyValue(strategy, id, option, value) => core.set_strategy_value(strategy, id, option, value),
            Self::SetStrategyWork(strategy, id, factor) => core.set_strategy_work(strategy, id, factor),
            Self::SetStrategyOptionWork(strategy, id, option, factor) => {
                core.set_strategy_option_work(strategy, id, option, factor)
            }
            Self::SetPastProfile(profile) => core.set_past_profile(profile),
            Self::Measure(id, sample) => core.measure(id, sample),
            Self::MeasureTotal(sample) => core.measure_total(sample),
            Self::Applied(id, decision, choice) => core.applied(id, decision, choice),
            Self::Harvest => {
                core.harvest();
                Ok(())
            }
            Self::Decide => core.decide(),
        }
        .map(|()| Answer::Done)
    }
}
