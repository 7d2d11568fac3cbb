//! Blobs under the keys of a renderer: the implementation of the functions for Dawn and EGL.
//!
//! These renderers store bytes under a key of bytes. They give no format and no cost, and report no begin or end of a
//! use. A blob is a program without these, under the hash of its key.
//!
//! A renderer gets the size first, allocates a buffer, and loads in a second call. Older releases of Dawn ignore the
//! second result and use any content of the buffer. Therefore the measured value is kept for the calling thread, so
//! that it is neither evicted nor replaced in between. Mesa allocates a buffer beforehand, and treats every result but
//! 0 as copied bytes. So a value that does not fit is a miss.

use std::ffi::c_void;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use crate::base::Result;
use crate::ffi::base::guard::thread_token;
use crate::fingerprint::Builder;
use crate::program_cache::{Blob, Key, Program, ProgramCache};

/// The cache behind hob_egl_blob_set and hob_egl_blob_get, which EGL calls without user data.
static BOUND: RwLock<Option<Arc<ProgramCache>>> = RwLock::new(None);

/// The bound cache.
pub fn bound() -> Option<Arc<ProgramCache>> {
    BOUND.read().unwrap_or_else(PoisonError::into_inner).clone()
}

/// The value that a thread has measured last.
struct Measured {
    thread: usize,
    cache: usize,
    blob: Blob,
}

/// Measured values, one for each thread. If there are more threads than places, the places are reused in turn.
struct MeasuredBlobs {
    values: [Option<Measured>; 32],
    turn: usize,
}

static MEASURED: Mutex<MeasuredBlobs> = Mutex::new(MeasuredBlobs { values: [const { None }; 32], turn: 0 });

fn measured_blobs() -> MutexGuard<'static, MeasuredBlobs> {
    MEASURED.lock().unwrap_or_else(PoisonError::into_inner)
}

// The callers drop the returned values after the lock is released.
impl MeasuredBlobs {
    fn put(&mut self, measured: Measured) -> Option<Measured> {
        let of_thread = |value: &Option<Measured>| value.as_ref().is_some_and(|value| value.thread == measured.thread);
        let place = self.values.iter().position(of_thread).or_else(|| self.values.iter().position(Option::is_none));
        let place = place.unwrap_or_else(|| {
            self.turn = (self.turn + 1) % self.values.len();
            self.turn
        });
        self.values[place].replace(measured)
    }

    fn take(&mut self, is_it: impl Fn(&Measured) -> bool) -> Option<Measured> {
        self.values.iter_mut().find(|value| value.as_ref().is_some_and(&is_it))?.take()
    }
}

/// Binds a cache, or unbinds.
pub fn bind(cache: Option<Arc<ProgramCache>>) {
    let before = std::mem::replace(&mut *BOUND.write().unwrap_or_else(PoisonError::into_inner), cache);
    // Dropped after the lock is released.
    drop(before);
}

fn id(cache: &ProgramCache) -> usize {
    std::ptr::from_ref(cache).addr()
}

/// Unbinds a cache before it is destroyed, and drops its measured values.
pub fn unbind(cache: &Arc<ProgramCache>) {
    let mut bound = BOUND.write().unwrap_or_else(PoisonError::into_inner);
    if bound.as_ref().is_some_and(|bound| Arc::ptr_eq(bound, cache)) {
        *bound = None;
    }
    drop(bound);
    let next = || measured_blobs().take(|measured| measured.cache == id(cache));
    while next().is_some() {}
}

fn key_of(key: &[u8]) -> Key {
    let mut name = Builder::new("hobgoblin blob 1");
    name.part(1, 0, key);
    name.finish().0
}

/// Stores a value under the hash of its key.
pub fn store(cache: &ProgramCache, key: &[u8], value: &[u8]) -> Result<()> {
    cache.put(&key_of(key), &Program { data: value, ..Program::default() }).map(|_| ())
}

/// Loads a value and returns its size, or 0 if it is missing. With a NULL `value` or no room, only measures it, and
/// keeps it for this thread. Otherwise copies it, and returns 0 if it does not fit.
///
/// # Safety
/// `value` is NULL or `room` writable bytes.
pub unsafe fn load(cache: &ProgramCache, key: &[u8], value: *mut c_void, room: usize) -> usize {
    let (thread, cache_id, key) = (thread_token(), id(cache), key_of(key));
    let measured = measured_blobs().take(|at| (at.thread, at.cache, at.blob.key()) == (thread, cache_id, &key));
    if value.is_null() || room == 0 {
        let Some(blob) = cache.get(&key) else { return 0 };
        let size = blob.data().len();
        let before = measured_blobs().put(Measured { thread, cache: cache_id, blob });
        drop(before);
        return size;
    }
    let Some(blob) = measured.map(|measured| measured.blob).or_else(|| cache.get(&key)) else { return 0 };
    let data = blob.data();
    if data.len() > room {
        return 0;
    }
    // SAFETY: there is room by this function's contract, and the caller's bytes are not the cache's.
    unsafe { std::ptr::copy_nonoverlapping(data.as_ptr(), value.cast(), data.len()) };
    data.len()
}
