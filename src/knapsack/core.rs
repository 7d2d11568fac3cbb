//! The core: the few options that a better answer may differ in from the relaxation's picks.
//!
//! At the price `lambda` every option has a reduced cost: what its class loses by taking it instead of its pick. An
//! option whose reduced cost takes the bound down to the incumbent can be left out. The classes that still have a
//! choice are sorted by how cheaply they trade value for weight, nearest to `lambda` first. Then what the classes from
//! any depth on can still contribute is known: they fill unused room at no better rate than `fill_rate`, and make room
//! at no lower rate than `vacate_rate`. Both move away from `lambda` with depth, so bounds tighten (Pisinger).

use super::incumbent::{Case, VALUE_PRECISION};
use super::input::Totals;
use super::kernel::screen;
use super::relax::Relaxation;
use super::secant::Linear;
use super::{bytes, reserve_total};
use crate::base::Result;
use crate::base::sort::sort;

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

/// A class with a choice left, and where its changes were noted.
#[derive(Clone, Copy, Debug)]
struct Open {
    nearest_rate: f64,
    start: u32,
    end: u32,
}

#[derive(Debug, Default)]
pub(super) struct Core {
    pub changes: Vec<Change>,
    /// Per depth, where the changes of its class start, and one more for the end.
    pub starts: Vec<u32>,
    reach: Vec<Reach>,
    /// Classes that a first look left open.
    screened: Vec<u32>,
    /// Their changes.
    noted: Vec<Change>,
    order: Vec<Open>,
    room: f64,
    tolerance: f64,
    theta: f64,
}

impl Core {
    pub fn reserve(&mut self, settings: usize, options: usize) -> Result<()> {
        reserve_total(&mut self.changes, options)?;
        reserve_total(&mut self.starts, settings + 1)?;
        reserve_total(&mut self.reach, settings + 1)?;
        reserve_total(&mut self.screened, settings)?;
        reserve_total(&mut self.noted, options)?;
        reserve_total(&mut self.order, settings)
    }

    pub fn memory_used(&self) -> usize {
        bytes(&self.changes)
            + bytes(&self.starts)
            + bytes(&self.reach)
            + bytes(&self.screened)
            + bytes(&self.noted)
            + bytes(&self.order)
    }

    pub fn clear(&mut self) {
        self.changes.clear();
        self.starts.clear();
    }

    pub fn depth(&self) -> usize {
        self.starts.len().saturating_sub(1)
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
        self.screened.clear();
        self.noted.clear();
        self.order.clear();
        view.screen(&mut self.screened);
        for &class in &self.screened {
            let start = self.noted.len();
            if let Some(nearest_rate) = view.note(class, &mut self.noted) {
                let (start, end) = (start as u32, self.noted.len() as u32);
                self.order.push(Open { nearest_rate, start, end });
            }
        }
        sort(&mut self.order, |a, b| {
            (a.nearest_rate < b.nearest_rate) | ((a.nearest_rate == b.nearest_rate) & (a.start < b.start))
        });
        self.changes.clear();
        self.starts.clear();
        for open in &self.order {
            self.starts.push(self.changes.len() as u32);
            self.changes.extend_from_slice(&self.noted[open.start as usize..open.end as usize]);
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
    #[inline(always)]
    pub fn bound(&self, totals: Totals, depth: usize) -> f64 {
        let slack = self.room - (totals.mean + self.theta * totals.variance);
        let reach = &self.reach[depth];
        if slack >= 0.0 {
            totals.value + if slack < reach.fill { slack } else { reach.fill } * reach.fill_rate
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

/// With how many of its class an option is compared.
const COMPARED: usize = 16;

impl View<'_> {
    fn screen(&self, screened: &mut Vec<u32>) {
        let lambda = self.relaxation.lambda;
        // A hair more than the exact comparison lets pass.
        let most_cost = self.most_cost + 4.0 * VALUE_PRECISION * (self.most_cost + self.linear.stake(lambda));
        screen(self.case.problem.rows(), self.picks, self.linear.prices(lambda), most_cost, screened);
    }

    /// Note the changes of a class that are not too expensive, and no worse in every respect than another. Returns how
    /// near to `lambda` they trade value for weight; none if there are none.
    fn note(&self, class: u32, noted: &mut Vec<Change>) -> Option<f64> {
        let problem = self.case.problem;
        let start = noted.len();
        let pick = problem.at(self.picks[class as usize] as usize);
        for (position, option) in problem.class(class as usize) {
            let by = option.minus(pick);
            // Most are too expensive by far, which is seen without the rounding.
            let is_expensive = self.raw_cost(by) >= self.most_cost && self.cost(by) >= self.most_cost;
            if is_expensive || dominates(Totals::default(), by) {
                continue;
            }
            let compared = start.max(noted.len().saturating_sub(COMPARED));
            if noted[compared..].iter().any(|other| dominates(other.by, by)) {
                continue;
            }
            for other in (compared..noted.len()).rev() {
                if dominates(by, noted[other].by) {
                    noted.swap_remove(other);
                }
            }
            noted.push(Change { by, position: position as u32, class });
        }
        let rate = |by: Totals| self.cost(by).max(0.0) / self.linear.weight(by).abs().max(f64::MIN_POSITIVE);
        noted[start..].iter().map(|change| rate(change.by)).reduce(f64::min)
    }

    #[inline(always)]
    fn raw_cost(&self, by: Totals) -> f64 {
        self.relaxation.lambda * self.linear.weight(by) - by.value
    }

    fn cost(&self, by: Totals) -> f64 {
        let cost = self.raw_cost(by);
        // What costs nothing must not be ordered by its rounding.
        if cost.abs() <= VALUE_PRECISION * by.value.abs() { 0.0 } else { cost }
    }
}

fn dominates(one: Totals, other: Totals) -> bool {
    one.value >= other.value && one.mean <= other.mean && one.variance <= other.variance
}
