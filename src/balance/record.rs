//! Recordings of calls, and their replay.
//!
//! The host gets the calls in [blocks](crate::base::recording), each when it is full. A choice is one byte and a duration nine,
//! so the last incomplete block of a process that crashed has about a hundred calls. The first block has the options alone,
//! and is written at once. A recording is replayed to see whether another build chooses the same, or to have the balance
//! as it was after any call.

use super::{Balance, MAX_STRATEGIES, Options, Policy, Strategy};
use crate::base::recording::{BlockReader, BlockWriter, Cut, HEADER, Kind, Sink, check_sum, header};
use crate::base::{Error, Result, error};

const KIND: Kind = Kind { magic: *b"HOBBAL\r\n", format: 2 };
/// Bytes of a block.
const BLOCK: usize = 1024;
/// Bytes of the first block's payload: options, and the check sum of the header.
const OPTIONS: usize = 22;

/// The kind of a call, in the upper two bits of its first byte. The lower six have the strategy.
mod tag {
    /// A choice, with its answer.
    pub const CHOOSE: u8 = 0;
    /// A duration: 8 bytes follow.
    pub const MEASURE: u8 = 1;
    pub const RESTART: u8 = 2;
    /// Nothing follows.
    pub const END: u8 = 3;
}
const _: () = assert!(MAX_STRATEGIES <= 64);

/// A balance whose calls can be recorded.
#[derive(Debug)]
pub struct Recorded {
    balance: Balance,
    writer: Option<Writer>,
    /// Nothing was chosen or measured since the creation or the last restart: a recording can begin.
    is_fresh: bool,
}

impl Recorded {
    /// Let the calls of a balance be recorded.
    pub fn new(balance: Balance) -> Self {
        Self { is_fresh: balance.last.count == 0 && balance.fastest.is_none(), balance, writer: None }
    }

    /// [`Balance::choose`].
    pub fn choose(&mut self) -> usize {
        let chosen = self.balance.choose();
        self.note(tag::CHOOSE, chosen, &[]);
        chosen
    }

    /// [`Balance::measure`].
    pub fn measure(&mut self, strategy: usize, seconds: f64) -> Result<bool> {
        let counts = self.balance.measure(strategy, seconds);
        // An ignored one is in the statistics.
        if strategy < self.balance.strategies() {
            self.note(tag::MEASURE, strategy, &seconds.to_le_bytes());
        }
        counts
    }

    /// [`Balance::restart`].
    pub fn restart(&mut self) {
        self.balance.restart();
        self.note(tag::RESTART, 0, &[]);
        self.is_fresh = true;
    }

    /// The balance, to look at.
    pub fn balance(&self) -> &Balance {
        &self.balance
    }

    /// [`Balance::strategy`], or an error that says how many there are.
    pub fn strategy(&self, at: usize) -> Result<Strategy> {
        let count = self.balance.strategies();
        self.balance.strategy(at).ok_or_else(|| super::no_strategy(at, count))
    }

    /// Begin a recording.
    pub fn record(&mut self, sink: Box<dyn Sink>) -> Result<()> {
        if self.writer.is_some() {
            return Err(error!(Unsupported, "the calls are recorded already: stop that recording first"));
        }
        if !self.is_fresh {
            return Err(error!(
                Unsupported,
                "a recording must be complete: start it right after the creation or a restart"
            ));
        }
        let mut blocks = BlockWriter::new(sink, KIND, BLOCK)?;
        let Options { strategies, policy, trial_share, seed: _ } = self.balance.options;
        let mut options = [0; OPTIONS];
        options[..2].copy_from_slice(&[strategies as u8, policy as u8]);
        options[2..10].copy_from_slice(&trial_share.to_le_bytes());
        options[10..18].copy_from_slice(&self.balance.random.0.to_le_bytes());
        options[18..].copy_from_slice(&check_sum(0, &header(KIND)).to_le_bytes());
        blocks.bytes(&options);
        blocks.flush();
        self.writer = Some(Writer(blocks));
        Ok(())
    }

    /// End the recording, if there is one.
    pub fn stop_recording(&mut self) {
        self.writer = None;
    }

    fn note(&mut self, tag: u8, strategy: usize, bytes: &[u8]) {
        self.is_fresh = false;
        if let Some(Writer(blocks)) = &mut self.writer {
            blocks.bytes(&[tag << 6 | strategy as u8]);
            blocks.bytes(bytes);
        }
    }
}

/// Writes the end when it is dropped.
#[derive(Debug)]
struct Writer(BlockWriter);

impl Drop for Writer {
    fn drop(&mut self) {
        self.0.bytes(&[tag::END << 6]);
        self.0.flush();
    }
}

/// The result of a replay.
#[derive(Clone, Copy, Debug)]
pub struct Report {
    /// Number of replayed calls.
    pub calls: u64,
    /// Number of choices among them.
    pub choices: u64,
    /// Number of choices that differ.
    pub different: u64,
    /// The first of them.
    pub difference: Option<Difference>,
    /// Number of replayed bytes, and so the offset of the end.
    pub bytes: usize,
    /// Why the replay ended.
    pub end: End,
    /// The version of the recording library: major, minor, patch. Another version may choose differently.
    pub library: [u8; 3],
}

/// A choice that differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The call, counted from 1.
    pub call: u64,
    /// The strategy of the recording.
    pub recorded: usize,
    /// The strategy now.
    pub replayed: usize,
}

/// Why a replay ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// All calls are repeated.
    Complete,
    /// As many calls are repeated as were asked for.
    Stopped,
    /// The recording is truncated: the next block is incomplete or missing.
    Truncated,
    /// The recording is damaged there.
    Damaged,
}

/// Repeat the first `most` calls of a recording. The balance is as it was after them. Fails if `recording` is not a
/// recording or has no options, or without memory.
pub fn replay(recording: &[u8], most: u64) -> Result<(Balance, Report)> {
    let (mut reader, library) = BlockReader::new(recording, KIND)?;
    let mut balance = read_options(&mut reader, check_sum(0, &recording[..HEADER]))?;
    let mut report =
        Report { calls: 0, choices: 0, different: 0, difference: None, bytes: HEADER, end: End::Stopped, library };
    report.bytes = reader.position();
    while report.calls < most {
        match repeat(&mut reader, &mut balance, &mut report) {
            Ok(true) => {
                report.calls += 1;
                report.bytes = reader.position();
            }
            Ok(false) => {
                (report.end, report.bytes) = (End::Complete, reader.position());
                break;
            }
            Err(Cut::Truncated(byte)) => {
                (report.end, report.bytes) = (End::Truncated, byte);
                break;
            }
            Err(Cut::Damaged(byte)) => {
                (report.end, report.bytes) = (End::Damaged, byte);
                break;
            }
        }
    }
    Ok((balance, report))
}

fn read_options(reader: &mut BlockReader<'_>, header: u32) -> Result<Balance> {
    let options: [u8; OPTIONS] = reader.exact().map_err(|why| match why {
        Cut::Truncated(_) => error!(Malformed, "the recording is cut off before the options of its balance"),
        Cut::Damaged(_) => damaged(),
    })?;
    let number = |from: usize| {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&options[from..][..8]);
        bytes
    };
    let policy = match options[1] {
        0 => Policy::Accounts,
        1 => Policy::Table,
        _ => return Err(damaged()),
    };
    if options[18..] != header.to_le_bytes() {
        return Err(damaged());
    }
    let (trial_share, seed) = (f64::from_le_bytes(number(2)), u64::from_le_bytes(number(10)));
    Balance::new(Options { strategies: usize::from(options[0]), policy, trial_share, seed })
}

#[cold]
fn damaged() -> Error {
    error!(Malformed, "the beginning of the recording is damaged")
}

/// Repeat the next call. False at the end.
fn repeat(reader: &mut BlockReader<'_>, balance: &mut Balance, report: &mut Report) -> std::result::Result<bool, Cut> {
    let damaged = Cut::Damaged(reader.position());
    let [byte] = reader.exact()?;
    let strategy = usize::from(byte & 63);
    match byte >> 6 {
        tag::CHOOSE if strategy < balance.strategies() => {
            let replayed = balance.choose();
            report.choices += 1;
            if replayed != strategy {
                report.different += 1;
                let difference = Difference { call: report.calls + 1, recorded: strategy, replayed };
                report.difference.get_or_insert(difference);
            }
        }
        tag::MEASURE if strategy < balance.strategies() => {
            // Ignored ones fail again.
            _ = balance.measure(strategy, f64::from_le_bytes(reader.exact()?));
        }
        tag::RESTART if strategy == 0 => balance.restart(),
        tag::END if strategy == 0 && reader.remaining() == 0 => return Ok(false),
        _ => return Err(damaged),
    }
    Ok(true)
}
