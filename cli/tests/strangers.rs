//! `hob` with wrong arguments, inputs named as outputs, odd names, full disks, and damage.

mod common;

use std::fs;
use std::path::Path;
use std::process::Command;

use common::recordings::{build, csv, record};
use common::{Scratch, contents};

const GAME: [&str; 6] = ["--project", "game", "--format", "spirv", "--api", "3"];

#[test]
fn outputs_that_are_inputs_are_refused_also_by_other_names() {
    let scratch = Scratch::new();
    build(&scratch, "cache", 1, 0, 5);
    fs::create_dir(scratch.path("folder")).unwrap();
    fs::hard_link(scratch.path("cache.recorded"), scratch.path("hard")).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(scratch.path("keys"), scratch.path("link")).unwrap();
    #[cfg(not(unix))]
    fs::hard_link(scratch.path("keys"), scratch.path("link")).unwrap();
    scratch.hob(&["cache", "merge", "no such cache", "--into", "empty"]).failed(3);
    let before = contents(&scratch.path(""));
    let build = |out| [&["pipelines", "build", "cache.hobstable", "--keys", "keys", "-o", out], &GAME[..]].concat();
    let commands = [
        vec!["pipelines", "expand", "cache.recorded", "--keys", "keys", "-o", "cache.recorded"],
        vec!["pipelines", "expand", "cache.recorded", "--keys", "keys", "-o", "./cache.recorded"],
        vec!["pipelines", "expand", "cache.recorded", "--keys", "keys", "-o", "hard"],
        vec!["pipelines", "expand", "cache.recorded", "--keys", "keys", "-o", "link"],
        build("keys"),
        build("folder/../keys"),
        build("cache.hobstable"),
        vec!["pipelines", "keys", "import", "keys.csv", "-o", "keys.csv"],
        vec!["pipelines", "keys", "export", "keys", "-o", "keys"],
        vec!["pipelines", "keys", "export", "keys", "-o", "link"],
        vec!["cache", "export", "cache", "-o", "cache"],
        vec!["pipelines", "replay", "cache", "--builder", "keys", "--bans", "cache"],
        vec!["pipelines", "replay", "cache", "--builder", "keys", "--state", "keys"],
        vec!["pipelines", "replay", "cache", "--builder", "keys", "--state", "x", "--bans", "x"],
    ];
    for command in commands {
        let error = scratch.hob(&command).failed(2);
        assert!(error.contains("name another file") || error.contains("name two files"), "{command:?}: {error}");
        assert_eq!(contents(&scratch.path("")), before, "{command:?}");
    }
}

#[cfg(unix)]
#[test]
fn links_to_devices_and_directories_are_not_replaced_by_outputs() {
    let scratch = Scratch::new();
    build(&scratch, "cache", 1, 0, 5);
    fs::write(scratch.path("profile"), r#"{"fog":[[5,1,0]]}"#).unwrap();
    let commands = [
        vec!["pipelines", "expand", "cache.recorded", "--keys", "keys", "-o", "out"],
        [&["pipelines", "build", "cache.hobstable", "--keys", "keys", "-o", "out"], &GAME[..]].concat(),
        vec!["pipelines", "keys", "export", "keys", "-o", "out"],
        vec!["profile", "merge", "profile", "-o", "out"],
    ];
    let out = scratch.path("out");
    for target in ["/dev/null", "."] {
        std::os::unix::fs::symlink(target, &out).unwrap();
        for command in &commands {
            let error = scratch.hob(command).failed(3);
            assert!(error.contains("not a regular file"), "{command:?}: {error}");
            assert_eq!(fs::read_link(&out).unwrap(), Path::new(target), "{command:?}");
        }
        fs::remove_file(&out).unwrap();
    }
}

#[cfg(unix)]
#[test]
fn inputs_may_belong_to_another_user() {
    let scratch = Scratch::new();
    build(&scratch, "cache", 1, 0, 5);
    let expected = fs::read(scratch.path("cache")).unwrap();
    for name in ["cache.recorded", "cache.hobstable", "keys", "keys.csv"] {
        if std::os::unix::fs::chown(scratch.path(name), Some(1000), None).is_err() {
            assert!(std::env::var_os("HOB_REQUIRE_ALL").is_none(), "only root may give files to another user");
            return;
        }
    }
    for keys in ["keys", "keys.csv"] {
        scratch.hob(&["pipelines", "expand", "cache.recorded", "--keys", keys, "-o", "stable"]).succeeded();
        let options = ["--keys", keys, "--no-compute", "--game-version", "1.0", "-o", "built"];
        scratch.hob(&[&["pipelines", "build", "stable"], &GAME[..], &options[..]].concat()).succeeded();
        assert_eq!(fs::read(scratch.path("built")).unwrap(), expected);
    }
}

#[cfg(unix)]
#[test]
fn outputs_keep_rights_and_files_of_the_user_stay() {
    use std::os::unix::fs::PermissionsExt;
    let scratch = Scratch::new();
    build(&scratch, "cache", 1, 0, 5);
    fs::write(scratch.path("profile"), r#"{"fog":[[5,1,0]]}"#).unwrap();
    let build = [&["pipelines", "build", "cache.hobstable", "--keys", "keys", "-o", "out"], &GAME[..]].concat();
    let commands = [
        vec!["pipelines", "keys", "import", "keys.csv", "-o", "out"],
        vec!["pipelines", "keys", "export", "keys", "-o", "out"],
        vec!["pipelines", "expand", "cache.recorded", "--keys", "keys", "-o", "out"],
        build,
        vec!["profile", "merge", "profile", "-o", "out"],
    ];
    for command in commands {
        fs::write(scratch.path("out"), "old").unwrap();
        fs::write(scratch.path("out.new"), "of the user").unwrap();
        fs::set_permissions(scratch.path("out"), fs::Permissions::from_mode(0o600)).unwrap();
        scratch.hob(&command).succeeded();
        assert_ne!(fs::read(scratch.path("out")).unwrap(), b"old", "{command:?}");
        assert_eq!(fs::read(scratch.path("out.new")).unwrap(), b"of the user", "{command:?}");
        let mode = fs::metadata(scratch.path("out")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{command:?}");
    }
    let leftovers =
        contents(&scratch.path("")).into_iter().filter(|(path, _)| path.to_string_lossy().contains(".hobgoblin-"));
    assert_eq!(leftovers.count(), 0);
}

/// The error and exit code of wrong arguments, as text and as JSON.
#[test]
fn wrong_arguments_have_exit_code_2_as_text_and_as_json() {
    let scratch = Scratch::new();
    build(&scratch, "cache", 1, 0, 5);
    let build = ["pipelines", "build", "cache.hobstable", "--keys", "keys"];
    let commands = [
        vec!["nonsense"],
        vec!["cache"],
        vec!["pipelines", "expand"],
        [&build[..], &["--project", "", "--format", "spirv", "--api", "3"]].concat(),
        [&build[..], &["--project", "a/b", "--format", "spirv", "--api", "3"]].concat(),
        [&build[..], &["--project", "game", "--format", "spirv", "--api", "x"]].concat(),
        [&build[..], &GAME, &["--combinations", "0"]].concat(),
        vec!["pipelines", "replay", "cache", "--builder", "b", "--ban-at", "3"],
        vec!["pipelines", "record-info", "[.rec"],
        vec!["cache", "prune", "x", "--limit", "1"],
    ];
    for command in commands {
        assert!(!scratch.hob(&command).failed(2).is_empty());
        let error = scratch.hob(&[&command[..], &["--json"]].concat()).failed(2);
        let error: serde_json::Value = serde_json::from_str(&error).unwrap_or_else(|why| panic!("{why}: {error}"));
        let sentence = error["error"].as_str().unwrap();
        assert!(error["exit_code"] == 2 && sentence.len() > 5 && !sentence.contains('\n'), "{error}");
    }
}

#[test]
fn help_of_each_command_has_the_exit_codes() {
    let scratch = Scratch::new();
    let commands = [
        vec![],
        vec!["cache", "info"],
        vec!["pipelines"],
        vec!["pipelines", "keys", "import"],
        vec!["pipelines", "build"],
        vec!["pipelines", "replay"],
        vec!["profile", "merge"],
    ];
    for command in commands {
        let help = scratch.hob(&[&command[..], &["--help"]].concat()).succeeded().out();
        for code in ["0    success", "1    ", "2    wrong", "3    ", "4    ", "130  interrupted"] {
            assert!(help.contains(code), "{command:?}: {help}");
        }
    }
}

#[test]
fn key_map_of_another_build_has_its_own_exit_code_and_writes_nothing() {
    let scratch = Scratch::new();
    record(&scratch.path("run"), 1, 0, 5);
    fs::write(scratch.path("other.csv"), csv(100, 5)).unwrap();
    let error = scratch.hob(&["pipelines", "expand", "run", "--keys", "other.csv", "-o", "x"]).failed(4);
    assert!(error.contains("none of 5 pipelines has stable keys") && error.contains("that recorded"), "{error}");
    assert!(!scratch.path("x").exists());
}

#[test]
fn csv_is_a_key_map_wherever_keys_are() {
    let scratch = Scratch::new();
    build(&scratch, "cache", 1, 0, 5);
    let expand =
        |keys, out| scratch.hob(&["pipelines", "expand", "cache.recorded", "--keys", keys, "-o", out]).succeeded();
    expand("keys", "a");
    expand("keys.csv", "b");
    assert_eq!(fs::read(scratch.path("a")).unwrap(), fs::read(scratch.path("b")).unwrap());
    let build = |keys, out| [&["pipelines", "build", "a", "--keys", keys, "-o", out], &GAME[..]].concat();
    let text = scratch.hob(&build("keys.csv", "c")).succeeded().out();
    assert!(text.contains("shader keys from 'keys.csv'"), "{text}");
    scratch.hob(&build("keys", "d")).succeeded();
    assert_eq!(fs::read(scratch.path("c")).unwrap(), fs::read(scratch.path("d")).unwrap());
    let doctor = scratch.hob(&["pipelines", "doctor", "cache.recorded", "--cache", "c", "--keys", "keys.csv"]).out();
    assert!(doctor.contains("pass  shaders: 0 of 6 pipelines of the caches"), "{doctor}");
    let exported =
        scratch.hob(&["pipelines", "keys", "export", "keys.csv", "-o", "copy.csv", "--json"]).succeeded().json();
    assert_eq!(exported["lines"], 102);
    let copy = scratch.hob(&["pipelines", "keys", "export", "keys"]).succeeded().out();
    assert_eq!(fs::read_to_string(scratch.path("copy.csv")).unwrap(), copy);
}

#[cfg(target_os = "linux")]
#[test]
fn odd_names_are_files_before_they_are_patterns() {
    use std::ffi::{OsStr, OsString};
    use std::os::unix::ffi::OsStrExt;
    let scratch = Scratch::new();
    let foreign = OsStr::from_bytes(b"b\xff.rec.hobpipe");
    fs::create_dir(scratch.path("run[1]")).unwrap();
    record(&scratch.path("run[1]/a[2].rec.hobpipe"), 1, 0, 3);
    record(&scratch.path("run[1]").join(foreign), 2, 0, 4);
    record(&scratch.path("run[1]/.hidden.rec.hobpipe"), 3, 0, 4);
    record(&scratch.path("run1.rec.hobpipe"), 4, 0, 4);
    let count = |patterns: &[OsString]| {
        let mut hob = Command::new(env!("CARGO_BIN_EXE_hob"));
        let hob =
            hob.args(["pipelines", "record-info", "--json"]).args(patterns).current_dir(scratch.path("")).output();
        let output = hob.unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        answer["recordings"].as_array().unwrap().len()
    };
    assert_eq!(count(&["run[1]/*.rec.hobpipe".into()]), 2);
    assert_eq!(count(&["run[1]/a[2].rec.hobpipe".into()]), 1);
    assert_eq!(count(&["run[0-9].rec.hobpipe".into(), "**/a*.hobpipe".into()]), 2);
    assert_eq!(count(&["run[1]/.h*".into()]), 1);
    assert_eq!(count(&[Path::new("run[1]").join(foreign).into()]), 1);
}

#[cfg(unix)]
#[test]
fn control_characters_of_names_are_escaped() {
    let scratch = Scratch::new();
    let name = "a\u{1b}[31mred\n.rec.hobpipe";
    record(&scratch.path(name), 1, 0, 3);
    let text = scratch.hob(&["pipelines", "record-info", name]).succeeded().out();
    assert!(text.contains("a\\u{1b}[31mred\\n.rec") && !text.contains('\u{1b}'), "{text}");
    let error = scratch.hob(&["pipelines", "record-info", "no\u{1b}]0;x\nfile"]).failed(3);
    assert!(error.contains("no\\u{1b}]0;x\\nfile") && error.lines().count() == 1, "{error}");
}

#[cfg(unix)]
#[test]
fn limit_of_file_sizes_is_an_error_and_changes_nothing() {
    let scratch = Scratch::new();
    build(&scratch, "cache", 1, 0, 60);
    let before = contents(&scratch.path(""));
    let limited = |arguments: &str| {
        let command = format!("ulimit -f 1; exec '{}' {arguments}", env!("CARGO_BIN_EXE_hob"));
        Command::new("sh").args(["-c", &command]).current_dir(scratch.path("")).output().unwrap()
    };
    for arguments in [
        "pipelines expand cache.recorded --keys keys -o cache.hobstable",
        "pipelines build cache.hobstable --keys keys --project game --format spirv --api 3 -o cache",
        "pipelines keys export keys -o keys.csv.copy",
        "pipelines keys import keys.csv -o keys2",
    ] {
        let output = limited(arguments);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(3), "{arguments}: {error} {:?}", output.status);
        assert!(error.contains("cannot write") && error.contains("too large"), "{arguments}: {error}");
        assert_eq!(contents(&scratch.path("")), before, "{arguments}");
    }
}

#[test]
fn damage_is_no_equality() {
    let scratch = Scratch::new();
    build(&scratch, "cache", 1, 0, 4);
    for file in ["cache", "cache.recorded", "cache.hobstable"] {
        let whole = fs::read(scratch.path(file)).unwrap();
        // The file's head stands there twice, and records end with padding: both hold no data.
        let is_free = |at: usize| {
            at < 64 || whole[at..at.next_multiple_of(16)].iter().all(|&byte| byte == 0) && !at.is_multiple_of(16)
        };
        for at in (0..whole.len()).step_by(7) {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x10;
            fs::write(scratch.path("x"), &bytes).unwrap();
            let answer = scratch.hob(&["pipelines", "diff", "x", "x"]);
            assert!(is_free(at) || answer.code() != Some(0), "{file}, byte {at}: {}", answer.out());
        }
        fs::write(scratch.path("x"), &whole[..whole.len() - 150]).unwrap();
        let cut = scratch.hob(&["pipelines", "diff", "x", "x"]);
        assert_eq!(cut.code(), Some(1), "{file}");
        assert!(cut.out().contains("damaged or missing"), "{}", cut.out());
    }
}
