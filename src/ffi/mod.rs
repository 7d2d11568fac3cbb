//! The C API. All `extern "C"` functions of the library are in this module. No other module accesses foreign pointers.
//!
//! Each folder makes one header: `ffi/goblin/` becomes `include/hobgoblin/goblin.h`. The files are in the order of the
//! folder's `mod.rs`, the items in the order of the source. All of them use [`base`].
//!
//! A function is written once, as C declares it, under `#[entry]`. The attribute adds the guard, finds the handle, and
//! checks and converts every argument. The body is safe Rust that returns `Result`. `#[versioned]` declares a struct
//! that grows, `#[open_enum]` an enum, `#[opaque]` a handle: see the package `macros`.
//!
//! The steps of a call, each with its file in `base`:
//! 1. `guard` catches panics, turns an error into a result code, and keeps its message for `hob_last_error`.
//! 2. `float` sets the default floating-point environment. Callbacks of the host run in the host's own.
//! 3. `handle` finds the value behind a handle and decides whether the call may run.
//! 4. `argument`, `array`, `text` and `structs` check the arguments and copy them into Rust values.
//! 5. The body calls a room of the library.
//! 6. `out` writes the results.
//!
//! Invariants:
//! 1. No panic and no error leaves the library other than as a result code.
//! 2. No Rust reference to a caller's struct is formed. Structs are copied bytewise, at any version of the header.
//! 3. Nothing is written to the caller's memory before the call has succeeded, except the needed size of a buffer.
//! 4. While an exclusive call runs, other calls on its handle return `HOB_RESULT_BUSY`. Exceptions are const calls from
//!    its own callbacks, and reads of a goblin's published choices.
//! 5. After a panic a handle is poisoned: const calls answer from the last good state, others do nothing.
//! 6. Per-thread state has no destructor and uses no heap memory, so that the library can be unloaded.
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

#[cfg(feature = "balance")]
mod balance;
#[cfg(feature = "executor")]
mod executor;
#[cfg(feature = "store")]
mod fingerprint;
#[cfg(feature = "goblin")]
mod goblin;
#[cfg(feature = "graph")]
mod graph;
#[cfg(feature = "goblin")]
mod knapsack;
#[cfg(feature = "perception")]
mod perception;
#[cfg(feature = "pipeline")]
mod pipeline;
#[cfg(feature = "goblin")]
mod profile;
#[cfg(feature = "program_cache")]
mod program_cache;
#[cfg(feature = "store")]
mod store;
