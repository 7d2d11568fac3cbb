//! Errors: a code to branch on and a message to read.

use std::collections::TryReserveError;
use std::fmt;

use super::{Text, try_box_with};

/// The kind of a failure. In the C API: `hob_result`. Existing codes never change; new ones are appended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Code {
    /// An argument is outside what the function accepts.
    InvalidArgument,
    /// The named object does not exist, or no longer exists.
    NotFound,
    /// A limit of the handle would be exceeded.
    LimitExceeded,
    /// An allocation failed.
    OutOfMemory,
    /// The bytes do not have the expected format.
    Malformed,
    /// This version, build or machine does not support the operation.
    Unsupported,
    /// The handle is in use by a call that has not returned.
    Busy,
    /// The caller's buffer is too small.
    BufferTooSmall,
    /// A file operation failed.
    Io,
    /// The time that the caller allowed was too short.
    Timeout,
    /// The shader program is banned: it has crashed or ended the process too often.
    Banned,
    /// A shader failed to compile, or a program failed to link.
    BuildFailed,
}

/// The result of everything that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// A code and a message. It is one word, so that a [`Result`] stays small. Without memory for the message the error is
/// [`Code::OutOfMemory`].
#[derive(Debug)]
pub struct Error(Option<Box<ErrorReport>>);

#[derive(Debug)]
struct ErrorReport {
    code: Code,
    sentence: Text<232>,
}

impl Error {
    /// Out of memory.
    pub const OUT_OF_MEMORY: Self = Self(None);

    /// An error with a message, which should say what to do.
    #[cold]
    #[inline(never)]
    pub fn new(code: Code, sentence: fmt::Arguments<'_>) -> Self {
        Self(try_box_with(|| ErrorReport { code, sentence: Text::format(sentence) }).ok())
    }

    /// The kind of this failure.
    pub fn code(&self) -> Code {
        self.0.as_ref().map_or(Code::OutOfMemory, |report| report.code)
    }

    /// The message for a person: the failure and its remedy.
    pub fn sentence(&self) -> &str {
        let no_memory = "out of memory: the call changed nothing; free memory and call again";
        self.0.as_ref().map_or(no_memory, |report| report.sentence.as_str())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.sentence())
    }
}

impl std::error::Error for Error {}

impl From<TryReserveError> for Error {
    fn from(_: TryReserveError) -> Self {
        Self::OUT_OF_MEMORY
    }
}
