//! Small files that claim to be large: memory and time stay within the limits of a store.

use std::ffi::OsString;
use std::io::{self, IoSlice};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::super::fault_io::{FaultDisk, FaultIo};
use super::super::format::{Form, Header, Usage, encode_heads};
use super::super::io::{File, Io, Lock, OsIo, SharedFile, share_file};
use super::super::snapshot::{Contents, RecordInfo, encode};
use super::super::{Buffer, Compression, Store};
use super::*;
use crate::testing::allocator::peak_bytes;

const MIB: usize = 1 << 20;

/// A header with a checksum, of a record with this payload.
fn header(form: Form, raw: u32, payload: &[u8]) -> Header {
    Header { raw, ..Header::new(&name(1), form, 5 << 32, payload, &plain_checks()) }
}

/// A segment with these records, each with its true checksums.
fn segment(id: u64, records: &[(Header, &[u8])]) -> Vec<u8> {
    let mut bytes = encode_heads(id, 1, FORMAT).to_vec();
    for (header, payload) in records {
        bytes.extend_from_slice(&header.encode(&plain_checks(), 1, bytes.len() as u64));
        bytes.extend_from_slice(payload);
        bytes.resize(bytes.len().next_multiple_of(16), 0);
    }
    bytes
}

fn place(id: u64, extension: &str) -> PathBuf {
    directory().join(format!("{id:016x}.{extension}"))
}

/// LZ4 of `raw` zeros, about one byte for each 255.
fn bomb(raw: usize) -> Vec<u8> {
    let mut packed = vec![0; lz4_flex::block::get_maximum_output_size(raw)];
    let length = lz4_flex::block::compress_into(&vec![0; raw], &mut packed).unwrap();
    packed.truncate(length);
    packed
}

/// The peak of memory while everything in a directory is opened and read, and the number of values.
fn peak_of_reading(disk: &FaultDisk, options: Options) -> (usize, u64) {
    let io = disk.process();
    let (served, peak) = peak_bytes(|| {
        let mut store = open(&io, options);
        let names = store.names_in_place(7).unwrap();
        let (mut out, mut served) = (Vec::new(), 0);
        for name in &names {
            served += u64::from(store.get(name, &mut out).unwrap().is_some());
        }
        drop(out);
        let mut buffer = Buffer::default();
        names.iter().for_each(|name| drop(store.view(name, &mut buffer)));
        served
    });
    (peak, served)
}

#[test]
fn decompression_is_bounded_by_the_longest_entry() {
    let payload = bomb(64 * MIB);
    assert!(payload.len() < MIB);
    let disk = FaultDisk::default();
    let bomb = header(Form::Lz4, 64 * MIB as u32, &payload);
    disk.write(&place(5, "seg"), &segment(5, &[(bomb, &payload)]));
    let entry_limit = MIB as u32;
    let (peak, served) = peak_of_reading(&disk, Options { entry_limit, ..options() });
    assert_eq!(served, 0);
    assert!(peak < 3 * MIB, "{peak}");
    // A value of the greatest length takes its compressed and its raw bytes.
    let entry_limit = 64 * MIB as u32;
    let (peak, served) = peak_of_reading(&disk, Options { entry_limit, ..options() });
    assert_eq!(served, 1);
    assert!(peak < 67 * MIB, "{peak}");
}

#[test]
fn read_takes_twice_the_longest_entry() {
    for compression in [Compression::None, Compression::Lz4] {
        let disk = FaultDisk::default();
        let options = Options { entry_limit: 4 * MIB as u32, compression, ..options() };
        let mut store = open(&disk.process(), options);
        for number in 0..6 {
            // Half of it compresses, so that the compressed bytes are long, too.
            let mut data = value(number, 4 * MIB);
            data[..MIB].fill(7);
            assert!(store.put(&name(number), 0, &data).unwrap());
        }
        drop(store);
        let (peak, served) = peak_of_reading(&disk, options);
        assert_eq!(served, 6);
        assert!(peak < 9 * MIB, "{compression:?}: {peak}");
    }
}

#[test]
fn read_can_be_bounded_by_the_caller() {
    for compression in [Compression::None, Compression::Lz4] {
        let disk = FaultDisk::default();
        let mut store = open(&disk.process(), Options { compression, ..options() });
        store.put(&name(1), 9, &[5; 5000]).unwrap();
        let (mut out, mut buffer) = (vec![1], Buffer::default());
        assert_eq!(store.get_within(&name(1), 4999, &mut out).unwrap(), None);
        assert!(out.is_empty());
        assert!(store.view_within(&name(1), 4999, &mut buffer).unwrap().is_none());
        assert_eq!(store.statistics().refused, 2);
        assert_eq!(store.view_within(&name(1), 5000, &mut buffer).unwrap(), Some((9, &[5; 5000][..])));
        assert_eq!(store.get_within(&name(1), 5000, &mut out).unwrap(), Some(9));
        assert_eq!(out, [5; 5000]);
        assert_eq!(store.statistics().damaged, 0);
    }
}

/// The index and the record may differ: both are checked.
#[test]
fn snapshot_that_belittles_a_record_causes_no_bomb() {
    let payload = bomb(64 * MIB);
    let disk = FaultDisk::default();
    let bomb = header(Form::Lz4, 64 * MIB as u32, &payload);
    let bytes = segment(5, &[(bomb, &payload)]);
    disk.write(&place(5, "seg"), &bytes);
    let rows = vec![RecordInfo { raw: 16, ..RecordInfo::new(&bomb, 4) }];
    let snapshot = encode(5, 1, bytes.len() as u64, &Contents { rows, uses: Vec::new() }, &plain_checks()).unwrap();
    disk.write(&place(5, "idx"), &snapshot);
    let (peak, served) = peak_of_reading(&disk, Options { entry_limit: MIB as u32, ..options() });
    assert!(peak < 3 * MIB && served == 0, "{peak}, {served}");
}

#[test]
fn snapshot_lists_no_more_than_its_segment_holds() {
    let row = RecordInfo::new(&header(Form::Plain, 0, &[]), 4);
    let used = Usage { name_hash: 1, second: 1, count: 1 };
    let lists = [
        Contents { rows: vec![row; 500_000], uses: Vec::new() },
        Contents { rows: Vec::new(), uses: vec![used; 2_000_000] },
    ];
    for contents in lists {
        let disk = FaultDisk::default();
        let bytes = segment(5, &[(header(Form::Plain, 5, b"value"), b"value")]);
        let snapshot = encode(5, 1, bytes.len() as u64, &contents, &plain_checks()).unwrap();
        disk.write(&place(5, "seg"), &bytes);
        disk.write(&place(5, "idx"), &snapshot);
        let mut store = on(&disk);
        assert_eq!(get(&mut store, &name(1)).as_deref(), Some(&b"value"[..]));
        assert_eq!(store.statistics().damaged, 1);
        let (peak, served) = peak_of_reading(&disk, Options { entry_limit: MIB as u32, ..options() });
        // The snapshot itself is read, and discarded.
        assert!(peak < snapshot.len() + 3 * MIB && served == 1, "{peak}");
    }
}

#[test]
fn lists_of_uses_take_little_memory() {
    // 64 MiB of uses of unknown values.
    let payload: Vec<u8> = (0..256 << 10).flat_map(|n| Usage { name_hash: n, second: 1, count: 1 }.encode()).collect();
    let list = header(Form::Uses, 0, &payload);
    let records: Vec<_> = (0..16).map(|_| (list, &payload[..])).collect();
    let disk = FaultDisk::default();
    disk.write(&place(5, "seg"), &segment(5, &records));
    let (peak, _) = peak_of_reading(&disk, options());
    assert!(peak < 24 * MIB, "{peak}");
}

#[test]
fn values_too_long_for_this_process_are_kept_for_others() {
    let disk = FaultDisk::default();
    for number in 0..6 {
        let mut store = on(&disk);
        let length = if number == 3 { 9000 } else { 90 };
        store.put(&name(number), 5, &value(number, length)).unwrap();
        store.seal().unwrap();
    }
    for launch in 0..2 {
        let mut small = open(&disk.process(), Options { entry_limit: 1000, ..options() });
        assert_eq!(small.get(&name(3), &mut Vec::new()).unwrap(), None);
        let done = small.maintain(u64::MAX).unwrap();
        assert_eq!(done.unlinked > 0, launch == 0, "the others are merged");
        assert!((0..6).filter(|&number| number != 3).all(|number| get(&mut small, &name(number)).is_some()));
    }
    assert_eq!(get(&mut on(&disk), &name(3)), Some(value(3, 9000)));
    // It can be removed, and then its segment is merged like any other.
    let mut small = open(&disk.process(), Options { entry_limit: 1000, ..options() });
    assert!(small.remove(&name(3)).unwrap());
    small.seal().unwrap();
    small.maintain(u64::MAX).unwrap();
    assert!(!on(&disk).contains(&name(3)));
}

/// A directory with a sealed segment, and one that ends in a hole of 30 GB, with a value after it.
fn sparse(scratch: &Path) -> PathBuf {
    let place = scratch.join("store");
    let mut store = Store::open(shared(OsIo), &place, options()).unwrap();
    for number in 0..20 {
        store.put(&name(number), 5, &value(number, 900)).unwrap();
    }
    drop(store);
    for entry in std::fs::read_dir(&place).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "seg") {
            std::fs::File::options().write(true).open(&path).unwrap().set_len(30_000_000_000).unwrap();
        }
    }
    place
}

struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("hobgoblin-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn scan_ends_at_the_longest_segment_with_a_report() {
    let scratch = Scratch::new("sparse-end");
    let place = sparse(&scratch.0);
    let options = Options { entry_limit: MIB as u32, ..options() };
    let mut store = Store::open(shared(OsIo), &place, options).unwrap();
    assert!((0..20).all(|number| get(&mut store, &name(number)) == Some(value(number, 900))));
    let trouble = store.trouble().expect("the file is too long").to_owned();
    assert!(trouble.contains("longer than a segment can be"), "{trouble}");
    assert_eq!(store.statistics().damaged, 1);
    // It costs nothing again, and is neither copied nor removed.
    store.refresh().unwrap();
    store.maintain(u64::MAX).unwrap();
    assert_eq!(store.statistics().damaged, 1);
    assert!((0..20).all(|number| get(&mut store, &name(number)).is_some()));
}

/// Counts the bytes read from a disk whose files end in zeros that no hole spares.
struct Padded {
    disk: FaultIo,
    length: u64,
    read: Arc<AtomicU64>,
}

struct PaddedFile {
    file: SharedFile,
    length: u64,
    read: Arc<AtomicU64>,
}

impl File for PaddedFile {
    fn length(&self) -> io::Result<u64> {
        Ok(self.length)
    }
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let count = buffer.len().min((self.length - offset) as usize);
        buffer[..count].fill(0);
        self.file.read_at(&mut buffer[..count], offset)?;
        self.read.fetch_add(count as u64, Relaxed);
        Ok(count)
    }
    fn append(&self, parts: &mut [IoSlice<'_>]) -> io::Result<()> {
        self.file.append(parts)
    }
    fn truncate(&self, length: u64) -> io::Result<()> {
        self.file.truncate(length)
    }
    fn sync(&self) -> io::Result<()> {
        self.file.sync()
    }
}

impl Io for Padded {
    fn list(&self, directory: &Path) -> io::Result<Vec<OsString>> {
        self.disk.list(directory)
    }
    fn create_directory(&self, directory: &Path) -> io::Result<()> {
        self.disk.create_directory(directory)
    }
    fn open(&self, path: &Path) -> io::Result<SharedFile> {
        let (file, read) = (self.disk.open(path)?, self.read.clone());
        share_file(PaddedFile { file, length: self.length, read })
    }
    fn create(&self, path: &Path) -> io::Result<SharedFile> {
        self.disk.create(path)
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.disk.rename(from, to)
    }
    fn remove(&self, path: &Path) -> io::Result<()> {
        self.disk.remove(path)
    }
    fn sync_directory(&self, directory: &Path) -> io::Result<()> {
        self.disk.sync_directory(directory)
    }
    fn try_lock(&self, path: &Path) -> io::Result<Option<Box<dyn Lock>>> {
        self.disk.try_lock(path)
    }
    fn nonce(&self) -> u64 {
        self.disk.nonce()
    }
}

#[test]
fn directory_is_read_in_steps_of_bounded_size() {
    let disk = FaultDisk::default();
    for launch in 0..3 {
        let mut store = on(&disk);
        for number in 0..10 {
            store.put(&name(launch * 10 + number), 5, &value(number, 300)).unwrap();
        }
    }
    let read = Arc::new(AtomicU64::new(0));
    let total = || read.load(Relaxed);
    let io = Padded { disk: disk.process(), length: 40 * MIB as u64, read: read.clone() };
    let mut store = Store::begin(shared(io), &directory(), options()).unwrap();
    assert_eq!((total(), store.statistics().values), (0, 0));
    let (mut steps, mut before) = (0, 0);
    while !store.load(2 * MIB as u64).unwrap() {
        steps += 1;
        assert!(total() - before <= 4 * MIB as u64, "{}", total() - before);
        before = total();
        // The store can be used meanwhile.
        assert_eq!(get(&mut store, &name(0)), Some(value(0, 300)));
    }
    assert!((50..=70).contains(&steps), "{steps}");
    assert!((0..30).all(|number| get(&mut store, &name(number)) == Some(value(number % 10, 300))));
    // A refresh, too, reads a bounded part, and the next one continues.
    before = total();
    store.refresh().unwrap();
    assert!(total() - before <= 20 * MIB as u64 && !store.is_loaded(), "{}", total() - before);
    // Values that were not read yet are cleared, too.
    store.clear(None).unwrap();
    assert_eq!(store.statistics().values, 0);
}

#[test]
fn values_of_a_long_directory_are_removed_by_a_clear_before_they_are_read() {
    let disk = populated(20, 90);
    let mut store = Store::begin(shared(disk.process()), &directory(), options()).unwrap();
    store.clear(None).unwrap();
    assert_eq!(on(&disk).statistics().values, 0);
}

/// Names with the same XXH3. Its first product is zero when the first word of the key cancels its public constant.
fn colliding(count: u64) -> impl Iterator<Item = Name> {
    (0..count).map(|number| {
        let mut name = named(0, 0);
        name.kind = 0;
        name.key[..8].copy_from_slice(&0xbe4b_a423_396c_feb8_u64.to_le_bytes());
        name.key[8..16].copy_from_slice(&number.to_le_bytes());
        name
    })
}

#[test]
fn names_made_to_collide_spread_in_the_index() {
    const COUNT: u64 = 5000;
    let disk = FaultDisk::default();
    let mut store = on(&disk);
    colliding(COUNT).for_each(|name| assert!(store.put(&name, 0, b"value").unwrap()));
    let hash = colliding(1).next().unwrap().hash();
    assert!(colliding(COUNT).all(|name| name.hash() == hash), "the names collide without a seed");
    let tags: std::collections::HashSet<_> = colliding(COUNT).map(|name| store.index.tag(&name)).collect();
    assert!(tags.len() as u64 > COUNT - 10, "{} tags of {COUNT} names", tags.len());
    let other = on(&disk);
    assert_ne!(
        colliding(1).map(|name| store.index.tag(&name)).next(),
        colliding(1).map(|name| other.index.tag(&name)).next(),
        "each store has a seed of its own"
    );
}
