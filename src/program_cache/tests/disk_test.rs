//! The disk tier over a file system with fault injection.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::{NOW, desc, key};
use crate::base::Code;
use crate::executor::{Executor, Options as ExecutorOptions};
use crate::program_cache::cache::LISTED;
use crate::program_cache::disk::value::{encode, kind};
use crate::program_cache::memory::blob::ALIGNMENT;
use crate::program_cache::*;
use crate::store;
use crate::store::fault_io::{CallCounts, FaultDisk, FaultIo};
use crate::store::io::{File, Io, Lock, SharedFile, share, share_file};

const FOREVER: Duration = Duration::MAX;

/// Calls a function once before the next read, and another one before each write; counts syncs and listings.
#[derive(Default)]
struct Trap {
    before_read: Mutex<Option<Box<dyn FnOnce() + Send>>>,
    before_write: Mutex<Option<Box<dyn FnMut() + Send>>>,
    syncs: AtomicU64,
    /// Milliseconds that each read takes, and the number of reads.
    read_ms: AtomicU64,
    reads: AtomicU64,
    lists: AtomicU64,
}

struct TrapIo {
    io: FaultIo,
    trap: Arc<Trap>,
}

struct TrapFile {
    file: SharedFile,
    trap: Arc<Trap>,
}

impl TrapIo {
    fn with_trap(&self, file: SharedFile) -> SharedFile {
        share_file(TrapFile { file, trap: Arc::clone(&self.trap) }).unwrap()
    }
}

impl Io for TrapIo {
    fn list(&self, directory: &Path) -> io::Result<Vec<OsString>> {
        self.trap.lists.fetch_add(1, SeqCst);
        self.io.list(directory)
    }
    fn create_directory(&self, directory: &Path) -> io::Result<()> {
        self.io.create_directory(directory)
    }
    fn open(&self, path: &Path) -> io::Result<SharedFile> {
        self.io.open(path).map(|file| self.with_trap(file))
    }
    fn create(&self, path: &Path) -> io::Result<SharedFile> {
        self.io.create(path).map(|file| self.with_trap(file))
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.io.rename(from, to)
    }
    fn remove(&self, path: &Path) -> io::Result<()> {
        self.io.remove(path)
    }
    fn sync_directory(&self, directory: &Path) -> io::Result<()> {
        self.io.sync_directory(directory)
    }
    fn try_lock(&self, path: &Path) -> io::Result<Option<Box<dyn Lock>>> {
        self.io.try_lock(path)
    }
    fn nonce(&self) -> u64 {
        self.io.nonce()
    }
}

impl File for TrapFile {
    fn length(&self) -> io::Result<u64> {
        self.file.length()
    }
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.trap.reads.fetch_add(1, SeqCst);
        std::thread::sleep(Duration::from_millis(self.trap.read_ms.load(SeqCst)));
        let sprung = self.trap.before_read.lock().unwrap().take();
        if let Some(sprung) = sprung {
            sprung();
        }
        self.file.read_at(buffer, offset)
    }
    fn append(&self, parts: &mut [io::IoSlice<'_>]) -> io::Result<()> {
        if let Some(before) = &mut *self.trap.before_write.lock().unwrap() {
            before();
        }
        self.file.append(parts)
    }
    fn truncate(&self, length: u64) -> io::Result<()> {
        self.file.truncate(length)
    }
    fn sync(&self) -> io::Result<()> {
        self.trap.syncs.fetch_add(1, SeqCst);
        self.file.sync()
    }
}

struct Host {
    cache: OpenCache,
    executor: Executor,
    trap: Arc<Trap>,
}

impl Host {
    fn on(disk: &FaultDisk, environment: u64) -> Self {
        Self::with_options(disk, environment, false)
    }

    fn reading(disk: &FaultDisk) -> Self {
        Self::with_options(disk, 1, true)
    }

    fn with_options(disk: &FaultDisk, environment: u64, read_only: bool) -> Self {
        let (trap, executor) = (Arc::<Trap>::default(), Executor::new(ExecutorOptions::default()).unwrap());
        let mut material = Material::default();
        material.push("driver", format!("version {environment}").as_bytes()).unwrap();
        let desc = Desc {
            environment,
            store: store::Options { read_only, ..store::Options::new(|| NOW) },
            material,
            ban_at: 0,
            io: share(TrapIo { io: disk.process(), trap: Arc::clone(&trap) }).unwrap(),
            executor: Some(executor.clone()),
            ..desc(Some(disk.process()), Options { described_keys: 8, ..Options::default() })
        };
        Self { cache: Cache::open(desc).unwrap(), executor, trap }
    }

    /// A cache with programs on disk that are not in memory.
    fn with(numbers: std::ops::Range<u64>) -> (FaultDisk, Self) {
        let disk = FaultDisk::default();
        let before = Self::on(&disk, 1);
        for number in numbers {
            super::put(&before.cache, number, 100);
        }
        before.cache.disk().close();
        let host = Self::on(&disk, 1);
        assert!(host.cache.disk().wait_idle(FOREVER));
        (disk, host)
    }

    fn before_the_next_read(&self, what: impl FnOnce() + Send + 'static) {
        *self.trap.before_read.lock().unwrap() = Some(Box::new(what));
    }

    fn waiting_bytes(&self) -> u64 {
        let memory = self.cache.memory();
        self.cache.disk().memory_used(|blob| memory.serial(blob.key()) == Some(blob.serial()))
    }

    fn has(&self, number: u64) -> bool {
        self.cache.memory().link_status(&key(number)) == Status::Succeeded
    }
}

#[test]
fn opening_a_long_directory_looks_at_the_deadline() {
    let disk = FaultDisk::default();
    let options = store::Options::new(|| NOW);
    let mut store = store::Store::open(share(disk.process()).unwrap(), Path::new("/cache"), options).unwrap();
    let name = |number: u8| store::Name { kind: 9, environment: 1, key: [number; 32] };
    // The segment of 60 MiB is not sealed. Each mebibyte takes a read.
    (0..60).for_each(|number| assert!(store.put(&name(number), 1, &vec![number; 1 << 20]).unwrap()));
    drop(store);
    let host = Host::on(&disk, 1);
    host.trap.read_ms.store(2, SeqCst);
    assert!(!host.cache.disk().wait_idle(Duration::from_millis(10)), "it took less than 120 ms");
    let reads = host.trap.reads.load(SeqCst);
    // 5 reads until the deadline, and the step that has begun: 1 MiB.
    assert!(reads <= 12, "{reads}");
    assert!(host.cache.disk().look_for(&key(1), FOREVER).unwrap());
    assert!(host.trap.reads.load(SeqCst) >= 60);
}

#[test]
fn waiting_get_works_when_the_queue_is_full() {
    let base = desc(Some(FaultDisk::default().process()), Options::default());
    let cache = Cache::open(Desc { ban_at: 0, ..base }).unwrap();
    assert!(cache.disk().wait_idle(FOREVER));
    // Without an executor the requests wait until a call works on them.
    while cache.remove(&key(0)).is_ok() {}
    let requests = || cache.disk().progress().waiting;
    let full = requests();
    assert!(!cache.disk().look_for(&key(1), Duration::ZERO).unwrap(), "0: no work and no waiting");
    assert_eq!(requests(), full);
    assert!(cache.disk().look_for(&key(1), FOREVER).unwrap());
    assert!(requests() < full);
}

#[test]
fn steady_puts_do_not_delay_looks_at_the_disk() {
    const PUTS: u64 = 1000;
    let host = Host::on(&FaultDisk::default(), 1);
    assert!(host.cache.disk().wait_idle(FOREVER));
    let (cache, puts) = (Cache::clone(&host.cache), Arc::new(AtomicU64::new(0)));
    let made = Arc::clone(&puts);
    // Each write of a program is the cause of the next one, so the queue is empty only after all of them.
    *host.trap.before_write.lock().unwrap() = Some(Box::new(move || {
        let number = made.fetch_add(1, SeqCst);
        if number < PUTS {
            super::put(&cache, number, 100);
        }
    }));
    super::put(&host.cache, PUTS, 100);
    assert!(!host.cache.list(None, 10, FOREVER).unwrap().is_empty());
    assert!(host.cache.places(&key(PUTS), FOREVER).unwrap().disk);
    let found = puts.load(SeqCst);
    assert!(found < PUTS / 2, "the looks have waited for {found} puts");
    assert!(host.cache.disk().wait_idle(FOREVER), "the worker goes on");
    assert!(puts.load(SeqCst) >= PUTS);
    *host.trap.before_write.lock().unwrap() = None;
}

#[test]
fn list_that_ends_at_its_deadline_delays_no_other_call() {
    let base = desc(Some(FaultDisk::default().process()), Options::default());
    let cache = Cache::open(Desc { ban_at: 0, ..base }).unwrap();
    super::put(&cache, 1, 100);
    let waiting = cache.disk().progress().waiting;
    assert_eq!(cache.list(None, 1, Duration::ZERO).unwrap_err().code(), Code::Timeout);
    assert_eq!(cache.disk().progress().waiting, waiting);
    assert!(cache.disk().flush(FOREVER).is_ok() && cache.disk().wait_idle(FOREVER));
    assert_eq!(cache.list(None, 1, Duration::ZERO).unwrap().len(), 1, "0 is enough when nothing waits");
    assert!(cache.places(&key(1), FOREVER).unwrap().disk);
}

#[test]
fn steps_of_a_flush_of_clears_and_of_maintenance_are_bounded() {
    const SEGMENTS: u64 = 150;
    for scope in [None, Some(Scope::Environment), Some(Scope::Directory)] {
        let disk = FaultDisk::default();
        for number in 0..SEGMENTS {
            let options = store::Options::new(|| NOW);
            let mut store = store::Store::open(share(disk.process()).unwrap(), Path::new("/cache"), options).unwrap();
            let name = store::Name { kind: kind::PROGRAM, environment: 1, key: key(number) };
            store.put(&name, 1, &[7; 200]).unwrap();
            store.seal().unwrap();
        }
        let base = desc(Some(disk.process()), Options::default());
        let store = store::Options { segment_limit: 64 << 10, ..base.store };
        let cache = Cache::open(Desc { store, ban_at: 0, ..base }).unwrap();
        assert!(cache.disk().look_for(&key(SEGMENTS), FOREVER).unwrap());
        let segments = || disk.files().iter().filter(|path| path.extension().is_some_and(|last| last == "seg")).count();
        match scope {
            Some(_) => cache.clear(scope).unwrap(),
            // Each segment has two of them.
            None => (0..30).for_each(|number| _ = super::put(&cache, number, 30_000)),
        }
        let why = cache.disk().flush(Duration::ZERO).unwrap_err();
        assert_eq!(why.code(), Code::Timeout, "nothing was done yet");
        let (mut steps, mut most) = (0, CallCounts::default());
        loop {
            let before = disk.counts();
            let did = cache.disk().step_once();
            let after = disk.counts();
            most.syncs = most.syncs.max(after.syncs - before.syncs);
            most.removed = most.removed.max(after.removed - before.removed);
            most.opened = most.opened.max(after.opened - before.opened);
            most.bytes_read = most.bytes_read.max(after.bytes_read - before.bytes_read);
            if !did {
                break;
            }
            steps += 1;
        }
        println!("{scope:?}: {steps} steps, at most {most:?}");
        assert!(steps > 4 && most.syncs <= 40, "{most:?}");
        // A maintenance merges up to 512 segments of 8 MiB together.
        assert!(scope.is_none() || most.removed <= 200 && most.opened <= 80, "{most:?}");
        assert!(most.bytes_read < 4 << 20, "{most:?}");
        assert!(cache.disk().flush(FOREVER).is_ok());
        assert!(if scope.is_some() { segments() == 0 } else { segments() < 50 }, "{} remain", segments());
        assert_eq!(cache.get_wait(&key(2), FOREVER).unwrap().is_some(), scope.is_none());
    }
}

#[test]
fn listing_of_many_programs_looks_at_the_deadline() {
    let disk = FaultDisk::default();
    let options = store::Options::new(|| NOW);
    let mut store = store::Store::open(share(disk.process()).unwrap(), Path::new("/cache"), options).unwrap();
    for number in 0..3 * LISTED as u64 {
        let name = store::Name { kind: kind::PROGRAM, environment: 1, key: key(number) };
        store.put(&name, 1, &[7; 60]).unwrap();
    }
    drop(store);
    let host = Host::on(&disk, 1);
    assert!(host.cache.disk().wait_idle(FOREVER));
    let why = host.cache.list(None, 10, Duration::ZERO).unwrap_err();
    assert_eq!(why.code(), Code::Timeout);
    assert_eq!(host.cache.list(None, 10, FOREVER).unwrap().len(), 10);
}

#[test]
fn deleted_files_are_noticed_on_a_file_system_without_identities() {
    let (disk, host) = Host::with(0..1);
    super::put(&host.cache, 1, 100);
    host.cache.disk().flush(FOREVER).unwrap();
    let io = disk.process();
    disk.files().iter().for_each(|path| io.remove(path).unwrap());
    super::put(&host.cache, 2, 100);
    let why = host.cache.disk().flush(FOREVER).expect_err("the programs are lost");
    assert!(why.sentence().contains("deleted or replaced"), "{why}");
    super::put(&host.cache, 3, 100);
    host.cache.disk().flush(FOREVER).expect("the loss is reported once");
    let next = Host::on(&disk, 1);
    assert!(next.cache.get_wait(&key(3), FOREVER).unwrap().is_some());
}

#[test]
fn background_continues_after_a_panic_in_a_step() {
    let (_disk, host) = Host::with(0..3);
    host.before_the_next_read(|| panic!("on purpose"));
    assert!(host.cache.get(&key(0)).is_none());
    host.executor.pump(FOREVER).unwrap();
    assert!(!host.has(0) && host.cache.disk().trouble().as_str().contains("internal error"));
    for number in 0..3 {
        assert!(host.cache.get(&key(number)).is_none());
    }
    host.executor.pump(FOREVER).unwrap();
    assert!((0..3).all(|number| host.has(number)), "they were looked for again, by a task that was posted again");
    assert_eq!(host.cache.disk().trouble().as_str(), "");
    host.before_the_next_read(|| panic!("on purpose"));
    host.cache.clear(None).unwrap();
    assert!(host.cache.get(&key(0)).is_none());
    host.executor.pump(FOREVER).unwrap();
    assert!(host.cache.disk().wait_idle(FOREVER) && host.cache.disk().flush(FOREVER).is_ok(), "lost requests end");
}

#[test]
fn closed_cache_releases_its_files_while_its_task_still_waits() {
    let (trap, executor) = (Arc::<Trap>::default(), Executor::new(ExecutorOptions::default()).unwrap());
    let io = share(TrapIo { io: FaultDisk::default().process(), trap: Arc::clone(&trap) }).unwrap();
    let base = desc(Some(FaultDisk::default().process()), Options::default());
    let desc = Desc { io, ban_at: 0, executor: Some(executor.clone()), ..base };
    let cache = Cache::open(desc).unwrap();
    super::put(&cache, 1, 100);
    assert_eq!(executor.statistics().waiting, 1, "one task for all requests");
    let clone = Cache::clone(&cache);
    drop(cache);
    assert_eq!((Arc::strong_count(&trap), clone.disk().statistics().values), (1, 1));
    super::put(&clone, 2, 100);
    assert!(clone.get(&key(2)).is_some() && clone.get(&key(3)).is_none(), "a clone works in memory");
    assert_eq!((clone.disk().progress().waiting, executor.pump(FOREVER).unwrap()), (0, 1));
}

#[test]
fn queued_programs_are_written_in_batches_and_lost_ones_are_counted() {
    // Room for nothing: on a full disk, older programs would be evicted.
    for room in [None, Some(100)] {
        let disk = FaultDisk::default();
        let host = Host::on(&disk, 1);
        let before = disk.counts().appends;
        for number in 0..200 {
            super::put(&host.cache, number, 100);
            let mut material = Material::default();
            material.push("number", &number.to_le_bytes()).unwrap();
            host.cache.describe(&key(number), &material).unwrap();
        }
        disk.set_space(room);
        host.executor.pump(FOREVER).unwrap();
        let unwritten = host.cache.disk().progress().unwritten;
        assert_eq!(
            host.cache.disk().trouble().as_str().is_empty(),
            room.is_none(),
            "{}",
            host.cache.disk().trouble().as_str()
        );
        if room.is_none() {
            assert!(disk.counts().appends - before <= 400 / 16 + 10, "{:?}", disk.counts());
        }
        disk.set_space(None);
        drop(host);
        let next = Host::on(&disk, 1);
        (0..200).for_each(|number| _ = next.cache.get(&key(number)));
        assert!(next.cache.disk().wait_idle(FOREVER));
        let there = (0..200).filter(|&number| next.has(number)).count() as u64;
        assert_eq!((there + unwritten, there == 200), (200, room.is_none()));
    }
}

#[test]
fn program_removed_during_its_load_stays_removed() {
    let (_disk, host) = Host::with(0..2);
    let cache = Cache::clone(&host.cache);
    host.before_the_next_read(move || _ = cache.remove(&key(0)).unwrap());
    assert!(host.cache.get(&key(0)).is_none());
    assert!(host.cache.disk().wait_idle(FOREVER) && !host.has(0));
    assert_eq!(host.cache.memory().statistics().unwrap().refused(Refusal::Removed), 1);
    // Also a load that still waits.
    assert!(host.cache.get(&key(1)).is_none());
    host.cache.remove(&key(1)).unwrap();
    assert!(host.cache.disk().wait_idle(FOREVER) && !host.has(1));
    assert!(host.cache.disk().look_for(&key(1), FOREVER).unwrap() && !host.has(1));
}

#[test]
fn load_of_an_old_value_does_not_replace_a_newer_put() {
    let (_disk, host) = Host::with(0..2);
    let cache = Cache::clone(&host.cache);
    let put_and_evict = |cache: &Cache, number: u64| {
        super::put(cache, number, 200);
        cache.memory().trim(0);
    };
    host.before_the_next_read(move || put_and_evict(&cache, 0));
    assert!(host.cache.get(&key(0)).is_none());
    assert!(host.cache.disk().wait_idle(FOREVER) && !host.has(0), "the load of 100 bytes was cancelled");
    assert!(host.cache.disk().look_for(&key(0), FOREVER).unwrap());
    assert_eq!(host.cache.get(&key(0)).unwrap().data().len(), 200);
    // Also a load that still waits.
    assert!(host.cache.get(&key(1)).is_none());
    put_and_evict(&host.cache, 1);
    assert!(host.cache.disk().wait_idle(FOREVER) && !host.has(1));
    assert!(host.cache.disk().look_for(&key(1), FOREVER).unwrap());
    assert_eq!(host.cache.get(&key(1)).unwrap().data().len(), 200);
}

#[test]
fn removed_program_stays_removed_until_its_next_put_under_concurrent_background_work() {
    let disk = FaultDisk::default();
    let host = Host::on(&disk, 1);
    let is_over = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        let background = scope.spawn(|| {
            while !is_over.load(SeqCst) {
                host.cache.disk().wait_idle(Duration::from_millis(1));
            }
        });
        let hands: Vec<_> = (0..2_u64)
            .map(|hand| {
                let cache = &host.cache;
                scope.spawn(move || {
                    for step in 0..3000_u64 {
                        let number = hand * 100 + step % 5;
                        super::put(cache, number, 50);
                        assert!(cache.get(&key(number)).is_some());
                        cache.remove(&key(number)).unwrap();
                        for _ in 0..step % 4 {
                            assert!(cache.get(&key(number)).is_none(), "step {step}");
                        }
                    }
                })
            })
            .collect();
        hands.into_iter().for_each(|hand| hand.join().unwrap());
        is_over.store(true, SeqCst);
        background.join().unwrap();
    });
    assert!(host.cache.disk().wait_idle(FOREVER));
    assert_eq!((host.cache.disk().statistics().values, host.cache.memory().statistics().unwrap().entries), (0, 0));
}

#[test]
fn program_cleared_during_its_load_stays_removed() {
    let (_disk, host) = Host::with(0..2);
    let cache = Cache::clone(&host.cache);
    host.before_the_next_read(move || cache.clear(Some(Scope::Environment)).unwrap());
    (0..2).for_each(|number| assert!(host.cache.get(&key(number)).is_none()));
    assert!(host.cache.disk().wait_idle(FOREVER) && !host.has(0) && !host.has(1));
}

#[test]
fn waiting_flush_completes_when_another_thread_clears() {
    let (_disk, host) = Host::with(0..1);
    super::put(&host.cache, 1, 10);
    assert!(host.cache.disk().wait_idle(FOREVER));
    let syncs = host.trap.syncs.load(SeqCst);
    std::thread::scope(|scope| {
        let flush = host.cache.disk().with_sources(FOREVER, |_, _, _| {
            let flush = scope.spawn(|| host.cache.disk().flush(FOREVER));
            while host.cache.disk().progress().waiting == 0 {
                std::thread::yield_now();
            }
            host.cache.clear(Some(Scope::Environment)).unwrap();
            Ok(flush)
        });
        flush.unwrap().join().unwrap().unwrap();
    });
    assert!(host.trap.syncs.load(SeqCst) > syncs, "it has waited for the disk");
}

#[test]
fn changed_limit_holds_after_the_next_maintenance() {
    let disk = FaultDisk::default();
    let host = Host::on(&disk, 1);
    (0..100).for_each(|number| _ = super::put(&host.cache, number, 10_000));
    assert!(host.cache.disk().wait_idle(FOREVER));
    assert_eq!(host.cache.disk().statistics().values, 100);
    host.cache.disk().set_limit(400_000).unwrap();
    assert!(host.cache.disk().wait_idle(FOREVER));
    let found = host.cache.disk().statistics();
    assert!(disk.used() <= 400_000 && found.values > 20 && found.evicted == 100 - found.values, "{found:?}");
}

#[test]
fn new_process_after_a_driver_update_explains_the_miss_by_the_driver() {
    let disk = FaultDisk::default();
    let mut defines = Material::default();
    defines.push("defines", b"A=1").unwrap();
    {
        let before = Host::on(&disk, 1);
        super::put(&before.cache, 1, 10);
        before.cache.describe(&key(1), &defines).unwrap();
        before.cache.describe(&key(1), &defines).unwrap();
        before.cache.disk().close();
        assert_eq!(before.cache.disk().statistics().values, 2, "the program and its material, once");
    }
    let host = Host::on(&disk, 2);
    assert!(host.cache.disk().wait_idle(FOREVER));
    assert!(host.cache.get(&key(1)).is_none());
    let why = host.cache.why_missed(&defines).unwrap().unwrap();
    assert_eq!((why.nearest, why.whereabouts), (key(1), Whereabouts::OtherEnvironment));
    assert!(why.to_string().contains("differs in driver (was 'version 1', is 'version 2')"), "{why}");
    drop(host);
    let same = Host::on(&disk, 1);
    assert!(same.cache.disk().wait_idle(FOREVER));
    let why = same.cache.why_missed(&defines).unwrap().unwrap();
    assert_eq!((why.differences.len(), why.whereabouts), (0, Whereabouts::Elsewhere), "it was not asked for yet");
}

#[test]
fn flush_reports_programs_lost_since_the_last_flush_once() {
    let disk = FaultDisk::default();
    let host = Host::on(&disk, 1);
    host.cache.disk().flush(FOREVER).unwrap();
    super::put(&host.cache, 1, 100);
    // More than may wait.
    super::put(&host.cache, 2, 2 << 20);
    super::put(&host.cache, 3, 100);
    let why = host.cache.disk().flush(FOREVER).unwrap_err();
    assert_eq!((why.code(), host.cache.disk().progress().unwritten), (Code::Io, 1));
    assert!(why.sentence().contains("not on the disk: 1") && why.sentence().contains("faster"), "{}", why.sentence());
    host.cache.disk().flush(FOREVER).unwrap();
    // More than the disk may hold.
    host.cache.disk().set_limit(256 << 10).unwrap();
    super::put(&host.cache, 4, 300_000);
    super::put(&host.cache, 5, 100);
    let why = host.cache.disk().flush(FOREVER).unwrap_err();
    assert!(why.sentence().contains("too large for the disk"), "{}", why.sentence());
    assert_eq!((host.cache.disk().flush(FOREVER).is_ok(), host.cache.disk().progress().unwritten), (true, 2));
}

#[test]
fn flush_into_an_unusable_directory_reports_the_reason() {
    let disk = FaultDisk::default();
    disk.write(Path::new("/cache"), b"a file");
    let host = Host::on(&disk, 1);
    for _ in 0..2 {
        super::put(&host.cache, 1, 100);
        let why = host.cache.disk().flush(FOREVER).unwrap_err();
        assert!(why.sentence().contains("directory"), "{}", why.sentence());
    }
    assert!(host.cache.disk().progress().unwritten > 0);
}

#[test]
fn all_bytes_of_a_waiting_program_are_counted() {
    let host = Host::on(&FaultDisk::default(), 1);
    let program = Program { data: b"small", reflection: &[7; 2 << 20], ..Program::default() };
    host.cache.put(&key(1), &program).unwrap();
    assert_eq!((host.cache.disk().progress().waiting, host.cache.disk().progress().unwritten), (0, 1));
    let program = Program { data: b"small", reflection: &[7; 1000], ..Program::default() };
    host.cache.put(&key(2), &program).unwrap();
    assert_eq!(host.waiting_bytes(), 0, "that is memory's still");
    host.cache.memory().pressure(Pressure::Critical);
    let used = host.waiting_bytes();
    assert!((1005..1005 + 2 * ALIGNMENT as u64).contains(&used), "{used} bytes for 1005, aligned twice");
    assert!(host.cache.disk().wait_idle(FOREVER));
    assert_eq!(host.waiting_bytes(), 0);
}

#[test]
fn waiting_limit_holds_to_the_byte() {
    let host = Host::on(&FaultDisk::default(), 1);
    let (data, shaders) = (vec![5; 1 << 19], [key(8), key(9)]);
    let program = |len| Program { data: &data[..len], reflection: b"map", stages: &shaders, ..Program::default() };
    let half = (1 << 19) - size_of_val(&shaders) - b"map".len();
    // The second round finds the room that the first one has left.
    for round in 0..2 {
        host.cache.put(&key(1), &program(half)).unwrap();
        host.cache.put(&key(2), &program(half)).unwrap();
        assert_eq!((host.cache.disk().progress().waiting, host.cache.disk().progress().unwritten), (2, 2 * round));
        host.cache.put(&key(3), &Program { data: b"1", ..Program::default() }).unwrap();
        host.cache.put(&key(4), &Program::default()).unwrap();
        assert_eq!(host.cache.disk().progress().unwritten, 2 * round + 2, "one without a byte counts as a byte");
        assert!(host.cache.disk().wait_idle(FOREVER));
    }
    assert_eq!(host.cache.disk().statistics().values, 2);
}

#[test]
fn flush_writes_uses_and_start_up_set() {
    let (disk, host) = Host::with(0..3);
    assert!(host.cache.disk().look_for(&key(1), FOREVER).unwrap() && host.cache.get(&key(1)).is_some());
    host.cache.memory().mark_start_up(&key(2), true).unwrap();
    for _ in 0..3 {
        host.cache.disk().flush(FOREVER).unwrap();
    }
    // It ends here, as by _exit: nothing is dropped.
    let later = Host::on(&disk.duplicate(), 1);
    assert!(later.cache.disk().wait_idle(FOREVER));
    assert_eq!(later.cache.memory().start_up_keys().unwrap(), [key(2)]);
    let uses = |number| {
        let name = store::Name { kind: kind::PROGRAM, environment: 1, key: key(number) };
        later
            .cache
            .disk()
            .with_sources(FOREVER, |sources, _, _| Ok(sources.own.as_ref().unwrap().meta(&name).unwrap().uses))
            .unwrap()
    };
    assert_eq!(uses(1), uses(0) + 1, "once for each process");
    drop(host);
}

#[test]
fn start_up_set_alone_is_written_by_close() {
    let disk = FaultDisk::default();
    let host = Host::on(&disk, 1);
    host.cache.memory().mark_start_up(&key(2), true).unwrap();
    host.cache.disk().close();
    let later = Host::on(&disk, 1);
    assert!(later.cache.disk().wait_idle(FOREVER));
    assert_eq!(later.cache.memory().start_up_keys().unwrap(), [key(2)]);
}

#[test]
fn removed_program_of_a_read_only_directory_stays_hidden() {
    let (disk, _) = Host::with(0..4);
    let files = || disk.files().into_iter().map(|path| (disk.read(&path), path)).collect::<Vec<_>>();
    let before = files();
    let host = Host::reading(&disk);
    let finds =
        |number| host.cache.disk().look_for(&key(number), FOREVER).unwrap() && host.cache.get(&key(number)).is_some();
    assert!(finds(0) && finds(1));
    host.cache.remove(&key(0)).unwrap();
    let token = host.cache.begin_use(&key(1)).unwrap().unwrap();
    host.cache.end_use(token, Verdict::Rejected).unwrap();
    assert!(!finds(0) && !finds(1) && finds(2));
    super::put(&host.cache, 2, 50);
    host.cache.memory().trim(0);
    assert!(!finds(2), "the program on disk is older");
    host.cache.clear(Some(Scope::Environment)).unwrap();
    assert!((0..4).all(|number| !finds(number)));
    host.cache.disk().flush(FOREVER).unwrap();
    drop(host);
    assert!(files() == before);
}

#[test]
fn waiting_get_waits_for_earlier_requests() {
    let (_disk, host) = Host::with(0..1);
    (1..1000).for_each(|number| assert!(host.cache.get(&key(number)).is_none()));
    assert_eq!(host.cache.disk().progress().waiting, 256);
    assert!(!host.cache.disk().look_for(&key(0), Duration::ZERO).unwrap());
    assert!(host.cache.disk().look_for(&key(0), FOREVER).unwrap() && host.has(0));
}

#[test]
fn misses_look_for_values_of_other_processes_ten_times_a_second_at_most() {
    let (_disk, host) = Host::with(0..1);
    let (begun, before) = (std::time::Instant::now(), host.trap.lists.load(SeqCst));
    (1..3000).for_each(|number| assert!(host.cache.get_wait(&key(number), FOREVER).unwrap().is_none()));
    let (spent, looks) = (begun.elapsed(), host.trap.lists.load(SeqCst) - before);
    assert!(looks <= spent.as_millis() as u64 / 100 + 1, "{looks} looks in {spent:?}");
}

#[test]
fn damaged_bundle_and_bundle_of_another_environment_are_reported() {
    let disk = FaultDisk::default();
    let path = Path::new("/bundles/some");
    let good = bundle(&disk, "some", 0..20, None);
    let cache = cache_of_bundles(&disk, false);
    cache.disk().add_bundle(good).unwrap();
    assert!(cache.disk().wait_idle(FOREVER) && cache.disk().trouble().as_str().is_empty());
    assert!(cache.disk().look_for(&key(7), FOREVER).unwrap() && cache.get(&key(7)).is_some());

    let mut bytes = disk.read(path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 400].fill(9);
    disk.write(path, &bytes);
    let cache = cache_of_bundles(&disk, false);
    cache.disk().add_bundle(store::Bundle::of_file(&disk.process(), path).unwrap()).unwrap();
    (0..20).for_each(|number| assert!(cache.disk().look_for(&key(number), FOREVER).unwrap()));
    let lost = (0..20).filter(|&number| cache.get(&key(number)).is_none()).count();
    assert!(lost > 0 && cache.disk().wait_idle(FOREVER));
    assert!(cache.disk().trouble().as_str().contains("bundles are damaged"), "{}", cache.disk().trouble().as_str());
    assert!(cache.disk().statistics().damaged > 0);

    let others = bundle_of(&disk, "others", 0..5, Some(3), 2);
    let cache = cache_of_bundles(&disk, false);
    cache.disk().add_bundle(others).unwrap();
    assert!(cache.disk().wait_idle(FOREVER));
    assert!(cache.disk().trouble().as_str().contains("another environment"), "{}", cache.disk().trouble().as_str());
    assert!(cache.disk().trouble().as_str().contains("of 5 programs"), "{}", cache.disk().trouble().as_str());
}

#[test]
fn bundle_that_was_cut_short_is_reported() {
    let disk = FaultDisk::default();
    let path = Path::new("/bundles/some");
    bundle(&disk, "some", 0..20, None);
    let whole = disk.read(path).unwrap();
    for cut in (64..whole.len()).step_by(97) {
        disk.write(path, &whole[..cut]);
        let cache = cache_of_bundles(&disk, false);
        cache.disk().add_bundle(store::Bundle::of_file(&disk.process(), path).unwrap()).unwrap();
        assert!(cache.disk().wait_idle(FOREVER));
        let trouble = cache.disk().trouble();
        assert!(trouble.as_str().contains("a bundle is damaged: the end"), "{cut}: {trouble}");
    }
}

/// A bundle with programs of so many bytes.
fn bundle(disk: &FaultDisk, file: &str, numbers: std::ops::Range<u64>, first: Option<u64>) -> store::Bundle {
    bundle_of(disk, file, numbers, first, 1)
}

fn bundle_of(
    disk: &FaultDisk,
    file: &str,
    numbers: std::ops::Range<u64>,
    first: Option<u64>,
    environment: u64,
) -> store::Bundle {
    let cache = super::tests::cache(Options::default());
    let io = share(disk.process()).unwrap();
    io.create_directory(Path::new("/bundles")).unwrap();
    let path = Path::new("/bundles").join(file);
    let mut writer = store::BundleWriter::create(io.clone(), &path, store::Compression::None).unwrap();
    for number in numbers {
        super::put(&cache, number, 100 + number as usize * 7);
        let blob = cache.get(&key(number)).unwrap();
        let mut bytes = Vec::new();
        encode(&blob.program(), &mut bytes).unwrap();
        let name = store::Name { kind: kind::PROGRAM, environment, key: key(number) };
        assert!(writer.put(&name, 1, &bytes).unwrap());
    }
    if let Some(first) = first {
        let name = store::Name { kind: kind::START_UP, environment, key: [0; 32] };
        assert!(writer.put(&name, 0, &key(first)).unwrap());
    }
    writer.finish().unwrap();
    store::Bundle::of_file(&*io, &path).unwrap()
}

fn cache_of_bundles(disk: &FaultDisk, load_ahead: bool) -> OpenCache {
    let io = share(disk.process()).unwrap();
    Cache::open(Desc { directory: None, io, load_ahead, ..desc(None, Options::default()) }).unwrap()
}

#[test]
fn programs_of_two_bundles_are_found_alternately() {
    let disk = FaultDisk::default();
    let cache = cache_of_bundles(&disk, false);
    cache.disk().add_bundle(bundle(&disk, "one", 0..20, None)).unwrap();
    cache.disk().add_bundle(bundle(&disk, "other", 20..40, None)).unwrap();
    assert!(cache.disk().wait_idle(FOREVER));
    for number in (0..20).flat_map(|number| [20 + number, number]) {
        assert!(cache.disk().look_for(&key(number), FOREVER).unwrap());
    }
    let lost: Vec<_> =
        (0..40).filter(|&number| cache.memory().link_status(&key(number)) != Status::Succeeded).collect();
    assert!(lost.is_empty(), "{lost:?}");
}

#[test]
fn programs_of_two_bundles_are_loaded_ahead() {
    let disk = FaultDisk::default();
    let cache = cache_of_bundles(&disk, true);
    cache.disk().add_bundle(bundle(&disk, "one", 0..20, None)).unwrap();
    cache.disk().add_bundle(bundle(&disk, "other", 20..40, Some(30))).unwrap();
    assert!(cache.disk().wait_idle(FOREVER));
    let lost: Vec<_> =
        (0..40).filter(|&number| cache.memory().link_status(&key(number)) != Status::Succeeded).collect();
    assert!(lost.is_empty(), "{lost:?}");
}
