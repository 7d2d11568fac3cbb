//! The memory tier: a get compared with `quick_cache`, a put compared with copying.

use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use hobgoblin::program_cache::{Key, Memory, Options, Program};
use hobgoblin_bench::timing::{least_of, microseconds};
use serde_json::{Value, json};

use crate::blobs::key;
use crate::c_api::{Cache, Nothing};
use crate::report::number;
use crate::{ALLOCATIONS, Settings};

pub fn cache(options: Options) -> Memory {
    Memory::new(options).expect("memory")
}

/// Nanoseconds of one of `turns` gets, the fastest of `runs`, and the total number of allocations.
fn time_gets(keys: &[Key], turns: usize, runs: usize, get: impl Fn(&Key)) -> (f64, u64) {
    // The first get may look up the id of this thread.
    get(&keys[0]);
    let before = ALLOCATIONS.load(Relaxed);
    let time = least_of(runs, || (0..turns).for_each(|turn| get(&keys[turn & (keys.len() - 1)])));
    (time * 1e3 / turns as f64, ALLOCATIONS.load(Relaxed) - before)
}

pub fn get_row(name: &str, count: u64, settings: &Settings) -> Value {
    let (turns, runs) = if settings.quick { (200_000, 5) } else { (2_000_000, 11) };
    let keys: Vec<Key> = (0..count).map(key).collect();
    let ours = cache(Options::default());
    let theirs: quick_cache::sync::Cache<Key, Arc<Vec<u8>>> = quick_cache::sync::Cache::new(20_000);
    for key in &keys {
        ours.put(key, &Program { data: &[7; 1000], ..Program::default() }, false).expect("memory");
        theirs.insert(*key, Arc::new(vec![7; 1000]));
    }
    let get_ours = |key: &Key| assert_eq!(black_box(ours.get(key, None).expect("cached")).data()[0], 7);
    let get_theirs = |key: &Key| assert_eq!(black_box(theirs.get(key).expect("cached"))[0], 7);
    let (ours, allocations) = time_gets(&keys, turns, runs, get_ours);
    let (theirs, _) = time_gets(&keys, turns, runs, get_theirs);
    json!({ "name": name, "ns": ours, "quick_cache_ns": theirs, "ratio": ours / theirs, "allocations": allocations })
}

pub fn print_get(row: &Value) {
    println!(
        "get of {}: {:5.1} ns, quick_cache {:5.1} ns, ratio {:.2}, {} allocations",
        row["name"].as_str().unwrap_or(""),
        number(&row["ns"]),
        number(&row["quick_cache_ns"]),
        number(&row["ratio"]),
        row["allocations"]
    );
}

/// Gets of one key through the C API, with the set-up and the release of the view, without an empty guarded call.
pub fn c_get_row(directory: &Path, settings: &Settings) -> Value {
    let (turns, runs) = if settings.quick { (200_000, 5) } else { (2_000_000, 11) };
    let (cache, nothing) = (Cache::new(directory), Nothing::new());
    let theirs: quick_cache::sync::Cache<Key, Arc<Vec<u8>>> = quick_cache::sync::Cache::new(20_000);
    let keys = [key(0)];
    cache.put(&keys[0], &[7; 1000]);
    theirs.insert(keys[0], Arc::new(vec![7; 1000]));
    let (mut ns, mut empty, mut quick_cache) = (f64::INFINITY, f64::INFINITY, f64::INFINITY);
    let mut allocations = 0;
    for _ in 0..runs {
        let (get, allocated) = time_gets(&keys, turns, 1, |key| assert_eq!(black_box(cache.get(key)), 7));
        (ns, allocations) = (ns.min(get), allocations + allocated);
        empty = empty.min(time_gets(&keys, turns, 1, |_| assert_eq!(black_box(&nothing).call(), 0)).0);
        let get = |key: &Key| assert_eq!(black_box(theirs.get(key).expect("cached"))[0], 7);
        quick_cache = quick_cache.min(time_gets(&keys, turns, 1, get).0);
    }
    let ratio = (ns - empty) / quick_cache;
    json!({ "ns": ns, "empty_ns": empty, "quick_cache_ns": quick_cache, "ratio": ratio, "allocations": allocations })
}

pub fn print_c_get(row: &Value) {
    println!(
        "get of 1 key through C:  {:5.1} ns, an empty call {:5.1} ns, quick_cache {:5.1} ns, ratio of the rest {:.2}, {} allocations",
        number(&row["ns"]),
        number(&row["empty_ns"]),
        number(&row["quick_cache_ns"]),
        number(&row["ratio"]),
        row["allocations"]
    );
}

const PUT_BYTES: usize = 4800;
const PUTS: usize = 4000;

/// Microseconds of a put through the C API, and of as many copies that live as long.
pub fn put_row(directory: &Path, settings: &Settings) -> Value {
    let runs = if settings.quick { 3 } else { 9 };
    let data = vec![7_u8; PUT_BYTES];
    let keys: Vec<Key> = (0..PUTS as u64).map(key).collect();
    let each = |time: f64| time / PUTS as f64;
    let puts = (0..runs).map(|_| {
        let _ = std::fs::remove_dir_all(directory);
        let cache = Cache::new(directory);
        each(microseconds(|| keys.iter().for_each(|key| cache.put(key, &data))))
    });
    let puts = puts.fold(f64::INFINITY, f64::min);
    let copies = each(least_of(runs, || {
        let mut copies = Vec::with_capacity(PUTS);
        copies.extend((0..PUTS).map(|_| black_box(&data).clone()));
        black_box(copies);
    }));
    json!({ "us": puts, "copy_us": copies, "beside_copy_us": puts - copies })
}

pub fn print_put(row: &Value) {
    println!(
        "put of {PUT_BYTES} bytes through C: {:.2} us; copying {:.2}; the rest {:.2}",
        number(&row["us"]),
        number(&row["copy_us"]),
        number(&row["beside_copy_us"])
    );
}
