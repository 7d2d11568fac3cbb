//! `program_cache.h`, beside getting and putting: what memory gives up, what is known of shaders and programs, which of them
//! the driver has in hand, and how far the disk is.

use std::ffi::c_char;
use std::time::Duration;

use super::base::hob_result;
use super::fingerprint::hob_fingerprint;
use super::handle::inspect;
use super::layout::{Out, fill};
use super::program_cache::{banned, hob_program_cache, key_of};
use crate::base::{Id, Result, error};
use crate::program_cache::{Pressure, Status, UseToken, Verdict};

/// How a use of a program ended.
#[repr(C)]
pub enum hob_use_outcome {
    /// The first frame with it was drawn. A strike is taken back.
    Ok = 0,
    /// The driver would not have it. It is removed, from the disk too; what was put since stays.
    Rejected = 1,
    /// Nothing was drawn with it. Neither the program nor its strikes change.
    Unused = 2,
}

/// A use of a program by the driver. All zero is none.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_use {
    pub index1: u32,
    pub generation: u32,
}

/// Do what a hob_memory_pressure asks for, each time the system says so. Threads: shared.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_program_cache_memory_pressure(
    cache: *const hob_program_cache,
    pressure: u32,
) -> hob_result {
    // SAFETY: the header's contract.
    unsafe {
        inspect(cache, |cache| {
            let pressure = match pressure {
                0 => Pressure::None,
                1 => Pressure::Moderate,
                2 => Pressure::Critical,
                other => return Err(error!(InvalidArgument, "pressure {other} is none: pass a hob_memory_pressure")),
            };
            cache.memory().pressure(pressure);
            Ok(())
        })
    }
}

/// Put a key into the start-up set (`marked` not 0) or take it out: what is in there is loaded before all else, at the
/// next start too: hob_program_cache_flush writes the set, and destroy does. The key need not have been put. Threads:
/// shared.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_program_cache_mark_startup(
    cache: *const hob_program_cache,
    key: *const hob_fingerprint,
    marked: u32,
) -> hob_result {
    // SAFETY: the header's contract.
    unsafe { inspect(cache, |cache| cache.memory().mark_start_up(&key_of(key)?, marked != 0)) }
}

/// Note that a shader has compiled, before any program of it is put. 65 536 shaders of which memory has no program are
/// remembered; with more, all of those are forgotten. Threads: shared.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_program_cache_shader_compiled(
    cache: *const hob_program_cache,
    shader: *const hob_fingerprint,
) -> hob_result {
    // SAFETY: the header's contract.
    unsafe { inspect(cache, |cache| cache.memory().shader_compiled(&key_of(shader)?)) }
}

/// `*out_is_known` gets 1 if the shader is known to compile, so that compiling it may be put off until a program of it is
/// missed; else 0. Threads: shared.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_program_cache_shader_status(
    cache: *const hob_program_cache,
    shader: *const hob_fingerprint,
    out_is_known: *mut u32,
) -> hob_result {
    // SAFETY: the header's contract.
    unsafe {
        inspect(cache, |cache| {
            let status = cache.memory().compile_status(&key_of(shader)?);
            Out::new(out_is_known, "out_is_known")?.write((status == Status::Succeeded) as u32);
            Ok(())
        })
    }
}

/// `*out_programs` gets the number of programs in memory that vouch for the shader. Threads: shared.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_program_cache_shader_programs(
    cache: *const hob_program_cache,
    shader: *const hob_fingerprint,
    out_programs: *mut u32,
) -> hob_result {
    // SAFETY: the header's contract.
    unsafe {
        inspect(cache, |cache| {
            let programs = cache.memory().programs_of_shader(&key_of(shader)?);
            Out::new(out_programs, "out_programs")?.write(programs);
            Ok(())
        })
    }
}

/// `*out_is_known` gets 1 if the program is in memory, so that it is known to link; else 0. It is not used by that, nor
/// looked for on the disk. Threads: shared.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_program_cache_program_status(
    cache: *const hob_program_cache,
    key: *const hob_fingerprint,
    out_is_known: *mut u32,
) -> hob_result {
    // SAFETY: the header's contract.
    unsafe {
        inspect(cache, |cache| {
            let status = cache.memory().link_status(&key_of(key)?);
            Out::new(out_is_known, "out_is_known")?.write((status == Status::Succeeded) as u32);
            Ok(())
        })
    }
}

/// Note that the driver is about to see the program of `key`, which need not have been put: to be ended by
/// hob_program_cache_use_end after the first frame drawn with it, since drivers compile late. A process that is gone before
/// that has died of it, and leaves a strike, even if it went by exit; hob_program_cache_destroy ends all uses, and nothing
/// is to blame. HOB_RESULT_UNSUPPORTED: the key is banned; build it from source, and neither use nor put its binary. One
/// small write to a file. The first use makes the file, and waits for other processes that are about to make or to count
/// theirs, a quarter of a second at most: one that is ended with HOB_USE_OUTCOME_UNUSED while a game loads spares a frame
/// that. Threads: shared.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_program_cache_use_begin(
    cache: *const hob_program_cache,
    key: *const hob_fingerprint,
    out_use: *mut hob_use,
) -> hob_result {
    // SAFETY: the header's contract.
    unsafe {
        inspect(cache, |cache| {
            let out = Out::new(out_use, "out_use")?;
            let key = key_of(key)?;
            let begun = cache.memory().use_begin(&key)?;
            let Id { index1, generation } = begun.ok_or_else(|| banned(cache.strikes(&key).0))?.0;
            out.write(hob_use { index1, generation });
            Ok(())
        })
    }
}

/// End a use with a hob_use_outcome: one small write to a file, and another where a strike is taken back. A rejected
/// program is removed; one that was put since the use began stays, unless memory had none then: that it is another cannot
/// be told in that case. HOB_RESULT_NOT_FOUND: the use has ended already, or is another cache's. Threads: shared.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_program_cache_use_end(
    cache: *const hob_program_cache,
    use_: hob_use,
    outcome: u32,
) -> hob_result {
    // SAFETY: the header's contract.
    unsafe {
        inspect(cache, |cache| {
            let verdict = match outcome {
                0 => Verdict::Accepted,
                1 => Verdict::Rejected,
                2 => Verdict::Unused,
                other => return Err(error!(InvalidArgument, "outcome {other} is none: pass a hob_use_outcome")),
            };
            let hob_use { index1, generation } = use_;
            cache.memory().use_end(UseToken(Id { index1, generation }), verdict)
        })
    }
}

/// `*out_strikes` gets the strikes of a key: use one that has any by itself. Threads: shared.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_program_cache_strikes(
    cache: *const hob_program_cache,
    key: *const hob_fingerprint,
    out_strikes: *mut u32,
) -> hob_result {
    // SAFETY: the header's contract.
    unsafe {
        inspect(cache, |cache| {
            let (strikes, _) = cache.strikes(&key_of(key)?);
            Out::new(out_strikes, "out_strikes")?.write(strikes);
            Ok(())
        })
    }
}

/// Lift the strikes of a key; NULL: of all keys, of all environments of the directory. Waits for a small file; with
/// HOB_PROGRAM_CACHE_READ_ONLY they are lifted for this cache alone. Threads: shared.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_program_cache_forgive(
    cache: *const hob_program_cache,
    key: *const hob_fingerprint,
) -> hob_result {
    // SAFETY: the header's contract.
    unsafe {
        inspect(cache, |cache| match key.is_null() {
            true => cache.forgive(None),
            false => cache.forgive(Some(&key_of(key)?)),
        })
    }
}

/// Do on this thread, and await where others do it, what is to be read and written: for loading screens and tests.
/// HOB_RESULT_BUSY when that was not done within `timeout_us` microseconds; a piece of work that this thread has begun by
/// then is ended first. Threads: shared.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_program_cache_wait_idle(cache: *const hob_program_cache, timeout_us: u64) -> hob_result {
    // SAFETY: the header's contract.
    unsafe {
        inspect(cache, |cache| match cache.disk().wait_idle(Duration::from_micros(timeout_us)) {
            true => Ok(()),
            false => Err(error!(Busy, "{} pieces of work are left: call again", cache.disk().progress().waiting)),
        })
    }
}

/// Write all that was put, which programs were used, and the start-up set, and wait until a loss of power cannot lose it,
/// for `timeout_us` microseconds at most but for a piece of work that this thread has begun by then. After it a process may
/// end by _exit if no use is open: one that is would count as a death. HOB_RESULT_BUSY when the time did not suffice,
/// HOB_RESULT_IO when something that was put since the last flush could not be written, told once. Threads: shared.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_program_cache_flush(cache: *const hob_program_cache, timeout_us: u64) -> hob_result {
    // SAFETY: the header's contract.
    unsafe { inspect(cache, |cache| cache.disk().flush(Duration::from_micros(timeout_us))) }
}

/// How far loading has come: of `*out_total` programs, 0 until the directory was opened, `*out_loaded` were looked at.
/// Threads: shared.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_program_cache_loading(
    cache: *const hob_program_cache,
    out_loaded: *mut u64,
    out_total: *mut u64,
) -> hob_result {
    // SAFETY: the header's contract.
    unsafe {
        inspect(cache, |cache| {
            let (loaded, total) = (Out::new(out_loaded, "out_loaded")?, Out::new(out_total, "out_total")?);
            let progress = cache.disk().progress();
            loaded.write(progress.loaded);
            total.write(progress.to_load);
            Ok(())
        })
    }
}

/// Why programs are not read, not written or not noted, as a sentence without a NUL; empty if nothing is wrong.
/// `*out_size` gets the bytes needed. With `buffer` NULL that is all; with `capacity` too small the result is
/// HOB_RESULT_BUFFER_TOO_SMALL and the buffer is left alone. Threads: shared.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_program_cache_trouble(
    cache: *const hob_program_cache,
    buffer: *mut c_char,
    capacity: usize,
    out_size: *mut usize,
) -> hob_result {
    // SAFETY: the header's contract.
    unsafe {
        inspect(cache, |cache| {
            let trouble = cache.trouble();
            give_text(buffer, capacity, out_size, trouble.as_str())
        })
    }
}

/// # Safety
/// As [`fill`].
pub unsafe fn give_text(buffer: *mut c_char, capacity: usize, out_size: *mut usize, text: &str) -> Result<()> {
    // SAFETY: by this function's contract.
    unsafe {
        fill(buffer, capacity, out_size, text.len(), |bytes| {
            bytes.copy_from_slice(text.as_bytes());
            Ok(text.len())
        })
    }
}
