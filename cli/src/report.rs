//! The answer of a command: lines and tables for people, or one JSON value for programs.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use clap::Args;
use comfy_table::{CellAlignment, Table, presets::NOTHING};
use serde::{Serialize, Serializer};
use serde_json::json;

use crate::failure::{FOUND, Failure, Result, escaped};

/// How a command answers.
#[derive(Args)]
pub struct Output {
    /// Print one JSON value instead of text. Errors are JSON on standard error, those of arguments too.
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

/// A path in JSON. Bytes that are no UTF-8 are replaced.
pub fn path<S: Serializer>(path: &Path, to: S) -> std::result::Result<S::Ok, S::Error> {
    to.serialize_str(&path.to_string_lossy())
}

impl Output {
    /// An answer as JSON, before there are arguments.
    pub fn json() -> Self {
        Self { json: true, quiet: true }
    }

    /// Print an answer.
    pub fn print(&self, report: &impl Report) -> Result<ExitCode> {
        let mut out = io::stdout().lock();
        let printed = if self.json {
            serde_json::to_writer_pretty(&mut out, report).map_err(io::Error::from).and_then(|()| writeln!(out))
        } else {
            let mut text = Vec::new();
            let written = report.write(&mut text);
            written.and_then(|()| out.write_all(escaped(&String::from_utf8_lossy(&text), true).as_bytes()))
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
            true => writeln!(io::stderr(), "{}", json!({ "error": sentence, "exit_code": failure.code() })),
            false => writeln!(io::stderr(), "hob: {}", escaped(&sentence, false)),
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
