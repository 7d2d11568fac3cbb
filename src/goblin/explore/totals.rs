//! Trials with totals only: each makes the cost of one option distinguishable from the others'.

use super::{Explorer, Scope, Trial, fit};
use crate::base::Result;
use crate::goblin::config::LANES;
use crate::goblin::question::Question;
use crate::goblin::question::formulation::{Bar, Weighed};
use crate::goblin::tuning::{self, TUNING};

const TOTALS: &tuning::Totals = &TUNING.totals;

/// When the next trial is, and how many there were.
#[derive(Debug, Default)]
pub struct State {
    next_trial: u64,
    trials: u64,
}

impl Explorer {
    /// Put the option whose cost has the largest deviation, in the lane's unit, on trial for a frame. The smaller the
    /// deviations, the rarer the trials.
    pub(super) fn explore_totals(
        &mut self,
        question: &mut Question,
        scope: Scope<'_>,
        chosen: Weighed,
    ) -> Result<(Weighed, u32)> {
        let frame = scope.frame;
        if frame.now < self.totals.next_trial || !scope.learn.regression.knows() || !chosen.feasible {
            return Ok((chosen, 0));
        }
        scope.choose.price_changes(question, frame, [0.0; LANES], false);
        let limit = frame.economies[0].capacity.abs();
        let Some((deviation, trial)) = self.least_known(question, scope) else { return Ok((chosen, 0)) };
        let seldom = TOTALS.interval + self.totals.trials / TOTALS.trials_per_extra_decision;
        let wait = if deviation > TOTALS.well_known * limit { seldom } else { TOTALS.rare_interval };
        self.totals.trials += 1;
        let formulation = &mut question.formulation;
        let found = match fit::in_place(formulation, &trial, &chosen, frame.economies) {
            Some(found) => Some(found),
            None => fit::attempt(formulation, scope, &trial, &chosen, frame.economies)?,
        };
        self.note(question, scope, &trial, found.is_some());
        let calm = if scope.choose.pace.is_learning(frame.now) { 0 } else { calm_wait(question, scope) };
        self.totals.next_trial = frame.now + wait.min(TOTALS.rare_interval).max(calm);
        Ok(found.map_or((chosen, 0), |found| (found, 1)))
    }

    /// The option whose cost has the largest deviation, and that deviation. Chosen options, and options that wait for a
    /// retry, are not candidates.
    fn least_known(&self, question: &Question, scope: Scope<'_>) -> Option<(f64, Trial)> {
        let formulation = &question.formulation;
        let mut least: Option<(f64, Trial)> = None;
        for (at, entry) in formulation.entries.iter().enumerate() {
            let (setting, choice) = (question.setting(entry.position), formulation.choices[at]);
            for (option, state) in self.tried[entry.position].options.iter().enumerate() {
                let free = formulation.bars[entry.start + option] == Bar::Free;
                let waits = state.next_trial > scope.frame.now;
                if !setting.has_burden || !free || option == usize::from(choice) || waits {
                    continue;
                }
                let mut guess = formulation.weights_of(entry.start + option)[0];
                let deviation = scope.learn.regression.relative_deviation(entry.position, option) * guess.mean;
                if least.as_ref().is_none_or(|least| deviation > least.0) {
                    if state.failed == 0 {
                        guess.variance += deviation * deviation;
                    }
                    let optimism = TOTALS.optimism * f64::from(state.failed.min(TOTALS.most_optimism));
                    guess.mean = (guess.mean - optimism * deviation).max(0.0);
                    least = Some((deviation, Trial::of_known(at, option, &[guess])));
                }
            }
        }
        least
    }
}

/// Decisions in which the host wants as many changes as this trial and its return make, if only a share of all changes may
/// be of trials.
fn calm_wait(question: &Question, scope: Scope<'_>) -> u64 {
    let pairs = question.formulation.entries.iter().zip(&question.formulation.choices);
    let moved = pairs.filter(|(entry, choice)| scope.choose.kept[entry.position].settled != **choice).count();
    scope.frame.config.decisions_of(2.0 * moved as f64 / (TOTALS.calm_share * scope.frame.config.changes_per_second))
}
