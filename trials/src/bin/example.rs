//! Builds an example with the machine's own compiler, links it to the library that cargo has just built, and becomes it:
//! `cargo run --release -p hobgoblin-trials --bin example -- governor.c [ARGUMENTS]`.

use std::env;
use std::path::{Path, PathBuf};
use std::process::exit;

use hobgoblin_trials::{Build, Product, Result, become_program, command, end};

/// The examples, one source file each, with their summaries. `README.md` has the same list.
const EXAMPLES: [(&str, &str); 8] = [
    ("governor.c", "a frame loop whose quality settings are chosen by a goblin"),
    ("governor.cpp", "the same in C++, with hobgoblin.hpp"),
    ("program_cache_gl.cpp", "OpenGL programs that are compiled in the first run only"),
    ("program_cache_vk.cpp", "a VkPipelineCache that outlives the process"),
    ("pipeline_warmup.c", "pipelines that are built late in the first run, and ahead in later ones"),
    ("graph_patch.c", "a dataflow graph that evaluates only what changed and what is asked for"),
    ("perception_counter.c", "reads a counter from frames, and looks only at what changed"),
    ("host_files.c", "a program cache in the file system of the host"),
];

const USAGE: &str = "cargo run --release -p hobgoblin-trials --bin example -- EXAMPLE [ARGUMENTS]";

fn main() {
    let list: String = EXAMPLES.iter().map(|(file, summary)| format!("  {file:<23}{summary}\n")).collect();
    let mut words = env::args_os().skip(1);
    let Some(word) = words.next() else {
        eprint!("example: the name of an example is missing: {USAGE}\n{list}");
        exit(2);
    };
    if word == "--help" || word == "-h" {
        print!("example: builds an example and runs it\n\n{USAGE}\n\n{list}");
        return;
    }
    let Some((file, _)) = EXAMPLES.iter().find(|(file, _)| word == *file) else {
        eprint!("example: unknown example \"{}\": expected one of these\n{list}", word.display());
        exit(2);
    };
    let outcome = program(file).and_then(|program| become_program(command(&program)?.args(words)));
    end(file, outcome);
}

/// Builds an example beside this program.
fn program(file: &str) -> Result<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().ok_or("the package is in the repository")?;
    let build = Build {
        name: file.replace('.', "_"),
        product: Product::Program,
        sources: vec![root.join("examples").join(file)],
        headers: vec![root.join("examples")],
        root: root.to_owned(),
        output: env::current_exe()?.with_file_name("built"),
        optimization: 2,
        flags: &["-Wall", "-Wextra", "-Wpedantic", "-Wconversion"],
    };
    build.run()
}
