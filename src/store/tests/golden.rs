//! Byte-for-byte tests of a segment and its snapshot. `docs/formats.md` shows these bytes, and directories of older
//! versions contain them, so they must not change.

use super::super::fault_io::FaultDisk;
use super::super::{Compression, Name, Options, Store};
use super::*;

const PLAIN: &[u8] = b"as it is";
const REPEATED: [u8; 64] = [b'r'; 64];

fn key(byte: u8) -> Name {
    Name { kind: 1, environment: 7, key: [byte; 32] }
}

fn fixture(extension: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/store");
    folder.join(format!("6553f100009e3779.{extension}"))
}

fn dump(bytes: &[u8]) -> String {
    let mut dump = String::new();
    for (line, bytes) in bytes.chunks(16).enumerate() {
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x} ")).collect();
        let plain = |byte: &u8| if (0x20..0x7f).contains(byte) { char::from(*byte) } else { '.' };
        let text: String = bytes.iter().map(plain).collect();
        dump += &format!("{:04x}  {hex:<48} {text}\n", line * 16);
    }
    dump
}

/// `UPDATE=1` rewrites the files after an intended change of the format.
#[test]
fn segments_and_snapshots_match_the_document() {
    let disk = FaultDisk::default();
    let mut store = open(&disk.process(), Options { compression: Compression::Lz4, ..options() });
    store.put(&key(0x0a), 1200, PLAIN).unwrap();
    store.put(&key(0x0b), 800, &REPEATED).unwrap();
    store.put(&key(0x0c), 0, b"removed").unwrap();
    wait(60);
    store.touch(&[key(0x0a)]).unwrap();
    store.remove(&key(0x0c)).unwrap();
    store.seal().unwrap();
    let document = include_str!("../../../docs/formats.md");
    for extension in ["seg", "idx"] {
        let paths = with_extension(&disk, extension);
        let bytes = disk.read(&paths[0]).unwrap();
        let fixture = fixture(extension);
        assert_eq!((paths.len(), paths[0].file_name()), (1, fixture.file_name()));
        if std::env::var_os("UPDATE").is_some() {
            std::fs::create_dir_all(fixture.parent().unwrap()).unwrap();
            std::fs::write(&fixture, &bytes).unwrap();
        }
        let dump = dump(&bytes);
        assert!(document.contains(&dump), "docs/formats.md should show\n{dump}");
        assert!(std::fs::read(&fixture).unwrap() == bytes, "{fixture:?} should be\n{dump}");
    }
}

#[test]
fn files_of_older_versions_are_served() {
    let [segment, snapshot] = ["seg", "idx"].map(|extension| std::fs::read(fixture(extension)).unwrap());
    for snapshot in [None, Some(snapshot)] {
        let mut store = Store::from_bytes(segment.clone(), snapshot, options()).unwrap();
        assert_eq!(get(&mut store, &key(0x0a)).as_deref(), Some(PLAIN));
        assert_eq!(get(&mut store, &key(0x0b)).as_deref(), Some(&REPEATED[..]));
        assert_eq!(get(&mut store, &key(0x0c)), None);
        let meta = store.meta(&key(0x0a)).unwrap();
        assert_eq!((meta.build_us, meta.uses, u64::from(meta.last_used)), (1200, 2, now() + 60));
        assert_eq!((store.statistics().values, store.statistics().damaged), (2, 0));
    }
}
