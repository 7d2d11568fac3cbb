//! The calls of a frame.

use std::time::Duration;

use hobgoblin_macros::{entry, open_enum};

use super::describe::{hob_pipeline_desc, with_description};
use super::library::hob_pipeline_library;
use crate::ffi::base::guard::thread_number;
use crate::ffi::base::out::write_if;
use crate::ffi::base::result::hob_result;
use crate::ffi::fingerprint::bytes::hob_fingerprint;
use crate::fingerprint::Fingerprint;
use crate::pipeline::precompile::State;

// == Experimental: The frame ==

/// The state of a pipeline.
#[open_enum]
#[repr(C)]
pub enum hob_pipeline_state {
    /// No cache has it: build it, and pass it to hob_pipeline_library_add.
    Unknown = 0,
    /// No current mask selects it.
    Unselected = 1,
    /// It waits to be compiled.
    Queued = 2,
    /// It is being compiled.
    Running = 3,
    /// It can be drawn with.
    Ready = 4,
    /// The driver refused it. It is not compiled again.
    Failed = 5,
    /// It ended the process too often. It is not compiled: do not build it yourself either.
    Banned = 6,
}

impl From<State> for hob_pipeline_state {
    fn from(state: State) -> Self {
        Self(state as u32)
    }
}

/// Begins a frame: allows the next batch of compiles.
/// `budget_us` is the time that they may take in this frame on all threads together, in microseconds: for instance a
/// burden that a hob_goblin chose. UINT64_MAX: the limit of the mode. 0: only pipelines that are needed now are
/// compiled. A build cannot be interrupted: one that takes longer is paid back by later frames.
///
/// Waits for nothing. Allocates only to post a task to the background when there is work. Threads: shared.
#[entry(shared, hot, experimental)]
pub extern "C" fn hob_pipeline_library_begin_frame(library: *const hob_pipeline_library, budget_us: u64) -> hob_result {
    if let Some(library) = &library.0 {
        library.begin_frame((budget_us < u64::MAX).then_some(budget_us));
    }
    Ok(())
}

/// Uses a pipeline in this frame, and returns its state.
/// Only HOB_PIPELINE_STATE_READY can be drawn with. A pipeline that is not ready is compiled before all others, in
/// every mode. One look-up. The first use of a pipeline may also take a lock and allocate. No use waits for a file.
/// Returns HOB_PIPELINE_STATE_UNKNOWN after a failure, such as a NULL key.
///
///     if (hob_pipeline_library_use(library, &key) == HOB_PIPELINE_STATE_READY) draw(&key);
///
/// Threads: shared.
#[entry(shared, hot, experimental)]
pub extern "C" fn hob_pipeline_library_use(
    library: *const hob_pipeline_library,
    key: *const hob_fingerprint,
) -> hob_pipeline_state {
    let key = Fingerprint(key.bytes);
    Ok(library.0.as_ref().map_or(State::Unknown, |library| library.use_on(thread_number(), &key)).into())
}

/// Adds a pipeline that the host has built itself, because it was not ready.
/// It is ready from now on, counts as used in this frame with the current mask, and is kept for the next start.
/// `build_us` is the time of the build in microseconds, or 0. `out_key`, which may be NULL, receives the key.
///
/// A banned pipeline is ready in this run only: a log line says so, and the next start bans it again, unless
/// hob_pipeline_library_forget lifts the ban. Errors as for hob_pipeline_get_key. Threads: shared.
#[entry(shared, nullable(out_key), experimental)]
pub extern "C" fn hob_pipeline_library_add(
    library: *const hob_pipeline_library,
    pipeline: *const hob_pipeline_desc,
    build_us: u64,
    out_key: *mut hob_fingerprint,
) -> hob_result {
    let add = |description: crate::pipeline::DescriptionRef<'_>| match &library.0 {
        Some(library) => library.add(description, build_us),
        None => Ok(description.key()),
    };
    // SAFETY: the header's contract for the pointers of the desc.
    let key = unsafe { with_description(&pipeline, add) }?;
    write_if(out_key, key.into());
    Ok(())
}

/// Compiles pipelines on this thread, until none may be compiled now or `timeout_us` microseconds are over.
/// For loading screens, and for worker threads of the host: several may call it at once. A build is not interrupted.
/// `out_count`, which may be NULL, receives the number of pipelines. hob_pipeline_library_begin_frame allows batches.
/// Threads: shared.
#[entry(shared, nullable(out_count), experimental)]
pub extern "C" fn hob_pipeline_library_compile(
    library: *const hob_pipeline_library,
    timeout_us: u64,
    out_count: *mut u32,
) -> hob_result {
    let timeout = if timeout_us == u64::MAX { Duration::MAX } else { Duration::from_micros(timeout_us) };
    let count = library.0.as_ref().map_or(0, |library| library.compile_for(timeout));
    write_if(out_count, u32::try_from(count).unwrap_or(u32::MAX));
    Ok(())
}

/// Waits up to `timeout_us` microseconds until a pipeline has a final state, and returns its state then.
/// This thread compiles it, unless another one does already; that takes as long as the build. With
/// hob_pipeline_library_request other threads compile it. If the host cancels the compile, or inside a compile, the
/// state is returned at once. HOB_PIPELINE_STATE_UNKNOWN: no cache has it. Threads: shared.
#[entry(shared, experimental)]
pub extern "C" fn hob_pipeline_library_wait(
    library: *const hob_pipeline_library,
    key: *const hob_fingerprint,
    timeout_us: u64,
) -> hob_pipeline_state {
    let timeout = if timeout_us == u64::MAX { Duration::MAX } else { Duration::from_micros(timeout_us) };
    let key = Fingerprint(key.bytes);
    Ok(library.0.as_ref().map_or(State::Unknown, |library| library.wait(&key, timeout)).into())
}

/// Requests a pipeline, and waits up to `timeout_us` microseconds for other threads that compile it.
/// It is compiled before all that is not needed now, in every mode, also if no mask selects it. Returns its state after
/// the wait.
///
/// The wait also ends, with any timeout, if the host cancels the compile or forgets the pipeline. `timeout_us` 0, or a
/// call inside a compile: the state is returned at once. Without an executor or threads
/// in hob_pipeline_library_compile nobody compiles it. Does not count as a use. Threads: shared.
#[entry(shared, experimental)]
#[must_use]
pub extern "C" fn hob_pipeline_library_request(
    library: *const hob_pipeline_library,
    key: *const hob_fingerprint,
    timeout_us: u64,
) -> hob_pipeline_state {
    let timeout = if timeout_us == u64::MAX { Duration::MAX } else { Duration::from_micros(timeout_us) };
    let key = Fingerprint(key.bytes);
    Ok(library.0.as_ref().map_or(State::Unknown, |library| library.request(&key, timeout)).into())
}

/// Gets the state of a pipeline, without a use.
/// Threads: shared.
#[entry(shared, hot, experimental)]
pub extern "C" fn hob_pipeline_library_get_state(
    library: *const hob_pipeline_library,
    key: *const hob_fingerprint,
) -> hob_pipeline_state {
    let key = Fingerprint(key.bytes);
    Ok(library.0.as_ref().map_or(State::Unknown, |library| library.state(&key)).into())
}
