//! A segment that only this process writes: its name and lock, its records, its end.
//!
//! The writer of a segment holds the lock of the `.live` file beside it. The lock is taken before the segment is created;
//! the file is removed when the segment is sealed.

use std::io::{ErrorKind, IoSlice};
use std::path::Path;

use super::format::{Checks, Form, HEADER, HEADS, Header, UNIT, Usage, encode_heads};
use super::io::{Lock, SharedFile, is_not_ours, on_disk};
use super::segment::{Segment, SegmentState, SnapshotPlace};
use super::snapshot::{Contents, RecordInfo, bytes_of, encode};
use super::{Name, Store};
use crate::base::{Error, Result, error};

/// Segment ids to try before reporting that other processes are in the way.
const ATTEMPTS: usize = 64;
/// Bound of segment ids: new ids start below it, or a little above. Greater ids are files that somebody placed to block
/// new segments.
pub(super) const END_OF_IDS: u64 = 0xffff_0000 << 32;
/// Most records per system call. Each call costs the system a search for its place in the file, and longer writes get
/// longer pieces of memory. Writing a run of 16 takes two thirds of the time.
pub(super) const RUN: usize = 16;
/// Greatest offset that a row can hold.
pub(super) const LONGEST_SEGMENT: u64 = u32::MAX as u64 * UNIT;
const PADDING: [u8; UNIT as usize] = [0; UNIT as usize];

/// A claimed segment id, with its lock.
pub(super) struct Claim {
    pub id: u64,
    pub lock: Box<dyn Lock>,
}

/// A record to append.
pub(super) struct Record<'a> {
    pub header: Header,
    pub payload: &'a [u8],
}

impl<'a> Record<'a> {
    pub fn new(name: &Name, form: Form, stamp: u64, payload: &'a [u8], checks: &Checks) -> Self {
        Self { header: Header::new(name, form, stamp, payload, checks), payload }
    }
}

/// An open segment of this process.
pub(super) struct SegmentWriter {
    pub id: u64,
    pub seed: u64,
    pub length: u64,
    /// Greatest length that the file may have.
    pub longest: u64,
    pub file: SharedFile,
    pub contents: Contents,
    /// Whether the segment's name has been synced to the directory.
    named: bool,
    /// Identity of the file, if the file system has such.
    pub identity: Option<(u64, u64)>,
    checks: Checks,
    pub lock: Box<dyn Lock>,
}

impl SegmentWriter {
    pub fn memory_used(&self) -> usize {
        self.contents.rows.capacity() * size_of::<RecordInfo>() + self.contents.uses.capacity() * size_of::<Usage>()
    }

    /// Bytes of its snapshot.
    pub fn snapshot_bytes(&self) -> u64 {
        bytes_of(self.contents.rows.len() as u64, self.contents.uses.len() as u64)
    }

    /// Bytes of its files on the disk, with the snapshot to come.
    pub fn disk_bytes(&self) -> u64 {
        on_disk(self.length) + on_disk(self.snapshot_bytes())
    }

    pub fn is_empty(&self) -> bool {
        self.length == HEADS as u64
    }

    /// Whether a record of that size belongs in the next segment.
    pub fn is_full_for(&self, size: u64, limit: u64) -> bool {
        !self.is_empty() && self.length + size > limit.min(self.longest)
    }

    /// Number of these records to write with one call; at least 1. `room` is for all of them.
    pub fn run_of(&self, records: &[Record<'_>], limit: u64, room: u64) -> usize {
        let mut end = self.length;
        let most = limit.min(self.longest).min(end.saturating_add(room));
        let fits = |record: &&Record<'_>| {
            end += record.header.size();
            end <= most
        };
        records.iter().take(RUN).take_while(fits).count().max(1)
    }

    /// Append a record.
    pub fn append(&mut self, header: &Header, payload: &[u8]) -> std::result::Result<RecordInfo, AppendError> {
        let row = self.next_row(header);
        self.append_run(&[Record { header: *header, payload }], &mut 0).map(|()| row)
    }

    fn next_row(&self, header: &Header) -> RecordInfo {
        RecordInfo::new(header, (self.length / UNIT) as u32)
    }

    /// Append up to [`RUN`] records and count the written ones. After a failure the segment is truncated to its whole
    /// records; `restored` is false if that failed.
    pub fn append_run(&mut self, run: &[Record<'_>], written: &mut usize) -> std::result::Result<(), AppendError> {
        self.contents.rows.try_reserve(run.len()).map_err(|why| AppendError::Refused(why.into()))?;
        let mut headers = [[0; HEADER]; RUN];
        let mut slices = [IoSlice::new(&[]); 3 * RUN];
        let mut end = self.length;
        for ((record, bytes), slices) in run.iter().zip(&mut headers).zip(slices.as_chunks_mut().0) {
            *bytes = record.header.encode(&self.checks, self.seed, end);
            end += record.header.size();
            let padding = (record.header.size() - HEADER as u64) as usize - record.payload.len();
            *slices = [&bytes[..], record.payload, &PADDING[..padding]].map(IoSlice::new);
        }
        let done = self.file.append(&mut slices[..3 * run.len()]);
        // After a failure, some of the bytes may have been written.
        let (done, end) = match done {
            Ok(()) => (Ok(()), end),
            Err(why) => match self.file.length() {
                Ok(there) if there >= end => (Ok(()), end),
                Ok(there) => (Err(why), there),
                // Other processes may have read these records already, so do not truncate.
                Err(_) => return Err(AppendError::Failed { why, restored: false, partial: 0 }),
            },
        };
        for Record { header, .. } in run {
            if self.length + header.size() > end {
                break;
            }
            if header.form != Form::Uses {
                self.contents.rows.push(self.next_row(header));
            }
            self.length += header.size();
            *written += 1;
        }
        done.map_err(|why| {
            let partial = on_disk(end).saturating_sub(on_disk(self.length));
            AppendError::Failed { why, restored: self.file.truncate(self.length).is_ok(), partial }
        })
    }
}

pub(super) enum AppendError {
    Refused(Error),
    /// The file system took `partial` bytes more before the failure.
    Failed {
        why: std::io::Error,
        restored: bool,
        partial: u64,
    },
}

impl Store {
    /// [`begin_segment`](Self::begin_segment) for copies: its id is above those of all known segments, so that every
    /// process prefers the copy of a record. A claim that was made before some of them is kept for the next put.
    pub(super) fn begin_copies(&mut self) -> Result<SegmentWriter> {
        let last = self.last_id();
        let early = self.claim.take_if(|claim| Some(claim.id) <= last);
        let begun = self.begin_segment();
        self.claim = early.or(self.claim.take());
        begun
    }

    /// The greatest id of a known segment, except those that somebody placed to block new ones.
    fn last_id(&self) -> Option<u64> {
        self.segments.iter().rev().map(|segment| segment.id).find(|&id| id < END_OF_IDS)
    }

    /// Create a segment of our own and add it to the list.
    pub(super) fn begin_segment(&mut self) -> Result<SegmentWriter> {
        let mut is_made = false;
        for _ in 0..ATTEMPTS {
            let claim = self.claim()?;
            let path = self.path(claim.id, "seg");
            let seed = self.io.nonce();
            let heads = encode_heads(claim.id, seed, self.checks.format);
            let file = match self.io.create(&path) {
                Ok(file) => file,
                Err(why) if why.kind() == ErrorKind::AlreadyExists => continue,
                // Locks need not be files. In that case this is the first call that needs the directory.
                // Or the directory was deleted, and the lock's file with it.
                Err(why) if why.kind() == ErrorKind::NotFound && !is_made => {
                    drop(claim);
                    self.make_directory()?;
                    is_made = true;
                    continue;
                }
                Err(why) => {
                    self.claim = Some(claim);
                    return Err(self.failed("create", &path, &why));
                }
            };
            let segment = Segment { file: Some(file.clone()), ..Segment::new(claim.id, seed, SegmentState::Open) };
            let begun = match file.append(&mut [IoSlice::new(&heads)]) {
                Ok(()) => self.add_segment(segment).map(|_| ()),
                Err(why) => Err(self.failed("write", &path, &why)),
            };
            if let Err(why) = begun {
                let _ = self.io.remove(&path);
                self.claim = Some(claim);
                return Err(why);
            }
            let contents = Contents::default();
            let Claim { id, lock } = claim;
            self.list_own(id);
            let identity = file.identity().ok().flatten();
            let (length, longest, checks) = (HEADS as u64, LONGEST_SEGMENT, self.checks);
            return Ok(SegmentWriter {
                id,
                seed,
                length,
                longest,
                file,
                contents,
                named: false,
                identity,
                checks,
                lock,
            });
        }
        Err(error!(Busy, "other processes keep taking the names of segments in '{}'", self.directory.display()))
    }

    /// Claim the id of a segment that does not exist yet, by its lock.
    pub(super) fn claim(&mut self) -> Result<Claim> {
        if let Some(claim) = self.claim.take() {
            return Ok(claim);
        }
        let last = self.last_id();
        let now = u64::from(self.seconds()) << 32;
        let least = now.min(END_OF_IDS).max(last.map_or(0, |last| last + 1));
        // The random part avoids the id of a removed segment, which other processes may still know. It also keeps
        // processes whose clocks agree from choosing the same id.
        let apart = self.io.nonce().wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
        let mut id = least.saturating_add(apart);
        let mut is_made = false;
        for _ in 0..ATTEMPTS {
            let path = self.path(id, "live");
            match self.io.try_lock(&path) {
                Ok(Some(lock)) => return Ok(Claim { id, lock }),
                Ok(None) => id = id.saturating_add(1),
                // The directory was deleted, or it takes no files, as some of the system's.
                Err(why) if why.kind() == ErrorKind::NotFound && !is_made => {
                    self.make_directory()?;
                    is_made = true;
                }
                Err(why) => return Err(self.failed("create", &path, &why)),
            }
        }
        Err(error!(Busy, "other processes keep taking the names of segments in '{}'", self.directory.display()))
    }

    fn make_directory(&mut self) -> Result<()> {
        let directory = self.directory.clone();
        self.io.create_directory(&directory).map_err(|why| self.failed("create", &directory, &why))
    }

    pub(super) fn sync_writer(&mut self, writer: &mut SegmentWriter) -> Result<()> {
        let path = self.path(writer.id, "seg");
        writer.file.sync().map_err(|why| self.failed("sync", &path, &why))?;
        if !writer.named {
            self.sync_directory()?;
            writer.named = true;
        }
        Ok(())
    }

    /// Stop writing to some segments of this process, so that they can be deleted. The next sync waits for those that
    /// stay.
    pub(super) fn give_up(&mut self, goes: impl Fn(u64) -> bool) -> Result<()> {
        self.unsynced.try_reserve(self.full.len() + 1)?;
        let own = self.full.iter().chain(&self.writer).map(|own| own.id);
        self.unsynced.extend(own.filter(|&id| goes(id)));
        self.full.retain(|own| !goes(own.id));
        self.writer.take_if(|own| goes(own.id));
        Ok(())
    }

    /// Sync a segment that was given up. False if all are synced.
    pub(super) fn sync_given_up(&mut self) -> Result<bool> {
        let Some(&id) = self.unsynced.last() else { return Ok(false) };
        let path = self.path(id, "seg");
        match self.io.open(&path).and_then(|file| file.sync()) {
            Ok(()) => self.sync_directory()?,
            // It was merged, deleted or replaced meanwhile.
            Err(why) if why.kind() == ErrorKind::NotFound || is_not_ours(&why) => {}
            Err(why) => return Err(self.failed("sync", &path, &why)),
        }
        self.unsynced.pop();
        Ok(true)
    }

    pub(super) fn sync_directory(&mut self) -> Result<()> {
        let directory = self.directory.clone();
        self.io.sync_directory(&directory).map_err(|why| self.failed("sync", &directory, &why))
    }

    /// Write the snapshot of a synced segment and release its lock.
    pub(super) fn seal_writer(&mut self, writer: SegmentWriter) -> Result<()> {
        let SegmentWriter { id, seed, length, contents, .. } = &writer;
        self.space.is_full = false;
        match self.write_snapshot(*id, *seed, *length, contents) {
            // It only makes opening faster.
            Err(_) if self.space.is_full => return Ok(()),
            written => written?,
        }
        let path = self.path(*id, "live");
        let _ = self.io.remove(&path);
        Ok(())
    }

    /// Write the snapshot of a segment whose lock we hold.
    pub(super) fn write_snapshot(&mut self, id: u64, seed: u64, length: u64, contents: &Contents) -> Result<()> {
        let bytes = encode(id, seed, length, contents, &self.checks)?;
        let (fresh, path) = (self.path(id, "idx.new"), self.path(id, "idx"));
        self.write_file(&fresh, &bytes)?;
        self.io.rename(&fresh, &path).map_err(|why| self.failed("rename", &fresh, &why))?;
        self.sync_directory()?;
        if let Some(segment) = self.segment_mut(id) {
            (segment.state, segment.snapshot) = (SegmentState::Sealed, SnapshotPlace::File);
        }
        Ok(())
    }

    pub(super) fn write_file(&mut self, path: &Path, bytes: &[u8]) -> Result<()> {
        // A leftover of a process that was killed here.
        let _ = self.io.remove(path);
        let file = self.io.create(path).map_err(|why| self.failed("create", path, &why))?;
        let written = file.append(&mut [IoSlice::new(bytes)]).and_then(|()| file.sync());
        written.map_err(|why| {
            let _ = self.io.remove(path);
            self.failed("write", path, &why)
        })
    }
}
