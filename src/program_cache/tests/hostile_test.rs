//! Directories and bundles that somebody else wrote, opened by a child process whose memory and time are measured.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::{NOW, key};
use crate::program_cache::disk::value::{encode, kind};
use crate::program_cache::*;
use crate::store::io::{OsIo, share};
use crate::store::{self, Bundle, BundleWriter, Compression, Name, Store};
use crate::testing::skip;

const MIB: usize = 1 << 20;
/// Limit of memory of the process that reads.
const LIMIT: usize = 16 * MIB;
/// Memory that the code and the table of contents may take. Most of it are pages of the test program, which grows with the
/// library: 12.6 MiB with all rooms.
const REST: usize = 16 * MIB;
/// Programs that are whole.
const PROGRAMS: u64 = 40;
const PROGRAM: usize = 9000;
/// Bytes of a bomb; it takes 1/255 of them in the file.
const BOMB: usize = 64 * MIB;
/// A deadline of the host.
const DEADLINE: Duration = Duration::from_secs(2);
/// The time that each test allows a machine under load.
const PATIENCE: Duration = Duration::from_secs(60);

/// A temporary directory that drop removes.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("hobgoblin-cache-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn cache(&self) -> PathBuf {
        self.0.join("cache")
    }

    fn bundle(&self) -> PathBuf {
        self.0.join("bundle")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn options() -> store::Options {
    store::Options { compression: Compression::Lz4, limit_bytes: u64::MAX, ..store::Options::new(|| NOW) }
}

fn name(kind: u8, key: Key) -> Name {
    Name { kind, environment: 1, key }
}

/// The bytes of a program. The second half compresses.
fn bytes_of(number: u64, count: usize) -> impl Iterator<Item = u8> {
    let mut state = number;
    (0..count).map(move |at| {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        if at < count / 2 { (state >> 33) as u8 } else { number as u8 }
    })
}

/// A value of a program with `bytes` bytes.
fn program(number: u64, bytes: usize) -> Vec<u8> {
    let (data, mut value) = (bytes_of(number, bytes).collect::<Vec<_>>(), Vec::new());
    encode(&Program { data: &data, ..Program::default() }, &mut value).unwrap();
    value
}

/// Calls `put` for whole programs and for bombs: programs, a start-up set and inputs of programs.
fn put_bombs(mut put: impl FnMut(&Name, &[u8])) {
    (0..PROGRAMS).for_each(|number| put(&name(kind::PROGRAM, key(number)), &program(number, PROGRAM)));
    let zeros = vec![0; BOMB];
    put(&name(kind::START_UP, [0; 32]), &zeros);
    for number in PROGRAMS..PROGRAMS + 3 {
        put(&name(kind::PROGRAM, key(number)), &zeros);
        put(&name(kind::MATERIAL, key(number)), &zeros);
    }
}

/// Makes a cache read a directory and a bundle with the keys below `count`, in a process of its own. Returns the number
/// of programs that it found, the growth of its memory in bytes, and the longest time of a call.
fn read_in_a_child(scratch: &Scratch, count: u64) -> (u64, usize, Duration) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "program_cache::tests::hostile_test::child_process_entry", "--nocapture"])
        .env("HOB_CHILD", count.to_string())
        .env("HOB_DIRECTORY", &scratch.0);
    let begun = Instant::now();
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    while child.try_wait().unwrap().is_none() {
        if begun.elapsed() > PATIENCE {
            child.kill().unwrap();
            panic!("a call waits");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let output = child.wait_with_output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    let numbers = printed.lines().find_map(|line| line.strip_prefix("@ "));
    let numbers: Vec<u64> =
        numbers.unwrap_or_else(|| panic!("{printed}")).split(' ').map(|word| word.parse().unwrap()).collect();
    println!("{} programs, {} KiB, {} ms", numbers[0], numbers[1], numbers[2]);
    (numbers[0], numbers[1] as usize * 1024, Duration::from_millis(numbers[2]))
}

/// The most memory that this process has used so far, in KiB.
fn most_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// The body of a child process. In the test program itself it does nothing.
#[test]
fn child_process_entry() {
    let Some(count) = std::env::var_os("HOB_CHILD") else { return };
    let count: u64 = count.to_str().unwrap().parse().unwrap();
    let scratch = PathBuf::from(std::env::var_os("HOB_DIRECTORY").unwrap());
    println!();
    let (before, mut longest) = (most_memory(), Duration::ZERO);
    let mut timed = |begun: Instant| longest = longest.max(begun.elapsed());
    let memory = Options { limit_bytes: LIMIT as u64, described_keys: 100, ..Options::default() };
    let io = share(OsIo).unwrap();
    let directory = Some(scratch.join("cache"));
    // As the C API sets it.
    let store = store::Options { entry_limit: (LIMIT + MIB) as u32, ..options() };
    let base = super::desc(None, memory);
    let begun = Instant::now();
    let cache = Cache::open(Desc { directory, io: io.clone(), store, load_ahead: true, ..base }).unwrap();
    timed(begun);
    let bundle = scratch.join("bundle");
    if bundle.exists() {
        cache.disk().add_bundle(Bundle::of_file(&*io, &bundle).unwrap()).unwrap();
    }
    let begun = Instant::now();
    let _ = cache.disk().wait_idle(DEADLINE);
    timed(begun);
    let mut found = 0;
    for number in 0..count {
        let begun = Instant::now();
        if let Ok(Some(blob)) = cache.get_wait(&key(number), DEADLINE) {
            assert!(bytes_of(number, blob.data().len()).eq(blob.data().iter().copied()), "a wrong program {number}");
            found += 1;
        }
        timed(begun);
    }
    let begun = Instant::now();
    let _ = (cache.list(None, 100, DEADLINE), cache.places(&key(0), DEADLINE), cache.disk().flush(DEADLINE));
    timed(begun);
    println!("@ {found} {} {}", most_memory() - before, longest.as_millis());
}

#[test]
fn bombs_of_a_directory_and_of_a_bundle_take_little_memory() {
    if !cfg!(target_os = "linux") {
        return skip("the memory of a process is read from /proc");
    }
    for is_bundle in [false, true] {
        let scratch = Scratch::new(if is_bundle { "bundle-bombs" } else { "bombs" });
        if is_bundle {
            let mut writer = BundleWriter::create(share(OsIo).unwrap(), &scratch.bundle(), Compression::Lz4).unwrap();
            put_bombs(|name, value| assert!(writer.put(name, 1, value).unwrap()));
            writer.finish().unwrap();
        } else {
            let mut store = Store::open(share(OsIo).unwrap(), &scratch.cache(), options()).unwrap();
            put_bombs(|name, value| assert!(store.put(name, 1, value).unwrap()));
        }
        let (found, growth, _) = read_in_a_child(&scratch, PROGRAMS + 3);
        assert_eq!(found, PROGRAMS);
        assert!(growth < REST, "{growth} bytes");
    }
}

/// As the trust page says: the memory tier, and twice the longest entry.
#[test]
fn reading_takes_the_memory_limit_and_twice_the_longest_entry() {
    if !cfg!(target_os = "linux") {
        return skip("the memory of a process is read from /proc");
    }
    let scratch = Scratch::new("reading");
    let mut store = Store::open(share(OsIo).unwrap(), &scratch.cache(), options()).unwrap();
    let longest = LIMIT / 2;
    for number in 0..6 {
        assert!(store.put(&name(kind::PROGRAM, key(number)), 1, &program(number, longest)).unwrap());
    }
    drop(store);
    let (found, growth, _) = read_in_a_child(&scratch, 6);
    assert_eq!(found, 6);
    assert!(growth < LIMIT + 2 * longest + REST, "{growth} bytes");
}

/// A segment that ends in a hole of 30 GB, and one whose hole has data at many places.
#[test]
fn sparse_segments_of_30_gb_defeat_no_deadline() {
    if !cfg!(target_os = "linux") {
        return skip("other file systems may fill the hole");
    }
    for has_data in [false, true] {
        let scratch = Scratch::new(if has_data { "sparse-data" } else { "sparse" });
        let mut store = Store::open(share(OsIo).unwrap(), &scratch.cache(), options()).unwrap();
        for number in 0..PROGRAMS {
            assert!(store.put(&name(kind::PROGRAM, key(number)), 1, &program(number, PROGRAM)).unwrap());
        }
        drop(store);
        for entry in std::fs::read_dir(scratch.cache()).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "seg") {
                make_sparse(&path, has_data).unwrap();
            }
        }
        let (found, growth, longest) = read_in_a_child(&scratch, PROGRAMS);
        assert_eq!(found, PROGRAMS);
        assert!(growth < REST, "{growth} bytes");
        assert!(longest < DEADLINE * 10, "{longest:?}");
    }
}

fn make_sparse(path: &Path, has_data: bool) -> io::Result<()> {
    use std::os::unix::fs::FileExt;
    let file = std::fs::File::options().write(true).open(path)?;
    let length = file.metadata()?.len();
    file.set_len(30_000_000_000)?;
    let places = if has_data { 2000 } else { 0 };
    (1..=places).try_for_each(|place| file.write_all_at(&[1; 64], length + place * 14_000_000))
}
