//! `hob` shows, checks, merges and builds the files of hobgoblin: program caches, profiles and pipelines.
//!
//! | file | content |
//! |---|---|
//! | `cache` | directories and bundles of programs |
//! | `pipelines` | recordings, key maps, stable files and shipped caches |
//! | `profile` | measured costs of options |
//! | `report` | the answer of a command: a table for people, or JSON |
//! | `progress` | progress bars |
//! | `interrupt` | Ctrl-C |
//! | `failure` | errors and exit codes |
//! | `numbers` | sizes, times and ids, as text |

mod cache;
mod failure;
mod interrupt;
mod numbers;
mod pipelines;
mod profile;
mod progress;
mod report;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use failure::Failure;
use report::Output;

/// Shows, checks, merges and builds the files of hobgoblin.
///
/// Exit codes: 0 success; 1 the command found damage or a difference; 2 wrong arguments; 3 a file cannot be read or
/// written, or has the wrong format; 130 interrupted.
#[derive(Parser)]
#[command(name = "hob", version, propagate_version = true, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    output: Output,
}

#[derive(Subcommand)]
enum Command {
    /// Directories and bundles of compiled shader programs.
    #[command(subcommand)]
    Cache(cache::Command),
    /// Recordings, key maps, stable files and shipped caches of pipelines.
    #[command(subcommand)]
    Pipelines(pipelines::Command),
    /// Profiles: measured costs of options.
    #[command(subcommand)]
    Profile(profile::Command),
}

fn main() -> ExitCode {
    let Arguments { command, output } = Arguments::parse();
    interrupt::watch();
    let done = match command {
        Command::Cache(command) => cache::run(command, &output),
        Command::Pipelines(command) => pipelines::run(command, &output),
        Command::Profile(command) => profile::run(command, &output),
    };
    done.unwrap_or_else(|failure: Failure| {
        output.print_failure(&failure);
        failure.exit_code()
    })
}
