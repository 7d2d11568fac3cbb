//! What went wrong, as a code to branch on and a sentence to read.

use std::collections::TryReserveError;
use std::fmt;

use super::Text;

/// What kind of failure it is. The C API shows these as `hob_result`; codes are only ever appended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Code {
    /// An argument is outside what the function accepts.
    InvalidArgument,
    /// The thing named does not exist, or no longer does.
    NotFound,
    /// A limit of the handle would be exceeded.
    LimitExceeded,
    /// Memory could not be had.
    OutOfMemory,
    /// Bytes read do not have the format they should have.
    Malformed,
    /// This version, build or machine cannot do that.
    Unsupported,
    /// The handle is in use by a call that has not returned.
    Busy,
    /// The caller's buffer is too small.
    BufferTooSmall,
    /// A file operation failed.
    Io,
}

/// The result of everything that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// A code and a sentence. The sentence is held inline: reporting an error allocates nothing.
#[derive(Clone, Copy, Debug)]
pub struct Error {
    code: Code,
    sentence: Text<232>,
}

impl Error {
    /// An error with its sentence, which should say what to do.
    #[cold]
    pub fn new(code: Code, sentence: fmt::Arguments<'_>) -> Self {
        Self { code, sentence: Text::format(sentence) }
    }

    /// What kind of failure it is.
    pub fn code(&self) -> Code {
        self.code
    }

    /// What happened and what to do, for a person.
    pub fn sentence(&self) -> &str {
        self.sentence.as_str()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.sentence())
    }
}

impl std::error::Error for Error {}

impl From<TryReserveError> for Error {
    #[cold]
    fn from(_: TryReserveError) -> Self {
        Self::new(Code::OutOfMemory, format_args!("out of memory: the call changed nothing; free some and call again"))
    }
}
