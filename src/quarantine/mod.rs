//! Bans binaries that crash the process: after two crashes a binary is not used again.
//!
//! Drivers crash on binaries that they made themselves. A cache that returns the same binary at every start makes the
//! program crash until the user deletes files. So a key is *noted* before the driver sees its binary, in a file that
//! outlives the process. The note is cleared when the first frame with the binary has been drawn. The next process that
//! opens the directory finds the notes of dead processes. Each note is a *strike* against that key in that environment.
//! Two strikes ban the key, and no other key: one crash may have been the user's doing, or due to a lack of memory. A
//! file lock shows whether another process lives; process ids are never used.
//!
//! *Innocent keys.* If several keys are in flight at the crash, each gets a strike, because the guilty one is unknown.
//! A use that ends well takes one strike back. An innocent key thus clears itself at its next use, unless the guilty
//! key is in flight again. Use keys that have [`strikes`](Quarantine::strikes) one at a time. The drawback: a key that
//! works once between any two crashes is never banned. Strikes also expire with age.
//!
//! Nothing is created before the first [`begin`](Quarantine::begin). If files cannot be written, the quarantine works
//! in memory alone, and [`problem`](Quarantine::problem) says why. With [`Options::read_only`] it also works in memory
//! alone, and that is not a problem.
//!
//! Invariants:
//! 1. The operating system holds the note before `begin` returns, unless `problem` reports a failure. A crash of the
//!    process loses no note.
//! 2. A notes file is created, and strikes are written, only under the directory's lock.
//! 3. Strikes are saved before the notes that they come from are removed. A strike holds the number of its notes file,
//!    so a crash in between counts nothing twice.
//! 4. A dead process gives a key at most one strike.
//! 5. Every record has a check of its own: damage costs the record, and never strikes another key.
//! 6. The list of keys with strikes never changes after opening, only its counts do. So
//!    [`is_banned`](Quarantine::is_banned) takes no lock.
//!
//! | file | content |
//! |---|---|
//! | `directory` | opening: living processes, the notes of dead ones, and the counted strikes |
//! | `notes` | the notes file of this process: a slot for each key in flight |
//! | `exit` | the notes files that a clean exit removes |
//! | `strikes` | the list of strikes: add, expire, take back, forgive |
//! | `format` | notes and strikes as bytes; `docs/formats.md` has the layout |
#![forbid(unsafe_code)]

mod directory;
mod exit;
#[cfg(test)]
mod faults_test;
mod format;
mod notes;
#[cfg(test)]
mod kills_test;
#[cfg(test)]
mod processes_test;
mod strikes;
#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard};

use crate::base::{Code, Error, Id, Result, Slots, error, try_collect};
use crate::store::Secret;
use crate::store::io::{OsIo, SharedIo, share};
use directory::Directory;
use notes::NotesFile;

/// Options of a quarantine.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The current time in seconds since 1970, from the host. Strikes age by it.
    pub now_unix_s: u64,
    /// Seconds until a strike expires. Default: 30 days.
    pub strike_life_s: u64,
    /// Strikes that ban a key; at least 1. Default: 2.
    pub ban_at: u32,
    /// Longest wait for another process that is counting, in milliseconds. Default: 250.
    pub most_wait_ms: u32,
    /// Never change the directory. Existing files are read, and dead processes are counted for this process alone.
    /// Default: false.
    pub read_only: bool,
    /// Authenticates notes and strikes: records without this secret count as damaged. Default: none; then the checks
    /// find accidents only.
    pub secret: Option<Secret>,
}

impl Options {
    /// The defaults at that time: two strikes ban a key, and a strike expires after 30 days.
    pub fn at(now_unix_s: u64) -> Self {
        let strike_life_s = 30 * 24 * 3600;
        Self { now_unix_s, strike_life_s, ban_at: 2, most_wait_ms: 250, read_only: false, secret: None }
    }
}

/// The result of a use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The first frame with the binary has been drawn: takes a strike back.
    Ok,
    /// The driver rejected the binary, or it was not used: no strike is added or taken back.
    Rejected,
}

/// A use that has begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token(Id);

/// Counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Banned keys.
    pub bans: u32,
    /// Keys with strikes, banned or not.
    pub struck: u32,
    /// Uses in flight: begun and not ended.
    pub in_flight: u32,
    /// Uses noted in a file.
    pub noted: u64,
    /// Uses not noted in a file: see [`Quarantine::problem`] and [`Options::read_only`].
    pub unnoted: u64,
    /// Strikes that opening counted for keys of dead processes.
    pub counted: u32,
    /// Damaged records found by opening.
    pub damaged: u32,
    /// Files that opening could not read, or that need a newer library.
    pub ignored: u32,
}

/// A key that has strikes now, or had some when the directory was opened.
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

enum NotesState {
    NotCreated,
    Open(NotesFile),
    /// The notes file could not be created. Every [`RETRIED`]th use tries it again: a full disk may have space by then.
    Failed,
    /// There are no notes files on this file system, or the file was closed.
    Closed,
}

impl NotesState {
    fn close(self) {
        if let Self::Open(notes) = self {
            notes.close();
        }
    }
}

/// Note the uses that began before this file was created.
fn note_again(mut notes: NotesFile, in_flight: &mut Slots<InFlight>) -> NotesFile {
    for (slot, used) in in_flight.iter_mut() {
        used.is_noted = notes.note(slot, used.environment, &used.key).is_ok();
    }
    notes
}

/// A few calls of the file system for so many uses cost little.
const RETRIED: u64 = 64;

/// The mutable state. A use's position in `in_flight` is its slot in the notes.
struct State {
    notes: NotesState,
    in_flight: Slots<InFlight>,
    /// Strikes taken back in memory, but not in the file yet.
    unwritten: Vec<(u64, [u8; 32])>,
    noted: u64,
    unnoted: u64,
    /// The failure to read at opening.
    unread: Option<Error>,
    /// The error of the last write, if it failed.
    unwritable: Option<Error>,
}

/// The strikes and bans of a directory. Callable from any thread; queries never wait for writers.
pub struct Quarantine {
    directory: Directory,
    options: Options,
    /// Sorted by environment and key. The list never changes; only its counts do.
    struck: Vec<Struck>,
    /// Strikes counted, records damaged and files ignored at opening.
    opened: (u32, u32, u32),
    state: Mutex<State>,
}

impl Quarantine {
    /// Open a directory, which may be missing. Fails only if memory runs out; [`problem`](Self::problem) reports other
    /// failures. Reads a few small files and may write some. Waits for other processes no longer than the options
    /// allow.
    pub fn open(directory: &Path, options: Options) -> Result<Self> {
        Self::open_on(share(OsIo)?, directory, options)
    }

    /// [`open`](Self::open) on a file system other than the operating system's.
    pub fn open_on(io: SharedIo, directory: &Path, options: Options) -> Result<Self> {
        let directory = Directory::new(io, directory, options.secret)?;
        let found = directory.open(&options)?;
        let struck = try_collect(found.strikes.counts().map(|(environment, key, count)| Struck {
            environment,
            key,
            strikes: AtomicU32::new(count),
        }))?;
        let state = State {
            notes: NotesState::NotCreated,
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

    /// Whether a key is banned. Allocates nothing and never waits.
    pub fn is_banned(&self, environment: u64, key: &[u8; 32]) -> bool {
        self.strikes(environment, key) >= self.options.ban_at.max(1)
    }

    /// The strikes against a key. Use a key with strikes one at a time. Allocates nothing and never waits.
    pub fn strikes(&self, environment: u64, key: &[u8; 32]) -> u32 {
        self.find(environment, key).map_or(0, |struck| struck.strikes.load(Ordering::Relaxed))
    }

    fn find(&self, environment: u64, key: &[u8; 32]) -> Option<&Struck> {
        let at = self.struck.binary_search_by(|struck| (struck.environment, &struck.key).cmp(&(environment, key)));
        at.ok().map(|at| &self.struck[at])
    }

    /// Note a key before the driver sees its binary. Concurrent uses are each noted, of the same key or of different
    /// ones.
    ///
    /// Does one small write, and syncs nothing. The first call creates the file and may wait for other processes, as
    /// [`open`](Self::open) does. If the write fails, the use continues unnoted.
    pub fn begin(&self, environment: u64, key: &[u8; 32]) -> Result<Token> {
        let mut state = self.state();
        state.in_flight.reserve_one()?;
        let slot = state.in_flight.next_position();
        let is_noted = !self.options.read_only && self.note_or_tell(&mut state, slot, environment, key);
        *(if is_noted { &mut state.noted } else { &mut state.unnoted }) += 1;
        Ok(Token(state.in_flight.insert(InFlight { environment, key: *key, is_noted })))
    }

    /// Note a use; false if that failed, and then [`problem`](Self::problem) says why.
    fn note_or_tell(&self, state: &mut State, slot: usize, environment: u64, key: &[u8; 32]) -> bool {
        state.unwritable = self.note(state, slot, environment, key).err();
        state.unwritable.is_none()
    }

    fn note(&self, state: &mut State, slot: usize, environment: u64, key: &[u8; 32]) -> Result<()> {
        if let NotesState::Open(notes) = &state.notes
            && notes.has_lost_its_name(&self.directory)
        {
            // Not in a directory that was moved either: this process lives.
            std::mem::replace(&mut state.notes, NotesState::NotCreated).close();
        }
        let is_due = match state.notes {
            NotesState::NotCreated => true,
            NotesState::Failed => state.unnoted.is_multiple_of(RETRIED),
            _ => false,
        };
        if is_due {
            // Wait for other processes once only, not at every use.
            let wait_ms = if state.unnoted == 0 { self.options.most_wait_ms } else { 0 };
            match NotesFile::create(&self.directory, wait_ms) {
                Ok(notes) => state.notes = NotesState::Open(note_again(notes, &mut state.in_flight)),
                Err(why) => {
                    state.notes = match why.code() {
                        Code::Busy | Code::OutOfMemory => NotesState::NotCreated,
                        Code::Unsupported => NotesState::Closed,
                        _ => NotesState::Failed,
                    };
                    return Err(why);
                }
            }
        }
        match &mut state.notes {
            NotesState::Open(notes) => notes.note(slot, environment, key),
            _ => Err(state.unwritable.take().unwrap_or_else(|| error!(Io, "the quarantine works in memory alone"))),
        }
    }

    /// End a use: the first frame with it was drawn, or it was rejected. One small write; taking a strike back writes
    /// another small file.
    pub fn end(&self, token: Token, outcome: Outcome) -> Result<()> {
        let mut state = self.state();
        let state = &mut *state;
        state.unwritten.try_reserve(1)?;
        let slot = state.in_flight.position(token.0);
        let (Some(slot), Some(used)) = (slot, state.in_flight.remove(token.0)) else {
            return Err(error!(NotFound, "this use has ended already, or never began"));
        };
        if used.is_noted
            && let NotesState::Open(notes) = &mut state.notes
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

    /// Take a strike back. The caller has reserved room for one more in `unwritten`.
    fn take_back(&self, state: &mut State, used: &InFlight) {
        let Some(struck) = self.find(used.environment, &used.key) else { return };
        let less = |strikes: u32| strikes.checked_sub(1);
        let is_less = struck.strikes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok();
        if is_less && !self.options.read_only {
            state.unwritten.push((used.environment, used.key));
        }
    }

    /// Write the strikes that were taken back. After a failure they stay listed, and the next call retries.
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

    /// Add a strike to a key that crashed or blocked another process, such as a child that compiles for this one.
    ///
    /// All quarantines that open the directory from now on count it. This one does not: its list never changes. A
    /// read-only quarantine writes nothing and returns no error.
    pub fn strike(&self, environment: u64, key: &[u8; 32]) -> Result<()> {
        if self.options.read_only {
            return Ok(());
        }
        let (incident, when) = (self.directory.io.nonce(), self.options.now_unix_s.max(1));
        let strike = format::Record { environment, key: *key, incident, when };
        // Hold the state: the directory's lock also excludes other threads of this process.
        let _state = self.state();
        self.directory.create()?;
        let mut added = Ok(false);
        self.directory.change(self.options.most_wait_ms, true, |strikes| {
            added = strikes.add(strike);
            matches!(added, Ok(true))
        })?;
        match added? {
            true => Ok(()),
            false => Err(error!(
                LimitExceeded,
                "the quarantine is full with {} strikes: forgive keys, or let strikes expire",
                strikes::MOST_STRIKES
            )),
        }
    }

    /// Lift all strikes of a key, for this process and for all processes that open the directory from now on. If the
    /// write fails, they are lifted for this process only, and the error is returned. A read-only quarantine returns no
    /// error.
    pub fn forgive(&self, environment: u64, key: &[u8; 32]) -> Result<()> {
        let of_key = self.find(environment, key);
        self.lift(of_key.into_iter(), Some((environment, key)))
    }

    /// Lift all strikes of a key, as [`forgive`](Self::forgive) does, but on an error none.
    pub fn forgive_lastingly(&self, environment: u64, key: &[u8; 32]) -> Result<()> {
        let is_struck = self.find(environment, key).is_some() || self.directory.has_strikes()?;
        if is_struck && !self.options.read_only {
            let _state = self.state();
            let of = Some((environment, key));
            self.directory.change(self.options.most_wait_ms, true, |strikes| strikes.forgive(of))?;
        }
        if let Some(struck) = self.find(environment, key) {
            struck.strikes.store(0, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Lift the strikes of all keys, as [`forgive`](Self::forgive) does for one key.
    pub fn forgive_all(&self) -> Result<()> {
        self.lift(self.struck.iter(), None)
    }

    fn lift<'a>(&self, struck: impl Iterator<Item = &'a Struck>, of: Option<(u64, &[u8; 32])>) -> Result<()> {
        let mut is_known = self.directory.has_strikes()?;
        for struck in struck {
            struck.strikes.store(0, Ordering::Relaxed);
            is_known = true;
        }
        if !is_known || self.options.read_only {
            return Ok(());
        }
        // Hold the state: the directory's lock also excludes other threads of this process.
        let _state = self.state();
        self.directory.change(self.options.most_wait_ms, true, |strikes| strikes.forgive(of))
    }

    /// End all uses in flight without strikes, since the process continues. Later uses are not noted.
    pub fn close(&self) {
        let mut state = self.state();
        self.write_taken_back(&mut state, self.options.most_wait_ms);
        std::mem::replace(&mut state.notes, NotesState::Closed).close();
    }

    /// Why strikes are not remembered beyond this process, or could not be read, as a sentence.
    pub fn problem(&self) -> Option<crate::base::Text<232>> {
        let state = self.state();
        let why = state.unwritable.as_ref().or(state.unread.as_ref());
        why.map(|why| crate::base::Text::format(format_args!("{why}")))
    }

    /// The counters so far.
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

    /// A panic while the lock was held leaves the state usable: at worst one use too many.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

#[cfg(test)]
impl Quarantine {
    /// End like a killed process: locks are released, files stay unchanged.
    fn die(self) {
        let mut state = self.state();
        state.notes = NotesState::Closed;
        state.unwritten.clear();
        drop(state);
    }
}

impl Drop for Quarantine {
    fn drop(&mut self) {
        self.close();
    }
}

/// Parses a file of notes or strikes for the fuzzer: the number of keys with strikes, or of notes, and of damaged
/// records.
#[doc(hidden)]
pub fn read_for_test(bytes: &[u8], is_notes: bool) -> Option<(usize, u32)> {
    if is_notes {
        return match format::parse(format::FileKind::Notes, bytes, None).ok()? {
            format::Content::Records(records, damaged) => Some((records.len(), damaged)),
            format::Content::Newer => None,
        };
    }
    let (strikes, damaged) = strikes::Strikes::from_bytes(bytes, None).ok()??;
    Some((strikes.counts().count(), damaged))
}
