//! The host's hooks: log, clock and profiler zones.
//!
//! A hook is a few words. It may be exchanged at any time while other threads read it, so a sequence lock protects it.
//! Readers never wait for each other; a reader retries if the hook changed meanwhile. Hooks use no heap memory, so that
//! they outlive every handle and `dlclose` leaks nothing.

use std::ffi::{CStr, c_char, c_void};
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering, fence};

use hobgoblin_macros::{entry, open_enum, versioned};

use super::guard::call_host;
use super::result::hob_result;
use super::text::hob_str;
use crate::base::host::{self, Host, Level};

// == Log ==

/// How important a log line is.
#[open_enum]
#[repr(C)]
pub enum hob_log_level {
    /// Details, for finding a fault.
    Debug = 0,
    /// Worth knowing.
    Info = 1,
    /// Something is wrong; the library goes on.
    Warning = 2,
    /// Something failed.
    Error = 3,
}

/// Receives log lines.
/// Without this hook they are dropped: the library never prints.
#[versioned(size = 24, last = write)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_log_hook {
    /// sizeof(hob_log_hook).
    pub struct_size: u32,
    /// Lines below this level are dropped. HOB_LOG_HOOK_INIT sets HOB_LOG_LEVEL_INFO. 0 is a value,
    /// HOB_LOG_LEVEL_DEBUG: a zeroed struct receives everything.
    #[initial(hob_log_level::Info)]
    pub minimum_level: hob_log_level,
    /// Passed to `write`.
    pub user_data: *mut c_void,
    /// Receives one line of at most 512 bytes, without a line end. `line.data` ends in NUL and is valid during the
    /// call. Runs on any thread that runs library code, perhaps on several at once, inside a call: call no function on
    /// that call's handle.
    pub write: Option<extern "C" fn(user_data: *mut c_void, level: hob_log_level, line: hob_str)>,
}

/// Sets the log hook; NULL: none.
/// The struct is copied; a NULL `write` means none. Keep the previous `user_data` until all calls that began before
/// have returned. Threads: any.
#[entry(any, nullable(hook))]
pub extern "C" fn hob_set_log_hook(hook: *const hob_log_hook) -> hob_result {
    set(&LOG, hook);
    Ok(())
}

// == Clock and profiler ==

/// A clock for measured times: hob_decision_details.elapsed_ns, and build times of a hob_program_manager.
/// Without this hook they stay 0. Timeouts and time budgets use it too, or the operating system's clock without it.
/// hob_goblin_update never reads the operating system's.
#[versioned(size = 24, last = now_ns)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_clock_hook {
    /// sizeof(hob_clock_hook).
    pub struct_size: u32,
    /// Must be 0.
    pub reserved: u32,
    /// Passed to `now_ns`.
    pub user_data: *mut c_void,
    /// Returns monotonic nanoseconds. Runs on any thread that runs library code, perhaps on several at once.
    pub now_ns: Option<extern "C" fn(user_data: *mut c_void) -> u64>,
}

/// Sets the clock hook; NULL: none.
/// The struct is copied. Threads: while no other call runs, otherwise one duration may be measured with two clocks.
#[entry(any, nullable(hook))]
pub extern "C" fn hob_set_clock_hook(hook: *const hob_clock_hook) -> hob_result {
    set(&CLOCK, hook);
    Ok(())
}

/// Receives profiler zones: the library's larger steps, by name.
#[versioned(size = 32, last = end)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_zone_hook {
    /// sizeof(hob_zone_hook).
    pub struct_size: u32,
    /// Must be 0.
    pub reserved: u32,
    /// Passed to `begin` and `end`.
    pub user_data: *mut c_void,
    /// A zone begins on this thread. `name` ends in NUL and lives as long as the library.
    pub begin: Option<extern "C" fn(user_data: *mut c_void, name: *const c_char)>,
    /// The innermost zone of this thread ends.
    pub end: Option<extern "C" fn(user_data: *mut c_void)>,
}

/// Sets the profiler hook; NULL: none.
/// The struct is copied. Threads: while no other call runs, otherwise a zone may begin in one profiler and end in
/// another.
#[entry(any, nullable(hook))]
pub extern "C" fn hob_set_zone_hook(hook: *const hob_zone_hook) -> hob_result {
    set(&ZONES, hook);
    Ok(())
}

/// Stores a hook in its slot. `None` clears the slot.
fn set<T: Hook>(slot: &HookStorage<T>, hook: Option<T>) {
    host::set_host(&CHost);
    slot.set(&hook.unwrap_or(T::NONE));
}

macro_rules! hooks {
    ($($hook:ident),+) => {$(
        // SAFETY: integers, pointers and optional functions.
        unsafe impl Hook for $hook {
            const NONE: Self = {
                // SAFETY: all zero is the empty hook.
                unsafe { std::mem::zeroed() }
            };
        }
    )+};
}

hooks!(hob_log_hook, hob_clock_hook, hob_zone_hook);

/// A hook struct that fits into words.
///
/// # Safety
/// Plain data of at most `WORDS` words. Any bytes are a valid value.
pub unsafe trait Hook: Copy {
    /// The empty hook.
    const NONE: Self;
}

const WORDS: usize = 12;

/// Storage of one hook.
pub struct HookStorage<T> {
    /// Even: stable. Odd: being written.
    version: AtomicUsize,
    words: [AtomicUsize; WORDS],
    hook: std::marker::PhantomData<fn() -> T>,
}

impl<T: Hook> HookStorage<T> {
    const fn new() -> Self {
        Self {
            version: AtomicUsize::new(0),
            words: [const { AtomicUsize::new(0) }; WORDS],
            hook: std::marker::PhantomData,
        }
    }

    /// Exchanges the hook. Waits only for other threads that exchange it.
    pub fn set(&self, hook: &T) {
        const { assert!(size_of::<T>() <= WORDS * size_of::<usize>()) };
        let mut words = [0usize; WORDS];
        // SAFETY: both are plain data, and the words are at least as large as the hook.
        unsafe {
            ptr::copy_nonoverlapping(ptr::from_ref(hook).cast::<u8>(), words.as_mut_ptr().cast(), size_of::<T>())
        };
        let mut version = self.version.load(Ordering::Relaxed);
        loop {
            let stable = version & !1;
            match self.version.compare_exchange_weak(stable, stable + 1, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => break,
                Err(now) => version = now,
            }
            std::hint::spin_loop();
        }
        fence(Ordering::Release);
        for (place, word) in self.words.iter().zip(words) {
            place.store(word, Ordering::Relaxed);
        }
        self.version.fetch_add(1, Ordering::Release);
    }

    /// The current hook.
    pub fn get(&self) -> T {
        loop {
            let before = self.version.load(Ordering::Acquire);
            if before == 0 {
                return T::NONE;
            }
            let words: [usize; WORDS] = std::array::from_fn(|n| self.words[n].load(Ordering::Relaxed));
            fence(Ordering::Acquire);
            if before.is_multiple_of(2) && self.version.load(Ordering::Relaxed) == before {
                // SAFETY: all words are from one `set`, which copied a `T` into them.
                return unsafe { words.as_ptr().cast::<T>().read_unaligned() };
            }
            std::hint::spin_loop();
        }
    }
}

static LOG: HookStorage<hob_log_hook> = HookStorage::new();
static CLOCK: HookStorage<hob_clock_hook> = HookStorage::new();
static ZONES: HookStorage<hob_zone_hook> = HookStorage::new();

/// The host that calls the C hooks.
pub struct CHost;

impl Host for CHost {
    fn log(&self, level: Level, line: &str) {
        let hook = LOG.get();
        if let Some(write) = hook.write
            && level as u32 >= hook.minimum_level.0
        {
            // The line is at most 512 bytes. A NUL follows, for readers in C.
            let mut text = [0u8; 513];
            let length = line.len().min(512);
            text[..length].copy_from_slice(&line.as_bytes()[..length]);
            let line = hob_str { data: text.as_ptr().cast(), len: length };
            call_host(|| write(hook.user_data, hob_log_level(level as u32), line));
        }
    }

    fn now_ns(&self) -> Option<u64> {
        let hook = CLOCK.get();
        hook.now_ns.map(|now_ns| call_host(|| now_ns(hook.user_data)))
    }

    fn zone_begin(&self, name: &'static CStr) {
        let hook = ZONES.get();
        if let Some(begin) = hook.begin {
            call_host(|| begin(hook.user_data, name.as_ptr()));
        }
    }

    fn zone_end(&self) {
        let hook = ZONES.get();
        if let Some(end) = hook.end {
            call_host(|| end(hook.user_data));
        }
    }
}
