//! Replay of a recorded run, to check that the same calls lead to the same choices.
//!
//! [`replay`] creates a goblin, repeats every call of the recording, and compares every decision with the recorded one.
//! A truncated or damaged recording is replayed up to that place. Input may be arbitrary bytes: the memory that they
//! request is limited by their number, and a call that the goblin rejects ends the replay.

use super::goblin::Goblin;
use super::recorder::plus_one;
use super::wire::{self, KIND, Wire, tag};
use crate::base::recording::{BlockReader, Cut, HEADER};
use crate::base::{Code, Error, Id, Result, try_push};
use crate::goblin::config::{Config, LANES};
use crate::goblin::learn::harvest::Sample;
use crate::goblin::question::product::ProductDesc;
use crate::goblin::question::setting::{OptionDesc, SettingDesc};
use crate::goblin::question::shape::{Axis, MOST_AXES};
use crate::goblin::question::strategy::StrategyDesc;
use crate::knapsack::NO_CHOICE;
use crate::profile::{Estimate, MAX_OPTIONS, Profile};

/// Memory limit of the goblin in a replay: a constant, plus bytes per byte of the recording.
const MEMORY: u64 = 128 << 20;
const MEMORY_PER_BYTE: u64 = 64;

/// The result of a replay.
#[derive(Debug)]
pub struct Report {
    /// Number of replayed decisions.
    pub decisions: u64,
    /// Number of decisions that differ.
    pub different: u64,
    /// The first difference.
    pub difference: Option<Difference>,
    /// Number of replayed calls, decisions included.
    pub calls: u64,
    /// Number of replayed bytes, and so the offset of the end.
    pub bytes: usize,
    /// Why the replay ended.
    pub end: End,
    /// The version of the recording library: major, minor, patch. Another version may choose differently.
    pub library: [u8; 3],
}

/// How a decision differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The decision.
    pub decision: u64,
    /// The first setting, by position, with another choice; `None` if the strategy differs.
    pub setting: Option<Id>,
    /// The recorded choice or strategy; `None` without a choice.
    pub recorded: Option<u32>,
    /// The replayed one.
    pub replayed: Option<u32>,
}

/// Why a replay ended.
#[derive(Debug)]
pub enum End {
    /// The recording was stopped there.
    Complete,
    /// The recording is truncated: the next block is incomplete or missing.
    Truncated,
    /// The recording is damaged there.
    Damaged,
    /// A decision failed there in the recorded run, as without memory. The state after it cannot be replayed.
    Failed,
    /// The goblin rejects a call there that succeeded in the recorded run; the error says why.
    Refused(Error),
}

/// Replay a run. Fails if `recording` is not a recording, or without memory.
pub fn replay(recording: &[u8]) -> Result<Report> {
    let (reader, library) = BlockReader::new(recording, KIND)?;
    let mut reader = Reader(reader);
    let mut report =
        Report { decisions: 0, different: 0, difference: None, calls: 0, bytes: HEADER, end: End::Complete, library };
    let mut goblin = None;
    loop {
        report.bytes = reader.position();
        match reader.call(&mut goblin, &mut report) {
            Ok(true) => report.calls += 1,
            Ok(false) => {
                report.bytes = reader.position();
                return Ok(report);
            }
            Err(Stop::At(end, byte)) => {
                (report.end, report.bytes) = (end, byte);
                return Ok(report);
            }
            Err(Stop::Refused(error)) if error.code() == Code::OutOfMemory => return Err(error),
            Err(Stop::Refused(error)) => {
                report.end = End::Refused(error);
                return Ok(report);
            }
        }
    }
}

/// Why a call cannot be read or replayed.
enum Stop {
    At(End, usize),
    Refused(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

impl From<Cut> for Stop {
    fn from(cut: Cut) -> Self {
        match cut {
            Cut::Truncated(byte) => Self::At(End::Truncated, byte),
            Cut::Damaged(byte) => Self::At(End::Damaged, byte),
        }
    }
}

type Read<T> = std::result::Result<T, Stop>;

/// Reads calls.
struct Reader<'a>(BlockReader<'a>);

impl<'a> Reader<'a> {
    fn position(&self) -> usize {
        self.0.position()
    }

    fn remaining(&self) -> usize {
        self.0.remaining()
    }

    fn some(&mut self, most: usize) -> Read<&'a [u8]> {
        Ok(self.0.some(most)?)
    }

    fn exact<const N: usize>(&mut self) -> Read<[u8; N]> {
        Ok(self.0.exact()?)
    }

    fn number<T: Copy + Default + TryFrom<u64>>(&mut self) -> Read<T>
    where
        u64: From<T>,
    {
        let mut number = T::default();
        self.small(&mut number)?;
        Ok(number)
    }

    fn double(&mut self) -> Read<f64> {
        let mut number = 0.0;
        self.real(&mut number)?;
        Ok(number)
    }

    fn doubles(&mut self) -> Read<Vec<f64>> {
        let count = self.count(size_of::<f64>())?;
        let mut numbers = crate::base::try_filled(0.0, count)?;
        numbers.iter_mut().try_for_each(|number| self.real(number))?;
        Ok(numbers)
    }

    fn truth(&mut self) -> Read<bool> {
        let mut flag = false;
        self.flag(&mut flag)?;
        Ok(flag)
    }

    fn id(&mut self) -> Read<Id> {
        Ok(Id { index1: self.number()?, generation: self.number()? })
    }

    /// A count of items of at least `size` bytes each.
    fn count(&mut self, size: usize) -> Read<usize> {
        let count: u64 = self.number()?;
        let possible = (self.remaining() / size) as u64;
        if count > possible { Err(self.invalid()) } else { Ok(count as usize) }
    }

    fn text(&mut self) -> Read<String> {
        let mut left = self.count(1)?;
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(left).map_err(Error::from)?;
        while left > 0 {
            let some = self.some(left)?;
            bytes.extend_from_slice(some);
            left -= some.len();
        }
        String::from_utf8(bytes).map_err(|_| self.invalid())
    }

    fn options(&mut self) -> Read<Vec<OptionDesc>> {
        let count = self.count(wire::OPTION)?;
        if count > MAX_OPTIONS {
            return Err(self.invalid());
        }
        let mut options = Vec::new();
        options.try_reserve_exact(count).map_err(Error::from)?;
        for _ in 0..count {
            let mut desc = OptionDesc::worth(0.0);
            wire::option(self, &mut desc)?;
            options.push(desc);
        }
        Ok(options)
    }

    fn strategy(&mut self) -> Read<StrategyDesc> {
        let mut desc = StrategyDesc { limits: [0.0; LANES], incentive: 0.0 };
        wire::strategy(self, &mut desc)?;
        Ok(desc)
    }

    fn profile(&mut self) -> Read<Profile> {
        let mut profile = Profile::new();
        let mut known = Vec::new();
        let mut before: Option<String> = None;
        for _ in 0..self.count(2)? {
            let id = self.text()?;
            // Ids must be in order, as they were written. Otherwise each insertion would move all later ones.
            if before.is_some_and(|before| before >= id) {
                return Err(self.invalid());
            }
            known.clear();
            for _ in 0..self.count(wire::ESTIMATE)? {
                let mut estimate = Estimate::default();
                wire::estimate(self, &mut estimate)?;
                try_push(&mut known, estimate)?;
            }
            profile.set(&id, &known)?;
            before = Some(id);
        }
        Ok(profile)
    }

    /// A decision, from its age.
    fn decision(&mut self, goblin: &Goblin) -> Read<u64> {
        let age: u64 = self.number()?;
        // A call for a decision that does not exist never succeeds.
        let decision = goblin.latest_decision().checked_sub(age).filter(|decision| *decision > 0);
        decision.ok_or_else(|| self.invalid())
    }

    fn sample(&mut self, goblin: &Goblin) -> Read<Sample> {
        let decision = self.decision(goblin)?;
        let lane_and_good: u32 = self.number()?;
        let burden = self.double()?;
        Ok(Sample { decision, lane: lane_and_good >> 1, burden, good: lane_and_good & 1 == 1 })
    }

    /// Replay the next call. Returns false at the end.
    fn call(&mut self, goblin: &mut Option<Goblin>, report: &mut Report) -> Read<bool> {
        let [tag] = self.exact()?;
        let goblin = match (tag, goblin) {
            (tag::CONFIGURE, goblin) => {
                self.configure(goblin)?;
                return Ok(true);
            }
            (_, Some(goblin)) => goblin,
            // The first call creates the goblin.
            (_, None) => return Err(self.invalid()),
        };
        match tag {
            tag::END if self.remaining() > 0 => return Err(self.invalid()),
            tag::END => return Ok(false),
            tag::ADD_SETTING => self.add_setting(goblin)?,
            tag::ADD_PRODUCT => self.add_product(goblin)?,
            tag::REMOVE_SETTING => goblin.remove_setting(self.id()?)?,
            tag::SET_OPTIONS => goblin.set_options(self.id()?, &self.options()?)?,
            tag::SET_VALUE => goblin.set_value(self.id()?, self.number()?, self.double()?)?,
            tag::SET_READY => goblin.set_ready(self.id()?, self.number()?, self.truth()?)?,
            tag::SET_WORK => goblin.set_work(self.id()?, self.double()?)?,
            tag::SET_RANGE => goblin.set_range(self.id()?, self.number()?, self.number()?)?,
            tag::SET_ENABLED => goblin.set_enabled(self.id()?, self.truth()?)?,
            tag::SET_SWITCH_SCALE => goblin.set_switch_scale(self.double()?)?,
            tag::SET_THERMAL_HEADROOM => goblin.set_thermal_headroom(self.number()?, self.double()?)?,
            tag::SET_SETTING_SWITCH_SCALE => goblin.set_setting_switch_scale(self.id()?, self.double()?)?,
            tag::OPEN_WINDOW => goblin.open_trial_window(self.number()?, self.double()?)?,
            tag::ADD_STRATEGY => goblin.add_strategy(&self.strategy()?).map(|_| ())?,
            tag::SET_STRATEGY => goblin.set_strategy(self.index()?, &self.strategy()?)?,
            tag::SET_STRATEGY_VALUE => {
                goblin.set_strategy_value(self.index()?, self.id()?, self.number()?, self.double()?)?;
            }
            tag::SET_STRATEGY_WORK => goblin.set_strategy_work(self.index()?, self.id()?, self.double()?)?,
            tag::SET_STRATEGY_OPTION_WORK => {
                let (strategy, id) = (self.index()?, self.id()?);
                goblin.set_strategy_option_work(strategy, id, self.number()?, self.double()?)?;
            }
            tag::SET_PAST_PROFILE => goblin.set_past_profile(&self.profile()?)?,
            tag::MEASURE => goblin.measure(self.id()?, &self.sample(goblin)?)?,
            tag::MEASURE_TOTAL => goblin.measure_total(&self.sample(goblin)?)?,
            tag::APPLIED => goblin.applied(self.id()?, self.decision(goblin)?, self.number()?)?,
            tag::HARVEST => goblin.harvest(),
            tag::DECIDE => self.decide(goblin, report)?,
            tag::DECIDE_FAILED => return Err(Stop::At(End::Failed, report.bytes)),
            _ => return Err(self.invalid()),
        }
        Ok(true)
    }

    fn configure(&mut self, goblin: &mut Option<Goblin>) -> Read<()> {
        let mut config = Config::default();
        wire::config(self, &mut config)?;
        // Memory limits reject calls, and rejected calls are not recorded, so another limit changes no choice. The
        // recorded limit may be too low for a library that holds more.
        config.memory_limit = MEMORY.saturating_add(MEMORY_PER_BYTE.saturating_mul(self.0.size() as u64));
        let goblin = match goblin {
            Some(goblin) => goblin,
            // The memory limit applies to the history when a goblin is configured, not when it is created.
            None => goblin.insert(Goblin::for_replay(&Config { history: 1, ..config })?),
        };
        Ok(goblin.configure(&config)?)
    }

    fn index(&mut self) -> Read<usize> {
        let number: u32 = self.number()?;
        Ok(number as usize)
    }

    fn add_setting(&mut self, goblin: &mut Goblin) -> Read<()> {
        let recorded = self.id()?;
        let (id, options) = (self.text()?, self.options()?);
        let replayed = goblin.add_setting(&SettingDesc {
            id: &id,
            options: &options,
            shared: self.number()?,
            default_choice: self.number()?,
            has_burden: self.truth()?,
            is_trim: self.truth()?,
            switch_burden: self.double()?,
        })?;
        if replayed == recorded { Ok(()) } else { Err(self.invalid()) }
    }

    fn add_product(&mut self, goblin: &mut Goblin) -> Read<()> {
        let recorded = self.id()?;
        let id = self.text()?;
        let count: usize = self.count(3)?;
        let mut axes = Vec::new();
        axes.try_reserve_exact(count.min(MOST_AXES)).map_err(Error::from)?;
        for _ in 0..count {
            let (values, works) = (self.doubles()?, self.doubles()?);
            try_push(&mut axes, Axis { values, works, default_index: self.number()? })?;
        }
        let replayed = goblin.add_product(&ProductDesc {
            id: &id,
            axes: &axes,
            relative_burden: self.double()?,
            is_trim: self.truth()?,
            switch_burden: self.double()?,
        })?;
        if replayed == recorded { Ok(()) } else { Err(self.invalid()) }
    }

    fn decide(&mut self, goblin: &mut Goblin, report: &mut Report) -> Read<()> {
        let (recorded_id, strategy) = (self.number::<u64>()?, self.number::<u32>()?);
        let positions = self.count(1)?;
        if recorded_id != goblin.latest_decision() + 1 || positions != goblin.positions() {
            return Err(self.invalid());
        }
        let decision = goblin.decide()?;
        let mut difference = (strategy != decision.strategy).then_some(Difference {
            decision: decision.id,
            setting: None,
            recorded: Some(strategy),
            replayed: Some(decision.strategy),
        });
        for position in 0..positions {
            let recorded: u16 = self.number()?;
            let setting = goblin.id_at(position);
            let choice = setting.and_then(|id| goblin.choice(id).ok().flatten());
            if recorded != plus_one(choice.unwrap_or(NO_CHOICE)) {
                difference.get_or_insert(Difference {
                    decision: decision.id,
                    setting: Some(setting.unwrap_or_default()),
                    recorded: recorded.checked_sub(1).map(u32::from),
                    replayed: choice.map(u32::from),
                });
            }
        }
        report.decisions += 1;
        report.different += u64::from(difference.is_some());
        report.difference = report.difference.or(difference);
        Ok(())
    }
}

impl Wire for Reader<'_> {
    type Stop = Stop;

    fn whole(&mut self, number: &mut u64) -> Read<()> {
        *number = 0;
        for shift in (0..64).step_by(7) {
            let [byte] = self.exact()?;
            let bits = u64::from(byte & 0x7f);
            *number |= bits << shift;
            if *number >> shift != bits {
                break;
            }
            if byte & 0x80 == 0 {
                return Ok(());
            }
        }
        Err(self.invalid())
    }

    fn real(&mut self, number: &mut f64) -> Read<()> {
        *number = f64::from_le_bytes(self.exact()?);
        Ok(())
    }

    fn invalid(&self) -> Stop {
        Stop::At(End::Damaged, self.position())
    }
}
