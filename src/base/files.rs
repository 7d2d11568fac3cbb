//! Read or replace whole files of the operating system. Paths are UTF-8.
//!
//! Both functions wait for the disk, so no call inside a frame uses them.

use std::fs;
use std::hash::{BuildHasher, Hasher};
use std::io::{self, ErrorKind, Read, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use super::{Error, Result, Text, error, try_append, try_string};

/// Maximum size of a file that [`read_file`] reads, in bytes.
pub const LARGEST_FILE: u64 = 256 << 20;

/// Read a file of at most [`LARGEST_FILE`] bytes. Follows symbolic links. Fails at once, without waiting, for anything
/// but a regular file (a FIFO, a socket, a device, a directory).
pub fn read_file(path: &str) -> Result<Vec<u8>> {
    check_path("read", path)?;
    let failed = |why| io_error("read", path, &why);
    // Check before opening, because opening a device can have effects, and after, because the file may be replaced.
    check_regular("read", path, &fs::metadata(path).map_err(failed)?)?;
    let file = open_without_waiting(path).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    check_regular("read", path, &metadata)?;
    let length = metadata.len();
    if length > LARGEST_FILE {
        return Err(error!(
            LimitExceeded,
            "cannot read '{path}': it has {length} bytes, and {LARGEST_FILE} are the most that are read whole"
        ));
    }
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(length as usize)?;
    // Read no more than this length, even if the file grows meanwhile.
    file.take(length).read_to_end(&mut bytes).map_err(failed)?;
    Ok(bytes)
}

/// Create or replace a file, and wait until it is on the disk. After a crash the path has the old file or the new one,
/// never a part of either. Several threads or processes may replace the same file at the same time: one of their files
/// remains, complete. On an error the old file is unchanged, unless the message says that it was replaced but may not
/// survive a power loss.
///
/// The bytes go to a new file `.hobgoblin-*.new` in the same directory, which is then renamed. A crash can leave that
/// file behind; nothing reads it, and it may be deleted. If `path` is a symbolic link to a regular file or to nothing, the
/// link is replaced, not its target. Any other path that is not a regular file is an error. On Unix the new file keeps
/// the old permissions.
pub fn replace_file(path: &str, bytes: &[u8]) -> Result<()> {
    check_path("write", path)?;
    let old = match fs::symlink_metadata(path) {
        Ok(old) if old.is_symlink() => {
            // Links to devices and directories, such as `/dev/stdout`, are in use by others.
            fs::metadata(path).map_or(Ok(()), |target| check_regular("replace", path, &target))?;
            None
        }
        Ok(old) => {
            check_regular("replace", path, &old)?;
            Some(old)
        }
        Err(why) if why.kind() == ErrorKind::NotFound => None,
        Err(why) => return Err(io_error("replace", path, &why)),
    };
    let parent = Path::new(path).parent().and_then(Path::to_str);
    let Some(parent) = parent.filter(|_| Path::new(path).file_name().is_some()) else {
        return Err(error!(InvalidArgument, "cannot write '{path}': the path has no file name"));
    };
    let directory = if parent.is_empty() { "." } else { parent };
    let (fresh, mut file) = create_beside(path, directory)?;
    let done = fill(&mut file, old.as_ref(), bytes).and_then(|()| {
        drop(file);
        fs::rename(&fresh, path)
    });
    if let Err(why) = done {
        _ = fs::remove_file(&fresh);
        return Err(io_error("write", path, &why));
    }
    sync_directory(directory).map_err(|why| {
        let code = why.raw_os_error().unwrap_or(0);
        error!(
            Io,
            "'{path}' was replaced, but may be the old file after a power loss: {} (system error {code})",
            io_reason(&why)
        )
    })
}

fn fill(file: &mut fs::File, old: Option<&fs::Metadata>, bytes: &[u8]) -> io::Result<()> {
    if cfg!(unix)
        && let Some(old) = old
    {
        // Ignore the error: some file systems have no permissions.
        _ = file.set_permissions(old.permissions());
    }
    file.write_all(bytes)?;
    file.sync_all()
}

/// Create a new file with a unique name in the directory of `path`. Never opens an existing file, not even through a
/// link.
fn create_beside(path: &str, directory: &str) -> Result<(String, fs::File)> {
    static COUNTER: AtomicU32 = AtomicU32::new(0);
    const ATTEMPTS: u32 = 16;
    let mut attempt = 0;
    loop {
        // Keyed by random bytes of the operating system, because machines that share the directory can have the same
        // process id.
        let nonce = std::hash::RandomState::new().build_hasher().finish() as u32;
        let (process, count) = (std::process::id(), COUNTER.fetch_add(1, Ordering::Relaxed));
        let name = Text::<64>::format(format_args!("/.hobgoblin-{process:x}-{count:x}-{nonce:08x}.new"));
        let mut fresh = try_string(directory)?;
        try_append(&mut fresh, name.as_str())?;
        attempt += 1;
        match fs::OpenOptions::new().write(true).create_new(true).open(&fresh) {
            Ok(file) => return Ok((fresh, file)),
            Err(why) if why.kind() == ErrorKind::AlreadyExists && attempt < ATTEMPTS => {}
            Err(why) => return Err(io_error("write beside", path, &why)),
        }
    }
}

/// Sync the directory, so that the new name survives a power loss. Only on Unix, and if the directory is readable.
fn sync_directory(directory: &str) -> io::Result<()> {
    if !cfg!(unix) {
        return Ok(());
    }
    let Ok(directory) = fs::File::open(directory) else { return Ok(()) };
    match directory.sync_all() {
        // The file system does not support it.
        Err(why) if matches!(why.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported) => Ok(()),
        done => done,
    }
}

/// Open for reading. Does not block if a FIFO has replaced the file since the check.
fn open_without_waiting(path: &str) -> io::Result<fs::File> {
    let mut options = fs::OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, O_NONBLOCK);
    options.open(path)
}

/// The value in the system's `fcntl.h`. 0 on unknown systems, where opening a FIFO blocks.
#[cfg(unix)]
const O_NONBLOCK: i32 = if cfg!(any(target_os = "linux", target_os = "android")) {
    if cfg!(any(target_arch = "mips", target_arch = "mips64")) {
        0x80
    } else if cfg!(any(target_arch = "sparc", target_arch = "sparc64")) {
        0x4000
    } else {
        0x800
    }
} else if cfg!(any(target_vendor = "apple", target_os = "freebsd", target_os = "netbsd", target_os = "openbsd")) {
    0x4
} else {
    0
};

/// Reject a path with a NUL: C would cut off the message there.
fn check_path(verb: &str, path: &str) -> Result<()> {
    match path.find('\0') {
        Some(place) => Err(error!(InvalidArgument, "cannot {verb}: the path has a NUL at byte {place}")),
        None => Ok(()),
    }
}

fn check_regular(verb: &str, path: &str, metadata: &fs::Metadata) -> Result<()> {
    if metadata.is_file() {
        return Ok(());
    }
    let what = if metadata.is_dir() { "a directory" } else { "a FIFO, a socket or a device" };
    Err(error!(Io, "cannot {verb} '{path}': it is {what}, not a regular file"))
}

/// The reason of a failed file operation, in words. The system's own text would need an allocation.
pub fn io_reason(why: &io::Error) -> impl std::fmt::Display {
    IoReason(why.kind(), why.raw_os_error())
}

/// The kind of an error, and its number of the system.
struct IoReason(ErrorKind, Option<i32>);

impl std::fmt::Display for IoReason {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.0, self.1) {
            // Only this library makes errors of this kind without a number of the system.
            (ErrorKind::InvalidInput, None) => to.write_str("it is not a regular file"),
            (ErrorKind::NotFound, _) => to.write_str("no such file or directory"),
            (ErrorKind::AlreadyExists, _) => to.write_str("it exists already"),
            // ENFILE and EMFILE have no kind.
            (_, Some(23 | 24)) if cfg!(unix) => {
                to.write_str("too many open files; close some, or raise the limit (ulimit -n)")
            }
            (kind, _) => kind.fmt(to),
        }
    }
}

fn io_error(verb: &str, path: &str, why: &io::Error) -> Error {
    if why.kind() == ErrorKind::OutOfMemory {
        return Error::OUT_OF_MEMORY;
    }
    error!(Io, "cannot {verb} '{path}': {} (system error {})", io_reason(why), why.raw_os_error().unwrap_or(0))
}

#[cfg(test)]
#[path = "files_test.rs"]
pub(super) mod tests;
