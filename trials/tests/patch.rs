//! The runs of `patch` with few small pictures. Without a C++ compiler the tests are skipped, unless HOB_REQUIRE_ALL is
//! set. No test asserts times.

use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::LazyLock;

use hobgoblin_tests::cpp::skip;
use hobgoblin_trials::{command, trial};
use serde_json::Value;

const FRAMES: usize = 48;
/// In each of the 12 parts of the script.
const FRAMES_OF_PART: usize = FRAMES / 12;
const SIZE: (u32, u32) = (96, 54);

/// The trial's program, built once for all tests. `None`: there is no compiler.
static PROGRAM: LazyLock<Option<PathBuf>> = LazyLock::new(|| {
    let mut build = trial("patch", &Path::new(env!("CARGO_TARGET_TMPDIR")).join("patch")).expect("its sources exist");
    build.optimization = 1;
    let compiler = build.compiler(true).and_then(|tool| Ok(tool.to_command().arg("--version").output()?));
    if let Err(why) = compiler {
        skip(&why.to_string());
        return None;
    }
    Some(build.run().unwrap_or_else(|why| panic!("{why}")))
});

fn run(program: &Path, words: &[&str]) -> Output {
    let mut command = command(program).expect("the library's folder is a path");
    command.args(words).output().expect("the program can be run")
}

/// Plays the script. The folder of its pictures, and its results.
fn play(program: &Path, name: &str, words: &[&str]) -> (PathBuf, Value) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("patch-runs").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("the target directory can be written");
    let (json, size) = (folder.join("result.json"), format!("{}x{}", SIZE.0, SIZE.1));
    let path = |path: &Path| path.to_str().expect("UTF-8").to_owned();
    let (frames, out, json_text) = (FRAMES.to_string(), path(&folder), path(&json));
    let usual = ["--frames", &frames, "--size", &size, "--out", &out, "--json", &json_text];
    let output = run(program, &[&usual[..], words].concat());
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    let results = fs::read_to_string(json).expect("the trial writes its results");
    (folder, serde_json::from_str(&results).unwrap_or_else(|why| panic!("{why}: {results}")))
}

/// A picture, decoded by another library.
fn pixels(path: &Path) -> (u32, u32, Vec<u8>) {
    let file = BufReader::new(File::open(path).unwrap_or_else(|why| panic!("{}: {why}", path.display())));
    let mut reader = png::Decoder::new(file).read_info().unwrap_or_else(|why| panic!("{}: {why}", path.display()));
    assert_eq!(reader.output_color_type(), (png::ColorType::Rgb, png::BitDepth::Eight));
    let mut pixels = vec![0; reader.output_buffer_size().expect("it is small")];
    let info = reader.next_frame(&mut pixels).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
    (info.width, info.height, pixels)
}

fn picture(folder: &Path, frame: usize) -> (u32, u32, Vec<u8>) {
    pixels(&folder.join(format!("frame_{frame:04}.png")))
}

fn count(row: &Value, field: &str) -> u64 {
    row[field].as_u64().unwrap_or_else(|| panic!("{field} in {row}"))
}

#[test]
fn evaluations_of_the_script_are_exactly_those_that_its_edits_need() {
    let Some(program) = PROGRAM.as_deref() else { return };
    let (_, results) = play(program, "counts", &[]);
    let frames = results["frames"].as_array().expect("an array");
    assert_eq!(frames.len(), FRAMES);
    let applied = frames.iter().filter(|frame| frame["is_applied"] == true).count() as u64;
    let part = FRAMES_OF_PART as u64;
    let all = FRAMES as u64;
    // Node, evaluations, cut-offs.
    let expected = [
        ("time", all, 0),
        ("swell", all, 0),
        ("sway", all, 0),
        ("wander", 4 * part, 0), // while tint reads it: parts 5 to 8
        ("mood", all, 7),        // steps of a 24th
        ("detail", 2, 0),        // new, and set
        ("condition 1", 2, 0),
        ("condition 2", all, all - 5), // it changes with each of the 4 crossings
        ("apply", 6, 1),               // condition 1 changes while condition 2 is false
        ("hue", 2, 0),                 // new, and read again
        ("golden ratio", 1, 0),
        ("tint", 2 + 4 * part, 0),
        ("scene", 3, 0),
        ("gain", 3, 0),
        ("palette", 44, 0), // mood changes in 41 frames, and only tint in 3 others
        ("lattice", 1, 0),
        ("generator", applied, 0),
        ("large data", applied, 0),
        ("sky", all, 0),
        ("stars", all, 0),
        ("backdrop", all, 0),
        ("builder", all, 0),
        ("ribbons", all - 2 * part, 0), // parts 0 to 3, and 6 to 11
        ("moons", 2 * part, 0),         // parts 4 and 5
        ("switch", all, 0),
        ("composite", all, 0),
        ("vignette", 1, 0),
        ("picture", all, 0),
        ("bloom", all - 3 * part, 0), // from part 3 on
        ("mirror", 2 * part, 0),      // parts 7 and 8
    ];
    let rows = results["nodes"].as_array().expect("an array");
    let found: Vec<_> = rows
        .iter()
        .map(|row| (row["node"].as_str().expect("a text"), count(row, "evaluations"), count(row, "cutoffs")))
        .collect();
    assert_eq!(found, expected);

    assert_eq!(applied, 30);
    for frame in frames {
        let is_applied = frame["is_applied"] == true;
        assert_eq!(count(frame, "data_runs"), if is_applied { 2 } else { 0 }, "{frame}");
        let edits = frame["edits"].as_str().expect("a text");
        let is_edited =
            ["insert", "rewire", "remove", "the user", "refused", "bake"].iter().any(|it| edits.contains(it));
        assert_eq!(is_edited, !edits.is_empty(), "{frame}");
    }
    let why =
        |name: &str| rows.iter().find(|row| row["node"] == name).map(|row| row["why"].as_str().unwrap_or_default());
    assert_eq!(why("time"), Some("ran: it is volatile"));
    assert_eq!(why("wander"), Some("did not run: no sink depends on it"));
    assert_eq!(why("large data"), Some("did not run: input 0 of \"builder\" is lazy, and was not asked for"));
    assert_eq!(why("picture"), Some("ran: its input 0 changed, from \"bloom\""));
}

#[test]
fn baked_patch_and_other_evaluators_write_the_same_pictures() {
    let Some(program) = PROGRAM.as_deref() else { return };
    let (edited, results) = play(program, "edited", &[]);
    let targets = results["targets"].as_array().expect("an array");
    assert!(targets.len() == 4 && targets.iter().all(|target| target["is_met"] == true), "{targets:?}");
    let first_baked = 10 * FRAMES_OF_PART;
    for (at, frame) in results["frames"].as_array().expect("an array").iter().enumerate() {
        let (is_baked, is_first) = (at >= first_baked, at == first_baked);
        assert_eq!((&frame["has_baked"], &frame["is_baked_equal"]), (&is_baked.into(), &is_baked.into()), "{frame}");
        if is_baked && !is_first {
            assert_eq!(count(frame, "baked_runs"), count(frame, "runs"), "{frame}");
        }
    }
    let with = |state: &str| -> Vec<&str> {
        let rows = results["nodes"].as_array().expect("an array").iter();
        rows.filter(|row| row["baked"] == state).filter_map(|row| row["node"].as_str()).collect()
    };
    assert_eq!(with("stored"), ["detail", "condition 1", "hue", "golden ratio", "tint", "scene", "gain"]);
    assert_eq!(with("unused"), ["wander"]);
    assert_eq!(with("kept").len(), 21);

    let (baked, _) = play(program, "baked", &["--baked", "--no-compare"]);
    let (parallel, _) = play(program, "parallel", &["--evaluator", "parallel", "--threads", "2", "--no-compare"]);
    let mut last = Vec::new();
    for frame in 0..FRAMES {
        let picture_of = picture(&edited, frame);
        assert!(picture_of == picture(&baked, frame), "frame {frame} of the baked patch differs");
        assert!(picture_of == picture(&parallel, frame), "frame {frame} of another evaluator differs");
        assert_eq!((picture_of.0, picture_of.1), SIZE);
        let (darkest, brightest) = (picture_of.2.iter().min(), picture_of.2.iter().max());
        assert!(darkest < Some(&30) && brightest > Some(&200), "frame {frame}: {darkest:?} to {brightest:?}");
        assert_ne!(picture_of.2, last, "frame {frame} is the same as the one before");
        last = picture_of.2;
    }
    let sheet = pixels(&edited.join("sheet.png"));
    assert_eq!((sheet.0, sheet.1), (SIZE.0 / 2 * 3, SIZE.1 / 2 * 3));
    for file in ["patch.dot", "baked.dot"] {
        let text = fs::read_to_string(edited.join(file)).expect("it is written");
        assert!(text.contains("large data") && text.contains("condition 1") == (file == "patch.dot"), "{text}");
    }
}

#[test]
fn wrong_arguments_of_the_patch_are_refused_with_advice() {
    let Some(program) = PROGRAM.as_deref() else { return };
    let refused = |words: &[&str], advice: &str| {
        let output = run(program, words);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(1) && error.contains(advice), "{words:?}: {error}");
    };
    refused(&["--frames", "23"], "--frames wants 24 at least");
    refused(&["--size", "640"], "--size wants something like 640x360");
    refused(&["--size", "8x8"], "--size wants sides from 16 to 4096");
    refused(&["--evaluator", "eager"], "--evaluator wants auto, lazy, list, bitset or parallel");
    refused(&["--threads", "16"], "--threads wants 15 at most");
    refused(&["--out", "/dev/null/pictures"], "cannot make the directory");
    refused(&["--json", "/dev/null/result"], "cannot write");
    refused(&["--bogus"], "unknown option \"--bogus\"");
}
