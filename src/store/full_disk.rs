//! Freeing space on a full disk, where not even a removal mark can be written.
//!
//! The segments of least worth are deleted as a whole. The order brings no replaced or removed value back: see
//! [`Store::delete_least`]. A value that would take most of the space is refused: it could only stay until the next
//! write.

use std::io::IoSlice;
use std::thread::sleep;

use super::Store;
use super::evict::saving;
use super::format::HEADS;
use super::index::IndexEntry;
use super::io::{BLOCK, on_disk};
use super::limits::{LEAST_SEGMENT, SPARE, WAIT, WAITS};
use super::maintain::{Keep, Maintained, RewriteCandidate};
use super::write::LONGEST_SHARE;
use crate::base::{Result, sort_slowly, try_collect, try_push};

/// Attempts to write a record to a disk that stays full. Between two of them, segments of least worth go.
pub(super) const ATTEMPTS: u32 = 4;
/// Bytes that are freed beside those of the record: other writers of the directory take some of them.
pub(super) const FREED: u64 = 64 << 10;
/// Most bytes that are written to find out whether a disk is still full.
const PROBED: u64 = 1 << 20;

/// A segment that may be deleted.
pub(super) struct Droppable {
    pub id: u64,
    /// Bytes of the removal marks that must be copied before.
    pub marks: u64,
    /// Bytes on the disk.
    bytes: u64,
    /// Seconds of building that its values save, per byte.
    worth: f64,
}

impl Store {
    /// Bytes that the full file system holds of this directory, without some that stay free for copies.
    pub(super) fn capacity(&mut self) -> Result<u64> {
        // Another process may free space before it is measured.
        let known = self.space.used;
        self.measure(0)?;
        let capacity = known.max(self.space.used) + self.space.partial;
        let capacity = (capacity / SPARE * (SPARE - 1)).max(LEAST_SEGMENT);
        Ok(self.space.full_at.unwrap_or(u64::MAX).min(capacity))
    }

    /// Evicting has helped, so the directory fills the file system: from now on it is the limit.
    pub(super) fn note_full(&mut self, capacity: Option<u64>) {
        self.space.full_at = capacity;
        self.space.full_since = self.seconds();
    }

    /// Whether a file system of that capacity can keep a record of that size beside others. If others fill it, that is
    /// unknown.
    pub(super) fn may_stay(&self, size: u64, capacity: u64) -> bool {
        capacity <= LEAST_SEGMENT || self.growth(size) <= capacity / 16 * LONGEST_SHARE
    }

    /// Free about `needed` bytes on a full disk by deleting the segments of least worth. False if there is no segment
    /// to delete.
    ///
    /// Nothing is copied but removal marks. First come segments that need none: no other segment has an older value of
    /// the names in it. If there is not even space for marks, everything goes.
    pub(super) fn give_way(&mut self, needed: u64) -> Result<bool> {
        if self.is_bundle() || self.options.read_only {
            return Ok(false);
        }
        let mut done = Maintained::default();
        let mut is_freed = self.space.is_maintaining && self.delete_any(needed, &mut done)?;
        while !self.space.is_maintaining {
            if let Some(lock) = self.try_maintenance()? {
                let freed = self.delete_any(needed, &mut done);
                self.end_maintenance(lock);
                is_freed = freed?;
                break;
            }
            if !self.wait_for_room() {
                break;
            }
        }
        self.measure(0)?;
        Ok(is_freed)
    }

    /// [`give_way`](Self::give_way), for the process that maintains.
    pub(super) fn delete_any(&mut self, needed: u64, done: &mut Maintained) -> Result<bool> {
        // Full segments of this process may go as well as others, and the one it writes if there are no others.
        let writing = self.writer.as_ref().map(|own| own.id);
        self.give_up(|id| Some(id) != writing)?;
        // Files that nobody reads go first.
        let mut freed = if self.space.foreign > 0 { self.delete_foreign(needed)? } else { 0 };
        while freed < needed {
            match self.delete_least(needed - freed, true, done)? {
                0 if self.writer.is_some() => self.give_up(|_| true)?,
                0 => return Ok(freed > 0),
                bytes => freed += bytes,
            }
        }
        Ok(true)
    }

    /// Delete segments of least worth, up to `needed` bytes but at least one. Returns their bytes; 0 if no segment can
    /// go. The process maintains.
    pub(super) fn delete_least(&mut self, needed: u64, is_full: bool, done: &mut Maintained) -> Result<u64> {
        self.load(u64::MAX)?;
        if !self.knows_all() {
            return Ok(0);
        }
        self.free_packs()?;
        let candidates = self.candidates(&Keep::Marks)?;
        let order = self.droppable(&candidates)?;
        // The locks are taken again for the chosen ones.
        drop(candidates);
        // A full disk refuses what is too much.
        let most = if is_full { u64::MAX } else { self.space.spare() };
        let choose = |has_marks: bool, count: usize, needed: u64| -> Result<(Vec<u64>, u64)> {
            let (mut ids, mut freed, mut marks) = (Vec::new(), 0, 0);
            for droppable in order.iter().filter(|droppable| (droppable.marks > 0) == has_marks).take(count) {
                if marks + droppable.marks > most {
                    break;
                }
                try_push(&mut ids, droppable.id)?;
                (freed, marks) = (freed + droppable.bytes, marks + droppable.marks);
                if freed.saturating_sub(on_marks(marks)) >= needed.max(1) {
                    break;
                }
            }
            sort_slowly(&mut ids, Ord::cmp);
            Ok((ids, freed.saturating_sub(on_marks(marks))))
        };
        let (ids, freed) = choose(false, usize::MAX, needed)?;
        if !ids.is_empty() && self.delete(&ids, done)? {
            return Ok(freed);
        }
        if is_full {
            // They only make opening faster, and their bytes are enough for many marks.
            let all = try_collect(self.candidates(&Keep::Marks)?.iter().map(|candidate| candidate.id))?;
            self.remove_snapshots(&all, 0);
        }
        // The marks of several segments share one. If there is no space for them, those of few segments may fit.
        for count in [usize::MAX, 16, 4, 2, 1] {
            let (ids, freed) = choose(true, count, needed)?;
            if freed > 0 && self.delete(&ids, done)? {
                return Ok(freed);
            }
        }
        let all = order.iter().map(|droppable| droppable.bytes).sum();
        Ok(if self.clear_for_space(done)? { all } else { 0 })
    }

    /// Delete segments, given in order of id, and copy their marks. False if there is no space for the marks.
    fn delete(&mut self, ids: &[u64], done: &mut Maintained) -> Result<bool> {
        let mut chosen = self.candidates(&Keep::Marks)?;
        chosen.retain(|candidate| ids.binary_search(&candidate.id).is_ok());
        let before = done.unlinked;
        self.space.is_full = false;
        match self.merge(chosen, &Keep::Marks, done) {
            Ok(()) => Ok(done.unlinked > before),
            Err(_) if self.space.is_full => Ok(false),
            Err(why) => Err(why),
        }
    }

    /// Evict everything: the last resort on a full disk, where not even marks can be written. The name of an empty file
    /// says that all older records are removed, so the segments can be deleted in any order. False if no segment can go.
    ///
    /// Values of living processes stay unless they are older than a record in these segments.
    fn clear_for_space(&mut self, done: &mut Maintained) -> Result<bool> {
        let candidates = self.candidates(&Keep::Marks)?;
        let ids = try_collect(candidates.iter().map(|candidate| candidate.id))?;
        if ids.is_empty() {
            return Ok(false);
        }
        let is_going = |id: u64| ids.binary_search(&id).is_ok();
        let entries = self.index.entries.iter().filter(|entry| is_going(entry.segment)).map(|entry| entry.row.stamp);
        let cleared = self.index.cleared.iter().filter(|cleared| is_going(cleared.segment));
        let stamp = entries.chain(cleared.map(|cleared| cleared.row.stamp)).max().unwrap_or(0).saturating_add(1);
        // A living process may still write records with smaller stamps, but only within the same second. Afterwards all
        // of them are known.
        for _ in 0..if self.is_other_alive() { WAITS } else { 0 } {
            if u64::from(self.seconds()) > stamp >> 32 {
                break;
            }
            sleep(WAIT);
        }
        self.load(u64::MAX)?;
        let path = self.path(stamp, "clear");
        let is_evicted = |entry: &&IndexEntry| entry.row.stamp < stamp;
        self.live().filter(is_evicted).map(IndexEntry::name).for_each(|name| (self.options.evicted)(&name));
        self.io.create(&path).map_err(|why| self.failed("create", &path, &why))?;
        self.sync_directory()?;
        let evicted = self.live().filter(is_evicted).count() as u64;
        done.evicted += evicted;
        self.counts.evicted += evicted;
        self.show_clearing(stamp, |_| ())?;
        self.remove_snapshots(&ids, 0);
        self.unlink(&ids, done)?;
        Ok(true)
    }

    /// All segments that may be deleted. The first is best.
    pub(super) fn droppable(&self, candidates: &[RewriteCandidate]) -> Result<Vec<Droppable>> {
        let mut order = Vec::new();
        order.try_reserve_exact(candidates.len())?;
        let (second, marks) = (self.seconds(), self.mark_bytes(&Keep::Marks)?);
        let mut saved = try_collect(self.segments.iter().map(|_| 0.0))?;
        for entry in self.live() {
            if let Some(position) = self.segment_position(entry.segment) {
                saved[position] += saving(entry, second);
            }
        }
        for &RewriteCandidate { id, .. } in candidates {
            let Some(position) = self.segment_position(id) else { continue };
            let bytes = self.segments[position].disk_bytes();
            order.push(Droppable { id, marks: marks[position], bytes, worth: saved[position] / bytes as f64 });
        }
        sort_slowly(&mut order, |a, b| (a.marks > 0).cmp(&(b.marks > 0)).then(a.worth.total_cmp(&b.worth)));
        Ok(order)
    }

    /// Find out whether a write that failed would succeed now. If so, the problem is over.
    pub(super) fn probe(&mut self) {
        let Some(bytes) = self.unwritten else { return };
        let bytes = bytes.min(PROBED).min(self.space.left).max(BLOCK);
        if self.try_write(bytes).is_ok() {
            (self.trouble, self.unwritten) = (None, None);
            self.retry_full();
        }
    }

    /// Write so many bytes to a file, and remove it.
    fn try_write(&mut self, bytes: u64) -> Result<()> {
        let claim = if self.writer.is_none() { Some(self.claim()?) } else { None };
        let id = self.writer.as_ref().map(|writer| writer.id).or(claim.as_ref().map(|claim| claim.id)).unwrap_or(0);
        self.claim = claim.or(self.claim.take());
        // Maintenance deletes a leftover of this name.
        let path = self.path(id, "idx.new");
        let _ = self.io.remove(&path);
        let zeros = [0; BLOCK as usize];
        let written = self.io.create(&path).and_then(|file| {
            let mut left = bytes.div_ceil(BLOCK);
            while left > 0 {
                let count = left.min(16);
                file.append(&mut [IoSlice::new(&zeros); 16][..count as usize])?;
                left -= count;
            }
            Ok(())
        });
        let _ = self.io.discard(&path);
        written.map_err(|why| self.failed("write", &path, &why))
    }
}

/// Bytes on the disk of a segment of removal marks.
fn on_marks(marks: u64) -> u64 {
    if marks > 0 { on_disk(HEADS as u64 + marks) + BLOCK } else { 0 }
}

/// Whether a file operation failed because the file system is full.
pub(super) fn is_no_space(why: &std::io::Error) -> bool {
    use std::io::ErrorKind::{QuotaExceeded, StorageFull};
    matches!(why.kind(), StorageFull | QuotaExceeded)
}
