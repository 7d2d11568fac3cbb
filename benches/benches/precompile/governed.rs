//! The goblin gives the budget: compiling is a setting, whose burden it learns.

use hobgoblin::base::Id;
use hobgoblin::goblin::{Config, Goblin, OptionDesc, Sample, SettingDesc};

use crate::simulation::warm_up::{Control, FRAME_US, SLOWDOWN, WORKERS};

const LANE: usize = 0;

/// A goblin with two settings: the scene, which has no choice, and the number of builds that may run.
pub struct Governed {
    goblin: Goblin,
    scene: Id,
    builds: Id,
}

impl Default for Governed {
    fn default() -> Self {
        let mut config = Config::default();
        config.limits[LANE] = FRAME_US / 1e3;
        config.overrun_probability = 0.005;
        let mut goblin = Goblin::new(&config).expect("memory");
        let fixed = [OptionDesc::worth(0.0)];
        let scene = goblin.add_setting(&SettingDesc::new("scene", &fixed)).expect("memory");
        let options: Vec<OptionDesc> = (0..=WORKERS).map(|builds| OptionDesc::worth(builds as f64)).collect();
        // Nobody sees a change of it.
        let desc = SettingDesc { is_trim: true, ..SettingDesc::new("builds", &options) };
        let builds = goblin.add_setting(&desc).expect("memory");
        Self { goblin, scene, builds }
    }
}

impl Control for Governed {
    fn grant(&mut self, _: u32) -> Option<Option<u64>> {
        self.goblin.update().expect("a decision");
        let builds = self.goblin.choice(self.builds).expect("a setting").unwrap_or(0);
        Some(Some(u64::from(builds) * FRAME_US as u64))
    }

    fn learn(&mut self, work_us: f64, builds_us: f64) {
        let decision = self.goblin.latest_decision();
        // Builds of earlier frames may still run, and the last ones may be short. Without this report the goblin takes
        // their time for that of its choice. A choice is a limit, so the report is the least one that allows the time.
        // A rounded one would make no builds cost up to half a build.
        let ran = (builds_us / SLOWDOWN / FRAME_US - 0.01).ceil().max(0.0) as u32;
        self.goblin.applied(self.builds, decision, ran).expect("a decision");
        for (id, burden_us) in [(self.scene, work_us), (self.builds, builds_us)] {
            let sample = Sample { decision, lane: LANE as u32, burden: burden_us / 1e3, good: true };
            self.goblin.measure(id, &sample).expect("a sample");
        }
    }
}
