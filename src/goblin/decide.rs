//! The second half of a frame: formulate, solve, publish.

use crate::base::host::{Zone, now_ns};
use crate::base::{Result, fault_point};
use crate::knapsack::several::Weight;
use crate::knapsack::{Economy, Effort, NO_CHOICE};

use super::choose::reason::Facts;
use super::choose::steady::Settled;
use super::config::{Burdens, Exploration, LANES};
use super::core::Core;
use super::lanes::{Lanes, by_host_lane};
use super::learn::calibrate::Calibration;
use super::learn::history::{Forecast, Given, Part};
use super::question::formulate::{Bar, Formulation, Sum, Weighed};
use super::tuning::TUNING;

/// Totals of a choice of one option of every setting. Burdens are by lane.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Net {
    /// Sum of the values.
    pub value: f64,
    /// Sum of the mean burdens.
    pub mean: [f64; LANES],
    /// Deviation of the total burden.
    pub deviation: [f64; LANES],
}

impl Net {
    fn of(sum: &Sum, lanes: &Lanes) -> Self {
        let mut net = Self { value: sum.value, ..Self::default() };
        for (lane, weight) in lanes.iter().zip(&sum.weights) {
            net.mean[lane] = weight.mean;
            net.deviation[lane] = weight.variance.max(0.0).sqrt();
        }
        net
    }
}

/// The decision of a frame. Lanes that are not governed are 0.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Decision {
    /// Counts up from 1; samples name it.
    pub id: u64,
    /// Whether the choice fits. If not, it is the choice of least burden.
    pub feasible: bool,
    /// The choice.
    pub chosen: Net,
    /// Mean + sigmas × deviation of the choice. It is compared with `capacity`.
    pub burden: [f64; LANES],
    /// The limit, or with [`Burdens::Relative`] its estimate in the host's unit.
    pub capacity: [f64; LANES],
    /// Excess of the burden over the capacity; 0 when feasible.
    pub excess: [f64; LANES],
    /// Upper bound of the relative distance from the optimum; 0 when it is the optimum.
    pub gap: f64,
    /// The lightest option of every setting.
    pub lightest: Net,
    /// The most valuable option of every setting, whether or not they fit together.
    pub highest: Net,
    /// Number of settings.
    pub settings: u32,
    /// Number of settings whose choice differs from the decision before.
    pub changes: u32,
    /// Number of options on trial in this frame.
    pub trials: u32,
    /// The active strategy.
    pub strategy: u32,
    /// Nodes that the solver visited.
    pub nodes: u64,
    /// How long the decision took, by the host's clock; 0 without one.
    pub elapsed_ns: u64,
}

impl Core {
    pub(super) fn decide(&mut self) -> Result<()> {
        let decided = self.decide_unchecked().map(|decision| self.decision = decision);
        if !self.is_replay {
            self.warn();
        }
        decided
    }

    fn decide_unchecked(&mut self) -> Result<Decision> {
        let _zone = Zone::begin(c"hob_goblin_decide");
        let began = now_ns();
        self.refresh_ratios();
        self.end_rests();
        let other_strategy = self.choose_strategy()?;
        self.formulate();
        self.assume_common_deviations();
        fault_point!("goblin.decide");
        let (lightest, highest) = self.nets();
        let economies = self.economies(&lightest, &highest);
        self.weigh_beside(&economies);
        let economies = &economies[..self.lanes.count()];
        let effort = self.effort();
        self.begin_pace();
        let settled =
            if other_strategy { self.settle_anew(economies, effort)? } else { self.settle(economies, effort)? };
        self.remember_settled(&settled);
        if !settled.held {
            self.watch_levers();
        }
        let mut weighed = settled.weighed;
        let mut trials = 0;
        if self.explores() {
            (weighed, trials) = self.explore(weighed, economies, effort)?;
        }
        self.trim_fast(&mut weighed, economies);
        let (chosen, changes) = self.publish(&settled, other_strategy, economies);
        self.await_samples(&chosen, &weighed, trials == 0);
        self.controller.decided(chosen.mean[self.lanes.lane(0)]);
        let elapsed = began.zip(now_ns()).map(|(from, to)| to.saturating_sub(from));
        let count = economies.len();
        Ok(Decision {
            id: self.history.latest(),
            feasible: weighed.feasible,
            chosen,
            burden: by_host_lane(&self.lanes, &weighed.burden[..count]),
            capacity: by_host_lane(
                &self.lanes,
                &std::array::from_fn::<f64, LANES, _>(|lane| {
                    economies.get(lane).map_or(0.0, |economy| economy.capacity)
                })[..count],
            ),
            excess: by_host_lane(&self.lanes, &weighed.excess[..count]),
            gap: settled.gap,
            lightest,
            highest,
            settings: self.formulation.entries.len() as u32,
            changes,
            trials,
            strategy: self.strategies.active() as u32,
            nodes: self.formulation.nodes,
            elapsed_ns: elapsed.unwrap_or(0),
        })
    }

    /// Credit the change account for this decision.
    fn begin_pace(&mut self) {
        let now = self.history.latest() + 1;
        let rate = self.config.changes_per_second / self.config.decisions_per_second;
        let is_free = now <= self.explorer.window_end || rate.is_infinite() || self.config.burdens == Burdens::Totals;
        let price = if is_free { 0.0 } else { self.switch_scale };
        self.pace.begin(now, rate.min(1e6), price, 60.0 * self.config.decisions_per_second);
    }

    fn explores(&self) -> bool {
        let learns = self.config.burdens == Burdens::Learned && self.config.exploration == Exploration::Bounded
            || self.config.burdens == Burdens::Totals;
        learns && self.config.trial_limit > 0
    }

    pub(super) fn effort(&self) -> Effort {
        Effort { accepted_gap: self.config.accepted_gap(), node_limit: self.config.node_limit }
    }

    /// The capacity and the margin of every governed lane.
    pub(super) fn economies(&mut self, lightest: &Net, highest: &Net) -> [Economy; LANES] {
        let mut economies = [Economy::default(); LANES];
        let limits = *self.strategies.limits(&self.config);
        for (index, lane) in self.lanes.iter().enumerate() {
            economies[index] = Economy { capacity: limits[lane], sigmas: self.sigmas(index) };
        }
        if self.config.burdens == Burdens::Relative {
            let lane = self.lanes.lane(0);
            if limits[lane].is_finite() {
                let capacity = self.controller.capacity(lightest.mean[lane], highest.mean[lane]);
                economies[0] = Economy { capacity, sigmas: 0.0 };
            }
        }
        economies
    }

    /// Assume how far totals stray before any total is known. A past profile has the deviations of single options, but not
    /// which part of them is common to all. So a warm start assumes that all of it is, and learns the rest within seconds.
    fn assume_common_deviations(&mut self) {
        if self.past.tasks().is_empty() {
            return;
        }
        let Self { calibrations, formulation, .. } = self;
        for (lane, calibration) in calibrations.iter_mut().enumerate().filter(|(_, one)| one.is_fresh()) {
            let known = (0..formulation.bars.len()).filter(|&option| formulation.bars[option] == Bar::Free);
            let (mut deviations, mut means) = (0.0, 0.0);
            for weight in known.map(|option| formulation.weights_of(option)[lane]) {
                deviations += weight.variance.max(0.0).sqrt();
                means += weight.mean;
            }
            if means > 0.0 {
                calibration.assume(deviations / means);
            }
        }
    }

    /// Set the burdens that no setting reports, and the variance of totals beyond that of single burdens.
    pub(super) fn weigh_beside(&mut self, economies: &[Economy]) {
        for (lane, economy) in economies.iter().enumerate().take(self.lanes.count()) {
            let mut beside = Weight::default();
            match self.config.burdens {
                Burdens::Learned => {
                    let residual = self.residuals[lane].steady.normal();
                    beside = Weight { mean: residual.mean, variance: residual.variance };
                    if self.config.overrun_probability > 0.0 {
                        let Economy { capacity, sigmas } = *economy;
                        beside.variance += self.calibrations[lane].common_variance(capacity, sigmas);
                    }
                }
                Burdens::Totals => {
                    beside = Weight { mean: self.regression.rest(), variance: self.regression.noise_variance() };
                }
                Burdens::Relative => {}
            }
            self.formulation.beside[lane] = beside;
        }
    }

    /// The slow common factor of every governed lane; see [`Calibration::slow`].
    pub(super) fn common_factors(&self) -> [f64; LANES] {
        self.factors(Calibration::slow)
    }

    /// The common factor of every governed lane with its fast component; see [`Calibration::fast`].
    pub(super) fn fast_factors(&self) -> [f64; LANES] {
        self.factors(Calibration::fast)
    }

    fn factors(&self, of: impl Fn(&Calibration) -> f64) -> [f64; LANES] {
        let learned = self.config.exploration == Exploration::Bounded && self.config.burdens == Burdens::Learned;
        std::array::from_fn(|lane| self.calibrations.get(lane).filter(|_| learned).map_or(1.0, &of))
    }

    /// Deviations to keep free: as configured, or calibrated if a probability was configured. See
    /// [`Hold`](super::learn::hold::Hold).
    pub(super) fn sigmas(&self, lane: usize) -> f64 {
        let nominal = self.config.nominal_sigmas();
        if self.config.overrun_probability == 0.0 {
            return nominal;
        }
        nominal * self.calibrations[lane].tail() * self.holds[lane].margin()
    }

    /// The lightest and the most valuable choice.
    pub(super) fn nets(&self) -> (Net, Net) {
        let Formulation { lightest, highest, .. } = &self.formulation;
        (Net::of(lightest, &self.lanes), Net::of(highest, &self.lanes))
    }

    /// Publish the choices and remember them. Returns their totals and the number of changes.
    fn publish(&mut self, settled: &Settled, other_strategy: bool, economies: &[Economy]) -> (Net, u32) {
        let decision = self.history.begin();
        let lanes = self.lanes;
        let (mut sum, mut changes, mut visible, mut reversals) = (Sum::default(), 0, 0.0, 0);
        let reversal = self.config.decisions_of(TUNING.pace.reversal_seconds);
        let Self { settings, formulation, history, strategies, published, pace, explorer, .. } = self;
        let (formulation, strategies) = (&*formulation, &*strategies);
        let facts = Facts { settled, formulation, strategies, lanes: &lanes, economies, decision, other_strategy };
        let edition = published.write(decision);
        for (entry, &choice) in formulation.entries.iter().zip(&formulation.choices) {
            let setting = settings.at_mut(entry.position).expect("entries are made of the settings there are");
            let before = setting.choice;
            if before != choice && choice != NO_CHOICE && setting.on_trial != decision {
                // The solver chose it, so its retry backoff is reset.
                setting.options[usize::from(choice)].failed_trials = 0;
            }
            changes += u32::from(before != choice);
            if before != choice && !setting.is_trim {
                visible += setting.noticeability();
                let is_back = setting.left == choice && setting.left_at + reversal >= decision;
                reversals += u32::from(is_back);
                (setting.left, setting.left_at) = (before, decision);
            }
            setting.choice = choice;
            edition.set(entry.position, choice);
            if choice == NO_CHOICE {
                continue;
            }
            let option = usize::from(choice);
            history.give(
                decision,
                entry.position,
                Given { choice, work: setting.work_of(option) * strategies.work(entry.position, option) },
            );
            let value = strategies.value_of(setting, entry.position, option);
            sum.add(value, formulation.weights_of(entry.start + option), 1.0);
            let is_settled = choice == setting.settled;
            setting.is_tried = !is_settled && (setting.on_trial == decision || explorer.probes(entry.position));
            if is_settled {
                setting.reason = facts.reason(setting, entry);
            }
        }
        edition.publish();
        pace.pay(visible, reversals);
        sum.add(0.0, &formulation.beside[..lanes.count()], 1.0);
        (Net::of(&sum, &lanes), changes)
    }

    /// Whether the expected cost of a choice on a governed lane rests on enough samples.
    fn is_known(&self, position: usize, choice: u16, lane: usize) -> bool {
        let setting = self.setting(position);
        let (task, cell) = (self.tasks.at(setting.task), setting.cell(usize::from(choice)));
        task.learned(lane)[cell].is_known() || task.past(lane).is_some_and(|past| past[cell].is_solid())
    }

    /// Store the forecast of the decision, and which settings its total needs samples of: all with a non-negligible
    /// expected cost.
    fn await_samples(&mut self, chosen: &Net, weighed: &Weighed, fair: bool) {
        let decision = self.history.latest();
        let (common, fast) = (self.common_factors(), self.fast_factors());
        for (index, lane) in self.lanes.iter().enumerate() {
            let (mut awaited, mut known_mean, mut is_complete) = (0, 0.0, true);
            for (entry, &choice) in self.formulation.entries.iter().zip(&self.formulation.choices) {
                if choice == NO_CHOICE {
                    continue;
                }
                let setting = self.setting(entry.position);
                let is_young = decision < setting.valid_from + TUNING.forecast.first_sample;
                is_complete &= entry.known || !setting.has_burden || !is_young;
                let mean = self.formulation.weights_of(entry.start + usize::from(choice))[index].mean;
                if mean > TUNING.forecast.negligible * chosen.mean[lane] {
                    let known = self.is_known(entry.position, choice, index);
                    known_mean += if known { mean } else { 0.0 };
                    *self.history.part(decision, entry.position, index) =
                        Part { expected: mean as f32, known, ..Part::NOTHING };
                    awaited += 1;
                }
            }
            let variance = weighed.sum.weights[index].variance.max(0.0);
            let beside = self.formulation.beside[index];
            *self.history.forecast(decision, index) = Forecast {
                mean: chosen.mean[lane],
                variance,
                own_variance: (variance - beside.variance).max(0.0),
                awaited,
                residual: beside.mean,
                common: common[index],
                fast: fast[index],
                factors: self.calibrations[index].factors(),
                ratio: self.ratios[index],
                fair: fair && is_complete && known_mean >= TUNING.forecast.known_share * chosen.mean[lane],
                trials: !fair,
                strategy: self.strategies.active() as u8,
                ..Forecast::default()
            };
        }
    }
}
