//! The host's function that receives a recording.

use std::ffi::c_void;

use super::guard::call_host;
use crate::base::recording::Sink;
use crate::base::{Result, error, try_box};

/// The type of such a function.
pub type Write = extern "C" fn(user_data: *mut c_void, data: *const c_void, size: usize);

struct Writer {
    user_data: *mut c_void,
    write: Write,
}

// SAFETY: by the headers, the host's data may be used on any thread that makes the call, and only one thread at a time
// writes what is recorded.
unsafe impl Send for Writer {}
// SAFETY: as above; a shared writer can do nothing.
unsafe impl Sync for Writer {}

impl Sink for Writer {
    fn write(&mut self, bytes: &[u8]) {
        call_host(|| (self.write)(self.user_data, bytes.as_ptr().cast(), bytes.len()));
    }
}

/// A sink that passes a recording to `write`.
pub fn writer(write: Option<Write>, user_data: *mut c_void) -> Result<Box<impl Sink>> {
    let write =
        write.ok_or_else(|| error!(InvalidArgument, "write is NULL: pass the function that receives the recording"))?;
    try_box(Writer { user_data, write })
}
