//! The precompiler and the table of known pipelines.
//!
//! `cargo bench -p hobgoblin-bench --bench precompile` prints all tables. The simulations run on a virtual clock, so they
//! give the same figures on every machine.

mod c_api;
mod calls;
mod governed;
mod seen;
#[path = "../../../src/pipeline/precompile/tests/simulation/mod.rs"]
mod simulation;
mod tables;

// For the simulations, which the tests of the library share.
use hobgoblin::pipeline::precompile::{
    Entry, Job, Mode, Options, Order, Outcome, Pace, Paces, Precompiler, Sighting, State,
};
use hobgoblin::pipeline::{Mask, PipelineKey, ShaderHash};

fn main() {
    seen::print();
    calls::print();
    c_api::print();
    tables::requests();
    tables::shaders();
    tables::orders();
    tables::warm_up();
}
