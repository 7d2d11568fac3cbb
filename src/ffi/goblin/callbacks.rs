//! The callback style of settings, on top of the goblin's plain data.
//!
//! The goblin itself knows nothing of callbacks: before a decision they are asked for options and samples, after it
//! they are told what changed. While the host runs, nothing of ours is borrowed, so it may call const functions, and
//! ask for the removal of settings or of the goblin, which takes place when the running call returns.

use std::cell::Cell;
use std::ffi::c_void;

use super::base::{hob_result, hob_str};
use super::goblin::hob_goblin;
use super::goblin_record;
use super::goblin_setting::{hob_measurement, hob_option, hob_setting_desc};
use super::guard::call_host;
use super::handle::{self, Held};
use super::layout::Array;
use crate::base::{Id, Result, error, fault_point, try_string};
use crate::goblin::{Decision, Goblin, OptionDesc, Sample};

/// Samples that a setting can give in one harvest.
const MOST_SAMPLES: usize = 64;
/// Room for options at first.
const FEW_OPTIONS: u32 = 16;
/// An unset stride is random: beyond this it is not believed.
const LONGEST_STRIDE: usize = 1 << 16;

/// A setting's callbacks. A plain copy; [`Owned`] is what releases them.
pub struct Callbacks {
    user_data: *mut c_void,
    option_stride: usize,
    release: Option<extern "C" fn(*mut c_void)>,
    options_get: Option<extern "C" fn(*mut c_void, *mut hob_option, u32) -> u32>,
    choice_default: Option<extern "C" fn(*mut c_void) -> u32>,
    choice_set: Option<extern "C" fn(*mut c_void, u32, u64)>,
    id_get: Option<extern "C" fn(*mut c_void, *mut hob_str)>,
    measure: Option<extern "C" fn(*mut c_void, *mut hob_measurement) -> u32>,
}

impl Callbacks {
    /// None at all.
    pub const NONE: Self = Self {
        user_data: std::ptr::null_mut(),
        option_stride: 0,
        release: None,
        options_get: None,
        choice_default: None,
        choice_set: None,
        id_get: None,
        measure: None,
    };

    pub fn of(desc: &hob_setting_desc) -> Self {
        Self {
            user_data: desc.user_data,
            option_stride: desc.option_stride,
            release: desc.release,
            options_get: desc.options_get,
            choice_default: desc.choice_default,
            choice_set: desc.choice_set,
            id_get: desc.id_get,
            measure: desc.measure,
        }
    }

    /// The task's name, if there is a callback for it.
    pub fn id(&self) -> Result<Option<String>> {
        let Some(id_get) = self.id_get else { return Ok(None) };
        let mut id = hob_str::EMPTY;
        call_host(|| id_get(self.user_data, &raw mut id));
        // SAFETY: the header asks for a valid string.
        Ok(Some(try_string(unsafe { id.read("the id that id_get gave") }?)?))
    }

    /// The default choice, if there is a callback for it.
    pub fn default_choice(&self) -> Option<u32> {
        self.choice_default.map(|choice_default| call_host(|| choice_default(self.user_data)))
    }

    /// A copy to ask for options with, if there is a callback for them.
    fn for_options(&self) -> Option<Self> {
        let Self { user_data, option_stride, options_get, .. } = *self;
        options_get.map(|_| Self { user_data, option_stride, options_get, ..Self::NONE })
    }

    /// The options, if there is a callback for them.
    pub fn options(&self) -> Result<Option<Vec<OptionDesc>>> {
        let mut scratch = Scratch::default();
        Ok(if self.ask_options(&mut scratch, || true)? { Some(scratch.descs) } else { None })
    }

    /// Ask for the options into `scratch.descs`; false when there is no callback for them, or (`wanted`) it asked for
    /// the removal of its own setting, and so must not be called again.
    fn ask_options(&self, scratch: &mut Scratch, wanted: impl Fn() -> bool) -> Result<bool> {
        let Some(options_get) = self.options_get else { return Ok(false) };
        let possible = size_of::<hob_option>()..=LONGEST_STRIDE;
        if !possible.contains(&self.option_stride) || !self.option_stride.is_multiple_of(8) {
            return Err(error!(
                InvalidArgument,
                "option_stride is {}: set it to sizeof(hob_option)", self.option_stride
            ));
        }
        let words = self.option_stride / 8;
        let mut capacity = FEW_OPTIONS.max((scratch.raw.len() / words) as u32);
        loop {
            scratch.raw.clear();
            scratch.raw.try_reserve(capacity as usize * words)?;
            scratch.raw.resize(capacity as usize * words, 0);
            let buffer = scratch.raw.as_mut_ptr().cast();
            let count = call_host(|| options_get(self.user_data, buffer, capacity));
            if !wanted() {
                return Ok(false);
            }
            if count > capacity {
                if count > u32::from(u16::MAX) {
                    return Err(error!(LimitExceeded, "options_get gave {count} options; a setting can have 65535"));
                }
                capacity = count;
                continue;
            }
            // SAFETY: `count` elements of that stride are in the buffer.
            let options = unsafe { Array::<hob_option>::new(buffer, self.option_stride, count as usize) }?;
            scratch.descs.clear();
            scratch.descs.try_reserve(count as usize)?;
            for option in options.iter() {
                scratch.descs.push(option.desc()?);
            }
            return Ok(true);
        }
    }
}

/// Where options_get writes, and what it wrote. Kept between frames.
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

/// Callbacks that are owned: released when dropped.
pub struct Owned(Callbacks);

impl Drop for Owned {
    fn drop(&mut self) {
        if let Some(release) = self.0.release {
            call_host(|| release(self.0.user_data));
        }
    }
}

/// What stands at a setting's position.
#[derive(Default)]
struct Place {
    callbacks: Option<Owned>,
    /// What choice_set said last, and of how many options.
    told: Option<(u32, usize)>,
    /// To be removed when the running call returns.
    doomed: Cell<bool>,
}

/// A goblin and its callbacks.
pub struct GoblinCell {
    pub goblin: Goblin,
    /// Samples from callbacks that could not be used.
    pub refused: u64,
    /// By position of the setting.
    places: Vec<Place>,
    any_doomed: Cell<bool>,
    scratch: Scratch,
    /// Released after the goblin, which writes the end.
    pub recording: Option<goblin_record::Owned>,
}

impl GoblinCell {
    pub fn new(goblin: Goblin) -> Self {
        let places = Vec::new();
        Self { goblin, refused: 0, places, any_doomed: Cell::new(false), scratch: Scratch::default(), recording: None }
    }

    /// Add the setting that `make` makes. The callbacks are owned from here on if this succeeds, and only then.
    pub fn add_setting(&mut self, callbacks: Callbacks, make: impl FnOnce(&mut Goblin) -> Result<Id>) -> Result<Id> {
        self.places.try_reserve(1)?;
        let id = make(&mut self.goblin)?;
        let position = id.index1 as usize - 1;
        if position == self.places.len() {
            self.places.push(Place::default());
        }
        self.places[position] = Place { callbacks: Some(Owned(callbacks)), told: None, doomed: Cell::new(false) };
        Ok(id)
    }

    /// Remove it; what it owned is the caller's to drop.
    pub fn remove_setting(&mut self, id: Id) -> Result<Option<Owned>> {
        self.goblin.remove_setting(id)?;
        Ok(self.places[id.index1 as usize - 1].callbacks.take())
    }

    /// Remove it when the running call returns.
    pub fn remove_later(&self, id: Id) -> Result<()> {
        self.goblin.choice(id)?;
        self.places[id.index1 as usize - 1].doomed.set(true);
        self.any_doomed.set(true);
        Ok(())
    }

    pub fn memory_used(&self) -> usize {
        size_of::<Self>()
            + self.goblin.memory_used()
            + self.places.capacity() * size_of::<Place>()
            + self.scratch.memory_used()
    }

    /// What is to be called of the callbacks at a position, while nothing is borrowed.
    #[inline(always)]
    fn callback<C>(&self, position: usize, pick: impl FnOnce(&Callbacks) -> Option<C>) -> Option<(Id, C)> {
        let place = self.places.get(position).filter(|place| !place.doomed.get())?;
        let callback = pick(&place.callbacks.as_ref()?.0)?;
        Some((self.goblin.id_at(position)?, callback))
    }
}

/// Ask every measure callback, then close the books.
pub fn harvest(held: &Held<'_, GoblinCell>) -> Result<()> {
    let (positions, lane) = held.with(|cell| (cell.goblin.positions(), cell.goblin.lane() as u32));
    for position in 0..positions {
        let measure = |callbacks: &Callbacks| Some((callbacks.measure?, callbacks.user_data));
        let Some((id, (measure, user_data))) = held.with(|cell| cell.callback(position, measure)) else { continue };
        for _ in 0..MOST_SAMPLES {
            let struct_size = size_of::<hob_measurement>() as u32;
            let mut measured =
                hob_measurement { struct_size, lane, decision_id: 0, burden: 0.0, sample: 0, reserved: 0 };
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

impl GoblinCell {
    fn take(&mut self, id: Id, measured: &hob_measurement) {
        // What cannot be used is dropped without a sentence, which would have to be allocated.
        let sample = Sample {
            decision: measured.decision_id,
            lane: measured.lane,
            burden: measured.burden,
            good: measured.sample == 0,
        };
        let usable = measured.sample <= 3 && self.goblin.can_measure(id, &sample);
        if !usable || self.goblin.measure(id, &sample).is_err() {
            self.refused += 1;
        }
    }
}

/// Ask every options_get, decide, and tell every choice_set what changed.
pub fn decide(held: &Held<'_, GoblinCell>) -> Result<Decision> {
    for position in 0..held.with(|cell| cell.goblin.positions()) {
        let Some((id, callbacks)) = held.with(|cell| cell.callback(position, Callbacks::for_options)) else { continue };
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
    let decision = held.with(|cell| cell.goblin.decide())?;
    for position in 0..held.with(|cell| cell.goblin.positions()) {
        let choice_set = |callbacks: &Callbacks| Some((callbacks.choice_set?, callbacks.user_data));
        let Some((id, (choice_set, user_data))) = held.with(|cell| cell.callback(position, choice_set)) else {
            continue;
        };
        let Some(choice) = held.with(|cell| cell.news(id)) else { continue };
        call_host(|| choice_set(user_data, choice, decision.id));
        fault_point!("goblin.choice_set");
    }
    Ok(decision)
}

impl GoblinCell {
    /// The setting's choice if it is not what it was told last; from now on it is.
    fn news(&mut self, id: Id) -> Option<u32> {
        let choice = u32::from(self.goblin.choice(id).ok()??);
        // With another number of options the same number is another choice.
        let news = Some((choice, self.goblin.option_count(id).ok()?));
        let told = &mut self.places[id.index1 as usize - 1].told;
        (std::mem::replace(told, news) != news).then_some(choice)
    }

    fn is_doomed(&self, position: usize) -> bool {
        self.places.get(position).is_some_and(|place| place.doomed.get())
    }

    fn next_doomed(&mut self) -> Option<Owned> {
        let position = self.places.iter().position(|place| place.doomed.get())?;
        self.places[position].doomed.set(false);
        let id = self.goblin.id_at(position)?;
        self.remove_setting(id).ok()?
    }
}

/// Run an exclusive call on a goblin; then remove what its callbacks asked to be removed.
///
/// # Safety
/// As [`handle::exclusive`].
pub unsafe fn exclusive(goblin: *mut hob_goblin, body: impl FnOnce(&Held<'_, GoblinCell>) -> Result<()>) -> hob_result {
    let body = |held: &Held<'_, GoblinCell>| {
        let answer = body(held);
        remove_doomed(held);
        answer
    };
    // SAFETY: by this function's contract.
    unsafe { handle::exclusive(goblin, body) }
}

/// Also what a release asks for.
fn remove_doomed(held: &Held<'_, GoblinCell>) {
    while held.with(|cell| cell.any_doomed.replace(false)) {
        while let Some(owned) = held.with(GoblinCell::next_doomed) {
            drop(owned);
        }
    }
}
