//! The core: the few options that can distinguish a better answer from the relaxation's picks.
//!
//! At the price `lambda` every option has a reduced cost: the loss of its class if the option replaces the pick. An
//! option is dropped if its reduced cost lowers the bound to the incumbent or below. Classes that still have a choice
//! are sorted by how cheaply they trade value for weight, nearest to `lambda` first. This order bounds the contribution
//! of all classes from any change on. They fill unused room at no better rate than `fill_rate`, and free room at no
//! lower rate than `vacate_rate`. Both rates move away from `lambda` with depth, so bounds tighten (Pisinger).

use super::incumbent::{Case, VALUE_PRECISION};
use super::input::{Totals, greater, lesser};
use super::kernel::{Near, screen};
use super::reduce::most_rows;
use super::relax::Relaxation;
use super::secant::Linear;
use super::{bytes, reserve_total};
use crate::base::Result;

/// An option of a core class other than its pick, as a change from the pick.
#[derive(Clone, Copy, Debug)]
pub(super) struct Change {
    pub by: Totals,
    /// Position in the reduced problem.
    pub position: u32,
    pub class: u32,
}

/// The possible effect of all changes from some index on.
#[derive(Clone, Copy, Debug, Default)]
struct Reach {
    /// Most value per weight added; at most `lambda`.
    fill_rate: f64,
    /// Least value lost per weight removed; at least `lambda`.
    vacate_rate: f64,
    /// Most weight that can be added, and removed.
    fill: f64,
    vacate: f64,
    /// Most variance that can be added, and removed.
    variance_added: f64,
    variance_removed: f64,
}

/// A class with a choice left, and the range of its noted changes.
#[derive(Clone, Copy, Debug)]
struct Open {
    nearest_rate: f64,
    start: u32,
    end: u32,
}

#[derive(Debug, Default)]
pub(super) struct Core {
    pub changes: Vec<Change>,
    /// Per depth, the start of its class's changes; one more for the end.
    pub starts: Vec<u32>,
    /// Per change, the end of its class's changes.
    pub ends: Vec<u32>,
    /// Per change, and one more for the end.
    reach: Vec<Reach>,
    /// Options within the cost limit, from the screening pass.
    near: Vec<Near>,
    noted: Vec<Change>,
    /// The classes of the noted changes.
    open: Vec<Open>,
    /// The classes of the changes, nearest to the price first.
    order: Vec<Open>,
    /// Scratch of `cost_of_nearest`.
    costs: Vec<f64>,
    /// The noted changes are relative to these picks, at this slope and up to this cost.
    picks: u64,
    noted_theta: f64,
    noted_cost: f64,
    room: f64,
    /// The capacity in the numbers of the reduced problem.
    capacity: f64,
    tolerance: f64,
    theta: f64,
}

impl Core {
    pub fn reserve(&mut self, settings: usize, options: usize) -> Result<()> {
        reserve_total(&mut self.changes, options)?;
        reserve_total(&mut self.starts, settings + 1)?;
        reserve_total(&mut self.ends, options)?;
        reserve_total(&mut self.reach, options + 1)?;
        reserve_total(&mut self.near, most_rows(options) + 1)?;
        reserve_total(&mut self.noted, options)?;
        reserve_total(&mut self.open, settings)?;
        reserve_total(&mut self.order, settings)?;
        reserve_total(&mut self.costs, settings)
    }

    pub fn memory_used(&self) -> usize {
        bytes(&self.changes)
            + bytes(&self.starts)
            + bytes(&self.ends)
            + bytes(&self.reach)
            + bytes(&self.near)
            + bytes(&self.noted)
            + bytes(&self.open)
            + bytes(&self.order)
            + bytes(&self.costs)
    }

    pub fn clear(&mut self) {
        self.open.clear();
        self.picks = 0;
    }

    /// Number of collected classes: those that have a choice left.
    pub fn class_count(&self) -> usize {
        self.open.len()
    }

    /// Number of classes of the last [`Self::build`].
    pub fn depth(&self) -> usize {
        self.order.len()
    }

    /// The least cost at which `count` of the collected classes have a choice left. `None` if there are fewer classes.
    pub fn cost_of_nearest(&mut self, view: &View, count: usize) -> Option<f64> {
        let Self { noted, open, costs, .. } = self;
        let changes = |open: &Open| noted[open.start as usize..open.end as usize].iter();
        let least = |open: &Open| changes(open).map(|change| view.cost(change.by)).fold(f64::INFINITY, lesser);
        costs.clear();
        costs.extend(open.iter().map(least));
        (count < costs.len()).then(|| *costs.select_nth_unstable_by(count, f64::total_cmp).1)
    }

    /// The collected changes, in no order. If more than `most`: the changes of the classes nearest to the price.
    pub fn nearest(&mut self, most: usize) -> &[Change] {
        if self.noted.len() <= most {
            return &self.noted;
        }
        // Each class has at least one.
        self.arrange(|_| true, most);
        &self.changes[..most]
    }

    /// Prepare a search of the collected options that may be part of an answer worth more than `cut`.
    pub fn build(&mut self, view: &View, cut: f64) {
        let most_cost = view.relaxation.bound - cut;
        self.room = view.linear.room;
        self.capacity = view.case.limit.capacity - view.case.problem.base.mean;
        self.tolerance = view.linear.tolerance;
        self.theta = view.linear.theta;
        self.arrange(|change| !view.is_expensive(change.by, most_cost), usize::MAX);
        self.measure_reach(view);
    }

    /// Collect the options that may be part of an answer worth more than `cut`.
    pub fn collect(&mut self, view: &View, cut: f64) {
        let most_cost = view.relaxation.bound - cut;
        let is_part =
            self.picks == view.picks_id && self.noted_theta == view.linear.theta && most_cost <= self.noted_cost;
        if is_part {
            self.tighten(view, most_cost);
        } else {
            self.note(view, most_cost);
        }
        (self.picks, self.noted_theta, self.noted_cost) = (view.picks_id, view.linear.theta, most_cost);
    }

    /// Note the options below `most_cost`, without those dominated by a compared option of their class.
    fn note(&mut self, view: &View, most_cost: f64) {
        self.near.resize(view.case.problem.row_count() + 1, Near::default());
        self.noted.clear();
        self.open.clear();
        let count = view.screen(most_cost, &mut self.near);
        let (mut at, mut last_class) = (0, u32::MAX);
        // The number of options in a word is unpredictable, so one loop visits all of them instead of two nested loops.
        while at < count {
            let near = &mut self.near[at];
            let (class, position) = near.first();
            near.bits &= near.bits - 1;
            at += usize::from(near.bits == 0);
            let by = view.change(class, position);
            if view.is_expensive(by, most_cost) || dominates(Totals::default(), by) {
                continue;
            }
            let is_new = std::mem::replace(&mut last_class, class) != class;
            self.note_change(is_new, Change { by, position, class }, view.rate(by));
        }
    }

    fn note_change(&mut self, is_new: bool, change: Change, rate: f64) {
        let Self { noted, open, .. } = self;
        let end = noted.len() as u32 + 1;
        match open.last_mut().filter(|_| !is_new) {
            None => open.push(Open { nearest_rate: rate, start: end - 1, end }),
            Some(open) => {
                let compared = noted.len().saturating_sub(COMPARED).max(open.start as usize);
                if noted[compared..].iter().any(|other| dominates(other.by, change.by)) {
                    return;
                }
                for other in (compared..noted.len()).rev() {
                    if dominates(change.by, noted[other].by) {
                        noted.swap_remove(other);
                    }
                }
                open.nearest_rate = lesser(open.nearest_rate, rate);
                open.end = noted.len() as u32 + 1;
            }
        }
        noted.push(change);
    }

    /// Remove changes that have become too expensive. Options that they dominate cost at least as much.
    fn tighten(&mut self, view: &View, most_cost: f64) {
        let Self { changes, noted, open, .. } = self;
        changes.clear();
        open.retain_mut(|open| {
            let start = changes.len() as u32;
            let before = &noted[open.start as usize..open.end as usize];
            changes.extend(before.iter().filter(|change| !view.is_expensive(change.by, most_cost)));
            (open.start, open.end) = (start, changes.len() as u32);
            open.start < open.end
        });
        std::mem::swap(changes, noted);
    }

    /// Sort the wanted changes by the rates of their classes. If these are more than `most`: those of the nearest.
    fn arrange(&mut self, is_wanted: impl Fn(&Change) -> bool, most: usize) {
        let Self { changes, starts, ends, noted, open, order, .. } = self;
        let collected = |open: &Open| &noted[open.start as usize..open.end as usize];
        order.clear();
        order.extend(open.iter().filter(|open| collected(open).iter().any(&is_wanted)));
        let by_rate = |a: &Open, b: &Open| a.nearest_rate.total_cmp(&b.nearest_rate).then(a.start.cmp(&b.start));
        if order.len() > most {
            order.select_nth_unstable_by(most, by_rate);
            order.truncate(most);
        }
        order.sort_unstable_by(by_rate);
        changes.clear();
        starts.clear();
        ends.clear();
        for open in order {
            starts.push(changes.len() as u32);
            changes.extend(collected(open).iter().filter(|change| is_wanted(change)));
            ends.resize(changes.len(), changes.len() as u32);
        }
        starts.push(changes.len() as u32);
    }

    fn measure_reach(&mut self, view: &View) {
        let lambda = view.relaxation.lambda;
        // The entry at the end allows no change, so `exceeds` is false there.
        let end = Reach { vacate_rate: f64::MAX, vacate: f64::NEG_INFINITY, ..Reach::default() };
        self.reach.clear();
        self.reach.resize(self.changes.len() + 1, end);
        let mut reach = Reach { vacate: 0.0, ..end };
        for bounds in self.starts.windows(2).rev() {
            let Reach { fill, vacate, variance_added, variance_removed, .. } = reach;
            for index in (bounds[0] as usize..bounds[1] as usize).rev() {
                let by = self.changes[index].by;
                let weight = view.linear.weight(by);
                let rate = by.value / weight;
                // Heavier or lighter is unpredictable, so there should be no branch on it.
                reach.fill_rate = greater(reach.fill_rate, if weight > 0.0 { lesser(rate, lambda) } else { 0.0 });
                reach.vacate_rate =
                    lesser(reach.vacate_rate, if weight < 0.0 { greater(rate, lambda) } else { f64::MAX });
                reach.fill = greater(reach.fill, fill + weight);
                reach.vacate = greater(reach.vacate, vacate - weight);
                reach.variance_added = greater(reach.variance_added, variance_added + by.variance);
                reach.variance_removed = greater(reach.variance_removed, variance_removed - by.variance);
                self.reach[index] = reach;
            }
        }
    }

    pub fn weight(&self, by: Totals) -> f64 {
        by.mean + self.theta * by.variance
    }

    /// The room that these totals leave in the linear constraint.
    pub fn slack(&self, totals: Totals) -> f64 {
        self.room - self.weight(totals)
    }

    /// The room that these totals leave to changes from `from` on, by the secant over all deviations to which these
    /// changes can lead. The deeper, the fewer these are, and the less the secant loses.
    pub fn slack_nearby(&self, case: &Case, totals: Totals, from: u32) -> f64 {
        let reach = &self.reach[from as usize];
        let variance = greater(case.problem.base.variance + totals.variance, 0.0);
        // The deviation less the linear weight of the same variance. It is concave, so it is least at an end.
        let excess = |by: f64| case.limit.sigmas * (variance + by).sqrt() - self.theta * by;
        let (most, least) = (reach.variance_added, -lesser(reach.variance_removed, variance));
        self.capacity - totals.mean - lesser(excess(most), excess(least))
    }

    /// Whether changes from `from` on can lead from these totals to an answer worth more than `cut`.
    pub fn exceeds(&self, totals: Totals, from: u32, cut: f64) -> bool {
        self.exceeds_in(self.slack(totals), totals.value, from, cut)
    }

    /// The same with the slack of [`Self::slack_nearby`].
    pub fn exceeds_nearby(&self, case: &Case, totals: Totals, from: u32, cut: f64) -> bool {
        let exceeds_all = || self.exceeds_in(self.slack_nearby(case, totals, from), totals.value, from, cut);
        self.exceeds(totals, from, cut) && (case.is_scalar() || exceeds_all())
    }

    /// The same for totals of this value that leave this room.
    pub fn exceeds_in(&self, slack: f64, value: f64, from: u32, cut: f64) -> bool {
        let reach = &self.reach[from as usize];
        // One of them is 0. Which one is unpredictable, so there should be no branch on it.
        let (room, overdraft) = (greater(slack, 0.0), lesser(slack + self.tolerance, 0.0));
        let bound = value + lesser(room, reach.fill) * reach.fill_rate + overdraft * reach.vacate_rate;
        (bound > cut) & (-overdraft <= reach.vacate)
    }
}

/// The input of a core: the relaxation and its picks. The picks change whenever `picks_id` does.
pub(super) struct View<'a> {
    pub case: &'a Case<'a>,
    pub linear: &'a Linear,
    pub relaxation: &'a Relaxation,
    pub picks: &'a [u32],
    pub picks_id: u64,
}

/// An option is compared with this number of options of its class.
const COMPARED: usize = 16;

impl View<'_> {
    fn screen(&self, most_cost: f64, near: &mut [Near]) -> usize {
        let lambda = self.relaxation.lambda;
        // Slightly more than the exact comparison admits.
        let most_cost = most_cost + 4.0 * VALUE_PRECISION * (most_cost + self.linear.stake(lambda));
        screen(self.case.problem.rows(), self.picks, self.linear.prices(lambda), most_cost, near)
    }

    /// The change when an option replaces its class's pick.
    fn change(&self, class: u32, position: u32) -> Totals {
        let problem = self.case.problem;
        problem.at(position as usize).minus(problem.at(self.picks[class as usize] as usize))
    }

    /// How near to `lambda` a change trades value for weight; 0 is at `lambda`.
    fn rate(&self, by: Totals) -> f64 {
        greater(self.cost(by), 0.0) / greater(self.linear.weight(by).abs(), f64::MIN_POSITIVE)
    }

    /// The raw cost is tested first, because it needs no rounding test.
    fn is_expensive(&self, by: Totals, most_cost: f64) -> bool {
        self.raw_cost(by) >= most_cost && self.cost(by) >= most_cost
    }

    fn raw_cost(&self, by: Totals) -> f64 {
        self.relaxation.lambda * self.linear.weight(by) - by.value
    }

    fn cost(&self, by: Totals) -> f64 {
        let cost = self.raw_cost(by);
        // A cost of 0 must not be ordered by its rounding.
        if cost.abs() <= VALUE_PRECISION * by.value.abs() { 0.0 } else { cost }
    }
}

fn dominates(one: Totals, other: Totals) -> bool {
    // Which of these fails is unpredictable, so there should be no branch on it.
    (one.value >= other.value) & (one.mean <= other.mean) & (one.variance <= other.variance)
}
