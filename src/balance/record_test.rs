//! Recordings: identical replays, cut and damaged bytes, and every byte that a host may pass.

use std::sync::{Arc, Mutex};

use proptest::prelude::*;

use super::*;
use crate::base::recording::HEADER;
use crate::base::{Code, try_box};
use crate::testing::allocator::{allocations, with_failure};

type Tape = Arc<Mutex<Vec<u8>>>;

/// A balance that records to a tape, and the tape.
fn recorded(options: Options) -> (Recorded, Tape) {
    let (mut balance, tape) = (Recorded::new(Balance::new(options).expect("valid")), Tape::default());
    start(&mut balance, &tape).expect("it is fresh");
    (balance, tape)
}

fn start(balance: &mut Recorded, tape: &Tape) -> Result<()> {
    let tape = tape.clone();
    balance.record(try_box(move |bytes: &[u8]| tape.lock().expect("not poisoned").extend_from_slice(bytes))?)
}

/// Pieces of work whose means change now and then.
fn play(balance: &mut Recorded, pieces: usize) {
    let count = balance.balance().strategies();
    for piece in 0..pieces {
        let chosen = balance.choose();
        let mean = 1 + (chosen + piece / 100) % count;
        balance.measure(chosen, 0.001 * mean as f64 * (1.0 + (piece % 7) as f64 / 50.0)).expect("it exists");
    }
}

fn bytes(tape: &Tape) -> Vec<u8> {
    tape.lock().expect("not poisoned").clone()
}

#[test]
fn replay_chooses_the_same_and_ends_with_the_same_balance() {
    for (strategies, policy) in
        [(1, Policy::Accounts), (5, Policy::Accounts), (64, Policy::Accounts), (2, Policy::Table)]
    {
        let (mut balance, tape) = recorded(Options { strategies, policy, seed: 9, ..Options::default() });
        play(&mut balance, 700);
        balance.restart();
        play(&mut balance, 300);
        balance.stop_recording();
        let (mut again, report) = replay(&bytes(&tape), u64::MAX).expect("a recording");
        assert_eq!((report.end, report.different, report.difference), (End::Complete, 0, None));
        assert_eq!((report.calls, report.choices, report.bytes), (2_001, 1_000, bytes(&tape).len()));
        for at in 0..strategies {
            let (was, is) = (balance.strategy(at).expect("it exists"), again.strategy(at).expect("it exists"));
            assert_eq!((was.mean, was.deviation, was.share), (is.mean, is.deviation, is.share));
        }
        for _ in 0..50 {
            assert_eq!(balance.choose(), again.choose());
        }
    }
}

#[test]
fn recording_can_begin_at_a_restart_and_only_there() {
    let mut balance = Recorded::new(Balance::new(Options::default()).expect("valid"));
    play(&mut balance, 500);
    let tape = Tape::default();
    let why = start(&mut balance, &tape).expect_err("calls are missing");
    assert_eq!((why.code(), bytes(&tape).len()), (Code::Unsupported, 0));
    balance.restart();
    start(&mut balance, &tape).expect("it is fresh again");
    assert_eq!(start(&mut balance, &Tape::default()).expect_err("it records").code(), Code::Unsupported);
    play(&mut balance, 500);
    drop(balance);
    let (_, report) = replay(&bytes(&tape), u64::MAX).expect("a recording");
    assert_eq!((report.end, report.choices, report.different), (End::Complete, 500, 0));
}

#[test]
fn replay_stops_after_any_call() {
    let (mut balance, tape) = recorded(Options::default());
    play(&mut balance, 100);
    balance.stop_recording();
    for most in [0, 1, 2, 100, 199, 200] {
        let (again, report) = replay(&bytes(&tape), most).expect("a recording");
        assert_eq!((report.calls, report.end), (most, End::Stopped));
        let chosen: u64 = (0..2).map(|at| again.strategy(at).expect("it exists").chosen).sum();
        assert_eq!(chosen, most.div_ceil(2));
    }
}

/// The header, and the block with the options.
const START: usize = HEADER + 8 + 22;

#[test]
fn recording_that_is_cut_at_any_byte_is_truncated() {
    let (mut balance, tape) = recorded(Options { strategies: 3, ..Options::default() });
    assert_eq!(bytes(&tape).len(), START, "the options are written at once");
    play(&mut balance, 400);
    balance.stop_recording();
    let whole = bytes(&tape);
    let mut before = 0;
    for size in START..whole.len() {
        let (_, report) = replay(&whole[..size], u64::MAX).expect("it has the options");
        assert_eq!((report.end, report.different), (End::Truncated, 0), "{size}");
        assert!(report.calls >= before && report.bytes <= size, "{size}");
        before = report.calls;
    }
    assert!(before > 600, "the last block has few calls: {before}");
    for size in 0..START {
        let why = replay(&whole[..size], u64::MAX).expect_err("no options");
        assert_eq!(why.code(), Code::Malformed, "{size}");
        assert!(size < HEADER || why.sentence().contains("cut off"), "{size}: {why}");
    }
}

#[test]
fn recording_that_is_damaged_at_any_byte_is_replayed_up_to_there() {
    let (mut balance, tape) = recorded(Options { strategies: 3, ..Options::default() });
    play(&mut balance, 400);
    balance.stop_recording();
    let whole = bytes(&tape);
    for at in 0..whole.len() {
        for bit in [0, 2, 7] {
            let mut damaged = whole.clone();
            damaged[at] ^= 1 << bit;
            match replay(&damaged, u64::MAX) {
                Ok((_, report)) => {
                    assert!(at >= START, "{at}: the version or the options");
                    assert!(matches!(report.end, End::Damaged | End::Truncated), "{at}: {report:?}");
                    assert!(report.bytes <= at && report.different == 0, "{at}: {report:?}");
                }
                Err(why) => {
                    assert!(at < START, "{at}: {why}");
                    let is_format = (8..12).contains(&at);
                    assert_eq!(why.code(), if is_format { Code::Unsupported } else { Code::Malformed }, "{at}: {why}");
                    // A greater length of the block looks as if the rest were cut off.
                    let (of_length, words) = (HEADER + 4..HEADER + 8, why.sentence());
                    let is_cut = of_length.contains(&at) && words.contains("cut off");
                    assert!(at < 12 || is_cut || words.contains("damaged"), "{at}: {why}");
                }
            }
        }
    }
}

#[test]
fn replay_counts_ignored_durations_as_the_recorded_run_did() {
    let (mut balance, tape) = recorded(Options::default());
    for seconds in [0.0, 3601.0, -1.0, f64::NAN, f64::INFINITY] {
        play(&mut balance, 30);
        _ = balance.measure(1, seconds);
    }
    balance.measure(2, 1.0).expect_err("there are 2");
    balance.stop_recording();
    let (again, report) = replay(&bytes(&tape), u64::MAX).expect("a recording");
    assert_eq!((report.end, report.different, report.calls), (End::Complete, 0, 305));
    for at in 0..2 {
        assert_eq!(balance.strategy(at).expect("it exists"), again.strategy(at).expect("it exists"));
    }
    assert_eq!(again.strategy(1).expect("it exists").ignored, 5);
}

#[test]
fn replay_reports_the_first_different_choice() {
    let (mut balance, tape) = recorded(Options::default());
    play(&mut balance, 5);
    balance.stop_recording();
    // The second block: calls of one and nine bytes.
    let mut other = bytes(&tape);
    let third = START + 8 + 20;
    assert_eq!(other[third], 0, "the third choice is of strategy 0");
    other[third] = 1;
    let sum = crate::base::recording::check_sum(0, &other[START + 4..]);
    other[START..START + 4].copy_from_slice(&sum.to_le_bytes());
    let (_, report) = replay(&other, u64::MAX).expect("a recording");
    assert_eq!((report.end, report.choices, report.different), (End::Complete, 5, 1));
    assert_eq!(report.difference, Some(Difference { call: 5, recorded: 1, replayed: 0 }));
}

#[test]
fn bytes_that_are_no_recording_are_refused() {
    let (balance, tape) = recorded(Options::default());
    drop(balance);
    let whole = bytes(&tape);
    let code = |bytes: &[u8]| replay(bytes, u64::MAX).expect_err("no recording").code();
    assert_eq!((code(&[]), code(&whole[..HEADER])), (Code::Malformed, Code::Malformed));
    assert_eq!(code(b"HOBREC\r\n\x02\0\0\0\0\x01\0\0"), Code::Malformed);
    let mut newer = whole.clone();
    newer[8] = 9;
    assert_eq!(code(&newer), Code::Unsupported);
}

#[test]
fn only_the_start_of_a_recording_allocates() {
    let mut balance = Recorded::new(Balance::new(Options::default()).expect("valid"));
    let tape = Tape::default();
    let failed = with_failure(0, || start(&mut balance, &tape));
    assert_eq!(failed.expect_err("no memory").code(), Code::OutOfMemory);
    balance.record(try_box(|_: &[u8]| {}).expect("memory")).expect("it is fresh still");
    assert_eq!(allocations(|| play(&mut balance, 5_000)), 0);
}

proptest! {
    /// Calls of a host, with durations that are refused or ignored among them.
    #[test]
    fn any_calls_replay_the_same(
        seed in any::<u64>(), strategies in 1..8_usize,
        calls in prop::collection::vec((0..10_usize, 0..9_usize, prop::num::f64::ANY), 0..600),
    ) {
        let (mut balance, tape) = recorded(Options { strategies, seed, ..Options::default() });
        let mut choices = 0;
        for (call, strategy, seconds) in calls {
            match call {
                0 => balance.restart(),
                1..3 => drop(balance.measure(strategy, seconds)),
                3..6 => drop(balance.measure(strategy, seconds.abs().fract())),
                _ => choices += u64::from(balance.choose() < strategies),
            }
        }
        balance.stop_recording();
        let (_, report) = replay(&bytes(&tape), u64::MAX).expect("a recording");
        prop_assert_eq!((report.end, report.choices, report.different), (End::Complete, choices, 0));
    }

    #[test]
    fn any_bytes_in_valid_blocks_are_survived(
        has_options in any::<bool>(), payload in prop::collection::vec(any::<u8>(), 1..400),
    ) {
        let (balance, tape) = recorded(Options::default());
        drop(balance);
        let mut made = bytes(&tape)[..if has_options { START } else { HEADER }].to_vec();
        let mut block = (payload.len() as u32).to_le_bytes().to_vec();
        block.extend_from_slice(&payload);
        made.extend_from_slice(&crate::base::recording::check_sum(0, &block).to_le_bytes());
        made.extend_from_slice(&block);
        drop(replay(&made, u64::MAX));
    }
}
