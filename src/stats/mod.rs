//! Running statistics of burdens: summaries of a stream of samples, in constant memory.
//!
//! A goblin learns costs from samples that arrive one by one, and keeps none of them. Each type here takes a sample in
//! constant time and allocates nothing.
//!
//! Invariants:
//! 1. Without samples, mean and variance are 0, and the variance is never negative.
//! 2. A frame without a sample changes no statistic: it adds no zero.
//! 3. Merging two [`Running`] or two [`Histogram`] gives the summary of both streams, except for rounding.
//!
//! Sources: B. P. Welford, "Note on a method for calculating corrected sums of squares and products" (1962); merging by
//! Chan, Golub and LeVeque (1979).
//!
//! | file | content |
//! |---|---|
//! | `running` | [`Running`]: mean and variance of all samples |
//! | `decayed` | [`Decayed`]: the same with weights that decay each frame, to follow the *current* cost |
//! | `autocorrelation` | [`Autocorrelation`]: how long noise lasts |
//! | `histogram` | [`Histogram`]: whole numbers in log-linear buckets, like G. Tene's HdrHistogram |
//! | `quantile` | [`normal_quantile`]: Wichura's algorithm AS 241 (1988) |
#![forbid(unsafe_code)]

mod autocorrelation;
mod decayed;
mod histogram;
mod quantile;
mod running;

pub use autocorrelation::Autocorrelation;
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
