//! Locks between the threads of this process, for file systems without locks. Directories there belong to this process
//! alone, and several of its stores may use them.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::io::{Lock, box_lock};
use crate::base::try_path;

/// Identifies a file system: two words that no other file system has.
pub(crate) type Owner = (usize, usize);

static HELD: Mutex<Vec<(Owner, PathBuf)>> = Mutex::new(Vec::new());

fn held() -> MutexGuard<'static, Vec<(Owner, PathBuf)>> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// [`Io::try_lock`](super::io::Io::try_lock) without creating a file.
pub(crate) fn try_lock(owner: Owner, path: &Path) -> io::Result<Option<Box<dyn Lock>>> {
    let mut held = held();
    if held.iter().any(|(other, locked)| *other == owner && locked == path) {
        return Ok(None);
    }
    held.try_reserve(1)?;
    let copy = || try_path(path).map_err(|_| ErrorKind::OutOfMemory);
    let (listed, own) = (copy()?, copy()?);
    held.push((owner, listed));
    // Dropping the lock needs the list.
    drop(held);
    box_lock(ProcessLock { owner, path: own }).map(Some)
}

struct ProcessLock {
    owner: Owner,
    path: PathBuf,
}

impl Lock for ProcessLock {}

impl Drop for ProcessLock {
    fn drop(&mut self) {
        let mut held = held();
        held.retain(|(owner, path)| (*owner, path) != (self.owner, &self.path));
        // Free the memory, so that unloading the library leaks nothing.
        if held.is_empty() {
            *held = Vec::new();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lock_has_one_holder_per_file_system() {
        let (one, other) = (Path::new("locks/one"), Path::new("locks/other"));
        let take = |owner, path| try_lock(owner, path).unwrap();
        let held = take((1, 1), one);
        assert!(held.is_some() && take((1, 1), one).is_none());
        assert!(take((1, 1), other).is_some() && take((2, 1), one).is_some() && take((1, 2), one).is_some());
        drop(held);
        assert!(take((1, 1), one).is_some() && take((1, 1), one).is_some());
    }
}
