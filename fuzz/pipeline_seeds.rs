//! Writes one file of each kind, and one state of each kind of pipelines, as inputs of the fuzz target `pipelines`, into the directory in its argument.

use std::path::Path;

use hobgoblin::pipeline::build::{Build, BuildOptions};
use hobgoblin::pipeline::graphics::{
    Blend, ColorTarget, ComputeState, DepthTest, GraphicsState, RayTracingState, ShaderGroup, StencilFace,
    VertexAttribute, VertexBuffer,
};
use hobgoblin::pipeline::keys::{KeyLine, KeyMapBuilder};
use hobgoblin::pipeline::recording::{FirstUse, LaterUses, Readiness, Recorder, Recording, RunInfo};
use hobgoblin::pipeline::stable::{Expansion, StableFile};
use hobgoblin::pipeline::{Description, Dimension, Identity, Mask, ShaderHash, ShaderRef};
use hobgoblin::store::fault_io::FaultDisk;
use hobgoblin::store::io::share;

fn main() -> std::io::Result<()> {
    let out = std::env::args().nth(1).expect("give a directory for the seeds");
    std::fs::create_dir_all(&out)?;
    let disk = FaultDisk::default();
    write_all(&disk).expect("there is room");
    for path in disk.files() {
        let name = path.file_name().expect("it was given one").to_string_lossy();
        std::fs::write(format!("{out}/{name}"), disk.read(&path).expect("listed"))?;
    }
    for (name, bytes) in [
        ("graphics", graphics(1).encode()),
        ("compute", ComputeState::default().encode()),
        ("ray_tracing", ray_tracing().encode()),
    ] {
        std::fs::write(format!("{out}/{name}"), bytes.expect("it is valid"))?;
    }
    let csv = "hash,stage,key\n0101010101010101010101010101010101010101,0,\"Material1,Vertex\"\n";
    std::fs::write(format!("{out}/keys.csv"), csv)
}

/// A state that uses each part of the encoding.
fn graphics(layout: u64) -> GraphicsState {
    GraphicsState {
        layout,
        depth: Some(DepthTest::default()),
        stencil: Some([StencilFace::default(); 2]),
        vertex_buffers: vec![VertexBuffer { slot: 0, stride: 12, step_rate: 0 }],
        attributes: vec![VertexAttribute { format: 106, ..VertexAttribute::default() }],
        color_targets: vec![ColorTarget { format: 44, write_mask: 15, blend: Some(Blend::default()) }],
        ..GraphicsState::default()
    }
}

fn ray_tracing() -> RayTracingState {
    let hit = ShaderGroup::Procedural { closest_hit: Some(1), any_hit: None, intersection: 2 };
    RayTracingState { groups: vec![ShaderGroup::General { shader: 0 }, hit], ..RayTracingState::default() }
}

fn write_all(disk: &FaultDisk) -> Result<(), Box<dyn std::error::Error>> {
    disk.write(Path::new("/seeds/empty"), b"");
    let io = share(disk.process())?;
    let [recording, keys, stable, built] =
        ["/seeds/recording", "/seeds/keys", "/seeds/stable", "/seeds/built"].map(Path::new);
    let identity = Identity::new("game", "spirv", 3)?;
    let dimensions = vec![Dimension { name: "quality".to_owned(), width: 3 }];
    let run = RunInfo { identity, version: "1".to_owned(), dimensions, ..RunInfo::default() };
    let mut recorder = Recorder::create(&io, recording, &run)?;
    let mut map = KeyMapBuilder::default();
    for number in 0..4_u8 {
        let shader = |stage: u32| ShaderRef { stage, hash: ShaderHash([number + stage as u8; 20]) };
        let state = graphics(number.into()).encode()?;
        let description = Description { state, shaders: vec![shader(0), shader(4)], ..Description::default() };
        let (key, mask) = (description.borrow().key(), Mask::of_bits(number.into()));
        let first = FirstUse { key, description: description.borrow(), mask, frame: number.into(), build_us: 5, readiness: Readiness::Missed };
        recorder.record(&first)?;
        recorder.record_uses(&[LaterUses { key, times: 3, mask }])?;
        for ShaderRef { stage, hash } in description.shaders {
            map.add(&KeyLine { hash, stage, key: &format!("Material{number},Stage{stage}") })?;
        }
    }
    recorder.sync()?;
    drop(recorder);
    let map = map.finish()?;
    map.write(&io, keys, "1", "spirv")?;
    let recording = Recording::open(&io, recording)?;
    let mut expansion = Expansion::like(&recording)?;
    expansion.add(&recording)?;
    expansion.finish(&map, &io, stable)?;
    let mut build = Build::new(&run.identity, "2", &map, BuildOptions::default())?;
    build.add(&StableFile::open(&io, stable)?)?;
    build.finish(&io, built)?;
    Ok(())
}
