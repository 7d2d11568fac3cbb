//! Which programs the driver has in hand right now, so that one that kills the process can be told from the innocent.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};

use super::Key;
use super::table::FoldKeys;
use crate::base::{Id, Result, Slots, error};

/// Where strikes and bans outlive the process. Called with a lock held: it must not call the cache back.
pub trait Quarantine: Send + Sync {
    /// The driver is about to see the program of `key`. If nothing more is heard of it, the process died of it.
    fn begin(&self, key: &Key) -> Result<()>;
    /// The driver is done with it, and the process lives.
    fn end(&self, key: &Key, verdict: Verdict);
    /// Whether the program of `key` has killed too often.
    fn is_banned(&self, key: &Key) -> bool;
    /// Lift a ban; whether there was one.
    fn forgive(&self, key: &Key) -> bool;
}

/// What became of a use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The driver took it, and a frame was drawn with it.
    Accepted,
    /// The driver would not have it: it is removed, and was not to blame for anything else.
    Rejected,
}

/// A use that has begun; ends once, by [`use_end`](super::ProgramCache::use_end).
#[must_use = "a use that is not ended counts as a death of the process"]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UseToken(pub Id);

/// Makes the ids of one owner others than those of every other one of its time, so that those find nothing in it.
#[derive(Debug)]
pub struct Tag(u32);

impl Default for Tag {
    fn default() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        // Far apart, since generations count up from 0.
        Self(COUNT.fetch_add(1, Ordering::Relaxed).wrapping_mul(0x9E37_79B9))
    }
}

impl Tag {
    /// The id that is given out for one of the owner's, and back.
    pub fn of(&self, id: Id) -> Id {
        Id { generation: id.generation ^ self.0, ..id }
    }
}

struct Use {
    key: Key,
    /// Which put of the key it is; 0 if there was none in memory.
    serial: u64,
}

/// The uses that have begun and not ended.
#[derive(Default)]
pub(super) struct Uses {
    open: Slots<Use>,
    /// How many of each key: it is out of the driver's hands when the last has ended.
    of_key: HashMap<Key, u32, FoldKeys>,
}

/// What ending a use told.
pub(super) struct Ended {
    pub key: Key,
    pub serial: u64,
}

impl Uses {
    /// Begin a use, telling `quarantine` if the driver did not have the key already; nothing if the key is banned.
    pub fn begin(&mut self, key: &Key, serial: u64, quarantine: Option<&dyn Quarantine>) -> Result<Option<UseToken>> {
        self.open.reserve_one()?;
        self.of_key.try_reserve(1)?;
        if let Some(quarantine) = quarantine {
            if quarantine.is_banned(key) {
                return Ok(None);
            }
            if !self.of_key.contains_key(key) {
                quarantine.begin(key)?;
            }
        }
        *self.of_key.entry(*key).or_default() += 1;
        Ok(Some(UseToken(self.open.insert(Use { key: *key, serial }))))
    }

    /// End a use, telling `quarantine` when it was the last of its key.
    pub fn end(&mut self, token: UseToken, verdict: Verdict, quarantine: Option<&dyn Quarantine>) -> Result<Ended> {
        let unknown = || error!(NotFound, "this use has ended already or never began: end each use once");
        let Use { key, serial } = self.open.remove(token.0).ok_or_else(unknown)?;
        let left = self.of_key.get_mut(&key).map_or(0, |uses| {
            *uses -= 1;
            *uses
        });
        if left == 0 {
            self.of_key.remove(&key);
            if let Some(quarantine) = quarantine {
                quarantine.end(&key, verdict);
            }
        }
        Ok(Ended { key, serial })
    }

    /// Uses that have begun and not ended.
    pub fn open(&self) -> usize {
        self.open.len()
    }

    pub fn memory_used(&self) -> usize {
        self.open.memory_used() + self.of_key.capacity() * (size_of::<(Key, u32)>() + 1)
    }
}
