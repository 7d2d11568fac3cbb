//! The files: the user's cache, and the recording of a run.

use super::*;
use crate::store;
use crate::testing::scaled;

#[test]
fn user_cache_that_is_switched_off_keeps_nothing() {
    let (disk, driver) = (FaultDisk::default(), driver());
    let off = || Options { keeps_user_cache: false, ..on(&disk, &driver) };
    let library = opened(off(), 0);
    library.add(description(1).borrow(), 0).expect("memory");
    drop(library);
    assert_eq!(Library::open(off()).expect("it opens").1, Loaded::default());
    assert!(disk.files().iter().all(|path| path.extension().is_none_or(|extension| extension != "seg")));
}

#[test]
fn unwritable_directory_is_a_problem_but_no_failure() {
    let (disk, driver) = (FaultDisk::default(), driver());
    let library = opened(on(&disk, &driver), 2);
    disk.set_space(Some(0));
    library.add(description(9).borrow(), 1).expect("memory");
    let why = library.flush().expect_err("the disk is full");
    assert_eq!(why.code(), Code::Io);
    assert!(library.problem().is_some());
    disk.set_space(None);
    library.flush().expect("there is space");
    assert!(library.problem().is_none());
    drop(library);
    assert_eq!(Library::open(on(&disk, &driver)).expect("it opens").1.entries, 1);
}

/// Threads that use an unknown pipeline at the same time build it each, and each use counts.
#[test]
fn every_host_build_of_an_unknown_pipeline_counts_a_use() {
    use crate::pipeline::recording::{Merged, Recording};
    let (disk, driver) = (FaultDisk::default(), driver());
    disk.write(Path::new("runs/other"), b"");
    let path = "runs/a.rec.hobpipe";
    let library = opened(Options { recording: Some(path.into()), ..on(&disk, &driver) }, 1);
    // Of a shipped cache: its use is counted when it is used.
    assert_eq!(library.use_pipeline(&key(0)), State::Queued);
    library.add(description(0).borrow(), 1).expect("memory");
    for _ in 0..3 {
        assert_eq!(library.use_pipeline(&key(7)), State::Unknown);
    }
    for _ in 0..3 {
        library.add(description(7).borrow(), 1).expect("memory");
    }
    // A group knows it, so that its uses count at once.
    library.precompiler().add_group(&[key(8)]).expect("memory");
    assert_ne!(library.use_pipeline(&key(8)), State::Ready);
    library.add(description(8).borrow(), 1).expect("memory");
    let uses = |number| library.known.uses.uses(library.precompiler.find(&key(number)).expect("known"));
    assert_eq!([uses(0), uses(7), uses(8)], [1, 3, 1]);
    assert_eq!((library.coverage().missed, library.coverage().unknown), (1, 2));
    library.flush().expect("there is space");
    drop(library);
    let run = Recording::open(&share(disk.process()).unwrap(), Path::new(path)).expect("it was written");
    let (mut merged, mut found) = (Merged::default(), BTreeMap::new());
    merged.add(&run).expect("readable");
    merged
        .for_each(|pipeline| {
            found.insert(pipeline.key, pipeline.uses.times);
            Ok(())
        })
        .expect("memory");
    assert_eq!(found, BTreeMap::from([(key(0), 1), (key(7), 3), (key(8), 1)]));
}

/// The same on threads.
#[test]
fn concurrent_host_builds_count_all_uses() {
    for _ in 0..scaled(50) {
        let driver = driver();
        let library = opened(options(&driver), 0);
        let (start, pipeline) = (std::sync::Barrier::new(4), description(7));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    assert_eq!(library.use_pipeline(&key(7)), State::Unknown);
                    start.wait();
                    library.add(pipeline.borrow(), 1).expect("memory");
                });
            }
        });
        assert_eq!(library.known.uses.uses(library.precompiler.find(&key(7)).expect("known")), 4);
    }
}

/// A thread uses a pipeline that another one has just made known, but not yet noted as used.
#[test]
fn pipeline_that_is_used_while_it_is_added_has_one_first_use_in_the_recording() {
    use crate::pipeline::recording::{Readiness, Recorded, Recording};
    let (disk, driver) = (FaultDisk::default(), driver());
    disk.write(Path::new("runs/other"), b"");
    let library = opened(Options { recording: Some("runs/a.rec.hobpipe".into()), ..on(&disk, &driver) }, 0);
    let (pipeline, entry) = (description(7), Entry { key: key(7), ..Entry::default() });
    library.known.add(&library.precompiler, &entry, pipeline.borrow()).expect("memory");
    library.use_pipeline(&key(7));
    library.add(pipeline.borrow(), 1).expect("memory");
    library.use_pipeline(&key(7));
    library.flush().expect("there is space");
    drop(library);
    let mut first = vec![];
    let run =
        Recording::open(&share(disk.process()).unwrap(), Path::new("runs/a.rec.hobpipe")).expect("it was written");
    run.for_each(|record| {
        if let Recorded::First(record) = record {
            first.push(record.readiness);
        }
        Ok(())
    })
    .expect("it is read");
    assert_eq!(first, [Readiness::Unknown]);
}

#[test]
fn file_that_cannot_be_written_costs_the_other_one_nothing() {
    use crate::pipeline::recording::{Recorded, Recording};
    for (full, other) in [("runs/a.rec.hobpipe", "cache"), ("cache", "runs/a.rec.hobpipe")] {
        let (disk, driver) = (FaultDisk::default(), driver());
        disk.write(Path::new("runs/other"), b"");
        let recorded = || Options { recording: Some("runs/a.rec.hobpipe".into()), ..on(&disk, &driver) };
        let library = opened(recorded(), 100);
        disk.set_full(Some(full));
        (0..100).for_each(|number| _ = library.use_pipeline(&key(number)));
        library.set_masks(masks(7)).expect("memory");
        (0..200).for_each(|number| _ = library.add(description(number).borrow(), 1).expect("memory"));
        let why = library.flush().expect_err("a file is full");
        assert_eq!(why.code(), Code::Io);
        let problem = library.problem().expect("a file is full");
        assert!(problem.as_str().contains(full) && !problem.as_str().contains(other), "{problem}");
        drop(library);
        disk.set_full(None);
        let kept = Library::open(on(&disk, &driver)).expect("it opens").1.entries;
        let mut found = 0;
        let run = Recording::open(&share(disk.process()).unwrap(), Path::new("runs/a.rec.hobpipe"));
        if let Ok(run) = run {
            run.for_each(|record| {
                found += usize::from(matches!(record, Recorded::First(_)));
                Ok(())
            })
            .expect("it is read");
        }
        let (of_cache, of_recording) = if other == "cache" { (100, 0) } else { (0, 200) };
        assert_eq!((kept, found), (of_cache, of_recording), "{full} is full");
    }
}

#[test]
fn directory_that_cannot_be_made_is_a_problem_from_the_begin() {
    let driver = driver();
    let file = std::env::temp_dir().join(format!("hobgoblin-no-parent-{}", std::process::id()));
    std::fs::write(&file, b"").expect("there is space");
    let library = opened(Options { directory: Some(file.join("cache")), ..options(&driver) }, 0);
    assert!(library.problem().is_some());
    if cfg!(target_os = "linux") {
        let library = opened(Options { directory: Some("/proc/nope".into()), ..options(&driver) }, 0);
        assert!(library.problem().is_some());
    }
    std::fs::remove_file(&file).expect("it is there");
}

#[test]
fn pipeline_that_is_too_large_costs_no_other_one() {
    let (disk, driver) = (FaultDisk::default(), driver());
    let small = || Options {
        store: store::Options { limit_bytes: store::Options::LEAST_LIMIT, ..store::Options::new(|| NOW) },
        ..on(&disk, &driver)
    };
    let library = opened(small(), 0);
    library.add(description(1).borrow(), 1).expect("memory");
    let large = Description { state: vec![7; 250 << 10], ..description(2) };
    library.add(large.borrow(), 1).expect("memory");
    library.add(description(3).borrow(), 1).expect("memory");
    let why = library.flush().expect_err("one is too large");
    assert_eq!(why.code(), Code::LimitExceeded);
    assert!(why.sentence().starts_with("1 pipelines of this run are not kept"), "{why}");
    library.flush().expect("it was reported");
    let problem = library.problem().expect("one was dropped");
    assert!(problem.as_str().starts_with("1 pipelines of the user's cache were dropped"), "{problem}");
    drop(library);
    assert_eq!(Library::open(small()).expect("it opens").1.entries, 2);
}

#[test]
fn mask_of_a_use_selects_the_pipeline_at_the_next_start() {
    let (disk, driver) = (FaultDisk::default(), driver());
    let with = |bits| {
        let masks = CurrentMasks { regular: Mask::of_bits(bits), ..CurrentMasks::default() };
        Options { precompile: precompile::Options { masks, ..precompile::Options::default() }, ..on(&disk, &driver) }
    };
    opened(with(1), 0).add(description(1).borrow(), 1).expect("memory");
    let library = opened(with(2), 0);
    assert_eq!(library.use_pipeline(&key(1)), State::Unselected);
    drop(library);
    assert_eq!(opened(with(2), 0).state(&key(1)), State::Queued);
    assert_eq!(opened(with(1), 0).state(&key(1)), State::Queued);
}

/// A run plays an area after another one. The pipelines of both areas have both masks, in the recording and in the user's
/// cache.
#[test]
fn later_uses_have_the_mask_of_their_time() {
    use crate::pipeline::recording::{Merged, Recording};
    let (disk, driver) = (FaultDisk::default(), driver());
    disk.write(Path::new("cache/other"), b"");
    let masks = |bits| CurrentMasks { regular: Mask::of_bits(bits), ..CurrentMasks::default() };
    let with = |bits, recording: Option<&str>| {
        let precompile = precompile::Options { masks: masks(bits), ..precompile::Options::default() };
        Options { precompile, recording: recording.map(PathBuf::from), ..on(&disk, &driver) }
    };
    let library = opened(with(1, Some("cache/run.rec.hobpipe")), 0);
    for number in [1, 2] {
        library.add(description(number).borrow(), 1).expect("memory");
        library.use_pipeline(&key(number));
    }
    library.set_masks(masks(2)).expect("memory");
    for _ in 0..5 {
        library.use_pipeline(&key(1));
    }
    library.set_masks(masks(2)).expect("memory");
    library.set_masks(masks(4)).expect("memory");
    library.add(description(3).borrow(), 1).expect("memory");
    library.flush().expect("there is space");
    library.close().expect("no callback");
    drop(library);

    let recording =
        Recording::open(&share(disk.process()).unwrap(), Path::new("cache/run.rec.hobpipe")).expect("written");
    let mut merged = Merged::default();
    assert_eq!(merged.add(&recording).expect("memory").damaged, 0);
    let mut found = BTreeMap::new();
    let noted = merged.for_each(|pipeline| {
        let masks: Vec<u64> = pipeline.uses.masks.as_slice().iter().map(Mask::bits).collect();
        found.insert(pipeline.key, (masks, pipeline.uses.times));
        Ok(())
    });
    noted.expect("memory");
    let wanted = [(1, vec![1, 2], 7), (2, vec![1], 2), (3, vec![4], 1)];
    assert_eq!(found, wanted.into_iter().map(|(number, masks, times)| (key(number), (masks, times))).collect());

    let queued = |bits| {
        let library = opened(with(bits, None), 0);
        [1, 2, 3].map(|number| library.state(&key(number)) == State::Queued)
    };
    assert_eq!([queued(1), queued(2), queued(4)], [[true, true, false], [true, false, false], [false, false, true]]);
}

/// The later uses in a recording: their records by pipeline and mask, and the sum of their uses.
fn later_uses(disk: &FaultDisk, path: &str) -> BTreeMap<(PipelineKey, u64), (u32, u64)> {
    use crate::pipeline::recording::{Recorded, Recording};
    let recording = Recording::open(&share(disk.process()).unwrap(), Path::new(path)).expect("written");
    let mut found = BTreeMap::new();
    let scan = recording.for_each(|record| {
        if let Recorded::Later(later) = record {
            let sum: &mut (u32, u64) = found.entry((later.key, later.mask.bits())).or_default();
            *sum = (sum.0 + 1, sum.1 + later.times);
        }
        Ok(())
    });
    assert_eq!(scan.expect("memory").damaged, 0);
    found
}

#[test]
fn mask_that_changes_every_frame_takes_bounded_memory_and_one_record_for_each_mask() {
    let (disk, driver) = (FaultDisk::default(), driver());
    disk.write(Path::new("runs/other"), b"");
    let library = opened(Options { recording: Some("runs/a.rec.hobpipe".into()), ..on(&disk, &driver) }, 3);
    let frames = |count: u64| {
        for frame in 0..count {
            library.set_masks(masks(frame % 2)).expect("memory");
            (0..3).for_each(|number| _ = library.use_pipeline(&key(number)));
        }
    };
    frames(10);
    let memory = library.memory_used();
    assert_eq!(allocations(|| library.saving.count_uses(&library.known, 3, Mask::NONE).expect("memory")), 0);
    frames(1000);
    assert_eq!(library.memory_used(), memory);
    library.flush().expect("there is space");
    library.flush().expect("there is space");
    let found = later_uses(&disk, "runs/a.rec.hobpipe");
    assert_eq!(found.len(), 6);
    assert!(found.values().all(|&(records, _)| records == 1), "{found:?}");
    // The first uses have records of their own.
    assert_eq!(found.values().map(|&(_, times)| times).sum::<u64>(), 3 * 1010 - 3);
}

#[test]
fn masks_beyond_the_limit_of_a_run_are_not_counted_but_first_uses_keep_them() {
    let (disk, driver) = (FaultDisk::default(), driver());
    disk.write(Path::new("runs/other"), b"");
    let path = "runs/a.rec.hobpipe";
    let library = opened(Options { recording: Some(path.into()), ..on(&disk, &driver) }, 3);
    for mask in 0..300 {
        library.set_masks(masks(mask)).expect("memory");
        (0..2).for_each(|_| _ = library.use_pipeline(&key(0)));
    }
    library.use_pipeline(&key(1));
    library.set_masks(masks(1)).expect("memory");
    library.use_pipeline(&key(1));
    library.flush().expect("there is space");
    let found = later_uses(&disk, path);
    // The first mask, of no bits, was the current one before any use, and has no first use of pipeline 1.
    assert_eq!(found.keys().filter(|(pipeline, _)| *pipeline == key(0)).count(), later::MASKS);
    assert_eq!(found.get(&(key(1), 1)), Some(&(1, 1)));
    drop(library);
    let recording = crate::pipeline::recording::Recording::open(&share(disk.process()).unwrap(), Path::new(path));
    let mut merged = crate::pipeline::recording::Merged::default();
    merged.add(&recording.expect("written")).expect("memory");
    let mut first = None;
    let each = merged.for_each(|pipeline| {
        if pipeline.key == key(1) {
            first = pipeline.uses.masks.as_slice().last().map(Mask::bits);
        }
        Ok(())
    });
    each.expect("memory");
    assert_eq!(first, Some(299));
}

/// 20 pipelines with 60 masks are two batches. Each write of the flush fails once, and is tried again.
#[test]
fn batch_of_later_uses_that_cannot_be_written_counts_once_after_a_retry() {
    for calls in 0..23 {
        let (disk, driver) = (FaultDisk::default(), driver());
        disk.write(Path::new("runs/other"), b"");
        let (path, process) = ("runs/a.rec.hobpipe", disk.process());
        let io = share(process.clone()).unwrap();
        let library = opened(Options { io, recording: Some(path.into()), ..options(&driver) }, 20);
        for mask in 0..60 {
            library.set_masks(masks(mask)).expect("memory");
            (0..20).for_each(|number| (0..2).for_each(|_| _ = library.use_pipeline(&key(number))));
        }
        process.plan(|plan| plan.calls_to_error = Some(calls));
        let failed = library.flush().is_err();
        assert_eq!(library.problem().is_some(), failed);
        process.plan(|plan| plan.calls_to_error = None);
        library.flush().expect("it fails once");
        assert!(library.problem().is_none());
        assert!(failed, "{calls}");
        let found = later_uses(&disk, path);
        assert_eq!(found.values().map(|&(_, times)| times).sum::<u64>(), 20 * 120 - 20, "{calls}");
    }
}

#[test]
fn flush_fails_with_the_sentence_if_the_directory_cannot_be_used() {
    let driver = driver();
    let file = std::env::temp_dir().join(format!("hobgoblin-no-directory-{}", std::process::id()));
    std::fs::write(&file, b"").expect("there is space");
    let on = || Options { directory: Some(file.clone()), keeps_user_cache: true, ..options(&driver) };
    let library = opened(on(), 0);
    let why = library.flush().expect_err("nothing can be kept");
    assert_eq!(why.code(), Code::Io);
    assert_eq!(library.problem().expect("the same").as_str(), why.sentence());
    let store = store::Options { read_only: true, ..store::Options::new(|| NOW) };
    let library = opened(Options { store, ..on() }, 0);
    library.flush().expect("a library that only reads keeps nothing");
    assert!(library.problem().is_some());
    std::fs::remove_file(&file).expect("it is there");
}

#[test]
fn recording_that_a_full_disk_refused_can_be_created_again() {
    let (disk, driver) = (FaultDisk::default(), driver());
    disk.write(Path::new("runs/other"), b"");
    let with = || Options { recording: Some("runs/a.rec.hobpipe".into()), ..on(&disk, &driver) };
    disk.set_space(Some(disk.used()));
    assert_eq!(Library::open(with()).err().expect("the disk is full").code(), Code::Io);
    disk.set_space(None);
    let library = opened(with(), 1);
    library.use_pipeline(&key(0));
    drop(library);
    assert!(later_uses(&disk, "runs/a.rec.hobpipe").is_empty());
}

#[test]
fn recording_says_whether_a_pipeline_was_ready_at_its_first_use() {
    use crate::pipeline::recording::{Readiness, Recorded, Recording};
    let (disk, driver) = (FaultDisk::default(), driver());
    disk.write(Path::new("runs/other"), b"");
    let path = "runs/a.rec.hobpipe";
    let library = opened(Options { recording: Some(path.into()), ..on(&disk, &driver) }, 3);
    library.use_pipeline(&key(0));
    library.begin_frame(None);
    library.compile_for(Duration::MAX);
    library.use_pipeline(&key(1));
    library.add(description(9).borrow(), 1).expect("memory");
    let coverage = library.coverage();
    assert_eq!((coverage.missed, coverage.ready, coverage.unknown), (1, 1, 1));
    drop(library);
    let mut found = BTreeMap::new();
    let recording = Recording::open(&share(disk.process()).unwrap(), Path::new(path)).expect("written");
    let each = recording.for_each(|record| {
        if let Recorded::First(first) = record {
            found.insert(first.key, first.readiness);
        }
        Ok(())
    });
    each.expect("memory");
    let wanted = [(0, Readiness::Missed), (1, Readiness::Ready), (9, Readiness::Unknown)];
    assert_eq!(found, wanted.map(|(number, readiness)| (key(number), readiness)).into_iter().collect());
}

#[test]
fn dimensions_are_recorded_and_a_user_cache_of_others_is_not_used() {
    use crate::pipeline::recording::Recording;
    let (disk, driver) = (FaultDisk::default(), driver());
    disk.write(Path::new("runs/other"), b"");
    let with = |name: &str, recording: Option<&str>| Options {
        dimensions: vec![Dimension { name: name.into(), width: 3 }],
        recording: recording.map(PathBuf::from),
        ..on(&disk, &driver)
    };
    let path = "runs/a.rec.hobpipe";
    opened(with("quality", Some(path)), 0).add(description(1).borrow(), 1).expect("memory");
    let recording = Recording::open(&share(disk.process()).unwrap(), Path::new(path)).expect("written");
    assert_eq!(recording.run().dimensions, [Dimension { name: "quality".into(), width: 3 }]);
    let opened = |name| Library::open(with(name, None)).expect("it opens").1.entries;
    assert_eq!([opened("quality"), opened("level")], [1, 0]);
    let problem = |name| Library::open(with(name, None)).expect("it opens").0.problem();
    assert!(problem("quality").is_none());
    let refusal = problem("level").expect("there is a cache of other dimensions");
    assert!(refusal.as_str().contains("quality:3, and not level:3"), "{refusal}");
    let mut twice = with("quality", None);
    twice.dimensions.push(Dimension { name: "quality".into(), width: 1 });
    assert_eq!(Library::open(twice).err().expect("a repeated name").code(), Code::InvalidArgument);
    let long = Options { version: "1".repeat(1025), ..on(&disk, &driver) };
    assert_eq!(Library::open(long).err().expect("too long").code(), Code::LimitExceeded);
}

#[test]
fn mask_with_bits_beyond_the_dimensions_changes_nothing() {
    let driver = driver();
    let with = |bits| Options {
        dimensions: vec![Dimension { name: "level".into(), width: 2 }],
        precompile: precompile::Options { masks: masks(bits), ..precompile::Options::default() },
        ..options(&driver)
    };
    assert_eq!(Library::open(with(4)).err().expect("2 bits").code(), Code::InvalidArgument);
    let library = opened(with(1), 4);
    let beyond = CurrentMasks { precompile: Mask::of_bits(4), ..masks(2) };
    assert_eq!(library.set_masks(beyond).expect_err("2 bits").code(), Code::InvalidArgument);
    assert_eq!(library.precompiler().masks(), masks(1));
    assert_eq!(library.remaining_of(Mask::of_bits(5)).expect_err("2 bits").code(), Code::InvalidArgument);
    assert_eq!(library.remaining_of(Mask::of_bits(3)).expect("2 bits"), 0);
}

/// A disk of 96 KiB is full before the limit of the cache: new pipelines take the place of others of this run.
#[test]
fn flush_counts_pipelines_that_a_full_disk_dropped() {
    let (disk, driver) = (FaultDisk::default(), driver());
    let library = opened(on(&disk, &driver), 0);
    library.flush().expect("there is space");
    disk.set_space(Some(disk.used() + (96 << 10)));
    let describe = |number: u16| Description { state: vec![number as u8; 500 + usize::from(number)], ..description(1) };
    let (mut lost, mut waits) = (0, false);
    for number in 0..400 {
        library.add(describe(number).borrow(), 1).expect("memory");
        match library.flush() {
            Ok(()) => waits = false,
            Err(why) if why.code() == Code::Io => waits = true,
            Err(why) => {
                assert_eq!(why.code(), Code::LimitExceeded, "{why}");
                lost += why.sentence().split(' ').next().expect("a number").parse::<usize>().expect("a number");
            }
        }
    }
    drop(library);
    let kept = Library::open(on(&disk, &driver)).expect("it opens").1.entries;
    assert!(lost > 0 || waits, "400 pipelines of 700 bytes do not fit");
    assert!(kept + lost <= 400 && (waits || kept + lost == 400), "{kept} are kept, and {lost} lost");
}
