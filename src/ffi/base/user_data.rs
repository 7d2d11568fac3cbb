//! A host's pointer that comes with callbacks, and the callback that takes it back.

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};

use super::guard::call_host;

/// `release` of C: called exactly once, when the library needs `user_data` no more.
pub type Release = Option<extern "C" fn(user_data: *mut c_void)>;

/// A host's pointer. Released when dropped, once it is owned: what fails before that leaves it to the caller.
pub struct UserData {
    data: *mut c_void,
    release: Release,
    is_owned: AtomicBool,
}

// SAFETY: the headers say on which threads callbacks run; the host makes the data fit for them.
unsafe impl Send for UserData {}
// SAFETY: as above.
unsafe impl Sync for UserData {}

impl UserData {
    /// Not owned yet.
    pub fn new(data: *mut c_void, release: Release) -> Self {
        Self { data, release, is_owned: AtomicBool::new(false) }
    }

    /// Owned from the start.
    pub fn owned(data: *mut c_void, release: Release) -> Self {
        Self { data, release, is_owned: AtomicBool::new(true) }
    }

    /// Ours from here on: nothing can fail any more.
    pub fn own(&self) {
        self.is_owned.store(true, Ordering::Relaxed);
    }

    /// What callbacks are given.
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
