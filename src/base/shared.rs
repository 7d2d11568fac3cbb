//! A shared value with fallible allocation. The standard library's `Arc` aborts the process when out of memory.

use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering, fence};

use super::{Result, try_boxed};

struct Inner<T> {
    owners: AtomicUsize,
    value: T,
}

/// A value with several owners, possibly on several threads. The last owner drops it.
pub struct Shared<T>(NonNull<[Inner<T>; 1]>);

// SAFETY: owners on several threads share the value, and the last one drops it on its thread, like `Arc`.
unsafe impl<T: Send + Sync> Send for Shared<T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Sync for Shared<T> {}

impl<T> Shared<T> {
    /// Put a value on the heap.
    pub fn try_new(value: T) -> Result<Self> {
        let one = try_boxed(Inner { owners: AtomicUsize::new(1), value })?;
        Ok(Self(NonNull::from(Box::leak(one))))
    }

    fn inner(&self) -> &Inner<T> {
        // SAFETY: the value lives as long as any owner, and this is an owner.
        unsafe { &self.0.as_ref()[0] }
    }
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        // Relaxed: the new owner gets the value from this owner, which keeps it alive.
        self.inner().owners.fetch_add(1, Ordering::Relaxed);
        Self(self.0)
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.inner().value
    }
}

impl<T> Drop for Shared<T> {
    fn drop(&mut self) {
        // Release here, and acquire by the last owner: every owner's accesses happen before the drop.
        if self.inner().owners.fetch_sub(1, Ordering::Release) == 1 {
            fence(Ordering::Acquire);
            // SAFETY: the pointer is from a leaked box, and this was the last owner.
            drop(unsafe { Box::from_raw(self.0.as_ptr()) });
        }
    }
}

impl<T: std::fmt::Debug> std::fmt::Debug for Shared<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        (**self).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn shared_value_is_dropped_once_by_its_last_owner() {
        let witness = Arc::new(());
        let shared = Shared::try_new(Arc::clone(&witness)).expect("there is memory");
        std::thread::scope(|scope| {
            for _ in 0..4 {
                let mine = shared.clone();
                scope.spawn(move || {
                    for _ in 0..1000 {
                        let another = mine.clone();
                        assert_eq!(Arc::strong_count(&another), 2);
                    }
                });
            }
        });
        assert_eq!(Arc::strong_count(&witness), 2);
        drop(shared);
        assert_eq!(Arc::strong_count(&witness), 1);
    }
}
