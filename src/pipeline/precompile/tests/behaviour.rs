//! Modes, masks, requests and outcomes.

use std::collections::HashSet;
use std::time::Duration;

use super::simulation::requests::request_under_load;
use super::simulation::shaders::{cover, random_pairs};
use super::simulation::trace::BUILD_US;
use super::*;
use crate::base::{Code, Shared};

#[test]
fn masks_select_the_entries_that_have_all_their_bits() {
    let precompiler = precompiler(unlimited());
    add(&precompiler, [(0, 0b01), (1, 0b10), (2, 0b11), (3, u64::MAX), (4, 0)]);
    precompiler.add(&Entry { key: key(5), ..Entry::default() }).expect("memory");
    precompiler.set_masks(masks(0b10, 0)).expect("memory");
    assert_eq!((precompiler.state(&key(0)), precompiler.state(&key(1))), (State::Unselected, State::Queued));
    assert_eq!(compile_frame(&precompiler), [1, 2, 3]);
    precompiler.set_masks(masks(0, 0)).expect("memory");
    assert_eq!(compile_frame(&precompiler), [0, 4, 5]);
    assert_eq!(precompiler.counts(), Counts { ready: 6, ..Counts::default() });
}

#[test]
fn each_mask_of_a_set_is_compared_alone() {
    let precompiler = precompiler(Options { masks: masks(0b11, 0), ..unlimited() });
    let apart = [Mask::of_bits(0b01), Mask::of_bits(0b10)];
    precompiler.add(&Entry { key: key(0), masks: &apart, ..Entry::default() }).expect("memory");
    assert_eq!(precompiler.state(&key(0)), State::Unselected);
    // The same key again, as from another file, adds its masks.
    add(&precompiler, [(0, 0b11)]);
    assert_eq!((precompiler.state(&key(0)), precompiler.counts().queued_regular), (State::Queued, 1));
}

#[test]
fn host_compares_packed_fields() {
    // A quality of four bits, and a level of four bits.
    let same_level = |entry: &Mask, current: &Mask| entry.bits() >> 4 == current.bits() >> 4;
    let compare = Shared::into_dyn::<Compare>(Shared::try_new(same_level).expect("memory"), |compare| compare);
    let precompiler = precompiler(Options { masks: masks(0x25, 0), ..unlimited() });
    precompiler.set_comparison(Comparison::Host(compare)).expect("memory");
    add(&precompiler, [(0, 0x21), (1, 0x25), (2, 0x35), (3, 0x75)]);
    assert_eq!(compile_frame(&precompiler), [0, 1]);
    precompiler.set_masks(masks(0x70, 0)).expect("memory");
    assert_eq!(compile_frame(&precompiler), [3]);
    precompiler.set_comparison(Comparison::HasAll).expect("memory");
    assert_eq!(precompiler.state(&key(2)), State::Unselected);
}

/// Masks of two packed fields, of all ones, and of no bit, in every mode, with both comparisons, while one compiles.
#[test]
fn mode_mask_and_comparison_decide_what_is_compiled() {
    const ENTRIES: [u64; 6] = [0x11, 0x12, 0x21, 0x33, u64::MAX, 0];
    let same_fields = |entry: &Mask, current: &Mask| *entry == *current || entry.bits() == u64::MAX;
    let rows: [(Mode, u64, u64, bool, &[u32]); 11] = [
        (Mode::Fast, 0, 0, false, &[0, 1, 2, 3, 4, 5]),
        // A mask of bits also selects entries with other fields that have these bits.
        (Mode::Fast, 0x11, 0, false, &[0, 3, 4]),
        (Mode::Fast, 0x11, 0, true, &[0, 4]),
        (Mode::Background, 0x21, 0x12, false, &[2, 3, 4]),
        (Mode::Background, 0x21, 0x12, true, &[2, 4]),
        (Mode::Precompile, 0x11, 0x20, false, &[2, 3, 4, 0]),
        (Mode::Precompile, 0x11, 0x21, true, &[2, 4, 0]),
        (Mode::Fast, u64::MAX, 0, false, &[4]),
        (Mode::Fast, u64::MAX, 0, true, &[4]),
        (Mode::Fast, 0x40, 0, true, &[4]),
        (Mode::Paused, 0, 0, false, &[]),
    ];
    for (row, (mode, regular, precompile, is_packed, wanted)) in rows.into_iter().enumerate() {
        for is_changed_meanwhile in [false, true] {
            let first = if is_changed_meanwhile { masks(0, 0) } else { masks(regular, precompile) };
            let precompiler = precompiler(Options { mode: Mode::Fast, masks: first, ..unlimited() });
            add(&precompiler, (0..).zip(ENTRIES));
            let running = is_changed_meanwhile.then(|| {
                precompiler.step(None);
                precompiler.take().expect("all are selected")
            });
            if is_packed {
                let compare = Shared::into_dyn::<Compare>(Shared::try_new(same_fields).expect("memory"), |one| one);
                precompiler.set_comparison(Comparison::Host(compare)).expect("memory");
            }
            precompiler.set_masks(masks(regular, precompile)).expect("memory");
            precompiler.set_mode(mode);
            // In precompile mode, entries of the regular mask alone come in the second frame.
            let compiled = [compile_frame(&precompiler), compile_frame(&precompiler)].concat();
            // A running compile goes on, also if its pipeline is not selected any more.
            let rest: Vec<u32> = wanted.iter().copied().filter(|&one| running.is_none() || one != 0).collect();
            assert_eq!(compiled, rest, "row {row}");
            if let Some(job) = running {
                assert_eq!(precompiler.finish(&job, Outcome::Ok, 1).expect("it runs").state, State::Ready, "row {row}");
            }
        }
    }
}

#[test]
fn host_comparison_may_call_the_precompiler() {
    let shared = Shared::try_new(precompiler(unlimited())).expect("memory");
    add(&shared, [(0, 1), (1, 2)]);
    let weak = Shared::downgrade(&shared);
    let compare = move |entry: &Mask, current: &Mask| {
        let precompiler = weak.upgrade().expect("it lives");
        precompiler.step(None);
        precompiler.counts().remaining() > 0 && entry.has_all_of(current)
    };
    let compare = Shared::into_dyn::<Compare>(Shared::try_new(compare).expect("memory"), |compare| compare);
    shared.set_comparison(Comparison::Host(compare)).expect("memory");
    shared.set_masks(masks(2, 0)).expect("memory");
    assert_eq!((shared.state(&key(0)), shared.state(&key(1))), (State::Unselected, State::Queued));
}

#[test]
fn precompile_mode_is_fast_for_its_mask_and_slow_for_the_rest() {
    let pace = |batch| Pace { batch, time_us: 0 };
    let paces = Paces { fast: pace(9), background: pace(1), precompile: pace(3) };
    let precompiler = precompiler(Options { paces, mode: Mode::Precompile, masks: masks(1, 2), ..unlimited() });
    add(&precompiler, (0..12).map(|number| (number, u64::from(number % 4))));
    let counts = precompiler.counts();
    assert_eq!((counts.queued_precompile, counts.queued_regular, counts.unselected), (6, 3, 3));
    let frames: Vec<Vec<u32>> = (0..6).map(|_| compile_frame(&precompiler)).collect();
    assert_eq!(frames, [vec![2, 3, 6], vec![7, 10, 11], vec![1], vec![5], vec![9], vec![]]);
    // The precompile mask counts in that mode only.
    add(&precompiler, [(12, 2), (13, 1)]);
    precompiler.set_mode(Mode::Fast);
    assert_eq!((precompiler.state(&key(12)), compile_frame(&precompiler)), (State::Unselected, vec![13]));
}

#[test]
fn paused_precompiler_compiles_only_requested_pipelines() {
    let precompiler = precompiler(Options { masks: masks(1, 0), ..unlimited() });
    add(&precompiler, [(0, 1), (1, 1), (2, 2), (3, 1)]);
    precompiler.step(None);
    let running = precompiler.take().expect("it was granted");
    precompiler.pause();
    assert_eq!((precompiler.mode(), precompiler.has_job(), precompiler.take()), (Mode::Paused, false, None));
    assert_eq!(precompiler.request(&key(2)), State::Queued);
    assert_eq!(precompiler.request(&key(3)), State::Queued);
    assert!(precompiler.has_job());
    assert_eq!(compile_frame(&precompiler), [2, 3]);
    precompiler.finish(&running, Outcome::Ok, 1).expect("it runs");
    precompiler.resume();
    assert_eq!((precompiler.mode(), compile_frame(&precompiler)), (Mode::Fast, vec![1]));
}

#[test]
fn mask_change_keeps_running_and_done_pipelines() {
    let precompiler = precompiler(unlimited());
    add(&precompiler, [(0, 1), (1, 1), (2, 2)]);
    precompiler.step(None);
    let (first, second) = (precompiler.take().expect("granted"), precompiler.take().expect("granted"));
    precompiler.finish(&first, Outcome::Ok, 1).expect("it runs");
    precompiler.set_masks(masks(2, 0)).expect("memory");
    assert_eq!((precompiler.state(&key(0)), precompiler.state(&key(1))), (State::Ready, State::Running));
    // A job that was cancelled after the change is not selected any more.
    assert_eq!(precompiler.finish(&second, Outcome::Cancelled, 0).expect("it runs").state, State::Unselected);
    assert_eq!(compile_frame(&precompiler), [2]);
}

#[test]
fn outcomes_decide_whether_a_pipeline_runs_again() {
    let precompiler = precompiler(unlimited());
    add(&precompiler, (0..4).map(|number| (number, 0)));
    precompiler.step(None);
    for outcome in [Outcome::Ok, Outcome::Failed, Outcome::Crashed, Outcome::Cancelled] {
        let job = precompiler.take().expect("granted");
        precompiler.finish(&job, outcome, 10).expect("it runs");
        let again = precompiler.finish(&job, outcome, 10).map_err(|why| why.code());
        assert_eq!(again, Err(Code::NotFound), "{outcome:?}");
    }
    let states: Vec<State> = (0..4).map(|number| precompiler.state(&key(number))).collect();
    assert_eq!(states, [State::Ready, State::Failed, State::Banned, State::Queued]);
    assert_eq!(compile_frame(&precompiler), [3]);
    assert_eq!(precompiler.request(&key(1)), State::Failed);
    assert_eq!(precompiler.take_key(&key(2)), None);
}

#[test]
fn state_from_outside_holds_against_a_running_job() {
    let precompiler = precompiler(unlimited());
    add(&precompiler, [(0, 0), (1, 0)]);
    precompiler.step(None);
    let job = precompiler.take().expect("granted");
    precompiler.settle(&key(0), State::Banned).expect("memory");
    precompiler.request(&key(1));
    precompiler.settle(&key(1), State::Ready).expect("memory");
    assert_eq!(precompiler.finish(&job, Outcome::Ok, 1).expect("it runs").state, State::Banned);
    assert_eq!((precompiler.state(&key(1)), precompiler.take()), (State::Ready, None));
    // Also for a key without an entry, whose entry comes later.
    precompiler.settle(&key(2), State::Ready).expect("memory");
    add(&precompiler, [(2, 0)]);
    assert_eq!((precompiler.state(&key(2)), compile_frame(&precompiler)), (State::Ready, vec![]));
    assert_eq!(precompiler.settle(&key(2), State::Running).map_err(|why| why.code()), Err(Code::InvalidArgument));
}

#[test]
fn completion_is_reported_once() {
    let precompiler = precompiler(unlimited());
    assert!(!precompiler.take_completion());
    add(&precompiler, [(0, 0), (1, 0)]);
    precompiler.step(None);
    let jobs = [(); 2].map(|()| precompiler.take().expect("granted"));
    assert!(!precompiler.finish(&jobs[0], Outcome::Ok, 1).expect("it runs").is_complete);
    assert!(precompiler.finish(&jobs[1], Outcome::Failed, 1).expect("it runs").is_complete);
    assert_eq!((precompiler.take_completion(), precompiler.take_completion()), (true, false));
    // Also if nothing is selected any more.
    add(&precompiler, [(2, 1)]);
    precompiler.set_masks(masks(2, 0)).expect("memory");
    assert_eq!((precompiler.take_completion(), precompiler.counts().unselected), (true, 1));
}

#[test]
fn budget_of_the_frame_replaces_the_time_of_the_mode() {
    let precompiler = precompiler(Options { order: Order::File, ..Options::default() });
    let entry = |number| Entry { key: key(number), build_us: 4_000, ..Entry::default() };
    precompiler.add_all((0..200).map(entry)).expect("memory");
    let starts = |budget_us| {
        precompiler.step(budget_us);
        let jobs: Vec<Job> = std::iter::from_fn(|| precompiler.take()).collect();
        jobs.iter().for_each(|job| _ = precompiler.finish(job, Outcome::Ok, 4_000).expect("it runs"));
        jobs.len()
    };
    // The build of the third frame has a debt of 3,999 microseconds, which leaves 16,001 of the fourth.
    assert_eq!([None, Some(0), Some(1), Some(20_000)].map(starts), [4, 0, 1, 4]);
    assert_eq!(starts(Some(u64::MAX)), 50);
}

#[test]
fn each_worker_gets_the_time_of_the_mode() {
    let starts = |workers| {
        let precompiler = precompiler(Options { workers, ..Options::default() });
        let entry = |number| Entry { key: key(number), build_us: 4_000, ..Entry::default() };
        precompiler.add_all((0..90).map(entry)).expect("memory");
        precompiler.step(None);
        std::iter::from_fn(|| precompiler.take()).count()
    };
    assert_eq!([0, 1, 8, 1000].map(starts), [4, 4, 32, 50]);
}

#[test]
fn build_that_takes_longer_than_expected_is_paid_back() {
    let precompiler = precompiler(Options { order: Order::File, ..Options::default() });
    let entry = |number| Entry { key: key(number), build_us: 4_000, ..Entry::default() };
    precompiler.add_all((0..9).map(entry)).expect("memory");
    precompiler.step(Some(5_000));
    let slow = precompiler.take().expect("granted");
    precompiler.finish(&slow, Outcome::Ok, 20_000).expect("it runs");
    let frames: Vec<bool> = (0..4)
        .map(|_| {
            precompiler.step(Some(5_000));
            precompiler.has_job()
        })
        .collect();
    assert_eq!(frames, [false, false, false, true]);
    // This machine is five times slower than the recording's.
    assert_eq!(precompiler.take().map(|job| job.expected_us), Some(20_000));
}

#[test]
fn requested_pipeline_is_taken_by_its_own_thread() {
    let precompiler = precompiler(unlimited());
    add(&precompiler, [(0, 0), (1, 0)]);
    precompiler.request(&key(1));
    let job = precompiler.take_key(&key(1)).expect("it waits");
    assert!(job.is_urgent && precompiler.take().is_none());
    assert_eq!(precompiler.take_key(&key(1)), None);
    precompiler.request(&key(0));
    precompiler.finish(&job, Outcome::Cancelled, 0).expect("it runs");
    let next = [(); 3].map(|()| precompiler.take().map(|job| job.key));
    assert_eq!(next, [Some(key(0)), Some(key(1)), None], "it is requested again, behind the other one");
    assert_eq!((precompiler.request(&key(7)), precompiler.state(&key(7))), (State::Unknown, State::Unknown));
}

#[test]
fn wait_ends_with_the_deadline_or_the_result() {
    let precompiler = precompiler(unlimited());
    add(&precompiler, [(0, 0), (1, 0)]);
    assert_eq!(precompiler.wait(&key(0), Duration::from_millis(1)), State::Queued);
    assert_eq!(precompiler.wait(&key(9), Duration::MAX), State::Unknown);
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| precompiler.wait(&key(1), Duration::MAX));
        let job = loop {
            // Both were requested, so both are taken without a step.
            match precompiler.take() {
                Some(job) if job.key == key(1) => break job,
                Some(job) => _ = precompiler.finish(&job, Outcome::Ok, 1).expect("it runs"),
                None => std::thread::yield_now(),
            }
        };
        precompiler.finish(&job, Outcome::Failed, 1).expect("it runs");
        assert_eq!(waits.join().expect("no panic"), State::Failed);
    });
}

#[test]
fn wait_without_a_deadline_ends_if_the_compile_is_cancelled() {
    let precompiler = precompiler(unlimited());
    add(&precompiler, [(0, 0)]);
    for _ in 0..3 {
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| precompiler.wait(&key(0), Duration::MAX));
            await_waiter(&precompiler);
            let job = precompiler.take().expect("it is requested");
            precompiler.finish(&job, Outcome::Cancelled, 1).expect("it runs");
            assert_eq!(waits.join().expect("no panic"), State::Queued);
        });
    }
    // It was running before the wait, and nobody had requested it.
    let job = precompiler.take_key(&key(0)).expect("it waits");
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| precompiler.wait(&key(0), Duration::MAX));
        await_waiter(&precompiler);
        precompiler.finish(&job, Outcome::Cancelled, 1).expect("it runs");
        assert_eq!(waits.join().expect("no panic"), State::Queued);
    });
}

#[test]
fn orders_sort_as_their_names_say() {
    let first = |order| {
        let precompiler = precompiler(Options { order, ..unlimited() });
        let mask = |bits| [Mask::of_bits(bits)];
        let (a, b, c) = (mask(3), mask(1), mask(2));
        let entry = |number, frame, times_used, masks| {
            let first_frame = Some(frame);
            Entry { key: key(number), first_frame, times_used, masks, ..Entry::default() }
        };
        let entries = [entry(0, 50, 7, &a), entry(1, 20, 1, &b), entry(2, 90, 9, &c)];
        precompiler.add_all(entries).expect("memory");
        let as_added = compile_frame(&precompiler);
        precompiler.add(&Entry { key: key(3), ..Entry::default() }).expect("memory");
        assert_eq!(compile_frame(&precompiler), [3]);
        as_added
    };
    assert_eq!(first(Order::File), [0, 1, 2]);
    assert_eq!(first(Order::FirstToLatestUsed), [1, 0, 2]);
    assert_eq!(first(Order::MostToLeastUsed), [2, 0, 1]);
    assert_eq!(first(Order::UsageMask), [1, 2, 0]);
    assert_eq!(first(Order::Predicted), [1, 0, 2]);
}

#[test]
fn predicted_order_follows_the_area_of_the_game() {
    let precompiler = precompiler(Options { order: Order::Predicted, ..unlimited() });
    // Two recordings visit two areas of ten pipelines in opposite order.
    for number in 0..20 {
        let (area, place) = (number / 10, number % 10);
        let sighting = |recording, is_second: u32| Sighting { recording, frame: 30_000 * is_second + 10 * place };
        let sightings = [sighting(1, area), sighting(2, 1 - area)];
        precompiler.add(&Entry { key: key(number), sightings: &sightings, ..Entry::default() }).expect("memory");
    }
    precompiler.note_use(&key(14));
    let compiled = compile_frame(&precompiler);
    assert!(compiled[..9].iter().all(|&number| number >= 10), "{compiled:?}");
    assert_eq!(compiled.iter().copied().collect::<HashSet<_>>().len(), 20);
}

#[test]
fn shaders_first_builds_each_shader_before_states_are_multiplied_out() {
    // 60 vertex shaders and 60 pixel shaders in 1,800 pairs, many of the first vertex shaders first.
    let pairs: Vec<(u16, u16)> = (0..60).flat_map(|one| (0..30).map(move |other| (one, (one + other) % 60))).collect();
    let covered = cover(true, &pairs);
    assert_eq!((covered.pipelines, covered.shaders), (1800, 120));
    assert_eq!(covered.builds, 60, "each build has two new shaders");
    assert!(cover(false, &pairs).builds > 1000);
    for seed in 0..4 {
        let covered = cover(true, &random_pairs(seed));
        assert!(covered.builds * 100 <= covered.shaders * 105, "{covered:?}");
    }
}

#[test]
fn requested_pipeline_waits_for_one_running_build_per_worker_at_most() {
    for workers in 1..=8 {
        let waits = request_under_load(workers, 200);
        assert_eq!(waits.overtaken, 0, "{workers} workers");
        assert!(waits.worst_builds <= 1, "{workers} workers: {waits:?}");
        assert!(waits.worst_us <= 2 * BUILD_US[15], "{workers} workers: {waits:?}");
    }
}
