//! Paths from the caller.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::base::{Result, error, try_path};
use crate::ffi::base::text::Str;

/// The path in a caller's text; `None` if it is empty. `what` names the parameter or field.
pub fn path(text: Str<'_>, what: &str) -> Result<Option<PathBuf>> {
    let bytes = text.bytes()?;
    if bytes.contains(&0) {
        return Err(error!(InvalidArgument, "{what} contains a NUL byte, which is invalid in a path: remove it"));
    }
    #[cfg(unix)]
    let path = <OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(bytes);
    #[cfg(not(unix))]
    let path = OsStr::new(
        std::str::from_utf8(bytes).map_err(|_| error!(InvalidArgument, "{what} is not UTF-8: pass UTF-8 text"))?,
    );
    if path.is_empty() { Ok(None) } else { try_path(Path::new(path)).map(Some) }
}
