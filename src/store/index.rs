//! The index of all keys: a list of entries in order of arrival, and an open-addressed table into it.
//!
//! The table also holds the location of each value, so that a lookup in random order has one cache miss instead of two.
//! Its hash is seeded at random, so nobody can write a directory or a bundle with names that collide.
//!
//! A removed key keeps its entry, because an older record of the key may still turn up in a segment that is read later.
//! The larger stamp of two records is the newer one. Stamps are a hybrid logical clock (Kulkarni and others, "Logical
//! Physical Clocks", 2014): the second in the upper half, a counter in the lower. A new stamp is never smaller than one
//! already seen.

use std::hash::{BuildHasher, RandomState};

use super::Key;
use super::format::{Form, Usage, hash_with_seed, record_size};
use super::snapshot::RecordInfo;
use crate::base::{Result, try_collect, try_filled, try_push};

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
    /// Copy of the entry's place.
    location: Location,
}

#[derive(Debug)]
pub(super) struct Index {
    /// Seed of the table's hash.
    seed: u64,
    /// The length is a power of two.
    slots: Vec<HashSlot>,
    pub entries: Vec<IndexEntry>,
    pub cleared: Vec<Cleared>,
    live: usize,
    pub newest_stamp: u64,
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
        Self { seed, slots: Vec::new(), entries: Vec::new(), cleared: Vec::new(), live: 0, newest_stamp: 0 }
    }
}

impl Index {
    /// The tag of a name's slot.
    pub fn tag(&self, name: &Name) -> u32 {
        (name.hash_with(self.seed) >> 32) as u32
    }

    /// Positions of the entries that `is_wanted` accepts, in disk order.
    pub fn in_place(&self, is_wanted: impl Fn(&IndexEntry) -> bool) -> Result<Vec<usize>> {
        let mut positions =
            try_collect((0..self.entries.len()).filter(|&position| is_wanted(&self.entries[position])))?;
        positions.sort_unstable_by_key(|&position| (self.entries[position].segment, self.entries[position].row.unit));
        Ok(positions)
    }

    /// Reserve memory for `more` entries.
    pub fn reserve(&mut self, more: usize) -> Result<()> {
        self.entries.try_reserve(more)?;
        // Load factor of at most three quarters: neighbours share a cache line, and half of the hash tells them apart.
        let wanted = (self.entries.len() + more).div_ceil(3) * 4;
        if wanted > self.slots.len() {
            let slots = try_filled(HashSlot::default(), wanted.next_power_of_two().max(16))?;
            for slot in std::mem::replace(&mut self.slots, slots).into_iter().filter(|slot| slot.entry != 0) {
                self.occupy(slot);
            }
        }
        Ok(())
    }

    fn occupy(&mut self, slot: HashSlot) {
        if let Err(vacant) = self.probe(slot.tag, |_| false) {
            self.slots[vacant] = slot;
        }
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

    /// Location of the value of that name, or of another name with the same tag.
    pub fn likely_location(&self, name: &Name) -> Option<Location> {
        if self.slots.is_empty() {
            return None;
        }
        let slot = self.probe(self.tag(name), |_| true).ok()?;
        Some(self.slots[slot].location).filter(|location| *location != Location::default())
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
        let tag = self.tag(&name);
        let slot = match self.probe(tag, |known| self.entries[known].name() == name) {
            Ok(slot) => &mut self.slots[slot],
            Err(vacant) => {
                self.slots[vacant] = HashSlot { tag, entry: position as u32 + 1, location: entry.location() };
                self.entries.push(entry);
                self.live += usize::from(entry.is_live());
                return Ok(Effect::Applied { before: None });
            }
        };
        let known = &mut self.entries[slot.entry as usize - 1];
        if (known.row.stamp, known.segment, known.row.unit) >= (row.stamp, segment, row.unit) {
            let is_copied = known.row.stamp == row.stamp && known.segment != segment;
            return Ok(if is_copied { Effect::Copied } else { Effect::Stale });
        }
        let before = std::mem::replace(known, entry);
        slot.location = entry.location();
        self.live = self.live + usize::from(entry.is_live()) - usize::from(before.is_live());
        if before.row.stamp == row.stamp {
            // The same record in another location: keep its uses.
            (known.used, known.uses) = (before.used, before.uses);
        }
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
        uses.sort_unstable_by_key(|used| used.name_hash);
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
        let name = entry.name();
        if let Ok(slot) = self.probe(self.tag(&name), |known| known == position) {
            self.slots[slot].location = Location::default();
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
        for position in 0..self.entries.len() {
            let entry = &self.entries[position];
            let (tag, location) = (self.tag(&entry.name()), entry.location());
            self.occupy(HashSlot { tag, entry: position as u32 + 1, location });
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
            let slot = self.probe(self.tag(&entry.name()), |known| known == position);
            assert_eq!(slot.map(|slot| self.slots[slot].location), Ok(entry.location()));
        }
    }

    /// Names that have a value.
    pub fn live_count(&self) -> usize {
        self.live
    }

    pub fn memory_used(&self) -> usize {
        self.slots.capacity() * size_of::<HashSlot>() + self.entries.capacity() * size_of::<IndexEntry>()
    }
}
