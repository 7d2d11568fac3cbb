//! The reduced problem, without options and resources that cannot matter.
//!
//! Resources that suffice for any choices are removed. Options that cannot be chosen are removed, and so are dominated
//! ones. Settings with one remaining option are decided. The others are called classes. Their values are relative to
//! the setting's best, means and variances to its least, as in the single resource's `reduce`. The remaining resources
//! are called constraints.

use super::super::{Economy, NO_CHOICE, fits::Limit, input::greater};
use super::input::Input;
use super::{MOST_RESOURCES, Weight, bytes, reserve_total};
use crate::base::Result;
use std::ops::Range;

/// An option is compared with this many others of its setting.
const COMPARED: usize = 8;

/// A resource that may run out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Constraint {
    pub resource: usize,
    pub limit: Limit,
    /// The sums subtracted from the classes, plus the decided settings.
    pub base: Weight,
    /// The most that the classes can have above `base`.
    pub range: Weight,
}

const UNUSED: Constraint = Constraint {
    resource: 0,
    limit: Limit { capacity: f64::INFINITY, sigmas: 0.0, tolerance: 0.0 },
    base: Weight { mean: 0.0, variance: 0.0 },
    range: Weight { mean: 0.0, variance: 0.0 },
};

#[derive(Debug)]
pub(super) struct Problem {
    constraints: [Constraint; MOST_RESOURCES],
    constraint_count: usize,
    /// Per kept option: value minus the best of its setting, so at most 0.
    pub value: Vec<f64>,
    /// `weight[option * constraints + constraint]` above the least of its setting. Variances are 0 if `sigmas` is.
    weight: Vec<Weight>,
    /// Per kept option, its index in its setting of the input.
    option: Vec<u16>,
    /// Per kept option, its class.
    class: Vec<u32>,
    /// Per class, the start of its options, and one more for the end.
    starts: Vec<u32>,
    /// Per class, its setting in the input.
    setting: Vec<u32>,
    /// Per class, the option of best value.
    pub best: Vec<u32>,
    pub base_value: f64,
    /// Sum of the greatest loss of each class from its best.
    pub value_range: f64,
    /// The decided choices; classes are 0 here.
    decided: Vec<u16>,
    /// Whether nothing can fit: some setting has options but none that can be chosen, or the least burden of a resource
    /// exceeds its capacity.
    pub impossible: bool,
}

impl Default for Problem {
    fn default() -> Self {
        Self {
            constraints: [UNUSED; MOST_RESOURCES],
            constraint_count: 0,
            value: Vec::new(),
            weight: Vec::new(),
            option: Vec::new(),
            class: Vec::new(),
            starts: Vec::new(),
            setting: Vec::new(),
            best: Vec::new(),
            base_value: 0.0,
            value_range: 0.0,
            decided: Vec::new(),
            impossible: false,
        }
    }
}

impl Problem {
    pub fn reserve(&mut self, settings: usize, options: usize, resources: usize) -> Result<()> {
        reserve_total(&mut self.value, options)?;
        reserve_total(&mut self.weight, options.saturating_mul(resources))?;
        reserve_total(&mut self.option, options)?;
        reserve_total(&mut self.class, options)?;
        reserve_total(&mut self.starts, settings + 1)?;
        reserve_total(&mut self.setting, settings)?;
        reserve_total(&mut self.best, settings)?;
        reserve_total(&mut self.decided, settings)
    }

    pub fn memory_used(&self) -> usize {
        bytes(&self.value)
            + bytes(&self.weight)
            + bytes(&self.option)
            + bytes(&self.class)
            + bytes(&self.starts)
            + bytes(&self.setting)
            + bytes(&self.best)
            + bytes(&self.decided)
    }

    pub fn constraints(&self) -> &[Constraint] {
        &self.constraints[..self.constraint_count]
    }

    pub fn class_count(&self) -> usize {
        self.setting.len()
    }

    pub fn option_count(&self) -> usize {
        self.value.len()
    }

    /// Each class's options, as positions.
    pub fn classes(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        self.starts.windows(2).map(|pair| pair[0] as usize..pair[1] as usize)
    }

    pub fn class_of(&self, position: usize) -> usize {
        self.class[position] as usize
    }

    pub fn weight(&self, position: usize, constraint: usize) -> Weight {
        self.weight[position * self.constraint_count + constraint]
    }

    /// Write the choices of these picks, one position per class, in the order of the input's settings.
    pub fn write_choices(&self, picks: &[u32], choices: &mut Vec<u16>) {
        choices.clear();
        choices.extend_from_slice(&self.decided);
        for (&setting, &pick) in self.setting.iter().zip(picks) {
            choices[setting as usize] = self.option[pick as usize];
        }
    }

    /// The picks of these choices. A removed option becomes the best of its class.
    pub fn read_choices(&self, choices: &[u16], picks: &mut Vec<u32>) {
        picks.clear();
        for ((range, &setting), &best) in self.classes().zip(&self.setting).zip(&self.best) {
            let choice = choices[setting as usize];
            let found = self.option[range.clone()].binary_search(&choice);
            picks.push(found.map_or(best, |index| (range.start + index) as u32));
        }
    }

    /// Read the input. Memory must be reserved.
    pub fn fill(&mut self, input: &Input, economies: &[Economy]) {
        self.clear();
        self.find_constraints(input, economies);
        for range in input.settings() {
            let first = self.value.len();
            self.keep_options(input, range.clone(), first);
            match self.value.len() - first {
                0 => self.decide_without_options(input, range),
                1 => self.decide_only_option(first),
                _ => self.open_class(first),
            }
        }
        self.starts.push(self.value.len() as u32);
        self.impossible |= self.constraints().iter().any(Constraint::is_hopeless);
    }

    fn clear(&mut self) {
        self.value.clear();
        self.weight.clear();
        self.option.clear();
        self.class.clear();
        self.starts.clear();
        self.setting.clear();
        self.best.clear();
        self.decided.clear();
        self.constraint_count = 0;
        self.base_value = 0.0;
        self.value_range = 0.0;
        self.impossible = false;
    }

    fn find_constraints(&mut self, input: &Input, economies: &[Economy]) {
        for (resource, &economy) in economies.iter().enumerate() {
            if economy.capacity == f64::INFINITY {
                continue;
            }
            let (most, negative_means) = most_burden(input, resource);
            let limit = Limit::new(economy, negative_means);
            if most.mean + economy.sigmas * most.variance.sqrt() > limit.capacity {
                self.constraints[self.constraint_count] = Constraint { resource, limit, ..UNUSED };
                self.constraint_count += 1;
            }
        }
    }

    /// Append the options of a setting that can be chosen, without those dominated by a compared one.
    fn keep_options(&mut self, input: &Input, range: Range<usize>, first: usize) {
        for position in range.clone() {
            let weights = input.weights(position);
            if !weights.iter().all(|weight| weight.mean < f64::INFINITY) {
                continue;
            }
            let here = self.value.len();
            self.value.push(input.value(position));
            self.option.push((position - range.start) as u16);
            for constraint in &self.constraints[..self.constraint_count] {
                let weight = weights[constraint.resource];
                self.weight.push(if constraint.limit.sigmas == 0.0 {
                    Weight { variance: 0.0, ..weight }
                } else {
                    weight
                });
            }
            let from = first.max(here.saturating_sub(COMPARED));
            if (from..here).any(|kept| self.dominates(kept, here)) {
                self.remove(here);
                continue;
            }
            for kept in (from..here).rev() {
                if self.dominates(self.value.len() - 1, kept) {
                    self.remove(kept);
                }
            }
        }
    }

    fn dominates(&self, one: usize, other: usize) -> bool {
        self.value[one] >= self.value[other]
            && self.weights(one).iter().zip(self.weights(other)).all(|(one, other)| one.is_within(*other))
    }

    /// By constraint.
    fn weights(&self, position: usize) -> &[Weight] {
        &self.weight[position * self.constraint_count..][..self.constraint_count]
    }

    fn remove(&mut self, position: usize) {
        self.value.remove(position);
        self.option.remove(position);
        self.weight.drain(position * self.constraint_count..(position + 1) * self.constraint_count);
    }

    fn decide_without_options(&mut self, input: &Input, range: Range<usize>) {
        if range.is_empty() {
            self.decided.push(NO_CHOICE);
            return;
        }
        // No option can be chosen: take the one of best value.
        self.impossible = true;
        let start = range.start;
        let best = range.reduce(|best, other| if input.value(other) > input.value(best) { other } else { best });
        self.decided.push((best.unwrap_or(start) - start) as u16);
    }

    fn decide_only_option(&mut self, first: usize) {
        self.base_value += self.value[first];
        self.decided.push(self.option[first]);
        for (constraint, &weight) in self.constraints.iter_mut().zip(&self.weight[first * self.constraint_count..]) {
            constraint.base = constraint.base.plus(weight);
        }
        self.value.truncate(first);
        self.option.truncate(first);
        self.weight.truncate(first * self.constraint_count);
    }

    fn open_class(&mut self, first: usize) {
        self.starts.push(first as u32);
        self.setting.push(self.decided.len() as u32);
        self.decided.push(0);
        self.class.resize(self.value.len(), self.best.len() as u32);
        self.count_values_from_best(first);
        for constraint in 0..self.constraint_count {
            self.count_weights_from_least(first, constraint);
        }
    }

    fn count_values_from_best(&mut self, first: usize) {
        let best = (first..self.value.len())
            .reduce(|best, other| if self.value[other] > self.value[best] { other } else { best })
            .unwrap_or(first);
        let value = self.value[best];
        self.value[first..].iter_mut().for_each(|other| *other -= value);
        self.value_range -= self.value[first..].iter().copied().fold(0.0, f64::min);
        self.base_value += value;
        self.best.push(best as u32);
    }

    fn count_weights_from_least(&mut self, first: usize, constraint: usize) {
        let of_constraint =
            || (first * self.constraint_count + constraint..self.weight.len()).step_by(self.constraint_count);
        let mut least = self.weight(first, constraint);
        let mut most = least;
        for weight in of_constraint().map(|index| self.weight[index]) {
            (least, most) = (least.least(weight), most.most(weight));
        }
        for weight in
            self.weight[first * self.constraint_count + constraint..].iter_mut().step_by(self.constraint_count)
        {
            *weight = weight.minus(least);
        }
        let Constraint { base, range, .. } = &mut self.constraints[constraint];
        *base = base.plus(least);
        *range = range.plus(most.minus(least));
    }
}

/// Sum of the greatest possible burden of each setting, and the magnitude of the most negative means.
fn most_burden(input: &Input, resource: usize) -> (Weight, f64) {
    let mut sum = Weight::default();
    let mut negative_means = 0.0;
    for range in input.settings() {
        let mut most = Weight { mean: f64::NEG_INFINITY, variance: 0.0 };
        let mut negative = 0.0_f64;
        for weight in input.weights_of(range).iter().skip(resource).step_by(input.resources()) {
            if weight.mean < f64::INFINITY {
                most = most.most(*weight);
                negative = greater(negative, -weight.mean);
            }
        }
        if most.mean > f64::NEG_INFINITY {
            sum = sum.plus(most);
        }
        negative_means += negative;
    }
    (sum, negative_means)
}
