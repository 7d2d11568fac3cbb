//! `profile.h`: what things have been found to cost, at rest.

use std::ffi::{c_char, c_void};

use super::base::{hob_result, hob_str};
use super::guard::guard;
use super::handle::{self, Opaque, exclusive, inspect, shared};
use super::hooks;
use super::layout::{Array, Element, Out, Versioned, bytes, fill, init_struct, read_struct, write_struct};
use crate::base::files::{self, Files, OsFiles};
use crate::base::{Result, error};
use crate::profile::{Estimate, MAX_OPTIONS, Profile, Source};

/// Tasks and what their options cost. A handle; see docs/ownership.md.
pub struct hob_profile {
    _private: [u8; 0],
}

/// A profile and the limit it was created with.
pub struct ProfileCell {
    profile: Profile,
    memory_limit: u64,
}

impl Opaque for hob_profile {
    type Value = ProfileCell;
    const NAME: &'static str = "hob_profile";
    const TAG: [u8; 8] = *b"hobprofi";
}

impl ProfileCell {
    /// Make a change to a copy that takes the original's place if it fits the limit.
    fn change(&mut self, work: impl FnOnce(&mut Profile) -> Result<()>) -> Result<()> {
        let mut changed = self.profile.try_clone()?;
        work(&mut changed)?;
        self.replace(changed)
    }

    fn replace(&mut self, profile: Profile) -> Result<()> {
        let used = profile.memory_used() as u64;
        if used > self.memory_limit {
            return Err(error!(
                LimitExceeded,
                "the profile would take {used} bytes; its limit is {}", self.memory_limit
            ));
        }
        self.profile = profile;
        Ok(())
    }
}

/// Parameters of a profile.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_profile_desc {
    /// sizeof(hob_profile_desc); set by hob_profile_desc_init.
    pub struct_size: u32,
    /// Zero.
    pub reserved: u32,
    /// Most bytes that it may hold. Default UINT64_MAX.
    pub memory_limit: u64,
}

// SAFETY: repr(C), begins with struct_size, integers.
unsafe impl Versioned for hob_profile_desc {
    const NAME: &'static str = "hob_profile_desc";
    const FIRST_SIZE: usize = 16;
    fn defaults() -> Self {
        Self { struct_size: size_of::<Self>() as u32, reserved: 0, memory_limit: u64::MAX }
    }
}

/// Where an estimate comes from.
#[repr(C)]
pub enum hob_estimate_source {
    /// Nothing is known of the option: a guess from the other options of its setting.
    Blind = 0,
    /// The past profile, scaled to this machine.
    Past = 1,
    /// Samples of this run, fewer than the quota, and a prior.
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

/// What one option costs. Filled in by the library; initialise with HOB_ESTIMATE_INIT.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_estimate {
    /// sizeof(hob_estimate); set by hob_estimate_init.
    pub struct_size: u32,
    /// A hob_estimate_source.
    pub source: u32,
    /// Samples behind it; 0: nothing was measured.
    pub count: u64,
    /// Mean burden in the lane's unit, milliseconds for time lanes. Not negative.
    pub mean: f64,
    /// Its (population) standard deviation, in the same unit.
    pub deviation: f64,
}

// SAFETY: repr(C), begins with struct_size, numbers.
unsafe impl Versioned for hob_estimate {
    const NAME: &'static str = "hob_estimate";
    const FIRST_SIZE: usize = 32;
    fn defaults() -> Self {
        Self { struct_size: size_of::<Self>() as u32, source: 0, count: 0, mean: 0.0, deviation: 0.0 }
    }
}

/// One option of a task, for hob_profile_set.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct hob_profile_option {
    /// Samples behind it; 0: unknown.
    pub count: u64,
    /// Mean burden; finite, not negative.
    pub mean: f64,
    /// Standard deviation; finite, not negative.
    pub deviation: f64,
}

// SAFETY: repr(C), numbers.
unsafe impl Element for hob_profile_option {
    const NAME: &'static str = "hob_profile_option";
    const FIRST_SIZE: usize = 24;
}

/// Fill in defaults; `size` is sizeof(hob_profile_desc). Usually by HOB_PROFILE_DESC_INIT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_profile_desc_init(desc: *mut hob_profile_desc, size: u32) -> hob_result {
    // SAFETY: the header's contract.
    guard(|| unsafe { init_struct(desc, size) })
}

/// Fill in defaults; `size` is sizeof(hob_estimate). Usually by HOB_ESTIMATE_INIT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_estimate_init(estimate: *mut hob_estimate, size: u32) -> hob_result {
    // SAFETY: the header's contract.
    guard(|| unsafe { init_struct(estimate, size) })
}

/// Create an empty profile. `desc` NULL: defaults. `*out_profile` is written on success, and is then the caller's to
/// destroy. Threads: any.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn hob_profile_create(
    desc: *const hob_profile_desc,
    out_profile: *mut *mut hob_profile,
) -> hob_result {
    // SAFETY: the header's contract.
    guard(|| unsafe {
        let out = Out::new(out_profile, "out_profile")?;
        let desc = if desc.is_null() { hob_profile_desc::defaults() } else { read_struct(desc)? };
        out.write(handle::create(ProfileCell { profile: Profile::new(), memory_limit: desc.memory_limit })?);
        Ok(())
    })
}

/// Destroy a profile; NULL is fine. Threads: no other call on it may run.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_profile_destroy(profile: *mut hob_profile) {
    // SAFETY: the header's contract.
    unsafe { handle::destroy(profile) }
}

/// Replace what the profile knows by JSON of the form {"id":[[count,mean,deviation],...],...}: for every task a list of
/// its options, each with its number of samples, their mean and their standard deviation.
/// `data` is UTF-8 of `size` bytes; no NUL needed. HOB_RESULT_MALFORMED has line and column in its sentence; on any
/// failure the profile is as it was. Threads: exclusive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_profile_load(profile: *mut hob_profile, data: *const c_void, size: usize) -> hob_result {
    // SAFETY: the header's contract.
    unsafe {
        exclusive(profile, |held| {
            let loaded = Profile::from_json(bytes(data, size, "data")?)?;
            held.with(|cell| cell.replace(loaded))
        })
    }
}

/// Write the profile as JSON, without a NUL: tasks in order of id, a line each, every number exact.
/// `*out_size` gets the bytes needed. With `buffer` NULL that is all; with `capacity` too small the result is
/// HOB_RESULT_BUFFER_TOO_SMALL and the buffer is left alone. Threads: shared.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_profile_save(
    profile: *const hob_profile,
    buffer: *mut c_char,
    capacity: usize,
    out_size: *mut usize,
) -> hob_result {
    // SAFETY: the header's contract.
    unsafe {
        inspect(profile, |cell| {
            let needed = cell.profile.json_size();
            fill(buffer, capacity, out_size, needed, |bytes| cell.profile.to_json(bytes))
        })
    }
}

/// hob_profile_load from a file, through the file hook if there is one. Waits for the file. Threads: exclusive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_profile_load_file(profile: *mut hob_profile, path: hob_str) -> hob_result {
    // SAFETY: the header's contract.
    unsafe {
        exclusive(profile, |held| {
            let path = path.read("path")?;
            let loaded = Profile::from_json(&with_files(|files| files.read(path))?)?;
            held.with(|cell| cell.replace(loaded))
        })
    }
}

/// hob_profile_save to a file, through the file hook if there is one. A crash leaves the old file or the new one: the
/// text goes to `path` + ".new", which then takes the name; so no two may save to one path at once. Waits for the file.
/// Threads: shared.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_profile_save_file(profile: *const hob_profile, path: hob_str) -> hob_result {
    // SAFETY: the header's contract.
    unsafe {
        let text = shared(profile, |cell| {
            let mut text = crate::base::try_filled(0u8, cell.profile.json_size())?;
            cell.profile.to_json(&mut text)?;
            Ok(text)
        });
        // The file hook runs while nothing of the profile is borrowed, so it may do with the profile what it likes.
        match text {
            Ok(text) => guard(|| with_files(|files| files::replace(files, path.read("path")?, &text))),
            Err(result) => result,
        }
    }
}

/// The host's files if it has lent them, else the system's.
fn with_files<R>(work: impl FnOnce(&dyn Files) -> Result<R>) -> Result<R> {
    let hook = hooks::FILES.get();
    if hook.open.is_some() { work(&hooks::CFiles(hook)) } else { work(&OsFiles) }
}

/// Replace what is known of task `id`: `count` options, `stride` bytes apart. Threads: exclusive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_profile_set(
    profile: *mut hob_profile,
    id: hob_str,
    options: *const hob_profile_option,
    stride: usize,
    count: u32,
) -> hob_result {
    // SAFETY: the header's contract.
    unsafe {
        exclusive(profile, |held| {
            let id = id.read("id")?;
            if count as usize > MAX_OPTIONS {
                return Err(error!(LimitExceeded, "{count} options; a task can have {MAX_OPTIONS}"));
            }
            let options = Array::new(options, stride, count as usize)?;
            let mut estimates = Vec::new();
            estimates.try_reserve_exact(count as usize)?;
            estimates.extend(options.iter().map(|o| Estimate { count: o.count, mean: o.mean, deviation: o.deviation }));
            held.with(|cell| cell.change(|profile| profile.set(id, &estimates)))
        })
    }
}

/// Forget task `id`. HOB_RESULT_NOT_FOUND if it is not there. Threads: exclusive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_profile_remove(profile: *mut hob_profile, id: hob_str) -> hob_result {
    // SAFETY: the header's contract.
    unsafe {
        exclusive(profile, |held| {
            let id = id.read("id")?;
            held.with(|cell| if cell.profile.remove(id) { Ok(()) } else { Err(no_such_task(id)) })
        })
    }
}

/// Forget all tasks. Threads: exclusive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_profile_clear(profile: *mut hob_profile) -> hob_result {
    // SAFETY: the header's contract.
    unsafe {
        exclusive(profile, |held| {
            held.with(|cell| cell.profile.clear());
            Ok(())
        })
    }
}

/// Take in all that `other` knows, its samples counting as much as those here. Where a task has another number of
/// options there, the side with more samples is kept. On a failure nothing changed. Threads: exclusive; shared for
/// `other`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_profile_merge(profile: *mut hob_profile, other: *const hob_profile) -> hob_result {
    // SAFETY: the header's contract.
    unsafe {
        match copy_of(other) {
            Ok(other) => exclusive(profile, |held| held.with(|cell| cell.change(|profile| profile.merge(&other)))),
            Err(result) => result,
        }
    }
}

/// Multiply every burden by `factor` (finite, above 0): the same knowledge for a machine that is so much slower.
/// Threads: exclusive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_profile_scale(profile: *mut hob_profile, factor: f64) -> hob_result {
    // SAFETY: the header's contract.
    unsafe { exclusive(profile, |held| held.with(|cell| cell.profile.scale(factor))) }
}

/// How many tasks the profile has; 0 for a bad handle. Threads: shared.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn hob_profile_task_count(profile: *const hob_profile) -> u32 {
    // SAFETY: the header's contract.
    unsafe { shared(profile, |cell| Ok(cell.profile.tasks().len() as u32)) }.unwrap_or(0)
}

/// The id of the task at `index` (in order of id) and its number of options; `out_options` may be NULL.
/// `*out_id` is a view that is valid until the profile changes. Threads: shared.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_profile_task(
    profile: *const hob_profile,
    index: u32,
    out_id: *mut hob_str,
    out_options: *mut u32,
) -> hob_result {
    // SAFETY: the header's contract.
    unsafe {
        inspect(profile, |cell| {
            let out = Out::new(out_id, "out_id")?;
            let tasks = cell.profile.tasks();
            let task = tasks
                .get(index as usize)
                .ok_or_else(|| error!(NotFound, "task {index} does not exist: the profile has {}", tasks.len()))?;
            out.write(hob_str::from(task.id()));
            if let Some(out) = Out::optional(out_options) {
                out.write(task.options().len() as u32);
            }
            Ok(())
        })
    }
}

/// What option `option` of task `id` costs; the source is HOB_ESTIMATE_SOURCE_PAST, or BLIND when its count is 0.
/// Threads: shared.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_profile_get(
    profile: *const hob_profile,
    id: hob_str,
    option: u32,
    out_estimate: *mut hob_estimate,
) -> hob_result {
    // SAFETY: the header's contract.
    unsafe {
        inspect(profile, |cell| {
            let id = id.read("id")?;
            let options = cell.profile.find(id).ok_or_else(|| no_such_task(id))?;
            let Estimate { count, mean, deviation } = *options
                .get(option as usize)
                .ok_or_else(|| error!(NotFound, "task '{id}' has {} options, no option {option}", options.len()))?;
            let source = if count > 0 { hob_estimate_source::Past } else { hob_estimate_source::Blind } as u32;
            write_struct(out_estimate, &hob_estimate { source, count, mean, deviation, ..hob_estimate::defaults() })
        })
    }
}

/// Bytes the profile holds; 0 for a bad handle. Threads: shared.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn hob_profile_memory_used(profile: *const hob_profile) -> usize {
    // SAFETY: the header's contract.
    unsafe { shared(profile, |cell| Ok(size_of::<ProfileCell>() + cell.profile.memory_used())) }.unwrap_or(0)
}

/// The sentence of this handle's last failed exclusive call. Valid until the next one. Threads: shared.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn hob_profile_last_error(profile: *const hob_profile) -> *const c_char {
    // SAFETY: the header's contract.
    unsafe { handle::last_error(profile) }
}

#[cold]
fn no_such_task(id: &str) -> crate::base::Error {
    error!(NotFound, "the profile has no task '{id}'")
}

/// A copy of the profile behind a handle.
///
/// # Safety
/// As [`shared`].
pub unsafe fn copy_of(profile: *const hob_profile) -> std::result::Result<Profile, hob_result> {
    // SAFETY: by this function's contract.
    unsafe { shared(profile, |cell| cell.profile.try_clone()) }
}
