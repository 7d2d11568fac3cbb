//! The tool `hob`.

use std::env::{self, consts::EXE_SUFFIX};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::runner::Result;

/// Builds `hob` beside this program, with the profile of this program, and returns its path. A current one is not built
/// again.
pub fn tool() -> Result<PathBuf> {
    let program = env::current_exe()?;
    let mut folder = program.parent().ok_or("this program has no folder")?;
    if folder.ends_with("deps") {
        folder = folder.parent().ok_or("this program has no folder")?;
    }
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| env!("CARGO").into()));
    cargo.current_dir(Path::new(env!("CARGO_MANIFEST_DIR"))).args(["build", "--quiet", "-p", "hobgoblin-cli"]);
    let profile = folder.file_name().ok_or("this program has no folder")?;
    cargo.arg("--profile").arg(if profile == "debug" { "dev".as_ref() } else { profile });
    cargo.arg("--target-dir").arg(folder.parent().ok_or("this program has no target folder")?);
    let status = cargo.status().map_err(|error| format!("cargo cannot be run, to build hob: {error}"))?;
    let tool = folder.join(format!("hob{EXE_SUFFIX}"));
    if !status.success() || !tool.exists() {
        return Err(format!("building {} failed ({status})", tool.display()).into());
    }
    Ok(tool)
}
