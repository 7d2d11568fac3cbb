//! Modes, masks, and files.

use std::ffi::{c_char, c_void};

use hobgoblin_macros::entry;

use super::describe::hob_pipeline_mask;
use super::library::{hob_pipeline_library, hob_pipeline_mode, mode};
use crate::base::error;
use crate::ffi::base::out::write_if;
use crate::ffi::base::result::hob_result;
use crate::ffi::base::text::hob_str;
use crate::ffi::fingerprint::bytes::hob_fingerprint;
use crate::ffi::store::path::path;
use crate::fingerprint::Fingerprint;
use crate::pipeline::Mask;
use crate::pipeline::precompile::CurrentMasks;

// == Experimental: Control ==

/// Opens a cache that ships with the game, and queues the pipelines that the masks select.
/// Waits for the file. Several caches may be opened. `out_count`, which may be NULL, receives the number of pipelines.
/// Damaged pipelines are skipped; a log line counts them. HOB_RESULT_UNSUPPORTED: it is for another project, format or
/// API, has other mask dimensions, or is another kind of file. HOB_RESULT_IO: it cannot be read. Threads: shared.
#[entry(shared, nullable(out_count), experimental)]
pub extern "C" fn hob_pipeline_library_open_cache(
    library: *const hob_pipeline_library,
    path: hob_str,
    out_count: *mut u64,
) -> hob_result {
    let path =
        self::path(path, "path")?.ok_or_else(|| error!(InvalidArgument, "path is empty: name the cache's file"))?;
    let opened = library.0.as_ref().map(|library| library.open_cache(&path)).transpose()?;
    write_if(out_count, opened.map_or(0, |scan| scan.entries));
    Ok(())
}

/// Opens a cache in memory, such as a file of an archive.
/// As hob_pipeline_library_open_cache; `out_count` may be NULL. The bytes are not needed afterwards. Threads: shared.
#[entry(shared, nullable(out_count), experimental)]
pub extern "C" fn hob_pipeline_library_open_cache_bytes(
    library: *const hob_pipeline_library,
    data: *const c_void,
    size: usize,
    out_count: *mut u64,
) -> hob_result {
    let opened = library.0.as_ref().map(|library| library.open_cache_bytes(data)).transpose()?;
    write_if(out_count, opened.map_or(0, |scan| scan.entries));
    Ok(())
}

/// Changes the mode.
/// Compiles that are running go on. Threads: shared.
#[entry(shared, experimental)]
pub extern "C" fn hob_pipeline_library_set_mode(
    library: *const hob_pipeline_library,
    mode: hob_pipeline_mode,
) -> hob_result {
    let mode = self::mode(mode)?;
    if let Some(library) = &library.0 {
        library.precompiler().set_mode(mode);
    }
    Ok(())
}

/// Gets the mode.
/// Threads: shared.
#[entry(shared, experimental)]
pub extern "C" fn hob_pipeline_library_get_mode(library: *const hob_pipeline_library) -> hob_pipeline_mode {
    let mode = library.0.as_ref().map(|library| library.precompiler().mode() as u32);
    Ok(hob_pipeline_mode(mode.unwrap_or(hob_pipeline_mode::Paused.0)))
}

/// Changes the current mask and the precompile mask, and selects again which pipelines are compiled ahead.
/// Compiles that are running go on, and pipelines that are ready stay ready. Calls hob_pipeline_library_desc.compare
/// for each distinct mask.
///
/// `precompile_mask`, which may be NULL for no bits, matters in HOB_PIPELINE_MODE_PRECOMPILE only: it selects the
/// pipelines that are compiled fast. No bits select all pipelines. HOB_RESULT_INVALID_ARGUMENT: a mask has bits beyond
/// the dimensions. After an error the masks are as before. Threads: shared.
#[entry(shared, nullable(precompile_mask), experimental)]
pub extern "C" fn hob_pipeline_library_set_masks(
    library: *const hob_pipeline_library,
    mask: *const hob_pipeline_mask,
    precompile_mask: *const hob_pipeline_mask,
) -> hob_result {
    let Some(library) = &library.0 else { return Ok(()) };
    let precompile = precompile_mask.map_or(Mask::NONE, |mask| Mask(mask.words));
    library.set_masks(CurrentMasks { regular: Mask(mask.words), precompile })
}

/// Gets the number of selected or requested pipelines that are not compiled yet, for a progress bar.
/// Threads: shared.
#[entry(shared, experimental)]
pub extern "C" fn hob_pipeline_library_get_remaining(
    library: *const hob_pipeline_library,
    out_remaining: *mut u32,
) -> hob_result {
    let remaining = library.0.as_ref().map_or(0, |library| library.precompiler().counts().remaining());
    out_remaining.write(u32::try_from(remaining).unwrap_or(u32::MAX));
    Ok(())
}

/// Gets the number of pipelines that are not compiled yet and that a mask selects, or would, as the current one.
/// For the progress bar of one level, or to know what a change of the mask will cost. Calls
/// hob_pipeline_library_desc.compare for each distinct mask. HOB_RESULT_INVALID_ARGUMENT: the mask has bits beyond the
/// dimensions. Threads: shared.
#[entry(shared, experimental)]
pub extern "C" fn hob_pipeline_library_get_remaining_of(
    library: *const hob_pipeline_library,
    mask: *const hob_pipeline_mask,
    out_remaining: *mut u32,
) -> hob_result {
    let mask = Mask(mask.words);
    let remaining = library.0.as_ref().map_or(Ok(0), |library| library.remaining_of(mask))?;
    out_remaining.write(u32::try_from(remaining).unwrap_or(u32::MAX));
    Ok(())
}

/// Compiles a pipeline again that is ready, failed or banned.
/// A ban is lifted, and its strikes are forgotten; with HOB_PIPELINE_READ_ONLY for this run only. `out_count`, which
/// may be NULL, receives the number of pipelines: 0 if there is no such pipeline.
///
/// `key` NULL: all that are ready, for instance after the device was lost. Failed and banned ones stay so. They wait as
/// if the caches had just been opened, and their next use requests them again.
///
/// A compile that is running is not affected: on a lost device, return HOB_PIPELINE_BUILT_CANCELLED from it.
///
/// HOB_RESULT_IO: the strikes of a pipeline cannot be removed from the directory. Then nothing changes. Threads:
/// shared.
#[entry(shared, nullable(key, out_count), experimental)]
pub extern "C" fn hob_pipeline_library_forget(
    library: *const hob_pipeline_library,
    key: *const hob_fingerprint,
    out_count: *mut u64,
) -> hob_result {
    let key = key.map(|key| Fingerprint(key.bytes));
    let count = library.0.as_ref().map_or(Ok(0), |library| library.forget(key.as_ref()))?;
    write_if(out_count, count);
    Ok(())
}

/// Writes the pipelines that wait to be kept, and their uses, on this thread, and waits for the disk.
/// HOB_RESULT_IO: they cannot be written, or the directory cannot be used at all; they still wait.
/// HOB_RESULT_LIMIT_EXCEEDED: some pipelines of this run are not kept, because `disk_limit` or the disk is too small.
/// Each is reported once. Threads: shared.
#[entry(shared, experimental)]
pub extern "C" fn hob_pipeline_library_flush(library: *const hob_pipeline_library) -> hob_result {
    library.0.as_ref().map_or(Ok(()), |library| library.flush())
}

/// Gets why pipelines are not kept, bans not remembered, or those of the last start not used: a text without a NUL.
/// `*out_size` receives the required size: 0 if there is no problem. `buffer` NULL asks only for that. If `capacity` is
/// too small, the result is HOB_RESULT_BUFFER_TOO_SMALL and the buffer stays unchanged. Threads: shared.
#[entry(shared, experimental)]
pub extern "C" fn hob_pipeline_library_get_problem(
    library: *const hob_pipeline_library,
    buffer: *mut c_char,
    capacity: usize,
    out_size: *mut usize,
) -> hob_result {
    let problem = library.0.as_ref().and_then(|library| library.problem()).unwrap_or_default();
    buffer.text(problem.as_str())
}
