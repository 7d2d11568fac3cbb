//! Names for cached data: equal inputs have the same name, different inputs have different names.
//!
//! A name is made of *parts* (the source of a stage, the defines, ...). Each part is hashed by itself. The name is the
//! hash of a list with the kind, the index, the length and the hash of every part. The hashes of the parts show later
//! which part has changed.
//!
//! Invariants:
//! 1. Parts are framed by their lengths: "ab", "c" and "a", "bc" differ, and a missing part differs from an empty one.
//! 2. Each purpose hashes its list in its own context, so a program and an environment never share a name.
//! 3. Kinds of parts are only appended, and a context has a version. A name that is on a disk stays valid.
//!
//! The hash is BLAKE3. `docs/formats.md` specifies the bytes.
//!
//! | file | content |
//! |---|---|
//! | `program` | [`program`](program()) names shader programs, also by SHA-1 as in Chromium's "GPU Program Caching" |
//! | `lanes` | BLAKE3 of several short inputs at once |
//! | `environment` | [`Environment`] names the driver and the machine that a program was built for |
#![deny(unsafe_code)]

mod environment;
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code, reason = "calls code for AVX2 after checking the processor")]
mod lanes;
mod program;
#[cfg(test)]
mod tests;

use std::fmt;

#[cfg(target_arch = "x86_64")]
use lanes::Keyed;

pub use environment::{Environment, environment_kind};
pub use program::{Attribute, Feedback, MAX_ENTRIES, Mode, Program, Stage, program, program_kind, shader};

/// A name of 256 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint(pub [u8; 32]);

impl Fingerprint {
    /// The BLAKE3 hash of these bytes. A program's list has the same hash for a part with these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }

    /// The first eight bytes, the same as [`Part::digest`].
    pub fn short(&self) -> [u8; 8] {
        let [a, b, c, d, e, f, g, h, ..] = self.0;
        [a, b, c, d, e, f, g, h]
    }

    /// 64 lower-case hexadecimal digits.
    pub fn hex(&self) -> [u8; 64] {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut text = [0; 64];
        for (pair, byte) in text.chunks_exact_mut(2).zip(self.0) {
            pair[0] = DIGITS[usize::from(byte >> 4)];
            pair[1] = DIGITS[usize::from(byte & 15)];
        }
        text
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.hex().iter().try_for_each(|&digit| fmt::Write::write_char(f, char::from(digit)))
    }
}

/// One part of a name. Stored parts show later which part differs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// The kind of the part. Each purpose has its own kinds.
    pub kind: u32,
    /// The index among parts of its kind.
    pub index: u32,
    /// Length in bytes.
    pub length: u64,
    /// The first eight bytes of its hash.
    pub digest: [u8; 8],
}

/// Builds a name from its parts, in one context. Names with the same first parts are made from copies.
#[derive(Clone)]
pub struct Builder {
    list: blake3::Hasher,
}

impl Builder {
    /// Start a name for one purpose. `context` is a globally unique string with a version.
    pub fn new(context: &'static str) -> Self {
        Self { list: blake3::Hasher::new_derive_key(context) }
    }

    /// Add a part of these bytes. The order of parts counts.
    pub fn part(&mut self, kind: u32, index: u32, bytes: &[u8]) -> Part {
        self.written(kind, index, |part| part.put(bytes))
    }

    /// Add a part whose bytes `write` appends.
    pub fn written(&mut self, kind: u32, index: u32, write: impl FnOnce(&mut Bytes)) -> Part {
        let mut bytes = Bytes { hasher: blake3::Hasher::new(), length: 0 };
        write(&mut bytes);
        let hash = Fingerprint(*bytes.hasher.finalize().as_bytes());
        self.list.update(&kind.to_le_bytes());
        self.list.update(&index.to_le_bytes());
        self.list.update(&bytes.length.to_le_bytes());
        self.list.update(&hash.0);
        Part { kind, index, length: bytes.length, digest: hash.short() }
    }

    /// The name.
    pub fn finish(&self) -> Fingerprint {
        Fingerprint(*self.list.finalize().as_bytes())
    }
}

/// Names that are made at once.
pub const LANES: usize = 8;

/// The begin of names that differ in their last part alone. They are made several at once.
#[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "the list is for names that are made at once"))]
pub struct Siblings {
    #[cfg(target_arch = "x86_64")]
    keyed: Keyed,
    begin: Builder,
    /// The list of the first parts.
    list: [u8; MOST_PARTS * PART],
    length: usize,
}

/// Bytes of a part in a list.
const PART: usize = 4 + 4 + 8 + 32;
/// Most parts of siblings, with the last one.
const MOST_PARTS: usize = 4;

impl Siblings {
    /// Start names for one purpose, as [`Builder::new`] does, with these parts: kind, index and bytes. At most three.
    pub fn new(context: &'static str, parts: &[(u32, u32, &[u8])]) -> Self {
        let mut begin = Builder::new(context);
        let (mut list, mut length) = ([0; MOST_PARTS * PART], 0);
        for (kind, index, bytes) in parts {
            list[length..][..PART].copy_from_slice(&part_of(*kind, *index, bytes.len(), &Fingerprint::of(bytes).0));
            length += PART;
            begin.part(*kind, *index, bytes);
        }
        Self {
            #[cfg(target_arch = "x86_64")]
            keyed: Keyed::derive(context),
            begin,
            list,
            length,
        }
    }

    /// The names with these last parts.
    pub fn names(&self, kind: u32, index: u32, last: &[&[u8]; LANES]) -> [Fingerprint; LANES] {
        self.names_at_once(kind, index, last).unwrap_or_else(|| {
            last.map(|bytes| {
                let mut name = self.begin.clone();
                name.part(kind, index, bytes);
                name.finish()
            })
        })
    }

    #[cfg(target_arch = "x86_64")]
    fn names_at_once(&self, kind: u32, index: u32, last: &[&[u8]; LANES]) -> Option<[Fingerprint; LANES]> {
        let hashes = Keyed::PLAIN.hash(last)?;
        let lists = hashes.map(|hash| {
            let mut list = self.list;
            list[self.length..][..PART].copy_from_slice(&part_of(kind, index, last[0].len(), &hash));
            list
        });
        let lists = std::array::from_fn(|lane| &lists[lane][..self.length + PART]);
        Some(self.keyed.hash(&lists)?.map(Fingerprint))
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn names_at_once(&self, _: u32, _: u32, _: &[&[u8]; LANES]) -> Option<[Fingerprint; LANES]> {
        None
    }
}

/// A part in a list: kind, index, length and hash.
fn part_of(kind: u32, index: u32, length: usize, hash: &[u8; 32]) -> [u8; PART] {
    let mut bytes = [0; PART];
    bytes[..4].copy_from_slice(&kind.to_le_bytes());
    bytes[4..8].copy_from_slice(&index.to_le_bytes());
    bytes[8..16].copy_from_slice(&(length as u64).to_le_bytes());
    bytes[16..].copy_from_slice(hash);
    bytes
}

/// The bytes of a part, hashed incrementally.
pub struct Bytes {
    hasher: blake3::Hasher,
    length: u64,
}

impl Bytes {
    /// Append bytes.
    pub fn put(&mut self, bytes: &[u8]) {
        self.hasher.update(bytes);
        self.length += bytes.len() as u64;
    }

    /// Append the length of `bytes` as 64 bits, then `bytes`.
    pub fn put_framed(&mut self, bytes: &[u8]) {
        self.put(&(bytes.len() as u64).to_le_bytes());
        self.put(bytes);
    }
}
