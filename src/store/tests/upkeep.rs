//! Limits, eviction, age, merging and the cost of opening.

use super::super::fault_io::{CallCounts, FaultDisk};
use super::super::{Options, Store};
use super::*;

#[test]
fn limits_hold_to_the_byte() {
    let disk = FaultDisk::default();
    let mut store = open(&disk.process(), Options { entry_limit: 10, ..options() });
    assert!(store.put(&name(1), 0, &[1; 10]).unwrap());
    assert!(!store.put(&name(1), 0, &[2; 11]).unwrap());
    assert_eq!(get(&mut store, &name(1)), Some(vec![1; 10]), "the old value is kept");
    assert_eq!(store.statistics().refused, 1);

    let least = Options::LEAST_LIMIT;
    for limits in [(0, 0), (least - 1, 0), (least, least - 1), (least, 1)] {
        let options = Options { limit_bytes: limits.0, directory_limit: limits.1, ..options() };
        let Err(why) = Store::open(share(disk.process()).unwrap(), &directory(), options) else { panic!("{limits:?}") };
        assert!(why.sentence().contains("below 262144 bytes: raise it"), "{why}");
    }
}

#[test]
fn every_segment_limit_works() {
    for segment_limit in [0, 1, 200, u64::MAX] {
        let disk = FaultDisk::default();
        let mut store = open(&disk.process(), Options { segment_limit, ..options() });
        for number in 0..5 {
            store.put(&name(number), 0, &value(number, 50)).unwrap();
        }
        let segments = if segment_limit == u64::MAX { 1 } else { 5 };
        assert_eq!(with_extension(&disk, "seg").len(), segments);
        let mut again = on(&disk);
        assert!((0..5).all(|number| get(&mut again, &name(number)) == Some(value(number, 50))));
    }
}

#[test]
fn uses_are_stored() {
    let disk = FaultDisk::default();
    let mut store = on(&disk);
    (0..3).for_each(|number| _ = store.put(&name(number), 0, b"x").unwrap());
    wait(100);
    store.touch(&[name(1), name(2), name(77)]).unwrap();
    wait(100);
    store.touch(&[name(2)]).unwrap();
    let then = now();
    for sealed in [false, true] {
        if sealed {
            store.seal().unwrap();
        }
        let again = on(&disk);
        let used = |number| again.meta(&name(number)).map(|meta| (meta.uses, then - u64::from(meta.last_used)));
        assert_eq!([used(0), used(1), used(2)], [Some((1, 200)), Some((2, 100)), Some((3, 0))]);
    }
}

#[test]
fn uses_outlive_their_segment() {
    let disk = populated(3, 5000);
    for launch in 1..5 {
        wait(100);
        let mut store = on(&disk);
        store.maintain(u64::MAX).unwrap();
        store.touch(&[name(1), name(2)]).unwrap();
        store.seal().unwrap();
        for store in [&store, &on(&disk)] {
            let used = |number| store.meta(&name(number)).map(|meta| (meta.uses, now() - u64::from(meta.last_used)));
            let expected = Some((1 + launch, 0));
            assert_eq!([used(0), used(1), used(2)], [Some((1, 100 * u64::from(launch))), expected, expected]);
        }
    }
    // The uses persist even if no value is touched again.
    for _ in 0..2 {
        on(&disk).maintain(u64::MAX).unwrap();
        let meta = on(&disk).meta(&name(1)).unwrap();
        assert_eq!((meta.uses, u64::from(meta.last_used)), (5, now()));
    }
    assert!(with_extension(&disk, "seg").len() <= 3, "{:?}", disk.files());
}

#[test]
fn maintenance_is_due_after_a_sixteenth_of_the_limit() {
    let disk = FaultDisk::default();
    let mut store = open(&disk.process(), Options { limit_bytes: 320 * 1104, ..options() });
    for number in 0..60 {
        assert_eq!(store.wants_maintenance(), number % 21 == 0 && number > 0, "{number}");
        if store.wants_maintenance() {
            store.maintain(u64::MAX).unwrap();
        }
        store.put(&name(number), 5, &value(number, 1024)).unwrap();
    }
    assert!(!on(&disk).wants_maintenance());
}

#[test]
fn unused_values_expire() {
    let disk = FaultDisk::default();
    let launch = || open(&disk.process(), Options { max_age_seconds: 1000, ..options() });
    let mut store = launch();
    store.put(&named(1, 1), 0, b"old environment").unwrap();
    store.put(&named(2, 1), 0, b"old").unwrap();
    store.put(&named(2, 2), 0, b"used").unwrap();
    for (seconds, aged) in [(1000, 0), (1, 2)] {
        wait(seconds);
        store.touch(&[named(2, 2)]).unwrap();
        store = launch();
        assert_eq!(store.maintain(u64::MAX).unwrap().aged, aged);
    }
    assert_eq!(store.environments().unwrap(), [2]);
    assert_eq!(get(&mut on(&disk), &named(2, 2)).as_deref(), Some(&b"used"[..]));
    assert_eq!(on(&disk).statistics().values, 1);
}

#[test]
fn wrong_clock_ages_nothing_in_its_launch() {
    const TEN_YEARS: u64 = 10 * 365 * 24 * 3600;
    for jump in [0_u64.wrapping_sub(TEN_YEARS), TEN_YEARS] {
        let disk = populated(20, 90);
        let then = now();
        wait(60);
        let mut store = on(&disk);
        // The clock jumps before the launch, and again within it.
        for _ in 0..2 {
            wait(jump);
            let mut jumped = on(&disk);
            for store in [&mut store, &mut jumped] {
                assert_eq!(store.maintain(u64::MAX).unwrap().aged, 0);
                assert!((0..20).all(|number| store.contains(&name(number))));
            }
        }
        jumped_back(then);
        // With the right clock nothing is lost either.
        let mut store = on(&disk);
        assert_eq!(store.maintain(u64::MAX).unwrap().aged, 0);
        assert!((0..20).all(|number| get(&mut store, &name(number)) == Some(value(number, 90))));
    }
}

fn jumped_back(to: u64) {
    wait(to.wrapping_sub(now()));
}

#[test]
fn maintenance_merges_segments_of_many_launches() {
    let disk = FaultDisk::default();
    for number in 0..500 {
        let mut store = on(&disk);
        store.put(&name(number), 0, &value(number, 200)).unwrap();
        if number % 3 > 0 {
            store.seal().unwrap();
        }
    }
    let mut store = on(&disk);
    let (mut calls, mut unlinked, mut more) = (0, 0, true);
    while more {
        let done = store.maintain(u64::MAX).unwrap();
        (calls, unlinked, more) = (calls + 1, unlinked + done.unlinked, done.more);
    }
    // 167 segments were not sealed: they are synced first, in pieces.
    assert_eq!((unlinked, calls), (500, 11));
    assert_eq!(with_extension(&disk, "seg").len(), 1);
    assert_eq!(with_extension(&disk, "live").len(), 0);
    let mut again = on(&disk);
    assert!((0..500).all(|number| get(&mut again, &name(number)) == Some(value(number, 200))));
}

#[test]
fn maintenance_budget_bounds_copied_bytes() {
    let disk = FaultDisk::default();
    for launch in 0..10 {
        let mut store = on(&disk);
        (0..10).for_each(|number| _ = store.put(&name(launch * 10 + number), 0, &[1; 944]).unwrap());
        store.seal().unwrap();
    }
    let mut store = on(&disk);
    let done = store.maintain(35 * 1024).unwrap();
    assert!(done.more && done.unlinked == 3 && done.copied_bytes < 35 * 1024, "{done:?}");
    while store.maintain(35 * 1024).unwrap().more {}
    assert_eq!(on(&disk).statistics().values, 100);
}

#[test]
fn maintenance_budget_bounds_the_reading_of_orphans() {
    const ORPHANS: u64 = 10;
    let disk = FaultDisk::default();
    let open_here = |disk: &FaultDisk| open(&disk.process(), Options { segment_limit: 1 << 20, ..options() });
    for launch in 0..ORPHANS {
        let mut store = open_here(&disk);
        (0..9).for_each(|number| _ = store.put(&name(launch * 9 + number), 0, &[1; 100_000]).unwrap());
    }
    let mut store = open_here(&disk);
    let (mut calls, mut more) = (0, true);
    while more {
        let before = disk.counts().bytes_read;
        more = store.maintain(2 << 20).unwrap().more;
        let read = disk.counts().bytes_read - before;
        assert!(read < 3 << 20, "{read} bytes in one call");
        calls += 1;
        assert_eq!(more, with_extension(&disk, "idx").len() < ORPHANS as usize);
    }
    assert_eq!(calls, ORPHANS / 2);
    assert_eq!(on(&disk).statistics().values, ORPHANS * 9);
}

/// Disk calls made by opening a directory of 5000 values.
fn asked_by_opening(disk: &FaultDisk) -> CallCounts {
    let before = disk.counts();
    assert_eq!(on(disk).statistics().values, 5000);
    let after = disk.counts();
    CallCounts {
        opened: after.opened - before.opened,
        reads: after.reads - before.reads,
        bytes_read: after.bytes_read - before.bytes_read,
        appends: after.appends - before.appends,
        syncs: after.syncs - before.syncs,
        removed: after.removed - before.removed,
        // Maintenance adds files that are not opened.
        listed: 0,
        looks: after.looks - before.looks,
    }
}

#[test]
fn five_hundred_small_segments_open_like_one() {
    let after_launches = |launches: u64| {
        let disk = FaultDisk::default();
        for launch in 0..launches {
            let mut store = on(&disk);
            for number in 0..5000 / launches {
                store.put(&name(launch * 5000 + number), 0, &[3; 100]).unwrap();
            }
            store.seal().unwrap();
        }
        disk
    };
    let big = asked_by_opening(&after_launches(1));
    assert_eq!((big.opened, big.reads), (1, 2), "nothing but its snapshot, and that it ends there");
    let disk = after_launches(500);
    let small = asked_by_opening(&disk);
    assert_eq!((small.opened, small.reads), (35, 35), "nothing but 31 packs and 4 snapshots, each in one read");
    assert!(small.bytes_read * 2 < 3 * big.bytes_read, "{small:?} {big:?}");
    // Only the first opening after the launches costs that much: one maintenance merges the segments.
    on(&disk).maintain(8 << 20).unwrap();
    assert_eq!(asked_by_opening(&disk), big);
}

#[test]
fn put_that_fills_a_segment_does_not_sync() {
    let disk = FaultDisk::default();
    let mut store = open(&disk.process(), Options { segment_limit: 4096, ..options() });
    (0..20).for_each(|number| assert!(store.put(&name(number), 0, &value(number, 1000)).unwrap()));
    let segments = with_extension(&disk, "seg").len();
    assert!((5..9).contains(&segments), "{segments}");
    assert_eq!((disk.counts().syncs, with_extension(&disk, "idx").len()), (0, 0));

    // Segments that were not sealed are readable anyway, also after a refresh.
    store.refresh().unwrap();
    for mut store in [on(&disk), store] {
        (0..20).for_each(|number| assert_eq!(get(&mut store, &name(number)), Some(value(number, 1000))));
        assert_eq!(store.statistics().damaged, 0);
    }
}

#[test]
fn full_segments_are_sealed_in_maintenance_or_beyond_a_count() {
    type Work = fn(&mut Store);
    let work: [(Work, usize); 3] = [
        (|store| store.sync().unwrap(), 1),
        (|store| store.seal().unwrap(), 0),
        (|store| assert_eq!(store.maintain(0).unwrap().unlinked, 0), 1),
    ];
    for (work, open_ones) in work {
        let disk = FaultDisk::default();
        let mut store = open(&disk.process(), Options { segment_limit: 4096, ..options() });
        (0..9).for_each(|number| assert!(store.put(&name(number), 0, &value(number, 1000)).unwrap()));
        work(&mut store);
        let count = |extension| with_extension(&disk, extension).len();
        assert_eq!(count("idx") + open_ones, count("seg"));
        assert_eq!(count("live"), open_ones);
        (9..300).for_each(|number| assert!(store.put(&name(number), 0, &value(number, 1000)).unwrap()));
        assert!(count("live") < 16, "{}", count("live"));
        assert!((0..300).all(|number| get(&mut store, &name(number)) == Some(value(number, 1000))));
    }
}
