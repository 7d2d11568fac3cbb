//! `base.h`: results, strings, versions, hooks.

use std::ffi::{c_char, c_void};

use super::guard::{self, guard};
use super::hooks;
use super::layout::{Versioned, init_struct, read_struct};
use crate::base::{Code, Result, error, host};

/// What a function that can fail returns. 0 is success; codes are only ever appended.
/// The sentence that belongs to a failure is in hob_last_error().
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum hob_result {
    /// It worked.
    Ok = 0,
    /// An argument, or what a callback gave, is outside what the function accepts. Nothing was changed by arguments.
    InvalidArgument = 1,
    /// The thing named does not exist, or no longer does. Nothing was changed.
    NotFound = 2,
    /// A limit of the handle would be exceeded. Nothing was changed.
    LimitExceeded = 3,
    /// Memory could not be had. Nothing was changed.
    OutOfMemory = 4,
    /// Bytes read do not have the format they should have. Nothing was changed.
    Malformed = 5,
    /// This version, build or machine cannot do that.
    Unsupported = 6,
    /// The handle is inside a call that has not returned: on another thread, or on this one, below a callback.
    Busy = 7,
    /// The buffer is too small; the size needed was written. Nothing else was.
    BufferTooSmall = 8,
    /// A file operation failed.
    Io = 9,
    /// An internal error was caught. The sentence has file and line. A handle that was being changed is poisoned.
    /// Please report it.
    Panic = 10,
    /// An earlier call on this handle ended in HOB_RESULT_PANIC. Const functions go on answering from the last good
    /// state; all others do nothing. Destroy the handle and create a new one when convenient.
    Poisoned = 11,
}

impl From<Code> for hob_result {
    fn from(code: Code) -> Self {
        match code {
            Code::InvalidArgument => Self::InvalidArgument,
            Code::NotFound => Self::NotFound,
            Code::LimitExceeded => Self::LimitExceeded,
            Code::OutOfMemory => Self::OutOfMemory,
            Code::Malformed => Self::Malformed,
            Code::Unsupported => Self::Unsupported,
            Code::Busy => Self::Busy,
            Code::BufferTooSmall => Self::BufferTooSmall,
            Code::Io => Self::Io,
        }
    }
}

/// Text that is passed in: UTF-8, `len` bytes, no NUL needed. `len` SIZE_MAX: `data` ends in NUL.
/// `data` may be NULL when `len` is 0. The library copies what it keeps. See HOB_STR and hob_str_of.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_str {
    pub data: *const c_char,
    pub len: usize,
}

impl hob_str {
    /// No text.
    pub const EMPTY: Self = Self { data: std::ptr::null(), len: 0 };

    pub fn from(text: &str) -> Self {
        Self { data: text.as_ptr().cast(), len: text.len() }
    }

    /// The text, checked. `what` names the argument.
    ///
    /// # Safety
    /// `data` and `len` are as the type's doc says, for as long as `'a`.
    pub unsafe fn read<'a>(&self, what: &str) -> Result<&'a str> {
        // SAFETY: by this function's contract.
        std::str::from_utf8(unsafe { self.read_bytes(what) }?)
            .map_err(|e| error!(InvalidArgument, "{what} is not UTF-8: the byte at {} is wrong", e.valid_up_to()))
    }

    /// The text's bytes, whatever they are.
    ///
    /// # Safety
    /// As [`Self::read`].
    pub unsafe fn read_bytes<'a>(&self, what: &str) -> Result<&'a [u8]> {
        if self.data.is_null() {
            if self.len == 0 {
                return Ok(&[]);
            }
            return Err(error!(InvalidArgument, "{what} is NULL with a length of {}", self.len));
        }
        // SAFETY: by this function's contract.
        unsafe {
            if self.len == usize::MAX {
                Ok(std::ffi::CStr::from_ptr(self.data).to_bytes())
            } else if self.len > isize::MAX as usize {
                Err(error!(InvalidArgument, "{what} has an impossible length of {} bytes", self.len))
            } else {
                Ok(std::slice::from_raw_parts(self.data.cast::<u8>(), self.len))
            }
        }
    }
}

/// The library's version, as HOB_MAKE_VERSION(major, minor, patch). Compare with HOB_VERSION, the header's.
/// Threads: any.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn hob_version() -> u32 {
    let number = |text: &str| text.parse::<u32>().unwrap_or(0);
    number(env!("CARGO_PKG_VERSION_MAJOR")) << 22
        | number(env!("CARGO_PKG_VERSION_MINOR")) << 12
        | number(env!("CARGO_PKG_VERSION_PATCH"))
}

/// Raised whenever a program compiled against an older header would no longer work with this library.
pub const HOB_ABI_VERSION: u32 = 1;

/// The library's HOB_ABI_VERSION: it must equal the header's. Threads: any.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn hob_abi_version() -> u32 {
    HOB_ABI_VERSION
}

/// The name of a result, "HOB_RESULT_OK" and so on; "HOB_RESULT_UNKNOWN" for a number that is none.
/// Returns static text that ends in NUL. Threads: any.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn hob_result_name(result: u32) -> *const c_char {
    const NAMES: [&std::ffi::CStr; 12] = [
        c"HOB_RESULT_OK",
        c"HOB_RESULT_INVALID_ARGUMENT",
        c"HOB_RESULT_NOT_FOUND",
        c"HOB_RESULT_LIMIT_EXCEEDED",
        c"HOB_RESULT_OUT_OF_MEMORY",
        c"HOB_RESULT_MALFORMED",
        c"HOB_RESULT_UNSUPPORTED",
        c"HOB_RESULT_BUSY",
        c"HOB_RESULT_BUFFER_TOO_SMALL",
        c"HOB_RESULT_IO",
        c"HOB_RESULT_PANIC",
        c"HOB_RESULT_POISONED",
    ];
    NAMES.get(result as usize).unwrap_or(&c"HOB_RESULT_UNKNOWN").as_ptr()
}

/// The sentence of the last call that failed on this thread: what happened, and what to do. Empty when none has.
/// A call that works leaves it as it is. Each handle keeps its own besides (hob_goblin_last_error and so on), for hosts
/// whose fibers change threads.
/// Returns text that ends in NUL and is valid until the next failure on this thread. Threads: any.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn hob_last_error() -> *const c_char {
    guard::last_error()
}

/// How much a log line matters.
#[repr(C)]
pub enum hob_log_level {
    /// For those who look for a fault.
    Debug = 0,
    /// Worth knowing.
    Info = 1,
    /// Something is not as it should be; the library goes on.
    Warning = 2,
    /// Something failed.
    Error = 3,
}

/// Where log lines go. Without this hook they go nowhere: the library never prints.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_log_hook {
    /// sizeof(hob_log_hook); set by hob_log_hook_init.
    pub struct_size: u32,
    /// Lines below this hob_log_level are not formatted to the hook. Default HOB_LOG_LEVEL_INFO.
    pub minimum_level: u32,
    pub user_data: *mut c_void,
    /// Takes one line of at most 512 bytes, without a line end; `line.data` ends in NUL and is valid during the call.
    /// Called on the thread that calls the library, from inside the call: functions on the same handle answer
    /// HOB_RESULT_BUSY.
    pub write: Option<extern "C" fn(user_data: *mut c_void, level: u32, line: hob_str)>,
}

/// A clock for the figures that need one: hob_decision.elapsed_ns, and what a hob_program_manager measures. Without this
/// hook they stay 0. Timeouts and budgets of calls that have one go by this clock, too, and without this hook by the
/// operating system's. Beside that only what a program cache does with files reads that one, to name them and know their
/// age, and to wait for another process no longer than it should. hob_goblin_update, hob_program_cache_get and
/// hob_program_cache_put never do.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_clock_hook {
    /// sizeof(hob_clock_hook); set by hob_clock_hook_init.
    pub struct_size: u32,
    /// Zero.
    pub reserved: u32,
    pub user_data: *mut c_void,
    /// Monotonic nanoseconds. Called on the thread that calls the library.
    pub now_ns: Option<extern "C" fn(user_data: *mut c_void) -> u64>,
}

/// Zones for a profiler: the library's larger steps, named.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_zone_hook {
    /// sizeof(hob_zone_hook); set by hob_zone_hook_init.
    pub struct_size: u32,
    /// Zero.
    pub reserved: u32,
    pub user_data: *mut c_void,
    /// A zone begins on this thread. `name` ends in NUL and lives as long as the library.
    pub begin: Option<extern "C" fn(user_data: *mut c_void, name: *const c_char)>,
    /// The innermost zone of this thread ends.
    pub end: Option<extern "C" fn(user_data: *mut c_void)>,
}

/// hob_file_hook.open: an existing file, to read.
pub const HOB_FILE_READ: u32 = 1;
/// hob_file_hook.open: a new or emptied file, to write.
pub const HOB_FILE_WRITE: u32 = 2;

/// The host's own file layer (a console's, a pak's) in place of the operating system's. Paths are passed on unchanged.
/// Each function returns 0 for success or any other number, which the error sentence repeats. Called on the thread that
/// calls the library, and only by functions whose name ends in _file.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_file_hook {
    /// sizeof(hob_file_hook); set by hob_file_hook_init.
    pub struct_size: u32,
    /// Zero.
    pub reserved: u32,
    pub user_data: *mut c_void,
    /// Open `path` with HOB_FILE_READ or HOB_FILE_WRITE.
    pub open:
        Option<extern "C" fn(user_data: *mut c_void, path: hob_str, mode: u32, out_file: *mut *mut c_void) -> u32>,
    /// Close what open gave. Called exactly once for each.
    pub close: Option<extern "C" fn(user_data: *mut c_void, file: *mut c_void)>,
    /// The file's length in bytes.
    pub size: Option<extern "C" fn(user_data: *mut c_void, file: *mut c_void, out_size: *mut u64) -> u32>,
    /// Read up to `size` bytes at `offset`; `*out_read` is at least 1 unless the file ended.
    pub read: Option<
        extern "C" fn(
            user_data: *mut c_void,
            file: *mut c_void,
            offset: u64,
            data: *mut c_void,
            size: usize,
            out_read: *mut usize,
        ) -> u32,
    >,
    /// Write up to `size` bytes at `offset`; `*out_written` is at least 1.
    pub write: Option<
        extern "C" fn(
            user_data: *mut c_void,
            file: *mut c_void,
            offset: u64,
            data: *const c_void,
            size: usize,
            out_written: *mut usize,
        ) -> u32,
    >,
    /// Wait until what was written is safe. May be NULL.
    pub sync: Option<extern "C" fn(user_data: *mut c_void, file: *mut c_void) -> u32>,
    /// Rename, replacing `to` if it exists; at once (a crash leaves the one or the other).
    pub rename: Option<extern "C" fn(user_data: *mut c_void, from: hob_str, to: hob_str) -> u32>,
    /// Delete.
    pub remove: Option<extern "C" fn(user_data: *mut c_void, path: hob_str) -> u32>,
}

/// The host's allocator. Only in builds with the feature `host-allocator`, which packaged builds have.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_allocator_hook {
    /// sizeof(hob_allocator_hook); set by hob_allocator_hook_init.
    pub struct_size: u32,
    /// Zero.
    pub reserved: u32,
    pub user_data: *mut c_void,
    /// `size` bytes (never 0), `alignment` a power of two; NULL when there is no memory: the call that needed it then
    /// returns HOB_RESULT_OUT_OF_MEMORY. Called on whatever thread calls the library; must not call the library.
    pub allocate: Option<extern "C" fn(user_data: *mut c_void, size: usize, alignment: usize) -> *mut c_void>,
    /// Give back what allocate gave, with the same size and alignment.
    pub free: Option<extern "C" fn(user_data: *mut c_void, memory: *mut c_void, size: usize, alignment: usize)>,
}

macro_rules! hook {
    ($hook:ident, $($field:ident : $value:expr),+) => {
        // SAFETY: repr(C), begins with struct_size, and integers, pointers and optional functions take any bytes.
        unsafe impl Versioned for $hook {
            const NAME: &'static str = stringify!($hook);
            const FIRST_SIZE: usize = size_of::<$hook>();
            fn defaults() -> Self {
                Self { struct_size: size_of::<$hook>() as u32, user_data: std::ptr::null_mut(), $($field: $value),+ }
            }
        }
    };
}

hook!(hob_log_hook, minimum_level: hob_log_level::Info as u32, write: None);
hook!(hob_clock_hook, reserved: 0, now_ns: None);
hook!(hob_zone_hook, reserved: 0, begin: None, end: None);
hook!(hob_file_hook, reserved: 0, open: None, close: None, size: None, read: None, write: None, sync: None, rename: None, remove: None);
hook!(hob_allocator_hook, reserved: 0, allocate: None, free: None);

macro_rules! words {
    ($($hook:ident),+) => {$(
        // SAFETY: integers, pointers and optional functions.
        unsafe impl hooks::Hook for $hook {
            const NONE: Self = {
                // SAFETY: all zero is the empty hook.
                unsafe { std::mem::zeroed() }
            };
        }
    )+};
}

words!(hob_log_hook, hob_clock_hook, hob_zone_hook, hob_file_hook);

/// Put `hook` (NULL: none) into its slot.
///
/// # Safety
/// As [`read_struct`].
unsafe fn set_hook<T: Versioned + hooks::Hook>(slot: &hooks::Slot<T>, hook: *const T) -> hob_result {
    guard(|| {
        // SAFETY: by this function's contract.
        let hook = if hook.is_null() { T::NONE } else { unsafe { read_struct(hook) }? };
        host::set_host(&hooks::CHost);
        slot.set(&hook);
        Ok(())
    })
}

/// Fill in defaults; `size` is sizeof(hob_log_hook). Usually by HOB_LOG_HOOK_INIT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_log_hook_init(hook: *mut hob_log_hook, size: u32) -> hob_result {
    // SAFETY: the header's contract.
    guard(|| unsafe { init_struct(hook, size) })
}

/// Fill in defaults; `size` is sizeof(hob_clock_hook). Usually by HOB_CLOCK_HOOK_INIT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_clock_hook_init(hook: *mut hob_clock_hook, size: u32) -> hob_result {
    // SAFETY: the header's contract.
    guard(|| unsafe { init_struct(hook, size) })
}

/// Fill in defaults; `size` is sizeof(hob_zone_hook). Usually by HOB_ZONE_HOOK_INIT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_zone_hook_init(hook: *mut hob_zone_hook, size: u32) -> hob_result {
    // SAFETY: the header's contract.
    guard(|| unsafe { init_struct(hook, size) })
}

/// Fill in defaults; `size` is sizeof(hob_file_hook). Usually by HOB_FILE_HOOK_INIT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_file_hook_init(hook: *mut hob_file_hook, size: u32) -> hob_result {
    // SAFETY: the header's contract.
    guard(|| unsafe { init_struct(hook, size) })
}

/// Fill in defaults; `size` is sizeof(hob_allocator_hook). Usually by HOB_ALLOCATOR_HOOK_INIT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_allocator_hook_init(hook: *mut hob_allocator_hook, size: u32) -> hob_result {
    // SAFETY: the header's contract.
    guard(|| unsafe { init_struct(hook, size) })
}

/// Set where log lines go; NULL: nowhere. Copied.
/// Threads: any, at any time; another thread may be inside the hook that is replaced, so keep what it uses until then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_set_log_hook(hook: *const hob_log_hook) -> hob_result {
    // SAFETY: the header's contract.
    unsafe { set_hook(&hooks::LOG, hook) }
}

/// Lend a clock; NULL: none. Copied. Threads: no other call may run, or a duration is measured with two clocks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_set_clock_hook(hook: *const hob_clock_hook) -> hob_result {
    // SAFETY: the header's contract.
    unsafe { set_hook(&hooks::CLOCK, hook) }
}

/// Set where profiler zones go; NULL: nowhere. Copied. Threads: no other call may run, or a zone begins in one profiler
/// and ends in another.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_set_zone_hook(hook: *const hob_zone_hook) -> hob_result {
    // SAFETY: the header's contract.
    unsafe { set_hook(&hooks::ZONES, hook) }
}

/// Lend a file layer; NULL: the operating system's. Copied. With any function, `open` and `close` must be set. Threads:
/// as hob_set_log_hook.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_set_file_hook(hook: *const hob_file_hook) -> hob_result {
    let checked = guard(|| {
        // SAFETY: the header's contract.
        let hook = if hook.is_null() { <hob_file_hook as hooks::Hook>::NONE } else { unsafe { read_struct(hook) }? };
        let others = [hook.size.is_some(), hook.read.is_some(), hook.write.is_some(), hook.sync.is_some()];
        let any = others.contains(&true) || hook.rename.is_some() || hook.remove.is_some();
        match (hook.open.is_some(), hook.close.is_some()) {
            (true, true) => Ok(()),
            (false, false) if !any => Ok(()),
            _ => Err(error!(InvalidArgument, "the file hook needs both open and close")),
        }
    });
    // SAFETY: the header's contract.
    if checked == hob_result::Ok { unsafe { set_hook(&hooks::FILES, hook) } } else { checked }
}

/// Set the allocator; NULL: the system's. Copied. Both functions must be set.
/// Returns HOB_RESULT_BUSY while the library holds any memory: destroy all handles, release all blobs and let posted tasks
/// run first. Returns HOB_RESULT_UNSUPPORTED in a build without the feature `host-allocator`.
/// Threads: no other call may run.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_set_allocator_hook(hook: *const hob_allocator_hook) -> hob_result {
    guard(|| {
        // SAFETY: the header's contract.
        let hook = if hook.is_null() { None } else { Some(unsafe { read_struct(hook) }?) };
        if hook.is_some_and(|hook| hook.allocate.is_none() || hook.free.is_none()) {
            return Err(error!(InvalidArgument, "the allocator hook needs both allocate and free"));
        }
        set_allocator(hook)
    })
}

#[cfg(feature = "host-allocator")]
fn set_allocator(hook: Option<hob_allocator_hook>) -> Result<()> {
    let (bytes, handles) = (super::allocator::live_bytes(), super::handle::live());
    if bytes > 0 {
        return Err(error!(
            Busy,
            "the library holds {bytes} bytes from the allocator in force ({handles} live handles): destroy all handles, \
             release all blobs, let posted tasks run, and set the allocator then"
        ));
    }
    super::allocator::set(hook.as_ref());
    Ok(())
}

#[cfg(not(feature = "host-allocator"))]
fn set_allocator(_: Option<hob_allocator_hook>) -> Result<()> {
    Err(error!(Unsupported, "this build has no host allocator: build hobgoblin with the feature `host-allocator`"))
}
