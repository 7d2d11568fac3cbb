//! Optional services of the host program: a log, a clock and profiler zones.
//!
//! All modules log, read the host's clock and mark profiler zones through this module. The C API installs a [`Host`]
//! that forwards to the hooks set from C. A Rust program may install its own.

use std::ffi::CStr;
use std::fmt;
use std::sync::OnceLock;

use super::Text;

/// Severity of a log line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Details for debugging.
    Debug,
    /// Normal operation.
    Info,
    /// An unexpected condition; the library continues.
    Warning,
    /// A failure.
    Error,
}

/// The program that uses the library. The library may call every method on any thread that calls the library.
pub trait Host: Sync {
    /// Handle a log line.
    fn log(&self, level: Level, line: &str);
    /// Monotonic nanoseconds, if the host provides a clock.
    fn now_ns(&self) -> Option<u64>;
    /// A profiler zone begins on this thread.
    fn zone_begin(&self, name: &'static CStr);
    /// The innermost zone of this thread ends.
    fn zone_end(&self);
}

static HOST: OnceLock<&'static dyn Host> = OnceLock::new();

/// Install the host, once per process. Returns false if one was installed before.
pub fn set_host(host: &'static dyn Host) -> bool {
    HOST.set(host).is_ok()
}

/// Write a log line of at most 512 bytes. Allocates nothing.
pub fn log(level: Level, line: fmt::Arguments<'_>) {
    if let Some(host) = HOST.get() {
        host.log(level, Text::<512>::format(line).as_str());
    }
}

/// Monotonic nanoseconds of the host's clock, if it provides one.
pub fn now_ns() -> Option<u64> {
    HOST.get().and_then(|host| host.now_ns())
}

/// A profiler zone that lasts until it is dropped.
pub struct Zone(());

impl Zone {
    /// Begin a zone on this thread.
    pub fn begin(name: &'static CStr) -> Self {
        if let Some(host) = HOST.get() {
            host.zone_begin(name);
        }
        Self(())
    }
}

impl Drop for Zone {
    fn drop(&mut self) {
        if let Some(host) = HOST.get() {
            host.zone_end();
        }
    }
}
