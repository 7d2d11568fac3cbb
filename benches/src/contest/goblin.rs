//! The goblin as a contestant: the default configuration, and what a host tells it.

use hobgoblin::base::Id;
use hobgoblin::goblin::{Config, Goblin, OptionDesc, Sample, SettingDesc};
use hobgoblin::profile::Profile;

use super::arena::{Governor, Run};

/// The governed lane: the GPU's.
const LANE: usize = 0;
/// Works are above 0.
const NO_WORK: f64 = 1e-9;

/// The goblin in a run.
pub struct Player {
    goblin: Goblin,
    ids: Vec<Id>,
    /// Decision of each frame.
    decisions: Vec<u64>,
}

impl Player {
    /// The default configuration, asked for 1 % of frames over `budget`. `past`: the profile of an earlier run. `trims`:
    /// whether a resolution with fine steps is a TRIM setting.
    pub fn new(run: &dyn Run, budget: f64, past: Option<&str>, trims: bool) -> Self {
        let mut config = Config { overrun_probability: 0.01, ..Config::default() };
        config.limits[LANE] = budget;
        let mut goblin = Goblin::new(&config).expect("a valid configuration");
        if let Some(past) = past {
            let profile = Profile::from_json(past.as_bytes()).expect("a profile that the goblin wrote");
            goblin.set_past_profile(&profile).expect("a past");
        }
        let ids = run.settings().iter().enumerate().map(|(index, setting)| {
            let options: Vec<_> = setting.values.iter().map(|&value| OptionDesc::worth(value)).collect();
            let desc = SettingDesc {
                is_trim: trims && run.has_fine_resolution() && index == run.resolution(),
                switch_burden: setting.change_ms,
                ..SettingDesc::new(&setting.name, &options)
            };
            goblin.add_setting(&desc).expect("a setting that makes sense")
        });
        let ids = ids.collect();
        Self { goblin, ids, decisions: Vec::new() }
    }
}

impl Governor for Player {
    fn decide(&mut self, works: &[f64], choices: &mut [u16]) {
        for (&id, &work) in self.ids.iter().zip(works) {
            self.goblin.set_work(id, work.max(NO_WORK)).expect("a work");
        }
        self.decisions.push(self.goblin.update().expect("a decision").id);
        for (choice, &id) in choices.iter_mut().zip(&self.ids) {
            *choice = self.goblin.choice(id).expect("a setting").expect("a setting with options");
        }
    }

    fn learn(&mut self, frame: usize, costs: &[f64], total: f64) {
        let sample = |burden| Sample { decision: self.decisions[frame], lane: LANE as u32, burden, good: true };
        for (&id, &cost) in self.ids.iter().zip(costs) {
            self.goblin.measure(id, &sample(cost)).expect("a sample of a decision");
        }
        self.goblin.measure_total(&sample(total)).expect("a total of a decision");
    }

    fn save(&self) -> Option<String> {
        let profile = self.goblin.profile().expect("a profile");
        let mut text = vec![0; profile.json_size() + 1];
        let length = profile.to_json(&mut text).expect("room enough");
        text.truncate(length);
        Some(String::from_utf8(text).expect("text"))
    }
}
