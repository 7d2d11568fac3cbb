//! The pipelines of several recordings, by key.

use super::spilled::{Spill, SpilledMerge};
use super::{Encoded, LaterUses, Recording, for_each_later};
use crate::base::{Result, sort_slowly, try_collect, try_push};
use crate::fingerprint::Fingerprint;
use crate::pipeline::files::sort::{Scratch, Watch};
use crate::pipeline::files::{Cursor, Row, Table, Timelines, UseData, get_description, short_key};
use crate::pipeline::keys::Wanted;
use crate::pipeline::{DescriptionRef, Mask, PipelineKey, ShaderRef};
use crate::store::{FoundRecord, LogScan, hash};

/// A pipeline of [`Merged`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MergedPipeline<'a> {
    /// The name of the description.
    pub key: PipelineKey,
    /// The pipeline.
    pub description: DescriptionRef<'a>,
    /// How all runs used it.
    pub uses: &'a UseData,
}

/// Room for a pipeline that is read.
#[derive(Default)]
pub struct PipelineBuffer {
    shaders: Vec<ShaderRef>,
    uses: UseData,
}

/// The first masks that recordings have. A row has a bit for each of them in place of a set in memory elsewhere, until
/// it is read.
#[derive(Default)]
pub struct CommonMasks {
    masks: [Mask; COMMON],
    count: usize,
}

/// Masks that have a bit. A game has few that are frequent.
const COMMON: usize = 32;

impl CommonMasks {
    /// The bit of a mask, or 0 if it has none.
    fn bit(&mut self, mask: Mask) -> u64 {
        let known = &self.masks[..self.count];
        // The first word decides almost always.
        match known.iter().position(|known| known.0[0] == mask.0[0] && *known == mask) {
            Some(at) => 1 << at,
            None if self.count < COMMON => {
                self.masks[self.count] = mask;
                self.count += 1;
                1 << (self.count - 1)
            }
            None => 0,
        }
    }

    /// The use data of a row.
    pub fn uses_of(&self, row: &Row, uses: &mut UseData) -> Result<()> {
        uses.copy_without_masks(&row.uses);
        for (at, mask) in self.masks[..self.count].iter().enumerate() {
            if row.bits >> at & 1 == 1 {
                uses.masks.insert(*mask)?;
            }
        }
        uses.masks.merge(&row.uses.masks).map(|_| ())
    }
}

/// A first use that is merged.
struct Entering<'a> {
    key: PipelineKey,
    frame: u64,
    build_us: u32,
    mask: Mask,
    /// Its bit in [`Row::bits`], or 0.
    mask_bit: u64,
    /// Its description, and the XXH3 of it.
    encoded: &'a [u8],
    hash: u64,
}

impl Row {
    /// Returns the bytes by which the set of masks grows.
    #[inline]
    fn add_mask(&mut self, mask: Mask, bit: u64) -> Result<usize> {
        self.bits |= bit;
        if bit > 0 { Ok(0) } else { Ok(usize::from(self.uses.masks.insert(mask)?) * size_of::<Mask>()) }
    }
}

/// The union of recordings. It does not depend on their order. The caller adds each run once.
#[derive(Default)]
pub struct Merged {
    table: Table,
    sources: u32,
    common: CommonMasks,
    shaders: Vec<ShaderRef>,
    /// The rows of the batch that is merged, as far as its keys are known.
    fetched: Vec<Option<u32>>,
    /// First uses in some of the runs, by the begins of keys.
    timelines: Timelines<u64>,
    /// Those of the recording that is added, if its run is kept: the begin of the key, their order, the frame.
    first_uses: Option<Vec<(u64, u32, u32)>>,
    /// Bytes of the sets of masks, about.
    masks: usize,
    /// Where the table goes when it is full. `None`: it grows.
    spill: Option<Spill>,
}

impl Merged {
    /// A merge that writes its table to temporary files when it is full. Its pipelines are read with
    /// [`take_spilled`](Self::take_spilled).
    pub(in crate::pipeline) fn spilling(scratch: &Scratch) -> Result<Self> {
        Ok(Self { spill: Some(Spill::new(scratch)?), ..Self::default() })
    }

    /// Add a recording. Returns what was lost of it, with entries whose key is not that of their description. After an
    /// error the view may hold a part of the recording.
    pub fn add(&mut self, recording: &Recording) -> Result<LogScan> {
        self.add_watched(recording, &mut Watch::new(&mut |_| Ok(())))
    }

    /// [`add`](Self::add) that notes each record.
    pub(in crate::pipeline) fn add_watched(&mut self, recording: &Recording, watch: &mut Watch<'_>) -> Result<LogScan> {
        self.sources += 1;
        self.first_uses = self.timelines.wants(&recording.run().run).then(Vec::new);
        let scan = recording.for_each_batch(|bytes, records| {
            records.iter().try_for_each(|found| watch.note(found.payload.len()))?;
            self.merge_batch(bytes, records)
        })?;
        if let Some(mut uses) = self.first_uses.take() {
            // A run counts the first record of a pipeline alone.
            sort_slowly(&mut uses, Ord::cmp);
            uses.dedup_by_key(|(key, ..)| *key);
            let uses = try_collect(uses.iter().map(|&(key, _, frame)| (key, frame)))?;
            self.timelines.insert(&recording.run().run, uses)?;
        }
        Ok(scan)
    }

    /// Merge a batch. Returns the number of entries that are lost.
    fn merge_batch(&mut self, bytes: &[u8], records: &[FoundRecord]) -> Result<u64> {
        // A wait for one row after the other would take longer than all else.
        records.iter().for_each(|found| self.table.fetch_slot(&Fingerprint(found.record.key)));
        self.fetched.clear();
        self.fetched.try_reserve(records.len())?;
        let Self { fetched, table, .. } = self;
        fetched.extend(records.iter().map(|found| table.fetch_row(&Fingerprint(found.record.key))));
        let mut lost = 0;
        for (place, FoundRecord { record, payload }) in records.iter().enumerate() {
            let payload = &bytes[payload.clone()];
            match Encoded::of(record, payload) {
                Encoded::First(first) => {
                    let first = Entering {
                        key: Fingerprint(record.key),
                        frame: record.stamp,
                        build_us: record.build_us,
                        mask: first.mask,
                        mask_bit: self.common.bit(first.mask),
                        encoded: first.description,
                        hash: hash(first.description),
                    };
                    let is_merged = match self.table.find_fetched(&first.key, self.fetched[place]) {
                        Some(at) => self.merge_known(at, &first)?,
                        None => self.insert(&first)?,
                    };
                    lost += u64::from(!is_merged);
                }
                Encoded::Later(uses) => {
                    let mut without_first = 0;
                    lost += for_each_later(uses, |later| {
                        without_first += u64::from(!self.merge_later(&later)?);
                        Ok(())
                    })?;
                    lost += without_first;
                }
                Encoded::Damaged => lost += 1,
                Encoded::Other => {}
            }
        }
        if self.spill.as_ref().is_some_and(|spill| spill.is_full(self.table.memory_used() + self.masks)) {
            self.spill_table()?;
        }
        Ok(lost)
    }

    fn spill_table(&mut self) -> Result<()> {
        self.masks = 0;
        let Self { spill, table, common, sources, .. } = self;
        spill.as_mut().map_or(Ok(()), |spill| spill.write(table, common, *sources))
    }

    /// False if the description is another one. Descriptions of one hash count as one: that of the table has the right
    /// key.
    fn merge_known(&mut self, at: usize, first: &Entering<'_>) -> Result<bool> {
        let source = self.sources;
        let row = self.table.row_mut(at);
        if row.hash != first.hash {
            return Ok(false);
        }
        self.masks += row.add_mask(first.mask, first.mask_bit)?;
        // A run that recorded a pipeline twice counts it once.
        if row.source != source {
            row.uses.count_first(first.frame, first.build_us);
            row.source = source;
            self.note_first(&first.key, first.frame)?;
        }
        Ok(true)
    }

    /// False if the key is not that of the description.
    fn insert(&mut self, first: &Entering<'_>) -> Result<bool> {
        let Entering { key, mask, mask_bit, frame, build_us, encoded, .. } = *first;
        let mut cursor = Cursor(encoded);
        let description = get_description(&mut cursor, &mut self.shaders)?;
        let is_valid = cursor.is_at_end() && description.is_some_and(|description| description.key() == key);
        if is_valid {
            let mut uses = UseData::default();
            match self.spill.as_mut().filter(|spill| spill.continues(self.sources)) {
                None => uses.count_first(frame, build_us),
                Some(spill) => spill.keep_first(frame, build_us)?,
            }
            let at = self.table.insert(&key, encoded, uses, self.sources)?;
            self.masks += self.table.row_mut(at).add_mask(mask, mask_bit)?;
            self.note_first(&key, frame)?;
        }
        Ok(is_valid)
    }

    /// A first use of the recording that is added.
    fn note_first(&mut self, key: &PipelineKey, frame: u64) -> Result<()> {
        let Some(uses) = &mut self.first_uses else { return Ok(()) };
        try_push(uses, (short_key(key), uses.len() as u32, u32::try_from(frame).unwrap_or(u32::MAX)))
    }

    /// False if the pipeline is unknown to this run: the record of its first use is lost.
    fn merge_later(&mut self, later: &LaterUses) -> Result<bool> {
        let mask_bit = self.common.bit(later.mask);
        let Some(at) = self.table.find(&later.key) else {
            // An earlier part of this recording may have it.
            let spill = self.spill.as_mut().filter(|spill| spill.continues(self.sources));
            return spill.map_or(Ok(false), |spill| spill.keep_later(later).map(|()| true));
        };
        let row = self.table.row_mut(at);
        if row.source != self.sources {
            return Ok(false);
        }
        self.masks += row.add_mask(later.mask, mask_bit)?;
        row.uses.times = row.uses.times.saturating_add(later.times);
        Ok(true)
    }

    /// Number of pipelines.
    pub fn len(&self) -> usize {
        self.table.len()
    }

    /// Whether there is no pipeline.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The first uses in some of the runs, by the begins of keys.
    pub fn timelines(&self) -> &Timelines<u64> {
        &self.timelines
    }

    /// The shaders of all pipelines, once.
    pub(in crate::pipeline) fn take_wanted(&mut self) -> Result<Wanted> {
        let mut wanted = self.spill.as_mut().map(Spill::take_wanted).unwrap_or_default();
        let mut buffer = PipelineBuffer::default();
        for at in 0..self.len() {
            let Some(pipeline) = self.get(at, &mut buffer)? else { continue };
            pipeline.description.shaders.iter().try_for_each(|shader| wanted.add_shader(shader.hash))?;
        }
        Ok(wanted)
    }

    /// All pipelines, if the table was written. `None`: they are in memory.
    pub(in crate::pipeline) fn take_spilled(&mut self) -> Result<Option<SpilledMerge>> {
        if self.spill.as_ref().is_none_or(Spill::is_empty) {
            return Ok(None);
        }
        self.spill_table()?;
        self.spill.take().map(Spill::finish).transpose()
    }

    /// Bytes held, without the sets of masks.
    pub fn memory_used(&self) -> usize {
        self.table.memory_used() + self.timelines.memory_used()
    }

    /// A pipeline by its place, from 0 to [`len`](Self::len). Places depend on the order in which recordings were added.
    pub fn get<'a>(&'a self, at: usize, buffer: &'a mut PipelineBuffer) -> Result<Option<MergedPipeline<'a>>> {
        let (row, PipelineBuffer { shaders, uses }) = (self.table.row(at), buffer);
        self.common.uses_of(row, uses)?;
        let description = get_description(&mut Cursor(self.table.encoded(at)), shaders)?;
        Ok(description.map(|description| MergedPipeline { key: row.key, description, uses }))
    }

    /// The key of a pipeline, by its place.
    pub(in crate::pipeline) fn key(&self, at: usize) -> &PipelineKey {
        &self.table.row(at).key
    }

    /// Pipelines in memory and in temporary files, if there are such files; otherwise 0. One may count several times.
    pub(in crate::pipeline) fn spilled(&self) -> u64 {
        let rows = self.spill.as_ref().map_or(0, Spill::rows);
        if rows > 0 { rows + self.len() as u64 } else { 0 }
    }

    /// The earliest frame of a pipeline's first use, by its place.
    pub(in crate::pipeline) fn first_frame(&self, at: usize) -> u64 {
        self.table.row(at).uses.first_frame
    }

    /// Add the use data of a pipeline, by its place. `buffer` gets it alone.
    pub(in crate::pipeline) fn add_uses(&self, at: usize, buffer: &mut UseData, uses: &mut UseData) -> Result<()> {
        self.common.uses_of(self.table.row(at), buffer)?;
        uses.merge(buffer)
    }

    /// Pass all pipelines to `each`, in the order of their first use.
    pub fn for_each(&self, mut each: impl FnMut(&MergedPipeline<'_>) -> Result<()>) -> Result<()> {
        let mut buffer = PipelineBuffer::default();
        for at in self.table.in_order()? {
            if let Some(pipeline) = self.get(at as usize, &mut buffer)? {
                each(&pipeline)?;
            }
        }
        Ok(())
    }
}
