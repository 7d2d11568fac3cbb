//! `goblin.h`: runs are written down, and repeated.

use std::ffi::c_void;

use super::base::hob_result;
use super::callbacks::exclusive;
use super::goblin::{hob_goblin, hob_setting_id};
use super::guard::{call_host, guard, set_last_error};
use super::layout::{Versioned, bytes, checked_size, init_struct, write_struct};
use crate::base::Result;
use crate::goblin::{End, Report, Sink, replay};

/// Who gets a recording.
struct Writer {
    user_data: *mut c_void,
    write: extern "C" fn(*mut c_void, *const c_void, usize),
}

// SAFETY: the header says that the host's data may be used from whichever thread makes the call, and a goblin is
// written by one at a time.
unsafe impl Send for Writer {}
// SAFETY: as above; a shared writer can do nothing.
unsafe impl Sync for Writer {}

/// Of an array, since those can be had fallibly.
impl Sink for [Writer; 1] {
    fn write(&mut self, bytes: &[u8]) {
        let [Writer { user_data, write }] = *self;
        call_host(|| write(user_data, bytes.as_ptr().cast(), bytes.len()));
    }
}

impl Writer {
    fn boxed(self) -> Result<Box<dyn Sink>> {
        let mut one = Vec::new();
        one.try_reserve_exact(1)?;
        one.push(self);
        let one: Box<[Self; 1]> = one.into_boxed_slice().try_into().unwrap_or_else(|_| unreachable!("there is one"));
        Ok(one)
    }
}

/// What a recording's user data is owed: its release, when dropped.
pub struct Owned {
    user_data: *mut c_void,
    release: Option<extern "C" fn(*mut c_void)>,
}

impl Drop for Owned {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            call_host(|| release(self.user_data));
        }
    }
}

/// Write down the run from here on, so that hob_replay can repeat it; docs/formats.md describes the bytes. Call it
/// right after hob_goblin_create: a replay needs the whole run, so after any other call that changed something the
/// answer is HOB_RESULT_UNSUPPORTED. `write` gets a header at once, a block with every decision and in between when
/// there is much to write, and the end from hob_goblin_destroy or from hob_goblin_record with a NULL `write`, which
/// stops the recording for good; one after the other, they are the recording. A frame takes about 14 bytes a sample and
/// one a setting, and nothing is allocated for it. `release` may be NULL; else it gets `user_data` once, after the end
/// was written. On a failure nothing is owned. Threads: exclusive. Callbacks: `write` runs on the thread that makes a
/// call, inside it, so no function works on this goblin but hob_goblin_destroy, which is put off; the others answer
/// HOB_RESULT_BUSY.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_goblin_record(
    goblin: *mut hob_goblin,
    write: Option<extern "C" fn(user_data: *mut c_void, data: *const c_void, size: usize)>,
    user_data: *mut c_void,
    release: Option<extern "C" fn(user_data: *mut c_void)>,
) -> hob_result {
    // SAFETY: the header's contract.
    unsafe {
        exclusive(goblin, |held| {
            let Some(write) = write else {
                // Released when nothing is borrowed.
                drop(held.with(|cell| {
                    cell.goblin.stop_recording();
                    cell.recording.take()
                }));
                return Ok(());
            };
            let sink = Writer { user_data, write }.boxed()?;
            held.with(|cell| {
                cell.goblin.record(sink)?;
                cell.recording = Some(Owned { user_data, release });
                Ok(())
            })
        })
    }
}

/// Why a replay ended.
#[repr(C)]
pub enum hob_replay_end {
    /// There the recording was stopped.
    Complete = 0,
    /// The recording is cut off: the block that begins there is not all there, or there is none.
    Truncated = 1,
    /// What is there is not what was written.
    Damaged = 2,
    /// A decision failed there when it was recorded, for want of memory. What that left cannot be repeated.
    Failed = 3,
    /// A call is refused there that succeeded when it was recorded; hob_last_error says why.
    Refused = 4,
}

/// How a replay went. Filled in by the library; initialise with HOB_REPLAY_REPORT_INIT.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_replay_report {
    /// sizeof(hob_replay_report); set by hob_replay_report_init.
    pub struct_size: u32,
    /// A hob_replay_end.
    pub end: u32,
    /// The byte at which it ended; the size of the recording if that is complete.
    pub bytes: u64,
    /// Calls that were repeated, decisions included.
    pub calls: u64,
    /// Decisions that were repeated.
    pub decisions: u64,
    /// How many of them came out differently. 0: all choices are identical.
    pub different: u64,
    /// The first of those; 0 if there is none.
    pub decision: u64,
    /// The first setting in it with another choice; none if it is the strategy that differs.
    pub setting: hob_setting_id,
    /// The choice of that setting (or the strategy) when it was recorded; UINT32_MAX for none.
    pub recorded: u32,
    /// And now.
    pub replayed: u32,
    /// The version of the library that recorded, as HOB_MAKE_VERSION: another one may choose otherwise.
    pub library_version: u32,
    /// Zero.
    pub reserved: u32,
}

// SAFETY: repr(C), begins with struct_size, numbers.
unsafe impl Versioned for hob_replay_report {
    const NAME: &'static str = "hob_replay_report";
    const FIRST_SIZE: usize = 72;
    fn defaults() -> Self {
        // SAFETY: numbers may be zero.
        let zero = unsafe { std::mem::zeroed() };
        Self { struct_size: size_of::<Self>() as u32, ..zero }
    }
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
            } as u32,
            bytes: report.bytes as u64,
            calls: report.calls,
            decisions: report.decisions,
            different: report.different,
            decision: found.map_or(0, |found| found.decision),
            setting: found.and_then(|found| found.setting).unwrap_or_default().into(),
            recorded: found.map_or(0, |found| or_none(found.recorded)),
            replayed: found.map_or(0, |found| or_none(found.replayed)),
            library_version: major << 22 | minor << 12 | patch,
            ..Self::defaults()
        }
    }
}

/// Fill in defaults; `size` is sizeof(hob_replay_report). Usually by HOB_REPLAY_REPORT_INIT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_replay_report_init(report: *mut hob_replay_report, size: u32) -> hob_result {
    // SAFETY: the header's contract.
    guard(|| unsafe { init_struct(report, size) })
}

/// Repeat a recorded run in a goblin of its own, and compare every decision. A recording that is cut off or damaged is
/// repeated up to there, and `out_report` says where and why; that, and choices that differ, are answers, not errors.
/// The same build of the library makes the same choices; another may not. HOB_RESULT_MALFORMED if the bytes are no
/// recording, HOB_RESULT_UNSUPPORTED if they have the form of another version. Bytes may be anything: they can ask for
/// 128 MiB at most, and 64 times their size. Threads: any.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_replay(
    data: *const c_void,
    size: usize,
    out_report: *mut hob_replay_report,
) -> hob_result {
    // SAFETY: the header's contract.
    guard(|| unsafe {
        checked_size(out_report)?;
        let report = replay(bytes(data, size, "data")?)?;
        if let End::Refused(why) = &report.end {
            set_last_error(why.sentence());
        }
        write_struct(out_report, &hob_replay_report::from(&report))
    })
}
