//! Compiled shader programs in memory and on disk, so that no program is compiled twice.
//!
//! After Chromium's "GPU Program Caching". The cache stores program binaries by key, and knows which shaders have
//! compiled. A host can defer the compile of a known shader until one of its programs is missed; the [`manager`] does so.
//! All hits come from memory. The disk writes programs that were put and loads programs that were missed, in the
//! background.
//!
//! | module | content |
//! |---|---|
//! | `cache` | [`Cache`] owns the tiers below and routes calls between them |
//! | `memory` | programs and statuses in memory; calls nothing above it |
//! | `disk` | requests, and the worker that reads and writes the store; loads programs into memory |
//! | `strikes` | open uses, and the strikes and bans of keys |
//! | `blobs` | blobs that Dawn and EGL have measured, and their uses |
//! | `bundle` | programs that ship with a game |
//! | [`manager`] | drives the host's compile, link and load |
//!
//! A call goes from [`Cache`] to one tier, which answers with plain data, and then perhaps to the other tier. No tier calls
//! back. The disk's worker stores loaded programs in memory.
#![forbid(unsafe_code)]

mod blobs;
mod bundle;
mod cache;
mod disk;
mod key;
mod list;
pub mod manager;
mod memory;
mod named;
mod problems;
mod program;
mod report;
mod salt;
mod strikes;
#[cfg(test)]
mod tests;

pub use bundle::Contents;
pub use cache::{BlobCopy, Cache, Desc, OpenCache};
pub use disk::{Disk, DiskOptions, Progress, Scope, Sources, kind};
pub use key::Key;
pub use list::{Listed, Places};
pub use memory::material::{Difference, Label, Material, Shown, Whereabouts, WhyMissed};
pub use memory::options::{Counted, Options, Policy, Pressure};
pub use memory::statistics::{Measure, Reason, Statistics};
pub use memory::status::Status;
pub use memory::{Blob, Lru, Memory};
pub use problems::Observer;
pub use program::{Program, Put, Refusal, Wanted};
pub use report::CacheStatistics;
pub use salt::IdSalt;
pub use strikes::{UseToken, Verdict};
