//! The names in a directory, and C strings of paths, allocated fallibly. The standard library's `read_dir` aborts the
//! process when out of memory, and so do its file functions with a path of 384 bytes or more.

use std::ffi::OsString;
use std::io;
use std::path::Path;

/// The names of the entries of a directory, without `.` and `..`. Fails with `OutOfMemory` when out of memory.
pub fn list_directory(directory: &Path) -> io::Result<Vec<OsString>> {
    let mut names = Vec::new();
    imp::each_entry(directory, |name| {
        let mut copy = OsString::new();
        names.try_reserve(1).and_then(|()| copy.try_reserve_exact(name.len()))?;
        copy.push(name);
        names.push(copy);
        Ok(())
    })?;
    Ok(names)
}

#[cfg(unix)]
pub use imp::{OpenDirectory, with_c_path};

#[cfg(unix)]
mod imp {
    use std::ffi::{CStr, OsStr};
    use std::io::{self, ErrorKind};
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;
    use std::ptr::NonNull;

    /// The longest path that the system accepts, with its NUL.
    const LONGEST_PATH: usize = libc::PATH_MAX as usize;

    /// Call `body` with the path as a C string, without an allocation.
    pub fn with_c_path<T>(path: &Path, body: impl FnOnce(&CStr) -> io::Result<T>) -> io::Result<T> {
        let (bytes, mut buffer) = (path.as_os_str().as_bytes(), [0; LONGEST_PATH]);
        if bytes.len() >= LONGEST_PATH {
            return Err(io::Error::from_raw_os_error(libc::ENAMETOOLONG));
        }
        buffer[..bytes.len()].copy_from_slice(bytes);
        body(CStr::from_bytes_with_nul(&buffer[..=bytes.len()]).map_err(|_| ErrorKind::InvalidInput)?)
    }

    /// An open directory, whose names are read one by one.
    pub struct OpenDirectory(NonNull<libc::DIR>);

    // SAFETY: one thread at a time reads it, whichever that is.
    #[allow(unsafe_code, reason = "a pointer that only its owner uses")]
    unsafe impl Send for OpenDirectory {}

    impl Drop for OpenDirectory {
        #[allow(unsafe_code, reason = "the directory's only owner")]
        fn drop(&mut self) {
            // SAFETY: `opendir` returned it, and nothing else closes it.
            unsafe { libc::closedir(self.0.as_ptr()) };
        }
    }

    #[allow(unsafe_code, reason = "the system's list of a directory")]
    impl OpenDirectory {
        /// Open a directory.
        pub fn new(directory: &Path) -> io::Result<Self> {
            // SAFETY: a C string.
            let open = with_c_path(directory, |path| Ok(NonNull::new(unsafe { libc::opendir(path.as_ptr()) })))?;
            open.map(Self).ok_or_else(io::Error::last_os_error)
        }

        /// The next name, except `.` and `..`.
        pub fn next_name(&mut self) -> io::Result<Option<&OsStr>> {
            loop {
                // SAFETY: this thread's errno, which alone tells a failure from the end.
                unsafe { *errno() = 0 };
                // SAFETY: the directory is open, and no other thread reads it.
                let Some(entry) = NonNull::new(unsafe { libc::readdir(self.0.as_ptr()) }) else {
                    let why = io::Error::last_os_error();
                    return if why.raw_os_error() == Some(0) { Ok(None) } else { Err(why) };
                };
                // SAFETY: a C string that is valid until the next `readdir`. The entry may be shorter than its type, so
                // no reference to all of it is formed.
                let name = unsafe { CStr::from_ptr((&raw const (*entry.as_ptr()).d_name).cast()) }.to_bytes();
                if name != b"." && name != b".." {
                    return Ok(Some(OsStr::from_bytes(name)));
                }
            }
        }
    }

    /// Call `each` with the name of every entry.
    pub fn each_entry(directory: &Path, mut each: impl FnMut(&OsStr) -> io::Result<()>) -> io::Result<()> {
        let mut open = OpenDirectory::new(directory)?;
        while let Some(name) = open.next_name()? {
            each(name)?;
        }
        Ok(())
    }

    #[allow(unsafe_code, reason = "the system's errno")]
    unsafe fn errno() -> *mut libc::c_int {
        // SAFETY: has no conditions.
        unsafe {
            #[cfg(any(target_os = "linux", target_os = "emscripten", target_os = "l4re", target_os = "hurd"))]
            return libc::__errno_location();
            #[cfg(any(target_os = "android", target_os = "netbsd", target_os = "openbsd"))]
            return libc::__errno();
            #[cfg(any(target_vendor = "apple", target_os = "freebsd"))]
            return libc::__error();
        }
    }
}

#[cfg(not(unix))]
mod imp {
    use std::ffi::OsStr;
    use std::fs;
    use std::io;
    use std::path::Path;

    /// As on Unix, but the standard library aborts the process when out of memory.
    pub fn each_entry(directory: &Path, mut each: impl FnMut(&OsStr) -> io::Result<()>) -> io::Result<()> {
        fs::read_dir(directory)?.try_for_each(|entry| each(&entry?.file_name()))
    }
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;

    use super::*;
    use crate::base::files::tests::Directory;
    use crate::testing::allocator::{allocations, with_allowance};

    #[test]
    fn directory_is_listed_like_the_standard_library_does() {
        let scratch = Directory::new("listing");
        assert_eq!(list_directory(&scratch.0).expect("it is listed"), Vec::<OsString>::new());
        for n in 0..300 {
            std::fs::write(scratch.0.join(format!("entry {n}")), []).expect("it is written");
        }
        let mut expected: Vec<_> =
            std::fs::read_dir(&scratch.0).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        let mut listed = list_directory(&scratch.0).expect("it is listed");
        listed.sort();
        expected.sort();
        assert_eq!(listed, expected);
        let missing = list_directory(&scratch.0.join("missing")).map_err(|why| why.kind());
        assert_eq!(missing, Err(ErrorKind::NotFound));
        let file = list_directory(&scratch.0.join("entry 1")).map_err(|why| why.kind());
        assert_eq!(file, Err(ErrorKind::NotADirectory));
    }

    #[cfg(unix)]
    #[test]
    fn listing_without_memory_is_an_error() {
        let scratch = Directory::new("listing-memory");
        for n in 0..30 {
            std::fs::write(scratch.0.join(format!("entry {n}")), []).expect("it is written");
        }
        let all = allocations(|| drop(list_directory(&scratch.0)));
        assert!(all > 30);
        for n in 0..all as usize {
            let listed = with_allowance(n, || list_directory(&scratch.0).map_err(|why| why.kind()));
            assert_eq!(listed, Err(ErrorKind::OutOfMemory), "with {n} allocations");
        }
    }

    #[cfg(unix)]
    #[test]
    fn c_path_rejects_a_nul_and_a_path_that_is_too_long() {
        let length = |path: &str| with_c_path(Path::new(path), |path| Ok(path.to_bytes().len()));
        assert_eq!(length("some/path").unwrap(), 9);
        assert_eq!(length("a\0b").map_err(|why| why.kind()), Err(ErrorKind::InvalidInput));
        let longest = length(&"x".repeat(libc::PATH_MAX as usize - 1)).unwrap();
        assert_eq!(longest, libc::PATH_MAX as usize - 1);
        let too_long = length(&"x".repeat(libc::PATH_MAX as usize)).unwrap_err();
        assert_eq!(too_long.raw_os_error(), Some(libc::ENAMETOOLONG));
    }
}
