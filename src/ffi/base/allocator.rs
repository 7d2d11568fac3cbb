//! The allocator hook: every allocation of the library goes through the host.
//!
//! A global allocator that forwards to the host's, or to the system's when there is none. The hook can be exchanged
//! only while no handle lives: then nothing of ours is allocated, so nothing is ever freed by another allocator than it
//! came from.

use std::ffi::c_void;

use hobgoblin_macros::{entry, versioned};

use super::handle;
use super::result::hob_result;
use crate::base::{Result, error};

// == Allocator ==

/// The host's allocator. Only in builds with the feature `host-allocator`, which packaged builds have.
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
    /// needed it returns HOB_RESULT_OUT_OF_MEMORY. Runs on any thread that calls the library; must not call the library.
    pub allocate: Option<extern "C" fn(user_data: *mut c_void, size: usize, alignment: usize) -> *mut c_void>,
    /// Takes back memory of `allocate`, with the same size and alignment.
    pub free: Option<extern "C" fn(user_data: *mut c_void, memory: *mut c_void, size: usize, alignment: usize)>,
}

/// Sets the allocator; NULL: the system's. The struct is copied; both functions must be set.
/// HOB_RESULT_BUSY while anything of the library is alive: memory must be freed by the allocator that it came from.
/// HOB_RESULT_UNSUPPORTED in a build without the feature `host-allocator`.
/// Threads: while no other call runs.
#[entry(any, nullable(hook))]
pub extern "C" fn hob_set_allocator_hook(hook: *const hob_allocator_hook) -> hob_result {
    if hook.is_some_and(|hook| hook.allocate.is_none() || hook.free.is_none()) {
        return Err(error!(InvalidArgument, "the allocator hook needs both allocate and free"));
    }
    let alive = handle::live();
    if alive > 0 {
        return Err(error!(Busy, "{alive} handles are alive: set the allocator before the first, or destroy them"));
    }
    set(hook)
}

#[cfg(not(feature = "host-allocator"))]
fn set(_: Option<hob_allocator_hook>) -> Result<()> {
    Err(error!(Unsupported, "this build has no host allocator: build hobgoblin with the feature `host-allocator`"))
}

#[cfg(feature = "host-allocator")]
fn set(hook: Option<hob_allocator_hook>) -> Result<()> {
    forwarding::set(hook.as_ref());
    Ok(())
}

#[cfg(feature = "host-allocator")]
mod forwarding {
    use std::alloc::{GlobalAlloc, Layout, System};
    use std::ffi::c_void;
    use std::ptr;
    use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

    use super::super::guard::call_host;
    use super::hob_allocator_hook;

    type AllocateFn = extern "C" fn(user_data: *mut c_void, size: usize, alignment: usize) -> *mut c_void;
    type FreeFn = extern "C" fn(user_data: *mut c_void, memory: *mut c_void, size: usize, alignment: usize);

    // Three words, written only while nothing is allocated and no call of the library runs but the one that writes.
    static USER_DATA: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());
    static ALLOCATE: AtomicUsize = AtomicUsize::new(0);
    static FREE: AtomicUsize = AtomicUsize::new(0);

    /// Exchange the hook; no handle may live.
    pub fn set(hook: Option<&hob_allocator_hook>) {
        let (user_data, allocate, free) = match hook {
            Some(hook) => {
                (hook.user_data, hook.allocate.map_or(0, |f| f as usize), hook.free.map_or(0, |f| f as usize))
            }
            None => (ptr::null_mut(), 0, 0),
        };
        USER_DATA.store(user_data, Ordering::SeqCst);
        FREE.store(free, Ordering::SeqCst);
        ALLOCATE.store(allocate, Ordering::SeqCst);
    }

    struct HostAllocator;

    #[global_allocator]
    static GLOBAL: HostAllocator = HostAllocator;

    // SAFETY: forwards to the system's allocator or to the host's, whose contract in the header is that of `GlobalAlloc`:
    // memory of at least that size and alignment or NULL, without unwinding.
    unsafe impl GlobalAlloc for HostAllocator {
        // Inlined wherever something is allocated or dropped, the two would be a tenth of the library.
        #[inline(never)]
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            let allocate = ALLOCATE.load(Ordering::Acquire);
            if allocate == 0 {
                // SAFETY: by the caller's contract.
                return unsafe { System.alloc(layout) };
            }
            // SAFETY: only `set` stores here, and only functions of this type.
            let allocate = unsafe { std::mem::transmute::<usize, AllocateFn>(allocate) };
            call_host(|| allocate(USER_DATA.load(Ordering::Relaxed), layout.size(), layout.align())).cast()
        }

        #[inline(never)]
        unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
            let free = FREE.load(Ordering::Acquire);
            if free == 0 {
                // SAFETY: by the caller's contract; the hook has not changed since this was allocated.
                return unsafe { System.dealloc(memory, layout) };
            }
            // SAFETY: as above.
            let free = unsafe { std::mem::transmute::<usize, FreeFn>(free) };
            call_host(|| free(USER_DATA.load(Ordering::Relaxed), memory.cast(), layout.size(), layout.align()));
        }
    }
}
