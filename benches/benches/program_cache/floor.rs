//! The limit of the machine: the same bytes to and from one file, and from memory to memory.

use std::fs::{self, File};
use std::hint::black_box;
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::blobs::Blobs;

/// Bytes per read of a sequential reader.
const STRIDE: usize = 1 << 20;

/// One file with all blobs.
pub struct Floor(PathBuf);

impl Floor {
    pub fn new(path: PathBuf) -> Self {
        Self(path)
    }

    /// Seconds to `write` each blob in turn.
    pub fn write(&self, blobs: &Blobs) -> io::Result<f64> {
        let _ = fs::remove_file(&self.0);
        let mut file = File::create_new(&self.0)?;
        let start = Instant::now();
        for (_, value) in blobs.iter() {
            file.write_all(value)?;
        }
        Ok(start.elapsed().as_secs_f64())
    }

    /// Seconds to read the file from start to end, from the disk.
    pub fn read(&self, drop_all: bool) -> io::Result<f64> {
        // The kernel cannot drop data that is not on the disk yet.
        File::open(&self.0)?.sync_all()?;
        forget(&self.0, drop_all)?;
        let mut buffer = vec![1; STRIDE];
        let start = Instant::now();
        let file = File::open(&self.0)?;
        let mut at = 0;
        loop {
            match file.read_at(&mut buffer, at)? {
                0 => return Ok(start.elapsed().as_secs_f64()),
                count => at += count as u64,
            }
            black_box(&mut buffer);
        }
    }

    /// Nanoseconds to read each blob in that order, from the page cache to one buffer, with its checksum.
    ///
    /// This is a verified get without a lookup.
    pub fn verified_reads(&self, blobs: &Blobs, order: &[usize]) -> io::Result<Vec<f64>> {
        let file = File::open(&self.0)?;
        let mut done = Ok(());
        let times = each_to_one_place(blobs, order, |_, from, place| {
            done = file.read_exact_at(place, from as u64);
            black_box(twox_hash::XxHash3_64::oneshot(place));
        });
        done.map(|()| times)
    }
}

/// Nanoseconds to copy each blob in that order to one buffer.
pub fn copies(blobs: &Blobs, order: &[usize]) -> Vec<f64> {
    each_to_one_place(blobs, order, |value, _, place| place.copy_from_slice(value))
}

fn each_to_one_place(blobs: &Blobs, order: &[usize], mut bring: impl FnMut(&[u8], usize, &mut [u8])) -> Vec<f64> {
    let mut place = vec![1_u8; blobs.longest()];
    let time = |&index: &usize| {
        let value = blobs.value(index);
        let start = Instant::now();
        bring(value, blobs.place(index), &mut place[..value.len()]);
        black_box(&mut place);
        start.elapsed().as_secs_f64() * 1e9
    };
    order.iter().map(time).collect()
}

/// Nanoseconds to read the clock.
pub fn clock() -> f64 {
    let times: Vec<f64> = (0..1000).map(|_| Instant::now().elapsed().as_secs_f64() * 1e9).collect();
    hobgoblin_bench::timing::median(&times)
}

/// Drops a file, or the files of a directory, from the page cache. Data that is not synced stays.
///
/// With `all` the kernel drops its whole page cache, file names included.
pub fn forget(path: &Path, all: bool) -> io::Result<()> {
    if all {
        fs::write("/proc/sys/vm/drop_caches", "3")?;
    }
    if path.is_dir() {
        return fs::read_dir(path)?.try_for_each(|entry| forget(&entry?.path(), false));
    }
    let file = File::open(path)?;
    rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed)?;
    Ok(())
}

/// Disk space of a directory, in bytes.
pub fn size(directory: &Path) -> io::Result<u64> {
    let mut sum = fs::metadata(directory)?.blocks() * 512;
    for entry in fs::read_dir(directory)? {
        sum += entry?.metadata()?.blocks() * 512;
    }
    Ok(sum)
}
