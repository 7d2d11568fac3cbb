//! Stable pipelines as this build can have them.
//!
//! Materials that differ in their names alone have the same shaders in this build. In the sample log of the Unreal
//! Engine's documentation, 167 stable pipelines become each pipeline. So stable pipelines with the same choices of
//! shaders are united first, and their combinations are made once. A combination has a number, and is made again from
//! its form and that number: the description of a pipeline takes no memory until it is written.

use std::ops::Range;

use super::dedup_from;
use crate::base::{Result, error, sort_slowly, try_push};
use crate::fingerprint::{Builder, Fingerprint, LANES};
use crate::pipeline::description::Keys;
use crate::pipeline::files::{Cursor, Table};
use crate::pipeline::keys::{KeyMap, NO_STAGE};
use crate::pipeline::stable::{StablePipeline, StableShader};
use crate::pipeline::{DescriptionRef, Mask, PipelineKey, PipelineKind, Schema, ShaderHash, ShaderRef, UseData};
use crate::store::hash;

const CONTEXT: &str = "hobgoblin shader list 1";

/// The shaders that a stable pipeline may have in this build.
#[derive(Default)]
struct Choices {
    stages: Vec<u32>,
    /// The candidates of each shader.
    lists: Vec<List>,
}

/// A list of shaders, each once and sorted. Equal lists of one kind are the same.
#[derive(Clone)]
enum List {
    /// Of the key map: all lines of a key.
    Map(Range<usize>),
    /// Of [`OwnLists`]: made of several keys, or of a part of the lines of a key.
    Own(u32),
}

/// Lists of shaders, each once.
#[derive(Default)]
struct OwnLists {
    hashes: Vec<ShaderHash>,
    ends: Vec<usize>,
    numbers: Table,
}

impl OwnLists {
    fn get(&self, number: u32) -> &[ShaderHash] {
        let number = number as usize;
        let begin = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.hashes[begin..self.ends[number]]
    }

    /// The shaders of a stage that have a key of the shader. `None`: this build has no such shader.
    fn find(&mut self, shader: &StableShader<'_>, keys: &KeyMap) -> Result<Option<u32>> {
        let begin = self.begin();
        for key in shader.keys.clone() {
            let lines = keys.shaders_of(key);
            for line in lines.filter(|line| line.stage == shader.stage || line.stage == NO_STAGE) {
                try_push(&mut self.hashes, line.hash)?;
            }
        }
        sort_slowly(&mut self.hashes[begin..], Ord::cmp);
        dedup_from(&mut self.hashes, begin);
        if self.hashes.len() == begin { Ok(None) } else { self.end(begin).map(Some) }
    }

    fn memory_used(&self) -> usize {
        self.hashes.capacity() * size_of::<ShaderHash>()
            + self.ends.capacity() * size_of::<usize>()
            + self.numbers.memory_used()
    }

    /// A list of one shader.
    fn single(&mut self, hash: ShaderHash) -> Result<u32> {
        let begin = self.begin();
        try_push(&mut self.hashes, hash)?;
        self.end(begin)
    }

    fn begin(&mut self) -> usize {
        let begin = self.ends.last().copied().unwrap_or(0);
        self.hashes.truncate(begin);
        begin
    }

    /// The number of the list that begins there.
    fn end(&mut self, begin: usize) -> Result<u32> {
        let list = &self.hashes[begin..];
        let mut name = Builder::new(CONTEXT);
        name.written(1, list.len() as u32, |bytes| list.iter().for_each(|hash| bytes.put(&hash.0)));
        let key = name.finish();
        if let Some(number) = self.numbers.find(&key) {
            return Ok(number as u32);
        }
        try_push(&mut self.ends, self.hashes.len())?;
        self.numbers.insert(&key, &[], UseData::default(), 0).map(|number| number as u32)
    }
}

impl Choices {
    fn clear(&mut self) {
        self.stages.clear();
        self.lists.clear();
    }

    fn push(&mut self, stage: u32, list: List) -> Result<()> {
        try_push(&mut self.stages, stage)?;
        try_push(&mut self.lists, list)
    }

    /// Find the candidates of each shader. Otherwise the place of the first one that this build does not have.
    fn find(&mut self, pipeline: &StablePipeline<'_>, keys: &KeyMap, own: &mut OwnLists) -> Result<Option<usize>> {
        self.clear();
        for (place, shader) in pipeline.shaders.iter().enumerate() {
            // Most shaders have one key.
            let mut texts = shader.keys.clone();
            let list = match (texts.next(), texts.next()) {
                (Some(key), None) => keys.list_of(key, shader.stage).map(List::Map),
                _ => None,
            };
            let list = match list {
                None => own.find(shader, keys)?.map(List::Own),
                list => list,
            };
            let Some(list) = list else { return Ok(Some(place)) };
            self.push(shader.stage, list)?;
        }
        Ok(None)
    }

    fn length(&self, shader: usize, own: &OwnLists) -> u64 {
        match &self.lists[shader] {
            List::Map(range) => range.len() as u64,
            List::Own(number) => own.get(*number).len() as u64,
        }
    }

    /// Number of combinations.
    fn count(&self, own: &OwnLists) -> u64 {
        (0..self.lists.len()).fold(1, |product, shader| product.saturating_mul(self.length(shader, own)))
    }

    /// A combination by its number. The last shader changes fastest.
    fn combine(&self, mut number: u64, keys: &KeyMap, own: &OwnLists, shaders: &mut Vec<ShaderRef>) -> Result<()> {
        shaders.clear();
        shaders.try_reserve(self.stages.len())?;
        for (place, &stage) in self.stages.iter().enumerate().rev() {
            let length = self.length(place, own);
            let at = (number % length) as usize;
            number /= length;
            let hash = match &self.lists[place] {
                List::Map(range) => keys.listed(range.start + at),
                List::Own(list) => own.get(*list)[at],
            };
            shaders.push(ShaderRef { stage, hash });
        }
        shaders.reverse();
        Ok(())
    }

    /// Append kind, schema, state, and the choices.
    fn encode(&self, out: &mut Vec<u8>, (kind, schema, state): State<'_>) -> Result<()> {
        out.clear();
        out.try_reserve(9 + state.len() + CHOICE * self.stages.len())?;
        out.push(kind as u8);
        out.extend_from_slice(&schema.0.to_le_bytes());
        out.extend_from_slice(&(state.len() as u32).to_le_bytes());
        out.extend_from_slice(state);
        for (stage, list) in self.stages.iter().zip(&self.lists) {
            let (from, to) = match list {
                List::Map(range) => (range.start as u32, range.end as u32),
                List::Own(number) => (*number, u32::MAX),
            };
            [*stage, from, to].iter().for_each(|number| out.extend_from_slice(&number.to_le_bytes()));
        }
        Ok(())
    }

    /// Read what [`encode`](Self::encode) wrote.
    fn decode<'a>(&mut self, bytes: &'a [u8]) -> Result<Option<State<'a>>> {
        self.clear();
        let mut cursor = Cursor(bytes);
        let mut head = || {
            let kind = PipelineKind::from_number(cursor.u8()?.into())?;
            let (schema, length) = (Schema(cursor.u32()?), cursor.u32()?);
            Some((kind, schema, cursor.take(length as usize)?))
        };
        let Some(head) = head() else { return Ok(None) };
        while !cursor.is_at_end() {
            let mut numbers = || Some((cursor.u32()?, cursor.u32()?, cursor.u32()?));
            let Some((stage, from, to)) = numbers() else { return Ok(None) };
            let list = if to == u32::MAX { List::Own(from) } else { List::Map(from as usize..to as usize) };
            self.push(stage, list)?;
        }
        Ok(Some(head))
    }
}

/// The state of a form, and how to read it.
type State<'a> = (PipelineKind, Schema, &'a [u8]);

/// Bytes of the choices of a shader.
const CHOICE: usize = 12;

/// A name that is quick to find, and that different forms may share.
fn short_name(encoded: &[u8]) -> Fingerprint {
    let mut name = Fingerprint::default();
    name.0[..8].copy_from_slice(&hash(encoded).to_le_bytes());
    name
}

/// Stable pipelines, united if their shaders are the same in this build.
#[derive(Default)]
pub struct Forms {
    table: Table,
    choices: Choices,
    own: OwnLists,
    encoded: Vec<u8>,
    /// Masks in the sets of all forms.
    masks: usize,
}

impl Forms {
    /// Find the shaders of a stable pipeline for [`add`](Self::add). Otherwise the place of the first one that this build
    /// does not have.
    pub fn find(&mut self, pipeline: &StablePipeline<'_>, keys: &KeyMap) -> Result<Option<usize>> {
        self.choices.find(pipeline, keys, &mut self.own)
    }

    /// Number of combinations of the shaders that were found.
    pub fn count(&self) -> u64 {
        self.choices.count(&self.own)
    }

    /// Add the stable pipeline whose shaders were found. Returns the number of its form.
    pub fn add(&mut self, pipeline: &StablePipeline<'_>) -> Result<u32> {
        self.put((pipeline.kind, pipeline.schema, pipeline.state), pipeline.uses)
    }

    /// Add a pipeline of one shader. Returns the number of its form.
    pub fn add_single(&mut self, description: &DescriptionRef<'_>, uses: &UseData) -> Result<u32> {
        self.choices.clear();
        for ShaderRef { stage, hash } in description.shaders {
            let list = List::Own(self.own.single(*hash)?);
            self.choices.push(*stage, list)?;
        }
        self.put((description.kind, description.schema, description.state), uses)
    }

    fn put(&mut self, state: State<'_>, uses: &UseData) -> Result<u32> {
        self.choices.encode(&mut self.encoded, state)?;
        let mut key = short_name(&self.encoded);
        while let Some(at) = self.table.find(&key) {
            if self.table.encoded(at) == self.encoded {
                let own = &mut self.table.row_mut(at).uses;
                let before = own.masks.as_slice().len();
                own.merge(uses)?;
                self.masks += own.masks.as_slice().len() - before;
                return Ok(at as u32);
            }
            // Another form has the same hash.
            key = short_name(&key.0);
        }
        let mut own = UseData::default();
        own.merge(uses)?;
        self.masks += 1 + own.masks.as_slice().len();
        self.table.insert(&key, &self.encoded, own, 0).map(|at| at as u32)
    }

    /// Bytes held, about.
    pub fn memory_used(&self) -> usize {
        self.table.memory_used() + self.masks * size_of::<Mask>() + self.own.memory_used()
    }

    /// Number of forms.
    pub fn len(&self) -> u32 {
        self.table.len() as u32
    }

    /// How recordings used the stable pipelines of a form.
    pub fn uses(&self, form: u32) -> &UseData {
        &self.table.row(form as usize).uses
    }

    /// The kind of a form's pipelines.
    pub fn kind(&self, form: u32) -> PipelineKind {
        let kind = self.table.encoded(form as usize).first().copied();
        kind.and_then(|kind| PipelineKind::from_number(kind.into())).unwrap_or_default()
    }
}

/// Makes the pipelines of forms.
pub struct Maker<'a> {
    forms: &'a Forms,
    keys: &'a KeyMap,
    /// The form that `choices` and `state` are of.
    form: Option<u32>,
    choices: Choices,
    state: State<'a>,
    shaders: Vec<ShaderRef>,
}

impl<'a> Maker<'a> {
    pub fn new(forms: &'a Forms, keys: &'a KeyMap) -> Self {
        let state = (PipelineKind::default(), Schema::default(), &[][..]);
        Self { forms, keys, form: None, choices: Choices::default(), state, shaders: Vec::new() }
    }

    /// Go to a form. Returns its number of combinations.
    pub fn form(&mut self, form: u32) -> Result<u64> {
        if self.form != Some(form) {
            self.form = None;
            let decoded = self.choices.decode(self.forms.table.encoded(form as usize))?;
            self.state =
                decoded.ok_or_else(|| error!(Malformed, "a form of pipelines cannot be read back: build again"))?;
            self.form = Some(form);
        }
        Ok(self.choices.count(&self.forms.own))
    }

    /// Pass the names of the form's first combinations to `each`, in order.
    pub fn names(&mut self, count: u64, mut each: impl FnMut(u32, &PipelineKey) -> Result<()>) -> Result<()> {
        let (kind, schema, state) = self.state;
        let keys = Keys::new(kind, schema, state);
        let mut bytes = Vec::new();
        for begin in (0..count).step_by(LANES) {
            let numbers = begin..count.min(begin + LANES as u64);
            bytes.clear();
            for number in numbers.clone() {
                let shaders = self.make(number)?.shaders;
                bytes.try_reserve(24 * shaders.len())?;
                shaders.iter().for_each(|shader| bytes.extend_from_slice(&shader.to_bytes()));
            }
            // The last ones may be fewer. Then the first one stands in their place.
            let shaders = self.shaders.len();
            let made = numbers.end - numbers.start;
            let part = |lane: usize| if (lane as u64) < made { 24 * shaders * lane } else { 0 };
            let names = keys.of(shaders, &std::array::from_fn(|lane| &bytes[part(lane)..][..24 * shaders]));
            for (number, key) in numbers.zip(&names) {
                each(number as u32, key)?;
            }
        }
        Ok(())
    }

    /// A combination of the form by its number.
    pub fn make(&mut self, number: u64) -> Result<DescriptionRef<'_>> {
        self.choices.combine(number, self.keys, &self.forms.own, &mut self.shaders)?;
        let (kind, schema, state) = self.state;
        Ok(DescriptionRef { kind, schema, state, shaders: &self.shaders })
    }
}
