//! The targets of perception: figures beside their floors and peers, in one run.
//!
//! `cargo bench -p hobgoblin-bench --bench perception -- --help`

mod calls;
mod clips;
mod interval;
mod operators;
mod regions;
mod report;
mod spin;
mod template;

use std::process::ExitCode;

use hobgoblin_bench::options;

const HELP: &str = "\
Benchmark of perception: frames, queries, clips, templates and operators.

  cargo bench -p hobgoblin-bench --bench perception -- [options]

  --rounds N   rounds of the regions; the other tables take a part of them. Default: 200
  --only WORD  only these tables: regions, calls, clips, interval, template or operators
  --help       this page

Regions: the frame store and its floor take turns; ratios are medians of the ratios of each round. Warm: the same frame
again. Cold: 64 MiB of other memory were written before. Calls, clips, template and operators: processor time of the
thread; rows with two threads are wall-clock time. All ways of a clip see each frame in turns, and give equal values.
";

struct Options {
    rounds: usize,
    only: Option<String>,
}

fn main() -> ExitCode {
    options::run(
        HELP,
        Options { rounds: 200, only: None },
        |options, option, operand| {
            match option {
                "--rounds" => options.rounds = operand.parsed()?,
                "--only" => options.only = Some(operand.text()?),
                _ => return Ok(false),
            }
            Ok(true)
        },
        |options| {
            let rounds = options.rounds.max(4);
            let tables: [(&str, &dyn Fn()); 6] = [
                ("regions", &|| regions::print(rounds)),
                ("calls", &|| calls::print(rounds)),
                ("clips", &|| clips::print(rounds)),
                ("interval", &interval::print),
                ("template", &|| template::print(rounds.div_ceil(10))),
                ("operators", &|| operators::print(rounds.div_ceil(10))),
            ];
            let is_wanted = |name: &str| options.only.as_ref().is_none_or(|only| only == name);
            if !tables.iter().any(|(name, _)| is_wanted(name)) {
                return Err("--only: there is no such table, see --help".to_owned());
            }
            for (_, print) in tables.iter().filter(|(name, _)| is_wanted(name)) {
                print();
            }
            Ok(())
        },
    )
}
