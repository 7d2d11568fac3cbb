use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use super::*;
use crate::base::Code;
use crate::executor::{self, Background};
use crate::pipeline::precompile::{CurrentMasks, Job, Mode, Policy};
use crate::pipeline::{Description, Schema, ShaderHash, ShaderRef};
use crate::store::fault_io::FaultDisk;
use crate::store::io::{OsIo, share};
use crate::testing::allocator::allocations;

const NOW: u64 = 1_800_000_000;

/// A driver: counts the compiles of each pipeline.
#[derive(Default)]
struct Driver {
    compiled: Mutex<BTreeMap<PipelineKey, u32>>,
    completions: AtomicU32,
    /// Refuses pipelines with these states.
    refused: Mutex<Vec<u8>>,
    is_busy: AtomicBool,
}

impl Driver {
    fn count(&self) -> usize {
        self.compiled.lock().unwrap().len()
    }
}

/// The driver as the library sees it.
struct Host(Shared<Driver>);

impl Compiler for Host {
    fn compile(&self, key: &PipelineKey, description: &Description, job: &Job) -> Built {
        assert_eq!((description.borrow().key(), job.key), (*key, *key));
        if self.0.is_busy.load(Ordering::Relaxed) {
            return Built::Cancelled;
        }
        *self.0.compiled.lock().unwrap().entry(*key).or_default() += 1;
        let is_refused = self.0.refused.lock().unwrap().contains(&description.state[0]);
        if is_refused { Built::Failed } else { Built::Ready }
    }

    fn complete(&self) {
        self.0.completions.fetch_add(1, Ordering::Relaxed);
    }
}

fn description(number: u8) -> Description {
    let shaders = vec![ShaderRef { stage: 0, hash: ShaderHash([number; 20]) }];
    Description { schema: Schema(1), state: vec![number; 50], shaders, ..Default::default() }
}

fn key(number: u8) -> PipelineKey {
    description(number).borrow().key()
}

fn options(driver: &Shared<Driver>) -> Options {
    let identity = Identity::new("game", "spirv", 3).expect("valid");
    let host = Shared::into_dyn(Shared::try_new(Host(driver.clone())).unwrap(), |host| -> &dyn Compiler { host });
    Options::new(identity, "1.0", host, share(OsIo).unwrap(), || NOW).expect("memory")
}

fn on(disk: &FaultDisk, driver: &Shared<Driver>) -> Options {
    Options { io: share(disk.process()).unwrap(), directory: Some(PathBuf::from("cache")), ..options(driver) }
}

fn driver() -> Shared<Driver> {
    Shared::try_new(Driver::default()).unwrap()
}

/// A library with the pipelines 0 to `count` of a shipped cache.
fn opened(options: Options, count: u8) -> Library {
    let (library, _) = Library::open(options).expect("it opens");
    add_shipped(&library, count);
    library
}

fn add_shipped(library: &Library, count: u8) {
    let descriptions: Vec<_> = (0..count).map(description).collect();
    let masks = [Mask::of_bits(1), Mask::of_bits(2)];
    let entries = descriptions.iter().enumerate().map(|(at, description)| CacheEntry {
        key: description.borrow().key(),
        description: description.borrow(),
        masks: &masks[at % 2..=at % 2],
        first_frame: Some(at as u64),
        times_used: 1,
        build_us: 1000,
        sightings: &[],
    });
    library.add_entries(entries).expect("memory");
}

#[test]
fn shipped_pipelines_are_compiled_once_and_then_ready() {
    let driver = driver();
    let library = opened(options(&driver), 120);
    add_shipped(&library, 120);
    let mut frames = 0;
    while library.precompiler().counts().remaining() > 0 {
        library.begin_frame(None);
        let compiled = library.compile_for(Duration::MAX);
        assert!(compiled <= 50, "{compiled} in a frame");
        frames += 1;
    }
    assert!((3..6).contains(&frames), "{frames}");
    assert!(driver.compiled.lock().unwrap().values().all(|&count| count == 1));
    assert_eq!((driver.count(), driver.completions.load(Ordering::Relaxed)), (120, 1));
    assert!((0..120).all(|number| library.use_pipeline(&key(number)) == State::Ready));
    let coverage = library.coverage();
    assert_eq!((coverage.opened, coverage.used, coverage.ready), (120, 120, 120));
    assert_eq!((coverage.missed, coverage.unknown, coverage.hitch_ms), (0, 0, 0));
}

#[test]
fn pipeline_that_is_needed_now_comes_first_in_every_mode() {
    let driver = driver();
    let library = opened(options(&driver), 60);
    library.precompiler().set_mode(Mode::Paused);
    assert_eq!(library.use_pipeline(&key(57)), State::Queued);
    assert_eq!(library.use_pipeline(&key(57)), State::Queued);
    assert!(library.compile_one().is_some());
    assert!(library.compile_one().is_none());
    assert_eq!(library.use_pipeline(&key(57)), State::Ready);
    assert_eq!(library.wait(&key(31), Duration::MAX), State::Ready);
    assert_eq!(driver.count(), 2);
    let coverage = library.coverage();
    assert_eq!((coverage.used, coverage.ready, coverage.missed), (1, 0, 1));
}

#[test]
fn pipeline_that_the_cache_lacks_is_ready_at_the_next_start() {
    let (disk, driver) = (FaultDisk::default(), driver());
    let library = opened(on(&disk, &driver), 5);
    assert_eq!(library.use_pipeline(&key(77)), State::Unknown);
    assert_eq!(library.add(description(77).borrow(), 12_000).expect("memory"), key(77));
    assert_eq!(library.add(description(3).borrow(), 8_000).expect("memory"), key(3));
    assert_eq!(library.use_pipeline(&key(77)), State::Ready);
    let coverage = library.coverage();
    assert_eq!((coverage.opened, coverage.unknown, coverage.missed, coverage.hitch_ms), (5, 1, 1, 20));
    drop(library);
    let (library, loaded) = Library::open(on(&disk, &driver)).expect("it opens");
    assert_eq!(loaded.entries, 1);
    library.begin_frame(None);
    assert_eq!(library.compile_for(Duration::MAX), 1);
    assert_eq!(library.use_pipeline(&key(77)), State::Ready);
    let coverage = library.coverage();
    assert_eq!((coverage.opened, coverage.ready, coverage.unknown), (1, 1, 0));
}

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
fn pipeline_that_crashed_the_process_twice_is_banned() {
    let (disk, driver) = (FaultDisk::default(), driver());
    for crash in 0..3 {
        let process = disk.process();
        let library = opened(Options { io: share(process.clone()).unwrap(), ..on(&disk, &driver) }, 1);
        if crash == 2 {
            assert_eq!(library.use_pipeline(&key(0)), State::Banned);
            library.begin_frame(None);
            assert!(library.compile_one().is_none());
            break;
        }
        // The process dies between the note and its end.
        let bans = library.quarantine.as_ref().expect("there is a directory");
        bans.begin(0, &key(0).0).expect("memory");
        process.kill();
        std::mem::forget(library);
    }
}

#[test]
fn refused_pipeline_is_not_compiled_again() {
    let driver = driver();
    driver.refused.lock().unwrap().push(2);
    let library = opened(options(&driver), 4);
    for _ in 0..3 {
        library.begin_frame(None);
        library.compile_for(Duration::MAX);
    }
    assert_eq!(library.use_pipeline(&key(2)), State::Failed);
    assert_eq!(driver.compiled.lock().unwrap()[&key(2)], 1);
    let group = library.precompiler().add_group(&[key(1), key(2)]).expect("memory");
    assert!(!library.precompiler().is_ready(group));
}

#[test]
fn cancelled_compile_is_requested_again() {
    let driver = driver();
    let library = opened(options(&driver), 1);
    driver.is_busy.store(true, Ordering::Relaxed);
    assert_eq!(library.use_pipeline(&key(0)), State::Queued);
    assert!(library.compile_one().is_some());
    assert_eq!(library.use_pipeline(&key(0)), State::Queued);
    driver.is_busy.store(false, Ordering::Relaxed);
    assert!(library.compile_one().is_some());
    assert_eq!(library.use_pipeline(&key(0)), State::Ready);
}

#[test]
fn mask_selects_the_pipelines_to_compile() {
    let driver = driver();
    let library = opened(options(&driver), 20);
    let masks = CurrentMasks { regular: Mask::of_bits(2), ..CurrentMasks::default() };
    library.set_masks(masks).expect("memory");
    library.begin_frame(None);
    assert_eq!(library.compile_for(Duration::MAX), 10);
    assert_eq!((library.state(&key(1)), library.state(&key(2))), (State::Ready, State::Unselected));
    // A pipeline outside of the mask that is used is compiled.
    assert_eq!(library.use_pipeline(&key(2)), State::Unselected);
    assert!(library.compile_one().is_some());
    assert_eq!(library.use_pipeline(&key(2)), State::Ready);
}

#[test]
fn background_compiles_and_saves_without_a_call() {
    let (disk, driver) = (FaultDisk::default(), driver());
    let background = || executor::Options { background: Background::Thread, ..executor::Options::default() };
    let executor = Executor::new(background()).expect("a thread");
    let library = opened(Options { executor: Some(executor.clone()), ..on(&disk, &driver) }, 100);
    library.add(description(200).borrow(), 1).expect("memory");
    while library.precompiler().counts().remaining() > 0 {
        library.begin_frame(None);
        std::thread::yield_now();
    }
    assert_eq!(driver.count(), 100);
    executor.wait_idle(Duration::MAX).expect("it ends");
    assert!(!library.saving.has_work());
    drop(library);
    drop(executor);
    assert_eq!(Library::open(on(&disk, &driver)).expect("it opens").1.entries, 1);
}

#[test]
fn pump_compiles_what_the_frame_allows() {
    let driver = driver();
    let executor = Executor::new(executor::Options::default()).expect("no thread");
    let library = opened(Options { executor: Some(executor.clone()), ..options(&driver) }, 201);
    let mut frames = 0;
    while library.precompiler().counts().remaining() > 0 {
        library.begin_frame(None);
        let before = driver.count();
        executor.pump(Duration::MAX).expect("not inside");
        assert!(driver.count() - before <= 50);
        frames += 1;
    }
    // 50 a frame, unless the machine stands still for longer than the frame allows.
    assert!(frames < 100, "{frames}");
    // The budget of a pump ends between two pieces.
    add_shipped(&library, 220);
    library.begin_frame(None);
    assert_eq!(executor.pump(Duration::ZERO).expect("not inside"), 0);
}

#[test]
fn cache_that_is_opened_after_the_host_built_its_pipeline_counts_it() {
    let driver = driver();
    let library = opened(options(&driver), 0);
    library.add(description(3).borrow(), 1).expect("memory");
    add_shipped(&library, 5);
    add_shipped(&library, 5);
    assert_eq!((library.coverage().opened, library.coverage().unknown), (5, 1));
    library.add(description(3).borrow(), 1).expect("memory");
    assert_eq!(library.coverage().missed, 0);
}

#[test]
fn closed_library_calls_the_host_no_more() {
    let driver = driver();
    let executor = Executor::new(executor::Options::default()).expect("no thread");
    let library = opened(Options { executor: Some(executor.clone()), ..options(&driver) }, 10);
    library.begin_frame(None);
    drop(library);
    executor.pump(Duration::MAX).expect("not inside");
    assert_eq!(driver.count(), 0);
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
fn frames_allocate_nothing_once_pipelines_were_used() {
    let driver = driver();
    let library = opened(options(&driver), 40);
    let group = library.precompiler().add_group(&[key(1), key(2)]).expect("memory");
    library.begin_frame(None);
    library.compile_for(Duration::MAX);
    (0..40).for_each(|number| _ = library.use_pipeline(&key(number)));
    let keys: Vec<_> = (0..50).map(key).collect();
    let frame = || {
        library.begin_frame(Some(1000));
        keys.iter().for_each(|key| _ = library.use_pipeline(key));
        assert!(library.precompiler().decide(group, Policy::Skip).is_ok());
    };
    assert_eq!(allocations(|| (0..10).for_each(|_| frame())), 0);
    let uses = library.known.uses.uses(library.precompiler.find(&key(7)).expect("known"));
    assert_eq!(uses, 11);
}

#[test]
fn failed_allocation_is_a_result_and_nothing_is_lost() {
    use crate::testing::allocator::with_allowance;
    let mut allowance = 0;
    loop {
        let (driver, number) = (driver(), 7);
        let (library, _) = Library::open(options(&driver)).expect("it opens");
        let description = description(number);
        let added = with_allowance(allowance, || library.add(description.borrow(), 1).map_err(|why| why.code()));
        match added {
            Err(code) => assert_eq!(code, Code::OutOfMemory),
            Ok(_) => break,
        }
        library.add(description.borrow(), 1).expect("there is memory");
        assert_eq!(library.use_pipeline(&key(number)), State::Ready);
        allowance += 1;
    }
    assert!(allowance > 3);
}

#[test]
fn eight_threads_use_add_and_compile_together() {
    let (disk, driver) = (FaultDisk::default(), driver());
    let library = opened(on(&disk, &driver), 100);
    std::thread::scope(|scope| {
        for thread in 0..8_u8 {
            let library = &library;
            scope.spawn(move || {
                for round in 0..20 {
                    library.begin_frame(None);
                    (0..120).for_each(|number| _ = library.use_pipeline(&key(number)));
                    library.add(description(120 + (thread + round) % 10).borrow(), 1).expect("memory");
                    library.compile_for(Duration::MAX);
                }
            });
        }
    });
    assert!(driver.compiled.lock().unwrap().values().all(|&count| count == 1));
    assert_eq!(library.coverage().states.ready, 110);
    assert_eq!((library.coverage().opened, library.coverage().unknown), (100, 10));
    drop(library);
    assert_eq!(Library::open(on(&disk, &driver)).expect("it opens").1.entries, 10);
    assert!(disk.files().iter().all(|path| path.starts_with(Path::new("cache"))));
}

/// Make `cache/game.stable.hobpipe` from a recording, and `cache/a.hobstable` on the way. Returns its number of pipelines.
fn ship(io: &SharedIo, recording: &str) -> u64 {
    use crate::pipeline::build::{Build, BuildOptions};
    use crate::pipeline::keys::{KeyLine, KeyMapBuilder};
    use crate::pipeline::recording::Recording;
    use crate::pipeline::stable::{Expansion, StableFile};
    let run = Recording::open(io, Path::new(recording)).expect("it was written");
    let mut keys = KeyMapBuilder::default();
    for number in 0..50 {
        let key = format!("material {number}");
        keys.add(&KeyLine { hash: ShaderHash([number; 20]), stage: 0, key: &key }).expect("memory");
    }
    let keys = keys.finish().expect("memory");
    let mut expansion = Expansion::like(&run).expect("memory");
    assert!(expansion.add(&run).expect("readable"));
    let expanded = expansion.finish(&keys, io, Path::new("cache/a.hobstable")).expect("there is space");
    assert!(expanded.unresolved.is_empty());
    let identity = Identity::new("game", "spirv", 3).expect("valid");
    let mut build = Build::new(&identity, "1.1", &keys, BuildOptions::default()).expect("memory");
    let stable = StableFile::open(io, Path::new("cache/a.hobstable")).expect("it was written");
    assert!(build.add(&stable).expect("readable"));
    let report = build.finish(io, Path::new("cache/game.stable.hobpipe")).expect("there is space");
    report.total()
}

/// The recording has area after area. The player begins in the second one.
#[test]
fn shipped_cache_predicts_the_pipelines_that_followed_in_recordings() {
    let (disk, driver) = (FaultDisk::default(), driver());
    let off = || Options { keeps_user_cache: false, ..on(&disk, &driver) };
    let io = share(disk.process()).unwrap();
    io.create_directory(Path::new("cache")).expect("nothing is in the way");
    let path = "cache/run.rec.hobpipe";
    let library = opened(Options { recording: Some(path.into()), ..off() }, 0);
    for number in 0..20 {
        (0..10).for_each(|_| library.begin_frame(None));
        library.add(description(number).borrow(), 100).expect("memory");
    }
    drop(library);
    assert_eq!(ship(&io, path), 20);
    let cache = disk.read(Path::new("cache/game.stable.hobpipe")).expect("it was written");

    let compiled_first = || {
        driver.compiled.lock().unwrap().clear();
        let (library, _) = Library::open(off()).expect("it opens");
        library.open_cache_bytes(&cache).expect("whole");
        library.precompiler().set_mode(Mode::Background);
        library.use_pipeline(&key(12));
        for _ in 0..2 {
            library.begin_frame(None);
            library.compile_for(Duration::MAX);
        }
        let compiled = driver.compiled.lock().unwrap();
        (0..20).filter(|number| compiled.contains_key(&key(*number))).collect::<Vec<u8>>()
    };
    assert_eq!(compiled_first(), [12, 13, 14]);
    // The same recordings give the same bytes.
    assert_eq!(ship(&io, path), 20);
    assert_eq!(disk.read(Path::new("cache/game.stable.hobpipe")), Some(cache.clone()));
}

/// The whole way: a run is recorded, expanded, built, and the next run precompiles it.
#[test]
fn recorded_run_becomes_a_shipped_cache_that_leaves_nothing_to_miss() {
    use crate::pipeline::recording::{Merged, Recording};
    let (disk, driver) = (FaultDisk::default(), driver());
    let recording = |options: Options| Options { recording: Some(PathBuf::from("cache/run.rec.hobpipe")), ..options };
    let off = || Options { keeps_user_cache: false, ..on(&disk, &driver) };
    let io = share(disk.process()).unwrap();
    io.create_directory(Path::new("cache")).expect("nothing is in the way");
    let library = opened(recording(off()), 3);
    library.begin_frame(None);
    library.compile_for(Duration::MAX);
    library.set_masks(CurrentMasks { regular: Mask::of_bits(5), ..CurrentMasks::default() }).expect("memory");
    (0..10).for_each(|number| {
        if library.use_pipeline(&key(number)) == State::Unknown {
            library.add(description(number).borrow(), 100).expect("memory");
        }
        (0..4).for_each(|_| _ = library.use_pipeline(&key(number)));
    });
    drop(library);

    let run = Recording::open(&io, Path::new("cache/run.rec.hobpipe")).expect("it was written");
    let mut merged = Merged::default();
    assert_eq!(merged.add(&run).expect("readable").damaged, 0);
    let mut uses = Vec::new();
    merged
        .for_each(|pipeline| {
            assert_eq!(pipeline.uses.masks.as_slice(), [Mask::of_bits(5)]);
            uses.push(pipeline.uses.times);
            Ok(())
        })
        .expect("memory");
    uses.sort_unstable();
    // The host's own builds count as a use, before four more.
    assert_eq!(uses, [5; 10]);

    assert_eq!(ship(&io, "cache/run.rec.hobpipe"), 10);

    let (library, _) = Library::open(off()).expect("it opens");
    let scan = library.open_cache(Path::new("cache/game.stable.hobpipe")).expect("it was written");
    assert_eq!((scan.entries, scan.missing), (10, 0));
    while library.precompiler().counts().remaining() > 0 {
        library.begin_frame(None);
        library.compile_for(Duration::MAX);
    }
    assert!((0..10).all(|number| library.use_pipeline(&key(number)) == State::Ready));
    let coverage = library.coverage();
    assert_eq!((coverage.opened, coverage.ready, coverage.missed, coverage.unknown), (10, 10, 0, 0));
    let bytes = disk.read(Path::new("cache/game.stable.hobpipe")).expect("it was written");
    assert_eq!(library.open_cache_bytes(&bytes).expect("whole").entries, 10);
    assert_eq!(library.coverage().opened, 10);
    let why = library.open_cache(Path::new("cache/a.hobstable")).expect_err("another kind");
    assert!(why.sentence().contains("a stable file"), "{why}");
    // A recording never replaces a file.
    assert!(Library::open(recording(off())).is_err());
}

#[test]
fn pipeline_that_the_host_never_compiles_does_not_spin() {
    let driver = driver();
    let executor = Executor::new(executor::Options::default()).expect("no thread");
    let library = opened(Options { executor: Some(executor.clone()), ..options(&driver) }, 1);
    driver.is_busy.store(true, Ordering::Relaxed);
    assert_eq!(library.use_pipeline(&key(0)), State::Queued);
    assert_eq!(library.compile_for(Duration::MAX), 0);
    assert_eq!(library.wait(&key(0), Duration::MAX), State::Queued);
    for _ in 0..5 {
        library.begin_frame(None);
        let before = executor.statistics().ran;
        executor.wait_idle(Duration::MAX).expect("it ends");
        assert!(executor.statistics().ran <= before + 1);
    }
}

#[test]
fn banned_pipeline_that_no_cache_has_is_still_banned() {
    let (disk, driver) = (FaultDisk::default(), driver());
    for _ in 0..2 {
        let process = disk.process();
        let library = opened(Options { io: share(process.clone()).unwrap(), ..on(&disk, &driver) }, 1);
        library.quarantine.as_ref().expect("there is a directory").begin(0, &key(0).0).expect("memory");
        process.kill();
        std::mem::forget(library);
    }
    let library = opened(Options { version: "2.0".into(), ..on(&disk, &driver) }, 0);
    assert_eq!(library.use_pipeline(&key(0)), State::Banned);
    assert_eq!(library.wait(&key(0), Duration::MAX), State::Banned);
    assert_eq!(library.use_pipeline(&key(1)), State::Unknown);
    // The host built it all the same: for this run.
    library.add(description(0).borrow(), 1).expect("memory");
    assert_eq!(library.use_pipeline(&key(0)), State::Ready);
    drop(library);
    assert_eq!(opened(on(&disk, &driver), 1).use_pipeline(&key(0)), State::Banned);
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
    library.flush().expect("there is space");
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

fn masks(bits: u64) -> CurrentMasks {
    CurrentMasks { regular: Mask::of_bits(bits), ..CurrentMasks::default() }
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
fn forgotten_pipelines_are_compiled_again() {
    let driver = driver();
    driver.refused.lock().unwrap().push(2);
    let library = opened(options(&driver), 4);
    let group = library.precompiler().add_group(&[key(0), key(1)]).expect("memory");
    let compile = || {
        library.begin_frame(None);
        library.compile_for(Duration::MAX);
    };
    compile();
    assert_eq!([1, 2].map(|number| library.use_pipeline(&key(number))), [State::Ready, State::Failed]);
    assert_eq!(library.forget(Some(&key(9))).expect("memory"), 0);
    assert_eq!(library.forget(Some(&key(1))).expect("memory"), 1);
    assert_eq!(library.forget(Some(&key(1))).expect("memory"), 0, "it waits");
    assert!(!library.precompiler().is_ready(group));
    assert_eq!(library.use_pipeline(&key(1)), State::Queued);
    compile();
    assert!(library.precompiler().is_ready(group));
    // The device is lost. A refused pipeline stays refused, unless it is named.
    assert_eq!(library.forget(None).expect("memory"), 3);
    assert_eq!(library.coverage().states.remaining(), 3);
    driver.refused.lock().unwrap().clear();
    assert_eq!(library.state(&key(2)), State::Failed);
    assert_eq!(library.forget(Some(&key(2))).expect("memory"), 1);
    compile();
    assert_eq!(library.coverage().states.ready, 4);
    let counts: Vec<u32> = (0..4).map(|number| driver.compiled.lock().unwrap()[&key(number)]).collect();
    assert_eq!(counts, [2, 3, 2, 2]);
    // Uses were counted once.
    assert_eq!((library.coverage().used, library.coverage().missed), (2, 1));
}

#[test]
fn ban_that_is_lifted_stays_lifted_at_the_next_start() {
    let (disk, driver) = (FaultDisk::default(), driver());
    for _ in 0..2 {
        let process = disk.process();
        let library = opened(Options { io: share(process.clone()).unwrap(), ..on(&disk, &driver) }, 2);
        library.quarantine.as_ref().expect("there is a directory").begin(0, &key(0).0).expect("memory");
        process.kill();
        std::mem::forget(library);
    }
    for count in [2, 0] {
        let library = opened(on(&disk, &driver), count);
        assert_eq!(library.state(&key(0)), State::Banned, "{count}");
    }
    let library = opened(on(&disk, &driver), 2);
    assert_eq!(library.forget(Some(&key(0))).expect("there is space"), 1);
    assert_eq!(library.state(&key(0)), State::Queued);
    drop(library);
    assert_eq!(opened(on(&disk, &driver), 0).state(&key(0)), State::Unknown);
}

#[test]
fn request_waits_for_other_threads_and_never_compiles() {
    let driver = driver();
    let library = opened(options(&driver), 3);
    library.precompiler().set_mode(Mode::Paused);
    assert_eq!(library.request(&key(9), Duration::MAX), State::Unknown);
    assert_eq!(library.request(&key(1), Duration::from_micros(1)), State::Queued);
    assert_eq!(driver.count(), 0);
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| library.request(&key(1), Duration::MAX));
        while library.compile_for(Duration::MAX) == 0 {}
        assert_eq!(waiting.join().expect("no panic"), State::Ready);
    });
    assert_eq!(driver.count(), 1);
    assert_eq!(library.coverage().used, 0);
}

#[test]
fn remaining_pipelines_of_a_mask_are_counted_before_it_is_the_current_one() {
    let driver = driver();
    let library = opened(options(&driver), 10);
    library.set_masks(masks(1)).expect("memory");
    let remaining = |bits| library.precompiler().remaining_of(Mask::of_bits(bits)).expect("memory");
    assert_eq!([remaining(0), remaining(1), remaining(2), remaining(3)], [10, 5, 5, 0]);
    library.begin_frame(None);
    assert_eq!(library.compile_for(Duration::MAX), 5);
    assert_eq!([remaining(0), remaining(1), remaining(2)], [5, 0, 5]);
    assert_eq!(library.coverage().states.remaining(), 0);
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
    let mut twice = with("quality", None);
    twice.dimensions.push(Dimension { name: "quality".into(), width: 1 });
    assert_eq!(Library::open(twice).err().expect("a repeated name").code(), Code::InvalidArgument);
    let long = Options { version: "1".repeat(1025), ..on(&disk, &driver) };
    assert_eq!(Library::open(long).err().expect("too long").code(), Code::LimitExceeded);
}
