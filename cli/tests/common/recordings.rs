//! Recordings and shipped caches for tests.
#![allow(dead_code, reason = "not every test uses all of them")]

use std::path::Path;

use hobgoblin::pipeline::recording::{FirstUse, LaterUses, Readiness, Recorder, RunInfo};
use hobgoblin::pipeline::{DescriptionRef, Identity, Mask, PipelineKind, Schema, ShaderHash, ShaderRef};
use hobgoblin::store::io::{OsIo, share};

use super::Scratch;

/// A recording of pipelines with the vertex shaders `first` to `last`, and one fragment shader.
pub fn record(path: &Path, run: u8, first: u8, last: u8) {
    record_as(path, &run_of("game", run), first, last, 100);
}

/// A run of a project.
pub fn run_of(project: &str, run: u8) -> RunInfo {
    let identity = Identity::new(project, "spirv", 3).unwrap();
    RunInfo { identity, version: "1.0".into(), run: [run; 16], ..RunInfo::default() }
}

/// [`record`] of another run, with a build time for each pipeline. Its mask is the number of the run.
pub fn record_as(path: &Path, info: &RunInfo, first: u8, last: u8, build_us: u32) {
    let (io, run) = (share(OsIo).unwrap(), info.run[0]);
    let mut recorder = Recorder::create(&io, path, info).unwrap();
    for number in first..last {
        let shaders = [(0, number), (4, 200)].map(|(stage, hash)| ShaderRef { stage, hash: ShaderHash([hash; 20]) });
        let description =
            DescriptionRef { kind: PipelineKind::Graphics, schema: Schema(1), state: b"state", shaders: &shaders };
        let (key, mask) = (description.key(), Mask::of_bits(run.into()));
        recorder
            .record(&FirstUse { key, description, mask, frame: number.into(), build_us, readiness: Readiness::Unknown })
            .unwrap();
        recorder.record_uses(&[LaterUses { key, times: 9, mask }]).unwrap();
    }
}

/// The keys of a build, as CSV. The hash of shader `number` is that of `number + shift`.
pub fn csv(shift: u8, count: u8) -> String {
    let hash = |number: u8| format!("{number:02x}").repeat(20);
    let vertices = (0..count).map(|number| format!("{},0,\"Rock{number},Static,Vertex\"\r\n", hash(number + shift)));
    let lines: String = vertices.collect();
    format!("hash,stage,key\r\n{lines}{},4,\"Rock,Pixel\"\r\n{},5,\"Cull,Compute\"\r\n", hash(200), hash(201))
}

/// A shipped cache of the vertex shaders `first` to `last`, recorded by a run, for shaders that did not change. Its key map
/// is `keys`.
pub fn build(scratch: &Scratch, out: &str, run: u8, first: u8, last: u8) {
    let recording = format!("{out}.recorded");
    record(&scratch.path(&recording), run, first, last);
    if !scratch.path("keys").exists() {
        std::fs::write(scratch.path("keys.csv"), csv(0, 100)).unwrap();
        scratch.hob(&["pipelines", "keys", "import", "keys.csv", "-o", "keys"]).succeeded();
    }
    let stable = format!("{out}.hobstable");
    scratch.hob(&["pipelines", "expand", &recording, "--keys", "keys", "-o", &stable]).succeeded();
    let game = ["--project", "game", "--format", "spirv", "--api", "3", "--keys", "keys", "--no-compute"];
    let game = [&game[..], &["--game-version", "1.0", "-o", out]].concat();
    scratch.hob(&[&["pipelines", "build", &stable], &game[..]].concat()).succeeded();
}
