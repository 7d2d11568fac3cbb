//! The goblin with its recorder.

use std::ops::Deref;

use super::command::{Answer, Command};
use super::recorder::Recorder;
use crate::base::recording::Sink;
use crate::base::{Id, Result};
use crate::goblin::config::Config;
use crate::goblin::core::Core;
use crate::goblin::decision::Decision;
use crate::goblin::learn::harvest::Sample;
use crate::goblin::question::product::ProductDesc;
use crate::goblin::question::setting::{OptionDesc, SettingDesc};
use crate::goblin::question::strategy::StrategyDesc;
use crate::profile::Profile;

/// Keeps a frame inside its budget. See the [module documentation](crate::goblin). Its queries are those of the core.
#[derive(Debug)]
pub struct Goblin {
    core: Core,
    recorder: Recorder,
}

impl Deref for Goblin {
    type Target = Core;

    fn deref(&self) -> &Core {
        &self.core
    }
}

impl Goblin {
    /// A goblin without settings.
    pub fn new(config: &Config) -> Result<Self> {
        Ok(Self { core: Core::new(config, false)?, recorder: Recorder::default() })
    }

    /// A goblin that repeats a recorded run.
    pub(super) fn for_replay(config: &Config) -> Result<Self> {
        Ok(Self { core: Core::new(config, true)?, recorder: Recorder::default() })
    }

    /// Make a call, and record it if it succeeded.
    pub fn apply(&mut self, command: &Command<'_>) -> Result<Answer> {
        let answer = command.apply(&mut self.core);
        self.recorder.note(command, &answer, &self.core);
        answer
    }

    fn call(&mut self, command: &Command<'_>) -> Result<()> {
        self.apply(command).map(|_| ())
    }

    /// Record the run. `sink` gets a header at once and a block with every decision. It is an error if there is no
    /// memory for the buffer, or if an earlier call changed something: a replay needs the whole run.
    pub fn record(&mut self, sink: Box<dyn Sink>) -> Result<()> {
        self.recorder.begin(sink, self.core.config())
    }

    /// End the recording, if there is one. It cannot be resumed.
    pub fn stop_recording(&mut self) {
        self.recorder.stop();
    }

    /// Whether the run is being recorded.
    pub fn is_recording(&self) -> bool {
        self.recorder.is_on()
    }

    /// Bytes held.
    pub fn memory_used(&self) -> usize {
        self.core.memory_used() + self.recorder.memory_used()
    }

    /// Replace the parameters. Estimates are kept on lanes that are still governed. On an error nothing changed.
    pub fn configure(&mut self, config: &Config) -> Result<()> {
        self.call(&Command::Configure(config))
    }

    /// Add a setting, at any time. On an error nothing changed.
    pub fn add_setting(&mut self, desc: &SettingDesc<'_>) -> Result<Id> {
        self.apply(&Command::AddSetting(desc)).map(Answer::id)
    }

    /// Add a product setting. On an error nothing changed.
    pub fn add_product(&mut self, desc: &ProductDesc<'_>) -> Result<Id> {
        self.apply(&Command::AddProduct(desc)).map(Answer::id)
    }

    /// Remove a setting, at any time. The estimates of its task are kept in case it returns.
    pub fn remove_setting(&mut self, id: Id) -> Result<()> {
        self.call(&Command::RemoveSetting(id))
    }

    /// Replace a setting's options. With another count the options are new: the task's estimates are dropped and
    /// learned again, and this is logged. A product keeps its count and its works. On an error nothing changed.
    pub fn set_options(&mut self, id: Id, options: &[OptionDesc]) -> Result<()> {
        self.call(&Command::SetOptions(id, options))
    }

    /// Replace one option's value.
    pub fn set_value(&mut self, id: Id, option: u32, value: f64) -> Result<()> {
        self.call(&Command::SetValue(id, option, value))
    }

    /// Declare whether an option can be chosen now.
    pub fn set_ready(&mut self, id: Id, option: u32, ready: bool) -> Result<()> {
        self.call(&Command::SetReady(id, option, ready))
    }

    /// Set the amount of work (objects, pixels, lights): burdens are learned per unit of work.
    pub fn set_work(&mut self, id: Id, work: f64) -> Result<()> {
        self.call(&Command::SetWork(id, work))
    }

    /// Allow only the options from `first` to `last`: a floor and a ceiling; the same option twice is a pin. If no
    /// allowed option is ready, the default choice is used, limited to this range.
    pub fn set_range(&mut self, id: Id, first: u32, last: u32) -> Result<()> {
        self.call(&Command::SetRange(id, first, last))
    }

    /// Enable or disable a setting. While disabled it is not part of decisions: it costs nothing, is worth nothing, and
    /// keeps its choice.
    pub fn set_enabled(&mut self, id: Id, enabled: bool) -> Result<()> {
        self.call(&Command::SetEnabled(id, enabled))
    }

    /// Set the factor on the price of changes, until the next call. Below 1 if changes are hard to notice, as in a cut;
    /// above 1 if they are easy to notice.
    pub fn set_switch_scale(&mut self, scale: f64) -> Result<()> {
        self.call(&Command::SetSwitchScale(scale))
    }

    /// Set the factor on the price of changes of one setting, until the next call. Below 1 if its changes are hard to
    /// notice, above 1 if they are easy to notice. The factor on all settings also applies.
    pub fn set_setting_switch_scale(&mut self, id: Id, scale: f64) -> Result<()> {
        self.call(&Command::SetSettingSwitchScale(id, scale))
    }

    /// Report the thermal headroom of a lane's device, expected in about ten seconds. 0 is cool, 1 is the heat at which
    /// it throttles. NaN is refused.
    pub fn set_thermal_headroom(&mut self, lane: u32, headroom: f64) -> Result<()> {
        self.call(&Command::SetThermalHeadroom(lane, headroom))
    }

    /// Open a window of `decisions` from the next one on, for a menu, a loading screen or a cut. In it the number of
    /// trials is not limited, and frames may exceed the limits by `share` of them. 0 decisions close the window.
    pub fn open_trial_window(&mut self, decisions: u32, share: f64) -> Result<()> {
        self.call(&Command::OpenTrialWindow(decisions, share))
    }

    /// Add a strategy. Returns its number. On an error nothing changed.
    pub fn add_strategy(&mut self, desc: &StrategyDesc) -> Result<usize> {
        self.apply(&Command::AddStrategy(desc)).map(Answer::number)
    }

    /// Change a strategy's limits and incentive. Strategy 0 has its limits in the configuration, so only its incentive
    /// changes.
    pub fn set_strategy(&mut self, strategy: usize, desc: &StrategyDesc) -> Result<()> {
        self.call(&Command::SetStrategy(strategy, desc))
    }

    /// Set the value of an option under a strategy other than 0.
    pub fn set_strategy_value(&mut self, strategy: usize, id: Id, option: u32, value: f64) -> Result<()> {
        self.call(&Command::SetStrategyValue(strategy, id, option, value))
    }

    /// Set the factor on a setting's work under a strategy other than 0.
    pub fn set_strategy_work(&mut self, strategy: usize, id: Id, factor: f64) -> Result<()> {
        self.call(&Command::SetStrategyWork(strategy, id, factor))
    }

    /// Set the factor on one option's work under a strategy other than 0. It multiplies that of the setting.
    pub fn set_strategy_option_work(&mut self, strategy: usize, id: Id, option: u32, factor: f64) -> Result<()> {
        self.call(&Command::SetStrategyOptionWork(strategy, id, option, factor))
    }

    /// Use the profile of a past run, perhaps of another machine: the ratio between the two is learned. Replaces an
    /// earlier past profile. On an error nothing changed.
    pub fn set_past_profile(&mut self, profile: &Profile) -> Result<()> {
        self.call(&Command::SetPastProfile(profile))
    }

    /// Report a sample of the cost of a setting's choice. On an error nothing was learned.
    pub fn measure(&mut self, id: Id, sample: &Sample) -> Result<()> {
        self.call(&Command::Measure(id, sample))
    }

    /// Report the cost of a whole frame on a lane. The part that settings do not report is learned as a fixed burden.
    /// [`Burdens::Relative`](crate::goblin::Burdens) and [`Burdens::Totals`](crate::goblin::Burdens) use totals alone.
    pub fn measure_total(&mut self, sample: &Sample) -> Result<()> {
        self.call(&Command::MeasureTotal(sample))
    }

    /// Report that the host applied another choice in that frame than was decided. Its samples belong to this choice.
    pub fn applied(&mut self, id: Id, decision: u64, choice: u32) -> Result<()> {
        self.call(&Command::Applied(id, decision, choice))
    }

    /// Close the harvest: the samples since the last one.
    pub fn harvest(&mut self) {
        // A harvest cannot fail.
        _ = self.call(&Command::Harvest);
    }

    /// Choose an option for every setting. On an error the previous choices stay in force.
    pub fn decide(&mut self) -> Result<Decision> {
        self.call(&Command::Decide)?;
        Ok(*self.core.decision())
    }

    /// Harvest and decide.
    pub fn update(&mut self) -> Result<Decision> {
        self.harvest();
        self.decide()
    }
}
