//! Progress bars on standard error. They are hidden if it is no terminal.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use crate::failure::Result;
use crate::interrupt;

/// The progress of long work, in steps. Dropping it removes the bar.
pub struct Progress(ProgressBar);

impl Progress {
    /// Work of `steps` steps.
    pub fn new(action: &'static str, steps: u64, is_quiet: bool) -> Self {
        let bar = if is_quiet { ProgressBar::hidden() } else { ProgressBar::new(steps) };
        let template = "{msg} {bar:30} {human_pos}/{human_len}, {eta} left";
        bar.set_style(ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.set_message(action);
        Self(bar)
    }

    /// Work of unknown length.
    pub fn unknown(action: &'static str, is_quiet: bool) -> Self {
        let bar = if is_quiet { ProgressBar::hidden() } else { ProgressBar::new_spinner() };
        bar.set_message(action);
        bar.enable_steady_tick(Duration::from_millis(100));
        Self(bar)
    }

    /// So many steps are done. An error after Ctrl-C.
    pub fn reach(&self, steps: u64) -> Result<()> {
        self.0.set_position(steps);
        interrupt::check()
    }

    /// So many of `all` steps are done. An error after Ctrl-C.
    pub fn reach_of(&self, steps: u64, all: u64) -> Result<()> {
        self.0.set_length(all);
        self.reach(steps)
    }

    /// One step is done. An error after Ctrl-C.
    pub fn step(&self) -> Result<()> {
        self.0.inc(1);
        interrupt::check()
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
