//! Files of arguments. A shell without patterns, and a list too long for a command line, are no obstacle.

use std::path::PathBuf;

use hobgoblin::pipeline::keys::KeyMap;
use hobgoblin::store::io::{OsIo, SharedIo, share};

use crate::failure::Result;
use crate::progress::Progress;

/// The operating system's files.
pub fn files() -> Result<SharedIo> {
    Ok(share(OsIo)?)
}

/// All lines of the key maps of several files.
pub fn key_map(io: &SharedIo, paths: &[PathBuf], is_quiet: bool) -> Result<KeyMap> {
    let progress = Progress::unknown("reading keys", is_quiet);
    let keys = KeyMap::load(io, paths)?;
    progress.step()?;
    Ok(keys)
}
