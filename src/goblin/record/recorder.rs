//! Recording of a run, so that it can be [replayed](super::replay::replay()).
//!
//! A [command](super::command) is written after it has succeeded. Failed ones are omitted, since they change nothing
//! that choices depend on. Two kinds hold more than the command: adding a setting includes its id, and a decision
//! includes all choices.
//!
//! Commands are encoded into a buffer that is allocated when the recording begins. The host gets it in blocks, each with
//! its length and check sum: after every decision, and whenever the buffer is full. Nothing else is allocated.

use std::convert::Infallible;
use std::fmt;

use super::command::{Answer, Command};
use super::wire::{self, BLOCK_HEAD, FORMAT, HEADER, LIBRARY, MAGIC, Wire, tag};
use crate::base::{Id, Result, error, try_filled};
use crate::goblin::config::Config;
use crate::goblin::core::Core;
use crate::goblin::learn::harvest::Sample;
use crate::goblin::question::product::{Axis, ProductDesc};
use crate::goblin::question::setting::{OptionDesc, SettingDesc};

/// Bytes of a block.
const BLOCK: usize = 8192;

/// Receives a recording in pieces. Dropped when the recording is stopped, or with the goblin.
pub trait Sink: Send + Sync {
    /// Receive the next bytes. All pieces concatenated are the recording.
    fn write(&mut self, bytes: &[u8]);
}

impl<F: FnMut(&[u8]) + Send + Sync> Sink for F {
    fn write(&mut self, bytes: &[u8]) {
        self(bytes);
    }
}

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
        if let Self::On(writer) = self { writer.buffer.capacity() } else { 0 }
    }
}

/// Encodes commands and passes blocks to the sink.
pub struct Writer {
    sink: Box<dyn Sink>,
    /// A block: its head, then the payload so far.
    buffer: Vec<u8>,
    filled: usize,
}

impl fmt::Debug for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer").field("filled", &self.filled).finish_non_exhaustive()
    }
}

impl Writer {
    fn new(mut sink: Box<dyn Sink>) -> Result<Self> {
        let buffer = try_filled(0, BLOCK)?;
        let mut header = [0; HEADER];
        header[..8].copy_from_slice(&MAGIC);
        header[8..12].copy_from_slice(&FORMAT.to_le_bytes());
        header[12..].copy_from_slice(&LIBRARY);
        sink.write(&header);
        Ok(Self { sink, buffer, filled: BLOCK_HEAD })
    }

    /// Pass the block to the sink.
    fn flush(&mut self) {
        let block = &mut self.buffer[..self.filled];
        if block.len() == BLOCK_HEAD {
            return;
        }
        let length = (block.len() - BLOCK_HEAD) as u32;
        block[4..BLOCK_HEAD].copy_from_slice(&length.to_le_bytes());
        let sum = wire::check_sum(0, &block[4..]);
        block[..4].copy_from_slice(&sum.to_le_bytes());
        self.sink.write(block);
        self.filled = BLOCK_HEAD;
    }

    fn bytes(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            if self.filled == BLOCK {
                self.flush();
            }
            let (now, later) = bytes.split_at(bytes.len().min(BLOCK - self.filled));
            self.buffer[self.filled..][..now.len()].copy_from_slice(now);
            self.filled += now.len();
            bytes = later;
        }
    }

    fn tag(&mut self, tag: u8) -> Put {
        self.bytes(&[tag]);
        Ok(())
    }

    fn put(&mut self, number: impl Into<u64>) -> Put {
        self.whole(&mut number.into())
    }

    fn put_real(&mut self, mut number: f64) -> Put {
        self.real(&mut number)
    }

    fn put_reals(&mut self, numbers: &[f64]) -> Put {
        self.put(numbers.len() as u64)?;
        numbers.iter().try_for_each(|&number| self.put_real(number))
    }

    fn put_id(&mut self, id: Id) -> Put {
        self.put(id.index1)?;
        self.put(id.generation)
    }

    fn put_text(&mut self, text: &str) -> Put {
        self.put(text.len() as u64)?;
        self.bytes(text.as_bytes());
        Ok(())
    }

    fn put_options(&mut self, options: &[OptionDesc]) -> Put {
        self.put(options.len() as u64)?;
        options.iter().try_for_each(|&desc| wire::option(self, &mut { desc }))
    }

    /// The age in decisions, the lane and whether it is good, and the burden.
    fn put_sample(&mut self, sample: &Sample, latest: u64) -> Put {
        let Sample { decision, lane, burden, good } = *sample;
        self.put(age(decision, latest))?;
        self.put(lane << 1 | u32::from(good))?;
        self.put_real(burden)
    }

    fn command(&mut self, command: &Command<'_>, answer: Answer, latest: u64) {
        let Ok(()) = self.try_command(command, answer, latest);
    }

    fn try_command(&mut self, command: &Command<'_>, answer: Answer, latest: u64) -> Put {
        match *command {
            Command::Configure(desc) => {
                self.tag(tag::CONFIGURE)?;
                wire::config(self, &mut { *desc })
            }
            Command::AddSetting(desc) => {
                self.tag(tag::ADD_SETTING)?;
                self.put_id(answer.id())?;
                let SettingDesc { id, options, shared, default_choice, has_burden, is_trim, switch_burden } = *desc;
                self.put_text(id)?;
                self.put_options(options)?;
                self.put(shared)?;
                self.put(default_choice)?;
                self.put(has_burden)?;
                self.put(is_trim)?;
                self.put_real(switch_burden)
            }
            Command::AddProduct(desc) => {
                self.tag(tag::ADD_PRODUCT)?;
                self.put_id(answer.id())?;
                let ProductDesc { id, axes, relative_burden, is_trim, switch_burden } = *desc;
                self.put_text(id)?;
                self.put(axes.len() as u64)?;
                for Axis { values, works, default_index } in axes {
                    self.put_reals(values)?;
                    self.put_reals(works)?;
                    self.put(*default_index)?;
                }
                self.put_real(relative_burden)?;
                self.put(is_trim)?;
                self.put_real(switch_burden)
            }
            Command::RemoveSetting(id) => {
                self.tag(tag::REMOVE_SETTING)?;
                self.put_id(id)
            }
            Command::SetOptions(id, options) => {
                self.tag(tag::SET_OPTIONS)?;
                self.put_id(id)?;
                self.put_options(options)
            }
            Command::SetValue(id, option, value) => {
                self.tag(tag::SET_VALUE)?;
                self.put_id(id)?;
                self.put(option)?;
                self.put_real(value)
            }
            Command::SetReady(id, option, ready) => {
                self.tag(tag::SET_READY)?;
                self.put_id(id)?;
                self.put(option)?;
                self.put(ready)
            }
            Command::SetWork(id, work) => {
                self.tag(tag::SET_WORK)?;
                self.put_id(id)?;
                self.put_real(work)
            }
            Command::SetRange(id, first, last) => {
                self.tag(tag::SET_RANGE)?;
                self.put_id(id)?;
                self.put(first)?;
                self.put(last)
            }
            Command::SetEnabled(id, enabled) => {
                self.tag(tag::SET_ENABLED)?;
                self.put_id(id)?;
                self.put(enabled)
            }
            Command::SetSwitchScale(scale) => {
                self.tag(tag::SET_SWITCH_SCALE)?;
                self.put_real(scale)
            }
            Command::SetSettingSwitchScale(id, scale) => {
                self.tag(tag::SET_SETTING_SWITCH_SCALE)?;
                self.put_id(id)?;
                self.put_real(scale)
            }
            Command::OpenTrialWindow(decisions, share) => {
                self.tag(tag::OPEN_WINDOW)?;
                self.put(decisions)?;
                self.put_real(share)
            }
            Command::AddStrategy(desc) => {
                self.tag(tag::ADD_STRATEGY)?;
                wire::strategy(self, &mut { *desc })
            }
            Command::SetStrategy(strategy, desc) => {
                self.tag(tag::SET_STRATEGY)?;
                self.put(strategy as u64)?;
                wire::strategy(self, &mut { *desc })
            }
            Command::SetStrategyValue(strategy, id, option, value) => {
                self.tag(tag::SET_STRATEGY_VALUE)?;
                self.put(strategy as u64)?;
                self.put_id(id)?;
                self.put(option)?;
                self.put_real(value)
            }
            Command::SetStrategyWork(strategy, id, factor) => {
                self.tag(tag::SET_STRATEGY_WORK)?;
                self.put(strategy as u64)?;
                self.put_id(id)?;
                self.put_real(factor)
            }
            Command::SetStrategyOptionWork(strategy, id, option, factor) => {
                self.tag(tag::SET_STRATEGY_OPTION_WORK)?;
                self.put(strategy as u64)?;
                self.put_id(id)?;
                self.put(option)?;
                self.put_real(factor)
            }
            Command::SetPastProfile(profile) => {
                self.tag(tag::SET_PAST_PROFILE)?;
                self.put(profile.tasks().len() as u64)?;
                profile.tasks().iter().try_for_each(|task| {
                    self.put_text(task.id())?;
                    self.put(task.options().len() as u64)?;
                    task.options().iter().try_for_each(|&known| wire::estimate(self, &mut { known }))
                })
            }
            Command::Measure(id, sample) => {
                self.tag(tag::MEASURE)?;
                self.put_id(id)?;
                self.put_sample(sample, latest)
            }
            Command::MeasureTotal(sample) => {
                self.tag(tag::MEASURE_TOTAL)?;
                self.put_sample(sample, latest)
            }
            Command::Applied(id, decision, choice) => {
                self.tag(tag::APPLIED)?;
                self.put_id(id)?;
                self.put(age(decision, latest))?;
                self.put(choice)
            }
            Command::Harvest => self.tag(tag::HARVEST),
            Command::Decide => self.tag(tag::DECIDE),
        }
    }

    /// The decision, the strategy, and by position the choice plus one.
    fn decision(&mut self, core: &Core) {
        let Ok(()) = (|| {
            self.put(core.latest_decision())?;
            self.put(core.active_strategy() as u64)?;
            self.put(core.positions() as u64)?;
            (0..core.positions()).try_for_each(|position| self.put(plus_one(core.choice_at(position))))
        })();
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
