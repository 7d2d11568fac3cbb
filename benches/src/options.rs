//! The command line of a benchmark.

use std::process::ExitCode;
use std::str::FromStr;

/// The operands of an option.
pub struct Operand<'a> {
    option: &'a str,
    rest: &'a mut dyn Iterator<Item = String>,
}

impl Operand<'_> {
    /// The next word.
    pub fn text(&mut self) -> Result<String, String> {
        self.rest.next().ok_or_else(|| format!("{} needs an operand: see --help", self.option))
    }

    /// The next word, parsed as a number or another type.
    pub fn parsed<T: FromStr>(&mut self) -> Result<T, String> {
        let word = self.text()?;
        word.parse().map_err(|_| format!("{} {word}: not what it should be, see --help", self.option))
    }
}

/// Reads the command line into `options` and runs the benchmark.
///
/// `take` gets one option after the other and returns whether it exists. This function handles `--help`, and the
/// arguments that cargo adds.
pub fn run<O>(
    help: &str,
    mut options: O,
    take: impl Fn(&mut O, &str, &mut Operand<'_>) -> Result<bool, String>,
    bench: impl FnOnce(&O) -> Result<(), String>,
) -> ExitCode {
    let mut words = std::env::args().skip(1);
    let done = loop {
        let Some(word) = words.next() else { break bench(&options) };
        match word.as_str() {
            "--help" | "-h" => {
                print!("{help}");
                break Ok(());
            }
            "--bench" | "--test" => {}
            word => match take(&mut options, word, &mut Operand { option: word, rest: &mut words }) {
                Ok(true) => {}
                Ok(false) => break Err(format!("{word} is not an option: see --help")),
                Err(sentence) => break Err(sentence),
            },
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(sentence) => {
            eprintln!("{sentence}");
            ExitCode::FAILURE
        }
    }
}
