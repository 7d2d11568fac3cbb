//! Multiple-choice knapsack with normal burdens: one option per setting, greatest total value, inside a capacity.
//!
//! Every option has a value and a burden known as a mean and a variance. Of each setting exactly one option is chosen,
//! such that the sum of values is greatest while `sum(mean) + sigmas * sqrt(sum(variance)) <= capacity`. With
//! `sigmas == 0`, or without variances, that's the ordinary (scalar) multiple-choice knapsack.
//!
//! How it is solved, a step per file:
//! 1. `reduce`: leave out what can't be chosen; measure the rest from each setting's best and least; lay it out for the
//!    passes of `kernel`, which look at all options, four settings at a time.
//! 2. `lightest`: choices that fit, or the least burden there is, exactly. It decides feasibility and is the first
//!    answer, unless the choices of the last solve still fit.
//! 3. `secant`: the deviation, a concave function of the variance, is replaced over an interval by its secant. What
//!    remains is a scalar knapsack that forbids nothing feasible, so its bound holds for the interval.
//! 4. `relax`: the linear relaxation of that scalar knapsack by a search for its multiplier, one pass over the options
//!    per step, without sorting and without convex hulls (the idea of Dyer's and Zemel's linear-time algorithms).
//!    The tangent where the best deviation is comes first: its slope is that of the secant around it, so one relaxation
//!    serves for both.
//! 5. One change, then two (`pairs`), make a good answer of the relaxation. `core`: few options survive a comparison of
//!    their reduced cost with the gap; they are the core (Pisinger).
//! 6. `search` looks through the core depth first. Data made to defeat that (subset sums, values that follow the
//!    weights) go to `lists`: dynamic programming over lists of undominated states, with the same bounds, met in the
//!    middle by `tail`, a list of what the last classes can do.
//!
//! A knapsack remembers: the next solve begins with the choices, the price and the deviation of the last one. They are
//! guesses, which save time where problems follow each other frame by frame, and cannot make a bound wrong. So what a
//! solve returns depends on the calls before it, by which of several equally good answers it finds and how many nodes
//! it takes, and on nothing else. [`Knapsack::forget`] begins anew.
//!
//! Intervals whose bound can't beat the best answer are certified; the others are split, or searched.
//!
//! Several resources at once are the business of [`several`].
//!
//! **What "fits" means.** There is one predicate (`fits::Limit`): means and variances of the chosen options are added
//! in setting order, and `mean + sigmas * sqrt(variance)` must not exceed the capacity by more than `1e-12` of the
//! magnitudes that enter it: the capacity's, and that of the negative means, which can cancel against positive ones. A
//! burden that equals the capacity therefore fits, however its sum was rounded. What a [`Solution`] reports comes from
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

/// The most options one setting can have: choices are `u16`, and one of those means [`NO_CHOICE`].
pub const MAX_OPTIONS_PER_SETTING: usize = NO_CHOICE as usize;

/// Finite numbers above this magnitude are refused: sums and products of those below stay finite.
pub const LARGEST_NUMBER: f64 = 1e100;

/// One option of a setting.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Candidate {
    /// What choosing it is worth; finite, may be negative.
    pub value: f64,
    /// Mean of its burden; may be negative; `+infinity` for an option that cannot be chosen.
    pub mean: f64,
    /// Variance of its burden; finite, not negative.
    pub variance: f64,
}

/// What the burdens must fit into.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Economy {
    /// The total burden must not exceed this. Any number; `+infinity` for no limit; with `-infinity` nothing fits.
    pub capacity: f64,
    /// How many standard deviations of the total count as burden; finite, not negative.
    pub sigmas: f64,
}

impl Default for Economy {
    fn default() -> Self {
        Self { capacity: f64::INFINITY, sigmas: 0.0 }
    }
}

/// How hard to try. Limits are counts of work, so that the same input gives the same answer on any machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effort {
    /// Stop when the answer is known to be within this fraction of the optimum; 0 asks for the optimum, proven.
    pub accepted_gap: f64,
    /// The search stops after about this many nodes. A node is one state looked at, or 64 options looked at by the
    /// relaxation. The first relaxation always takes place, so there is a bound at any limit; with `n` options it takes
    /// about `n / 4` nodes, and in no case more than `20 * n + 300`.
    pub node_limit: u64,
}

impl Effort {
    /// The default [`node_limit`](Self::node_limit). Instances that use it up are rare and made to be hard; they take
    /// about half a second and 300 MB. In a frame a limit of some thousands is plenty.
    pub const DEFAULT_NODE_LIMIT: u64 = 4_000_000;
}

impl Default for Effort {
    fn default() -> Self {
        Self { accepted_gap: 0.0, node_limit: Self::DEFAULT_NODE_LIMIT }
    }
}

/// What [`Knapsack::solve`] found; [`Knapsack::choices`] has the choices.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Solution {
    /// Whether the answer fits. When not, nothing does, and the answer is the one of least burden.
    pub feasible: bool,
    /// Total value of the choices.
    pub value: f64,
    /// Total mean of their burdens.
    pub mean: f64,
    /// Total variance of their burdens.
    pub variance: f64,
    /// `mean + sigmas * sqrt(variance)`.
    pub burden: f64,
    /// By how much the burden exceeds the capacity; 0 when feasible.
    pub excess: f64,
    /// No answer that fits has more value than this. Equals the value when proven.
    pub upper_bound: f64,
    /// `(upper_bound - value) / |upper_bound|`; 0 when proven.
    pub gap: f64,
    /// Whether this is known to be the optimum, or, when infeasible, known that nothing fits (which is always known).
    pub proven: bool,
    /// Nodes spent, see [`Effort::node_limit`].
    pub nodes: u64,
    /// The shadow price: about how much more value one more unit of capacity would buy, by the linear relaxation near
    /// the answer. 0 when the capacity doesn't bind, and when nothing fits.
    pub price: f64,
}

/// A knapsack: add settings, solve, read the choices; clear and repeat. Keeps its memory.
///
/// After [`reserve`](Self::reserve), or once it has solved an instance of the same shape, it takes no more memory. One
/// exception: a proof by lists that needs more than 4096 states takes more, about 100 bytes per node at most, and keeps
/// it. With a node limit up to that number there is no exception.
#[derive(Debug, Default)]
pub struct Knapsack {
    input: Input,
    work: Workspace,
    choices: Vec<u16>,
}

impl Knapsack {
    /// An empty knapsack; takes no memory.
    pub fn new() -> Self {
        Self::default()
    }

    /// Take the memory for this many settings and options in total.
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

    /// Options of all these settings together.
    pub fn option_count(&self) -> usize {
        self.input.option_count()
    }

    /// Choose one option per setting, beginning with what the last solve found. On an error the choices of the solve
    /// before are kept.
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
