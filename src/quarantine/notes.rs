//! The notes file of this process: a slot for each key in flight, written before the driver sees the binary.
//!
//! Once a write returns, the operating system holds the bytes: they survive any death of the process. No more is
//! needed, so nothing is synced.

use std::hash::{BuildHasher, RandomState};
use std::io::ErrorKind;
use std::path::PathBuf;
use std::time::SystemTime;

use super::directory::{Directory, MOST_NOTES, notes_name};
use super::exit::RemovedAtExit;
use super::format::{FileKind, RECORD, Record, header};
use crate::base::{Result, error};
use crate::store::io::{Owned, SharedIo};
use crate::store::{Secret, io_error};

/// Slots of a new file. It grows by doubling.
const FIRST_SLOTS: usize = 64;
/// Names to try before giving up.
const MOST_NAMES: usize = 16;

/// An open notes file, locked for as long as this process lives.
pub struct NotesFile {
    io: SharedIo,
    owned: Owned,
    path: PathBuf,
    incident: u64,
    secret: Option<Secret>,
    /// The identity of the directory's lock. It changes if the directory is deleted. The notes file is not asked for its
    /// own: file systems then write its times at the next write, which takes longer than the rest.
    lock: Option<(u64, u64)>,
    slots: usize,
    /// Ends the uses in flight when the process exits.
    _at_exit: Option<RemovedAtExit>,
}

impl NotesFile {
    /// Create the file under the lock of the directory, since an unlocked notes file counts as a dead process's.
    pub fn create(directory: &Directory, wait_ms: u32) -> Result<Self> {
        Self::create_as(directory, wait_ms, any_incident)
    }

    /// [`create`](Self::create) with the first offered incident that no other process has.
    pub fn create_as(directory: &Directory, wait_ms: u32, offer: impl FnMut() -> u64) -> Result<Self> {
        directory.create()?;
        let _held = directory.lock(wait_ms)?;
        let lock = directory.identity().unwrap_or(None);
        let (owned, path, incident) = new_file(directory, offer)?;
        let at_exit = match RemovedAtExit::new(incident, &directory.io, &owned.file, &path) {
            Ok(at_exit) => at_exit,
            Err(why) => {
                owned.end(&*directory.io, &path);
                return Err(why);
            }
        };
        let (io, secret) = (directory.io.clone(), directory.secret);
        let mut notes = Self { io, owned, path, incident, secret, lock, slots: 0, _at_exit: at_exit };
        match notes.write(0, &header(FileKind::Notes, incident, secret.as_ref())).and_then(|()| notes.grow(FIRST_SLOTS))
        {
            Ok(()) => Ok(notes),
            Err(why) => {
                notes.close();
                Err(why)
            }
        }
    }

    /// Whether the directory was deleted or replaced, so that nobody would find a note.
    pub fn has_lost_its_name(&self, directory: &Directory) -> bool {
        match directory.identity() {
            Ok(found) => found.is_some() && found != self.lock,
            Err(why) => matches!(why.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory),
        }
    }

    /// Note a key.
    pub fn note(&mut self, slot: usize, environment: u64, key: &[u8; 32]) -> Result<()> {
        if slot >= MOST_NOTES {
            return Err(error!(
                LimitExceeded,
                "more than {MOST_NOTES} keys are in use at the same time: end some uses"
            ));
        }
        if slot >= self.slots {
            self.grow((slot + 1).next_power_of_two().min(MOST_NOTES))?;
        }
        let note = Record { environment, key: *key, incident: self.incident, when: 0 };
        self.write(slot + 1, &note.to_bytes(FileKind::Notes, self.secret.as_ref()))
    }

    /// Clear a note.
    pub fn clear(&mut self, slot: usize) -> Result<()> {
        self.write(slot + 1, &[0; RECORD])
    }

    /// Write empty slots now, so that a full disk fails here.
    fn grow(&mut self, slots: usize) -> Result<()> {
        for slot in self.slots..slots {
            self.clear(slot)?;
        }
        self.slots = slots;
        Ok(())
    }

    fn write(&self, record: usize, bytes: &[u8; RECORD]) -> Result<()> {
        let written = self.owned.file.write_at(bytes, (record * RECORD) as u64);
        written.map_err(|why| io_error("write", &self.path, &why))
    }

    /// End in good order: keys in flight get no strikes.
    pub fn close(self) {
        self.owned.end(&*self.io, &self.path);
    }
}

/// A number that no other process has. `RandomState` takes random numbers from the system only once. So a forked
/// process continues its parent's, but has another process id.
fn any_incident() -> u64 {
    RandomState::new().hash_one((std::process::id(), SystemTime::now()))
}

fn new_file(directory: &Directory, mut offer: impl FnMut() -> u64) -> Result<(Owned, PathBuf, u64)> {
    let mut tries = 1;
    loop {
        let incident = offer();
        let path = directory.file(notes_name(incident).as_str())?;
        match directory.io.own(&path) {
            Ok(owned) => return Ok((owned, path, incident)),
            Err(why) if why.kind() == ErrorKind::AlreadyExists && tries < MOST_NAMES => tries += 1,
            Err(why) if why.kind() == ErrorKind::Unsupported => {
                return Err(error!(Unsupported, "files such as '{}' cannot be locked", path.display()));
            }
            Err(why) => return Err(io_error("write", &path, &why)),
        }
    }
}
