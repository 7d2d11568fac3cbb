//! The precompiler and the table of known pipelines.

mod seen;

fn main() {
    seen::print();
}
