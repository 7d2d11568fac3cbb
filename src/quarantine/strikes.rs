//! The list of strikes, and its operations.

use super::format::{Content, FileKind, RECORD, Record, header, most_bytes, parse};
use crate::base::Result;
use crate::store::Secret;

/// Most strikes kept; further ones are not counted.
pub const MOST_STRIKES: usize = 4096;

/// Strikes, sorted by environment, key and incident, without duplicates.
#[derive(Debug, Default)]
pub struct Strikes {
    list: Vec<Record>,
}

impl Strikes {
    /// Parse a file; also returns the number of damaged records. `None` if the file needs a newer library.
    pub fn from_bytes(bytes: &[u8], secret: Option<&Secret>) -> Result<Option<(Self, u32)>> {
        let Content::Records(records, damaged) = parse(FileKind::Strikes, bytes, secret)? else { return Ok(None) };
        let mut strikes = Self::default();
        for record in records {
            strikes.add(record)?;
        }
        Ok(Some((strikes, damaged)))
    }

    pub fn to_bytes(&self, secret: Option<&Secret>) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(most_bytes(self.list.len()))?;
        bytes.extend_from_slice(&header(FileKind::Strikes, 0, secret));
        self.list.iter().for_each(|strike| bytes.extend_from_slice(&strike.to_bytes(FileKind::Strikes, secret)));
        debug_assert_eq!(bytes.len() % RECORD, 0);
        Ok(bytes)
    }

    /// Add a strike; returns whether it was new. A dead process is one incident and gives a key at most one strike.
    pub fn add(&mut self, strike: Record) -> Result<bool> {
        let Err(at) = self.list.binary_search_by_key(&strike.order(), Record::order) else { return Ok(false) };
        if self.list.len() >= MOST_STRIKES {
            return Ok(false);
        }
        self.list.try_reserve(1)?;
        self.list.insert(at, strike);
        Ok(true)
    }

    /// Take back strikes that are `life` seconds old or older, and date future ones to now. Returns whether anything
    /// changed.
    pub fn age(&mut self, now: u64, life: u64) -> bool {
        let mut changed = false;
        for strike in &mut self.list {
            let when = strike.when.min(now.max(1));
            let when = if now.saturating_sub(when) >= life { 0 } else { when };
            changed |= when != strike.when;
            strike.when = when;
        }
        changed
    }

    /// Drop strikes that were taken back, unless their notes file still exists: it would be counted again.
    pub fn tidy(&mut self, still_there: impl Fn(u64) -> bool) {
        self.list.retain(|strike| strike.when != 0 || still_there(strike.incident));
    }

    /// Take back the oldest strike of a key; returns whether it had one.
    pub fn take_back(&mut self, environment: u64, key: &[u8; 32]) -> bool {
        let is_of = |strike: &&mut Record| strike.environment == environment && strike.key == *key && strike.when != 0;
        let oldest = self.list.iter_mut().filter(is_of).min_by_key(|strike| strike.when);
        oldest.map(|strike| strike.when = 0).is_some()
    }

    /// Take back all strikes of a key, or of all keys; returns whether there were any.
    pub fn forgive(&mut self, of: Option<(u64, &[u8; 32])>) -> bool {
        let is_of = |strike: &Record| {
            of.is_none_or(|(environment, key)| (strike.environment, &strike.key) == (environment, key))
        };
        let mut any = false;
        for strike in self.list.iter_mut().filter(|strike| strike.when != 0 && is_of(strike)) {
            strike.when = 0;
            any = true;
        }
        any
    }

    /// Environment, key and count of every key with valid strikes, sorted.
    pub fn counts(&self) -> impl Iterator<Item = (u64, [u8; 32], u32)> + '_ {
        let same = |a: &Record, b: &Record| (a.environment, a.key) == (b.environment, b.key);
        self.list.chunk_by(same).filter_map(|of_key| {
            let count = of_key.iter().filter(|strike| strike.when != 0).count() as u32;
            (count > 0).then(|| (of_key[0].environment, of_key[0].key, count))
        })
    }
}
