//! Files, by way of whoever owns them: the operating system or the host's own file layer (consoles, paks).

use std::fs;
use std::io::{Read, Write};

use super::{Error, Result, error};

/// Whole files in, whole files out. Paths are the host's: UTF-8 for [`OsFiles`], whatever it likes for its own layer.
pub trait Files {
    /// The bytes of a file.
    fn read(&self, path: &str) -> Result<Vec<u8>>;
    /// Create or overwrite a file and wait until it is on the disk.
    fn write(&self, path: &str, bytes: &[u8]) -> Result<()>;
    /// Give a file another name, replacing what has it.
    fn rename(&self, from: &str, to: &str) -> Result<()>;
    /// Delete a file.
    fn remove(&self, path: &str) -> Result<()>;
}

/// Write so that a crash leaves the old file or the new one, never half of either: the bytes go to `path` + `.new`,
/// which then takes the name. Two at once to the same path would take turns at that file, so that is for the caller to
/// prevent.
pub fn replace(files: &dyn Files, path: &str, bytes: &[u8]) -> Result<()> {
    let mut fresh = String::new();
    fresh.try_reserve_exact(path.len() + 4)?;
    fresh.push_str(path);
    fresh.push_str(".new");
    let done = files.write(&fresh, bytes).and_then(|()| files.rename(&fresh, path));
    if done.is_err() {
        let _ = files.remove(&fresh);
    }
    done
}

/// Without the system's own sentence, which would have to be allocated.
fn io_error(verb: &str, path: &str, why: &std::io::Error) -> Error {
    error!(Io, "cannot {verb} '{path}': {} (system error {})", why.kind(), why.raw_os_error().unwrap_or(0))
}

/// The operating system's files.
pub struct OsFiles;

impl Files for OsFiles {
    fn read(&self, path: &str) -> Result<Vec<u8>> {
        let failed = |why| io_error("read", path, &why);
        let file = fs::File::open(path).map_err(failed)?;
        let mut bytes = Vec::new();
        let expected = file.metadata().map_err(failed)?.len();
        bytes.try_reserve_exact(usize::try_from(expected).unwrap_or(usize::MAX))?;
        // Only as much as the length said: a file that grows meanwhile must not grow our memory.
        file.take(expected).read_to_end(&mut bytes).map_err(failed)?;
        Ok(bytes)
    }

    fn write(&self, path: &str, bytes: &[u8]) -> Result<()> {
        let failed = |why| io_error("write", path, &why);
        let mut file = fs::File::create(path).map_err(failed)?;
        file.write_all(bytes).map_err(failed)?;
        file.sync_all().map_err(failed)
    }

    fn rename(&self, from: &str, to: &str) -> Result<()> {
        fs::rename(from, to).map_err(|why| io_error("rename", from, &why))
    }

    fn remove(&self, path: &str) -> Result<()> {
        fs::remove_file(path).map_err(|why| io_error("remove", path, &why))
    }
}

/// stand-in
pub fn read_file(path: &str) -> Result<Vec<u8>> {
    OsFiles.read(path)
}
/// stand-in
pub fn replace_file(path: &str, bytes: &[u8]) -> Result<()> {
    replace(&OsFiles, path, bytes)
}
