//! A power loss after a sync, and a kill in a clear, at every call that changes the disk.

use super::super::fault_io::{FaultDisk, FaultIo};
use super::super::{Options, Store};
use super::*;

const CLEARED: u64 = 7;
const KEPT: u64 = 8;
/// More calls than an operation here makes.
const CALLS: u64 = 60;

fn put(store: &mut Store, environment: u64, numbers: std::ops::Range<u64>) {
    numbers.for_each(|number| assert!(store.put(&named(environment, number), 5, &value(number, 1000)).unwrap()));
}

fn count(store: &mut Store, environment: u64) -> usize {
    (0..200).filter(|&number| get(store, &named(environment, number)) == Some(value(number, 1000))).count()
}

/// A power loss that keeps nothing that was not synced.
fn lose_power(disk: &FaultDisk) -> Store {
    disk.lose_power(|| 0);
    on(disk)
}

fn segments_of(bytes: u64) -> Options {
    Options { segment_limit: bytes, ..options() }
}

#[test]
fn sync_after_a_failed_clear_keeps_the_values() {
    for is_full in [false, true] {
        let mut failures = 0;
        for calls in 0..CALLS {
            let disk = FaultDisk::default();
            let io = disk.process();
            let mut store = open(&io, segments_of(5000));
            put(&mut store, CLEARED, 0..14);
            disk.set_quota(is_full.then_some(0));
            io.plan(|plan| plan.calls_to_error = Some(calls));
            let is_cleared = store.clear(Some(CLEARED)).is_ok();
            failures += u32::from(!is_cleared);
            io.plan(|plan| plan.calls_to_error = None);
            disk.set_quota(None);
            let kept = count(&mut store, CLEARED);
            assert!(is_cleared == (kept == 0) || is_full, "{calls}: {kept} after a clear");
            store.sync().unwrap();
            assert_eq!(count(&mut lose_power(&disk), CLEARED), kept, "failure of call {calls}, full: {is_full}");
        }
        assert!(failures > 0, "full: {is_full}");
    }
}

#[test]
fn sync_after_a_failed_eviction_on_a_full_disk_keeps_the_values() {
    let mut failures = 0;
    for calls in 0..CALLS {
        let disk = FaultDisk::default();
        let io = disk.process();
        let mut store = open(&io, segments_of(5000));
        put(&mut store, KEPT, 0..14);
        disk.set_quota(Some(disk.used()));
        io.plan(|plan| plan.calls_to_error = Some(calls));
        let mut puts = (14..30).map(|number| store.put(&named(KEPT, number), 5, &value(number, 1000)));
        failures += u32::from(puts.any(|put| put.is_err()));
        io.plan(|plan| plan.calls_to_error = None);
        disk.set_quota(None);
        let kept = count(&mut store, KEPT);
        store.sync().unwrap();
        assert_eq!(count(&mut lose_power(&disk), KEPT), kept, "failure of call {calls}");
    }
    assert!(failures > 0);
}

/// An environment in sealed segments of a dead process, some with values of another one, and in open ones.
fn filled(disk: &FaultDisk) -> (FaultIo, Store) {
    let mut dead = open(&disk.process(), segments_of(5000));
    put(&mut dead, CLEARED, 0..9);
    put(&mut dead, KEPT, 0..3);
    dead.seal().unwrap();
    put(&mut dead, CLEARED, 9..12);
    drop(dead);
    let io = disk.process();
    let mut store = open(&io, segments_of(5000));
    put(&mut store, CLEARED, 12..30);
    (io, store)
}

/// Kills a process at every call of a clear, and returns how many values of the environment and of others remain.
fn killed_in(clear: impl Fn(&mut Store)) -> Vec<(usize, usize)> {
    let killed = |calls| {
        let disk = FaultDisk::default();
        let (io, mut store) = filled(&disk);
        io.plan(|plan| plan.calls_to_live = Some(calls));
        clear(&mut store);
        io.kill();
        let mut store = on(&disk);
        (count(&mut store, CLEARED), count(&mut store, KEPT))
    };
    (0..2 * CALLS).map(killed).collect()
}

#[test]
fn clear_that_is_killed_removes_all_or_nothing() {
    let left = killed_in(|store| drop(store.clear(Some(CLEARED))));
    assert!(left.iter().all(|left| matches!(left, (0 | 30, 3))), "{left:?}");
    let left_of_all = killed_in(|store| while store.clear_all().is_ok_and(|done| done.more) {});
    assert!(left_of_all.iter().all(|left| matches!(left, (0, 0) | (30, 3))), "{left_of_all:?}");
    for left in [left, left_of_all] {
        assert!(left.last().is_some_and(|last| last.0 == 0), "{left:?}");
    }
}

/// The mark may exceed the limit until the segments are deleted.
#[test]
fn clear_at_the_limit_removes_all_or_nothing() {
    let limit = Options::LEAST_LIMIT;
    let limited = Options { limit_bytes: limit, ..options() };
    for calls in 0..CALLS {
        let disk = FaultDisk::default();
        let io = disk.process();
        let mut store = open(&io, limited);
        let mut number = 0;
        while disk.used() + 2 * 4096 < limit && number < 200 {
            put(&mut store, CLEARED, number..number + 1);
            number += 1;
        }
        let before = count(&mut store, CLEARED);
        evicted();
        io.plan(|plan| plan.calls_to_live = Some(calls));
        let _ = store.clear(Some(CLEARED));
        io.kill();
        assert!(evicted().is_empty(), "a clear evicts nothing");
        let left = count(&mut open(&disk.process(), limited), CLEARED);
        assert!(left == 0 || left == before, "{left} of {before}, killed at call {calls}");
        assert!(disk.most_used() <= limit / 4 * 5, "{} bytes", disk.most_used());
    }
}
