//! The C API. Every `extern "C"` function of the library is in this room, and nothing else touches foreign pointers.
//!
//! A topic header is made from one file or a few: `ffi/goblin.rs` and `ffi/goblin_*.rs` become
//! `include/hobgoblin/goblin.h`. Around them stands what all share:
//! [`guard`] (panics, floating-point environment, last error), [`handle`] (opaque handles, who is inside), [`layout`]
//! (reading and writing the caller's structs), [`hooks`] (what the host has lent) and `allocator`.
//!
//! In this room a comment above each `unsafe` block says why it is sound; what the *caller* must hold to is said once,
//! in `docs/ownership.md`, and not in each function's doc, since C has no unsafe functions.
#![allow(non_camel_case_types, clippy::missing_safety_doc)]
#![allow(dead_code, reason = "constants and enumerators that only C uses")]
#![allow(missing_docs, reason = "the headers' fields that a sentence would only repeat")]

#[cfg(not(panic = "unwind"))]
compile_error!("hobgoblin must be built with panic=unwind: a panic is turned into a result code at the C boundary");

#[cfg(feature = "host-allocator")]
mod allocator;
#[cfg(feature = "fault-injection")]
mod fault;
mod guard;
mod handle;
mod hooks;
mod layout;
#[cfg(all(feature = "no-backtrace", target_os = "linux"))]
mod no_backtrace;

pub mod base;
#[cfg(feature = "goblin")]
mod callbacks;
#[cfg(feature = "executor")]
mod executor;
#[cfg(feature = "program_cache")]
mod file_io;
#[cfg(feature = "program_cache")]
mod fingerprint;
#[cfg(feature = "goblin")]
mod goblin;
#[cfg(feature = "goblin")]
mod goblin_control;
#[cfg(feature = "goblin")]
mod goblin_frame;
#[cfg(feature = "goblin")]
mod goblin_product;
#[cfg(feature = "goblin")]
mod goblin_record;
#[cfg(feature = "goblin")]
mod goblin_setting;
#[cfg(feature = "goblin")]
mod goblin_strategy;
#[cfg(feature = "goblin")]
mod knapsack;
#[cfg(feature = "goblin")]
mod knapsack_cell;
#[cfg(feature = "goblin")]
mod profile;
#[cfg(feature = "program_cache")]
mod program_cache;
#[cfg(feature = "program_cache")]
mod program_cache_blob;
#[cfg(feature = "program_cache")]
mod program_cache_bundle;
#[cfg(feature = "program_cache")]
mod program_cache_driver;
#[cfg(feature = "program_cache")]
mod program_cache_manager;
#[cfg(feature = "program_cache")]
mod program_cache_state;
#[cfg(feature = "program_cache")]
mod program_cache_statistics;
#[cfg(feature = "program_cache")]
mod program_cache_why;
#[cfg(feature = "program_cache")]
mod store;
