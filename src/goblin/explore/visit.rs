//! Visits: trials of settings whose changes take time.
//!
//! A trial of one frame changes there and back, and a renderer that allocates new targets for that is late twice. So such
//! a trial stays until its option has a few samples, and the next option of the setting is tried from there. All choices
//! of its first frame stay with it, because some of them make room for it.

use super::{Explorer, Scope, TRIAL, Trial};
use crate::goblin::question::Question;
use crate::goblin::question::formulation::{Bar, Entry, Formulation, Weighed, weigh};
use crate::knapsack::NO_CHOICE;

/// A visit. The settings that stay are in [`Tried`](super::Tried).
#[derive(Clone, Copy, Debug)]
pub struct Visit {
    /// The decision of its latest trial, and the first one that knows all samples; 0 before that.
    began: u64,
    known_at: u64,
}

impl Visit {
    /// Whether it ends before this decision. The decision that first knows all samples can try the next option.
    fn is_over(&self, now: u64) -> bool {
        let is_lost = now - self.began > TRIAL.longest_visit;
        is_lost || (self.known_at > 0 && now > self.known_at.max(self.began + TRIAL.few_samples))
    }
}

impl Explorer {
    /// Continue the visit, if there is one. Returns the totals of its choices and the number of settings that stay.
    pub(super) fn stay(
        &mut self,
        question: &mut Question,
        scope: Scope<'_>,
        chosen: &Weighed,
    ) -> Option<(Weighed, u32)> {
        let mut visit = self.visit.take()?;
        let (formulation, now) = (&mut question.formulation, scope.frame.now);
        let mut staying = 0;
        let mut is_known = true;
        formulation.found.clear();
        for at in 0..formulation.entries.len() {
            let entry = formulation.entries[at];
            let (published, tried) = (scope.choose.kept[entry.position].choice, &mut self.tried[entry.position]);
            let is_missing = tried.on_trial != 0;
            tried.stays &= published == tried.option && is_there(formulation, &entry, published, is_missing);
            if tried.stays {
                staying += 1;
                is_known &= !is_missing;
                let guess = &tried.guess[..scope.frame.economies.len()];
                if is_missing {
                    formulation.weights_of_mut(entry.start + usize::from(published)).copy_from_slice(guess);
                }
            }
            let stays = tried.stays || formulation.has(&entry, published);
            formulation.found.push(if stays { published } else { formulation.choices[at] });
        }
        if is_known && visit.known_at == 0 {
            visit.known_at = now;
        }
        let found = weigh(&formulation.sum(&formulation.found), scope.frame.held);
        if staying == 0 || !chosen.feasible || visit.is_over(now) || (is_known && !found.feasible) {
            return None;
        }
        formulation.accept();
        self.visit = Some(visit);
        Some((Weighed { feasible: true, ..found }, staying))
    }

    /// Let a trial stay, if its change takes time.
    pub(super) fn visit(&mut self, question: &Question, scope: Scope<'_>, trial: &Trial) {
        let position = question.formulation.entries[trial.entry].position;
        if question.setting(position).changes_slowly(scope.frame.economies[0].capacity) {
            if self.visit.is_none() {
                question.settings.iter().for_each(|(other, _)| self.tried[other].stays = false);
            }
            let tried = &mut self.tried[position];
            (tried.stays, tried.guess) = (true, trial.guess);
            self.visit = Some(Visit { began: scope.frame.now, known_at: 0 });
        }
    }

    /// Whether a setting stays on trial.
    pub(super) fn stays(&self, position: usize) -> bool {
        self.visit.is_some() && self.tried[position].stays
    }
}

/// Whether an entry has an option that is visited. Its sample may be missing.
fn is_there(formulation: &Formulation, entry: &Entry, option: u16, is_missing: bool) -> bool {
    option != NO_CHOICE
        && usize::from(option) < entry.end - entry.start
        && match formulation.bars[entry.start + usize::from(option)] {
            Bar::Free => true,
            Bar::Untried => is_missing,
            _ => false,
        }
}
