//! Faults of the disk, for tests of code that replaces a file.

use std::path::Path;

use crate::base::{Code, Result};
use crate::store::fault_io::FaultDisk;
use crate::store::io::{SharedIo, share};

fn with_old_file(path: &Path) -> FaultDisk {
    let disk = FaultDisk::default();
    disk.write(path, b"old");
    disk
}

/// Fails each call of `work`, one after the other. `path` has the old file or a new one after each, and the next work
/// removes what a failed one left.
pub fn fail_each_call(path: &Path, work: impl Fn(&SharedIo) -> Result<()>, is_new: impl Fn(&[u8]) -> bool) {
    for calls in 0.. {
        let disk = with_old_file(path);
        let process = disk.process();
        process.plan(|plan| plan.calls_to_error = Some(calls));
        let done = work(&share(process.clone()).expect("memory"));
        let file = disk.read(path).expect("there");
        assert!(file == b"old" || is_new(&file));
        assert!(done.is_err() || file != b"old");
        work(&share(disk.process()).expect("memory")).expect("no fault");
        assert_eq!(disk.files(), [path], "after {calls} calls");
        let mut is_over = false;
        process.plan(|plan| is_over = plan.calls_to_error.is_some());
        if is_over {
            assert!(calls > 20 && done.is_ok(), "{calls} calls");
            break;
        }
    }
}

/// Does `work` on disks of any size. If it fails, the disk has the old file at `path`, and no other file.
pub fn fill_the_disk(path: &Path, work: impl Fn(&SharedIo) -> Result<()>) {
    for space in (0..).step_by(1000) {
        let disk = with_old_file(path);
        disk.set_space(Some(space));
        let done = work(&share(disk.process()).expect("memory"));
        assert_eq!(disk.files(), [path]);
        let Err(why) = done else {
            assert!(space > 10_000);
            break;
        };
        assert_eq!((why.code(), disk.read(path)), (Code::Io, Some(b"old".to_vec())), "{why}");
    }
}
