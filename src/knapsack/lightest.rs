//! The least possible burden, exactly.
//!
//! `mean + sigmas * sqrt(variance)` is concave in (mean, variance). Over all sums of one option per setting it is
//! therefore least at a corner of their convex hull. Every corner towards less of both minimises
//! `mean + theta * variance` for some `theta >= 0`, and there the settings decide one by one. So `theta` is swept from
//! 0 upwards, and each setting walks along the lower-left hull of its own options. The steps of all settings, sorted by
//! `theta`, pass through all corners. The lightest corner is the answer. Taking the least mean of each setting, or the
//! least mean plus deviation, would be wrong: deviations don't add.

use super::incumbent::Case;
use super::input::Totals;
use super::reduce::Problem;
use super::{bytes, reserve_total};
use crate::base::{Result, sort_numbers};

/// A class's move to an option of less variance and more mean.
#[derive(Clone, Copy, Debug)]
struct Step {
    theta: f64,
    class: u32,
    position: u32,
}

#[derive(Debug, Default)]
pub(super) struct Lightest {
    steps: Vec<Step>,
    /// Options of one class in order of mean; then its hull.
    hull: Vec<u32>,
}

impl Lightest {
    pub fn reserve(&mut self, options: usize) -> Result<()> {
        reserve_total(&mut self.steps, options)?;
        reserve_total(&mut self.hull, options)
    }

    pub fn memory_used(&self) -> usize {
        bytes(&self.steps) + bytes(&self.hull)
    }

    /// Pick choices that fit: the choices of least mean if they fit, otherwise those of least burden. Among equals of
    /// one setting the more valuable is picked. Returns their sums.
    pub fn pick(&mut self, case: &Case, picks: &mut Vec<u32>) -> Totals {
        let problem = case.problem;
        picks.clone_from(&problem.lightest);
        let mut totals = problem.lightest_totals;
        if problem.variance_range == 0.0 || case.limit.sigmas == 0.0 || case.fits(totals) {
            return totals;
        }
        self.collect_steps(problem);
        let burden = |totals: Totals| case.limit.burden(problem.base.plus(totals));
        let mut least = (burden(totals), 0);
        // The picks move along with the sweep, and are reset to the lightest afterwards.
        for (taken, step) in self.steps.iter().enumerate() {
            let from = std::mem::replace(&mut picks[step.class as usize], step.position);
            totals = totals.plus(problem.at(step.position as usize).minus(problem.at(from as usize)));
            let now = burden(Totals { variance: totals.variance.max(0.0), ..totals });
            if now < least.0 {
                least = (now, taken + 1);
            }
        }
        picks.clone_from(&problem.lightest);
        for step in &self.steps[..least.1] {
            picks[step.class as usize] = step.position;
        }
        problem.totals(picks)
    }

    fn collect_steps(&mut self, problem: &Problem) {
        self.steps.clear();
        for class in 0..problem.class_count() {
            self.hull.clear();
            self.hull.extend(problem.class(class).map(|(position, _)| position as u32));
            sort_numbers(&mut self.hull, &mut |a, b| order_of_lightness(problem, a, b));
            let corners = keep_hull(problem, &mut self.hull);
            for pair in self.hull[..corners].windows(2) {
                self.steps.push(Step {
                    theta: slope(problem, pair[0], pair[1]),
                    class: class as u32,
                    position: pair[1],
                });
            }
        }
        self.steps.sort_unstable_by(|a, b| a.theta.total_cmp(&b.theta).then(a.class.cmp(&b.class)));
    }
}

/// Less mean, then less variance, then more value, then the first.
fn order_of_lightness(problem: &Problem, a: u32, b: u32) -> std::cmp::Ordering {
    let (one, other) = (problem.at(a as usize), problem.at(b as usize));
    one.mean
        .total_cmp(&other.mean)
        .then(one.variance.total_cmp(&other.variance))
        .then(other.value.total_cmp(&one.value))
        .then(a.cmp(&b))
}

/// The `theta` at which both weigh the same. `b` has more mean and less variance.
fn slope(problem: &Problem, a: u32, b: u32) -> f64 {
    let (a, b) = (problem.at(a as usize), problem.at(b as usize));
    (b.mean - a.mean) / (a.variance - b.variance)
}

/// Moves the corners of the lower-left hull to the front of the sorted options; returns their number.
fn keep_hull(problem: &Problem, sorted: &mut [u32]) -> usize {
    let mut corners = 1;
    for index in 1..sorted.len() {
        let next = sorted[index];
        if problem.at(next as usize).variance >= problem.at(sorted[corners - 1] as usize).variance {
            continue;
        }
        while corners >= 2 {
            let (a, b) = (sorted[corners - 2], sorted[corners - 1]);
            if slope(problem, a, b) < slope(problem, b, next) {
                break;
            }
            corners -= 1;
        }
        sorted[corners] = next;
        corners += 1;
    }
    corners
}
