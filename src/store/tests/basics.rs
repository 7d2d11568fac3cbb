use super::super::fault_io::{Counts, FaultDisk};
use super::super::format::record_size;
use super::super::io::Io;
use super::super::{Buffer, Bundle, BundleWriter, Compression, Name, Options, Statistics, Store, Value};
use super::*;
use crate::base::Code;

#[test]
fn next_process_reads_stored_values() {
    let disk = FaultDisk::default();
    let mut store = on(&disk);
    for (number, length) in [(1, 0), (2, 1), (3, 15), (4, 16), (5, 17), (6, 70_000)] {
        assert!(store.put(&name(number), 100 + number as u32, &value(number, length)).unwrap());
    }
    for sealed in [false, true] {
        for (number, length) in [(1, 0), (2, 1), (3, 15), (4, 16), (5, 17), (6, 70_000)] {
            assert_eq!(get(&mut store, &name(number)), Some(value(number, length)));
            let meta = store.meta(&name(number)).unwrap();
            assert_eq!((meta.build_us, meta.uses, u64::from(meta.last_used)), (100 + number as u32, 1, now()));
        }
        assert_eq!(get(&mut store, &name(9)), None);
        if sealed {
            store.seal().unwrap();
        }
        drop(store);
        store = on(&disk);
    }
    assert_eq!(store.statistics().damaged, 0);
}

/// Values named by their numbers modulo 10; the number is also the build time.
fn many(data: &[Vec<u8>]) -> Vec<Value<'_>> {
    (0..).zip(data).map(|(number, data)| Value { name: name(number % 10), build_us: number as u32, data }).collect()
}

#[test]
fn batch_put_equals_single_puts() {
    for compression in [Compression::None, Compression::Lz4] {
        // Several runs, segments and megabytes; and compressible texts.
        let lengths = [0, 1, 2000, 70_000, 16, 300_000, 5];
        let data: Vec<_> = (0..100)
            .map(|number| match number % 3 {
                0 => b"again and ".repeat(lengths[number % 7] / 10),
                _ => value(number as u64, lengths[number % 7]),
            })
            .collect();
        let options = Options { compression, segment_limit: 1 << 20, ..options() };
        let (together, apart) = (FaultDisk::default(), FaultDisk::default());
        let (mut store, mut model) = (open(&together.process(), options), open(&apart.process(), options));
        let mut kept = Vec::new();
        store.put_all(&many(&data), |place| kept.push(place)).unwrap();
        assert_eq!(kept, (0..100).collect::<Vec<_>>());
        for Value { name, build_us, data } in many(&data) {
            assert!(model.put(&name, build_us, data).unwrap());
        }
        let mut again = open(&together.process(), options);
        for number in 0..10 {
            let last = Some(data[90 + number as usize].clone());
            assert_eq!((get(&mut store, &name(number)), get(&mut model, &name(number))), (last.clone(), last.clone()));
            assert_eq!(get(&mut again, &name(number)), last);
            assert_eq!(again.meta(&name(number)).unwrap(), model.meta(&name(number)).unwrap());
        }
        assert_eq!(
            store.statistics(),
            Statistics { memory_used: store.statistics().memory_used, ..model.statistics() }
        );
    }
}

#[test]
fn batch_put_skips_oversized_values() {
    let disk = FaultDisk::default();
    let mut store = open(&disk.process(), Options { entry_limit: 10, ..options() });
    let data: Vec<_> = [11, 10, 0, 11, 11, 3].map(|length| value(length, length as usize)).to_vec();
    let mut kept = Vec::new();
    store.put_all(&many(&data), |place| kept.push(place)).unwrap();
    assert_eq!(kept, [1, 2, 5]);
    assert_eq!((store.statistics().values, store.statistics().refused), (3, 3));
    store.put_all(&[], |_| panic!("there is none")).unwrap();
}

#[test]
fn batch_put_keeps_values_within_the_limit() {
    for room in (0..20_000).step_by(397) {
        let disk = FaultDisk::default();
        let mut store = on(&disk);
        disk.set_space(Some(room));
        let data: Vec<_> = (0..10).map(|number| value(number, if number == 4 { 9000 } else { 1000 })).collect();
        let mut kept = Vec::new();
        let done = store.put_all(&many(&data), |place| kept.push(place));
        assert_eq!(done.is_ok(), kept.len() == 10);
        let mut left = room;
        let fits = |size: u64| left.checked_sub(size).inspect(|&rest| left = rest).is_some();
        let sizes = std::iter::once(64).chain(data.iter().map(|data| record_size(data.len() as u32)));
        let fitting: Vec<_> = sizes.map(fits).collect();
        let wanted = (0..10).filter(|&place| fitting[0] && fitting[1 + place]);
        assert_eq!(kept, wanted.collect::<Vec<_>>(), "{room} bytes");
        disk.set_space(None);
        store.put(&name(11), 0, b"after").unwrap();
        for store in [&mut store, &mut on(&disk)] {
            for number in 0..10 {
                let wanted = kept.contains(&(number as usize)).then(|| value(number, data[number as usize].len()));
                assert_eq!(get(store, &name(number)), wanted, "{room} bytes, {number}");
            }
            assert_eq!(get(store, &name(11)).as_deref(), Some(&b"after"[..]));
            assert_eq!(store.statistics().damaged, 0);
        }
    }
}

#[test]
fn kind_environment_and_key_each_separate_values() {
    let disk = FaultDisk::default();
    let mut store = on(&disk);
    let base = Name { kind: 1, environment: 1, key: [9; 32] };
    let mut last_byte = base;
    last_byte.key[31] = 8;
    let names = [base, Name { kind: 2, ..base }, Name { environment: 2, ..base }, last_byte];
    for (number, name) in names.iter().enumerate() {
        store.put(name, 0, &[number as u8]).unwrap();
    }
    for (number, name) in names.iter().enumerate() {
        assert_eq!(get(&mut store, name), Some(vec![number as u8]));
    }
    assert_eq!(store.environments().unwrap(), [1, 2]);
    assert_eq!(store.entries(1).count(), 3);
    assert_eq!(store.entries(2).map(|meta| meta.name).collect::<Vec<_>>(), [names[2]]);
}

#[test]
fn half_hash_collisions_keep_separate_values() {
    let mut seen = std::collections::HashMap::new();
    let (one, other) = (0..)
        .find_map(|number| Some((seen.insert(name(number).hash() >> 32, number)?, number)))
        .expect("there are more numbers than halves");
    let disk = FaultDisk::default();
    let mut store = on(&disk);
    // A value of the same length, so that the records have the same size.
    store.put(&name(one), 0, b"one..").unwrap();
    assert_eq!(get(&mut store, &name(other)), None);
    store.put(&name(other), 0, b"other").unwrap();
    let mut again = on(&disk);
    for store in [&mut store, &mut again] {
        assert_eq!(get(store, &name(one)).as_deref(), Some(&b"one.."[..]));
        assert_eq!(get(store, &name(other)).as_deref(), Some(&b"other"[..]));
    }
    assert!(store.remove(&name(one)).unwrap());
    assert_eq!(get(&mut store, &name(one)), None);
    assert_eq!(get(&mut store, &name(other)).as_deref(), Some(&b"other"[..]));
}

#[test]
fn last_put_wins_and_removed_values_stay_removed() {
    let disk = FaultDisk::default();
    let mut store = on(&disk);
    store.put(&name(1), 0, b"old").unwrap();
    store.put(&name(1), 0, b"new").unwrap();
    store.put(&name(2), 0, b"gone").unwrap();
    assert!(store.remove(&name(2)).unwrap());
    assert!(!store.remove(&name(2)).unwrap());
    assert!(!store.remove(&name(3)).unwrap());
    store.seal().unwrap();
    let mut again = on(&disk);
    assert_eq!(get(&mut again, &name(1)).as_deref(), Some(&b"new"[..]));
    assert_eq!(get(&mut again, &name(2)), None);
    assert_eq!(again.statistics().values, 1);
}

#[test]
fn clear_affects_one_environment_and_earlier_values_only() {
    let disk = FaultDisk::default();
    let mut store = on(&disk);
    for environment in 1..4 {
        store.put(&named(environment, 1), 0, b"before").unwrap();
    }
    store.clear(Some(2)).unwrap();
    store.put(&named(2, 2), 0, b"after").unwrap();
    for mut store in [store, on(&disk)] {
        assert_eq!(get(&mut store, &named(2, 1)), None);
        assert!(get(&mut store, &named(2, 2)).is_some());
        assert!(get(&mut store, &named(1, 1)).is_some() && get(&mut store, &named(3, 1)).is_some());
    }
    let mut store = on(&disk);
    store.clear(None).unwrap();
    assert_eq!(store.statistics().values, 0);
    assert_eq!(on(&disk).statistics().values, 0);
}

#[test]
fn first_put_creates_the_directory() {
    let disk = FaultDisk::default();
    let mut store = on(&disk);
    assert_eq!(get(&mut store, &name(1)), None);
    store.clear(None).unwrap();
    store.seal().unwrap();
    store.maintain(u64::MAX).unwrap();
    assert!(disk.files().is_empty());
    store.put(&name(1), 0, b"x").unwrap();
    assert_eq!(with_extension(&disk, "seg").len(), 1);
}

#[test]
fn limits_hold_to_the_byte() {
    let disk = FaultDisk::default();
    let mut store = open(&disk.process(), Options { entry_limit: 10, ..options() });
    assert!(store.put(&name(1), 0, &[1; 10]).unwrap());
    assert!(!store.put(&name(1), 0, &[2; 11]).unwrap());
    assert_eq!(get(&mut store, &name(1)), Some(vec![1; 10]), "the old value is kept");
    assert_eq!(store.statistics().refused, 1);

    for (limit, fits) in [(0, false), (95, false), (96, true), (u64::MAX, true)] {
        let disk = FaultDisk::default();
        let mut store = open(&disk.process(), Options { limit_bytes: limit, ..options() });
        assert_eq!(store.put(&name(1), 0, &[1; 16]).unwrap(), fits, "{limit}");
    }
}

#[test]
fn every_segment_limit_works() {
    for segment_limit in [0, 1, 200, u64::MAX] {
        let disk = FaultDisk::default();
        let mut store = open(&disk.process(), Options { segment_limit, ..options() });
        for number in 0..5 {
            store.put(&name(number), 0, &value(number, 50)).unwrap();
        }
        let segments = if segment_limit == u64::MAX { 1 } else { 5 };
        assert_eq!(with_extension(&disk, "seg").len(), segments);
        let mut again = on(&disk);
        assert!((0..5).all(|number| get(&mut again, &name(number)) == Some(value(number, 50))));
    }
}

#[test]
fn compressed_values_round_trip_in_less_space() {
    let disk = FaultDisk::default();
    let mut store = open(&disk.process(), Options { compression: Compression::Lz4, ..options() });
    let text = b"layout(location = 0) in vec3 position; ".repeat(100);
    let noise = value(3, 4000);
    store.put(&name(1), 0, &text).unwrap();
    store.put(&name(2), 0, &noise).unwrap();
    store.put(&name(3), 0, b"").unwrap();
    assert!(store.meta(&name(1)).unwrap().stored_bytes < 400);
    assert_eq!(store.meta(&name(2)).unwrap().stored_bytes, 4080);
    let mut again = on(&disk);
    assert_eq!(get(&mut again, &name(1)), Some(text));
    assert_eq!(get(&mut again, &name(2)), Some(noise));
    assert_eq!(get(&mut again, &name(3)), Some(vec![]));
}

#[test]
fn uses_are_stored() {
    let disk = FaultDisk::default();
    let mut store = on(&disk);
    (0..3).for_each(|number| _ = store.put(&name(number), 0, b"x").unwrap());
    wait(100);
    store.touch(&[name(1), name(2), name(77)]).unwrap();
    wait(100);
    store.touch(&[name(2)]).unwrap();
    let then = now();
    for sealed in [false, true] {
        if sealed {
            store.seal().unwrap();
        }
        let again = on(&disk);
        let used = |number| again.meta(&name(number)).map(|meta| (meta.uses, then - u64::from(meta.last_used)));
        assert_eq!([used(0), used(1), used(2)], [Some((1, 200)), Some((2, 100)), Some((3, 0))]);
    }
}

#[test]
fn uses_outlive_their_segment() {
    let disk = populated(3, 5000);
    for launch in 1..5 {
        wait(100);
        let mut store = on(&disk);
        store.maintain(u64::MAX).unwrap();
        store.touch(&[name(1), name(2)]).unwrap();
        store.seal().unwrap();
        for store in [&store, &on(&disk)] {
            let used = |number| store.meta(&name(number)).map(|meta| (meta.uses, now() - u64::from(meta.last_used)));
            let expected = Some((1 + launch, 0));
            assert_eq!([used(0), used(1), used(2)], [Some((1, 100 * u64::from(launch))), expected, expected]);
        }
    }
    // The uses persist even if no value is touched again.
    for _ in 0..2 {
        on(&disk).maintain(u64::MAX).unwrap();
        let meta = on(&disk).meta(&name(1)).unwrap();
        assert_eq!((meta.uses, u64::from(meta.last_used)), (5, now()));
    }
    assert!(with_extension(&disk, "seg").len() <= 3, "{:?}", disk.files());
}

#[test]
fn least_worth_is_evicted_first() {
    let disk = FaultDisk::default();
    let limit_bytes = 100 * 1104;
    let mut store = open(&disk.process(), Options { limit_bytes, ..options() });
    for number in 0..120 {
        let build_us = if number % 2 == 0 { 100_000 } else { 10 };
        store.put(&name(number), build_us, &value(number, 1024)).unwrap();
    }
    let done = store.maintain(u64::MAX).unwrap();
    assert_eq!((done.evicted, done.more), (30, false), "to nine tenths of the limit");
    assert!((0..120).step_by(2).all(|number| store.contains(&name(number))), "the costly ones are all there");
    let left = on(&disk).statistics();
    assert_eq!((left.values, left.live_bytes), (90, 90 * 1104));
    // The space of evicted values is freed.
    store.seal().unwrap();
    store.maintain(u64::MAX).unwrap();
    let left = store.statistics();
    assert!(left.file_bytes < left.live_bytes * 4 / 3 + 1000, "{left:?}");
    assert_eq!(on(&disk).statistics().values, 90);
}

#[test]
fn maintenance_is_due_after_a_sixteenth_of_the_limit() {
    let disk = FaultDisk::default();
    let mut store = open(&disk.process(), Options { limit_bytes: 160 * 1104, ..options() });
    for number in 0..30 {
        assert_eq!(store.wants_maintenance(), number % 11 == 0 && number > 0, "{number}");
        if store.wants_maintenance() {
            store.maintain(u64::MAX).unwrap();
        }
        store.put(&name(number), 5, &value(number, 1024)).unwrap();
    }
    assert!(!on(&disk).wants_maintenance());
}

#[test]
fn used_values_outlive_unused_values() {
    let disk = FaultDisk::default();
    let mut store = open(&disk.process(), Options { limit_bytes: 20 * 1104, ..options() });
    (0..20).for_each(|number| _ = store.put(&name(number), 50, &value(number, 1024)).unwrap());
    wait(10_000);
    store.touch(&[name(3), name(4)]).unwrap();
    (20..40).for_each(|number| _ = store.put(&name(number), 50, &value(number, 1024)).unwrap());
    store.maintain(u64::MAX).unwrap();
    assert!(store.contains(&name(3)) && store.contains(&name(4)));
    assert!(!store.contains(&name(0)) && !store.contains(&name(19)));
}

#[test]
fn each_environment_has_its_own_limit() {
    let disk = FaultDisk::default();
    let mut store = open(&disk.process(), Options { limit_bytes: 10 * 1104, ..options() });
    (0..20).for_each(|number| _ = store.put(&named(1, number), 0, &value(number, 1024)).unwrap());
    (0..10).for_each(|number| _ = store.put(&named(2, number), 0, &value(number, 1024)).unwrap());
    store.maintain(u64::MAX).unwrap();
    assert_eq!((store.entries(1).count(), store.entries(2).count()), (9, 10));
}

#[test]
fn unused_values_expire() {
    let disk = FaultDisk::default();
    let mut store = open(&disk.process(), Options { max_age_seconds: 1000, ..options() });
    store.put(&named(1, 1), 0, b"old environment").unwrap();
    store.put(&named(2, 1), 0, b"old").unwrap();
    store.put(&named(2, 2), 0, b"used").unwrap();
    wait(1000);
    assert_eq!(store.maintain(u64::MAX).unwrap().aged, 0);
    store.touch(&[named(2, 2)]).unwrap();
    wait(1);
    assert_eq!(store.maintain(u64::MAX).unwrap().aged, 2);
    assert_eq!(store.environments().unwrap(), [2]);
    assert_eq!(get(&mut on(&disk), &named(2, 2)).as_deref(), Some(&b"used"[..]));
    assert_eq!(on(&disk).statistics().values, 1);
}

#[test]
fn maintenance_merges_segments_of_many_launches() {
    let disk = FaultDisk::default();
    for number in 0..500 {
        let mut store = on(&disk);
        store.put(&name(number), 0, &value(number, 200)).unwrap();
        if number % 3 > 0 {
            store.seal().unwrap();
        }
    }
    let mut store = on(&disk);
    let done = store.maintain(u64::MAX).unwrap();
    assert_eq!((done.unlinked, done.more), (500, false));
    assert_eq!(with_extension(&disk, "seg").len(), 1);
    assert_eq!(with_extension(&disk, "live").len(), 0);
    let mut again = on(&disk);
    assert!((0..500).all(|number| get(&mut again, &name(number)) == Some(value(number, 200))));
}

#[test]
fn maintenance_budget_bounds_copied_bytes() {
    let disk = FaultDisk::default();
    for launch in 0..10 {
        let mut store = on(&disk);
        (0..10).for_each(|number| _ = store.put(&name(launch * 10 + number), 0, &[1; 944]).unwrap());
        store.seal().unwrap();
    }
    let mut store = on(&disk);
    let done = store.maintain(35 * 1024).unwrap();
    assert!(done.more && done.unlinked == 3 && done.copied_bytes < 35 * 1024, "{done:?}");
    while store.maintain(35 * 1024).unwrap().more {}
    assert_eq!(on(&disk).statistics().values, 100);
}

/// Disk calls made by opening a directory of 5000 values.
fn asked_by_opening(disk: &FaultDisk) -> Counts {
    let before = disk.counts();
    assert_eq!(on(disk).statistics().values, 5000);
    let after = disk.counts();
    Counts {
        opened: after.opened - before.opened,
        reads: after.reads - before.reads,
        bytes_read: after.bytes_read - before.bytes_read,
        appends: after.appends - before.appends,
        syncs: after.syncs - before.syncs,
    }
}

#[test]
fn five_hundred_small_segments_open_like_one() {
    let after_launches = |launches: u64| {
        let disk = FaultDisk::default();
        for launch in 0..launches {
            let mut store = on(&disk);
            for number in 0..5000 / launches {
                store.put(&name(launch * 5000 + number), 0, &[3; 100]).unwrap();
            }
            store.seal().unwrap();
        }
        disk
    };
    let big = asked_by_opening(&after_launches(1));
    assert_eq!((big.opened, big.reads), (1, 2), "nothing but its snapshot, and that it ends there");
    let disk = after_launches(500);
    let small = asked_by_opening(&disk);
    assert_eq!((small.opened, small.reads), (500, 1000), "nothing but their snapshots");
    assert!(small.bytes_read * 2 < 3 * big.bytes_read, "{small:?} {big:?}");
    // Only the first opening after the launches costs that much: one maintenance merges the segments.
    on(&disk).maintain(8 << 20).unwrap();
    assert_eq!(asked_by_opening(&disk), big);
}

#[test]
fn same_values_give_the_same_bundle_bytes() {
    let disk = FaultDisk::default();
    let io: Arc<dyn Io> = Arc::new(disk.process());
    io.create_directory(&directory()).unwrap();
    let path = |file: &str| directory().join(file);
    let write = |file: &str, values: u64| {
        let mut bundle = BundleWriter::create(Arc::clone(&io), &path(file), Compression::Lz4).unwrap();
        (0..values).for_each(|number| assert!(bundle.put(&name(number), 7, &value(number, 300)).unwrap()));
        bundle.finish()
    };
    write("one", 20).unwrap();
    write("other", 20).unwrap();
    assert_eq!(disk.files().len(), 2, "and nothing beside them");
    assert_eq!(disk.read(&path("one")), disk.read(&path("other")));
    assert_eq!(write("empty", 0).unwrap_err().code(), Code::NotFound);
    write("other", 5).unwrap();
    for (file, values) in [("one", 20), ("other", 5)] {
        let bundle = Bundle::of_file(&*io, &path(file)).unwrap();
        let mut store = Store::open_bundle(bundle, options()).unwrap();
        assert_eq!((store.statistics().values, store.meta(&name(0)).unwrap().build_us), (values, 7));
        assert!((0..values).all(|number| get(&mut store, &name(number)) == Some(value(number, 300))));
    }
    disk.write(&path("other"), &disk.read(&path("one")).unwrap()[..63]);
    for (file, code) in [("other", Code::Malformed), ("none", Code::Io)] {
        assert_eq!(Bundle::of_file(&*io, &path(file)).err().unwrap().code(), code);
    }
}

#[test]
fn failed_bundle_write_keeps_the_old_file() {
    let disk = FaultDisk::default();
    let process = disk.process();
    process.create_directory(&directory()).unwrap();
    let path = directory().join("bundle");
    disk.write(&path, b"before");
    let mut failures = 0;
    for calls in 0..10 {
        process.plan(|plan| plan.calls_to_error = Some(calls));
        let mut bundle = BundleWriter::create(Arc::new(process.clone()), &path, Compression::None).unwrap();
        let written = bundle.put(&name(1), 0, b"value").and_then(|_| bundle.finish());
        process.plan(|plan| plan.calls_to_error = None);
        assert_eq!(disk.files().len(), 1, "{calls}: nothing is left over");
        failures += u32::from(written.is_err());
        if disk.read(&path).unwrap() == b"before" {
            assert!(written.is_err(), "{calls}");
        } else {
            let whole = Bundle::of_file(&process, &path).and_then(|bundle| Store::open_bundle(bundle, options()));
            assert_eq!(get(&mut whole.unwrap(), &name(1)).unwrap(), b"value", "{calls}: {written:?}");
        }
    }
    assert!((3..10).contains(&failures), "{failures}");
}

#[test]
fn bundle_in_memory_reads_like_a_directory() {
    let disk = populated(20, 100);
    let segment: Arc<[u8]> = disk.read(&with_extension(&disk, "seg")[0]).unwrap().into();
    let snapshot: Arc<[u8]> = disk.read(&with_extension(&disk, "idx")[0]).unwrap().into();
    for snapshot in [Some(snapshot), None] {
        let mut bundle = Store::from_bytes(Arc::clone(&segment), snapshot, options()).unwrap();
        assert!((0..20).all(|number| get(&mut bundle, &name(number)) == Some(value(number, 100))));
        let refused = bundle.put(&name(1), 0, b"x").unwrap_err();
        assert_eq!(refused.code(), Code::Unsupported);
        assert!(bundle.maintain(1).is_err() && bundle.clear(None).is_err() && bundle.touch(&[name(1)]).is_err());
    }
    for wrong in [&[][..], &[0; 63], &[0; 64], b"HOBSEG\r\n and some sixty bytes more that are not what a segment says"]
    {
        let Err(why) = Store::from_bytes(wrong.into(), None, options()) else { panic!("{wrong:?}") };
        assert_eq!(why.code(), Code::Malformed);
    }
}

#[test]
fn read_only_store_writes_nothing() {
    let disk = populated(3, 10);
    let before = disk.files();
    let mut store = open(&disk.process(), Options { read_only: true, ..options() });
    assert!(store.put(&name(1), 0, b"x").is_err() && store.remove(&name(1)).is_err());
    assert!(store.contains(&name(1)));
    assert_eq!(disk.files(), before);
}

#[test]
fn names_are_listed_in_disk_order() {
    let disk = populated(50, 10);
    let mut store = on(&disk);
    store.put(&name(0), 0, b"moved to the end").unwrap();
    let names = store.names_in_place(7).unwrap();
    let expected: Vec<_> = (1..50).chain([0]).map(name).collect();
    assert_eq!(names, expected);
    assert!(store.names_in_place(8).unwrap().is_empty());
}

#[test]
fn put_that_fills_a_segment_does_not_sync() {
    let disk = FaultDisk::default();
    let mut store = open(&disk.process(), Options { segment_limit: 4096, ..options() });
    (0..20).for_each(|number| assert!(store.put(&name(number), 0, &value(number, 1000)).unwrap()));
    let segments = with_extension(&disk, "seg").len();
    assert!((5..9).contains(&segments), "{segments}");
    assert_eq!((disk.counts().syncs, with_extension(&disk, "idx").len()), (0, 0));

    // Segments that were not sealed are readable anyway, also after a refresh.
    store.refresh().unwrap();
    for mut store in [on(&disk), store] {
        (0..20).for_each(|number| assert_eq!(get(&mut store, &name(number)), Some(value(number, 1000))));
        assert_eq!(store.statistics().damaged, 0);
    }
}

#[test]
fn full_segments_are_sealed_in_maintenance_or_beyond_a_count() {
    type Work = fn(&mut Store);
    let work: [(Work, usize); 3] = [
        (|store| store.sync().unwrap(), 1),
        (|store| store.seal().unwrap(), 0),
        (|store| assert_eq!(store.maintain(0).unwrap().unlinked, 0), 1),
    ];
    for (work, open_ones) in work {
        let disk = FaultDisk::default();
        let mut store = open(&disk.process(), Options { segment_limit: 4096, ..options() });
        (0..9).for_each(|number| assert!(store.put(&name(number), 0, &value(number, 1000)).unwrap()));
        work(&mut store);
        let count = |extension| with_extension(&disk, extension).len();
        assert_eq!(count("idx") + open_ones, count("seg"));
        assert_eq!(count("live"), open_ones);
        (9..300).for_each(|number| assert!(store.put(&name(number), 0, &value(number, 1000)).unwrap()));
        assert!(count("live") < 16, "{}", count("live"));
        assert!((0..300).all(|number| get(&mut store, &name(number)) == Some(value(number, 1000))));
    }
}

#[test]
fn sequential_values_need_few_reads() {
    let disk = populated(1000, 1000);
    let mut store = on(&disk);
    let names = store.names_in_place(7).unwrap();
    let mut buffer = Buffer::default();
    let before = disk.counts();
    for name in &names {
        let number = u64::from_le_bytes(*name.key.last_chunk().unwrap());
        let (build_us, bytes) = store.view(name, &mut buffer).unwrap().unwrap();
        assert_eq!((store.meta(name).unwrap().build_us, &value(number, 1000)[..]), (build_us, bytes));
    }
    let (reads, read) = (disk.counts().reads - before.reads, disk.counts().bytes_read - before.bytes_read);
    assert!(reads < 30, "{reads} reads");
    // A record cut off at the end of a stretch is read again with the next stretch.
    assert!((1_080_000..1_200_000).contains(&read), "{read} bytes");

    // Random reads do not read ahead.
    let before = disk.counts();
    for number in (0..1000).map(|number| number * 617 % 1000) {
        assert_eq!(store.view(&name(number), &mut buffer).unwrap().unwrap().1, value(number, 1000));
    }
    let read = disk.counts().bytes_read - before.bytes_read;
    assert!(read < 1_500_000, "{read} bytes");
}

#[test]
fn read_buffer_distinguishes_locations() {
    let (mut one, mut other) = (on(&populated(50, 300)), on(&populated(50, 300)));
    let disk = FaultDisk::default();
    let process = disk.process();
    let mut growing = open(&process, options());
    let mut buffer = Buffer::default();
    for number in 0..50 {
        assert_eq!(one.view(&name(number), &mut buffer).unwrap().unwrap().1, value(number, 300));
        other.put(&name(number), 0, &value(number + 100, 300)).unwrap();
        assert_eq!(other.view(&name(number), &mut buffer).unwrap().unwrap().1, value(number + 100, 300));
    }
    for number in 0..50 {
        // The buffer must not keep bytes of a failed put that the next put overwrote.
        process.plan(|plan| plan.calls_to_error = Some(0));
        assert!(growing.put(&name(number), 0, &value(1000, 300)).is_err());
        growing.put(&name(number), 0, &value(number, 300)).unwrap();
        for known in 0..=number {
            assert_eq!(growing.view(&name(known), &mut buffer).unwrap().unwrap().1, value(known, 300));
        }
    }
    assert_eq!((one.statistics().damaged, other.statistics().damaged, growing.statistics().damaged), (0, 0, 0));
}
