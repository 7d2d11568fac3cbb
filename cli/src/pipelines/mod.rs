//! Recordings, key maps, stable files and shipped caches of pipelines.
//!
//! | file | content |
//! |---|---|
//! | `record_info` | contents of recordings |
//! | `keys` | key maps from and to CSV |
//! | `expand` | recordings become a stable file |
//! | `build` | stable files become the shipped cache |
//! | `info` | contents of a shipped cache |
//! | `diff` | pipelines that two files do not share |
//! | `coverage` | how much of some runs the shipped caches cover |
//! | `doctor` | why a game still drops frames |
//! | `replay` | compiling all pipelines in child processes |
//! | `runs` | recordings against shipped caches |
//! | `contents` | the pipelines of a file of any kind |
//! | `inputs` | files of arguments |
//! | `patterns` | files of paths and patterns |

mod build;
mod contents;
mod coverage;
mod diff;
mod doctor;
mod expand;
mod info;
mod inputs;
mod keys;
mod patterns;
mod record_info;
mod replay;
mod runs;

use std::process::ExitCode;

use clap::Subcommand;

use crate::failure::Result;
use crate::report::Output;

#[derive(Subcommand)]
pub enum Command {
    /// Show recordings (*.rec.hobpipe), and the number of pipelines in all of them. The exit code is 1 if a recording is
    /// damaged or cut off.
    RecordInfo(record_info::Arguments),
    /// Convert key maps (*.hobkeys) from and to CSV.
    #[command(subcommand)]
    Keys(keys::Command),
    /// Express recordings in stable keys, with the key map of the build that recorded them.
    ///
    /// Pipelines with a shader that has no key are listed, and skipped. If all are, the key map is of another build: the
    /// exit code is 4, and nothing is written. Expand each recording once: a run that is in several stable files counts
    /// several times in a build.
    Expand(expand::Arguments),
    /// Build the shipped cache from stable files, with the key map of this build.
    ///
    /// Pipelines with a shader that this build does not have are skipped, and counted. If no graphics pipeline of the files
    /// remains, the exit code is 4, and nothing is written.
    ///
    /// Sanitising filters out pipelines of the library's own schema that a driver would refuse. Their vertex shader has
    /// another vertex format in most pipelines; if two formats tie, all are kept. Or they have no vertex attributes, and
    /// their vertex shader has some elsewhere. Or their state is invalid.
    Build(build::Arguments),
    /// Show a shipped cache. The exit code is 1 if pipelines are missing.
    Info(info::Arguments),
    /// Compare two shipped caches, recordings or stable files. The exit code is 1 if they differ.
    Diff(diff::Arguments),
    /// Show how much of some runs the shipped caches cover, and what each miss cost.
    ///
    /// A miss is a pipeline that a run used, and that no cache has. Its hitch is the build time in the recording. The exit
    /// code is 1 if a file is damaged.
    Coverage(coverage::Arguments),
    /// Check runs and their shipped caches, to find out why a game still drops frames.
    ///
    /// Each check has a result and an advice. The verdict is to record again, to start anew, or that pipelines are not the
    /// problem. The exit code is 1 unless pipelines are not the problem, and the runs are fit for measuring performance.
    Doctor(doctor::Arguments),
    /// Compile all pipelines in child processes, and ban those that crash or block the driver.
    ///
    /// A pipeline that breaks a builder twice, the second time alone, is banned, and the others are compiled. The exit
    /// code is 1 if a pipeline failed or is banned.
    Replay(replay::Arguments),
    /// Become a builder: for `replay` alone.
    #[cfg(target_os = "linux")]
    #[command(hide = true)]
    LaunchBuilder(replay::launch::Arguments),
}

pub fn run(command: Command, output: &Output) -> Result<ExitCode> {
    match command {
        Command::RecordInfo(arguments) => output.print(&record_info::run(&arguments, output.quiet)?),
        Command::Keys(command) => keys::run(command, output),
        Command::Expand(arguments) => output.print(&expand::run(&arguments, output.quiet)?),
        Command::Build(arguments) => output.print(&build::run(&arguments, output.quiet)?),
        Command::Info(arguments) => output.print(&info::run(&arguments)?),
        Command::Diff(arguments) => output.print(&diff::run(&arguments, output.quiet)?),
        Command::Coverage(arguments) => output.print(&coverage::run(&arguments, output.quiet)?),
        Command::Doctor(arguments) => output.print(&doctor::run(&arguments, output.quiet)?),
        Command::Replay(arguments) => output.print(&replay::run(&arguments, output.quiet)?),
        #[cfg(target_os = "linux")]
        Command::LaunchBuilder(arguments) => match replay::launch::run(&arguments)? {},
    }
}
