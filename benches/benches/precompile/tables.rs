//! The tables of the simulations.

use hobgoblin::pipeline::precompile::Order;

use crate::governed::Governed;
use crate::simulation::orders::play;
use crate::simulation::requests::request_under_load;
use crate::simulation::shaders::{cover, random_pairs};
use crate::simulation::trace::Game;
use crate::simulation::warm_up::{HeadRoom, WarmedUp, best_batch, fixed_batches, warm_up_all};

const SEEDS: std::ops::Range<u64> = 1000..1024;

/// Requests while 10,000 pipelines are queued.
pub fn requests() {
    println!("requests while 10,000 pipelines are queued: builds that end before, jobs that overtake, milliseconds");
    for workers in 1..=8 {
        let waits = request_under_load(workers, 1000);
        println!(
            "{workers} workers   at most {} builds before   {} overtaken   mean {:6.1}   worst {:6.1}",
            waits.worst_builds,
            waits.overtaken,
            waits.mean_us as f64 / 1e3,
            waits.worst_us as f64 / 1e3
        );
    }
}

/// Builds until each distinct shader is built.
pub fn shaders() {
    println!("builds until each distinct shader is built, of pipelines with two shaders");
    for seed in 1..4 {
        let pairs = random_pairs(seed);
        let (first, file) = (cover(true, &pairs), cover(false, &pairs));
        println!(
            "{} pipelines   {} shaders   shaders first {}, {:.2} a shader   order of the file {}, {:.2} a shader",
            first.pipelines,
            first.shaders,
            first.builds,
            first.builds as f64 / first.shaders as f64,
            file.builds,
            file.builds as f64 / file.shaders as f64
        );
    }
}

/// First uses that are not ready, by order.
pub fn orders() {
    let orders = [
        (Order::Predicted, "predicted"),
        (Order::File, "file"),
        (Order::FirstToLatestUsed, "first to latest used"),
        (Order::MostToLeastUsed, "most to least used"),
        (Order::UsageMask, "usage mask"),
    ];
    println!("first uses that are not ready, over {} seeds; work in seconds", SEEDS.count());
    let games: Vec<Game> = SEEDS.map(Game::new).collect();
    let mut predicted = 0;
    for (order, name) in orders {
        let played: Vec<_> = games.iter().map(|game| play(game, order)).collect();
        let (unready, first_uses): (usize, usize) =
            (played.iter().map(|played| played.unready).sum(), played.iter().map(|played| played.first_uses).sum());
        let work_us: u64 = played.iter().map(|played| played.work_us).sum();
        let worst = played.iter().map(|played| played.unready as f64 / played.first_uses as f64).fold(0.0, f64::max);
        if order == Order::Predicted {
            predicted = unready;
        }
        println!(
            "{name:22} {unready:6} of {first_uses}   {:5.2} %   worst seed {:5.2} %   ratio {:5.2}   work {:.1}",
            100.0 * unready as f64 / first_uses as f64,
            100.0 * worst,
            unready as f64 / predicted.max(1) as f64,
            work_us as f64 / 1e6
        );
    }
}

/// Frames over budget during warm-up.
pub fn warm_up() {
    let seeds = 1..21;
    let print = |name: &str, warmed_up: &WarmedUp| {
        let (frames, share) = (warmed_up.frames / 20, 100.0 * warmed_up.over_share());
        println!("{name:28} warm after {frames:6} frames   over budget {share:6.2} %");
    };
    println!("frames over budget during warm-up, over 20 seeds");
    let governed = [
        ("budget of the goblin", warm_up_all(seeds.clone(), Governed::default)),
        ("budget of the head-room", warm_up_all(seeds.clone(), HeadRoom::default)),
    ];
    governed.iter().for_each(|(name, warmed_up)| print(name, warmed_up));
    let batches = fixed_batches(seeds);
    for ((builds, every), warmed_up) in &batches {
        print(&format!("{builds} per {every} frames"), warmed_up);
    }
    for (name, governed) in &governed {
        let ((builds, every), best) = best_batch(governed, &batches);
        let ratio = best.over_share() / governed.over_share();
        println!("{name}: the best batch that is as early, {builds} per {every} frames, has {ratio:.1} times as many");
    }
}
