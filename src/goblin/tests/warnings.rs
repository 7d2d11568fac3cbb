//! Wrong use of a goblin gives an error or one log line.

use std::cell::{Cell, RefCell};
use std::ffi::CStr;

use crate::base::host::{Host, set_host};
use crate::base::{Code, Level};
use crate::goblin::{
    Axis, Burdens, Config, Goblin, LANES, OptionDesc, ProductDesc, Sample, SettingDesc, StrategyDesc, replay,
};
use crate::profile::{Estimate, Profile};

thread_local! {
    /// Tests of other threads count their allocations, so nothing is kept for them.
    static IS_KEPT: Cell<bool> = const { Cell::new(false) };
    static LINES: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    /// Lines below the level of a warning.
    static NOTES: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// Collects the warnings of each thread.
struct Log;

impl Host for Log {
    fn log(&self, level: Level, line: &str) {
        if !IS_KEPT.get() {
            return;
        }
        let lines = if level >= Level::Warning { &LINES } else { &NOTES };
        lines.with_borrow_mut(|lines| lines.push(line.to_owned()));
    }

    fn now_ns(&self) -> Option<u64> {
        None
    }

    fn zone_begin(&self, _: &'static CStr) {}

    fn zone_end(&self) {}
}

/// The warnings of this thread that `work` causes.
fn warnings(work: impl FnOnce()) -> Vec<String> {
    set_host(&Log);
    IS_KEPT.set(true);
    LINES.take();
    work();
    IS_KEPT.set(false);
    LINES.take()
}

fn config(lanes: &[usize]) -> Config {
    let mut config = Config::default();
    lanes.iter().for_each(|&lane| config.limits[lane] = 16.0);
    config
}

fn options(count: usize) -> Vec<OptionDesc> {
    (0..count).map(|n| OptionDesc { relative_burden: 1.0, ..OptionDesc::worth(n as f64) }).collect()
}

fn with_setting(config: &Config) -> Goblin {
    let mut goblin = Goblin::new(config).unwrap();
    goblin.add_setting(&SettingDesc::new("shadows", &options(3))).unwrap();
    goblin
}

fn sample(lane: u32) -> Sample {
    Sample { decision: 0, lane, burden: 1.0, good: true }
}

fn run(goblin: &mut Goblin, frames: usize, measured: &[u32]) {
    for _ in 0..frames {
        goblin.update().unwrap();
        let id = goblin.id_at(0).unwrap();
        measured.iter().for_each(|&lane| goblin.measure(id, &sample(lane)).unwrap());
    }
}

fn only(lines: &[String]) -> &str {
    assert_eq!(lines.len(), 1, "{lines:?}");
    &lines[0]
}

#[test]
fn intended_use_logs_no_warning() {
    let lines = warnings(|| {
        let mut goblin = with_setting(&config(&[0, 2]));
        run(&mut goblin, 500, &[0, 2]);
    });
    assert!(lines.is_empty(), "{lines:?}");
}

#[test]
fn decision_without_a_limit_is_logged_once() {
    let lines = warnings(|| run(&mut with_setting(&config(&[])), 500, &[]));
    assert!(only(&lines).starts_with("this goblin has no limit"), "{lines:?}");
    let lines = warnings(|| {
        let mut goblin = with_setting(&config(&[]));
        let mut limits = [f64::INFINITY; LANES];
        limits[3] = 16.0;
        goblin.add_strategy(&StrategyDesc { limits, incentive: 0.0 }).unwrap();
        run(&mut goblin, 500, &[3]);
    });
    assert!(lines.is_empty(), "a strategy has a limit: {lines:?}");
}

#[test]
fn zero_negative_or_nan_limit_is_rejected() {
    let mut goblin = with_setting(&config(&[0]));
    goblin.add_strategy(&StrategyDesc { limits: [8.0; LANES], incentive: 0.0 }).unwrap();
    for limit in [0.0, -0.0, -1.0, f64::NAN, f64::NEG_INFINITY] {
        let mut wrong = config(&[0]);
        wrong.limits[4] = limit;
        let desc = StrategyDesc { limits: wrong.limits, incentive: 0.0 };
        let errors = [
            Goblin::new(&wrong).unwrap_err(),
            goblin.configure(&wrong).unwrap_err(),
            goblin.add_strategy(&desc).unwrap_err(),
            goblin.set_strategy(1, &desc).unwrap_err(),
        ];
        for error in errors {
            assert_eq!(error.code(), Code::InvalidArgument);
            let sentence = error.sentence();
            assert!(sentence.starts_with("the limit of lane 4 (video_memory) is "), "{sentence}");
            assert!(sentence.ends_with("it must be above 0; infinity is no limit"), "{sentence}");
        }
    }
    assert_eq!(*goblin.config(), config(&[0]));
}

#[test]
fn duplicate_setting_id_with_another_option_count_is_rejected() {
    let mut goblin = with_setting(&config(&[0]));
    let error = goblin.add_setting(&SettingDesc::new("shadows", &options(2))).unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument);
    let sentence = error.sentence();
    assert!(sentence.starts_with("setting 'shadows' has 2 options") && sentence.contains("has 3"), "{sentence}");
    let axes = [Axis { values: vec![0.0, 1.0], ..Axis::default() }];
    let product = ProductDesc { id: "shadows", axes: &axes, relative_burden: 1.0, is_trim: false, switch_burden: 0.0 };
    assert_eq!(goblin.add_product(&product).unwrap_err().code(), Code::InvalidArgument);
    assert_eq!(goblin.setting_count(), 1);
    let same = goblin.add_setting(&SettingDesc::new("shadows", &options(3))).unwrap();
    goblin.add_setting(&SettingDesc::new("shadows", &[])).unwrap();
    // Without a setting that uses them, the old samples are discarded.
    goblin.remove_setting(same).unwrap();
    goblin.remove_setting(goblin.id_at(0).unwrap()).unwrap();
    goblin.add_setting(&SettingDesc::new("shadows", &options(2))).unwrap();
}

#[test]
fn duplicate_setting_ids_with_differing_options_are_logged_once() {
    let mut goblin = with_setting(&config(&[0]));
    let other = goblin.add_setting(&SettingDesc::new("shadows", &options(3))).unwrap();
    let first = goblin.id_at(0).unwrap();
    let lines = warnings(|| {
        for id in [first, other] {
            goblin.set_options(id, &options(4)).unwrap();
        }
        goblin.update().unwrap();
    });
    assert!(lines.is_empty(), "both were exchanged before the decision: {lines:?}");
    let lines = warnings(|| {
        for count in [5, 3, 5] {
            goblin.set_options(first, &options(count)).unwrap();
            goblin.update().unwrap();
        }
    });
    let line = only(&lines);
    assert!(line.contains("'shadows'") && line.contains("different numbers of options, 4 and 5"), "{line}");
}

#[test]
fn past_profile_with_other_options_is_logged() {
    let mut past = Profile::new();
    past.set("shadows", &[Estimate { count: 40, mean: 1.0, deviation: 0.1 }; 2]).unwrap();
    let lines = warnings(|| with_setting(&config(&[0])).set_past_profile(&past).unwrap());
    assert!(only(&lines).contains("knows task 'shadows' with 2 options, not 3"), "{lines:?}");
}

#[test]
fn unmeasured_limited_lane_is_logged_once_by_name() {
    let lines = warnings(|| run(&mut with_setting(&config(&[0, 2, 4])), 119, &[0]));
    assert!(lines.is_empty(), "{lines:?}");
    let lines = warnings(|| run(&mut with_setting(&config(&[0, 2, 4])), 1000, &[0]));
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines[0].starts_with("lane 2 (game_thread) has a limit, but 120 decisions"), "{lines:?}");
    assert!(lines[1].starts_with("lane 4 (video_memory) "), "{lines:?}");
    let lines = warnings(|| {
        let mut goblin = with_setting(&config(&[0, 2]));
        run(&mut goblin, 100, &[0]);
        goblin.measure_total(&Sample { good: false, ..sample(2) }).unwrap();
        run(&mut goblin, 400, &[0]);
    });
    assert!(lines.is_empty(), "a total was reported, though flagged: {lines:?}");
    let lines = warnings(|| {
        let mut goblin = with_setting(&config(&[0]));
        run(&mut goblin, 1000, &[0]);
        goblin.configure(&config(&[0, 5])).unwrap();
        run(&mut goblin, 119, &[0]);
        assert!(LINES.with_borrow(Vec::is_empty));
        run(&mut goblin, 1, &[0]);
    });
    assert!(only(&lines).starts_with("lane 5 (user0) "), "{lines:?}");
}

#[test]
fn lanes_without_need_of_measurement_are_not_logged() {
    let lines = warnings(|| {
        let mut goblin = Goblin::new(&config(&[0])).unwrap();
        let bonus = [OptionDesc::worth(1.0)];
        goblin.add_setting(&SettingDesc { has_burden: false, ..SettingDesc::new("bonus", &bonus) }).unwrap();
        run(&mut goblin, 1000, &[]);
        // Without profiling, only frame totals of the first lane are measured.
        let mut goblin = with_setting(&Config { burdens: Burdens::Relative, ..config(&[0, 4]) });
        for _ in 0..1000 {
            goblin.update().unwrap();
            goblin.measure_total(&sample(0)).unwrap();
        }
    });
    assert!(lines.is_empty(), "{lines:?}");
    let relative = Config { burdens: Burdens::Relative, ..config(&[1, 4]) };
    let lines = warnings(|| run(&mut with_setting(&relative), 1000, &[]));
    assert!(only(&lines).starts_with("lane 1 (frame) "), "{lines:?}");
}

#[test]
fn zero_explore_limit_without_samples_is_logged_once() {
    let frozen = Config { trial_limit: 0, ..config(&[0]) };
    let lines = warnings(|| run(&mut with_setting(&frozen), 500, &[0]));
    assert!(only(&lines).contains("settings stay at their default choices"), "{lines:?}");
    let mut past = Profile::new();
    past.set("shadows", &[Estimate { count: 40, mean: 1.0, deviation: 0.1 }; 3]).unwrap();
    let lines = warnings(|| {
        let mut goblin = with_setting(&frozen);
        goblin.set_past_profile(&past).unwrap();
        run(&mut goblin, 500, &[0]);
        run(&mut with_setting(&Config { burdens: Burdens::Relative, ..frozen }), 100, &[0]);
    });
    assert!(lines.is_empty(), "{lines:?}");
}

#[test]
fn a_dropped_task_is_logged_with_two_different_numbers_or_none() {
    _ = warnings(|| {
        NOTES.take();
        let mut goblin = with_setting(&config(&[0]));
        let other = goblin.add_setting(&SettingDesc::new("shadows", &options(3))).unwrap();
        run(&mut goblin, 5, &[0]);
        goblin.set_options(other, &options(2)).unwrap();
        goblin.set_options(other, &options(5)).unwrap();
    });
    let notes = NOTES.take();
    assert_eq!(notes.len(), 2, "{notes:?}");
    assert!(notes[0].starts_with("one of the settings of task 'shadows' has another number of options"), "{notes:?}");
    assert!(notes[1].starts_with("task 'shadows' has 5 options instead of 3"), "{notes:?}");
}

#[test]
fn replay_logs_no_warnings() {
    let tape = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let recorded = warnings(|| {
        let mut goblin = Goblin::new(&config(&[])).unwrap();
        let sink = std::sync::Arc::clone(&tape);
        goblin.record(Box::new(move |bytes: &[u8]| sink.lock().unwrap().extend_from_slice(bytes))).unwrap();
        goblin.add_setting(&SettingDesc::new("shadows", &options(3))).unwrap();
        goblin.configure(&Config { trial_limit: 0, ..config(&[]) }).unwrap();
        run(&mut goblin, 10, &[]);
        goblin.configure(&config(&[0])).unwrap();
        run(&mut goblin, 200, &[]);
    });
    assert_eq!(recorded.len(), 3, "{recorded:?}");
    let lines = warnings(|| {
        let report = replay(&tape.lock().unwrap()).unwrap();
        assert_eq!((report.decisions, report.different), (210, 0));
    });
    assert!(lines.is_empty(), "{lines:?}");
}
