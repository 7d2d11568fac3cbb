//! The files of a quarantine: living processes, the notes of dead ones, and the counted strikes.
//!
//! `notes-<number>` belongs to one process, which holds its lock for life. `strikes` is rewritten and renamed. A
//! process holds the lock of `lock` while it creates a notes file, counts dead processes or writes strikes.

use std::io::{ErrorKind, IoSlice};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::Options;
use super::format::{Content, FileKind, Record, most_bytes, parse};
use super::strikes::{MOST_STRIKES, Strikes};
use crate::base::{Code, Error, Result, Text, error, try_path, try_path_join, try_push};
use crate::store::io::{File, Lock, Owned, SharedIo};
use crate::store::{Secret, io_error};

/// Most notes read from a file or written to it.
pub const MOST_NOTES: usize = 4096;
/// Most notes files that one process counts; the next process counts the others.
const MOST_FILES: usize = 256;

/// The directory and its file system.
pub struct Directory {
    pub io: SharedIo,
    path: PathBuf,
    lock: PathBuf,
    pub secret: Option<Secret>,
}

/// Result of opening.
#[derive(Default)]
pub struct OpenResult {
    pub strikes: Strikes,
    /// Strikes counted by this process.
    pub counted: u32,
    /// Records that have a wrong check or were cut off.
    pub damaged: u32,
    /// Files that need a newer library, or that cannot be read.
    pub ignored: u32,
    /// Why reading was incomplete, or the result will not be remembered.
    pub problem: Option<Error>,
}

impl OpenResult {
    /// The answer, or its default and a problem. Only a lack of memory is an error.
    fn unless_failed<T: Default>(&mut self, answer: Result<T>) -> Result<T> {
        match answer {
            Err(why) if why.code() == Code::OutOfMemory => Err(why),
            Err(why) => {
                self.ignored += u32::from(why.code() != Code::Busy);
                self.problem = Some(why);
                Ok(T::default())
            }
            answer => answer,
        }
    }
}

impl Directory {
    pub fn new(io: SharedIo, path: &Path, secret: Option<Secret>) -> Result<Self> {
        Ok(Self { io, path: try_path(path)?, lock: try_path_join(path, "lock")?, secret })
    }

    pub fn file(&self, name: &str) -> Result<PathBuf> {
        try_path_join(&self.path, name)
    }

    pub fn create(&self) -> Result<()> {
        self.io.create_directory(&self.path).map_err(|why| io_error("create the directory", &self.path, &why))
    }

    /// Take the lock of the directory; it is held until the result is dropped. Waits at most `wait_ms`.
    pub fn lock(&self, wait_ms: u32) -> Result<Box<dyn Lock>> {
        let path = &self.lock;
        let (begun, most) = (Instant::now(), Duration::from_millis(wait_ms.into()));
        loop {
            match self.io.try_lock(path) {
                Ok(Some(held)) => return Ok(held),
                Ok(None) if begun.elapsed() < most => sleep(Duration::from_millis(1)),
                Ok(None) => {
                    return Err(error!(Busy, "another process holds the lock of '{}': try again", path.display()));
                }
                Err(why) => return Err(io_error("lock", path, &why)),
            }
        }
    }

    /// The numbers of the file of the lock, which no other existing file has. `None`: the file system has no such numbers.
    pub fn identity(&self) -> std::io::Result<Option<(u64, u64)>> {
        self.io.identity(&self.lock)
    }

    /// Read the strikes, and count the processes that died since. Creates nothing in an empty or missing directory.
    pub fn open(&self, options: &Options) -> Result<OpenResult> {
        let &Options { now_unix_s: now, strike_life_s: life, most_wait_ms, read_only, .. } = options;
        let mut found = OpenResult::default();
        let names = found.unless_failed(self.notes())?;
        let lock = match names.is_empty() || read_only {
            true => None,
            false => found.unless_failed(self.lock(most_wait_ms).map(Some))?,
        };
        if let Some((strikes, damaged)) = found.unless_failed(self.strikes())? {
            found.strikes = strikes;
            found.damaged += damaged;
        }
        let has_aged = found.strikes.age(now, life);
        if read_only {
            self.strike_orphans(&mut found, &names, now, false)?;
        } else if lock.is_some() {
            self.count_orphans(&mut found, now, has_aged)?;
        } else if has_aged && found.problem.is_none() {
            // Without this, strikes dated in the future would stay new. If the lock is busy, a later opening retries.
            let _ = self.change(0, false, |strikes| strikes.age(now, life));
        }
        Ok(found)
    }

    /// Count the dead processes and remove their notes. The caller holds the lock of the directory.
    fn count_orphans(&self, found: &mut OpenResult, now: u64, has_aged: bool) -> Result<()> {
        let names = self.notes()?;
        let dead = self.strike_orphans(found, &names, now, true)?;
        if dead.is_empty() && !has_aged {
            return Ok(());
        }
        let is_listed = |incident: u64| names.iter().any(|name| name == notes_name(incident).as_str());
        found.strikes.tidy(is_listed);
        // Remove notes only after their strikes are saved. A crash in between counts nothing twice, since strikes hold
        // their incident.
        if found.problem.is_none() {
            found.problem = self.save(&found.strikes, true).err();
        }
        if found.problem.is_none() {
            dead.into_iter().for_each(|(path, notes)| notes.end(&*self.io, &path));
        }
        Ok(())
    }

    /// Add a strike in memory for each key that a dead process had in flight; returns the files that were read. With
    /// `for_good` the caller becomes their owner.
    fn strike_orphans(
        &self,
        found: &mut OpenResult,
        names: &[String],
        now: u64,
        for_good: bool,
    ) -> Result<Vec<(PathBuf, Owned)>> {
        let mut dead = Vec::new();
        for name in names.iter().take(MOST_FILES) {
            let path = self.file(name)?;
            let Ok(Some(notes)) = self.io.open_orphan(&path, for_good) else { continue };
            let bytes = read_at_most(&*notes.file, most_bytes(MOST_NOTES));
            match bytes.and_then(|bytes| parse(FileKind::Notes, &bytes, self.secret.as_ref())) {
                Ok(Content::Records(records, damaged)) => {
                    found.damaged += damaged;
                    for note in records {
                        found.counted += u32::from(found.strikes.add(Record { when: now.max(1), ..note })?);
                    }
                    try_push(&mut dead, (path, notes))?;
                }
                Ok(Content::Newer) | Err(_) => found.ignored += 1,
            }
        }
        Ok(dead)
    }

    /// The saved strikes, and the number of damaged records. Always `Some` unless it fails.
    fn strikes(&self) -> Result<Option<(Strikes, u32)>> {
        let path = self.file("strikes")?;
        let file = match self.io.open(&path) {
            Ok(file) => file,
            Err(why) if is_absence(&why) => return Ok(Some(Default::default())),
            Err(why) if why.kind() == ErrorKind::InvalidInput => {
                return Err(error!(Io, "'{}' is not a regular file: remove it", path.display()));
            }
            Err(why) => return Err(io_error("read", &path, &why)),
        };
        let strikes = Strikes::from_bytes(&read_at_most(&*file, most_bytes(MOST_STRIKES))?, self.secret.as_ref())?;
        strikes.map(Some).ok_or_else(|| {
            error!(Unsupported, "'{}' was written by a newer library: it is ignored and kept", path.display())
        })
    }

    /// Whether a file of strikes may exist.
    pub fn has_strikes(&self) -> Result<bool> {
        Ok(!self.io.open(&self.file("strikes")?).is_err_and(|why| is_absence(&why)))
    }

    /// Change the strikes under the lock. If `change` returns false, nothing is written.
    pub fn change(&self, wait_ms: u32, sync: bool, change: impl FnOnce(&mut Strikes) -> bool) -> Result<()> {
        let _held = self.lock(wait_ms)?;
        let (mut strikes, _) = self.strikes()?.unwrap_or_default();
        if change(&mut strikes) {
            self.save(&strikes, sync)?;
        }
        Ok(())
    }

    fn save(&self, strikes: &Strikes, sync: bool) -> Result<()> {
        let (fresh, path) = (self.file("strikes.new")?, self.file("strikes")?);
        let bytes = strikes.to_bytes(self.secret.as_ref())?;
        let write = || {
            // A leftover of a process that was killed here.
            let _ = self.io.remove(&fresh);
            let file = self.io.create(&fresh)?;
            file.append(&mut [IoSlice::new(&bytes)])?;
            if sync {
                file.sync()?;
            }
            drop(file);
            self.io.rename(&fresh, &path)
        };
        write().map_err(|why| io_error("write", &path, &why))
    }

    /// The names of all notes files.
    fn notes(&self) -> Result<Vec<String>> {
        let mut names = Vec::new();
        let listed = match self.io.list(&self.path) {
            Ok(listed) => listed,
            Err(why) if is_absence(&why) => return Ok(names),
            Err(why) => return Err(io_error("list", &self.path, &why)),
        };
        for name in listed.iter().filter_map(|name| name.to_str()).filter(|name| is_notes(name)) {
            try_push(&mut names, crate::base::try_string(name)?)?;
        }
        Ok(names)
    }
}

/// The file does not exist yet, or its parent is a file; a later write reports the latter.
fn is_absence(why: &std::io::Error) -> bool {
    matches!(why.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// Name of a process's notes file.
pub fn notes_name(incident: u64) -> Text<32> {
    Text::format(format_args!("notes-{incident:016x}"))
}

fn is_notes(name: &str) -> bool {
    let Some(digits) = name.strip_prefix("notes-") else { return false };
    digits.len() == 16 && digits.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
}

/// The first `most` bytes of a file.
fn read_at_most(file: &dyn File, most: usize) -> Result<Vec<u8>> {
    let failed = |why: std::io::Error| error!(Io, "cannot read: {}", crate::base::files::io_reason(&why));
    let length = usize::try_from(file.length().map_err(failed)?).unwrap_or(most).min(most);
    let mut bytes = crate::base::try_filled(0, length)?;
    let mut filled = 0;
    while filled < length {
        match file.read_at(&mut bytes[filled..], filled as u64) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(why) if why.kind() == ErrorKind::Interrupted => {}
            Err(why) => return Err(failed(why)),
        }
    }
    bytes.truncate(filled);
    Ok(bytes)
}
