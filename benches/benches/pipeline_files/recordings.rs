//! 5,000,000 recorded entries of 534 bytes.

use std::path::Path;

use hobgoblin::pipeline::keys::{KeyLine, KeyMapBuilder};
use hobgoblin::pipeline::recording::{FirstUse, Readiness, Recorder, RunInfo};
use hobgoblin::pipeline::{Description, Mask, PipelineKey, PipelineKind, Schema, ShaderHash, ShaderRef};
use hobgoblin_bench::random::Random;

use crate::floor;
use crate::worker::{identity, io, limited};

const RUNS: usize = 2_000;
const ENTRIES: usize = 2_500;
const PIPELINES: usize = 35_084;
/// A payload has a mask of 32 bytes, 11 bytes of counts, the state, and two shaders of 24 bytes.
const STATE: usize = 534 - 32 - 11 - 2 * 24;
/// Address space of the merge in MiB: all of it, with the program, the key map and the stable file.
const MEMORY: u64 = 64;

fn shader(stage: u32, number: usize) -> ShaderRef {
    let mut hash = [stage as u8; 20];
    hash[..8].copy_from_slice(&Random(number as u64).bits().to_le_bytes());
    ShaderRef { stage, hash: ShaderHash(hash) }
}

fn pipelines() -> Vec<(PipelineKey, Description)> {
    let mut random = Random(1);
    let mut pipeline = |number: usize| {
        let mut state = vec![0; STATE];
        state[..8].copy_from_slice(&random.bits().to_le_bytes());
        let shaders = vec![shader(0, number % 4_000), shader(4, number)];
        let description = Description { kind: PipelineKind::Graphics, schema: Schema(1), state, shaders };
        (description.borrow().key(), description)
    };
    (0..PIPELINES).map(&mut pipeline).collect()
}

fn write(directory: &Path) {
    std::fs::create_dir_all(directory).expect("it can be written");
    let (pipelines, io) = (pipelines(), io());
    let mut keys = KeyMapBuilder::default();
    for (number, (_, description)) in pipelines.iter().enumerate() {
        for shader in &description.shaders {
            let number = if shader.stage == 0 { number % 4_000 } else { number };
            let key = format!("/Game/Materials/M_{number},{}", shader.stage);
            keys.add(&KeyLine { hash: shader.hash, stage: shader.stage, key: &key }).expect("there is memory");
        }
    }
    let keys = keys.finish().expect("there is memory");
    keys.write(&io, &directory.join("build.hobkeys"), "1", "PCD3D_SM5").expect("it can be written");
    let mut random = Random(2);
    let mut order: Vec<usize> = (0..PIPELINES).collect();
    for run in 0..RUNS {
        let mut id = [0; 16];
        id[..8].copy_from_slice(&random.bits().to_le_bytes());
        let info =
            RunInfo { identity: identity(), version: "1".into(), run: id, started: run as u64, ..RunInfo::default() };
        let path = directory.join(format!("{run:04}.rec.hobpipe"));
        let mut recorder = Recorder::create(&io, &path, &info).expect("it can be written");
        for place in 0..ENTRIES {
            let other = place + random.below(PIPELINES - place);
            order.swap(place, other);
            let (key, description) = &pipelines[order[place]];
            let mask = Mask([1 << random.below(8), 0, 0, 0]);
            let description = description.borrow();
            let first = FirstUse {
                key: *key,
                description,
                mask,
                frame: place as u64,
                build_us: 900,
                readiness: Readiness::Unknown,
            };
            recorder.record(&first).expect("it can be written");
        }
    }
}

pub fn print(directory: &Path) {
    write(directory);
    let paths = floor::files(directory, &[".rec.hobpipe", ".hobkeys"]);
    let entries = (RUNS * ENTRIES) as f64;
    println!(
        "merging {} recorded entries of 534 bytes, {RUNS} recordings, in {MEMORY} MiB of address space",
        RUNS * ENTRIES
    );
    println!("{}   entries/s", floor::HEAD);
    let mut log = String::new();
    for _ in 0..3 {
        let (_, before) = floor::read_and_hash(&paths);
        let work = limited("expand", directory, MEMORY);
        let (_, after) = floor::read_and_hash(&paths);
        println!("{} {:11.0}", floor::line(work.all, [before, after]), entries / work.all.processor);
        log = work.log;
    }
    println!("{log}");
    std::fs::remove_dir_all(directory).expect("it was written");
}
