//! The pipelines of several recordings, by key.

use super::spilled::{Spill, SpilledMerge};
use super::{EncodedFirst, EncodedRecord, LaterUses, Recording};
use crate::base::{Result, sort_slowly, try_collect, try_push};
use crate::pipeline::files::sort::{Scratch, Watch};
use crate::pipeline::files::{Cursor, Table, Timelines, UseData, get_description, short_key};
use crate::pipeline::keys::Wanted;
use crate::pipeline::{DescriptionRef, Mask, MaskSet, PipelineKey, ShaderRef};
use crate::store::{LogScan, hash};

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

/// First uses that are merged together. Merging one waits for memory several times. The steps of a batch are short
/// loops, so the processor waits for many at once.
const BATCH: usize = 64;
/// Most bytes of the descriptions of a batch, and one description.
const BATCH_BYTES: usize = 1 << 20;

/// A first use of a batch.
struct Pending {
    key: PipelineKey,
    mask: Mask,
    frame: u64,
    build_us: u32,
    /// Its description: a part of [`Batch::encoded`].
    begin: usize,
    end: usize,
    /// XXH3 of it.
    hash: u64,
    /// The place of its pipeline, if that was known.
    at: Option<usize>,
    /// The bit of its mask in [`Row::bits`](crate::pipeline::files::Row), or 0.
    mask_bit: u64,
}

/// First uses that are not merged yet.
#[derive(Default)]
struct Batch {
    pending: Vec<Pending>,
    encoded: Vec<u8>,
}

impl Batch {
    fn push(&mut self, first: &EncodedFirst<'_>, mask_bit: u64) -> Result<()> {
        let EncodedFirst { key, mask, frame, build_us, encoded, .. } = *first;
        let begin = self.encoded.len();
        self.encoded.try_reserve(encoded.len())?;
        self.encoded.extend_from_slice(encoded);
        let end = self.encoded.len();
        let hash = hash(encoded);
        try_push(&mut self.pending, Pending { key, mask, frame, build_us, begin, end, hash, at: None, mask_bit })
    }

    fn clear(&mut self) {
        self.pending.clear();
        self.encoded.clear();
    }
}

/// The first masks that recordings have. A row remembers them as bits, so that its set of masks is seldom looked at, which
/// is elsewhere in memory.
#[derive(Default)]
struct CommonMasks {
    masks: [Mask; COMMON],
    count: usize,
}

/// Masks that have a bit. A game has few that are frequent.
const COMMON: usize = 32;

impl CommonMasks {
    /// The bit of a mask, or 0 if it has none.
    fn bit(&mut self, mask: Mask) -> u64 {
        let known = &self.masks[..self.count];
        match known.iter().position(|known| *known == mask) {
            Some(at) => 1 << at,
            None if self.count < COMMON => {
                self.masks[self.count] = mask;
                self.count += 1;
                1 << (self.count - 1)
            }
            None => 0,
        }
    }
}

/// The union of recordings. It does not depend on their order. The caller adds each run once.
#[derive(Default)]
pub struct Merged {
    table: Table,
    sources: u32,
    batch: Batch,
    common: CommonMasks,
    shaders: Vec<ShaderRef>,
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
        self.add_watched(recording, &mut Watch::new(&mut || Ok(())))
    }

    /// [`add`](Self::add) that notes each record.
    pub fn add_watched(&mut self, recording: &Recording, watch: &mut Watch<'_>) -> Result<LogScan> {
        self.sources += 1;
        self.batch.clear();
        self.first_uses = self.timelines.wants(&recording.run().run).then(Vec::new);
        let mut lost = 0;
        let mut scan = recording.for_each_encoded(|record| {
            watch.note()?;
            match record {
                EncodedRecord::First(first) => {
                    let mask_bit = self.common.bit(first.mask);
                    self.batch.push(&first, mask_bit)?;
                    if self.batch.pending.len() == BATCH || self.batch.encoded.len() >= BATCH_BYTES {
                        lost += self.merge_batch()?;
                    }
                }
                EncodedRecord::Later(later) => {
                    lost += self.merge_batch()?;
                    lost += u64::from(!self.merge_later(&later)?);
                }
            }
            Ok(())
        })?;
        scan.damaged += lost + self.merge_batch()?;
        if let Some(mut uses) = self.first_uses.take() {
            // A run counts the first record of a pipeline alone.
            sort_slowly(&mut uses, Ord::cmp);
            uses.dedup_by_key(|(key, ..)| *key);
            let uses = try_collect(uses.iter().map(|&(key, _, frame)| (key, frame)))?;
            self.timelines.insert(&recording.run().run, uses)?;
        }
        Ok(scan)
    }

    /// Merge the batch. Returns the number of entries without a valid key.
    fn merge_batch(&mut self) -> Result<u64> {
        let mut batch = std::mem::take(&mut self.batch);
        for pending in &mut batch.pending {
            pending.at = self.table.find(&pending.key);
        }
        let mut lost = 0;
        for pending in &batch.pending {
            // An entry before it may have been the first of its pipeline.
            match pending.at.or_else(|| self.table.find(&pending.key)) {
                Some(at) => lost += u64::from(!self.merge_known(at, pending)?),
                None => lost += u64::from(!self.insert(pending, &batch.encoded[pending.begin..pending.end])?),
            }
        }
        batch.clear();
        self.batch = batch;
        if self.spill.as_ref().is_some_and(|spill| spill.is_full(self.table.memory_used() + self.masks)) {
            self.spill_table()?;
        }
        Ok(lost)
    }

    fn spill_table(&mut self) -> Result<()> {
        self.masks = 0;
        self.spill.as_mut().map_or(Ok(()), |spill| spill.write(&mut self.table, self.sources))
    }

    /// False if the description is another one. Descriptions of one hash count as one: that of the table has the right
    /// key.
    fn merge_known(&mut self, at: usize, pending: &Pending) -> Result<bool> {
        let source = self.sources;
        let row = self.table.row_mut(at);
        if row.hash != pending.hash {
            return Ok(false);
        }
        if row.bits & pending.mask_bit == 0 {
            self.masks += usize::from(row.uses.masks.insert(pending.mask)?) * size_of::<Mask>();
            row.bits |= pending.mask_bit;
        }
        // A run that recorded a pipeline twice counts it once.
        if row.source != source {
            row.uses.count_first(pending.frame, pending.build_us);
            row.source = source;
            self.note_first(&pending.key, pending.frame)?;
        }
        Ok(true)
    }

    /// False if the key is not that of the description.
    fn insert(&mut self, pending: &Pending, encoded: &[u8]) -> Result<bool> {
        let Pending { key, mask, frame, build_us, .. } = *pending;
        let mut cursor = Cursor(encoded);
        let description = get_description(&mut cursor, &mut self.shaders)?;
        let is_valid = cursor.is_at_end() && description.is_some_and(|description| description.key() == key);
        if is_valid {
            let uses = match self.spill.as_mut().filter(|spill| spill.continues(self.sources)) {
                None => UseData::first(mask, frame, build_us)?,
                Some(spill) => {
                    spill.keep_first(frame, build_us)?;
                    UseData { masks: MaskSet::of(mask)?, ..UseData::default() }
                }
            };
            self.table.insert(&key, encoded, uses, self.sources)?;
            self.masks += 2 * size_of::<Mask>();
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
        let Some(at) = self.table.find(&later.key) else {
            // An earlier part of this recording may have it.
            let spill = self.spill.as_mut().filter(|spill| spill.continues(self.sources));
            return spill.map_or(Ok(false), |spill| spill.keep_later(later).map(|()| true));
        };
        let row = self.table.row_mut(at);
        if row.source != self.sources {
            return Ok(false);
        }
        self.masks += usize::from(row.uses.masks.insert(later.mask)?) * size_of::<Mask>();
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
        let mut shaders = Vec::new();
        for at in 0..self.len() {
            let Some(pipeline) = self.get(at, &mut shaders)? else { continue };
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
    /// `shaders` is a buffer.
    pub fn get<'a>(&'a self, at: usize, shaders: &'a mut Vec<ShaderRef>) -> Result<Option<MergedPipeline<'a>>> {
        let row = self.table.row(at);
        let description = get_description(&mut Cursor(self.table.encoded(at)), shaders)?;
        Ok(description.map(|description| MergedPipeline { key: row.key, description, uses: &row.uses }))
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

    /// How all runs used a pipeline, by its place.
    pub fn uses(&self, at: usize) -> &UseData {
        &self.table.row(at).uses
    }

    /// Pass all pipelines to `each`, in the order of their first use.
    pub fn for_each(&self, mut each: impl FnMut(&MergedPipeline<'_>) -> Result<()>) -> Result<()> {
        let mut shaders = Vec::new();
        for at in self.table.in_order()? {
            if let Some(pipeline) = self.get(at as usize, &mut shaders)? {
                each(&pipeline)?;
            }
        }
        Ok(())
    }
}
