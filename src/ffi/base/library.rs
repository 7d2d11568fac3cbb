//! The library's versions, and the last error of a thread.

use std::ffi::{CStr, c_char};

use super::guard;
use super::result::hob_result;

// == Versions and errors ==

/// The version of the ABI.
/// It rises when programs compiled against an older header no longer work with the library.
pub const HOB_ABI_VERSION: u32 = 1;

/// Returns the library's version, as HOB_MAKE_VERSION(major, minor, patch).
/// HOB_VERSION is the header's. Threads: any.
#[unsafe(no_mangle)]
pub extern "C" fn hob_version() -> u32 {
    let number = |text: &str| text.parse::<u32>().unwrap_or(0);
    number(env!("CARGO_PKG_VERSION_MAJOR")) << 22
        | number(env!("CARGO_PKG_VERSION_MINOR")) << 12
        | number(env!("CARGO_PKG_VERSION_PATCH"))
}

/// Returns the library's HOB_ABI_VERSION, which must equal the header's.
/// Threads: any.
#[unsafe(no_mangle)]
pub extern "C" fn hob_abi_version() -> u32 {
    HOB_ABI_VERSION
}

/// Returns the name of a result: "HOB_RESULT_OK" and so on, "HOB_RESULT_UNKNOWN" for an unknown number.
/// The text is static and ends in NUL. Threads: any.
#[unsafe(no_mangle)]
pub extern "C" fn hob_result_name(result: hob_result) -> *const c_char {
    const NAMES: [&CStr; 17] = [
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
        c"HOB_RESULT_TIMEOUT",
        c"HOB_RESULT_BANNED",
        c"HOB_RESULT_BUILD_FAILED",
        c"HOB_RESULT_NO_CONSENSUS",
        c"HOB_RESULT_COGNITION_FAILED",
    ];
    NAMES.get(result.0 as usize).unwrap_or(&c"HOB_RESULT_UNKNOWN").as_ptr()
}

/// Returns the sentence of the last call that failed on this thread: the mistake, and how to correct it.
/// It is empty if no call has failed; a call that succeeds leaves it unchanged. Handles keep their own sentence as well
/// (hob_goblin_last_error and so on), for hosts whose fibers change threads. The text ends in NUL and is valid until
/// the next failure on this thread. Threads: any.
#[unsafe(no_mangle)]
pub extern "C" fn hob_last_error() -> *const c_char {
    guard::last_error()
}
