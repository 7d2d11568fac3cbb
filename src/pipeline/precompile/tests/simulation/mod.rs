//! Simulations with a virtual clock, which the tests and the benchmark share.

pub mod orders;
pub mod random;
pub mod requests;
pub mod shaders;
pub mod trace;
pub mod warm_up;
