//! The part of key maps that a merge needs.
//!
//! A build asks for some ten thousand keys of a game that has millions of lines. The lines of a key map stand in order,
//! so several maps are read as one, a line of each at a time. Equal lines are counted once. Lines that nobody wants are
//! not held.

use std::cmp::Ordering;
use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};
use std::path::{Path, PathBuf};

use super::file::{BLOCK, EncodedLine, KeyFileInfo, LINE_HEAD, is_csv};
use super::{KeyLine, KeyMap, KeyMapBuilder, MAX_KEY, quick_hash};
use crate::base::{Error, Result, error, try_filled, try_push};
use crate::pipeline::ShaderHash;
use crate::pipeline::files::{HEAD, KEY_MAP, KINDS};
use crate::store::io::SharedIo;
use crate::store::{LogPosition, LogReader, hash};

/// More files than this are read one after the other, and all lines are held: each would have to stay open.
const MOST_FILES: usize = 64;
/// Bytes of a file that are read at a time. Pieces of 64 KiB to 2 MiB differ by less than the noise.
const PIECE: u64 = 512 << 10;

/// Says which lines of key maps are needed. May let others pass, whose hashes are equal.
#[derive(Default)]
pub struct Wanted {
    /// Hashes of stable keys.
    keys: Tags,
    /// Begins of shaders' hashes.
    shaders: Tags,
    stage: Option<u32>,
}

/// A set of numbers that are hashes already.
type Tags = HashSet<u64, BuildHasherDefault<Tag>>;

/// The hash of a hash.
#[derive(Default)]
struct Tag(u64);

impl Hasher for Tag {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write_u64(&mut self, number: u64) {
        // The table takes its tags from the upper bits. Bytecode's hashes come from the host, whose bits may be poor.
        self.0 = number.wrapping_mul(0x9e37_79b9_7f4a_7c15).swap_bytes();
    }

    fn write(&mut self, bytes: &[u8]) {
        self.write_u64(hash(bytes));
    }
}

fn tag_of(hash: &ShaderHash) -> u64 {
    hash.0.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

fn insert(tags: &mut Tags, tag: u64) -> Result<()> {
    tags.try_reserve(1)?;
    tags.insert(tag);
    Ok(())
}

impl Wanted {
    /// Want the lines of a stable key.
    pub fn add_key(&mut self, key: &str) -> Result<()> {
        insert(&mut self.keys, quick_hash(key.as_bytes()))
    }

    /// Want the lines of a shader.
    pub fn add_shader(&mut self, hash: ShaderHash) -> Result<()> {
        insert(&mut self.shaders, tag_of(&hash))
    }

    /// Want the lines of a stage, in place of those of the stage before.
    pub fn add_stage(&mut self, stage: u32) {
        self.stage = Some(stage);
    }
}

impl KeyMap {
    /// The wanted lines of several files, as [`load`](Self::load) reads them. [`total`](Self::total) counts all lines.
    /// [`keys_of`](Self::keys_of) is for wanted shaders, and [`shaders_of`](Self::shaders_of) for wanted keys. If a file
    /// is CSV, or there are very many files, all lines are held.
    pub fn load_wanted(io: &SharedIo, paths: &[PathBuf], wanted: &Wanted) -> Result<Self> {
        if paths.len() > MOST_FILES || paths.iter().any(|path| is_csv(path)) {
            return Self::load(io, paths);
        }
        let (mut streams, mut file_lines) = (Vec::new(), try_filled(0, paths.len())?);
        for (file, path) in paths.iter().enumerate() {
            let mut stream = Stream::open(io, path, file)?;
            if stream.next()? {
                try_push(&mut streams, stream)?;
            }
        }
        let mut sink =
            Sink { wanted, total: 0, is_key_wanted: false, is_key_held: false, builder: KeyMapBuilder::default() };
        merge(streams, &mut sink, &mut file_lines)?;
        let Sink { total, builder, .. } = sink;
        let map = if wanted.shaders.is_empty() { builder.finish_for_keys() } else { builder.finish() };
        Ok(Self { total, file_lines, ..map? })
    }
}

/// Pass the lines of all streams in order, each once, and count those of each file.
fn merge(mut streams: Vec<Stream>, sink: &mut Sink<'_>, file_lines: &mut [u64]) -> Result<()> {
    // The last one has the least line.
    streams.sort_unstable_by(|one, other| other.compare(one));
    while let Some(mut stream) = streams.pop() {
        let is_left = match streams.last() {
            Some(limit) => stream.pass_below(limit, sink)?,
            None => {
                stream.pass_all(sink)?;
                false
            }
        };
        if is_left {
            let place = streams.partition_point(|other| other.compare(&stream) == Ordering::Greater);
            // One was removed, so there is room.
            streams.insert(place, stream);
        } else {
            file_lines[stream.file] = stream.lines;
        }
    }
    Ok(())
}

/// Gets all lines in order.
struct Sink<'a> {
    wanted: &'a Wanted,
    total: u64,
    /// Of the last line.
    is_key_wanted: bool,
    /// Whether a line with the key of the last one is held.
    is_key_held: bool,
    builder: KeyMapBuilder,
}

impl Sink<'_> {
    #[inline]
    fn add(&mut self, stream: &Stream, is_new_key: bool) -> Result<()> {
        self.total += 1;
        if is_new_key {
            self.is_key_held = false;
            self.is_key_wanted = !self.wanted.keys.is_empty() && self.wanted.keys.contains(&quick_hash(&stream.key));
        }
        let is_shader_wanted =
            || !self.wanted.shaders.is_empty() && self.wanted.shaders.contains(&tag_of(&stream.hash));
        if self.is_key_wanted || self.wanted.stage == Some(stream.stage) || is_shader_wanted() {
            return self.hold(stream);
        }
        Ok(())
    }

    #[inline(never)]
    fn hold(&mut self, stream: &Stream) -> Result<()> {
        // Most lines of a key that is wanted follow each other.
        if !std::mem::replace(&mut self.is_key_held, true) {
            return self.hold_key(stream);
        }
        self.builder.add_to_last(stream.hash, stream.stage)
    }

    fn hold_key(&mut self, stream: &Stream) -> Result<()> {
        let Ok(key) = std::str::from_utf8(&stream.key) else { return Err(stream.damaged()) };
        self.builder.add(&KeyLine { hash: stream.hash, stage: stream.stage, key })
    }
}

/// Whether a shader and its stage stand after others. The begin of the hashes decides almost always.
#[inline]
fn is_after(hash: &ShaderHash, stage: u32, other: &ShaderHash, other_stage: u32) -> bool {
    let begin = |hash: &ShaderHash| hash.0.first_chunk().map_or(0, |bytes| u64::from_be_bytes(*bytes));
    match begin(hash).cmp(&begin(other)) {
        Ordering::Equal => (hash, stage) > (other, other_stage),
        order => order == Ordering::Greater,
    }
}

/// Reads the lines of a file in order.
struct Stream {
    /// Its number among the files.
    file: usize,
    log: LogReader,
    position: LogPosition,
    /// Blocks of lines, one after the other, and the end of each.
    blocks: Vec<u8>,
    ends: Vec<usize>,
    /// The number of the next block.
    block: usize,
    /// The place of the next line in `blocks`, and the end of its block.
    at: usize,
    end: usize,
    is_at_end: bool,
    /// Lines that were read, and those that the file says.
    lines: u64,
    promised: Option<u64>,
    /// The line.
    key: Vec<u8>,
    hash: ShaderHash,
    stage: u32,
    /// Whether the line before has the same key.
    is_same_key: bool,
}

impl Stream {
    fn open(io: &SharedIo, path: &Path, file: usize) -> Result<Self> {
        let log = LogReader::open(io, path, KEY_MAP, &KINDS)?;
        Ok(Self {
            file,
            log,
            position: LogPosition::default(),
            blocks: Vec::new(),
            ends: Vec::new(),
            block: 0,
            at: 0,
            end: 0,
            is_at_end: false,
            lines: 0,
            promised: None,
            key: Vec::new(),
            hash: ShaderHash::default(),
            stage: 0,
            is_same_key: false,
        })
    }

    fn damaged(&self) -> Error {
        error!(Malformed, "'{}' is damaged: export the keys again", self.log.path().display())
    }

    fn compare(&self, other: &Self) -> Ordering {
        self.key.cmp(&other.key).then_with(|| self.compare_shader(other))
    }

    fn compare_shader(&self, other: &Self) -> Ordering {
        (self.hash, self.stage).cmp(&(other.hash, other.stage))
    }

    /// Pass the lines that are less than that of `limit`. Of two equal lines, that of the other stream is passed. False at the
    /// end of the file.
    fn pass_below(&mut self, limit: &Self, sink: &mut Sink<'_>) -> Result<bool> {
        let (mut order, mut is_new_key) = (self.key.cmp(&limit.key), true);
        loop {
            match order.then_with(|| self.compare_shader(limit)) {
                Ordering::Less => sink.add(self, is_new_key)?,
                Ordering::Equal => {}
                Ordering::Greater => return Ok(true),
            }
            if !self.next()? {
                return Ok(false);
            }
            is_new_key = !self.is_same_key;
            if is_new_key {
                order = self.key.cmp(&limit.key);
            }
        }
    }

    /// Pass all lines.
    fn pass_all(&mut self, sink: &mut Sink<'_>) -> Result<()> {
        sink.add(self, true)?;
        while self.next()? {
            sink.add(self, !self.is_same_key)?;
        }
        Ok(())
    }

    /// Go to the next line. False at the end of the file.
    #[inline]
    fn next(&mut self) -> Result<bool> {
        let is_begin = self.at == self.end;
        if is_begin && !self.next_block()? {
            return Ok(false);
        }
        let Some(line) = EncodedLine::read(&self.blocks[self.at..self.end]) else { return Err(self.damaged()) };
        let EncodedLine { hash, stage, shared, rest } = line;
        let is_longer = is_after(&hash, stage, &self.hash, self.stage);
        self.at += LINE_HEAD + rest.len();
        self.is_same_key = rest.is_empty() && shared == self.key.len();
        let is_next = if self.is_same_key {
            is_longer && shared > 0
        } else if shared > self.key.len() || (is_begin && shared > 0) || shared + rest.len() > MAX_KEY {
            false
        } else {
            let order = rest.cmp(&self.key[shared..]);
            self.is_same_key = order == Ordering::Equal;
            self.key.truncate(shared);
            self.key.try_reserve(rest.len())?;
            self.key.extend_from_slice(rest);
            order == Ordering::Greater || (order == Ordering::Equal && is_longer)
        };
        (self.hash, self.stage) = (hash, stage);
        self.lines += 1;
        if is_next { Ok(true) } else { Err(self.damaged()) }
    }

    /// Go to the begin of the next block that is not empty. False at the end of the file.
    #[cold]
    fn next_block(&mut self) -> Result<bool> {
        loop {
            if let Some(&end) = self.ends.get(self.block) {
                self.block += 1;
                self.end = end;
                if self.at < end {
                    return Ok(true);
                }
                continue;
            }
            if self.is_at_end {
                return if self.promised == Some(self.lines) { Ok(false) } else { Err(self.damaged()) };
            }
            self.read_piece()?;
        }
    }

    fn read_piece(&mut self) -> Result<()> {
        let Self { log, position, blocks, ends, promised, .. } = self;
        blocks.clear();
        ends.clear();
        let scan = log.read_on(position, PIECE, |record, payload| {
            if record.kind == HEAD && promised.is_none() {
                *promised = KeyFileInfo::decode(record, payload)?.map(|info| info.lines);
            }
            if record.kind == BLOCK {
                blocks.try_reserve(payload.len())?;
                blocks.extend_from_slice(payload);
                try_push(ends, blocks.len())?;
            }
            Ok(())
        })?;
        (self.block, self.at, self.end) = (0, 0, 0);
        self.is_at_end = scan.is_some();
        if scan.is_some_and(|scan| scan.damaged > 0 || scan.is_truncated) { Err(self.damaged()) } else { Ok(()) }
    }
}
