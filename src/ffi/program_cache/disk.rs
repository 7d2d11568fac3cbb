//! Calls that wait for the disk, and the state of reading and writing.

use std::ffi::c_char;
use std::time::Duration;

use hobgoblin_macros::entry;

use super::cache::hob_program_cache;
use super::frame::{EmptyBlob, hob_blob, missed};
use crate::base::error;
use crate::ffi::base::result::hob_result;
use crate::ffi::fingerprint::bytes::hob_fingerprint;

// == Disk ==
//
// Timeouts are in microseconds. 0: do no work and do not wait. UINT64_MAX: no limit. A timeout is checked between
// pieces of work, such as one batch of programs or opening a directory. The piece that a call has begun is always
// finished.

/// Gets a program, and waits up to `timeout_us` microseconds for the disk.
/// For loading screens. As hob_program_cache_get, but HOB_RESULT_NOT_FOUND means that the disk was searched, too, as
/// far as this cache knows its contents (hob_program_cache_desc.directory). HOB_RESULT_TIMEOUT: the time was too short.
/// Threads: shared.
#[entry(shared)]
pub extern "C" fn hob_program_cache_get_wait(
    cache: *const hob_program_cache,
    key: *const hob_fingerprint,
    timeout_us: u64,
    blob: *mut hob_blob,
) -> hob_result {
    // SAFETY: the header's contract.
    let place = unsafe { EmptyBlob::at(blob) }?;
    let found = cache.get_wait(&key.bytes, Duration::from_micros(timeout_us))?;
    place.fill(found.ok_or_else(|| missed(cache, &key.bytes))?);
    Ok(())
}

/// Reads and writes on this thread until no work waits, or for `timeout_us` microseconds.
/// For loading screens and tests. Waits for work that other threads do. HOB_RESULT_TIMEOUT: some work still waits.
/// Threads: shared.
#[entry(shared)]
pub extern "C" fn hob_program_cache_wait_idle(cache: *const hob_program_cache, timeout_us: u64) -> hob_result {
    if cache.disk().wait_idle(Duration::from_micros(timeout_us)) {
        return Ok(());
    }
    Err(error!(
        Timeout,
        "timed out with {} pieces of work queued: call again, or pass a longer timeout",
        cache.disk().progress().waiting
    ))
}

/// Writes all programs that wait, their times of use and the start-up set, so that a loss of power cannot lose them.
/// Waits for `timeout_us` microseconds at most. After it a process without open uses may end by _exit; an open use
/// would add a strike. HOB_RESULT_TIMEOUT: the time was too short. HOB_RESULT_IO: a program that was put since the last
/// flush could not be written; reported once. Threads: shared.
#[entry(shared)]
pub extern "C" fn hob_program_cache_flush(cache: *const hob_program_cache, timeout_us: u64) -> hob_result {
    cache.disk().flush(Duration::from_micros(timeout_us))
}

/// Gets the progress of loading: `*out_done` of `*out_total` programs are done.
/// `*out_total` is 0 until the directory is open. Threads: shared.
#[entry(shared)]
pub extern "C" fn hob_program_cache_get_loading_progress(
    cache: *const hob_program_cache,
    out_done: *mut u64,
    out_total: *mut u64,
) -> hob_result {
    let progress = cache.disk().progress();
    out_done.write(progress.preload_done);
    out_total.write(progress.preload_total);
    Ok(())
}

/// Writes the present error of reading or writing as a sentence without a NUL; empty: no error.
/// `*out_size` receives the required size. `buffer` NULL asks only for that. If `capacity` is too small, the result is
/// HOB_RESULT_BUFFER_TOO_SMALL and the buffer stays unchanged. Threads: shared.
#[entry(shared)]
pub extern "C" fn hob_program_cache_get_problem(
    cache: *const hob_program_cache,
    buffer: *mut c_char,
    capacity: usize,
    out_size: *mut usize,
) -> hob_result {
    buffer.text(cache.trouble().as_str())
}
