//! Reads any bytes as each file of pipelines: a recording, a key map, a stable file, a shipped cache. Reading ends with
//! an error, or with content for the next step. The file that the next step writes is read back without damage, and is the
//! same with memory for few pipelines, which then go through temporary files. The bytes are also decoded as a state of the
//! library's own schema. A decoded state encodes to the same bytes. Each input is also read with right checksums, so that
//! invalid data reaches the code behind them. `pipeline_seeds` writes such files.
#![no_main]

use std::path::{Path, PathBuf};

use hobgoblin::pipeline::build::{Build, BuildOptions, BuildReport};
use hobgoblin::pipeline::graphics::{ComputeState, GraphicsState, RayTracingState};
use hobgoblin::pipeline::keys::{KeyLine, KeyMap, KeyMapBuilder, NO_STAGE, Wanted};
use hobgoblin::pipeline::recording::{Merged, Recorded, Recording};
use hobgoblin::pipeline::stable::{Expanded, Expansion, StableFile};
use hobgoblin::pipeline::precompile::MAX_SIGHTINGS;
use hobgoblin::pipeline::{FIRST_OWN_STAGE, LAST_STAGE, ShaderHash, Shipped, ShippedScan};
use hobgoblin::store::fault_io::FaultDisk;
use hobgoblin::store::io::share;
use libfuzzer_sys::fuzz_target;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

const HEADS: usize = 64;
const HEADER: usize = 80;
/// Format of a file's heads, without the kind. The version is 1.
const FORMAT: u32 = 1 << 30 | 1;
const OUT: &str = "/fuzz/out";
const OTHER: &str = "/fuzz/other";

fuzz_target!(|bytes: &[u8]| {
    let path = Path::new("input");
    check_state(bytes);
    for bytes in [bytes.to_vec(), sealed(bytes)] {
        if let Ok(recording) = Recording::of_bytes(bytes.clone(), path) {
            check_recording(&recording);
        }
        check_keys(bytes.clone());
        if let Ok(file) = StableFile::of_bytes(bytes.clone(), path) {
            check_stable(&file);
        }
        check_shipped(bytes);
    }
});

/// Reads bytes as a state of each kind, and also with the version and the kind of each.
fn check_state(bytes: &[u8]) {
    check_encoding(bytes);
    let rest = bytes.get(2..).unwrap_or_default();
    for kind in 0..3 {
        check_encoding(&[&[1, kind], rest].concat());
    }
}

fn check_encoding(bytes: &[u8]) {
    if let Ok(state) = GraphicsState::decode(bytes) {
        assert_eq!(state.encode().expect("it was decoded"), bytes);
    }
    if let Ok(state) = ComputeState::decode(bytes) {
        assert_eq!(state.encode().expect("it was decoded"), bytes);
    }
    if let Ok(state) = RayTracingState::decode(bytes) {
        assert_eq!(state.encode().expect("it was decoded"), bytes);
    }
}

/// The file with right checksums.
fn sealed(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let Some((heads, _)) = bytes.split_at_mut_checked(HEADS) else { return bytes };
    let kind = u32::from(heads[9] % 4 + 1);
    for head in heads.chunks_exact_mut(32) {
        head[..8].copy_from_slice(b"HOBSEG\r\n");
        head[8..12].copy_from_slice(&(FORMAT | kind << 8).to_le_bytes());
        head[12..20].fill(0);
        let hash = xxh3_64(&head[..28]) as u32;
        head[28..].copy_from_slice(&hash.to_le_bytes());
    }
    let seed = bytes[20..].first_chunk().map_or(0, |seed| u64::from_le_bytes(*seed));
    let mut at = HEADS;
    while at + HEADER <= bytes.len() {
        let length = bytes[at + 4..].first_chunk().map_or(0, |length| u32::from_le_bytes(*length)) as usize;
        let end = (at + HEADER).saturating_add(length);
        let Some(payload) = bytes.get(at + HEADER..end).filter(|_| bytes[at..at + 2] == *b"hR") else {
            at += 16;
            continue;
        };
        let hash = xxh3_64(payload);
        bytes[at + 64..at + 72].copy_from_slice(&hash.to_le_bytes());
        let hash = xxh3_64_with_seed(&bytes[at..at + 72], seed.wrapping_add(at as u64));
        bytes[at + 72..at + 80].copy_from_slice(&hash.to_le_bytes());
        at = end.next_multiple_of(16);
    }
    bytes
}

/// A disk with the directory of the output.
fn disk() -> FaultDisk {
    let disk = FaultDisk::default();
    disk.write(Path::new(OTHER), b"");
    disk
}

/// A key for every shader.
fn some_keys(recording: &Recording) -> KeyMap {
    let mut keys = KeyMapBuilder::default();
    let added = recording.for_each(|record| {
        let Recorded::First(first) = record else { return Ok(()) };
        first.description.shaders.iter().try_for_each(|shader| {
            let key = format!("Shader{},{}", shader.hash.0[0] % 8, shader.stage);
            keys.add(&KeyLine { hash: shader.hash, stage: shader.stage, key: &key })
        })
    });
    added.expect("there is memory");
    keys.finish().expect("there is memory")
}

fn check_recording(recording: &Recording) {
    let mut merged = Merged::default();
    let lost = merged.add(recording).expect("there is memory");
    assert_eq!(Merged::default().add(recording).expect("there is memory"), lost);
    let keys = some_keys(recording);
    if Expansion::like(recording).is_err() {
        return;
    }
    let whole = expanded(recording, &keys, None);
    assert_eq!(expanded(recording, &keys, Some(little_memory(recording.length()))), whole);
    // A text may be longer than a file can say.
    let Ok((bytes, report)) = whole else { return };
    assert_eq!(report.pipelines, merged.len() as u64);
    let file = StableFile::of_bytes(bytes, Path::new(OUT)).expect("it was written");
    assert_eq!(check_stable(&file), report.stable);
}

/// So little memory that an input of this length goes through temporary files, in parts of one record and more.
fn little_memory(length: u64) -> usize {
    (length % 5 * 400) as usize
}

/// The file at the output, which is the only new one.
fn written(disk: &FaultDisk) -> Vec<u8> {
    assert_eq!(disk.files(), [Path::new(OTHER), Path::new(OUT)]);
    disk.read(Path::new(OUT)).expect("it was written")
}

/// The stable file of a recording and the report, or the error.
fn expanded(recording: &Recording, keys: &KeyMap, memory: Option<usize>) -> Result<(Vec<u8>, Expanded), String> {
    let disk = disk();
    let io = share(disk.process()).expect("there is memory");
    let mut expansion = Expansion::like(recording).expect("it was possible before");
    if let Some(memory) = memory {
        expansion.spill_beside(&io, Path::new(OUT), memory).expect("there is memory");
    }
    assert!(expansion.add(recording).expect("the same identity"));
    expansion.take_wanted().expect("there is memory");
    match expansion.finish(keys, &io, Path::new(OUT)) {
        Ok(report) => Ok((written(&disk), report)),
        Err(why) => Err(why.sentence().to_owned()),
    }
}

fn check_keys(bytes: Vec<u8>) {
    check_wanted(&bytes);
    let mut builder = KeyMapBuilder::default();
    if builder.add_bytes(bytes.clone(), Path::new("input")).is_ok() {
        let keys = builder.finish().expect("there is memory");
        let io = share(disk().process()).expect("there is memory");
        keys.write(&io, Path::new(OUT), "build", "format").expect("there is room");
        let mut again = KeyMapBuilder::default();
        let (_, loaded) = again.add_file(&io, Path::new(OUT)).expect("it was written");
        assert_eq!((loaded.damaged, loaded.is_truncated), (0, false));
        assert!(again.finish().expect("there is memory").lines().eq(keys.lines()));
        check_csv(&keys);
    }
    let mut rest = &bytes[..];
    let _ = KeyMapBuilder::default().add_csv(|out| {
        let (now, later) = rest.split_at(out.len().min(rest.len()));
        out[..now.len()].copy_from_slice(now);
        rest = later;
        Ok(now.len())
    });
}

/// The wanted part of a file twice is that of the whole map, or the file is refused.
fn check_wanted(bytes: &[u8]) {
    let disk = FaultDisk::default();
    let paths = [PathBuf::from("/fuzz/a"), PathBuf::from("/fuzz/b")];
    paths.iter().for_each(|path| disk.write(path, bytes));
    let io = share(disk.process()).expect("there is memory");
    let mut wanted = Wanted::default();
    wanted.add_key("Shader0,0").expect("there is memory");
    wanted.add_stage(4);
    let Ok(part) = KeyMap::load_wanted(&io, &paths, wanted) else { return };
    // Blocks that nobody wants are not read. All are read for a shader.
    let mut strict = Wanted::default();
    strict.add_shader(ShaderHash::default()).expect("there is memory");
    if KeyMap::load_wanted(&io, &paths, strict).is_err() {
        return;
    }
    // Texts that nobody wants are not checked.
    let Ok(whole) = KeyMap::load(&io, &paths) else { return };
    assert_eq!((part.total(), part.file_lines()), (whole.len() as u64, whole.file_lines()));
    assert!(part.lines().eq(whole.lines().filter(|line| line.stage == 4 || line.key == "Shader0,0")));
}

/// A map becomes the same map again through text.
fn check_csv(keys: &KeyMap) {
    let mut text = Vec::new();
    let written = keys.write_csv(|part| {
        text.extend_from_slice(part.as_bytes());
        Ok(())
    });
    if written.is_err() {
        return;
    }
    let mut rest = &text[..];
    let mut again = KeyMapBuilder::default();
    let loaded = again.add_csv(|out| {
        let (now, later) = rest.split_at(out.len().min(rest.len()));
        out[..now.len()].copy_from_slice(now);
        rest = later;
        Ok(now.len())
    });
    // A binary file may have stages of a later version.
    let is_known = |stage| stage == NO_STAGE || stage <= LAST_STAGE || stage >= FIRST_OWN_STAGE;
    if !keys.lines().all(|line| is_known(line.stage)) {
        return assert!(loaded.is_err());
    }
    assert_eq!(loaded.expect("there is memory").damaged, 0);
    assert!(again.finish().expect("there is memory").lines().eq(keys.lines()));
}

/// Returns the number of pipelines.
fn check_stable(file: &StableFile) -> u64 {
    let mut keys = KeyMapBuilder::default();
    let mut count = 0;
    let read = file.for_each(|pipeline, _| {
        count += 1;
        for shader in pipeline.shaders {
            let line = |key| KeyLine { hash: ShaderHash::default(), stage: shader.stage, key };
            // A map refuses long keys. No shader of a build has them.
            shader.keys.clone().for_each(|key| _ = keys.add(&line(key)));
        }
        Ok(())
    });
    read.expect("there is memory");
    let keys = keys.finish().expect("there is memory");
    let whole = built(file, &keys, None);
    assert_eq!(built(file, &keys, Some(little_memory(file.length()))), whole);
    let (bytes, added, report) = match whole {
        Ok(built) => built,
        Err(why) => {
            assert!(why.starts_with("no graphics pipeline could be built"), "{why}");
            return count;
        }
    };
    assert!(added || report.skipped.len() == 1);
    let disk = FaultDisk::default();
    disk.write(Path::new(OUT), &bytes);
    let io = share(disk.process()).expect("there is memory");
    let shipped = Shipped::open(&io, Path::new(OUT), &file.info().identity).expect("it was written");
    assert_eq!(shipped.for_each(|_| Ok(())).expect("there is memory").missing, 0);
    count
}

/// The cache of a stable file, whether the file was used, and the report; or the error.
fn built(file: &StableFile, keys: &KeyMap, memory: Option<usize>) -> Result<(Vec<u8>, bool, BuildReport), String> {
    let disk = disk();
    let io = share(disk.process()).expect("there is memory");
    let mut build =
        Build::new(&file.info().identity, "2", keys, BuildOptions::default()).expect("the options are valid");
    if let Some(memory) = memory {
        build.spill_beside(&io, Path::new(OUT), memory).expect("there is memory");
    }
    let added = build.add(file).expect("there is memory");
    match build.finish(&io, Path::new(OUT)) {
        Ok(report) => Ok((written(&disk), added, report)),
        Err(why) => Err(why.sentence().to_owned()),
    }
}

fn check_shipped(bytes: Vec<u8>) {
    let disk = FaultDisk::default();
    disk.write(Path::new(OUT), &bytes);
    let io = share(disk.process()).expect("there is memory");
    let Ok(shipped) = Shipped::any(&io, Path::new(OUT)) else { return };
    let sightings = shipped.sightings().expect("there is memory");
    let (mut count, mut found) = (0, Vec::new());
    let read = shipped.for_each(|pipeline| {
        assert_eq!(pipeline.description.key(), pipeline.key);
        sightings.of(&pipeline.key, &mut found)?;
        assert!(found.len() <= MAX_SIGHTINGS);
        count += 1;
        Ok(())
    });
    let ShippedScan { entries, missing, .. } = read.expect("there is memory");
    assert_eq!((entries, missing), (count, shipped.info().total().saturating_sub(count)));
}
