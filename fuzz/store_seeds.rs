//! Writes store directories as inputs of the fuzz target `store`, into the directory in its argument.

use std::path::Path;

use hobgoblin::store::fault_io::FaultDisk;
use hobgoblin::store::io::share;
use hobgoblin::store::{Compression, Name, Options, Store};

const DIRECTORY: &str = "/store";
/// The snapshot is in a pack; the other bits say that both files are there and get their checksums.
const PACKED: u8 = 15;

fn main() -> std::io::Result<()> {
    let out = std::env::args().nth(1).expect("give a directory for the seeds");
    std::fs::create_dir_all(&out)?;
    for (traits, is_sealed) in [(1, false), (7, true), (PACKED, true)] {
        for compression in [Compression::None, Compression::Lz4] {
            for segment_limit in [300, 100_000] {
                let input = input(traits, is_sealed, compression, segment_limit);
                std::fs::write(format!("{out}/{traits}-{compression:?}-{segment_limit}"), input)?;
            }
        }
    }
    Ok(())
}

/// A store with all kinds of records.
fn input(traits: u8, is_sealed: bool, compression: Compression, segment_limit: u64) -> Vec<u8> {
    let disk = FaultDisk::default();
    let options = Options { compression, segment_limit, ..Options::new(|| 1_600_000_000) };
    let mut store =
        Store::open(share(disk.process()).expect("there is memory"), Path::new(DIRECTORY), options).expect("it opens");
    let name = |number: u8| Name { kind: 1, environment: u64::from(number % 2), key: [number; 32] };
    for number in 0..6 {
        let value: Vec<u8> = (0..40 * number).map(|at| at / (number + 1)).collect();
        store.put(&name(number), 5, &value).expect("there is room");
    }
    store.touch(&[name(1), name(2)]).expect("there is room");
    store.remove(&name(3)).expect("there is room");
    store.put(&name(4), 5, b"newer").expect("there is room");
    store.clear(Some(0)).expect("there is room");
    store.put(&name(0), 5, b"after").expect("there is room");
    if is_sealed {
        store.seal().expect("there is room");
    }
    let segments = disk.files().into_iter().filter(|path| path.extension().is_some_and(|extension| extension == "seg"));
    let snapshot = |path: &Path| disk.read(&path.with_extension("idx")).unwrap_or_default();
    segments.flat_map(|path| pair(traits, &disk.read(&path).expect("listed"), &snapshot(&path))).collect()
}

/// A segment and its snapshot. The fuzz target corrects their checksums.
fn pair(traits: u8, segment: &[u8], snapshot: &[u8]) -> Vec<u8> {
    let length = |bytes: &[u8]| (bytes.len() as u16).to_le_bytes();
    [&[traits][..], &length(segment), &length(snapshot), segment, snapshot].concat()
}
