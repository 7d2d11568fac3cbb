//! Builds the C++ program of an example with the machine's own compiler, links it to the `libhobgoblin` that cargo has
//! just built, and becomes that program: its arguments, its exit status and Ctrl-C are those of `cargo run`.
//!
//! The program is all C++ files in `examples/<name>` and in `examples/common`.

use std::env::consts::{DLL_PREFIX, DLL_SUFFIX, EXE_SUFFIX};
use std::error::Error;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, exit};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::SystemTime;
use std::{env, fs, thread};

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// Builds the example `name` and becomes it.
pub fn run(name: &str) -> ! {
    match build(name).and_then(become_program) {
        Ok(status) => exit(status),
        Err(error) => {
            eprintln!("{name}: {error}");
            exit(1);
        }
    }
}

/// Compiles what has changed since the last time, links, and returns the program's path.
fn build(name: &str) -> Result<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let directories = [root.join("examples").join(name), root.join("examples/common")];
    let executable = env::current_exe()?; // target/<profile>/examples/<name>
    let examples = executable.parent().ok_or("the example has no directory")?;
    let libraries = examples.with_file_name("deps");
    let library = libraries.join(format!("{DLL_PREFIX}hobgoblin{DLL_SUFFIX}"));
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
        compile_all(&compiler, &stale, &object_of)?;
    }

    let program = output.join(format!("{name}{EXE_SUFFIX}"));
    let objects: Vec<PathBuf> = sources.iter().map(|source| object_of(source)).collect();
    let newest_part = objects.iter().chain([&library]).filter_map(|path| modified(path)).max();
    if modified(&program) < newest_part {
        let mut link = compiler.to_command();
        link.args(&objects).arg("-o").arg(&program).arg("-L").arg(&libraries).arg("-lhobgoblin");
        link.arg(format!("-Wl,-rpath,{}", libraries.display())).args(["-ldl", "-lpthread"]);
        succeed(&mut link, "linking the example")?;
    }
    Ok(program)
}

/// The machine's C++ compiler, as the `cc` crate finds it: `CXX` in the environment has the first word.
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

/// As many compilers at a time as there are cores.
fn compile_all(compiler: &cc::Tool, sources: &[&PathBuf], object_of: &(dyn Fn(&Path) -> PathBuf + Sync)) -> Result<()> {
    let next = AtomicUsize::new(0);
    let work = || -> Result<()> {
        while let Some(source) = sources.get(next.fetch_add(1, Ordering::Relaxed)) {
            let mut compile = compiler.to_command();
            compile.args(["-Wall", "-Wextra", "-c"]).arg(source).arg("-o").arg(object_of(source));
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
fn become_program(program: PathBuf) -> Result<i32> {
    use std::os::unix::process::CommandExt;
    let error = Command::new(&program).args(env::args_os().skip(1)).exec();
    Err(format!("{} cannot be run: {error}", program.display()).into())
}

#[cfg(not(unix))]
fn become_program(program: PathBuf) -> Result<i32> {
    let status = Command::new(&program).args(env::args_os().skip(1)).status()?;
    Ok(status.code().unwrap_or(1))
}
