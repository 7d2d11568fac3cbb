//! Eviction of values of least worth, and of whole environments.
//!
//! Each environment keeps the limit of the process that opened it last: see [`budgets`](super::budgets). Above it, its
//! values of least worth go. The directory has a limit, too, for which
//! whole environments go that were not used for the longest time. A value is evicted by deleting its segment without
//! copying it, which writes nothing. Segments with the largest part to evict come first; values in others are served
//! until then.

use super::Store;
use super::format::HEADER;
use super::index::IndexEntry;
use super::io::{BLOCK, on_disk};
use super::maintain::{Hidden, Keep, Maintained, RewriteCandidate};
use super::segment::Segment;
use super::snapshot::RecordInfo;
use crate::base::{Result, sort_slowly, try_collect, try_push};

/// Sixteenths of the limit that stay free after room was made.
pub(super) const FREED: u64 = 1;
/// Sixteenths of the limit that current values may take afterwards. The next one is tried if that did not free enough.
const KEPT: [u64; 5] = [13, 10, 7, 4, 0];
/// Segments of others that one piece deletes at most.
const DELETED: usize = 64;
/// Bytes that one merge copies at most, but at least one segment.
const PIECE: u64 = 8 << 20;
/// Damaged segments that a piece removes at most.
const DAMAGED: usize = 1024;
/// Added to the seconds since the last use, so that uses within the last hour weigh about the same.
const RECENT_SECONDS: u32 = 3600;

/// The values of an environment.
pub(super) struct Held {
    pub environment: u64,
    pub bytes: u64,
    last_used: u32,
    pub budget: u64,
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
    /// All environments that have values, in order.
    pub(super) fn held(&self) -> Result<Vec<Held>> {
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
        sort_slowly(&mut ranked, |a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
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

    /// Delete segments that are not read, the oldest ones first, up to that many bytes, and those of living processes
    /// never. Returns the bytes. The process maintains.
    pub(super) fn delete_foreign(&mut self, excess: u64) -> Result<u64> {
        let is_foreign = |segment: &&Segment| !segment.is_readable() && !segment.is_held;
        let ids = try_collect(self.segments.iter().filter(is_foreign).map(|segment| segment.id).take(DELETED))?;
        let mut bytes = 0;
        let mut deleted = Vec::new();
        deleted.try_reserve_exact(ids.len())?;
        for id in ids {
            if bytes >= excess {
                break;
            }
            let size = |extension| self.io.size(&self.path(id, extension)).map_or(0, |size| size.on_disk);
            let both = size("seg") + size("idx");
            let is_dead = matches!(self.io.try_lock(&self.path(id, "live")), Ok(Some(_)));
            if is_dead {
                self.remove_files(id);
            }
            if is_dead && self.io.size(&self.path(id, "seg")).is_err() {
                bytes += both;
                deleted.push(id);
            } else {
                self.segment_mut(id).into_iter().for_each(|segment| segment.is_held = true);
            }
        }
        self.drop_segments(|id| deleted.binary_search(&id).is_ok());
        if !deleted.is_empty() {
            self.sync_directory()?;
        }
        Ok(bytes)
    }

    /// A piece of [`reclaim`](Self::reclaim): one merge. True if there is more to do.
    pub(super) fn reclaim_piece(&mut self, needed: u64, done: &mut Maintained) -> Result<bool> {
        let limit = self.segment_limit();
        // After the limit was lowered, the segment that is being written may be most of the directory.
        let is_long = self.writer.as_ref().is_some_and(|writer| writer.length > limit);
        let _ = if is_long { self.seal_own() } else { self.seal_full() };
        self.refresh()?;
        if !self.is_loaded() || self.sync_some_of_others()? {
            return Ok(true);
        }
        // They hold nothing.
        let listing = self.list()?;
        if self.remove_damaged(&listing, DAMAGED)? > 0 {
            return Ok(true);
        }
        self.measure(needed)?;
        let excess = self.foreign_excess(needed.saturating_add(self.space.limit / 16 * FREED));
        if excess > 0 && self.delete_foreign(excess)? > 0 {
            return Ok(true);
        }
        self.clear_away_packs(&listing);
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
        let is_dropped = self.delete_least(1, self.space.full_at.is_some(), done)? > 0;
        self.measure(needed)?;
        Ok(is_dropped && self.space.used + BLOCK <= before)
    }

    /// Rewrite the most wasteful segments. False if there is enough room, or no segment to rewrite.
    fn reclaim_some(&mut self, needed: u64, keep: &Keep, done: &mut Maintained) -> Result<bool> {
        self.measure(needed)?;
        // Others may write more than this process frees.
        let (before, goal) = (done.freed_bytes, needed.saturating_add(self.space.limit / 16 * FREED));
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
            Err(why) if self.space.is_full => return if self.delete_any(1, done)? { Ok(true) } else { Err(why) },
            merged => merged?,
        }
        Ok(done.freed_bytes >= before + BLOCK)
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
        sort_slowly(&mut candidates, |a, b| part(a).total_cmp(&part(b)).then(a.id.cmp(&b.id)));
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
            is_wanted && copied <= spare && (copied <= PIECE || copied == candidate.live_bytes)
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
}

/// Bytes on the disk of a segment with only the records to copy.
fn copied_bytes(candidate: &RewriteCandidate) -> u64 {
    on_disk(candidate.live_bytes) + BLOCK
}
