//! Ctrl-C and SIGTERM. Commands ask between two pieces of work, and end by dropping what they write: files appear
//! complete or not at all. A second Ctrl-C ends the process at once.

use std::process::exit;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::failure::{Failure, Result};

static IS_INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Watch for Ctrl-C from now on.
pub fn watch() {
    let seen = || {
        if IS_INTERRUPTED.swap(true, Ordering::Relaxed) {
            exit(130);
        }
    };
    // Without a handler, Ctrl-C ends the process as usual.
    let _ = ctrlc::set_handler(seen);
}

/// An error if Ctrl-C was pressed.
pub fn check() -> Result<()> {
    if IS_INTERRUPTED.load(Ordering::Relaxed) { Err(Failure::Interrupted) } else { Ok(()) }
}
