//! Merging recordings and stable files, against reading and hashing the same bytes.
//!
//! `cargo bench -p hobgoblin-bench --bench pipeline_files` writes both sets of files to a temporary directory (about
//! 4 GB), and prints the tables. Each merge runs in a process of its own, which `ulimit -v` gives no more than the memory
//! that is promised. `-- recordings` or `-- sample` prints one table. Ratios are of processor time: the wait for the disk at
//! the end of a merge depends on the disk alone.
//!
//! 1. *Recordings.* 5,000,000 entries of 534 bytes in 2,000 recordings become a stable file.
//! 2. `-- many`: 5,000,000 different pipelines, from recordings to the opened cache.
//! 3. `-- strange`: the same, with a key map that has ten of their shaders.
//! 4. *The log of the Unreal Engine's documentation.* Its counts: key files, stable pipelines, rejected, merged, written.

mod floor;
mod many;
mod recordings;
mod sample;
mod worker;

use std::path::{Path, PathBuf};

/// Removed at the end.
struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    if let [role, directory] = &arguments[..] {
        return worker::run(role, Path::new(directory));
    }
    let scratch = Scratch(std::env::temp_dir().join(format!("hobgoblin-pipeline-files-{}", std::process::id())));
    std::fs::create_dir_all(&scratch.0).expect("the temporary directory can be written");
    let is_wanted = |name: &str| arguments.first().is_none_or(|only| only == name);
    if is_wanted("recordings") {
        recordings::print(&scratch.0.join("recordings"));
    }
    // These take minutes and gigabytes, so only if they are named.
    if arguments.first().is_some_and(|only| only == "many") {
        many::print(&scratch.0.join("many"));
    }
    if arguments.first().is_some_and(|only| only == "strange") {
        many::print_strange(&scratch.0.join("strange"));
    }
    if is_wanted("sample") {
        sample::print(&scratch.0.join("sample"));
    }
}
