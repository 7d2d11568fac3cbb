//! Compiles and links all C++ of the trials, with warnings as errors, and runs them with `--help`. Without a C++ compiler
//! the test is skipped, unless HOB_REQUIRE_ALL is set. `.ci/run` has the runs on drivers.

use std::path::Path;
use std::process::Command;

use hobgoblin_tests::cpp::skip;
use hobgoblin_trials::{NAMES, Product, command, trial};

#[test]
fn every_trial_compiles_without_warnings_links_and_prints_its_help() {
    for name in NAMES {
        let mut build =
            trial(name, &Path::new(env!("CARGO_TARGET_TMPDIR")).join("compiles")).expect("its sources exist");
        build.optimization = 0;
        build.flags = &["-Wall", "-Wextra", "-Werror"];
        let compiler = build.compiler(true).and_then(|tool| Ok(tool.to_command().arg("--version").output()?));
        if let Err(why) = compiler {
            return skip(&why.to_string());
        }
        let product = build.run().unwrap_or_else(|why| panic!("{name}: {why}"));
        let mut help = match build.product {
            Product::Program => command(&product).expect("the library's folder is a path"),
            // The Rust program in front of the shared library has the help.
            Product::SharedLibrary => Command::new(env!("CARGO_BIN_EXE_blob_cache")),
        };
        let output = help.arg("--help").output().expect("the program can be run");
        let help = String::from_utf8_lossy(&output.stdout);
        let start = format!("cargo run --release -p hobgoblin-trials --bin {name} -- ");
        assert!(output.status.success() && help.contains(&start), "{name}: {help}");
    }
}
