//! A third less library: without the machinery that prints backtraces.
//!
//! The standard library brings its own DWARF reader, 215 KB of it, to print a backtrace when a panic is not caught. In
//! the C library every panic is caught, and none is printed. All of that hangs on one call to `_Unwind_Backtrace`;
//! answered here with "the stack ends here", link-time optimisation sees that nothing will ever be printed and leaves
//! it out.
//!
//! For the shared library only: there the symbol is hidden, so that nobody else's backtraces are touched. In a static
//! library it would replace the host's own; hence a feature, which only the packaged shared library has.

use std::ffi::{c_int, c_void};

std::arch::global_asm!(".hidden _Unwind_Backtrace");

/// `_URC_END_OF_STACK` of the Itanium C++ ABI's unwind interface.
const END_OF_STACK: c_int = 5;

/// Walks no frame.
#[unsafe(no_mangle)]
extern "C" fn _Unwind_Backtrace(_trace: *const c_void, _argument: *mut c_void) -> c_int {
    END_OF_STACK
}
