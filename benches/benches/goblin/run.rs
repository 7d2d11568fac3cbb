//! One seed of one row: a machine, a governor, and the results frame by frame.

use std::time::Instant;

use crate::figures::{Figures, Frame};
use crate::governor::{Governor, Knowledge, Player, seat};
use crate::oracle::{Asked, Oracle};
use crate::scenario::{Scenario, Size};
use crate::workload::{Machine, Noise, Truth};

/// Frames from a decision until just before its samples arrive.
const LATENCY: u64 = 3;
/// Frames within which a change that is taken back is a reversal.
const REVERSAL: u64 = 600;
/// Length in frames of the run on another machine whose profile is loaded.
const PAST_FRAMES: usize = 8192;

/// An exceptional event or condition.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event {
    Nothing,
    /// All costs are multiplied by a factor from one frame to another.
    Step {
        from: usize,
        to: usize,
        slowness: f64,
    },
    /// Loads the profile of a run with all costs multiplied by a factor.
    Past {
        slowness: f64,
    },
    /// Only frame totals are measured; the host has rough estimates of the burdens.
    TotalsOnly,
}

/// A row of the report: the parameters of a simulation.
#[derive(Clone, Debug)]
pub struct Row {
    pub name: String,
    pub player: Player,
    pub noise: Noise,
    pub asked: Asked,
    pub event: Event,
    pub frames: usize,
}

impl Row {
    /// Whether frames and passes are independent.
    pub fn is_independent(&self) -> bool {
        self.noise == Noise::Iid && self.event == Event::Nothing
    }

    /// Whether updates are timed in replays.
    pub fn is_timed(&self) -> bool {
        self.is_independent() && matches!(self.player, Player::Goblin | Player::Impatient)
    }

    /// Cost factor of the machine in a frame.
    fn slowness(&self, frame: usize) -> f64 {
        match self.event {
            Event::Step { from, to, slowness } if (from..to).contains(&frame) => slowness,
            _ => 1.0,
        }
    }
}

/// A decision whose samples have not arrived yet.
#[derive(Clone, Debug, Default)]
struct InFlight {
    decision: u64,
    burdens: Vec<f64>,
}

/// Simulates a seed of a row.
pub fn play(row: &Row, seed: u64) -> Figures {
    let size = if row.event == Event::TotalsOnly { Size::Small } else { Size::Full };
    let scenario = Scenario::draw(seed, size);
    let truth = Truth::new(&scenario, row.noise, 1.0);
    let oracle = Oracle::new(&scenario, &truth, row.asked);
    let slow_oracle = match row.event {
        Event::Step { slowness, .. } => Oracle::new(&scenario, &Truth::new(&scenario, row.noise, slowness), row.asked),
        _ => oracle.clone(),
    };
    let past = match row.event {
        Event::Past { slowness } => Some(past_of(row, &scenario, slowness, seed)),
        _ => None,
    };
    let know = Knowledge { past: past.as_deref(), totals_only: row.event == Event::TotalsOnly, ..Knowledge::default() };
    let mut governor = seat(row.player, &scenario, 1.0, row.asked, &know, seed);
    let mut figures = Figures::new(row, scenario.option_count(), &oracle);
    let mut stage = Stage::new(&scenario, &truth, seed, know.totals_only);
    for frame in 0..row.frames {
        let slowness = row.slowness(frame);
        let oracle = if slowness == 1.0 { &oracle } else { &slow_oracle };
        let seen = stage.frame(governor.as_mut(), slowness, oracle);
        figures.take(frame, &seen);
    }
    figures.memory = governor.memory_used();
    figures.finish(&scenario, &truth, &oracle, &stage.choices, governor.as_ref());
    figures
}

/// The profile of a run on a machine with all costs and the capacity multiplied by `slowness`.
fn past_of(row: &Row, scenario: &Scenario, slowness: f64, seed: u64) -> String {
    let truth = Truth::new(scenario, row.noise, slowness);
    let mut governor = seat(row.player, scenario, slowness, row.asked, &Knowledge::default(), seed);
    let oracle = Oracle { choices: vec![0; scenario.settings.len()], value: 1.0, ..Oracle::default() };
    let mut stage = Stage::new(scenario, &truth, seed + 1_000_000, false);
    for _ in 0..PAST_FRAMES {
        stage.frame(governor.as_mut(), 1.0, &oracle);
    }
    governor.save().unwrap_or_else(|| "{}".to_string())
}

/// A machine and its frames in flight.
struct Stage<'a> {
    scenario: &'a Scenario,
    truth: &'a Truth,
    machine: Machine<'a>,
    totals_only: bool,
    in_flight: [InFlight; LATENCY as usize],
    choices: Vec<u16>,
    /// Choices of the previous frame, and of the latest frame without trials.
    before: Vec<u16>,
    settled: Vec<u16>,
    /// By setting: the option before its last change, and the frame of that change.
    left: Vec<(u16, u64)>,
    settled_value: f64,
    frames: u64,
}

impl<'a> Stage<'a> {
    fn new(scenario: &'a Scenario, truth: &'a Truth, seed: u64, totals_only: bool) -> Self {
        let count = scenario.settings.len();
        Self {
            scenario,
            truth,
            machine: Machine::new(truth, seed, 0),
            totals_only,
            in_flight: std::array::from_fn(|_| InFlight { decision: 0, burdens: vec![0.0; count] }),
            choices: vec![0; count],
            before: vec![0; count],
            settled: vec![0; count],
            left: vec![(u16::MAX, 0); count],
            settled_value: 0.0,
            frames: 0,
        }
    }

    /// Delivers samples, lets the governor decide, and runs the machine.
    fn frame(&mut self, governor: &mut dyn Governor, slowness: f64, oracle: &Oracle) -> Frame {
        let slot = (self.frames % LATENCY) as usize;
        let began = Instant::now();
        self.deliver(slot, governor);
        let fed = began.elapsed();
        let began = Instant::now();
        let decided = governor.update();
        let took = began.elapsed();
        governor.choices(&mut self.choices);
        self.machine.advance(slowness);
        let value = self.scenario.value_of(&self.choices);
        let mut seen = Frame { decided, value, oracle_value: oracle.value, ..Frame::default() };
        (seen.update_ns, seen.feed_ns) = (took.as_nanos() as u32, fed.as_nanos() as u32);
        let (mut total, mut oracle_total, mut variance) = (0.0, 0.0, 0.0);
        let in_flight = &mut self.in_flight[slot];
        in_flight.decision = decided.decision;
        for index in 0..self.choices.len() {
            let (choice, best) = (self.choices[index], oracle.choices[index]);
            let burden = self.machine.burden(index, choice);
            in_flight.burdens[index] = burden;
            total += burden;
            oracle_total += if choice == best { burden } else { self.machine.burden(index, best) };
            let law = &self.truth.laws[index][usize::from(choice)];
            seen.true_mean += slowness * law.mean;
            variance += slowness * slowness * law.variance;
        }
        let common = self.truth.noise.common_spread() * seen.true_mean;
        let deviation = (variance + common * common).sqrt();
        seen.fill = (seen.true_mean + oracle.sigmas * deviation) / self.scenario.capacity;
        seen.over = total > self.scenario.capacity;
        seen.oracle_over = oracle_total > self.scenario.capacity;
        if self.frames > 0 {
            seen.changes = differences(&self.choices, &self.before);
            seen.reversals = self.reversals();
            if decided.trials == 0 {
                seen.settled_changes = differences(&self.choices, &self.settled);
            }
        }
        if decided.trials == 0 {
            self.settled.copy_from_slice(&self.choices);
            seen.settled_gain = if self.frames > 0 { seen.value - self.settled_value } else { 0.0 };
            self.settled_value = seen.value;
        }
        seen.settled_value = self.settled_value;
        self.before.copy_from_slice(&self.choices);
        self.frames += 1;
        seen
    }

    /// Counts the reversals of this frame.
    fn reversals(&mut self) -> u32 {
        let mut reversals = 0;
        for (index, left) in self.left.iter_mut().enumerate() {
            let (choice, before) = (self.choices[index], self.before[index]);
            if choice != before {
                let (option, when) = std::mem::replace(left, (before, self.frames));
                reversals += u32::from(option == choice && self.frames - when <= REVERSAL);
            }
        }
        reversals
    }

    /// Delivers the samples that arrive just before this decision: those of the decision `LATENCY` frames before.
    fn deliver(&mut self, slot: usize, governor: &mut dyn Governor) {
        if self.frames < LATENCY {
            return;
        }
        let InFlight { decision, burdens } = &self.in_flight[slot];
        if !self.totals_only {
            for (index, setting) in self.scenario.settings.iter().enumerate().filter(|(_, setting)| setting.has_burden)
            {
                debug_assert!(!setting.options.is_empty());
                governor.measure(*decision, index, burdens[index]);
            }
        }
        governor.measure_total(*decision, burdens.iter().sum());
    }
}

fn differences(one: &[u16], other: &[u16]) -> u32 {
    one.iter().zip(other).filter(|(a, b)| a != b).count() as u32
}
