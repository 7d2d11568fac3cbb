//! The steps in order, and the bookkeeping of what is proven.

use super::core::Core;
use super::fits::Limit;
use super::incumbent::{Case, Incumbent, VALUE_PRECISION};
use super::input::{Input, Totals};
use super::lightest::Lightest;
use super::lists::Lists;
use super::reduce::Problem;
use super::relax::{Bracket, Outcome, Relaxation, balance, relax};
use super::search::Search;
use super::secant::{Interval, Linear, whole};
use super::{Economy, Effort, Solution, bytes, reserve_total};
use crate::base::Result;

/// Intervals waiting at a time. The worst is a split of the best, so few wait; at the limit they are searched unsplit.
const MOST_INTERVALS: usize = 256;

/// An interval is split while the secant gives away more than this fraction of the gap.
const SPREAD_OF_GAP: f64 = 0.25;

/// Depth-first search hands over to the lists after this many nodes.
const DEPTH_FIRST_NODES: u64 = 10_000;

/// What fraction of the gap the lists look through at first.
const FIRST_PRETENDED_GAP: f64 = 1.0 / 256.0;

/// Work done and allowed, in nodes.
#[derive(Debug, Default)]
pub(super) struct Budget {
    pub spent: u64,
    pub limit: u64,
}

impl Budget {
    /// Whether there is still budget left after this.
    pub fn charge(&mut self, nodes: u64) -> bool {
        self.spent = self.spent.saturating_add(nodes);
        self.spent < self.limit
    }

    pub fn charge_pass(&mut self, problem: &Problem) {
        self.charge(1 + problem.value.len() as u64 / 64);
    }

    pub fn left(&self) -> u64 {
        self.limit.saturating_sub(self.spent)
    }
}

/// Everything a solve works on. Kept for its memory; nothing in it survives a solve but the incumbent.
#[derive(Debug, Default)]
pub(super) struct Workspace {
    problem: Problem,
    lightest: Lightest,
    incumbent: Incumbent,
    core: Core,
    search: Search,
    lists: Lists,
    intervals: Vec<Interval>,
    picks: Vec<u32>,
    scratch: Vec<u32>,
}

impl Workspace {
    pub fn reserve(&mut self, settings: usize, options: usize, states: usize) -> Result<()> {
        self.problem.reserve(settings, options)?;
        self.lightest.reserve(options)?;
        self.incumbent.reserve(settings)?;
        self.core.reserve(settings, options)?;
        self.search.reserve(settings)?;
        self.lists.reserve(states)?;
        reserve_total(&mut self.intervals, MOST_INTERVALS)?;
        reserve_total(&mut self.picks, settings)?;
        reserve_total(&mut self.scratch, settings)
    }

    pub fn forget(&mut self) {}

    pub fn memory_used(&self) -> usize {
        self.problem.memory_used()
            + self.lightest.memory_used()
            + self.incumbent.memory_used()
            + self.core.memory_used()
            + self.search.memory_used()
            + self.lists.memory_used()
            + bytes(&self.intervals)
            + bytes(&self.picks)
            + bytes(&self.scratch)
    }

    pub fn choices(&self) -> &[u16] {
        &self.incumbent.choices
    }

    pub fn solve(&mut self, input: &Input, economy: Economy, effort: Effort) -> Result<Solution> {
        let Self { problem, lightest, incumbent, core, search, lists, intervals, picks, scratch } = self;
        problem.fill(input, economy.sigmas == 0.0);
        let limit = Limit::new(economy, problem.negative_means);
        let case = Case { input, problem, limit, accepted_gap: effort.accepted_gap };
        let mut budget = Budget { spent: 0, limit: effort.node_limit };

        incumbent.step = 0.0;
        incumbent.put(&case, &problem.best);
        if !problem.impossible && limit.admits_choices(input, &incumbent.choices) {
            return Ok(report(&case, incumbent, incumbent.value, 0.0, budget.spent));
        }
        lightest.pick(&case, picks);
        incumbent.put(&case, picks);
        if problem.impossible || !limit.admits_choices(input, &incumbent.choices) {
            return Ok(report_infeasible(&case, incumbent, budget.spent));
        }
        let mut proof = Proof {
            case: &case,
            incumbent,
            core,
            search,
            lists,
            intervals,
            picks,
            scratch,
            budget: &mut budget,
            price: 0.0,
        };
        let bound = proof.run()?;
        let price = proof.price;
        Ok(report(&case, incumbent, bound, price, budget.spent))
    }
}

fn report(case: &Case, incumbent: &Incumbent, bound: f64, price: f64, nodes: u64) -> Solution {
    let totals = case.input.totals(&incumbent.choices);
    let proven = bound <= incumbent.value;
    let upper_bound = if proven { totals.value } else { (case.problem.base.value + bound).max(totals.value) };
    Solution {
        feasible: true,
        value: totals.value,
        mean: totals.mean,
        variance: totals.variance,
        burden: case.limit.burden(totals),
        excess: 0.0,
        upper_bound,
        gap: (upper_bound - totals.value) / upper_bound.abs().max(f64::MIN_POSITIVE),
        proven,
        nodes,
        price,
    }
}

fn report_infeasible(case: &Case, incumbent: &Incumbent, nodes: u64) -> Solution {
    let totals = case.input.totals(&incumbent.choices);
    let burden = case.limit.burden(totals);
    Solution {
        feasible: false,
        value: totals.value,
        mean: totals.mean,
        variance: totals.variance,
        burden,
        excess: if burden == f64::INFINITY { burden } else { burden - case.limit.capacity },
        upper_bound: totals.value,
        gap: 0.0,
        proven: true,
        nodes,
        price: 0.0,
    }
}

/// From a first answer to the best one, or as far as the budget goes.
struct Proof<'a> {
    case: &'a Case<'a>,
    incumbent: &'a mut Incumbent,
    core: &'a mut Core,
    search: &'a mut Search,
    lists: &'a mut Lists,
    intervals: &'a mut Vec<Interval>,
    picks: &'a mut Vec<u32>,
    scratch: &'a mut Vec<u32>,
    budget: &'a mut Budget,
    /// Value of capacity in the relaxation nearest to where the best answer is.
    price: f64,
}

impl Proof<'_> {
    /// Returns the bound: the incumbent's value when it is proven.
    fn run(&mut self) -> Result<f64> {
        // The most that an interval left open, or cut off for an accepted gap, may hold.
        let mut open = f64::NEG_INFINITY;
        let mut first_bound = 0.0;
        let lightest =
            self.picks.iter().fold(Totals::default(), |sum, &pick| sum.plus(self.case.problem.at(pick as usize)));
        let mut bracket = Bracket { over: self.case.problem.best_totals, under: lightest };
        self.intervals.clear();
        self.intervals.push(whole(self.case));
        let mut is_first = true;
        while let Some(interval) = self.take_best_interval() {
            if interval.bound <= self.incumbent.cut(self.case, 0.0) {
                continue;
            }
            if !is_first && self.budget.left() == 0 {
                open = f64::max(open, interval.bound);
                continue;
            }
            let linear = interval.linear(self.case);
            let outcome = relax(self.case, &linear, &mut bracket, self.picks, self.incumbent, self.budget);
            let relaxation = match outcome {
                Outcome::Relaxed(relaxation) => relaxation,
                Outcome::Beaten(lambda) if is_first => {
                    self.price = lambda;
                    continue;
                }
                Outcome::Beaten(_) | Outcome::Empty => continue,
            };
            let bound = relaxation.bound.min(interval.bound);
            let first = std::mem::take(&mut is_first);
            if first {
                first_bound = bound;
                self.price = relaxation.lambda;
            }
            self.improve_by_one_change(relaxation.totals);
            if first {
                self.try_tangent(&relaxation, bracket);
            }
            if bound <= self.cut(&linear, &relaxation) {
                continue;
            }
            if self.should_split(&interval, &linear, &relaxation, bound) {
                let gap = bound - self.incumbent.value;
                let width = (4.0 * SPREAD_OF_GAP * gap / (relaxation.lambda * linear.theta)).sqrt();
                self.intervals.extend(interval.split(self.deviation(&relaxation), width, bound).into_iter().flatten());
            } else if let Some(left) = self.search_core(&linear, &relaxation)? {
                open = f64::max(open, left.min(bound));
            }
        }
        Ok(self.bound(open, first_bound))
    }

    fn take_best_interval(&mut self) -> Option<Interval> {
        let best =
            (0..self.intervals.len()).max_by(|&a, &b| self.intervals[a].bound.total_cmp(&self.intervals[b].bound))?;
        Some(self.intervals.swap_remove(best))
    }

    fn bound(&self, open: f64, first_bound: f64) -> f64 {
        let value = self.incumbent.value;
        let rounding = VALUE_PRECISION * value.abs();
        let accepted = (value + self.incumbent.allowance(self.case)).min(first_bound);
        let bound = open.max(accepted);
        if bound <= value + rounding { value } else { bound }
    }

    fn cut(&self, linear: &Linear, relaxation: &Relaxation) -> f64 {
        self.incumbent.cut(self.case, linear.stake(relaxation.lambda))
    }

    fn should_split(&self, interval: &Interval, linear: &Linear, relaxation: &Relaxation, bound: f64) -> bool {
        let gap = bound - self.incumbent.value;
        // At price 0 the room doesn't bind, though the burden may not fit: only a narrower secant can tell.
        let given_away = relaxation.lambda * linear.spread;
        let loose = given_away > SPREAD_OF_GAP * gap || relaxation.lambda == 0.0;
        loose && linear.spread > 0.0 && !interval.is_narrow() && self.intervals.len() + 3 <= MOST_INTERVALS
    }

    fn deviation(&self, relaxation: &Relaxation) -> f64 {
        (self.case.problem.base.variance + relaxation.totals.variance).max(0.0).sqrt()
    }

    /// Look for a good answer where the relaxation of a wide interval says that the best deviation is. How finely
    /// intervals are to be split depends on the gap, so a good answer comes first.
    fn try_tangent(&mut self, relaxation: &Relaxation, mut bracket: Bracket) {
        let linear = Interval::only(self.deviation(relaxation)).linear(self.case);
        if self.case.limit.sigmas == 0.0 || linear.theta == 0.0 {
            return;
        }
        // The picks stay those of the interval's relaxation: its search starts from them.
        std::mem::swap(self.picks, self.scratch);
        if let Outcome::Relaxed(tangent) =
            relax(self.case, &linear, &mut bracket, self.picks, self.incumbent, self.budget)
        {
            self.price = tangent.lambda;
            self.improve_by_one_change(tangent.totals);
        }
        std::mem::swap(self.picks, self.scratch);
    }

    /// Make the most valuable single change to the picks that gives a better answer that fits.
    fn improve_by_one_change(&mut self, totals: Totals) {
        let problem = self.case.problem;
        let mut found: Option<(usize, u32)> = None;
        let mut best = self.incumbent.value;
        self.budget.charge_pass(problem);
        for class in 0..self.picks.len() {
            let without = totals.minus(problem.at(self.picks[class] as usize));
            for position in problem.class(class) {
                if without.value + problem.value[position] > best {
                    let changed = without.plus(problem.at(position));
                    if self.case.fits(changed) {
                        best = changed.value;
                        found = Some((class, position as u32));
                    }
                }
            }
        }
        if let Some((class, position)) = found {
            let pick = std::mem::replace(&mut self.picks[class], position);
            self.incumbent.offer(self.case, best, self.picks);
            self.picks[class] = pick;
        }
    }

    /// Look for what is better than the incumbent among what satisfies the linear constraint. None when the incumbent
    /// then holds the best of it; or a bound, if the budget ran out before.
    fn search_core(&mut self, linear: &Linear, relaxation: &Relaxation) -> Result<Option<f64>> {
        let cut = self.cut(linear, relaxation);
        let stake = linear.stake(relaxation.lambda);
        self.core.build(self.case, linear, relaxation, self.picks, cut);
        let most_nodes = DEPTH_FIRST_NODES.min(self.budget.left());
        let (core, start) = (&*self.core, relaxation.totals);
        let Self { case, incumbent, budget, search, picks, scratch, .. } = self;
        if search.search(case, core, picks, start, stake, most_nodes, scratch, incumbent, budget) {
            return Ok(None);
        }
        self.search_lists(linear, relaxation)
    }

    /// The same by lists. How many states they have grows steeply with the gap between bound and incumbent. So the
    /// search first pretends that the incumbent is much better than it is. Nothing found then means a lower bound, and
    /// the next try pretends less; something found is the optimum. All tries together cost about twice the last.
    fn search_lists(&mut self, linear: &Linear, relaxation: &Relaxation) -> Result<Option<f64>> {
        self.incumbent.step = self.case.problem.value_step();
        let mut relaxation = *relaxation;
        balance(self.case.problem, linear, &mut relaxation, self.picks);
        let relaxation = &relaxation;
        let mut bound = relaxation.bound;
        let mut pretended = (bound - self.incumbent.value) * FIRST_PRETENDED_GAP;
        while self.budget.left() > 0 {
            let cut = self.cut(linear, relaxation);
            let floor = cut.max(relaxation.bound - pretended);
            self.core.build(self.case, linear, relaxation, self.picks, floor);
            let Self { case, incumbent, budget, core, picks, scratch, .. } = self;
            if !self.lists.search(case, linear, core, picks, relaxation, floor, scratch, incumbent, budget)? {
                return Ok(Some(bound));
            }
            if self.incumbent.value >= floor || floor <= cut {
                return Ok(None);
            }
            bound = floor;
            pretended *= 2.0;
        }
        Ok(Some(bound))
    }
}
