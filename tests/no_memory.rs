//! Lets allocations of a scenario fail, one after the other, and all from one on: those of the library, of the standard
//! library and of the C library. No process may abort. See `cpp_tests/no_memory`.

use std::path::{Path, PathBuf};
use std::process::Command;

use hobgoblin_tests::cpp::{compiler, files, harness_library, output, root, run, skip};

/// Every allocation whose number is a multiple of this fails. 1 takes ten minutes: `tools/campaign.sh memory`.
const STRIDE: u32 = 11;

/// The program, linked with the static library. `None`: it cannot be built here.
fn program() -> Option<PathBuf> {
    if !cfg!(all(target_os = "linux", target_env = "gnu")) {
        skip("replacing the C library's malloc is only tested with glibc");
        return None;
    }
    let tool = compiler()?;
    let archive = harness_library().with_extension("a");
    let program = output().join("no_memory");
    let mut compile = tool.to_command();
    // Addresses of a program without -pie are those of its debug information.
    compile.current_dir(root()).args(["-g1", "-no-pie"]).args(files("cpp_tests/no_memory", &["cpp"])).arg(archive);
    run(compile.args(["-lpthread", "-ldl", "-lm", "-o"]).arg(&program));
    Some(program)
}

#[test]
fn no_failed_allocation_takes_the_host_down() {
    let Some(program) = program() else { return };
    let stride = std::env::var("HOB_MEMORY_STRIDE").unwrap_or_else(|_| STRIDE.to_string());
    // Thousands of processes sync their files.
    let in_memory = Path::new("/dev/shm");
    let scratch = if in_memory.is_dir() { in_memory.to_owned() } else { output() };
    let done = run(Command::new(program).args(["--stride", &stride]).env("HOB_SCRATCH", scratch));
    print!("{}", String::from_utf8_lossy(&done.stdout));
}
