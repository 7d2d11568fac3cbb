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

#[test]
fn cut_and_damaged_recordings_are_repeated_up_to_that_place() {
    let (mut balance, tape) = recorded(Options { strategies: 3, ..Options::default() });
    play(&mut balance, 400);
    balance.stop_recording();
    let whole = bytes(&tape);
    let mut before = 0;
    for size in 0..whole.len() {
        let Ok((_, report)) = replay(&whole[..size], u64::MAX) else { continue };
        assert_eq!((report.end, report.different), (End::Truncated, 0), "{size}");
        assert!(report.calls >= before && report.bytes <= size, "{size}");
        before = report.calls;
    }
    assert!(before > 600, "the last block has few calls: {before}");
    for at in HEADER..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 4;
        if let Ok((_, report)) = replay(&damaged, u64::MAX) {
            assert!(matches!(report.end, End::Damaged | End::Truncated) && report.bytes <= at, "{at}: {report:?}");
        }
    }
}

#[test]
fn replay_reports_the_first_different_choice() {
    let (mut balance, tape) = recorded(Options::default());
    play(&mut balance, 5);
    balance.stop_recording();
    // The first block: options of 18 bytes, then calls of one and nine bytes.
    let mut other = bytes(&tape);
    let third = HEADER + 8 + 18 + 20;
    assert_eq!(other[third], 0, "the third choice is of strategy 0");
    other[third] = 1;
    let sum = crate::base::recording::check_sum(0, &other[HEADER + 4..]);
    other[HEADER..HEADER + 4].copy_from_slice(&sum.to_le_bytes());
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
    fn any_bytes_in_valid_blocks_are_survived(payload in prop::collection::vec(any::<u8>(), 1..400)) {
        let (balance, tape) = recorded(Options::default());
        drop(balance);
        let mut made = bytes(&tape)[..HEADER].to_vec();
        let mut block = (payload.len() as u32).to_le_bytes().to_vec();
        block.extend_from_slice(&payload);
        made.extend_from_slice(&crate::base::recording::check_sum(0, &block).to_le_bytes());
        made.extend_from_slice(&block);
        drop(replay(&made, u64::MAX));
    }
}
