//! The disk tier over a file system that does on purpose what others do now and then.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::Duration;

use super::blob::ALIGNMENT;
use super::tests::key;
use super::*;
use crate::base::Code;
use crate::executor::{Executor, Options as ExecutorOptions};
use crate::store;
use crate::store::fault_io::{FaultDisk, FaultIo};
use crate::store::io::{File, Io, Lock};

const FOREVER: Duration = Duration::MAX;

/// Does something once before the next read, and counts how often somebody waited for the disk.
#[derive(Default)]
struct Trap {
    before_read: Mutex<Option<Box<dyn FnOnce() + Send>>>,
    syncs: AtomicU64,
}

struct TrapIo {
    io: FaultIo,
    trap: Arc<Trap>,
}

struct TrapFile {
    file: Arc<dyn File>,
    trap: Arc<Trap>,
}

impl TrapIo {
    fn with_trap(&self, file: Arc<dyn File>) -> Arc<dyn File> {
        Arc::new(TrapFile { file, trap: Arc::clone(&self.trap) })
    }
}

impl Io for TrapIo {
    fn list(&self, directory: &Path) -> io::Result<Vec<OsString>> {
        self.io.list(directory)
    }
    fn create_directory(&self, directory: &Path) -> io::Result<()> {
        self.io.create_directory(directory)
    }
    fn open(&self, path: &Path) -> io::Result<Arc<dyn File>> {
        self.io.open(path).map(|file| self.with_trap(file))
    }
    fn create(&self, path: &Path) -> io::Result<Arc<dyn File>> {
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
        let sprung = self.trap.before_read.lock().unwrap().take();
        if let Some(sprung) = sprung {
            sprung();
        }
        self.file.read_at(buffer, offset)
    }
    fn append(&self, parts: &mut [io::IoSlice<'_>]) -> io::Result<()> {
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
    memory: Arc<ProgramCache>,
    tier: Arc<DiskTier>,
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
        let options = DiskOptions {
            directory: Some(PathBuf::from("/cache")),
            environment,
            store: store::Options { read_only, ..store::Options::new(|| 1_700_000_000) },
            waiting_limit: 1 << 20,
            load_ahead: false,
            executor: executor.clone(),
        };
        let io = Arc::new(TrapIo { io: disk.process(), trap: Arc::clone(&trap) });
        let tier = Arc::new(DiskTier::new(options, io).unwrap());
        let partners = Partners { disk: Some(Arc::clone(&tier) as Arc<dyn Disk>), quarantine: None };
        let memory = Options { described_keys: 8, ..Options::default() };
        let memory = Arc::new(ProgramCache::new(memory, partners).unwrap());
        let mut material = Material::default();
        material.push("driver", format!("version {environment}").as_bytes()).unwrap();
        memory.set_environment(environment, material);
        tier.bind(&memory);
        Self { memory, tier, executor, trap }
    }

    /// With programs on the disk that are not in memory.
    fn with(numbers: std::ops::Range<u64>) -> (FaultDisk, Self) {
        let disk = FaultDisk::default();
        let before = Self::on(&disk, 1);
        for number in numbers {
            super::tests::put(&before.memory, number, 100);
        }
        before.tier.close();
        let host = Self::on(&disk, 1);
        assert!(host.tier.wait_idle(FOREVER));
        (disk, host)
    }

    fn before_the_next_read(&self, what: impl FnOnce() + Send + 'static) {
        *self.trap.before_read.lock().unwrap() = Some(Box::new(what));
    }

    fn has(&self, number: u64) -> bool {
        self.memory.link_status(&key(number)) == Status::Succeeded
    }
}

#[test]
fn after_a_panic_in_the_background_the_background_goes_on() {
    let (_disk, host) = Host::with(0..3);
    host.before_the_next_read(|| panic!("on purpose"));
    assert!(host.memory.get(&key(0)).is_none());
    host.executor.pump(FOREVER).unwrap();
    assert!(!host.has(0) && host.tier.trouble().as_str().contains("internal error"));
    for number in 0..3 {
        assert!(host.memory.get(&key(number)).is_none());
    }
    host.executor.pump(FOREVER).unwrap();
    assert!((0..3).all(|number| host.has(number)), "they were looked for again, by a task that was posted again");
    assert_eq!(host.tier.trouble().as_str(), "");
    host.before_the_next_read(|| panic!("on purpose"));
    host.memory.clear(false);
    assert!(host.memory.get(&key(0)).is_none());
    host.executor.pump(FOREVER).unwrap();
    assert!(host.tier.wait_idle(FOREVER) && host.tier.flush(FOREVER).is_ok(), "nobody waits for what is lost");
}

#[test]
fn what_waits_is_written_with_few_calls_and_what_there_is_no_room_for_is_counted() {
    for room in [None, Some(20_000)] {
        let disk = FaultDisk::default();
        let host = Host::on(&disk, 1);
        let before = disk.counts().appends;
        for number in 0..200 {
            super::tests::put(&host.memory, number, 100);
            let mut material = Material::default();
            material.push("number", &number.to_le_bytes()).unwrap();
            host.memory.describe(&key(number), &material).unwrap();
        }
        disk.set_space(room);
        host.executor.pump(FOREVER).unwrap();
        let unwritten = host.tier.progress().unwritten;
        assert_eq!(host.tier.trouble().as_str().is_empty(), room.is_none(), "{}", host.tier.trouble().as_str());
        if room.is_none() {
            assert!(disk.counts().appends - before <= 400 / 16 + 10, "{:?}", disk.counts());
        }
        disk.set_space(None);
        drop(host);
        let next = Host::on(&disk, 1);
        (0..200).for_each(|number| _ = next.memory.get(&key(number)));
        assert!(next.tier.wait_idle(FOREVER));
        let there = (0..200).filter(|&number| next.has(number)).count() as u64;
        assert_eq!((there + unwritten, there == 200), (200, room.is_none()));
    }
}

#[test]
fn a_program_that_is_removed_while_it_is_read_does_not_come_back() {
    let (_disk, host) = Host::with(0..2);
    let memory = Arc::clone(&host.memory);
    host.before_the_next_read(move || _ = memory.remove(&key(0)));
    assert!(host.memory.get(&key(0)).is_none());
    assert!(host.tier.wait_idle(FOREVER) && !host.has(0));
    assert_eq!(host.memory.statistics().unwrap().refused(Refusal::Removed), 1);
    // One that was only asked for, too.
    assert!(host.memory.get(&key(1)).is_none());
    host.memory.remove(&key(1));
    assert!(host.tier.wait_idle(FOREVER) && !host.has(1));
    assert!(host.tier.look_for(&key(1), FOREVER).unwrap() && !host.has(1));
}

#[test]
fn an_older_value_that_is_being_read_does_not_take_the_place_of_a_newer_one() {
    let (_disk, host) = Host::with(0..2);
    let memory = Arc::clone(&host.memory);
    let put_and_evict = |memory: &ProgramCache, number: u64| {
        super::tests::put(memory, number, 200);
        memory.trim(0);
    };
    host.before_the_next_read(move || put_and_evict(&memory, 0));
    assert!(host.memory.get(&key(0)).is_none());
    assert!(host.tier.wait_idle(FOREVER) && !host.has(0), "the one of 100 bytes came too late");
    assert!(host.tier.look_for(&key(0), FOREVER).unwrap());
    assert_eq!(host.memory.get(&key(0)).unwrap().data().len(), 200);
    // One that was only asked for, too.
    assert!(host.memory.get(&key(1)).is_none());
    put_and_evict(&host.memory, 1);
    assert!(host.tier.wait_idle(FOREVER) && !host.has(1));
    assert!(host.tier.look_for(&key(1), FOREVER).unwrap());
    assert_eq!(host.memory.get(&key(1)).unwrap().data().len(), 200);
}

#[test]
fn what_a_thread_removes_stays_away_until_it_puts_it_again_whatever_the_background_does() {
    let disk = FaultDisk::default();
    let host = Host::on(&disk, 1);
    let is_over = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        let background = scope.spawn(|| {
            while !is_over.load(SeqCst) {
                host.tier.wait_idle(Duration::from_millis(1));
            }
        });
        let hands: Vec<_> = (0..2_u64)
            .map(|hand| {
                let memory = &host.memory;
                scope.spawn(move || {
                    for step in 0..3000_u64 {
                        let number = hand * 100 + step % 5;
                        super::tests::put(memory, number, 50);
                        assert!(memory.get(&key(number)).is_some());
                        memory.remove(&key(number));
                        for _ in 0..step % 4 {
                            assert!(memory.get(&key(number)).is_none(), "step {step}");
                        }
                    }
                })
            })
            .collect();
        hands.into_iter().for_each(|hand| hand.join().unwrap());
        is_over.store(true, SeqCst);
        background.join().unwrap();
    });
    assert!(host.tier.wait_idle(FOREVER));
    assert_eq!((host.tier.statistics().values, host.memory.statistics().unwrap().entries), (0, 0));
}

#[test]
fn what_is_cleared_while_it_is_read_does_not_come_back() {
    let (_disk, host) = Host::with(0..2);
    let memory = Arc::clone(&host.memory);
    host.before_the_next_read(move || memory.clear(true));
    (0..2).for_each(|number| assert!(host.memory.get(&key(number)).is_none()));
    assert!(host.tier.wait_idle(FOREVER) && !host.has(0) && !host.has(1));
}

#[test]
fn a_flush_that_waits_is_not_forgotten_when_another_thread_clears() {
    let (_disk, host) = Host::with(0..1);
    super::tests::put(&host.memory, 1, 10);
    assert!(host.tier.wait_idle(FOREVER));
    let syncs = host.trap.syncs.load(SeqCst);
    std::thread::scope(|scope| {
        let flush = host.tier.with_bench(|_| {
            let flush = scope.spawn(|| host.tier.flush(FOREVER));
            while host.tier.progress().waiting == 0 {
                std::thread::yield_now();
            }
            host.memory.clear(true);
            flush
        });
        flush.join().unwrap().unwrap();
    });
    assert!(host.trap.syncs.load(SeqCst) > syncs, "it has waited for the disk");
}

#[test]
fn another_limit_counts_at_the_next_maintenance() {
    let disk = FaultDisk::default();
    let host = Host::on(&disk, 1);
    (0..50).for_each(|number| _ = super::tests::put(&host.memory, number, 1000));
    assert!(host.tier.wait_idle(FOREVER));
    assert_eq!(host.tier.statistics().values, 50);
    host.tier.set_limit(20_000).unwrap();
    assert!(host.tier.wait_idle(FOREVER));
    let found = host.tier.statistics();
    assert!(found.live_bytes <= 20_000 && found.values > 10 && found.evicted == 50 - found.values, "{found:?}");
}

#[test]
fn a_new_process_after_a_driver_update_says_that_the_driver_differs() {
    let disk = FaultDisk::default();
    let mut defines = Material::default();
    defines.push("defines", b"A=1").unwrap();
    {
        let before = Host::on(&disk, 1);
        super::tests::put(&before.memory, 1, 10);
        before.memory.describe(&key(1), &defines).unwrap();
        before.memory.describe(&key(1), &defines).unwrap();
        before.tier.close();
        assert_eq!(before.tier.statistics().values, 2, "the program and its material, once");
    }
    let host = Host::on(&disk, 2);
    assert!(host.tier.wait_idle(FOREVER));
    assert!(host.memory.get(&key(1)).is_none());
    let why = host.memory.why_missed(&defines).unwrap().unwrap();
    assert_eq!((why.nearest, why.whereabouts), (key(1), Whereabouts::OtherEnvironment));
    assert!(why.to_string().contains("differs in driver (was 'version 1', is 'version 2')"), "{why}");
    drop(host);
    let same = Host::on(&disk, 1);
    assert!(same.tier.wait_idle(FOREVER));
    let why = same.memory.why_missed(&defines).unwrap().unwrap();
    assert_eq!((why.differences.len(), why.whereabouts), (0, Whereabouts::Elsewhere), "it was not asked for yet");
}

#[test]
fn a_flush_tells_once_of_what_was_lost_since_the_last_one() {
    let disk = FaultDisk::default();
    let host = Host::on(&disk, 1);
    host.tier.flush(FOREVER).unwrap();
    super::tests::put(&host.memory, 1, 100);
    // More than may wait.
    super::tests::put(&host.memory, 2, 2 << 20);
    super::tests::put(&host.memory, 3, 100);
    let why = host.tier.flush(FOREVER).unwrap_err();
    assert_eq!((why.code(), host.tier.progress().unwritten), (Code::Io, 1));
    assert!(why.sentence().contains("not on the disk: 1") && why.sentence().contains("faster"), "{}", why.sentence());
    host.tier.flush(FOREVER).unwrap();
    // More than the disk may hold.
    host.tier.set_limit(1000).unwrap();
    super::tests::put(&host.memory, 4, 5000);
    super::tests::put(&host.memory, 5, 100);
    let why = host.tier.flush(FOREVER).unwrap_err();
    assert!(why.sentence().contains("larger than the disk"), "{}", why.sentence());
    assert_eq!((host.tier.flush(FOREVER).is_ok(), host.tier.progress().unwritten), (true, 2));
}

#[test]
fn a_flush_into_a_directory_that_cannot_be_opened_says_why() {
    let disk = FaultDisk::default();
    disk.write(Path::new("/cache"), b"a file");
    let host = Host::on(&disk, 1);
    for _ in 0..2 {
        super::tests::put(&host.memory, 1, 100);
        let why = host.tier.flush(FOREVER).unwrap_err();
        assert!(why.sentence().contains("directory"), "{}", why.sentence());
    }
    assert!(host.tier.progress().unwritten > 0);
}

#[test]
fn all_bytes_of_a_program_count_while_it_waits() {
    let host = Host::on(&FaultDisk::default(), 1);
    let program = Program { data: b"small", reflection: &[7; 2 << 20], ..Program::default() };
    host.memory.put(&key(1), &program).unwrap();
    assert_eq!((host.tier.progress().waiting, host.tier.progress().unwritten), (0, 1));
    let program = Program { data: b"small", reflection: &[7; 1000], ..Program::default() };
    host.memory.put(&key(2), &program).unwrap();
    assert_eq!(host.tier.memory_used(), 0, "that is memory's still");
    host.memory.pressure(Pressure::Critical);
    let used = host.tier.memory_used();
    assert!((1005..1005 + 2 * ALIGNMENT as u64).contains(&used), "{used} bytes for 1005, aligned twice");
    assert!(host.tier.wait_idle(FOREVER));
    assert_eq!(host.tier.memory_used(), 0);
}

#[test]
fn programs_of_exactly_what_may_wait_are_written_and_a_byte_more_is_not() {
    let host = Host::on(&FaultDisk::default(), 1);
    let (data, shaders) = (vec![5; 1 << 19], [key(8), key(9)]);
    let program = |len| Program { data: &data[..len], reflection: b"map", stages: &shaders, ..Program::default() };
    let half = (1 << 19) - size_of_val(&shaders) - b"map".len();
    // The second round finds the room that the first one has left.
    for round in 0..2 {
        host.memory.put(&key(1), &program(half)).unwrap();
        host.memory.put(&key(2), &program(half)).unwrap();
        assert_eq!((host.tier.progress().waiting, host.tier.progress().unwritten), (2, 2 * round));
        host.memory.put(&key(3), &Program { data: b"1", ..Program::default() }).unwrap();
        host.memory.put(&key(4), &Program::default()).unwrap();
        assert_eq!(host.tier.progress().unwritten, 2 * round + 2, "one without a byte counts as a byte");
        assert!(host.tier.wait_idle(FOREVER));
    }
    assert_eq!(host.tier.statistics().values, 2);
}

#[test]
fn who_ends_after_a_flush_has_noted_its_uses_and_its_start_up_set() {
    let (disk, host) = Host::with(0..3);
    assert!(host.tier.look_for(&key(1), FOREVER).unwrap() && host.memory.get(&key(1)).is_some());
    host.memory.mark_start_up(&key(2), true).unwrap();
    for _ in 0..3 {
        host.tier.flush(FOREVER).unwrap();
    }
    // It ends here, as by _exit: nothing is dropped.
    let later = Host::on(&disk.duplicate(), 1);
    assert!(later.tier.wait_idle(FOREVER));
    assert_eq!(later.memory.start_up_keys().unwrap(), [key(2)]);
    let uses = |number| {
        let name = store::Name { kind: super::value::kind::PROGRAM, environment: 1, key: key(number) };
        later.tier.with_bench(|bench| bench.sources.own.as_ref().unwrap().meta(&name).unwrap().uses)
    };
    assert_eq!(uses(1), uses(0) + 1, "once for each process");
    drop(host);
}

#[test]
fn a_start_up_set_is_kept_even_if_nothing_else_was_done() {
    let disk = FaultDisk::default();
    let host = Host::on(&disk, 1);
    host.memory.mark_start_up(&key(2), true).unwrap();
    host.tier.close();
    let later = Host::on(&disk, 1);
    assert!(later.tier.wait_idle(FOREVER));
    assert_eq!(later.memory.start_up_keys().unwrap(), [key(2)]);
}

#[test]
fn what_is_removed_from_a_directory_that_is_only_read_does_not_come_back() {
    let (disk, _) = Host::with(0..4);
    let files = || disk.files().into_iter().map(|path| (disk.read(&path), path)).collect::<Vec<_>>();
    let before = files();
    let host = Host::reading(&disk);
    let finds = |number| host.tier.look_for(&key(number), FOREVER).unwrap() && host.memory.get(&key(number)).is_some();
    assert!(finds(0) && finds(1));
    host.memory.remove(&key(0));
    let token = host.memory.use_begin(&key(1)).unwrap().unwrap();
    host.memory.use_end(token, Verdict::Rejected).unwrap();
    assert!(!finds(0) && !finds(1) && finds(2));
    super::tests::put(&host.memory, 2, 50);
    host.memory.trim(0);
    assert!(!finds(2), "what is there is older");
    host.memory.clear(true);
    assert!((0..4).all(|number| !finds(number)));
    host.tier.flush(FOREVER).unwrap();
    drop(host);
    assert!(files() == before);
}

#[test]
fn who_waits_for_a_program_waits_for_those_before_it_too() {
    let (_disk, host) = Host::with(0..1);
    (1..1000).for_each(|number| assert!(host.memory.get(&key(number)).is_none()));
    assert_eq!(host.tier.progress().waiting, 256);
    assert!(!host.tier.look_for(&key(0), Duration::ZERO).unwrap());
    assert!(host.tier.look_for(&key(0), FOREVER).unwrap() && host.has(0));
}

#[test]
fn a_bundle_that_is_damaged_or_made_for_others_is_said_to_be_so() {
    let disk = FaultDisk::default();
    let path = Path::new("/bundles/some");
    let good = bundle(&disk, "some", 0..20, None);
    let (memory, tier) = tier_of_bundles(&disk, false);
    tier.add_bundle(good).unwrap();
    assert!(tier.wait_idle(FOREVER) && tier.trouble().as_str().is_empty());
    assert!(tier.look_for(&key(7), FOREVER).unwrap() && memory.get(&key(7)).is_some());

    let mut bytes = disk.read(path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 400].fill(9);
    disk.write(path, &bytes);
    let (memory, tier) = tier_of_bundles(&disk, false);
    tier.add_bundle(store::Bundle::of_file(&disk.process(), path).unwrap()).unwrap();
    (0..20).for_each(|number| assert!(tier.look_for(&key(number), FOREVER).unwrap()));
    let lost = (0..20).filter(|&number| memory.get(&key(number)).is_none()).count();
    assert!(lost > 0 && tier.wait_idle(FOREVER));
    assert!(tier.trouble().as_str().contains("bundles are damaged"), "{}", tier.trouble().as_str());
    assert!(tier.statistics().damaged > 0);

    let others = bundle_of(&disk, "others", 0..5, None, 2);
    let (_memory, tier) = tier_of_bundles(&disk, false);
    tier.add_bundle(others).unwrap();
    assert!(tier.wait_idle(FOREVER));
    assert!(tier.trouble().as_str().contains("another environment"), "{}", tier.trouble().as_str());
    assert!(tier.trouble().as_str().contains("of 5 programs"), "{}", tier.trouble().as_str());
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
    let io: Arc<dyn Io> = Arc::new(disk.process());
    io.create_directory(Path::new("/bundles")).unwrap();
    let path = Path::new("/bundles").join(file);
    let mut writer = store::BundleWriter::create(Arc::clone(&io), &path, store::Compression::None).unwrap();
    for number in numbers {
        super::tests::put(&cache, number, 100 + number as usize * 7);
        let blob = cache.get(&key(number)).unwrap();
        let mut bytes = Vec::new();
        super::value::encode(&blob, &mut bytes).unwrap();
        let name = store::Name { kind: super::value::kind::PROGRAM, environment, key: key(number) };
        assert!(writer.put(&name, 1, &bytes).unwrap());
    }
    if let Some(first) = first {
        let name = store::Name { kind: super::value::kind::START_UP, environment, key: [0; 32] };
        assert!(writer.put(&name, 0, &key(first)).unwrap());
    }
    writer.finish().unwrap();
    store::Bundle::of_file(&*io, &path).unwrap()
}

fn tier_of_bundles(disk: &FaultDisk, load_ahead: bool) -> (Arc<ProgramCache>, Arc<DiskTier>) {
    let options = DiskOptions {
        directory: None,
        environment: 1,
        store: store::Options::new(|| 1_700_000_000),
        waiting_limit: 1 << 20,
        load_ahead,
        executor: Executor::new(ExecutorOptions::default()).unwrap(),
    };
    let tier = Arc::new(DiskTier::new(options, Arc::new(disk.process())).unwrap());
    let partners = Partners { disk: Some(Arc::clone(&tier) as Arc<dyn Disk>), quarantine: None };
    let memory = Arc::new(ProgramCache::new(Options::default(), partners).unwrap());
    tier.bind(&memory);
    (memory, tier)
}

#[test]
fn programs_of_two_bundles_are_found_by_turns() {
    let disk = FaultDisk::default();
    let (memory, tier) = tier_of_bundles(&disk, false);
    tier.add_bundle(bundle(&disk, "one", 0..20, None)).unwrap();
    tier.add_bundle(bundle(&disk, "other", 20..40, None)).unwrap();
    assert!(tier.wait_idle(FOREVER));
    for number in (0..20).flat_map(|number| [20 + number, number]) {
        assert!(tier.look_for(&key(number), FOREVER).unwrap());
    }
    let lost: Vec<_> = (0..40).filter(|&number| memory.link_status(&key(number)) != Status::Succeeded).collect();
    assert!(lost.is_empty(), "{lost:?}");
}

#[test]
fn programs_of_two_bundles_are_loaded_ahead() {
    let disk = FaultDisk::default();
    let (memory, tier) = tier_of_bundles(&disk, true);
    tier.add_bundle(bundle(&disk, "one", 0..20, None)).unwrap();
    tier.add_bundle(bundle(&disk, "other", 20..40, Some(30))).unwrap();
    assert!(tier.wait_idle(FOREVER));
    let lost: Vec<_> = (0..40).filter(|&number| memory.link_status(&key(number)) != Status::Succeeded).collect();
    assert!(lost.is_empty(), "{lost:?}");
}
