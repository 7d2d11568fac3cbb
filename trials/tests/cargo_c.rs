//! `cargo cinstall` of cargo-c, where it is installed: CI has no time to compile it (docs/packaging.md). The library has
//! the goblin alone, without optimisation.
#![cfg(target_os = "linux")]

use std::fs;
use std::process::Command;

use hobgoblin_tests::cpp::{output, root, run};
use hobgoblin_tests::packaged::{Outside, SONAME, assert_plays, dynamic, user};

#[test]
fn cargo_c_installs_the_headers_both_libraries_and_the_pkg_config_file() {
    if Command::new("cargo-cinstall").arg("--version").output().is_err() {
        eprintln!("skipped: cargo-c is not installed");
        return;
    }
    // cargo-c writes its prefix into the pkg-config file, and escapes no space.
    let prefix = output().join("cargo_c/prefix");
    let _ = fs::remove_dir_all(&prefix);
    let mut install = Command::new("cargo-cinstall");
    install.current_dir(root()).env("CARGO_TARGET_DIR", output().join("cargo_c"));
    install.args(["cinstall", "--locked", "--package", "hobgoblin", "--profile", "dev"]);
    install.args(["--no-default-features", "--features", "goblin", "--prefix"]).arg(&prefix);
    run(install.arg("--libdir").arg(prefix.join("lib")));
    run(Command::new("diff").arg("-r").arg(root().join("include")).arg(prefix.join("include")));
    assert_eq!(dynamic(&prefix.join("lib/libhobgoblin.so"), "SONAME"), [SONAME]);

    let outside = Outside::new();
    let folder = outside.example("game");
    let pkg_config_path = prefix.join("lib/pkgconfig");
    run(user("make", &folder).env("PKG_CONFIG_PATH", &pkg_config_path));
    for program in ["game_c", "game_cpp"] {
        assert!(dynamic(&folder.join(program), "NEEDED").contains(&SONAME.to_owned()));
        assert_plays(&folder.join(program), Some(&prefix.join("lib")));
    }
    let mut ask = user("pkg-config", &folder);
    ask.args(["--static", "--libs", "hobgoblin"]).env("PKG_CONFIG_PATH", &pkg_config_path);
    let libraries = String::from_utf8(run(&mut ask).stdout).expect("it prints ASCII");
    for library in ["-lm", "-lpthread", "-ldl"] {
        assert!(libraries.contains(library), "{libraries}");
    }
    let flags = libraries.trim().replace("-lhobgoblin", "-l:libhobgoblin.a");
    let compile = format!("cc game.c -I{}/include {flags} -o game", prefix.display());
    run(user("sh", &folder).args(["-c", &compile]));
    assert!(!dynamic(&folder.join("game"), "NEEDED").contains(&SONAME.to_owned()));
    assert_plays(&folder.join("game"), None);
}
