//! Notes and strikes as bytes: a header and records of 64 bytes. Each has a check of its own, so that damage costs only
//! the record that it hits. With a secret the checks are keyed. `docs/formats.md` has the layout.

use crate::base::Result;
use crate::fingerprint::Fingerprint;
use crate::store::Secret;

/// Bytes of the header and of every record. It divides the page size, so that no record straddles two pages.
pub const RECORD: usize = 64;

/// The type of a file, given by its magic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// Keys that one process has in flight.
    Notes,
    /// Counted strikes.
    Strikes,
}

impl FileKind {
    fn magic(self) -> &'static [u8; 8] {
        match self {
            Self::Notes => b"HOBQNOTE",
            Self::Strikes => b"HOBQSTRK",
        }
    }
}

/// The only format that is written and read.
const FORMAT: u32 = 1;

/// A key that was in use in a process: a note if the process lives, a strike if it died while the key was in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// The driver and machine.
    pub environment: u64,
    /// The binary.
    pub key: [u8; 32],
    /// Identifies the process: the number of its notes file.
    pub incident: u64,
    /// For a strike: the time of counting in seconds since 1970, or 0 if it was taken back. For a note: 0.
    pub when: u64,
}

impl Record {
    /// Sort key of strikes.
    pub fn order(&self) -> (u64, [u8; 32], u64) {
        (self.environment, self.key, self.incident)
    }

    pub fn to_bytes(self, kind: FileKind, secret: Option<&Secret>) -> [u8; RECORD] {
        let mut bytes = [0; RECORD];
        bytes[..8].copy_from_slice(&self.environment.to_le_bytes());
        bytes[8..40].copy_from_slice(&self.key);
        bytes[40..48].copy_from_slice(&self.incident.to_le_bytes());
        bytes[48..56].copy_from_slice(&self.when.to_le_bytes());
        seal(kind, &mut bytes, secret);
        bytes
    }

    fn from_bytes(kind: FileKind, bytes: &[u8; RECORD], secret: Option<&Secret>) -> Option<Self> {
        let mut key = [0; 32];
        key.copy_from_slice(&bytes[8..40]);
        let record = Self { environment: number(bytes, 0), key, incident: number(bytes, 40), when: number(bytes, 48) };
        is_sealed(kind, bytes, secret).then_some(record)
    }
}

/// The header of a file, its first record.
pub fn header(kind: FileKind, incident: u64, secret: Option<&Secret>) -> [u8; RECORD] {
    let mut bytes = [0; RECORD];
    bytes[..8].copy_from_slice(kind.magic());
    bytes[8..12].copy_from_slice(&FORMAT.to_le_bytes());
    bytes[12..16].copy_from_slice(&(RECORD as u32).to_le_bytes());
    bytes[16..24].copy_from_slice(&incident.to_le_bytes());
    seal(kind, &mut bytes, secret);
    bytes
}

/// Parsed contents of a file.
#[derive(Debug, PartialEq, Eq)]
pub enum Content {
    /// The valid records, and the number of damaged ones.
    Records(Vec<Record>, u32),
    /// A format that only a newer library can read.
    Newer,
}

/// Parse a file of at most [`most_bytes`]. Of any bytes, it accepts only records with a valid check.
pub fn parse(kind: FileKind, bytes: &[u8], secret: Option<&Secret>) -> Result<Content> {
    let (blocks, rest) = bytes.as_chunks::<RECORD>();
    let mut damaged = u32::from(!rest.is_empty());
    let Some((first, blocks)) = blocks.split_first() else { return Ok(Content::Records(Vec::new(), damaged)) };
    let is_header = first.starts_with(kind.magic()) && is_sealed(kind, first, secret);
    if is_header && number(first, 8) as u32 > FORMAT {
        return Ok(Content::Newer);
    }
    // Each record has its own check, so records are valid even if the header is not.
    damaged += u32::from(!is_header);
    let mut records = Vec::new();
    records.try_reserve_exact(blocks.iter().filter(|block| !is_empty(block)).count())?;
    for block in blocks.iter().filter(|block| !is_empty(block)) {
        match Record::from_bytes(kind, block, secret) {
            Some(record) => records.push(record),
            None => damaged += 1,
        }
    }
    Ok(Content::Records(records, damaged))
}

/// Most bytes read from a file of `records` records.
pub const fn most_bytes(records: usize) -> usize {
    (records + 1) * RECORD
}

fn is_empty(block: &[u8; RECORD]) -> bool {
    block.iter().all(|&byte| byte == 0)
}

fn number(bytes: &[u8; RECORD], at: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(word)
}

fn seal(kind: FileKind, bytes: &mut [u8; RECORD], secret: Option<&Secret>) {
    let check = check(kind, bytes, secret);
    bytes[RECORD - 8..].copy_from_slice(&check);
}

fn is_sealed(kind: FileKind, bytes: &[u8; RECORD], secret: Option<&Secret>) -> bool {
    bytes[RECORD - 8..] == check(kind, bytes, secret)
}

/// The check covers the magic and all bytes except the check itself, so a note never passes for a strike.
fn check(kind: FileKind, bytes: &[u8; RECORD], secret: Option<&Secret>) -> [u8; 8] {
    let mut checked = [0; RECORD];
    checked[..8].copy_from_slice(kind.magic());
    checked[8..].copy_from_slice(&bytes[..RECORD - 8]);
    secret.map_or_else(|| Fingerprint::of(&checked).short(), |secret| secret.check(&checked).to_le_bytes())
}

#[cfg(test)]
pub fn seal_for_test(kind: FileKind, bytes: &mut [u8; RECORD]) {
    seal(kind, bytes, None);
}
