//! The calls of a frame: get, put, and the uses around the driver's loading.

use std::ffi::c_void;
use std::mem::ManuallyDrop;

use hobgoblin_macros::{entry, open_enum, versioned};

use super::cache::{hob_program_cache, hob_use_id};
use crate::base::{Error, Id, Result, error, try_collect};
use crate::ffi::base::array::{Array, bytes};
use crate::ffi::base::guard::report;
use crate::ffi::base::result::hob_result;
use crate::ffi::base::structs::{Versioned, check_struct, write_struct};
use crate::ffi::fingerprint::bytes::hob_fingerprint;
use crate::program_cache::{Blob, Cache, Key, Program, Put, Refusal, UseToken, Verdict};

// == Get and put ==

/// A view of a cached program, valid until hob_blob_release.
/// It stays valid after the program is evicted or removed, and after the cache is destroyed. Begin with HOB_BLOB_INIT;
/// the library fills it in. Release it exactly once: do not copy the struct and release both.
#[versioned(size = 48, last = pin)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_blob {
    /// sizeof(hob_blob).
    pub struct_size: u32,
    /// hob_program.format of the put.
    pub format: u32,
    /// The binary, at a multiple of 16 bytes, as Vulkan requires of a shader's binary.
    pub data: *const c_void,
    /// Bytes of `data`.
    pub size: usize,
    /// hob_program.reflection of the put, at a multiple of 16 bytes.
    pub reflection: *const c_void,
    /// Bytes of `reflection`.
    pub reflection_size: usize,
    /// The library's: keeps the view valid. Must be NULL before the first call; do not write it after that.
    pub pin: *mut c_void,
}

/// Gets a program from memory, as a view.
/// Never waits for a file; a hit copies nothing and allocates nothing.
///
///     hob_blob blob = HOB_BLOB_INIT;
///     if (hob_program_cache_get(cache, &key, &blob) == HOB_RESULT_OK) {
///         use(&blob);                              /* begin_use and end_use: see the top of this file */
///         hob_blob_release(&blob);
///     }
///
/// HOB_RESULT_NOT_FOUND: it is not in memory; build it. It may still be on disk, which is then read in the background
/// for the next get. Without hob_program_cache_desc.executor only calls that wait read it. During start-up prefer
/// hob_program_cache_get_wait, or call hob_program_cache_wait_idle first. HOB_RESULT_BANNED: it is banned; build
/// it from source.
///
/// A view that `*blob` holds is released first: after a miss the blob is empty. Threads: shared.
#[entry(shared, hot)]
pub extern "C" fn hob_program_cache_get(
    cache: *const hob_program_cache,
    key: *const hob_fingerprint,
    blob: *mut hob_blob,
) -> hob_result {
    // SAFETY: the header's contract.
    let place = unsafe { EmptyBlob::at(blob) }?;
    place.fill(cache.get(&key.bytes).ok_or_else(|| missed(cache, &key.bytes))?);
    Ok(())
}

/// Gets a program from memory for a group, and moves it there.
/// As hob_program_cache_get. With HOB_EVICTION_GROUPS a page, level or material that uses a program of another one
/// makes it its own: pass its number as `group`. The program stays in that group while it is in memory. On disk it
/// keeps the group of its put. Threads: shared.
#[entry(shared)]
pub extern "C" fn hob_program_cache_get_for_group(
    cache: *const hob_program_cache,
    key: *const hob_fingerprint,
    group: u32,
    blob: *mut hob_blob,
) -> hob_result {
    // SAFETY: the header's contract.
    let place = unsafe { EmptyBlob::at(blob) }?;
    place.fill(cache.get_for(&key.bytes, Some(group)).ok_or_else(|| missed(cache, &key.bytes))?);
    Ok(())
}

/// Releases a view.
/// NULL, or a blob that holds none, is allowed. Threads: any; no other call may use the blob.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_blob_release(blob: *mut hob_blob) {
    if !blob.is_null() {
        // Without the guard, which would take half of the call's time: nothing here panics, computes with floats or
        // takes a lock of a cache. Therefore a blob can be released also inside a file function, where other calls are
        // refused. SAFETY: the header's contract.
        if let Err(why) = unsafe { EmptyBlob::at(blob) } {
            report(&why);
        }
    }
}

/// A program to be stored.
#[versioned(size = 72, last = reserved)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_program {
    /// sizeof(hob_program).
    pub struct_size: u32,
    /// The driver's format of `data`, such as the GLenum of glGetProgramBinary. The cache only stores it.
    pub format: u32,
    /// The binary. May be NULL if `size` is 0.
    pub data: *const c_void,
    /// Bytes of `data`. See memory_limit and disk_limit of hob_program_cache_desc.
    pub size: usize,
    /// Any bytes that the host wants back with the binary. May be NULL if `reflection_size` is 0.
    pub reflection: *const c_void,
    /// Bytes of `reflection`.
    pub reflection_size: usize,
    /// Fingerprints of the shaders that it was linked from, such as hob_fingerprint_hash_bytes of each source. While
    /// memory holds the program, hob_program_cache_get_shader_status reports them as known. May be NULL if
    /// `shader_count` is 0.
    pub shaders: *const hob_fingerprint,
    /// Number of `shaders`.
    pub shader_count: usize,
    /// Microseconds of compiling and linking, for HOB_EVICTION_COST_AWARE. 0 counts as 1.
    pub build_us: u64,
    /// The page, level or material that it belongs to, for HOB_EVICTION_GROUPS. hob_program_cache_get_for_group and
    /// hob_program_manager_link move it to another one.
    pub group: u32,
    /// Must be 0.
    pub reserved: u32,
}

/// Stores a copy of a program: in memory now, and on disk in the background.
/// Never waits for a file.
///
///     hob_program program = HOB_PROGRAM_INIT;
///     program.format = format;                     /* of glGetProgramBinary */
///     program.data = binary;
///     program.size = size;
///     program.build_us = build_us;
///     hob_program_cache_put(cache, &key, &program);
///
/// A second put of a key replaces the first. A banned program is not stored, and the result is HOB_RESULT_OK.
/// HOB_RESULT_LIMIT_EXCEEDED: it is larger than the memory limit; the program that was there stays. Threads: shared.
#[entry(shared)]
pub extern "C" fn hob_program_cache_put(
    cache: *const hob_program_cache,
    key: *const hob_fingerprint,
    program: *const hob_program,
) -> hob_result {
    // SAFETY: the fields are what the header says.
    let (data, reflection, shaders) = unsafe {
        (
            bytes(program.data, program.size, "data")?,
            bytes(program.reflection, program.reflection_size, "reflection")?,
            Array::new(program.shaders, 0, program.shader_count, "shaders")?,
        )
    };
    let stages = try_collect(shaders.iter().map(|shader| shader.bytes))?;
    let (format, cost_us, group) = (program.format, program.build_us, program.group);
    let program = Program { format, data, reflection, stages: &stages, cost_us, group };
    match cache.put(&key.bytes, &program)? {
        Put::Stored | Put::Replaced | Put::Refused(Refusal::Banned | Refusal::Exists) => Ok(()),
        Put::Refused(_) => Err(error!(
            LimitExceeded,
            "the program of {} bytes is larger than the memory limit: raise memory_limit",
            program.data.len()
        )),
    }
}

// == Uses ==

/// How a use of a program ended.
#[open_enum]
#[repr(C)]
pub enum hob_use_outcome {
    /// The GPU has finished the first frame drawn with it. One strike is removed.
    Ok = 0,
    /// The driver refused it. It is removed from memory and disk; a program that was put meanwhile stays.
    Rejected = 1,
    /// Nothing was drawn with it. The program and its strikes do not change.
    Unused = 2,
}

/// Begins a use: call it just before the driver gets the binary of `key`.
/// "Use" at the top of this file says when to end it, and the example there shows how. If the process crashes or is
/// killed before that, the key gets a strike. exit() and hob_program_cache_destroy end open uses without a strike.
///
/// HOB_RESULT_BANNED: the key is banned; build the program from source.
///
/// With a directory, writes 64 bytes to a file, on this thread. The first use also creates that file: docs/threads.md
/// says how long that may take. If that fails the use begins nevertheless, but cannot become a strike:
/// hob_program_cache_get_problem says why. Without a directory nothing is written, and there are no strikes. Threads:
/// shared.
#[entry(shared, hot)]
pub extern "C" fn hob_program_cache_begin_use(
    cache: *const hob_program_cache,
    key: *const hob_fingerprint,
    out_use: *mut hob_use_id,
) -> hob_result {
    let begun = cache.begin_use(&key.bytes)?;
    let Id { index1, generation } = begun.ok_or_else(|| banned(cache.strikes(&key.bytes).0))?.0;
    out_use.write(hob_use_id { index1, generation });
    Ok(())
}

/// Ends a use.
/// With a directory, writes 64 bytes to a file, and a second small file if a strike is removed. If a key has several
/// open uses, its record is cleared when the last one ends. HOB_RESULT_NOT_FOUND: the use has ended already, or belongs
/// to another cache.
///
/// HOB_USE_OUTCOME_REJECTED removes the program. A program that was put since the use began stays. If memory had no
/// program of the key when the use began, a newer put is removed, too. Threads: shared.
#[entry(shared, hot)]
pub extern "C" fn hob_program_cache_end_use(
    cache: *const hob_program_cache,
    use_id: hob_use_id,
    outcome: hob_use_outcome,
) -> hob_result {
    let hob_use_id { index1, generation } = use_id;
    cache.end_use(UseToken(Id { index1, generation }), outcome.verdict()?)
}

impl hob_use_outcome {
    /// The verdict of the safe core.
    pub fn verdict(self) -> Result<Verdict> {
        Ok(match self.check("outcome")? {
            hob_use_outcome::Rejected => Verdict::Rejected,
            hob_use_outcome::Unused => Verdict::Unused,
            _ => Verdict::Accepted,
        })
    }
}

const _: () = assert!(size_of::<Blob>() == size_of::<*mut c_void>());

impl hob_blob {
    /// A view without a pin, valid as long as the blob.
    #[inline]
    pub fn view(blob: &Blob) -> Self {
        let (data, reflection) = (blob.data(), blob.reflection());
        Self {
            format: blob.format(),
            data: data.as_ptr().cast(),
            size: data.len(),
            reflection: reflection.as_ptr().cast(),
            reflection_size: reflection.len(),
            ..Self::defaults()
        }
    }
}

/// A caller's hob_blob that holds no view.
pub struct EmptyBlob(*mut hob_blob);

impl EmptyBlob {
    /// Releases the view that the caller's blob holds.
    ///
    /// # Safety
    /// `blob` meets the contract of [`check_struct`], and is writable until [`EmptyBlob::fill`]. Its `pin` is NULL, or
    /// from `fill`.
    #[inline(always)]
    pub unsafe fn at(blob: *mut hob_blob) -> Result<Self> {
        // The pin is the last field of the first release, so every caller has it and the fields before it.
        const { assert!(std::mem::offset_of!(hob_blob, pin) + size_of::<*mut c_void>() == hob_blob::FIRST_SIZE) };
        // SAFETY: by this function's contract; every caller has the pin.
        unsafe {
            check_struct(blob, "blob")?;
            let pin = (&raw const (*blob).pin).read_unaligned();
            if !pin.is_null() {
                write_struct(blob, &hob_blob::defaults());
                // The blob's only pointer, which was removed from the caller's struct.
                drop((&raw const pin).cast::<Blob>().read());
            }
        }
        Ok(Self(blob))
    }

    /// Writes a view into the caller's blob.
    #[inline]
    pub fn fill(self, blob: Blob) {
        // A field that a later release appends needs a line below, for callers that know it. The test of grown structs
        // appends one that stays 0.
        const { assert!(cfg!(feature = "appended-fields") || hob_blob::FIRST_SIZE == size_of::<hob_blob>()) };
        let hob_blob { format, data, size, reflection, reflection_size, .. } = hob_blob::view(&blob);
        let (to, blob) = (self.0, ManuallyDrop::new(blob));
        // SAFETY: by the contract of `at`, which has checked the place: every caller has these fields. A blob is one
        // pointer, which the view owns from here on. Field by field: a copy of the whole struct would wait until its
        // fields have reached the cache.
        unsafe {
            if (&raw const (*to).struct_size).read_unaligned() as usize != size_of::<hob_blob>() {
                // Fields that this library does not know are 0.
                write_struct(to, &hob_blob::defaults());
            }
            (&raw mut (*to).format).write_unaligned(format);
            (&raw mut (*to).data).write_unaligned(data);
            (&raw mut (*to).size).write_unaligned(size);
            (&raw mut (*to).reflection).write_unaligned(reflection);
            (&raw mut (*to).reflection_size).write_unaligned(reflection_size);
            (&raw mut (*to).pin).write_unaligned((&raw const blob).cast::<*mut c_void>().read());
        }
    }
}

/// The reason of a miss.
#[cold]
pub fn missed(cache: &Cache, key: &Key) -> Error {
    match cache.strikes(key) {
        (strikes, true) => banned(strikes),
        _ => error!(NotFound, "the program is not in memory: build it, and put it"),
    }
}

#[cold]
fn banned(strikes: u32) -> Error {
    error!(Banned, "the program is banned: the process ended {strikes} times during its use; build it from source")
}
