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

use super::base::hob_result;
use crate::base::{Error, Text, error};

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
}

thread_local! {
    static THREAD: UnsafeCell<ThreadState> = const {
        UnsafeCell::new(ThreadState {
            last_error: CSentence::EMPTY,
            panic: Text::EMPTY,
            inside: 0,
            is_barred: false,
            host_environment: Register::DEFAULT,
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

/// Run `body` behind the wall; a failure's sentence is kept for `hob_last_error`.
pub fn catch<R>(body: impl FnOnce() -> crate::base::Result<R>) -> Result<R, hob_result> {
    let (mut body, mut answer) = (Some(body), None);
    let result = wall(&mut || {
        if let Some(body) = body.take() {
            answer = Some(body()?);
        }
        Ok(())
    });
    answer.filter(|_| result == hob_result::Ok).ok_or(result)
}

/// [`catch`], for bodies that return nothing.
pub fn guard(body: impl FnOnce() -> crate::base::Result<()>) -> hob_result {
    let mut body = Some(body);
    wall(&mut || body.take().map_or(Ok(()), |body| body()))
}

/// [`wall`], on a thread that is not the caller's: what a panic said is the caller's to know.
#[cfg(feature = "executor")]
#[allow(clippy::result_large_err, reason = "rare, and needs no memory")]
pub fn enclose(work: &mut dyn FnMut()) -> Result<(), crate::executor::Sentence> {
    let result = unbarred(|| {
        wall(&mut || {
            work();
            Ok(())
        })
    });
    if result == hob_result::Ok {
        return Ok(());
    }
    Err(with_thread(|thread| Text::format(format_args!("{}", thread.panic))))
}

/// The wall itself: once, and not once for every function behind it.
#[inline(never)]
pub fn wall(body: &mut dyn FnMut() -> crate::base::Result<()>) -> hob_result {
    static INSTALL: Once = Once::new();
    INSTALL.call_once(install_panic_hook);
    let thread = THREAD.with(UnsafeCell::get);
    // SAFETY: this thread's own, as in `with_thread`; the place is looked up once, since that is a call in a shared library.
    if unsafe { (*thread).is_barred } {
        return report(&error!(
            Busy,
            "a function of the host's that the library waits for has called it: do that later"
        ));
    }
    // SAFETY: as before.
    let host = unsafe { (*thread).enter() };
    let outcome = catch_unwind(AssertUnwindSafe(body));
    // SAFETY: as before; the host must return from callbacks on the thread that called it, so it is still this thread.
    unsafe { (*thread).leave(host) };
    match outcome {
        Ok(Ok(())) => hob_result::Ok,
        Ok(Err(error)) => report(&error),
        Err(payload) => {
            // A payload is ours, but whatever it is, its drop must not get out either.
            let _ = catch_unwind(AssertUnwindSafe(move || drop(payload)));
            with_thread(|thread| thread.last_error.set(thread.panic.as_str()));
            hob_result::Panic
        }
    }
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

    /// The host's environment and code again.
    fn leave(&mut self, outside: Outside) {
        self.inside -= 1;
        self.host_environment = outside.host_environment;
        outside.register.restore();
    }
}

/// Call out to the host: with its floating-point environment, and with its panics (if it is written in Rust) its own.
pub fn call_host<R>(callback: impl FnOnce() -> R) -> R {
    let (inside, environment) = with_thread(|thread| (thread.inside, thread.host_environment));
    if inside == 0 {
        // Outside the wall the environment is the host's already.
        return callback();
    }
    let ours = Register::read();
    with_thread(|thread| thread.inside = 0);
    environment.write();
    let answer = callback();
    with_thread(|thread| thread.inside = inside);
    ours.write();
    answer
}

/// The same for a function of the host's that is called with locks held: until it returns this thread is answered with
/// `HOB_RESULT_BUSY`, where it would wait for itself.
#[cfg(feature = "program_cache")]
pub fn call_host_barred<R>(callback: impl FnOnce() -> R) -> R {
    let was_barred = with_thread(|thread| std::mem::replace(&mut thread.is_barred, true));
    let answer = call_host(callback);
    with_thread(|thread| thread.is_barred = was_barred);
    answer
}

/// For what such a function may call all the same, and for a job of ours that a host runs while it waits for a file.
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

/// The floating-point control register: rounding, traps, denormals, and on some machines what happened so far. Rust code
/// runs only under the default; to look and compare costs less than to write.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Register(usize);

impl Register {
    fn restore(self) {
        if Self::read() != self {
            self.write();
        }
    }

    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    fn read() -> Self {
        Self::DEFAULT
    }

    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    fn write(self) {}
}

#[cfg(target_arch = "x86_64")]
impl Register {
    /// All exceptions masked, round to nearest, denormals kept.
    const DEFAULT: Self = Self(0x1f80);

    /// Whether it is, but for the exceptions that have happened.
    fn is_default(self) -> bool {
        self.0 & !0x3f == Self::DEFAULT.0
    }

    fn read() -> Self {
        let mut register = 0u32;
        // SAFETY: stores the 32-bit MXCSR to a 32-bit place.
        unsafe { std::arch::asm!("stmxcsr [{}]", in(reg) &mut register, options(nostack, preserves_flags)) };
        Self(register as usize)
    }

    fn write(self) {
        let register = self.0 as u32;
        // SAFETY: the value is the default or was read from MXCSR, so no reserved bit is set.
        unsafe { std::arch::asm!("ldmxcsr [{}]", in(reg) &register, options(nostack, preserves_flags)) };
    }
}

#[cfg(not(target_arch = "x86_64"))]
impl Register {
    const DEFAULT: Self = Self(0);

    fn is_default(self) -> bool {
        self == Self::DEFAULT
    }
}

#[cfg(target_arch = "aarch64")]
impl Register {
    fn read() -> Self {
        let register: usize;
        // SAFETY: reads FPCR, which every exception level may.
        unsafe { std::arch::asm!("mrs {}, fpcr", out(reg) register, options(nostack, preserves_flags)) };
        Self(register)
    }

    fn write(self) {
        // SAFETY: the value is 0 or was read from FPCR.
        unsafe { std::arch::asm!("msr fpcr, {}", in(reg) self.0, options(nostack, preserves_flags)) };
    }
}
