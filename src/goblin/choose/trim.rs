//! TRIM settings: fine steps that use the remaining capacity in every frame.

use super::Choose;
use crate::goblin::config::LANES;
use crate::goblin::frame::Frame;
use crate::goblin::question::Question;
use crate::goblin::question::formulation::{Bar, Entry, Formulation, Sum, Weighed, excess, weigh};
use crate::goblin::tuning::{self, TUNING};
use crate::knapsack::{Economy, NO_CHOICE};

const TRIM: &tuning::Trim = &TUNING.trim;

/// Let TRIM settings use the capacity that the other choices leave.
pub fn trim(question: &mut Question, economies: &[Economy]) {
    let Question { settings, formulation, .. } = question;
    for at in 0..formulation.entries.len() {
        let entry = formulation.entries[at];
        let setting = settings.at(entry.position).expect("entries are made of the settings there are");
        if !setting.is_trim || formulation.choices[at] == NO_CHOICE {
            continue;
        }
        let present = entry.start + usize::from(formulation.choices[at]);
        let mut without = formulation.sum(&formulation.choices);
        without.add(formulation.values[present], formulation.weights_of(present), -1.0);
        let with = |option: usize| {
            let mut sum = without;
            sum.add(formulation.values[option], formulation.weights_of(option), 1.0);
            weigh(&sum, economies)
        };
        let free = || (entry.start..entry.end).filter(|&option| formulation.bars[option] == Bar::Free);
        let fits = free().filter(|&option| with(option).feasible);
        let best = fits.max_by(|&a, &b| formulation.values[a].total_cmp(&formulation.values[b]));
        let over = |option: usize| with(option).worst_excess(economies);
        let lightest = || free().min_by(|&a, &b| over(a).total_cmp(&over(b)));
        if let Some(option) = best.or_else(lightest) {
            formulation.choices[at] = (option - entry.start) as u16;
        }
    }
}

impl Choose {
    /// Choose the TRIM settings of this frame, unless one of them is on trial: a trial keeps its option. They follow the
    /// fast component of the common factor, which moves no other setting. Their margin is smaller, because the next frame
    /// corrects them. Only with a probability: sigmas are a request of the host.
    pub fn trim_frame(&mut self, question: &mut Question, frame: &Frame<'_>, weighed: &mut Weighed) {
        let is_quick = frame.config.overrun_probability > 0.0;
        let is_sparing = frame.config.patience > 0.0;
        if !weighed.feasible || !(is_quick || is_sparing) || !self.has_settled_trims(question) {
            return;
        }
        let mut economies = [Economy::default(); LANES];
        for (lane, economy) in frame.economies.iter().enumerate() {
            economies[lane] = if is_quick { quick(economy, frame.slow[lane] / frame.fast[lane]) } else { *economy };
        }
        let economies = &economies[..frame.economies.len()];
        if is_quick {
            trim(question, economies);
        }
        let is_spared = is_sparing && self.spare_late_changes(question, frame, economies);
        if !is_quick && !is_spared {
            return;
        }
        for (entry, &choice) in question.formulation.entries.iter().zip(&question.formulation.choices) {
            let kept = &mut self.kept[entry.position];
            if question.setting(entry.position).is_trim && kept.settled != choice {
                kept.settle(choice, frame.now);
            }
        }
        let found = question.formulation.weigh_choices(economies);
        *weighed = Weighed { feasible: true, ..found };
        if is_quick {
            let factors = frame.fast.iter().zip(&frame.slow).map(|(fast, slow)| fast / slow);
            for (lane, (economy, factor)) in frame.economies.iter().zip(factors).enumerate() {
                weighed.burden[lane] *= factor;
                weighed.excess[lane] = excess(weighed.burden[lane], economy);
            }
        }
    }

    /// A change costs its switch burden in its own frame. Where that makes the frame late, the change waits for the account
    /// of late changes, or is made to an option with which it fits. Returns whether any choice is another one now.
    fn spare_late_changes(&mut self, question: &mut Question, frame: &Frame<'_>, economies: &[Economy]) -> bool {
        self.late_changes.earn(frame.config.allowed_lateness());
        let (mut spent, mut any) = (self.switch_burden_of_others(question), false);
        let Question { settings, formulation, .. } = question;
        for at in 0..formulation.entries.len() {
            let entry = formulation.entries[at];
            let setting = settings.at(entry.position).expect("entries are made of the settings there are");
            let (wanted, present) = (formulation.choices[at], self.kept[entry.position].choice);
            let burden = self.switch_burden(setting);
            let is_change = wanted != present && wanted != NO_CHOICE && formulation.has(&entry, present);
            if !setting.is_trim || burden == 0.0 || !is_change {
                continue;
            }
            let change = Change::new(formulation, economies, at, usize::from(present), (spent, burden));
            let choice = self.late_changes.choose(&change, usize::from(wanted)) as u16;
            any |= choice != wanted;
            spent += if choice == present { 0.0 } else { burden };
            formulation.choices[at] = choice;
        }
        any
    }

    /// Whether there are TRIM settings, and none of them is on trial. A trial keeps its option.
    fn has_settled_trims(&self, question: &Question) -> bool {
        let pairs = question.formulation.entries.iter().zip(&question.formulation.choices);
        let mut trims = pairs.filter(|(entry, _)| question.setting(entry.position).is_trim).peekable();
        trims.peek().is_some() && trims.all(|(entry, &choice)| choice == self.kept[entry.position].settled)
    }
}

/// The economy of a lane whose capacity is worth `factor` times as much in this frame.
fn quick(economy: &Economy, factor: f64) -> Economy {
    Economy { capacity: economy.capacity * factor, sigmas: economy.sigmas * TUNING.hysteresis.trim_share }
}

/// A change of a setting, whose burden its frame has to bear.
struct Change<'a> {
    formulation: &'a Formulation,
    economies: &'a [Economy],
    entry: Entry,
    /// The sum of all other choices, with the burden of their changes.
    others: Sum,
    present: usize,
    burden: f64,
}

impl<'a> Change<'a> {
    /// The change of the entry at a place, which has a choice. `spent`: the burden of other changes, before that of this one.
    fn new(
        formulation: &'a Formulation,
        economies: &'a [Economy],
        at: usize,
        present: usize,
        (spent, burden): (f64, f64),
    ) -> Self {
        let entry = formulation.entries[at];
        let mut others = formulation.sum(&formulation.choices);
        let wanted = entry.start + usize::from(formulation.choices[at]);
        others.add(formulation.values[wanted], formulation.weights_of(wanted), -1.0);
        others.weights[0].mean += spent;
        Self { formulation, economies, entry, others, present, burden }
    }

    /// Whether the frame is punctual with a choice.
    fn fits(&self, choice: usize) -> bool {
        let option = self.entry.start + choice;
        let mut sum = self.others;
        sum.add(self.formulation.values[option], self.formulation.weights_of(option), 1.0);
        sum.weights[0].mean += if choice == self.present { 0.0 } else { self.burden };
        weigh(&sum, self.economies).feasible
    }

    /// The best choice with which the frame is punctual.
    fn best(&self) -> Option<usize> {
        let all = 0..self.entry.end - self.entry.start;
        let punctual = all.filter(|&choice| self.formulation.may(&self.entry, choice) && self.fits(choice));
        let value = |choice: &usize| self.formulation.values[self.entry.start + choice];
        punctual.max_by(|a, b| value(a).total_cmp(&value(b)))
    }
}

/// Frames that changes of TRIM settings may make late: a share of the late frames that the host allows.
#[derive(Clone, Copy, Debug)]
pub struct LateChanges {
    credit: f64,
}

impl Default for LateChanges {
    fn default() -> Self {
        Self { credit: TRIM.most_credit }
    }
}

impl LateChanges {
    /// Earn the share of a decision. `allowed`: the share of late frames that the host allows.
    fn earn(&mut self, allowed: f64) {
        self.credit = (self.credit + TRIM.late_share * allowed).min(TRIM.most_credit);
    }

    /// The wanted choice, if its frame is punctual or the account pays for it; else the best punctual one.
    fn choose(&mut self, change: &Change<'_>, wanted: usize) -> usize {
        if change.fits(wanted) {
            return wanted;
        }
        match change.best() {
            Some(best) if !self.pay(!change.fits(change.present)) => best,
            Some(_) => wanted,
            None => {
                // Nothing avoids this late frame.
                self.credit = (self.credit - 1.0).max(-TRIM.most_credit);
                wanted
            }
        }
    }

    /// Pay for a late frame, if there is credit. A change that is not needed leaves enough for the next one that is.
    fn pay(&mut self, is_needed: bool) -> bool {
        let can = self.credit >= if is_needed { 1.0 } else { 2.0 };
        self.credit -= if can { 1.0 } else { 0.0 };
        can
    }
}
