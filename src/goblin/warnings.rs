//! Warnings about likely misuse of a goblin. Each is logged once, at [`Level::Warning`], so that misuse does not fail
//! silently.

use crate::base::{Level, host_log};

use super::config::{Burdens, Config, Exploration, LANE_NAMES, LANES};
use super::core::Core;
use super::question::strategy::Strategies;
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

impl Core {
    /// Check for misuse after a decision.
    pub(super) fn warn(&mut self) {
        let latest = self.history.latest();
        if !self.warnings.has_checked_limits {
            self.warnings.has_checked_limits = true;
            self.warn_of_limits();
        }
        if !self.warnings.has_checked_exploration {
            self.warn_of_exploration();
        }
        if self.warnings.shapes_changed {
            self.warnings.shapes_changed = false;
            self.warn_of_shapes();
        }
        if latest >= self.warnings.next_lane_check {
            self.warn_of_lanes(latest);
        }
    }

    fn warn_of_limits(&self) {
        if (0..LANES).all(|lane| !has_limit(&self.config, &self.strategies, lane)) {
            host_log(
                Level::Warning,
                format_args!(
                    "this goblin has no limit, neither in its desc nor in a strategy, so it keeps no frame inside a budget: \
                     set the limit of a lane"
                ),
            );
        }
    }

    fn warn_of_exploration(&mut self) {
        let Config { trial_limit, burdens, exploration, .. } = self.config;
        let is_off = trial_limit == 0 && burdens == Burdens::Learned && exploration == Exploration::Bounded;
        let is_known = self.books.statistics.samples > 0 || !self.past.tasks().is_empty();
        if is_off
            && !is_known
            && !self.settings.iter().any(|(_, setting)| setting.has_burden && setting.options.len() > 1)
        {
            return;
        }
        self.warnings.has_checked_exploration = true;
        if is_off && !is_known {
            host_log(
                Level::Warning,
                format_args!(
                    "trial_limit is 0 and nothing is known of any option, so settings stay at their default choices: \
                     raise trial_limit, or set a past profile"
                ),
            );
        }
    }

    fn warn_of_shapes(&mut self) {
        if self.warnings.has_logged_shapes {
            return;
        }
        let shapes = || self.settings.iter().map(|(_, setting)| (setting.task, setting.cells()));
        let other_of = |(task, cells): (usize, usize)| {
            shapes()
                .find(|&(other, count)| other == task && count != 0 && count != cells)
                .map(|(_, count)| (task, cells, count))
        };
        // A task has as many cells as its largest setting needs, so one of two differing settings has fewer.
        let is_smaller = |&(task, cells): &(usize, usize)| {
            let task = self.tasks.at(task);
            cells > 0 && cells != task.cells && task.users > 1
        };
        if let Some((task, cells, other)) = shapes().filter(is_smaller).find_map(other_of) {
            self.warnings.has_logged_shapes = true;
            host_log(
                Level::Warning,
                format_args!(
                    "settings with id '{}' have different numbers of options, {cells} and {other}, and learn from each other's \
                     samples: give them the same options, or different ids",
                    self.tasks.at(task).id
                ),
            );
        }
    }

    fn warn_of_lanes(&mut self, latest: u64) {
        let Self { warnings, settings, config, strategies, lanes, .. } = self;
        let has_burden = settings.iter().any(|(_, setting)| setting.has_burden && !setting.options.is_empty());
        // Without profiling only the first lane is measured.
        let is_measured = |lane: usize| match config.burdens {
            Burdens::Learned => true,
            Burdens::Relative | Burdens::Totals => lane == lanes.lane(0),
        };
        let should_be = |lane| has_burden && has_limit(config, strategies, lane) && is_measured(lane);
        let unmeasured = warnings.unmeasured(latest, should_be);
        for lane in (0..LANES).filter(|&lane| unmeasured[lane]) {
            host_log(
                Level::Warning,
                format_args!(
                    "lane {lane} ({}) has a limit, but {} decisions have passed without a sample or a total of it, \
                     so its cost is not known: measure it, or remove its limit",
                    LANE_NAMES[lane], TUNING.unmeasured_lane
                ),
            );
        }
    }
}

fn has_limit(config: &Config, strategies: &Strategies, lane: usize) -> bool {
    config.limits[lane].is_finite() || strategies.limit_lane(lane)
}
