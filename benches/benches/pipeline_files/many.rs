//! 5,000,000 different pipelines: a recording of each, a stable file, a shipped cache, and its opening.

use std::path::Path;

use hobgoblin::pipeline::keys::{KeyLine, KeyMapBuilder};
use hobgoblin::pipeline::recording::{FirstUse, Readiness, Recorder, RunInfo};
use hobgoblin::pipeline::{Description, Mask, PipelineKind, Schema, ShaderHash, ShaderRef};
use hobgoblin_bench::random::Random;

use crate::floor::{self, read_and_hash};
use crate::worker::{identity, io, limited};

const RUNS: usize = 50;
const ENTRIES: usize = 100_000;
const SHADERS: usize = 100_000;
/// Address space of a step, in MiB.
const MEMORY: u64 = 1 << 10;
/// Shaders that strange pipelines have in common with a key map.
const KNOWN: usize = 10;

fn shader(number: usize) -> ShaderRef {
    let mut hash = [4; 20];
    hash[..8].copy_from_slice(&Random(number as u64).bits().to_le_bytes());
    ShaderRef { stage: 4, hash: ShaderHash(hash) }
}

/// A key map of the first shaders.
fn write_keys(directory: &Path, known: usize) {
    let mut keys = KeyMapBuilder::default();
    for number in 0..known {
        let ShaderRef { stage, hash } = shader(number);
        keys.add(&KeyLine { hash, stage, key: &format!("/Game/Materials/M_{number}") }).expect("there is memory");
    }
    let keys = keys.finish().expect("there is memory");
    keys.write(&io(), &directory.join("build.hobkeys"), "1", "PCD3D_SM5").expect("it can be written");
}

/// Recordings of pipelines that have so many different shaders.
fn write(directory: &Path, shaders: usize) {
    std::fs::create_dir_all(directory).expect("it can be written");
    let mut description = Description {
        kind: PipelineKind::Graphics,
        schema: Schema(1),
        state: vec![0; 16],
        shaders: vec![ShaderRef::default()],
    };
    for run in 0..RUNS {
        let id = [run as u8; 16];
        let info = RunInfo { identity: identity(), version: "1".into(), run: id, started: 1, ..RunInfo::default() };
        let path = directory.join(format!("{run:02}.rec.hobpipe"));
        let mut recorder = Recorder::create(&io(), &path, &info).expect("it can be written");
        for place in 0..ENTRIES {
            let number = run * ENTRIES + place;
            description.state[..8].copy_from_slice(&(number as u64).to_le_bytes());
            description.shaders[0] = shader(number % shaders);
            let description = description.borrow();
            let (key, mask, frame) = (description.key(), Mask([1, 0, 0, 0]), place as u64);
            let readiness = Readiness::Unknown;
            let first = FirstUse { key, description, mask, frame, build_us: 900, readiness };
            recorder.record(&first).expect("it can be written");
        }
    }
}

fn step(directory: &Path, role: &str, inputs: &str) {
    let work = limited(role, directory, MEMORY);
    let inputs = floor::files(directory, &[inputs]);
    let (bytes, floor) = read_and_hash(&inputs);
    println!("{} {role}, {} MiB read\n{}", floor::line(work.all, [floor, floor]), bytes >> 20, work.log);
}

pub fn print(directory: &Path) {
    write(directory, SHADERS);
    write_keys(directory, SHADERS);
    println!("{} different pipelines, each step in {MEMORY} MiB of address space", RUNS * ENTRIES);
    println!("{}", floor::HEAD);
    step(directory, "expand", ".rec.hobpipe");
    step(directory, "build", ".hobstable");
    step(directory, "open", ".stable.hobpipe");
}

/// An expansion of pipelines with a shader each, and a build of stable pipelines. Their key maps have ten of the
/// shaders.
pub fn print_strange(directory: &Path) {
    println!("{} different pipelines, nearly all without a key or a shader, in {MEMORY} MiB", RUNS * ENTRIES);
    println!("{}", floor::HEAD);
    write(directory, RUNS * ENTRIES);
    write_keys(directory, KNOWN);
    step(directory, "expand", ".rec.hobpipe");
    write(&directory.join("stable"), SHADERS);
    write_keys(&directory.join("stable"), SHADERS);
    step(&directory.join("stable"), "expand", ".rec.hobpipe");
    write_keys(&directory.join("stable"), KNOWN);
    step(&directory.join("stable"), "build", ".hobstable");
}
