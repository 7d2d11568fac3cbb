//! Result codes.

use hobgoblin_macros::open_enum;

use crate::base::Code;

// == Results and strings ==

/// The result of a function that can fail.
/// 0 is success; codes are only appended. hob_last_error() has the sentence that belongs to a failure.
#[open_enum]
#[repr(C)]
pub enum hob_result {
    /// Success.
    Ok = 0,
    /// An argument is invalid, and nothing was changed. Or a callback returned an invalid value.
    InvalidArgument = 1,
    /// It does not exist, or was removed. Nothing was changed.
    NotFound = 2,
    /// A limit of the handle would be exceeded. Nothing was changed.
    LimitExceeded = 3,
    /// Out of memory. Nothing was changed.
    OutOfMemory = 4,
    /// The bytes are not in the expected format. Nothing was changed.
    Malformed = 5,
    /// Not possible with this version, build or machine, or with this kind of handle.
    Unsupported = 6,
    /// Another call on the handle is running: on another thread, or on this one, around a callback. Or another process
    /// keeps changing the files.
    Busy = 7,
    /// The buffer is too small. Only the required size was written.
    BufferTooSmall = 8,
    /// A file operation failed.
    Io = 9,
    /// An internal error was caught; the sentence has file and line. A handle that was being changed is poisoned.
    /// Please report it.
    Panic = 10,
    /// An earlier call on this handle ended in HOB_RESULT_PANIC. Const functions still answer from the last good
    /// state; all others do nothing. Destroy the handle and create a new one when convenient.
    Poisoned = 11,
    /// The time was too short: some work still waits. Call again, or allow more time.
    Timeout = 12,
    /// The program is banned: the process ended too often while it was in use. Build it from source.
    Banned = 13,
    /// The driver failed to compile a shader or to link a program.
    BuildFailed = 14,
    /// The last frames do not agree, or not enough of them are known yet.
    NoConsensus = 15,
    /// A cognition failed: hob_perception_get_failure has its message.
    CognitionFailed = 16,
}

impl From<Code> for hob_result {
    fn from(code: Code) -> Self {
        match code {
            Code::InvalidArgument => Self::InvalidArgument,
            Code::NotFound => Self::NotFound,
            Code::LimitExceeded => Self::LimitExceeded,
            Code::OutOfMemory => Self::OutOfMemory,
            Code::Malformed => Self::Malformed,
            Code::Unsupported => Self::Unsupported,
            Code::Busy => Self::Busy,
            Code::BufferTooSmall => Self::BufferTooSmall,
            Code::Io => Self::Io,
            Code::Timeout => Self::Timeout,
            Code::Banned => Self::Banned,
            Code::BuildFailed => Self::BuildFailed,
        }
    }
}
