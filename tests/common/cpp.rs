//! Builds C++ programs against a fresh library.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::SystemTime;

/// Features of the library that the harness links.
pub const HARNESS_FEATURES: [&str; 2] =
    ["--features", "host-allocator,fault-injection,executor,program_cache,pipeline,graph,perception"];

/// Reports that a test cannot run on this machine, or fails if every test is required.
pub fn skip(reason: &str) {
    let required = ["CI", "HOB_REQUIRE_ALL"].iter().any(|name| std::env::var_os(name).is_some());
    assert!(!required, "{reason}");
    eprintln!("skipped: {reason}");
}

/// Whether a program is installed. If not, the test is skipped: `package` says what to install.
pub fn is_installed(program: &str, package: &str) -> bool {
    let found = Command::new(program).arg("--version").output().is_ok();
    if !found {
        skip(&format!("{program} is not installed (Debian: {package})"));
    }
    found
}

/// The root of the repository.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the package is in a folder of the repository")
}

/// A folder for temporary files of the tests, in the target directory: this program is in its `debug/deps`.
pub fn scratch() -> PathBuf {
    let program = std::env::current_exe().expect("this program has a path");
    program.ancestors().nth(3).expect("cargo put it into the target directory").join("tmp")
}

/// The output folder of all builds here.
pub fn output() -> PathBuf {
    scratch().join("cpp")
}

/// Runs a command to its end. Panics with its output unless it succeeds.
pub fn run(command: &mut Command) -> Output {
    let program = command.get_program().display().to_string();
    let output = command.output().unwrap_or_else(|why| panic!("cannot run {program}: {why}"));
    let arguments: Vec<_> = command.get_args().map(OsStr::to_string_lossy).collect();
    assert!(
        output.status.success(),
        "{program} {} failed ({}):\n{}{}",
        arguments.join(" "),
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    output
}

/// Builds the library. The result finds a file that the build made or found fresh, by its extension.
pub fn build_library(folder: &str, profile: &str, features: &[&str]) -> impl Fn(&str) -> PathBuf {
    eprintln!("building hobgoblin with profile {profile}, {}", features.join(" "));
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(root()).args(["rustc", "--locked", "--lib", "--message-format", "json", "--profile", profile]);
    cargo.args(features).arg("--target-dir").arg(output().join(folder));
    let messages = String::from_utf8(run(&mut cargo).stdout).expect("cargo writes UTF-8");
    let files: Vec<PathBuf> = messages
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .filter(|message| message["reason"] == "compiler-artifact" && message["target"]["name"] == "hobgoblin")
        .flat_map(|message| message["filenames"].as_array().cloned().unwrap_or_default())
        .filter_map(|file| file.as_str().map(PathBuf::from))
        .collect();
    move |extension| {
        let found = files.iter().find(|file| file.extension() == Some(OsStr::new(extension)));
        found.unwrap_or_else(|| panic!("cargo made no .{extension} among {files:?}")).clone()
    }
}

/// The shared library that the harness links. The static one is beside it.
pub fn harness_library() -> PathBuf {
    build_library("library", "harness", &HARNESS_FEATURES)("so")
}

/// The shared release library, built as packages build it with these features. With all: `packaged::shared_library`.
pub fn released_library(features: &str) -> PathBuf {
    let packaged = format!("{features},host-allocator,no-backtrace");
    let packaged = ["--crate-type", "cdylib", "--no-default-features", "--features", &packaged];
    // A separate folder for each, since all libraries have the same file name.
    build_library(&format!("released-{features}"), "release", &packaged)("so")
}

/// The C++ compiler, with the flags of the whole harness.
pub fn compiler() -> Option<cc::Tool> {
    let mut build = cc::Build::new();
    build.cpp(true).std("c++17").opt_level(0).debug(false).warnings_into_errors(true).cargo_metadata(false);
    build.target(env!("HOB_TARGET")).host(env!("HOB_HOST")).out_dir(output()).include("include");
    for flag in ["all", "extra", "pedantic", "conversion", "sign-conversion", "shadow", "undef"] {
        build.flag(format!("-W{flag}"));
    }
    match build.try_get_compiler() {
        Ok(tool) if tool.to_command().arg("--version").output().is_ok_and(|output| output.status.success()) => {
            Some(tool)
        }
        _ => {
            skip("there is no C++ compiler: install g++ or clang++, or set CXX");
            None
        }
    }
}

pub fn modified(path: &Path) -> SystemTime {
    fs::metadata(path).and_then(|meta| meta.modified()).unwrap_or(SystemTime::UNIX_EPOCH)
}

/// The files of a folder with one of these extensions, ordered by name. Paths are relative to the repository.
pub fn files(folder: &str, extensions: &[&str]) -> Vec<PathBuf> {
    let list = fs::read_dir(root().join(folder)).unwrap_or_else(|why| panic!("cannot list {folder}: {why}"));
    let mut files: Vec<PathBuf> = list
        .map(|entry| Path::new(folder).join(entry.expect("an entry can be read").file_name()))
        .filter(|path| path.extension().is_some_and(|found| extensions.iter().any(|extension| found == *extension)))
        .collect();
    files.sort();
    files
}

/// A program of `cpp_tests/api/`, linked with the harness's library. `None`: there is no compiler.
pub fn api_program(name: &str) -> Option<PathBuf> {
    let tool = compiler()?;
    let include = output().join("include");
    write_api_table(&include.join("api/table.h"));
    let library = harness_library();
    let folder = library.parent().expect("a library is in a folder");
    let program = output().join(name);
    let mut compile = tool.to_command();
    compile.current_dir(root()).args(["-I", "cpp_tests", "-I"]).arg(&include).arg(format!("cpp_tests/api/{name}.cpp"));
    compile.args(["world", "arguments", "spoil"].map(|part| format!("cpp_tests/api/{part}.cpp"))).arg(&library);
    compile.arg(format!("-Wl,--disable-new-dtags,-rpath,{}", folder.display()));
    run(compile.args(["-lpthread", "-ldl", "-lm", "-o"]).arg(&program));
    Some(program)
}

/// Writes the table of the headers as C++.
pub fn write_api_table(path: &Path) {
    let folder = path.parent().expect("a file is in a folder");
    fs::create_dir_all(folder).unwrap_or_else(|why| panic!("cannot create {}: {why}", folder.display()));
    let table = super::api_table::generate(&super::api::Api::read());
    replace(path, &table);
    // A cache of pipelines, which the C API cannot make.
    let built = fs::read(root().join("tests/fixtures/pipeline/game.stable.hobpipe")).expect("it is checked in");
    let bytes: String = built.iter().map(|byte| format!("{byte},")).collect();
    replace(&path.with_file_name("pipeline_cache.inc"), &bytes);
}

/// Replaces a file as a whole, because another test may be compiling what includes it.
fn replace(path: &Path, text: &str) {
    static LAST: AtomicUsize = AtomicUsize::new(0);
    let name = format!("{}-{}.new", std::process::id(), LAST.fetch_add(1, Ordering::Relaxed));
    let fresh = path.with_file_name(name);
    let written = fs::write(&fresh, text).and_then(|()| fs::rename(&fresh, path));
    written.unwrap_or_else(|why| panic!("cannot write {}: {why}", path.display()));
}
