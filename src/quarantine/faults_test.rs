//! A quarantine on a disk with fault injection. Locks are separate files there, as on a host's file system.

use std::path::Path;

use super::tests::{A, B, DRIVER, NOW};
use super::*;
use crate::store::fault_io::{FaultDisk, FaultIo};
use crate::store::io::share;

fn open(io: &FaultIo, options: Options) -> Quarantine {
    Quarantine::open_on(share(io.clone()).unwrap(), Path::new("cache/quarantine"), options).unwrap()
}

fn fresh(disk: &FaultDisk) -> Quarantine {
    open(&disk.process(), Options::at(NOW))
}

/// A process that is killed while a key is in flight.
fn death(disk: &FaultDisk, key: &[u8; 32]) {
    let io = disk.process();
    let quarantine = open(&io, Options::at(NOW));
    quarantine.begin(DRIVER, key).unwrap();
    assert_eq!(quarantine.statistics().noted, 1);
    io.kill();
}

fn names(disk: &FaultDisk) -> Vec<String> {
    disk.files().iter().filter_map(|path| Some(path.file_name()?.to_str()?.to_owned())).collect()
}

#[test]
fn two_crashes_ban_with_file_based_locks() {
    let disk = FaultDisk::default();
    death(&disk, &A);
    let living = fresh(&disk);
    living.begin(DRIVER, &B).unwrap();
    assert_eq!((living.strikes(DRIVER, &A), fresh(&disk).strikes(DRIVER, &B)), (1, 0));
    drop(living);
    assert_eq!(names(&disk), ["lock", "strikes"]);
    death(&disk, &A);
    let quarantine = fresh(&disk);
    assert!(quarantine.is_banned(DRIVER, &A) && !quarantine.is_banned(DRIVER, &B));
    assert_eq!(names(&disk), ["lock", "strikes"]);
}

#[test]
fn read_only_directory_counts_crashes_without_a_write() {
    let disk = FaultDisk::default();
    death(&disk, &A);
    let living = fresh(&disk);
    living.begin(DRIVER, &B).unwrap();
    death(&disk, &A);
    let bytes = |disk: &FaultDisk| disk.files().iter().map(|path| disk.read(path)).collect::<Vec<_>>();
    let (files, before) = (disk.files(), bytes(&disk));
    let reader = open(&disk.process(), Options { read_only: true, ..Options::at(NOW) });
    assert!(reader.is_banned(DRIVER, &A) && reader.strikes(DRIVER, &B) == 0);
    drop(reader);
    assert!(disk.files() == files && bytes(&disk) == before);
    assert!(fresh(&disk).is_banned(DRIVER, &A), "the crash is still counted");
}

/// Begin and end a use of B, then begin a use of A; returns the number of noted uses.
fn work(quarantine: &Quarantine) -> u64 {
    let begin = |key| {
        let unnoted = quarantine.statistics().unnoted;
        let token = quarantine.begin(DRIVER, key).unwrap();
        assert!(quarantine.statistics().unnoted == unnoted || quarantine.problem().is_some());
        token
    };
    let ended = begin(&B);
    quarantine.end(ended, Outcome::Ok).unwrap();
    begin(&A);
    quarantine.statistics().noted
}

#[test]
fn kill_at_any_call_costs_at_most_one_strike_per_use_in_flight() {
    let mut struck = 0;
    for calls in 0..200 {
        let disk = FaultDisk::default();
        death(&disk, &A);
        let io = disk.process();
        io.plan(|plan| plan.calls_to_live = Some(calls));
        let quarantine = open(&io, Options::at(NOW));
        work(&quarantine);
        let is_all = !io.is_dead();
        io.kill();
        drop(quarantine);
        let next = fresh(&disk);
        let strikes = next.strikes(DRIVER, &A);
        assert!((1..=2).contains(&strikes), "after {calls} calls: {strikes}");
        // A process killed while it clears a note may leave a strike.
        assert!(next.strikes(DRIVER, &B) <= 1, "after {calls} calls");
        struck += u32::from(strikes == 2);
        // The next process has a working quarantine.
        assert_eq!(work(&next), 2, "after {calls} calls: {:?}", next.problem());
        drop(next);
        assert_eq!(fresh(&disk).strikes(DRIVER, &A), strikes, "after {calls} calls");
        assert_eq!(names(&disk), ["lock", "strikes"], "after {calls} calls");
        if is_all {
            assert!(struck > 0 && calls > 70, "64 slots are written one by one");
            return;
        }
    }
    panic!("there is no end to it");
}

#[test]
fn failed_io_keeps_uses_and_counted_strikes() {
    for calls in 0..90 {
        let disk = FaultDisk::default();
        death(&disk, &A);
        death(&disk, &A);
        drop(fresh(&disk));
        let io = disk.process();
        io.plan(|plan| plan.calls_to_error = Some(calls));
        let quarantine = open(&io, Options::at(NOW));
        assert!(quarantine.is_banned(DRIVER, &A));
        work(&quarantine);
        drop(quarantine);
        assert!(fresh(&disk).is_banned(DRIVER, &A), "after {calls} calls");
    }
}

#[test]
fn full_disk_falls_back_to_memory_and_reports_it() {
    let disk = FaultDisk::default();
    disk.set_space(Some(1000));
    let quarantine = fresh(&disk);
    let token = quarantine.begin(DRIVER, &A).unwrap();
    assert_eq!(quarantine.statistics().unnoted, 1);
    assert!(quarantine.problem().unwrap().as_str().contains("free some space"));
    quarantine.end(token, Outcome::Ok).unwrap();
    assert_eq!(names(&disk), ["lock"], "the partial file is removed");

    // With space again, uses are noted again.
    disk.set_space(None);
    let noted = (0..100).find(|_| {
        let token = quarantine.begin(DRIVER, &A).unwrap();
        let is_noted = quarantine.problem().is_none();
        quarantine.end(token, Outcome::Ok).unwrap();
        is_noted
    });
    assert!(noted.is_some() && quarantine.statistics().noted == 1);
    let _in_flight = quarantine.begin(DRIVER, &B).unwrap();
    quarantine.die();
    assert_eq!(fresh(&disk).statistics().struck, 1);
}
