//! Environments.

use hobgoblin_macros::{entry, open_enum, versioned};

use super::bytes::{hob_fingerprint_part, known, parts};
use crate::base::Result;
use crate::ffi::base::result::hob_result;
use crate::ffi::base::text::hob_str;
use crate::fingerprint::Environment;

// == Environments ==

/// Graphics APIs.
/// Numbers from HOB_GRAPHICS_API_USER on are free for the host.
#[open_enum]
#[repr(C)]
pub enum hob_graphics_api {
    /// Unknown.
    Unknown = 0,
    /// OpenGL.
    Opengl = 1,
    /// OpenGL ES, WebGL.
    OpenglEs = 2,
    /// Vulkan.
    Vulkan = 3,
    /// Direct3D 11.
    D3d11 = 4,
    /// Direct3D 12.
    D3d12 = 5,
    /// Metal.
    Metal = 6,
    /// WebGPU.
    Webgpu = 7,
    /// The first number that is free for the host.
    User = 64,
}

/// The driver, the device and the build that program binaries are valid for.
/// Unknown fields stay 0 or empty. The library keeps no pointer of it.
#[versioned(size = 128, last = build)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_environment {
    /// sizeof(hob_environment).
    pub struct_size: u32,
    /// A hob_graphics_api, or a number of the host from HOB_GRAPHICS_API_USER on.
    pub api: u32,
    /// The vendor's PCI id, or the graphics API's number.
    pub vendor_id: u32,
    /// The device's PCI id, or the graphics API's number.
    pub device_id: u32,
    /// Bytes of a pointer in the process that loads the driver. Default 0: sizeof(void *) of this process.
    #[default(size_of::<usize>() as u32)]
    pub pointer_size: u32,
    /// Must be 0.
    pub reserved: u32,
    /// The driver's version, if it is a number.
    pub driver_version: u64,
    /// VkPhysicalDeviceIDProperties.deviceUUID, or similar.
    pub device_uuid: [u8; 16],
    /// VkPhysicalDeviceIDProperties.driverUUID, or similar.
    pub driver_uuid: [u8; 16],
    /// GL_VENDOR, or similar.
    pub vendor: hob_str,
    /// GL_RENDERER, or similar.
    pub device: hob_str,
    /// GL_VERSION, or similar. Vulkan: driverName and driverInfo, then pipelineCacheUUID and shaderBinaryUUID as text:
    /// trials/program_cache_vk/cache.cpp shows how.
    pub driver: hob_str,
    /// The version of the host, including its shader translator.
    pub build: hob_str,
}

/// Gets the id of an environment, which is never 0.
/// It is 64 bits of the hash of all parts. Caches load only programs with their own id, and compare nothing else of the
/// environment. Threads: any.
#[entry(any)]
pub extern "C" fn hob_environment_get_id(environment: *const hob_environment, out_id: *mut u64) -> hob_result {
    // SAFETY: the header's contract for the texts of the struct.
    out_id.write(unsafe { with_environment(&environment, |environment| Ok(environment.id(&mut |_| ()))) }?);
    Ok(())
}

/// Kinds of the parts of an environment.
#[open_enum]
#[repr(C)]
pub enum hob_environment_part {
    /// `api`.
    Api = 1,
    /// `vendor_id`.
    VendorId = 2,
    /// `device_id`.
    DeviceId = 3,
    /// `pointer_size`.
    PointerSize = 4,
    /// `driver_version`.
    DriverVersion = 5,
    /// `device_uuid`.
    DeviceUuid = 6,
    /// `driver_uuid`.
    DriverUuid = 7,
    /// `vendor`.
    Vendor = 8,
    /// `device`.
    Device = 9,
    /// `driver`.
    Driver = 10,
    /// `build`.
    Build = 11,
}

/// Gets the parts of an environment: the fields that are not 0 or empty, in the order of hob_environment_part.
/// Count, capacity and stride work as in hob_fingerprint_get_program_parts. Threads: any.
#[entry(any)]
pub extern "C" fn hob_environment_get_parts(
    environment: *const hob_environment,
    parts: *mut hob_fingerprint_part,
    part_stride: usize,
    capacity: usize,
    out_count: *mut usize,
) -> hob_result {
    let found = self::parts(|each| {
        let report = |environment: &Environment<'_>| {
            environment.id(each);
            Ok(())
        };
        // SAFETY: as in hob_environment_get_id.
        unsafe { with_environment(&environment, report) }
    })?;
    parts.fill(found.into_iter())
}

/// Passes the described environment to `with`. Texts are not copied.
///
/// # Safety
/// The texts of `found` are valid.
pub unsafe fn with_environment<R>(
    found: &hob_environment,
    with: impl FnOnce(&Environment<'_>) -> Result<R>,
) -> Result<R> {
    let api = known(found.api, hob_graphics_api::Webgpu.0, hob_graphics_api::User.0, "the graphics API")?;
    // SAFETY: by this function's contract.
    let environment = unsafe {
        Environment {
            api,
            vendor_id: found.vendor_id,
            device_id: found.device_id,
            pointer_size: found.pointer_size,
            driver_version: found.driver_version,
            device_uuid: found.device_uuid,
            driver_uuid: found.driver_uuid,
            vendor: found.vendor.argument("vendor").text()?,
            device: found.device.argument("device").text()?,
            driver: found.driver.argument("driver").text()?,
            build: found.build.argument("build").text()?,
        }
    };
    with(&environment)
}
