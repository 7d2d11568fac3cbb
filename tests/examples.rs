//! Builds every example with the command in its first lines, with warnings as errors, and runs those that need no
//! driver. `.ci/run` runs the others. They link the library of the C++ harness.
#![cfg(unix)]

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use hobgoblin_tests::cpp::{harness_library, is_installed, root, scratch};

const FLAGS: [&str; 5] = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror"];
const MOST_LINES: usize = 200;

fn text(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|why| panic!("{path}: {why}"))
}

/// The C and C++ files of `examples/`, by name.
fn examples() -> Vec<String> {
    let entries = fs::read_dir(root().join("examples")).expect("the folder exists");
    let names = entries.map(|entry| entry.expect("an entry can be read").file_name().into_string().expect("ASCII"));
    let mut names: Vec<String> = names.filter(|name| name.ends_with(".c") || name.ends_with(".cpp")).collect();
    names.sort();
    names
}

/// The compiler's command in the first lines of an example.
fn command_of(example: &str) -> Vec<String> {
    let source = text(&format!("examples/{example}"));
    let first = source.lines().map_while(|line| line.strip_prefix("//")).map(str::trim);
    let compiler = if example.ends_with(".c") { "cc " } else { "c++ " };
    let line = first.clone().find(|line| line.starts_with(compiler));
    let line = line.unwrap_or_else(|| panic!("{example} does not say how it is built by hand"));
    line.split_whitespace().map(str::to_owned).collect()
}

/// Runs a compiler. Panics with its messages unless it succeeds.
fn compile(command: &mut Command) {
    let output = command.current_dir(root()).output().expect("the compiler can be run");
    assert!(output.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&output.stderr));
}

/// Builds an example by its own command, in an empty folder of its test. `None`: there is no compiler.
fn build(test: &str, example: &str) -> Option<PathBuf> {
    let words = command_of(example);
    if !is_installed(&words[0], "g++") {
        return None;
    }
    let folder = scratch().join("examples").join(test).join(example);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("the target directory can be written");
    let (program, libraries) = (folder.join("program"), libraries());
    let mut command = Command::new(&words[0]);
    command.args(FLAGS);
    let mut is_output = false;
    for word in &words[1..] {
        let word = word.replace("target/release", &libraries.display().to_string());
        if is_output {
            command.arg(&program)
        } else {
            command.arg(&word)
        };
        is_output = word == "-o";
    }
    compile(&mut command);
    Some(program)
}

/// The folder of the libraries that the harness links.
fn libraries() -> PathBuf {
    harness_library().parent().expect("a library is in a folder").to_owned()
}

/// Builds an example and runs it twice, in its own folder. Returns what it printed.
fn run_twice(example: &str) -> Option<[String; 2]> {
    let program = build("run", example)?;
    let (folder, libraries) = (program.parent().expect("it is in a folder"), libraries());
    Some([1, 2].map(|_| {
        let ran = Command::new(&program).current_dir(folder).env("LD_LIBRARY_PATH", &libraries).output();
        let ran = ran.expect("the program can be run");
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        String::from_utf8(ran.stdout).expect("it prints ASCII")
    }))
}

/// The number before a piece of text.
fn number_before(printed: &str, after: &str) -> f64 {
    let before = printed.split(after).next().unwrap_or_default();
    let word = before.rsplit([' ', '\n']).next().unwrap_or_default();
    word.parse().unwrap_or_else(|_| panic!("no number before \"{after}\" in:\n{printed}"))
}

#[test]
fn every_example_compiles_without_warnings_and_links() {
    let examples = examples();
    assert_eq!(examples.len(), 8, "{examples:?}");
    for example in examples {
        build("link", &example);
    }
}

#[test]
fn every_example_compiles_with_clang() {
    if !is_installed("clang", "clang") {
        return;
    }
    for example in examples() {
        let standard = if example.ends_with(".c") { "-std=c11" } else { "-std=c++17" };
        let mut clang = Command::new("clang");
        clang.args(FLAGS).args([standard, "-fsyntax-only", "-Iinclude"]).arg(format!("examples/{example}"));
        compile(&mut clang);
    }
}

#[test]
fn every_example_is_short_and_listed() {
    let (readme, runner) = (text("examples/README.md"), text("trials/src/bin/example.rs"));
    for example in examples() {
        let lines = text(&format!("examples/{example}")).lines().count();
        assert!(lines <= MOST_LINES, "{example} has {lines} lines");
        assert!(readme.contains(&format!("| [{example}]({example}) |")), "examples/README.md has no row of {example}");
        assert!(runner.contains(&format!("(\"{example}\", ")), "trials/src/bin/example.rs does not list {example}");
    }
}

/// Asserts that the choices use the budget and keep it, and that a second run profits from the profile.
fn assert_governs(example: &str) {
    let Some([first, second]) = run_twice(example) else { return };
    for printed in [&first, &second] {
        let gpu_ms = number_before(printed, " of 16.6 ms");
        assert!((13.0..=16.6).contains(&gpu_ms), "{printed}");
        assert!(number_before(printed, " of 5.0 ms") <= 5.0, "{printed}");
        assert!(number_before(printed, " of them in the last 200") <= 4.0, "{printed}");
    }
    assert!(first.starts_with("no profile yet") && second.starts_with("loaded the profile"), "{first}{second}");
    assert!(number_before(&second, " trials") < number_before(&first, " trials"), "{first}{second}");
}

#[test]
fn governor_in_c_keeps_the_budget_and_learns_from_its_profile() {
    assert_governs("governor.c");
}

#[test]
fn governor_in_cpp_keeps_the_budget_and_learns_from_its_profile() {
    assert_governs("governor.cpp");
}

#[test]
fn programs_survive_in_the_file_system_of_the_host() {
    for printed in run_twice("host_files.c").into_iter().flatten() {
        assert!(printed.starts_with("run 1: 3 compiled, 0 from the cache\nrun 2: 0 compiled, 3 from the cache\n"));
    }
}

#[test]
fn graph_patch_runs_only_what_changed_and_what_is_asked_for() {
    let expected = "refused: the link would close a cycle: \"phase\" -> \"wave\" -> \"height\" -> \"phase\"; use a feedback \
                    link\nfirst frame: 9 nodes ran, 0 broken\nlater frame: 5 nodes ran, 0 broken\n";
    for printed in run_twice("graph_patch.c").into_iter().flatten() {
        assert!(printed.starts_with(expected), "{printed}");
        assert!(printed.contains("\"builder\" did not run: \"data\" failed, on which it depends"), "{printed}");
        assert!(printed.ends_with("\n  built from 1\n"), "{printed}");
    }
}

#[test]
fn perception_counter_is_read_once_for_each_number() {
    let expected = "300 frames: the counter was right in 300, and three frames agreed in 240\nran: the counter 30 times, \
                    the brightness 300 times\ntaken over from the last frame: 270 results\n";
    for printed in run_twice("perception_counter.c").into_iter().flatten() {
        assert!(printed.starts_with(expected) && printed.ends_with("is green: it did not change\n"), "{printed}");
    }
}

#[test]
fn pipelines_of_the_first_run_are_ready_in_the_second() {
    let Some([first, second]) = run_twice("pipeline_warmup.c") else { return };
    assert!(first.starts_with("0 pipelines ahead, 60 in a frame; 0 ready"), "{first}");
    assert!(second.starts_with("60 pipelines ahead, 0 in a frame; 60 ready"), "{second}");
    for printed in [first, second] {
        assert!(printed.ends_with("\n0 trees hidden, 0 passes drawn without a pipeline\n"), "{printed}");
    }
}
