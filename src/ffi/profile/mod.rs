//! The costs of settings: a table of tasks, saved as JSON for the next run or another machine.
//!
//! ```c
//! hob_profile *profile = NULL;
//! if (hob_profile_create(NULL, &profile) != HOB_RESULT_OK) fail(hob_last_error());
//! hob_profile_load_file(profile, HOB_STR("costs.json"));
//! hob_profile_scale(profile, 1.5);                    /* optional: this machine needs 1.5 times as long */
//! hob_goblin_set_past_profile(goblin, profile);
//! hob_profile_destroy(profile);
//! ```
//!
//! Terms:
//! - Task: all settings that are measured under one id.
//! - Burden: the cost of an option, in the unit of its lane; milliseconds for lanes of time.
//! - Lane: a resource of a goblin, such as GPU time. The first lane with a limit is saved under the task's id, others
//!   under "id@lane", such as "shadows@render_thread".
//! - Estimate: mean and standard deviation of a burden, and the number of samples behind them.

use std::ffi::{c_char, c_void};

use hobgoblin_macros::{element, entry, opaque, open_enum, versioned};

use super::base::guard;
use super::base::handle::{self, Handle};
use super::base::out::write_if;
use super::base::result::hob_result;
use super::base::structs::Versioned;
use super::base::text::hob_str;
use crate::base::files::{read_file, replace_file};
use crate::base::{Error, Result, error, try_collect};
use crate::profile::{Estimate, MAX_OPTIONS, Profile, Source};

/// Tasks and what their options cost.
/// A handle: see "Handles" in base.h.
#[opaque(ProfileCell, tag = b"hobprofi")]
pub struct hob_profile {
    _private: [u8; 0],
}

/// A profile and the limit it was created with.
pub struct ProfileCell {
    profile: Profile,
    memory_limit: u64,
}

impl ProfileCell {
    /// Changes a copy, which replaces the original if it fits into the limit.
    fn change(&mut self, work: impl FnOnce(&mut Profile) -> Result<()>) -> Result<()> {
        let mut changed = self.profile.try_clone()?;
        work(&mut changed)?;
        self.replace(changed)
    }

    fn replace(&mut self, profile: Profile) -> Result<()> {
        let (used, limit) = (profile.memory_used() as u64, self.memory_limit);
        if used > limit {
            return Err(error!(LimitExceeded, "the profile needs {used} bytes: raise memory_limit, which is {limit}"));
        }
        self.profile = profile;
        Ok(())
    }
}

// == Create and destroy ==

/// Parameters of a profile.
#[versioned(size = 16, last = memory_limit)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_profile_desc {
    /// sizeof(hob_profile_desc).
    pub struct_size: u32,
    /// Must be 0.
    pub reserved: u32,
    /// Limit of the memory, in bytes. Default 0: no limit.
    #[default(u64::MAX)]
    pub memory_limit: u64,
}

/// Creates an empty profile.
/// `desc` may be NULL: defaults. On success `*out_profile` is the caller's to destroy. Threads: any.
#[entry(any, nullable(desc))]
pub extern "C" fn hob_profile_create(desc: *const hob_profile_desc, out_profile: *mut *mut hob_profile) -> hob_result {
    let memory_limit = desc.map_or(u64::MAX, |desc| desc.memory_limit);
    out_profile.write(handle::create(ProfileCell { profile: Profile::new(), memory_limit })?);
    Ok(())
}

/// Destroys a profile; NULL is allowed.
/// Threads: no call on it may run on another thread.
#[entry(destroy)]
pub extern "C" fn hob_profile_destroy(profile: *mut hob_profile) {}

// == Load and save ==

/// Replaces all tasks by those of a JSON text, `{"id":[[count,mean,deviation],...],...}`.
/// Each task has a list of its options: number of samples, mean, standard deviation. `data` is UTF-8; no NUL needed.
/// HOB_RESULT_MALFORMED: the sentence has line and column. After a failure the profile is unchanged. Threads:
/// exclusive.
#[entry(exclusive)]
pub extern "C" fn hob_profile_load(profile: *mut hob_profile, data: *const c_void, size: usize) -> hob_result {
    let loaded = Profile::from_json(data)?;
    profile.with(|cell| cell.replace(loaded))
}

/// Writes the profile as JSON into a buffer, without a NUL; loading it restores every number exactly.
/// A count above 2^53 is written as 2^53. `*out_size` receives the required size. `buffer` NULL asks only for that. If
/// `capacity` is too small, the result is HOB_RESULT_BUFFER_TOO_SMALL and the buffer stays unchanged. Threads: shared.
#[entry(shared)]
pub extern "C" fn hob_profile_save(
    profile: *const hob_profile,
    buffer: *mut c_char,
    capacity: usize,
    out_size: *mut usize,
) -> hob_result {
    buffer.fill(profile.profile.json_size(), |bytes| profile.profile.to_json(bytes))
}

/// Replaces all tasks by those of a JSON file: as hob_profile_load, from a file.
/// Only a regular file is read. HOB_RESULT_IO: it is missing, unreadable, or not a regular file. Blocks on the disk. A
/// host with its own file layer calls hob_profile_load instead. Threads: exclusive.
#[entry(exclusive)]
pub extern "C" fn hob_profile_load_file(profile: *mut hob_profile, path: hob_str) -> hob_result {
    let loaded = Profile::from_json(&read_file(path.text()?)?)?;
    profile.with(|cell| cell.replace(loaded))
}

/// Saves the profile as a JSON file.
/// A crash leaves the old file or the new one: the text goes to a new file, which then replaces `path`. A symbolic link
/// at `path` is replaced, not followed. Several threads and processes may save to one path. A killed process may
/// leave its new file, `.hobgoblin-*.new`, in the directory; it can be deleted. Blocks on the disk.
/// Threads: shared.
#[entry(shared)]
pub extern "C" fn hob_profile_save_file(profile: *const hob_profile, path: hob_str) -> hob_result {
    let mut text = crate::base::try_filled(0u8, profile.profile.json_size())?;
    profile.profile.to_json(&mut text)?;
    replace_file(path.text()?, &text)
}

// == Tasks ==

/// Where an estimate comes from.
#[open_enum]
#[repr(C)]
pub enum hob_estimate_source {
    /// Nothing is known of the option: a guess from the other options of its setting.
    Blind = 0,
    /// The past profile, scaled to this machine.
    Past = 1,
    /// A few samples of this run, blended with a prior.
    Ramp = 2,
    /// Recent samples of this run.
    Recent = 3,
}

impl From<Source> for hob_estimate_source {
    fn from(source: Source) -> Self {
        match source {
            Source::Blind => Self::Blind,
            Source::Past => Self::Past,
            Source::Ramp => Self::Ramp,
            Source::Recent => Self::Recent,
        }
    }
}

/// The cost of one option.
/// An answer: set struct_size, or begin with HOB_ESTIMATE_INIT.
#[versioned(size = 32, last = deviation)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_estimate {
    /// sizeof(hob_estimate).
    pub struct_size: u32,
    /// Where it comes from.
    pub source: hob_estimate_source,
    /// Samples behind it; 0: nothing was measured.
    pub count: u64,
    /// Mean burden in the lane's unit, milliseconds for lanes of time. Not negative.
    pub mean: f64,
    /// Population standard deviation, in the same unit.
    pub deviation: f64,
}

/// One option of a task, for hob_profile_set_task.
#[element(size = 24, last = deviation)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_profile_option {
    /// Samples behind it; 0: unknown. Counts above 2^53 are saved as 2^53.
    pub count: u64,
    /// Mean burden: finite, not negative.
    pub mean: f64,
    /// Standard deviation: finite, not negative.
    pub deviation: f64,
}

/// Sets the estimates of task `id`: `count` options, `stride` bytes apart.
/// A new task is added; an old one is replaced. `stride` is sizeof(hob_profile_option); 0 means its first released
/// size. HOB_RESULT_LIMIT_EXCEEDED with more than 65535 options. Threads: exclusive.
#[entry(exclusive)]
pub extern "C" fn hob_profile_set_task(
    profile: *mut hob_profile,
    id: hob_str,
    options: *const hob_profile_option,
    stride: usize,
    count: u32,
) -> hob_result {
    let id = id.text()?;
    if options.len() > MAX_OPTIONS {
        return Err(error!(LimitExceeded, "{} options: a task can have at most {MAX_OPTIONS}", options.len()));
    }
    let estimate = |o: hob_profile_option| Estimate { count: o.count, mean: o.mean, deviation: o.deviation };
    let estimates = try_collect(options.iter().map(estimate))?;
    profile.with(|cell| cell.change(|profile| profile.set(id, &estimates)))
}

/// Removes task `id`.
/// HOB_RESULT_NOT_FOUND if there is no such task. Threads: exclusive.
#[entry(exclusive)]
pub extern "C" fn hob_profile_remove_task(profile: *mut hob_profile, id: hob_str) -> hob_result {
    let id = id.text()?;
    profile.with(|cell| if cell.profile.remove(id) { Ok(()) } else { Err(no_such_task(id)) })
}

/// Removes all tasks.
/// Threads: exclusive.
#[entry(exclusive)]
pub extern "C" fn hob_profile_clear(profile: *mut hob_profile) -> hob_result {
    profile.with(|cell| cell.profile.clear());
    Ok(())
}

/// Adds all tasks of `other`, and pools the samples of tasks that both have.
/// Where the two have different numbers of options for a task, the side with more samples is kept. A profile can be
/// added to itself, which doubles its counts. HOB_RESULT_INVALID_ARGUMENT: a pooled mean or deviation overflows, as it
/// may with burdens above 1e150. After a failure the profile is unchanged. Threads: exclusive; shared for `other`.
#[entry(exclusive)]
pub extern "C" fn hob_profile_merge(profile: *mut hob_profile, other: *const hob_profile) -> hob_result {
    let other = copy_of(other)?;
    profile.with(|cell| cell.change(|profile| profile.merge(&other)))
}

/// Multiplies every burden by `factor` (finite, above 0), as for a machine that is slower by that factor.
/// Threads: exclusive.
#[entry(exclusive)]
pub extern "C" fn hob_profile_scale(profile: *mut hob_profile, factor: f64) -> hob_result {
    profile.with(|cell| cell.profile.scale(factor))
}

// == Queries ==

/// Returns the number of tasks; 0 for an invalid handle.
/// Threads: shared.
#[entry(shared, hot)]
pub extern "C" fn hob_profile_task_count(profile: *const hob_profile) -> u32 {
    Ok(profile.profile.tasks().len() as u32)
}

/// Gets the id of the task at `index` and its number of options.
/// Tasks are in order of id. `*out_id` is a view that is valid until the profile changes. `out_option_count` may be
/// NULL. HOB_RESULT_NOT_FOUND if `index` is not below the number of tasks. Threads: shared.
#[entry(shared, nullable(out_option_count))]
pub extern "C" fn hob_profile_get_task(
    profile: *const hob_profile,
    index: u32,
    out_id: *mut hob_str,
    out_option_count: *mut u32,
) -> hob_result {
    let tasks = profile.profile.tasks();
    let none = || error!(NotFound, "task {index} does not exist: the profile has {}", tasks.len());
    let task = tasks.get(index as usize).ok_or_else(none)?;
    out_id.write(hob_str::from(task.id()));
    write_if(out_option_count, task.options().len() as u32);
    Ok(())
}

/// Gets the estimate of one option of task `id`.
/// The source is HOB_ESTIMATE_SOURCE_PAST, or HOB_ESTIMATE_SOURCE_BLIND if its count is 0. HOB_RESULT_NOT_FOUND for an
/// unknown task or option. Threads: shared.
#[entry(shared)]
pub extern "C" fn hob_profile_get_estimate(
    profile: *const hob_profile,
    id: hob_str,
    option: u32,
    out_estimate: *mut hob_estimate,
) -> hob_result {
    let id = id.text()?;
    let options = profile.profile.find(id).ok_or_else(|| no_such_task(id))?;
    let none = || error!(NotFound, "task '{id}' has {} options: option {option} does not exist", options.len());
    let Estimate { count, mean, deviation } = *options.get(option as usize).ok_or_else(none)?;
    let source = if count > 0 { hob_estimate_source::Past } else { hob_estimate_source::Blind };
    out_estimate.write(hob_estimate { source, count, mean, deviation, ..hob_estimate::defaults() });
    Ok(())
}

/// Returns the bytes that the profile holds; 0 for an invalid handle.
/// Threads: shared.
#[entry(shared)]
pub extern "C" fn hob_profile_memory_used(profile: *const hob_profile) -> usize {
    Ok(size_of::<ProfileCell>() + profile.profile.memory_used())
}

/// Returns the sentence of this handle's last failed exclusive call.
/// It is empty if none has failed, and valid until the next failure. Threads: shared.
#[entry(handle, or = guard::last_error())]
pub extern "C" fn hob_profile_last_error(profile: *const hob_profile) -> *const c_char {
    Ok(profile.last_error())
}

fn no_such_task(id: &str) -> Error {
    error!(NotFound, "the profile has no task '{id}'")
}

/// A copy of a handle's profile.
pub fn copy_of(profile: Handle<'_, hob_profile>) -> Result<Profile> {
    profile.read(|cell| cell.profile.try_clone())
}
