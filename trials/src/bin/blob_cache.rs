//! Puts a blob cache in front of an unmodified EGL program. It builds `libhobgoblin_blob_cache.so` and becomes that
//! program with the library in `LD_PRELOAD`. `preload.cpp` describes the library.

use std::env;
use std::ffi::OsString;
use std::path::{self, PathBuf};
use std::process::Command;

use hobgoblin_trials::{become_program, build, end};

const USAGE: &str = "\
blob_cache: keeps the compiled shaders of an unmodified EGL program, through EGL_ANDROID_blob_cache

HOB_BLOB_CACHE=DIR cargo run --release -p hobgoblin-trials --bin blob_cache -- PROGRAM [ARGUMENTS]

  HOB_BLOB_CACHE          the directory of the cache; several processes may share one
  HOB_BLOB_CACHE_WAIT_MS  how long a program waits for the stored blobs when it first draws, and for its own to be
                          written when it ends (default: 1000)
  HOB_BLOB_CACHE_STRIKES  1: a blob that the driver has had since the last frame in two processes that were killed is
                          not loaded again (default: 0); for programs that call eglSwapBuffers after each frame
  HOB_BLOB_CACHE_REPORT   a file that gets a line when a program with the cache ends: the blobs found and stored

A driver without the extension causes a message on stderr. Without cargo, with both paths written in full:
";

fn main() {
    let mut words = env::args_os().skip(1);
    let program = words.next().filter(|word| word != "--help" && word != "-h");
    let outcome = build("blob_cache").and_then(|library| {
        let Some(program) = program else {
            println!("{USAGE}\nHOB_BLOB_CACHE=DIR LD_PRELOAD={} PROGRAM [ARGUMENTS]", library.display());
            return Ok(0);
        };
        let mut command = Command::new(program);
        command.args(words).env("LD_PRELOAD", before_others(library));
        if let Some(Ok(directory)) = env::var_os("HOB_BLOB_CACHE").map(path::absolute) {
            command.env("HOB_BLOB_CACHE", directory);
        }
        become_program(&mut command)
    });
    end("blob_cache", outcome)
}

/// The library, followed by the previous content of `LD_PRELOAD`.
fn before_others(library: PathBuf) -> OsString {
    let mut list = library.into_os_string();
    if let Some(others) = env::var_os("LD_PRELOAD").filter(|others| !others.is_empty()) {
        list.push(":");
        list.push(others);
    }
    list
}
