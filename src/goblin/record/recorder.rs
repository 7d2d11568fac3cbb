//! Recording of a run, so that it can be [replayed](super::replay::replay()).
//!
//! A [command](super::command) is written after it has succeeded. Failed ones are omitted, since they change nothing
//! that choices depend on. Two kinds hold more than the command: adding a setting includes its id, and a decision
//! includes all choices.
//!
//! The host gets the encoded commands in [blocks](crate::base::recording): after every decision, and whenever a block is
//! full. Only the beginning of a recording allocates.

use std::convert::Infallible;

use super::command::{Answer, Command};
use super::wire::{self, KIND, Wire, tag};
use crate::base::recording::{BlockWriter, Sink};
use crate::base::{Id, Result, error};
use crate::goblin::config::Config;
use crate::goblin::core::Core;
use crate::goblin::learn::harvest::Sample;
use crate::goblin::question::product::ProductDesc;
use crate::goblin::question::setting::{OptionDesc, SettingDesc};
use crate::goblin::question::shape::Axis;

/// Bytes of a block.
const BLOCK: usize = 8192;

/// The state of the recording.
#[derive(Debug, Default)]
pub enum Recorder {
    /// No call has changed anything yet, so a recording may begin.
    #[default]
    Fresh,
    /// The run is recorded.
    On(Writer),
    /// The run is not recorded, and a recording can no longer begin because earlier calls are missing.
    Off,
}

impl Recorder {
    /// Begin a recording of a goblin with this configuration.
    pub fn begin(&mut self, sink: Box<dyn Sink>, config: &Config) -> Result<()> {
        match self {
            Self::Fresh => {
                let mut writer = Writer::new(sink)?;
                writer.command(&Command::Configure(config), Answer::Done, 0);
                *self = Self::On(writer);
                Ok(())
            }
            Self::On(_) => Err(error!(Unsupported, "the run is recorded already: stop that recording first")),
            Self::Off => Err(error!(
                Unsupported,
                "a recording must be complete: start it before the first call that changes something"
            )),
        }
    }

    /// End the recording, if there is one.
    pub fn stop(&mut self) {
        if self.is_on() {
            *self = Self::Off;
        }
    }

    /// Whether the run is being recorded.
    pub fn is_on(&self) -> bool {
        matches!(self, Self::On(_))
    }

    /// Write a command that was called, unless it failed without a change.
    pub fn note(&mut self, command: &Command<'_>, answer: &Result<Answer>, core: &Core) {
        let is_decision = matches!(command, Command::Decide);
        match self {
            Self::Off => {}
            Self::Fresh if answer.is_ok() || is_decision => *self = Self::Off,
            Self::Fresh => {}
            Self::On(writer) => match answer {
                Ok(answer) => {
                    writer.command(command, *answer, core.latest_decision());
                    if is_decision {
                        writer.decision(core);
                        writer.flush();
                    }
                }
                Err(_) if is_decision => {
                    writer.bytes(&[tag::DECIDE_FAILED]);
                    writer.flush();
                }
                Err(_) => {}
            },
        }
    }

    /// Bytes held.
    pub fn memory_used(&self) -> usize {
        if let Self::On(writer) = self { writer.0.memory_used() } else { 0 }
    }
}

/// Encodes commands.
#[derive(Debug)]
pub struct Writer(BlockWriter);

impl Writer {
    fn new(sink: Box<dyn Sink>) -> Result<Self> {
        Ok(Self(BlockWriter::new(sink, KIND, BLOCK)?))
    }

    fn flush(&mut self) {
        self.0.flush();
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.0.bytes(bytes);
    }

    fn command(&mut self, command: &Command<'_>, answer: Answer, latest: u64) {
        match *command {
            Command::Configure(config) => self.tag(tag::CONFIGURE).all(config, wire::config),
            Command::AddSetting(desc) => {
                let SettingDesc { id, options, shared, default_choice, has_burden, is_trim, switch_burden } = *desc;
                self.tag(tag::ADD_SETTING).id(answer.id()).text(id).options(options);
                self.put(shared).put(default_choice).put(has_burden).put(is_trim).number(switch_burden)
            }
            Command::AddProduct(desc) => {
                let ProductDesc { id, axes, relative_burden, is_trim, switch_burden } = *desc;
                self.tag(tag::ADD_PRODUCT).id(answer.id()).text(id).put(axes.len() as u64);
                for Axis { values, works, default_index } in axes {
                    self.numbers(values).numbers(works).put(*default_index);
                }
                self.number(relative_burden).put(is_trim).number(switch_burden)
            }
            Command::RemoveSetting(id) => self.tag(tag::REMOVE_SETTING).id(id),
            Command::SetOptions(id, options) => self.tag(tag::SET_OPTIONS).id(id).options(options),
            Command::SetValue(id, option, value) => self.tag(tag::SET_VALUE).id(id).put(option).number(value),
            Command::SetReady(id, option, ready) => self.tag(tag::SET_READY).id(id).put(option).put(ready),
            Command::SetWork(id, work) => self.tag(tag::SET_WORK).id(id).number(work),
            Command::SetRange(id, first, last) => self.tag(tag::SET_RANGE).id(id).put(first).put(last),
            Command::SetEnabled(id, enabled) => self.tag(tag::SET_ENABLED).id(id).put(enabled),
            Command::SetSwitchScale(scale) => self.tag(tag::SET_SWITCH_SCALE).number(scale),
            Command::SetSettingSwitchScale(id, scale) => self.tag(tag::SET_SETTING_SWITCH_SCALE).id(id).number(scale),
            Command::SetThermalHeadroom(lane, headroom) => {
                self.tag(tag::SET_THERMAL_HEADROOM).put(lane).number(headroom)
            }
            Command::OpenTrialWindow(decisions, share) => self.tag(tag::OPEN_WINDOW).put(decisions).number(share),
            Command::AddStrategy(desc) => self.tag(tag::ADD_STRATEGY).all(desc, wire::strategy),
            Command::SetStrategy(strategy, desc) => {
                self.tag(tag::SET_STRATEGY).put(strategy as u64).all(desc, wire::strategy)
            }
            Command::SetStrategyValue(strategy, id, option, value) => {
                self.tag(tag::SET_STRATEGY_VALUE).put(strategy as u64).id(id).put(option).number(value)
            }
            Command::SetStrategyWork(strategy, id, factor) => {
                self.tag(tag::SET_STRATEGY_WORK).put(strategy as u64).id(id).number(factor)
            }
            Command::SetStrategyOptionWork(strategy, id, option, factor) => {
                self.tag(tag::SET_STRATEGY_OPTION_WORK).put(strategy as u64).id(id).put(option).number(factor)
            }
            Command::SetPastProfile(profile) => {
                self.tag(tag::SET_PAST_PROFILE).put(profile.tasks().len() as u64);
                for task in profile.tasks() {
                    self.text(task.id()).put(task.options().len() as u64);
                    task.options().iter().for_each(|known| _ = self.all(known, wire::estimate));
                }
                self
            }
            Command::Measure(id, sample) => self.tag(tag::MEASURE).id(id).sample(sample, latest),
            Command::MeasureTotal(sample) => self.tag(tag::MEASURE_TOTAL).sample(sample, latest),
            Command::Applied(id, decision, choice) => {
                self.tag(tag::APPLIED).id(id).put(age(decision, latest)).put(choice)
            }
            Command::Harvest => self.tag(tag::HARVEST),
            Command::Decide => self.tag(tag::DECIDE),
        };
    }

    /// The decision, the strategy, and by position the choice plus one.
    fn decision(&mut self, core: &Core) {
        self.put(core.latest_decision()).put(core.active_strategy() as u64).put(core.positions() as u64);
        (0..core.positions()).for_each(|position| _ = self.put(plus_one(core.choice_at(position))));
    }
}

/// Each adds a part of a command.
impl Writer {
    fn tag(&mut self, tag: u8) -> &mut Self {
        self.bytes(&[tag]);
        self
    }

    fn put(&mut self, number: impl Into<u64>) -> &mut Self {
        let Ok(()) = self.whole(&mut number.into());
        self
    }

    fn number(&mut self, number: f64) -> &mut Self {
        self.bytes(&number.to_le_bytes());
        self
    }

    fn numbers(&mut self, numbers: &[f64]) -> &mut Self {
        self.put(numbers.len() as u64);
        numbers.iter().for_each(|&number| _ = self.number(number));
        self
    }

    fn id(&mut self, id: Id) -> &mut Self {
        self.put(id.index1).put(id.generation)
    }

    fn text(&mut self, text: &str) -> &mut Self {
        self.put(text.len() as u64).bytes(text.as_bytes());
        self
    }

    /// The fields of a structure.
    fn all<T: Copy>(&mut self, structure: &T, fields: fn(&mut Self, &mut T) -> Put) -> &mut Self {
        let Ok(()) = fields(self, &mut { *structure });
        self
    }

    fn options(&mut self, options: &[OptionDesc]) -> &mut Self {
        self.put(options.len() as u64);
        options.iter().for_each(|desc| _ = self.all(desc, wire::option));
        self
    }

    /// The age in decisions, the lane and whether it is good, and the burden.
    fn sample(&mut self, sample: &Sample, latest: u64) -> &mut Self {
        let Sample { decision, lane, burden, good } = *sample;
        self.put(age(decision, latest)).put(lane << 1 | u32::from(good)).number(burden)
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.bytes(&[tag::END]);
        self.flush();
    }
}

type Put = std::result::Result<(), Infallible>;

/// Whole numbers as LEB128: seven bits a byte, the lowest first, the eighth bit of all but the last set. Others as IEEE
/// 754 doubles, little-endian.
impl Wire for Writer {
    type Stop = Infallible;

    fn whole(&mut self, number: &mut u64) -> Put {
        let (mut bytes, mut length, mut rest) = ([0u8; 10], 0, *number);
        loop {
            bytes[length] = rest as u8 & 0x7f;
            rest >>= 7;
            if rest == 0 {
                break;
            }
            bytes[length] |= 0x80;
            length += 1;
        }
        self.bytes(&bytes[..=length]);
        Ok(())
    }

    fn real(&mut self, number: &mut f64) -> Put {
        self.bytes(&number.to_le_bytes());
        Ok(())
    }

    fn invalid(&self) -> Infallible {
        unreachable!("the call has checked the values that are written")
    }
}

/// Age of a decision, in decisions. Decision 0 is the latest.
fn age(decision: u64, latest: u64) -> u64 {
    if decision == 0 { 0 } else { latest.saturating_sub(decision) }
}

/// Encoding of a choice: 0 for no choice.
pub fn plus_one(choice: u16) -> u16 {
    choice.wrapping_add(1)
}
