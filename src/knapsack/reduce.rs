//! The problem that remains when what cannot matter is left out.
//!
//! Options that cannot be chosen go, and options that are no better than another of their setting in any respect.
//! Settings left with one option are decided. In the others, values are counted down from the setting's best, means and
//! variances up from its least: then nothing cancels, and tolerances follow the differences that decide, not offsets.

use super::input::{Input, Totals};
use super::{NO_CHOICE, bytes, reserve_total};
use crate::base::Result;

/// Up to this many options each is compared with every other of its setting; beyond, only with its neighbours.
const COMPARE_ALL: usize = 8;

#[derive(Debug, Default)]
pub(super) struct Problem {
    /// Per option that is left: value minus the best of its setting, so at most 0.
    pub value: Vec<f64>,
    /// Mean above the least of its setting.
    pub mean: Vec<f64>,
    /// Variance above the least of its setting. All 0 in the scalar case.
    pub variance: Vec<f64>,
    /// Index in its setting as the caller gave it.
    pub option: Vec<u16>,
    /// Per setting that is left ("class"): where its options start, and one more for the end.
    pub starts: Vec<u32>,
    /// Which setting of the input a class is.
    pub setting: Vec<u32>,
    /// Per class, the option of best value.
    pub best: Vec<u32>,
    /// The sums of those; their value is 0.
    pub best_totals: Totals,
    /// What was subtracted, and the decided settings.
    pub base: Totals,
    /// Sum of the most that each class can have above its least variance.
    pub variance_range: f64,
    /// The greatest mean and the greatest variance that an option has above the least of its setting.
    pub greatest_step: Totals,
    /// The decided choices; classes are 0 here.
    pub decided: Vec<u16>,
    /// Magnitude of the negative means, see [`super::fits::Limit`].
    pub negative_means: f64,
    /// Whether some setting has options but none that can be chosen.
    pub impossible: bool,
}

impl Problem {
    pub fn reserve(&mut self, settings: usize, options: usize) -> Result<()> {
        reserve_total(&mut self.value, options)?;
        reserve_total(&mut self.mean, options)?;
        reserve_total(&mut self.variance, options)?;
        reserve_total(&mut self.option, options)?;
        reserve_total(&mut self.starts, settings + 1)?;
        reserve_total(&mut self.setting, settings)?;
        reserve_total(&mut self.best, settings)?;
        reserve_total(&mut self.decided, settings)
    }

    pub fn memory_used(&self) -> usize {
        bytes(&self.value)
            + bytes(&self.mean)
            + bytes(&self.variance)
            + bytes(&self.option)
            + bytes(&self.starts)
            + bytes(&self.setting)
            + bytes(&self.best)
            + bytes(&self.decided)
    }

    pub fn class_count(&self) -> usize {
        self.setting.len()
    }

    pub fn class(&self, class: usize) -> std::ops::Range<usize> {
        self.starts[class] as usize..self.starts[class + 1] as usize
    }

    pub fn at(&self, position: usize) -> Totals {
        Totals { value: self.value[position], mean: self.mean[position], variance: self.variance[position] }
    }

    /// Take in the input. Memory was reserved.
    pub fn fill(&mut self, input: &Input, scalar: bool) {
        self.clear();
        for range in input.settings() {
            let first = self.value.len();
            let negative = self.take_possible(input, range.clone(), scalar);
            self.negative_means += negative;
            self.close_setting(input, range, first);
        }
        self.starts.push(self.value.len() as u32);
    }

    /// The greatest number that all values are multiples of, such as 1 for integers; 0 if there is none worth the name.
    /// Exact: Euclid's algorithm on floating point remainders, which are never rounded.
    pub fn value_step(&self) -> f64 {
        let mut step = 0.0;
        let mut greatest = 0.0_f64;
        for value in self.value.iter().map(|value| value.abs()) {
            greatest = greatest.max(value);
            let mut remainder = value;
            while remainder > 0.0 {
                (step, remainder) = (remainder, step % remainder);
            }
            if step < 1e-9 * greatest {
                return 0.0;
            }
        }
        step
    }

    fn clear(&mut self) {
        self.value.clear();
        self.mean.clear();
        self.variance.clear();
        self.option.clear();
        self.starts.clear();
        self.setting.clear();
        self.best.clear();
        self.decided.clear();
        self.base = Totals::default();
        self.best_totals = Totals::default();
        self.variance_range = 0.0;
        self.greatest_step = Totals::default();
        self.negative_means = 0.0;
        self.impossible = false;
    }

    /// Append the options of one setting that can be chosen; returns the magnitude of its most negative mean.
    fn take_possible(&mut self, input: &Input, range: std::ops::Range<usize>, scalar: bool) -> f64 {
        let first = self.value.len();
        let compare_all = range.len() <= COMPARE_ALL;
        let mut negative = 0.0_f64;
        for position in range.clone() {
            let mut option = input.option(position);
            if option.mean == f64::INFINITY {
                continue;
            }
            if scalar {
                option.variance = 0.0;
            }
            negative = negative.max(-option.mean);
            let from = if compare_all { first } else { self.value.len().saturating_sub(1).max(first) };
            if self.take_unless_dominated(option, from) {
                self.option.push((position - range.start) as u16);
            }
        }
        negative
    }

    /// Push an option unless one in `from..` is at least as good; drop from the end those it makes useless.
    fn take_unless_dominated(&mut self, option: Totals, from: usize) -> bool {
        if (from..self.value.len()).any(|kept| dominates(self.at(kept), option)) {
            return false;
        }
        let mut kept = self.value.len();
        while kept > from {
            kept -= 1;
            if dominates(option, self.at(kept)) {
                self.value.remove(kept);
                self.mean.remove(kept);
                self.variance.remove(kept);
                self.option.remove(kept);
            }
        }
        self.value.push(option.value);
        self.mean.push(option.mean);
        self.variance.push(option.variance);
        true
    }

    fn close_setting(&mut self, input: &Input, range: std::ops::Range<usize>, first: usize) {
        let setting = self.decided.len() as u32;
        match self.value.len() - first {
            0 => self.decide_without_options(input, range),
            1 => self.decide_only_option(first),
            _ => {
                self.decided.push(0);
                self.starts.push(first as u32);
                self.setting.push(setting);
                self.count_from_best_and_least(first);
            }
        }
    }

    fn decide_without_options(&mut self, input: &Input, range: std::ops::Range<usize>) {
        if range.is_empty() {
            self.decided.push(NO_CHOICE);
            return;
        }
        // None can be chosen, so all are equally light: the best value it is.
        self.impossible = true;
        let start = range.start;
        let best =
            range.reduce(|best, other| if input.option(other).value > input.option(best).value { other } else { best });
        self.decided.push((best.unwrap_or(start) - start) as u16);
    }

    fn decide_only_option(&mut self, only: usize) {
        self.base = self.base.plus(self.at(only));
        self.decided.push(self.option[only]);
        self.value.truncate(only);
        self.mean.truncate(only);
        self.variance.truncate(only);
        self.option.truncate(only);
    }

    fn count_from_best_and_least(&mut self, first: usize) {
        let mut least = self.at(first);
        let mut most = least;
        let mut best = first;
        for position in first + 1..self.value.len() {
            if better(self.at(position), self.at(best)) {
                best = position;
            }
            least.mean = least.mean.min(self.mean[position]);
            least.variance = least.variance.min(self.variance[position]);
            most.mean = most.mean.max(self.mean[position]);
            most.variance = most.variance.max(self.variance[position]);
        }
        let offset = Totals { value: self.value[best], ..least };
        for position in first..self.value.len() {
            self.value[position] -= offset.value;
            self.mean[position] -= offset.mean;
            self.variance[position] -= offset.variance;
        }
        self.best.push(best as u32);
        self.best_totals = self.best_totals.plus(self.at(best));
        self.base = self.base.plus(offset);
        let step = most.minus(least);
        self.variance_range += step.variance;
        self.greatest_step.mean = self.greatest_step.mean.max(step.mean);
        self.greatest_step.variance = self.greatest_step.variance.max(step.variance);
    }
}

fn dominates(one: Totals, other: Totals) -> bool {
    one.value >= other.value && one.mean <= other.mean && one.variance <= other.variance
}

/// More value, or the same for less.
fn better(one: Totals, other: Totals) -> bool {
    one.value > other.value
        || one.value == other.value
            && (one.mean < other.mean || one.mean == other.mean && one.variance < other.variance)
}
