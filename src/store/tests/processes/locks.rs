//! Locks while the process starts others.

use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use super::*;
use crate::store::io::{Io, OsIo};

/// A new process has copies of the descriptors of its parent until it runs its program.
#[test]
fn released_lock_is_free_at_once_while_processes_start() {
    let scratch = Scratch::new("locks");
    std::fs::create_dir_all(&scratch.0).expect("nothing is in the way");
    let path = scratch.0.join("a.lock");
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !is_done.load(Ordering::Relaxed) {
                    Command::new("true").status().expect("it starts");
                }
            });
        }
        let failed = (0..20_000).filter(|_| OsIo.try_lock(&path).expect("it can be locked").is_none()).count();
        is_done.store(true, Ordering::Relaxed);
        assert_eq!(failed, 0);
    });
}
