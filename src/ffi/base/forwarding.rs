//! Routes every allocation of the library through the host.
//!
//! The global allocator forwards to the host's, or to the system's if there is no hook. It counts the allocated bytes,
//! and the hook can be exchanged only if the count is 0. So each block is freed by the allocator that returned it. This
//! includes memory of handles, pinned blobs, posted tasks and background threads.
//!
//! The count costs 2 ns of the 12 to 30 ns that an allocation and its release take. A count per thread costs as much,
//! because the thread must be looked up. This also holds for two threads that only allocate.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use super::guard::call_host;
use super::reserve;

pub type AllocateFn = extern "C" fn(user_data: *mut c_void, size: usize, alignment: usize) -> *mut c_void;
pub type FreeFn = extern "C" fn(user_data: *mut c_void, memory: *mut c_void, size: usize, alignment: usize);

// Three words. They are written only while nothing is allocated and no other call of the library runs.
static USER_DATA: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());
static ALLOCATE: AtomicUsize = AtomicUsize::new(0);
static FREE: AtomicUsize = AtomicUsize::new(0);

/// Bytes that are allocated now. Relaxed is enough: `set` must not overlap another call, so the host has ordered all
/// earlier calls before it.
static LIVE_BYTES: AtomicUsize = AtomicUsize::new(0);

/// Bytes that the library has allocated and not freed.
pub fn live_bytes() -> usize {
    LIVE_BYTES.load(Ordering::Relaxed)
}

/// Exchanges the hook. [`live_bytes`] must be 0.
pub fn set(functions: Option<(AllocateFn, FreeFn)>, user_data: *mut c_void) {
    let (allocate, free) = functions.map_or((0, 0), |(allocate, free)| (allocate as usize, free as usize));
    USER_DATA.store(user_data, Ordering::SeqCst);
    FREE.store(free, Ordering::SeqCst);
    ALLOCATE.store(allocate, Ordering::SeqCst);
}

struct HostAllocator;

// The unit tests have an allocator of their own.
#[cfg_attr(not(test), global_allocator)]
static GLOBAL: HostAllocator = HostAllocator;

/// The host's functions, if there is a hook.
fn hook() -> Option<(AllocateFn, FreeFn)> {
    let allocate = ALLOCATE.load(Ordering::Acquire);
    // SAFETY: only `set` stores here: 0, or functions of these types, both before `allocate`.
    (allocate != 0).then(|| unsafe {
        (
            std::mem::transmute::<usize, AllocateFn>(allocate),
            std::mem::transmute::<usize, FreeFn>(FREE.load(Ordering::Relaxed)),
        )
    })
}

fn host_allocate(allocate: AllocateFn, size: usize, alignment: usize) -> *mut u8 {
    call_host(|| allocate(USER_DATA.load(Ordering::Relaxed), size, alignment)).cast()
}

/// Memory from the host or the system, or for a panic from the reserve.
///
/// # Safety
/// As for [`GlobalAlloc::alloc`].
unsafe fn take(layout: Layout) -> *mut u8 {
    let memory = match hook() {
        Some((allocate, _)) => host_allocate(allocate, layout.size(), layout.align()),
        // SAFETY: by this function's contract.
        None => unsafe { System.alloc(layout) },
    };
    if memory.is_null() { reserve::take(layout) } else { memory }
}

/// Gives memory back to where it is from.
///
/// # Safety
/// As for [`GlobalAlloc::dealloc`].
unsafe fn give_back(memory: *mut u8, layout: Layout) {
    if reserve::owns(memory) {
        return reserve::give_back(memory);
    }
    match hook() {
        Some((_, free)) => {
            call_host(|| free(USER_DATA.load(Ordering::Relaxed), memory.cast(), layout.size(), layout.align()));
        }
        // SAFETY: by this function's contract; the hook has not changed since this was allocated.
        None => unsafe { System.dealloc(memory, layout) },
    }
}

/// Counts a successful allocation.
fn counted(memory: *mut u8, size: usize) -> *mut u8 {
    if !memory.is_null() {
        LIVE_BYTES.fetch_add(size, Ordering::Relaxed);
    }
    memory
}

// If the four functions were inlined at every allocation and drop, they would be a tenth of the library. SAFETY:
// forwards to the system's allocator or to the host's. The header's contract for it is that of `GlobalAlloc`: memory of
// at least that size and alignment or NULL, without unwinding.
unsafe impl GlobalAlloc for HostAllocator {
    #[inline(never)]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: by the caller's contract.
        counted(unsafe { take(layout) }, layout.size())
    }

    /// The system returns large blocks as pages that are zero and not yet committed.
    #[inline(never)]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let memory = match hook() {
            Some((allocate, _)) => {
                let memory = host_allocate(allocate, layout.size(), layout.align());
                if !memory.is_null() {
                    // SAFETY: the host returned that many bytes.
                    unsafe { memory.write_bytes(0, layout.size()) };
                }
                memory
            }
            // SAFETY: by the caller's contract.
            None => unsafe { System.alloc_zeroed(layout) },
        };
        counted(memory, layout.size())
    }

    /// The system can grow a block in place or move its pages. With a hook the block is copied.
    #[inline(never)]
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: by the caller's contract.
        let wanted = unsafe { Layout::from_size_align_unchecked(new_size, layout.align()) };
        let in_place = hook().is_none() && !reserve::owns(memory);
        // SAFETY: by the caller's contract; the hook has not changed since this was allocated.
        let mut moved = if in_place { unsafe { System.realloc(memory, layout, new_size) } } else { ptr::null_mut() };
        if moved.is_null() {
            // SAFETY: by the caller's contract.
            moved = if in_place { reserve::take(wanted) } else { unsafe { take(wanted) } };
            if moved.is_null() {
                return moved;
            }
            // SAFETY: both blocks hold the lesser size, and a new block overlaps no live one. The old one is the
            // caller's to give back.
            unsafe {
                ptr::copy_nonoverlapping(memory, moved, layout.size().min(new_size));
                give_back(memory, layout);
            }
        }
        // If the block shrinks, the difference wraps, and the sum is still right.
        LIVE_BYTES.fetch_add(new_size.wrapping_sub(layout.size()), Ordering::Relaxed);
        moved
    }

    #[inline(never)]
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: by the caller's contract.
        unsafe { give_back(memory, layout) };
        LIVE_BYTES.fetch_sub(layout.size(), Ordering::Relaxed);
    }
}
