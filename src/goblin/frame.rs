//! Facts of a decision that several rooms need.

use super::config::{Config, LANES};
use crate::knapsack::{Economy, Effort};

/// The facts of a decision. Lists are by governed lane.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// The parameters.
    pub config: &'a Config,
    /// The decision's id.
    pub now: u64,
    /// Capacity and margin of a new choice.
    pub economies: &'a [Economy],
    /// The same with the smaller margin of a held choice; see [`Hold`](super::learn::hold::Hold).
    pub held: &'a [Economy],
    /// The slow component of the common factor, which all burdens contain.
    pub slow: [f64; LANES],
    /// The common factor with its fast component.
    pub fast: [f64; LANES],
    /// The share by which all burdens are expected to grow in the next ten seconds; negative: to fall; see
    /// [`Drift`](super::learn::drift::Drift).
    pub growth: [f64; LANES],
}

impl Frame<'_> {
    /// Solver effort.
    pub fn effort(&self) -> Effort {
        self.config.effort()
    }
}
