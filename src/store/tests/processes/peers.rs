//! Several processes that write and read one directory, and report their writes to each other.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::store::{Compression, Options, Store};

use super::*;

const ENVIRONMENT: u64 = 3;
/// Number of names that each process puts. No other process puts them.
const NAMES: u32 = 40;
/// Bytes of a message that a version of a name is begun or done.
const WORD: usize = 12;

fn options(peer: u64) -> Options {
    let compression = if peer == 0 { Compression::Lz4 } else { Compression::None };
    Options { compression, segment_limit: 30 << 10, ..Options::new(now) }
}

/// Every fifth version is a removal.
fn is_removal(version: u32) -> bool {
    version.is_multiple_of(5)
}

/// The last begun and done versions of a name.
#[derive(Clone, Copy, Debug, Default)]
struct Progress {
    begun: u32,
    done: u32,
}

/// The messages of one process, in a file beside the store.
struct Journal {
    file: File,
    names: Vec<Progress>,
    read: u64,
}

impl Journal {
    fn path(directory: &Path, peer: u64) -> PathBuf {
        directory.with_file_name(format!("journal-of-{peer}"))
    }

    fn by(directory: &Path, peer: u64) -> Self {
        let path = Self::path(directory, peer);
        let file = File::options().read(true).append(true).create(true).open(path).expect("it can be opened");
        Self { file, names: vec![Progress::default(); NAMES as usize], read: 0 }
    }

    fn record(&mut self, number: u32, version: u32, is_done: bool) {
        let words = [number, version, u32::from(is_done)].map(u32::to_le_bytes);
        self.file.write_all(words.as_flattened()).expect("it can be written");
    }

    fn read_new(&mut self) {
        let mut word = [0; WORD];
        while self.file.read_at(&mut word, self.read).expect("it can be read") == WORD {
            self.read += WORD as u64;
            let part = |at: usize| u32::from_le_bytes([word[at], word[at + 1], word[at + 2], word[at + 3]]);
            let progress = &mut self.names[part(0) as usize];
            if part(8) == 1 {
                progress.done = part(4);
            } else {
                progress.begun = part(4);
            }
        }
    }
}

fn peer_name(peer: u64, number: u32) -> crate::store::Name {
    name(ENVIRONMENT, peer as u32 * NAMES + number)
}

/// Checks that a version that was read had been begun, and is not older than the last one done before the read.
fn check(found: Option<u32>, before: Progress, after: Progress, what: &str) {
    let possible = before.done..=after.begun;
    let is_right = match found {
        Some(version) => possible.contains(&version),
        None => possible.into_iter().any(is_removal),
    };
    assert!(is_right, "{what}: found {found:?}, was {before:?}, is {after:?}");
}

struct Peer {
    me: u64,
    store: Store,
    journals: Vec<Journal>,
    random: Random,
    bytes: Vec<u8>,
}

impl Peer {
    fn write(&mut self) {
        let number = self.random.below(NAMES.into()) as u32;
        let name = peer_name(self.me, number);
        let journal = &mut self.journals[self.me as usize];
        let version = journal.names[number as usize].done + 1;
        journal.names[number as usize] = Progress { begun: version, done: version };
        journal.record(number, version, false);
        if is_removal(version) {
            assert!(self.store.remove(&name).expect("nothing is in the way"));
        } else {
            assert!(self.store.put(&name, 10, &value(&name, version)).expect("nothing is in the way"));
        }
        journal.record(number, version, true);
    }

    /// Reads all names of a random process, possibly this one, and checks them against its messages.
    fn read(&mut self) -> u64 {
        let peer = self.random.below(self.journals.len() as u64);
        if peer != self.me {
            self.journals[peer as usize].read_new();
        }
        let before = self.journals[peer as usize].names.clone();
        self.store.refresh().expect("nothing is in the way");
        let found: Vec<_> =
            (0..NAMES).map(|number| version(&mut self.store, &peer_name(peer, number), &mut self.bytes)).collect();
        if peer != self.me {
            self.journals[peer as usize].read_new();
        }
        for (number, found) in found.into_iter().enumerate() {
            let after = self.journals[peer as usize].names[number];
            check(found, before[number], after, &format!("{peer}/{number} seen by {}", self.me));
        }
        NAMES.into()
    }

    fn live_until(&mut self, end: Instant, directory: &Path) -> (u64, u64, u64) {
        let (mut written, mut checked, mut unlinked) = (0, 0, 0);
        while Instant::now() < end {
            for _ in 0..self.random.below(20) {
                self.write();
                written += 1;
            }
            match self.random.below(12) {
                0 => self.store.seal().expect("nothing is in the way"),
                1 => self.store = super::open(directory, options(self.me)),
                2..5 if self.me == 0 => {
                    unlinked += self.store.maintain(1 << 20).expect("nothing is in the way").unlinked;
                }
                _ => checked += self.read(),
            }
        }
        assert_eq!((self.store.statistics().damaged, self.store.trouble()), (0, None));
        (written, checked, unlinked)
    }
}

/// Runs one of the processes.
pub fn write_and_read(directory: &Path) {
    let (me, peers) = (number_in("HOB_PEER").expect("given"), number_in("HOB_PEERS").expect("given"));
    let end = Instant::now() + Duration::from_millis(number_in("HOB_MILLISECONDS").expect("given"));
    let journals = (0..peers).map(|peer| Journal::by(directory, peer)).collect();
    let store = super::open(directory, options(me));
    let mut peer = Peer { me, store, journals, random: Random(me), bytes: Vec::new() };
    let (written, checked, unlinked) = peer.live_until(end, directory);
    println!("@ {written} written, {checked} looked at, {unlinked} segments merged");
    assert!(written > 0 && checked > 0 && (me > 0 || unlinked > 0), "{written} {checked} {unlinked}");
}

/// `HOB_STORE_SECONDS` sets the duration for each number of processes.
fn live_together(peers: u64) {
    let scratch = Scratch::new(&format!("peers-{peers}"));
    let milliseconds = number_in("HOB_STORE_SECONDS").unwrap_or(2) * 1000;
    let start = |peer: u64| {
        let mut command = child("peer", &scratch.store());
        command.env("HOB_PEER", peer.to_string()).env("HOB_PEERS", peers.to_string());
        Running(command.env("HOB_MILLISECONDS", milliseconds.to_string()).spawn().expect("a child can be started"))
    };
    let running: Vec<_> = (0..peers).map(start).collect();
    for (peer, mut running) in running.into_iter().enumerate() {
        let printed = std::io::read_to_string(running.0.stdout.take().expect("it was piped")).expect("text");
        assert!(running.0.wait().expect("it ends").success(), "process {peer} of {peers}:\n{printed}");
        printed.lines().filter(|line| line.starts_with('@')).for_each(|line| println!("{peer} of {peers}: {line}"));
    }
    let mut store = super::open(&scratch.store(), options(0));
    for round in 0..2 {
        for peer in 0..peers {
            let mut journal = Journal::by(&scratch.store(), peer);
            journal.read_new();
            for number in 0..NAMES {
                let found = version(&mut store, &peer_name(peer, number), &mut Vec::new());
                let Progress { begun, done } = journal.names[number as usize];
                let expected = Some(done).filter(|&version| version > 0 && !is_removal(version));
                assert_eq!((found, begun), (expected, done), "{peer}/{number} in the end, {round}");
            }
        }
        store.maintain(u64::MAX).expect("no other writer is active");
    }
    assert_eq!(store.statistics().damaged, 0);
}

#[test]
fn two_processes_keep_all_values_of_each_other() {
    live_together(2);
}

#[test]
fn three_processes_keep_all_values_of_each_other() {
    live_together(3);
}
