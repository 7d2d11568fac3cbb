//! The layout of a segment; `docs/formats.md` describes it, with a hexdump.
//!
//! A segment is a header and records. All numbers are little-endian, and records begin at multiples of 16.
//!
//! The checksum of a record's header is seeded with the segment's seed and the record's offset. So bytes of a record
//! from elsewhere do not pass for a record here. Examples are a segment stored as a value, and a block that the disk
//! put in the wrong place.

use twox_hash::XxHash3_64;

use super::{Key, Name};
use crate::base::{Result, error};

/// The format without a secret.
pub const FORMAT: u32 = 1;
/// Bit of the formats with a secret. The other bits are a number of the secret.
pub const KEYED: u32 = 1 << 31;
/// Records begin at multiples of this.
pub const UNIT: u64 = 16;
/// Bytes of a record before its payload.
pub const HEADER: usize = 80;
/// Bytes of a segment before its first record: two copies of the head, so that no single flipped bit costs a segment.
pub const HEADS: usize = 2 * HEAD;
const HEAD: usize = 32;
const HEAD_MAGIC: [u8; 8] = *b"HOBSEG\r\n";
const MAGIC: [u8; 2] = *b"hR";

/// The meaning of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Form {
    /// The value is the payload.
    Plain = 0,
    /// The value is the payload, decompressed.
    Lz4 = 1,
    /// Removes the key's value.
    Removed = 2,
    /// The payload lists use counts of values.
    Uses = 3,
    /// Removes all older records of the environment, or of all environments if `kind` is 1.
    Cleared = 4,
}

impl Form {
    pub fn from_byte(byte: u8) -> Option<Self> {
        [Self::Plain, Self::Lz4, Self::Removed, Self::Uses, Self::Cleared].get(usize::from(byte)).copied()
    }

    /// Whether the record holds a value.
    pub fn is_value(self) -> bool {
        matches!(self, Self::Plain | Self::Lz4)
    }
}

/// The header of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    pub kind: u8,
    pub form: Form,
    pub stored: u32,
    pub raw: u32,
    pub build_us: u32,
    pub stamp: u64,
    pub environment: u64,
    pub key: Key,
    pub payload_hash: u64,
}

/// Bytes of a record with a payload of `stored` bytes.
pub fn record_size(stored: u32) -> u64 {
    (HEADER as u64 + u64::from(stored)).next_multiple_of(UNIT)
}

/// XXH3, with the widest vector instructions of the processor.
pub fn hash(bytes: &[u8]) -> u64 {
    XxHash3_64::oneshot(bytes)
}

pub fn hash_with_seed(seed: u64, bytes: &[u8]) -> u64 {
    XxHash3_64::oneshot_with_seed(seed, bytes)
}

/// 256 bits that only the host knows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Secret(pub [u8; 32]);

impl Secret {
    /// The secret of these bytes; at least 16.
    pub fn derive(bytes: &[u8]) -> Result<Self> {
        const LEAST: usize = 16;
        match bytes.len() {
            LEAST.. => Ok(Self(blake3::derive_key("hobgoblin store secret 1", bytes))),
            length => Err(error!(
                InvalidArgument,
                "the secret has {length} bytes, which can be guessed: pass at least {LEAST} random bytes"
            )),
        }
    }

    /// The check of a small file, or of a record in it. The bytes begin with the magic of the file.
    pub fn check(&self, bytes: &[u8]) -> u64 {
        keyed(self, Subject::SmallFile, &[bytes])
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.write_str("Secret")
    }
}

/// The checksums of records, snapshots and the list of limits. Without a secret they are XXH3 and find accidents. With one they are keyed
/// BLAKE3, cut to 64 bits. Bytes that pass can only be written with the secret.
#[derive(Clone, Copy, Debug)]
pub struct Checks {
    /// Format of segments and snapshots with these checksums.
    pub format: u32,
    secret: Option<Secret>,
}

/// Subjects of a keyed hash. A hash of one subject never passes for another's: a payload may hold the bytes of a header.
#[derive(Clone, Copy)]
enum Subject {
    Format,
    Payload,
    Header,
    Snapshot,
    SmallFile,
}

impl Checks {
    pub fn new(secret: Option<Secret>) -> Self {
        let number = |secret: &Secret| KEYED | keyed(secret, Subject::Format, &[]) as u32;
        Self { format: secret.as_ref().map_or(FORMAT, number), secret }
    }

    pub fn payload(&self, bytes: &[u8]) -> u64 {
        self.secret.as_ref().map_or_else(|| hash(bytes), |secret| keyed(secret, Subject::Payload, &[bytes]))
    }

    pub fn snapshot(&self, bytes: &[u8]) -> u64 {
        self.secret.as_ref().map_or_else(|| hash(bytes), |secret| keyed(secret, Subject::Snapshot, &[bytes]))
    }

    pub fn small_file(&self, bytes: &[u8]) -> u64 {
        self.secret.as_ref().map_or_else(|| hash(bytes), |secret| secret.check(bytes))
    }

    fn header(&self, bytes: &[u8; HEADER], seed: u64, offset: u64) -> u64 {
        let bytes = &bytes[..72];
        match &self.secret {
            None => hash_with_seed(seed.wrapping_add(offset), bytes),
            Some(secret) => keyed(secret, Subject::Header, &[&seed.to_le_bytes(), &offset.to_le_bytes(), bytes]),
        }
    }
}

/// The first 64 bits of the keyed BLAKE3 of all parts and the subject.
fn keyed(secret: &Secret, subject: Subject, parts: &[&[u8]]) -> u64 {
    let mut hasher = blake3::Hasher::new_keyed(&secret.0);
    parts.iter().for_each(|part| _ = hasher.update(part));
    hasher.update(&[subject as u8]);
    u64_at(hasher.finalize().as_bytes(), 0)
}

impl Header {
    /// For a payload that is not compressed.
    pub fn new(name: &Name, form: Form, stamp: u64, payload: &[u8], checks: &Checks) -> Self {
        let Name { kind, environment, key } = *name;
        let (stored, payload_hash) = (payload.len() as u32, checks.payload(payload));
        Self { kind, form, stored, raw: 0, build_us: 0, stamp, environment, key, payload_hash }
    }

    pub fn name(&self) -> Name {
        Name { kind: self.kind, environment: self.environment, key: self.key }
    }

    pub fn size(&self) -> u64 {
        record_size(self.stored)
    }

    pub fn encode(&self, checks: &Checks, seed: u64, offset: u64) -> [u8; HEADER] {
        let mut bytes = [0; HEADER];
        bytes[..2].copy_from_slice(&MAGIC);
        bytes[2] = self.kind;
        bytes[3] = self.form as u8;
        bytes[4..8].copy_from_slice(&self.stored.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.stamp.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.environment.to_le_bytes());
        bytes[24..56].copy_from_slice(&self.key);
        bytes[56..60].copy_from_slice(&self.raw.to_le_bytes());
        bytes[60..64].copy_from_slice(&self.build_us.to_le_bytes());
        bytes[64..72].copy_from_slice(&self.payload_hash.to_le_bytes());
        let hash = checks.header(&bytes, seed, offset);
        bytes[72..].copy_from_slice(&hash.to_le_bytes());
        bytes
    }

    /// Decode a header; `None` if the bytes are not the header of a record at that offset.
    pub fn decode(bytes: &[u8], checks: &Checks, seed: u64, offset: u64) -> Option<Self> {
        let bytes: &[u8; HEADER] = bytes.first_chunk()?;
        if bytes[..2] != MAGIC || u64_at(bytes, 72) != checks.header(bytes, seed, offset) {
            return None;
        }
        Some(Self {
            kind: bytes[2],
            form: Form::from_byte(bytes[3])?,
            stored: u32_at(bytes, 4),
            stamp: u64_at(bytes, 8),
            environment: u64_at(bytes, 16),
            key: key_at(bytes, 24),
            raw: u32_at(bytes, 56),
            build_us: u32_at(bytes, 60),
            payload_hash: u64_at(bytes, 64),
        })
    }
}

/// The result of decoding a segment's heads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Head {
    /// A segment of our format, with the seed of its checksums.
    Ours { seed: u64 },
    /// A segment of another format or secret: do not read or change it.
    Foreign { format: u32 },
    /// Neither copy is a valid head of this segment.
    Damaged,
}

pub fn encode_heads(id: u64, seed: u64, format: u32) -> [u8; HEADS] {
    let mut head = [0; HEAD];
    head[..8].copy_from_slice(&HEAD_MAGIC);
    head[8..12].copy_from_slice(&format.to_le_bytes());
    head[12..20].copy_from_slice(&id.to_le_bytes());
    head[20..28].copy_from_slice(&seed.to_le_bytes());
    let check = hash(&head[..28]) as u32;
    head[28..].copy_from_slice(&check.to_le_bytes());
    let mut heads = [0; HEADS];
    heads[..HEAD].copy_from_slice(&head);
    heads[HEAD..].copy_from_slice(&head);
    heads
}

/// Decode the heads of a segment of that id and format; one valid copy is enough.
pub fn decode_heads(bytes: &[u8], id: u64, format: u32) -> Head {
    let heads = bytes.chunks_exact(HEAD).take(2);
    heads.map(|head| decode_head(head, id, format)).find(|head| *head != Head::Damaged).unwrap_or(Head::Damaged)
}

fn decode_head(head: &[u8], id: u64, ours: u32) -> Head {
    if head[..8] != HEAD_MAGIC || u32_at(head, 28) != hash(&head[..28]) as u32 {
        return Head::Damaged;
    }
    match u32_at(head, 8) {
        format if format == ours && u64_at(head, 12) == id => Head::Ours { seed: u64_at(head, 20) },
        format if format == ours => Head::Damaged,
        format => Head::Foreign { format },
    }
}

/// Use count and last use of a value: an element of the payload of [`Form::Uses`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// Hash of the value's name. Names with the same hash share their uses, which is harmless.
    pub name_hash: u64,
    /// Second of the last use, since 1970.
    pub second: u32,
    /// Uses since the value was put.
    pub count: u32,
}

impl Usage {
    pub const SIZE: usize = 16;

    pub fn encode(&self) -> [u8; Self::SIZE] {
        let mut bytes = [0; Self::SIZE];
        bytes[..8].copy_from_slice(&self.name_hash.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.second.to_le_bytes());
        bytes[12..].copy_from_slice(&self.count.to_le_bytes());
        bytes
    }

    pub fn decode(bytes: &[u8]) -> Self {
        Self { name_hash: u64_at(bytes, 0), second: u32_at(bytes, 8), count: u32_at(bytes, 12) }
    }
}

pub fn u32_at(bytes: &[u8], at: usize) -> u32 {
    let mut number = [0; 4];
    number.copy_from_slice(&bytes[at..at + 4]);
    u32::from_le_bytes(number)
}

pub fn u64_at(bytes: &[u8], at: usize) -> u64 {
    let mut number = [0; 8];
    number.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(number)
}

pub fn key_at(bytes: &[u8], at: usize) -> Key {
    let mut key = [0; 32];
    key.copy_from_slice(&bytes[at..at + 32]);
    key
}
