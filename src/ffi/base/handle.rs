//! Opaque handles. Each has one C type and one Rust value. Its gate decides which calls may run.
//!
//! A call on a non-const handle is *exclusive*. While it runs, any other call on the handle returns `HOB_RESULT_BUSY`.
//! A call from another thread is a mistake of the host and would be a data race. A call from a callback would find the
//! value half-changed.
//!
//! A callback of the running call may make *const* calls on its thread, since the value is not borrowed while the host
//! runs. `destroy` from a callback is deferred until the running call returns.
//!
//! A panic during an exclusive call poisons the handle. Const calls still answer from the last good state. All other
//! calls return `HOB_RESULT_POISONED` and do nothing. `destroy` releases what it can.

use std::alloc::Layout;
use std::cell::{Cell, UnsafeCell};
use std::ffi::c_char;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use super::argument::null;
use super::guard::{self, CSentence};
use super::result::hob_result;
use crate::base::{Error, Result, error};

/// Maps an opaque C type to its Rust value.
pub trait Opaque {
    /// The value.
    type Value;
    /// Data that any thread can read at any time, also during an exclusive call.
    type Published;
    /// Name in C.
    const NAME: &'static str;
    /// The first eight bytes of every live handle of this type.
    const TAG: [u8; 8];
    /// The reason of every `HOB_RESULT_BUSY`, if one sentence fits all.
    const BUSY: Option<&'static str> = None;
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

/// Owner and state of a handle. It is the same for every type. The tag comes first: if it is wrong, nothing else is
/// read.
#[repr(C)]
struct Gate {
    tag: AtomicU64,
    /// Token of the thread inside an exclusive call. 0: no exclusive call is running.
    owner: AtomicUsize,
    /// Whether the owner holds a reference to the value. Only the owner reads or writes this flag.
    borrowed: Cell<bool>,
    /// Whether a callback requested `destroy`. Only the owner reads or writes this flag.
    doomed: Cell<bool>,
    poisoned: AtomicBool,
    /// Only exclusive calls write it.
    last_error: UnsafeCell<CSentence>,
}

/// Number of live handles of all types. While it is above 0, the allocator cannot be exchanged.
static LIVE: AtomicUsize = AtomicUsize::new(0);

/// Number of live handles of all types.
pub fn live() -> usize {
    LIVE.load(Ordering::SeqCst)
}

/// Creates a handle that holds a value.
pub fn create<O: Opaque<Published = ()>>(value: O::Value) -> Result<*mut O> {
    create_with(value, ())
}

/// [`create`] with published data.
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
    // SAFETY: the layout is not empty; the memory is written before the pointer is returned.
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
/// `pointer` is a live handle without a running call.
unsafe fn release<O: Opaque>(pointer: *mut O) {
    let place = pointer.cast::<BlockOf<O>>();
    // SAFETY: `create` allocated `place` with this layout. The tag makes a second destroy an error instead of a double
    // free, as long as the memory is not reused.
    unsafe {
        (*place).gate.tag.store(0, Ordering::Release);
        // Frees the memory also if a drop panics.
        let _free = Free(place.cast(), Layout::new::<BlockOf<O>>());
        place.drop_in_place();
    }
}

struct Free(*mut u8, Layout);

impl Drop for Free {
    fn drop(&mut self) {
        // SAFETY: only `release` makes a `Free`, from an allocation of this layout.
        unsafe { std::alloc::dealloc(self.0, self.1) };
        LIVE.fetch_sub(1, Ordering::SeqCst);
    }
}

/// # Safety
/// `pointer` is NULL or points to memory that is readable during `'a`.
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

/// The words of messages about a type of handle.
#[derive(Clone, Copy)]
struct Kind {
    name: &'static str,
    busy: Option<&'static str>,
}

impl Kind {
    const fn of<O: Opaque>() -> Self {
        Self { name: O::NAME, busy: O::BUSY }
    }

    #[cold]
    fn busy(self, why: &str) -> Error {
        error!(Busy, "{} is busy: {}", self.name, self.busy.unwrap_or(why))
    }
}

/// A handle's value during an exclusive call.
pub struct Held<'a, T> {
    gate: &'a Gate,
    value: &'a UnsafeCell<T>,
}

impl<T> Held<'_, T> {
    /// Runs `work` on the value. No host code may run inside, except hooks. Their calls on this handle get
    /// `HOB_RESULT_BUSY`.
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

/// Runs an exclusive call on a handle. `what` names the parameter.
///
/// # Safety
/// `pointer` is NULL or a live or (not yet reused) destroyed handle.
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
    block.gate.enter(Kind::of::<O>())?;
    let caught = guard::catch(|| {
        let held = Held { gate: &block.gate, value: &block.value };
        let answer = body(&held);
        O::after(&held);
        answer
    });
    if block.gate.leave(caught.as_ref().err()) {
        let _ = guard::catch(|| {
            // SAFETY: no other call is running on the handle, and the host has destroyed it.
            unsafe { release::<O>(pointer) };
            Ok(())
        });
    }
    caught
}

/// [`exclusive`]. If the call comes from a callback of the handle, runs `inside` as a const call instead.
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
    /// Begins an exclusive call.
    fn enter(&self, kind: Kind) -> std::result::Result<(), hob_result> {
        let me = guard::thread_token();
        if let Err(owner) = self.owner.compare_exchange(0, me, Ordering::Acquire, Ordering::Relaxed) {
            return Err(guard::report(&occupied(kind, owner == me)));
        }
        if self.poisoned.load(Ordering::Relaxed) {
            // SAFETY: this thread owns the handle.
            guard::set_last_error_from(unsafe { &*self.last_error.get() });
            self.owner.store(0, Ordering::Release);
            return Err(hob_result::Poisoned);
        }
        Ok(())
    }

    /// Ends an exclusive call. Returns whether the handle must be destroyed now.
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

    /// Checks that a const call may read the value now.
    fn check_readable(&self, kind: Kind) -> Result<()> {
        let owner = self.owner.load(Ordering::Acquire);
        if owner == 0 { Ok(()) } else { self.check_own(kind, owner) }
    }

    #[cold]
    fn check_own(&self, kind: Kind, owner: usize) -> Result<()> {
        if owner != guard::thread_token() {
            return Err(kind.busy("another thread is inside a call that changes it"));
        }
        if self.borrowed.get() {
            return Err(kind.busy(
                "this call comes from a hook (log, clock, zone, allocator) or from a recording's write, which run inside it",
            ));
        }
        Ok(())
    }
}

#[cold]
fn occupied(kind: Kind, is_own: bool) -> Error {
    kind.busy(if is_own {
        "this call comes from inside one of its own callbacks, where only const functions work"
    } else {
        "another thread is inside a call on it; calls that take it non-const must not overlap"
    })
}

/// Runs a const call on a handle.
///
/// # Safety
/// As [`exclusive`]; other const calls may run at the same time.
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

/// Reads a handle's published data, also during an exclusive call.
///
/// # Safety
/// As [`exclusive`].
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

/// A live handle, for bodies that choose the access themselves.
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
    /// The handle of a parameter. `what` names the parameter.
    ///
    /// # Safety
    /// As [`exclusive`], while the handle is used.
    pub unsafe fn argument(pointer: *mut O, what: &'static str) -> Result<Self> {
        // SAFETY: by this function's contract.
        Ok(Self { pointer, block: unsafe { find::<O>(pointer, what) }? })
    }

    /// The pointer of the host.
    pub fn as_ptr(self) -> *const O {
        self.pointer
    }

    /// Reads the value as a const call.
    pub fn read<R>(self, body: impl FnOnce(&O::Value) -> Result<R>) -> Result<R> {
        self.block.gate.check_readable(Kind::of::<O>())?;
        // SAFETY: there is no mutable reference. `borrowed` is false, so an exclusive call of this thread holds none.
        // An exclusive call of another thread would break the header's contract.
        body(unsafe { &*self.block.value.get() })
    }

    /// The error message of the handle's last failed exclusive call.
    pub fn last_error(self) -> *const c_char {
        // SAFETY: the message always ends in NUL, and during a const call no exclusive call writes it.
        unsafe { (*self.block.gate.last_error.get()).as_ptr() }
    }

    /// Destroys the handle now, or when this thread's running call on it returns.
    pub fn destroy(self) -> Result<()> {
        match self.block.gate.owner.load(Ordering::Acquire) {
            0 => {
                // SAFETY: no call is running on the handle, and by the header's contract none starts.
                unsafe { release::<O>(self.pointer) };
                Ok(())
            }
            owner if owner == guard::thread_token() => {
                self.block.gate.doomed.set(true);
                Ok(())
            }
            _ => Err(Kind::of::<O>().busy("another thread is inside a call on it: destroy it after that call")),
        }
    }
}
