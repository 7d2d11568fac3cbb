//! `goblin.h`: settings in, choices out, every frame. Here the handle, its parameters and its profile; settings, frames
//! and the rest have files of their own beside it, from which the same header is made.

use std::ffi::{c_char, c_void};

use super::base::hob_result;
use super::callbacks::{GoblinCell, exclusive};
use super::guard::guard;
use super::handle::{self, Opaque, inspect, shared};
use super::layout::{Out, Versioned, bytes, fill, init_struct, read_struct, write_struct};
use super::profile::{copy_of, hob_profile};
use crate::base::{Id, Result, error};
use crate::goblin::{Burdens, Config, Exploration, Goblin, LANES};
use crate::profile::Profile;

/// Keeps a frame inside its budget. A handle; see docs/ownership.md.
pub struct hob_goblin {
    _private: [u8; 0],
}

impl Opaque for hob_goblin {
    type Value = GoblinCell;
    const NAME: &'static str = "hob_goblin";
    const TAG: [u8; 8] = *b"hobgobln";
}

/// Names a setting of a goblin. All zero: none. The id of a removed setting finds nothing, ever.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_setting_id {
    pub index1: u32,
    pub generation: u32,
}

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

/// What a frame can be short of. Time lanes are in milliseconds, the memory lane in MiB. Every lane that has a limit is
/// a limit of its own: what runs side by side, as threads and the GPU do, is not added up, so a frame is in time when
/// each of its time lanes is. Lanes without a limit are not learned.
#[repr(C)]
pub enum hob_lane {
    /// Work of the GPU.
    Gpu = 0,
    /// The whole frame, where nothing finer is measured.
    Frame = 1,
    /// The game thread.
    GameThread = 2,
    /// The render thread.
    RenderThread = 3,
    /// Video memory.
    VideoMemory = 4,
    /// The host's own.
    User0 = 5,
    /// The host's own.
    User1 = 6,
    /// The host's own.
    User2 = 7,
}

/// Number of lanes.
pub const HOB_LANE_COUNT: usize = 8;
const _: () = assert!(HOB_LANE_COUNT == LANES);

/// What is asked of a lane.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_lane_desc {
    /// The budget, in the lane's unit. Default INFINITY: not governed. Several lanes may have one.
    pub limit: f64,
}

/// How an option is tried whose burden is not known.
#[repr(C)]
pub enum hob_exploration {
    /// For one frame at a time, and only when the others can be chosen so that a cautious guess of its burden fits.
    /// The most that trying can cost is single frames, over by as much as the guess was wrong.
    Bounded = 0,
    /// As Performance Goblin does: the unknown looks cheap, so it is chosen until it has proven dear. Learns fast where
    /// frames over budget do not matter, as on a loading screen.
    Optimistic = 1,
}

/// Where burdens come from.
#[repr(C)]
pub enum hob_burdens {
    /// From hob_goblin_measure or the settings' measure callbacks.
    Learned = 0,
    /// From hob_option.relative_burden; only whole frames are measured (hob_goblin_measure_total), and a controller
    /// finds how much of the host's unit fits: lowered when frames are late, raised when there is time to spare.
    Relative = 1,
    /// As HOB_BURDENS_RELATIVE, but a regression on totals and choices finds what each option really costs; the host's
    /// burdens serve from the first total on. Best up to 128 options; with more, it is slower to tell them apart.
    Totals = 2,
}

/// Parameters of a goblin.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_goblin_desc {
    /// sizeof(hob_goblin_desc); set by hob_goblin_desc_init.
    pub struct_size: u32,
    /// A hob_exploration. Default HOB_EXPLORATION_BOUNDED.
    pub exploration: u32,
    /// By hob_lane.
    pub lanes: [hob_lane_desc; HOB_LANE_COUNT],
    /// Deviations of the total burden that are kept free: mean + sigmas * deviation fits the limit. 0 to 100, default
    /// 3.
    pub sigmas: f64,
    /// If above 0: the share of frames that may be over the limit, at most 0.5, in place of sigmas. The sigmas that
    /// this takes are corrected by how the totals come out against their forecasts, so it does not suppose that burdens
    /// are normal or independent. It needs samples of every setting that matters. Default 0.
    pub overrun_probability: f64,
    /// How long a better choice is waited with, so that settings do not flicker: until what it would have gained, added
    /// up frame by frame, is this many times the value by which settings rise for it and ten times that by which others
    /// fall, and has paid for their switch_burden. So with 1 settings are raised at once where there is room, and
    /// exchanging one for another that is worth a tenth more takes about a hundred frames. What no longer fits is left
    /// at once. 0: every gain is taken at once. Default 1.
    pub patience: f64,
    /// Extra value of an option with fewer samples than measure_quota. Default 0.
    pub explore_value: f64,
    /// Samples of an option in this run from which on its recent burden alone is used. Default 30.
    pub measure_quota: u32,
    /// Options that may be tried in one frame with HOB_EXPLORATION_BOUNDED. 0: none are tried. Default 8.
    pub explore_limit: u32,
    /// Accept an answer within 1/precision of the optimum. 0: the optimum, proven, however long it takes up to
    /// node_limit. Default 1000.
    pub precision: u32,
    /// Decisions that are remembered for samples that arrive late. 1 to 65536, default 64.
    pub history: u32,
    /// A hob_burdens. Default HOB_BURDENS_LEARNED.
    pub burdens: u32,
    /// Most settings. Default 65536.
    pub max_settings: u32,
    /// Most bytes the goblin may hold: settings, options, a past profile or more history beyond it are refused. The
    /// solver's own memory, about a megabyte, counts as used but is not refused. Default UINT64_MAX.
    pub memory_limit: u64,
    /// Most nodes that the solver visits in one decision: this, not a clock, bounds the time. Default 256; above 4096 a
    /// decision may allocate.
    pub node_limit: u64,
    /// Probability, about, with which a frame with options on trial may be over the limit because of them. 1e-6 to 0.5,
    /// default 0.015.
    pub explore_risk: f64,
    /// Most switch_burden of changes in one decision that are not needed to keep a limit; what is beyond waits. One
    /// such change is always made. Default INFINITY.
    pub switch_limit: f64,
    /// Decisions for which a setting keeps its choice at least, unless it no longer fits. Default 0.
    pub dwell: u32,
    /// Zero.
    pub reserved: u32,
}

// SAFETY: repr(C), begins with struct_size, numbers.
unsafe impl Versioned for hob_goblin_desc {
    const NAME: &'static str = "hob_goblin_desc";
    const FIRST_SIZE: usize = 144;
    fn defaults() -> Self {
        Self::from(&Config::default())
    }
}

impl From<&Config> for hob_goblin_desc {
    fn from(config: &Config) -> Self {
        Self {
            struct_size: size_of::<Self>() as u32,
            exploration: match config.exploration {
                Exploration::Bounded => hob_exploration::Bounded,
                Exploration::Optimistic => hob_exploration::Optimistic,
            } as u32,
            lanes: config.limits.map(|limit| hob_lane_desc { limit }),
            sigmas: config.sigmas,
            overrun_probability: config.overrun_probability,
            patience: config.patience,
            explore_value: config.explore_value,
            measure_quota: config.measure_quota,
            explore_limit: config.explore_limit,
            precision: config.precision,
            history: config.history,
            burdens: match config.burdens {
                Burdens::Learned => hob_burdens::Learned,
                Burdens::Relative => hob_burdens::Relative,
                Burdens::Totals => hob_burdens::Totals,
            } as u32,
            max_settings: config.max_settings,
            memory_limit: config.memory_limit,
            node_limit: config.node_limit,
            explore_risk: config.explore_risk,
            switch_limit: config.switch_limit,
            dwell: config.dwell,
            reserved: 0,
        }
    }
}

impl hob_goblin_desc {
    fn config(&self) -> Result<Config> {
        Ok(Config {
            limits: self.lanes.map(|lane| lane.limit),
            sigmas: self.sigmas,
            overrun_probability: self.overrun_probability,
            patience: self.patience,
            explore_value: self.explore_value,
            measure_quota: self.measure_quota,
            exploration: match self.exploration {
                0 => Exploration::Bounded,
                1 => Exploration::Optimistic,
                other => return Err(error!(InvalidArgument, "exploration {other} is not a hob_exploration")),
            },
            explore_limit: self.explore_limit,
            precision: self.precision,
            node_limit: self.node_limit,
            history: self.history,
            burdens: match self.burdens {
                0 => Burdens::Learned,
                1 => Burdens::Relative,
                2 => Burdens::Totals,
                other => return Err(error!(InvalidArgument, "burdens {other} is not a hob_burdens")),
            },
            max_settings: self.max_settings,
            memory_limit: self.memory_limit,
            explore_risk: self.explore_risk,
            switch_limit: self.switch_limit,
            dwell: self.dwell,
        })
    }
}

/// What has come in so far. Filled in by the library; initialise with HOB_GOBLIN_STATISTICS_INIT.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_goblin_statistics {
    /// sizeof(hob_goblin_statistics); set by hob_goblin_statistics_init.
    pub struct_size: u32,
    /// Settings there are.
    pub setting_count: u32,
    /// Decisions so far; the latest has this id.
    pub decisions: u64,
    /// Samples learned from.
    pub samples: u64,
    /// Samples and totals that were not HOB_SAMPLE_OK.
    pub flagged: u64,
    /// Samples of lanes that are not governed, or of settings without a burden.
    pub ungoverned: u64,
    /// Samples refused: their decision was not remembered, or the callback gave nonsense.
    pub refused: u64,
    /// Totals of frames.
    pub totals: u64,
    /// Totals over their lane's limit.
    pub totals_over: u64,
    /// The last harvest's samples over what they typically cost, on the first lane that has a limit; 1 is normal, 0
    /// nothing yet.
    pub anomaly: f64,
    /// The same, fading by 1/30 a harvest.
    pub recent_anomaly: f64,
    /// Present over past burdens (hob_goblin_set_past_profile), on the first lane that has a limit; 1 while nothing can
    /// be compared.
    pub past_ratio: f64,
    /// Bytes held.
    pub memory_used: u64,
    /// By hob_lane: what totals have beyond the samples, see hob_goblin_measure_total. 0 while that is not known.
    pub residual: [f64; HOB_LANE_COUNT],
    /// Strategies there are; 1 where the host has added none.
    pub strategy_count: u32,
    /// Zero.
    pub reserved: u32,
}

// SAFETY: repr(C), begins with struct_size, numbers.
unsafe impl Versioned for hob_goblin_statistics {
    const NAME: &'static str = "hob_goblin_statistics";
    const FIRST_SIZE: usize = 96;
    fn defaults() -> Self {
        // SAFETY: numbers may be zero.
        let zero = unsafe { std::mem::zeroed() };
        Self { struct_size: size_of::<Self>() as u32, ..zero }
    }
}

/// Fill in defaults; `size` is sizeof(hob_goblin_desc). Usually by HOB_GOBLIN_DESC_INIT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_goblin_desc_init(desc: *mut hob_goblin_desc, size: u32) -> hob_result {
    // SAFETY: the header's contract.
    guard(|| unsafe { init_struct(desc, size) })
}

/// Fill in defaults; `size` is sizeof(hob_goblin_statistics). Usually by HOB_GOBLIN_STATISTICS_INIT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_goblin_statistics_init(statistics: *mut hob_goblin_statistics, size: u32) -> hob_result {
    // SAFETY: the header's contract.
    guard(|| unsafe { init_struct(statistics, size) })
}

/// Create a goblin. `*out_goblin` is written on success, and is then the caller's to destroy. Threads: any.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn hob_goblin_create(
    desc: *const hob_goblin_desc,
    out_goblin: *mut *mut hob_goblin,
) -> hob_result {
    // SAFETY: the header's contract.
    guard(|| unsafe {
        let out = Out::new(out_goblin, "out_goblin")?;
        let goblin = Goblin::new(&read_struct(desc)?.config()?)?;
        out.write(handle::create(GoblinCell::new(goblin))?);
        Ok(())
    })
}

/// Destroy a goblin and release its settings; NULL is fine. From inside one of its callbacks, it is destroyed when the
/// running call returns. Threads: no other call on it may run.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_goblin_destroy(goblin: *mut hob_goblin) {
    // SAFETY: the header's contract.
    unsafe { handle::destroy(goblin) }
}

/// Exchange the parameters. What was learned stays, but for lanes that no longer have a limit, here or in a strategy;
/// when lanes come or go, samples of earlier decisions are refused. On a failure nothing changed. Threads: exclusive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_goblin_configure(goblin: *mut hob_goblin, desc: *const hob_goblin_desc) -> hob_result {
    // SAFETY: the header's contract.
    unsafe {
        exclusive(goblin, |held| {
            let config = read_struct(desc)?.config()?;
            held.with(|cell| cell.goblin.configure(&config))
        })
    }
}

/// The parameters in force. Threads: shared.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_goblin_config(goblin: *const hob_goblin, out_desc: *mut hob_goblin_desc) -> hob_result {
    // SAFETY: the header's contract.
    unsafe { inspect(goblin, |cell| write_struct(out_desc, &hob_goblin_desc::from(cell.goblin.config()))) }
}

/// What has come in so far. Threads: shared.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_goblin_get_statistics(
    goblin: *const hob_goblin,
    out_statistics: *mut hob_goblin_statistics,
) -> hob_result {
    // SAFETY: the header's contract.
    unsafe {
        inspect(goblin, |cell| {
            let found = cell.goblin.statistics();
            let statistics = hob_goblin_statistics {
                setting_count: cell.goblin.setting_count() as u32,
                decisions: cell.goblin.latest_decision(),
                samples: found.samples,
                flagged: found.flagged,
                ungoverned: found.ungoverned,
                refused: found.refused + cell.refused,
                totals: found.totals,
                totals_over: found.totals_over,
                anomaly: found.anomaly,
                recent_anomaly: found.recent_anomaly,
                past_ratio: cell.goblin.ratio(),
                memory_used: cell.memory_used() as u64,
                residual: std::array::from_fn(|lane| cell.goblin.residual(lane)),
                strategy_count: cell.goblin.strategy_count() as u32,
                ..hob_goblin_statistics::defaults()
            };
            write_struct(out_statistics, &statistics)
        })
    }
}

/// Use what a past run knew, perhaps on another machine: how much slower or faster this one is, is learned from the
/// first samples. Copied; replaces an earlier past. Tasks whose number of options differs are not used, and the log
/// says so. Threads: exclusive; shared for `profile`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_goblin_set_past_profile(
    goblin: *mut hob_goblin,
    profile: *const hob_profile,
) -> hob_result {
    // SAFETY: the header's contract.
    unsafe {
        match copy_of(profile) {
            Ok(past) => exclusive(goblin, |held| held.with(|cell| cell.goblin.set_past_profile(&past))),
            Err(result) => result,
        }
    }
}

/// hob_goblin_set_past_profile from JSON as hob_goblin_save_profile writes it; see hob_profile_load.
/// Threads: exclusive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_goblin_load_profile(
    goblin: *mut hob_goblin,
    data: *const c_void,
    size: usize,
) -> hob_result {
    // SAFETY: the header's contract.
    unsafe {
        exclusive(goblin, |held| {
            let past = Profile::from_json(bytes(data, size, "data")?)?;
            held.with(|cell| cell.goblin.set_past_profile(&past))
        })
    }
}

/// Write what is known as JSON: this run's samples, and where there are none what the past knew, scaled to this
/// machine. Sizes and buffer as in hob_profile_save. Threads: shared.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_goblin_save_profile(
    goblin: *const hob_goblin,
    buffer: *mut c_char,
    capacity: usize,
    out_size: *mut usize,
) -> hob_result {
    // SAFETY: the header's contract.
    unsafe {
        inspect(goblin, |cell| {
            let profile = cell.goblin.profile()?;
            fill(buffer, capacity, out_size, profile.json_size(), |bytes| profile.to_json(bytes))
        })
    }
}

/// Bytes the goblin holds; 0 for a bad handle. Threads: shared.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn hob_goblin_memory_used(goblin: *const hob_goblin) -> usize {
    // SAFETY: the header's contract.
    unsafe { shared(goblin, |cell| Ok(cell.memory_used())) }.unwrap_or(0)
}

/// The sentence of this handle's last failed exclusive call. Valid until the next one. Threads: shared.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn hob_goblin_last_error(goblin: *const hob_goblin) -> *const c_char {
    // SAFETY: the header's contract.
    unsafe { handle::last_error(goblin) }
}
