//! `goblin.h`: descriptions of settings and their options.

use std::ffi::c_void;

use hobgoblin_macros::{element, versioned};

use super::ids::{HOB_DECISION_LATEST, hob_lane, hob_sample_quality};
use crate::base::{Result, error};
use crate::ffi::base::text::hob_str;
use crate::goblin::OptionDesc;

// == Settings ==

/// hob_option.flags: the option cannot be chosen now.
/// It is streaming in, compiling, or not bought.
pub const HOB_OPTION_NOT_READY: u32 = 1;

/// One option of a setting.
/// 0 is a good start for every field.
#[element(size = 24, last = reserved)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_option {
    /// Its worth, in any unit that all settings share. -1e9 to 1e9.
    pub value: f64,
    /// Rough burden, in any unit that all settings share, for HOB_BURDENS_RELATIVE and HOB_BURDENS_TOTALS. With
    /// HOB_BURDENS_LEARNED it is the first guess of an option. 0, or 1e-9 to 1e9.
    pub relative_burden: f64,
    /// HOB_OPTION_ flags.
    pub flags: u32,
    /// Must be 0.
    pub reserved: u32,
}

impl hob_option {
    pub fn desc(&self) -> Result<OptionDesc> {
        let unknown = self.flags & !HOB_OPTION_NOT_READY;
        if unknown != 0 {
            return Err(error!(
                Unsupported,
                "hob_option.flags {unknown:#x}: this library knows HOB_OPTION_NOT_READY only"
            ));
        }
        let ready = self.flags & HOB_OPTION_NOT_READY == 0;
        Ok(OptionDesc { value: self.value, relative_burden: self.relative_burden, ready, work: 1.0 })
    }
}

/// A sample, for the measure callback.
/// The library presets every field.
#[versioned(size = 32, last = reserved)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_sample {
    /// sizeof(hob_sample), set by the library.
    pub struct_size: u32,
    /// The lane. Preset to the first one that has a limit.
    pub lane: hob_lane,
    /// The decision of the frame. Preset to HOB_DECISION_LATEST.
    #[initial(HOB_DECISION_LATEST)]
    pub decision_id: u64,
    /// The cost, in the lane's unit. 0 to 1e9.
    pub burden: f64,
    /// The quality. Preset to HOB_SAMPLE_QUALITY_OK.
    pub quality: hob_sample_quality,
    /// 0.
    pub reserved: u32,
}

/// hob_setting_desc.flags: a fine ladder, such as a dynamic resolution.
/// Every decision sets it anew to use up the last slack, even if no other setting changes. If its switch_burden is more
/// than a tenth of the first lane's limit, it changes as seldom as others.
pub const HOB_SETTING_TRIM: u32 = 1;

/// Parameters of a setting.
/// Its options come from the array or from the callback get_options.
#[versioned(size = 112, last = measure)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_setting_desc {
    /// sizeof(hob_setting_desc).
    pub struct_size: u32,
    /// Options in the array: 0 to 65535.
    pub option_count: u32,
    /// The task: burdens are learned and saved under this name. Settings of one task pool their samples, and must have
    /// the same number of options. Empty: get_id is called.
    pub id: hob_str,
    /// The options; choices are indices into them. Copied.
    pub options: *const hob_option,
    /// Bytes from one option to the next, also for get_options: sizeof(hob_option). 0: its first released size.
    pub option_stride: usize,
    /// The choice while nothing is known of the setting. Default 0.
    pub default_choice: u32,
    /// HOB_SETTING_ flags. Default 0.
    pub flags: u32,
    /// Cost of a change on the frame that makes it, on the first lane. 0 to 1e9. Default 0.
    /// If a change takes two or three frames, give the cost of one of them. hob_decision does not include it.
    ///
    /// A voluntary change waits until its gains, added up over the frames, reach this burden times what a unit of
    /// burden is worth now. See also hob_goblin_set_switch_scale. Changes of HOB_SETTING_TRIM settings that make their
    /// own frame late are rare: half of the late frames that overrun_probability or the sigmas allow.
    pub switch_burden: f64,
    /// Passed to all callbacks.
    pub user_data: *mut c_void,
    /// Called exactly once, after the setting was removed or the goblin destroyed.
    /// No other callback of the goblin runs at that time. Not called if adding the setting failed. May be NULL, like
    /// every callback.
    pub release: Option<extern "C" fn(user_data: *mut c_void)>,
    /// Fills in `options` and returns their number; the array above is then ignored. `options` is zeroed and has room
    /// for `capacity`, option_stride apart. If that is too small, return the number and fill in nothing: the call is
    /// repeated with more room. With an invalid answer, such as a NaN, the running call returns
    /// HOB_RESULT_INVALID_ARGUMENT.
    ///
    /// Called when the setting is added and before every decision, so values can follow the scene. Its answer replaces
    /// what hob_goblin_set_options, hob_goblin_set_value and hob_goblin_set_ready have set.
    pub get_options: Option<extern "C" fn(user_data: *mut c_void, options: *mut hob_option, capacity: u32) -> u32>,
    /// Returns the default choice, instead of default_choice. Called when the setting is added.
    pub get_default_choice: Option<extern "C" fn(user_data: *mut c_void) -> u32>,
    /// Receives the choice: after the first decision, and after every decision that changed it, trials included.
    pub set_choice: Option<extern "C" fn(user_data: *mut c_void, choice: u32, decision_id: u64)>,
    /// Gives the task's name, if `id` is empty. Called when the setting is added; the text is copied as soon as this
    /// returns.
    pub get_id: Option<extern "C" fn(user_data: *mut c_void, out_id: *mut hob_str)>,
    /// Fills in a sample and returns 1; returns 0 if there is no sample. hob_goblin_collect_samples calls it until it
    /// returns 0, at most 64 times. An unusable sample (NaN, too late) is counted and dropped.
    pub measure: Option<extern "C" fn(user_data: *mut c_void, out_sample: *mut hob_sample) -> u32>,
}
