//! The primitives that the executor is made of: the standard library's, or loom's while a model is checked.
//!
//! `std::sync` and nothing faster: host threads meet here, and whatever leaves heap or a destructor on a thread of the
//! host's keeps an unloaded library mapped.

pub use std::sync::Arc;

#[cfg(all(loom, test))]
pub use loom::sync::{Condvar, Mutex, MutexGuard, atomic};
#[cfg(not(all(loom, test)))]
pub use std::sync::{Condvar, Mutex, MutexGuard, atomic};

/// No host code and nothing that panics runs under a lock of this room, so a poisoned one is as good as any.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// [`lock`], for a wait on a condition.
pub fn wait<'a, T>(condition: &Condvar, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
    condition.wait(guard).unwrap_or_else(|poisoned| poisoned.into_inner())
}
