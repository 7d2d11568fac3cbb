//! `goblin.h`: adding, changing and removing settings.

use hobgoblin_macros::entry;

use super::cell::{Callbacks, GoblinCell};
use super::create::hob_goblin;
use super::ids::hob_setting_id;
use super::setting_desc::{HOB_SETTING_TRIM, hob_option, hob_setting_desc};
use crate::base::{Result, error, try_collect, try_collect_all};
use crate::ffi::base::array::Array;
use crate::ffi::base::handle::Held;
use crate::ffi::base::out::Out;
use crate::ffi::base::result::hob_result;
use crate::ffi::base::text::hob_str;
use crate::ffi::base::user_data::UserData;
use crate::goblin::{OptionDesc, SettingDesc};
use crate::profile::MAX_OPTIONS;

/// Adds a setting, at any time; `*out_setting` receives its id.
/// HOB_RESULT_INVALID_ARGUMENT for an empty id, or if another setting of that id has a different number of options.
/// HOB_RESULT_LIMIT_EXCEEDED: max_settings or memory_limit is reached. Threads: exclusive. Callbacks: they run inside
/// calls on this goblin, on the thread of the call. Inside them, const functions work; hob_goblin_remove_setting and
/// hob_goblin_destroy take effect when the running call returns; all others return HOB_RESULT_BUSY.
///
///     hob_option options[] = {{.value = 0}, {.value = 4}, {.value = 6}};
///     hob_setting_desc desc = HOB_SETTING_DESC_INIT;
///     desc.id = HOB_STR("shadows");
///     desc.options = options;
///     desc.option_count = 3;
///     desc.switch_burden = 2.0;   // milliseconds that a change costs
///     hob_goblin_add_setting(goblin, &desc, &shadows);
#[entry(exclusive)]
pub extern "C" fn hob_goblin_add_setting(
    goblin: *mut hob_goblin,
    desc: *const hob_setting_desc,
    out_setting: *mut hob_setting_id,
) -> hob_result {
    let is_trim = is_trim(desc.flags)?;
    let callbacks = Callbacks::of(&desc);
    // SAFETY: the header asks for a valid text.
    let id = unsafe { desc.id.argument("id") }.text()?;
    let given = if id.is_empty() { callbacks.id()? } else { None };
    let id = check_id(given.as_deref().unwrap_or(id))?;
    let options = match callbacks.options()? {
        Some(options) => options,
        None => {
            check_count(desc.option_count as usize)?;
            // SAFETY: the header asks for as many options.
            read_options(&unsafe {
                Array::new(desc.options, desc.option_stride, desc.option_count as usize, "options")
            }?)?
        }
    };
    let default_choice = callbacks.default_choice().unwrap_or(desc.default_choice);
    let setting =
        SettingDesc { is_trim, switch_burden: desc.switch_burden, ..with_default(id, &options, default_choice) };
    let owned = (callbacks, UserData::new(desc.user_data, desc.release));
    let id = goblin.with(|cell| cell.add_setting(Some(owned), |goblin| goblin.add_setting(&setting)))?;
    out_setting.write(id.into());
    Ok(())
}

/// Adds a setting that is off (0, worth nothing) or on (1, worth `value`).
/// Threads: exclusive.
#[entry(exclusive)]
pub extern "C" fn hob_goblin_add_binary(
    goblin: *mut hob_goblin,
    id: hob_str,
    value: f64,
    out_setting: *mut hob_setting_id,
) -> hob_result {
    let options = [OptionDesc::worth(0.0), OptionDesc::worth(value)];
    add(goblin, &SettingDesc::new(check_id(id.text()?)?, &options), out_setting)
}

/// Adds a setting that is off (0, worth `value_off`) or on (1, worth `value_on`).
/// `default_choice`, 0 or 1, is the choice while nothing is known of the setting. Threads: exclusive.
#[entry(exclusive)]
pub extern "C" fn hob_goblin_add_binary_with_default(
    goblin: *mut hob_goblin,
    id: hob_str,
    value_off: f64,
    value_on: f64,
    default_choice: u32,
    out_setting: *mut hob_setting_id,
) -> hob_result {
    let options = [OptionDesc::worth(value_off), OptionDesc::worth(value_on)];
    add(goblin, &with_default(check_id(id.text()?)?, &options, default_choice), out_setting)
}

/// Adds a setting with `count` options of these values.
/// Threads: exclusive.
#[entry(exclusive)]
pub extern "C" fn hob_goblin_add_array(
    goblin: *mut hob_goblin,
    id: hob_str,
    values: *const f64,
    count: u32,
    out_setting: *mut hob_setting_id,
) -> hob_result {
    add_array(goblin, id.text()?, &values, 0, out_setting)
}

/// Adds a setting with `count` options of these values, and a default.
/// `default_choice` is the choice while nothing is known of the setting. Threads: exclusive.
#[entry(exclusive)]
pub extern "C" fn hob_goblin_add_array_with_default(
    goblin: *mut hob_goblin,
    id: hob_str,
    values: *const f64,
    count: u32,
    default_choice: u32,
    out_setting: *mut hob_setting_id,
) -> hob_result {
    add_array(goblin, id.text()?, &values, default_choice, out_setting)
}

/// Adds a burden without a choice, such as the rest of the frame: a setting with one option, measured like all others.
/// Threads: exclusive.
#[entry(exclusive)]
pub extern "C" fn hob_goblin_add_fixed_burden(
    goblin: *mut hob_goblin,
    id: hob_str,
    out_setting: *mut hob_setting_id,
) -> hob_result {
    add(goblin, &SettingDesc::new(check_id(id.text()?)?, &[OptionDesc::worth(0.0)]), out_setting)
}

/// Adds a burden without a choice that is worth `value`, -1e9 to 1e9.
/// hob_goblin_set_strategy_value can vary the value by strategy. Threads: exclusive.
#[entry(exclusive)]
pub extern "C" fn hob_goblin_add_fixed_burden_with_value(
    goblin: *mut hob_goblin,
    id: hob_str,
    value: f64,
    out_setting: *mut hob_setting_id,
) -> hob_result {
    add(goblin, &SettingDesc::new(check_id(id.text()?)?, &[OptionDesc::worth(value)]), out_setting)
}

/// Adds a value without a choice or a burden; hob_goblin_set_strategy_value can vary it by strategy.
/// It is not measured. Threads: exclusive.
#[entry(exclusive)]
pub extern "C" fn hob_goblin_add_fixed_incentive(
    goblin: *mut hob_goblin,
    id: hob_str,
    value: f64,
    out_setting: *mut hob_setting_id,
) -> hob_result {
    let options = [OptionDesc::worth(value)];
    let desc = SettingDesc { has_burden: false, ..SettingDesc::new(check_id(id.text()?)?, &options) };
    add(goblin, &desc, out_setting)
}

fn add_array(
    goblin: &Held<'_, GoblinCell>,
    id: &str,
    values: &Array<'_, f64>,
    default_choice: u32,
    out: Out<hob_setting_id>,
) -> Result<()> {
    check_count(values.len())?;
    let options = try_collect(values.iter().map(OptionDesc::worth))?;
    add(goblin, &with_default(check_id(id)?, &options, default_choice), out)
}

/// A default beyond the last option is rejected later.
fn with_default<'a>(id: &'a str, options: &'a [OptionDesc], default_choice: u32) -> SettingDesc<'a> {
    SettingDesc { default_choice: u16::try_from(default_choice).unwrap_or(u16::MAX), ..SettingDesc::new(id, options) }
}

fn add(goblin: &Held<'_, GoblinCell>, desc: &SettingDesc<'_>, out: Out<hob_setting_id>) -> Result<()> {
    let id = goblin.with(|cell| cell.add_setting(None, |goblin| goblin.add_setting(desc)))?;
    out.write(id.into());
    Ok(())
}

/// Removes a setting, at any time; its `release` is called before this returns.
/// Learned burdens of its task stay, for a later setting of that id. Inside a callback of the goblin, the setting is
/// removed, and `release` called, when the running call returns; its other callbacks are not called any more.
/// Threads: exclusive.
#[entry(exclusive, inside = goblin.remove_later(setting.into()))]
pub extern "C" fn hob_goblin_remove_setting(goblin: *mut hob_goblin, setting: hob_setting_id) -> hob_result {
    // Released when the goblin is no longer borrowed.
    drop(goblin.with(|cell| cell.remove_setting(setting.into()))?);
    Ok(())
}

/// Replaces a setting's options: `count` of them, `stride` bytes apart.
/// `stride` is sizeof(hob_option); 0 means its first released size. With a different count, learned burdens of the task
/// and its values under strategies are dropped; the log says so. Other settings of the task keep their number of
/// options: change theirs, too. Range, pin and `enabled` stay. HOB_RESULT_INVALID_ARGUMENT for a product with a
/// different count. Threads: exclusive.
#[entry(exclusive)]
pub extern "C" fn hob_goblin_set_options(
    goblin: *mut hob_goblin,
    setting: hob_setting_id,
    options: *const hob_option,
    stride: usize,
    count: u32,
) -> hob_result {
    let options = read_options(&options)?;
    goblin.with(|cell| cell.goblin.set_options(setting.into(), &options))
}

/// Changes the value of one option; -1e9 to 1e9.
/// Threads: exclusive.
#[entry(exclusive, hot)]
pub extern "C" fn hob_goblin_set_value(
    goblin: *mut hob_goblin,
    setting: hob_setting_id,
    option: u32,
    value: f64,
) -> hob_result {
    goblin.with(|cell| cell.goblin.set_value(setting.into(), option, value))
}

/// Sets whether an option can be chosen now.
/// `ready` 0: it is streaming in or compiling. An option that does not exist gives HOB_RESULT_INVALID_ARGUMENT, as in
/// all functions that change one. Threads: exclusive.
#[entry(exclusive, hot)]
pub extern "C" fn hob_goblin_set_ready(
    goblin: *mut hob_goblin,
    setting: hob_setting_id,
    option: u32,
    ready: u32,
) -> hob_result {
    goblin.with(|cell| cell.goblin.set_ready(setting.into(), option, ready != 0))
}

/// Sets how much work a setting has from the next decision on: objects, pixels, lights, in any unit.
/// Burdens are learned per unit of work, so the cost of a heavier scene is known at once. 1e-9 to 1e9; initially 1. A
/// late sample counts with the work of its own decision.
/// Threads: exclusive.
#[entry(exclusive)]
pub extern "C" fn hob_goblin_set_work(goblin: *mut hob_goblin, setting: hob_setting_id, work: f64) -> hob_result {
    goblin.with(|cell| cell.goblin.set_work(setting.into(), work))
}

pub fn check_id(id: &str) -> Result<&str> {
    if id.is_empty() {
        return Err(error!(InvalidArgument, "id is empty: pass the name under which burdens are learned"));
    }
    Ok(id)
}

/// Whether a setting's flags have HOB_SETTING_TRIM.
pub fn is_trim(flags: u32) -> Result<bool> {
    if flags & !HOB_SETTING_TRIM != 0 {
        return Err(error!(Unsupported, "flags {flags:#x}: this library knows HOB_SETTING_TRIM only"));
    }
    Ok(flags & HOB_SETTING_TRIM != 0)
}

pub fn check_count(count: usize) -> Result<()> {
    if count > MAX_OPTIONS {
        return Err(error!(LimitExceeded, "{count} options: a setting can have at most {MAX_OPTIONS}"));
    }
    Ok(())
}

fn read_options(options: &Array<'_, hob_option>) -> Result<Vec<OptionDesc>> {
    check_count(options.len())?;
    try_collect_all(options.iter().map(|option| option.desc()))
}
