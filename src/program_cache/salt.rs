//! Salted ids: the id of one owner never resolves at another.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::base::Id;

/// The salt of an owner's ids.
#[derive(Debug)]
pub struct IdSalt(u32);

impl Default for IdSalt {
    fn default() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        // Far apart, because generations count up from 0.
        Self(COUNT.fetch_add(1, Ordering::Relaxed).wrapping_mul(0x9E37_79B9))
    }
}

impl IdSalt {
    /// The id for the outside, and back.
    pub fn apply(&self, id: Id) -> Id {
        Id { generation: id.generation ^ self.0, ..id }
    }
}
