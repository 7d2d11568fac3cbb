//! Ready groups.

use std::time::Duration;

use hobgoblin_macros::{element, entry, open_enum};

use super::library::hob_pipeline_library;
use crate::base::{Id, error, try_collect};
use crate::ffi::base::result::hob_result;
use crate::ffi::fingerprint::bytes::hob_fingerprint;
use crate::fingerprint::Fingerprint;
use crate::pipeline::precompile::{Decision, MAX_GROUP, Policy};

// == Experimental: Ready groups ==

/// A ready group.
/// All zero is no group.
#[element(size = 8, last = generation)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_pipeline_group_id {
    /// Its place, from 1 on; 0 is no group.
    pub index1: u32,
    /// Distinguishes it from earlier groups at that place.
    pub generation: u32,
}

impl From<hob_pipeline_group_id> for Id {
    fn from(id: hob_pipeline_group_id) -> Self {
        Self { index1: id.index1, generation: id.generation }
    }
}

/// How an object is drawn while some of its pipelines are missing.
#[open_enum]
#[repr(C)]
pub enum hob_pipeline_policy {
    /// It is not drawn.
    Skip = 0,
    /// It is drawn with other pipelines.
    Substitute = 1,
    /// The call waits. If the time is over, the object is not drawn.
    Wait = 2,
}

/// How to draw an object now.
#[open_enum]
#[repr(C)]
pub enum hob_pipeline_decision {
    /// Do not draw it.
    Skip = 0,
    /// Draw it with other pipelines.
    Substitute = 1,
    /// All its pipelines are ready: draw it.
    Draw = 2,
}

/// Adds a group: the pipelines of one object, such as those of its passes.
/// A group has at most 4096 keys. A key that no cache has counts as missing until hob_pipeline_library_add.
/// HOB_RESULT_LIMIT_EXCEEDED: too many keys. Threads: shared.
#[entry(shared, experimental)]
pub extern "C" fn hob_pipeline_library_add_group(
    library: *const hob_pipeline_library,
    keys: *const hob_fingerprint,
    key_stride: usize,
    key_count: usize,
    out_group: *mut hob_pipeline_group_id,
) -> hob_result {
    if keys.len() > MAX_GROUP {
        return Err(error!(LimitExceeded, "the group has {} pipelines: pass at most {MAX_GROUP}", keys.len()));
    }
    let keys = try_collect(keys.iter().map(|key: hob_fingerprint| Fingerprint(key.bytes)))?;
    let id = match &library.0 {
        Some(library) => library.precompiler().add_group(&keys)?,
        None => Id { index1: 0, generation: 0 },
    };
    out_group.write(hob_pipeline_group_id { index1: id.index1, generation: id.generation });
    Ok(())
}

/// Removes a group.
/// Its pipelines stay. HOB_RESULT_NOT_FOUND: there is no such group. Threads: shared.
#[entry(shared, experimental)]
pub extern "C" fn hob_pipeline_library_remove_group(
    library: *const hob_pipeline_library,
    group: hob_pipeline_group_id,
) -> hob_result {
    library.0.as_ref().map_or(Ok(()), |library| library.precompiler().remove_group(group.into()))
}

/// Decides how to draw the object of a group in this frame.
/// The first call for a group that is not ready requests its missing pipelines, also again after one was forgotten.
/// With HOB_PIPELINE_POLICY_WAIT the call waits up to `timeout_us` microseconds for other threads that compile, but not
/// inside a compile; otherwise it takes no lock and waits for nothing.
///
/// The wait ends with HOB_PIPELINE_DECISION_SKIP, with any timeout, if the host cancels a compile of the group, or
/// forgets a pipeline of it.
///
/// A decision does not count as a use: call hob_pipeline_library_use for each pipeline that is drawn with.
///
/// Returns HOB_PIPELINE_DECISION_SKIP after a failure, such as an unknown group, and HOB_PIPELINE_DECISION_DRAW if the
/// library is switched off. Threads: shared.
#[entry(shared, experimental)]
pub extern "C" fn hob_pipeline_library_decide(
    library: *const hob_pipeline_library,
    group: hob_pipeline_group_id,
    policy: hob_pipeline_policy,
    timeout_us: u64,
) -> hob_pipeline_decision {
    let policy = match policy.check("policy")? {
        hob_pipeline_policy::Wait if timeout_us == u64::MAX => Policy::Wait(Duration::MAX),
        hob_pipeline_policy::Wait => Policy::Wait(Duration::from_micros(timeout_us)),
        hob_pipeline_policy::Substitute => Policy::Substitute,
        _ => Policy::Skip,
    };
    let decision = match &library.0 {
        Some(library) => library.decide(group.into(), policy)?,
        None => Decision::Draw,
    };
    Ok(match decision {
        Decision::Draw => hob_pipeline_decision::Draw,
        Decision::Substitute => hob_pipeline_decision::Substitute,
        Decision::Skip => hob_pipeline_decision::Skip,
    })
}
