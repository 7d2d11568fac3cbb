//! What the host has lent: a log, a clock, profiler zones, a file layer.
//!
//! A hook is a handful of words that may be exchanged at any time while other threads read it, so it is kept in a
//! sequence lock: readers never wait for each other, and a reader that was overtaken by a change reads again. Nothing
//! of it is on the heap, so that hooks outlive every handle and `dlclose` finds nothing.

use std::ffi::{CStr, c_void};
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering, fence};

use super::base::{hob_clock_hook, hob_file_hook, hob_log_hook, hob_str, hob_zone_hook};
use super::guard::call_host;
use crate::base::files::Files;
use crate::base::host::{Host, Level};
use crate::base::{Result, error};

/// A hook struct that fits into words.
///
/// # Safety
/// Plain data, of which any bytes are a valid value, at most `WORDS` words large.
pub unsafe trait Hook: Copy {
    /// The hook that is not there.
    const NONE: Self;
}

const WORDS: usize = 12;

/// The place of one hook.
pub struct Slot<T> {
    /// Even: stable. Odd: being written.
    version: AtomicUsize,
    words: [AtomicUsize; WORDS],
    hook: std::marker::PhantomData<fn() -> T>,
}

impl<T: Hook> Slot<T> {
    const fn new() -> Self {
        Self {
            version: AtomicUsize::new(0),
            words: [const { AtomicUsize::new(0) }; WORDS],
            hook: std::marker::PhantomData,
        }
    }

    /// Exchange the hook. Waits only for another thread that is doing the same.
    pub fn set(&self, hook: &T) {
        const { assert!(size_of::<T>() <= WORDS * size_of::<usize>()) };
        let mut words = [0usize; WORDS];
        // SAFETY: both are plain data and the words are as large as the hook at least.
        unsafe {
            ptr::copy_nonoverlapping(ptr::from_ref(hook).cast::<u8>(), words.as_mut_ptr().cast(), size_of::<T>())
        };
        let mut version = self.version.load(Ordering::Relaxed);
        loop {
            let stable = version & !1;
            match self.version.compare_exchange_weak(stable, stable + 1, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => break,
                Err(now) => version = now,
            }
            std::hint::spin_loop();
        }
        fence(Ordering::Release);
        for (place, word) in self.words.iter().zip(words) {
            place.store(word, Ordering::Relaxed);
        }
        self.version.fetch_add(1, Ordering::Release);
    }

    /// The hook as it is now.
    pub fn get(&self) -> T {
        loop {
            let before = self.version.load(Ordering::Acquire);
            if before == 0 {
                return T::NONE;
            }
            let words: [usize; WORDS] = std::array::from_fn(|n| self.words[n].load(Ordering::Relaxed));
            fence(Ordering::Acquire);
            if before.is_multiple_of(2) && self.version.load(Ordering::Relaxed) == before {
                // SAFETY: the words are those of one `set`, which copied a `T` into them.
                return unsafe { words.as_ptr().cast::<T>().read_unaligned() };
            }
            std::hint::spin_loop();
        }
    }
}

pub static LOG: Slot<hob_log_hook> = Slot::new();
pub static CLOCK: Slot<hob_clock_hook> = Slot::new();
pub static ZONES: Slot<hob_zone_hook> = Slot::new();
pub static FILES: Slot<hob_file_hook> = Slot::new();

/// The host behind the C hooks.
pub struct CHost;

impl Host for CHost {
    fn log(&self, level: Level, line: &str) {
        let hook = LOG.get();
        if let Some(write) = hook.write
            && level as u32 >= hook.minimum_level
        {
            // The line is at most 512 bytes; C readers may want a NUL.
            let mut text = [0u8; 513];
            let length = line.len().min(512);
            text[..length].copy_from_slice(&line.as_bytes()[..length]);
            let line = hob_str { data: text.as_ptr().cast(), len: length };
            call_host(|| write(hook.user_data, level as u32, line));
        }
    }

    fn now_ns(&self) -> Option<u64> {
        let hook = CLOCK.get();
        hook.now_ns.map(|now_ns| call_host(|| now_ns(hook.user_data)))
    }

    fn zone_begin(&self, name: &'static CStr) {
        let hook = ZONES.get();
        if let Some(begin) = hook.begin {
            call_host(|| begin(hook.user_data, name.as_ptr()));
        }
    }

    fn zone_end(&self) {
        let hook = ZONES.get();
        if let Some(end) = hook.end {
            call_host(|| end(hook.user_data));
        }
    }
}

/// Files through the host's file layer.
pub struct CFiles(pub hob_file_hook);

impl CFiles {
    fn file<R>(&self, path: &str, mode: u32, work: impl FnOnce(*mut c_void) -> Result<R>) -> Result<R> {
        let hook = &self.0;
        let (Some(open), Some(close)) = (hook.open, hook.close) else {
            return Err(error!(Unsupported, "the file hook has no open or no close: set both"));
        };
        let mut file = ptr::null_mut();
        check("open", path, call_host(|| open(hook.user_data, hob_str::from(path), mode, &raw mut file)))?;
        let answer = work(file);
        call_host(|| close(hook.user_data, file));
        answer
    }
}

/// The largest file that is read whole.
const LARGEST_FILE: u64 = 1 << 32;

impl Files for CFiles {
    fn read(&self, path: &str) -> Result<Vec<u8>> {
        let hook = &self.0;
        let (Some(size), Some(read)) = (hook.size, hook.read) else {
            return Err(error!(Unsupported, "the file hook has no size or no read: set both"));
        };
        self.file(path, super::base::HOB_FILE_READ, |file| {
            let mut length = 0u64;
            check("size", path, call_host(|| size(hook.user_data, file, &raw mut length)))?;
            if length > LARGEST_FILE {
                return Err(error!(LimitExceeded, "'{path}' of {length} bytes is too large to be read whole"));
            }
            let mut bytes = crate::base::try_filled(0u8, length as usize)?;
            let mut done = 0;
            while done < bytes.len() {
                let mut got = 0usize;
                let rest = &mut bytes[done..];
                let (at, into, room) = (done as u64, rest.as_mut_ptr().cast(), rest.len());
                check("read", path, call_host(|| read(hook.user_data, file, at, into, room, &raw mut got)))?;
                if got == 0 || got > room {
                    return Err(error!(Io, "the file hook read {got} of {room} bytes of '{path}' at {at}"));
                }
                done += got;
            }
            Ok(bytes)
        })
    }

    fn write(&self, path: &str, bytes: &[u8]) -> Result<()> {
        let hook = &self.0;
        let Some(write) = hook.write else {
            return Err(error!(Unsupported, "the file hook has no write: set it"));
        };
        self.file(path, super::base::HOB_FILE_WRITE, |file| {
            let mut done = 0;
            while done < bytes.len() {
                let mut put = 0usize;
                let rest = &bytes[done..];
                let (at, from, size) = (done as u64, rest.as_ptr().cast(), rest.len());
                check("write", path, call_host(|| write(hook.user_data, file, at, from, size, &raw mut put)))?;
                if put == 0 || put > size {
                    return Err(error!(Io, "the file hook wrote {put} of {size} bytes of '{path}' at {at}"));
                }
                done += put;
            }
            match hook.sync {
                Some(sync) => check("sync", path, call_host(|| sync(hook.user_data, file))),
                None => Ok(()),
            }
        })
    }

    fn rename(&self, from: &str, to: &str) -> Result<()> {
        let hook = &self.0;
        let Some(rename) = hook.rename else {
            return Err(error!(Unsupported, "the file hook has no rename: set it"));
        };
        check("rename", from, call_host(|| rename(hook.user_data, hob_str::from(from), hob_str::from(to))))
    }

    fn remove(&self, path: &str) -> Result<()> {
        let hook = &self.0;
        let Some(remove) = hook.remove else {
            return Err(error!(Unsupported, "the file hook has no remove: set it"));
        };
        check("remove", path, call_host(|| remove(hook.user_data, hob_str::from(path))))
    }
}

fn check(verb: &str, path: &str, result: u32) -> Result<()> {
    if result == 0 { Ok(()) } else { Err(error!(Io, "the file hook could not {verb} '{path}' (its result: {result})")) }
}
