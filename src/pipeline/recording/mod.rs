//! Recordings: the pipelines that a run of the game used first, as a file.
//!
//! A run writes a file of its own, `*.rec.hobpipe`, and never changes one that exists. A pipeline is recorded at its
//! first use, and is safe from a kill when the call returns. Later uses are recorded in batches. Recordings of many runs
//! merge into one view by key, in any order.
//!
//! A use that no batch recorded is lost with a kill; the pipeline is not. A flipped bit costs the record it hits.
//!
//! | file | content |
//! |---|---|
//! | `merged` | [`Merged`]: the pipelines of several recordings |
//! | `spilled` | a merge of more pipelines than memory holds |

mod merged;
mod spilled;
#[cfg(test)]
mod tests;

use std::path::Path;

use super::files::{
    Cursor, HEAD, KINDS, RECORDING, get_description, get_dimensions, get_identity, put_description, put_dimensions,
    put_text,
};
use super::{DescriptionRef, Dimension, Identity, Mask, PipelineKey, ShaderRef};
use crate::base::{Result, error, try_string, try_to_vec};
use crate::fingerprint::Fingerprint;
use crate::store::io::SharedIo;
use crate::store::{FoundRecord, LogReader, LogRecord, LogScan, LogWriter};

pub use merged::{Merged, MergedPipeline, PipelineBuffer};
pub(in crate::pipeline) use spilled::SpilledMerge;

/// Kinds of records.
mod kind {
    /// A pipeline at its first use, which no cache had.
    pub const UNKNOWN: u8 = 2;
    /// A batch of later uses.
    pub const USES: u8 = 3;
    /// A pipeline of a cache at its first use, which was ready.
    pub const READY: u8 = 4;
    /// A pipeline of a cache at its first use, which was not ready.
    pub const MISSED: u8 = 5;
}

/// Bytes of a use in a batch.
const USE: usize = 32 + 8 + 32;
/// Most uses of a batch, so that a flipped bit costs few.
pub const MAX_BATCH: usize = 1024;

/// Describes a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunInfo {
    /// The game, shader format and graphics API.
    pub identity: Identity,
    /// Name of the graphics API, for people.
    pub api_name: String,
    /// The build or version of the game.
    pub version: String,
    /// Unique among runs: a run that is merged twice counts once.
    pub run: [u8; 16],
    /// Start of the run, in seconds since 1970.
    pub started: u64,
    /// The dimensions of masks. Empty: masks are the host's own.
    pub dimensions: Vec<Dimension>,
}

impl RunInfo {
    fn encode(&self) -> Result<Vec<u8>> {
        super::check_dimensions(&self.dimensions)?;
        let mut out = try_to_vec(&self.run)?;
        out.try_reserve(12)?;
        out.extend_from_slice(&self.started.to_le_bytes());
        out.extend_from_slice(&self.identity.api.to_le_bytes());
        for text in [&self.identity.project, &self.identity.format, &self.api_name, &self.version] {
            put_text(&mut out, text)?;
        }
        put_dimensions(&mut out, &self.dimensions)?;
        Ok(out)
    }

    fn decode(bytes: &[u8]) -> Result<Option<Self>> {
        let mut cursor = Cursor(bytes);
        let mut head = || Some((cursor.array()?, cursor.u64()?, cursor.u32()?));
        let Some((run, started, api)) = head() else { return Ok(None) };
        let mut texts = || Some([cursor.text()?, cursor.text()?, cursor.text()?, cursor.text()?]);
        let Some([project, format, api_name, version]) = texts() else { return Ok(None) };
        let Some(identity) = get_identity(project, format, api)? else { return Ok(None) };
        let (api_name, version) = (try_string(api_name)?, try_string(version)?);
        let dimensions = get_dimensions(&mut cursor)?;
        let info = dimensions.map(|dimensions| Self { identity, api_name, version, run, started, dimensions });
        Ok(info.filter(|_| cursor.is_at_end()))
    }
}

/// Whether a pipeline could be drawn with at its first use in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Readiness {
    /// No cache had it: the host built it.
    #[default]
    Unknown,
    /// A cache had it, and it was ready.
    Ready,
    /// A cache had it, and it was not ready: it waited, was being compiled, had failed, or was banned.
    Missed,
}

impl Readiness {
    const fn kind(self) -> u8 {
        match self {
            Self::Unknown => kind::UNKNOWN,
            Self::Ready => kind::READY,
            Self::Missed => kind::MISSED,
        }
    }

    fn of_kind(kind: u8) -> Option<Self> {
        [Self::Unknown, Self::Ready, Self::Missed].into_iter().find(|readiness| readiness.kind() == kind)
    }
}

/// A pipeline at its first use in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FirstUse<'a> {
    /// The name of the description.
    pub key: PipelineKey,
    /// The pipeline.
    pub description: DescriptionRef<'a>,
    /// The usage mask at that time.
    pub mask: Mask,
    /// Frames since the start of the run.
    pub frame: u64,
    /// Build time in microseconds. 0: unknown.
    pub build_us: u32,
    /// Whether it could be drawn with.
    pub readiness: Readiness,
}

/// Later uses of a pipeline with a mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaterUses {
    /// The pipeline.
    pub key: PipelineKey,
    /// Uses since the last record, without the first one.
    pub times: u64,
    /// Their usage mask.
    pub mask: Mask,
}

/// Writes the recording of a run.
pub struct Recorder {
    log: LogWriter,
    buffer: Vec<u8>,
    count: u64,
}

impl Recorder {
    /// Begin a recording in a new file. An existing file is an error.
    pub fn create(io: &SharedIo, path: &Path, run: &RunInfo) -> Result<Self> {
        let info = run.encode()?;
        // Invalid names would make a file that no reader accepts.
        Identity::new(&run.identity.project, &run.identity.format, run.identity.api)?;
        let mut log = LogWriter::create(io, path, RECORDING)?;
        // Twice, so that no single flipped bit costs the recording.
        let mut write_heads = || {
            for _ in 0..2 {
                log.push(&LogRecord { kind: HEAD, ..LogRecord::default() }, &info)?;
            }
            log.flush()
        };
        if let Err(why) = write_heads() {
            // Otherwise the file would refuse the next try.
            drop(log);
            _ = io.remove(path);
            return Err(why);
        }
        Ok(Self { log, buffer: Vec::new(), count: 0 })
    }

    /// Record the first use of a pipeline. A kill after the call does not lose it. The caller records each pipeline once.
    pub fn record(&mut self, first: &FirstUse<'_>) -> Result<()> {
        first.description.check()?;
        self.buffer.clear();
        self.buffer.try_reserve(32)?;
        first.mask.0.iter().for_each(|word| self.buffer.extend_from_slice(&word.to_le_bytes()));
        put_description(&mut self.buffer, &first.description)?;
        let kind = first.readiness.kind();
        let record = LogRecord { kind, key: first.key.0, stamp: first.frame, build_us: first.build_us };
        self.log.push(&record, &self.buffer)?;
        self.log.flush()?;
        self.count += 1;
        Ok(())
    }

    /// Record a batch of later uses, at most [`MAX_BATCH`]. It is one record, so a reader gets all of it or nothing. A kill
    /// after the call does not lose it. On an error it is not recorded.
    pub fn record_uses(&mut self, uses: &[LaterUses]) -> Result<()> {
        if uses.len() > MAX_BATCH {
            let count = uses.len();
            return Err(error!(LimitExceeded, "the batch has {count} uses: pass at most {MAX_BATCH}"));
        }
        if uses.is_empty() {
            return Ok(());
        }
        self.buffer.clear();
        self.buffer.try_reserve(uses.len() * USE)?;
        uses.iter().for_each(|uses| put_later(&mut self.buffer, uses));
        self.log.push(&LogRecord { kind: kind::USES, ..LogRecord::default() }, &self.buffer)?;
        self.log.flush()
    }

    /// Wait until everything is on the disk.
    pub fn sync(&mut self) -> Result<()> {
        self.log.sync()
    }

    /// Pipelines recorded.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Bytes of the file.
    pub fn length(&self) -> u64 {
        self.log.length()
    }
}

/// A record of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recorded<'a> {
    /// The first use of a pipeline. Its key is as the file says: [`Merged`] checks it against the description.
    First(FirstUse<'a>),
    /// Later uses.
    Later(LaterUses),
}

/// A recording that can be read. Records stream, so memory does not depend on the file's length.
pub struct Recording {
    log: LogReader,
    run: RunInfo,
}

impl Recording {
    /// Open a recording. A file of another kind is refused by name.
    pub fn open(io: &SharedIo, path: &Path) -> Result<Self> {
        Self::of_log(LogReader::open(io, path, RECORDING, &KINDS)?)
    }

    /// A recording in memory. Messages name it `path`.
    pub fn of_bytes(bytes: Vec<u8>, path: &Path) -> Result<Self> {
        Self::of_log(LogReader::of_bytes(bytes, path, RECORDING, &KINDS)?)
    }

    fn of_log(log: LogReader) -> Result<Self> {
        let mut run = None;
        log.for_each(|record, payload| {
            if record.kind == HEAD {
                run = RunInfo::decode(payload)?;
            }
            Ok(run.is_none())
        })?;
        let path = log.path().display();
        let run = run.ok_or_else(|| error!(Malformed, "'{path}' does not say which run it recorded: it is damaged"))?;
        Ok(Self { log, run })
    }

    /// The run.
    pub fn run(&self) -> &RunInfo {
        &self.run
    }

    /// The file's path.
    pub fn path(&self) -> &Path {
        self.log.path()
    }

    /// Bytes of the file.
    pub fn length(&self) -> u64 {
        self.log.length()
    }

    /// Pass all records to `each`, in order. Returns what was lost: damaged records count one each.
    pub fn for_each(&self, mut each: impl FnMut(&Recorded<'_>) -> Result<()>) -> Result<LogScan> {
        let mut shaders: Vec<ShaderRef> = Vec::new();
        self.for_each_batch(|bytes, records| {
            let mut lost = 0;
            for FoundRecord { record, payload } in records {
                let payload = &bytes[payload.clone()];
                match Encoded::of(record, payload) {
                    Encoded::First(first) => match first.decode(record, &mut shaders)? {
                        Some(first) => each(&Recorded::First(first))?,
                        None => lost += 1,
                    },
                    Encoded::Later(uses) => lost += for_each_later(uses, |later| each(&Recorded::Later(later)))?,
                    Encoded::Damaged => lost += 1,
                    Encoded::Other => {}
                }
            }
            Ok(lost)
        })
    }

    /// Pass all records to `each`, a few at once, with the bytes that have their payloads. It returns the number of records
    /// that are lost.
    fn for_each_batch(&self, mut each: impl FnMut(&[u8], &[FoundRecord]) -> Result<u64>) -> Result<LogScan> {
        let (mut cursor, mut records, mut lost) = (self.log.cursor()?, Vec::new(), 0);
        loop {
            cursor.next_few(&self.log, &mut records, BATCH)?;
            if records.is_empty() {
                let mut scan = cursor.lost();
                scan.damaged += lost;
                return Ok(scan);
            }
            lost += each(cursor.bytes(), &records)?;
        }
    }
}

/// Most records of a batch. Merging a record needs memory that is in no cache, so the processor is asked for that of a
/// whole batch first. Its payloads stay in the first-level cache. Tests have several batches in a recording.
const BATCH: usize = if cfg!(any(test, feature = "fault-injection")) { 4 } else { 32 };

/// The payload of a record, unchecked.
enum Encoded<'a> {
    First(EncodedFirst<'a>),
    /// Later uses: see [`for_each_later`].
    Later(&'a [u8]),
    /// A first use without a mask.
    Damaged,
    /// The head, or a record of a later version, which this one does without.
    Other,
}

/// The payload of a [`FirstUse`] with its description as the file has it.
#[derive(Clone, Copy)]
struct EncodedFirst<'a> {
    mask: Mask,
    readiness: Readiness,
    description: &'a [u8],
}

impl<'a> Encoded<'a> {
    #[inline]
    fn of(record: &LogRecord, payload: &'a [u8]) -> Self {
        match (record.kind, Readiness::of_kind(record.kind)) {
            (kind::USES, _) => Self::Later(payload),
            (_, Some(readiness)) => {
                let mut cursor = Cursor(payload);
                match cursor.mask() {
                    Some(mask) => Self::First(EncodedFirst { mask, readiness, description: cursor.0 }),
                    None => Self::Damaged,
                }
            }
            _ => Self::Other,
        }
    }
}

impl EncodedFirst<'_> {
    /// `None`: the description is invalid.
    fn decode<'a>(&'a self, record: &LogRecord, shaders: &'a mut Vec<ShaderRef>) -> Result<Option<FirstUse<'a>>> {
        let (mut cursor, Self { mask, readiness, .. }) = (Cursor(self.description), *self);
        let LogRecord { key, stamp: frame, build_us, .. } = *record;
        let description = get_description(&mut cursor, shaders)?.filter(|_| cursor.is_at_end());
        let key = Fingerprint(key);
        Ok(description.map(|description| FirstUse { key, description, mask, frame, build_us, readiness }))
    }
}

/// Pass the later uses in a payload to `each`. Returns the number of uses that are cut off: 0 or 1.
fn for_each_later(payload: &[u8], mut each: impl FnMut(LaterUses) -> Result<()>) -> Result<u64> {
    let mut cursor = Cursor(payload);
    while let Some(uses) = get_later(&mut cursor) {
        each(uses)?;
    }
    Ok(u64::from(!payload.len().is_multiple_of(USE)))
}

/// Append [`USE`] bytes, for which there is room.
fn put_later(out: &mut Vec<u8>, LaterUses { key, times, mask }: &LaterUses) {
    out.extend_from_slice(&key.0);
    out.extend_from_slice(&times.to_le_bytes());
    mask.0.iter().for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
}

fn get_later(cursor: &mut Cursor<'_>) -> Option<LaterUses> {
    Some(LaterUses { key: Fingerprint(cursor.array()?), times: cursor.u64()?, mask: cursor.mask()? })
}
