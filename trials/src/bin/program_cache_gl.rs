//! GLSL programs on a real GL driver, compiled once and never again, in C++. `main.cpp` describes the trial.
//! `cache.cpp` holds the code that a host has to write to use the library.

fn main() {
    hobgoblin_trials::run("program_cache_gl");
}
