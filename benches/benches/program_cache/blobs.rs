//! The values that every peer stores.

use std::path::Path;

use hobgoblin_bench::random::Random;

/// Sizes as in a real cache: many small values, a few large ones.
const MEDIAN: f64 = 4_800.0;
const MEAN: f64 = 9_835.0;
const MOST: f64 = 199_000.0;
const LEAST: f64 = 64.0;

/// Values in one block of memory, each with its key.
pub struct Blobs {
    bytes: Vec<u8>,
    /// Offset of each value, and the end of the last one.
    places: Vec<usize>,
    keys: Vec<[u8; 32]>,
}

impl Blobs {
    /// Random bytes of log-normal lengths. The spread gives them the mean above.
    pub fn generated(count: usize) -> Self {
        let mut random = Random(1);
        let normals: Vec<f64> = (0..count).map(|_| random.normal()).collect();
        let length = |normal: f64, spread: f64| (MEDIAN * (spread * normal).exp()).clamp(LEAST, MOST);
        let (mut low, mut high) = (0.0, 3.0);
        for _ in 0..40 {
            let spread = (low + high) / 2.0;
            let sum: f64 = normals.iter().map(|&normal| length(normal, spread)).sum();
            *if sum < MEAN * count as f64 { &mut low } else { &mut high } = spread;
        }
        let mut blobs = Self::empty();
        for &normal in &normals {
            let end = blobs.bytes.len() + length(normal, low) as usize;
            while blobs.bytes.len() < end {
                blobs.bytes.extend_from_slice(&random.bits().to_le_bytes());
            }
            blobs.bytes.truncate(end);
            blobs.close();
        }
        blobs
    }

    /// The files of a directory.
    pub fn read(directory: &Path) -> Result<Self, String> {
        let failed = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
        let listed = std::fs::read_dir(directory).and_then(Iterator::collect::<Result<Vec<_>, _>>);
        let mut paths: Vec<_> =
            listed.map_err(|error| failed(directory, error))?.iter().map(std::fs::DirEntry::path).collect();
        paths.sort();
        let mut blobs = Self::empty();
        for path in paths.iter().filter(|path| path.is_file()) {
            blobs.bytes.extend(std::fs::read(path).map_err(|error| failed(path, error))?);
            blobs.close();
        }
        if blobs.count() == 0 {
            return Err(format!("{}: no files in there", directory.display()));
        }
        Ok(blobs)
    }

    fn empty() -> Self {
        Self { bytes: Vec::new(), places: vec![0], keys: Vec::new() }
    }

    fn close(&mut self) {
        self.keys.push(key(self.keys.len() as u64));
        self.places.push(self.bytes.len());
    }

    pub fn count(&self) -> usize {
        self.keys.len()
    }

    /// Total bytes.
    pub fn total(&self) -> usize {
        self.bytes.len()
    }

    pub fn key(&self, index: usize) -> &[u8; 32] {
        &self.keys[index]
    }

    /// Offset of a value.
    pub fn place(&self, index: usize) -> usize {
        self.places[index]
    }

    /// Bytes of the longest value.
    pub fn longest(&self) -> usize {
        self.iter().map(|(_, value)| value.len()).max().unwrap_or(0)
    }

    pub fn value(&self, index: usize) -> &[u8] {
        &self.bytes[self.places[index]..self.places[index + 1]]
    }

    pub fn iter(&self) -> impl Iterator<Item = (&[u8; 32], &[u8])> {
        (0..self.count()).map(|index| (&self.keys[index], self.value(index)))
    }

    /// Number and sizes, as text.
    pub fn describe(&self) -> String {
        let mut lengths: Vec<usize> = self.iter().map(|(_, value)| value.len()).collect();
        lengths.sort_unstable();
        let (median, most) = (lengths[lengths.len() / 2], self.longest());
        let total = self.total() as f64 / 1e6;
        format!("{} blobs, {total:.1} MB, median {median} bytes, {most} at most", self.count())
    }
}

/// A key that looks like a digest.
pub fn key(number: u64) -> [u8; 32] {
    let mut random = Random(number);
    let mut key = [0; 32];
    key.chunks_exact_mut(8).for_each(|word| word.copy_from_slice(&random.bits().to_le_bytes()));
    key
}
