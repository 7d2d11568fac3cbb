//! TRIM settings: fine steps that use the remaining capacity in every frame.

use super::Choose;
use crate::goblin::config::LANES;
use crate::goblin::frame::Frame;
use crate::goblin::question::Question;
use crate::goblin::question::formulation::{Bar, Weighed, weigh};
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
    /// fast component of the common factor, which moves no other setting, and their margin is smaller, because the next
    /// frame corrects them. Only with a probability: sigmas are a request of the host.
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
        *weighed = Weighed { feasible: true, excess: weighed.excess, ..found };
        if is_quick {
            for (lane, burden) in weighed.burden.iter_mut().enumerate().take(economies.len()) {
                *burden *= frame.fast[lane] / frame.slow[lane];
            }
        }
    }

    /// A change costs its switch burden in its own frame. Where that makes the frame late, the change waits for the
    /// account of late changes, or is made to an option with which it fits. Returns whether any choice is another one now.
    fn spare_late_changes(&mut self, question: &mut Question, frame: &Frame<'_>, economies: &[Economy]) -> bool {
        let Question { settings, formulation, .. } = question;
        self.late_changes.earn(frame.config.overrun_probability);
        let (mut spent, mut any) = (0.0, false);
        for at in 0..formulation.entries.len() {
            let entry = formulation.entries[at];
            let setting = settings.at(entry.position).expect("entries are made of the settings there are");
            let (wanted, present) = (formulation.choices[at], self.kept[entry.position].choice);
            let scale = (self.switch_scale * setting.switch_scale).min(1.0);
            let burden = setting.switch_burden * scale;
            let is_there =
                usize::from(present) < entry.end - entry.start && formulation.may(&entry, usize::from(present));
            if !setting.is_trim || burden == 0.0 || wanted == NO_CHOICE || wanted == present || !is_there {
                continue;
            }
            let mut without = formulation.sum(&formulation.choices);
            without.add(
                formulation.values[entry.start + usize::from(wanted)],
                formulation.weights_of(entry.start + usize::from(wanted)),
                -1.0,
            );
            let fits = |choice: usize| {
                let option = entry.start + choice;
                let mut sum = without;
                sum.add(formulation.values[option], formulation.weights_of(option), 1.0);
                sum.weights[0].mean += spent + if choice == usize::from(present) { 0.0 } else { burden };
                weigh(&sum, economies).feasible
            };
            let punctual =
                (0..entry.end - entry.start).filter(|&choice| formulation.may(&entry, choice) && fits(choice));
            let value = |choice: &usize| formulation.values[entry.start + choice];
            let best = punctual.max_by(|a, b| value(a).total_cmp(&value(b)));
            let is_needed = !fits(usize::from(present));
            let choice = match best {
                _ if fits(usize::from(wanted)) => wanted,
                Some(best) if !self.late_changes.pay(is_needed) => best as u16,
                Some(_) => wanted,
                None => {
                    self.late_changes.overdraw();
                    wanted
                }
            };
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
    /// Earn the share of a decision. `probability`: late frames that the host allows.
    fn earn(&mut self, probability: f64) {
        self.credit = (self.credit + TRIM.late_share * probability).min(TRIM.most_credit);
    }

    /// Pay for a late frame, if there is credit. A change that is not needed leaves enough for the next one that is.
    fn pay(&mut self, is_needed: bool) -> bool {
        let can = self.credit >= if is_needed { 1.0 } else { 2.0 };
        self.credit -= if can { 1.0 } else { 0.0 };
        can
    }

    /// Pay for a late frame that nothing could avoid.
    fn overdraw(&mut self) {
        self.credit = (self.credit - 1.0).max(-TRIM.most_credit);
    }
}
