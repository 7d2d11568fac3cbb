//! Uses of programs by the driver, and the strikes and bans of keys that crashed the process.
//!
//! A use is open from before the driver sees a binary until the first frame with it has been drawn. With a directory each
//! open use is noted in the [`quarantine`]. If the process ends in between, the next process gives the key a strike.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::key::Key;
use super::salt::IdSalt;
use crate::base::{Id, Result, Slots, Text, error};
use crate::quarantine::{self, Outcome, Quarantine, Token};
use crate::store::Secret;
use crate::store::io::SharedIo;

/// The result of a use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The driver accepted the program, and a frame was drawn with it.
    Accepted,
    /// The driver rejected the program: it is removed.
    Rejected,
    /// Nothing was drawn with the program: nothing changes.
    Unused,
}

/// An open use. It ends once, by [`Cache::end_use`](super::Cache::end_use).
#[must_use = "a use that does not end gives its key a strike when the process ends"]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UseToken(pub Id);

/// The options of strikes.
pub struct StrikeOptions<'a> {
    /// The directory of the strikes' files.
    pub directory: &'a Path,
    /// The environment of all keys.
    pub environment: u64,
    /// Strikes that ban a key.
    pub ban_at: u32,
    /// Write no files.
    pub read_only: bool,
    /// Authenticates the files.
    pub secret: Option<Secret>,
    /// The current time in seconds since 1970.
    pub now_unix_s: u64,
}

/// An open use of a key, with the serial number of its put. 0: memory had no program of the key.
struct Use {
    key: Key,
    serial: u64,
    token: Option<Token>,
}

#[derive(Default)]
struct Uses {
    salt: IdSalt,
    open: Slots<Use>,
}

/// Strikes and bans of an environment, and its open uses.
pub struct Strikes {
    /// `None`: nothing is noted or banned.
    quarantine: Option<Quarantine>,
    environment: u64,
    uses: Mutex<Uses>,
}

impl Strikes {
    /// Uses without strikes.
    pub fn none() -> Self {
        Self { quarantine: None, environment: 0, uses: Mutex::default() }
    }

    /// Read the strikes of a directory.
    pub fn open(io: SharedIo, options: &StrikeOptions<'_>) -> Result<Self> {
        let quarantine_options = quarantine::Options {
            ban_at: options.ban_at,
            read_only: options.read_only,
            secret: options.secret,
            ..quarantine::Options::at(options.now_unix_s)
        };
        let quarantine = Quarantine::open_on(io, options.directory, quarantine_options)?;
        Ok(Self { quarantine: Some(quarantine), environment: options.environment, uses: Mutex::default() })
    }

    /// Begin a use of the put with that serial number. `None`: the key is banned.
    pub fn begin(&self, key: &Key, serial: u64) -> Result<Option<UseToken>> {
        if self.is_banned(key) {
            return Ok(None);
        }
        let noted = self.quarantine.as_ref().map(|quarantine| quarantine.begin(self.environment, key));
        let token = noted.transpose()?;
        let mut uses = self.uses();
        if let Err(why) = uses.open.reserve_one() {
            drop(uses);
            self.end_note(token, Outcome::Rejected);
            return Err(why);
        }
        let id = uses.open.insert(Use { key: *key, serial, token });
        Ok(Some(UseToken(uses.salt.apply(id))))
    }

    fn end_note(&self, token: Option<Token>, outcome: Outcome) {
        if let (Some(quarantine), Some(token)) = (&self.quarantine, token) {
            // A failed write is reported by `problem`.
            let _ = quarantine.end(token, outcome);
        }
    }

    /// End a use. Returns its key, and the serial number of its put.
    pub fn end(&self, token: UseToken, verdict: Verdict) -> Result<(Key, u64)> {
        let mut uses = self.uses();
        let id = uses.salt.apply(token.0);
        let unknown = || error!(NotFound, "unknown use: it has ended already, or belongs to another cache");
        let ended = uses.open.remove(id).ok_or_else(unknown)?;
        drop(uses);
        self.end_note(ended.token, if verdict == Verdict::Accepted { Outcome::Ok } else { Outcome::Rejected });
        Ok((ended.key, ended.serial))
    }

    /// The number of open uses.
    pub fn open_uses(&self) -> usize {
        self.uses().open.len()
    }

    /// Whether a key is banned. Allocates nothing, and takes no lock.
    pub fn is_banned(&self, key: &Key) -> bool {
        self.quarantine.as_ref().is_some_and(|quarantine| quarantine.is_banned(self.environment, key))
    }

    /// The number of strikes of a key.
    pub fn count(&self, key: &Key) -> u32 {
        self.quarantine.as_ref().map_or(0, |quarantine| quarantine.strikes(self.environment, key))
    }

    /// Clear the strikes of a key, or of all keys in all environments.
    pub fn forgive(&self, key: Option<&Key>) -> Result<()> {
        match (&self.quarantine, key) {
            (None, _) => Ok(()),
            (Some(quarantine), Some(key)) => quarantine.forgive(self.environment, key),
            (Some(quarantine), None) => quarantine.forgive_all(),
        }
    }

    /// Counters.
    pub fn statistics(&self) -> quarantine::Statistics {
        self.quarantine.as_ref().map(Quarantine::statistics).unwrap_or_default()
    }

    /// The present problem of reading or writing strikes.
    pub fn problem(&self) -> Option<Text<232>> {
        self.quarantine.as_ref().and_then(Quarantine::problem)
    }

    /// Bytes held by open uses.
    pub fn memory_used(&self) -> usize {
        self.uses().open.memory_used()
    }

    /// End all open uses without strikes. Later uses are not noted.
    pub fn close(&self) {
        if let Some(quarantine) = &self.quarantine {
            quarantine.close();
        }
    }

    fn uses(&self) -> MutexGuard<'_, Uses> {
        self.uses.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
