//! What the store knows of every key: a list of entries in order of arrival and an open-addressed table into it.
//!
//! A removed key keeps its entry, since an older record of it may still turn up in a segment that is read later. Which of
//! two records is newer is told by their stamps: a hybrid logical clock (Kulkarni and others, "Logical Physical Clocks",
//! 2014) of the second in the upper half and a count in the lower, never behind a stamp that was seen.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::Key;
use super::format::{Form, Use, record_size};
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
        xxh3_64_with_seed(&self.key, self.environment ^ u64::from(self.kind).rotate_right(8))
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
    /// The upper half of the name's hash and the entry's position plus one; 0 is none. A power of two of them.
    slots: Vec<u64>,
    pub entries: Vec<Entry>,
    pub cleared: Vec<Cleared>,
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
        let wanted = (self.entries.len() + more) * 2;
        if wanted > self.slots.len() {
            let slots = try_filled(0, wanted.next_power_of_two().max(16))?;
            self.slots = slots;
            for position in 0..self.entries.len() {
                let hash = self.entries[position].name().hash();
                self.occupy(hash, position);
            }
        }
        Ok(())
    }

    fn occupy(&mut self, hash: u64, position: usize) {
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        while self.slots[at] != 0 {
            at = (at + 1) & mask;
        }
        self.slots[at] = (hash >> 32 << 32) | (position as u64 + 1);
    }

    /// Position of the entry with that hash for which `is_it` holds.
    fn probe(&self, hash: u64, is_it: impl Fn(&Entry) -> bool) -> Option<usize> {
        let mask = self.slots.len().checked_sub(1)?;
        let mut at = hash as usize & mask;
        while self.slots[at] != 0 {
            let position = (self.slots[at] as u32 - 1) as usize;
            if self.slots[at] >> 32 == hash >> 32 && is_it(&self.entries[position]) {
                return Some(position);
            }
            at = (at + 1) & mask;
        }
        None
    }

    pub fn position(&self, name: &Name) -> Option<usize> {
        self.probe(name.hash(), |entry| entry.name() == *name)
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
        let name = entry.name();
        if let Some(position) = self.position(&name) {
            let known = &mut self.entries[position];
            if (known.row.stamp, known.segment, known.row.unit) >= (row.stamp, segment, row.unit) {
                return Ok(Outcome::Stale);
            }
            let before = std::mem::replace(known, entry);
            if before.row.stamp == row.stamp {
                // The same record in another place.
                (known.used, known.uses) = (before.used, before.uses);
            }
            return Ok(Outcome::Taken { before: Some(before) });
        }
        self.reserve(1)?;
        self.entries.push(entry);
        self.occupy(name.hash(), self.entries.len() - 1);
        Ok(Outcome::Taken { before: None })
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
            forget(entry);
        }
        Ok(())
    }

    /// Note uses; those of names that are not known are dropped.
    pub fn show_use(&mut self, used: Use) {
        if let Some(position) = self.probe(used.name_hash, |_| true) {
            let entry = &mut self.entries[position];
            entry.used = entry.used.max(used.second);
            entry.uses = entry.uses.max(used.count);
        }
    }

    /// As if nothing had ever been known of that name.
    pub fn forget(&mut self, position: usize) {
        forget(&mut self.entries[position]);
    }

    /// Leave out names of which nothing is known, once they are the most.
    pub fn tidy(&mut self) -> Result<()> {
        let vacant = self.entries.iter().filter(|entry| entry.row.stamp == 0).count();
        if vacant * 2 <= self.entries.len() || vacant < 64 {
            return Ok(());
        }
        self.entries.retain(|entry| entry.row.stamp != 0);
        self.slots.clear();
        self.reserve(0)
    }

    pub fn memory_used(&self) -> usize {
        self.slots.capacity() * size_of::<u64>() + self.entries.capacity() * size_of::<Entry>()
    }
}

fn forget(entry: &mut Entry) {
    entry.row.form = Form::Removed;
    entry.row.stamp = 0;
    entry.segment = 0;
}
