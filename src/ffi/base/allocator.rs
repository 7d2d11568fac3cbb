//! The allocator hook: every allocation of the library goes through the host.
//!
//! The global allocator (`forwarding.rs`) forwards to the host's, or to the system's if there is no hook. The hook can
//! be exchanged only while the library holds no memory. So each block is freed by the allocator that allocated it.

use std::ffi::c_void;

use hobgoblin_macros::{entry, versioned};

#[cfg(feature = "host-allocator")]
use super::forwarding;
#[cfg(feature = "host-allocator")]
use super::handle;
use super::result::hob_result;
use crate::base::{Result, error};

type AllocateFn = extern "C" fn(user_data: *mut c_void, size: usize, alignment: usize) -> *mut c_void;
type FreeFn = extern "C" fn(user_data: *mut c_void, memory: *mut c_void, size: usize, alignment: usize);

// == Allocator ==

/// The host's allocator.
/// Only in builds with the feature `host-allocator`, which packaged builds have.
#[versioned(size = 32, last = free)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_allocator_hook {
    /// sizeof(hob_allocator_hook).
    pub struct_size: u32,
    /// Must be 0.
    pub reserved: u32,
    /// Passed to `allocate` and `free`.
    pub user_data: *mut c_void,
    /// Returns `size` bytes (never 0), at a multiple of `alignment`, a power of two. NULL: out of memory; the call that
    /// needed it returns HOB_RESULT_OUT_OF_MEMORY. Runs on any thread that runs library code, perhaps on several at
    /// once; must not call the library.
    pub allocate: Option<extern "C" fn(user_data: *mut c_void, size: usize, alignment: usize) -> *mut c_void>,
    /// Takes back memory of `allocate`, with the same size and alignment.
    pub free: Option<extern "C" fn(user_data: *mut c_void, memory: *mut c_void, size: usize, alignment: usize)>,
}

/// Sets the allocator; NULL: the system's.
/// The struct is copied; both functions must be set. HOB_RESULT_BUSY while the library holds any memory: destroy all
/// handles, release all blobs, and let posted tasks run first. HOB_RESULT_UNSUPPORTED in a build without the feature
/// `host-allocator`. Threads: while no other call runs.
#[entry(any, nullable(hook))]
pub extern "C" fn hob_set_allocator_hook(hook: *const hob_allocator_hook) -> hob_result {
    let Some(hook) = hook else { return set(None, std::ptr::null_mut()) };
    match hook.allocate.zip(hook.free) {
        Some(functions) => set(Some(functions), hook.user_data),
        None => Err(error!(InvalidArgument, "the allocator hook needs both allocate and free")),
    }
}

#[cfg(feature = "host-allocator")]
fn set(functions: Option<(AllocateFn, FreeFn)>, user_data: *mut c_void) -> Result<()> {
    match forwarding::live_bytes() {
        0 => {
            forwarding::set(functions, user_data);
            Ok(())
        }
        bytes => Err(error!(
            Busy,
            "the library holds {bytes} bytes ({} live handles): destroy all handles, release all blobs and let posted \
             tasks run, then set the allocator",
            handle::live()
        )),
    }
}

#[cfg(not(feature = "host-allocator"))]
fn set(_: Option<(AllocateFn, FreeFn)>, _: *mut c_void) -> Result<()> {
    Err(error!(Unsupported, "this build has no host allocator: build hobgoblin with the feature `host-allocator`"))
}
