//! Trials after the learning phase: one of one setting at a time, which lasts a second so that it does not look like a
//! flicker. Other settings make room for an option with few samples, if it fits in no other way; this is rare.

use super::candidate::Cause;
use super::guess::typical_steps;
use super::{Explorer, Scope, TRIAL, Trial, fit};
use crate::base::Result;
use crate::goblin::config::{Config, LANES};
use crate::goblin::learn::calibrate::Calibration;
use crate::goblin::question::Question;
use crate::goblin::question::formulation::{Bar, Formulation, Weighed, weigh};
use crate::knapsack::Economy;
use crate::knapsack::several::Weight;

/// A trial that lasts a second.
#[derive(Clone, Copy, Debug)]
pub struct Probe {
    pub position: usize,
    option: u16,
    /// The settled choice that it replaces.
    settled: u16,
    /// Its assumed cost until it is measured again.
    guess: [Weight; LANES],
    began: u64,
    /// Number of its frames that were over a limit.
    pub late: u32,
    /// The settings that make room for it.
    moved: [Option<Moved>; TRIAL.most_changes],
}

impl Probe {
    /// The decision that ends the trial, unless it ends early.
    pub fn end(&self, config: &Config) -> u64 {
        let second = (TRIAL.seconds * config.decisions_per_second).ceil() as u64;
        self.began + second.max(TRIAL.least_length)
    }
}

/// A setting that makes room for a trial.
#[derive(Clone, Copy, Debug)]
struct Moved {
    position: usize,
    settled: u16,
    /// Its choice during the trial.
    choice: u16,
}

impl Explorer {
    /// Continue the present trial, or begin another one. Returns the totals and the number of trials.
    pub(super) fn probe(
        &mut self,
        question: &mut Question,
        scope: Scope<'_>,
        chosen: Weighed,
    ) -> Result<(Weighed, u32)> {
        if let Some(probe) = self.probe {
            if let Some(found) = go_on(&probe, question, scope, &chosen) {
                return Ok((found, 1));
            }
            self.probe = None;
        }
        let (now, choose) = (scope.frame.now, scope.choose);
        let is_quiet = now > choose.target.last_change() + scope.frame.config.decisions_of(TRIAL.quiet);
        if now < self.next_probe || !is_quiet || !chosen.feasible || choose.pace.trial_allowance() == 0 {
            return Ok((chosen, 0));
        }
        Ok(self.begin_probe(question, scope, &chosen)?.map_or((chosen, 0), |found| (found, 1)))
    }

    /// Begin the first trial that fits and gains.
    fn begin_probe(&mut self, question: &mut Question, scope: Scope<'_>, chosen: &Weighed) -> Result<Option<Weighed>> {
        let frame = scope.frame;
        let risky = self.risky(frame, false);
        let risky = &risky[..frame.economies.len()];
        let steps = typical_steps(&question.formulation, frame.economies);
        let room_interval = frame.config.decisions_of(TRIAL.room_interval);
        if self.next_room == 0 {
            self.next_room = frame.now + room_interval;
        }
        for at in self.order(question) {
            self.give_up(question, scope, at);
            let Some((option, cause)) = self.next_trial(question, scope, at) else { continue };
            let position = question.formulation.entries[at].position;
            let settled = question.formulation.choices[at];
            let is_little_known = matches!(cause, Cause::Unknown | Cause::FewSamples | Cause::Confirm);
            if !is_little_known && is_affordable(&question.formulation, at, option, chosen, frame.economies) {
                // The trial would change no decision.
                continue;
            }
            let mut trial = self.trial(question, scope, at, option, cause, chosen.feasible, &steps);
            trial.must_gain = true;
            let against = if trial.guessed.1 > 0.0 { risky } else { frame.economies };
            let formulation = &mut question.formulation;
            let mut found = fit::in_place(formulation, &trial, chosen, against);
            let may_solve = frame.now >= self.next_room && formulation.solved < TRIAL.most_solves;
            if found.is_none() && is_little_known && may_solve {
                found = fit::attempt(formulation, scope, &trial, chosen, against)?;
                self.next_room = frame.now + if found.is_some() { room_interval } else { TRIAL.retry_wait };
            }
            self.note(question, scope, &trial, found.is_some());
            let Some(found) = found else { continue };
            self.cursor = at + 1;
            self.next_probe = frame.now + frame.config.decisions_of(TRIAL.interval);
            let (guess, moved) = (trial.guess, moved(&question.formulation, scope, at));
            self.probe =
                Some(Probe { position, option: option as u16, settled, guess, began: frame.now, late: 0, moved });
            return Ok(Some(found));
        }
        Ok(None)
    }
}

/// Whether an option fits beside the present choices by its estimate, so that no trial is needed to choose it.
fn is_affordable(formulation: &Formulation, at: usize, option: usize, chosen: &Weighed, economies: &[Economy]) -> bool {
    let entry = formulation.entries[at];
    let (present, option) = (entry.start + usize::from(formulation.choices[at]), entry.start + option);
    let mut sum = chosen.sum;
    sum.add(formulation.values[present], formulation.weights_of(present), -1.0);
    sum.add(formulation.values[option], formulation.weights_of(option), 1.0);
    weigh(&sum, economies).feasible
}

/// The settings that the trial at this entry has moved.
fn moved(formulation: &Formulation, scope: Scope<'_>, at: usize) -> [Option<Moved>; TRIAL.most_changes] {
    let pairs = formulation.entries.iter().zip(&formulation.choices).enumerate();
    let others = pairs.filter(|(other, _)| *other != at).map(|(_, pair)| pair);
    let mut others = others.filter_map(|(entry, &choice)| {
        let (position, settled) = (entry.position, scope.choose.kept[entry.position].settled);
        (settled != choice).then_some(Moved { position, settled, choice })
    });
    std::array::from_fn(|_| others.next())
}

/// Change the choice of each moved setting with `to`. Returns false if a setting has changed otherwise, or its option may
/// not be chosen.
fn make_room(formulation: &mut Formulation, moved: &[Option<Moved>], to: impl Fn(&Moved) -> u16) -> bool {
    moved.iter().flatten().all(|moved| {
        let at = formulation.entries.iter().position(|entry| entry.position == moved.position);
        let Some(at) = at else { return false };
        let (entry, to) = (formulation.entries[at], to(moved));
        let option = entry.start + usize::from(to);
        let may = option < entry.end && formulation.bars[option] == Bar::Free;
        if may && [moved.settled, moved.choice].contains(&formulation.choices[at]) {
            formulation.choices[at] = to;
            return true;
        }
        false
    })
}

/// Continue the present trial while it is allowed.
fn go_on(probe: &Probe, question: &mut Question, scope: Scope<'_>, chosen: &Weighed) -> Option<Weighed> {
    let Question { settings, formulation, .. } = question;
    let at = formulation.entries.iter().position(|entry| entry.position == probe.position)?;
    let entry = formulation.entries[at];
    let option = entry.start + usize::from(probe.option);
    let is_over = scope.frame.now >= probe.end(scope.frame.config) || probe.late >= TRIAL.most_late;
    // Totals of trials are not compared with forecasts, so a change of all costs would go unnoticed until the end.
    let shifts = scope.learn.calibrations.iter().any(Calibration::is_shifting);
    if is_over || shifts || formulation.choices[at] != probe.settled || !chosen.feasible || option >= entry.end {
        return None;
    }
    let setting = settings.at(probe.position)?;
    let is_measured =
        scope.learn.sampled[probe.position].latest[setting.cell(usize::from(probe.option))] >= probe.began;
    let weights = match formulation.bars[option] {
        Bar::Free if is_measured => formulation.weights_of(option),
        Bar::Free | Bar::Untried => &probe.guess,
        _ => return None,
    };
    let trial = Trial::of_known(at, usize::from(probe.option), weights);
    let found = make_room(formulation, &probe.moved, |moved| moved.choice).then(|| {
        let beside = weigh(&formulation.sum(&formulation.choices), scope.frame.held);
        fit::in_place(formulation, &trial, &Weighed { feasible: chosen.feasible, ..beside }, scope.frame.held)
    });
    let found = found.flatten();
    if found.is_none() {
        make_room(formulation, &probe.moved, |moved| moved.settled);
    }
    found
}
