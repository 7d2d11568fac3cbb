//! Explanations of misses.

use std::ffi::c_char;

use hobgoblin_macros::{entry, open_enum, versioned};

use super::cache::hob_program_cache;
use super::material::program_material;
use crate::base::{Text, error};
use crate::ffi::base::result::hob_result;
use crate::ffi::base::structs::Versioned;
use crate::ffi::fingerprint::bytes::hob_fingerprint;
use crate::ffi::fingerprint::key::{hob_program_key_desc, with_program};
use crate::fingerprint::{Program, program};
use crate::program_cache::{Difference, Shown, Whereabouts, WhyMissed};

// == Experimental: Explaining misses ==

/// Where the described program most similar to a missed one is.
#[open_enum]
#[repr(C)]
pub enum hob_program_location {
    /// It was neither put nor asked for since the cache was created. It may be on disk.
    NotLoaded = 0,
    /// In memory.
    InMemory = 1,
    /// It was evicted from memory, or removed.
    Evicted = 2,
    /// On disk, for another driver, device or build. It is never loaded.
    OtherEnvironment = 3,
    /// Banned: see hob_program_cache_begin_use. It is never loaded.
    Banned = 4,
}

/// One input that differs between two programs.
/// Texts end in NUL. Long values, and values that are not text, are shown as their size and the beginning of their
/// hash.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_program_difference {
    /// The input, such as "vertex stage", "attribute position" or "driver".
    pub label: [c_char; 48],
    /// Its value in the known program; empty: it has no such input.
    pub was: [c_char; 72],
    /// Its value in the missed program; empty: it has no such input.
    pub is: [c_char; 72],
}

/// Why a program was missed.
/// An answer: set struct_size, or begin with HOB_PROGRAM_MISS_INIT.
#[versioned(size = 2096, last = sentence)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_program_miss {
    /// sizeof(hob_program_miss).
    pub struct_size: u32,
    /// Inputs that differ, also those beyond the room of `differences`. 0: the program is known.
    pub difference_count: u32,
    /// Inputs that are equal.
    pub common_count: u32,
    /// Where the program of `nearest` is.
    pub location: hob_program_location,
    /// The key of the known program with the most inputs in common.
    pub nearest: hob_fingerprint,
    /// The first differences: stages, attributes, defines, feedback, extra, then the fields of the environment.
    pub differences: [hob_program_difference; 8],
    /// The explanation as a sentence, ending in NUL.
    pub sentence: [c_char; 512],
}

impl From<&Difference> for hob_program_difference {
    fn from(found: &Difference) -> Self {
        let shown = |value: &Option<Shown>| characters(value.unwrap_or(Text::EMPTY).as_str());
        Self { label: characters(found.label.as_str()), was: shown(&found.there), is: shown(&found.here) }
    }
}

impl From<&WhyMissed> for hob_program_miss {
    fn from(why: &WhyMissed) -> Self {
        let mut miss = Self {
            difference_count: why.differences.len() as u32,
            common_count: why.in_common as u32,
            location: match why.whereabouts {
                Whereabouts::Elsewhere => hob_program_location::NotLoaded,
                Whereabouts::InMemory => hob_program_location::InMemory,
                Whereabouts::Left(_) => hob_program_location::Evicted,
                Whereabouts::OtherEnvironment => hob_program_location::OtherEnvironment,
                Whereabouts::Banned => hob_program_location::Banned,
            },
            nearest: hob_fingerprint { bytes: why.nearest },
            sentence: characters(Text::<511>::format(format_args!("{why}")).as_str()),
            ..Self::defaults()
        };
        miss.differences.iter_mut().zip(&why.differences).for_each(|(place, found)| *place = found.into());
        miss
    }
}

/// Text that ends in NUL, truncated to fit.
fn characters<const N: usize>(text: &str) -> [c_char; N] {
    let mut characters = [0; N];
    characters.iter_mut().zip(text.as_bytes().iter().take(N - 1)).for_each(|(to, from)| *to = *from as c_char);
    characters
}

/// Remembers the inputs of a program for hob_program_cache_explain_miss.
/// Call it once for each program that is built; a hob_program_manager does so itself. `key` NULL: the key that
/// hob_fingerprint_hash_program makes of `desc`. Does nothing unless hob_program_cache_desc.described_keys is set.
/// Never waits for a file. Threads: shared.
#[entry(shared, nullable(key), experimental)]
pub extern "C" fn hob_program_cache_describe(
    cache: *const hob_program_cache,
    key: *const hob_fingerprint,
    desc: *const hob_program_key_desc,
) -> hob_result {
    if cache.memory().described_keys() == 0 {
        return Ok(());
    }
    let describe = |mode, described: &Program<'_>| {
        let key = match key {
            Some(key) => key.bytes,
            None => program(mode, described, &mut |_| ())?.0,
        };
        cache.describe(&key, &program_material(described)?)
    };
    // SAFETY: the header's contract for the fields of the desc.
    unsafe { with_program(&desc, describe) }
}

/// Explains a miss: which inputs differ from the most similar program that is described.
///
///     hob_program_miss miss = HOB_PROGRAM_MISS_INIT;
///     if (hob_program_cache_explain_miss(cache, &key_desc, &miss) == HOB_RESULT_OK) puts(miss.sentence);
///
/// Programs of earlier processes and of other environments in the directory are included. Call it before
/// hob_program_cache_describe. HOB_RESULT_NOT_FOUND: no program is described. Compares with every described program: do
/// not call it every frame. Threads: shared.
#[entry(shared, experimental)]
pub extern "C" fn hob_program_cache_explain_miss(
    cache: *const hob_program_cache,
    desc: *const hob_program_key_desc,
    out_miss: *mut hob_program_miss,
) -> hob_result {
    let explain = |_, described: &Program<'_>| cache.why_missed(&program_material(described)?);
    // SAFETY: the header's contract for the fields of the desc.
    let why = unsafe { with_program(&desc, explain) }?;
    let why = why.ok_or_else(|| {
        error!(
            NotFound,
            "no program is described: set described_keys, and call hob_program_cache_describe for each build"
        )
    })?;
    out_miss.write((&why).into());
    Ok(())
}
