//! Builds the C++ harness in `cpp_tests/` with the host's compiler, links it against a fresh `.so` and a fresh `.a`,
//! and runs it.
//!
//! A separate cargo process builds the library for the harness, with the profile `harness`. The harness needs its
//! allocator hook and its fault points. `cargo test` itself does not put a library into a reliable place, and a stale
//! one could be tested by mistake. Each aspect of each program is a separate test, so that a failure names the aspect.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use std::time::SystemTime;

use hobgoblin_tests::cpp::{compiler, files, harness_library, modified, output, root, run};

/// The files of the built harness.
struct Programs {
    /// Links `libhobgoblin.so`.
    shared: PathBuf,
    /// Links `libhobgoblin.a`, with malloc and its relatives wrapped.
    archive: PathBuf,
    /// The `.so` itself, for `dlopen`.
    library: PathBuf,
}

/// Functions of the C library whose calls the static program counts.
const WRAPPED: [&str; 6] = ["malloc", "calloc", "realloc", "free", "aligned_alloc", "posix_memalign"];

/// Compiles objects that are older than their source or any header, two files at a time. Returns all objects.
fn compile(tool: &cc::Tool) -> Vec<PathBuf> {
    let headers = [files("cpp_tests", &["h"]), files("include/hobgoblin", &["h", "hpp"])].concat();
    let newest_header = headers.iter().map(|path| modified(&root().join(path))).max().unwrap_or(SystemTime::UNIX_EPOCH);
    let newest_header = newest_header.max(modified(&root().join(file!())));
    let sources = files("cpp_tests", &["cpp"]);
    let object = |source: &PathBuf| output().join(source.file_name().expect("a source has a name")).with_extension("o");
    let stale: Vec<&PathBuf> = sources
        .iter()
        .filter(|source| modified(&object(source)) <= newest_header.max(modified(&root().join(source))))
        .collect();
    eprintln!("compiling {} of {} files of the harness", stale.len(), sources.len());
    std::thread::scope(|scope| {
        let mut hands = Vec::new();
        for hand in 0..2 {
            let mine: Vec<&PathBuf> = stale.iter().skip(hand).step_by(2).copied().collect();
            hands.push(scope.spawn(move || {
                for source in mine {
                    run(tool.to_command().current_dir(root()).arg("-c").arg(source).arg("-o").arg(object(source)));
                }
            }));
        }
        hands.into_iter().for_each(|hand| hand.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
    });
    sources.iter().map(object).collect()
}

/// Links all objects except `other`, which belongs to the other program.
fn link(tool: &cc::Tool, name: &str, objects: &[PathBuf], other: &str, extra: &[&OsStr]) -> PathBuf {
    let program = output().join(name);
    let objects = objects.iter().filter(|object| object.file_stem() != Some(OsStr::new(other)));
    run(tool.to_command().args(objects).args(extra).args(["-lpthread", "-ldl", "-lm", "-o"]).arg(&program));
    program
}

/// The programs, built once. `None`: there is no compiler.
fn programs() -> Option<&'static Programs> {
    static PROGRAMS: LazyLock<Option<Programs>> = LazyLock::new(|| {
        let tool = compiler()?;
        fs::create_dir_all(output()).expect("the target directory can be written");
        let so = harness_library();
        let a = so.with_extension("a");
        let objects = compile(&tool);
        let folder = so.parent().expect("a library is in a folder");
        // Old dtags, because cargo sets LD_LIBRARY_PATH to folders with other builds of the library.
        let rpath = format!("-Wl,--disable-new-dtags,-rpath,{}", folder.display());
        let wraps: Vec<String> = WRAPPED.iter().map(|name| format!("-Wl,--wrap={name}")).collect();
        let mut of_static: Vec<&OsStr> = vec![a.as_os_str()];
        of_static.extend(wraps.iter().map(OsStr::new));
        Some(Programs {
            shared: link(&tool, "harness_shared", &objects, "linked_static", &[so.as_os_str(), OsStr::new(&rpath)]),
            archive: link(&tool, "harness_static", &objects, "linked_shared", &of_static),
            library: so,
        })
    });
    PROGRAMS.as_ref()
}

/// Runs the tests of one aspect in one program.
fn harness(program: fn(&Programs) -> &Path, aspect: &str) {
    let Some(programs) = programs() else { return };
    let program = program(programs);
    let scratch = output().join(format!("{}-{aspect}", program.file_name().expect("it has a name").display()));
    fs::create_dir_all(&scratch).expect("the target directory can be written");
    let mut command = Command::new(program);
    command.arg(format!("{aspect}: ")).env("HOB_LIBRARY", &programs.library).env("HOB_SCRATCH", scratch);
    // Disables the thread caches of glibc. It counts cached blocks as used, and `calloc` and `realloc` do not reuse
    // them. So the caches fill slowly, which looks like a leak of 30 bytes per load and unload.
    command.env("GLIBC_TUNABLES", "glibc.malloc.tcache_count=0");
    print!("{}", String::from_utf8_lossy(&run(&mut command).stdout));
}

#[test]
fn one_source_compiles_with_and_without_exceptions_and_allocates_nothing_per_frame() {
    let (Some(programs), Some(tool)) = (programs(), compiler()) else { return };
    let archive = programs.library.with_extension("a");
    let variants: [(&str, &[&str]); 3] = [
        ("exceptions 1", &[]),
        ("exceptions 0", &["-fno-exceptions", "-fno-rtti"]),
        ("exceptions 0", &["-DHOB_NO_EXCEPTIONS"]),
    ];
    for (number, (expected, flags)) in variants.into_iter().enumerate() {
        let program = output().join(format!("frame_loop{number}"));
        let mut compile = tool.to_command();
        compile.current_dir(root()).args(flags).arg("cpp_tests/both_ways/frame_loop.cpp").arg(&archive);
        compile.args(WRAPPED.iter().map(|name| format!("-Wl,--wrap={name}")));
        run(compile.args(["-lpthread", "-ldl", "-lm", "-o"]).arg(&program));
        let printed = String::from_utf8(run(&mut Command::new(program)).stdout).expect("it prints ASCII");
        print!("{printed}");
        assert!(printed.starts_with(expected), "{printed}");
    }
}

macro_rules! aspects {
    ($($aspect:ident)+) => {
        /// Linked against the `.so`.
        mod shared {
            $(#[test] fn $aspect() { super::harness(|programs| &programs.shared, stringify!($aspect)); })+
        }
        /// Linked against the `.a`, with every malloc counted.
        mod archive {
            $(#[test] fn $aspect() { super::harness(|programs| &programs.archive, stringify!($aspect)); })+
        }
        const ASPECTS: &[&str] = &[$(stringify!($aspect)),+];
    };
}

aspects!(base balance executor knapsack profile goblin fingerprint program_cache pipeline graph perception callbacks hooks bad_input struct_size threads panic float memory unload hpp);

/// All sources of the harness, without their comments.
fn harness_code() -> String {
    let mut code = String::new();
    for source in files("cpp_tests", &["cpp", "h"]) {
        let text = fs::read_to_string(root().join(source)).expect("a source can be read");
        text.lines().for_each(|line| code.extend([line.split("//").next().unwrap_or_default(), "\n"]));
    }
    code
}

/// The functions that the headers declare.
fn api() -> Vec<String> {
    hobgoblin_tests::api::Api::read().functions.into_iter().map(|function| function.name).collect()
}

#[test]
fn every_function_of_the_api_is_called_in_the_harness() {
    let (code, api) = (harness_code(), api());
    assert!(api.len() > 60, "only {} functions were found in the headers", api.len());
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    let is_used = |name: &str| {
        code.match_indices(name).any(|(at, _)| {
            let (before, after) = (&code[..at], &code[at + name.len()..]);
            !before.ends_with(is_part) && !after.starts_with(is_part)
        })
    };
    let missing: Vec<&String> = api.iter().filter(|name| !is_used(name)).collect();
    assert!(missing.is_empty(), "the harness never calls {missing:?}");
}

#[test]
fn every_test_of_the_harness_belongs_to_an_aspect() {
    let Some(programs) = programs() else { return };
    let list = run(Command::new(&programs.archive).arg("--list"));
    for name in String::from_utf8_lossy(&list.stdout).lines() {
        let aspect = name.split(':').next().unwrap_or_default();
        assert!(ASPECTS.contains(&aspect), "no aspect of tests/cpp.rs runs \"{name}\"");
    }
}
