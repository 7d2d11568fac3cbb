//! The pipelines of several recordings, by key.

use super::{Recorded, Recording};
use crate::base::Result;
use crate::pipeline::files::{Cursor, Table, UseData, get_description, put_description};
use crate::pipeline::{DescriptionRef, PipelineKey, ShaderRef};
use crate::store::LogScan;

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

/// The union of recordings. It does not depend on their order. The caller adds each run once.
#[derive(Default)]
pub struct Merged {
    table: Table,
    sources: u32,
    encoded: Vec<u8>,
}

impl Merged {
    /// Add a recording. Returns what was lost of it, with entries whose key is not that of their description. After an
    /// error the view may hold a part of the recording.
    pub fn add(&mut self, recording: &Recording) -> Result<LogScan> {
        self.sources += 1;
        let mut lost = 0;
        let mut scan = recording.for_each(|record| {
            lost += u64::from(!self.add_record(record)?);
            Ok(())
        })?;
        scan.damaged += lost;
        Ok(scan)
    }

    /// False if the record has no valid key.
    fn add_record(&mut self, record: &Recorded<'_>) -> Result<bool> {
        let source = self.sources;
        match record {
            Recorded::First(first) => {
                let uses = UseData::first(first.mask, first.frame, first.build_us)?;
                self.encoded.clear();
                put_description(&mut self.encoded, &first.description)?;
                let Some(at) = self.table.find(&first.key) else {
                    if first.description.key() != first.key {
                        return Ok(false);
                    }
                    self.table.insert(&first.key, &self.encoded, uses, source)?;
                    return Ok(true);
                };
                if self.table.encoded(at) != self.encoded {
                    return Ok(false);
                }
                let row = self.table.row_mut(at);
                if row.source == source {
                    // A run that recorded a pipeline twice counts it once.
                    row.uses.masks.merge(&uses.masks)?;
                } else {
                    row.uses.merge(&uses)?;
                    row.source = source;
                }
            }
            Recorded::Later(later) => {
                // Without the record of its first use in this run, a pipeline is unknown to it.
                let Some(at) = self.table.find(&later.key) else { return Ok(false) };
                let row = self.table.row_mut(at);
                if row.source != source {
                    return Ok(false);
                }
                row.uses.masks.insert(later.mask)?;
                row.uses.times = row.uses.times.saturating_add(later.times);
            }
        }
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

    /// Bytes held, without the sets of masks.
    pub fn memory_used(&self) -> usize {
        self.table.memory_used()
    }

    /// Pass all pipelines to `each`, in the order of their first use.
    pub fn for_each(&self, mut each: impl FnMut(&MergedPipeline<'_>) -> Result<()>) -> Result<()> {
        let mut shaders: Vec<ShaderRef> = Vec::new();
        for at in self.table.in_order()? {
            let row = self.table.row(at as usize);
            let mut cursor = Cursor(self.table.encoded(at as usize));
            if let Some(description) = get_description(&mut cursor, &mut shaders)? {
                each(&MergedPipeline { key: row.key, description, uses: &row.uses })?;
            }
        }
        Ok(())
    }
}
