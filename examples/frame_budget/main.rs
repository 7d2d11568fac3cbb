//! A small renderer that keeps its frames inside a budget, in C++. `main.cpp` describes the example.
//! `goblin_governor.cpp` holds the code that a host has to write to use the library.

#[path = "../common/cpp.rs"]
mod cpp;

fn main() {
    cpp::run("frame_budget");
}
