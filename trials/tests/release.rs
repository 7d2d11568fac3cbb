//! The archive that `tools/release.sh` makes.
#![cfg(target_os = "linux")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use hobgoblin_tests::cpp::{is_installed, output, root, run};
use hobgoblin_tests::packaged::{Outside, archive, dynamic, make_archive, prefix, script, version};

/// The files and links below a folder, relative to it.
fn files(folder: &Path) -> BTreeSet<String> {
    let list = run(Command::new("find").args([".", "-type", "f", "-o", "-type", "l"]).current_dir(folder)).stdout;
    let list = String::from_utf8(list).expect("names are UTF-8");
    list.lines().map(|line| line.trim_start_matches("./").to_owned()).collect()
}

#[test]
fn archive_has_the_same_bytes_whenever_it_is_made() {
    if !is_installed("strip", "binutils") {
        return;
    }
    let again = output().join("packaged/again");
    make_archive(&again);
    let name = archive().file_name().expect("a file has a name");
    let (first, second) = (fs::read(archive()), fs::read(again.join(name)));
    assert!(first.expect("it was made") == second.expect("it was made"), "two archives of one commit differ");
}

#[test]
fn archive_has_all_that_is_installed_and_checksums_of_every_file() {
    if !is_installed("strip", "binutils") {
        return;
    }
    let outside = Outside::new();
    let folder = outside.unpacked();
    let found = files(&folder);
    for file in files(prefix()) {
        assert!(found.contains(&file), "{file} is not in the archive");
    }
    let more = ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE", "NOTICE", "abi/hobgoblin-api.json"];
    for file in more.into_iter().chain(["bindings/csharp/Native/base.cs", "docs/guide.md"]) {
        let (ours, theirs) = (fs::read(folder.join(file)), fs::read(root().join(file)));
        assert!(ours.ok() == theirs.ok(), "{file} differs");
    }

    if is_installed("doxygen", "doxygen") {
        assert!(found.contains("reference/index.html") && found.contains("reference/goblin_8h.html"));
    }

    run(Command::new("sha256sum").args(["--check", "--strict", "--quiet", "SHA256SUMS"]).current_dir(&folder));
    let sums = fs::read_to_string(folder.join("SHA256SUMS")).expect("it is in the archive");
    let summed: BTreeSet<String> = sums.lines().map(|line| line[66..].to_owned()).collect();
    let links = ["lib/libhobgoblin.so", "lib/libhobgoblin.so.0", "SHA256SUMS"];
    let expected: BTreeSet<String> = found.into_iter().filter(|file| !links.contains(&file.as_str())).collect();
    assert_eq!(summed, expected);
}

#[test]
fn archive_names_its_commit_compiler_and_target() {
    if !is_installed("strip", "binutils") {
        return;
    }
    let outside = Outside::new();
    let folder = outside.unpacked();
    let meta = |name: &str| fs::read_to_string(folder.join("meta").join(name)).expect("it is in the archive");
    let commit = run(Command::new("git").args(["rev-parse", "HEAD"]).current_dir(root())).stdout;
    assert!(meta("git-commit").starts_with(String::from_utf8_lossy(&commit).trim()));
    assert!(meta("rustc-version").starts_with("rustc 1."));
    assert!(meta("features").contains("host-allocator"));
    let name = folder.file_name().expect("a folder has a name").to_string_lossy();
    assert_eq!(name, format!("hobgoblin-{}-{}", version(), meta("target").trim()));
}

#[test]
fn libraries_of_the_archive_are_stripped_and_name_no_folder_of_the_machine_that_built_them() {
    if !is_installed("strip", "binutils") || !is_installed("readelf", "binutils") {
        return;
    }
    let outside = Outside::new();
    let library = outside.unpacked().join("lib");
    let shared = library.join(format!("libhobgoblin.so.{}", version()));
    assert!(!dynamic(&shared, "SONAME").is_empty());
    let archive = library.join("libhobgoblin.a");
    for (file, stripped) in [(&shared, ".symtab"), (&archive, ".debug_info")] {
        let sections = run(Command::new("readelf").arg("-SW").arg(file)).stdout;
        assert!(!String::from_utf8_lossy(&sections).contains(stripped), "{} has {stripped}", file.display());
    }
    let home = std::env::var("CARGO_HOME").or_else(|_| std::env::var("HOME")).expect("cargo has a home");
    for file in [shared, archive] {
        let bytes = fs::read(&file).expect("it is in the archive");
        for folder in [format!("{home}/"), format!("{}/", root().display())] {
            let found = bytes.windows(folder.len()).any(|window| window == folder.as_bytes());
            assert!(!found, "{} has {folder}", file.display());
        }
    }
}

#[test]
fn uncommitted_changes_are_refused() {
    if !is_installed("git", "git") {
        return;
    }
    let outside = Outside::new();
    let repository = outside.repository();
    fs::write(repository.join("note.txt"), "a note").expect("the folder can be written");
    let refused = Command::new(repository.join("tools/release.sh")).arg(outside.path().join("out")).output();
    let refused = refused.expect("it can be run");
    let message = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(refused.status.code() == Some(1) && message.contains("pass --allow-dirty"), "{message}");
}

#[test]
fn wrong_arguments_are_refused() {
    for (arguments, expected) in [
        (&[][..], "expected a folder OUT"),
        (&["--target"], "--target needs a value"),
        (&["--dirty", "a"], "unknown argument --dirty"),
        (&["a", "b"], "expected one OUT"),
    ] {
        let output = script("tools/release.sh").args(arguments).output().expect("it can be run");
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && message.contains(expected), "{arguments:?}: {message}");
    }
    let help = run(script("tools/release.sh").arg("--help")).stdout;
    assert!(String::from_utf8_lossy(&help).contains("Exit status"));
}
