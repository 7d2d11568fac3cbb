//! A game with areas, recordings of it, and a play-through that visits the areas in another order.
//!
//! Each area has pipelines of its own, and some of a pool that areas share. A pipeline has a place in its area, as in a
//! level that players walk through, and is met on most visits. Some pipelines belong to no area: they are met early.
//! Recordings follow the story, with areas left out or swapped. The play-through visits areas in random order.
//!
//! This generator was fixed before the prediction was tuned.

use super::random::Random;

const AREAS: usize = 12;
/// Pipelines of each area alone, of the pool, of an area from the pool, and of no area.
const OWN: usize = 200;
const POOL: usize = 500;
const SHARED: usize = 100;
const GLOBAL: usize = 100;
/// Number of pipelines.
pub const PIPELINES: usize = AREAS * OWN + POOL + GLOBAL;
/// Frames of a visit, and areas of the play-through.
const VISIT: std::ops::Range<u32> = 1800..3600;
const VISITED: usize = 8;
const RECORDINGS: u32 = 12;
/// Chance that a visit meets a pipeline of the area, and that a run meets one of no area.
const MET: f64 = 0.8;
const GLOBAL_MET: f64 = 0.9;
/// Deviation of a place, in visits.
const JITTER: f64 = 0.1;
/// Chance that a recording leaves an area out, and that it swaps two.
const LEFT_OUT: f64 = 0.3;
const SWAPPED: f64 = 0.3;

/// Build times in microseconds, in the range that was measured on lavapipe (Mesa 22.3): 3.3 to 5.4 ms each, up to 75 ms.
pub const BUILD_US: [u64; 16] =
    [3_300, 3_500, 3_700, 3_900, 4_100, 4_200, 4_400, 4_600, 4_800, 5_000, 5_200, 5_400, 8_000, 15_000, 32_000, 75_000];

/// First uses of a run: frame and pipeline, by frame. Each pipeline once.
pub type Trace = Vec<(u32, usize)>;

/// Where a pipeline is used.
struct Area {
    /// Pipeline, and its place from 0 to 1.
    pipelines: Vec<(usize, f64)>,
}

/// The recorded facts about a pipeline.
#[derive(Clone, Default)]
pub struct Recorded {
    /// Recording, and frame of the first use.
    pub sightings: Vec<(u32, u32)>,
    pub times_used: u64,
    /// One bit for each area it was recorded in; 0 for those of no area.
    pub areas: Vec<u64>,
    pub build_us: u64,
}

/// A game, as a seed makes it.
pub struct Game {
    /// By pipeline. Those without sightings are in no recording.
    pub recorded: Vec<Recorded>,
    /// Recorded pipelines in the order of the file: by recording, then by frame.
    pub file: Vec<usize>,
    /// The play-through.
    pub trace: Trace,
    /// Its length in frames.
    pub frames: u32,
}

struct World {
    areas: Vec<Area>,
    popularity: Vec<f64>,
}

impl World {
    fn new(random: &mut Random) -> Self {
        let areas = (0..AREAS).map(|area| {
            let mut pool: Vec<usize> = (AREAS * OWN..AREAS * OWN + POOL).collect();
            random.shuffle(&mut pool);
            let own = area * OWN..(area + 1) * OWN;
            let pipelines = own.chain(pool.into_iter().take(SHARED)).map(|pipeline| (pipeline, random.share()));
            Area { pipelines: pipelines.collect() }
        });
        let areas = areas.collect();
        Self { areas, popularity: (0..PIPELINES).map(|_| (1.5 * random.normal()).exp()).collect() }
    }

    /// A run through areas. `meet` gets every use of a visit: frame, pipeline, and area.
    fn run(&self, random: &mut Random, areas: &[usize], mut meet: impl FnMut(u32, usize, Option<usize>)) -> u32 {
        for pipeline in PIPELINES - GLOBAL..PIPELINES {
            if random.chance(GLOBAL_MET) {
                meet((-600.0 * random.share().max(1e-6).ln()) as u32, pipeline, None);
            }
        }
        let mut start = 0;
        for &area in areas {
            let length = VISIT.start + random.below((VISIT.end - VISIT.start) as usize) as u32;
            for &(pipeline, place) in &self.areas[area].pipelines {
                if random.chance(MET) {
                    let place = (place + JITTER * random.normal()).clamp(0.0, 0.999);
                    meet(start + (place * f64::from(length)) as u32, pipeline, Some(area));
                }
            }
            start += length;
        }
        start
    }
}

/// Only the first use of each pipeline, by frame.
fn first_uses(mut uses: Trace) -> Trace {
    uses.sort_unstable();
    let mut is_known = vec![false; PIPELINES];
    uses.retain(|&(_, pipeline)| !std::mem::replace(&mut is_known[pipeline], true));
    uses
}

impl Game {
    /// The game of a seed.
    pub fn new(seed: u64) -> Self {
        let mut random = Random(seed);
        let world = World::new(&mut random);
        let build = |_| Recorded { build_us: BUILD_US[random.below(BUILD_US.len())], ..Recorded::default() };
        let mut recorded: Vec<Recorded> = (0..PIPELINES).map(build).collect();
        let (mut file, mut is_listed) = (Vec::new(), vec![false; PIPELINES]);
        for recording in 0..RECORDINGS {
            let mut areas: Vec<usize> = (0..AREAS).filter(|_| !random.chance(LEFT_OUT)).collect();
            for place in 1..areas.len() {
                if random.chance(SWAPPED) {
                    areas.swap(place - 1, place);
                }
            }
            let mut uses = Trace::new();
            world.run(&mut random, &areas, |frame, pipeline, area| {
                uses.push((frame, pipeline));
                let recorded = &mut recorded[pipeline];
                recorded.times_used += 1 + (100.0 * world.popularity[pipeline]) as u64;
                let mask = area.map_or(0, |area| 1 << area);
                if !recorded.areas.contains(&mask) {
                    recorded.areas.push(mask);
                }
            });
            for (frame, pipeline) in first_uses(uses) {
                recorded[pipeline].sightings.push((recording, frame));
                if !std::mem::replace(&mut is_listed[pipeline], true) {
                    file.push(pipeline);
                }
            }
        }
        let mut areas: Vec<usize> = (0..AREAS).collect();
        random.shuffle(&mut areas);
        let mut uses = Trace::new();
        let frames = world.run(&mut random, &areas[..VISITED], |frame, pipeline, _| uses.push((frame, pipeline)));
        // A pipeline of no recording is missed in every order.
        uses.retain(|&(_, pipeline)| is_listed[pipeline]);
        Self { recorded, file, trace: first_uses(uses), frames }
    }
}
