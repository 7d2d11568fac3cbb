//! Runs `hob` in a directory of its own.

pub mod recordings;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};
use std::{env, fs, process};

/// A directory that is deleted at the end.
pub struct Scratch(PathBuf);

impl Scratch {
    pub fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("hob-{}-{}", process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = env::temp_dir().join(name);
        fs::create_dir_all(&path).expect("a temporary directory");
        Self(path)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Run `hob` in this directory.
    pub fn hob(&self, arguments: &[&str]) -> Answer {
        let output = Command::new(env!("CARGO_BIN_EXE_hob")).args(arguments).current_dir(&self.0).output();
        Answer(output.expect("hob starts"))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The output of a run.
pub struct Answer(Output);

impl Answer {
    pub fn code(&self) -> Option<i32> {
        self.0.status.code()
    }

    pub fn out(&self) -> String {
        String::from_utf8_lossy(&self.0.stdout).into_owned()
    }

    pub fn errors(&self) -> String {
        String::from_utf8_lossy(&self.0.stderr).into_owned()
    }

    /// The answer as JSON.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.0.stdout).unwrap_or_else(|why| panic!("{why}: {}{}", self.out(), self.errors()))
    }

    /// The answer of a run that succeeded.
    #[track_caller]
    pub fn succeeded(self) -> Self {
        assert_eq!(self.code(), Some(0), "{}{}", self.out(), self.errors());
        self
    }

    /// The error of a run with this exit code.
    #[allow(dead_code, reason = "not every test has errors")]
    #[track_caller]
    pub fn failed(self, code: i32) -> String {
        assert_eq!(self.code(), Some(code), "{}{}", self.out(), self.errors());
        self.errors()
    }
}

/// The files of a directory and their bytes.
#[allow(dead_code, reason = "not every test compares files")]
pub fn contents(directory: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let files = fs::read_dir(directory).expect("a directory");
    let mut found: Vec<_> = files
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.is_file())
        .map(|path| (path.clone(), fs::read(&path).expect("a file")))
        .collect();
    found.sort();
    found
}
