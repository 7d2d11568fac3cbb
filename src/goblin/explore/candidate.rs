//! Candidates: which option of a setting is tried next.
//!
//! Options without data come first. Then follow options with so few samples that one hitch could have spoiled them, and
//! better options whose deviation is not known yet. Last are better options than the present choice that were too
//! expensive a while ago. These are retried with exponential backoff; options that once were cheaper than their estimate
//! go first.

use super::{Explorer, GUESS, Scope, TRIAL, TriedOption};
use crate::goblin::question::Question;
use crate::goblin::question::formulation::{Bar, Entry};
use crate::goblin::question::setting::Setting;
use crate::knapsack::NO_CHOICE;

/// Why an option is a candidate for a trial. The first kind is tried first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// It has no data.
    Unknown,
    /// One hitch could have spoiled its samples.
    FewSamples,
    /// It is better than the choice, and its deviation is not known yet.
    Confirm,
    /// It was too expensive, and once was cheaper than now.
    Dearer,
    /// It was too expensive, and its estimate is old.
    Stale,
}

impl Explorer {
    /// The best candidate for a trial among the options of an entry: of the first cause the least valuable option.
    pub(super) fn next_trial(&self, question: &Question, scope: Scope<'_>, at: usize) -> Option<(usize, Cause)> {
        let entry = question.formulation.entries[at];
        let setting = question.setting(entry.position);
        let tried = &self.tried[entry.position];
        let choice = question.formulation.choices[at];
        if !setting.has_burden || !entry.known || tried.on_trial != 0 || choice == NO_CHOICE {
            return None;
        }
        let present = usize::from(choice);
        let mut first: Option<(Cause, f64, usize)> = None;
        for (option, state) in tried.options.iter().enumerate() {
            if option == present || state.next_trial > scope.frame.now {
                continue;
            }
            let bar = question.formulation.bars[entry.start + option];
            let Some(cause) = self.cause(scope, entry.position, setting, (option, state, bar), present) else {
                continue;
            };
            if cause >= Cause::Confirm && self.awaits_unknown(question, entry) {
                continue;
            }
            let value = setting.options[option].value;
            let is_before =
                |other: (Cause, f64, usize)| cause < other.0 || (cause == other.0 && value.total_cmp(&other.1).is_lt());
            if first.is_none_or(is_before) {
                first = Some((cause, value, option));
            }
        }
        first.map(|(cause, _, option)| (option, cause))
    }

    /// Whether an option without data will soon be tried again, for which there was no room. After the learning phase another
    /// trial would delay it for minutes.
    fn awaits_unknown(&self, question: &Question, entry: Entry) -> bool {
        let bars = &question.formulation.bars[entry.start..entry.end];
        let mut pairs = self.tried[entry.position].options.iter().zip(bars);
        pairs.any(|(state, &bar)| bar == Bar::Untried && state.failed < GUESS.distrust_after)
    }

    /// Why an option is a candidate, if it is one.
    fn cause(
        &self,
        scope: Scope<'_>,
        position: usize,
        setting: &Setting,
        (option, state, bar): (usize, &TriedOption, Bar),
        present: usize,
    ) -> Option<Cause> {
        let now = scope.frame.now;
        let is_rare_due = self.next_rare <= now;
        let is_calm = || scope.choose.target.is_settled(now);
        let is_due = || is_rare_due || state.failed < GUESS.distrust_after || !is_calm();
        match bar {
            Bar::Untried => return is_due().then_some(Cause::Unknown),
            Bar::Free => {}
            _ => return None,
        }
        let (task, cell) = (scope.learn.tasks.at(setting.task), setting.cell(option));
        let is_better = setting.options[option].value > setting.options[present].value;
        let learned = task.best_known(cell);
        let is_new = learned.run.count() < TRIAL.few_samples;
        if !is_better && !is_new {
            // This skips nearly all options of nearly all frames.
            return None;
        }
        let is_doubtful = !learned.is_known() && !task.has_solid_past(cell);
        let age = now - scope.learn.sampled[position].latest[cell].min(now);
        if is_doubtful && is_new && is_due() {
            Some(Cause::FewSamples)
        } else if is_better && is_doubtful && age >= TRIAL.confirm_interval && (is_rare_due || !is_calm()) {
            Some(Cause::Confirm)
        } else if !is_better || age < TRIAL.stale_after {
            None
        } else if self.next_stale <= now && learned.has_become_dearer() {
            Some(Cause::Dearer)
        } else {
            is_rare_due.then_some(Cause::Stale)
        }
    }
}
