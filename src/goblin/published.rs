//! Choices that any thread can read at any time, while the goblin decides.
//!
//! The goblin writes here, one thread at a time; any number of threads read. There is no lock, and reading allocates
//! nothing.
//!
//! * *The choice in force* is one word per setting: generation and choice. [`Published::choice`] takes one load.
//! * *Remembered decisions* are rows of a ring, one cell per setting. A row carries the id of its decision: 0 while it
//!   is written. A reader copies cells and then checks the id again; if it has changed, the copy is discarded.
//! * *The held row.* A reader of the latest decision that was overtaken [`ATTEMPTS`] times raises `readers_waiting`. The
//!   goblin writes every decision to one of two spare rows as well, in turns, but leaves both alone while a reader
//!   waits. So the spare row that was completed last cannot change under that reader, and its copy succeeds.
//!
//! # Progress
//! Every read is wait-free: its number of steps is bounded by the number of settings, whatever other threads do or
//! wherever they are suspended. The writer never waits for a reader. A reader is overtaken only if the goblin makes as
//! many decisions as the ring has rows during one copy. Then it may get a decision that is a little older than the
//! latest one; it is still one decision, and the answer names it.
//!
//! # Memory order
//! Cells are stored with `Release` and loaded with `Acquire`. A reader that loads a cell of a newer decision therefore
//! also sees that the row's id was cleared before, and discards the copy. The row's id and `latest` are stored with
//! `Release` after the cells, so a reader that finds an id sees all cells of that decision.
//!
//! # Memory
//! Tables only grow, at least doubling the settings or the decisions they hold. A replaced table is kept,
//! because another thread may be reading it: all replaced tables together take about as much as the table in use.

use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU16, AtomicU64, AtomicUsize, Ordering};

use crate::base::{Id, Result, error, try_collect};
use crate::knapsack::NO_CHOICE;

use super::errors::no_such_setting;

/// How often a reader of the latest decision tries the ring before it takes the held row.
const ATTEMPTS: usize = 4;
/// Each table but the first has at least twice the settings or twice the decisions, up to 2^24 and 2^16.
const MOST_TABLES: usize = 48;
/// Enough that a reader is hardly ever overtaken, however short the history.
const FEWEST_ROWS: usize = 16;
const FEWEST_POSITIONS: usize = 16;
/// Rows outside the ring: two spare ones, for the held row that the module documentation explains, and one for the
/// choices before the first decision.
const SPARE_ROWS: usize = 3;
const DEFAULTS: usize = 2;

/// The result of copying the choices of one decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// The decision; 0 for the default choices before the first decision.
    pub decision: u64,
    /// Number of entries of the complete answer: one more than the highest position of a setting so far. Never
    /// decreases.
    pub count: usize,
}

/// The choices of the latest decision and of the older ones in `history`, readable from any thread at any time.
pub struct Published {
    tables: [OnceLock<Table>; MOST_TABLES],
    /// The table in use.
    table: AtomicUsize,
    /// The latest decision; 0 before the first.
    latest: AtomicU64,
    /// Number of remembered decisions.
    depth: AtomicUsize,
    /// Positions in use.
    positions: AtomicUsize,
    /// Number of readers that need the held row unchanged.
    readers_waiting: AtomicUsize,
}

impl Published {
    /// Entry of [`Published::choices`] for a setting without a choice in that decision.
    pub const NONE: u32 = u32::MAX;

    /// A table with room for `depth` decisions.
    pub(super) fn new(depth: usize) -> Result<Self> {
        let first = Table::new(rows_for(depth), FEWEST_POSITIONS)?;
        let published = Self {
            tables: [const { OnceLock::new() }; MOST_TABLES],
            table: AtomicUsize::new(0),
            latest: AtomicU64::new(0),
            depth: AtomicUsize::new(depth),
            positions: AtomicUsize::new(0),
            readers_waiting: AtomicUsize::new(0),
        };
        _ = published.tables[0].set(first);
        Ok(published)
    }

    /// The latest decision; 0 before the first. A choice that is read later is of this decision or a newer one.
    pub fn latest(&self) -> u64 {
        self.latest.load(Ordering::Acquire)
    }

    /// The choice in force: that of the latest decision in which the setting took part, before the first one its
    /// default. `None` for a setting without options. `NotFound` for the id of a removed setting.
    ///
    /// During a decision this is the previous choice or the new one. Use [`Published::choices`] for the choices of
    /// several settings that must belong to one decision.
    pub fn choice(&self, id: Id) -> Result<Option<u16>> {
        let word = self.table().now(id).ok_or_else(no_such_setting)?;
        Ok((word.choice() != NO_CHOICE).then_some(word.choice()))
    }

    /// The choice of a decision for a setting; decision 0 is the latest, or the defaults before the first.
    ///
    /// This is the *decided* choice: [`super::Goblin::applied`] does not change it. `NotFound` if `history` no longer
    /// remembers the decision. Also `NotFound` if the setting had no choice in it: it was added later, got another
    /// number of options later, was disabled, or has no options.
    pub fn choice_of(&self, decision: u64, id: Id) -> Result<u16> {
        let table = self.table();
        table.now(id).ok_or_else(no_such_setting)?;
        let position = id.index1 as usize - 1;
        let (decision, choice) = if decision != 0 {
            (decision, self.cell(table, decision, position).ok_or_else(|| self.forgotten(decision))?)
        } else if self.latest() == 0 {
            (0, table.cell(table.rows + DEFAULTS, position))
        } else {
            let mut found = (0, NO_CHOICE);
            self.read_latest(|table, row, decision| found = (decision, table.cell(row, position)));
            found
        };
        // If the cell is that of a later setting at this position, its word was exchanged before.
        if !Word::load(&table.now[position]).is(id) {
            return Err(no_such_setting());
        }
        if choice == NO_CHOICE {
            return Err(error!(
                NotFound,
                "the setting has no choice in decision {decision}: it was added or got other options later, was disabled, \
                 or has no options"
            ));
        }
        Ok(choice)
    }

    /// Copy all choices of one decision. The choice of the setting with id `id` goes to `out[id.index1 - 1]`. Settings
    /// without a choice, as in [`Published::choice_of`], and positions without a setting get [`Published::NONE`], as do
    /// entries beyond the answer. Entries that do not fit are omitted; `count` gives the complete size.
    ///
    /// Decision 0 is the latest, or the defaults before the first. `NotFound` if `history` no longer remembers the
    /// decision; then all of `out` is `NONE`.
    pub fn choices(&self, decision: u64, out: &mut [u32]) -> Result<Snapshot> {
        self.read_choices(decision, out.len(), |index, choice| out[index] = choice)
    }

    /// [`Published::choices`] through `put(index, choice)` for every index below `capacity`, several times if the
    /// decision was overtaken meanwhile: the last one counts.
    pub fn read_choices(&self, decision: u64, capacity: usize, mut put: impl FnMut(usize, u32)) -> Result<Snapshot> {
        let mut snapshot = Snapshot { decision, count: 0 };
        let mut copy = |table: &Table, choice: &dyn Fn(usize) -> u16| {
            // Loaded after the row's id, so it covers all positions of that decision, or more.
            let count = self.positions.load(Ordering::Acquire).min(table.positions);
            (0..count.min(capacity)).for_each(|index| put(index, widened(choice(index))));
            (count..capacity).for_each(|index| put(index, Self::NONE));
            count
        };
        if decision == 0 && self.latest() == 0 {
            let table = self.table();
            snapshot.count = copy(table, &|position| table.cell(table.rows + DEFAULTS, position));
            return Ok(snapshot);
        }
        if decision == 0 {
            snapshot.decision = self.read_latest(|table, row, _| {
                snapshot.count = copy(table, &|position| table.cell(row, position));
            });
            return Ok(snapshot);
        }
        let table = self.table();
        let is_whole = self.remembers(decision)
            && table.read(table.row(decision), decision, |row| {
                snapshot.count = copy(table, &|position| table.cell(row, position));
            });
        if !is_whole {
            copy(table, &|_| NO_CHOICE);
            return Err(self.forgotten(decision));
        }
        Ok(snapshot)
    }

    /// Bytes held.
    pub fn memory_used(&self) -> usize {
        let tables = self.tables.iter().map_while(OnceLock::get).map(|table| Table::bytes(table.rows, table.positions));
        size_of::<Self>() + tables.sum::<usize>()
    }

    /// Let `copy` read the row of the latest decision, or of one that was the latest during this call. Returns its id.
    /// `copy` may be called several times; the last time counts. There must have been a decision.
    fn read_latest(&self, mut copy: impl FnMut(&Table, usize, u64)) -> u64 {
        for _ in 0..ATTEMPTS {
            let (decision, table) = (self.latest(), self.table());
            if table.read(table.row(decision), decision, |row| copy(table, row, decision)) {
                return decision;
            }
        }
        self.read_held(copy)
    }

    /// Let `copy` read the spare row that was completed last. Returns the id of its decision.
    fn read_held(&self, mut copy: impl FnMut(&Table, usize, u64)) -> u64 {
        let _waiting = Waiting::begin(&self.readers_waiting);
        // Loaded after the counter was raised. The writer never writes to the table and the spare row that are loaded
        // now: those that it began earlier are different ones.
        let table = self.table();
        let row = table.rows + table.held.load(Ordering::Acquire);
        let decision = table.ids[row].load(Ordering::Acquire);
        let is_whole = table.read(row, decision, |row| copy(table, row, decision));
        debug_assert!(is_whole && decision > 0, "a held row does not change while a reader waits");
        decision
    }

    /// Copies the held row, as a reader does that was overtaken too often.
    #[cfg(test)]
    pub(super) fn held_choices(&self, out: &mut [u32]) -> u64 {
        self.read_held(|table, row, _| (0..out.len()).for_each(|n| out[n] = widened(table.cell(row, n))))
    }

    /// The choice of a remembered decision at a position.
    fn cell(&self, table: &Table, decision: u64, position: usize) -> Option<u16> {
        let mut choice = NO_CHOICE;
        let is_whole = self.remembers(decision)
            && table.read(table.row(decision), decision, |row| choice = table.cell(row, position));
        is_whole.then_some(choice)
    }

    fn remembers(&self, decision: u64) -> bool {
        let age = self.latest().checked_sub(decision);
        age.is_some_and(|age| age < self.depth.load(Ordering::Relaxed) as u64)
    }

    fn table(&self) -> &Table {
        self.tables[self.table.load(Ordering::Acquire)].get().expect("a table is set before its number is published")
    }

    fn forgotten(&self, decision: u64) -> crate::base::Error {
        let latest = self.latest();
        if latest == 0 {
            return error!(NotFound, "decision {decision}: there has been no decision yet; call update first");
        }
        let oldest = latest.saturating_sub(self.depth.load(Ordering::Relaxed) as u64) + 1;
        error!(
            NotFound,
            "decision {decision} is not remembered, only {oldest} to {latest}: raise `history` to read older ones"
        )
    }
}

/// The writer's side. One thread at a time: the goblin is borrowed exclusively.
impl Published {
    /// Additional bytes that [`Published::reserve`] would take.
    pub(super) fn memory_wanted(&self, depth: usize, positions: usize) -> usize {
        self.wanted(depth, positions).map_or(0, |(rows, positions)| Table::bytes(rows, positions))
    }

    /// Make room for this many decisions and positions.
    pub(super) fn reserve(&self, depth: usize, positions: usize) -> Result<()> {
        let Some((rows, positions)) = self.wanted(depth, positions) else { return Ok(()) };
        let next = self.table.load(Ordering::Relaxed) + 1;
        if next == MOST_TABLES {
            return Err(error!(LimitExceeded, "{positions} settings and {rows} decisions cannot be published"));
        }
        let fresh = Table::new(rows, positions)?;
        fresh.copy_from(self.table(), self.latest());
        _ = self.tables[next].set(fresh);
        self.table.store(next, Ordering::Release);
        Ok(())
    }

    /// Remember this many decisions. There must be room.
    pub(super) fn set_depth(&self, depth: usize) {
        debug_assert!(depth < self.table().rows);
        self.depth.store(depth, Ordering::Relaxed);
    }

    /// Add a setting with its choice until the next decision. There must be room.
    pub(super) fn add(&self, id: Id, choice: u16) {
        let (table, position) = (self.table(), id.index1 as usize - 1);
        table.now[position].store(Word::new(id.generation, choice).0, Ordering::Release);
        table.set_default(position, choice);
        self.positions.fetch_max(position + 1, Ordering::Release);
    }

    /// Reset a setting that got other options: its choice until the next decision. Remembered decisions lose their
    /// choice for it.
    pub(super) fn restart(&self, id: Id, choice: u16) {
        let (table, position) = (self.table(), id.index1 as usize - 1);
        table.now[position].store(Word::new(id.generation, choice).0, Ordering::Release);
        table.clear(position);
        table.set_default(position, choice);
    }

    /// Remove a setting.
    pub(super) fn remove(&self, position: usize) {
        let table = self.table();
        table.now[position].store(Word::REMOVED.0, Ordering::Release);
        table.clear(position);
    }

    /// Begin to write a decision. At first no setting has a choice.
    pub(super) fn write(&self, decision: u64) -> Edition<'_> {
        let table = self.table();
        let row = table.row(decision);
        // A read-modify-write: a reader that raises the counter after this sees every row that was completed before.
        let is_held = self.readers_waiting.fetch_add(0, Ordering::AcqRel) > 0;
        let held = (!is_held).then(|| 1 - table.held.load(Ordering::Relaxed));
        let positions = self.positions.load(Ordering::Relaxed);
        let begin = |row: usize| {
            table.ids[row].store(0, Ordering::Relaxed);
            let cells = &table.cells[row * table.positions..][..positions];
            cells.iter().for_each(|cell| cell.store(NO_CHOICE, Ordering::Release));
            cells
        };
        let (cells, held_cells) = (begin(row), held.map_or(&[][..], |held| begin(table.rows + held)));
        Edition { published: self, table, decision, row, held, now: &table.now[..positions], cells, held_cells }
    }

    fn wanted(&self, depth: usize, positions: usize) -> Option<(usize, usize)> {
        let table = self.table();
        if depth < table.rows && positions <= table.positions {
            return None;
        }
        let wanted = if positions <= table.positions { table.positions } else { positions.next_power_of_two() };
        let rows = if depth < table.rows { table.rows } else { rows_for(depth).max(2 * table.rows) };
        Some((rows, wanted))
    }
}

impl fmt::Debug for Published {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Published").field("latest", &self.latest()).finish_non_exhaustive()
    }
}

/// A decision that is being written. Only [`Edition::publish`] publishes it.
pub struct Edition<'a> {
    published: &'a Published,
    table: &'a Table,
    decision: u64,
    row: usize,
    /// The spare row to write as well, unless a reader waits.
    held: Option<usize>,
    /// By position.
    now: &'a [AtomicU64],
    cells: &'a [AtomicU16],
    /// Empty while a reader waits.
    held_cells: &'a [AtomicU16],
}

impl Edition<'_> {
    /// Set the choice of the setting at a position.
    pub fn set(&self, position: usize, choice: u16) {
        let now = &self.now[position];
        let generation = Word::load(now).generation();
        now.store(Word::new(generation, choice).0, Ordering::Release);
        self.cells[position].store(choice, Ordering::Release);
        if let Some(cell) = self.held_cells.get(position) {
            cell.store(choice, Ordering::Release);
        }
    }

    /// Publish it as the latest decision.
    pub fn publish(self) {
        self.table.ids[self.row].store(self.decision, Ordering::Release);
        if let Some(held) = self.held {
            self.table.ids[self.table.rows + held].store(self.decision, Ordering::Release);
            self.table.held.store(held, Ordering::Release);
        }
        self.published.latest.store(self.decision, Ordering::Release);
    }
}

/// Counts a waiting reader, even if it panics.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn begin(readers: &'a AtomicUsize) -> Self {
        // Acquire: sees what the writer had completed when it last found no reader. Release: the writer that finds this
        // reader finished overwrites nothing that it may still read.
        readers.fetch_add(1, Ordering::AcqRel);
        Self(readers)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// The state of a position: whether a setting is there, its generation and its choice.
#[derive(Clone, Copy)]
struct Word(u64);

impl Word {
    const REMOVED: Self = Self(0);
    const LIVE: u64 = 1 << 16;

    fn new(generation: u32, choice: u16) -> Self {
        Self(u64::from(generation) << 32 | Self::LIVE | u64::from(choice))
    }

    fn is_live(self) -> bool {
        self.0 & Self::LIVE != 0
    }

    fn is(self, id: Id) -> bool {
        self.is_live() && self.generation() == id.generation
    }

    fn load(from: &AtomicU64) -> Self {
        Self(from.load(Ordering::Acquire))
    }

    fn generation(self) -> u32 {
        (self.0 >> 32) as u32
    }

    fn choice(self) -> u16 {
        self.0 as u16
    }
}

/// The choices in force, and a ring buffer of decisions.
struct Table {
    /// Rows of the ring: one more than the remembered decisions, so that all of these are readable while the next one
    /// is written.
    rows: usize,
    positions: usize,
    /// By position: a [`Word`].
    now: Vec<AtomicU64>,
    /// By row, the spare ones last: the id of its decision; 0 if it has none, or while it is written.
    ids: Vec<AtomicU64>,
    /// By row and position.
    cells: Vec<AtomicU16>,
    /// The spare row that was completed last.
    held: AtomicUsize,
}

impl Table {
    fn new(rows: usize, positions: usize) -> Result<Self> {
        let all_rows = rows + SPARE_ROWS;
        Ok(Self {
            rows,
            positions,
            now: try_collect((0..positions).map(|_| AtomicU64::new(Word::REMOVED.0)))?,
            ids: try_collect((0..all_rows).map(|_| AtomicU64::new(0)))?,
            cells: try_collect((0..all_rows.saturating_mul(positions)).map(|_| AtomicU16::new(NO_CHOICE)))?,
            held: AtomicUsize::new(0),
        })
    }

    fn bytes(rows: usize, positions: usize) -> usize {
        let rows = rows + SPARE_ROWS;
        rows.saturating_mul(positions).saturating_mul(size_of::<AtomicU16>())
            + (rows + positions) * size_of::<AtomicU64>()
    }

    /// The state of the setting with this id, if it exists.
    fn now(&self, id: Id) -> Option<Word> {
        let position = (id.index1 as usize).checked_sub(1)?;
        Some(Word::load(self.now.get(position)?)).filter(|word| word.is(id))
    }

    fn row(&self, decision: u64) -> usize {
        (decision % self.rows as u64) as usize
    }

    fn cell(&self, row: usize, position: usize) -> u16 {
        self.cells[row * self.positions + position].load(Ordering::Acquire)
    }

    /// Let `copy` read a row. Returns whether all cells were of this decision.
    fn read(&self, row: usize, decision: u64, copy: impl FnOnce(usize)) -> bool {
        if self.ids[row].load(Ordering::Acquire) != decision {
            return false;
        }
        copy(row);
        // Relaxed is enough: a cell of another decision was loaded with Acquire, after the id had been cleared.
        self.ids[row].load(Ordering::Relaxed) == decision
    }

    fn set_default(&self, position: usize, choice: u16) {
        self.cells[(self.rows + DEFAULTS) * self.positions + position].store(choice, Ordering::Release);
    }

    /// Remove the choices of all remembered decisions at this position.
    fn clear(&self, position: usize) {
        (0..self.ids.len())
            .for_each(|row| self.cells[row * self.positions + position].store(NO_CHOICE, Ordering::Release));
    }

    /// Copy everything from a smaller table. No thread reads this one yet.
    fn copy_from(&self, other: &Self, latest: u64) {
        let word = |from: &AtomicU64, to: &AtomicU64| to.store(from.load(Ordering::Relaxed), Ordering::Relaxed);
        other.now.iter().zip(&self.now).for_each(|(from, to)| word(from, to));
        let copy = |from: usize, to: usize| {
            word(&other.ids[from], &self.ids[to]);
            for position in 0..other.positions {
                let choice = other.cell(from, position);
                self.cells[to * self.positions + position].store(choice, Ordering::Relaxed);
            }
        };
        copy(other.rows + DEFAULTS, self.rows + DEFAULTS);
        for row in 0..other.rows {
            match other.ids[row].load(Ordering::Relaxed) {
                0 => {}
                decision => copy(row, self.row(decision)),
            }
        }
        if latest > 0 {
            copy(other.row(latest), self.rows);
        }
    }
}

fn rows_for(depth: usize) -> usize {
    (depth + 1).max(FEWEST_ROWS)
}

fn widened(choice: u16) -> u32 {
    if choice == NO_CHOICE { Published::NONE } else { u32::from(choice) }
}
