//! Arguments that stand behind a pointer.

use crate::base::{Error, Result, error};

/// What a pointer argument points to.
///
/// # Safety
/// `take` reads nothing but what its contract says is readable.
pub unsafe trait Argument {
    /// What the body of an entry gets.
    type Taken<'a>;

    /// Read it. `what` names the parameter; NULL is an error.
    ///
    /// # Safety
    /// `pointer` is NULL, or what the header asks for, during `'a`.
    unsafe fn take<'a>(pointer: *const Self, what: &'static str) -> Result<Self::Taken<'a>>;
}

/// A NULL where something has to be.
#[cold]
pub fn null(what: &str, expected: impl std::fmt::Display) -> Error {
    error!(InvalidArgument, "{what} is NULL: pass {expected}")
}
