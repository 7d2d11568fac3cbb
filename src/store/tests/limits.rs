//! Bytes on the disk: limits of environments and of the directory, and full disks.

use super::super::fault_io::FaultDisk;
use super::super::io::Io;
use super::super::{Options, Store};
use super::packs::pack;
use super::*;

const LIMIT: u64 = 1 << 20;

fn limited() -> Options {
    Options { limit_bytes: LIMIT, environment: Some(7), ..options() }
}

/// Whether the disk is below the limit now, and was below 1.25 times the limit before.
fn assert_within(disk: &FaultDisk, limit: u64, what: &str) {
    assert!(disk.used() <= limit, "{what}: {} at rest, of {limit}", disk.used());
    assert!(disk.most_used() * 4 <= limit * 5, "{what}: {} at most, of {limit}", disk.most_used());
}

#[test]
fn least_worth_is_evicted_first() {
    let disk = FaultDisk::default();
    let mut store = open(&disk.process(), limited());
    for number in 0..1500 {
        let build_us = if number % 2 == 0 { 100_000 } else { 10 };
        store.put(&name(number), build_us, &value(number, 1024)).unwrap();
    }
    store.seal().unwrap();
    assert_within(&disk, LIMIT, "1500 values");
    let evicted = evicted();
    assert_eq!(evicted.len(), 1500 - on(&disk).statistics().values as usize);
    let costly = evicted.iter().filter(|name| name.key[24] % 2 == 0).count();
    assert!((600..900).contains(&evicted.len()) && costly * 4 < evicted.len(), "{costly} of {}", evicted.len());
    assert!(evicted.iter().all(|name| !store.contains(name)));
    assert_eq!(store.statistics().evicted, evicted.len() as u64);
}

#[test]
fn used_values_outlive_unused_values() {
    let disk = FaultDisk::default();
    let mut store = open(&disk.process(), limited());
    (0..500).for_each(|number| _ = store.put(&name(number), 50, &value(number, 1024)).unwrap());
    wait(10_000);
    let used: Vec<_> = (0..500).step_by(25).map(name).collect();
    store.touch(&used).unwrap();
    (500..1500).for_each(|number| _ = store.put(&name(number), 50, &value(number, 1024)).unwrap());
    let evicted = evicted();
    assert!(evicted.len() > 500 && used.iter().all(|name| store.contains(name)));
}

/// Values of any size, replaced and removed, in one store and after launches that were killed or sealed.
#[test]
fn files_never_exceed_the_limits() {
    for (limit, length) in [(256 << 10, 200), (256 << 10, 5000), (1 << 20, 20_000), (1 << 20, 4000), (2 << 20, 30_000)]
    {
        let disk = FaultDisk::default();
        let mut random = Random(limit + length);
        let options = Options { limit_bytes: limit, ..limited() };
        for launch in 0..5 {
            let io = disk.process();
            let mut store = open(&io, options);
            for _ in 0..limit / length {
                let number = random.below(2 * limit / length);
                let data = value(number, random.below(2 * length) as usize);
                assert!(store.put(&name(number), random.below(1000) as u32, &data).unwrap());
                if random.below(10) == 0 {
                    store.remove(&name(random.below(2 * limit / length))).unwrap();
                }
                if random.below(20) == 0 {
                    store.touch(&[name(number)]).unwrap();
                }
                assert!(disk.most_used() * 4 <= limit * 5, "{} of {limit}, {length}", disk.most_used());
            }
            match launch % 3 {
                0 => store.seal().unwrap(),
                1 => store.sync().unwrap(),
                _ => {}
            }
            assert_within(&disk, limit, &format!("launch {launch}, {length}"));
            io.kill();
            assert_eq!((store.statistics().damaged, store.trouble()), (0, None));
        }
        assert!(disk.used() > limit / 2, "{} of {limit}, {length}: limits are used", disk.used());
    }
}

/// Without maintenance, as without an executor.
#[test]
fn five_launches_of_get_put_and_close_stay_within_the_limit() {
    let disk = FaultDisk::default();
    for launch in 0..5 {
        let mut store = open(&disk.process(), limited());
        for number in 0..100 {
            assert_eq!(get(&mut store, &name(launch * 100 + number)), None);
            assert!(store.put(&name(launch * 100 + number), 10, &value(number, 20_480)).unwrap());
        }
        drop(store);
        assert_within(&disk, LIMIT, &format!("launch {launch}"));
    }
    assert!(on(&disk).statistics().values > 30);
}

#[test]
fn several_processes_share_the_limit() {
    for processes in [2, 4] {
        let disk = FaultDisk::default();
        let mut stores: Vec<_> = (0..processes).map(|_| open(&disk.process(), limited())).collect();
        let mut random = Random(processes);
        for number in 0..1000 {
            let store = &mut stores[random.below(processes) as usize];
            let data = value(number, 1000 + random.below(8000) as usize);
            assert!(store.put(&name(number), 10, &data).unwrap());
            // A reader has files open that others delete.
            let _ = get(store, &name(random.below(number + 1)));
        }
        stores.iter_mut().for_each(|store| store.seal().unwrap());
        assert_within(&disk, LIMIT, &format!("{processes} processes"));
    }
}

#[test]
fn larger_old_directory_opens_and_shrinks_at_the_first_write() {
    let disk = FaultDisk::default();
    let mut store = on(&disk);
    for number in 0..1000 {
        store.put(&name(number), if number < 100 { 100_000 } else { 10 }, &value(number, 5000)).unwrap();
    }
    drop(store);
    let mut store = open(&disk.process(), limited());
    assert_eq!((0..1000).filter(|&number| get(&mut store, &name(number)) == Some(value(number, 5000))).count(), 1000);
    store.put(&name(1000), 10, b"one more").unwrap();
    assert!(disk.used() <= LIMIT, "{}", disk.used());
    store.seal().unwrap();
    assert!(disk.used() <= LIMIT, "{}", disk.used());
    assert!((0..100).all(|number| store.contains(&name(number))), "the most valuable ones are kept");
}

#[test]
fn each_environment_keeps_the_limit_of_its_own_process() {
    let disk = FaultDisk::default();
    let fill = |environment: u64, limit_bytes: u64, count: u64| {
        let options = Options { limit_bytes, environment: Some(environment), ..options() };
        let mut store = open(&disk.process(), options);
        for number in 0..count {
            assert!(store.put(&named(environment, number), 10, &value(number, 5000)).unwrap());
        }
        store.maintain(u64::MAX).unwrap();
        store.seal().unwrap();
    };
    fill(1, 2 << 20, 300);
    let count = |environment| on(&disk).entries(environment).count();
    assert_eq!(count(1), 300);
    for _ in 0..3 {
        // Ten times as much as its own limit.
        fill(2, 256 << 10, 500);
        assert_eq!(count(1), 300, "the environment with the larger limit keeps its values");
        assert!((20..52).contains(&count(2)), "{}", count(2));
    }
    assert!(disk.used() <= (2 << 20) + (256 << 10), "{}", disk.used());
}

#[test]
fn directory_limit_removes_whole_unused_environments() {
    // Of the directory, and the environments with 150 values each that fit below it. 0: twice the largest limit.
    for (directory_limit, kept) in [(0, 2), (2 * LIMIT, 2), (4 * LIMIT, 5), (LIMIT, 1)] {
        let disk = FaultDisk::default();
        let fill = |environment: u64, count: u64| {
            let options = Options { limit_bytes: LIMIT, directory_limit, environment: Some(environment), ..options() };
            let mut store = open(&disk.process(), options);
            for number in 0..count {
                assert!(store.put(&named(environment, number), 10, &value(number, 5000)).unwrap());
            }
            store.seal().unwrap();
            let limit = if directory_limit == 0 { 2 * LIMIT } else { directory_limit };
            assert_within(&disk, limit, &format!("environment {environment}"));
        };
        for environment in 1..6 {
            fill(environment, 150);
            wait(100);
        }
        let count = |environment| on(&disk).entries(environment).count();
        // The last one is within its limit. The oldest ones are removed as a whole.
        let expected: Vec<_> = (1..6).map(|environment| if environment > 5 - kept { 150 } else { 0 }).collect();
        assert_eq!((1..6).map(count).collect::<Vec<_>>(), expected, "{directory_limit}");
        // The environment of the process that writes is never removed, however old its values are.
        let oldest = 6 - kept;
        fill(oldest, 1);
        assert!(count(oldest) >= 150 && count(5) >= 150, "{directory_limit}");
    }
}

#[test]
fn damaged_file_of_limits_is_replaced() {
    let disk = FaultDisk::default();
    let path = directory().join("limits");
    open(&disk.process(), limited()).put(&name(1), 1, b"x").unwrap();
    on(&disk).maintain(0).unwrap();
    let put = |environment| {
        let mut store = open(&disk.process(), Options { environment: Some(environment), ..limited() });
        store.put(&named(environment, 1), 1, b"x").unwrap();
        store.seal().unwrap();
    };
    put(1);
    let whole = disk.read(&path).unwrap();
    for damaged in [vec![], vec![7; 40], vec![0; 1 << 20], whole[..30].to_vec()] {
        disk.write(&path, &damaged);
        put(1);
        put(2);
        assert_eq!(disk.read(&path).unwrap()[..12], whole[..12]);
        put(1);
    }
}

/// Puts on a disk with a quota of a part of the limit.
#[test]
fn full_disk_frees_its_own_space() {
    for quota in [LIMIT * 2, LIMIT, LIMIT * 2 / 3, LIMIT / 2, LIMIT / 4, LIMIT / 16] {
        let disk = FaultDisk::default();
        disk.set_quota(Some(quota));
        for launch in 0..3 {
            let io = disk.process();
            let mut store = open(&io, limited());
            for number in 0..400 {
                let name = name(launch * 400 + number);
                let what = format!("quota {quota}, launch {launch}, {number}");
                assert!(store.put(&name, 10, &value(number, 5000)).expect(&what), "{what}");
                assert_eq!(get(&mut store, &name), Some(value(number, 5000)), "{what}");
            }
            store.sync().unwrap();
            assert_eq!(store.trouble(), None);
            // Every missing value was evicted.
            let evicted = evicted();
            let mut again = on(&disk);
            let lost = |number: &u64| get(&mut again, &name(launch * 400 + number)).is_none();
            let missing: Vec<_> = (0..400).filter(lost).collect();
            assert!(missing.iter().all(|number| evicted.contains(&name(launch * 400 + number))));
            let kept = 400 - missing.len() as u64;
            // A segment takes 32 KiB at least.
            assert!(
                kept > 0 && (quota < LIMIT / 4 || kept * 5000 > quota.min(LIMIT) / 4),
                "quota {quota}: {kept} kept"
            );
            if launch % 2 == 0 {
                io.kill();
            }
        }
    }
}

/// A directory that fills its disk, with no space left for a single block.
#[test]
fn start_on_a_full_disk_recovers() {
    for is_sealed in [false, true] {
        let disk = FaultDisk::default();
        let io = disk.process();
        let mut store = open(&io, Options { limit_bytes: 64 << 20, ..limited() });
        for number in 0..400 {
            store.put(&name(number), 10, &value(number, 5000)).unwrap();
        }
        if is_sealed {
            store.seal().unwrap();
        }
        io.kill();
        disk.set_quota(Some(disk.used()));
        for limit_bytes in [64 << 20, LIMIT] {
            let mut store = open(&disk.process(), Options { limit_bytes, ..limited() });
            let _ = store.maintain(u64::MAX);
            for number in 1000..1010 {
                assert!(store.put(&name(number), 10, &value(number, 5000)).unwrap());
            }
            assert!((1000..1010).all(|number| get(&mut store, &name(number)) == Some(value(number, 5000))));
        }
    }
}

/// With and without space for the mark; a quota of 0 is a disk that others fill at once.
#[test]
fn clear_of_an_environment_frees_a_full_disk() {
    for (is_sealed, quota) in [(true, None), (false, None), (true, Some(0)), (false, Some(0))] {
        let disk = FaultDisk::default();
        let large = Options { limit_bytes: 64 << 20, segment_limit: 100_000, ..limited() };
        let mut own = open(&disk.process(), large);
        (0..40).for_each(|number| assert!(own.put(&named(8, number), 9000, &value(number, 5000)).unwrap()));
        own.seal().unwrap();
        let others = disk.used();
        let mut own = open(&disk.process(), large);
        (0..400).for_each(|number| assert!(own.put(&named(7, number), 10, &value(number, 5000)).unwrap()));
        if is_sealed {
            own.seal().unwrap();
            own = open(&disk.process(), large);
        }
        disk.set_quota(Some(quota.unwrap_or(disk.used())));
        own.clear(Some(7)).unwrap();
        assert_eq!(own.entries(7).count(), 0);
        let used = disk.used();
        assert!(used < others + 40_000, "{used} bytes remain, {others} of them of another environment");
        let own_evicted = own.statistics().evicted;
        drop(own);
        let mut again = open(&disk.process(), large);
        assert_eq!(again.entries(7).count(), 0);
        let kept = (0..40).filter(|&number| get(&mut again, &named(8, number)).is_some()).count();
        assert_eq!((kept, own_evicted), (40, 0));
    }
}

/// Removed and replaced values stay so, however the disk fills up and whenever the process dies.
#[test]
fn full_disk_restores_no_removed_or_replaced_value() {
    let mut deaths = 0;
    for seed in 0..u64::from(crate::testing::scaled(3)) {
        let mut random = Random(seed);
        let disk = FaultDisk::default();
        disk.set_quota(Some([300 << 10, 600 << 10][random.below(2) as usize]));
        let small = Options { segment_limit: [5000, 20_000, 1 << 20][random.below(3) as usize], ..limited() };
        // The possible versions of each name, 0 if it was removed. A step that was cut off may have happened.
        let mut versions = vec![vec![0]; 150];
        let (mut io, mut store) = (disk.process(), None::<Store>);
        for version in 1..800 {
            let store_now = store.get_or_insert_with(|| open(&io, small));
            let number = random.below(150);
            let name = name(number);
            let is_removal = random.below(4) == 0;
            let length = 8 + random.below(9000) as usize;
            let mut data = random.bytes(length);
            data[..8].copy_from_slice(&u64::to_le_bytes(version));
            if random.below(40) == 0 {
                let calls = random.below(30);
                io.plan(|plan| plan.calls_to_live = Some(calls));
            }
            let done =
                if is_removal { store_now.remove(&name).map(drop) } else { store_now.put(&name, 1, &data).map(drop) };
            let after = if is_removal { 0 } else { version };
            let known = &mut versions[number as usize];
            known.push(after);
            if done.is_ok() {
                *known = vec![after];
            }
            if io.is_dead() {
                deaths += 1;
                (io, store) = (disk.process(), None);
            } else {
                done.unwrap();
            }
            if version % 40 == 0 || store.is_none() {
                let mut again = open(&disk.process(), small);
                for (number, known) in (0..).zip(&versions) {
                    let found = get(&mut again, &super::name(number));
                    let found = found.map_or(0, |data| u64::from_le_bytes(*data.first_chunk().unwrap()));
                    assert!(
                        found == 0 || known.contains(&found),
                        "seed {seed}, {version}: {number} has version {found}, not {known:?}"
                    );
                }
            }
            if random.below(30) == 0
                && let Some(store) = &mut store
            {
                let _ = store.seal();
            }
        }
    }
    assert!(deaths > 10, "{deaths}");
}

/// Another process reads a segment while this one deletes it.
#[test]
fn reader_finds_values_whose_segments_were_emptied() {
    let disk = FaultDisk::default();
    let mut reader = {
        let mut store = open(&disk.process(), limited());
        (0..100).for_each(|number| _ = store.put(&name(number), 1_000_000, &value(number, 5000)).unwrap());
        store.seal().unwrap();
        on(&disk)
    };
    assert!((0..100).all(|number| get(&mut reader, &name(number)).is_some()));
    let mut writer = open(&disk.process(), limited());
    (100..1000).for_each(|number| _ = writer.put(&name(number), 1, &value(number, 5000)).unwrap());
    assert!(evicted().iter().all(|name| u64::from_le_bytes(*name.key.last_chunk().unwrap()) >= 100));
    assert!((0..100).all(|number| get(&mut reader, &name(number)) == Some(value(number, 5000))));
    assert_eq!(reader.statistics().damaged, 0);
}

/// A maintenance copies a value and empties its segment, after a reader has listed the directory.
#[test]
fn reader_serves_no_older_value_when_a_segment_was_emptied() {
    let disk = FaultDisk::default();
    for data in [b"old", b"new"] {
        on(&disk).put(&name(0), 5, data).unwrap();
    }
    let newer = with_extension(&disk, "seg").pop().unwrap();
    let mut reader = Store::begin(shared(disk.process()), &directory(), options()).unwrap();
    assert!(!reader.load(1).unwrap(), "the second segment was not read yet");
    on(&disk).put(&name(0), 5, b"copy").unwrap();
    let _ = disk.process().remove(&newer.with_extension("idx"));
    disk.write(&newer, b"");
    while !reader.load(1).unwrap() {}
    assert_eq!(get(&mut reader, &name(0)), Some(b"copy".to_vec()));
}

/// A process that dies between the emptying of a segment and its deletion.
#[test]
fn emptied_segment_that_was_not_deleted_is_removed() {
    for (has_snapshot, is_packed) in [(false, false), (true, false), (true, true)] {
        let disk = populated(30, 500);
        let path = with_extension(&disk, "seg").remove(0);
        disk.write(&path, b"");
        if is_packed {
            pack(&disk);
        }
        if !has_snapshot {
            disk.process().remove(&path.with_extension("idx")).unwrap();
        }
        let mut store = on(&disk);
        assert_eq!(get(&mut store, &name(3)), None);
        store.put(&name(50), 1, b"x").unwrap();
        store.maintain(u64::MAX).unwrap();
        assert_eq!((disk.read(&path), disk.read(&path.with_extension("idx"))), (None, None), "{has_snapshot}");
        assert!(with_extension(&disk, "pack").is_empty());
        assert_eq!(on(&disk).statistics().values, 1);
    }
}

/// Values that are longer than this process may read are evicted like others.
#[test]
fn too_long_values_do_not_block_a_lower_limit() {
    let disk = FaultDisk::default();
    let mut store = on(&disk);
    (0..2).for_each(|number| assert!(store.put(&name(number), 5, &value(number, 3 << 20)).unwrap()));
    store.seal().unwrap();
    drop(store);
    let limit = Options::LEAST_LIMIT;
    let lower = Options { limit_bytes: limit, entry_limit: 1 << 20, ..limited() };
    let mut store = open(&disk.process(), lower);
    (10..110).for_each(|number| assert!(store.put(&name(number), 5, &value(number, 1000)).unwrap()));
    store.seal().unwrap();
    assert_eq!(evicted(), [name(0), name(1)]);
    assert!(disk.used() <= limit, "{} bytes", disk.used());
    (10..110).for_each(|number| assert_eq!(get(&mut store, &name(number)), Some(value(number, 1000))));
}

/// A value that a limit admits stays until others need its place.
#[test]
fn longest_value_of_a_limit_is_kept() {
    let limit = Options::LEAST_LIMIT;
    for length in (limit / 2..limit).step_by(4000) {
        let disk = FaultDisk::default();
        let mut store = open(&disk.process(), Options { limit_bytes: limit, ..limited() });
        let is_kept = store.put(&name(1), 5, &value(1, length as usize)).unwrap();
        store.seal().unwrap();
        store.maintain(u64::MAX).unwrap();
        assert_eq!(is_kept, length < limit / 4 * 3, "{length} bytes");
        assert_eq!(get(&mut on(&disk), &name(1)).is_some(), is_kept, "{length} bytes");
        assert!(disk.used() <= limit);
    }
}

/// Space that another program frees is used within minutes, also by a process that writes little.
#[test]
fn cache_grows_again_after_a_full_disk() {
    let disk = FaultDisk::default();
    disk.set_quota(Some(400 << 10));
    let mut store = open(&disk.process(), Options { limit_bytes: 64 << 20, ..limited() });
    (0..200).for_each(|number| assert!(store.put(&name(number), 5, &value(number, 4000)).unwrap()));
    disk.set_quota(None);
    wait(120);
    (200..500).for_each(|number| assert!(store.put(&name(number), 5, &value(number, 4000)).unwrap()));
    (200..500).for_each(|number| assert_eq!(get(&mut store, &name(number)), Some(value(number, 4000))));
}
