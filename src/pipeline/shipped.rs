//! The shipped cache of a game, as the game reads it.

use std::path::Path;

use super::build::PIPELINE;
use super::files::{
    BUILT, Cursor, HEAD, KINDS, Timelines, get_description, get_dimensions, get_identity, get_uses, short_key,
};
use super::precompile::Sighting;
use super::{DescriptionRef, Dimension, Identity, PipelineKey, ShaderRef, UseData};
use crate::base::{Result, error, sort_slowly, try_push, try_string};
use crate::fingerprint::Fingerprint;
use crate::store::io::SharedIo;
use crate::store::{LogReader, LogRecord};

/// Describes a shipped cache.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShippedInfo {
    /// The game, shader format and graphics API.
    pub identity: Identity,
    /// The build that it was written for.
    pub version: String,
    /// Hash of the contents.
    pub guid: [u8; 16],
    /// Pipelines written: graphics, compute, ray tracing.
    pub written: [u64; 3],
    /// The dimensions of masks.
    pub dimensions: Vec<Dimension>,
}

impl ShippedInfo {
    fn decode(record: &LogRecord, payload: &[u8]) -> Result<Option<Self>> {
        let mut cursor = Cursor(payload);
        let mut numbers = || Some((cursor.u32()?, [cursor.u64()?, cursor.u64()?, cursor.u64()?]));
        let Some((api, written)) = numbers() else { return Ok(None) };
        let mut texts = || Some([cursor.text()?, cursor.text()?, cursor.text()?]);
        let Some([project, format, version]) = texts() else { return Ok(None) };
        let Some(identity) = get_identity(project, format, api)? else { return Ok(None) };
        let version = try_string(version)?;
        let Some(dimensions) = get_dimensions(&mut cursor)? else { return Ok(None) };
        let mut guid = [0; 16];
        guid.copy_from_slice(&record.key[..16]);
        Ok(Some(Self { identity, version, guid, written, dimensions }))
    }

    /// Number of pipelines written.
    pub fn total(&self) -> u64 {
        self.written.iter().fold(0, |sum, count| sum.saturating_add(*count))
    }
}

/// A pipeline of a shipped cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShippedPipeline<'a> {
    /// The name of the description.
    pub key: PipelineKey,
    /// The pipeline.
    pub description: DescriptionRef<'a>,
    /// How recordings used it. [`UseData::runs`] is 0 for a compute pipeline that no recording used.
    pub uses: &'a UseData,
}

/// Result of reading a shipped cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShippedScan {
    /// Pipelines read.
    pub entries: u64,
    /// Pipelines that were written and not read: they are damaged, or the end of the file is missing.
    pub missing: u64,
    /// Damaged stretches of the file, and a missing end. They may have cost no pipeline: the head stands there twice.
    pub damaged: u64,
}

/// When recordings used pipelines first, by pipeline.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sightings(Vec<(u64, Sighting)>);

impl Sightings {
    /// Runs that are known, and their first uses of pipelines.
    pub fn counts(&self) -> Result<(usize, usize)> {
        let mut runs = Vec::new();
        for (_, Sighting { recording, .. }) in &self.0 {
            if !runs.contains(recording) {
                try_push(&mut runs, *recording)?;
            }
        }
        Ok((runs.len(), self.0.len()))
    }

    /// Put the sightings of a pipeline into `found`.
    pub fn of(&self, key: &PipelineKey, found: &mut Vec<Sighting>) -> Result<()> {
        found.clear();
        let key = short_key(key);
        let begin = self.0.partition_point(|(other, _)| *other < key);
        let same = self.0[begin..].iter().take_while(|(other, _)| *other == key);
        for (_, sighting) in same {
            try_push(found, *sighting)?;
        }
        Ok(())
    }
}

/// A shipped cache that can be read.
pub struct Shipped {
    log: LogReader,
    info: ShippedInfo,
}

impl Shipped {
    /// Open a cache of that identity. Another project, shader format or graphics API is refused by name.
    pub fn open(io: &SharedIo, path: &Path, identity: &Identity) -> Result<Self> {
        Self::any(io, path)?.of_identity(identity)
    }

    /// [`open`](Self::open) of a cache in memory. Messages name it `path`.
    pub fn of_bytes(bytes: Vec<u8>, path: &Path, identity: &Identity) -> Result<Self> {
        Self::of_log(LogReader::of_bytes(bytes, path, BUILT, &KINDS)?)?.of_identity(identity)
    }

    /// Open a cache of any identity, to show it.
    pub fn any(io: &SharedIo, path: &Path) -> Result<Self> {
        Self::of_log(LogReader::open(io, path, BUILT, &KINDS)?)
    }

    fn of_log(log: LogReader) -> Result<Self> {
        let mut info = None;
        log.for_each(|record, payload| {
            if record.kind == HEAD {
                info = ShippedInfo::decode(record, payload)?;
            }
            Ok(info.is_none())
        })?;
        let path = log.path().display();
        let info = info.ok_or_else(|| error!(Malformed, "'{path}' does not name its game: it is damaged"))?;
        Ok(Self { log, info })
    }

    fn of_identity(self, identity: &Identity) -> Result<Self> {
        let name = crate::base::try_format(format_args!("'{}'", self.log.path().display()))?;
        identity.check(&self.info.identity, &name)?;
        Ok(self)
    }

    /// Its description.
    pub fn info(&self) -> &ShippedInfo {
        &self.info
    }

    /// The file's path.
    pub fn path(&self) -> &Path {
        self.log.path()
    }

    /// Bytes of the file.
    pub fn length(&self) -> u64 {
        self.log.length()
    }

    /// When some of the runs used its pipelines first. Damaged timelines are skipped.
    pub fn sightings(&self) -> Result<Sightings> {
        let mut list = Vec::new();
        for timeline in Timelines::of(&self.log, PIPELINE)?.iter() {
            let [a, b, c, d, ..] = timeline.run;
            let recording = u32::from_le_bytes([a, b, c, d]);
            list.try_reserve(timeline.uses.len())?;
            list.extend(timeline.uses.iter().map(|&(key, frame)| (key, Sighting { recording, frame })));
        }
        sort_slowly(&mut list, Ord::cmp);
        Ok(Sightings(list))
    }

    /// Pass all pipelines to `each`, in the order of their first use. Damaged ones are skipped and counted.
    pub fn for_each(&self, mut each: impl FnMut(&ShippedPipeline<'_>) -> Result<()>) -> Result<ShippedScan> {
        let mut shaders: Vec<ShaderRef> = Vec::new();
        let mut entries = 0;
        let log = self.log.for_each(|record, payload| {
            if record.kind != PIPELINE {
                return Ok(true);
            }
            let mut cursor = Cursor(payload);
            let Some(uses) = get_uses(&mut cursor)? else { return Ok(true) };
            let Some(description) = get_description(&mut cursor, &mut shaders)? else { return Ok(true) };
            let key = Fingerprint(record.key);
            if cursor.is_at_end() && description.key() == key {
                each(&ShippedPipeline { key, description, uses: &uses })?;
                entries += 1;
            }
            Ok(true)
        })?;
        let (missing, damaged) = (self.info.total().saturating_sub(entries), log.damaged + u64::from(log.is_truncated));
        Ok(ShippedScan { entries, missing, damaged })
    }
}
