//! Facts about the goblin.
