//! Timelines: the order in which a few runs used pipelines first. The predicted order learns from them which pipelines
//! follow each other.
//!
//! Of thousands of runs, those with the smallest ids are kept. Ids are random, so this is a fair sample. It does not
//! depend on the order in which recordings or files are added.

use crate::base::{Result, sort_slowly, try_push};
use crate::pipeline::PipelineKey;
use crate::pipeline::files::Cursor;
use crate::pipeline::precompile::MAX_SIGHTINGS;
use crate::store::{LogReader, LogRecord, LogWriter};

/// Kind of a record with a timeline, in stable files and built caches. Timelines stand before all pipelines.
pub const TIMELINE: u8 = 3;
/// Bytes of a first use.
const USE: usize = 8 + 4;
/// Most first uses of a timeline.
const MAX_USES: usize = 1 << 20;

/// The first uses of a run: pipelines with their frames.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timeline<K> {
    /// The id of the run.
    pub run: [u8; 16],
    /// Its first uses, each pipeline once after [`Timelines::insert`].
    pub uses: Vec<(K, u32)>,
}

/// The timelines of the runs with the smallest ids, sorted by id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timelines<K>(Vec<Timeline<K>>);

impl<K> Default for Timelines<K> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

/// The part of a key that stands in timelines. A confused pipeline would only be predicted wrongly.
pub fn short_key(key: &PipelineKey) -> u64 {
    key.0.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

impl<K: Copy + Ord> Timelines<K> {
    /// Whether a run is kept, as far as runs are known by now.
    pub fn wants(&self, run: &[u8; 16]) -> bool {
        self.0.len() < MAX_SIGHTINGS || self.0.last().is_some_and(|last| *run <= last.run)
    }

    /// Add the first uses of a run, in any order. Those of a known run are united.
    pub fn insert(&mut self, run: &[u8; 16], mut uses: Vec<(K, u32)>) -> Result<()> {
        if !self.wants(run) {
            return Ok(());
        }
        let at = match self.0.binary_search_by_key(run, |timeline| timeline.run) {
            Ok(at) => {
                uses.try_reserve(self.0[at].uses.len())?;
                uses.extend_from_slice(&self.0[at].uses);
                at
            }
            Err(at) => {
                try_push(&mut self.0, Timeline { run: *run, uses: Vec::new() })?;
                self.0[at..].rotate_right(1);
                self.0.truncate(MAX_SIGHTINGS);
                at
            }
        };
        sort_slowly(&mut uses, Ord::cmp);
        uses.dedup_by_key(|(key, _)| *key);
        self.0[at].uses = uses;
        Ok(())
    }

    /// All timelines, in the order of their ids.
    pub fn iter(&self) -> impl Iterator<Item = &Timeline<K>> {
        self.0.iter()
    }

    /// Add the timelines of others.
    pub fn merge(&mut self, others: &Self) -> Result<()> {
        others.iter().try_for_each(|timeline| self.insert(&timeline.run, crate::base::try_to_vec(&timeline.uses)?))
    }

    /// The same timelines of other pipelines: `find` passes those of a pipeline to its argument.
    pub fn map<T: Copy + Ord>(
        &self,
        find: impl Fn(K, &mut dyn FnMut(T) -> Result<()>) -> Result<()>,
    ) -> Result<Timelines<T>> {
        let mut mapped = Timelines::default();
        for Timeline { run, uses } in self.iter() {
            let mut found = Vec::new();
            for &(key, frame) in uses {
                find(key, &mut |other| try_push(&mut found, (other, frame)))?;
            }
            mapped.insert(run, found)?;
        }
        Ok(mapped)
    }

    /// Bytes held.
    pub fn memory_used(&self) -> usize {
        self.iter().map(|timeline| timeline.uses.capacity() * size_of::<(K, u32)>()).sum()
    }
}

impl Timelines<u64> {
    /// Pass the payloads of all records to `each`, with the run.
    pub fn encode(&self, mut each: impl FnMut(&[u8; 16], &[u8]) -> Result<()>) -> Result<()> {
        let mut payload = Vec::new();
        for Timeline { run, uses } in self.iter().filter(|timeline| !timeline.uses.is_empty()) {
            let uses = &uses[..uses.len().min(MAX_USES)];
            payload.clear();
            payload.try_reserve(uses.len() * USE)?;
            for (key, frame) in uses {
                payload.extend_from_slice(&key.to_le_bytes());
                payload.extend_from_slice(&frame.to_le_bytes());
            }
            each(run, &payload)?;
        }
        Ok(())
    }

    /// Write all records.
    pub fn write(&self, log: &mut LogWriter) -> Result<()> {
        self.encode(|run, payload| {
            let mut key = [0; 32];
            key[..run.len()].copy_from_slice(run);
            log.push(&LogRecord { kind: TIMELINE, key, ..LogRecord::default() }, payload)
        })
    }

    /// Those of a file, which stand before its pipelines, of the kind `pipeline`. Damaged ones are skipped.
    pub fn of(log: &LogReader, pipeline: u8) -> Result<Self> {
        let mut timelines = Self::default();
        log.for_each(|record, payload| {
            if record.kind == TIMELINE {
                timelines.read(record, payload)?;
            }
            Ok(record.kind != pipeline)
        })?;
        Ok(timelines)
    }

    /// Add a record. False: its payload is invalid.
    pub fn read(&mut self, record: &LogRecord, payload: &[u8]) -> Result<bool> {
        let (mut cursor, mut uses) = (Cursor(payload), Vec::new());
        if !payload.len().is_multiple_of(USE) || payload.len() / USE > MAX_USES {
            return Ok(false);
        }
        uses.try_reserve_exact(payload.len() / USE)?;
        while let (Some(key), Some(frame)) = (cursor.u64(), cursor.u32()) {
            uses.push((key, frame));
        }
        let mut run = [0; 16];
        run.copy_from_slice(&record.key[..16]);
        self.insert(&run, uses)?;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(number: u8) -> [u8; 16] {
        [number; 16]
    }

    #[test]
    fn runs_with_the_smallest_ids_are_kept_in_any_order_of_addition() {
        let of = |numbers: &mut dyn Iterator<Item = u8>| {
            let mut timelines = Timelines::default();
            for number in numbers {
                timelines.insert(&run(number), vec![(2, 9), (1, u32::from(number)), (2, 5)]).expect("memory");
            }
            timelines
        };
        let timelines = of(&mut (0..40));
        assert_eq!(timelines, of(&mut (0..40).rev()));
        assert_eq!(timelines.iter().map(|timeline| timeline.run[0]).collect::<Vec<_>>(), (0..16).collect::<Vec<_>>());
        assert!(timelines.iter().all(|timeline| timeline.uses == [(1, timeline.run[0].into()), (2, 5)]));
        assert!(!timelines.wants(&run(16)) && timelines.wants(&run(15)));
    }

    #[test]
    fn timelines_survive_a_round_trip() {
        let mut timelines = Timelines::default();
        timelines.insert(&run(3), vec![(u64::MAX, 7), (4, 0)]).expect("memory");
        timelines.insert(&run(1), vec![(5, u32::MAX)]).expect("memory");
        let mut again = Timelines::default();
        let mut read = |run: &[u8; 16], payload: &[u8]| {
            let mut record = LogRecord::default();
            record.key[..16].copy_from_slice(run);
            assert!(again.read(&record, payload)?);
            assert!(!again.clone().read(&record, &payload[1..])?);
            Ok(())
        };
        timelines.encode(&mut read).expect("memory");
        assert_eq!(again, timelines);
    }
}
