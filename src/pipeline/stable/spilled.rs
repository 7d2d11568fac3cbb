//! The stable forms of more pipelines than memory holds.
//!
//! Three sorts in temporary files: recorded pipelines by their keys, stable pipelines by their keys, and stable pipelines in
//! the order of the file. Equal neighbours are united on the way.

use super::expand::{Unresolved, put_stable};
use super::file::{Put, stable_key};
use crate::base::{Result, error, sort_slowly};
use crate::fingerprint::Bytes;
use crate::pipeline::Listed;
use crate::pipeline::files::sort::{
    Scratch, SortKey, Sorted, Sorter, Watch, by_name, by_number, name_of, numbered_name,
};
use crate::pipeline::files::{Cursor, Timelines, UseData, get_uses, put_uses, short_key};
use crate::pipeline::keys::KeyMap;
use crate::pipeline::recording::SpilledMerge;

/// Counts of [`SpilledForms`].
#[derive(Default)]
pub struct SpilledCounts {
    /// Recorded pipelines.
    pub pipelines: u64,
    /// Stable pipelines.
    pub stable: u64,
    /// Later uses whose first use is lost.
    pub lost: u64,
}

/// Stable pipelines in the order of the file.
pub struct SpilledForms {
    sorted: Sorted,
    /// When runs used them first.
    pub timelines: Timelines<u64>,
    pub counts: SpilledCounts,
}

/// A stable pipeline whose recorded ones are being united.
struct Open {
    key: SortKey,
    uses: UseData,
    encoded: Vec<u8>,
}

impl SpilledForms {
    /// Express merged pipelines in stable keys. `timelines` are those of the merge.
    pub fn of(
        merged: SpilledMerge,
        timelines: &Timelines<u64>,
        keys: &KeyMap,
        scratch: &Scratch,
        unresolved: &mut Listed<Unresolved>,
        watch: &mut Watch<'_>,
    ) -> Result<Self> {
        let (mut counts, mut related) = (SpilledCounts::default(), related(timelines)?);
        let (mut forms, mut encoded, mut uses) = (Sorter::new(scratch, scratch.memory() / 2)?, Vec::new(), Vec::new());
        counts.lost = merged.for_each(watch, |pipeline| {
            counts.pipelines += 1;
            if let Some(shader) = put_stable(&mut encoded, pipeline, keys)? {
                return unresolved.add(Unresolved { pipeline: pipeline.key, shader });
            }
            let key = stable_key(&encoded);
            if let Ok(at) = related.binary_search_by_key(&short_key(&pipeline.key), |(recorded, _)| *recorded) {
                related[at].1 = Some(short_key(&key));
            }
            uses.clear();
            put_uses(&mut uses, pipeline.uses)?;
            forms.push(&by_name(&key), [&uses, &encoded])
        })?;
        drop(merged);
        let timelines = timelines.map(|recorded, found| {
            match related.binary_search_by_key(&recorded, |(recorded, _)| *recorded) {
                Ok(at) => related[at].1.map_or(Ok(()), &mut *found),
                Err(_) => Ok(()),
            }
        })?;
        drop(related);
        let sorted = unite(forms.finish()?, scratch, &mut counts.stable, watch)?;
        Ok(Self { sorted, timelines, counts })
    }

    /// Hash the keys.
    pub fn hash_keys(&self, bytes: &mut Bytes, watch: &mut Watch<'_>) -> Result<()> {
        self.sorted.for_each(watch, |key, _| {
            bytes.put(&numbered_name(key).0);
            Ok(())
        })
    }

    /// Write all pipelines.
    pub fn write(&self, put: &mut Put<'_>, watch: &mut Watch<'_>) -> Result<()> {
        self.sorted.for_each(watch, |key, payload| {
            let (uses, encoded) = parts(payload)?;
            put(&numbered_name(key), &uses, encoded)
        })
    }
}

/// The pipelines of timelines, each once and sorted, with room for their stable forms.
fn related(timelines: &Timelines<u64>) -> Result<Vec<(u64, Option<u64>)>> {
    let mut related = Vec::new();
    related.try_reserve_exact(timelines.iter().map(|timeline| timeline.uses.len()).sum())?;
    related.extend(timelines.iter().flat_map(|timeline| &timeline.uses).map(|(recorded, _)| (*recorded, None)));
    sort_slowly(&mut related, Ord::cmp);
    related.dedup();
    Ok(related)
}

/// Unite equal stable pipelines, and sort them in the order of the file.
fn unite(forms: Sorted, scratch: &Scratch, count: &mut u64, watch: &mut Watch<'_>) -> Result<Sorted> {
    let (mut sorter, mut open, mut out) = (Sorter::new(scratch, scratch.memory() / 2)?, None::<Open>, Vec::new());
    let mut pass = |done: &Open| {
        *count += 1;
        out.clear();
        put_uses(&mut out, &done.uses)?;
        sorter.push(&by_number(done.uses.first_frame, &name_of(&done.key)), [&out, &done.encoded])
    };
    forms.for_each(watch, |key, payload| {
        let (uses, encoded) = parts(payload)?;
        match &mut open {
            Some(open) if open.key == *key => open.uses.merge(&uses),
            Some(open) => {
                pass(open)?;
                (open.key, open.uses) = (*key, uses);
                open.encoded.clear();
                open.encoded.try_reserve(encoded.len())?;
                open.encoded.extend_from_slice(encoded);
                Ok(())
            }
            None => {
                open = Some(Open { key: *key, uses, encoded: crate::base::try_to_vec(encoded)? });
                Ok(())
            }
        }
    })?;
    if let Some(done) = &open {
        pass(done)?;
    }
    sorter.finish()
}

/// Use data and encoded form.
fn parts(payload: &[u8]) -> Result<(UseData, &[u8])> {
    let mut cursor = Cursor(payload);
    let uses = get_uses(&mut cursor)?;
    let uses = uses.ok_or_else(|| error!(Malformed, "a stable pipeline cannot be read back: expand again"))?;
    Ok((uses, cursor.0))
}
