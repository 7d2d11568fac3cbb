//! A cache of more pipelines than memory holds.
//!
//! When the forms are too many, their pipelines are written to a temporary file, sorted by key. A pass over it unites equal
//! pipelines, adds compute pipelines and counts for the sanitiser, and sorts the pipelines in the order of the cache. The
//! pipelines of stable pipelines in timelines are followed in a third file.

use super::compute::ComputeShaders;
use super::forms::{Forms, Maker};
use super::sanitise::{FormCheck, Sanitised, Sanitiser};
use super::timelines::{BuildTimelines, MOST_OF_FORM};
use super::{BuildOptions, PIECE};
use crate::base::{Result, error, sort_slowly, try_push};
use crate::fingerprint::Builder;
use crate::pipeline::files::sort::{
    Scratch, SortKey, Sorted, Sorter, Watch, by_name, by_number, by_numbers, name_of, numbered_name, numbers_of,
};
use crate::pipeline::files::{
    Cursor, Timelines, UseData, get_description, get_uses, put_description, put_uses, short_key, skip_uses,
};
use crate::pipeline::keys::KeyMap;
use crate::pipeline::{DescriptionRef, Mask, PipelineKey, PipelineKind, ShaderRef};

/// Takes the pipelines of forms.
pub struct Spill {
    scratch: Scratch,
    /// Payload: check, use data, description.
    pipelines: Sorter,
    /// Stable pipelines with their pipelines, without payloads.
    pairs: Sorter,
    sanitiser: Sanitiser,
    rows: u64,
}

impl Spill {
    pub fn new(scratch: Scratch) -> Result<Self> {
        let part = scratch.memory() / 4;
        let (pipelines, pairs) = (Sorter::new(&scratch, part)?, Sorter::new(&scratch, part)?);
        Ok(Self { scratch, pipelines, pairs, sanitiser: Sanitiser::default(), rows: 0 })
    }

    /// Whether forms and timelines of so many bytes must be written. The sorts take the rest of the memory.
    pub fn is_full(&self, bytes: usize) -> bool {
        bytes > self.scratch.memory() / 2
    }

    /// Pipelines that were written. One may count several times.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Write the pipelines of all forms, and remove the forms. Returns the bits of all masks.
    pub fn write(
        &mut self,
        forms: &mut Forms,
        timelines: &mut BuildTimelines,
        keys: &KeyMap,
        options: &BuildOptions,
    ) -> Result<Mask> {
        let mut mask_union = Mask::NONE;
        let stable = timelines.take_forms();
        let mut rest = &stable[..];
        let (mut maker, mut names) = (Maker::new(forms, keys), Maker::new(forms, keys));
        let (mut head, mut encoded) = (Vec::new(), Vec::new());
        for form in 0..forms.len() {
            let count = names.form(form)?.min(options.combinations.into());
            maker.form(form)?;
            let check = if options.sanitises { self.sanitiser.check(&maker.make(0)?)? } else { FormCheck::Unchecked };
            let uses = forms.uses(form);
            mask_union = mask_union.or(&uses.masks.union());
            head.clear();
            put_check(&mut head, check)?;
            put_uses(&mut head, uses)?;
            let (of_form, others) = rest.split_at(rest.iter().take_while(|(_, owner)| *owner == form).count());
            rest = others;
            names.names(count, |number, key| {
                encoded.clear();
                put_description(&mut encoded, &maker.make(number.into())?)?;
                self.rows += 1;
                self.pipelines.push(&by_name(key), [&head, &encoded])?;
                let in_timelines = if (number as usize) < MOST_OF_FORM { of_form } else { &[] };
                let mut stable = in_timelines.iter();
                stable.try_for_each(|&(stable, _)| self.pairs.push(&by_numbers(stable, short_key(key)), [&[], &[]]))
            })?;
        }
        *forms = Forms::default();
        Ok(mask_union)
    }

    /// Unite equal pipelines, and add compute shaders that no pipeline has.
    pub fn finish(
        self,
        keys: &KeyMap,
        options: &BuildOptions,
        timelines: &BuildTimelines,
        watch: &mut Watch<'_>,
    ) -> Result<SpilledCache> {
        let Self { scratch, pipelines, pairs, sanitiser, .. } = self;
        let related = related(&pairs.finish()?, timelines, watch)?;
        let mut compute = if options.adds_compute { ComputeShaders::of(keys)? } else { ComputeShaders::default() };
        let mut ordered = Ordered {
            sorter: Sorter::new(&scratch, scratch.memory() / 2)?,
            sanitiser: options.sanitises.then_some(sanitiser),
            count: 0,
            head: Vec::new(),
            shaders: Vec::new(),
        };
        let mut open: Option<Open> = None;
        let mut pass = |done: &Open, ordered: &mut Ordered| -> Result<()> {
            let description = ordered.add(&name_of(&done.key), done.check, &done.uses, &done.encoded)?;
            if description.kind == PipelineKind::Compute {
                compute.note(description.shaders);
            }
            Ok(())
        };
        pipelines.finish()?.for_each(watch, |key, payload| {
            let mut cursor = Cursor(payload);
            let check = get_check(&mut cursor).ok_or_else(unreadable)?;
            let uses = get_uses(&mut cursor)?.ok_or_else(unreadable)?;
            match &mut open {
                Some(open) if open.key == *key => return open.uses.merge(&uses).map(|_| ()),
                Some(open) => pass(open, &mut ordered)?,
                None => {}
            }
            let mut encoded = open.take().map(|open| open.encoded).unwrap_or_default();
            encoded.clear();
            encoded.try_reserve(cursor.0.len())?;
            encoded.extend_from_slice(cursor.0);
            open = Some(Open { key: *key, check, uses, encoded });
            Ok(())
        })?;
        if let Some(done) = &open {
            pass(done, &mut ordered)?;
        }
        let different = ordered.count;
        let mut encoded = Vec::new();
        compute.for_each_unused(options.compute_schema, |description, uses| {
            encoded.clear();
            put_description(&mut encoded, description)?;
            let check = match &mut ordered.sanitiser {
                Some(sanitiser) => sanitiser.check(description)?,
                None => FormCheck::Unchecked,
            };
            ordered.add(&description.key(), check, uses, &encoded).map(|_| ())
        })?;
        let Ordered { sorter, sanitiser, count, .. } = ordered;
        let (is_kept, sanitised) = match sanitiser {
            Some(sanitiser) => sanitiser.finish().map(|(is_kept, counts)| (is_kept, Some(counts)))?,
            None => (Vec::new(), None),
        };
        let all = Counts { different, added_compute: count - different, sanitised };
        Ok(SpilledCache { sorted: sorter.finish()?, is_kept, count, related, counts: all })
    }
}

/// A pipeline whose records are being united.
struct Open {
    key: SortKey,
    check: FormCheck,
    uses: UseData,
    encoded: Vec<u8>,
}

/// Takes different pipelines.
struct Ordered {
    /// Payload: number of the pipeline, use data, description.
    sorter: Sorter,
    sanitiser: Option<Sanitiser>,
    count: u64,
    head: Vec<u8>,
    shaders: Vec<ShaderRef>,
}

impl Ordered {
    /// Add a pipeline. Returns its description.
    fn add<'a>(
        &'a mut self,
        key: &PipelineKey,
        check: FormCheck,
        uses: &UseData,
        encoded: &'a [u8],
    ) -> Result<DescriptionRef<'a>> {
        let Self { sorter, sanitiser, count, head, shaders } = self;
        head.clear();
        head.try_reserve(8)?;
        head.extend_from_slice(&count.to_le_bytes());
        put_uses(head, uses)?;
        sorter.push(&by_number(uses.first_frame, key), [head, encoded])?;
        *count += 1;
        let description = get_description(&mut Cursor(encoded), shaders)?.ok_or_else(unreadable)?;
        if let Some(sanitiser) = sanitiser {
            sanitiser.add(check, description.shaders, uses.times)?;
        }
        Ok(description)
    }
}

/// A stable pipeline of a timeline, and a pipeline that it became.
struct Related {
    stable: u64,
    pipeline: u64,
    is_written: bool,
}

/// The pairs whose stable pipeline is in a timeline, sorted by pipeline.
fn related(pairs: &Sorted, timelines: &BuildTimelines, watch: &mut Watch<'_>) -> Result<Vec<Related>> {
    let mut wanted: Vec<u64> = Vec::new();
    let lists = || timelines.all().iter().map(|timeline| &timeline.uses);
    wanted.try_reserve_exact(lists().map(Vec::len).sum())?;
    wanted.extend(lists().flatten().map(|(stable, _)| *stable));
    wanted.sort_unstable();
    let (mut related, mut before) = (Vec::<Related>::new(), None);
    pairs.for_each(watch, |key, _| {
        let (stable, pipeline) = numbers_of(key);
        if before.replace(*key) != Some(*key) && wanted.binary_search(&stable).is_ok() {
            try_push(&mut related, Related { stable, pipeline, is_written: false })?;
        }
        Ok(())
    })?;
    sort_slowly(&mut related, |one, other| (one.pipeline, one.stable).cmp(&(other.pipeline, other.stable)));
    Ok(related)
}

/// Counts of a cache.
pub struct Counts {
    pub different: u64,
    pub added_compute: u64,
    pub sanitised: Option<Sanitised>,
}

/// The pipelines of a cache in its order.
pub struct SpilledCache {
    sorted: Sorted,
    /// Whether the sanitiser keeps each pipeline, by its number. Empty: all are kept.
    is_kept: Vec<bool>,
    count: u64,
    related: Vec<Related>,
    pub counts: Counts,
}

impl SpilledCache {
    /// Number of pipelines that are written.
    pub fn len(&self) -> u64 {
        match self.is_kept.len() {
            0 => self.count,
            _ => self.is_kept.iter().filter(|is_kept| **is_kept).count() as u64,
        }
    }

    /// Pass all pipelines that are written to `each`: key, then use data and description, encoded.
    pub fn for_each(
        &self,
        watch: &mut Watch<'_>,
        mut each: impl FnMut(&PipelineKey, &[u8]) -> Result<()>,
    ) -> Result<()> {
        self.sorted.for_each(watch, |key, payload| {
            let mut cursor = Cursor(payload);
            let number = cursor.u64().ok_or_else(unreadable)?;
            if *self.is_kept.get(number as usize).unwrap_or(&true) {
                each(&numbered_name(key), cursor.0)
            } else {
                Ok(())
            }
        })
    }

    /// Hash keys and use data, and count the pipelines by kind.
    pub fn hash(&mut self, guid: &mut Builder, written: &mut [u64; 3], watch: &mut Watch<'_>) -> Result<()> {
        let (mut out, mut hashed) = (Vec::new(), Ok(()));
        out.try_reserve_exact(PIECE)?;
        let mut related = std::mem::take(&mut self.related);
        guid.written(1, self.len() as u32, |bytes| {
            hashed = self.for_each(watch, |key, payload| {
                let mut cursor = Cursor(payload);
                skip_uses(&mut cursor).ok_or_else(unreadable)?;
                let uses = &payload[..payload.len() - cursor.0.len()];
                let kind = cursor.u8().and_then(|kind| written.get_mut(usize::from(kind))).ok_or_else(unreadable)?;
                *kind += 1;
                let pipeline = short_key(key);
                let begin = related.partition_point(|related| related.pipeline < pipeline);
                let same = related[begin..].iter_mut().take_while(|related| related.pipeline == pipeline);
                same.for_each(|related| related.is_written = true);
                if out.len() + 32 + uses.len() > PIECE {
                    bytes.put(&out);
                    out.clear();
                }
                out.try_reserve(32 + uses.len())?;
                out.extend_from_slice(&key.0);
                out.extend_from_slice(uses);
                Ok(())
            });
            bytes.put(&out);
        });
        self.related = related;
        hashed
    }

    /// The timelines of the pipelines that are written, after [`hash`](Self::hash).
    pub fn timelines(&mut self, timelines: &BuildTimelines) -> Result<Timelines<u64>> {
        sort_slowly(&mut self.related, |one, other| (one.stable, one.pipeline).cmp(&(other.stable, other.pipeline)));
        timelines.all().map(|stable, found| {
            let begin = self.related.partition_point(|related| related.stable < stable);
            let mut same = self.related[begin..].iter().take_while(|related| related.stable == stable);
            same.try_for_each(|related| if related.is_written { found(related.pipeline) } else { Ok(()) })
        })
    }
}

fn unreadable() -> crate::base::Error {
    error!(Malformed, "a pipeline cannot be read back: build again")
}

/// Append the check of a form: kind, place of the vertex shader, vertex format.
fn put_check(out: &mut Vec<u8>, check: FormCheck) -> Result<()> {
    let (kind, place, format) = match check {
        FormCheck::Unchecked => (0, 0, 0),
        FormCheck::Invalid => (1, 0, 0),
        FormCheck::Valid => (2, 0, 0),
        FormCheck::Vertices(place, format) => (3, place as u32, format),
    };
    out.try_reserve(9)?;
    out.push(kind);
    out.extend_from_slice(&place.to_le_bytes());
    out.extend_from_slice(&format.to_le_bytes());
    Ok(())
}

fn get_check(cursor: &mut Cursor<'_>) -> Option<FormCheck> {
    Some(match (cursor.u8()?, cursor.u32()?, cursor.u32()?) {
        (0, ..) => FormCheck::Unchecked,
        (1, ..) => FormCheck::Invalid,
        (2, ..) => FormCheck::Valid,
        (_, place, format) => FormCheck::Vertices(place as usize, format),
    })
}
