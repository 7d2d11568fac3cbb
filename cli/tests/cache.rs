//! `hob cache` over real directories and bundles.

mod common;

use std::fs;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

use common::{Scratch, contents};
use hobgoblin::program_cache::kind;
use hobgoblin::store::io::{OsIo, share};
use hobgoblin::store::{Name, Options, Store};

const NOW: u64 = 1_700_000_000;

/// A directory with `count` programs of an environment, of 1000 bytes each.
fn fill(directory: &Path, environment: u64, count: u8) {
    let mut store = Store::open(share(OsIo).unwrap(), directory, Options::new(|| NOW)).unwrap();
    for number in 0..count {
        let name = Name { kind: kind::PROGRAM, environment, key: [number; 32] };
        assert!(store.put(&name, 2000, &[number; 1000]).unwrap());
    }
    let start_up = Name { kind: kind::START_UP, environment, key: [0; 32] };
    store.put(&start_up, 0, [[1; 32], [2; 32]].as_flattened()).unwrap();
    store.seal().unwrap();
}

#[test]
fn info_counts_programs_of_each_environment_and_changes_nothing() {
    let scratch = Scratch::new();
    fill(&scratch.path("cache"), 0x11, 5);
    fill(&scratch.path("cache"), 0x22, 7);
    let before = contents(&scratch.path("cache"));
    let info = scratch.hob(&["cache", "info", "cache", "--json"]).succeeded().json();
    assert_eq!(info["environments"][0]["id"], "0000000000000011");
    assert_eq!(info["environments"][0]["programs"], 5);
    assert_eq!(info["environments"][1]["programs"], 7);
    assert_eq!(info["environments"][1]["build_ms"], 14);
    assert_eq!(info["environments"][1]["in_start_up_set"], 2);
    let text = scratch.hob(&["cache", "info", "cache"]).succeeded().out();
    assert!(text.starts_with("directory 'cache': 12 programs"), "{text}");
    assert_eq!(contents(&scratch.path("cache")), before);
}

#[test]
fn damaged_value_is_listed_and_changes_the_exit_code() {
    let scratch = Scratch::new();
    fill(&scratch.path("cache"), 0x11, 9);
    assert!(scratch.hob(&["cache", "verify", "cache"]).succeeded().out().contains("10 values are whole"));
    let is_segment = |path: &&Path| path.extension().is_some_and(|extension| extension == "seg");
    let files = contents(&scratch.path("cache"));
    let segment = files.iter().map(|(path, _)| path.as_path()).find(is_segment).expect("a segment");
    let mut file = fs::OpenOptions::new().read(true).write(true).open(segment).unwrap();
    let mut byte = [0];
    file.seek(SeekFrom::Start(3000)).unwrap();
    file.read_exact(&mut byte).unwrap();
    file.seek(SeekFrom::Start(3000)).unwrap();
    file.write_all(&[!byte[0]]).unwrap();
    let verified = scratch.hob(&["cache", "verify", "cache", "--json"]);
    assert_eq!(verified.code(), Some(1));
    assert_eq!(verified.json()["values"], 9);
    assert_eq!(verified.json()["damaged"].as_array().map(Vec::len), Some(1));
}

#[test]
fn exported_bundle_is_the_same_from_any_order_and_reads_back() {
    let scratch = Scratch::new();
    fill(&scratch.path("cache"), 0x11, 30);
    scratch.hob(&["cache", "export", "cache", "-o", "a.bundle"]).succeeded();
    let merged = scratch.hob(&["cache", "merge", "a.bundle", "--into", "copy", "--json"]).succeeded().json();
    assert_eq!(merged["copied"], 31);
    scratch.hob(&["cache", "export", "copy", "-o", "b.bundle"]).succeeded();
    assert_eq!(fs::read(scratch.path("a.bundle")).unwrap(), fs::read(scratch.path("b.bundle")).unwrap());
    let again = scratch.hob(&["cache", "merge", "cache", "b.bundle", "--into", "copy", "--json"]).succeeded().json();
    assert_eq!((&again["copied"], &again["present"]), (&0.into(), &62.into()));
    let info = scratch.hob(&["cache", "info", "b.bundle", "--json"]).succeeded().json();
    assert_eq!((&info["is_bundle"], &info["environments"][0]["programs"]), (&true.into(), &30.into()));
    scratch.hob(&["cache", "verify", "b.bundle"]).succeeded();
}

#[test]
fn export_into_the_own_directory_is_refused() {
    let scratch = Scratch::new();
    fill(&scratch.path("cache"), 0x11, 3);
    let error = scratch.hob(&["cache", "export", "cache", "-o", "cache/x.bundle"]).failed(2);
    assert!(error.contains("choose a path outside it"), "{error}");
    let error = scratch.hob(&["cache", "export", "cache", "-o", "x", "--environment", "00000000000000ff"]).failed(4);
    assert!(error.contains("there is no environment 00000000000000ff"), "{error}");
    assert!(!scratch.path("x").exists() && !scratch.path("x.new").exists());
}

#[test]
fn prune_removes_an_environment_old_programs_or_everything() {
    let scratch = Scratch::new();
    fill(&scratch.path("cache"), 0x11, 5);
    fill(&scratch.path("cache"), 0x22, 7);
    let count = |answer: serde_json::Value| (answer["values_before"].as_u64(), answer["values"].as_u64());
    let one = scratch.hob(&["cache", "prune", "cache", "--environment", "0000000000000022", "--json"]).succeeded();
    assert_eq!(count(one.json()), (Some(14), Some(6)));
    let kept = scratch.hob(&["cache", "prune", "cache", "--max-age", "100000", "--json"]).succeeded();
    assert_eq!(count(kept.json()), (Some(6), Some(6)));
    let all = scratch.hob(&["cache", "prune", "cache", "--all", "--json"]).succeeded();
    assert_eq!(count(all.json()), (Some(6), Some(0)));
    assert!(scratch.hob(&["cache", "prune", "cache"]).failed(2).contains("required"));
}

#[test]
fn prune_to_a_limit_removes_the_environment_that_was_used_longest_ago() {
    let scratch = Scratch::new();
    fill(&scratch.path("cache"), 0x11, 250);
    let mut later = Store::open(share(OsIo).unwrap(), &scratch.path("cache"), Options::new(|| NOW + 1000)).unwrap();
    for number in 0..250 {
        let name = Name { kind: kind::PROGRAM, environment: 0x22, key: [number; 32] };
        assert!(later.put(&name, 2000, &[number; 1000]).unwrap());
    }
    later.seal().unwrap();
    drop(later);
    scratch.hob(&["cache", "prune", "cache", "--limit", "400kB"]).succeeded();
    let info = scratch.hob(&["cache", "info", "cache", "--json"]).succeeded().json();
    assert_eq!(info["environments"].as_array().map(Vec::len), Some(1));
    assert_eq!(
        (&info["environments"][0]["id"], &info["environments"][0]["programs"]),
        (&"0000000000000022".into(), &250.into())
    );
    assert!(scratch.hob(&["cache", "prune", "cache", "--limit", "1kB"]).failed(2).contains("at least 256KiB"));
}

#[test]
fn files_that_are_no_cache_are_refused_with_a_sentence() {
    let scratch = Scratch::new();
    fs::write(scratch.path("text"), "no bundle").unwrap();
    for command in ["info", "verify"] {
        assert!(scratch.hob(&["cache", command, "missing"]).failed(3).contains("cannot read 'missing'"));
        assert!(scratch.hob(&["cache", command, "text"]).failed(3).contains("bundle"));
    }
    let error = scratch.hob(&["cache", "info", "missing", "--json"]).failed(3);
    assert!(error.starts_with("{\"error\":"), "{error}");
    fill(&scratch.path("cache"), 0x11, 30);
    scratch.hob(&["cache", "export", "cache", "-o", "whole"]).succeeded();
    let bytes = fs::read(scratch.path("whole")).unwrap();
    fs::write(scratch.path("part"), &bytes[..bytes.len() / 2]).unwrap();
    assert!(scratch.hob(&["cache", "info", "part"]).failed(3).contains("is damaged"));
}

#[test]
fn directory_with_a_secret_needs_it() {
    let scratch = Scratch::new();
    fs::write(scratch.path("secret"), "sixteen bytes or more").unwrap();
    fill(&scratch.path("cache"), 0x11, 4);
    scratch.hob(&["cache", "merge", "cache", "--into", "plain"]).succeeded();
    let read = |arguments: &[&str]| scratch.hob(arguments).succeeded().json()["environments"].as_array().unwrap().len();
    assert_eq!(read(&["cache", "info", "plain", "--json"]), 1);
    assert_eq!(read(&["cache", "info", "plain", "--json", "--secret", "secret"]), 0);
    fs::write(scratch.path("short"), "short").unwrap();
    let error = scratch.hob(&["cache", "info", "plain", "--secret", "short"]).failed(3);
    assert!(error.contains("pass at least 16 random bytes"), "{error}");
}
