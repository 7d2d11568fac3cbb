//! Errors and exit codes.

use std::path::Path;
use std::process::ExitCode;
use std::{fmt, io};

use hobgoblin::base;

/// The command did what was asked, and found damage or a difference.
pub const FOUND: u8 = 1;
const USAGE: u8 = 2;
const FILE: u8 = 3;
/// 128 and the number of SIGINT, as shells report it.
const INTERRUPTED: u8 = 130;

/// Why a command could not do its work.
#[derive(Debug)]
pub enum Failure {
    /// The arguments do not fit together.
    Usage(String),
    /// A file cannot be read or written, or has the wrong format.
    File(String),
    /// Ctrl-C. Every file is complete or unchanged.
    Interrupted,
}

pub type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self {
            Self::Usage(_) => USAGE,
            Self::File(_) => FILE,
            Self::Interrupted => INTERRUPTED,
        })
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(match self {
            Self::Usage(sentence) | Self::File(sentence) => sentence,
            Self::Interrupted => "interrupted: no file was changed by half",
        })
    }
}

/// A file or directory cannot be read.
pub fn cannot_read(path: &Path, why: &io::Error) -> Failure {
    Failure::File(format!("cannot read '{}': {why}", path.display()))
}

impl From<base::Error> for Failure {
    fn from(error: base::Error) -> Self {
        Self::File(error.sentence().into())
    }
}
