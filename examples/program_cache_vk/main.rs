//! Compute shaders on a real Vulkan driver, whose work is kept, in C++: what it does is told in `main.cpp`; what a host has
//! to write to use the library, in `cache.cpp`.

#[path = "../common/cpp.rs"]
mod cpp;

fn main() {
    cpp::run("program_cache_vk");
}
