//! A recorded run replays to the same choices. A truncated or damaged recording is replayed up to the damage.

use super::Dice;
use crate::testing::scaled;
use std::sync::{Arc, Mutex};

use crate::base::{Code, Id};
use crate::goblin::{
    Axis, Burdens, Config, End, Exploration, Goblin, LANES, OptionDesc, ProductDesc, Report, Sample, SettingDesc,
    StrategyDesc, replay,
};
use crate::profile::{Estimate, Profile};

const HEADER: usize = 16;

type Tape = Arc<Mutex<Vec<u8>>>;

/// A goblin whose run is recorded, and the recording.
fn recorded(config: &Config) -> (Goblin, Tape) {
    let mut goblin = Goblin::new(config).unwrap();
    let tape = Tape::default();
    let sink = Arc::clone(&tape);
    goblin.record(Box::new(move |bytes: &[u8]| sink.lock().unwrap().extend_from_slice(bytes))).unwrap();
    (goblin, tape)
}

fn any_config(dice: &mut Dice) -> Config {
    let mut config = Config { history: 1 + dice.below(24) as u32, ..Config::default() };
    config.limits[dice.below(LANES)] = 6.0 + 20.0 * dice.next();
    if dice.one_in(3) {
        config.limits[dice.below(LANES)] = 6.0 + 20.0 * dice.next();
    }
    if dice.one_in(3) {
        config.overrun_probability = 0.01;
    }
    config.patience = [0.0, 1.0, 4.0][dice.below(3)];
    config.dwell = dice.below(4) as u32;
    config.burdens = [Burdens::Learned, Burdens::Learned, Burdens::Relative, Burdens::Totals][dice.below(4)];
    config.exploration = [Exploration::Bounded, Exploration::Bounded, Exploration::Optimistic][dice.below(3)];
    config
}

fn any_options(dice: &mut Dice) -> Vec<OptionDesc> {
    let option = |value: f64, dice: &mut Dice| OptionDesc {
        relative_burden: 1.0 + value,
        ready: !dice.one_in(12),
        work: if dice.one_in(5) { 2.0 } else { 1.0 },
        ..OptionDesc::worth(value + dice.next())
    };
    (0..dice.below(6)).map(|index| option(index as f64, dice)).collect()
}

fn any_strategy(dice: &mut Dice) -> StrategyDesc {
    let mut desc = StrategyDesc { limits: [f64::INFINITY; LANES], incentive: 4.0 * dice.next() };
    desc.limits[dice.below(LANES)] = 4.0 + 20.0 * dice.next();
    desc
}

fn any_profile(dice: &mut Dice) -> Profile {
    let mut profile = Profile::new();
    for task in 0..dice.below(6) {
        let known: Vec<Estimate> =
            (0..dice.below(6)).map(|_| Estimate { count: 40, mean: 8.0 * dice.next(), deviation: 0.1 }).collect();
        profile.set(&format!("task {task}"), &known).unwrap();
    }
    profile
}

/// Simulates a host: mostly frames, and sometimes all other calls, including invalid ones. Returns every decision's
/// choices.
fn play(goblin: &mut Goblin, seed: u64, frames: usize) -> Vec<Vec<Option<u16>>> {
    let mut dice = Dice(seed);
    let (mut ids, mut strategies, mut choices): (Vec<Id>, usize, _) = (Vec::new(), 0, Vec::new());
    for frame in 0..frames {
        while ids.len() < 3 || dice.one_in(20) {
            let options = any_options(&mut dice);
            let default_choice = dice.below(options.len().max(1)) as u16;
            let desc = SettingDesc {
                default_choice,
                shared: 1 + dice.below(2) as u16,
                is_trim: dice.one_in(6),
                has_burden: !dice.one_in(9),
                switch_burden: if dice.one_in(3) { 3.0 * dice.next() } else { 0.0 },
                ..SettingDesc::new("", &options)
            };
            // Rejected if a setting with this id has another number of options.
            ids.extend(goblin.add_setting(&SettingDesc { id: &format!("task {}", dice.below(6)), ..desc }));
        }
        let id = ids[dice.below(ids.len())];
        let option = dice.below(6) as u32;
        // Some of these calls fail and must change nothing.
        match dice.below(40) {
            0 if ids.len() > 3 => goblin.remove_setting(ids.swap_remove(dice.below(ids.len()))).unwrap(),
            1 => drop(goblin.set_options(id, &any_options(&mut dice))),
            2 => drop(goblin.set_value(id, option, 7.0 * dice.next())),
            3 => drop(goblin.set_ready(id, option, !dice.one_in(3))),
            4 => goblin.set_work(id, 0.5 + dice.next()).unwrap(),
            5 => drop(goblin.set_range(id, option, option + dice.below(4) as u32)),
            6 => goblin.set_enabled(id, !dice.one_in(3)).unwrap(),
            7 => goblin.set_switch_scale(2.0 * dice.next()).unwrap(),
            8 => goblin.open_trial_window(dice.below(5) as u32, dice.next()).unwrap(),
            9 if strategies < 4 => strategies = goblin.add_strategy(&any_strategy(&mut dice)).unwrap(),
            10 => drop(goblin.set_strategy(dice.below(strategies + 2), &any_strategy(&mut dice))),
            11 => drop(goblin.set_strategy_value(dice.below(strategies + 2), id, option, 7.0 * dice.next())),
            12 => drop(goblin.set_strategy_work(dice.below(strategies + 2), id, 0.5 + dice.next())),
            13 => goblin.set_past_profile(&any_profile(&mut dice)).unwrap(),
            14 => {
                let burdens = goblin.config().burdens;
                goblin.configure(&Config { burdens, ..any_config(&mut dice) }).unwrap();
            }
            15 => {
                let axis = |works: &[f64]| Axis { values: vec![0.0, 1.5], works: works.to_vec(), default_index: 1 };
                let axes = [axis(&[1.0, 2.0]), axis(&[])];
                let desc = ProductDesc {
                    id: "product",
                    axes: &axes,
                    relative_burden: 1.0,
                    is_trim: false,
                    switch_burden: 0.5,
                };
                ids.extend(goblin.add_product(&desc));
            }
            16 => {
                goblin.set_value(Id { index1: 1, generation: 99 }, 0, 1.0).unwrap_err();
                goblin.set_work(id, -1.0).unwrap_err();
                goblin.set_switch_scale(f64::NAN).unwrap_err();
                goblin.open_trial_window(1, -1.0).unwrap_err();
                goblin.configure(&Config { sigmas: -1.0, ..*goblin.config() }).unwrap_err();
                goblin.remove_setting(Id::default()).unwrap_err();
            }
            17 => goblin.set_thermal_headroom(dice.below(3) as u32, 1.2 * dice.next()).unwrap(),
            18 => {
                goblin.set_thermal_headroom(LANES as u32, 0.5).unwrap_err();
                goblin.set_thermal_headroom(0, -0.1).unwrap_err();
                goblin.set_thermal_headroom(0, f64::NAN).unwrap_err();
            }
            _ => {}
        }
        // Timers answer up to three frames late. Some answers are marked bad, some are on an invalid lane, some are for
        // decision 0.
        for &id in &ids {
            let lag = dice.below(4) as u64;
            let decision = goblin.latest_decision().saturating_sub(lag) * u64::from(!dice.one_in(8));
            let chosen = goblin.choice(id).unwrap().map_or(0, usize::from);
            let burden = (0.2 + 1.4 * chosen as f64) * (0.9 + 0.2 * dice.next());
            let lane = if dice.one_in(5) { dice.below(LANES + 1) } else { goblin.lane() } as u32;
            _ = goblin.measure(id, &Sample { decision, lane, burden, good: !dice.one_in(30) });
        }
        if dice.one_in(10) {
            _ = goblin.applied(id, goblin.latest_decision(), option);
        }
        if dice.one_in(2) {
            let decision = goblin.latest_decision().saturating_sub(2);
            let sample = Sample { decision, lane: goblin.lane() as u32, burden: 5.0 + 9.0 * dice.next(), good: true };
            _ = goblin.measure_total(&sample);
        }
        if frame % 50 == 49 {
            goblin.decide().unwrap();
        } else {
            goblin.update().unwrap();
        }
        choices.push((0..goblin.positions()).map(|at| goblin.choice(goblin.id_at(at)?).unwrap()).collect());
    }
    choices
}

fn a_recording(seed: u64, frames: usize) -> Vec<u8> {
    let (mut goblin, tape) = recorded(&any_config(&mut Dice(seed)));
    play(&mut goblin, seed, frames);
    drop(goblin);
    tape.lock().unwrap().clone()
}

fn is_identical(report: &Report) -> bool {
    report.different == 0 && report.difference.is_none()
}

#[test]
fn run_with_all_kinds_of_calls_replays_to_the_same_choices() {
    for seed in 1..=u64::from(scaled(15)) {
        let recording = a_recording(seed, 200);
        let report = replay(&recording).unwrap();
        assert!(matches!(report.end, End::Complete), "seed {seed}: {report:?}");
        assert!(is_identical(&report), "seed {seed}: {report:?}");
        assert_eq!((report.decisions, report.bytes), (200, recording.len()));
    }
}

#[test]
fn recording_changes_no_choice() {
    for seed in [3, 5, 8] {
        let config = any_config(&mut Dice(seed));
        let (mut with, _tape) = recorded(&config);
        let mut without = Goblin::new(&config).unwrap();
        assert_eq!(play(&mut with, seed, 150), play(&mut without, seed, 150));
    }
}

#[test]
fn heap_layout_changes_no_choice() {
    let recording = a_recording(11, 300);
    // Fragments the heap before each replay, so that addresses differ between replays.
    let mut dice = Dice(77);
    let mut held: Vec<Vec<u8>> = Vec::new();
    for _ in 0..4 {
        held.extend((0..2000).map(|_| vec![0xAA; 1 + dice.below(3000)]));
        held.retain(|_| !dice.one_in(2));
        let report = replay(&recording).unwrap();
        assert!(matches!(report.end, End::Complete) && is_identical(&report), "{report:?}");
    }
    let of_threads: Vec<_> = (0..3)
        .map(|_| {
            std::thread::spawn({
                let recording = recording.clone();
                move || is_identical(&replay(&recording).unwrap())
            })
        })
        .collect();
    assert!(of_threads.into_iter().all(|thread| thread.join().unwrap()));
}

#[test]
fn failed_calls_are_not_recorded() {
    let (mut goblin, tape) = recorded(&any_config(&mut Dice(1)));
    play(&mut goblin, 1, 20);
    let (before, decision) = (tape.lock().unwrap().len(), goblin.latest_decision());
    let nobody = Id { index1: 1000, generation: 0 };
    let sample = Sample { decision: decision + 1, lane: 0, burden: 1.0, good: true };
    goblin.measure(goblin.id_at(0).unwrap(), &sample).unwrap_err();
    goblin.measure(nobody, &Sample { decision, ..sample }).unwrap_err();
    goblin.measure_total(&Sample { burden: f64::NAN, decision, ..sample }).unwrap_err();
    goblin.applied(nobody, decision, 0).unwrap_err();
    goblin.set_strategy_value(99, nobody, 0, 1.0).unwrap_err();
    goblin.add_setting(&SettingDesc { switch_burden: -1.0, ..SettingDesc::new("x", &[]) }).unwrap_err();
    goblin.stop_recording();
    let recording = tape.lock().unwrap();
    // A block with only the end marker.
    assert_eq!(recording.len(), before + 9);
    assert_eq!(recording.last(), Some(&0));
}

#[test]
fn recording_begins_at_creation_and_ends_once() {
    let config = any_config(&mut Dice(1));
    let sink = || Box::new(|_: &[u8]| {});
    let mut late = Goblin::new(&config).unwrap();
    late.set_switch_scale(-1.0).unwrap_err();
    late.set_switch_scale(2.0).unwrap();
    assert_eq!(late.record(sink()).unwrap_err().code(), Code::Unsupported);
    let (mut goblin, tape) = recorded(&config);
    assert_eq!(goblin.record(sink()).unwrap_err().code(), Code::Unsupported);
    assert!(goblin.is_recording());
    goblin.stop_recording();
    let size = tape.lock().unwrap().len();
    goblin.update().unwrap();
    goblin.stop_recording();
    assert_eq!(tape.lock().unwrap().len(), size);
    assert_eq!(goblin.record(sink()).unwrap_err().code(), Code::Unsupported);
}

#[test]
fn large_calls_span_many_blocks() {
    let (mut goblin, tape) = recorded(&Config { limits: [16.0; LANES], ..Config::default() });
    let options: Vec<OptionDesc> = (0..2000).map(|index| OptionDesc::worth(f64::from(index))).collect();
    let id = goblin.add_setting(&SettingDesc::new(&"long name ".repeat(2000), &options)).unwrap();
    let mut past = Profile::new();
    past.set(&"long name ".repeat(2000), &vec![Estimate { count: 9, mean: 1.0, deviation: 0.0 }; 2000]).unwrap();
    goblin.set_past_profile(&past).unwrap();
    goblin.set_work(id, 3.0).unwrap();
    goblin.update().unwrap();
    drop(goblin);
    let report = replay(&tape.lock().unwrap()).unwrap();
    assert!(matches!(report.end, End::Complete) && is_identical(&report) && report.decisions == 1, "{report:?}");
}

#[test]
fn truncated_recording_replays_up_to_the_cut() {
    let recording = a_recording(21, 12);
    let whole = replay(&recording).unwrap();
    let mut before = 0;
    for length in 0..recording.len() {
        let Ok(report) = replay(&recording[..length]) else {
            assert!(length < HEADER);
            continue;
        };
        assert!(matches!(report.end, End::Truncated), "{length}: {report:?}");
        assert!(report.bytes <= length && is_identical(&report));
        assert!((before..=whole.decisions).contains(&report.decisions), "more bytes, more decisions");
        before = report.decisions;
    }
    assert_eq!(before, 12, "only the end marker was missing");
}

#[test]
fn flipped_bit_is_reported_at_its_offset() {
    let recording = a_recording(22, 12);
    for byte in 0..recording.len() {
        for bit in [0, 3, 7] {
            let mut damaged = recording.clone();
            damaged[byte] ^= 1 << bit;
            let Ok(report) = replay(&damaged) else {
                assert!(byte < 12, "magic and format");
                continue;
            };
            if byte < HEADER {
                assert!(is_identical(&report), "the version of the library");
                continue;
            }
            assert!(matches!(report.end, End::Damaged | End::Truncated), "byte {byte}: {report:?}");
            assert!(report.bytes <= byte && is_identical(&report), "byte {byte}: {report:?}");
        }
    }
}

/// CRC-32, bit by bit.
fn check_sum(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0u32, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| sum >> 1 ^ if sum & 1 == 1 { 0xEDB8_8320 } else { 0 })
    })
}

/// The ranges of the blocks.
fn blocks(recording: &[u8]) -> Vec<std::ops::Range<usize>> {
    let (mut at, mut found) = (HEADER, Vec::new());
    while at < recording.len() {
        let length = u32::from_le_bytes(recording[at + 4..at + 8].try_into().unwrap()) as usize;
        found.push(at..at + 8 + length);
        at += 8 + length;
    }
    found
}

fn seal(recording: &mut [u8], block: std::ops::Range<usize>) {
    let sum = check_sum(&recording[block.start + 4..block.end]);
    recording[block.start..block.start + 4].copy_from_slice(&sum.to_le_bytes());
}

#[test]
fn first_difference_is_reported() {
    let (mut goblin, tape) = recorded(&Config { limits: [16.0; LANES], ..Config::default() });
    let options = [OptionDesc::worth(0.0), OptionDesc::worth(1.0)];
    for name in ["a", "b"] {
        goblin.add_setting(&SettingDesc::new(name, &options)).unwrap();
    }
    (0..3).for_each(|_| assert!(goblin.update().is_ok()));
    drop(goblin);
    let mut recording = tape.lock().unwrap().clone();
    // The second decision's last choice belongs to "b". It is the default 0, which is written as 1.
    let block = blocks(&recording)[1].clone();
    assert_eq!(recording[block.end - 1], 1);
    recording[block.end - 1] = 2;
    seal(&mut recording, block);
    let report = replay(&recording).unwrap();
    assert_eq!((report.decisions, report.different), (3, 1));
    let difference = report.difference.unwrap();
    assert_eq!((difference.decision, difference.setting.unwrap().index1), (2, 2));
    assert_eq!((difference.recorded, difference.replayed), (Some(1), Some(0)));
    assert!(matches!(report.end, End::Complete));
}

#[test]
fn failed_decision_ends_the_replay_and_another_strategy_is_a_difference() {
    let (mut goblin, tape) = recorded(&Config { limits: [16.0; LANES], ..Config::default() });
    (0..2).for_each(|_| assert!(goblin.update().is_ok()));
    drop(goblin);
    let recording = tape.lock().unwrap().clone();
    let blocks = blocks(&recording);
    // The last block is only the end marker. Replace it by a failed decision.
    let mut failed = recording.clone();
    let end = blocks.last().unwrap().clone();
    failed[end.end - 1] = 23;
    seal(&mut failed, end.clone());
    let report = replay(&failed).unwrap();
    assert!(matches!(report.end, End::Failed) && is_identical(&report) && report.decisions == 2, "{report:?}");
    assert_eq!(report.bytes, end.start);
    // The second decision ends in its number, its strategy, and a count of 0 positions.
    let mut other = recording;
    let second = blocks[1].clone();
    assert_eq!(other[second.end - 3..second.end], [2, 0, 0]);
    other[second.end - 2] = 1;
    seal(&mut other, second);
    let difference = replay(&other).unwrap().difference.unwrap();
    assert_eq!((difference.decision, difference.setting), (2, None));
    assert_eq!((difference.recorded, difference.replayed), (Some(1), Some(0)));
}

#[test]
fn malformed_blocks_with_valid_checksums_are_rejected_without_panic() {
    let recording = a_recording(23, 30);
    let blocks = blocks(&recording);
    let mut dice = Dice(5);
    for _ in 0..scaled(1000) {
        let mut forged = recording.clone();
        let block = blocks[dice.below(blocks.len())].clone();
        for _ in 0..1 + dice.below(3) {
            let byte = block.start + 8 + dice.below(block.len() - 8);
            forged[byte] = [0, 1, 0x7f, 0x80, 0xff, forged[byte] ^ 1][dice.below(6)];
        }
        seal(&mut forged, block);
        // The replay must return a report.
        drop(replay(&forged).unwrap());
    }
}

#[test]
fn small_recording_cannot_request_much_memory() {
    let mut config = Config { history: 65_536, ..Config::default() };
    config.limits = [16.0; LANES];
    let (mut goblin, tape) = recorded(&Config { history: 1, ..config });
    for _ in 0..300 {
        goblin.add_setting(&SettingDesc::new("", &[])).unwrap();
    }
    goblin.update().unwrap();
    drop(goblin);
    let mut recording = tape.lock().unwrap().clone();
    // The offset of the history. Before it are the tag, 16 numbers of 8 bytes, and the numbers 30, 8, 0 and 2000, which
    // take one, one, one and two bytes.
    let block = blocks(&recording)[0].clone();
    let at = block.start + 8 + 1 + 16 * 8 + 5;
    assert_eq!(recording[at], 1);
    recording.splice(at..=at, [0x80, 0x80, 0x04]);
    let length = (block.len() - 8 + 2) as u32;
    recording[block.start + 4..block.start + 8].copy_from_slice(&length.to_le_bytes());
    seal(&mut recording, block.start..block.end + 2);
    let report = replay(&recording).unwrap();
    let End::Refused(error) = report.end else { panic!("{:?}", report.end) };
    assert_eq!(error.code(), Code::LimitExceeded);
}

#[test]
fn recording_matches_the_documented_example() {
    let mut config = Config {
        limits: [f64::INFINITY; LANES],
        sigmas: 3.0,
        overrun_probability: 0.0,
        patience: 1.0,
        changes_per_second: 1.0,
        decisions_per_second: 60.0,
        explore_value: 0.0,
        measure_quota: 30,
        exploration: Exploration::Bounded,
        trial_limit: 8,
        trial_risk: 0.02,
        dwell: 0,
        switch_limit: f64::INFINITY,
        precision: 2000,
        node_limit: 2048,
        history: 64,
        burdens: Burdens::Learned,
        max_settings: 65_536,
        memory_limit: u64::MAX,
    };
    config.limits[0] = 16.0;
    let (mut goblin, tape) = recorded(&config);
    let options = [OptionDesc::worth(0.0), OptionDesc::worth(3.0)];
    let bloom = goblin.add_setting(&SettingDesc::new("bloom", &options)).unwrap();
    let decision = goblin.update().unwrap().id;
    goblin.measure(bloom, &Sample { decision, lane: 0, burden: 0.25, good: true }).unwrap();
    drop(goblin);
    let mut dump = String::new();
    for (line, bytes) in tape.lock().unwrap().chunks(16).enumerate() {
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x} ")).collect();
        let plain = |byte: &u8| if (0x20..0x7f).contains(byte) { char::from(*byte) } else { '.' };
        let text: String = bytes.iter().map(plain).collect();
        dump += &format!("{:04x}  {hex:<48} {text}\n", line * 16);
    }
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/formats.md");
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains(&dump), "docs/formats.md should show\n{dump}");
}

/// Otherwise the fuzzer starts with inputs that are rejected at once.
#[test]
fn seeds_of_the_fuzzer_are_recordings_of_this_format() {
    for seed in [
        &include_bytes!("../../../fuzz/seeds/recording/frames.rec")[..],
        &include_bytes!("../../../fuzz/seeds/recording/more_frames.rec")[..],
    ] {
        let report = replay(seed).expect("it can be replayed");
        assert!(report.decisions > 0, "{report:?}");
    }
}
