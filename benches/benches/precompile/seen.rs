//! The table of known pipelines: a find compared with a lookup in a `HashMap`, on one thread and on two.

use std::collections::HashMap;
use std::hint::black_box;
use std::sync::Barrier;
use std::thread::{scope, yield_now};
use std::time::Instant;

use hobgoblin::base::thread_number;
use hobgoblin::pipeline::{PipelineKey, Seen};
use hobgoblin_bench::random::Random;
use hobgoblin_bench::timing::{least_of, median};

const RUNS: usize = 30;
const DRAWS: usize = 20_000;

fn key(number: usize) -> PipelineKey {
    PipelineKey::of(&number.to_le_bytes())
}

/// Draws per second of `threads` threads together.
fn rate(threads: usize, draw: &(dyn Fn() + Sync)) -> f64 {
    let start = Barrier::new(threads + 1);
    scope(|scope| {
        let work = || {
            start.wait();
            (0..200).for_each(|_| draw());
        };
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        start.wait();
        let from = Instant::now();
        while workers.iter().any(|worker| !worker.is_finished()) {
            yield_now();
        }
        (threads * 200 * DRAWS) as f64 / from.elapsed().as_secs_f64()
    })
}

/// Print the table.
pub fn print() {
    println!("seen: nanoseconds a draw; a HashMap with its default hasher beside it");
    for count in [1_000, 35_000, 100_000] {
        let seen = Seen::default();
        let mut map = HashMap::new();
        for number in 0..count {
            let (index, _) = seen.insert(&key(number)).expect("memory");
            map.insert(key(number), index);
        }
        let mut random = Random(7);
        let draws: Vec<PipelineKey> = (0..DRAWS).map(|_| key(random.below(count))).collect();
        let each = |find: &dyn Fn(&PipelineKey) -> Option<u32>| {
            1e3 / DRAWS as f64 * least_of(RUNS, || draws.iter().for_each(|key| _ = black_box(find(black_box(key)))))
        };
        let (ours, theirs) = (each(&|key| seen.find(key)), each(&|key| map.get(key).copied()));
        let thread = thread_number();
        let with_use = each(&|key| seen.find(key).inspect(|&index| _ = seen.note_use(index, thread)));
        let draw = || {
            let thread = thread_number();
            for key in &draws {
                let found = seen.find(black_box(key));
                black_box(found.map(|index| seen.note_use(index, thread)));
            }
        };
        // Pairs of runs, because other programs may take a processor in between.
        let scaling: Vec<f64> = (0..11).map(|_| rate(2, &draw) / rate(1, &draw)).collect();
        println!(
            "{count:7} pipelines   find {ours:5.1}   HashMap {theirs:5.1}   ratio {:.2}   find and use {with_use:5.1}   \
             two threads x{:.2}   {:.1} bytes each",
            ours / theirs,
            median(&scaling),
            seen.memory_used() as f64 / count as f64,
        );
    }
}
