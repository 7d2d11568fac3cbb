//! The format of recordings, for both directions; `docs/formats.md` describes it byte by byte.
//!
//! Structures pass over a [`Wire`] number by number. One implementation writes them and another reads them, so that a
//! field can never be written and not read. The implementations are [`record`](super::recorder) and
//! [`replay`](super::replay).

use crate::base::recording::Kind;
use crate::profile::Estimate;

use crate::goblin::config::{Burdens, Config, Exploration};
use crate::goblin::question::setting::OptionDesc;
use crate::goblin::question::strategy::StrategyDesc;

/// Recordings of a goblin.
pub const KIND: Kind = Kind { magic: *b"HOBREC\r\n", format: 2 };

/// The kind of a command, one byte before its parameters.
pub mod tag {
    pub const END: u8 = 0;
    pub const CONFIGURE: u8 = 1;
    pub const ADD_SETTING: u8 = 2;
    pub const ADD_PRODUCT: u8 = 3;
    pub const REMOVE_SETTING: u8 = 4;
    pub const SET_OPTIONS: u8 = 5;
    pub const SET_VALUE: u8 = 6;
    pub const SET_READY: u8 = 7;
    pub const SET_WORK: u8 = 8;
    pub const SET_RANGE: u8 = 9;
    pub const SET_ENABLED: u8 = 10;
    pub const SET_SWITCH_SCALE: u8 = 11;
    pub const OPEN_WINDOW: u8 = 12;
    pub const ADD_STRATEGY: u8 = 13;
    pub const SET_STRATEGY: u8 = 14;
    pub const SET_STRATEGY_VALUE: u8 = 15;
    pub const SET_STRATEGY_WORK: u8 = 16;
    pub const SET_PAST_PROFILE: u8 = 17;
    pub const MEASURE: u8 = 18;
    pub const MEASURE_TOTAL: u8 = 19;
    pub const APPLIED: u8 = 20;
    pub const HARVEST: u8 = 21;
    pub const DECIDE: u8 = 22;
    pub const DECIDE_FAILED: u8 = 23;
    pub const SET_STRATEGY_OPTION_WORK: u8 = 24;
    pub const SET_SETTING_SWITCH_SCALE: u8 = 25;
    pub const SET_THERMAL_HEADROOM: u8 = 26;
}

/// Writes or reads numbers.
pub trait Wire {
    /// The error.
    type Stop;

    /// A whole number.
    fn whole(&mut self, number: &mut u64) -> Result<(), Self::Stop>;
    /// Any number, bit-exact.
    fn real(&mut self, number: &mut f64) -> Result<(), Self::Stop>;
    /// The error for an invalid number.
    fn invalid(&self) -> Self::Stop;

    /// A whole number of a smaller type.
    fn small<T>(&mut self, number: &mut T) -> Result<(), Self::Stop>
    where
        T: Copy + TryFrom<u64>,
        u64: From<T>,
    {
        let mut wide = u64::from(*number);
        self.whole(&mut wide)?;
        *number = T::try_from(wide).map_err(|_| self.invalid())?;
        Ok(())
    }

    /// A flag.
    fn flag(&mut self, flag: &mut bool) -> Result<(), Self::Stop> {
        *flag = self.one_of(u64::from(*flag), [false, true])?;
        Ok(())
    }

    /// One of several values, by its index.
    fn one_of<T: Copy, const N: usize>(&mut self, mut number: u64, all: [T; N]) -> Result<T, Self::Stop> {
        self.whole(&mut number)?;
        usize::try_from(number).ok().and_then(|index| all.get(index)).copied().ok_or_else(|| self.invalid())
    }
}

/// A goblin's parameters.
pub fn config<W: Wire>(wire: &mut W, config: &mut Config) -> Result<(), W::Stop> {
    // Destructured, so that a new parameter cannot be missed here.
    let Config {
        limits,
        sigmas,
        overrun_probability,
        patience,
        changes_per_second,
        decisions_per_second,
        explore_value,
        measure_quota,
        exploration,
        trial_limit,
        trial_risk,
        dwell,
        switch_limit,
        precision,
        node_limit,
        history,
        burdens,
        max_settings,
        memory_limit,
    } = config;
    for limit in limits {
        wire.real(limit)?;
    }
    for number in [sigmas, overrun_probability, patience, explore_value, trial_risk, switch_limit] {
        wire.real(number)?;
    }
    for number in [changes_per_second, decisions_per_second] {
        wire.real(number)?;
    }
    for number in [measure_quota, trial_limit, dwell, precision, history, max_settings] {
        wire.small(number)?;
    }
    wire.whole(node_limit)?;
    wire.whole(memory_limit)?;
    *exploration = wire.one_of(*exploration as u64, [Exploration::Bounded, Exploration::Optimistic])?;
    *burdens = wire.one_of(*burdens as u64, [Burdens::Learned, Burdens::Relative, Burdens::Totals])?;
    Ok(())
}

/// An option; at least 25 bytes.
pub fn option<W: Wire>(wire: &mut W, option: &mut OptionDesc) -> Result<(), W::Stop> {
    let OptionDesc { value, relative_burden, ready, work } = option;
    wire.flag(ready)?;
    for number in [value, relative_burden, work] {
        wire.real(number)?;
    }
    Ok(())
}

/// Bytes of an option.
pub const OPTION: usize = 25;

/// A strategy.
pub fn strategy<W: Wire>(wire: &mut W, strategy: &mut StrategyDesc) -> Result<(), W::Stop> {
    let StrategyDesc { limits, incentive } = strategy;
    for limit in limits {
        wire.real(limit)?;
    }
    wire.real(incentive)
}

/// A past estimate of an option; at least 17 bytes.
pub fn estimate<W: Wire>(wire: &mut W, estimate: &mut Estimate) -> Result<(), W::Stop> {
    let Estimate { count, mean, deviation } = estimate;
    wire.whole(count)?;
    wire.real(mean)?;
    wire.real(deviation)
}

/// Least bytes of an estimate.
pub const ESTIMATE: usize = 17;
