//! `program_cache.h`: programs that are not compiled twice.

use std::ffi::{OsStr, c_void};
use std::mem::ManuallyDrop;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::base::{hob_result, hob_str};
use super::executor::hob_executor;
use super::file_io::{HostFiles, HostIo};
use super::fingerprint::{hob_environment, hob_fingerprint, with_environment};
use super::guard::guard;
use super::handle::{self, Opaque, inspect, shared};
use super::layout::{Array, Element, Out, Versioned, bytes, checked_size, init_struct, read_struct};
use super::program_cache_blob::unbind;
use super::program_cache_why::environment_material;
use super::store::hob_file_io;
use crate::base::{Result, error, try_push};
use crate::executor::{Executor, Options as ExecutorOptions};
use crate::program_cache::{Blob, Cache, Counted, Desc, Key, Options, Policy, Program, Put, Refusal};
use crate::store::io::{Io, OsIo};
use crate::store::{self, Compression};

/// Programs in memory and, if it has a directory, on the disk. All functions but create and destroy may be called from
/// several threads at once. A handle; see docs/ownership.md.
pub struct hob_program_cache {
    _private: [u8; 0],
}

impl Opaque for hob_program_cache {
    type Value = Cache;
    const NAME: &'static str = "hob_program_cache";
    const TAG: [u8; 8] = *b"hobprogr";
}

/// Which programs leave memory first when room is needed.
#[repr(C)]
pub enum hob_eviction {
    /// The ones whose loss costs the least compile time for the room it gives back, by measured build cost.
    CostAware = 0,
    /// The least recently used one, to the byte.
    Lru = 1,
    /// The most recently used one of the least recently used group (hob_program.group).
    Groups = 2,
}

/// How much memory the machine is short of.
#[repr(C)]
pub enum hob_memory_pressure {
    /// None: nothing is done.
    None = 0,
    /// Some: memory is trimmed to a quarter of its limit.
    Moderate = 1,
    /// Much: memory is emptied, but for what still waits to be written: hob_program_cache_flush is the way to be rid of it.
    /// What the disk has stays there.
    Critical = 2,
}

/// hob_program_cache_desc.flags: write nothing to the directory. What is banned stays so; uses are not noted. What is
/// removed, rejected or cleared is not found any more by this cache, and by the next one it is.
pub const HOB_PROGRAM_CACHE_READ_ONLY: u32 = 1;
/// hob_program_cache_desc.flags: compress what is written (LZ4).
pub const HOB_PROGRAM_CACHE_COMPRESS: u32 = 2;
/// hob_program_cache_desc.flags: load only what was missed, nothing ahead of need.
pub const HOB_PROGRAM_CACHE_LOAD_LAZILY: u32 = 4;
/// hob_program_cache_desc.flags: programs of the start-up set leave memory after all others.
pub const HOB_PROGRAM_CACHE_KEEP_STARTUP_SET: u32 = 8;
/// hob_program_cache_desc.flags: of what memory_limit allows, count the data of programs alone, as Chromium's cache does,
/// and neither keys nor shaders nor reflection.
pub const HOB_PROGRAM_CACHE_COUNT_DATA_ALONE: u32 = 16;
/// hob_program_cache_desc.flags: a second put of a key changes nothing, and saves the writing. For hosts of which several
/// threads may build the same program at a time. A program that the driver rejected is there until its use has ended: end
/// it before the new one is put, which would be lost otherwise.
pub const HOB_PROGRAM_CACHE_FIRST_PUT_WINS: u32 = 32;
const FLAGS: u32 = 63;

/// Parameters of a program cache.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_program_cache_desc {
    /// sizeof(hob_program_cache_desc); set by hob_program_cache_desc_init.
    pub struct_size: u32,
    /// A hob_eviction. Default HOB_EVICTION_COST_AWARE.
    pub eviction: u32,
    /// Where programs outlive the process: a directory that processes may share, made when the first program is written.
    /// What others write is found at the start, and from then on when the directory is tidied up: each time that this
    /// process has written 1024 programs, or a sixteenth of `disk_limit`. On Unix any bytes, elsewhere UTF-8. Empty: memory
    /// alone.
    pub directory: hob_str,
    /// The driver, device and build that programs are for: others' are never loaded. NULL: one that HOB_ENVIRONMENT_INIT
    /// gives, of which nothing but the size of a pointer is known.
    pub environment: *const hob_environment,
    /// Whose background lane reads and writes; kept until the cache is destroyed. NULL: there is no background, and
    /// programs are read and written only in hob_program_cache_wait_idle, hob_program_cache_get_wait,
    /// hob_program_cache_flush, hob_program_cache_write_bundle and destroy.
    pub executor: *const hob_executor,
    /// Bytes in memory: of keys, data, reflection and names of shaders. A program of exactly that size is kept; one without
    /// data counts as one byte at least. Default 64 MiB. 0 keeps nothing.
    pub memory_limit: u64,
    /// Bytes on the disk for each environment; a program that is larger is not written. Default 512 MiB. Chromium has the
    /// same limit for both. 0: nothing is written, and what is there goes.
    pub disk_limit: u64,
    /// Bytes of data, reflection and names of shaders that may wait to be written; what is put beyond is not written.
    /// Default 256 MiB. 0: nothing is written.
    pub waiting_limit: u64,
    /// Programs that were not used for more than so many seconds leave the disk when it is tidied up. Default 30 days. 0:
    /// all leave it then that were not used within that second.
    pub max_age_seconds: u32,
    /// Strikes that ban a program: it takes one when the process dies while it is in use. 0: none is banned. Default 2, so
    /// that a program may take the process down twice.
    pub ban_at: u32,
    /// HOB_PROGRAM_CACHE_READ_ONLY and the like.
    pub flags: u32,
    /// Of how many programs it is remembered what they were made from, for hob_program_cache_why_missed: some hundred bytes
    /// each, in memory and on the disk. Default 0.
    pub described_keys: u32,
    /// The file system of the directory and of bundles; copied. NULL: the operating system's.
    pub file_io: *const hob_file_io,
}

// SAFETY: repr(C), begins with struct_size, integers and pointers.
unsafe impl Versioned for hob_program_cache_desc {
    const NAME: &'static str = "hob_program_cache_desc";
    const FIRST_SIZE: usize = 48 + 4 * size_of::<usize>();
    fn defaults() -> Self {
        let (memory, disk) = (Options::default(), store::Options::new(seconds));
        Self {
            struct_size: size_of::<Self>() as u32,
            eviction: hob_eviction::CostAware as u32,
            directory: hob_str::EMPTY,
            environment: std::ptr::null(),
            executor: std::ptr::null(),
            memory_limit: memory.limit_bytes,
            disk_limit: disk.limit_bytes,
            waiting_limit: 256 << 20,
            max_age_seconds: disk.max_age_seconds,
            ban_at: 2,
            flags: 0,
            described_keys: 0,
            file_io: std::ptr::null(),
        }
    }
}

/// A program to be kept.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_program {
    /// sizeof(hob_program); set by hob_program_init.
    pub struct_size: u32,
    /// The driver's name for the format of `data`, such as the GLenum of glGetProgramBinary; only kept.
    pub format: u32,
    pub data: *const c_void,
    pub size: usize,
    /// Whatever the host wants back with the binary.
    pub reflection: *const c_void,
    pub reflection_size: usize,
    /// Names of the shaders it was linked from, whose compile status it vouches for.
    pub shaders: *const hob_fingerprint,
    pub shader_count: usize,
    /// Microseconds that compiling and linking it took: what eviction weighs. 0 counts as 1.
    pub build_us: u64,
    /// The page, level or material it belongs to, for HOB_EVICTION_GROUPS.
    pub group: u32,
    /// Zero.
    pub reserved: u32,
}

// SAFETY: repr(C), begins with struct_size, integers and pointers.
unsafe impl Versioned for hob_program {
    const NAME: &'static str = "hob_program";
    const FIRST_SIZE: usize = 24 + 6 * size_of::<usize>();
    fn defaults() -> Self {
        Self {
            struct_size: size_of::<Self>() as u32,
            format: 0,
            data: std::ptr::null(),
            size: 0,
            reflection: std::ptr::null(),
            reflection_size: 0,
            shaders: std::ptr::null(),
            shader_count: 0,
            build_us: 0,
            group: 0,
            reserved: 0,
        }
    }
}

// SAFETY: repr(C), integers.
unsafe impl Element for hob_fingerprint {
    const NAME: &'static str = "hob_fingerprint";
    const FIRST_SIZE: usize = 32;
}

/// A view of a program in the cache, valid until hob_blob_release, also after the program was evicted or removed and the
/// cache destroyed. Filled in by the library; initialise with HOB_BLOB_INIT.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_blob {
    /// sizeof(hob_blob); set by hob_blob_init.
    pub struct_size: u32,
    /// As it was put.
    pub format: u32,
    /// At a multiple of 16 bytes, where Vulkan wants a shader's binary.
    pub data: *const c_void,
    pub size: usize,
    /// At a multiple of 16 bytes, too.
    pub reflection: *const c_void,
    pub reflection_size: usize,
    /// The library's: what keeps the view valid.
    pub pin: *mut c_void,
}

// SAFETY: repr(C), begins with struct_size, integers and pointers.
unsafe impl Versioned for hob_blob {
    const NAME: &'static str = "hob_blob";
    const FIRST_SIZE: usize = 8 + 5 * size_of::<usize>();
    fn defaults() -> Self {
        Self {
            struct_size: size_of::<Self>() as u32,
            format: 0,
            data: std::ptr::null(),
            size: 0,
            reflection: std::ptr::null(),
            reflection_size: 0,
            pin: std::ptr::null_mut(),
        }
    }
}

const _: () = assert!(size_of::<Blob>() == size_of::<*mut c_void>());

impl hob_blob {
    /// A view that is valid as long as the blob is.
    pub fn view(blob: &Blob) -> Self {
        let (data, reflection) = (blob.data(), blob.reflection());
        Self {
            format: blob.format(),
            data: data.as_ptr().cast(),
            size: data.len(),
            reflection: reflection.as_ptr().cast(),
            reflection_size: reflection.len(),
            ..Self::defaults()
        }
    }
}

impl From<Blob> for hob_blob {
    fn from(blob: Blob) -> Self {
        let mut view = Self::view(&blob);
        let blob = ManuallyDrop::new(blob);
        // SAFETY: a blob is one pointer, which the view now owns.
        view.pin = unsafe { (&raw const blob).cast::<*mut c_void>().read() };
        view
    }
}

/// Seconds since 1970.
fn seconds() -> u64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |span| span.as_secs())
}

/// Fill in defaults; `size` is sizeof(hob_program_cache_desc). Usually by HOB_PROGRAM_CACHE_DESC_INIT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_program_cache_desc_init(desc: *mut hob_program_cache_desc, size: u32) -> hob_result {
    // SAFETY: the header's contract.
    guard(|| unsafe { init_struct(desc, size) })
}

/// Fill in defaults; `size` is sizeof(hob_program). Usually by HOB_PROGRAM_INIT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_program_init(program: *mut hob_program, size: u32) -> hob_result {
    // SAFETY: the header's contract.
    guard(|| unsafe { init_struct(program, size) })
}

/// Fill in defaults; `size` is sizeof(hob_blob). Usually by HOB_BLOB_INIT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_blob_init(blob: *mut hob_blob, size: u32) -> hob_result {
    // SAFETY: the header's contract.
    guard(|| unsafe { init_struct(blob, size) })
}

/// Create a program cache. `desc` NULL: defaults, so memory alone. Of the directory only the small files of the quarantine
/// are read here; programs come in the background. A directory that cannot be read or written is no error: the cache then
/// works without, and hob_program_cache_trouble says why. `*out_cache` is written on success, and is then the caller's to
/// destroy; `user_data` of the file_io is the cache's from then on. Threads: any.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn hob_program_cache_create(
    desc: *const hob_program_cache_desc,
    out_cache: *mut *mut hob_program_cache,
) -> hob_result {
    // SAFETY: the header's contract.
    guard(|| unsafe {
        let out = Out::new(out_cache, "out_cache")?;
        let desc = if desc.is_null() { hob_program_cache_desc::defaults() } else { read_struct(desc)? };
        let files = HostFiles::of(desc.file_io)?;
        let io = files.clone().map_or(Arc::new(OsIo) as Arc<dyn Io>, |files| Arc::new(HostIo(files)));
        let cache = handle::create(Cache::open(described(&desc, io)?)?)?;
        files.iter().for_each(|files| files.own());
        out.write(cache);
        Ok(())
    })
}

/// # Safety
/// What `desc` points to is as the header says.
unsafe fn described(desc: &hob_program_cache_desc, io: Arc<dyn Io>) -> Result<Desc> {
    let policy = match desc.eviction {
        0 => Policy::CostAware,
        1 => Policy::LeastRecentlyUsed,
        2 => Policy::Groups,
        other => return Err(error!(InvalidArgument, "eviction {other} is none: pass one of hob_eviction")),
    };
    if desc.flags & !FLAGS != 0 {
        return Err(error!(Unsupported, "flags {:#x} has bits that this library does not know", desc.flags));
    }
    let has = |flag: u32| desc.flags & flag != 0;
    // SAFETY: by this function's contract.
    let (directory, (environment, material), executor) = unsafe {
        let unknown = hob_environment::defaults();
        let environment = if desc.environment.is_null() { &raw const unknown } else { desc.environment };
        let environment =
            with_environment(environment, |found| Ok((found.id(&mut |_| ()), environment_material(found)?)))?;
        let executor = match desc.executor.is_null() {
            true => Executor::new(ExecutorOptions::default())?,
            false => shared(desc.executor, |executor| Ok(executor.clone()))
                .map_err(|_| error!(InvalidArgument, "executor is no live hob_executor"))?,
        };
        (path(&desc.directory, "directory")?, environment, executor)
    };
    Ok(Desc {
        memory: Options {
            limit_bytes: desc.memory_limit,
            policy,
            start_up_set_last: has(HOB_PROGRAM_CACHE_KEEP_STARTUP_SET),
            counted: if has(HOB_PROGRAM_CACHE_COUNT_DATA_ALONE) { Counted::Data } else { Counted::KeyAndValue },
            last_put_wins: !has(HOB_PROGRAM_CACHE_FIRST_PUT_WINS),
            described_keys: desc.described_keys as usize,
            ..Options::default()
        },
        directory,
        environment,
        store: store::Options {
            limit_bytes: desc.disk_limit,
            max_age_seconds: desc.max_age_seconds,
            compression: if has(HOB_PROGRAM_CACHE_COMPRESS) { Compression::Lz4 } else { Compression::None },
            read_only: has(HOB_PROGRAM_CACHE_READ_ONLY),
            ..store::Options::new(seconds)
        },
        material,
        ban_at: desc.ban_at,
        waiting_limit: desc.waiting_limit,
        load_ahead: !has(HOB_PROGRAM_CACHE_LOAD_LAZILY),
        io,
        executor,
    })
}

/// # Safety
/// As [`hob_str::read`].
pub unsafe fn path(text: &hob_str, what: &str) -> Result<Option<PathBuf>> {
    // SAFETY: by this function's contract.
    let bytes = unsafe { text.read_bytes(what) }?;
    if bytes.contains(&0) {
        return Err(error!(InvalidArgument, "{what} has a NUL in it: no path does"));
    }
    #[cfg(unix)]
    let path = <OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(bytes);
    #[cfg(not(unix))]
    let path = OsStr::new(std::str::from_utf8(bytes).map_err(|_| error!(InvalidArgument, "{what} is not UTF-8"))?);
    Ok((!path.is_empty()).then(|| PathBuf::from(path)))
}

/// Destroy a cache, after writing what still waits: this may wait for files. Views stay valid. NULL is fine.
/// Threads: no other call on it may run.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_program_cache_destroy(cache: *mut hob_program_cache) {
    if !cache.is_null() {
        // SAFETY: the header's contract.
        let memory = unsafe { shared(cache, |cache| Ok(cache.shared_memory())) };
        let _ = memory.map(|memory| unbind(&memory));
    }
    // SAFETY: the header's contract.
    unsafe { handle::destroy(cache) }
}

/// # Safety
/// `key` is NULL or readable.
pub unsafe fn key_of(key: *const hob_fingerprint) -> Result<Key> {
    if key.is_null() {
        return Err(error!(InvalidArgument, "key is NULL: pass the program's fingerprint"));
    }
    // SAFETY: by this function's contract.
    Ok(unsafe { key.read_unaligned() }.bytes)
}

#[cold]
fn missed(cache: &Cache, key: &Key) -> crate::base::Error {
    match cache.strikes(key) {
        (strikes, true) => banned(strikes),
        _ => error!(NotFound, "the program is not in memory: build it, and put it"),
    }
}

#[cold]
pub fn banned(strikes: u32) -> crate::base::Error {
    error!(Unsupported, "the program is banned: the process died of it {strikes} times; build it from source")
}

/// Get a program from memory: never waits for a file; a hit copies nothing and takes no memory. HOB_RESULT_NOT_FOUND: build
/// it. HOB_RESULT_UNSUPPORTED: build it, now and at every start; its binary is banned, see hob_program_cache_use_begin.
/// What is banned never gets into memory until hob_program_cache_forgive, so that it is enough to ask here. What is missed
/// and on the disk is brought in the background, for the next time; without a hob_program_cache_desc.executor by the calls
/// that wait. A view that `*blob` still held is released first. Threads: shared.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_program_cache_get(
    cache: *const hob_program_cache,
    key: *const hob_fingerprint,
    blob: *mut hob_blob,
) -> hob_result {
    // SAFETY: the header's contract.
    unsafe {
        inspect(cache, |cache| {
            let key = key_of(key)?;
            release(blob)?;
            let found = cache.memory().get(&key).ok_or_else(|| missed(cache, &key))?;
            give(blob, found);
            Ok(())
        })
    }
}

/// Hand out a view.
///
/// # Safety
/// [`release`] has accepted the place.
unsafe fn give(place: *mut hob_blob, blob: Blob) {
    // SAFETY: by this function's contract the size was checked.
    unsafe { fill(place, &hob_blob::from(blob)) };
}

/// # Safety
/// [`checked_size`] has accepted the place.
#[inline]
unsafe fn fill(place: *mut hob_blob, view: &hob_blob) {
    let (from, to, head) = (std::ptr::from_ref(view).cast::<u8>(), place.cast::<u8>(), size_of::<u32>());
    // SAFETY: no released header has a shorter struct, so there is room; the first field is the caller's own.
    unsafe { std::ptr::copy_nonoverlapping(from.add(head), to.add(head), size_of::<hob_blob>() - head) };
}

/// Let go of the view in a place, and see that there is room for another.
///
/// # Safety
/// As [`write_struct`](super::layout::write_struct); a `pin` in there is this library's or NULL.
unsafe fn release(place: *mut hob_blob) -> Result<()> {
    // SAFETY: by this function's contract: no released header has a shorter struct, so the pin is there; it is a blob's
    // only pointer, and is not there any more afterwards.
    unsafe {
        checked_size(place)?;
        let pin = (&raw const (*place).pin).read_unaligned();
        if pin.is_null() {
            return Ok(());
        }
        fill(place, &hob_blob::defaults());
        drop((&raw const pin).cast::<Blob>().read());
    }
    Ok(())
}

/// hob_program_cache_get that waits up to `timeout_us` microseconds for the disk: for loading screens. A piece of work that
/// this thread has begun by then is ended first; opening a large directory is one. HOB_RESULT_BUSY: the time did not
/// suffice. Threads: shared.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_program_cache_get_wait(
    cache: *const hob_program_cache,
    key: *const hob_fingerprint,
    timeout_us: u64,
    blob: *mut hob_blob,
) -> hob_result {
    // SAFETY: the header's contract.
    unsafe {
        inspect(cache, |cache| {
            let key = key_of(key)?;
            release(blob)?;
            let found = cache.get_wait(&key, Duration::from_micros(timeout_us))?;
            give(blob, found.ok_or_else(|| missed(cache, &key))?);
            Ok(())
        })
    }
}

/// Let go of a view; NULL, or a blob without one, is fine. Threads: any; the blob is exclusive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_blob_release(blob: *mut hob_blob) {
    if !blob.is_null() {
        // SAFETY: the header's contract.
        let _ = guard(|| unsafe { release(blob) });
    }
}

/// Keep a copy of a program, in memory now and on the disk soon; waits for no file. A second put of a key replaces the
/// first. HOB_RESULT_LIMIT_EXCEEDED: it is larger than the memory limit; what the key had stays. What is banned is not
/// kept, and that is no error. Threads: shared.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_program_cache_put(
    cache: *const hob_program_cache,
    key: *const hob_fingerprint,
    program: *const hob_program,
) -> hob_result {
    // SAFETY: the header's contract.
    unsafe {
        inspect(cache, |cache| {
            let (key, program) = (key_of(key)?, read_struct(program)?);
            if program.reserved != 0 {
                return Err(error!(Unsupported, "hob_program.reserved is {}: set it to 0", program.reserved));
            }
            let mut stages = Vec::new();
            for shader in Array::new(program.shaders, size_of::<hob_fingerprint>(), program.shader_count)?.iter() {
                try_push(&mut stages, shader.bytes)?;
            }
            let put = cache.memory().put(
                &key,
                &Program {
                    format: program.format,
                    data: bytes(program.data, program.size, "data")?,
                    reflection: bytes(program.reflection, program.reflection_size, "reflection")?,
                    stages: &stages,
                    cost_us: program.build_us,
                    group: program.group,
                },
            )?;
            match put {
                Put::Stored | Put::Replaced | Put::Refused(Refusal::Banned | Refusal::Exists) => Ok(()),
                Put::Refused(why) => Err(error!(LimitExceeded, "the program was not kept ({})", why.name())),
            }
        })
    }
}

/// Remove a program from memory and disk; none is fine. Threads: shared.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_program_cache_remove(
    cache: *const hob_program_cache,
    key: *const hob_fingerprint,
) -> hob_result {
    // SAFETY: the header's contract.
    unsafe {
        inspect(cache, |cache| {
            cache.memory().remove(&key_of(key)?);
            Ok(())
        })
    }
}

/// Forget all programs and statuses in memory; with `disk_too` not 0 also what the disk has for this environment.
/// Threads: shared.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_program_cache_clear(cache: *const hob_program_cache, disk_too: u32) -> hob_result {
    // SAFETY: the header's contract.
    unsafe {
        inspect(cache, |cache| {
            cache.memory().clear(disk_too != 0);
            Ok(())
        })
    }
}

/// Evict until memory holds at most `most_bytes`. The limit stays. Threads: shared.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_program_cache_trim(cache: *const hob_program_cache, most_bytes: u64) -> hob_result {
    // SAFETY: the header's contract.
    unsafe {
        inspect(cache, |cache| {
            cache.memory().trim(most_bytes);
            Ok(())
        })
    }
}

/// Change what memory and disk may take, see hob_program_cache_desc. Memory gives up at once what it may not have any more;
/// the disk in the background. Threads: shared.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_program_cache_set_limits(
    cache: *const hob_program_cache,
    memory_limit: u64,
    disk_limit: u64,
) -> hob_result {
    // SAFETY: the header's contract.
    unsafe { inspect(cache, |cache| cache.set_limits(memory_limit, disk_limit)) }
}
