//! Frames over budget while pipelines compile in the background, on a virtual clock.
//!
//! Two workers compile beside the frame. A running build takes memory bandwidth, cache and clock from it: each microsecond
//! of build time makes the frame longer by [`SLOWDOWN`]. The work of a frame depends on the scene, and varies.
//!
//! A [`Control`] gives the budget of build time. A build cannot be interrupted, so the controls offer whole builds only: a
//! frame's length of build time for each. [`HeadRoom`] stands in for the goblin: it learns the frame's own work.

use super::super::{Entry, Mode, Options, Order, Outcome, Pace, Paces, PipelineKey, Precompiler};
use super::random::Random;
use super::trace::BUILD_US;

pub const FRAME_US: f64 = 16_667.0;
pub const WORKERS: usize = 2;
pub const SLOWDOWN: f64 = 0.2;
const PIPELINES: usize = 1_500;
/// Work of a frame by scene, and its deviation.
const SCENES_US: [f64; 3] = [9_000.0, 12_000.0, 14_500.0];
const DEVIATION_US: f64 = 300.0;
/// Frames of a scene.
const SCENE: std::ops::Range<u32> = 120..600;
/// Deviations above the mean that the host expects of a frame.
const SIGMAS: f64 = 3.0;
/// The weight of the latest frame in the host's estimate.
const NEW: f64 = 0.1;

/// A fixed batch, and its result.
pub type Fixed = ((u32, u32), WarmedUp);

/// How builds are limited.
pub trait Control {
    /// The pace of all frames.
    fn pace(&self) -> Pace {
        Pace { batch: 0, time_us: 0 }
    }
    /// Whether this frame grants builds, and their budget.
    fn grant(&mut self, frame: u32) -> Option<Option<u64>>;
    /// The frame's own work, and the time that builds added to it, in microseconds.
    fn learn(&mut self, _work_us: f64, _builds_us: f64) {}
}

/// A batch every few frames.
struct Batch {
    builds: u32,
    every: u32,
}

impl Control for Batch {
    fn pace(&self) -> Pace {
        Pace { batch: self.builds, time_us: 0 }
    }

    fn grant(&mut self, frame: u32) -> Option<Option<u64>> {
        frame.is_multiple_of(self.every).then_some(None)
    }
}

/// The fixed batches to compare with: builds, and frames between them.
pub const BATCHES: [(u32, u32); 12] =
    [(50, 1), (8, 1), (4, 1), (2, 1), (1, 1), (5, 6), (4, 5), (2, 3), (1, 2), (1, 3), (1, 4), (1, 8)];

/// The result of a warm-up.
#[derive(Clone, Copy, Debug, Default)]
pub struct WarmedUp {
    /// Frames until all pipelines were ready.
    pub frames: u32,
    /// Frames over budget among them.
    pub over: u32,
}

impl WarmedUp {
    /// The share of frames over budget.
    pub fn over_share(&self) -> f64 {
        f64::from(self.over) / f64::from(self.frames.max(1))
    }
}

fn key(number: usize) -> PipelineKey {
    PipelineKey::of(&(number as u64).to_le_bytes())
}

/// The head-room that a host learns.
pub struct HeadRoom {
    mean: f64,
    variance: f64,
}

impl Default for HeadRoom {
    fn default() -> Self {
        Self { mean: FRAME_US, variance: 0.0 }
    }
}

impl Control for HeadRoom {
    fn grant(&mut self, _: u32) -> Option<Option<u64>> {
        let free = (FRAME_US - self.mean - SIGMAS * self.variance.sqrt()) / SLOWDOWN;
        Some(Some(((free / FRAME_US).floor().max(0.0) * FRAME_US) as u64))
    }

    fn learn(&mut self, work_us: f64, _: f64) {
        let error = work_us - self.mean;
        self.mean += NEW * error;
        self.variance += NEW * (error * error - self.variance);
        // A scene change is no noise: start again from the new level.
        if error.abs() > 5.0 * DEVIATION_US {
            (self.mean, self.variance) = (work_us, 4.0 * DEVIATION_US * DEVIATION_US);
        }
    }
}

/// Compile all pipelines of a seed beside its frames.
pub fn warm_up(seed: u64, control: &mut dyn Control) -> WarmedUp {
    let mut random = Random(seed);
    let build_us: Vec<u64> = (0..PIPELINES).map(|_| BUILD_US[random.below(BUILD_US.len())]).collect();
    let options = Options {
        mode: Mode::Background,
        order: Order::File,
        paces: Paces { background: control.pace(), ..Paces::default() },
        ..Options::default()
    };
    let precompiler = Precompiler::new(options).expect("memory");
    for (number, &build_us) in build_us.iter().enumerate() {
        precompiler.add(&Entry { key: key(number), build_us, ..Entry::default() }).expect("memory");
    }
    let mut workers: [(f64, Option<_>); WORKERS] = [(0.0, None); WORKERS];
    let (mut scene_us, mut scene_ends) = (0.0, 0);
    let mut warmed_up = WarmedUp::default();
    while precompiler.counts().remaining() > 0 {
        let frame = warmed_up.frames;
        if frame >= scene_ends {
            scene_us = SCENES_US[random.below(SCENES_US.len())];
            scene_ends = frame + SCENE.start + random.below((SCENE.end - SCENE.start) as usize) as u32;
        }
        let work_us = scene_us + DEVIATION_US * random.normal();
        if let Some(budget_us) = control.grant(frame) {
            precompiler.step(budget_us);
        }
        let (start, end) = (f64::from(frame) * FRAME_US, f64::from(frame + 1) * FRAME_US);
        let mut busy_us = 0.0;
        // The worker that is free first takes the next job.
        while let Some(worker) =
            workers.iter_mut().filter(|(free_at, _)| *free_at < end).min_by(|one, other| one.0.total_cmp(&other.0))
        {
            let (free_at, running) = worker;
            if let Some(job) = running.take() {
                let took = build_us[number_of(&job)];
                busy_us += *free_at - (*free_at - took as f64).max(start);
                precompiler.finish(&job, Outcome::Ok, took).expect("it runs");
            }
            *free_at = free_at.max(start);
            match precompiler.take() {
                Some(job) => {
                    *free_at += build_us[number_of(&job)] as f64;
                    *running = Some(job);
                }
                None => *free_at = end,
            }
        }
        // Builds that go on in the next frame.
        for (free_at, running) in &workers {
            if let Some(job) = running {
                busy_us += end - (*free_at - build_us[number_of(job)] as f64).max(start);
            }
        }
        warmed_up.frames += 1;
        warmed_up.over += u32::from(work_us + SLOWDOWN * busy_us > FRAME_US);
        control.learn(work_us, SLOWDOWN * busy_us);
    }
    warmed_up
}

/// Keys were added in order.
fn number_of(job: &super::super::Job) -> usize {
    job.index as usize
}

/// The warm-ups of several seeds together, each with a control of its own.
pub fn warm_up_all<C: Control>(seeds: std::ops::Range<u64>, control: impl Fn() -> C) -> WarmedUp {
    seeds
        .map(|seed| warm_up(seed, &mut control()))
        .fold(WarmedUp::default(), |sum, one| WarmedUp { frames: sum.frames + one.frames, over: sum.over + one.over })
}

/// The warm-ups of several seeds together, with each fixed batch.
pub fn fixed_batches(seeds: std::ops::Range<u64>) -> Vec<Fixed> {
    BATCHES.map(|(builds, every)| ((builds, every), warm_up_all(seeds.clone(), || Batch { builds, every }))).to_vec()
}

/// Of the batches that end as early, or up to a tenth later, the one with the fewest frames over budget.
pub fn best_batch(governed: &WarmedUp, batches: &[Fixed]) -> Fixed {
    let early = batches.iter().filter(|(_, batch)| f64::from(batch.frames) <= 1.1 * f64::from(governed.frames));
    *early.min_by(|one, other| one.1.over_share().total_cmp(&other.1.over_share())).expect("the largest batch is early")
}
