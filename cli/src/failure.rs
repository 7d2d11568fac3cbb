//! Errors and exit codes.

use std::path::Path;
use std::process::ExitCode;
use std::{fmt, io};

use hobgoblin::base::{self, Code};

/// The command did what was asked, and found damage or a difference.
pub const FOUND: u8 = 1;
/// The arguments are wrong.
pub const USAGE: u8 = 2;
const FILE: u8 = 3;
const NOTHING: u8 = 4;
/// 128 and the number of SIGINT, as shells report it.
const INTERRUPTED: u8 = 130;

/// The exit codes, for the help of each command.
pub const EXIT_CODES: &str = "Exit codes:
  0    success
  1    the command found damage, a difference, or pipelines that fail
  2    wrong arguments
  3    a file cannot be read or written, or has the wrong format
  4    nothing fits: no pipeline has keys or shaders, or no program is chosen; nothing was written
  130  interrupted by Ctrl-C, SIGTERM or SIGHUP; every file is complete or unchanged";

/// Why a command could not do its work.
#[derive(Debug)]
pub enum Failure {
    /// The arguments do not fit together.
    Usage(String),
    /// A file cannot be read or written, or has the wrong format.
    File(String),
    /// The inputs are valid, and there is nothing to write.
    Nothing(String),
    /// Ctrl-C, SIGTERM or SIGHUP. Every file is complete or unchanged.
    Interrupted,
}

pub type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    pub fn code(&self) -> u8 {
        match self {
            Self::Usage(_) => USAGE,
            Self::File(_) => FILE,
            Self::Nothing(_) => NOTHING,
            Self::Interrupted => INTERRUPTED,
        }
    }

    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(self.code())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(match self {
            Self::Usage(sentence) | Self::File(sentence) | Self::Nothing(sentence) => sentence,
            Self::Interrupted => "interrupted: no file was changed by half",
        })
    }
}

/// A path for people: bytes that are no UTF-8 are replaced, and control characters escaped.
pub fn shown(path: &Path) -> String {
    escaped(&path.to_string_lossy(), false)
}

/// A text for a terminal. Control characters and marks that change the direction of text are escaped, with or without
/// line breaks.
pub fn escaped(text: &str, keeps_lines: bool) -> String {
    let is_hidden =
        |letter: char| matches!(letter, '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\n' if keeps_lines => shown.push(letter),
            _ if letter.is_control() || is_hidden(letter) => shown.extend(letter.escape_default()),
            _ => shown.push(letter),
        }
    }
    shown
}

/// A file or directory cannot be read.
pub fn cannot_read(path: &Path, why: &io::Error) -> Failure {
    Failure::File(format!("cannot read '{}': {why}", shown(path)))
}

/// An argument that the library refuses.
pub fn invalid_argument(error: &base::Error) -> Failure {
    Failure::Usage(error.sentence().into())
}

impl From<base::Error> for Failure {
    fn from(error: base::Error) -> Self {
        let sentence = error.sentence().into();
        if error.code() == Code::NotFound { Self::Nothing(sentence) } else { Self::File(sentence) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_never_reach_a_terminal() {
        assert_eq!(escaped("a\u{1b}[31m\u{9b}b\u{202e}\tc\nd", true), "a\\u{1b}[31m\\u{9b}b\\u{202e}\\tc\nd");
        assert_eq!(shown(Path::new("run\n1 ä")), "run\\n1 ä");
    }
}
