//! The commands of docs/packaging.md. Each section is one script, in a folder with the repository as `hobgoblin`.
#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use hobgoblin_tests::cpp::{is_installed, output, root, run};
use hobgoblin_tests::packaged::{Outside, user};

const MOST_LINES: usize = 150;

/// The sections that have commands: each heading with its script.
fn scripts(page: &str) -> Vec<(String, String)> {
    let mut scripts = Vec::new();
    for section in page.split("\n## ").skip(1) {
        let heading = section.lines().next().unwrap_or_default().to_owned();
        let blocks = section.split("```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap_or_default());
        let script: String = blocks.collect();
        if !script.is_empty() {
            scripts.push((heading, script));
        }
    }
    scripts
}

#[test]
fn commands_of_the_page_about_packaging_work_in_their_order() {
    let programs = [("cmake", "cmake"), ("make", "make"), ("c++", "g++"), ("pkg-config", "pkg-config")];
    if !programs.iter().all(|(program, package)| is_installed(program, package)) {
        return;
    }
    let page = fs::read_to_string(root().join("docs/packaging.md")).expect("it is checked in");
    assert!(page.lines().count() <= MOST_LINES);
    let outside = Outside::without_space();
    symlink(root(), outside.path().join("hobgoblin")).expect("the folder can be written");
    let mut ran = Vec::new();
    for (heading, script) in scripts(&page) {
        // The working tree of a developer has changes.
        let script = script.replace("release.sh OUT", "release.sh --allow-dirty OUT");
        let mut shell = user("bash", outside.path());
        for name in ["CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN"] {
            if let Some(value) = std::env::var_os(name) {
                shell.env(name, value);
            }
        }
        if let (None, Some(home)) = (std::env::var_os("RUSTUP_HOME"), std::env::var_os("HOME")) {
            shell.env("RUSTUP_HOME", Path::new(&home).join(".rustup"));
        }
        shell.env("HOME", outside.path()).env("CARGO_TARGET_DIR", output());
        run(shell.args(["-euxc", &script]));
        ran.push(heading);
    }
    let expected =
        ["Install", "Compiler flags", "pkg-config", "CMake", "In a CMake project", "Unreal Engine", "Release archive"];
    assert_eq!(ran, expected);
}
