//! Builds C and C++ programs with the machine's own compiler, and links them to the `libhobgoblin` that cargo has just
//! built. The examples and the trials share this file. Their runners then become the program, which gets the arguments,
//! the exit status and the Ctrl-C of `cargo run`.

use std::env::consts::{DLL_PREFIX, DLL_SUFFIX, EXE_SUFFIX};
use std::error::Error;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, exit};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::SystemTime;
use std::{env, fs, thread};

pub type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// The kind of file to build.
#[derive(Clone, Copy, PartialEq)]
pub enum Product {
    /// A program that loads the shared `libhobgoblin`.
    Program,
    /// A shared library with `libhobgoblin` inside, which is preloaded into other programs.
    SharedLibrary,
}

/// One program or shared library, and how to build it.
pub struct Build {
    pub name: String,
    pub product: Product,
    /// C and C++ files.
    pub sources: Vec<PathBuf>,
    /// Folders whose headers make all objects stale. The library's headers always do.
    pub headers: Vec<PathBuf>,
    /// The repository.
    pub root: PathBuf,
    /// The folder of the objects and of the product.
    pub output: PathBuf,
    /// 0 to 3.
    pub optimization: u32,
    /// The warnings of the compiler, such as `-Wall`.
    pub flags: &'static [&'static str],
}

impl Product {
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
                ["-shared", "-Wl,--exclude-libs,ALL", "-Wl,--gc-sections"].map(str::to_owned).to_vec()
            }
        };
        flags.into_iter().map(OsString::from).chain(["-lm", "-ldl", "-lpthread"].map(OsString::from)).collect()
    }
}

impl Build {
    /// Compiles the sources that changed since the last build, links, and returns the path of the product.
    pub fn run(&self) -> Result<PathBuf> {
        let libraries = libraries()?;
        let library = self.product.library(&libraries);
        if !library.exists() {
            return Err(format!("{} is missing: start this program with cargo run", library.display()).into());
        }
        let objects = self.compile()?;
        let made = self.output.join(self.product.file_name(&self.name));
        let newest_part = objects.iter().chain([&library]).filter_map(|path| modified(path)).max();
        if modified(&made) < newest_part {
            let is_cpp = self.sources.iter().any(|source| is_cpp(source));
            let mut link = self.compiler(is_cpp)?.to_command();
            link.args(&objects).arg("-o").arg(&made).arg(&library).args(self.product.link_flags(&libraries));
            succeed(&mut link, &format!("linking {}", self.name))?;
        }
        Ok(made)
    }

    /// Compiles the sources that changed since the last build. Returns the objects of all sources.
    pub fn compile(&self) -> Result<Vec<PathBuf>> {
        fs::create_dir_all(&self.output)?;
        let mut headers = Vec::new();
        for folder in self.headers.iter().chain([&self.root.join("include/hobgoblin")]) {
            headers.extend(files_with_extension(folder, "h")?);
            headers.extend(files_with_extension(folder, "hpp")?);
        }
        let newest_header = headers.iter().filter_map(|path| modified(path)).max();
        let stale: Vec<&PathBuf> = self
            .sources
            .iter()
            .filter(|source| {
                let object = modified(&self.object(source));
                object < modified(source) || object < newest_header
            })
            .collect();
        if !stale.is_empty() {
            self.compile_all(&stale)?;
        }
        Ok(self.sources.iter().map(|source| self.object(source)).collect())
    }

    /// The machine's compiler, as the `cc` crate finds it. `CC` or `CXX` in the environment takes precedence.
    pub fn compiler(&self, is_cpp: bool) -> Result<cc::Tool> {
        let variable = if is_cpp { "CXX" } else { "CC" };
        let tool = cc::Build::new()
            .cpp(is_cpp)
            .std(if is_cpp { "c++17" } else { "c11" })
            .target(env!("HOB_TARGET"))
            .host(env!("HOB_HOST"))
            .opt_level(self.optimization)
            .debug(false)
            .out_dir(&self.output)
            .include(self.root.join("include"))
            .cargo_metadata(false)
            .cargo_warnings(false)
            .try_get_compiler()
            .map_err(|error| format!("no compiler was found: install GCC or Clang, or set {variable}: {error}"))?;
        if tool.is_like_msvc() {
            return Err(format!("this program needs GCC or Clang: set {variable} to one of them").into());
        }
        Ok(tool)
    }

    fn object(&self, source: &Path) -> PathBuf {
        self.output.join(format!("{}.o", source.file_name().unwrap_or_default().display()))
    }

    /// Runs as many compilers at a time as there are cores.
    fn compile_all(&self, sources: &[&PathBuf]) -> Result<()> {
        let (c, cpp) = (self.compiler(false)?, self.compiler(true)?);
        let any = if sources.iter().any(|source| is_cpp(source)) { &cpp } else { &c };
        eprintln!("compiling {} files of {} with {}", sources.len(), self.name, any.path().display());
        let next = AtomicUsize::new(0);
        let work = || -> Result<()> {
            while let Some(source) = sources.get(next.fetch_add(1, Ordering::Relaxed)) {
                let mut compile = if is_cpp(source) { cpp.to_command() } else { c.to_command() };
                compile.args(self.flags).args(self.product.compile_flags());
                compile.arg("-c").arg(source).arg("-o").arg(self.object(source));
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
}

/// The folder of the libraries that cargo built for this program. Programs and tests have different folders.
pub fn libraries() -> Result<PathBuf> {
    let program = env::current_exe()?;
    let folder = program.parent().ok_or("this program has no folder")?;
    Ok(if folder.ends_with("deps") { folder.to_owned() } else { folder.join("deps") })
}

/// A command that runs `program` with the library that cargo has just built. Linux searches `LD_LIBRARY_PATH` before the
/// path in the program, and cargo's value of it may name a folder with an earlier library.
pub fn command(program: &Path) -> Result<Command> {
    let others = env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let all = env::join_paths(std::iter::once(libraries()?).chain(env::split_paths(&others)))?;
    let mut command = Command::new(program);
    command.env("LD_LIBRARY_PATH", all);
    Ok(command)
}

/// Ends the process with the exit status of a program, or with an error message.
pub fn end(name: &str, outcome: Result<i32>) -> ! {
    match outcome {
        Ok(status) => exit(status),
        Err(error) => {
            eprintln!("{name}: {error}");
            exit(1);
        }
    }
}

/// Replaces this process, so that signals and the exit status need no forwarding.
#[cfg(unix)]
pub fn become_program(command: &mut Command) -> Result<i32> {
    use std::os::unix::process::CommandExt;
    let error = command.exec();
    Err(format!("{} cannot be run: {error}", command.get_program().display()).into())
}

#[cfg(not(unix))]
pub fn become_program(command: &mut Command) -> Result<i32> {
    Ok(command.status()?.code().unwrap_or(1))
}

/// The files of a folder with an extension, ordered by name.
pub fn files_with_extension(folder: &Path, extension: &str) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))? {
        let path = entry?.path();
        if path.extension() == Some(OsStr::new(extension)) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn succeed(command: &mut Command, what: &str) -> Result<()> {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{what} failed ({status})").into()),
        Err(error) => Err(format!("the compiler {} cannot be run: {error}", command.get_program().display()).into()),
    }
}

fn is_cpp(source: &Path) -> bool {
    source.extension() == Some(OsStr::new("cpp"))
}

fn modified(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|data| data.modified()).ok()
}
