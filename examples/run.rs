//! Builds an example with the machine's own compiler, links it to the library that cargo has just built, and becomes it:
//! `cargo run --release --example run -- governor.c [ARGUMENTS]`.

#[path = "runner/cpp.rs"]
mod cpp;
#[path = "runner/list.rs"]
mod list;

use std::env;
use std::path::Path;

use list::{EXAMPLES, describe};

const USAGE: &str = "cargo run --release --example run -- EXAMPLE [ARGUMENTS]";

fn main() {
    let mut words = env::args_os().skip(1);
    let Some(word) = words.next() else {
        eprintln!("run: an example is expected: {USAGE}\n{}", describe());
        std::process::exit(2);
    };
    if word == "--help" || word == "-h" {
        println!("run: builds an example and runs it\n\n{USAGE}\n\n{}", describe());
        return;
    }
    let Some(example) = EXAMPLES.iter().find(|example| word == example.file) else {
        eprintln!("run: there is no example {}: expected one of these\n{}", word.display(), describe());
        std::process::exit(2);
    };
    let outcome = env::current_exe().map_err(Into::into).and_then(|program| {
        let build = example.build(Path::new(env!("CARGO_MANIFEST_DIR")), &program.with_file_name("built"));
        cpp::become_program(cpp::command(&build.run()?)?.args(words))
    });
    cpp::end(example.file, outcome);
}
