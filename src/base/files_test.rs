//! Tests of reading and replacing whole files.

use std::fs;
use std::path::PathBuf;

use super::*;
use crate::base::Code;

/// A directory for one test, removed at the end.
pub struct Directory(pub PathBuf);

impl Directory {
    pub fn new(name: &str) -> Self {
        let directory = std::env::temp_dir().join(format!("hobgoblin-files-{}-{name}", std::process::id()));
        _ = fs::remove_dir_all(&directory);
        fs::create_dir(&directory).unwrap();
        Self(directory)
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn replacing_a_file_keeps_no_temporary_file() {
    let directory = Directory::new("replace");
    let path = directory.path("profile.json");
    for bytes in [&b"first"[..], b"", b"second, longer"] {
        replace_file(&path, bytes).unwrap();
        assert_eq!(read_file(&path).unwrap(), bytes);
    }
    assert_eq!(directory.names(), ["profile.json"]);
    let long = directory.path(&"n".repeat(255));
    replace_file(&long, b"the longest name").unwrap();
    assert_eq!(read_file(&long).unwrap(), b"the longest name");
}

#[test]
fn directory_or_empty_path_is_rejected() {
    let directory = Directory::new("directory");
    let inner = directory.path("inner");
    fs::create_dir(&inner).unwrap();
    for error in [read_file(&inner).unwrap_err(), replace_file(&inner, b"x").unwrap_err()] {
        assert_eq!(error.code(), Code::Io);
        assert!(error.sentence().contains("a directory, not a regular file"), "{error}");
    }
    read_file("").unwrap_err();
    replace_file("", b"x").unwrap_err();
    replace_file(&directory.path("missing/file"), b"x").unwrap_err();
    assert_eq!(directory.names(), ["inner"]);
}

#[test]
fn oversized_file_is_rejected_before_allocation() {
    let directory = Directory::new("large");
    let path = directory.path("sparse");
    fs::File::create(&path).unwrap().set_len(1 << 40).unwrap();
    assert_eq!(read_file(&path).unwrap_err().code(), Code::LimitExceeded);
}

#[test]
fn concurrent_saves_never_mix_their_bytes() {
    let directory = Directory::new("savers");
    let path = directory.path("profile.json");
    let text = |saver: u8| vec![b'a' + saver; 10_000 + 7000 * usize::from(saver)];
    replace_file(&path, &text(0)).unwrap();
    std::thread::scope(|scope| {
        for saver in 0..3 {
            let path = &path;
            scope.spawn(move || (0..40).for_each(|_| replace_file(path, &text(saver)).unwrap()));
        }
        for _ in 0..200 {
            let read = read_file(&path).unwrap();
            assert!((0..3).any(|saver| read == text(saver)), "{} bytes", read.len());
        }
    });
    assert_eq!(directory.names(), ["profile.json"]);
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::time::{Duration, Instant};

    use super::*;

    fn fifo(path: &str) {
        assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
    }

    #[test]
    fn fifo_is_rejected_without_blocking() {
        let directory = Directory::new("fifo");
        let path = directory.path("profile.json");
        fifo(&path);
        let begin = Instant::now();
        for error in [read_file(&path).unwrap_err(), replace_file(&path, b"x").unwrap_err()] {
            assert!(error.sentence().contains("not a regular file"), "{error}");
        }
        // As if the FIFO had replaced the file after the check.
        open_without_waiting(&path).unwrap();
        assert!(begin.elapsed() < Duration::from_secs(5));
        assert_eq!(directory.names(), ["profile.json"]);
    }

    #[test]
    fn device_is_neither_read_nor_replaced() {
        assert_eq!(read_file("/dev/zero").unwrap_err().code(), Code::Io);
        assert_eq!(replace_file("/dev/null", b"x").unwrap_err().code(), Code::Io);
    }

    #[test]
    fn symlink_at_the_temporary_path_is_not_followed() {
        let directory = Directory::new("new-link");
        let (path, other) = (directory.path("profile.json"), directory.path("other"));
        fs::write(&other, b"somebody else's").unwrap();
        symlink(&other, directory.path("profile.json.new")).unwrap();
        replace_file(&path, b"profile").unwrap();
        assert_eq!(fs::read(&other).unwrap(), b"somebody else's");
        assert_eq!(read_file(&path).unwrap(), b"profile");
    }

    #[test]
    fn symlink_is_replaced_and_its_target_is_unchanged() {
        let directory = Directory::new("link");
        let (path, other) = (directory.path("profile.json"), directory.path("other"));
        fs::write(&other, b"somebody else's").unwrap();
        symlink(&other, &path).unwrap();
        assert_eq!(read_file(&path).unwrap(), b"somebody else's", "reading follows it");
        replace_file(&path, b"profile").unwrap();
        assert_eq!(fs::read(&other).unwrap(), b"somebody else's");
        assert!(fs::symlink_metadata(&path).unwrap().is_file());
        assert_eq!(read_file(&path).unwrap(), b"profile");
    }

    #[test]
    fn symlink_to_a_device_or_a_directory_is_not_replaced() {
        let directory = Directory::new("link-to-device");
        let path = directory.path("profile.json");
        for target in ["/dev/null", "."] {
            symlink(target, &path).unwrap();
            let error = replace_file(&path, b"profile").unwrap_err();
            assert!(error.sentence().contains("not a regular file"), "{error}");
            assert!(fs::symlink_metadata(&path).unwrap().is_symlink());
            fs::remove_file(&path).unwrap();
        }
        symlink("nothing", &path).unwrap();
        replace_file(&path, b"profile").unwrap();
        assert_eq!(directory.names(), ["profile.json"]);
    }

    #[test]
    fn replaced_file_keeps_its_permissions() {
        let directory = Directory::new("permissions");
        let path = directory.path("profile.json");
        replace_file(&path, b"old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        replace_file(&path, b"new").unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn read_only_directory_keeps_the_old_file() {
        let directory = Directory::new("read-only");
        let path = directory.path("profile.json");
        replace_file(&path, b"old").unwrap();
        fs::set_permissions(&directory.0, fs::Permissions::from_mode(0o500)).unwrap();
        // Root may write despite the permissions.
        let may_write = fs::write(directory.path("probe"), b"").is_ok();
        let replaced = replace_file(&path, b"new");
        fs::set_permissions(&directory.0, fs::Permissions::from_mode(0o700)).unwrap();
        if !may_write {
            assert_eq!(replaced.unwrap_err().code(), Code::Io);
            assert_eq!(read_file(&path).unwrap(), b"old");
            assert_eq!(directory.names(), ["profile.json"]);
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn unwritable_directory_is_an_error() {
        let error = replace_file("/proc/self/profile.json", b"x").unwrap_err();
        assert_eq!(error.code(), Code::Io);
        assert!(error.sentence().starts_with("cannot write beside '/proc/self/profile.json'"), "{error}");
    }

    #[test]
    fn failed_rename_removes_the_temporary_file() {
        let directory = Directory::new("rename");
        // The new file is written, but cannot be renamed to a path that only a directory can have.
        assert_eq!(replace_file(&directory.path("profile.json/"), b"x").unwrap_err().code(), Code::Io);
        assert!(directory.names().is_empty());
    }
}

#[test]
#[cfg(unix)]
fn too_many_open_files_have_advice() {
    // EMFILE and ENFILE of all Unix systems.
    for code in [24, 23] {
        let why = io_error("read", "a.json", &io::Error::from_raw_os_error(code));
        assert_eq!(why.code(), Code::Io);
        let parts = ["too many open files", "ulimit -n", &format!("(system error {code})")];
        assert!(parts.iter().all(|part| why.sentence().contains(part)), "{why}");
    }
    let other = io_error("read", "a.json", &io::Error::from_raw_os_error(5));
    assert!(!other.sentence().contains("open files"), "{other}");
}
