//! `goblin.h`: ids, lanes and samples, which other types use.

use hobgoblin_macros::open_enum;

use crate::base::Id;
use crate::ffi::base::out::Output;
use crate::goblin::LANES;

// == Ids, lanes, samples ==

/// Names a setting of a goblin.
/// All zero: none. The id of a removed setting never names another one.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_setting_id {
    /// Position of the setting, plus 1.
    pub index1: u32,
    /// Distinguishes it from earlier settings at that position.
    pub generation: u32,
}

// SAFETY: numbers.
unsafe impl Output for hob_setting_id {}

impl From<hob_setting_id> for Id {
    fn from(id: hob_setting_id) -> Self {
        Self { index1: id.index1, generation: id.generation }
    }
}

impl From<Id> for hob_setting_id {
    fn from(id: Id) -> Self {
        Self { index1: id.index1, generation: id.generation }
    }
}

/// The resources of a frame.
/// Lanes of time are in milliseconds, the lane of memory is in MiB. Each lane has its own limit, because threads and
/// the GPU work in parallel. A lane without a limit is not governed: nothing is learned on it while another has one.
#[open_enum]
#[repr(C)]
pub enum hob_lane {
    /// Work of the GPU.
    Gpu = 0,
    /// The whole frame, for hosts without finer timers.
    Frame = 1,
    /// The game thread.
    GameThread = 2,
    /// The render thread.
    RenderThread = 3,
    /// Video memory.
    VideoMemory = 4,
    /// For the host, in a unit of its own.
    User0 = 5,
    /// For the host, in a unit of its own.
    User1 = 6,
    /// For the host, in a unit of its own.
    User2 = 7,
}

/// Number of lanes; it never changes.
pub const HOB_LANE_COUNT: usize = 8;
const _: () = assert!(HOB_LANE_COUNT == LANES);

/// A decision_id: the latest decision.
pub const HOB_DECISION_LATEST: u64 = 18446744073709551615;

/// Converts a decision id of C to the core's. The core uses 0 for the latest decision; in C 0 is invalid.
pub fn decision_number(decision_id: u64) -> Option<u64> {
    match decision_id {
        0 => None,
        HOB_DECISION_LATEST => Some(0),
        id => Some(id),
    }
}

/// The quality of a sample.
#[open_enum]
#[repr(C)]
pub enum hob_sample_quality {
    /// Learn from it.
    Ok = 0,
    /// Vsync or a frame cap hid the true burden. Counted, not learned from.
    Capped = 1,
    /// An unrelated hitch spoiled it. Counted, not learned from.
    Hitch = 2,
    /// The game was paused, loading or in the background. Counted, not learned from.
    Paused = 3,
}

/// Parameters of a lane.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_lane_desc {
    /// The budget, above 0, in the lane's unit. 0 or HUGE_VAL: no limit. Several lanes may have one.
    pub limit: f64,
}

/// Converts limits to the core's. 0, as in a zeroed struct, means no limit.
pub fn limits_of(lanes: &[hob_lane_desc; HOB_LANE_COUNT]) -> [f64; LANES] {
    lanes.map(|lane| if lane.limit == 0.0 { f64::INFINITY } else { lane.limit })
}

/// `spelled` if `value` is 0, else `value`. `spelled` encodes the core's 0 in a struct where 0 means the default.
pub fn or_else<T: PartialEq + Default>(value: T, spelled: T) -> T {
    if value == T::default() { spelled } else { value }
}
