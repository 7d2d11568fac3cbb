//! The store with real processes on real file systems. This test program runs itself as child processes, which write,
//! read, and are killed.

mod evictions;
mod hostile;
mod intruders;
mod kills;
mod locks;
mod peers;
mod rights;

use std::ffi::OsStr;
use std::fs::Permissions;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use super::Random;
use crate::store::io::OsIo;
use crate::store::tests::shared;
use crate::store::{Name, Options, Store};

/// The number of a user who owns nothing.
const NOBODY: u32 = 65534;

/// A temporary directory that drop removes. It is in the directory `HOB_STORE_PLACE` if that is set.
pub struct Scratch(PathBuf);

impl Scratch {
    pub fn new(name: &str) -> Self {
        let place = std::env::var_os("HOB_STORE_PLACE").unwrap_or_else(|| std::env::temp_dir().into_os_string());
        let path = Path::new(&place).join(format!("hobgoblin-store-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).expect("the directory can be created");
        Self(path)
    }

    /// The store's directory, which does not exist yet.
    pub fn store(&self) -> PathBuf {
        self.0.join("store")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Whether this program runs as root, who may do what others may not.
pub fn is_root(scratch: &Scratch) -> bool {
    std::fs::metadata(&scratch.0).expect("it was created").uid() == 0
}

/// The command that runs this program as a child of the given kind.
pub fn child(what: &str, directory: &Path) -> Command {
    child_of(&std::env::current_exe().expect("this program has a path"), what, directory)
}

/// The output of such a child that runs as the user nobody. It is a copy of this program, because nobody may not enter
/// every directory. Only root can call this.
pub fn output_as_nobody(what: &str, directory: &Path, scratch: &Scratch) -> Output {
    let (here, copy) = (std::env::current_exe().expect("this program has a path"), scratch.0.join("program"));
    // In a process of its own: a file that a child of another test holds open for writing cannot be run.
    assert!(Command::new("cp").args([&here, &copy]).status().expect("cp is installed").success());
    for path in [&scratch.0, &copy] {
        std::fs::set_permissions(path, Permissions::from_mode(0o755)).expect("it is ours");
    }
    let mut command = child_of(&copy, what, directory);
    command.current_dir(&scratch.0).uid(NOBODY).gid(NOBODY);
    command.output().expect("nobody can run programs of the temporary directory")
}

fn child_of(program: &Path, what: &str, directory: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .args(["--exact", "store::tests::processes::child_process_entry", "--nocapture"])
        .env("HOB_CHILD", what)
        .env("HOB_DIRECTORY", directory);
    command.stdout(Stdio::piped());
    command
}

/// A child process that drop kills.
pub struct Running(pub Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The body of a child process. In the test program itself it does nothing.
#[test]
fn child_process_entry() {
    let Some(what) = std::env::var_os("HOB_CHILD") else { return };
    let directory = PathBuf::from(std::env::var_os("HOB_DIRECTORY").expect("it was given"));
    // Ends the line that the test runner has begun.
    println!();
    match what.to_str() {
        Some("writer") => kills::write_for_ever(&directory),
        Some("filler") => evictions::fill_for_ever(&directory),
        Some("peer") => peers::write_and_read(&directory),
        Some("hostile") => hostile::use_a_hostile_directory(&directory),
        Some("bomb") => hostile::read_a_bomb(&directory),
        Some("reader") => rights::read_a_bundle(&directory),
        Some("stranger") => hostile::read_without_rights(&directory),
        _ => panic!("unknown command for the child process"),
    }
}

/// A number from an environment variable, for a child or for the tests.
pub fn number_in(variable: &str) -> Option<u64> {
    std::env::var(variable)
        .ok()
        .map(|word| word.parse().unwrap_or_else(|_| panic!("{variable} is not a number: {word}")))
}

pub fn now() -> u64 {
    1_700_000_000
}

pub fn open(directory: &Path, options: Options) -> Store {
    Store::open(shared(OsIo), directory, options).unwrap_or_else(|why| panic!("opening was refused: {why}"))
}

pub fn name(environment: u64, number: u32) -> Name {
    let mut key = [0x5a; 32];
    key[..4].copy_from_slice(&number.to_le_bytes());
    Name { kind: 1, environment, key }
}

/// The value of a name in a version. The version can be read from it.
pub fn value(name: &Name, version: u32) -> Vec<u8> {
    let mut bytes = [&version.to_le_bytes()[..], &name.key[..4], &name.environment.to_le_bytes()].concat();
    let mut random = Random(u64::from(version) << 32 ^ u64::from(name.key[0]) ^ name.environment);
    let length = if random.below(40) == 0 { 9000 } else { random.below(1200) };
    let compresses = random.below(2) == 0;
    let noise = |_| if compresses { b'a' + version as u8 % 16 } else { random.next() as u8 };
    bytes.extend((0..length).map(noise));
    bytes
}

/// The version of the value that the store returns for a name. Every byte must be right.
pub fn version(store: &mut Store, name: &Name, bytes: &mut Vec<u8>) -> Option<u32> {
    store.get(name, bytes).unwrap_or_else(|why| panic!("{name:?} cannot be read: {why}"))?;
    let version = bytes.first_chunk().map(|version| u32::from_le_bytes(*version)).expect("a version");
    assert_eq!(*bytes, value(name, version), "a wrong value of {name:?}");
    Some(version)
}

/// Files of the directory with that extension. The extension is everything after the first dot.
pub fn files(directory: &Path, extension: &str) -> Vec<PathBuf> {
    let Ok(listing) = std::fs::read_dir(directory) else { return Vec::new() };
    let paths = listing.map(|entry| entry.expect("listable").path());
    let has_it = |path: &PathBuf| {
        let name = path.file_name().and_then(OsStr::to_str).unwrap_or("");
        name.split_once('.').is_some_and(|(_, rest)| rest == extension)
    };
    paths.filter(has_it).collect()
}
