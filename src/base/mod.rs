//! Foundations that every other room uses: errors, fallible memory, ids, text, whole files, and the host's services.
//!
//! The library runs inside another program, which it must not take down. So an error has a code for the program and a
//! message for a person. Memory whose size depends on data is allocated fallibly: out of memory is an error result, and
//! does not abort the host. Log, clock and profiler belong to the host, and are optional.
//!
//! Invariants:
//! 1. The room imports no other room.
//! 2. Making an error never fails. Without memory for its message it becomes out of memory.
//! 3. The id of a removed value resolves to nothing, never to another value. A position whose generations are used up
//!    is retired.
//! 4. A file is replaced as a whole: a failed or interrupted write keeps the old file.
//!
//! | file | content |
//! |---|---|
//! | `result` | [`Error`]: a code and a message, one word in size |
//! | `text` | [`Text`]: a string of fixed capacity; [`Number`]: the shortest exact form of a number |
//! | `memory` | text, lists and paths that grow fallibly |
//! | `shared` | [`try_box`] and [`Shared`]: `Box` and `Arc`, fallibly allocated |
//! | `read_mostly` | [`ReadMostly`]: values that many threads read without waiting for each other |
//! | `value` | 16 bytes whose meaning is the host's |
//! | `fetch` | asks the processor for memory that will be needed soon |
//! | `slots` | [`Slots`]: a slot map with generational ids |
//! | `json` | reads and writes JSON of a known form |
//! | `files` | read or replace a whole file |
//! | `recording` | blocks of recorded calls, and their reader |
//! | `listing` | the names in a directory, and C strings of paths |
//! | `exit` | a call when the process exits |
//! | `host` | [`Host`](host::Host): log, clock and profiler zones of the host program |
//! | `fault` | fault points for tests, in builds with the feature `fault-injection` |
#![deny(unsafe_code)]

#[cfg(feature = "store")]
#[allow(unsafe_code, reason = "calls the C runtime")]
mod exit;
#[cfg(feature = "fault-injection")]
pub mod fault;
#[cfg(any(feature = "graph", feature = "pipeline"))]
#[allow(unsafe_code, reason = "a hint to the processor")]
mod fetch;
pub mod files;
pub mod host;
#[cfg(any(feature = "goblin", feature = "graph", feature = "perception"))]
pub mod json;
#[cfg(feature = "store")]
mod listing;
mod memory;
#[cfg(any(feature = "store", all(loom, test)))]
#[allow(unsafe_code, reason = "a lock")]
mod read_mostly;
#[cfg(any(feature = "goblin", feature = "balance"))]
pub mod recording;
mod result;
#[allow(unsafe_code, reason = "forms boxes of memory that was allocated fallibly")]
mod shared;
mod slots;
mod text;
#[cfg(any(feature = "graph", feature = "perception"))]
mod value;

#[cfg(feature = "store")]
pub use exit::at_exit;
#[cfg(any(feature = "graph", feature = "pipeline"))]
pub use fetch::fetch_ahead;
pub use host::{Level, log as host_log};
#[cfg(feature = "store")]
pub use listing::list_directory;
#[cfg(all(feature = "store", unix))]
pub use listing::{OpenDirectory, with_c_path};
pub use memory::{
    sort_numbers, sort_ranked, sort_slowly, try_append, try_collect, try_collect_all, try_filled, try_format, try_path,
    try_path_join, try_path_with_extension, try_push, try_string, try_to_vec,
};
#[cfg(feature = "store")]
pub use read_mostly::{Apart, ReadMostly, thread_number};
pub use result::{Code, Error, Result};
pub use shared::{Shared, SharedDyn, WeakShared, try_box, try_box_with};
pub use slots::{Id, Slots};
pub use text::{Number, Text};
#[cfg(any(feature = "graph", feature = "perception"))]
pub use value::Value;

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
