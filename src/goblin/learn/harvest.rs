//! The harvest: samples and totals of single frames, and the comparison of totals with their forecasts.

use super::Learn;
use super::history::{Forecast, Given};
use super::hold::Speed;
use crate::base::{Error, Number, Result, error};
use crate::goblin::config::{Config, Exploration, LANES, LARGEST};
use crate::goblin::tuning::TUNING;
use crate::knapsack::NO_CHOICE;
use crate::profile::{Estimate, Learned, add_to_task};
use crate::stats::Normal;

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

impl Sample {
    /// Whether its lane exists and its burden is in range.
    pub fn is_valid(&self) -> bool {
        (self.lane as usize) < LANES && (0.0..=LARGEST).contains(&self.burden)
    }

    /// Reject an invalid sample.
    pub fn check(&self) -> Result<()> {
        if self.is_valid() {
            return Ok(());
        }
        if self.lane as usize >= LANES {
            return Err(error!(InvalidArgument, "lane {} does not exist: there are {LANES}", self.lane));
        }
        Err(error!(
            InvalidArgument,
            "invalid burden {}: it must be 0 to {:e}; drop samples with timer errors",
            Number(self.burden),
            Number(LARGEST)
        ))
    }
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

impl Books {
    /// Close the harvest: the samples since the last one.
    pub fn close(&mut self) {
        let measured = std::mem::take(&mut self.measured_sum);
        let typical = std::mem::take(&mut self.typical_sum);
        if typical > 0.0 {
            let statistics = &mut self.statistics;
            statistics.anomaly = (measured / typical).min(LARGEST);
            statistics.recent_anomaly = if statistics.recent_anomaly > 0.0 {
                let kept = Learned::KEPT_PER_FRAME;
                kept * statistics.recent_anomaly + (1.0 - kept) * statistics.anomaly
            } else {
                statistics.anomaly
            };
        }
    }
}

/// Which samples of a setting are known.
#[derive(Debug, Default)]
pub struct Sampled {
    /// Samples of decisions before this one do not belong to the present options.
    pub valid_from: u64,
    /// The decision of the latest sample, by cell.
    pub latest: Vec<u64>,
}

/// A sample, attributed to a cell of a task.
#[derive(Clone, Copy, Debug)]
pub struct Attributed {
    pub decision: u64,
    pub position: usize,
    /// The governed lane.
    pub lane: usize,
    pub task: usize,
    pub cell: usize,
    pub burden: f64,
    /// The work of that frame.
    pub work: f64,
}

impl Learn {
    /// The decision that a sample names.
    pub fn decision_of(&self, decision: u64) -> u64 {
        if decision == 0 { self.history.latest() } else { decision }
    }

    /// The choice and the work of a setting in a decision.
    pub fn given(&mut self, position: usize, decision: u64) -> Result<Given> {
        let decision = self.remembered(decision)?;
        let given = self.history.given(decision, position);
        if decision < self.sampled[position].valid_from || given.choice == NO_CHOICE {
            self.books.statistics.refused += 1;
            return Err(error!(
                NotFound,
                "the setting had no choice in decision {decision}: it was added or changed later, or was disabled"
            ));
        }
        Ok(given)
    }

    /// The decision that a sample names, if it is remembered.
    pub fn remembered(&mut self, decision: u64) -> Result<u64> {
        let decision = self.decision_of(decision);
        if self.history.remembers(decision) {
            return Ok(decision);
        }
        self.books.statistics.refused += 1;
        Err(self.forgotten(decision))
    }

    fn forgotten(&self, decision: u64) -> Error {
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

    /// Whether a sample of a setting that has just changed probably has the cost of that change, too: some timers measure it
    /// and others don't. The first sample of an option is always suspected, and none where noise hides it.
    pub fn has_switch_burden(&mut self, sample: &Attributed, switch_burden: f64) -> bool {
        let common = self.history.forecast(sample.decision, 0).fast;
        let task = self.tasks.at(sample.task);
        let run = task.learned(0)[sample.cell].run;
        let past = task.past(0).map(|past| past[sample.cell]).filter(Estimate::is_solid);
        let expected = match past.filter(|_| run.count() == 0) {
            Some(past) => past.normal().scaled(self.ratios[0]),
            None if run.count() == 0 => return true,
            None => run.normal(),
        };
        let Normal { mean, variance } = expected.scaled(sample.work * common);
        let is_telling = 0.5 * switch_burden > TUNING.forecast.telling * variance.sqrt();
        is_telling && sample.burden > mean + 0.5 * switch_burden
    }

    /// Forget the first samples of an option if this one is lower by most of the switch burden: they had the cost of a change
    /// that took several frames.
    pub fn forget_slow_start(&mut self, sample: &Attributed, switch_burden: f64) {
        let Attributed { decision, lane, task, cell, burden, work, .. } = *sample;
        let common = self.history.forecast(decision, lane).fast;
        let learned = self.tasks.at_mut(task).learned_mut(lane, cell);
        let is_start = (1..TUNING.forecast.change_frames).contains(&learned.run.count());
        if is_start && burden + 0.5 * switch_burden < learned.lowest * work * common {
            *learned = Learned::NOTHING;
        }
    }

    /// Learn from a sample.
    pub fn add_sample(&mut self, sample: &Attributed, config: &Config) {
        let Attributed { decision, position, lane, task, cell, burden, work } = *sample;
        self.books.statistics.samples += 1;
        let latest = &mut self.sampled[position].latest[cell];
        *latest = (*latest).max(decision);
        let common = self.history.forecast(decision, lane).fast;
        let learned = self.tasks.at_mut(task).learned_mut(lane, cell);
        if lane == 0 && learned.run.count() > 0 {
            self.books.measured_sum += burden;
            self.books.typical_sum += learned.run.mean() * work * common;
        }
        learned.measured.add(burden / work);
        let unit = burden / (work * common);
        match config.exploration {
            Exploration::Bounded if learned.is_known() && self.calibrations[lane].is_shifting() => {}
            Exploration::Bounded => {
                add_to_task(self.tasks.at_mut(task).lane_mut(lane), cell, unit, decision, &mut self.hitches[lane]);
            }
            Exploration::Optimistic => learned.add(unit, decision),
        }
    }

    /// Add a sample to its decision's total. Returns whether the total is over the limit, if this completes a frame with
    /// trials.
    pub fn account(&mut self, sample: &Attributed, limit: f64, config: &Config) -> Option<bool> {
        let Attributed { decision, lane, burden, .. } = *sample;
        let part = self.history.part(decision, sample.position, lane);
        let (awaited, before) = (part.is_awaited(), f64::from(part.measured.max(0.0)));
        part.measured = burden as f32;
        let forecast = self.history.forecast(decision, lane);
        // A later sample of the same choice replaces the first.
        forecast.measured += burden - before;
        forecast.awaited -= u32::from(awaited);
        self.close(decision, lane, limit, config)
    }

    /// Add the total of a whole frame. Returns as [`Learn::account`] does.
    pub fn add_total(&mut self, decision: u64, lane: usize, total: f64, limit: f64, config: &Config) -> Option<bool> {
        self.latest_totals[lane] = self.latest_totals[lane].max(decision);
        let forecast = self.history.forecast(decision, lane);
        forecast.total = Some(total);
        if forecast.measured > 0.0 { self.close(decision, lane, limit, config) } else { None }
    }

    /// Compare the decision's total with its forecast once it is complete.
    fn close(&mut self, decision: u64, lane: usize, limit: f64, config: &Config) -> Option<bool> {
        let latest_total = self.latest_totals[lane];
        let has_totals = latest_total > 0 && latest_total + self.history.latest() - self.history.oldest() >= decision;
        let forecast = self.history.forecast(decision, lane);
        let complete = forecast.awaited == 0 && (forecast.total.is_some() || !has_totals);
        if !complete || std::mem::replace(&mut forecast.settled, true) {
            return None;
        }
        let forecast = *forecast;
        let is_over = forecast.measured_total() > limit;
        if forecast.fair {
            self.compare(decision, &forecast, lane, limit, config);
        }
        forecast.trials.then_some(is_over)
    }

    fn compare(&mut self, decision: u64, forecast: &Forecast, lane: usize, limit: f64, config: &Config) {
        let full = forecast.mean + self.sigmas(config, lane) * forecast.variance.sqrt();
        let is_near = full > (1.0 - TUNING.hold.near) * limit;
        let probability = config.overrun_probability;
        let hitches = self.hitches[lane].share() * f64::from(forecast.samples);
        let speed =
            if forecast.held && hitches > TUNING.hold.hitches * probability { Speed::Quick } else { Speed::Slow };
        self.holds[lane].observe(forecast.measured_total() > limit, is_near, probability, speed);
        if forecast.total.is_some() && forecast.measured > 0.0 {
            let beside = (forecast.steady_total() - forecast.measured).max(0.0);
            let _ = self.residuals[lane].add_unless_hitch(beside, decision);
        }
        let sigmas = config.nominal_sigmas();
        let ratio = self.ratio_on(config, lane);
        let calibration = &mut self.calibrations[lane];
        let typical = calibration.typical_ratio(self.history.parts(decision, lane));
        calibration.observe(forecast, typical, ratio, sigmas, probability);
        self.drifts[lane].observe(typical * forecast.common, decision, config.decisions_of(TUNING.drift.bin));
    }

    /// Learn the cost of single options from a total whose equation the regression has.
    pub fn regress(&mut self, decision: u64, total: f64, limit: f64, highest: f64, config: &Config) {
        let knew = self.regression.knows();
        let forecast = Forecast { total: Some(total), ..*self.history.forecast(decision, 0) };
        let known = self.regression.learn(forecast.steady_total(), limit, highest);
        let probability = config.overrun_probability;
        if knew && known && probability > 0.0 && forecast.mean > 0.0 && !forecast.settled {
            self.calibrations[0].observe(&forecast, 1.0, forecast.ratio, config.nominal_sigmas(), probability);
            self.history.forecast(decision, 0).settled = true;
        }
    }
}
