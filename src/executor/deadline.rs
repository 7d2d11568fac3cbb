//! Until when.
#![forbid(unsafe_code)]

use std::time::{Duration, Instant};

use crate::base::host;

/// The host's clock, if it has lent one; otherwise the system's.
enum Start {
    Host(u64),
    System(Instant),
}

/// A span of time that began when it was made. [`Duration::MAX`] never ends, and then no clock is read.
pub struct Deadline {
    start: Option<Start>,
    span: Duration,
}

impl Deadline {
    /// So long from now.
    pub fn after(span: Duration) -> Self {
        let now = || host::now_ns().map_or_else(|| Start::System(Instant::now()), Start::Host);
        Self { start: (span != Duration::MAX).then(now), span }
    }

    /// What is left of it, if it ends at all.
    pub fn left(&self) -> Option<Duration> {
        let passed = match self.start.as_ref()? {
            Start::System(start) => start.elapsed(),
            Start::Host(start) => Duration::from_nanos(host::now_ns().unwrap_or(u64::MAX).saturating_sub(*start)),
        };
        Some(self.span.saturating_sub(passed))
    }

    /// Whether nothing is left.
    pub fn is_over(&self) -> bool {
        self.left().is_some_and(|left| left.is_zero())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_time_is_over_at_once_and_all_time_never() {
        assert!(Deadline::after(Duration::ZERO).is_over());
        assert!(!Deadline::after(Duration::MAX).is_over());
        assert_eq!(Deadline::after(Duration::MAX).left(), None);
        assert!(!Deadline::after(Duration::from_secs(3600)).is_over());
    }
}
