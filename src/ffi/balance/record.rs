//! `balance.h`: recording and replay of calls.

use std::ffi::c_void;

use hobgoblin_macros::{entry, open_enum, versioned};

use super::{BalanceCell, hob_balance};
use crate::balance::{End, Report, replay};
use crate::ffi::base::handle;
use crate::ffi::base::recording::writer;
use crate::ffi::base::result::hob_result;
use crate::ffi::base::structs::Versioned;
use crate::ffi::base::user_data::UserData;

// == Experimental: Recordings ==

/// Records all calls from here on, so that hob_balance_replay can repeat them; docs/formats.md has the format.
/// Call it right after hob_balance_create or hob_balance_restart. After a choice or a duration, or while calls are
/// recorded, the result is HOB_RESULT_UNSUPPORTED.
///
/// `write` receives pieces that together are the recording: 46 bytes at once, then blocks of about 100 pieces of work.
/// The last one comes from hob_balance_stop_recording or hob_balance_destroy. A piece of work takes 10 bytes, and
/// allocates nothing. `release` may be NULL; it is called once, after the end.
///
/// Threads: exclusive. Callbacks: `write` runs inside the calls on this balance, on their thread. Inside it, shared and
/// exclusive functions on this balance return HOB_RESULT_BUSY, and hob_balance_destroy takes effect when the running
/// call returns.
#[entry(exclusive, experimental)]
pub extern "C" fn hob_balance_start_recording(
    balance: *mut hob_balance,
    write: Option<extern "C" fn(user_data: *mut c_void, data: *const c_void, size: usize)>,
    user_data: *mut c_void,
    release: Option<extern "C" fn(user_data: *mut c_void)>,
) -> hob_result {
    let sink = writer(write, user_data)?;
    balance.with(|cell| {
        cell.recorded.record(sink)?;
        cell.recording = Some(UserData::owned(user_data, release));
        Ok(())
    })
}

/// Ends the recording; without one it does nothing.
/// Another one can begin after hob_balance_restart. Threads: exclusive. Callbacks: `write`, then `release`.
#[entry(exclusive, experimental)]
pub extern "C" fn hob_balance_stop_recording(balance: *mut hob_balance) -> hob_result {
    // Released when the balance is no longer borrowed.
    drop(balance.with(|cell| {
        cell.recorded.stop_recording();
        cell.recording.take()
    }));
    Ok(())
}

/// Why a replay ended.
#[open_enum]
#[repr(C)]
pub enum hob_balance_replay_end {
    /// The whole recording was repeated.
    Complete = 0,
    /// As many calls were repeated as were asked for.
    Stopped = 1,
    /// The recording is cut off: its last block is incomplete or missing.
    Truncated = 2,
    /// The bytes are not what was written.
    Damaged = 3,
}

/// The outcome of a replay.
/// An answer: set struct_size, or begin with HOB_BALANCE_REPLAY_REPORT_INIT.
#[versioned(size = 64, last = reserved)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_balance_replay_report {
    /// sizeof(hob_balance_replay_report).
    pub struct_size: u32,
    /// Why it ended.
    pub end: hob_balance_replay_end,
    /// The byte at which it ended; the size of the recording if that is complete.
    pub bytes: u64,
    /// Calls repeated: choices, durations, also ignored ones, and restarts.
    pub calls: u64,
    /// Choices repeated.
    pub choices: u64,
    /// Choices of another strategy than recorded. 0: all are identical.
    pub different: u64,
    /// The call of the first of them, counted from 1; 0: none.
    pub first_different: u64,
    /// The recorded strategy of that call.
    pub recorded: u32,
    /// The replayed one.
    pub replayed: u32,
    /// The version of the library that recorded, as HOB_MAKE_VERSION. Another version may choose differently.
    pub library_version: u32,
    /// 0.
    pub reserved: u32,
}

impl From<&Report> for hob_balance_replay_report {
    fn from(report: &Report) -> Self {
        let [major, minor, patch] = report.library.map(u32::from);
        let found = report.difference.as_ref();
        Self {
            end: match report.end {
                End::Complete => hob_balance_replay_end::Complete,
                End::Stopped => hob_balance_replay_end::Stopped,
                End::Truncated => hob_balance_replay_end::Truncated,
                End::Damaged => hob_balance_replay_end::Damaged,
            },
            bytes: report.bytes as u64,
            calls: report.calls,
            choices: report.choices,
            different: report.different,
            first_different: found.map_or(0, |found| found.call),
            recorded: found.map_or(0, |found| found.recorded as u32),
            replayed: found.map_or(0, |found| found.replayed as u32),
            library_version: major << 22 | minor << 12 | patch,
            ..Self::defaults()
        }
    }
}

/// Repeats the first `most_calls` calls of a recording, and compares every choice; UINT64_MAX: all calls.
/// `*out_balance` receives a balance as the recorded one was after those calls, and `*out_report` the outcome; either
/// may be NULL. The balance is the caller's to destroy: look at its statistics, or go on with it. Its counts begin with
/// the recording.
///
/// A truncated or damaged recording is repeated up to that point. The result is HOB_RESULT_OK even then, and if choices
/// differ. The same build of the library makes the same choices; another may not. HOB_RESULT_MALFORMED: the bytes are
/// no recording, or its first 46 bytes are cut off or damaged. HOB_RESULT_UNSUPPORTED: the format of another version.
/// Threads: any.
///
///     hob_balance *balance = NULL;                        /* on the customer's machine, after 500 calls */
///     hob_balance_replay(data, size, 500, &balance, NULL);
///     hob_balance_get_statistics(balance, 0, &statistics);
#[entry(any, nullable(out_balance, out_report), experimental)]
pub extern "C" fn hob_balance_replay(
    data: *const c_void,
    size: usize,
    most_calls: u64,
    out_balance: *mut *mut hob_balance,
    out_report: *mut hob_balance_replay_report,
) -> hob_result {
    let (balance, report) = replay(data, most_calls)?;
    if let Some(out_balance) = out_balance {
        out_balance.write(handle::create(BalanceCell::new(balance))?);
    }
    if let Some(out_report) = out_report {
        out_report.write(hob_balance_replay_report::from(&report));
    }
    Ok(())
}
