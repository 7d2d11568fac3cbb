//! Graphics pipelines on a real Vulkan driver, recorded in one run and compiled ahead in the next, in C++. `main.cpp`
//! describes the trial. `pipelines.cpp` holds the code that a host has to write to use the library.

use std::env;

use hobgoblin_trials::{Result, become_program, build, command, end, tool};

/// Flags after which no tool is needed.
const WITHOUT_TOOL: [&str; 6] = ["--help", "-h", "--list-devices", "--step", "--builder", "--hob"];

fn main() {
    end("pipeline_warmup_vk", run());
}

fn run() -> Result<i32> {
    let words: Vec<_> = env::args_os().skip(1).collect();
    let program = build("pipeline_warmup_vk")?;
    let mut command = command(&program)?;
    if !words.iter().any(|word| WITHOUT_TOOL.iter().any(|flag| word == flag)) {
        command.arg("--hob").arg(tool()?);
    }
    become_program(command.args(words))
}
