//! `hobgoblin` keeps a frame inside its budget.
//!
//! This page is the map; each room's own page says what it is for and where its idea comes from. A room imports only
//! rooms above it.
//!
//! | room | what lives there |
//! |---|---|
//! | [`base`] | errors with messages, fallible memory, ids, whole files, the host's log and clock |
//! | [`stats`] | running and decayed mean and variance, histograms, quantiles |
//! | [`executor`] | loops over blocks on a pool or the host's threads; the background queue |
//! | [`balance`] | chooses among strategies for the same work by measured time |
//! | [`knapsack`] | multiple-choice knapsack with normal burdens |
//! | [`profile`] | tasks → options → estimates; JSON; merge; scale between machines |
//! | [`fingerprint`] | names of shader programs and of the environments they are built for |
//! | [`store`] | crash-safe append-only segment log in a directory that processes share |
//! | [`quarantine`] | bans binaries that crashed the process twice |
//! | [`goblin`] | settings in, choices out, every frame |
//! | [`program_cache`] | shader and program binaries in memory and on the disk, their statuses, the manager |
//! | [`pipeline`] | pipeline state objects: recordings, shipped caches, the precompiler |
//! | [`graph`] | dataflow graphs: lazy inputs, cut-offs, evaluators, errors |
//! | [`perception`] | vision over frames: what did not change is not looked at again |
//! | `ffi` | the C API: the only room that touches foreign pointers |

#![cfg_attr(test, allow(clippy::disallowed_methods))]
#![cfg_attr(not(test), deny(clippy::dbg_macro, clippy::print_stderr, clippy::print_stdout, clippy::todo))]

#[cfg(feature = "balance")]
pub mod balance;
pub mod base;
#[cfg(feature = "executor")]
pub mod executor;
#[cfg(feature = "store")]
pub mod fingerprint;
#[cfg(feature = "goblin")]
pub mod goblin;
#[cfg(feature = "graph")]
pub mod graph;
#[cfg(feature = "goblin")]
pub mod knapsack;
#[cfg(feature = "perception")]
pub mod perception;
#[cfg(feature = "pipeline")]
pub mod pipeline;
#[cfg(feature = "goblin")]
pub mod profile;
#[cfg(feature = "program_cache")]
pub mod program_cache;
#[cfg(feature = "store")]
pub mod quarantine;
pub mod stats;
#[cfg(feature = "store")]
pub mod store;

mod ffi;
#[cfg(test)]
mod testing;
