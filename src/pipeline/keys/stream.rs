//! The lines of a file in order, and those of several files.

use std::cmp::Ordering;
use std::ops::Range;
use std::path::Path;

use super::MAX_KEY;
use super::file::{BLOCK, EncodedLine, KeyFileInfo, LINE_HEAD};
use super::index::Index;
use super::texts::{Near, shared_bytes};
use super::wanted::Sink;
use crate::base::{Error, Result, error, sort_slowly};
use crate::pipeline::ShaderHash;
use crate::pipeline::files::{HEAD, KEY_MAP, KINDS};
use crate::store::io::SharedIo;
use crate::store::{LogCursor, LogReader};

/// Pass the lines of all streams in order, each once, and count those of each file.
pub fn merge(mut streams: Vec<Stream>, sink: &mut Sink<'_>, file_lines: &mut [u64]) -> Result<()> {
    // The last one has the least line.
    sort_slowly(&mut streams, |one, other| other.compare(one));
    while let Some(mut stream) = streams.pop() {
        let is_left = match streams.last() {
            Some(limit) => stream.pass_below(limit, sink)?,
            None => {
                stream.pass_all(sink)?;
                false
            }
        };
        if is_left {
            sink.skip(std::mem::take(&mut stream.skipped));
            let place = streams.partition_point(|other| other.compare(&stream) == Ordering::Greater);
            // One was removed, so there is room.
            streams.insert(place, stream);
        } else {
            sink.skip(stream.skipped);
            file_lines[stream.file] = stream.lines;
        }
    }
    sink.end()
}

/// Reads the lines of a file in order.
pub struct Stream {
    /// Its number among the files.
    file: usize,
    log: LogReader,
    cursor: LogCursor,
    /// The begin of the line in the bytes of the cursor, and the rest of its block, which begins with the next line.
    at: usize,
    block: Range<usize>,
    /// The blocks of the file, and the number of the next one.
    index: Option<Index>,
    number: usize,
    /// Lines that were read or skipped, skipped lines that no sink has counted, and the lines that the file names.
    lines: u64,
    skipped: u64,
    promised: Option<u64>,
    /// The key of the line.
    key: Vec<u8>,
    /// The begin of its hash, as a number.
    hash_begin: u64,
    /// Bytes that its key shares with that of the line before, if it is another one.
    shared: usize,
    /// Whether the line before has the same key.
    is_same_key: bool,
}

/// The begin of a hash as a number. It decides almost always which of two hashes is less.
#[inline]
fn begin_of(line: &[u8; LINE_HEAD]) -> u64 {
    line.first_chunk().map_or(0, |bytes| u64::from_be_bytes(*bytes))
}

impl Stream {
    pub fn open(io: &SharedIo, path: &Path, file: usize) -> Result<Self> {
        let log = LogReader::open(io, path, KEY_MAP, &KINDS)?;
        let cursor = log.cursor()?;
        let mut key = Vec::new();
        key.try_reserve_exact(MAX_KEY)?;
        Ok(Self {
            file,
            log,
            cursor,
            at: 0,
            block: 0..0,
            index: None,
            number: 0,
            lines: 0,
            skipped: 0,
            promised: None,
            key,
            hash_begin: 0,
            shared: 0,
            is_same_key: false,
        })
    }

    /// Read the index of blocks, if there is one. Then blocks can be skipped. Call it before the first line.
    pub fn read_index(&mut self) -> Result<()> {
        let Some((head, payload)) = self.cursor.next(&self.log)?.filter(|(record, _)| record.kind == HEAD) else {
            return Ok(());
        };
        self.promised = KeyFileInfo::decode(&head, &self.cursor.bytes()[payload])?.map(|info| info.lines);
        let is_whole = |index: &Index| self.promised == Some(index.lines());
        self.index = Index::read(&self.log)?.filter(is_whole);
        Ok(())
    }

    pub fn damaged(&self) -> Error {
        error!(Malformed, "'{}' is damaged: export the keys again", self.log.path().display())
    }

    /// The key of the line.
    pub fn key(&self) -> &[u8] {
        &self.key
    }

    /// The shader of the line, and its stage.
    #[inline]
    pub fn shader(&self) -> (ShaderHash, u32) {
        let head = self.cursor.bytes()[self.at..].first_chunk();
        let [hash @ .., s0, s1, s2, s3, _, _, _, _] = *head.unwrap_or(&[0; LINE_HEAD]);
        (ShaderHash(hash), u32::from_le_bytes([s0, s1, s2, s3]))
    }

    fn compare(&self, other: &Self) -> Ordering {
        self.key.cmp(&other.key).then_with(|| self.compare_shader(other))
    }

    fn compare_shader(&self, other: &Self) -> Ordering {
        self.hash_begin.cmp(&other.hash_begin).then_with(|| self.shader().cmp(&other.shader()))
    }

    /// Pass the lines that are less than that of `limit`. Of two equal lines, that of the other stream is passed. False at the
    /// end of the file.
    fn pass_below(&mut self, limit: &Self, sink: &mut Sink<'_>) -> Result<bool> {
        let mut near = Near::of(&self.key, &limit.key, 0);
        sink.start(&self.key)?;
        loop {
            match near.order.then_with(|| self.compare_shader(limit)) {
                Ordering::Less => sink.add(self)?,
                Ordering::Equal => {}
                Ordering::Greater => return Ok(true),
            }
            if !self
                .next(&|stages, key| key.is_some_and(|key| limit.key.as_slice() > key) && sink.can_skip(stages, key))?
            {
                return Ok(false);
            }
            if !self.is_same_key {
                if !near.stays_less(self.shared) {
                    near.follow(&self.key, &limit.key, self.shared);
                    if near.order == Ordering::Greater {
                        return Ok(true);
                    }
                }
                sink.turn(&self.key, self.shared)?;
            }
        }
    }

    /// Pass all lines.
    fn pass_all(&mut self, sink: &mut Sink<'_>) -> Result<()> {
        sink.start(&self.key)?;
        loop {
            sink.add(self)?;
            if !self.next(&|stages, key| sink.can_skip(stages, key))? {
                return Ok(());
            }
            if !self.is_same_key {
                sink.turn(&self.key, self.shared)?;
            }
        }
    }

    /// Go to the next line. False at the end of the file. `can_skip` may allow to skip a block. It gets the stages of the
    /// block's lines and the first key of the next block, or `None` for the last block.
    #[inline]
    pub fn next(&mut self, can_skip: &CanSkip<'_>) -> Result<bool> {
        // Most lines have the key of the line before, and a hash that begins with a greater number.
        if let Some(line) = self.cursor.bytes()[self.block.clone()].first_chunk::<LINE_HEAD>() {
            let [.., p0, p1, l0, l1] = *line;
            let begin = begin_of(line);
            // No byte of a key follows.
            let is_same_key = u32::from_le_bytes([p0, p1, l0, l1]) as usize == self.key.len();
            if is_same_key && begin > self.hash_begin && self.lines > 0 {
                self.hash_begin = begin;
                self.at = self.block.start;
                self.block.start += LINE_HEAD;
                self.lines += 1;
                self.is_same_key = true;
                return Ok(true);
            }
        }
        self.next_other(can_skip)
    }

    #[inline(never)]
    fn next_other(&mut self, can_skip: &CanSkip<'_>) -> Result<bool> {
        let before = self.shader();
        let is_begin = self.block.is_empty();
        if is_begin && !self.next_block(can_skip)? {
            return Ok(false);
        }
        let Some(line) = EncodedLine::read(&self.cursor.bytes()[self.block.clone()]) else {
            return Err(self.damaged());
        };
        let EncodedLine { hash, stage, shared, rest } = line;
        let length = LINE_HEAD + rest.len();
        // The first key of a block is whole.
        let followed = if is_begin && shared > 0 { None } else { follow(&mut self.key, shared, rest) };
        let Some(shared) = followed else { return Err(self.damaged()) };
        (self.shared, self.is_same_key) = (shared, shared == self.key.len());
        if self.is_same_key && (hash, stage) <= before {
            return Err(self.damaged());
        }
        self.at = self.block.start;
        self.block.start += length;
        self.hash_begin = hash.0.first_chunk().map_or(0, |bytes| u64::from_be_bytes(*bytes));
        self.lines += 1;
        Ok(true)
    }

    /// Go to the next block that is not empty. False at the end of the file.
    fn next_block(&mut self, can_skip: &CanSkip<'_>) -> Result<bool> {
        while self.block.is_empty() {
            if let Some(index) = &self.index {
                let Some(block) = index.block(self.number) else { return self.end() };
                self.number += 1;
                if can_skip(block.stages, index.first_key(self.number)) {
                    self.lines += u64::from(block.lines);
                    self.skipped += u64::from(block.lines);
                    continue;
                }
                self.cursor.seek(block.offset);
            }
            match self.cursor.next(&self.log)? {
                Some(_) if self.index.is_some() && self.cursor.lost().damaged > 0 => return Err(self.damaged()),
                Some((record, payload)) if record.kind == HEAD && self.promised.is_none() => {
                    self.promised = KeyFileInfo::decode(&record, &self.cursor.bytes()[payload])?.map(|info| info.lines);
                }
                Some((record, payload)) if record.kind == BLOCK => self.block = payload,
                Some(_) => {}
                None => return self.end(),
            }
        }
        Ok(true)
    }

    /// False, if the file is whole.
    fn end(&self) -> Result<bool> {
        let lost = self.cursor.lost();
        let is_whole = lost.damaged == 0 && !lost.is_truncated && self.promised == Some(self.lines);
        if is_whole { Ok(false) } else { Err(self.damaged()) }
    }
}

/// Whether a block may be skipped: see [`Stream::next`].
type CanSkip<'a> = dyn Fn(u64, Option<&[u8]>) -> bool + 'a;

/// Replace a key by its first `shared` bytes and `rest`. Returns the number of bytes that both keys share: all, if they are
/// equal. `None`: it is less or invalid.
#[inline]
fn follow(key: &mut Vec<u8>, mut shared: usize, mut rest: &[u8]) -> Option<usize> {
    let length = shared + rest.len();
    if shared > key.len() || length > MAX_KEY || length == 0 {
        return None;
    }
    if rest.first() == key.get(shared) {
        // Most writers leave out all shared bytes, but those at the begin of a block.
        let more = shared_bytes(rest, &key[shared..]);
        (shared, rest) = (shared + more, &rest[more..]);
    }
    if rest.first() < key.get(shared) {
        return None;
    }
    key.truncate(shared);
    // There is room for a key of every length.
    key.extend_from_slice(rest);
    Some(shared)
}
