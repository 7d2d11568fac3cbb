//! The wall between the host and the library: nothing that goes wrong inside gets out, but as a result.
//!
//! Around every entry: a panic is caught and becomes `HOB_RESULT_PANIC` with message, file and line; the floating-point
//! environment is the default one inside (hosts unmask traps and flush denormals) and the host's own again outside,
//! also around every callback; a failure's sentence is kept for `hob_last_error`.
//!
//! Per-thread state has no destructor and no heap: either would keep the library mapped after `dlclose` for as long as
//! the thread lives.

use std::cell::UnsafeCell;
use std::ffi::c_char;
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::sync::{Once, OnceLock};

use super::float::Register;
use super::result::hob_result;
use crate::base::{Error, Result, Text, error};

/// Bytes of a sentence that C can read, its NUL included.
const SENTENCE: usize = 512;

/// A sentence that ends in NUL.
pub struct CSentence {
    bytes: [u8; SENTENCE],
}

impl CSentence {
    pub const EMPTY: Self = Self { bytes: [0; SENTENCE] };

    pub fn set(&mut self, sentence: &str) {
        let cut = Text::<{ SENTENCE - 1 }>::format(format_args!("{sentence}"));
        self.bytes[..cut.as_str().len()].copy_from_slice(cut.as_str().as_bytes());
        self.bytes[cut.as_str().len()] = 0;
    }

    pub fn as_ptr(&self) -> *const c_char {
        self.bytes.as_ptr().cast()
    }
}

/// What a thread keeps. Only its own thread reaches it, and never while a reference to it is held across a call.
struct ThreadState {
    last_error: CSentence,
    panic: Text<{ SENTENCE - 1 }>,
    /// Guards entered and not left, minus the host callbacks in between: above zero exactly while our code runs.
    inside: u32,
    /// Whether a function of the host's runs that must not come back here.
    is_barred: bool,
    /// The floating-point environment that the host came in with, for callbacks.
    host_environment: Register,
    /// Whether a loop has left the host's environment in force: the guard that ends puts the right one back.
    is_altered: bool,
}

thread_local! {
    static THREAD: UnsafeCell<ThreadState> = const {
        UnsafeCell::new(ThreadState {
            last_error: CSentence::EMPTY,
            panic: Text::EMPTY,
            inside: 0,
            is_barred: false,
            host_environment: Register::DEFAULT,
            is_altered: false,
        })
    };
}

fn with_thread<R>(f: impl FnOnce(&mut ThreadState) -> R) -> R {
    // SAFETY: the state is this thread's own, and every `f` in this file is a short piece of code that calls nothing
    // which could come back here, so no second reference exists while this one does.
    THREAD.with(|state| f(unsafe { &mut *state.get() }))
}

/// A number that no other living thread has, never 0.
pub fn thread_token() -> usize {
    THREAD.with(|state| state.get() as usize)
}

/// A copy of this thread's last sentence.
pub fn copy_last_error(to: &mut CSentence) {
    with_thread(|thread| to.bytes = thread.last_error.bytes);
}

/// Make another sentence this thread's last one.
pub fn set_last_error_from(from: &CSentence) {
    with_thread(|thread| thread.last_error.bytes = from.bytes);
}

/// This thread's last sentence.
pub fn last_error() -> *const c_char {
    with_thread(|thread| thread.last_error.as_ptr())
}

/// Keep a sentence for `hob_last_error`.
pub fn set_last_error(sentence: &str) {
    with_thread(|thread| thread.last_error.set(sentence));
}

/// Run `body` behind the guard; a failure's sentence is kept for `hob_last_error`.
#[inline]
pub fn catch<R>(body: impl FnOnce() -> Result<R>) -> std::result::Result<R, hob_result> {
    INSTALL.call_once(install_panic_hook);
    let thread = THREAD.with(UnsafeCell::get);
    // SAFETY: this thread's own, as in `with_thread`; the place is looked up once, since that is a call in a shared
    // library.
    if unsafe { (*thread).is_barred } {
        return Err(barred());
    }
    // SAFETY: as before.
    let outside = unsafe { (*thread).enter() };
    let outcome = catch_unwind(AssertUnwindSafe(body));
    // SAFETY: as before; the host must return from callbacks on the thread that called it, so it is still this thread.
    unsafe { (*thread).leave(outside) };
    match outcome {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(report(&error)),
        Err(payload) => Err(panicked(payload)),
    }
}

static INSTALL: Once = Once::new();

#[cold]
fn barred() -> hob_result {
    report(&error!(Busy, "a file function of the host called the library, which waits for it: make that call later"))
}

/// A caught panic as a result.
#[cold]
fn panicked(payload: Box<dyn std::any::Any + Send>) -> hob_result {
    // A payload is ours, but whatever it is, its drop must not get out either.
    let _ = catch_unwind(AssertUnwindSafe(move || drop(payload)));
    with_thread(|thread| thread.last_error.set(thread.panic.as_str()));
    hob_result::Panic
}

/// The code of what was caught.
pub fn code(called: std::result::Result<(), hob_result>) -> hob_result {
    called.map_or_else(|code| code, |()| hob_result::Ok)
}

/// [`catch`], as a code.
pub fn guard(body: impl FnOnce() -> Result<()>) -> hob_result {
    code(catch(body))
}

/// [`catch`], on a thread that is not the caller's: the caller gets a panic's sentence.
#[cfg(feature = "executor")]
#[allow(clippy::result_large_err, reason = "rare, and needs no memory")]
pub fn enclose(work: &mut dyn FnMut()) -> std::result::Result<(), crate::executor::Sentence> {
    let caught = unbarred(|| {
        catch(|| {
            work();
            Ok(())
        })
    });
    caught.map_err(|_| with_thread(|thread| Text::format(format_args!("{}", thread.panic))))
}

/// Keep an error's sentence for `hob_last_error`; its code.
#[cold]
pub fn report(error: &Error) -> hob_result {
    set_last_error(error.sentence());
    hob_result::from(error.code())
}

/// What a thread puts back when it goes through the wall once more.
#[derive(Clone, Copy)]
struct Outside {
    register: Register,
    host_environment: Register,
}

impl ThreadState {
    /// The default environment, and our code, from here on.
    #[inline(always)]
    fn enter(&mut self) -> Outside {
        let register = Register::read();
        let outside = Outside { register, host_environment: self.host_environment };
        self.host_environment = register;
        self.inside += 1;
        if !register.is_default() {
            Register::DEFAULT.write();
        }
        outside
    }

    /// The host's environment and code again. What is the default already needs no look, which would cost as much as
    /// the rest of a guard: our code leaves it alone, and so does `call_host`.
    #[inline(always)]
    fn leave(&mut self, outside: Outside) {
        self.inside -= 1;
        self.host_environment = outside.host_environment;
        if self.is_altered || !outside.register.is_default() {
            self.is_altered = false;
            outside.register.write();
        }
    }
}

/// Call the host: with its floating-point environment, and with its panics (if it is written in Rust) its own.
pub fn call_host<R>(callback: impl FnOnce() -> R) -> R {
    let thread = THREAD.with(UnsafeCell::get);
    // SAFETY: this thread's own, as in `with_thread`; no reference is held while the host runs, here and below.
    let (inside, environment) = unsafe { ((*thread).inside, (*thread).host_environment) };
    if inside == 0 {
        // Outside the guard the environment is the host's already.
        return callback();
    }
    // SAFETY: as above.
    unsafe { (*thread).inside = 0 };
    if !environment.is_default() {
        environment.write();
    }
    let answer = callback();
    // SAFETY: as above; the host returns on the thread that called it.
    unsafe { (*thread).inside = inside };
    // Also if the host has changed it.
    Register::DEFAULT.restore();
    answer
}

/// The host's floating-point environment during the present call: for loops, which hand it to other threads.
#[cfg(feature = "executor")]
pub fn host_environment() -> Register {
    with_thread(|thread| if thread.inside == 0 { Register::read() } else { thread.host_environment })
}

/// [`call_host`] for one of many callbacks of a loop: `environment` stays in force between them, until the guard that
/// this thread is inside of ends. In between only our own loop runs, which computes with integers.
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

/// [`call_host`] for a function of the host that is called with locks held: until it returns, calls of this thread get
/// `HOB_RESULT_BUSY` instead of a deadlock.
#[cfg(feature = "program_cache")]
pub fn call_host_barred<R>(callback: impl FnOnce() -> R) -> R {
    let was_barred = with_thread(|thread| std::mem::replace(&mut thread.is_barred, true));
    let answer = call_host(callback);
    with_thread(|thread| thread.is_barred = was_barred);
    answer
}

/// Lifts that for the calls that such a function may make, and for jobs that a host runs while it waits for a file.
#[cfg(feature = "executor")]
pub fn unbarred<R>(work: impl FnOnce() -> R) -> R {
    let was_barred = with_thread(|thread| std::mem::replace(&mut thread.is_barred, false));
    let done = work();
    with_thread(|thread| thread.is_barred = was_barred);
    done
}

type PanicHook = Box<dyn Fn(&PanicHookInfo<'_>) + Send + Sync>;

/// Whoever handled panics before. In a C program that is the standard library's own, which needs no memory.
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
