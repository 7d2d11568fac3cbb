//! A shared value whose memory is taken fallibly: the standard library's `Arc` ends the process without memory.

use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering, fence};

use super::Result;

struct Inner<T> {
    owners: AtomicUsize,
    value: T,
}

/// A value with several owners, possibly on several threads. It is dropped with the last of them.
pub struct Shared<T>(NonNull<[Inner<T>; 1]>);

// SAFETY: owners on several threads share the value, and the last one drops it on its thread: as `Arc`.
unsafe impl<T: Send + Sync> Send for Shared<T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Sync for Shared<T> {}

impl<T> Shared<T> {
    /// Put a value on the heap.
    pub fn try_new(value: T) -> Result<Self> {
        // A box alone cannot be had fallibly, a list can.
        let mut one = Vec::new();
        one.try_reserve_exact(1)?;
        one.push(Inner { owners: AtomicUsize::new(1), value });
        let one: Box<[Inner<T>; 1]> =
            one.into_boxed_slice().try_into().unwrap_or_else(|_| unreachable!("there is one"));
        Ok(Self(NonNull::from(Box::leak(one))))
    }

    fn inner(&self) -> &Inner<T> {
        // SAFETY: it lives as long as an owner does, and this is one.
        unsafe { &self.0.as_ref()[0] }
    }
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        // Relaxed: the new owner has the value from this one, which holds it.
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
        // Release, and acquire by the last one: what any owner did with the value happens before its drop.
        if self.inner().owners.fetch_sub(1, Ordering::Release) == 1 {
            fence(Ordering::Acquire);
            // SAFETY: it came from a box, and this was its last owner.
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
    fn a_shared_value_is_dropped_once_by_its_last_owner_on_any_thread() {
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
