//! Limits on the disk, kept by every call that writes.
//!
//! *What counts.* The blocks of every file of the library in the directory and in its folder `quarantine`, by the count
//! of the file system. So every process counts the files of all of them. Files are emptied before they are deleted, so
//! a process that has one open does not keep its blocks. Segments that are not read, of another format or secret, count
//! for the limit of the directory alone, and go first. Those of living processes and of other users do not count: they
//! would leave no room for ever.
//!
//! *When.* A write first makes room for itself. Measuring costs more than a write, so the directory is measured again
//! after this process has written a certain share of the limit ([`MEASURED`]). A merge writes copies before it deletes
//! their sources, in portions that fit into a spare share above the limit ([`SPARE`]). So the files take at most 1.25
//! times the limit at any moment, and at most the limit when nobody writes.
//!
//! *Several processes.* Before a process measures, it reserves what it will write until it measures again. Others see
//! the reservation as the length of the writer's lock file, and count it like written bytes. Two processes that reserve
//! at once both see both reservations, so they never write too much; one of them may make room without need. The
//! process that maintains reserves its spare share by the lock of maintenance.
//!
//! *What goes.* See [`evict`](super::evict) and, on a full disk, [`full_disk`](super::full_disk).

use std::io::ErrorKind;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use super::budgets::{self, Budget};
use super::evict::{FREED, Held};
use super::full_disk::is_no_space;
use super::io::{Lock, on_disk};
use super::maintain::Maintained;
use super::segment::SegmentState;
use super::{Options, Store};
use crate::base::{Code, Result, error, try_collect, try_path_join, try_push};

/// The directory is measured again after one part in this many of the limit was written.
const MEASURED: u64 = 32;
/// A merge may exceed the limit by one part in this many.
pub(super) const SPARE: u64 = 8;
/// Writers and a merge together may exceed the limit by one part in this many. The header allows a quarter. The
/// difference is for the list of budgets and for file systems without reservations.
const HARD: u64 = 5;
/// Segments that are not sealed cannot be evicted by others. Full ones take at most one part in this many of a writer's
/// part of the limit.
const UNSEALED: u64 = 4;
/// A segment takes at most one part in this many of the limit, and at least [`LEAST_SEGMENT`] bytes.
const SEGMENTS: u64 = 16;
pub(super) const LEAST_SEGMENT: u64 = 32 << 10;
/// How often, and how long, to wait for a process that makes room.
pub(super) const WAITS: u32 = 2000;
pub(super) const WAIT: Duration = Duration::from_millis(1);
/// A file system that was full is tried again after this time: other programs may have freed space. A try that fails
/// costs one write.
const FULL_SECONDS: u32 = 1;
/// How often to make room beside other writers, which take some of it.
const ATTEMPTS: u32 = 16;

/// The bytes of the directory, and what may be written.
#[derive(Default)]
pub(super) struct Space {
    /// Bytes that may be written before the directory is measured again.
    pub room: u64,
    /// Bytes that may be written before something must go. `room` is at most this.
    pub left: u64,
    /// Bytes of all files and of the snapshots to come, when they were measured.
    pub used: u64,
    /// Limit of the directory at that time, or of the file system if that was full.
    pub limit: u64,
    /// Limit of the directory, also if the file system was full.
    nominal: u64,
    /// Limit of the directory with the files that are not read.
    directory: u64,
    /// Bytes of files of other formats and secrets, and of damaged ones, which may be deleted.
    pub foreign: u64,
    /// Bytes that the maintaining process has reserved for copies.
    copies: u64,
    /// Most bytes that the files may take at any moment.
    most: u64,
    /// Segments of other processes that are not sealed.
    writers: u64,
    /// A lower limit, because the file system was full.
    pub full_at: Option<u64>,
    /// The second when `full_at` was set.
    pub full_since: u32,
    /// Whether a file operation failed because the file system was full.
    pub is_full: bool,
    /// Bytes of the last failed write that the file system took before it was full.
    pub partial: u64,
    /// Environments that this process uses.
    pub own: Vec<u64>,
    budgets: Vec<Budget>,
    /// Whether the limits of the own environments are in the file of budgets.
    is_recorded: bool,
    /// How often this process still waits for one that makes room. A process that holds the lock for ever, such as a
    /// stopped one, is waited for once, and not by each write.
    patience: u32,
    /// Whether this process holds the lock of maintenance.
    pub is_maintaining: bool,
}

impl Space {
    pub fn new(options: &Options) -> Result<Self> {
        let mut own = Vec::new();
        own.try_reserve(1)?;
        own.extend(options.environment);
        let patience = WAITS;
        Ok(Self { own, patience, limit: options.limit_bytes, nominal: options.limit_bytes, ..Self::default() })
    }

    /// Measure before the next write: a limit has changed, or this process uses another environment.
    pub fn change(&mut self) {
        (self.room, self.left, self.is_recorded) = (0, 0, false);
    }

    /// Subtract bytes that were written.
    pub fn take(&mut self, bytes: u64) {
        self.used = self.used.saturating_add(bytes);
        self.room = self.room.saturating_sub(bytes);
        self.left = self.left.saturating_sub(bytes);
    }

    /// Bytes of copies that a merge may write before it deletes their sources.
    pub fn spare(&self) -> u64 {
        // A directory of an older version, or with a lowered limit, may be far above it. Its segments may be longer than
        // the spare share.
        if self.used > self.most {
            return (self.used - self.most).min(self.limit);
        }
        let spare = self.limit / SPARE;
        let most = if self.full_at.is_some() { self.limit + spare } else { self.most };
        most.saturating_sub(self.used).min(spare)
    }
}

impl Store {
    /// Longest segment, in bytes.
    pub(super) fn segment_limit(&self) -> u64 {
        self.options.segment_limit.min((self.space.limit / SEGMENTS).max(LEAST_SEGMENT))
    }

    /// Bytes that full segments may take before they must be sealed.
    pub(super) fn unsealed_bytes(&self) -> u64 {
        self.space.limit / UNSEALED / (self.space.writers + 1)
    }

    /// Note that this process uses an environment.
    pub(super) fn uses_environment(&mut self, environment: u64) -> Result<()> {
        if self.space.own.contains(&environment) {
            return Ok(());
        }
        try_push(&mut self.space.own, environment)?;
        self.space.change();
        Ok(())
    }

    /// Make room for a write that takes up to `needed` more bytes on the disk.
    pub(super) fn make_room(&mut self, needed: u64) -> Result<()> {
        if needed <= self.space.room {
            return Ok(());
        }
        let (mut failure, mut attempts) = (Ok(()), 0);
        for wait in 0.. {
            self.measure_for(needed)?;
            if needed <= self.space.room {
                self.space.patience = WAITS;
                return Ok(());
            }
            // A maintenance writes removal marks.
            if !self.space.is_maintaining
                && let Some(lock) = self.try_maintenance()?
            {
                failure = self.reclaim(needed, &mut Maintained::default());
                self.end_maintenance(lock);
                attempts += 1;
                self.measure_for(needed)?;
                if needed <= self.space.room {
                    return Ok(());
                }
            } else if wait == 0 {
                failure = Err(error!(Busy, "another process makes room in '{}'", self.directory.display()));
            }
            // The rest is in use by other processes, or the bytes that others make room for are not free yet.
            if self.space.used.saturating_add(self.space.copies).saturating_add(needed) <= self.space.most {
                self.space.room = needed;
                return Ok(());
            }
            let is_alone = self.space.copies == 0 && (self.space.writers == 0 || attempts >= ATTEMPTS);
            match &failure {
                Err(why) if why.code() == Code::Busy => {}
                Ok(()) if !is_alone && !self.space.is_maintaining => {}
                _ => break,
            }
            if !self.wait_for_room() {
                break;
            }
        }
        failure.and_then(|()| {
            let (directory, limit) = (self.directory.display(), self.space.limit);
            Err(error!(LimitExceeded, "'{directory}' has no room below its limit of {limit} bytes: raise the limit"))
        })
    }

    /// A piece of [`make_room`](Self::make_room): one merge. True when there is room, or none can be made.
    pub(super) fn make_room_some(&mut self, needed: u64) -> Result<bool> {
        if needed > self.space.room {
            self.measure_for(needed)?;
        }
        if needed <= self.space.room {
            self.space.patience = WAITS;
            return Ok(true);
        }
        if let Some(lock) = self.try_maintenance()? {
            let more = self.reclaim_piece(needed, &mut Maintained::default());
            self.end_maintenance(lock);
            return more.map(|more| !more);
        }
        Ok(!self.wait_for_room())
    }

    /// Wait a moment for another process that makes room. False if that was tried long enough.
    pub(super) fn wait_for_room(&mut self) -> bool {
        let Some(less) = self.space.patience.checked_sub(1) else { return false };
        self.space.patience = less;
        sleep(WAIT);
        true
    }

    /// Reserve bytes for a mark before a deletion, if necessary above the limit. False if that would be too much.
    pub(super) fn reserve_above_limit(&mut self, needed: u64) -> Result<bool> {
        self.measure_for(needed)?;
        let Space { used, copies, most, room, .. } = self.space;
        let is_free = used.saturating_add(copies).saturating_add(needed) <= most;
        if is_free {
            self.space.room = room.max(needed);
        }
        Ok(is_free || needed <= room)
    }

    /// Measure the directory, and reserve bytes for a write.
    fn measure_for(&mut self, needed: u64) -> Result<()> {
        // Its lock carries the reservation.
        if self.writer.is_none() && self.claim.is_none() {
            self.claim = Some(self.claim()?);
        }
        self.measure(needed)
    }

    /// Bring the directory nearer to its limit, if other processes wrote at the same time. True if there is more to do.
    pub(super) fn settle_some(&mut self) -> Result<bool> {
        if self.options.read_only || self.space.own.is_empty() || self.is_bundle() {
            return Ok(false);
        }
        self.measure(0)?;
        // A full file system evicts for the next write, and not what was just stored.
        let excess = self.foreign_excess(0);
        if self.space.used <= self.space.nominal && excess == 0 {
            return Ok(false);
        }
        let Some(lock) = self.try_maintenance()? else { return Ok(false) };
        let more = match excess {
            0 => self.reclaim_piece(0, &mut Maintained::default()),
            _ => self.delete_foreign(excess).map(|_| true),
        };
        self.end_maintenance(lock);
        more
    }

    /// Bytes of files that are not read to delete, so that the directory has room for `needed` bytes.
    pub(super) fn foreign_excess(&self, needed: u64) -> u64 {
        let Space { used, foreign, directory, .. } = self.space;
        used.saturating_add(foreign).saturating_add(needed).saturating_sub(directory).min(foreign)
    }

    /// Measure the directory.
    pub(super) fn measure(&mut self, needed: u64) -> Result<()> {
        let snapshots = self.own_writers().map(|writer| on_disk(writer.snapshot_bytes())).sum::<u64>();
        let reserved = self.reserve(needed.max(self.space.limit / MEASURED), snapshots);
        let others = self.reservations();
        let mut used = snapshots + others.of_writers;
        let [bytes, foreign] = self.bytes_in(&self.directory, |name| self.owner(name));
        used += bytes + self.bytes_in(&self.path_of("quarantine"), |_| Owner::Store)[0];
        self.record_budgets();
        let held = self.held()?;
        let budgets = held.iter().fold(0_u64, |sum, held| sum.saturating_add(held.budget));
        let largest = held.iter().map(|held| held.budget).fold(self.options.limit_bytes, u64::max);
        let directory = match self.options.directory_limit {
            0 => largest.saturating_mul(2),
            limit => limit,
        };
        let limit = budgets.max(self.options.limit_bytes).min(directory);
        let most = limit.saturating_add(limit / HARD);
        self.forget_full();
        let (nominal, limit) = (limit, limit.min(self.space.full_at.unwrap_or(u64::MAX)));
        let left = |held: &Held| held.budget.saturating_sub(held.bytes);
        let own = held.iter().filter(|held| self.space.own.contains(&held.environment)).map(left);
        let left = own.fold(limit.min(directory.saturating_sub(foreign)).saturating_sub(used), u64::min);
        let (room, copies, writers) = (left.min(reserved), others.of_merge, others.writers);
        self.space = Space {
            room,
            left,
            used,
            limit,
            nominal,
            directory,
            foreign,
            copies,
            most,
            writers,
            ..std::mem::take(&mut self.space)
        };
        Ok(())
    }

    /// Tell other processes how much this one may write until it measures again. Returns that number: 0 if it has no
    /// lock to tell it with.
    fn reserve(&self, bytes: u64, snapshots: u64) -> u64 {
        let of_writer = self.writer.as_ref().map(|writer| &writer.lock);
        let Some(lock) = of_writer.or(self.claim.as_ref().map(|claim| &claim.lock)) else { return 0 };
        // Without the reservation, other processes learn of the bytes when they are written.
        let _ = lock.reserve(bytes.saturating_add(snapshots));
        self.full.iter().for_each(|writer| drop(writer.lock.reserve(0)));
        bytes
    }

    /// Measure the reservations of other processes.
    fn reservations(&self) -> Reservations {
        let mut all = Reservations::default();
        // A damaged file may be of any length.
        let bytes = |path: &Path| self.io.reserved(path).min(self.space.limit);
        for id in self.other_writers() {
            all.writers += 1;
            all.of_writers += bytes(&self.path(id, "live"));
        }
        if !self.space.is_maintaining {
            all.of_merge = bytes(&self.path_of("maintain.lock"));
        }
        all
    }

    /// The segments that other processes write, or have written until they died.
    fn other_writers(&self) -> impl Iterator<Item = u64> + '_ {
        let names = if self.is_bundle() { Vec::new() } else { self.io.list(&self.directory).unwrap_or_default() };
        let id_of = |name: std::ffi::OsString| u64::from_str_radix(name.to_str()?.strip_suffix(".live")?, 16).ok();
        let is_claim = |id: u64| self.claim.as_ref().is_some_and(|claim| claim.id == id);
        names.into_iter().filter_map(id_of).filter(move |&id| !self.is_own(id) && !is_claim(id))
    }

    /// Whether another living process writes a segment.
    pub(super) fn is_other_alive(&self) -> bool {
        self.other_writers().any(|id| matches!(self.io.try_lock(&self.path(id, "live")), Ok(None)))
    }

    /// A process that was killed cannot end its reservation.
    fn end_reservations_of_the_dead(&self) {
        for id in self.other_writers() {
            let path = self.path(id, "live");
            if self.io.reserved(&path) > 0
                && let Ok(Some(lock)) = self.io.try_lock(&path)
            {
                let _ = lock.reserve(0);
            }
        }
    }

    /// Bytes of the files in a folder: those of this store, and those that are not read. A missing folder has none, and
    /// another process may delete files meanwhile.
    fn bytes_in(&self, folder: &Path, owner: impl Fn(&str) -> Owner) -> [u64; 2] {
        let mut bytes = [0; 2];
        for name in self.io.list(folder).unwrap_or_default() {
            let Some(name) = name.to_str() else { continue };
            let owner = owner(name);
            if owner != Owner::Nobody
                && let Ok(path) = try_path_join(folder, name)
                && let Ok(size) = self.io.size(&path)
            {
                bytes[usize::from(owner == Owner::Foreign)] += size.on_disk;
            }
        }
        bytes
    }

    /// The owner of a file that counts.
    fn owner(&self, name: &str) -> Owner {
        let (id, extension) = name.split_once('.').unwrap_or((name, ""));
        match (extension, u64::from_str_radix(id, 16)) {
            ("seg" | "idx" | "idx.new", Ok(id)) => match self.segment_position(id).map(|at| &self.segments[at]) {
                Some(segment) if segment.is_held => Owner::Nobody,
                Some(segment) if segment.state == SegmentState::Foreign => Owner::Foreign,
                _ => Owner::Store,
            },
            ("pack" | "pack.new", Ok(id)) if !self.is_foreign_pack(id) => Owner::Store,
            _ if matches!(name, "limits" | "limits.new") => Owner::Store,
            _ => Owner::Nobody,
        }
    }

    /// Read the budgets, and write those of the own environments once.
    fn record_budgets(&mut self) {
        if self.is_bundle() {
            return;
        }
        self.space.budgets = budgets::read(&*self.io, &self.directory, &self.checks).unwrap_or_default();
        if self.options.read_only || self.space.is_recorded || self.space.own.is_empty() {
            return;
        }
        let limit = self.options.limit_bytes;
        let own = |environment| Budget { environment, limit };
        let is_there = |&environment: &u64| self.space.budgets.contains(&own(environment));
        self.space.is_recorded = self.space.own.iter().all(is_there);
        if self.space.is_recorded {
            return;
        }
        // If another process maintains, the next measurement tries again.
        let Ok(Some(lock)) = self.try_maintenance() else { return };
        let own = self.space.own.iter().map(|&environment| own(environment));
        let others = self.space.budgets.iter().filter(|budget| !self.space.own.contains(&budget.environment));
        let has_values = |budget: &&Budget| self.live().any(|entry| entry.row.environment == budget.environment);
        let all = try_collect(own.chain(others.filter(has_values).copied()).take(budgets::MOST));
        if let Ok(all) = all
            && budgets::write(&*self.io, &self.directory, &all, &self.checks).is_ok()
        {
            (self.space.budgets, self.space.is_recorded) = (all, true);
        }
        self.end_maintenance(lock);
    }

    /// Limit of an environment, in bytes.
    pub(super) fn budget(&self, environment: u64) -> u64 {
        let is_own = self.space.own.contains(&environment) && !self.space.is_recorded;
        let known = self.space.budgets.iter().find(|budget| budget.environment == environment && !is_own);
        known.map_or(self.options.limit_bytes, |budget| budget.limit)
    }

    /// Become the process that maintains; `None` if another one is.
    pub(super) fn try_maintenance(&mut self) -> Result<Option<MaintenanceLock>> {
        let path = self.path_of("maintain.lock");
        let lock = match self.io.try_lock(&path) {
            Ok(None) => return Ok(None),
            Ok(lock) => lock,
            // The directory is missing.
            Err(why) if why.kind() == ErrorKind::NotFound => return Ok(None),
            // No other process can have created it either.
            Err(why) if is_no_space(&why) => None,
            Err(why) => return Err(self.failed("lock", &path, &why)),
        };
        (self.space.is_maintaining, self.space.patience) = (true, WAITS);
        let lock = MaintenanceLock(lock);
        lock.reserve(self.space.limit / SPARE);
        // Their bytes are free, so nothing needs to go for them.
        self.end_reservations_of_the_dead();
        Ok(Some(lock))
    }

    pub(super) fn end_maintenance(&mut self, lock: MaintenanceLock) {
        self.space.is_maintaining = false;
        lock.reserve(0);
    }

    /// Probe again whether the file system is full.
    pub(super) fn retry_full(&mut self) {
        self.space.full_at = None;
    }

    /// [`retry_full`](Self::retry_full) if it was full some time ago.
    pub(super) fn forget_full(&mut self) {
        if self.seconds().abs_diff(self.space.full_since) > FULL_SECONDS {
            self.retry_full();
        }
    }

    /// Whether the store is one file without a directory.
    pub(super) fn is_bundle(&self) -> bool {
        self.directory.as_os_str().is_empty()
    }

    /// Whether the directory is above its limit, or close below it.
    pub(super) fn is_nearly_full(&self) -> bool {
        self.space.left < self.space.limit / 16 * FREED
    }
}

/// Held by the process that maintains.
pub(super) struct MaintenanceLock(Option<Box<dyn Lock>>);

impl MaintenanceLock {
    fn reserve(&self, bytes: u64) {
        let _ = self.0.as_ref().map(|lock| lock.reserve(bytes));
    }
}

/// The limit that a file counts for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Owner {
    /// All limits.
    Store,
    /// The limit of the directory: it is not read.
    Foreign,
    /// None.
    Nobody,
}

/// Reservations of other processes, in bytes.
#[derive(Default)]
struct Reservations {
    of_writers: u64,
    of_merge: u64,
    /// Number of writers, those included that have died.
    writers: u64,
}
