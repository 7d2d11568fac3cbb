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

/// Nanoseconds of processor time that some work takes on this thread: other programs of the machine do not count.
#[cfg(unix)]
pub fn thread_nanoseconds(work: impl FnOnce()) -> f64 {
    let now = || {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
    };
    let start = now();
    work();
    now() - start
}

/// The median of the ratios of samples that were taken in pairs.
pub fn ratio(samples: &[f64], to: &[f64]) -> f64 {
    let ratios: Vec<f64> = samples.iter().zip(to).map(|(one, other)| one / other).collect();
    median(&ratios)
}
