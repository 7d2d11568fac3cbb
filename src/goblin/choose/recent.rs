//! The number of changes in a sliding window of decisions.
//!
//! A ring of buckets, so that nothing is allocated. The oldest bucket counts as a whole, so the window has up to one
//! bucket more than its length. A limit on the count then holds for every window of that length.

/// Buckets of a window. The length is divided into one less, because the newest bucket is not full.
const BUCKETS: usize = 64;

/// The changes of a sliding window.
#[derive(Clone, Debug)]
pub struct Recent {
    /// Changes by bucket: that of decision `d` is `d / width`, in a ring.
    buckets: [f64; BUCKETS],
    /// Decisions of a bucket, and of the window.
    width: u64,
    length: u64,
    now: u64,
}

impl Default for Recent {
    fn default() -> Self {
        Self { buckets: [0.0; BUCKETS], width: 1, length: 1, now: 0 }
    }
}

impl Recent {
    /// Move the window so that it ends with this decision. It has at least `length` decisions.
    pub fn begin(&mut self, now: u64, length: f64) {
        let length = (length.ceil() as u64).max(1);
        let width = length.div_ceil(BUCKETS as u64 - 1);
        if width != self.width {
            // The host has changed the decisions a second. All changes of the window count as just made.
            let sum = self.sum();
            (self.buckets, self.width) = ([0.0; BUCKETS], width);
            self.buckets[self.ring(now)] = sum;
        } else {
            let (from, to) = (self.now / width + 1, now / width);
            // After a longer pause all buckets are old.
            for bucket in from.max((to + 1).saturating_sub(BUCKETS as u64))..=to {
                self.buckets[bucket as usize % BUCKETS] = 0.0;
            }
        }
        (self.now, self.length) = (now, length);
    }

    /// Count changes of the present decision.
    pub fn add(&mut self, changes: f64) {
        self.buckets[self.ring(self.now)] += changes;
    }

    /// Changes of the window.
    pub fn sum(&self) -> f64 {
        let oldest = (self.now + 1).saturating_sub(self.length) / self.width;
        (oldest..=self.now / self.width).map(|bucket| self.buckets[bucket as usize % BUCKETS]).sum()
    }

    fn ring(&self, decision: u64) -> usize {
        (decision / self.width) as usize % BUCKETS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The count is that of the window, and of at most one bucket before it.
    #[test]
    fn window_counts_all_changes_of_its_length_and_none_older_than_a_bucket() {
        for length in [1usize, 2, 8, 60, 63, 64, 120, 480, 3600] {
            let (mut recent, mut made, mut state) = (Recent::default(), Vec::new(), 7u64);
            let width = length.div_ceil(BUCKETS - 1);
            for now in 0..4 * length.max(100) {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                recent.begin(now as u64, length as f64);
                made.push((state >> 62) as f64);
                recent.add(made[now]);
                let sum = |decisions: usize| made[(now + 1).saturating_sub(decisions)..].iter().sum::<f64>();
                let (least, most) = (sum(length), sum(length + width - 1));
                assert!(
                    (least..=most).contains(&recent.sum()),
                    "{length} at {now}: {} of {least}..={most}",
                    recent.sum()
                );
            }
        }
    }

    #[test]
    fn window_forgets_after_a_pause_and_keeps_its_count_at_another_length() {
        let mut recent = Recent::default();
        recent.begin(1000, 60.0);
        recent.add(3.0);
        recent.begin(1059, 60.0);
        assert_eq!(recent.sum(), 3.0);
        recent.begin(1060, 60.0);
        assert_eq!(recent.sum(), 0.0);
        recent.add(2.0);
        recent.begin(1061, 240.0);
        assert_eq!(recent.sum(), 2.0);
        recent.begin(1_000_000, 240.0);
        assert_eq!(recent.sum(), 0.0);
    }
}
