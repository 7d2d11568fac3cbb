//! The few things that a store asks of a file system, so that tests can put one under it that fails on purpose.
//!
//! Files are only ever appended to, cut back to where an append began, and read at an offset; but for a small one that
//! tells of its owner's life, which is written at places. Errors are the system's own; the store makes sentences of them.

use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind, IoSlice, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// A file system.
pub trait Io: Send + Sync {
    /// Names of what is in a directory.
    fn list(&self, directory: &Path) -> io::Result<Vec<OsString>>;
    /// Make a directory and what is missing above it.
    fn create_directory(&self, directory: &Path) -> io::Result<()>;
    /// Open a file for reading.
    fn open(&self, path: &Path) -> io::Result<Arc<dyn File>>;
    /// Make a file that does not exist yet, for reading and appending.
    fn create(&self, path: &Path) -> io::Result<Arc<dyn File>>;
    /// Give a file another name, replacing what has it.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Delete a file; those who have it open keep it.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Wait until the names in a directory are on the disk.
    fn sync_directory(&self, directory: &Path) -> io::Result<()>;
    /// Hold the lock of a file, which is made if need be; `None` if another holder has it. Never waits.
    fn try_lock(&self, path: &Path) -> io::Result<Option<Box<dyn Lock>>>;
    /// A number that is unlikely to come twice.
    fn nonce(&self) -> u64;

    /// Whether it is the host that does the work, which may have threads of its own kind.
    fn is_hosts(&self) -> bool {
        false
    }

    /// Open a file for reading if it is a plain one, else `InvalidInput`: what others have put there may be anything.
    fn open_plain(&self, path: &Path) -> io::Result<Arc<dyn File>> {
        self.open(path)
    }

    /// Make a file that does not exist yet, to be written at places, by which others see that its owner lives. To be called
    /// by one at a time in a directory. `Unsupported` where nothing can be locked.
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

    /// A file that was [owned](Self::own) by somebody who lives no more. `for_good`: it has another owner by that, and may
    /// be [ended](Owned::end); else nothing is changed.
    fn of_the_dead(&self, path: &Path, for_good: bool) -> io::Result<Option<Owned>> {
        let file = self.open(path)?;
        // Whoever has just made it must find the lock free.
        if !for_good && file.length()? == 0 {
            return Ok(None);
        }
        let life = self.try_lock(&life_of(path))?;
        Ok(life.map(|life| Owned { file, life: for_good.then_some(life) }))
    }
}

/// An open file.
pub trait File: Send + Sync {
    /// Bytes in it.
    fn length(&self) -> io::Result<u64>;
    /// Read up to `buffer.len()` bytes at an offset; 0 at the end.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;
    /// Write all parts at the end, one after the other. When it fails, some of the bytes may be there.
    fn append(&self, parts: &mut [IoSlice<'_>]) -> io::Result<()>;
    /// Cut off what is beyond `length`.
    fn truncate(&self, length: u64) -> io::Result<()>;
    /// Wait until the bytes are on the disk.
    fn sync(&self) -> io::Result<()>;
    /// Write all of it at an offset: of a file that is [owned](Io::own), which is not appended to.
    fn write_at(&self, _bytes: &[u8], _offset: u64) -> io::Result<()> {
        Err(ErrorKind::Unsupported.into())
    }
}

/// A lock that is held until this is dropped, or its process ends.
pub trait Lock: Send + Sync {}

/// A file whose owner is known to live for as long as this is there.
pub struct Owned {
    /// The file.
    pub file: Arc<dyn File>,
    /// The lock of a file beside it; none where the file itself is locked, or only looked at.
    life: Option<Box<dyn Lock>>,
}

impl Owned {
    /// Have no such file any more: its owner has ended well, or what it left is known.
    pub fn end(self, io: &dyn Io, path: &Path) {
        // First emptied: whoever is about to open it by its name must find nothing.
        let _ = self.file.truncate(0);
        // What is left by who dies in between is found by the file itself.
        if self.life.is_some() {
            let _ = io.remove(&life_of(path));
        }
        let _ = io.remove(path);
    }
}

/// What is locked instead of a file, on systems where one cannot be locked by who writes it.
fn life_of(path: &Path) -> PathBuf {
    path.with_extension("live")
}

/// Fill the buffer from an offset, however short the reads are; false if the file ends before.
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
        Ok(Arc::new(OsFile(fs::File::open(path)?)))
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
        // Elsewhere a directory cannot be opened as a file, and names are journalled with the files.
        if cfg!(unix) { fs::File::open(directory)?.sync_all() } else { Ok(()) }
    }

    fn try_lock(&self, path: &Path) -> io::Result<Option<Box<dyn Lock>>> {
        let file = fs::OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Box::new(OsLock(file)))),
            Err(fs::TryLockError::WouldBlock) => Ok(None),
            Err(fs::TryLockError::Error(why)) => Err(why),
        }
    }

    fn open_plain(&self, path: &Path) -> io::Result<Arc<dyn File>> {
        must_be_plain(path)?;
        self.open(path)
    }

    fn own(&self, path: &Path) -> io::Result<Owned> {
        let file = fs::OpenOptions::new().read(true).write(true).create_new(true).open(path)?;
        if file.try_lock().is_err() {
            let _ = fs::remove_file(path);
            return Err(ErrorKind::Unsupported.into());
        }
        Ok(Owned { file: Arc::new(OsFile(file)), life: None })
    }

    fn of_the_dead(&self, path: &Path, for_good: bool) -> io::Result<Option<Owned>> {
        must_be_plain(path)?;
        let file = fs::File::open(path)?;
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

/// To open a pipe would wait for who writes to it.
fn must_be_plain(path: &Path) -> io::Result<()> {
    if fs::symlink_metadata(path)?.is_file() { Ok(()) } else { Err(ErrorKind::InvalidInput.into()) }
}

/// Whether the owner of a file is no more, asked while others may ask, too: the file is locked for an instant, together with
/// whoever else asks so; who wants to own it just then leaves it to the next. One that is empty is not asked: whoever has
/// just made it must find it unlocked.
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
        // Moves the file's position, which nothing here depends on: appending goes to the end in any case.
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
        // So few are never written in part.
        let written = std::os::windows::fs::FileExt::seek_write(&self.0, bytes, offset)?;
        if written == bytes.len() { Ok(()) } else { Err(ErrorKind::WriteZero.into()) }
    }
}
