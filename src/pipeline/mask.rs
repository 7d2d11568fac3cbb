//! Usage masks name the situations of a game that use a pipeline.

use std::fmt;

use crate::base::{Result, try_push, try_to_vec};

/// Words of a mask.
const WORDS: usize = 4;

/// A usage mask of 256 bits. A host without named dimensions uses the first 64.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mask(pub [u64; WORDS]);

impl Mask {
    /// No bit.
    pub const NONE: Self = Self([0; WORDS]);
    /// All bits: has all bits of every mask.
    pub const ALL: Self = Self([u64::MAX; WORDS]);

    /// A mask of 64 bits.
    pub const fn of_bits(bits: u64) -> Self {
        Self([bits, 0, 0, 0])
    }

    /// The first 64 bits.
    pub fn bits(&self) -> u64 {
        self.0[0]
    }

    /// The bits of both.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|at| self.0[at] & other.0[at]))
    }

    /// The bits of either.
    #[must_use]
    pub fn or(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|at| self.0[at] | other.0[at]))
    }

    /// Whether this mask of a pipeline has all bits of the current mask: `(entry & current) == current`.
    pub fn has_all_of(&self, current: &Self) -> bool {
        self.and(current) == *current
    }
}

/// A number as in logs: decimal if it has 64 bits, and hexadecimal otherwise.
impl fmt::Display for Mask {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            [low, 0, 0, 0] => write!(to, "{low}"),
            [a, b, c, d] => write!(to, "0x{d:016x}{c:016x}{b:016x}{a:016x}"),
        }
    }
}

/// The masks that a pipeline was used with: sorted, each once. They are kept apart, because the bits of two packed masks
/// together may name a situation that never was.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MaskSet(Vec<Mask>);

impl MaskSet {
    /// A set of one mask.
    pub fn of(mask: Mask) -> Result<Self> {
        Ok(Self(try_to_vec(&[mask])?))
    }

    /// The masks, sorted.
    pub fn as_slice(&self) -> &[Mask] {
        &self.0
    }

    /// Remove all masks. Their memory stays.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Add a mask. True if it is new.
    pub fn insert(&mut self, mask: Mask) -> Result<bool> {
        match self.0.binary_search(&mask) {
            Ok(_) => Ok(false),
            Err(at) => {
                try_push(&mut self.0, mask)?;
                self.0[at..].rotate_right(1);
                Ok(true)
            }
        }
    }

    /// Add all masks of another set. True if one is new.
    pub fn merge(&mut self, other: &Self) -> Result<bool> {
        let mut is_changed = false;
        for &mask in &other.0 {
            is_changed |= self.insert(mask)?;
        }
        Ok(is_changed)
    }

    /// The bits of all masks: for hosts whose masks are plain bits.
    pub fn union(&self) -> Mask {
        self.0.iter().fold(Mask::NONE, |all, mask| all.or(mask))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mask_set_is_sorted_and_has_each_mask_once() {
        let mut set = MaskSet::default();
        let added: Vec<bool> =
            [5, 1, 5, 9, 1].into_iter().map(|bits| set.insert(Mask::of_bits(bits)).expect("memory")).collect();
        assert_eq!(added, [true, true, false, true, false]);
        assert_eq!(set.as_slice().iter().map(Mask::bits).collect::<Vec<_>>(), [1, 5, 9]);
        assert_eq!(set.union().bits(), 13);
        let copy = set.clone();
        assert!(!set.merge(&copy).expect("memory"));
        assert_eq!(set, copy);
    }

    #[test]
    fn entry_fits_if_it_has_all_bits_of_the_current_mask() {
        let (entry, current) = (Mask::of_bits(0b0111), Mask::of_bits(0b0101));
        assert!(entry.has_all_of(&current));
        assert!(!current.has_all_of(&entry));
        assert!(Mask::ALL.has_all_of(&entry) && entry.has_all_of(&Mask::NONE));
    }
}
