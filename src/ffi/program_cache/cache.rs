//! The cache: its parameters, create and destroy.

use std::path::PathBuf;

use hobgoblin_macros::{element, entry, opaque, open_enum, versioned};

use super::bound::unbind;
use super::material::environment_material;
use crate::base::{Result, Shared};
use crate::executor::Executor;
use crate::ffi::base::argument::{Argument, check_flags};
use crate::ffi::base::handle;
use crate::ffi::base::result::hob_result;
use crate::ffi::base::structs::Versioned;
use crate::ffi::base::text::hob_str;
use crate::ffi::executor::desc::hob_executor;
use crate::ffi::fingerprint::environment::{hob_environment, with_environment};
use crate::ffi::store::hob_file_io;
use crate::ffi::store::host_io::{HostFiles, HostIo};
use crate::ffi::store::limits::{disk_limit, seconds, secret};
use crate::ffi::store::path::path;
use crate::fingerprint::Environment;
use crate::program_cache::{Cache, Counted, Desc, Material, OpenCache, Options, Policy};
use crate::store::io::{OsIo, share};
use crate::store::{self, Compression, Secret};

// == Ids ==

/// A use of a program by the driver, from hob_program_cache_begin_use.
/// All zero is no use.
#[element(size = 8, last = generation)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_use_id {
    /// Its place, from 1 on; 0 is no use.
    pub index1: u32,
    /// Distinguishes it from earlier uses at that place.
    pub generation: u32,
}

// == Create and destroy ==

/// A cache of programs, in memory and, with a directory, on disk.
/// A handle: see "Handles" in base.h.
#[opaque(OpenCache, tag = b"hobprogr")]
pub struct hob_program_cache {
    _private: [u8; 0],
}

/// Which programs are evicted first when memory is full.
#[open_enum]
#[repr(C)]
pub enum hob_eviction {
    /// First the programs with the least build time per byte, weighted by how often they are used.
    CostAware = 0,
    /// The least recently used program.
    Lru = 1,
    /// The most recently used program of the least recently used group: see hob_program.group.
    Groups = 2,
}

/// hob_program_cache_desc.flags: write nothing to the directory.
/// Bans stay in force. Uses begin and end as usual, but are not recorded, so a crash adds no strike. A program that is
/// put stays in memory only. A program that is removed, rejected or cleared is hidden from this cache only: the next
/// cache finds it again.
pub const HOB_PROGRAM_CACHE_READ_ONLY: u32 = 1;
/// hob_program_cache_desc.flags: compress programs on disk (LZ4).
pub const HOB_PROGRAM_CACHE_COMPRESS: u32 = 2;
/// hob_program_cache_desc.flags: load only programs that were missed, nothing ahead of need.
pub const HOB_PROGRAM_CACHE_LOAD_LAZILY: u32 = 4;
/// hob_program_cache_desc.flags: evict programs of the start-up set after all others.
pub const HOB_PROGRAM_CACHE_KEEP_STARTUP_SET: u32 = 8;
/// hob_program_cache_desc.flags: count only the data of programs against memory_limit, as Chromium's cache does.
/// Keys, fingerprints of shaders and reflection are not counted. A program without data counts as one byte.
pub const HOB_PROGRAM_CACHE_COUNT_DATA_ONLY: u32 = 16;
/// hob_program_cache_desc.flags: a second put of a key changes nothing, and writes nothing.
/// It holds while memory has the first one. For hosts whose threads may build one program at the same time. After a
/// rejection, end the use and then put the new program. In the other order both programs are lost.
pub const HOB_PROGRAM_CACHE_FIRST_PUT_WINS: u32 = 32;
const FLAGS: u32 = 63;

/// Parameters of a program cache.
#[versioned(size = 88, last = file_io)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_program_cache_desc {
    /// sizeof(hob_program_cache_desc).
    pub struct_size: u32,
    /// Which programs are evicted first. Default HOB_EVICTION_COST_AWARE.
    pub eviction: hob_eviction,
    /// Where programs, strikes and bans outlive the process. Default empty: memory only, and no strikes. Several
    /// processes may share a directory. The first program or use that is written creates it. A path: on Unix any bytes
    /// without NUL, elsewhere UTF-8.
    ///
    /// Programs that other processes have written are found at create, and later when one is missed: the disk looks for
    /// them at most every 100 ms.
    pub directory: hob_str,
    /// The driver, device and build that the programs are for. NULL: driver and device are unknown. A new driver then
    /// gets the old driver's binaries. Set it for every cache with a directory or a bundle.
    pub environment: *const hob_environment,
    /// Reads and writes files as background tasks, and is kept alive by the cache. With HOB_BACKGROUND_PUMP those tasks
    /// run inside hob_executor_pump, which may then wait for files.
    ///
    /// NULL: no background. Programs are then read and written only by hob_program_cache_get_wait,
    /// hob_program_cache_wait_idle, hob_program_cache_flush, hob_program_cache_write_bundle and
    /// hob_program_cache_destroy. Call hob_program_cache_wait_idle after create: hob_program_cache_get never reads the
    /// disk itself.
    pub executor: *const hob_executor,
    /// Limit of memory, in bytes: keys, data, reflection and fingerprints of shaders. 0: the default, 64 MiB.
    /// UINT64_MAX: no limit. A program that is larger is neither kept nor written to disk, so a limit of 1 stores
    /// nothing.
    #[default(64 << 20)]
    pub memory_limit: u64,
    /// Limit of the disk for this environment, in bytes, at least 256 KiB. 0: the default, 512 MiB. UINT64_MAX: no
    /// limit. Bytes are those of whole blocks (`st_blocks` * 512) of every file of the library in the directory, also
    /// of files that are deleted but open. Files of another format or secret count only for `directory_limit`, and
    /// those of another user for no limit.
    ///
    /// Every write evicts first what it needs, in all processes and with or without an executor. At every moment the
    /// files take at most 1.25 * limit. After destroy, or a flush, they take at most 1.0 * limit; but an executor's
    /// background may then merge files until hob_program_cache_wait_idle. Several processes that write at once share
    /// the limit, so each needs room for its values besides those of the others.
    ///
    /// Each environment keeps the limit of the process that opened it last, so the files of several environments take
    /// up to the sum of their limits, or `directory_limit`. A program of more than 3/4 of the limit, or of more than
    /// 256 MiB, is not written. To write nothing, set HOB_PROGRAM_CACHE_READ_ONLY.
    ///
    /// A full file system takes the place of the limit: old programs are evicted for new ones. A program of more than
    /// about 5/8 of its space is then not written. One hob_program_cache_flush reports the programs that were not
    /// written, and `disk_refused` counts them.
    #[default(512 << 20)]
    pub disk_limit: u64,
    /// Limit of the programs that wait to be written, in bytes of data, reflection and fingerprints of shaders. 0: the
    /// default, 256 MiB. UINT64_MAX: no limit. A program that is put beyond it stays in memory and is not written;
    /// there is no retry. Programs that wait are held even after memory evicts them, in addition to `memory_limit`.
    #[default(256 << 20)]
    pub waiting_limit: u64,
    /// Programs without a put or get for this many seconds are removed from disk. 0: the default, 30 days. UINT32_MAX:
    /// no limit.
    #[default(30 * 24 * 60 * 60)]
    pub max_age_seconds: u32,
    /// Strikes that ban a program. 0: the default, 2, so that a program may end the process twice. UINT32_MAX: no bans,
    /// and uses are not recorded.
    #[default(2)]
    pub ban_at: u32,
    /// HOB_PROGRAM_CACHE_READ_ONLY and the like. Default 0.
    pub flags: u32,
    /// Number of programs whose inputs are remembered for hob_program_cache_explain_miss. Default 0: none.
    /// Each takes some hundred bytes, in memory and on disk.
    pub described_keys: u32,
    /// The file system of the directory and of bundles; copied. NULL: the operating system's.
    pub file_io: *const hob_file_io,
    /// A secret of the host, at least 16 bytes; copied. Programs on disk that were written with another one, or without
    /// one, are ignored, and strikes are dropped. So nobody without the secret can make the cache give bytes to the
    /// driver. Bundles have no secret. Default empty: checksums find damage, but no forgery. docs/trust.md has the
    /// details.
    pub secret: hob_str,
    /// Limit of the directory with all its environments, in bytes, at least 256 KiB. Environments that were not used
    /// for the longest time are removed first, as a whole, and this one never. 0: the default, twice the largest
    /// `disk_limit` of an environment in it. UINT64_MAX: no limit.
    ///
    /// The same files count as for `disk_limit`, and those of other formats and secrets. These are deleted before all
    /// others, the oldest first. Files that a living process with another format or secret writes stay, and do not
    /// count.
    pub directory_limit: u64,
}

/// Creates a program cache.
/// `desc` may be NULL: defaults, so memory only. On success `*out_cache` is the caller's to destroy, and `user_data` of
/// the file_io is the library's.
///
///     hob_program_cache_desc desc = HOB_PROGRAM_CACHE_DESC_INIT;
///     desc.directory = HOB_STR("cache/programs");
///     desc.environment = &environment;             /* see the example at the top of this file */
///     desc.executor = executor;                    /* reads and writes in the background */
///     hob_program_cache *cache = NULL;
///     if (hob_program_cache_create(&desc, &cache) != HOB_RESULT_OK) fail(hob_last_error());
///
/// Reads only the small files that hold strikes; programs are loaded in the background. Without an executor, or behind
/// a loading screen, call hob_program_cache_wait_idle next. A directory that cannot be read or written is no failure:
/// hob_program_cache_get_problem says why, and the cache works in memory. Threads: any.
#[entry(any, nullable(desc))]
#[must_use]
pub extern "C" fn hob_program_cache_create(
    desc: *const hob_program_cache_desc,
    out_cache: *mut *mut hob_program_cache,
) -> hob_result {
    let desc = desc.unwrap_or_else(hob_program_cache_desc::defaults);
    // SAFETY: the fields are what the header says.
    let given = unsafe { DescValues::of(&desc) }?;
    let files = given.files.clone();
    let cache = handle::create(Cache::open(described(&desc, given)?)?)?;
    files.iter().for_each(|files| files.own());
    out_cache.write(cache);
    Ok(())
}

/// Destroys a cache, after writing the programs that wait: this may wait for files.
/// NULL is allowed. Open uses end without a strike. Blobs stay valid. Threads: no call on it may run on another thread.
#[entry(destroy)]
pub extern "C" fn hob_program_cache_destroy(cache: *mut hob_program_cache) {
    cache.read(|cache| {
        unbind(cache);
        Ok(())
    })?;
}

/// The values that a desc's pointers point to.
struct DescValues {
    directory: Option<PathBuf>,
    environment: u64,
    material: Material,
    executor: Option<Executor>,
    files: Option<Shared<HostFiles>>,
    secret: Option<Secret>,
}

impl DescValues {
    /// # Safety
    /// The fields of `desc` meet the header's documentation.
    unsafe fn of(desc: &hob_program_cache_desc) -> Result<Self> {
        let environment = match desc.environment.is_null() {
            true => hob_environment::defaults(),
            // SAFETY: by this function's contract, here and below.
            false => unsafe { hob_environment::take(desc.environment, "environment") }?,
        };
        let describe = |found: &Environment<'_>| Ok((found.id(&mut |_| ()), environment_material(found)?));
        let (environment, material) = unsafe { with_environment(&environment, describe) }?;
        let executor = match desc.executor.is_null() {
            true => None,
            false => {
                let executor = unsafe { hob_executor::take(desc.executor, "executor") }?;
                Some(executor.read(|executor| Ok(executor.clone()))?)
            }
        };
        let directory = path(unsafe { desc.directory.argument("directory") }, "directory")?;
        Ok(Self {
            directory,
            environment,
            material,
            executor,
            files: unsafe { HostFiles::of(desc.file_io, "file_io") }?,
            secret: secret(unsafe { desc.secret.argument("secret") }.bytes()?)?,
        })
    }
}

fn described(desc: &hob_program_cache_desc, given: DescValues) -> Result<Desc> {
    check_flags("hob_program_cache_desc", desc.flags, FLAGS)?;
    let has = |flag: u32| desc.flags & flag != 0;
    Ok(Desc {
        memory: Options {
            limit_bytes: desc.memory_limit,
            policy: match desc.eviction.check("eviction")? {
                hob_eviction::Lru => Policy::LeastRecentlyUsed,
                hob_eviction::Groups => Policy::Groups,
                _ => Policy::CostAware,
            },
            start_up_set_last: has(HOB_PROGRAM_CACHE_KEEP_STARTUP_SET),
            counted: if has(HOB_PROGRAM_CACHE_COUNT_DATA_ONLY) { Counted::Data } else { Counted::KeyAndValue },
            last_put_wins: !has(HOB_PROGRAM_CACHE_FIRST_PUT_WINS),
            described_keys: desc.described_keys as usize,
            ..Options::default()
        },
        directory: given.directory,
        environment: given.environment,
        store: store::Options {
            limit_bytes: disk_limit(desc.disk_limit, "disk_limit")?,
            directory_limit: disk_limit(desc.directory_limit, "directory_limit")?,
            environment: Some(given.environment),
            max_age_seconds: desc.max_age_seconds,
            compression: if has(HOB_PROGRAM_CACHE_COMPRESS) { Compression::Lz4 } else { Compression::None },
            read_only: has(HOB_PROGRAM_CACHE_READ_ONLY),
            secret: given.secret,
            // Memory takes no larger program. Beside its data, a value on disk has a head and reflection.
            entry_limit: u32::try_from(desc.memory_limit.saturating_add(1 << 20).min(256 << 20)).unwrap_or(256 << 20),
            ..store::Options::new(seconds)
        },
        material: given.material,
        // In the core, 0 means that nothing is banned.
        ban_at: if desc.ban_at == u32::MAX { 0 } else { desc.ban_at },
        waiting_limit: desc.waiting_limit,
        load_ahead: !has(HOB_PROGRAM_CACHE_LOAD_LAZILY),
        io: match given.files {
            Some(files) => share(HostIo(files))?,
            None => share(OsIo)?,
        },
        executor: given.executor,
    })
}
