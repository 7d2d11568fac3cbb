//! Whether two paths lead to one file.

use std::path::Path;

/// Whether two paths lead to one file: through links, and by hard links where the system numbers its files. A missing
/// file is the same under equal paths alone.
pub fn is_same_file(one: &Path, other: &Path) -> bool {
    one == other || is_one_file(one, other).unwrap_or(false)
}

#[cfg(unix)]
fn is_one_file(one: &Path, other: &Path) -> std::io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let (one, other) = (one.metadata()?, other.metadata()?);
    Ok((one.dev(), one.ino()) == (other.dev(), other.ino()))
}

/// Stable Rust has no numbers of files here, so hard links are not found.
#[cfg(not(unix))]
fn is_one_file(one: &Path, other: &Path) -> std::io::Result<bool> {
    Ok(one.canonicalize()? == other.canonicalize()?)
}
