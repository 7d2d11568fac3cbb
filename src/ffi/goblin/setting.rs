//! `goblin.h`: settings and their options.

use std::ffi::c_void;

use super::base::{hob_result, hob_str};
use super::callbacks::{Callbacks, GoblinCell, exclusive};
use super::goblin::{hob_goblin, hob_setting_id};
use super::goblin_product::numbers;
use super::guard::guard;
use super::handle::{Held, inspect, is_inside};
use super::layout::{Array, Element, Out, Versioned, init_struct, read_struct};
use crate::base::{Id, Result, error};
use crate::goblin::{OptionDesc, SettingDesc};
use crate::profile::MAX_OPTIONS;

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

/// hob_setting_desc.flags: a fine ladder, such as a dynamic resolution, that takes up the last slack of every frame: it
/// is set anew in each, while the other settings stay put.
pub const HOB_SETTING_TRIM: u32 = 1;

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
    /// HOB_SETTING_ flags. Default 0.
    pub flags: u32,
    /// What is lost on the frame in which it changes, on the first lane that has a limit, in that lane's unit: a change
    /// that is not needed to keep a limit is made when what it gains has paid for that, at the present price of the
    /// lane. See also switch_limit of hob_goblin_desc and hob_goblin_set_switch_scale. 0 to 1e9, default 0.
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
    /// Fill in a measurement and return 1, or return 0 when there is none. Called by harvest until it returns 0, at
    /// most 64 times. A sample that cannot be used (NaN, too late) is counted and dropped.
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
            flags: 0,
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

/// Fill in defaults; `size` is sizeof(hob_setting_desc). Usually by HOB_SETTING_DESC_INIT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_setting_desc_init(desc: *mut hob_setting_desc, size: u32) -> hob_result {
    // SAFETY: the header's contract.
    guard(|| unsafe { init_struct(desc, size) })
}

/// Add a setting, at any time. `*out_setting` is written on success.
/// The callbacks are called on the thread that calls hob_goblin_ functions, never at any other time. From inside them,
/// const functions on the goblin work; hob_goblin_remove_setting and hob_goblin_destroy are put off until the running
/// call returns; all others answer HOB_RESULT_BUSY. They must return on the OS thread on which they were called, and no
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
            let is_trim = is_trim(desc.flags)?;
            let callbacks = Callbacks::of(&desc);
            let id = desc.id.read("id")?;
            let asked = if id.is_empty() { callbacks.id()? } else { None };
            let id = named(asked.as_deref().unwrap_or(id))?;
            let options = match callbacks.options()? {
                Some(options) => options,
                None => read_options(desc.options, desc.option_stride, desc.option_count)?,
            };
            let default_choice = callbacks.default_choice().unwrap_or(desc.default_choice);
            let setting = SettingDesc {
                default_choice: u16::try_from(default_choice).unwrap_or(u16::MAX),
                is_trim,
                switch_burden: desc.switch_burden,
                ..SettingDesc::new(id, &options)
            };
            add(held, &setting, callbacks, out)
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
            let values = numbers(values, count, "values")?;
            let mut options = Vec::new();
            options.try_reserve_exact(values.len())?;
            options.extend(values.into_iter().map(OptionDesc::worth));
            add(held, &SettingDesc::new(named(id.read("id")?)?, &options), Callbacks::NONE, out)
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
            let desc = SettingDesc { has_burden, ..SettingDesc::new(named(id.read("id")?)?, options) };
            add(held, &desc, Callbacks::NONE, out)
        })
    }
}

pub fn named(id: &str) -> Result<&str> {
    if id.is_empty() {
        return Err(error!(InvalidArgument, "a setting needs an id: what is learned is kept under it"));
    }
    Ok(id)
}

fn add(
    held: &Held<'_, GoblinCell>,
    desc: &SettingDesc<'_>,
    callbacks: Callbacks,
    out: Out<hob_setting_id>,
) -> Result<()> {
    let id = held.with(|cell| cell.add_setting(callbacks, |goblin| goblin.add_setting(desc)))?;
    out.write(id.into());
    Ok(())
}

/// What a setting's flags say.
pub fn is_trim(flags: u32) -> Result<bool> {
    if flags & !HOB_SETTING_TRIM != 0 {
        return Err(error!(Unsupported, "setting flags {flags:#x}: this library knows HOB_SETTING_TRIM only"));
    }
    Ok(flags & HOB_SETTING_TRIM != 0)
}

/// Before anything is read: a count that is not one would lead beyond the caller's array.
pub fn check_count(count: u32) -> Result<()> {
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

/// Remove a setting, at any time; its release callback is called before this returns. What was learned of its task
/// stays, for when a setting of that id comes back. From inside a callback of the goblin, the setting is removed when
/// the running call returns, and gets no callback but release any more. Threads: exclusive.
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
/// options: the task's estimates are dropped and learned anew (the log says so), and what strategies had of its own is
/// void. A product keeps its count and its works: another count is HOB_RESULT_INVALID_ARGUMENT. Threads: exclusive.
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
