//! From picks to good answers: repair of overdrafts, then improvement by one change or an exchange of two.
//!
//! The picks at the best prices overdraw some lanes and leave room in others. Picks at slightly higher prices of one
//! lane lead to other answers, often to better ones, so those are repaired as well, and the best is improved further.

use super::dual::Prices;
use super::linear::{Linear, Sums};
use super::problem::Problem;
use super::solve::Budget;
use super::{bytes, reserve_total};
use crate::base::Result;
use std::ops::Range;

/// How much higher the price of a lane is for other picks to begin with.
const DEARER: f64 = 1.1;

/// Changes that an exchange of two is made of: the cheapest ones.
const EXCHANGED: usize = 64;

/// Exchanges looked at that take as long as a node.
const EXCHANGES_PER_NODE: u64 = 4;

/// Another option for a class than its present one.
#[derive(Clone, Copy, Debug)]
struct Change {
    /// What it loses at the prices; negative if it gains.
    cost: f64,
    class: u32,
    position: u32,
}

#[derive(Debug, Default)]
pub(super) struct Repair {
    /// The answer in work.
    pub picks: Vec<u32>,
    pub sums: Sums,
    best: Vec<u32>,
    changes: Vec<Change>,
}

/// What stays the same meanwhile.
pub(super) struct Scene<'a> {
    pub problem: &'a Problem,
    pub linear: &'a Linear,
    pub prices: &'a Prices,
    /// Value minus the price of the weights, per option.
    pub scores: &'a [f64],
}

impl Scene<'_> {
    /// The weight that a lane comes to by changing one option.
    fn weight_after(&self, sums: &Sums, lane: usize, from: usize, to: usize) -> f64 {
        sums.weight[lane] + (self.linear.weight(to, lane) - self.linear.weight(from, lane))
    }

    fn fits_after(&self, sums: &Sums, from: usize, to: usize) -> bool {
        (0..self.linear.lanes).all(|lane| self.weight_after(sums, lane, from, to) <= self.linear.room[lane])
    }

    fn overdraft_after(&self, sums: &Sums, from: usize, to: usize) -> f64 {
        let Linear { lanes, room, importance, .. } = self.linear;
        (0..*lanes).map(|l| importance[l] * (self.weight_after(sums, l, from, to) - room[l]).max(0.0)).sum()
    }

    fn after(&self, sums: &Sums, from: usize, to: usize) -> Sums {
        let mut after = *sums;
        after.value += self.problem.value[to] - self.problem.value[from];
        for lane in 0..self.linear.lanes {
            after.weight[lane] = self.weight_after(sums, lane, from, to);
        }
        after
    }
}

impl Repair {
    pub fn reserve(&mut self, settings: usize, options: usize) -> Result<()> {
        reserve_total(&mut self.picks, settings)?;
        reserve_total(&mut self.best, settings)?;
        reserve_total(&mut self.changes, options)
    }

    pub fn memory_used(&self) -> usize {
        bytes(&self.picks) + bytes(&self.best) + bytes(&self.changes)
    }

    /// Find a good answer near the picks at the prices, or near other picks worth a try. Whether one was found.
    pub fn find(&mut self, scene: &Scene, picks: &[u32], others: &[u32], budget: &mut Budget) -> bool {
        self.best.clear();
        let mut best = f64::NEG_INFINITY;
        let starts = if others.is_empty() { 1 } else { 2 };
        for start in 0..starts + scene.linear.lanes {
            match start {
                0 => self.start(scene, picks),
                _ if start < starts => self.start(scene, others),
                _ => self.start_where_dearer(scene, start - starts, budget),
            }
            if self.repair(scene, budget) {
                while self.change_one(scene, budget) {}
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
        while self.exchange_two(scene, budget) {
            while self.change_one(scene, budget) {}
        }
        true
    }

    pub fn start(&mut self, scene: &Scene, picks: &[u32]) {
        self.picks.clear();
        self.picks.extend_from_slice(picks);
        self.sums = scene.linear.sums(scene.problem, picks);
    }

    fn start_where_dearer(&mut self, scene: &Scene, lane: usize, budget: &mut Budget) {
        budget.charge_pass(scene.problem);
        let more = (DEARER - 1.0) * scene.prices[lane];
        let weights = scene.linear.lane(lane);
        let score = |position: usize| scene.scores[position] - more * weights[position];
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

    /// Make changes that lose the least at the prices for each bit of overdraft taken away, until all fits. Whether it
    /// then does.
    pub fn repair(&mut self, scene: &Scene, budget: &mut Budget) -> bool {
        let mut overdraft = scene.linear.overdraft(&self.sums.weight);
        while overdraft > 0.0 {
            budget.charge_pass(scene.problem);
            let mut found = None;
            let mut least = (f64::INFINITY, f64::INFINITY);
            for (class, range, pick) in self.classes(scene) {
                for position in range.filter(|&position| position != pick) {
                    let cost = (scene.scores[pick] - scene.scores[position]).max(0.0);
                    if cost > least.0 * overdraft {
                        continue;
                    }
                    let left = scene.overdraft_after(&self.sums, pick, position);
                    if left < overdraft && (cost / (overdraft - left), left) < least {
                        least = (cost / (overdraft - left), left);
                        found = Some((class, position));
                    }
                }
            }
            let Some((class, position)) = found else { return false };
            self.change(scene, class, position);
            overdraft = least.1;
        }
        true
    }

    /// Make the most valuable change that fits. Whether there was one.
    ///
    /// What a change gains is what the room that it uses up is worth, less what it costs: no more than what all room
    /// that is left is worth, less that. So most need no closer look.
    fn change_one(&mut self, scene: &Scene, budget: &mut Budget) -> bool {
        budget.charge_pass(scene.problem);
        let room = scene.linear.worth_of_slack(&self.sums.weight, scene.prices);
        let mut found = None;
        let mut most = 0.0;
        for (class, range, pick) in self.classes(scene) {
            let (score, value) = (scene.scores[pick], scene.problem.value[pick]);
            for position in range {
                let cost = score - scene.scores[position];
                let gain = scene.problem.value[position] - value;
                if cost <= room - most && gain > most && scene.fits_after(&self.sums, pick, position) {
                    most = gain;
                    found = Some((class, position));
                }
            }
        }
        if let Some((class, position)) = found {
            self.change(scene, class, position);
        }
        found.is_some()
    }

    /// Make the most valuable exchange of two changes that fits. Whether there was one.
    fn exchange_two(&mut self, scene: &Scene, budget: &mut Budget) -> bool {
        let room = scene.linear.worth_of_slack(&self.sums.weight, scene.prices);
        self.collect_changes(scene, room);
        let mut found = None;
        let mut best = self.sums.value;
        let mut looked_at = 0;
        for (index, &one) in self.changes.iter().enumerate() {
            let after_one = scene.after(&self.sums, self.picks[one.class as usize] as usize, one.position as usize);
            for &other in &self.changes[index + 1..] {
                if self.sums.value + room - one.cost - other.cost <= best {
                    break;
                }
                looked_at += 1;
                let (from, to) = (self.picks[other.class as usize] as usize, other.position as usize);
                let value = after_one.value + (scene.problem.value[to] - scene.problem.value[from]);
                if value > best && other.class != one.class && scene.fits_after(&after_one, from, to) {
                    best = value;
                    found = Some((one, other));
                }
            }
        }
        budget.charge(looked_at / EXCHANGES_PER_NODE + 1);
        for change in found.iter().flat_map(|(one, other)| [one, other]) {
            self.change(scene, change.class as usize, change.position as usize);
        }
        found.is_some()
    }

    /// The cheapest changes, in order, of those that cost less than `most` together with the cheapest.
    fn collect_changes(&mut self, scene: &Scene, most: f64) {
        self.changes.clear();
        let mut least = 0.0_f64;
        for class in 0..self.picks.len() {
            let pick = self.picks[class];
            let present = scene.scores[pick as usize];
            for position in scene.problem.class(class) {
                let cost = present - scene.scores[position];
                if cost < most - least && position as u32 != pick {
                    least = least.min(cost);
                    self.changes.push(Change { cost, class: class as u32, position: position as u32 });
                }
            }
        }
        self.changes.sort_unstable_by(|a, b| a.cost.total_cmp(&b.cost).then(a.position.cmp(&b.position)));
        self.changes.truncate(EXCHANGED);
    }

    /// Each class with its options and its present pick.
    fn classes<'a>(&'a self, scene: &'a Scene) -> impl Iterator<Item = (usize, Range<usize>, usize)> + 'a {
        let classes = scene.problem.classes().zip(&self.picks).enumerate();
        classes.map(|(class, (range, &pick))| (class, range, pick as usize))
    }

    fn change(&mut self, scene: &Scene, class: usize, position: usize) {
        self.sums = scene.after(&self.sums, self.picks[class] as usize, position);
        self.picks[class] = position as u32;
    }
}
