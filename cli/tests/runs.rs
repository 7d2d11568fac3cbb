//! `hob pipelines coverage`, `diff` and `doctor` over recordings and shipped caches.

mod common;

use std::fs;

use common::Scratch;
use common::recordings::{build, csv, record, record_as, run_of};
use hobgoblin::pipeline::recording::RunInfo;

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

/// Outcome of a check of a diagnosis, and its result.
fn check(diagnosis: &serde_json::Value, name: &str) -> (String, String) {
    let checks = diagnosis["checks"].as_array().unwrap();
    let found = checks.iter().find(|check| check["name"] == name).unwrap_or_else(|| panic!("{name} is checked"));
    let text = |field: &str| found[field].as_str().unwrap().to_owned();
    assert!(text("outcome") == "pass" || text("outcome") == "skip" || !text("advice").is_empty(), "{found}");
    (text("outcome"), text("result"))
}

#[test]
fn doctor_finds_no_fault_in_runs_that_the_cache_covers() {
    let scratch = Scratch::new();
    build(&scratch, "cache", 1, 0, 20);
    record(&scratch.path("run"), 1, 0, 15);
    let answer = scratch.hob(&["pipelines", "doctor", "run", "--cache", "cache", "--keys", "keys", "--json"]);
    let answer = answer.succeeded().json();
    let checks = answer["checks"].as_array().unwrap();
    assert!(checks.len() == 10 && checks.iter().all(|check| check["outcome"] == "pass"), "{answer}");
    assert_eq!((&answer["verdict"], &answer["is_fit_for_measuring"]), (&"not_pipelines".into(), &true.into()));
    let text = scratch.hob(&["pipelines", "doctor", "run", "--cache", "cache"]).succeeded().out();
    assert!(text.contains("verdict: not a pipeline problem: use a CPU profiler"), "{text}");
    assert!(text.contains("skip  shaders") && text.contains("--keys"), "{text}");
}

#[test]
fn doctor_wants_a_new_recording_for_hitches_and_for_other_masks() {
    let scratch = Scratch::new();
    build(&scratch, "cache", 1, 0, 20);
    record_as(&scratch.path("run"), &run_of("game", 1), 15, 25, 7000);
    let doctor = ["pipelines", "doctor", "run", "--cache", "cache", "--json"];
    let answer = scratch.hob(&doctor);
    assert_eq!(answer.code(), Some(1));
    let answer = answer.json();
    assert_eq!((&answer["verdict"], &answer["is_fit_for_measuring"]), (&"record_again".into(), &true.into()));
    assert_eq!(
        check(&answer, "new pipelines"),
        ("warn".into(), "5 of 10 pipelines that ran are new: no cache has them".into())
    );
    assert!(check(&answer, "hitches").1.contains("5 new pipelines took 5 ms or more; all together took 35.0 ms"));
    assert_eq!((&answer["missed"], &answer["hitches"], &answer["hitch_ms"]), (&5.into(), &5.into(), &35.0.into()));
    let patient = scratch.hob(&[&doctor[..], &["--hitch-ms", "8"]].concat()).succeeded().json();
    assert_eq!(patient["verdict"], "not_pipelines");
    record_as(&scratch.path("run2"), &run_of("game", 1), 15, 25, 0);
    let unknown = scratch.hob(&["pipelines", "doctor", "run2", "--cache", "cache", "--json"]).json();
    assert_eq!((check(&unknown, "hitches").0.as_str(), &unknown["verdict"]), ("warn", &"record_again".into()));

    // The mask of run 2 is not that of the cache.
    record(&scratch.path("masks"), 2, 0, 4);
    let masks = scratch.hob(&["pipelines", "doctor", "masks", "--cache", "cache", "--json"]);
    assert_eq!(masks.code(), Some(1));
    let masks = masks.json();
    assert_eq!(check(&masks, "masks").0, "fail");
    assert!(check(&masks, "masks").1.starts_with("4 of 4"));
    assert_eq!(masks["verdict"], "record_again");
}

#[test]
fn doctor_starts_anew_if_the_cache_does_not_fit_is_empty_damaged_or_stale() {
    let scratch = Scratch::new();
    build(&scratch, "cache", 1, 0, 20);
    record(&scratch.path("run"), 1, 0, 15);
    let doctor = |more: &[&str]| {
        let answer = scratch.hob(&[&["pipelines", "doctor", "--json"], more].concat());
        assert_eq!(answer.code(), Some(1), "{}", answer.errors());
        answer.json()
    };
    record_as(&scratch.path("other"), &run_of("other", 2), 0, 5, 100);
    let other = doctor(&["other", "--cache", "cache"]);
    assert_eq!((check(&other, "cache fits").0.as_str(), check(&other, "cache opened").0.as_str()), ("fail", "fail"));
    assert!(check(&other, "cache fits").1.contains("'cache' is for the project 'game', and not for 'other'"));
    assert_eq!((&other["verdict"], &other["is_fit_for_measuring"]), (&"start_anew".into(), &false.into()));

    let mut unknown = run_of("game", 1);
    unknown.identity.api = 0;
    record_as(&scratch.path("unknown"), &unknown, 0, 5, 100);
    assert_eq!(check(&doctor(&["unknown", "--cache", "cache"]), "graphics API").0, "fail");

    let bytes = fs::read(scratch.path("cache")).unwrap();
    fs::write(scratch.path("cut"), &bytes[..bytes.len() - 200]).unwrap();
    let cut = doctor(&["run", "--cache", "cut"]);
    assert_eq!((check(&cut, "opened = written").0.as_str(), &cut["verdict"]), ("fail", &"start_anew".into()));

    let empty = ["--project", "game", "--format", "spirv", "--api", "3", "--no-compute", "-o", "empty"];
    scratch.hob(&[&["pipelines", "build", "--keys", "keys"], &empty[..]].concat()).succeeded();
    let empty = doctor(&["run", "--cache", "empty"]);
    assert_eq!((check(&empty, "cache opened").0.as_str(), &empty["verdict"]), ("fail", &"start_anew".into()));

    // The build that ran has other shaders than the cache.
    fs::write(scratch.path("new.csv"), csv(20, 30)).unwrap();
    scratch.hob(&["pipelines", "keys", "import", "new.csv", "-o", "new"]).succeeded();
    record(&scratch.path("new run"), 1, 20, 40);
    let stale = doctor(&["new run", "--cache", "cache", "--keys", "new"]);
    assert!(
        check(&stale, "shaders").1.starts_with("20 of 20 pipelines of the caches have shaders that the build lacks")
    );
    assert_eq!((&stale["verdict"], &stale["is_fit_for_measuring"]), (&"start_anew".into(), &false.into()));
    let text = scratch.hob(&["pipelines", "doctor", "new run", "--cache", "cache", "--keys", "new"]).out();
    assert!(text.contains("unfit for measuring performance") && text.contains("verdict: start anew"), "{text}");
    let foreign = scratch.hob(&["pipelines", "doctor", "run", "--cache", "cache", "--keys", "new", "--json"]).json();
    assert_eq!(check(&foreign, "shaders").0, "skip");

    // Another version is a reason for doubt alone.
    let newer = RunInfo { version: "2.0".into(), ..run_of("game", 1) };
    record_as(&scratch.path("newer"), &newer, 0, 5, 100);
    let newer = doctor(&["newer", "--cache", "cache"]);
    assert_eq!(check(&newer, "version").0, "warn");
    assert_eq!((&newer["verdict"], &newer["is_fit_for_measuring"]), (&"not_pipelines".into(), &false.into()));
    assert!(scratch.hob(&["pipelines", "doctor", "missing", "--cache", "cache"]).failed(3).contains("missing"));
    assert!(scratch.hob(&["pipelines", "doctor", "run", "other", "--cache", "cache"]).failed(3).contains("'run' is"));
}
