//! Programs and environments as labelled values, which the explanation of a miss compares.

use crate::base::{Result, Text};
use crate::fingerprint::{Environment, Program};
use crate::program_cache::Material;

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

/// The inputs of a program as labels and values, for explaining misses.
pub fn program_material(described: &Program<'_>) -> Result<Material> {
    let mut material = Material::default();
    for stage in described.stages {
        match STAGES.get(stage.stage as usize) {
            Some(label) => material.push(label, stage.source)?,
            None => push_numbered(&mut material, "stage", stage.stage as usize, stage.source)?,
        }
    }
    for (place, attribute) in described.attributes.iter().enumerate() {
        // If several attributes have one name, the last one counts.
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

/// The fields of an environment as labels and values, for explaining misses.
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
