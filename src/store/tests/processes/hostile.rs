//! Directories with errors or without space, on real file systems.

use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::base::Code;
use crate::store::{Bundle, BundleWriter, Compression, Options, Store};
use crate::testing::skip;

use super::*;

fn options() -> Options {
    Options { segment_limit: 20_000, ..Options::new(now) }
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
fn full_file_system_evicts_for_new_values_and_is_used_again_with_space() {
    let scratch = Scratch::new("full");
    let Some(_mounted) = Mounted::small(&scratch.0) else {
        return skip("this user may not mount a small file system");
    };
    std::fs::write(scratch.0.join("ballast"), [1; 80_000]).expect("there is room");
    // The mean number of values that are there during a thousand puts.
    let fill = |first: u32| {
        let mut store = open(&scratch.store(), options());
        let (mut bytes, mut values) = (Vec::new(), 0);
        for number in first..first + 1000 {
            let name = name(1, number);
            assert!(store.put(&name, 1, &value(&name, 1)).expect("others go for it"));
            assert_eq!(version(&mut store, &name, &mut bytes), Some(1), "{number}");
            values += store.statistics().values;
        }
        let _ = store.seal();
        let _ = store.maintain(u64::MAX);
        assert_eq!((store.trouble(), store.statistics().damaged), (None, 0));
        let mut store = open(&scratch.store(), options());
        let there = store.statistics().values as usize;
        let is_there = |&number: &u32| version(&mut store, &name(1, number), &mut bytes).is_some();
        assert_eq!((0..first + 1000).filter(is_there).count(), there);
        values / 1000
    };
    for round in 0..3 {
        let count = fill(round * 1000);
        assert!(count > 100, "{count}");
    }
    let before = fill(3000);
    std::fs::remove_file(scratch.0.join("ballast")).expect("it is there");
    let after = fill(4000);
    assert!(after > before, "{after} after {before}");
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
fn directory_of_root_is_read_but_not_written() {
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
    // Root prepared the directory for all users.
    for path in std::fs::read_dir(scratch.store()).expect("listable") {
        let path = path.expect("listable").path();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o644)).expect("the file is ours");
    }
    let before = files(&scratch.store(), "seg");
    // Root can write everywhere.
    let output = match is_root(&scratch) {
        true => output_as_nobody("stranger", &scratch.store(), &scratch),
        false => child("stranger", &scratch.store()).output().expect("this program can be run"),
    };
    let printed = String::from_utf8_lossy(&output.stdout);
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && printed.contains("@ all was read"), "{printed}{complaint}");
    assert_eq!(files(&scratch.store(), "seg"), before);
    assert_eq!(files(&scratch.store(), "live").len(), 1);
    may_write(0o755);
}

/// The descriptors of a store must not outlive it in programs that the host starts.
#[test]
fn programs_that_the_process_starts_inherit_no_files() {
    if !cfg!(target_os = "linux") {
        return skip("the files of a process are read from /proc");
    }
    let scratch = Scratch::new("inherited");
    let mut store = open(&scratch.store(), options());
    (0..40).for_each(|number| _ = store.put(&name(1, number), 1, &value(&name(1, number), 1)).expect("there is room"));
    store.seal().expect("nothing is in the way");
    assert!(store.put(&name(1, 50), 1, b"the segment and its lock are open").expect("there is room"));
    has_all(&mut store, 40);
    let files_of = |process: &str| {
        let output = Command::new("ls").args(["-l", &format!("/proc/{process}/fd")]).output().expect("ls is installed");
        String::from_utf8_lossy(&output.stdout).matches("/hobgoblin-store-inherited-").count()
    };
    assert!(files_of(&std::process::id().to_string()) >= 3);
    assert_eq!(files_of("self"), 0);
}

#[test]
fn file_in_place_of_the_directory_is_unchanged() {
    let scratch = Scratch::new("file");
    std::fs::write(scratch.store(), b"mine").expect("it can be written");
    for path in [scratch.store(), scratch.store().join("deeper")] {
        let opened = Store::open(shared(OsIo), &path, options());
        let Err(why) = opened else { panic!("{path:?} was opened") };
        assert_eq!(why.code(), Code::Io);
        assert!(why.sentence().contains("give a directory, not a file"), "{why}");
    }
    assert_eq!(std::fs::read(scratch.store()).ok().as_deref(), Some(&b"mine"[..]));
    replace(&scratch.store(), &["mkfifo"]);
    let path = scratch.store();
    let why = in_time("a FIFO as the directory".to_owned(), move || Store::open(shared(OsIo), &path, options()).err());
    assert!(why.is_some_and(|why| why.sentence().contains("give a directory, not a file")));
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
    assert!(store.foreign().is_some_and(|foreign| foreign.contains("format 2")), "{:?}", store.foreign());
    assert_eq!(version(&mut store, &name, &mut Vec::new()), Some(2));
    store.clear(None).expect("nothing is in the way");
    store.maintain(u64::MAX).expect("nothing is in the way");
    assert_eq!(std::fs::read(old).expect("it is there"), newer);
}

/// A segment of 15.7 MB with a value of 3.9 GB: LZ4 of zeros. All checksums are right.
fn bomb(id: u64) -> Vec<u8> {
    use crate::store::format::{Checks, FORMAT, Form, Header, encode_heads};
    const LENGTH: usize = 15_400_000;
    // One literal and a match of that zero, whose length each further byte of 255 extends. Then five literals.
    let mut payload = vec![255; LENGTH];
    payload[..4].copy_from_slice(&[0x1f, 0, 1, 0]);
    payload.extend_from_slice(&[0, 0x50, 0, 0, 0, 0, 0]);
    let raw = 1 + 4 + 15 + 255 * (LENGTH - 4) + 5;
    let checks = Checks::new(None);
    let header = Header::new(&name(1, 1), Form::Lz4, 5 << 32, &payload, &checks);
    let header = Header { raw: u32::try_from(raw).expect("it fits"), ..header };
    [&encode_heads(id, 1, FORMAT)[..], &header.encode(&checks, 1, 64), &payload].concat()
}

/// Runs with little memory.
pub fn read_a_bomb(directory: &Path) {
    for entry_limit in [1 << 20, Options::new(now).entry_limit] {
        let mut store = open(directory, Options { entry_limit, ..options() });
        let mut bytes = Vec::new();
        assert!(store.get(&name(1, 1), &mut bytes).expect("it can be read").is_none());
        assert!(version(&mut store, &name(2, 1), &mut bytes).is_some());
        store.maintain(u64::MAX).expect("nothing is in the way");
    }
    println!("@ it was refused");
}

#[test]
fn decompression_bomb_is_refused_with_little_memory() {
    let scratch = Scratch::new("bomb");
    let name = name(2, 1);
    assert!(open(&scratch.store(), options()).put(&name, 1, &value(&name, 1)).expect("the file is created"));
    std::fs::write(scratch.store().join("0000000500000000.seg"), bomb(5 << 32)).expect("it can be written");
    let child = child("bomb", &scratch.store());
    let mut command = Command::new("sh");
    // 256 MiB of addresses; the bomb alone would take 3.7 GiB.
    command.args(["-c", "ulimit -v 262144 && exec \"$0\" \"$@\""]).arg(child.get_program()).args(child.get_args());
    command.envs(child.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = command.output().expect("there is a shell");
    let printed = String::from_utf8_lossy(&output.stdout);
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && printed.contains("@ it was refused"), "{printed}{complaint}");
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
fn use_store(directory: &Path, options: Options) -> Vec<String> {
    let mut store = match Store::open(shared(OsIo), directory, options) {
        Ok(store) => store,
        Err(why) => return vec![why.sentence().to_owned()],
    };
    let mut messages: Vec<String> = store.trouble().map(str::to_owned).into_iter().collect();
    messages.extend(store.refresh().err().map(|why| why.sentence().to_owned()));
    let mut bytes = Vec::new();
    for number in 0..20 {
        match store.get(&name(1, number), &mut bytes) {
            Ok(Some(_)) => assert_eq!(bytes, value(&name(1, number), 1)),
            Ok(None) => messages.extend(store.trouble().map(str::to_owned)),
            Err(why) => messages.push(why.sentence().to_owned()),
        }
        let _ = store.put(&name(2, number), 1, &value(&name(2, number), 2));
    }
    let _ = (store.remove(&name(1, 3)), store.seal(), store.maintain(u64::MAX), store.clear(None));
    messages
}

#[test]
fn only_an_empty_file_clears_a_directory() {
    let scratch = Scratch::new("clearings");
    let full: (&str, &[&str]) = ("a file with bytes", &["cp", "/proc/self/status"]);
    for (what, command) in IMPOSTORS.into_iter().chain([full]) {
        let mut store = open(&scratch.0, options());
        for number in 0..20 {
            assert!(store.put(&name(1, number), 1, &value(&name(1, number), 1)).expect("nothing is in the way"));
        }
        drop(store);
        replace(&scratch.0.join("ffffffffffffffff.clear"), command);
        let store = in_time(what.to_owned(), {
            let directory = scratch.0.clone();
            move || open(&directory, options())
        });
        assert_eq!(store.statistics().values, 20, "{what}");
        assert!(store.trouble().is_some_and(|text| text.contains("ffffffffffffffff.clear")), "{what}");
        drop(store);
        std::fs::remove_dir_all(&scratch.0).expect("it can be removed");
    }
    let mut store = open(&scratch.0, options());
    assert!(store.put(&name(1, 1), 1, &value(&name(1, 1), 1)).expect("nothing is in the way"));
    drop(store);
    std::fs::write(scratch.0.join("ffffffffffffffff.clear"), b"").expect("nothing is in the way");
    assert_eq!(open(&scratch.0, options()).statistics().values, 0);
}

#[test]
fn impostors_in_place_of_files_are_reported_and_cause_no_wait() {
    let scratch = Scratch::new("impostors");
    for (what, command) in IMPOSTORS {
        for kind in ["seg", "idx", "idx.new", "live", "lock", "pack", "pack.new"] {
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
            let messages = in_time(format!("{what} as {kind}"), move || use_store(&used, options()));
            if kind == "seg" {
                let is_named = messages.iter().any(|text| text.contains("not a regular file"));
                assert!(is_named, "{what}: {messages:?}");
            }
            std::fs::remove_dir_all(directory).expect("it can be removed");
        }
    }
}

/// Longest value that the reader of a hostile directory accepts.
const ENTRY: u32 = 1 << 20;

/// The most memory that this process has used so far, in KiB.
fn most_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux has it");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("Linux has it");
    line.trim().trim_end_matches(" kB").parse().expect("a number")
}

/// Uses a directory in every way, and prints by how much its memory grew.
pub fn use_a_hostile_directory(directory: &Path) {
    let before = most_memory();
    let options = Options { entry_limit: ENTRY, ..options() };
    let _ = use_store(directory, options);
    let mut store = open(directory, options);
    while store.maintain(1 << 20).is_ok_and(|done| done.more) {}
    while store.clear_all().is_ok_and(|done| done.more) {}
    println!("@ {}", most_memory() - before);
}

/// Puts a hostile file into a directory: a name of the library with contents that are chosen to cost time or memory.
fn add_hostile_file(directory: &Path, random: &mut Random, number: u64) {
    let id = (1_700_000_000 << 32) + number;
    let kind = ["seg", "idx", "idx.new", "live", "clear", "pack"][random.below(6) as usize];
    let path = directory.join(match random.below(12) {
        0 => "limits".to_owned(),
        1 => "maintain.lock".to_owned(),
        _ => format!("{id:016x}.{kind}"),
    });
    match random.below(6) {
        0 => replace(&path, IMPOSTORS[random.below(4) as usize].1),
        1 => std::fs::write(directory.join(format!("{id:016x}.seg")), bomb(id)).expect("it can be written"),
        2 => {
            let _ = std::fs::remove_file(&path);
            let file = std::fs::File::create(&path).expect("it can be created");
            file.set_len(30_000_000_000).expect("a sparse file");
        }
        3 => {
            let length = random.below(300_000) as usize;
            let _ = std::fs::remove_file(&path);
            std::fs::write(&path, random.bytes(length)).expect("it can be written");
        }
        // A file of the library with another name, or with claims of greater numbers.
        _ => {
            let whole = files(directory, "idx").into_iter().chain(files(directory, "seg"));
            let whole: Vec<_> = whole.filter(|path| path.metadata().is_ok_and(|found| found.len() < 1 << 20)).collect();
            let Some(source) = whole.get(random.below(whole.len().max(1) as u64) as usize) else { return };
            if !std::fs::symlink_metadata(source).is_ok_and(|found| found.is_file()) {
                return;
            }
            let mut bytes = std::fs::read(source).expect("it can be read");
            if !bytes.is_empty() {
                let place = random.below(bytes.len() as u64) as usize;
                bytes[place..].iter_mut().take(4).for_each(|byte| *byte = 255);
            }
            let _ = std::fs::remove_file(&path);
            std::fs::write(&path, bytes).expect("it can be written");
        }
    }
}

#[test]
fn hostile_directories_cost_little_time_and_memory() {
    if !cfg!(target_os = "linux") {
        return skip("the memory of a process is read from /proc");
    }
    let mut most = 0;
    for seed in 0..u64::from(crate::testing::scaled(6)) {
        let scratch = Scratch::new(&format!("hostile-{seed}"));
        let mut random = Random(seed);
        let mut store = open(&scratch.store(), options());
        for number in 0..40 {
            assert!(store.put(&name(1, number), 1, &value(&name(1, number), 1)).expect("nothing is in the way"));
            if number % 9 == 0 {
                store.seal().expect("nothing is in the way");
            }
        }
        drop(store);
        (0..20).for_each(|number| add_hostile_file(&scratch.store(), &mut random, number));
        let mut running = child("hostile", &scratch.store());
        let output = in_time(format!("seed {seed}"), move || running.output().expect("a child can be started"));
        let printed = String::from_utf8_lossy(&output.stdout);
        let growth = printed.lines().find_map(|line| line.strip_prefix("@ ")?.parse::<u64>().ok());
        let growth = growth.unwrap_or_else(|| panic!("seed {seed}: {printed}"));
        assert!(growth < 16 << 10, "seed {seed}: {growth} KiB");
        most = most.max(growth);
    }
    println!("at most {most} KiB, for values of up to {} KiB", ENTRY >> 10);
}

#[test]
fn bundle_is_a_regular_file_or_a_link_to_one() {
    let scratch = Scratch::new("bundles");
    let bundle = scratch.0.join("bundle");
    let write = |path: &Path| {
        let mut writer = BundleWriter::create(shared(OsIo), path, Compression::None)?;
        writer.put(&name(1, 1), 1, &value(&name(1, 1), 1))?;
        writer.finish()
    };
    write(&bundle).expect("nothing is in the way");
    let link = scratch.0.join("link");
    std::os::unix::fs::symlink(&bundle, &link).expect("a link can be made");
    assert!(Bundle::of_file(&OsIo, &link).is_ok());
    let device = Bundle::of_file(&OsIo, Path::new("/dev/zero"));
    assert!(device.is_err_and(|why| why.sentence().contains("not a regular file")));
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
