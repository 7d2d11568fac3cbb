//! How fast: modes, batches and time budgets.
//!
//! Each frame grants a batch: a number of pipelines, and microseconds of build time. A started build spends its expected
//! time. When it ends, the difference to the measured time is charged or returned.
//!
//! A build starts if its expected time fits the rest of the grant. A longer one than a whole grant starts at the begin of
//! a frame without debts, and alone. Later frames pay its debt back before the next build starts, so long builds do not
//! overlap. Unused grants expire: a quiet second does not buy a burst of builds.

/// When pipelines are compiled. Existing numbers never change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Mode {
    /// Only requested pipelines.
    Paused = 0,
    /// As many as a loading screen allows. The default.
    #[default]
    Fast = 1,
    /// A few per frame while the game runs.
    Background = 2,
    /// Fast until no pipeline of the precompile mask remains, then those of the regular mask in the background.
    Precompile = 3,
}

impl Mode {
    /// The mode with that number.
    pub fn from_number(number: u32) -> Option<Self> {
        [Self::Paused, Self::Fast, Self::Background, Self::Precompile].get(number as usize).copied()
    }
}

/// The limits of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// Most pipelines that start per frame. 0: no limit.
    pub batch: u32,
    /// Microseconds of build time per frame and worker. 0: no limit.
    pub time_us: u64,
}

/// The pace of each mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Paces {
    /// For [`Mode::Fast`]. Default: 50 pipelines, 16 ms.
    pub fast: Pace,
    /// For [`Mode::Background`]. Default: 1 pipeline, no limit of time.
    pub background: Pace,
    /// For [`Mode::Precompile`] while pipelines of the precompile mask remain. Default: 50 pipelines, 10 ms.
    pub precompile: Pace,
}

impl Default for Paces {
    /// The defaults of the Unreal Engine's `r.ShaderPipelineCache.*BatchSize` and `*BatchTime`.
    fn default() -> Self {
        Self {
            fast: Pace { batch: 50, time_us: 16_000 },
            background: Pace { batch: 1, time_us: 0 },
            precompile: Pace { batch: 50, time_us: 10_000 },
        }
    }
}

/// The selections that are queued apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lane {
    /// Selected by the precompile mask, in [`Mode::Precompile`].
    Precompile,
    /// Selected by the regular mask.
    Regular,
}

/// The rest of a frame's grant.
#[derive(Debug, Default)]
pub struct Purse {
    lane: Option<Lane>,
    /// `None`: no limit.
    builds: Option<u32>,
    /// Whether `balance_us` limits.
    is_timed: bool,
    /// The time of this frame's grant.
    grant_us: i64,
    /// Negative: later frames pay it back.
    balance_us: i64,
}

impl Purse {
    /// Begin a frame. `budget_us` replaces the time of the pace; there 0 means nothing.
    pub fn grant(&mut self, lane: Lane, pace: Pace, budget_us: Option<u64>) {
        let time_us = budget_us.or((pace.time_us > 0).then_some(pace.time_us));
        self.lane = Some(lane);
        self.builds = (pace.batch > 0).then_some(pace.batch);
        self.is_timed = time_us.is_some();
        self.grant_us = signed(time_us.unwrap_or(0));
        // A frame without a limit forgives debts.
        self.balance_us = if self.is_timed { self.balance_us.min(0).saturating_add(self.grant_us) } else { 0 };
    }

    /// End the grant. Debts stay.
    pub fn stop(&mut self) {
        self.lane = None;
    }

    /// End the grant, and forget debts.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Whether a pipeline of this lane may start now, if its expected time fits.
    pub fn allows(&self, lane: Lane) -> bool {
        self.lane == Some(lane) && self.builds != Some(0) && (!self.is_timed || self.balance_us > 0)
    }

    /// Whether a build of this expected time fits. If it does not, this frame grants no more: the order is kept.
    pub fn fits(&mut self, expected_us: u64) -> bool {
        let fits = !self.is_timed || signed(expected_us) <= self.balance_us || self.balance_us >= self.grant_us;
        if !fits {
            self.stop();
        }
        fits
    }

    /// Spend for a pipeline that starts. A requested one is not counted, but spends time.
    pub fn spend(&mut self, expected_us: u64, is_counted: bool) {
        if is_counted {
            self.builds = self.builds.map(|builds| builds.saturating_sub(1));
        }
        self.settle(expected_us, 0);
    }

    /// Charge or return the difference of the measured and the expected time.
    pub fn settle(&mut self, took_us: u64, expected_us: u64) {
        self.balance_us = self.balance_us.saturating_sub(signed(took_us).saturating_sub(signed(expected_us)));
    }
}

fn signed(us: u64) -> i64 {
    i64::try_from(us).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACE: Pace = Pace { batch: 3, time_us: 10_000 };

    #[test]
    fn overdrawn_time_is_paid_back_by_later_frames() {
        let mut purse = Purse::default();
        assert!(!purse.allows(Lane::Regular));
        purse.grant(Lane::Regular, PACE, None);
        purse.spend(4_000, true);
        assert!(purse.allows(Lane::Regular) && !purse.allows(Lane::Precompile));
        purse.settle(35_000, 4_000);
        let frames = (1..).find(|_| {
            purse.grant(Lane::Regular, PACE, None);
            purse.allows(Lane::Regular)
        });
        assert_eq!(frames, Some(3));
    }

    #[test]
    fn build_that_does_not_fit_waits_for_a_frame_of_its_own() {
        let mut purse = Purse::default();
        purse.grant(Lane::Regular, PACE, None);
        purse.spend(4_000, true);
        assert!(purse.fits(6_000) && !purse.fits(75_000));
        assert!(!purse.allows(Lane::Regular), "the next build does not overtake");
        purse.grant(Lane::Regular, PACE, None);
        assert!(purse.allows(Lane::Regular) && purse.fits(75_000));
    }

    #[test]
    fn unused_grants_expire() {
        let mut purse = Purse::default();
        (0..100).for_each(|_| purse.grant(Lane::Regular, PACE, None));
        purse.spend(10_000, true);
        assert!(!purse.allows(Lane::Regular));
    }

    #[test]
    fn batch_limits_the_builds_of_a_frame() {
        let mut purse = Purse::default();
        purse.grant(Lane::Regular, PACE, Some(u64::MAX));
        purse.spend(1, false);
        (0..3).for_each(|_| purse.spend(1, true));
        assert!(!purse.allows(Lane::Regular));
        purse.grant(Lane::Regular, Pace { batch: 0, time_us: 0 }, None);
        (0..1000).for_each(|_| purse.spend(1_000_000, true));
        assert!(purse.allows(Lane::Regular));
    }

    #[test]
    fn budget_of_zero_starts_no_build() {
        let mut purse = Purse::default();
        purse.grant(Lane::Regular, Pace { batch: 0, time_us: 0 }, Some(0));
        assert!(!purse.allows(Lane::Regular));
    }
}
