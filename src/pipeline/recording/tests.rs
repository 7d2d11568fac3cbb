//! Recordings against a map in memory, with damage, kills, and without memory.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;
use crate::base::Code;
use crate::pipeline::{Description, ShaderHash, UseData};
use crate::store::fault_io::FaultDisk;
use crate::store::io::share;
use crate::testing::allocator::{peak_bytes, with_allowance, with_failure};

fn run(number: u8) -> RunInfo {
    RunInfo {
        identity: Identity::new("game", "spirv", 3).expect("valid"),
        api_name: "Vulkan".into(),
        version: "1.0".into(),
        run: [number; 16],
        started: 1_800_000_000 + u64::from(number),
        dimensions: vec![Dimension { name: "quality".into(), width: 3 }],
    }
}

fn description(number: u32) -> Description {
    let mut hash = ShaderHash::default();
    hash.0[..4].copy_from_slice(&number.to_le_bytes());
    let shaders = (0..1 + number % 3).map(|stage| ShaderRef { stage, hash }).collect();
    Description { state: vec![number as u8; number as usize % 90], shaders, ..Description::default() }
}

fn record(recorder: &mut Recorder, number: u32, mask: u64, frame: u64, build_us: u32) -> Result<()> {
    let description = description(number);
    let description = description.borrow();
    recorder.record(&FirstUse {
        key: description.key(),
        description,
        mask: Mask::of_bits(mask),
        frame,
        build_us,
        readiness: Readiness::Ready,
    })
}

/// A recording of pipelines `numbers`, each with one batch of later uses.
fn bytes_of(run_number: u8, numbers: &[u32]) -> Vec<u8> {
    let disk = FaultDisk::default();
    disk.write(Path::new("/runs/other"), b"");
    let io = share(disk.process()).expect("memory");
    let path = Path::new("/runs/a.rec.hobpipe");
    let mut recorder = Recorder::create(&io, path, &run(run_number)).expect("a new file");
    for (frame, &number) in numbers.iter().enumerate() {
        record(&mut recorder, number, 1 + u64::from(run_number), 10 * frame as u64, number).expect("space");
    }
    let later = |&number: &u32| LaterUses {
        key: description(number).borrow().key(),
        times: number.into(),
        mask: Mask::of_bits(64),
    };
    for batch in numbers.iter().map(later).collect::<Vec<_>>().chunks(MAX_BATCH) {
        recorder.record_uses(batch).expect("space");
    }
    drop(recorder);
    disk.read(path).expect("there")
}

fn recording(bytes: &[u8]) -> Result<Recording> {
    Recording::of_bytes(bytes.to_vec(), Path::new("x.rec.hobpipe"))
}

/// The whole content of a view, as text.
fn listed(merged: &Merged) -> Vec<String> {
    let mut list = Vec::new();
    merged
        .for_each(|pipeline| {
            list.push(format!("{pipeline:?}"));
            Ok(())
        })
        .expect("memory");
    list
}

fn merged(files: &[Vec<u8>]) -> (Merged, LogScan) {
    let (mut merged, mut lost) = (Merged::default(), LogScan::default());
    for bytes in files {
        let scan = merged.add(&recording(bytes).expect("valid")).expect("memory");
        lost.damaged += scan.damaged;
        lost.is_truncated |= scan.is_truncated;
    }
    (merged, lost)
}

#[test]
fn reader_returns_the_run_and_all_records() {
    let bytes = bytes_of(7, &[1, 2]);
    let recording = recording(&bytes).expect("valid");
    assert_eq!(*recording.run(), run(7));
    let mut records = Vec::new();
    let scan = recording.for_each(|record| {
        records.push(match record {
            Recorded::First(first) => (first.description.state.len(), first.frame, first.mask.bits()),
            Recorded::Later(later) => (0, later.times, later.mask.bits()),
        });
        Ok(())
    });
    assert_eq!(scan.expect("memory"), LogScan::default());
    assert_eq!(records, [(1, 0, 8), (2, 10, 8), (0, 1, 64), (0, 2, 64)]);
}

#[test]
fn existing_file_is_never_overwritten() {
    let disk = FaultDisk::default();
    disk.write(Path::new("/runs/a"), b"precious");
    let io = share(disk.process()).expect("memory");
    let why = Recorder::create(&io, Path::new("/runs/a"), &run(1)).map(|_| ()).expect_err("it exists");
    assert_eq!(why.code(), Code::Io);
    assert_eq!(disk.read(Path::new("/runs/a")).as_deref(), Some(&b"precious"[..]));
}

#[test]
fn file_of_another_kind_is_refused_by_name() {
    let disk = FaultDisk::default();
    disk.write(Path::new("/runs/other"), b"");
    let io = share(disk.process()).expect("memory");
    let kind = crate::store::LogKind { number: 99, version: 1, name: "a map" };
    LogWriter::create(&io, Path::new("/runs/m"), kind).expect("a new file").finish().expect("space");
    let why = Recording::open(&io, Path::new("/runs/m")).map(|_| ()).expect_err("a map");
    assert_eq!(why.code(), Code::Unsupported);
    let known = [RECORDING, kind];
    let why = LogReader::open(&io, Path::new("/runs/m"), RECORDING, &known).map(|_| ()).expect_err("a map");
    assert!(why.sentence().contains("is a map, not a recording"), "{why}");
    let newer = crate::store::LogKind { version: 9, ..kind };
    let why = LogReader::open(&io, Path::new("/runs/m"), newer, &[newer]).map(|_| ()).expect_err("older");
    assert!(why.sentence().contains("version 1") && why.sentence().contains("version 9"), "{why}");
    let why = recording(b"hello").map(|_| ()).expect_err("no file of ours");
    assert_eq!(why.code(), Code::Malformed);
}

#[test]
fn kill_loses_no_completed_record() {
    for calls in 0..24 {
        let disk = FaultDisk::default();
        disk.write(Path::new("/runs/other"), b"");
        let process = disk.process();
        process.plan(|plan| plan.calls_to_live = Some(calls));
        let io = share(process).expect("memory");
        let path = Path::new("/runs/a");
        let mut done = Vec::new();
        if let Ok(mut recorder) = Recorder::create(&io, path, &run(1)) {
            for number in 0..20 {
                if record(&mut recorder, number, 1, 1, 1).is_ok() {
                    done.push(number);
                }
            }
        }
        let Some(bytes) = disk.read(path) else { continue };
        let Ok(recording) = recording(&bytes) else {
            assert!(done.is_empty());
            continue;
        };
        let mut view = Merged::default();
        view.add(&recording).expect("memory");
        assert_eq!(view.len(), done.len(), "after {calls} calls");
    }
}

#[test]
fn record_after_a_failed_write_is_readable() {
    for failing in 1..30 {
        let disk = FaultDisk::default();
        disk.write(Path::new("/runs/other"), b"");
        let process = disk.process();
        let io = share(process.clone()).expect("memory");
        let path = Path::new("/runs/a");
        let mut recorder = Recorder::create(&io, path, &run(1)).expect("space");
        process.plan(|plan| plan.calls_to_error = Some(failing));
        let done = (0..20).filter(|&number| record(&mut recorder, number, 1, 1, 1).is_ok()).count();
        assert!(done >= 19);
        let (view, lost) = merged(&[disk.read(path).expect("there")]);
        assert_eq!((view.len(), lost), (done, LogScan::default()));
    }
}

#[test]
fn full_disk_loses_only_what_does_not_fit() {
    let disk = FaultDisk::default();
    disk.write(Path::new("/runs/other"), b"");
    let io = share(disk.process()).expect("memory");
    let path = Path::new("/runs/a");
    let mut recorder = Recorder::create(&io, path, &run(1)).expect("space");
    disk.set_space(Some(1000));
    let done = (0..20).filter(|&number| record(&mut recorder, number, 1, 1, 1).is_ok()).count();
    assert!((1..20).contains(&done));
    disk.set_space(None);
    record(&mut recorder, 50, 1, 1, 1).expect("space");
    let (view, lost) = merged(&[disk.read(path).expect("there")]);
    assert_eq!((view.len(), lost), (done + 1, LogScan::default()));
}

#[test]
fn cut_file_keeps_all_whole_records() {
    let bytes = bytes_of(1, &[3, 70, 5]);
    let all = listed(&merged(std::slice::from_ref(&bytes)).0).len();
    let mut most = 0;
    for length in 0..bytes.len() {
        let Ok(recording) = recording(&bytes[..length]) else {
            assert_eq!(most, 0, "a longer file holds less");
            continue;
        };
        let mut view = Merged::default();
        view.add(&recording).expect("memory");
        assert!(view.len() >= most, "a longer file holds less");
        most = view.len();
    }
    assert_eq!(most, all);
}

#[test]
fn flipped_bit_costs_at_most_one_record_and_is_counted() {
    let bytes = bytes_of(1, &[3, 70, 5]);
    let whole: BTreeSet<PipelineKey> = [3, 70, 5].map(|number| description(number).borrow().key()).into();
    for bit in 0..8 * bytes.len() {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        let recording = recording(&flipped).unwrap_or_else(|why| panic!("bit {bit}: {why}"));
        assert_eq!(*recording.run(), run(1));
        let mut view = Merged::default();
        let lost = view.add(&recording).expect("memory");
        let mut keys = BTreeSet::new();
        view.for_each(|pipeline| {
            keys.insert(pipeline.key);
            assert_eq!(pipeline.key, pipeline.description.key());
            Ok(())
        })
        .expect("memory");
        assert!(keys.is_subset(&whole) && keys.len() >= 2, "bit {bit}");
        assert!(keys.len() == 3 || lost.damaged + u64::from(lost.is_truncated) > 0, "bit {bit}: not counted");
    }
}

#[test]
fn entry_with_the_key_of_another_pipeline_is_lost_and_counted() {
    let disk = FaultDisk::default();
    disk.write(Path::new("/runs/other"), b"");
    let io = share(disk.process()).expect("memory");
    let path = Path::new("/runs/a");
    let mut recorder = Recorder::create(&io, path, &run(1)).expect("space");
    let (one, other) = (description(1), description(2));
    let first = FirstUse {
        key: one.borrow().key(),
        description: other.borrow(),
        mask: Mask::NONE,
        frame: 1,
        build_us: 0,
        readiness: Readiness::Unknown,
    };
    recorder.record(&first).expect("space");
    let forged = disk.read(path).expect("there");
    let honest = bytes_of(2, &[1]);
    for files in [[forged.clone(), honest.clone()], [honest, forged]] {
        let (view, lost) = merged(&files);
        assert_eq!((view.len(), lost.damaged), (1, 1));
    }
}

#[test]
fn memory_of_a_scan_does_not_grow_with_the_recording() {
    let bytes = bytes_of(1, &(0..20_000).collect::<Vec<_>>());
    assert!(bytes.len() > 3 << 20);
    let recording = recording(&bytes).expect("valid");
    let (scan, peak) = peak_bytes(|| recording.for_each(|_| Ok(())));
    assert_eq!(scan.expect("memory"), LogScan::default());
    assert!(peak < 2 << 20, "{peak} bytes");
}

#[test]
fn failed_allocation_is_a_result_and_changes_no_entry() {
    let bytes = bytes_of(1, &(0..50).collect::<Vec<_>>());
    let whole = listed(&merged(std::slice::from_ref(&bytes)).0);
    let recording = recording(&bytes).expect("valid");
    for allowed in 0.. {
        let added = |view: &mut Merged| view.add(&recording).map(|_| ());
        let mut once = Merged::default();
        let failed = with_failure(allowed, || added(&mut once));
        let mut always = Merged::default();
        let starved = with_allowance(allowed, || added(&mut always));
        for done in [&failed, &starved] {
            assert!(done.as_ref().is_ok() || done.as_ref().is_err_and(|why| why.code() == Code::OutOfMemory));
        }
        if failed.is_ok() && starved.is_ok() {
            assert_eq!(listed(&once), whole);
            assert!(allowed > 10);
            break;
        }
    }
}

#[test]
fn recording_without_memory_is_a_result() {
    let path = std::env::temp_dir().join(format!("hobgoblin-recording-{}.rec.hobpipe", std::process::id()));
    let (io, info, one) = (share(crate::store::io::OsIo).expect("memory"), run(1), description(1));
    let first = FirstUse {
        key: one.borrow().key(),
        description: one.borrow(),
        mask: Mask::NONE,
        frame: 1,
        build_us: 0,
        readiness: Readiness::Unknown,
    };
    for allowed in 0..40 {
        let _ = std::fs::remove_file(&path);
        let done = with_allowance(allowed, || Recorder::create(&io, &path, &info)?.record(&first));
        assert!(done.is_ok() || done.is_err_and(|why| why.code() == Code::OutOfMemory));
    }
    let last = Recording::open(&io, &path).expect("the last one had memory");
    assert_eq!(last.for_each(|_| Ok(())).expect("memory"), LogScan::default());
    let _ = std::fs::remove_file(&path);
}

#[derive(Debug, Clone, Default, PartialEq)]
struct Model {
    masks: BTreeSet<u64>,
    first: u64,
    runs: u32,
    times: u64,
    build_us: u64,
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::testing::scaled(24)))]
    #[test]
    fn merged_view_is_that_of_a_map_in_any_order(
        runs in prop::collection::vec(prop::collection::btree_set(0_u32..40, 0..20), 1..6),
        turn in 0_usize..6,
    ) {
        let mut model: BTreeMap<PipelineKey, Model> = BTreeMap::new();
        for (number, pipelines) in runs.iter().enumerate() {
            for (frame, &pipeline) in pipelines.iter().enumerate() {
                let key = description(pipeline).borrow().key();
                let entry = model.entry(key).or_insert_with(|| Model { first: u64::MAX, ..Model::default() });
                entry.masks.extend([1 + number as u64, 64]);
                entry.first = entry.first.min(10 * frame as u64);
                entry.runs += 1;
                entry.times += 1 + u64::from(pipeline);
                entry.build_us += u64::from(pipeline);
            }
        }
        let mut files: Vec<_> = runs.iter().enumerate()
            .map(|(number, pipelines)| bytes_of(number as u8, &pipelines.iter().copied().collect::<Vec<_>>()))
            .collect();
        let (view, lost) = merged(&files);
        prop_assert_eq!(lost, LogScan::default());
        let mut found = BTreeMap::new();
        view.for_each(|pipeline| {
            let UseData { masks, first_frame, runs, times, build_us, .. } = pipeline.uses;
            let masks = masks.as_slice().iter().map(Mask::bits).collect();
            let entry = Model { masks, first: *first_frame, runs: *runs, times: *times, build_us: *build_us };
            found.insert(pipeline.key, entry);
            Ok(())
        }).expect("memory");
        prop_assert_eq!(found, model);
        let whole = listed(&view);
        let count = files.len();
        files.rotate_left(turn % count);
        prop_assert_eq!(listed(&merged(&files).0), whole);
    }
}
