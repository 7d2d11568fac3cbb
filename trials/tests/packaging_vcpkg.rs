//! The port of vcpkg, without a vcpkg client: `trials/vcpkg/port.cmake` stands in for its functions. The builds have the
//! goblin alone, without optimisation.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::Path;
use std::process::Command;

use hobgoblin_tests::cpp::{is_installed, root, run};
use hobgoblin_tests::packaged::{Outside, SONAME, assert_plays, dynamic, user, version};
use serde_json::Value;

fn is_equipped() -> bool {
    let programs = [("cmake", "cmake"), ("ninja", "ninja-build"), ("c++", "g++"), ("git", "git")];
    programs.iter().all(|(program, package)| is_installed(program, package))
}

fn json(path: &Path) -> Value {
    let text = fs::read_to_string(path).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|why| panic!("{}: {why}", path.display()))
}

fn git(folder: &Path, arguments: &[&str]) -> String {
    let printed = run(Command::new("git").current_dir(folder).args(arguments)).stdout;
    String::from_utf8(printed).expect("git prints ASCII").trim().to_owned()
}

/// Writes the present commit of a repository into the registry beside it.
fn publish(outside: &Outside, repository: &Path) -> std::process::Output {
    let mut publish = Command::new(repository.join("tools/vcpkg_registry.sh"));
    for name in ["AUTHOR", "COMMITTER"] {
        publish.env(format!("GIT_{name}_NAME"), "test").env(format!("GIT_{name}_EMAIL"), "test");
    }
    publish.arg(format!("file://{}", repository.display())).arg(outside.path().join("registry"));
    publish.output().expect("it can be run")
}

/// Asserts that the versions of a registry are trees of its repository.
fn assert_versions(registry: &Path, expected: &[&str]) {
    let list = json(&registry.join("versions/h-/hobgoblin.json"));
    let list = list["versions"].as_array().expect("a list");
    let versions: Vec<&str> = list.iter().map(|entry| entry["version"].as_str().expect("a version")).collect();
    assert_eq!(versions, expected);
    assert_eq!(json(&registry.join("versions/baseline.json"))["default"]["hobgoblin"]["baseline"], expected[0]);
    for entry in list {
        let tree = entry["git-tree"].as_str().expect("an id");
        assert_eq!(git(registry, &["cat-file", "-t", tree]), "tree");
        let port: Value = serde_json::from_str(&git(registry, &["show", &format!("{tree}:vcpkg.json")])).expect("JSON");
        assert_eq!(port["version"], entry["version"]);
        assert!(git(registry, &["show", &format!("{tree}:source.cmake")]).contains("HOBGOBLIN_REF"));
    }
    assert_eq!(list[0]["git-tree"], git(registry, &["rev-parse", "HEAD:ports/hobgoblin"]));
}

#[test]
fn vcpkg_port_has_the_version_and_the_rooms_of_the_library() {
    let port = json(&root().join("packaging/vcpkg/ports/hobgoblin/vcpkg.json"));
    assert_eq!(port["version"], version());
    let features = port["features"].as_object().expect("an object");
    let defaults = port["default-features"].as_array().expect("a list");
    let manifest = fs::read_to_string(root().join("Cargo.toml")).expect("it is checked in");
    for feature in features.keys() {
        assert!(defaults.contains(&Value::from(feature.as_str())), "{feature} is off by default");
        let room = format!("\n{} = [", feature.replace('-', "_"));
        assert!(manifest.contains(&room), "{feature} is no feature of cargo");
    }
    assert_eq!(features.len(), defaults.len());
}

#[test]
fn vcpkg_registry_keeps_earlier_versions_and_refuses_uncommitted_changes() {
    if !is_equipped() {
        return;
    }
    let outside = Outside::new();
    let (repository, registry) = (outside.repository(), outside.path().join("registry"));
    let published = publish(&outside, &repository);
    assert!(published.status.success(), "{}", String::from_utf8_lossy(&published.stderr));
    assert_eq!(String::from_utf8_lossy(&published.stdout).trim(), git(&registry, &["rev-parse", "HEAD"]));
    assert_versions(&registry, &[&version()]);
    // Once more: nothing changes.
    assert!(publish(&outside, &repository).stdout == published.stdout);

    for file in ["Cargo.toml", "packaging/vcpkg/ports/hobgoblin/vcpkg.json"] {
        let file = repository.join(file);
        let text = fs::read_to_string(&file).expect("it is there");
        fs::write(&file, text.replacen(&version(), "99.1.0", 1)).expect("the folder can be written");
    }
    let refused = publish(&outside, &repository);
    assert!(String::from_utf8_lossy(&refused.stderr).contains("commit them first"));
    assert_versions(&registry, &[&version()]);
    git(&repository, &["-c", "user.name=test", "-c", "user.email=test", "commit", "-qam", "next"]);
    assert!(publish(&outside, &repository).status.success());
    assert_versions(&registry, &["99.1.0", &version()]);
}

#[test]
fn vcpkg_port_builds_from_its_registry_and_is_found_by_cmake() {
    if !is_equipped() {
        return;
    }
    let outside = Outside::new();
    let repository = outside.repository();
    assert!(publish(&outside, &repository).status.success());
    for (linkage, is_shared) in [("dynamic", true), ("static", false)] {
        let work = outside.path().join(linkage);
        let mut port = user("cmake", outside.path());
        for name in ["HOME", "CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN"] {
            if let Some(value) = std::env::var_os(name) {
                port.env(name, value);
            }
        }
        port.env("CARGO_TARGET_DIR", outside.path().join("cargo"));
        port.arg(format!("-DPORT_DIR={}", outside.path().join("registry/ports/hobgoblin").display()));
        port.arg(format!("-DWORK={}", work.display()))
            .arg(format!("-DLINKAGE={linkage}"))
            .arg("-DFEATURES=core;goblin");
        run(port.arg("-P").arg(root().join("trials/vcpkg/port.cmake")));

        let packages = work.join("packages");
        assert_eq!(packages.join("lib/libhobgoblin.so").exists(), is_shared);
        assert_eq!(packages.join("lib/libhobgoblin.a").exists(), !is_shared);
        for file in ["share/hobgoblin/copyright", "share/hobgoblin/usage", "include/hobgoblin/hobgoblin.h"] {
            assert!(packages.join(file).exists(), "{file}");
        }
        let folder = outside.path().join(format!("game {linkage}"));
        fs::create_dir(&folder).expect("the folder can be written");
        fs::copy(root().join("packaging/example/game.c"), folder.join("game.c")).expect("the folder can be written");
        let usage = fs::read_to_string(packages.join("share/hobgoblin/usage")).expect("it is installed");
        let commands = usage.split_once(":\n").expect("an introduction").1;
        let project = format!(
            "cmake_minimum_required(VERSION 3.16)\nproject(game LANGUAGES C)\nadd_executable(main game.c)\n{commands}"
        );
        fs::write(folder.join("CMakeLists.txt"), project).expect("the folder can be written");
        let mut cmake = user("cmake", &folder);
        run(cmake.args(["-S", ".", "-B", "build"]).arg(format!("-DCMAKE_PREFIX_PATH={}", packages.display())));
        run(user("cmake", &folder).args(["--build", "build"]));
        assert_eq!(dynamic(&folder.join("build/main"), "NEEDED").contains(&SONAME.to_owned()), is_shared);
        assert_plays(&folder.join("build/main"), None);
    }
}
