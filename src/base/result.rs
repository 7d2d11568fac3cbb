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
    /// The time that the caller allowed was too short.
    Timeout,
    /// A program that has ended the process too often.
    Banned,
    /// A shader failed to compile, or a program to link.
    BuildFailed,
}

/// The result of everything that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// A code and a sentence: one word, so that results stay small where nothing fails. When there is no memory for the
/// sentence, the failure is that there is no memory.
#[derive(Debug)]
pub struct Error(Option<Box<[Report; 1]>>);

#[derive(Debug)]
struct Report {
    code: Code,
    sentence: Text<232>,
}

impl Error {
    /// No memory.
    pub const OUT_OF_MEMORY: Self = Self(None);

    /// An error with its sentence, which should say what to do.
    #[cold]
    pub fn new(code: Code, sentence: fmt::Arguments<'_>) -> Self {
        let mut report = Vec::new();
        if report.try_reserve_exact(1).is_err() {
            return Self::OUT_OF_MEMORY;
        }
        report.push(Report { code, sentence: Text::format(sentence) });
        Self(report.into_boxed_slice().try_into().ok())
    }

    /// What kind of failure it is.
    pub fn code(&self) -> Code {
        self.0.as_ref().map_or(Code::OutOfMemory, |report| report[0].code)
    }

    /// What happened and what to do, for a person.
    pub fn sentence(&self) -> &str {
        let no_memory = "out of memory: the call changed nothing; free some and call again";
        self.0.as_ref().map_or(no_memory, |report| report[0].sentence.as_str())
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
