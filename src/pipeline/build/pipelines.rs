//! The pipelines of a build, each once.

use super::forms::Forms;
use crate::base::{Error, Result, sort_ranked, try_collect, try_push};
use crate::pipeline::files::{Slots, short_key};
use crate::pipeline::{PipelineKey, UseData};

/// A pipeline: a combination of a form.
pub struct Pipeline {
    pub key: PipelineKey,
    /// Its form, and its number among the form's combinations.
    pub form: u32,
    pub number: u32,
    /// The number of its own use data, if several forms have it; otherwise `u32::MAX`.
    uses: u32,
}

/// Pipelines by key.
#[derive(Default)]
pub struct Pipelines {
    rows: Vec<Pipeline>,
    slots: Slots,
    uses: Vec<UseData>,
}

impl Pipelines {
    /// Add a combination of a form. Returns its place.
    pub fn add(&mut self, key: &PipelineKey, form: u32, number: u32, forms: &Forms) -> Result<u32> {
        let hash = short_key(key) as u32;
        let Some(at) = self.slots.find(hash, |at| self.rows[at as usize].key == *key) else {
            let at = u32::try_from(self.rows.len()).ok().filter(|&at| at < u32::MAX).ok_or(Error::OUT_OF_MEMORY)?;
            self.rows.try_reserve(1)?;
            self.slots.insert(hash, at)?;
            self.rows.push(Pipeline { key: *key, form, number, uses: u32::MAX });
            return Ok(at);
        };
        let row = &mut self.rows[at as usize];
        if row.uses == u32::MAX {
            let mut own = UseData::default();
            own.merge(forms.uses(row.form))?;
            let number = self.uses.len() as u32;
            try_push(&mut self.uses, own)?;
            row.uses = number;
        }
        self.uses[row.uses as usize].merge(forms.uses(form))?;
        Ok(at)
    }

    /// Number of pipelines.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// A pipeline by its place.
    pub fn row(&self, at: u32) -> &Pipeline {
        &self.rows[at as usize]
    }

    /// The pipelines in the order of their places.
    pub fn rows(&self) -> &[Pipeline] {
        &self.rows
    }

    /// How recordings used a pipeline.
    pub fn uses<'a>(&'a self, at: u32, forms: &'a Forms) -> &'a UseData {
        let Pipeline { form, uses, .. } = *self.row(at);
        self.uses.get(uses as usize).unwrap_or_else(|| forms.uses(form))
    }

    /// Whether two pipelines have the same use data for sure, since it is that of their form.
    pub fn share_uses(&self, one: u32, other: u32) -> bool {
        let (one, other) = (self.row(one), self.row(other));
        one.form == other.form && one.uses == u32::MAX && other.uses == u32::MAX
    }

    /// All places in the order of first use, then of keys. It does not depend on the order of addition.
    pub fn in_order(&self, forms: &Forms) -> Result<Vec<u32>> {
        // The begin of a key decides almost always, so few comparisons look at a row.
        let begin = |at: u32| {
            let key = self.row(at).key;
            (self.uses(at, forms).first_frame, (short_key(&key).swap_bytes() >> 32) as u32, at)
        };
        let mut order = try_collect((0..self.len() as u32).map(begin))?;
        sort_ranked(&mut order, &mut |one, other| self.row(one).key.cmp(&self.row(other).key));
        try_collect(order.iter().map(|&(.., at)| at))
    }
}
