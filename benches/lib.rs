//! Shared by the benchmarks of every room.

#[path = "src/options.rs"]
pub mod options;
#[path = "src/random.rs"]
pub mod random;
#[path = "src/timing.rs"]
pub mod timing;
