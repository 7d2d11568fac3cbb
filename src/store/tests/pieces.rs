//! Pieces of work that a caller with a deadline does: each is bounded.

use super::super::fault_io::FaultDisk;
use super::super::{Options, Store};
use super::*;

/// Files of other programs in the same directory.
fn crowded(disk: &FaultDisk, files: u64) {
    (0..files).for_each(|number| disk.write(&directory().join(format!("other {number}")), b""));
}

#[test]
fn opening_lists_a_large_directory_in_pieces() {
    let disk = populated(100, 500);
    crowded(&disk, 20_000);
    let mut store = Store::begin(shared(disk.process()), &directory(), options()).unwrap();
    let (mut pieces, mut is_loaded) = (0, false);
    while !is_loaded {
        let before = disk.counts();
        is_loaded = store.load(1 << 20).unwrap();
        let listed = disk.counts().listed - before.listed;
        assert!(listed <= 4100, "{listed} names in a piece");
        pieces += 1;
    }
    assert!(pieces > 4);
    assert!((0..100).all(|number| get(&mut store, &name(number)) == Some(value(number, 500))));
    // A value of another process is found by the next reading, and maintenance works.
    on(&disk).put(&name(200), 5, b"later").unwrap();
    store.refresh().unwrap();
    assert!(store.contains(&name(200)));
    (0..50).for_each(|number| assert!(store.remove(&name(number)).unwrap()));
    store.maintain(u64::MAX).unwrap();
    assert_eq!(on(&disk).statistics().values, 51);
}

#[test]
fn values_age_out_in_pieces() {
    let disk = populated(2000, 40);
    wait(100 * 24 * 3600);
    on(&disk).put(&name(9000), 5, b"now").unwrap();
    let mut store = on(&disk);
    let mut pieces = 0;
    loop {
        let done = store.maintain(u64::MAX).unwrap();
        assert!(done.aged <= 256, "{done:?}");
        pieces += 1;
        if !done.more {
            break;
        }
    }
    assert!(pieces >= 8);
    assert_eq!((store.statistics().values, store.statistics().aged), (1, 2000));
}

/// Launches that were killed leave segments that nobody has synced.
#[test]
fn maintenance_syncs_and_removes_in_pieces() {
    let disk = FaultDisk::default();
    for launch in 0..100 {
        let io = disk.process();
        let mut store = open(&io, options());
        (0..10).for_each(|number| assert!(store.put(&name(number + launch % 10), 5, &value(number, 500)).unwrap()));
        io.kill();
    }
    (0..1000_u64).for_each(|number| disk.write(&directory().join(format!("{number:016x}.idx")), b"leftover"));
    let mut store = on(&disk);
    let mut pieces = 0;
    loop {
        let before = disk.counts();
        let done = store.maintain(8 << 20).unwrap();
        let after = disk.counts();
        assert!(after.syncs - before.syncs <= 50, "{} syncs", after.syncs - before.syncs);
        pieces += 1;
        if !done.more {
            break;
        }
        assert!(pieces < 100);
    }
    assert!(pieces > 5 && disk.files().len() < 10, "{pieces} pieces, {:?}", disk.files());
    assert_eq!(on(&disk).statistics().values, 19);
}

/// The worker prepares a put in pieces, between which it looks at the deadline.
#[test]
fn put_after_its_preparation_only_writes() {
    let disk = FaultDisk::default();
    let limit = 64 << 20;
    let mut store = open(&disk.process(), Options { limit_bytes: limit, environment: Some(7), ..options() });
    for number in 0..1200 {
        store.put(&name(number), 5, &value(number, 50_000)).unwrap();
        // Every second one is replaced, so that merges copy the others.
        store.put(&name(number / 2 * 2), 5, &value(number, 5000)).unwrap();
    }
    store.seal().unwrap();
    drop(store);
    let lower = Options { limit_bytes: limit / 4, environment: Some(7), ..options() };
    let mut store = open(&disk.process(), lower);
    let mut pieces = 1;
    loop {
        let before = disk.counts();
        let is_ready = store.prepare(7, 50_000).unwrap();
        let (after, bytes) = (disk.counts(), |counts: &super::super::fault_io::CallCounts| counts.bytes_read);
        assert!(bytes(&after) - bytes(&before) <= 20 << 20, "{} bytes", bytes(&after) - bytes(&before));
        if is_ready {
            break;
        }
        pieces += 1;
        assert!(pieces < 1000);
    }
    assert!(pieces > 2, "{pieces}");
    let before = disk.counts();
    assert!(store.put(&name(5000), 5, &value(5000, 50_000)).unwrap());
    let after = disk.counts();
    assert_eq!((after.listed - before.listed, after.removed - before.removed), (0, 0));
    assert!(after.appends - before.appends <= 2);
}

/// A stopped process may hold the lock of maintenance for ever.
#[test]
fn process_that_never_ends_its_maintenance_is_waited_for_once() {
    let disk = FaultDisk::default();
    let mut store = open(&disk.process(), Options { limit_bytes: 1 << 18, ..options() });
    let held = disk.process();
    (0..60).for_each(|number| assert!(store.put(&name(number), 5, &value(number, 3000)).unwrap()));
    let lock = held.try_lock(&directory().join("maintain.lock")).unwrap().expect("nobody has it");
    let mut next = 60..;
    let mut fails =
        |store: &mut Store| next.by_ref().find(|&number| store.put(&name(number), 5, &value(number, 3000)).is_err());
    fails(&mut store).unwrap();
    let before = disk.counts().listed;
    for _ in 0..20 {
        store.put(&name(9000), 5, &value(9000, 3000)).unwrap_err();
    }
    let listed = disk.counts().listed - before;
    assert!(listed <= 20 * 4 * disk.files().len() as u64, "{listed} names for 20 puts");
    drop(lock);
    assert!(store.put(&name(9000), 5, &value(9000, 3000)).unwrap(), "another process has ended its maintenance");
}
