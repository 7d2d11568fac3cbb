//! From picks to good answers: repair of overdrafts, and improvement by one change or an exchange of two.

use super::dual::Prices;
use super::linear::{Linear, Sums};
use super::problem::Problem;
use super::solve::Budget;
use super::{MOST_RESOURCES, bytes, reserve_total};
use crate::base::Result;

/// Changes that an exchange of two is made of: the cheapest ones.
const EXCHANGED: usize = 64;

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
    pub picks: Vec<u32>,
    pub sums: Sums,
    changes: Vec<Change>,
}

/// The present state of things.
pub(super) struct Scene<'a> {
    pub problem: &'a Problem,
    pub linear: &'a Linear,
    pub prices: &'a Prices,
    /// Value minus the price of the weights, per option.
    pub scores: &'a [f64],
}

impl Repair {
    pub fn reserve(&mut self, settings: usize, options: usize) -> Result<()> {
        reserve_total(&mut self.picks, settings)?;
        reserve_total(&mut self.changes, options)
    }

    pub fn memory_used(&self) -> usize {
        bytes(&self.picks) + bytes(&self.changes)
    }

    pub fn start(&mut self, scene: &Scene, picks: &[u32]) {
        self.picks.clear();
        self.picks.extend_from_slice(picks);
        self.sums = scene.linear.sums(scene.problem, picks);
    }

    /// Make changes that lose the least at the prices for each bit of overdraft taken away, until all fits. Whether it
    /// then does.
    pub fn repair(&mut self, scene: &Scene, budget: &mut Budget) -> bool {
        let mut overdraft = scene.linear.overdraft(&self.sums.weight);
        while overdraft > 0.0 {
            budget.charge_pass(scene.problem);
            let mut found: Option<(f64, f64, usize, usize)> = None;
            self.for_each_change(scene, |class, position, change| {
                let left = scene.linear.overdraft(&change.weight);
                if left < overdraft {
                    let cost = self.cost(scene, class, position).max(0.0) / (overdraft - left);
                    if found.is_none_or(|(least, least_left, ..)| (cost, left) < (least, least_left)) {
                        found = Some((cost, left, class, position));
                    }
                }
            });
            let Some((_, left, class, position)) = found else { return false };
            self.change(scene, class, position);
            overdraft = left;
        }
        true
    }

    /// Make the most valuable changes that fit, one by one or two at a time, until there is none.
    pub fn improve(&mut self, scene: &Scene, budget: &mut Budget) {
        while self.change_one(scene, budget) || self.exchange_two(scene, budget) {}
    }

    fn change_one(&mut self, scene: &Scene, budget: &mut Budget) -> bool {
        budget.charge_pass(scene.problem);
        let mut found: Option<(usize, usize)> = None;
        let mut best = self.sums.value;
        self.for_each_change(scene, |class, position, change| {
            if change.value > best && scene.linear.fits(&change.weight) {
                best = change.value;
                found = Some((class, position));
            }
        });
        if let Some((class, position)) = found {
            self.change(scene, class, position);
        }
        found.is_some()
    }

    /// What two changes gain is what the room that they use up is worth, less what they cost: no more than what all
    /// room that is left is worth, less that. So only cheap pairs are looked at.
    fn exchange_two(&mut self, scene: &Scene, budget: &mut Budget) -> bool {
        let room = scene.linear.worth_of_slack(&self.sums.weight, scene.prices);
        self.collect_changes(scene, room);
        let mut found: Option<(Change, Change)> = None;
        let mut best = self.sums.value;
        let mut looked_at = 0;
        for (index, &one) in self.changes.iter().enumerate() {
            let after_one = self.changed(scene, &self.sums, one);
            for &other in &self.changes[index + 1..] {
                if self.sums.value + room - one.cost - other.cost <= best {
                    break;
                }
                looked_at += 1;
                let after = self.changed(scene, &after_one, other);
                if other.class != one.class && after.value > best && scene.linear.fits(&after.weight) {
                    best = after.value;
                    found = Some((one, other));
                }
            }
        }
        budget.charge(looked_at / 8 + 1);
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
            let present = scene.scores[self.picks[class] as usize];
            for position in scene.problem.class(class) {
                let cost = present - scene.scores[position];
                if cost < most - least && position as u32 != self.picks[class] {
                    least = least.min(cost);
                    self.changes.push(Change { cost, class: class as u32, position: position as u32 });
                }
            }
        }
        self.changes.sort_unstable_by(|a, b| a.cost.total_cmp(&b.cost).then(a.position.cmp(&b.position)));
        self.changes.truncate(EXCHANGED);
    }

    fn for_each_change(&self, scene: &Scene, mut look: impl FnMut(usize, usize, &Sums)) {
        for (class, (range, &pick)) in scene.problem.classes().zip(&self.picks).enumerate() {
            for position in range.filter(|&position| position as u32 != pick) {
                look(class, position, &self.after(scene, &self.sums, pick as usize, position));
            }
        }
    }

    fn cost(&self, scene: &Scene, class: usize, position: usize) -> f64 {
        scene.scores[self.picks[class] as usize] - scene.scores[position]
    }

    fn changed(&self, scene: &Scene, sums: &Sums, change: Change) -> Sums {
        self.after(scene, sums, self.picks[change.class as usize] as usize, change.position as usize)
    }

    fn after(&self, scene: &Scene, sums: &Sums, from: usize, to: usize) -> Sums {
        let Scene { problem, linear, .. } = scene;
        let mut weight = [0.0; MOST_RESOURCES];
        for lane in 0..linear.lanes {
            weight[lane] = sums.weight[lane] + (linear.weight(to, lane) - linear.weight(from, lane));
        }
        Sums { value: sums.value + (problem.value[to] - problem.value[from]), weight }
    }

    fn change(&mut self, scene: &Scene, class: usize, position: usize) {
        self.sums = self.after(scene, &self.sums, self.picks[class] as usize, position);
        self.picks[class] = position as u32;
    }
}
