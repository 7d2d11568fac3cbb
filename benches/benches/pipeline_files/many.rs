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
const MEMORY: u64 = 8 << 10;

fn shader(number: usize) -> ShaderRef {
    let mut hash = [4; 20];
    hash[..8].copy_from_slice(&Random(number as u64).bits().to_le_bytes());
    ShaderRef { stage: 4, hash: ShaderHash(hash) }
}

fn write(directory: &Path) {
    std::fs::create_dir_all(directory).expect("it can be written");
    let mut keys = KeyMapBuilder::default();
    for number in 0..SHADERS {
        let ShaderRef { stage, hash } = shader(number);
        keys.add(&KeyLine { hash, stage, key: &format!("/Game/Materials/M_{number}") }).expect("there is memory");
    }
    let keys = keys.finish().expect("there is memory");
    keys.write(&io(), &directory.join("build.hobkeys"), "1", "PCD3D_SM5").expect("it can be written");
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
            description.shaders[0] = shader(number % SHADERS);
            let description = description.borrow();
            let (key, mask, frame) = (description.key(), Mask([1, 0, 0, 0]), place as u64);
            let readiness = Readiness::Unknown;
            let first = FirstUse { key, description, mask, frame, build_us: 900, readiness };
            recorder.record(&first).expect("it can be written");
        }
    }
}

pub fn print(directory: &Path) {
    write(directory);
    println!("{} different pipelines, each step in {MEMORY} MiB of address space", RUNS * ENTRIES);
    println!("{}", floor::HEAD);
    for (role, inputs) in [("expand", ".rec.hobpipe"), ("build", ".hobstable"), ("open", ".stable.hobpipe")] {
        let work = limited(role, directory, MEMORY);
        let inputs = floor::files(directory, &[inputs]);
        let (bytes, floor) = read_and_hash(&inputs);
        println!("{} {role}, {} MiB read\n{}", floor::line(work.all, [floor, floor]), bytes >> 20, work.log);
    }
}
