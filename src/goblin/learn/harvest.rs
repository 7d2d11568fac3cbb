//! The first half of a frame: samples are collected.

use crate::base::Number;
use crate::base::{Id, Result, error};
use crate::knapsack::NO_CHOICE;
use crate::profile::{Learned, add_to_task};

use super::history::{Forecast, Given};
use crate::goblin::config::{Burdens, Exploration, LANES, LARGEST};
use crate::goblin::core::Core;
use crate::goblin::tuning::TUNING;

/// A measurement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// The decision of the measured frame; 0 for the latest.
    pub decision: u64,
    /// The measured lane.
    pub lane: u32,
    /// The cost, in the lane's unit.
    pub burden: f64,
    /// Whether to learn from it. False if vsync capped it, a hitch spoiled it, or the game was paused.
    pub good: bool,
}

/// Counts of the samples so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Statistics {
    /// Samples learned from.
    pub samples: u64,
    /// Samples that the host flagged as bad: counted, not learned from.
    pub flagged: u64,
    /// Samples of a lane without a limit, or of a setting without a burden: counted, not learned from.
    pub ungoverned: u64,
    /// Rejected samples: their decision is no longer, or not yet, remembered.
    pub refused: u64,
    /// Frame totals reported.
    pub totals: u64,
    /// Frame totals over the limit.
    pub totals_over: u64,
    /// The last harvest's samples over their typical cost, on the first governed lane; 1 is normal. 0 before the first.
    pub anomaly: f64,
    /// The same, exponentially smoothed as recent burdens are.
    pub recent_anomaly: f64,
}

/// Counts, and the sums of the present harvest.
#[derive(Debug, Default)]
pub struct Books {
    pub statistics: Statistics,
    measured_sum: f64,
    typical_sum: f64,
}

impl Core {
    pub(in crate::goblin) fn measure(&mut self, id: Id, sample: &Sample) -> Result<()> {
        self.take(id, sample)?;
        Ok(())
    }

    fn take(&mut self, id: Id, sample: &Sample) -> Result<()> {
        check_sample(sample)?;
        let position = self.position(id)?;
        let Given { choice, work } = self.given(position, sample.decision)?;
        self.warnings.measured(sample.lane as usize);
        let decision = self.decision_of(sample.decision);
        let statistics = &mut self.books.statistics;
        if !sample.good {
            statistics.flagged += 1;
            self.history.spoil(decision);
            return Ok(());
        }
        let setting = self.settings.at_mut(position).expect("a position that was just found");
        let Some(lane) = self.lanes.index(sample.lane as usize).filter(|_| setting.has_burden) else {
            statistics.ungoverned += 1;
            return Ok(());
        };
        statistics.samples += 1;
        setting.options[usize::from(choice)].lost_trials = 0;
        let first = setting.first_of_cell(usize::from(choice));
        let measured = &mut setting.options[first].measured;
        *measured = (*measured).max(decision);
        if setting.on_trial == decision {
            setting.on_trial = 0;
            if lane == 0 && setting.guessed.1 > 0.0 {
                self.explorer.compare(sample.burden, setting.guessed);
            }
        }
        let cell = setting.cell(usize::from(choice));
        let common = self.history.forecast(decision, lane).fast;
        let learned = self.tasks.at_mut(setting.task).learned_mut(lane, cell);
        if lane == 0 && learned.run.count() > 0 {
            self.books.measured_sum += sample.burden;
            self.books.typical_sum += learned.run.mean() * work * common;
        }
        learned.measured.add(sample.burden / work);
        let unit = sample.burden / (work * common);
        match self.config.exploration {
            Exploration::Bounded if learned.is_known() && self.calibrations[lane].is_shifting() => {}
            Exploration::Bounded => add_to_task(self.tasks.at_mut(setting.task).lane_mut(lane), cell, unit, decision),
            Exploration::Optimistic => learned.add(unit, decision),
        }
        self.observe_lever(decision, position, lane, sample.burden);
        self.account(decision, position, lane, sample.burden);
        Ok(())
    }

    /// Show a sample to the setting's lever.
    fn observe_lever(&mut self, decision: u64, position: usize, lane: usize, burden: f64) {
        let Given { choice, work } = self.history.given(decision, position);
        let forecast = *self.history.forecast(decision, lane);
        let rest = self.config.decisions_of(TUNING.lever.rest_seconds);
        let until = self.history.latest() + rest.max(1);
        let Self { settings, strategies, calibrations, .. } = self;
        let setting = settings.at_mut(position).expect("a position that was just found");
        if !setting.lever.needs(decision, lane, choice) || calibrations[lane].is_shifting() {
            return;
        }
        let strategy = usize::from(forecast.strategy);
        let of = |option: usize| setting.options[option].desc.work * strategies.work_under(strategy, position, option);
        let factors = work / of(usize::from(choice)) * of(setting.lever.former()) * forecast.fast;
        if setting.lever.observe(choice, burden, factors) {
            setting.lever.rest(until);
        }
    }

    /// Add a sample to its decision's total.
    fn account(&mut self, decision: u64, position: usize, lane: usize, burden: f64) {
        let part = self.history.part(decision, position, lane);
        let (awaited, before) = (part.is_awaited(), f64::from(part.measured.max(0.0)));
        part.measured = burden as f32;
        let forecast = self.history.forecast(decision, lane);
        // A later sample of the same choice replaces the first.
        forecast.measured += burden - before;
        forecast.awaited -= u32::from(awaited);
        self.close(decision, lane);
    }

    /// Compare the decision's total with its forecast once it is complete.
    fn close(&mut self, decision: u64, lane: usize) {
        let latest_total = self.latest_totals[lane];
        let has_totals = latest_total > 0 && latest_total + self.history.latest() - self.history.oldest() >= decision;
        let forecast = self.history.forecast(decision, lane);
        let complete = forecast.awaited == 0 && (forecast.total.is_some() || !has_totals);
        if !complete || std::mem::replace(&mut forecast.settled, true) {
            return;
        }
        let forecast = *forecast;
        if forecast.trials {
            let total = forecast.total.unwrap_or(forecast.measured + forecast.residual);
            let limit = self.strategies.limits(&self.config)[self.lanes.lane(lane)];
            self.explorer.observe(total > limit, self.config.trial_risk);
        }
        if !forecast.fair {
            return;
        }
        self.learn_hold(&forecast, lane);
        if let Some(total) = forecast.total.filter(|_| forecast.measured > 0.0) {
            self.residuals[lane].add_unless_hitch((total - forecast.measured).max(0.0), decision);
        }
        let (probability, sigmas) = (self.config.overrun_probability, self.config.nominal_sigmas());
        let ratio = self.ratio_on(lane);
        let calibration = &mut self.calibrations[lane];
        let typical = calibration.typical_ratio(self.history.parts(decision, lane));
        calibration.observe(&forecast, typical, ratio, sigmas, probability);
    }

    /// Observe whether a frame with settled choices was late.
    fn learn_hold(&mut self, forecast: &Forecast, lane: usize) {
        let limit = self.strategies.limits(&self.config)[self.lanes.lane(lane)];
        let total = forecast.total.unwrap_or(forecast.measured + forecast.residual);
        let full = forecast.mean + self.sigmas(lane) * forecast.variance.sqrt();
        let is_near = full > (1.0 - TUNING.hold.near) * limit;
        self.holds[lane].observe(total > limit, is_near, self.config.overrun_probability);
    }

    /// Whether [`Core::measure`] would accept the sample.
    pub fn can_measure(&self, id: Id, sample: &Sample) -> bool {
        let decision = self.decision_of(sample.decision);
        let in_range = (sample.lane as usize) < LANES && (0.0..=LARGEST).contains(&sample.burden);
        let Some(position) = self.settings.position(id).filter(|_| in_range && self.history.remembers(decision)) else {
            return false;
        };
        decision >= self.setting(position).valid_from && self.history.given(decision, position).choice != NO_CHOICE
    }

    pub(in crate::goblin) fn measure_total(&mut self, sample: &Sample) -> Result<()> {
        self.take_total(sample)?;
        Ok(())
    }

    fn take_total(&mut self, sample: &Sample) -> Result<()> {
        check_sample(sample)?;
        let decision = self.decision_of(sample.decision);
        if !self.history.remembers(decision) {
            self.books.statistics.refused += 1;
            return Err(self.forgotten(decision));
        }
        self.warnings.measured(sample.lane as usize);
        let statistics = &mut self.books.statistics;
        if !sample.good {
            statistics.flagged += 1;
            self.history.spoil(decision);
            return Ok(());
        }
        let Some(lane) = self.lanes.index(sample.lane as usize) else {
            statistics.ungoverned += 1;
            return Ok(());
        };
        let limit = self.strategies.limits(&self.config)[sample.lane as usize];
        statistics.totals += 1;
        statistics.totals_over += u64::from(sample.burden > limit);
        match self.config.burdens {
            Burdens::Learned => {
                self.latest_totals[lane] = self.latest_totals[lane].max(decision);
                self.history.forecast(decision, lane).total = Some(sample.burden);
                if self.history.forecast(decision, lane).measured > 0.0 {
                    self.close(decision, lane);
                }
            }
            Burdens::Relative if lane == 0 => self.controller.frame_took(sample.burden, limit),
            Burdens::Totals if lane == 0 => self.regress(decision, sample.burden),
            Burdens::Relative | Burdens::Totals => {}
        }
        Ok(())
    }

    pub(in crate::goblin) fn applied(&mut self, id: Id, decision: u64, choice: u32) -> Result<()> {
        let position = self.position(id)?;
        let setting = self.setting(position);
        let count = setting.options.len();
        if choice as usize >= count {
            return Err(crate::goblin::core::no_such_option(choice, count));
        }
        let given = self.given(position, decision)?;
        let decision = self.decision_of(decision);
        if u32::from(given.choice) == choice {
            return Ok(());
        }
        let strategy = usize::from(self.history.forecast(decision, 0).strategy);
        let (settings, strategies) = (&self.settings, &self.strategies);
        let setting = settings.at(position).expect("a position that was just found");
        let of = |option: usize| setting.options[option].desc.work * strategies.work_under(strategy, position, option);
        let work = given.work / of(usize::from(given.choice)) * of(choice as usize);
        self.history.spoil(decision);
        self.history.give(decision, position, Given { choice: choice as u16, work });
        Ok(())
    }

    pub(in crate::goblin) fn harvest(&mut self) {
        let (measured, typical) = (self.books.measured_sum, self.books.typical_sum);
        self.books.measured_sum = 0.0;
        self.books.typical_sum = 0.0;
        if typical > 0.0 {
            let statistics = &mut self.books.statistics;
            statistics.anomaly = measured / typical;
            statistics.recent_anomaly = if statistics.recent_anomaly > 0.0 {
                let kept = Learned::KEPT_PER_FRAME;
                kept * statistics.recent_anomaly + (1.0 - kept) * statistics.anomaly
            } else {
                statistics.anomaly
            };
        }
    }

    /// Counts of the samples so far.
    pub fn statistics(&self) -> &Statistics {
        &self.books.statistics
    }

    fn decision_of(&self, decision: u64) -> u64 {
        if decision == 0 { self.history.latest() } else { decision }
    }

    /// The choice and the work of a setting in a decision.
    fn given(&mut self, position: usize, decision: u64) -> Result<Given> {
        let decision = self.decision_of(decision);
        if !self.history.remembers(decision) {
            self.books.statistics.refused += 1;
            return Err(self.forgotten(decision));
        }
        let given = self.history.given(decision, position);
        if decision < self.setting(position).valid_from || given.choice == NO_CHOICE {
            self.books.statistics.refused += 1;
            return Err(error!(
                NotFound,
                "the setting had no choice in decision {decision}: it was added or changed later, or was disabled"
            ));
        }
        Ok(given)
    }

    fn forgotten(&self, decision: u64) -> crate::base::Error {
        let (oldest, latest) = (self.history.oldest(), self.history.latest());
        if latest == 0 {
            error!(NotFound, "decision {decision}: there has been no decision yet; call update first")
        } else {
            error!(
                NotFound,
                "decision {decision} is not remembered, only {oldest} to {latest}: raise `history` for later samples"
            )
        }
    }
}

fn check_sample(sample: &Sample) -> Result<()> {
    if sample.lane as usize >= LANES {
        return Err(error!(InvalidArgument, "lane {} does not exist: there are {LANES}", sample.lane));
    }
    if !(0.0..=LARGEST).contains(&sample.burden) {
        return Err(error!(
            InvalidArgument,
            "invalid burden {}: it must be 0 to {:e}; drop samples with timer errors",
            Number(sample.burden),
            Number(LARGEST)
        ));
    }
    Ok(())
}
