//! Opaque handles: one C type, one Rust value, one place that decides who may be inside.
//!
//! A call on a non-const handle is *exclusive*: while it runs, any other call on the handle is answered with
//! `HOB_RESULT_BUSY`, from another thread (a host's mistake that would otherwise be a data race) as well as from a
//! callback (which would otherwise find the value half-changed). From a callback of the running call, on its thread,
//! *const* calls do work, since the value is not borrowed while the host runs; and `destroy` is put off until the
//! running call returns.
//!
//! A panic inside poisons the handle: const calls go on answering from the last good state, all others say
//! `HOB_RESULT_POISONED` and do nothing, `destroy` releases what it can.

use std::alloc::Layout;
use std::cell::{Cell, UnsafeCell};
use std::ffi::c_char;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use super::base::hob_result;
use super::guard::{self, CSentence};
use crate::base::{Error, Result, error};

/// Which value stands behind an opaque C type.
pub trait Opaque {
    /// The value.
    type Value;
    /// Name in C.
    const NAME: &'static str;
    /// Eight letters that begin every live handle of this type.
    const TAG: [u8; 8];
}

#[repr(C)]
struct Handle<T> {
    gate: Gate,
    value: UnsafeCell<T>,
}

/// Who is inside a handle, and what became of it. The same for every type, the tag first: of what is no handle nothing else
/// is looked at.
#[repr(C)]
struct Gate {
    tag: AtomicU64,
    /// Token of the thread inside an exclusive call; 0 when there is none.
    owner: AtomicUsize,
    /// Whether the owner holds a reference to the value right now. Only the owner reads or writes it.
    borrowed: Cell<bool>,
    /// Whether `destroy` was asked for inside a callback. Only the owner reads or writes it.
    doomed: Cell<bool>,
    poisoned: AtomicBool,
    /// Only an exclusive call writes it.
    last_error: UnsafeCell<CSentence>,
}

/// Handles that live, of all types: while there are any, the allocator cannot be exchanged.
static LIVE: AtomicUsize = AtomicUsize::new(0);

/// Handles that live, of all types.
pub fn live() -> usize {
    LIVE.load(Ordering::SeqCst)
}

/// Put a value behind a new handle.
pub fn create<O: Opaque>(value: O::Value) -> Result<*mut O> {
    let gate = Gate {
        tag: AtomicU64::new(u64::from_ne_bytes(O::TAG)),
        owner: AtomicUsize::new(0),
        borrowed: Cell::new(false),
        doomed: Cell::new(false),
        poisoned: AtomicBool::new(false),
        last_error: UnsafeCell::new(CSentence::EMPTY),
    };
    let handle = Handle { gate, value: UnsafeCell::new(value) };
    let layout = Layout::new::<Handle<O::Value>>();
    // SAFETY: the layout is not empty; the place is written before anybody sees it.
    unsafe {
        let place = std::alloc::alloc(layout).cast::<Handle<O::Value>>();
        if place.is_null() {
            return Err(error!(OutOfMemory, "out of memory for a {} of {} bytes", O::NAME, layout.size()));
        }
        place.write(handle);
        LIVE.fetch_add(1, Ordering::SeqCst);
        Ok(place.cast())
    }
}

/// Destroy a handle; NULL is no handle and nothing to do.
///
/// # Safety
/// `pointer` is NULL or came from [`create`] and was not destroyed; no other thread uses it.
pub unsafe fn destroy<O: Opaque>(pointer: *mut O) {
    if pointer.is_null() {
        return;
    }
    let _ = guard::guard(|| {
        // SAFETY: by this function's contract.
        let handle = unsafe { find::<O>(pointer) }?;
        match handle.gate.owner.load(Ordering::Acquire) {
            0 => {
                // SAFETY: nobody is inside, and by contract nobody comes.
                unsafe { release::<O>(pointer) };
                Ok(())
            }
            owner if owner == guard::thread_token() => {
                handle.gate.doomed.set(true);
                Ok(())
            }
            _ => Err(busy(O::NAME, "another thread is inside a call on it: destroy it after that call")),
        }
    });
}

/// # Safety
/// `pointer` is a live handle that nobody is inside of.
unsafe fn release<O: Opaque>(pointer: *mut O) {
    let place = pointer.cast::<Handle<O::Value>>();
    // SAFETY: `place` is what `create` allocated with this layout; the tag makes a second destroy (while the memory is
    // not reused) an error instead of a double free.
    unsafe {
        (*place).gate.tag.store(0, Ordering::Release);
        // The memory is given back also if a drop panics.
        let _free = Free(place.cast(), Layout::new::<Handle<O::Value>>());
        place.drop_in_place();
    }
}

struct Free(*mut u8, Layout);

impl Drop for Free {
    fn drop(&mut self) {
        // SAFETY: made by `release` alone, from an allocation of this layout.
        unsafe { std::alloc::dealloc(self.0, self.1) };
        LIVE.fetch_sub(1, Ordering::SeqCst);
    }
}

/// # Safety
/// `pointer` is NULL or points to readable memory that stays so for `'a`.
unsafe fn find<'a, O: Opaque>(pointer: *const O) -> Result<&'a Handle<O::Value>> {
    let handle = pointer.cast::<Handle<O::Value>>();
    if handle.is_null() || !handle.is_aligned() {
        return Err(no_handle(O::NAME));
    }
    // SAFETY: by this function's contract; every field that is not an atomic is guarded by `owner`.
    let handle = unsafe { &*handle };
    if handle.gate.tag.load(Ordering::Acquire) != u64::from_ne_bytes(O::TAG) {
        return Err(dead_handle(O::NAME));
    }
    Ok(handle)
}

#[cold]
fn no_handle(name: &str) -> Error {
    error!(InvalidArgument, "{name} is NULL: pass the handle that {name}_create gave")
}

#[cold]
fn dead_handle(name: &str) -> Error {
    error!(InvalidArgument, "this is no live {name}: it was destroyed, or is a handle of another type")
}

#[cold]
fn busy(name: &str, why: &str) -> Error {
    error!(Busy, "{name} is busy: {why}")
}

/// The value behind a handle during an exclusive call.
pub struct Held<'a, T> {
    handle: &'a Handle<T>,
}

impl<T> Held<'_, T> {
    /// Work on the value. No host code may run inside, but through hooks, which are answered `HOB_RESULT_BUSY`.
    pub fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> R {
        assert!(!self.handle.gate.borrowed.replace(true), "the value is borrowed already");
        let _unborrow = Unborrow(&self.handle.gate.borrowed);
        // SAFETY: this thread owns the handle (`exclusive`), and `borrowed` was false: there is no other reference.
        work(unsafe { &mut *self.handle.value.get() })
    }
}

struct Unborrow<'a>(&'a Cell<bool>);

impl Drop for Unborrow<'_> {
    fn drop(&mut self) {
        self.0.set(false);
    }
}

/// Run an exclusive call on a handle.
///
/// # Safety
/// `pointer` is NULL or a live or (not yet reused) destroyed handle.
pub unsafe fn exclusive<O: Opaque>(
    pointer: *mut O,
    body: impl FnOnce(&Held<'_, O::Value>) -> Result<()>,
) -> hob_result {
    // SAFETY: by this function's contract.
    let handle = match unsafe { find::<O>(pointer) } {
        Ok(handle) => handle,
        Err(error) => return guard::report(&error),
    };
    let mut body = Some(body);
    let (result, doomed) = handle.gate.pass(O::NAME, &mut || match body.take() {
        Some(body) => body(&Held { handle }),
        None => Ok(()),
    });
    if doomed {
        let _ = guard::catch(|| {
            // SAFETY: the running call was the last one inside, and the host has given the handle up.
            unsafe { release::<O>(pointer) };
            Ok(())
        });
    }
    result
}

impl Gate {
    /// Let one exclusive call pass; its result, and whether the handle is to be destroyed now.
    fn pass(&self, name: &str, body: &mut dyn FnMut() -> Result<()>) -> (hob_result, bool) {
        let me = guard::thread_token();
        if let Err(owner) = self.owner.compare_exchange(0, me, Ordering::Acquire, Ordering::Relaxed) {
            let why = if owner == me {
                "this call comes from inside one of its own callbacks, where only const functions work"
            } else {
                "another thread is inside a call on it; calls that take it non-const must not overlap"
            };
            return (guard::report(&busy(name, why)), false);
        }
        let result = if self.poisoned.load(Ordering::Relaxed) {
            // SAFETY: this thread owns the handle.
            guard::set_last_error_from(unsafe { &*self.last_error.get() });
            hob_result::Poisoned
        } else {
            guard::wall(body)
        };
        if result != hob_result::Ok {
            self.poisoned.fetch_or(result == hob_result::Panic, Ordering::Relaxed);
            // SAFETY: this thread owns the handle.
            guard::copy_last_error(unsafe { &mut *self.last_error.get() });
        }
        let doomed = self.doomed.get();
        self.owner.store(0, Ordering::Release);
        (result, doomed)
    }

    /// Whether a const call may look at the value now.
    fn check_readable(&self, name: &str) -> Result<()> {
        let owner = self.owner.load(Ordering::Acquire);
        if owner == 0 {
            return Ok(());
        }
        if owner != guard::thread_token() {
            return Err(busy(name, "another thread is inside a call that changes it"));
        }
        if self.borrowed.get() {
            return Err(busy(
                name,
                "this call comes from a hook (log, clock, zone, allocator) or from a recording's write, which run inside it",
            ));
        }
        Ok(())
    }
}

/// Run a const call on a handle.
///
/// # Safety
/// As [`exclusive`]; other const calls may run at the same time.
pub unsafe fn shared<O: Opaque, R>(
    pointer: *const O,
    body: impl FnOnce(&O::Value) -> Result<R>,
) -> std::result::Result<R, hob_result> {
    guard::catch(|| {
        // SAFETY: by this function's contract.
        let handle = unsafe { find::<O>(pointer) }?;
        handle.gate.check_readable(O::NAME)?;
        // SAFETY: nobody holds a mutable reference: an exclusive call of this thread does not at present (`borrowed`),
        // one of another thread would be a breach of the header's contract.
        body(unsafe { &*handle.value.get() })
    })
}

/// Whether this call comes from inside a callback of a call on the same handle.
///
/// # Safety
/// As [`shared`].
pub unsafe fn is_inside<O: Opaque>(pointer: *const O) -> bool {
    // SAFETY: by this function's contract.
    let handle = guard::catch(|| unsafe { find::<O>(pointer) });
    handle.is_ok_and(|handle| handle.gate.owner.load(Ordering::Acquire) == guard::thread_token())
}

/// [`shared`], for calls that return nothing but a result.
///
/// # Safety
/// As [`shared`].
pub unsafe fn inspect<O: Opaque>(pointer: *const O, body: impl FnOnce(&O::Value) -> Result<()>) -> hob_result {
    // SAFETY: by this function's contract.
    unsafe { shared(pointer, body) }.map_or_else(|result| result, |()| hob_result::Ok)
}

/// The sentence of the handle's last failed exclusive call.
///
/// # Safety
/// As [`shared`].
pub unsafe fn last_error<O: Opaque>(pointer: *const O) -> *const c_char {
    // SAFETY: by this function's contract.
    match guard::catch(|| unsafe { find::<O>(pointer) }) {
        // SAFETY: the sentence always ends in NUL, and const means that no exclusive call writes it meanwhile.
        Ok(handle) => unsafe { (*handle.gate.last_error.get()).as_ptr() },
        Err(_) => guard::last_error(),
    }
}
