//! Maintenance: remove old values, keep the [limits](super::limits), then copy live records out of wasteful segments and
//! delete those.
//!
//! Other processes keep running meanwhile. A lock admits one maintainer at a time. Segments of living writers are not
//! touched. A copy keeps its stamp, so a reader may see the old record, the new one, or both. A removal mark is kept
//! while another segment has a record that it removed.

use std::io::ErrorKind;

use super::evict::Cut;
use super::format::{Form, HEADS, Head, Header, UNIT, Usage, decode_heads};
use super::index::IndexEntry;
use super::io::{Lock, is_not_ours, on_disk, read_exact_at};
use super::load::Listing;
use super::read::{Buffer, ReadResult};
use super::segment::{ScanPosition, Segment, SegmentState, scan};
use super::snapshot::{self, Contents, RecordInfo};
use super::write::{USES, encode_uses};
use super::writer::{AppendError, END_OF_IDS, SegmentWriter};
use super::{Name, Store};
use crate::base::{Result, error, sort_slowly, try_collect, try_push};

/// A segment is copied when more than one part in this many of it is dead: a quarter.
const WASTEFUL: u64 = 4;
/// A segment shorter than one part in this many of the segment limit is small. Small segments are merged if there are
/// at least [`MANY`].
const SMALL_SHARE: u64 = 4;
const MANY: usize = 4;
/// Segments that one call copies at most.
const MERGED: usize = 512;
/// Values that one call removes because of their age, at most.
const AGED: usize = 256;
/// Leftover files that one call removes, at most.
const REMOVED: usize = 256;
/// Segments of dead writers that one call seals, at most.
const SEALED: usize = 8;
/// Segments of other writers that one call syncs, at most.
const SYNCED: usize = 16;
/// An unused claim is removed after this time: a day.
const STALE_CLAIM_SECONDS: u64 = 24 * 60 * 60;

/// The lock of a segment whose lock file is no file of this user.
struct NoLock;

impl Lock for NoLock {}

/// Result of a maintenance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Maintained {
    /// Another process is maintaining; nothing was done.
    pub busy: bool,
    /// Values evicted to make room.
    pub evicted: u64,
    /// Values removed because they were unused for too long.
    pub aged: u64,
    /// Bytes of records copied.
    pub copied_bytes: u64,
    /// Bytes on the disk that merges have freed: those of their sources, less those of the copies.
    pub freed_bytes: u64,
    /// Segments unlinked.
    pub unlinked: u64,
    /// The budget was too small for all segments: call again.
    pub more: bool,
}

/// A segment that may be rewritten, with the lock of its dead writer if it was not sealed.
pub(super) struct RewriteCandidate {
    pub id: u64,
    /// Bytes of records to copy.
    pub live_bytes: u64,
    pub length: u64,
    lock: Option<Box<dyn Lock>>,
}

/// The records of a segment that are copied before it is deleted. Uses are copied with values.
pub(super) enum Keep {
    /// Current values of enough worth, and marks.
    Worth(Cut),
    /// Only marks that hide older values in other segments.
    Marks,
}

impl Keep {
    /// All current values.
    pub const ALL: Self = Self::Worth(Cut::NOTHING);

    /// Whether a current value is copied.
    pub fn keeps(&self, entry: &IndexEntry) -> bool {
        matches!(self, Self::Worth(cut) if cut.keeps(entry))
    }

    /// Whether the environment goes as a whole.
    pub fn removes(&self, environment: u64) -> bool {
        matches!(self, Self::Worth(cut) if cut.removes(environment))
    }
}

impl Store {
    /// Evict, age out and merge. Copies about `budget_bytes` at most, but at least one segment. Call it in the
    /// background after start-up and after many puts.
    pub fn maintain(&mut self, budget_bytes: u64) -> Result<Maintained> {
        self.must_be_writable()?;
        self.appended = 0;
        self.retry_full();
        // A failure here, such as a full disk, makes eviction more urgent. Sealing is retried later.
        let _ = self.seal_full();
        self.refresh()?;
        let mut done = Maintained::default();
        if self.segments.is_empty() {
            return Ok(done);
        }
        let Some(lock) = self.try_maintenance()? else {
            done.busy = true;
            return Ok(done);
        };
        let maintained = self.maintain_alone(budget_bytes, &mut done);
        self.end_maintenance(lock);
        maintained.map(|()| done)
    }

    fn maintain_alone(&mut self, budget_bytes: u64, done: &mut Maintained) -> Result<()> {
        // Without space for removal marks there is still eviction.
        let aged = self.age_out(done);
        if self.sync_some_of_others()? {
            done.more = true;
            return aged;
        }
        self.measure(0)?;
        if self.is_nearly_full() && self.reclaim_piece(0, done)? {
            done.more = true;
            return aged;
        }
        let mut chosen = self.choose(budget_bytes, done)?;
        while !chosen.is_empty() {
            let keep = Keep::ALL;
            let (mut copied, spare, marks) = (0, self.space.spare(), self.mark_bytes(&keep)?);
            let affordable = chosen.iter().take_while(|candidate| {
                copied += candidate.live_bytes;
                copied += self.segment_position(candidate.id).map_or(0, |position| marks[position]);
                copied <= spare
            });
            let count = affordable.count();
            if count == 0 {
                break;
            }
            let rest = chosen.split_off(count);
            self.space.is_full = false;
            match self.merge(std::mem::replace(&mut chosen, rest), &keep, done) {
                // Writes delete segments for themselves on a full disk.
                Err(_) if self.space.is_full => break,
                merged => merged?,
            }
            self.measure(0)?;
        }
        self.space.is_full = false;
        match self.clean_up(budget_bytes, done) {
            // Segments without snapshots are read, too.
            Err(_) if self.space.is_full => {}
            cleaned => cleaned?,
        }
        done.more |= !self.is_loaded();
        aged
    }

    /// Remove values that were not used for long. The clock may be wrong, so it does not decide alone: ages end at the
    /// newest use before this launch.
    fn age_out(&mut self, done: &mut Maintained) -> Result<()> {
        let limit = self.options.max_age_seconds;
        let end = self.last_activity.unwrap_or(0).min(self.seconds());
        let is_old = |entry: &IndexEntry| end.saturating_sub(entry.used) > limit;
        let mut left = AGED;
        for environment in self.environments()? {
            let of_it = || self.live().filter(move |entry| entry.row.environment == environment);
            if of_it().all(is_old) {
                if left == 0 {
                    break;
                }
                left -= 1;
                done.aged += of_it().count() as u64;
                self.mark_cleared(Some(environment))?;
            }
        }
        for position in 0..self.index.entries.len() {
            let entry = self.index.entries[position];
            if entry.is_live() && is_old(&entry) {
                if left == 0 {
                    done.more = true;
                    break;
                }
                left -= 1;
                self.remove(&entry.name())?;
                done.aged += 1;
            }
        }
        self.counts.aged += done.aged;
        Ok(())
    }

    /// Segments to rewrite, cheapest first.
    fn choose(&mut self, budget: u64, done: &mut Maintained) -> Result<Vec<RewriteCandidate>> {
        let small = self.segment_limit() / SMALL_SHARE;
        let mut candidates = self.candidates(&Keep::ALL)?;
        let many = candidates.iter().filter(|candidate| candidate.length < small).count() >= MANY;
        let is_wasteful =
            |candidate: &RewriteCandidate| candidate.live_bytes < candidate.length / WASTEFUL * (WASTEFUL - 1);
        candidates.retain(|candidate| is_wasteful(candidate) || many && candidate.length < small);
        sort_slowly(&mut candidates, |one, other| (one.live_bytes, one.id).cmp(&(other.live_bytes, other.id)));
        let mut copied = 0;
        let affordable = candidates.iter().take(MERGED).take_while(|candidate| {
            copied += candidate.live_bytes;
            copied <= budget || copied == candidate.live_bytes
        });
        let count = affordable.count();
        let more = count < candidates.len();
        candidates.truncate(count);
        // Copying a single small segment gains nothing, however often it is repeated.
        if candidates.len() == 1 && !is_wasteful(&candidates[0]) {
            candidates.clear();
        }
        done.more |= more && !candidates.is_empty();
        Ok(candidates)
    }

    /// Readable segments without a living writer. This store can copy all values to keep in them. Their ids must be below
    /// those of the copies.
    pub(super) fn candidates(&mut self, keep: &Keep) -> Result<Vec<RewriteCandidate>> {
        let mut candidates = Vec::new();
        candidates.try_reserve_exact(self.segments.len())?;
        for position in 0..self.segments.len() {
            let Segment { id, state, length, live_bytes, has_long, is_cut, .. } = self.segments[position];
            let lock = match state {
                _ if is_cut || has_long && self.keeps_long(id, keep) => continue,
                _ if id >= END_OF_IDS => continue,
                SegmentState::Sealed => None,
                SegmentState::Open if !self.is_own(id) => match self.lock_orphan(id)? {
                    Some(lock) => Some(lock),
                    None => continue,
                },
                _ => continue,
            };
            candidates.push(RewriteCandidate { id, live_bytes, length, lock });
        }
        Ok(candidates)
    }

    /// Whether a segment has values to keep that are longer than this store may read.
    fn keeps_long(&self, id: u64, keep: &Keep) -> bool {
        let is_long = |entry: &IndexEntry| entry.row.stored.max(entry.row.raw) > self.options.entry_limit;
        self.live().any(|entry| entry.segment == id && is_long(entry) && keep.keeps(entry))
    }

    /// The lock of a segment whose writer has died; `None` if the writer lives, or if that is unknown.
    pub(super) fn lock_orphan(&mut self, id: u64) -> Result<Option<Box<dyn Lock>>> {
        let path = self.path(id, "live");
        match self.io.try_lock(&path) {
            // No writer has such a lock.
            Err(why) if is_not_ours(&why) => Ok(Some(Box::new(NoLock))),
            // One such file must not stop the eviction of other segments.
            Err(why) if why.kind() != ErrorKind::OutOfMemory => {
                self.failed("lock", &path, &why);
                Ok(None)
            }
            locked => locked.map_err(|why| self.failed("lock", &path, &why)),
        }
    }

    /// Copy the records to keep, sync the copies, delete the old segments.
    pub(super) fn merge(&mut self, chosen: Vec<RewriteCandidate>, keep: &Keep, done: &mut Maintained) -> Result<()> {
        let mut ids = try_collect(chosen.iter().map(|candidate| candidate.id))?;
        sort_slowly(&mut ids, Ord::cmp);
        // Read records that a dead writer appended since the last refresh.
        self.refresh()?;
        // Unread records would not be copied, and removal marks may be kept because of them.
        if !self.knows_all() {
            return Ok(());
        }
        let mut copy = Copy::default();
        let copied = self.copy_all(&ids, keep, &mut copy).and_then(|()| self.make_sure(&ids, &copy));
        if let Err(why) = copied {
            self.undo(copy);
            return Err(why);
        }
        done.copied_bytes += copy.targets.iter().map(|target| target.length).sum::<u64>();
        for (row, target) in copy.moved {
            self.show(row, target)?;
        }
        done.evicted += copy.evicted;
        self.counts.evicted += copy.evicted;
        let sources = self.segments.iter().filter(|segment| ids.binary_search(&segment.id).is_ok());
        let copies = copy.targets.iter().map(SegmentWriter::disk_bytes).sum();
        done.freed_bytes += sources.map(Segment::disk_bytes).sum::<u64>().saturating_sub(copies);
        // Delete first, since snapshots need disk space.
        self.unlink(&ids, done)?;
        copy.targets.into_iter().try_for_each(|target| self.seal_writer(target))
    }

    fn copy_all(&mut self, ids: &[u64], keep: &Keep, copy: &mut Copy) -> Result<()> {
        let is_chosen = |id: u64| ids.binary_search(&id).is_ok();
        let positions = self.index.in_place(|entry| is_chosen(entry.segment))?;
        let hidden = Hidden::of(&self.segments);
        let mut buffer = Buffer::default();
        for position in positions {
            let entry = self.index.entries[position];
            let is_evicted = entry.is_live() && !keep.keeps(&entry);
            let is_read = entry.is_live() && !is_evicted;
            match if is_read { self.read_record(&entry, &mut buffer)? } else { ReadResult::Damaged } {
                ReadResult::Whole => {
                    let Some((header, payload)) = buffer.record() else { continue };
                    // The snapshot's stamp was used so far, so the copy keeps it, even if the record has another.
                    self.copy_record(&Header { stamp: entry.row.stamp, ..*header }, payload, copy)?;
                }
                // The records that replaced it are not known yet; continuing would unlink them.
                ReadResult::Missing => {
                    let directory = self.directory.display();
                    return Err(error!(Busy, "another process changes the segments of '{directory}': call again"));
                }
                // Segments with live values that are too long are not rewritten.
                ReadResult::Damaged | ReadResult::TooLong => {
                    self.counts.damaged += u64::from(is_read);
                    if is_evicted {
                        // A removal mark takes effect at once.
                        (self.options.evicted)(&entry.name());
                        copy.evicted += 1;
                    }
                    if entry.row.stamp != 0 && hidden.may_outlive(entry.row.stamp, entry.segment, is_evicted) {
                        self.copy_mark(&RecordInfo { form: Form::Removed, ..entry.row }, copy)?;
                    }
                }
            }
        }
        for position in 0..self.index.cleared.len() {
            let cleared = self.index.cleared[position];
            if is_chosen(cleared.segment) && hidden.may_outlive(cleared.row.stamp, cleared.segment, false) {
                self.copy_mark(&cleared.row, copy)?;
            }
        }
        let have_uses = |segment: &Segment| is_chosen(segment.id) && segment.uses > 0;
        if matches!(keep, Keep::Worth(_)) && self.segments.iter().any(have_uses) {
            self.copy_uses(keep, copy)?;
        }
        Ok(())
    }

    fn copy_mark(&mut self, row: &RecordInfo, copy: &mut Copy) -> Result<()> {
        let RecordInfo { kind, form, raw, build_us, stamp, environment, key, .. } = *row;
        let payload_hash = self.checks.payload(&[]);
        let header = Header { kind, form, stored: 0, raw, build_us, stamp, environment, key, payload_hash };
        self.copy_record(&header, &[], copy)
    }

    /// Copy the use counts of all live values: merged segments may hold those of values in other segments.
    fn copy_uses(&mut self, keep: &Keep, copy: &mut Copy) -> Result<()> {
        let is_used = |entry: &&IndexEntry| entry.uses > 1 || entry.used > (entry.row.stamp >> 32) as u32;
        let used = self.live().filter(is_used).filter(|entry| keep.keeps(entry));
        let usage =
            |entry: &IndexEntry| Usage { name_hash: entry.name().hash(), second: entry.used, count: entry.uses };
        let uses = try_collect(used.map(usage))?;
        for uses in uses.chunks(USES) {
            let payload = encode_uses(uses)?;
            let header = Header::new(&Name::default(), Form::Uses, self.stamp(), &payload, &self.checks);
            self.copy_record(&header, &payload, copy)?;
            let Some(target) = copy.targets.last_mut() else { continue };
            target.contents.uses.try_reserve(uses.len())?;
            target.contents.uses.extend_from_slice(uses);
        }
        Ok(())
    }

    fn copy_record(&mut self, header: &Header, payload: &[u8], copy: &mut Copy) -> Result<()> {
        let limit = self.segment_limit();
        if copy.targets.last().is_none_or(|target| target.is_full_for(header.size(), limit)) {
            let target = self.begin_copies()?;
            try_push(&mut copy.targets, target)?;
        }
        copy.moved.try_reserve(1)?;
        let Some(target) = copy.targets.last_mut() else { return Ok(()) };
        match target.append(header, payload) {
            Ok(row) => {
                if header.form != Form::Uses {
                    copy.moved.push((row, target.id));
                }
                Ok(())
            }
            Err(AppendError::Refused(why)) => Err(why),
            Err(AppendError::Failed { why, .. }) => {
                let path = self.path(target.id, "seg");
                Err(self.failed("write", &path, &why))
            }
        }
    }

    /// Sync the copies, and all segments whose records made other records dead. Otherwise deleting could destroy the
    /// last good copy of a value. The snapshots go first: one must not outlive the bytes of its segment.
    fn make_sure(&mut self, ids: &[u64], copy: &Copy) -> Result<()> {
        let copied = |target: &SegmentWriter| on_disk(target.length) + on_disk(target.snapshot_bytes());
        let copied = copy.targets.iter().map(copied).sum();
        self.remove_snapshots(ids, self.space.spare().saturating_sub(copied));
        for SegmentWriter { id, length, .. } in &copy.targets {
            if let Some(segment) = self.segment_mut(*id) {
                segment.length = *length;
            }
        }
        // This includes the copies and our own writer. Opening a missing segment may change the list, so collect the
        // ids first.
        for id in try_collect(self.unsynced())? {
            self.sync_segment(id)?;
        }
        self.sync_directory()
    }

    /// Segments with records that were not synced since they were read or written.
    fn unsynced(&self) -> impl Iterator<Item = u64> + '_ {
        let is_unsynced = |segment: &&Segment| segment.state == SegmentState::Open && segment.synced < segment.length;
        self.segments.iter().filter(is_unsynced).map(|segment| segment.id)
    }

    fn sync_segment(&mut self, id: u64) -> Result<()> {
        let length = self.segment_mut(id).map_or(0, |segment| segment.length);
        if let Some(file) = self.file(id)? {
            let path = self.path(id, "seg");
            file.sync().map_err(|why| self.failed("sync", &path, &why))?;
        }
        self.segment_mut(id).into_iter().for_each(|segment| segment.synced = length);
        Ok(())
    }

    /// Sync some segments of other writers, so that a merge has few to sync. False if there are only few.
    pub(super) fn sync_some_of_others(&mut self) -> Result<bool> {
        let mut ids = try_collect(self.unsynced().filter(|&id| !self.is_own(id)))?;
        if ids.len() <= SYNCED {
            return Ok(false);
        }
        ids.truncate(SYNCED);
        ids.iter().try_for_each(|&id| self.sync_segment(id)).map(|()| true)
    }

    fn undo(&mut self, copy: Copy) {
        for target in &copy.targets {
            self.remove_files(target.id);
        }
        let targets = copy.targets;
        self.drop_segments(|id| targets.iter().any(|target| target.id == id));
    }

    pub(super) fn unlink(&mut self, ids: &[u64], done: &mut Maintained) -> Result<()> {
        for &id in ids {
            self.remove_files(id);
        }
        self.unsynced.retain(|id| ids.binary_search(id).is_err());
        done.unlinked += ids.len() as u64;
        self.drop_segments(|id| ids.binary_search(&id).is_ok());
        self.sync_directory()
    }

    pub(super) fn remove_snapshot(&self, id: u64) {
        let _ = self.io.remove(&self.path(id, "idx"));
    }

    /// Remove the files of a segment; true if there was a segment. Anything that is no file of this user stays.
    pub(super) fn remove_files(&self, id: u64) -> bool {
        self.remove_snapshot(id);
        let is_removed = self.io.discard(&self.path(id, "seg")).is_ok();
        let _ = self.io.remove(&self.path(id, "idx.new"));
        let _ = self.io.discard(&self.path(id, "live"));
        is_removed
    }

    /// Seal the open segments of dead writers, reading about that many bytes but at least one segment, and remove orphaned
    /// files.
    fn clean_up(&mut self, budget: u64, done: &mut Maintained) -> Result<()> {
        let candidates = self.candidates(&Keep::ALL)?;
        // Read records that they appended since the last refresh: a sealed segment is not read again.
        self.refresh()?;
        if !self.knows_all() {
            return Ok(());
        }
        let (mut read, mut tried, mut is_any_sealed) = (0, 0, false);
        for RewriteCandidate { id, length, .. } in candidates.into_iter().filter(|orphan| orphan.lock.is_some()) {
            if read > 0 && read + length > budget || tried == SEALED {
                // One that cannot be sealed is not tried for ever.
                done.more |= is_any_sealed;
                return Ok(());
            }
            (read, tried) = (read + length, tried + 1);
            is_any_sealed |= self.seal_orphan(id)?;
        }
        // The rest would wait for the next maintenance without a reason.
        done.more |= self.pack_some()? && self.has_many_short();
        done.more |= self.clear_away()?;
        Ok(())
    }

    /// Remove orphaned files, up to [`REMOVED`]. True if there may be more.
    fn clear_away(&mut self) -> Result<bool> {
        let listing = self.list()?;
        let mut removed = 0;
        let exists = |id: u64| listing.segments.binary_search(&id).is_ok();
        let snapshots = listing.snapshots.iter().map(|&id| (id, "idx"));
        let unfinished = listing.unfinished.iter().map(|&id| (id, "idx.new"));
        for (id, extension) in snapshots.chain(unfinished).filter(|&(id, _)| !exists(id)) {
            removed += usize::from(self.io.remove(&self.path(id, extension)).is_ok());
            if removed == REMOVED {
                return Ok(true);
            }
        }
        for &stamp in &listing.clearings {
            // A segment that this store does not read may have older records, too.
            let may_hide = |segment: &Segment| segment.oldest < stamp || segment.state == SegmentState::Foreign;
            if !self.segments.iter().any(may_hide) {
                let _ = self.io.remove(&self.path(stamp, "clear"));
            }
        }
        self.remove_damaged(&listing, usize::MAX)?;
        self.clear_away_packs(&listing);
        let now = u64::from(self.seconds());
        let is_stale = |id: u64| (id >> 32) + STALE_CLAIM_SECONDS < now;
        for &id in &listing.claims {
            let is_sealed = self.segment_mut(id).is_some_and(|segment| segment.state == SegmentState::Sealed);
            if is_sealed || !exists(id) && is_stale(id) {
                let path = self.path(id, "live");
                if let Ok(Some(_held)) = self.io.try_lock(&path) {
                    removed += usize::from(self.io.remove(&path).is_ok());
                }
            }
            if removed == REMOVED {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Remove segments that no process can read, and return their number. Their heads are damaged, were never written, or
    /// were emptied with the file to delete it.
    pub(super) fn remove_damaged(&mut self, listing: &Listing, most: usize) -> Result<usize> {
        let mut removed = 0;
        for &id in &listing.segments {
            let may_be = self.segment_mut(id).is_none_or(|segment| segment.state == SegmentState::Damaged);
            if may_be && self.remove_if_damaged(id)? {
                removed += 1;
            }
            if removed == most {
                break;
            }
        }
        Ok(removed)
    }

    fn remove_if_damaged(&mut self, id: u64) -> Result<bool> {
        let Ok(file) = self.io.open(&self.path(id, "seg")) else { return Ok(false) };
        let Some(_held) = self.lock_orphan(id)? else { return Ok(false) };
        let mut heads = [0; HEADS];
        // Its writer may have written them before it died.
        let is_damaged = match read_exact_at(&*file, &mut heads, 0) {
            Ok(true) => decode_heads(&heads, id, self.checks.format) == Head::Damaged,
            Ok(false) => true,
            Err(_) => false,
        };
        Ok(is_damaged && self.remove_files(id))
    }

    /// Write the snapshot of a segment whose writer has died; false if that is not possible.
    fn seal_orphan(&mut self, id: u64) -> Result<bool> {
        let Some(file) = self.file(id)? else { return Ok(false) };
        let Some(&mut Segment { seed, state: SegmentState::Open, .. }) = self.segment_mut(id) else { return Ok(false) };
        let mut contents = Contents::default();
        let (from, limits) = (ScanPosition::after(HEADS as u64), self.scan_limits());
        let checks = self.checks;
        let scanned = scan(&*file, &checks, seed, from, limits, &mut u64::MAX.clone(), |offset, header, payload| {
            let Ok(unit) = u32::try_from(offset / UNIT) else { return Ok(()) };
            if header.form == Form::Uses {
                return payload
                    .chunks_exact(Usage::SIZE)
                    .try_for_each(|used| try_push(&mut contents.uses, Usage::decode(used)));
            }
            try_push(&mut contents.rows, RecordInfo::new(header, unit))
        });
        match scanned {
            Ok(scanned) => {
                let bytes = on_disk(snapshot::bytes_of(contents.rows.len() as u64, contents.uses.len() as u64));
                if bytes > self.space.left {
                    return Ok(false);
                }
                let path = self.path(id, "seg");
                file.sync().map_err(|why| self.failed("sync", &path, &why))?;
                self.write_snapshot(id, seed, scanned.position.end, &contents)?;
                self.space.take(bytes);
                let _ = self.io.discard(&self.path(id, "live"));
                Ok(true)
            }
            // Keep it unsealed; it is read record by record.
            Err(_) => Ok(false),
        }
    }
}

/// Old records in the segments, which removals and replacements hide.
pub(super) struct Hidden {
    /// Smallest stamps of values in segments with replaced or removed values, and the ids of those segments.
    oldest: [(u64, u64); 2],
    has_foreign: bool,
}

impl Hidden {
    pub fn of(segments: &[Segment]) -> Self {
        let mut oldest = [(u64::MAX, 0); 2];
        for segment in segments {
            if segment.hides_older_than(oldest[1].0) {
                oldest[1] = (segment.oldest, segment.id);
                sort_slowly(&mut oldest, Ord::cmp);
            }
        }
        // A version that reads those segments may read this one, too.
        let has_foreign = segments.iter().any(|segment| segment.state == SegmentState::Foreign);
        Self { oldest, has_foreign }
    }

    /// Whether another segment has a record that this removal or replacement hides. Its own segment is deleted as a
    /// whole.
    pub fn may_outlive(&self, stamp: u64, segment: u64, is_evicted: bool) -> bool {
        self.oldest.iter().any(|&(oldest, id)| oldest < stamp && id != segment) || self.has_foreign && !is_evicted
    }
}

/// Targets of the copies, and the records that were copied there.
#[derive(Default)]
struct Copy {
    targets: Vec<SegmentWriter>,
    moved: Vec<(RecordInfo, u64)>,
    /// Number of values that were not copied.
    evicted: u64,
}
