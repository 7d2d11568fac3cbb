//! Options of a library.

use std::path::PathBuf;

use super::Compiler;
use crate::base::{Result, SharedDyn, try_string};
use crate::executor::Executor;
use crate::pipeline::{Dimension, Identity, precompile};
use crate::store;
use crate::store::io::SharedIo;

/// Options of a library.
pub struct Options {
    /// The game, its shader format and the graphics API.
    pub identity: Identity,
    /// The version of the game: the user's cache of another version is not used.
    pub version: String,
    /// The environment of bans: the driver and device. See [`Environment::id`](crate::fingerprint::Environment::id).
    pub environment: u64,
    /// The dimensions of masks. Empty: masks are the host's own. See
    /// [`compare_dimensions`](crate::pipeline::compare_dimensions).
    pub dimensions: Vec<Dimension>,
    /// The precompiler.
    pub precompile: precompile::Options,
    /// The file system of all files.
    pub io: SharedIo,
    /// Directory of the user's cache and of bans. `None`: nothing outlives the process.
    pub directory: Option<PathBuf>,
    /// A new file that records this run. `None`: no recording.
    pub recording: Option<PathBuf>,
    /// Limit and age of the user's cache.
    pub store: store::Options,
    /// Keep pipelines that the shipped cache lacks for the next start. Default: true.
    pub keeps_user_cache: bool,
    /// Strikes that ban a pipeline. Default: 2.
    pub ban_at: u32,
    /// Compiles in its background. `None`: only calls of [`Core::compile_one`](super::Core::compile_one) compile.
    pub executor: Option<Executor>,
    /// The host's compiler.
    pub compiler: SharedDyn<dyn Compiler>,
}

impl Options {
    /// Options of a game. Everything stays in memory.
    pub fn new(
        identity: Identity,
        version: &str,
        compiler: SharedDyn<dyn Compiler>,
        io: SharedIo,
        now: fn() -> u64,
    ) -> Result<Self> {
        Ok(Self {
            identity,
            version: try_string(version)?,
            environment: 0,
            dimensions: Vec::new(),
            precompile: precompile::Options::default(),
            io,
            directory: None,
            recording: None,
            store: store::Options::new(now),
            keeps_user_cache: true,
            ban_at: 2,
            executor: None,
            compiler,
        })
    }
}
