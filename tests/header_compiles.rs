//! The headers compile without warnings, each alone and all together. The tests use every C from C99, every C++ from
//! C++11, and every installed compiler. They also compile for targets on which no test runs, because compilers accept
//! different prefixes of a declaration.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use hobgoblin_tests::api::Api;
use hobgoblin_tests::cpp::{is_installed, root};

const WARNINGS: &[&str] =
    &["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wsign-conversion", "-Wshadow", "-Wundef", "-Werror"];

const C: &[&str] = &["-std=c99", "-std=c11", "-std=c17", "-std=c2x"];
const CPP: &[&str] = &["-std=c++11", "-std=c++14", "-std=c++17", "-std=c++20", "-std=c++2b"];
const CPP_OF_WRAPPER: &[&str] = &["-std=c++17", "-std=c++20", "-std=c++2b"];

/// The programs that are installed.
fn present(programs: &[&'static str]) -> Vec<&'static str> {
    programs.iter().copied().filter(|program| is_installed(program, "g++ clang")).collect()
}

/// The headers with this extension, in the form that a program includes them.
fn headers(extension: &str) -> Vec<String> {
    let folder = std::fs::read_dir(root().join("include/hobgoblin")).expect("the headers are there");
    let mut names: Vec<String> = folder
        .map(|entry| PathBuf::from(entry.expect("an entry can be read").file_name()))
        .filter(|path| path.extension().is_some_and(|found| found == extension))
        .map(|path| format!("hobgoblin/{}", path.display()))
        .collect();
    names.sort();
    assert!(!names.is_empty());
    names
}

/// Checks a source without generating code. The error has the compiler's messages.
fn check(compiler: &str, flags: &[&str], source: &str) -> Result<(), String> {
    let mut command = Command::new(compiler);
    command.current_dir(root()).args(flags).args(WARNINGS).args(["-Iinclude", "-fsyntax-only", "-"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|why| format!("{compiler}: {why}"))?;
    child.stdin.take().expect("it was piped").write_all(source.as_bytes()).map_err(|why| why.to_string())?;
    let output = child.wait_with_output().map_err(|why| why.to_string())?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let first = source.lines().find(|line| line.contains("#include")).unwrap_or_default();
    Err(format!("{compiler} {} on {first}:\n{said}", flags.join(" ")))
}

/// The compilers' error messages.
#[derive(Default)]
struct Complaints(Vec<String>);

impl Complaints {
    fn check(&mut self, compiler: &str, flags: &[&str], source: &str) {
        self.0.extend(check(compiler, flags, source).err());
    }
}

impl Drop for Complaints {
    fn drop(&mut self) {
        assert!(self.0.is_empty() || std::thread::panicking(), "{}", self.0.join("\n"));
    }
}

/// Sources that include each header alone, and twice.
fn headers_alone(extension: &str) -> Vec<String> {
    let alone = |header| format!("#include <{header}>\n#include <{header}>\nint one_declaration_at_least;\n");
    headers(extension).into_iter().map(alone).collect()
}

fn compile_only(name: &str) -> String {
    let path = root().join("cpp_tests/compile_only").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|why| panic!("cannot read {}: {why}", path.display()))
}

/// Sources with each header alone, and a program that uses their definitions.
fn sources() -> Vec<String> {
    let mut sources = headers_alone("h");
    sources.push(compile_only("uses_headers.c"));
    sources
}

fn every_header_in(language: &str, standards: &[&str], compilers: &[&'static str]) {
    let mut complaints = Complaints::default();
    for compiler in present(compilers) {
        for standard in standards {
            complaints.check(compiler, &[language, standard], &compile_only("uses_headers.c"));
        }
        // The oldest standard has the fewest headers of its own that could hide a missing include.
        for source in headers_alone("h") {
            complaints.check(compiler, &[language, standards[0]], &source);
        }
    }
}

#[test]
fn every_header_compiles_in_every_c() {
    every_header_in("-xc", C, &["gcc", "clang"]);
}

#[test]
fn every_header_compiles_in_every_cpp() {
    every_header_in("-xc++", CPP, &["g++", "clang++"]);
}

/// Padding between fields would be uninitialised, and could not become a field later.
#[test]
#[cfg(target_pointer_width = "64")]
fn no_struct_has_a_hole() {
    let mut complaints = Complaints::default();
    for compiler in present(&["gcc", "clang"]) {
        for source in headers_alone("h") {
            complaints.check(compiler, &["-xc", "-std=c11", "-Wpadded"], &source);
        }
    }
}

/// On Windows every function begins with `__declspec(dllimport)`.
#[test]
fn every_header_compiles_for_windows() {
    let mut complaints = Complaints::default();
    for compiler in present(&["clang"]) {
        for target in ["--target=x86_64-pc-windows-msvc", "--target=x86_64-pc-windows-gnu"] {
            for (language, standard) in
                [("-xc", "-std=c17"), ("-xc++", "-std=c++11"), ("-xc++", "-std=c++17"), ("-xc++", "-std=c++20")]
            {
                for source in sources() {
                    complaints.check(compiler, &[target, "-ffreestanding", language, standard], &source);
                }
            }
        }
    }
}

/// With 32-bit pointers other conversions are narrowing.
#[test]
fn every_header_compiles_for_32_bits() {
    let mut complaints = Complaints::default();
    for compiler in present(&["clang"]) {
        for source in sources() {
            complaints.check(compiler, &["--target=armv7a-none-eabi", "-xc", "-std=c11"], &source);
        }
    }
}

/// Flags to compile the wrapper with.
const VARIANTS: [&[&str]; 4] = [&[], &["-fno-rtti"], &["-fno-exceptions", "-fno-rtti"], &["-DHOB_NO_EXCEPTIONS"]];

/// A source after the macros of Unreal, windows.h and Xlib.
fn after_hostile_macros(source: &str) -> String {
    format!("#include \"cpp_tests/compile_only/hostile_macros.h\"\n{source}")
}

#[test]
fn every_c_header_compiles_after_hostile_macros() {
    let mut complaints = Complaints::default();
    for compiler in present(&["gcc", "clang"]) {
        for source in sources() {
            complaints.check(compiler, &["-xc", "-std=c11", "-I."], &after_hostile_macros(&source));
        }
    }
    for compiler in present(&["g++", "clang++"]) {
        for source in sources() {
            complaints.check(compiler, &["-xc++", "-std=c++17", "-I."], &after_hostile_macros(&source));
        }
    }
}

#[test]
fn wrapper_compiles_after_hostile_macros() {
    let mut complaints = Complaints::default();
    let flags = ["-xc++", "-std=c++17", "-I.", "-Icpp_tests/compile_only"];
    for compiler in present(&["g++", "clang++"]) {
        for variant in [VARIANTS[0], VARIANTS[2]] {
            let flags = [&flags, variant].concat();
            complaints.check(compiler, &flags, &compile_only("hostile_macros.cpp"));
        }
        complaints.check(compiler, &flags, &after_hostile_macros(&compile_only("uses_wrapper.cpp")));
    }
    // Each header alone, so that it cannot rely on one that was included before the macros. One compiler will do.
    for compiler in present(&["g++"]) {
        for source in headers_alone("hpp") {
            complaints.check(compiler, &flags, &after_hostile_macros(&source));
        }
    }
}

/// Proves that the hostile macros have an effect.
#[test]
fn expanded_hostile_macro_breaks_the_compile() {
    for compiler in present(&["g++", "clang++"]) {
        for name in ["check", "min", "None", "slots", "OUT"] {
            let source = after_hostile_macros(&format!("int {name};\n"));
            assert!(check(compiler, &["-xc++", "-std=c++17", "-I."], &source).is_err(), "{compiler}: {name}");
        }
    }
}

/// The functions of the wrapper that begin with `try_`, and the `x` of each `try_x(...).value()`.
fn forms() -> (BTreeSet<String>, BTreeSet<String>) {
    let (mut tries, mut throws) = (BTreeSet::new(), BTreeSet::new());
    for header in headers("hpp") {
        let text = std::fs::read_to_string(root().join("include").join(header)).expect("a header can be read");
        for line in text.lines().filter(|line| !line.trim_start().starts_with("//")) {
            for (at, _) in line.match_indices("try_") {
                let rest = &line[at + 4..];
                let name = &rest[..rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(0)];
                if line[..at].contains("Result<") && rest[name.len()..].starts_with('(') {
                    tries.insert(name.to_owned());
                } else if line.contains(").value()") {
                    throws.insert(name.to_owned());
                }
            }
        }
    }
    (tries, throws)
}

#[test]
fn each_try_function_has_a_throwing_form() {
    let (mut tries, throws) = forms();
    assert!(tries.len() > 90, "only {} functions were found", tries.len());
    // `install` is an implementation detail of the hooks, `lock` a virtual function of the host's file system.
    tries.retain(|name| !["install", "lock"].contains(&name.as_str()));
    let missing: Vec<_> = tries.difference(&throws).collect();
    assert!(missing.is_empty(), "no throwing form of {missing:?}");
}

/// Functions that the wrapper replaces by something of C++.
const REPLACED: &[(&str, &str)] = &[
    ("hob_fingerprint_equal", "operator=="),
    ("hob_goblin_add_fixed_burden", "hob_goblin_add_fixed_burden_with_value"),
    ("hob_egl_blob_get", "EGL calls it"),
    ("hob_egl_blob_set", "EGL calls it"),
];

#[test]
fn wrapper_calls_every_function_of_the_headers() {
    let text = |header| std::fs::read_to_string(root().join("include").join(header)).expect("a header can be read");
    let wrapper: String = headers("hpp").into_iter().map(text).collect();
    let words: BTreeSet<&str> = wrapper.split(|letter: char| !letter.is_alphanumeric() && letter != '_').collect();
    // The `_INIT` macros call the `_init` functions, and a Failure has the last error.
    let is_replaced = |name: &str| {
        name.ends_with("_init") || name.ends_with("_last_error") || REPLACED.iter().any(|(known, _)| *known == name)
    };
    let functions = Api::read().functions;
    let missing: Vec<_> = functions
        .iter()
        .map(|function| function.name.as_str())
        .filter(|name| !words.contains(name) && !is_replaced(name))
        .collect();
    assert!(missing.is_empty(), "hobgoblin.hpp has nothing for {missing:?}");
    for (name, _) in REPLACED {
        assert!(functions.iter().any(|function| function.name == *name), "{name} is not a function any more");
    }
}

#[test]
fn wrapper_compiles_in_every_cpp_with_and_without_exceptions() {
    let mut complaints = Complaints::default();
    for compiler in present(&["g++", "clang++"]) {
        for standard in CPP_OF_WRAPPER {
            // The variants differ in the library's own code, so all of them with one standard are enough.
            let variants = if *standard == CPP_OF_WRAPPER[0] { &VARIANTS[..] } else { &VARIANTS[..1] };
            for variant in variants {
                let flags = [&["-xc++", standard], *variant].concat();
                complaints.check(compiler, &flags, &compile_only("uses_wrapper.cpp"));
            }
        }
    }
}
