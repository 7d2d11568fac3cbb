//! The linear relaxation of a scalar multiple-choice knapsack, by a search for its multiplier.
//!
//! For a price `lambda >= 0` of weight every class picks its best `value - lambda * weight` on its own; what they get,
//! plus `lambda * room`, bounds the knapsack (Lagrange), and the least such bound is that of the linear relaxation. As a
//! function of `lambda` it is convex and made of straight pieces. Between a price that is too low (picks overdraw the
//! room) and one that is too high, the two known pieces meet at the next price to try; when nothing lies below their
//! meeting point, that's the minimum. Dyer and Zemel find it in linear time by pairing options and discarding; a handful
//! of plain passes over contiguous arrays is faster at every size that matters here.

use super::incumbent::{Case, Incumbent, VALUE_PRECISION};
use super::input::Totals;
use super::reduce::Problem;
use super::secant::Linear;
use super::solve::Budget;

/// The search converges in about ten passes; any price gives a valid bound, so it may be cut short.
const MOST_PASSES: u32 = 36;

/// A bound this near to the least one, as a fraction of the gap, is taken for it.
const NEAR_ENOUGH: f64 = 0.01;

/// The relaxation at its best price, with the picks of each class at that price in the caller's buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Relaxation {
    pub lambda: f64,
    pub bound: f64,
    pub totals: Totals,
}

pub(super) enum Outcome {
    /// Nothing satisfies this linear constraint.
    Empty,
    /// Nothing in there is worth more than what we have, as this price shows.
    Beaten(f64),
    Relaxed(Relaxation),
}

impl Linear {
    pub fn weight(&self, totals: Totals) -> f64 {
        totals.mean + self.theta * totals.variance
    }

    fn bound(&self, totals: Totals, lambda: f64) -> f64 {
        totals.value + lambda * (self.room - self.weight(totals))
    }

    /// The magnitude of what enters a bound at this price beside values: the room, and what rounding may overdraw.
    pub fn stake(&self, lambda: f64) -> f64 {
        lambda * (self.room.abs() + 4.0 * self.tolerance / VALUE_PRECISION)
    }

    fn overdrawn(&self, totals: Totals) -> bool {
        self.weight(totals) > self.room + self.tolerance
    }

    /// The price at which two picks, the first the heavier and more valuable, bound the same.
    fn price_between(&self, over: Totals, under: Totals) -> f64 {
        ((over.value - under.value) / (self.weight(over) - self.weight(under))).max(0.0)
    }
}

/// Two answers, one that overdraws the room and one that doesn't, whose values and weights bracket the best price.
///
/// Any answers do, also those that another interval's relaxation ended with: then few passes are left to do.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bracket {
    pub over: Totals,
    pub under: Totals,
}

/// Find the best price, beginning in the bracket, and leave the bracket around it. Answers met on the way are offered
/// to the incumbent.
pub(super) fn relax(
    case: &Case,
    linear: &Linear,
    bracket: &mut Bracket,
    picks: &mut Vec<u32>,
    incumbent: &mut Incumbent,
    budget: &mut Budget,
) -> Outcome {
    let problem = case.problem;
    if !linear.overdrawn(problem.best_totals) {
        picks.clear();
        picks.extend_from_slice(&problem.best);
        return Outcome::Relaxed(Relaxation { lambda: 0.0, bound: 0.0, totals: problem.best_totals });
    }
    let Bracket { over, under } = bracket;
    if !linear.overdrawn(*over) {
        *over = problem.best_totals;
    }
    if linear.overdrawn(*under) {
        budget.charge_pass(problem);
        *under = pick_lightest(problem, linear.theta, picks);
        if linear.overdrawn(*under) {
            return Outcome::Empty;
        }
    }
    for pass in 1.. {
        let lambda = linear.price_between(*over, *under);
        budget.charge_pass(problem);
        let totals = pick_at_price(problem, lambda, lambda * linear.theta, picks);
        let bound = linear.bound(totals, lambda);
        let stake = linear.stake(lambda);
        if totals.value > incumbent.value && case.fits(totals) {
            incumbent.offer(case, totals.value, picks);
        }
        let cut = incumbent.cut(case, stake);
        if bound <= cut {
            return Outcome::Beaten(lambda);
        }
        let least = linear.bound(*under, lambda).max(linear.bound(*over, lambda));
        // Where the secant gives something away, the last digits of its bound don't matter.
        let near_enough = if linear.spread > 0.0 { NEAR_ENOUGH * (bound - cut) } else { 0.0 };
        let precision = f64::max(VALUE_PRECISION * (stake + bound.abs()), near_enough);
        if bound - least <= precision || pass >= MOST_PASSES {
            let mut relaxation = Relaxation { lambda, bound, totals };
            // The relaxation differs from its picks in one class. Farther off, there must be many equally good picks.
            if (linear.room - linear.weight(totals)).abs() > linear.weight(problem.greatest_step) {
                balance(problem, linear, &mut relaxation, picks);
            }
            return Outcome::Relaxed(relaxation);
        }
        if linear.overdrawn(totals) {
            *over = totals;
        } else {
            *under = totals;
        }
    }
    Outcome::Empty
}

/// Among options that are equally good at the price, prefer those that bring the weight to the room. Matters where
/// values are proportional to weights: there all options are equally good, and the first ones may be far off.
///
/// First all classes go to the same fraction of their range, which leaves them with something to add and something to
/// take away; then what remains is made up by the first classes that can.
pub(super) fn balance(problem: &Problem, linear: &Linear, relaxation: &mut Relaxation, picks: &mut [u32]) {
    let ties = Ties { problem, linear, lambda: relaxation.lambda };
    let totals = &mut relaxation.totals;
    let (mut least, mut most) = (0.0, 0.0);
    for (class, &pick) in picks.iter().enumerate() {
        let (from, to) = ties.range(class, pick);
        (least, most) = (least + from, most + to);
    }
    if least == most {
        return;
    }
    let fraction = ((linear.room - least) / (most - least)).clamp(0.0, 1.0);
    let mut missing = 0.0;
    for (class, pick) in picks.iter_mut().enumerate() {
        let (from, to) = ties.range(class, *pick);
        missing += from + fraction * (to - from);
        missing -= ties.take_nearest(class, pick, missing, totals);
    }
    for (class, pick) in picks.iter_mut().enumerate() {
        let wanted = linear.weight(problem.at(*pick as usize)) + linear.room - linear.weight(*totals);
        ties.take_nearest(class, pick, wanted, totals);
    }
}

/// Options that are as good as the pick of their class.
struct Ties<'a> {
    problem: &'a Problem,
    linear: &'a Linear,
    lambda: f64,
}

impl Ties<'_> {
    fn of(&self, class: usize, pick: u32) -> impl Iterator<Item = (usize, f64)> + '_ {
        let option = self.problem.at(pick as usize);
        let price = self.lambda * self.linear.weight(option);
        let equal = option.value - price - VALUE_PRECISION * (option.value.abs() + price);
        let weighed =
            self.problem.class(class).map(|position| (position, self.linear.weight(self.problem.at(position))));
        weighed.filter(move |&(position, weight)| self.problem.value[position] - self.lambda * weight >= equal)
    }

    /// Least and greatest weight.
    fn range(&self, class: usize, pick: u32) -> (f64, f64) {
        self.of(class, pick).fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), (_, weight)| {
            (least.min(weight), most.max(weight))
        })
    }

    /// Change the pick to the one whose weight is nearest to `wanted`; returns its weight.
    fn take_nearest(&self, class: usize, pick: &mut u32, wanted: f64, totals: &mut Totals) -> f64 {
        let before = self.problem.at(*pick as usize);
        let mut weight = self.linear.weight(before);
        for (position, other) in self.of(class, *pick) {
            if (wanted - other).abs() < (wanted - weight).abs() {
                (*pick, weight) = (position as u32, other);
            }
        }
        *totals = totals.plus(self.problem.at(*pick as usize).minus(before));
        weight
    }
}

fn pick_lightest(problem: &Problem, theta: f64, picks: &mut Vec<u32>) -> Totals {
    pick_by(problem, picks, |option| -(option.mean + theta * option.variance))
}

/// Each class picks its best after paying for mean and variance.
fn pick_at_price(problem: &Problem, mean_price: f64, variance_price: f64, picks: &mut Vec<u32>) -> Totals {
    pick_by(problem, picks, |option| option.value - mean_price * option.mean - variance_price * option.variance)
}

fn pick_by(problem: &Problem, picks: &mut Vec<u32>, score: impl Fn(Totals) -> f64) -> Totals {
    picks.clear();
    let mut totals = Totals::default();
    for class in 0..problem.class_count() {
        let range = problem.class(class);
        let mut pick = range.start;
        let mut best = score(problem.at(pick));
        for position in range.start + 1..range.end {
            let here = score(problem.at(position));
            if here > best {
                best = here;
                pick = position;
            }
        }
        picks.push(pick as u32);
        totals = totals.plus(problem.at(pick));
    }
    totals
}
