//! Rare faults: late write failures, bad sectors, files with false lengths.

use std::ffi::OsString;
use std::io::{self, IoSlice};
use std::sync::{Arc, Mutex};

use super::super::fault_io::FaultDisk;
use super::super::format::HEADS;
use super::super::io::{File, Io, Lock, OsIo, SharedFile, SharedIo, share_file};
use super::super::{Buffer, Bundle, BundleWriter, Compression, Store, Value};
use super::*;

/// A bundle with these values.
fn bundle(disk: &FaultDisk, file: &str, values: &[(u64, Vec<u8>)]) -> Store {
    let io: SharedIo = shared(disk.process());
    io.create_directory(&directory()).unwrap();
    let path = directory().join(file);
    let mut bundle = BundleWriter::create(io.clone(), &path, Compression::None).unwrap();
    values.iter().for_each(|(number, data)| assert!(bundle.put(&name(*number), 7, data).unwrap()));
    bundle.finish().unwrap();
    Store::open_bundle(Bundle::of_file(&*io, &path).unwrap(), options()).unwrap()
}

#[test]
fn read_buffer_distinguishes_bundles() {
    let disk = FaultDisk::default();
    let mut one = bundle(&disk, "one", &[(1, value(1, 300))]);
    let mut other = bundle(&disk, "other", &[(2, value(2, 200))]);
    let mut buffer = Buffer::default();
    assert_eq!(one.view(&name(1), &mut buffer).unwrap().unwrap().1, value(1, 300));
    let found = other.view(&name(2), &mut buffer).unwrap().map(|(_, bytes)| bytes.to_vec());
    assert_eq!((found, other.statistics().damaged), (Some(value(2, 200)), 0));
}

#[test]
fn read_buffer_distinguishes_values_of_bundles() {
    let disk = FaultDisk::default();
    let mut one = bundle(&disk, "one", &[(1, b"old".to_vec())]);
    let mut other = bundle(&disk, "other", &[(1, b"new".to_vec())]);
    let mut buffer = Buffer::default();
    assert_eq!(one.view(&name(1), &mut buffer).unwrap().unwrap().1, b"old");
    assert_eq!(other.view(&name(1), &mut buffer).unwrap().unwrap().1, b"new");
}

#[test]
fn sequential_read_of_a_truncated_file_loses_only_the_cut_values() {
    let disk = populated(100, 1000);
    let io = disk.process();
    let mut store = open(&io, options());
    let mut buffer = Buffer::default();
    // Open the file and read ahead.
    for number in 0..2 {
        assert_eq!(store.view(&name(number), &mut buffer).unwrap().unwrap().1, value(number, 1000));
    }
    // Truncate the file within the last value while the store has it open.
    let path = with_extension(&disk, "seg")[0].clone();
    let length = disk.read(&path).unwrap().len() as u64;
    let handle = io.open(&path).unwrap();
    handle.truncate(length - 1088).unwrap();
    let mut served = 0;
    for number in 0..100 {
        served += u64::from(store.view(&name(number), &mut buffer).unwrap().is_some());
    }
    assert_eq!(served, 99);
}

#[derive(Default)]
struct Tricks {
    /// Reads that touch this byte fail.
    bad: Option<u64>,
    /// The next append writes everything and then fails.
    late_failure: bool,
    /// The next append writes two thirds, calls this, and fails; then the length cannot be read.
    in_append: Option<Box<dyn FnOnce() + Send>>,
    no_length: bool,
}

struct TrickIo(SharedIo, Arc<Mutex<Tricks>>);
struct TrickFile(SharedFile, Arc<Mutex<Tricks>>);

impl Io for TrickIo {
    fn list(&self, directory: &Path) -> io::Result<Vec<OsString>> {
        self.0.list(directory)
    }
    fn create_directory(&self, directory: &Path) -> io::Result<()> {
        self.0.create_directory(directory)
    }
    fn open(&self, path: &Path) -> io::Result<SharedFile> {
        self.0.open(path).and_then(|file| share_file(TrickFile(file, self.1.clone())))
    }
    fn create(&self, path: &Path) -> io::Result<SharedFile> {
        self.0.create(path).and_then(|file| share_file(TrickFile(file, self.1.clone())))
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.0.rename(from, to)
    }
    fn remove(&self, path: &Path) -> io::Result<()> {
        self.0.remove(path)
    }
    fn sync_directory(&self, d: &Path) -> io::Result<()> {
        self.0.sync_directory(d)
    }
    fn try_lock(&self, path: &Path) -> io::Result<Option<Box<dyn Lock>>> {
        self.0.try_lock(path)
    }
    fn nonce(&self) -> u64 {
        self.0.nonce()
    }
}

impl File for TrickFile {
    fn length(&self) -> io::Result<u64> {
        if std::mem::take(&mut self.1.lock().unwrap().no_length) {
            return Err(io::Error::from_raw_os_error(5));
        }
        self.0.length()
    }
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let bad = self.1.lock().unwrap().bad;
        if bad.is_some_and(|bad| (offset..offset + buffer.len() as u64).contains(&bad)) {
            return Err(io::Error::from_raw_os_error(5));
        }
        self.0.read_at(buffer, offset)
    }
    fn append(&self, parts: &mut [IoSlice<'_>]) -> io::Result<()> {
        let hook = self.1.lock().unwrap().in_append.take();
        if let Some(hook) = hook {
            let all: Vec<u8> = parts.iter().flat_map(|part| part.iter().copied()).collect();
            self.0.append(&mut [IoSlice::new(&all[..all.len() * 2 / 3])])?;
            hook();
            self.1.lock().unwrap().no_length = true;
            return Err(io::Error::from_raw_os_error(5));
        }
        self.0.append(parts)?;
        match std::mem::take(&mut self.1.lock().unwrap().late_failure) {
            true => Err(io::Error::from_raw_os_error(5)),
            false => Ok(()),
        }
    }
    fn truncate(&self, length: u64) -> io::Result<()> {
        self.0.truncate(length)
    }
    fn sync(&self) -> io::Result<()> {
        self.0.sync()
    }
}

#[test]
fn sequential_read_loses_only_the_value_in_a_bad_sector() {
    let disk = populated(100, 1000);
    let tricks = Arc::new(Mutex::new(Tricks { bad: Some(64 + 90 * 1088 + 500), ..Tricks::default() }));
    let io = TrickIo(shared(disk.process()), tricks);
    let mut store = Store::open(shared(io), &directory(), options()).unwrap();
    let mut buffer = Buffer::default();
    let served = (0..100).filter(|&number| matches!(store.view(&name(number), &mut buffer), Ok(Some(_)))).count();
    assert_eq!(served, 99);
}

#[test]
fn partial_write_does_not_cost_the_next_value() {
    let disk = FaultDisk::default();
    let tricks = Arc::<Mutex<Tricks>>::default();
    let io = TrickIo(shared(disk.process()), tricks.clone());
    let mut store = Store::open(shared(io), &directory(), options()).unwrap();
    store.put(&name(1000), 0, b"first").unwrap();
    tricks.lock().unwrap().late_failure = true;
    let data: Vec<_> = (0..17).map(|number| value(number, 10)).collect();
    // A segment limit that ends the first run before its last record.
    let values: Vec<_> = (0..).zip(&data).map(|(n, data)| Value { name: name(n), build_us: 0, data }).collect();
    let mut kept = Vec::new();
    store.options.segment_limit = HEADS as u64 + 96 * 5;
    let done = store.put_all(&values, |place| kept.push(place));
    assert_eq!((kept.len(), kept.len() == 17), (17, done.is_ok()), "{kept:?}");
}

#[test]
fn merge_keeps_a_record_first_seen_half_written() {
    let disk = FaultDisk::default();
    let io = disk.process();
    let mut writer = open(&io, options());
    writer.put(&name(50), 0, &value(50, 300)).unwrap();
    let path = with_extension(&disk, "seg")[0].clone();
    let before = disk.read(&path).unwrap().len();
    let data: Vec<_> = (0..8).map(|number| value(number, 1000)).collect();
    let values: Vec<_> = (0..).zip(&data).map(|(n, data)| Value { name: name(n), build_us: 0, data }).collect();
    writer.put_all(&values, |_| ()).unwrap();
    let after = disk.read(&path).unwrap();
    // The length is final, but the bytes end within the third value: some file systems show lengths before bytes.
    let mut half = after.clone();
    half[before + 2 * 1088 + 500..].fill(0);
    disk.write(&path, &half);
    let other = disk.process();
    let mut reader = open(&other, options());
    // The rest of the append.
    disk.write(&path, &after);
    io.kill();
    wait(1);
    // Replace other values of the segment, so that it is worth merging.
    for number in 3..8 {
        reader.put(&name(number), 0, &value(number, 1000)).unwrap();
    }
    let whole: Vec<_> = (0..8).map(|number| get(&mut on(&disk.duplicate()), &name(number)).is_some()).collect();
    assert_eq!(whole, [true; 8], "on the disk");
    let done = reader.maintain(u64::MAX).unwrap();
    let whole: Vec<_> = (0..8).map(|number| get(&mut on(&disk.duplicate()), &name(number)).is_some()).collect();
    assert_eq!(whole, [true; 8], "{done:?}");
}

#[test]
fn enormous_snapshot_does_not_fail_the_open() {
    let place = std::env::temp_dir().join(format!("hobgoblin-sparse-{}", std::process::id()));
    let mut store = Store::open(shared(OsIo), &place, options()).unwrap();
    store.put(&name(1), 0, b"x").unwrap();
    store.seal().unwrap();
    drop(store);
    for entry in std::fs::read_dir(&place).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "idx") {
            let file = std::fs::File::options().write(true).open(&path).unwrap();
            let _ = (31..46).rev().any(|power| file.set_len(1 << power).is_ok());
            assert!(file.metadata().unwrap().len() > 1 << 30);
        }
    }
    let opened = Store::open(shared(OsIo), &place, options()).map(|store| store.statistics().values);
    std::fs::remove_dir_all(&place).unwrap();
    assert_eq!(opened.unwrap(), 1);
}

#[test]
fn exaggerated_snapshots_do_not_overflow_the_statistics() {
    use super::super::snapshot::{Contents, encode};
    let disk = FaultDisk::default();
    for _ in 0..2 {
        let mut store = on(&disk);
        store.put(&name(1), 0, b"x").unwrap();
        store.seal().unwrap();
    }
    for path in with_extension(&disk, "idx") {
        let old = disk.read(&path).unwrap();
        let (id, seed) = (super::super::format::u64_at(&old, 24), super::super::format::u64_at(&old, 32));
        disk.write(&path, &encode(id, seed, u64::MAX, &Contents::default(), &plain_checks()).unwrap());
    }
    on(&disk).statistics();
}

#[test]
fn half_hash_collisions_keep_separate_uses() {
    let mut seen = std::collections::HashMap::new();
    let (one, other) =
        (0..).find_map(|number| Some((seen.insert(name(number).hash() >> 32, number)?, number))).unwrap();
    let disk = FaultDisk::default();
    let mut store = on(&disk);
    store.put(&name(one), 0, b"one..").unwrap();
    store.put(&name(other), 0, b"other").unwrap();
    wait(100);
    store.touch(&[name(other)]).unwrap();
    let again = on(&disk);
    let uses = |number| again.meta(&name(number)).unwrap().uses;
    assert_eq!((uses(one), uses(other)), (1, 2));
}

#[cfg(target_os = "linux")]
#[test]
fn directory_that_takes_no_files_is_named() {
    let mut store = Store::open(shared(OsIo), Path::new("/proc/self"), options()).unwrap();
    let why = store.put(&name(1), 0, &value(1, 300)).unwrap_err();
    assert!(why.sentence().starts_with("cannot create '/proc/self/"), "{why}");
}

#[test]
fn bundle_with_a_failed_put_cannot_be_finished() {
    let disk = FaultDisk::default();
    let process = disk.process();
    process.create_directory(&directory()).unwrap();
    let path = directory().join("bundle");
    let mut bundle = BundleWriter::create(shared(process.clone()), &path, Compression::None).unwrap();
    bundle.put(&name(1), 0, &value(1, 300)).unwrap();
    disk.set_space(Some(10));
    process.plan(|plan| plan.calls_to_error = Some(1));
    bundle.put(&name(2), 0, &value(2, 300)).unwrap_err();
    disk.set_space(None);
    bundle.put(&name(3), 0, &value(3, 300)).unwrap();
    assert!(bundle.finish().unwrap_err().sentence().contains("one segment"));
    assert!(process.open(&path).is_err(), "and nothing is there");
}

#[test]
fn value_without_a_stamp_is_dropped_with_its_segment() {
    use super::super::format::{Form, Header, encode_heads, hash};
    let disk = FaultDisk::default();
    let id = 5_u64;
    let Name { kind, environment, key } = name(1);
    let header = Header {
        kind,
        form: Form::Plain,
        stored: 16,
        raw: 16,
        build_us: 0,
        stamp: 0,
        environment,
        key,
        payload_hash: hash(&[7; 16]),
    };
    let bytes = [&encode_heads(id, 9, FORMAT)[..], &header.encode(&plain_checks(), 9, 64), &[7; 16]].concat();
    let path = directory().join(format!("{id:016x}.seg"));
    disk.write(&path, &bytes);
    let io = disk.process();
    let mut store = open(&io, options());
    assert!(store.get(&name(1), &mut Vec::new()).is_ok());
    io.remove(&path).unwrap();
    store.refresh().unwrap();
    assert_eq!(store.statistics().values, 0);
    assert_eq!(get(&mut store, &name(1)), None);
}

#[test]
fn reader_during_a_failed_write_misses_no_later_value() {
    let disk = FaultDisk::default();
    let tricks = Arc::<Mutex<Tricks>>::default();
    let process = disk.process();
    let io = TrickIo(shared(process.clone()), tricks.clone());
    let mut writer = Store::open(shared(io), &directory(), options()).unwrap();
    writer.put(&name(50), 0, b"first").unwrap();
    let reader = Arc::new(Mutex::new(open(&disk.process(), options())));
    let hook = reader.clone();
    tricks.lock().unwrap().in_append = Some(Box::new(move || hook.lock().unwrap().refresh().unwrap()));
    let data: Vec<_> = (0..9).map(|number| value(number, 100)).collect();
    let values: Vec<_> = (0..).zip(&data).map(|(n, data)| Value { name: name(n), build_us: 0, data }).collect();
    let mut kept = Vec::new();
    writer.put_all(&values, |place| kept.push(place)).unwrap_err();
    let mut reader = reader.lock().unwrap();
    reader.refresh().unwrap();
    let seen: Vec<_> = kept.iter().map(|&n| get(&mut reader, &name(n as u64)).is_some()).collect();
    assert_eq!((kept.len(), seen), (8, vec![true; 8]));
}

#[test]
fn sync_covers_a_segment_that_could_not_be_truncated() {
    let disk = FaultDisk::default();
    let tricks = Arc::<Mutex<Tricks>>::default();
    let mut store =
        Store::open(shared(TrickIo(shared(disk.process()), tricks.clone())), &directory(), options()).unwrap();
    store.put(&name(50), 0, b"first").unwrap();
    tricks.lock().unwrap().in_append = Some(Box::new(|| ()));
    store.put(&name(51), 0, b"failed").unwrap_err();
    store.put(&name(52), 0, b"next").unwrap();
    store.sync().unwrap();
    disk.lose_power(|| 0);
    let found = [50, 52].map(|number| get(&mut on(&disk), &name(number)));
    assert_eq!(found, [Some(b"first".to_vec()), Some(b"next".to_vec())]);
}
