//! The README's programs compile without a warning, link and run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The fenced block of a language, counted from 0.
fn block(language: &str, number: usize) -> String {
    let readme = fs::read_to_string(root().join("README.md")).expect("README.md is there");
    let blocks: Vec<&str> = readme.split(&format!("```{language}\n")).skip(1).collect();
    let block = blocks.get(number).expect("the README has such a program");
    block[..block.find("```").expect("the block ends")].to_owned()
}

/// The folder with the libraries that `cargo test` has just built: that of this very program.
fn libraries() -> PathBuf {
    std::env::current_exe().expect("it has a path").parent().expect("it is in a folder").to_owned()
}

/// Build the program in a new folder, and run it there so many times; what the last run printed.
fn run(language: &str, number: usize, runs: u32, compiler: &str, standard: &str) -> Option<String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("readme-{language}-{number}-{runs}"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("the folder can be made");
    let (source, program) = (folder.join(format!("main.{language}")), folder.join("main"));
    fs::write(&source, block(language, number)).expect("the source can be written");
    let libraries = libraries();
    let built = Command::new(compiler)
        .args([standard, "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I"])
        .arg(root().join("include"))
        .arg(&source)
        .arg("-L")
        .arg(&libraries)
        .args(["-lhobgoblin", "-o"])
        .arg(&program)
        .arg(format!("-Wl,-rpath,{}", libraries.display()))
        .output();
    let Ok(built) = built else {
        assert!(std::env::var_os("HOB_REQUIRE_ALL").is_none(), "{compiler} is missing");
        println!("skipped: {compiler} is not installed");
        return None;
    };
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let mut printed = None;
    for _ in 0..runs {
        let ran = Command::new(&program).current_dir(&folder).output().expect("the program can be run");
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        printed = Some(String::from_utf8_lossy(&ran.stdout).into_owned());
    }
    printed
}

#[test]
fn the_c_program_keeps_the_budget() {
    // 4 + 3 × 4 = 16 ms fit; there is no more valuable option.
    run("c", 0, 1, "cc", "-std=c11").iter().for_each(|printed| assert_eq!(printed, "shadows: 3\n"));
}

#[test]
fn the_cpp_program_keeps_the_budget() {
    // 8.0 + 2.5 × 2 + 1.5 = 14.5 ms for 9; with high shadows 17.0 ms would be too much, without bloom 15.5 for 7.
    if let Some(printed) = run("cpp", 0, 1, "c++", "-std=c++17") {
        assert!(printed.starts_with("shadows 2, bloom 1\n"), "{printed}");
    }
}

#[test]
fn the_program_that_is_built_once_is_loaded_after() {
    for (runs, expected) in [(1, "built\n"), (2, "loaded\n"), (3, "loaded\n")] {
        run("cpp", 1, runs, "c++", "-std=c++17").iter().for_each(|printed| assert_eq!(printed, expected));
    }
}
