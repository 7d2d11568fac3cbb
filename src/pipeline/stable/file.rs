//! `<prefix>_<project>_<format>.hobstable`: stable pipelines as a file.

use std::path::Path;

use crate::base::{Result, error, try_format, try_push, try_string};
use crate::fingerprint::{Builder, Fingerprint, LANES, Siblings};
use crate::pipeline::files::{
    Cursor, Dimension, HEAD, KINDS, STABLE, Timelines, UseData, check_dimensions, get_dimensions, get_identity,
    get_uses, put_dimensions, put_text, put_uses, skip_uses,
};
use crate::pipeline::{Identity, MAX_SHADERS, MAX_STATE, PipelineKey, PipelineKind, Schema};
use crate::store::io::SharedIo;
use crate::store::{LogReader, LogRecord, LogScan, LogWriter};

/// Kind of a record with a pipeline.
const PIPELINE: u8 = 2;
const CONTEXT: &str = "hobgoblin stable pipeline 1";

/// The name of a stable file.
pub fn file_name(prefix: &str, identity: &Identity) -> Result<String> {
    let Identity { project, format, .. } = identity;
    try_format(format_args!("{prefix}_{project}_{format}.hobstable"))
}

/// Describes a stable file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StableInfo {
    /// The game, shader format and graphics API.
    pub identity: Identity,
    /// The build that was recorded.
    pub version: String,
    /// The name of the runs and keys that it was made of. A file that is merged twice counts once.
    pub source: Fingerprint,
    /// Starts of the first and the last run, in seconds since 1970.
    pub runs_from: u64,
    /// Start of the last run.
    pub runs_to: u64,
    /// Number of pipelines.
    pub pipelines: u64,
    /// The dimensions of masks.
    pub dimensions: Vec<Dimension>,
}

impl StableInfo {
    fn encode(&self) -> Result<Vec<u8>> {
        check_dimensions(&self.dimensions)?;
        let mut out = Vec::new();
        out.try_reserve(28)?;
        out.extend_from_slice(&self.runs_from.to_le_bytes());
        out.extend_from_slice(&self.runs_to.to_le_bytes());
        out.extend_from_slice(&self.identity.api.to_le_bytes());
        for text in [&self.identity.project, &self.identity.format, &self.version] {
            put_text(&mut out, text)?;
        }
        put_dimensions(&mut out, &self.dimensions)?;
        Ok(out)
    }

    fn decode(record: &LogRecord, payload: &[u8]) -> Result<Option<Self>> {
        let mut cursor = Cursor(payload);
        let mut numbers = || Some((cursor.u64()?, cursor.u64()?, cursor.u32()?));
        let Some((runs_from, runs_to, api)) = numbers() else { return Ok(None) };
        let mut texts = || Some([cursor.text()?, cursor.text()?, cursor.text()?]);
        let Some([project, format, version]) = texts() else { return Ok(None) };
        let Some(identity) = get_identity(project, format, api)? else { return Ok(None) };
        let (version, source, pipelines) = (try_string(version)?, Fingerprint(record.key), record.stamp);
        let Some(dimensions) = get_dimensions(&mut cursor)? else { return Ok(None) };
        Ok(Some(Self { identity, version, source, runs_from, runs_to, pipelines, dimensions }))
    }
}

/// A shader of a stable pipeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StableShader<'a> {
    /// Its stage.
    pub stage: u32,
    /// Its keys, sorted: any of them names it.
    pub keys: Keys<'a>,
}

/// The keys of a shader, encoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keys<'a> {
    rest: Cursor<'a>,
}

impl<'a> Iterator for Keys<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        self.rest.text()
    }
}

/// A pipeline whose shaders have stable keys.
#[derive(Debug)]
pub struct StablePipeline<'a> {
    /// The name of the stable description.
    pub key: PipelineKey,
    /// Graphics, compute or ray tracing.
    pub kind: PipelineKind,
    /// How to read the state.
    pub schema: Schema,
    /// Everything but the shaders.
    pub state: &'a [u8],
    /// Its shaders, in the host's order.
    pub shaders: &'a [StableShader<'a>],
    /// How all runs used it.
    pub uses: &'a UseData,
}

/// The name of an encoded stable description.
pub fn stable_key(encoded: &[u8]) -> PipelineKey {
    let mut name = Builder::new(CONTEXT);
    name.part(1, 0, encoded);
    name.finish()
}

/// Makes the names of many encoded stable descriptions: of those of one length, [`LANES`] at once.
pub struct StableKeys {
    siblings: Siblings,
    waiting: Vec<Waiting>,
}

/// Descriptions of one length that wait for others.
struct Waiting {
    length: usize,
    encoded: Vec<u8>,
    numbers: Vec<u32>,
}

/// Most lengths whose descriptions wait, and the longest of them. All others get their name at once.
const LENGTHS: usize = 64;
const LONGEST: usize = 1024;

impl StableKeys {
    pub fn new() -> Self {
        Self { siblings: Siblings::new(CONTEXT, &[]), waiting: Vec::new() }
    }

    /// Add a description with a number. The names that are known then are passed to `each`, with their numbers.
    pub fn add(
        &mut self,
        number: u32,
        encoded: &[u8],
        mut each: impl FnMut(PipelineKey, u32) -> Result<()>,
    ) -> Result<()> {
        let length = encoded.len();
        let at = match self.waiting.iter().position(|waiting| waiting.length == length) {
            Some(at) => at,
            None if self.waiting.len() == LENGTHS || length > LONGEST => return each(stable_key(encoded), number),
            None => {
                let (mut encoded, mut numbers) = (Vec::new(), Vec::new());
                encoded.try_reserve_exact(LANES * length)?;
                numbers.try_reserve_exact(LANES)?;
                try_push(&mut self.waiting, Waiting { length, encoded, numbers })?;
                self.waiting.len() - 1
            }
        };
        let Waiting { encoded: all, numbers, .. } = &mut self.waiting[at];
        // There is room for all lanes.
        all.extend_from_slice(encoded);
        numbers.push(number);
        if numbers.len() < LANES {
            return Ok(());
        }
        let keys = self.siblings.names(1, 0, &std::array::from_fn(|lane| &all[lane * length..][..length]));
        keys.into_iter().zip(&*numbers).try_for_each(|(key, &number)| each(key, number))?;
        all.clear();
        numbers.clear();
        Ok(())
    }

    /// Pass the names of all that still wait to `each`.
    pub fn finish(self, mut each: impl FnMut(PipelineKey, u32) -> Result<()>) -> Result<()> {
        self.waiting.iter().try_for_each(|Waiting { length, encoded, numbers }| {
            let mut encoded = encoded.chunks_exact(*length).zip(numbers);
            encoded.try_for_each(|(encoded, &number)| each(stable_key(encoded), number))
        })
    }
}

/// A stable description: kind, schema, state, and for each shader its stage and its keys.
pub fn get_stable<'a>(
    cursor: &mut Cursor<'a>,
    shaders: &mut Vec<StableShader<'a>>,
) -> Result<Option<(PipelineKind, Schema, &'a [u8])>> {
    let mut head = || {
        let kind = PipelineKind::from_number(cursor.u8()?.into())?;
        let schema = Schema(cursor.u32()?);
        let length = cursor.u32()? as usize;
        let state = cursor.take(length).filter(|_| length <= MAX_STATE)?;
        Some((kind, schema, state, usize::from(cursor.u16()?)))
    };
    let Some((kind, schema, state, count)) = head() else { return Ok(None) };
    if !(1..=MAX_SHADERS).contains(&count) {
        return Ok(None);
    }
    shaders.clear();
    shaders.try_reserve(count)?;
    for _ in 0..count {
        let mut shader = || {
            let (stage, keys) = (cursor.u32()?, cursor.u16()?);
            let begin = cursor.0;
            (0..keys).try_for_each(|_| cursor.text().map(|_| ()))?;
            let keys = Keys { rest: Cursor(&begin[..begin.len() - cursor.0.len()]) };
            Some(StableShader { stage, keys })
        };
        let Some(shader) = shader() else { return Ok(None) };
        shaders.push(shader);
    }
    Ok(Some((kind, schema, state)))
}

/// Writes a pipeline: its key, its use data, and its encoded form.
pub type Put<'a> = dyn FnMut(&PipelineKey, &UseData, &[u8]) -> Result<()> + 'a;

/// Write a stable file in place of one at `path`. `pipelines` calls its argument with each pipeline.
pub fn write(
    io: &SharedIo,
    path: &Path,
    info: &StableInfo,
    timelines: &Timelines<u64>,
    pipelines: impl FnOnce(&mut Put<'_>) -> Result<()>,
) -> Result<u64> {
    let mut log = LogWriter::replace(io, path, STABLE)?;
    let head = LogRecord { kind: HEAD, key: info.source.0, stamp: info.pipelines, build_us: 0 };
    let encoded = info.encode()?;
    // Twice, so that no single flipped bit costs the file.
    log.push(&head, &encoded)?;
    log.push(&head, &encoded)?;
    timelines.write(&mut log)?;
    let mut out = Vec::new();
    pipelines(&mut |key, uses, encoded| {
        out.clear();
        put_uses(&mut out, uses)?;
        out.try_reserve(encoded.len())?;
        out.extend_from_slice(encoded);
        log.push(&LogRecord { kind: PIPELINE, key: key.0, ..LogRecord::default() }, &out)
    })?;
    log.finish()
}

/// A stable file that can be read.
pub struct StableFile {
    log: LogReader,
    info: StableInfo,
}

impl StableFile {
    /// Open a stable file. A file of another kind is refused by name.
    pub fn open(io: &SharedIo, path: &Path) -> Result<Self> {
        Self::of_log(LogReader::open(io, path, STABLE, &KINDS)?)
    }

    /// A stable file in memory. Messages name it `path`.
    pub fn of_bytes(bytes: Vec<u8>, path: &Path) -> Result<Self> {
        Self::of_log(LogReader::of_bytes(bytes, path, STABLE, &KINDS)?)
    }

    fn of_log(log: LogReader) -> Result<Self> {
        let mut info = None;
        log.for_each(|record, payload| {
            if record.kind == HEAD {
                info = StableInfo::decode(record, payload)?;
            }
            Ok(info.is_none())
        })?;
        let path = log.path().display();
        let info = info.ok_or_else(|| error!(Malformed, "'{path}' does not name its game: it is damaged"))?;
        Ok(Self { log, info })
    }

    /// Its description.
    pub fn info(&self) -> &StableInfo {
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

    /// When some of the runs used its pipelines first, by the first 8 bytes of their keys. Damaged
    /// timelines are skipped.
    pub fn timelines(&self) -> Result<Timelines<u64>> {
        Timelines::of(&self.log, PIPELINE)
    }

    /// Pass the stable keys of all pipelines to `each`. The names of pipelines are not checked here, so a key may be of a
    /// pipeline that [`for_each`](Self::for_each) skips.
    pub fn for_each_key(&self, mut each: impl FnMut(&str) -> Result<()>) -> Result<()> {
        self.log.for_each(|record, payload| {
            let mut cursor = Cursor(payload);
            if record.kind != PIPELINE || skip_uses(&mut cursor).is_none() {
                return Ok(true);
            }
            let mut shaders = Vec::new();
            if get_stable(&mut cursor, &mut shaders)?.is_some() {
                shaders.into_iter().flat_map(|shader| shader.keys).try_for_each(&mut each)?;
            }
            Ok(true)
        })?;
        Ok(())
    }

    /// Pass all pipelines to `each`, with their encoded form. Damaged ones are skipped and counted.
    pub fn for_each(&self, mut each: impl FnMut(&StablePipeline<'_>, &[u8]) -> Result<()>) -> Result<LogScan> {
        let mut misnamed = 0;
        let mut scan = self.for_each_unchecked(|pipeline, encoded| {
            if pipeline.key == stable_key(encoded) {
                return each(pipeline, encoded);
            }
            misnamed += 1;
            Ok(())
        })?;
        scan.damaged += misnamed;
        Ok(scan)
    }

    /// As [`for_each`](Self::for_each), without a check of the names against the pipelines, which takes half of the time. The
    /// checksums of records are checked, so only a writer can give a pipeline another name.
    pub fn for_each_unchecked(
        &self,
        mut each: impl FnMut(&StablePipeline<'_>, &[u8]) -> Result<()>,
    ) -> Result<LogScan> {
        let mut lost = 0;
        let mut scan = self.log.for_each(|record, payload| {
            if record.kind != PIPELINE {
                return Ok(true);
            }
            let mut cursor = Cursor(payload);
            let uses = get_uses(&mut cursor)?;
            let (encoded, key) = (cursor.0, Fingerprint(record.key));
            let mut shaders = Vec::new();
            let stable = get_stable(&mut cursor, &mut shaders)?.filter(|_| cursor.is_at_end());
            match (uses, stable) {
                (Some(uses), Some((kind, schema, state))) => {
                    let pipeline = StablePipeline { key, kind, schema, state, shaders: &shaders, uses: &uses };
                    each(&pipeline, encoded)?;
                }
                _ => lost += 1,
            }
            Ok(true)
        })?;
        scan.damaged += lost;
        Ok(scan)
    }
}
