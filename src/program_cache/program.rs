//! A program as the host gives it, and the result of storing one.

use super::key::Key;
use super::named::named;

/// A program to store.
#[derive(Clone, Copy, Debug, Default)]
pub struct Program<'a> {
    /// The driver's name for the format of `data`, such as the `GLenum` of glGetProgramBinary. The cache only stores it.
    pub format: u32,
    /// The program binary.
    pub data: &'a [u8],
    /// Any bytes that the host wants back with the binary, such as its attribute, uniform and varying maps.
    pub reflection: &'a [u8],
    /// Keys of the shaders that it was linked from.
    pub stages: &'a [Key],
    /// Build time in microseconds. The cost-aware policy takes 0 for 1.
    pub cost_us: u64,
    /// The page, level or material that it belongs to, until a get for another group. Only the policy by groups uses it.
    pub group: u32,
}

/// The result of a put or a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Put {
    /// Stored under a new key.
    Stored,
    /// Stored in place of the program that the key had.
    Replaced,
    /// Not stored.
    Refused(Refusal),
}

named! {
    /// Why a program was not stored.
    Refusal {
        /// It is larger than the limit.
        TooLarge = "too_large",
        /// It has no data, and [`Options::store_empty`](super::Options::store_empty) is off.
        Empty = "empty",
        /// Its key has a program already.
        Exists = "exists",
        /// It was loaded ahead of need, and memory is full.
        NoRoom = "no_room",
        /// Its key is banned.
        Banned = "banned",
        /// It was removed while the disk was reading it.
        Removed = "removed",
    }
}

/// Why the disk loads a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// It was missed: it is stored like a put.
    Now,
    /// It may be asked for later: it is stored only if there is room, and evicted first.
    Ahead,
}
