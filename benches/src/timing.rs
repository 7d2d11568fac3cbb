//! Timings and their statistics.

use std::time::Instant;

/// Microseconds of some work.
pub fn microseconds(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64() * 1e6
}

/// The fastest of `runs` runs, in microseconds: the time of the work without interference.
pub fn least_of(runs: usize, mut work: impl FnMut()) -> f64 {
    (0..runs).map(|_| microseconds(&mut work)).fold(f64::INFINITY, f64::min)
}

/// The value that this share of the samples does not exceed. Without samples: NaN.
pub fn quantile(samples: &[f64], share: f64) -> f64 {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().saturating_sub(1);
    sorted.get((share * last as f64).round() as usize).copied().unwrap_or(f64::NAN)
}

/// The median of the samples.
pub fn median(samples: &[f64]) -> f64 {
    quantile(samples, 0.5)
}
