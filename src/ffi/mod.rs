//! The C API. All `extern "C"` functions of the library are in this module. No other module accesses foreign pointers.
//!
//! Each folder makes one header: `ffi/goblin/` becomes `include/hobgoblin/goblin.h`. The files are in the order of the
//! folder's `mod.rs`, the items in the order of the source. All of them use [`base`].
//!
//! A function is written once, as C declares it, under `#[entry]`. The attribute adds the guard, finds the handle, and
//! checks and converts every argument. The body is safe Rust that returns `Result`. `#[versioned]` declares a struct
//! that grows, `#[open_enum]` an enum, `#[opaque]` a handle: see the package `macros`.
//!
//! A comment above each `unsafe` block explains why it is sound. The *caller's* obligations are in `docs/ownership.md`.
//! They are not repeated at each function, since C has no unsafe functions.
#![allow(non_camel_case_types, clippy::missing_safety_doc)]
#![allow(dead_code, reason = "constants and enumerators that only C uses")]
#![allow(missing_docs, reason = "the headers' fields that a sentence would only repeat")]

#[cfg(not(panic = "unwind"))]
compile_error!("hobgoblin must be built with panic=unwind: a panic is turned into a result code at the C boundary");

pub mod base;
#[cfg(feature = "fault-injection")]
mod fault;
#[cfg(all(feature = "no-backtrace", target_os = "linux"))]
mod no_backtrace;

#[cfg(feature = "executor")]
mod executor;
#[cfg(feature = "program_cache")]
mod fingerprint;
#[cfg(feature = "goblin")]
mod goblin;
#[cfg(feature = "goblin")]
mod knapsack;
#[cfg(feature = "goblin")]
mod profile;
#[cfg(feature = "program_cache")]
mod program_cache;
#[cfg(feature = "program_cache")]
mod store;
