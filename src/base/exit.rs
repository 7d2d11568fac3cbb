//! A call when the process exits in good order, or unloads the library.

use std::sync::OnceLock;

/// Call `handler` when the process exits, by `exit`, a return from `main` or glibc's `quick_exit`, or when the library is
/// unloaded. It is not called by `_exit`, `abort` or a kill. A library has one handler: later ones are ignored. False
/// when out of memory.
///
/// The handler runs on the thread that exits, perhaps while other threads run. So it must not wait for them without a
/// limit, and must not panic.
pub fn at_exit(handler: fn()) -> bool {
    HANDLER.set(handler).is_err() || imp::register()
}

static HANDLER: OnceLock<fn()> = OnceLock::new();

fn run_handler() {
    if let Some(handler) = HANDLER.get() {
        handler();
    }
}

#[cfg(unix)]
mod imp {
    use std::ffi::{c_int, c_void};

    type Handler = extern "C" fn(*mut c_void);

    // Of the Itanium C++ ABI, which C programs have as well. A handler of `atexit` would outlive an unloaded library.
    unsafe extern "C" {
        /// Names this library, or the program that it is linked into.
        static __dso_handle: *mut c_void;
        fn __cxa_atexit(handler: Handler, argument: *mut c_void, library: *mut c_void) -> c_int;
        #[cfg(all(target_os = "linux", target_env = "gnu"))]
        fn __cxa_at_quick_exit(handler: Handler, library: *mut c_void) -> c_int;
    }

    extern "C" fn run(_: *mut c_void) {
        super::run_handler();
    }

    pub fn register() -> bool {
        let library = (&raw const __dso_handle).cast_mut().cast();
        // SAFETY: unloading the library removes both handlers before their code.
        unsafe {
            #[cfg(all(target_os = "linux", target_env = "gnu"))]
            if __cxa_at_quick_exit(run, library) != 0 {
                return false;
            }
            __cxa_atexit(run, std::ptr::null_mut(), library) == 0
        }
    }
}

#[cfg(windows)]
mod imp {
    use std::ffi::c_int;

    unsafe extern "C" {
        /// Of the C runtime. In a DLL it has a list of its own, which unloading the DLL runs.
        fn atexit(handler: extern "C" fn()) -> c_int;
    }

    extern "C" fn run() {
        super::run_handler();
    }

    pub fn register() -> bool {
        // SAFETY: has no conditions.
        unsafe { atexit(run) == 0 }
    }
}

#[cfg(not(any(unix, windows)))]
mod imp {
    pub fn register() -> bool {
        true
    }
}
