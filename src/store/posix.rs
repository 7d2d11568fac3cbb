//! The calls of POSIX on paths. The standard library's file functions abort the process when out of memory for a copy of
//! a long path; these allocate nothing.

use std::ffi::c_int;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::fd::{AsRawFd, FromRawFd};
use std::path::Path;

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
use libc::{lstat, open as open_file, stat};
// With 64-bit numbers on 32-bit machines.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
use libc::{lstat64 as lstat, open64 as open_file, stat64 as stat};

use super::io::Size;
use crate::base::with_c_path;

/// The result of a system call that returns -1 after a failure.
fn checked(result: c_int) -> io::Result<c_int> {
    if result == -1 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// Open a file, with the rights `mode` if this creates it. Other programs that the process starts do not inherit it.
pub fn open(path: &Path, flags: c_int, mode: u32) -> io::Result<File> {
    with_c_path(path, |path| {
        loop {
            // SAFETY: a C string, and a mode for the flags that need one.
            match checked(unsafe { open_file(path.as_ptr(), flags | libc::O_CLOEXEC, mode) }) {
                // SAFETY: the descriptor is new, and nothing else owns it.
                Ok(descriptor) => return Ok(unsafe { File::from_raw_fd(descriptor) }),
                Err(why) if why.kind() == ErrorKind::Interrupted => {}
                Err(why) => return Err(why),
            }
        }
    })
}

/// Create a directory with the rights `mode`.
pub fn create_directory(path: &Path, mode: u32) -> io::Result<()> {
    // SAFETY: a C string.
    with_c_path(path, |path| checked(unsafe { libc::mkdir(path.as_ptr(), mode as libc::mode_t) })).map(|_| ())
}

/// Delete a file.
pub fn remove(path: &Path) -> io::Result<()> {
    // SAFETY: a C string.
    with_c_path(path, |path| checked(unsafe { libc::unlink(path.as_ptr()) })).map(|_| ())
}

/// Rename a file.
pub fn rename(from: &Path, to: &Path) -> io::Result<()> {
    with_c_path(from, |from| {
        // SAFETY: C strings.
        with_c_path(to, |to| checked(unsafe { libc::rename(from.as_ptr(), to.as_ptr()) }))
    })
    .map(|_| ())
}

/// Type, owner and identity of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// The type: one of `S_IFREG`, `S_IFDIR` and so on.
    pub kind: libc::mode_t,
    /// The rights of the owner, the group and others.
    pub rights: u32,
    /// Number of its names: hard links.
    pub names: u64,
    /// User id of the owner.
    pub owner: u32,
    /// Device and inode. No other existing file has both.
    pub identity: (u64, u64),
    /// Its length, and the bytes of its blocks.
    pub size: Size,
}

/// Type, owner and identity of the file at a path. A link there is followed, or described itself.
pub fn find(path: &Path, follows_links: bool) -> io::Result<Found> {
    // SAFETY: zeros are valid for the numbers of this struct.
    let mut found: stat = unsafe { std::mem::zeroed() };
    let call = if follows_links { stat } else { lstat };
    // SAFETY: a C string, and a struct that the call may write to.
    with_c_path(path, |path| checked(unsafe { call(path.as_ptr(), &raw mut found) }))?;
    #[allow(clippy::unnecessary_cast, reason = "the types differ between systems")]
    let (identity, blocks, names) =
        ((found.st_dev as u64, found.st_ino as u64), found.st_blocks as u64, found.st_nlink as u64);
    let kind = found.st_mode & libc::S_IFMT;
    #[allow(clippy::unnecessary_cast, reason = "the types differ between systems")]
    let rights = (found.st_mode & 0o777) as u32;
    // POSIX leaves the unit of blocks open; all systems count in these.
    let size = Size { length: found.st_size as u64, on_disk: blocks.saturating_mul(512) };
    Ok(Found { kind, rights, names, owner: found.st_uid, identity, size })
}

/// The user that this process acts as.
pub fn user() -> u32 {
    // SAFETY: has no conditions.
    unsafe { libc::geteuid() }
}

/// The offset of the next bytes at or after `offset` that are not in a hole of a sparse file; `u64::MAX` if only a hole
/// follows. `None` if the system cannot tell.
pub fn next_data(file: &File, offset: u64) -> Option<u64> {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        let offset = i64::try_from(offset).ok()?;
        // SAFETY: the descriptor is open, and nothing depends on its position: reads give an offset, and writes append.
        match u64::try_from(unsafe { libc::lseek64(file.as_raw_fd(), offset, libc::SEEK_DATA) }) {
            Ok(next) => Some(next),
            Err(_) if io::Error::last_os_error().raw_os_error() == Some(libc::ENXIO) => Some(u64::MAX),
            Err(_) => None,
        }
    }
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    {
        let _ = (file.as_raw_fd(), offset);
        None
    }
}
