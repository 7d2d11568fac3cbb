//! `hob pipelines coverage`, `diff` and `doctor` over recordings and shipped caches.

mod common;

use std::fs;

use common::Scratch;
use common::recordings::{build, record, record_as, run_of};

#[test]
fn coverage_counts_used_and_missed_pipelines_with_their_hitches() {
    let scratch = Scratch::new();
    build(&scratch, "cache", 1, 0, 20);
    record_as(&scratch.path("a.rec.hobpipe"), &run_of("game", 3), 5, 22, 2000);
    record_as(&scratch.path("b.rec.hobpipe"), &run_of("game", 4), 15, 25, 3000);
    fs::copy(scratch.path("a.rec.hobpipe"), scratch.path("c.rec.hobpipe")).unwrap();
    let coverage = ["pipelines", "coverage", "*.rec.hobpipe", "--cache", "cache"];
    let answer = scratch.hob(&[&coverage[..], &["--json"]].concat()).succeeded().json();
    let counts = ["opened", "used", "never_used", "missed", "repeated"].map(|name| answer[name].as_u64().unwrap());
    assert_eq!(counts, [20, 15, 5, 5, 1]);
    // Two misses of the first run, five of the second one.
    assert_eq!(answer["hitch_ms"], 2.0 * 2.0 + 5.0 * 3.0);
    assert_eq!((&answer["misses"][0]["hitch_ms"], &answer["misses"][0]["runs"]), (&5.0.into(), &2.into()));
    assert_eq!((&answer["misses"][4]["hitch_ms"], &answer["misses"][4]["runs"]), (&3.0.into(), &1.into()));
    assert_eq!((&answer["runs"][0]["missed"], &answer["runs"][1]["missed"]), (&2.into(), &5.into()));
    let mib = fs::metadata(scratch.path("cache")).unwrap().len() as f64 / 1_048_576.0;
    assert!((answer["missed_per_mib"].as_f64().unwrap() * mib - 5.0).abs() < 1e-6);
    assert!((answer["avoided_per_mib"].as_f64().unwrap() * mib - 15.0).abs() < 1e-6);
    let text = scratch.hob(&coverage).succeeded().out();
    assert!(text.contains("15 used, 5 never used") && text.contains("5 pipelines missed"), "{text}");

    // Pipelines of two caches count once.
    build(&scratch, "more", 2, 10, 25);
    let both = scratch.hob(&[&coverage[..], &["--cache", "more", "--json"]].concat()).succeeded().json();
    assert_eq!((&both["opened"], &both["used"], &both["missed"]), (&25.into(), &20.into(), &0.into()));
}

#[test]
fn coverage_of_another_game_or_a_damaged_file_is_reported() {
    let scratch = Scratch::new();
    build(&scratch, "cache", 1, 0, 20);
    record_as(&scratch.path("other"), &run_of("other", 3), 0, 5, 100);
    let error = scratch.hob(&["pipelines", "coverage", "other", "--cache", "cache"]).failed(3);
    assert!(error.contains("'other' is for the project 'other', and not for 'game'"), "{error}");
    let error = scratch.hob(&["pipelines", "coverage", "cache", "--cache", "cache"]).failed(3);
    assert!(error.contains("not a recording"), "{error}");
    assert!(scratch.hob(&["pipelines", "coverage", "other"]).failed(2).contains("--cache"));
    record(&scratch.path("whole"), 3, 0, 5);
    let bytes = fs::read(scratch.path("whole")).unwrap();
    fs::write(scratch.path("cut"), &bytes[..bytes.len() - 50]).unwrap();
    let cut = scratch.hob(&["pipelines", "coverage", "cut", "--cache", "cache"]);
    assert_eq!(cut.code(), Some(1));
    assert!(cut.out().contains("the counts are too low"), "{}", cut.out());
}

#[test]
fn diff_lists_pipelines_of_one_side_and_different_masks() {
    let scratch = Scratch::new();
    build(&scratch, "a", 1, 0, 20);
    build(&scratch, "b", 2, 5, 22);
    assert!(scratch.hob(&["pipelines", "diff", "a", "a"]).succeeded().out().contains("no difference: 20 pipelines"));
    let answer = scratch.hob(&["pipelines", "diff", "a", "b", "--json"]);
    assert_eq!(answer.code(), Some(1));
    let answer = answer.json();
    let lengths = ["only_before", "only_after", "masks"].map(|name| answer[name].as_array().unwrap().len());
    assert_eq!((lengths, &answer["both"]), ([5, 2, 15], &15.into()));
    assert_eq!(
        (&answer["masks"][0]["before"][0], &answer["masks"][0]["after"][0]),
        (&"0000000000000001".into(), &"0000000000000002".into())
    );
    let short = scratch.hob(&["pipelines", "diff", "a", "b"]).out();
    assert!(short.contains("5 pipelines only in 'a'") && short.lines().count() == 3, "{short}");
    let listed = scratch.hob(&["pipelines", "diff", "a", "b", "--list"]).out();
    assert_eq!(listed.lines().count(), 3 + 1 + 5 + 2 + 15, "{listed}");

    // A recording has the pipelines of the cache that was built from it, if no shader changed.
    scratch.hob(&["pipelines", "diff", "a", "a.recorded"]).succeeded();
    let stable = scratch.hob(&["pipelines", "diff", "a.hobstable", "b.hobstable", "--json"]).json();
    assert_eq!(stable["both"], 15);
    scratch.hob(&["pipelines", "diff", "a.hobstable", "a.hobstable"]).succeeded();
}

#[test]
fn diff_refuses_files_that_cannot_be_compared_and_names_another_game() {
    let scratch = Scratch::new();
    build(&scratch, "a", 1, 0, 20);
    let error = scratch.hob(&["pipelines", "diff", "a", "a.hobstable"]).failed(2);
    assert!(error.contains("'a' is a shipped cache, and 'a.hobstable' a stable file"), "{error}");
    assert!(scratch.hob(&["pipelines", "diff", "a", "keys"]).failed(3).contains("'keys' is a key map"));
    assert!(scratch.hob(&["pipelines", "diff", "a", "missing"]).failed(3).contains("missing"));
    record_as(&scratch.path("other"), &run_of("other", 1), 0, 20, 100);
    let other = scratch.hob(&["pipelines", "diff", "a", "other"]);
    assert_eq!(other.code(), Some(1));
    assert!(other.out().contains("'other' is for the project 'other'"), "{}", other.out());
}
