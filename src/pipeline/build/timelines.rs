//! When runs used the pipelines of a build first.

use crate::base::{Result, try_push};
use crate::pipeline::PipelineKey;
use crate::pipeline::files::{Table, Timelines, short_key};

/// Pipelines of a form that are in timelines. A form with many combinations of shaders would take much memory, and a run
/// used few of them.
const MOST_OF_FORM: usize = 8;

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

    fn is_empty(&self) -> bool {
        self.timelines.iter().next().is_none()
    }

    /// A stable pipeline has this form.
    pub fn note_form(&mut self, key: &PipelineKey, form: usize) -> Result<()> {
        if self.is_empty() { Ok(()) } else { try_push(&mut self.forms, (short_key(key), form as u32)) }
    }

    /// A form has this pipeline. The pipelines of a form come one after the other.
    pub fn note_pipeline(&mut self, form: usize, pipeline: usize) -> Result<()> {
        let earliest = self.pipelines.len().checked_sub(MOST_OF_FORM);
        let is_full = earliest.is_some_and(|at| self.pipelines[at].0 == form as u32);
        if self.is_empty() || is_full {
            return Ok(());
        }
        try_push(&mut self.pipelines, (form as u32, pipeline as u32))
    }

    /// The timelines of the pipelines that are written.
    pub fn finish(mut self, table: &Table, written: &[u32]) -> Result<Timelines<u64>> {
        let mut is_written = crate::base::try_filled(false, table.len())?;
        written.iter().for_each(|&at| is_written[at as usize] = true);
        self.pipelines.sort_unstable();
        self.pipelines.dedup();
        self.forms.sort_unstable();
        self.forms.dedup();
        let Self { timelines, forms, pipelines } = &self;
        timelines.map(|stable, found| {
            for &(_, form) in part_of(forms, |(key, _)| *key, stable) {
                for &(_, at) in part_of(pipelines, |(of, _)| *of, form) {
                    if is_written[at as usize] {
                        found(short_key(&table.row(at as usize).key))?;
                    }
                }
            }
            Ok(())
        })
    }
}

/// The part of a sorted list that has a key.
fn part_of<T, K: Ord>(list: &[T], key_of: impl Fn(&T) -> K, key: K) -> &[T] {
    let begin = list.partition_point(|item| key_of(item) < key);
    let count = list[begin..].partition_point(|item| key_of(item) <= key);
    &list[begin..begin + count]
}
