//! The caller's input: the options of all settings, one setting after the other. The weights of an option are side by
//! side.

use super::super::input::{greater, lesser};
use super::super::{LARGEST_NUMBER, MAX_OPTIONS_PER_SETTING, NO_CHOICE};
use super::{MOST_RESOURCES, Weight, bytes, reserve_total};
use crate::base::Number;
use crate::base::{Error, Result, error};
use std::ops::Range;

/// Sums over one option per setting, in the caller's numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Totals {
    pub value: f64,
    pub weights: [Weight; MOST_RESOURCES],
}

impl Weight {
    pub(super) fn plus(self, other: Self) -> Self {
        Self { mean: self.mean + other.mean, variance: self.variance + other.variance }
    }

    pub(super) fn minus(self, other: Self) -> Self {
        Self { mean: self.mean - other.mean, variance: self.variance - other.variance }
    }

    /// The greater mean, and the greater variance.
    pub(super) fn most(self, other: Self) -> Self {
        Self { mean: greater(self.mean, other.mean), variance: greater(self.variance, other.variance) }
    }

    /// The lesser mean, and the lesser variance.
    pub(super) fn least(self, other: Self) -> Self {
        Self { mean: lesser(self.mean, other.mean), variance: lesser(self.variance, other.variance) }
    }

    /// Whether neither mean nor variance is greater.
    pub(super) fn is_within(self, other: Self) -> bool {
        (self.mean <= other.mean) & (self.variance <= other.variance)
    }
}

#[derive(Debug, Default)]
pub(super) struct Input {
    resources: usize,
    value: Vec<f64>,
    /// `weight[option * resources + resource]`
    weight: Vec<Weight>,
    /// The end of each setting's options; they start at the end of the setting before.
    ends: Vec<u32>,
}

impl Input {
    pub fn reserve(&mut self, settings: usize, options: usize, resources: usize) -> Result<()> {
        reserve_total(&mut self.value, options)?;
        reserve_total(&mut self.weight, options.saturating_mul(resources))?;
        reserve_total(&mut self.ends, settings)
    }

    pub fn clear(&mut self, resources: usize) {
        self.resources = resources;
        self.value.clear();
        self.weight.clear();
        self.ends.clear();
    }

    pub fn add_setting(&mut self, values: &[f64], weights: &[Weight]) -> Result<usize> {
        let setting = self.ends.len();
        self.check_setting(setting, values, weights)?;
        let end = u32::try_from(self.value.len() + values.len())
            .map_err(|_| error!(LimitExceeded, "setting {setting}: more than 4294967295 options in total"))?;
        self.value.try_reserve(values.len())?;
        self.weight.try_reserve(weights.len())?;
        self.ends.try_reserve(1)?;
        self.value.extend_from_slice(values);
        self.weight.extend_from_slice(weights);
        self.ends.push(end);
        Ok(setting)
    }

    pub fn resources(&self) -> usize {
        self.resources
    }

    pub fn setting_count(&self) -> usize {
        self.ends.len()
    }

    pub fn option_count(&self) -> usize {
        self.value.len()
    }

    /// Each setting's options, as positions.
    pub fn settings(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        let mut start = 0;
        self.ends.iter().map(move |&end| std::mem::replace(&mut start, end as usize)..end as usize)
    }

    pub fn value(&self, position: usize) -> f64 {
        self.value[position]
    }

    /// The weights of an option, by resource.
    pub fn weights(&self, position: usize) -> &[Weight] {
        &self.weight[position * self.resources..(position + 1) * self.resources]
    }

    /// The weights of some options, one option after the other.
    pub fn weights_of(&self, options: Range<usize>) -> &[Weight] {
        &self.weight[options.start * self.resources..options.end * self.resources]
    }

    /// The sums of the chosen options, added in setting order. All reported sums come from this function.
    pub fn totals(&self, choices: &[u16]) -> Totals {
        let mut totals = Totals::default();
        for (range, &choice) in self.settings().zip(choices) {
            if choice != NO_CHOICE {
                let position = range.start + choice as usize;
                totals.value += self.value[position];
                for (sum, &weight) in totals.weights.iter_mut().zip(self.weights(position)) {
                    *sum = sum.plus(weight);
                }
            }
        }
        totals
    }

    pub fn memory_used(&self) -> usize {
        bytes(&self.value) + bytes(&self.weight) + bytes(&self.ends)
    }

    fn check_setting(&self, setting: usize, values: &[f64], weights: &[Weight]) -> Result<()> {
        let (options, resources) = (values.len(), self.resources);
        if resources == 0 {
            return Err(error!(
                InvalidArgument,
                "the number of resources is not set: call clear with it before adding settings"
            ));
        }
        if options > MAX_OPTIONS_PER_SETTING {
            return Err(error!(
                LimitExceeded,
                "setting {setting} has {options} options: at most {MAX_OPTIONS_PER_SETTING} are possible"
            ));
        }
        if weights.len() != options * resources {
            return Err(error!(
                InvalidArgument,
                "setting {setting} has {options} options and {resources} resources, but {} weights: pass their product",
                weights.len()
            ));
        }
        match (0..options).find(|&o| !is_valid(values[o], &weights[o * resources..(o + 1) * resources])) {
            None => Ok(()),
            Some(o) => Err(complaint(setting, o, values[o], &weights[o * resources..(o + 1) * resources])),
        }
    }
}

fn is_valid(value: f64, weights: &[Weight]) -> bool {
    is_number(value) && weights.iter().all(|weight| is_mean(weight.mean) && is_variance(weight.variance))
}

/// False for NaN, which is in no range.
fn is_number(number: f64) -> bool {
    (-LARGEST_NUMBER..=LARGEST_NUMBER).contains(&number)
}

fn is_mean(number: f64) -> bool {
    is_number(number) || number == f64::INFINITY
}

fn is_variance(number: f64) -> bool {
    (0.0..=LARGEST_NUMBER).contains(&number)
}

fn complaint(setting: usize, option: usize, value: f64, weights: &[Weight]) -> Error {
    if !is_number(value) {
        let value = Number(value);
        return error!(InvalidArgument, "setting {setting}, option {option}: value is {value}, not within ±1e100");
    }
    let wrong = |weight: &Weight| !(is_mean(weight.mean) && is_variance(weight.variance));
    let resource = weights.iter().position(wrong).unwrap_or(0);
    let Weight { mean, variance } = weights[resource];
    let [mean, variance] = [mean, variance].map(Number);
    error!(
        InvalidArgument,
        "setting {setting}, option {option}, resource {resource}: the mean is {mean} (within ±1e100, or +infinity: \
         cannot be chosen) and the variance {variance} (from 0 to 1e100)"
    )
}
