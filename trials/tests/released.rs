//! The library as packages ship it: its exported functions and its size.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::Path;
use std::process::Command;

use hobgoblin_tests::api::Api;
use hobgoblin_tests::cpp::{EVERYTHING, is_installed, output, released_library, run};

/// The size limit of the stripped release library in bytes, by features.
const MOST_BYTES: [(&str, u64); 2] = [("goblin", 1000 * 1000), (EVERYTHING, 3 * 1000 * 1000)];

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
    let (mut exported, mut declared) = (exported(&released_library(EVERYTHING)), declared());
    exported.sort();
    declared.sort();
    assert_eq!(exported, declared, "exported functions (left) differ from declared ones (right)");
}

#[test]
fn released_library_stays_within_its_size_limit() {
    if !is_installed("strip", "binutils") {
        return;
    }
    for (features, most) in MOST_BYTES {
        let stripped = output().join(format!("stripped-{features}.so"));
        run(Command::new("strip").arg("-o").arg(&stripped).arg(released_library(features)));
        let size = fs::metadata(&stripped).expect("strip made it").len();
        eprintln!("the stripped release library with {features} takes {size} bytes");
        assert!(size <= most, "with {features} it takes {size} bytes: {most} were promised");
    }
}
