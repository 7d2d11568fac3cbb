//! The file system operations of a store, as a trait, so that tests can inject failures.
//!
//! Store files are appended to, truncated to where an append began, and read at an offset. The exception is a small
//! file that shows whether its owner lives, which is written at offsets. Errors are the system's own; the store turns
//! them into sentences.

use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind, IoSlice, Write};
#[cfg(unix)]
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// A file system.
pub trait Io: Send + Sync {
    /// Names of the entries of a directory.
    fn list(&self, directory: &Path) -> io::Result<Vec<OsString>>;
    /// Create a directory and its missing parents.
    fn create_directory(&self, directory: &Path) -> io::Result<()>;
    /// Open a file of the directory for reading. Other programs may have put anything there: everything but a regular
    /// file, links included, fails at once with `InvalidInput`.
    fn open(&self, path: &Path) -> io::Result<Arc<dyn File>>;
    /// Create a file for reading and appending; fails if it exists.
    fn create(&self, path: &Path) -> io::Result<Arc<dyn File>>;
    /// Rename a file of the directory, replacing whatever has the new name.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Delete a file. Open handles stay usable.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Wait until the names in a directory are on the disk.
    fn sync_directory(&self, directory: &Path) -> io::Result<()>;
    /// Lock a file, creating it if needed. `None` if another holder has the lock. Never waits.
    fn try_lock(&self, path: &Path) -> io::Result<Option<Box<dyn Lock>>>;
    /// A number that is unlikely to repeat.
    fn nonce(&self) -> u64;

    /// Whether the host does the file operations. The host may require threads of its own kind.
    fn is_hosts(&self) -> bool {
        false
    }

    /// Open a file that the host named for reading. Follows links; otherwise like [`open`](Self::open).
    fn open_named(&self, path: &Path) -> io::Result<Arc<dyn File>> {
        self.open(path)
    }

    /// Rename a file to a path that the host named. Replaces a regular file or a link, and fails with `InvalidInput`
    /// for anything else.
    fn replace_named(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.rename(from, to)
    }

    /// Create a file that is written at offsets and shows other processes that its owner lives. Within a directory,
    /// only one caller at a time. `Unsupported` where nothing can be locked.
    fn own(&self, path: &Path) -> io::Result<Owned> {
        let file = self.create(path)?;
        match self.try_lock(&life_of(path)) {
            Ok(Some(life)) => Ok(Owned { file, life: Some(life) }),
            held => {
                let _ = self.remove(path);
                Err(held.err().unwrap_or_else(|| ErrorKind::Unsupported.into()))
            }
        }
    }

    /// A file that was [owned](Self::own) by a process that has died. With `for_good` the caller becomes its owner and
    /// may [end](Owned::end) it. Otherwise nothing changes.
    fn open_orphan(&self, path: &Path, for_good: bool) -> io::Result<Option<Owned>> {
        let file = self.open(path)?;
        // An empty file may be one that was just created: its creator must find the lock free.
        if !for_good && file.length()? == 0 {
            return Ok(None);
        }
        let life = self.try_lock(&life_of(path))?;
        Ok(life.map(|life| Owned { file, life: for_good.then_some(life) }))
    }
}

/// An open file.
pub trait File: Send + Sync {
    /// Length in bytes.
    fn length(&self) -> io::Result<u64>;
    /// Read up to `buffer.len()` bytes at an offset; 0 at the end.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;
    /// Write all parts at the end, in order. After a failure, some of the bytes may have been written.
    fn append(&self, parts: &mut [IoSlice<'_>]) -> io::Result<()>;
    /// Truncate to `length` bytes.
    fn truncate(&self, length: u64) -> io::Result<()>;
    /// Wait until the bytes are on the disk.
    fn sync(&self) -> io::Result<()>;
    /// Write all bytes at an offset. Only for [owned](Io::own) files, which are never appended to.
    fn write_at(&self, _bytes: &[u8], _offset: u64) -> io::Result<()> {
        Err(ErrorKind::Unsupported.into())
    }
}

/// A lock, held until it is dropped or its process ends.
pub trait Lock: Send + Sync {}

/// A file whose owner counts as alive while this value exists.
pub struct Owned {
    /// The file.
    pub file: Arc<dyn File>,
    /// Lock of a file beside it. `None` if the file itself is locked, or was only inspected.
    life: Option<Box<dyn Lock>>,
}

impl Owned {
    /// Remove the file: its owner ended in good order, or its contents have been processed.
    pub fn end(self, io: &dyn Io, path: &Path) {
        // Truncate first: a process that is about to open the file by its name must find nothing.
        let _ = self.file.truncate(0);
        // If the process dies in between, the file itself still leads to the leftover lock file.
        if self.life.is_some() {
            let _ = io.remove(&life_of(path));
        }
        let _ = io.remove(path);
    }
}

/// The file that is locked in place of `path`, on systems where a writer cannot lock its own file.
fn life_of(path: &Path) -> PathBuf {
    path.with_extension("live")
}

/// Fill the buffer from an offset, however short the reads are. False if the file ends first.
pub(super) fn read_exact_at(file: &dyn File, mut buffer: &mut [u8], mut offset: u64) -> io::Result<bool> {
    while !buffer.is_empty() {
        match file.read_at(buffer, offset) {
            Ok(0) => return Ok(false),
            Ok(count) => {
                buffer = &mut buffer[count..];
                offset += count as u64;
            }
            Err(why) if why.kind() == ErrorKind::Interrupted => {}
            Err(why) => return Err(why),
        }
    }
    Ok(true)
}

/// The operating system's files.
pub struct OsIo;

impl Io for OsIo {
    fn list(&self, directory: &Path) -> io::Result<Vec<OsString>> {
        fs::read_dir(directory)?.map(|entry| entry.map(|entry| entry.file_name())).collect()
    }

    fn create_directory(&self, directory: &Path) -> io::Result<()> {
        fs::create_dir_all(directory)
    }

    fn open(&self, path: &Path) -> io::Result<Arc<dyn File>> {
        Ok(Arc::new(OsFile(open_regular(path, fs::OpenOptions::new().read(true), Links::Refuse)?)))
    }

    fn create(&self, path: &Path) -> io::Result<Arc<dyn File>> {
        let file = fs::OpenOptions::new().read(true).append(true).create_new(true).open(path)?;
        Ok(Arc::new(OsFile(file)))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn sync_directory(&self, directory: &Path) -> io::Result<()> {
        // Other systems cannot open a directory as a file, and journal names with the files.
        if !cfg!(unix) {
            return Ok(());
        }
        let mut options = fs::OpenOptions::new();
        options.read(true);
        // If a FIFO has taken the directory's place, the open does not wait for its writer.
        #[cfg(unix)]
        options.custom_flags(libc::O_NONBLOCK | libc::O_DIRECTORY);
        options.open(directory)?.sync_all()
    }

    fn try_lock(&self, path: &Path) -> io::Result<Option<Box<dyn Lock>>> {
        let mut options = fs::OpenOptions::new();
        let file = open_regular(path, options.read(true).write(true).create(true).truncate(false), Links::Refuse)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Box::new(OsLock(file)))),
            Err(fs::TryLockError::WouldBlock) => Ok(None),
            Err(fs::TryLockError::Error(why)) => Err(why),
        }
    }

    fn open_named(&self, path: &Path) -> io::Result<Arc<dyn File>> {
        Ok(Arc::new(OsFile(open_regular(path, fs::OpenOptions::new().read(true), Links::Follow)?)))
    }

    fn replace_named(&self, from: &Path, to: &Path) -> io::Result<()> {
        match fs::symlink_metadata(to) {
            Ok(found) if !found.is_file() && !found.is_symlink() => Err(ErrorKind::InvalidInput.into()),
            Err(why) if why.kind() != ErrorKind::NotFound => Err(why),
            _ => fs::rename(from, to),
        }
    }

    fn own(&self, path: &Path) -> io::Result<Owned> {
        let file = fs::OpenOptions::new().read(true).write(true).create_new(true).open(path)?;
        if file.try_lock().is_err() {
            let _ = fs::remove_file(path);
            return Err(ErrorKind::Unsupported.into());
        }
        Ok(Owned { file: Arc::new(OsFile(file)), life: None })
    }

    fn open_orphan(&self, path: &Path, for_good: bool) -> io::Result<Option<Owned>> {
        let file = open_regular(path, fs::OpenOptions::new().read(true), Links::Refuse)?;
        let is_dead = if for_good { file.try_lock().is_ok() } else { is_dead(&file) };
        Ok(is_dead.then(|| Owned { file: Arc::new(OsFile(file)), life: None }))
    }

    fn nonce(&self) -> u64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let stack = 0_u8;
        let mut bytes = [0; 28];
        bytes[..16].copy_from_slice(&since.as_nanos().to_le_bytes());
        bytes[16..20].copy_from_slice(&std::process::id().to_le_bytes());
        bytes[20..].copy_from_slice(&((&raw const stack).addr() as u64).to_le_bytes());
        super::format::hash(&bytes)
    }
}

/// Whether the last part of a path may be a link.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Links {
    Follow,
    Refuse,
}

/// Open a file, or fail with `InvalidInput` unless it is a regular file. Never waits: without the flags, opening a FIFO
/// waits for its other end, and opening a device can have effects.
fn open_regular(path: &Path, options: &mut fs::OpenOptions, links: Links) -> io::Result<fs::File> {
    #[cfg(unix)]
    options.custom_flags(libc::O_NONBLOCK | if links == Links::Refuse { libc::O_NOFOLLOW } else { 0 });
    #[cfg(not(unix))]
    match if links == Links::Refuse { fs::symlink_metadata(path) } else { fs::metadata(path) } {
        Ok(found) if !found.is_file() => return Err(ErrorKind::InvalidInput.into()),
        _ => {}
    }
    let file = options.open(path).map_err(|why| {
        // ELOOP: the path is a link. ENXIO: a FIFO or a socket without its other end. EISDIR: a directory, to write.
        #[cfg(unix)]
        if matches!(why.raw_os_error(), Some(libc::ELOOP | libc::ENXIO | libc::EISDIR)) {
            return ErrorKind::InvalidInput.into();
        }
        why
    })?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(ErrorKind::InvalidInput.into()) }
}

/// Whether the owner of a file has died. Several processes may ask at the same time.
///
/// The check locks the file for an instant, shared with other checks. A process that tries to own the file at that
/// instant fails and leaves it to the next one. Empty files are not checked: the creator must find its new file
/// unlocked.
pub(crate) fn is_dead(file: &fs::File) -> bool {
    file.metadata().is_ok_and(|found| found.len() > 0) && file.try_lock_shared().is_ok() && file.unlock().is_ok()
}

struct OsLock(#[expect(dead_code, reason = "holds the lock while it is open")] fs::File);

impl Lock for OsLock {}

struct OsFile(fs::File);

impl File for OsFile {
    fn length(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    #[cfg(unix)]
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        std::os::unix::fs::FileExt::read_at(&self.0, buffer, offset)
    }

    #[cfg(windows)]
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        // This moves the file's position. Nothing here depends on it: appends always go to the end.
        std::os::windows::fs::FileExt::seek_read(&self.0, buffer, offset)
    }

    #[cfg(not(any(unix, windows)))]
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        use std::io::{Read, Seek, SeekFrom};
        (&self.0).seek(SeekFrom::Start(offset))?;
        (&self.0).read(buffer)
    }

    fn append(&self, mut parts: &mut [IoSlice<'_>]) -> io::Result<()> {
        IoSlice::advance_slices(&mut parts, 0);
        while !parts.is_empty() {
            match (&self.0).write_vectored(parts) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(count) => IoSlice::advance_slices(&mut parts, count),
                Err(why) if why.kind() == ErrorKind::Interrupted => {}
                Err(why) => return Err(why),
            }
        }
        Ok(())
    }

    fn truncate(&self, length: u64) -> io::Result<()> {
        self.0.set_len(length)
    }

    fn sync(&self) -> io::Result<()> {
        self.0.sync_data()
    }

    #[cfg(unix)]
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        std::os::unix::fs::FileExt::write_all_at(&self.0, bytes, offset)
    }

    #[cfg(windows)]
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        // A write this small is never partial.
        let written = std::os::windows::fs::FileExt::seek_write(&self.0, bytes, offset)?;
        if written == bytes.len() { Ok(()) } else { Err(ErrorKind::WriteZero.into()) }
    }
}
