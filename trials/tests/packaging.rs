//! The library of an unpacked release archive, used from C and C++ by flags, pkg-config and CMake (docs/packaging.md).
#![cfg(target_os = "linux")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use hobgoblin_tests::cpp::{is_installed, root, run};
use hobgoblin_tests::packaged::{
    Outside, SONAME, assert_plays, dynamic, prefix, script, shared_library, user, version,
};

fn is_equipped() -> bool {
    ["cc", "c++", "readelf"].iter().all(|program| is_installed(program, "g++"))
}

/// The prefix's folder of pkg-config files.
fn pkg_config_path(prefix: &Path) -> PathBuf {
    prefix.join("lib/pkgconfig")
}

#[test]
fn installed_shared_library_is_named_by_its_major_version() {
    if !is_equipped() {
        return;
    }
    assert_eq!(dynamic(&shared_library(), "SONAME"), [SONAME]);
    let links = ["libhobgoblin.so", SONAME].map(|name| fs::read_link(prefix().join("lib").join(name)).expect("a link"));
    assert_eq!(links, [PathBuf::from(SONAME), PathBuf::from(format!("libhobgoblin.so.{}", version()))]);
}

#[test]
fn programs_link_an_unpacked_archive_by_plain_flags() {
    if !is_equipped() {
        return;
    }
    let outside = Outside::new();
    let (folder, prefix) = (outside.example("plain"), outside.unpacked());
    let library = prefix.join("lib");
    for (compiler, source, flags) in [("cc", "game.c", "-std=c99"), ("c++", "game.cpp", "-std=c++17")] {
        let shared = folder.join(format!("{source}.shared"));
        let mut compile = user(compiler, &folder);
        compile.args([flags, "-Wall", "-Wextra", "-Werror", source, "-I"]).arg(prefix.join("include"));
        run(compile.arg("-L").arg(&library).args(["-lhobgoblin", "-o"]).arg(&shared));
        assert!(dynamic(&shared, "NEEDED").contains(&SONAME.to_owned()));
        assert_plays(&shared, Some(&library));

        let archive = folder.join(format!("{source}.static"));
        let mut compile = user(compiler, &folder);
        compile.args([flags, source, "-I"]).arg(prefix.join("include")).arg(library.join("libhobgoblin.a"));
        run(compile.args(["-lm", "-lpthread", "-ldl", "-o"]).arg(&archive));
        assert!(!dynamic(&archive, "NEEDED").contains(&SONAME.to_owned()));
        assert_plays(&archive, None);
    }
}

#[test]
fn makefile_finds_an_unpacked_archive_by_pkg_config() {
    if !is_equipped() || !is_installed("pkg-config", "pkg-config") || !is_installed("make", "make") {
        return;
    }
    let outside = Outside::new();
    let (folder, prefix) = (outside.example("make"), outside.unpacked());
    for (package, libraries) in [("hobgoblin", Some(prefix.join("lib"))), ("hobgoblin-static", None)] {
        let mut make = user("make", &folder);
        run(make.arg("-B").arg(format!("PACKAGE={package}")).env("PKG_CONFIG_PATH", pkg_config_path(&prefix)));
        for program in ["game_c", "game_cpp"] {
            let program = folder.join(program);
            assert_eq!(dynamic(&program, "NEEDED").contains(&SONAME.to_owned()), libraries.is_some());
            assert_plays(&program, libraries.as_deref());
        }
    }
    let missing = user("make", &folder).arg("-B").output().expect("make can be run");
    assert!(!missing.status.success() && String::from_utf8_lossy(&missing.stderr).contains("set PKG_CONFIG_PATH"));
}

#[test]
fn pkg_config_has_the_version_and_the_libraries_of_a_static_program() {
    if !is_equipped() || !is_installed("pkg-config", "pkg-config") {
        return;
    }
    let outside = Outside::new();
    let (folder, prefix) = (outside.example("static"), outside.unpacked());
    let ask = |arguments: &[&str]| {
        let mut command = user("pkg-config", &folder);
        let answer = run(command.args(arguments).env("PKG_CONFIG_PATH", pkg_config_path(&prefix))).stdout;
        String::from_utf8(answer).expect("it prints ASCII").trim().to_owned()
    };
    for package in ["hobgoblin", "hobgoblin-static"] {
        assert_eq!(ask(&["--modversion", package]), version());
    }
    // Wholly static, the C library included.
    let flags = ask(&["--static", "--cflags", "--libs", "hobgoblin"]);
    run(user("sh", &folder).arg("-c").arg(format!("cc -static game.c {flags} -o game")));
    assert_plays(&folder.join("game"), None);
}

#[test]
fn cmake_finds_an_unpacked_archive() {
    if !is_equipped() || !is_installed("cmake", "cmake") || !is_installed("make", "make") {
        return;
    }
    let outside = Outside::new();
    let (folder, prefix) = (outside.example("cmake"), outside.unpacked());
    let mut generators = vec!["Unix Makefiles"];
    if is_installed("ninja", "ninja-build") {
        generators.extend(["Ninja", "Ninja Multi-Config"]);
    }
    for generator in generators {
        let build = folder.join(format!("build {generator}"));
        let mut cmake = user("cmake", &folder);
        cmake.args(["-S", ".", "-G", generator, "-B"]).arg(&build);
        run(cmake.arg(format!("-DCMAKE_PREFIX_PATH={}", prefix.display())));
        run(user("cmake", &folder).arg("--build").arg(&build));
        let programs = if generator.ends_with("Config") { build.join("Debug") } else { build };
        for program in ["game_c", "game_cpp"] {
            assert!(dynamic(&programs.join(program), "NEEDED").contains(&SONAME.to_owned()));
            assert_plays(&programs.join(program), None);
            assert_plays(&programs.join(format!("{program}_static")), None);
        }
    }
}

/// The messages of a project that asks for the package in the given way. Empty: it was found.
fn find_package(folder: &Path, prefix: &Path, request: &str) -> String {
    let project = format!("cmake_minimum_required(VERSION 3.19)\nproject(p LANGUAGES C)\nfind_package({request})\n");
    fs::write(folder.join("CMakeLists.txt"), project).expect("the folder can be written");
    let mut cmake = user("cmake", folder);
    cmake.args(["-S", ".", "-B", "build"]).arg(format!("-DCMAKE_PREFIX_PATH={}", prefix.display()));
    let output = cmake.output().expect("cmake can be run");
    if output.status.success() { String::new() } else { String::from_utf8_lossy(&output.stderr).into_owned() }
}

#[test]
fn cmake_package_refuses_other_versions_and_missing_components() {
    if !is_equipped() || !is_installed("cmake", "cmake") {
        return;
    }
    let outside = Outside::new();
    let prefix = outside.unpacked();
    let found = |request: &str| find_package(outside.path(), &prefix, request);
    for accepted in ["", "0", "0.1", "0.1.0", "0.1.0 EXACT", "0.0...0.1", "0.1...<2"] {
        assert_eq!(found(&format!("hobgoblin {accepted} REQUIRED")), "", "{accepted}");
    }
    for refused in ["0.0", "0.0.9", "0.1.1", "0.2", "1", "0.0...<0.1", "0.2...1"] {
        assert!(found(&format!("hobgoblin {refused} REQUIRED")).contains(&version()), "{refused}");
    }
    assert_eq!(found("hobgoblin REQUIRED COMPONENTS shared static"), "");
    fs::remove_file(prefix.join("lib/libhobgoblin.a")).expect("it is installed");
    assert_eq!(found("hobgoblin REQUIRED COMPONENTS shared"), "");
    assert!(found("hobgoblin REQUIRED COMPONENTS static").contains("component static is not in"));
    assert!(found("hobgoblin REQUIRED COMPONENTS extras").contains("component extras is not in"));
    fs::remove_file(prefix.join(format!("lib/libhobgoblin.so.{}", version()))).expect("it is installed");
    assert!(found("hobgoblin REQUIRED").contains("exists"));
}

#[test]
fn install_script_refuses_wrong_arguments() {
    for (arguments, expected) in [
        (&[][..], "expected a PREFIX"),
        (&["--target"], "--target needs a value"),
        (&["--prefix", "/usr"], "unknown argument --prefix"),
        (&["a", "b"], "expected one PREFIX"),
        (&[root().to_str().expect("UTF-8")], "PREFIX is the folder of the sources"),
        (&["--target", "sparc-sun-solaris", "a"], "sparc-sun-solaris is not supported"),
    ] {
        let output = script("tools/install.sh").args(arguments).output().expect("it can be run");
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && message.contains(expected), "{arguments:?}: {message}");
    }
    let help = run(script("tools/install.sh").arg("--help")).stdout;
    assert!(String::from_utf8_lossy(&help).contains("Exit status"));
    // A machine with the programs that the script starts before it looks for cargo.
    let outside = Outside::new();
    for program in ["bash", "dirname"] {
        std::os::unix::fs::symlink(Path::new("/usr/bin").join(program), outside.path().join(program)).expect("a link");
    }
    let mut install = Command::new(root().join("tools/install.sh"));
    let output = install.arg("a").env("PATH", outside.path()).output().expect("it can be run");
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(1) && message.contains("cargo is not installed"), "{message}");
}
