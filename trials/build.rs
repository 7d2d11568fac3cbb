//! Passes the target to the builder of the C++ programs.

use std::env;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    for name in ["TARGET", "HOST"] {
        println!("cargo:rustc-env=HOB_{name}={}", env::var(name).unwrap_or_default());
    }
}
