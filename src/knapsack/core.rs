//! The core: the few options that a better answer may differ in from the relaxation's picks.
//!
//! At the price `lambda` every option has a reduced cost: what its class loses by taking it instead of its pick. An
//! option whose reduced cost takes the bound down to the incumbent can be left out. The classes that still have a
//! choice are sorted by how cheaply they trade value for weight, nearest to `lambda` first. Then what the classes from
//! any depth on can still contribute is known: they fill unused room at no better rate than `fill_rate`, and make room
//! at no lower rate than `vacate_rate`. Both move away from `lambda` with depth, so bounds tighten (Pisinger).

use super::incumbent::{Case, VALUE_PRECISION};
use super::input::Totals;
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

/// What the core classes from some depth on can do.
#[derive(Clone, Copy, Debug, Default)]
struct Reach {
    /// Most value per weight added; at most `lambda`.
    fill_rate: f64,
    /// Least value lost per weight taken away; at least `lambda`.
    vacate_rate: f64,
    /// Most weight that can be added, and taken away.
    fill: f64,
    vacate: f64,
}

#[derive(Debug, Default)]
pub(super) struct Core {
    pub changes: Vec<Change>,
    /// Per depth, where the changes of its class start, and one more for the end.
    pub starts: Vec<u32>,
    reach: Vec<Reach>,
    order: Vec<(f64, u32)>,
    room: f64,
    tolerance: f64,
    theta: f64,
}

impl Core {
    pub fn reserve(&mut self, settings: usize, options: usize) -> Result<()> {
        reserve_total(&mut self.changes, options)?;
        reserve_total(&mut self.starts, settings + 1)?;
        reserve_total(&mut self.reach, settings + 1)?;
        reserve_total(&mut self.order, settings)
    }

    pub fn memory_used(&self) -> usize {
        bytes(&self.changes) + bytes(&self.starts) + bytes(&self.reach) + bytes(&self.order)
    }

    pub fn depth(&self) -> usize {
        self.starts.len() - 1
    }

    /// Changes of the class at a depth.
    pub fn changes_at(&self, depth: usize) -> &[Change] {
        &self.changes[self.starts[depth] as usize..self.starts[depth + 1] as usize]
    }

    /// Collect the options that may be part of an answer worth more than `cut`.
    pub fn build(&mut self, case: &Case, linear: &Linear, relaxation: &Relaxation, picks: &[u32], cut: f64) {
        let view = View { case, linear, relaxation, picks, most_cost: relaxation.bound - cut };
        self.room = linear.room;
        self.tolerance = linear.tolerance;
        self.theta = linear.theta;
        self.order.clear();
        for class in 0..picks.len() {
            if let Some(nearest) = view.nearest_rate(class) {
                self.order.push((nearest, class as u32));
            }
        }
        self.order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        self.changes.clear();
        self.starts.clear();
        for &(_, class) in &self.order {
            self.starts.push(self.changes.len() as u32);
            self.changes.extend(view.changes(class as usize).map(|(change, _)| change));
        }
        self.starts.push(self.changes.len() as u32);
        self.measure_reach(&view);
    }

    fn measure_reach(&mut self, view: &View) {
        let depth = self.depth();
        self.reach.clear();
        self.reach.resize(depth + 1, Reach { vacate_rate: f64::INFINITY, ..Reach::default() });
        let lambda = view.relaxation.lambda;
        for at in (0..depth).rev() {
            let mut reach = self.reach[at + 1];
            let (mut fill, mut vacate) = (0.0_f64, 0.0_f64);
            for change in self.changes_at(at) {
                let weight = view.linear.weight(change.by);
                let rate = change.by.value / weight;
                if weight > 0.0 {
                    reach.fill_rate = reach.fill_rate.max(rate.min(lambda));
                    fill = fill.max(weight);
                } else if weight < 0.0 {
                    reach.vacate_rate = reach.vacate_rate.min(rate.max(lambda));
                    vacate = vacate.max(-weight);
                }
            }
            reach.fill += fill;
            reach.vacate += vacate;
            self.reach[at] = reach;
        }
    }

    /// The most that an answer can be worth which has these totals and differs from the picks only from `depth` on.
    pub fn bound(&self, totals: Totals, depth: usize) -> f64 {
        let slack = self.room - (totals.mean + self.theta * totals.variance);
        let reach = &self.reach[depth];
        if slack >= 0.0 {
            totals.value + slack.min(reach.fill) * reach.fill_rate
        } else if slack >= -self.tolerance {
            totals.value
        } else if -slack > reach.vacate + self.tolerance {
            f64::NEG_INFINITY
        } else {
            totals.value + (slack + self.tolerance) * reach.vacate_rate
        }
    }
}

struct View<'a> {
    case: &'a Case<'a>,
    linear: &'a Linear,
    relaxation: &'a Relaxation,
    picks: &'a [u32],
    most_cost: f64,
}

impl View<'_> {
    /// The changes of a class that are not too expensive, with their reduced cost.
    fn changes(&self, class: usize) -> impl Iterator<Item = (Change, f64)> + '_ {
        let problem = self.case.problem;
        let pick = self.picks[class];
        let from = problem.at(pick as usize);
        problem.class(class).filter(move |&position| position as u32 != pick).filter_map(move |position| {
            let by = problem.at(position).minus(from);
            let cost = self.relaxation.lambda * self.linear.weight(by) - by.value;
            // What costs nothing must not be ordered by its rounding.
            let cost = if cost.abs() <= VALUE_PRECISION * by.value.abs() { 0.0 } else { cost };
            let change = Change { by, position: position as u32, class: class as u32 };
            (cost < self.most_cost).then_some((change, cost))
        })
    }

    /// How near to `lambda` the class trades value for weight; none if it has no change worth a look.
    fn nearest_rate(&self, class: usize) -> Option<f64> {
        self.changes(class)
            .map(|(change, cost)| cost.max(0.0) / self.linear.weight(change.by).abs().max(f64::MIN_POSITIVE))
            .reduce(f64::min)
    }
}
