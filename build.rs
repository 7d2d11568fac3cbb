//! Names the shared library for the loader.
// cargo answers in the environment.
#![allow(clippy::disallowed_methods)]

use std::env;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=HOB_VERSIONED_SONAME");
    // cargo-c names the library itself.
    if env::var_os("CARGO_FEATURE_CAPI").is_some() {
        return;
    }
    // A packaged library is named by the major version, and its file is found by symbolic links: docs/packaging.md.
    let major = env::var_os("HOB_VERSIONED_SONAME").and_then(|_| env::var("CARGO_PKG_VERSION_MAJOR").ok());
    match (env::var("CARGO_CFG_TARGET_OS").unwrap_or_default().as_str(), major) {
        ("linux", Some(major)) => link_argument(&format!("-soname,libhobgoblin.so.{major}")),
        // Android packages only files whose names end in .so.
        ("linux" | "android", _) => link_argument("-soname,libhobgoblin.so"),
        ("macos", Some(major)) => link_argument(&format!("-install_name,@rpath/libhobgoblin.{major}.dylib")),
        _ => {}
    }
}

fn link_argument(argument: &str) {
    println!("cargo:rustc-cdylib-link-arg=-Wl,{argument}");
}
