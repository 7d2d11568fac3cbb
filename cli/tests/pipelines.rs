//! `hob pipelines`, from recordings to a shipped cache.

mod common;

use std::fs;
use std::path::Path;

use common::Scratch;
use common::recordings::{csv, record};
use hobgoblin::pipeline::graphics::{GraphicsState, VertexAttribute, VertexBuffer};
use hobgoblin::pipeline::recording::{FirstUse, Readiness, Recorder, RunInfo};
use hobgoblin::pipeline::{DescriptionRef, Identity, Mask, PipelineKind, Schema, ShaderHash, ShaderRef};
use hobgoblin::store::io::{OsIo, share};

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
    let of = |field| info["recordings"][1][field].as_u64().expect("a number");
    assert_eq!(["ready", "missed", "new"].map(of), [0, 0, of("pipelines")]);

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
    assert_eq!(info["timelines"], 2);
    assert!(info["sightings"].as_u64() > Some(25), "{info}");

    fs::write(scratch.path("cut"), &bytes[..bytes.len() - 100]).unwrap();
    assert_eq!(scratch.hob(&["pipelines", "info", "cut"]).code(), Some(1));
}

/// A recording of pipelines of the library's own schema with one vertex shader. Each has a list of attribute locations.
fn record_own(path: &Path, pipelines: &[&[u32]]) {
    let io = share(OsIo).unwrap();
    let identity = Identity::new("game", "spirv", 3).unwrap();
    let mut recorder = Recorder::create(&io, path, &RunInfo { identity, ..RunInfo::default() }).unwrap();
    let shaders = [(0, 50), (4, 200)].map(|(stage, hash)| ShaderRef { stage, hash: ShaderHash([hash; 20]) });
    for (frame, locations) in (0..).zip(pipelines) {
        let attribute = |&location: &u32| VertexAttribute { location, format: 106, ..VertexAttribute::default() };
        let state = GraphicsState {
            layout: frame,
            vertex_buffers: vec![VertexBuffer { slot: 0, stride: 12, step_rate: 0 }],
            attributes: locations.iter().map(attribute).collect(),
            ..GraphicsState::default()
        };
        let (kind, state) = (PipelineKind::Graphics, state.encode().unwrap());
        let description = DescriptionRef { kind, schema: Schema::OWN, state: &state, shaders: &shaders };
        let (key, mask) = (description.key(), Mask::of_bits(1));
        recorder
            .record(&FirstUse { key, description, mask, frame, build_us: 100, readiness: Readiness::Unknown })
            .unwrap();
    }
}

#[test]
fn build_prints_a_count_for_each_sanitising_rule() {
    let scratch = Scratch::new();
    record_own(&scratch.path("a.rec.hobpipe"), &[&[0, 1], &[0, 1], &[0], &[]]);
    fs::write(scratch.path("new.csv"), csv(50, 1)).unwrap();
    scratch.hob(&["pipelines", "keys", "import", "new.csv", "-o", "k"]).succeeded();
    scratch.hob(&["pipelines", "expand", "a.rec.hobpipe", "--keys", "k", "-o", "s"]).succeeded();
    let game =
        ["pipelines", "build", "s", "--project", "game", "--format", "spirv", "--api", "3", "--keys", "k", "-o", "x"];
    let text = scratch.hob(&game).succeeded().out();
    let lines = "1 vertex shaders are used with an inconsistent vertex format\n\
        before sanitising 5\n\
        filtered out: inconsistent vertex declaration 1\n\
        filtered out: incompatible with an empty declaration 1\n\
        filtered out: invalid state 0\n\
        not checked: state in a schema of the host 0\n\
        after sanitising 3\n\
        wrote 3 binary pipelines (graphics 2, compute 1, ray tracing 0)";
    assert!(text.contains(lines), "{text}");
    let counts = &scratch.hob(&[&game[..], &["--json"]].concat()).succeeded().json()["sanitising"];
    let count = |name: &str| counts[name].as_u64();
    assert_eq!((count("before"), count("after"), count("not_checked")), (Some(5), Some(3), Some(0)));
    assert_eq!((count("inconsistent_vertex_declaration"), count("empty_declaration")), (Some(1), Some(1)));
    let all = scratch.hob(&[&game[..], &["--no-sanitising", "--json"]].concat()).succeeded().json();
    assert_eq!((&all["graphics"], all["sanitising"].is_null()), (&4.into(), true));
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
    fs::write(scratch.path("old.csv"), csv(0, 3)).unwrap();
    fs::write(scratch.path("new.csv"), csv(50, 0)).unwrap();
    scratch.hob(&["pipelines", "keys", "import", "new.csv", "-o", "k"]).succeeded();
    scratch.hob(&["pipelines", "expand", "a.rec.hobpipe", "--keys", "old.csv", "-o", "s"]).succeeded();
    let game = ["--project", "game", "--format", "spirv", "--api", "3", "--keys", "k", "-o", "x"];
    let error = scratch.hob(&[&["pipelines", "build", "s", "--no-compute"], &game[..]].concat()).failed(4);
    assert!(error.contains("0 graphics pipelines") || error.contains("no graphics pipeline"), "{error}");
    assert!(!scratch.path("x").exists());
}
