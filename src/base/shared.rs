//! Values on the heap that are allocated fallibly. The standard library's `Box::new` and `Arc::new` abort the process when
//! out of memory.
//!
//! [`Shared`] is `Arc`, and [`WeakShared`] is its `Weak`. Only the standard library's own pointers coerce to trait
//! objects. So a [`Shared`] becomes a [`SharedDyn`], an owner with a reference to a trait object or a part of the value. A
//! `Box<T>` coerces to `Box<dyn Trait>` by itself.

use std::alloc::Layout;
use std::ffi::c_void;
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{Error, Result};

/// A box with `value`.
pub fn try_box<T>(value: T) -> Result<Box<T>> {
    try_box_with(|| value)
}

/// A box with the value that `make` returns. Without memory for it, `make` is not called.
pub fn try_box_with<T>(make: impl FnOnce() -> T) -> Result<Box<T>> {
    let layout = Layout::new::<T>();
    if layout.size() == 0 {
        return Ok(Box::new(make()));
    }
    // SAFETY: the layout is not empty. The memory is written before a box is formed of it, and the box frees it with
    // the same layout. If `make` panics, the memory leaks, with no other effect.
    unsafe {
        let place = std::alloc::alloc(layout).cast::<T>();
        if place.is_null() {
            return Err(Error::OUT_OF_MEMORY);
        }
        place.write(make());
        Ok(Box::from_raw(place))
    }
}

/// The counts of a shared value. The value lives while `owners` is above 0, the memory while `holders` is.
struct Counts {
    owners: AtomicUsize,
    /// Weak references, plus 1 for all owners together.
    holders: AtomicUsize,
}

#[repr(C)]
struct Inner<T> {
    counts: Counts,
    value: T,
}

/// A value with several owners, possibly on several threads. The last owner drops it.
pub struct Shared<T>(NonNull<Inner<T>>);

// SAFETY: owners on several threads share the value, and the last one drops it on its thread, like `Arc`.
unsafe impl<T: Send + Sync> Send for Shared<T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Sync for Shared<T> {}

impl<T> Shared<T> {
    /// Put a value on the heap.
    pub fn try_new(value: T) -> Result<Self> {
        Self::try_new_with(|| value)
    }

    /// Put the value that `make` returns on the heap. Without memory for it, `make` is not called.
    pub fn try_new_with(make: impl FnOnce() -> T) -> Result<Self> {
        let counts = || Counts { owners: AtomicUsize::new(1), holders: AtomicUsize::new(1) };
        let inner = try_box_with(|| Inner { counts: counts(), value: make() })?;
        Ok(Self(NonNull::from(Box::leak(inner))))
    }

    /// A reference that does not keep the value alive.
    pub fn downgrade(this: &Self) -> WeakShared<T> {
        this.counts().holders.fetch_add(1, Ordering::Relaxed);
        WeakShared(this.0)
    }

    /// Whether both own the same value.
    pub fn ptr_eq(this: &Self, other: &Self) -> bool {
        this.0 == other.0
    }

    /// The number of owners. Another thread may change it at any time.
    pub fn owners(this: &Self) -> usize {
        this.counts().owners.load(Ordering::Acquire)
    }

    /// The address of the value, the same for all owners.
    pub fn address(this: &Self) -> usize {
        this.0.addr().get()
    }

    /// Share the value as a trait object, as in `Shared::into_dyn::<dyn File>(file, |file| file)`, or a part of it.
    pub fn into_dyn<U: ?Sized>(this: Self, view: impl for<'a> FnOnce(&'a T) -> &'a U) -> SharedDyn<U>
    where
        T: Send + Sync + 'static,
    {
        let seen = NonNull::from(view(&this));
        SharedDyn { owner: Self::into_raw(this), seen, release: release::<T> }
    }

    /// Give up this owner without dropping it, for code in C. [`from_raw`](Self::from_raw) takes it back.
    pub fn into_raw(this: Self) -> NonNull<c_void> {
        std::mem::ManuallyDrop::new(this).0.cast()
    }

    /// Take an owner back.
    ///
    /// # Safety
    /// `raw` is from [`into_raw`](Self::into_raw) of the same type, and was not taken back before.
    pub unsafe fn from_raw(raw: NonNull<c_void>) -> Self {
        Self(raw.cast())
    }

    /// The drop of the last owner. Not inlined, so that drops of others stay short.
    #[inline(never)]
    fn drop_value(&mut self) {
        self.counts().owners.load(Ordering::Acquire);
        // All owners together hold one weak reference. It frees the memory even if the value's drop panics.
        let _last = WeakShared(self.0);
        // SAFETY: this was the last owner, so nothing refers to the value any more.
        unsafe { std::ptr::drop_in_place(&raw mut (*self.0.as_ptr()).value) };
    }

    fn counts(&self) -> &Counts {
        // SAFETY: the memory lives as long as any owner, and this is an owner. Only the counts are borrowed.
        unsafe { &(*self.0.as_ptr()).counts }
    }
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        // Relaxed: the new owner gets the value from this owner, which keeps it alive.
        self.counts().owners.fetch_add(1, Ordering::Relaxed);
        Self(self.0)
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the value lives as long as any owner, and this is an owner.
        unsafe { &(*self.0.as_ptr()).value }
    }
}

impl<T> Drop for Shared<T> {
    fn drop(&mut self) {
        // Release here, and acquire by the last owner: every owner's accesses happen before the drop. ThreadSanitizer
        // knows loads, but not fences.
        if self.counts().owners.fetch_sub(1, Ordering::Release) == 1 {
            self.drop_value();
        }
    }
}

impl<T: std::fmt::Debug> std::fmt::Debug for Shared<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        (**self).fmt(f)
    }
}

/// A reference to a shared value that does not keep it alive.
pub struct WeakShared<T>(NonNull<Inner<T>>);

// SAFETY: it may become an owner on its thread, so as for `Shared`.
unsafe impl<T: Send + Sync> Send for WeakShared<T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Sync for WeakShared<T> {}

impl<T> WeakShared<T> {
    /// An owner of the value, unless it was dropped.
    pub fn upgrade(&self) -> Option<Shared<T>> {
        let more = |owners| (owners > 0).then_some(owners + 1);
        // Acquire: the accesses before the other owners' clones happen before those of this one, like `Arc`.
        let found = self.counts().owners.fetch_update(Ordering::Acquire, Ordering::Relaxed, more);
        found.is_ok().then_some(Shared(self.0))
    }

    fn counts(&self) -> &Counts {
        // SAFETY: the memory lives as long as any weak reference. Only the counts are borrowed.
        unsafe { &(*self.0.as_ptr()).counts }
    }
}

impl<T> Clone for WeakShared<T> {
    fn clone(&self) -> Self {
        self.counts().holders.fetch_add(1, Ordering::Relaxed);
        Self(self.0)
    }
}

impl<T> Drop for WeakShared<T> {
    fn drop(&mut self) {
        if self.counts().holders.fetch_sub(1, Ordering::Release) == 1 {
            self.counts().holders.load(Ordering::Acquire);
            // SAFETY: nothing refers to the memory any more. It is from a box of this type, and its value is dropped
            // already, which `ManuallyDrop` leaves at that.
            drop(unsafe { Box::from_raw(self.0.as_ptr().cast::<std::mem::ManuallyDrop<Inner<T>>>()) });
        }
    }
}

/// An owner of a shared value of any type, seen as a `U`: a trait object, a slice or a part of it.
pub struct SharedDyn<U: ?Sized> {
    owner: NonNull<c_void>,
    /// A part of the value, which is not moved or changed while it has an owner.
    seen: NonNull<U>,
    /// Drops an owner.
    release: unsafe fn(NonNull<c_void>),
}

/// # Safety
/// As for [`Shared::from_raw`].
unsafe fn release<T>(owner: NonNull<c_void>) {
    // SAFETY: by this function's contract.
    drop(unsafe { Shared::<T>::from_raw(owner) });
}

// SAFETY: as for `Shared`; `into_dyn` asks the same of the value's own type.
unsafe impl<U: ?Sized + Send + Sync> Send for SharedDyn<U> {}
// SAFETY: as above.
unsafe impl<U: ?Sized + Send + Sync> Sync for SharedDyn<U> {}

impl<U: ?Sized> Clone for SharedDyn<U> {
    fn clone(&self) -> Self {
        // SAFETY: `Inner` begins with its counts, and this is an owner. Relaxed as for `Shared`.
        unsafe { self.owner.cast::<Counts>().as_ref() }.owners.fetch_add(1, Ordering::Relaxed);
        Self { ..*self }
    }
}

impl<U: ?Sized> Deref for SharedDyn<U> {
    type Target = U;

    fn deref(&self) -> &U {
        // SAFETY: the value lives as long as any owner, and this is an owner.
        unsafe { self.seen.as_ref() }
    }
}

impl<U: ?Sized> Drop for SharedDyn<U> {
    fn drop(&mut self) {
        // SAFETY: the owner is of the type that `release` was made for, and this is its only release.
        unsafe { (self.release)(self.owner) };
    }
}

impl<U: ?Sized + std::fmt::Debug> std::fmt::Debug for SharedDyn<U> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        (**self).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::thread::scope;

    use super::*;
    use crate::base::Code;
    use crate::testing::allocator::{allocations, with_allowance};

    #[test]
    fn shared_value_is_dropped_once_by_its_last_owner() {
        let witness = Arc::new(());
        let shared = Shared::try_new(Arc::clone(&witness)).expect("there is memory");
        scope(|scope| {
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
        assert_eq!((Arc::strong_count(&witness), Shared::owners(&shared)), (2, 1));
        drop(shared);
        assert_eq!(Arc::strong_count(&witness), 1);
    }

    #[test]
    fn weak_reference_does_not_keep_the_value_alive() {
        let witness = Arc::new(());
        let shared = Shared::try_new(Arc::clone(&witness)).expect("there is memory");
        let weak = Shared::downgrade(&shared);
        let again = weak.clone().upgrade().expect("it has an owner");
        assert!(Shared::ptr_eq(&shared, &again));
        drop((shared, again));
        assert_eq!(Arc::strong_count(&witness), 1);
        assert!(weak.upgrade().is_none());
    }

    #[test]
    fn weak_references_race_with_the_last_owner() {
        for _ in 0..200 {
            let witness = Arc::new(());
            let shared = Shared::try_new(Arc::clone(&witness)).expect("there is memory");
            let weak = Shared::downgrade(&shared);
            scope(|scope| {
                scope.spawn(move || drop(shared));
                scope.spawn(move || while weak.upgrade().is_some() {});
            });
            assert_eq!(Arc::strong_count(&witness), 1);
        }
    }

    #[test]
    fn trait_objects_and_slices_share_the_owner() {
        trait Named: Send + Sync {
            fn name(&self) -> &str;
        }
        impl Named for (Arc<()>, &'static str) {
            fn name(&self) -> &str {
                self.1
            }
        }
        let witness = Arc::new(());
        let shared = Shared::try_new((Arc::clone(&witness), "goblin")).expect("there is memory");
        let named = Shared::into_dyn::<dyn Named>(shared.clone(), |it| it);
        let letters = Shared::into_dyn(shared, |it| it.1.as_bytes());
        let again = named.clone();
        drop(named);
        assert_eq!((again.name(), &*letters), ("goblin", &b"goblin"[..]));
        assert_eq!(Arc::strong_count(&witness), 2);
        drop((again, letters));
        assert_eq!(Arc::strong_count(&witness), 1);
    }

    #[test]
    fn without_memory_nothing_is_made() {
        let is_refused = |code: Option<Code>| assert_eq!(code, Some(Code::OutOfMemory));
        let mut made = 0;
        let mut make = || {
            made += 1;
            made
        };
        is_refused(with_allowance(0, || try_box_with(&mut make).err()).map(|why| why.code()));
        is_refused(with_allowance(0, || Shared::try_new_with(&mut make).err()).map(|why| why.code()));
        assert_eq!(made, 0);
        assert_eq!(allocations(|| drop(try_box(()))), 0);
    }

    #[test]
    fn raw_owner_is_taken_back() {
        let shared = Shared::try_new(7).expect("there is memory");
        let raw = Shared::into_raw(shared.clone());
        assert_eq!(Shared::owners(&shared), 2);
        // SAFETY: `raw` is from the line above.
        drop(unsafe { Shared::<i32>::from_raw(raw) });
        assert_eq!((Shared::owners(&shared), *shared), (1, 7));
    }
}
