//! Directories with errors or without space, on real file systems.

use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::base::Code;
use crate::store::{Bundle, BundleWriter, Compression, Options, Store};
use crate::testing::skip;

use super::*;

/// The user and group `nobody`, without write permission anywhere.
const NOBODY: u32 = 65534;

fn options() -> Options {
    Options { segment_limit: 20_000, ..Options::new(now) }
}

/// Puts values until one is refused for lack of space. Returns how many were stored.
fn fill(store: &mut Store, first: u32) -> u32 {
    for number in first..first + 10_000 {
        let name = name(1, number);
        match store.put(&name, 1, &value(&name, 1)) {
            Ok(stored) => assert!(stored),
            Err(why) => {
                assert_eq!(why.code(), Code::Io);
                assert!(store.trouble().is_some_and(|trouble| trouble.starts_with("values are not kept")), "{why}");
                return number;
            }
        }
    }
    panic!("there is room for everything");
}

fn has_all(store: &mut Store, count: u32) {
    (0..count).for_each(|number| assert_eq!(version(store, &name(1, number), &mut Vec::new()), Some(1), "{number}"));
}

/// A separate file system for some files. It needs root on Linux.
struct Mounted<'a>(&'a Path);

impl<'a> Mounted<'a> {
    fn small(place: &'a Path) -> Option<Self> {
        std::fs::create_dir_all(place).expect("the directory can be created");
        let mut command = Command::new("mount");
        command.args(["-t", "tmpfs", "-o", "size=256k", "hobgoblin-test"]).arg(place);
        let mounted = command.stderr(Stdio::null()).status().is_ok_and(|status| status.success());
        mounted.then_some(Self(place))
    }
}

impl Drop for Mounted<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0).status();
    }
}

#[test]
fn full_file_system_loses_nothing_and_recovers_with_space() {
    let scratch = Scratch::new("full");
    let Some(_mounted) = Mounted::small(&scratch.0) else {
        return skip("this user may not mount a small file system");
    };
    std::fs::write(scratch.0.join("ballast"), [1; 80_000]).expect("there is room");
    let mut store = open(&scratch.store(), options());
    let mut count = fill(&mut store, 0);
    assert!(store.trouble().is_some_and(|trouble| trouble.contains("free some space")), "{:?}", store.trouble());
    assert!(count > 50, "{count}");
    for _ in 0..3 {
        // Without free space, stored values persist, and neither sealing nor maintenance breaks anything.
        let _ = store.seal();
        let _ = store.maintain(u64::MAX);
        has_all(&mut store, count);
        count = fill(&mut store, count);
        store = open(&scratch.store(), options());
        has_all(&mut store, count);
        assert_eq!(store.statistics().damaged, 0);
    }
    // A lower limit frees space, but the log needs some space even for the record of a removal.
    let limit_bytes = store.statistics().live_bytes / 2;
    // An open file keeps its space after it is unlinked.
    drop(store);
    let mut store = open(&scratch.store(), Options { limit_bytes, ..options() });
    std::fs::remove_file(scratch.0.join("ballast")).expect("it is there");
    while store.maintain(10_000).expect("there is room to copy some").more {}
    let kept: Vec<_> = (0..count).filter(|&number| store.contains(&name(1, number))).collect();
    assert!(store.statistics().live_bytes <= limit_bytes, "{:?}", store.statistics());
    let new = name(1, count);
    assert!(store.put(&new, 1, &value(&new, 1)).expect("there is room again"));
    assert_eq!(store.trouble(), None);
    for mut store in [store, open(&scratch.store(), options())] {
        let mut bytes = Vec::new();
        kept.iter().for_each(|&number| assert_eq!(version(&mut store, &name(1, number), &mut bytes), Some(1)));
        assert_eq!(version(&mut store, &new, &mut bytes), Some(1));
    }
}

/// Runs as a user who may read the directory but not write to it.
pub fn read_without_rights(directory: &Path) {
    let mut store = open(directory, options());
    has_all(&mut store, 10);
    let new = name(1, 10);
    let why = store.put(&new, 1, &value(&new, 1)).expect_err("nothing may be written here");
    assert!(why.sentence().contains("allow this user to write there"), "{why}");
    assert!(store.trouble().is_some_and(|trouble| trouble.starts_with("values are not kept")));
    assert!(store.remove(&name(1, 1)).is_err() && store.clear(None).is_err() && store.maintain(u64::MAX).is_err());
    store.refresh().expect("it can be read");
    has_all(&mut store, 10);
    println!("@ all was read");
}

#[test]
fn directory_of_another_user_is_read_but_not_written() {
    let scratch = Scratch::new("denied");
    let mut store = open(&scratch.store(), options());
    (0..10).for_each(|number| {
        let name = name(1, number);
        assert!(store.put(&name, 1, &value(&name, 1)).expect("nothing is in the way"));
    });
    drop(store);
    let may_write = |mode| {
        let rights = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(scratch.store(), rights).expect("the directory is ours");
    };
    may_write(0o555);
    let before = files(&scratch.store(), "seg");
    let mut command = child("stranger", &scratch.store());
    // Root can write everywhere.
    let is_root = std::fs::metadata("/proc/self").is_ok_and(|me| std::os::unix::fs::MetadataExt::uid(&me) == 0);
    if is_root {
        command.uid(NOBODY).gid(NOBODY);
    }
    match command.output() {
        Ok(output) => {
            let printed = String::from_utf8_lossy(&output.stdout);
            let complaint = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success() && printed.contains("@ all was read"), "{printed}{complaint}");
        }
        Err(why) => skip(&format!("the user nobody cannot run this program: {why}")),
    }
    assert_eq!(files(&scratch.store(), "seg"), before);
    assert_eq!(files(&scratch.store(), "live").len(), 1);
    may_write(0o755);
}

#[test]
fn file_in_place_of_the_directory_is_unchanged() {
    let scratch = Scratch::new("file");
    std::fs::write(scratch.store(), b"mine").expect("it can be written");
    for path in [scratch.store(), scratch.store().join("deeper")] {
        let opened = Store::open(Arc::new(OsIo), &path, options());
        let Err(why) = opened else { panic!("{path:?} was opened") };
        assert_eq!(why.code(), Code::Io);
        assert!(why.sentence().contains("give a directory, not a file"), "{why}");
    }
    assert_eq!(std::fs::read(scratch.store()).ok().as_deref(), Some(&b"mine"[..]));
}

#[test]
fn path_can_be_any_bytes() {
    let scratch = Scratch::new("bytes");
    let path = scratch.0.join(OsStr::from_bytes(b"caf\xe9 \xff")).join("two deep");
    let name = name(1, 1);
    assert!(open(&path, options()).put(&name, 1, &value(&name, 7)).expect("the file is created"));
    assert_eq!(version(&mut open(&path, options()), &name, &mut Vec::new()), Some(7));
}

#[test]
fn segments_of_a_newer_version_are_unchanged_and_reported() {
    let scratch = Scratch::new("newer");
    let name = name(1, 1);
    let put = |version| {
        let mut store = open(&scratch.store(), options());
        assert!(store.put(&name, 1, &value(&name, version)).expect("nothing is in the way"));
        store.seal().expect("nothing is in the way");
    };
    put(1);
    let [old] = &files(&scratch.store(), "seg")[..] else { panic!("one segment") };
    let mut newer = std::fs::read(old).expect("it is there");
    for head in newer[..64].chunks_exact_mut(32) {
        head[8] = 2;
        let check = twox_hash::XxHash3_64::oneshot(&head[..28]) as u32;
        head[28..].copy_from_slice(&check.to_le_bytes());
    }
    // A newer library would not write a snapshot that this one can read either.
    std::fs::remove_file(old.with_extension("idx")).expect("it is there");
    std::fs::write(old, &newer).expect("it can be written");
    put(2);
    let mut store = open(&scratch.store(), options());
    assert!(store.trouble().is_some_and(|trouble| trouble.contains("format 2")), "{:?}", store.trouble());
    assert_eq!(version(&mut store, &name, &mut Vec::new()), Some(2));
    store.clear(None).expect("nothing is in the way");
    store.maintain(u64::MAX).expect("nothing is in the way");
    assert_eq!(std::fs::read(old).expect("it is there"), newer);
}

/// Entries that another program may put in place of a file, with the commands that make them.
const IMPOSTORS: [(&str, &[&str]); 4] = [
    ("a FIFO", &["mkfifo"]),
    ("a directory", &["mkdir"]),
    ("a link to a device", &["ln", "-s", "/dev/zero"]),
    ("a link to nothing", &["ln", "-s", "missing"]),
];

/// Puts an impostor in place of a file.
fn replace(path: &Path, command: &[&str]) {
    let _ = std::fs::remove_file(path);
    let made = Command::new(command[0]).args(&command[1..]).arg(path).status();
    assert!(made.is_ok_and(|status| status.success()), "{command:?} {}", path.display());
}

/// Runs `work` on a thread, and fails if it takes a minute: opening a FIFO could wait for ever.
fn in_time<T: Send + 'static>(what: String, work: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = std::sync::mpsc::channel();
    let thread = std::thread::spawn(move || sender.send(work()));
    let result = receiver.recv_timeout(Duration::from_secs(60));
    if let Err(std::sync::mpsc::RecvTimeoutError::Timeout) = result {
        panic!("{what}: a call waits");
    }
    let _ = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    result.expect("the thread has sent its result")
}

/// Drives a store through every operation that opens files, and returns its messages. Each value that it returns must be
/// right.
fn use_store(directory: &Path) -> Vec<String> {
    let mut store = match Store::open(Arc::new(OsIo), directory, options()) {
        Ok(store) => store,
        Err(why) => return vec![why.sentence().to_owned()],
    };
    let mut messages: Vec<String> = store.trouble().map(str::to_owned).into_iter().collect();
    messages.extend(store.refresh().err().map(|why| why.sentence().to_owned()));
    let mut bytes = Vec::new();
    for number in 0..20 {
        match store.get(&name(1, number), &mut bytes) {
            Ok(Some(_)) => assert_eq!(bytes, value(&name(1, number), 1)),
            Ok(None) => {}
            Err(why) => messages.push(why.sentence().to_owned()),
        }
        let _ = store.put(&name(2, number), 1, &value(&name(2, number), 2));
    }
    let _ = (store.remove(&name(1, 3)), store.seal(), store.maintain(u64::MAX), store.clear(None));
    messages
}

#[test]
fn impostors_in_place_of_files_are_reported_and_cause_no_wait() {
    let scratch = Scratch::new("impostors");
    for (what, command) in IMPOSTORS {
        for kind in ["seg", "idx", "idx.new", "live", "lock"] {
            let directory = scratch.0.join(kind);
            let mut store = open(&directory, options());
            for number in 0..20 {
                assert!(store.put(&name(1, number), 1, &value(&name(1, number), 1)).expect("nothing is in the way"));
            }
            store.seal().expect("nothing is in the way");
            assert!(store.put(&name(1, 20), 1, &value(&name(1, 20), 1)).expect("nothing is in the way"));
            drop(store);
            let path = files(&directory, kind).pop();
            let path = path.unwrap_or_else(|| directory.join(format!("{:016x}.{kind}", 1_700_000_000_u64 << 32)));
            replace(&path, command);
            let used = directory.clone();
            let messages = in_time(format!("{what} as {kind}"), move || use_store(&used));
            if kind == "seg" {
                let is_named = messages.iter().any(|text| text.contains("not a regular file"));
                assert!(is_named, "{what}: {messages:?}");
            }
            std::fs::remove_dir_all(directory).expect("it can be removed");
        }
    }
}

#[test]
fn bundle_is_a_regular_file_or_a_link_to_one() {
    let scratch = Scratch::new("bundles");
    let bundle = scratch.0.join("bundle");
    let write = |path: &Path| {
        let mut writer = BundleWriter::create(Arc::new(OsIo), path, Compression::None)?;
        writer.put(&name(1, 1), 1, &value(&name(1, 1), 1))?;
        writer.finish()
    };
    write(&bundle).expect("nothing is in the way");
    let link = scratch.0.join("link");
    std::os::unix::fs::symlink(&bundle, &link).expect("a link can be made");
    assert!(Bundle::of_file(&OsIo, &link).is_ok());
    for (what, command) in &IMPOSTORS[..2] {
        let path = scratch.0.join("impostor");
        replace(&path, command);
        let read = path.clone();
        let read = in_time(format!("reading {what}"), move || Bundle::of_file(&OsIo, &read).map(drop));
        assert!(read.is_err_and(|why| why.sentence().contains("not a regular file")), "{what}");
        assert!(write(&path).is_err_and(|why| why.sentence().contains("not a regular file")), "{what}");
        assert!(!std::fs::symlink_metadata(&path).expect("it is still there").is_file(), "{what} was replaced");
        let _ = (std::fs::remove_file(&path), std::fs::remove_dir(&path));
    }
}
