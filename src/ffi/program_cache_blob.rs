//! `program_cache.h`, for renderers that have a place for two functions: blobs by keys of their own making.
//!
//! Their callbacks say which bytes belong to which bytes and nothing else: no format, no cost, no use that begins or
//! ends. So what they keep is a program without all that, under the hash of their key.

use std::ffi::c_void;
use std::sync::{Arc, PoisonError, RwLock};

use super::base::hob_result;
use super::guard::{catch, guard};
use super::handle::shared;
use super::layout::bytes;
use super::program_cache::hob_program_cache;
use crate::base::Result;
use crate::fingerprint::Builder;
use crate::program_cache::{Key, Program, ProgramCache};

/// The cache behind hob_egl_blob_set and hob_egl_blob_get, whose callers have no user data to give.
static BOUND: RwLock<Option<Arc<ProgramCache>>> = RwLock::new(None);

fn bound() -> Option<Arc<ProgramCache>> {
    BOUND.read().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Let go of a cache that is about to be destroyed.
pub fn unbind(cache: &Arc<ProgramCache>) {
    let mut bound = BOUND.write().unwrap_or_else(PoisonError::into_inner);
    if bound.as_ref().is_some_and(|bound| Arc::ptr_eq(bound, cache)) {
        *bound = None;
    }
}

fn key_of(key: &[u8]) -> Key {
    let mut name = Builder::new("hobgoblin blob 1");
    name.part(1, 0, key);
    name.finish().0
}

fn store(cache: &ProgramCache, key: &[u8], value: &[u8]) -> Result<()> {
    cache.put(&key_of(key), &Program { data: value, ..Program::default() }).map(|_| ())
}

/// Copies the value if there is room for it; its size, 0 if there is none.
///
/// # Safety
/// `value` is NULL or `capacity` writable bytes.
unsafe fn load(cache: &ProgramCache, key: &[u8], value: *mut c_void, capacity: usize) -> usize {
    let Some(blob) = cache.get(&key_of(key)) else { return 0 };
    let size = blob.data().len();
    if size <= capacity && !value.is_null() {
        // SAFETY: there is room by this function's contract, and nobody's bytes are ours.
        unsafe { std::ptr::copy_nonoverlapping(blob.data().as_ptr(), value.cast(), size) };
    }
    size
}

/// Keep `value_size` bytes under a key of `key_size` bytes; for callbacks that store a blob, with the cache as user data.
/// What cannot be kept is dropped. Threads: shared.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_program_cache_store_blob(
    cache: *const hob_program_cache,
    key: *const c_void,
    key_size: usize,
    value: *const c_void,
    value_size: usize,
) {
    // SAFETY: the header's contract.
    let _ = unsafe {
        shared(cache, |cache| store(cache.memory(), bytes(key, key_size, "key")?, bytes(value, value_size, "value")?))
    };
}

/// The size of what is kept under a key, 0 if nothing is in memory; copied to `value` if `capacity` bytes suffice. For
/// callbacks that load a blob, with the cache as user data. Never waits for a file. Threads: shared.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_program_cache_load_blob(
    cache: *const hob_program_cache,
    key: *const c_void,
    key_size: usize,
    value: *mut c_void,
    capacity: usize,
) -> usize {
    // SAFETY: the header's contract.
    unsafe {
        shared(cache, |cache| Ok(load(cache.memory(), bytes(key, key_size, "key")?, value, capacity))).unwrap_or(0)
    }
}

/// Make `cache` the one behind hob_egl_blob_set and hob_egl_blob_get, for the whole process; NULL: none is. Destroying it
/// ends that. Give the two functions to eglSetBlobCacheFuncsANDROID; some drivers listen only once a context is current.
/// Threads: shared.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_program_cache_bind_egl(cache: *const hob_program_cache) -> hob_result {
    guard(|| {
        let chosen = match cache.is_null() {
            true => None,
            // SAFETY: the header's contract.
            false => Some(unsafe { shared(cache, |cache| Ok(cache.shared_memory())) }.map_err(|_| {
                crate::base::error!(InvalidArgument, "cache is no live hob_program_cache: pass one, or NULL for none")
            })?),
        };
        // What was bound goes when the lock is open again.
        let before = std::mem::replace(&mut *BOUND.write().unwrap_or_else(PoisonError::into_inner), chosen);
        drop(before);
        Ok(())
    })
}

/// An EGLSetBlobFuncANDROID: keep a blob in the bound cache. Threads: any.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_egl_blob_set(
    key: *const c_void,
    key_size: isize,
    value: *const c_void,
    value_size: isize,
) {
    let _ = catch(|| {
        let (Some(cache), Ok(key_size), Ok(value_size)) = (bound(), key_size.try_into(), value_size.try_into()) else {
            return Ok(());
        };
        // SAFETY: the header's contract.
        unsafe { store(&cache, bytes(key, key_size, "key")?, bytes(value, value_size, "value")?) }
    });
}

/// An EGLGetBlobFuncANDROID: the size of a blob in the bound cache, 0 if it has none; copied if there is room.
/// Threads: any.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_egl_blob_get(
    key: *const c_void,
    key_size: isize,
    value: *mut c_void,
    value_size: isize,
) -> isize {
    let found = catch(|| {
        let (Some(cache), Ok(key_size)) = (bound(), key_size.try_into()) else { return Ok(0) };
        // SAFETY: the header's contract.
        Ok(unsafe { load(&cache, bytes(key, key_size, "key")?, value, value_size.try_into().unwrap_or(0)) })
    });
    found.ok().and_then(|size| size.try_into().ok()).unwrap_or(0)
}
