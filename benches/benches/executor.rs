//! The cost of a loop over empty blocks: on the pool, on rayon's pool, and without a pool.
//!
//! `cargo bench -p hobgoblin-bench --bench executor -- --help`

use std::hint::black_box;
use std::time::Duration;

use hobgoblin::executor::{Background, Executor, Helpers, Options, Priority};
use hobgoblin_bench::options::Operand;
use hobgoblin_bench::timing::{median, microseconds, quantile};

const HELP: &str = "\
Benchmark of the executor's loops.

  cargo bench -p hobgoblin-bench --bench executor -- [options]

  --quick      fewer rounds: a second
  --help       this page

Each row is a loop over so many blocks that do nothing, entered from a thread outside of the pool, microseconds, median
and p99. 'warm': one loop right after the other; 'frame': a millisecond of sleep in between, as between two passes of a
frame, so that workers have gone to sleep. The floor is a plain loop that calls the same body by pointer. Ratios: to the
floor, and of rayon (a pool of as many threads; a scope with a spawn for each block) to ours.
";

const THREADS: usize = 3;

struct Peers {
    ours: Executor,
    inline: Executor,
    rayon: rayon::ThreadPool,
}

/// Median and p99.
type Times = (f64, f64);

fn times(rounds: usize, pause: Duration, mut work: impl FnMut()) -> Times {
    let samples: Vec<f64> = (0..rounds)
        .map(|_| {
            std::thread::sleep(pause);
            microseconds(&mut work)
        })
        .collect();
    (median(&samples), quantile(&samples, 0.99))
}

/// Times a loop that is too short for the clock, in batches.
fn times_of_batches(rounds: usize, mut work: impl FnMut()) -> Times {
    const BATCH: usize = 1000;
    let batches: Vec<f64> =
        (0..rounds.div_ceil(10)).map(|_| microseconds(|| (0..BATCH).for_each(|_| work())) / BATCH as f64).collect();
    (median(&batches), quantile(&batches, 0.99))
}

fn row(peers: &Peers, blocks: usize, rounds: usize, pause: Duration) {
    let body = |block: usize| {
        black_box(block);
    };
    let floor_body: &(dyn Fn(usize) + Sync) = black_box(&body);
    let floor = times_of_batches(rounds, || (0..blocks).for_each(floor_body));
    let inline = times_of_batches(rounds, || {
        peers.inline.parallel_for(blocks, Priority::Normal, "empty", &|_, block| body(block))
    });
    let ours = times(rounds, pause, || {
        peers.ours.parallel_for(blocks, Priority::Normal, "empty", &|_, block| body(block));
    });
    let rayon = times(rounds, pause, || {
        peers.rayon.scope(|scope| (0..blocks).for_each(|block| scope.spawn(move |_| body(block))));
    });
    println!(
        "{blocks:6}  {:5}  {:9.3}  {:9.3} ({:4.1}x)  {:8.2} / {:8.2} ({:6.1}x)  {:8.2} / {:8.2}  {:5.2}x",
        if pause.is_zero() { "warm" } else { "frame" },
        floor.0,
        inline.0,
        inline.0 / floor.0,
        ours.0,
        ours.1,
        ours.0 / floor.0,
        rayon.0,
        rayon.1,
        rayon.0 / ours.0,
    );
}

fn main() -> std::process::ExitCode {
    let take = |quick: &mut bool, word: &str, _: &mut Operand<'_>| {
        *quick |= word == "--quick";
        Ok(word == "--quick")
    };
    hobgoblin_bench::options::run(HELP, false, take, |&quick| {
        run(if quick { 200 } else { 2000 });
        Ok(())
    })
}

fn run(rounds: usize) {
    let options = Options { helpers: Helpers::Pool(THREADS), background: Background::Pump, ..Options::default() };
    let peers = Peers {
        ours: Executor::new(options).expect("threads can be had"),
        inline: Executor::inline(),
        rayon: rayon::ThreadPoolBuilder::new().num_threads(THREADS).build().expect("threads can be had"),
    };
    println!("{THREADS} threads beside the caller, {} that the machine runs at once", {
        std::thread::available_parallelism().map_or(1, usize::from)
    });
    println!(
        "blocks  when   floor us   inline us          pool us, median / p99          rayon us, median / p99  rayon/pool"
    );
    for blocks in [2, 8, 64, 1024] {
        row(&peers, blocks, rounds, Duration::ZERO);
        row(&peers, blocks, rounds, Duration::from_millis(1));
    }
}
