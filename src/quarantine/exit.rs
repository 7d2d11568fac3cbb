//! The notes files of this process, which a clean exit removes: `exit()` with open uses is no crash.
//!
//! The handler runs while other threads may note further uses. It empties and removes the files, so that nothing written
//! to them later can be found. From then on no notes file is created.
//!
//! It leaves files of a host's file system alone, because that may be gone when the process exits. A forked process
//! leaves the files of its parent alone.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread::sleep;
use std::time::Duration;

use crate::base::{Error, Result, at_exit, error, try_path, try_push};
use crate::store::io::{SharedFile, SharedIo};

struct Listed {
    incident: u64,
    process: u32,
    io: SharedIo,
    file: SharedFile,
    path: PathBuf,
}

struct List {
    files: Vec<Listed>,
    has_handler: bool,
    is_exiting: bool,
}

static LIST: Mutex<List> = Mutex::new(List { files: Vec::new(), has_handler: false, is_exiting: false });

fn list() -> MutexGuard<'static, List> {
    LIST.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A file on the list, until this is dropped.
pub struct RemovedAtExit(u64);

impl RemovedAtExit {
    /// Put a notes file on the list.
    pub fn new(incident: u64, io: &SharedIo, file: &SharedFile, path: &Path) -> Result<Option<Self>> {
        if io.is_hosts() {
            return Ok(None);
        }
        let path = try_path(path)?;
        let mut list = list();
        if list.is_exiting {
            return Err(error!(Io, "the process is exiting: uses are not recorded any more"));
        }
        let process = std::process::id();
        try_push(&mut list.files, Listed { incident, process, io: io.clone(), file: file.clone(), path })?;
        if !list.has_handler {
            list.has_handler = at_exit(remove_all);
        }
        match list.has_handler {
            true => Ok(Some(Self(incident))),
            false => {
                drop((list, Self(incident)));
                Err(Error::OUT_OF_MEMORY)
            }
        }
    }
}

impl Drop for RemovedAtExit {
    fn drop(&mut self) {
        let mut list = list();
        let at = list.files.iter().position(|listed| listed.incident == self.0);
        let removed = at.map(|at| list.files.swap_remove(at));
        let empty = if list.files.is_empty() { std::mem::take(&mut list.files) } else { Vec::new() };
        // The host's functions free memory.
        drop(list);
        drop((removed, empty));
    }
}

/// Removes the files of this process.
fn remove_all() {
    let Some(mut list) = list_soon() else { return };
    list.is_exiting = true;
    for listed in list.files.iter().filter(|listed| listed.process == std::process::id()) {
        // Nothing can be done about a failure.
        let _ = listed.file.empty();
        let _ = listed.io.remove(&listed.path);
    }
}

/// The list, unless another thread keeps it. That one may be this thread itself, which exits inside the host's allocator.
fn list_soon() -> Option<MutexGuard<'static, List>> {
    (0..100).find_map(|_| match LIST.try_lock() {
        Ok(list) => Some(list),
        Err(TryLockError::Poisoned(list)) => Some(list.into_inner()),
        Err(TryLockError::WouldBlock) => {
            sleep(Duration::from_millis(1));
            None
        }
    })
}
