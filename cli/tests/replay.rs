//! `hob pipelines replay` with a builder that breaks on demand.

mod common;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use common::recordings::build;
use common::{Answer, Scratch};
use hobgoblin::pipeline::recording::{FirstUse, Readiness, Recorder, RunInfo};
use hobgoblin::pipeline::{DescriptionRef, Identity, Mask, PipelineKey, PipelineKind, Schema, ShaderHash, ShaderRef};
use hobgoblin::quarantine::{Options, Quarantine};
use hobgoblin::store::io::{OsIo, share};

const BUILDER: &str = env!("CARGO_BIN_EXE_hob-test-builder");

/// A recording of a pipeline for each state, which names the builder's behaviour. Returns their keys.
fn record(path: &Path, project: &str, states: &[&str]) -> Vec<PipelineKey> {
    let io = share(OsIo).unwrap();
    let info = RunInfo { identity: Identity::new(project, "spirv", 3).unwrap(), run: [1; 16], ..RunInfo::default() };
    let mut recorder = Recorder::create(&io, path, &info).unwrap();
    let shaders = [ShaderRef { stage: 0, hash: ShaderHash([9; 20]) }];
    let mut keys = Vec::new();
    for (frame, state) in states.iter().enumerate() {
        let (kind, state) = (PipelineKind::Graphics, state.as_bytes());
        let description = DescriptionRef { kind, schema: Schema(1), state, shaders: &shaders };
        let (key, mask) = (description.key(), Mask::of_bits(1));
        recorder
            .record(&FirstUse {
                key,
                description,
                mask,
                frame: frame as u64,
                build_us: 100,
                readiness: Readiness::Unknown,
            })
            .unwrap();
        keys.push(key);
    }
    keys
}

/// `count` states that compile.
fn good(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("good{number}")).collect()
}

fn replay(scratch: &Scratch, more: &[&str]) -> Answer {
    scratch.hob(&[&["pipelines", "replay", "a.rec.hobpipe", "--builder", BUILDER, "--json"], more].concat())
}

fn banned(answer: &serde_json::Value) -> Vec<(String, String)> {
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    answer["banned"].as_array().unwrap().iter().map(|ban| (text(&ban["pipeline"]), text(&ban["why"]))).collect()
}

/// Whether a process runs. A zombie does not.
fn runs(id: &str) -> bool {
    let status = fs::read_to_string(format!("/proc/{}/stat", id.trim())).unwrap_or_default();
    !status.is_empty() && !status.contains(") Z ")
}

#[track_caller]
fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(30), "{what}");
        sleep(Duration::from_millis(10));
    }
}

#[test]
fn every_way_to_break_a_builder_ends_in_the_ban_list_and_the_rest_is_compiled() {
    let scratch = Scratch::new();
    let breaking = [
        ("abort", "signal: 6"),
        ("hang", "did not answer within 3 s"),
        ("exit", "exit status: 3: out of memory in the driver"),
        ("rubbish", "the frame is no result"),
        ("long", "a frame of 4294967295 bytes"),
        ("flood", "the frame is no result"),
        ("other", "for another pipeline"),
        ("cut", "ended before its answer with exit status: 0"),
    ];
    let good = good(40);
    let mut states: Vec<&str> = good.iter().map(String::as_str).collect();
    for (at, (state, _)) in breaking.iter().enumerate() {
        states.insert(5 * at, state);
    }
    states.extend(["fail", "noisy"]);
    let keys = record(&scratch.path("a.rec.hobpipe"), "game", &states);
    let answer = replay(&scratch, &["--timeout", "3", "--jobs", "3", "--bans", "bans.json"]);
    assert_eq!(answer.code(), Some(1), "{}", answer.errors());
    let answer = answer.json();
    let bans = banned(&answer);
    assert_eq!(bans.len(), breaking.len(), "{bans:?}");
    for (state, why) in breaking {
        let at = states.iter().position(|other| *other == state).unwrap();
        let ban = bans.iter().find(|(pipeline, _)| *pipeline == keys[at].to_string());
        let shown = &ban.unwrap_or_else(|| panic!("{state} is banned")).1;
        if state == "flood" || state == "rubbish" {
            assert!(shown.contains("rubbish"), "{state}: {shown}");
        } else {
            assert!(shown.contains(why), "{state}: {shown}");
        }
    }
    assert_eq!((&answer["pipelines"], &answer["compiled"]), (&50.into(), &41.into()));
    assert_eq!(answer["failed"][0]["message"], "unsupported format");
    assert_eq!(answer["slowest"].as_array().map(Vec::len), Some(10));
    assert_eq!(answer["driver"], "test driver");
    let list: serde_json::Value = serde_json::from_slice(&fs::read(scratch.path("bans.json")).unwrap()).unwrap();
    assert_eq!(list["bans"].as_array().map(Vec::len), Some(breaking.len()));
    assert_eq!(list["bans"][0]["environment"], "0000000000000007");

    // The second run knows them; another driver does not.
    let again = replay(&scratch, &["--timeout", "3", "--bans", "bans.json"]).json();
    assert_eq!((&again["banned_before"], &again["broken_builders"]), (&8.into(), &0.into()));
    let one = record(&scratch.path("b.rec.hobpipe"), "game", &["abort"]);
    let other = ["pipelines", "replay", "b.rec.hobpipe", "--bans", "bans.json", "--json", "--builder", BUILDER];
    let other = scratch.hob(&[&other[..], &["--builder-arg", "--environment", "--builder-arg", "8"]].concat()).json();
    assert_eq!(banned(&other)[0].0, one[0].to_string());
    let list: serde_json::Value = serde_json::from_slice(&fs::read(scratch.path("bans.json")).unwrap()).unwrap();
    assert_eq!(list["bans"].as_array().map(Vec::len), Some(breaking.len() + 1));
}

#[test]
fn pipeline_that_compiles_alone_is_not_banned() {
    let scratch = Scratch::new();
    let once = format!("once {}", scratch.path("crashed").display());
    // The builder of `twice` breaks at the pipeline after it, which is innocent.
    record(&scratch.path("a.rec.hobpipe"), "game", &[&once, "good1", "twice", "good2"]);
    let answer = replay(&scratch, &["--jobs", "1", "--bans", "bans.json"]).succeeded().json();
    let list: serde_json::Value = serde_json::from_slice(&fs::read(scratch.path("bans.json")).unwrap()).unwrap();
    assert_eq!(list["bans"].as_array().map(Vec::len), Some(0));
    assert_eq!(
        (&answer["compiled"], &answer["recovered"], &answer["broken_builders"]),
        (&4.into(), &2.into(), &2.into())
    );
    let text = scratch.hob(&["pipelines", "replay", "a.rec.hobpipe", "--builder", BUILDER]).succeeded().out();
    assert!(text.contains("4 pipelines: 4 compiled, 0 failed, 0 banned"), "{text}");
    assert!(text.contains("slowest pipelines"), "{text}");
}

#[test]
fn games_honour_the_bans_of_their_directory_and_a_secret_is_kept() {
    let scratch = Scratch::new();
    let keys = record(&scratch.path("a.rec.hobpipe"), "game", &["good", "abort"]);
    fs::create_dir(scratch.path("game")).unwrap();
    let answer = replay(&scratch, &["--directory", "game"]);
    assert_eq!(answer.code(), Some(1), "{}", answer.errors());
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    let quarantine = Quarantine::open(&scratch.path("game/quarantine"), Options::at(now)).unwrap();
    assert!(quarantine.is_banned(7, &keys[1].0) && !quarantine.is_banned(7, &keys[0].0));
    assert!(!quarantine.is_banned(8, &keys[1].0));
    let again = replay(&scratch, &["--directory", "game"]).json();
    assert_eq!((&again["banned_before"], &again["compiled"]), (&1.into(), &1.into()));
    fs::write(scratch.path("secret"), "sixteen bytes or more").unwrap();
    let other = replay(&scratch, &["--directory", "game", "--secret", "secret"]).json();
    assert_eq!(banned(&other).len(), 1);

    let unknown = ["--directory", "game", "--builder-arg", "--environment", "--builder-arg", "0"];
    assert!(replay(&scratch, &unknown).failed(2).contains("names no environment"));
    assert!(replay(&scratch, &["--directory", "missing"]).failed(2).contains("not a directory"));
}

#[test]
fn shipped_caches_and_recordings_replay_each_pipeline_once_and_damage_is_reported() {
    let scratch = Scratch::new();
    build(&scratch, "cache", 1, 0, 20);
    build(&scratch, "more", 1, 15, 30);
    let replay =
        |files: &[&str]| scratch.hob(&[&["pipelines", "replay", "--json", "--builder", BUILDER], files].concat());
    let answer = replay(&["cache", "more", "cache.recorded"]).succeeded().json();
    assert_eq!((&answer["pipelines"], &answer["compiled"]), (&30.into(), &30.into()));
    assert!(replay(&["cache.hobstable"]).failed(3).contains("build a cache from it first"));
    let bytes = fs::read(scratch.path("cache")).unwrap();
    fs::write(scratch.path("cut"), &bytes[..bytes.len() - 200]).unwrap();
    let cut = replay(&["cut"]);
    assert_eq!((cut.code(), &cut.json()["damaged"]), (Some(1), &1.into()));
}

#[test]
fn builder_that_never_reads_is_ended_by_the_timeout() {
    let scratch = Scratch::new();
    let large = "x".repeat(1 << 20);
    record(&scratch.path("a.rec.hobpipe"), "game", &[&large]);
    let answer = replay(&scratch, &["--timeout", "3", "--builder-arg", "--deaf"]).json();
    assert!(banned(&answer)[0].1.contains("did not answer within 3 s"));
    let whole = replay(&scratch, &[]).succeeded().json();
    assert_eq!(whole["compiled"], 1);
}

#[test]
fn builder_that_cannot_be_used_is_named_with_the_reason() {
    let scratch = Scratch::new();
    record(&scratch.path("a.rec.hobpipe"), "game", &["good"]);
    let missing = ["pipelines", "replay", "a.rec.hobpipe", "--builder", "no/such/program"];
    let error = scratch.hob(&missing).failed(3);
    assert!(error.contains("cannot start the builder 'no/such/program'") && error.contains("executable"), "{error}");
    let error = replay(&scratch, &["--builder-arg", "--broken"]).failed(3);
    assert!(error.contains("exit status: 4: no device found"), "{error}");
    let error = replay(&scratch, &["--builder-arg", "--silent", "--timeout", "0.3"]).failed(3);
    assert!(error.contains("did not answer within 0.3 s"), "{error}");
    let error = replay(&scratch, &["--builder-arg", "--refuse-silently"]).failed(3);
    assert!(error.contains("the builder gave no reason"), "{error}");
    let error = replay(&scratch, &["--builder-arg", "--foreign-text"]).failed(3);
    assert!(error.contains("the text of its hello is not UTF-8"), "{error}");
    let error = replay(&scratch, &["--builder-arg", "--refuse"]).failed(3);
    assert!(error.contains("the shaders of game are missing"), "{error}");
    record(&scratch.path("b.rec.hobpipe"), "other", &["good"]);
    let error = replay(&scratch, &["b.rec.hobpipe"]).failed(3);
    assert!(error.contains("'other'") && error.contains("'game'"), "{error}");
    for (arguments, shown) in [(["--timeout", "0"], "0.01 to 86400"), (["--jobs", "0"], "--jobs")] {
        assert!(replay(&scratch, &arguments).failed(2).contains(shown));
    }
    fs::write(scratch.path("text"), "no cache").unwrap();
    record(&scratch.path("c.rec.hobpipe"), "game", &["good"]);
    let error = replay(&scratch, &["--state", "c.rec.hobpipe"]).failed(3);
    assert!(error.contains("is not the state of a replay: name another file"), "{error}");
    for file in ["--bans", "--state"] {
        assert!(replay(&scratch, &[file, "text"]).failed(3).contains("name another file"), "{file}");
    }
    assert_eq!(fs::read(scratch.path("text")).unwrap(), b"no cache");
    let error = scratch.hob(&["pipelines", "replay", "text", "--builder", BUILDER]).failed(3);
    assert!(error.contains("name a shipped cache, a recording"), "{error}");
}

#[cfg(target_os = "linux")]
#[test]
fn interrupted_replay_ends_its_children_and_a_second_run_continues() {
    let scratch = Scratch::new();
    let grandchild = scratch.path("grandchild");
    let child = format!("child {}", grandchild.display());
    let slow: Vec<String> = (0..200).map(|number| format!("slow {number}")).collect();
    let states: Vec<&str> = std::iter::once(child.as_str()).chain(slow.iter().map(String::as_str)).collect();
    record(&scratch.path("a.rec.hobpipe"), "game", &states);
    let arguments = ["pipelines", "replay", "a.rec.hobpipe", "--builder", BUILDER, "--jobs", "2", "--state", "state"];
    let pids = ["--builder-arg", "--pids", "--builder-arg", "pids", "--bans", "bans"];
    let mut hob = Command::new(env!("CARGO_BIN_EXE_hob"));
    let hob = hob.args(arguments).args(pids).current_dir(scratch.path("")).stderr(Stdio::piped()).spawn().unwrap();
    let state = || fs::read_to_string(scratch.path("state")).unwrap_or_default();
    wait_until("results are kept", || state().lines().count() > 10 && grandchild.exists());
    // The second Ctrl-C must not leave children behind.
    for _ in 0..2 {
        assert!(Command::new("kill").args(["-INT", &hob.id().to_string()]).status().unwrap().success());
    }
    let output = hob.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", String::from_utf8_lossy(&output.stderr));
    let mut processes: Vec<String> =
        fs::read_to_string(scratch.path("pids")).unwrap().lines().map(String::from).collect();
    processes.push(fs::read_to_string(&grandchild).unwrap());
    wait_until("children end with hob", || !processes.iter().any(|id| runs(id)));
    assert!(!scratch.path("bans").exists());

    // A line that a kill cut off is dropped.
    let kept = state().lines().count() as u64 - 1;
    assert!(kept < 200);
    let mut cut = state();
    cut.push_str("{\"pipeline\":\"00");
    fs::write(scratch.path("state"), cut).unwrap();
    let again = scratch.hob(&[&arguments[..], &["--timeout", "3", "--json"]].concat());
    assert_eq!(again.code(), Some(1));
    let again = again.json();
    assert_eq!((&again["resumed"], &again["compiled"]), (&kept.into(), &200.into()));
    assert_eq!(banned(&again).len(), 1);
    let third = scratch.hob(&[&arguments[..], &["--json"]].concat()).json();
    assert_eq!((&third["resumed"], &third["broken_builders"]), (&200.into(), &0.into()));
    assert_eq!(banned(&third).len(), 1);
    let other = ["--builder-arg", "--environment", "--builder-arg", "9"];
    assert!(scratch.hob(&[&arguments[..], &other].concat()).failed(3).contains("belongs to the driver"));
}

#[cfg(target_os = "linux")]
#[test]
fn builders_end_with_a_killed_hob() {
    let scratch = Scratch::new();
    record(&scratch.path("a.rec.hobpipe"), "game", &["hang", "hang too", "good"]);
    let arguments = ["pipelines", "replay", "a.rec.hobpipe", "--builder", BUILDER, "--jobs", "2"];
    let pids = ["--builder-arg", "--pids", "--builder-arg", "pids"];
    let mut hob = Command::new(env!("CARGO_BIN_EXE_hob"));
    let mut hob = hob.args(arguments).args(pids).current_dir(scratch.path("")).spawn().unwrap();
    let pids = || fs::read_to_string(scratch.path("pids")).unwrap_or_default();
    wait_until("builders run", || pids().lines().count() == 2);
    assert!(pids().lines().all(runs));
    hob.kill().unwrap();
    hob.wait().unwrap();
    wait_until("builders end", || !pids().lines().any(runs));
}

#[cfg(target_os = "linux")]
#[test]
fn process_that_outlives_its_builder_is_not_waited_for() {
    let scratch = Scratch::new();
    let grandchild = scratch.path("grandchild");
    record(&scratch.path("a.rec.hobpipe"), "game", &[&format!("orphan {}", grandchild.display()), "good", "no reason"]);
    let answer = replay(&scratch, &["--timeout", "25", "--jobs", "1"]).json();
    let bans = banned(&answer);
    assert!(bans[0].1.contains("ended before its answer with exit status: 6"), "{bans:?}");
    assert_eq!(
        (&answer["compiled"], &answer["failed"][0]["message"]),
        (&1.into(), &"the builder gave no reason".into())
    );
    let orphan = fs::read_to_string(grandchild).unwrap();
    wait_until("the process group ends", || !runs(&orphan));
}

#[test]
fn ban_list_and_directory_learn_from_each_other() {
    let scratch = Scratch::new();
    let keys = record(&scratch.path("a.rec.hobpipe"), "game", &["good", "abort", "exit"]);
    for directory in ["one", "two", "three"] {
        fs::create_dir(scratch.path(directory)).unwrap();
    }
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    let bans = |directory: &str, ban_at| {
        let options = Options { ban_at, ..Options::at(now) };
        let quarantine = Quarantine::open(&scratch.path(directory).join("quarantine"), options).unwrap();
        keys.iter().filter(|key| quarantine.is_banned(7, &key.0)).count()
    };
    assert_eq!(replay(&scratch, &["--bans", "list"]).code(), Some(1));
    let learnt = replay(&scratch, &["--bans", "list", "--directory", "one"]).json();
    assert_eq!((&learnt["banned_before"], &learnt["broken_builders"]), (&2.into(), &0.into()));
    assert_eq!((bans("one", 2), bans("one", 3)), (2, 0));
    let stricter = ["--bans", "list", "--directory", "two", "--ban-at", "3"];
    assert_eq!(replay(&scratch, &stricter).json()["banned_before"], 2);
    assert_eq!((bans("two", 3), bans("two", 4)), (2, 0));
    let back = replay(&scratch, &["--bans", "new list", "--directory", "one"]).json();
    assert_eq!(back["banned_before"], 2);
    let list: serde_json::Value = serde_json::from_slice(&fs::read(scratch.path("new list")).unwrap()).unwrap();
    let listed: Vec<_> = list["bans"].as_array().unwrap().iter().map(|ban| ban["pipeline"].as_str().unwrap()).collect();
    let mut wanted = [keys[1].to_string(), keys[2].to_string()];
    wanted.sort();
    assert_eq!(listed, wanted);
}

#[test]
fn replays_at_the_same_time_keep_the_bans_of_all() {
    let scratch = Scratch::new();
    let mut wanted = Vec::new();
    for number in 0..4 {
        let states = [format!("abort {number}"), format!("exit {number}"), format!("good {number}")];
        let states: Vec<&str> = states.iter().map(String::as_str).collect();
        let keys = record(&scratch.path(&format!("{number}.rec")), "game", &states);
        wanted.extend(keys[..2].iter().map(ToString::to_string));
    }
    let begin = |number| {
        let mut hob = Command::new(env!("CARGO_BIN_EXE_hob"));
        hob.args([
            "pipelines",
            "replay",
            &format!("{number}.rec"),
            "--builder",
            BUILDER,
            "--bans",
            "list",
            "--jobs",
            "1",
        ]);
        hob.current_dir(scratch.path("")).stdout(Stdio::null()).spawn().unwrap()
    };
    let replays: Vec<_> = (0..4).map(begin).collect();
    for mut replay in replays {
        assert_eq!(replay.wait().unwrap().code(), Some(1));
    }
    let list: serde_json::Value = serde_json::from_slice(&fs::read(scratch.path("list")).unwrap()).unwrap();
    let listed: Vec<_> = list["bans"].as_array().unwrap().iter().map(|ban| ban["pipeline"].as_str().unwrap()).collect();
    wanted.sort();
    assert_eq!(listed, wanted);
}
