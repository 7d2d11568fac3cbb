//! Functions with the signatures of other renderers' caches.

use std::ffi::c_void;

use hobgoblin_macros::entry;

use super::bound::{bind, bound, load, store};
use super::cache::hob_program_cache;
use super::frame::hob_use_outcome;
use crate::ffi::base::array::bytes;
use crate::ffi::base::handle::Handle;
use crate::ffi::base::result::hob_result;
use crate::program_cache::Cache;

// == Experimental: Dawn and EGL ==
//
// These functions have the signatures of Dawn's and EGL's cache functions, so a renderer can be given a
// hob_program_cache directly. The renderer does not tell when a driver uses a blob, so blobs get no strikes and are
// never banned, unless hob_program_cache_track_blob_uses is on.

/// Stores a blob: a DawnStoreCacheDataFunction.
/// `cache` is a hob_program_cache, given as functionUserdata. A blob that cannot be stored is dropped. Threads: any.
#[entry(any, experimental)]
pub extern "C" fn hob_dawn_blob_store(
    key: *const c_void,
    key_size: usize,
    value: *const c_void,
    value_size: usize,
    cache: *mut c_void,
) {
    // SAFETY: the header's contract.
    let cache = unsafe { Handle::<hob_program_cache>::argument(cache.cast(), "cache") }?;
    cache.read(|cache| store(cache, key, value))
}

/// Loads a blob from memory: a DawnLoadCacheDataFunction.
/// Never waits for a file. Returns its size, or 0 if it is missing. With `value` NULL that is all, and the blob is kept
/// for this thread's next call. Otherwise the blob is copied; 0 means that it does not fit.
///
/// The blob that was kept is dropped if its key is stored or removed, by hob_program_cache_clear, and when memory is
/// trimmed. The next call then copies the new blob of that key if its size is `value_size`. Otherwise it fills `value`
/// with zeros and returns 0. `cache` is a hob_program_cache, given as functionUserdata. Threads: any.
#[entry(any, experimental)]
pub extern "C" fn hob_dawn_blob_load(
    key: *const c_void,
    key_size: usize,
    value: *mut c_void,
    value_size: usize,
    cache: *mut c_void,
) -> usize {
    // SAFETY: the header's contract.
    let cache = unsafe { Handle::<hob_program_cache>::argument(cache.cast(), "cache") }?;
    // SAFETY: `value` is NULL or has room for `value_size` bytes.
    cache.read(|cache| unsafe { load(cache, key, value, value_size) })
}

/// Binds a cache to hob_egl_blob_set and hob_egl_blob_get, for the whole process; NULL unbinds.
///
///     hob_program_cache_bind_egl(cache);
///     eglSetBlobCacheFuncsANDROID(display, hob_egl_blob_set, hob_egl_blob_get);
///
/// Some drivers use the functions only once a context is current. Destroying the cache unbinds it. Threads: shared.
#[entry(any, nullable(cache), experimental)]
pub extern "C" fn hob_program_cache_bind_egl(cache: *const hob_program_cache) -> hob_result {
    bind(match cache {
        Some(cache) => Some(cache.read(|cache| Ok(Cache::clone(cache)))?),
        None => None,
    });
    Ok(())
}

/// Stores a blob in the bound cache: an EGLSetBlobFuncANDROID.
/// As hob_dawn_blob_store. Threads: any.
#[entry(any, experimental)]
pub extern "C" fn hob_egl_blob_set(key: *const c_void, key_size: isize, value: *const c_void, value_size: isize) {
    let (Some(cache), Ok(key_size), Ok(value_size)) = (bound(), key_size.try_into(), value_size.try_into()) else {
        return Ok(());
    };
    // SAFETY: the header's contract.
    let (key, value) = unsafe { (bytes(key, key_size, "key")?, bytes(value, value_size, "value")?) };
    store(&cache, key, value)
}

/// Loads a blob from the bound cache: an EGLGetBlobFuncANDROID.
/// As hob_dawn_blob_load. For a blob that does not fit the extension returns its size, but this function returns 0.
/// Mesa passes a buffer of 64 KiB and takes any result but 0 for the number of bytes copied. Threads: any.
#[entry(any, experimental)]
pub extern "C" fn hob_egl_blob_get(
    key: *const c_void,
    key_size: isize,
    value: *mut c_void,
    value_size: isize,
) -> isize {
    let (Some(cache), Ok(key_size)) = (bound(), key_size.try_into()) else { return Ok(0) };
    // SAFETY: the header's contract.
    let size = unsafe { load(&cache, bytes(key, key_size, "key")?, value, value_size.try_into().unwrap_or(0))? };
    Ok(size.try_into().unwrap_or(0))
}

/// Turns uses of blobs on (`is_on` not 0) or off (the default).
/// On, each blob that hob_dawn_blob_load or hob_egl_blob_get copies begins a use: see "Use" at the top of this file. A
/// banned blob is a miss, so that its renderer builds it. Call hob_program_cache_end_blob_uses after each frame;
/// without it, a process that is killed gives all blobs that it has loaded a strike. At most 65536 uses are open; later
/// blobs begin none. Threads: shared.
#[entry(shared, experimental)]
pub extern "C" fn hob_program_cache_track_blob_uses(cache: *const hob_program_cache, is_on: u32) -> hob_result {
    cache.track_blob_uses(is_on != 0);
    Ok(())
}

/// Ends all uses that blobs have begun, on any thread.
/// Call it when a frame drawn with these blobs is finished, such as after eglSwapBuffers of the frame after.
/// HOB_USE_OUTCOME_REJECTED removes all of these blobs. Without an open use it does nothing. Returns the first failure.
/// Threads: shared.
#[entry(shared, experimental)]
pub extern "C" fn hob_program_cache_end_blob_uses(
    cache: *const hob_program_cache,
    outcome: hob_use_outcome,
) -> hob_result {
    cache.end_blob_uses(outcome.verdict()?)
}
