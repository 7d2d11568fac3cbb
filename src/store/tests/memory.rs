//! Allocations fail, one at a time or all from one on. Nothing aborts or panics, and no stored value is lost.

use super::super::io::{OsIo, share};
use super::super::packs::MANY;
use super::super::{Buffer, Bundle, BundleWriter, Compression, Options, Store, Value};
use super::*;
use crate::base::{Code, Error};
use crate::testing::allocator::{allocations, with_allowance, with_failure};

/// Values in the directory beforehand. Those from here on are put by the scenario.
const OLD: u64 = 12;
const ALL: u64 = 40;
/// With no more effort than usual, one allocation in this many fails.
const EACH: u32 = 7;
/// The environment that is cleared.
const CLEARED: u64 = 9;

/// A temporary directory that drop removes, in memory if possible. Its path is longer than those for which the standard
/// library needs no memory.
struct Scratch {
    place: PathBuf,
    store: PathBuf,
}

impl Scratch {
    fn new(name: &str) -> Self {
        let shm = Path::new("/dev/shm");
        let temporary = if shm.is_dir() { shm.to_path_buf() } else { std::env::temp_dir() };
        let place = temporary.join(format!("hobgoblin-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&place);
        let deep = (0..3).fold(place.clone(), |path, _| path.join("d".repeat(200)));
        Self { store: deep.join("store"), place }
    }

    /// Fills the directory as some launches before left it.
    fn prepare(&self, compression: Compression) {
        let _ = std::fs::remove_dir_all(&self.place);
        for launch in 0..3 {
            let mut store = open_at(&self.store, compression).unwrap();
            for number in launch * 4..(launch + 1) * 4 {
                store.put(&name(number), 5, &data(number, 0)).unwrap();
            }
            store.put(&named(CLEARED, launch), 5, b"cleared").unwrap();
            if launch < 2 {
                store.seal().unwrap();
            }
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.place);
    }
}

fn open_at(path: &Path, compression: Compression) -> Result<Store, Error> {
    Store::open(share(OsIo)?, path, Options { compression, segment_limit: 20_000, ..options() })
}

/// A version of a value. Lengths from nothing to several segments; half of the bytes compress.
fn data(number: u64, version: u64) -> Vec<u8> {
    let length = [0, 1, 90, 700, 5000, 30_000][(number + version) as usize % 6];
    let mut data = value(number + 100 * version, length);
    data[length / 2..].fill(3);
    data
}

/// The versions that a name may have: 0 to 2, and 3 for none.
#[derive(Clone, Copy, Debug)]
struct Possible([bool; 4]);

impl Possible {
    const NONE: usize = 3;

    fn only(version: usize) -> Self {
        let mut possible = [false; 4];
        possible[version] = true;
        Self(possible)
    }

    /// An operation that succeeded leaves one version; one that failed may have taken effect.
    fn note<T>(&mut self, version: usize, done: &Result<T, Error>) {
        match done {
            Ok(_) => *self = Self::only(version),
            Err(_) => self.0[version] = true,
        }
    }
}

/// The result of the scenario.
struct Known {
    versions: [Possible; ALL as usize],
    is_cleared: bool,
}

fn checked<T>(done: Result<T, Error>) -> Result<T, Error> {
    if let Err(why) = &done {
        assert!(matches!(why.code(), Code::OutOfMemory | Code::Io | Code::Busy), "{why}");
    }
    done
}

/// Uses every operation. Allocates nothing itself.
fn use_everything(scratch: &Scratch, compression: Compression, data: &[[Vec<u8>; 3]], out: &mut Vec<u8>) -> Known {
    let beforehand = |number: usize| if (number as u64) < OLD { 0 } else { Possible::NONE };
    let versions = std::array::from_fn(|number| Possible::only(beforehand(number)));
    let mut known = Known { versions, is_cleared: false };
    let Ok(mut store) = checked(open_at(&scratch.store, compression)) else { return known };
    let _ = checked(store.get(&name(3), out));
    for number in OLD..20 {
        let done = checked(store.put(&name(number), 7, &data[number as usize][0]));
        known.versions[number as usize].note(0, &done);
    }
    let mut values = [Value { name: name(0), build_us: 3, data: b"" }; 20];
    for (number, value) in (20..ALL).zip(&mut values) {
        *value = Value { name: name(number), build_us: 3, data: &data[number as usize][0] };
        known.versions[number as usize].0[0] = true;
    }
    let mut kept = [false; 20];
    let _ = checked(store.put_all(&values, |place| kept[place] = true));
    for place in (0..20).filter(|&place| kept[place]) {
        known.versions[20 + place] = Possible::only(0);
    }
    for number in [1, 15, 25] {
        let done = checked(store.put(&name(number), 7, &data[number as usize][1]));
        known.versions[number as usize].note(1, &done);
    }
    for number in [2, 16] {
        let done = checked(store.remove(&name(number)));
        known.versions[number as usize].note(Possible::NONE, &done);
    }
    let _ = checked(store.touch(&[name(3), name(17), name(30)]));
    let _ = checked(store.sync());
    let _ = checked(store.seal());
    known.is_cleared = checked(store.clear(Some(CLEARED))).is_ok();
    let _ = checked(store.refresh());
    let mut buffer = Buffer::default();
    for number in 0..ALL {
        if let Ok(Some((_, found))) = checked(store.view(&name(number), &mut buffer)) {
            assert!(data[number as usize].iter().any(|data| data == found), "a wrong value");
        }
    }
    let _ = checked(store.names_in_place(7));
    let _ = checked(store.environments());
    let _ = checked(store.maintain(u64::MAX));
    let done = checked(store.put(&name(33), 7, &data[33][2]));
    known.versions[33].note(2, &done);
    let _ = checked(store.maintain(10_000));
    let _ = (store.statistics(), checked(store.seal()));
    use_bundle(scratch, data, out);
    known
}

fn use_bundle(scratch: &Scratch, data: &[[Vec<u8>; 3]], out: &mut Vec<u8>) {
    let Ok(io) = share(OsIo) else { return };
    let path = scratch.place.as_path();
    let Ok(path) = crate::base::try_path_join(path, "bundle") else { return };
    let written = BundleWriter::create(io, &path, Compression::Lz4).and_then(|mut bundle| {
        (0..6).try_for_each(|number| bundle.put(&name(number), 1, &data[number as usize][0]).map(drop))?;
        bundle.finish()
    });
    if checked(written).is_ok()
        && let Ok(bundle) = checked(Bundle::of_file(&OsIo, &path))
        && let Ok(mut store) = checked(Store::open_bundle(bundle, options()))
    {
        for number in 0..6 {
            if let Ok(found) = checked(store.get(&name(number), out)) {
                assert!(found.is_some() && *out == data[number as usize][0]);
            }
        }
    }
}

/// Every name has a version that it may have, and the store works.
fn check(scratch: &Scratch, compression: Compression, data: &[[Vec<u8>; 3]], known: &Known, what: &str) {
    let mut store = open_at(&scratch.store, compression).unwrap();
    let mut out = Vec::new();
    for (number, possible) in known.versions.iter().enumerate() {
        let found = store.get(&name(number as u64), &mut out).unwrap();
        let is_right = match found {
            None => possible.0[Possible::NONE],
            Some(_) => (0..3).any(|version| possible.0[version] && data[number][version] == out),
        };
        assert!(is_right, "{what}: {number} is {found:?}, {possible:?}");
    }
    assert!(!known.is_cleared || store.entries(CLEARED).next().is_none(), "{what}: a cleared value");
    assert_eq!(store.statistics().damaged, 0, "{what}");
    store.put(&name(1000), 1, b"new").unwrap();
    store.maintain(u64::MAX).unwrap();
}

#[test]
fn clear_all_without_memory_leaves_only_whole_values() {
    let scratch = Scratch::new("no-memory-clear");
    let cleared = || checked(open_at(&scratch.store, Compression::None)).and_then(|mut store| store.clear_all());
    scratch.prepare(Compression::None);
    let count = allocations(|| drop(cleared())) as usize;
    assert!(count > 20, "{count}");
    for n in 0..count {
        for fails_once in [true, false] {
            scratch.prepare(Compression::None);
            let done = if fails_once { with_failure(n, cleared) } else { with_allowance(n, cleared) };
            let mut store = open_at(&scratch.store, Compression::None).unwrap();
            let mut out = Vec::new();
            for number in 0..OLD {
                let found = store.get(&name(number), &mut out).unwrap().is_some();
                assert!(!found || out == data(number, 0));
                assert!(!found || checked(done.as_ref().map(drop).map_err(copy)).is_err(), "{n}: {number} is there");
            }
            store.clear_all().unwrap();
            assert_eq!(store.statistics().segments, 0);
        }
    }
}

fn copy(why: &Error) -> Error {
    Error::new(why.code(), format_args!("{why}"))
}

#[test]
fn failed_allocations_abort_nothing_and_lose_nothing() {
    let data: Vec<[Vec<u8>; 3]> = (0..ALL).map(|number| [0, 1, 2].map(|version| data(number, version))).collect();
    for (compression, share) in [(Compression::Lz4, EACH), (Compression::None, 5 * EACH)] {
        let step = (share / crate::testing::scaled(1)).max(1) as usize;
        let scratch = Scratch::new("no-memory");
        let mut out = Vec::with_capacity(40_000);
        let mut run = |what: &str, ration: &dyn Fn(&mut dyn FnMut())| {
            scratch.prepare(compression);
            let mut known = None;
            ration(&mut || known = Some(use_everything(&scratch, compression, &data, &mut out)));
            let known = known.expect("it ran");
            check(&scratch, compression, &data, &known, what);
        };
        let mut count = 0;
        run("without a failure", &|call| call());
        let counted = std::cell::Cell::new(0);
        run("counted", &|call| counted.set(allocations(call)));
        count += counted.get() as usize;
        assert!(count > 100, "{count}");
        for n in (0..count).step_by(step) {
            run(&format!("allocation {n} fails"), &|call| with_failure(n, call));
            run(&format!("all from {n} on fail"), &|call| with_allowance(n, call));
        }
    }
}

#[test]
fn packing_without_memory_loses_nothing() {
    let scratch = Scratch::new("no-memory-packs");
    let launch = |number: u64| {
        let mut store = open_at(&scratch.store, Compression::None).unwrap();
        store.put(&name(number), 5, &data(1, number)).unwrap();
        store
    };
    // The store of the last of so many launches that its seal packs.
    let prepare = || {
        let _ = std::fs::remove_dir_all(&scratch.place);
        (1..MANY as u64).for_each(|number| launch(number).seal().unwrap());
        launch(0)
    };
    let files = |kind: &str| {
        let names = std::fs::read_dir(&scratch.store).unwrap().map(|entry| entry.unwrap().path());
        names.filter(|path| path.extension().is_some_and(|extension| extension == kind)).count()
    };
    let check = |mut store: Store, what: &str| {
        let mut out = Vec::new();
        for number in 0..MANY as u64 {
            assert!(store.get(&name(number), &mut out).unwrap().is_some(), "{what}: {number}");
            assert_eq!(out, data(1, number), "{what}");
        }
        assert_eq!(store.statistics().damaged, 0, "{what}");
    };
    let mut store = prepare();
    let count = allocations(|| store.seal().unwrap()) as usize;
    assert!(count > 50 && files("pack") == 1, "{count}");
    let mut packs = 0;
    for n in 0..count {
        for fails_once in [true, false] {
            let mut store = prepare();
            let done = match fails_once {
                true => with_failure(n, || checked(store.seal())),
                false => with_allowance(n, || checked(store.seal())),
            };
            let what = format!("{n}, {fails_once}, {done:?}");
            packs += files("pack");
            check(store, &what);
            let mut store = open_at(&scratch.store, Compression::None).unwrap();
            store.seal().unwrap();
            check(store, &what);
            open_at(&scratch.store, Compression::None).unwrap().maintain(u64::MAX).unwrap();
            assert_eq!(files("new"), 0, "{what}");
        }
    }
    assert!((1..2 * count).contains(&packs), "{packs} of {count}");
}
