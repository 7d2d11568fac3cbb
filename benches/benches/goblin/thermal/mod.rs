//! The thermal view: half an hour on a device that warms up.
//!
//! The load heats the device, the device slows its clock, and above a hard limit it throttles. A governor sees costs,
//! and perhaps the thermal headroom that the platform reports. The scene is static, with noise of 3 % on each pass and of
//! 1 % on all together; 1 % of frames may be late.

mod best;
mod device;

use std::collections::VecDeque;

use crate::governor::{Knowledge, Player, Rules, seat};
use crate::oracle::Asked;
use crate::random::Random;
use crate::renderer::Request;
use crate::renderer::scene::{RATE, Workload, draw_scenario};
use crate::scenario::Scenario;
use best::{Frontier, Plan};
use device::{CLIMATES, Climate, Device};

/// Seconds of a run.
pub const SECONDS: f64 = 1800.0;
const FRAMES: usize = SECONDS as usize * RATE;
/// Frames of the learning phase, which do not count.
const LEARNING: usize = 1024;
/// Deviation of the logarithm of a pass's noise, and of all passes' noise.
const PASS: f64 = 0.03;
const COMMON: f64 = 0.01;
/// Deviations that the oracle keeps free, for 1 % late frames.
const SIGMAS: f64 = 2.33;

/// A contestant; the last column says whether it gets the thermal headroom.
const CONTESTANTS: [(&str, Player, bool); 3] = [
    ("goblin", Player::Goblin, false),
    ("with headroom", Player::Goblin, true),
    ("threshold", Player::Threshold, false),
];

/// Figures of one run, or the sums of several.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    runs: f64,
    throttles: f64,
    throttled: f64,
    hottest: f64,
    value: f64,
    late: f64,
    changes: f64,
    most_in_ten: f64,
}

impl Tally {
    fn add(&mut self, other: &Self) {
        self.runs += other.runs;
        self.throttles += other.throttles;
        self.throttled += other.throttled;
        self.hottest = self.hottest.max(other.hottest);
        self.value += other.value;
        self.late += other.late;
        self.changes += other.changes;
        self.most_in_ten = self.most_in_ten.max(other.most_in_ten);
    }
}

/// Simulates all climates and prints the tables.
pub fn print(request: &Request<'_>) {
    let is_asked = |name: &str| request.only.is_empty() || request.only.iter().any(|only| name.contains(only.as_str()));
    println!(
        "30 minutes on a device that warms up, {} seeds. throttles: in all runs; seconds of them a run; the hottest skin; \
         value: share of the oracle's, which never throttles; late frames in %; changes a second; most decisions with \
         changes in 10 s\n",
        request.seeds
    );
    for climate in CLIMATES.iter().filter(|climate| is_asked(climate.name)) {
        println!("{:<14} {}", climate.name, climate.about);
        println!(
            "{:<14} {:>9} {:>9} {:>8} | {:>7} {:>7} | {:>8} {:>7}",
            "", "throttles", "seconds", "hottest", "value", "late", "changes", "in 10 s"
        );
        let mut sums = [Tally::default(); CONTESTANTS.len() + 1];
        for seed in request.first_seed..request.first_seed + request.seeds {
            for (sum, tally) in sums.iter_mut().zip(run(climate, seed)) {
                sum.add(&tally);
            }
        }
        let names = std::iter::once("oracle").chain(CONTESTANTS.iter().map(|contestant| contestant.0));
        for (name, sum) in names.zip(&sums) {
            println!(
                "  {:<12} {:>9.0} {:>9.1} {:>8.2} | {:>7.4} {:>7.3} | {:>8.3} {:>7.0}",
                name,
                sum.throttles,
                sum.throttled / sum.runs,
                sum.hottest,
                sum.value / sum.runs,
                100.0 * sum.late / sum.runs,
                sum.changes / sum.runs,
                sum.most_in_ten,
            );
        }
    }
}

/// The oracle and all contestants on the device of a seed.
fn run(climate: &Climate, seed: u64) -> [Tally; CONTESTANTS.len() + 1] {
    let mut random = Random::new(seed, 52);
    let (scenario, _) = draw_scenario(&Workload::STILL, &mut random);
    let device = Device::draw(climate, seed);
    let frontier = Frontier::new(&scenario, (PASS, COMMON), SIGMAS);
    let plan = Plan::new(climate, &device, &frontier, scenario.capacity);
    let mut oracle = Run::new(&scenario, &device, seed);
    for _ in 0..FRAMES {
        let share = plan.share(oracle.device.time, oracle.device.skin);
        let choices = &frontier.at(share * scenario.capacity / oracle.device.factor()).0;
        oracle.frame(choices);
    }
    let best = oracle.value;
    let mut tallies = [Tally::default(); CONTESTANTS.len() + 1];
    tallies[0] = oracle.close(best);
    for (tally, contestant) in tallies[1..].iter_mut().zip(CONTESTANTS) {
        *tally = play(&scenario, &device, contestant, seed).close(best);
    }
    tallies
}

/// Lets a governor play.
fn play<'a>(
    scenario: &'a Scenario,
    device: &Device,
    (_, player, has_headroom): (&str, Player, bool),
    seed: u64,
) -> Run<'a> {
    let rules = Rules::default();
    let knowledge = Knowledge { rules, ..Knowledge::default() };
    let mut governor = seat(player, scenario, 1.0, Asked::Probability(0.01), &knowledge, seed);
    let mut run = Run::new(scenario, device, seed);
    let mut random = Random::new(seed, 54);
    let mut choices = vec![0; scenario.settings.len()];
    let mut in_flight: VecDeque<(u64, usize, Vec<f64>)> = VecDeque::new();
    for frame in 0..FRAMES {
        let late = 2 + random.below(2) as usize;
        while in_flight.front().is_some_and(|&(_, of, _)| of + late <= frame) {
            let (decision, _, costs) = in_flight.pop_front().expect("there is a first");
            for (index, &cost) in costs.iter().enumerate() {
                governor.measure(decision, index, cost);
            }
            governor.measure_total(decision, costs.iter().sum());
        }
        if has_headroom && frame % RATE == 0 {
            governor.report_thermal_headroom(run.device.headroom());
        }
        let decided = governor.update();
        governor.choices(&mut choices);
        let costs = run.frame(&choices).to_vec();
        in_flight.push_back((decided.decision, frame, costs));
    }
    run
}

/// A run of a governor on a device.
struct Run<'a> {
    scenario: &'a Scenario,
    device: Device,
    random: Random,
    costs: Vec<f64>,
    before: Vec<u16>,
    frame: usize,
    value: f64,
    late: usize,
    changes: usize,
    throttled: usize,
    /// Frames with changes in the last 10 s.
    changed: VecDeque<usize>,
    most_in_ten: usize,
}

impl<'a> Run<'a> {
    fn new(scenario: &'a Scenario, device: &Device, seed: u64) -> Self {
        Self {
            scenario,
            device: device.clone(),
            random: Random::new(seed, 53),
            costs: vec![0.0; scenario.settings.len()],
            before: vec![0; scenario.settings.len()],
            frame: 0,
            value: 0.0,
            late: 0,
            changes: 0,
            throttled: 0,
            changed: VecDeque::new(),
            most_in_ten: 0,
        }
    }

    /// Draws a frame with these choices. Returns the cost of each pass.
    fn frame(&mut self, choices: &[u16]) -> &[f64] {
        let factor = self.device.factor() * self.noise(COMMON);
        for (index, &choice) in choices.iter().enumerate() {
            self.costs[index] =
                self.scenario.settings[index].options[usize::from(choice)].burden * factor * self.noise(PASS);
        }
        let total: f64 = self.costs.iter().sum();
        self.device.frame(total / self.scenario.capacity);
        if self.frame >= LEARNING {
            self.value += self.scenario.value_of(choices);
            self.late += usize::from(total > self.scenario.capacity);
            self.throttled += usize::from(self.device.is_throttled());
            let changes = choices.iter().zip(&self.before).filter(|(one, other)| one != other).count();
            self.changes += changes;
            if changes > 0 {
                self.changed.push_back(self.frame);
            }
            while self.changed.front().is_some_and(|&at| at + 10 * RATE <= self.frame) {
                self.changed.pop_front();
            }
            self.most_in_ten = self.most_in_ten.max(self.changed.len());
        }
        self.before.copy_from_slice(choices);
        self.frame += 1;
        &self.costs
    }

    /// A factor of mean 1.
    fn noise(&mut self, spread: f64) -> f64 {
        (spread * self.random.normal() - 0.5 * spread * spread).exp()
    }

    /// The figures, beside the oracle's value.
    fn close(&self, best: f64) -> Tally {
        let frames = (FRAMES - LEARNING) as f64;
        Tally {
            runs: 1.0,
            throttles: f64::from(self.device.throttles),
            throttled: self.throttled as f64 / RATE as f64,
            hottest: self.device.hottest,
            value: self.value / best,
            late: self.late as f64 / frames,
            changes: RATE as f64 * self.changes as f64 / frames,
            most_in_ten: self.most_in_ten as f64,
        }
    }
}
