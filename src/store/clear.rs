//! Clearing an environment or a whole directory, so that nobody needs to delete the directory itself.
//!
//! A mark removes all values at once. Then segments without other values are deleted. On a full disk, where the mark has
//! no space, some are deleted before: deleting needs no space.

use super::format::{Form, HEADER};
use super::index::IndexEntry;
use super::io::BLOCK;
use super::load::Listing;
use super::maintain::{Keep, Maintained};
use super::segment::SegmentState;
use super::writer::Record;
use super::{Name, Store};
use crate::base::{Result, sort_slowly, try_collect};

/// Segments that a piece of a clear deletes at most.
const DELETED: usize = 64;

/// Result of [`Store::clear_all`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cleared {
    /// Segments deleted.
    pub unlinked: u64,
    /// Segments that are still there. Their values are removed. Living processes write them, or they could not be
    /// deleted.
    pub left: u64,
    /// There is more to delete: call again.
    pub more: bool,
}

impl Store {
    /// Remove all values of an environment, or of all environments. This includes values that other processes have put.
    /// Segments without other values are deleted.
    ///
    /// If the process is killed meanwhile, all values are removed or none. On a full disk it may be some of them.
    pub fn clear(&mut self, environment: Option<u64>) -> Result<()> {
        while !self.clear_some(environment)? {}
        Ok(())
    }

    /// A piece of [`clear`](Self::clear). True when all is done.
    pub fn clear_some(&mut self, environment: Option<u64>) -> Result<bool> {
        self.must_be_writable()?;
        self.refresh()?;
        if !self.mark_if_space(environment)? {
            if !self.drop_cleared(environment, false)? {
                return Ok(false);
            }
            self.mark_cleared(environment)?;
        }
        // The values are removed. Maintenance deletes segments that stay.
        Ok(self.drop_cleared(environment, true).unwrap_or(true))
    }

    /// Remove the values of an environment or of all, and keep their files.
    pub(super) fn mark_cleared(&mut self, environment: Option<u64>) -> Result<()> {
        self.must_be_writable()?;
        self.refresh()?;
        self.mark_of(environment).map_or(Ok(()), |mark| self.append_mark(&mark, Form::Cleared))
    }

    /// [`mark_cleared`](Self::mark_cleared), but nothing is evicted for it. False if there is no space for the mark.
    fn mark_if_space(&mut self, environment: Option<u64>) -> Result<bool> {
        let Some(mark) = self.mark_of(environment) else { return Ok(true) };
        self.space.is_full = false;
        match self.append_two_marks(&mark) {
            Err(_) if self.space.is_full => Ok(false),
            marked => marked,
        }
    }

    fn append_two_marks(&mut self, mark: &Name) -> Result<bool> {
        // Each of the two may begin a segment.
        if !self.reserve_above_limit(self.growth(2 * HEADER as u64) + 3 * BLOCK)? {
            return Ok(false);
        }
        let stamp = self.stamp();
        let record = |stamp| Record::new(mark, Form::Cleared, stamp, &[], &self.checks);
        let marks = [record(stamp), record(stamp.saturating_add(1))];
        let mut written = 0;
        let first = self.append_run(&marks, &mut written);
        if written == 1 {
            // The second protects from a flipped bit. The values are removed without it.
            let _ = self.append_run(&marks[1..], &mut 0);
        }
        if written > 0 { Ok(true) } else { first.map(|()| true) }
    }

    /// The name of the mark; `None` if there is nothing to remove.
    fn mark_of(&self, environment: Option<u64>) -> Option<Name> {
        let is_cleared =
            |entry: &IndexEntry| environment.is_none_or(|environment| entry.row.environment == environment);
        let is_needed = !self.knows_all() || self.live().any(is_cleared);
        let kind = u8::from(environment.is_none());
        is_needed.then(|| Name { kind, environment: environment.unwrap_or(0), key: [0; 32] })
    }

    /// Delete some segments without values of other environments, also those that this process writes. Before the values
    /// are marked as removed: only segments that need no marks. False if there may be more to delete.
    pub(super) fn drop_cleared(&mut self, environment: Option<u64>, is_marked: bool) -> Result<bool> {
        // Maintenance deletes them later.
        if self.space.is_maintaining || !self.knows_all() || self.is_bundle() {
            return Ok(true);
        }
        let kept = self.segments_of_others(environment)?;
        let is_kept = |id: u64| kept.binary_search(&id).is_ok();
        if self.segments.iter().all(|segment| is_kept(segment.id)) {
            return Ok(true);
        }
        let Ok(Some(lock)) = self.try_maintenance() else { return Ok(true) };
        let evicted = self.counts.evicted;
        let given_up = self.give_up(|id| !is_kept(id));
        let dropped = given_up.and_then(|()| self.drop_some(environment, is_marked));
        // They were not evicted to make room.
        self.counts.evicted = evicted;
        self.end_maintenance(lock);
        dropped.map(|more| !more)
    }

    /// Segments with values of other environments than the cleared one, sorted.
    fn segments_of_others(&self, cleared: Option<u64>) -> Result<Vec<u64>> {
        let others = self.live().filter(|entry| cleared.is_some_and(|cleared| entry.row.environment != cleared));
        let mut segments = try_collect(others.map(|entry| entry.segment))?;
        sort_slowly(&mut segments, Ord::cmp);
        Ok(segments)
    }

    /// Delete segments without values of other environments: at first those that need no marks. True if there may be more.
    fn drop_some(&mut self, environment: Option<u64>, is_marked: bool) -> Result<bool> {
        // Locked, so that no writer appends to them from here on. One that has just ended may have appended before.
        let mut chosen = self.candidates(&Keep::Marks)?;
        self.refresh()?;
        if !self.knows_all() {
            return Ok(false);
        }
        let kept = self.segments_of_others(environment)?;
        let is_kept = |id: u64| kept.binary_search(&id).is_ok();
        let mut order = self.droppable(&chosen)?;
        order.retain(|droppable| !is_kept(droppable.id) && (is_marked || droppable.marks == 0));
        let Some(needs_marks) = order.first().map(|first| first.marks > 0) else { return Ok(false) };
        let same = order.iter().filter(|droppable| (droppable.marks > 0) == needs_marks);
        let mut ids = try_collect(same.take(DELETED).map(|droppable| droppable.id))?;
        sort_slowly(&mut ids, Ord::cmp);
        chosen.retain(|candidate| ids.binary_search(&candidate.id).is_ok());
        let mut done = Maintained::default();
        self.space.is_full = false;
        match self.merge(chosen, &Keep::Marks, &mut done) {
            // The values are removed all the same.
            Err(_) if self.space.is_full && needs_marks => Ok(false),
            Ok(()) => {
                // A file that cannot be deleted is not tried for ever.
                let there = self.list()?.segments;
                let is_gone = ids.iter().all(|id| there.binary_search(id).is_err());
                Ok(is_gone && done.unlinked > 0 && order.len() as u64 > done.unlinked)
            }
            Err(why) => Err(why),
        }
    }

    /// Delete the values of all environments and the files that hold them, also those of other formats and secrets.
    /// Segments that living processes write are kept, without their values; those processes, or a later maintenance,
    /// delete them. Files of other programs and users are unchanged.
    ///
    /// The first call removes the values and lists the files. Each call deletes up to 64 segments.
    pub fn clear_all(&mut self) -> Result<Cleared> {
        self.must_be_writable()?;
        // On a full disk, there may be room for the mark only afterwards.
        let mut marked = Ok(());
        let (mut ids, listed) = match self.to_clear.take() {
            Some(ids) => (ids, None),
            None => {
                marked = self.mark_cleared(None);
                let listing = self.list()?;
                let mut ids = try_collect(listing.ids())?;
                sort_slowly(&mut ids, Ord::cmp);
                ids.dedup();
                (ids, Some(listing))
            }
        };
        let has_packs = |listing: &Listing| !listing.packs.is_empty() || !listing.unfinished_packs.is_empty();
        if ids.is_empty() && !listed.as_ref().is_some_and(has_packs) {
            return marked.map(|()| Cleared::default());
        }
        let path = self.path_of("maintain.lock");
        let Ok(Some(_held)) = self.io.try_lock(&path) else {
            // The mark has removed all values. Files are unlinked by a later maintenance.
            let left = self.list()?.segments.len() as u64;
            return marked.map(|()| Cleared { left, ..Cleared::default() });
        };
        listed.iter().for_each(|listing| self.remove_packs(listing));
        let (mut tried, mut unlinked) = (0, 0);
        while tried < DELETED
            && let Some(id) = ids.pop()
        {
            // The lock shows that no living process writes the segment.
            if !self.is_own(id) && self.lock_orphan(id)?.is_some() {
                unlinked += u64::from(self.remove_files(id));
                tried += 1;
            }
        }
        if marked.is_err() {
            marked = self.mark_cleared(None);
        }
        if !ids.is_empty() {
            let left = ids.len() as u64;
            self.to_clear = marked.is_ok().then_some(ids);
            return marked.map(|()| Cleared { unlinked, left, more: true });
        }
        let mut remaining = self.list()?;
        if remaining.segments.iter().all(|&id| self.is_own(id)) {
            // The mark hides nothing any more. It is in the last segment.
            let (writer, full) = (self.writer.take(), std::mem::take(&mut self.full));
            unlinked += full.iter().chain(&writer).filter(|own| self.remove_files(own.id)).count() as u64;
            self.claim = None;
            for &stamp in &remaining.clearings {
                let _ = self.io.remove(&self.path(stamp, "clear"));
            }
            let _ = self.io.remove(&self.path_of("limits"));
            marked = Ok(());
            remaining = self.list()?;
        }
        self.loading = None;
        self.drop_segments(|id| remaining.segments.binary_search(&id).is_err());
        if !self.segments.iter().any(|segment| segment.state == SegmentState::Foreign) {
            self.foreign = None;
        }
        self.sync_directory()?;
        marked.map(|()| Cleared { unlinked, left: remaining.segments.len() as u64, more: false })
    }
}
