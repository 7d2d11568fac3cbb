//! Renderer-like workloads: a governor as a player sees it, in two minutes of a game.
//!
//! Eight to twelve settings at 60 frames a second, samples two to three frames late, 1 % of frames may be late.

mod best;
pub mod scene;
mod tally;
mod zoo;

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

use crate::governor::{Governor, Knowledge, Player, Rules, seat};
use crate::oracle::Asked;
use crate::random::Random;
use best::Best;
use scene::{FRAMES, Trace, WORKLOADS, Workload};
use tally::{Tally, Watcher};

/// The options of the suite.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    pub seeds: u64,
    pub first_seed: u64,
    pub threads: usize,
    pub only: &'a [String],
    /// Whether to print the curve of value by changes a second.
    pub with_curve: bool,
    /// Whether to play the contest with the rules of others instead.
    pub with_zoo: bool,
    /// Whether the oracle knows the noise of the frame before.
    pub foresight: bool,
}

/// Changes a second of the curve.
const CURVE: [f64; 5] = [0.25, 0.5, 1.0, 2.0, 4.0];

/// The contestants.
#[derive(Clone, Copy, Debug)]
struct Contestant {
    name: &'static str,
    player: Player,
    rules: Rules,
}

/// Simulates all workloads and prints the tables.
pub fn print(request: &Request<'_>) {
    let mut contestants = vec![
        Contestant { name: "goblin", player: Player::Goblin, rules: Rules::default() },
        Contestant { name: "threshold", player: Player::Threshold, rules: Rules::default() },
    ];
    if request.with_curve {
        contestants.extend(CURVE.iter().map(|&rate| Contestant {
            name: "curve",
            player: Player::Goblin,
            rules: Rules { changes_per_second: Some(rate), ..Rules::default() },
        }));
    }
    let workloads: Vec<Workload> = WORKLOADS
        .iter()
        .filter(|workload| request.only.is_empty() || request.only.iter().any(|only| workload.name.contains(only)))
        .copied()
        .collect();
    if workloads.is_empty() {
        return;
    }
    if request.with_zoo {
        return zoo::print(request, &workloads);
    }
    let tallies = simulate(request, &workloads, &contestants);
    workloads.iter().for_each(|workload| println!("{:<14} {}", workload.name, workload.about));
    println!(
        "\nrenderer-like workloads, {} seeds of 120 s. value: share of the oracle's, after 1024 frames and of all; \
         per second: changes (TRIM and declared cuts apart), trials; reversals a minute; most changes in a second and \
         in a minute; late frames in %, in the first 256 frames in %, worst run; the oracle's changes a second",
        request.seeds
    );
    for (at, contestant) in contestants.iter().enumerate().filter(|(_, contestant)| contestant.name != "curve") {
        println!(
            "{:<14} {:>7} {:>7} | {:>8} {:>7} {:>9} | {:>6} {:>6} | {:>6} {:>6} {:>5} | {:>7}",
            contestant.name,
            "value",
            "whole",
            "changes",
            "trials",
            "reversals",
            "second",
            "minute",
            "late",
            "first",
            "run",
            "oracle"
        );
        let mut all = Tally::default();
        let mut rates = Vec::new();
        for (workload, row) in workloads.iter().zip(&tallies) {
            print_row(workload.name, &row[at]);
            all.add(&row[at]);
            rates.push(row[at].changes_per_second());
        }
        print_row("mean", &all);
    }
    if request.with_curve {
        print_curve(&contestants, &tallies);
    }
}

fn print_row(name: &str, tally: &Tally) {
    println!(
        "{:<14} {:>7.4} {:>7.4} | {:>8.3} {:>7.3} {:>9.2} | {:>6.0} {:>6.0} | {:>6.3} {:>6.2} {:>5.0} | {:>7.2}",
        name,
        tally.value / tally.runs,
        tally.whole_value / tally.runs,
        tally.changes_per_second(),
        scene::RATE as f64 * tally.trials / tally.frames,
        tally.reversals_per_minute(),
        tally.worst_second,
        tally.worst_minute,
        100.0 * tally.late_share(),
        100.0 * tally.late_at_first / (256.0 * tally.runs),
        tally.worst_run,
        tally.oracle_changes / tally.runs,
    );
}

fn print_curve(contestants: &[Contestant], tallies: &[Vec<Tally>]) {
    println!("\nasked changes/s |   value  changes  reversals    late");
    for (at, contestant) in contestants.iter().enumerate().filter(|(_, contestant)| contestant.name == "curve") {
        let mut all = Tally::default();
        tallies.iter().for_each(|row| all.add(&row[at]));
        println!(
            "{:>15.2} | {:>7.4} {:>8.3} {:>10.2} {:>7.3}",
            contestant.rules.changes_per_second.unwrap_or(f64::NAN),
            all.value / all.runs,
            all.changes_per_second(),
            all.reversals_per_minute(),
            100.0 * all.late_share(),
        );
    }
}

/// By workload and contestant, summed over the seeds. The number of threads does not change the result.
fn simulate(request: &Request<'_>, workloads: &[Workload], contestants: &[Contestant]) -> Vec<Vec<Tally>> {
    let seeds = request.seeds as usize;
    let jobs = workloads.len() * seeds;
    let next = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::channel();
    let mut found: Vec<Option<Vec<Tally>>> = (0..jobs).map(|_| None).collect();
    std::thread::scope(|scope| {
        for _ in 0..request.threads.min(jobs) {
            let (sender, next) = (sender.clone(), &next);
            scope.spawn(move || {
                loop {
                    let job = next.fetch_add(1, Ordering::Relaxed);
                    if job >= jobs {
                        return;
                    }
                    let (workload, seed) = (&workloads[job / seeds], request.first_seed + (job % seeds) as u64);
                    let trace = Trace::draw(workload, seed);
                    let oracle = Best::new(&trace, request.foresight);
                    let play = |contestant: &Contestant| play(&trace, &oracle, contestant, seed);
                    if sender.send((job, contestants.iter().map(play).collect())).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        receiver.iter().for_each(|(job, tallies)| found[job] = Some(tallies));
    });
    let mut sums = vec![vec![Tally::default(); contestants.len()]; workloads.len()];
    for (job, tallies) in found.into_iter().flatten().enumerate() {
        sums[job / seeds].iter_mut().zip(&tallies).for_each(|(sum, tally)| sum.add(tally));
    }
    sums
}

/// Lets a governor play a trace.
fn play(trace: &Trace, oracle: &Best, contestant: &Contestant, seed: u64) -> Tally {
    let rules = Rules { trim: trace.trim, ..contestant.rules };
    let asked = Asked::Probability(0.01);
    let mut governor =
        seat(contestant.player, &trace.scenario, 1.0, asked, &Knowledge { rules, ..Knowledge::default() }, seed);
    let mut watcher = Watcher::new(trace);
    let mut random = Random::new(seed, 32);
    let count = trace.settings();
    let mut in_flight: VecDeque<(u64, usize, Vec<u16>)> = VecDeque::new();
    let mut spare = vec![vec![0; count]; 8];
    for frame in 0..FRAMES {
        // Samples of a frame come before the second or third decision after it.
        let late = 2 + random.below(2) as usize;
        while in_flight.front().is_some_and(|&(_, of, _)| of + late <= frame) {
            let (decision, of, choices) = in_flight.pop_front().expect("there is a first");
            deliver(trace, governor.as_mut(), decision, of, &choices);
            spare.push(choices);
        }
        if trace.workload.declares_cuts && trace.cuts.contains(&frame) {
            governor.declare_cut(scene::CUT_FRAMES as u32);
        }
        let decided = governor.update();
        let mut choices = spare.pop().unwrap_or_else(|| vec![0; count]);
        governor.choices(&mut choices);
        let total = (0..count).map(|index| trace.burden(frame, index, choices[index])).sum();
        watcher.take(frame, &choices, total, decided.trials);
        in_flight.push_back((decided.decision, frame, choices));
    }
    watcher.close(oracle)
}

fn deliver(trace: &Trace, governor: &mut dyn Governor, decision: u64, frame: usize, choices: &[u16]) {
    let mut total = 0.0;
    for (index, &choice) in choices.iter().enumerate() {
        let burden = trace.burden(frame, index, choice);
        governor.measure(decision, index, burden);
        total += burden;
    }
    governor.measure_total(decision, total);
}
