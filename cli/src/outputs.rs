//! Files that commands write: complete or not at all, and never in place of an input.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use hobgoblin::store::is_same_file;
use tempfile::{Builder, NamedTempFile};

use crate::failure::{Failure, Result, shown};

/// An error if `out` is one of the inputs: the same file, whatever its name is.
pub fn check_is_no_input<'a>(out: &Path, inputs: impl IntoIterator<Item = &'a PathBuf>) -> Result<()> {
    match inputs.into_iter().find(|input| is_same_file(out, input)) {
        None => Ok(()),
        Some(input) => {
            let (out, input) = (shown(out), shown(input));
            Err(Failure::Usage(format!("'{out}' is the input '{input}': name another file to write")))
        }
    }
}

/// A file that cannot be written.
pub fn cannot_write(path: &Path, why: &io::Error) -> Failure {
    Failure::File(format!("cannot write '{}': {why}", shown(path)))
}

/// Write a file in place of one at `path`, which stays as it was after an error. The new file keeps the old one's rights.
pub fn replace(path: &Path, fill: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    let failed = |why: io::Error| cannot_write(path, &why);
    let mut file = BufWriter::new(begin(path).map_err(failed)?);
    fill(&mut file)?;
    let file = file.into_inner().map_err(|why| failed(why.into_error()))?;
    file.as_file().sync_all().map_err(failed)?;
    file.persist(path).map_err(|why| failed(why.error))?;
    Ok(())
}

/// A file beside `path`, with a name that no other file has. It is deleted unless it is completed.
fn begin(path: &Path) -> io::Result<NamedTempFile> {
    // A link is replaced, unless it leads to a device or a directory, such as `/dev/stdout`.
    if path.metadata().is_ok_and(|old| !old.is_file()) {
        return Err(io::Error::other("it is not a regular file"));
    }
    let old = path.symlink_metadata().ok().filter(|old| !old.is_symlink());
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = Builder::new();
    builder.prefix(".hobgoblin-").suffix(".new");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let file = builder.tempfile_in(parent)?;
    if cfg!(unix)
        && let Some(old) = old
    {
        // Some file systems have no rights.
        let _ = file.as_file().set_permissions(old.permissions());
    }
    Ok(file)
}
