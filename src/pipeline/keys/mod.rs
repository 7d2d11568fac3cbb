//! Key maps: the stable keys of a build's shaders.
//!
//! A stable key is text that names a shader by its origin: fields such as material, vertex factory, shader type,
//! permutation and platform, with commas between them. The build of the game knows it; a hash of bytecode changes with
//! every edit, and the key does not. A shader may have several keys (materials that compile to the same bytecode), and a
//! key several shaders.
//!
//! The map is four arrays: all texts one after the other, each once; their order; the lines in order of their texts; and
//! the lines in order of their hashes. A line takes 32 bytes, and a text 16 besides its bytes. Nothing is copied to be
//! sorted, so reading the files of a map takes little more memory than the map.
//!
//! | file | content |
//! |---|---|
//! | `file` | `*.hobkeys`, the map as a file |
//! | `csv` | import and export as CSV |
//! | `runs` | sorting what is almost sorted |
//! | `wanted` | the part of a map that a merge needs |

mod csv;
mod file;
mod runs;
#[cfg(test)]
mod tests;
mod wanted;

use super::ShaderHash;
use crate::base::{Result, error, try_collect, try_filled};

pub use file::KeyFileInfo;
pub use wanted::Wanted;

/// Most bytes of a stable key.
pub const MAX_KEY: usize = 4096;
/// The stage of a shader whose line names none.
pub const NO_STAGE: u32 = u32::MAX;
/// Most lines: an index of 32 bits names each.
const MAX_LINES: usize = u32::MAX as usize - 1;

/// A line: a shader, its stage, and the number of its stable key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Line {
    key: u32,
    hash: ShaderHash,
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
    /// Hash table of texts. A slot is half of a text's hash, and its number + 1. 0 is an empty slot.
    slots: Vec<u64>,
    /// The number of the last line's text. Files have the lines of a text together.
    last: Option<u32>,
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
        reserve_one(&mut self.ends)?;
        if self.bytes.capacity() - self.bytes.len() < text.len() {
            self.bytes.try_reserve_exact(text.len().max(self.bytes.len() / GROWTH))?;
        }
        self.bytes.push_str(text);
        self.ends.push(self.bytes.len() as u64);
        Ok(self.ends.len() as u32 - 1)
    }
}

/// A full list grows by one part in this many: maps are large, and should not take twice the memory that they need.
const GROWTH: usize = 8;

/// Make room for one more.
fn reserve_one<T>(list: &mut Vec<T>) -> Result<()> {
    if list.len() == list.capacity() {
        list.try_reserve_exact((list.len() / GROWTH).max(64))?;
    }
    Ok(())
}

/// A hash that takes about 10 ns for a stable key of 100 bytes, the same in every process. It is for tables alone: texts
/// with equal hashes are easy to make.
fn quick_hash(text: &[u8]) -> u64 {
    const ODD: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xd1b5_4a32_d192_ed03];
    let step = |hash: u64, bytes: &[u8; 16]| {
        let number = u128::from_le_bytes(*bytes);
        let product = u128::from(number as u64 ^ hash ^ ODD[0]) * u128::from((number >> 64) as u64 ^ ODD[1]);
        product as u64 ^ (product >> 64) as u64
    };
    let (chunks, rest) = text.as_chunks();
    let hash = chunks.iter().fold(text.len() as u64, step);
    let mut last = [0; 16];
    last[..rest.len()].copy_from_slice(rest);
    step(hash, &last)
}

/// Half of the hash of a text.
fn text_hash(text: &str) -> u64 {
    quick_hash(text.as_bytes()) >> 32
}

impl KeyMapBuilder {
    /// Add a line. The same line twice counts once in the map.
    pub fn add(&mut self, line: &KeyLine<'_>) -> Result<()> {
        check_key(line.key)?;
        if self.lines.len() >= MAX_LINES {
            return Err(error!(LimitExceeded, "the key maps have more than {MAX_LINES} lines: merge fewer"));
        }
        reserve_one(&mut self.lines)?;
        let key = self.intern(line.key)?;
        self.lines.push(Line { hash: line.hash, key, stage: line.stage });
        Ok(())
    }

    /// Add a line with the key of the last one.
    fn add_to_last(&mut self, hash: ShaderHash, stage: u32) -> Result<()> {
        let Some(key) = self.last.filter(|_| self.lines.len() < MAX_LINES) else {
            return Err(error!(LimitExceeded, "the key maps have more than {MAX_LINES} lines: merge fewer"));
        };
        reserve_one(&mut self.lines)?;
        self.lines.push(Line { hash, key, stage });
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
        if let Some(last) = self.last.filter(|&last| self.texts.get(last) == text) {
            return Ok(last);
        }
        if 2 * (self.texts.ends.len() + 1) > self.slots.len() {
            self.grow()?;
        }
        let number = match find_text(&self.slots, &self.texts, text) {
            Ok(number) => number,
            Err(at) => {
                let number = self.texts.push(text)?;
                self.slots[at] = text_hash(text) << 32 | u64::from(number + 1);
                number
            }
        };
        self.last = Some(number);
        Ok(number)
    }

    fn grow(&mut self) -> Result<()> {
        let count = (2 * self.slots.len()).max(1024);
        let mut slots = try_filled(0_u64, count)?;
        for &slot in self.slots.iter().filter(|&&slot| slot > 0) {
            let mut at = (slot >> 32) as usize & (count - 1);
            while slots[at] > 0 {
                at = (at + 1) & (count - 1);
            }
            slots[at] = slot;
        }
        self.slots = slots;
        Ok(())
    }

    /// The map of all lines. It does not depend on the order of the lines.
    pub fn finish(self) -> Result<KeyMap> {
        let mut map = self.finish_by_key()?;
        map.by_hash = by_hash(&map.lines)?;
        Ok(map)
    }

    /// The map without the order by hash, so that it finds no shader. A third of the time is spared. It finds keys more
    /// quickly, with 20 bytes more for each text.
    fn finish_for_keys(mut self) -> Result<KeyMap> {
        let slots = std::mem::take(&mut self.slots);
        let map = self.finish_by_key()?;
        let mut places = try_filled(0_u32, map.order.len())?;
        for (place, &number) in (0..).zip(&map.order) {
            places[number as usize] = place;
        }
        Ok(KeyMap { slots, places, ..map })
    }

    fn finish_by_key(self) -> Result<KeyMap> {
        let Self { texts, mut lines, slots, .. } = self;
        drop(slots);
        let order = order_of(&texts, &mut lines)?;
        lines = runs::sorted(lines, |one, other| one < other)?;
        lines.dedup();
        let mut begins = try_filled(0_u32, order.len() + 1)?;
        lines.iter().for_each(|line| begins[line.key as usize + 1] += 1);
        (1..begins.len()).for_each(|place| begins[place] += begins[place - 1]);
        Ok(KeyMap { texts, order, begins, total: lines.len() as u64, lines, ..KeyMap::default() })
    }
}

/// The number of a text in a hash table that has room. `Err`: the slot for it.
fn find_text(slots: &[u64], texts: &Texts, text: &str) -> std::result::Result<u32, usize> {
    let (hash, mask) = (text_hash(text), slots.len() - 1);
    let mut at = hash as usize & mask;
    while let Some(number) = (slots[at] as u32).checked_sub(1) {
        if slots[at] >> 32 == hash && texts.get(number) == text {
            return Ok(number);
        }
        at = (at + 1) & mask;
    }
    Err(at)
}

/// The order of the texts. Lines get the places of their texts, so that they are compared without them.
fn order_of(texts: &Texts, lines: &mut [Line]) -> Result<Vec<u32>> {
    let order = try_collect(0..texts.ends.len() as u32)?;
    let order = runs::sorted(order, |&one, &other| texts.get(one) < texts.get(other))?;
    let mut places = try_filled(0_u32, order.len())?;
    for (place, &number) in (0..).zip(&order) {
        places[number as usize] = place;
    }
    lines.iter_mut().for_each(|line| line.key = places[line.key as usize]);
    Ok(order)
}

/// Positions of sorted lines in order of hash, key and stage.
fn by_hash(lines: &[Line]) -> Result<Vec<u32>> {
    // The begin of a hash decides almost always, so few comparisons look at a line.
    let begin = |line: &Line| line.hash.0.first_chunk().map_or(0, |bytes| u64::from_be_bytes(*bytes));
    let mut order = try_collect(lines.iter().map(begin).zip(0_u32..))?;
    order.sort_unstable_by(|one, other| {
        let hash = |at: u32| &lines[at as usize].hash;
        one.0.cmp(&other.0).then_with(|| (hash(one.1), one.1).cmp(&(hash(other.1), other.1)))
    });
    try_collect(order.iter().map(|&(_, at)| at))
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
    /// Numbers of the texts in their order. A line has a place in it.
    order: Vec<u32>,
    /// In order of key, hash and stage; each once.
    lines: Vec<Line>,
    /// The first line of each place, and the end of the lines.
    begins: Vec<u32>,
    total: u64,
    /// Lines of each file.
    file_lines: Vec<u64>,
    /// Positions of the lines in order of hash, key and stage.
    by_hash: Vec<u32>,
    /// The builder's hash table, and the places of the texts in it. Empty: keys are searched in their order.
    slots: Vec<u64>,
    places: Vec<u32>,
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

    /// Number of different lines in the files, those that are not held included.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Lines of each file that it was loaded from, in the order in which they were named.
    pub fn file_lines(&self) -> &[u64] {
        &self.file_lines
    }

    fn text(&self, place: u32) -> &str {
        self.texts.get(self.order[place as usize])
    }

    fn line(&self, line: &Line) -> KeyLine<'_> {
        KeyLine { hash: line.hash, stage: line.stage, key: self.text(line.key) }
    }

    /// The lines of a shader, in order of their keys.
    pub fn keys_of(&self, hash: ShaderHash) -> impl Iterator<Item = KeyLine<'_>> {
        let hash_at = |at: &u32| self.lines[*at as usize].hash;
        let begin = self.by_hash.partition_point(|at| hash_at(at) < hash);
        let same = self.by_hash[begin..].iter().take_while(move |&at| hash_at(at) == hash);
        same.map(|&at| self.line(&self.lines[at as usize]))
    }

    /// The lines of a stable key, in order of their hashes.
    pub fn shaders_of(&self, key: &str) -> impl Iterator<Item = KeyLine<'_>> {
        let (lines, key) = match self.place_of(key) {
            Some(place) => {
                let at = place as usize;
                (self.begins[at] as usize..self.begins[at + 1] as usize, self.text(place))
            }
            None => (0..0, ""),
        };
        self.lines[lines].iter().map(move |line| KeyLine { hash: line.hash, stage: line.stage, key })
    }

    fn place_of(&self, key: &str) -> Option<u32> {
        if !self.slots.is_empty() {
            return find_text(&self.slots, &self.texts, key).ok().map(|number| self.places[number as usize]);
        }
        self.order.binary_search_by(|&number| self.texts.get(number).cmp(key)).ok().map(|place| place as u32)
    }

    /// All lines, in order of key, hash and stage.
    pub fn lines(&self) -> impl Iterator<Item = KeyLine<'_>> {
        self.lines.iter().map(|line| self.line(line))
    }

    /// The shaders of all lines with a stage, in any order.
    pub fn shaders_of_stage(&self, stage: u32) -> impl Iterator<Item = ShaderHash> {
        self.lines.iter().filter(move |line| line.stage == stage).map(|line| line.hash)
    }

    /// Bytes held.
    pub fn memory_used(&self) -> usize {
        self.texts.bytes.capacity()
            + self.texts.ends.capacity() * size_of::<u64>()
            + (self.order.capacity() + self.begins.capacity() + self.places.capacity()) * size_of::<u32>()
            + self.slots.capacity() * size_of::<u64>()
            + self.lines.capacity() * size_of::<Line>()
            + self.by_hash.capacity() * size_of::<u32>()
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
