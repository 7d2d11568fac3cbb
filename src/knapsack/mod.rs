//! Multiple-choice knapsack with normal burdens: one option per setting, greatest total value, inside a capacity.
//!
//! Every option has a value and a burden known as a mean and a variance. Exactly one option is chosen per setting. The
//! sum of values is the greatest that keeps `sum(mean) + sigmas * sqrt(sum(variance)) <= capacity`. With `sigmas == 0`,
//! or without variances, this is the ordinary (scalar) multiple-choice knapsack.
//!
//! The steps of a solve, one per file:
//! 1. `reduce` removes options that can't be chosen. It measures the rest from each setting's best and least, and lays
//!    them out for the passes of `kernel`. A pass visits all options, four settings at a time.
//! 2. `lightest` picks choices that fit, or computes the least possible burden exactly. It decides feasibility. Its
//!    picks are the first answer, unless the choices of the last solve still fit.
//! 3. `secant` replaces the deviation, a concave function of the variance, by its secant over an interval. The
//!    resulting scalar knapsack forbids nothing feasible, so its bound holds for the interval.
//! 4. `relax` solves the linear relaxation of that scalar knapsack by a search for its multiplier. Each step is one
//!    pass over the options, without sorting and without convex hulls (the idea of Dyer's and Zemel's linear-time
//!    algorithms). The tangent at the best deviation is relaxed first. Its slope is that of the secant around it, so
//!    one relaxation serves for both.
//! 5. One change, then two (`pairs`), turn the relaxation into a good answer. `core` compares the reduced cost of each
//!    option with the gap. The few options that survive are the core (Pisinger).
//! 6. `search` explores the core depth first, in stages that begin with its cheapest options. Hard data (subset sums,
//!    values that follow the weights) goes to `lists`: dynamic programming over lists of undominated states, with the
//!    same bounds. `tail` lists the combinations of the last classes, so that both meet in the middle.
//!
//! A knapsack has a memory: the next solve begins with the choices, the price and the deviation of the last one. These
//! guesses save time where problems follow each other frame by frame, and cannot make a bound wrong. Earlier calls
//! affect only two results: which of several equally good answers is found, and the number of nodes.
//! [`Knapsack::forget`] clears the memory.
//!
//! Intervals whose bound can't beat the best answer are certified. The others are split or searched.
//!
//! [`several`] solves for several resources at once.
//!
//! **Definition of "fits".** One predicate decides (`fits::Limit`). It adds the means and variances of the chosen
//! options in setting order. `mean + sigmas * sqrt(variance)` may exceed the capacity by at most `1e-12` of the
//! magnitudes in the sum. These are the capacity's magnitude and that of the negative means, which can cancel against
//! positive ones. A burden that equals the capacity therefore fits, however its sum was rounded. A [`Solution`] reports
//! this same sum. An optimum is proven up to `1e-12` of the values at stake.
#![deny(unsafe_code)]

mod budget;
mod core;
mod fits;
mod incumbent;
mod input;
mod kernel;
mod simd;
mod lightest;
mod lists;
mod pairs;
mod reduce;
mod relax;
mod search;
mod secant;
pub mod several;
mod solve;
mod tail;
#[cfg(test)]
mod tests;

use crate::base::Number;
use crate::base::{Result, error, fault_point};
use input::Input;
use solve::Workspace;

/// The choice of a setting that has no options.
pub const NO_CHOICE: u16 = u16::MAX;

/// The most options one setting can have. Choices are `u16`, and one `u16` is reserved for [`NO_CHOICE`].
pub const MAX_OPTIONS_PER_SETTING: usize = NO_CHOICE as usize;

/// Finite numbers above this magnitude are invalid. Sums and products of smaller numbers stay finite.
pub const LARGEST_NUMBER: f64 = 1e100;

/// One option of a setting.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Candidate {
    /// The option's value if chosen; finite, may be negative.
    pub value: f64,
    /// Mean of its burden; may be negative. `+infinity`: the option cannot be chosen.
    pub mean: f64,
    /// Variance of its burden; finite, not negative.
    pub variance: f64,
}

/// The limit on the total burden.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Economy {
    /// The total burden must not exceed this. Any number. `+infinity`: no limit. `-infinity`: nothing fits.
    pub capacity: f64,
    /// How many standard deviations of the total count as burden; finite, not negative.
    pub sigmas: f64,
}

impl Default for Economy {
    fn default() -> Self {
        Self { capacity: f64::INFINITY, sigmas: 0.0 }
    }
}

/// Limits on the work of a solve. They are counts, so that the same input gives the same answer on any machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effort {
    /// Stop when the gap to the optimum is known to be at most this fraction of the optimum's value above that of the
    /// lightest choices. These are each setting's option of least mean. So constants added to the values of a setting
    /// have no effect. With several resources, the least valuable undominated options take their place. 0 requires a
    /// proven optimum.
    pub accepted_gap: f64,
    /// The search stops after about this many nodes. A node is one visited state, or 64 options visited by the
    /// relaxation. The first relaxation always runs, so there is a bound at any limit. With `n` options it takes about
    /// `n / 4` nodes, and at most `20 * n + 300`. With several resources, at most
    /// `n / 2 + 600` nodes follow the end, so that an answer is found where that is easy.
    pub node_limit: u64,
}

impl Effort {
    /// The default [`node_limit`](Self::node_limit). Instances that use it up are rare and deliberately hard. They take
    /// about half a second and 300 MB. Within a frame, some thousands of nodes are enough.
    pub const DEFAULT_NODE_LIMIT: u64 = 4_000_000;
}

impl Default for Effort {
    fn default() -> Self {
        Self { accepted_gap: 0.0, node_limit: Self::DEFAULT_NODE_LIMIT }
    }
}

/// The result of [`Knapsack::solve`]. The choices are in [`Knapsack::choices`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Solution {
    /// Whether the answer fits. If false, no answer fits, and this one has the least burden.
    pub feasible: bool,
    /// Total value of the choices.
    pub value: f64,
    /// Total mean of their burdens.
    pub mean: f64,
    /// Total variance of their burdens.
    pub variance: f64,
    /// `mean + sigmas * sqrt(variance)`.
    pub burden: f64,
    /// Excess of the burden over the capacity; 0 when feasible.
    pub excess: f64,
    /// Upper bound on the value of every answer that fits. Equals `value` when proven.
    pub upper_bound: f64,
    /// `upper_bound - value`, as a fraction of the upper bound above the value of the lightest choices, see
    /// [`Effort::accepted_gap`]. 0 when proven, 1 when worth no more than the lightest choices.
    pub gap: f64,
    /// Whether this is known to be the optimum. Always true when infeasible: it is then known that nothing fits.
    pub proven: bool,
    /// Nodes spent, see [`Effort::node_limit`].
    pub nodes: u64,
    /// The shadow price: about how much value one more unit of capacity would add, by the linear relaxation near the
    /// answer. 0 when the capacity doesn't bind, and when nothing fits.
    pub price: f64,
}

/// A knapsack: add settings, solve, read the choices, clear and repeat. Keeps its memory.
///
/// After [`reserve`](Self::reserve), or after a solve of the same shape, it allocates no more memory. One exception: a
/// proof by lists with more than 4096 states allocates more, at most about 100 bytes per node, and keeps it. A node
/// limit of 4096 or less excludes the exception.
#[derive(Debug, Default)]
pub struct Knapsack {
    input: Input,
    work: Workspace,
    choices: Vec<u16>,
}

impl Knapsack {
    /// An empty knapsack; allocates nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Allocate the memory for this many settings and options in total.
    pub fn reserve(&mut self, settings: usize, options: usize) -> Result<()> {
        self.input.reserve(settings, options)?;
        self.work.reserve(settings, options, lists::STATES_KEPT)?;
        reserve_total(&mut self.choices, settings)
    }

    /// Remove all settings; keeps the memory, and the choices of the last solve.
    pub fn clear(&mut self) {
        fault_point!("knapsack.clear");
        self.input.clear();
    }

    /// Solve the next problem as if it were the first.
    pub fn forget(&mut self) {
        self.work.forget();
    }

    /// Add a setting with its options, and return its index. On an error nothing is added.
    pub fn add_setting(&mut self, options: &[Candidate]) -> Result<usize> {
        self.input.add_setting(options)
    }

    /// Settings added since the last clear.
    pub fn setting_count(&self) -> usize {
        self.input.setting_count()
    }

    /// Options of all settings since the last clear.
    pub fn option_count(&self) -> usize {
        self.input.option_count()
    }

    /// Choose one option per setting, starting from the last solution. On an error the previous choices are kept.
    pub fn solve(&mut self, economy: Economy, effort: Effort) -> Result<Solution> {
        check(economy, effort)?;
        let states = usize::try_from(effort.node_limit).unwrap_or(usize::MAX).min(lists::STATES_KEPT);
        self.work.reserve(self.input.setting_count(), self.input.option_count(), states)?;
        reserve_total(&mut self.choices, self.input.setting_count())?;
        let solution = self.work.solve(&self.input, economy, effort)?;
        self.choices.clear();
        self.choices.extend_from_slice(self.work.choices());
        Ok(solution)
    }

    /// The option chosen for each setting by the last solve; [`NO_CHOICE`] for a setting without options.
    pub fn choices(&self) -> &[u16] {
        &self.choices
    }

    /// Bytes of memory held.
    pub fn memory_used(&self) -> usize {
        self.input.memory_used() + self.work.memory_used() + bytes(&self.choices)
    }
}

fn check(economy: Economy, effort: Effort) -> Result<()> {
    if economy.capacity.is_nan() {
        return Err(error!(InvalidArgument, "the capacity is NaN: pass a number, or +infinity for no limit"));
    }
    if !(economy.sigmas >= 0.0 && economy.sigmas <= LARGEST_NUMBER) {
        return Err(error!(InvalidArgument, "sigmas is {}: pass a number from 0 to 1e100", Number(economy.sigmas)));
    }
    if !(effort.accepted_gap >= 0.0 && effort.accepted_gap.is_finite()) {
        return Err(error!(
            InvalidArgument,
            "the accepted gap is {}: pass a fraction such as 0.01, or 0 for the optimum",
            Number(effort.accepted_gap)
        ));
    }
    Ok(())
}

/// Make room for `total` elements, counted from empty.
fn reserve_total<T>(vector: &mut Vec<T>, total: usize) -> Result<()> {
    Ok(vector.try_reserve_exact(total.saturating_sub(vector.len()))?)
}

fn bytes<T>(vector: &Vec<T>) -> usize {
    vector.capacity() * size_of::<T>()
}
