//! Expansion against maps in memory: survivors and losses, order, damage, and failures.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use proptest::prelude::*;

use super::*;
use crate::base::{Code, Result};
use crate::pipeline::keys::{KeyLine, KeyMap, KeyMapBuilder, NO_STAGE};
use crate::pipeline::recording::{FirstUse, LaterUses, Readiness, Recorder, Recording, RunInfo};
use crate::pipeline::{Description, Identity, Mask, Schema, ShaderHash, ShaderRef};
use crate::store::LogScan;
use crate::store::fault_io::FaultDisk;
use crate::store::io::share;
use crate::testing::allocator::{with_allowance, with_failure};

pub fn hash(number: u32) -> ShaderHash {
    let mut hash = ShaderHash::default();
    hash.0[..4].copy_from_slice(&number.to_le_bytes());
    hash
}

/// A pipeline of two shaders.
pub fn description(vertex: u32, fragment: u32, state: u8) -> Description {
    let shaders = vec![ShaderRef { stage: 0, hash: hash(vertex) }, ShaderRef { stage: 4, hash: hash(1000 + fragment) }];
    Description { schema: Schema(7), state: vec![state; 3], shaders, ..Description::default() }
}

pub fn run(number: u8) -> RunInfo {
    RunInfo {
        identity: Identity::new("game", "spirv", 3).expect("valid"),
        version: "1.0".into(),
        run: [number; 16],
        started: u64::from(number),
        ..RunInfo::default()
    }
}

pub fn recorded(run: &RunInfo, pipelines: &[Description]) -> Vec<u8> {
    let disk = FaultDisk::default();
    disk.write(Path::new("/r/other"), b"");
    let io = share(disk.process()).expect("memory");
    let path = Path::new("/r/a");
    let mut recorder = Recorder::create(&io, path, run).expect("a new file");
    for (frame, pipeline) in pipelines.iter().enumerate() {
        let (key, mask) = (pipeline.borrow().key(), Mask::of_bits(run.started));
        let first = FirstUse {
            key,
            description: pipeline.borrow(),
            mask,
            frame: frame as u64,
            build_us: 5,
            readiness: Readiness::Unknown,
        };
        recorder.record(&first).expect("space");
        recorder.record_uses(&[LaterUses { key, times: 2, mask }]).expect("space");
    }
    drop(recorder);
    disk.read(path).expect("there")
}

pub fn recording(bytes: &[u8]) -> Recording {
    Recording::of_bytes(bytes.to_vec(), Path::new("x.rec.hobpipe")).expect("valid")
}

/// The key of each shader; those below `missing` have none.
pub fn keys(missing: u32) -> KeyMap {
    let mut keys = KeyMapBuilder::default();
    for number in missing..40 {
        for (base, stage) in [(0, 0), (1000, 4)] {
            let key = format!("Material{number},Stage{stage}");
            keys.add(&KeyLine { hash: hash(base + number), stage, key: &key }).expect("memory");
        }
    }
    keys.finish().expect("memory")
}

fn expanded(files: &[Vec<u8>], keys: &KeyMap) -> Result<(Vec<u8>, Expanded)> {
    let disk = FaultDisk::default();
    disk.write(Path::new("/s/other"), b"");
    let io = share(disk.process()).expect("memory");
    let mut expansion = Expansion::like(&recording(&files[0]))?;
    for file in files {
        expansion.add(&recording(file))?;
    }
    let report = expansion.finish(keys, &io, Path::new("/s/a"))?;
    Ok((disk.read(Path::new("/s/a")).expect("written"), report))
}

/// Keys of the shaders, state, times and runs of a pipeline.
pub type Listed = (Vec<String>, u8, u64, u32);

/// All pipelines of a file.
pub fn listed(bytes: &[u8]) -> (Vec<Listed>, LogScan) {
    let file = StableFile::of_bytes(bytes.to_vec(), Path::new("x.hobstable")).expect("valid");
    let mut list = Vec::new();
    let scan = file.for_each(|pipeline, _| {
        let keys = |shader: &StableShader<'_>| shader.keys.clone().collect::<Vec<_>>().join("|");
        let shaders = pipeline.shaders.iter().map(keys).collect();
        list.push((shaders, pipeline.state[0], pipeline.uses.times, pipeline.uses.runs));
        Ok(())
    });
    list.sort();
    (list, scan.expect("memory"))
}

#[test]
fn pipeline_without_a_key_is_listed_with_its_shader() {
    let pipelines: Vec<_> = (0..10).map(|number| description(number, 20, 1)).collect();
    let (bytes, report) = expanded(&[recorded(&run(1), &pipelines)], &keys(4)).expect("valid");
    assert_eq!((report.pipelines, report.stable, report.unresolved.count()), (10, 6, 4));
    let lost: BTreeSet<_> = report.unresolved.first().iter().map(|lost| (lost.pipeline, lost.shader.hash)).collect();
    assert_eq!(lost, (0..4).map(|at| (pipelines[at].borrow().key(), hash(at as u32))).collect());
    assert_eq!(listed(&bytes).0.len(), 6);
}

#[test]
fn shader_keeps_all_its_keys_of_its_stage() {
    let mut builder = KeyMapBuilder::default();
    for (number, stage, key) in
        [(1, 0, "b"), (1, 0, "a"), (1, NO_STAGE, "a"), (1, 4, "other stage"), (1002, NO_STAGE, "c")]
    {
        builder.add(&KeyLine { hash: hash(number), stage, key }).expect("memory");
    }
    let keys = builder.finish().expect("memory");
    let (bytes, _) = expanded(&[recorded(&run(1), &[description(1, 2, 1)])], &keys).expect("valid");
    assert_eq!(listed(&bytes).0, [(vec!["a|b".into(), "c".into()], 1, 3, 1)]);
}

#[test]
fn run_that_is_merged_twice_counts_once() {
    let files = [recorded(&run(1), &[description(1, 2, 1)]), recorded(&run(2), &[description(1, 2, 1)])];
    let (once, _) = expanded(&files, &keys(0)).expect("valid");
    let [one, other] = files;
    let (twice, report) = expanded(&[one.clone(), other.clone(), one, other], &keys(0)).expect("valid");
    assert_eq!(once, twice);
    assert_eq!((report.recordings, report.repeated), (2, 2));
}

#[test]
fn recording_of_another_game_or_version_is_refused_with_both_names() {
    let own = recorded(&run(1), &[description(1, 2, 1)]);
    let other = |project, format, version: &str| RunInfo {
        identity: Identity::new(project, format, 3).expect("valid"),
        version: version.into(),
        ..run(2)
    };
    let cases = [
        (other("other", "spirv", "1.0"), "'other'", "'game'"),
        (other("game", "sm6", "1.0"), "'sm6'", "'spirv'"),
        (other("game", "spirv", "2.0"), "'2.0'", "'1.0'"),
    ];
    for (theirs, one, two) in cases {
        let why = expanded(&[own.clone(), recorded(&theirs, &[])], &keys(0)).expect_err("another");
        assert_eq!(why.code(), Code::Unsupported);
        assert!(why.sentence().contains(one) && why.sentence().contains(two), "{why}");
    }
}

#[test]
fn flipped_bit_of_a_stable_file_costs_at_most_one_pipeline_and_is_counted() {
    let (bytes, _) =
        expanded(&[recorded(&run(1), &[description(1, 2, 1), description(3, 4, 2)])], &keys(0)).expect("valid");
    let whole: BTreeSet<_> = listed(&bytes).0.into_iter().collect();
    for bit in 0..8 * bytes.len() {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        let (found, scan) = listed(&flipped);
        let found: BTreeSet<_> = found.into_iter().collect();
        assert!(found.is_subset(&whole) && found.len() >= whole.len() - 1, "bit {bit}");
        assert!(found == whole || scan.damaged > 0 || scan.is_truncated, "bit {bit}");
    }
    for length in 0..bytes.len() {
        if let Ok(file) = StableFile::of_bytes(bytes[..length].to_vec(), Path::new("x")) {
            let mut count = 0;
            file.for_each(|_, _| {
                count += 1;
                Ok(())
            })
            .expect("memory");
            assert!(count < 2 || length > bytes.len() - 16);
        }
    }
}

#[test]
fn failed_expansion_keeps_the_old_file() {
    let files = [recorded(&run(1), &(0..20).map(|number| description(number, 20, 1)).collect::<Vec<_>>())];
    for calls in 0..6 {
        let disk = FaultDisk::default();
        disk.write(Path::new("/s/a"), b"old");
        let process = disk.process();
        process.plan(|plan| plan.calls_to_error = Some(calls));
        let io = share(process).expect("memory");
        let mut expansion = Expansion::like(&recording(&files[0])).expect("memory");
        expansion.add(&recording(&files[0])).expect("memory");
        let done = expansion.finish(&keys(0), &io, Path::new("/s/a"));
        let file = disk.read(Path::new("/s/a")).expect("there");
        assert!(file == b"old" || listed(&file).0.len() == 20);
        assert!(done.is_err() || file != b"old");
    }
}

#[test]
fn failed_allocation_of_an_expansion_is_a_result() {
    let path = std::env::temp_dir().join(format!("hobgoblin-expand-{}.hobstable", std::process::id()));
    let io = share(crate::store::io::OsIo).expect("memory");
    let file = recording(&recorded(&run(1), &(0..20).map(|number| description(number, 20, 1)).collect::<Vec<_>>()));
    let keys = keys(10);
    let work = || {
        let mut expansion = Expansion::like(&file)?;
        expansion.add(&file)?;
        expansion.finish(&keys, &io, &path).map(|report| report.stable)
    };
    for allowed in 0.. {
        let failed = with_failure(allowed, work);
        let starved = with_allowance(allowed, work);
        for done in [&failed, &starved] {
            assert!(matches!(done, Ok(10)) || done.as_ref().is_err_and(|why| why.code() == Code::OutOfMemory));
        }
        if starved.is_ok() {
            break;
        }
    }
    let _ = std::fs::remove_file(&path);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::testing::scaled(24)))]
    #[test]
    fn expansion_is_that_of_a_map_in_any_order(
        runs in prop::collection::vec(prop::collection::btree_set((0_u32..12, 0_u32..4, 0_u8..2), 0..12), 1..5),
        missing in 0_u32..6,
        turn in 0_usize..5,
    ) {
        let keys = keys(missing);
        let mut model: BTreeMap<(Vec<String>, u8), (u64, u32)> = BTreeMap::new();
        let mut lost = BTreeSet::new();
        for &(vertex, fragment, state) in runs.iter().flatten() {
            if vertex < missing || fragment < missing {
                lost.insert(description(vertex, fragment, state).borrow().key());
                continue;
            }
            let names = vec![format!("Material{vertex},Stage0"), format!("Material{fragment},Stage4")];
            let (times, runs) = model.entry((names, state)).or_default();
            (*times, *runs) = (*times + 3, *runs + 1);
        }
        let mut files: Vec<_> = runs.iter().enumerate().map(|(number, pipelines)| {
            let all: Vec<_> = pipelines.iter().map(|&(vertex, fragment, state)| description(vertex, fragment, state)).collect();
            recorded(&run(number as u8), &all)
        }).collect();
        let result = expanded(&files, &keys);
        if model.is_empty() && !lost.is_empty() {
            prop_assert!(result.is_err_and(|why| why.code() == Code::NotFound));
            return Ok(());
        }
        let (bytes, report) = result.expect("valid");
        let wanted: Vec<_> = model.into_iter().map(|((names, state), (times, runs))| (names, state, times, runs)).collect();
        prop_assert_eq!(listed(&bytes), (wanted, LogScan::default()));
        prop_assert_eq!(report.unresolved.first().iter().map(|lost| lost.pipeline).collect::<BTreeSet<_>>(), lost);
        let count = files.len();
        files.rotate_left(turn % count);
        prop_assert_eq!(expanded(&files, &keys).expect("valid").0, bytes);
    }
}

#[test]
fn key_map_of_another_build_is_an_error_and_writes_nothing() {
    let bytes = recorded(&run(1), &[description(1, 2, 0), description(3, 4, 0)]);
    let why = expanded(&[bytes], &keys(40)).map(|_| ()).expect_err("no key");
    assert_eq!(why.code(), Code::NotFound);
    assert!(why.sentence().starts_with("none of 2 pipelines has stable keys for all its shaders"), "{why}");
    let (_, report) = expanded(&[recorded(&run(1), &[])], &keys(40)).expect("an empty run is no error");
    assert_eq!((report.pipelines, report.stable), (0, 0));
}
