//! The library as packages ship it: its exported functions and its size.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::Path;
use std::process::Command;

use hobgoblin_tests::api::Api;
use hobgoblin_tests::cpp::{is_installed, output, released_library, run};
use hobgoblin_tests::packaged::shared_library;

/// The size limits of the stripped release library in bytes.
const MOST_BYTES_OF_GOBLIN: u64 = 1000 * 1000;
const MOST_BYTES: u64 = 3 * 1000 * 1000;

/// The symbols that the library exports. Names of symbol versions are not included.
fn exported(library: &Path) -> Vec<String> {
    let list = run(Command::new("nm").args(["-D", "--defined-only", "--format=posix"]).arg(library));
    let list = String::from_utf8(list.stdout).expect("symbols are ASCII");
    list.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect()
}

/// The functions that the headers declare.
fn declared() -> Vec<String> {
    Api::read().functions.into_iter().map(|function| function.name).collect()
}

#[test]
fn released_library_exports_exactly_what_the_headers_declare() {
    if !is_installed("nm", "binutils") {
        return;
    }
    let (mut exported, mut declared) = (exported(&shared_library()), declared());
    exported.sort();
    declared.sort();
    assert_eq!(exported, declared, "exported functions (left) differ from declared ones (right)");
}

#[test]
fn released_library_stays_within_its_size_limit() {
    if !is_installed("strip", "binutils") {
        return;
    }
    let goblin = released_library("goblin");
    for (name, library, most) in
        [("goblin", goblin, MOST_BYTES_OF_GOBLIN), ("everything", shared_library(), MOST_BYTES)]
    {
        let stripped = output().join(format!("stripped-{name}.so"));
        run(Command::new("strip").arg("-o").arg(&stripped).arg(library));
        let size = fs::metadata(&stripped).expect("strip made it").len();
        eprintln!("the stripped release library with {name} takes {size} bytes");
        assert!(size <= most, "with {name} it takes {size} bytes: {most} were promised");
    }
}
