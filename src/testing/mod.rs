//! Support for unit tests of several rooms: a counting allocator, and skips.
#![allow(dead_code, reason = "a build with some of the rooms uses some of the helpers")]

pub mod allocator;

/// Reports that a test cannot run on this machine, or fails if every test is required.
pub fn skip(reason: &str) {
    let required = ["CI", "HOB_REQUIRE_ALL"].iter().any(|name| std::env::var_os(name).is_some());
    assert!(!required, "{reason}");
    println!("skipped: {reason}");
}

/// The number of cases of a randomised test: `cases`, times HOB_TEST_EFFORT if that is set.
pub fn scaled(cases: u32) -> u32 {
    let effort = std::env::var("HOB_TEST_EFFORT")
        .ok()
        .map_or(1, |word| word.parse().unwrap_or_else(|why| panic!("invalid HOB_TEST_EFFORT \"{word}\": {why}")));
    cases.saturating_mul(effort)
}
