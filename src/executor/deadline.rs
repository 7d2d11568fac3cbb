//! Deadlines by the host's clock.
#![forbid(unsafe_code)]

use std::time::{Duration, Instant};

use crate::base::host;

/// The start time by the host's clock, or by the system's if the host provides none.
enum Start {
    Host(u64),
    System(Instant),
}

/// A time span that starts at construction. [`Duration::MAX`] never ends and reads no clock.
pub struct Deadline {
    start: Option<Start>,
    span: Duration,
}

impl Deadline {
    /// A deadline `span` from now.
    pub fn after(span: Duration) -> Self {
        let now = || host::now_ns().map_or_else(|| Start::System(Instant::now()), Start::Host);
        Self { start: (span != Duration::MAX).then(now), span }
    }

    /// Remaining time; `None` if the deadline never ends.
    pub fn left(&self) -> Option<Duration> {
        let passed = match self.start.as_ref()? {
            Start::System(start) => start.elapsed(),
            Start::Host(start) => Duration::from_nanos(host::now_ns().unwrap_or(u64::MAX).saturating_sub(*start)),
        };
        Some(self.span.saturating_sub(passed))
    }

    /// Whether the deadline has passed.
    pub fn is_over(&self) -> bool {
        self.left().is_some_and(|left| left.is_zero())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_timeout_expires_at_once_and_infinite_never() {
        assert!(Deadline::after(Duration::ZERO).is_over());
        assert!(!Deadline::after(Duration::MAX).is_over());
        assert_eq!(Deadline::after(Duration::MAX).left(), None);
        assert!(!Deadline::after(Duration::from_secs(3600)).is_over());
    }
}
