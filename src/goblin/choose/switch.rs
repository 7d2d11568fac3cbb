//! The time that changes take in their own frame.

use super::Choose;
use crate::goblin::question::Question;
use crate::goblin::question::setting::Setting;
use crate::knapsack::NO_CHOICE;

impl Choose {
    /// The switch burden of a setting under the host's scales.
    pub fn switch_burden(&self, setting: &Setting) -> f64 {
        setting.switch_burden * (self.switch_scale * setting.switch_scale).min(1.0)
    }

    /// The switch burdens of this frame with another option of an entry, without the largest. A single change may make the
    /// frame of a trial late, because some options would have no trial otherwise; several may not.
    pub fn switch_burden_beyond_one(&self, question: &Question, at: usize, option: usize) -> f64 {
        let pairs = question.formulation.entries.iter().zip(&question.formulation.choices).enumerate();
        let burdens = pairs.map(|(other, (entry, &choice))| {
            let choice = if other == at { option as u16 } else { choice };
            self.burden_of_change(question, entry.position, choice)
        });
        let (sum, most) = burdens.fold((0.0, 0.0f64), |(sum, most), burden| (sum + burden, most.max(burden)));
        sum - most
    }

    /// The switch burdens of this frame without those of TRIM settings.
    pub fn switch_burden_of_others(&self, question: &Question) -> f64 {
        let pairs = question.formulation.entries.iter().zip(&question.formulation.choices);
        let others = pairs.filter(|(entry, _)| !question.setting(entry.position).is_trim);
        others.map(|(entry, &choice)| self.burden_of_change(question, entry.position, choice)).sum()
    }

    /// The switch burden of a setting if the choice differs from its published one.
    fn burden_of_change(&self, question: &Question, position: usize, choice: u16) -> f64 {
        let before = self.kept[position].choice;
        let is_change = choice != before && choice != NO_CHOICE && before != NO_CHOICE;
        if is_change { self.switch_burden(question.setting(position)) } else { 0.0 }
    }
}
