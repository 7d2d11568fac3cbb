//! The start of a builder on Linux: a process that ends with `hob`, even if `hob` is killed, becomes the builder.
//!
//! The kernel sends the signal of a dead parent. Only the process itself can ask for it, before it becomes the builder.

use std::convert::Infallible;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, id};

use clap::Args;
use rustix::process::{Signal, getppid, set_parent_process_death_signal};

use super::builder::cannot_start;
use crate::failure::{Failure, Result};

#[derive(Args)]
pub struct Arguments {
    /// The process of `hob`.
    parent: u32,
    program: PathBuf,
    #[arg(allow_hyphen_values = true, trailing_var_arg = true)]
    arguments: Vec<OsString>,
}

/// The command line of `hob` that starts a builder.
pub fn command_line(program: &Path, arguments: &[OsString]) -> (PathBuf, Vec<OsString>) {
    let parent = id().to_string();
    let words = ["pipelines", "launch-builder", &parent].map(OsString::from);
    let words = words.into_iter().chain([OsString::from("--"), program.into()]);
    ("/proc/self/exe".into(), words.chain(arguments.iter().cloned()).collect())
}

/// Become the builder. Returns only on an error.
pub fn run(Arguments { parent, program, arguments }: &Arguments) -> Result<Infallible> {
    // Without the signal, the builder still sees the end of its input.
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    if getppid().is_none_or(|now| now.as_raw_nonzero().get().unsigned_abs() != *parent) {
        return Err(Failure::Interrupted);
    }
    Err(cannot_start(program, &Command::new(program).args(arguments).exec()))
}
