//! Builds the C++ program of an example with the machine's own compiler, and links it to the `libhobgoblin` that cargo
//! has just built. Then it becomes that program, with the arguments, the exit status and the Ctrl-C of `cargo run`.
//!
//! The program consists of all C++ files in `examples/<name>` and in `examples/common`. A shared library consists of
//! the files in `examples/<name>` alone, with `libhobgoblin` inside, and is preloaded into other programs.

use std::env::consts::{DLL_PREFIX, DLL_SUFFIX, EXE_SUFFIX};
use std::error::Error;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, exit};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::SystemTime;
use std::{env, fs, thread};

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// Builds the example `name` and becomes it.
#[allow(dead_code, reason = "each example uses one of the two")]
pub fn run(name: &str) -> ! {
    end(
        name,
        build(name, Product::Program)
            .and_then(|program| become_program(Command::new(program).args(env::args_os().skip(1)).envs(just_built()))),
    )
}

/// Puts the new library first in the search path. Linux searches cargo's path before the program's own, and cargo's
/// path may hold a library of an earlier `cargo build`.
fn just_built() -> Option<(&'static str, OsString)> {
    let libraries = env::current_exe().ok()?.parent()?.with_file_name("deps");
    let others = env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let all = env::join_paths(std::iter::once(libraries).chain(env::split_paths(&others))).ok()?;
    Some(("LD_LIBRARY_PATH", all))
}

/// Builds the example `name` as a shared library and becomes the command that `command` returns for its path.
#[allow(dead_code, reason = "each example uses one of the two")]
pub fn run_with_library(name: &str, command: impl FnOnce(PathBuf) -> Option<Command>) -> ! {
    end(
        name,
        build(name, Product::SharedLibrary)
            .and_then(|library| command(library).map_or(Ok(0), |mut command| become_program(&mut command))),
    )
}

fn end(name: &str, outcome: Result<i32>) -> ! {
    match outcome {
        Ok(status) => exit(status),
        Err(error) => {
            eprintln!("{name}: {error}");
            exit(1);
        }
    }
}

/// The kind of file that an example is built to.
#[derive(Clone, Copy, PartialEq)]
enum Product {
    Program,
    SharedLibrary,
}

impl Product {
    fn folders(self, name: &str) -> Vec<PathBuf> {
        let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
        match self {
            Product::Program => vec![examples.join(name), examples.join("common")],
            Product::SharedLibrary => vec![examples.join(name)],
        }
    }

    fn compile_flags(self) -> &'static [&'static str] {
        match self {
            Product::Program => &[],
            Product::SharedLibrary => &["-fPIC", "-fvisibility=hidden"],
        }
    }

    fn file_name(self, name: &str) -> String {
        match self {
            Product::Program => format!("{name}{EXE_SUFFIX}"),
            Product::SharedLibrary => format!("{DLL_PREFIX}hobgoblin_{name}{DLL_SUFFIX}"),
        }
    }

    /// The library that cargo has built in `libraries`.
    fn library(self, libraries: &Path) -> PathBuf {
        libraries.join(match self {
            Product::Program => format!("{DLL_PREFIX}hobgoblin{DLL_SUFFIX}"),
            Product::SharedLibrary => "libhobgoblin.a".to_owned(),
        })
    }

    fn link_flags(self, libraries: &Path) -> Vec<OsString> {
        let flags = match self {
            Product::Program => vec![format!("-Wl,-rpath,{}", libraries.display())],
            // Hides the symbols of `libhobgoblin` from the programs that preload it.
            Product::SharedLibrary => {
                ["-shared", "-Wl,--exclude-libs,ALL", "-Wl,--gc-sections", "-lm"].map(str::to_owned).to_vec()
            }
        };
        flags.into_iter().map(OsString::from).chain(["-ldl", "-lpthread"].map(OsString::from)).collect()
    }
}

/// Compiles what has changed since the last time, links, and returns the product's path.
fn build(name: &str, product: Product) -> Result<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let directories = product.folders(name);
    let executable = env::current_exe()?; // target/<profile>/examples/<name>
    let examples = executable.parent().ok_or("the example has no directory")?;
    let libraries = examples.with_file_name("deps");
    let library = product.library(&libraries);
    if !library.exists() {
        return Err(format!("{} is not there: run this with cargo run --example {name}", library.display()).into());
    }
    let output = examples.join(format!("{name}-cpp"));
    fs::create_dir_all(&output)?;

    let (mut sources, mut headers) = (Vec::new(), files_with_extension(&root.join("include/hobgoblin"), "h")?);
    headers.extend(files_with_extension(&root.join("include/hobgoblin"), "hpp")?);
    for directory in &directories {
        sources.extend(files_with_extension(directory, "cpp")?);
        headers.extend(files_with_extension(directory, "h")?);
    }
    let newest_header = headers.iter().filter_map(|path| modified(path)).max();

    let compiler = compiler(&root.join("include"), &output)?;
    let object_of = |source: &Path| output.join(source.file_stem().unwrap_or_default()).with_extension("o");
    let stale: Vec<&PathBuf> = sources
        .iter()
        .filter(|source| {
            let object = modified(&object_of(source));
            object < modified(source) || object < newest_header
        })
        .collect();
    if !stale.is_empty() {
        eprintln!("compiling {} C++ files of the example with {}", stale.len(), compiler.path().display());
        compile_all(&compiler, product.compile_flags(), &stale, &object_of)?;
    }

    let made = output.join(product.file_name(name));
    let objects: Vec<PathBuf> = sources.iter().map(|source| object_of(source)).collect();
    let newest_part = objects.iter().chain([&library]).filter_map(|path| modified(path)).max();
    if modified(&made) < newest_part {
        let mut link = compiler.to_command();
        link.args(&objects).arg("-o").arg(&made).arg(&library).args(product.link_flags(&libraries));
        succeed(&mut link, "linking the example")?;
    }
    Ok(made)
}

/// The machine's C++ compiler, as the `cc` crate finds it: `CXX` in the environment takes precedence.
fn compiler(include: &Path, output: &Path) -> Result<cc::Tool> {
    let tool = cc::Build::new()
        .cpp(true)
        .std("c++17")
        .target(env!("HOB_TARGET"))
        .host(env!("HOB_HOST"))
        .opt_level(2)
        .debug(false)
        .out_dir(output)
        .include(include)
        .cargo_metadata(false)
        .cargo_warnings(false)
        .try_get_compiler()
        .map_err(|error| format!("no C++ compiler was found (install g++ or clang++, or set CXX): {error}"))?;
    if tool.is_like_msvc() {
        return Err("this example is built with g++ or clang++; set CXX to one of them".into());
    }
    Ok(tool)
}

/// Runs as many compilers at a time as there are cores.
fn compile_all(
    compiler: &cc::Tool,
    flags: &[&str],
    sources: &[&PathBuf],
    object_of: &(dyn Fn(&Path) -> PathBuf + Sync),
) -> Result<()> {
    let next = AtomicUsize::new(0);
    let work = || -> Result<()> {
        while let Some(source) = sources.get(next.fetch_add(1, Ordering::Relaxed)) {
            let mut compile = compiler.to_command();
            compile.args(["-Wall", "-Wextra", "-c"]).args(flags).arg(source).arg("-o").arg(object_of(source));
            succeed(&mut compile, &format!("compiling {}", source.display()))?;
        }
        Ok(())
    };
    let workers = thread::available_parallelism().map_or(1, usize::from).min(sources.len());
    thread::scope(|scope| {
        let handles: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        handles.into_iter().try_for_each(|handle| handle.join().map_err(|_| "a compiling thread panicked")?)
    })
}

fn succeed(command: &mut Command, what: &str) -> Result<()> {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{what} failed ({status})").into()),
        Err(error) => {
            Err(format!("no C++ compiler: {} cannot be run ({error})", command.get_program().display()).into())
        }
    }
}

fn files_with_extension(directory: &Path, extension: &str) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).map_err(|error| format!("{}: {error}", directory.display()))? {
        let path = entry?.path();
        if path.extension() == Some(OsStr::new(extension)) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn modified(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|data| data.modified()).ok()
}

/// Replaces this process, so that signals and the exit status need no passing on.
#[cfg(unix)]
fn become_program(command: &mut Command) -> Result<i32> {
    use std::os::unix::process::CommandExt;
    let error = command.exec();
    Err(format!("{} cannot be run: {error}", command.get_program().display()).into())
}

#[cfg(not(unix))]
fn become_program(command: &mut Command) -> Result<i32> {
    Ok(command.status()?.code().unwrap_or(1))
}
