//! The floor: reading and hashing the same bytes.

use std::fs::File;
use std::hash::Hasher;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Instant;

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

/// Bytes of the files, and the seconds of reading and hashing them.
pub fn read_and_hash(paths: &[PathBuf]) -> (u64, f64) {
    let (start, mut bytes, mut buffer) = (Instant::now(), 0, vec![0; 1 << 20]);
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
    (bytes, start.elapsed().as_secs_f64())
}
