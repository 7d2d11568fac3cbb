//! A small renderer that keeps its frames inside a budget, in C++: what it does is told in `main.cpp`; what a host has to
//! write to use the library, in `goblin_governor.cpp`.

#[path = "../common/cpp.rs"]
mod cpp;

fn main() {
    cpp::run("frame_budget");
}
