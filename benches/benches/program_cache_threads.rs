//! Gets of the program cache's memory tier on one thread and on two, beside what the machine can do at all.
//!
//! `cargo bench -p hobgoblin-bench --bench program_cache_threads -- --help`

use std::hint::{self, black_box};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread;
use std::time::Instant;

use hobgoblin::program_cache::{Key, Options, Partners, Program, ProgramCache};

const HELP: &str = "\
Gets a second of two threads over those of one.

  cargo bench -p hobgoblin-bench --bench program_cache_threads -- [options]

  --quick   fewer runs: a few seconds
  --help    this page

Each row is a set of keys: one key for both threads, 1024 for both, and 512 for each. `apart` is the machine's ceiling:
each thread has a cache of its own, so that they share nothing but the processor. quick_cache has the same keys and
values in an Arc. Gets are timed in slices of 2000, which both threads begin together; shown is the slower thread's
time in the best slice in which both had a processor, since a busy machine seldom gives both. A get includes dropping what it gives.
";

/// Gets in a slice.
const TURNS: usize = 2_000;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.iter().any(|word| word == "--help" || word == "-h") {
        print!("{HELP}");
        return;
    }
    let slices = if words.iter().any(|word| word == "--quick") { 3_000 } else { 30_000 };
    for (name, count, is_split) in [("1 key", 1, false), ("1024 keys", 1024, false), ("512 keys each", 1024, true)] {
        println!("{name}:");
        let keys: Vec<Key> = (0..count).map(key).collect();
        let of = |thread: usize| if is_split { &keys[thread * keys.len() / 2..][..keys.len() / 2] } else { &keys[..] };
        let ours = [filled(&keys), filled(&keys)];
        let theirs: quick_cache::sync::Cache<Key, Arc<Vec<u8>>> = quick_cache::sync::Cache::new(20_000);
        keys.iter().for_each(|key| theirs.insert(*key, Arc::new(vec![7; 1000])));
        let get = |cache: &ProgramCache, key: &Key| assert_eq!(black_box(cache.get(key).expect("cached")).data()[0], 7);
        row("ours", slices, of, |_, key| get(&ours[0], key));
        row("apart", slices, of, |thread, key| get(&ours[thread], key));
        row("quick_cache", slices, of, |_, key| {
            assert_eq!(black_box(theirs.get(key).expect("cached"))[0], 7);
        });
    }
}

/// As a digest would be.
fn key(number: u64) -> Key {
    let mut key = [0; 32];
    for (place, word) in key.chunks_exact_mut(8).enumerate() {
        let mixed = (number * 4 + place as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        word.copy_from_slice(&(mixed ^ mixed >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9).to_le_bytes());
    }
    key
}

fn filled(keys: &[Key]) -> ProgramCache {
    let cache = ProgramCache::new(Options::default(), Partners::default()).expect("memory");
    for key in keys {
        cache.put(key, &Program { data: &[7; 1000], ..Program::default() }).expect("memory");
    }
    cache
}

/// Print the best slice of gets on one thread and on two at once.
fn row<'a>(name: &str, slices: usize, keys_of: impl Fn(usize) -> &'a [Key] + Sync, get: impl Fn(usize, &Key) + Sync) {
    let [one, two] = [1, 2].map(|threads| best_slice(threads, slices, &keys_of, &get));
    println!("  {name:11}: {one:5.1} ns on one thread, {two:5.1} ns on two: {:.2} times the gets", 2.0 * one / two);
}

/// Nanoseconds that one get takes the slower thread in the best slice; only those count in which all threads were at it
/// nine tenths of the time. NaN if there was none.
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
