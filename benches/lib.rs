//! Code that the benchmarks share.

#[path = "src/c_calls.rs"]
pub mod c_calls;
#[path = "src/contest/mod.rs"]
pub mod contest;
#[path = "src/options.rs"]
pub mod options;
#[path = "src/random.rs"]
pub mod random;
#[path = "src/timing.rs"]
pub mod timing;
