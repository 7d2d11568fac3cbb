//! The rules of others on the renderer-like workloads.
//!
//! All contestants play the same runs of all workloads, with one configuration each: first with documented constants, then
//! with the budget scaled such that 1 % of all frames are late.

use hobgoblin::knapsack::{Candidate, Economy, Effort, Knapsack};
use hobgoblin_bench::contest::arena::{Governor, Run, Setting, play};
use hobgoblin_bench::contest::goblin::Player;
use hobgoblin_bench::contest::score::{ALL, Arena, ON_REFERENCE, Who};
use hobgoblin_bench::contest::table;

use super::Request;
use super::best::Best;
use super::scene::{FRAMES, Trace, Workload, reference_costs};

/// Steps of capacity at which configurations that never change are sought.
const FIXED: usize = 64;
/// The resolution is the first setting after the fixed cost.
const RESOLUTION: usize = 1;

/// A trace as a run of the contest. Nobody knows the works.
struct Simulated {
    trace: Trace,
    settings: Vec<Setting>,
    /// Value of the oracle's choices, and its changes a second.
    oracle: (f64, f64),
    /// By setting and option: the mean cost over all frames.
    means: Vec<Vec<f64>>,
    /// The same on the machine on which the studio made its ladder. Each setting costs up to 30 % less or more there.
    reference: Vec<Vec<f64>>,
}

impl Simulated {
    fn new(trace: Trace, foresight: bool) -> Self {
        let best = Best::new(&trace, foresight);
        let own = &trace.scenario.settings;
        let settings = own.iter().map(|setting| Setting {
            name: setting.id.clone(),
            values: setting.options.iter().map(|option| option.value).collect(),
            change_ms: 0.0,
        });
        let settings = settings.collect();
        let mean = |setting: usize, choice: u16| {
            (0..FRAMES).map(|frame| trace.burden(frame, setting, choice)).sum::<f64>() / FRAMES as f64
        };
        let options = |setting: usize| own[setting].options.len() as u16;
        let means = (0..own.len()).map(|setting| (0..options(setting)).map(|option| mean(setting, option)).collect());
        let means = means.collect();
        let oracle = (best.values.iter().sum(), best.changes);
        Self { settings, oracle, means, reference: reference_costs(&trace.workload), trace }
    }

    /// The choices with the most value whose mean cost is within `capacity`.
    fn fitting(&self, capacity: f64) -> Option<Vec<u16>> {
        let mut knapsack = Knapsack::new();
        for (setting, means) in self.settings.iter().zip(&self.means) {
            let options: Vec<_> = setting
                .values
                .iter()
                .zip(means)
                .map(|(&value, &mean)| Candidate { value, mean, variance: 0.0 })
                .collect();
            knapsack.add_setting(&options).expect("true costs are numbers");
        }
        let solution = knapsack.solve(Economy { capacity, sigmas: 0.0 }, Effort::default()).expect("solved");
        solution.feasible.then(|| knapsack.choices()[..self.settings.len()].to_vec())
    }
}

impl Run for Simulated {
    fn settings(&self) -> &[Setting] {
        &self.settings
    }

    fn resolution(&self) -> usize {
        RESOLUTION
    }

    fn has_fine_resolution(&self) -> bool {
        self.trace.trim == Some(RESOLUTION)
    }

    fn budget(&self) -> f64 {
        self.trace.scenario.capacity
    }

    fn frames(&self) -> usize {
        FRAMES
    }

    fn works(&self, _frame: usize, works: &mut [f64]) {
        works.fill(1.0);
    }

    fn costs(&self, frame: usize, choices: &[u16], costs: &mut [f64]) {
        let burden = |(setting, &choice): (usize, &u16)| self.trace.burden(frame, setting, choice);
        costs.iter_mut().zip(choices.iter().enumerate().map(burden)).for_each(|(cost, burden)| *cost = burden);
    }

    fn typical_on_reference(&self, choices: &[u16]) -> Option<f64> {
        Some(self.reference.iter().zip(choices).map(|(costs, &choice)| costs[usize::from(choice)]).sum())
    }

    fn typical(&self, choices: &[u16]) -> f64 {
        self.means.iter().zip(choices).map(|(means, &choice)| means[usize::from(choice)]).sum()
    }

    fn oracle(&self) -> (f64, f64) {
        self.oracle
    }

    fn frontier(&self) -> Vec<Vec<u16>> {
        let step = self.budget() / FIXED as f64;
        let mut all: Vec<_> = (1..=FIXED).filter_map(|number| self.fitting(number as f64 * step)).collect();
        all.dedup();
        all
    }
}

/// Plays all workloads and prints the tables.
pub fn print(request: &Request<'_>, workloads: &[Workload]) {
    // The first runs have all workloads.
    let seeds = request.first_seed..request.first_seed + request.seeds;
    let drawn = seeds.flat_map(|seed| workloads.iter().map(move |workload| (workload, seed)));
    let (mut runs, mut profiles) = (Vec::new(), Vec::new());
    for (workload, seed) in drawn {
        let run = Simulated::new(Trace::draw(workload, seed), request.foresight);
        profiles.push(learned_before(&run, seed, request.foresight));
        runs.push(Box::new(run) as Box<dyn Run>);
    }
    println!("{} runs of {FRAMES} frames: {} workloads, {} seeds", runs.len(), workloads.len(), request.seeds);
    let arena = Arena {
        runs,
        profiles,
        first_seed: request.first_seed,
        preset_runs: workloads.len(),
        workloads: workloads.len(),
        threads: request.threads,
    };
    let all = |play: &dyn Fn(Who) -> _| ALL.iter().chain(&ON_REFERENCE).map(|&who| play(who)).collect::<Vec<_>>();
    table::print("documented constants", &all(&|who| arena.documented(who)));
    let tuned = all(&|who| arena.tuned(who));
    table::print(table::TUNED, &tuned);
    table::print_by_workload(&workloads.iter().map(|workload| workload.name).collect::<Vec<_>>(), &tuned);
}

/// The profile that a run on the same machine at another time leaves.
fn learned_before(run: &Simulated, seed: u64, foresight: bool) -> String {
    let before = Simulated::new(run.trace.draw_again(seed), foresight);
    let mut learner = Player::new(&before, before.budget(), None, true);
    play(&before, &mut learner, seed);
    learner.save().expect("the goblin has a profile")
}
