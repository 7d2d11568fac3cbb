//! Known segments, and the scan of their parts that no snapshot covers.

use std::io;
use std::ops::Range;

use super::format::{Checks, HEADER, HEADS, Header, UNIT};
use super::io::{File, SharedFile, on_disk, read_exact_at};
use super::snapshot;
use crate::base::Result;

/// Whether a segment can be read, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SegmentState {
    /// It will not grow.
    Sealed,
    /// It may grow, or its writer has died.
    Open,
    /// Of another format, secret or user; the store does not read it.
    Foreign,
    /// Both heads are invalid. It holds nothing, and maintenance deletes it if it is a file of this user.
    Damaged,
}

/// Where the snapshot of a segment is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SnapshotPlace {
    Missing,
    /// In a file of its own.
    File,
    /// In the pack of that id.
    Pack(u64),
}

pub(super) struct Segment {
    pub id: u64,
    pub seed: u64,
    pub state: SegmentState,
    pub snapshot: SnapshotPlace,
    /// Bytes that have been read into the index or written.
    pub length: u64,
    /// Bytes of `length` that were synced by this store.
    pub synced: u64,
    pub live_bytes: u64,
    /// Records except those of uses: a row of the snapshot each.
    pub rows: u64,
    /// Records that hold a value.
    pub values: u64,
    /// Records that hold the current value of their name.
    pub live_values: u64,
    /// Use counts in its records.
    pub uses: u64,
    /// Smallest stamp of its values.
    pub oldest: u64,
    /// Some of its records have copies in segments with greater ids: a merge ended early, or is under way.
    pub is_copied: bool,
    /// It has values that are longer than this store may read.
    pub has_long: bool,
    /// It is not read, and cannot be deleted: a living process writes it, or it is no file of this user.
    pub is_held: bool,
    /// Its file is longer than a segment can be: the rest is not read, and it is not rewritten.
    pub is_cut: bool,
    pub file: Option<SharedFile>,
}

impl Segment {
    pub fn new(id: u64, seed: u64, state: SegmentState) -> Self {
        Self {
            id,
            seed,
            state,
            snapshot: SnapshotPlace::Missing,
            length: HEADS as u64,
            synced: 0,
            live_bytes: 0,
            rows: 0,
            values: 0,
            live_values: 0,
            uses: 0,
            oldest: u64::MAX,
            is_copied: false,
            has_long: false,
            is_held: false,
            is_cut: false,
            file: None,
        }
    }

    /// Its snapshot is missing now. Maintenance writes it again, as for a segment whose writer has died.
    pub fn lose_snapshot(&mut self) {
        self.snapshot = SnapshotPlace::Missing;
        if self.state == SegmentState::Sealed {
            // It was synced before it was sealed.
            (self.state, self.synced) = (SegmentState::Open, self.length);
        }
    }

    /// Whether it holds a replaced or removed value with a smaller stamp. Without the newer record, that value would
    /// be served again.
    pub fn hides_older_than(&self, stamp: u64) -> bool {
        self.is_readable() && self.values > self.live_values && self.oldest < stamp
    }

    /// Bytes of its snapshot.
    pub fn snapshot_bytes(&self) -> u64 {
        snapshot::bytes_of(self.rows, self.uses)
    }

    /// Bytes on the disk of the segment and its snapshot.
    pub fn disk_bytes(&self) -> u64 {
        let snapshot = match self.snapshot {
            SnapshotPlace::Pack(_) => self.snapshot_bytes(),
            SnapshotPlace::File | SnapshotPlace::Missing => on_disk(self.snapshot_bytes()),
        };
        on_disk(self.length) + snapshot
    }

    pub fn is_readable(&self) -> bool {
        matches!(self.state, SegmentState::Sealed | SegmentState::Open)
    }
}

/// Bounds of a scan, so that no file costs more memory or time than a segment can.
#[derive(Clone, Copy, Debug)]
pub(super) struct ScanLimits {
    /// Longest segment, in bytes. The rest of a longer file is not read.
    pub segment: u64,
    /// Longest value, in bytes.
    pub entry: u32,
}

impl ScanLimits {
    /// Longest list of uses, in bytes.
    const LONGEST_LIST: u32 = 4 << 20;

    /// Whether a record is short enough to be read.
    fn allow(&self, header: &Header) -> bool {
        match header.form.is_value() {
            true => header.stored.max(header.raw) <= self.entry,
            false => header.stored <= Self::LONGEST_LIST,
        }
    }
}

/// Position of a scan: by default the begin of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ScanPosition {
    /// Offset of the end of the last whole record.
    pub end: u64,
    /// Offset where the scan continues.
    at: u64,
}

impl ScanPosition {
    /// After the whole record that ends there.
    pub fn after(end: u64) -> Self {
        Self { end, at: end }
    }
}

/// Result of a scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Scanned {
    pub position: ScanPosition,
    /// Whether the scan reached the end; otherwise the budget was used up.
    pub is_done: bool,
    /// Damaged stretches that were skipped.
    pub damaged: u64,
    /// Values were found whose payload was not read, because they are too long.
    pub has_long: bool,
    /// The file is longer than a segment can be.
    pub is_cut: bool,
}

/// A failed scan: `Io` if the file could not be read, `Other` if visiting a record failed.
pub(super) enum ScanError {
    Io(io::Error),
    Other(crate::base::Error),
}

impl From<io::Error> for ScanError {
    fn from(why: io::Error) -> Self {
        Self::Io(why)
    }
}

impl From<crate::base::Error> for ScanError {
    fn from(why: crate::base::Error) -> Self {
        Self::Other(why)
    }
}

/// Visit every whole record from `from` on, those that are too long without their payload. Bytes between whole records are skipped. The scan stops after the last
/// whole record: its writer may append more later. It also stops when it has read `budget` bytes, which it counts down,
/// but makes some progress.
pub(super) fn scan(
    file: &dyn File,
    checks: &Checks,
    seed: u64,
    from: ScanPosition,
    limits: ScanLimits,
    budget: &mut u64,
    mut visit: impl FnMut(u64, &Header, &[u8]) -> Result<()>,
) -> std::result::Result<Scanned, ScanError> {
    let mut scanner = Scanner::new(file, from, limits)?;
    let is_done = loop {
        match scanner.next(file, checks, seed, budget)? {
            Next::Found(found) => visit(found.offset, &found.header, scanner.payload(&found))?,
            Next::Interrupted => break false,
            Next::End => break true,
        }
    };
    Ok(scanner.scanned(is_done))
}

/// Visits the whole records of a file, one a call, as [`scan`] does.
pub(super) struct Scanner {
    window: Window,
    limits: ScanLimits,
    from: ScanPosition,
    position: ScanPosition,
    damaged: u64,
    has_long: bool,
    is_cut: bool,
}

/// A record of a scan.
pub(super) struct Found {
    /// Its offset in the file.
    pub offset: u64,
    /// Its header.
    pub header: Header,
    /// Its payload in the window.
    pub payload: Range<usize>,
}

/// The next record of a scan.
pub(super) enum Next<T> {
    Found(T),
    /// The budget is used up.
    Interrupted,
    End,
}

impl Scanner {
    /// Begin at a position. The file has the length of now.
    pub fn new(file: &dyn File, from: ScanPosition, limits: ScanLimits) -> io::Result<Self> {
        let whole = file.length()?;
        let length = whole.min(limits.segment);
        let window = Window { bytes: Vec::new(), begin: 0, end: length };
        Ok(Self { window, limits, from, position: from, damaged: 0, has_long: false, is_cut: whole > length })
    }

    /// The result of the records so far.
    pub fn scanned(&self, is_done: bool) -> Scanned {
        let Self { position, damaged, has_long, is_cut, .. } = *self;
        Scanned { position, is_done, damaged, has_long, is_cut }
    }

    /// Go on at an offset.
    pub fn seek(&mut self, offset: u64) {
        self.position = ScanPosition::after(offset);
    }

    /// The payload of the last record.
    pub fn payload(&self, found: &Found) -> &[u8] {
        &self.window.bytes[found.payload.clone()]
    }

    /// The bytes in which payloads are, until the next record.
    pub fn bytes(&self) -> &[u8] {
        &self.window.bytes
    }

    /// The next whole record.
    pub fn next(
        &mut self,
        file: &dyn File,
        checks: &Checks,
        seed: u64,
        budget: &mut u64,
    ) -> std::result::Result<Next<Found>, ScanError> {
        let Self { window, position: ScanPosition { end, at }, .. } = self;
        loop {
            let header = match next_header(window, file, checks, seed, at, budget)? {
                Next::Found(header) => header,
                Next::Interrupted => return Ok(Next::Interrupted),
                Next::End => return Ok(Next::End),
            };
            let (offset, next) = (*at, *at + header.size());
            if next > window.end {
                return Ok(Next::End);
            }
            let is_short = self.limits.allow(&header);
            let (place, length) = (offset + HEADER as u64, if is_short { header.stored as usize } else { 0 });
            if is_short && offset > self.from.at && window.is_used_up(*budget) && !window.holds(place, length) {
                return Ok(Next::Interrupted);
            }
            let payload = if is_short { window.load(file, place, length, budget)? } else { 0..0 };
            let is_whole = !is_short || checks.payload(&window.bytes[payload.clone()]) == header.payload_hash;
            if !is_whole && next == window.end {
                return Ok(Next::End);
            }
            *at = next;
            if is_whole {
                self.has_long |= !is_short && header.form.is_value();
                self.damaged += u64::from(offset > *end);
                *end = next;
                return Ok(Next::Found(Found { offset, header, payload }));
            }
        }
    }
}

/// The first header at or after `at`; moves `at` there.
fn next_header(
    window: &mut Window,
    file: &dyn File,
    checks: &Checks,
    seed: u64,
    at: &mut u64,
    budget: &mut u64,
) -> std::result::Result<Next<Header>, ScanError> {
    while at.saturating_add(HEADER as u64) <= window.end {
        if !window.holds(*at, HEADER) {
            if window.is_used_up(*budget) {
                return Ok(Next::Interrupted);
            }
            let data = file.next_data(*at);
            if data > *at {
                // No record begins with zeros.
                *at = data / UNIT * UNIT;
                continue;
            }
        }
        let place = window.load(file, *at, HEADER, budget)?;
        if let Some(header) = Header::decode(&window.bytes[place], checks, seed, *at) {
            return Ok(Next::Found(header));
        }
        *at += UNIT;
    }
    Ok(Next::End)
}

/// A part of a file in memory.
struct Window {
    bytes: Vec<u8>,
    begin: u64,
    end: u64,
}

impl Window {
    /// Bytes that the first read asks for, so that reading a file's first record alone reads little more.
    const FIRST: u64 = 16 << 10;
    /// Bytes that later reads ask for. They stay in the second-level cache.
    const AHEAD: u64 = 256 << 10;

    fn holds(&self, at: u64, count: usize) -> bool {
        let held = self.begin..=self.begin + self.bytes.len() as u64;
        held.contains(&at) && held.contains(&(at + count as u64))
    }

    /// Whether the budget of bytes to read is used up. The first read is always allowed.
    fn is_used_up(&self, budget: u64) -> bool {
        budget == 0 && !self.bytes.is_empty()
    }

    /// The place of the bytes at an offset. The caller has checked that they lie before the end.
    fn load(
        &mut self,
        file: &dyn File,
        at: u64,
        count: usize,
        budget: &mut u64,
    ) -> std::result::Result<Range<usize>, ScanError> {
        if !self.holds(at, count) {
            let ahead = if self.bytes.is_empty() { Self::FIRST } else { Self::AHEAD };
            let wanted = (self.end - at).min(ahead.max(count as u64)) as usize;
            *budget = budget.saturating_sub(wanted as u64);
            resize(&mut self.bytes, wanted)?;
            self.begin = at;
            if !read_exact_at(file, &mut self.bytes, at)? {
                return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
            }
        }
        let from = (at - self.begin) as usize;
        Ok(from..from + count)
    }
}

/// Give a buffer another length. Its contents are lost. Frees the old memory before it allocates more.
pub(super) fn resize(buffer: &mut Vec<u8>, length: usize) -> Result<()> {
    if buffer.capacity() < length {
        *buffer = Vec::new();
        buffer.try_reserve_exact(length)?;
    }
    buffer.resize(length, 0);
    Ok(())
}
