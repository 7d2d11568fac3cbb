//! Gets of the memory tier on one thread and on two, compared with the limit of the machine.

use std::hint::{self, black_box};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread;
use std::time::Instant;

use hobgoblin::program_cache::{Key, Memory, Options, Program};
use serde_json::{Value, json};

use crate::Settings;
use crate::blobs::key;
use crate::memory::cache;
use crate::report::number;

/// Number of gets in a slice.
const TURNS: usize = 2_000;
/// Number of passes over all measurements: a machine has slow seconds.
const PASSES: usize = 5;
const ROWS: [&str; 3] = ["ours", "apart", "quick_cache"];

/// A row for each set of keys.
pub fn rows(settings: &Settings) -> Vec<Value> {
    let slices = if settings.quick { 600 } else { 6_000 };
    [("1 key", 1, false), ("1024 keys", 1024, false), ("512 keys each", 1024, true)]
        .map(|(name, count, is_split)| row(name, count, is_split, slices))
        .into()
}

fn row(name: &str, count: u64, is_split: bool, slices: usize) -> Value {
    let keys: Vec<Key> = (0..count).map(key).collect();
    let of = |thread: usize| if is_split { &keys[thread * keys.len() / 2..][..keys.len() / 2] } else { &keys[..] };
    let ours = [filled(&keys), filled(&keys)];
    let theirs: quick_cache::sync::Cache<Key, Arc<Vec<u8>>> = quick_cache::sync::Cache::new(20_000);
    keys.iter().for_each(|key| theirs.insert(*key, Arc::new(vec![7; 1000])));
    let get = |cache: &Memory, key: &Key| assert_eq!(black_box(cache.get(key, None).expect("cached")).data()[0], 7);
    let mut row = json!({ "name": name });
    for _ in 0..PASSES {
        note(&mut row["ours"], slices, of, |_, key| get(&ours[0], key));
        note(&mut row["apart"], slices, of, |thread, key| get(&ours[thread], key));
        note(&mut row["quick_cache"], slices, of, |_, key| {
            assert_eq!(black_box(theirs.get(key).expect("cached"))[0], 7);
        });
    }
    row
}

pub fn print(row: &Value) {
    println!("gets of {} on one thread and on two:", row["name"].as_str().unwrap_or(""));
    for name in ROWS {
        let [one, two] = ["one", "two"].map(|threads| number(&row[name][threads]));
        println!("  {name:11}: {one:5.1} ns, {two:5.1} ns each: {:.2} times the gets", 2.0 * one / two);
    }
}

fn filled(keys: &[Key]) -> Memory {
    let cache = cache(Options::default());
    for key in keys {
        cache.put(key, &Program { data: &[7; 1000], ..Program::default() }, false).expect("memory");
    }
    cache
}

/// Measures on one thread and on two; keeps the fastest.
fn note<'a>(
    least: &mut Value,
    slices: usize,
    keys_of: impl Fn(usize) -> &'a [Key] + Sync,
    get: impl Fn(usize, &Key) + Sync,
) {
    for (name, threads) in [("one", 1), ("two", 2)] {
        let before = number(&least[name]);
        least[name] = json!(best_slice(threads, slices, &keys_of, &get).min(before));
    }
}

/// Nanoseconds of one get on the slower thread in the best slice; NaN without a valid slice.
///
/// In a valid slice all threads run at the same time for nine tenths of it.
fn best_slice<'a>(
    threads: usize,
    slices: usize,
    keys_of: &(impl Fn(usize) -> &'a [Key] + Sync),
    get: &(impl Fn(usize, &Key) + Sync),
) -> f64 {
    let (arrived, epoch) = (&AtomicUsize::new(0), Instant::now());
    let hand = |thread: usize| {
        move || {
            let keys = keys_of(thread);
            let slice = |slice: usize| {
                arrived.fetch_add(1, SeqCst);
                while arrived.load(SeqCst) < threads * (slice + 1) {
                    hint::spin_loop();
                }
                let first = thread * keys.len() / 2;
                let start = epoch.elapsed();
                (first..first + TURNS).for_each(|turn| get(thread, &keys[turn & (keys.len() - 1)]));
                [start, epoch.elapsed()].map(|time| time.as_secs_f64() * 1e9)
            };
            (0..slices).map(slice).collect::<Vec<[f64; 2]>>()
        }
    };
    let times: Vec<Vec<[f64; 2]>> = thread::scope(|scope| {
        let hands: Vec<_> = (0..threads).map(|thread| scope.spawn(hand(thread))).collect();
        hands.into_iter().map(|hand| hand.join().expect("a thread that ends")).collect()
    });
    let slower = |slice: usize| {
        let of_slice = || times.iter().map(|times| times[slice]);
        let longest = of_slice().map(|[start, end]| end - start).fold(0.0, f64::max);
        let together = of_slice().map(|time| time[1]).fold(f64::INFINITY, f64::min)
            - of_slice().map(|time| time[0]).fold(0.0, f64::max);
        (together > 0.9 * longest).then_some(longest / TURNS as f64)
    };
    (0..slices).filter_map(slower).fold(f64::NAN, f64::min)
}
