//! The decision of a frame, as the host gets it.

use super::config::LANES;
use super::lanes::Lanes;
use super::question::formulation::Sum;

/// Totals of a choice of one option of every setting. Burdens are by lane.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Net {
    /// Sum of the values.
    pub value: f64,
    /// Sum of the mean burdens.
    pub mean: [f64; LANES],
    /// Deviation of the total burden.
    pub deviation: [f64; LANES],
}

impl Net {
    pub(super) fn of(sum: &Sum, lanes: &Lanes) -> Self {
        let mut net = Self { value: sum.value, ..Self::default() };
        for (lane, weight) in lanes.iter().zip(&sum.weights) {
            net.mean[lane] = weight.mean;
            net.deviation[lane] = weight.variance.max(0.0).sqrt();
        }
        net
    }
}

/// The decision of a frame. Lanes that are not governed are 0.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Decision {
    /// Counts up from 1; samples name it.
    pub id: u64,
    /// Whether the choice fits. If not, it is the choice of least burden.
    pub feasible: bool,
    /// The choice.
    pub chosen: Net,
    /// Mean + sigmas × deviation of the choice. It is compared with `capacity`.
    pub burden: [f64; LANES],
    /// The limit, or with [`Burdens::Relative`](super::Burdens) its estimate in the host's unit.
    pub capacity: [f64; LANES],
    /// Excess of the burden over the capacity; 0 when feasible.
    pub excess: [f64; LANES],
    /// Upper bound of the relative distance from the optimum; 0 when it is the optimum.
    pub gap: f64,
    /// The lightest option of every setting.
    pub lightest: Net,
    /// The most valuable option of every setting, whether or not they fit together.
    pub highest: Net,
    /// Number of settings.
    pub settings: u32,
    /// Number of settings whose choice differs from the decision before.
    pub changes: u32,
    /// Whether the choices before this decision could not be held: they do not fit, or are not available. A trial that
    /// no longer fits counts, too.
    pub is_forced: bool,
    /// Number of options on trial in this frame.
    pub trials: u32,
    /// The active strategy.
    pub strategy: u32,
    /// Nodes that the solver visited.
    pub nodes: u64,
    /// How long the decision took, by the host's clock; 0 without one.
    pub elapsed_ns: u64,
}
