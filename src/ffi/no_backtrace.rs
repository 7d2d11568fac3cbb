//! Removes the code that prints backtraces, which is a third of the library.
//!
//! The standard library has a DWARF reader of 215 KB to print a backtrace when a panic is not caught. In the C library
//! every panic is caught, and none is printed. All this code depends on one call to `_Unwind_Backtrace`. The function
//! here returns "end of stack" at once, so link-time optimisation removes the rest.
//!
//! It is for the shared library only. There the symbol is hidden, so that backtraces of other libraries are not
//! affected. In a static library it would replace the host's own. Hence it is a feature, which only the packaged shared
//! library has.

use std::ffi::{c_int, c_void};

std::arch::global_asm!(".hidden _Unwind_Backtrace");

/// `_URC_END_OF_STACK` of the Itanium C++ ABI's unwind interface.
const END_OF_STACK: c_int = 5;

/// Reports the end of the stack without walking a frame.
#[unsafe(no_mangle)]
extern "C" fn _Unwind_Backtrace(_trace: *const c_void, _argument: *mut c_void) -> c_int {
    END_OF_STACK
}
