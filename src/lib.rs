//! `hobgoblin` keeps a frame inside its budget.
//!
//! This page is the map; each room's own page says what it is for and where its idea comes from. A room imports only
//! rooms above it.
//!
//! | room | what lives there |
//! |---|---|
//! | [`base`] | results and their sentences, fallible allocation, log, limits |
//! | [`stats`] | running and decayed normal estimates |
//! | `store` | crash-safe append-only segment log in a directory that processes share (feature `program_cache`) |
//! | [`knapsack`] | multiple-choice knapsack with normal burdens |
//! | [`profile`] | tasks → options → estimates; JSON; merge; scale between machines |
//! | [`goblin`] | settings in, choices out, every frame |
//! | `ffi` | the C API: the only room that touches foreign pointers |

pub mod base;
#[cfg(feature = "goblin")]
pub mod goblin;
#[cfg(feature = "goblin")]
pub mod knapsack;
#[cfg(feature = "goblin")]
pub mod profile;
pub mod stats;
#[cfg(feature = "program_cache")]
pub mod store;

mod ffi;
