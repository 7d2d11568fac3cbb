//! Keys of programs and shaders, and their hash in tables.

use std::hash::{BuildHasherDefault, Hasher};

/// The digest of everything that a program or a shader is made from.
pub type Key = [u8; 32];

/// The hash of a key: its words folded into one. Keys are digests already; one multiplication spreads keys that a host
/// made up with few bits that differ.
#[derive(Default)]
pub struct Fold(u64);

impl Hasher for Fold {
    fn write(&mut self, bytes: &[u8]) {
        for word in bytes.as_chunks::<8>().0 {
            self.0 = self.0.rotate_left(23) ^ u64::from_le_bytes(*word);
        }
    }

    /// Slices write their length first; all keys have the same length.
    fn write_usize(&mut self, _: usize) {}

    fn finish(&self) -> u64 {
        let wide = u128::from(self.0) * 0x9E37_79B9_7F4A_7C15;
        (wide >> 64) as u64 ^ wide as u64
    }
}

/// Hashes the keys of a table.
pub type FoldKeys = BuildHasherDefault<Fold>;
