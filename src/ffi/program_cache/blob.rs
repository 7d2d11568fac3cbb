//! `program_cache.h`, for renderers that have a place for two functions: blobs by keys of their own making.
//!
//! Their callbacks say which bytes belong to which bytes and nothing else: no format, no cost, no use that begins or
//! ends. So what they keep is a program without all that, under the hash of their key. The signatures are theirs, to the
//! order of the parameters, so that nothing has to be written in between.
//!
//! Who loads asks for the size first, makes room, and asks again. Older releases of Dawn do not look at the second answer
//! and take whatever is in their room for the value: what was measured is kept for the thread that asked, so that it can
//! be neither evicted nor replaced in between. Mesa on the other hand makes room beforehand and takes every size that is
//! not 0 for bytes that were copied: what does not fit is none.

use std::ffi::c_void;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use super::base::hob_result;
use super::guard::{catch, guard, thread_token};
use super::handle::shared;
use super::layout::bytes;
use super::program_cache::hob_program_cache;
use crate::base::Result;
use crate::fingerprint::Builder;
use crate::program_cache::{Blob, Key, Program, ProgramCache};

/// The cache behind hob_egl_blob_set and hob_egl_blob_get, whose callers have no user data to give.
static BOUND: RwLock<Option<Arc<ProgramCache>>> = RwLock::new(None);

fn bound() -> Option<Arc<ProgramCache>> {
    BOUND.read().unwrap_or_else(PoisonError::into_inner).clone()
}

/// The value whose size a thread has asked for last.
struct Measured {
    thread: usize,
    cache: usize,
    blob: Blob,
}

/// Where measured values wait, one for each thread; where there are more threads, one makes room in turn.
struct Waiting {
    values: [Option<Measured>; 32],
    turn: usize,
}

static WAITING: Mutex<Waiting> = Mutex::new(Waiting { values: [const { None }; 32], turn: 0 });

fn waiting() -> MutexGuard<'static, Waiting> {
    WAITING.lock().unwrap_or_else(PoisonError::into_inner)
}

// What these return is dropped by their callers, when the lock is open again.
impl Waiting {
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

fn id(cache: &ProgramCache) -> usize {
    std::ptr::from_ref(cache).addr()
}

/// Let go of a cache that is about to be destroyed.
pub fn unbind(cache: &Arc<ProgramCache>) {
    let mut bound = BOUND.write().unwrap_or_else(PoisonError::into_inner);
    if bound.as_ref().is_some_and(|bound| Arc::ptr_eq(bound, cache)) {
        *bound = None;
    }
    drop(bound);
    let next = || waiting().take(|measured| measured.cache == id(cache));
    while next().is_some() {}
}

fn key_of(key: &[u8]) -> Key {
    let mut name = Builder::new("hobgoblin blob 1");
    name.part(1, 0, key);
    name.finish().0
}

fn store(cache: &ProgramCache, key: &[u8], value: &[u8]) -> Result<()> {
    cache.put(&key_of(key), &Program { data: value, ..Program::default() }).map(|_| ())
}

/// The size of the value, 0 if there is none. With a NULL `value` or no room at all that is all, and the value waits for
/// this thread; otherwise it is copied, and one that does not fit is none.
///
/// # Safety
/// `value` is NULL or `room` writable bytes.
unsafe fn load(cache: &ProgramCache, key: &[u8], value: *mut c_void, room: usize) -> usize {
    let (thread, cache_id, key) = (thread_token(), id(cache), key_of(key));
    let measured = waiting().take(|at| (at.thread, at.cache, at.blob.key()) == (thread, cache_id, &key));
    if value.is_null() || room == 0 {
        let Some(blob) = cache.get(&key) else { return 0 };
        let size = blob.data().len();
        let before = waiting().put(Measured { thread, cache: cache_id, blob });
        drop(before);
        return size;
    }
    let Some(blob) = measured.map(|measured| measured.blob).or_else(|| cache.get(&key)) else { return 0 };
    let data = blob.data();
    if data.len() > room {
        return 0;
    }
    // SAFETY: there is room by this function's contract, and nobody's bytes are ours.
    unsafe { std::ptr::copy_nonoverlapping(data.as_ptr(), value.cast(), data.len()) };
    data.len()
}

/// A DawnStoreCacheDataFunction: keep `value_size` bytes under a key of `key_size` bytes. `cache` is a hob_program_cache,
/// to be given as functionUserdata. What cannot be kept is dropped. No use begins or ends: of what is kept here and by
/// hob_egl_blob_set nothing is ever banned, and a blob that takes the process down may do so again. Threads: any.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_dawn_blob_store(
    key: *const c_void,
    key_size: usize,
    value: *const c_void,
    value_size: usize,
    cache: *mut c_void,
) {
    // SAFETY: the header's contract.
    let _ = unsafe {
        shared(cache.cast::<hob_program_cache>(), |cache| {
            store(cache.memory(), bytes(key, key_size, "key")?, bytes(value, value_size, "value")?)
        })
    };
}

/// A DawnLoadCacheDataFunction: the size of what is in memory under a key, 0 if nothing is. With a NULL `value` that is
/// all, and this thread may count on it when it comes back with a `value`; then it is copied, and 0 means that it does not
/// fit. `cache` is a hob_program_cache, to be given as functionUserdata. Never waits for a file. Threads: any.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_dawn_blob_load(
    key: *const c_void,
    key_size: usize,
    value: *mut c_void,
    value_size: usize,
    cache: *mut c_void,
) -> usize {
    // SAFETY: the header's contract.
    unsafe {
        shared(cache.cast::<hob_program_cache>(), |cache| {
            Ok(load(cache.memory(), bytes(key, key_size, "key")?, value, value_size))
        })
        .unwrap_or(0)
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

/// An EGLSetBlobFuncANDROID: keep a blob in the bound cache; as hob_dawn_blob_store, and as little is it ever banned.
/// Threads: any.
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

/// An EGLGetBlobFuncANDROID: the size of a blob in the bound cache, 0 if it has none; as hob_dawn_blob_load. (The
/// extension would have the size of a blob that does not fit, too. Mesa makes room for 64 KiB and takes any answer but 0
/// for bytes that it has.) Threads: any.
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
