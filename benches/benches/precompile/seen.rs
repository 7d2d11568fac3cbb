//! The table of known pipelines: a find compared with a lookup in a `HashMap`, on one thread and on two.

use std::collections::HashMap;
use std::hint::black_box;
use std::sync::Barrier;
use std::thread::scope;

use hobgoblin::base::thread_number;
use hobgoblin::pipeline::{PipelineKey, Seen};
use hobgoblin_bench::random::Random;
use hobgoblin_bench::timing::{least_of, median};

const RUNS: usize = 30;
const DRAWS: usize = 20_000;

fn key(number: usize) -> PipelineKey {
    PipelineKey::of(&number.to_le_bytes())
}

/// Processor time of this thread in nanoseconds. Linux alone has it as a file.
fn thread_ns() -> u64 {
    let statistics = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    statistics.split(' ').next().and_then(|word| word.parse().ok()).unwrap_or(0)
}

/// Processor nanoseconds of a draw while that many threads draw at the same time. Unlike the time on the wall, it does not
/// depend on other programs that share the processors.
fn draw_ns(threads: usize, draw: &(dyn Fn() + Sync)) -> f64 {
    let start = Barrier::new(threads);
    scope(|scope| {
        let work = || {
            start.wait();
            let from = thread_ns();
            (0..200).for_each(|_| draw());
            thread_ns() - from
        };
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let total: u64 = workers.into_iter().map(|worker| worker.join().expect("no panic")).sum();
        total as f64 / (threads * 200 * DRAWS) as f64
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
        let scaling: Vec<f64> = (0..11).map(|_| 2.0 * draw_ns(1, &draw) / draw_ns(2, &draw)).collect();
        println!(
            "{count:7} pipelines   find {ours:5.1}   HashMap {theirs:5.1}   ratio {:.2}   find and use {with_use:5.1}   \
             two threads x{:.2}   {:.1} bytes each",
            ours / theirs,
            median(&scaling),
            seen.memory_used() as f64 / count as f64,
        );
    }
}
