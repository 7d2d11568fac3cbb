//! Spans of time by the host's clock.
#![forbid(unsafe_code)]

use std::time::{Duration, Instant};

use crate::base::host;

/// Measures the time since it began, by the host's clock, or by the system's if the host provides none.
pub enum Stopwatch {
    #[doc(hidden)]
    Host(u64),
    #[doc(hidden)]
    System(Instant),
}

impl Stopwatch {
    /// Begin now.
    pub fn begin() -> Self {
        host::now_ns().map_or_else(|| Self::System(Instant::now()), Self::Host)
    }

    /// Time since the beginning. Begins again now.
    pub fn lap(&mut self) -> Duration {
        let now = Self::begin();
        let passed = match (&*self, &now) {
            (Self::System(start), Self::System(now)) => now.saturating_duration_since(*start),
            (Self::Host(start), Self::Host(now)) => Duration::from_nanos(now.saturating_sub(*start)),
            // The clock was exchanged meanwhile.
            _ => Duration::ZERO,
        };
        *self = now;
        passed
    }

    /// Time since the beginning.
    pub fn passed(&self) -> Duration {
        match self {
            Self::System(start) => start.elapsed(),
            Self::Host(start) => Duration::from_nanos(host::now_ns().unwrap_or(u64::MAX).saturating_sub(*start)),
        }
    }
}

/// A time span that starts at construction. [`Duration::MAX`] never ends and reads no clock.
pub struct Deadline {
    start: Option<Stopwatch>,
    span: Duration,
}

impl Deadline {
    /// A deadline `span` from now.
    pub fn after(span: Duration) -> Self {
        Self { start: (span != Duration::MAX).then(Stopwatch::begin), span }
    }

    /// Remaining time; `None` if the deadline never ends.
    pub fn left(&self) -> Option<Duration> {
        Some(self.span.saturating_sub(self.start.as_ref()?.passed()))
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
