//! GLSL programs on a real GL driver, compiled once and never again, in C++. `main.cpp` describes the example.
//! `cache.cpp` holds the code that a host has to write to use the library.

#[path = "../common/cpp.rs"]
mod cpp;

fn main() {
    cpp::run("program_cache_gl");
}
