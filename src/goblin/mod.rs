//! The goblin: settings in, choices out, every frame.
//!
//! The host names *settings*, each with *options* of a certain *value*. The goblin learns what each option costs (its
//! *burden*) from measurements, and every frame picks one option of each setting such that the total value is greatest
//! while mean + sigmas × deviation of the total burden stays inside the limit. The idea, the vocabulary and the rules of
//! estimation are those of Performance Goblin (Evan Balster); `docs/decisions.md` says where we differ and why.
//!
//! A frame has two halves. [`Goblin::harvest`] closes the books on the samples that came in through
//! [`Goblin::measure`], however late: each quotes the *decision* of the frame that it belongs to. [`Goblin::decide`]
//! estimates every burden, formulates a multiple-choice knapsack, solves it, and tries an unknown option where there is
//! room ([`explore`]). [`Goblin::update`] is both.
//!
//! Neither half allocates: memory is taken when settings are added.
#![forbid(unsafe_code)]

mod calibrate;
mod capacity;
mod config;
mod decide;
mod explore;
mod harvest;
mod history;
mod setting;
mod steady;
mod task;

pub use config::{Burdens, Config, Exploration, LANES, LARGEST};
pub use decide::{Decision, Net};
pub use harvest::{Sample, Statistics};
pub use setting::{OptionDesc, SettingDesc};

use crate::base::{Code, Error, Id, Result, Slots, error};
use crate::knapsack::NO_CHOICE;
use crate::profile::{Burden, Estimate, Learned, Profile, Rules, estimate};
use calibrate::Calibration;
use capacity::Controller;
use decide::Formulation;
use harvest::Books;
use history::History;
use setting::{OptionState, Setting, check_options, check_value};
use task::Tasks;

/// Keeps a frame inside its budget. See the module's page.
#[derive(Debug)]
pub struct Goblin {
    config: Config,
    settings: Slots<Setting>,
    tasks: Tasks,
    past: Profile,
    history: History,
    books: Books,
    formulation: Formulation,
    controller: Controller,
    calibration: Calibration,
    /// Value that waiting with a better choice has cost so far.
    forgone: f64,
    /// The setting that is considered first for a trial.
    explore_cursor: usize,
    /// No trial of stale knowledge before this decision.
    next_stale_trial: u64,
    option_count: usize,
    /// The lane whose limit is kept, or was last.
    lane: usize,
}

impl Goblin {
    /// A goblin without settings.
    pub fn new(config: &Config) -> Result<Self> {
        config.check()?;
        let mut goblin = Self {
            config: *config,
            settings: Slots::default(),
            tasks: Tasks::default(),
            past: Profile::new(),
            history: History::default(),
            books: Books::default(),
            formulation: Formulation::default(),
            controller: Controller::default(),
            calibration: Calibration::default(),
            forgone: 0.0,
            explore_cursor: 0,
            next_stale_trial: 0,
            option_count: 0,
            lane: config.governed_lane(),
        };
        goblin.history.resize(config.history as usize, 1)?;
        goblin.formulation.reserve(0, 0, 0)?;
        Ok(goblin)
    }

    /// The lane whose burdens are learned.
    pub fn lane(&self) -> usize {
        self.lane
    }

    /// The parameters in force.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Exchange the parameters. What was learned stays, unless the governed lane changes: those burdens were another
    /// resource's. On an error nothing changed.
    pub fn configure(&mut self, config: &Config) -> Result<()> {
        config.check()?;
        let changes_lane = config.is_limited() && config.governed_lane() != self.lane;
        if changes_lane && self.books.statistics.samples > 0 {
            return Err(error!(
                Unsupported,
                "the governed lane cannot change from {} to {} once samples have been learned: create another goblin",
                self.lane,
                config.governed_lane()
            ));
        }
        let wanted = self.history.memory_wanted(config.history as usize, self.settings.positions());
        self.check_memory(wanted, config.memory_limit)?;
        self.history.resize(config.history as usize, self.settings.positions())?;
        self.lane = if config.is_limited() { config.governed_lane() } else { self.lane };
        self.config = *config;
        Ok(())
    }

    /// Add a setting, at any time. On an error nothing changed.
    pub fn add_setting(&mut self, desc: &SettingDesc<'_>) -> Result<Id> {
        check_options(desc.options)?;
        let options = desc.options.len();
        if usize::from(desc.default_choice) >= options.max(1) {
            return Err(error!(
                InvalidArgument,
                "setting '{}': default choice {} of {options} options does not exist", desc.id, desc.default_choice
            ));
        }
        if self.settings.len() >= self.config.max_settings as usize {
            return Err(error!(
                LimitExceeded,
                "there are {} settings already: raise max_settings or remove some", self.config.max_settings
            ));
        }
        let wanted = (self.settings.next_position() + 1).max(self.settings.positions());
        let rows = self.history.memory_wanted(self.config.history as usize, wanted);
        self.check_memory(rows + Self::memory_of(desc.id, options), self.config.memory_limit)?;
        let states = Setting::states(desc.options)?;
        self.settings.reserve_one()?;
        self.history.resize(self.config.history as usize, wanted)?;
        self.calibration.reserve(wanted)?;
        self.formulation.reserve(self.settings.len() + 1, self.option_count + options, options)?;
        let (task, dropped) = self.tasks.join(desc.id, options, &self.past)?;
        // From here on nothing fails.
        let born = self.history.latest() + 1;
        if dropped {
            self.reborn(task);
        }
        self.option_count += options;
        let mut setting = Setting {
            task,
            options: states,
            default_choice: desc.default_choice,
            has_burden: desc.has_burden,
            choice: 0,
            settled: 0,
            work: 1.0,
            born,
            on_trial: 0,
            tried: 0,
        };
        setting.choice = setting.fallback();
        setting.settled = setting.choice;
        Ok(self.settings.insert(setting))
    }

    /// Remove a setting, at any time. What was learned of its task stays, for when it comes back.
    pub fn remove_setting(&mut self, id: Id) -> Result<()> {
        let setting = self.settings.remove(id).ok_or_else(no_such_setting)?;
        self.option_count -= setting.options.len();
        self.tasks.leave(setting.task);
        Ok(())
    }

    /// Exchange a setting's options. With another count the options are others: the task's estimates are dropped and
    /// learned anew, and the log says so. On an error nothing changed.
    pub fn set_options(&mut self, id: Id, options: &[OptionDesc]) -> Result<()> {
        check_options(options)?;
        let position = self.position(id)?;
        let had = self.setting(position).options.len();
        if had == options.len() {
            let setting = self.setting_mut(position);
            setting.options.iter_mut().zip(options).for_each(|(state, &desc)| state.desc = desc);
            return Ok(());
        }
        self.check_memory(Self::memory_of("", options.len()), self.config.memory_limit)?;
        let states = Setting::states(options)?;
        let total = self.option_count - had + options.len();
        self.formulation.reserve(self.settings.len(), total, options.len())?;
        let task = self.setting(position).task;
        let others = self.settings.iter().filter(|(at, other)| other.task == task && *at != position);
        let most = others.map(|(_, other)| other.options.len()).max().unwrap_or(0).max(options.len());
        self.tasks.relearn(task, most, &self.past)?;
        // From here on nothing fails.
        self.option_count = total;
        let setting = self.setting_mut(position);
        setting.options = states;
        setting.choice = setting.fallback();
        setting.settled = setting.choice;
        self.reborn(task);
        Ok(())
    }

    /// Exchange one option's value.
    pub fn set_value(&mut self, id: Id, option: u32, value: f64) -> Result<()> {
        check_value(option as usize, value)?;
        self.option_mut(id, option)?.desc.value = value;
        Ok(())
    }

    /// Say whether an option can be chosen now.
    pub fn set_ready(&mut self, id: Id, option: u32, ready: bool) -> Result<()> {
        self.option_mut(id, option)?.desc.ready = ready;
        Ok(())
    }

    /// State how much there is to do (objects, pixels, lights): burdens are learned per unit of work.
    pub fn set_work(&mut self, id: Id, work: f64) -> Result<()> {
        if !(1.0 / LARGEST..=LARGEST).contains(&work) {
            return Err(error!(
                InvalidArgument,
                "work {work} must be above 0, from {:e} to {LARGEST:e}",
                1.0 / LARGEST
            ));
        }
        let position = self.position(id)?;
        self.setting_mut(position).work = work;
        Ok(())
    }

    /// Harvest and decide.
    pub fn update(&mut self) -> Result<Decision> {
        self.harvest();
        self.decide()
    }

    /// What the latest decision gave the setting; `None` for a setting without options.
    pub fn choice(&self, id: Id) -> Result<Option<u16>> {
        let choice = self.setting(self.position(id)?).choice;
        Ok((choice != NO_CHOICE).then_some(choice))
    }

    /// The id of the latest decision; 0 before the first.
    pub fn latest_decision(&self) -> u64 {
        self.history.latest()
    }

    /// Settings there are.
    pub fn setting_count(&self) -> usize {
        self.settings.len()
    }

    /// Options of a setting.
    pub fn option_count(&self, id: Id) -> Result<usize> {
        Ok(self.setting(self.position(id)?).options.len())
    }

    /// What an option is expected to cost now, for the setting's present work, with the samples of this run.
    pub fn estimate(&self, id: Id, option: u32) -> Result<(Burden, u64)> {
        let setting = self.setting(self.position(id)?);
        let index = option as usize;
        if index >= setting.options.len() {
            return Err(no_such_option(option, setting.options.len()));
        }
        let task = self.tasks.at(setting.task);
        let learned = &task.learned[..setting.options.len()];
        let mut burdens = crate::base::try_filled(Burden::default(), learned.len())?;
        estimate(&self.rules(), learned, task.past(), self.ratio(), &mut burdens);
        burdens[index].normal = burdens[index].normal.scaled(setting.work * self.common());
        Ok((burdens[index], learned[index].run.count()))
    }

    /// Use what a past run knew, perhaps on another machine: the ratio between the two is learned. Replaces an earlier
    /// past. On an error nothing changed.
    pub fn set_past_profile(&mut self, profile: &Profile) -> Result<()> {
        self.check_memory(2 * profile.memory_used(), self.config.memory_limit)?;
        let past = profile.try_clone()?;
        self.tasks.set_past(&past)?;
        self.past = past;
        Ok(())
    }

    /// What is known now: this run's samples, and for options that this run did not measure what the past knew, scaled
    /// to this machine. Nothing that was known is lost.
    pub fn profile(&self) -> Result<Profile> {
        let mut profile = self.past.try_clone()?;
        let ratio = self.ratio();
        if ratio != 1.0 {
            profile.scale(ratio)?;
        }
        let mut options = Vec::new();
        for task in self.tasks.iter().filter(|task| !task.learned.is_empty()) {
            options.clear();
            options.try_reserve(task.learned.len())?;
            let scaled = if task.past().is_some() { profile.find(&task.id) } else { None };
            options.extend(task.learned.iter().enumerate().map(|(index, learned)| match learned.run.count() {
                0 => scaled.map_or(Estimate::default(), |past| past[index]),
                _ => Estimate::from(&learned.run),
            }));
            let known = options.iter().any(|estimate: &Estimate| estimate.count > 0);
            if known {
                profile.set(&task.id, &options)?;
            }
        }
        Ok(profile)
    }

    /// Present over past burdens; 1 while nothing can be compared.
    pub fn ratio(&self) -> f64 {
        let both = self.tasks.iter().filter_map(|task| Some((&task.learned[..], task.past()?)));
        crate::profile::past_to_present_ratio(&self.rules(), both)
    }

    /// Bytes held.
    pub fn memory_used(&self) -> usize {
        let of_settings: usize =
            self.settings.iter().map(|(_, setting)| setting.options.capacity() * size_of::<OptionState>()).sum();
        size_of::<Self>()
            + of_settings
            + self.settings.memory_used()
            + self.tasks.memory_used()
            + self.past.memory_used()
            + self.history.memory_used()
            + self.formulation.memory_used()
            + self.calibration.memory_used()
    }

    /// The id of the setting at a position, if there is one; positions are below [`Goblin::positions`]. Settings keep
    /// their position.
    pub fn id_at(&self, position: usize) -> Option<Id> {
        self.settings.at(position).map(|_| self.settings.id_at(position))
    }

    /// Positions that settings may stand at.
    pub fn positions(&self) -> usize {
        self.settings.positions()
    }

    fn rules(&self) -> Rules {
        Rules { measure_quota: self.config.measure_quota, blind: self.config.blind() }
    }

    fn position(&self, id: Id) -> Result<usize> {
        self.settings.position(id).ok_or_else(no_such_setting)
    }

    fn setting(&self, position: usize) -> &Setting {
        self.settings.at(position).expect("a position that was just found")
    }

    fn setting_mut(&mut self, position: usize) -> &mut Setting {
        self.settings.at_mut(position).expect("a position that was just found")
    }

    fn option_mut(&mut self, id: Id, option: u32) -> Result<&mut OptionState> {
        let position = self.position(id)?;
        let options = &mut self.setting_mut(position).options;
        let count = options.len();
        options.get_mut(option as usize).ok_or_else(|| no_such_option(option, count))
    }

    /// The task's options are others now: samples of earlier decisions no longer belong to them.
    fn reborn(&mut self, task: usize) {
        let next = self.history.latest() + 1;
        for (_, setting) in self.settings.iter_mut().filter(|(_, setting)| setting.task == task) {
            setting.born = next;
            setting.on_trial = 0;
        }
    }

    /// What a setting takes beside its place in the history, from above.
    fn memory_of(id: &str, options: usize) -> usize {
        let an_option =
            size_of::<OptionState>() + size_of::<Learned>() + size_of::<Estimate>() + Formulation::PER_OPTION;
        2 * (size_of::<Setting>() + id.len() + options * an_option)
    }

    /// Refuse to grow past a memory limit.
    fn check_memory(&self, wanted: usize, limit: u64) -> Result<()> {
        let used = self.memory_used();
        if wanted > 0 && (used as u64).saturating_add(wanted as u64) > limit {
            return Err(error!(
                LimitExceeded,
                "{used} bytes are used and this may take {wanted} more, beyond the memory limit of {limit}: raise it"
            ));
        }
        Ok(())
    }
}

#[cold]
fn no_such_setting() -> Error {
    error!(NotFound, "no such setting: the id is none, or its setting was removed")
}

#[cold]
fn no_such_option(option: u32, count: usize) -> Error {
    Error::new(Code::InvalidArgument, format_args!("option {option} does not exist: the setting has {count}"))
}

#[cfg(test)]
mod tests;
