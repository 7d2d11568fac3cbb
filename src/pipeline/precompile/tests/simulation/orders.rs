//! First uses of pipelines that are not ready, by order, on a virtual clock.

use super::super::{Entry, Mode, Options, Order, Outcome, Pace, Paces, Precompiler, Sighting};
use super::super::{Mask, PipelineKey, State};
use super::trace::Game;

const FRAME_US: u64 = 16_667;
/// Build time of a frame, while loading and while playing.
const LOADING_US: u64 = 16_000;
const PLAYING_US: u64 = 2_500;
/// Frames of the loading screen.
const LOADING: u32 = 300;

/// The result of a play-through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Played {
    /// First uses of recorded pipelines.
    pub first_uses: usize,
    /// First uses that were not ready.
    pub unready: usize,
    /// Builds, and their time in microseconds.
    pub builds: usize,
    pub work_us: u64,
}

fn key(pipeline: usize) -> PipelineKey {
    PipelineKey::of(&(pipeline as u64).to_le_bytes())
}

fn precompiler(game: &Game, order: Order) -> Precompiler {
    let pace = Pace { batch: 0, time_us: 0 };
    let paces = Paces { fast: pace, background: pace, precompile: pace };
    let precompiler = Precompiler::new(Options { order, paces, ..Options::default() }).expect("memory");
    for &pipeline in &game.file {
        let recorded = &game.recorded[pipeline];
        let sightings: Vec<Sighting> =
            recorded.sightings.iter().map(|&(recording, frame)| Sighting { recording, frame }).collect();
        let masks: Vec<Mask> = recorded.areas.iter().map(|&bits| Mask::of_bits(bits)).collect();
        let entry = Entry {
            key: key(pipeline),
            masks: &masks,
            first_frame: sightings.iter().map(|seen| seen.frame.into()).min(),
            times_used: recorded.times_used,
            build_us: recorded.build_us,
            sightings: &sightings,
            ..Entry::default()
        };
        precompiler.add(&entry).expect("memory");
    }
    precompiler
}

/// Play the game of a seed. One worker compiles. A pipeline that is not ready at its first use is requested.
pub fn play(game: &Game, order: Order) -> Played {
    let precompiler = precompiler(game, order);
    let pipelines: Vec<(PipelineKey, u64)> =
        game.recorded.iter().enumerate().map(|(number, recorded)| (key(number), recorded.build_us)).collect();
    let build_us = |index: u32| pipelines[game.file[index as usize]].1;
    let mut played = Played::default();
    let mut uses = game.trace.iter().copied().peekable();
    // The end of the running build.
    let mut running = None;
    let mut free_at = 0;
    for frame in 0..LOADING + game.frames {
        let end = u64::from(frame + 1) * FRAME_US;
        let is_loading = frame < LOADING;
        if frame == LOADING {
            precompiler.set_mode(Mode::Background);
        }
        precompiler.step(Some(if is_loading { LOADING_US } else { PLAYING_US }));
        while let Some(&(_, pipeline)) = uses.peek().filter(|&&(at, _)| !is_loading && at <= frame - LOADING) {
            uses.next();
            played.first_uses += 1;
            let key = &pipelines[pipeline].0;
            if precompiler.state(key) != State::Ready {
                played.unready += 1;
                precompiler.request(key);
            }
            precompiler.note_use(key);
        }
        free_at = u64::max(free_at, end - FRAME_US);
        while free_at < end {
            if let Some(job) = running.take() {
                precompiler.finish(&job, Outcome::Ok, build_us(job.index)).expect("it runs");
            }
            let Some(job) = precompiler.take() else { break };
            played.builds += 1;
            played.work_us += build_us(job.index);
            free_at += build_us(job.index);
            running = Some(job);
        }
        // A build that ends in a later frame stays in `running`.
    }
    played
}
