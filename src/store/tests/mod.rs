mod basics;
mod bombs;
mod bundles;
mod damage;
mod full_disk;
mod golden;
mod gone;
mod limits;
mod lived_in;
mod memory;
mod misfortune;
mod model;
mod packs;
mod power;
mod replaced;
mod pieces;
#[cfg(unix)]
mod processes;
mod secret;
mod sharing;
mod upkeep;

use std::cell::Cell;
use std::path::{Path, PathBuf};

use super::fault_io::{FaultDisk, FaultIo};
use super::format::{Checks, FORMAT};
use super::io::{Io, SharedIo, share};
use super::{Name, Options, Store};

/// SplitMix64 (Steele, Lea and Flood).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    pub fn bytes(&mut self, length: usize) -> Vec<u8> {
        (0..length).map(|_| self.next() as u8).collect()
    }
}

thread_local! {
    static SECOND: Cell<u64> = const { Cell::new(1_700_000_000) };
}

pub fn now() -> u64 {
    SECOND.get()
}

pub fn wait(seconds: u64) {
    SECOND.set(SECOND.get().wrapping_add(seconds));
}

thread_local! {
    static EVICTED: std::cell::RefCell<Vec<Name>> = const { std::cell::RefCell::new(Vec::new()) };
}

/// Names of evicted values, and forget them.
pub fn evicted() -> Vec<Name> {
    EVICTED.take()
}

pub fn options() -> Options {
    Options { evicted: |name| EVICTED.with_borrow_mut(|names| names.push(*name)), ..Options::new(now) }
}

/// The checksums without a secret.
pub fn plain_checks() -> Checks {
    Checks::new(None)
}

pub fn directory() -> PathBuf {
    PathBuf::from("/cache")
}

pub fn shared(io: impl Io + 'static) -> SharedIo {
    share(io).expect("there is memory")
}

pub fn open(io: &FaultIo, options: Options) -> Store {
    Store::open(shared(io.clone()), &directory(), options).expect("opens")
}

pub fn on(disk: &FaultDisk) -> Store {
    open(&disk.process(), options())
}

pub fn name(number: u64) -> Name {
    named(7, number)
}

pub fn named(environment: u64, number: u64) -> Name {
    let mut key = [0; 32];
    key[24..].copy_from_slice(&number.to_le_bytes());
    Name { kind: 1, environment, key }
}

pub fn value(number: u64, length: usize) -> Vec<u8> {
    Random(number).bytes(length)
}

pub fn get(store: &mut Store, name: &Name) -> Option<Vec<u8>> {
    let mut out = vec![1, 2, 3];
    let found = store.get(name, &mut out).expect("readable");
    store.index.assert_sound();
    match store.meta(name) {
        Some(meta) => {
            assert_eq!((meta.name, meta.length as usize, Some(meta.build_us)), (*name, out.len(), found));
        }
        None => assert!(out.is_empty() && found.is_none()),
    }
    found.map(|_| out)
}

pub fn with_extension(disk: &FaultDisk, extension: &str) -> Vec<PathBuf> {
    disk.files()
        .into_iter()
        .filter(|path: &PathBuf| path.extension() == Some(Path::new(extension).as_os_str()))
        .collect()
}

/// A disk with `count` values in a sealed segment.
pub fn populated(count: u64, length: usize) -> FaultDisk {
    let disk = FaultDisk::default();
    let mut store = on(&disk);
    for number in 0..count {
        store.put(&name(number), 5, &value(number, length)).unwrap();
    }
    store.seal().unwrap();
    disk
}
