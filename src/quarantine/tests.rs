//! Bans, and their resistance to damaged or hostile files.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::AtomicUsize;

use proptest::prelude::*;

use super::format::{FileKind, RECORD, Record, header};
use super::*;

pub const NOW: u64 = 1_700_000_000;
pub const DAY: u64 = 24 * 3600;
pub const DRIVER: u64 = 7;
pub const A: [u8; 32] = [0xa; 32];
pub const B: [u8; 32] = [0xb; 32];

/// The path of a directory that does not exist yet; dropping this removes the directory.
pub struct Scratch(pub PathBuf);

impl Scratch {
    pub fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("hobgoblin-quarantine-{}-{number}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        Self(path)
    }

    pub fn open(&self) -> Quarantine {
        self.open_at(NOW)
    }

    pub fn open_at(&self, now: u64) -> Quarantine {
        Quarantine::open(&self.0, Options::at(now)).unwrap()
    }

    /// A process that dies with these keys in flight.
    pub fn death(&self, keys: &[[u8; 32]]) {
        let quarantine = self.open();
        keys.iter().for_each(|key| {
            quarantine.begin(DRIVER, key).unwrap();
        });
        assert_eq!(quarantine.statistics().noted, keys.len() as u64);
        quarantine.die();
    }

    pub fn names(&self) -> Vec<String> {
        let Ok(entries) = fs::read_dir(&self.0) else { return Vec::new() };
        let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    pub fn notes(&self) -> PathBuf {
        let name = self.names().into_iter().find(|name| name.starts_with("notes-")).expect("there is a notes file");
        self.0.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
        let _ = fs::remove_file(&self.0);
    }
}

#[test]
fn strikes_of_another_process_ban_a_key_from_the_next_opening() {
    let scratch = Scratch::new();
    let quarantine = scratch.open();
    for _ in 0..2 {
        quarantine.strike(DRIVER, &A).unwrap();
    }
    quarantine.strike(DRIVER, &B).unwrap();
    assert_eq!(quarantine.strikes(DRIVER, &A), 0);
    let next = scratch.open();
    assert_eq!((next.strikes(DRIVER, &A), next.strikes(DRIVER, &B)), (2, 1));
    assert!(next.is_banned(DRIVER, &A) && !next.is_banned(DRIVER + 1, &A) && !next.is_banned(DRIVER, &B));
    assert!(!scratch.open_at(NOW + 31 * DAY).is_banned(DRIVER, &A));
}

#[test]
fn strike_is_refused_once_the_list_is_full_and_read_only_writes_no_file() {
    let scratch = Scratch::new();
    let reader = Quarantine::open(&scratch.0, Options { read_only: true, ..Options::at(NOW) }).unwrap();
    reader.strike(DRIVER, &A).unwrap();
    assert!(!scratch.0.exists());
    let quarantine = scratch.open();
    quarantine.strike(DRIVER, &B).unwrap();
    let mut full = header(FileKind::Strikes, 0, None).to_vec();
    for incident in 1..=strikes::MOST_STRIKES as u64 {
        let strike = Record { environment: DRIVER, key: A, incident, when: NOW };
        full.extend_from_slice(&strike.to_bytes(FileKind::Strikes, None));
    }
    fs::write(scratch.0.join("strikes"), &full).unwrap();
    let why = quarantine.strike(DRIVER, &B).unwrap_err();
    assert!(why.code() == Code::LimitExceeded && why.sentence().contains("forgive"), "{why}");
    assert_eq!(fs::read(scratch.0.join("strikes")).unwrap(), full);
}

#[test]
fn first_use_creates_the_files_and_close_keeps_only_the_lock() {
    let scratch = Scratch::new();
    let quarantine = scratch.open();
    assert!(!quarantine.is_banned(DRIVER, &A));
    quarantine.forgive(DRIVER, &A).unwrap();
    quarantine.forgive_all().unwrap();
    drop(quarantine);
    assert!(!scratch.0.exists());
    let quarantine = scratch.open();
    let token = quarantine.begin(DRIVER, &A).unwrap();
    quarantine.end(token, Outcome::Ok).unwrap();
    assert!(quarantine.problem().is_none());
    drop(quarantine);
    assert_eq!(scratch.names(), ["lock"]);
}

#[test]
fn two_crashes_ban_one_key_in_one_environment() {
    let scratch = Scratch::new();
    scratch.death(&[A]);
    assert_eq!(scratch.open().strikes(DRIVER, &A), 1);
    assert!(!scratch.open().is_banned(DRIVER, &A));
    scratch.death(&[A]);
    let quarantine = scratch.open();
    assert!(quarantine.is_banned(DRIVER, &A));
    assert!(!quarantine.is_banned(DRIVER, &B) && !quarantine.is_banned(DRIVER + 1, &A));
    let statistics = quarantine.statistics();
    assert_eq!((statistics.bans, statistics.struck, statistics.counted), (1, 1, 1));
    assert!(scratch.open().is_banned(DRIVER, &A), "it is remembered");
    assert_eq!(scratch.names(), ["lock", "strikes"]);
}

#[test]
fn strikes_and_notes_count_with_their_secret_alone() {
    let with = |secret: Option<u8>| Options { secret: secret.map(|byte| Secret([byte; 32])), ..Options::at(NOW) };
    for written in [None, Some(1)] {
        let scratch = Scratch::new();
        let open = |secret| Quarantine::open(&scratch.0, with(secret)).unwrap();
        for _ in 0..2 {
            let quarantine = open(written);
            quarantine.begin(DRIVER, &A).unwrap();
            quarantine.die();
        }
        // One crash is a strike on disk, the other is a note.
        let files: Vec<_> = scratch.names().iter().map(|name| fs::read(scratch.0.join(name)).unwrap()).collect();
        for read in [None, Some(1), Some(2)] {
            for (name, bytes) in scratch.names().iter().zip(&files) {
                fs::write(scratch.0.join(name), bytes).unwrap();
            }
            let read_only = Options { read_only: true, ..with(read) };
            let quarantine = Quarantine::open(&scratch.0, read_only).unwrap();
            assert_eq!(quarantine.strikes(DRIVER, &A), if read == written { 2 } else { 0 });
            assert_eq!(quarantine.statistics().damaged > 0, read != written);
        }
    }
}

#[test]
fn one_crash_on_each_of_two_keys_bans_neither() {
    let scratch = Scratch::new();
    scratch.death(&[A]);
    scratch.death(&[B]);
    let quarantine = scratch.open();
    assert_eq!((quarantine.strikes(DRIVER, &A), quarantine.strikes(DRIVER, &B)), (1, 1));
    assert_eq!(quarantine.statistics().bans, 0);
}

#[test]
fn ended_uses_and_uses_at_close_get_no_strike() {
    let scratch = Scratch::new();
    let quarantine = scratch.open();
    for outcome in [Outcome::Ok, Outcome::Rejected] {
        let token = quarantine.begin(DRIVER, &A).unwrap();
        quarantine.end(token, outcome).unwrap();
    }
    quarantine.die();
    assert_eq!(scratch.open().strikes(DRIVER, &A), 0);
    let quarantine = scratch.open();
    quarantine.begin(DRIVER, &A).unwrap();
    drop(quarantine);
    assert_eq!(scratch.open().strikes(DRIVER, &A), 0);
}

#[test]
fn every_use_in_flight_gets_a_strike_and_a_good_use_removes_it() {
    let scratch = Scratch::new();
    scratch.death(&[A, B]);
    let quarantine = scratch.open();
    assert_eq!((quarantine.strikes(DRIVER, &A), quarantine.strikes(DRIVER, &B)), (1, 1));
    let token = quarantine.begin(DRIVER, &B).unwrap();
    quarantine.end(token, Outcome::Rejected).unwrap();
    assert_eq!(quarantine.strikes(DRIVER, &B), 1, "a rejection proves nothing");
    let token = quarantine.begin(DRIVER, &B).unwrap();
    quarantine.end(token, Outcome::Ok).unwrap();
    assert_eq!(quarantine.strikes(DRIVER, &B), 0);
    quarantine.begin(DRIVER, &A).unwrap();
    quarantine.die();
    let quarantine = scratch.open();
    assert!(quarantine.is_banned(DRIVER, &A));
    assert_eq!(quarantine.strikes(DRIVER, &B), 0, "it was taken back for good");
}

#[test]
fn key_in_use_twice_gets_one_strike_per_crash() {
    let scratch = Scratch::new();
    scratch.death(&[A, A]);
    assert_eq!(scratch.open().strikes(DRIVER, &A), 1);
    // One of the two uses has ended; the other is still noted.
    let quarantine = scratch.open();
    let first = quarantine.begin(DRIVER, &B).unwrap();
    quarantine.begin(DRIVER, &B).unwrap();
    quarantine.end(first, Outcome::Ok).unwrap();
    quarantine.die();
    assert_eq!(scratch.open().strikes(DRIVER, &B), 1);
}

#[test]
fn threads_can_use_keys_concurrently() {
    let scratch = Scratch::new();
    scratch.death(&[[0; 32], [1; 32]]);
    let quarantine = scratch.open();
    std::thread::scope(|scope| {
        for hand in 0..4_u8 {
            let quarantine = &quarantine;
            scope.spawn(move || {
                for _ in 0..500 {
                    let token = quarantine.begin(DRIVER, &[hand; 32]).unwrap();
                    assert!(quarantine.strikes(DRIVER, &[hand; 32]) <= 1);
                    quarantine.end(token, Outcome::Ok).unwrap();
                }
            });
        }
    });
    let statistics = quarantine.statistics();
    assert_eq!((statistics.noted, statistics.in_flight, statistics.struck), (2000, 0, 0));
    quarantine.die();
    assert_eq!(scratch.open().statistics().struck, 0);
}

#[test]
#[cfg(target_os = "linux")]
fn path_can_be_any_bytes() {
    use std::os::unix::ffi::OsStrExt;
    let mut scratch = Scratch::new();
    let above = Scratch(scratch.0.clone());
    scratch.0.push(std::ffi::OsStr::from_bytes(b"\xff\xfe"));
    scratch.death(&[A]);
    assert_eq!(scratch.open().strikes(DRIVER, &A), 1);
    drop(above);
}

#[test]
fn use_ends_once() {
    let scratch = Scratch::new();
    let quarantine = scratch.open();
    let token = quarantine.begin(DRIVER, &A).unwrap();
    quarantine.end(token, Outcome::Ok).unwrap();
    assert_eq!(quarantine.end(token, Outcome::Ok).unwrap_err().code(), Code::NotFound);
    let other = quarantine.begin(DRIVER, &B).unwrap();
    assert_eq!(quarantine.end(token, Outcome::Ok).unwrap_err().code(), Code::NotFound);
    assert_eq!(quarantine.statistics().in_flight, 1);
    quarantine.end(other, Outcome::Ok).unwrap();
}

#[test]
fn strikes_age_by_the_host_clock_and_are_never_in_the_future() {
    let scratch = Scratch::new();
    scratch.death(&[A]);
    scratch.death(&[A]);
    let with = |now| scratch.open_at(now).strikes(DRIVER, &A);
    assert_eq!(with(NOW), 2);
    assert_eq!(with(NOW + 30 * DAY - 1), 2);
    assert_eq!(with(NOW + 30 * DAY), 0);
    assert_eq!(with(NOW), 0, "expired strikes stay expired if the clock goes back");
    scratch.death(&[A]);
    // Counted under a clock that is 100 years ahead, then seen under a correct one.
    assert_eq!(with(NOW + 36_500 * DAY), 1);
    assert_eq!(with(NOW), 1);
    assert_eq!(with(NOW + 30 * DAY), 0);
}

#[test]
fn forgiven_keys_stay_forgiven() {
    let scratch = Scratch::new();
    for _ in 0..2 {
        scratch.death(&[A, B]);
    }
    let quarantine = scratch.open();
    assert!(quarantine.is_banned(DRIVER, &A) && quarantine.is_banned(DRIVER, &B));
    quarantine.forgive(DRIVER, &A).unwrap();
    quarantine.forgive(DRIVER + 1, &B).unwrap();
    for quarantine in [quarantine, scratch.open()] {
        assert_eq!(quarantine.strikes(DRIVER, &A), 0);
        assert!(quarantine.is_banned(DRIVER, &B));
    }
    let quarantine = scratch.open();
    quarantine.forgive_all().unwrap();
    assert_eq!(quarantine.statistics().struck, 0);
    drop(quarantine);
    assert_eq!(scratch.open().statistics().struck, 0);
}

#[test]
fn unwritable_directory_falls_back_to_memory_and_reports_it() {
    let file = Scratch::new();
    fs::write(&file.0, b"a file where a directory should be").unwrap();
    for path in [file.0.clone(), file.0.join("below")] {
        let quarantine = Quarantine::open(&path, Options::at(NOW)).unwrap();
        for _ in 0..3 {
            let token = quarantine.begin(DRIVER, &A).unwrap();
            assert!(quarantine.problem().unwrap().as_str().contains("cannot create the directory"));
            quarantine.end(token, Outcome::Ok).unwrap();
        }
        let statistics = quarantine.statistics();
        assert_eq!((statistics.noted, statistics.unnoted, statistics.in_flight), (0, 3, 0));
        assert!(!quarantine.is_banned(DRIVER, &A));
        quarantine.forgive_all().unwrap();
    }
    assert_eq!(fs::read(&file.0).unwrap(), b"a file where a directory should be");
}

#[test]
fn unwritten_strikes_count_at_once_and_are_written_later() {
    let scratch = Scratch::new();
    scratch.death(&[A]);
    fs::create_dir(scratch.0.join("strikes.new")).unwrap();
    for _ in 0..2 {
        let quarantine = scratch.open();
        assert_eq!(quarantine.strikes(DRIVER, &A), 1);
        assert!(quarantine.problem().unwrap().as_str().contains("cannot write"));
        assert_eq!(quarantine.forgive(DRIVER, &B).err().map(|why| why.code()), None);
    }
    fs::remove_dir(scratch.0.join("strikes.new")).unwrap();
    assert_eq!(scratch.open().strikes(DRIVER, &A), 1);
    assert_eq!(scratch.names(), ["lock", "strikes"]);
    scratch.death(&[A]);
    fs::create_dir(scratch.0.join("strikes.new")).unwrap();
    let quarantine = scratch.open();
    assert!(quarantine.is_banned(DRIVER, &A));
    assert_eq!(quarantine.forgive(DRIVER, &A).unwrap_err().code(), Code::Io);
    assert!(!quarantine.is_banned(DRIVER, &A), "forgiven in this process at least");
}

#[test]
fn uses_beyond_the_slots_work_without_notes() {
    let scratch = Scratch::new();
    let quarantine = scratch.open();
    let key = |n: u64| *crate::fingerprint::Fingerprint::of(&n.to_le_bytes()).0.first_chunk::<32>().unwrap();
    let most = directory::MOST_NOTES as u64;
    for n in 0..most + 2 {
        quarantine.begin(DRIVER, &key(n)).unwrap();
    }
    let statistics = quarantine.statistics();
    assert_eq!((statistics.noted, statistics.unnoted), (most, 2));
    assert!(quarantine.problem().unwrap().as_str().contains("4096"));
    quarantine.die();
    let quarantine = scratch.open();
    assert_eq!(quarantine.statistics().struck, most as u32);
    assert_eq!((quarantine.strikes(DRIVER, &key(most - 1)), quarantine.strikes(DRIVER, &key(most))), (1, 0));
    // This is the most strikes that are kept.
    drop(quarantine);
    scratch.death(&[A]);
    assert_eq!(scratch.open().strikes(DRIVER, &A), 0);
}

/// Two strikes against A and one against B, in `strikes`.
fn with_strikes() -> Scratch {
    let scratch = Scratch::new();
    scratch.death(&[A, B]);
    scratch.death(&[A]);
    drop(scratch.open());
    scratch
}

/// Whether no other key has strikes, and neither A nor B has more than before.
fn is_no_worse(quarantine: &Quarantine) -> bool {
    let known = quarantine.strikes(DRIVER, &A).min(1) + quarantine.strikes(DRIVER, &B);
    quarantine.strikes(DRIVER, &A) <= 2
        && quarantine.strikes(DRIVER, &B) <= 1
        && quarantine.statistics().struck == known
}

#[test]
fn flipped_bit_costs_at_most_one_strike() {
    let scratch = with_strikes();
    let path = scratch.0.join("strikes");
    let good = fs::read(&path).unwrap();
    assert_eq!(good.len(), 4 * RECORD);
    for bit in 0..good.len() * 8 {
        let mut bytes = good.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        fs::write(&path, &bytes).unwrap();
        let quarantine = scratch.open();
        let left = quarantine.strikes(DRIVER, &A) + quarantine.strikes(DRIVER, &B);
        assert!(is_no_worse(&quarantine) && left >= 2, "bit {bit} left {left}");
        assert_eq!(quarantine.statistics().damaged, 1, "bit {bit}");
    }
}

#[test]
fn truncated_strikes_file_keeps_earlier_strikes() {
    let scratch = with_strikes();
    let path = scratch.0.join("strikes");
    let good = fs::read(&path).unwrap();
    for length in 0..good.len() {
        fs::write(&path, &good[..length]).unwrap();
        let quarantine = scratch.open();
        let left = quarantine.strikes(DRIVER, &A) + quarantine.strikes(DRIVER, &B);
        assert!(is_no_worse(&quarantine));
        assert_eq!(left as usize, (length / RECORD).saturating_sub(1), "{length} bytes");
    }
}

#[test]
fn damaged_notes_never_strike_another_key() {
    let source = Scratch::new();
    source.death(&[A, B]);
    let (path, good) = (source.notes(), fs::read(source.notes()).unwrap());
    let name = path.file_name().unwrap();
    for bit in 0..4 * RECORD * 8 {
        let scratch = Scratch::new();
        fs::create_dir(&scratch.0).unwrap();
        let mut bytes = good.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        fs::write(scratch.0.join(name), &bytes).unwrap();
        let quarantine = scratch.open();
        let left = quarantine.strikes(DRIVER, &A) + quarantine.strikes(DRIVER, &B);
        assert!(is_no_worse(&quarantine) && left >= 1, "bit {bit} left {left}");
        assert_eq!(quarantine.statistics().damaged, 1, "bit {bit}");
    }
    for length in (0..good.len()).step_by(13) {
        let scratch = Scratch::new();
        fs::create_dir(&scratch.0).unwrap();
        fs::write(scratch.0.join(name), &good[..length]).unwrap();
        assert!(is_no_worse(&scratch.open()));
    }
}

#[test]
fn notes_and_strikes_are_distinct_records() {
    let scratch = Scratch::new();
    scratch.death(&[A]);
    let notes = fs::read(scratch.notes()).unwrap();
    fs::remove_file(scratch.notes()).unwrap();
    fs::write(scratch.0.join("strikes"), &notes).unwrap();
    assert_eq!(scratch.open().statistics().struck, 0);
}

#[test]
fn strikes_file_matches_the_document() {
    let document = include_str!("../../docs/formats.md");
    let (_, example) = document.split_once("Two strikes against a key of 0x0a").unwrap();
    let rows = example
        .lines()
        .take_while(|line| !line.starts_with("## "))
        .filter(|line| line.len() > 54 && line.as_bytes()[4..6] == *b"  ");
    let expected: Vec<u8> =
        rows.flat_map(|row| row[6..53].split(' ').map(|digits| u8::from_str_radix(digits, 16).unwrap())).collect();
    let strike = |environment, key, incident, when| Record { environment, key, incident, when };
    let mut strikes = strikes::Strikes::default();
    for record in [strike(9, B, 0x1234, 0), strike(DRIVER, A, 0x5678, NOW), strike(DRIVER, A, 0x1234, NOW)] {
        assert!(strikes.add(record).unwrap());
    }
    assert_eq!(strikes.to_bytes(None).unwrap(), expected);
}

#[test]
fn files_of_a_newer_version_are_unchanged() {
    let newer = |kind| {
        let mut bytes = header(kind, 5, None);
        bytes[8] = 2;
        format::seal_for_test(kind, &mut bytes);
        let strike = Record { environment: DRIVER, key: A, incident: 5, when: NOW };
        [bytes, strike.to_bytes(kind, None)].concat()
    };
    let scratch = Scratch::new();
    fs::create_dir(&scratch.0).unwrap();
    let (strikes, notes) = (scratch.0.join("strikes"), scratch.0.join("notes-0000000000000005"));
    fs::write(&strikes, newer(FileKind::Strikes)).unwrap();
    fs::write(&notes, newer(FileKind::Notes)).unwrap();
    scratch.death(&[B]);
    let quarantine = scratch.open();
    assert_eq!(quarantine.strikes(DRIVER, &A), 0);
    assert_eq!(quarantine.strikes(DRIVER, &B), 1, "in memory");
    assert_eq!(quarantine.statistics().ignored, 2);
    assert!(quarantine.problem().unwrap().as_str().contains("newer"));
    assert_eq!(quarantine.forgive_all().unwrap_err().code(), Code::Unsupported);
    drop(quarantine);
    assert_eq!(fs::read(&strikes).unwrap(), newer(FileKind::Strikes));
    assert_eq!(fs::read(&notes).unwrap(), newer(FileKind::Notes));
}

#[test]
fn only_regular_files_are_opened() {
    let scratch = Scratch::new();
    fs::create_dir_all(scratch.0.join("strikes")).unwrap();
    fs::create_dir(scratch.0.join("notes-0000000000000001")).unwrap();
    for name in ["notes-", "notes-00000000000000zz", "notes-00000000000000011", "other"] {
        fs::write(scratch.0.join(name), b"not ours").unwrap();
    }
    let quarantine = scratch.open();
    assert!(quarantine.problem().unwrap().as_str().contains("is not a regular file"));
    assert_eq!(quarantine.statistics().struck, 0);
    quarantine.begin(DRIVER, &A).unwrap();
    assert_eq!(quarantine.statistics().noted, 1);
    drop(quarantine);
    assert_eq!(scratch.names().len(), 7);
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Open,
    Begin(usize, u8),
    End(usize, usize, bool),
    Die(usize),
    Close(usize),
    Forgive(usize, u8),
    Wait(u64),
}

fn step() -> impl Strategy<Value = Step> {
    let process = 0..3_usize;
    prop_oneof![
        3 => Just(Step::Open),
        6 => (process.clone(), 0..3_u8).prop_map(|(process, key)| Step::Begin(process, key)),
        4 => (process.clone(), 0..4_usize, any::<bool>()).prop_map(|(process, token, ok)| Step::End(process, token, ok)),
        3 => process.clone().prop_map(Step::Die),
        1 => process.clone().prop_map(Step::Close),
        1 => (process, 0..3_u8).prop_map(|(process, key)| Step::Forgive(process, key)),
        1 => (1..20_u64).prop_map(|days| Step::Wait(days * DAY)),
    ]
}

/// A process: its quarantine, and the strikes and tokens that the model expects.
struct Process {
    quarantine: Quarantine,
    strikes: BTreeMap<u8, u32>,
    tokens: Vec<(Token, u8)>,
}

/// The model of the directory: when each strike was counted, and the keys in flight of dead processes.
#[derive(Default)]
struct Model {
    strikes: BTreeMap<u8, Vec<u64>>,
    dead: Vec<Vec<u8>>,
}

impl Model {
    fn open(&mut self, now: u64) -> BTreeMap<u8, u32> {
        self.strikes.values_mut().for_each(|dates| dates.retain(|&when| now - when < 30 * DAY));
        for mut keys in self.dead.drain(..) {
            keys.sort();
            keys.dedup();
            keys.into_iter().for_each(|key| self.strikes.entry(key).or_default().push(now));
        }
        self.strikes.iter().map(|(&key, dates)| (key, dates.len() as u32)).collect()
    }

    fn take_back(&mut self, key: u8) {
        if let Some(dates) = self.strikes.get_mut(&key).filter(|dates| !dates.is_empty()) {
            dates.remove(0);
        }
    }
}

fn run(steps: &[Step]) {
    let scratch = Scratch::new();
    let (mut model, mut processes, mut now) = (Model::default(), Vec::<Process>::new(), NOW);
    for &step in steps {
        let living = processes.len().max(1);
        let at = |n: usize| n % living;
        match step {
            Step::Wait(seconds) => now += seconds,
            Step::Open => {
                let quarantine = scratch.open_at(now);
                processes.push(Process { quarantine, strikes: model.open(now), tokens: Vec::new() });
            }
            _ if processes.is_empty() => {}
            Step::Begin(n, key) => {
                let process = &mut processes[at(n)];
                let token = process.quarantine.begin(DRIVER, &[key; 32]).unwrap();
                process.tokens.push((token, key));
            }
            Step::End(n, token, ok) => {
                let process = &mut processes[at(n)];
                if process.tokens.is_empty() {
                    continue;
                }
                let (token, key) = process.tokens.remove(token % process.tokens.len());
                process.quarantine.end(token, if ok { Outcome::Ok } else { Outcome::Rejected }).unwrap();
                let strikes = process.strikes.entry(key).or_default();
                if ok && *strikes > 0 {
                    *strikes -= 1;
                    model.take_back(key);
                }
            }
            Step::Die(n) => {
                let process = processes.remove(at(n));
                model.dead.push(process.tokens.iter().map(|&(_, key)| key).collect());
                process.quarantine.die();
            }
            Step::Close(n) => drop(processes.remove(at(n))),
            Step::Forgive(n, key) => {
                let process = &mut processes[at(n)];
                process.quarantine.forgive(DRIVER, &[key; 32]).unwrap();
                process.strikes.remove(&key);
                model.strikes.remove(&key);
            }
        }
        for process in &processes {
            for key in 0..3 {
                let expected = process.strikes.get(&key).copied().unwrap_or(0);
                assert_eq!(process.quarantine.strikes(DRIVER, &[key; 32]), expected, "key {key} after {step:?}");
                assert_eq!(process.quarantine.is_banned(DRIVER, &[key; 32]), expected >= 2);
            }
            assert!(process.quarantine.problem().is_none());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn random_process_histories_match_the_model(steps in prop::collection::vec(step(), 1..60)) {
        run(&steps);
    }

    #[test]
    fn arbitrary_file_contents_open_without_a_ban(
        notes in prop::collection::vec(any::<u8>(), 0..400), strikes in prop::collection::vec(any::<u8>(), 0..400),
    ) {
        let scratch = Scratch::new();
        fs::create_dir(&scratch.0).unwrap();
        fs::write(scratch.0.join("notes-00000000000000aa"), notes).unwrap();
        fs::write(scratch.0.join("strikes"), strikes).unwrap();
        prop_assert_eq!(scratch.open().statistics().struck, 0);
    }
}
