//! Runs the steps in order, and keeps account of the proof.

use super::budget::Budget;
use super::core::{Core, View};
use super::fits::Limit;
use super::incumbent::{Case, Incumbent, VALUE_PRECISION, gap};
use super::input::{Input, Totals};
use super::kernel::{WIDTH, best_change};
use super::lightest::Lightest;
use super::lists::Lists;
use super::pairs::{MOST_CHANGES, Pairs};
use super::reduce::Problem;
use super::relax::{Aim, Bracket, Relaxation, RelaxationResult, balance, relax};
use super::search::Search;
use super::secant::{Interval, Linear, whole};
use super::{Economy, Effort, Solution, bytes, reserve_total};
use crate::base::Result;

/// The most intervals waiting at a time. The best is split first, so few wait; at the limit they are searched unsplit.
const MOST_INTERVALS: usize = 256;

/// An interval is split while the secant loses more than a fraction of the gap. The fraction is this divided by the
/// number of classes in the core: the larger the core, the more a wider search costs.
const SPREAD_OF_GAP: f64 = 6.0;
const LEAST_SPREAD: f64 = 0.1;
const MOST_SPREAD: f64 = 0.5;

/// The tangent may be so far off the best deviation that it loses this fraction of the gap.
const OFF_OF_GAP: f64 = 0.1;

/// The most tangents tried for it.
const MOST_TANGENTS: u32 = 6;

/// The least part of the gap that the accepted gap must have to spare, so that it certifies a wide part. Otherwise the
/// part is searched.
const LEAST_ACCEPTED: f64 = 0.25;
/// Share of the accepted gap that tangents and pairs may use up. Beyond it they look for a better answer.
const SHARE: f64 = 0.5;

/// Pairs of changes are tried only in cores of at least this many classes. A search of a smaller core is as fast.
const LEAST_DEPTH_FOR_PAIRS: usize = 3;

/// A core of at most this many classes is searched: that is faster than splitting the interval and relaxing again.
const DEPTH_SEARCHED_UNSPLIT: usize = 24;

/// The same where the secant loses more than the gap.
const DEPTH_SEARCHED_LOOSE: usize = 16;

/// Depth-first search hands over to the lists after this many nodes. Where one weight orders states, lists are short.
const SCALAR_NODES: u64 = 20_000;
const NORMAL_NODES: u64 = 50_000;

/// Nodes of a search that only improves the answer.
const IMPROVE_NODES: u64 = 3_000;

/// The first stage of a search explores this many of the nearest classes, and at least this share of the gap.
const FIRST_CLASSES: usize = 20;
const FIRST_ASSUMED_GAP: f64 = 1.0 / 256.0;

/// Each stage of a search assumes a gap so many times that of the stage before.
const STAGE_GROWTH: f64 = 1.4;

/// Guesses from the last solve for the next: the price and the deviation. 0: unknown.
#[derive(Clone, Copy, Debug, Default)]
struct WarmStart {
    price: f64,
    deviation: f64,
}

/// The working data of a solve. Kept for its memory; the incumbent's choices also begin the next solve.
#[derive(Debug, Default)]
pub(super) struct Workspace {
    problem: Problem,
    lightest: Lightest,
    incumbent: Incumbent,
    core: Core,
    pairs: Pairs,
    search: Search,
    lists: Lists,
    intervals: Vec<Interval>,
    picks: Vec<u32>,
    scratch: Vec<u32>,
    memory: WarmStart,
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
        reserve_total(&mut self.picks, settings + WIDTH - 1)?;
        reserve_total(&mut self.scratch, settings + WIDTH - 1)
    }

    /// Clear the guesses, so that the next solve begins anew.
    pub fn forget(&mut self) {
        self.memory = WarmStart::default();
        self.incumbent.choices.clear();
    }

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
        self.incumbent.is_careful = false;
        let solution = self.attempt(input, economy, effort)?;
        let Solution { value, mean, variance, .. } = solution;
        let limit = Limit::new(economy, self.problem.negative_means);
        if !solution.feasible || limit.admits(Totals { value, mean, variance }) {
            return Ok(solution);
        }
        // Sums lost digits to numbers that are enormous relative to the capacity.
        self.forget();
        self.incumbent.is_careful = true;
        self.attempt(input, economy, effort)
    }

    fn attempt(&mut self, input: &Input, economy: Economy, effort: Effort) -> Result<Solution> {
        let Self { problem, lightest, incumbent, core, pairs, search, lists, intervals, picks, scratch, memory } = self;
        problem.fill(input, economy.sigmas == 0.0);
        let limit = Limit::new(economy, problem.negative_means);
        let case = Case { input, problem, limit, accepted_gap: effort.accepted_gap };
        let mut budget = Budget { spent: 0, limit: effort.node_limit };

        incumbent.step = 0.0;
        let remembered = recall(problem, &incumbent.choices, picks).filter(|&totals| case.fits(totals));
        if !problem.impossible && !case.clearly_overdraws(problem.best_totals) {
            incumbent.put(&case, problem.best_totals, &problem.best);
            if incumbent.admits(&case, problem.best_totals, &problem.best) {
                *memory = WarmStart { price: 0.0, ..*memory };
                return Ok(report(&case, incumbent, 0.0, 0.0, budget.spent));
            }
        }
        let first = remembered.unwrap_or_else(|| lightest.pick(&case, picks));
        incumbent.put(&case, first, picks);
        if problem.impossible || !incumbent.admits(&case, first, picks) {
            return Ok(report_infeasible(&case, incumbent, budget.spent));
        }
        let mut proof = Proof {
            case: &case,
            incumbent,
            core,
            pairs,
            search,
            lists,
            intervals,
            picks,
            picks_id: 0,
            scratch,
            budget: &mut budget,
            bracket: Bracket::new(&case, first),
            memory: *memory,
            is_searched: false,
            is_priced: false,
            certified: f64::NEG_INFINITY,
            open: f64::NEG_INFINITY,
        };
        let bound = proof.run()?;
        *memory = proof.memory;
        let price = if proof.is_priced { memory.price } else { 0.0 };
        Ok(report(&case, incumbent, bound, price, budget.spent))
    }
}

/// The remembered choices as positions, and their sums. `None` if an option no longer exists.
fn recall(problem: &Problem, choices: &[u16], picks: &mut Vec<u32>) -> Option<Totals> {
    if choices.len() != problem.no_choices.len() || problem.impossible {
        return None;
    }
    picks.clone_from(&problem.best);
    for (class, pick) in picks[..problem.class_count()].iter_mut().enumerate() {
        *pick = problem.find(class, choices)?;
    }
    Some(problem.totals(picks))
}

fn report(case: &Case, incumbent: &mut Incumbent, bound: f64, price: f64, nodes: u64) -> Solution {
    let totals = incumbent.finish(case);
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
        gap: if proven { 0.0 } else { gap(bound, incumbent.value, case.problem.lightest_totals.value) },
        proven,
        nodes,
        price,
    }
}

fn report_infeasible(case: &Case, incumbent: &mut Incumbent, nodes: u64) -> Solution {
    let lightest = report(case, incumbent, f64::NEG_INFINITY, 0.0, nodes);
    let burden = lightest.burden;
    let excess = if burden == f64::INFINITY { burden } else { burden - case.limit.capacity };
    Solution { feasible: false, excess, ..lightest }
}

/// Improves a first answer to the best one, or as far as the budget allows.
struct Proof<'a> {
    case: &'a Case<'a>,
    incumbent: &'a mut Incumbent,
    core: &'a mut Core,
    pairs: &'a mut Pairs,
    search: &'a mut Search,
    lists: &'a mut Lists,
    intervals: &'a mut Vec<Interval>,
    picks: &'a mut Vec<u32>,
    /// Incremented whenever the picks are recomputed.
    picks_id: u64,
    scratch: &'a mut Vec<u32>,
    budget: &'a mut Budget,
    bracket: Bracket,
    /// Guesses, until this solve replaces them.
    memory: WarmStart,
    /// Whether a core was searched. Pairs seldom improve an answer after that.
    is_searched: bool,
    /// Whether `memory.price` is this problem's.
    is_priced: bool,
    /// Upper bound on the parts that the accepted gap certified.
    certified: f64,
    /// Upper bound on the parts that remained open when the nodes ran out.
    open: f64,
}

impl Proof<'_> {
    /// Returns the bound: the incumbent's value when it is proven.
    fn run(&mut self) -> Result<f64> {
        let whole = whole(self.case);
        self.intervals.clear();
        self.core.clear();
        match self.search_where_the_best_deviation_is(&whole)? {
            Some(middle) => self.intervals.extend(whole.without(&middle).into_iter().flatten()),
            None => self.intervals.push(whole),
        }
        while let Some(interval) = self.take_best_interval() {
            if interval.bound <= self.incumbent.cut(self.case, 0.0) {
                self.certify(interval.bound);
            } else if interval.is_relaxed() && self.budget.left() == 0 {
                self.open = f64::max(self.open, interval.bound);
            } else {
                self.examine(interval)?;
            }
        }
        Ok(self.bound())
    }

    fn take_best_interval(&mut self) -> Option<Interval> {
        let best =
            (0..self.intervals.len()).max_by(|&a, &b| self.intervals[a].bound.total_cmp(&self.intervals[b].bound))?;
        Some(self.intervals.swap_remove(best))
    }

    /// Certify an interval, split it or search it.
    fn examine(&mut self, interval: Interval) -> Result<()> {
        self.budget.charge(1);
        let linear = interval.linear(self.case);
        let relaxation = match self.relax(&linear) {
            RelaxationResult::Empty => return Ok(()),
            RelaxationResult::Beaten(relaxation) => {
                self.certify(relaxation.bound);
                return Ok(());
            }
            RelaxationResult::Relaxed(relaxation) => relaxation,
        };
        let bound = relaxation.bound.min(interval.bound).min(0.0);
        self.improve_by_one_change(&linear, relaxation.totals);
        let cut = self.cut(&linear, &relaxation);
        if bound > cut && self.is_searched {
            self.collect(&linear, &relaxation, cut);
        } else if bound > cut {
            self.improve_by_pairs(&linear, &relaxation);
        }
        if bound > self.cut(&linear, &relaxation) && self.should_split(&interval, &linear, &relaxation, bound) {
            let gap = bound - self.incumbent.value;
            let width = (4.0 * self.spread_of_gap() * gap / (relaxation.lambda * linear.theta)).sqrt();
            let deviation = self.deviation(relaxation.totals.variance);
            self.intervals.extend(interval.split(deviation, width, bound).into_iter().flatten());
            return Ok(());
        }
        self.certify_or_search(&linear, &relaxation, bound)
    }

    fn relax(&mut self, linear: &Linear) -> RelaxationResult {
        self.relax_for(linear, Aim { hint: self.memory.price, share: 1.0 })
    }

    fn relax_for(&mut self, linear: &Linear, aim: Aim) -> RelaxationResult {
        let Self { case, incumbent, budget, picks, bracket, .. } = self;
        let outcome = relax(case, linear, aim, bracket, picks, incumbent, budget);
        self.picks_id += 1;
        if let RelaxationResult::Beaten(relaxation) | RelaxationResult::Relaxed(relaxation) = &outcome
            && !self.is_priced
            && relaxation.lambda > 0.0
        {
            self.memory.price = relaxation.lambda;
            self.is_priced = true;
        }
        outcome
    }

    /// `bound` may be lower than the relaxation's own.
    fn certify_or_search(&mut self, linear: &Linear, relaxation: &Relaxation, bound: f64) -> Result<()> {
        // No value is above 0.
        let bound = bound.min(0.0);
        if bound <= self.cut(linear, relaxation) {
            self.certify(bound);
        } else if let Some(left) = self.search_core(linear, relaxation)? {
            self.open = f64::max(self.open, left.min(bound));
        } else {
            self.certify(bound.min(self.incumbent.value + self.incumbent.allowance(self.case)));
        }
        Ok(())
    }

    /// Record that no answer of a part is worth more than `bound`, which is accepted.
    fn certify(&mut self, bound: f64) {
        if self.case.accepted_gap > 0.0 {
            self.certified = f64::max(self.certified, bound);
        }
    }

    fn bound(&self) -> f64 {
        let value = self.incumbent.value;
        let rounding = VALUE_PRECISION * value.abs();
        let bound = self.open.max(self.certified);
        if bound <= value + rounding { value } else { bound }
    }

    fn cut(&self, linear: &Linear, relaxation: &Relaxation) -> f64 {
        self.incumbent.cut(self.case, linear.stake(relaxation.lambda))
    }

    fn should_split(&self, interval: &Interval, linear: &Linear, relaxation: &Relaxation, bound: f64) -> bool {
        let gap = bound - self.incumbent.value;
        let given_away = relaxation.lambda * linear.spread;
        let depth_searched = if given_away > gap { DEPTH_SEARCHED_LOOSE } else { DEPTH_SEARCHED_UNSPLIT };
        let is_loose = given_away > self.spread_of_gap() * gap && self.core.class_count() > depth_searched;
        // At price 0 the room doesn't bind, but the burden may still not fit. Only a narrower secant can decide.
        let should_split = is_loose || relaxation.lambda == 0.0;
        should_split && linear.spread > 0.0 && !interval.is_narrow() && self.intervals.len() + 3 <= MOST_INTERVALS
    }

    fn spread_of_gap(&self) -> f64 {
        (SPREAD_OF_GAP / self.core.class_count() as f64).clamp(LEAST_SPREAD, MOST_SPREAD)
    }

    fn deviation(&self, variance: f64) -> f64 {
        (self.case.problem.base.variance + variance).max(0.0).sqrt()
    }

    /// Relax a tangent at the best deviation, which leads to a good answer. Then search a part around it. The part is
    /// so narrow that its secant loses little of the remaining gap. Both have the same slope, so one relaxation serves
    /// for both. Returns that part.
    fn search_where_the_best_deviation_is(&mut self, whole: &Interval) -> Result<Option<Interval>> {
        if whole.linear(self.case).spread == 0.0 {
            return Ok(None);
        }
        let Some((deviation, linear, relaxation)) = self.relax_tangent(whole) else {
            return Ok(None);
        };
        self.improve_by_search(&linear, &relaxation);
        let gap = (relaxation.bound - self.incumbent.value).max(0.0);
        let accepted = self.cut(&linear, &relaxation) - relaxation.bound;
        let is_accepted = gap > 0.0 && accepted > LEAST_ACCEPTED * gap;
        let give_away = if is_accepted { 0.99 * accepted } else { self.spread_of_gap() * gap };
        let width = (give_away / (relaxation.lambda * linear.theta)).sqrt();
        let middle = Interval::around(deviation, width.max(1e-9 * whole.hi));
        let linear = middle.linear(self.case);
        let bound = linear.bound(relaxation.totals, relaxation.lambda);
        self.certify_or_search(&linear, &Relaxation { bound, ..relaxation }, bound)?;
        Ok(Some(middle))
    }

    /// Every relaxation yields a deviation, and the tangent there is more accurate. The better the answers found on the
    /// way, the more precise a price and deviation is worth another relaxation.
    fn relax_tangent(&mut self, whole: &Interval) -> Option<(f64, Linear, Relaxation)> {
        let mut deviation = self.memory.deviation;
        if !(whole.lo < deviation && deviation < whole.hi) {
            let Bracket { over, under } = self.bracket;
            deviation = self.deviation(0.5 * (over.totals.variance + under.totals.variance));
            deviation = deviation.max(whole.lo).min(whole.hi);
        }
        let mut aim = Aim { hint: self.memory.price, share: SHARE };
        let mut is_improved = false;
        for round in 1.. {
            let linear = Interval::only(deviation).linear(self.case);
            let (RelaxationResult::Beaten(relaxation) | RelaxationResult::Relaxed(relaxation)) =
                self.relax_for(&linear, aim)
            else {
                return None;
            };
            let variance = self.bracket.variance(&linear, relaxation.totals);
            let found = self.deviation(variance).max(whole.lo).min(whole.hi);
            let slope = relaxation.lambda * linear.theta;
            let off = slope * (found - deviation) * (found - deviation);
            self.improve_by_one_change(&linear, relaxation.totals);
            let is_rough = |excess: f64| excess > OFF_OF_GAP * (relaxation.bound - self.incumbent.value);
            if !is_rough(off) && !is_rough(relaxation.excess) && !is_improved {
                self.improve_by_pairs(&linear, &relaxation);
                is_improved = true;
            }
            let is_rough = |excess: f64| excess > OFF_OF_GAP * (relaxation.bound - self.incumbent.value);
            if round >= MOST_TANGENTS || !is_rough(off) && !is_rough(relaxation.excess) {
                self.memory = WarmStart { price: relaxation.lambda, deviation };
                return (slope > 0.0).then_some((deviation, linear, relaxation));
            }
            (deviation, aim.hint) = if is_rough(off) { (found, relaxation.lambda) } else { (deviation, 0.0) };
        }
        None
    }

    /// Collect the core of the answers worth more than `cut`.
    fn collect(&mut self, linear: &Linear, relaxation: &Relaxation, cut: f64) {
        let Self { case, core, picks, picks_id, .. } = self;
        core.collect(&View { case, linear, relaxation, picks, picks_id: *picks_id }, cut);
    }

    /// Look for a better answer that differs by two changes from the relaxation's picks.
    fn improve_by_pairs(&mut self, linear: &Linear, relaxation: &Relaxation) {
        let cut = self.incumbent.cut_within(self.case, linear.stake(relaxation.lambda), SHARE);
        if relaxation.bound <= cut {
            return;
        }
        self.collect(linear, relaxation, cut);
        let Self { case, incumbent, core, pairs, picks, .. } = self;
        if core.class_count() < LEAST_DEPTH_FOR_PAIRS {
            return;
        }
        let changes = core.nearest(MOST_CHANGES);
        pairs.improve(case, &linear.tangent(), changes, picks, relaxation.totals, incumbent);
        self.budget.charge((changes.len() * changes.len()) as u64 / 512);
    }

    /// Offer the best answer that differs by one change from the picks.
    fn improve_by_one_change(&mut self, linear: &Linear, totals: Totals) {
        let problem = self.case.problem;
        self.budget.charge_pass(problem.slot_count());
        let slack = linear.tangent().room - linear.weight(totals);
        let least = self.incumbent.value - totals.value;
        let Some(gain) = best_change(problem.rows(), self.picks, linear.theta, slack, least) else {
            return;
        };
        let changed = problem.class_at(gain.position);
        let pick = std::mem::replace(&mut self.picks[changed], gain.position);
        let new = totals.plus(problem.at(gain.position as usize).minus(problem.at(pick as usize)));
        if self.case.fits(new) {
            self.incumbent.offer(self.case, new, self.picks);
        }
        self.picks[changed] = pick;
    }

    /// Improve the answer by a search of the core around the best deviation. A search of a small core is as fast as this.
    fn improve_by_search(&mut self, linear: &Linear, relaxation: &Relaxation) {
        if relaxation.bound > self.cut(linear, relaxation) && self.core.class_count() > DEPTH_SEARCHED_UNSPLIT {
            self.search_stages(linear, relaxation, IMPROVE_NODES, false);
        }
    }

    /// Search the answers that satisfy the linear constraint for one better than the incumbent. Returns `None` if the
    /// incumbent is then the best of them, or a bound if the budget ran out first.
    fn search_core(&mut self, linear: &Linear, relaxation: &Relaxation) -> Result<Option<f64>> {
        let most_nodes = if self.case.is_scalar() { SCALAR_NODES } else { NORMAL_NODES };
        match self.search_stages(linear, relaxation, most_nodes, true) {
            Some(bound) => self.search_lists(linear, relaxation, bound),
            None => Ok(None),
        }
    }

    /// Search the core depth first, to the end or only until the gap is near what was explored. Returns `None` if the
    /// incumbent is then the best answer, otherwise a bound.
    ///
    /// The work grows steeply with the gap between bound and incumbent. So the first stages assume an incumbent much
    /// better than the real one, and explore fewer options. If nothing is found, the bound is lowered, and the next
    /// stage assumes less. An answer that is found is the optimum.
    fn search_stages(
        &mut self,
        linear: &Linear,
        relaxation: &Relaxation,
        most_nodes: u64,
        to_the_end: bool,
    ) -> Option<f64> {
        self.is_searched = true;
        let stake = linear.stake(relaxation.lambda);
        let Self { case, incumbent, budget, core, search, picks, picks_id, scratch, .. } = self;
        let view = View { case, linear, relaxation, picks, picks_id: *picks_id };
        let mut cut = incumbent.cut(case, stake);
        core.collect(&view, cut);
        let mut bound = relaxation.bound;
        let first = core.cost_of_nearest(&view, FIRST_CLASSES).unwrap_or(f64::INFINITY);
        let mut assumed = first.max(FIRST_ASSUMED_GAP * (bound - incumbent.value));
        let least_left = budget.left().saturating_sub(most_nodes);
        loop {
            // The last stage explores all, instead of another one that explores nearly all.
            if relaxation.bound - incumbent.value <= STAGE_GROWTH * assumed {
                if !to_the_end {
                    return Some(bound);
                }
                assumed = f64::INFINITY;
            }
            let floor = cut.max(relaxation.bound - assumed);
            core.build(&view, floor);
            let nodes = budget.left() - least_left;
            let start = relaxation.totals;
            if !search.search(case, core, picks, start, stake, floor, nodes, scratch, incumbent, budget) {
                return Some(bound);
            }
            cut = incumbent.cut(case, stake);
            if incumbent.value >= floor || floor <= cut {
                return None;
            }
            bound = floor;
            assumed *= STAGE_GROWTH;
        }
    }

    /// The same by lists. All stages together cost about twice the last. No answer is worth more than `bound`.
    fn search_lists(&mut self, linear: &Linear, relaxation: &Relaxation, mut bound: f64) -> Result<Option<f64>> {
        self.incumbent.step = self.case.problem.value_step();
        let mut relaxation = *relaxation;
        balance(self.case.problem, linear, &mut relaxation, self.picks);
        self.picks_id += 1;
        let relaxation = &relaxation;
        let gap = relaxation.bound - self.incumbent.value;
        // Halves of the gap, so that the last stage assumes exactly the gap.
        let explored = (relaxation.bound - bound).max(FIRST_ASSUMED_GAP * gap);
        let mut assumed = gap;
        while assumed < f64::INFINITY && 0.5 * assumed >= explored && explored > 0.0 {
            assumed *= 0.5;
        }
        while self.budget.left() > 0 {
            let cut = self.cut(linear, relaxation);
            let floor = cut.max(relaxation.bound - assumed);
            let Self { case, incumbent, budget, core, picks, picks_id, scratch, .. } = self;
            let view = View { case, linear, relaxation, picks, picks_id: *picks_id };
            core.collect(&view, cut);
            core.build(&view, floor);
            if !self.lists.search(case, linear, core, picks, relaxation, floor, scratch, incumbent, budget)? {
                return Ok(Some(bound));
            }
            if self.incumbent.value >= floor || floor <= cut {
                return Ok(None);
            }
            bound = floor;
            assumed *= 2.0;
        }
        Ok(Some(bound))
    }
}
