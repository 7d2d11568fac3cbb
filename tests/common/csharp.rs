//! Compiles C# with mcs and runs it on Mono.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::cpp::{is_installed, root, run};

/// Whether a compiler and a runtime are installed. If not, the test is skipped.
pub fn is_available() -> bool {
    is_installed("mcs", "mono-mcs") && is_installed("mono", "mono-runtime")
}

/// All C# sources of a folder and the folders in it, ordered by path. Paths are relative to the repository.
pub fn sources(folder: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let list = std::fs::read_dir(root().join(folder)).unwrap_or_else(|why| panic!("cannot list {folder}: {why}"));
    for entry in list {
        let path = Path::new(folder).join(entry.expect("an entry can be read").file_name());
        if root().join(&path).is_dir() {
            found.extend(sources(&path.to_string_lossy()));
        } else if path.extension().is_some_and(|found| found == "cs") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Compiles sources into an assembly, with warnings as errors. `arguments` are those of mcs.
pub fn compile(sources: &[PathBuf], assembly: &Path, arguments: &[&str]) {
    let folder = assembly.parent().expect("a file is in a folder");
    std::fs::create_dir_all(folder).unwrap_or_else(|why| panic!("cannot create {}: {why}", folder.display()));
    let target = if assembly.extension().is_some_and(|found| found == "dll") { "library" } else { "exe" };
    let mut command = Command::new("mcs");
    command.current_dir(root()).args(["-langversion:7.2", "-unsafe", "-warnaserror", "-optimize"]);
    command.arg(format!("-target:{target}")).arg(format!("-out:{}", assembly.display())).args(arguments);
    run(command.args(sources));
}

/// A command that runs a program on Mono with a native library.
pub fn mono(program: &Path, library: &Path) -> Command {
    let mut command = Command::new("mono");
    command.arg(program).env("LD_LIBRARY_PATH", library.parent().expect("a library is in a folder"));
    command
}

/// Runs a program on Mono with a native library. Panics with its output unless it succeeds.
pub fn run_mono(program: &Path, library: &Path) -> Output {
    run(&mut mono(program, library))
}
