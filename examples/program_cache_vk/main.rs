//! Compute shaders on a real Vulkan driver, whose compiled form is kept, in C++. `main.cpp` describes the example.
//! `cache.cpp` holds the code that a host has to write to use the library.

#[path = "../common/cpp.rs"]
mod cpp;

fn main() {
    cpp::run("program_cache_vk");
}
