//! `goblin.h`: what the host wishes of single settings and moments, and why choices are what they are.

use std::ffi::c_char;
use std::fmt::{self, Write as _};

use super::base::hob_result;
use super::callbacks::exclusive;
use super::goblin::{hob_goblin, hob_setting_id};
use super::guard::guard;
use super::handle::inspect;
use super::layout::{Versioned, fill, init_struct, write_struct};
use crate::goblin::{Reason, Why};

/// What made a choice.
#[repr(C)]
#[derive(Clone, Copy)]
pub enum hob_why {
    /// Nothing was decided yet.
    Undecided = 0,
    /// Nothing is known of the setting's burdens: its default.
    Unknown = 1,
    /// Part of the most valuable choice that fits.
    Best = 2,
    /// A more valuable option than before: there was room.
    Raised = 3,
    /// A less valuable option than before, so that the whole fits, or something worth more does.
    Lowered = 4,
    /// A better choice would fit, but its gain has not paid for the change yet.
    Held = 5,
    /// Chosen for one frame in order to learn what it costs.
    Trial = 6,
    /// The host allows no other.
    Pinned = 7,
    /// The host's floor or ceiling keeps a more valuable one away.
    Limited = 8,
    /// A more valuable one is not ready.
    NotReady = 9,
    /// Nothing fits: the least over.
    NothingFits = 10,
    /// Takes up the last slack (HOB_SETTING_TRIM).
    Trim = 11,
    /// The setting is disabled.
    Disabled = 12,
    /// Another strategy was taken.
    Strategy = 13,
}

impl From<Why> for hob_why {
    fn from(why: Why) -> Self {
        match why {
            Why::Undecided => Self::Undecided,
            Why::Unknown => Self::Unknown,
            Why::Best => Self::Best,
            Why::Raised => Self::Raised,
            Why::Lowered => Self::Lowered,
            Why::Held => Self::Held,
            Why::Trial => Self::Trial,
            Why::Pinned => Self::Pinned,
            Why::Limited => Self::Limited,
            Why::NotReady => Self::NotReady,
            Why::NothingFits => Self::NothingFits,
            Why::Trim => Self::Trim,
            Why::Disabled => Self::Disabled,
            Why::Strategy => Self::Strategy,
        }
    }
}

/// Why a choice is what it is. Filled in by the library; initialise with HOB_REASON_INIT.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_reason {
    /// sizeof(hob_reason); set by hob_reason_init.
    pub struct_size: u32,
    /// A hob_why.
    pub why: u32,
    /// The option before the last change; the present one if it never changed. On trial: the one that it goes back to.
    pub from: u32,
    /// The option.
    pub to: u32,
    /// The decision in which it changed last, trials apart; 0 if it never did.
    pub since: u64,
    /// What was left free on the first lane that has a limit, in its unit; below 0: what it was over by. After a
    /// change, as it was before that.
    pub headroom: f64,
    /// The value that a better choice would gain in each frame, and that waiting forgoes.
    pub gain: f64,
}

// SAFETY: repr(C), begins with struct_size, numbers.
unsafe impl Versioned for hob_reason {
    const NAME: &'static str = "hob_reason";
    const FIRST_SIZE: usize = 40;
    fn defaults() -> Self {
        // SAFETY: numbers may be zero.
        let zero = unsafe { std::mem::zeroed() };
        Self { struct_size: size_of::<Self>() as u32, ..zero }
    }
}

impl From<Reason> for hob_reason {
    fn from(reason: Reason) -> Self {
        Self {
            why: hob_why::from(reason.why) as u32,
            from: u32::from(reason.from),
            to: u32::from(reason.to),
            since: reason.since,
            headroom: reason.headroom,
            gain: reason.gain,
            ..Self::defaults()
        }
    }
}

/// Fill in defaults; `size` is sizeof(hob_reason). Usually by HOB_REASON_INIT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_reason_init(reason: *mut hob_reason, size: u32) -> hob_result {
    // SAFETY: the header's contract.
    guard(|| unsafe { init_struct(reason, size) })
}

/// Allow only the options from `first`, a floor, to `last`, a ceiling, from the next decision on. `first` must exist;
/// UINT32_MAX and all else beyond the last means the last. 0 to UINT32_MAX allows all again. If none of them is ready,
/// the nearest to the default is chosen all the same. Threads: exclusive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_goblin_set_range(
    goblin: *mut hob_goblin,
    setting: hob_setting_id,
    first: u32,
    last: u32,
) -> hob_result {
    // SAFETY: the header's contract.
    unsafe { exclusive(goblin, |held| held.with(|cell| cell.goblin.set_range(setting.into(), first, last))) }
}

/// Allow only one option from the next decision on, as the player wishes: hob_goblin_set_range from it to itself. The
/// others make room for it. Threads: exclusive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_goblin_pin(goblin: *mut hob_goblin, setting: hob_setting_id, option: u32) -> hob_result {
    // SAFETY: the header's contract.
    unsafe { exclusive(goblin, |held| held.with(|cell| cell.goblin.set_range(setting.into(), option, option))) }
}

/// Take a setting out of decisions (`enabled` 0) or back in. While it is out it costs nothing, is worth nothing and
/// keeps its choice; what was learned of it stays. Samples of decisions without it are HOB_RESULT_NOT_FOUND. Threads:
/// exclusive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_goblin_set_enabled(
    goblin: *mut hob_goblin,
    setting: hob_setting_id,
    enabled: u32,
) -> hob_result {
    // SAFETY: the header's contract.
    unsafe { exclusive(goblin, |held| held.with(|cell| cell.goblin.set_enabled(setting.into(), enabled != 0))) }
}

/// Multiply what changes cost, in burden and in patience, until said otherwise: below 1 while they are hard to notice,
/// as in a cut or a menu; above 1 while they are easy to. 0 to 1e9; 1 until said otherwise. Threads: exclusive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_goblin_set_switch_scale(goblin: *mut hob_goblin, scale: f64) -> hob_result {
    // SAFETY: the header's contract.
    unsafe { exclusive(goblin, |held| held.with(|cell| cell.goblin.set_switch_scale(scale))) }
}

/// Open a window in which more may be tried, for so many decisions from the next on: a menu, a loading screen, a cut.
/// Any number of options may be on trial in a frame, and frames with trials may be over each limit by `share` of it, 0
/// to 1e9. A new window takes the place of an old one; 0 `decisions` close it. Nothing is tried where explore_limit is
/// 0. Threads: exclusive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_goblin_open_window(goblin: *mut hob_goblin, decisions: u32, share: f64) -> hob_result {
    // SAFETY: the header's contract.
    unsafe { exclusive(goblin, |held| held.with(|cell| cell.goblin.open_window(decisions, share))) }
}

/// Why a setting's choice is what it is. Threads: shared.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_goblin_get_reason(
    goblin: *const hob_goblin,
    setting: hob_setting_id,
    out_reason: *mut hob_reason,
) -> hob_result {
    // SAFETY: the header's contract.
    unsafe { inspect(goblin, |cell| write_struct(out_reason, &cell.goblin.reason(setting.into())?.into())) }
}

/// The same as an English sentence, such as "raised from 1 to 2 in decision 512: 1.80 was left free", with a NUL at its
/// end. `*out_size`, which may be NULL where `buffer` is not, gets the bytes needed, the NUL among them. With `buffer`
/// NULL that is all; with `capacity` too small the result is HOB_RESULT_BUFFER_TOO_SMALL and the buffer is left alone;
/// 256 bytes are always enough. Threads: shared.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_goblin_reason_text(
    goblin: *const hob_goblin,
    setting: hob_setting_id,
    buffer: *mut c_char,
    capacity: usize,
    out_size: *mut usize,
) -> hob_result {
    // SAFETY: the header's contract.
    unsafe {
        inspect(goblin, |cell| {
            let mut sentence = Sentence { bytes: [0; LONGEST], length: 0 };
            // What does not fit is cut off, and the last byte stays NUL.
            _ = write!(sentence, "{}", cell.goblin.reason(setting.into())?);
            let text = &sentence.bytes[..=sentence.length];
            fill(buffer, capacity, out_size, text.len(), |bytes| {
                bytes.copy_from_slice(text);
                Ok(text.len())
            })
        })
    }
}

/// Bytes of the longest sentence with its NUL.
const LONGEST: usize = 256;

/// A sentence that needs no memory. Reasons are plain ASCII.
struct Sentence {
    bytes: [u8; LONGEST],
    length: usize,
}

impl fmt::Write for Sentence {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = &mut self.bytes[self.length..LONGEST - 1];
        let count = text.len().min(room.len());
        room[..count].copy_from_slice(&text.as_bytes()[..count]);
        self.length += count;
        Ok(())
    }
}
