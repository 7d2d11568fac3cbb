//! Ctrl-C, SIGTERM and SIGHUP. Commands ask between two pieces of work, and end by dropping what they write: files appear
//! complete or not at all. Another signal, from two seconds on, ends the process at once, unless the command must end
//! children first. Then a file `.hobgoblin-*.new` may be left beside an output.

use std::process::exit;
#[cfg(unix)]
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

#[cfg(unix)]
use rustix::process::Signal;

use crate::failure::{Failure, Result};

/// The time of the first signal.
static INTERRUPTED: OnceLock<Instant> = OnceLock::new();
/// A command ends within this time of a signal, unless a disk does not answer.
const PATIENCE: Duration = Duration::from_secs(2);
static HAS_CHILDREN: AtomicBool = AtomicBool::new(false);

/// Watch for signals from now on.
pub fn watch() {
    let seen = || {
        let first = INTERRUPTED.get_or_init(Instant::now);
        if first.elapsed() >= PATIENCE && !HAS_CHILDREN.load(Ordering::Relaxed) {
            exit(130);
        }
    };
    // Without a handler, Ctrl-C ends the process as usual.
    let _ = ctrlc::set_handler(seen);
    // With a handler for the limit of file sizes, a write returns an error. Without it the process would end.
    #[cfg(unix)]
    let _ = signal_hook::flag::register(Signal::XFSZ.as_raw(), Arc::new(AtomicBool::new(false)));
}

/// An error if there was a signal.
pub fn check() -> Result<()> {
    if INTERRUPTED.get().is_some() { Err(Failure::Interrupted) } else { Ok(()) }
}

/// While this lives, a second signal is ignored: the command ends its children within a second of the first.
pub struct Children(());

impl Children {
    pub fn guard() -> Self {
        HAS_CHILDREN.store(true, Ordering::Relaxed);
        Self(())
    }
}

impl Drop for Children {
    fn drop(&mut self) {
        HAS_CHILDREN.store(false, Ordering::Relaxed);
    }
}
