//! Opens a store with any files in its directory. Opening ends, with memory bounded by the length of the files. Every
//! value that the store returns was written: its record has the right checksums. Checksums can also be corrected, so
//! that invalid data reaches the code behind them. Returned values survive maintenance and the next opening.
//!
//! The input is a sequence of file pairs. Each has a byte of [`Traits`], the lengths of a segment and its snapshot (two
//! bytes each, little-endian), and their contents. Some snapshots go into one pack, in order. `store_seeds` writes such
//! inputs.
#![no_main]

use std::alloc::{GlobalAlloc, Layout, System};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use hobgoblin::store::fault_io::FaultDisk;
use hobgoblin::store::io::share;
use hobgoblin::store::{Name, Options, Secret, Store};
use libfuzzer_sys::fuzz_target;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// Records the largest allocation.
struct Watching(AtomicUsize);

#[global_allocator]
static MEMORY: Watching = Watching(AtomicUsize::new(0));

// SAFETY: every call is forwarded to the system's allocator unchanged.
unsafe impl GlobalAlloc for Watching {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        self.0.fetch_max(layout.size(), Ordering::Relaxed);
        // SAFETY: as promised by our caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as promised by our caller.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// Flags in the byte before each pair of files.
struct Traits(u8);

impl Traits {
    fn seals_segment(&self) -> bool {
        self.0 & 1 != 0
    }

    fn has_snapshot(&self) -> bool {
        self.0 & 2 != 0
    }

    fn seals_snapshot(&self) -> bool {
        self.0 & 4 != 0
    }

    fn is_packed(&self) -> bool {
        self.0 & 8 != 0
    }
}

const HEADS: usize = 64;
const HEADER: usize = 80;
const ROW: usize = 72;
const USE: usize = 16;
const DIRECTORY: &str = "/store";
const FIRST: u64 = 1_600_000_000 << 32;

fn options() -> Options {
    Options { max_age_seconds: u32::MAX, limit_bytes: u64::MAX, ..Options::new(|| 1_700_000_000) }
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes[at..].first_chunk().map_or(0, |number| u64::from_le_bytes(*number))
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u64_at(&[&bytes[at..at + 4], &[0; 4]].concat(), 0) as u32
}

fn number(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..at + 8).map(|_| u64_at(bytes, at))
}

#[derive(Default)]
struct Pair {
    id: u64,
    segment: Vec<u8>,
    snapshot: Option<Vec<u8>>,
    is_packed: bool,
}

impl Pair {
    fn has_a_snapshot_of_another(&self) -> bool {
        self.snapshot.as_ref().is_some_and(|snapshot| number(snapshot, 32) != number(&self.segment, 20))
    }

    fn has_a_snapshot_of_another_length(&self) -> bool {
        let length = Some(self.segment.len() as u64);
        self.snapshot.as_ref().is_some_and(|snapshot| number(snapshot, 40) != length)
    }
}

/// Splits the input into pairs of files.
fn pairs(mut input: &[u8]) -> Vec<Pair> {
    let mut pairs = Vec::new();
    while let Some((head, rest)) = input.split_first_chunk::<5>() {
        let traits = Traits(head[0]);
        let length = |low, high| usize::from(u16::from_le_bytes([low, high])).min(rest.len());
        let (segment, rest) = rest.split_at(length(head[1], head[2]));
        let (snapshot, rest) = rest.split_at(length(head[3], head[4]).min(rest.len()));
        let mut pair = Pair {
            id: FIRST + pairs.len() as u64,
            segment: segment.to_vec(),
            snapshot: None,
            is_packed: traits.is_packed(),
        };
        if traits.seals_segment() {
            seal_segment(&mut pair.segment, pair.id);
        }
        if traits.has_snapshot() {
            pair.snapshot = Some(snapshot.to_vec()).map(|mut snapshot| {
                if traits.seals_snapshot() {
                    seal_snapshot(&mut snapshot, &pair);
                }
                snapshot
            });
        }
        pairs.push(pair);
        input = rest;
    }
    pairs
}

/// Corrects the checks of heads and records.
fn seal_segment(bytes: &mut [u8], id: u64) {
    let Some((heads, _)) = bytes.split_at_mut_checked(HEADS) else { return };
    for head in heads.chunks_exact_mut(32) {
        head[..8].copy_from_slice(b"HOBSEG\r\n");
        head[8..12].copy_from_slice(&1_u32.to_le_bytes());
        head[12..20].copy_from_slice(&id.to_le_bytes());
        let hash = xxh3_64(&head[..28]) as u32;
        head[28..].copy_from_slice(&hash.to_le_bytes());
    }
    let seed = u64_at(bytes, 20);
    let mut at = HEADS;
    while at + HEADER <= bytes.len() {
        if bytes[at..at + 2] != *b"hR" {
            at += 16;
            continue;
        }
        let end = (at + HEADER).saturating_add(u32_at(bytes, at + 4) as usize);
        if let Some(payload) = bytes.get(at + HEADER..end) {
            let hash = xxh3_64(payload);
            bytes[at + 64..at + 72].copy_from_slice(&hash.to_le_bytes());
        }
        let hash = xxh3_64_with_seed(&bytes[at..at + 72], seed.wrapping_add(at as u64));
        bytes[at + 72..at + 80].copy_from_slice(&hash.to_le_bytes());
        at = if end <= bytes.len() { end.next_multiple_of(16) } else { at + 16 };
    }
}

/// Makes a snapshot valid. It belongs to the pair's segment if byte 20 is 0.
fn seal_snapshot(bytes: &mut Vec<u8>, pair: &Pair) {
    let Some(room) = bytes.len().checked_sub(48 + 8) else { return };
    let rows = u32_at(bytes, 12) as usize % (room / ROW + 1);
    let uses = (room - rows * ROW) / USE;
    bytes[..8].copy_from_slice(b"HOBIDX\r\n");
    bytes[8..12].copy_from_slice(&1_u32.to_le_bytes());
    bytes[12..16].copy_from_slice(&(rows as u32).to_le_bytes());
    bytes[16..20].copy_from_slice(&(uses as u32).to_le_bytes());
    bytes[24..32].copy_from_slice(&pair.id.to_le_bytes());
    if pair.segment.len() >= HEADS && bytes[20] == 0 {
        bytes[32..40].copy_from_slice(&pair.segment[20..28]);
    }
    bytes.truncate(48 + rows * ROW + uses * USE);
    let hash = xxh3_64(bytes);
    bytes.extend_from_slice(&hash.to_le_bytes());
}

/// Whether a segment has a record with this name and value, with all checks right.
fn was_written(pairs: &[Pair], name: &Name, value: &[u8]) -> bool {
    pairs.iter().any(|Pair { segment, snapshot, .. }| {
        let in_heads = [20, 52].into_iter().filter(|&at| at + 8 <= segment.len()).map(|at| u64_at(segment, at));
        let in_snapshot = snapshot.iter().filter(|bytes| bytes.len() >= 40).map(|bytes| u64_at(bytes, 32));
        let seeds: Vec<u64> = in_heads.chain(in_snapshot).collect();
        let last = segment.len().saturating_sub(HEADER - 1);
        (HEADS..last).step_by(16).any(|at| seeds.iter().any(|&seed| says(segment, at, seed, name, value)))
    })
}

fn says(segment: &[u8], at: usize, seed: u64, name: &Name, value: &[u8]) -> bool {
    let header = &segment[at..at + HEADER];
    let is_named = header[2] == name.kind && u64_at(header, 16) == name.environment && header[24..56] == name.key;
    let Some(payload) = segment.get(at + HEADER..at + HEADER + u32_at(header, 4) as usize) else { return false };
    let is_right = xxh3_64_with_seed(&header[..72], seed.wrapping_add(at as u64)) == u64_at(header, 72)
        && xxh3_64(payload) == u64_at(header, 64);
    let is_equal = match header[3] {
        0 => payload == value,
        1 => {
            let mut made = vec![0; value.len()];
            lz4_flex::block::decompress_into(payload, &mut made).is_ok_and(|length| made[..length] == *value)
        }
        _ => false,
    };
    is_named && is_right && is_equal
}

/// All values that the store returns.
fn served(store: &mut Store) -> BTreeMap<(u8, u64, [u8; 32]), Vec<u8>> {
    let mut names = Vec::new();
    for environment in store.environments().expect("there is memory") {
        names.extend(store.entries(environment).map(|meta| meta.name));
        assert_eq!(
            store.names_in_place(environment).expect("there is memory").len(),
            store.entries(environment).count()
        );
    }
    let mut served = BTreeMap::new();
    let mut value = Vec::new();
    for name in names {
        if store.get(&name, &mut value).expect("readable").is_some() {
            assert!(store.contains(&name));
            served.insert((name.kind, name.environment, name.key), value.clone());
        }
    }
    served
}

/// Reading in steps finds the same values.
fn in_steps(disk: &FaultDisk, whole: &BTreeMap<(u8, u64, [u8; 32]), Vec<u8>>) {
    let io = share(disk.process()).expect("there is memory");
    let mut store = Store::begin(io, Path::new(DIRECTORY), options()).expect("it opens");
    while !store.load(1).expect("it opens") {}
    assert!(served(&mut store) == *whole, "reading in steps differs");
}

/// A small limit hides long values and changes no other. Nothing passes for a value with a secret.
fn with_limits(disk: &FaultDisk, pairs: &[Pair], whole: &BTreeMap<(u8, u64, [u8; 32]), Vec<u8>>) {
    const LONGEST: u32 = 100;
    let open = |options| {
        let io = share(disk.process()).expect("there is memory");
        Store::open(io, Path::new(DIRECTORY), options).expect("it opens")
    };
    MEMORY.0.store(0, Ordering::Relaxed);
    let short = served(&mut open(Options { entry_limit: LONGEST, ..options() }));
    assert!(short.values().all(|value| value.len() <= LONGEST as usize));
    // A small limit also shows that a snapshot says too great a length. Then the records of the segment itself count.
    let is_same = |found: &Vec<u8>, value| found == value || pairs.iter().any(Pair::has_a_snapshot_of_another_length);
    for (name, value) in whole.iter().filter(|(_, value)| value.len() <= LONGEST as usize) {
        // A record that is stored in more bytes than its value has is too long, too.
        assert!(short.get(name).is_none_or(|found| is_same(found, value)), "{name:?} differs");
    }
    let keyed = served(&mut open(Options { secret: Some(Secret([7; 32])), ..options() }));
    assert!(keyed.is_empty(), "a forged value was served");
}

fuzz_target!(|input: &[u8]| {
    let pairs = pairs(input);
    MEMORY.0.store(0, Ordering::Relaxed);
    let disk = FaultDisk::default();
    let mut pack = Vec::new();
    for Pair { id, segment, snapshot, is_packed } in &pairs {
        disk.write(&Path::new(DIRECTORY).join(format!("{id:016x}.seg")), segment);
        match snapshot {
            Some(snapshot) if *is_packed => pack.extend_from_slice(snapshot),
            Some(snapshot) => disk.write(&Path::new(DIRECTORY).join(format!("{id:016x}.idx")), snapshot),
            None => {}
        }
        if let Ok(mut bundle) = Store::from_bytes(segment.clone(), snapshot.clone(), options()) {
            served(&mut bundle);
        }
    }
    if !pack.is_empty() {
        disk.write(&Path::new(DIRECTORY).join(format!("{FIRST:016x}.pack")), &pack);
    }
    let open = || {
        Store::open(share(disk.process()).expect("there is memory"), Path::new(DIRECTORY), options()).expect("it opens")
    };
    let mut store = open();
    let before = served(&mut store);
    for (&(kind, environment, key), value) in &before {
        assert!(was_written(&pairs, &Name { kind, environment, key }, value));
    }
    // LZ4 expands a byte to at most 255. All other memory is a few times the input's length.
    let largest = MEMORY.0.load(Ordering::Relaxed);
    assert!(largest <= 300 * input.len() + (64 << 10), "{largest} bytes for {} of input", input.len());
    in_steps(&disk, &before);
    with_limits(&disk, &pairs, &before);

    let name = Name { kind: 200, environment: 1, key: [0xcc; 32] };
    let is_new = !before.contains_key(&(name.kind, name.environment, name.key));
    store.put(&name, 1, b"new").expect("there is room");
    store.seal().expect("nothing is in the way");
    store.maintain(u64::MAX).expect("nothing is in the way");
    for mut store in [store, open()] {
        let mut after = served(&mut store);
        let new = after.remove(&(name.kind, name.environment, name.key));
        if !is_new {
            continue;
        }
        assert_eq!(new.as_deref(), Some(&b"new"[..]));
        if pairs.iter().any(Pair::has_a_snapshot_of_another) {
            // The store has detected the wrong snapshot meanwhile, so the records of the segment itself count now.
            continue;
        }
        for (name, value) in &before {
            assert_eq!(after.get(name), Some(value), "{name:?} is lost");
        }
        // A snapshot may list a removal that its segment does not have.
        assert!(
            before.len() == after.len() || pairs.iter().any(|pair| pair.snapshot.is_some()),
            "a removed value is visible again"
        );
    }
});
