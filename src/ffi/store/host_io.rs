//! A host's file system as an [`Io`]: the callbacks of a `hob_file_io`. Their results are checked.

use std::ffi::{OsString, c_void};
use std::io::{self, ErrorKind, IoSlice};
use std::path::Path;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

use super::hob_file_io;
use crate::base::{Result, Shared, error};
use crate::ffi::base::guard::{call_host_barred, guard, unbarred};
use crate::ffi::base::result::hob_result;
use crate::ffi::base::structs::read_struct;
use crate::ffi::base::text::hob_str;
use crate::ffi::base::user_data::UserData;
use crate::store::io::{File, Io, Lock, OsIo, SharedFile, box_lock, share_file};
use crate::store::process_locks;

/// Limit of the number of names in one directory.
const MOST_NAMES: usize = 1 << 16;
/// Bytes of the longest name that the library gives to a file.
const LONGEST_NAME: usize = 64;
/// Limit of a file's size, in bytes.
const LONGEST_FILE: u64 = 1 << 36;

/// The host's callbacks. Drop releases them if they are owned.
pub struct HostFiles {
    io: hob_file_io,
    user_data: UserData,
}

// SAFETY: the header says where the callbacks run; the host makes `user_data` fit for them.
unsafe impl Send for HostFiles {}
// SAFETY: as above.
unsafe impl Sync for HostFiles {}

impl HostFiles {
    /// The callbacks, if the host has set any. `what` names the pointer.
    ///
    /// # Safety
    /// `io` is NULL or meets the contract of [`read_struct`].
    pub unsafe fn of(io: *const hob_file_io, what: &str) -> Result<Option<Shared<Self>>> {
        if io.is_null() {
            return Ok(None);
        }
        // SAFETY: by this function's contract.
        let io = unsafe { read_struct(io, what) }?;
        check(&io)?;
        Shared::try_new(Self { io, user_data: UserData::new(io.user_data, io.release) }).map(Some)
    }

    /// Takes ownership of `user_data`.
    pub fn own(&self) {
        self.user_data.own();
    }

    /// Calls the host.
    fn ask<F>(&self, function: Option<F>, call: impl FnOnce(F, *mut c_void) -> u32) -> io::Result<()> {
        let Some(function) = function else { return Err(ErrorKind::Unsupported.into()) };
        outcome(call_host_barred(|| call(function, self.user_data.get())))
    }
}

fn check(io: &hob_file_io) -> Result<()> {
    let needed = [
        ("list", io.list.is_some()),
        ("create_directory", io.create_directory.is_some()),
        ("open", io.open.is_some()),
        ("create", io.create.is_some()),
        ("close", io.close.is_some()),
        ("size", io.size.is_some()),
        ("read", io.read.is_some()),
        ("write", io.write.is_some()),
        ("truncate", io.truncate.is_some()),
        ("sync", io.sync.is_some()),
        ("rename", io.rename.is_some()),
        ("remove", io.remove.is_some()),
        ("try_lock", io.try_lock.is_some() || io.unlock.is_none()),
        ("unlock", io.unlock.is_some() || io.try_lock.is_none()),
    ];
    match needed.iter().find(|(_, is_set)| !is_set) {
        Some((name, _)) => Err(error!(
            InvalidArgument,
            "hob_file_io.{name} is NULL: set it; sync_directory and release may be NULL, and try_lock together with unlock"
        )),
        None => Ok(()),
    }
}

/// A callback's result as an error of a file operation.
fn outcome(result: u32) -> io::Result<()> {
    let kind = match hob_result(result) {
        hob_result::Ok => return Ok(()),
        hob_result::NotFound => ErrorKind::NotFound,
        hob_result::Busy => ErrorKind::AlreadyExists,
        hob_result::LimitExceeded => ErrorKind::StorageFull,
        hob_result::Unsupported => ErrorKind::PermissionDenied,
        hob_result::OutOfMemory => ErrorKind::OutOfMemory,
        _ => ErrorKind::Other,
    };
    Err(kind.into())
}

/// A path in the form that the host gets.
struct HostPath(Vec<u8>);

impl HostPath {
    fn of(path: &Path) -> io::Result<Self> {
        let text = path.as_os_str().as_encoded_bytes();
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(text.len() + 1)?;
        let slash = |byte: &u8| if cfg!(windows) && *byte == b'\\' { b'/' } else { *byte };
        bytes.extend(text.iter().map(slash));
        bytes.push(0);
        Ok(Self(bytes))
    }

    fn text(&self) -> hob_str {
        hob_str { data: self.0.as_ptr().cast(), len: self.0.len() - 1 }
    }
}

/// The names that `list` has added.
#[derive(Default)]
struct Names {
    names: Vec<OsString>,
    /// The first failure of `add`. The whole list is then unusable.
    failure: Option<ErrorKind>,
}

impl Names {
    fn add(&mut self, name: &[u8]) -> Result<()> {
        let may_be_ours = name.len() <= LONGEST_NAME && !name.contains(&b'/');
        let Some(name) = std::str::from_utf8(name).ok().filter(|name| may_be_ours && name.is_ascii()) else {
            return Ok(());
        };
        if self.names.len() >= MOST_NAMES {
            self.failure = Some(ErrorKind::InvalidData);
            return Err(error!(LimitExceeded, "the directory has more than {MOST_NAMES} names: use another one"));
        }
        let mut copy = OsString::new();
        let room = self.names.try_reserve(1).and_then(|()| copy.try_reserve_exact(name.len()));
        room.inspect_err(|_| self.failure = Some(ErrorKind::OutOfMemory))?;
        copy.push(name);
        self.names.push(copy);
        Ok(())
    }
}

/// `add` of [`hob_file_io::list`].
unsafe extern "C" fn add_name(names: *mut c_void, name: hob_str) -> hob_result {
    let add = || {
        // SAFETY: the header asks the host to pass on the pointer, and to call this inside `list`, on its thread. Until
        // `list` returns there is no other reference to the names.
        let Some(names) = (unsafe { names.cast::<Names>().as_mut() }) else {
            return Err(error!(InvalidArgument, "names is NULL: pass the pointer that list received"));
        };
        // SAFETY: the header asks for a valid string.
        match unsafe { name.argument("name") }.bytes() {
            Ok(name) => names.add(name),
            Err(why) => {
                names.failure = Some(ErrorKind::InvalidData);
                Err(why)
            }
        }
    };
    unbarred(|| guard(add))
}

/// The host's file system.
pub struct HostIo(pub Shared<HostFiles>);

type Opens = extern "C" fn(*mut c_void, hob_str, *mut *mut c_void) -> u32;

impl HostIo {
    fn file(&self, path: &Path, open: Option<Opens>, end: Option<AtomicU64>) -> io::Result<SharedFile> {
        let (path, mut file) = (HostPath::of(path)?, ptr::null_mut());
        self.0.ask(open, |open, host| open(host, path.text(), &raw mut file))?;
        share_file(HostFile { files: self.0.clone(), file, end })
    }
}

impl Io for HostIo {
    fn list(&self, directory: &Path) -> io::Result<Vec<OsString>> {
        let (directory, mut names) = (HostPath::of(directory)?, Names::default());
        let place = (&raw mut names).cast();
        self.0.ask(self.0.io.list, |list, host| list(host, directory.text(), Some(add_name), place))?;
        names.failure.map_or(Ok(names.names), |kind| Err(kind.into()))
    }

    fn create_directory(&self, directory: &Path) -> io::Result<()> {
        let directory = HostPath::of(directory)?;
        self.0.ask(self.0.io.create_directory, |create, host| create(host, directory.text()))
    }

    fn open(&self, path: &Path) -> io::Result<SharedFile> {
        self.file(path, self.0.io.open, None)
    }

    fn create(&self, path: &Path) -> io::Result<SharedFile> {
        self.file(path, self.0.io.create, Some(AtomicU64::new(0)))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let (from, to) = (HostPath::of(from)?, HostPath::of(to)?);
        self.0.ask(self.0.io.rename, |rename, host| rename(host, from.text(), to.text()))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let path = HostPath::of(path)?;
        self.0.ask(self.0.io.remove, |remove, host| remove(host, path.text()))
    }

    fn sync_directory(&self, directory: &Path) -> io::Result<()> {
        if self.0.io.sync_directory.is_none() {
            return Ok(());
        }
        let directory = HostPath::of(directory)?;
        self.0.ask(self.0.io.sync_directory, |sync, host| sync(host, directory.text()))
    }

    fn try_lock(&self, path: &Path) -> io::Result<Option<Box<dyn Lock>>> {
        let io = &self.0.io;
        let Some(try_lock) = io.try_lock else {
            return process_locks::try_lock((io.user_data.addr(), io.open.map_or(0, |open| open as usize)), path);
        };
        let (path, mut lock) = (HostPath::of(path)?, ptr::null_mut());
        match self.0.ask(Some(try_lock), |try_lock, host| try_lock(host, path.text(), &raw mut lock)) {
            Ok(()) => box_lock(HostLock { files: self.0.clone(), lock }).map(Some),
            Err(why) if why.kind() == ErrorKind::AlreadyExists => Ok(None),
            Err(why) => Err(why),
        }
    }

    fn nonce(&self) -> u64 {
        OsIo.nonce()
    }

    fn is_hosts(&self) -> bool {
        true
    }
}

struct HostLock {
    files: Shared<HostFiles>,
    lock: *mut c_void,
}

// SAFETY: as HostFiles.
unsafe impl Send for HostLock {}
// SAFETY: as HostFiles.
unsafe impl Sync for HostLock {}

impl Lock for HostLock {}

impl Drop for HostLock {
    fn drop(&mut self) {
        if let Some(unlock) = self.files.io.unlock {
            call_host_barred(|| unlock(self.files.user_data.get(), self.lock));
        }
    }
}

struct HostFile {
    files: Shared<HostFiles>,
    file: *mut c_void,
    /// The offset of the next append. `None`: the file is only read.
    end: Option<AtomicU64>,
}

// SAFETY: as HostFiles.
unsafe impl Send for HostFile {}
// SAFETY: as HostFiles.
unsafe impl Sync for HostFile {}

impl HostFile {
    fn end(&self) -> io::Result<&AtomicU64> {
        self.end.as_ref().ok_or_else(|| ErrorKind::PermissionDenied.into())
    }
}

impl File for HostFile {
    fn length(&self) -> io::Result<u64> {
        let mut size = 0;
        self.files.ask(self.files.io.size, |ask, host| ask(host, self.file, &raw mut size))?;
        if size <= LONGEST_FILE { Ok(size) } else { Err(ErrorKind::InvalidData.into()) }
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let (place, room, mut count) = (buffer.as_mut_ptr().cast(), buffer.len(), 0);
        let read = self.files.io.read;
        self.files.ask(read, |read, host| read(host, self.file, offset, place, room, &raw mut count))?;
        if count <= room { Ok(count) } else { Err(ErrorKind::InvalidData.into()) }
    }

    fn append(&self, parts: &mut [IoSlice<'_>]) -> io::Result<()> {
        let end = self.end()?;
        let offset = end.load(Ordering::Relaxed);
        let length = parts.iter().map(|part| part.len()).sum();
        match parts {
            [whole] => self.write_at(whole, offset)?,
            parts => {
                // Joins the parts into one call, because each call of the host may cost as much as a system call.
                let mut whole = Vec::new();
                whole.try_reserve_exact(length)?;
                parts.iter().for_each(|part| whole.extend_from_slice(part));
                self.write_at(&whole, offset)?;
            }
        }
        end.store(offset + length as u64, Ordering::Relaxed);
        Ok(())
    }

    fn truncate(&self, length: u64) -> io::Result<()> {
        let end = self.end()?;
        self.files.ask(self.files.io.truncate, |truncate, host| truncate(host, self.file, length))?;
        end.store(length, Ordering::Relaxed);
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        self.files.ask(self.files.io.sync, |sync, host| sync(host, self.file))
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.end()?;
        let (from, size) = (bytes.as_ptr().cast(), bytes.len());
        self.files.ask(self.files.io.write, |write, host| write(host, self.file, offset, from, size))
    }
}

impl Drop for HostFile {
    fn drop(&mut self) {
        if let Some(close) = self.files.io.close {
            call_host_barred(|| close(self.files.user_data.get(), self.file));
        }
    }
}
