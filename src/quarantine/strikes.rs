//! The strikes that are known, in order, and what is done to them.

use super::format::{Content, Kind, RECORD, Record, header, most_bytes, parse};
use crate::base::Result;

/// Strikes that are kept; more are not counted.
pub const MOST_STRIKES: usize = 4096;

/// Strikes, ordered by environment, key and incident, one of each.
#[derive(Debug, Default)]
pub struct Strikes {
    list: Vec<Record>,
}

impl Strikes {
    /// From a file's bytes, and how many records were damaged; nothing if only a newer library understands it.
    pub fn from_bytes(bytes: &[u8]) -> Result<Option<(Self, u32)>> {
        let Content::Records(records, damaged) = parse(Kind::Strikes, bytes)? else { return Ok(None) };
        let mut strikes = Self::default();
        for record in records {
            strikes.add(record)?;
        }
        Ok(Some((strikes, damaged)))
    }

    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(most_bytes(self.list.len()))?;
        bytes.extend_from_slice(&header(Kind::Strikes, 0));
        self.list.iter().for_each(|strike| bytes.extend_from_slice(&strike.to_bytes(Kind::Strikes)));
        debug_assert_eq!(bytes.len() % RECORD, 0);
        Ok(bytes)
    }

    /// Count a strike; whether it was new. One process that dies is one incident, and strikes a key once.
    pub fn add(&mut self, strike: Record) -> Result<bool> {
        let Err(at) = self.list.binary_search_by_key(&strike.order(), Record::order) else { return Ok(false) };
        if self.list.len() >= MOST_STRIKES {
            return Ok(false);
        }
        self.list.try_reserve(1)?;
        self.list.insert(at, strike);
        Ok(true)
    }

    /// Take back those that are older than `life` seconds, and let none be younger than now. Whether anything changed.
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

    /// Forget those that were taken back, unless the notes that they came from are still there to be counted again.
    pub fn tidy(&mut self, still_there: impl Fn(u64) -> bool) {
        self.list.retain(|strike| strike.when != 0 || still_there(strike.incident));
    }

    /// Take back the oldest strike of a key; whether there was one.
    pub fn take_back(&mut self, environment: u64, key: &[u8; 32]) -> bool {
        let is_of = |strike: &&mut Record| strike.environment == environment && strike.key == *key && strike.when != 0;
        let oldest = self.list.iter_mut().filter(is_of).min_by_key(|strike| strike.when);
        oldest.map(|strike| strike.when = 0).is_some()
    }

    /// Take back all strikes of a key, or of all keys; whether there was one.
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

    /// Environment, key and count of every key with strikes that count, in order.
    pub fn counts(&self) -> impl Iterator<Item = (u64, [u8; 32], u32)> + '_ {
        let same = |a: &Record, b: &Record| (a.environment, a.key) == (b.environment, b.key);
        self.list.chunk_by(same).filter_map(|of_key| {
            let count = of_key.iter().filter(|strike| strike.when != 0).count() as u32;
            (count > 0).then(|| (of_key[0].environment, of_key[0].key, count))
        })
    }
}
