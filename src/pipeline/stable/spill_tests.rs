//! Expansions that write temporary files, against those in memory.

use std::path::Path;

use proptest::prelude::*;

use super::tests::{description, hash, keys, listed, recorded, recording, run};
use super::*;
use crate::base::{Code, Error, Result};
use crate::pipeline::Mask;
use crate::pipeline::files::fault_tests;
use crate::pipeline::keys::KeyMap;
use crate::pipeline::recording::{FirstUse, LaterUses, Readiness, Recorder};
use crate::pipeline::ship::Recordings;
use crate::store::fault_io::FaultDisk;
use crate::store::io::{SharedIo, share};
use crate::testing::allocator::{with_allowance, with_failure};

const OUT: &str = "/s/a";

fn expand(io: &SharedIo, files: &[Vec<u8>], keys: &KeyMap, memory: Option<usize>) -> Result<Expanded> {
    let mut expansion = Expansion::like(&recording(&files[0]))?;
    if let Some(memory) = memory {
        expansion.spill_beside(io, Path::new(OUT), memory)?;
    }
    for file in files {
        expansion.add(&recording(file))?;
    }
    expansion.take_wanted()?;
    expansion.finish(keys, io, Path::new(OUT))
}

/// The file and the report, or the error.
fn expanded(
    files: &[Vec<u8>],
    keys: &KeyMap,
    memory: Option<usize>,
) -> std::result::Result<(Vec<u8>, Expanded), String> {
    let disk = FaultDisk::default();
    disk.write(Path::new("/s/other"), b"");
    let io = share(disk.process()).expect("memory");
    let report = expand(&io, files, keys, memory).map_err(|why| why.sentence().to_owned())?;
    assert_eq!(disk.files(), [Path::new(OUT), Path::new("/s/other")]);
    Ok((disk.read(Path::new(OUT)).expect("written"), report))
}

/// A record: the pipeline, its frame, the mask, and whether it is a first use.
type Record = (u32, u64, u64, bool);

/// A recording of any records, also such as no game writes.
fn any_recording(number: u8, records: &[Record]) -> Vec<u8> {
    let disk = FaultDisk::default();
    disk.write(Path::new("/r/other"), b"");
    let io = share(disk.process()).expect("memory");
    let mut recorder = Recorder::create(&io, Path::new("/r/a"), &run(number)).expect("a new file");
    for &(pipeline, frame, mask, is_first) in records {
        // Some pipelines have the same stable form: see `shared_keys`.
        let description = description(pipeline, pipeline / 3, 0);
        let (key, description, mask) = (description.borrow().key(), description.borrow(), Mask::of_bits(mask));
        let (build_us, readiness) = (pipeline % 4, Readiness::Unknown);
        let done = match is_first {
            true => recorder.record(&FirstUse { key, description, mask, frame, build_us, readiness }),
            false => recorder.record_uses(&[LaterUses { key, times: 1 + frame, mask }]),
        };
        done.expect("space");
    }
    drop(recorder);
    disk.read(Path::new("/r/a")).expect("there")
}

/// Pairs of vertex shaders have the same key. The first two have none.
fn shared_keys() -> KeyMap {
    let mut keys = crate::pipeline::keys::KeyMapBuilder::default();
    let mut add = |number, stage, key: String| {
        keys.add(&crate::pipeline::keys::KeyLine { hash: hash(number), stage, key: &key }).expect("memory");
    };
    (2..40).for_each(|number| add(number, 0, format!("Vertex{}", number / 2)));
    (0..40).for_each(|number| add(1000 + number, 4, format!("Fragment{number}")));
    keys.finish().expect("memory")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::testing::scaled(200)))]

    #[test]
    fn expansion_with_little_memory_writes_the_same_file(
        runs in prop::collection::vec(prop::collection::vec((0_u32..16, 0_u64..5, 0_u64..4, any::<bool>()), 0..60), 1..5),
        memory in 0_usize..20_000,
        turn in 0_usize..5,
    ) {
        let keys = shared_keys();
        let mut files: Vec<_> = (0..).zip(&runs).map(|(number, records)| any_recording(number, records)).collect();
        let whole = expanded(&files, &keys, None);
        prop_assert_eq!(&expanded(&files, &keys, Some(memory)), &whole);
        let count = files.len();
        files.rotate_left(turn % count);
        prop_assert_eq!(&expanded(&files, &keys, Some(memory)), &whole);
    }
}

fn many() -> (Vec<Vec<u8>>, KeyMap) {
    let pipelines = |range: std::ops::Range<u32>| range.map(|number| description(number, 20, 1)).collect::<Vec<_>>();
    (vec![recorded(&run(1), &pipelines(0..20)), recorded(&run(2), &pipelines(10..30))], keys(0))
}

#[test]
fn failed_call_of_a_spilled_expansion_keeps_the_old_file_and_leaves_no_other() {
    let (files, keys) = many();
    let work = |io: &SharedIo| expand(io, &files, &keys, Some(0)).map(|_| ());
    fault_tests::fail_each_call(Path::new(OUT), work, |file| listed(file).0.len() == 30);
}

#[test]
fn spilled_expansion_on_a_full_disk_is_a_result() {
    let (files, keys) = many();
    fault_tests::fill_the_disk(Path::new(OUT), |io| expand(io, &files, &keys, Some(0)).map(|_| ()));
}

#[test]
fn expansion_removes_the_temporary_file_of_a_killed_process() {
    let (files, keys) = many();
    for calls in 0..40 {
        let disk = FaultDisk::default();
        disk.write(Path::new(OUT), b"old");
        let process = disk.process();
        process.plan(|plan| plan.calls_to_live = Some(calls));
        let _ = expand(&share(process).expect("memory"), &files, &keys, Some(0));
        let io = share(disk.process()).expect("memory");
        expand(&io, &files, &keys, Some(0)).expect("no fault");
        // An unfinished output may be left, as after any kill.
        assert!(!disk.files().iter().any(|path| path.to_string_lossy().ends_with(".sort")), "after {calls} calls");
    }
}

#[test]
fn step_of_a_caller_ends_a_long_expansion() {
    let (files, keys) = many();
    let disk = FaultDisk::default();
    disk.write(Path::new(OUT), b"old");
    let io = share(disk.process()).expect("memory");
    let mut expansion = Expansion::like(&recording(&files[0])).expect("memory");
    expansion.spill_beside(&io, Path::new(OUT), 0).expect("memory");
    files.iter().for_each(|file| _ = expansion.add(&recording(file)).expect("space"));
    let mut other = Expansion::like(&recording(&files[0])).expect("memory");
    assert!(other.add_watched(&recording(&files[0]), &mut |_| Err(Error::OUT_OF_MEMORY)).is_err());
    let mut calls = 0;
    let done = expansion.finish_watched(&keys, &io, Path::new(OUT), &mut || {
        calls += 1;
        Err(Error::OUT_OF_MEMORY)
    });
    assert!(calls == 1 && done.is_err());
    assert_eq!(disk.files(), [Path::new(OUT)]);
    assert_eq!(disk.read(Path::new(OUT)), Some(b"old".to_vec()));
}

#[test]
fn failed_allocation_of_a_spilled_expansion_is_a_result() {
    let (files, keys) = many();
    let path = std::env::temp_dir().join(format!("hobgoblin-spill-{}.hobstable", std::process::id()));
    let io = share(crate::store::io::OsIo).expect("memory");
    let recordings: Vec<_> = files.iter().map(|file| recording(file)).collect();
    let work = || {
        let mut expansion = Expansion::like(&recordings[0])?;
        expansion.spill_beside(&io, &path, 0)?;
        for recording in &recordings {
            expansion.add(recording)?;
        }
        expansion.finish(&keys, &io, &path).map(|report| report.stable)
    };
    for allowed in 0.. {
        let (failed, starved) = (with_failure(allowed, work), with_allowance(allowed, work));
        for done in [&failed, &starved] {
            assert!(matches!(done, Ok(30)) || done.as_ref().is_err_and(|why| why.code() == Code::OutOfMemory));
        }
        if starved.is_ok() {
            break;
        }
    }
    std::fs::remove_file(&path).expect("it was written");
}

#[test]
fn progress_moves_within_one_recording() {
    let pipelines: Vec<_> = (0..200).map(|number| description(number, 20, 1)).collect();
    let disk = FaultDisk::default();
    disk.write(Path::new("/s/a.rec.hobpipe"), &recorded(&run(1), &pipelines));
    let io = share(disk.process()).expect("memory");
    let recordings = Recordings::of(&io, vec!["/s/a.rec.hobpipe".into()]).expect("a recording");
    let mut steps = Vec::new();
    let mut note = |done, all| -> Result<()> {
        steps.push((done, all));
        Ok(())
    };
    // Without keys it ends after the merge.
    assert!(recordings.expand(&io, &[], Path::new(OUT), &mut note).is_err());
    let all = steps[0].1;
    let merge: Vec<u64> = steps.iter().filter(|&&(done, of)| of == all && done < all).map(|&(done, _)| done).collect();
    assert!(merge.is_sorted() && merge.len() > 10 && merge[merge.len() / 2].abs_diff(all / 2) < all / 4, "{steps:?}");
}
