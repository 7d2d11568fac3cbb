//! Owners and rights of files and directories, on real file systems.

use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::Path;

use super::*;
use crate::base::Code;
use crate::store::{Bundle, BundleWriter, Compression};
use crate::testing::skip;

fn options() -> Options {
    Options { segment_limit: 20_000, ..Options::new(now) }
}

/// A directory with 40 values: sealed segments, and one of a killed process.
fn fill(directory: &Path) {
    let mut store = open(directory, options());
    for number in 0..40 {
        let name = name(1, number);
        assert!(store.put(&name, 1, &value(&name, 1)).expect("nothing is in the way"));
        if number == 30 {
            store.seal().expect("nothing is in the way");
        }
    }
}

fn set_rights(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("it is ours");
}

/// The number of values that are served; each is right.
fn served(store: &mut Store) -> usize {
    (0..40).filter(|&number| version(store, &name(1, number), &mut Vec::new()) == Some(1)).count()
}

fn entries(directory: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(directory).expect("listable").map(|entry| entry.expect("listable").path()).collect()
}

#[test]
fn files_and_directories_are_created_for_this_user_alone() {
    let scratch = Scratch::new("mode");
    let directory = scratch.0.join("one").join("two");
    fill(&directory);
    let mut store = open(&directory, options());
    store.maintain(u64::MAX).expect("nothing is in the way");
    let mode = |path: &Path| std::fs::symlink_metadata(path).expect("it is there").mode() & 0o7777;
    assert_eq!([mode(&scratch.0.join("one")), mode(&directory)], [0o700; 2]);
    let files = entries(&directory);
    assert!(files.len() > 3, "{files:?}");
    files.iter().for_each(|path| assert_eq!(mode(path), 0o600, "{path:?}"));
    // A bundle is made to be given to others: its rights are those of any new file.
    let (bundle, plain) = (scratch.0.join("bundle"), scratch.0.join("plain"));
    write_bundle(&bundle);
    std::fs::write(&plain, b"").expect("it can be written");
    assert_eq!(mode(&bundle), mode(&plain));
}

fn write_bundle(path: &Path) {
    let mut writer = BundleWriter::create(shared(OsIo), path, Compression::None).expect("nothing is in the way");
    assert!(writer.put(&name(1, 1), 1, &value(&name(1, 1), 1)).expect("nothing is in the way"));
    writer.finish().expect("nothing is in the way");
}

/// Versions before the first release of these rights created files with mode 0644 in directories with mode 0755.
#[test]
fn directory_with_the_rights_of_older_versions_is_served_and_written() {
    let scratch = Scratch::new("older");
    fill(&scratch.store());
    set_rights(&scratch.store(), 0o755);
    entries(&scratch.store()).iter().for_each(|path| set_rights(path, 0o644));
    let mut store = open(&scratch.store(), options());
    assert_eq!((served(&mut store), store.trouble()), (40, None));
    store.remove(&name(1, 0)).expect("nothing is in the way");
    store.seal().expect("nothing is in the way");
    store.maintain(u64::MAX).expect("nothing is in the way");
    assert_eq!(served(&mut open(&scratch.store(), options())), 39);
}

#[test]
fn files_of_another_user_are_reported_and_not_read() {
    let scratch = Scratch::new("owner");
    if !is_root(&scratch) {
        return skip("only root may give files to another user");
    }
    for kind in ["seg", "idx", "live"] {
        let directory = scratch.0.join(kind);
        fill(&directory);
        let mut given = files(&directory, kind);
        given.sort();
        chown(&given[0], Some(NOBODY), Some(NOBODY)).expect("root may");
        let mut store = open(&directory, options());
        if kind == "seg" {
            // Its snapshot is ours, so that it is found out when a value is read.
            set_rights(&given[0], 0o666);
            assert_eq!(version(&mut store, &name(1, 0), &mut Vec::new()), None);
            let trouble = store.trouble().expect("a segment is not read");
            assert!(trouble.contains("belongs to another user"), "{trouble}");
            std::fs::remove_file(given[0].with_extension("idx")).expect("it is there");
            let store = open(&directory, options());
            let trouble = store.trouble().expect("a segment is not read");
            assert!(!store.contains(&name(1, 0)) && trouble.contains("belongs to another user"), "{trouble}");
        } else {
            assert_eq!(served(&mut store), 40);
        }
        let _ = store.maintain(u64::MAX);
        assert!(kind != "live" || given[0].exists(), "a lock file of another user was taken");
    }
}

#[test]
fn directory_of_another_user_is_refused() {
    let scratch = Scratch::new("directory");
    if !is_root(&scratch) {
        return skip("only root may give a directory to another user");
    }
    fill(&scratch.store());
    chown(scratch.store(), Some(NOBODY), Some(NOBODY)).expect("root may");
    let Err(why) = Store::open(shared(OsIo), &scratch.store(), options()) else { panic!("it was opened") };
    assert_eq!(why.code(), Code::Io);
    assert!(why.sentence().ends_with("it belongs to another user: use one of this user or of root"), "{why}");
}

/// Runs as the user nobody, who did not write the bundle.
pub fn read_a_bundle(place: &Path) {
    let of_root = Bundle::of_file(&OsIo, &place.join("root")).expect("root's may be read");
    let mut store = Store::open_bundle(of_root, options()).expect("it is whole");
    assert_eq!(version(&mut store, &name(1, 1), &mut Vec::new()), Some(1));
    let Err(why) = Bundle::of_file(&OsIo, &place.join("other")) else { panic!("it was read") };
    assert!(why.sentence().contains("belongs to another user"), "{why}");
    println!("@ root's alone was read");
}

#[test]
fn bundle_may_belong_to_root_and_to_no_other_user() {
    let scratch = Scratch::new("bundle-owner");
    if !is_root(&scratch) {
        return skip("only root may give a bundle to another user");
    }
    set_rights(&scratch.0, 0o755);
    for name in ["root", "other"] {
        write_bundle(&scratch.0.join(name));
        set_rights(&scratch.0.join(name), 0o644);
    }
    chown(scratch.0.join("other"), Some(NOBODY - 1), None).expect("root may");
    let output = output_as_nobody("reader", &scratch.0, &scratch);
    let printed = String::from_utf8_lossy(&output.stdout);
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && printed.contains("@ root's alone was read"), "{printed}{complaint}");
}
