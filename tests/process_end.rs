//! Which ends of a process count as a crash of the program in use: child processes with the real library, linked
//! statically and as a shared library.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use hobgoblin_tests::cpp::{compiler, harness_library, output, root, run};

/// Builds `cpp_tests/process_end` with the static and with the shared library. `None`: there is no compiler.
fn programs() -> Option<([PathBuf; 2], PathBuf)> {
    let tool = compiler()?;
    let library = harness_library();
    let link = |name: &str, library: &Path| {
        let program = output().join(name);
        let mut compile = tool.to_command();
        compile.current_dir(root()).arg("cpp_tests/process_end/main.cpp").arg(library);
        let folder = library.parent().expect("a library is in a folder").display();
        compile.arg(format!("-Wl,--disable-new-dtags,-rpath,{folder}"));
        run(compile.args(["-lpthread", "-ldl", "-lm", "-o"]).arg(&program));
        program
    };
    let archive = link("process_end_static", &library.with_extension("a"));
    Some(([archive, link("process_end_shared", &library)], library))
}

#[test]
fn clean_exit_with_open_uses_is_no_strike_and_a_crash_is_one() {
    let Some((programs, library)) = programs() else { return };
    let scratch = output().join("process_end");
    for program in &programs {
        let is_static = program == &programs[0];
        let mut ways = vec![
            ("return", 0),
            ("exit", 0),
            ("exit 1", 0),
            ("exit of a thread", 0),
            ("exit beside uses", 0),
            ("destroy at exit", 0),
            ("fork", 1),
            ("_exit", 1),
            ("abort", 1),
            ("kill", 1),
        ];
        if cfg!(target_env = "gnu") {
            ways.push(("quick_exit", 0));
        }
        // The program that links the shared library cannot unload it.
        if is_static {
            ways.extend([("unload", 0), ("unload often", 0)]);
        }
        for (way, strikes) in ways {
            let _ = std::fs::remove_dir_all(&scratch);
            let mut child = Command::new(program);
            child.arg(&scratch).arg(way).arg(&library).stderr(Stdio::inherit());
            // The thread caches of glibc fill slowly, which looks like a leak.
            child.env("GLIBC_TUNABLES", "glibc.malloc.tcache_count=0");
            let ended = child.status().expect("the program starts");
            assert!(!matches!(ended.code(), Some(97..)), "{way}: {ended}");
            let printed = run(Command::new(program).arg(&scratch).arg("strikes")).stdout;
            assert_eq!(String::from_utf8_lossy(&printed).trim(), strikes.to_string(), "{way} of {}", program.display());
        }
    }
}
