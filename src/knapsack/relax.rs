//! The linear relaxation of a scalar multiple-choice knapsack, by a search for its multiplier.
//!
//! For a price `lambda >= 0` of weight every class picks its best `value - lambda * weight` on its own. The sum of
//! these, plus `lambda * room`, bounds the knapsack (Lagrange). The least such bound is that of the linear relaxation.
//!
//! As a function of `lambda` the bound is convex and piecewise linear. Consider a price that is too low (picks overdraw
//! the room) and one that is too high. No bound between them is less than at the point where the two known pieces meet.
//! A bound that low is the minimum, so that point is the next price to try. While many pieces lie in between, it would
//! only halve the distance. Then a nearer guess is the price at which the weight would reach the room if it were
//! linear.
//!
//! Dyer and Zemel find the price in linear time by pairing options and discarding. A few plain passes over contiguous
//! memory are faster at every size that matters here. A known price from a similar problem saves more passes.

use super::budget::Budget;
use super::incumbent::{Case, Incumbent, VALUE_PRECISION};
use super::input::Totals;
use super::kernel::{Prices, pick};
use super::reduce::Problem;
use super::secant::Linear;

/// Limit on the passes. The search converges in less than ten. Any price gives a valid bound, so it may be cut short.
const MOST_PASSES: u32 = 36;

/// A bound this near to the least one, as a fraction of the gap, is accepted as the least.
const NEAR_ENOUGH: f64 = 0.01;

/// Expected loss in value of the best answer against the relaxation, at most. It is a fraction of the worth of the
/// greatest step of one class.
const ROUNDED: f64 = 0.03;

/// Prices above this could make products infinite.
const MOST_PRICE: f64 = 1e200;

/// A step past the best price is this many times the estimated distance, so that the two prices bracket it.
const OVERSHOOT: f64 = 2.0;

/// After so many passes at guessed prices, only meeting points are tried, because these terminate.
const MOST_GUESSES: u32 = 5;

/// The least such step, as a fraction of the price.
const LEAST_STEP: f64 = 5e-4;

/// The relaxation at its best price, with the picks of each class at that price in the caller's buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Relaxation {
    pub lambda: f64,
    /// Reduced costs are counted from this bound, even if a lower bound is known.
    pub bound: f64,
    /// The bound at the best price is lower by at most this.
    pub excess: f64,
    pub totals: Totals,
}

pub(super) enum RelaxationResult {
    /// Nothing satisfies this linear constraint.
    Empty,
    /// The bound at this price doesn't exceed the incumbent's cut.
    Beaten(Relaxation),
    Relaxed(Relaxation),
}

impl Linear {
    pub fn weight(&self, totals: Totals) -> f64 {
        totals.mean + self.theta * totals.variance
    }

    pub fn prices(&self, lambda: f64) -> Prices {
        Prices { mean: lambda, variance: lambda * self.theta }
    }

    pub fn bound(&self, totals: Totals, lambda: f64) -> f64 {
        totals.value + lambda * (self.room - self.weight(totals))
    }

    /// The magnitude of a bound's terms at this price other than values: the room, and the overdraft that rounding
    /// allows.
    pub fn stake(&self, lambda: f64) -> f64 {
        lambda * (self.room.abs() + 4.0 * self.tolerance / VALUE_PRECISION)
    }

    fn overdrawn(&self, totals: Totals) -> bool {
        self.weight(totals) > self.room + self.tolerance
    }

    /// The price at which two picks give the same bound. The first is the heavier and more valuable one.
    fn price_between(&self, over: Totals, under: Totals) -> f64 {
        ((over.value - under.value) / (self.weight(over) - self.weight(under))).max(0.0)
    }
}

/// The picks at a price. For other answers the price is unknown: infinite.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    pub totals: Totals,
    pub price: f64,
}

/// Two answers, one that overdraws the room and one that doesn't, whose values and weights bracket the best price.
///
/// Any answers are valid, also the final ones of another interval's relaxation, which save passes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bracket {
    pub over: Point,
    pub under: Point,
}

impl Bracket {
    pub fn new(case: &Case, under: Totals) -> Self {
        let over = Point { totals: case.problem.best_totals, price: 0.0 };
        Self { over, under: Point { totals: under, price: f64::INFINITY } }
    }

    fn put(&mut self, linear: &Linear, point: Point) {
        if linear.overdrawn(point.totals) {
            self.over = point;
        } else {
            self.under = point;
        }
    }

    /// Replace ends that are on the wrong side of this constraint. Returns false if even the lightest picks overdraw.
    fn mend(&mut self, case: &Case, linear: &Linear, picks: &mut Vec<u32>, budget: &mut Budget) -> bool {
        let problem = case.problem;
        if !linear.overdrawn(self.over.totals) {
            self.over = Point { totals: problem.best_totals, price: 0.0 };
        }
        if linear.overdrawn(self.under.totals) {
            // A price so high that values don't matter.
            let totals = pick_at(problem, linear, 1e150 / linear.theta.max(1.0), picks, budget);
            self.under = Point { totals, price: f64::INFINITY };
        }
        !linear.overdrawn(self.under.totals)
    }

    /// The price at which the two ends give the same bound.
    fn meeting_price(&self, linear: &Linear) -> f64 {
        linear.price_between(self.over.totals, self.under.totals)
    }

    /// Whether both ends are picks at prices, so that the best price lies in between.
    fn is_closed(&self) -> bool {
        0.0 < self.over.price && self.over.price < self.under.price && self.under.price < f64::INFINITY
    }

    /// The price at which the weight would reach the room if it fell evenly between the ends. `None` if they are so
    /// near that single classes decide.
    fn price_between(&self, problem: &Problem, linear: &Linear) -> Option<f64> {
        let (over, under) = (linear.weight(self.over.totals), linear.weight(self.under.totals));
        let is_wide = over - under > 4.0 * linear.weight(problem.greatest_step);
        let way = ((over - linear.room) / (over - under)).clamp(0.02, 0.98);
        is_wide.then_some(self.over.price + way * (self.under.price - self.over.price))
    }

    /// The variance of the relaxation, which is a mixture of the two ends.
    pub fn variance(&self, linear: &Linear, picked: Totals) -> f64 {
        let (over, under) = (linear.weight(self.over.totals), linear.weight(self.under.totals));
        let way = (over - linear.room) / (over - under);
        if self.is_closed() && (0.0..=1.0).contains(&way) {
            self.over.totals.variance + way * (self.under.totals.variance - self.over.totals.variance)
        } else {
            picked.variance
        }
    }
}

/// A price slightly beyond the best one, seen from `point`. It assumes that the weight falls evenly, as from the
/// earlier price to this one.
fn price_beyond(linear: &Linear, earlier: Point, point: Point) -> Option<f64> {
    let fall = (linear.weight(earlier.totals) - linear.weight(point.totals)) / (point.price - earlier.price);
    let step = OVERSHOOT * (linear.weight(point.totals) - linear.room) / fall;
    let least = LEAST_STEP * point.price;
    (fall > 0.0 && step.is_finite()).then(|| {
        let (from, to) = if step >= 0.0 { (least, point.price) } else { (-0.5 * point.price, -least) };
        point.price + step.max(from).min(to)
    })
}

/// The start of a relaxation and its stop criterion.
#[derive(Clone, Copy, Debug)]
pub(super) struct Aim {
    /// A price from a similar problem; 0: unknown.
    pub hint: f64,
    /// The share of the accepted gap at which the relaxation may stop.
    pub share: f64,
}

/// Find the best price, starting from the hint or the bracket, and leave the bracket around it. Answers met on the way
/// are offered to the incumbent.
#[allow(clippy::too_many_arguments)]
pub(super) fn relax(
    case: &Case,
    linear: &Linear,
    aim: Aim,
    bracket: &mut Bracket,
    picks: &mut Vec<u32>,
    incumbent: &mut Incumbent,
    budget: &mut Budget,
) -> RelaxationResult {
    let problem = case.problem;
    if !linear.overdrawn(problem.best_totals) {
        picks.clone_from(&problem.best);
        return RelaxationResult::Relaxed(Relaxation {
            lambda: 0.0,
            bound: 0.0,
            excess: 0.0,
            totals: problem.best_totals,
        });
    }
    let hinted = aim.hint > 0.0;
    if !hinted && !bracket.mend(case, linear, picks, budget) {
        return RelaxationResult::Empty;
    }
    let mut lambda = if hinted { aim.hint } else { bracket.meeting_price(linear) };
    let mut earlier = Point { totals: problem.best_totals, price: 0.0 };
    let mut expected = bracket.meeting_price(linear);
    for pass in 1.. {
        lambda = lambda.min(MOST_PRICE / linear.theta.max(1.0));
        let totals = pick_at(problem, linear, lambda, picks, budget);
        let mut are_picks_stale = false;
        let bound = linear.bound(totals, lambda);
        // NaN: the numbers are so large that they give no bound.
        let bound = if bound.is_nan() { f64::INFINITY } else { bound };
        let mut relaxation = Relaxation { lambda, bound, excess: 0.0, totals };
        let stake = linear.stake(lambda);
        if totals.value > incumbent.value && case.fits(totals) {
            incumbent.offer(case, totals, picks);
        }
        let cut = incumbent.cut_within(case, stake, aim.share);
        if bound <= cut {
            return RelaxationResult::Beaten(relaxation);
        }
        let point = Point { totals, price: lambda };
        bracket.put(linear, point);
        if pass == 1 && hinted {
            if !bracket.mend(case, linear, picks, budget) {
                return RelaxationResult::Empty;
            }
            // `mend` may have replaced the picks.
            are_picks_stale = bracket.under.price == f64::INFINITY;
        }
        let meeting = bracket.meeting_price(linear);
        let least = linear.bound(bracket.over.totals, meeting);
        // If the secant loses some value, the last digits of its bound don't matter.
        let rounded = ROUNDED * lambda * linear.weight(problem.greatest_step);
        let near_enough = if linear.theta > 0.0 { NEAR_ENOUGH * rounded.min(bound - cut) } else { 0.0 };
        let precision = f64::max(VALUE_PRECISION * (stake + bound.abs()), near_enough);
        relaxation.excess = (bound - least).max(0.0);
        // Ties show up only at the exact price where pieces meet.
        let is_exact = lambda == expected || linear.theta > 0.0;
        if bound - least <= precision && is_exact || pass >= MOST_PASSES {
            if are_picks_stale {
                pick_at(problem, linear, lambda, picks, budget);
            }
            // The relaxation differs from its picks in one class. If it is farther off, there must be many equally good
            // picks.
            if (linear.room - linear.weight(totals)).abs() > linear.weight(problem.greatest_step) {
                balance(problem, linear, &mut relaxation, picks);
                // The search takes the picks for known: it offers only what differs from them.
                if relaxation.totals.value > incumbent.value && case.fits(relaxation.totals) {
                    incumbent.offer(case, relaxation.totals, picks);
                }
            }
            return RelaxationResult::Relaxed(relaxation);
        }
        let guess = match bracket.is_closed() {
            true => bracket.price_between(problem, linear),
            false => price_beyond(linear, earlier, point).filter(|_| hinted),
        };
        earlier = point;
        expected = meeting;
        lambda = guess.filter(|_| pass <= MOST_GUESSES && bound - least > precision).unwrap_or(meeting);
    }
    RelaxationResult::Empty
}

/// Each class picks its best at the price.
fn pick_at(problem: &Problem, linear: &Linear, lambda: f64, picks: &mut Vec<u32>, budget: &mut Budget) -> Totals {
    budget.charge_pass(problem.slot_count());
    picks.resize(problem.lane_count(), 0);
    pick(problem.rows(), linear.prices(lambda), picks)
}

/// Among options that are equally good at the price, prefer those that bring the weight to the room. Matters where
/// values are proportional to weights: there all options are equally good, and the first ones may be far off.
///
/// First all classes move to the same fraction of their range, so each keeps something to add and something to remove.
/// The first classes that can then make up the rest.
pub(super) fn balance(problem: &Problem, linear: &Linear, relaxation: &mut Relaxation, picks: &mut [u32]) {
    let ties = Ties { problem, linear, lambda: relaxation.lambda };
    let totals = &mut relaxation.totals;
    let picks = &mut picks[..problem.class_count()];
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
            self.problem.class(class).map(|(position, option)| (position, option.value, self.linear.weight(option)));
        let equals = weighed.filter(move |&(_, value, weight)| value - self.lambda * weight >= equal);
        equals.map(|(position, _, weight)| (position, weight))
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
