//! A build with the counts of the sample log of the Unreal Engine's documentation.
//!
//! The log has 3,554 + 3,833,694 key lines and 13,238 stable pipelines, 2,329 of them rejected. It has 5,840,141 merged
//! ones and 35,381 written ones, 547 of them compute pipelines. So a pipeline is merged 167 times: materials that differ
//! in their names share the bytecode of their shaders. Here they form groups. All stable pipelines of a group have the
//! same shaders in this build.

use std::path::Path;

use hobgoblin::pipeline::graphics::{ColorTarget, ComputeState, GraphicsState, VertexAttribute, VertexBuffer};
use hobgoblin::pipeline::keys::{KeyLine, KeyMap, KeyMapBuilder};
use hobgoblin::pipeline::recording::{FirstUse, Readiness, Recorder, Recording, RunInfo};
use hobgoblin::pipeline::stable::Expansion;
use hobgoblin::pipeline::{Description, Mask, PipelineKind, Schema, ShaderHash, ShaderRef};
use hobgoblin_bench::random::Random;

use crate::floor;
use crate::worker::{identity, io, limited};

const GLOBAL_LINES: usize = 3_554;
const LINES: usize = 3_833_694;
const COMPUTE: usize = 547;
const RECORDED_COMPUTE: usize = 249;
const REJECTED: usize = 2_329;
const FILES: usize = 8;
const VERTEX: u32 = 0;
const FRAGMENT: u32 = 4;
const COMPUTE_STAGE: u32 = 5;

/// Stable pipelines with the same shaders in this build.
struct Group {
    members: usize,
    vertex: usize,
    fragment: usize,
}

/// 10,660 graphics pipelines, which become 34,835 by 5,839,892 merges. The first group has no vertex attributes, and the
/// vertex shader of another group.
fn groups() -> Vec<Group> {
    let mut groups = vec![Group { members: 90, vertex: 1, fragment: 1 }];
    groups.extend((0..58).map(|_| Group { members: 89, vertex: 7, fragment: 79 }));
    groups.extend([1082, 1082, 1082, 1081, 1081].map(|members| Group { members, vertex: 23, fragment: 24 }));
    groups
}

fn hash(build: u8, what: u32, group: usize, number: usize) -> ShaderHash {
    let seed = (u64::from(build) << 56) | (u64::from(what) << 48) | ((group as u64) << 32) | number as u64;
    let mut bytes = [build; 20];
    bytes[..8].copy_from_slice(&Random(seed).bits().to_le_bytes());
    bytes[8..16].copy_from_slice(&seed.to_le_bytes());
    ShaderHash(bytes)
}

/// A stable key as Unreal writes them: material, vertex factory, shader type, permutation, platform.
fn text(what: u32, group: usize, number: usize) -> String {
    let (kind, pass) = if what == VERTEX { ("FLocalVertexFactory", "VS") } else { ("FGPUSkinVertexFactory", "PS") };
    format!(
        "M_Prop_{number:06},/Game/Environment/Area_{group:03}/Materials,{kind},TBasePass{pass}FNoLightMapPolicy,{},PCD3D_SM5",
        number % 7
    )
}

fn add(keys: &mut KeyMapBuilder, hash: ShaderHash, stage: u32, key: &str) {
    keys.add(&KeyLine { hash, stage, key }).expect("there is memory");
}

/// A stable pipeline before it is expanded: as the first build recorded it.
struct Recorded {
    description: Description,
    keys: Vec<String>,
}

fn recorded() -> Vec<Recorded> {
    let graphics = |group: usize, member: usize| {
        let shaders = [VERTEX, FRAGMENT].map(|stage| ShaderRef { stage, hash: hash(1, stage, group, member) });
        let attribute = |location| VertexAttribute { location, slot: 0, offset: 12 * location, format: 106 };
        let state = GraphicsState {
            layout: group as u64,
            vertex_buffers: vec![VertexBuffer { slot: 0, stride: 48, step_rate: 0 }],
            attributes: (0..4).filter(|_| group > 0).map(attribute).collect(),
            color_targets: vec![ColorTarget { format: 44, write_mask: 15, blend: None }],
            ..GraphicsState::default()
        };
        let state = state.encode().expect("valid");
        let keys = [VERTEX, FRAGMENT].map(|stage| text(stage, group, member)).into();
        let description =
            Description { kind: PipelineKind::Graphics, schema: Schema::OWN, state, shaders: shaders.into() };
        Recorded { description, keys }
    };
    let compute = |number: usize| {
        let shaders = vec![ShaderRef { stage: COMPUTE_STAGE, hash: hash(1, COMPUTE_STAGE, 0, number) }];
        let state = ComputeState::default().encode().expect("valid");
        let description = Description { kind: PipelineKind::Compute, schema: Schema::OWN, state, shaders };
        Recorded { description, keys: vec![text(COMPUTE_STAGE, 0, number)] }
    };
    let groups = groups();
    let mut all: Vec<Recorded> = Vec::new();
    for (number, group) in groups.iter().enumerate() {
        all.extend((0..group.members).map(|member| graphics(number, member)));
    }
    // No shader of this build has their keys.
    all.extend((0..REJECTED).map(|member| graphics(groups.len(), member)));
    all.extend((0..RECORDED_COMPUTE).map(compute));
    Random(3).shuffle(&mut all);
    all
}

fn write_stable(directory: &Path) {
    let (all, io) = (recorded(), io());
    let mut keys = KeyMapBuilder::default();
    for Recorded { description, keys: texts } in &all {
        let lines = description.shaders.iter().zip(texts);
        lines.for_each(|(shader, text)| add(&mut keys, shader.hash, shader.stage, text));
    }
    let keys = keys.finish().expect("there is memory");
    for (file, pipelines) in all.chunks(all.len().div_ceil(FILES)).enumerate() {
        let info = RunInfo {
            identity: identity(),
            version: "1".into(),
            run: [file as u8; 16],
            started: file as u64,
            ..RunInfo::default()
        };
        let path = directory.join(format!("{file}.rec.hobpipe"));
        let mut recorder = Recorder::create(&io, &path, &info).expect("it can be written");
        for (place, Recorded { description, .. }) in pipelines.iter().enumerate() {
            let description = description.borrow();
            let (key, mask) = (description.key(), Mask([1 + file as u64 % 2, 0, 0, 0]));
            let first =
                FirstUse { key, description, mask, frame: place as u64, build_us: 900, readiness: Readiness::Unknown };
            recorder.record(&first).expect("it can be written");
        }
        drop(recorder);
        let recording = Recording::open(&io, &path).expect("it was written");
        let mut expansion = Expansion::like(&recording).expect("there is memory");
        assert!(expansion.add(&recording).expect("it fits"));
        expansion.finish(&keys, &io, &directory.join(format!("{file}.hobstable"))).expect("it can be written");
        std::fs::remove_file(path).expect("it was written");
    }
}

fn write_keys(directory: &Path, name: &str, build: impl FnOnce(&mut KeyMapBuilder)) -> KeyMap {
    let mut keys = KeyMapBuilder::default();
    build(&mut keys);
    let keys = keys.finish().expect("there is memory");
    keys.write(&io(), &directory.join(name), "2", "PCD3D_SM5").expect("it can be written");
    keys
}

/// Lines of shaders that no recording used.
fn add_others(keys: &mut KeyMapBuilder, count: usize, build: u8) {
    for number in 0..count {
        // Three shaders have a key, such as those of three platforms' permutations.
        let stage = if number % 2 == 0 { VERTEX } else { FRAGMENT };
        let text = text(stage, 500 + usize::from(build), number / 6);
        add(keys, hash(build, stage, 0, number), stage, &text);
    }
}

fn write(directory: &Path) {
    std::fs::create_dir_all(directory).expect("it can be written");
    write_stable(directory);
    write_keys(directory, "global.hobkeys", |keys| {
        for number in 0..COMPUTE {
            add(keys, hash(2, COMPUTE_STAGE, 0, number), COMPUTE_STAGE, &text(COMPUTE_STAGE, 0, number));
        }
        add_others(keys, GLOBAL_LINES - COMPUTE, 3);
    });
    write_keys(directory, "materials.hobkeys", |keys| {
        for (number, Group { members, vertex, fragment }) in groups().into_iter().enumerate() {
            for member in 0..members {
                for (stage, count) in [(VERTEX, vertex), (FRAGMENT, fragment)] {
                    let text = text(stage, number, member);
                    let owner = if stage == VERTEX { number.max(1) } else { number };
                    (0..count).for_each(|shader| add(keys, hash(2, stage, owner, shader), stage, &text));
                }
            }
        }
        add_others(keys, LINES - keys.len(), 4);
    });
}

pub fn print(directory: &Path) {
    write(directory);
    let inputs = floor::files(directory, &[".hobkeys", ".hobstable"]);
    // 64 MiB, and the cache of 16 MB.
    let memory = 64 + 16;
    let bytes = floor::read_and_hash(&inputs).0;
    println!("the counts of the sample log: {bytes} bytes of files; {memory} MiB of address space");
    println!("{}    keys, s", floor::HEAD);
    let mut log = String::new();
    for _ in 0..3 {
        let (_, before) = floor::read_and_hash(&inputs);
        let work = limited("build", directory, memory);
        let (_, after) = floor::read_and_hash(&inputs);
        println!("{} {:10.3}", floor::line(work.all, [before, after]), work.keys.processor);
        log = work.log;
    }
    println!("{log}");
}
