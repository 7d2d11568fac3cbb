//! The memory tier: a get against `quick_cache`, a put against copying.

use std::hint::black_box;
use std::path::Path;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Barrier};
use std::thread;

use hobgoblin::program_cache::{Key, Options, Partners, Program, ProgramCache};
use hobgoblin_bench::timing::{least_of, microseconds};
use serde_json::{Value, json};

use crate::blobs::key;
use crate::c_api::Cache;
use crate::report::number;
use crate::{ALLOCATIONS, Settings};

pub fn cache(options: Options) -> ProgramCache {
    ProgramCache::new(options, Partners::default()).expect("memory")
}

/// Nanoseconds of one of `turns` gets on each of so many threads at once, the least of `runs`, and allocations in all.
fn time_gets(threads: usize, keys: &[Key], turns: usize, runs: usize, get: impl Fn(&Key) + Sync) -> (f64, u64) {
    let mut times = Vec::new();
    let mut allocations = 0;
    for _ in 0..runs {
        let barrier = Barrier::new(threads);
        let (barrier, get) = (&barrier, &get);
        let hand = |start: usize| {
            move || {
                // Each thread's first get may find out which thread it is.
                get(&keys[0]);
                barrier.wait();
                let before = ALLOCATIONS.load(Relaxed);
                let time = microseconds(|| {
                    for turn in start..start + turns {
                        get(&keys[turn & (keys.len() - 1)]);
                    }
                });
                barrier.wait();
                (time * 1e3 / turns as f64, ALLOCATIONS.load(Relaxed) - before)
            }
        };
        thread::scope(|scope| {
            let hands: Vec<_> = (0..threads).map(|index| scope.spawn(hand(index * keys.len() / threads))).collect();
            let results = hands.into_iter().map(|hand| hand.join().expect("a thread that ends"));
            let (slowest, allocated) = results.fold((0.0_f64, 0), |most, one| (most.0.max(one.0), most.1.max(one.1)));
            times.push(slowest);
            allocations += allocated;
        });
    }
    (times.into_iter().fold(f64::INFINITY, f64::min), allocations)
}

pub fn get_row(name: &str, count: u64, settings: &Settings) -> Value {
    let (turns, runs) = if settings.quick { (200_000, 5) } else { (2_000_000, 11) };
    let keys: Vec<Key> = (0..count).map(key).collect();
    let ours = cache(Options::default());
    let theirs: quick_cache::sync::Cache<Key, Arc<Vec<u8>>> = quick_cache::sync::Cache::new(20_000);
    for key in &keys {
        ours.put(key, &Program { data: &[7; 1000], ..Program::default() }).expect("memory");
        theirs.insert(*key, Arc::new(vec![7; 1000]));
    }
    let get_ours = |key: &Key| assert_eq!(black_box(ours.get(key).expect("cached")).data()[0], 7);
    let get_theirs = |key: &Key| assert_eq!(black_box(theirs.get(key).expect("cached"))[0], 7);
    let of = |threads: usize| {
        let (ours, allocations) = time_gets(threads, &keys, turns, runs, get_ours);
        let (theirs, _) = time_gets(threads, &keys, turns, runs, get_theirs);
        json!({ "ns": ours, "quick_cache_ns": theirs, "ratio": ours / theirs, "allocations": allocations })
    };
    let (one, two) = (of(1), of(2));
    let scaling = |name: &str| 2.0 * number(&one[name]) / number(&two[name]);
    let (scales, theirs_scales) = (scaling("ns"), scaling("quick_cache_ns"));
    json!({ "name": name, "one": one, "two": two, "scaling": scales, "quick_cache_scaling": theirs_scales })
}

pub fn print_get(row: &Value) {
    println!("get of {}:", row["name"].as_str().unwrap_or(""));
    for (threads, name) in [("one thread", "one"), ("two threads", "two")] {
        let of = &row[name];
        println!(
            "  {threads:11}: {:5.1} ns, quick_cache {:5.1} ns, ratio {:.2}, {} allocations",
            number(&of["ns"]),
            number(&of["quick_cache_ns"]),
            number(&of["ratio"]),
            of["allocations"]
        );
    }
    println!(
        "  gets a second of two threads over those of one: {:.2}, quick_cache {:.2}",
        number(&row["scaling"]),
        number(&row["quick_cache_scaling"])
    );
}

/// Gets through the C API, view released, of one key.
pub fn c_get_row(directory: &Path, settings: &Settings) -> Value {
    let (turns, runs) = if settings.quick { (200_000, 5) } else { (2_000_000, 11) };
    let cache = Cache::new(directory);
    let keys = [key(0)];
    cache.put(&keys[0], &[7; 1000]);
    let (ns, allocations) = time_gets(1, &keys, turns, runs, |key| assert_eq!(black_box(cache.get(key)), 7));
    json!({ "ns": ns, "allocations": allocations })
}

pub fn print_c_get(row: &Value) {
    println!("get of 1 key through C:  {:5.1} ns, {} allocations", number(&row["ns"]), row["allocations"]);
}

const PUT_BYTES: usize = 4800;
const PUTS: usize = 4000;

/// Microseconds of a put through the C API, and of as many copies that are kept as long.
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
        "put of {PUT_BYTES} bytes through C: {:.2} us, of which {:.2} copying: {:.2} beside that",
        number(&row["us"]),
        number(&row["copy_us"]),
        number(&row["beside_copy_us"])
    );
}
