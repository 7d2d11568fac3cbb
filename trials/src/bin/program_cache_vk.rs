//! Compute shaders on a real Vulkan driver, whose compiled form is kept, in C++. `main.cpp` describes the trial.
//! `cache.cpp` holds the code that a host has to write to use the library.

fn main() {
    hobgoblin_trials::run("program_cache_vk");
}
