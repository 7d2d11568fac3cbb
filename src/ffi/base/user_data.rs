//! A host's pointer for callbacks, and the callback that releases it.

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};

use super::guard::call_host;

/// `release` of C: called exactly once, when the library no longer needs `user_data`.
pub type Release = Option<extern "C" fn(user_data: *mut c_void)>;

/// A host's pointer. Drop releases it if it is owned. If a call fails before it takes ownership, the caller keeps the
/// pointer.
pub struct UserData {
    data: *mut c_void,
    release: Release,
    is_owned: AtomicBool,
}

// SAFETY: the headers document the threads of callbacks. The host must provide data that these threads may use.
unsafe impl Send for UserData {}
// SAFETY: as above.
unsafe impl Sync for UserData {}

impl UserData {
    /// A pointer that is not owned yet.
    pub fn new(data: *mut c_void, release: Release) -> Self {
        Self { data, release, is_owned: AtomicBool::new(false) }
    }

    /// A pointer that is owned from the start.
    pub fn owned(data: *mut c_void, release: Release) -> Self {
        Self { data, release, is_owned: AtomicBool::new(true) }
    }

    /// Takes ownership. Call it when nothing can fail any more.
    pub fn own(&self) {
        self.is_owned.store(true, Ordering::Relaxed);
    }

    /// The pointer, for callbacks.
    pub fn get(&self) -> *mut c_void {
        self.data
    }
}

impl Drop for UserData {
    fn drop(&mut self) {
        if let Some(release) = self.release
            && self.is_owned.load(Ordering::Relaxed)
        {
            call_host(|| release(self.data));
        }
    }
}
