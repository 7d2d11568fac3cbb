//! Estimates each option's cost from frame totals alone.
//!
//! The host's relative burdens give rough proportions, and the first total gives the scale; both are used at once. From
//! then on every total is a linear equation: each chosen option times its unknown coefficient, plus the rest of the
//! frame, equals the total. A Kalman filter (R. E. Kalman, "A new approach to linear filtering and prediction
//! problems", 1960) estimates the coefficients and their covariances. The goblin's own changes, and occasional trials,
//! make options distinguishable. Without process noise this is recursive least squares. A little process noise, common
//! to all coefficients, tracks a machine that gets slower.

use crate::base::{Result, try_filled};
use crate::goblin::question::setting::OptionDesc;
use crate::goblin::tuning::{self, TUNING};
use crate::knapsack::several::Weight;
use crate::profile::{Burden, Source};
use crate::stats::Normal;

const REGRESSION: &tuning::Regression = &TUNING.regression;

/// The option of a coefficient. Number 0 is the rest of the frame, which belongs to no setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Owner {
    position: u32,
    option: u32,
}

const REST: Owner = Owner { position: u32::MAX, option: 0 };

/// The Kalman filter.
#[derive(Debug, Default)]
pub struct Regression {
    owners: Vec<Owner>,
    /// By position: the index of its first coefficient; 0 without coefficients.
    starts: Vec<u32>,
    /// The host's burden of each option per unit of work, which its coefficient multiplies.
    units: Vec<f64>,
    coefficients: Vec<f64>,
    /// Covariances of the coefficients row by row, or only their variances.
    covariances: Vec<f64>,
    /// The equation of the present frame: units × work of the chosen options. And the covariances times that.
    row: Vec<f64>,
    gain: Vec<f64>,
    /// The first guess of the coefficients; 0 before the first total.
    scale: f64,
    /// Spread of each option's cost about its mean: variances of shares.
    spreads: Vec<f64>,
    /// Variance of the rest of the frame.
    noise: f64,
    bias: f64,
}

impl Regression {
    /// This regression with other options of a setting; empty for a removed one.
    pub fn with_options(&self, position: usize, options: &[OptionDesc]) -> Result<Self> {
        let is_other = |owner: &&Owner| owner.position != position as u32 && **owner != REST;
        let kept = self.owners.iter().filter(is_other).count();
        let count = 1 + kept + options.len();
        let mut fresh = self.with_room(count, position)?;
        // The index of each coefficient before; `usize::MAX` for a new one.
        let mut from = try_filled(usize::MAX, count)?;
        from[0] = if self.owners.is_empty() { usize::MAX } else { 0 };
        let mut next = 1;
        for (index, owner) in self.owners.iter().enumerate().filter(|(_, owner)| is_other(owner)) {
            (fresh.owners[next], fresh.units[next], from[next]) = (*owner, self.units[index], index);
            next += 1;
        }
        for (option, desc) in options.iter().enumerate() {
            fresh.owners[next] = Owner { position: position as u32, option: option as u32 };
            fresh.units[next] = desc.relative_burden;
            next += 1;
        }
        for (index, owner) in fresh.owners.iter().enumerate().skip(1).filter(|(_, owner)| owner.option == 0) {
            fresh.starts[owner.position as usize] = index as u32;
        }
        fresh.begin();
        self.copy_to(&mut fresh, &from);
        Ok(fresh)
    }

    /// A filter with this many coefficients, and with the scalar state of this one.
    fn with_room(&self, count: usize, position: usize) -> Result<Self> {
        let Self { scale, noise, bias, .. } = *self;
        let has_covariances = count <= REGRESSION.most_covariances;
        Ok(Self {
            owners: try_filled(REST, count)?,
            starts: try_filled(0, self.starts.len().max(position + 1))?,
            units: try_filled(1.0, count)?,
            coefficients: try_filled(scale, count)?,
            covariances: try_filled(0.0, if has_covariances { count * count } else { count })?,
            row: try_filled(0.0, count)?,
            gain: try_filled(0.0, count)?,
            spreads: try_filled(REGRESSION.first_spread * REGRESSION.first_spread, count)?,
            scale,
            noise,
            bias,
        })
    }

    /// Copy the coefficients that were there before, at the indices `from`. New coefficients are independent of the old
    /// ones. Otherwise the matrix would not be a valid covariance.
    fn copy_to(&self, fresh: &mut Self, from: &[usize]) {
        for (to, &at) in from.iter().enumerate().filter(|(_, at)| **at != usize::MAX) {
            fresh.coefficients[to] = self.coefficients[at];
            fresh.spreads[to] = self.spreads[at];
            for (other, &other_at) in from.iter().enumerate() {
                let covariance = if other_at == usize::MAX { 0.0 } else { self.covariance(at, other_at) };
                *fresh.covariance_mut(to, other) = covariance;
                *fresh.covariance_mut(other, to) = covariance;
            }
        }
    }

    /// Set the host's burden of an option.
    pub fn set_unit(&mut self, position: usize, option: usize, unit: f64) {
        if let Some(index) = self.index(position, option) {
            self.units[index] = unit;
        }
    }

    /// Whether the scale is known.
    pub fn knows(&self) -> bool {
        self.scale > 0.0
    }

    /// Set the expected costs of a setting's options on the first lane, given the work of each. Returns whether the scale
    /// is known.
    pub fn weigh(
        &self,
        position: usize,
        works: impl Iterator<Item = f64>,
        lanes: usize,
        weights: &mut [Weight],
    ) -> bool {
        for (option, work) in works.enumerate() {
            let Some(index) = self.index(position, option) else { continue };
            let mean = self.units[index] * self.coefficients[index] * work;
            weights[option * lanes] = Weight { mean, variance: self.spreads[index] * mean * mean };
        }
        self.knows()
    }

    /// Variance of the rest of the frame.
    pub fn noise_variance(&self) -> f64 {
        self.noise
    }

    /// The cost of the frame without all settings.
    pub fn rest(&self) -> f64 {
        self.coefficients.first().copied().unwrap_or(0.0).max(0.0)
    }

    /// Begin the equation of a total.
    pub fn clear_row(&mut self) {
        self.row.fill(0.0);
        if let Some(rest) = self.row.first_mut() {
            *rest = 1.0;
        }
    }

    /// Add a chosen option with its work to the equation.
    pub fn put(&mut self, position: usize, option: usize, work: f64) {
        if let Some(index) = self.index(position, option) {
            self.row[index] = self.units[index] * work;
        }
    }

    /// Learn the total of the equation. `highest` is the sum of the highest options in the host's unit. Returns whether
    /// the coefficients were known well enough for the forecast to be judged.
    pub fn learn(&mut self, total: f64, limit: f64, highest: f64) -> bool {
        if self.owners.is_empty() {
            return false;
        }
        if self.scale == 0.0 {
            self.begin_with(total, limit, highest);
        }
        self.add_variance(REGRESSION.common_noise, REGRESSION.own_noise);
        let expected: f64 = self.row.iter().zip(&self.coefficients).map(|(unit, x)| unit * x).sum();
        let uncertainty = self.find_gain();
        // Rounding can make this variance negative, and totals of 0 have no noise at all.
        let strays = self.noise + self.spread();
        let variance = (uncertainty.max(0.0) + strays).max(REGRESSION.least_variance);
        let (residual, deviation) = (total - expected, variance.sqrt());
        let normalised = (residual / deviation).clamp(-REGRESSION.most_bias_term, REGRESSION.most_bias_term);
        self.bias += (normalised - self.bias) / REGRESSION.bias_memory;
        let most = REGRESSION.residual_deviations * deviation;
        let residual = residual.max(-most).min(most);
        self.correct(residual, variance);
        self.noise = (REGRESSION.rest_deviation * total).powi(2);
        self.learn_spreads(residual * residual - variance);
        self.detect_change();
        uncertainty <= REGRESSION.known * strays
    }

    /// Set the gain to the covariances times the equation. Returns the variance of the equation's total.
    fn find_gain(&mut self) -> f64 {
        let count = self.owners.len();
        if self.has_covariances() {
            for (index, gain) in self.gain.iter_mut().enumerate() {
                let covariances = &self.covariances[index * count..][..count];
                *gain = covariances.iter().zip(&self.row).map(|(c, unit)| c * unit).sum();
            }
        } else {
            for ((gain, variance), unit) in self.gain.iter_mut().zip(&self.covariances).zip(&self.row) {
                *gain = variance * unit;
            }
        }
        self.gain.iter().zip(&self.row).map(|(gain, unit)| gain * unit).sum()
    }

    /// Correct the coefficients and their covariances by a residual with this variance.
    fn correct(&mut self, residual: f64, variance: f64) {
        for (x, gain) in self.coefficients.iter_mut().zip(&self.gain) {
            *x += gain / variance * residual;
        }
        self.shrink(variance);
        let least = REGRESSION.least_coefficient * self.scale;
        self.coefficients.iter_mut().skip(1).for_each(|x| *x = x.max(least));
    }

    /// Add variance if the residuals have been on one side, because the costs have changed.
    fn detect_change(&mut self) {
        if self.bias.abs() > REGRESSION.most_bias {
            self.bias = 0.0;
            let added = REGRESSION.added_deviation * REGRESSION.added_deviation;
            self.add_variance(added, REGRESSION.added_own * REGRESSION.added_deviation * REGRESSION.added_deviation);
        }
    }

    /// Variance of the equation's total from the spread of its options.
    fn spread(&self) -> f64 {
        let own = self.row.iter().zip(&self.coefficients).map(|(unit, x)| (unit * x).powi(2));
        own.zip(&self.spreads).skip(1).map(|(square, spread)| square * spread).sum()
    }

    /// Distribute the excess of the squared residual over its expectation among the spreads of the options (normalised
    /// least mean squares, B. Widrow and M. Hoff, 1960).
    fn learn_spreads(&mut self, excess: f64) {
        let square = |(unit, x): (&f64, &f64)| (unit * x).powi(2);
        let norm: f64 = self.row.iter().zip(&self.coefficients).skip(1).map(square).map(|square| square * square).sum();
        if norm <= 0.0 {
            return;
        }
        for (pair, spread) in self.row.iter().zip(&self.coefficients).zip(&mut self.spreads).skip(1) {
            if *pair.0 == 0.0 {
                // The spread of an option without samples returns to the first value, so that a bad estimate does not
                // exclude it for ever.
                *spread += (REGRESSION.first_spread * REGRESSION.first_spread - *spread) / REGRESSION.spread_decay;
            }
            *spread = (*spread + excess * square(pair) / norm / REGRESSION.spread_memory)
                .clamp(REGRESSION.spread_range.start, REGRESSION.spread_range.end);
        }
    }

    /// The first total sets the scale.
    fn begin_with(&mut self, total: f64, limit: f64, highest: f64) {
        let units: f64 = self.row.iter().skip(1).sum();
        let all = highest.max(f64::MIN_POSITIVE);
        let cautious =
            REGRESSION.cautious_scale * if limit.is_finite() { limit.max(total) } else { total.max(1.0) } / all;
        let scale = if units > 1e-6 * all { total / units } else { cautious };
        self.scale = if scale.is_finite() && scale > 0.0 { scale.min(1e12) } else { 1.0 };
        self.noise = (REGRESSION.rest_deviation * total.max(1e-9)).powi(2);
        self.begin();
        *self.covariance_mut(0, 0) = (REGRESSION.rest_prior * total).powi(2);
        if units <= 1e-6 * all {
            self.coefficients[0] = total;
        }
    }

    /// Reset the coefficients to the prior.
    fn begin(&mut self) {
        let scale = self.scale;
        self.coefficients.fill(scale);
        self.covariances.fill(0.0);
        if let Some(rest) = self.coefficients.first_mut() {
            *rest = 0.0;
        }
        self.add_variance(
            REGRESSION.common_prior * REGRESSION.common_prior,
            REGRESSION.own_prior * REGRESSION.own_prior,
        );
    }

    /// Add variance, as shares of the coefficients: of a common factor, and of each coefficient by itself.
    fn add_variance(&mut self, common: f64, own: f64) {
        let count = self.owners.len();
        for a in 1..count {
            let x = self.coefficients[a];
            if self.has_covariances() {
                for b in 1..count {
                    self.covariances[a * count + b] += common * x * self.coefficients[b];
                }
            }
            let own = if self.has_covariances() { own } else { own + common };
            *self.covariance_mut(a, a) += own * x * x;
        }
    }

    /// Covariance update after an equation with this variance and gain.
    fn shrink(&mut self, variance: f64) {
        let count = self.owners.len();
        if !self.has_covariances() {
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
                // Rounding has made the variance negative: set it and its covariances to 0.
                for b in 0..count {
                    self.covariances[a * count + b] = 0.0;
                    self.covariances[b * count + a] = 0.0;
                }
            }
        }
    }

    fn has_covariances(&self) -> bool {
        self.owners.len() <= REGRESSION.most_covariances
    }

    fn covariance(&self, a: usize, b: usize) -> f64 {
        match self.has_covariances() {
            true => self.covariances[a * self.owners.len() + b],
            false if a == b => self.covariances[a],
            false => 0.0,
        }
    }

    fn covariance_mut(&mut self, a: usize, b: usize) -> &mut f64 {
        if self.has_covariances() {
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

    /// Relative deviation of a coefficient.
    pub fn relative_deviation(&self, position: usize, option: usize) -> f64 {
        self.index(position, option).map_or(0.0, |index| {
            self.covariance(index, index).max(0.0).sqrt() / self.coefficients[index].max(f64::MIN_POSITIVE)
        })
    }

    /// Expected cost of an option with this work, and its deviation.
    pub fn burden(&self, position: usize, option: usize, work: f64) -> Burden {
        let index = self.index(position, option);
        let mean = index.map_or(0.0, |index| self.units[index] * self.coefficients[index] * work);
        let deviation = self.relative_deviation(position, option) * mean;
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
