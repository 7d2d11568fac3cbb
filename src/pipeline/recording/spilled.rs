//! A merge of more pipelines than memory holds.
//!
//! When the table is full, its rows are written to a temporary file in the order of their keys. So a pipeline may be in
//! several parts of that file. A recording that is being added then adds to this part and to the next one. A run counts a pipeline once, so the next part keeps the first use in that recording apart. Later uses in
//! it, of pipelines that may be in an earlier part, are kept apart as well. The final pass decides about both.

use super::merged::{CommonMasks, MergedPipeline};
use super::{LaterUses, USE, get_later, put_later};
use crate::base::{Result, error, sort_slowly, try_push};
use crate::pipeline::files::sort::{Scratch, SortKey, Sorted, Sorter, Watch, by_name, name_of};
use crate::pipeline::files::{Cursor, Table, UseData, get_description, get_uses, put_uses};
use crate::pipeline::keys::Wanted;
use crate::pipeline::{PipelineKey, ShaderRef};

/// Kinds of payloads.
const ROW: u8 = 0;
const LATER: u8 = 1;
/// Bytes of a row's head: kind, last source, and the first use that is kept apart: its source or 0, frame, build time.
const HEAD: usize = 1 + 4 + 4 + 8 + 4;

/// The first use of a pipeline in a recording that an earlier part has a beginning of.
pub struct Apart {
    pub frame: u64,
    pub build_us: u32,
}

/// The temporary file, and the uses that are kept apart.
pub struct Spill {
    sorter: Sorter,
    memory: usize,
    /// Rows that were written.
    rows: u64,
    /// The shaders of all pipelines that were written.
    wanted: Wanted,
    /// The source that was being added when the table was written last.
    continued: u32,
    /// The first uses in that source. Its pipelines are the first rows of the table.
    firsts: Vec<Apart>,
    /// Later uses in that source, of pipelines that the table does not have.
    later: Vec<LaterUses>,
}

impl Spill {
    pub fn new(scratch: &Scratch) -> Result<Self> {
        Ok(Self {
            sorter: Sorter::new(scratch, scratch.memory())?,
            memory: scratch.memory(),
            rows: 0,
            wanted: Wanted::default(),
            continued: 0,
            firsts: Vec::new(),
            later: Vec::new(),
        })
    }

    /// Whether a table and sets of masks of so many bytes must be written. The limit grows with the file, so that
    /// pipelines that all recordings have are not written again and again.
    pub fn is_full(&self, bytes: usize) -> bool {
        let apart = self.firsts.len() * size_of::<Apart>() + self.later.len() * size_of::<LaterUses>();
        (bytes + apart) as u64 > (self.memory as u64).max(self.sorter.length() / 4)
    }

    /// Whether an earlier part has a beginning of the source.
    pub fn continues(&self, source: u32) -> bool {
        self.continued == source
    }

    /// Keep the first use of the table's next row apart.
    pub fn keep_first(&mut self, frame: u64, build_us: u32) -> Result<()> {
        try_push(&mut self.firsts, Apart { frame, build_us })
    }

    /// Keep later uses apart.
    pub fn keep_later(&mut self, later: &LaterUses) -> Result<()> {
        try_push(&mut self.later, *later)
    }

    /// Rows that were written.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Whether nothing was written.
    pub fn is_empty(&self) -> bool {
        self.sorter.length() == 0
    }

    /// The shaders of all pipelines that were written.
    pub fn take_wanted(&mut self) -> Wanted {
        std::mem::take(&mut self.wanted)
    }

    /// Write all rows of a table, which is then empty. `source` is being added.
    pub fn write(&mut self, table: &mut Table, common: &CommonMasks, source: u32) -> Result<()> {
        let Self { sorter, wanted, firsts, later, continued, rows, .. } = self;
        let mut payload = Vec::new();
        if !later.is_empty() {
            sort_slowly(later, |one, other| one.key.cmp(&other.key));
            sorter.write_sorted(|part| {
                later.iter().try_for_each(|later| {
                    payload.clear();
                    payload.try_reserve(5 + USE)?;
                    payload.push(LATER);
                    payload.extend_from_slice(&continued.to_le_bytes());
                    put_later(&mut payload, later);
                    part.put(&by_name(&later.key), [&payload, &[]])
                })
            })?;
        }
        let (order, mut shaders, mut uses) = (table.by_key()?, Vec::new(), UseData::default());
        sorter.write_sorted(|part| {
            order.iter().try_for_each(|&at| {
                let (row, encoded) = (table.row(at as usize), table.encoded(at as usize));
                let first = firsts.get(at as usize);
                let (apart, frame, build_us) =
                    first.map_or((0, 0, 0), |first| (*continued, first.frame, first.build_us));
                payload.clear();
                payload.try_reserve(HEAD)?;
                payload.push(ROW);
                payload.extend_from_slice(&row.source.to_le_bytes());
                payload.extend_from_slice(&apart.to_le_bytes());
                payload.extend_from_slice(&frame.to_le_bytes());
                payload.extend_from_slice(&build_us.to_le_bytes());
                common.uses_of(row, &mut uses)?;
                put_uses(&mut payload, &uses)?;
                if let Some(description) = get_description(&mut Cursor(encoded), &mut shaders)? {
                    description.shaders.iter().try_for_each(|shader| wanted.add_shader(shader.hash))?;
                }
                part.put(&by_name(&row.key), [&payload, encoded])
            })
        })?;
        *rows += table.len() as u64;
        *table = Table::default();
        firsts.clear();
        later.clear();
        *continued = source;
        Ok(())
    }

    /// All pipelines that were written.
    pub fn finish(self) -> Result<SpilledMerge> {
        self.sorter.finish().map(SpilledMerge)
    }
}

/// The pipelines of a merge, in the order of their keys.
pub struct SpilledMerge(Sorted);

/// A pipeline whose records are being united.
struct Open {
    key: SortKey,
    source: u32,
    uses: UseData,
    encoded: Vec<u8>,
}

impl SpilledMerge {
    /// Pass all pipelines to `each`. Returns the number of later uses whose first use is lost.
    pub fn for_each(
        &self,
        watch: &mut Watch<'_>,
        mut each: impl FnMut(&MergedPipeline<'_>) -> Result<()>,
    ) -> Result<u64> {
        let mut open: Option<Open> = None;
        let (mut lost, mut shaders) = (0, Vec::new());
        self.0.for_each(watch, |key, payload| {
            if let Some(done) = open.take_if(|open| open.key != *key) {
                pass(&done, &mut shaders, &mut each)?;
            }
            let damaged = || error!(Malformed, "a merged pipeline cannot be read back: expand again");
            let mut cursor = Cursor(payload);
            let mut head = || Some((cursor.u8()?, cursor.u32()?));
            let (kind, source) = head().ok_or_else(damaged)?;
            if kind == LATER {
                let later = get_later(&mut cursor).ok_or_else(damaged)?;
                match &mut open {
                    Some(Open { source: last, uses, .. }) if *last == source => {
                        uses.masks.insert(later.mask)?;
                        uses.times = uses.times.saturating_add(later.times);
                    }
                    _ => lost += 1,
                }
                return Ok(());
            }
            let mut first = || Some((cursor.u32()?, cursor.u64()?, cursor.u32()?));
            let (apart, frame, build_us) = first().ok_or_else(damaged)?;
            let mut uses = get_uses(&mut cursor)?.ok_or_else(damaged)?;
            // An earlier part may have counted the first use in that source.
            if apart > 0 && open.as_ref().is_none_or(|open| open.source != apart) {
                uses.count_first(frame, build_us);
            }
            match &mut open {
                Some(open) => {
                    if uses.runs == 0 {
                        uses.first_frame = open.uses.first_frame;
                    }
                    open.uses.merge(&uses)?;
                    open.source = source;
                }
                None => {
                    let mut encoded = Vec::new();
                    encoded.try_reserve_exact(cursor.0.len())?;
                    encoded.extend_from_slice(cursor.0);
                    open = Some(Open { key: *key, source, uses, encoded });
                }
            }
            Ok(())
        })?;
        if let Some(done) = open {
            pass(&done, &mut shaders, &mut each)?;
        }
        Ok(lost)
    }
}

fn pass(
    done: &Open,
    shaders: &mut Vec<ShaderRef>,
    each: &mut impl FnMut(&MergedPipeline<'_>) -> Result<()>,
) -> Result<()> {
    let key: PipelineKey = name_of(&done.key);
    match get_description(&mut Cursor(&done.encoded), shaders)? {
        Some(description) => each(&MergedPipeline { key, description, uses: &done.uses }),
        None => Ok(()),
    }
}
