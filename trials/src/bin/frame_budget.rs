//! A small renderer that keeps its frames inside a budget, in C++. `main.cpp` describes the trial.
//! `goblin_governor.cpp` holds the code that a host has to write to use the library.

fn main() {
    hobgoblin_trials::run("frame_budget");
}
