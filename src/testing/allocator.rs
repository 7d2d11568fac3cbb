//! The allocator of the unit tests: the system's, with a count for each thread, and failures on request.
//!
//! Each thread has its own count and its own allowance, so tests that run side by side do not disturb each other.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct TestAllocator;

#[global_allocator]
static ALLOCATOR: TestAllocator = TestAllocator;

thread_local! {
    /// Allocations that may still succeed.
    static ALLOWED: Cell<usize> = const { Cell::new(usize::MAX) };
    /// Allocations that still succeed before a single one fails.
    static BEFORE_FAILURE: Cell<usize> = const { Cell::new(usize::MAX) };
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
    /// Bytes that this thread allocated minus those that it freed.
    static HELD: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

fn hold(bytes: isize) {
    HELD.set(HELD.get().wrapping_add(bytes));
    PEAK.set(PEAK.get().max(HELD.get()));
}

/// Counts an allocation. Returns false if it must fail.
fn admit(bytes: isize) -> bool {
    let Some(left) = ALLOWED.get().checked_sub(1) else { return false };
    if ALLOWED.get() != usize::MAX {
        ALLOWED.set(left);
    }
    match BEFORE_FAILURE.get() {
        usize::MAX => {}
        0 => {
            BEFORE_FAILURE.set(usize::MAX);
            return false;
        }
        left => BEFORE_FAILURE.set(left - 1),
    }
    ALLOCATIONS.set(ALLOCATIONS.get() + 1);
    hold(bytes);
    true
}

// SAFETY: forwards each request to the system's allocator unchanged, or returns NULL. The cells are const and have no
// destructor, so their access allocates nothing.
unsafe impl GlobalAlloc for TestAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if !admit(layout.size() as isize) {
            return std::ptr::null_mut();
        }
        // SAFETY: by the caller's contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if !admit(layout.size() as isize) {
            return std::ptr::null_mut();
        }
        // SAFETY: by the caller's contract.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // While the block moves, the old and the new one exist.
        if !admit(size as isize) {
            return std::ptr::null_mut();
        }
        hold(-(layout.size() as isize));
        // SAFETY: by the caller's contract.
        unsafe { System.realloc(memory, layout, size) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        hold(-(layout.size() as isize));
        // SAFETY: by the caller's contract.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// The result of `call` in which all allocations of this thread after the first `count` fail.
pub fn with_allowance<T>(count: usize, call: impl FnOnce() -> T) -> T {
    ALLOWED.set(count);
    let result = call();
    ALLOWED.set(usize::MAX);
    result
}

/// The result of `call` in which a single allocation of this thread fails: the one after the first `count`.
pub fn with_failure<T>(count: usize, call: impl FnOnce() -> T) -> T {
    BEFORE_FAILURE.set(count);
    let result = call();
    BEFORE_FAILURE.set(usize::MAX);
    result
}

/// The number of allocations of this thread in `call`.
pub fn allocations(call: impl FnOnce()) -> u64 {
    let before = ALLOCATIONS.get();
    call();
    ALLOCATIONS.get() - before
}

/// The result of `call`, and the peak of the bytes that this thread held in it.
pub fn peak_bytes<T>(call: impl FnOnce() -> T) -> (T, usize) {
    let before = HELD.get();
    PEAK.set(before);
    let result = call();
    (result, (PEAK.get() - before) as usize)
}
