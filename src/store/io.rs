//! The few things that a store asks of a file system, so that tests can put one under it that fails on purpose.
//!
//! Files are only ever appended to, cut back to where an append began, and read at an offset. Errors are the system's
//! own; the store makes sentences of them.

use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind, IoSlice, Write};
use std::path::Path;
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
}

/// A lock that is held until this is dropped, or its process ends.
pub trait Lock: Send + Sync {}

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
}
