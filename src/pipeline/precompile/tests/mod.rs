//! The precompiler against a naive model, on threads, without memory, and in simulations with a virtual clock.

mod behaviour;
mod groups;
mod memory;
mod model;
mod orders;
mod simulation;
mod threads;
mod warm_up;

use super::*;
use crate::pipeline::{Mask, ShaderHash};

fn key(number: u32) -> PipelineKey {
    PipelineKey::of(&number.to_le_bytes())
}

fn precompiler(options: Options) -> Precompiler {
    Precompiler::new(options).expect("memory")
}

/// Without limits, in file order.
fn unlimited() -> Options {
    let pace = Pace { batch: 0, time_us: 0 };
    let paces = Paces { fast: pace, background: pace, precompile: pace };
    Options { order: Order::File, paces, ..Options::default() }
}

/// Add the pipelines with these numbers and these masks.
fn add(precompiler: &Precompiler, entries: impl IntoIterator<Item = (u32, u64)>) {
    for (number, mask) in entries {
        let masks = [Mask::of_bits(mask)];
        precompiler.add(&Entry { key: key(number), masks: &masks, ..Entry::default() }).expect("memory");
    }
}

fn masks(regular: u64, precompile: u64) -> CurrentMasks {
    CurrentMasks { regular: Mask::of_bits(regular), precompile: Mask::of_bits(precompile) }
}

/// The number of a job's pipeline.
fn number(job: &Job) -> u32 {
    (0..100_000).find(|&number| key(number) == job.key).expect("a key of these tests")
}

/// Step once, and compile all that is granted.
fn compile_frame(precompiler: &Precompiler) -> Vec<u32> {
    precompiler.step(None);
    let mut compiled = Vec::new();
    while let Some(job) = precompiler.take() {
        precompiler.finish(&job, Outcome::Ok, 1000).expect("it runs");
        compiled.push(number(&job));
    }
    compiled
}

/// Wait until another thread waits for a pipeline or a group.
fn await_waiter(precompiler: &Precompiler) {
    while precompiler.core().core.waiters == 0 {
        std::thread::yield_now();
    }
}
