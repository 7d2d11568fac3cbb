//! Freeing space on a full disk, where not even a removal mark can be written.
//!
//! The segments of least worth are deleted as a whole. The order brings no replaced or removed value back: see
//! [`Store::give_way`].

use std::thread::sleep;

use super::Store;
use super::evict::saving;
use super::index::IndexEntry;
use super::limits::{LEAST_SEGMENT, SPARE, WAIT, WAITS};
use super::maintain::{Keep, Maintained, RewriteCandidate};
use crate::base::{Result, try_collect};

/// Attempts to write a record to a disk that stays full.
pub(super) const ATTEMPTS: u32 = 64;

/// A segment that may be deleted.
pub(super) struct Droppable {
    pub id: u64,
    /// Bytes of the removal marks that must be copied before.
    pub marks: u64,
    /// Seconds of building that its values save, per byte.
    worth: f64,
}

impl Store {
    /// Free space on a full disk by deleting the segment of least worth. Returns the bytes; `None` if there is no segment
    /// to delete.
    ///
    /// Nothing is copied but removal marks. First come segments that need none: no other segment has an older value of
    /// the names in it. If there is not even space for marks, everything goes.
    pub(super) fn give_way(&mut self) -> Result<Option<u64>> {
        if self.is_bundle() || self.options.read_only {
            return Ok(None);
        }
        self.measure(0)?;
        let before = self.space.used;
        // Leave space for copies from now on.
        let full_at = (before / SPARE * (SPARE - 1)).max(LEAST_SEGMENT);
        self.space.full_at = Some(self.space.full_at.unwrap_or(u64::MAX).min(full_at));
        self.space.full_since = self.seconds();
        let mut done = Maintained::default();
        let mut is_dropped = self.space.is_maintaining && self.drop_least(&mut done)?;
        for _ in 0..if self.space.is_maintaining { 0 } else { WAITS } {
            if let Some(lock) = self.try_maintenance()? {
                let dropped = self.drop_least(&mut done);
                self.end_maintenance(lock);
                is_dropped = dropped?;
                break;
            }
            sleep(WAIT);
        }
        self.measure(0)?;
        Ok(is_dropped.then(|| before.saturating_sub(self.space.used)))
    }

    /// [`give_way`](Self::give_way), for the process that maintains.
    pub(super) fn drop_least(&mut self, done: &mut Maintained) -> Result<bool> {
        // Full segments of this process may go as well as others, and the one it writes if there are no others.
        self.full.clear();
        Ok(self.drop_one(done)? || self.writer.take().is_some() && self.drop_one(done)?)
    }

    /// Delete the segment of least worth; false if no segment can go. The process maintains.
    pub(super) fn drop_one(&mut self, done: &mut Maintained) -> Result<bool> {
        self.load(u64::MAX)?;
        self.free_packs()?;
        let order = self.droppable()?;
        let mut has_snapshots = true;
        // A full disk refuses what is too much.
        let most = if self.space.full_at.is_some() { u64::MAX } else { self.space.spare() };
        for Droppable { marks, id, .. } in order.into_iter().filter(|droppable| droppable.marks <= most) {
            if marks > 0 && std::mem::take(&mut has_snapshots) {
                // They only make opening faster, and their bytes are enough for many marks.
                let all = try_collect(self.candidates(&Keep::Marks)?.iter().map(|candidate| candidate.id))?;
                self.remove_snapshots(&all, 0);
            }
            let mut chosen = self.candidates(&Keep::Marks)?;
            chosen.retain(|candidate| candidate.id == id);
            self.space.is_full = false;
            match self.merge(chosen, &Keep::Marks, done) {
                Ok(()) => return Ok(true),
                Err(_) if self.space.is_full => {}
                Err(why) => return Err(why),
            }
        }
        self.clear_for_space(done)
    }

    /// Evict everything: the last resort on a full disk, where not even marks can be written. The name of an empty file
    /// says that all older records are removed, so the segments can be deleted in any order. False if no segment can go.
    fn clear_for_space(&mut self, done: &mut Maintained) -> Result<bool> {
        let ids = try_collect(self.candidates(&Keep::Marks)?.iter().map(|candidate| candidate.id))?;
        if ids.is_empty() {
            return Ok(false);
        }
        let stamp = self.stamp();
        let path = self.path(stamp, "clear");
        self.live().map(IndexEntry::name).for_each(|name| (self.options.evicted)(&name));
        self.io.create(&path).map_err(|why| self.failed("create", &path, &why))?;
        self.sync_directory()?;
        done.evicted += self.live().count() as u64;
        self.counts.evicted += self.live().count() as u64;
        self.show_clearing(stamp)?;
        self.remove_snapshots(&ids, 0);
        self.unlink(&ids, done)?;
        Ok(true)
    }

    /// All segments that may be deleted. The first is best.
    pub(super) fn droppable(&mut self) -> Result<Vec<Droppable>> {
        let candidates = self.candidates(&Keep::Marks)?;
        let mut order = Vec::new();
        order.try_reserve_exact(candidates.len())?;
        let (second, marks) = (self.seconds(), self.mark_bytes(&Keep::Marks)?);
        for RewriteCandidate { id, .. } in candidates {
            let Some(position) = self.segment_position(id) else { continue };
            let here = self.live().filter(|entry| entry.segment == id);
            let saved: f64 = here.map(|entry| saving(entry, second)).sum();
            order.push(Droppable {
                id,
                marks: marks[position],
                worth: saved / self.segments[position].disk_bytes() as f64,
            });
        }
        order.sort_unstable_by(|a, b| (a.marks > 0).cmp(&(b.marks > 0)).then(a.worth.total_cmp(&b.worth)));
        Ok(order)
    }
}

/// Whether a file operation failed because the file system is full.
pub(super) fn is_no_space(why: &std::io::Error) -> bool {
    use std::io::ErrorKind::{QuotaExceeded, StorageFull};
    matches!(why.kind(), StorageFull | QuotaExceeded)
}
