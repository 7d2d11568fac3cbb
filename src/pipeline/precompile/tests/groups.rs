//! Ready groups.

use std::time::Duration;

use super::*;
use crate::base::Code;

fn compile(precompiler: &Precompiler, number: u32, outcome: Outcome) {
    let job = precompiler.take_key(&key(number)).expect("it waits");
    precompiler.finish(&job, outcome, 1).expect("it runs");
}

#[test]
fn group_is_ready_when_its_last_pipeline_is() {
    let precompiler = precompiler(unlimited());
    add(&precompiler, [(0, 0), (1, 0), (2, 0)]);
    let group = precompiler.add_group(&[key(0), key(1), key(0)]).expect("memory");
    let other = precompiler.add_group(&[key(1), key(2)]).expect("memory");
    let empty = precompiler.add_group(&[]).expect("memory");
    assert!(precompiler.is_ready(empty));
    assert_eq!(precompiler.missing(group).expect("a group"), 2);
    compile(&precompiler, 0, Outcome::Ok);
    assert!(!precompiler.is_ready(group));
    compile(&precompiler, 1, Outcome::Ok);
    assert!(precompiler.is_ready(group) && !precompiler.is_ready(other));
    // A group of ready pipelines is ready at once. A pipeline that is banned later is missing.
    let late = precompiler.add_group(&[key(1)]).expect("memory");
    assert!(precompiler.is_ready(late));
    precompiler.settle(&key(1), State::Banned).expect("memory");
    assert!(!precompiler.is_ready(late) && !precompiler.is_ready(group));
}

#[test]
fn removed_group_is_not_found() {
    let precompiler = precompiler(unlimited());
    add(&precompiler, [(0, 0)]);
    let group = precompiler.add_group(&[key(0)]).expect("memory");
    compile(&precompiler, 0, Outcome::Ok);
    precompiler.remove_group(group).expect("a group");
    let reused = precompiler.add_group(&[key(0)]).expect("memory");
    assert_eq!(reused.index1, group.index1);
    assert!(!precompiler.is_ready(group) && !precompiler.is_ready(Id::default()) && precompiler.is_ready(reused));
    let code = precompiler.decide(group, Policy::Skip).map_err(|why| why.code());
    assert_eq!(code, Err(Code::NotFound));
    assert_eq!(precompiler.remove_group(group).map_err(|why| why.code()), Err(Code::NotFound));
}

#[test]
fn decisions_follow_the_policy_and_are_counted_by_reason() {
    let precompiler = precompiler(unlimited());
    add(&precompiler, (0..4).map(|number| (number, 0)));
    let group = precompiler.add_group(&[key(2), key(3)]).expect("memory");
    let decide = |policy| precompiler.decide(group, policy).expect("a group");
    assert_eq!(decide(Policy::Skip), Decision::Skip);
    assert_eq!(decide(Policy::Substitute), Decision::Substitute);
    assert_eq!(decide(Policy::Wait(Duration::from_millis(1))), Decision::Skip);
    // The first decision has requested the group.
    let taken = [(); 2].map(|()| precompiler.take().expect("requested"));
    assert_eq!(taken.map(|job| number(&job)), [2, 3]);
    assert!(precompiler.take().is_none());
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| decide(Policy::Wait(Duration::MAX)));
        taken.iter().for_each(|job| _ = precompiler.finish(job, Outcome::Ok, 1).expect("it runs"));
        assert_eq!(waits.join().expect("no panic"), Decision::Draw);
    });
    let decisions = precompiler.decisions();
    assert_eq!((decisions.skipped, decisions.substituted, decisions.timed_out), (1, 1, 1));
    assert!(decisions.waited <= 1, "the wait may begin after the end of the builds");
    assert_eq!(decide(Policy::Skip), Decision::Draw);
}

#[test]
fn group_with_a_failed_pipeline_is_not_waited_for() {
    let precompiler = precompiler(unlimited());
    add(&precompiler, [(0, 0), (1, 0)]);
    let group = precompiler.add_group(&[key(0), key(1)]).expect("memory");
    compile(&precompiler, 1, Outcome::Failed);
    assert_eq!(precompiler.decide(group, Policy::Wait(Duration::MAX)).expect("a group"), Decision::Skip);
    assert_eq!(precompiler.decide(group, Policy::Substitute).expect("a group"), Decision::Substitute);
    let decisions = precompiler.decisions();
    assert_eq!((decisions.refused, decisions.skipped, decisions.substituted), (2, 1, 1));
}

#[test]
fn wait_for_a_group_ends_if_a_compile_of_it_is_cancelled() {
    let precompiler = precompiler(unlimited());
    add(&precompiler, [(0, 0), (1, 0)]);
    let group = precompiler.add_group(&[key(0), key(1)]).expect("memory");
    for _ in 0..3 {
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| precompiler.decide(group, Policy::Wait(Duration::MAX)).expect("a group"));
            await_waiter(&precompiler);
            let job = precompiler.take().expect("it is requested");
            precompiler.finish(&job, Outcome::Cancelled, 1).expect("it runs");
            assert_eq!(waits.join().expect("no panic"), Decision::Skip);
        });
    }
    assert_eq!(precompiler.decisions().timed_out, 3);
}

#[test]
fn unknown_pipeline_of_a_group_is_requested_when_its_entry_is_added() {
    let precompiler = precompiler(Options { masks: masks(1, 0), ..unlimited() });
    let group = precompiler.add_group(&[key(5), key(6)]).expect("memory");
    assert_eq!((precompiler.state(&key(5)), precompiler.counts().unknown), (State::Unknown, 2));
    assert_eq!(precompiler.decide(group, Policy::Skip).expect("a group"), Decision::Skip);
    assert!(!precompiler.has_job());
    add(&precompiler, [(5, 0)]);
    assert_eq!(precompiler.take().map(|job| job.key), Some(key(5)));
    precompiler.settle(&key(6), State::Ready).expect("memory");
    assert_eq!(precompiler.missing(group).expect("a group"), 1);
}
