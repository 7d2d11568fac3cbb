//! What the library asks of the program it lives in, all of it optional: a log, a clock, profiler zones, files.
//!
//! Time is never read and no file touched behind the host's back: a room that needs them asks here. The C API installs
//! a [`Host`] that forwards to the hooks set from C; a Rust program may install its own.

use std::ffi::CStr;
use std::fmt;
use std::sync::OnceLock;

use super::Text;

/// How much a log line matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// For those who look for a fault.
    Debug,
    /// Worth knowing.
    Info,
    /// Something is not as it should be; the library goes on.
    Warning,
    /// Something failed.
    Error,
}

/// The program around the library. Every method may be called from any thread that calls the library.
pub trait Host: Sync {
    /// Take a log line.
    fn log(&self, level: Level, line: &str);
    /// Monotonic nanoseconds, if the host has lent its clock.
    fn now_ns(&self) -> Option<u64>;
    /// A profiler zone begins on this thread.
    fn zone_begin(&self, name: &'static CStr);
    /// The innermost zone of this thread ends.
    fn zone_end(&self);
}

static HOST: OnceLock<&'static dyn Host> = OnceLock::new();

/// Install the host, once for the life of the process; whether this call did it.
pub fn set_host(host: &'static dyn Host) -> bool {
    HOST.set(host).is_ok()
}

/// Write a log line of at most 512 bytes. Allocates nothing.
pub fn log(level: Level, line: fmt::Arguments<'_>) {
    if let Some(host) = HOST.get() {
        host.log(level, Text::<512>::format(line).as_str());
    }
}

/// Monotonic nanoseconds from the host's clock, if it has lent one.
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
