//! Two threads against one, on shapes whose nodes do work, and on all shapes.

use std::sync::Barrier;
use std::time::Instant;

use hobgoblin_bench::timing::{median, ratio, thread_nanoseconds};

use crate::c_api::{Api, Graph, Pool};
use crate::shapes::{Shape, chain, levels, reactive, spin, tree, wave};

/// Work of a node.
const NODE_NS: f64 = 400.0;
/// Wall-clock time of a piece of spinning, to see how far two threads scale.
const SPIN_NS: f64 = 3e6;

fn wall(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64() * 1e9
}

/// Rounds of arithmetic that take this time.
fn rounds_of(nanoseconds: f64) -> u32 {
    const TRIED: u32 = 2_000_000;
    let samples: Vec<f64> = (0..9).map(|_| thread_nanoseconds(|| _ = std::hint::black_box(spin(TRIED, 1)))).collect();
    (nanoseconds * f64::from(TRIED) / median(&samples)) as u32
}

/// How many times as fast two threads spin as one.
fn scaling(rounds: u32) -> f64 {
    let one = wall(|| _ = std::hint::black_box(spin(2 * rounds, 1)));
    let (start, end) = (Barrier::new(2), Barrier::new(2));
    let mut two = 0.0;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            start.wait();
            std::hint::black_box(spin(rounds, 1));
            end.wait();
        });
        start.wait();
        two = wall(|| {
            std::hint::black_box(spin(rounds, 2));
            end.wait();
        });
    });
    one / two
}

/// Frames on one thread and with the pool.
#[derive(Default)]
struct Samples {
    /// Wall-clock nanoseconds, on one thread and with the pool.
    wall: [Vec<f64>; 2],
    /// Processor time of the calling thread. If no block is handed out, its ratio is that of the wall-clock times, and
    /// other programs do not disturb it.
    caller: [Vec<f64>; 2],
    scaling: Vec<f64>,
    blocks: u64,
}

/// Frames on one thread and with the pool take turns. `spinning`: rounds of arithmetic for the scaling of each round.
fn race(api: &Api, pool: &Pool<'_>, shape: &Shape, work: u32, rounds: usize, spinning: u32) -> Samples {
    let mut samples = Samples::default();
    let mut graphs = [None, Some(pool)].map(|pool| (Graph::of(api, shape, &work), pool));
    let heads = shape.heads as usize;
    // Frames of few nodes are timed together.
    let batch = (1 << 14) / shape.nodes.len().min(1 << 14) as u64;
    let mut number = 1;
    // The first rounds make plans, and measure durations.
    for round in 0..rounds + 4 {
        let last = number + if round < 4 { 1 } else { batch };
        for turn in [round % 2, (round + 1) % 2] {
            let ((graph, nodes), pool) = &mut graphs[turn];
            let mut wall_ns = 0.0;
            let caller = thread_nanoseconds(|| {
                wall_ns = wall(|| {
                    for number in number..last {
                        graph.set_input(nodes[number as usize % heads], number);
                        graph.frame(*pool);
                    }
                });
            });
            if round >= 4 {
                samples.wall[turn].push(wall_ns);
                samples.caller[turn].push(caller);
            }
        }
        if spinning > 0 {
            samples.scaling.push(scaling(spinning));
        }
        pool.wait_idle();
        number = last;
    }
    samples.blocks = graphs[1].0.0.statistics().blocks;
    samples
}

/// Print the table.
pub fn print(api: &Api, rounds: usize) {
    let (work, spinning) = (rounds_of(NODE_NS), rounds_of(SPIN_NS));
    let pool = Pool::new(api, 1);
    println!("\ntwo threads, nodes of {NODE_NS} ns, wall-clock time; target: at least 1.5 x, normalised");
    for shape in [tree("tree of 16,384", 1 << 14), levels("levels, 128 x 128", 128), wave("wave, 128 x 128", 128)] {
        let shape = shape.at_work();
        let samples = race(api, &pool, &shape, work, rounds, spinning);
        let (times, most) = (ratio(&samples.wall[0], &samples.wall[1]), median(&samples.scaling));
        let fastest = |of: &[f64]| of.iter().copied().fold(f64::INFINITY, f64::min);
        println!(
            "{:<22} {:.2} x as fast as one thread; spinning threads: {most:.2} x; normalised to 2: {:.2} x; the fastest \
             rounds: {:.2} x",
            shape.name,
            times,
            times / most * 2.0,
            fastest(&samples.wall[0]) / fastest(&samples.wall[1])
        );
    }
    println!(
        "\nthe pool against one thread: ratio of wall-clock times (of processor times of the calling thread); target: at \
         most 1.10 on every shape"
    );
    let big = || [chain("chain of 16,384", 1 << 14), tree("tree", 1 << 14), levels("levels", 128), wave("wave", 128)];
    for (work_ns, work) in [(0, 0), (NODE_NS as u32, work)] {
        println!("nodes of {work_ns} ns:");
        for shape in big().into_iter().chain(reactive()) {
            let shape = if work == 0 { shape } else { shape.at_work() };
            let samples = race(api, &pool, &shape, work, rounds, 0);
            println!(
                "  {:<20} {:.2} ({:.2}){}",
                shape.name,
                ratio(&samples.wall[1], &samples.wall[0]),
                ratio(&samples.caller[1], &samples.caller[0]),
                if samples.blocks == 0 { ", no block is handed out" } else { "" }
            );
        }
    }
}
