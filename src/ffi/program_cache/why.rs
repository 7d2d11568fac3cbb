//! `program_cache.h`: why a program was missed.

use std::ffi::c_char;

use super::base::hob_result;
use super::fingerprint::{hob_fingerprint, hob_program_key_desc, with_program};
use super::guard::guard;
use super::handle::inspect;
use super::layout::{Versioned, checked_size, init_struct, write_struct};
use super::program_cache::{hob_program_cache, key_of};
use crate::base::{Result, Text, error};
use crate::fingerprint::{Environment, Program, program};
use crate::program_cache::{Difference, Material, Whereabouts, WhyMissed};

/// Differences that a hob_program_miss has room for.
const DIFFERENCES: usize = 8;

/// Where the program is that is most like one that was missed.
#[repr(C)]
pub enum hob_program_whereabouts {
    /// Nobody has put or asked for it since the cache was created: it may be on the disk.
    NotLoaded = 0,
    /// In memory.
    InMemory = 1,
    /// It has left memory.
    LeftMemory = 2,
    /// On the disk, for another driver, device or build, and so never loaded.
    OtherEnvironment = 3,
    /// Banned, and so never loaded: see hob_program_cache_use_begin.
    Banned = 4,
}

/// Something that is not the same in two programs. Texts end in NUL; long ones, and what is no text, are told by their
/// size and the beginning of their hash.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_program_difference {
    /// What it is, such as "vertex stage", "attribute position" or "driver".
    pub label: [c_char; 48],
    /// In the program that is known; empty: it has none.
    pub was: [c_char; 72],
    /// In the one that was missed; empty: it has none.
    pub is: [c_char; 72],
}

/// Why a program was missed. Filled in by the library; initialise with HOB_PROGRAM_MISS_INIT.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_program_miss {
    /// sizeof(hob_program_miss); set by hob_program_miss_init.
    pub struct_size: u32,
    /// Things that differ, also those of which `differences` has no room. 0: it is a known program.
    pub difference_count: u32,
    /// Things that are the same.
    pub common_count: u32,
    /// The hob_program_whereabouts of `nearest`.
    pub whereabouts: u32,
    /// The known program with most things in common.
    pub nearest: hob_fingerprint,
    /// The first of what differs: stages, attributes, defines, feedback, extra, then what the environment is made of.
    pub differences: [hob_program_difference; 8],
    /// All of it in words, ending in NUL.
    pub sentence: [c_char; 512],
}

impl hob_program_difference {
    const NONE: Self = Self { label: [0; 48], was: [0; 72], is: [0; 72] };
}

impl From<&Difference> for hob_program_difference {
    fn from(found: &Difference) -> Self {
        let shown = |value: &Option<crate::program_cache::Shown>| characters(value.unwrap_or(Text::EMPTY).as_str());
        Self { label: characters(found.label.as_str()), was: shown(&found.there), is: shown(&found.here) }
    }
}

// SAFETY: repr(C), begins with struct_size, integers.
unsafe impl Versioned for hob_program_miss {
    const NAME: &'static str = "hob_program_miss";
    const FIRST_SIZE: usize = size_of::<Self>();
    fn defaults() -> Self {
        Self {
            struct_size: size_of::<Self>() as u32,
            difference_count: 0,
            common_count: 0,
            whereabouts: hob_program_whereabouts::NotLoaded as u32,
            nearest: hob_fingerprint { bytes: [0; 32] },
            differences: [hob_program_difference::NONE; DIFFERENCES],
            sentence: [0; 512],
        }
    }
}

impl From<&WhyMissed> for hob_program_miss {
    fn from(why: &WhyMissed) -> Self {
        let mut miss = Self {
            difference_count: why.differences.len() as u32,
            common_count: why.in_common as u32,
            whereabouts: match why.whereabouts {
                Whereabouts::Elsewhere => hob_program_whereabouts::NotLoaded,
                Whereabouts::InMemory => hob_program_whereabouts::InMemory,
                Whereabouts::Left(_) => hob_program_whereabouts::LeftMemory,
                Whereabouts::OtherEnvironment => hob_program_whereabouts::OtherEnvironment,
                Whereabouts::Banned => hob_program_whereabouts::Banned,
            } as u32,
            nearest: hob_fingerprint { bytes: why.nearest },
            sentence: characters(Text::<511>::format(format_args!("{why}")).as_str()),
            ..Self::defaults()
        };
        miss.differences.iter_mut().zip(&why.differences).for_each(|(place, found)| *place = found.into());
        miss
    }
}

/// Text that ends in NUL, cut to fit.
fn characters<const N: usize>(text: &str) -> [c_char; N] {
    let mut characters = [0; N];
    characters.iter_mut().zip(text.as_bytes().iter().take(N - 1)).for_each(|(to, from)| *to = *from as c_char);
    characters
}

/// Fill in defaults; `size` is sizeof(hob_program_miss). Usually by HOB_PROGRAM_MISS_INIT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_program_miss_init(miss: *mut hob_program_miss, size: u32) -> hob_result {
    // SAFETY: the header's contract.
    guard(|| unsafe { init_struct(miss, size) })
}

/// Remember what the program of `key` was made from, for hob_program_cache_why_missed; NULL: of the key that
/// hob_fingerprint_program gives. Does nothing unless hob_program_cache_desc.described_keys says so. Once for each program
/// that is built; a hob_program_manager does it by itself. Waits for no file. Threads: shared.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_program_cache_describe(
    cache: *const hob_program_cache,
    key: *const hob_fingerprint,
    desc: *const hob_program_key_desc,
) -> hob_result {
    // SAFETY: the header's contract.
    unsafe {
        inspect(cache, |cache| {
            if cache.memory().described_keys() == 0 {
                return Ok(());
            }
            with_program(desc, |mode, described| {
                let key = if key.is_null() { program(mode, described, &mut |_| ())?.0 } else { key_of(key)? };
                cache.memory().describe(&key, &program_material(described)?)
            })
        })
    }
}

/// In what a program that was missed differs from the one most like it of those that are described, here or, if there is a
/// directory, by earlier processes, also for other environments. Ask before describing it. HOB_RESULT_NOT_FOUND: none is
/// described. Looks at each that is: not for every frame. Threads: shared.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_program_cache_why_missed(
    cache: *const hob_program_cache,
    desc: *const hob_program_key_desc,
    miss: *mut hob_program_miss,
) -> hob_result {
    // SAFETY: the header's contract.
    unsafe {
        inspect(cache, |cache| {
            checked_size(miss)?;
            let why = with_program(desc, |_, described| cache.memory().why_missed(&program_material(described)?))?;
            let none = || error!(NotFound, "no program is described: set described_keys, and describe what is built");
            write_struct(miss, &(&why.ok_or_else(none)?).into())
        })
    }
}

const STAGES: [&str; 14] = [
    "vertex stage",
    "tessellation control stage",
    "tessellation evaluation stage",
    "geometry stage",
    "fragment stage",
    "compute stage",
    "task stage",
    "mesh stage",
    "ray generation stage",
    "any hit stage",
    "closest hit stage",
    "miss stage",
    "intersection stage",
    "callable stage",
];

/// What a program is made from, in words.
pub fn program_material(described: &Program<'_>) -> Result<Material> {
    let mut material = Material::default();
    for stage in described.stages {
        match STAGES.get(stage.stage as usize) {
            Some(label) => material.push(label, stage.source)?,
            None => push_numbered(&mut material, "stage", stage.stage as usize, stage.source)?,
        }
    }
    for (place, attribute) in described.attributes.iter().enumerate() {
        // Of those with the same name the last counts.
        if described.attributes[place + 1..].iter().all(|later| later.name != attribute.name) {
            let label = Text::<64>::format(format_args!("attribute {}", attribute.name));
            push_text(&mut material, label.as_str(), format_args!("{}", attribute.location))?;
        }
    }
    if !described.defines.is_empty() {
        material.push("defines", described.defines)?;
    }
    if described.feedback.mode != 0 {
        push_text(&mut material, "feedback mode", format_args!("{}", described.feedback.mode))?;
    }
    for (place, varying) in described.feedback.varyings.iter().enumerate() {
        push_numbered(&mut material, "varying", place, varying.as_bytes())?;
    }
    if !described.extra.is_empty() {
        material.push("extra", described.extra)?;
    }
    Ok(material)
}

/// What an environment is made of, in words.
pub fn environment_material(environment: &Environment<'_>) -> Result<Material> {
    const APIS: [&str; 8] = ["unknown", "OpenGL", "OpenGL ES", "Vulkan", "D3D11", "D3D12", "Metal", "WebGPU"];
    let mut material = Material::default();
    match APIS.get(environment.api as usize) {
        Some(name) => material.push("api", name.as_bytes())?,
        None => push_text(&mut material, "api", format_args!("{}", environment.api))?,
    }
    push_text(&mut material, "pointer size", format_args!("{}", environment.pointer_size))?;
    let numbers = [("vendor id", u64::from(environment.vendor_id)), ("device id", environment.device_id.into())];
    for (label, number) in numbers.into_iter().filter(|(_, number)| *number != 0) {
        push_text(&mut material, label, format_args!("{number:#06x}"))?;
    }
    if environment.driver_version != 0 {
        push_text(&mut material, "driver version", format_args!("{}", environment.driver_version))?;
    }
    let uuids = [("device UUID", environment.device_uuid), ("driver UUID", environment.driver_uuid)];
    for (label, uuid) in uuids.into_iter().filter(|(_, uuid)| *uuid != [0; 16]) {
        push_text(&mut material, label, format_args!("{:032x}", u128::from_be_bytes(uuid)))?;
    }
    let texts = [
        ("vendor", environment.vendor),
        ("device", environment.device),
        ("driver", environment.driver),
        ("build", environment.build),
    ];
    for (label, text) in texts.into_iter().filter(|(_, text)| !text.is_empty()) {
        material.push(label, text.as_bytes())?;
    }
    Ok(material)
}

fn push_numbered(material: &mut Material, label: &str, number: usize, value: &[u8]) -> Result<()> {
    material.push(Text::<40>::format(format_args!("{label} {number}")).as_str(), value)
}

fn push_text(material: &mut Material, label: &str, value: std::fmt::Arguments<'_>) -> Result<()> {
    material.push(label, Text::<40>::format(value).as_str().as_bytes())
}
