//! Shared by the benchmarks of every room.

#[path = "src/timing.rs"]
pub mod timing;
