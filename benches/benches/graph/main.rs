//! Graphs through the C API, compared with a hand-written loop over function pointers and with other libraries.
//!
//! `cargo bench -p hobgoblin-bench --bench graph -- --help`

mod c_api;
mod edits;
mod peers;
mod rows;
mod shapes;
mod threads;

use std::process::ExitCode;

use hobgoblin_bench::c_calls::library;
use hobgoblin_bench::options;

const HELP: &str = "\
Benchmark of graphs through the C API of the packaged shared library.

  cargo bench -p hobgoblin-bench --bench graph -- [options]

  --quick      few rounds: some seconds
  --rounds N   rounds. Default: 200
  --only WORD  only these tables: all, one, volatile, build, threads, edits or network
  --help       this page

Peers in the same run: a hand-written loop over function pointers, and the crates incremental and salsa. All take turns
in each round; figures are medians of processor time of the thread, ratios are medians of ratios of the same round.
Threads are measured by wall-clock time, in turns with two threads that only spin.
";

struct Options {
    rounds: usize,
    is_quick: bool,
    only: Option<String>,
}

fn main() -> ExitCode {
    let options = Options { rounds: 200, is_quick: false, only: None };
    options::run(
        HELP,
        options,
        |options, option, operand| {
            match option {
                "--quick" => (options.is_quick, options.rounds) = (true, 20),
                "--rounds" => options.rounds = operand.parsed()?,
                "--only" => options.only = Some(operand.text()?),
                _ => return Ok(false),
            }
            Ok(true)
        },
        |options| {
            let api = c_api::Api::load(&library());
            let rounds = options.rounds;
            let is_wanted = |name: &str| options.only.as_ref().is_none_or(|only| only == name);
            let tables: [(&str, &dyn Fn()); 7] = [
                ("all", &|| rows::all_nodes(&api, rounds)),
                ("one", &|| rows::one_input(&api, rounds)),
                ("volatile", &|| rows::volatile(&api, rounds)),
                ("build", &|| rows::build(&api, rounds)),
                ("threads", &|| threads::print(&api, rounds.min(60))),
                ("edits", &|| edits::print(&api, if options.is_quick { 1000 } else { 10_000 })),
                ("network", &|| edits::network(&api, if options.is_quick { 10 } else { 100 })),
            ];
            for (_, print) in tables.iter().filter(|(name, _)| is_wanted(name)) {
                print();
            }
            Ok(())
        },
    )
}
