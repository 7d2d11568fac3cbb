//! The directory is deleted or replaced while it is open, and everything in it is cleared.

use super::super::fault_io::FaultDisk;
use super::super::format::encode_heads;
use super::super::io::{Io, OsIo};
use super::super::{Store, Value};
use super::*;
use crate::base::Code;

/// A temporary directory that drop removes.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("hobgoblin-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn open(&self) -> Store {
        Store::open(shared(OsIo), &self.0.join("store"), options()).unwrap()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn put(store: &mut Store, numbers: std::ops::Range<u64>) {
    numbers.for_each(|number| assert!(store.put(&name(number), 5, &value(number, 1000)).unwrap()));
}

/// Deletes a directory, or puts another one in its place.
fn delete(directory: &Path, is_replaced: bool) {
    if is_replaced {
        std::fs::rename(directory, directory.with_extension("old")).unwrap();
        std::fs::create_dir(directory).unwrap();
    } else {
        std::fs::remove_dir_all(directory).unwrap();
    }
}

#[test]
fn deleted_directory_is_made_anew_and_the_loss_is_reported_once() {
    for is_replaced in [false, true] {
        let scratch = Scratch::new("gone");
        let mut store = scratch.open();
        put(&mut store, 0..50);
        store.sync().unwrap();
        delete(&scratch.0.join("store"), is_replaced);
        put(&mut store, 50..60);
        let why = store.sync().expect_err("the values are lost");
        assert_eq!(why.code(), Code::Io);
        assert!(why.sentence().contains("deleted or replaced") && why.sentence().contains("60 values"), "{why}");
        assert!(!store.contains(&name(1)) && !store.contains(&name(55)));
        put(&mut store, 100..150);
        store.sync().expect("the loss is reported once");
        let mut again = scratch.open();
        assert!((100..150).all(|number| get(&mut again, &name(number)) == Some(value(number, 1000))));
        // A loss that a refresh finds is reported as well.
        delete(&scratch.0.join("store"), false);
        store.refresh().unwrap();
        assert!(store.sync().unwrap_err().sentence().contains("50 values"));
        let _ = std::fs::remove_dir_all(scratch.0.join("store.old"));
    }
}

#[test]
fn deleted_directory_is_noticed_while_writing() {
    for batch in [1, 100, 3000] {
        let scratch = Scratch::new("gone-writing");
        let mut store = scratch.open();
        put(&mut store, 0..300);
        delete(&scratch.0.join("store"), false);
        for first in (300..3300).step_by(batch) {
            let data: Vec<_> =
                (first..first + batch as u64).map(|number| (name(number), value(number, 1000))).collect();
            let values: Vec<_> = data.iter().map(|(name, data)| Value { name: *name, build_us: 5, data }).collect();
            store.put_all(&values, |_| ()).unwrap();
        }
        let lost = store.sync().expect_err("some values are lost");
        assert!(lost.sentence().contains("deleted or replaced"), "{lost}");
        let mut again = scratch.open();
        let kept = (300..3300).filter(|&number| again.contains(&name(number))).count();
        assert!(kept > 2500, "{kept} in batches of {batch}");
        assert!((3200..3300).all(|number| get(&mut again, &name(number)) == Some(value(number, 1000))));
        store.sync().unwrap();
        assert_eq!(kept, (300..3300).filter(|&number| store.contains(&name(number))).count());
    }
}

#[test]
fn look_at_the_own_segment_is_rare() {
    let disk = FaultDisk::default();
    let mut store = on(&disk);
    put(&mut store, 0..2000);
    let looks = disk.counts().looks;
    assert!((1..=10).contains(&looks), "{looks} for 2 MB");
}

#[test]
fn segment_that_is_begun_while_the_directory_is_read_in_steps_stays() {
    let disk = FaultDisk::default();
    for launch in 0..6 {
        put(&mut on(&disk), launch..launch + 1);
    }
    let mut store = Store::begin(shared(disk.process()), &directory(), options()).unwrap();
    assert!(!store.load(1).unwrap());
    put(&mut store, 10..20);
    store.seal().unwrap();
    put(&mut store, 20..30);
    while !store.load(1).unwrap() {}
    assert!((0..6).chain(10..30).all(|number| get(&mut store, &name(number)) == Some(value(number, 1000))));
    store.sync().unwrap();
}

/// Another program cuts a file, or makes it longer.
fn resize(disk: &FaultDisk, path: &Path, length: u64) {
    let process = disk.process();
    let file = process.open(path).unwrap();
    let there = file.length().unwrap();
    if length < there {
        file.truncate(length).unwrap();
    } else {
        file.append(&mut [std::io::IoSlice::new(&vec![0; (length - there) as usize])]).unwrap();
    }
}

#[test]
fn own_segment_that_another_program_cuts_or_extends_is_abandoned_and_reported_once() {
    for (length, left) in [(0, 0), (1000, 0), (5000, 4), (100_000, 10)] {
        let disk = FaultDisk::default();
        let mut store = on(&disk);
        put(&mut store, 0..10);
        store.sync().unwrap();
        resize(&disk, &with_extension(&disk, "seg")[0], length);
        put(&mut store, 10..20);
        let why = store.sync().expect_err("values are lost");
        assert_eq!(why.code(), Code::Io);
        assert!(why.sentence().contains(&format!("{} values", 20 - left)), "{length}: {why}");
        assert_eq!(store.statistics().damaged, 1, "{length}");
        put(&mut store, 20..30);
        store.sync().expect("the loss is reported once");
        for store in [&mut store, &mut on(&disk)] {
            let has = |number: &u64| get(store, &name(*number)) == Some(value(*number, 1000));
            let kept: Vec<_> = (0..30).filter(has).collect();
            assert_eq!(kept, (0..left).chain(20..30).collect::<Vec<_>>(), "{length}");
        }
    }
}

#[test]
fn cut_segment_is_noticed_while_writing_and_by_a_read() {
    for is_read in [false, true] {
        let disk = FaultDisk::default();
        let mut store = on(&disk);
        put(&mut store, 0..10);
        resize(&disk, &with_extension(&disk, "seg")[0], 0);
        if is_read {
            assert_eq!(get(&mut store, &name(1)), None);
        }
        put(&mut store, 100..1000);
        store.sync().expect_err("values are lost");
        let store = on(&disk);
        let kept = (100..1000).filter(|&number| store.contains(&name(number))).count();
        assert!(kept >= if is_read { 900 } else { 600 }, "{kept}");
    }
}

#[test]
fn clearing_takes_time_in_proportion_to_the_files() {
    let calls = |count: u64| {
        let disk = FaultDisk::default();
        for number in 0..count {
            let bytes: &[u8] = if number % 2 == 0 { b"JUNK" } else { &[9; 300] };
            disk.write(&directory().join(format!("{:016x}.seg", 0x100 + number)), bytes);
        }
        let mut store = on(&disk);
        put(&mut store, 0..1);
        let before = disk.counts();
        while store.clear_all().unwrap().more {}
        assert_eq!(with_extension(&disk, "seg").len(), 0);
        let after = disk.counts();
        (after.opened - before.opened) + (after.listed - before.listed) + (after.removed - before.removed)
    };
    let (few, many) = (calls(500), calls(4000));
    assert!(many <= few * 10, "{few} calls for 500 files, {many} for 4000");
}

/// Segments of another format and with damaged heads.
fn add_strangers(disk: &FaultDisk) {
    let mut newer = encode_heads(5, 1, FORMAT).to_vec();
    for head in newer.chunks_exact_mut(32) {
        head[8] = 2;
        let hash = crate::store::format::hash(&head[..28]) as u32;
        head[28..].copy_from_slice(&hash.to_le_bytes());
    }
    disk.write(&directory().join("0000000000000005.seg"), &newer);
    disk.write(&directory().join("0000000000000006.seg"), &[9; 300]);
    disk.write(&directory().join("0000000000000007.idx"), &[9; 300]);
    disk.write(&directory().join("0000000000000008.idx.new"), &[9; 300]);
    disk.write(&directory().join("0000000000000009.live"), b"");
    disk.write(&directory().join("readme.txt"), b"mine");
}

#[test]
fn clear_all_leaves_nothing_but_files_of_others() {
    for is_open in [false, true] {
        let disk = populated(20, 90);
        add_strangers(&disk);
        let mut store = on(&disk);
        assert!(store.foreign().is_some_and(|foreign| foreign.contains("format 2")));
        if is_open {
            put(&mut store, 30..40);
        }
        let done = store.clear_all().unwrap();
        assert_eq!((done.unlinked >= 3, done.left), (true, 0), "{done:?}");
        let left: Vec<_> = disk.files().into_iter().filter(|path| !path.ends_with("maintain.lock")).collect();
        assert_eq!(left, [directory().join("readme.txt")]);
        assert_eq!((store.foreign(), store.statistics().values, store.statistics().segments), (None, 0, 0));
        put(&mut store, 0..5);
        store.sync().unwrap();
        assert_eq!(on(&disk).statistics().values, 5);
    }
}

#[test]
fn clear_all_removes_the_values_of_living_processes() {
    let disk = populated(20, 90);
    let mut other = on(&disk);
    put(&mut other, 30..40);
    let mut store = on(&disk);
    put(&mut store, 50..60);
    let done = store.clear_all().unwrap();
    assert_eq!((done.unlinked, done.left), (1, 2));
    for store in [&mut on(&disk), &mut store, &mut other] {
        store.refresh().unwrap();
        assert_eq!(store.statistics().values, 0);
    }
    put(&mut other, 30..40);
    assert_eq!(on(&disk).statistics().values, 10);
    other.sync().unwrap();
}

#[test]
fn clear_all_beside_a_maintenance_removes_old_values_and_no_later_ones() {
    let disk = populated(20, 90);
    let mut store = on(&disk);
    let maintenance = disk.process().try_lock(&directory().join("maintain.lock")).unwrap().expect("nobody has it");
    let done = store.clear_all().unwrap();
    assert_eq!((done.unlinked, done.left > 0), (0, true));
    put(&mut store, 30..40);
    store.sync().unwrap();
    assert_eq!(on(&disk).statistics().values, 10);
    drop(maintenance);
    store.maintain(u64::MAX).unwrap();
    assert_eq!(on(&disk).statistics().values, 10);
}

#[test]
fn clear_all_of_a_missing_directory_creates_nothing() {
    let disk = FaultDisk::default();
    assert_eq!(on(&disk).clear_all().unwrap(), super::super::Cleared::default());
    assert!(disk.files().is_empty());
}
