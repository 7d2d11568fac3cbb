//! Workers, a thread that changes masks and modes, and render threads at the same time.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::thread::scope;
use std::time::Duration;

use super::*;

const PIPELINES: u32 = 2_000;
const WORKERS: u32 = 8;

#[test]
fn workers_compile_each_pipeline_once_while_masks_and_modes_change() {
    for order in [Order::File, Order::Predicted] {
        let precompiler = precompiler(Options { order, shaders_first: order == Order::File, ..unlimited() });
        let builds: Vec<AtomicU32> = (0..PIPELINES).map(|_| AtomicU32::new(0)).collect();
        let is_over = AtomicBool::new(false);
        let keys: Vec<PipelineKey> = (0..PIPELINES).map(key).collect();
        let keys = &keys;
        scope(|scope| {
            for worker in 0..WORKERS {
                let (precompiler, builds, is_over) = (&precompiler, &builds, &is_over);
                scope.spawn(move || {
                    while !is_over.load(Relaxed) {
                        let Some(job) = precompiler.take() else {
                            std::thread::yield_now();
                            continue;
                        };
                        assert_eq!(precompiler.state(&job.key), State::Running);
                        let outcome = match job.ticket % 7 {
                            0 => Outcome::Cancelled,
                            _ => {
                                assert_eq!(builds[job.index as usize].fetch_add(1, Relaxed), 0, "compiled twice");
                                Outcome::Ok
                            }
                        };
                        precompiler.finish(&job, outcome, u64::from(worker)).expect("it runs");
                    }
                });
            }
            // A thread that adds entries, one that draws, and one that controls.
            scope.spawn(|| {
                for number in 0..PIPELINES {
                    let masks = [Mask::of_bits(1 << (number % 3))];
                    let shaders = [ShaderHash([number as u8; 20])];
                    let sightings = [Sighting { recording: number % 5, frame: number }];
                    let (masks, shaders, sightings) = (&masks[..], &shaders[..], &sightings[..]);
                    let entry = Entry { key: keys[number as usize], masks, shaders, sightings, ..Entry::default() };
                    precompiler.add(&entry).expect("memory");
                }
            });
            scope.spawn(|| {
                let mut groups = Vec::new();
                for number in (0..PIPELINES).step_by(50) {
                    let key = &keys[number as usize];
                    groups.push(precompiler.add_group(&keys[number as usize..][..50]).expect("memory"));
                    precompiler.note_use(key);
                    precompiler.request(key);
                    _ = precompiler.decide(groups[0], Policy::Wait(Duration::from_micros(100))).expect("a group");
                }
                while !groups.iter().all(|&group| precompiler.is_ready(group)) {
                    std::thread::yield_now();
                }
                // A ready group has ready pipelines only.
                assert!(keys.iter().all(|key| precompiler.state(key) == State::Ready));
                is_over.store(true, Relaxed);
            });
            let mut turn = 0;
            while !is_over.load(Relaxed) {
                turn += 1;
                precompiler.step((turn % 3 == 0).then_some(1_000));
                precompiler.set_masks(masks(1 << (turn % 4), 1 << (turn % 5))).expect("memory");
                let mode = [Mode::Fast, Mode::Precompile, Mode::Background, Mode::Paused][turn as usize % 4];
                precompiler.set_mode(mode);
                precompiler.step(None);
                if turn % 16 == 0 {
                    precompiler.set_masks(masks(0, 0)).expect("memory");
                    precompiler.set_mode(Mode::Fast);
                    precompiler.step(None);
                    std::thread::yield_now();
                }
            }
        });
        assert!(builds.iter().all(|builds| builds.load(Relaxed) == 1));
        assert_eq!(precompiler.counts(), Counts { ready: PIPELINES as usize, ..Counts::default() });
    }
}
