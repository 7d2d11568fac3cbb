//! The synchronization primitives of the executor: the standard library's, or loom's in model checks.
//!
//! Only `std::sync`, and no faster library, because host threads run this code. Heap memory or a destructor on a host
//! thread keeps an unloaded library mapped.

#[cfg(all(loom, test))]
pub use loom::sync::{Condvar, Mutex, MutexGuard, atomic};
#[cfg(not(all(loom, test)))]
pub use std::sync::{Condvar, Mutex, MutexGuard, atomic};

/// Lock, and ignore poisoning. No host code and no panicking code runs under a lock of this module.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// [`lock`], for a wait on a condition.
pub fn wait<'a, T>(condition: &Condvar, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
    condition.wait(guard).unwrap_or_else(|poisoned| poisoned.into_inner())
}
