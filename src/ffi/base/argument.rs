//! Arguments that are passed by pointer.

use crate::base::{Error, Result, error};

/// A type that arguments can point to.
///
/// # Safety
/// `take` reads only memory that is readable by its contract.
pub unsafe trait Argument {
    /// The type that the body of an entry gets.
    type Taken<'a>;

    /// Reads the argument. `what` names the parameter. NULL is an error.
    ///
    /// # Safety
    /// `pointer` is NULL, or meets the header's contract during `'a`.
    unsafe fn take<'a>(pointer: *const Self, what: &'static str) -> Result<Self::Taken<'a>>;
}

/// The error for a NULL argument that must not be NULL.
#[cold]
#[inline(never)]
pub fn null(what: &str, expected: &str) -> Error {
    error!(InvalidArgument, "{what} is NULL: pass {expected}")
}

/// The error for a number that an enum does not have.
#[cold]
#[inline(never)]
pub fn unknown(what: &str, number: u32, name: &str) -> Error {
    error!(InvalidArgument, "{what} {number} is not a {name}")
}

/// The error for a stride that is too small.
#[cold]
#[inline(never)]
pub fn wrong_stride(what: &str, stride: usize, name: &str) -> Error {
    error!(InvalidArgument, "the stride of {what} is {stride}: set it to sizeof({name}), or 0")
}

/// Refuse flags of later versions. `name` is the struct's.
#[cfg(feature = "executor")]
#[inline(never)]
pub fn check_flags(name: &str, flags: u32, known: u32) -> Result<()> {
    if flags & !known != 0 {
        return Err(error!(Unsupported, "{name}.flags {flags:#x} has bits that this library does not know"));
    }
    Ok(())
}
