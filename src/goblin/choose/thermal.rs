//! The thermal view: how much of a limit a device can sustain, by the thermal headroom that its platform reports.
//!
//! Full load for minutes heats a device until it throttles, and a throttled frame is late at once. Costs cannot show how
//! near that is, so the host passes on its platform's headroom. The *share* is the part of the lane's limit that choices
//! may use. A regulator moves it at most once in ten seconds: the heat may rise at a speed that would reach the target in
//! [`TUNING`]`.thermal.reach`. The share falls in proportion to the excess of the measured speed over that, and rises
//! by the same law. So it is an integral controller of the speed, or a PI controller of the heat in velocity form
//! (K. J. Åström and T. Hägglund, "PID Controllers", 1995), and needs no model of the device. How strongly a device answers
//! is not known: a step that is followed by one back, of more than half its size, was too large. So the next ones are half
//! as large, and grow again slowly.

use crate::base::{Number, Result, error};
use crate::goblin::config::LANES;
use crate::goblin::core::Core;
use crate::goblin::tuning::TUNING;

/// The regulator of a lane.
#[derive(Clone, Copy, Debug)]
pub struct Thermal {
    /// Share of the limit that the regulator wants, and the share in force.
    wanted: f64,
    share: f64,
    /// Sum and number of the reports since the last step.
    sum: f64,
    count: u32,
    /// Mean report before the last step, and the decision of that; at first none.
    before: Option<(f64, u64)>,
    /// The decision of the latest report; 0 before the first.
    reported: u64,
    /// The last change of the wanted share, and a factor on the next ones.
    moved: f64,
    caution: f64,
}

impl Default for Thermal {
    fn default() -> Self {
        Self { wanted: 1.0, share: 1.0, sum: 0.0, count: 0, before: None, reported: 0, moved: 0.0, caution: 1.0 }
    }
}

impl Thermal {
    /// The share of the limit that choices may use.
    pub fn share(&self) -> f64 {
        self.share
    }

    /// Take a report: 1 is the heat at which the device throttles.
    pub fn report(&mut self, heat: f64, now: u64) {
        self.sum += heat;
        self.count += 1;
        self.reported = now;
    }

    /// Move the share, if it is time. `used`: the share of the limit that the present choices use. `second`: decisions in
    /// a second.
    pub fn step(&mut self, now: u64, used: f64, second: f64) {
        if self.reported == 0 {
            return;
        }
        let seconds = |from: u64| now.saturating_sub(from) as f64 / second;
        if seconds(self.reported) > TUNING.thermal.forgotten {
            // The host has ceased to report.
            *self = Self::default();
            return;
        }
        let Some((before, at)) = self.before else {
            // The first step only sets the reference.
            self.before = self.mean().map(|heat| (heat, now));
            return;
        };
        let passed = seconds(at);
        if passed < TUNING.thermal.interval {
            return;
        }
        let Some(heat) = self.mean() else { return };
        self.before = Some((heat, now));
        let speed = (heat - before) / passed;
        // A device that answers quickly swings more, so its target is lower.
        let target = TUNING.thermal.target - TUNING.thermal.cautious_room * (1.0 - self.caution);
        let allowed = (target - heat) / TUNING.thermal.reach;
        let whole = TUNING.thermal.gain * TUNING.thermal.interval * (allowed - speed);
        let is_back = self.moved * whole < 0.0 && self.moved.abs() > TUNING.thermal.large_step;
        let caution = match is_back && (self.caution * whole).abs() > 0.5 * self.moved.abs() {
            true => 0.5 * self.caution,
            false => TUNING.thermal.recovery * self.caution,
        };
        self.caution = caution.clamp(TUNING.thermal.least_caution, 1.0);
        let push = self.caution * whole;
        // A share that the choices do not use cannot cool the device.
        let from = if push < 0.0 { self.wanted.min(used + TUNING.thermal.dead_zone) } else { self.wanted };
        let wanted = (from + push).clamp(TUNING.thermal.least_share, 1.0);
        self.moved = wanted - std::mem::replace(&mut self.wanted, wanted);
        if (self.wanted - self.share).abs() > TUNING.thermal.dead_zone || self.wanted == 1.0 {
            self.share = self.wanted;
        }
    }

    /// Mean of the reports since the last call.
    fn mean(&mut self) -> Option<f64> {
        let mean = self.sum / f64::from(self.count);
        let is_any = self.count > 0;
        (self.sum, self.count) = (0.0, 0);
        is_any.then_some(mean)
    }
}

impl Core {
    pub(in crate::goblin) fn set_thermal_headroom(&mut self, lane: u32, headroom: f64) -> Result<()> {
        let now = self.latest_decision() + 1;
        let Some(thermal) = self.choose.thermals.get_mut(lane as usize) else {
            return Err(error!(InvalidArgument, "lane {lane} does not exist: there are {LANES}"));
        };
        if !(0.0..=100.0).contains(&headroom) {
            return Err(error!(
                InvalidArgument,
                "thermal headroom {} must be 0 to 100: make no call if the platform has no value",
                Number(headroom)
            ));
        }
        thermal.report(headroom, now);
        Ok(())
    }

    /// Let every lane's share follow its reports.
    pub(in crate::goblin) fn step_thermals(&mut self) {
        let now = self.latest_decision() + 1;
        let (limits, decision) = (*self.limits(), &self.decision);
        for lane in self.lanes.iter() {
            let used = decision.burden[lane] / limits[lane];
            self.choose.thermals[lane].step(now, used, self.config.decisions_per_second);
        }
    }
}
