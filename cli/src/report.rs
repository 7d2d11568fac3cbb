//! The answer of a command: lines and tables for people, or one JSON value for programs.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Args;
use comfy_table::{CellAlignment, Table, presets::NOTHING};
use serde::Serialize;
use serde_json::json;

use crate::failure::{FOUND, Failure, Result};

/// How a command answers.
#[derive(Args)]
pub struct Output {
    /// Print one JSON value instead of text. Errors are JSON on standard error.
    #[arg(long, global = true)]
    json: bool,
    /// Show no progress bars.
    #[arg(long, short, global = true)]
    pub quiet: bool,
}

/// An answer. Its JSON has the fields of the struct.
pub trait Report: Serialize {
    /// The answer as text.
    fn write(&self, to: &mut dyn Write) -> io::Result<()>;

    /// Whether the command found damage or a difference.
    fn has_findings(&self) -> bool {
        false
    }
}

impl Output {
    /// Print an answer.
    pub fn print(&self, report: &impl Report) -> Result<ExitCode> {
        let mut out = io::stdout().lock();
        let printed = if self.json {
            serde_json::to_writer_pretty(&mut out, report).map_err(io::Error::from).and_then(|()| writeln!(out))
        } else {
            report.write(&mut out)
        };
        match printed.and_then(|()| out.flush()) {
            // The reader, such as `head`, has seen enough.
            Err(why) if why.kind() == io::ErrorKind::BrokenPipe => {}
            Err(why) => return Err(Failure::File(format!("cannot print the answer: {why}"))),
            Ok(()) => {}
        }
        Ok(if report.has_findings() { ExitCode::from(FOUND) } else { ExitCode::SUCCESS })
    }

    /// Print an error to standard error.
    pub fn print_failure(&self, failure: &Failure) {
        let sentence = failure.to_string();
        // If standard error is closed, the exit code still tells.
        let _ = match self.json {
            true => writeln!(io::stderr(), "{}", json!({ "error": sentence })),
            false => writeln!(io::stderr(), "hob: {sentence}"),
        };
    }
}

/// A table without borders. All columns but the first are aligned to the right.
pub fn table<const COLUMNS: usize>(head: [&str; COLUMNS]) -> Table {
    let mut table = Table::new();
    table.load_preset(NOTHING).set_header(head);
    for column in 0..COLUMNS {
        let alignment = if column == 0 { CellAlignment::Left } else { CellAlignment::Right };
        if let Some(column) = table.column_mut(column) {
            column.set_padding((0, 2));
            column.set_cell_alignment(alignment);
        }
    }
    table
}
