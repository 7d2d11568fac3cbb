//! Turns picks into good answers: repairs overdrafts, then improves by one change or an exchange of two.
//!
//! The picks at the best prices overdraw some constraints and leave room in others. Picks at a slightly higher price of
//! one constraint lead to other answers, often better ones. So those are repaired as well, and the best is improved
//! further.

use super::case::Budget;
use super::dual::Prices;
use super::linear::{Linear, PerConstraint, Sums, plus};
use super::problem::Problem;
use super::{bytes, reserve_total};
use crate::base::Result;
use std::ops::Range;

/// Factor on the price of a constraint that gives other picks to begin with.
const DEARER: f64 = 1.1;

/// The number of changes considered for an exchange of two: the cheapest ones.
const EXCHANGED: usize = 64;

/// Exchanges tried per node charged.
const EXCHANGES_PER_NODE: u64 = 4;

#[derive(Debug, Default)]
pub(super) struct Repair {
    /// The current answer.
    pub picks: Vec<u32>,
    pub sums: Sums,
    best: Vec<u32>,
    /// The cost of each change at the prices (negative if it gains), and its position.
    changes: Vec<(f64, u32)>,
    /// The effect of the cheapest changes on the sums.
    differences: Vec<Sums>,
}

/// The constants of a repair.
pub(super) struct Scene<'a> {
    pub problem: &'a Problem,
    pub linear: &'a Linear,
    pub prices: &'a Prices,
    /// Value minus the price of the weights, per option.
    pub scores: &'a [f64],
}

impl Scene<'_> {
    /// The change of the sums if one option replaces another.
    fn difference(&self, from: usize, to: usize) -> Sums {
        let (value, weight) = (&self.problem.value, &self.linear.weight);
        Sums { value: value[to] - value[from], weight: plus(&weight[to], -1.0, &weight[from]) }
    }

    /// The weights after the same change.
    fn weight_after(&self, weight: &PerConstraint, from: usize, to: usize) -> PerConstraint {
        plus(weight, 1.0, &plus(&self.linear.weight[to], -1.0, &self.linear.weight[from]))
    }
}

impl Repair {
    pub fn reserve(&mut self, settings: usize, options: usize) -> Result<()> {
        reserve_total(&mut self.picks, settings)?;
        reserve_total(&mut self.best, settings)?;
        reserve_total(&mut self.changes, options)?;
        reserve_total(&mut self.differences, EXCHANGED)
    }

    pub fn memory_used(&self) -> usize {
        bytes(&self.picks) + bytes(&self.best) + bytes(&self.changes) + bytes(&self.differences)
    }

    /// Find a good answer near the picks at the prices, or near other promising picks. Returns whether one was found.
    /// With the budget spent it takes the first answer, in two passes at most.
    pub fn find(&mut self, scene: &Scene, picks: &[u32], others: &[u32], budget: &mut Budget) -> bool {
        self.best.clear();
        let mut best = f64::NEG_INFINITY;
        let starts = if others.is_empty() { 1 } else { 2 };
        for start in 0..starts + scene.linear.constraints {
            if start > 0 && budget.left() == 0 {
                break;
            }
            match start {
                0 => self.start(scene, picks),
                _ if start < starts => self.start(scene, others),
                _ => self.start_where_dearer(scene, start - starts, budget),
            }
            if self.repair(scene, budget) {
                self.change_while_better(scene, budget);
                if self.sums.value > best {
                    best = self.sums.value;
                    self.best.clear();
                    self.best.extend_from_slice(&self.picks);
                }
            }
        }
        if best == f64::NEG_INFINITY {
            return false;
        }
        std::mem::swap(&mut self.picks, &mut self.best);
        self.sums = scene.linear.sums(scene.problem, &self.picks);
        while budget.left() > 0 && self.exchange_two(scene, budget) {
            self.change_while_better(scene, budget);
        }
        true
    }

    fn change_while_better(&mut self, scene: &Scene, budget: &mut Budget) {
        while budget.left() > 0 && self.change_one(scene, budget) {}
    }

    pub fn start(&mut self, scene: &Scene, picks: &[u32]) {
        self.picks.clear();
        self.picks.extend_from_slice(picks);
        self.sums = scene.linear.sums(scene.problem, picks);
    }

    fn start_where_dearer(&mut self, scene: &Scene, constraint: usize, budget: &mut Budget) {
        budget.charge_pass(scene.problem.option_count());
        let more = (DEARER - 1.0) * scene.prices[constraint];
        let score = |position: usize| scene.scores[position] - more * scene.linear.weight[position][constraint];
        self.picks.clear();
        for class in scene.problem.classes() {
            let mut pick = class.start;
            let mut best = score(pick);
            for position in class.start + 1..class.end {
                let here = score(position);
                if here > best {
                    (best, pick) = (here, position);
                }
            }
            self.picks.push(pick as u32);
        }
        self.sums = scene.linear.sums(scene.problem, &self.picks);
    }

    /// Make changes until all fits. Each change loses the least at the prices per overdraft removed. Returns whether
    /// all fits.
    pub fn repair(&mut self, scene: &Scene, budget: &mut Budget) -> bool {
        let mut overdraft = scene.linear.overdraft(&self.sums.weight);
        while overdraft > 0.0 {
            if budget.left() == 0 {
                return self.repair_in_one_pass(scene, budget);
            }
            budget.charge_pass(scene.problem.option_count());
            let mut found = None;
            let mut least = (f64::INFINITY, f64::INFINITY);
            for (range, pick) in self.classes(scene) {
                for position in range.filter(|&position| position != pick) {
                    let cost = (scene.scores[pick] - scene.scores[position]).max(0.0);
                    if cost > least.0 * overdraft {
                        continue;
                    }
                    let left = scene.linear.overdraft(&scene.weight_after(&self.sums.weight, pick, position));
                    if left < overdraft && (cost / (overdraft - left), left) < least {
                        least = (cost / (overdraft - left), left);
                        found = Some(position);
                    }
                }
            }
            let Some(position) = found else { return false };
            self.change(scene, position);
            overdraft = least.1;
        }
        true
    }

    /// Let one class after the other remove as much overdraft as it can, until all fits. Returns whether all fits.
    fn repair_in_one_pass(&mut self, scene: &Scene, budget: &mut Budget) -> bool {
        budget.charge_pass(scene.problem.option_count());
        let mut overdraft = scene.linear.overdraft(&self.sums.weight);
        for (class, range) in scene.problem.classes().enumerate() {
            let pick = self.picks[class] as usize;
            let mut found = None;
            for position in range {
                let left = scene.linear.overdraft(&scene.weight_after(&self.sums.weight, pick, position));
                if left < overdraft {
                    (overdraft, found) = (left, Some(position));
                }
            }
            if let Some(position) = found {
                self.change(scene, position);
            }
            if overdraft <= 0.0 {
                break;
            }
        }
        overdraft <= 0.0
    }

    /// Make the most valuable change that fits. Returns whether there was one.
    ///
    /// The gain of a change is the worth of the room it uses, less its cost. So it is at most the worth of all
    /// remaining room, less the cost. This bound rejects most changes without a closer look.
    fn change_one(&mut self, scene: &Scene, budget: &mut Budget) -> bool {
        budget.charge_pass(scene.problem.option_count());
        let room = scene.linear.worth_of_slack(&self.sums.weight, scene.prices);
        let mut found = None;
        let mut most = 0.0;
        for (range, pick) in self.classes(scene) {
            let (score, value) = (scene.scores[pick], scene.problem.value[pick]);
            // No value is above 0.
            if -value <= most {
                continue;
            }
            let others = scene.scores[range.clone()].iter().zip(&scene.problem.value[range.clone()]);
            for (index, (other_score, other_value)) in others.enumerate() {
                let (cost, gain) = (score - other_score, other_value - value);
                if cost > room - most || gain <= most {
                    continue;
                }
                let position = range.start + index;
                if scene.linear.fits(&scene.weight_after(&self.sums.weight, pick, position)) {
                    most = gain;
                    found = Some(position);
                }
            }
        }
        if let Some(position) = found {
            self.change(scene, position);
        }
        found.is_some()
    }

    /// Make the most valuable exchange of two changes that fits. Returns whether there was one.
    fn exchange_two(&mut self, scene: &Scene, budget: &mut Budget) -> bool {
        let room = scene.linear.worth_of_slack(&self.sums.weight, scene.prices);
        self.collect_changes(scene, room);
        let mut found = None;
        let mut best = self.sums.value;
        let mut looked_at = 0;
        for (index, (&(cost, one), by)) in self.changes.iter().zip(&self.differences).enumerate() {
            let after_one = self.sums.plus(by);
            let others = self.changes[index + 1..].iter().zip(&self.differences[index + 1..]);
            for (&(other_cost, other), by) in others {
                if self.sums.value + room - cost - other_cost <= best {
                    break;
                }
                looked_at += 1;
                let value = after_one.value + by.value;
                if value > best
                    && scene.problem.class_of(one as usize) != scene.problem.class_of(other as usize)
                    && scene.linear.fits(&plus(&after_one.weight, 1.0, &by.weight))
                {
                    best = value;
                    found = Some([one, other]);
                }
            }
        }
        budget.charge(looked_at / EXCHANGES_PER_NODE + 1);
        for &position in found.iter().flatten() {
            self.change(scene, position as usize);
        }
        found.is_some()
    }

    /// Collect the cheapest changes, in order. Together with the cheapest, each costs less than `most`.
    fn collect_changes(&mut self, scene: &Scene, most: f64) {
        self.changes.clear();
        let mut least = 0.0_f64;
        for (range, &pick) in scene.problem.classes().zip(&self.picks) {
            let pick = pick as usize;
            let present = scene.scores[pick];
            for position in range {
                let cost = present - scene.scores[position];
                if cost < most - least && position != pick {
                    least = least.min(cost);
                    self.changes.push((cost, position as u32));
                }
            }
        }
        sort_by_cost(&mut self.changes);
        self.changes.truncate(EXCHANGED);
        self.differences.resize(EXCHANGED, Sums::default());
        for (&(_, to), difference) in self.changes.iter().zip(&mut self.differences) {
            let from = self.picks[scene.problem.class_of(to as usize)];
            *difference = scene.difference(from as usize, to as usize);
        }
    }

    /// The options of each class, and its present pick.
    fn classes<'a>(&self, scene: &Scene<'a>) -> impl Iterator<Item = (Range<usize>, usize)> + use<'a, '_> {
        scene.problem.classes().zip(&self.picks).map(|(range, &pick)| (range, pick as usize))
    }

    fn change(&mut self, scene: &Scene, to: usize) {
        let pick = &mut self.picks[scene.problem.class_of(to)];
        self.sums = self.sums.plus(&scene.difference(*pick as usize, to));
        *pick = to as u32;
    }
}

/// The cheapest first; of equals the one with the lower number. No cost is NaN.
pub(super) fn sort_by_cost(changes: &mut [(f64, u32)]) {
    changes.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
}
