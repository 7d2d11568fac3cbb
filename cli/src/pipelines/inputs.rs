//! Files of arguments. A shell without patterns, and a list too long for a command line, are no obstacle.

use std::path::{Path, PathBuf};

use hobgoblin::pipeline::keys::{KeyMap, Wanted};
use hobgoblin::store::io::{OsIo, SharedIo, share};

use crate::failure::{Failure, Result};
use crate::progress::Progress;

/// The operating system's files.
pub fn files() -> Result<SharedIo> {
    Ok(share(OsIo)?)
}

/// The files of paths and patterns (`runs/*.rec.hobpipe`), sorted, each once.
pub fn expanded(patterns: &[String]) -> Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for pattern in patterns {
        if Path::new(pattern).exists() {
            paths.push(PathBuf::from(pattern));
            continue;
        }
        let invalid = |why| Failure::Usage(format!("invalid pattern '{pattern}': {why}"));
        let before = paths.len();
        for found in glob::glob(pattern).map_err(invalid)? {
            paths.push(found.map_err(|why| Failure::File(why.to_string()))?);
        }
        if paths.len() == before {
            return Err(Failure::File(format!("there is no file '{pattern}'")));
        }
    }
    paths.sort();
    paths.dedup();
    Ok(paths)
}

/// The key map of several files: all lines, or those that are wanted.
pub fn key_map(patterns: &[String], wanted: Option<&Wanted>, is_quiet: bool) -> Result<(KeyMap, Vec<(PathBuf, u64)>)> {
    let (io, paths) = (files()?, expanded(patterns)?);
    let progress = Progress::unknown("reading keys", is_quiet);
    let keys = match wanted {
        Some(wanted) => KeyMap::load_wanted(&io, &paths, wanted)?,
        None => KeyMap::load(&io, &paths)?,
    };
    progress.step()?;
    let lines = paths.into_iter().zip(keys.file_lines().iter().copied()).collect();
    Ok((keys, lines))
}
