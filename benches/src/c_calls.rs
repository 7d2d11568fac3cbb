//! Calls of the C functions in the packaged shared library, and their times.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

const ROUNDS: usize = 200;
const CALLS: u32 = 20_000;

/// The packaged shared library.
pub fn library() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the package is in a folder of the project");
    let target = root.join("target/packaged");
    let status = Command::new(env!("CARGO"))
        .current_dir(root)
        .args(["rustc", "-q", "-p", "hobgoblin", "--release", "--crate-type", "cdylib"])
        .args(["--features", "host-allocator,no-backtrace", "--target-dir"])
        .arg(&target)
        .status();
    assert!(status.expect("cargo runs").success(), "the library does not build");
    target.join("release").join(libloading::library_filename("hobgoblin"))
}

/// A kind of call, and the nanoseconds that it took in each round.
pub struct Row<'a> {
    /// Name of the call.
    pub name: &'static str,
    call: Box<dyn FnMut() + 'a>,
    nanoseconds: Vec<f64>,
}

impl<'a> Row<'a> {
    /// A call that was not timed yet.
    pub fn new(name: &'static str, call: impl FnMut() + 'a) -> Self {
        Self { name, call: Box::new(call), nanoseconds: Vec::new() }
    }

    fn round(&mut self) {
        let start = Instant::now();
        for _ in 0..CALLS {
            (self.call)();
        }
        self.nanoseconds.push(start.elapsed().as_secs_f64() * 1e9 / f64::from(CALLS));
    }

    /// First quartile. Slower rounds include other work of the machine.
    pub fn quartile(&mut self) -> f64 {
        self.nanoseconds.sort_by(f64::total_cmp);
        self.nanoseconds[self.nanoseconds.len() / 4]
    }
}

/// Time all rows in turns.
pub fn time(rows: &mut [Row<'_>]) {
    for _ in 0..ROUNDS {
        rows.iter_mut().for_each(Row::round);
    }
}
