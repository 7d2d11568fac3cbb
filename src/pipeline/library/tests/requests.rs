//! Pipelines and groups that are needed now, forgotten or banned.

use super::*;

#[test]
fn pipeline_that_is_needed_now_comes_first_in_every_mode() {
    let driver = driver();
    let library = opened(options(&driver), 60);
    library.precompiler().set_mode(Mode::Paused);
    assert_eq!(library.use_pipeline(&key(57)), State::Queued);
    assert_eq!(library.use_pipeline(&key(57)), State::Queued);
    assert!(library.compile_one().is_some());
    assert!(library.compile_one().is_none());
    assert_eq!(library.use_pipeline(&key(57)), State::Ready);
    assert_eq!(library.wait(&key(31), Duration::MAX), State::Ready);
    assert_eq!(driver.count(), 2);
    let coverage = library.coverage();
    assert_eq!((coverage.used, coverage.ready, coverage.missed), (1, 0, 1));
}

#[test]
fn pipeline_that_crashed_the_process_twice_is_banned() {
    let (disk, driver) = (FaultDisk::default(), driver());
    for crash in 0..3 {
        let process = disk.process();
        let library = opened(Options { io: share(process.clone()).unwrap(), ..on(&disk, &driver) }, 1);
        if crash == 2 {
            assert_eq!(library.use_pipeline(&key(0)), State::Banned);
            library.begin_frame(None);
            assert!(library.compile_one().is_none());
            break;
        }
        // The process dies between the note and its end.
        let bans = library.quarantine.as_ref().expect("there is a directory");
        bans.begin(0, &key(0).0).expect("memory");
        process.kill();
        std::mem::forget(library);
    }
}

#[test]
fn refused_pipeline_is_not_compiled_again() {
    let driver = driver();
    driver.refused.lock().unwrap().push(2);
    let library = opened(options(&driver), 4);
    for _ in 0..3 {
        library.begin_frame(None);
        library.compile_for(Duration::MAX);
    }
    assert_eq!(library.use_pipeline(&key(2)), State::Failed);
    assert_eq!(driver.compiled.lock().unwrap()[&key(2)], 1);
    let group = library.precompiler().add_group(&[key(1), key(2)]).expect("memory");
    assert!(!library.precompiler().is_ready(group));
}

#[test]
fn cancelled_compile_is_requested_again() {
    let driver = driver();
    let library = opened(options(&driver), 1);
    driver.is_busy.store(true, Ordering::Relaxed);
    assert_eq!(library.use_pipeline(&key(0)), State::Queued);
    assert!(library.compile_one().is_some());
    assert_eq!(library.use_pipeline(&key(0)), State::Queued);
    driver.is_busy.store(false, Ordering::Relaxed);
    assert!(library.compile_one().is_some());
    assert_eq!(library.use_pipeline(&key(0)), State::Ready);
}

#[test]
fn banned_pipeline_that_no_cache_has_is_still_banned() {
    let (disk, driver) = (FaultDisk::default(), driver());
    for _ in 0..2 {
        let process = disk.process();
        let library = opened(Options { io: share(process.clone()).unwrap(), ..on(&disk, &driver) }, 1);
        library.quarantine.as_ref().expect("there is a directory").begin(0, &key(0).0).expect("memory");
        process.kill();
        std::mem::forget(library);
    }
    let library = opened(Options { version: "2.0".into(), ..on(&disk, &driver) }, 0);
    assert_eq!(library.use_pipeline(&key(0)), State::Banned);
    assert_eq!(library.wait(&key(0), Duration::MAX), State::Banned);
    assert_eq!(library.use_pipeline(&key(1)), State::Unknown);
    // The host built it all the same: for this run.
    library.add(description(0).borrow(), 1).expect("memory");
    assert_eq!(library.use_pipeline(&key(0)), State::Ready);
    drop(library);
    assert_eq!(opened(on(&disk, &driver), 1).use_pipeline(&key(0)), State::Banned);
}

#[test]
fn forgotten_pipelines_are_compiled_again() {
    let driver = driver();
    driver.refused.lock().unwrap().push(2);
    let library = opened(options(&driver), 4);
    let group = library.precompiler().add_group(&[key(0), key(1)]).expect("memory");
    let compile = || {
        library.begin_frame(None);
        library.compile_for(Duration::MAX);
    };
    compile();
    assert_eq!([1, 2].map(|number| library.use_pipeline(&key(number))), [State::Ready, State::Failed]);
    assert_eq!(library.forget(Some(&key(9))).expect("memory"), 0);
    assert_eq!(library.forget(Some(&key(1))).expect("memory"), 1);
    assert_eq!(library.forget(Some(&key(1))).expect("memory"), 0, "it waits");
    assert!(!library.precompiler().is_ready(group));
    assert_eq!(library.use_pipeline(&key(1)), State::Queued);
    compile();
    assert!(library.precompiler().is_ready(group));
    // The device is lost. A refused pipeline stays refused, unless it is named.
    assert_eq!(library.forget(None).expect("memory"), 3);
    assert_eq!(library.coverage().states.remaining(), 3);
    driver.refused.lock().unwrap().clear();
    assert_eq!(library.state(&key(2)), State::Failed);
    assert_eq!(library.forget(Some(&key(2))).expect("memory"), 1);
    compile();
    assert_eq!(library.coverage().states.ready, 4);
    let counts: Vec<u32> = (0..4).map(|number| driver.compiled.lock().unwrap()[&key(number)]).collect();
    assert_eq!(counts, [2, 3, 2, 2]);
    // Uses were counted once.
    assert_eq!((library.coverage().used, library.coverage().missed), (2, 1));
}

#[test]
fn ban_that_cannot_be_lifted_in_the_directory_stays() {
    let (disk, driver) = (FaultDisk::default(), driver());
    for _ in 0..2 {
        let process = disk.process();
        let library = opened(Options { io: share(process.clone()).unwrap(), ..on(&disk, &driver) }, 2);
        library.quarantine.as_ref().expect("there is a directory").begin(0, &key(0).0).expect("memory");
        process.kill();
        std::mem::forget(library);
    }
    let process = disk.process();
    let library = opened(Options { io: share(process.clone()).unwrap(), ..on(&disk, &driver) }, 2);
    let bans = library.quarantine.as_ref().expect("there is a directory");
    let mut failures = 0;
    // The first call removes what a killed process may have left, and may fail.
    for calls in 1.. {
        process.plan(|plan| plan.calls_to_error = Some(calls));
        let forgotten = library.forget(Some(&key(0)));
        process.plan(|plan| plan.calls_to_error = None);
        let Err(why) = forgotten else { break };
        assert_eq!(why.code(), crate::base::Code::Io, "{why}");
        assert_eq!((library.state(&key(0)), bans.strikes(0, &key(0).0)), (State::Banned, 2), "after {calls} calls");
        failures += 1;
    }
    assert!(failures > 1);
    assert_eq!((library.state(&key(0)), bans.strikes(0, &key(0).0)), (State::Queued, 0));
}

#[test]
fn ban_that_is_lifted_stays_lifted_at_the_next_start() {
    let (disk, driver) = (FaultDisk::default(), driver());
    for _ in 0..2 {
        let process = disk.process();
        let library = opened(Options { io: share(process.clone()).unwrap(), ..on(&disk, &driver) }, 2);
        library.quarantine.as_ref().expect("there is a directory").begin(0, &key(0).0).expect("memory");
        process.kill();
        std::mem::forget(library);
    }
    for count in [2, 0] {
        let library = opened(on(&disk, &driver), count);
        assert_eq!(library.state(&key(0)), State::Banned, "{count}");
    }
    let library = opened(on(&disk, &driver), 2);
    assert_eq!(library.forget(Some(&key(0))).expect("there is space"), 1);
    assert_eq!(library.state(&key(0)), State::Queued);
    drop(library);
    assert_eq!(opened(on(&disk, &driver), 0).state(&key(0)), State::Unknown);
}

#[test]
fn request_waits_for_other_threads_and_never_compiles() {
    let driver = driver();
    let library = opened(options(&driver), 3);
    library.precompiler().set_mode(Mode::Paused);
    assert_eq!(library.request(&key(9), Duration::MAX), State::Unknown);
    assert_eq!(library.request(&key(1), Duration::from_micros(1)), State::Queued);
    assert_eq!(driver.count(), 0);
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| library.request(&key(1), Duration::MAX));
        while library.compile_for(Duration::MAX) == 0 {}
        assert_eq!(waiting.join().expect("no panic"), State::Ready);
    });
    assert_eq!(driver.count(), 1);
    assert_eq!(library.coverage().used, 0);
}

#[test]
fn remaining_pipelines_of_a_mask_are_counted_before_it_is_the_current_one() {
    let driver = driver();
    let library = opened(options(&driver), 10);
    library.set_masks(masks(1)).expect("memory");
    let remaining = |bits| library.precompiler().remaining_of(Mask::of_bits(bits)).expect("memory");
    assert_eq!([remaining(0), remaining(1), remaining(2), remaining(3)], [10, 5, 5, 0]);
    library.begin_frame(None);
    assert_eq!(library.compile_for(Duration::MAX), 5);
    assert_eq!([remaining(0), remaining(1), remaining(2)], [5, 0, 5]);
    assert_eq!(library.coverage().states.remaining(), 0);
}

#[test]
fn forgotten_pipelines_and_groups_are_requested_again_by_their_use() {
    let driver = driver();
    let library = opened(options(&driver), 4);
    library.precompiler().set_mode(Mode::Paused);
    let group = library.precompiler().add_group(&[key(2), key(3)]).expect("memory");
    let draw = || {
        let decided = library.decide(group, Policy::Skip).expect("a group");
        (library.use_pipeline(&key(0)), decided)
    };
    // Only what is requested is compiled in a pause.
    for round in 0..3 {
        assert_eq!(draw(), (State::Queued, Decision::Skip), "{round}");
        assert_eq!(library.compile_for(Duration::MAX), 3, "{round}");
        assert_eq!(draw(), (State::Ready, Decision::Draw), "{round}");
        // The device is lost.
        assert_eq!(library.forget(None).expect("memory"), 3);
    }
    // One of the group is enough.
    draw();
    library.compile_for(Duration::MAX);
    assert_eq!(library.forget(Some(&key(3))).expect("memory"), 1);
    assert_eq!(draw(), (State::Ready, Decision::Skip));
    assert_eq!(library.compile_for(Duration::MAX), 1);
    assert_eq!(draw(), (State::Ready, Decision::Draw));
    assert!(!driver.compiled.lock().unwrap().contains_key(&key(1)));
}

/// The device is lost while pipelines are compiled ahead. A use and a group meanwhile request nothing, and the host cancels.
#[test]
fn pipelines_that_a_lost_device_cancelled_are_requested_again_by_their_use() {
    let driver = driver();
    let library = opened(options(&driver), 2);
    let group = library.precompiler().add_group(&[key(1)]).expect("memory");
    library.begin_frame(None);
    let jobs = [(); 2].map(|()| library.precompiler().take().expect("it is granted"));
    library.precompiler().set_mode(Mode::Paused);
    assert_eq!(library.use_pipeline(&key(0)), State::Running);
    assert_eq!(library.decide(group, Policy::Skip).expect("a group"), Decision::Skip);
    assert_eq!(library.forget(None).expect("memory"), 0);
    driver.is_busy.store(true, Ordering::Relaxed);
    assert_eq!(jobs.map(|job| library.compile(&job)), [Built::Cancelled; 2]);
    driver.is_busy.store(false, Ordering::Relaxed);
    assert_eq!(library.compile_for(Duration::MAX), 0);
    assert_eq!(library.use_pipeline(&key(0)), State::Queued);
    assert_eq!(library.decide(group, Policy::Skip).expect("a group"), Decision::Skip);
    assert_eq!(library.compile_for(Duration::MAX), 2);
    assert_eq!(library.decide(group, Policy::Skip).expect("a group"), Decision::Draw);
}

#[test]
fn waiting_for_a_group_wakes_the_background() {
    let driver = driver();
    let background = executor::Options { background: Background::Thread, ..executor::Options::default() };
    let executor = Executor::new(background).expect("a thread");
    let library = opened(Options { executor: Some(executor.clone()), ..options(&driver) }, 4);
    library.precompiler().set_mode(Mode::Paused);
    executor.wait_idle(Duration::MAX).expect("it ends");
    let group = library.precompiler().add_group(&[key(1), key(2)]).expect("memory");
    for _ in 0..3 {
        let decided = library.decide(group, Policy::Wait(Duration::from_secs(60))).expect("a group");
        assert_eq!(decided, Decision::Draw);
        assert_eq!(library.forget(None).expect("memory"), 2);
        executor.wait_idle(Duration::MAX).expect("it ends");
    }
    assert_eq!(driver.count(), 2);
}
