//! Running statistics of burdens: summaries of a stream of samples.
//!
//! [`Running`] is Welford's one-pass mean and variance (B. P. Welford, "Note on a method for calculating corrected sums
//! of squares and products", 1962), merged as in Chan, Golub and LeVeque (1979). [`Decayed`] adds weights that decay
//! each frame, so that it follows the *current* cost. [`Histogram`] counts whole numbers in buckets.
#![forbid(unsafe_code)]

mod decayed;
mod histogram;
mod quantile;
mod running;

pub use decayed::Decayed;
pub use histogram::Histogram;
pub use quantile::normal_quantile;
pub use running::Running;

/// A normal distribution: an expected value and its variance.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Normal {
    /// Expected value, in the unit of the samples.
    pub mean: f64,
    /// Expected squared distance from the mean, in that unit squared.
    pub variance: f64,
}

impl Normal {
    /// Square root of the variance, in the unit of the samples.
    pub fn deviation(&self) -> f64 {
        self.variance.sqrt()
    }

    /// The distribution of `factor` times the quantity.
    #[must_use]
    pub fn scaled(self, factor: f64) -> Self {
        Self { mean: self.mean * factor, variance: self.variance * factor * factor }
    }

    /// Linear interpolation from `self` to `other` by `t` (0 to 1), of the mean and of the variance.
    #[must_use]
    pub fn toward(self, other: Self, t: f64) -> Self {
        Self {
            mean: self.mean + t * (other.mean - self.mean),
            variance: self.variance + t * (other.variance - self.variance),
        }
    }
}
