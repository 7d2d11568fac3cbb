//! Runs on recorded costs and noise.
//!
//! A frame costs what its passes were measured to cost with its choices and its work, times the noise of a recorded frame.
//! A run plays every script once. Its noise is drawn in blocks of ten seconds, so that lasting noise lasts.

use std::collections::HashMap;

use super::arena::{RATE, Run, Setting, value_of};
use super::recording::{Moment, Pass, Recording, Work};
use crate::random::Random;

/// Frames of a block of noise.
const BLOCK: usize = 10 * RATE;
/// Share of frames that the oracle may be late in.
const LATE: f64 = 0.01;
/// Deviations of a pass's own noise that the oracle keeps free, before its limit is tuned.
const ORACLE_SIGMAS: f64 = 2.0;
/// Smoothing of the noise that the oracle predicts from; 0: it predicts the mean.
const SMOOTHING: [f64; 5] = [0.0, 0.02, 0.1, 0.3, 1.0];
/// Most configurations that the oracle compares.
const MOST_CONFIGURATIONS: usize = 1 << 20;
/// Frames over which a typical cost is the mean.
const TYPICAL_FRAMES: usize = 32;

/// A configuration with its cost and value.
#[derive(Clone, Copy, Debug)]
struct Step {
    cost: f64,
    value: f64,
    /// Its place among all configurations.
    at: usize,
}

/// A recording, ready to be played.
pub struct Stage {
    settings: Vec<Setting>,
    resolution: usize,
    passes: Vec<Pass>,
    /// By pass: the setting, or fixed burden, that is charged with it.
    owners: Vec<usize>,
    /// The setting whose options multiply the time of other settings' passes, and its factors.
    factor: Option<(usize, Vec<f64>)>,
    levels: Vec<(f64, f64)>,
    mist: Vec<f64>,
    moments: Vec<Moment>,
    /// By setting: the kind of its work, and the part of the work that does not depend on objects.
    works: Vec<(Work, f64)>,
    /// By recorded frame and pass: the factor on its time.
    noise: Vec<Vec<f64>>,
    budget: f64,
    oracle: Oracle,
    /// All configurations, the lowest first.
    all: Vec<Vec<u16>>,
}

/// The knowledge of the oracle: the best configurations at each amount of work, and the noise that all passes share.
#[derive(Default)]
struct Oracle {
    /// By group: the configurations that no other one beats, by cost.
    staircases: Vec<Vec<Step>>,
    /// Group of each frame.
    groups: Vec<usize>,
    /// By recorded frame: the logarithm of the noise that all passes share.
    common: Vec<f64>,
}

impl Stage {
    /// A stage of `frames` frames. An error is a sentence.
    pub fn new(recording: &Recording, frames: usize) -> Result<Self, String> {
        let mut settings: Vec<_> = recording
            .settings
            .iter()
            .map(|setting| Setting {
                name: setting.name.clone(),
                values: setting.values.clone(),
                change_ms: setting.change_ms,
            })
            .collect();
        let resolution = recording.setting("resolution").ok_or("the recording has no resolution")?;
        let configurations: usize = settings.iter().map(|setting| setting.values.len()).product();
        if configurations > MOST_CONFIGURATIONS {
            return Err(format!("{configurations} configurations are too many: record fewer options"));
        }
        let owners = recording.passes.iter().map(|pass| {
            pass.settings.first().copied().unwrap_or_else(|| {
                settings.push(Setting { name: pass.name.clone(), values: vec![0.0], change_ms: 0.0 });
                settings.len() - 1
            })
        });
        let owners = owners.collect();
        let per_script = frames.div_ceil(recording.scripts.len());
        let moments = (0..frames).map(|frame| {
            let moments = &recording.scripts[frame / per_script].1;
            moments[frame % per_script * moments.len() / per_script]
        });
        let mut stage = Self {
            settings,
            resolution,
            passes: recording.passes.clone(),
            owners,
            factor: None,
            levels: recording.levels.clone(),
            mist: recording.mist.clone(),
            moments: moments.collect(),
            works: Vec::new(),
            noise: recording.noise.iter().map(|frame| frame.iter().map(|log| log.exp()).collect()).collect(),
            budget: 0.0,
            oracle: Oracle::default(),
            all: Vec::new(),
        };
        stage.factor = recording.setting("antialiasing").map(|setting| (setting, stage.factors_of(setting)));
        stage.works = (0..stage.settings.len()).map(|setting| stage.work_of(setting)).collect();
        stage.all = stage.configurations();
        stage.budget = stage.derived_budget();
        stage.oracle = stage.make_oracle();
        Ok(stage)
    }

    /// The configurations that no other one beats by the costs that `cost` gives.
    fn staircase(&self, cost: impl Fn(&[u16]) -> f64) -> Vec<Step> {
        let step = |(at, choices): (usize, &Vec<u16>)| Step {
            cost: cost(choices),
            value: value_of(&self.settings, choices),
            at,
        };
        let mut steps: Vec<_> = self.all.iter().enumerate().map(step).collect();
        steps.sort_by(|a, b| a.cost.total_cmp(&b.cost).then(b.value.total_cmp(&a.value)));
        let mut best = f64::NEG_INFINITY;
        steps.retain(|step| {
            let is_better = step.value > best;
            best = best.max(step.value);
            is_better
        });
        steps
    }

    /// Mean cost of a frame without noise.
    fn typical(&self, choices: &[u16]) -> f64 {
        let every = self.moments.len().div_ceil(TYPICAL_FRAMES);
        let frames = (0..self.moments.len()).step_by(every);
        let count = frames.len() as f64;
        frames.map(|frame| self.plain(frame, choices)).sum::<f64>() / count
    }

    /// A third of the way from the lowest configuration's worst frame to the highest one's, without noise.
    fn derived_budget(&self) -> f64 {
        let worst = |choices: &[u16]| (0..self.moments.len()).map(|at| self.plain(at, choices)).fold(0.0, f64::max);
        let (lowest, highest) = (worst(&self.all[0]), worst(&self.all[self.all.len() - 1]));
        lowest + (highest - lowest) / 3.0
    }

    fn configurations(&self) -> Vec<Vec<u16>> {
        let mut all = vec![vec![0; self.settings.len()]];
        for (index, setting) in self.settings.iter().enumerate() {
            all = all
                .iter()
                .flat_map(|choices| {
                    (0..setting.values.len() as u16).map(move |option| {
                        let mut choices = choices.clone();
                        choices[index] = option;
                        choices
                    })
                })
                .collect();
        }
        all
    }

    /// Milliseconds of a pass in a frame, without noise.
    fn pass_ms(&self, pass: &Pass, frame: usize, choices: &[u16]) -> f64 {
        let (mut at, mut stride) = (0, 1);
        for &setting in pass.settings.iter().rev() {
            at += usize::from(choices[setting]) * stride;
            stride *= self.settings[setting].values.len();
        }
        let [all, view, steps] = self.moments[frame];
        match pass.work {
            Work::None => pass.ms[at],
            Work::Mist => {
                self.mist.iter().position(|mist| *mist == steps).map_or(0.0, |row| pass.ms[row * stride + at])
            }
            Work::All | Work::View => {
                let of = |level: &(f64, f64)| if pass.work == Work::All { level.0 } else { level.1 };
                let work = if pass.work == Work::All { all } else { view };
                let above =
                    self.levels.iter().position(|level| of(level) > work).unwrap_or(self.levels.len() - 1).max(1);
                let (low, high) = (of(&self.levels[above - 1]), of(&self.levels[above]));
                let (from, to) = (pass.ms[(above - 1) * stride + at], pass.ms[above * stride + at]);
                // Outside the measured amounts of work, the slope stays the same.
                (from + (to - from) * (work - low) / (high - low)).max(0.0)
            }
        }
    }

    /// Milliseconds of a frame without noise.
    fn plain(&self, frame: usize, choices: &[u16]) -> f64 {
        self.passes.iter().map(|pass| self.pass_ms(pass, frame, choices)).sum()
    }

    /// The factors on other settings' passes by option of `setting`. A host measures them beforehand.
    fn factors_of(&self, setting: usize) -> Vec<f64> {
        let options = self.settings[setting].values.len();
        let mut sums = vec![0.0; options];
        for pass in self.passes.iter().filter(|pass| shares(pass, setting)) {
            let place = pass.settings.iter().position(|&other| other == setting).expect("it shares");
            let stride: usize = pass.settings[place + 1..].iter().map(|&s| self.settings[s].values.len()).product();
            pass.ms.iter().enumerate().for_each(|(at, ms)| sums[at / stride % options] += ms);
        }
        sums.iter().map(|sum| (sum / sums[0]).max(1.0)).collect()
    }

    /// A setting's work is `c + objects`: c follows from its cost at the least and the most work.
    fn work_of(&self, setting: usize) -> (Work, f64) {
        let (mut least, mut most, mut work) = (0.0, 0.0, Work::None);
        for (pass, &owner) in self.passes.iter().zip(&self.owners) {
            if owner != setting && !self.factor.as_ref().is_some_and(|(by, _)| *by == setting && shares(pass, setting))
            {
                continue;
            }
            let sum = |part: &[f64]| part.iter().sum::<f64>();
            match pass.work {
                Work::Mist => {
                    work = Work::Mist;
                    let row = pass.ms.len() / self.mist.len();
                    least += sum(&pass.ms[..row]);
                    most += sum(&pass.ms[pass.ms.len() - row..]);
                }
                Work::None => {
                    least += sum(&pass.ms);
                    most += sum(&pass.ms);
                }
                Work::All | Work::View => {
                    work = pass.work;
                    let row = pass.ms.len() / self.levels.len();
                    least += sum(&pass.ms[..row]);
                    most += sum(&pass.ms[pass.ms.len() - row..]);
                }
            }
        }
        let of = |level: (f64, f64)| if work == Work::All { level.0 } else { level.1 };
        let (low, high) = match work {
            Work::Mist => (self.mist[0], self.mist[self.mist.len() - 1]),
            _ => (of(self.levels[0]), of(self.levels[self.levels.len() - 1])),
        };
        if work == Work::None || most <= least {
            (Work::None, 0.0)
        } else {
            (work, ((high * least - low * most) / (most - least)).max(0.0))
        }
    }

    fn make_oracle(&self) -> Oracle {
        let middle: Vec<u16> = self.settings.iter().map(|setting| (setting.values.len() / 2) as u16).collect();
        let frame = self.moments.len() / 2;
        let weights: Vec<f64> = self.passes.iter().map(|pass| self.pass_ms(pass, frame, &middle)).collect();
        let whole: f64 = weights.iter().sum();
        let common: Vec<f64> =
            self.noise.iter().map(|row| row.iter().zip(&weights).map(|(n, w)| n * w).sum::<f64>() / whole).collect();
        // By pass: mean and variance of its own noise.
        let count = self.noise.len() as f64;
        let own: Vec<(f64, f64)> = (0..self.passes.len())
            .map(|pass| {
                let ratios = || self.noise.iter().zip(&common).map(|(row, common)| row[pass] / common);
                let mean = ratios().sum::<f64>() / count;
                (mean, ratios().map(|ratio| (ratio - mean).powi(2)).sum::<f64>() / count)
            })
            .collect();
        let mut found: HashMap<[i64; 3], usize> = HashMap::new();
        let mut staircases = Vec::new();
        let mut groups = Vec::new();
        for frame in 0..self.moments.len() {
            let [objects, view, mist] = self.moments[frame];
            let key = [(objects / 60.0).round() as i64, (view / 40.0).round() as i64, mist as i64];
            groups.push(*found.entry(key).or_insert_with(|| {
                staircases.push(self.staircase(|choices| {
                    let (mut mean, mut variance) = (0.0, 0.0);
                    for (pass, own) in self.passes.iter().zip(&own) {
                        let ms = self.pass_ms(pass, frame, choices);
                        mean += ms * own.0;
                        variance += ms * ms * own.1;
                    }
                    mean + ORACLE_SIGMAS * variance.sqrt()
                }));
                staircases.len() - 1
            }));
        }
        Oracle { staircases, groups, common: common.iter().map(|common| common.ln()).collect() }
    }
}

/// Whether a pass belongs to another setting and takes longer with options of `setting`.
fn shares(pass: &Pass, setting: usize) -> bool {
    pass.settings.first() != Some(&setting) && pass.settings.contains(&setting)
}

/// A run on a stage.
pub struct Replay<'a> {
    stage: &'a Stage,
    /// The recorded frame whose noise each frame has.
    rows: Vec<usize>,
    oracle: (f64, f64),
}

impl<'a> Replay<'a> {
    /// The run of a seed.
    pub fn new(stage: &'a Stage, seed: u64) -> Self {
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let block = BLOCK.min(stage.noise.len());
        let mut rows = Vec::new();
        while rows.len() < stage.moments.len() {
            let start = random.below(stage.noise.len() - block + 1);
            rows.extend(start..start + block);
        }
        rows.truncate(stage.moments.len());
        let mut run = Self { stage, rows, oracle: (0.0, 0.0) };
        run.oracle = run.find_oracle();
        run
    }

    /// The most value of the oracle's predictions, each tuned to 1 % of late frames.
    fn find_oracle(&self) -> (f64, f64) {
        let mut best = (f64::NEG_INFINITY, 0.0);
        for smoothing in SMOOTHING {
            let expected = self.expected(smoothing);
            let (mut low, mut high) = (0.2, 3.0);
            let mut found = self.with_limit(&expected, low);
            for _ in 0..12 {
                let middle = 0.5 * (low + high);
                let next = self.with_limit(&expected, middle);
                if next.2 <= LATE {
                    (low, found) = (middle, next);
                } else {
                    high = middle;
                }
            }
            if found.0 > best.0 {
                best = (found.0, found.1);
            }
        }
        best
    }

    /// The expected factor on each frame's cost, from the frames before it.
    fn expected(&self, smoothing: f64) -> Vec<f64> {
        let logs: Vec<f64> = self.rows.iter().map(|&row| self.stage.oracle.common[row]).collect();
        let mean = logs.iter().sum::<f64>() / logs.len() as f64;
        let mut smooth = 0.0;
        let smoothed: Vec<f64> = logs
            .iter()
            .map(|log| {
                let before = smooth;
                smooth += smoothing * (log - mean - smooth);
                before
            })
            .collect();
        let squares: f64 = smoothed.iter().map(|s| s * s).sum();
        let products: f64 = smoothed.iter().zip(&logs).map(|(s, log)| s * (log - mean)).sum();
        let slope = if squares > 0.0 { products / squares } else { 0.0 };
        smoothed.iter().map(|s| (mean + slope * s).exp()).collect()
    }

    /// Value, changes a second and share of late frames with the best choices within `limit` of the budget.
    fn with_limit(&self, expected: &[f64], limit: f64) -> (f64, f64, f64) {
        let oracle = &self.stage.oracle;
        let (mut value, mut late, mut changes) = (0.0, 0, 0);
        let mut before: Option<&Vec<u16>> = None;
        for (frame, factor) in expected.iter().enumerate() {
            let steps = &oracle.staircases[oracle.groups[frame]];
            let fitting = steps.partition_point(|step| step.cost * factor <= limit * self.stage.budget);
            let step = &steps[fitting.saturating_sub(1)];
            let choices = &self.stage.all[step.at];
            value += step.value;
            late += usize::from(self.total(frame, choices) > self.stage.budget);
            if let Some(before) = before {
                changes += choices.iter().zip(before).filter(|(one, other)| one != other).count();
            }
            before = Some(choices);
        }
        let frames = expected.len() as f64;
        (value, (changes * RATE) as f64 / frames, late as f64 / frames)
    }

    fn total(&self, frame: usize, choices: &[u16]) -> f64 {
        let noise = &self.stage.noise[self.rows[frame]];
        self.stage.passes.iter().zip(noise).map(|(pass, noise)| self.stage.pass_ms(pass, frame, choices) * noise).sum()
    }
}

impl Run for Replay<'_> {
    fn settings(&self) -> &[Setting] {
        &self.stage.settings
    }

    fn resolution(&self) -> usize {
        self.stage.resolution
    }

    /// Steps of 5 % of a side.
    fn has_fine_resolution(&self) -> bool {
        true
    }

    fn budget(&self) -> f64 {
        self.stage.budget
    }

    fn frames(&self) -> usize {
        self.rows.len()
    }

    fn works(&self, frame: usize, works: &mut [f64]) {
        let [all, view, mist] = self.stage.moments[frame];
        for (work, &(kind, constant)) in works.iter_mut().zip(&self.stage.works) {
            *work = match kind {
                Work::None => 1.0,
                Work::All => (constant + all) / 1000.0,
                Work::View => (constant + view) / 1000.0,
                Work::Mist if mist == 0.0 => 0.0,
                Work::Mist => (constant + mist) / (constant + self.stage.mist[self.stage.mist.len() - 1]),
            };
        }
    }

    fn costs(&self, frame: usize, choices: &[u16], costs: &mut [f64]) {
        let stage = self.stage;
        let noise = &stage.noise[self.rows[frame]];
        costs.fill(0.0);
        for ((pass, noise), &owner) in stage.passes.iter().zip(noise).zip(&stage.owners) {
            let ms = stage.pass_ms(pass, frame, choices) * noise;
            match &stage.factor {
                Some((by, factors)) if shares(pass, *by) => {
                    let own = ms / factors[usize::from(choices[*by])];
                    costs[owner] += own;
                    costs[*by] += ms - own;
                }
                _ => costs[owner] += ms,
            }
        }
    }

    fn typical(&self, choices: &[u16]) -> f64 {
        self.stage.typical(choices)
    }

    fn oracle(&self) -> (f64, f64) {
        self.oracle
    }

    fn frontier(&self) -> Vec<Vec<u16>> {
        let stage = self.stage;
        let total = |frame: &usize| stage.plain(*frame, &stage.all[stage.all.len() - 1]);
        let heaviest = (0..self.rows.len()).max_by(|a, b| total(a).total_cmp(&total(b))).expect("a run has frames");
        let mut steps = stage.staircase(|choices| stage.typical(choices));
        steps.extend(stage.staircase(|choices| stage.plain(heaviest, choices)));
        steps.iter().map(|step| stage.all[step.at].clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contest::recording::SMALL;

    fn stage() -> Stage {
        Stage::new(&Recording::parse(SMALL).expect("a recording"), 1200).expect("a stage")
    }

    #[test]
    fn costs_of_a_frame_are_its_passes_times_their_noise() {
        let stage = stage();
        let run = Replay { stage: &stage, rows: vec![1; 1200], oracle: (0.0, 0.0) };
        let mut costs = vec![0.0; run.settings().len()];
        run.costs(0, &[1, 1, 1, 0, 0], &mut costs);
        // Antialiasing multiplies the time of the ground by (2 + 6) / (1 + 3), and is charged with half of it.
        let ground = 6.0 * (-0.1_f64).exp();
        let expected = [ground / 2.0, ground / 2.0, 1.0 * 0.1_f64.exp(), 0.0, 0.25];
        assert!(costs.iter().zip(expected).all(|(cost, expected)| (cost - expected).abs() < 1e-12), "{costs:?}");
        run.costs(1100, &[0, 0, 1, 0, 0], &mut costs);
        assert!((costs[2] - 2.0 * 0.1_f64.exp()).abs() < 1e-12 && (costs[3] - 1.0).abs() < 1e-12, "{costs:?}");
    }

    #[test]
    fn work_of_a_setting_is_in_proportion_to_its_cost() {
        let stage = stage();
        let run = Replay::new(&stage, 1);
        let fixed = (0..run.settings().len()).find(|&at| run.settings()[at].name == "mist").expect("a fixed burden");
        // No mist, then the mist of 12 steps, which takes 1 ms. 6 take .5 ms.
        let work_of = |frame: usize| {
            let mut works = vec![0.0; run.settings().len()];
            run.works(frame, &mut works);
            works[fixed]
        };
        assert_eq!((work_of(0), work_of(1199)), (0.0, 1.0));
        let mut recording = Recording::parse(SMALL).expect("a recording");
        let mist = recording.passes.iter_mut().find(|pass| pass.work == Work::Mist).expect("a pass");
        mist.ms = vec![0.8, 1.0];
        let stage = Stage::new(&recording, 1200).expect("a stage");
        let (work, constant) = stage.works[fixed];
        assert!(work == Work::Mist && (constant - 18.0).abs() < 1e-9, "{constant}");
    }

    #[test]
    fn oracle_has_the_most_value_that_fits_and_is_late_in_at_most_1_percent() {
        let stage = stage();
        // Without noise: the most value of the configurations within the budget, frame by frame.
        let run = Replay { rows: vec![0; 1200], ..Replay::new(&stage, 1) };
        let best = |frame| {
            let fits = stage.all.iter().filter(|choices| stage.plain(frame, choices) <= stage.budget);
            fits.map(|choices| value_of(&stage.settings, choices)).fold(0.0, f64::max)
        };
        let expected: f64 = (0..1200).map(best).sum();
        let found = run.find_oracle();
        assert!(found.0 >= expected - 1e-9 && found.0 <= expected * 1.05, "{} of {expected}", found.0);
    }

    #[test]
    fn noise_comes_in_whole_blocks_of_the_recording() {
        let mut recording = Recording::parse(SMALL).expect("a recording");
        recording.noise = vec![vec![0.0; 4]; 2000];
        let stage = Stage::new(&recording, 1200).expect("a stage");
        let rows = Replay::new(&stage, 3).rows;
        let breaks: Vec<_> = (1..rows.len()).filter(|&at| rows[at] != rows[at - 1] + 1).collect();
        assert_eq!((rows.len(), breaks), (1200, vec![BLOCK]));
    }
}
