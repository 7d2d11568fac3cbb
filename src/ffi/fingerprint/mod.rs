//! `fingerprint.h`: names of programs and environments.

use std::ffi::{c_char, c_void};

use super::base::{hob_result, hob_str};
use super::guard::guard;
use super::layout::{Array, Element, Out, Versioned, bytes, fill, init_struct, read_struct};
use crate::base::{Result, error, try_push};
use crate::fingerprint::{
    Attribute, Environment, Feedback, Fingerprint, MAX_ENTRIES, Mode, Part, Program, Stage, program,
};

/// A name of 256 bits: equal for equal inputs. Compare with hob_fingerprint_equal or memcmp.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct hob_fingerprint {
    pub bytes: [u8; 32],
}

/// How a program's name is made.
#[repr(C)]
pub enum hob_fingerprint_mode {
    /// BLAKE3 over framed parts.
    Blake3 = 0,
    /// SHA1(SHA1(vertex) + SHA1(fragment) + attributes), as in Chromium's "GPU Program Caching" note, and 12 zeros. One
    /// vertex and one fragment stage and attributes alone: all else is HOB_RESULT_UNSUPPORTED.
    Sha1 = 1,
}

/// Which stage a source is for. Numbers from HOB_SHADER_STAGE_USER on are the host's own.
#[repr(C)]
pub enum hob_shader_stage {
    Vertex = 0,
    TessellationControl = 1,
    TessellationEvaluation = 2,
    Geometry = 3,
    Fragment = 4,
    Compute = 5,
    Task = 6,
    Mesh = 7,
    RayGeneration = 8,
    AnyHit = 9,
    ClosestHit = 10,
    Miss = 11,
    Intersection = 12,
    Callable = 13,
    User = 64,
}

/// A graphics API. Numbers from HOB_GRAPHICS_API_USER on are the host's own.
#[repr(C)]
pub enum hob_graphics_api {
    Unknown = 0,
    Opengl = 1,
    OpenglEs = 2,
    Vulkan = 3,
    D3d11 = 4,
    D3d12 = 5,
    Metal = 6,
    Webgpu = 7,
    User = 64,
}

/// Kinds of a program's parts.
#[repr(C)]
pub enum hob_program_part {
    /// The source of a stage; the index is the hob_shader_stage.
    Stage = 1,
    /// The attribute bindings.
    Attributes = 2,
    Defines = 3,
    /// Feedback mode and varyings.
    Feedback = 4,
    Extra = 5,
}

/// Kinds of an environment's parts.
#[repr(C)]
pub enum hob_environment_part {
    Api = 1,
    VendorId = 2,
    DeviceId = 3,
    PointerSize = 4,
    DriverVersion = 5,
    DeviceUuid = 6,
    DriverUuid = 7,
    Vendor = 8,
    Device = 9,
    Driver = 10,
    Build = 11,
}

/// One part of a name, to find out later which part differs.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct hob_fingerprint_part {
    /// A hob_program_part or a hob_environment_part.
    pub kind: u32,
    /// Which of its kind.
    pub index: u32,
    /// Its bytes.
    pub length: u64,
    /// The beginning of its hash: of a stage, the first 8 bytes of hob_fingerprint_bytes (of SHA-1 in that mode).
    pub digest: [u8; 8],
}

impl From<Part> for hob_fingerprint_part {
    fn from(part: Part) -> Self {
        Self { kind: part.kind, index: part.index, length: part.length, digest: part.digest }
    }
}

// SAFETY: repr(C), integers.
unsafe impl Element for hob_fingerprint_part {
    const NAME: &'static str = "hob_fingerprint_part";
    const FIRST_SIZE: usize = 24;
}

/// The source of one stage.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_program_stage {
    /// A hob_shader_stage, or a number of the host's own from HOB_SHADER_STAGE_USER on.
    pub stage: u32,
    /// Zero.
    pub reserved: u32,
    /// Text or binary. May be NULL when `size` is 0.
    pub source: *const c_void,
    /// Bytes; SIZE_MAX: `source` is text that ends in NUL.
    pub size: usize,
}

impl Default for hob_program_stage {
    fn default() -> Self {
        Self { stage: 0, reserved: 0, source: std::ptr::null(), size: 0 }
    }
}

// SAFETY: repr(C), integers and a pointer.
unsafe impl Element for hob_program_stage {
    const NAME: &'static str = "hob_program_stage";
    const FIRST_SIZE: usize = 8 + 2 * size_of::<usize>();
}

/// Where an attribute is bound.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_attribute_binding {
    pub name: hob_str,
    pub location: u32,
    /// Zero.
    pub reserved: u32,
}

impl Default for hob_attribute_binding {
    fn default() -> Self {
        Self { name: hob_str::EMPTY, location: 0, reserved: 0 }
    }
}

// SAFETY: repr(C), integers and a pointer.
unsafe impl Element for hob_attribute_binding {
    const NAME: &'static str = "hob_attribute_binding";
    const FIRST_SIZE: usize = 8 + 2 * size_of::<usize>();
}

impl Default for hob_str {
    fn default() -> Self {
        Self::EMPTY
    }
}

// SAFETY: repr(C), a pointer and an integer.
unsafe impl Element for hob_str {
    const NAME: &'static str = "hob_str";
    const FIRST_SIZE: usize = 2 * size_of::<usize>();
}

/// All that a driver's compiler is given for a program. Of stages, attributes and varyings there may be 1024 each.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_program_key_desc {
    /// sizeof(hob_program_key_desc); set by hob_program_key_desc_init.
    pub struct_size: u32,
    /// A hob_fingerprint_mode. Default HOB_FINGERPRINT_MODE_BLAKE3.
    pub mode: u32,
    /// At least one stage; their order counts.
    pub stages: *const hob_program_stage,
    /// sizeof(hob_program_stage), or of the host's struct that begins with one.
    pub stage_stride: usize,
    pub stage_count: usize,
    /// In any order. Of those with the same name the last counts, as for glBindAttribLocation.
    pub attributes: *const hob_attribute_binding,
    /// sizeof(hob_attribute_binding), or of the host's struct that begins with one.
    pub attribute_stride: usize,
    pub attribute_count: usize,
    /// Any bytes; none is the same as empty.
    pub defines: *const c_void,
    pub defines_size: usize,
    /// What transform feedback captures, in this order.
    pub varyings: *const hob_str,
    /// sizeof(hob_str), or of the host's struct that begins with one.
    pub varying_stride: usize,
    pub varying_count: usize,
    /// Any bytes: whatever else changes what the driver makes of it.
    pub extra: *const c_void,
    pub extra_size: usize,
    /// The API's number for how varyings are captured; 0: not at all.
    pub feedback_mode: u32,
    /// Zero.
    pub reserved: u32,
}

// SAFETY: repr(C), begins with struct_size, integers and pointers.
unsafe impl Versioned for hob_program_key_desc {
    const NAME: &'static str = "hob_program_key_desc";
    const FIRST_SIZE: usize = 16 + 13 * size_of::<usize>();
    fn defaults() -> Self {
        Self {
            struct_size: size_of::<Self>() as u32,
            mode: hob_fingerprint_mode::Blake3 as u32,
            stages: std::ptr::null(),
            stage_stride: 0,
            stage_count: 0,
            attributes: std::ptr::null(),
            attribute_stride: 0,
            attribute_count: 0,
            defines: std::ptr::null(),
            defines_size: 0,
            varyings: std::ptr::null(),
            varying_stride: 0,
            varying_count: 0,
            extra: std::ptr::null(),
            extra_size: 0,
            feedback_mode: 0,
            reserved: 0,
        }
    }
}

/// The driver, the device and the build that binaries are made for. What is not known stays zero or empty.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_environment {
    /// sizeof(hob_environment); set by hob_environment_init.
    pub struct_size: u32,
    /// A hob_graphics_api, or a number of the host's own from HOB_GRAPHICS_API_USER on.
    pub api: u32,
    /// The vendor's number (PCI, or the API's own).
    pub vendor_id: u32,
    /// The device's number.
    pub device_id: u32,
    /// Bytes of a pointer in the process that the driver is loaded into. Default: this one's.
    pub pointer_size: u32,
    /// Zero.
    pub reserved: u32,
    /// The driver's version, where it is a number.
    pub driver_version: u64,
    pub device_uuid: [u8; 16],
    pub driver_uuid: [u8; 16],
    /// GL_VENDOR or the like.
    pub vendor: hob_str,
    /// GL_RENDERER or the like.
    pub device: hob_str,
    /// GL_VERSION or the like.
    pub driver: hob_str,
    /// The host's build: what translates sources may change with it.
    pub build: hob_str,
}

// SAFETY: repr(C), begins with struct_size, integers and pointers.
unsafe impl Versioned for hob_environment {
    const NAME: &'static str = "hob_environment";
    const FIRST_SIZE: usize = 64 + 4 * size_of::<hob_str>();
    fn defaults() -> Self {
        Self {
            struct_size: size_of::<Self>() as u32,
            api: 0,
            vendor_id: 0,
            device_id: 0,
            pointer_size: size_of::<usize>() as u32,
            reserved: 0,
            driver_version: 0,
            device_uuid: [0; 16],
            driver_uuid: [0; 16],
            vendor: hob_str::EMPTY,
            device: hob_str::EMPTY,
            driver: hob_str::EMPTY,
            build: hob_str::EMPTY,
        }
    }
}

/// Fill in defaults, but no strides, which the library cannot know; `size` is sizeof(hob_program_key_desc). Usually by
/// HOB_PROGRAM_KEY_DESC_INIT, which sets them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_program_key_desc_init(desc: *mut hob_program_key_desc, size: u32) -> hob_result {
    // SAFETY: the header's contract.
    guard(|| unsafe { init_struct(desc, size) })
}

/// Fill in defaults; `size` is sizeof(hob_environment). Usually by HOB_ENVIRONMENT_INIT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_environment_init(environment: *mut hob_environment, size: u32) -> hob_result {
    // SAFETY: the header's contract.
    guard(|| unsafe { init_struct(environment, size) })
}

/// The BLAKE3 of `size` bytes; `data` may be NULL when `size` is 0. On failure `*out_fingerprint` is as it was.
/// Threads: any.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn hob_fingerprint_bytes(
    data: *const c_void,
    size: usize,
    out_fingerprint: *mut hob_fingerprint,
) -> hob_result {
    // SAFETY: the header's contract.
    guard(|| unsafe {
        let out = Out::new(out_fingerprint, "out_fingerprint")?;
        out.write(hob_fingerprint { bytes: Fingerprint::of(bytes(data, size, "data")?).0 });
        Ok(())
    })
}

/// The name of a program. HOB_RESULT_INVALID_ARGUMENT without a stage, HOB_RESULT_LIMIT_EXCEEDED with more than 1024 of
/// something, HOB_RESULT_UNSUPPORTED for what the mode has no room for; on failure `*out_fingerprint` is as it was.
/// Nothing that `desc` points to is kept. Threads: any.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn hob_fingerprint_program(
    desc: *const hob_program_key_desc,
    out_fingerprint: *mut hob_fingerprint,
) -> hob_result {
    // SAFETY: the header's contract.
    guard(|| unsafe {
        let out = Out::new(out_fingerprint, "out_fingerprint")?;
        out.write(hob_fingerprint { bytes: program_name(desc, &mut |_| ())?.0 });
        Ok(())
    })
}

/// The parts of a program's name, in a fixed order: the stages as they are given, then of attributes, defines, feedback
/// and extra what is not empty.
/// `part_stride` is sizeof(hob_fingerprint_part). `*out_count` gets the number of parts. With `parts` NULL that is all;
/// with `capacity` too small the result is HOB_RESULT_BUFFER_TOO_SMALL and `parts` is left alone.
/// Threads: any.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_fingerprint_program_parts(
    desc: *const hob_program_key_desc,
    parts: *mut hob_fingerprint_part,
    part_stride: usize,
    capacity: usize,
    out_count: *mut usize,
) -> hob_result {
    // SAFETY: the header's contract.
    guard(|| unsafe {
        let place = Parts { parts, part_stride, capacity, out_count };
        place.fill(|each| program_name(desc, each).map(|_| ()))
    })
}

/// The number of an environment, never 0: entries of other environments are never loaded. On failure `*out_id` is as it
/// was. Threads: any.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_environment_id(environment: *const hob_environment, out_id: *mut u64) -> hob_result {
    // SAFETY: the header's contract.
    guard(|| unsafe {
        let out = Out::new(out_id, "out_id")?;
        out.write(environment_number(environment, &mut |_| ())?);
        Ok(())
    })
}

/// The parts of an environment's number, as hob_fingerprint_program_parts gives those of a program: the fields that are
/// not zero or empty, in the order of hob_environment_part. Threads: any.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_environment_parts(
    environment: *const hob_environment,
    parts: *mut hob_fingerprint_part,
    part_stride: usize,
    capacity: usize,
    out_count: *mut usize,
) -> hob_result {
    // SAFETY: the header's contract.
    guard(|| unsafe {
        let place = Parts { parts, part_stride, capacity, out_count };
        place.fill(|each| environment_number(environment, each).map(|_| ()))
    })
}

/// 64 lower-case digits, without a NUL.
/// `*out_size` gets the bytes needed. With `buffer` NULL that is all; with `capacity` too small the result is
/// HOB_RESULT_BUFFER_TOO_SMALL and the buffer is left alone. Threads: any.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_fingerprint_hex(
    fingerprint: *const hob_fingerprint,
    buffer: *mut c_char,
    capacity: usize,
    out_size: *mut usize,
) -> hob_result {
    // SAFETY: the header's contract.
    guard(|| unsafe {
        let text = copied(fingerprint, "fingerprint")?.hex();
        fill(buffer, capacity, out_size, text.len(), |bytes| {
            bytes.copy_from_slice(&text);
            Ok(text.len())
        })
    })
}

/// 1 if both are the same name, 0 if not or if one is NULL. Threads: any.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn hob_fingerprint_equal(a: *const hob_fingerprint, b: *const hob_fingerprint) -> u32 {
    if a.is_null() || b.is_null() {
        return 0;
    }
    // SAFETY: the header's contract.
    let same = unsafe { a.read_unaligned().bytes == b.read_unaligned().bytes };
    u32::from(same)
}

/// # Safety
/// `fingerprint` is NULL or readable.
unsafe fn copied(fingerprint: *const hob_fingerprint, what: &str) -> Result<Fingerprint> {
    if fingerprint.is_null() {
        return Err(error!(InvalidArgument, "{what} is NULL: pass one that was made by hob_fingerprint_program"));
    }
    // SAFETY: by this function's contract.
    Ok(Fingerprint(unsafe { fingerprint.read_unaligned() }.bytes))
}

/// Numbers that are known or the host's own.
fn known(number: u32, last: u32, first_own: u32, what: &str) -> Result<u32> {
    if number > last && number < first_own {
        return Err(error!(InvalidArgument, "{what} {number} is unknown: numbers of your own begin at {first_own}"));
    }
    Ok(number)
}

/// A hob_shader_stage, or the host's own.
pub fn known_stage(stage: u32) -> Result<u32> {
    known(stage, hob_shader_stage::Callable as u32, hob_shader_stage::User as u32, "the shader stage")
}

/// # Safety
/// As the header says of the desc.
unsafe fn program_name(desc: *const hob_program_key_desc, parts: &mut dyn FnMut(Part)) -> Result<Fingerprint> {
    // SAFETY: by this function's contract.
    unsafe { with_program(desc, |mode, described| program(mode, described, parts)) }
}

/// What a desc says, without a copy of what it points to.
///
/// # Safety
/// As the header says of the desc.
pub unsafe fn with_program<R>(
    desc: *const hob_program_key_desc,
    with: impl FnOnce(Mode, &Program<'_>) -> Result<R>,
) -> Result<R> {
    // SAFETY: by this function's contract, here and below.
    let desc = unsafe { read_struct(desc) }?;
    let mode = match desc.mode {
        0 => Mode::Blake3,
        1 => Mode::Sha1,
        other => return Err(error!(InvalidArgument, "mode {other} is not a hob_fingerprint_mode")),
    };
    let stages = unsafe {
        list(desc.stages, desc.stage_stride, desc.stage_count, "stages", |stage: hob_program_stage| {
            Ok(Stage { stage: known_stage(stage.stage)?, source: source(stage.source, stage.size)? })
        })
    }?;
    let attributes = unsafe {
        list(desc.attributes, desc.attribute_stride, desc.attribute_count, "attributes", |a: hob_attribute_binding| {
            Ok(Attribute { name: a.name.read("an attribute's name")?, location: a.location })
        })
    }?;
    let varyings = unsafe {
        list(desc.varyings, desc.varying_stride, desc.varying_count, "varyings", |varying: hob_str| {
            varying.read("a varying's name")
        })
    }?;
    let described = Program {
        stages: &stages,
        attributes: &attributes,
        defines: unsafe { bytes(desc.defines, desc.defines_size, "defines") }?,
        feedback: Feedback { mode: desc.feedback_mode, varyings: &varyings },
        extra: unsafe { bytes(desc.extra, desc.extra_size, "extra") }?,
    };
    with(mode, &described)
}

/// The elements of a caller's array, made ours by `take`.
///
/// # Safety
/// As [`Array::new`].
unsafe fn list<T: Element, R>(
    start: *const T,
    stride: usize,
    count: usize,
    what: &str,
    mut take: impl FnMut(T) -> Result<R>,
) -> Result<Vec<R>> {
    if count > MAX_ENTRIES {
        return Err(error!(LimitExceeded, "the program has {count} {what}; at most {MAX_ENTRIES} are possible"));
    }
    // SAFETY: by this function's contract.
    let array = unsafe { Array::new(start, stride, count) }?;
    let mut taken = Vec::new();
    taken.try_reserve_exact(count)?;
    for element in array.iter() {
        taken.push(take(element)?);
    }
    Ok(taken)
}

/// # Safety
/// As `hob_program_stage` says of its fields.
unsafe fn source<'a>(source: *const c_void, size: usize) -> Result<&'a [u8]> {
    if size == usize::MAX && !source.is_null() {
        // SAFETY: by this function's contract the text ends in NUL.
        return Ok(unsafe { std::ffi::CStr::from_ptr(source.cast()) }.to_bytes());
    }
    // SAFETY: by this function's contract.
    unsafe { bytes(source, size, "the source of a stage") }
}

/// # Safety
/// As the header says of the struct.
unsafe fn environment_number(environment: *const hob_environment, parts: &mut dyn FnMut(Part)) -> Result<u64> {
    // SAFETY: by this function's contract.
    unsafe { with_environment(environment, |environment| Ok(environment.id(parts))) }
}

/// What a struct says, without a copy of what it points to.
///
/// # Safety
/// As the header says of the struct.
pub unsafe fn with_environment<R>(
    environment: *const hob_environment,
    with: impl FnOnce(&Environment<'_>) -> Result<R>,
) -> Result<R> {
    // SAFETY: by this function's contract, here and below.
    let found = unsafe { read_struct(environment) }?;
    let api = known(found.api, hob_graphics_api::Webgpu as u32, hob_graphics_api::User as u32, "the graphics API")?;
    let environment = unsafe {
        Environment {
            api,
            vendor_id: found.vendor_id,
            device_id: found.device_id,
            pointer_size: found.pointer_size,
            driver_version: found.driver_version,
            device_uuid: found.device_uuid,
            driver_uuid: found.driver_uuid,
            vendor: found.vendor.read("vendor")?,
            device: found.device.read("device")?,
            driver: found.driver.read("driver")?,
            build: found.build.read("build")?,
        }
    };
    with(&environment)
}

/// Where the caller wants parts.
struct Parts {
    parts: *mut hob_fingerprint_part,
    part_stride: usize,
    capacity: usize,
    out_count: *mut usize,
}

impl Parts {
    /// Leave there what `make` tells of, by the two-call protocol.
    ///
    /// # Safety
    /// As the header says of these arguments.
    unsafe fn fill(self, make: impl FnOnce(&mut dyn FnMut(Part)) -> Result<()>) -> Result<()> {
        if self.parts.is_null() && self.out_count.is_null() {
            return Err(error!(InvalidArgument, "parts and out_count are both NULL: pass where to write"));
        }
        let element = size_of::<hob_fingerprint_part>();
        // Refused before anything is written.
        if !self.parts.is_null() && self.part_stride < element {
            return Err(error!(
                InvalidArgument,
                "part_stride is {}: set it to sizeof(hob_fingerprint_part)", self.part_stride
            ));
        }
        let (mut made, mut failed) = (Vec::new(), Ok(()));
        make(&mut |part| {
            if failed.is_ok() {
                failed = try_push(&mut made, hob_fingerprint_part::from(part));
            }
        })?;
        failed?;
        // SAFETY: by this function's contract.
        if let Some(out) = unsafe { Out::optional(self.out_count) } {
            out.write(made.len());
        }
        if self.parts.is_null() {
            return Ok(());
        }
        if self.capacity < made.len() {
            return Err(error!(
                BufferTooSmall,
                "there is room for {} parts, {} are needed: pass a larger array",
                self.capacity,
                made.len()
            ));
        }
        for (index, part) in made.into_iter().enumerate() {
            // SAFETY: by this function's contract there are `capacity` elements, `part_stride` bytes apart.
            unsafe { self.parts.byte_add(index * self.part_stride).write_unaligned(part) };
        }
        Ok(())
    }
}
