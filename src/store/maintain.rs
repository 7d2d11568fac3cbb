//! Maintenance: evict the values least worth keeping, then copy live records out of wasteful segments and unlink those.
//!
//! A value's worth is uses × build time, per byte and per time since the last use. This is hyperbolic caching
//! (Blankstein, Sen and Freedman, 2017) with the costs of GreedyDual-Size-Frequency. Unlike GreedyDual, it needs no
//! clock on the disk.
//!
//! Other processes keep running meanwhile. A lock admits one maintainer at a time. Segments of living writers are not
//! touched. A copy keeps its stamp, so a reader may see the old record, the new one, or both. A removal mark is kept
//! while another segment might hold a record that it removed.

use super::format::{Form, HEADS, Header, UNIT, Usage, hash};
use super::index::IndexEntry;
use super::io::Lock;
use super::read::{Buffer, ReadResult};
use super::segment::{Segment, SegmentState, scan};
use super::snapshot::{Contents, RecordInfo};
use super::write::{AppendError, END_OF_IDS, SegmentWriter, encode_uses};
use super::{Name, Store};
use crate::base::{Result, error, try_collect, try_push};

/// A segment is copied when more than one part in this many of it is dead: a quarter.
const WASTEFUL: u64 = 4;
/// A segment shorter than one part in this many of the segment limit is small. Small segments are merged if there are
/// at least [`MANY`].
const SMALL_SHARE: u64 = 4;
const MANY: usize = 4;
/// Tenths of the limit that remain after an eviction.
const KEPT_TENTHS: u64 = 9;
/// Added to the seconds since the last use, so that uses within the last hour weigh about the same.
const RECENT_SECONDS: u32 = 3600;
/// An unused claim is removed after this time: a day.
const STALE_CLAIM_SECONDS: u64 = 24 * 60 * 60;

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
    /// Segments unlinked.
    pub unlinked: u64,
    /// The budget was too small for all segments: call again.
    pub more: bool,
}

/// A segment that may be rewritten, with the lock of its dead writer if it was not sealed.
struct RewriteCandidate {
    id: u64,
    live_bytes: u64,
    length: u64,
    lock: Option<Box<dyn Lock>>,
}

impl Store {
    /// Evict, age out and merge. Copies about `budget_bytes` at most, but at least one segment. Call it in the
    /// background after start-up and after many puts.
    pub fn maintain(&mut self, budget_bytes: u64) -> Result<Maintained> {
        self.must_be_writable()?;
        self.appended = 0;
        // A failure here, such as a full disk, makes eviction more urgent. Sealing is retried later.
        let _ = self.seal_full();
        self.refresh()?;
        let mut done = Maintained::default();
        if self.segments.is_empty() {
            return Ok(done);
        }
        let path = self.directory.join("maintain.lock");
        let lock = self.io.try_lock(&path).map_err(|why| self.failed("lock", &path, &why))?;
        let Some(_lock) = lock else {
            done.busy = true;
            return Ok(done);
        };
        self.age_out(&mut done)?;
        self.evict(&mut done)?;
        if self.wastes_its_own() {
            self.seal()?;
        }
        let chosen = self.choose(budget_bytes, &mut done)?;
        if !chosen.is_empty() {
            self.merge(chosen, &mut done)?;
        }
        self.clean_up()?;
        Ok(done)
    }

    /// Whether this process's own segment should be rewritten: its dead bytes exceed a quarter of the limit.
    fn wastes_its_own(&self) -> bool {
        let own = self.writer.as_ref().map(|writer| writer.id);
        let dead = |segment: &Segment| segment.length.saturating_sub(segment.live_bytes);
        let is_wasted =
            |segment: &Segment| Some(segment.id) == own && dead(segment) > self.options.limit_bytes / WASTEFUL;
        self.segments.iter().any(is_wasted)
    }

    fn age(&self, entry: &IndexEntry) -> u32 {
        self.seconds().saturating_sub(entry.used)
    }

    fn age_out(&mut self, done: &mut Maintained) -> Result<()> {
        let limit = self.options.max_age_seconds;
        for environment in self.environments()? {
            let of_it = || self.live().filter(move |entry| entry.row.environment == environment);
            if of_it().all(|entry| self.age(entry) > limit) {
                done.aged += of_it().count() as u64;
                self.clear(Some(environment))?;
            }
        }
        for position in 0..self.index.entries.len() {
            let entry = self.index.entries[position];
            if entry.is_live() && self.age(&entry) > limit {
                self.remove(&entry.name())?;
                done.aged += 1;
            }
        }
        self.counts.aged += done.aged;
        Ok(())
    }

    fn evict(&mut self, done: &mut Maintained) -> Result<()> {
        for environment in self.environments()? {
            let held =
                self.live().filter(|entry| entry.row.environment == environment).map(IndexEntry::live_bytes).sum();
            if held > self.options.limit_bytes {
                self.evict_from(environment, held, done)?;
            }
        }
        self.counts.evicted += done.evicted;
        Ok(())
    }

    fn evict_from(&mut self, environment: u64, mut held: u64, done: &mut Maintained) -> Result<()> {
        let keep = self.options.limit_bytes / 10 * KEPT_TENTHS;
        let entries = self.index.entries.iter().enumerate();
        let here = entries.filter(|(_, entry)| entry.is_live() && entry.row.environment == environment);
        let mut victims = try_collect(here.map(|(position, entry)| (self.worth(entry), position)))?;
        victims.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        for (_, position) in victims {
            if held <= keep {
                break;
            }
            let entry = self.index.entries[position];
            self.remove(&entry.name())?;
            held -= entry.live_bytes();
            done.evicted += 1;
        }
        Ok(())
    }

    fn worth(&self, entry: &IndexEntry) -> f64 {
        let saves = f64::from(entry.uses) * (f64::from(entry.row.build_us) + 1.0);
        let since = f64::from(self.age(entry)) + f64::from(RECENT_SECONDS);
        saves / (entry.live_bytes() as f64 * since)
    }

    /// Segments to rewrite, cheapest first.
    fn choose(&mut self, budget: u64, done: &mut Maintained) -> Result<Vec<RewriteCandidate>> {
        let small = self.options.segment_limit / SMALL_SHARE;
        let mut candidates = self.candidates()?;
        let many = candidates.iter().filter(|candidate| candidate.length < small).count() >= MANY;
        let is_wasteful =
            |candidate: &RewriteCandidate| candidate.live_bytes < candidate.length / WASTEFUL * (WASTEFUL - 1);
        candidates.retain(|candidate| is_wasteful(candidate) || many && candidate.length < small);
        candidates.sort_unstable_by_key(|candidate| (candidate.live_bytes, candidate.id));
        let mut copied = 0;
        let affordable = candidates.iter().take_while(|candidate| {
            copied += candidate.live_bytes;
            copied <= budget || copied == candidate.live_bytes
        });
        let count = affordable.count();
        done.more = count < candidates.len();
        candidates.truncate(count);
        // Copying a single small segment gains nothing, however often it is repeated.
        if candidates.len() == 1 && !is_wasteful(&candidates[0]) {
            candidates.clear();
            done.more = false;
        }
        Ok(candidates)
    }

    /// Readable segments without a living writer. Their ids must be below those of the copies.
    fn candidates(&mut self) -> Result<Vec<RewriteCandidate>> {
        let mut candidates = Vec::new();
        candidates.try_reserve_exact(self.segments.len())?;
        for position in 0..self.segments.len() {
            let Segment { id, state, length, live_bytes, .. } = self.segments[position];
            let lock = match state {
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

    /// The lock of a segment whose writer has died; `None` if the writer lives.
    fn lock_orphan(&mut self, id: u64) -> Result<Option<Box<dyn Lock>>> {
        let path = self.path(id, "live");
        self.io.try_lock(&path).map_err(|why| self.failed("lock", &path, &why))
    }

    /// Copy live records, sync the copies, unlink the old segments.
    fn merge(&mut self, chosen: Vec<RewriteCandidate>, done: &mut Maintained) -> Result<()> {
        let mut ids = try_collect(chosen.iter().map(|candidate| candidate.id))?;
        ids.sort_unstable();
        // Read records that a dead writer appended since the last refresh.
        self.refresh()?;
        // Unread records would not be copied, and removal marks may be kept because of them.
        if !self.is_all_read {
            return Ok(());
        }
        let mut copy = Copy { targets: Vec::new(), moved: Vec::new() };
        let copied = self.copy_all(&ids, &mut copy).and_then(|()| self.make_sure(&copy));
        if let Err(why) = copied {
            self.undo(copy);
            return Err(why);
        }
        done.copied_bytes += copy.targets.iter().map(|target| target.length).sum::<u64>();
        for (row, target) in copy.moved {
            self.show(row, target)?;
        }
        // Unlink first, since snapshots need disk space.
        self.unlink(&ids, done)?;
        copy.targets.into_iter().try_for_each(|target| self.seal_writer(target))
    }

    fn copy_all(&mut self, ids: &[u64], copy: &mut Copy) -> Result<()> {
        let is_chosen = |id: u64| ids.binary_search(&id).is_ok();
        let positions = self.index.in_place(|entry| is_chosen(entry.segment))?;
        let mut buffer = Buffer::default();
        for position in positions {
            let entry = self.index.entries[position];
            let found = if entry.is_live() { self.read_record(&entry, &mut buffer)? } else { ReadResult::Damaged };
            match found {
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
                ReadResult::Damaged => {
                    self.counts.damaged += u64::from(entry.is_live());
                    if entry.row.stamp != 0 && self.may_outlive(entry.row.stamp, entry.segment) {
                        self.copy_mark(&RecordInfo { form: Form::Removed, ..entry.row }, copy)?;
                    }
                }
            }
        }
        for position in 0..self.index.cleared.len() {
            let cleared = self.index.cleared[position];
            if is_chosen(cleared.segment) && self.may_outlive(cleared.row.stamp, cleared.segment) {
                self.copy_mark(&cleared.row, copy)?;
            }
        }
        self.copy_uses(copy)
    }

    /// Whether another segment may hold a record that this removal hides. The removal's own segment is unlinked as a
    /// whole.
    fn may_outlive(&self, stamp: u64, segment: u64) -> bool {
        let may_hold = |other: &&Segment| other.id != segment && (other.oldest < stamp || !other.is_readable());
        self.segments.iter().find(may_hold).is_some()
    }

    fn copy_mark(&mut self, row: &RecordInfo, copy: &mut Copy) -> Result<()> {
        let RecordInfo { kind, form, raw, build_us, stamp, environment, key, .. } = *row;
        let payload_hash = hash(&[]);
        let header = Header { kind, form, stored: 0, raw, build_us, stamp, environment, key, payload_hash };
        self.copy_record(&header, &[], copy)
    }

    /// Copy the use counts of all live values: merged segments may hold those of values in other segments.
    fn copy_uses(&mut self, copy: &mut Copy) -> Result<()> {
        let used = self.live().filter(|entry| entry.uses > 1 || entry.used > (entry.row.stamp >> 32) as u32);
        let usage =
            |entry: &IndexEntry| Usage { name_hash: entry.name().hash(), second: entry.used, count: entry.uses };
        let uses = try_collect(used.map(usage))?;
        if uses.is_empty() {
            return Ok(());
        }
        let payload = encode_uses(&uses)?;
        let header = Header::new(&Name::default(), Form::Uses, self.stamp(), &payload);
        self.copy_record(&header, &payload, copy)?;
        let Some(target) = copy.targets.last_mut() else { return Ok(()) };
        target.contents.uses.try_reserve(uses.len())?;
        target.contents.uses.extend_from_slice(&uses);
        Ok(())
    }

    fn copy_record(&mut self, header: &Header, payload: &[u8], copy: &mut Copy) -> Result<()> {
        let limit = self.options.segment_limit;
        if copy.targets.last().is_none_or(|target| target.is_full_for(header.size(), limit)) {
            let target = self.begin_segment()?;
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

    /// Sync the copies, and all segments whose records made other records dead. Otherwise unlinking could destroy the
    /// last good copy of a value.
    fn make_sure(&mut self, copy: &Copy) -> Result<()> {
        for SegmentWriter { id, length, .. } in &copy.targets {
            if let Some(segment) = self.segment_mut(*id) {
                segment.length = *length;
            }
        }
        // This includes the copies and our own writer. Opening a missing segment may change the list, so collect the
        // ids first.
        let open = self.segments.iter().filter(|segment| segment.state == SegmentState::Open);
        for id in try_collect(open.map(|segment| segment.id))? {
            if let Some(file) = self.file(id)? {
                let path = self.path(id, "seg");
                file.sync().map_err(|why| self.failed("sync", &path, &why))?;
            }
        }
        self.sync_directory()
    }

    fn undo(&mut self, copy: Copy) {
        for target in &copy.targets {
            self.remove_files(target.id);
        }
        let targets = copy.targets;
        self.drop_segments(|id| targets.iter().any(|target| target.id == id));
    }

    fn unlink(&mut self, ids: &[u64], done: &mut Maintained) -> Result<()> {
        for &id in ids {
            self.remove_files(id);
        }
        done.unlinked += ids.len() as u64;
        self.drop_segments(|id| ids.binary_search(&id).is_ok());
        self.sync_directory()
    }

    /// Unlink the segment first: a snapshot without a segment has no effect.
    fn remove_files(&self, id: u64) {
        for extension in ["seg", "idx", "live"] {
            let _ = self.io.remove(&self.path(id, extension));
        }
    }

    /// Seal the open segments of dead writers and remove orphaned files.
    fn clean_up(&mut self) -> Result<()> {
        let candidates = self.candidates()?;
        // Read records that they appended since the last refresh: a sealed segment is not read again.
        self.refresh()?;
        if !self.is_all_read {
            return Ok(());
        }
        for RewriteCandidate { id, lock, .. } in candidates {
            if lock.is_some() {
                self.seal_orphan(id)?;
                let _ = self.io.remove(&self.path(id, "live"));
            }
        }
        self.clear_away()
    }

    /// Remove orphaned files.
    fn clear_away(&mut self) -> Result<()> {
        let listing = self.list()?;
        let exists = |id: u64| listing.segments.binary_search(&id).is_ok();
        for &id in listing.snapshots.iter().filter(|&&id| !exists(id)) {
            let _ = self.io.remove(&self.path(id, "idx"));
        }
        for &id in listing.unfinished.iter().filter(|&&id| !exists(id)) {
            let _ = self.io.remove(&self.path(id, "idx.new"));
        }
        for &id in &listing.segments {
            if self.segment_mut(id).is_none() {
                self.remove_unbegun(id)?;
            }
        }
        let now = u64::from(self.seconds());
        let is_stale = |id: u64| (id >> 32) + STALE_CLAIM_SECONDS < now;
        for &id in &listing.claims {
            let is_sealed = self.segment_mut(id).is_some_and(|segment| segment.state == SegmentState::Sealed);
            if is_sealed || !exists(id) && is_stale(id) {
                let path = self.path(id, "live");
                if let Ok(Some(_held)) = self.io.try_lock(&path) {
                    let _ = self.io.remove(&path);
                }
            }
        }
        Ok(())
    }

    /// Remove a segment whose writer died before it wrote the heads.
    fn remove_unbegun(&mut self, id: u64) -> Result<()> {
        let Some(_held) = self.lock_orphan(id)? else { return Ok(()) };
        let length = self.io.open(&self.path(id, "seg")).and_then(|file| file.length());
        if length.is_ok_and(|length| length < HEADS as u64) {
            self.remove_files(id);
        }
        Ok(())
    }

    fn seal_orphan(&mut self, id: u64) -> Result<()> {
        let Some(file) = self.file(id)? else { return Ok(()) };
        let Some(&mut Segment { seed, state: SegmentState::Open, .. }) = self.segment_mut(id) else { return Ok(()) };
        let mut contents = Contents::default();
        let from = HEADS as u64;
        let scanned = scan(&*file, seed, from, |offset, header, payload| {
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
                let path = self.path(id, "seg");
                file.sync().map_err(|why| self.failed("sync", &path, &why))?;
                self.write_snapshot(id, seed, scanned.end, &contents)
            }
            // Keep it unsealed; it is read record by record.
            Err(_) => Ok(()),
        }
    }
}

/// Targets of the copies, and the records that were copied there.
struct Copy {
    targets: Vec<SegmentWriter>,
    moved: Vec<(RecordInfo, u64)>,
}
