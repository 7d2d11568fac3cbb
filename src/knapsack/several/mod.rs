//! Multiple-choice knapsack with several resources: one option per setting, greatest value, inside all capacities.
//!
//! Like [`Knapsack`](super::Knapsack), but an option has burdens of up to eight resources (milliseconds of CPU and GPU,
//! memory, ...). For each resource `sum(mean) + sigmas * sqrt(sum(variance)) <= capacity` must hold. With one resource
//! use [`Knapsack`](super::Knapsack), which proves its answers sooner.
//!
//! The steps of a solve, one per file:
//! 1. `problem` removes options that can't be chosen or never pay, and resources that can't run out.
//! 2. `linear` replaces deviations by straight lines, as the single resource's `secant` does: by secants for bounds and
//!    by tangents for answers. The result is a knapsack with a linear constraint per resource.
//! 3. `dual` sets a price per resource, and every setting picks its best after paying (Everett). The sum of these, plus
//!    the worth of the capacities, is an upper bound at any prices. The simplex method on the picks met so far finds
//!    the prices of least bound (Dantzig and Wolfe). They are kept in a box around the last prices (Marsten's boxstep).
//! 4. `repair` changes picks that overdraw where it costs least per overdraft. It then improves them by single changes
//!    and by exchanges of two.
//! 5. `search` is branch and bound over the options whose reduced cost permits an improvement, with several price
//!    vectors as bounds at once. `proof` lets it search ever larger parts, which improves the answer and then the
//!    bound.
//!
//! `super::fits` defines **what "fits" means**, for each resource. The reported sums are added in setting order. Bounds
//! are valid up to `1e-12` of the values at stake.

#![allow(clippy::needless_range_loop)] // loops by constraint are readable, and vectorise well

mod case;
mod dual;
mod input;
mod linear;
mod problem;
mod proof;
mod repair;
mod search;
mod solve;
#[cfg(test)]
mod tests;

use super::{Economy, Effort, bytes, check, reserve_total};
use crate::base::{Result, error, fault_point};
use input::Input;
use solve::Workspace;

/// The most resources possible.
pub const MOST_RESOURCES: usize = 8;

/// A burden of one resource.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Weight {
    /// May be negative. `+infinity`: the option cannot be chosen.
    pub mean: f64,
    /// Finite, not negative.
    pub variance: f64,
}

/// The result of [`Several::solve`]. The choices are in [`Several::choices`]. Arrays are indexed by resource; unused
/// places are 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Answer {
    /// Whether the answer fits every capacity. If false, no answer that fits was found, and this one has little excess.
    /// The excess is counted relative to the capacities and summed over the resources.
    pub feasible: bool,
    /// Whether this is known to be the optimum; when infeasible, whether it is known that nothing fits.
    pub proven: bool,
    /// Total value of the choices.
    pub value: f64,
    /// Total mean and variance of the burdens.
    pub totals: [Weight; MOST_RESOURCES],
    /// `mean + sigmas * sqrt(variance)`.
    pub burden: [f64; MOST_RESOURCES],
    /// Excess of the burden over the capacity; 0 where it fits.
    pub excess: [f64; MOST_RESOURCES],
    /// About the value that another unit of capacity would add; 0 where there is room to spare.
    pub prices: [f64; MOST_RESOURCES],
    /// Upper bound on the value of every answer that fits. Equals `value` when proven, or when nothing fits.
    pub upper_bound: f64,
    /// `upper_bound - value`, as a fraction of the upper bound above the value of the least valuable choices, see
    /// [`Effort::accepted_gap`]. 0 when proven, 1 when nothing is known to fit.
    pub gap: f64,
    /// Nodes spent, see [`Effort::node_limit`].
    pub nodes: u64,
}

/// A knapsack of several resources: clear, add settings, solve, read the choices, and repeat. Keeps its memory.
///
/// After [`reserve`](Self::reserve), or after a solve of the same shape, it allocates no more memory. A solve begins at
/// the final prices and choices of the previous one if the shape is the same. So among answers of equal quality it
/// tends to the previous one. The same calls in the same order give the same answers.
#[derive(Debug, Default)]
pub struct Several {
    input: Input,
    work: Workspace,
    choices: Vec<u16>,
}

impl Several {
    /// An empty knapsack; allocates nothing. Call [`clear`](Self::clear) to set the number of resources.
    pub fn new() -> Self {
        Self::default()
    }

    /// Allocate the memory for this many settings and options in total, and this many resources.
    pub fn reserve(&mut self, settings: usize, options: usize, resources: usize) -> Result<()> {
        check_resources(resources)?;
        self.input.reserve(settings, options, resources)?;
        self.work.reserve(settings, options, resources)?;
        reserve_total(&mut self.choices, settings)
    }

    /// Remove all settings, and set the number of resources of the next ones. Keeps the memory, and the choices of the
    /// last solve.
    pub fn clear(&mut self, resources: usize) -> Result<()> {
        check_resources(resources)?;
        fault_point!("knapsack.clear");
        self.input.clear(resources);
        Ok(())
    }

    /// Add a setting with its options, and return its index. `weights[option * resources + resource]` are the burdens.
    /// On an error nothing is added.
    pub fn add_setting(&mut self, values: &[f64], weights: &[Weight]) -> Result<usize> {
        self.input.add_setting(values, weights)
    }

    /// Settings added since the last clear.
    pub fn setting_count(&self) -> usize {
        self.input.setting_count()
    }

    /// Options of all settings since the last clear.
    pub fn option_count(&self) -> usize {
        self.input.option_count()
    }

    /// Choose one option per setting. Pass an economy for each resource. On an error the previous choices are kept.
    pub fn solve(&mut self, economies: &[Economy], effort: Effort) -> Result<Answer> {
        let resources = self.input.resources();
        if resources == 0 || economies.len() != resources {
            let given = economies.len();
            return Err(error!(InvalidArgument, "{given} economies for {resources} resources: pass one for each"));
        }
        economies.iter().try_for_each(|&economy| check(economy, effort))?;
        self.work.reserve(self.input.setting_count(), self.input.option_count(), resources)?;
        reserve_total(&mut self.choices, self.input.setting_count())?;
        let answer = self.work.solve(&self.input, economies, effort);
        self.choices.clear();
        self.choices.extend_from_slice(self.work.choices());
        Ok(answer)
    }

    /// Begin the next solve as if it were the first; keeps the memory.
    pub fn forget(&mut self) {
        self.work.forget();
    }

    /// The option chosen for each setting by the last solve; [`NO_CHOICE`](super::NO_CHOICE) for a setting without
    /// options.
    pub fn choices(&self) -> &[u16] {
        &self.choices
    }

    /// Bytes of memory held.
    pub fn memory_used(&self) -> usize {
        self.input.memory_used() + self.work.memory_used() + bytes(&self.choices)
    }
}

fn check_resources(resources: usize) -> Result<()> {
    if (1..=MOST_RESOURCES).contains(&resources) {
        return Ok(());
    }
    Err(error!(InvalidArgument, "{resources} resources: pass 1 to {MOST_RESOURCES}"))
}
