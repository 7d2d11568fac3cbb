//! `hob pipelines`, from recordings to a shipped cache.

mod common;

use std::fs;

use common::Scratch;
use common::recordings::{csv, record};

#[test]
fn recordings_become_a_shipped_cache_of_another_build() {
    let scratch = Scratch::new();
    record(&scratch.path("a.rec.hobpipe"), 1, 0, 20);
    record(&scratch.path("b.rec.hobpipe"), 2, 10, 30);
    fs::write(scratch.path("old.csv"), csv(0, 28)).unwrap();
    fs::write(scratch.path("new.csv"), csv(50, 25)).unwrap();
    for build in ["old", "new"] {
        let (csv, keys) = (format!("{build}.csv"), format!("{build}.hobkeys"));
        scratch.hob(&["pipelines", "keys", "import", &csv, "-o", &keys, "--build", build]).succeeded();
        let exported = scratch.hob(&["pipelines", "keys", "export", &keys]).succeeded().out();
        assert_eq!(exported.lines().count(), fs::read_to_string(scratch.path(&csv)).unwrap().lines().count());
    }
    let info = scratch.hob(&["pipelines", "record-info", "*.rec.hobpipe", "--json"]).succeeded().json();
    assert_eq!((&info["pipelines"], &info["recordings"][1]["uses"]), (&30.into(), &200.into()));

    let expanded = scratch.hob(&["pipelines", "expand", "*.rec.hobpipe", "--keys", "old.hobkeys", "--json"]);
    let expanded = expanded.succeeded().json();
    assert_eq!((&expanded["pipelines"], &expanded["stable"]), (&30.into(), &28.into()));
    assert_eq!(expanded["unresolved"].as_array().map(Vec::len), Some(2));
    assert_eq!(expanded["out"], "run_game_spirv.hobstable");

    let game = ["--project", "game", "--format", "spirv", "--api", "3", "--keys", "new.hobkeys"];
    let arguments = [&["pipelines", "build", "run_game_spirv.hobstable"], &game[..]].concat();
    let text = scratch.hob(&arguments).succeeded().out();
    assert!(text.contains("28 stable pipelines loaded, 3 rejected"), "{text}");
    assert!(text.contains("wrote 26 binary pipelines (graphics 25, compute 1, ray tracing 0)"), "{text}");
    let bytes = fs::read(scratch.path("game_spirv.stable.hobpipe")).unwrap();
    scratch.hob(&arguments).succeeded();
    assert_eq!(fs::read(scratch.path("game_spirv.stable.hobpipe")).unwrap(), bytes);
    let info = scratch.hob(&["pipelines", "info", "game_spirv.stable.hobpipe", "--json"]).succeeded().json();
    assert_eq!((&info["pipelines"], &info["missing"], &info["recorded"]), (&26.into(), &0.into(), &25.into()));

    fs::write(scratch.path("cut"), &bytes[..bytes.len() - 100]).unwrap();
    assert_eq!(scratch.hob(&["pipelines", "info", "cut"]).code(), Some(1));
}

#[test]
fn wrong_files_are_refused_by_name_and_nothing_is_written() {
    let scratch = Scratch::new();
    record(&scratch.path("a.rec.hobpipe"), 1, 0, 3);
    let error = scratch.hob(&["pipelines", "expand", "a.rec.hobpipe", "--keys", "a.rec.hobpipe", "-o", "x"]).failed(3);
    assert!(error.contains("not a key map"), "{error}");
    let error = scratch.hob(&["pipelines", "record-info", "*.missing"]).failed(3);
    assert!(error.contains("there is no file '*.missing'"), "{error}");
    fs::write(scratch.path("bad.csv"), "hash,stage,key\n00,0,short\n").unwrap();
    let error = scratch.hob(&["pipelines", "keys", "import", "bad.csv", "-o", "x"]).failed(3);
    assert!(error.contains("'bad.csv', line 2"), "{error}");
    assert!(!scratch.path("x").exists());
    fs::write(scratch.path("old.csv"), csv(50, 2)).unwrap();
    scratch.hob(&["pipelines", "keys", "import", "old.csv", "-o", "k"]).succeeded();
    scratch.hob(&["pipelines", "expand", "a.rec.hobpipe", "--keys", "k", "-o", "s"]).succeeded();
    let game = ["--project", "game", "--format", "spirv", "--api", "3", "--keys", "k", "-o", "x"];
    let error = scratch.hob(&[&["pipelines", "build", "s", "--no-compute"], &game[..]].concat()).failed(3);
    assert!(error.contains("0 graphics pipelines") || error.contains("no graphics pipeline"), "{error}");
    assert!(!scratch.path("x").exists());
}
