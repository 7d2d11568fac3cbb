//! Limits on the disk, kept by every call that writes.
//!
//! *What counts.* The blocks of every file of the library in the directory and in its folder `quarantine`, by the count
//! of the file system. So every process counts the files of all of them. Files are emptied before they are deleted, so
//! a process that has one open does not keep its blocks. Segments of another format or secret do not count: they are
//! never changed, so they would leave no room for ever.
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
//! *What goes.* Each environment keeps the limit of the process that opened it last: see [`budgets`](super::budgets).
//! Above it, its values of least worth are evicted. The directory has a limit, too, for which whole environments go
//! that were not used for the longest time. A value is evicted by deleting its segment without copying it, which writes
//! nothing. Segments with the largest part to evict come first; values in others are served until then. On a full disk,
//! whole segments go: see [`full_disk`](super::full_disk).

use std::io::ErrorKind;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use super::budgets::{self, Budget};
use super::format::HEADER;
use super::full_disk::is_no_space;
use super::index::IndexEntry;
use super::io::{BLOCK, Lock, on_disk};
use super::maintain::{Hidden, Keep, Maintained, RewriteCandidate};
use super::snapshot::RecordInfo;
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
/// Sixteenths of the limit that stay free after room was made.
const FREED: u64 = 1;
/// Sixteenths of the limit that current values may take afterwards. The next one is tried if that did not free enough.
const KEPT: [u64; 5] = [13, 10, 7, 4, 0];
/// Added to the seconds since the last use, so that uses within the last hour weigh about the same.
const RECENT_SECONDS: u32 = 3600;
/// How often, and how long, to wait for a process that makes room.
pub(super) const WAITS: u32 = 2000;
pub(super) const WAIT: Duration = Duration::from_millis(1);
/// A file system that was full is tried again after this time: other programs may have freed space.
const FULL_SECONDS: u32 = 60;
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
    limit: u64,
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
    /// Environments that this process uses.
    own: Vec<u64>,
    budgets: Vec<Budget>,
    /// Whether the limits of the own environments are in the file of budgets.
    is_recorded: bool,
    /// Whether this process holds the lock of maintenance.
    pub is_maintaining: bool,
}

impl Space {
    pub fn new(options: &Options) -> Result<Self> {
        let mut own = Vec::new();
        own.try_reserve(1)?;
        own.extend(options.environment);
        Ok(Self { own, limit: options.limit_bytes, ..Self::default() })
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
        // A directory of an older version, or with a lowered limit, may be far above it.
        if self.used > self.most {
            return self.limit;
        }
        let spare = self.limit / SPARE;
        let most = if self.full_at.is_some() { self.limit + spare } else { self.most };
        most.saturating_sub(self.used).min(spare)
    }
}

/// The values of an environment.
struct Held {
    environment: u64,
    bytes: u64,
    last_used: u32,
    budget: u64,
    /// Bytes to keep.
    kept: u64,
}

/// The worth below which values are evicted, for each environment that loses any.
pub(super) struct Cut {
    second: u32,
    /// Environment, worth and stamp of the first value that is kept. In order of environment.
    least: Vec<(u64, f64, u64)>,
    /// Environments that go as a whole.
    removed: Vec<u64>,
}

impl Cut {
    /// Nothing is evicted.
    pub const NOTHING: Self = Self { second: 0, least: Vec::new(), removed: Vec::new() };

    pub fn keeps(&self, entry: &IndexEntry) -> bool {
        let environment = entry.row.environment;
        self.least.binary_search_by_key(&environment, |least| least.0).is_err()
            || self.least.iter().any(|&(of, worth, stamp)| {
                let order = self::worth(entry, self.second).total_cmp(&worth);
                of == environment && order.then(entry.row.stamp.cmp(&stamp)).is_ge()
            })
    }
}

impl Cut {
    /// Whether the environment goes as a whole.
    pub fn removes(&self, environment: u64) -> bool {
        self.removed.contains(&environment)
    }
}

/// The worth of a value: uses × build time, per byte and per time since the last use.
///
/// This is hyperbolic caching (Blankstein, Sen and Freedman, 2017) with the costs of GreedyDual-Size-Frequency. Unlike
/// GreedyDual, it needs no clock on the disk.
fn worth(entry: &IndexEntry, second: u32) -> f64 {
    saving(entry, second) / entry.live_bytes() as f64
}

pub(super) fn saving(entry: &IndexEntry, second: u32) -> f64 {
    let since = f64::from(second.saturating_sub(entry.used)) + f64::from(RECENT_SECONDS);
    f64::from(entry.uses) * (f64::from(entry.row.build_us) + 1.0) / since
}

/// Bytes of a removal mark in a segment and in its snapshot.
const MARK: u64 = (HEADER + RecordInfo::SIZE) as u64;

/// Bytes of a value in a segment and in its snapshot.
fn weight(entry: &IndexEntry) -> u64 {
    entry.live_bytes() + RecordInfo::SIZE as u64
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
        for wait in 0..WAITS {
            self.measure_for(needed)?;
            if needed <= self.space.room {
                return Ok(());
            }
            if wait == 0 {
                self.end_reservations_of_the_dead();
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
            sleep(WAIT);
        }
        failure.and_then(|()| {
            let (directory, limit) = (self.directory.display(), self.space.limit);
            Err(error!(LimitExceeded, "'{directory}' has no room below its limit of {limit} bytes: raise the limit"))
        })
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
        if self.space.used <= self.space.limit {
            return Ok(false);
        }
        let Some(lock) = self.try_maintenance()? else { return Ok(false) };
        let more = self.reclaim_piece(0, &mut Maintained::default());
        self.end_maintenance(lock);
        more
    }

    /// Measure the directory.
    pub(super) fn measure(&mut self, needed: u64) -> Result<()> {
        let snapshots = self.own_writers().map(|writer| on_disk(writer.snapshot_bytes())).sum::<u64>();
        let reserved = self.reserve(needed.max(self.space.limit / MEASURED), snapshots);
        let others = self.reservations();
        let mut used = snapshots + others.of_writers;
        used += self.bytes_in(&self.directory, |name| self.counts(name));
        used += self.bytes_in(&self.path_of("quarantine"), |_| true);
        self.record_budgets();
        let held = self.held()?;
        let budgets = held.iter().fold(0_u64, |sum, held| sum.saturating_add(held.budget));
        let largest = held.iter().map(|held| held.budget).fold(self.options.limit_bytes, u64::max);
        let limit = budgets.max(self.options.limit_bytes).min(match self.options.directory_limit {
            0 => largest.saturating_mul(2),
            limit => limit,
        });
        let most = limit.saturating_add(limit / HARD);
        if self.seconds().abs_diff(self.space.full_since) > FULL_SECONDS {
            self.retry_full();
        }
        let limit = limit.min(self.space.full_at.unwrap_or(u64::MAX));
        let left = |held: &Held| held.budget.saturating_sub(held.bytes);
        let own = held.iter().filter(|held| self.space.own.contains(&held.environment)).map(left);
        let left = own.fold(limit.saturating_sub(used), u64::min);
        let (room, copies, writers) = (left.min(reserved), others.of_merge, others.writers);
        self.space = Space { room, left, used, limit, copies, most, writers, ..std::mem::take(&mut self.space) };
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
        let bytes = |path: &Path| self.io.size(path).map_or(0, |size| size.length.min(self.space.limit));
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

    /// A process that was killed cannot end its reservation.
    fn end_reservations_of_the_dead(&self) {
        for id in self.other_writers() {
            let path = self.path(id, "live");
            if self.io.size(&path).is_ok_and(|size| size.length > 0)
                && let Ok(Some(lock)) = self.io.try_lock(&path)
            {
                let _ = lock.reserve(0);
            }
        }
    }

    /// Bytes of some files in a folder. A missing folder has none, and another process may delete files meanwhile.
    fn bytes_in(&self, folder: &Path, counts: impl Fn(&str) -> bool) -> u64 {
        let names = self.io.list(folder).unwrap_or_default();
        let names = names.iter().filter_map(|name| name.to_str()).filter(|name| counts(name));
        names.filter_map(|name| self.io.size(&try_path_join(folder, name).ok()?).ok()).map(|size| size.on_disk).sum()
    }

    /// Whether a file is one that this store may change or replace.
    fn counts(&self, name: &str) -> bool {
        let Some((id, extension)) = name.split_once('.') else { return name == "limits" };
        let is_kept = |id: u64| self.segment_position(id).is_some_and(|at| !self.segments[at].is_readable());
        match extension {
            "seg" | "idx" | "idx.new" => u64::from_str_radix(id, 16).is_ok_and(|id| !is_kept(id)),
            _ => name == "limits.new",
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
    fn budget(&self, environment: u64) -> u64 {
        let is_own = self.space.own.contains(&environment) && !self.space.is_recorded;
        let known = self.space.budgets.iter().find(|budget| budget.environment == environment && !is_own);
        known.map_or(self.options.limit_bytes, |budget| budget.limit)
    }

    /// All environments that have values, in order.
    fn held(&self) -> Result<Vec<Held>> {
        let mut all: Vec<Held> = Vec::new();
        let mut last = 0;
        for entry in self.live() {
            let environment = entry.row.environment;
            if all.get(last).is_none_or(|held| held.environment != environment) {
                last = all.partition_point(|held| held.environment < environment);
                if all.get(last).is_none_or(|held| held.environment != environment) {
                    all.try_reserve(1)?;
                    let budget = self.budget(environment);
                    all.insert(last, Held { environment, bytes: 0, last_used: 0, budget, kept: 0 });
                }
            }
            let held = &mut all[last];
            held.bytes += weight(entry);
            held.last_used = held.last_used.max(entry.used);
        }
        Ok(all)
    }

    /// The values to evict, so that current values take that many sixteenths of the limits.
    fn worth_to_keep(&self, sixteenths: u64) -> Result<Cut> {
        let mut all = self.held()?;
        let is_own = |held: &Held| self.space.own.contains(&held.environment);
        for held in &mut all {
            held.kept = match (is_own(held), held.bytes > held.budget) {
                (true, _) => held.budget / 16 * sixteenths,
                (false, true) => held.budget / 16 * KEPT[0],
                // Another process's environment is within its own limit.
                (false, false) => held.bytes,
            };
        }
        self.fit_directory(&mut all, self.space.limit / 16 * KEPT[0].min(sixteenths.max(1)));
        let mut cut = Cut { second: self.seconds(), ..Cut::NOTHING };
        for held in all.iter().filter(|held| held.bytes > held.kept) {
            try_push(&mut cut.least, self.least_kept(held, cut.second)?)?;
            if held.kept == 0 && !is_own(held) {
                try_push(&mut cut.removed, held.environment)?;
            }
        }
        Ok(cut)
    }

    /// Let whole environments go until the rest fits, and reduce the own ones if that is not enough.
    fn fit_directory(&self, all: &mut [Held], limit: u64) {
        let is_own = |held: &Held| self.space.own.contains(&held.environment);
        let kept = |held: &Held| held.kept.min(held.bytes);
        let budgets = all.iter().fold(0_u64, |sum, held| sum.saturating_add(held.budget));
        loop {
            let sum: u64 = all.iter().map(kept).sum();
            let others = all.iter_mut().filter(|held| !is_own(held) && held.kept > 0);
            match others.min_by_key(|held| held.last_used) {
                Some(oldest) if sum > limit && self.space.limit < budgets => oldest.kept = 0,
                _ => break,
            }
        }
        let others: u64 = all.iter().filter(|held| !is_own(held)).map(kept).sum();
        let own: u64 = all.iter().filter(|held| is_own(held)).map(kept).sum();
        let left = limit.saturating_sub(others);
        if own > left {
            let part = left as f64 / own as f64;
            let own = all.iter_mut().filter(|held| is_own(held));
            own.for_each(|held| held.kept = (held.kept.min(held.bytes) as f64 * part) as u64);
        }
    }

    /// Environment, worth and stamp of the value of least worth that is kept.
    fn least_kept(&self, held: &Held, second: u32) -> Result<(u64, f64, u64)> {
        let here = self.live().filter(|entry| entry.row.environment == held.environment);
        let mut ranked = try_collect(here.map(|entry| (worth(entry, second), entry.row.stamp, weight(entry))))?;
        ranked.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
        let (mut bytes, mut least) = (0, (held.environment, f64::INFINITY, u64::MAX));
        for (worth, stamp, weight) in ranked {
            bytes += weight;
            if bytes > held.kept {
                break;
            }
            least = (held.environment, worth, stamp);
        }
        Ok(least)
    }

    /// Evict and merge until `needed` bytes can be written. This process maintains.
    pub(super) fn reclaim(&mut self, needed: u64, done: &mut Maintained) -> Result<()> {
        self.load(u64::MAX)?;
        while self.reclaim_piece(needed, done)? {}
        Ok(())
    }

    /// A piece of [`reclaim`](Self::reclaim): one merge. True if there is more to do.
    pub(super) fn reclaim_piece(&mut self, needed: u64, done: &mut Maintained) -> Result<bool> {
        let limit = self.segment_limit();
        // After the limit was lowered, the segment that is being written may be most of the directory.
        let is_long = self.writer.as_ref().is_some_and(|writer| writer.length > limit);
        let _ = if is_long { self.seal_own() } else { self.seal_full() };
        self.refresh()?;
        if !self.is_loaded() {
            return Ok(true);
        }
        for sixteenths in KEPT {
            if sixteenths < KEPT[1] {
                let _ = self.seal_own();
            }
            let keep = Keep::Worth(self.worth_to_keep(sixteenths)?);
            if self.reclaim_some(needed, &keep, done)? {
                return Ok(true);
            }
            self.measure(needed)?;
            if needed <= self.space.left && self.space.used <= self.space.limit {
                return Ok(false);
            }
        }
        // Many small values need marks that are not much shorter: segments go that need none.
        let before = self.space.used;
        let is_dropped = self.drop_one(done)?;
        self.measure(needed)?;
        Ok(is_dropped && self.space.used + BLOCK <= before)
    }

    /// Rewrite the most wasteful segments. False if there is enough room, or no segment to rewrite.
    fn reclaim_some(&mut self, needed: u64, keep: &Keep, done: &mut Maintained) -> Result<bool> {
        self.measure(needed)?;
        let (before, goal) = (self.space.used, needed.saturating_add(self.space.limit / 16 * FREED));
        let goes = |entry: &IndexEntry| keep.removes(entry.row.environment);
        let wanted = if self.live().any(goes) { u64::MAX } else { goal.saturating_sub(self.space.left) };
        if wanted == 0 {
            return Ok(false);
        }
        let chosen = self.most_wasteful(keep, wanted)?;
        if chosen.is_empty() {
            return Ok(false);
        }
        self.space.is_full = false;
        match self.merge(chosen, keep, done) {
            Err(why) if self.space.is_full => return if self.drop_least(done)? { Ok(true) } else { Err(why) },
            merged => merged?,
        }
        self.measure(needed)?;
        Ok(self.space.used + BLOCK <= before)
    }

    /// Segments whose rewriting frees that many bytes, the most wasteful ones first, as far as their copies fit.
    fn most_wasteful(&mut self, keep: &Keep, wanted: u64) -> Result<Vec<RewriteCandidate>> {
        // Bytes to copy, by segment.
        let mut kept = self.mark_bytes(keep)?;
        for entry in self.live().filter(|entry| keep.keeps(entry)) {
            if let Some(position) = self.segment_position(entry.segment) {
                kept[position] += weight(entry);
            }
        }
        let small = self.segment_limit() / 4;
        let mut candidates = self.candidates(keep)?;
        for candidate in &mut candidates {
            let Some(position) = self.segment_position(candidate.id) else { continue };
            candidate.live_bytes = kept[position];
            candidate.length = self.segments[position].disk_bytes();
        }
        // A small segment frees the rest of its blocks if it is merged with others.
        let frees = |of: &RewriteCandidate| {
            let copied = if of.length <= small || of.live_bytes == 0 { of.live_bytes } else { copied_bytes(of) };
            of.length.saturating_sub(copied)
        };
        candidates.retain(|candidate| frees(candidate) >= BLOCK.max(candidate.length / 16));
        let part = |of: &RewriteCandidate| of.live_bytes as f64 / of.length as f64;
        candidates.sort_unstable_by(|a, b| part(a).total_cmp(&part(b)).then(a.id.cmp(&b.id)));
        // Those without current values go alone at first: without them, fewer evicted values need marks.
        let is_dead = |of: &RewriteCandidate| {
            of.live_bytes == 0 && self.segment_position(of.id).is_some_and(|at| self.segments[at].live_values == 0)
        };
        let dead = candidates.iter().take_while(|candidate| is_dead(candidate)).count();
        if dead > 0 {
            candidates.truncate(dead);
            return Ok(candidates);
        }
        let (mut copied, mut freed, spare) = (0, 0, self.space.spare());
        let count = candidates.iter().take_while(|candidate| {
            let is_wanted = freed < wanted;
            (copied, freed) = (copied + candidate.live_bytes, freed + frees(candidate));
            is_wanted && copied <= spare
        });
        let count = count.count();
        candidates.truncate(count);
        Ok(candidates)
    }

    /// Bytes of the removal marks that go into copies, by segment in the order of the list.
    pub(super) fn mark_bytes(&self, keep: &Keep) -> Result<Vec<u64>> {
        let mut bytes = try_collect(self.segments.iter().map(|_| 0_u64))?;
        let hidden = Hidden::of(&self.segments);
        let entries = self.index.entries.iter().filter(|entry| entry.row.stamp != 0);
        let gone = entries.filter(|entry| !entry.is_live() || !keep.keeps(entry));
        let gone = gone.map(|entry| (entry.segment, entry.row.stamp, entry.is_live()));
        let cleared = self.index.cleared.iter().map(|cleared| (cleared.segment, cleared.row.stamp, false));
        for (segment, stamp, is_evicted) in gone.chain(cleared) {
            if hidden.may_outlive(stamp, segment, is_evicted)
                && let Some(position) = self.segment_position(segment)
            {
                bytes[position] += MARK;
            }
        }
        Ok(bytes)
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
        self.space.is_maintaining = true;
        let lock = MaintenanceLock(lock);
        lock.reserve(self.space.limit / SPARE);
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

/// Reservations of other processes, in bytes.
#[derive(Default)]
struct Reservations {
    of_writers: u64,
    of_merge: u64,
    /// Number of writers, those included that have died.
    writers: u64,
}

/// Bytes on the disk of a segment with only the records to copy.
fn copied_bytes(candidate: &RewriteCandidate) -> u64 {
    on_disk(candidate.live_bytes) + BLOCK
}
