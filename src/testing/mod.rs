//! Support for unit tests of several rooms: a counting allocator, and skips.

pub mod allocator;

/// Reports that a test cannot run on this machine, or fails if every test is required.
pub fn skip(reason: &str) {
    let required = ["CI", "HOB_REQUIRE_ALL"].iter().any(|name| std::env::var_os(name).is_some());
    assert!(!required, "{reason}");
    println!("skipped: {reason}");
}
