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

use super::guard::{self, CSentence, Slot, Thread};
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
/// `gate` is that of a live `O` without a running call.
unsafe fn release<O: Opaque>(gate: *mut Gate) {
    let place = gate.cast::<BlockOf<O>>();
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

/// A type of handle, for the code that is compiled once for all types.
struct Kind {
    name: &'static str,
    busy: Option<&'static str>,
    tag: u64,
    release: unsafe fn(*mut Gate),
}

impl Kind {
    const fn of<O: Opaque>() -> &'static Self {
        const { &Self { name: O::NAME, busy: O::BUSY, tag: u64::from_ne_bytes(O::TAG), release: release::<O> } }
    }

    /// The gate of a handle.
    ///
    /// # Safety
    /// `gate` is NULL or points to memory that is readable during `'a`.
    #[inline(always)]
    unsafe fn find<'a>(&self, gate: *const Gate, what: &'static str) -> Result<&'a Gate> {
        // SAFETY: by this function's contract; every field that is not an atomic is guarded by `owner`.
        if !gate.is_null() && gate.is_aligned() && unsafe { (*gate).tag.load(Ordering::Acquire) } == self.tag {
            // SAFETY: as above.
            return Ok(unsafe { &*gate });
        }
        Err(self.not_found(gate, what))
    }

    #[cold]
    #[inline(never)]
    fn not_found(&self, gate: *const Gate, what: &str) -> Error {
        let name = self.name;
        if gate.is_null() || !gate.is_aligned() {
            return error!(InvalidArgument, "{what} is NULL: pass the handle that {name}_create gave");
        }
        error!(InvalidArgument, "{what} is not a live {name}: it was destroyed, or is a handle of another type")
    }

    #[cold]
    #[inline(never)]
    fn busy(&self, why: &str) -> Error {
        error!(Busy, "{} is busy: {}", self.name, self.busy.unwrap_or(why))
    }

    #[cold]
    #[inline(never)]
    fn occupied(&self, is_own: bool) -> Error {
        self.busy(if is_own {
            "this call comes from inside one of its own callbacks, where only const functions work"
        } else {
            "another thread is inside a call on it; calls that take it non-const must not overlap"
        })
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

/// Starts the body in `slot` with the value behind `gate`.
type Start = unsafe fn(slot: *mut (), gate: *const Gate) -> Result<()>;

/// The block of a gate.
///
/// # Safety
/// `gate` is that of an `O` that is live during `'a`.
unsafe fn block<'a, O: Opaque>(gate: *const Gate) -> &'a BlockOf<O> {
    // SAFETY: by this function's contract; the gate is a block's first field.
    unsafe { &*gate.cast() }
}

/// Runs an exclusive call on a handle. `what` names the parameter. A `HOT` call is compiled into its function: 25 fewer
/// instructions of 140, and 400 more bytes. `INTEGERS`, for hot calls: see [`guard::catch_on`].
///
/// # Safety
/// `pointer` is NULL or a live or (not yet reused) destroyed handle.
#[inline]
pub unsafe fn exclusive<
    const HOT: bool,
    const INTEGERS: bool,
    O: Opaque,
    R,
    F: FnOnce(&Held<'_, O::Value>) -> Result<R>,
>(
    pointer: *mut O,
    what: &'static str,
    body: F,
) -> std::result::Result<R, hob_result> {
    unsafe fn start<O: Opaque, R, F: FnOnce(&Held<'_, O::Value>) -> Result<R>>(
        slot: *mut (),
        gate: *const Gate,
    ) -> Result<()> {
        // SAFETY: `exclusive` passes its slot, once, and the gate of an `O`.
        unsafe {
            let block = block::<O>(gate);
            let held = Held { gate: &block.gate, value: &block.value };
            Slot::<F, R>::fill(slot.cast(), |body| {
                let answer = body(&held);
                O::after(&held);
                answer
            })
        }
    }
    let mut slot = Slot::new(body);
    // SAFETY: by this function's contract; `start` fits the slot, and runs at most once.
    unsafe {
        let call = if HOT { exclusive_here::<INTEGERS> } else { exclusive_apart };
        let code = call(pointer.cast(), Kind::of::<O>(), what, (&raw mut slot).cast(), start::<O, R, F>);
        slot.answer(code)
    }
}

/// # Safety
/// As [`exclusive`]; `start` may be called once with `slot` and a gate of this kind.
#[inline(never)]
unsafe fn exclusive_apart(
    pointer: *mut Gate,
    kind: &'static Kind,
    what: &'static str,
    slot: *mut (),
    start: Start,
) -> hob_result {
    // SAFETY: by this function's contract.
    unsafe { exclusive_here::<false>(pointer, kind, what, slot, start) }
}

/// # Safety
/// As [`exclusive_apart`].
#[inline(always)]
unsafe fn exclusive_here<const INTEGERS: bool>(
    pointer: *mut Gate,
    kind: &'static Kind,
    what: &'static str,
    slot: *mut (),
    start: Start,
) -> hob_result {
    // SAFETY: by this function's contract.
    let gate = match unsafe { kind.find(pointer, what) } {
        Ok(gate) => gate,
        Err(error) => return guard::report(&error),
    };
    let thread = Thread::current();
    if let Some(refusal) = gate.enter(kind, thread.token()) {
        return refusal;
    }
    // SAFETY: by this function's contract.
    let code = guard::catch_on::<INTEGERS>(thread, || unsafe { start(slot, pointer) });
    if code != hob_result::Ok {
        gate.keep_failure(code);
    }
    if gate.leave() {
        let _ = guard::catch::<false, _, _>(|| {
            // SAFETY: no other call is running on the handle, and the host has destroyed it.
            unsafe { (kind.release)(pointer) };
            Ok(())
        });
    }
    code
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
    let is_inside = unsafe { Kind::of::<O>().find(pointer.cast(), what) }
        .is_ok_and(|gate| gate.owner.load(Ordering::Acquire) == guard::thread_token());
    if is_inside {
        unsafe { shared::<false, false, _, _, _>(pointer, what, inside) }
    } else {
        unsafe { exclusive::<false, false, _, _, _>(pointer, what, body) }
    }
}

/// [`exclusive`], after an attempt to answer by `quick` as a const call: that does without an atomic exchange, which takes as
/// long as the rest of the guard. If `quick` gives `None` or panics, `body` answers. `quick` does not run while the handle is
/// in use or poisoned.
///
/// # Safety
/// As [`exclusive`].
#[inline]
pub unsafe fn exclusive_after<O: Opaque, R>(
    pointer: *mut O,
    what: &'static str,
    quick: impl FnOnce(&O::Value) -> Option<R>,
    body: impl FnOnce(&Held<'_, O::Value>) -> Result<R>,
) -> std::result::Result<R, hob_result> {
    // SAFETY: by this function's contract.
    let gate = unsafe { Kind::of::<O>().find(pointer.cast(), what) };
    let is_free = |gate: &&Gate| gate.owner.load(Ordering::Acquire) == 0 && !gate.poisoned.load(Ordering::Relaxed);
    if let Some(gate) = gate.ok().filter(is_free) {
        let mut answer = None;
        let code = guard::catch_on::<false>(Thread::current(), || {
            // SAFETY: the gate is that of an `O`. As in `shared`: no exclusive call of this thread is running, and one of
            // another thread would break the header's contract.
            answer = quick(unsafe { &*block::<O>(gate).value.get() });
            Ok(())
        });
        if let (hob_result::Ok, Some(answer)) = (code, answer) {
            return Ok(answer);
        }
    }
    // SAFETY: by this function's contract.
    unsafe { exclusive::<false, false, _, _, _>(pointer, what, body) }
}

impl Gate {
    /// Begins an exclusive call. Returns the code of a refusal.
    #[inline(always)]
    fn enter(&self, kind: &Kind, me: usize) -> Option<hob_result> {
        if let Err(owner) = self.owner.compare_exchange(0, me, Ordering::Acquire, Ordering::Relaxed) {
            return Some(guard::report(&kind.occupied(owner == me)));
        }
        self.poisoned.load(Ordering::Relaxed).then(|| self.refuse_poisoned())
    }

    #[cold]
    #[inline(never)]
    fn refuse_poisoned(&self) -> hob_result {
        // SAFETY: this thread owns the handle.
        guard::set_last_error_from(unsafe { &*self.last_error.get() });
        self.owner.store(0, Ordering::Release);
        hob_result::Poisoned
    }

    #[cold]
    #[inline(never)]
    fn keep_failure(&self, code: hob_result) {
        self.poisoned.fetch_or(code == hob_result::Panic, Ordering::Relaxed);
        // SAFETY: this thread owns the handle.
        guard::copy_last_error(unsafe { &mut *self.last_error.get() });
    }

    /// Ends an exclusive call. Returns whether the handle must be destroyed now.
    fn leave(&self) -> bool {
        let doomed = self.doomed.get();
        self.owner.store(0, Ordering::Release);
        doomed
    }

    /// Checks that a const call may read the value now.
    #[inline(always)]
    fn check_readable(&self, kind: &'static Kind) -> Result<()> {
        let owner = self.owner.load(Ordering::Acquire);
        if owner == 0 { Ok(()) } else { self.check_own(kind, owner) }
    }

    #[cold]
    #[inline(never)]
    fn check_own(&self, kind: &'static Kind, owner: usize) -> Result<()> {
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

/// Runs a const call on a handle.
///
/// # Safety
/// As [`exclusive`]; other const calls may run at the same time.
#[inline]
pub unsafe fn shared<const HOT: bool, const INTEGERS: bool, O: Opaque, R, F: FnOnce(&O::Value) -> Result<R>>(
    pointer: *const O,
    what: &'static str,
    body: F,
) -> std::result::Result<R, hob_result> {
    unsafe fn start<O: Opaque, R, F: FnOnce(&O::Value) -> Result<R>>(slot: *mut (), gate: *const Gate) -> Result<()> {
        // SAFETY: `shared` passes its slot, once, and the gate of an `O`. There is no mutable reference. `borrowed` is
        // false, so an exclusive call of this thread holds none. An exclusive call of another thread would break the
        // header's contract.
        unsafe { Slot::<F, R>::fill(slot.cast(), |body| body(&*block::<O>(gate).value.get())) }
    }
    let mut slot = Slot::new(body);
    // SAFETY: by this function's contract; `start` fits the slot, and runs at most once.
    unsafe {
        let call = if HOT { shared_here::<INTEGERS> } else { shared_apart };
        let code = call(pointer.cast(), Kind::of::<O>(), what, (&raw mut slot).cast(), start::<O, R, F>);
        slot.answer(code)
    }
}

/// # Safety
/// As [`shared`]; `start` may be called once with `slot` and a gate of this kind.
#[inline(never)]
unsafe fn shared_apart(
    pointer: *const Gate,
    kind: &'static Kind,
    what: &'static str,
    slot: *mut (),
    start: Start,
) -> hob_result {
    // SAFETY: by this function's contract.
    unsafe { shared_here::<false>(pointer, kind, what, slot, start) }
}

/// # Safety
/// As [`shared_apart`].
#[inline(always)]
unsafe fn shared_here<const INTEGERS: bool>(
    pointer: *const Gate,
    kind: &'static Kind,
    what: &'static str,
    slot: *mut (),
    start: Start,
) -> hob_result {
    guard::catch_on::<INTEGERS>(Thread::current(), || {
        // SAFETY: by this function's contract.
        let gate = unsafe { kind.find(pointer, what) }?;
        gate.check_readable(kind)?;
        // SAFETY: by this function's contract.
        unsafe { start(slot, pointer) }
    })
}

/// Reads a handle's published data, also during an exclusive call.
///
/// # Safety
/// As [`exclusive`].
#[inline]
pub unsafe fn published<const HOT: bool, O: Opaque, R, F: FnOnce(&O::Published) -> Result<R>>(
    pointer: *const O,
    what: &'static str,
    body: F,
) -> std::result::Result<R, hob_result> {
    guard::catch::<HOT, _, _>(move || {
        // SAFETY: by this function's contract.
        let block = unsafe {
            Kind::of::<O>().find(pointer.cast(), what)?;
            block::<O>(pointer.cast())
        };
        body(&block.published)
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
        unsafe {
            Kind::of::<O>().find(pointer.cast(), what)?;
            Ok(Self { pointer, block: block::<O>(pointer.cast()) })
        }
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
                unsafe { release::<O>(self.pointer.cast()) };
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
