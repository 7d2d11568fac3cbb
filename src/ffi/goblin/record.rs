//! `goblin.h`: recording and replay of runs.

use std::ffi::c_void;

use hobgoblin_macros::{entry, open_enum, versioned};

use super::create::hob_goblin;
use super::ids::hob_setting_id;
use crate::ffi::base::guard::set_last_error;
use crate::ffi::base::recording::writer;
use crate::ffi::base::result::hob_result;
use crate::ffi::base::structs::Versioned;
use crate::ffi::base::user_data::UserData;
use crate::goblin::{End, Report, replay};

// == Experimental: recordings ==

/// Records the run from here on, so that hob_goblin_replay can repeat it; docs/formats.md has the format.
/// Call it right after hob_goblin_create: after any other change the result is HOB_RESULT_UNSUPPORTED.
///
/// `write` receives pieces that together are the recording: a header at once, and at least one block per decision. The
/// last piece comes from hob_goblin_stop_recording or hob_goblin_destroy. Each frame adds about 14
/// bytes per sample and 1 per setting, and allocates nothing. `release` may be NULL; it is called once, after the end.
///
/// Threads: exclusive. Callbacks: `write` runs inside the calls on this goblin, on their thread. Inside it, shared and
/// exclusive functions on this goblin return HOB_RESULT_BUSY, and hob_goblin_destroy takes effect when the running call
/// returns.
#[entry(exclusive, experimental)]
pub extern "C" fn hob_goblin_start_recording(
    goblin: *mut hob_goblin,
    write: Option<extern "C" fn(user_data: *mut c_void, data: *const c_void, size: usize)>,
    user_data: *mut c_void,
    release: Option<extern "C" fn(user_data: *mut c_void)>,
) -> hob_result {
    let sink = writer(write, user_data)?;
    goblin.with(|cell| {
        cell.goblin.record(sink)?;
        cell.recording = Some(UserData::owned(user_data, release));
        Ok(())
    })
}

/// Ends the recording for good; without one it does nothing.
/// Threads: exclusive. Callbacks: `write`, then `release`.
#[entry(exclusive, experimental)]
pub extern "C" fn hob_goblin_stop_recording(goblin: *mut hob_goblin) -> hob_result {
    // Released when the goblin is no longer borrowed.
    drop(goblin.with(|cell| {
        cell.goblin.stop_recording();
        cell.recording.take()
    }));
    Ok(())
}

/// Why a replay ended.
#[open_enum]
#[repr(C)]
pub enum hob_replay_end {
    /// The whole recording was repeated.
    Complete = 0,
    /// The recording is cut off: its last block is incomplete or missing.
    Truncated = 1,
    /// The bytes are not what was written.
    Damaged = 2,
    /// A decision failed when it was recorded, as without memory. The rest cannot be repeated.
    Failed = 3,
    /// A call is refused that succeeded when it was recorded; hob_last_error has the reason.
    Refused = 4,
}

/// The outcome of a replay.
/// An answer: set struct_size, or begin with HOB_REPLAY_REPORT_INIT.
#[versioned(size = 72, last = reserved)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_replay_report {
    /// sizeof(hob_replay_report).
    pub struct_size: u32,
    /// Why it ended.
    pub end: hob_replay_end,
    /// The byte at which it ended; the size of the recording if that is complete.
    pub bytes: u64,
    /// Calls repeated, decisions included.
    pub calls: u64,
    /// Decisions repeated.
    pub decisions: u64,
    /// Decisions with a different outcome. 0: all choices are identical.
    pub different: u64,
    /// The id of the first of those; 0: none.
    pub first_different: u64,
    /// The first setting with a different choice in that decision; all zero if the strategy differs.
    pub setting: hob_setting_id,
    /// The recorded choice of that setting (or strategy); UINT32_MAX: none.
    pub recorded: u32,
    /// The replayed one.
    pub replayed: u32,
    /// The version of the library that recorded, as HOB_MAKE_VERSION. Another version may decide differently.
    pub library_version: u32,
    /// 0.
    pub reserved: u32,
}

impl From<&Report> for hob_replay_report {
    fn from(report: &Report) -> Self {
        let [major, minor, patch] = report.library.map(u32::from);
        let found = report.difference.as_ref();
        let or_none = |choice: Option<u32>| choice.unwrap_or(u32::MAX);
        Self {
            end: match report.end {
                End::Complete => hob_replay_end::Complete,
                End::Truncated => hob_replay_end::Truncated,
                End::Damaged => hob_replay_end::Damaged,
                End::Failed => hob_replay_end::Failed,
                End::Refused(_) => hob_replay_end::Refused,
            },
            bytes: report.bytes as u64,
            calls: report.calls,
            decisions: report.decisions,
            different: report.different,
            first_different: found.map_or(0, |found| found.decision),
            setting: found.and_then(|found| found.setting).unwrap_or_default().into(),
            recorded: found.map_or(0, |found| or_none(found.recorded)),
            replayed: found.map_or(0, |found| or_none(found.replayed)),
            library_version: major << 22 | minor << 12 | patch,
            ..Self::defaults()
        }
    }
}

/// Repeats a recorded run in a goblin of its own and compares every decision.
/// A truncated or damaged recording is repeated up to that point. The result is HOB_RESULT_OK even then, and if choices
/// differ. The same build of the library makes the same choices; another may not. HOB_RESULT_MALFORMED if the bytes are
/// no recording, HOB_RESULT_UNSUPPORTED for the format of another version.
///
/// The bytes may be hostile: a replay's memory is at most 128 MiB, and at most 64 times `size`. Threads: any.
#[entry(any, experimental)]
pub extern "C" fn hob_goblin_replay(
    data: *const c_void,
    size: usize,
    out_report: *mut hob_replay_report,
) -> hob_result {
    let report = replay(data)?;
    if let End::Refused(why) = &report.end {
        set_last_error(why.sentence());
    }
    out_report.write(hob_replay_report::from(&report));
    Ok(())
}
