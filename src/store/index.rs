//! What the store knows of every key: a list of entries in order of arrival and an open-addressed table into it.
//!
//! A removed key keeps its entry, since an older record of it may still turn up in a segment that is read later. Which of
//! two records is newer is told by their stamps: a hybrid logical clock (Kulkarni and others, "Logical Physical Clocks",
//! 2014) of the second in the upper half and a count in the lower, never behind a stamp that was seen.

use super::Key;
use super::format::{Form, Use, hash_with_seed, record_size};
use super::snapshot::Row;
use crate::base::{Result, try_filled, try_push};

/// What a value is asked for by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name {
    /// What sort of value it is; the caller's own numbers.
    pub kind: u8,
    /// Where it is valid.
    pub environment: u64,
    /// The rest.
    pub key: Key,
}

impl Name {
    pub(super) fn hash(&self) -> u64 {
        hash_with_seed(self.environment ^ u64::from(self.kind).rotate_right(8), &self.key)
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub row: Row,
    pub segment: u64,
    /// Second of the last use.
    pub used: u32,
    pub uses: u32,
}

impl Entry {
    pub fn name(&self) -> Name {
        Name { kind: self.row.kind, environment: self.row.environment, key: self.row.key }
    }

    pub fn is_live(&self) -> bool {
        self.row.form.is_value()
    }

    /// Bytes on the disk that are still good for something.
    pub fn live_bytes(&self) -> u64 {
        if self.is_live() { record_size(self.row.stored) } else { 0 }
    }
}

/// All older records of an environment, or of all, are no more.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cleared {
    pub row: Row,
    pub segment: u64,
}

impl Cleared {
    fn covers(&self, row: &Row) -> bool {
        row.stamp < self.row.stamp && (self.row.kind == 1 || self.row.environment == row.environment)
    }
}

#[derive(Debug, Default)]
pub(super) struct Index {
    /// The upper half of the name's hash, which is also where to begin to look, and the entry's position plus one; 0 is
    /// none. A power of two of them.
    slots: Vec<u64>,
    pub entries: Vec<Entry>,
    pub cleared: Vec<Cleared>,
    live: usize,
    pub newest_stamp: u64,
}

/// What became of a record that was shown to the index.
#[derive(Clone, Copy, Debug)]
pub(super) enum Outcome {
    /// A newer one is known.
    Stale,
    /// It counts now, and what was there before does not.
    Taken { before: Option<Entry> },
}

impl Index {
    /// Make room for so many more entries.
    pub fn reserve(&mut self, more: usize) -> Result<()> {
        self.entries.try_reserve(more)?;
        // At most three quarters are taken: neighbours are in one cache line, and half of their hash tells them apart.
        let wanted = (self.entries.len() + more).div_ceil(3) * 4;
        if wanted > self.slots.len() {
            // Whoever had too few before will have so again.
            let ahead = if self.slots.is_empty() { 1 } else { 2 };
            let slots = try_filled(0, (wanted * ahead).next_power_of_two().max(16))?;
            for slot in std::mem::replace(&mut self.slots, slots).into_iter().filter(|&slot| slot != 0) {
                self.occupy(slot);
            }
        }
        Ok(())
    }

    fn occupy(&mut self, slot: u64) {
        if let Err(place) = self.probe(slot, |_| false) {
            self.slots[place] = slot;
        }
    }

    /// Position of the entry with that hash for which `is_it` holds, or else the vacant slot where it would be. There must
    /// be slots.
    fn probe(&self, hash: u64, is_it: impl Fn(&Entry) -> bool) -> std::result::Result<usize, usize> {
        let mask = self.slots.len() - 1;
        let mut at = (hash >> 32) as usize & mask;
        loop {
            let slot = self.slots[at];
            if slot == 0 {
                return Err(at);
            }
            let position = (slot as u32 - 1) as usize;
            if slot >> 32 == hash >> 32 && is_it(&self.entries[position]) {
                return Ok(position);
            }
            at = (at + 1) & mask;
        }
    }

    pub fn position(&self, name: &Name) -> Option<usize> {
        self.find(name.hash(), |entry| entry.name() == *name)
    }

    fn find(&self, hash: u64, is_it: impl Fn(&Entry) -> bool) -> Option<usize> {
        if self.slots.is_empty() { None } else { self.probe(hash, is_it).ok() }
    }

    pub fn live(&self, name: &Name) -> Option<usize> {
        self.position(name).filter(|&position| self.entries[position].is_live())
    }

    /// Show a record that is a value or the removal of one.
    pub fn show(&mut self, row: Row, segment: u64) -> Result<Outcome> {
        self.newest_stamp = self.newest_stamp.max(row.stamp);
        if self.cleared.iter().any(|cleared| cleared.covers(&row)) {
            return Ok(Outcome::Stale);
        }
        let entry = Entry { row, segment, used: (row.stamp >> 32) as u32, uses: 1 };
        let (name, position) = (entry.name(), self.entries.len());
        self.reserve(1)?;
        let hash = name.hash();
        let known = match self.probe(hash, |known| known.name() == name) {
            Ok(position) => &mut self.entries[position],
            Err(place) => {
                self.slots[place] = slot(hash, position);
                self.entries.push(entry);
                self.live += usize::from(entry.is_live());
                return Ok(Outcome::Taken { before: None });
            }
        };
        if (known.row.stamp, known.segment, known.row.unit) >= (row.stamp, segment, row.unit) {
            return Ok(Outcome::Stale);
        }
        let before = std::mem::replace(known, entry);
        self.live = self.live + usize::from(entry.is_live()) - usize::from(before.is_live());
        if before.row.stamp == row.stamp {
            // The same record in another place.
            (known.used, known.uses) = (before.used, before.uses);
        }
        Ok(Outcome::Taken { before: Some(before) })
    }

    /// Show a record that clears; hands each entry that is no more to `gone`.
    pub fn show_cleared(&mut self, row: Row, segment: u64, mut gone: impl FnMut(&Entry)) -> Result<()> {
        self.newest_stamp = self.newest_stamp.max(row.stamp);
        let cleared = Cleared { row, segment };
        let same = |known: &Cleared| known.row.kind == row.kind && known.row.environment == row.environment;
        match self.cleared.iter_mut().find(|known| same(known)) {
            Some(known) if (known.row.stamp, known.segment) >= (row.stamp, segment) => return Ok(()),
            Some(known) => *known = cleared,
            None => try_push(&mut self.cleared, cleared)?,
        }
        for entry in self.entries.iter_mut().filter(|entry| cleared.covers(&entry.row)) {
            gone(entry);
            self.live -= usize::from(entry.is_live());
            forget(entry);
        }
        Ok(())
    }

    /// Note uses; those of names that are not known are dropped.
    pub fn show_use(&mut self, used: Use) {
        if let Some(position) = self.find(used.name_hash, |_| true) {
            let entry = &mut self.entries[position];
            entry.used = entry.used.max(used.second);
            entry.uses = entry.uses.max(used.count);
        }
    }

    /// As if nothing had ever been known of that name.
    pub fn forget(&mut self, position: usize) {
        self.live -= usize::from(self.entries[position].is_live());
        forget(&mut self.entries[position]);
    }

    /// Leave out names of which nothing is known, once they are the most.
    pub fn tidy(&mut self) -> Result<()> {
        let vacant = self.entries.iter().filter(|entry| entry.row.stamp == 0).count();
        if vacant * 2 <= self.entries.len() || vacant < 64 {
            return Ok(());
        }
        self.entries.retain(|entry| entry.row.stamp != 0);
        self.slots.fill(0);
        for position in 0..self.entries.len() {
            let hash = self.entries[position].name().hash();
            self.occupy(slot(hash, position));
        }
        Ok(())
    }

    /// Names that have a value.
    pub fn live_count(&self) -> usize {
        self.live
    }

    pub fn memory_used(&self) -> usize {
        self.slots.capacity() * size_of::<u64>() + self.entries.capacity() * size_of::<Entry>()
    }
}

fn slot(hash: u64, position: usize) -> u64 {
    (hash >> 32 << 32) | (position as u64 + 1)
}

fn forget(entry: &mut Entry) {
    entry.row.form = Form::Removed;
    entry.row.stamp = 0;
    entry.segment = 0;
}
