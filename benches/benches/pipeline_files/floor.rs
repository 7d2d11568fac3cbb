//! The floor: reading and hashing the same bytes.

use std::fs::File;
use std::hash::Hasher;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Instant;

use rustix::time::{ClockId, clock_gettime};
use twox_hash::XxHash3_64;

/// Files with one of these endings, sorted.
pub fn files(directory: &Path, endings: &[&str]) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).expect("the directory was written");
    let paths = entries.map(|entry| entry.expect("it can be listed").path());
    let mut found: Vec<PathBuf> =
        paths.filter(|path| endings.iter().any(|ending| path.to_string_lossy().ends_with(ending))).collect();
    found.sort();
    found
}

/// Seconds of a piece of work.
#[derive(Clone, Copy)]
pub struct Seconds {
    /// By the clock, with the time that the disk takes.
    pub clock: f64,
    /// Of the processor.
    pub processor: f64,
}

/// Measures [`Seconds`].
pub struct Watch(Instant, f64);

fn processor() -> f64 {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    now.tv_sec as f64 + now.tv_nsec as f64 * 1e-9
}

impl Watch {
    pub fn begin() -> Self {
        Self(Instant::now(), processor())
    }

    pub fn read(&self) -> Seconds {
        Seconds { clock: self.0.elapsed().as_secs_f64(), processor: processor() - self.1 }
    }
}

/// Bytes of the files, and the time of reading and hashing them.
pub fn read_and_hash(paths: &[PathBuf]) -> (u64, Seconds) {
    let (watch, mut bytes, mut buffer) = (Watch::begin(), 0, vec![0; 1 << 20]);
    for path in paths {
        let (mut file, mut hash) = (File::open(path).expect("it was written"), XxHash3_64::new());
        loop {
            let length = file.read(&mut buffer).expect("it can be read");
            if length == 0 {
                break;
            }
            hash.write(&buffer[..length]);
            bytes += length as u64;
        }
        std::hint::black_box(hash.finish());
    }
    (bytes, watch.read())
}

/// The floor of a merge and its time, as a line of a table. The least of two floors counts.
pub fn line(work: Seconds, floors: [Seconds; 2]) -> String {
    let floor = floors[0].processor.min(floors[1].processor);
    let Seconds { clock, processor } = work;
    format!("{processor:14.3} {clock:10.3} {floor:10.3} {:10.2}", processor / floor)
}

/// The head of a table of [`line`]s.
pub const HEAD: &str = "  processor, s   clock, s   floor, s      ratio";
