//! A binary that takes the process down is not used a third time.
//!
//! Drivers die of binaries that they have made themselves, and a cache that hands the same one out at every start makes
//! the program crash until the user deletes files. So a key is *noted* before the driver sees its binary, in a file that
//! outlives the process, and the note is taken off when the first frame with it has gone well. Whoever opens the
//! directory next finds the notes of processes that died, and each is a *strike* against that key in that environment.
//! Two strikes ban the key, and that key alone: once may have been the user's doing, or the system's for want of memory.
//! Whether the other process lives is asked of a file lock, never of a process id.
//!
//! *Who is innocent.* With several keys in flight at the end each gets a strike, since nobody can know which it was. A
//! use that ends well takes one strike back. So one that was merely near clears itself at its next use, if that is not
//! again beside the guilty one: use keys that have [`strikes`](Quarantine::strikes) one at a time. The price is that a
//! key which works once between any two crashes is never banned. Strikes age, too.
//!
//! Nothing is created before the first [`begin`](Quarantine::begin). Where nothing can be written it works in memory
//! alone, and [`problem`](Quarantine::problem) says why; where nothing may be written ([`Options::read_only`]) it does, too,
//! and that is no problem.
#![forbid(unsafe_code)]

mod directory;
#[cfg(test)]
mod faults_test;
mod format;
mod notes;
#[cfg(test)]
mod processes_test;
mod strikes;
#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use crate::base::{Code, Error, Id, Result, Slots, error};
use crate::store::io::{Io, OsIo};
use directory::Directory;
use notes::Notes;

/// How a quarantine is run.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Seconds since 1970, from the host: by what strikes age.
    pub now_unix_s: u64,
    /// After how many seconds a strike is forgotten.
    pub strike_life_s: u64,
    /// Strikes that ban a key; at least 1.
    pub ban_at: u32,
    /// How long to wait for another process that counts at the same time.
    pub most_wait_ms: u32,
    /// Change nothing in the directory: what is there is read, and the dead are counted for this process alone.
    pub read_only: bool,
}

impl Options {
    /// Two strikes ban, for 30 days.
    pub fn at(now_unix_s: u64) -> Self {
        Self { now_unix_s, strike_life_s: 30 * 24 * 3600, ban_at: 2, most_wait_ms: 250, read_only: false }
    }
}

/// How a use went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The first frame with it has been drawn: a strike is taken back.
    Ok,
    /// The driver would not have it, or it was not used at all: it killed nobody, and proved nothing.
    Rejected,
}

/// A use that has begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token(Id);

/// Counters, for whoever looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Keys that are banned.
    pub bans: u32,
    /// Keys with strikes, banned or not.
    pub struck: u32,
    /// Uses that have begun and not ended.
    pub in_flight: u32,
    /// Uses that were noted where they outlive the process.
    pub noted: u64,
    /// Uses that were not: see [`Quarantine::problem`], or [`Options::read_only`].
    pub unnoted: u64,
    /// Strikes that opening counted against keys of processes that had died.
    pub counted: u32,
    /// Records that opening found damaged.
    pub damaged: u32,
    /// Files that opening could not read, or that only a newer library understands.
    pub ignored: u32,
}

/// A key that has strikes, or had them when the directory was opened.
struct Struck {
    environment: u64,
    key: [u8; 32],
    strikes: AtomicU32,
}

struct InFlight {
    environment: u64,
    key: [u8; 32],
    is_noted: bool,
}

enum Place {
    NotYet,
    Open(Notes),
    /// It cannot be written; not tried again.
    None,
}

/// What changes while it is open. The position of a use is its slot in the notes.
struct State {
    place: Place,
    in_flight: Slots<InFlight>,
    /// Strikes taken back that could not be written yet.
    unwritten: Vec<(u64, [u8; 32])>,
    noted: u64,
    unnoted: u64,
    /// What could not be read when it was opened.
    unread: Option<Error>,
    /// Why the last one that was to be written was not.
    unwritable: Option<Error>,
}

/// The strikes and bans of a directory. Any thread may call it; those that ask never wait for those that note.
pub struct Quarantine {
    directory: Directory,
    options: Options,
    /// In order; the list never changes, only its counts do.
    struck: Vec<Struck>,
    /// Strikes counted, records damaged, files ignored.
    opened: (u32, u32, u32),
    state: Mutex<State>,
}

impl Quarantine {
    /// Open a directory, which need not be there. Fails only for want of memory: of all else [`problem`](Self::problem)
    /// tells. Reads and may write a few small files; waits for other processes no longer than the options allow.
    pub fn open(directory: &Path, options: Options) -> Result<Self> {
        Self::open_on(Arc::new(OsIo), directory, options)
    }

    /// [`open`](Self::open) on another file system than the operating system's.
    pub fn open_on(io: Arc<dyn Io>, directory: &Path, options: Options) -> Result<Self> {
        let directory = Directory::new(io, directory);
        let found = directory.open(&options)?;
        let mut struck = Vec::new();
        struck.try_reserve_exact(found.strikes.counts().count())?;
        struck.extend(found.strikes.counts().map(|(environment, key, count)| Struck {
            environment,
            key,
            strikes: AtomicU32::new(count),
        }));
        let state = State {
            place: Place::NotYet,
            in_flight: Slots::default(),
            unwritten: Vec::new(),
            noted: 0,
            unnoted: 0,
            unread: found.problem,
            unwritable: None,
        };
        let opened = (found.counted, found.damaged, found.ignored);
        Ok(Self { directory, options, struck, opened, state: Mutex::new(state) })
    }

    /// Whether a key is not to be used. Allocates nothing and waits for nobody.
    pub fn is_banned(&self, environment: u64, key: &[u8; 32]) -> bool {
        self.strikes(environment, key) >= self.options.ban_at.max(1)
    }

    /// The strikes against a key: use one that has any by itself. Allocates nothing and waits for nobody.
    pub fn strikes(&self, environment: u64, key: &[u8; 32]) -> u32 {
        self.find(environment, key).map_or(0, |struck| struck.strikes.load(Ordering::Relaxed))
    }

    fn find(&self, environment: u64, key: &[u8; 32]) -> Option<&Struck> {
        let at = self.struck.binary_search_by(|struck| (struck.environment, &struck.key).cmp(&(environment, key)));
        at.ok().map(|at| &self.struck[at])
    }

    /// Note a key before the driver sees its binary. Two at a time, of the same key or others, are both noted. One small
    /// write, of which nothing is synced; the first one makes the file, and may wait for other processes as
    /// [`open`](Self::open) does. Where that fails the use goes on unnoted.
    pub fn begin(&self, environment: u64, key: &[u8; 32]) -> Result<Token> {
        let mut state = self.state();
        state.in_flight.reserve_one()?;
        let slot = state.in_flight.next_position();
        let is_noted = !self.options.read_only && self.note_or_tell(&mut state, slot, environment, key);
        *(if is_noted { &mut state.noted } else { &mut state.unnoted }) += 1;
        Ok(Token(state.in_flight.insert(InFlight { environment, key: *key, is_noted })))
    }

    /// Whether it could be noted; if not, the problem says why.
    fn note_or_tell(&self, state: &mut State, slot: usize, environment: u64, key: &[u8; 32]) -> bool {
        state.unwritable = self.note(state, slot, environment, key).err();
        state.unwritable.is_none()
    }

    fn note(&self, state: &mut State, slot: usize, environment: u64, key: &[u8; 32]) -> Result<()> {
        if matches!(state.place, Place::NotYet) {
            // Once is waited for others, and not before every use.
            let wait_ms = if state.unnoted == 0 { self.options.most_wait_ms } else { 0 };
            match Notes::create(&self.directory, wait_ms) {
                Ok(notes) => state.place = Place::Open(notes),
                Err(why) => {
                    if why.code() != Code::Busy {
                        state.place = Place::None;
                    }
                    return Err(why);
                }
            }
        }
        match &mut state.place {
            Place::Open(notes) => notes.note(slot, environment, key),
            _ => Err(state.unwritable.take().unwrap_or_else(|| error!(Io, "the quarantine works in memory alone"))),
        }
    }

    /// End a use: the first frame with it has been drawn, or it was rejected. One small write, and where a strike is taken
    /// back a small file more.
    pub fn end(&self, token: Token, outcome: Outcome) -> Result<()> {
        let mut state = self.state();
        let state = &mut *state;
        state.unwritten.try_reserve(1)?;
        let slot = state.in_flight.position(token.0);
        let (Some(slot), Some(used)) = (slot, state.in_flight.remove(token.0)) else {
            return Err(error!(NotFound, "this use has ended already, or never began"));
        };
        if used.is_noted
            && let Place::Open(notes) = &mut state.place
            && let Err(why) = notes.clear(slot)
        {
            state.unwritable = Some(why);
        }
        if outcome == Outcome::Ok {
            self.take_back(state, &used);
        }
        self.write_taken_back(state, 0);
        Ok(())
    }

    /// There is room for one more that is unwritten.
    fn take_back(&self, state: &mut State, used: &InFlight) {
        let Some(struck) = self.find(used.environment, &used.key) else { return };
        let less = |strikes: u32| strikes.checked_sub(1);
        let is_less = struck.strikes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok();
        if is_less && !self.options.read_only {
            state.unwritten.push((used.environment, used.key));
        }
    }

    /// What cannot be written now is left for the next time.
    fn write_taken_back(&self, state: &mut State, wait_ms: u32) {
        if state.unwritten.is_empty() {
            return;
        }
        let unwritten = &state.unwritten;
        let written = self.directory.change(wait_ms, false, |strikes| {
            unwritten.iter().fold(false, |any, (environment, key)| strikes.take_back(*environment, key) | any)
        });
        match written {
            Ok(()) => state.unwritten.clear(),
            Err(why) if why.code() == Code::Busy => {}
            Err(why) => state.unwritable = Some(why),
        }
    }

    /// Lift all strikes of a key, for all processes that open the directory from now on, and for this one. If that cannot
    /// be written, for this one alone, and that is the error; if it may not be, it is none.
    pub fn forgive(&self, environment: u64, key: &[u8; 32]) -> Result<()> {
        let of_key = self.find(environment, key);
        self.lift(of_key.into_iter(), Some((environment, key)))
    }

    /// Lift all strikes, as [`forgive`](Self::forgive) does those of a key.
    pub fn forgive_all(&self) -> Result<()> {
        self.lift(self.struck.iter(), None)
    }

    fn lift<'a>(&self, struck: impl Iterator<Item = &'a Struck>, of: Option<(u64, &[u8; 32])>) -> Result<()> {
        let mut is_known = self.directory.has_strikes();
        for struck in struck {
            struck.strikes.store(0, Ordering::Relaxed);
            is_known = true;
        }
        if !is_known || self.options.read_only {
            return Ok(());
        }
        // One at a time: the lock of the directory is held against this process, too.
        let _state = self.state();
        self.directory.change(self.options.most_wait_ms, true, |strikes| strikes.forgive(of))
    }

    /// End what is in flight, which is nobody's fault: the process goes on. What begins after that is not noted.
    pub fn close(&self) {
        let mut state = self.state();
        self.write_taken_back(&mut state, self.options.most_wait_ms);
        if let Place::Open(notes) = std::mem::replace(&mut state.place, Place::None) {
            notes.close();
        }
    }

    /// Why something is not remembered beyond this process, or was not read, as a sentence.
    pub fn problem(&self) -> Option<crate::base::Text<232>> {
        let state = self.state();
        let why = state.unwritable.as_ref().or(state.unread.as_ref());
        why.map(|why| crate::base::Text::format(format_args!("{why}")))
    }

    /// What has happened so far.
    pub fn statistics(&self) -> Statistics {
        let counts = || self.struck.iter().map(|struck| struck.strikes.load(Ordering::Relaxed));
        let (counted, damaged, ignored) = self.opened;
        let state = self.state();
        Statistics {
            bans: counts().filter(|&strikes| strikes >= self.options.ban_at.max(1)).count() as u32,
            struck: counts().filter(|&strikes| strikes > 0).count() as u32,
            in_flight: state.in_flight.len() as u32,
            noted: state.noted,
            unnoted: state.unnoted,
            counted,
            damaged,
            ignored,
        }
    }

    /// A panic while it was held has left nothing half-changed that matters: a use too many at most.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

#[cfg(test)]
impl Quarantine {
    /// End as a killed process does: locks are let go, files stay as they are.
    fn die(self) {
        let mut state = self.state();
        state.place = Place::None;
        state.unwritten.clear();
        drop(state);
    }
}

impl Drop for Quarantine {
    fn drop(&mut self) {
        self.close();
    }
}

/// What opening makes of a file of notes or strikes, as the fuzzer sees it: keys with strikes, and damaged records.
#[doc(hidden)]
pub fn read_for_test(bytes: &[u8], is_notes: bool) -> Option<(usize, u32)> {
    if is_notes {
        return match format::parse(format::Kind::Notes, bytes).ok()? {
            format::Content::Records(records, damaged) => Some((records.len(), damaged)),
            format::Content::Newer => None,
        };
    }
    let (strikes, damaged) = strikes::Strikes::from_bytes(bytes).ok()??;
    Some((strikes.counts().count(), damaged))
}
