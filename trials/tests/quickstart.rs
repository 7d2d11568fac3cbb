//! The first commands of the README, word for word, in an empty folder outside of the repository.
#![cfg(target_os = "linux")]

use std::fs;
use std::process::Command;

use hobgoblin_tests::cpp::{is_installed, output, root, run};
use hobgoblin_tests::packaged::Outside;

/// The block under "Start".
fn commands() -> String {
    let readme = fs::read_to_string(root().join("README.md")).expect("README.md is there");
    let section = readme.split_once("\n## Start\n").expect("README.md has a section Start").1;
    let block = section.split_once("```sh\n").expect("the section has commands").1;
    block.split_once("```").expect("the block ends").0.to_owned()
}

#[test]
fn first_commands_lead_to_a_governor_in_c_cpp_and_csharp() {
    let needed =
        [("git", "git"), ("pkg-config", "pkg-config"), ("c++", "g++"), ("mcs", "mono-mcs"), ("mono", "mono-runtime")];
    if !needed.iter().all(|(program, package)| is_installed(program, package)) {
        return;
    }
    let commands = commands();
    assert!(commands.lines().count() <= 10, "more than 10 commands:\n{commands}");
    let outside = Outside::new();
    let mut shell = Command::new("bash");
    shell.current_dir(outside.path()).args(["-e", "-c", &commands]).env("HOBGOBLIN", root());
    shell.env("CARGO_TARGET_DIR", output().join("quickstart")).env_remove("RUSTFLAGS");
    // A quick build, because other tests check the library that packages ship.
    shell.env("CARGO_PROFILE_RELEASE_LTO", "off").env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16");
    shell.env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1");
    let printed = String::from_utf8(run(&mut shell).stdout).expect("it prints ASCII");
    for line in ["C, shadows 3\n", "C++, shadows 3\n", "C#, shadows 3\n"] {
        assert!(printed.contains(line), "no \"{}\" in:\n{printed}", line.trim());
    }
}
