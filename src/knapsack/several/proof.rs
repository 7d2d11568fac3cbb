//! Finds the best answer and bound from prices, as far as the budget allows.
//!
//! Without variances there is one box, and its linear constraints are the true ones. Otherwise boxes whose bound can't
//! beat the best answer are certified. Of the others, boxes whose secants lose much are split, and the rest are
//! searched. An answer outside its box is accepted too: the true burden decides whether it fits.

use super::case::{Budget, Case, Incumbent, pass};
use super::dual::{Dual, Guess, Prices, Relaxation, RelaxationResult};
use super::linear::{Box, Linear, MOST_BOXES, PerConstraint};
use super::repair::{Repair, Scene};
use super::search::{Root, Search};

/// Sizes of the cores that are searched for answers, before bounds are improved.
const FIRST_CORE: usize = 10;
const CORE_GROWTH: f64 = 1.4;

/// With a gap below this share of the value range, a search proves what ever smaller boxes approach slowly.
const LEAST_GAP: f64 = 1e-9;
/// One such search may use the remaining budget divided by this.
const PART_OF_BUDGET: u64 = 3;

/// If no answer is known when the budget is spent, the search for one may take this many passes more.
const LAST_PASSES: u64 = 20;

/// The fraction of the gap that is first searched for bounds, and its growth per try.
const FIRST_PRETENDED_GAP: f64 = 1.0 / 16.0;
const GAP_GROWTH: f64 = 1.5;

/// A box is split while its secants lose more than this fraction of the gap,
const SPREAD_OF_GAP: f64 = 0.25;
/// or, while the gap or the prices are not informative, of a capacity.
const SPREAD_OF_CAPACITY: f64 = 0.01;

pub(super) struct Proof<'a> {
    pub case: &'a Case<'a>,
    pub linear: &'a mut Linear,
    pub dual: &'a mut Dual,
    pub repair: &'a mut Repair,
    pub search: &'a mut Search,
    pub incumbent: &'a mut Incumbent,
    pub boxes: &'a mut Vec<Box>,
    /// Picks of the last solve, which may lead to a good answer.
    pub others: &'a mut Vec<u32>,
    pub budget: &'a mut Budget,
}

impl Proof<'_> {
    /// Returns the bound, `None` if nothing fits, and the prices per unit, by resource.
    pub fn run(&mut self, guess: Guess) -> (Option<f64>, Prices) {
        let problem = self.case.problem;
        let mut prices = Prices::default();
        let mut bound = f64::NEG_INFINITY;
        if !problem.impossible && problem.class_count() > 0 {
            bound = self.look_through_boxes(guess, &mut prices);
        }
        if self.incumbent.value == f64::NEG_INFINITY {
            self.settle_for_least_overdraft();
        }
        let is_found = self.incumbent.value > f64::NEG_INFINITY;
        ((is_found || bound > f64::NEG_INFINITY).then_some(bound), prices)
    }

    /// Returns the bound, `-infinity` if nothing fits.
    fn look_through_boxes(&mut self, guess: Guess, prices: &mut Prices) -> f64 {
        // Upper bound on boxes that stayed open, or were cut off for an accepted gap.
        let mut open = f64::NEG_INFINITY;
        let mut guess = guess;
        let mut is_first = true;
        self.boxes.clear();
        self.boxes.push(Box::whole(self.case.problem));
        while let Some(within) = self.take_best_box() {
            let is_of_interest = within.bound > self.incumbent.cut(self.case, 0.0);
            if !is_of_interest || !is_first && self.budget.left() == 0 {
                open = open.max(within.bound);
                continue;
            }
            self.linear.draw(self.case.problem, &within);
            let RelaxationResult::Relaxed(relaxation) = self.relax(guess) else { continue };
            let bound = relaxation.bound.min(within.bound);
            if is_first {
                *prices = self.prices_per_unit(&relaxation.prices);
            }
            guess = Guess::Near(self.prices_per_unit(&relaxation.prices));
            self.find_answers(&relaxation);
            if let Some((constraint, part)) = self.constraint_to_split(&within, &relaxation, bound) {
                let deviations = self.deviations();
                if is_first {
                    self.try_tangent(deviations, guess);
                }
                self.boxes.extend(within.split(constraint, deviations[constraint], part, bound).into_iter().flatten());
            } else {
                open = open.max(self.search_core(&relaxation).min(bound));
            }
            is_first = false;
        }
        open
    }

    fn take_best_box(&mut self) -> Option<Box> {
        let best = (0..self.boxes.len()).max_by(|&a, &b| self.boxes[a].bound.total_cmp(&self.boxes[b].bound))?;
        Some(self.boxes.swap_remove(best))
    }

    /// The constraint whose secant loses the most, if that matters, and the sufficient part of its interval.
    fn constraint_to_split(&self, within: &Box, relaxation: &Relaxation, bound: f64) -> Option<(usize, f64)> {
        let gap = bound - self.incumbent.value;
        let by_value = self.worst_constraint(within, &relaxation.prices);
        let by_capacity = self.worst_constraint(within, &self.linear.importance);
        let (constraint, given_away, wanted) = match (by_value, by_capacity) {
            _ if self.boxes.len() + 3 > MOST_BOXES || gap <= LEAST_GAP * self.case.problem.value_range => return None,
            (Some((constraint, given_away)), _) if gap < f64::INFINITY => {
                (constraint, given_away, SPREAD_OF_GAP * gap / self.linear.constraints as f64)
            }
            (_, Some((constraint, given_away))) => (constraint, given_away, SPREAD_OF_CAPACITY),
            _ => return None,
        };
        (given_away > wanted).then(|| (constraint, (wanted / given_away).sqrt()))
    }

    /// The constraint whose secant loses the most, and the loss at these prices. `None` if nothing is lost.
    fn worst_constraint(&self, within: &Box, prices: &Prices) -> Option<(usize, f64)> {
        let mut worst = None;
        let mut most = 0.0;
        for constraint in 0..self.linear.constraints {
            let given_away = prices[constraint] * self.linear.spread[constraint];
            if given_away > most && !within.is_narrow(constraint) {
                most = given_away;
                worst = Some((constraint, most));
            }
        }
        worst
    }

    fn relax(&mut self, guess: Guess) -> RelaxationResult {
        let Self { case, linear, dual, incumbent, budget, .. } = self;
        let guess = match guess {
            Guess::Near(per_unit) => {
                let mut prices = Prices::default();
                for (index, constraint) in case.problem.constraints().iter().enumerate() {
                    prices[index] = per_unit[constraint.resource] / linear.scale[index];
                }
                Guess::Near(prices)
            }
            Guess::Unknown => Guess::Unknown,
        };
        dual.minimise(case.problem, linear, guess, budget, |sums, picks| {
            if sums.value > incumbent.value && linear.fits(&sums.weight) {
                incumbent.offer(case, sums.value, picks);
            }
            incumbent.cut(case, 0.0)
        })
    }

    fn prices_per_unit(&self, prices: &Prices) -> Prices {
        let mut per_unit = Prices::default();
        for (index, constraint) in self.case.problem.constraints().iter().enumerate() {
            per_unit[constraint.resource] = prices[index] * self.linear.scale[index];
        }
        per_unit
    }

    fn find_answers(&mut self, relaxation: &Relaxation) {
        let Self { case, linear, dual, repair, incumbent, others, budget, .. } = self;
        let scene = Scene { problem: case.problem, linear, prices: &relaxation.prices, scores: &dual.scores };
        if repair.find(&scene, &dual.picks, others, budget) {
            incumbent.offer(case, repair.sums.value, &repair.picks);
        }
    }

    /// Look for answers with tangents at the deviations that the relaxation of a wide box suggests. Answers that
    /// satisfy the tangents fit.
    fn try_tangent(&mut self, deviations: PerConstraint, guess: Guess) {
        self.linear.draw(self.case.problem, &Box::only(deviations));
        if let RelaxationResult::Relaxed(tangent) = self.relax(guess) {
            self.find_answers(&tangent);
            self.search_small_cores(&tangent);
        }
    }

    /// The deviations of the present picks, per constraint.
    fn deviations(&self) -> PerConstraint {
        let problem = self.case.problem;
        let mut deviations = PerConstraint::default();
        for (index, constraint) in problem.constraints().iter().enumerate() {
            let added: f64 = self.dual.picks.iter().map(|&pick| problem.weight(pick as usize, index).variance).sum();
            deviations[index] = (constraint.base.variance + added).sqrt();
        }
        deviations
    }

    /// Search the answers that satisfy the linear constraints for one better than the incumbent. Returns a bound: at
    /// most the incumbent plus the accepted gap if all was searched.
    fn search_core(&mut self, relaxation: &Relaxation) -> f64 {
        let least_cost = self.search_small_cores(relaxation);
        self.search_by_gap(relaxation, least_cost)
    }

    /// Search ever larger cores of the cheapest changes: good answers consist of these. Every answer with another
    /// change loses at least the cost of that change. Returns the greatest such loss that is certain, for all answers
    /// beyond the accepted gap.
    fn search_small_cores(&mut self, relaxation: &Relaxation) -> f64 {
        let Self { case, linear, dual, search, incumbent, budget, .. } = self;
        let root = Root { case, linear, dual, relaxation };
        let mut certain = 0.0;
        let mut size = FIRST_CORE;
        search.begin(&root, relaxation.bound - incumbent.value);
        loop {
            let cut = incumbent.cut(case, linear.stake(&relaxation.prices));
            let Some(cost) = search.cost_beyond(size, relaxation.bound - cut) else { return certain };
            let most_nodes = budget.left() / PART_OF_BUDGET;
            if !search.run(&root, cut, cost, incumbent, budget, most_nodes) {
                return certain;
            }
            certain = cost;
            size = (size as f64 * CORE_GROWTH) as usize;
        }
    }

    /// Search all changes, but assume an incumbent much better than the real one: the number of nodes grows steeply
    /// with the gap. If nothing is found, the bound is lowered, and the next try assumes less. An answer that is found
    /// is the optimum. All tries together cost little more than the last.
    fn search_by_gap(&mut self, relaxation: &Relaxation, certain: f64) -> f64 {
        let Self { case, linear, dual, search, incumbent, budget, .. } = self;
        let root = Root { case, linear, dual, relaxation };
        let stake = linear.stake(&relaxation.prices);
        let mut bound = relaxation.bound - certain;
        if certain > 0.0 {
            // The cores were searched only for answers beyond the accepted gap.
            bound = bound.max(incumbent.value + incumbent.allowance(case));
        }
        let mut pretended = f64::max(GAP_GROWTH * certain, FIRST_PRETENDED_GAP * (relaxation.bound - incumbent.value));
        loop {
            let cut = incumbent.cut(case, stake);
            if bound <= cut {
                return bound.min(incumbent.value + incumbent.allowance(case));
            }
            let most_nodes = budget.left();
            let floor = cut.max(relaxation.bound - pretended);
            if most_nodes == 0 || !search.run(&root, floor, relaxation.bound - floor, incumbent, budget, most_nodes) {
                return bound;
            }
            if floor <= cut || incumbent.value >= floor {
                return incumbent.value + incumbent.allowance(case);
            }
            bound = floor;
            pretended *= GAP_GROWTH;
        }
    }

    /// Store an answer that overdraws little, because no answer that fits is known.
    fn settle_for_least_overdraft(&mut self) {
        let problem = self.case.problem;
        if problem.class_count() == 0 {
            return self.incumbent.put(self.case, &[]);
        }
        self.budget.leave(LAST_PASSES * pass(problem.option_count()));
        self.linear.draw(problem, &Box::whole(problem));
        self.dual.least_overdraft(problem, self.linear, self.budget);
        // Answers that satisfy the secants may overdraw. Those that satisfy the tangents fit.
        let deviations = self.deviations();
        self.linear.draw(problem, &Box::only(deviations));
        self.dual.least_overdraft(problem, self.linear, self.budget);
        let Self { case, linear, dual, repair, incumbent, budget, .. } = self;
        let prices = Prices::default();
        let scene = Scene { problem: case.problem, linear, prices: &prices, scores: &dual.scores };
        repair.start(&scene, &dual.picks);
        // Even if the repair ended at a tangent or at the budget, its picks may fit.
        repair.repair(&scene, budget);
        if !case.problem.impossible && incumbent.offer(case, repair.sums.value, &repair.picks) {
            return;
        }
        incumbent.put(case, &repair.picks);
    }
}
