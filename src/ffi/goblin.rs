//! `goblin.h`: settings in, choices out, every frame.

use std::ffi::{c_char, c_void};

use super::base::{hob_result, hob_str};
use super::callbacks::{Callbacks, GoblinCell, decide, exclusive, harvest};
use super::guard::guard;
use super::handle::{self, Held, Opaque, inspect, is_inside, shared};
use super::layout::{
    Array, Element, Out, Versioned, bytes, checked_size, fill, init_struct, read_struct, write_struct,
};
use super::profile::{copy_of, hob_estimate, hob_estimate_source, hob_profile};
use crate::base::{Id, Result, error};
use crate::goblin::{Burdens, Config, Decision, Exploration, Goblin, LANES, OptionDesc, Sample, SettingDesc};
use crate::profile::{MAX_OPTIONS, Profile};

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

/// What a frame can be short of. Time lanes are in milliseconds, the memory lane in MiB.
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
    /// The budget, in the lane's unit. Default INFINITY: not governed. This version governs one lane at a time.
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
    /// Deviations of the total burden that are kept free: mean + sigmas * deviation fits the limit. 0 to 100, default 3.
    pub sigmas: f64,
    /// If above 0: the share of frames that may be over the limit, at most 0.5, in place of sigmas. The sigmas that this
    /// takes are corrected by how the totals come out against their forecasts, so it does not suppose that burdens are
    /// normal or independent. It needs samples of every setting that matters. Default 0.
    pub overrun_probability: f64,
    /// How long a better choice is waited with, so that settings do not flicker: until what it would have gained, added
    /// up frame by frame, is this many times the value by which its settings move, up and down, and has paid for their
    /// switch_burden. So with 1 settings are raised at once where there is room, and exchanging one for another that is
    /// worth a tenth more takes about twenty frames. What no longer fits is left at once. 0: every gain is taken at once.
    /// Default 1.
    pub patience: f64,
    /// Extra value of an option with fewer samples than measure_quota. Default 0.
    pub explore_value: f64,
    /// Samples of an option in this run from which on its recent burden alone is used. Default 30.
    pub measure_quota: u32,
    /// Options that may be tried in one frame with HOB_EXPLORATION_BOUNDED. 0: none are tried. Default 1.
    pub explore_limit: u32,
    /// Accept an answer within 1/precision of the optimum. 0: the optimum, proven, however long it takes up to node_limit.
    /// Default 2000.
    pub precision: u32,
    /// Decisions that are remembered for samples that arrive late. 1 to 65536, default 64.
    pub history: u32,
    /// A hob_burdens. Default HOB_BURDENS_LEARNED.
    pub burdens: u32,
    /// Most settings. Default 65536.
    pub max_settings: u32,
    /// Most bytes the goblin may hold: settings, options, a past profile or more history beyond it are refused. The solver's
    /// own memory, about a megabyte, counts as used but is not refused. Default UINT64_MAX.
    pub memory_limit: u64,
    /// Most nodes that the solver visits in one decision: this, not a clock, bounds the time. Default 4096, above which a
    /// decision may allocate.
    pub node_limit: u64,
    /// Probability, about, with which a frame with options on trial may be over the limit because of them. 1e-6 to 0.5,
    /// default 0.015.
    pub explore_risk: f64,
    /// Most switch_burden of changes in one decision that are not needed to keep a limit; what is beyond waits. One such
    /// change is always made. Default INFINITY.
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

/// hob_option.flags: the option cannot be chosen now (it is streaming in, compiling, not bought).
pub const HOB_OPTION_NOT_READY: u32 = 1;

/// One option of a setting. Zero is a good start for every field.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct hob_option {
    /// What choosing it is worth to the host, in any unit that all settings share. -1e9 to 1e9.
    pub value: f64,
    /// Rough burden in any unit that all settings share, for HOB_BURDENS_RELATIVE. 0 to 1e9.
    pub relative_burden: f64,
    /// HOB_OPTION_ flags.
    pub flags: u32,
    /// Zero.
    pub reserved: u32,
}

// SAFETY: repr(C), numbers.
unsafe impl Element for hob_option {
    const NAME: &'static str = "hob_option";
    const FIRST_SIZE: usize = 24;
}

impl hob_option {
    pub fn desc(&self) -> Result<OptionDesc> {
        if self.flags & !HOB_OPTION_NOT_READY != 0 {
            return Err(error!(
                Unsupported,
                "option flags {:#x}: this library knows HOB_OPTION_NOT_READY only", self.flags
            ));
        }
        let ready = self.flags & HOB_OPTION_NOT_READY == 0;
        Ok(OptionDesc { value: self.value, relative_burden: self.relative_burden, ready, work: 1.0 })
    }
}

/// What a sample is good for.
#[repr(C)]
pub enum hob_sample {
    /// Learn from it.
    Ok = 0,
    /// Vsync or a frame cap hid the true burden: counted, not learned from.
    Capped = 1,
    /// A hitch that has nothing to do with the choice spoiled it: counted, not learned from.
    Hitch = 2,
    /// The game was paused, loading or in the background: counted, not learned from.
    Paused = 3,
}

/// A measurement, for the measure callback.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_measurement {
    /// sizeof(hob_measurement), set by the library.
    pub struct_size: u32,
    /// A hob_lane. Preset to the governed one.
    pub lane: u32,
    /// The decision of the frame it belongs to. Preset to 0, the latest.
    pub decision_id: u64,
    /// What it cost, in the lane's unit. 0 to 1e9.
    pub burden: f64,
    /// A hob_sample. Preset to HOB_SAMPLE_OK.
    pub sample: u32,
    /// Zero.
    pub reserved: u32,
}

/// A setting. Give it options as an array, or callbacks, or both.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_setting_desc {
    /// sizeof(hob_setting_desc); set by hob_setting_desc_init.
    pub struct_size: u32,
    /// Options in the array: 0 to 65535.
    pub option_count: u32,
    /// Its task: what is learned is kept under this name, in the profile too. Settings may share one: their samples are
    /// pooled. Empty: id_get is asked.
    pub id: hob_str,
    /// The options, in the order in which choices count them. Copied.
    pub options: *const hob_option,
    /// sizeof(hob_option), or of the host's struct that begins with one. Also that of what options_get fills in.
    pub option_stride: usize,
    /// Chosen as long as nothing at all is known of the setting. Default 0.
    pub default_choice: u32,
    /// Zero.
    pub reserved: u32,
    /// Milliseconds lost on the frame in which it changes. 0 to 1e9. Accepted and not yet used. Default 0.
    pub switch_burden: f64,
    /// Passed to every callback below.
    pub user_data: *mut c_void,
    /// Called exactly once when the setting is gone: after hob_goblin_remove_setting or hob_goblin_destroy, never while
    /// another callback of the goblin runs. Not called if adding failed. May be NULL, as every callback.
    pub release: Option<extern "C" fn(user_data: *mut c_void)>,
    /// Fill `options` (zeroed, option_stride apart, room for `capacity`) and return how many there are; with more than
    /// `capacity`, fill nothing and be called again with more room. Called when the setting is added and before every
    /// decision, so that values may follow the scene.
    pub options_get: Option<extern "C" fn(user_data: *mut c_void, options: *mut hob_option, capacity: u32) -> u32>,
    /// The default choice; called when the setting is added, in place of default_choice.
    pub choice_default: Option<extern "C" fn(user_data: *mut c_void) -> u32>,
    /// Take the choice. Called after the first decision, and after every decision in which it changed.
    pub choice_set: Option<extern "C" fn(user_data: *mut c_void, choice: u32, decision_id: u64)>,
    /// The task's name; called when the setting is added, if `id` is empty. The text is copied.
    pub id_get: Option<extern "C" fn(user_data: *mut c_void, out_id: *mut hob_str)>,
    /// Fill in a measurement and return 1, or return 0 when there is none. Called by harvest until it returns 0, at most
    /// 64 times. A sample that cannot be used (NaN, too late) is counted and dropped.
    pub measure: Option<extern "C" fn(user_data: *mut c_void, out_measurement: *mut hob_measurement) -> u32>,
}

// SAFETY: repr(C), begins with struct_size; numbers, pointers, optional functions.
unsafe impl Versioned for hob_setting_desc {
    const NAME: &'static str = "hob_setting_desc";
    const FIRST_SIZE: usize = std::mem::offset_of!(Self, measure) + size_of::<usize>();
    fn defaults() -> Self {
        Self {
            struct_size: size_of::<Self>() as u32,
            option_count: 0,
            id: hob_str::EMPTY,
            options: std::ptr::null(),
            option_stride: size_of::<hob_option>(),
            default_choice: 0,
            reserved: 0,
            switch_burden: 0.0,
            user_data: std::ptr::null_mut(),
            release: None,
            options_get: None,
            choice_default: None,
            choice_set: None,
            id_get: None,
            measure: None,
        }
    }
}

/// What was decided. Filled in by the library; initialise with HOB_DECISION_INIT. Arrays are by hob_lane; lanes that are
/// not governed are 0.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_decision {
    /// sizeof(hob_decision); set by hob_decision_init.
    pub struct_size: u32,
    /// 1 if mean + sigmas * deviation of the choice fits the limit. If 0, nothing fits, and the choice is the lightest.
    pub feasible: u32,
    /// Counts up from 1. Samples quote it.
    pub id: u64,
    /// Sum of the chosen values.
    pub value: f64,
    /// The optimum is at most this share above `value`; 0: it is the optimum. What is held for the sake of patience may be
    /// farther off than `precision` accepts. Options on trial are part of the question.
    pub gap: f64,
    /// Mean + sigmas * deviation of the choice: what was held against the capacity.
    pub burden: [f64; HOB_LANE_COUNT],
    /// Expected burden of the choice.
    pub mean: [f64; HOB_LANE_COUNT],
    /// Its deviation.
    pub deviation: [f64; HOB_LANE_COUNT],
    /// What the burden was held against: the limit; with HOB_BURDENS_RELATIVE the controller's capacity, in the host's
    /// unit.
    pub capacity: [f64; HOB_LANE_COUNT],
    /// By how much the burden is over the capacity; 0 when feasible.
    pub excess: [f64; HOB_LANE_COUNT],
    /// Expected burden of the lightest option of every setting.
    pub lightest_mean: [f64; HOB_LANE_COUNT],
    /// Expected burden of the most valuable option of every setting.
    pub highest_mean: [f64; HOB_LANE_COUNT],
    /// Value of the lightest choice.
    pub lightest_value: f64,
    /// Value of the most valuable choice, whether or not it fits.
    pub highest_value: f64,
    /// Settings there were.
    pub setting_count: u32,
    /// Options that are tried in this frame in order to learn their burden.
    pub trial_count: u32,
    /// The strategy in force; 0 where the host has added none.
    pub strategy: u32,
    /// Zero.
    pub reserved: u32,
    /// Nodes that the solver visited.
    pub nodes: u64,
    /// Nanoseconds the decision took, by the clock hook; 0 without one.
    pub elapsed_ns: u64,
    /// Settings whose choice is another than in the decision before.
    pub change_count: u32,
    /// Zero.
    pub reserved2: u32,
}

// SAFETY: repr(C), begins with struct_size, numbers.
unsafe impl Versioned for hob_decision {
    const NAME: &'static str = "hob_decision";
    const FIRST_SIZE: usize = 32 + 7 * 8 * LANES + 16 + 16 + 16;
    fn defaults() -> Self {
        // SAFETY: numbers may be zero.
        let zero = unsafe { std::mem::zeroed() };
        Self { struct_size: size_of::<Self>() as u32, ..zero }
    }
}

impl hob_decision {
    pub fn new(decision: &Decision) -> Self {
        Self {
            feasible: u32::from(decision.feasible),
            id: decision.id,
            value: decision.chosen.value,
            gap: decision.gap,
            lightest_value: decision.lightest.value,
            highest_value: decision.highest.value,
            setting_count: decision.settings,
            trial_count: decision.trials,
            nodes: decision.nodes,
            elapsed_ns: decision.elapsed_ns,
            burden: decision.burden,
            mean: decision.chosen.mean,
            deviation: decision.chosen.deviation,
            capacity: decision.capacity,
            excess: decision.excess,
            lightest_mean: decision.lightest.mean,
            highest_mean: decision.highest.mean,
            strategy: decision.strategy,
            change_count: decision.changes,
            ..Self::defaults()
        }
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
    /// Totals over the limit.
    pub totals_over: u64,
    /// The last harvest's samples over what they typically cost; 1 is normal, 0 nothing yet.
    pub anomaly: f64,
    /// The same, fading by 1/30 a harvest.
    pub recent_anomaly: f64,
    /// Present over past burdens (hob_goblin_set_past_profile); 1 while nothing can be compared.
    pub past_ratio: f64,
    /// Bytes held.
    pub memory_used: u64,
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

/// Fill in defaults; `size` is sizeof(hob_setting_desc). Usually by HOB_SETTING_DESC_INIT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_setting_desc_init(desc: *mut hob_setting_desc, size: u32) -> hob_result {
    // SAFETY: the header's contract.
    guard(|| unsafe { init_struct(desc, size) })
}

/// Fill in defaults; `size` is sizeof(hob_decision). Usually by HOB_DECISION_INIT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_decision_init(decision: *mut hob_decision, size: u32) -> hob_result {
    // SAFETY: the header's contract.
    guard(|| unsafe { init_struct(decision, size) })
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

/// Exchange the parameters. What was learned stays. The governed lane can only change while no sample was learned.
/// On a failure nothing changed. Threads: exclusive.
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

/// Add a setting, at any time. `*out_setting` is written on success.
/// The callbacks are called on the thread that calls hob_goblin_ functions, never at any other time. From inside them,
/// const functions on the goblin work; hob_goblin_remove_setting and hob_goblin_destroy are put off until the running call
/// returns; all others answer HOB_RESULT_BUSY. They must return on the OS thread on which they were called, and no
/// exception may leave them. Threads: exclusive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_goblin_add_setting(
    goblin: *mut hob_goblin,
    desc: *const hob_setting_desc,
    out_setting: *mut hob_setting_id,
) -> hob_result {
    // SAFETY: the header's contract.
    unsafe {
        exclusive(goblin, |held| {
            let out = Out::new(out_setting, "out_setting")?;
            let desc = read_struct(desc)?;
            if !(0.0..=1e9).contains(&desc.switch_burden) {
                return Err(error!(InvalidArgument, "switch_burden {} must be 0 to 1e9", desc.switch_burden));
            }
            let callbacks = Callbacks::of(&desc);
            let id = desc.id.read("id")?;
            let asked = if id.is_empty() { callbacks.id()? } else { None };
            let id = named(asked.as_deref().unwrap_or(id))?;
            let options = match callbacks.options()? {
                Some(options) => options,
                None => read_options(desc.options, desc.option_stride, desc.option_count)?,
            };
            let default_choice = callbacks.default_choice().unwrap_or(desc.default_choice);
            add(held, id, &options, default_choice, true, callbacks, out)
        })
    }
}

/// Add a setting that is off (0, worth nothing) or on (1, worth `value`). Threads: exclusive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_goblin_add_binary(
    goblin: *mut hob_goblin,
    id: hob_str,
    value: f64,
    out_setting: *mut hob_setting_id,
) -> hob_result {
    let options = [OptionDesc::worth(0.0), OptionDesc::worth(value)];
    // SAFETY: the header's contract.
    unsafe { add_plain(goblin, id, &options, true, out_setting) }
}

/// Add a setting with `count` options of these values. Threads: exclusive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_goblin_add_array(
    goblin: *mut hob_goblin,
    id: hob_str,
    values: *const f64,
    count: u32,
    out_setting: *mut hob_setting_id,
) -> hob_result {
    // SAFETY: the header's contract.
    unsafe {
        exclusive(goblin, |held| {
            let out = Out::new(out_setting, "out_setting")?;
            check_count(count)?;
            let values = bytes(values.cast(), count as usize * size_of::<f64>(), "values")?;
            let mut options = Vec::new();
            options.try_reserve_exact(count as usize)?;
            options.extend(
                values
                    .chunks_exact(size_of::<f64>())
                    .map(|value| OptionDesc::worth(f64::from_ne_bytes(value.try_into().unwrap_or_default()))),
            );
            add(held, named(id.read("id")?)?, &options, 0, true, Callbacks::NONE, out)
        })
    }
}

/// Add what there is no choice about but costs something, such as the rest of the frame: one option, measured as all
/// are. Threads: exclusive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_goblin_add_fixed_burden(
    goblin: *mut hob_goblin,
    id: hob_str,
    out_setting: *mut hob_setting_id,
) -> hob_result {
    // SAFETY: the header's contract.
    unsafe { add_plain(goblin, id, &[OptionDesc::worth(0.0)], true, out_setting) }
}

/// Add what there is no choice about and costs nothing but is worth `value`, so that totals can be compared. It is not
/// measured. Threads: exclusive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_goblin_add_fixed_incentive(
    goblin: *mut hob_goblin,
    id: hob_str,
    value: f64,
    out_setting: *mut hob_setting_id,
) -> hob_result {
    // SAFETY: the header's contract.
    unsafe { add_plain(goblin, id, &[OptionDesc::worth(value)], false, out_setting) }
}

/// # Safety
/// The header's contract.
unsafe fn add_plain(
    goblin: *mut hob_goblin,
    id: hob_str,
    options: &[OptionDesc],
    has_burden: bool,
    out_setting: *mut hob_setting_id,
) -> hob_result {
    // SAFETY: by this function's contract.
    unsafe {
        exclusive(goblin, |held| {
            let out = Out::new(out_setting, "out_setting")?;
            add(held, named(id.read("id")?)?, options, 0, has_burden, Callbacks::NONE, out)
        })
    }
}

fn named(id: &str) -> Result<&str> {
    if id.is_empty() {
        return Err(error!(InvalidArgument, "a setting needs an id: what is learned is kept under it"));
    }
    Ok(id)
}

fn add(
    held: &Held<'_, GoblinCell>,
    id: &str,
    options: &[OptionDesc],
    default_choice: u32,
    has_burden: bool,
    callbacks: Callbacks,
    out: Out<hob_setting_id>,
) -> Result<()> {
    let default_choice = u16::try_from(default_choice).unwrap_or(u16::MAX);
    let desc = SettingDesc { default_choice, has_burden, ..SettingDesc::new(id, options) };
    let id = held.with(|cell| cell.add_setting(&desc, callbacks))?;
    out.write(hob_setting_id { index1: id.index1, generation: id.generation });
    Ok(())
}

/// Before anything is read: a count that is not one would lead beyond the caller's array.
fn check_count(count: u32) -> Result<()> {
    if count as usize > MAX_OPTIONS {
        return Err(error!(LimitExceeded, "{count} options; a setting can have {MAX_OPTIONS}"));
    }
    Ok(())
}

/// # Safety
/// As [`Array::new`].
unsafe fn read_options(options: *const hob_option, stride: usize, count: u32) -> Result<Vec<OptionDesc>> {
    check_count(count)?;
    // SAFETY: by this function's contract.
    let options = unsafe { Array::new(options, stride, count as usize) }?;
    let mut descs = Vec::new();
    descs.try_reserve_exact(count as usize)?;
    for option in options.iter() {
        descs.push(option.desc()?);
    }
    Ok(descs)
}

/// Remove a setting, at any time; its release callback is called before this returns. What was learned of its task stays,
/// for when a setting of that id comes back. From inside a callback of the goblin, the setting is removed when the
/// running call returns, and gets no callback but release any more. Threads: exclusive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_goblin_remove_setting(goblin: *mut hob_goblin, setting: hob_setting_id) -> hob_result {
    let id = Id::from(setting);
    // SAFETY: the header's contract.
    unsafe {
        if is_inside(goblin) {
            return inspect(goblin, |cell| cell.remove_later(id));
        }
        exclusive(goblin, |held| {
            // The callbacks' owner is dropped, and so released, when the goblin is no longer borrowed.
            let removed = held.with(|cell| cell.remove_setting(id))?;
            drop(removed);
            Ok(())
        })
    }
}

/// Exchange a setting's options: `count` of them, `stride` bytes apart. With another count than before they are other
/// options: the task's estimates are dropped and learned anew (the log says so). Threads: exclusive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_goblin_set_options(
    goblin: *mut hob_goblin,
    setting: hob_setting_id,
    options: *const hob_option,
    stride: usize,
    count: u32,
) -> hob_result {
    // SAFETY: the header's contract.
    unsafe {
        exclusive(goblin, |held| {
            let options = read_options(options, stride, count)?;
            held.with(|cell| cell.goblin.set_options(setting.into(), &options))
        })
    }
}

/// Exchange the value of one option; -1e9 to 1e9. Threads: exclusive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_goblin_set_value(
    goblin: *mut hob_goblin,
    setting: hob_setting_id,
    option: u32,
    value: f64,
) -> hob_result {
    // SAFETY: the header's contract.
    unsafe { exclusive(goblin, |held| held.with(|cell| cell.goblin.set_value(setting.into(), option, value))) }
}

/// Say whether an option can be chosen now (`ready` 0: it is streaming in or compiling). Threads: exclusive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_goblin_set_ready(
    goblin: *mut hob_goblin,
    setting: hob_setting_id,
    option: u32,
    ready: u32,
) -> hob_result {
    // SAFETY: the header's contract.
    unsafe { exclusive(goblin, |held| held.with(|cell| cell.goblin.set_ready(setting.into(), option, ready != 0))) }
}

/// State how much a setting has to do from the next decision on (objects, pixels, lights), in any unit: burdens are
/// learned per unit of work, so a heavier scene is known at once. 1e-9 to 1e9; 1 until said otherwise.
/// Threads: exclusive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_goblin_set_work(
    goblin: *mut hob_goblin,
    setting: hob_setting_id,
    work: f64,
) -> hob_result {
    // SAFETY: the header's contract.
    unsafe { exclusive(goblin, |held| held.with(|cell| cell.goblin.set_work(setting.into(), work))) }
}

/// Once a frame: hob_goblin_harvest, then hob_goblin_decide. `out_decision` may be NULL. Allocates nothing, waits for
/// nothing. Threads: exclusive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_goblin_update(goblin: *mut hob_goblin, out_decision: *mut hob_decision) -> hob_result {
    // SAFETY: the header's contract.
    unsafe {
        exclusive(goblin, |held| {
            check_decision(out_decision)?;
            harvest(held)?;
            decide_into(held, out_decision)
        })
    }
}

/// The first half of hob_goblin_update: ask the measure callbacks, and close the books on the samples since the last
/// harvest. Threads: exclusive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_goblin_harvest(goblin: *mut hob_goblin) -> hob_result {
    // SAFETY: the header's contract.
    unsafe { exclusive(goblin, harvest) }
}

/// The second half of hob_goblin_update: estimate, solve, hand out the choices. `out_decision` may be NULL. That nothing
/// fits is an answer (feasible 0), not an error. On a failure the choices before stand, but for settings whose options_get
/// had given another number of options by then: those are at their default. Threads: exclusive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_goblin_decide(goblin: *mut hob_goblin, out_decision: *mut hob_decision) -> hob_result {
    // SAFETY: the header's contract.
    unsafe {
        exclusive(goblin, |held| {
            check_decision(out_decision)?;
            decide_into(held, out_decision)
        })
    }
}

/// # Safety
/// As [`checked_size`].
unsafe fn check_decision(out_decision: *const hob_decision) -> Result<()> {
    if out_decision.is_null() {
        return Ok(());
    }
    // SAFETY: by this function's contract.
    unsafe { checked_size(out_decision) }.map(|_| ())
}

/// # Safety
/// As [`write_struct`].
unsafe fn decide_into(held: &Held<'_, GoblinCell>, out_decision: *mut hob_decision) -> Result<()> {
    let decision = decide(held)?;
    if out_decision.is_null() {
        return Ok(());
    }
    // SAFETY: by this function's contract.
    unsafe { write_struct(out_decision, &hob_decision::new(&decision)) }
}

/// What the latest decision gave a setting; before the first, its default. 0 for a stale id, a bad or busy handle, or a
/// setting without options, so that it can index an array at once; hob_last_error tells. Threads: shared.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn hob_goblin_choice(goblin: *const hob_goblin, setting: hob_setting_id) -> u32 {
    // SAFETY: the header's contract.
    let choice = unsafe { shared(goblin, |cell| cell.goblin.choice(setting.into())) };
    choice.ok().flatten().map_or(0, u32::from)
}

/// Report what a setting's choice cost in the frame of `decision_id` (0: the latest): whenever it is known, frames later
/// with GPU timers. `burden` in the lane's unit, 0 to 1e9; `sample` is a hob_sample. Samples of lanes that are
/// not governed are counted and dropped. HOB_RESULT_NOT_FOUND if the decision is not remembered (see `history`).
/// Threads: exclusive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_goblin_measure(
    goblin: *mut hob_goblin,
    decision_id: u64,
    setting: hob_setting_id,
    lane: u32,
    burden: f64,
    sample: u32,
) -> hob_result {
    // SAFETY: the header's contract.
    unsafe {
        exclusive(goblin, |held| {
            let sample = Sample { decision: decision_id, lane, burden, good: is_good(sample)? };
            held.with(|cell| cell.goblin.measure(setting.into(), &sample))
        })
    }
}

/// Report what a whole frame cost. With HOB_BURDENS_RELATIVE this is what the goblin steers by; else it is counted.
/// Parameters as in hob_goblin_measure. Threads: exclusive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_goblin_measure_total(
    goblin: *mut hob_goblin,
    decision_id: u64,
    lane: u32,
    burden: f64,
    sample: u32,
) -> hob_result {
    // SAFETY: the header's contract.
    unsafe {
        exclusive(goblin, |held| {
            let sample = Sample { decision: decision_id, lane, burden, good: is_good(sample)? };
            held.with(|cell| cell.goblin.measure_total(&sample))
        })
    }
}

pub fn is_good(sample: u32) -> Result<bool> {
    match sample {
        0 => Ok(true),
        1..=3 => Ok(false),
        other => Err(error!(InvalidArgument, "sample {other} is not a hob_sample")),
    }
}

/// Say that in the frame of `decision_id` (0: the latest) the host used `choice` instead of what was decided, because it
/// was late or impossible: samples of that frame are booked on it. Threads: exclusive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_goblin_applied(
    goblin: *mut hob_goblin,
    decision_id: u64,
    setting: hob_setting_id,
    choice: u32,
) -> hob_result {
    // SAFETY: the header's contract.
    unsafe { exclusive(goblin, |held| held.with(|cell| cell.goblin.applied(setting.into(), decision_id, choice))) }
}

/// What an option is expected to cost in the next frame, for the setting's present work; the count is of this run's
/// samples. Threads: shared.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_goblin_estimate(
    goblin: *const hob_goblin,
    setting: hob_setting_id,
    option: u32,
    lane: u32,
    out_estimate: *mut hob_estimate,
) -> hob_result {
    // SAFETY: the header's contract.
    unsafe {
        inspect(goblin, |cell| {
            let (burden, count) = cell.goblin.estimate(setting.into(), option, lane as usize)?;
            let estimate = hob_estimate {
                source: hob_estimate_source::from(burden.source) as u32,
                count,
                mean: burden.normal.mean,
                deviation: burden.normal.deviation(),
                ..hob_estimate::defaults()
            };
            write_struct(out_estimate, &estimate)
        })
    }
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
                ..hob_goblin_statistics::defaults()
            };
            write_struct(out_statistics, &statistics)
        })
    }
}

/// Use what a past run knew, perhaps on another machine: how much slower or faster this one is, is learned from the first
/// samples. Copied; replaces an earlier past. Tasks whose number of options differs are not used, and the log says so.
/// Threads: exclusive; shared for `profile`.
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

/// Write what is known as JSON: this run's samples, and where there are none what the past knew, scaled to this machine.
/// Sizes and buffer as in hob_profile_save. Threads: shared.
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
