//! Packs of snapshots: they make opening fast, and losing, damaging or forging one loses and changes no value.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::super::fault_io::FaultDisk;
use super::super::format::Secret;
use super::super::io::Io;
use super::super::packs::{LONGEST, MANY};
use super::super::snapshot::{Contents, IndexSnapshot, Parts, RecordInfo, encode};
use super::super::{Options, Store};
use super::*;
use crate::testing::allocator::peak_bytes;

/// Launches after which the last one packs.
const LAUNCHES: u64 = MANY as u64;
/// Values of a launch.
const EACH: u64 = 2;
/// Bytes of a value.
const LENGTH: usize = 300;
/// The id of a pack that a test writes.
const PACK: &str = "0000000000000abc.pack";

/// Put all snapshots into one pack.
pub fn pack(disk: &FaultDisk) {
    let paths = with_extension(disk, "idx");
    let all: Vec<u8> = paths.iter().flat_map(|path| disk.read(path).unwrap()).collect();
    paths.iter().for_each(|path| disk.process().remove(path).unwrap());
    disk.write(&directory().join(PACK), &all);
}

/// A launch that puts values and seals them.
fn launch(io: &FaultIo, number: u64, options: Options) {
    let mut store = open(io, options);
    for name in (number * EACH..).take(EACH as usize) {
        assert!(store.put(&super::name(name), 5, &value(name, LENGTH)).unwrap());
    }
    store.seal().unwrap();
}

fn after_launches(launches: u64, options: Options) -> FaultDisk {
    let disk = FaultDisk::default();
    (0..launches).for_each(|number| launch(&disk.process(), number, options));
    disk
}

fn counts(disk: &FaultDisk) -> [usize; 5] {
    ["seg", "idx", "pack", "live", "new"].map(|extension| with_extension(disk, extension).len())
}

/// Snapshots in all packs.
fn packed(disk: &FaultDisk) -> usize {
    with_extension(disk, "pack").iter().map(|path| Parts(&disk.read(path).unwrap()).count()).sum()
}

/// Whether a store has exactly the values of these launches.
fn has_all(store: &mut Store, launches: u64, what: &str) {
    assert_eq!(store.statistics().values, launches * EACH, "{what}");
    for number in 0..launches * EACH {
        assert_eq!(get(store, &name(number)), Some(value(number, LENGTH)), "{what}: {number}");
    }
}

fn is_right(disk: &FaultDisk, launches: u64, what: &str) {
    has_all(&mut on(disk), launches, what);
}

/// Maintenance without merging, which would make the packs superfluous: each segment is long beside its limit.
fn maintain_without_merging(disk: &FaultDisk) {
    let mut store = open(&disk.process(), Options { segment_limit: 300, ..options() });
    while store.maintain(u64::MAX).unwrap().more {}
}

fn only_pack(disk: &FaultDisk) -> (PathBuf, Vec<u8>) {
    let [path] = with_extension(disk, "pack").try_into().unwrap();
    let bytes = disk.read(&path).unwrap();
    (path, bytes)
}

#[test]
fn short_snapshots_of_many_segments_are_packed() {
    let many = MANY;
    let disk = after_launches(LAUNCHES - 1, options());
    assert_eq!(counts(&disk), [many - 1, many - 1, 0, 0, 0]);
    let mut reader = on(&disk);
    launch(&disk.process(), LAUNCHES - 1, options());
    assert_eq!(counts(&disk), [many, 0, 1, 0, 0]);
    reader.refresh().unwrap();
    has_all(&mut reader, LAUNCHES, "a reader from before");
    let before = disk.counts();
    is_right(&disk, LAUNCHES, "packed");
    assert_eq!(disk.counts().opened - before.opened, LAUNCHES + 1, "the pack, and the segments to read their values");
    for number in LAUNCHES..3 * LAUNCHES - 1 {
        launch(&disk.process(), number, options());
    }
    assert_eq!(counts(&disk), [3 * many - 1, many - 1, 2, 0, 0], "a snapshot is packed once");
    maintain_without_merging(&disk);
    assert_eq!(counts(&disk), [3 * many - 1, many - 1, 2, 0, 0]);
}

#[test]
fn maintenance_packs_segments_of_dead_writers() {
    let disk = FaultDisk::default();
    for number in 0..LAUNCHES {
        let io = disk.process();
        let mut store = open(&io, Options { segment_limit: 300, ..options() });
        (number * EACH..).take(EACH as usize).for_each(|name| {
            assert!(store.put(&super::name(name), 5, &value(name, LENGTH)).unwrap());
        });
        io.kill();
    }
    assert_eq!(counts(&disk)[..3], [2 * MANY, 0, 0][..]);
    maintain_without_merging(&disk);
    assert_eq!(counts(&disk), [2 * MANY, 0, 2, 0, 0]);
    is_right(&disk, LAUNCHES, "packed");
}

#[test]
fn long_snapshots_keep_their_files() {
    let disk = FaultDisk::default();
    for number in 0..LAUNCHES {
        let mut store = on(&disk);
        (0..300).for_each(|name| assert!(store.put(&super::name(number * 300 + name), 5, b"x").unwrap()));
        store.seal().unwrap();
    }
    assert_eq!(counts(&disk), [MANY, MANY, 0, 0, 0]);
}

#[test]
fn merging_deletes_the_packs_of_its_segments() {
    let disk = after_launches(2 * LAUNCHES, options());
    assert_eq!(counts(&disk)[2], 2);
    let mut reader = on(&disk);
    on(&disk).maintain(u64::MAX).unwrap();
    assert_eq!(counts(&disk), [1, 1, 0, 0, 0]);
    has_all(&mut reader, 2 * LAUNCHES, "a reader from before");
    is_right(&disk, 2 * LAUNCHES, "merged");
}

/// Deletes the segments of two launches and keeps the others.
fn delete_two(io: &FaultIo) -> crate::base::Result<()> {
    let mut store = Store::open(shared(io.clone()), &directory(), Options { segment_limit: 300, ..options() })?;
    for number in 0..2 * EACH {
        store.remove(&name(number))?;
    }
    store.maintain(u64::MAX).map(drop)
}

#[test]
fn deleted_segments_leave_their_pack_before() {
    let disk = after_launches(LAUNCHES, options());
    let (path, before) = only_pack(&disk);
    let mut reader = on(&disk);
    delete_two(&disk.process()).unwrap();
    let after = disk.read(&path).unwrap();
    assert!(before.ends_with(&after) && Parts(&after).count() == MANY - 2, "the others are as they were");
    for store in [&mut reader, &mut on(&disk)] {
        let found = (0..LAUNCHES * EACH).filter(|&number| get(store, &name(number)).is_some());
        assert!(found.eq(2 * EACH..LAUNCHES * EACH));
    }
}

#[test]
fn kill_at_any_moment_of_packing_loses_nothing() {
    let base = after_launches(LAUNCHES - 1, options());
    let mut is_killed = true;
    for calls in 0.. {
        for has_power in [true, false] {
            let disk = base.duplicate();
            let io = disk.process();
            let mut store = open(&io, options());
            for name in ((LAUNCHES - 1) * EACH..).take(EACH as usize) {
                assert!(store.put(&super::name(name), 5, &value(name, LENGTH)).unwrap());
            }
            store.sync().unwrap();
            io.plan(|plan| plan.calls_to_live = Some(calls));
            let _ = store.seal();
            is_killed = io.is_dead();
            io.kill();
            let what = format!("killed at call {calls}, power {has_power}");
            if !has_power {
                let mut random = Random(calls);
                disk.lose_power(|| random.next());
            }
            is_right(&disk, LAUNCHES, &what);
            maintain_without_merging(&disk);
            is_right(&disk, LAUNCHES, &what);
            let [segments, files, packs, live, fresh] = counts(&disk);
            assert_eq!((segments, live, fresh), (MANY, 0, 0), "{what}");
            let packed = packed(&disk);
            assert_eq!((packed + files, packs), (MANY, usize::from(packed > 0)), "{what}");
        }
        if !is_killed {
            assert!(calls > 20, "{calls}");
            break;
        }
    }
}

#[test]
fn kill_at_any_moment_of_deleting_brings_no_value_back() {
    let base = after_launches(LAUNCHES, options());
    for calls in 0.. {
        let mut is_killed = true;
        for has_power in [true, false] {
            let disk = base.duplicate();
            let io = disk.process();
            io.plan(|plan| plan.calls_to_live = Some(calls));
            let done = delete_two(&io);
            is_killed &= io.is_dead();
            io.kill();
            if !has_power {
                let mut random = Random(calls);
                disk.lose_power(|| random.next());
            }
            for round in 0..3 {
                let mut store = on(&disk);
                let all = (0..LAUNCHES * EACH).map(|number| (number, get(&mut store, &name(number))));
                let is_there = |(number, found): (u64, Option<Vec<u8>>)| {
                    assert!(found.as_ref().is_none_or(|found| *found == value(number, LENGTH)));
                    found.map(|_| number)
                };
                let there: Vec<u64> = all.filter_map(is_there).collect();
                let what = format!("call {calls}, power {has_power}, round {round}: {there:?}");
                assert!(there.ends_with(&(2 * EACH..LAUNCHES * EACH).collect::<Vec<_>>()), "{what}");
                assert!(done.is_err() || there.len() as u64 == (LAUNCHES - 2) * EACH, "{what}");
                assert_eq!(store.statistics().values, there.len() as u64, "{what}");
                maintain_without_merging(&disk);
            }
            assert_eq!(counts(&disk)[4], 0);
        }
        if !is_killed {
            assert!(calls > 20, "{calls}");
            break;
        }
    }
}

#[test]
fn damaged_pack_costs_scans_alone_and_is_replaced() {
    let base = after_launches(LAUNCHES, options());
    let (path, whole) = only_pack(&base);
    let (mut random, mut found) = (Random(3), 0);
    for trial in 0..600 {
        let disk = base.duplicate();
        let mut bytes = whole.clone();
        let at = random.below(bytes.len() as u64) as usize;
        match trial % 5 {
            0 => bytes.truncate(at),
            1 => bytes[at..].fill(0),
            2 => drop(bytes.drain(at..(at + 1 + random.below(300) as usize).min(whole.len()))),
            3 => bytes.splice(at..at, random.bytes(16)).for_each(drop),
            _ => bytes[at] ^= 1 << random.below(8),
        }
        disk.write(&path, &bytes);
        let what = format!("{trial} at {at}");
        let mut store = on(&disk);
        has_all(&mut store, LAUNCHES, &what);
        found += u64::from(store.statistics().damaged > 0);
        for _ in 0..2 {
            maintain_without_merging(&disk);
            is_right(&disk, LAUNCHES, &what);
        }
        assert!(packed(&disk) + counts(&disk)[1] >= MANY, "{what}: {:?}", counts(&disk));
    }
    // Not seen: the end is cut off between two snapshots, or the id of a segment is not one of the directory.
    assert!(found > 500, "{found}");
}

#[test]
fn snapshots_with_invalid_contents_give_no_wrong_value() {
    let base = after_launches(LAUNCHES, options());
    let (path, whole) = only_pack(&base);
    let changes: [fn(&mut RecordInfo); 6] = [
        |row| row.unit = u32::MAX,
        |row| row.unit += 1,
        |row| row.stored = u32::MAX,
        |row| row.stored += 16,
        |row| row.key[0] ^= 1,
        |row| row.stamp = u64::MAX,
    ];
    for (number, change) in changes.into_iter().enumerate() {
        let disk = base.duplicate();
        let mut forged = Vec::new();
        for (id, part) in Parts(&whole) {
            let part = IndexSnapshot::decode(part, id, u64::MAX, &plain_checks()).unwrap();
            let mut rows: Vec<_> = part.rows().collect();
            rows.iter_mut().for_each(change);
            let contents = Contents { rows, uses: part.uses().collect() };
            forged.extend(encode(id, part.seed, part.length, &contents, &plain_checks()).unwrap());
        }
        disk.write(&path, &forged);
        for _ in 0..2 {
            let mut store = on(&disk);
            for number in 0..LAUNCHES * EACH {
                let found = get(&mut store, &name(number));
                assert!(found.is_none() || found == Some(value(number, LENGTH)), "{number}");
            }
            assert!(store.put(&name(1000), 1, b"new").unwrap());
            assert_eq!(get(&mut store, &name(1000)).as_deref(), Some(&b"new"[..]), "{number}");
            maintain_without_merging(&disk);
        }
    }
}

#[test]
fn snapshot_of_another_file_in_a_pack_is_ignored() {
    let disk = after_launches(LAUNCHES, options());
    let (path, whole) = only_pack(&disk);
    // Each part twice, in another order, and with the seed of another segment.
    let parts: Vec<_> = Parts(&whole).collect();
    let mut others = Vec::new();
    for &(id, part) in parts.iter().rev().chain(&parts) {
        let part = IndexSnapshot::decode(part, id, u64::MAX, &plain_checks()).unwrap();
        let contents = Contents { rows: part.rows().collect(), uses: Vec::new() };
        others.extend(encode(id, part.seed ^ 1, part.length, &contents, &plain_checks()).unwrap());
    }
    disk.write(&path, &others);
    for _ in 0..2 {
        is_right(&disk, LAUNCHES, "seeds of others");
        maintain_without_merging(&disk);
    }
}

#[test]
fn greatest_claims_of_a_pack_take_no_memory() {
    let base = after_launches(LAUNCHES, options());
    let (path, whole) = only_pack(&base);
    for (at, bytes) in [(12, [255; 4]), (16, [255; 4]), (12, [0, 0, 0, 1]), (16, [0, 0, 1, 0])] {
        let disk = base.duplicate();
        let mut claims = whole.clone();
        claims[at..at + 4].copy_from_slice(&bytes);
        disk.write(&path, &claims);
        let io = disk.process();
        let (_, peak) = peak_bytes(|| has_all(&mut open(&io, options()), LAUNCHES, "a great claim"));
        assert!(peak < 3 << 20, "{peak}");
    }
    // A file that is longer than a pack can be is not read.
    let disk = base.duplicate();
    disk.write(&path, &whole.repeat(LONGEST as usize / whole.len() + 1));
    let before = disk.counts().bytes_read;
    is_right(&disk, LAUNCHES, "too long");
    assert!(disk.counts().bytes_read - before < LONGEST / 2);
    maintain_without_merging(&disk);
    assert!(disk.read(&path).is_none_or(|bytes| bytes.len() <= whole.len()));
    is_right(&disk, LAUNCHES, "replaced");
}

#[test]
fn pack_of_another_secret_is_ignored_and_kept() {
    let keyed = |number| Options { secret: Some(Secret([number; 32])), ..options() };
    let disk = after_launches(LAUNCHES, keyed(1));
    let (path, theirs) = only_pack(&disk);
    for options in [options(), keyed(2)] {
        let mut store = open(&disk.process(), options);
        assert_eq!(store.statistics().values, 0);
        assert!(store.put(&name(1), 5, b"other").unwrap());
        store.maintain(u64::MAX).unwrap();
        assert_eq!((disk.read(&path).as_ref(), store.statistics().damaged), (Some(&theirs), 0));
        store.clear(None).unwrap();
    }
    has_all(&mut open(&disk.process(), keyed(1)), LAUNCHES, "with its secret");
    // Right checksums without the secret make no valid pack.
    let forged: Vec<u8> = Parts(&theirs)
        .flat_map(|(id, part)| {
            let part =
                IndexSnapshot::decode(part, id, u64::MAX, &super::super::format::Checks::new(keyed(1).secret)).unwrap();
            let rows = part.rows().map(|row| RecordInfo { stamp: row.stamp + 1, ..row }).collect();
            encode(id, part.seed, part.length, &Contents { rows, uses: Vec::new() }, &plain_checks()).unwrap()
        })
        .collect();
    disk.write(&path, &forged);
    has_all(&mut open(&disk.process(), keyed(1)), LAUNCHES, "forged");
}

#[test]
fn clear_all_deletes_packs() {
    let keyed = Options { secret: Some(Secret([1; 32])), ..options() };
    let disk = after_launches(LAUNCHES, keyed);
    (0..LAUNCHES).for_each(|number| launch(&disk.process(), number, options()));
    disk.write(&directory().join("00000000000000aa.pack.new"), b"half");
    assert_eq!(counts(&disk)[2], 2);
    while on(&disk).clear_all().unwrap().more {}
    assert_eq!(counts(&disk), [0; 5]);
    disk.write(&directory().join(PACK), b"alone");
    on(&disk).clear_all().unwrap();
    assert_eq!(counts(&disk), [0; 5]);
}

/// A library that does not know packs reads the segments, and writes and deletes as it likes. The pack is then out of
/// date.
#[test]
fn pack_that_is_out_of_date_changes_nothing() {
    for merges in [false, true] {
        let disk = after_launches(LAUNCHES, options());
        let (path, bytes) = only_pack(&disk);
        // That library sees no pack.
        disk.process().remove(&path).unwrap();
        is_right(&disk, LAUNCHES, "without the pack");
        let mut store =
            open(&disk.process(), Options { segment_limit: if merges { 1 << 20 } else { 300 }, ..options() });
        (0..EACH).for_each(|number| assert!(store.remove(&name(number)).unwrap()));
        assert!(store.put(&name(EACH), 5, b"newer").unwrap());
        while store.maintain(u64::MAX).unwrap().more {}
        drop(store);
        with_extension(&disk, "pack").iter().for_each(|path| disk.process().remove(path).unwrap());
        disk.write(&path, &bytes);
        for round in 0..3 {
            let mut store = on(&disk);
            assert_eq!(get(&mut store, &name(EACH)).as_deref(), Some(&b"newer"[..]), "{merges}, {round}");
            for number in 0..LAUNCHES * EACH {
                let found = get(&mut store, &name(number));
                let expected =
                    (number > EACH).then(|| value(number, LENGTH)).or((number == EACH).then(|| b"newer".to_vec()));
                assert_eq!(found, expected, "{merges}, {round}: {number}");
            }
            maintain_without_merging(&disk);
        }
        assert_eq!(disk.read(&path).is_none(), merges, "a pack without segments is deleted");
    }
}

#[test]
fn packs_count_for_the_limit() {
    for (limit, length) in [(256 << 10, 8), (256 << 10, 900), (1 << 20, 8), (1 << 20, 3000)] {
        let disk = FaultDisk::default();
        let options = Options { limit_bytes: limit, environment: Some(7), ..options() };
        let (mut store, mut packed) = (open(&disk.process(), options), 0);
        for number in 0..4 * limit / 4096 {
            assert!(store.put(&name(number), 5, &value(number, length)).unwrap());
            assert!(store.put(&name(number / 2), 5, &value(number, length)).unwrap());
            store.seal().unwrap();
            packed = packed.max(counts(&disk)[2]);
            let (used, most) = (disk.used(), disk.most_used());
            assert!(used <= limit && most * 4 <= limit * 5, "{number}: {used}, at most {most}, of {limit}");
            if number % 37 == 0 {
                store = open(&disk.process(), options);
            }
        }
        assert!(packed > 0, "{limit}, {length}");
        let mut again = open(&disk.process(), options);
        let all = again.statistics();
        let names = again.names_in_place(7).unwrap();
        assert!(names.iter().all(|name| get(&mut again, name).is_some()), "{all:?}");
    }
}

/// Packs of older libraries and of killed processes take no room from values.
#[test]
fn leftover_packs_make_way_for_values() {
    let limit = Options::LEAST_LIMIT;
    for (what, quota) in [(PACK, None), ("0000000000000abc.pack.new", None), (PACK, Some(limit))] {
        let disk = FaultDisk::default();
        let old = after_launches(LAUNCHES, options());
        let (_, bytes) = only_pack(&old);
        disk.write(&directory().join(what), &bytes.repeat(200_000 / bytes.len()));
        disk.set_quota(quota);
        let mut store = open(&disk.process(), Options { limit_bytes: limit, ..options() });
        for number in 0..150 {
            assert!(store.put(&name(number), 5, &value(number, 1000)).unwrap());
            assert!(disk.used() <= limit);
        }
        assert!((0..150).all(|number| get(&mut store, &name(number)) == Some(value(number, 1000))), "{what}");
        assert_eq!(counts(&disk)[2] + counts(&disk)[4], 0);
    }
}

#[test]
fn full_disk_skips_packing() {
    let base = after_launches(LAUNCHES - 1, options());
    let used = base.used();
    for blocks in 0..8 {
        let disk = base.duplicate();
        let mut store = on(&disk);
        for name in ((LAUNCHES - 1) * EACH..).take(EACH as usize) {
            assert!(store.put(&super::name(name), 5, &value(name, LENGTH)).unwrap());
        }
        // The segment has its block.
        disk.set_quota(Some(used + 4096 * (1 + blocks)));
        store.seal().unwrap();
        assert_eq!(store.trouble(), None);
        has_all(&mut store, LAUNCHES, "full");
        is_right(&disk, LAUNCHES, "full");
        assert_eq!(counts(&disk)[4], 0);
        assert_eq!(counts(&disk)[2] == 1, blocks > 1, "{blocks}: {:?}", counts(&disk));
        // Everything works on when there is space.
        disk.set_quota(None);
        maintain_without_merging(&disk);
        is_right(&disk, LAUNCHES, "with space");
    }
}

#[test]
fn full_disk_deletes_segments_and_packs() {
    let disk = after_launches(4 * LAUNCHES, options());
    assert_eq!(counts(&disk)[2], 4);
    disk.set_quota(Some(disk.used()));
    let mut store = on(&disk);
    for number in 1000..1040 {
        assert!(store.put(&name(number), 5, &value(number, 4000)).unwrap());
        assert_eq!(get(&mut store, &name(number)), Some(value(number, 4000)));
    }
    let evicted = evicted();
    for store in [&mut store, &mut on(&disk)] {
        for number in 0..4 * LAUNCHES * EACH {
            let expected = (!evicted.contains(&name(number))).then(|| value(number, LENGTH));
            assert_eq!(get(store, &name(number)), expected, "{number}");
        }
    }
}

#[test]
fn processes_that_pack_at_once_lose_nothing() {
    let disk = after_launches(LAUNCHES - 1, options());
    let ready = AtomicU64::new(0);
    const PROCESSES: u64 = 4;
    std::thread::scope(|scope| {
        for process in 0..PROCESSES {
            let (io, ready) = (disk.process(), &ready);
            scope.spawn(move || {
                let mut store = open(&io, options());
                ready.fetch_add(1, Relaxed);
                while ready.load(Relaxed) < PROCESSES {
                    std::hint::spin_loop();
                }
                for number in 0..40 {
                    let number = 1000 * (process + 1) + number;
                    assert!(store.put(&name(number), 5, &value(number, LENGTH)).unwrap());
                    store.seal().unwrap();
                }
            });
        }
    });
    let mut store = on(&disk);
    let old = (0..(LAUNCHES - 1) * EACH)
        .chain((1..=PROCESSES).flat_map(|process| (0..40).map(move |at| 1000 * process + at)));
    for number in old {
        assert_eq!(get(&mut store, &name(number)), Some(value(number, LENGTH)), "{number}");
    }
    assert_eq!(store.statistics().damaged, 0);
    assert!(counts(&disk)[2] > 3, "{:?}", counts(&disk));
    maintain_without_merging(&disk);
    let [segments, files, _, live, fresh] = counts(&disk);
    assert_eq!((packed(&disk) + files, live, fresh), (segments, 0, 0), "each snapshot is there once");
}

/// A pack is deleted when there is no room to write it again, and its segments stay.
#[test]
fn segments_of_a_deleted_pack_get_snapshots_again() {
    let disk = after_launches(LAUNCHES, options());
    let mut store = open(&disk.process(), Options { segment_limit: 300, ..options() });
    let (path, _) = only_pack(&disk);
    disk.process().remove(&path).unwrap();
    while store.maintain(u64::MAX).unwrap().more {}
    has_all(&mut store, LAUNCHES, "afterwards");
    let [segments, snapshots, ..] = counts(&disk);
    assert_eq!((snapshots + packed(&disk), segments), (segments, LAUNCHES as usize));
}
