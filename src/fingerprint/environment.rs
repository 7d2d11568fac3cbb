//! The identity of a binary's target. A binary must never be loaded with another driver, device or build.

use super::{Builder, Part};

const CONTEXT: &str = "hobgoblin environment 1";

/// Kinds of an environment's parts. Existing numbers never change; new ones are appended.
pub mod environment_kind {
    /// The graphics API.
    pub const API: u32 = 1;
    /// The vendor's number.
    pub const VENDOR_ID: u32 = 2;
    /// The device's number.
    pub const DEVICE_ID: u32 = 3;
    /// Bytes of a pointer.
    pub const POINTER_SIZE: u32 = 4;
    /// The driver's version as a number.
    pub const DRIVER_VERSION: u32 = 5;
    /// The device's UUID.
    pub const DEVICE_UUID: u32 = 6;
    /// The driver's UUID.
    pub const DRIVER_UUID: u32 = 7;
    /// The vendor's name.
    pub const VENDOR: u32 = 8;
    /// The device's name.
    pub const DEVICE: u32 = 9;
    /// The driver's own description.
    pub const DRIVER: u32 = 10;
    /// The host's build.
    pub const BUILD: u32 = 11;
}

/// The driver, the device and the build. Unknown fields stay zero or empty; the id omits them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Environment<'a> {
    /// The graphics API: the number of `hob_graphics_api`, or the host's own.
    pub api: u32,
    /// The vendor's number (PCI, or the API's own).
    pub vendor_id: u32,
    /// The device's number.
    pub device_id: u32,
    /// Bytes of a pointer in the process that the driver is loaded into.
    pub pointer_size: u32,
    /// The driver's version, where it is a number.
    pub driver_version: u64,
    /// `VkPhysicalDeviceIDProperties::deviceUUID` or the like.
    pub device_uuid: [u8; 16],
    /// `VkPhysicalDeviceIDProperties::driverUUID` or the like.
    pub driver_uuid: [u8; 16],
    /// `GL_VENDOR` or the like.
    pub vendor: &'a str,
    /// `GL_RENDERER` or the like.
    pub device: &'a str,
    /// `GL_VERSION` or the like.
    pub driver: &'a str,
    /// The host's build. The host's shader translator may change with it.
    pub build: &'a str,
}

impl Environment<'_> {
    /// The id of this environment, never 0. Calls `parts` with every part.
    pub fn id(&self, parts: &mut dyn FnMut(Part)) -> u64 {
        use environment_kind as kind;
        let mut name = Builder::new(CONTEXT);
        let fields: [(u32, &[u8]); 11] = [
            (kind::API, &self.api.to_le_bytes()),
            (kind::VENDOR_ID, &self.vendor_id.to_le_bytes()),
            (kind::DEVICE_ID, &self.device_id.to_le_bytes()),
            (kind::POINTER_SIZE, &self.pointer_size.to_le_bytes()),
            (kind::DRIVER_VERSION, &self.driver_version.to_le_bytes()),
            (kind::DEVICE_UUID, &self.device_uuid),
            (kind::DRIVER_UUID, &self.driver_uuid),
            (kind::VENDOR, self.vendor.as_bytes()),
            (kind::DEVICE, self.device.as_bytes()),
            (kind::DRIVER, self.driver.as_bytes()),
            (kind::BUILD, self.build.as_bytes()),
        ];
        for (field, bytes) in fields {
            let is_text = field >= kind::VENDOR;
            let is_known = if is_text { !bytes.is_empty() } else { bytes.iter().any(|&byte| byte != 0) };
            if is_known {
                parts(name.part(field, 0, bytes));
            }
        }
        u64::from_le_bytes(name.finish().short()).max(1)
    }
}
