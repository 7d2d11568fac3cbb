//! A merge in a process of its own, with limited memory.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use hobgoblin::pipeline::Identity;
use hobgoblin::pipeline::build::{Build, BuildOptions, BuildReport};
use hobgoblin::pipeline::keys::{KeyMap, Wanted};
use hobgoblin::pipeline::recording::Recording;
use hobgoblin::pipeline::stable::{Expanded, Expansion, StableFile};
use hobgoblin::store::io::{OsIo, SharedIo, share};

use crate::floor::files;

/// Results of a worker, in the order in which it prints them.
pub struct Work {
    /// Seconds of loading the key map.
    pub keys: f64,
    /// Seconds of everything.
    pub all: f64,
    /// The lines that it printed after the times.
    pub log: String,
}

/// Runs a role in another process with at most `mebibytes` of address space.
pub fn limited(role: &str, directory: &Path, mebibytes: u64) -> Work {
    let program = std::env::current_exe().expect("it runs");
    let script = format!("ulimit -v {} && exec \"$0\" \"$1\" \"$2\"", mebibytes << 10);
    let done = Command::new("sh").args(["-c", &script]).arg(program).arg(role).arg(directory).output();
    let done = done.expect("there is a shell");
    assert!(done.status.success(), "{role} within {mebibytes} MiB: {}", String::from_utf8_lossy(&done.stderr));
    let text = String::from_utf8(done.stdout).expect("it prints text");
    let (times, log) = text.split_once('\n').expect("it prints times first");
    let (keys, all) = times.split_once(' ').expect("two times");
    let seconds = |text: &str| text.parse().expect("a number");
    Work { keys: seconds(keys), all: seconds(all), log: log.to_owned() }
}

/// The game of both sets.
pub fn identity() -> Identity {
    Identity::new("bench", "PCD3D_SM5", 3).expect("valid names")
}

pub fn io() -> SharedIo {
    share(OsIo).expect("there is memory")
}

/// The recordings of a directory as a stable file, and the seconds of loading the keys.
pub fn expand(directory: &Path, out: &Path) -> (Expanded, f64) {
    let mut expansion: Option<Expansion> = None;
    for path in files(directory, &[".rec.hobpipe"]) {
        let recording = Recording::open(&io(), &path).expect("it was written");
        let expansion = expansion.get_or_insert_with(|| Expansion::like(&recording).expect("there is memory"));
        assert!(expansion.add(&recording).expect("it fits"));
    }
    let expansion = expansion.expect("there are recordings");
    let (keys, seconds) = wanted(directory, &expansion.wanted().expect("there is memory"));
    (expansion.finish(&keys, &io(), out).expect("it can be written"), seconds)
}

fn build(directory: &Path) -> (BuildReport, f64) {
    let options = BuildOptions { combinations: 1024, ..BuildOptions::default() };
    let open = |path: PathBuf| StableFile::open(&io(), &path).expect("it was written");
    let stable: Vec<StableFile> = files(directory, &[".hobstable"]).into_iter().map(open).collect();
    let mut needed = options.wanted();
    stable.iter().for_each(|file| Build::want(file, &mut needed).expect("there is memory"));
    let (keys, seconds) = wanted(directory, &needed);
    let mut build = Build::new(&identity(), "2", &keys, options).expect("valid options");
    stable.iter().for_each(|file| assert!(build.add(file).expect("it fits")));
    (build.finish(&io(), &directory.join("out.stable.hobpipe")).expect("it can be written"), seconds)
}

fn wanted(directory: &Path, wanted: &Wanted) -> (KeyMap, f64) {
    let start = Instant::now();
    let keys = KeyMap::load_wanted(&io(), &files(directory, &[".hobkeys"]), wanted).expect("they were written");
    (keys, start.elapsed().as_secs_f64())
}

/// A worker: prints its times, then its result.
pub fn run(role: &str, directory: &Path) {
    let start = Instant::now();
    let (log, keys) = match role {
        "expand" => {
            let (expanded, keys) = expand(directory, &directory.join("out.hobstable"));
            let Expanded { recordings, pipelines, stable, .. } = expanded;
            (format!("{recordings} recordings, {pipelines} pipelines, {stable} stable pipelines\n"), keys)
        }
        "build" => {
            let (report, keys) = build(directory);
            (report.log().expect("there is memory"), keys)
        }
        role => panic!("unknown role '{role}'"),
    };
    println!("{keys} {}\n{log}{}", start.elapsed().as_secs_f64(), peak());
}

/// The peak of the address space, as Linux says it.
fn peak() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status.lines().find(|line| line.starts_with("VmPeak")).unwrap_or_default().to_owned()
}
