//! The examples: one source file each. `examples/README.md` has the same list.

use std::path::Path;

use super::cpp::{Build, Product};

/// One example.
pub struct Example {
    pub file: &'static str,
    pub summary: &'static str,
}

/// All examples.
pub const EXAMPLES: [Example; 5] = [
    Example { file: "governor.c", summary: "a frame loop whose quality settings are chosen by a goblin" },
    Example { file: "governor.cpp", summary: "the same in C++, with hobgoblin.hpp" },
    Example { file: "program_cache_gl.cpp", summary: "OpenGL programs are compiled in the first run only" },
    Example { file: "program_cache_vk.cpp", summary: "a VkPipelineCache that outlives the process" },
    Example { file: "host_files.c", summary: "a program cache in the file system of the host" },
];

/// A line for each example.
pub fn describe() -> String {
    EXAMPLES.iter().map(|example| format!("  {:<22}{}\n", example.file, example.summary)).collect()
}

impl Example {
    /// How to build the example of the repository `root` in a folder of `output`.
    pub fn build(&self, root: &Path, output: &Path) -> Build {
        Build {
            name: self.file.replace('.', "_"),
            product: Product::Program,
            sources: vec![root.join("examples").join(self.file)],
            headers: Vec::new(),
            root: root.to_owned(),
            output: output.to_owned(),
            optimization: 2,
            flags: &["-Wall", "-Wextra", "-Wpedantic", "-Wconversion"],
        }
    }
}
