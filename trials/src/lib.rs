//! The acceptance programs in C++, on real drivers. Each has a folder of its own; `common` has the code that they share.
//! The Rust programs in `src/bin` build them, and become them.

use std::path::{Path, PathBuf};

mod runner;

mod tool;

pub use runner::{Build, Product, Result, become_program, command, end};
pub use tool::tool;

/// The C++ programs. `blob_cache` is a shared library.
pub const NAMES: [&str; 7] =
    ["blob_cache", "frame_budget", "patch", "pipeline_warmup_vk", "program_cache_gl", "program_cache_vk", "watch"];

/// How to build a trial. It consists of all C++ files of its folder. A program also has the files of `common`.
pub fn trial(name: &str, output: &Path) -> runner::Result<Build> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let product = if name == "blob_cache" { Product::SharedLibrary } else { Product::Program };
    let mut folders = vec![here.join(name)];
    if product == Product::Program {
        folders.push(here.join("common"));
    }
    let mut sources = Vec::new();
    for folder in &folders {
        sources.extend(runner::files_with_extension(folder, "cpp")?);
    }
    Ok(Build {
        name: name.to_owned(),
        product,
        sources,
        headers: folders,
        root: here.parent().ok_or("the package is in the repository")?.to_owned(),
        output: output.join(name),
        optimization: 2,
        flags: &["-Wall", "-Wextra"],
    })
}

/// Builds a trial beside this program.
pub fn build(name: &str) -> runner::Result<PathBuf> {
    let program = std::env::current_exe()?;
    trial(name, &program.with_file_name("trials"))?.run()
}

/// Builds the trial `name` and becomes it.
pub fn run(name: &str) -> ! {
    let outcome = build(name).and_then(|program| become_program(command(&program)?.args(std::env::args_os().skip(1))));
    end(name, outcome)
}
