//! A file with the index of a sealed segment, so that opening reads one row instead of one record.
//!
//! One checksum covers the whole snapshot. An invalid snapshot counts as missing; then the segment itself is read.

use super::Key;
use super::format::{Checks, Form, HEADER, HEADS, Header, Usage, key_at, u32_at, u64_at};
use crate::base::Result;

const MAGIC: [u8; 8] = *b"HOBIDX\r\n";
const HEAD: usize = 48;
const HASH: usize = 8;

/// Place and contents of a record: its header without checksums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordInfo {
    pub key: Key,
    pub environment: u64,
    pub stamp: u64,
    /// Offset in units of 16 bytes.
    pub unit: u32,
    pub stored: u32,
    pub raw: u32,
    pub build_us: u32,
    pub kind: u8,
    pub form: Form,
}

impl RecordInfo {
    pub const SIZE: usize = 72;

    pub fn new(header: &Header, unit: u32) -> Self {
        let Header { key, environment, stamp, stored, raw, build_us, kind, form, .. } = *header;
        Self { key, environment, stamp, unit, stored, raw, build_us, kind, form }
    }

    fn encode(&self) -> [u8; Self::SIZE] {
        let mut bytes = [0; Self::SIZE];
        bytes[..32].copy_from_slice(&self.key);
        bytes[32..40].copy_from_slice(&self.environment.to_le_bytes());
        bytes[40..48].copy_from_slice(&self.stamp.to_le_bytes());
        bytes[48..52].copy_from_slice(&self.unit.to_le_bytes());
        bytes[52..56].copy_from_slice(&self.stored.to_le_bytes());
        bytes[56..60].copy_from_slice(&self.raw.to_le_bytes());
        bytes[60..64].copy_from_slice(&self.build_us.to_le_bytes());
        bytes[64] = self.kind;
        bytes[65] = self.form as u8;
        bytes
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        Some(Self {
            key: key_at(bytes, 0),
            environment: u64_at(bytes, 32),
            stamp: u64_at(bytes, 40),
            unit: u32_at(bytes, 48),
            stored: u32_at(bytes, 52),
            raw: u32_at(bytes, 56),
            build_us: u32_at(bytes, 60),
            kind: bytes[64],
            form: Form::from_byte(bytes[65])?,
        })
    }
}

/// Longest snapshot that is read with one call and without a length query, in bytes.
pub const SHORT: usize = 16 << 10;

/// The snapshots of a pack: the id of each segment, and the bytes. Ends at the first bytes that begin no snapshot.
#[derive(Clone)]
pub struct Parts<'a>(pub &'a [u8]);

impl<'a> Iterator for Parts<'a> {
    type Item = (u64, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let length = length(self.0).filter(|_| self.0.starts_with(&MAGIC))?;
        let (part, rest) = self.0.split_at_checked(usize::try_from(length).ok()?)?;
        self.0 = rest;
        Some((u64_at(part, 24), part))
    }
}

/// Contents of a segment: a row for each record, except use records, and the uses from those.
#[derive(Debug, Default)]
pub struct Contents {
    pub rows: Vec<RecordInfo>,
    pub uses: Vec<Usage>,
}

/// Encode the snapshot of a segment of `length` bytes.
pub fn encode(id: u64, seed: u64, length: u64, contents: &Contents, checks: &Checks) -> Result<Vec<u8>> {
    let Contents { rows, uses } = contents;
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(HEAD + rows.len() * RecordInfo::SIZE + uses.len() * Usage::SIZE + HASH)?;
    bytes.extend_from_slice(&MAGIC);
    bytes.extend_from_slice(&checks.format.to_le_bytes());
    bytes.extend_from_slice(&(rows.len() as u32).to_le_bytes());
    bytes.extend_from_slice(&(uses.len() as u32).to_le_bytes());
    bytes.extend_from_slice(&[0; 4]);
    bytes.extend_from_slice(&id.to_le_bytes());
    bytes.extend_from_slice(&seed.to_le_bytes());
    bytes.extend_from_slice(&length.to_le_bytes());
    rows.iter().for_each(|row| bytes.extend_from_slice(&row.encode()));
    uses.iter().for_each(|used| bytes.extend_from_slice(&used.encode()));
    let check = checks.snapshot(&bytes);
    bytes.extend_from_slice(&check.to_le_bytes());
    Ok(bytes)
}

/// Whether a snapshot that begins with these bytes is of another format or secret.
pub fn is_foreign(begin: &[u8], checks: &Checks) -> bool {
    begin.len() >= HEAD && begin[..8] == MAGIC && u32_at(begin, 8) != checks.format
}

/// Length of the snapshot that begins with these bytes.
pub fn length(begin: &[u8]) -> Option<u64> {
    let head = begin.first_chunk::<HEAD>()?;
    Some(bytes_of(u32_at(head, 12).into(), u32_at(head, 16).into()))
}

/// Length of a snapshot with so many rows and uses.
pub fn bytes_of(rows: u64, uses: u64) -> u64 {
    (HEAD + HASH) as u64 + rows * RecordInfo::SIZE as u64 + uses * Usage::SIZE as u64
}

/// A snapshot with a valid checksum.
pub struct IndexSnapshot<'a> {
    pub seed: u64,
    pub length: u64,
    rows: &'a [u8],
    uses: &'a [u8],
}

impl<'a> IndexSnapshot<'a> {
    /// Decode a whole snapshot of that segment, which has at most `longest` bytes; `None` if it is invalid.
    pub fn decode(bytes: &'a [u8], id: u64, longest: u64, checks: &Checks) -> Option<Self> {
        let (body, check) = bytes.split_at_checked(bytes.len().checked_sub(HASH)?)?;
        let (head, lists) = body.split_at_checked(HEAD)?;
        let ours = head[..8] == MAGIC && u32_at(head, 8) == checks.format && u64_at(head, 24) == id;
        if !ours || u64_at(check, 0) != checks.snapshot(body) {
            return None;
        }
        let rows = (u32_at(head, 12) as usize).checked_mul(RecordInfo::SIZE)?;
        let uses = (u32_at(head, 16) as usize).checked_mul(Usage::SIZE)?;
        let (rows, rest) = lists.split_at_checked(rows)?;
        let length = u64_at(head, 40);
        // Each row and each use takes at least as much in the segment.
        let listed = (lists.len() + HEADS) as u64;
        let fits = rest.len() == uses && length >= listed && length <= longest;
        fits.then_some(Self { seed: u64_at(head, 32), length, rows, uses: rest })
    }

    pub fn row_count(&self) -> usize {
        self.rows.len() / RecordInfo::SIZE
    }

    /// Rows within the segment. Rows outside it can only come from a forged snapshot.
    pub fn rows(&self) -> impl Iterator<Item = RecordInfo> {
        let room = self.length;
        let lies_within = move |row: &RecordInfo| {
            let end = u64::from(row.unit) * 16 + HEADER as u64 + u64::from(row.stored);
            u64::from(row.unit) * 16 >= HEADS as u64 && end <= room
        };
        self.rows.chunks_exact(RecordInfo::SIZE).filter_map(RecordInfo::decode).filter(lies_within)
    }

    pub fn uses(&self) -> impl Iterator<Item = Usage> {
        self.uses.chunks_exact(Usage::SIZE).map(Usage::decode)
    }
}
