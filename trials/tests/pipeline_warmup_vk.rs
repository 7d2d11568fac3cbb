//! The runs of `pipeline_warmup_vk` on Mesa's software driver for Vulkan, with few frames. Without a driver, or
//! without a C++ compiler, the test is skipped, unless HOB_REQUIRE_ALL is set. No test asserts times.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::LazyLock;

use hobgoblin_tests::cpp::skip;
use hobgoblin_trials::{command, tool, trial};

/// The trial's program, built once for all tests. `None`: there is no compiler.
static PROGRAM: LazyLock<Option<PathBuf>> = LazyLock::new(|| {
    let output = Path::new(env!("CARGO_TARGET_TMPDIR")).join("warmup");
    let mut build = trial("pipeline_warmup_vk", &output).expect("its sources exist");
    build.optimization = 0;
    let compiler = build.compiler(true).and_then(|tool| Ok(tool.to_command().arg("--version").output()?));
    if let Err(why) = compiler {
        skip(&why.to_string());
        return None;
    }
    Some(build.run().unwrap_or_else(|why| panic!("{why}")))
});

fn run(program: &Path, words: &[&str]) -> Output {
    let mut command = command(program).expect("the library's folder is a path");
    command.args(words).output().expect("the program can be run")
}

/// The program, if there is a device with Vulkan.
fn program_with_device() -> Option<&'static Path> {
    let program = PROGRAM.as_deref()?;
    let devices = run(program, &["--list-devices"]);
    if devices.stdout.is_empty() {
        skip(&format!("there is no Vulkan device: {}", String::from_utf8_lossy(&devices.stderr)));
        return None;
    }
    Some(program)
}

/// The steps and the targets of a trial's JSON, each a line.
fn lines_with<'a>(json: &'a str, field: &str) -> Vec<&'a str> {
    json.lines().filter(|line| line.contains(field)).collect()
}

fn number(line: &str, field: &str) -> f64 {
    let after = line.split(&format!("\"{field}\": ")).nth(1).unwrap_or_else(|| panic!("no {field} in {line}"));
    after.split([',', '}']).next().and_then(|text| text.parse().ok()).unwrap_or_else(|| panic!("{field} in {line}"))
}

#[test]
fn recorded_pipelines_are_ready_in_the_next_build_and_no_object_is_partial() {
    let Some(program) = program_with_device() else { return };
    let tool = tool().unwrap_or_else(|why| panic!("{why}"));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("warmup-run");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("the target directory can be written");
    let (files, json) = (folder.join("files"), folder.join("result.json"));
    let path = |path: &Path| path.to_str().expect("UTF-8").to_owned();
    let words = ["--hob", &path(&tool), "--directory", &path(&files), "--json", &path(&json)];
    let options = ["--frames", "20", "--fps", "60", "--loading-screens", "--quick"];
    let output = run(program, &[&words[..], &options].concat());
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");

    let json = fs::read_to_string(json).expect("the trial writes its results");
    let runs = lines_with(&json, "\"first_uses\"");
    assert_eq!(runs.len(), 4, "{json}");
    let counts = |field: &str| -> Vec<f64> { runs.iter().map(|run| number(run, field)).collect() };
    let (used, ready, unknown) = (counts("first_uses"), counts("ready"), counts("unknown"));
    assert!(used[0] >= 150.0 && unknown[0] == used[0], "run 1 knows no pipeline: {json}");
    assert!(ready[1] >= 0.95 * used[1], "{json}");
    assert!(unknown[1] > 0.0 && unknown[1] == used[1] - used[0], "run 2 adds what was not recorded: {json}");
    assert!(ready[2] == used[2] && unknown[2] == 0.0 && counts("late")[2] == 0.0, "{json}");
    assert!(counts("hidden")[3] > 0.0, "run 4 compiles nothing ahead: {json}");
    assert_eq!(counts("partial"), [0.0; 4], "{json}");
    assert_eq!(lines_with(&json, "\"is_met\": false"), Vec::<&str>::new());
    for target in ["kill or block the driver are banned", "all others are compiled"] {
        assert_eq!(lines_with(&json, target).len(), 1, "{json}");
    }
}

#[test]
fn wrong_arguments_of_the_warmup_trial_are_refused_with_advice() {
    let Some(program) = PROGRAM.as_deref() else { return };
    let refused = |words: &[&str], advice: &str| {
        let output = run(program, words);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(1) && error.contains(advice), "{words:?}: {error}");
    };
    refused(&[], "start the trial with cargo run");
    refused(&["--frames", "5"], "--frames wants 20 at least");
    refused(&["--hob", "hob", "--no-groups"], "are for a --step");
    refused(&["--step", "x", "--crash-at", "00"], "are for a --builder");
    refused(&["--builder"], "hob sent no hello");
    refused(&["--step", "x", "--loading", "some"], "--loading wants none, first, each or all");
    refused(&["--hob", "hob", "--directory", env!("CARGO_MANIFEST_DIR")], "is not an empty directory");
    refused(&["--hob", "hob", "--bogus"], "unknown option \"--bogus\"");
}
