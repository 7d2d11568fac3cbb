//! A single file of records that is written once and read from begin to end: the format of a segment, without a
//! directory, an index or a lock.
//!
//! Each kind of file has its own format number in the heads. So a store ignores such a file, and a reader refuses a file
//! of another kind by name. A record is on its way to the disk when [`LogWriter::flush`] returns: killing
//! the process afterwards loses nothing. Damage costs the records that it hits, as in a segment.

use std::io::IoSlice;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::format::{self, Checks, Form, HEADS, Header, encode_heads};
use super::io::{SharedFile, SharedIo, read_exact_at};
use super::segment::{Found, Next, ScanError, ScanLimits, ScanPosition, Scanner};
use super::{Key, Name, io_error};
use crate::base::{Result, Text, error, try_path, try_path_join};

/// Bit of the formats of such files. The others are the kind and the version.
const LOG: u32 = 1 << 30;
/// Bytes of a record with a payload of so many bytes.
pub fn record_bytes(payload: usize) -> u64 {
    format::record_size(payload as u32)
}

/// Bytes that are gathered before they are written.
const BUFFER: usize = 256 << 10;
/// Longest payload, in bytes.
pub const LONGEST_RECORD: usize = 16 << 20;

/// A kind of file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogKind {
    /// Unique among the kinds.
    pub number: u8,
    /// Version of the content. A reader reads one version.
    pub version: u8,
    /// Its name in messages, such as "a recording".
    pub name: &'static str,
}

impl LogKind {
    fn format(self) -> u32 {
        LOG | u32::from(self.number) << 8 | u32::from(self.version)
    }
}

/// The header of a record, without what the format needs itself. All fields but the kind are free.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogRecord {
    /// The meaning of the record.
    pub kind: u8,
    /// A name.
    pub key: Key,
    /// A number.
    pub stamp: u64,
    /// Build time in microseconds.
    pub build_us: u32,
}

/// A path for a file until it is complete: beside `path`, with a name that no other file has.
pub(super) fn unfinished_path(io: &SharedIo, path: &Path) -> Result<PathBuf> {
    let name = Text::<48>::format(format_args!(".hobgoblin-{:016x}.new", io.nonce()));
    try_path_join(path.parent().unwrap_or(Path::new("")), name.as_str())
}

/// Writes a file.
pub struct LogWriter {
    io: SharedIo,
    path: PathBuf,
    /// The path of the finished file, if it differs.
    target: Option<PathBuf>,
    file: SharedFile,
    seed: u64,
    /// Bytes of the file that hold whole records.
    written: u64,
    /// A write failed, and bytes after `written` may be left.
    is_torn: bool,
    buffer: Vec<u8>,
}

impl LogWriter {
    /// Create a new file, which is never an existing one. The checksums of its records are seeded with a random number.
    pub fn create(io: &SharedIo, path: &Path, kind: LogKind) -> Result<Self> {
        Self::begin(io, try_path(path)?, None, kind, io.nonce())
    }

    /// Begin a file that [`finish`](Self::finish) puts at `path`, in place of a file there. The same records in the same
    /// order give the same bytes.
    pub fn replace(io: &SharedIo, path: &Path, kind: LogKind) -> Result<Self> {
        Self::begin(io, unfinished_path(io, path)?, Some(try_path(path)?), kind, 0)
    }

    fn begin(io: &SharedIo, path: PathBuf, target: Option<PathBuf>, kind: LogKind, seed: u64) -> Result<Self> {
        let mut buffer = Vec::new();
        buffer.try_reserve_exact(BUFFER)?;
        buffer.extend_from_slice(&encode_heads(0, seed, kind.format()));
        let file = io.create_named(&path, target.as_deref().unwrap_or(&path));
        let file = file.map_err(|why| io_error("create", target.as_deref().unwrap_or(&path), &why))?;
        Ok(Self { io: io.clone(), path, target, file, seed, written: 0, is_torn: false, buffer })
    }

    /// Add a record. It is written by the next [`flush`](Self::flush), or when many bytes have gathered. On an error the
    /// record is not added.
    pub fn push(&mut self, record: &LogRecord, payload: &[u8]) -> Result<()> {
        if payload.len() > LONGEST_RECORD {
            let size = payload.len();
            return Err(error!(LimitExceeded, "a record has {size} bytes: at most {LONGEST_RECORD} are possible"));
        }
        let size = format::record_size(payload.len() as u32) as usize;
        if self.buffer.len() + size > BUFFER {
            self.flush()?;
        }
        self.buffer.try_reserve(size)?;
        let checks = Checks::new(None);
        let name = Name { kind: record.kind, environment: 0, key: record.key };
        let mut header = Header::new(&name, Form::Plain, record.stamp, payload, &checks);
        header.build_us = record.build_us;
        let begin = self.buffer.len();
        self.buffer.extend_from_slice(&header.encode(&checks, self.seed, self.written + begin as u64));
        self.buffer.extend_from_slice(payload);
        self.buffer.resize(begin + size, 0);
        Ok(())
    }

    /// Write all records that were added. Those that cannot be written are dropped.
    pub fn flush(&mut self) -> Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let done = self.write();
        self.buffer.clear();
        let mut small = Vec::new();
        // A record may have been longer than all others together. Without memory for a smaller buffer, it stays large.
        if self.buffer.capacity() > 2 * BUFFER && small.try_reserve_exact(BUFFER).is_ok() {
            self.buffer = small;
        }
        done.map_err(|why| io_error("write", &self.path, &why))
    }

    fn write(&mut self) -> std::io::Result<()> {
        if self.is_torn {
            self.file.truncate(self.written)?;
        }
        self.is_torn = true;
        if let Err(why) = self.file.append(&mut [IoSlice::new(&self.buffer)]) {
            self.is_torn = self.file.truncate(self.written).is_err();
            return Err(why);
        }
        self.is_torn = false;
        self.written += self.buffer.len() as u64;
        Ok(())
    }

    /// Write all records, and wait until they are on the disk.
    pub fn sync(&mut self) -> Result<()> {
        self.flush()?;
        self.file.sync().map_err(|why| io_error("sync", &self.path, &why))
    }

    /// Bytes of the file.
    pub fn length(&self) -> u64 {
        self.written + self.buffer.len() as u64
    }

    /// The file's path, which differs from the one it will have until [`finish`](Self::finish).
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Wait until the file is on the disk, and give it its name. Returns its bytes.
    pub fn finish(mut self) -> Result<u64> {
        self.sync()?;
        if let Some(target) = &self.target {
            self.io.replace_named(&self.path, target).map_err(|why| io_error("write", target, &why))?;
        }
        let path = self.target.take().unwrap_or_else(|| std::mem::take(&mut self.path));
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        self.io.sync_directory(parent).map_err(|why| io_error("sync", parent, &why))?;
        Ok(self.length())
    }
}

impl Drop for LogWriter {
    fn drop(&mut self) {
        if self.target.is_some() {
            let _ = self.io.remove(&self.path);
        } else {
            let _ = self.flush();
        }
    }
}

/// Bytes that a pass over a file skipped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogScan {
    /// Stretches of damaged bytes between records, and records that are too long.
    pub damaged: u64,
    /// Whether bytes after the last whole record were skipped: the writer was killed, or the file was cut.
    pub is_truncated: bool,
}

/// A file that can be read from begin to end, as often as wanted. Reading it holds 256 KiB, or its longest
/// record.
pub struct LogReader {
    path: PathBuf,
    file: SharedFile,
    seed: u64,
    length: u64,
}

impl LogReader {
    /// Open a file of a kind. A file of another one in `known` is refused by name.
    pub fn open(io: &SharedIo, path: &Path, kind: LogKind, known: &[LogKind]) -> Result<Self> {
        let file = io.open_input(path).map_err(|why| io_error("read", path, &why))?;
        Self::of_file(file, path, kind, known)
    }

    /// A file in memory. Messages name it `path`.
    pub fn of_bytes(bytes: Vec<u8>, path: &Path, kind: LogKind, known: &[LogKind]) -> Result<Self> {
        Self::of_file(super::bundle::memory_file(bytes)?, path, kind, known)
    }

    fn of_file(file: SharedFile, path: &Path, kind: LogKind, known: &[LogKind]) -> Result<Self> {
        let mut heads = [0; HEADS];
        let failed = |why| io_error("read", path, &why);
        let length = file.length().map_err(failed)?;
        // A head is enough: the other one may be missing.
        let there = (length as usize).min(HEADS);
        read_exact_at(&*file, &mut heads[..there], 0).map_err(failed)?;
        match format::decode_heads(&heads, 0, kind.format()) {
            format::Head::Ours { seed } => Ok(Self { path: try_path(path)?, file, seed, length }),
            format::Head::Foreign { format } => {
                let (path, wanted) = (path.display(), kind.name);
                match known.iter().find(|other| other.format() >> 8 == format >> 8) {
                    Some(other) if other.number == kind.number => {
                        let (theirs, own) = (format & 0xff, kind.version);
                        Err(error!(Unsupported, "'{path}' has version {theirs}, and version {own} is readable"))
                    }
                    Some(other) => Err(error!(Unsupported, "'{path}' is {}, not {wanted}", other.name)),
                    None => Err(error!(Unsupported, "'{path}' is of another kind, not {wanted}")),
                }
            }
            format::Head::Damaged => {
                let (path, wanted) = (path.display(), kind.name);
                Err(error!(Malformed, "'{path}' is not {wanted}: its head is invalid"))
            }
        }
    }

    /// The file's path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes of the file when it was opened.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Pass all whole records to `each`, in order, until it returns false.
    pub fn for_each(&self, mut each: impl FnMut(&LogRecord, &[u8]) -> Result<bool>) -> Result<LogScan> {
        let mut cursor = self.cursor()?;
        while let Some((record, payload)) = cursor.next(self)? {
            if !each(&record, &cursor.bytes()[payload])? {
                break;
            }
        }
        Ok(cursor.lost())
    }

    /// Begin at the first record.
    pub fn cursor(&self) -> Result<LogCursor> {
        self.cursor_at(HEADS as u64)
    }

    /// Begin at the record at an offset.
    pub fn cursor_at(&self, offset: u64) -> Result<LogCursor> {
        let limits = ScanLimits { segment: u64::MAX, entry: LONGEST_RECORD as u32 };
        let scanner = Scanner::new(&*self.file, ScanPosition::after(offset), limits);
        let scanner = scanner.map_err(|why| io_error("read", &self.path, &why))?;
        Ok(LogCursor { scanner, checks: Checks::new(None), too_long: 0, is_truncated: false, offset: 0 })
    }
}

/// A record that a [`LogCursor`] found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundRecord {
    /// Its header.
    pub record: LogRecord,
    /// The place of its payload in [`bytes`](LogCursor::bytes).
    pub payload: Range<usize>,
}

/// A place in a file, for reading one record at a time, or a few.
pub struct LogCursor {
    scanner: Scanner,
    checks: Checks,
    too_long: u64,
    is_truncated: bool,
    offset: u64,
}

impl LogCursor {
    /// The next whole record, and the place of its payload in [`bytes`](Self::bytes). `None`: the end of the file, after
    /// which [`lost`](Self::lost) is complete.
    pub fn next(&mut self, log: &LogReader) -> Result<Option<(LogRecord, Range<usize>)>> {
        let found = self.find(log, u64::MAX)?;
        Ok(found.map(|FoundRecord { record, payload }| (record, payload)))
    }

    /// The next whole records, at most `most`, in place of those in `records`. All of them are in [`bytes`](Self::bytes), so
    /// they may be fewer. None: the end of the file.
    pub fn next_few(&mut self, log: &LogReader, records: &mut Vec<FoundRecord>, most: usize) -> Result<()> {
        records.clear();
        records.try_reserve(most)?;
        let mut budget = u64::MAX;
        while records.len() < most {
            let Some(found) = self.find(log, budget)? else { break };
            records.push(found);
            // Reading more would replace the bytes.
            budget = 0;
        }
        Ok(())
    }

    /// The next whole record. `None`: the end of the file, or the budget of bytes to read is used up.
    #[inline]
    fn find(&mut self, log: &LogReader, mut budget: u64) -> Result<Option<FoundRecord>> {
        let failed = |why: ScanError| match why {
            ScanError::Other(why) => why,
            ScanError::Io(why) => io_error("read", &log.path, &why),
        };
        loop {
            match self.scanner.next(&*log.file, &self.checks, log.seed, &mut budget).map_err(failed)? {
                Next::Found(Found { offset, header, payload }) => {
                    if header.form == Form::Plain && header.stored as usize == payload.len() {
                        let Header { kind, key, stamp, build_us, .. } = header;
                        self.offset = offset;
                        let record = LogRecord { kind, key, stamp, build_us };
                        return Ok(Some(FoundRecord { record, payload }));
                    }
                    self.too_long += 1;
                }
                Next::Interrupted => return Ok(None),
                Next::End => {
                    let end = log.file.length().map_err(|why| io_error("read", &log.path, &why))?;
                    self.is_truncated = self.scanner.scanned(true).position.end < end;
                    return Ok(None);
                }
            }
        }
    }

    /// Go to the record at an offset.
    pub fn seek(&mut self, offset: u64) {
        self.scanner.seek(offset);
    }

    /// The bytes in which the payload of the last record is.
    pub fn bytes(&self) -> &[u8] {
        self.scanner.bytes()
    }

    /// The offset of the last record.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Losses before the last record.
    pub fn lost(&self) -> LogScan {
        let damaged = self.too_long + self.scanner.scanned(true).damaged;
        LogScan { damaged, is_truncated: self.is_truncated }
    }
}
