//! Shares of two strategies by how much faster one is.

/// Durations in the rolling average.
const ROLLING: usize = 20;
/// A strategy gets a share if the other one takes at least this many times as long.
const ROWS: [(f64, f64); 3] = [(1.5, 0.95), (1.3, 0.9), (1.15, 0.75)];

/// The last durations of a strategy.
#[derive(Clone, Copy, Debug, Default)]
pub struct Recent {
    seconds: [f64; ROLLING],
    count: usize,
}

impl Recent {
    /// Add a duration in place of the oldest one.
    pub fn add(&mut self, seconds: f64) {
        self.seconds[self.count % ROLLING] = seconds;
        self.count += 1;
    }

    fn mean(&self) -> Option<f64> {
        let there = self.count.min(ROLLING);
        (there > 0).then(|| self.seconds[..there].iter().sum::<f64>() / there as f64)
    }
}

/// The share of the first of two strategies.
pub fn share(first: &Recent, second: &Recent) -> f64 {
    let (Some(first), Some(second)) = (first.mean(), second.mean()) else { return 0.5 };
    for (times, share) in ROWS {
        if first * times <= second {
            return share;
        }
        if second * times <= first {
            return 1.0 - share;
        }
    }
    0.5
}
