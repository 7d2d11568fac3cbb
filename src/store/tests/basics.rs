//! Values: put, read, replaced, removed and listed.

use super::super::fault_io::FaultDisk;
use super::super::format::record_size;
use super::super::{Buffer, Compression, Name, Options, Statistics, Value};
use super::*;

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
    store.put_all(&[], |_| panic!("called without a value")).unwrap();
}

#[test]
fn batch_put_on_a_full_disk_keeps_the_last_values_that_fit() {
    for space in (0..20_000).step_by(397) {
        let disk = FaultDisk::default();
        let mut store = on(&disk);
        disk.set_space(Some(space));
        let data: Vec<_> = (0..10).map(|number| value(number, if number == 4 { 9000 } else { 1000 })).collect();
        let mut kept = Vec::new();
        let done = store.put_all(&many(&data), |place| kept.push(place));
        assert_eq!(done.is_ok(), kept.len() == 10);
        // The file of limits takes 40 bytes if there is space for it.
        let fits = |spare| move |length: usize| 64 + record_size(length as u32) + spare <= space;
        for (place, data) in data.iter().enumerate() {
            let (length, is_kept) = (data.len(), kept.contains(&place));
            assert!(if is_kept { fits(0)(length) } else { !fits(40)(length) }, "{space} bytes, {place}");
        }
        let evicted = evicted();
        disk.set_space(None);
        store.put(&name(11), 0, b"after").unwrap();
        for store in [&mut store, &mut on(&disk)] {
            for number in 0..10 {
                let is_there = kept.contains(&(number as usize)) && !evicted.contains(&name(number));
                let wanted = is_there.then(|| value(number, data[number as usize].len()));
                assert_eq!(get(store, &name(number)), wanted, "{space} bytes, {number}");
            }
            assert!(done.is_err() || store.contains(&name(9)));
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
    let disk = FaultDisk::default();
    let mut store = on(&disk);
    let mut seen = std::collections::HashMap::new();
    let (one, other) = (0..)
        .find_map(|number| Some((seen.insert(store.index.tag(&name(number)), number)?, number)))
        .expect("there are more numbers than tags");
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
    growing.put(&name(1000), 0, b"begun").unwrap();
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
