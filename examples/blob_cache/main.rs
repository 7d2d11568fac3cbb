//! Puts a blob cache in front of an unmodified EGL program. It builds `libhobgoblin_blob_cache.so` and becomes that
//! program with the library in `LD_PRELOAD`. `preload.cpp` describes the library.

#[path = "../common/cpp.rs"]
mod cpp;

use std::env;
use std::ffi::OsString;
use std::path::{self, PathBuf};
use std::process::Command;

const USAGE: &str = "\
blob_cache: keeps the compiled shaders of an EGL program that nobody has changed, through EGL_ANDROID_blob_cache

HOB_BLOB_CACHE=DIR cargo run --release --example blob_cache -- PROGRAM [ARGUMENTS]

  HOB_BLOB_CACHE          the directory to keep them in; several processes may share one
  HOB_BLOB_CACHE_WAIT_MS  how long a program waits for what is in there when it first draws, and for its own to be
                          written when it ends (default: 1000)
  HOB_BLOB_CACHE_REPORT   a file that gets a line when a program ends that had the cache: how much was found, and kept

A driver that takes no cache is told of on stderr. The same without cargo, with both paths written in full:
";

fn main() {
    cpp::run_with_library("blob_cache", |library| {
        let mut words = env::args_os().skip(1);
        let Some(program) = words.next().filter(|word| word != "--help" && word != "-h") else {
            println!("{USAGE}\nHOB_BLOB_CACHE=DIR LD_PRELOAD={} PROGRAM [ARGUMENTS]", library.display());
            return None;
        };
        let mut command = Command::new(program);
        command.args(words).env("LD_PRELOAD", before_others(library));
        if let Some(Ok(directory)) = env::var_os("HOB_BLOB_CACHE").map(path::absolute) {
            command.env("HOB_BLOB_CACHE", directory);
        }
        Some(command)
    })
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
