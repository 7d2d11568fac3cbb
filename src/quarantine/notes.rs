//! The notes file of this process: a slot for each key in flight, written before the driver sees the binary.
//!
//! A write that has returned is the operating system's: it survives the death of the process, however sudden. That is
//! all that is wanted here, so nothing is synced.

use std::fs::{self, File, OpenOptions};
use std::hash::{BuildHasher, RandomState};
use std::io::ErrorKind;
use std::path::PathBuf;
use std::time::SystemTime;

use super::directory::{Directory, MOST_NOTES, io_error, notes_name};
use super::format::{Kind, RECORD, Record, header};
use crate::base::{Result, error};

/// Slots that a new file has; it grows by doubling.
const FIRST_SLOTS: usize = 64;
/// Names that are tried before it is given up.
const MOST_NAMES: usize = 16;

/// An open notes file, locked for as long as this process lives.
pub struct Notes {
    file: File,
    path: PathBuf,
    incident: u64,
    slots: usize,
}

impl Notes {
    /// Create it, under the lock of the directory: a file that nobody holds is a dead process's.
    pub fn create(directory: &Directory, wait_ms: u32) -> Result<Self> {
        Self::create_as(directory, wait_ms, any_incident)
    }

    /// Of the incidents that are offered, the first that is no other process's.
    pub fn create_as(directory: &Directory, wait_ms: u32, offer: impl FnMut() -> u64) -> Result<Self> {
        directory.create()?;
        let _held = directory.lock(wait_ms)?;
        let (file, path, incident) = new_file(directory, offer)?;
        if let Err(why) = file.try_lock() {
            let _ = fs::remove_file(&path);
            return Err(error!(Unsupported, "files in '{}' cannot be locked: {why}", path.display()));
        }
        let mut notes = Self { file, path, incident, slots: 0 };
        match notes.write(0, &header(Kind::Notes, incident)).and_then(|()| notes.grow(FIRST_SLOTS)) {
            Ok(()) => Ok(notes),
            Err(why) => {
                notes.close();
                Err(why)
            }
        }
    }

    /// Note a key.
    pub fn note(&mut self, slot: usize, environment: u64, key: &[u8; 32]) -> Result<()> {
        if slot >= MOST_NOTES {
            return Err(error!(LimitExceeded, "more than {MOST_NOTES} keys are in use at a time: end some"));
        }
        if slot >= self.slots {
            self.grow((slot + 1).next_power_of_two().min(MOST_NOTES))?;
        }
        let note = Record { environment, key: *key, incident: self.incident, when: 0 };
        self.write(slot + 1, &note.to_bytes(Kind::Notes))
    }

    /// Take a note off.
    pub fn clear(&mut self, slot: usize) -> Result<()> {
        self.write(slot + 1, &[0; RECORD])
    }

    /// Ask for the room now, so that a full disk shows here.
    fn grow(&mut self, slots: usize) -> Result<()> {
        for slot in self.slots..slots {
            self.clear(slot)?;
        }
        self.slots = slots;
        Ok(())
    }

    fn write(&self, record: usize, bytes: &[u8; RECORD]) -> Result<()> {
        write_at(&self.file, bytes, (record * RECORD) as u64).map_err(|why| io_error("write", &self.path, &why))
    }

    /// End in good order: nothing in flight is anybody's fault.
    pub fn close(self) {
        // First emptied: whoever is about to open it by its name must find nothing.
        let _ = self.file.set_len(0);
        let _ = fs::remove_file(&self.path);
    }
}

/// A number that no other process has. The random numbers of the system are had through the standard library, which asks
/// for them once: a process that is forked off goes on with its parent's, but has an id of its own.
fn any_incident() -> u64 {
    RandomState::new().hash_one((std::process::id(), SystemTime::now()))
}

fn new_file(directory: &Directory, mut offer: impl FnMut() -> u64) -> Result<(File, PathBuf, u64)> {
    let mut tries = 1;
    loop {
        let incident = offer();
        let path = directory.file(&notes_name(incident));
        match OpenOptions::new().read(true).write(true).create_new(true).open(&path) {
            Ok(file) => return Ok((file, path, incident)),
            Err(why) if why.kind() == ErrorKind::AlreadyExists && tries < MOST_NAMES => tries += 1,
            Err(why) => return Err(io_error("write", &path, &why)),
        }
    }
}

#[cfg(unix)]
fn write_at(file: &File, bytes: &[u8], at: u64) -> std::io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, at)
}

#[cfg(windows)]
fn write_at(file: &File, bytes: &[u8], at: u64) -> std::io::Result<()> {
    // A record is never written in part.
    let written = std::os::windows::fs::FileExt::seek_write(file, bytes, at)?;
    if written == bytes.len() { Ok(()) } else { Err(std::io::ErrorKind::WriteZero.into()) }
}

#[cfg(not(any(unix, windows)))]
fn write_at(_: &File, _: &[u8], _: u64) -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}
