//! Recordings of runs, against the shipped caches that the runs had.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use hobgoblin::pipeline::recording::{Merged, Recorded, Recording, RunInfo};
use hobgoblin::pipeline::{MaskSet, PipelineKey, PipelineKind, Shipped, ShippedInfo};
use hobgoblin::store::io::SharedIo;

use crate::failure::Result;
use crate::progress::Progress;

/// A pipeline of the caches.
pub struct Entry {
    pub masks: MaskSet,
    /// Whether a run used it.
    pub is_used: bool,
}

/// A shipped cache that was read.
pub struct CacheFile {
    pub path: PathBuf,
    pub info: ShippedInfo,
    pub entries: u64,
    /// Pipelines that were written and cannot be read.
    pub missing: u64,
    pub bytes: u64,
}

/// The pipelines of all caches.
#[derive(Default)]
pub struct Caches {
    pub files: Vec<CacheFile>,
    pub entries: HashMap<PipelineKey, Entry>,
}

impl Caches {
    /// Add the pipelines of a cache.
    pub fn add(&mut self, path: PathBuf, shipped: &Shipped) -> Result<()> {
        let scan = shipped.for_each(|pipeline| {
            let entry = self.entries.entry(pipeline.key);
            let entry = entry.or_insert_with(|| Entry { masks: MaskSet::default(), is_used: false });
            entry.masks.merge(&pipeline.uses.masks).map(drop)
        })?;
        let (entries, missing, bytes) = (scan.entries, scan.missing, shipped.length());
        self.files.push(CacheFile { path, info: shipped.info().clone(), entries, missing, bytes });
        Ok(())
    }

    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }

    pub fn missing(&self) -> u64 {
        self.files.iter().map(|file| file.missing).sum()
    }

    pub fn used(&self) -> u64 {
        self.entries.values().filter(|entry| entry.is_used).count() as u64
    }
}

/// A pipeline that runs used, and that no cache has.
pub struct Miss {
    pub key: PipelineKey,
    pub kind: PipelineKind,
    /// Runs that missed it.
    pub runs: u32,
    /// Frame of its earliest first use.
    pub first_frame: u64,
    /// Sum of its build times in all runs, in microseconds.
    pub hitch_us: u64,
}

/// A run against the caches.
pub struct Run {
    pub path: PathBuf,
    pub info: RunInfo,
    /// Distinct pipelines of the run.
    pub used: u64,
    /// Build times of the pipelines that it missed, in microseconds. 0: unknown.
    pub missed_us: Vec<u32>,
    pub damaged: u64,
    pub is_truncated: bool,
}

impl Run {
    /// Build times of the missed pipelines, in microseconds.
    pub fn hitch_us(&self) -> u64 {
        self.missed_us.iter().map(|&us| u64::from(us)).sum()
    }

    /// The longest of them.
    pub fn longest_us(&self) -> u64 {
        self.missed_us.iter().max().map_or(0, |&us| us.into())
    }
}

/// All runs.
#[derive(Default)]
pub struct Runs {
    pub runs: Vec<Run>,
    /// Recordings of a run that was read already.
    pub repeated: u64,
    pub merged: Merged,
    known: HashSet<[u8; 16]>,
}

impl Runs {
    /// Read recordings, and mark the pipelines of the caches that they used.
    pub fn read(io: &SharedIo, paths: Vec<PathBuf>, caches: &mut Caches, is_quiet: bool) -> Result<Self> {
        let mut runs = Self::default();
        let progress = Progress::new("reading", paths.len() as u64, is_quiet);
        for path in paths {
            runs.add(&Recording::open(io, &path)?, path, caches)?;
            progress.step()?;
        }
        Ok(runs)
    }

    fn add(&mut self, recording: &Recording, path: PathBuf, caches: &mut Caches) -> Result<()> {
        let info = recording.run().clone();
        if !self.known.insert(info.run) {
            self.repeated += 1;
            return Ok(());
        }
        let (mut seen, mut missed_us) = (HashSet::new(), Vec::new());
        recording.for_each(|record| {
            let Recorded::First(first) = record else { return Ok(()) };
            if first.description.key() != first.key || !seen.insert(first.key) {
                return Ok(());
            }
            match caches.entries.get_mut(&first.key) {
                Some(entry) => entry.is_used = true,
                None => missed_us.push(first.build_us),
            }
            Ok(())
        })?;
        let scan = self.merged.add(recording)?;
        let (damaged, is_truncated, used) = (scan.damaged, scan.is_truncated, seen.len() as u64);
        self.runs.push(Run { path, info, used, missed_us, damaged, is_truncated });
        Ok(())
    }

    /// The pipelines that no cache has, those with the longest hitches first.
    pub fn misses(&self, caches: &Caches) -> Result<Vec<Miss>> {
        let mut misses = Vec::new();
        self.merged.for_each(|pipeline| {
            if !caches.entries.contains_key(&pipeline.key) {
                misses.push(Miss {
                    key: pipeline.key,
                    kind: pipeline.description.kind,
                    runs: pipeline.uses.runs,
                    first_frame: pipeline.uses.first_frame,
                    hitch_us: pipeline.uses.build_us,
                });
            }
            Ok(())
        })?;
        misses.sort_by_key(|miss| (std::cmp::Reverse(miss.hitch_us), miss.key));
        Ok(misses)
    }

    /// Damaged records, and ends that are missing.
    pub fn damaged(&self) -> u64 {
        self.runs.iter().map(|run| run.damaged + u64::from(run.is_truncated)).sum()
    }

    pub fn hitch_us(&self) -> u64 {
        self.runs.iter().map(Run::hitch_us).fold(0, u64::saturating_add)
    }
}
