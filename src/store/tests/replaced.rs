//! Files of records that replace others: rights, neighbours, and leftovers.
#![cfg(unix)]

use std::path::Path;

use crate::store::io::{OsIo, share};
use crate::store::{LogKind, LogRecord, LogWriter};

#[test]
fn replaced_file_keeps_its_rights_and_neighbours_named_new_stay() {
    use std::os::unix::fs::PermissionsExt;
    let directory = std::env::temp_dir().join(format!("hobgoblin-replace-{}", std::process::id()));
    std::fs::create_dir_all(&directory).expect("space");
    let (path, neighbour) = (directory.join("x"), directory.join("x.new"));
    std::fs::write(&path, "old").expect("space");
    std::fs::write(&neighbour, "of the user").expect("space");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).expect("own file");
    let io = share(OsIo).expect("memory");
    let kind = LogKind { number: 9, version: 1, name: "a test" };
    let mut log = LogWriter::replace(&io, &path, kind).expect("space");
    // The unfinished file has the rights from its first byte on.
    assert_eq!(std::fs::metadata(log.path()).expect("there").permissions().mode() & 0o777, 0o600);
    log.push(&LogRecord { kind: 2, ..LogRecord::default() }, b"value").expect("space");
    log.finish().expect("space");
    assert_eq!(std::fs::metadata(&path).expect("there").permissions().mode() & 0o777, 0o600);
    assert_eq!(std::fs::read(&neighbour).expect("there"), b"of the user");
    drop(LogWriter::replace(&io, &path, kind).expect("space"));
    assert_eq!(std::fs::read_dir(&directory).expect("there").count(), 2, "an unfinished file is removed");
    let _ = std::fs::remove_dir_all(&directory);
}

/// Otherwise the empty file would refuse the next try.
#[test]
fn a_new_file_whose_handle_has_no_memory_is_removed() {
    use crate::store::io::Io;
    use crate::testing::allocator::with_allowance;
    let directory = std::env::temp_dir().join(format!("hobgoblin-no-handle-{}", std::process::id()));
    std::fs::create_dir_all(&directory).expect("a directory");
    let creates: [fn(&Path) -> bool; 2] =
        [|path| OsIo.create(path).is_ok(), |path| OsIo.create_named(path, path).is_ok()];
    for (name, create) in ["own", "named"].into_iter().zip(creates) {
        let path = directory.join(name);
        let mut failures = 0;
        while !with_allowance(failures, || create(&path)) {
            assert!(!path.exists(), "{name}, {failures} allocations");
            failures += 1;
        }
        assert!(failures > 0 && path.exists());
    }
    std::fs::remove_dir_all(&directory).expect("it is this test's");
}
