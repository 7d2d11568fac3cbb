//! The problem with straight lines for deviations: each constraint becomes linear.
//!
//! A box bounds each constraint's total deviation by an interval. There the square root is at least its secant. So
//! every answer in the box that fits also satisfies `sum(mean) + theta * sum(variance) <= room`. On an interval of
//! width 0 the line is the tangent, which admits only answers that fit. See the single resource's `secant`. Constraints
//! are scaled such that their ranges are about the number of classes. The factors are powers of two, so this rounds
//! nothing.

use super::super::kernel::{WIDTH, sum};
use super::problem::{Constraint, Problem};
use super::{MOST_RESOURCES, bytes, reserve_total};
use crate::base::Result;

/// A number for each constraint; 0 for unused places. Operations always process all eight, without a check of how many
/// are used.
pub(super) type PerConstraint = [f64; MOST_RESOURCES];

pub(super) fn dot(a: &PerConstraint, b: &PerConstraint) -> f64 {
    // Adds in the order in which vectors of four do.
    sum(std::array::from_fn(|column| a[column] * b[column] + a[column + WIDTH] * b[column + WIDTH]))
}

/// `a + factor * b`
pub(super) fn plus(a: &PerConstraint, factor: f64, b: &PerConstraint) -> PerConstraint {
    std::array::from_fn(|constraint| a[constraint] + factor * b[constraint])
}

/// Deviations from `lo` to `hi` in each constraint. No answer in this box is worth more than `bound`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Box {
    pub lo: PerConstraint,
    pub hi: PerConstraint,
    pub bound: f64,
}

/// The most boxes waiting at a time. At the limit they are searched unsplit.
pub(super) const MOST_BOXES: usize = 256;

/// Slopes are kept below this, so that products stay finite. A flatter line is as safe a bound.
const STEEPEST: f64 = 1e150;

/// Ends are moved outwards by this fraction, so that rounding leaves no deviation outside.
const MARGIN: f64 = 1e-12;

impl Box {
    /// The box that holds every deviation that an answer can have.
    pub fn whole(problem: &Problem) -> Self {
        let mut all = Self { lo: [0.0; MOST_RESOURCES], hi: [0.0; MOST_RESOURCES], bound: f64::INFINITY };
        for (index, constraint) in
            problem.constraints().iter().enumerate().filter(|(_, constraint)| constraint.limit.sigmas > 0.0)
        {
            let lo = constraint.base.variance.sqrt() * (1.0 - MARGIN);
            let most = (constraint.base.variance + constraint.range.variance).sqrt();
            // Means are at least the least ones, so the deviation can be at most this.
            let affordable = (constraint.limit.capacity + constraint.limit.tolerance - constraint.base.mean)
                / constraint.limit.sigmas;
            all.lo[index] = lo;
            all.hi[index] = most.min(affordable).max(lo) * (1.0 + MARGIN);
        }
        all
    }

    /// Parts of the box, divided in one constraint, the most promising last. Usually `part` of the interval around
    /// `deviation`, and the rest on both sides. If `part` exceeds 0.4, two parts, divided near `deviation` but not too
    /// near to an end.
    pub fn split(&self, constraint: usize, deviation: f64, part: f64, bound: f64) -> [Option<Self>; 3] {
        let (lo, hi) = (self.lo[constraint], self.hi[constraint]);
        let whole = hi - lo;
        let between = |from: f64, to: f64| {
            let mut some = Self { bound, ..*self };
            (some.lo[constraint], some.hi[constraint]) = (from, to);
            (from < to).then_some(some)
        };
        if part > 0.4 {
            let middle = deviation.max(lo + 0.2 * whole).min(hi - 0.2 * whole);
            return [None, between(lo, middle), between(middle, hi)];
        }
        let width = part.max(1e-3) * whole;
        let deviation = deviation.max(lo + 0.5 * width).min(hi - 0.5 * width);
        let snap = |side: f64, end: f64| if (side - end).abs() < 0.25 * width { end } else { side };
        let (left, right) = (snap(deviation - 0.5 * width, lo), snap(deviation + 0.5 * width, hi));
        [between(lo, left), between(right, hi), between(left, right)]
    }

    /// Too narrow to split: rounding would dominate.
    pub fn is_narrow(&self, constraint: usize) -> bool {
        self.hi[constraint] - self.lo[constraint] <= 1e-7 * self.hi[constraint]
    }

    /// A box of only these deviations.
    pub fn only(deviation: PerConstraint) -> Self {
        Self { lo: deviation, hi: deviation, bound: f64::INFINITY }
    }
}

/// Sums over one option per class, in scaled units.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Sums {
    pub value: f64,
    pub weight: PerConstraint,
}

impl Sums {
    pub fn plus(&self, other: &Self) -> Self {
        Self { value: self.value + other.value, weight: plus(&self.weight, 1.0, &other.weight) }
    }
}

#[derive(Debug, Default)]
pub(super) struct Linear {
    pub constraints: usize,
    /// Per option.
    pub weight: Vec<PerConstraint>,
    /// The same for [`Self::score`]: per constraint, the weights of all options.
    columns: Vec<f64>,
    /// The limit on the weights. It includes more than the tolerance, so that the order of additions excludes no answer
    /// that fits. An answer that doesn't fit is detected when it is offered.
    pub room: PerConstraint,
    /// The greatest loss by the secant.
    pub spread: PerConstraint,
    /// About the greatest possible weight.
    pub range: PerConstraint,
    pub scale: PerConstraint,
    /// Factor that makes an overdraft relative to the capacity.
    pub importance: PerConstraint,
}

impl Linear {
    pub fn reserve(&mut self, options: usize, constraints: usize) -> Result<()> {
        reserve_total(&mut self.weight, options)?;
        reserve_total(&mut self.columns, options.saturating_mul(constraints))
    }

    pub fn memory_used(&self) -> usize {
        bytes(&self.weight) + bytes(&self.columns)
    }

    /// Compute the lines for a box. Memory must be reserved.
    pub fn draw(&mut self, problem: &Problem, within: &Box) {
        let (weight, columns) = (std::mem::take(&mut self.weight), std::mem::take(&mut self.columns));
        *self = Self { constraints: problem.constraints().len(), weight, columns, ..Self::default() };
        self.columns.clear();
        self.weight.clear();
        self.weight.resize(problem.option_count(), PerConstraint::default());
        for (index, constraint) in problem.constraints().iter().enumerate() {
            let (lo, hi) = (within.lo[index], within.hi[index]);
            let sigmas = constraint.limit.sigmas;
            // At deviation 0 the line is practically vertical.
            let theta = if sigmas > 0.0 { (sigmas / (lo + hi)).min(STEEPEST) } else { 0.0 };
            let range = constraint.range.mean + theta * constraint.range.variance;
            let scale = power_of_two_below(problem.class_count() as f64) * inverse_power_of_two(range);
            let room = constraint.target() - constraint.base.mean - theta * (constraint.base.variance + lo * hi);
            let room = scale * (room + 1.5 * constraint.limit.tolerance);
            let range = scale * range;
            // Weights lie between 0 and the range, so the clamp changes no decision; it keeps the room finite.
            self.room[index] = room.max(-range - 1.0).min(2.0 * range + 1.0);
            self.range[index] = range;
            self.spread[index] = scale * 0.25 * theta * (hi - lo) * (hi - lo);
            self.scale[index] = scale;
            self.importance[index] = if range > 0.0 { 1.0 / (scale * constraint.magnitude()) } else { 1.0 };
            for (option, weights) in self.weight.iter_mut().enumerate() {
                let weight = problem.weight(option, index);
                weights[index] = scale * (weight.mean + theta * weight.variance);
            }
            self.columns.extend(self.weight.iter().map(|weights| weights[index]));
        }
    }

    /// Per option, the value minus the price of the weights.
    pub fn score(&self, values: &[f64], worth_of_values: f64, prices: &PerConstraint, scores: &mut Vec<f64>) {
        scores.clear();
        scores.extend(values.iter().map(|value| value * worth_of_values));
        for (weights, price) in self.columns.chunks_exact(values.len().max(1)).zip(prices) {
            for (score, weight) in scores.iter_mut().zip(weights) {
                *score -= weight * price;
            }
        }
    }

    pub fn sums(&self, problem: &Problem, picks: &[u32]) -> Sums {
        let mut sums = Sums::default();
        for &pick in picks {
            sums.value += problem.value[pick as usize];
            sums.weight = plus(&sums.weight, 1.0, &self.weight[pick as usize]);
        }
        sums
    }

    pub fn fits(&self, weight: &PerConstraint) -> bool {
        // Without a branch in the loop.
        weight.iter().zip(&self.room).fold(true, |fits, (weight, room)| fits & (room >= weight))
    }

    /// Overdrafts relative to the capacities, summed over the constraints.
    pub fn overdraft(&self, weight: &PerConstraint) -> f64 {
        dot(&self.importance, &plus(weight, -1.0, &self.room).map(|over| over.max(0.0)))
    }

    /// The worth of the remaining room at these prices.
    pub fn worth_of_slack(&self, weight: &PerConstraint, prices: &PerConstraint) -> f64 {
        dot(prices, &plus(&self.room, -1.0, weight))
    }

    /// The magnitude of a bound's terms at these prices other than values.
    pub fn stake(&self, prices: &PerConstraint) -> f64 {
        dot(prices, &self.magnitude())
    }

    /// The magnitude of the weights and the room.
    pub fn magnitude(&self) -> PerConstraint {
        plus(&self.range, 1.0, &self.room.map(f64::abs))
    }
}

impl Constraint {
    /// Whether even the least burden doesn't fit.
    pub fn is_hopeless(&self) -> bool {
        let least = self.base.mean + self.limit.sigmas * self.base.variance.sqrt();
        least > self.limit.capacity + self.limit.tolerance
    }

    /// The capacity, or the least mean if nothing fits. This does not change which choices overdraw least.
    fn target(&self) -> f64 {
        if self.is_hopeless() { self.base.mean } else { self.limit.capacity }
    }

    /// The reference magnitude of an overdraft: the capacity, limited to `1e-6..=1e6` times the range.
    fn magnitude(&self) -> f64 {
        let range = self.range.mean + self.limit.sigmas * self.range.variance.sqrt();
        self.limit.capacity.abs().max(1e-6 * range).min(1e6 * range)
    }
}

const EXPONENT: u64 = 0x7ff << 52;
const LARGEST_POWER: u64 = 2046 << 52;
/// Far enough from the ends that products with numbers of classes stay finite.
const LEAST_POWER: u64 = 64 << 52;

fn power_of_two_below(number: f64) -> f64 {
    f64::from_bits(number.to_bits() & EXPONENT)
}

/// One over the power of two below a number that is not negative; 1 for 0.
fn inverse_power_of_two(number: f64) -> f64 {
    let power = (number.to_bits() & EXPONENT).clamp(LEAST_POWER, LARGEST_POWER - LEAST_POWER);
    if number == 0.0 { 1.0 } else { f64::from_bits(LARGEST_POWER - power) }
}
