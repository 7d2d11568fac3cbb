//! The one predicate that decides whether a burden fits.

use super::Economy;
use super::input::{Input, Totals};

/// Burdens over the capacity by up to this fraction of the magnitudes in the sum count as equal to it.
const TOLERANCE: f64 = 1e-12;

#[derive(Clone, Copy, Debug)]
pub(super) struct Limit {
    pub capacity: f64,
    pub sigmas: f64,
    /// Absolute tolerance; finite unless the capacity is not.
    pub tolerance: f64,
}

impl Limit {
    /// `negative_means` is the sum over settings of the most negative mean, as a magnitude. With a capacity near 0,
    /// sums still carry the rounding of terms that cancelled.
    pub fn new(economy: Economy, negative_means: f64) -> Self {
        let capacity = economy.capacity;
        let tolerance = if capacity.is_finite() { TOLERANCE * (capacity.abs() + negative_means) } else { 0.0 };
        Self { capacity, sigmas: economy.sigmas, tolerance }
    }

    pub fn burden(&self, totals: Totals) -> f64 {
        if self.sigmas == 0.0 { totals.mean } else { totals.mean + self.sigmas * totals.variance.sqrt() }
    }

    pub fn admits(&self, totals: Totals) -> bool {
        let burden = self.burden(totals);
        burden < f64::INFINITY && burden <= self.capacity + self.tolerance
    }

    /// Whether exactly these choices fit.
    pub fn admits_choices(&self, input: &Input, choices: &[u16]) -> bool {
        self.admits(input.totals(choices))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(capacity: f64, negative_means: f64) -> Limit {
        Limit::new(Economy { capacity, sigmas: 2.0 }, negative_means)
    }

    fn burden(mean: f64, variance: f64) -> Totals {
        Totals { value: 0.0, mean, variance }
    }

    #[test]
    fn burden_equal_to_the_capacity_fits() {
        assert!(limit(7.0, 0.0).admits(burden(3.0, 4.0)));
        assert!(limit(0.3, 0.0).admits(burden(0.1 + 0.2, 0.0)));
        assert!(limit(0.0, 0.0).admits(burden(0.0, 0.0)));
        assert!(limit(-1.0, 3.0).admits(burden(-3.0, 1.0)));
    }

    #[test]
    fn burden_slightly_over_the_capacity_does_not_fit() {
        assert!(!limit(7.0, 0.0).admits(burden(3.0, 4.0 + 1e-9)));
        assert!(!limit(0.0, 0.0).admits(burden(1e-300, 0.0)));
        assert!(!limit(-1.0, 3.0).admits(burden(-3.0, 1.0 + 1e-9)));
    }

    #[test]
    fn rounding_of_negative_means_is_tolerated_at_capacity_zero() {
        let rounding: f64 = [0.1, 0.2, -0.3].iter().sum();
        assert!(rounding > 0.0);
        assert!(limit(0.0, 0.3).admits(burden(rounding, 0.0)));
    }

    #[test]
    fn infinite_capacity_admits_every_finite_burden_or_none() {
        assert!(limit(f64::INFINITY, 0.0).admits(burden(1e200, 1.0)));
        assert!(!limit(f64::INFINITY, 0.0).admits(burden(f64::INFINITY, 1.0)));
        assert!(!limit(f64::NEG_INFINITY, 5.0).admits(burden(-1e200, 0.0)));
    }
}
