//! The frame store against plain compares and copies of memory.
//!
//! `cargo bench -p hobgoblin-bench --bench perception -- --help`

mod regions;

use std::process::ExitCode;

use hobgoblin_bench::options;

const HELP: &str = "\
Benchmark of the frame store.

  cargo bench -p hobgoblin-bench --bench perception -- [options]

  --rounds N   rounds. Default: 200
  --help       this page

Each round measures the store and its floor, one after the other. Figures are medians; ratios are medians of the ratios of
each round. Warm: the same frame again. Cold: 64 MiB of other memory were written before.
";

fn main() -> ExitCode {
    options::run(
        HELP,
        200,
        |rounds, option, operand| {
            match option {
                "--rounds" => *rounds = operand.parsed()?,
                _ => return Ok(false),
            }
            Ok(true)
        },
        |rounds| {
            regions::print(*rounds);
            Ok(())
        },
    )
}
