//! A renderer's frames: the cost of every pass in every frame of two minutes, drawn from a seed.
//!
//! The settings are those of a common deferred renderer, with values and costs that differ by seed. A workload says how
//! their costs move: with the scene (slow waves, camera sweeps, cuts, bursts, heat), and by noise (of each pass, or of
//! all passes together).

use crate::random::Random;
use crate::scenario::{Scenario, TrueOption, TrueSetting};

/// Frames per second.
pub const RATE: usize = 60;
/// Frames of a run: two minutes.
pub const FRAMES: usize = 120 * RATE;

/// How the costs of a workload move.
#[derive(Clone, Copy, Debug)]
pub struct Workload {
    pub name: &'static str,
    pub about: &'static str,
    /// Number of settings with options: the first of [`LADDERS`].
    pub settings: usize,
    /// Deviation of the logarithm of every pass's noise, and its correlation from frame to frame.
    pub pass: (f64, f64),
    /// The same for the noise that all passes share.
    pub common: (f64, f64),
    /// Share of passes that take a multiple of their time in a frame, and the multiple.
    pub spikes: (f64, f64),
    /// Noise of passes is Student's t with 3 degrees of freedom instead of normal.
    pub is_heavy_tailed: bool,
    /// Deviation and period in seconds of the slow waves of each pass's load.
    pub waves: (f64, f64),
    /// Seconds between two cuts to another scene, and the deviation of the logarithm of each pass's load; 0: none.
    pub cuts: (f64, f64),
    /// Whether the host declares the cuts.
    pub declares_cuts: bool,
    /// Factor on all costs during bursts, their length and the time between them, in seconds.
    pub bursts: (f64, f64, f64),
    /// Largest factor by heat, and the seconds in which it builds up.
    pub heat: (f64, f64),
    /// Whether the resolution is a fine TRIM ladder.
    pub trims: bool,
}

impl Workload {
    /// Nothing moves.
    pub const STILL: Self = Self {
        name: "",
        about: "",
        settings: 11,
        pass: (0.03, 0.0),
        common: (0.0, 0.0),
        spikes: (0.0, 1.0),
        is_heavy_tailed: false,
        waves: (0.0, 1.0),
        cuts: (0.0, 0.0),
        declares_cuts: false,
        bursts: (1.0, 0.0, 0.0),
        heat: (1.0, 1.0),
        trims: false,
    };
}

/// All workloads.
pub const WORKLOADS: [Workload; 14] = [
    Workload { name: "static", about: "static scene, independent noise of 3 % on each pass", ..Workload::STILL },
    Workload {
        name: "static-ar1",
        about: "static scene, lasting noise of 6 % on each pass (AR(1) .95)",
        settings: 10,
        pass: (0.06, 0.95),
        ..Workload::STILL
    },
    Workload {
        name: "clock",
        about: "static scene, lasting noise of 4 % on all passes together (AR(1) .98)",
        common: (0.04, 0.98),
        ..Workload::STILL
    },
    Workload {
        name: "common-12%",
        about: "static scene, noise of 12 % on all passes together (AR(1) .9)",
        common: (0.12, 0.9),
        ..Workload::STILL
    },
    Workload {
        name: "spikes",
        about: "static scene, one pass in a hundred takes 2.5 times as long",
        spikes: (0.01, 2.5),
        ..Workload::STILL
    },
    Workload {
        name: "student",
        about: "static scene, noise of 3 % with the tails of Student's t, 3 degrees of freedom",
        settings: 9,
        is_heavy_tailed: true,
        ..Workload::STILL
    },
    Workload { name: "walk", about: "loads move by 15 % in 25 s", waves: (0.15, 25.0), ..Workload::STILL },
    Workload {
        name: "race",
        about: "loads move by 12 % in 6 s, lasting noise of 2 % on all passes together (AR(1) .95)",
        settings: 12,
        waves: (0.12, 6.0),
        common: (0.02, 0.95),
        ..Workload::STILL
    },
    Workload { name: "cuts", about: "another scene every 10 s, not declared", cuts: (10.0, 0.18), ..Workload::STILL },
    Workload {
        name: "cuts-declared",
        about: "another scene every 10 s, declared",
        cuts: (10.0, 0.18),
        declares_cuts: true,
        ..Workload::STILL
    },
    Workload {
        name: "bursts",
        about: "all costs 1.25 times as much for 1.5 s, every 9 s",
        settings: 8,
        bursts: (1.25, 1.5, 9.0),
        ..Workload::STILL
    },
    Workload {
        name: "heat",
        about: "costs rise by 20 % in a minute, and fall again",
        pass: (0.04, 0.5),
        heat: (1.2, 25.0),
        ..Workload::STILL
    },
    Workload {
        name: "game",
        about: "loads move by 10 % in 15 s, a cut every 25 s, noise of 3 % on all passes (AR(1) .95), spikes",
        settings: 12,
        waves: (0.10, 15.0),
        common: (0.03, 0.95),
        cuts: (25.0, 0.15),
        spikes: (0.003, 2.5),
        ..Workload::STILL
    },
    Workload {
        name: "trim",
        about: "as game, with the resolution as a TRIM ladder of 16 steps",
        settings: 12,
        waves: (0.10, 15.0),
        common: (0.03, 0.95),
        cuts: (25.0, 0.15),
        spikes: (0.003, 2.5),
        trims: true,
        ..Workload::STILL
    },
];

/// Options of a setting as (value, milliseconds).
type Ladder = (&'static str, &'static [(f64, f64)]);

/// The settings of the renderer, the most usual first.
const LADDERS: [Ladder; 12] = [
    ("resolution", &[(0.0, 2.6), (9.0, 3.5), (16.0, 4.6), (21.0, 5.8), (25.0, 7.2)]),
    ("shadows", &[(0.0, 0.3), (7.0, 0.9), (11.5, 1.7), (14.0, 2.7)]),
    ("ambient occlusion", &[(0.0, 0.0), (5.0, 0.6), (7.5, 1.3)]),
    ("reflections", &[(0.0, 0.0), (4.0, 0.8), (7.0, 1.9)]),
    ("fog", &[(0.0, 0.0), (3.5, 0.5), (5.5, 1.0), (6.5, 1.7)]),
    ("antialiasing", &[(0.0, 0.0), (4.0, 0.25), (8.0, 0.7), (9.5, 1.5)]),
    ("foliage", &[(0.0, 0.2), (3.0, 0.5), (5.0, 0.9), (6.5, 1.4), (7.5, 2.1)]),
    ("bloom", &[(0.0, 0.0), (3.0, 0.35)]),
    ("depth of field", &[(0.0, 0.0), (2.0, 0.4), (3.0, 0.9)]),
    ("motion blur", &[(0.0, 0.0), (2.0, 0.45)]),
    ("decals", &[(0.0, 0.1), (1.5, 0.25), (2.5, 0.5)]),
    ("particles", &[(0.0, 0.15), (2.0, 0.4), (3.5, 0.8), (4.5, 1.3)]),
];
/// The fixed cost of a frame, in milliseconds.
const REST: f64 = 2.5;
/// Steps of the TRIM ladder.
const TRIM_STEPS: usize = 16;
/// Seconds that a cut takes: fades, or what the eye does not see after it.
pub const CUT_FRAMES: usize = RATE;

/// The factor of every pass in every frame.
#[derive(Debug)]
pub struct Trace {
    pub scenario: Scenario,
    pub workload: Workload,
    /// Which setting is a TRIM setting.
    pub trim: Option<usize>,
    /// By frame and setting: the load and everything else that the scene decides, known to the oracle.
    loads: Vec<f32>,
    /// By frame and setting: the noise of the pass, of mean 1.
    noise: Vec<f32>,
    /// By frame and setting: the expected logarithm of the noise, given the frame before.
    expected: Vec<f32>,
    /// By frame: noise of all passes, of mean 1, and the expected part of its logarithm.
    common: Vec<(f32, f32)>,
    /// Frames in which another scene begins.
    pub cuts: Vec<usize>,
}

impl Trace {
    /// The trace of a seed.
    pub fn draw(workload: &Workload, seed: u64) -> Self {
        let mut random = Random::new(seed, 31);
        let (scenario, trim) = draw_scenario(workload, &mut random);
        Self::with(workload, scenario, trim, &mut random)
    }

    /// The same machine and settings at another time: other scenes and noise.
    pub fn draw_again(&self, seed: u64) -> Self {
        Self::with(&self.workload, self.scenario.clone(), self.trim, &mut Random::new(seed, 33))
    }

    fn with(workload: &Workload, scenario: Scenario, trim: Option<usize>, random: &mut Random) -> Self {
        let count = scenario.settings.len();
        let mut trace = Self {
            scenario,
            workload: *workload,
            trim,
            loads: Vec::with_capacity(FRAMES * count),
            noise: Vec::with_capacity(FRAMES * count),
            expected: Vec::with_capacity(FRAMES * count),
            common: Vec::with_capacity(FRAMES),
            cuts: Vec::new(),
        };
        trace.draw_loads(random);
        trace.draw_noise(random);
        trace
    }

    /// Settings, and the rest of the frame as one more.
    pub fn settings(&self) -> usize {
        self.scenario.settings.len()
    }

    /// The cost of a setting's option in a frame.
    pub fn burden(&self, frame: usize, setting: usize, choice: u16) -> f64 {
        let at = frame * self.settings() + setting;
        let factor = f64::from(self.loads[at]) * f64::from(self.noise[at]) * f64::from(self.common[frame].0);
        self.scenario.settings[setting].options[usize::from(choice)].burden * factor
    }

    /// The factor on a setting's costs that is to be expected in a frame by a player that knows the scene. `foresight`:
    /// the knowledge of an oracle that saw the frame before.
    pub fn expected_factor(&self, frame: usize, setting: usize, foresight: bool) -> f64 {
        let at = frame * self.settings() + setting;
        let (share, times) = self.workload.spikes;
        let load = f64::from(self.loads[at]) * (1.0 + share * (times - 1.0));
        if foresight { load * f64::from(self.expected[at] + self.common[frame].1).exp() } else { load }
    }

    /// Relative variances: of a pass, and of the common noise.
    pub fn variances(&self, foresight: bool) -> (f64, f64) {
        let of = |(spread, kept): (f64, f64)| spread * spread * if foresight { 1.0 - kept * kept } else { 1.0 };
        let (share, times) = self.workload.spikes;
        let tails = if self.workload.is_heavy_tailed { 3.0 } else { 1.0 };
        (tails * of(self.workload.pass) + share * (times - 1.0) * (times - 1.0), of(self.workload.common))
    }

    fn draw_loads(&mut self, random: &mut Random) {
        let Workload { waves, cuts, bursts, heat, .. } = self.workload;
        let count = self.settings();
        // Two waves a pass, and one that all share.
        let angle = |random: &mut Random| random.between(0.0, std::f64::consts::TAU);
        let own: Vec<[(f64, f64); 2]> =
            (0..count).map(|_| std::array::from_fn(|_| (waves.1 * random.between(0.6, 1.6), angle(random)))).collect();
        let shared = (waves.1 * 1.3, angle(random));
        let wave = |(period, start): (f64, f64), time: f64| (std::f64::consts::TAU * time / period + start).sin();
        let mut scene = vec![0.0; count];
        let mut next_cut = if cuts.0 > 0.0 { cuts.0 } else { f64::INFINITY };
        let mut warmth = 0.0;
        for frame in 0..FRAMES {
            let time = frame as f64 / RATE as f64;
            if time >= next_cut {
                next_cut += cuts.0 * random.between(0.7, 1.3);
                self.cuts.push(frame);
                let all = 0.5 * cuts.1 * random.normal();
                scene.iter_mut().for_each(|load| *load = all + cuts.1 * random.normal());
            }
            let is_burst = bursts.2 > 0.0 && time % bursts.2 > bursts.2 - bursts.1;
            // Heat builds up in the first two thirds, and leaves in the last.
            let target = if time < 80.0 { 1.0 } else { 0.0 };
            warmth += (target - warmth) / (heat.1 * RATE as f64);
            let all = 1.0 + (heat.0 - 1.0) * warmth;
            for setting in 0..count {
                let waved = waves.0 * (0.7 * wave(own[setting][0], time) + 0.5 * wave(own[setting][1], time))
                    + 0.6 * waves.0 * wave(shared, time);
                let burst = if is_burst { bursts.0 } else { 1.0 };
                self.loads.push(((scene[setting] + waved).exp() * burst * all) as f32);
            }
        }
    }

    fn draw_noise(&mut self, random: &mut Random) {
        let Workload { pass: (spread, kept), common: (shared_spread, shared_kept), spikes, .. } = self.workload;
        let count = self.settings();
        let mut passes: Vec<f64> = (0..count).map(|_| random.normal()).collect();
        let mut shared = random.normal();
        for _ in 0..FRAMES {
            for z in &mut passes {
                let before = *z;
                *z = kept * before + (1.0 - kept * kept).sqrt() * random.normal();
                let mut own = *z;
                if self.workload.is_heavy_tailed {
                    let squares: f64 = (0..3).map(|_| random.normal().powi(2)).sum::<f64>() / 3.0;
                    own = (own / squares.sqrt()).clamp(-8.0, 8.0);
                }
                let spike = if spikes.0 > 0.0 && random.uniform() < spikes.0 { spikes.1 } else { 1.0 };
                self.noise.push(((spread * own - 0.5 * spread * spread).exp() * spike) as f32);
                self.expected.push((spread * kept * before - 0.5 * spread * spread * kept * kept) as f32);
            }
            let before = shared;
            shared = shared_kept * before + (1.0 - shared_kept * shared_kept).sqrt() * random.normal();
            let factor = (shared_spread * shared - 0.5 * shared_spread * shared_spread).exp();
            let expected = shared_spread * shared_kept * before - 0.5 * (shared_spread * shared_kept).powi(2);
            self.common.push((factor as f32, expected as f32));
        }
    }
}

/// Settings with values and costs that differ by up to 30 %, and a budget between the lightest and the highest choice.
pub fn draw_scenario(workload: &Workload, random: &mut Random) -> (Scenario, Option<usize>) {
    let mut settings = vec![setting(random, "rest", &[(0.0, REST)])];
    for (index, (name, ladder)) in LADDERS[..workload.settings].iter().enumerate() {
        settings.push(if workload.trims && index == 0 {
            setting(random, name, &fine(ladder))
        } else {
            setting(random, name, ladder)
        });
    }
    let burdens = |setting: &TrueSetting| setting.options.iter().map(|option| option.burden).collect::<Vec<_>>();
    let lightest: f64 = settings.iter().map(|setting| burdens(setting).into_iter().fold(f64::INFINITY, f64::min)).sum();
    let highest: f64 = settings.iter().map(|setting| burdens(setting).into_iter().fold(0.0, f64::max)).sum();
    let capacity = lightest + random.between(0.5, 0.8) * (highest - lightest);
    (Scenario { settings, capacity }, workload.trims.then_some(1))
}

/// Costs by setting and option on the machine for which the ladders were written.
pub fn reference_costs(workload: &Workload) -> Vec<Vec<f64>> {
    let costs = |ladder: &[(f64, f64)]| ladder.iter().map(|step| step.1).collect::<Vec<_>>();
    let ladders = LADDERS[..workload.settings].iter().enumerate();
    let settings = ladders.map(
        |(index, (_, ladder))| {
            if workload.trims && index == 0 { costs(&fine(ladder)) } else { costs(ladder) }
        },
    );
    std::iter::once(vec![REST]).chain(settings).collect()
}

fn setting(random: &mut Random, id: &str, ladder: &[(f64, f64)]) -> TrueSetting {
    let (worth, cost) = (random.between(0.7, 1.3), random.between(0.7, 1.3));
    let mut before = (0.0, 0.0);
    let mut sum = (0.0, 0.0);
    let options = ladder.iter().map(|&(value, burden)| {
        // Steps differ, ladders still climb.
        sum.0 += worth * (value - before.0) * random.between(0.8, 1.2);
        sum.1 += cost * (burden - before.1) * random.between(0.8, 1.2);
        before = (value, burden);
        TrueOption { value: sum.0, burden: sum.1, spread: 0.0, relative_burden: 0.0 }
    });
    TrueSetting { id: id.to_string(), options: options.collect(), has_burden: true }
}

/// The same ladder in [`TRIM_STEPS`] steps.
fn fine(ladder: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let last = (ladder.len() - 1) as f64;
    let at = |step: usize| {
        let place = step as f64 * last / (TRIM_STEPS - 1) as f64;
        let below = (place as usize).min(ladder.len() - 2);
        let share = place - below as f64;
        let ((v0, b0), (v1, b1)) = (ladder[below], ladder[below + 1]);
        (v0 + share * (v1 - v0), b0 + share * (b1 - b0))
    };
    (0..TRIM_STEPS).map(at).collect()
}
