//! Full disks: which values stay, the cost of a failed put, and the end of the problem.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use super::super::fault_io::{FaultDisk, FaultIo};
use super::super::io::{Io, Lock, SharedFile};
use super::super::{Options, Store, Value};
use super::*;
use crate::base::Code;

const DISK: u64 = 3 << 20;

fn roomy() -> Options {
    Options { limit_bytes: 64 << 20, environment: Some(7), ..options() }
}

/// Values of any part of the disk, alternating, without anything else in the directory.
#[test]
fn stored_value_outlives_its_own_write_on_a_full_disk() {
    for length in (1_000_000..3_300_000_usize).step_by(150_000) {
        let disk = FaultDisk::default();
        disk.set_quota(Some(DISK));
        let mut store = open(&disk.process(), roomy());
        let mut kept = Vec::new();
        for number in 0..4 {
            let is_kept = store.put(&name(number), 5, &value(number, length)).unwrap();
            store.sync().unwrap();
            assert_eq!(get(&mut store, &name(number)).is_some(), is_kept, "{number} of {length} bytes");
            assert_eq!(get(&mut on(&disk), &name(number)).is_some(), is_kept, "{number} of {length} bytes");
            kept.extend(is_kept.then_some(number));
            // The newest one that was stored is still there.
            assert_eq!(kept.last().is_some_and(|&last| store.contains(&name(last))), !kept.is_empty(), "{length}");
        }
        assert_eq!(store.trouble(), None);
        let refused = store.statistics().refused;
        assert_eq!(refused + kept.len() as u64, 4);
        assert!(length as u64 > DISK / 16 * 10 || refused == 0, "{length} bytes: {refused} refused");
        assert!((length as u64) < DISK || refused == 4, "{length} bytes: {refused} refused");
    }
}

/// A value that cannot stay evicts nothing.
#[test]
fn value_that_a_full_disk_cannot_keep_is_refused() {
    let disk = FaultDisk::default();
    disk.set_quota(Some(DISK));
    let mut store = open(&disk.process(), roomy());
    for number in 0..100 {
        assert!(store.put(&name(number), 5, &value(number, 20_000)).unwrap());
    }
    for number in 100..110 {
        assert!(!store.put(&name(number), 5, &value(number, 2_500_000)).unwrap());
    }
    store.sync().unwrap();
    assert_eq!((store.statistics().refused, store.statistics().evicted, store.trouble()), (10, 0, None));
    assert!((0..100).all(|number| get(&mut store, &name(number)).is_some()));
    // Space that others free is found after a second.
    disk.set_quota(None);
    wait(2);
    assert!(store.put(&name(100), 5, &value(100, 2_500_000)).unwrap());
}

/// A quota of 0 is a disk whose free space other programs take at once.
#[test]
fn failed_put_costs_a_bounded_amount_of_work() {
    for length in [1000, 20_000, 100_000] {
        let disk = FaultDisk::default();
        let mut store = open(&disk.process(), Options { segment_limit: 33_000, ..roomy() });
        for number in 0..4000 {
            store.put(&name(number), 5, &value(number, 1000)).unwrap();
        }
        store.seal().unwrap();
        disk.set_quota(Some(0));
        let (before, files) = (disk.counts(), disk.files().len());
        store.put(&name(9000), 5, &value(9000, length)).unwrap_err();
        let after = disk.counts();
        let evicted = store.statistics().evicted * 1100;
        assert!(evicted <= 3 * (length as u64 + 110_000), "{evicted} bytes evicted for {length}");
        assert!(after.listed - before.listed <= 60 * files as u64, "{} names", after.listed - before.listed);
        assert!(after.syncs - before.syncs <= 64, "{} syncs", after.syncs - before.syncs);
    }
}

#[test]
fn sync_finds_space_that_others_freed() {
    let disk = FaultDisk::default();
    let mut store = open(&disk.process(), roomy());
    disk.set_quota(Some(0));
    store.put(&name(1), 5, &value(1, 50_000)).unwrap_err();
    for _ in 0..2 {
        store.sync().unwrap();
        assert!(store.trouble().is_some_and(|trouble| trouble.contains("free some space")), "{:?}", store.trouble());
    }
    // Enough for a block, but not for that value.
    disk.set_quota(Some(30 << 10));
    store.sync().unwrap();
    assert!(store.trouble().is_some());
    disk.set_quota(Some(1 << 20));
    store.sync().unwrap();
    assert_eq!(store.trouble(), None);
    assert!(disk.files().iter().all(|path| !path.to_string_lossy().ends_with(".new")), "{:?}", disk.files());
    assert!(store.put(&name(1), 5, &value(1, 50_000)).unwrap());
}

static TICKS: AtomicU64 = AtomicU64::new(0);

/// A clock that advances by a second after some looks.
fn ticking() -> u64 {
    1_700_000_000 + TICKS.fetch_add(1, Ordering::Relaxed) / 2000
}

/// Before the file of a clearing is created, another process puts a value.
struct LatePut(FaultIo, Mutex<Option<Store>>);

impl Io for LatePut {
    fn create(&self, path: &Path) -> std::io::Result<SharedFile> {
        let is_clearing = path.extension().is_some_and(|extension| extension == "clear");
        if is_clearing && let Some(other) = &mut *self.1.lock().unwrap() {
            assert!(other.put(&name(9001), 5, b"late").unwrap());
        }
        self.0.create(path)
    }
    fn list(&self, directory: &Path) -> std::io::Result<Vec<std::ffi::OsString>> {
        self.0.list(directory)
    }
    fn create_directory(&self, directory: &Path) -> std::io::Result<()> {
        self.0.create_directory(directory)
    }
    fn open(&self, path: &Path) -> std::io::Result<SharedFile> {
        self.0.open(path)
    }
    fn rename(&self, from: &Path, to: &Path) -> std::io::Result<()> {
        self.0.rename(from, to)
    }
    fn remove(&self, path: &Path) -> std::io::Result<()> {
        self.0.remove(path)
    }
    fn discard(&self, path: &Path) -> std::io::Result<()> {
        self.0.discard(path)
    }
    fn sync_directory(&self, directory: &Path) -> std::io::Result<()> {
        self.0.sync_directory(directory)
    }
    fn try_lock(&self, path: &Path) -> std::io::Result<Option<Box<dyn Lock>>> {
        self.0.try_lock(path)
    }
    fn nonce(&self) -> u64 {
        self.0.nonce()
    }
}

#[test]
fn clearing_a_full_disk_spares_what_others_put_meanwhile() {
    let disk = FaultDisk::default();
    let small = Options { segment_limit: 33_000, now: ticking, ..roomy() };
    let mut other = open(&disk.process(), small);
    assert!(other.put(&name(9000), 5, &value(9000, 100)).unwrap());
    let path = other.path(other.writer.as_ref().unwrap().id, "seg").to_path_buf();
    // Two segments, each with the newer value of a name in the other one: neither can go without a mark.
    let [mut one, mut two] = [0, 1].map(|_| open(&disk.process(), small));
    for number in 0..20 {
        let (first, second) = (name(2 * number), name(2 * number + 1));
        assert!(one.put(&first, 5, &value(number, 500)).unwrap());
        two.refresh().unwrap();
        assert!(two.put(&first, 5, &value(number, 600)).unwrap() && two.put(&second, 5, &value(number, 500)).unwrap());
        one.refresh().unwrap();
        assert!(one.put(&second, 5, &value(number, 600)).unwrap());
    }
    [one, two].into_iter().for_each(|mut store| store.seal().unwrap());
    let io = LatePut(disk.process(), Mutex::new(Some(other)));
    let mut store = Store::open(shared(io), &directory(), small).unwrap();
    let room = 4096 - disk.read(&path).unwrap().len() as u64 % 4096;
    assert!(room > 200, "the late value needs no block");
    disk.set_quota(Some(0));
    let _ = store.put(&name(41), 5, &value(41, 5000));
    assert!(disk.files().iter().any(|path| path.extension().is_some_and(|extension| extension == "clear")));
    assert!(get(&mut on(&disk), &name(9001)).is_some(), "it was stored, and nobody reported it as evicted");
}

/// A limit on the length of a file, as `ulimit -f` sets one.
#[test]
fn values_go_to_more_segments_where_the_system_limits_the_length_of_a_file() {
    const LONGEST: u64 = 100_000;
    let disk = FaultDisk::default();
    disk.set_longest(Some(LONGEST));
    let mut store = open(&disk.process(), roomy());
    for number in 0..100 {
        assert!(store.put(&name(number), 5, &value(number, 20_000)).unwrap());
    }
    // A run of several records crosses the limit, too.
    let values: Vec<_> = (100..200).map(|number| value(number, 7_000)).collect();
    let named = |(number, data)| Value { name: name(number), build_us: 5, data };
    let values: Vec<_> = (100..).zip(&values).map(|(number, data)| named((number, data))).collect();
    let mut kept = 0;
    store.put_all(&values, |_| kept += 1).unwrap();
    // One that no file can hold fails alone.
    let why = store.put(&name(999), 5, &value(999, LONGEST as usize)).unwrap_err();
    assert_eq!((why.code(), kept), (Code::Io, 100));
    store.seal().unwrap();
    let mut anew = on(&disk);
    for (number, length) in (0..200).map(|number| (number, if number < 100 { 20_000 } else { 7_000 })) {
        assert_eq!(get(&mut anew, &name(number)), Some(value(number, length)));
    }
    assert_eq!(anew.statistics().damaged, 0);
}
