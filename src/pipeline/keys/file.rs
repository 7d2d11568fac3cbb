//! `*.hobkeys`: a key map as a file.
//!
//! Lines stand in blocks, in order of key, hash and stage. Within a block, a key without the
//! prefix that it shares with the one before is written, after the prefix's length. A damaged block costs its lines alone.

use std::path::{Path, PathBuf};

use super::index::{INDEX, IndexWriter};
use super::{KeyLine, KeyMap, KeyMapBuilder, LoadedKeys, MAX_KEY};
use crate::base::{Code, Result, error, try_append, try_push, try_string};
use crate::pipeline::ShaderHash;
use crate::pipeline::files::{Cursor, HEAD, KEY_MAP, KINDS, put_text};
use crate::store::io::SharedIo;
use crate::store::{LogReader, LogRecord, LogWriter, io_error};

/// Kind of a record with lines.
pub const BLOCK: u8 = 2;
/// Bytes of a line in a block before the rest of its key.
pub const LINE_HEAD: usize = 28;
/// A block ends when it has this many bytes.
const BLOCK_BYTES: usize = 32 << 10;

/// Describes a key map.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyFileInfo {
    /// The build that the shaders belong to; for people.
    pub build: String,
    /// The shader format.
    pub format: String,
    /// Lines in the file.
    pub lines: u64,
}

impl KeyFileInfo {
    pub(super) fn decode(record: &LogRecord, payload: &[u8]) -> Result<Option<Self>> {
        let mut cursor = Cursor(payload);
        let (Some(build), Some(format)) = (cursor.text(), cursor.text()) else { return Ok(None) };
        Ok(Some(Self { build: try_string(build)?, format: try_string(format)?, lines: record.stamp }))
    }
}

impl KeyMap {
    /// The map of several files. One whose name ends in `.csv` is read as CSV. A damaged file is an error, because its
    /// lines would be missing.
    pub fn load(io: &SharedIo, paths: &[PathBuf]) -> Result<Self> {
        let (mut builder, mut file_lines) = (KeyMapBuilder::default(), Vec::new());
        for path in paths {
            let before = builder.len();
            if is_csv(path) {
                builder.add_csv_file(io, path)?;
            } else {
                let (_, loaded) = builder.add_file(io, path)?;
                if loaded.damaged > 0 || loaded.is_truncated {
                    return Err(error!(Malformed, "'{}' is damaged: export the keys again", path.display()));
                }
            }
            try_push(&mut file_lines, (builder.len() - before) as u64)?;
        }
        Ok(Self { file_lines, ..builder.finish()? })
    }

    /// Write the map to a file, in place of one there. The same map gives the same bytes. Returns their number.
    pub fn write(&self, io: &SharedIo, path: &Path, build: &str, format: &str) -> Result<u64> {
        let mut log = LogWriter::replace(io, path, KEY_MAP)?;
        let mut out = Vec::new();
        put_text(&mut out, build)?;
        put_text(&mut out, format)?;
        let head = LogRecord { kind: HEAD, stamp: self.len() as u64, ..LogRecord::default() };
        // Twice, so that no single flipped bit costs the file.
        log.push(&head, &out)?;
        log.push(&head, &out)?;
        out.clear();
        let block = LogRecord { kind: BLOCK, ..LogRecord::default() };
        let (mut first, mut before, mut index) = ("", "", IndexWriter::default());
        for line in self.lines() {
            if out.is_empty() {
                (first, before) = (line.key, "");
            }
            put_line(&mut out, before, &line)?;
            index.line(line.stage);
            before = line.key;
            if out.len() >= BLOCK_BYTES {
                index.block(log.length(), first)?;
                log.push(&block, &out)?;
                out.clear();
            }
        }
        if !out.is_empty() {
            index.block(log.length(), first)?;
            log.push(&block, &out)?;
        }
        index.write(&mut log)?;
        log.finish()
    }
}

/// Whether a file is CSV, by its name.
pub fn is_csv(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("csv"))
}

fn put_line(out: &mut Vec<u8>, before: &str, line: &KeyLine<'_>) -> Result<()> {
    let shared = before.bytes().zip(line.key.bytes()).take_while(|(one, other)| one == other).count();
    let rest = &line.key.as_bytes()[shared..];
    out.try_reserve(28 + rest.len())?;
    out.extend_from_slice(&line.hash.0);
    out.extend_from_slice(&line.stage.to_le_bytes());
    out.extend_from_slice(&(shared as u16).to_le_bytes());
    out.extend_from_slice(&(rest.len() as u16).to_le_bytes());
    out.extend_from_slice(rest);
    Ok(())
}

/// A line in a block.
pub struct EncodedLine<'a> {
    pub hash: ShaderHash,
    pub stage: u32,
    /// Bytes that its key shares with the begin of the key before.
    pub shared: usize,
    /// The rest of its key.
    pub rest: &'a [u8],
}

impl<'a> EncodedLine<'a> {
    /// The line at the begin of these bytes. `None`: they are too few.
    #[inline]
    pub fn read(bytes: &'a [u8]) -> Option<Self> {
        let (head, rest) = bytes.split_first_chunk::<LINE_HEAD>()?;
        let [hash @ .., s0, s1, s2, s3, p0, p1, l0, l1] = *head;
        let length = u16::from_le_bytes([l0, l1]).into();
        Some(Self {
            hash: ShaderHash(hash),
            stage: u32::from_le_bytes([s0, s1, s2, s3]),
            shared: u16::from_le_bytes([p0, p1]).into(),
            rest: rest.get(..length)?,
        })
    }
}

impl KeyMapBuilder {
    /// Add the lines of a file. After an error some of its lines may have been added.
    pub fn add_file(&mut self, io: &SharedIo, path: &Path) -> Result<(KeyFileInfo, LoadedKeys)> {
        self.add_log(&LogReader::open(io, path, KEY_MAP, &KINDS)?)
    }

    /// Add the lines of a CSV file. After an error some of its lines may have been added.
    fn add_csv_file(&mut self, io: &SharedIo, path: &Path) -> Result<()> {
        let failed = |why: std::io::Error| io_error("read", path, &why);
        let file = io.open_input(path).map_err(failed)?;
        let mut at = 0;
        let added = self.add_csv(|piece| {
            let count = file.read_at(piece, at).map_err(failed)?;
            at += count as u64;
            Ok(count)
        });
        match added {
            Err(why) if why.code() == Code::Malformed => {
                Err(error!(Malformed, "'{}', {}", path.display(), why.sentence()))
            }
            Err(why) if why.code() == Code::LimitExceeded => {
                Err(error!(LimitExceeded, "'{}', {}", path.display(), why.sentence()))
            }
            added => added.map(|_| ()),
        }
    }

    /// Add the lines of a file in memory. Messages name it `path`.
    pub fn add_bytes(&mut self, bytes: Vec<u8>, path: &Path) -> Result<(KeyFileInfo, LoadedKeys)> {
        self.add_log(&LogReader::of_bytes(bytes, path, KEY_MAP, &KINDS)?)
    }

    fn add_log(&mut self, log: &LogReader) -> Result<(KeyFileInfo, LoadedKeys)> {
        let (mut info, mut loaded) = (None, LoadedKeys::default());
        let (mut key, mut first) = (Vec::new(), String::new());
        let mut lost = 0;
        let mut index = IndexWriter::default();
        let mut cursor = log.cursor()?;
        while let Some((record, payload)) = cursor.next(log)? {
            let payload = &cursor.bytes()[payload];
            match record.kind {
                HEAD if info.is_none() => info = KeyFileInfo::decode(&record, payload)?,
                BLOCK => {
                    let mut rest = Cursor(payload);
                    key.clear();
                    first.clear();
                    while !rest.is_at_end() {
                        if !self.add_encoded(&mut rest, &mut key)? {
                            lost += 1;
                            break;
                        }
                        loaded.lines += 1;
                        if first.is_empty() {
                            try_append(&mut first, self.last_key())?;
                        }
                        index.line(self.lines[self.lines.len() - 1].stage);
                    }
                    index.block(cursor.offset(), &first)?;
                }
                // An index of other lines would hide lines from readers that use it.
                INDEX if lost + cursor.lost().damaged == 0 && !index.is(payload) => lost += 1,
                _ => {}
            }
        }
        let path = log.path().display();
        let info = info.ok_or_else(|| error!(Malformed, "'{path}' does not name its build: it is damaged"))?;
        loaded.damaged = cursor.lost().damaged + lost;
        loaded.is_truncated = cursor.lost().is_truncated || loaded.lines + loaded.damaged < info.lines;
        Ok((info, loaded))
    }

    /// Add the next line of a block. False if the bytes are invalid.
    fn add_encoded(&mut self, cursor: &mut Cursor<'_>, key: &mut Vec<u8>) -> Result<bool> {
        let Some(EncodedLine { hash, stage, shared, rest }) = EncodedLine::read(cursor.0) else { return Ok(false) };
        cursor.0 = &cursor.0[LINE_HEAD + rest.len()..];
        if shared > key.len() || shared + rest.len() > MAX_KEY {
            return Ok(false);
        }
        key.truncate(shared);
        key.try_reserve(rest.len())?;
        key.extend_from_slice(rest);
        match std::str::from_utf8(key) {
            Ok(key) if !key.is_empty() => self.add(&KeyLine { hash, stage, key }).map(|()| true),
            _ => Ok(false),
        }
    }
}
