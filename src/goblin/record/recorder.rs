//! Recording of a run, so that it can be [replayed](super::replay::replay()).
//!
//! Every call that may change a goblin's choices is an *event*. It is written after the call has succeeded. Failed
//! calls are omitted, since they change nothing that choices depend on. Two events hold more than the call: adding a
//! setting includes its id, and a decision includes all choices. A call that makes other calls, such as adding a
//! product, is one event.
//!
//! Events are encoded into a buffer that is allocated when the recording begins. The host gets it in blocks, each with
//! its length and check sum: after every decision, and whenever the buffer is full. Nothing else is allocated.

use std::convert::Infallible;
use std::fmt;

use crate::base::{Id, Result, Slots, error, try_filled};
use crate::knapsack::NO_CHOICE;
use crate::profile::Profile;

use super::wire::{self, BLOCK_HEAD, FORMAT, HEADER, LIBRARY, MAGIC, Tag, Wire};
use crate::goblin::question::setting::Setting;
use crate::goblin::{Axis, Config, Goblin, OptionDesc, ProductDesc, Sample, SettingDesc, StrategyDesc};

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

/// A call that may change a goblin's choices.
pub enum Event<'a> {
    Configure(&'a Config),
    AddSetting(Id, &'a SettingDesc<'a>),
    AddProduct(Id, &'a ProductDesc<'a>),
    RemoveSetting(Id),
    SetOptions(Id, &'a [OptionDesc]),
    SetValue(Id, u32, f64),
    SetReady(Id, u32, bool),
    SetWork(Id, f64),
    SetRange(Id, u32, u32),
    SetEnabled(Id, bool),
    SetSwitchScale(f64),
    SetSettingSwitchScale(Id, f64),
    OpenWindow(u32, f64),
    AddStrategy(&'a StrategyDesc),
    SetStrategy(usize, &'a StrategyDesc),
    SetStrategyValue(usize, Id, u32, f64),
    SetStrategyWork(usize, Id, f64),
    SetStrategyOptionWork(usize, Id, u32, f64),
    SetPastProfile(&'a Profile),
    Measure(Id, &'a Sample),
    MeasureTotal(&'a Sample),
    Applied(Id, u64, u32),
    Harvest,
    Decide,
    DecideFailed,
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
    /// Bytes held.
    pub fn memory_used(&self) -> usize {
        if let Self::On(writer) = self { writer.buffer.capacity() } else { 0 }
    }
}

impl Goblin {
    /// Record the run. `sink` gets a header at once and a block with every decision. It is an error if there is no
    /// memory for the buffer, or if an earlier call changed something: a replay needs the whole run.
    pub fn record(&mut self, sink: Box<dyn Sink>) -> Result<()> {
        match self.recorder {
            Recorder::Fresh => {
                let mut writer = Writer::new(sink)?;
                writer.event(&Event::Configure(&self.config), 0);
                self.recorder = Recorder::On(writer);
                Ok(())
            }
            Recorder::On(_) => Err(error!(Unsupported, "the run is recorded already: stop that recording first")),
            Recorder::Off => Err(error!(
                Unsupported,
                "a recording must be complete: start it before the first call that changes something"
            )),
        }
    }

    /// End the recording, if there is one. It cannot be resumed.
    pub fn stop_recording(&mut self) {
        if self.is_recording() {
            self.recorder = Recorder::Off;
        }
    }

    /// Whether the run is being recorded.
    pub fn is_recording(&self) -> bool {
        matches!(self.recorder, Recorder::On(_))
    }

    /// Record a call that succeeded.
    pub(in crate::goblin) fn record_event(&mut self, event: Event<'_>) {
        if !matches!(self.recorder, Recorder::Off) {
            self.write_event(&event);
        }
    }

    fn write_event(&mut self, event: &Event<'_>) {
        let Self { recorder, settings, history, strategies, .. } = self;
        let Recorder::On(writer) = recorder else {
            *recorder = Recorder::Off;
            return;
        };
        writer.event(event, history.latest());
        match event {
            Event::Decide => {
                writer.decision(history.latest(), strategies.active(), settings);
                writer.flush();
            }
            Event::DecideFailed => writer.flush(),
            _ => {}
        }
    }
}

/// Encodes events and passes blocks to the sink.
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

    fn event(&mut self, event: &Event<'_>, latest: u64) {
        let Ok(()) = self.try_event(event, latest);
    }

    fn try_event(&mut self, event: &Event<'_>, latest: u64) -> Put {
        self.bytes(&[event.tag() as u8]);
        match *event {
            Event::Configure(desc) => wire::config(self, &mut { *desc }),
            Event::AddSetting(id, desc) => {
                self.put_id(id)?;
                let SettingDesc { id, options, shared, default_choice, has_burden, is_trim, switch_burden } = *desc;
                self.put_text(id)?;
                self.put_options(options)?;
                self.put(shared)?;
                self.put(default_choice)?;
                self.put(has_burden)?;
                self.put(is_trim)?;
                self.put_real(switch_burden)
            }
            Event::AddProduct(id, desc) => {
                self.put_id(id)?;
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
            Event::RemoveSetting(id) => self.put_id(id),
            Event::SetOptions(id, options) => {
                self.put_id(id)?;
                self.put_options(options)
            }
            Event::SetValue(id, option, value) => {
                self.put_id(id)?;
                self.put(option)?;
                self.put_real(value)
            }
            Event::SetReady(id, option, ready) => {
                self.put_id(id)?;
                self.put(option)?;
                self.put(ready)
            }
            Event::SetWork(id, work) => {
                self.put_id(id)?;
                self.put_real(work)
            }
            Event::SetRange(id, first, last) => {
                self.put_id(id)?;
                self.put(first)?;
                self.put(last)
            }
            Event::SetEnabled(id, enabled) => {
                self.put_id(id)?;
                self.put(enabled)
            }
            Event::SetSwitchScale(scale) => self.put_real(scale),
            Event::SetSettingSwitchScale(id, scale) => {
                self.put_id(id)?;
                self.put_real(scale)
            }
            Event::OpenWindow(decisions, share) => {
                self.put(decisions)?;
                self.put_real(share)
            }
            Event::AddStrategy(desc) => wire::strategy(self, &mut { *desc }),
            Event::SetStrategy(strategy, desc) => {
                self.put(strategy as u64)?;
                wire::strategy(self, &mut { *desc })
            }
            Event::SetStrategyValue(strategy, id, option, value) => {
                self.put(strategy as u64)?;
                self.put_id(id)?;
                self.put(option)?;
                self.put_real(value)
            }
            Event::SetStrategyWork(strategy, id, factor) => {
                self.put(strategy as u64)?;
                self.put_id(id)?;
                self.put_real(factor)
            }
            Event::SetStrategyOptionWork(strategy, id, option, factor) => {
                self.put(strategy as u64)?;
                self.put_id(id)?;
                self.put(option)?;
                self.put_real(factor)
            }
            Event::SetPastProfile(profile) => {
                self.put(profile.tasks().len() as u64)?;
                profile.tasks().iter().try_for_each(|task| {
                    self.put_text(task.id())?;
                    self.put(task.options().len() as u64)?;
                    task.options().iter().try_for_each(|&known| wire::estimate(self, &mut { known }))
                })
            }
            Event::Measure(id, sample) => {
                self.put_id(id)?;
                self.put_sample(sample, latest)
            }
            Event::MeasureTotal(sample) => self.put_sample(sample, latest),
            Event::Applied(id, decision, choice) => {
                self.put_id(id)?;
                self.put(age(decision, latest))?;
                self.put(choice)
            }
            Event::Harvest | Event::Decide | Event::DecideFailed => Ok(()),
        }
    }

    /// The decision, the strategy, and by position the choice plus one.
    fn decision(&mut self, decision: u64, strategy: usize, settings: &Slots<Setting>) {
        let Ok(()) = (|| {
            self.put(decision)?;
            self.put(strategy as u64)?;
            self.put(settings.positions() as u64)?;
            (0..settings.positions()).try_for_each(|position| {
                self.put(plus_one(settings.at(position).map_or(NO_CHOICE, |setting| setting.choice)))
            })
        })();
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.bytes(&[Tag::End as u8]);
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

impl Event<'_> {
    fn tag(&self) -> Tag {
        match self {
            Self::Configure(..) => Tag::Configure,
            Self::AddSetting(..) => Tag::AddSetting,
            Self::AddProduct(..) => Tag::AddProduct,
            Self::RemoveSetting(..) => Tag::RemoveSetting,
            Self::SetOptions(..) => Tag::SetOptions,
            Self::SetValue(..) => Tag::SetValue,
            Self::SetReady(..) => Tag::SetReady,
            Self::SetWork(..) => Tag::SetWork,
            Self::SetRange(..) => Tag::SetRange,
            Self::SetEnabled(..) => Tag::SetEnabled,
            Self::SetSwitchScale(..) => Tag::SetSwitchScale,
            Self::SetSettingSwitchScale(..) => Tag::SetSettingSwitchScale,
            Self::OpenWindow(..) => Tag::OpenWindow,
            Self::AddStrategy(..) => Tag::AddStrategy,
            Self::SetStrategy(..) => Tag::SetStrategy,
            Self::SetStrategyValue(..) => Tag::SetStrategyValue,
            Self::SetStrategyWork(..) => Tag::SetStrategyWork,
            Self::SetStrategyOptionWork(..) => Tag::SetStrategyOptionWork,
            Self::SetPastProfile(..) => Tag::SetPastProfile,
            Self::Measure(..) => Tag::Measure,
            Self::MeasureTotal(..) => Tag::MeasureTotal,
            Self::Applied(..) => Tag::Applied,
            Self::Harvest => Tag::Harvest,
            Self::Decide => Tag::Decide,
            Self::DecideFailed => Tag::DecideFailed,
        }
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
