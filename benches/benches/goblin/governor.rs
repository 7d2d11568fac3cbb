//! The players: the default goblin, the goblin configured like the original, and a threshold controller.
//!
//! All calls to the goblin are in this file.

use hobgoblin::base::Id;
use hobgoblin::goblin::{Burdens, Config, Exploration, Goblin, OptionDesc, Sample, SettingDesc};
use hobgoblin::profile::Profile;

use crate::oracle::Asked;
use crate::random::Random;
use crate::scenario::Scenario;

/// The governed lane: the GPU's.
const LANE: usize = 0;

/// A kind of governor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Player {
    /// The default configuration.
    Goblin,
    /// The default configuration without stability.
    Impatient,
    /// Explores and decides like the original.
    Original,
    /// Lowers one setting when the frame is nearly full, raises one when there is much room.
    Threshold,
}

/// A governor's report on a decision.
#[derive(Clone, Copy, Debug, Default)]
pub struct Told {
    pub decision: u64,
    /// Options tried in this frame.
    pub trials: u32,
    /// Relative distance from the best choice by its own estimates.
    pub gap: f64,
    /// Expected mean total; NaN if unknown.
    pub mean: f64,
}

/// Picks an option of every setting, every frame.
pub trait Governor {
    /// Takes the measured cost of a setting's choice.
    fn measure(&mut self, decision: u64, setting: usize, burden: f64);
    /// Takes the measured total of a frame.
    fn measure_total(&mut self, decision: u64, burden: f64);
    /// Decide.
    fn update(&mut self) -> Told;
    /// The choices of the latest decision.
    fn choices(&self, choices: &mut [u16]);
    /// Estimated mean cost of an option, and the number of its samples.
    fn belief(&self, setting: usize, option: u16) -> Option<(f64, u64)>;
    /// The governor's profile as text.
    fn save(&self) -> Option<String>;
    /// Bytes held.
    fn memory_used(&self) -> usize;
    /// The host declares a cut: for so many frames from now on changes are not seen.
    fn declare_cut(&mut self, _frames: u32) {}
    /// The platform's thermal headroom in 10 s: 1 is the temperature of throttling.
    fn report_thermal_headroom(&mut self, _headroom: f64) {}
}

/// The differences from the default configuration.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rules {
    pub changes_per_second: Option<f64>,
    /// The setting that is a TRIM setting.
    pub trim: Option<usize>,
}

/// A governor's prior knowledge.
#[derive(Clone, Debug, Default)]
pub struct Knowledge<'a> {
    /// A profile of another run.
    pub past: Option<&'a str>,
    /// Whether only totals are measured and the burdens are the host's estimates.
    pub totals_only: bool,
    pub rules: Rules,
}

/// Creates the player for the scenario with its capacity times `scale`.
pub fn seat(
    player: Player,
    scenario: &Scenario,
    scale: f64,
    asked: Asked,
    know: &Knowledge<'_>,
    seed: u64,
) -> Box<dyn Governor> {
    let capacity = scenario.capacity * scale;
    match player {
        Player::Threshold => Box::new(Threshold::new(scenario, capacity, seed)),
        _ => Box::new(Goblins::new(player, scenario, capacity, asked, know)),
    }
}

struct Goblins {
    goblin: Goblin,
    ids: Vec<Id>,
    totals_only: bool,
    /// Frames until the declared cut is over.
    cut: u32,
}

impl Goblins {
    fn new(player: Player, scenario: &Scenario, capacity: f64, asked: Asked, know: &Knowledge<'_>) -> Self {
        let mut config = Config::default();
        config.limits[LANE] = capacity;
        match asked {
            Asked::Sigmas(sigmas) => config.sigmas = sigmas,
            Asked::Probability(probability) => config.overrun_probability = probability,
        }
        if know.totals_only {
            config.burdens = Burdens::Totals;
        }
        if player != Player::Goblin {
            config.patience = 0.0;
        }
        if let Some(rate) = know.rules.changes_per_second {
            config.changes_per_second = rate;
        }
        if player == Player::Original {
            config.sigmas = config.nominal_sigmas();
            config.overrun_probability = 0.0;
            config.exploration = Exploration::Optimistic;
        }
        let mut goblin = Goblin::new(&config).expect("a valid configuration");
        if let Some(past) = know.past {
            let profile = Profile::from_json(past.as_bytes()).expect("a profile that the goblin wrote");
            goblin.set_past_profile(&profile).expect("a past");
        }
        let ids = scenario.settings.iter().enumerate().map(|(index, setting)| {
            let describe = |option: &crate::scenario::TrueOption| OptionDesc {
                relative_burden: option.relative_burden,
                ..OptionDesc::worth(option.value)
            };
            let options: Vec<_> = setting.options.iter().map(describe).collect();
            let is_trim = know.rules.trim == Some(index);
            let desc =
                SettingDesc { has_burden: setting.has_burden, is_trim, ..SettingDesc::new(&setting.id, &options) };
            goblin.add_setting(&desc).expect("a setting that makes sense")
        });
        let ids = ids.collect();
        Self { goblin, ids, totals_only: know.totals_only, cut: 0 }
    }
}

fn sample(decision: u64, burden: f64) -> Sample {
    Sample { decision, lane: LANE as u32, burden, good: true }
}

impl Governor for Goblins {
    fn measure(&mut self, decision: u64, setting: usize, burden: f64) {
        self.goblin.measure(self.ids[setting], &sample(decision, burden)).expect("a sample of a decision");
    }

    fn measure_total(&mut self, decision: u64, burden: f64) {
        self.goblin.measure_total(&sample(decision, burden)).expect("a total of a decision");
    }

    fn update(&mut self) -> Told {
        let decision = self.goblin.update().expect("a decision");
        if self.cut > 0 {
            self.cut -= 1;
            if self.cut == 0 {
                self.goblin.set_switch_scale(1.0).expect("a valid scale");
            }
        }
        // Relative burdens have a unit of their own.
        let mean = if self.totals_only { f64::NAN } else { decision.chosen.mean[LANE] };
        Told { decision: decision.id, trials: decision.trials, gap: decision.gap, mean }
    }

    fn choices(&self, choices: &mut [u16]) {
        for (choice, &id) in choices.iter_mut().zip(&self.ids) {
            *choice = self.goblin.choice(id).expect("a setting").expect("a setting with options");
        }
    }

    fn belief(&self, setting: usize, option: u16) -> Option<(f64, u64)> {
        let (burden, samples) = self.goblin.estimate(self.ids[setting], u32::from(option), LANE).expect("an option");
        Some((burden.normal.mean, samples))
    }

    fn save(&self) -> Option<String> {
        let profile = self.goblin.profile().expect("a profile");
        let mut text = vec![0; profile.json_size() + 1];
        let length = profile.to_json(&mut text).expect("room enough");
        text.truncate(length);
        Some(String::from_utf8(text).expect("text"))
    }

    fn memory_used(&self) -> usize {
        self.goblin.memory_used()
    }

    fn report_thermal_headroom(&mut self, headroom: f64) {
        // The platform has no value for NaN.
        if !headroom.is_nan() {
            self.goblin.set_thermal_headroom(LANE as u32, headroom).expect("a headroom in range");
        }
    }

    fn declare_cut(&mut self, frames: u32) {
        self.goblin.set_switch_scale(0.0).expect("a valid scale");
        self.cut = frames;
    }
}

/// A controller like those of many games: steps down above 95 % of the capacity, up below 80 %.
///
/// It changes one random setting at a time, then waits for the total of that frame.
struct Threshold {
    capacity: f64,
    random: Random,
    /// Options of each setting, in ascending order of value.
    ladders: Vec<Vec<u16>>,
    /// Current position of each setting on its ladder.
    rungs: Vec<usize>,
    decision: u64,
    /// First decision after the latest step: earlier totals do not include it.
    since: u64,
    /// Latest total of a decision from `since` on.
    total: Option<f64>,
}

impl Threshold {
    fn new(scenario: &Scenario, capacity: f64, seed: u64) -> Self {
        let ladder = |options: &[crate::scenario::TrueOption]| {
            let mut order: Vec<u16> = (0..options.len() as u16).collect();
            let value = |option: &u16| options[usize::from(*option)].value;
            order.sort_by(|a, b| value(a).total_cmp(&value(b)));
            order
        };
        let ladders: Vec<_> = scenario.settings.iter().map(|setting| ladder(&setting.options)).collect();
        let rungs = vec![0; ladders.len()];
        Self { capacity, random: Random::new(seed, 7), ladders, rungs, decision: 0, since: 1, total: None }
    }
}

impl Governor for Threshold {
    fn measure(&mut self, _decision: u64, _setting: usize, _burden: f64) {}

    fn measure_total(&mut self, decision: u64, burden: f64) {
        if decision >= self.since {
            self.total = Some(burden);
        }
    }

    fn update(&mut self) -> Told {
        self.decision += 1;
        let load = self.total.take().map_or(0.9, |total| total / self.capacity);
        let (down, up) = (load > 0.95, load < 0.8);
        let can_step = |(index, &rung): (usize, &usize)| {
            let room = if down { rung > 0 } else { rung + 1 < self.ladders[index].len() };
            room.then_some(index)
        };
        if down || up {
            let able: Vec<usize> = self.rungs.iter().enumerate().filter_map(can_step).collect();
            if !able.is_empty() {
                let picked = able[self.random.below(able.len() as u64) as usize];
                self.rungs[picked] = if down { self.rungs[picked] - 1 } else { self.rungs[picked] + 1 };
                self.since = self.decision;
            }
        }
        Told { decision: self.decision, mean: f64::NAN, ..Told::default() }
    }

    fn choices(&self, choices: &mut [u16]) {
        for (index, choice) in choices.iter_mut().enumerate() {
            *choice = self.ladders[index][self.rungs[index]];
        }
    }

    fn belief(&self, _setting: usize, _option: u16) -> Option<(f64, u64)> {
        None
    }

    fn save(&self) -> Option<String> {
        None
    }

    fn memory_used(&self) -> usize {
        size_of::<Self>() + self.ladders.iter().map(|ladder| ladder.capacity() * 2).sum::<usize>()
    }
}
