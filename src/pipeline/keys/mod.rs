//! Key maps: the stable keys of a build's shaders.
//!
//! A stable key is text that names a shader by its origin: fields such as material, vertex factory, shader type,
//! permutation and platform, with commas between them. The build of the game knows it; a hash of bytecode changes with
//! every edit, and the key does not. A shader may have several keys (materials that compile to the same bytecode), and a
//! key several shaders.
//!
//! The map is three arrays: all texts one after the other, each once; the lines by hash; and the lines by text. A line
//! takes 32 bytes besides its text.
//!
//! | file | content |
//! |---|---|
//! | `file` | `*.hobkeys`, the map as a file |
//! | `csv` | import and export as CSV |

mod csv;
mod file;
#[cfg(test)]
mod tests;

use std::hash::{BuildHasher, BuildHasherDefault};

use super::ShaderHash;
use crate::base::{Result, error};

pub use file::KeyFileInfo;

/// Most bytes of a stable key.
pub const MAX_KEY: usize = 4096;
/// The stage of a shader whose line names none.
pub const NO_STAGE: u32 = u32::MAX;
/// Most lines: an index of 32 bits names each.
const MAX_LINES: usize = u32::MAX as usize - 1;

/// A line: a shader, its stage, and the number of its stable key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Line {
    hash: ShaderHash,
    key: u32,
    stage: u32,
}

/// A shader with its stable key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyLine<'a> {
    /// The shader's bytecode.
    pub hash: ShaderHash,
    /// A `hob_shader_stage` or a number of the host, or [`NO_STAGE`].
    pub stage: u32,
    /// The stable key.
    pub key: &'a str,
}

/// Gathers the lines of one or more files.
#[derive(Default)]
pub struct KeyMapBuilder {
    texts: Texts,
    lines: Vec<Line>,
    /// Hash table of texts: number + 1 of a text, or 0.
    slots: Vec<u32>,
}

/// Texts one after the other.
#[derive(Default)]
struct Texts {
    bytes: String,
    ends: Vec<u64>,
}

impl Texts {
    fn get(&self, number: u32) -> &str {
        let at = number as usize;
        let begin = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[begin as usize..self.ends[at] as usize]
    }

    fn push(&mut self, text: &str) -> Result<u32> {
        self.ends.try_reserve(1)?;
        crate::base::try_append(&mut self.bytes, text)?;
        self.ends.push(self.bytes.len() as u64);
        Ok(self.ends.len() as u32 - 1)
    }
}

/// The hash of a text, the same in every process.
fn text_hash(text: &str) -> u64 {
    BuildHasherDefault::<std::hash::DefaultHasher>::default().hash_one(text)
}

impl KeyMapBuilder {
    /// Add a line. The same line twice counts once in the map.
    pub fn add(&mut self, line: &KeyLine<'_>) -> Result<()> {
        check_key(line.key)?;
        if self.lines.len() >= MAX_LINES {
            return Err(error!(LimitExceeded, "the key maps have more than {MAX_LINES} lines: merge fewer"));
        }
        self.lines.try_reserve(1)?;
        let key = self.intern(line.key)?;
        self.lines.push(Line { hash: line.hash, key, stage: line.stage });
        Ok(())
    }

    /// Number of lines added.
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// Whether no line was added.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// The number of a text.
    fn intern(&mut self, text: &str) -> Result<u32> {
        if 2 * (self.texts.ends.len() + 1) > self.slots.len() {
            self.grow()?;
        }
        let mask = self.slots.len() - 1;
        let mut at = text_hash(text) as usize & mask;
        while let Some(number) = self.slots[at].checked_sub(1) {
            if self.texts.get(number) == text {
                return Ok(number);
            }
            at = (at + 1) & mask;
        }
        let number = self.texts.push(text)?;
        self.slots[at] = number + 1;
        Ok(number)
    }

    fn grow(&mut self) -> Result<()> {
        let count = (2 * self.slots.len()).max(1024);
        let mut slots = crate::base::try_filled(0_u32, count)?;
        for number in 0..self.texts.ends.len() as u32 {
            let mut at = text_hash(self.texts.get(number)) as usize & (count - 1);
            while slots[at] > 0 {
                at = (at + 1) & (count - 1);
            }
            slots[at] = number + 1;
        }
        self.slots = slots;
        Ok(())
    }

    /// The map of all lines. It does not depend on the order of the lines.
    pub fn finish(self) -> Result<KeyMap> {
        let Self { texts, mut lines, slots } = self;
        drop(slots);
        // Numbers in the order of the texts make lines comparable without them.
        let mut order = crate::base::try_collect(0..texts.ends.len() as u32)?;
        order.sort_unstable_by(|&one, &other| texts.get(one).cmp(texts.get(other)));
        let mut sorted = Texts::default();
        sorted.ends.try_reserve_exact(texts.ends.len())?;
        sorted.bytes.try_reserve_exact(texts.bytes.len())?;
        let mut numbers = crate::base::try_filled(0_u32, order.len())?;
        for &old in &order {
            numbers[old as usize] = sorted.push(texts.get(old))?;
        }
        drop((texts, order));
        lines.iter_mut().for_each(|line| line.key = numbers[line.key as usize]);
        drop(numbers);
        lines.sort_unstable();
        lines.dedup();
        // The list may have grown to twice its length. Without memory for a copy, it stays.
        if let Some(copy) = crate::base::try_to_vec(&lines).ok().filter(|_| lines.capacity() > lines.len()) {
            lines = copy;
        }
        let mut by_key = crate::base::try_collect(0..lines.len() as u32)?;
        by_key.sort_unstable_by_key(|&at| {
            let line = &lines[at as usize];
            (line.key, line.hash, line.stage)
        });
        Ok(KeyMap { texts: sorted, lines, by_key })
    }
}

/// Refuse a key that no file can hold.
fn check_key(key: &str) -> Result<()> {
    if key.is_empty() || key.len() > MAX_KEY {
        let length = key.len();
        return Err(error!(InvalidArgument, "a stable key has {length} bytes: use 1 to {MAX_KEY}"));
    }
    Ok(())
}

/// The stable keys of a build's shaders. Never changes.
#[derive(Default)]
pub struct KeyMap {
    texts: Texts,
    /// In order of hash, key and stage; each once.
    lines: Vec<Line>,
    /// Positions of the lines in order of key, hash and stage.
    by_key: Vec<u32>,
}

impl KeyMap {
    /// Number of different lines.
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// Whether there is no line.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    fn line(&self, line: &Line) -> KeyLine<'_> {
        KeyLine { hash: line.hash, stage: line.stage, key: self.texts.get(line.key) }
    }

    /// The lines of a shader, in order of their keys.
    pub fn keys_of(&self, hash: ShaderHash) -> impl Iterator<Item = KeyLine<'_>> {
        let begin = self.lines.partition_point(|line| line.hash < hash);
        self.lines[begin..].iter().take_while(move |line| line.hash == hash).map(|line| self.line(line))
    }

    /// The lines of a stable key, in order of their hashes.
    pub fn shaders_of(&self, key: &str) -> impl Iterator<Item = KeyLine<'_>> {
        let number = self.number_of(key);
        let key_at = |at: &u32| Some(self.lines[*at as usize].key);
        let begin = self.by_key.partition_point(|at| key_at(at) < number);
        let end = number.map_or(begin, |_| self.by_key.partition_point(|at| key_at(at) <= number));
        self.by_key[begin..end].iter().map(|&at| self.line(&self.lines[at as usize]))
    }

    fn number_of(&self, key: &str) -> Option<u32> {
        let (mut begin, mut end) = (0, self.texts.ends.len() as u32);
        while begin < end {
            let middle = begin + (end - begin) / 2;
            if self.texts.get(middle) < key { begin = middle + 1 } else { end = middle }
        }
        (begin < self.texts.ends.len() as u32 && self.texts.get(begin) == key).then_some(begin)
    }

    /// All lines, in order of key, hash and stage.
    pub fn lines(&self) -> impl Iterator<Item = KeyLine<'_>> {
        self.by_key.iter().map(|&at| self.line(&self.lines[at as usize]))
    }

    /// Bytes held.
    pub fn memory_used(&self) -> usize {
        self.texts.bytes.capacity()
            + self.texts.ends.capacity() * size_of::<u64>()
            + self.lines.capacity() * size_of::<Line>()
            + self.by_key.capacity() * size_of::<u32>()
    }
}

/// Lines loaded from a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoadedKeys {
    /// Lines.
    pub lines: u64,
    /// Damaged parts of the file; their lines are lost.
    pub damaged: u64,
    /// Whether the end of the file is missing.
    pub is_truncated: bool,
}
