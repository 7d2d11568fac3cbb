//! Generative pictures from a graph that is edited while it runs, in C++. `main.cpp` describes the trial; `patch.cpp`
//! holds the code that a host has to write.

fn main() {
    hobgoblin_trials::run("patch");
}
