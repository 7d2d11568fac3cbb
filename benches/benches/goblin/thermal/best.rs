//! The oracle of a device that warms up: the most valuable plan that never throttles.
//!
//! It knows the costs, the noise and the device with its future. Dynamic programming over time and skin temperature
//! finds the busy share of every few seconds (R. Bellman, 1957). The die is taken to be in its steady state. The plan is
//! then played on the real model, a little below the limit.

use hobgoblin::knapsack::{Candidate, Economy, Effort, Knapsack};

use crate::scenario::Scenario;

use super::SECONDS;
use super::device::{Climate, Device, LIMIT, steady};

/// Steps of the plan, in seconds; of the skin's temperature, in °C; of the busy share.
const STEP: f64 = 5.0;
const DEGREE: f64 = 0.05;
const SHARES: usize = 50;
/// Distance of the plan from the temperature at which the device throttles.
const DISTANCE: f64 = 0.05;
/// Entries of the table of best choices by capacity.
const CAPACITIES: usize = 512;

/// The best choices by capacity at full clock.
pub struct Frontier {
    lightest: f64,
    step: f64,
    /// By capacity: choices, their value and their mean cost.
    best: Vec<(Vec<u16>, f64, f64)>,
}

impl Frontier {
    /// `spread`: relative deviations of every pass, and of all together. `sigmas` deviations stay free.
    pub fn new(scenario: &Scenario, spread: (f64, f64), sigmas: f64) -> Self {
        let mut knapsack = Knapsack::new();
        let burdens = |lightest: bool| -> f64 {
            let of = |setting: &crate::scenario::TrueSetting| {
                let all = setting.options.iter().map(|option| option.burden);
                if lightest { all.fold(f64::INFINITY, f64::min) } else { all.fold(0.0, f64::max) }
            };
            scenario.settings.iter().map(of).sum()
        };
        let (lightest, highest) = (burdens(true), 1.1 * burdens(false));
        let step = (highest - lightest) / (CAPACITIES - 1) as f64;
        let best = (0..CAPACITIES).map(|at| {
            knapsack.clear();
            for setting in &scenario.settings {
                let candidates: Vec<Candidate> = setting
                    .options
                    .iter()
                    .map(|option| Candidate {
                        value: option.value,
                        mean: option.burden,
                        variance: (spread.0 * option.burden).powi(2),
                    })
                    .collect();
                knapsack.add_setting(&candidates).expect("true burdens are numbers");
            }
            let capacity = lightest + step * at as f64;
            let total = capacity / (1.0 + sigmas * spread.1);
            let common = Candidate { value: 0.0, mean: 0.0, variance: (spread.1 * total).powi(2) };
            knapsack.add_setting(&[common]).expect("a variance is a number");
            let economy = Economy { capacity, sigmas };
            knapsack.solve(economy, Effort { accepted_gap: 0.0, node_limit: 10_000 }).expect("solved");
            let choices = knapsack.choices()[..scenario.settings.len()].to_vec();
            let pairs = scenario.settings.iter().zip(&choices);
            let mean = pairs.map(|(setting, &choice)| setting.options[usize::from(choice)].burden).sum();
            let value = scenario.value_of(&choices);
            (choices, value, mean)
        });
        Self { lightest, step, best: best.collect() }
    }

    /// Choices, value and mean cost at full clock that fit a capacity at full clock.
    pub fn at(&self, capacity: f64) -> &(Vec<u16>, f64, f64) {
        let place = ((capacity - self.lightest) / self.step).clamp(0.0, (CAPACITIES - 1) as f64);
        &self.best[place as usize]
    }
}

/// The busy share by time and skin temperature.
pub struct Plan {
    coolest: f64,
    temperatures: usize,
    /// By step and temperature.
    shares: Vec<f32>,
}

impl Plan {
    pub fn new(climate: &Climate, device: &Device, frontier: &Frontier, capacity: f64) -> Self {
        let coolest = climate.ambient.min(climate.ambient_later) - 1.0;
        let temperatures = ((LIMIT - coolest) / DEGREE) as usize + 1;
        let steps = (SECONDS / STEP) as usize;
        let kept = 1.0 - (-STEP / device.skin_seconds()).exp();
        let mut later = vec![0.0; temperatures];
        let mut shares = vec![0f32; steps * temperatures];
        for step in (0..steps).rev() {
            let time = STEP * step as f64;
            let mut now = vec![f64::NEG_INFINITY; temperatures];
            for (at, value) in now.iter_mut().enumerate() {
                let skin = coolest + DEGREE * at as f64;
                for share in 1..=SHARES {
                    let share = share as f64 / SHARES as f64;
                    // The clock depends on the load, and the choice on the clock.
                    let (clock, _) = steady(climate, time, skin, share);
                    let (_, gained, mean) = frontier.at(share * capacity * clock);
                    let busy = mean / clock / capacity;
                    let (_, target) = steady(climate, time, skin, busy);
                    let next = skin + kept * (target - skin);
                    let total = gained * STEP + interpolated(&later, (next - coolest) / DEGREE);
                    let is_safe = next <= LIMIT - DISTANCE || share <= 1.5 / SHARES as f64;
                    if is_safe && total > *value {
                        *value = total;
                        shares[step * temperatures + at] = share as f32;
                    }
                }
            }
            later = now;
        }
        Self { coolest, temperatures, shares }
    }

    /// The busy share now.
    pub fn share(&self, time: f64, skin: f64) -> f64 {
        let steps = self.shares.len() / self.temperatures;
        let step = ((time / STEP) as usize).min(steps - 1);
        let at = ((skin - self.coolest) / DEGREE).round().clamp(0.0, (self.temperatures - 1) as f64);
        f64::from(self.shares[step * self.temperatures + at as usize])
    }
}

fn interpolated(values: &[f64], at: f64) -> f64 {
    let at = at.clamp(0.0, (values.len() - 1) as f64);
    let below = (at as usize).min(values.len() - 2);
    let share = at - below as f64;
    let (one, other) = (values[below], values[below + 1]);
    if share == 0.0 { one } else { one + share * (other - one) }
}
