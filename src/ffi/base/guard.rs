//! The guard around every entry of the C API. An error or a panic leaves the library only as a result code.
//!
//! * The guard catches a panic and returns `HOB_RESULT_PANIC` with message, file and line.
//! * Library code runs in the default floating-point environment, because hosts unmask traps and flush denormals. The
//!   host's own environment is restored on return and around every callback. Calls that compute with integers only leave the
//!   host's environment active: to read the register takes as long as an atomic exchange on some processors.
//! * The error message is kept for `hob_last_error`.
//!
//! Per-thread state has no destructor and uses no heap. Either would keep the library mapped after `dlclose` until the
//! thread ends.

use std::cell::UnsafeCell;
use std::ffi::c_char;
use std::fmt::Write as _;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::sync::{Once, OnceLock};

use super::float::Register;
use super::result::hob_result;
use crate::base::{Error, Result, Text, error};

/// Size of an error message for C in bytes, with its NUL.
const SENTENCE: usize = 512;

/// An error message that ends in NUL.
pub struct CSentence {
    bytes: [u8; SENTENCE],
}

impl CSentence {
    pub const EMPTY: Self = Self { bytes: [0; SENTENCE] };

    #[inline(never)]
    pub fn set(&mut self, sentence: &str) {
        let cut = Text::<{ SENTENCE - 1 }>::format(format_args!("{sentence}"));
        self.bytes[..cut.as_str().len()].copy_from_slice(cut.as_str().as_bytes());
        self.bytes[cut.as_str().len()] = 0;
    }

    pub fn as_ptr(&self) -> *const c_char {
        self.bytes.as_ptr().cast()
    }
}

/// State of one thread. Only its own thread accesses it. No reference to it is held across a call.
struct ThreadState {
    last_error: CSentence,
    panic: Text<{ SENTENCE - 1 }>,
    /// Guards that are active, minus the host callbacks in between: above zero exactly while library code runs.
    inside: u32,
    /// Whether a call may begin without a look at `is_barred` and the panic hook.
    is_open: bool,
    /// Whether a host function is running that must not call the library.
    is_barred: bool,
    /// The host's floating-point environment at entry, for callbacks. [`Register::ACTIVE`]: it is active.
    host_environment: Register,
    /// Whether a loop has left the host's environment active. The next guard to end restores the right one.
    is_altered: bool,
    /// One more than the thread's number; 0 before it was asked for.
    number1: usize,
}

thread_local! {
    static THREAD: UnsafeCell<ThreadState> = const {
        UnsafeCell::new(ThreadState {
            last_error: CSentence::EMPTY,
            panic: Text::EMPTY,
            inside: 0,
            is_open: false,
            is_barred: false,
            host_environment: Register::DEFAULT,
            is_altered: false,
            number1: 0,
        })
    };
}

fn with_thread<R>(f: impl FnOnce(&mut ThreadState) -> R) -> R {
    // SAFETY: the state belongs to this thread. Every `f` in this file is short and calls nothing that could reenter
    // this function, so there is no second reference.
    THREAD.with(|state| f(unsafe { &mut *state.get() }))
}

/// A number that is unique among live threads, never 0.
pub fn thread_token() -> usize {
    Thread::current().token()
}

/// [`crate::base::thread_number`] without a second lookup of the thread in a hot call.
#[cfg(feature = "pipeline")]
#[inline]
pub fn thread_number() -> usize {
    with_thread(|thread| {
        if thread.number1 == 0 {
            thread.number1 = crate::base::thread_number() + 1;
        }
        thread.number1 - 1
    })
}

/// This thread. A call looks it up once, because the lookup is a call in a shared library.
#[derive(Clone, Copy)]
pub struct Thread(*mut ThreadState);

impl Thread {
    pub fn current() -> Self {
        Self(THREAD.with(UnsafeCell::get))
    }

    /// A number that is unique among live threads, never 0.
    pub fn token(self) -> usize {
        self.0 as usize
    }
}

/// Copies this thread's last error message.
pub fn copy_last_error(to: &mut CSentence) {
    with_thread(|thread| to.bytes = thread.last_error.bytes);
}

/// Replaces this thread's last error message.
pub fn set_last_error_from(from: &CSentence) {
    with_thread(|thread| thread.last_error.bytes = from.bytes);
}

/// This thread's last error message.
pub fn last_error() -> *const c_char {
    with_thread(|thread| thread.last_error.as_ptr())
}

/// Stores an error message for `hob_last_error`.
pub fn set_last_error(sentence: &str) {
    with_thread(|thread| thread.last_error.set(sentence));
}

/// The body of a call, and later its answer. [`run_apart`] knows neither type, so that the guard is compiled once and
/// not for every function of the C API: that halved the code of an entry.
pub union Slot<F, R> {
    body: ManuallyDrop<F>,
    answer: ManuallyDrop<R>,
}

impl<F, R> Slot<F, R> {
    pub fn new(body: F) -> Self {
        Self { body: ManuallyDrop::new(body) }
    }

    /// Runs the body with `start`, and keeps its answer.
    ///
    /// # Safety
    /// `slot` holds the body.
    #[inline]
    pub unsafe fn fill(slot: *mut Self, start: impl FnOnce(F) -> Result<R>) -> Result<()> {
        // SAFETY: by this function's contract; the body is moved out once, and an answer takes its place.
        unsafe {
            let body = ManuallyDrop::take(&mut (*slot).body);
            (*slot).answer = ManuallyDrop::new(start(body)?);
        }
        Ok(())
    }

    /// The answer.
    ///
    /// # Safety
    /// `code` is `Ok` only if [`Slot::fill`] succeeded. After another code the slot is not used again.
    #[inline]
    pub unsafe fn answer(self, code: hob_result) -> std::result::Result<R, hob_result> {
        if code != hob_result::Ok {
            return Err(code);
        }
        // SAFETY: by this function's contract.
        Ok(ManuallyDrop::into_inner(unsafe { self.answer }))
    }
}

/// Runs `body` inside the guard. A failure's message is stored for `hob_last_error`.
#[inline]
pub fn catch<const HOT: bool, R, F: FnOnce() -> Result<R>>(body: F) -> std::result::Result<R, hob_result> {
    unsafe fn start<R, F: FnOnce() -> Result<R>>(slot: *mut ()) -> Result<()> {
        // SAFETY: `catch` passes its slot, once.
        unsafe { Slot::<F, R>::fill(slot.cast(), |body| body()) }
    }
    let mut slot = Slot::new(body);
    // SAFETY: `start` fits the slot, and runs at most once.
    unsafe {
        let run = if HOT { run_here } else { run_apart };
        let code = run((&raw mut slot).cast(), start::<R, F>);
        slot.answer(code)
    }
}

/// Runs `start(data)` inside the guard.
///
/// # Safety
/// `start` may be called once with `data`.
#[inline(never)]
unsafe fn run_apart(data: *mut (), start: unsafe fn(*mut ()) -> Result<()>) -> hob_result {
    // SAFETY: by this function's contract.
    unsafe { run_here(data, start) }
}

/// # Safety
/// As [`run_apart`].
#[inline(always)]
unsafe fn run_here(data: *mut (), start: unsafe fn(*mut ()) -> Result<()>) -> hob_result {
    // SAFETY: by this function's contract.
    catch_on::<false>(Thread::current(), || unsafe { start(data) })
}

/// [`catch`] with the thread at hand, compiled for each `body`. `INTEGERS`: the body computes with integers only, so the
/// host's floating-point environment stays active.
#[inline(always)]
pub fn catch_on<const INTEGERS: bool>(thread: Thread, body: impl FnOnce() -> Result<()>) -> hob_result {
    let thread = thread.0;
    // SAFETY: this thread's own, as in `with_thread`.
    if !unsafe { (*thread).is_open } {
        // SAFETY: as before.
        if unsafe { !(*thread).open() } {
            return barred();
        }
    }
    // SAFETY: as before.
    let outside = unsafe { (*thread).enter::<INTEGERS>() };
    let outcome = catch_unwind(AssertUnwindSafe(body));
    // SAFETY: as before; the host must return from callbacks on the thread that called it, so it is still this thread.
    unsafe { (*thread).leave::<INTEGERS>(outside) };
    match outcome {
        Ok(Ok(())) => hob_result::Ok,
        Ok(Err(error)) => fail(error),
        Err(payload) => panicked(payload),
    }
}

/// [`report`] that frees the error.
#[cold]
#[inline(never)]
fn fail(error: Error) -> hob_result {
    report(&error)
}

static INSTALL: Once = Once::new();

#[cold]
#[inline(never)]
fn barred() -> hob_result {
    let sentence =
        "a file function or a comparison of the host called the library, which waits for it: make the call later";
    report(&error!(Busy, "{sentence}"))
}

/// Converts a caught panic to a result code.
#[cold]
#[inline(never)]
fn panicked(payload: Box<dyn std::any::Any + Send>) -> hob_result {
    // The payload comes from library code. A panic in its drop must not leave the library either.
    let _ = catch_unwind(AssertUnwindSafe(move || drop(payload)));
    with_thread(|thread| thread.last_error.set(thread.panic.as_str()));
    hob_result::Panic
}

/// The result code of a [`catch`].
pub fn code(called: std::result::Result<(), hob_result>) -> hob_result {
    called.map_or_else(|code| code, |()| hob_result::Ok)
}

/// [`catch`] that returns a result code.
pub fn guard(body: impl FnOnce() -> Result<()>) -> hob_result {
    code(catch::<false, _, _>(body))
}

/// [`catch`] on a thread that is not the caller's. A panic's message is returned.
#[cfg(feature = "executor")]
#[allow(clippy::result_large_err, reason = "rare, and needs no memory")]
pub fn enclose(work: &mut dyn FnMut()) -> std::result::Result<(), crate::executor::Sentence> {
    let caught = unbarred(|| {
        catch::<false, _, _>(|| {
            work();
            Ok(())
        })
    });
    caught.map_err(|_| with_thread(|thread| Text::format(format_args!("{}", thread.panic))))
}

/// Stores an error's message for `hob_last_error` and returns its code.
#[cold]
#[inline(never)]
pub fn report(error: &Error) -> hob_result {
    set_last_error(error.sentence());
    hob_result::from(error.code())
}

/// State that a thread restores when it leaves the guard.
#[derive(Clone, Copy)]
struct Outside {
    register: Register,
    host_environment: Register,
}

impl ThreadState {
    /// Prepares for a call. Returns whether it may begin.
    #[cold]
    #[inline(never)]
    fn open(&mut self) -> bool {
        INSTALL.call_once(install_panic_hook);
        self.is_open = !self.is_barred;
        self.is_open
    }

    /// Sets the bar. Returns whether it was set.
    #[cfg(feature = "executor")]
    fn bar(&mut self, is_barred: bool) -> bool {
        self.is_open = false;
        std::mem::replace(&mut self.is_barred, is_barred)
    }

    /// Marks library code as running, and switches to the default environment unless it computes with `INTEGERS` only.
    #[inline(always)]
    fn enter<const INTEGERS: bool>(&mut self) -> Outside {
        self.inside += 1;
        if INTEGERS {
            let host_environment = std::mem::replace(&mut self.host_environment, Register::ACTIVE);
            return Outside { register: Register::ACTIVE, host_environment };
        }
        self.switch()
    }

    #[inline(always)]
    fn leave<const INTEGERS: bool>(&mut self, outside: Outside) {
        self.inside -= 1;
        if INTEGERS {
            self.host_environment = outside.host_environment;
        } else {
            self.switch_back(outside);
        }
    }

    /// Switches to the default environment.
    #[inline(always)]
    fn switch(&mut self) -> Outside {
        let register = Register::read();
        let outside = Outside { register, host_environment: self.host_environment };
        self.host_environment = register;
        if !register.is_default() {
            Register::DEFAULT.write();
        }
        outside
    }

    /// Restores the host's environment. If the host's environment is the default, the register is neither read nor
    /// written: that would cost as much as the rest of the guard. Library code and `call_host` keep the default.
    #[inline(always)]
    fn switch_back(&mut self, outside: Outside) {
        self.host_environment = outside.host_environment;
        if self.is_altered || !outside.register.is_default() {
            self.is_altered = false;
            outside.register.write();
        }
    }
}

/// Runs library code in the default environment, from a call that left the host's active.
#[cfg(feature = "graph")]
pub fn in_default_environment<R>(work: impl FnOnce() -> R) -> R {
    struct Back(*mut ThreadState, Outside);
    impl Drop for Back {
        fn drop(&mut self) {
            // SAFETY: this thread's own, as in `with_thread`.
            unsafe { (*self.0).switch_back(self.1) };
        }
    }
    let thread = THREAD.with(UnsafeCell::get);
    // SAFETY: as above.
    let _back = Back(thread, unsafe { (*thread).switch() });
    work()
}

/// Calls the host in its own floating-point environment. A panic of a host that is written in Rust goes to the host's
/// panic hook.
#[inline]
pub fn call_host<R>(callback: impl FnOnce() -> R) -> R {
    let away = Away::begin();
    let answer = callback();
    away.end();
    answer
}

/// A call of the host.
struct Away {
    /// [`ThreadState::inside`] before.
    inside: u32,
    /// The library's register. `None`: the host's was active before.
    own: Option<Register>,
}

impl Away {
    #[inline(never)]
    fn begin() -> Self {
        with_thread(|thread| {
            let inside = std::mem::take(&mut thread.inside);
            // Outside the guard the host's environment is active already.
            if inside == 0 || thread.host_environment.is_active() {
                return Self { inside, own: None };
            }
            let mut own = Register::DEFAULT;
            if !thread.host_environment.is_default() {
                own = Register::read();
                thread.host_environment.write();
            }
            Self { inside, own: Some(own) }
        })
    }

    #[inline(never)]
    fn end(self) {
        // The host returns on the thread that called it.
        with_thread(|thread| thread.inside = self.inside);
        if let Some(own) = self.own {
            // Also corrects a change by the host.
            own.restore();
        }
    }
}

/// Runs library code in the host's environment, because it calls too many host functions to switch for each of them.
/// `environment` is the host's. The code must tolerate every rounding and flushing, and no traps. If it unwinds, the
/// guard restores the host's environment as always.
#[cfg(feature = "graph")]
pub fn in_host_environment<R>(environment: Register, work: impl FnOnce() -> R) -> R {
    // The library's code has the default already.
    if !environment.is_default() {
        environment.restore();
    }
    let answer = work();
    Register::DEFAULT.restore();
    answer
}

/// The host's floating-point environment during the current call. Loops pass it to other threads.
#[cfg(feature = "executor")]
pub fn host_environment() -> Register {
    with_thread(|thread| {
        let is_active = thread.inside == 0 || thread.host_environment.is_active();
        if is_active { Register::read() } else { thread.host_environment }
    })
}

/// [`call_host`] for one of many callbacks of a loop. `environment` stays active between them, until this thread's
/// guard ends. Only the library's loop runs in between, and it computes with integers.
#[cfg(feature = "executor")]
pub fn call_host_in_loop<R>(environment: Register, callback: impl FnOnce() -> R) -> R {
    let thread = THREAD.with(UnsafeCell::get);
    environment.restore();
    // SAFETY: as in `call_host`.
    let inside = unsafe { std::mem::replace(&mut (*thread).inside, 0) };
    let answer = callback();
    // SAFETY: as in `call_host`.
    unsafe {
        (*thread).inside = inside;
        (*thread).is_altered = true;
    }
    answer
}

/// [`call_host`] for a host function that is called with locks held. Until it returns, library calls of this thread
/// return `HOB_RESULT_BUSY` instead of a deadlock.
#[cfg(feature = "store")]
pub fn call_host_barred<R>(callback: impl FnOnce() -> R) -> R {
    let was_barred = with_thread(|thread| thread.bar(true));
    let answer = call_host(callback);
    with_thread(|thread| thread.bar(was_barred));
    answer
}

/// Lifts the bar of [`call_host_barred`] for the calls that such a function may make, and for jobs that a host runs
/// while it waits for a file.
#[cfg(feature = "executor")]
pub fn unbarred<R>(work: impl FnOnce() -> R) -> R {
    let was_barred = with_thread(|thread| thread.bar(false));
    let done = work();
    with_thread(|thread| thread.bar(was_barred));
    done
}

type PanicHook = Box<dyn Fn(&PanicHookInfo<'_>) + Send + Sync>;

/// The previous panic hook. In a C program it is the standard library's, which does not allocate.
static OTHERS: OnceLock<PanicHook> = OnceLock::new();

fn install_panic_hook() {
    let _ = OTHERS.set(std::panic::take_hook());
    std::panic::set_hook(Box::new(on_panic));
}

fn on_panic(info: &PanicHookInfo<'_>) {
    if with_thread(|thread| thread.inside) > 0 {
        record_panic(info);
    } else if let Some(others) = OTHERS.get() {
        others(info);
    }
}

fn record_panic(info: &PanicHookInfo<'_>) {
    let payload = info.payload();
    let message = payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message");
    let mut sentence = Text::EMPTY;
    let _ = match info.location() {
        Some(place) => write!(sentence, "internal error at {}:{}: {message}", place.file(), place.line()),
        None => write!(sentence, "internal error: {message}"),
    };
    with_thread(|thread| thread.panic = sentence);
}
