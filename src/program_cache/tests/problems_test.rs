//! Problems of the disk: removals that fail, lost programs, foreign values, and their reports.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::{NOW, cached, desc, key, put};
use crate::base::{Code, Shared, try_collect};
use crate::program_cache::disk::value::{encode, kind};
use crate::program_cache::*;
use crate::store::fault_io::{FaultDisk, FaultIo};
use crate::store::io::{Io, share};
use crate::store::{self, Name, Store};

const FOREVER: Duration = Duration::MAX;

fn open(disk: &FaultDisk) -> (OpenCache, FaultIo) {
    let io = disk.process();
    let desc = Desc { ban_at: 0, ..desc(Some(io.clone()), Options::default()) };
    (Cache::open(desc).unwrap(), io)
}

fn disk_with(numbers: std::ops::Range<u64>) -> FaultDisk {
    let disk = FaultDisk::default();
    let (cache, _) = open(&disk);
    numbers.for_each(|number| _ = put(&cache, number, 100));
    drop(cache);
    disk
}

fn finds(cache: &Cache, number: u64) -> bool {
    cache.get_wait(&key(number), FOREVER).unwrap().is_some()
}

/// Records what the observer of problems receives.
fn observe(cache: &Cache) -> Arc<Mutex<Vec<String>>> {
    let seen = Arc::<Mutex<Vec<String>>>::default();
    let log = Arc::clone(&seen);
    let observer = move |sentence: &str| log.lock().unwrap().push(sentence.to_string());
    let observer = Shared::try_new(observer).unwrap();
    cache.set_observer(Some(Shared::into_dyn::<dyn Fn(&str) + Send + Sync>(observer, |observer| observer)));
    seen
}

#[test]
fn program_that_cannot_be_removed_is_hidden_until_a_flush_removes_it() {
    let disk = disk_with(0..4);
    let (cache, io) = open(&disk);
    assert!((0..4).all(|number| finds(&cache, number)));
    io.plan(|plan| plan.is_denied = true);
    assert!(cache.remove(&key(0)).unwrap());
    let token = cache.begin_use(&key(1)).unwrap().unwrap();
    cache.end_use(token, Verdict::Rejected).unwrap();
    for _ in 0..3 {
        assert!(!finds(&cache, 0) && !finds(&cache, 1) && finds(&cache, 2));
        cache.memory().trim(0);
    }
    assert!(cache.trouble().as_str().contains("could not be removed"), "{}", cache.trouble());
    assert_eq!(cache.remove(&key(2)).unwrap_err().code(), Code::Io, "an earlier removal has failed");
    assert!(!finds(&cache, 2));
    for _ in 0..2 {
        let why = cache.disk().flush(FOREVER).unwrap_err();
        assert!(why.code() == Code::Io && why.sentence().contains("could not be removed"), "{why}");
    }
    let (other, _) = open(&disk);
    assert!((0..4).all(|number| finds(&other, number)), "another process finds it");
    drop(other);
    io.plan(|plan| plan.is_denied = false);
    cache.disk().flush(FOREVER).unwrap();
    assert_eq!((cache.trouble().as_str(), finds(&cache, 0)), ("", false));
    drop(cache);
    let (next, _) = open(&disk);
    assert_eq!((0..4).filter(|&number| finds(&next, number)).collect::<Vec<_>>(), [3]);
}

#[test]
fn put_after_a_failed_removal_replaces_the_hidden_program() {
    let disk = disk_with(0..2);
    let (cache, io) = open(&disk);
    assert!(cache.disk().wait_idle(FOREVER));
    io.plan(|plan| plan.is_denied = true);
    cache.remove(&key(0)).unwrap();
    assert!(!finds(&cache, 0));
    put(&cache, 0, 200);
    cache.memory().trim(0);
    assert!(!finds(&cache, 0), "the put was not written, so the old program stays hidden");
    io.plan(|plan| plan.is_denied = false);
    put(&cache, 0, 300);
    cache.disk().flush(FOREVER).unwrap_err();
    cache.disk().flush(FOREVER).unwrap();
    cache.memory().trim(0);
    assert_eq!(cache.get_wait(&key(0), FOREVER).unwrap().unwrap().data().len(), 300);
}

#[test]
fn programs_that_cannot_be_cleared_are_hidden_until_a_flush_clears_them() {
    let disk = disk_with(0..3);
    let (cache, io) = open(&disk);
    assert!(finds(&cache, 0));
    io.plan(|plan| plan.is_denied = true);
    cache.clear(Some(Scope::Environment)).unwrap();
    assert!((0..3).all(|number| !finds(&cache, number)));
    assert_eq!(cache.clear(Some(Scope::Environment)).unwrap_err().code(), Code::Io);
    assert_eq!(cache.disk().flush(FOREVER).unwrap_err().code(), Code::Io);
    io.plan(|plan| plan.is_denied = false);
    put(&cache, 7, 100);
    cache.disk().flush(FOREVER).unwrap();
    cache.memory().trim(0);
    assert!(finds(&cache, 7) && !finds(&cache, 0), "a put after the clear is found");
    drop(cache);
    let (next, _) = open(&disk);
    assert_eq!((0..8).filter(|&number| finds(&next, number)).collect::<Vec<_>>(), [7]);
}

#[test]
fn observer_receives_each_new_problem_and_its_end() {
    let disk = disk_with(0..2);
    let (cache, io) = open(&disk);
    let seen = observe(&cache);
    assert!(cache.disk().wait_idle(FOREVER) && seen.lock().unwrap().is_empty());
    io.plan(|plan| plan.is_denied = true);
    (10..13).for_each(|number| _ = put(&cache, number, 100));
    for _ in 0..3 {
        assert_eq!(cache.disk().flush(FOREVER).unwrap_err().code(), Code::Io, "until the problem is over");
    }
    let count = seen.lock().unwrap().len();
    assert_eq!(count, 1, "{:?}", seen.lock().unwrap());
    assert_eq!(seen.lock().unwrap()[0], cache.trouble().as_str());
    io.plan(|plan| plan.is_denied = false);
    put(&cache, 13, 100);
    cache.disk().flush(FOREVER).unwrap();
    cache.disk().flush(FOREVER).unwrap();
    assert_eq!(seen.lock().unwrap()[1..], [""], "an empty sentence: the problem is over");
    cache.set_observer(None);
    assert_eq!(Arc::strong_count(&seen), 1);
}

#[test]
fn segments_replaced_by_noise_are_reported_once_and_serve_nothing() {
    for has_snapshot in [true, false] {
        let disk = disk_with(0..20);
        // The next process seals the segment of the first.
        assert!(open(&disk).0.disk().wait_idle(FOREVER));
        let (mut state, mut snapshots) = (7_u64, 0);
        let mut noise = || {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            (state >> 33) as u8
        };
        for path in disk.files() {
            match path.extension().and_then(|extension| extension.to_str()) {
                Some("seg") => {
                    let length = disk.read(&path).unwrap().len();
                    disk.write(&path, &(0..length).map(|_| noise()).collect::<Vec<_>>());
                }
                Some("idx") if !has_snapshot => disk.process().remove(&path).unwrap(),
                Some("idx") => snapshots += 1,
                _ => {}
            }
        }
        assert_eq!(snapshots > 0, has_snapshot);
        let io = disk.process();
        let cache = Cache::open(Desc { ban_at: 0, load_ahead: false, ..desc(Some(io), Options::default()) }).unwrap();
        let seen = observe(&cache);
        assert!((0..20).all(|number| !finds(&cache, number)), "nothing in it is served");
        (0..20).for_each(|number| _ = put(&cache, number, 100));
        cache.disk().flush(FOREVER).expect("reading and writing succeed");
        assert!((0..20).all(|number| finds(&cache, number)));
        let seen = seen.lock().unwrap();
        assert!(seen.len() == 1 && seen[0].contains("damaged") && seen[0].contains("check the drive"), "{seen:?}");
        assert_eq!(seen[0], cache.trouble().as_str());
    }
}

#[test]
fn waiting_get_finds_a_value_that_another_cache_has_written() {
    let disk = disk_with(0..1);
    let ((writer, _), (reader, _)) = (open(&disk), open(&disk));
    assert!(finds(&reader, 0) && !finds(&reader, 1));
    put(&writer, 1, 100);
    writer.disk().flush(FOREVER).unwrap();
    let begun = Instant::now();
    while !finds(&reader, 1) {
        assert!(begun.elapsed() < Duration::from_secs(60), "looks again every 100 ms");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn requests_that_wait_are_bounded() {
    let (cache, _) = open(&FaultDisk::default());
    for number in 0..1 << 16 {
        cache.remove(&key(number)).unwrap();
    }
    assert_eq!(cache.remove(&key(1 << 16)).unwrap_err().code(), Code::LimitExceeded);
    put(&cache, 5, 10);
    assert_eq!((cache.disk().progress().waiting, cache.disk().progress().unwritten), (1 << 16, 1));
    assert!(cache.disk().flush(FOREVER).is_err(), "it reports the program that was not written");
    cache.disk().flush(FOREVER).unwrap();
    cache.remove(&key(1)).unwrap();
}

#[test]
fn opening_reads_a_part_of_the_directory_in_each_step() {
    let disk = FaultDisk::default();
    let (cache, _) = open(&disk);
    for number in 0..40 {
        put(&cache, number, 1 << 19);
        assert!(cache.disk().wait_idle(FOREVER));
    }
    drop(cache);
    // Without snapshots opening reads all records.
    let disk = disk.duplicate();
    let (cache, io) = open(&disk);
    for path in disk.files().iter().filter(|path| path.extension().is_some_and(|extension| extension == "idx")) {
        io.remove(path).unwrap();
    }
    let mut turns = 0;
    while !cache.get_wait(&key(7), Duration::ZERO).is_ok_and(|blob| blob.is_some()) {
        let before = disk.counts().bytes_read;
        cache.disk().step_once();
        let read = disk.counts().bytes_read - before;
        assert!(read <= 10 << 20, "{read} bytes in a step");
        turns += 1;
    }
    assert!(turns > 3, "{turns}");
}

/// A directory with a start-up set of so many keys, and a material of so many bytes.
fn hostile(keys: usize, material_bytes: usize) -> FaultDisk {
    let disk = disk_with(0..3);
    let options = store::Options::new(|| NOW);
    let mut store = Store::open(share(disk.process()).unwrap(), Path::new("/cache"), options).unwrap();
    let name = |kind, key| Name { kind, environment: 1, key };
    let numbered = |number: usize| {
        let mut key = [1; 32];
        key[..8].copy_from_slice(&number.to_le_bytes());
        key
    };
    let set = try_collect((0..keys).map(numbered)).unwrap();
    assert!(store.put(&name(kind::START_UP, [0; 32]), 0, set.as_flattened()).unwrap());
    let mut material = Material::default();
    while material.bytes().len() < material_bytes {
        material.push("input", b"value").unwrap();
    }
    assert!(store.put(&name(kind::MATERIAL, key(1)), 0, material.bytes()).unwrap());
    disk
}

#[test]
fn start_up_set_and_materials_of_a_directory_are_bounded() {
    let memory = Options { limit_bytes: 100_000, described_keys: 1000, ..Options::default() };
    let opened = |disk: &FaultDisk| {
        let cache = Cache::open(desc(Some(disk.process()), memory)).unwrap();
        assert!(cache.disk().wait_idle(FOREVER));
        let keys = cache.memory().start_up_keys().unwrap().len();
        let described = cache.why_missed(&Material::default()).unwrap().is_some();
        (keys, described, cache.memory().memory_used())
    };
    let (keys, described, small) = opened(&hostile(100, 100));
    assert_eq!((keys, described), (100, true));
    let (keys, described, large) = opened(&hostile(1_000_000, 10_000_000));
    assert_eq!((keys, described), (0, false));
    assert!(large <= small, "{large} bytes, {small} without a hostile directory");
}

#[test]
fn program_that_is_larger_than_memory_is_not_read() {
    let disk = disk_with(0..1);
    let options = store::Options::new(|| NOW);
    let mut store = Store::open(share(disk.process()).unwrap(), Path::new("/cache"), options).unwrap();
    let mut bytes = Vec::new();
    encode(&Program { data: &vec![7; 10 << 20], ..Program::default() }, &mut bytes).unwrap();
    assert!(store.put(&Name { kind: kind::PROGRAM, environment: 1, key: key(1) }, 0, &bytes).unwrap());
    drop(store);
    let small = Options { limit_bytes: 1 << 20, ..Options::default() };
    let cache = Cache::open(desc(Some(disk.process()), small)).unwrap();
    assert!(cache.disk().wait_idle(FOREVER));
    let before = disk.counts().bytes_read;
    assert!(cache.get_wait(&key(1), FOREVER).unwrap().is_none());
    assert!(disk.counts().bytes_read - before < 1 << 20);
    assert!(finds(&cache, 0));
}

#[test]
fn places_of_a_program_are_memory_disk_and_bundle() {
    let disk = disk_with(0..3);
    let (cache, io) = open(&disk);
    io.create_directory(Path::new("/bundles")).unwrap();
    put(&cache, 10, 50);
    let places = |number| cache.places(&key(number), FOREVER).unwrap();
    let none = Places::default();
    assert_eq!(places(0), Places { disk: true, ..none });
    assert_eq!(places(10), Places { memory: true, disk: true, ..none }, "the put is written first");
    assert_eq!(places(11), none);
    cache.remove(&key(1)).unwrap();
    assert_eq!(places(1), none);
    let bundle = Path::new("/bundles/programs");
    cache.write_bundle(bundle, Contents::All).unwrap();
    cache.add_bundle(bundle).unwrap();
    assert_eq!(places(0), Places { disk: true, bundle: true, ..none });
    cache.remove(&key(0)).unwrap();
    assert_eq!(places(0), none, "hidden in the bundle");
    assert_eq!(cached(&cache, [0, 2]), [0; 0], "it loads nothing");
    let why = cache.places(&key(0), Duration::ZERO).map(|_| ());
    assert!(why.is_ok(), "nothing waits");
    put(&cache, 12, 10);
    assert_eq!(cache.places(&key(12), Duration::ZERO).unwrap_err().code(), Code::Timeout);
}

/// All pages of `most` programs.
fn list_all(cache: &Cache, most: usize, mut between: impl FnMut(usize)) -> Vec<Listed> {
    let (mut all, mut after): (Vec<Listed>, _) = (Vec::new(), None);
    for turn in 0.. {
        let page = cache.list(after, most, FOREVER).unwrap();
        assert!(page.len() <= most);
        let Some(last) = page.last() else { break };
        after = Some(last.key);
        all.extend(page);
        between(turn);
    }
    all
}

#[test]
fn list_has_every_program_of_memory_and_disk_once_in_pages_of_any_size() {
    let disk = disk_with(0..50);
    let (cache, _) = open(&disk);
    assert!(finds(&cache, 7) && finds(&cache, 7));
    let program =
        Program { data: &[1; 33], reflection: &[2; 4], stages: &[key(1)], cost_us: 9, group: 3, ..Program::default() };
    cache.put(&key(70), &program).unwrap();
    let expected: Vec<u64> = (0..50).chain([70]).collect();
    for most in [1, 7, 51, 1000] {
        let listed = list_all(&cache, most, |_| ());
        let mut numbers: Vec<u64> =
            listed.iter().map(|one| u64::from_le_bytes(*one.key.first_chunk().unwrap())).collect();
        assert!(listed.is_sorted_by_key(|one| one.key));
        numbers.sort_unstable();
        assert_eq!(numbers, expected, "pages of {most}");
        let of = |number| listed.iter().find(|one| one.key == key(number)).unwrap();
        let (only_disk, both, new) = (of(3), of(7), of(70));
        assert_eq!((only_disk.places.memory, only_disk.places.disk, only_disk.size), (false, true, 100));
        assert_eq!((only_disk.uses, only_disk.recorded_uses, only_disk.last_used), (0, 2, NOW as u32));
        assert_eq!((both.places.memory, both.places.disk, both.size, both.uses), (true, true, 100, 3));
        assert_eq!((new.size, new.build_us, new.group, new.uses), (33 + 4 + 32, 9, 3, 1));
    }
}

#[test]
fn list_is_complete_for_programs_that_stay_while_others_come_and_are_removed() {
    let (cache, _) = open(&disk_with(0..60));
    let listed = list_all(&cache, 5, |turn| {
        put(&cache, 1000 + turn as u64, 10);
        cache.remove(&key(40 + turn as u64)).unwrap();
        if turn == 2 {
            cache.memory().trim(0);
        }
    });
    for number in 0..40 {
        assert_eq!(listed.iter().filter(|one| one.key == key(number)).count(), 1, "{number}");
    }
    assert!(listed.is_sorted_by_key(|one| one.key));
}

#[test]
fn flush_reports_a_full_disk_until_there_is_space() {
    let disk = disk_with(0..1);
    let (cache, _) = open(&disk);
    assert!(cache.disk().wait_idle(FOREVER));
    disk.set_quota(Some(0));
    put(&cache, 5, 60_000);
    for _ in 0..3 {
        assert_eq!(cache.disk().flush(FOREVER).unwrap_err().code(), Code::Io);
        assert!(cache.trouble().as_str().contains("free some space"), "{}", cache.trouble());
    }
    disk.set_quota(None);
    // Without another put.
    cache.disk().flush(FOREVER).unwrap();
    assert_eq!(cache.trouble().as_str(), "");
}

/// An observer that tells when it runs, and then waits for leave.
#[test]
fn closed_cache_has_released_its_observer_and_calls_it_no_more() {
    let disk = disk_with(0..1);
    let (cache, io) = open(&disk);
    assert!(cache.disk().wait_idle(FOREVER));
    let (runs, is_running) = std::sync::mpsc::channel();
    let (leave, may_leave) = std::sync::mpsc::channel();
    let (released, waiting) = (Arc::new(()), Mutex::new((runs, may_leave)));
    let kept = Arc::clone(&released);
    let observer = move |_: &str| {
        let (_kept, waiting) = (&kept, waiting.lock().unwrap());
        waiting.0.send(()).unwrap();
        waiting.1.recv().unwrap();
    };
    let observer = Shared::try_new(observer).unwrap();
    cache.set_observer(Some(Shared::into_dyn::<dyn Fn(&str) + Send + Sync>(observer, |observer| observer)));
    let clone = Cache::clone(&cache);
    std::thread::scope(|scope| {
        io.plan(|plan| plan.is_denied = true);
        scope.spawn(move || _ = clone.remove(&key(0)).and_then(|_| clone.disk().flush(FOREVER)));
        is_running.recv().unwrap();
        let closed = scope.spawn(move || drop(cache));
        std::thread::sleep(Duration::from_millis(20));
        assert!(!closed.is_finished(), "its observer still runs");
        // As often as there are problems to report.
        // After the last one, nobody receives.
        (0..100).for_each(|_| _ = leave.send(()));
        closed.join().unwrap();
        assert_eq!(Arc::strong_count(&released), 1);
    });
}

#[test]
fn written_bundle_has_no_banned_program() {
    let disk = super::disk_with_ban(&key(1));
    let (cache, _) = open(&disk);
    [1, 2].iter().for_each(|&number| _ = put(&cache, number, 100));
    drop(cache);
    let io = disk.process();
    let cache = Cache::open(desc(Some(io.clone()), Options::default())).unwrap();
    assert_eq!(cache.strikes(&key(1)), (2, true));
    io.create_directory(Path::new("/bundles")).unwrap();
    assert_eq!(cache.write_bundle(Path::new("/bundles/programs"), Contents::All).unwrap(), 1);
}
