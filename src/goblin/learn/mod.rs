//! Learning: the costs of options.
//!
//! Samples and totals come in with the decision of their frame ([`harvest`]). The room owns the estimates of every task
//! ([`task`]), the choices of recent decisions ([`history`]), and the corrections of forecasts ([`calibrate`], [`hold`]).
//! Costs that rise for minutes, as on a device that warms up, are forecast ten seconds ahead ([`drift`]).
//! With totals only, a regression or a controller takes the place of samples ([`regression`], [`capacity`]).

pub mod calibrate;
pub mod capacity;
pub mod drift;
pub mod harvest;
pub mod history;
pub mod hold;
pub mod regression;
pub mod task;

use super::config::{Burdens, Config, LANES};
use super::lanes::Lanes;
use super::rows::Rows;
use super::tuning::{self, TUNING};
use crate::base::{Result, try_collect_all, try_filled};
use crate::knapsack::Economy;
use crate::knapsack::several::Weight;
use crate::profile::{Estimate, Hitches, Learned, Profile, Rules, past_to_present_ratio};
use calibrate::Calibration;
use capacity::Controller;
use drift::Drift;
use harvest::{Books, Sampled};
use history::History;
use hold::Hold;
use regression::Regression;
use task::{Task, Tasks, key_in_profile};

const FORECAST: &tuning::Forecast = &TUNING.forecast;

/// The estimates of costs, and their corrections.
#[derive(Debug)]
pub struct Learn {
    pub tasks: Tasks,
    pub past: Profile,
    /// Ratios of present to past burdens, by governed lane.
    pub ratios: [f64; LANES],
    pub history: History,
    pub books: Books,
    /// By position of the setting.
    pub sampled: Rows<Sampled>,
    pub controller: Controller,
    pub regression: Regression,
    /// Totals of decisions before this one are not used: a setting of theirs was removed or got other options.
    pub totals_from: u64,
    /// By governed lane.
    pub calibrations: Vec<Calibration>,
    /// By governed lane.
    pub holds: [Hold; LANES],
    /// By governed lane.
    drifts: [Drift; LANES],
    /// Hitches of all options, by governed lane.
    hitches: [Hitches; LANES],
    /// The past is doubted until this decision.
    doubts_until: u64,
    /// Part of the totals that no setting reports, by governed lane.
    residuals: Vec<Learned>,
    /// The latest decision with a reported total, by governed lane.
    latest_totals: [u64; LANES],
}

impl Learn {
    /// Nothing is known, on this many lanes. The last `depth` decisions will be remembered.
    pub fn new(depth: usize, lanes: usize) -> Result<Self> {
        let mut history = History::default();
        history.resize(depth, 1, lanes)?;
        Ok(Self {
            tasks: Tasks::default(),
            past: Profile::new(),
            ratios: [1.0; LANES],
            history,
            books: Books::default(),
            sampled: Rows::default(),
            controller: Controller::default(),
            regression: Regression::default(),
            totals_from: 0,
            calibrations: try_collect_all((0..lanes).map(|_| Ok(Calibration::default())))?,
            holds: [Hold::default(); LANES],
            drifts: [Drift::default(); LANES],
            hitches: [Hitches::NONE; LANES],
            doubts_until: 0,
            residuals: try_filled(Learned::NOTHING, lanes)?,
            latest_totals: [0; LANES],
        })
    }

    /// Learn on other lanes. Estimates are kept on lanes that stay. On an error nothing changed.
    pub fn set_lanes(&mut self, from: &Lanes, to: &Lanes, depth: usize, positions: usize) -> Result<()> {
        let count = to.count();
        let calibrations = try_collect_all((0..count).map(|_| {
            let mut calibration = Calibration::default();
            calibration.reserve(positions).map(|()| calibration)
        }))?;
        let residuals = try_filled(Learned::NOTHING, count)?;
        let estimates = self.tasks.estimates_on(from, to, &self.past)?;
        self.history.resize(depth, positions, count)?;
        // Nothing below can fail.
        self.tasks.replace(estimates);
        let mut old = std::mem::replace(&mut self.calibrations, calibrations);
        let old_residuals = std::mem::replace(&mut self.residuals, residuals);
        let old_totals = std::mem::take(&mut self.latest_totals);
        let old_drifts = std::mem::take(&mut self.drifts);
        let old_hitches = std::mem::replace(&mut self.hitches, [Hitches::NONE; LANES]);
        for (index, lane) in to.iter().enumerate() {
            if let Some(at) = from.index(lane) {
                std::mem::swap(&mut self.calibrations[index], &mut old[at]);
                self.residuals[index] = old_residuals[at];
                self.latest_totals[index] = old_totals[at];
                self.drifts[index] = old_drifts[at];
                self.hitches[index] = old_hitches[at];
            }
        }
        Ok(())
    }

    /// Reserve memory for settings at this many positions.
    pub fn reserve(&mut self, depth: usize, positions: usize) -> Result<()> {
        self.sampled.reserve(positions)?;
        self.history.resize(depth, positions, self.calibrations.len())?;
        self.calibrations.iter_mut().try_for_each(|calibration| calibration.reserve(positions))
    }

    /// Use another regression, if there is one.
    pub fn replace_regression(&mut self, fresh: Option<Regression>) {
        if let Some(fresh) = fresh {
            self.regression = fresh;
        }
    }

    /// Mean part of the totals of a governed lane that no setting reports.
    pub fn residual(&self, lane: usize) -> f64 {
        self.residuals[lane].long_run().mean
    }

    /// Note that no choice of a decision fitted. Perhaps the past is of other options, and makes cheaper ones look dear.
    pub fn doubt_past(&mut self, config: &Config, decision: u64) {
        self.doubts_until = decision + config.decisions_of(TUNING.forecast.doubt_seconds);
    }

    /// Whether the past is doubted.
    pub fn doubts_past(&self) -> bool {
        self.history.latest() < self.doubts_until
    }

    /// The rules of estimates on a governed lane.
    pub fn rules(&self, config: &Config, lane: usize) -> Rules {
        Rules { hitches: self.hitches[lane], ..config.rules() }
    }

    /// Ratio of present to past burdens on a governed lane; 1 while there is nothing to compare.
    pub fn ratio_on(&self, config: &Config, lane: usize) -> f64 {
        if self.past.tasks().is_empty() {
            return 1.0;
        }
        let both = self.tasks.iter().filter_map(|task| Some((task.learned(lane), task.past(lane)?)));
        past_to_present_ratio(&self.rules(config, lane), both)
    }

    /// The ratio of present to past burdens of a task: its own, the more samples and the farther it is from that of all
    /// tasks the more so.
    pub fn ratio_of(&self, rules: &Rules, task: &Task, lane: usize, all: f64) -> f64 {
        let Some(past) = task.past(lane) else { return all };
        let learned = task.learned(lane);
        let own = past_to_present_ratio(rules, std::iter::once((learned, past)));
        let (most, off) = (FORECAST.most_own_ratio, own / all - 1.0);
        if !(1.0 / most..=most).contains(&(own / all)) {
            return all;
        }
        let quota = u64::from(rules.measure_quota.max(1));
        let both = learned.iter().zip(past).filter(|(_, past)| past.count > 0);
        let count = both.map(|(learned, _)| learned.run.count().min(quota)).sum::<u64>() as f64;
        let certain = count / (count + FORECAST.own_ratio_samples);
        let telling = off * off / (off * off + FORECAST.own_ratio_stray.powi(2));
        all + (own - all) * certain * telling
    }

    /// Update the ratios of present to past burdens on all lanes.
    pub fn refresh_ratios(&mut self, config: &Config) {
        for lane in 0..self.calibrations.len() {
            self.ratios[lane] = self.ratio_on(config, lane);
        }
    }

    /// The slow common factor of every governed lane, and that with its fast component; see [`Calibration`].
    pub fn common_factors(&self, config: &Config) -> ([f64; LANES], [f64; LANES]) {
        let factors = |of: fn(&Calibration) -> f64| {
            std::array::from_fn(|lane| self.calibrations.get(lane).filter(|_| config.learns_samples()).map_or(1.0, of))
        };
        (factors(Calibration::slow), factors(Calibration::fast))
    }

    /// The share by which burdens on each governed lane are expected to grow in the next ten seconds; see [`Drift`].
    pub fn growth(&self) -> [f64; LANES] {
        self.drifts.each_ref().map(|drift| drift.growth(TUNING.drift.ahead / TUNING.drift.bin))
    }

    /// Deviations to keep free: as configured, or calibrated if a probability was configured. See [`Hold`].
    pub fn sigmas(&self, config: &Config, lane: usize) -> f64 {
        let nominal = config.nominal_sigmas();
        if config.overrun_probability == 0.0 {
            return nominal;
        }
        nominal * self.calibrations[lane].tail() * self.holds[lane].margin()
    }

    /// The capacities with the margin of a held choice. A lane that was late seldom enough keeps only a share of its
    /// margin.
    pub fn held(&self, config: &Config, economies: &[Economy]) -> [Economy; LANES] {
        let is_calibrated = config.overrun_probability > 0.0 && config.burdens == Burdens::Learned;
        let mut held = [Economy::default(); LANES];
        for (lane, economy) in economies.iter().enumerate() {
            let share = if is_calibrated { self.holds[lane].share() } else { 1.0 };
            held[lane] = Economy { sigmas: economy.sigmas * share, ..*economy };
        }
        held
    }

    /// The share of an option's expected cost on a lane that counts if samples are clamped like those of the common factor.
    pub fn clamped(&self, task: usize, lane: usize, cell: usize) -> f64 {
        self.tasks.at(task).learned(lane)[cell].clamped(&self.hitches[lane], TUNING.calibration.winsor_limit)
    }

    /// The burden on a lane that no setting reports, and the variance of totals beyond that of single burdens.
    pub fn beside(&self, config: &Config, lane: usize, economy: &Economy) -> Weight {
        match config.burdens {
            Burdens::Learned => {
                let residual = self.residuals[lane].long_run();
                let mut beside = Weight { mean: residual.mean, variance: residual.variance };
                if config.overrun_probability > 0.0 {
                    beside.variance += self.calibrations[lane].common_variance(economy.capacity, economy.sigmas);
                }
                beside
            }
            Burdens::Totals => Weight { mean: self.regression.rest(), variance: self.regression.noise_variance() },
            Burdens::Relative => Weight::default(),
        }
    }

    /// Whether a task has any samples on a lane, in this run or a past one.
    pub fn is_measured(&self, task: usize, lane: usize) -> bool {
        let task = self.tasks.at(task);
        task.past(lane).is_some() || task.learned(lane).iter().any(|learned| learned.run.count() > 0)
    }

    /// The measured costs per unit of work: this run's samples, unchanged, and for options without samples the past
    /// estimates, scaled to this machine. All other past estimates are kept.
    pub fn profile(&self, config: &Config, lanes: &Lanes) -> Result<Profile> {
        let mut profile = self.past.try_clone()?;
        let ratio = self.ratio_on(config, 0);
        if ratio != 1.0 {
            profile.scale(ratio)?;
        }
        let mut options = Vec::new();
        for task in self.tasks.iter().filter(|task| task.cells > 0) {
            for lane in 0..lanes.count() {
                let key = key_in_profile(&task.id, lanes, lane)?;
                let (past, ratio) = (task.past(lane), self.ratio_on(config, lane));
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

    /// Bytes held.
    pub fn memory_used(&self) -> usize {
        let of_calibrations: usize = self.calibrations.iter().map(Calibration::memory_used).sum();
        of_calibrations
            + self.calibrations.capacity() * size_of::<Calibration>()
            + self.residuals.capacity() * size_of::<Learned>()
            + self.sampled.memory_used()
            + self.tasks.memory_used()
            + self.past.memory_used()
            + self.history.memory_used()
            + self.regression.memory_used()
    }
}

fn scaled(past: Estimate, ratio: f64) -> Estimate {
    Estimate { mean: past.mean * ratio, deviation: past.deviation * ratio, ..past }
}
