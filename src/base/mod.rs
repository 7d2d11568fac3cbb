//! Foundations that every other module uses.
//!
//! An error has a code for the program and a message for a person. Memory whose size depends on data is allocated
//! fallibly: out of memory is an error result, and does not abort the host.
#![deny(unsafe_code)]

#[cfg(feature = "fault-injection")]
pub mod fault;
pub mod files;
pub mod host;
mod memory;
mod result;
#[allow(unsafe_code, reason = "shares memory that was taken fallibly")]
mod shared;
mod slots;
mod text;

pub use host::{Level, log as host_log};
pub use memory::{try_append, try_boxed, try_collect, try_collect_all, try_filled, try_push, try_string, try_to_vec};
pub use result::{Code, Error, Result};
pub use shared::Shared;
pub use slots::{Id, Slots};
pub use text::{Number, Text};

/// Build an [`Error`] from a code and a formatted message that says what to do.
macro_rules! error {
    ($code:ident, $($sentence:tt)+) => {
        $crate::base::Error::new($crate::base::Code::$code, format_args!($($sentence)+))
    };
}
pub(crate) use error;

/// A point at which a test can make the library panic. Expands to nothing without the feature `fault-injection`.
#[allow(unused_macros, reason = "a build may leave out every room that has one")]
macro_rules! fault_point {
    ($name:literal) => {
        #[cfg(feature = "fault-injection")]
        $crate::base::fault::reached($name);
    };
}
#[allow(unused_imports, reason = "as above")]
pub(crate) use fault_point;
