//! Counts instructions of a C++ program with callgrind.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use hobgoblin_tests::cpp::{compiler, is_installed, output, root, run};
use hobgoblin_tests::packaged::{SONAME, shared_library};

/// Compiles `cpp_tests/cost/<name>.cpp` with the packaged library. `None`: there is no compiler or no callgrind.
pub fn program(name: &str) -> Option<PathBuf> {
    if !is_installed("valgrind", "valgrind") {
        return None;
    }
    let tool = compiler()?;
    // Linkers take the commas of its path for separators.
    let folder = output().join(format!("{name}_cost"));
    fs::create_dir_all(&folder).expect("the target directory can be written");
    let (program, library) = (folder.join(name), folder.join(SONAME));
    fs::copy(shared_library(), &library).expect("the target directory can be written");
    let mut compile = tool.to_command();
    compile.current_dir(root()).arg("-O2").arg(format!("cpp_tests/cost/{name}.cpp")).arg(&library);
    compile.arg(format!("-Wl,--disable-new-dtags,-rpath,{}", folder.display()));
    run(compile.arg("-o").arg(&program));
    Some(program)
}

/// Instructions of a run with these arguments.
pub fn instructions(program: &Path, arguments: &[&str]) -> u64 {
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(program);
    let text = run(valgrind.args(arguments)).stderr;
    let text = String::from_utf8_lossy(&text);
    let count = text.lines().find_map(|line| line.split_once("Collected : ")).map(|(_, count)| count.trim());
    count.and_then(|count| count.parse().ok()).unwrap_or_else(|| panic!("callgrind prints a count: {text}"))
}
