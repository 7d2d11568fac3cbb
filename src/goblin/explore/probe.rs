//! Trials after the learning phase: one of one setting at a time, which lasts a second so that it does not look like a
//! flicker.

use super::guess::typical_steps;
use super::{Explorer, Scope, TRIAL, Trial, fit};
use crate::goblin::config::LANES;
use crate::goblin::question::Question;
use crate::goblin::question::formulation::{Bar, Weighed};
use crate::knapsack::several::Weight;

/// A trial that lasts a second.
#[derive(Clone, Copy, Debug)]
pub struct Probe {
    pub position: usize,
    option: u16,
    /// The settled choice that it replaces.
    settled: u16,
    /// Its assumed cost until it is measured.
    guess: [Weight; LANES],
    began: u64,
}

impl Explorer {
    /// Continue the present trial, or begin another one. Returns the totals and the number of trials.
    pub(super) fn probe(&mut self, question: &mut Question, scope: Scope<'_>, chosen: Weighed) -> (Weighed, u32) {
        if let Some(probe) = self.probe {
            if let Some(found) = go_on(&probe, question, scope, &chosen) {
                return (found, 1);
            }
            self.probe = None;
        }
        let (now, choose) = (scope.frame.now, scope.choose);
        let is_quiet = now > choose.target.last_change() + TRIAL.quiet;
        if now < self.next_probe || !is_quiet || !chosen.feasible || choose.pace.allowance() < 2 {
            return (chosen, 0);
        }
        self.begin_probe(question, scope, &chosen).map_or((chosen, 0), |found| (found, 1))
    }

    /// Begin the first trial that fits and gains.
    fn begin_probe(&mut self, question: &mut Question, scope: Scope<'_>, chosen: &Weighed) -> Option<Weighed> {
        let frame = scope.frame;
        let risky = self.risky(frame, false);
        let risky = &risky[..frame.economies.len()];
        let steps = typical_steps(&question.formulation, frame.economies);
        for at in self.order(question) {
            self.give_up(question, frame, at);
            let Some((option, cause)) = self.next_trial(question, scope, at) else { continue };
            let position = question.formulation.entries[at].position;
            let settled = question.formulation.choices[at];
            let mut trial = self.trial(question, scope, at, option, cause, chosen.feasible, &steps);
            trial.must_gain = true;
            let against = if trial.guessed.1 > 0.0 { risky } else { frame.economies };
            let found = fit::in_place(&mut question.formulation, &trial, chosen, against);
            self.note(question, scope, &trial, found.is_some());
            let Some(found) = found else { continue };
            self.cursor = at + 1;
            self.next_probe = frame.now + TRIAL.interval;
            self.probe = Some(Probe { position, option: option as u16, settled, guess: trial.guess, began: frame.now });
            return Some(found);
        }
        None
    }
}

/// Continue the present trial while it is allowed.
fn go_on(probe: &Probe, question: &mut Question, scope: Scope<'_>, chosen: &Weighed) -> Option<Weighed> {
    let formulation = &mut question.formulation;
    let at = formulation.entries.iter().position(|entry| entry.position == probe.position)?;
    let entry = formulation.entries[at];
    let option = entry.start + usize::from(probe.option);
    let is_over = scope.frame.now >= probe.began + TRIAL.length;
    if is_over || formulation.choices[at] != probe.settled || !chosen.feasible || option >= entry.end {
        return None;
    }
    let weights = match formulation.bars[option] {
        Bar::Free => formulation.weights_of(option),
        Bar::Untried => &probe.guess,
        _ => return None,
    };
    let trial = Trial::of_known(at, usize::from(probe.option), weights);
    fit::in_place(formulation, &trial, chosen, scope.frame.held)
}
