//! `hob profile` over files of hob_profile_save.

mod common;

use std::fs;

use common::Scratch;

#[test]
fn merged_profile_weights_by_samples() {
    let scratch = Scratch::new();
    fs::write(scratch.path("a"), r#"{"shadows":[[1,2,0],[3,4,1]]}"#).unwrap();
    fs::write(scratch.path("b"), r#"{"fog":[[5,1,0]],"shadows":[[3,6,0],[0,0,0]]}"#).unwrap();
    let merged = scratch.hob(&["profile", "merge", "a", "b", "--out", "c"]).succeeded().out();
    assert_eq!(merged, "wrote 2 tasks of 2 profiles to 'c'\n");
    let shown = scratch.hob(&["profile", "show", "c", "--json"]).succeeded().json();
    assert_eq!(shown["tasks"][1]["id"], "shadows");
    assert_eq!(
        (&shown["tasks"][1]["options"][0]["samples"], &shown["tasks"][1]["options"][0]["mean"]),
        (&4.into(), &5.0.into())
    );
    assert!(scratch.hob(&["profile", "show", "c"]).succeeded().out().contains("shadows"));
}

#[test]
fn differences_are_listed_and_change_the_exit_code() {
    let scratch = Scratch::new();
    fs::write(scratch.path("a"), r#"{"fog":[[5,1,0]],"shadows":[[1,2,0],[3,4,1]]}"#).unwrap();
    fs::write(scratch.path("b"), r#"{"shadows":[[1,2,0],[3,4.1,1]]}"#).unwrap();
    assert_eq!(scratch.hob(&["profile", "diff", "a", "a"]).succeeded().out(), "no difference\n");
    let differ = scratch.hob(&["profile", "diff", "a", "b", "--json"]);
    assert_eq!(differ.code(), Some(1));
    assert_eq!(differ.json()["options"].as_array().map(Vec::len), Some(2));
    let coarse = scratch.hob(&["profile", "diff", "a", "b", "--percent", "5", "--json"]);
    assert_eq!(coarse.json()["options"][0]["task"], "fog");
    assert_eq!(coarse.json()["options"].as_array().map(Vec::len), Some(1));
    assert!(scratch.hob(&["profile", "diff", "a", "b"]).out().contains("+2.5 %"));
}

#[test]
fn invalid_profile_is_refused_and_nothing_is_written() {
    let scratch = Scratch::new();
    fs::write(scratch.path("a"), r#"{"fog":[[5,1]]}"#).unwrap();
    let error = scratch.hob(&["profile", "merge", "a", "-o", "b"]).failed(3);
    assert!(error.contains("line 1"), "{error}");
    assert!(!scratch.path("b").exists());
    assert!(scratch.hob(&["profile", "show", "missing"]).failed(3).contains("cannot read 'missing'"));
}
