//! TRIM settings: fine steps that use the remaining capacity in every frame.

use super::Choose;
use crate::goblin::config::LANES;
use crate::goblin::frame::Frame;
use crate::goblin::question::Question;
use crate::goblin::question::formulation::{Bar, Weighed, weigh};
use crate::goblin::tuning::TUNING;
use crate::knapsack::{Economy, NO_CHOICE};

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
    /// Let TRIM settings follow the fast component of the common factor, which moves no other setting. Their margin is
    /// smaller, because the next frame corrects them. Only with a probability: sigmas are a request of the host.
    pub fn trim_fast(&mut self, question: &mut Question, frame: &Frame<'_>, weighed: &mut Weighed) {
        let is_asked = frame.config.overrun_probability > 0.0 && weighed.feasible;
        if !is_asked || !self.has_settled_trims(question) {
            return;
        }
        let mut quick = [Economy::default(); LANES];
        for (lane, economy) in frame.economies.iter().enumerate() {
            let capacity = economy.capacity * frame.slow[lane] / frame.fast[lane];
            quick[lane] = Economy { capacity, sigmas: economy.sigmas * TUNING.hysteresis.trim_share };
        }
        trim(question, &quick[..frame.economies.len()]);
        for (entry, &choice) in question.formulation.entries.iter().zip(&question.formulation.choices) {
            let kept = &mut self.kept[entry.position];
            if question.setting(entry.position).is_trim && kept.settled != choice {
                kept.settle(choice, frame.now);
            }
        }
        let formulation = &question.formulation;
        let found = weigh(&formulation.sum(&formulation.choices), &quick[..frame.economies.len()]);
        *weighed = Weighed { feasible: true, excess: weighed.excess, ..found };
        for (lane, burden) in weighed.burden.iter_mut().enumerate().take(frame.economies.len()) {
            *burden *= frame.fast[lane] / frame.slow[lane];
        }
    }

    /// Whether there are TRIM settings, and none of them is on trial. A trial keeps its option.
    fn has_settled_trims(&self, question: &Question) -> bool {
        let pairs = question.formulation.entries.iter().zip(&question.formulation.choices);
        let mut trims = pairs.filter(|(entry, _)| question.setting(entry.position).is_trim).peekable();
        trims.peek().is_some() && trims.all(|(entry, &choice)| choice == self.kept[entry.position].settled)
    }
}
