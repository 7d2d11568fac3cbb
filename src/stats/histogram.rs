//! A histogram of whole numbers, accurate to 1/32 of a value.

use std::fmt;

/// Buckets per doubling, as a power of two.
const FINENESS: u32 = 4;
const PER_DOUBLING: usize = 1 << FINENESS;
/// One bucket for each value below 32, and 16 buckets for each doubling from 32 to 2^64.
const BUCKETS: usize = PER_DOUBLING * (u64::BITS - FINENESS + 1) as usize;

/// Counts of whole numbers in log-linear buckets, like G. Tene's HdrHistogram. Fixed size; accepts any `u64`.
///
/// With `s = max(0, floor(log2 v) - 4)`, value `v` counts in bucket `16 s + (v >> s)`: below 32 each value has its own
/// bucket, and from 32 every doubling is cut into 16 equal buckets. Count, sum, minimum and maximum are exact. A
/// quantile is the middle of a bucket, so its error is at most 1/32 of the sample of that rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram {
    buckets: [u64; BUCKETS],
    count: u64,
    sum: u128,
    least: u64,
    greatest: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl Histogram {
    /// No values.
    pub const EMPTY: Self = Self { buckets: [0; BUCKETS], count: 0, sum: 0, least: u64::MAX, greatest: 0 };

    /// Add one value.
    pub fn add(&mut self, value: u64) {
        self.buckets[bucket_of(value)] += 1;
        self.count += 1;
        self.sum += u128::from(value);
        self.least = self.least.min(value);
        self.greatest = self.greatest.max(value);
    }

    /// Add all values of `other`.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.buckets.iter_mut().zip(&other.buckets) {
            *mine = mine.saturating_add(*theirs);
        }
        self.count = self.count.saturating_add(other.count);
        self.sum = self.sum.saturating_add(other.sum);
        self.least = self.least.min(other.least);
        self.greatest = self.greatest.max(other.greatest);
    }

    /// Number of values.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Sum of the values.
    pub fn sum(&self) -> u128 {
        self.sum
    }

    /// Minimum; 0 if empty.
    pub fn least(&self) -> u64 {
        if self.count == 0 { 0 } else { self.least }
    }

    /// Maximum; 0 if empty.
    pub fn greatest(&self) -> u64 {
        self.greatest
    }

    /// Mean, rounded down; 0 if empty.
    pub fn mean(&self) -> u64 {
        self.sum.checked_div(u128::from(self.count)).unwrap_or(0) as u64
    }

    /// The quantile at `permille` thousandths, by nearest rank: 500 is the median, 0 the minimum and 1000 the maximum.
    /// 0 if empty.
    pub fn quantile(&self, permille: u32) -> u64 {
        let wanted = (u128::from(self.count) * u128::from(permille.min(1000))).div_ceil(1000) as u64;
        if wanted <= 1 || wanted >= self.count {
            return if wanted <= 1 { self.least() } else { self.greatest };
        }
        let mut below = 0;
        let reaches = |count: &u64| {
            below += count;
            below >= wanted
        };
        let bucket = self.buckets.iter().position(reaches).unwrap_or(0);
        middle(bucket).clamp(self.least, self.greatest)
    }

    /// The buckets that are not empty, in ascending order: lowest value, highest value, count.
    pub fn filled(&self) -> impl Iterator<Item = (u64, u64, u64)> + '_ {
        let held = self.buckets.iter().enumerate().filter(|(_, count)| **count > 0);
        held.map(|(bucket, &count)| (lowest(bucket), highest(bucket), count))
    }

    /// Write the histogram as a JSON object of whole numbers. A bucket is `[lowest value, count]`.
    pub fn write_json(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        let (count, sum, min, max) = (self.count, self.sum, self.least(), self.greatest);
        write!(out, "{{\"count\":{count},\"sum\":{sum},\"min\":{min},\"max\":{max}")?;
        for (name, permille) in [("p50", 500), ("p90", 900), ("p99", 990)] {
            write!(out, ",\"{name}\":{}", self.quantile(permille))?;
        }
        out.write_str(",\"buckets\":[")?;
        for (index, (least, _, count)) in self.filled().enumerate() {
            write!(out, "{}[{least},{count}]", if index == 0 { "" } else { "," })?;
        }
        out.write_str("]}")
    }
}

fn bucket_of(value: u64) -> usize {
    let shift = (u64::BITS - value.leading_zeros()).saturating_sub(FINENESS + 1);
    PER_DOUBLING * shift as usize + (value >> shift) as usize
}

/// The shift `s` of a bucket's values.
fn shift_of(bucket: usize) -> usize {
    (bucket / PER_DOUBLING).saturating_sub(1)
}

fn lowest(bucket: usize) -> u64 {
    let shift = shift_of(bucket);
    ((bucket - PER_DOUBLING * shift) as u64) << shift
}

fn highest(bucket: usize) -> u64 {
    lowest(bucket) + ((1 << shift_of(bucket)) - 1)
}

fn middle(bucket: usize) -> u64 {
    let low = lowest(bucket);
    low + (highest(bucket) - low) / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pseudo-random numbers of every magnitude, the same on every machine.
    fn samples(count: usize) -> Vec<u64> {
        let mut state = 7_u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state ^ state >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9)
        };
        (0..count).map(|_| next() >> (next() >> 58)).collect()
    }

    #[test]
    fn buckets_cover_every_value_once_and_without_gaps() {
        assert_eq!((lowest(0), highest(BUCKETS - 1)), (0, u64::MAX));
        for bucket in 0..BUCKETS {
            assert_eq!((bucket_of(lowest(bucket)), bucket_of(highest(bucket))), (bucket, bucket));
            assert!(bucket == 0 || highest(bucket - 1) + 1 == lowest(bucket), "bucket {bucket}");
        }
    }

    #[test]
    fn quantiles_are_within_a_thirty_second_of_the_exact_ones() {
        let mut samples = samples(20_000);
        let mut histogram = Histogram::EMPTY;
        samples.iter().for_each(|&value| histogram.add(value));
        samples.sort_unstable();
        for permille in 0..=1000 {
            let rank = (samples.len() * permille).div_ceil(1000).max(1);
            let (exact, shown) = (samples[rank - 1], histogram.quantile(permille as u32));
            assert!(exact.abs_diff(shown) <= exact / 32, "{permille}: {exact} is shown as {shown}");
        }
        assert_eq!(histogram.sum(), samples.iter().map(|&value| u128::from(value)).sum());
        assert_eq!((histogram.least(), histogram.greatest()), (samples[0], samples[samples.len() - 1]));
    }

    #[test]
    fn merged_parts_equal_the_whole() {
        let samples = samples(1000);
        for cut in [0, 1, 500, 1000] {
            let (mut left, mut right, mut whole) = (Histogram::EMPTY, Histogram::EMPTY, Histogram::EMPTY);
            samples[..cut].iter().for_each(|&value| left.add(value));
            samples[cut..].iter().for_each(|&value| right.add(value));
            samples.iter().for_each(|&value| whole.add(value));
            left.merge(&right);
            assert!(left == whole, "cut {cut}");
        }
    }

    #[test]
    fn empty_histogram_and_greatest_values_are_handled() {
        let mut histogram = Histogram::EMPTY;
        assert_eq!((histogram.count(), histogram.mean(), histogram.least(), histogram.quantile(500)), (0, 0, 0, 0));
        histogram.add(u64::MAX);
        histogram.add(u64::MAX);
        assert_eq!(
            (histogram.mean(), histogram.quantile(500), histogram.quantile(9999)),
            (u64::MAX, u64::MAX, u64::MAX)
        );
    }

    #[test]
    fn small_values_are_exact_in_json() {
        let mut histogram = Histogram::EMPTY;
        [3, 5, 5, 31, 64].iter().for_each(|&value| histogram.add(value));
        let mut json = String::new();
        histogram.write_json(&mut json).unwrap();
        assert_eq!(
            json,
            "{\"count\":5,\"sum\":108,\"min\":3,\"max\":64,\"p50\":5,\"p90\":64,\"p99\":64,\
             \"buckets\":[[3,1],[5,2],[31,1],[64,1]]}"
        );
    }
}
