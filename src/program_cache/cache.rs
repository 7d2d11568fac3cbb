//! The cache as a host opens it: memory, disk and quarantine, put together.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::disk::{DiskOptions, DiskTier};
use super::table::FoldKeys;
use super::{Blob, CacheStatistics, Disk, Key, Material, Options, Partners, ProgramCache, Quarantine, Status, Verdict};
use crate::base::{Result, Text, error};
use crate::executor::Executor;
use crate::quarantine::{self, Outcome, Token};
use crate::store::{self, io::Io};

/// What a cache is to be.
pub struct Desc {
    /// Limits and policies of memory.
    pub memory: Options,
    /// Where programs and strikes are kept; none: memory alone.
    pub directory: Option<PathBuf>,
    /// The driver, device and build that programs are for.
    pub environment: u64,
    /// Limits and habits of the disk.
    pub store: store::Options,
    /// What the environment is made of, for [`ProgramCache::why_missed`].
    pub material: Material,
    /// Strikes that ban a key; 0: nothing is banned, and nothing noted.
    pub ban_at: u32,
    /// See [`DiskOptions::waiting_limit`].
    pub waiting_limit: u64,
    /// See [`DiskOptions::load_ahead`].
    pub load_ahead: bool,
    /// The file system: the directory's, and that of bundles.
    pub io: Arc<dyn Io>,
    /// Whose background lane reads and writes.
    pub executor: Executor,
}

/// A cache with what it keeps its programs in. The memory tier is all that a frame needs of it.
pub struct Cache {
    memory: Arc<ProgramCache>,
    disk: Arc<DiskTier>,
    bans: Option<Arc<Bans>>,
    pub(super) io: Arc<dyn Io>,
}

impl Cache {
    /// Open a cache. Of the directory only the few small files of the quarantine are read here; programs come in the
    /// background. Fails only for want of memory: a directory that cannot be used is told of by [`Cache::trouble`].
    pub fn open(desc: Desc) -> Result<Self> {
        let bans = match &desc.directory {
            Some(directory) if desc.ban_at > 0 => Some(Arc::new(Bans::open(directory, &desc)?)),
            _ => None,
        };
        let options = DiskOptions {
            directory: desc.directory,
            environment: desc.environment,
            store: desc.store,
            waiting_limit: desc.waiting_limit,
            load_ahead: desc.load_ahead,
            executor: desc.executor,
        };
        let disk = Arc::new(DiskTier::new(options, Arc::clone(&desc.io))?);
        let partners = Partners {
            disk: Some(Arc::clone(&disk) as Arc<dyn Disk>),
            quarantine: bans.clone().map(|bans| bans as Arc<dyn Quarantine>),
        };
        let memory = Arc::new(ProgramCache::new(desc.memory, partners)?);
        memory.set_environment(desc.environment, desc.material);
        disk.bind(&memory);
        Ok(Self { memory, disk, bans, io: desc.io })
    }

    /// The memory tier.
    pub fn memory(&self) -> &ProgramCache {
        &self.memory
    }

    /// The memory tier, to be kept beyond this call.
    pub fn shared_memory(&self) -> Arc<ProgramCache> {
        Arc::clone(&self.memory)
    }

    /// The disk tier.
    pub fn disk(&self) -> &DiskTier {
        &self.disk
    }

    /// The program of `key`, for which the disk is waited. One hit or one miss, however often it was looked for.
    pub fn get_wait(&self, key: &Key, timeout: Duration) -> Result<Option<Blob>> {
        let looked = match self.memory.link_status(key) {
            Status::Succeeded => Ok(true),
            Status::Unknown => self.disk.look_for(key, timeout),
        };
        match (self.memory.get_here(key), looked) {
            (Some(blob), _) => Ok(Some(blob)),
            (None, Ok(true)) => Ok(None),
            (None, Ok(false)) => {
                Err(error!(Timeout, "the disk was not read in {} us: build it, or wait longer", timeout.as_micros()))
            }
            (None, Err(why)) => Err(why),
        }
    }

    /// Strikes against a key, and whether it is banned.
    pub fn strikes(&self, key: &Key) -> (u32, bool) {
        self.bans.as_ref().map_or((0, false), |bans| (bans.strikes(key), bans.is_banned(key)))
    }

    /// What it has done so far, and what it holds now.
    pub fn statistics(&self) -> Result<CacheStatistics> {
        Ok(CacheStatistics {
            memory: self.memory.statistics()?,
            memory_used: self.memory.memory_used() as u64 + self.disk.memory_used(),
            uses_open: self.memory.open_uses() as u32,
            progress: self.disk.progress(),
            disk: self.disk.statistics(),
            quarantine: self.bans.as_ref().map(|bans| bans.quarantine.statistics()).unwrap_or_default(),
        })
    }

    /// Lift the strikes of a key, or of all.
    pub fn forgive(&self, key: Option<&Key>) -> Result<()> {
        let Some(bans) = &self.bans else { return Ok(()) };
        match key {
            Some(key) => bans.quarantine.forgive(bans.environment, key),
            None => bans.quarantine.forgive_all(),
        }
    }

    /// What keeps the cache from reading or writing, as a sentence; empty if nothing does.
    pub fn trouble(&self) -> Text<232> {
        let disk = self.disk.trouble();
        if !disk.as_str().is_empty() {
            return disk;
        }
        self.bans.as_ref().and_then(|bans| bans.quarantine.problem()).unwrap_or(Text::EMPTY)
    }
}

impl Drop for Cache {
    fn drop(&mut self) {
        // While memory is still there to say which programs were used.
        self.disk.close();
        // Now, though a manager may keep memory, and the quarantine with it.
        if let Some(bans) = &self.bans {
            bans.quarantine.close();
        }
    }
}

/// The quarantine of one environment, by key.
struct Bans {
    quarantine: quarantine::Quarantine,
    environment: u64,
    in_hand: Mutex<HashMap<Key, Token, FoldKeys>>,
}

impl Bans {
    fn open(directory: &Path, desc: &Desc) -> Result<Self> {
        let options = quarantine::Options {
            ban_at: desc.ban_at,
            read_only: desc.store.read_only,
            ..quarantine::Options::at((desc.store.now)())
        };
        let directory = directory.join("quarantine");
        let quarantine = quarantine::Quarantine::open_on(Arc::clone(&desc.io), &directory, options)?;
        Ok(Self { quarantine, environment: desc.environment, in_hand: Mutex::default() })
    }

    fn strikes(&self, key: &Key) -> u32 {
        self.quarantine.strikes(self.environment, key)
    }

    fn in_hand(&self) -> MutexGuard<'_, HashMap<Key, Token, FoldKeys>> {
        self.in_hand.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Quarantine for Bans {
    fn begin(&self, key: &Key) -> Result<()> {
        let mut in_hand = self.in_hand();
        in_hand.try_reserve(1)?;
        in_hand.insert(*key, self.quarantine.begin(self.environment, key)?);
        Ok(())
    }

    fn end(&self, key: &Key, verdict: Verdict) {
        let token = self.in_hand().remove(key);
        let outcome = if verdict == Verdict::Accepted { Outcome::Ok } else { Outcome::Rejected };
        // What could not be written is told of by `problem`.
        let _ = token.map(|token| self.quarantine.end(token, outcome));
    }

    fn is_banned(&self, key: &Key) -> bool {
        self.quarantine.is_banned(self.environment, key)
    }

    fn forgive(&self, key: &Key) -> bool {
        let was_banned = self.is_banned(key);
        // For this process it is lifted in any case.
        let _ = self.quarantine.forgive(self.environment, key);
        was_banned
    }
}
