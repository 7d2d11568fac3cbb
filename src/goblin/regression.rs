//! Only the frame's total is known: what does each option cost?
//!
//! The host's relative burdens give the proportions, roughly, and the first total gives the scale; both serve at once.
//! From then on every total is an equation: what was chosen, each option times its unknown coefficient, and the rest of
//! the frame, come to so much. A Kalman filter (R. E. Kalman, "A new approach to linear filtering and prediction
//! problems", 1960) keeps the coefficients and how they err together; the goblin's own changes, and a trial now and
//! then, tell options apart. Without process noise this is recursive least squares; a little of it, common to all,
//! follows a machine that gets slower.

use crate::base::{Result, try_filled};
use crate::knapsack::several::Weight;
use crate::knapsack::{Economy, Effort, NO_CHOICE};
use crate::profile::{Burden, Source};
use crate::stats::Normal;

use super::Goblin;
use super::config::LANES;
use super::explore::Trial;
use super::formulate::{Bar, Weighed};
use super::setting::Setting;

/// With more coefficients than this, only their variances are kept, not how they err together.
const MOST_TOGETHER: usize = 128;
/// How far the host's burdens are taken to be off: a common factor, and each by itself, as shares.
const COMMON_DOUBT: f64 = 0.5;
const OWN_DOUBT: f64 = 0.5;
/// The rest of the frame may be this share of the first total.
const REST_DOUBT: f64 = 0.3;
/// The variance of a total at least.
const LEAST_VARIANCE: f64 = 1e-100;
/// The deviation of the rest of the frame, as a share of the whole.
const LEAST_NOISE: f64 = 0.005;
/// How options stray at first, as a share of their mean, and how little and far they may: variances.
const FIRST_SPREAD: f64 = 0.07;
const SPREADS: std::ops::Range<f64> = 1e-4..0.25;
/// Totals that spreads remember.
const SPREAD_MEMORY: f64 = 150.0;
/// Totals after which the spread of an option that was not chosen is forgotten, about.
const SPREAD_FORGOTTEN: f64 = 500.0;
/// A total farther off than so many deviations counts as that far.
const FARTHEST: f64 = 4.0;
/// Process noise a frame: of all coefficients together, and of each by itself, as variances of shares.
const COMMON_DRIFT: f64 = 1e-6;
const OWN_DRIFT: f64 = 1e-8;
/// Totals in a row, about, that must be off on one side by more than a deviation before all is doubted anew.
const SIDE_MEMORY: f64 = 12.0;
const ONE_SIDED: f64 = 1.2;
const DOUBT_ANEW: f64 = 0.2;
/// A forecast is judged if the coefficients' share of its variance is below this, to what options stray by.
const KNOWN: f64 = 0.25;
/// A coefficient stays above this share of the first guess.
const LEAST: f64 = 0.02;
/// The highest choice takes this many times the limit, is the guess when the first total tells nothing.
const CAUTIOUS_SCALE: f64 = 4.0;
/// Decisions between two trials, while some option's cost may be off by more than this share of the limit, and
/// afterwards.
const TRY_EVERY: u64 = 8;
const TRY_RARELY: u64 = 240;
const WELL_KNOWN: f64 = 0.015;
/// After so many trials the next waits a decision longer.
const TRIALS_A_FRAME: u64 = 16;
/// By so much of what it may be off an option is thought cheaper for each trial that found no room, up to a number.
const CHEAPER: f64 = 0.5;
const MOST_CHEAPER: u8 = 3;

/// Where a coefficient belongs. Number 0 is the rest of the frame, which no setting has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Owner {
    position: u32,
    option: u32,
}

const REST: Owner = Owner { position: u32::MAX, option: 0 };

/// The filter.
#[derive(Debug, Default)]
pub struct Regression {
    owners: Vec<Owner>,
    /// By position: where its coefficients begin; 0 for none.
    starts: Vec<u32>,
    /// The host's burden of each, per unit of work: what a coefficient multiplies.
    units: Vec<f64>,
    coefficients: Vec<f64>,
    /// Covariances of the coefficients row by row, or only their variances.
    covariances: Vec<f64>,
    /// What was chosen in the frame at hand: units and work, and the covariances times that.
    row: Vec<f64>,
    gain: Vec<f64>,
    /// The first guess of the coefficients; 0 before the first total.
    scale: f64,
    /// How each option's cost strays about its mean: variances of shares.
    spreads: Vec<f64>,
    /// Variance of the rest of the frame.
    noise: f64,
    side: f64,
    next_trial: u64,
    trials: u64,
}

impl Regression {
    /// A setting's options are these now; none when it is gone. On an error nothing changed.
    pub fn set_options(&mut self, position: usize, units: &mut dyn ExactSizeIterator<Item = f64>) -> Result<()> {
        let is_other = |owner: &&Owner| owner.position != position as u32 && **owner != REST;
        let kept = self.owners.iter().filter(is_other).count();
        let count = 1 + kept + units.len();
        let together = count <= MOST_TOGETHER;
        let mut fresh = Self {
            owners: try_filled(REST, count)?,
            starts: try_filled(0, self.starts.len().max(position + 1))?,
            units: try_filled(1.0, count)?,
            coefficients: try_filled(self.scale, count)?,
            covariances: try_filled(0.0, if together { count * count } else { count })?,
            row: try_filled(0.0, count)?,
            gain: try_filled(0.0, count)?,
            spreads: try_filled(FIRST_SPREAD * FIRST_SPREAD, count)?,
            ..self.numbers()
        };
        let mut from = try_filled(usize::MAX, count)?;
        from[0] = if self.owners.is_empty() { usize::MAX } else { 0 };
        let mut next = 1;
        for (index, owner) in self.owners.iter().enumerate().filter(|(_, owner)| is_other(owner)) {
            (fresh.owners[next], fresh.units[next], from[next]) = (*owner, self.units[index], index);
            next += 1;
        }
        for (option, unit) in units.enumerate() {
            fresh.owners[next] = Owner { position: position as u32, option: option as u32 };
            fresh.units[next] = unit;
            next += 1;
        }
        for (index, owner) in fresh.owners.iter().enumerate().skip(1).filter(|(_, owner)| owner.option == 0) {
            fresh.starts[owner.position as usize] = index as u32;
        }
        fresh.begin();
        for (to, &at) in from.iter().enumerate().filter(|(_, at)| **at != usize::MAX) {
            fresh.coefficients[to] = self.coefficients[at];
            fresh.spreads[to] = self.spreads[at];
            for (other, &other_at) in from.iter().enumerate() {
                // The new do not err together with the old: as a whole, that would be no covariance.
                let covariance = if other_at == usize::MAX { 0.0 } else { self.covariance(at, other_at) };
                *fresh.covariance_mut(to, other) = covariance;
                *fresh.covariance_mut(other, to) = covariance;
            }
        }
        *self = fresh;
        Ok(())
    }

    /// The numbers alone, without the lists.
    fn numbers(&self) -> Self {
        let Self { scale, noise, side, next_trial, trials, .. } = *self;
        Self { scale, noise, side, next_trial, trials, ..Self::default() }
    }

    /// The host says otherwise what an option costs.
    pub fn set_unit(&mut self, position: usize, option: usize, unit: f64) {
        if let Some(index) = self.index(position, option) {
            self.units[index] = unit;
        }
    }

    /// Whether the scale is known.
    pub fn knows(&self) -> bool {
        self.scale > 0.0
    }

    /// What a setting's options are expected to cost on the first lane; whether anything is known.
    pub fn weigh(&self, position: usize, setting: &Setting, lanes: usize, weights: &mut [Weight]) -> bool {
        for option in 0..setting.options.len() {
            let Some(index) = self.index(position, option) else { continue };
            let mean = self.units[index] * self.coefficients[index] * setting.work_of(option);
            weights[option * lanes] = Weight { mean, variance: self.spreads[index] * mean * mean };
        }
        self.knows()
    }

    /// Variance of the rest of the frame.
    pub fn noise_variance(&self) -> f64 {
        self.noise
    }

    /// What is left of the frame beside all settings.
    pub fn rest(&self) -> f64 {
        self.coefficients.first().copied().unwrap_or(0.0).max(0.0)
    }

    /// Begin a total's equation.
    fn clear_row(&mut self) {
        self.row.fill(0.0);
        if let Some(rest) = self.row.first_mut() {
            *rest = 1.0;
        }
    }

    /// An option was chosen and had so much to do.
    fn put(&mut self, position: usize, option: usize, work: f64) {
        if let Some(index) = self.index(position, option) {
            self.row[index] = self.units[index] * work;
        }
    }

    /// The total that the row came to; `highest` is what all highest options are in the host's unit. Whether the
    /// coefficients were known well enough for the forecast to be judged by it.
    fn learn(&mut self, total: f64, limit: f64, highest: f64) -> bool {
        if self.owners.is_empty() {
            return false;
        }
        if self.scale == 0.0 {
            self.begin_with(total, limit, highest);
        }
        self.doubt(COMMON_DRIFT, OWN_DRIFT);
        let count = self.owners.len();
        let expected: f64 = self.row.iter().zip(&self.coefficients).map(|(unit, x)| unit * x).sum();
        if self.is_together() {
            for (index, gain) in self.gain.iter_mut().enumerate() {
                let covariances = &self.covariances[index * count..][..count];
                *gain = covariances.iter().zip(&self.row).map(|(c, unit)| c * unit).sum();
            }
        } else {
            for ((gain, variance), unit) in self.gain.iter_mut().zip(&self.covariances).zip(&self.row) {
                *gain = variance * unit;
            }
        }
        let uncertainty: f64 = self.gain.iter().zip(&self.row).map(|(gain, unit)| gain * unit).sum();
        // Rounding can make what is certain less than that, and totals of 0 are no noise at all.
        let strays = self.noise + self.spread();
        let variance = (uncertainty.max(0.0) + strays).max(LEAST_VARIANCE);
        let off = total - expected;
        let deviation = variance.sqrt();
        self.side += ((off / deviation).clamp(-3.0, 3.0) - self.side) / SIDE_MEMORY;
        let off = off.max(-FARTHEST * deviation).min(FARTHEST * deviation);
        for (x, gain) in self.coefficients.iter_mut().zip(&self.gain) {
            *x += gain / variance * off;
        }
        self.shrink(variance);
        let least = LEAST * self.scale;
        self.coefficients.iter_mut().skip(1).for_each(|x| *x = x.max(least));
        self.noise = (LEAST_NOISE * total).powi(2);
        self.learn_spreads(off * off - variance);
        if self.side.abs() > ONE_SIDED {
            self.side = 0.0;
            self.doubt(DOUBT_ANEW * DOUBT_ANEW, 0.1 * DOUBT_ANEW * DOUBT_ANEW);
        }
        uncertainty <= KNOWN * strays
    }

    /// Variance of the row's total by what its options stray.
    fn spread(&self) -> f64 {
        let own = self.row.iter().zip(&self.coefficients).map(|(unit, x)| (unit * x).powi(2));
        own.zip(&self.spreads).skip(1).map(|(square, spread)| square * spread).sum()
    }

    /// The square of what the total was off by exceeded its expectation by so much: share that out among the options
    /// (normalised least mean squares, B. Widrow and M. Hoff, 1960).
    fn learn_spreads(&mut self, excess: f64) {
        let square = |(unit, x): (&f64, &f64)| (unit * x).powi(2);
        let norm: f64 = self.row.iter().zip(&self.coefficients).skip(1).map(square).map(|square| square * square).sum();
        if norm <= 0.0 {
            return;
        }
        for (pair, spread) in self.row.iter().zip(&self.coefficients).zip(&mut self.spreads).skip(1) {
            if *pair.0 == 0.0 {
                // What is not seen is forgotten, so that a bad guess does not keep an option away for ever.
                *spread += (FIRST_SPREAD * FIRST_SPREAD - *spread) / SPREAD_FORGOTTEN;
            }
            *spread = (*spread + excess * square(pair) / norm / SPREAD_MEMORY).clamp(SPREADS.start, SPREADS.end);
        }
    }

    /// The first total sets the scale.
    fn begin_with(&mut self, total: f64, limit: f64, highest: f64) {
        let units: f64 = self.row.iter().skip(1).sum();
        let all = highest.max(f64::MIN_POSITIVE);
        let cautious = CAUTIOUS_SCALE * if limit.is_finite() { limit.max(total) } else { total.max(1.0) } / all;
        let scale = if units > 1e-6 * all { total / units } else { cautious };
        self.scale = if scale.is_finite() && scale > 0.0 { scale.min(1e12) } else { 1.0 };
        self.noise = (LEAST_NOISE * total.max(1e-9)).powi(2);
        self.begin();
        *self.covariance_mut(0, 0) = (REST_DOUBT * total).powi(2);
        if units <= 1e-6 * all {
            self.coefficients[0] = total;
        }
    }

    /// Coefficients as first guessed.
    fn begin(&mut self) {
        let scale = self.scale;
        self.coefficients.fill(scale);
        self.covariances.fill(0.0);
        if let Some(rest) = self.coefficients.first_mut() {
            *rest = 0.0;
        }
        self.doubt(COMMON_DOUBT * COMMON_DOUBT, OWN_DOUBT * OWN_DOUBT);
    }

    /// Add variance: so much of a common factor, and so much of each coefficient's own, as shares of them.
    fn doubt(&mut self, common: f64, own: f64) {
        let count = self.owners.len();
        for a in 1..count {
            let x = self.coefficients[a];
            if self.is_together() {
                for b in 1..count {
                    self.covariances[a * count + b] += common * x * self.coefficients[b];
                }
            }
            let own = if self.is_together() { own } else { own + common };
            *self.covariance_mut(a, a) += own * x * x;
        }
    }

    /// What the gain, of an equation with that variance, has made certain.
    fn shrink(&mut self, variance: f64) {
        let count = self.owners.len();
        if !self.is_together() {
            for (own, gain) in self.covariances.iter_mut().zip(&self.gain) {
                *own = (*own - gain * gain / variance).max(0.0);
            }
            return;
        }
        for a in 0..count {
            let share = self.gain[a] / variance;
            for (own, gain) in self.covariances[a * count..][..count].iter_mut().zip(&self.gain) {
                *own -= share * gain;
            }
            if self.covariances[a * count + a] < 0.0 {
                // Rounding has made it more than certain: it is certain, and errs with no other.
                for b in 0..count {
                    self.covariances[a * count + b] = 0.0;
                    self.covariances[b * count + a] = 0.0;
                }
            }
        }
    }

    fn is_together(&self) -> bool {
        self.owners.len() <= MOST_TOGETHER
    }

    fn covariance(&self, a: usize, b: usize) -> f64 {
        match self.is_together() {
            true => self.covariances[a * self.owners.len() + b],
            false if a == b => self.covariances[a],
            false => 0.0,
        }
    }

    fn covariance_mut(&mut self, a: usize, b: usize) -> &mut f64 {
        if self.is_together() {
            let count = self.owners.len();
            return &mut self.covariances[a * count + b];
        }
        if a == b { &mut self.covariances[a] } else { &mut self.gain[a] }
    }

    fn index(&self, position: usize, option: usize) -> Option<usize> {
        let start = self.starts.get(position).copied().filter(|&start| start > 0)? as usize;
        let owner = Owner { position: position as u32, option: option as u32 };
        (self.owners.get(start + option) == Some(&owner)).then_some(start + option)
    }

    /// How far off a coefficient may be, as a share of it.
    fn doubt_of(&self, position: usize, option: usize) -> f64 {
        self.index(position, option).map_or(0.0, |index| {
            self.covariance(index, index).max(0.0).sqrt() / self.coefficients[index].max(f64::MIN_POSITIVE)
        })
    }

    /// What an option with so much work is expected to cost, and how far off that may be.
    pub fn burden(&self, position: usize, option: usize, work: f64) -> Burden {
        let index = self.index(position, option);
        let mean = index.map_or(0.0, |index| self.units[index] * self.coefficients[index] * work);
        let deviation = self.doubt_of(position, option) * mean;
        let source = if self.knows() { Source::Ramp } else { Source::Blind };
        Burden { normal: Normal { mean, variance: deviation * deviation }, source }
    }

    /// Bytes held.
    pub fn memory_used(&self) -> usize {
        let numbers = self.units.capacity()
            + self.coefficients.capacity()
            + self.covariances.capacity()
            + self.row.capacity()
            + self.spreads.capacity()
            + self.gain.capacity();
        numbers * size_of::<f64>()
            + self.owners.capacity() * size_of::<Owner>()
            + self.starts.capacity() * size_of::<u32>()
    }
}

impl Goblin {
    /// Learn from a frame's total what its choices cost.
    pub(super) fn regress(&mut self, decision: u64, total: f64) {
        if decision < self.totals_from {
            return;
        }
        let lane = self.lanes.lane(0);
        let limit = self.strategies.limits(&self.config)[lane];
        let mut highest = 0.0;
        self.regression.clear_row();
        for (position, setting) in self.settings.iter().filter(|(_, setting)| setting.has_burden) {
            let given = self.history.given(decision, position);
            if given.choice == NO_CHOICE || decision < setting.born {
                continue;
            }
            self.regression.put(position, usize::from(given.choice), given.work);
            let units = setting.options.iter().map(|state| state.desc.relative_burden * state.desc.work);
            highest += setting.work * units.fold(0.0, f64::max);
        }
        let knew = self.regression.knows();
        let known = self.regression.learn(total, limit, highest);
        let forecast = *self.history.forecast(decision, 0);
        let probability = self.config.overrun_probability;
        if knew && known && probability > 0.0 && forecast.mean > 0.0 && !forecast.settled {
            let forecast = super::history::Forecast { total: Some(total), ..forecast };
            self.calibrations[0].came(&forecast, 1.0, forecast.ratio, self.config.nominal_sigmas(), probability);
            self.history.forecast(decision, 0).settled = true;
        }
    }

    /// Put the option that is known least, in the lane's unit, on trial for a frame, so that its cost tells apart from
    /// the others'. The better all are known, the rarer.
    pub(super) fn explore_totals(
        &mut self,
        chosen: Weighed,
        economies: &[Economy],
        effort: Effort,
    ) -> Result<(Weighed, u32)> {
        let now = self.history.latest() + 1;
        if now < self.regression.next_trial || !self.regression.knows() || !chosen.feasible {
            return Ok((chosen, 0));
        }
        self.price_changes([0.0; LANES], false);
        let limit = economies[0].capacity.abs();
        let Some((deviation, trial)) = self.least_known() else { return Ok((chosen, 0)) };
        let seldom = TRY_EVERY + self.regression.trials / TRIALS_A_FRAME;
        let wait = if deviation > WELL_KNOWN * limit { seldom.min(TRY_RARELY) } else { TRY_RARELY };
        self.regression.trials += 1;
        self.regression.next_trial = now + wait;
        let found = match self.in_place(&trial, &chosen, economies) {
            Some(found) => Some(found),
            None => self.attempt(&trial, &chosen, economies, economies, effort)?,
        };
        self.note(&trial, found.is_some());
        Ok(found.map_or((chosen, 0), |found| (found, 1)))
    }

    /// The option whose cost is known least, but for those that are chosen or that found no room, and by how much it
    /// may be off.
    fn least_known(&self) -> Option<(f64, Trial)> {
        let now = self.history.latest() + 1;
        let mut least: Option<(f64, Trial)> = None;
        for (at, entry) in self.formulation.entries.iter().enumerate() {
            let (setting, choice) = (self.setting(entry.position), self.formulation.choices[at]);
            for (option, state) in setting.options.iter().enumerate() {
                let free = self.formulation.bars[entry.start + option] == Bar::Free;
                if !setting.has_burden || !free || option == usize::from(choice) || state.next_trial > now {
                    continue;
                }
                let mut guess = self.formulation.weights_of(entry.start + option)[0];
                let deviation = self.regression.doubt_of(entry.position, option) * guess.mean;
                if least.as_ref().is_none_or(|least| deviation > least.0) {
                    if state.failed_trials == 0 {
                        guess.variance += deviation * deviation;
                    }
                    let cheaper = CHEAPER * f64::from(state.failed_trials.min(MOST_CHEAPER));
                    guess.mean = (guess.mean - cheaper * deviation).max(0.0);
                    least = Some((deviation, Trial::of_known(at, option, guess)));
                }
            }
        }
        least
    }
}
