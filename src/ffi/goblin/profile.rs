//! `goblin.h`: import and export of learned burdens.

use std::ffi::{c_char, c_void};

use hobgoblin_macros::entry;

use super::create::hob_goblin;
use crate::ffi::base::result::hob_result;
use crate::ffi::profile::{copy_of, hob_profile};
use crate::profile::Profile;

// == Profiles ==

/// Uses the burdens of a past run, perhaps of another machine.
/// The first samples show how much slower or faster this machine is. The profile is copied; it replaces an earlier one.
/// Tasks with a different number of options are not used; the log says so. Threads: exclusive; shared for `profile`.
#[entry(exclusive)]
pub extern "C" fn hob_goblin_set_past_profile(goblin: *mut hob_goblin, profile: *const hob_profile) -> hob_result {
    let past = copy_of(profile)?;
    goblin.with(|cell| cell.goblin.set_past_profile(&past))
}

/// Uses the burdens of a past run, as JSON of hob_goblin_save_profile.
/// See hob_profile_load. Threads: exclusive.
#[entry(exclusive)]
pub extern "C" fn hob_goblin_load_profile(goblin: *mut hob_goblin, data: *const c_void, size: usize) -> hob_result {
    let past = Profile::from_json(data)?;
    goblin.with(|cell| cell.goblin.set_past_profile(&past))
}

/// Writes the burdens as JSON into a buffer: those of this run, otherwise scaled ones of the past profile.
/// Only HOB_BURDENS_LEARNED has burdens of single options: otherwise it is the past profile, or empty. Sizes and buffer
/// as in hob_profile_save. Threads: shared.
#[entry(shared)]
pub extern "C" fn hob_goblin_save_profile(
    goblin: *const hob_goblin,
    buffer: *mut c_char,
    capacity: usize,
    out_size: *mut usize,
) -> hob_result {
    let profile = goblin.goblin.profile()?;
    buffer.fill(profile.json_size(), |bytes| profile.to_json(bytes))
}
