use std::ffi::OsString;
use std::io;
use std::sync::Mutex;

use super::super::fault_io::{FaultDisk, FaultIo};
use super::super::io::{Io, Lock, SharedFile};
use super::super::{Options, Store};
use super::*;
use crate::base::Code;

/// A file system that calls `happens` once, before the process locks the file `locked`.
struct Meanwhile {
    io: FaultIo,
    locked: &'static str,
    happens: Mutex<Option<Box<dyn FnOnce() + Send>>>,
}

impl Io for Meanwhile {
    fn list(&self, directory: &Path) -> io::Result<Vec<OsString>> {
        self.io.list(directory)
    }

    fn create_directory(&self, directory: &Path) -> io::Result<()> {
        self.io.create_directory(directory)
    }

    fn open(&self, path: &Path) -> io::Result<SharedFile> {
        self.io.open(path)
    }

    fn create(&self, path: &Path) -> io::Result<SharedFile> {
        self.io.create(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.io.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.io.remove(path)
    }

    fn sync_directory(&self, directory: &Path) -> io::Result<()> {
        self.io.sync_directory(directory)
    }

    fn try_lock(&self, path: &Path) -> io::Result<Option<Box<dyn Lock>>> {
        if path.ends_with(self.locked)
            && let Some(happens) = self.happens.lock().unwrap().take()
        {
            happens();
        }
        self.io.try_lock(path)
    }

    fn nonce(&self) -> u64 {
        self.io.nonce()
    }
}

/// A process appends to a known segment after another process has listed the directory. The record must survive a merge
/// or seal by the other process, even if the writer seals the segment or dies first.
#[test]
fn writes_during_maintenance_by_another_process_are_kept() {
    for (is_sealed, small_segments) in [(false, 0), (true, 0), (false, 5), (true, 5)] {
        let disk = FaultDisk::default();
        let mut writer = on(&disk);
        writer.put(&name(1), 0, &value(1, 5000)).unwrap();
        for number in 0..small_segments {
            let mut store = on(&disk);
            store.put(&name(100 + number), 0, b"small").unwrap();
            store.seal().unwrap();
        }
        let happens = move || {
            writer.put(&name(2), 0, &value(2, 5000)).unwrap();
            if is_sealed {
                writer.seal().unwrap();
            }
        };
        let happens = Mutex::new(Some(Box::new(happens) as Box<dyn FnOnce() + Send>));
        let io = Meanwhile { io: disk.process(), locked: "maintain.lock", happens };
        let mut other = Store::open(shared(io), &directory(), options()).unwrap();
        for _ in 0..3 {
            other.maintain(u64::MAX).unwrap();
            for store in [&mut other, &mut on(&disk)] {
                let has = |number| get(store, &name(number)) == Some(value(number, 5000));
                assert_eq!([1, 2].map(has), [true, true], "{is_sealed}, {small_segments}");
            }
            // More small segments, so that the next maintenance merges them.
            (0..4).for_each(|number| {
                let mut store = on(&disk);
                store.put(&name(200 + number), 0, b"more").unwrap();
                store.seal().unwrap();
            });
        }
    }
}

#[test]
fn replacement_of_a_merged_value_survives_power_loss() {
    let disk = FaultDisk::default();
    for launch in 0..5 {
        let mut store = on(&disk);
        store.put(&name(launch), 0, b"old").unwrap();
        store.put(&name(10 + launch), 0, b"merged").unwrap();
        store.seal().unwrap();
    }
    // A living process that has not synced.
    let mut living = on(&disk);
    (0..5).for_each(|number| _ = living.put(&name(number), 0, b"new").unwrap());
    let mut merger = on(&disk);
    merger.remove(&name(10)).unwrap();
    assert_eq!(merger.maintain(u64::MAX).unwrap().unlinked, 5);
    // Lose all unsynced data.
    disk.lose_power(|| 0);
    let mut store = on(&disk);
    assert!((0..5).all(|number| get(&mut store, &name(number)).as_deref() == Some(b"new")));
    assert!((11..15).all(|number| get(&mut store, &name(number)).as_deref() == Some(b"merged")));
    assert_eq!(get(&mut store, &name(10)), None);
}

#[test]
fn unreadable_segment_is_not_merged() {
    let disk = FaultDisk::default();
    let mut writers: Vec<_> = (0..5).map(|_| on(&disk)).collect();
    let put = |writers: &mut [Store], number: u64| {
        for (which, writer) in (0..).zip(writers) {
            writer.put(&name(which * 10 + number), 0, &value(number, 50)).unwrap();
        }
    };
    put(&mut writers, 1);
    let io = disk.process();
    let mut other = open(&io, options());
    put(&mut writers, 2);
    writers.iter_mut().for_each(|writer| writer.seal().unwrap());
    io.plan(|plan| plan.reads_fail = true);
    other.refresh().unwrap();
    assert!(other.trouble().unwrap().contains("cannot read"), "{:?}", other.trouble());
    // Nothing is lost now, while the inner refresh fails, nor later, when everything can be read.
    assert_eq!(other.maintain(u64::MAX).unwrap().unlinked, 0);
    io.plan(|plan| plan.reads_fail = false);
    assert_eq!(other.maintain(u64::MAX).unwrap().unlinked, 5);
    for store in [&mut other, &mut on(&disk)] {
        for number in [1, 2] {
            assert!((0..5).all(|which| get(store, &name(which * 10 + number)) == Some(value(number, 50))));
        }
    }
}

#[test]
fn segment_without_a_header_is_removed() {
    for length in [0, 1, 63] {
        let disk = populated(3, 30);
        let path = directory().join("6553f20000000001.seg");
        disk.write(&path, &super::super::format::encode_heads(0x6553_f200_0000_0001, 5, FORMAT)[..length]);
        disk.write(&path.with_extension("live"), b"");
        let io = disk.process();
        let held = io.try_lock(&path.with_extension("live")).unwrap();
        on(&disk).maintain(u64::MAX).unwrap();
        assert!(disk.read(&path).is_some(), "its writer lives");
        drop(held);
        on(&disk).maintain(u64::MAX).unwrap();
        assert_eq!((disk.read(&path), with_extension(&disk, "live").len()), (None, 0));
    }
}

#[test]
fn refresh_shows_values_of_other_processes() {
    let disk = FaultDisk::default();
    let (mut one, mut two) = (on(&disk), on(&disk));
    one.put(&name(1), 0, b"one").unwrap();
    two.put(&name(2), 0, b"two").unwrap();
    assert!(!two.contains(&name(1)));
    one.refresh().unwrap();
    two.refresh().unwrap();
    assert_eq!(get(&mut one, &name(2)).as_deref(), Some(&b"two"[..]));
    assert_eq!(get(&mut two, &name(1)).as_deref(), Some(&b"one"[..]));
    // Append to a segment that the other process knows.
    two.put(&name(3), 0, b"three").unwrap();
    two.seal().unwrap();
    one.refresh().unwrap();
    assert_eq!(get(&mut one, &name(3)).as_deref(), Some(&b"three"[..]));
}

#[test]
fn values_of_other_processes_can_be_replaced_and_removed() {
    let disk = FaultDisk::default();
    let (mut one, mut two) = (on(&disk), on(&disk));
    // The segment of `one` has a greater id than that of `two`.
    two.put(&name(9), 0, b"first segment").unwrap();
    one.put(&name(1), 0, b"old").unwrap();
    one.put(&name(2), 0, b"old").unwrap();
    two.refresh().unwrap();
    two.put(&name(1), 0, b"new").unwrap();
    two.remove(&name(2)).unwrap();
    one.refresh().unwrap();
    for store in [&mut one, &mut two, &mut on(&disk)] {
        assert_eq!(get(store, &name(1)).as_deref(), Some(&b"new"[..]));
        assert_eq!(get(store, &name(2)), None);
    }
}

#[test]
fn reader_finds_values_after_a_concurrent_merge() {
    let disk = FaultDisk::default();
    for launch in 0..6 {
        let mut store = on(&disk);
        (0..5).for_each(|number| {
            _ = store.put(&name(launch * 5 + number), 0, &value(launch * 5 + number, 90)).unwrap();
        });
        store.seal().unwrap();
    }
    let (mut reader, mut holder, mut merger) = (on(&disk), on(&disk), on(&disk));
    // `holder` has the files open; the others have only read the snapshots.
    assert!((0..30).all(|number| get(&mut holder, &name(number)).is_some()));
    assert_eq!(merger.maintain(u64::MAX).unwrap().unlinked, 6);
    for store in [&mut reader, &mut holder] {
        assert!((0..30).all(|number| get(store, &name(number)) == Some(value(number, 90))));
        store.refresh().unwrap();
        assert!((0..30).all(|number| get(store, &name(number)) == Some(value(number, 90))));
        let statistics = store.statistics();
        assert_eq!((statistics.damaged, statistics.segments, statistics.values), (0, 1, 30));
    }
}

#[test]
fn only_segments_of_ended_writers_are_merged() {
    let disk = FaultDisk::default();
    let io = disk.process();
    let mut writer = open(&io, Options { segment_limit: 1 << 20, ..options() });
    writer.put(&name(1), 0, b"x").unwrap();
    (0..5).for_each(|number| {
        let mut store = on(&disk);
        store.put(&name(10 + number), 0, b"y").unwrap();
    });
    let mut merger = on(&disk);
    assert_eq!(merger.maintain(u64::MAX).unwrap().unlinked, 5);
    writer.put(&name(2), 0, b"x").unwrap();
    io.kill();
    merger.maintain(u64::MAX).unwrap();
    assert_eq!((with_extension(&disk, "seg").len(), with_extension(&disk, "live").len()), (2, 0));
    assert_eq!(with_extension(&disk, "idx").len(), 2);
    assert_eq!(on(&disk).statistics().values, 7);
}

#[test]
fn one_process_at_a_time_runs_maintenance() {
    let disk = populated(3, 30);
    let (io, mut other) = (disk.process(), on(&disk));
    let held = io.try_lock(&directory().join("maintain.lock")).unwrap();
    assert!(other.maintain(u64::MAX).unwrap().busy);
    drop(held);
    assert!(!other.maintain(u64::MAX).unwrap().busy);
}

#[test]
fn removal_record_is_kept_while_older_records_exist() {
    let disk = FaultDisk::default();
    let io = disk.process();
    let mut old = open(&io, options());
    old.put(&name(1), 0, b"removed by another").unwrap();
    old.put(&name(2), 0, b"stays").unwrap();
    for launch in 0..5 {
        let mut store = on(&disk);
        store.remove(&name(1)).unwrap();
        store.put(&name(10 + launch), 0, b"x").unwrap();
        store.seal().unwrap();
    }
    // The segment with the old value cannot be merged, because its writer lives.
    on(&disk).maintain(u64::MAX).unwrap();
    assert!(!on(&disk).contains(&name(1)));
    io.kill();
    for _ in 0..3 {
        on(&disk).maintain(u64::MAX).unwrap();
        assert!(!on(&disk).contains(&name(1)));
    }
    assert_eq!(on(&disk).statistics().values, 6);
}

#[test]
fn emptied_directory_is_usable_again() {
    let disk = populated(3, 30);
    let mut store = on(&disk);
    store.put(&name(5), 0, b"x").unwrap();
    let io = disk.process();
    disk.files().iter().for_each(|path| io.remove(path).unwrap());
    store.refresh().unwrap();
    assert_eq!(store.statistics().values, 0);
    store.put(&name(6), 0, b"y").unwrap();
    assert!(on(&disk).contains(&name(6)));
}

#[test]
fn segment_with_a_reused_name_is_read_again() {
    use super::super::format::{Form, HEADS, Header, encode_heads, hash};
    let disk = populated(3, 30);
    let (mut reader, mut merger) = (on(&disk), on(&disk));
    let path = &with_extension(&disk, "seg")[0];
    let id = u64::from_str_radix(path.file_stem().unwrap().to_str().unwrap(), 16).unwrap();
    let header = Header {
        kind: 1,
        form: Form::Plain,
        stored: 16,
        raw: 16,
        build_us: 0,
        stamp: now() << 32,
        environment: 7,
        key: name(9).key,
        payload_hash: hash(&[9; 16]),
    };
    let segment =
        [&encode_heads(id, 999, FORMAT)[..], &header.encode(&plain_checks(), 999, HEADS as u64), &[9; 16]].concat();
    // The snapshot still belongs to the other segment, and is valid.
    disk.write(path, &segment);
    for store in [&mut reader, &mut on(&disk)] {
        assert_eq!(get(store, &name(1)), None);
        assert_eq!(get(store, &name(9)), Some(vec![9; 16]));
        assert_eq!(store.statistics().values, 1);
    }
    // A merge that detects the replacement midway leaves the segments alone and reports `Busy`.
    for number in 10..15 {
        let mut store = on(&disk);
        store.put(&name(number), 0, &value(number, 50)).unwrap();
        store.seal().unwrap();
    }
    assert_eq!(merger.maintain(u64::MAX).unwrap_err().code(), Code::Busy);
    assert_eq!(merger.maintain(u64::MAX).unwrap().unlinked, 6);
    for store in [&mut merger, &mut on(&disk)] {
        assert_eq!((get(store, &name(9)), store.statistics().values), (Some(vec![9; 16]), 6));
    }
}

/// Random calls of several processes. Each value contains its name.
#[test]
fn concurrent_processes_never_get_a_wrong_value() {
    for seed in 0..60 {
        let mut random = Random(seed);
        let disk = FaultDisk::default();
        let small = Options { segment_limit: 1000, ..options() };
        let mut stores: Vec<_> = (0..4).map(|_| (disk.process(), None::<Store>)).collect();
        for step in 0..400_u64 {
            let which = random.below(4) as usize;
            let (io, slot) = &mut stores[which];
            let store = slot.get_or_insert_with(|| open(io, small));
            let number = random.below(20);
            match random.below(20) {
                0..8 => {
                    let mut bytes = random.bytes(100);
                    bytes[..8].copy_from_slice(&number.to_le_bytes());
                    bytes[8..16].copy_from_slice(&step.to_le_bytes());
                    assert!(store.put(&name(number), 1, &bytes).unwrap());
                    assert_eq!(get(store, &name(number)), Some(bytes), "seed {seed}");
                }
                8..15 => {
                    if let Some(bytes) = get(store, &name(number)) {
                        assert_eq!(bytes[..8], number.to_le_bytes(), "seed {seed}");
                    }
                }
                15 => drop(store.maintain(2000).unwrap()),
                16 => store.seal().unwrap(),
                17 => drop(store.remove(&name(number)).unwrap()),
                18 => store.refresh().unwrap(),
                _ => {
                    io.kill();
                    (*io, *slot) = (disk.process(), None);
                }
            }
            assert_eq!(stores[which].1.as_ref().map_or(0, |store| store.statistics().damaged), 0, "seed {seed}");
        }
        // In the end, all processes agree.
        let values = |store: &mut Store| (0..20).map(|number| get(store, &name(number))).collect::<Vec<_>>();
        let expected = values(&mut on(&disk));
        for store in stores.iter_mut().filter_map(|(_, store)| store.as_mut()) {
            store.refresh().unwrap();
            assert_eq!(values(store), expected, "seed {seed}");
        }
    }
}

/// A merge that fails for lack of space deletes its copies again. Another process may have read them meanwhile.
#[test]
fn values_survive_a_merge_that_was_given_up() {
    const COUNT: u64 = 40;
    for calls in 1..60 {
        let disk = populated(COUNT, 100);
        let mut writing = on(&disk);
        (0..COUNT / 2).for_each(|number| assert!(writing.put(&name(number), 5, &value(number, 50)).unwrap()));
        writing.seal().unwrap();
        drop(writing);
        let sources = with_extension(&disk, "seg");
        let io = disk.process();
        let mut merging = open(&io, options());
        io.plan(|plan| plan.calls_to_live = Some(calls));
        let _ = merging.maintain(u64::MAX);
        io.kill();
        let is_there = |path: &PathBuf| disk.read(path).is_some_and(|bytes| !bytes.is_empty());
        if !sources.iter().all(is_there) {
            assert!(calls > 3, "copies are made first");
            break;
        }
        let mut reading = on(&disk);
        let copies: Vec<_> = with_extension(&disk, "seg").into_iter().filter(|path| !sources.contains(path)).collect();
        for path in copies {
            disk.process().remove(&path).unwrap();
        }
        reading.refresh().unwrap();
        let is_kept = |store: &mut Store| {
            for number in 0..COUNT {
                let length = if number < COUNT / 2 { 50 } else { 100 };
                assert_eq!(get(store, &name(number)), Some(value(number, length)), "{number} after {calls} calls");
            }
        };
        is_kept(&mut reading);
        while reading.maintain(u64::MAX).unwrap().more {}
        is_kept(&mut reading);
        is_kept(&mut on(&disk));
    }
}

/// A process may have claimed an id before others began segments with greater ids.
#[test]
fn copies_are_kept_although_an_id_was_claimed_before_their_sources() {
    let disk = FaultDisk::default();
    let mut first = open(&disk.process(), Options { limit_bytes: 256 << 10, ..options() });
    first.claim = Some(first.claim().unwrap());
    wait(10);
    let mut other = on(&disk);
    (0..40).for_each(|number| assert!(other.put(&name(number), 5, &value(number, 100)).unwrap()));
    (0..30).for_each(|number| assert!(other.put(&name(number), 5, &value(number, 50)).unwrap()));
    other.seal().unwrap();
    drop(other);
    for _ in 0..2 {
        first.refresh().unwrap();
        let last = first.segments.last().unwrap().id;
        assert!(first.maintain(u64::MAX).unwrap().copied_bytes > 0);
        let copy = |number| &first.index.entries[first.index.live(&name(number)).unwrap()];
        assert!((30..40).all(|number| copy(number).segment > last));
        (30..40).for_each(|number| assert_eq!(get(&mut first, &name(number)), Some(value(number, 100))));
        // Most of the copies are replaced, so that they are copied again.
        (0..30).for_each(|number| assert!(first.put(&name(number), 5, &value(number, 50)).unwrap()));
        first.seal().unwrap();
    }
    (30..40).for_each(|number| assert_eq!(get(&mut on(&disk), &name(number)), Some(value(number, 100))));
}

/// Each reading of the directory meets a segment that was deleted since it was listed. A store reads on, as long as that
/// comes to an end.
#[test]
fn directory_is_read_while_others_delete_many_segments() {
    let disk = FaultDisk::default();
    let mut writers: Vec<_> = (0..120).map(|_| on(&disk)).collect();
    for (number, writer) in (0..).zip(&mut writers) {
        writer.put(&name(number), 5, &value(number, 50)).unwrap();
    }
    let io = disk.process();
    io.plan(|plan| plan.listings_to_delete = 100);
    let mut store = open(&io, options());
    assert_eq!((0..120).filter(|&number| get(&mut store, &name(number)).is_some()).count(), 20);
}

/// A writer puts a value and ends, between the clear's look at the directory and its deletion of segments.
#[test]
fn clear_of_another_environment_keeps_the_last_value_of_a_writer() {
    let disk = FaultDisk::default();
    let (last, mine) = (Name { environment: 3, ..name(0) }, Name { environment: 7, ..name(1) });
    let mut writer = on(&disk);
    writer.put(&last, 5, b"first").unwrap();
    writer.remove(&last).unwrap();
    let mut clearer = on(&disk);
    clearer.put(&mine, 5, b"mine").unwrap();
    clearer.mark_cleared(Some(7)).unwrap();
    writer.put(&last, 5, b"last").unwrap();
    drop(writer);
    while !clearer.drop_cleared(Some(7), true).unwrap() {}
    let mut reader = on(&disk);
    assert_eq!((get(&mut reader, &last), get(&mut reader, &mine)), (Some(b"last".to_vec()), None));
}
