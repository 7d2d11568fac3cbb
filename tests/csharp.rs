//! Compiles the C# binding (`bindings/csharp`) with mcs and runs its tests on Mono, against the library of the harness.
//!
//! Each `bindings/csharp/tests/<Name>Test.cs` is a program; the other files of that folder are compiled into all of them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use hobgoblin_tests::api::Api;
use hobgoblin_tests::cpp::{harness_library, output, root, run};
use hobgoblin_tests::csharp::{Runtime, classes, compile, is_available, mono, runtime_config, sources};

const FOLDER: &str = "bindings/csharp";

/// The idiomatic layer, by hand.
fn idiomatic() -> Vec<PathBuf> {
    classes().into_iter().filter(|path| !path.starts_with(Path::new(FOLDER).join("Native"))).collect()
}

fn folder() -> PathBuf {
    output().join("csharp")
}

/// The assembly and the native library, built once. `None`: there is no compiler or no runtime.
fn built() -> Option<&'static (PathBuf, PathBuf)> {
    static BUILT: LazyLock<Option<(PathBuf, PathBuf)>> = LazyLock::new(|| {
        if !is_available() {
            return None;
        }
        let assembly = folder().join("Hobgoblin.dll");
        compile(&classes(), &assembly, &[]);
        Some((assembly, harness_library()))
    });
    BUILT.as_ref()
}

/// Compiles a program that uses the assembly.
fn program(name: &str, sources: &[PathBuf]) -> Option<(PathBuf, &'static Path)> {
    let (assembly, library) = built()?;
    let program = folder().join(name).with_extension("exe");
    compile(sources, &program, &[&format!("-r:{}", assembly.display()), "-r:System.Core.dll"]);
    Some((program, library))
}

/// Compiles a test program.
fn test_program(name: &str) -> Option<(PathBuf, &'static Path)> {
    let tests = Path::new(FOLDER).join("tests");
    let is_shared = |path: &PathBuf| path.starts_with(&tests) && !path.to_string_lossy().ends_with("Test.cs");
    let mut files: Vec<PathBuf> = sources(FOLDER).into_iter().filter(is_shared).collect();
    files.push(tests.join(name).with_extension("cs"));
    program(name, &files)
}

/// Runs a command and prints its output.
fn show(command: &mut Command) -> String {
    let printed = String::from_utf8(run(command).stdout).expect("it prints UTF-8");
    print!("{printed}");
    printed
}

/// The names of all test programs.
fn test_names() -> Vec<String> {
    let names = sources(&format!("{FOLDER}/tests"));
    let names = names.iter().filter_map(|path| path.file_stem()).map(|name| name.to_string_lossy().into_owned());
    names.filter(|name| name.ends_with("Test")).collect()
}

/// Runs all test programs, except those of domains, which only Mono has.
fn run_all(runtime: &Runtime) {
    for name in test_names().iter().filter(|name| *name != "ReloadTest") {
        let Some((program, library)) = test_program(name) else { return };
        println!("{name}");
        if let Runtime::CoreClr(_) = runtime {
            // Beside the program, so that it can start itself.
            fs::copy(runtime_config(), program.with_extension("runtimeconfig.json"))
                .expect("the folder can be written");
        }
        show(&mut runtime.command(&program, library));
    }
}

#[test]
fn every_test_program_passes_on_mono() {
    run_all(&Runtime::Mono);
}

#[test]
fn every_test_program_passes_on_coreclr() {
    if let Some(runtime) = Runtime::coreclr() {
        run_all(&runtime);
    }
}

/// Domains with live goblins, recordings, pools and threads are unloaded. HOB_RELOADS sets another number.
#[test]
fn reloads_of_a_domain_neither_crash_nor_leak() {
    let Some((program, library)) = test_program("ReloadTest") else { return };
    show(&mut mono(&program, library));
}

#[test]
fn a_library_without_a_room_is_an_error_that_names_the_version() {
    let path = folder().join("Start.cs");
    let text = "static class Start { static int Main() { try { new Hobgoblin.GoblinDesc(); return 2; } \
        catch (Hobgoblin.HobgoblinVersionException stale) { System.Console.Write(stale.Message); return 0; } } }";
    let native = folder().join("newer/libhobgoblin.so");
    fs::create_dir_all(folder().join("newer")).expect("the target directory can be written");
    fs::write(&path, text).expect("the target directory can be written");
    let Some((program, _)) = program("Start", &[path]) else { return };
    let source = native.with_extension("c");
    let functions = "unsigned hob_version(void) { return 1u << 22; } unsigned hob_abi_version(void) { return 1; }";
    fs::write(&source, functions).expect("the target directory can be written");
    run(Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&native).arg(&source));
    let message = show(&mut mono(&program, &native));
    assert!(
        message.contains("version 1.0.0 and lacks a function") && message.contains("hob_goblin_desc_init"),
        "{message}"
    );
}

#[test]
fn first_program_of_the_page_prints_the_choice() {
    let page = fs::read_to_string(root().join("docs/csharp.md")).expect("the page is there");
    let source =
        page.split_once("```csharp\n").expect("the page has a program").1.split_once("```").expect("it ends").0;
    assert!(source.lines().count() <= 30, "the first program has {} lines", source.lines().count());
    let path = folder().join("Program.cs");
    fs::create_dir_all(folder()).and_then(|()| fs::write(&path, source)).expect("the target directory can be written");
    let Some((program, library)) = program("Program", &[path]) else { return };
    assert_eq!(show(&mut mono(&program, library)), "shadows: 3\n");
}

#[test]
fn frame_loop_example_keeps_the_budget_and_profits_from_its_profile() {
    let source = PathBuf::from("examples/frame_loop.cs");
    let text = fs::read_to_string(root().join(&source)).expect("the example is there");
    assert!(text.lines().count() <= 200, "the example has {} lines", text.lines().count());
    let readme = fs::read_to_string(root().join("examples/README.md")).expect("the list is there");
    assert!(readme.contains("| [frame_loop.cs](frame_loop.cs) |"), "examples/README.md does not list the example");
    let Some((program, library)) = program("frame_loop", &[source]) else { return };
    let profile = folder().join("frame_loop.json");
    let _ = fs::remove_file(&profile);
    let ran: Vec<String> = (0..2).map(|_| show(mono(&program, library).arg(&profile))).collect();
    let late_at_end = |printed: &str| -> u32 {
        let before = printed.split_once(" of them in the last 200").expect("it prints the late frames").0;
        before.rsplit(' ').next().and_then(|word| word.parse().ok()).expect("a number")
    };
    assert!(ran[0].contains("no profile yet") && ran[1].contains("loaded the profile"), "{ran:?}");
    assert!(ran.iter().all(|printed| late_at_end(printed) <= 4), "{ran:?}");
}

/// Functions that no C# code calls, with the reason.
const UNUSED: [(&str, &str); 6] = [
    ("hob_cognition_call_init", "the library makes it, not the host"),
    (
        "hob_evaluation_desc_init",
        "made in every frame: its struct_size is set, and 0 is the default of all other fields",
    ),
    ("hob_fingerprint_equal", "equality is computed in C#, without a call"),
    ("hob_node_call_init", "the library makes it, not the host"),
    ("hob_pipeline_job_init", "the library makes it, not the host"),
    ("hob_sample_init", "the library makes it, not the host"),
];

/// Whether a function initialises an answer: setting its struct_size is enough, and costs no call in a frame.
fn initialises_an_answer(api: &Api, function: &str) -> bool {
    let of = |name: &str| api.structs.iter().any(|one| one.name == name && one.doc.contains("An answer:"));
    function.strip_suffix("_init").is_some_and(of)
}

/// Whether a source calls a function of the raw layer.
fn calls(text: &str, function: &str) -> bool {
    text.contains(&format!("Native.{function}("))
}

#[test]
fn every_c_function_is_called_by_the_idiomatic_layer() {
    let text: String =
        idiomatic().iter().map(|path| fs::read_to_string(root().join(path)).expect("a source can be read")).collect();
    let api = Api::read();
    let unused: BTreeSet<&str> = api
        .functions
        .iter()
        .filter(|function| !calls(&text, &function.name))
        .filter(|function| !initialises_an_answer(&api, &function.name))
        .map(|function| function.name.as_str())
        .collect();
    let stated: BTreeSet<&str> = UNUSED.iter().map(|(name, _)| *name).collect();
    assert_eq!(unused, stated, "left: not called; right: stated in UNUSED");
}

#[test]
fn files_are_short_and_have_no_tabs() {
    for path in idiomatic() {
        let text = fs::read_to_string(root().join(&path)).expect("a source can be read");
        assert!(text.lines().count() <= 600, "{} has more than 600 lines", path.display());
        assert!(!text.contains('\t'), "{} has tabs", path.display());
    }
}
