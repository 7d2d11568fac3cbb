//! Calls that wait for the disk, and the state of reading and writing.

use std::ffi::{c_char, c_void};
use std::time::Duration;

use hobgoblin_macros::{entry, versioned};

use super::cache::hob_program_cache;
use super::frame::{EmptyBlob, hob_blob, missed};
use crate::base::{Shared, Text, error};
use crate::ffi::base::guard::call_host;
use crate::ffi::base::result::hob_result;
use crate::ffi::base::text::hob_str;
use crate::ffi::base::user_data::UserData;
use crate::ffi::fingerprint::bytes::hob_fingerprint;

// == Disk ==
//
// Timeouts are in microseconds. 0: do no work and do not wait. UINT64_MAX: no limit. A timeout is checked between
// pieces of work. A piece is one program or a megabyte of programs, or one megabyte of a directory that is opened, or
// some thousand of its names. A piece of maintenance, or of making room for a program, copies eight megabytes, or one
// segment of at most 1/16 of the limit and 64 MiB. It waits for the disk some dozen times at most. Before a write the
// directory is listed to the end: 0.6 us for each of its files. On a full disk, a put deletes whole segments, and
// waits up to two seconds for another process that does so. The piece that a call has begun is always finished.

/// Gets a program, and waits up to `timeout_us` microseconds for the disk.
/// For loading screens. As hob_program_cache_get, but HOB_RESULT_NOT_FOUND means that the disk was searched, too. A
/// program that another process or cache wrote more than 100 ms ago is found. HOB_RESULT_TIMEOUT: the time was too
/// short. Threads: shared.
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
/// would add a strike. HOB_RESULT_TIMEOUT: the time was too short.
///
/// HOB_RESULT_IO: programs could not be written or removed. Each flush returns it until the problem is over. If it was
/// over already, but programs that were put since the last flush are lost, one flush returns it.
/// HOB_RESULT_OUT_OF_MEMORY: the same, for lack of memory. Threads: shared.
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

/// The host's observer of problems.
/// A problem keeps programs from being read, written or removed, such as a full disk or a damaged bundle. It is also
/// written to the log, at HOB_LOG_LEVEL_WARNING.
#[versioned(size = 32, last = release)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_problem_callback {
    /// sizeof(hob_problem_callback).
    pub struct_size: u32,
    /// Must be 0.
    pub reserved: u32,
    /// Passed to the callbacks.
    pub user_data: *mut c_void,
    /// Receives each new problem once, as hob_program_cache_get_problem returns it. Empty: the problem is over.
    /// `sentence.data` ends in NUL and is valid during the call. Runs on the thread that noticed the problem: in a
    /// background task, or inside a call of the cache. All functions of the cache may be called, except
    /// hob_program_cache_destroy. Must be set.
    pub report: Option<extern "C" fn(user_data: *mut c_void, sentence: hob_str)>,
    /// Called exactly once, when `user_data` is no longer needed, at the latest in hob_program_cache_destroy. May be
    /// NULL.
    pub release: Option<extern "C" fn(user_data: *mut c_void)>,
}

// SAFETY: the header says where the callbacks run; the host makes `user_data` fit for them.
unsafe impl Send for hob_problem_callback {}
// SAFETY: as above.
unsafe impl Sync for hob_problem_callback {}

/// Sets the observer of problems; `callback` NULL removes it.
/// The struct is copied. On success `user_data` is the library's: it is released when the observer is replaced or the
/// cache is destroyed, and `report` does not run. A problem that is present already is not reported: ask
/// hob_program_cache_get_problem. With an executor of HOB_BACKGROUND_PUMP or HOB_EXECUTOR_CALLING_THREAD_ONLY the
/// background reports in hob_executor_pump. Threads: shared.
#[entry(shared, nullable(callback))]
pub extern "C" fn hob_program_cache_set_problem_callback(
    cache: *const hob_program_cache,
    callback: *const hob_problem_callback,
) -> hob_result {
    let Some(callback) = callback else {
        cache.set_observer(None);
        return Ok(());
    };
    let Some(report) = callback.report else {
        return Err(error!(InvalidArgument, "hob_problem_callback: report must be set"));
    };
    let user_data = Shared::try_new(UserData::new(callback.user_data, callback.release))?;
    let owner = user_data.clone();
    let observer = move |sentence: &str| {
        // Ends in NUL.
        let line = Text::<240>::format(format_args!("{sentence}\0"));
        let sentence = hob_str { data: line.as_str().as_ptr().cast(), len: sentence.len() };
        call_host(|| report(owner.get(), sentence));
    };
    let observer = Shared::into_dyn::<dyn Fn(&str) + Send + Sync>(Shared::try_new(observer)?, |observer| observer);
    user_data.own();
    cache.set_observer(Some(observer));
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
