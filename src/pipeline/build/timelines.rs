//! When runs used the pipelines of a build first.

use crate::base::{Result, sort_slowly, try_push};
use crate::pipeline::PipelineKey;
use crate::pipeline::files::{Timelines, short_key};

use super::pipelines::Pipelines;

/// Pipelines of a form that are in timelines. A form with many combinations of shaders would take much memory, and a run
/// used few of them.
pub const MOST_OF_FORM: usize = 8;

/// Follows the pipelines of timelines from stable files to the cache.
#[derive(Default)]
pub struct BuildTimelines {
    /// By stable pipeline.
    timelines: Timelines<u64>,
    /// The stable pipelines in a timeline, sorted once all files are added, with their forms.
    forms: Vec<(u64, u32)>,
    /// Forms in a timeline, with their pipelines in the table of the cache.
    pipelines: Vec<(u32, u32)>,
}

impl BuildTimelines {
    /// Add the timelines of a stable file.
    pub fn add(&mut self, timelines: &Timelines<u64>) -> Result<()> {
        self.timelines.merge(timelines)
    }

    /// The timelines of stable pipelines.
    pub fn all(&self) -> &Timelines<u64> {
        &self.timelines
    }

    /// Remove the forms of stable pipelines, and return them, sorted by form.
    pub fn take_forms(&mut self) -> Vec<(u64, u32)> {
        let mut forms = std::mem::take(&mut self.forms);
        sort_slowly(&mut forms, |one, other| one.1.cmp(&other.1));
        forms
    }

    /// Bytes of the forms.
    pub fn memory_used(&self) -> usize {
        self.forms.capacity() * size_of::<(u64, u32)>()
    }

    fn is_empty(&self) -> bool {
        self.timelines.iter().next().is_none()
    }

    /// A stable pipeline has this form.
    pub fn note_form(&mut self, key: &PipelineKey, form: u32) -> Result<()> {
        if self.is_empty() { Ok(()) } else { try_push(&mut self.forms, (short_key(key), form)) }
    }

    /// A form has this pipeline. The pipelines of a form come one after the other.
    pub fn note_pipeline(&mut self, form: u32, pipeline: u32) -> Result<()> {
        let earliest = self.pipelines.len().checked_sub(MOST_OF_FORM);
        let is_full = earliest.is_some_and(|at| self.pipelines[at].0 == form);
        if self.is_empty() || is_full {
            return Ok(());
        }
        try_push(&mut self.pipelines, (form, pipeline))
    }

    /// The timelines of the pipelines that are written.
    pub fn finish(mut self, table: &Pipelines, written: &[u32]) -> Result<Timelines<u64>> {
        let mut is_written = crate::base::try_filled(false, table.len())?;
        written.iter().for_each(|&at| is_written[at as usize] = true);
        sort_slowly(&mut self.pipelines, Ord::cmp);
        self.pipelines.dedup();
        sort_slowly(&mut self.forms, Ord::cmp);
        self.forms.dedup();
        let Self { timelines, forms, pipelines } = &self;
        // In two steps, because many stable pipelines have a form.
        let by_form = timelines.map(|stable, found| {
            part_of(forms, |(key, _)| *key, stable).iter().try_for_each(|&(_, form)| found(form))
        })?;
        by_form.map(|form, found| {
            let pipelines = part_of(pipelines, |(of, _)| *of, form).iter().filter(|(_, at)| is_written[*at as usize]);
            pipelines.map(|&(_, at)| short_key(&table.row(at).key)).try_for_each(found)
        })
    }
}

/// The part of a sorted list that has a key.
fn part_of<T, K: Ord>(list: &[T], key_of: impl Fn(&T) -> K, key: K) -> &[T] {
    let begin = list.partition_point(|item| key_of(item) < key);
    let count = list[begin..].partition_point(|item| key_of(item) <= key);
    &list[begin..begin + count]
}
