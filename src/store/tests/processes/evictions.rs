//! Writers with a small limit that are killed at random moments, on a file system of a few megabytes. Every value that
//! is missing was reported as evicted, no put is refused, and the files stay within the limits at every moment.

use std::collections::BTreeSet;
use std::ffi::{CString, OsStr};
use std::io::{BufRead, BufReader};
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use crate::store::{Name, Options};

use super::*;

const ENVIRONMENT: u64 = 1;
/// Size of the file system, in bytes.
const DISK: u64 = 3 << 20;
/// Limit of a directory that is smaller than the file system, and of one that is larger.
const SMALLER: u64 = 3 << 19;
const LARGER: u64 = 6 << 20;
/// Numbers that one writer can put.
const NUMBERS: u32 = 1 << 12;
/// A writer is killed within this time, in milliseconds.
const LIFETIME: u64 = 60;
/// A writer that shares a limit lives that long, in microseconds.
const LONG_LIFE: u64 = 1_000_000;

fn number_of(name: &Name) -> u32 {
    u32::from_le_bytes(*name.key.first_chunk().expect("a key is longer"))
}

fn options(limit_bytes: u64) -> Options {
    let evicted = |name: &Name| println!("@evicted {}", number_of(name));
    // A process that clears a full disk removes the values that others put within the same second.
    let seconds = || std::time::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_secs());
    Options { limit_bytes, environment: Some(ENVIRONMENT), evicted, ..Options::new(seconds) }
}

/// Runs a writer. It prints each number before the put that stores it, after it, and before its value is evicted.
pub fn fill_for_ever(directory: &Path) {
    let first = number_in("HOB_VERSION").expect("it was given") as u32;
    let limit = number_in("HOB_LIMIT").expect("it was given");
    let longest = number_in("HOB_LONGEST").unwrap_or(0) as usize;
    let mut random = Random(first.into());
    let mut store = super::open(directory, options(limit));
    println!("@open");
    for number in first..first + NUMBERS {
        let name = name(ENVIRONMENT, number);
        let mut data = value(&name, number);
        data.resize(data.len().max(random.below(longest as u64 + 1) as usize), 7);
        let stored = store.put(&name, random.below(100) as u32, &data);
        if !matches!(stored, Ok(true)) {
            println!("@failed {number}: {stored:?}");
        }
        println!("@done {number}");
        match random.below(200) {
            0 => store.seal().expect("it can be sealed"),
            1 => store.sync().expect("it can be synced"),
            2 => drop(store.maintain(1 << 20).expect("there is space")),
            _ => {}
        }
    }
}

/// Numbers that a writer has stored, and those that it has evicted.
#[derive(Default)]
struct Heard {
    done: Vec<u32>,
    evicted: Vec<u32>,
}

/// Start a writer, kill it at a random moment, and return what it printed.
fn live_and_die(directory: &Path, first: u32, limit: u64, longest: u64, microseconds: u64) -> Heard {
    let mut command = child("filler", directory);
    command.env("HOB_VERSION", first.to_string()).env("HOB_LIMIT", limit.to_string());
    command.env("HOB_LONGEST", longest.to_string());
    let mut running = Running(command.spawn().expect("a child can be started"));
    let printed = BufReader::new(running.0.stdout.take().expect("it was piped"));
    let mut heard = Heard::default();
    let mut lines = printed.lines().map_while(Result::ok);
    assert!(lines.any(|line| line == "@open"), "the writer opens the directory");
    std::thread::scope(|scope| {
        scope.spawn(move || {
            std::thread::sleep(Duration::from_micros(microseconds));
            drop(running);
        });
        for line in lines {
            // The last line may be cut off. A number without its last digits was put or evicted as well, or never.
            let number = line.split(' ').nth(1).and_then(|word| word.parse().ok());
            match (line.split(' ').next(), number) {
                (Some("@done"), Some(number)) => heard.done.push(number),
                (Some("@evicted"), Some(number)) => heard.evicted.push(number),
                (Some("@failed"), _) => panic!("a put was refused: {line}"),
                _ => {}
            }
        }
    });
    heard
}

/// A file system of a fixed size, unmounted on drop.
struct Mounted(Scratch);

impl Mounted {
    /// `None` without the right to mount.
    fn new(name: &str) -> Option<Self> {
        let scratch = Scratch::new(name);
        let mut mount = std::process::Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &format!("size={DISK}"), "tmpfs"]).arg(&scratch.0).stderr(Stdio::null());
        mount.status().is_ok_and(|status| status.success()).then_some(Self(scratch))
    }

    /// Bytes in use, those of deleted files that are open included.
    #[allow(unsafe_code, reason = "the standard library does not ask file systems for their size")]
    fn used(path: &Path) -> u64 {
        let path = CString::new(OsStr::new(path).as_bytes()).expect("no NUL");
        let mut found = MaybeUninit::<libc::statvfs>::uninit();
        // SAFETY: a C string, and room for the result.
        let found = unsafe {
            assert_eq!(libc::statvfs(path.as_ptr(), found.as_mut_ptr()), 0);
            found.assume_init()
        };
        (found.f_blocks - found.f_bfree) * found.f_frsize
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount").arg("-l").arg(&self.0.0).status();
    }
}

/// Kill that many writers in a directory, up to two at a time. Returns the number of evicted values.
fn kill(directory: &Path, limit: u64, kills: u64) -> usize {
    let seed = number_in("HOB_STORE_SEED").unwrap_or(0);
    let mut random = Random(seed);
    let (mut present, mut evicted) = (BTreeSet::new(), BTreeSet::new());
    let (mut killed, mut first) = (0, 0);
    while killed < kills {
        let writers = 1 + random.below(2);
        let heard: Vec<_> = std::thread::scope(|scope| {
            let start = |_| {
                first += NUMBERS;
                let (first, lifetime) = (first, random.below(LIFETIME * 1000));
                scope.spawn(move || live_and_die(directory, first, limit, 0, lifetime))
            };
            let writers: Vec<_> = (0..writers).map(start).collect();
            writers.into_iter().map(|writer| writer.join().expect("a writer was not refused")).collect()
        });
        killed += writers;
        for Heard { done, evicted: also } in heard {
            present.extend(done);
            evicted.extend(also);
        }
        let mut store = super::open(directory, Options { read_only: true, ..options(limit) });
        let mut bytes = Vec::new();
        present.retain(|&number| {
            let found = version(&mut store, &name(ENVIRONMENT, number), &mut bytes);
            assert!(found.is_some() || evicted.contains(&number), "{number} is missing after {killed} kills");
            found.is_some()
        });
        assert_eq!((store.trouble(), store.statistics().damaged), (None, 0));
    }
    // The next flush deletes leftovers of the killed writers.
    let mut store = super::open(directory, options(limit));
    assert!(
        store.put(&name(ENVIRONMENT, u32::MAX), 1, &value(&name(ENVIRONMENT, u32::MAX), 1)).expect("there is room")
    );
    store.seal().expect("there is room");
    evicted.len()
}

fn kills() -> u64 {
    number_in("HOB_STORE_KILLS").unwrap_or(20)
}

/// `HOB_STORE_KILLS` sets the number of kills. Without the right to mount, only the values and the bytes at rest are
/// checked.
#[test]
fn killed_writers_stay_within_the_limit_and_lose_only_evicted_values() {
    let mounted = Mounted::new("evictions");
    let plain = mounted.is_none().then(|| Scratch::new("evictions"));
    let place = mounted.as_ref().map_or_else(|| plain.as_ref().expect("one of both").store(), |disk| disk.0.store());
    let work = || kill(&place, SMALLER, kills());
    let (most, evicted) = mounted.as_ref().map_or_else(|| (0, work()), |disk| watch(disk, work));
    let at_rest: u64 = std::fs::read_dir(&place)
        .expect("it is there")
        .map(|entry| std::os::unix::fs::MetadataExt::blocks(&entry.expect("listed").metadata().expect("there")) * 512)
        .sum();
    println!("{} kills, {evicted} values evicted; at most {most} bytes, at rest {at_rest}, of {SMALLER}", kills());
    assert!(at_rest <= SMALLER && most * 4 <= SMALLER * 5, "{at_rest} {most}");
    assert!(evicted > 0 || kills() < 20);
}

/// Run `work`. Returns the most bytes that the file system had in use meanwhile, and the result.
fn watch<T>(disk: &Mounted, work: impl FnOnce() -> T) -> (u64, T) {
    let (is_over, most) = (AtomicBool::new(false), AtomicU64::new(0));
    let done = std::thread::scope(|scope| {
        let _end = EndOnDrop(&is_over);
        scope.spawn(|| {
            while !is_over.load(Ordering::Acquire) {
                most.fetch_max(Mounted::used(&disk.0.0), Ordering::Relaxed);
                std::thread::sleep(Duration::from_micros(200));
            }
        });
        work()
    });
    (most.into_inner(), done)
}

/// Writers that all live: each holds a segment that nobody else can evict from.
#[test]
fn living_writers_share_a_small_limit() {
    for (limit, writers, longest) in [(256 << 10, 3, 0), (256 << 10, 4, 8 << 10), (1 << 20, 4, 24 << 10)] {
        let Some(disk) = Mounted::new("living") else {
            println!("skipped: this user may not mount a file system");
            return;
        };
        let place = &disk.0.store();
        let (most, evicted) = watch(&disk, || {
            std::thread::scope(|scope| {
                let start = |at| scope.spawn(move || live_and_die(place, at * NUMBERS, limit, longest, LONG_LIFE));
                let writers: Vec<_> = (1..=writers).map(start).collect();
                let heard = writers.into_iter().map(|writer| writer.join().expect("no put was refused"));
                heard.map(|heard| heard.evicted.len()).sum::<usize>()
            })
        });
        println!("{writers} writers, {evicted} evicted: {:.3} of the limit", most as f64 / limit as f64);
        assert!(most * 4 <= limit * 5 && evicted > 0, "{most} of {limit}");
    }
}

/// Ends the sampling, also when the test fails.
struct EndOnDrop<'a>(&'a AtomicBool);

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// Values of more than half of a file system.
#[test]
fn large_value_outlives_the_flush_on_a_small_file_system() {
    for length in [1_400_000, 1_600_000, 1_900_000, 2_200_000, 2_800_000, 3_400_000] {
        let Some(disk) = Mounted::new("large") else {
            println!("skipped: this user may not mount a file system");
            return;
        };
        let seconds = || std::time::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_secs());
        let place = disk.0.store();
        let mut store = super::open(&place, Options { environment: Some(ENVIRONMENT), ..Options::new(seconds) });
        let mut kept = 0;
        for number in 0..4 {
            let name = name(ENVIRONMENT, number);
            let is_kept = store.put(&name, 1, &vec![7; length]).expect("it is stored or refused");
            store.sync().expect("there is space");
            let again = super::open(&place, Options { read_only: true, ..Options::new(seconds) });
            assert_eq!((store.contains(&name), again.contains(&name)), (is_kept, is_kept), "{number} of {length}");
            kept += u64::from(is_kept);
        }
        println!("{length} bytes: {kept} of 4 values stored, {} refused", store.statistics().refused);
        assert_eq!(store.statistics().refused, 4 - kept);
        assert!(kept == if length < 2_000_000 { 4 } else { u64::from(length < 3_000_000) });
    }
}

/// Writers that are killed on a file system that is smaller than their limit: no put is refused.
#[test]
fn killed_writers_never_wedge_a_full_disk() {
    let Some(disk) = Mounted::new("full-disk") else {
        // The disk in memory of the other tests has a quota.
        println!("skipped: this user may not mount a file system");
        return;
    };
    let mut store = super::open(&disk.0.store(), options(LARGER));
    for number in u32::MAX / 2.. {
        let name = name(ENVIRONMENT, number);
        assert!(store.put(&name, 1, &value(&name, number)).expect("there is space"));
        if Mounted::used(&disk.0.0) > DISK - (64 << 10) {
            break;
        }
    }
    drop(store);
    let evicted = kill(&disk.0.store(), LARGER, kills().div_ceil(2));
    println!("{} kills on a full disk, {evicted} values evicted", kills().div_ceil(2));
    assert!(evicted > 0);
}

/// Each writer reserves a part of the limit, as the length of its lock file. Nothing goes for a reservation of a process
/// that was killed, and the marks of old values have room.
#[test]
fn killed_writers_take_no_room() {
    const DAY: u32 = 24 * 60 * 60;
    for (max_age_seconds, aged) in [(u32::MAX, 0), (DAY, 60)] {
        let scratch = Scratch::new("reservations");
        let options = Options { limit_bytes: 1 << 20, max_age_seconds, ..Options::new(now) };
        let later = Options { now: two_days_later, ..options };
        let fill = |numbers: std::ops::Range<u32>, options| {
            let mut store = open(&scratch.store(), options);
            for number in numbers {
                let name = name(1, number);
                assert!(store.put(&name, 5, &value(&name, 1)).expect("nothing is in the way"));
            }
        };
        fill(0..60, options);
        fill(60..61, later);
        for id in 0..60_u64 {
            let lock = std::fs::File::create(scratch.store().join(format!("{id:016x}.live"))).expect("it is new");
            lock.set_len(32 << 10).expect("it needs no space");
        }
        let mut store = open(&scratch.store(), later);
        while store.maintain(u64::MAX).expect("there is room").more {}
        let statistics = store.statistics();
        assert_eq!((statistics.evicted, statistics.aged, statistics.values), (0, aged, 61 - aged));
    }
}

fn two_days_later() -> u64 {
    now() + 2 * 24 * 60 * 60
}
