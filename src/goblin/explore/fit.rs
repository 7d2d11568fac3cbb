//! Fits a trial into a frame: beside the present choices, or with the other settings solved around it.

use super::{Scope, TRIAL, Trial};
use crate::base::Result;
use crate::goblin::choose::steady::rough;
use crate::goblin::question::formulation::{Formulation, Weighed, weigh};
use crate::knapsack::{Economy, NO_CHOICE};

/// Add the trial without changing other settings, if it fits.
pub fn in_place(
    formulation: &mut Formulation,
    trial: &Trial,
    weighed: &Weighed,
    against: &[Economy],
) -> Option<Weighed> {
    let entry = formulation.entries[trial.entry];
    let present = entry.start + usize::from(formulation.choices[trial.entry]);
    let option = entry.start + trial.option;
    let guess = &trial.guess[..against.len()];
    let mut sum = weighed.sum;
    sum.add(formulation.values[present], formulation.weights_of(present), -1.0);
    sum.add(formulation.values[option], guess, 1.0);
    let found = weigh(&sum, against);
    if !found.feasible || (trial.must_gain && found.sum.value <= weighed.sum.value) {
        return None;
    }
    formulation.weights_of_mut(option).copy_from_slice(guess);
    formulation.choices[trial.entry] = trial.option as u16;
    Some(Weighed { feasible: weighed.feasible, ..found })
}

/// Solve the other settings around the trial. Returns the totals if the trial is accepted.
pub fn attempt(
    formulation: &mut Formulation,
    scope: Scope<'_>,
    trial: &Trial,
    before: &Weighed,
    against: &[Economy],
) -> Result<Option<Weighed>> {
    let option = formulation.entries[trial.entry].start + trial.option;
    formulation.set_aside.clear();
    formulation.set_aside.extend_from_slice(&formulation.weights[option * formulation.lanes..][..formulation.lanes]);
    formulation.weights_of_mut(option).copy_from_slice(&trial.guess[..against.len()]);
    // Other trials of this frame keep their options.
    for (entry, &choice) in formulation.entries.iter_mut().zip(&formulation.choices) {
        let is_settled = choice == scope.choose.kept[entry.position].settled;
        entry.forced = if is_settled { NO_CHOICE } else { choice };
    }
    formulation.entries[trial.entry].forced = trial.option as u16;
    let solved = formulation.solve(against, rough(scope.frame.effort()), TRIAL.change_penalty);
    formulation.entries.iter_mut().for_each(|entry| entry.forced = NO_CHOICE);
    let found = solved.map(|_| weigh(&formulation.sum(&formulation.found), against));
    let excess_before = || before.worst_excess(scope.frame.economies);
    let is_on = found.as_ref().is_ok_and(|found| match trial.must_gain {
        true => found.feasible && found.sum.value > before.sum.value,
        // When nothing fits, an option that may be lighter is worth a try.
        false => found.feasible || (!before.feasible && found.worst_excess(against) < excess_before()),
    });
    if is_on && !changes_too_many(formulation, scope) {
        formulation.accept();
        return found.map(Some);
    }
    let set_aside = std::mem::take(&mut formulation.set_aside);
    formulation.weights_of_mut(option).copy_from_slice(&set_aside);
    formulation.set_aside = set_aside;
    found.map(|_| None)
}

/// Whether the trial that was found changes more settings than the pace allows, or too many for the time after the
/// learning phase.
fn changes_too_many(formulation: &Formulation, scope: Scope<'_>) -> bool {
    let pairs = formulation.choices.iter().zip(&formulation.found);
    let changed = pairs.filter(|(choice, found)| choice != found).count();
    changed > scope.choose.pace.trial_allowance()
        || (changed > TRIAL.most_changes && scope.choose.target.is_settled(scope.frame.now))
}
