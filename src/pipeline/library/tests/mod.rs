//! The library with a driver that counts compiles, on a disk that can fail.

mod requests;
mod saving;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use super::*;
use crate::base::Code;
use crate::executor::{self, Background, Executor};
use crate::pipeline::precompile::{CurrentMasks, Decision, Job, Mode, Policy};
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
    assert_eq!(expanded.unresolved.count(), 0);
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

fn masks(bits: u64) -> CurrentMasks {
    CurrentMasks { regular: Mask::of_bits(bits), ..CurrentMasks::default() }
}
