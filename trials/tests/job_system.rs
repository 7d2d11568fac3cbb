//! Another library's job system runs the loops and the background tasks: oneTBB.

use std::fs;
use std::process::Command;

use hobgoblin_tests::cpp::{compiler, harness_library, output, root, run, skip};

#[test]
fn third_party_job_system_runs_loops_and_background_tasks() {
    let Some(tool) = compiler() else { return };
    let library = harness_library();
    let directory = output().join("job_system");
    let _ = fs::remove_dir_all(&directory);
    let probe = tool.to_command().args(["-x", "c++", "-E", "-include", "tbb/version.h", "/dev/null"]).output();
    if !probe.is_ok_and(|output| output.status.success()) {
        return skip("oneTBB is not installed (Debian: libtbb-dev)");
    }
    let folder = library.parent().expect("a library is in a folder");
    let mut compile = tool.to_command();
    // oneTBB's own headers do not compile without warnings.
    compile.current_dir(root()).args(["-w", "-I", "include", "cpp_tests/job_system/onetbb.cpp"]);
    compile.arg(&library).arg(format!("-Wl,--disable-new-dtags,-rpath,{}", folder.display()));
    let program = output().join("onetbb");
    run(compile.args(["-ltbb", "-lpthread", "-o"]).arg(&program));
    print!("{}", String::from_utf8_lossy(&run(Command::new(program).arg(directory)).stdout));
}
