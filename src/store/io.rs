//! The file system operations of a store, as a trait, so that tests can inject failures.
//!
//! Store files are appended to, truncated to where an append began, and read at an offset. The exception is a small
//! file that shows whether its owner lives, which is written at offsets. Errors are the system's own; the store turns
//! them into sentences.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, ErrorKind, IoSlice, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::base::{Result, Shared, SharedDyn, list_directory, try_box, try_path_with_extension};

#[cfg(unix)]
use super::posix;
#[cfg(unix)]
use crate::base::OpenDirectory;

/// A file or a directory belongs to a user other than this one and root. The system reports this kind only for
/// connections.
pub const OTHER_OWNER: ErrorKind = ErrorKind::ConnectionRefused;

/// A file system with several owners.
pub type SharedIo = SharedDyn<dyn Io>;
/// An open file with several owners.
pub type SharedFile = SharedDyn<dyn File>;

/// Share a file system.
pub fn share(io: impl Io + 'static) -> Result<SharedIo> {
    Ok(Shared::into_dyn(Shared::try_new(io)?, |io| -> &dyn Io { io }))
}

/// Share an open file.
pub fn share_file(file: impl File + 'static) -> io::Result<SharedFile> {
    let shared = Shared::try_new(file).map_err(|_| ErrorKind::OutOfMemory)?;
    Ok(Shared::into_dyn(shared, |file| -> &dyn File { file }))
}

/// A lock on the heap. Releases the lock if there is no memory.
pub fn box_lock(lock: impl Lock + 'static) -> io::Result<Box<dyn Lock>> {
    Ok(try_box(lock).map_err(|_| ErrorKind::OutOfMemory)?)
}

/// A file system.
pub trait Io: Send + Sync {
    /// Names of the entries of a directory. The directory of another user fails with [`OTHER_OWNER`].
    fn list(&self, directory: &Path) -> io::Result<Vec<OsString>>;
    /// Begin to list a directory name by name, which [`list`](Self::list) would do at once.
    fn names(&self, directory: &Path) -> io::Result<Box<dyn Names>> {
        let names = self.list(directory)?;
        Ok(try_box(names.into_iter()).map_err(|_| ErrorKind::OutOfMemory)?)
    }
    /// Create a directory and its missing parents, which only this user may open.
    fn create_directory(&self, directory: &Path) -> io::Result<()>;
    /// Open a file of the directory for reading. Other programs may have put anything there: everything but a regular
    /// file, links included, fails at once with `InvalidInput`. A file of another user fails with [`OTHER_OWNER`].
    fn open(&self, path: &Path) -> io::Result<SharedFile>;
    /// Create a file for reading and appending, which only this user may open; fails if it exists.
    fn create(&self, path: &Path) -> io::Result<SharedFile>;
    /// Rename a file of the directory, replacing whatever has the new name.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Delete a file. Open handles stay usable.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Delete a file after freeing its bytes, so that a process that has it open does not keep them. A file that has
    /// other names keeps its bytes. Fails for anything that [`open`](Self::open) refuses.
    fn discard(&self, path: &Path) -> io::Result<()> {
        self.remove(path)
    }
    /// Size of a file; 0 for anything but a regular file.
    fn size(&self, path: &Path) -> io::Result<Size> {
        self.open(path)?.length().map(Size::of)
    }
    /// Wait until the names in a directory are on the disk.
    fn sync_directory(&self, directory: &Path) -> io::Result<()>;
    /// Bytes that the holder of a lock has [reserved](Lock::reserve). 0 if the file has other names.
    fn reserved(&self, path: &Path) -> u64 {
        self.size(path).map_or(0, |size| size.length)
    }
    /// Lock a file, creating it if needed. `None` if another holder has the lock. Never waits.
    fn try_lock(&self, path: &Path) -> io::Result<Option<Box<dyn Lock>>>;
    /// A number that is unlikely to repeat.
    fn nonce(&self) -> u64;

    /// Whether the host does the file operations. The host may require threads of its own kind.
    fn is_hosts(&self) -> bool {
        false
    }

    /// Open a file that the host named for reading. Follows links; otherwise like [`open`](Self::open).
    fn open_named(&self, path: &Path) -> io::Result<SharedFile> {
        self.open(path)
    }

    /// As [`open_named`](Self::open_named), for data that gives nothing to a driver: it may belong to any user.
    fn open_input(&self, path: &Path) -> io::Result<SharedFile> {
        self.open_named(path)
    }

    /// Create a file that will [replace](Self::replace_named) a path that the host named. It has the rights of a regular
    /// file there, and otherwise those that files have by default; else like [`create`](Self::create).
    fn create_named(&self, path: &Path, _replaced: &Path) -> io::Result<SharedFile> {
        self.create(path)
    }

    /// Numbers of the file at a path, which no other existing file has; `None` if the file system has no such numbers.
    fn identity(&self, _path: &Path) -> io::Result<Option<(u64, u64)>> {
        Ok(None)
    }

    /// Rename a file to a path that the host named. Replaces a regular file, or a link to one or to nothing, and fails
    /// with `InvalidInput` for anything else.
    fn replace_named(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.rename(from, to)
    }

    /// Create a file that is written at offsets and shows other processes that its owner lives. Within a directory,
    /// only one caller at a time. `Unsupported` where nothing can be locked.
    fn own(&self, path: &Path) -> io::Result<Owned> {
        let file = self.create(path)?;
        match life_of(path).and_then(|life| self.try_lock(&life)) {
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
        let life = self.try_lock(&life_of(path)?)?;
        Ok(life.map(|life| Owned { file, life: for_good.then_some(life) }))
    }
}

/// The names in a directory, one by one.
pub trait Names: Send + Sync {
    /// Pass the next name to `each`; false at the end.
    fn next(&mut self, each: &mut dyn FnMut(&OsStr) -> Result<()>) -> io::Result<Result<bool>>;
}

impl Names for std::vec::IntoIter<OsString> {
    fn next(&mut self, each: &mut dyn FnMut(&OsStr) -> Result<()>) -> io::Result<Result<bool>> {
        Ok(Iterator::next(self).map_or(Ok(false), |name| each(&name).map(|()| true)))
    }
}

#[cfg(unix)]
impl Names for std::sync::Mutex<OpenDirectory> {
    fn next(&mut self, each: &mut dyn FnMut(&OsStr) -> Result<()>) -> io::Result<Result<bool>> {
        let open = self.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner);
        Ok(open.next_name()?.map_or(Ok(false), |name| each(name).map(|()| true)))
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
    /// Truncate to nothing before the file is deleted. A file that has other names keeps its bytes.
    fn empty(&self) -> io::Result<()> {
        self.truncate(0)
    }
    /// Wait until the bytes are on the disk.
    fn sync(&self) -> io::Result<()>;
    /// Offset of the next bytes at or after `offset` that may be other than zero.
    fn next_data(&self, offset: u64) -> u64 {
        offset
    }
    /// Numbers of this file, as [`Io::identity`] returns for its path.
    fn identity(&self) -> io::Result<Option<(u64, u64)>> {
        Ok(None)
    }
    /// Write all bytes at an offset. Only for [owned](Io::own) files, which are never appended to.
    fn write_at(&self, _bytes: &[u8], _offset: u64) -> io::Result<()> {
        Err(ErrorKind::Unsupported.into())
    }
}

/// A lock, held until it is dropped or its process ends.
pub trait Lock: Send + Sync {
    /// Make the file of the lock that long. Its length tells other processes how many bytes the holder may write, also
    /// after the holder's death. Does nothing where locks are not files, or if the file has other names.
    fn reserve(&self, _bytes: u64) -> io::Result<()> {
        Ok(())
    }
}

/// A file whose owner counts as alive while this value exists.
pub struct Owned {
    /// The file.
    pub file: SharedFile,
    /// Lock of a file beside it. `None` if the file itself is locked, or was only inspected.
    life: Option<Box<dyn Lock>>,
}

impl Owned {
    /// Remove the file: its owner ended in good order, or its contents have been processed.
    pub fn end(self, io: &dyn Io, path: &Path) {
        // Truncate first: a process that is about to open the file by its name must find nothing.
        let _ = self.file.empty();
        // If the process dies in between, the file itself still leads to the leftover lock file.
        if self.life.is_some() {
            let _ = life_of(path).and_then(|life| io.remove(&life));
        }
        let _ = io.remove(path);
    }
}

/// The file that is locked in place of `path`, on systems where a writer cannot lock its own file.
fn life_of(path: &Path) -> io::Result<PathBuf> {
    Ok(try_path_with_extension(path, "live").map_err(|_| ErrorKind::OutOfMemory)?)
}

/// Fill the buffer from an offset, however short the reads are. False if the file ends first.
pub(crate) fn read_exact_at(file: &dyn File, mut buffer: &mut [u8], mut offset: u64) -> io::Result<bool> {
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

/// Size of a file, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// Up to the last byte.
    pub length: u64,
    /// Its blocks.
    pub on_disk: u64,
}

impl Size {
    /// A file without holes.
    pub fn of(length: u64) -> Self {
        Self { length, on_disk: on_disk(length) }
    }
}

/// Bytes that a file of this length takes on a disk with blocks of 4 KiB.
pub(crate) fn on_disk(length: u64) -> u64 {
    length.div_ceil(BLOCK).saturating_mul(BLOCK)
}

/// Size of a block on most disks, in bytes.
pub(crate) const BLOCK: u64 = 4096;

/// The operating system's files.
pub struct OsIo;

impl Io for OsIo {
    fn list(&self, directory: &Path) -> io::Result<Vec<OsString>> {
        #[cfg(unix)]
        check_owner(posix::find(directory, true)?.owner)?;
        list_directory(directory)
    }

    #[cfg(unix)]
    fn names(&self, directory: &Path) -> io::Result<Box<dyn Names>> {
        check_owner(posix::find(directory, true)?.owner)?;
        let names = std::sync::Mutex::new(OpenDirectory::new(directory)?);
        Ok(try_box(names).map_err(|_| ErrorKind::OutOfMemory)?)
    }

    fn create_directory(&self, directory: &Path) -> io::Result<()> {
        match system::create_directory(directory) {
            Err(why) if why.kind() == ErrorKind::NotFound => {}
            done => return done,
        }
        if let Some(parent) = directory.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            self.create_directory(parent)?;
        }
        system::create_directory(directory)
    }

    fn open(&self, path: &Path) -> io::Result<SharedFile> {
        share_file(OsFile(open_regular(path, Access::Read, Links::Refuse)?))
    }

    fn create(&self, path: &Path) -> io::Result<SharedFile> {
        let file = system::open(path, Access::Append { mode: OWN_FILE }, Links::Refuse)?;
        // An empty file would refuse the next try.
        share_file(OsFile(file)).inspect_err(|_| drop(system::remove(path)))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        system::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        system::remove(path)
    }

    fn discard(&self, path: &Path) -> io::Result<()> {
        match open_regular(path, Access::Write, Links::Refuse) {
            Ok(file) => drop(OsFile(file).empty()),
            Err(why) if is_not_ours(&why) => return Err(why),
            // Without the right to write, the file can be deleted all the same.
            Err(_) => {}
        }
        system::remove(path)
    }

    fn size(&self, path: &Path) -> io::Result<Size> {
        system::size(path)
    }

    #[cfg(unix)]
    fn reserved(&self, path: &Path) -> u64 {
        let found = posix::find(path, false).ok().filter(|found| found.kind == libc::S_IFREG && found.names == 1);
        found.map_or(0, |found| found.size.length)
    }

    #[cfg(unix)]
    fn sync_directory(&self, directory: &Path) -> io::Result<()> {
        posix::open(directory, libc::O_RDONLY | libc::O_NONBLOCK | libc::O_DIRECTORY, 0)?.sync_all()
    }

    /// Other systems cannot open a directory as a file, and journal names with the files.
    #[cfg(not(unix))]
    fn sync_directory(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn try_lock(&self, path: &Path) -> io::Result<Option<Box<dyn Lock>>> {
        let file = open_regular(path, Access::Lock, Links::Refuse)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(box_lock(OsLock::new(file))?)),
            Err(fs::TryLockError::WouldBlock) => Ok(None),
            Err(fs::TryLockError::Error(why)) => Err(why),
        }
    }

    fn open_named(&self, path: &Path) -> io::Result<SharedFile> {
        share_file(OsFile(open_regular(path, Access::Read, Links::Follow)?))
    }

    fn open_input(&self, path: &Path) -> io::Result<SharedFile> {
        share_file(OsFile(regular(system::open(path, Access::Read, Links::Follow)?)?))
    }

    fn create_named(&self, path: &Path, replaced: &Path) -> io::Result<SharedFile> {
        let file = system::open(path, Access::Append { mode: SHIPPED_FILE }, Links::Refuse)?;
        system::copy_rights(&file, replaced);
        share_file(OsFile(file)).inspect_err(|_| drop(system::remove(path)))
    }

    fn replace_named(&self, from: &Path, to: &Path) -> io::Result<()> {
        match system::is_replaceable(to) {
            Ok(false) => Err(ErrorKind::InvalidInput.into()),
            Err(why) if why.kind() != ErrorKind::NotFound => Err(why),
            _ => system::rename(from, to),
        }
    }

    fn own(&self, path: &Path) -> io::Result<Owned> {
        let file = system::open(path, Access::Own, Links::Refuse)?;
        let file = if file.try_lock().is_ok() { share_file(OsFile(file)) } else { Err(ErrorKind::Unsupported.into()) };
        let file = file.inspect_err(|_| drop(system::remove(path)))?;
        Ok(Owned { file, life: None })
    }

    fn open_orphan(&self, path: &Path, for_good: bool) -> io::Result<Option<Owned>> {
        let file = open_regular(path, Access::Read, Links::Refuse)?;
        let is_dead = if for_good { file.try_lock().is_ok() } else { is_dead(&file) };
        if !is_dead {
            return Ok(None);
        }
        Ok(Some(Owned { file: share_file(OsFile(file))?, life: None }))
    }

    fn identity(&self, path: &Path) -> io::Result<Option<(u64, u64)>> {
        #[cfg(unix)]
        return posix::find(path, false).map(|found| Some(found.identity));
        #[cfg(not(unix))]
        // Stable Rust has no such numbers here. It is known whether there is a file.
        return fs::symlink_metadata(path).map(|_| Some((0, 0)));
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

/// Rights of the files of a directory: only this user reads and writes them.
const OWN_FILE: u32 = 0o600;
/// Rights of a file that is shipped, before the process's mask.
const SHIPPED_FILE: u32 = 0o666;

/// The purpose of opening a file.
#[derive(Clone, Copy)]
enum Access {
    Read,
    Write,
    /// Create a file that did not exist, for reading and appending.
    Append {
        #[cfg_attr(not(unix), expect(dead_code, reason = "other systems have no such rights"))]
        mode: u32,
    },
    /// Create a file that did not exist, for reading and writing.
    Own,
    /// Open a file to lock it, or create it.
    Lock,
}

/// Whether the last part of a path may be a link.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Links {
    Follow,
    Refuse,
}

/// Open a file, or fail with `InvalidInput` unless it is a regular file, and with [`OTHER_OWNER`] if it belongs to
/// another user. Never waits.
fn open_regular(path: &Path, access: Access, links: Links) -> io::Result<fs::File> {
    let file = system::open(path, access, links);
    #[cfg(unix)]
    if file.as_ref().is_err_and(|why| why.kind() == ErrorKind::PermissionDenied)
        && let Ok(found) = posix::find(path, links == Links::Follow)
    {
        check_owner(found.owner)?;
    }
    let file = regular(file?)?;
    #[cfg(unix)]
    check_owner(std::os::unix::fs::MetadataExt::uid(&file.metadata()?))?;
    Ok(file)
}

/// The file, or `InvalidInput` unless it is a regular one.
fn regular(file: fs::File) -> io::Result<fs::File> {
    if file.metadata()?.is_file() { Ok(file) } else { Err(ErrorKind::InvalidInput.into()) }
}

/// Whether a file operation failed because the path leads to no regular file of this user.
pub(super) fn is_not_ours(why: &io::Error) -> bool {
    matches!(why.kind(), ErrorKind::InvalidInput | OTHER_OWNER)
}

/// Whether a file has other names, or that is unknown: then it is not only ours, and keeps its bytes.
#[cfg(unix)]
fn has_other_names(file: &fs::File) -> bool {
    use std::os::unix::fs::MetadataExt;
    file.metadata().map_or(true, |found| found.nlink() > 1)
}

/// Stable Rust does not count names here.
#[cfg(not(unix))]
fn has_other_names(_: &fs::File) -> bool {
    false
}

/// Only this user, and root, who can change the library itself, may have written what is read.
#[cfg(unix)]
fn check_owner(owner: u32) -> io::Result<()> {
    if owner == posix::user() || owner == 0 { Ok(()) } else { Err(OTHER_OWNER.into()) }
}

#[cfg(unix)]
mod system {
    //! Operations on paths that allocate nothing.

    use super::*;
    pub use posix::{remove, rename};

    #[cfg(any(target_os = "linux", target_os = "android"))]
    const NO_ACCESS_TIME: std::ffi::c_int = libc::O_NOATIME;
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    const NO_ACCESS_TIME: std::ffi::c_int = 0;

    /// Without the flags, opening a FIFO waits for its other end, and opening a device can have effects.
    pub fn open(path: &Path, access: Access, links: Links) -> io::Result<fs::File> {
        let (flags, mode) = match access {
            Access::Read => (libc::O_RDONLY, 0),
            Access::Write => (libc::O_WRONLY, 0),
            Access::Append { mode } => (libc::O_RDWR | libc::O_APPEND | libc::O_CREAT | libc::O_EXCL, mode),
            Access::Own => (libc::O_RDWR | libc::O_CREAT | libc::O_EXCL, OWN_FILE),
            Access::Lock => (libc::O_RDWR | libc::O_CREAT, OWN_FILE),
        };
        let links = if links == Links::Refuse { libc::O_NOFOLLOW } else { 0 };
        let flags = flags | links | libc::O_NONBLOCK;
        let opened = match access {
            // Without updates of the access time a read is faster. The system may allow that only to the owner.
            Access::Read if NO_ACCESS_TIME != 0 => match posix::open(path, flags | NO_ACCESS_TIME, mode) {
                Err(why) if why.raw_os_error() == Some(libc::EPERM) => posix::open(path, flags, mode),
                opened => opened,
            },
            _ => posix::open(path, flags, mode),
        };
        opened.map_err(|why| match why.raw_os_error() {
            // The path is a link; a FIFO or a socket without its other end; a directory, to write.
            Some(libc::ELOOP | libc::ENXIO | libc::EISDIR) => ErrorKind::InvalidInput.into(),
            _ => why,
        })
    }

    pub fn create_directory(directory: &Path) -> io::Result<()> {
        match posix::create_directory(directory, 0o700) {
            Err(why) if why.kind() == ErrorKind::AlreadyExists => match posix::find(directory, true)?.kind {
                libc::S_IFDIR => Ok(()),
                _ => Err(ErrorKind::NotADirectory.into()),
            },
            done => done,
        }
    }

    pub fn size(path: &Path) -> io::Result<Size> {
        posix::find(path, false).map(|found| if found.kind == libc::S_IFREG { found.size } else { Size::default() })
    }

    /// Give a file the rights of a regular file at `path`. Some file systems have none, so errors are ignored.
    pub fn copy_rights(file: &fs::File, path: &Path) {
        use std::os::unix::fs::PermissionsExt;
        if let Some(found) = posix::find(path, false).ok().filter(|found| found.kind == libc::S_IFREG) {
            let _ = file.set_permissions(fs::Permissions::from_mode(found.rights));
        }
    }

    /// Whether a path is a regular file, or a link to one or to nothing.
    pub fn is_replaceable(path: &Path) -> io::Result<bool> {
        let kind = posix::find(path, false)?.kind;
        // Links to devices and directories, such as `/dev/stdout`, are in use by others.
        let is_file = || posix::find(path, true).map_or(true, |found| found.kind == libc::S_IFREG);
        Ok(kind == libc::S_IFREG || (kind == libc::S_IFLNK && is_file()))
    }
}

#[cfg(not(unix))]
mod system {
    //! Operations of the standard library, which aborts the process when out of memory for a path.

    use super::*;
    pub use fs::{remove_file as remove, rename};

    pub fn open(path: &Path, access: Access, links: Links) -> io::Result<fs::File> {
        match if links == Links::Refuse { fs::symlink_metadata(path) } else { fs::metadata(path) } {
            Ok(found) if !found.is_file() => return Err(ErrorKind::InvalidInput.into()),
            _ => {}
        }
        let mut options = fs::OpenOptions::new();
        options.read(true);
        match access {
            Access::Read => &mut options,
            Access::Append { .. } => options.append(true).create_new(true),
            Access::Write => options.read(false).write(true),
            Access::Own => options.write(true).create_new(true),
            Access::Lock => options.write(true).create(true),
        };
        options.open(path)
    }

    pub fn create_directory(directory: &Path) -> io::Result<()> {
        fs::create_dir_all(directory)
    }

    pub fn size(path: &Path) -> io::Result<Size> {
        fs::symlink_metadata(path).map(|found| if found.is_file() { Size::of(found.len()) } else { Size::default() })
    }

    /// Other systems give a file the rights of its directory.
    pub fn copy_rights(_: &fs::File, _: &Path) {}

    /// Whether a path is a regular file, or a link to one or to nothing.
    pub fn is_replaceable(path: &Path) -> io::Result<bool> {
        let found = fs::symlink_metadata(path)?;
        let is_file = || fs::metadata(path).map_or(true, |found| found.is_file());
        Ok(found.is_file() || (found.is_symlink() && is_file()))
    }
}

/// Whether the owner of a file has died. Several processes may ask at the same time.
///
/// The check locks the file for an instant, shared with other checks. A process that tries to own the file at that
/// instant fails and leaves it to the next one. Empty files are not checked: the creator must find its new file
/// unlocked.
pub(crate) fn is_dead(file: &fs::File) -> bool {
    file.metadata().is_ok_and(|found| found.len() > 0) && file.try_lock_shared().is_ok() && file.unlock().is_ok()
}

struct OsLock {
    file: fs::File,
    /// The process that took the lock. A forked child has a copy of this value, and must not release the lock.
    process: u32,
}

impl OsLock {
    fn new(file: fs::File) -> Self {
        Self { file, process: std::process::id() }
    }
}

impl Drop for OsLock {
    fn drop(&mut self) {
        // Closing alone releases nothing while a child that is starting has a copy of the descriptor.
        if self.process == std::process::id() {
            let _ = self.file.unlock();
        }
    }
}

impl Lock for OsLock {
    // The length of a sparse file: it takes no block, and everybody can read it without the lock.
    fn reserve(&self, bytes: u64) -> io::Result<()> {
        if has_other_names(&self.file) { Ok(()) } else { self.file.set_len(bytes) }
    }
}

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

    fn empty(&self) -> io::Result<()> {
        if has_other_names(&self.0) { Ok(()) } else { self.0.set_len(0) }
    }

    fn sync(&self) -> io::Result<()> {
        self.0.sync_data()
    }

    #[cfg(unix)]
    fn next_data(&self, offset: u64) -> u64 {
        posix::next_data(&self.0, offset).unwrap_or(offset)
    }

    fn identity(&self) -> io::Result<Option<(u64, u64)>> {
        #[cfg(unix)]
        return self.0.metadata().map(|found| {
            use std::os::unix::fs::MetadataExt;
            Some((found.dev(), found.ino()))
        });
        #[cfg(not(unix))]
        return Ok(Some((0, 0)));
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
