//! Every allocation of the library, through the host.
//!
//! A global allocator that forwards to the host's, or to the system's when there is none. The hook can be exchanged
//! only while no handle lives: then nothing of ours is allocated, so nothing is ever freed by another allocator than it
//! came from.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use super::base::hob_allocator_hook;
use super::guard::call_host;

type AllocateFn = extern "C" fn(user_data: *mut c_void, size: usize, alignment: usize) -> *mut c_void;
type FreeFn = extern "C" fn(user_data: *mut c_void, memory: *mut c_void, size: usize, alignment: usize);

// Three words, written only while nothing is allocated and no call of the library runs but the one that writes.
static USER_DATA: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());
static ALLOCATE: AtomicUsize = AtomicUsize::new(0);
static FREE: AtomicUsize = AtomicUsize::new(0);

/// Exchange the hook; no handle may live.
pub fn set(hook: Option<&hob_allocator_hook>) {
    let (user_data, allocate, free) = match hook {
        Some(hook) => (hook.user_data, hook.allocate.map_or(0, |f| f as usize), hook.free.map_or(0, |f| f as usize)),
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
