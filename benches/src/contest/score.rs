//! The contestants, their tuning to a share of late frames, and the comparison of two of them.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::arena::{Governor, Run, Tally, ladder, play, value_of};
use super::goblin::Player;
use super::rules::{Kind, OnLadder};

/// Share of late frames that all are tuned to.
pub const LATE: f64 = 0.01;
/// A share that differs by more is another one.
pub const NEAR: f64 = 0.001;
/// The distance from [`LATE`] at which the search ends. `NEAR` would compare 0.9 with 1.1 %, which is worth half a point
/// of value.
const CLOSE: f64 = 0.0003;
/// Factors on the budget between which a tuned one is sought, and steps of the search.
const SCALES: (f64, f64) = (0.2, 2.0);
const SEARCH_STEPS: usize = 16;

/// A contestant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    /// The default configuration of the goblin.
    Goblin {
        /// Whether it starts with a saved profile.
        is_warm: bool,
        /// Whether the resolution is a TRIM setting where its steps are fine.
        trims: bool,
    },
    /// A rule of the zoo. Its ladder is in the order of the true costs on this machine.
    Rule(Kind),
    /// The same with a ladder in the order of the costs on another machine, as studios ship it.
    OnReference(Kind),
    /// The best configuration that never changes, known afterwards.
    Fixed,
}

/// The goblin that starts with a saved profile.
pub const WARM: Who = Who::Goblin { is_warm: true, trims: true };
/// Rules on ladders of a reference machine.
pub const ON_REFERENCE: [Who; 3] =
    [Who::OnReference(Kind::Threshold), Who::OnReference(Kind::LockOut), Who::OnReference(Kind::AdaptivePerformance)];
/// All other contestants, which are compared with the first two.
pub const ALL: [Who; 10] = [
    Who::Goblin { is_warm: false, trims: true },
    WARM,
    Who::Goblin { is_warm: false, trims: false },
    Who::Rule(Kind::Threshold),
    Who::Rule(Kind::LockOut),
    Who::Rule(Kind::AdaptivePerformance),
    Who::Rule(Kind::Unreal),
    Who::Rule(Kind::Valve),
    Who::Rule(Kind::Hdrp),
    Who::Fixed,
];

impl Who {
    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Goblin { is_warm: false, trims: true } => "goblin",
            Self::Goblin { is_warm: true, .. } => "goblin, saved profile",
            Self::Goblin { is_warm: false, trims: false } => "goblin without TRIM",
            Self::Rule(Kind::Threshold) => "threshold",
            Self::Rule(Kind::LockOut) => "threshold, dash.js lock-out",
            Self::Rule(Kind::AdaptivePerformance) => "Unity Adaptive Performance",
            Self::Rule(Kind::Unreal) => "Unreal dynamic resolution",
            Self::Rule(Kind::Valve) => "Valve VR",
            Self::Rule(Kind::Hdrp) => "HDRP dynamic resolution",
            Self::OnReference(Kind::Threshold) => "threshold, reference ladder",
            Self::OnReference(Kind::LockOut) => "dash.js, reference ladder",
            Self::OnReference(Kind::AdaptivePerformance) => "Unity AP, reference ladder",
            Self::OnReference(Kind::Unreal | Kind::Valve | Kind::Hdrp) => {
                unreachable!("they move the resolution alone")
            }
            Self::Fixed => "best fixed, known afterwards",
        }
    }
}

/// Runs of one kind, and what contestants may know of them beforehand.
pub struct Arena<'a> {
    /// The runs that all play.
    pub runs: Vec<Box<dyn Run + 'a>>,
    /// A profile for each run that the goblin learned in another run of the same machine; empty: no warm goblin plays.
    pub profiles: Vec<String>,
    /// The seed of the first run.
    pub first_seed: u64,
    /// The first runs, which choose the preset of a resolution rule.
    pub preset_runs: usize,
    /// Runs that have the same seed: one of each workload. They follow each other.
    pub workloads: usize,
    /// Threads that play.
    pub threads: usize,
}

/// A contestant's configuration.
#[derive(Clone, Copy, Debug)]
struct Tuning {
    /// Factor on the budget that it is told.
    scale: f64,
    /// For a rule of the resolution: the other settings' step, as a share of the steps there are.
    preset: f64,
}

/// A contestant and its figures by run.
#[derive(Clone, Debug)]
pub struct Standing {
    /// The contestant.
    pub who: Who,
    /// Factor on the budget that it was told.
    pub scale: f64,
    /// Figures by run.
    pub tallies: Vec<Tally>,
    /// Runs of each seed, as in [`Arena::workloads`].
    pub workloads: usize,
}

impl Standing {
    /// The mean of a figure over all runs.
    pub fn mean(&self, figure: impl Fn(&Tally) -> f64) -> f64 {
        self.tallies.iter().map(figure).sum::<f64>() / self.tallies.len() as f64
    }

    /// The mean value in each workload.
    pub fn by_workload(&self) -> Vec<f64> {
        let seeds = self.tallies.len() / self.workloads;
        let mean = |workload: usize| {
            let runs = self.tallies.iter().skip(workload).step_by(self.workloads);
            runs.map(|tally| tally.value).sum::<f64>() / seeds as f64
        };
        (0..self.workloads).map(mean).collect()
    }

    /// The largest of a figure.
    pub fn worst(&self, figure: impl Fn(&Tally) -> f64) -> f64 {
        self.tallies.iter().map(figure).fold(0.0, f64::max)
    }

    /// Whether the share of late frames is what it was tuned to.
    pub fn is_at_target(&self) -> bool {
        (self.mean(|tally| tally.late) - LATE).abs() <= NEAR
    }
}

/// The mean of paired differences, and the half width of its interval of 95 %.
///
/// The difference of a seed is the mean over all workloads. Seeds are drawn and workloads are not, so the interval is that of
/// the seeds.
pub fn difference(one: &Standing, other: &Standing, figure: impl Fn(&Tally) -> f64) -> (f64, f64) {
    let of_seed = |(one, other): (&[Tally], &[Tally])| {
        let pairs = one.iter().zip(other);
        pairs.map(|(one, other)| figure(one) - figure(other)).sum::<f64>() / one.len() as f64
    };
    let seeds = one.tallies.chunks(one.workloads).zip(other.tallies.chunks(other.workloads));
    let differences: Vec<f64> = seeds.map(of_seed).collect();
    let count = differences.len() as f64;
    let mean = differences.iter().sum::<f64>() / count;
    if differences.len() < 2 {
        return (mean, f64::INFINITY);
    }
    let variance = differences.iter().map(|difference| (difference - mean).powi(2)).sum::<f64>() / (count - 1.0);
    (mean, student(count - 1.0) * (variance / count).sqrt())
}

/// The .975 quantile of Student's t, by its series for many degrees of freedom (within 1 % from 5 on).
fn student(freedom: f64) -> f64 {
    1.96 + 2.372 / freedom + 2.822 / (freedom * freedom) + 2.56 / freedom.powi(3)
}

impl Arena<'_> {
    /// Plays with the documented constants.
    pub fn documented(&self, who: Who) -> Standing {
        match who {
            Who::Fixed => self.fixed(),
            _ => {
                let preset = self.best_preset(who, |preset| Tuning { scale: 1.0, preset });
                self.batch(who, preset, self.runs.len())
            }
        }
    }

    /// Plays with the budget scaled such that 1 % of all frames are late.
    pub fn tuned(&self, who: Who) -> Standing {
        match who {
            Who::Fixed => self.fixed(),
            _ => {
                let preset = self.best_preset(who, |preset| self.search(who, preset, self.preset_runs).0).preset;
                self.search(who, preset, self.runs.len()).1
            }
        }
    }

    /// Narrows an interval of budgets until the share of late frames is close enough. Between two budgets the logarithm of
    /// the share is about linear.
    fn search(&self, who: Who, preset: f64, runs: usize) -> (Tuning, Standing) {
        let log_of = |late: f64| late.max(LATE / 100.0).ln() - LATE.ln();
        let at = |scale: f64| {
            let tuning = Tuning { scale, preset };
            (tuning, self.batch(who, tuning, runs))
        };
        // Only an end that was played has a share.
        let (mut low, mut high) = ((SCALES.0, None), (SCALES.1, None));
        let mut found = None;
        let mut scale = 1.0;
        for _ in 0..SEARCH_STEPS {
            let played = at(scale);
            let late = played.1.mean(|tally| tally.late);
            let is_close = (late - LATE).abs() <= CLOSE;
            if late <= LATE + CLOSE {
                low = (scale, Some(log_of(late)));
                found = Some(played);
            } else {
                high = (scale, Some(log_of(late)));
            }
            if is_close {
                break;
            }
            let share = match (low.1, high.1) {
                (Some(low), Some(high)) => (-low / (high - low)).clamp(0.15, 0.85),
                // Near the end that was played.
                (Some(_), None) => 0.15,
                (None, _) => 0.85,
            };
            scale = low.0 + share * (high.0 - low.0);
        }
        found.unwrap_or_else(|| at(low.0))
    }

    /// For a rule of the resolution: the other settings' step with the most value at 1 % of late frames, or the fewest
    /// late ones. This is known afterwards, too.
    fn best_preset(&self, who: Who, tune: impl Fn(f64) -> Tuning) -> Tuning {
        if !matches!(who, Who::Rule(kind) if kind.is_resolution_only()) {
            return tune(0.0);
        }
        let steps = others_ladder(self.runs[0].as_ref()).len();
        let mut best: Option<((bool, f64), Tuning)> = None;
        for step in 0..steps {
            let tuning = tune(step as f64 / (steps - 1).max(1) as f64);
            let standing = self.batch(who, tuning, self.preset_runs);
            let late = standing.mean(|tally| tally.late);
            let holds = late <= LATE + NEAR;
            let rank = (holds, if holds { standing.mean(|tally| tally.value) } else { -late });
            if best.is_none_or(|(other, _)| rank > other) {
                best = Some((rank, tuning));
            }
        }
        best.expect("a ladder has a step").1
    }

    /// In every run the configuration with the most value that is late in at most 1 % of all frames.
    fn fixed(&self) -> Standing {
        let best = |run: &dyn Run, seed: u64| {
            let mut all = run.frontier();
            all.sort_by(|a, b| value_of(run.settings(), b).total_cmp(&value_of(run.settings(), a)));
            let mut played = all.iter().map(|choices| play(run, &mut Fixed(choices), seed));
            let lowest = || play(run, &mut Fixed(&vec![0; run.settings().len()]), seed);
            played.find(|tally| tally.late <= LATE).unwrap_or_else(lowest)
        };
        let tallies = self.each(self.runs.len(), |index, seed| best(self.runs[index].as_ref(), seed));
        Standing { who: Who::Fixed, scale: 1.0, tallies, workloads: self.workloads }
    }

    fn batch(&self, who: Who, tuning: Tuning, runs: usize) -> Standing {
        let tallies = self.each(runs, |index, seed| {
            let run = self.runs[index].as_ref();
            play(run, self.seat(who, index, tuning).as_mut(), seed)
        });
        Standing { who, scale: tuning.scale, tallies, workloads: self.workloads }
    }

    fn seat(&self, who: Who, index: usize, tuning: Tuning) -> Box<dyn Governor + '_> {
        let run = self.runs[index].as_ref();
        let budget = run.budget() * tuning.scale;
        match who {
            Who::Goblin { is_warm, trims } => {
                let past = is_warm.then(|| self.profiles[index % self.profiles.len()].as_str());
                Box::new(Player::new(run, budget, past, trims))
            }
            Who::Rule(kind) => {
                let cost = |choices: &[u16]| run.typical(choices);
                let resolution_only = kind.is_resolution_only();
                let steps =
                    if resolution_only { resolution_ladder(run, tuning.preset) } else { full_ladder(run, &cost) };
                seat_on(steps, &cost, kind, budget)
            }
            Who::OnReference(kind) => {
                let cost =
                    |choices: &[u16]| run.typical_on_reference(choices).expect("the run has a reference machine");
                seat_on(full_ladder(run, &cost), &cost, kind, budget)
            }
            Who::Fixed => unreachable!("it is not told a budget"),
        }
    }

    /// A figure of each of the first `runs` runs, on all threads.
    fn each<T: Send>(&self, runs: usize, work: impl Fn(usize, u64) -> T + Sync) -> Vec<T> {
        let runs = runs.min(self.runs.len());
        let next = AtomicUsize::new(0);
        let found = Mutex::new((0..runs).map(|_| None).collect::<Vec<Option<T>>>());
        std::thread::scope(|scope| {
            for _ in 0..self.threads.min(runs) {
                scope.spawn(|| {
                    loop {
                        let index = next.fetch_add(1, Ordering::Relaxed);
                        if index >= runs {
                            return;
                        }
                        let figure = work(index, self.first_seed + index as u64);
                        found.lock().expect("no thread panics")[index] = Some(figure);
                    }
                });
            }
        });
        found.into_inner().expect("no thread panics").into_iter().flatten().collect()
    }
}

struct Fixed<'a>(&'a [u16]);

impl Governor for Fixed<'_> {
    fn decide(&mut self, _works: &[f64], choices: &mut [u16]) {
        choices.copy_from_slice(self.0);
    }

    fn learn(&mut self, _frame: usize, _costs: &[f64], _total: f64) {}
}

/// The rule at the highest step that fits by its costs.
fn seat_on(steps: Vec<Vec<u16>>, cost: &dyn Fn(&[u16]) -> f64, kind: Kind, budget: f64) -> Box<dyn Governor + 'static> {
    let fitting = steps.iter().rposition(|choices| cost(choices) <= budget).unwrap_or(0);
    Box::new(OnLadder::new(kind.seat(fitting, steps.len()), steps, budget))
}

fn full_ladder(run: &dyn Run, cost: &dyn Fn(&[u16]) -> f64) -> Vec<Vec<u16>> {
    ladder(run, cost, &vec![0; run.settings().len()], None)
}

/// The steps of all settings but the resolution, which stays in its middle.
fn others_ladder(run: &dyn Run) -> Vec<Vec<u16>> {
    let mut start = vec![0; run.settings().len()];
    start[run.resolution()] = (run.settings()[run.resolution()].values.len() / 2) as u16;
    ladder(run, &|choices| run.typical(choices), &start, Some(run.resolution()))
}

/// All options of the resolution, the others at a step of theirs.
fn resolution_ladder(run: &dyn Run, preset: f64) -> Vec<Vec<u16>> {
    let others = others_ladder(run);
    let step = &others[(preset * (others.len() - 1) as f64).round() as usize];
    let with = |option| {
        let mut choices = step.clone();
        choices[run.resolution()] = option;
        choices
    };
    (0..run.settings()[run.resolution()].values.len() as u16).map(with).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn standing(values: &[f64], workloads: usize) -> Standing {
        let tallies = values.iter().map(|&value| Tally { value, ..Tally::default() }).collect();
        Standing { who: Who::Fixed, scale: 1.0, tallies, workloads }
    }

    #[test]
    fn difference_is_paired() {
        let (one, other) = (standing(&[1.0, 5.0, 9.0, 13.0], 1), standing(&[0.0, 4.1, 7.9, 12.0], 1));
        let (mean, half) = difference(&one, &other, |tally| tally.value);
        assert!((mean - 1.0).abs() < 1e-12);
        // Deviation of 0, -.1, .1, 0 around the mean: .0816; t of 3 degrees of freedom: 3.182.
        assert!((half - 3.182 * 0.0816 / 2.0).abs() < 0.002, "{half}");
    }

    #[test]
    fn differences_between_workloads_are_no_chance() {
        // Each seed has a difference of 3 in the first workload and of -1 in the second.
        let (one, other) = (standing(&[3.0, 4.0, 6.0, 7.0], 2), standing(&[0.0, 5.0, 3.0, 8.0], 2));
        let (mean, half) = difference(&one, &other, |tally| tally.value);
        assert_eq!((mean, half), (1.0, 0.0));
        let (one, other) = (standing(&[3.0, 4.0], 2), standing(&[0.0, 5.0], 2));
        assert_eq!(difference(&one, &other, |tally| tally.value), (1.0, f64::INFINITY), "one seed has no interval");
    }

    #[test]
    fn student_is_the_quantile_of_tables() {
        for (freedom, quantile) in [(5.0, 2.571), (9.0, 2.262), (19.0, 2.093), (39.0, 2.023)] {
            assert!((student(freedom) - quantile).abs() < 0.01 * quantile, "{freedom}");
        }
    }
}
