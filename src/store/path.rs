//! Paths of the files of a directory, formed without an allocation.

use std::ops::Deref;
use std::path::Path;

use crate::base::{Result, error};

/// Bytes of the longest path. Systems accept no longer ones.
const LONGEST: usize = 4096;
/// Bytes for a separator and the longest name of a file.
const LONGEST_NAME: usize = 32;

/// Check that the paths of a directory's files are not too long.
pub(super) fn check_directory(directory: &Path) -> Result<()> {
    let length = directory.as_os_str().len();
    if length + LONGEST_NAME > LONGEST {
        let most = LONGEST - LONGEST_NAME;
        return Err(error!(InvalidArgument, "the path of the directory has {length} bytes: use at most {most}"));
    }
    Ok(())
}

/// The path of a file.
#[cfg(unix)]
pub(super) struct FilePath {
    bytes: [u8; LONGEST],
    length: usize,
}

#[cfg(unix)]
impl FilePath {
    /// The path of a file of a directory that was [checked](check_directory).
    pub fn new(directory: &Path, name: &str) -> Self {
        use std::os::unix::ffi::OsStrExt;
        let directory = directory.as_os_str().as_bytes();
        let separator = if directory.last().is_none_or(|&last| last == b'/') { "" } else { "/" };
        let mut path = Self { bytes: [0; LONGEST], length: 0 };
        for part in [directory, separator.as_bytes(), name.as_bytes()] {
            path.bytes[path.length..path.length + part.len()].copy_from_slice(part);
            path.length += part.len();
        }
        path
    }
}

#[cfg(unix)]
impl Deref for FilePath {
    type Target = Path;

    fn deref(&self) -> &Path {
        use std::os::unix::ffi::OsStrExt;
        Path::new(std::ffi::OsStr::from_bytes(&self.bytes[..self.length]))
    }
}

/// The path of a file. Other systems' paths are not bytes.
#[cfg(not(unix))]
pub(super) struct FilePath(std::path::PathBuf);

#[cfg(not(unix))]
impl FilePath {
    pub fn new(directory: &Path, name: &str) -> Self {
        Self(directory.join(name))
    }
}

#[cfg(not(unix))]
impl Deref for FilePath {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}
