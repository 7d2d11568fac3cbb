//! Names the shared library for the loader, and tells the tests that drive a C++ compiler which target they build for.

use std::env;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    for name in ["TARGET", "HOST"] {
        println!("cargo:rustc-env=HOB_{name}={}", env::var(name).unwrap_or_default());
    }
    if env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux" || os == "android") {
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libhobgoblin.so");
    }
}
