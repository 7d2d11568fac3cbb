//! Options that stay unknown at first: there are no samples, or they cannot be chosen, or their lane has no limit yet.

use super::Dice;
use crate::base::Id;
use crate::goblin::choose::pace::Pace;
use crate::goblin::*;

const SECOND: u64 = 60;
/// Of the options of each setting, in milliseconds and in MiB.
const COSTS: [[f64; 4]; 2] = [[0.2, 0.8, 1.4, 2.0], [10.0, 50.0, 90.0, 130.0]];
const VALUES: [f64; 4] = [0.0, 4.0, 7.0, 9.0];

struct Game {
    goblin: Goblin,
    settings: Vec<Id>,
    limits: [f64; 2],
    dice: Dice,
}

impl Game {
    fn new(limits: [f64; 2], default_choice: u16) -> Self {
        let mut goblin = Goblin::new(&config(limits)).unwrap();
        let options: Vec<OptionDesc> = VALUES.iter().map(|&value| OptionDesc::worth(value)).collect();
        let mut add = |name: usize| {
            let name = name.to_string();
            goblin.add_setting(&SettingDesc { default_choice, ..SettingDesc::new(&name, &options) }).unwrap()
        };
        let settings = (0..8).map(&mut add).collect();
        Self { goblin, settings, limits, dice: Dice(4) }
    }

    /// Plays seconds, in which a share of the frames is measured. Returns the mean value of the last second, and the late
    /// frames of all of them, on either lane.
    fn play(&mut self, seconds: u64, measured: f64) -> (f64, u32) {
        let (mut value, mut late) = (0.0, 0);
        for frame in 0..seconds * SECOND {
            let decision = self.goblin.update().unwrap();
            let good = self.dice.next() < measured;
            let mut totals = [0.0; 2];
            for &setting in &self.settings {
                let choice = usize::from(self.goblin.choice(setting).unwrap().unwrap());
                for (lane, costs) in COSTS.iter().enumerate() {
                    let burden = costs[choice] * if lane == 0 { 0.99 + 0.02 * self.dice.next() } else { 1.0 };
                    totals[lane] += burden;
                    let sample = Sample { decision: decision.id, lane: lane as u32, burden, good };
                    self.goblin.measure(setting, &sample).unwrap();
                }
            }
            late += u32::from((0..2).any(|lane| totals[lane] > self.limits[lane]));
            value += if frame >= (seconds - 1) * SECOND { decision.chosen.value / SECOND as f64 } else { 0.0 };
        }
        (value, late)
    }

    /// After these seconds, at most 3 % of the frames are late.
    #[track_caller]
    fn assert_punctual_after(&mut self, seconds: u64) {
        self.play(seconds, 1.0);
        let (_, late) = self.play(20, 1.0);
        assert!(late < 36, "{late} of 1200 frames exceed {:?}", self.limits);
    }
}

fn config(limits: [f64; 2]) -> Config {
    let mut config = Config { overrun_probability: 0.01, ..Config::default() };
    config.limits[..2].copy_from_slice(&limits);
    config
}

const NONE: f64 = f64::INFINITY;

#[test]
fn start_without_samples_costs_no_value_later() {
    let mut game = Game::new([17.0, NONE], 0);
    game.play(20, 0.0);
    let (value, _) = game.play(20, 1.0);
    assert!(value > 71.0, "{value} of 72, 20 s after the first sample");
}

#[test]
fn start_without_samples_does_not_keep_a_default_above_the_limit() {
    let mut game = Game::new([12.0, NONE], 3);
    game.play(20, 0.0);
    game.assert_punctual_after(10);
}

#[test]
fn options_that_are_free_at_last_are_tried() {
    let mut game = Game::new([12.0, NONE], 3);
    let settings = game.settings.clone();
    let pin = |game: &mut Game, first| settings.iter().for_each(|&id| game.goblin.set_range(id, first, 3).unwrap());
    pin(&mut game, 3);
    game.play(30, 1.0);
    pin(&mut game, 0);
    game.assert_punctual_after(10);
}

#[test]
fn lane_whose_limit_comes_late_is_kept() {
    for limit in [1000.0, 600.0] {
        let mut game = Game::new([30.0, NONE], 0);
        game.play(60, 1.0);
        game.limits[1] = limit;
        game.goblin.configure(&config(game.limits)).unwrap();
        game.assert_punctual_after(20);
    }
}

#[test]
fn samples_of_every_tenth_frame_take_ten_times_as_long() {
    let mut game = Game::new([13.0, NONE], 0);
    let mut all = Game::new([13.0, NONE], 0);
    let ((few, _), (every, _)) = (game.play(200, 0.1), all.play(20, 1.0));
    assert!(few > every - 1.0, "{few} with a tenth of the samples, {every} with all");
}

/// Changes are free while the goblin learns. A host that switches options on and off does not prolong that for ever.
#[test]
fn learning_phase_begins_again_for_an_eighth_of_all_decisions() {
    let (mut pace, mut learning) = (Pace::default(), 0);
    for now in 0..3600 * SECOND {
        if now % SECOND == 0 {
            pace.learn_again(now, 1024);
        }
        learning += u64::from(pace.is_learning(now));
    }
    assert!((3400 * SECOND / 8..3800 * SECOND / 8).contains(&learning), "{learning} decisions");
}
