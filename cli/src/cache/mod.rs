//! Directories and bundles of compiled shader programs.
//!
//! | file | content |
//! |---|---|
//! | `source` | opening a directory or a bundle |
//! | `info` | environments, programs and bytes |
//! | `verify` | reads and checks every value |
//! | `export` | writes a bundle |
//! | `merge` | copies programs into a directory |
//! | `prune` | removes programs |

mod export;
mod info;
mod merge;
mod prune;
pub mod source;
mod verify;

use std::process::ExitCode;

use clap::Subcommand;

use crate::failure::Result;
use crate::report::Output;

#[derive(Subcommand)]
pub enum Command {
    /// Show the environments of a cache, their programs and bytes.
    Info(info::Arguments),
    /// Read every value, and report damage. The exit code is 1 if a value is damaged.
    Verify(verify::Arguments),
    /// Write the programs of a cache to a bundle.
    ///
    /// The bundle has the start-up set and no banned programs. The same programs make the same file.
    Export(export::Arguments),
    /// Copy the programs of caches and bundles into a directory.
    ///
    /// A program that the directory already has stays. Games that use the directory may run.
    Merge(merge::Arguments),
    /// Remove programs from a directory. Games that use it may run.
    Prune(prune::Arguments),
}

pub fn run(command: Command, output: &Output) -> Result<ExitCode> {
    match command {
        Command::Info(arguments) => output.print(&info::run(&arguments)?),
        Command::Verify(arguments) => output.print(&verify::run(&arguments, output.quiet)?),
        Command::Export(arguments) => output.print(&export::run(&arguments, output.quiet)?),
        Command::Merge(arguments) => output.print(&merge::run(&arguments, output.quiet)?),
        Command::Prune(arguments) => output.print(&prune::run(&arguments, output.quiet)?),
    }
}
