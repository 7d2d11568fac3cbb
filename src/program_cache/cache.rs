//! The cache: owns memory, disk and strikes, and routes calls between them.

use std::ops::Deref;
use std::path::PathBuf;
use std::time::Duration;

use super::blobs::{Blobs, Kept};
use super::disk::value::{HEAD, kind};
use super::disk::{Disk, DiskOptions, Scope};
use super::key::Key;
use super::list::{Listed, Page, Places};
use super::memory::material::{Material, Whereabouts, WhyMissed};
use super::memory::options::{Options, Pressure};
use super::memory::statistics::Reason;
use super::memory::{Blob, Memory, Stored};
use super::problems::{Observer, Problems, Source};
use super::program::{Program, Put};
use super::report::CacheStatistics;
use super::strikes::{StrikeOptions, Strikes, UseToken, Verdict};
use crate::base::{Result, Shared, Text, error, try_path_join};
use crate::executor::Executor;
use crate::store::{self, Name, io::SharedIo};

/// Values of a store that a listing visits between two looks at its deadline.
pub const LISTED: usize = if cfg!(test) { 1 << 8 } else { 1 << 16 };

/// Parameters of a cache.
pub struct Desc {
    /// Limits and policies of memory.
    pub memory: Options,
    /// The directory of programs and strikes; `None`: memory only.
    pub directory: Option<PathBuf>,
    /// The driver, device and build that programs are for.
    pub environment: u64,
    /// Limits and options of the disk.
    pub store: store::Options,
    /// The inputs of the environment, for [`Cache::why_missed`].
    pub material: Material,
    /// Strikes that ban a key; 0: nothing is banned or noted.
    pub ban_at: u32,
    /// Most bytes of programs that wait to be written. Programs beyond it are not written.
    pub waiting_limit: u64,
    /// Load programs while there is room in memory, before they are missed.
    pub load_ahead: bool,
    /// The file system of the directory and of bundles.
    pub io: SharedIo,
    /// The executor whose background lane reads and writes; `None`: only calls that wait do.
    pub executor: Option<Executor>,
}

/// A cache. Clones share it, and work in memory alone once it is closed.
#[derive(Clone)]
pub struct Cache {
    memory: Shared<Memory>,
    strikes: Shared<Strikes>,
    blobs: Shared<Blobs>,
    disk: Disk,
    problems: Shared<Problems>,
}

/// The answer of [`Cache::copy_blob`].
pub enum BlobCopy {
    /// Copy this blob.
    Found(Blob),
    /// No blob fits.
    Missing,
    /// No blob fits, although the thread has measured one.
    Dropped,
}

impl Cache {
    /// Open a cache. Reads only the small files of the quarantine here; programs are loaded in the background. Fails only
    /// if memory runs out: [`Cache::trouble`] reports a directory that cannot be used.
    pub fn open(desc: Desc) -> Result<OpenCache> {
        let strikes = match &desc.directory {
            Some(directory) if desc.ban_at > 0 => {
                let options = StrikeOptions {
                    directory: &try_path_join(directory, "quarantine")?,
                    environment: desc.environment,
                    ban_at: desc.ban_at,
                    read_only: desc.store.read_only,
                    secret: desc.store.secret,
                    now_unix_s: (desc.store.now)(),
                };
                Strikes::open(desc.io.clone(), &options)?
            }
            _ => Strikes::none(),
        };
        let options = DiskOptions {
            directory: desc.directory,
            environment: desc.environment,
            store: desc.store,
            waiting_limit: desc.waiting_limit,
            load_ahead: desc.load_ahead,
        };
        let (memory, strikes) = (Shared::try_new(Memory::new(desc.memory)?)?, Shared::try_new(strikes)?);
        memory.set_environment(desc.environment, desc.material);
        let (problems, blobs) = (Shared::try_new(Problems::default())?, Shared::try_new(Blobs::default())?);
        let tiers = (memory.clone(), strikes.clone(), problems.clone());
        let disk = Disk::new(options, desc.executor, desc.io.clone(), tiers.0, tiers.1, tiers.2)?;
        let cache = Self { memory, strikes, blobs, disk, problems };
        cache.report_strikes();
        Ok(OpenCache { cache, io: desc.io })
    }

    /// The memory tier.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// The disk tier.
    pub fn disk(&self) -> &Disk {
        &self.disk
    }

    /// Whether both are the same cache.
    pub fn is(&self, other: &Self) -> bool {
        Shared::ptr_eq(&self.memory, &other.memory)
    }

    /// Use a program in memory. Copies and allocates nothing, and waits for no reader. After a miss the disk looks for it.
    pub fn get(&self, key: &Key) -> Option<Blob> {
        self.get_for(key, None)
    }

    /// [`get`](Self::get) for a group: the program moves there.
    pub fn get_for(&self, key: &Key, group: Option<u32>) -> Option<Blob> {
        let found = self.memory.get(key, group);
        if found.is_none() {
            self.disk.ask(key);
        }
        found
    }

    /// Use a program, and wait for the disk if it is not in memory. Counts one hit or one miss.
    pub fn get_wait(&self, key: &Key, timeout: Duration) -> Result<Option<Blob>> {
        let looked = if self.memory.contains(key) { Ok(true) } else { self.disk.look_for(key, timeout) };
        match (self.memory.get(key, None), looked) {
            (Some(blob), _) => Ok(Some(blob)),
            (None, Ok(true)) => Ok(None),
            (None, Ok(false)) => {
                Err(error!(Timeout, "the disk was not read in {} us: build it, or wait longer", timeout.as_micros()))
            }
            (None, Err(why)) => Err(why),
        }
    }

    /// Store a copy of a linked program in memory, and write it to disk. On an error nothing changes.
    pub fn put(&self, key: &Key, program: &Program<'_>) -> Result<Put> {
        match self.memory.put(key, program, self.strikes.is_banned(key))? {
            Stored::Kept(put, blob) => {
                self.blobs.forget(Some(key));
                self.disk.save(&blob);
                Ok(put)
            }
            Stored::Refused(refusal) => Ok(Put::Refused(refusal)),
            Stored::Dropped(refusal) => {
                self.blobs.forget(Some(key));
                self.disk.remove(key)?;
                Ok(Put::Refused(refusal))
            }
        }
    }

    /// Remove a program from memory and disk. Returns whether it was in memory. An error: the directory cannot be changed,
    /// and the program is hidden from this process only.
    pub fn remove(&self, key: &Key) -> Result<bool> {
        // The disk first: a load that runs meanwhile is either cancelled, or removed from memory.
        let removed = self.disk.remove(key);
        self.blobs.forget(Some(key));
        let was_cached = self.memory.remove(key, Reason::Removed);
        removed.map(|()| was_cached)
    }

    /// Remove all programs and statuses from memory, and with a `disk` scope also from disk. The start-up set stays. An
    /// error as for [`remove`](Self::remove).
    pub fn clear(&self, disk: Option<Scope>) -> Result<()> {
        let cleared = disk.map_or(Ok(()), |scope| self.disk.clear(scope));
        self.blobs.forget(None);
        self.memory.clear();
        cleared
    }

    /// Evict programs until memory holds at most so many bytes. Returns how many were evicted.
    pub fn trim(&self, most_bytes: u64) -> usize {
        self.blobs.forget(None);
        self.memory.trim(most_bytes)
    }

    /// Trim memory as the system asks. Returns how many programs were evicted.
    pub fn pressure(&self, pressure: Pressure) -> usize {
        if pressure != Pressure::None {
            self.blobs.forget(None);
        }
        self.memory.pressure(pressure)
    }

    /// Measure a blob, and keep it until the thread copies it. 0: it is missing.
    pub fn measure_blob(&self, thread: usize, key: &Key) -> usize {
        let Some(blob) = self.get(key) else { return 0 };
        let size = blob.data().len();
        self.blobs.keep(thread, blob);
        size
    }

    /// Find the blob of a key that fits into `room` bytes: the measured blob of the thread, or the blob in memory. It
    /// begins a use if uses are tracked.
    pub fn copy_blob(&self, thread: usize, key: &Key, room: usize) -> Result<BlobCopy> {
        let (blob, missing) = match self.blobs.take(thread, key) {
            Kept::Valid(blob) => (Some(blob), BlobCopy::Missing),
            // The renderer expects as many bytes as it has measured.
            Kept::Dropped => (self.get(key).filter(|blob| blob.data().len() == room), BlobCopy::Dropped),
            Kept::Unknown => (self.get(key), BlobCopy::Missing),
        };
        let Some(blob) = blob.filter(|blob| blob.data().len() <= room) else { return Ok(missing) };
        if self.blobs.are_uses_tracked() {
            let Some(token) = self.begin_use(key)? else { return Ok(missing) };
            // Without memory for its token the blob is served without a use.
            if let Err(token) = self.blobs.keep_use(token) {
                self.end_use(token, Verdict::Unused)?;
            }
        }
        Ok(BlobCopy::Found(blob))
    }

    /// Set whether [`copy_blob`](Self::copy_blob) begins uses. Open uses stay open.
    pub fn track_blob_uses(&self, is_tracked: bool) {
        self.blobs.track_uses(is_tracked);
    }

    /// End all uses that [`copy_blob`](Self::copy_blob) has begun. Returns the first failure.
    pub fn end_blob_uses(&self, verdict: Verdict) -> Result<()> {
        let tokens = self.blobs.take_uses();
        let ended = tokens.iter().map(|&token| self.end_use(token, verdict)).fold(Ok(()), Result::and);
        self.blobs.recycle(tokens);
        ended
    }

    /// Begin a use: the driver is about to see the program of `key`. `None`: the key is banned; build it from source. End
    /// the use after the first frame drawn with it, because drivers compile late.
    pub fn begin_use(&self, key: &Key) -> Result<Option<UseToken>> {
        let token = self.strikes.begin(key, self.memory.serial(key).unwrap_or(0))?;
        self.report_strikes();
        if token.is_none() {
            self.memory.count_banned_use();
        }
        Ok(token)
    }

    /// End a use. A rejected program is removed from memory and disk, unless it was put again since the use began. If
    /// memory had no program then, any program of the key is removed.
    pub fn end_use(&self, token: UseToken, verdict: Verdict) -> Result<()> {
        let (key, serial) = self.strikes.end(token, verdict)?;
        self.report_strikes();
        if verdict == Verdict::Rejected && !self.memory.has_other_put(&key, serial) {
            // A failure is reported by `trouble`. The use has ended in any case.
            let _ = self.disk.remove(&key);
            self.blobs.forget(Some(&key));
            self.memory.remove_put(&key, serial, Reason::Rejected);
        }
        Ok(())
    }

    /// The number of strikes of a key, and whether it is banned.
    pub fn strikes(&self, key: &Key) -> (u32, bool) {
        (self.strikes.count(key), self.strikes.is_banned(key))
    }

    /// Clear the strikes of a key, or of all keys in all environments.
    pub fn forgive(&self, key: Option<&Key>) -> Result<()> {
        let forgiven = self.strikes.forgive(key);
        self.report_strikes();
        forgiven
    }

    /// Report a new problem of the strikes' files.
    fn report_strikes(&self) {
        self.problems.report(Source::Strikes, self.strikes.problem().unwrap_or(Text::EMPTY));
    }

    /// Set the observer of problems, or remove it. If there is a problem already, it is not called for that.
    pub fn set_observer(&self, observer: Option<Observer>) {
        self.problems.set_observer(observer);
    }

    /// Where a program is. The disk does all requests first; its values are not read.
    pub fn places(&self, key: &Key, timeout: Duration) -> Result<Places> {
        let environment = self.disk.environment();
        let name = Name { kind: kind::PROGRAM, environment, key: *key };
        let mut places = self.disk.with_sources(timeout, |sources, is_hidden, _| {
            let has = |source: usize| {
                let store = sources.get(source);
                store.is_some_and(|store| store.contains(&name)) && !is_hidden(source, key)
            };
            let bundle = sources.numbers().any(|source| source > 0 && has(source));
            Ok(Places { memory: false, disk: has(0), bundle })
        })?;
        places.memory = self.memory.contains(key);
        Ok(places)
    }

    /// The `most` programs with the least keys after `after`, in order of their keys. Call it with the last key until the
    /// list is empty: a program that exists all the while is listed once, and memory is bounded by `most`. The disk does
    /// all requests first; its values are not read.
    pub fn list(&self, after: Option<Key>, most: usize, timeout: Duration) -> Result<Vec<Listed>> {
        let environment = self.disk.environment();
        let mut page = Page::new(after, most)?;
        self.disk.with_sources(timeout, |sources, is_hidden, deadline| {
            for source in sources.numbers() {
                let Some(store) = sources.get(source) else { continue };
                for (at, meta) in store.entries(environment).enumerate() {
                    if at % LISTED == LISTED - 1 && deadline.is_over() {
                        return Err(error!(Timeout, "the programs on disk were not all listed: allow more time"));
                    }
                    if meta.name.kind != kind::PROGRAM || is_hidden(source, &meta.name.key) {
                        continue;
                    }
                    let Some(listed) = page.entry(&meta.name.key) else { continue };
                    if !listed.places.disk && !listed.places.bundle {
                        listed.size = u64::from(meta.length).saturating_sub(HEAD as u64);
                        listed.build_us = meta.build_us.into();
                        (listed.recorded_uses, listed.last_used) = (meta.uses, meta.last_used);
                    }
                    listed.places.disk |= source == 0;
                    listed.places.bundle |= source > 0;
                }
            }
            Ok(())
        })?;
        self.memory.for_each(|blob, uses, group| {
            if let Some(listed) = page.entry(blob.key()) {
                listed.places.memory = true;
                (listed.size, listed.build_us) = (blob.size(), blob.cost_us());
                (listed.uses, listed.group) = (uses, group);
            }
        });
        Ok(page.finish())
    }

    /// Remember the inputs of a key, if [`Options::described_keys`] allows. On an error nothing changes.
    pub fn describe(&self, key: &Key, material: &Material) -> Result<()> {
        if let Some(for_disk) = self.memory.describe(key, material)? {
            self.disk.describe(key, for_disk);
        }
        Ok(())
    }

    /// Compare the inputs of a missed key with the most similar known key. `None`: no key is known. Visits every known key,
    /// so it is not for every frame.
    pub fn why_missed(&self, material: &Material) -> Result<Option<WhyMissed>> {
        let mut why = self.memory.why_missed(material)?;
        if let Some(why) = &mut why
            && matches!(why.whereabouts, Whereabouts::Elsewhere | Whereabouts::Left(_))
            && self.strikes.is_banned(&why.nearest)
        {
            why.whereabouts = Whereabouts::Banned;
        }
        Ok(why)
    }

    /// Counters, and the present size.
    pub fn statistics(&self) -> Result<CacheStatistics> {
        let of_disk = self.disk.memory_used(|blob| self.memory.serial(blob.key()) == Some(blob.serial()));
        let of_blobs = self.blobs.memory_used(|blob| self.memory.serial(blob.key()) == Some(blob.serial()));
        let used = self.memory.memory_used() + self.strikes.memory_used();
        Ok(CacheStatistics {
            memory: self.memory.statistics()?,
            memory_used: used as u64 + of_disk + of_blobs,
            uses_open: self.strikes.open_uses() as u32,
            progress: self.disk.progress(),
            disk: self.disk.statistics(),
            quarantine: self.strikes.statistics(),
        })
    }

    /// The present problem of reading or writing as a sentence; empty without a problem.
    pub fn trouble(&self) -> Text<232> {
        let disk = self.disk.trouble();
        if disk.as_str().is_empty() { self.strikes.problem().unwrap_or(Text::EMPTY) } else { disk }
    }
}

/// The owner of an open cache. Dropping it writes what waits, and closes the cache.
pub struct OpenCache {
    cache: Cache,
    io: SharedIo,
}

impl OpenCache {
    /// The file system of bundles.
    pub fn io(&self) -> &SharedIo {
        &self.io
    }
}

impl Deref for OpenCache {
    type Target = Cache;

    fn deref(&self) -> &Cache {
        &self.cache
    }
}

impl Drop for OpenCache {
    fn drop(&mut self) {
        // Clones may keep the cache: its files are closed now.
        self.cache.disk.close();
        self.cache.strikes.close();
        self.cache.problems.close();
    }
}
