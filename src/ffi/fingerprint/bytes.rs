//! Fingerprints and their parts.

use std::ffi::{c_char, c_void};

use hobgoblin_macros::{element, entry};

use crate::base::{Result, try_push};
use crate::ffi::base::argument::{Argument, null};
use crate::ffi::base::result::hob_result;
use crate::fingerprint::{Fingerprint, Part};

// == Fingerprints ==

/// A fingerprint.
/// Compare two with hob_fingerprint_equal or memcmp.
#[element(size = 32, last = bytes)]
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct hob_fingerprint {
    /// The hash.
    pub bytes: [u8; 32],
}

/// A fingerprint that a caller has passed. Its hash reads it in words: with the alignment of words the compiler also
/// copies it in words, and the reads need not wait for several writes of bytes.
#[repr(align(8))]
pub struct PassedFingerprint {
    pub bytes: [u8; 32],
}

// SAFETY: reads as many bytes as the type has, which are bytes only.
unsafe impl Argument for hob_fingerprint {
    type Taken<'a> = PassedFingerprint;

    unsafe fn take<'a>(pointer: *const Self, what: &'static str) -> Result<Self::Taken<'a>> {
        if pointer.is_null() {
            return Err(null(what, "a hob_fingerprint, such as hob_fingerprint_hash_program makes"));
        }
        // SAFETY: by the contract of `take`.
        Ok(PassedFingerprint { bytes: unsafe { pointer.read_unaligned() }.bytes })
    }
}

impl From<Fingerprint> for hob_fingerprint {
    fn from(fingerprint: Fingerprint) -> Self {
        Self { bytes: fingerprint.0 }
    }
}

/// Computes the fingerprint of `size` bytes: their BLAKE3.
/// `data` may be NULL if `size` is 0. Threads: any.
#[entry(any)]
pub extern "C" fn hob_fingerprint_hash_bytes(
    data: *const c_void,
    size: usize,
    out_fingerprint: *mut hob_fingerprint,
) -> hob_result {
    out_fingerprint.write(Fingerprint::of(data).into());
    Ok(())
}

/// Returns 1 if two fingerprints are equal, 0 if they differ.
/// Returns 0 also if `a`, `b` or both are NULL. Threads: any.
#[entry(any, nullable(a, b))]
pub extern "C" fn hob_fingerprint_equal(a: *const hob_fingerprint, b: *const hob_fingerprint) -> u32 {
    Ok(a.zip(b).is_some_and(|(a, b)| a.bytes == b.bytes).into())
}

/// Writes a fingerprint as 64 hexadecimal digits in lower case, without a NUL.
/// `*out_size` receives the required size, 64. `buffer` NULL asks only for that. If `capacity` is too small, the result
/// is HOB_RESULT_BUFFER_TOO_SMALL and the buffer stays unchanged. Threads: any.
#[entry(any)]
pub extern "C" fn hob_fingerprint_get_hex(
    fingerprint: *const hob_fingerprint,
    buffer: *mut c_char,
    capacity: usize,
    out_size: *mut usize,
) -> hob_result {
    let digits = Fingerprint(fingerprint.bytes).hex();
    buffer.fill(digits.len(), |bytes| {
        bytes.copy_from_slice(&digits);
        Ok(digits.len())
    })
}

/// One part of a program key or an environment.
#[element(size = 24, last = digest)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_fingerprint_part {
    /// A hob_program_part or a hob_environment_part.
    pub kind: u32,
    /// The hob_shader_stage of a stage; 0 for all other kinds. Stages of one kind, such as several hit shaders, have
    /// the same index: their order tells them apart.
    pub index: u32,
    /// Size of the input in bytes.
    pub size: u64,
    /// The first 8 bytes of the input's hash. For a stage, that hash is hob_fingerprint_hash_bytes, or SHA-1 in that
    /// mode.
    pub digest: [u8; 8],
}

impl From<Part> for hob_fingerprint_part {
    fn from(part: Part) -> Self {
        Self { kind: part.kind, index: part.index, size: part.length, digest: part.digest }
    }
}

/// The parts that `make` reports.
pub fn parts(make: impl FnOnce(&mut dyn FnMut(Part)) -> Result<()>) -> Result<Vec<hob_fingerprint_part>> {
    let (mut made, mut outcome) = (Vec::new(), Ok(()));
    make(&mut |part| {
        if outcome.is_ok() {
            outcome = try_push(&mut made, hob_fingerprint_part::from(part));
        }
    })?;
    outcome.map(|()| made)
}

/// A number that the library knows, or one in the host's own range.
pub fn known(number: u32, last: u32, first_own: u32, what: &str) -> Result<u32> {
    if number > last && number < first_own {
        return Err(crate::base::error!(
            InvalidArgument,
            "{what} {number} is unknown: pass a value of the header, or your own from {first_own} up"
        ));
    }
    Ok(number)
}
