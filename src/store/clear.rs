//! Deleting everything in a directory, so that nobody needs to delete the directory itself.

use super::Store;
use super::segment::SegmentState;
use crate::base::Result;

/// Result of [`Store::clear_all`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cleared {
    /// Segments deleted.
    pub unlinked: u64,
    /// Segments that are still there. Their values are removed. Living processes write them, or they could not be
    /// deleted.
    pub left: u64,
}

impl Store {
    /// Delete the values of all environments and the files that hold them, also those of other formats and secrets.
    /// Segments that living processes write are kept, without their values; those processes, or a later maintenance,
    /// delete them. Files of other programs are unchanged.
    pub fn clear_all(&mut self) -> Result<Cleared> {
        self.must_be_writable()?;
        // On a full disk, there may be room for the mark only afterwards.
        let mut marked = self.clear(None);
        let listing = self.list()?;
        if listing.ids().next().is_none() {
            return marked.map(|()| Cleared::default());
        }
        let path = self.path_of("maintain.lock");
        let Ok(Some(_held)) = self.io.try_lock(&path) else {
            // The mark has removed all values. Files are unlinked by a later maintenance.
            let left = listing.segments.len() as u64;
            return marked.map(|()| Cleared { unlinked: 0, left });
        };
        for id in listing.ids().filter(|&id| !self.is_own(id)) {
            // The lock shows that no living process writes the segment.
            if let Ok(Some(_writer)) = self.io.try_lock(&self.path(id, "live")) {
                self.remove_files(id);
            }
        }
        if marked.is_err() {
            marked = self.clear(None);
        }
        let mut remaining = self.list()?;
        let is_only_ours = remaining.segments.iter().all(|&id| self.is_own(id));
        if is_only_ours {
            // The mark hides nothing any more.
            let (writer, full) = (self.writer.take(), std::mem::take(&mut self.full));
            writer.iter().chain(&full).for_each(|own| self.remove_files(own.id));
            self.claim = None;
            for &stamp in &listing.clearings {
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
        let left = remaining.segments.len();
        let unlinked = listing.segments.iter().filter(|id| remaining.segments.binary_search(id).is_err()).count();
        if unlinked > 0 {
            self.sync_directory()?;
        }
        marked.map(|()| Cleared { unlinked: unlinked as u64, left: left as u64 })
    }
}
