//! Errors that several calls give.

use crate::base::{Error, error};

/// The id is invalid.
pub fn no_such_setting() -> Error {
    error!(NotFound, "no such setting: the id is invalid, or the setting was removed")
}

/// The option is out of range.
pub fn no_such_option(option: u32, count: usize) -> Error {
    error!(InvalidArgument, "option {option} does not exist: the setting has {count}")
}
