//! The state of a goblin, and what all its rooms share: lanes, memory and queries.

use super::choose::pace::Pace;
use super::choose::reason::{Reason, Why};
use super::choose::steady::Target;
use super::choose::watch::Watch;
use super::config::{Burdens, Config, LANES};
use super::decide::Decision;
use super::explore::Explorer;
use super::lanes::Lanes;
use super::learn::calibrate::Calibration;
use super::learn::capacity::Controller;
use super::learn::harvest::Books;
use super::learn::history::History;
use super::learn::hold::Hold;
use super::learn::regression::Regression;
use super::learn::task::{Tasks, key_in_profile};
use super::published::Published;
use super::question::formulate::Formulation;
use super::question::setting::Setting;
use super::question::strategy::Strategies;
use super::warnings::Warnings;
use crate::base::{Code, Error, Id, Result, Shared, Slots, error, try_collect_all};
use crate::knapsack::NO_CHOICE;
use crate::profile::{Burden, Estimate, Learned, Profile, Rules, estimate};

/// The goblin without its recorder.
#[derive(Debug)]
pub struct Core {
    pub(super) config: Config,
    pub(super) lanes: Lanes,
    pub(super) settings: Slots<Setting>,
    pub(super) tasks: Tasks,
    pub(super) past: Profile,
    /// Ratios of present to past burdens, by governed lane.
    pub(super) ratios: [f64; LANES],
    pub(super) history: History,
    pub(super) books: Books,
    pub(super) formulation: Formulation,
    pub(super) strategies: Strategies,
    pub(super) net_of_first: f64,
    pub(super) controller: Controller,
    pub(super) regression: Regression,
    /// By governed lane.
    pub(super) calibrations: Vec<Calibration>,
    /// Totals of decisions before this one are not used: a setting of theirs was removed or got other options.
    pub(super) totals_from: u64,
    /// Part of the totals that no setting reports, by governed lane.
    pub(super) residuals: Vec<Learned>,
    /// The latest decision with a reported total, by governed lane.
    pub(super) latest_totals: [u64; LANES],
    pub(super) target: Target,
    pub(super) pace: Pace,
    /// By governed lane.
    pub(super) holds: [Hold; LANES],
    pub(super) watch: Watch,
    /// The host's factor on the price of changes.
    pub(super) switch_scale: f64,
    pub(super) explorer: Explorer,
    pub(super) option_count: usize,
    pub(super) warnings: Warnings,
    /// Repeats a recorded run: accepts all recorded input, and logs no warnings.
    pub(super) is_replay: bool,
    pub(super) published: Shared<Published>,
    /// The latest decision.
    pub(super) decision: Decision,
}

impl Core {
    /// A goblin without settings.
    pub(super) fn new(config: &Config, is_replay: bool) -> Result<Self> {
        config.check(is_replay)?;
        let mut goblin = Self {
            config: *config,
            lanes: Lanes::limited(|lane| config.limits[lane].is_finite()),
            settings: Slots::default(),
            tasks: Tasks::default(),
            past: Profile::new(),
            ratios: [1.0; LANES],
            history: History::default(),
            books: Books::default(),
            formulation: Formulation::default(),
            strategies: Strategies::default(),
            net_of_first: 0.0,
            controller: Controller::default(),
            regression: Regression::default(),
            calibrations: Vec::new(),
            totals_from: 0,
            residuals: Vec::new(),
            latest_totals: [0; LANES],
            target: Target::default(),
            pace: Pace::default(),
            holds: [Hold::default(); LANES],
            watch: Watch::default(),
            switch_scale: 1.0,
            explorer: Explorer::default(),
            option_count: 0,
            warnings: Warnings::default(),
            is_replay,
            published: Shared::try_new(Published::new(config.history as usize)?)?,
            decision: Decision::default(),
        };
        let lanes = goblin.lanes.count();
        goblin.calibrations.try_reserve(lanes)?;
        goblin.calibrations.resize_with(lanes, Calibration::default);
        goblin.residuals = crate::base::try_filled(Learned::NOTHING, lanes)?;
        goblin.history.resize(config.history as usize, 1, lanes)?;
        goblin.formulation.reserve(0, 0, 0, lanes)?;
        Ok(goblin)
    }

    /// The first governed lane, by the host's number.
    pub fn lane(&self) -> usize {
        self.lanes.lane(0)
    }

    /// Whether the host's lane is governed.
    pub fn governs(&self, lane: usize) -> bool {
        self.lanes.index(lane).is_some()
    }

    /// The present parameters.
    pub fn config(&self) -> &Config {
        &self.config
    }

    pub(super) fn configure(&mut self, config: &Config) -> Result<()> {
        config.check(self.is_replay)?;
        let lanes = self.lanes_with(config, None);
        let (depth, positions) = (config.history as usize, self.settings.positions());
        let wanted = self.history.memory_wanted(depth, positions, lanes.count());
        self.check_memory(wanted + self.published.memory_wanted(depth, positions), config.memory_limit)?;
        if config.burdens == Burdens::Totals && self.config.burdens != Burdens::Totals {
            let Self { settings, regression, .. } = self;
            for (position, setting) in settings.iter() {
                regression
                    .set_options(position, &mut setting.options.iter().map(|state| state.desc.relative_burden))?;
            }
        }
        self.published.reserve(depth, positions)?;
        if lanes != self.lanes {
            self.govern_with(lanes, depth)?;
        } else {
            self.history.resize(depth, positions, lanes.count())?;
        }
        if config.limits != self.config.limits {
            self.target.unsettle(self.history.latest());
        }
        self.config = *config;
        self.published.set_depth(depth);
        Ok(())
    }

    /// The lanes with a limit in this configuration, a strategy, or `another`; the present lanes if no lane has one.
    pub(super) fn lanes_with(&self, config: &Config, another: Option<&[f64; LANES]>) -> Lanes {
        let is_limited = |lane: usize| {
            config.limits[lane].is_finite()
                || self.strategies.limit_lane(lane)
                || another.is_some_and(|limits| limits[lane].is_finite())
        };
        // Estimates are kept in case the limit returns.
        if (0..LANES).any(is_limited) { Lanes::limited(is_limited) } else { self.lanes }
    }

    /// Govern other lanes. On an error nothing changed.
    pub(super) fn govern(&mut self, lanes: Lanes) -> Result<()> {
        if lanes == self.lanes { Ok(()) } else { self.govern_with(lanes, self.config.history as usize) }
    }

    pub(super) fn govern_with(&mut self, lanes: Lanes, depth: usize) -> Result<()> {
        let count = lanes.count();
        let widest = self.settings.iter().map(|(_, setting)| setting.options.len()).max().unwrap_or(0);
        let calibrations = try_collect_all((0..count).map(|_| {
            let mut calibration = Calibration::default();
            calibration.reserve(self.settings.positions()).map(|()| calibration)
        }))?;
        let residuals = crate::base::try_filled(Learned::NOTHING, count)?;
        self.formulation.reserve(self.settings.len(), self.option_count, widest, count)?;
        self.tasks.set_lanes(&self.lanes, &lanes, &self.past)?;
        if let Err(error) = self.history.resize(depth, self.settings.positions(), count) {
            // Undo. This only drops estimates of lanes that are not governed in either case.
            self.tasks.set_lanes(&lanes, &self.lanes, &self.past)?;
            return Err(error);
        }
        // Nothing below can fail.
        self.watch = Watch::default();
        let before = std::mem::replace(&mut self.lanes, lanes);
        let mut old = std::mem::replace(&mut self.calibrations, calibrations);
        let old_residuals = std::mem::replace(&mut self.residuals, residuals);
        let old_totals = std::mem::take(&mut self.latest_totals);
        for (index, lane) in lanes.iter().enumerate() {
            if let Some(at) = before.index(lane) {
                std::mem::swap(&mut self.calibrations[index], &mut old[at]);
                self.residuals[index] = old_residuals[at];
                self.latest_totals[index] = old_totals[at];
            } else {
                self.warnings.govern(lane, self.history.latest() + 1);
            }
        }
        self.refresh_ratios();
        Ok(())
    }

    /// The reason for a setting's choice.
    pub fn reason(&self, id: Id) -> Result<Reason> {
        let setting = self.setting(self.position(id)?);
        let (from, to, since) = (setting.settled, setting.choice, setting.changed);
        if !setting.enabled {
            return Ok(Reason { why: Why::Disabled, to, ..setting.reason });
        }
        if from != to {
            let why = if setting.is_tried { Why::Trial } else { Why::MakesRoom };
            return Ok(Reason { why, from, to, since, ..setting.reason });
        }
        Ok(setting.reason)
    }

    /// The choice of the latest decision for the setting; `None` for a setting without options.
    pub fn choice(&self, id: Id) -> Result<Option<u16>> {
        let choice = self.setting(self.position(id)?).choice;
        Ok((choice != NO_CHOICE).then_some(choice))
    }

    /// The choices of this goblin's decisions, for other threads to read at any time.
    pub fn published(&self) -> &Shared<Published> {
        &self.published
    }

    /// The id of the latest decision; 0 before the first.
    pub fn latest_decision(&self) -> u64 {
        self.history.latest()
    }

    /// The latest decision.
    pub fn decision(&self) -> &Decision {
        &self.decision
    }

    /// The active strategy.
    pub fn active_strategy(&self) -> usize {
        self.strategies.active()
    }

    /// The choice in force of the setting at a position; `NO_CHOICE` without one.
    pub(super) fn choice_at(&self, position: usize) -> u16 {
        self.settings.at(position).map_or(NO_CHOICE, |setting| setting.choice)
    }

    /// Number of settings.
    pub fn setting_count(&self) -> usize {
        self.settings.len()
    }

    /// Options of a setting.
    pub fn option_count(&self, id: Id) -> Result<usize> {
        Ok(self.setting(self.position(id)?).options.len())
    }

    /// Expected burden of an option on a lane now, for the setting's present work, and its number of samples in this
    /// run.
    pub fn estimate(&self, id: Id, option: u32, lane: usize) -> Result<(Burden, u64)> {
        let position = self.position(id)?;
        let setting = self.setting(position);
        let index = option as usize;
        if index >= setting.options.len() {
            return Err(no_such_option(option, setting.options.len()));
        }
        let Some(lane) = self.lanes.index(lane) else {
            return Err(error!(NotFound, "lane {lane} has no limit, so nothing is learned on it"));
        };
        if self.config.burdens == Burdens::Totals && lane == 0 {
            let work = setting.work_of(index) * self.strategies.work(position, index);
            return Ok((self.regression.burden(position, index, work), self.books.statistics.totals));
        }
        let task = self.tasks.at(setting.task);
        let learned = task.learned(lane);
        let mut burdens = crate::base::try_filled(Burden::default(), learned.len())?;
        estimate(&self.rules(), learned, task.past(lane), self.ratio_on(lane), &mut burdens);
        let cell = setting.cell(index);
        let work = setting.work_of(index) * self.strategies.work(position, index) * self.common_factors()[lane];
        burdens[cell].normal = burdens[cell].normal.scaled(work);
        Ok((burdens[cell], learned[cell].measured.count()))
    }

    /// Mean part of totals that the samples do not explain, on a lane; 0 while unknown.
    pub fn residual(&self, lane: usize) -> f64 {
        self.lanes.index(lane).map_or(0.0, |lane| self.residuals[lane].steady.normal().mean)
    }

    /// Number of strategies; 1 if the host has added none.
    pub fn strategy_count(&self) -> usize {
        self.strategies.count()
    }

    pub(super) fn set_past_profile(&mut self, profile: &Profile) -> Result<()> {
        self.check_memory(2 * profile.memory_used(), self.config.memory_limit)?;
        let past = profile.try_clone()?;
        self.tasks.set_past(&self.lanes, &past)?;
        self.past = past;
        self.refresh_ratios();
        Ok(())
    }

    /// The measured costs per unit of work: this run's samples, unchanged, and for options without samples the past
    /// estimates, scaled to this machine. All other past estimates are kept.
    pub fn profile(&self) -> Result<Profile> {
        let mut profile = self.past.try_clone()?;
        let ratio = self.ratio();
        if ratio != 1.0 {
            profile.scale(ratio)?;
        }
        let mut options = Vec::new();
        for task in self.tasks.iter().filter(|task| task.cells > 0) {
            for lane in 0..self.lanes.count() {
                let key = key_in_profile(&task.id, &self.lanes, lane)?;
                let (past, ratio) = (task.past(lane), self.ratio_on(lane));
                options.clear();
                options.try_reserve(task.cells)?;
                options.extend(task.learned(lane).iter().enumerate().map(|(cell, learned)| {
                    match learned.measured.count() {
                        0 => past.map_or(Estimate::default(), |past| scaled(past[cell], ratio)),
                        _ => Estimate::from(&learned.measured),
                    }
                }));
                if options.iter().any(|estimate: &Estimate| estimate.count > 0) {
                    profile.set(&key, &options)?;
                }
            }
        }
        Ok(profile)
    }

    /// Ratio of present to past burdens on the first governed lane; 1 while there is nothing to compare.
    pub fn ratio(&self) -> f64 {
        self.ratio_on(0)
    }

    pub(super) fn ratio_on(&self, lane: usize) -> f64 {
        if self.past.tasks().is_empty() {
            return 1.0;
        }
        let both = self.tasks.iter().filter_map(|task| Some((task.learned(lane), task.past(lane)?)));
        crate::profile::past_to_present_ratio(&self.rules(), both)
    }

    /// Update the ratios of present to past burdens on all lanes.
    pub(super) fn refresh_ratios(&mut self) {
        for lane in 0..self.lanes.count() {
            self.ratios[lane] = self.ratio_on(lane);
        }
    }

    /// Bytes held.
    pub fn memory_used(&self) -> usize {
        let of_settings: usize = self.settings.iter().map(|(_, setting)| setting.memory_used()).sum();
        let of_calibrations: usize = self.calibrations.iter().map(Calibration::memory_used).sum();
        size_of::<Self>()
            + of_settings
            + of_calibrations
            + self.calibrations.capacity() * size_of::<Calibration>()
            + self.residuals.capacity() * size_of::<Learned>()
            + self.settings.memory_used()
            + self.tasks.memory_used()
            + self.past.memory_used()
            + self.history.memory_used()
            + self.formulation.memory_used()
            + self.strategies.memory_used()
            + self.regression.memory_used()
            + self.published.memory_used()
    }

    /// The id of the setting at a position, if there is one. Positions are below [`Core::positions`]. Settings keep
    /// their position.
    pub fn id_at(&self, position: usize) -> Option<Id> {
        self.settings.at(position).map(|_| self.settings.id_at(position))
    }

    /// Upper bound of the positions of settings.
    pub fn positions(&self) -> usize {
        self.settings.positions()
    }

    pub(super) fn rules(&self) -> Rules {
        Rules { measure_quota: self.config.measure_quota, blind: self.config.blind() }
    }

    pub(super) fn position(&self, id: Id) -> Result<usize> {
        self.settings.position(id).ok_or_else(no_such_setting)
    }

    pub(super) fn setting(&self, position: usize) -> &Setting {
        self.settings.at(position).expect("a position that was just found")
    }

    pub(super) fn setting_mut(&mut self, position: usize) -> &mut Setting {
        self.settings.at_mut(position).expect("a position that was just found")
    }

    /// The task's options changed: samples of earlier decisions no longer belong to them.
    pub(super) fn invalidate_samples(&mut self, task: usize) {
        let next = self.history.latest() + 1;
        self.totals_from = next;
        for (_, setting) in self.settings.iter_mut().filter(|(_, setting)| setting.task == task) {
            setting.valid_from = next;
            setting.on_trial = 0;
        }
    }

    /// Fail if `wanted` more bytes exceed the memory limit.
    pub(super) fn check_memory(&self, wanted: usize, limit: u64) -> Result<()> {
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

fn scaled(past: Estimate, ratio: f64) -> Estimate {
    Estimate { mean: past.mean * ratio, deviation: past.deviation * ratio, ..past }
}

pub fn no_such_setting() -> Error {
    error!(NotFound, "no such setting: the id is invalid, or the setting was removed")
}

pub fn no_such_option(option: u32, count: usize) -> Error {
    Error::new(Code::InvalidArgument, format_args!("option {option} does not exist: the setting has {count}"))
}
