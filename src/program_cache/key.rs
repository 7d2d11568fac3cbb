//! Keys of programs and shaders, and their hash in tables.

use std::hash::{BuildHasher, BuildHasherDefault, Hasher, RandomState};
use std::sync::OnceLock;

/// The digest of everything that a program or a shader is made from.
pub type Key = [u8; 32];

/// The hash of a key. Others write directories and bundles, and a host may make up keys with few bits that differ. So the
/// words of a key are multiplied in pairs after random numbers of the process were added (NH; Black and others, "UMAC",
/// 1999): nobody can choose keys that collide.
#[derive(Default)]
pub struct Fold(u64);

/// The random numbers of this process.
fn seeds() -> &'static [u64; 4] {
    static SEEDS: OnceLock<[u64; 4]> = OnceLock::new();
    SEEDS.get_or_init(|| {
        let state = RandomState::new();
        std::array::from_fn(|place| state.hash_one(place))
    })
}

fn multiply(one: u64, other: u64) -> u64 {
    let wide = u128::from(one) * u128::from(other);
    (wide >> 64) as u64 ^ wide as u64
}

impl Hasher for Fold {
    fn write(&mut self, bytes: &[u8]) {
        let words = bytes.as_chunks::<8>().0.as_chunks::<2>().0;
        for (words, seeds) in words.iter().zip(seeds().as_chunks::<2>().0) {
            let [one, other] = words.map(u64::from_le_bytes);
            self.0 ^= multiply(one.wrapping_add(seeds[0]), other.wrapping_add(seeds[1]));
        }
    }

    /// Slices write their length first; all keys have the same length.
    fn write_usize(&mut self, _: usize) {}

    fn finish(&self) -> u64 {
        multiply(self.0, 0x9E37_79B9_7F4A_7C15)
    }
}

/// Hashes the keys of a table.
pub type FoldKeys = BuildHasherDefault<Fold>;

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(words: [u64; 4]) -> u64 {
        let mut fold = Fold::default();
        fold.write(words.map(u64::to_le_bytes).as_flattened());
        fold.finish()
    }

    #[test]
    fn keys_made_to_collide_have_different_hashes() {
        let count = 10_000;
        // Equal after any exchange of words, after an exclusive or of rotated words, and with a factor of zero.
        let families: [fn(u64) -> [u64; 4]; 4] =
            [|n| [n, 0, 0, n.rotate_left(69)], |n| [0, n, 0, n], |n| [n, n, n, n], |n| [0, n, 0, 0]];
        for family in families {
            let hashes: std::collections::HashSet<_> = (1..=count).map(|n| hash(family(n))).collect();
            assert_eq!(hashes.len() as u64, count);
        }
        assert_ne!(hash([1, 2, 3, 4]), hash([3, 4, 1, 2]));
    }
}
