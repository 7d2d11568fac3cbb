//! A cognition that sums the pixels of its region and then spins for a fixed number of steps.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hobgoblin::base::Id;
use hobgoblin::perception::image::{Rect, View};
use hobgoblin::perception::{Action, Call, Cognition, Perception, PipelineOptions, Step, Traits, Value};

/// The cognition.
pub struct Spin {
    steps: u64,
    done: Arc<AtomicU64>,
}

/// The value of a region, and of the values before it.
pub fn value(region: Option<&View<'_>>, before: &[Value], parameters: &[u8], steps: u64) -> Value {
    let mut sum = parameters.iter().fold(1_u64, |sum, &byte| sum * 31 + u64::from(byte));
    if let Some(view) = region {
        for y in 0..view.shape().height {
            let words = view.row(y).chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().expect("8 bytes")));
            sum = words.fold(sum, |sum, word| sum.wrapping_add(word).rotate_left(5));
        }
    }
    for value in before {
        sum = sum.wrapping_add(value.0[0]);
    }
    for _ in 0..black_box(steps) {
        // Not linear, so that the compiler cannot skip steps.
        sum = (sum ^ (sum >> 29)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
    Value([sum, 0])
}

impl Cognition for Spin {
    fn perceive(&self, call: &mut Call<'_>) -> bool {
        let region = call.seen[0].as_ref().map(|seen| seen.cropped());
        call.value = value(region.as_ref(), call.values, call.parameters, self.steps);
        self.done.fetch_add(self.steps, Ordering::Relaxed);
        true
    }
}

/// Adds the cognition. The counter sums the steps.
pub fn add(perception: &mut Perception<Spin>, steps: u64) -> (Id, Arc<AtomicU64>) {
    let done = Arc::new(AtomicU64::new(0));
    let spin = Spin { steps, done: done.clone() };
    let traits = Traits { is_pure: true, is_invariant: true, scale: 1, ..Traits::default() };
    (perception.add_cognition("spin", Action::Host(spin), traits).expect("there is memory"), done)
}

/// Adds a pipeline of a region, with as many steps as there are parameters.
pub fn add_pipeline(perception: &mut Perception<Spin>, spin: Id, region: Rect, parameters: &[u32]) -> Id {
    let bytes: Vec<[u8; 4]> = parameters.iter().map(|number| number.to_le_bytes()).collect();
    let steps: Vec<Step<'_>> = (bytes.iter().enumerate())
        .map(|(at, bytes)| {
            let part = if at == 0 { region } else { Rect::default() };
            Step { cognition: spin, part, tolerance: 0, parameters: bytes }
        })
        .collect();
    let options = PipelineOptions { steps: &steps, ..PipelineOptions::default() };
    perception.add_pipeline(&options).expect("there is memory")
}
