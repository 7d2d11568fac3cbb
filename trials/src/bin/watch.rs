//! Reads numbers from the status bar of a game, in C++. `main.cpp` describes the trial; `watcher.cpp` holds the code that
//! a host has to write.

fn main() {
    hobgoblin_trials::run("watch");
}
