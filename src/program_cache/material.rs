//! Why a key was missed: which of the things that it was made from differ from what is known.
//!
//! A key is a digest and says nothing about itself. If the host turns it on, the parts that each key was made from are
//! remembered by label, long ones by a 128-bit FNV-1a digest (for telling apart, not for safety), and a miss is compared
//! with the key that has most parts in common.

use std::collections::HashMap;
use std::fmt;

use super::Key;
use super::lru::Lru;
use super::statistics::Reason;
use super::table::FoldKeys;
use crate::base::{Result, Text};

/// Something that a key was made from: a stage's source or its digest, the defines, the driver's version.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    /// What it is, in the host's words, such as "driver version"; unique within a key, cut to 40 bytes.
    pub label: &'a str,
    /// The bytes, or a digest of them.
    pub value: &'a [u8],
}

/// What is remembered of a part's bytes.
#[derive(Clone, Copy)]
struct Value {
    digest: u128,
    bytes: usize,
    /// The value itself if it is short and text, else nothing.
    shown: Text<24>,
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        (self.digest, self.bytes) == (other.digest, other.bytes)
    }
}

impl Value {
    fn of(bytes: &[u8]) -> Self {
        const START: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
        const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
        let digest = bytes.iter().fold(START, |sum, &byte| (sum ^ u128::from(byte)).wrapping_mul(PRIME));
        let readable = |text: &&str| text.len() <= 24 && !text.is_empty() && !text.contains(char::is_control);
        let shown = std::str::from_utf8(bytes).ok().filter(readable).unwrap_or("");
        Self { digest, bytes: bytes.len(), shown: Text::format(format_args!("{shown}")) }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.shown.as_str().is_empty() {
            write!(f, "{} bytes, {:08x}", self.bytes, (self.digest >> 96) as u32)
        } else {
            write!(f, "'{}'", self.shown)
        }
    }
}

/// A part that is not the same in two keys.
#[derive(Clone, Copy)]
pub struct Difference {
    label: Text<40>,
    /// In the key that is known.
    there: Option<Value>,
    /// In the key that was missed.
    here: Option<Value>,
}

impl Difference {
    /// Which part it is.
    pub fn label(&self) -> &str {
        self.label.as_str()
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.there, &self.here) {
            (Some(there), Some(here)) => write!(f, "{} ({there} there, {here} here)", self.label),
            (Some(there), None) => write!(f, "{} ({there} there, none here)", self.label),
            (None, Some(here)) => write!(f, "{} (none there, {here} here)", self.label),
            (None, None) => write!(f, "{}", self.label),
        }
    }
}

/// What is known of a miss. As text it is a sentence.
pub struct WhyMissed {
    /// The key with most parts in common, of those known.
    pub nearest: Key,
    /// How many parts it has in common.
    pub in_common: usize,
    /// Why it is no longer in memory, if it was.
    pub gone: Option<Reason>,
    /// Whether it is in memory.
    pub is_there: bool,
    differences: Vec<Difference>,
}

impl WhyMissed {
    /// What differs; nothing if it is the very same key.
    pub fn differences(&self) -> &[Difference] {
        &self.differences
    }
}

impl fmt::Display for WhyMissed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.differences.is_empty() {
            f.write_str("all parts are those of a known program")?;
        } else {
            f.write_str("the nearest known program differs in ")?;
        }
        for (index, difference) in self.differences.iter().enumerate() {
            let before = match index {
                0 => "",
                _ if index + 1 == self.differences.len() => " and ",
                _ => ", ",
            };
            write!(f, "{before}{difference}")?;
        }
        match self.gone {
            Some(reason) => write!(f, "; it has left memory: {}", reason.name()),
            None if self.is_there => f.write_str("; it is in memory"),
            None => f.write_str("; it was never in memory"),
        }
    }
}

#[derive(Default)]
struct Material {
    parts: Vec<(Text<40>, Value)>,
    described: u64,
    gone: Option<Reason>,
    is_there: bool,
}

impl Material {
    fn value_of(&self, label: &Text<40>) -> Option<&Value> {
        let found = self.parts.iter().find(|(other, _)| other.as_str() == label.as_str());
        found.map(|(_, value)| value)
    }

    fn in_common(&self, other: &Self) -> usize {
        self.parts.iter().filter(|(label, value)| other.value_of(label) == Some(value)).count()
    }

    /// What differs between this, which is known, and `here`, which was missed.
    fn differences(&self, here: &Self) -> Result<Vec<Difference>> {
        let mut differences = Vec::new();
        differences.try_reserve_exact(self.parts.len() + here.parts.len())?;
        for (label, value) in &here.parts {
            let there = self.value_of(label);
            if there != Some(value) {
                differences.push(Difference { label: *label, there: there.copied(), here: Some(*value) });
            }
        }
        let only_there = self.parts.iter().filter(|(label, _)| here.value_of(label).is_none());
        differences.extend(only_there.map(|(label, there)| Difference {
            label: *label,
            there: Some(*there),
            here: None,
        }));
        Ok(differences)
    }
}

/// The parts of the keys described last.
#[derive(Default)]
pub(super) struct Materials {
    most: usize,
    described: u64,
    of: HashMap<Key, Material, FoldKeys>,
    by_age: Lru<Key>,
}

impl Materials {
    /// Remembers at most so many keys.
    pub fn of(most: usize) -> Self {
        Self { most, ..Self::default() }
    }

    /// Remember what `key` was made from. On an error nothing changed.
    pub fn describe(&mut self, key: &Key, parts: &[Part<'_>], is_there: bool) -> Result<()> {
        if self.most == 0 {
            return Ok(());
        }
        let fresh = material(parts)?;
        self.of.try_reserve(1)?;
        self.by_age.touch(*key)?;
        self.described += 1;
        let kept = self.of.entry(*key).or_default();
        (kept.parts, kept.described, kept.is_there) = (fresh, self.described, is_there);
        while self.by_age.len() > self.most {
            if let Some(oldest) = self.by_age.pop() {
                self.of.remove(&oldest);
            }
        }
        Ok(())
    }

    pub fn is_there(&mut self, key: &Key) {
        if let Some(material) = self.of.get_mut(key) {
            (material.gone, material.is_there) = (None, true);
        }
    }

    pub fn is_gone(&mut self, key: &Key, reason: Reason) {
        if let Some(material) = self.of.get_mut(key) {
            (material.gone, material.is_there) = (Some(reason), false);
        }
    }

    /// The known key that has most in common with one made from `parts`, of several the one described last.
    pub fn why_missed(&self, parts: &[Part<'_>]) -> Result<Option<WhyMissed>> {
        let here = Material { parts: material(parts)?, ..Material::default() };
        let known = self.of.iter().map(|(key, there)| (there.in_common(&here), there.described, key, there));
        let Some((in_common, _, key, there)) = known.max_by_key(|(in_common, described, ..)| (*in_common, *described))
        else {
            return Ok(None);
        };
        let differences = there.differences(&here)?;
        Ok(Some(WhyMissed { nearest: *key, in_common, gone: there.gone, is_there: there.is_there, differences }))
    }

    pub fn memory_used(&self) -> usize {
        let parts: usize = self.of.values().map(|material| material.parts.capacity()).sum();
        parts * size_of::<(Text<40>, Value)>()
            + self.of.capacity() * (size_of::<(Key, Material)>() + 1)
            + self.by_age.memory_used()
    }
}

fn material(parts: &[Part<'_>]) -> Result<Vec<(Text<40>, Value)>> {
    let mut kept = Vec::new();
    kept.try_reserve_exact(parts.len())?;
    kept.extend(parts.iter().map(|part| (Text::format(format_args!("{}", part.label)), Value::of(part.value))));
    Ok(kept)
}
