//! Blobs under the keys of a renderer: the implementation of the functions for Dawn and EGL.
//!
//! These renderers store bytes under a key of bytes. They give no format and no cost, and report no begin or end of a
//! use. A blob is a program without these, under the hash of its key.
//!
//! A renderer gets the size first, allocates a buffer, and loads in a second call. Older releases of Dawn ignore the
//! second result and use any content of the buffer. Therefore the cache keeps the measured value for the calling
//! thread. If it had to drop the value, the buffer is zeroed. Mesa allocates a buffer beforehand, and treats every
//! result but 0 as copied bytes. So a value that does not fit is a miss.

use std::ffi::c_void;
use std::sync::{PoisonError, RwLock};

use crate::base::Result;
use crate::ffi::base::guard::thread_token;
use crate::fingerprint::Builder;
use crate::program_cache::{BlobCopy, Cache, Key, Program};

/// The cache behind hob_egl_blob_set and hob_egl_blob_get, which EGL calls without user data.
static BOUND: RwLock<Option<Cache>> = RwLock::new(None);

/// The bound cache.
pub fn bound() -> Option<Cache> {
    BOUND.read().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Binds a cache, or unbinds.
pub fn bind(cache: Option<Cache>) {
    let before = std::mem::replace(&mut *BOUND.write().unwrap_or_else(PoisonError::into_inner), cache);
    // Dropped after the lock is released.
    drop(before);
}

/// Unbinds a cache before it is destroyed.
pub fn unbind(cache: &Cache) {
    let mut bound = BOUND.write().unwrap_or_else(PoisonError::into_inner);
    let before = bound.take_if(|bound| bound.is(cache));
    // Dropped after the lock is released.
    drop(bound);
    drop(before);
}

fn key_of(key: &[u8]) -> Key {
    let mut name = Builder::new("hobgoblin blob 1");
    name.part(1, 0, key);
    name.finish().0
}

/// Stores a value under the hash of its key.
pub fn store(cache: &Cache, key: &[u8], value: &[u8]) -> Result<()> {
    cache.put(&key_of(key), &Program { data: value, ..Program::default() }).map(|_| ())
}

/// Loads a value and returns its size, or 0 if it is missing. With a NULL `value` or no room, only measures it.
/// Otherwise copies it, and returns 0 if it does not fit.
///
/// # Safety
/// `value` is NULL or `room` writable bytes.
pub unsafe fn load(cache: &Cache, key: &[u8], value: *mut c_void, room: usize) -> Result<usize> {
    let (thread, key) = (thread_token(), key_of(key));
    if value.is_null() || room == 0 {
        return Ok(cache.measure_blob(thread, &key));
    }
    match cache.copy_blob(thread, &key, room)? {
        BlobCopy::Found(blob) => {
            let data = blob.data();
            // SAFETY: there is room by this function's contract, and the caller's bytes are not the cache's.
            unsafe { std::ptr::copy_nonoverlapping(data.as_ptr(), value.cast(), data.len()) };
            Ok(data.len())
        }
        BlobCopy::Missing => Ok(0),
        BlobCopy::Dropped => {
            // SAFETY: `value` has `room` writable bytes by this function's contract.
            unsafe { std::ptr::write_bytes(value.cast::<u8>(), 0, room) };
            Ok(0)
        }
    }
}
