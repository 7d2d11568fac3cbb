//! The C API. Every `extern "C"` function of the library is in this room, and nothing else touches foreign pointers.
//!
//! Each folder makes one header: `ffi/goblin/` becomes `include/hobgoblin/goblin.h`, its files in the order in which the
//! folder's `mod.rs` names them, each item at its place in the source. [`base`] is what all of them stand on.
//!
//! A function is written once, as C declares it, under `#[entry]`: the attribute adds the guard, finds the handle, checks
//! and converts every argument, and leaves a body of safe Rust that returns `Result`. `#[versioned]` declares a struct
//! that grows, `#[open_enum]` an enum, `#[opaque]` a handle: see the package `macros`.
//!
//! A comment above each `unsafe` block says why it is sound; the *caller's* side is said once, in `docs/ownership.md`,
//! and not in each function's documentation, since C has no unsafe functions.
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
