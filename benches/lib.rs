//! Shared by the benchmarks of every room.
