use std::path::PathBuf;

use super::super::fault_io::FaultDisk;
use super::super::format::{HEADER, HEADS, encode_heads};
use super::super::{Options, Store};
use super::*;
use crate::base::Code;

/// Number of values that are served; each must be right.
fn served(disk: &FaultDisk, count: u64, length: usize) -> u64 {
    let mut store = on(disk);
    let right = |number: &u64| match get(&mut store, &name(*number)) {
        Some(got) => {
            assert_eq!(got, value(*number, length), "a wrong value");
            true
        }
        None => false,
    };
    (0..count).filter(right).count() as u64
}

fn damaged(disk: &FaultDisk, path: &Path, damage: impl FnOnce(&mut Vec<u8>)) -> FaultDisk {
    let copy = disk.duplicate();
    let mut bytes = copy.read(path).unwrap();
    damage(&mut bytes);
    copy.write(path, &bytes);
    copy
}

/// One sealed segment, and one of a killed process.
fn two_segments(count: u64, length: usize) -> FaultDisk {
    let disk = populated(count / 2, length);
    let mut store = on(&disk);
    (count / 2..count).for_each(|number| _ = store.put(&name(number), 5, &value(number, length)).unwrap());
    disk
}

#[test]
fn flipped_bits_restore_no_removed_or_cleared_value() {
    for is_sealed in [false, true] {
        let disk = FaultDisk::default();
        let mut store = on(&disk);
        (0..3).for_each(|number| _ = store.put(&name(number), 5, &value(number, 90)).unwrap());
        store.put(&named(8, 1), 5, b"cleared").unwrap();
        store.seal().unwrap();
        store.remove(&name(1)).unwrap();
        store.clear(Some(8)).unwrap();
        if is_sealed {
            store.seal().unwrap();
        }
        let disk = disk.duplicate();
        for path in disk.files() {
            for bit in 0..disk.read(&path).unwrap().len() * 8 {
                let copy = damaged(&disk, &path, |bytes| bytes[bit / 8] ^= 1 << (bit % 8));
                let store = on(&copy);
                assert!(!store.contains(&name(1)) && !store.contains(&named(8, 1)), "bit {bit} of {path:?}");
            }
        }
    }
}

/// If a value is damaged after sealing, an older value does not replace it. If it is damaged earlier, the store cannot
/// tell it from a value that was never written.
#[test]
fn damage_to_a_sealed_value_does_not_restore_an_older_one() {
    for is_sealed in [false, true] {
        let disk = FaultDisk::default();
        let small = Options { segment_limit: 100_000, ..options() };
        let mut store = open(&disk.process(), small);
        store.put(&name(1), 5, b"older").unwrap();
        store.put(&name(2), 5, &value(2, 50_000)).unwrap();
        store.seal().unwrap();
        for launch in 10..15 {
            let mut store = open(&disk.process(), small);
            store.put(&name(launch), 5, &value(launch, 90)).unwrap();
            if launch == 12 {
                store.put(&name(1), 5, b"newer").unwrap();
            }
            store.put(&name(10 + launch), 5, &value(launch, 90)).unwrap();
            if is_sealed {
                store.seal().unwrap();
            }
        }
        // The second record of the fourth segment.
        let path = &with_extension(&disk, "seg")[3];
        let copy = damaged(&disk, path, |bytes| bytes[HEADS + 176 + HEADER + 1] ^= 4);
        let expected = if is_sealed { None } else { Some(b"older".to_vec()) };
        let mut store = open(&copy.process(), small);
        assert_eq!(get(&mut store, &name(1)), expected);
        // Nor does an older value return after a merge skips the damaged record.
        assert_eq!(store.maintain(u64::MAX).unwrap().unlinked, 5);
        for store in [&mut store, &mut on(&copy)] {
            assert_eq!(get(store, &name(1)), expected);
            assert!((10..15).all(|launch| store.contains(&name(launch)) && store.contains(&name(10 + launch))));
        }
    }
}

#[test]
fn truncated_file_loses_only_the_cut_values() {
    let disk = two_segments(16, 90).duplicate();
    for path in disk.files() {
        let whole = disk.read(&path).unwrap();
        for length in 0..whole.len() {
            let copy = damaged(&disk, &path, |bytes| bytes.truncate(length));
            let lost = match path.extension().and_then(|extension| extension.to_str()) {
                Some("seg") => 8 - length.saturating_sub(HEADS).div_euclid(176) as u64,
                _ => 0,
            };
            // A sealed segment may lose the padding of its last record.
            let served = served(&copy, 16, 90);
            assert!(
                served >= 16 - lost && served <= 17 - lost,
                "{path:?} cut to {length}: {served} served, {lost} lost"
            );
        }
    }
}

#[test]
fn overwritten_ends_cost_one_value() {
    let disk = two_segments(16, 90).duplicate();
    for path in disk.files() {
        for at_end in [false, true] {
            let copy = damaged(&disk, &path, |bytes| {
                let from = if at_end { bytes.len().saturating_sub(7) } else { 0 };
                bytes.iter_mut().skip(from).take(7).for_each(|byte| *byte = 0xee);
            });
            assert!(served(&copy, 16, 90) >= 15, "{path:?}");
        }
    }
}

#[test]
fn scan_continues_after_a_hole() {
    let disk = FaultDisk::default();
    let mut store = on(&disk);
    (0..30).for_each(|number| _ = store.put(&name(number), 5, &value(number, 90)).unwrap());
    let path = &with_extension(&disk, "seg")[0];
    let copy = damaged(&disk, path, |bytes| bytes[HEADS + 5 * 176 + 3..HEADS + 9 * 176 - 5].fill(0x55));
    assert_eq!(served(&copy, 30, 90), 26);
    assert_eq!(on(&copy).statistics().damaged, 1);
}

#[test]
fn segment_stored_as_a_value_is_not_parsed_as_records() {
    let inner = populated(5, 64);
    let segment = inner.read(&with_extension(&inner, "seg")[0]).unwrap();
    let disk = FaultDisk::default();
    let mut store = on(&disk);
    store.put(&name(100), 0, &segment).unwrap();
    store.put(&name(101), 0, b"after").unwrap();
    let path = &with_extension(&disk, "seg")[0];
    let copy = damaged(&disk, path, |bytes| bytes[HEADS + 30] ^= 1);
    let mut store = on(&copy);
    assert!((0..5).all(|number| !store.contains(&name(number))));
    assert_eq!(get(&mut store, &name(101)).as_deref(), Some(&b"after"[..]));
}

#[test]
fn damaged_value_is_dropped_counted_and_replaceable() {
    let disk = populated(4, 90);
    let path = &with_extension(&disk, "seg")[0];
    let copy = damaged(&disk, path, |bytes| bytes[HEADS + HEADER + 1] ^= 4);
    let mut store = on(&copy);
    assert!(store.contains(&name(0)));
    assert_eq!(get(&mut store, &name(0)), None);
    assert!(!store.contains(&name(0)));
    assert_eq!(store.statistics().damaged, 1);
    store.put(&name(0), 5, &value(0, 90)).unwrap();
    assert_eq!(served(&copy, 4, 90), 4);
}

#[test]
fn merge_drops_damaged_records() {
    let disk = FaultDisk::default();
    for launch in 0..5 {
        let mut store = on(&disk);
        (0..4).for_each(|number| {
            _ = store.put(&name(launch * 4 + number), 0, &value(launch * 4 + number, 90)).unwrap();
        });
        store.seal().unwrap();
    }
    let path = &with_extension(&disk, "seg")[2];
    let copy = damaged(&disk, path, |bytes| bytes[HEADS + HEADER + 1] ^= 4);
    let mut store = on(&copy);
    assert_eq!(store.maintain(u64::MAX).unwrap().unlinked, 5);
    assert_eq!(served(&copy, 20, 90), 19);
    assert_eq!(on(&copy).statistics().values, 19);
}

#[test]
fn newer_format_is_skipped_kept_and_reported() {
    let disk = populated(4, 90);
    let mut newer = encode_heads(5, 1, FORMAT).to_vec();
    for head in newer.chunks_exact_mut(32) {
        head[8] = 2;
        let hash = crate::store::format::hash(&head[..28]) as u32;
        head[28..].copy_from_slice(&hash.to_le_bytes());
    }
    newer.extend_from_slice(&[0x77; 500]);
    let path = PathBuf::from("/cache/0000000000000005.seg");
    disk.write(&path, &newer);
    let mut store = on(&disk);
    assert!(store.foreign().unwrap().contains("format 2") && store.trouble().is_none());
    assert_eq!(store.statistics().foreign_segments, 1);
    store.put(&name(9), 0, b"x").unwrap();
    store.clear(None).unwrap();
    store.seal().unwrap();
    store.maintain(u64::MAX).unwrap();
    assert_eq!(disk.read(&path).unwrap(), newer);
    assert!(store.foreign().is_some());
}

#[test]
fn foreign_files_are_unchanged() {
    let disk = populated(4, 90);
    let strangers =
        ["readme.txt", "5.seg", "zzzzzzzzzzzzzzzz.seg", "00000000000000001.seg", "+000000000000001.seg", ".seg"];
    strangers.iter().for_each(|stranger| disk.write(&directory().join(stranger), b"mine"));
    disk.write(&directory().join("000000000000000a.seg"), &[9; 300]);
    disk.write(&directory().join("000000000000000b.idx"), b"");
    let mut store = on(&disk);
    assert_eq!(store.statistics().values, 4);
    store.clear(None).unwrap();
    store.seal().unwrap();
    store.maintain(u64::MAX).unwrap();
    strangers
        .iter()
        .for_each(|stranger| assert_eq!(disk.read(&directory().join(stranger)).as_deref(), Some(&b"mine"[..])));
    assert_eq!(disk.read(&directory().join("000000000000000a.seg")), None, "no process can read it");
    assert_eq!(disk.read(&directory().join("000000000000000b.idx")), None, "a snapshot of nothing");
}

#[test]
fn claimed_length_of_four_gibibytes_allocates_nothing() {
    use super::super::format::{Form, Header};
    use super::super::snapshot::{Contents, RecordInfo, encode};
    let header = Header {
        kind: 1,
        form: Form::Plain,
        stored: u32::MAX,
        raw: u32::MAX,
        build_us: 0,
        stamp: 5,
        environment: 7,
        key: name(1).key,
        payload_hash: 0,
    };
    let mut segment = encode_heads(5, 1, FORMAT).to_vec();
    segment.extend_from_slice(&header.encode(&plain_checks(), 1, HEADS as u64));
    segment.extend_from_slice(&[0; 64]);
    let disk = FaultDisk::default();
    disk.write(&directory().join("0000000000000005.seg"), &segment);
    assert_eq!(on(&disk).statistics().values, 0);

    // Also with a snapshot that confirms the length.
    for length in [segment.len() as u64, u64::MAX] {
        let contents = Contents { rows: vec![RecordInfo::new(&header, 4)], uses: Vec::new() };
        let snapshot = encode(5, 1, length, &contents, &plain_checks()).unwrap();
        disk.write(&directory().join("0000000000000005.idx"), &snapshot);
        let mut out = Vec::new();
        assert!(on(&disk).get(&name(1), &mut out).unwrap().is_none());
        assert!(out.capacity() < 1000);
    }

    // Compressed bytes that claim a greater length than they can expand to.
    let bomb = Header { form: Form::Lz4, stored: 16, payload_hash: super::super::format::hash(&[0; 16]), ..header };
    let mut segment = encode_heads(5, 1, FORMAT).to_vec();
    segment.extend_from_slice(&bomb.encode(&plain_checks(), 1, HEADS as u64));
    segment.extend_from_slice(&[0; 16]);
    let mut store = Store::from_bytes(segment, None, options()).unwrap();
    let mut out = Vec::new();
    assert!(store.contains(&name(1)) && store.get(&name(1), &mut out).unwrap().is_none());
    assert!(out.capacity() < 1000);
}

#[test]
fn value_with_a_wrong_snapshot_time_is_served_after_a_merge() {
    use super::super::snapshot::{Contents, IndexSnapshot, RecordInfo, encode};
    for change in [|stamp: u64| stamp - 1, |stamp| stamp + (1 << 32), |_| u64::MAX - 1] {
        let disk = populated(8, 300);
        let path = with_extension(&disk, "idx").remove(0);
        let id = u64::from_str_radix(path.file_stem().unwrap().to_str().unwrap(), 16).unwrap();
        let bytes = disk.read(&path).unwrap();
        let snapshot = IndexSnapshot::decode(&bytes, id, u64::MAX, &plain_checks()).unwrap();
        let rows = snapshot.rows().map(|row| RecordInfo { stamp: change(row.stamp), ..row }).collect();
        let other =
            encode(id, snapshot.seed, snapshot.length, &Contents { rows, uses: Vec::new() }, &plain_checks()).unwrap();
        disk.write(&path, &other);
        assert_eq!(served(&disk, 8, 300), 8);
        let mut store = on(&disk);
        (4..8).for_each(|number| assert!(store.remove(&name(number)).unwrap()));
        store.seal().unwrap();
        store.maintain(u64::MAX).unwrap();
        assert_eq!(disk.read(&path), None, "it was not merged");
        assert_eq!(served(&disk, 8, 300), 4);
        assert_eq!(store.statistics().damaged, 0);
    }
}

#[test]
fn greatest_stamps_and_sequence_numbers_do_not_block_puts() {
    use super::super::format::{Form, Header, hash};
    let header = Header {
        kind: 1,
        form: Form::Plain,
        stored: 16,
        raw: 16,
        build_us: 0,
        stamp: u64::MAX,
        environment: 7,
        key: name(1).key,
        payload_hash: hash(&[9; 16]),
    };
    for id in [5, u64::MAX] {
        let disk = populated(3, 30);
        let segment =
            [&encode_heads(id, 1, FORMAT)[..], &header.encode(&plain_checks(), 1, HEADS as u64), &[9; 16]].concat();
        disk.write(&directory().join(format!("{id:016x}.seg")), &segment);
        for launch in 10..20 {
            let mut store = on(&disk);
            assert_eq!(get(&mut store, &name(1)), Some(vec![9; 16]));
            store.put(&name(launch), 5, &value(launch, 90)).unwrap();
            store.seal().unwrap();
            store.put(&name(launch), 5, &value(launch, 91)).unwrap();
            store.maintain(u64::MAX).unwrap();
            for store in [&mut store, &mut on(&disk)] {
                assert!((10..=launch).all(|number| get(store, &name(number)) == Some(value(number, 91))));
            }
        }
    }
}

#[test]
fn full_disk_evicts_whole_segments_and_keeps_the_last_value() {
    let disk = populated(4, 90);
    for space in 0..600 {
        let disk = disk.duplicate();
        let mut store = on(&disk);
        store.put(&name(4), 5, &value(4, 90)).unwrap();
        disk.set_space(Some(space));
        for number in 5..10 {
            assert!(store.put(&name(number), 5, &value(number, 90)).unwrap());
            assert_eq!(get(&mut store, &name(number)), Some(value(number, 90)));
        }
        assert_eq!(store.trouble(), None);
        let evicted = evicted();
        assert_eq!(evicted.is_empty(), space >= 5 * 176, "{space}");
        for store in [&mut store, &mut on(&disk)] {
            for number in 0..10 {
                let expected = (!evicted.contains(&name(number))).then(|| value(number, 90));
                assert_eq!(get(store, &name(number)), expected, "{space}");
            }
            assert_eq!(store.statistics().damaged, 0);
        }
    }
}

#[test]
fn full_disk_at_segment_creation_keeps_no_partial_file() {
    let disk = FaultDisk::default();
    disk.set_space(Some(0));
    let mut store = on(&disk);
    for _ in 0..20 {
        assert_eq!(store.put(&name(1), 0, b"x").unwrap_err().code(), Code::Io);
        wait(1);
    }
    assert!(disk.files().len() <= 2 && disk.used() == 0, "{:?}", disk.files());
    disk.set_space(None);
    assert!(store.put(&name(1), 0, b"x").unwrap());
}

#[test]
fn unwritable_directory_is_still_read() {
    let disk = populated(4, 90);
    let io = disk.process();
    io.plan(|plan| plan.is_denied = true);
    let mut store = open(&io, options());
    assert!((0..4).all(|number| get(&mut store, &name(number)).is_some()));
    let why = store.put(&name(5), 0, b"x").unwrap_err();
    assert!(why.sentence().contains("allow this user to write"), "{why}");
    assert!(store.trouble().unwrap().starts_with("values are not kept on the disk"));
    assert!(store.contains(&name(1)) && !store.contains(&name(5)));
}

#[test]
fn short_and_failing_reads_are_handled() {
    let disk = two_segments(8, 90);
    let io = disk.process();
    io.plan(|plan| plan.longest_read = Some(7));
    let mut store = open(&io, options());
    assert!((0..8).all(|number| get(&mut store, &name(number)) == Some(value(number, 90))));
    io.plan(|plan| plan.reads_fail = true);
    let mut out = Vec::new();
    assert_eq!(store.get(&name(1), &mut out).unwrap_err().code(), Code::Io);
    assert_eq!(store.statistics().io_errors, 1);
    io.plan(|plan| *plan = Default::default());
    assert!(get(&mut store, &name(1)).is_some(), "a failure to read is not damage");
}

#[test]
fn file_in_place_of_the_directory_is_a_named_error() {
    let disk = FaultDisk::default();
    disk.write(&directory(), b"a file");
    let Err(why) = Store::open(shared(disk.process()), &directory(), options()) else { panic!("opened") };
    assert!(why.sentence().contains("give a directory, not a file"), "{why}");
}

#[test]
fn arbitrary_bytes_never_give_a_wrong_value() {
    let mut random = Random(5);
    let whole = populated(6, 40);
    let files: Vec<_> = whole.files().into_iter().filter(|path| !whole.read(path).unwrap().is_empty()).collect();
    for _ in 0..2000 {
        let disk = whole.duplicate();
        for path in &files {
            let mut bytes = disk.read(path).unwrap();
            for _ in 0..random.below(20) {
                let at = random.below(bytes.len() as u64) as usize;
                match random.below(4) {
                    0 => bytes[at] = random.next() as u8,
                    1 => drop(bytes.drain(at..(at + random.below(64) as usize).min(bytes.len()))),
                    2 => bytes.splice(at..at, random.bytes(16)).for_each(drop),
                    _ => {
                        let end = bytes.len().min(at + 16);
                        bytes.copy_within(at..end, 0);
                    }
                }
                if bytes.is_empty() {
                    break;
                }
            }
            disk.write(path, &bytes);
        }
        served(&disk, 6, 40);
        let mut store = open(&disk.process(), Options { segment_limit: 300, ..options() });
        store.put(&name(9), 0, b"new").unwrap();
        store.maintain(u64::MAX).unwrap();
        served(&disk, 6, 40);
    }
}
