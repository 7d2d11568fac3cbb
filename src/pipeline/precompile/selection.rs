//! Which masks the current ones select.
//!
//! Many entries share few masks, so each distinct mask is compared once. The host's comparison runs outside of locks: the
//! masks are copied, compared, and the verdicts applied if no mask has changed meanwhile.

use std::collections::HashMap;

use crate::base::{Result, SharedDyn, try_filled, try_push, try_to_vec};
use crate::pipeline::Mask;

/// Compares the mask of an entry with the current one: `(entry, current)`. It must always give the same answer.
pub type Compare = dyn Fn(&Mask, &Mask) -> bool + Send + Sync;

/// How masks are compared.
#[derive(Clone, Default)]
pub enum Comparison {
    /// The entry's mask has all bits of the current one: `(entry & current) == current`. The default.
    #[default]
    HasAll,
    /// By the host: for packed fields.
    Host(SharedDyn<Compare>),
}

/// The current masks. The default selects all entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CurrentMasks {
    /// Selects entries in every mode. Default: no bit, which selects all.
    pub regular: Mask,
    /// Selects the entries that come first in [`Mode::Precompile`](super::Mode::Precompile). Default: no bit.
    pub precompile: Mask,
}

/// Which of the current masks select something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// The regular mask does.
    pub regular: bool,
    /// The precompile mask does.
    pub precompile: bool,
}

/// A change of the masks or of their comparison, which is worked out without a lock.
pub struct Question {
    version: u64,
    comparison: Comparison,
    current: CurrentMasks,
    masks: Vec<Mask>,
}

/// A [`Question`] and the verdicts on all masks.
pub struct Answer {
    question: Question,
    verdicts: Vec<Verdict>,
}

impl Question {
    /// Compare. Calls the host.
    pub fn ask(self) -> Result<Answer> {
        let mut verdicts = try_filled(Verdict::default(), self.masks.len())?;
        for (answer, mask) in verdicts.iter_mut().zip(&self.masks) {
            *answer = verdict(&self.comparison, &self.current, mask);
        }
        Ok(Answer { question: self, verdicts })
    }
}

impl Answer {
    /// Whether the regular mask selects the mask with this number.
    pub fn selects(&self, number: u32) -> bool {
        self.verdicts.get(number as usize).is_some_and(|verdict| verdict.regular)
    }
}

fn verdict(comparison: &Comparison, current: &CurrentMasks, mask: &Mask) -> Verdict {
    let is_selected = |current: &Mask| match comparison {
        Comparison::HasAll => mask.has_all_of(current),
        Comparison::Host(compare) => compare(mask, current),
    };
    Verdict { regular: is_selected(&current.regular), precompile: is_selected(&current.precompile) }
}

/// The distinct masks of all entries, and the verdicts on them.
#[derive(Default)]
pub struct Selection {
    comparison: Comparison,
    current: CurrentMasks,
    /// Rises with each change of the two above.
    version: u64,
    masks: Vec<Mask>,
    numbers: HashMap<Mask, u32>,
    /// One per mask. Those behind the first `answered` select nothing yet.
    verdicts: Vec<Verdict>,
    answered: usize,
}

impl Selection {
    /// The number of a mask, which is added if it is new.
    pub fn number(&mut self, mask: &Mask) -> Result<u32> {
        if let Some(&number) = self.numbers.get(mask) {
            return Ok(number);
        }
        self.numbers.try_reserve(1)?;
        self.verdicts.try_reserve(1)?;
        try_push(&mut self.masks, *mask)?;
        let number = self.verdicts.len() as u32;
        self.numbers.insert(*mask, number);
        self.verdicts.push(Verdict::default());
        if let Comparison::HasAll = self.comparison
            && self.answered == number as usize
        {
            self.verdicts[self.answered] = verdict(&self.comparison, &self.current, mask);
            self.answered += 1;
        }
        Ok(number)
    }

    /// The mask with that number.
    pub fn mask(&self, number: u32) -> &Mask {
        &self.masks[number as usize]
    }

    /// The verdict on a set of masks: whether any of them is selected.
    pub fn verdict(&self, numbers: &[u32]) -> Verdict {
        let either = |one: Verdict, other: Verdict| Verdict {
            regular: one.regular | other.regular,
            precompile: one.precompile | other.precompile,
        };
        numbers.iter().map(|&number| self.verdicts[number as usize]).fold(Verdict::default(), either)
    }

    /// Whether there are masks without a verdict.
    pub fn has_unanswered(&self) -> bool {
        self.answered < self.masks.len()
    }

    /// The current masks.
    pub fn current(&self) -> CurrentMasks {
        self.current
    }

    /// Prepare other masks or another comparison. Nothing changes before [`apply`](Self::apply).
    pub fn question(&self, current: Option<CurrentMasks>, comparison: Option<&Comparison>) -> Result<Question> {
        Ok(Question {
            version: self.version,
            comparison: comparison.unwrap_or(&self.comparison).clone(),
            current: current.unwrap_or(self.current),
            masks: try_to_vec(&self.masks)?,
        })
    }

    /// Whether nothing has changed since the question of an answer.
    pub fn is_answer(&self, answer: &Answer) -> bool {
        answer.question.version == self.version && answer.verdicts.len() == self.masks.len()
    }

    /// Apply a change. Returns the old comparison, to be dropped without a lock. `None`: the masks have changed since the
    /// question, and nothing was applied.
    pub fn apply(&mut self, answer: &Answer) -> Option<Comparison> {
        let Answer { question, verdicts } = answer;
        if !self.is_answer(answer) {
            return None;
        }
        self.version += 1;
        self.current = question.current;
        self.verdicts.copy_from_slice(verdicts);
        self.answered = verdicts.len();
        Some(std::mem::replace(&mut self.comparison, question.comparison.clone()))
    }

    /// Bytes held.
    pub fn memory_used(&self) -> usize {
        self.masks.capacity() * (size_of::<Mask>() + size_of::<Verdict>())
            + self.numbers.capacity() * size_of::<(Mask, u32)>()
    }
}
