//! Without memory a call fails, and changes nothing; the calls of a frame need none.

use std::time::Duration;

use super::*;
use crate::base::Code;
use crate::testing::allocator::{allocations, with_failure};

/// Add an entry with all lists, and a group.
fn fill(precompiler: &Precompiler, number: u32) -> Result<Id> {
    let masks = [Mask::of_bits(number.into()), Mask::of_bits(1 << 40)];
    let shaders = [1, 2].map(|stage| ShaderHash([number as u8 ^ stage; 20]));
    let sightings = [0, 1].map(|recording| Sighting { recording: recording + number / 8, frame: 10 * number });
    let entry = Entry { masks: &masks, shaders: &shaders, sightings: &sightings, ..Entry::default() };
    precompiler.add(&Entry { key: key(number), ..entry })?;
    precompiler.add_group(&[key(number), key(number + 1000)])
}

fn options() -> Options {
    Options { order: Order::Predicted, shaders_first: true, ..unlimited() }
}

#[test]
fn failed_allocation_fails_the_call_and_the_next_one_works() {
    let refused = |why: Option<crate::base::Error>| why.map(|why| why.code()) == Some(Code::OutOfMemory);
    for failing in 0.. {
        let precompiler = precompiler(options());
        let mut failures = 0;
        with_failure(failing, || {
            for number in 0..40 {
                let before = precompiler.counts();
                if let Err(why) = fill(&precompiler, number) {
                    assert_eq!(why.code(), Code::OutOfMemory);
                    let after = precompiler.counts();
                    assert!(after.remaining() <= before.remaining() + 1);
                    failures += 1;
                    fill(&precompiler, number).expect("memory");
                }
                if refused(precompiler.set_masks(masks(1 << 40, 0)).err()) {
                    failures += 1;
                    assert_eq!(precompiler.masks(), if number == 0 { masks(0, 0) } else { masks(1 << 40, 0) });
                    precompiler.set_masks(masks(1 << 40, 0)).expect("memory");
                }
            }
        });
        assert_eq!(precompiler.counts().remaining(), 40);
        let compiled = compile_frame(&precompiler);
        assert_eq!((compiled.len(), precompiler.counts().ready), (40, 40));
        if failures == 0 {
            assert!(failing > 20, "it took {failing} allocations only");
            break;
        }
        assert_eq!(failures, 1);
    }
    assert!(refused(with_failure(0, || Precompiler::new(options())).err()));
}

#[test]
fn calls_of_a_frame_allocate_nothing() {
    let precompiler = precompiler(options());
    let groups: Vec<Id> = (0..300).map(|number| fill(&precompiler, number).expect("memory")).collect();
    let count = allocations(|| {
        let mut taken = 0_u32;
        for frame in 0..600 {
            precompiler.note_use(&key(frame % 300));
            precompiler.step(Some(1_000_000));
            precompiler.request(&key(7 * frame % 300));
            while let Some(job) = precompiler.take() {
                taken += 1;
                let outcome = if taken.is_multiple_of(5) { Outcome::Cancelled } else { Outcome::Ok };
                precompiler.finish(&job, outcome, 10).expect("it runs");
                if taken.is_multiple_of(4) {
                    break;
                }
            }
            let group = groups[frame as usize % groups.len()];
            precompiler.decide(group, Policy::Wait(Duration::ZERO)).expect("a group");
            precompiler.set_mode(if frame % 2 == 0 { Mode::Precompile } else { Mode::Background });
            assert_eq!(precompiler.wait(&key(frame + 5000), Duration::MAX), State::Unknown);
        }
    });
    assert_eq!(count, 0);
    assert_eq!(precompiler.counts().ready, 300);
    assert!(precompiler.memory_used() > 300 * 100);
}
