//! The calls of a frame: a step with nothing to do, the state of a key, a ready group, and the work of a job.

use std::hint::black_box;

use hobgoblin::pipeline::precompile::{Entry, Mode, Options, Outcome, Pace, Paces, Policy, Precompiler, State};
use hobgoblin::pipeline::{Mask, PipelineKey};
use hobgoblin_bench::timing::least_of;

const CALLS: usize = 100_000;
const RUNS: usize = 30;
const PIPELINES: usize = 35_000;

fn key(number: usize) -> PipelineKey {
    PipelineKey::of(&number.to_le_bytes())
}

/// Nanoseconds of a call.
fn each(mut call: impl FnMut()) -> f64 {
    least_of(RUNS, || (0..CALLS).for_each(|_| call())) * 1e3 / CALLS as f64
}

#[inline(never)]
fn empty(precompiler: &Precompiler) {
    black_box(precompiler);
}

#[inline(never)]
fn step(precompiler: &Precompiler) {
    precompiler.step(None);
}

/// Print the table.
pub fn print() {
    let precompiler = Precompiler::new(Options { mode: Mode::Background, ..Options::default() }).expect("memory");
    for number in 0..PIPELINES {
        let masks = [Mask::of_bits(1 << (number % 8))];
        precompiler.add(&Entry { key: key(number), masks: &masks, ..Entry::default() }).expect("memory");
    }
    let group = precompiler.add_group(&[key(1), key(2), key(3)]).expect("memory");
    let start = least_of(1, || {
        precompiler.step(None);
        while precompiler.counts().remaining() > PIPELINES / 2 {
            precompiler.step(None);
            let job = precompiler.take().expect("granted");
            precompiler.finish(&job, Outcome::Ok, 1000).expect("it runs");
        }
    });
    let of_a_job = start * 1e3 / (PIPELINES / 2) as f64;
    let mask_change = least_of(5, || {
        let mut masks = precompiler.masks();
        masks.regular = Mask::of_bits(1 << 5);
        precompiler.set_masks(masks).expect("memory");
        masks.regular = Mask::NONE;
        precompiler.set_masks(masks).expect("memory");
    }) / 2.0;
    // Requests of pipelines that wait, while 17,500 are queued.
    let wanted: Vec<PipelineKey> =
        (0..PIPELINES).map(key).filter(|key| precompiler.state(key) == State::Queued).collect();
    let requests =
        least_of(1, || wanted[..1000].iter().for_each(|key| _ = black_box(precompiler.request(key)))) / 1000.0;
    precompiler.set_mode(Mode::Fast);
    let fast = Pace { batch: 0, time_us: 0 };
    precompiler.set_paces(Paces { fast, ..precompiler.paces() });
    precompiler.step(None);
    while let Some(job) = precompiler.take() {
        precompiler.finish(&job, Outcome::Ok, 1000).expect("it runs");
    }
    let wanted = key(PIPELINES / 2);
    let (nothing, idle) = (each(|| empty(&precompiler)), each(|| step(&precompiler)));
    let state = each(|| _ = black_box(precompiler.state(black_box(&wanted))));
    let ready = each(|| _ = black_box(precompiler.decide(black_box(group), Policy::Skip)));
    println!("calls with {PIPELINES} pipelines, in nanoseconds");
    println!("an empty call {nothing:.1}   step with nothing to do {idle:.1}   state {state:.1}   decide {ready:.1}");
    println!(
        "step, take and finish {of_a_job:.0}   request {:.0}   change of the mask {mask_change:.0} microseconds",
        requests * 1e3
    );
}
