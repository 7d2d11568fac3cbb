//! Finds the prices of least bound.
//!
//! At prices `p >= 0` per unit of each constraint every class picks its best `value - p * weight` on its own. The sum
//! of these, plus `p * room`, bounds the knapsack (Everett, Fisher). As a function of the prices the bound is convex
//! and made of flat pieces, one for each combination of picks. Its minimum is a linear program with a variable per
//! existing combination (Dantzig and Wolfe). It mixes combinations such that the mean weight has room and the mean
//! value is greatest. With `constraints + 1` rows its basis is tiny. One pass over the options finds the column to
//! enter: the picks at the prices of the present basis. This needs dozens of passes, where subgradient steps (Held and
//! Karp) need hundreds.
//!
//! Prices of early bases vary widely. They are therefore kept within a box around a guess, at best the last solve's
//! prices (Marsten's boxstep). Slack columns implement the box: unused room pays the least price of the box, and an
//! overdraft costs the greatest. A side of the box that holds the prices back is moved. That changes costs only, and
//! the basis stays.

use super::case::{Budget, PRECISION};
use super::linear::{Linear, PerConstraint, Sums, dot, plus};
use super::problem::Problem;
use super::{MOST_RESOURCES, bytes, reserve_total};
use crate::base::Result;

pub(super) type Prices = PerConstraint;

const ROWS: usize = MOST_RESOURCES + 1;

/// Limit on the passes. Any prices are then accepted: every pass gives a valid bound.
const MOST_PASSES: u32 = 400;

/// Slack columns that may enter between two passes.
const MOST_SLACKS: u32 = 64;

/// A box grows at most this many times before a check whether anything fits at all.
const MOST_GROWTHS: u32 = 6;
const GROWTH: f64 = 16.0;

/// A pivot below this counts as rounding.
const LEAST_PIVOT: f64 = 1e-11;

/// A bound this near to the least one is accepted as the least: a fraction of the gap, or of the mean loss that a class
/// can have.
const NEAR_ENOUGH: f64 = 0.01;
const PART_OF_CLASS: f64 = 1.0 / 512.0;

#[derive(Clone, Copy, Debug)]
pub(super) struct Relaxation {
    pub prices: Prices,
    pub bound: f64,
    /// The sums of the picks at the prices.
    pub sums: Sums,
}

pub(super) enum RelaxationResult {
    /// Nothing satisfies the linear constraints.
    Empty,
    Relaxed(Relaxation),
}

/// The kind of a basic variable.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Column {
    Picks,
    Unused(usize),
    Overdraft(usize),
}

#[derive(Debug)]
pub(super) struct Dual {
    /// Value minus the price of the weights, per option.
    pub scores: Vec<f64>,
    /// The best of each class at these scores.
    pub picks: Vec<u32>,
    basis: Basis,
    lo: Prices,
    hi: Prices,
}

impl Default for Dual {
    fn default() -> Self {
        Self {
            scores: Vec::new(),
            picks: Vec::new(),
            basis: Basis::EMPTY,
            lo: [0.0; MOST_RESOURCES],
            hi: [0.0; MOST_RESOURCES],
        }
    }
}

/// The start of the search for prices.
#[derive(Clone, Copy, Debug)]
pub(super) enum Guess {
    /// Prices that were good for a similar problem.
    Near(Prices),
    Unknown,
}

impl Dual {
    pub fn reserve(&mut self, settings: usize, options: usize) -> Result<()> {
        reserve_total(&mut self.scores, options)?;
        reserve_total(&mut self.picks, settings)
    }

    pub fn memory_used(&self) -> usize {
        bytes(&self.scores) + bytes(&self.picks)
    }

    /// Find the prices of least bound. All picks met are passed to `offer`. It returns the value that the bound must
    /// exceed to matter. Leaves the scores and picks at the returned prices.
    pub fn minimise(
        &mut self,
        problem: &Problem,
        linear: &Linear,
        guess: Guess,
        budget: &mut Budget,
        mut offer: impl FnMut(&Sums, &[u32]) -> f64,
    ) -> RelaxationResult {
        let first = self.open_box(problem, linear, guess);
        let sums = self.pass(problem, linear, &first, 1.0, budget);
        offer(&sums, &self.picks);
        let bound = sums.value + linear.worth_of_slack(&sums.weight, &first);
        let mut best = Relaxation { prices: first, bound, sums };
        self.basis.begin(linear, &sums);
        let near = PART_OF_CLASS * problem.value_range / problem.class_count() as f64;
        let mut growths = 0;
        for _ in 0..MOST_PASSES {
            if budget.left() == 0 {
                break;
            }
            let Some((prices, best_of_box)) = self.next_prices(linear) else { break };
            let sums = self.pass(problem, linear, &prices, 1.0, budget);
            let bound = sums.value + linear.worth_of_slack(&sums.weight, &prices);
            if bound < best.bound {
                best = Relaxation { prices, bound, sums };
            }
            let cut = offer(&sums, &self.picks);
            let stake = bound.abs() + linear.stake(&prices);
            let near = f64::max(PRECISION * stake, near.min(NEAR_ENOUGH * (best.bound - cut)));
            if best.bound - best_of_box > near && self.basis.enter(Column::Picks, &sums) {
                continue;
            }
            if best.bound <= cut || !self.grow(linear) {
                break;
            }
            growths += 1;
            if growths > MOST_GROWTHS && !self.find_mix_that_fits(problem, linear, budget) {
                return RelaxationResult::Empty;
            }
        }
        // The last prices tried are not always the best.
        best.sums = self.pass(problem, linear, &best.prices, 1.0, budget);
        RelaxationResult::Relaxed(best)
    }

    /// Whether some mixture of picks has room: the same search with overdrafts as the only cost. No mixture has room if
    /// every combination overdraws at some prices that ignore values. Leaves the basis of the mixture.
    fn find_mix_that_fits(&mut self, problem: &Problem, linear: &Linear, budget: &mut Budget) -> bool {
        let found = self.least_overdraft(problem, linear, budget);
        for constraint in 0..linear.constraints {
            self.hi[constraint] = 1e9 * usual_price(problem, linear, constraint);
        }
        self.basis.worth_of_values = 1.0;
        found
    }

    /// Minimise the overdrafts of mixtures of picks. Returns false if every mixture certainly overdraws. Leaves the
    /// picks at the last prices tried.
    pub fn least_overdraft(&mut self, problem: &Problem, linear: &Linear, budget: &mut Budget) -> bool {
        self.lo = [0.0; MOST_RESOURCES];
        self.hi = linear.importance;
        let prices = self.hi;
        let sums = self.pass(problem, linear, &prices, 0.0, budget);
        self.basis.begin(linear, &sums);
        self.basis.worth_of_values = 0.0;
        for _ in 0..MOST_PASSES {
            if budget.left() == 0 {
                break;
            }
            let Some((prices, best_of_box)) = self.next_prices(linear) else { break };
            let sums = self.pass(problem, linear, &prices, 0.0, budget);
            let bound = linear.worth_of_slack(&sums.weight, &prices);
            let stake = linear.stake(&prices);
            if bound < -PRECISION * stake {
                // Keep the prices if the search ends here: their picks overdraw little.
                if bound - best_of_box <= PRECISION * stake || !self.basis.enter(Column::Picks, &sums) {
                    return false;
                }
            } else if bound - best_of_box <= PRECISION * stake || !self.basis.enter(Column::Picks, &sums) {
                return true;
            }
        }
        true
    }

    /// One pass: scores at these prices, and the best of each class.
    pub fn pass(
        &mut self,
        problem: &Problem,
        linear: &Linear,
        prices: &Prices,
        worth_of_values: f64,
        budget: &mut Budget,
    ) -> Sums {
        budget.charge_pass(problem.option_count());
        linear.score(&problem.value, worth_of_values, prices, &mut self.scores);
        pick_best(problem, &self.scores, &mut self.picks);
        linear.sums(problem, &self.picks)
    }

    fn open_box(&mut self, problem: &Problem, linear: &Linear, guess: Guess) -> Prices {
        let mut first = [0.0; MOST_RESOURCES];
        for constraint in 0..linear.constraints {
            let usual = usual_price(problem, linear, constraint);
            (self.lo[constraint], first[constraint], self.hi[constraint]) = match guess {
                Guess::Near(prices) => {
                    let price = prices[constraint].min(1e9 * usual).max(0.0);
                    (0.75 * price, price, 1.25 * price + 0.01 * usual)
                }
                Guess::Unknown => (0.0, usual / linear.constraints as f64, 2.0 * usual),
            };
        }
        first
    }

    /// Prices of the basis once they lie in the box, and the least possible bound in the box. `None` if the basis has
    /// no such prices.
    fn next_prices(&mut self, linear: &Linear) -> Option<(Prices, f64)> {
        for _ in 0..MOST_SLACKS {
            let (prices, best_of_box) = self.basis.prices(&self.lo, &self.hi);
            let mut worst = (0.0, Column::Picks);
            let mut inside = prices;
            for constraint in 0..linear.constraints {
                let (price, lo, hi) = (prices[constraint], self.lo[constraint], self.hi[constraint]);
                inside[constraint] = price.max(lo).min(hi);
                let off = (price - inside[constraint]).abs() / hi;
                if off > worst.0 {
                    worst = (off, if price < lo { Column::Unused(constraint) } else { Column::Overdraft(constraint) });
                }
            }
            if worst.0 <= PRECISION {
                return Some((inside, best_of_box));
            }
            if !self.basis.enter(worst.1, &Sums::default()) {
                return None;
            }
        }
        None
    }

    /// Move the sides of the box that hold the prices back. Returns whether any was moved.
    fn grow(&mut self, linear: &Linear) -> bool {
        let mut grown = false;
        for row in 0..=linear.constraints {
            if self.basis.solution[row] <= PRECISION {
                continue;
            }
            match self.basis.column[row] {
                Column::Unused(constraint) if self.lo[constraint] > 0.0 => self.lo[constraint] = 0.0,
                Column::Overdraft(constraint) => self.hi[constraint] *= GROWTH,
                _ => continue,
            }
            grown = true;
        }
        grown
    }
}

/// Each class picks its greatest score, of equals the first.
pub(super) fn pick_best(problem: &Problem, scores: &[f64], picks: &mut Vec<u32>) {
    picks.clear();
    for class in problem.classes() {
        let mut pick = class.start;
        let mut best = f64::NEG_INFINITY;
        for (position, &score) in class.clone().zip(&scores[class]) {
            if score > best {
                (best, pick) = (score, position);
            }
        }
        picks.push(pick as u32);
    }
}

/// The range of all values, divided by the range of a constraint's weights.
fn usual_price(problem: &Problem, linear: &Linear, constraint: usize) -> f64 {
    let values = if problem.value_range > 0.0 { problem.value_range } else { 1.0 };
    if linear.range[constraint] > 0.0 { values / linear.range[constraint] } else { values }
}

/// A basis of the linear program: a row per constraint (its room) and one more (the mixture sums to 1).
#[derive(Debug)]
struct Basis {
    rows: usize,
    column: [Column; ROWS],
    /// The value of a column of picks.
    value: [f64; ROWS],
    solution: [f64; ROWS],
    /// The inverse: columns of the constraints. `last` is the column of the last row.
    inverse: [PerConstraint; ROWS],
    last: [f64; ROWS],
    worth_of_values: f64,
}

impl Basis {
    const EMPTY: Self = Self {
        rows: 0,
        column: [Column::Picks; ROWS],
        value: [0.0; ROWS],
        solution: [0.0; ROWS],
        inverse: [[0.0; MOST_RESOURCES]; ROWS],
        last: [0.0; ROWS],
        worth_of_values: 1.0,
    };

    /// Begin with these picks only, and slack columns for their unused room or overdraft.
    fn begin(&mut self, linear: &Linear, sums: &Sums) {
        let constraints = linear.constraints;
        *self = Self { rows: constraints + 1, ..Self::EMPTY };
        for constraint in 0..constraints {
            let slack = linear.room[constraint] - sums.weight[constraint];
            let sign = if slack < 0.0 { -1.0 } else { 1.0 };
            self.column[constraint] =
                if slack < 0.0 { Column::Overdraft(constraint) } else { Column::Unused(constraint) };
            self.solution[constraint] = slack.abs();
            self.inverse[constraint][constraint] = sign;
            self.last[constraint] = -sign * sums.weight[constraint];
        }
        self.value[constraints] = sums.value;
        self.solution[constraints] = 1.0;
        self.last[constraints] = 1.0;
    }

    fn worth_of(&self, row: usize, lo: &Prices, hi: &Prices) -> f64 {
        match self.column[row] {
            Column::Picks => self.worth_of_values * self.value[row],
            Column::Unused(constraint) => lo[constraint],
            Column::Overdraft(constraint) => -hi[constraint],
        }
    }

    /// The worth of a unit of each constraint's room to this mixture, and the worth of the mixture.
    fn prices(&self, lo: &Prices, hi: &Prices) -> (Prices, f64) {
        let mut prices = Prices::default();
        let mut sum = 0.0;
        for row in 0..self.rows {
            let worth = self.worth_of(row, lo, hi);
            prices = plus(&prices, worth, &self.inverse[row]);
            sum += worth * self.solution[row];
        }
        (prices, sum)
    }

    /// Replace the column that runs out first by this one. Returns whether one runs out.
    fn enter(&mut self, column: Column, sums: &Sums) -> bool {
        let mut change = [0.0; ROWS];
        for row in 0..self.rows {
            let inverse = &self.inverse[row];
            change[row] = match column {
                Column::Unused(constraint) => inverse[constraint],
                Column::Overdraft(constraint) => -inverse[constraint],
                Column::Picks => dot(inverse, &sums.weight) + self.last[row],
            };
        }
        let Some(leaving) = self.first_to_run_out(&change) else { return false };
        let pivot = 1.0 / change[leaving];
        let amount = self.solution[leaving] * pivot;
        let inverse = self.inverse[leaving].map(|number| number * pivot);
        let last = self.last[leaving] * pivot;
        for row in 0..self.rows {
            self.solution[row] = (self.solution[row] - amount * change[row]).max(0.0);
            self.inverse[row] = plus(&self.inverse[row], -change[row], &inverse);
            self.last[row] -= change[row] * last;
        }
        self.solution[leaving] = amount;
        self.inverse[leaving] = inverse;
        self.last[leaving] = last;
        self.column[leaving] = column;
        self.value[leaving] = sums.value;
        true
    }

    fn first_to_run_out(&self, change: &[f64; ROWS]) -> Option<usize> {
        let mut first = None;
        let mut shortest = (f64::INFINITY, 0.0);
        for row in 0..self.rows {
            let lasts = (self.solution[row] / change[row], -change[row]);
            if change[row] > LEAST_PIVOT && lasts < shortest {
                (shortest, first) = (lasts, Some(row));
            }
        }
        first
    }
}
