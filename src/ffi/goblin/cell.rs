//! The value of a goblin handle: the goblin and the callbacks of its settings.
//!
//! The goblin itself does not know callbacks. Before a decision, callbacks give options and samples. After it, they
//! receive changed choices. The goblin is not borrowed while a callback runs, so a callback may call const functions.
//! It may also remove settings or destroy the goblin; both take effect when the running call returns.

use std::cell::Cell;
use std::ffi::c_void;

use super::ids::{decision_number, hob_lane, hob_sample_quality};
use super::setting_desc::{hob_option, hob_sample, hob_setting_desc};
use crate::base::{Id, Result, error, fault_point, try_string};
use crate::ffi::base::array::{Array, Element};
use crate::ffi::base::guard::call_host;
use crate::ffi::base::handle::Held;
use crate::ffi::base::structs::Versioned;
use crate::ffi::base::text::hob_str;
use crate::ffi::base::user_data::UserData;
use crate::goblin::{Decision, Goblin, OptionDesc, Sample};

/// Maximum number of samples of a setting in one frame.
const MOST_SAMPLES: usize = 64;
/// Initial capacity for options.
const FEW_OPTIONS: u32 = 16;
/// The largest accepted stride. A larger one is an uninitialised field.
const LONGEST_STRIDE: usize = 1 << 16;

/// A setting's callbacks, without the ownership of their user data.
#[derive(Clone, Copy)]
pub struct Callbacks {
    user_data: *mut c_void,
    option_stride: usize,
    get_options: Option<extern "C" fn(*mut c_void, *mut hob_option, u32) -> u32>,
    get_default_choice: Option<extern "C" fn(*mut c_void) -> u32>,
    set_choice: Option<extern "C" fn(*mut c_void, u32, u64)>,
    get_id: Option<extern "C" fn(*mut c_void, *mut hob_str)>,
    measure: Option<extern "C" fn(*mut c_void, *mut hob_sample) -> u32>,
}

impl Callbacks {
    pub fn of(desc: &hob_setting_desc) -> Self {
        Self {
            user_data: desc.user_data,
            option_stride: if desc.option_stride == 0 { hob_option::FIRST_SIZE } else { desc.option_stride },
            get_options: desc.get_options,
            get_default_choice: desc.get_default_choice,
            set_choice: desc.set_choice,
            get_id: desc.get_id,
            measure: desc.measure,
        }
    }

    /// The task's name, if there is a callback for it.
    pub fn id(&self) -> Result<Option<String>> {
        let Some(get_id) = self.get_id else { return Ok(None) };
        let mut id = hob_str::EMPTY;
        call_host(|| get_id(self.user_data, &raw mut id));
        // SAFETY: the header asks for a valid string.
        Ok(Some(try_string(unsafe { id.argument("the id that get_id gave") }.text()?)?))
    }

    /// The default choice, if there is a callback for it.
    pub fn default_choice(&self) -> Option<u32> {
        self.get_default_choice.map(|get_default_choice| call_host(|| get_default_choice(self.user_data)))
    }

    /// The options, if there is a callback for them.
    pub fn options(&self) -> Result<Option<Vec<OptionDesc>>> {
        let mut scratch = Scratch::default();
        Ok(if self.ask_options(&mut scratch, || true)? { Some(scratch.descs) } else { None })
    }

    /// Fills `scratch.descs` with the options. Returns false if there is no callback for them. Also returns false if
    /// the callback removed its own setting (`is_wanted`) and must not be called again.
    fn ask_options(&self, scratch: &mut Scratch, is_wanted: impl Fn() -> bool) -> Result<bool> {
        let Some(get_options) = self.get_options else { return Ok(false) };
        let possible = hob_option::FIRST_SIZE..=LONGEST_STRIDE;
        if !possible.contains(&self.option_stride) || !self.option_stride.is_multiple_of(8) {
            let stride = self.option_stride;
            return Err(error!(InvalidArgument, "option_stride is {stride}: set it to sizeof(hob_option), or 0"));
        }
        let words = self.option_stride / 8;
        let mut capacity = FEW_OPTIONS.max((scratch.raw.len() / words) as u32);
        loop {
            scratch.raw.clear();
            scratch.raw.try_reserve(capacity as usize * words)?;
            scratch.raw.resize(capacity as usize * words, 0);
            let buffer = scratch.raw.as_mut_ptr().cast();
            let count = call_host(|| get_options(self.user_data, buffer, capacity));
            if !is_wanted() {
                return Ok(false);
            }
            if count > capacity {
                if count > u32::from(u16::MAX) {
                    return Err(error!(
                        LimitExceeded,
                        "get_options returned {count} options: a setting can have at most 65535"
                    ));
                }
                // At least doubled, so that a callback that always asks for one more reaches the limit soon.
                capacity = count.max((2 * capacity).min(u32::from(u16::MAX)));
                continue;
            }
            // SAFETY: `count` elements of that stride are in the buffer.
            let options = unsafe { Array::<hob_option>::new(buffer, self.option_stride, count as usize, "options") }?;
            scratch.descs.clear();
            scratch.descs.try_reserve(count as usize)?;
            for option in options.iter() {
                scratch.descs.push(option.desc()?);
            }
            return Ok(true);
        }
    }
}

/// Buffer for get_options, and the options that it wrote. Kept between frames.
#[derive(Default)]
struct Scratch {
    raw: Vec<u64>,
    descs: Vec<OptionDesc>,
}

impl Scratch {
    fn memory_used(&self) -> usize {
        self.raw.capacity() * 8 + self.descs.capacity() * size_of::<OptionDesc>()
    }
}

/// State of the setting at a position.
#[derive(Default)]
struct SettingState {
    callbacks: Option<Callbacks>,
    user_data: Option<UserData>,
    /// The last choice that set_choice received, and the number of options at that time.
    delivered: Option<(u32, usize)>,
    /// Whether to remove the setting when the running call returns.
    doomed: Cell<bool>,
}

/// A goblin and its callbacks.
pub struct GoblinCell {
    pub goblin: Goblin,
    /// The latest decision.
    pub latest: Option<Decision>,
    /// Number of unusable samples from callbacks.
    pub refused: u64,
    /// Indexed by the setting's position.
    setting_states: Vec<SettingState>,
    any_doomed: Cell<bool>,
    scratch: Scratch,
    /// User data of the recording. Released after the goblin, which writes the end of the recording.
    pub recording: Option<UserData>,
}

impl GoblinCell {
    pub fn new(goblin: Goblin) -> Self {
        Self {
            goblin,
            latest: None,
            refused: 0,
            setting_states: Vec::new(),
            any_doomed: Cell::new(false),
            scratch: Scratch::default(),
            recording: None,
        }
    }

    /// Adds the setting that `make` creates. Takes ownership of the user data only on success.
    pub fn add_setting(
        &mut self,
        callbacks: Option<(Callbacks, UserData)>,
        make: impl FnOnce(&mut Goblin) -> Result<Id>,
    ) -> Result<Id> {
        self.setting_states.try_reserve(1)?;
        let id = make(&mut self.goblin)?;
        let position = id.index1 as usize - 1;
        if position == self.setting_states.len() {
            self.setting_states.push(SettingState::default());
        }
        let (callbacks, user_data) = callbacks.unzip();
        user_data.iter().for_each(UserData::own);
        self.setting_states[position] = SettingState { callbacks, user_data, ..SettingState::default() };
        Ok(id)
    }

    /// Removes a setting. The caller drops the user data, which may call the host.
    pub fn remove_setting(&mut self, id: Id) -> Result<Option<UserData>> {
        self.goblin.remove_setting(id)?;
        Ok(std::mem::take(&mut self.setting_states[id.index1 as usize - 1]).user_data)
    }

    /// Removes a setting when the running call returns.
    pub fn remove_later(&self, id: Id) -> Result<()> {
        self.goblin.choice(id)?;
        self.setting_states[id.index1 as usize - 1].doomed.set(true);
        self.any_doomed.set(true);
        Ok(())
    }

    pub fn memory_used(&self) -> usize {
        size_of::<Self>()
            + self.goblin.memory_used()
            + self.setting_states.capacity() * size_of::<SettingState>()
            + self.scratch.memory_used()
    }

    /// One of the callbacks at a position. Call it only while the goblin is not borrowed.
    fn callback<C>(&self, position: usize, pick: impl FnOnce(&Callbacks) -> Option<C>) -> Option<(Id, C)> {
        let state = self.setting_states.get(position).filter(|state| !state.doomed.get())?;
        let callback = pick(state.callbacks.as_ref()?)?;
        Some((self.goblin.id_at(position)?, callback))
    }

    fn take(&mut self, id: Id, measured: &hob_sample) {
        // An unusable sample is dropped without an error message, which would need an allocation.
        let Some(decision) = decision_number(measured.decision_id) else {
            self.refused += 1;
            return;
        };
        let sample = Sample {
            decision,
            lane: measured.lane.0,
            burden: measured.burden,
            good: measured.quality == hob_sample_quality::Ok,
        };
        let usable = measured.quality.0 <= hob_sample_quality::Paused.0 && self.goblin.can_measure(id, &sample);
        if !usable || self.goblin.measure(id, &sample).is_err() {
            self.refused += 1;
        }
    }

    /// The setting's choice if it differs from the last delivered one. Marks it as delivered.
    fn changed_choice(&mut self, id: Id) -> Option<u32> {
        let choice = u32::from(self.goblin.choice(id).ok()??);
        // If the number of options changed, the same index is a different choice.
        let now = Some((choice, self.goblin.option_count(id).ok()?));
        let delivered = &mut self.setting_states[id.index1 as usize - 1].delivered;
        (std::mem::replace(delivered, now) != now).then_some(choice)
    }

    fn is_doomed(&self, position: usize) -> bool {
        self.setting_states.get(position).is_some_and(|state| state.doomed.get())
    }

    fn remove_next_doomed(&mut self) -> Option<UserData> {
        loop {
            let position = self.setting_states.iter().position(|state| state.doomed.get())?;
            self.setting_states[position].doomed.set(false);
            let removed = self.goblin.id_at(position).and_then(|id| self.remove_setting(id).ok());
            if let Some(Some(user_data)) = removed {
                return Some(user_data);
            }
        }
    }
}

/// Runs every measure callback, then adds all samples.
pub fn collect(held: &Held<'_, GoblinCell>) -> Result<()> {
    let (positions, lane) = held.with(|cell| (cell.goblin.positions(), cell.goblin.lane() as u32));
    for position in 0..positions {
        let measure = |callbacks: &Callbacks| Some((callbacks.measure?, callbacks.user_data));
        let Some((id, (measure, user_data))) = held.with(|cell| cell.callback(position, measure)) else { continue };
        for _ in 0..MOST_SAMPLES {
            let mut measured = hob_sample { lane: hob_lane(lane), ..hob_sample::defaults() };
            if call_host(|| measure(user_data, &raw mut measured)) == 0 {
                break;
            }
            let doomed = held.with(|cell| {
                cell.take(id, &measured);
                cell.is_doomed(position)
            });
            if doomed {
                break;
            }
        }
    }
    held.with(|cell| cell.goblin.harvest());
    Ok(())
}

/// Runs every get_options, decides, and calls set_choice for each changed choice.
pub fn decide(held: &Held<'_, GoblinCell>) -> Result<Decision> {
    for position in 0..held.with(|cell| cell.goblin.positions()) {
        let for_options = |callbacks: &Callbacks| callbacks.get_options.map(|_| *callbacks);
        let Some((id, callbacks)) = held.with(|cell| cell.callback(position, for_options)) else { continue };
        let mut scratch = held.with(|cell| std::mem::take(&mut cell.scratch));
        let asked = callbacks.ask_options(&mut scratch, || !held.with(|cell| cell.is_doomed(position)));
        let taken = match asked {
            Ok(true) => held.with(|cell| cell.goblin.set_options(id, &scratch.descs)),
            Ok(false) => Ok(()),
            Err(error) => Err(error),
        };
        held.with(|cell| cell.scratch = scratch);
        taken?;
    }
    let decision = held.with(|cell| {
        let decision = cell.goblin.decide()?;
        cell.latest = Some(decision);
        Result::Ok(decision)
    })?;
    for position in 0..held.with(|cell| cell.goblin.positions()) {
        let set_choice = |callbacks: &Callbacks| Some((callbacks.set_choice?, callbacks.user_data));
        let Some((id, (set_choice, user_data))) = held.with(|cell| cell.callback(position, set_choice)) else {
            continue;
        };
        let Some(choice) = held.with(|cell| cell.changed_choice(id)) else { continue };
        call_host(|| set_choice(user_data, choice, decision.id));
        fault_point!("goblin.set_choice");
    }
    Ok(decision)
}

/// Removes the settings that callbacks marked for removal, including those that a release marks.
pub fn remove_doomed(held: &Held<'_, GoblinCell>) {
    while held.with(|cell| cell.any_doomed.replace(false)) {
        while let Some(user_data) = held.with(GoblinCell::remove_next_doomed) {
            drop(user_data);
        }
    }
}
