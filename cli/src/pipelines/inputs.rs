//! Files of arguments. A shell without patterns, and a list too long for a command line, are no obstacle.

use std::path::{Path, PathBuf};

use hobgoblin::pipeline::keys::{KeyMap, KeyMapBuilder};
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

/// The key map of several files, and the number of their lines.
pub fn key_map(patterns: &[String], is_quiet: bool) -> Result<(KeyMap, Vec<(PathBuf, u64)>)> {
    let (io, mut builder, mut loaded) = (files()?, KeyMapBuilder::default(), Vec::new());
    let paths = expanded(patterns)?;
    let progress = Progress::new("reading keys", paths.len() as u64, is_quiet);
    for path in paths {
        let (_, lines) = builder.add_file(&io, &path)?;
        if lines.damaged > 0 || lines.is_truncated {
            return Err(Failure::File(format!("'{}' is damaged: export the keys again", path.display())));
        }
        loaded.push((path, lines.lines));
        progress.step()?;
    }
    Ok((builder.finish()?, loaded))
}
