//! Known segments, and the scan of their parts that no snapshot covers.

use std::io;
use std::sync::Arc;

use super::format::{HEADER, HEADS, Header, UNIT, hash};
use super::io::{File, read_exact_at};
use crate::base::Result;

/// Whether a segment can be read, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SegmentState {
    /// It will not grow.
    Sealed,
    /// It may grow, or its writer has died.
    Open,
    /// Of another format; the store neither reads nor changes it.
    Foreign,
    /// Both heads are invalid; the store neither reads nor changes it.
    Damaged,
}

pub(super) struct Segment {
    pub id: u64,
    pub seed: u64,
    pub state: SegmentState,
    /// Bytes that have been read into the index or written.
    pub length: u64,
    pub live_bytes: u64,
    /// Smallest stamp of its values.
    pub oldest: u64,
    pub file: Option<Arc<dyn File>>,
}

impl Segment {
    pub fn new(id: u64, seed: u64, state: SegmentState) -> Self {
        Self { id, seed, state, length: HEADS as u64, live_bytes: 0, oldest: u64::MAX, file: None }
    }

    pub fn is_readable(&self) -> bool {
        matches!(self.state, SegmentState::Sealed | SegmentState::Open)
    }
}

/// Result of a scan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Scanned {
    /// Offset of the end of the last whole record.
    pub end: u64,
    /// Damaged stretches that were skipped.
    pub damaged: u64,
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

/// Visit every whole record from `from` on. Bytes between whole records are skipped. The scan stops after the last
/// whole record: its writer may append more later.
pub(super) fn scan(
    file: &dyn File,
    seed: u64,
    from: u64,
    mut visit: impl FnMut(u64, &Header, &[u8]) -> Result<()>,
) -> std::result::Result<Scanned, ScanError> {
    let length = file.length()?;
    let mut window = Window { file, bytes: Vec::new(), begin: 0, end: length };
    let mut scanned = Scanned { end: from, damaged: 0 };
    let mut at = from;
    while let Some(header) = next_header(&mut window, seed, &mut at)? {
        if at + header.size() > length {
            break;
        }
        let payload = window.bytes(at + HEADER as u64, header.stored as usize)?;
        let next = at + header.size();
        let whole = hash(payload) == header.payload_hash;
        if !whole && next == length {
            break;
        }
        if whole {
            scanned.damaged += u64::from(at > scanned.end);
            visit(at, &header, payload)?;
            scanned.end = next;
        }
        at = next;
    }
    Ok(scanned)
}

/// The first header at or after `at`; moves `at` there.
fn next_header(window: &mut Window<'_>, seed: u64, at: &mut u64) -> std::result::Result<Option<Header>, ScanError> {
    while *at + HEADER as u64 <= window.end {
        let header = Header::decode(window.bytes(*at, HEADER)?, seed, *at);
        if header.is_some() {
            return Ok(header);
        }
        *at += UNIT;
    }
    Ok(None)
}

/// A part of a file in memory, at least a mebibyte unless the file ends first.
struct Window<'a> {
    file: &'a dyn File,
    bytes: Vec<u8>,
    begin: u64,
    end: u64,
}

impl Window<'_> {
    const AHEAD: u64 = 1 << 20;

    /// The bytes at an offset. The caller has checked that they lie before the end.
    fn bytes(&mut self, at: u64, count: usize) -> std::result::Result<&[u8], ScanError> {
        let held = self.begin..=self.begin + self.bytes.len() as u64;
        if !held.contains(&at) || !held.contains(&(at + count as u64)) {
            let wanted = (self.end - at).min(Self::AHEAD.max(count as u64)) as usize;
            self.bytes.clear();
            self.bytes.try_reserve(wanted).map_err(crate::base::Error::from)?;
            self.bytes.resize(wanted, 0);
            self.begin = at;
            if !read_exact_at(self.file, &mut self.bytes, at)? {
                return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
            }
        }
        let from = (at - self.begin) as usize;
        Ok(&self.bytes[from..from + count])
    }
}
