//! Entries with the names of segments that are not the store's files: they cost nothing but a message.

use std::os::unix::fs::{MetadataExt, chown};
use std::path::Path;
use std::process::Command;

use super::*;
use crate::store::format::encode_heads;

const LIMIT: u64 = 300_000;
const ID: u64 = 0x6b06_16b9_0021_80ce;

fn options() -> Options {
    Options { limit_bytes: LIMIT, ..Options::new(now) }
}

fn data(number: u32) -> Vec<u8> {
    Random(number.into()).bytes(3000)
}

fn file(directory: &Path, extension: &str) -> PathBuf {
    directory.join(format!("{ID:016x}.{extension}"))
}

fn run(directory: &Path, script: &str) {
    let done = Command::new("sh").args(["-c", script]).current_dir(directory).status();
    assert!(done.is_ok_and(|status| status.success()), "{script}");
}

/// Bytes on the disk of the files of this user.
fn own_bytes(directory: &Path) -> u64 {
    let user = std::fs::metadata(directory).expect("it exists").uid();
    let all = std::fs::read_dir(directory).expect("listable");
    let all = all.map(|entry| std::fs::symlink_metadata(entry.expect("listable").path()).expect("it exists"));
    all.filter(|found| found.is_file() && found.uid() == user).map(|found| found.blocks() * 512).sum()
}

/// Puts 120 values, and returns how many of them another store finds.
fn fill(directory: &Path, first: u32) -> usize {
    let mut store = open(directory, options());
    for number in first..first + 120 {
        assert!(store.put(&name(1, number), 1, &data(number)).expect("others go for it"), "{number}");
    }
    store.sync().expect("nothing is in the way");
    store.seal().expect("nothing is in the way");
    drop(store);
    let mut store = open(directory, options());
    let mut bytes = Vec::new();
    let is_there = |&number: &u32| {
        let found = store.get(&name(1, number), &mut bytes).expect("readable").is_some();
        assert!(!found || bytes == data(number), "{number}");
        found
    };
    (first..first + 120).filter(is_there).count()
}

#[test]
fn unreadable_entry_named_like_a_segment_does_not_stop_eviction() {
    let scratch = Scratch::new("intruder");
    let name = format!("{ID:016x}");
    let mut kinds = vec![
        ("true".to_owned(), "live"),
        (format!("mkfifo {name}.seg"), "seg"),
        (format!("mkdir {name}.seg"), "seg"),
        (format!("ln -s missing {name}.seg"), "seg"),
        (format!("mkdir {name}.live; echo > {name}.seg"), "live"),
        (format!("mkfifo {name}.live"), "live"),
    ];
    if is_root(&scratch) {
        kinds.push((format!("head -c 3000000 /dev/zero > {name}.seg; chown {NOBODY} {name}.seg"), "seg"));
        kinds.push((format!("echo > {name}.live; chown {NOBODY} {name}.live"), "live"));
    }
    for (script, extension) in kinds {
        let directory = scratch.store();
        std::fs::create_dir(&directory).expect("nothing is in the way");
        run(&directory, &script);
        let found = std::fs::symlink_metadata(file(&directory, extension)).ok();
        for round in 0..3 {
            let kept = fill(&directory, 1000 * round);
            assert!(kept > 40, "{script}: {kept} in round {round}");
            let mut store = open(&directory, options());
            // A merge writes copies, and sync brings the files below the limit.
            store.maintain(u64::MAX).expect("nothing is in the way");
            store.sync().expect("nothing is in the way");
            assert!(own_bytes(&directory) <= LIMIT, "{script}: {}", own_bytes(&directory));
        }
        let left = std::fs::symlink_metadata(file(&directory, extension)).ok();
        assert_eq!(left.map(|left| left.ino()), found.map(|found| found.ino()), "{script}");
        std::fs::remove_dir_all(&directory).expect("it can be removed");
    }
}

#[test]
fn unreadable_entry_is_reported_once_and_survives_clearing() {
    let scratch = Scratch::new("reported");
    let directory = scratch.store();
    fill(&directory, 0);
    run(&directory, &format!("mkfifo {ID:016x}.seg"));
    let mut store = open(&directory, options());
    let trouble = store.trouble().expect("it is reported").to_owned();
    assert!(trouble.contains(&format!("{ID:016x}.seg")) && trouble.contains("not a regular file"), "{trouble}");
    let before = store.statistics();
    assert_eq!((before.io_errors, before.damaged), (1, 1));
    assert!(store.put(&name(1, 500), 1, &data(500)).expect("nothing is in the way"));
    (0..3).for_each(|_| store.refresh().expect("nothing is in the way"));
    let after = store.statistics();
    assert_eq!((after.io_errors, after.damaged, store.trouble()), (1, 1, None));
    while store.clear_all().expect("nothing is in the way").more {}
    assert!(std::fs::symlink_metadata(file(&directory, "seg")).is_ok(), "it was deleted");
    assert_eq!(store.statistics().values, 0);
}

#[test]
fn segment_of_another_user_brings_no_removed_value_back_when_it_becomes_readable() {
    let scratch = Scratch::new("mended");
    if !is_root(&scratch) {
        return crate::testing::skip("only root may give files to another user");
    }
    let directory = scratch.store();
    let mut store = open(&directory, options());
    (0..5).for_each(|number| assert!(store.put(&name(1, number), 1, &data(number)).expect("nothing is in the way")));
    store.seal().expect("nothing is in the way");
    let given = files(&directory, "seg").pop().expect("one segment");
    (0..3).for_each(|number| assert!(store.remove(&name(1, number)).expect("nothing is in the way")));
    store.seal().expect("nothing is in the way");
    drop(store);
    chown(&given, Some(NOBODY), None).expect("root may");
    let _ = std::fs::remove_file(given.with_extension("idx"));
    for round in 1..4 {
        fill(&directory, 1000 * round);
        open(&directory, options()).maintain(u64::MAX).expect("nothing is in the way");
    }
    chown(&given, Some(0), None).expect("root may");
    let store = open(&directory, options());
    let found: Vec<_> = (0..5).map(|number| store.contains(&name(1, number))).collect();
    assert_eq!(found, [false, false, false, true, true]);
}

#[test]
fn segment_that_lost_its_head_counts_and_is_deleted_when_no_process_writes_it() {
    let scratch = Scratch::new("headless");
    let directory = scratch.store();
    std::fs::create_dir(&directory).expect("nothing is in the way");
    let (zeros, written) = (file(&directory, "seg"), directory.join(format!("{:016x}.seg", ID - 1)));
    std::fs::write(&zeros, vec![0; 3_000_000]).expect("nothing is in the way");
    std::fs::write(&written, vec![0; 3000]).expect("nothing is in the way");
    let lock = shared(OsIo).try_lock(&written.with_extension("live")).expect("it can be created");
    assert!(lock.is_some());
    assert!(fill(&directory, 0) > 40);
    assert!(!zeros.exists() && written.exists());
    assert!(own_bytes(&directory) <= LIMIT, "{}", own_bytes(&directory));
    drop(lock);
    // Below the limit it goes as well.
    let mut store = open(&directory, Options::new(now));
    store.maintain(u64::MAX).expect("nothing is in the way");
    assert!(!written.exists());
    // The head of another format is whole, and the directory is below its limit.
    let mut foreign = encode_heads(ID, 1, 2).to_vec();
    foreign.resize(100_000, 0);
    std::fs::write(&zeros, &foreign).expect("nothing is in the way");
    assert!(fill(&directory, 1000) > 40);
    assert_eq!(std::fs::read(&zeros).expect("it is kept").len(), foreign.len());
}

#[test]
fn hard_links_to_the_files_keep_their_bytes() {
    let scratch = Scratch::new("links");
    let (directory, backup) = (scratch.store(), scratch.0.join("backup"));
    fill(&directory, 0);
    let letter = scratch.0.join("letter");
    std::fs::write(&letter, vec![1; 1 << 20]).expect("nothing is in the way");
    let _ = std::fs::remove_file(directory.join("maintain.lock"));
    std::fs::hard_link(&letter, directory.join("maintain.lock")).expect("nothing is in the way");
    run(&scratch.0, "cp -al store backup");
    let of_backup = || {
        let mut all: Vec<_> = entries(&backup).into_iter().map(|path| (std::fs::read(&path).ok(), path)).collect();
        all.sort();
        all
    };
    let before = of_backup();
    assert!(before.len() > 5);
    assert!(fill(&directory, 1000) > 40);
    assert!(own_bytes(&directory) <= LIMIT + (1 << 20), "{}", own_bytes(&directory));
    let mut store = open(&directory, options());
    while store.clear_all().expect("nothing is in the way").more {}
    assert!(of_backup() == before, "a file of the backup was changed");
    assert_eq!(std::fs::metadata(&letter).expect("it is there").len(), 1 << 20);
}

fn entries(directory: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(directory).expect("listable").map(|entry| entry.expect("listable").path()).collect()
}
