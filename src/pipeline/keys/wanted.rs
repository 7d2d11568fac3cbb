//! The part of key maps that a merge needs.
//!
//! A build asks for some ten thousand keys of a game that has millions of lines. The lines of a key map stand in order,
//! so several maps are read as one, a line of each at a time. Equal lines are counted once. Lines that nobody wants are
//! not held.
//!
//! Blocks without a wanted line are not read, if the file has an [`Index`](super::index::Index). So damage in them goes
//! unnoticed, and changes nothing.
//!
//! The wanted keys are sorted, too. So a line whose key is far from the next wanted key costs no comparison of texts: see
//! [`Near`](super::texts::Near).

use std::cmp::Ordering;
use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};
use std::path::PathBuf;

use super::file::is_csv;
use super::held::Held;
use super::index::stage_bit;
use super::stream::{Stream, merge};
use super::texts::{Interned, Near};
use super::{KeyMap, MAX_KEY};
use crate::base::{Result, try_filled, try_push};
use crate::pipeline::ShaderHash;
use crate::store::hash;
use crate::store::io::SharedIo;

/// More files than this are read one after the other, and all lines are held: each would have to stay open.
const MOST_FILES: usize = 64;

/// Most shaders that are wanted one by one: a set of them has 9 MiB. Key maps may not have all of them, so without a limit
/// recordings could fill the memory.
const MOST_SHADERS: usize = if cfg!(test) { 1000 } else { 917_504 };
/// Most bytes of keys that are wanted one by one.
const MOST_KEY_BYTES: usize = if cfg!(test) { 100_000 } else { 32 << 20 };

/// Says which lines of key maps are needed: all, if too many are wanted to hold their names. May let others pass, whose shaders' hashes begin in the same way.
#[derive(Default)]
pub struct Wanted {
    keys: Interned,
    /// Begins of shaders' hashes.
    shaders: Tags,
    stage: Option<u32>,
    wants_all: bool,
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

impl Wanted {
    /// Want the lines of a stable key.
    pub fn add_key(&mut self, key: &str) -> Result<()> {
        // No key map has a longer one.
        if self.wants_all || key.is_empty() || key.len() > MAX_KEY {
            return Ok(());
        }
        self.keys.intern(key)?;
        if self.keys.memory_used() > MOST_KEY_BYTES {
            *self = Self { wants_all: true, ..Self::default() };
        }
        Ok(())
    }

    /// Want the lines of a shader.
    pub fn add_shader(&mut self, hash: ShaderHash) -> Result<()> {
        if self.wants_all {
            return Ok(());
        }
        self.shaders.try_reserve(1)?;
        self.shaders.insert(tag_of(&hash));
        if self.shaders.len() >= MOST_SHADERS {
            *self = Self { wants_all: true, ..Self::default() };
        }
        Ok(())
    }

    /// Want the lines of a stage, in place of those of the stage before.
    pub fn add_stage(&mut self, stage: u32) {
        self.stage = Some(stage);
    }
}

impl KeyMap {
    /// The wanted lines of several files, as [`load`](Self::load) reads them. [`total`](Self::total) counts all lines.
    /// [`keys_of`](Self::keys_of) is for wanted shaders, and [`shaders_of`](Self::shaders_of) for wanted keys. If a file
    /// is CSV, or there are very many files or wanted names, all lines are held.
    pub fn load_wanted(io: &SharedIo, paths: &[PathBuf], wanted: Wanted) -> Result<Self> {
        if wanted.wants_all || paths.len() > MOST_FILES || paths.iter().any(|path| is_csv(path)) {
            return Self::load(io, paths);
        }
        let (mut streams, mut file_lines) = (Vec::new(), try_filled(0, paths.len())?);
        for (file, path) in paths.iter().enumerate() {
            let mut stream = Stream::open(io, path, file)?;
            if wanted.shaders.is_empty() {
                stream.read_index()?;
            }
            if stream.next(&|_, _| false)? {
                try_push(&mut streams, stream)?;
            }
        }
        let Wanted { keys, shaders, stage, .. } = wanted;
        let order = keys.texts.sorted()?;
        let held = Held::new(keys, shaders.is_empty());
        let mut sink = Sink {
            order: &order,
            shaders: &shaders,
            stage: stage.map(u64::from).unwrap_or(u64::MAX),
            total: 0,
            next: 0,
            near: None,
            is_key_wanted: false,
            is_key_held: false,
            held,
        };
        merge(streams, &mut sink, &mut file_lines)?;
        let Sink { total, held, .. } = sink;
        Ok(Self { total, file_lines, ..held.finish()? })
    }
}

/// Gets all lines in order.
pub struct Sink<'a> {
    /// The wanted keys in their order, by their numbers.
    order: &'a [u32],
    shaders: &'a Tags,
    /// A stage, or more than a stage can be.
    stage: u64,
    /// Number of lines.
    total: u64,
    /// The place in `order` of the first wanted key that is not less than the key of the last line, and how that is near
    /// to it. `None`: all are less.
    next: usize,
    near: Option<Near>,
    /// Whether the key of the last line is wanted, and whether a line of it is held.
    is_key_wanted: bool,
    is_key_held: bool,
    held: Held,
}

impl Sink<'_> {
    /// The next lines are of another stream, and have this key.
    pub fn start(&mut self, key: &[u8]) -> Result<()> {
        if !(self.is_key_held && self.held.is_last_key(key)) {
            self.end()?;
        }
        self.seek(key);
        Ok(())
    }

    /// The key of the next lines. It shares so many bytes with the key before.
    #[inline]
    pub fn turn(&mut self, key: &[u8], shared: usize) -> Result<()> {
        if self.is_key_held {
            self.end()?;
        }
        match &self.near {
            None => {}
            Some(near) if near.stays_less(shared) => self.is_key_wanted = false,
            Some(_) => self.follow(key, shared),
        }
        Ok(())
    }

    #[inline(never)]
    fn follow(&mut self, key: &[u8], shared: usize) {
        let (Some(near), Some(&number)) = (&mut self.near, self.order.get(self.next)) else { return };
        near.follow(key, self.held.text(number).as_bytes(), shared);
        match near.order {
            Ordering::Greater => self.seek(key),
            order => self.is_key_wanted = order == Ordering::Equal,
        }
    }

    /// Find the first wanted key that is not less.
    fn seek(&mut self, key: &[u8]) {
        (self.near, self.is_key_wanted) = (None, false);
        while let Some(&number) = self.order.get(self.next) {
            let near = Near::of(key, self.held.text(number).as_bytes(), 0);
            if near.order != Ordering::Greater {
                self.is_key_wanted = near.order == Ordering::Equal;
                self.near = Some(near);
                return;
            }
            self.next += 1;
        }
    }

    /// Whether no line of a block can be wanted: see [`Stream::next`].
    pub fn can_skip(&self, stages: u64, last: Option<&[u8]>) -> bool {
        let has_stage = u32::try_from(self.stage).is_ok_and(|stage| stages & stage_bit(stage) > 0);
        let is_before_next = || last.is_some_and(|last| self.held.text(self.order[self.next]).as_bytes() > last);
        !has_stage && self.shaders.is_empty() && (self.near.is_none() || is_before_next())
    }

    /// Count lines of blocks that were skipped.
    pub fn skip(&mut self, lines: u64) {
        self.total += lines;
    }

    /// Add the line of a stream.
    #[inline]
    pub fn add(&mut self, line: &Stream) -> Result<()> {
        self.total += 1;
        if self.is_key_wanted || self.is_shader_wanted(line) { self.hold(line) } else { Ok(()) }
    }

    #[inline]
    fn is_shader_wanted(&self, line: &Stream) -> bool {
        let (hash, stage) = line.shader();
        self.stage == u64::from(stage) || (!self.shaders.is_empty() && self.shaders.contains(&tag_of(&hash)))
    }

    #[inline(never)]
    fn hold(&mut self, line: &Stream) -> Result<()> {
        if !self.is_key_held {
            match self.order.get(self.next).filter(|_| self.is_key_wanted) {
                Some(&number) => self.held.begin(number)?,
                None => {
                    let Ok(key) = std::str::from_utf8(line.key()) else { return Err(line.damaged()) };
                    self.held.begin_other(key)?;
                }
            }
            self.is_key_held = true;
        }
        let (hash, stage) = line.shader();
        self.held.push(hash, stage)
    }

    /// The lines of the last key are complete.
    pub fn end(&mut self) -> Result<()> {
        if std::mem::take(&mut self.is_key_held) { self.held.end() } else { Ok(()) }
    }
}
