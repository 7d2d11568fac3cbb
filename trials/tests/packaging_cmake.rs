//! The source as a part of CMake projects (docs/packaging.md): `add_subdirectory`, `FetchContent`, and installing. The
//! builds have the goblin alone, without optimisation.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use hobgoblin_tests::cpp::{is_installed, output, root, run};
use hobgoblin_tests::packaged::{Outside, SONAME, assert_plays, dynamic, prefix, user};

fn is_equipped() -> bool {
    let programs = [("cmake", "cmake"), ("ninja", "ninja-build"), ("make", "make"), ("c++", "g++"), ("git", "git")];
    programs.iter().all(|(program, package)| is_installed(program, package))
}

/// A user with cargo.
fn cargo_user(program: &str, folder: &Path) -> Command {
    let mut command = user(program, folder);
    for name in ["HOME", "CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN"] {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    command
}

/// Configures a project with the cargo builds in its build tree.
fn configure_alone(folder: &Path, build: &Path, arguments: &[&str]) -> Command {
    let mut cmake = cargo_user("cmake", folder);
    cmake.args(["-S", ".", "-B"]).arg(build).args(arguments);
    cmake.args(["-DHOBGOBLIN_CARGO_PROFILE=dev", "-DHOBGOBLIN_FEATURES=goblin"]);
    cmake
}

/// Configures a project. All share the cargo builds of the repository.
fn configure(folder: &Path, build: &Path, arguments: &[&str]) -> Command {
    let mut cmake = configure_alone(folder, build, arguments);
    cmake.arg(format!("-DHOBGOBLIN_CARGO_TARGET_DIR={}", output().join("cmake").display()));
    cmake
}

/// Builds a configured project. Returns what was printed.
fn build(folder: &Path) -> String {
    let output = run(cargo_user("cmake", folder).args(["--build", "."]));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn assert_all_play(programs: &Path) {
    for program in ["game_c", "game_cpp"] {
        assert!(dynamic(&programs.join(program), "NEEDED").contains(&SONAME.to_owned()));
        let archive = programs.join(format!("{program}_static"));
        assert!(!dynamic(&archive, "NEEDED").contains(&SONAME.to_owned()));
        assert_plays(&programs.join(program), None);
        assert_plays(&archive, None);
    }
}

#[test]
fn add_subdirectory_builds_the_source_with_three_generators() {
    if !is_equipped() {
        return;
    }
    let outside = Outside::new();
    let folder = outside.example("game");
    let source = format!("-DHOBGOBLIN_SOURCE={}", root().display());
    for generator in ["Ninja", "Unix Makefiles", "Ninja Multi-Config"] {
        let tree = folder.join(format!("build {generator}"));
        run(&mut configure(&folder, &tree, &["-G", generator, &source]));
        build(&tree);
        assert_all_play(&if generator.ends_with("Config") { tree.join("Debug") } else { tree.clone() });
        let again = build(&tree);
        assert!(!again.contains("Linking"), "{generator} linked unchanged programs again:\n{again}");
    }
}

#[test]
fn fetch_content_clones_and_builds_the_source() {
    if !is_equipped() {
        return;
    }
    let outside = Outside::new();
    let (folder, upstream) = (outside.example("game"), outside.repository());
    let tree = folder.join("build");
    let url = format!("-DHOBGOBLIN_REPOSITORY=file://{}", upstream.display());
    run(&mut configure_alone(&folder, &tree, &["-G", "Ninja", &url]));
    build(&tree);
    assert_all_play(&tree);
}

#[test]
fn static_library_stands_in_for_a_shared_one_that_is_switched_off() {
    if !is_equipped() {
        return;
    }
    let outside = Outside::new();
    let folder = outside.example("game");
    let tree = folder.join("build");
    let source = format!("-DHOBGOBLIN_SOURCE={}", root().display());
    run(&mut configure(&folder, &tree, &["-G", "Ninja", &source, "-DHOBGOBLIN_SHARED=OFF"]));
    build(&tree);
    assert!(!dynamic(&tree.join("game_c"), "NEEDED").contains(&SONAME.to_owned()));
    assert_plays(&tree.join("game_c"), None);
}

/// The files and links below a folder, sorted, with the contents of text files.
fn listing(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).expect("a folder can be listed") {
            let path = entry.expect("an entry can be read").path();
            let name = path.strip_prefix(folder).expect("it is below the folder").to_owned();
            if path.is_symlink() {
                found.push((name, fs::read_link(&path).expect("a link").display().to_string()));
            } else if path.is_dir() {
                folders.push(path);
            } else {
                // The libraries have other features and profiles.
                found.push((name, fs::read_to_string(&path).unwrap_or_default()));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn cmake_installs_the_same_files_as_the_script() {
    if !is_equipped() {
        return;
    }
    let outside = Outside::new();
    let (tree, installed) = (outside.path().join("build"), outside.path().join("installed"));
    run(&mut configure(root(), &tree, &["-G", "Ninja"]));
    build(&tree);
    run(cargo_user("cmake", outside.path()).arg("--install").arg(&tree).arg("--prefix").arg(&installed));
    let (by_cmake, by_script) = (listing(&installed), listing(prefix()));
    let names = |list: &[(PathBuf, String)]| list.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&by_cmake), names(&by_script));
    for (ours, theirs) in by_cmake.iter().zip(&by_script) {
        assert_eq!(ours, theirs);
    }
}

#[test]
fn installation_with_another_library_folder_can_be_moved() {
    if !is_equipped() || !is_installed("pkg-config", "pkg-config") {
        return;
    }
    let outside = Outside::new();
    let (tree, first) = (outside.path().join("build"), outside.path().join("first"));
    let folder = outside.example("game");
    let root_of_usr = ["-G", "Ninja", "-DCMAKE_INSTALL_PREFIX=/usr", "-DCMAKE_INSTALL_LIBDIR=lib/x86_64-linux-gnu"];
    run(&mut configure(root(), &tree, &root_of_usr));
    build(&tree);
    run(cargo_user("cmake", outside.path()).arg("--install").arg(&tree).arg("--prefix").arg(&first));
    let moved = outside.path().join("moved");
    fs::rename(first, &moved).expect("a folder can be moved");
    run(user("cmake", &folder)
        .args(["-S", ".", "-B", "found"])
        .arg(format!("-DCMAKE_PREFIX_PATH={}", moved.display())));
    run(user("cmake", &folder).args(["--build", "found"]));
    assert_all_play(&folder.join("found"));
    let libraries = moved.join("lib/x86_64-linux-gnu");
    run(user("make", &folder).env("PKG_CONFIG_PATH", libraries.join("pkgconfig")));
    assert_plays(&folder.join("game_c"), Some(&libraries));
}

#[test]
fn cross_builds_pass_the_target_and_the_linker_to_cargo() {
    if !is_equipped() {
        return;
    }
    let outside = Outside::new();
    for (system, processor, target) in [
        ("Windows", "AMD64", "x86_64-pc-windows-gnu"),
        ("Linux", "aarch64", "aarch64-unknown-linux-gnu"),
        ("Linux", "i686", "i686-unknown-linux-gnu"),
    ] {
        let tree = outside.path().join(target);
        let (system, processor) =
            (format!("-DCMAKE_SYSTEM_NAME={system}"), format!("-DCMAKE_SYSTEM_PROCESSOR={processor}"));
        let forced = "-DCMAKE_C_COMPILER_FORCED=ON";
        run(&mut configure(root(), &tree, &["-G", "Ninja", &system, &processor, forced, "-DCMAKE_C_COMPILER=cc"]));
        let rules = fs::read_to_string(tree.join("build.ninja")).expect("cmake wrote it");
        assert!(rules.contains(&format!("--target {target}")), "{target}");
        let linker = format!("CARGO_TARGET_{}_LINKER=", target.to_uppercase().replace('-', "_"));
        assert!(rules.contains(&linker), "{target}");
    }
}

#[test]
fn configuring_fails_with_advice() {
    if !is_equipped() {
        return;
    }
    let outside = Outside::new();
    for (arguments, expected) in [
        (&["-DHOBGOBLIN_CARGO="][..], "get Rust from https://rustup.rs"),
        (&["-DHOBGOBLIN_SHARED=OFF", "-DHOBGOBLIN_STATIC=OFF"], "set one of them"),
        (&["-DCMAKE_SYSTEM_NAME=Haiku", "-DCMAKE_C_COMPILER_FORCED=ON"], "is not built for Haiku"),
        (
            &["-DCMAKE_SYSTEM_NAME=Linux", "-DCMAKE_SYSTEM_PROCESSOR=vax", "-DCMAKE_C_COMPILER_FORCED=ON"],
            "set HOBGOBLIN_CARGO_TARGET",
        ),
    ] {
        let tree = outside.path().join("build");
        let _ = fs::remove_dir_all(&tree);
        let output = configure(root(), &tree, arguments).output().expect("cmake can be run");
        let message = String::from_utf8_lossy(&output.stderr).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(!output.status.success() && message.contains(expected), "{arguments:?}: {message}");
    }
}
