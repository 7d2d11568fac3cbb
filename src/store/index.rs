//! The index of all keys: a list of entries in order of arrival, and an open-addressed table into it.
//!
//! Beside the table lies a [`Hint`] for each slot: one word that locates the value. So a lookup in random order has one
//! cache miss, and eight hints share a cache line. The hash is seeded at random, so nobody can write a directory or a
//! bundle with names that collide.
//!
//! A removed key keeps its entry, because an older record of the key may still turn up in a segment that is read later.
//! The larger stamp of two records is the newer one. Stamps are a hybrid logical clock (Kulkarni and others, "Logical
//! Physical Clocks", 2014): the second in the upper half, a counter in the lower. A new stamp is never smaller than one
//! already seen.

use std::hash::{BuildHasher, RandomState};

use super::Key;
use super::format::{Form, Usage, hash_with_seed, record_size};
use super::snapshot::RecordInfo;
use crate::base::{Result, sort_numbers, sort_slowly, try_collect, try_filled, try_push};

/// The name under which a value is stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Name {
    /// Kind of the value; the numbers are the caller's own.
    pub kind: u8,
    /// Environment of the value; it is invalid in others.
    pub environment: u64,
    /// Key of the value within its kind and environment.
    pub key: Key,
}

impl Name {
    /// The hash that names a value in lists of uses.
    pub(super) fn hash(&self) -> u64 {
        self.hash_with(0)
    }

    fn hash_with(&self, seed: u64) -> u64 {
        hash_with_seed(seed ^ self.environment ^ u64::from(self.kind).rotate_right(8), &self.key)
    }
}

/// Location of a value's record. The default is no location: it lies before any record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Location {
    pub segment: u64,
    /// Offset in units of 16 bytes.
    pub unit: u32,
    /// Bytes of the record after its header.
    pub stored: u32,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct IndexEntry {
    pub row: RecordInfo,
    pub segment: u64,
    /// Second of the last use.
    pub used: u32,
    pub uses: u32,
}

impl IndexEntry {
    pub fn name(&self) -> Name {
        Name { kind: self.row.kind, environment: self.row.environment, key: self.row.key }
    }

    /// Location of its value; the default if it is not live.
    pub fn location(&self) -> Location {
        let RecordInfo { unit, stored, .. } = self.row;
        if self.is_live() { Location { segment: self.segment, unit, stored } } else { Location::default() }
    }

    pub fn is_live(&self) -> bool {
        self.row.form.is_value()
    }

    /// Bytes of its record on the disk; 0 if it is not live.
    pub fn live_bytes(&self) -> u64 {
        if self.is_live() { record_size(self.row.stored) } else { 0 }
    }
}

/// A record that clears: it removes all older records of an environment, or of all environments.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cleared {
    pub row: RecordInfo,
    pub segment: u64,
}

impl Cleared {
    fn covers(&self, row: &RecordInfo) -> bool {
        row.stamp < self.row.stamp && (self.row.kind == 1 || self.row.environment == row.environment)
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct HashSlot {
    /// Upper half of the name's hash; probing starts at this slot.
    tag: u32,
    /// The entry's position plus one; 0 means that the slot is vacant.
    entry: u32,
}

/// Location of a value in one word. Record and name are checked after reading, so a hint may be wrong.
///
/// | bits | content |
/// |---|---|
/// | 0 to 15 | lower part of the name's hash |
/// | 16 to 39 | offset in units of 16 bytes |
/// | 40 to 51 | number of the segment in [`Index::segments`] plus one; 0 if the hint has no location |
/// | 52 to 63 | length of the payload in units of [`Hint::STEP`], rounded up |
///
/// Zero means that the slot is vacant. Long values, far offsets and late segments have hints without a location.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Hint(u64);

impl Hint {
    const STEP: u32 = 64;
    /// Bytes of the longest payload with a location.
    #[cfg(test)]
    const LONGEST: u32 = Self::STEP * ((1 << 12) - 1);

    fn new(hash: u64, location: Option<(usize, u32, u32)>) -> Self {
        let packed = location.and_then(|(number, unit, stored)| {
            let (number, length) = (number as u64 + 1, u64::from(stored.div_ceil(Self::STEP)));
            (unit < 1 << 24 && number < 1 << 12 && length < 1 << 12)
                .then_some(length << 52 | number << 40 | u64::from(unit) << 16)
        });
        Self(packed.unwrap_or(0) | Self::part_of(hash))
    }

    /// Never 0, so that an occupied slot is not taken for a vacant one.
    fn part_of(hash: u64) -> u64 {
        (hash & 0xffff).max(1)
    }

    fn has_part_of(self, hash: u64) -> bool {
        self.0 & 0xffff == Self::part_of(hash)
    }

    fn number(self) -> Option<usize> {
        ((self.0 >> 40) as usize & 0xfff).checked_sub(1)
    }

    fn unit(self) -> u32 {
        (self.0 >> 16) as u32 & 0xff_ffff
    }

    /// At least the length of the payload.
    fn longest(self) -> u32 {
        (self.0 >> 52) as u32 * Self::STEP
    }
}

#[derive(Debug)]
pub(super) struct Index {
    /// Seed of the table's hash.
    seed: u64,
    /// The length is a power of two.
    slots: Vec<HashSlot>,
    /// One for each slot.
    hints: Vec<Hint>,
    /// Segments by the number that hints have for them.
    segments: Vec<u64>,
    pub entries: Vec<IndexEntry>,
    pub cleared: Vec<Cleared>,
    live: usize,
    pub newest_stamp: u64,
}

/// Segments with a number: as many as a [`Hint`] tells apart.
const MOST_NUMBERS: usize = (1 << 12) - 1;

fn tag_of(hash: u64) -> u32 {
    (hash >> 32) as u32
}

/// Effect of a record on the index.
#[derive(Clone, Copy, Debug)]
pub(super) enum Effect {
    /// Ignored: a newer record is known.
    Stale,
    /// Ignored: a copy in a segment with a greater id is known.
    Copied,
    /// The record is now current and replaces the one before.
    Applied { before: Option<IndexEntry> },
}

impl Default for Index {
    fn default() -> Self {
        let seed = RandomState::new().hash_one(0);
        Self {
            seed,
            slots: Vec::new(),
            hints: Vec::new(),
            segments: Vec::new(),
            entries: Vec::new(),
            cleared: Vec::new(),
            live: 0,
            newest_stamp: 0,
        }
    }
}

impl Index {
    /// The tag of a name's slot.
    pub fn tag(&self, name: &Name) -> u32 {
        tag_of(self.hash(name))
    }

    fn hash(&self, name: &Name) -> u64 {
        name.hash_with(self.seed)
    }

    /// Positions of the entries that `is_wanted` accepts, in disk order.
    pub fn in_place(&self, is_wanted: impl Fn(&IndexEntry) -> bool) -> Result<Vec<usize>> {
        let entry = |position: u32| &self.entries[position as usize];
        // The positions of the hash table are 32 bits wide as well.
        let mut positions = try_collect((0..self.entries.len() as u32).filter(|&position| is_wanted(entry(position))))?;
        let place = |position| (entry(position).segment, entry(position).row.unit);
        sort_numbers(&mut positions, &mut |one, other| place(one).cmp(&place(other)));
        try_collect(positions.into_iter().map(|position| position as usize))
    }

    /// Reserve memory for `more` entries.
    pub fn reserve(&mut self, more: usize) -> Result<()> {
        self.entries.try_reserve(more)?;
        // Load factor of at most three quarters: neighbours share a cache line, and half of the hash tells them apart.
        let wanted = (self.entries.len() + more).div_ceil(3) * 4;
        if wanted > self.slots.len() {
            let length = wanted.next_power_of_two().max(16);
            let (slots, hints) = (try_filled(HashSlot::default(), length)?, try_filled(Hint::default(), length)?);
            let slots = std::mem::replace(&mut self.slots, slots).into_iter();
            let hints = std::mem::replace(&mut self.hints, hints).into_iter();
            for (slot, hint) in slots.zip(hints).filter(|(slot, _)| slot.entry != 0) {
                self.occupy(slot, hint);
            }
        }
        Ok(())
    }

    fn occupy(&mut self, slot: HashSlot, hint: Hint) {
        if let Err(vacant) = self.probe(slot.tag, |_| false) {
            (self.slots[vacant], self.hints[vacant]) = (slot, hint);
        }
    }

    /// The number of a segment. `None`: there are too many segments, or there is no memory for another number.
    fn number_of(&mut self, segment: u64) -> Option<usize> {
        // From the end: records are shown segment by segment, and new ones go to the last segment.
        if let Some(number) = self.segments.iter().rposition(|&known| known == segment) {
            return Some(number);
        }
        let is_room = self.segments.len() < MOST_NUMBERS && self.segments.try_reserve(1).is_ok();
        is_room.then(|| {
            self.segments.push(segment);
            self.segments.len() - 1
        })
    }

    /// The hint of an entry.
    fn hint_of(&mut self, hash: u64, entry: &IndexEntry) -> Hint {
        let number = if entry.is_live() { self.number_of(entry.segment) } else { None };
        Hint::new(hash, number.map(|number| (number, entry.row.unit, entry.row.stored)))
    }

    /// The slot with that tag whose entry position satisfies `is_it`; else, as the error, the vacant slot where it
    /// would go. The table must not be empty.
    fn probe(&self, tag: u32, is_it: impl Fn(usize) -> bool) -> std::result::Result<usize, usize> {
        let mask = self.slots.len() - 1;
        let mut at = tag as usize & mask;
        loop {
            let slot = &self.slots[at];
            if slot.entry == 0 {
                return Err(at);
            }
            if slot.tag == tag && is_it(slot.entry as usize - 1) {
                return Ok(at);
            }
            at = (at + 1) & mask;
        }
    }

    /// Location of the value of that name, or of another name whose hash is similar. Its length may be up to 63 bytes too
    /// long.
    pub fn likely_location(&self, name: &Name) -> Option<Location> {
        let mask = self.hints.len().checked_sub(1)?;
        let hash = self.hash(name);
        let mut at = tag_of(hash) as usize & mask;
        loop {
            let hint = self.hints[at];
            if hint == Hint::default() {
                return None;
            }
            if hint.has_part_of(hash) {
                let segment = self.segments[hint.number()?];
                return Some(Location { segment, unit: hint.unit(), stored: hint.longest() });
            }
            at = (at + 1) & mask;
        }
    }

    pub fn position(&self, name: &Name) -> Option<usize> {
        if self.slots.is_empty() {
            return None;
        }
        let is_it = |position: usize| self.entries[position].name() == *name;
        self.probe(self.tag(name), is_it).ok().map(|slot| self.slots[slot].entry as usize - 1)
    }

    pub fn live(&self, name: &Name) -> Option<usize> {
        self.position(name).filter(|&position| self.entries[position].is_live())
    }

    /// Show a value record or a removal record to the index.
    pub fn show(&mut self, row: RecordInfo, segment: u64) -> Result<Effect> {
        self.newest_stamp = self.newest_stamp.max(row.stamp);
        // Forgotten names have stamp 0, so a record with stamp 0 is ignored.
        if row.stamp == 0 || self.cleared.iter().any(|cleared| cleared.covers(&row)) {
            return Ok(Effect::Stale);
        }
        let entry = IndexEntry { row, segment, used: (row.stamp >> 32) as u32, uses: 1 };
        let (name, position) = (entry.name(), self.entries.len());
        self.reserve(1)?;
        let hash = self.hash(&name);
        let tag = tag_of(hash);
        let slot = match self.probe(tag, |known| self.entries[known].name() == name) {
            Ok(slot) => slot,
            Err(vacant) => {
                self.slots[vacant] = HashSlot { tag, entry: position as u32 + 1 };
                self.hints[vacant] = self.hint_of(hash, &entry);
                self.entries.push(entry);
                self.live += usize::from(entry.is_live());
                return Ok(Effect::Applied { before: None });
            }
        };
        let known = &mut self.entries[self.slots[slot].entry as usize - 1];
        if (known.row.stamp, known.segment, known.row.unit) >= (row.stamp, segment, row.unit) {
            let is_copied = known.row.stamp == row.stamp && known.segment != segment;
            return Ok(if is_copied { Effect::Copied } else { Effect::Stale });
        }
        let before = std::mem::replace(known, entry);
        self.live = self.live + usize::from(entry.is_live()) - usize::from(before.is_live());
        if before.row.stamp == row.stamp {
            // The same record in another location: keep its uses.
            (known.used, known.uses) = (before.used, before.uses);
        }
        self.hints[slot] = self.hint_of(hash, &entry);
        Ok(Effect::Applied { before: Some(before) })
    }

    /// Show a record that clears; passes each removed entry to `gone`.
    pub fn show_cleared(&mut self, row: RecordInfo, segment: u64, mut gone: impl FnMut(&IndexEntry)) -> Result<()> {
        self.newest_stamp = self.newest_stamp.max(row.stamp);
        let cleared = Cleared { row, segment };
        let same = |known: &Cleared| known.row.kind == row.kind && known.row.environment == row.environment;
        match self.cleared.iter_mut().find(|known| same(known)) {
            Some(known) if (known.row.stamp, known.segment) >= (row.stamp, segment) => return Ok(()),
            Some(known) => *known = cleared,
            None => try_push(&mut self.cleared, cleared)?,
        }
        for position in 0..self.entries.len() {
            if cleared.covers(&self.entries[position].row) {
                gone(&self.entries[position]);
                self.forget(position);
            }
        }
        Ok(())
    }

    /// Record uses, and empty the list; uses of unknown names are dropped.
    pub fn show_uses(&mut self, uses: &mut Vec<Usage>) {
        if uses.is_empty() {
            return;
        }
        sort_slowly(uses, |one, other| one.name_hash.cmp(&other.name_hash));
        uses.dedup_by(|next, used| {
            let is_same = next.name_hash == used.name_hash;
            if is_same {
                (used.second, used.count) = (used.second.max(next.second), used.count.max(next.count));
            }
            is_same
        });
        for entry in &mut self.entries {
            if let Ok(place) = uses.binary_search_by_key(&entry.name().hash(), |used| used.name_hash) {
                let Usage { second, count, .. } = uses[place];
                (entry.used, entry.uses) = (entry.used.max(second), entry.uses.max(count));
            }
        }
        uses.clear();
    }

    /// Reset a name to unknown: any later record of it is accepted.
    pub fn forget(&mut self, position: usize) {
        self.drop_entry(position);
        let entry = &mut self.entries[position];
        (entry.row.stamp, entry.segment) = (0, 0);
    }

    /// Mark a name as removed. Its stamp stays, so that older records of it are ignored.
    pub fn drop_entry(&mut self, position: usize) {
        let entry = &mut self.entries[position];
        self.live -= usize::from(entry.is_live());
        entry.row.form = Form::Removed;
        let hash = self.hash(&self.entries[position].name());
        if let Ok(slot) = self.probe(tag_of(hash), |known| known == position) {
            self.hints[slot] = Hint::new(hash, None);
        }
    }

    /// Drop the forgotten names once they are more than half of the entries, and at least 64.
    pub fn tidy(&mut self) -> Result<()> {
        let vacant = self.entries.iter().filter(|entry| entry.row.stamp == 0).count();
        if vacant * 2 <= self.entries.len() || vacant < 64 {
            return Ok(());
        }
        self.entries.retain(|entry| entry.row.stamp != 0);
        self.slots.fill(HashSlot::default());
        self.hints.fill(Hint::default());
        self.segments.clear();
        for position in 0..self.entries.len() {
            let entry = self.entries[position];
            let hash = self.hash(&entry.name());
            let hint = self.hint_of(hash, &entry);
            self.occupy(HashSlot { tag: tag_of(hash), entry: position as u32 + 1 }, hint);
        }
        Ok(())
    }

    /// Check that table and entries agree.
    #[cfg(test)]
    pub fn assert_sound(&self) {
        let taken = self.slots.iter().filter(|slot| slot.entry != 0).count();
        assert_eq!(taken, self.entries.len());
        assert_eq!(self.live, self.entries.iter().filter(|entry| entry.is_live()).count());
        for (position, entry) in self.entries.iter().enumerate() {
            let hash = self.hash(&entry.name());
            let hint = self.hints[self.probe(tag_of(hash), |known| known == position).unwrap()];
            assert!(hint.has_part_of(hash));
            let Location { segment, unit, stored } = entry.location();
            match hint.number() {
                Some(number) => {
                    assert_eq!((self.segments[number], hint.unit()), (segment, unit));
                    assert!((stored..stored + Hint::STEP).contains(&hint.longest()));
                }
                None => assert!(!entry.is_live() || stored > Hint::LONGEST),
            }
        }
    }

    /// Names that have a value.
    pub fn live_count(&self) -> usize {
        self.live
    }

    pub fn memory_used(&self) -> usize {
        self.slots.capacity() * (size_of::<HashSlot>() + size_of::<Hint>())
            + self.entries.capacity() * size_of::<IndexEntry>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(number: u64, unit: u32, stored: u32) -> RecordInfo {
        let mut key = Key::default();
        key[..8].copy_from_slice(&number.to_le_bytes());
        let (environment, stamp, raw, build_us, kind) = (7, 1 + number, 0, 0, 1);
        RecordInfo { key, environment, stamp, unit, stored, raw, build_us, kind, form: Form::Plain }
    }

    fn name(number: u64) -> Name {
        Name { kind: 1, environment: 7, key: row(number, 0, 0).key }
    }

    #[test]
    fn hint_locates_a_value_unless_it_is_long_or_far_away() {
        let mut index = Index::default();
        let places = [
            (4, 0),
            (4, 1),
            (5, 64),
            (1 << 23, 65),
            ((1 << 24) - 1, Hint::LONGEST),
            (6, Hint::LONGEST + 1),
            (1 << 24, 1),
        ];
        for (number, (unit, stored)) in (0..).zip(places) {
            index.show(row(number, unit, stored), 900 + number).unwrap();
        }
        index.reserve(1000).unwrap();
        for (number, (unit, stored)) in (0..).zip(places) {
            let position = index.live(&name(number)).expect("it is live");
            assert_eq!(index.entries[position].location(), Location { segment: 900 + number, unit, stored });
            let found = index.likely_location(&name(number));
            let is_located = stored <= Hint::LONGEST && unit < 1 << 24;
            let rounded = Location { segment: 900 + number, unit, stored: stored.next_multiple_of(Hint::STEP) };
            assert_eq!(found, is_located.then_some(rounded));
        }
        index.drop_entry(0);
        assert_eq!((index.likely_location(&name(0)), index.likely_location(&name(99))), (None, None));
    }

    #[test]
    fn values_of_more_segments_than_hints_tell_apart_are_found() {
        let (mut index, count) = (Index::default(), MOST_NUMBERS as u64 + 10);
        (0..count).for_each(|number| _ = index.show(row(number, 4, 1), number).unwrap());
        let located = (0..count).filter(|&number| index.likely_location(&name(number)).is_some()).count();
        // Similar hashes are possible, though rare.
        assert!((MOST_NUMBERS - 5..=MOST_NUMBERS + 5).contains(&located));
        for number in 0..count {
            let position = index.live(&name(number)).expect("it is live");
            assert_eq!(index.entries[position].segment, number);
        }
    }
}
