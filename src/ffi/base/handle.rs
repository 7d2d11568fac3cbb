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

use super::argument::null;
use super::guard::{self, CSentence};
use super::result::hob_result;
use crate::base::{Error, Result, error};

/// Which value stands behind an opaque C type.
pub trait Opaque {
    /// The value.
    type Value;
    /// What can be read at any time, from any thread, also during an exclusive call.
    type Published;
    /// Name in C.
    const NAME: &'static str;
    /// Eight letters that begin every live handle of this type.
    const TAG: [u8; 8];
    /// Work at the end of every exclusive call, while the handle is still held.
    fn after(_held: &Held<'_, Self::Value>) {}
}

#[repr(C)]
struct Block<T, P> {
    gate: Gate,
    published: P,
    value: UnsafeCell<T>,
}

type BlockOf<O> = Block<<O as Opaque>::Value, <O as Opaque>::Published>;

/// Who is inside a handle, and what became of it. The same for every type, the tag first: of what is no handle nothing
/// else is looked at.
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
pub fn create<O: Opaque<Published = ()>>(value: O::Value) -> Result<*mut O> {
    create_with(value, ())
}

/// [`create`], with what is published of it.
pub fn create_with<O: Opaque>(value: O::Value, published: O::Published) -> Result<*mut O> {
    let gate = Gate {
        tag: AtomicU64::new(u64::from_ne_bytes(O::TAG)),
        owner: AtomicUsize::new(0),
        borrowed: Cell::new(false),
        doomed: Cell::new(false),
        poisoned: AtomicBool::new(false),
        last_error: UnsafeCell::new(CSentence::EMPTY),
    };
    let block = Block { gate, published, value: UnsafeCell::new(value) };
    let layout = Layout::new::<BlockOf<O>>();
    // SAFETY: the layout is not empty; the place is written before anybody sees it.
    unsafe {
        let place = std::alloc::alloc(layout).cast::<BlockOf<O>>();
        if place.is_null() {
            return Err(error!(OutOfMemory, "out of memory for a {} of {} bytes", O::NAME, layout.size()));
        }
        place.write(block);
        LIVE.fetch_add(1, Ordering::SeqCst);
        Ok(place.cast())
    }
}

/// # Safety
/// `pointer` is a live handle that nobody is inside of.
unsafe fn release<O: Opaque>(pointer: *mut O) {
    let place = pointer.cast::<BlockOf<O>>();
    // SAFETY: `place` is what `create` allocated with this layout; the tag makes a second destroy (while the memory is
    // not reused) an error instead of a double free.
    unsafe {
        (*place).gate.tag.store(0, Ordering::Release);
        // The memory is given back also if a drop panics.
        let _free = Free(place.cast(), Layout::new::<BlockOf<O>>());
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
#[inline]
unsafe fn find<'a, O: Opaque>(pointer: *const O, what: &'static str) -> Result<&'a BlockOf<O>> {
    let block = pointer.cast::<BlockOf<O>>();
    if block.is_null() || !block.is_aligned() {
        return Err(no_handle(what, O::NAME));
    }
    // SAFETY: by this function's contract; every field that is not an atomic is guarded by `owner`.
    let block = unsafe { &*block };
    if block.gate.tag.load(Ordering::Acquire) != u64::from_ne_bytes(O::TAG) {
        return Err(dead_handle(what, O::NAME));
    }
    Ok(block)
}

#[cold]
fn no_handle(what: &str, name: &str) -> Error {
    null(what, format_args!("the handle that {name}_create gave"))
}

#[cold]
fn dead_handle(what: &str, name: &str) -> Error {
    error!(InvalidArgument, "{what} is not a live {name}: it was destroyed, or is a handle of another type")
}

#[cold]
fn busy(name: &str, why: &str) -> Error {
    error!(Busy, "{name} is busy: {why}")
}

/// The value behind a handle during an exclusive call.
pub struct Held<'a, T> {
    gate: &'a Gate,
    value: &'a UnsafeCell<T>,
}

impl<T> Held<'_, T> {
    /// Work on the value. No host code may run inside, except hooks, whose calls get `HOB_RESULT_BUSY`.
    #[inline]
    pub fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> R {
        assert!(!self.gate.borrowed.replace(true), "the value is borrowed already");
        let _unborrow = Unborrow(&self.gate.borrowed);
        // SAFETY: this thread owns the handle (`exclusive`), and `borrowed` was false: there is no other reference.
        work(unsafe { &mut *self.value.get() })
    }
}

struct Unborrow<'a>(&'a Cell<bool>);

impl Drop for Unborrow<'_> {
    fn drop(&mut self) {
        self.0.set(false);
    }
}

/// Run an exclusive call on a handle. `what` names the parameter.
///
/// # Safety
/// `pointer` is NULL or a live or (not yet reused) destroyed handle.
#[inline]
pub unsafe fn exclusive<O: Opaque, R>(
    pointer: *mut O,
    what: &'static str,
    body: impl FnOnce(&Held<'_, O::Value>) -> Result<R>,
) -> std::result::Result<R, hob_result> {
    // SAFETY: by this function's contract.
    let block = match unsafe { find::<O>(pointer, what) } {
        Ok(block) => block,
        Err(error) => return Err(guard::report(&error)),
    };
    block.gate.enter(O::NAME)?;
    let caught = guard::catch(|| {
        let held = Held { gate: &block.gate, value: &block.value };
        let answer = body(&held);
        O::after(&held);
        answer
    });
    if block.gate.leave(caught.as_ref().err()) {
        let _ = guard::catch(|| {
            // SAFETY: the running call was the last one inside, and the host has given the handle up.
            unsafe { release::<O>(pointer) };
            Ok(())
        });
    }
    caught
}

/// [`exclusive`], with `inside` as a const call instead if this call comes from inside a callback of the handle.
///
/// # Safety
/// As [`exclusive`].
pub unsafe fn exclusive_or<O: Opaque, R>(
    pointer: *mut O,
    what: &'static str,
    inside: impl FnOnce(&O::Value) -> Result<R>,
    body: impl FnOnce(&Held<'_, O::Value>) -> Result<R>,
) -> std::result::Result<R, hob_result> {
    // SAFETY: by this function's contract, here and below.
    let is_inside = unsafe { find::<O>(pointer, what) }
        .is_ok_and(|block| block.gate.owner.load(Ordering::Acquire) == guard::thread_token());
    if is_inside { unsafe { shared(pointer, what, inside) } } else { unsafe { exclusive(pointer, what, body) } }
}

impl Gate {
    /// Begin an exclusive call.
    #[inline]
    fn enter(&self, name: &str) -> std::result::Result<(), hob_result> {
        let me = guard::thread_token();
        if let Err(owner) = self.owner.compare_exchange(0, me, Ordering::Acquire, Ordering::Relaxed) {
            return Err(guard::report(&occupied(name, owner == me)));
        }
        if self.poisoned.load(Ordering::Relaxed) {
            // SAFETY: this thread owns the handle.
            guard::set_last_error_from(unsafe { &*self.last_error.get() });
            self.owner.store(0, Ordering::Release);
            return Err(hob_result::Poisoned);
        }
        Ok(())
    }

    /// End it; whether the handle is to be destroyed now.
    #[inline]
    fn leave(&self, failure: Option<&hob_result>) -> bool {
        if let Some(failure) = failure {
            self.poisoned.fetch_or(*failure == hob_result::Panic, Ordering::Relaxed);
            // SAFETY: this thread owns the handle.
            guard::copy_last_error(unsafe { &mut *self.last_error.get() });
        }
        let doomed = self.doomed.get();
        self.owner.store(0, Ordering::Release);
        doomed
    }

    /// Whether a const call may look at the value now.
    #[inline]
    fn check_readable(&self, name: &str) -> Result<()> {
        let owner = self.owner.load(Ordering::Acquire);
        if owner == 0 { Ok(()) } else { self.check_own(name, owner) }
    }

    #[cold]
    fn check_own(&self, name: &str, owner: usize) -> Result<()> {
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

#[cold]
fn occupied(name: &str, is_own: bool) -> Error {
    busy(
        name,
        if is_own {
            "this call comes from inside one of its own callbacks, where only const functions work"
        } else {
            "another thread is inside a call on it; calls that take it non-const must not overlap"
        },
    )
}

/// Run a const call on a handle.
///
/// # Safety
/// As [`exclusive`]; other const calls may run at the same time.
#[inline]
pub unsafe fn shared<O: Opaque, R>(
    pointer: *const O,
    what: &'static str,
    body: impl FnOnce(&O::Value) -> Result<R>,
) -> std::result::Result<R, hob_result> {
    guard::catch(|| {
        // SAFETY: by this function's contract.
        let handle = unsafe { Handle::argument(pointer.cast_mut(), what) }?;
        handle.read(body)
    })
}

/// Look at what a handle has published, whoever is inside.
///
/// # Safety
/// As [`exclusive`].
#[inline]
pub unsafe fn published<O: Opaque, R>(
    pointer: *const O,
    what: &'static str,
    body: impl FnOnce(&O::Published) -> Result<R>,
) -> std::result::Result<R, hob_result> {
    guard::catch(|| {
        // SAFETY: by this function's contract.
        body(&unsafe { find::<O>(pointer, what) }?.published)
    })
}

/// A live handle, for bodies that decide themselves how they use it.
pub struct Handle<'a, O: Opaque> {
    pointer: *mut O,
    block: &'a BlockOf<O>,
}

impl<O: Opaque> Clone for Handle<'_, O> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<O: Opaque> Copy for Handle<'_, O> {}

impl<O: Opaque> Handle<'_, O> {
    /// The handle of a parameter; `what` names it.
    ///
    /// # Safety
    /// As [`exclusive`], while the handle is used.
    #[inline]
    pub unsafe fn argument(pointer: *mut O, what: &'static str) -> Result<Self> {
        // SAFETY: by this function's contract.
        Ok(Self { pointer, block: unsafe { find::<O>(pointer, what) }? })
    }

    /// Look at the value, as a const call.
    #[inline]
    pub fn read<R>(self, body: impl FnOnce(&O::Value) -> Result<R>) -> Result<R> {
        self.block.gate.check_readable(O::NAME)?;
        // SAFETY: nobody holds a mutable reference: an exclusive call of this thread does not at present (`borrowed`),
        // one of another thread would be a breach of the header's contract.
        body(unsafe { &*self.block.value.get() })
    }

    /// The sentence of the handle's last failed exclusive call.
    pub fn last_error(self) -> *const c_char {
        // SAFETY: the sentence always ends in NUL, and const means that no exclusive call writes it meanwhile.
        unsafe { (*self.block.gate.last_error.get()).as_ptr() }
    }

    /// Destroy it: now, or when the call returns that it is inside of on this thread.
    pub fn destroy(self) -> Result<()> {
        match self.block.gate.owner.load(Ordering::Acquire) {
            0 => {
                // SAFETY: nobody is inside, and by the header's contract nobody comes.
                unsafe { release::<O>(self.pointer) };
                Ok(())
            }
            owner if owner == guard::thread_token() => {
                self.block.gate.doomed.set(true);
                Ok(())
            }
            _ => Err(busy(O::NAME, "another thread is inside a call on it: destroy it after that call")),
        }
    }
}
