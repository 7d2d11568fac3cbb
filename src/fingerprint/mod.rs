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
//! | `environment` | [`Environment`] names the driver and the machine that a program was built for |
#![forbid(unsafe_code)]

mod environment;
mod program;
#[cfg(test)]
mod tests;

use std::fmt;

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
