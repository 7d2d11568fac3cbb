//! The files of a quarantine: who is alive, who died with what in flight, what was counted.
//!
//! `notes-<number>` belongs to one process, which holds its lock for as long as it lives. `strikes` is written anew and
//! renamed. Whoever creates a notes file, counts the dead or writes strikes holds the lock of `lock`.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::Options;
use super::format::{Content, Kind, Record, most_bytes, parse};
use super::strikes::{MOST_STRIKES, Strikes};
use crate::base::{Code, Error, Result, error, try_push};

/// Notes that are read of one file, and written to it.
pub const MOST_NOTES: usize = 4096;
/// Notes files that one process counts; others are for the next.
const MOST_FILES: usize = 256;

/// Where the files are.
pub struct Directory {
    path: PathBuf,
}

/// What opening found.
#[derive(Default)]
pub struct Found {
    pub strikes: Strikes,
    /// Strikes that this process counted.
    pub counted: u32,
    /// Records whose check is wrong, or that were cut off.
    pub damaged: u32,
    /// Files that only a newer library understands, or that cannot be read.
    pub ignored: u32,
    /// Why this was not all, or will not be remembered.
    pub problem: Option<Error>,
}

impl Found {
    /// The answer, or its default and a problem; only want of memory ends it all.
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
    pub fn new(path: &Path) -> Self {
        Self { path: path.to_owned() }
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    pub fn create(&self) -> Result<()> {
        fs::create_dir_all(&self.path).map_err(|why| io_error("create the directory", &self.path, &why))
    }

    /// Hold the lock of the directory until the file is dropped; waits for `wait_ms` at most.
    pub fn lock(&self, wait_ms: u32) -> Result<File> {
        let path = self.file("lock");
        let failed = |why: std::io::Error| io_error("lock", &path, &why);
        let file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path).map_err(failed)?;
        let (begun, most) = (Instant::now(), Duration::from_millis(wait_ms.into()));
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(file),
                Err(TryLockError::Error(why)) => return Err(failed(why)),
                Err(TryLockError::WouldBlock) if begun.elapsed() < most => sleep(Duration::from_millis(1)),
                Err(TryLockError::WouldBlock) => {
                    return Err(error!(Busy, "another process holds '{}': try again", path.display()));
                }
            }
        }
    }

    /// Read what was counted, and count those who died since. Creates nothing where nothing is.
    pub fn open(&self, options: &Options) -> Result<Found> {
        let &Options { now_unix_s: now, strike_life_s: life, most_wait_ms, read_only, .. } = options;
        let mut found = Found::default();
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
            self.strike_the_dead(&mut found, &names, now, is_dead)?;
        } else if lock.is_some() {
            self.count_the_dead(&mut found, now, has_aged)?;
        } else if has_aged && found.problem.is_none() {
            // Or else what is dated in the future would always be new. If it cannot be had now, then another time.
            let _ = self.change(0, false, |strikes| strikes.age(now, life));
        }
        Ok(found)
    }

    /// With the lock of the directory held.
    fn count_the_dead(&self, found: &mut Found, now: u64, has_aged: bool) -> Result<()> {
        let names = self.notes()?;
        let dead = self.strike_the_dead(found, &names, now, |file| file.try_lock().is_ok())?;
        if dead.is_empty() && !has_aged {
            return Ok(());
        }
        let is_listed = |incident: u64| names.iter().any(|name| *name == notes_name(incident));
        found.strikes.tidy(is_listed);
        // Only what is counted for good may be removed; a crash in between counts nothing twice, since strikes know
        // their incident.
        if found.problem.is_none() {
            found.problem = self.save(&found.strikes, true).err();
        }
        if found.problem.is_none() {
            for (path, file) in dead {
                let _ = fs::remove_file(path);
                drop(file);
            }
        }
        Ok(())
    }

    /// Give what the dead had in flight a strike each, in memory; the files that were read.
    fn strike_the_dead(
        &self,
        found: &mut Found,
        names: &[String],
        now: u64,
        is_dead: impl Fn(&File) -> bool,
    ) -> Result<Vec<(PathBuf, File)>> {
        let mut dead = Vec::new();
        for name in names.iter().take(MOST_FILES) {
            let path = self.file(name);
            let Some(file) = open_file(&path).filter(&is_dead) else { continue };
            match read_at_most(&file, most_bytes(MOST_NOTES)).and_then(|bytes| parse(Kind::Notes, &bytes)) {
                Ok(Content::Records(records, damaged)) => {
                    found.damaged += damaged;
                    for note in records {
                        found.counted += u32::from(found.strikes.add(Record { when: now.max(1), ..note })?);
                    }
                    try_push(&mut dead, (path, file))?;
                }
                Ok(Content::Newer) | Err(_) => found.ignored += 1,
            }
        }
        Ok(dead)
    }

    /// The strikes that were counted, and how many records were damaged. Always some if there is no failure.
    fn strikes(&self) -> Result<Option<(Strikes, u32)>> {
        let path = self.file("strikes");
        let failed = |why: std::io::Error| io_error("read", &path, &why);
        match fs::symlink_metadata(&path) {
            Err(why) if is_absence(&why) => return Ok(Some(Default::default())),
            Err(why) => return Err(failed(why)),
            Ok(found) if !found.is_file() => {
                return Err(error!(Io, "'{}' is no file: remove it", path.display()));
            }
            Ok(_) => {}
        }
        let file = File::open(&path).map_err(failed)?;
        let strikes = Strikes::from_bytes(&read_at_most(&file, most_bytes(MOST_STRIKES))?)?;
        strikes.map(Some).ok_or_else(|| {
            error!(Unsupported, "'{}' was written by a newer library: it is left as it is", path.display())
        })
    }

    /// Change what was counted, under the lock; nothing is written if `change` says that nothing changed.
    pub fn change(&self, wait_ms: u32, sync: bool, change: impl FnOnce(&mut Strikes) -> bool) -> Result<()> {
        let _held = self.lock(wait_ms)?;
        let (mut strikes, _) = self.strikes()?.unwrap_or_default();
        if change(&mut strikes) {
            self.save(&strikes, sync)?;
        }
        Ok(())
    }

    fn save(&self, strikes: &Strikes, sync: bool) -> Result<()> {
        let (fresh, path) = (self.file("strikes.new"), self.file("strikes"));
        let failed = |why: std::io::Error| io_error("write", &path, &why);
        let bytes = strikes.to_bytes()?;
        let write = || {
            let mut file = File::create(&fresh)?;
            file.write_all(&bytes)?;
            if sync {
                file.sync_all()?;
            }
            fs::rename(&fresh, &path)
        };
        write().map_err(failed)
    }

    /// The names of all notes files.
    fn notes(&self) -> Result<Vec<String>> {
        let mut names = Vec::new();
        let entries = match fs::read_dir(&self.path) {
            Ok(entries) => entries,
            Err(why) if is_absence(&why) => return Ok(names),
            Err(why) => return Err(io_error("list", &self.path, &why)),
        };
        for entry in entries.flatten() {
            if let Some(name) = entry.file_name().to_str().filter(|name| is_notes(name)) {
                try_push(&mut names, crate::base::try_string(name)?)?;
            }
        }
        Ok(names)
    }
}

/// Nobody has created it yet, or what should hold it is a file: then writing will tell.
fn is_absence(why: &std::io::Error) -> bool {
    matches!(why.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// The notes file of a process.
pub fn notes_name(incident: u64) -> String {
    format!("notes-{incident:016x}")
}

fn is_notes(name: &str) -> bool {
    let Some(digits) = name.strip_prefix("notes-") else { return false };
    digits.len() == 16 && digits.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
}

/// The file, if it is one.
fn open_file(path: &Path) -> Option<File> {
    fs::symlink_metadata(path).ok().filter(fs::Metadata::is_file)?;
    File::open(path).ok()
}

/// Whether the process that a notes file belongs to is no more, asked without the lock of the directory. The file is locked
/// for an instant, together with whoever else asks so; who wants to count it just then leaves it to the next. One that is
/// empty is not asked: whoever has just made it must find it unlocked.
pub fn is_dead(file: &File) -> bool {
    file.metadata().is_ok_and(|found| found.len() > 0) && file.try_lock_shared().is_ok() && file.unlock().is_ok()
}

/// The first bytes of a file.
fn read_at_most(file: &File, most: usize) -> Result<Vec<u8>> {
    let failed = |why: std::io::Error| error!(Io, "cannot read: {}", why.kind());
    let length = usize::try_from(file.metadata().map_err(failed)?.len()).unwrap_or(most).min(most);
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(length)?;
    file.take(length as u64).read_to_end(&mut bytes).map_err(failed)?;
    Ok(bytes)
}

pub fn io_error(verb: &str, path: &Path, why: &std::io::Error) -> Error {
    error!(Io, "cannot {verb} '{}': {} (system error {})", path.display(), why.kind(), why.raw_os_error().unwrap_or(0))
}
