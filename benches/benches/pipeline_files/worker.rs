//! A merge in a process of its own, with limited memory.

use std::path::{Path, PathBuf};
use std::process::Command;

use hobgoblin::pipeline::build::{Build, BuildOptions, BuildReport};
use hobgoblin::pipeline::keys::{KeyMap, Wanted};
use hobgoblin::pipeline::recording::Recording;
use hobgoblin::pipeline::ship::MEMORY;
use hobgoblin::pipeline::stable::{Expanded, Expansion, StableFile};
use hobgoblin::pipeline::{Identity, Shipped};
use hobgoblin::store::io::{OsIo, SharedIo, share};

use crate::floor::{Seconds, Watch, files};

/// Results of a worker, in the order in which it prints them.
pub struct Work {
    /// Time of loading the key map.
    pub keys: Seconds,
    /// Time of everything.
    pub all: Seconds,
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
    let times: Vec<f64> = times.split(' ').map(|text| text.parse().expect("a number")).collect();
    let seconds = |at: usize| Seconds { clock: times[at], processor: times[at + 1] };
    Work { keys: seconds(0), all: seconds(2), log: log.to_owned() }
}

/// The game of both sets.
pub fn identity() -> Identity {
    Identity::new("bench", "PCD3D_SM5", 3).expect("valid names")
}

pub fn io() -> SharedIo {
    share(OsIo).expect("there is memory")
}

/// The recordings of a directory as a stable file, and the time of loading the keys.
pub fn expand(directory: &Path, out: &Path) -> (Expanded, Seconds) {
    let mut expansion: Option<Expansion> = None;
    for path in files(directory, &[".rec.hobpipe"]) {
        let recording = Recording::open(&io(), &path).expect("it was written");
        let expansion = expansion.get_or_insert_with(|| {
            let mut begun = Expansion::like(&recording).expect("there is memory");
            begun.spill_beside(&io(), out, MEMORY).expect("there is memory");
            begun
        });
        assert!(expansion.add(&recording).expect("it fits"));
    }
    let mut expansion = expansion.expect("there are recordings");
    let (keys, seconds) = wanted(directory, expansion.take_wanted().expect("there is memory"));
    (expansion.finish(&keys, &io(), out).expect("it can be written"), seconds)
}

fn build(directory: &Path) -> (BuildReport, Seconds) {
    let options = BuildOptions { combinations: 1024, ..BuildOptions::default() };
    let open = |path: PathBuf| StableFile::open(&io(), &path).expect("it was written");
    let stable: Vec<StableFile> = files(directory, &[".hobstable"]).into_iter().map(open).collect();
    let mut needed = options.wanted();
    stable.iter().for_each(|file| Build::want(file, &mut needed).expect("there is memory"));
    let (keys, seconds) = wanted(directory, needed);
    let out = directory.join("out.stable.hobpipe");
    let mut build = Build::new(&identity(), "2", &keys, options).expect("valid options");
    build.spill_beside(&io(), &out, MEMORY).expect("there is memory");
    stable.iter().for_each(|file| assert!(build.add(file).expect("it fits")));
    (build.finish(&io(), &out).expect("it can be written"), seconds)
}

fn wanted(directory: &Path, wanted: Wanted) -> (KeyMap, Seconds) {
    let watch = Watch::begin();
    let keys = KeyMap::load_wanted(&io(), &files(directory, &[".hobkeys"]), wanted).expect("they were written");
    (keys, watch.read())
}

/// A worker: prints its times, then its result.
pub fn run(role: &str, directory: &Path) {
    let watch = Watch::begin();
    let (log, keys) = match role {
        "expand" => {
            let (expanded, keys) = expand(directory, &directory.join("out.hobstable"));
            let Expanded { recordings, pipelines, stable, unresolved, .. } = expanded;
            let (lost, listed) = (unresolved.count(), unresolved.first().len());
            let counts = format!("{recordings} recordings, {pipelines} pipelines, {stable} stable pipelines");
            (format!("{counts}, {lost} without a key, {listed} of them listed\n"), keys)
        }
        "build" => {
            let (report, keys) = build(directory);
            (report.log().expect("there is memory"), keys)
        }
        "open" => {
            let shipped = files(directory, &[".stable.hobpipe"]).remove(0);
            let (mut count, watch) = (0_u64, Watch::begin());
            let scan = Shipped::any(&io(), &shipped).expect("it was written").for_each(|_| {
                count += 1;
                Ok(())
            });
            assert_eq!(scan.expect("it can be read").damaged, 0);
            (format!("{count} pipelines opened\n"), watch.read())
        }
        role => panic!("unknown role '{role}'"),
    };
    let all = watch.read();
    println!("{} {} {} {}\n{log}{}", keys.clock, keys.processor, all.clock, all.processor, peak());
}

/// The peak of the address space, as Linux says it.
fn peak() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status.lines().find(|line| line.starts_with("VmPeak")).unwrap_or_default().to_owned()
}
