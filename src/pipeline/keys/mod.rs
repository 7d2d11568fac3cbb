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
//! | `texts` | texts of keys, and their order |
//! | `runs` | sorting what is almost sorted |
//! | `wanted` | the part of a map that a merge needs |
//! | `stream` | the lines of a file in order |
//! | `index` | the blocks of a file |
//! | `held` | makes a map of lines in order |

mod csv;
mod file;
mod held;
mod index;
mod runs;
mod stream;
#[cfg(test)]
mod tests;
mod texts;
mod wanted;

use std::ops::Range;

use super::ShaderHash;
use crate::base::{Result, error, sort_ranked, try_collect, try_filled};

pub use file::KeyFileInfo;
pub use wanted::Wanted;

use texts::{GROWTH, Interned, Texts};

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
    texts: Interned,
    lines: Vec<Line>,
    /// The number of the last line's text. Files have the lines of a text together.
    last: Option<u32>,
}

/// Make room for one more. A full list grows by one part in [`GROWTH`]: maps are large, and should not take twice the memory
/// that they need.
fn reserve_one<T>(list: &mut Vec<T>) -> Result<()> {
    if list.len() == list.capacity() {
        list.try_reserve_exact((list.len() / GROWTH).max(64))?;
    }
    Ok(())
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
        if let Some(last) = self.last.filter(|&last| self.texts.texts.get(last) == text) {
            return Ok(last);
        }
        let number = self.texts.intern(text)?;
        self.last = Some(number);
        Ok(number)
    }

    /// The key of the last line.
    fn last_key(&self) -> &str {
        self.last.map_or("", |last| self.texts.texts.get(last))
    }

    /// The map of all lines. It does not depend on the order of the lines.
    pub fn finish(self) -> Result<KeyMap> {
        let Self { texts: Interned { texts, .. }, mut lines, .. } = self;
        let order = order_of(&texts, &mut lines)?;
        lines = runs::sorted(lines, |one, other| one < other)?;
        lines.dedup();
        let mut begins = try_filled(0_u32, order.len() + 1)?;
        lines.iter().for_each(|line| begins[line.key as usize + 1] += 1);
        (1..begins.len()).for_each(|place| begins[place] += begins[place - 1]);
        let (by_hash, by_hash_parts) = by_hash(&lines)?;
        let (texts, count) = (Interned::without_table(texts), lines.len() as u64);
        Ok(KeyMap { texts, order, begins, count, total: count, lines, by_hash, by_hash_parts, ..KeyMap::default() })
    }
}

/// The order of the texts. Lines get the places of their texts, so that they are compared without them.
fn order_of(texts: &Texts, lines: &mut [Line]) -> Result<Vec<u32>> {
    let order = try_collect(0..texts.len() as u32)?;
    let order = runs::sorted(order, |&one, &other| texts.get(one) < texts.get(other))?;
    let mut places = try_filled(0_u32, order.len())?;
    for (place, &number) in (0..).zip(&order) {
        places[number as usize] = place;
    }
    lines.iter_mut().for_each(|line| line.key = places[line.key as usize]);
    Ok(order)
}

/// The begin of a hash, as a number in its order.
fn begin_of(hash: &ShaderHash) -> u64 {
    hash.0.first_chunk().map_or(0, |bytes| u64::from_be_bytes(*bytes))
}

/// Positions of sorted lines in order of hash, key and stage, and their parts.
fn by_hash(lines: &[Line]) -> Result<(Vec<u32>, HashParts)> {
    // The begin of a hash decides almost always, so few comparisons look at a line.
    let mut order = try_collect(lines.iter().zip(0_u32..).map(|(line, at)| (begin_of(&line.hash), 0, at)))?;
    let hash = |at: u32| &lines[at as usize].hash;
    sort_ranked(&mut order, &mut |one, other| (hash(one), one).cmp(&(hash(other), other)));
    let parts = HashParts::of_sorted(order.iter().map(|(begin, ..)| *begin))?;
    Ok((try_collect(order.iter().map(|&(.., at)| at))?, parts))
}

/// Where sorted hashes that begin with the same bits stand. Searching one among millions waits for memory many times
/// otherwise.
#[derive(Default)]
struct HashParts {
    /// Bits that a part does not share, of the first 64.
    shift: u32,
    /// The begin of each part, and the end of the last. Empty: there is no hash.
    begins: Vec<u32>,
}

impl HashParts {
    /// Hashes of a part, if they are spread.
    const LENGTH: usize = 4;

    /// The parts of hashes that begin with these numbers.
    fn of_sorted(begins_of_hashes: impl ExactSizeIterator<Item = u64>) -> Result<Self> {
        let count = begins_of_hashes.len();
        if count == 0 {
            return Ok(Self::default());
        }
        let bits = (count / Self::LENGTH).max(2).ilog2();
        let (shift, mut begins) = (u64::BITS - bits, Vec::new());
        begins.try_reserve_exact((1 << bits) + 1)?;
        for (begin, at) in begins_of_hashes.zip(0_u32..) {
            let part = (begin >> shift) as usize;
            begins.resize(begins.len().max(part + 1), at);
        }
        begins.resize((1 << bits) + 1, count as u32);
        Ok(Self { shift, begins })
    }

    /// The part in which a hash would stand.
    fn of(&self, hash: &ShaderHash) -> Range<usize> {
        if self.begins.is_empty() {
            return 0..0;
        }
        let part = (begin_of(hash) >> self.shift) as usize;
        self.begins[part] as usize..self.begins[part + 1] as usize
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
    /// The table is empty in a map of whole files. Keys are searched in their order then.
    texts: Interned,
    /// Numbers of the texts in their order. The number of a text in it is its place.
    order: Vec<u32>,
    /// In order of key, hash and stage; each once.
    lines: Vec<Line>,
    /// The first line of each place, and the end of the lines.
    begins: Vec<u32>,
    /// Number of lines, and of those in the files.
    count: u64,
    total: u64,
    /// Lines of each file.
    file_lines: Vec<u64>,
    /// Positions of the lines in order of hash, key and stage.
    by_hash: Vec<u32>,
    by_hash_parts: HashParts,
    /// Of a map of wanted keys; otherwise empty.
    lists: held::Lists,
}

impl KeyMap {
    /// Number of different lines.
    pub fn len(&self) -> usize {
        self.count as usize
    }

    /// Whether there is no line.
    pub fn is_empty(&self) -> bool {
        self.count == 0
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
        self.texts.texts.get(self.order[place as usize])
    }

    /// The lines of a shader, in order of their keys.
    pub fn keys_of(&self, hash: ShaderHash) -> impl Iterator<Item = KeyLine<'_>> {
        let hash_at = |at: &u32| self.lines[*at as usize].hash;
        let part = self.by_hash_parts.of(&hash);
        let begin = part.start + self.by_hash[part].partition_point(|at| hash_at(at) < hash);
        let same = self.by_hash[begin..].iter().take_while(move |&at| hash_at(at) == hash);
        same.map(|&at| {
            let Line { key, hash, stage } = self.lines[at as usize];
            KeyLine { hash, stage, key: self.text(key) }
        })
    }

    /// The lines of a stable key, in order of their hashes.
    pub fn shaders_of(&self, key: &str) -> impl Iterator<Item = KeyLine<'_>> {
        self.place_of(key).into_iter().flat_map(|place| self.lines_at(place))
    }

    /// The lines of the place of a key.
    fn lines_at(&self, place: u32) -> impl Iterator<Item = KeyLine<'_>> {
        let key = self.text(place);
        self.lines[self.range_at(place)].iter().map(move |line| KeyLine { hash: line.hash, stage: line.stage, key })
    }

    fn range_at(&self, place: u32) -> Range<usize> {
        let owner = self.lists.owner(place) as usize;
        self.begins[owner] as usize..self.begins[owner + 1] as usize
    }

    /// The list of the shaders of a key, if all of them have that stage or none. Otherwise [`shaders_of`](Self::shaders_of)
    /// knows them. The shaders of a list are different and in order. Keys with the same shaders have the same list.
    pub(in crate::pipeline) fn list_of(&self, key: &str, stage: u32) -> Option<Range<usize>> {
        let place = self.place_of(key)?;
        self.lists.stage(place).filter(|only| *only == stage || *only == NO_STAGE).map(|_| self.range_at(place))
    }

    /// A shader by its place in lists.
    pub(in crate::pipeline) fn listed(&self, at: usize) -> ShaderHash {
        self.lines[at].hash
    }

    fn place_of(&self, key: &str) -> Option<u32> {
        if !self.texts.is_empty() {
            return self.texts.find(key).and_then(|number| self.lists.place(number));
        }
        let texts = &self.texts.texts;
        self.order.binary_search_by(|&number| texts.get(number).cmp(key)).ok().map(|place| place as u32)
    }

    /// All lines, in order of key, hash and stage.
    pub fn lines(&self) -> impl Iterator<Item = KeyLine<'_>> {
        (0..self.order.len() as u32).flat_map(|place| self.lines_at(place))
    }

    /// The shaders of all lines with a stage, in any order.
    pub fn shaders_of_stage(&self, stage: u32) -> impl Iterator<Item = ShaderHash> {
        self.lines.iter().filter(move |line| line.stage == stage).map(|line| line.hash)
    }

    /// Bytes held.
    pub fn memory_used(&self) -> usize {
        self.texts.memory_used()
            + (self.order.capacity() + self.begins.capacity()) * size_of::<u32>()
            + self.lines.capacity() * size_of::<Line>()
            + (self.by_hash.capacity() + self.by_hash_parts.begins.capacity()) * size_of::<u32>()
            + self.lists.memory_used()
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
