//! Not changing without need.
//!
//! Estimates move a little every frame, and an exact solver follows: with fifty settings some change every frame, for
//! gains nobody sees. So the settled choice is held while it fits. What holding it forgoes adds up, and when that has
//! reached a price (rent or buy: A. Karlin et al., "Competitive snoopy caching", 1988) the better choice is taken: at
//! once if it is much better, after a while if it is a little better, and in the end always. What does not fit any more
//! is left at once, for something that leaves a band below the limit free, so that the next small move still fits.

use crate::base::Result;
use crate::knapsack::{Candidate, Economy, Effort, Solution};

use super::Goblin;
use super::config::Burdens;

/// Share of the limit that is left free when a choice had to be left, for small moves of the estimates.
const BAND: f64 = 0.02;

impl Goblin {
    /// Solve, and take the answer or hold what is settled; the choices are the formulation's.
    pub(super) fn settle(&mut self, economy: Economy, effort: Effort, range: f64) -> Result<Solution> {
        let best = self.formulation.solve(economy, effort)?;
        if self.config.patience == 0.0 || self.config.burdens == Burdens::Relative {
            self.formulation.accept();
            return Ok(best);
        }
        self.load_settled();
        let held = weigh(&self.formulation.sum(), &economy);
        if !held.feasible {
            return self.leave(best, economy, effort);
        }
        let gain = (best.value - held.value).max(0.0);
        self.forgone += gain;
        if gain == 0.0 || self.forgone < self.config.patience * range {
            let gap = (best.upper_bound - held.value).max(0.0) / best.upper_bound.abs().max(f64::MIN_POSITIVE);
            return Ok(Solution { upper_bound: best.upper_bound, gap, proven: gap == 0.0, nodes: best.nodes, ..held });
        }
        self.forgone = 0.0;
        self.formulation.accept();
        Ok(best)
    }

    /// What is settled does not fit: take what fits with a band to spare, or if nothing does, what is best.
    fn leave(&mut self, best: Solution, economy: Economy, effort: Effort) -> Result<Solution> {
        self.forgone = 0.0;
        let band = BAND * economy.capacity.abs();
        let banded = Economy { capacity: economy.capacity - band, ..economy };
        // `best` is what the knapsack holds until it is solved again.
        self.formulation.accept();
        if !best.feasible || !banded.capacity.is_finite() {
            return Ok(best);
        }
        let spare = self.formulation.solve(banded, effort)?;
        if !spare.feasible {
            return Ok(best);
        }
        self.formulation.accept();
        let gap = (best.upper_bound - spare.value).max(0.0) / best.upper_bound.abs().max(f64::MIN_POSITIVE);
        Ok(Solution { upper_bound: best.upper_bound, gap, proven: gap == 0.0, ..spare })
    }

    /// Make the settled choices the formulation's.
    fn load_settled(&mut self) {
        let Self { settings, formulation, .. } = self;
        formulation.choices.clear();
        let settled = |position| settings.at(position).expect("entries are made of the settings there are").settled;
        formulation.choices.extend(formulation.entries.iter().map(|entry| settled(entry.position)));
    }

    /// Make the formulation's choices the settled ones.
    pub(super) fn remember_settled(&mut self) {
        let Self { settings, formulation, .. } = self;
        for (entry, &choice) in formulation.entries.iter().zip(&formulation.choices) {
            settings.at_mut(entry.position).expect("entries are made of the settings there are").settled = choice;
        }
    }
}

/// Hold a sum against what it must fit into.
pub(super) fn weigh(sum: &Candidate, economy: &Economy) -> Solution {
    let burden = sum.mean + economy.sigmas * sum.variance.sqrt();
    let excess = burden - economy.capacity;
    // As the solver: equality fits, however it was rounded.
    let feasible = burden.is_finite() && excess <= 1e-12 * economy.capacity.abs();
    Solution {
        feasible,
        value: sum.value,
        mean: sum.mean,
        variance: sum.variance,
        burden,
        excess: if feasible { 0.0 } else { excess },
        upper_bound: f64::INFINITY,
        gap: 0.0,
        proven: false,
        nodes: 0,
        price: 0.0,
    }
}
