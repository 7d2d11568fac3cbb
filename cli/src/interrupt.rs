//! Ctrl-C and SIGTERM. Commands ask between two pieces of work, and end by dropping what they write: files appear
//! complete or not at all. A second Ctrl-C ends the process at once, unless the command must end children first.

use std::process::exit;
#[cfg(unix)]
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

#[cfg(unix)]
use rustix::process::Signal;

use crate::failure::{Failure, Result};

static IS_INTERRUPTED: AtomicBool = AtomicBool::new(false);
static HAS_CHILDREN: AtomicBool = AtomicBool::new(false);

/// Watch for Ctrl-C from now on.
pub fn watch() {
    let seen = || {
        if IS_INTERRUPTED.swap(true, Ordering::Relaxed) && !HAS_CHILDREN.load(Ordering::Relaxed) {
            exit(130);
        }
    };
    // Without a handler, Ctrl-C ends the process as usual.
    let _ = ctrlc::set_handler(seen);
    // With a handler for the limit of file sizes, a write returns an error. Without it the process would end.
    #[cfg(unix)]
    let _ = signal_hook::flag::register(Signal::XFSZ.as_raw(), Arc::new(AtomicBool::new(false)));
}

/// An error if Ctrl-C was pressed.
pub fn check() -> Result<()> {
    if IS_INTERRUPTED.load(Ordering::Relaxed) { Err(Failure::Interrupted) } else { Ok(()) }
}

/// While this lives, a second Ctrl-C is ignored: the command ends its children within a second of the first.
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
