//! Signals to `hob` in the middle of its work.
#![cfg(unix)]

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use common::{Scratch, contents};
use hobgoblin::pipeline::recording::{FirstUse, Readiness, Recorder, RunInfo};
use hobgoblin::pipeline::{DescriptionRef, Identity, MAX_STATE, Mask, PipelineKind, Schema, ShaderHash, ShaderRef};
use hobgoblin::store::io::{OsIo, share};
use hobgoblin::store::{Name, Options, Store};

/// More pipelines of the longest state than stay in memory, in a recording each.
const PIPELINES: u8 = 44;

/// Recordings, and a key map for them.
fn write_recordings(scratch: &Scratch) {
    let io = share(OsIo).unwrap();
    let mut keys = "hash,stage,key\n".to_owned();
    for number in 0..PIPELINES {
        let identity = Identity::new("game", "spirv", 3).unwrap();
        let run = RunInfo { identity, run: [number; 16], ..RunInfo::default() };
        let mut recorder = Recorder::create(&io, &scratch.path(&format!("{number}.rec.hobpipe")), &run).unwrap();
        let shaders = [ShaderRef { stage: 0, hash: ShaderHash([number; 20]) }];
        let state = vec![number; MAX_STATE];
        let description =
            DescriptionRef { kind: PipelineKind::Graphics, schema: Schema(1), state: &state, shaders: &shaders };
        let (key, mask, readiness) = (description.key(), Mask::of_bits(1), Readiness::Unknown);
        recorder.record(&FirstUse { key, description, mask, frame: 1, build_us: 1, readiness }).unwrap();
        keys += &format!("{},0,Rock{number}\n", format!("{number:02x}").repeat(20));
    }
    fs::write(scratch.path("keys.csv"), keys).unwrap();
    scratch.hob(&["pipelines", "keys", "import", "keys.csv", "-o", "keys"]).succeeded();
}

fn start(scratch: &Scratch, arguments: &[&str]) -> Child {
    let mut hob = Command::new(env!("CARGO_BIN_EXE_hob"));
    hob.args(arguments).current_dir(scratch.path("")).stdout(Stdio::null()).stderr(Stdio::null());
    hob.spawn().expect("hob starts")
}

fn send(signal: &str, hob: &Child) {
    // It may have ended.
    let _ = Command::new("kill").args([signal, &hob.id().to_string()]).stderr(Stdio::null()).status().unwrap();
}

/// Whether the process has a temporary file of sorted pipelines.
fn has_temporary_file(hob: &Child) -> bool {
    let Ok(files) = fs::read_dir(format!("/proc/{}/fd", hob.id())) else { return false };
    files
        .flatten()
        .filter_map(|file| fs::read_link(file.path()).ok())
        .any(|file| file.to_string_lossy().contains(".sort"))
}

/// Names of the files.
fn names(scratch: &Scratch) -> Vec<PathBuf> {
    contents(&scratch.path("")).into_iter().map(|(path, _)| path).collect()
}

/// Signals at many moments of a command that replaces `out`.
fn interrupt(scratch: &Scratch, arguments: &[&str], out: &str) {
    let out_path = scratch.path(out);
    let began = Instant::now();
    scratch.hob(arguments).succeeded();
    let (whole_time, whole) = (began.elapsed(), fs::read(&out_path).unwrap());
    fs::write(&out_path, b"old").unwrap();
    let before = names(scratch);
    let mut codes = Vec::new();
    let mut check = |mut hob: Child, signal: &str| {
        send(signal, &hob);
        let code = hob.wait().unwrap().code();
        let file = fs::read(&out_path).unwrap();
        match code {
            Some(0) => assert!(file == whole, "{signal}: another file"),
            Some(130) => assert_eq!(file, b"old", "{signal}"),
            _ => panic!("{signal}: exit code {code:?}"),
        }
        assert_eq!(names(scratch), before, "{signal}, {code:?}");
        fs::write(&out_path, b"old").unwrap();
        codes.push(code);
    };
    for signal in ["-INT", "-TERM", "-HUP"] {
        if cfg!(target_os = "linux") {
            let mut hob = start(scratch, arguments);
            while !has_temporary_file(&hob) {
                assert!(hob.try_wait().unwrap().is_none(), "it ended without a temporary file");
                sleep(Duration::from_micros(200));
            }
            check(hob, signal);
        }
        for part in [1, 3, 5] {
            let hob = start(scratch, arguments);
            // The handler must be there first.
            sleep(Duration::from_millis(20) + whole_time * part / 6);
            check(hob, signal);
        }
    }
    assert!(codes.iter().filter(|code| **code == Some(130)).count() >= 3, "{codes:?}");
}

#[test]
fn signal_in_the_middle_of_expand_and_build_leaves_the_old_output_and_no_temporary_file() {
    let scratch = Scratch::new();
    write_recordings(&scratch);
    interrupt(
        &scratch,
        &["pipelines", "expand", "*.rec.hobpipe", "--keys", "keys", "-o", "a.hobstable"],
        "a.hobstable",
    );
    // Several stable files, so that the build has several steps.
    for tens in ["?", "1?", "2?", "3?", "4?"] {
        let (recordings, out) = (format!("{tens}.rec.hobpipe"), format!("{}.s", tens.replace('?', "x")));
        scratch.hob(&["pipelines", "expand", &recordings, "--keys", "keys", "-o", &out]).succeeded();
    }
    let game = ["--project", "game", "--format", "spirv", "--api", "3", "--keys", "keys", "-o", "built"];
    interrupt(&scratch, &[&["pipelines", "build", "*.s"], &game[..]].concat(), "built");
}

fn write_programs(directory: &Path) {
    let mut store = Store::open(share(OsIo).unwrap(), directory, Options::new(|| 1_700_000_000)).unwrap();
    for number in 0..4000_u32 {
        let mut key = [0; 32];
        key[..4].copy_from_slice(&number.to_le_bytes());
        let name = Name { kind: 1, environment: 1, key };
        assert!(store.put(&name, 1, &vec![number as u8; 8 << 10]).unwrap());
    }
    store.seal().unwrap();
}

#[test]
fn signal_in_the_middle_of_a_merge_leaves_whole_programs_and_the_next_merge_copies_the_others() {
    let scratch = Scratch::new();
    write_programs(&scratch.path("from"));
    let merge = ["cache", "merge", "from", "--into", "to"];
    let began = Instant::now();
    scratch.hob(&merge).succeeded();
    let whole_time = began.elapsed();
    let mut interrupted = 0;
    for (signal, part) in ["-INT", "-TERM", "-HUP"].into_iter().flat_map(|signal| [1, 2, 3].map(|part| (signal, part)))
    {
        fs::remove_dir_all(scratch.path("to")).unwrap();
        let mut hob = start(&scratch, &merge);
        sleep(Duration::from_millis(20) + whole_time * part / 5);
        send(signal, &hob);
        let code = hob.wait().unwrap().code();
        assert!(matches!(code, Some(0 | 130)), "{signal}: {code:?}");
        interrupted += u32::from(code == Some(130));
        if scratch.path("to").exists() {
            scratch.hob(&["cache", "verify", "to"]).succeeded();
        }
        scratch.hob(&merge).succeeded();
        let info = scratch.hob(&["cache", "verify", "to", "--json"]).succeeded().json();
        assert_eq!(info["values"], 4000, "{info}");
    }
    assert!(interrupted > 0);
}
