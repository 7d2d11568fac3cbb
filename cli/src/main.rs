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
//! | `outputs` | files that commands write |
//! | `numbers` | sizes, times and ids, as text |

mod cache;
mod failure;
mod interrupt;
mod numbers;
mod outputs;
mod pipelines;
mod profile;
mod progress;
mod report;

use std::env;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use failure::{EXIT_CODES, Failure};
use report::Output;

/// Shows, checks, merges and builds the files of hobgoblin.
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

/// The help of each command has the exit codes.
fn with_exit_codes(command: clap::Command) -> clap::Command {
    command.after_help(EXIT_CODES).mut_subcommands(with_exit_codes)
}

fn parse() -> Result<Arguments, clap::Error> {
    let matches = with_exit_codes(Arguments::command()).try_get_matches()?;
    Arguments::from_arg_matches(&matches)
}

/// Print help, or an error of the arguments: as text, or as JSON.
fn refuse(why: &clap::Error) -> ExitCode {
    let has_json = env::args_os().take_while(|argument| argument != "--").any(|argument| argument == "--json");
    if !why.use_stderr() || !has_json {
        // If the stream is closed, the exit code still tells.
        let _ = why.print();
        return ExitCode::from(if why.use_stderr() { failure::USAGE } else { 0 });
    }
    let text = why.to_string();
    let sentence = match why.kind() {
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => "a command is missing: see --help",
        _ => text.split("\n\n").next().unwrap_or(&text).trim_start_matches("error: "),
    };
    let failure = Failure::Usage(sentence.split_whitespace().collect::<Vec<_>>().join(" "));
    Output::json().print_failure(&failure);
    failure.exit_code()
}

fn main() -> ExitCode {
    let Arguments { command, output } = match parse() {
        Ok(arguments) => arguments,
        Err(why) => return refuse(&why),
    };
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
