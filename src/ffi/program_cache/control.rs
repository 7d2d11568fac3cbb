//! Removal of programs, limits, and the status of shaders and keys.

use hobgoblin_macros::{entry, open_enum};

use super::cache::hob_program_cache;
use crate::ffi::base::result::hob_result;
use crate::ffi::fingerprint::bytes::hob_fingerprint;
use crate::ffi::store::limits::disk_limit;
use crate::program_cache::{Options, Pressure, Scope, Status};
use crate::store;

// == Limits ==

/// Removes a program from memory and disk.
/// A key without a program is allowed. The disk is changed in the background. If that fails, the program is hidden from
/// this cache, but another cache may find it: hob_program_cache_flush tries again, and returns HOB_RESULT_IO while it
/// fails. HOB_RESULT_IO here: an earlier removal has failed like that. HOB_RESULT_LIMIT_EXCEEDED: 65536 requests wait
/// for the disk; the program is hidden from this cache. Threads: shared.
#[entry(shared)]
pub extern "C" fn hob_program_cache_remove(cache: *const hob_program_cache, key: *const hob_fingerprint) -> hob_result {
    cache.remove(&key.bytes).map(|_| ())
}

/// Removes all programs and shader statuses from memory, and with `disk_too` not 0 also from disk.
/// With `disk_too` 0, programs on disk are loaded again when they are missed. It keeps bundles, programs of other
/// environments, the start-up set, strikes and bans, open uses, blobs, limits and statistics. Inputs from
/// hob_program_cache_describe stay in memory.
///
/// If the process is killed meanwhile, all programs are removed from disk or none; on a full disk it may be some of
/// them. If the disk cannot be changed: as for hob_program_cache_remove. Threads: shared.
#[entry(shared)]
pub extern "C" fn hob_program_cache_clear(cache: *const hob_program_cache, disk_too: u32) -> hob_result {
    cache.clear((disk_too != 0).then_some(Scope::Environment))
}

/// Removes all programs of all environments from memory and disk, also those that other versions of the library wrote.
/// A user's way to empty the directory, which need not be deleted. Strikes and bans stay: see
/// hob_program_cache_clear_strikes. Programs with another `secret` are removed, too. It keeps bundles, the start-up
/// set, open uses, blobs, limits and statistics. If the disk cannot be changed: as for hob_program_cache_remove.
/// Threads: shared.
#[entry(shared)]
pub extern "C" fn hob_program_cache_clear_directory(cache: *const hob_program_cache) -> hob_result {
    cache.clear(Some(Scope::Directory))
}

/// Evicts programs until memory holds at most `max_bytes`; 0: all of them.
/// The limit stays. Threads: shared.
#[entry(shared)]
pub extern "C" fn hob_program_cache_trim(cache: *const hob_program_cache, max_bytes: u64) -> hob_result {
    cache.trim(max_bytes);
    Ok(())
}

/// Changes the limit of memory, in bytes: see hob_program_cache_desc.memory_limit.
/// 0: the default. UINT64_MAX: no limit. Memory is trimmed at once. Threads: shared.
#[entry(shared)]
pub extern "C" fn hob_program_cache_set_memory_limit(cache: *const hob_program_cache, limit: u64) -> hob_result {
    cache.memory().set_limit(if limit == 0 { Options::default().limit_bytes } else { limit });
    Ok(())
}

/// Changes the limit of the disk, in bytes: see hob_program_cache_desc.disk_limit.
/// 0: the default. UINT64_MAX: no limit. Less than 256 KiB: HOB_RESULT_INVALID_ARGUMENT. The disk is trimmed in the
/// background. Threads: shared.
#[entry(shared)]
pub extern "C" fn hob_program_cache_set_disk_limit(cache: *const hob_program_cache, limit: u64) -> hob_result {
    let limit = disk_limit(limit, "limit")?;
    cache.disk().set_limit(if limit == 0 { store::Options::new(|| 0).limit_bytes } else { limit })
}

/// How short of memory the machine is.
#[open_enum]
#[repr(C)]
pub enum hob_memory_pressure {
    /// Not short: the limits of memory pressure end.
    None = 0,
    /// The limit of memory is a quarter of memory_limit. A program that is larger, but within memory_limit, is stored
    /// alone: all others are evicted.
    Moderate = 1,
    /// All programs are evicted from memory, and then memory holds one program, the last that was stored. Programs that
    /// wait to be written stay: hob_program_cache_flush writes them. The disk keeps its programs.
    Critical = 2,
}

/// Limits memory as the system asks, until the next report.
/// Call it when memory pressure begins, and with HOB_MEMORY_PRESSURE_NONE when it ends. Threads: shared.
#[entry(shared)]
pub extern "C" fn hob_program_cache_report_memory_pressure(
    cache: *const hob_program_cache,
    pressure: hob_memory_pressure,
) -> hob_result {
    cache.pressure(match pressure.check("pressure")? {
        hob_memory_pressure::Moderate => Pressure::Moderate,
        hob_memory_pressure::Critical => Pressure::Critical,
        _ => Pressure::None,
    });
    Ok(())
}

/// Adds a key to the start-up set (`marked` not 0), or removes it.
/// Programs of the set are loaded before all others, also at the next start: hob_program_cache_flush and
/// hob_program_cache_destroy write the set. The key needs no program yet. HOB_RESULT_LIMIT_EXCEEDED: the set has 65536
/// keys. Threads: shared.
#[entry(shared)]
pub extern "C" fn hob_program_cache_mark_startup(
    cache: *const hob_program_cache,
    key: *const hob_fingerprint,
    marked: u32,
) -> hob_result {
    cache.memory().mark_start_up(&key.bytes, marked != 0)
}

// == Status of shaders and programs ==

/// Reports that a shader has compiled, before a program of it is put.
/// `shader` is a fingerprint as in hob_program.shaders. The cache remembers up to 65536 shaders that no program in
/// memory uses. When one more is reported, it forgets the others. Threads: shared.
#[entry(shared)]
pub extern "C" fn hob_program_cache_report_shader_compiled(
    cache: *const hob_program_cache,
    shader: *const hob_fingerprint,
) -> hob_result {
    cache.memory().shader_compiled(&shader.bytes)
}

/// Tells whether a shader is known to compile: `*out_is_known` is 1 or 0.
/// A host may defer the compile of a known shader until a program of it is missed. Threads: shared.
#[entry(shared)]
pub extern "C" fn hob_program_cache_get_shader_status(
    cache: *const hob_program_cache,
    shader: *const hob_fingerprint,
    out_is_known: *mut u32,
) -> hob_result {
    out_is_known.write((cache.memory().compile_status(&shader.bytes) == Status::Succeeded) as u32);
    Ok(())
}

/// Gets the number of programs in memory that were linked from a shader.
/// A program that lists the shader twice counts twice. Threads: shared.
#[entry(shared)]
pub extern "C" fn hob_program_cache_get_shader_program_count(
    cache: *const hob_program_cache,
    shader: *const hob_fingerprint,
    out_count: *mut u32,
) -> hob_result {
    out_count.write(cache.memory().programs_of_shader(&shader.bytes));
    Ok(())
}

/// Tells whether a program is in memory: `*out_is_known` is 1 or 0.
/// 1 also means that it has linked before. 0: unknown; it may be on disk, which is not searched. Eviction does not
/// count this as a get. Threads: shared.
#[entry(shared)]
pub extern "C" fn hob_program_cache_get_program_status(
    cache: *const hob_program_cache,
    key: *const hob_fingerprint,
    out_is_known: *mut u32,
) -> hob_result {
    out_is_known.write((cache.memory().link_status(&key.bytes) == Status::Succeeded) as u32);
    Ok(())
}

/// Gets the number of strikes of a key.
/// While a program with a strike is in use, begin no other use of any program. Threads: shared.
#[entry(shared)]
pub extern "C" fn hob_program_cache_get_strikes(
    cache: *const hob_program_cache,
    key: *const hob_fingerprint,
    out_strikes: *mut u32,
) -> hob_result {
    out_strikes.write(cache.strikes(&key.bytes).0);
    Ok(())
}

/// Clears the strikes of a key, and so lifts its ban.
/// `key` NULL: of all keys, in all environments of the directory. Waits for a small file. With
/// HOB_PROGRAM_CACHE_READ_ONLY they are cleared for this cache only. HOB_RESULT_BUSY or HOB_RESULT_IO: the same,
/// because the file could not be changed; call again. Threads: shared.
#[entry(shared, nullable(key))]
pub extern "C" fn hob_program_cache_clear_strikes(
    cache: *const hob_program_cache,
    key: *const hob_fingerprint,
) -> hob_result {
    cache.forgive(key.as_ref().map(|key| &key.bytes))
}
