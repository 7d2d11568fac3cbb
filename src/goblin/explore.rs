//! Trying what is not known, without paying for it with the frame.
//!
//! The solver chooses among what is known. Beside it, an unknown option may be put on *trial*: chosen for one frame, with
//! the other settings re-solved around it, so that a cautious guess of its burden still fits. What it cost comes back
//! as a sample some frames later; from then on it is known. So the worst that a trial can do is one frame over the
//! limit, by as much as the guess was wrong.
//!
//! Three kinds of options deserve a trial, in this order: those without any data; those with so few samples that one
//! hitch could have spoiled them; and better ones than the present choice that were found too dear a while ago. The
//! guess for an option without data is the dearest known option of lower value plus a step (as much again, or an equal
//! share of the limit), since ladders mostly climb; each trial that finds no room halves the step and doubles the wait.

use crate::base::Result;
use crate::knapsack::{Candidate, Economy, Effort, NO_CHOICE, Solution};
use crate::profile::{Burden, Source};

use super::Goblin;
use super::config::LARGEST;
use super::decide::Entry;
use super::steady::weigh;

/// Samples after which an option needs no more trials.
const FEW_SAMPLES: u64 = 3;
/// Decisions after which a trial's sample will no longer come.
const LOST_AFTER: u64 = 32;
/// Decisions until a trial that found no room is considered again; doubled each time.
const NO_ROOM_WAIT: u64 = 16;
/// Decisions after which knowledge of a better option is stale; doubled each time it proves still too dear.
const STALE_AFTER: u64 = 400;
/// Trials without room after which a few samples are no longer believed.
const DOUBTED_AFTER: u8 = 3;
/// Decisions between two trials of stale knowledge: each is a frame that looks different.
const STALE_APART: u64 = 60;
/// Most doublings.
const LONGEST_WAIT: u8 = 8;
/// Knapsacks solved in a decision for each trial that is allowed.
const ATTEMPTS: u32 = 2;

/// Why an option deserves a trial.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Reason {
    Unknown,
    FewSamples,
    Stale,
}

/// An option that deserves a trial.
struct Trial {
    entry: usize,
    option: usize,
    reason: Reason,
    mean: f64,
    variance: f64,
}

impl Goblin {
    /// Put options on trial, as many as allowed and as fit; the solution with them, and how many.
    pub(super) fn explore(&mut self, chosen: Solution, economy: Economy, effort: Effort) -> Result<(Solution, u32)> {
        let (mut solution, mut trials) = (chosen, 0);
        let mut attempts = ATTEMPTS.saturating_mul(self.config.explore_limit);
        let count = self.formulation.entries.len();
        let first = self.explore_cursor;
        for step in 0..count {
            if trials == self.config.explore_limit || attempts == 0 {
                break;
            }
            let at = (first + step) % count;
            self.give_up(at);
            let Some(trial) = self.next_trial(at, &solution) else { continue };
            self.explore_cursor = at + 1;
            attempts -= 1;
            if let Some(found) = self.attempt(&trial, &solution, economy, effort)? {
                solution = found;
                trials += 1;
            }
        }
        Ok((solution, trials))
    }

    /// A trial whose sample has not come for long led nowhere, and the next waits longer.
    fn give_up(&mut self, at: usize) {
        let position = self.formulation.entries[at].position;
        let (now, latest) = (self.history.latest() + 1, self.history.latest());
        let setting = self.setting_mut(position);
        if setting.on_trial == 0 || now - setting.on_trial < LOST_AFTER {
            return;
        }
        setting.on_trial = 0;
        if let Some(state) = setting.options.get_mut(usize::from(setting.tried)) {
            state.lost_trials = state.lost_trials.saturating_add(1);
            state.next_trial = latest + (LOST_AFTER << state.lost_trials.min(LONGEST_WAIT));
        }
    }

    /// The option of an entry that deserves a trial most.
    fn next_trial(&self, at: usize, solution: &Solution) -> Option<Trial> {
        let entry = self.formulation.entries[at];
        let setting = self.setting(entry.position);
        let now = self.history.latest() + 1;
        let waiting = setting.on_trial != 0;
        let choice = self.formulation.choices[at];
        if !setting.has_burden || !entry.known || waiting || choice == NO_CHOICE {
            return None;
        }
        let task = self.tasks.at(setting.task);
        let present = setting.options[usize::from(choice)].desc.value;
        let deserving = setting.options.iter().enumerate().filter_map(|(option, state)| {
            if option == usize::from(choice) || !state.desc.ready || state.next_trial > now {
                return None;
            }
            let samples = task.learned[option].run.count();
            let has_past = task.past().is_some_and(|past| past[option].is_solid());
            let reason = match self.formulation.burdens[entry.start + option].source {
                Source::Blind => Reason::Unknown,
                _ if !has_past && samples < FEW_SAMPLES => Reason::FewSamples,
                _ if self.next_stale_trial > now || state.desc.value <= present => return None,
                _ if now - state.measured.min(now) > STALE_AFTER => Reason::Stale,
                _ => return None,
            };
            Some((reason, state.desc.value, option))
        });
        let first = |a: &(Reason, f64, usize), b: &(Reason, f64, usize)| {
            a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2))
        };
        let (reason, _, option) = deserving.min_by(first)?;
        let (mean, variance) = self.guess(&entry, option, reason, solution);
        Some(Trial { entry: at, option, reason, mean, variance })
    }

    /// What to reckon a trial with.
    fn guess(&self, entry: &Entry, option: usize, reason: Reason, solution: &Solution) -> (f64, f64) {
        let setting = self.setting(entry.position);
        let burdens = &self.formulation.burdens[entry.start..entry.end];
        let own = burdens[option].normal;
        match reason {
            // Found no room for long: perhaps all it ever was is a hitch, so it is guessed anew.
            Reason::FewSamples if setting.options[option].failed_trials < DOUBTED_AFTER => {
                return (own.mean, own.variance);
            }
            Reason::FewSamples => {}
            // What it cost when nothing got in its way; less each time that leads nowhere, for that may be wrong too.
            Reason::Stale => {
                let lowest = self.tasks.at(setting.task).learned[option].lowest * setting.work * self.common();
                let halved = 0.5f64.powi(i32::from(setting.options[option].failed_trials));
                return (own.mean.min(lowest) * halved, 0.0);
            }
            Reason::Unknown => {}
        }
        let state = &setting.options[option];
        let known = || {
            let sure = |(other, burden): &(usize, &Burden)| *other != option && burden.source != Source::Blind;
            burdens.iter().enumerate().filter(sure)
        };
        let below = known().filter(|(other, _)| setting.options[*other].desc.value <= state.desc.value);
        let dearest_below = below.map(|(_, burden)| burden.normal.mean).fold(f64::NEG_INFINITY, f64::max);
        if dearest_below < 0.0 || !solution.feasible {
            // All that is known is more valuable, and so probably heavier; or nothing known fits, and all else is better.
            let lightest = known().map(|(_, burden)| burden.normal.mean).fold(f64::INFINITY, f64::min);
            return (if solution.feasible { lightest } else { lightest / 2.0 }, 0.0);
        }
        let limit = self.config.limit();
        // No burden is larger than `LARGEST`, whatever the limit.
        let share =
            if limit.is_finite() { limit.clamp(0.0, LARGEST) / self.formulation.entries.len() as f64 } else { 0.0 };
        let step = dearest_below.max(share) * 0.5f64.powi(i32::from(state.failed_trials));
        (dearest_below + step, 0.0)
    }

    /// Solve with the trial's option in place; the solution if the trial is on.
    fn attempt(
        &mut self,
        trial: &Trial,
        before: &Solution,
        economy: Economy,
        effort: Effort,
    ) -> Result<Option<Solution>> {
        let entry = self.formulation.entries[trial.entry];
        let own = entry.start..entry.end;
        self.formulation.set_aside.clear();
        self.formulation.set_aside.extend_from_slice(&self.formulation.candidates[own.clone()]);
        for (option, candidate) in self.formulation.candidates[own.clone()].iter_mut().enumerate() {
            *candidate = if option == trial.option {
                Candidate { mean: trial.mean, variance: trial.variance, ..*candidate }
            } else {
                Candidate { mean: f64::INFINITY, ..*candidate }
            };
        }
        let in_place = self.in_place(trial, &economy);
        let solution = match in_place {
            Some(found) => Ok(found),
            None => self.formulation.solve(economy, effort),
        };
        let is_on = solution.as_ref().is_ok_and(|found| match trial.reason {
            Reason::Stale => found.feasible && found.value > before.value,
            // When nothing fits, whatever may be lighter is worth a try.
            _ => found.feasible || (!before.feasible && found.excess < before.excess),
        });
        match (is_on, in_place) {
            (true, Some(_)) => self.formulation.choices[trial.entry] = trial.option as u16,
            (true, None) => self.formulation.accept(),
            (false, _) => {
                let set_aside = std::mem::take(&mut self.formulation.set_aside);
                self.formulation.candidates[own].copy_from_slice(&set_aside);
                self.formulation.set_aside = set_aside;
            }
        }
        self.note(trial, entry.position, is_on);
        Ok(if is_on { Some(solution?) } else { solution.map(|_| None)? })
    }

    /// The trial with all other settings as they are, if that fits.
    fn in_place(&mut self, trial: &Trial, economy: &Economy) -> Option<Solution> {
        let settled = std::mem::replace(&mut self.formulation.choices[trial.entry], trial.option as u16);
        let found = weigh(&self.formulation.sum(), economy);
        self.formulation.choices[trial.entry] = settled;
        found.feasible.then_some(found)
    }

    /// When the option may be tried next.
    fn note(&mut self, trial: &Trial, position: usize, is_on: bool) {
        let now = self.history.latest() + 1;
        if is_on && trial.reason == Reason::Stale {
            self.next_stale_trial = now + STALE_APART;
        }
        let setting = self.setting_mut(position);
        let state = &mut setting.options[trial.option];
        let doubled = |wait: u64| wait << state.failed_trials.min(LONGEST_WAIT);
        let wait = match (is_on, trial.reason) {
            (_, Reason::Stale) => doubled(STALE_AFTER),
            (true, _) => 1,
            (false, _) => doubled(NO_ROOM_WAIT),
        };
        state.next_trial = now + wait;
        let learns = is_on && trial.reason != Reason::Stale;
        state.failed_trials = if learns { 0 } else { state.failed_trials.saturating_add(1) };
        if is_on {
            setting.on_trial = now;
            setting.tried = trial.option as u16;
        }
    }
}
