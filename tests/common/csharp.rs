//! Compiles C# with mcs and runs it on Mono, or on CoreCLR.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::cpp::{is_installed, output, root, run, skip};

/// Whether a compiler and a runtime are installed. If not, the test is skipped.
pub fn is_available() -> bool {
    is_installed("mcs", "mono-mcs libmono-system-core4.0-cil") && is_installed("mono", "mono-runtime")
}

/// All C# sources of a folder and the folders in it, ordered by path. Paths are relative to the repository.
pub fn sources(folder: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let list = std::fs::read_dir(root().join(folder)).unwrap_or_else(|why| panic!("cannot list {folder}: {why}"));
    for entry in list {
        let path = Path::new(folder).join(entry.expect("an entry can be read").file_name());
        if root().join(&path).is_dir() {
            found.extend(sources(&path.to_string_lossy()));
        } else if path.extension().is_some_and(|found| found == "cs") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The sources of the C# classes, without their tests.
pub fn classes() -> Vec<PathBuf> {
    let is_test = |path: &Path| path.starts_with("bindings/csharp/tests");
    sources("bindings/csharp").into_iter().filter(|path| !is_test(path)).collect()
}

/// Compiles sources into an assembly, with warnings as errors. `arguments` are those of mcs.
pub fn compile(sources: &[PathBuf], assembly: &Path, arguments: &[&str]) {
    let folder = assembly.parent().expect("a file is in a folder");
    std::fs::create_dir_all(folder).unwrap_or_else(|why| panic!("cannot create {}: {why}", folder.display()));
    let target = if assembly.extension().is_some_and(|found| found == "dll") { "library" } else { "exe" };
    let mut command = Command::new("mcs");
    command.current_dir(root()).args(["-langversion:7.2", "-unsafe", "-warnaserror", "-optimize"]);
    command.arg(format!("-target:{target}")).arg(format!("-out:{}", assembly.display())).args(arguments);
    run(command.args(sources));
}

/// A runtime of assemblies.
pub enum Runtime {
    Mono,
    /// The path of `dotnet`.
    CoreClr(PathBuf),
}

impl Runtime {
    /// CoreCLR, of the Python package dotnetcore2, or of HOB_DOTNET. `None`: the test is skipped.
    pub fn coreclr() -> Option<Self> {
        let found = std::env::var_os("HOB_DOTNET").map(PathBuf::from).or_else(|| {
            let script = "import dotnetcore2.runtime as runtime; print(runtime.get_runtime_path())";
            let output = Command::new("python3").args(["-c", script]).output().ok()?;
            output.status.success().then(|| PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()))
        });
        if found.is_none() {
            skip("there is no CoreCLR: pip install dotnetcore2 distro, or set HOB_DOTNET to the path of dotnet");
        }
        found.map(Self::CoreClr)
    }

    /// A command that runs a program with a native library.
    pub fn command(&self, program: &Path, library: &Path) -> Command {
        let mut command = match self {
            Self::Mono => Command::new("mono"),
            Self::CoreClr(dotnet) => {
                let mut command = Command::new(dotnet);
                command.args(["exec", "--runtimeconfig"]).arg(runtime_config());
                // Without this variable it needs libicu.
                command.env("DOTNET_SYSTEM_GLOBALIZATION_INVARIANT", "1");
                command
            }
        };
        command.arg(program).env("LD_LIBRARY_PATH", library.parent().expect("a library is in a folder"));
        command
    }
}

/// A file that names the framework; a newer one of a machine with several serves as well.
pub fn runtime_config() -> PathBuf {
    let path = output().join("hobgoblin.runtimeconfig.json");
    let text = r#"{"runtimeOptions": {"rollForward": "LatestMajor",
        "framework": {"name": "Microsoft.NETCore.App", "version": "3.1.0"}}}"#;
    let written = std::fs::create_dir_all(output()).and_then(|()| std::fs::write(&path, text));
    written.unwrap_or_else(|why| panic!("cannot write {}: {why}", path.display()));
    path
}

/// A command that runs a program on Mono with a native library.
pub fn mono(program: &Path, library: &Path) -> Command {
    Runtime::Mono.command(program, library)
}

/// Runs a program on Mono with a native library. Panics with its output unless it succeeds.
pub fn run_mono(program: &Path, library: &Path) -> Output {
    run(&mut mono(program, library))
}
