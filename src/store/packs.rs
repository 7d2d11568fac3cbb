//! Packs: files with the snapshots of many small segments, so that opening a directory reads few files.
//!
//! A pack is snapshots, one after the other. Each keeps its own checksum, so damage costs the scan of a segment, or of
//! those after it in the pack. A pack only makes opening faster: it is deleted where it cannot be written.
//!
//! The process that maintains writes a pack when [`MANY`] sealed segments have short snapshots of their own, and then
//! deletes those. A snapshot is packed once, so packing writes each at most twice. Before a segment is deleted, its
//! pack is written again without it.

use std::io::{self, ErrorKind};

use super::Store;
use super::io::{BLOCK, OTHER_OWNER, on_disk, read_exact_at};
use super::limits::SPARE;
use super::load::{Listing, Loading, OPENED};
use super::segment::{Segment, SegmentState, SnapshotPlace, resize};
use super::snapshot::{self, IndexSnapshot, Parts, SHORT};
use crate::base::{Result, try_collect};

/// Snapshots in a new pack.
pub(super) const MANY: usize = 16;
/// Longest pack that is read, in bytes.
pub(super) const LONGEST: u64 = 1 << 20;

/// A pack that was read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pack {
    pub id: u64,
    /// Of another format or secret: the store does not change it.
    pub is_foreign: bool,
}

impl Store {
    /// Load the segments of a pack that are listed and not known.
    pub(super) fn load_pack(&mut self, id: u64, loading: &mut Loading) -> Result<()> {
        if self.packs.iter().any(|pack| pack.id == id) {
            return Ok(());
        }
        self.packs.try_reserve(1)?;
        let mut bytes = std::mem::take(&mut loading.bytes);
        let length = match self.read_pack(id, &mut bytes)? {
            Ok(length) => length,
            Err(why) => {
                loading.bytes = bytes;
                self.not_a_pack(id, &why);
                return Ok(());
            }
        };
        loading.spend(OPENED + length as u64);
        let limits = self.scan_limits();
        let mut parts = Parts(&bytes[..length]);
        // A flipped bit in one of many does not make it foreign.
        let is_foreign =
            parts.clone().next().is_some() && parts.clone().all(|(_, part)| snapshot::is_foreign(part, &self.checks));
        for (of, part) in parts.by_ref().filter(|_| !is_foreign) {
            // Its segment was deleted.
            if loading.listing.segments.binary_search(&of).is_err() {
                continue;
            }
            let Some(snapshot) = IndexSnapshot::decode(part, of, limits.segment, &self.checks) else {
                self.counts.damaged += 1;
                continue;
            };
            match self.segment_mut(of) {
                Some(known) if known.is_readable() && known.seed == snapshot.seed => {
                    known.snapshot = SnapshotPlace::Pack(id);
                }
                Some(_) => {}
                None => self.show_snapshot(of, &snapshot, SnapshotPlace::Pack(id), loading)?,
            }
        }
        self.counts.damaged += u64::from(!parts.0.is_empty());
        self.packs.push(Pack { id, is_foreign });
        loading.bytes = bytes;
        Ok(())
    }

    /// A pack could not be read. Another kind of file, or one that is too long, is not read again; maintenance deletes it.
    fn not_a_pack(&mut self, id: u64, why: &io::Error) {
        if matches!(why.kind(), ErrorKind::InvalidInput | ErrorKind::InvalidData | OTHER_OWNER) {
            self.counts.damaged += 1;
            self.packs.push(Pack { id, is_foreign: false });
        } else if why.kind() != ErrorKind::NotFound {
            let path = self.path(id, "pack");
            self.failed("read", &path, why);
        }
    }

    /// Read a whole pack; returns its length.
    fn read_pack(&self, id: u64, bytes: &mut Vec<u8>) -> Result<io::Result<usize>> {
        let opened = self.io.open(&self.path(id, "pack")).and_then(|file| Ok((file.length()?, file)));
        let (length, file) = match opened {
            Ok((length, file)) if length <= LONGEST => (length as usize, file),
            Ok(_) => return Ok(Err(ErrorKind::InvalidData.into())),
            Err(why) => return Ok(Err(why)),
        };
        if bytes.len() < length {
            resize(bytes, length)?;
        }
        Ok(match read_exact_at(&*file, &mut bytes[..length], 0) {
            Ok(true) => Ok(length),
            Ok(false) => Err(ErrorKind::InvalidData.into()),
            Err(why) => Err(why),
        })
    }

    /// Forget packs that were deleted.
    pub(super) fn drop_missing_packs(&mut self, listed: &[u64]) {
        let is_missing = |id: u64| listed.binary_search(&id).is_err();
        self.packs.retain(|pack| !is_missing(pack.id));
        for segment in &mut self.segments {
            if matches!(segment.snapshot, SnapshotPlace::Pack(id) if is_missing(id)) {
                segment.lose_snapshot();
            }
        }
    }

    /// Whether enough segments have short snapshots of their own.
    pub(super) fn has_many_short(&self) -> bool {
        self.segments.iter().filter(|segment| is_packable(segment)).nth(MANY - 1).is_some()
    }

    /// [`pack_some`](Self::pack_some), for a process that does not maintain. A failure only makes opening slower.
    pub(super) fn pack_beside_others(&mut self) {
        if self.options.read_only || self.is_bundle() || !self.has_many_short() {
            return;
        }
        let Ok(Some(lock)) = self.try_maintenance() else { return };
        // Another process may have packed them.
        let _ = self.refresh().and_then(|()| self.pack_some());
        self.end_maintenance(lock);
    }

    /// Pack the first [`MANY`] short snapshots. False if there are fewer, or not enough space. The process maintains.
    pub(super) fn pack_some(&mut self) -> Result<bool> {
        if !self.has_many_short() {
            return Ok(false);
        }
        let chosen = || self.segments.iter().filter(|segment| is_packable(segment)).take(MANY);
        let mut ids = try_collect(chosen().map(|segment| segment.id))?;
        let length = chosen().map(Segment::snapshot_bytes).sum();
        self.measure(0)?;
        // Beside other writers, who may fill the space left, the maintaining process has reserved only its spare share.
        if on_disk(length) > self.space.left.min(self.space.limit / SPARE) {
            return Ok(false);
        }
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(length as usize)?;
        let mut failure = Ok(());
        ids.retain(|&id| {
            let added = self.append_snapshot(id, &mut bytes);
            let is_added = matches!(added, Ok(true));
            failure = std::mem::replace(&mut failure, Ok(())).and(added.map(drop));
            is_added
        });
        failure?;
        let Some(&last) = ids.last().filter(|_| ids.len() > 1) else { return Ok(false) };
        self.packs.try_reserve(1)?;
        let is_free = |id: &u64| self.packs.iter().all(|pack| pack.id != *id);
        let Some(id) = (last..=u64::MAX).find(is_free) else { return Ok(false) };
        self.write_pack(id, &bytes)?;
        self.sync_directory()?;
        self.packs.push(Pack { id, is_foreign: false });
        for of in ids {
            self.remove_snapshot(of);
            self.segment_mut(of).into_iter().for_each(|segment| segment.snapshot = SnapshotPlace::Pack(id));
        }
        Ok(true)
    }

    /// Append the snapshot of a segment to a new pack. False if it is invalid.
    fn append_snapshot(&mut self, id: u64, pack: &mut Vec<u8>) -> Result<bool> {
        let (begin, longest) = (pack.len(), self.scan_limits().segment);
        let is_read = match self.io.open(&self.path(id, "idx")).and_then(|file| Ok((file.length()?, file))) {
            Ok((length, file)) if length <= SHORT as u64 => {
                pack.try_reserve(length as usize)?;
                pack.resize(begin + length as usize, 0);
                read_exact_at(&*file, &mut pack[begin..], 0).is_ok_and(|is_read| is_read)
            }
            _ => false,
        };
        let Some(segment) = self.segment_position(id).map(|position| &mut self.segments[position]) else {
            return Ok(false);
        };
        let snapshot = IndexSnapshot::decode(&pack[begin..], id, longest, &self.checks);
        let is_valid = is_read && snapshot.is_some_and(|snapshot| snapshot.seed == segment.seed);
        if !is_valid {
            pack.truncate(begin);
            segment.lose_snapshot();
        }
        Ok(is_valid)
    }

    fn write_pack(&mut self, id: u64, bytes: &[u8]) -> Result<()> {
        let (fresh, path) = (self.path(id, "pack.new"), self.path(id, "pack"));
        self.write_file(&fresh, bytes)?;
        self.io.rename(&fresh, &path).map_err(|why| self.failed("rename", &fresh, &why))
    }

    /// Delete the snapshots of segments before those are deleted. Packs are written again without them, as far as `room`
    /// bytes go; otherwise they are deleted.
    pub(super) fn remove_snapshots(&mut self, ids: &[u64], room: u64) {
        ids.iter().for_each(|&id| self.remove_snapshot(id));
        let was_full = self.space.is_full;
        let goes = |segment: &Segment| ids.binary_search(&segment.id).is_ok();
        for position in 0..self.packs.len() {
            let id = self.packs[position].id;
            let in_it = |segment: &&Segment| segment.snapshot == SnapshotPlace::Pack(id);
            if !self.segments.iter().filter(in_it).any(goes) {
                continue;
            }
            let is_needed = room >= BLOCK && !self.segments.iter().filter(in_it).all(goes);
            let is_written = is_needed && self.write_pack_without(id, ids, room).unwrap_or(false);
            if !is_written {
                let _ = self.io.remove(&self.path(id, "pack"));
                self.segments.iter_mut().filter(|segment| in_it(&&**segment)).for_each(Segment::lose_snapshot);
            }
        }
        self.segments.iter_mut().filter(|segment| goes(segment)).for_each(Segment::lose_snapshot);
        self.space.is_full = was_full;
    }

    /// Write a pack again, without the snapshots of these segments and of missing ones. False if it would be empty, or too
    /// long.
    fn write_pack_without(&mut self, id: u64, ids: &[u64], room: u64) -> Result<bool> {
        let mut bytes = Vec::new();
        let Ok(length) = self.read_pack(id, &mut bytes)? else { return Ok(false) };
        let mut kept = Vec::new();
        kept.try_reserve_exact(length)?;
        for (of, part) in Parts(&bytes[..length]) {
            let known = self.segment_position(of).map(|position| &self.segments[position]);
            let is_known = known.is_some_and(|segment| segment.snapshot == SnapshotPlace::Pack(id));
            if is_known && ids.binary_search(&of).is_err() {
                kept.extend_from_slice(part);
            }
        }
        if kept.is_empty() || on_disk(kept.len() as u64) > room {
            return Ok(false);
        }
        self.write_pack(id, &kept).map(|()| true)
    }

    /// Delete all packs, also those of other formats and secrets.
    pub(super) fn remove_packs(&mut self, listing: &Listing) {
        for &id in &listing.packs {
            let _ = self.io.remove(&self.path(id, "pack"));
        }
        for &id in &listing.unfinished_packs {
            let _ = self.io.remove(&self.path(id, "pack.new"));
        }
        self.drop_missing_packs(&[]);
    }

    pub(super) fn is_foreign_pack(&self, id: u64) -> bool {
        self.packs.iter().any(|pack| pack.id == id && pack.is_foreign)
    }

    /// Delete packs without segments, for the bytes that they take. The process maintains.
    pub(super) fn free_packs(&mut self) -> Result<()> {
        let listing = self.list()?;
        self.clear_away_packs(&listing);
        Ok(())
    }

    /// Delete packs without segments, and the files of a process that was killed while it packed. The process maintains.
    pub(super) fn clear_away_packs(&mut self, listing: &Listing) {
        for &id in &listing.unfinished_packs {
            let _ = self.io.remove(&self.path(id, "pack.new"));
        }
        let is_used = |id: u64| self.segments.iter().any(|segment| segment.snapshot == SnapshotPlace::Pack(id));
        for pack in self.packs.iter().filter(|pack| !pack.is_foreign && !is_used(pack.id)) {
            let _ = self.io.remove(&self.path(pack.id, "pack"));
        }
        for segment in &self.segments {
            if matches!(segment.snapshot, SnapshotPlace::Pack(_))
                && listing.snapshots.binary_search(&segment.id).is_ok()
            {
                self.remove_snapshot(segment.id);
            }
        }
    }
}

fn is_packable(segment: &Segment) -> bool {
    segment.state == SegmentState::Sealed
        && segment.snapshot == SnapshotPlace::File
        && segment.snapshot_bytes() <= SHORT as u64
}
