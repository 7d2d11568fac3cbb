//! Builds that write temporary files, against those in memory.

use std::path::Path;

use proptest::prelude::*;

use super::tests::{description, hash, identity, keys, listed, own, stable};
use super::*;
use crate::pipeline::files::fault_tests;
use crate::pipeline::keys::KeyMap;
use crate::pipeline::{Description, Schema, ShaderRef};
use crate::store::fault_io::FaultDisk;
use crate::store::io::{SharedIo, share};
use crate::testing::allocator::{with_allowance, with_failure};

const OUT: &str = "/b/b";

fn build(
    io: &SharedIo,
    files: &[Vec<u8>],
    keys: &KeyMap,
    options: BuildOptions,
    memory: Option<usize>,
) -> Result<BuildReport> {
    let mut build = Build::new(&identity(), "2.0", keys, options)?;
    if let Some(memory) = memory {
        build.spill_beside(io, Path::new(OUT), memory)?;
    }
    for file in files {
        build.add(&StableFile::of_bytes(file.clone(), Path::new("x.hobstable"))?)?;
    }
    build.finish(io, Path::new(OUT))
}

/// The cache and the report, or the error.
fn built(
    files: &[Vec<u8>],
    keys: &KeyMap,
    options: BuildOptions,
    memory: Option<usize>,
) -> std::result::Result<(Vec<u8>, BuildReport), String> {
    let disk = FaultDisk::default();
    disk.write(Path::new("/b/other"), b"");
    let io = share(disk.process()).expect("memory");
    let report = build(&io, files, keys, options, memory).map_err(|why| why.sentence().to_owned())?;
    assert_eq!(disk.files(), [Path::new(OUT), Path::new("/b/other")]);
    Ok((disk.read(Path::new(OUT)).expect("written"), report))
}

/// Keys of the build that recorded: each shader has its own.
fn old_keys() -> KeyMap {
    keys((0..24).flat_map(|number| [0, 4, 5].map(|stage| (number + 100 * stage, stage, format!("M{number},{stage}")))))
}

/// Keys of this build: some keys name two shaders, some the same as another key, and some none.
fn new_keys() -> KeyMap {
    let shader = |number: u32, stage: u32| number % 9 + 1000 + 100 * stage;
    keys((0..24_u32).filter(|number| number % 7 > 0).flat_map(|number| {
        [0, 4, 5].into_iter().flat_map(move |stage| {
            let key = format!("M{number},{stage}");
            let other = if number.is_multiple_of(4) { number + 1 } else { number };
            [(shader(number, stage), stage, key.clone()), (shader(other, stage), stage, key)]
        })
    }))
}

/// A pipeline: vertex shader, fragment shader, number of vertex attributes, kind of state.
type Parts = (u32, u32, u32, u8);

fn graphics(vertex: u32, fragment: u32, attributes: u32) -> Description {
    let attributes: Vec<_> = (0..attributes).map(|location| (location, 106)).collect();
    Description { shaders: description(vertex, fragment).shaders, ..own(vertex, 1, &attributes) }
}

fn pipeline((vertex, fragment, attributes, kind): Parts) -> Description {
    match kind {
        0 => Description {
            kind: PipelineKind::Compute,
            schema: Schema(7),
            state: vec![1],
            shaders: vec![ShaderRef { stage: COMPUTE, hash: hash(500 + vertex) }],
        },
        1 => graphics(vertex, 400 + fragment, attributes),
        // An invalid state of the own schema, and one of the host.
        2 => Description { state: vec![9; 2], ..graphics(vertex, 400 + fragment, attributes) },
        _ => Description { schema: Schema(7), ..graphics(vertex, 400 + fragment, attributes) },
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::testing::scaled(100)))]

    #[test]
    fn build_with_little_memory_writes_the_same_cache(
        runs in prop::collection::vec(prop::collection::vec((0_u32..24, 0_u32..24, 0_u32..3, 0_u8..8), 0..40), 1..5),
        memory in 0_usize..40_000,
        (combinations, adds_compute, sanitises) in (1_u32..5, any::<bool>(), any::<bool>()),
        turn in 0_usize..5,
    ) {
        let (old, new) = (old_keys(), new_keys());
        let options = BuildOptions { combinations, adds_compute, sanitises, ..BuildOptions::default() };
        let mut files: Vec<_> = (1..).zip(&runs).map(|(run, parts)| {
            // A run has each pipeline once.
            let mut all: Vec<Description> = Vec::new();
            parts.iter().map(|&parts| pipeline(parts)).for_each(|next| if !all.contains(&next) { all.push(next) });
            stable(run, &all, &old, 3)
        }).collect();
        let whole = built(&files, &new, options, None);
        prop_assert_eq!(&built(&files, &new, options, Some(memory)), &whole);
        let count = files.len();
        files.rotate_left(turn % count);
        prop_assert_eq!(&built(&files, &new, options, Some(memory)), &whole);
    }
}

fn many() -> (Vec<Vec<u8>>, KeyMap) {
    let all: Vec<_> = (0..40).map(|number| pipeline((number % 24, number % 11, 1, 3))).collect();
    (vec![stable(1, &all[..25], &old_keys(), 3), stable(2, &all[15..], &old_keys(), 3)], new_keys())
}

#[test]
fn failed_call_of_a_spilled_build_keeps_the_old_cache_and_leaves_no_other_file() {
    let (files, keys) = many();
    let work = |io: &SharedIo| build(io, &files, &keys, BuildOptions::default(), Some(0)).map(|_| ());
    fault_tests::fail_each_call(Path::new(OUT), work, |file| listed(file).1.missing == 0);
}

#[test]
fn spilled_build_on_a_full_disk_is_a_result() {
    let (files, keys) = many();
    let work = |io: &SharedIo| build(io, &files, &keys, BuildOptions::default(), Some(0)).map(|_| ());
    fault_tests::fill_the_disk(Path::new(OUT), work);
}

#[test]
fn step_of_a_caller_ends_a_long_build() {
    let (files, keys) = many();
    let disk = FaultDisk::default();
    disk.write(Path::new(OUT), b"old");
    let io = share(disk.process()).expect("memory");
    let mut build = Build::new(&identity(), "2.0", &keys, BuildOptions::default()).expect("memory");
    build.spill_beside(&io, Path::new(OUT), 0).expect("memory");
    for file in &files {
        let (file, mut calls) = (StableFile::of_bytes(file.clone(), Path::new("x")).expect("valid"), 0);
        let count = &mut || {
            calls += 1;
            Ok(())
        };
        assert!(build.add_watched(&file, count).expect("space"));
        assert!(calls > 0 && calls == Build::steps_to_add(&file));
        let mut other = Build::new(&identity(), "2.0", &keys, BuildOptions::default()).expect("memory");
        let done = other.add_watched(&file, &mut || Err(Error::OUT_OF_MEMORY));
        assert_eq!(done.expect_err("ended").code(), Code::OutOfMemory);
    }
    let done = build.finish_watched(&io, Path::new(OUT), &mut || Err(Error::OUT_OF_MEMORY));
    assert_eq!(done.expect_err("ended").code(), Code::OutOfMemory);
    assert_eq!((disk.files(), disk.read(Path::new(OUT))), (vec![OUT.into()], Some(b"old".to_vec())));
}

#[test]
fn failed_allocation_of_a_spilled_build_is_a_result() {
    let (files, keys) = many();
    let path = std::env::temp_dir().join(format!("hobgoblin-spill-{}.hobpipe", std::process::id()));
    let (io, identity) = (share(crate::store::io::OsIo).expect("memory"), identity());
    let files: Vec<_> =
        files.into_iter().map(|file| StableFile::of_bytes(file, Path::new("x")).expect("valid")).collect();
    let work = || {
        let mut build = Build::new(&identity, "2.0", &keys, BuildOptions::default())?;
        build.spill_beside(&io, &path, 0)?;
        for file in &files {
            build.add(file)?;
        }
        build.finish(&io, &path).map(|report| report.total())
    };
    let total = work().expect("memory");
    for allowed in 0.. {
        let (failed, starved) = (with_failure(allowed, work), with_allowance(allowed, work));
        for done in [&failed, &starved] {
            let is_whole = done.as_ref().is_ok_and(|written| *written == total);
            assert!(is_whole || done.as_ref().is_err_and(|why| why.code() == Code::OutOfMemory));
        }
        if starved.is_ok() {
            break;
        }
    }
    std::fs::remove_file(&path).expect("it was written");
}
