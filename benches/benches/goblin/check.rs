//! Validates the simulator: compares its distributions with its generator.

use crate::oracle::{Asked, Oracle};
use crate::scenario::{Scenario, Size};
use crate::workload::{Machine, Noise, Truth};

/// Number of frames to draw.
const FRAMES: usize = 200_000;

/// Compares mean, deviation and overruns of the oracle's choice by its distributions with those of drawn frames.
///
/// Covers every noise. Returns whether all agree.
pub fn check(seeds: u64) -> bool {
    println!(
        "{:<12}{:>5} {:>11} {:>11} {:>11} {:>11} {:>9} {:>9}",
        "noise", "seed", "mean", "drawn", "deviation", "drawn", "over %", "drawn"
    );
    let mut agrees = true;
    for noise in [Noise::Iid, Noise::Ar1, Noise::Spikes, Noise::Student, Noise::Common, Noise::CommonAr1] {
        for seed in 1..=seeds {
            agrees &= compare(noise, seed);
        }
    }
    println!("{}", if agrees { "all agree" } else { "NOT all agree" });
    agrees
}

fn compare(noise: Noise, seed: u64) -> bool {
    let scenario = Scenario::draw(seed, Size::Full);
    let truth = Truth::new(&scenario, noise, 1.0);
    let oracle = Oracle::new(&scenario, &truth, Asked::Probability(0.01));
    let laws = || truth.laws.iter().zip(&oracle.choices).map(|(laws, &choice)| laws[usize::from(choice)]);
    let mean: f64 = laws().map(|law| law.mean).sum();
    let own: f64 = laws().map(|law| law.variance).sum();
    let spread = noise.common_spread();
    let deviation = ((spread * spread).exp() * (own + mean * mean) - mean * mean).sqrt();
    let mut machine = Machine::new(&truth, seed, 99);
    let (mut sum, mut squares, mut over) = (0.0, 0.0, 0.0);
    for _ in 0..FRAMES {
        machine.advance(1.0);
        let total: f64 = oracle.choices.iter().enumerate().map(|(index, &choice)| machine.burden(index, choice)).sum();
        sum += total - mean;
        squares += (total - mean).powi(2);
        over += f64::from(u8::from(total > scenario.capacity));
    }
    let frames = FRAMES as f64;
    let (shift, drawn) = (sum / frames, (squares / frames).sqrt());
    println!(
        "{:<12}{seed:>5} {mean:>11.3} {:>11.3} {deviation:>11.3} {drawn:>11.3} {:>9.3} {:>9.3}",
        format!("{noise:?}"),
        mean + shift,
        100.0 * oracle.overrun,
        100.0 * over / frames
    );
    // Correlated frames carry less information: the same certainty needs this factor more frames.
    let correlated = match noise {
        Noise::Ar1 => 39.0,
        Noise::CommonAr1 => 99.0,
        _ => 1.0,
    };
    let certainty = (correlated / frames).sqrt();
    let heavy = if noise == Noise::Student { 3.0 } else { 1.0 };
    let share_off = (over / frames - oracle.overrun).abs();
    shift.abs() < 5.0 * deviation * certainty
        && (drawn / deviation - 1.0).abs() < 5.0 * heavy * certainty + 0.002
        && share_off < 5.0 * oracle.overrun.sqrt() * certainty + 0.0003
}
