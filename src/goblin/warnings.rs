//! Warnings about likely misuse of a goblin. Each is logged once, at [`Level::Warning`], so that misuse does not fail
//! silently.

use crate::base::{Level, host_log};

use super::config::{Burdens, Config, LANE_NAMES, LANES};
use super::lanes::Lanes;
use super::learn::Learn;
use super::question::Question;
use super::tuning::TUNING;

/// The warnings logged so far, and the checks to come.
#[derive(Debug)]
pub struct Warnings {
    has_checked_limits: bool,
    has_checked_exploration: bool,
    /// Options were replaced by another number of them.
    shapes_changed: bool,
    has_logged_shapes: bool,
    /// By the host's lane.
    lanes: [Watched; LANES],
    /// The decision after which lanes are checked next.
    next_lane_check: u64,
}

/// The check of a lane that should be measured.
#[derive(Clone, Copy, Debug, Default)]
struct Watched {
    /// The lane is governed from this decision on.
    since: u64,
    /// Whether it was measured or the warning was logged.
    is_done: bool,
}

impl Default for Warnings {
    fn default() -> Self {
        Self {
            has_checked_limits: false,
            has_checked_exploration: false,
            shapes_changed: false,
            has_logged_shapes: false,
            lanes: [Watched { since: 1, is_done: false }; LANES],
            next_lane_check: TUNING.unmeasured_lane,
        }
    }
}

impl Warnings {
    /// Report a sample or a total of the host's lane, good or not.
    pub fn measured(&mut self, lane: usize) {
        self.lanes[lane].is_done = true;
    }

    /// Report that a lane is governed from a decision on.
    pub fn govern(&mut self, lane: usize, decision: u64) {
        self.lanes[lane].since = decision;
        self.next_lane_check = self.next_lane_check.min(decision + TUNING.unmeasured_lane - 1);
    }

    /// Options were replaced by another number of them.
    pub fn change_shape(&mut self) {
        self.shapes_changed = true;
    }

    /// The lanes that have not been measured for too long. Each is returned once.
    fn unmeasured(&mut self, latest: u64, should_be: impl Fn(usize) -> bool) -> [bool; LANES] {
        self.next_lane_check = u64::MAX;
        let mut found = [false; LANES];
        for (lane, watched) in self.lanes.iter_mut().enumerate().filter(|(_, watched)| !watched.is_done) {
            let due = watched.since + TUNING.unmeasured_lane - 1;
            if due > latest {
                self.next_lane_check = self.next_lane_check.min(due);
            } else if should_be(lane) {
                watched.is_done = true;
                found[lane] = true;
            } else {
                // Check again later, for example when there are settings.
                self.next_lane_check = self.next_lane_check.min(latest + TUNING.unmeasured_lane);
            }
        }
        found
    }
}

/// The rooms that are checked for misuse.
#[derive(Clone, Copy)]
pub struct Checked<'a> {
    pub config: &'a Config,
    pub lanes: &'a Lanes,
    pub question: &'a Question,
    pub learn: &'a Learn,
}

impl Warnings {
    /// Check for misuse after a decision.
    pub fn check(&mut self, of: Checked<'_>) {
        if !self.has_checked_limits {
            self.has_checked_limits = true;
            of.check_limits();
        }
        if !self.has_checked_exploration {
            self.has_checked_exploration = of.check_exploration();
        }
        if self.shapes_changed {
            self.shapes_changed = false;
            self.has_logged_shapes = self.has_logged_shapes || of.check_shapes();
        }
        let latest = of.learn.history.latest();
        if latest >= self.next_lane_check {
            let unmeasured = self.unmeasured(latest, |lane| of.should_be_measured(lane));
            (0..LANES).filter(|&lane| unmeasured[lane]).for_each(warn_of_lane);
        }
    }
}

impl Checked<'_> {
    fn check_limits(&self) {
        if (0..LANES).all(|lane| !self.has_limit(lane)) {
            host_log(
                Level::Warning,
                format_args!(
                    "this goblin has no limit, neither in its desc nor in a strategy, so it keeps no frame inside a budget: \
                     set the limit of a lane"
                ),
            );
        }
    }

    /// Returns whether it is clear if exploration is needed.
    fn check_exploration(&self) -> bool {
        let is_off = self.config.trial_limit == 0 && self.config.learns_samples();
        let is_known = self.learn.books.statistics.samples > 0 || !self.learn.past.tasks().is_empty();
        let mut settings = self.question.settings.iter();
        if !is_off || is_known {
            return true;
        }
        let has_unknown = settings.any(|(_, setting)| setting.has_burden && setting.options.len() > 1);
        if has_unknown {
            host_log(
                Level::Warning,
                format_args!(
                    "trial_limit is 0 and nothing is known of any option, so settings stay at their default choices: \
                     raise trial_limit, or set a past profile"
                ),
            );
        }
        has_unknown
    }

    /// Returns whether settings with one id differ.
    fn check_shapes(&self) -> bool {
        let shapes = || self.question.settings.iter().map(|(_, setting)| (setting.task, setting.cells()));
        let other_of = |(task, cells): (usize, usize)| {
            shapes()
                .find(|&(other, count)| other == task && count != 0 && count != cells)
                .map(|(_, count)| (task, cells, count))
        };
        // A task has as many cells as its largest setting needs, so one of two differing settings has fewer.
        let is_smaller = |&(task, cells): &(usize, usize)| {
            let task = self.learn.tasks.at(task);
            cells > 0 && cells != task.cells && task.users > 1
        };
        let Some((task, cells, other)) = shapes().filter(is_smaller).find_map(other_of) else { return false };
        host_log(
            Level::Warning,
            format_args!(
                "settings with id '{}' have different numbers of options, {cells} and {other}, and learn from each other's \
                 samples: give them the same options, or different ids",
                self.learn.tasks.at(task).id
            ),
        );
        true
    }

    /// Whether a lane has a limit, and something to measure.
    fn should_be_measured(&self, lane: usize) -> bool {
        let mut settings = self.question.settings.iter();
        let has_burden = settings.any(|(_, setting)| setting.has_burden && !setting.options.is_empty());
        // Without profiling only the first lane is measured.
        let is_measured = self.config.burdens == Burdens::Learned || lane == self.lanes.lane(0);
        has_burden && self.has_limit(lane) && is_measured
    }

    fn has_limit(&self, lane: usize) -> bool {
        self.config.limits[lane].is_finite() || self.question.strategies.limit_lane(lane)
    }
}

fn warn_of_lane(lane: usize) {
    host_log(
        Level::Warning,
        format_args!(
            "lane {lane} ({}) has a limit, but {} decisions have passed without a sample or a total of it, so its cost is \
             not known: measure it, or remove its limit",
            LANE_NAMES[lane], TUNING.unmeasured_lane
        ),
    );
}
