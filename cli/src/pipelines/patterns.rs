//! Files of paths and patterns (`runs/*.rec.hobpipe`).
//!
//! A part of a path that exists is taken by its name, so brackets in names need no escape. The other parts are patterns
//! with `*`, `?`, `[...]`, and `**` for any depth. As in a shell, they match no name that begins with a dot, unless the
//! pattern begins with one. Names need not be UTF-8.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};

use glob::Pattern;

use crate::failure::{Failure, Result, cannot_read, shown};

/// The files of paths and patterns, sorted, each once.
pub fn expanded(patterns: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for pattern in patterns {
        let found = matches(pattern)?;
        if found.is_empty() {
            return Err(Failure::File(format!("there is no file '{}'", shown(pattern))));
        }
        paths.extend(found);
    }
    paths.sort();
    paths.dedup();
    Ok(paths)
}

fn matches(pattern: &Path) -> Result<Vec<PathBuf>> {
    if pattern.exists() {
        return Ok(vec![pattern.into()]);
    }
    let mut found = vec![PathBuf::new()];
    for part in pattern.components() {
        found = match part {
            Component::Normal(name) => step(&found, name)?,
            other => found.iter().map(|directory| directory.join(other)).collect(),
        };
    }
    Ok(found)
}

/// The paths of directories that continue with a name or its pattern.
fn step(directories: &[PathBuf], name: &OsStr) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for directory in directories {
        if directory.join(name).symlink_metadata().is_ok() {
            found.push(directory.join(name));
        } else if name == "**" {
            below(directory, &mut found)?;
        } else {
            let text = name.to_string_lossy();
            let invalid = |why| Failure::Usage(format!("invalid pattern '{}': {why}", shown(Path::new(name))));
            let pattern = Pattern::new(&text).map_err(invalid)?;
            let is_match = |name: &str| pattern.matches(name) && (text.starts_with('.') || !name.starts_with('.'));
            let entries = entries(directory)?.into_iter();
            found.extend(entries.filter(|entry| is_match(&entry.to_string_lossy())).map(|entry| directory.join(entry)));
        }
    }
    Ok(found)
}

/// A directory, and all directories in it. Links are not followed.
fn below(directory: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    found.push(directory.into());
    for name in entries(directory)? {
        let path = directory.join(&name);
        let is_directory = path.symlink_metadata().is_ok_and(|found| found.is_dir());
        if is_directory && !name.to_string_lossy().starts_with('.') {
            below(&path, found)?;
        }
    }
    Ok(())
}

/// The names in a directory. Anything else has none.
fn entries(directory: &Path) -> Result<Vec<std::ffi::OsString>> {
    let read = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
    let listed = fs::read_dir(read).and_then(|entries| entries.map(|entry| Ok(entry?.file_name())).collect());
    match listed {
        Err(why) if is_no_directory(&why) => Ok(Vec::new()),
        listed => listed.map_err(|why| cannot_read(read, &why)),
    }
}

fn is_no_directory(why: &io::Error) -> bool {
    matches!(why.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}
