//! Tells the tests which target they are built for: they call the C++ compiler of that target.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    for name in ["TARGET", "HOST"] {
        println!("cargo:rustc-env=HOB_{name}={}", std::env::var(name).unwrap_or_default());
    }
}
