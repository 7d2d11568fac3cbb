//! Makes the map of lines that come in order.
//!
//! Materials that compile to the same shaders have keys with the same list of shaders. A map of wanted keys holds each list
//! once, since a build asks for the shaders of keys only.

use super::texts::Interned;
use super::{KeyMap, Line, MAX_LINES, by_hash, reserve_one};
use crate::base::{Result, error, try_filled, try_push};
use crate::pipeline::ShaderHash;
use crate::pipeline::files::Slots;

/// The lists of shaders of a map of wanted keys.
#[derive(Default)]
pub struct Lists {
    /// For each place, a place with the same list, which holds it.
    owners: Vec<u32>,
    /// For each place the stage of all its lines, or [`MIXED`].
    stages: Vec<u64>,
    /// The place of each text, or `u32::MAX`.
    places: Vec<u32>,
}

/// No stage: lines of a key have different ones.
const MIXED: u64 = u64::MAX;

impl Lists {
    /// The place that holds the list of a place.
    pub fn owner(&self, place: u32) -> u32 {
        self.owners.get(place as usize).copied().unwrap_or(place)
    }

    /// The stage of all lines of a place.
    pub fn stage(&self, place: u32) -> Option<u32> {
        u32::try_from(*self.stages.get(place as usize)?).ok()
    }

    /// The place of a text.
    pub fn place(&self, number: u32) -> Option<u32> {
        self.places.get(number as usize).copied().filter(|place| *place < u32::MAX)
    }

    /// Bytes held.
    pub fn memory_used(&self) -> usize {
        (self.owners.capacity() + self.places.capacity()) * size_of::<u32>() + self.stages.capacity() * size_of::<u64>()
    }
}

/// A map to which lines are added in order.
pub struct Held {
    texts: Interned,
    order: Vec<u32>,
    begins: Vec<u32>,
    lines: Vec<Line>,
    count: u64,
    lists: Lists,
    /// The lists by their hash, if equal ones are held once.
    by_list: Option<Slots>,
    /// Of the lines of the last key.
    hash: u64,
    stage: u64,
}

impl Held {
    /// A map of these wanted keys, or of wanted shaders.
    pub fn new(texts: Interned, is_of_keys: bool) -> Self {
        let by_list = is_of_keys.then(Slots::default);
        let (order, begins, lines, lists) = (Vec::new(), Vec::new(), Vec::new(), Lists::default());
        Self { texts, order, begins, lines, count: 0, lists, by_list, hash: 0, stage: MIXED }
    }

    /// The text of a wanted key.
    pub fn text(&self, number: u32) -> &str {
        self.texts.texts.get(number)
    }

    /// Whether the last key is this one.
    pub fn is_last_key(&self, key: &[u8]) -> bool {
        self.order.last().is_some_and(|&number| self.text(number).as_bytes() == key)
    }

    /// Begin the lines of a wanted key.
    pub fn begin(&mut self, number: u32) -> Result<()> {
        reserve_one(&mut self.order)?;
        reserve_one(&mut self.begins)?;
        self.order.push(number);
        self.begins.push(self.lines.len() as u32);
        (self.hash, self.stage) = (0, MIXED);
        Ok(())
    }

    /// Begin the lines of another key.
    pub fn begin_other(&mut self, key: &str) -> Result<()> {
        let number = self.texts.texts.push(key)?;
        self.begin(number)
    }

    /// Add a line of the key that was begun.
    #[inline]
    pub fn push(&mut self, hash: ShaderHash, stage: u32) -> Result<()> {
        if self.lines.len() >= MAX_LINES {
            return Err(error!(LimitExceeded, "the key maps have more than {MAX_LINES} wanted lines: merge fewer"));
        }
        reserve_one(&mut self.lines)?;
        let key = self.order.len() as u32 - 1;
        let is_first = self.begins.last().is_some_and(|&begin| begin as usize == self.lines.len());
        self.lines.push(Line { hash, key, stage });
        self.count += 1;
        let begin =
            hash.0.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes)) ^ u64::from(stage).rotate_left(32);
        self.hash = (self.hash.rotate_left(23) ^ begin).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        if is_first {
            self.stage = stage.into();
        } else if self.stage != u64::from(stage) {
            self.stage = MIXED;
        }
        Ok(())
    }

    /// End the lines of a key.
    pub fn end(&mut self) -> Result<()> {
        let Some(by_list) = &mut self.by_list else { return Ok(()) };
        let (place, begin) = (self.order.len() as u32 - 1, self.begins[self.begins.len() - 1] as usize);
        let hash = (self.hash >> 32) as u32;
        let (begins, lines) = (&self.begins, &self.lines);
        let content = |line: &Line| (line.hash, line.stage);
        let is_same = |other: u32| {
            let list = &lines[begins[other as usize] as usize..begins[other as usize + 1] as usize];
            list.len() == lines.len() - begin && list.iter().map(content).eq(lines[begin..].iter().map(content))
        };
        let owner = by_list.find(hash, is_same);
        match owner {
            Some(_) => self.lines.truncate(begin),
            None => by_list.insert(hash, place)?,
        }
        try_push(&mut self.lists.owners, owner.unwrap_or(place))?;
        try_push(&mut self.lists.stages, self.stage)
    }

    /// The map.
    pub fn finish(self) -> Result<KeyMap> {
        let Self { texts, order, mut begins, lines, count, mut lists, by_list, .. } = self;
        try_push(&mut begins, lines.len() as u32)?;
        let (by_hash, by_hash_parts) = if by_list.is_none() { by_hash(&lines)? } else { Default::default() };
        if by_list.is_some() {
            lists.places = try_filled(u32::MAX, texts.texts.len())?;
            (0..).zip(&order).for_each(|(place, &number)| lists.places[number as usize] = place);
        }
        Ok(KeyMap { texts, order, begins, lines, count, by_hash, by_hash_parts, lists, ..KeyMap::default() })
    }
}
