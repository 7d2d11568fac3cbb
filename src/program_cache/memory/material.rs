//! Explains a miss: which inputs of the key differ from the most similar known key.
//!
//! A key is a digest, and does not show its inputs. If the host turns it on, the inputs of each key are remembered, with
//! those of its environment: short texts in full, all others by digest. A missed key is compared with the known key that
//! has the most inputs in common. The disk stores the inputs, too. So a process that starts after a driver update reports
//! that the driver differs.

use std::collections::HashMap;
use std::fmt;

use super::lru::Lru;
use super::statistics::Reason;
use crate::base::{Result, Text, try_collect, try_to_vec};
use crate::fingerprint::Fingerprint;
use crate::program_cache::key::Key;

/// The length of the longest label. Longer ones are truncated.
const LABEL: usize = 40;
/// The length of the longest text that is remembered in full.
const SHOWN: usize = 60;
/// The head of a part: the lengths of label and text, the length of the value, and the beginning of its hash.
const HEAD: usize = 2 + 8 + 8;

/// The name of an input, for a sentence.
pub type Label = Text<LABEL>;
/// The value of an input, for a sentence: the text, or the length and the beginning of the hash.
pub type Shown = Text<{ SHOWN + 4 }>;

/// The inputs of a key: their labels, and their values in short form. The disk stores the same bytes; `docs/formats.md` has
/// the layout.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Material {
    bytes: Vec<u8>,
}

/// One input of a key.
#[derive(Clone, Copy, PartialEq)]
struct Part<'a> {
    label: &'a str,
    /// Empty if the value is too long, or not text.
    shown: &'a str,
    length: u64,
    digest: [u8; 8],
}

impl Material {
    /// Add an input: a label that is unique within the key, such as "driver", and the value. On an error nothing changes.
    pub fn push(&mut self, label: &str, value: &[u8]) -> Result<()> {
        let label = Label::format(format_args!("{label}"));
        let is_shown = |text: &&str| text.len() <= SHOWN && !text.contains(char::is_control);
        let shown = std::str::from_utf8(value).ok().filter(is_shown).unwrap_or("");
        let label = label.as_str();
        self.bytes.try_reserve(HEAD + label.len() + shown.len())?;
        self.bytes.extend_from_slice(&[label.len() as u8, shown.len() as u8]);
        self.bytes.extend_from_slice(&(value.len() as u64).to_le_bytes());
        self.bytes.extend_from_slice(&Fingerprint::of(value).short());
        self.bytes.extend_from_slice(label.as_bytes());
        self.bytes.extend_from_slice(shown.as_bytes());
        Ok(())
    }

    /// Add all inputs of another material.
    pub fn append(&mut self, other: &Self) -> Result<()> {
        self.bytes.try_reserve(other.bytes.len())?;
        self.bytes.extend_from_slice(&other.bytes);
        Ok(())
    }

    /// The bytes for the disk.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The material from bytes of the disk. `None`: the bytes are invalid.
    pub fn decode(bytes: &[u8]) -> Result<Option<Self>> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let Some((_, after)) = split_part(rest) else { return Ok(None) };
            rest = after;
        }
        Ok(Some(Self { bytes: try_to_vec(bytes)? }))
    }

    fn parts(&self) -> impl Iterator<Item = Part<'_>> {
        let mut rest = &self.bytes[..];
        std::iter::from_fn(move || {
            let (part, after) = split_part(rest)?;
            rest = after;
            Some(part)
        })
    }

    fn part(&self, label: &str) -> Option<Part<'_>> {
        self.parts().find(|part| part.label == label)
    }

    fn in_common(&self, other: &Self) -> usize {
        self.parts().filter(|part| other.part(part.label) == Some(*part)).count()
    }

    /// The differences between this known key and the missed key `here`.
    fn differences(&self, here: &Self) -> Result<Vec<Difference>> {
        let changed = here.parts().filter(|part| self.part(part.label) != Some(*part));
        let difference = |part: Part<'_>| Difference {
            label: Text::format(format_args!("{}", part.label)),
            there: self.part(part.label).map(|part| part.show()),
            here: here.part(part.label).map(|part| part.show()),
        };
        let missing = self.parts().filter(|part| here.part(part.label).is_none());
        try_collect(changed.chain(missing).map(difference))
    }
}

impl Part<'_> {
    fn show(&self) -> Shown {
        if self.shown.is_empty() && self.length > 0 {
            let [a, b, c, d, ..] = self.digest;
            Text::format(format_args!("{} bytes, {a:02x}{b:02x}{c:02x}{d:02x}", self.length))
        } else {
            Text::format(format_args!("'{}'", self.shown))
        }
    }
}

/// The first part of the bytes, and the rest. `None`: the bytes are invalid.
fn split_part(bytes: &[u8]) -> Option<(Part<'_>, &[u8])> {
    let (head, rest) = bytes.split_at_checked(HEAD)?;
    let (label, rest) = rest.split_at_checked(usize::from(head[0]))?;
    let (shown, rest) = rest.split_at_checked(usize::from(head[1]))?;
    let (length, digest) = (u64::from_le_bytes(*head[2..].first_chunk()?), *head[10..].first_chunk()?);
    let (label, shown) = (std::str::from_utf8(label).ok()?, std::str::from_utf8(shown).ok()?);
    Some((Part { label, shown, length, digest }, rest))
}

/// An input that differs between two keys.
#[derive(Clone, Copy, Debug)]
pub struct Difference {
    /// The input.
    pub label: Label,
    /// Its value in the known key; `None`: it has no such input.
    pub there: Option<Shown>,
    /// Its value in the missed key; `None`: it has no such input.
    pub here: Option<Shown>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |value: &Option<Shown>| value.unwrap_or_else(|| Text::format(format_args!("none")));
        write!(f, "{} (was {}, is {})", self.label, shown(&self.there), shown(&self.here))
    }
}

/// Where the program of a known key is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Whereabouts {
    /// Never in memory.
    #[default]
    Elsewhere,
    /// In memory.
    InMemory,
    /// It was in memory, and left it.
    Left(Reason),
    /// In another environment: it is never loaded.
    OtherEnvironment,
    /// Banned: it is never loaded.
    Banned,
}

/// The explanation of a miss. As text it is a sentence.
#[derive(Debug)]
pub struct WhyMissed {
    /// The known key with the most inputs in common.
    pub nearest: Key,
    /// The number of inputs in common.
    pub in_common: usize,
    /// Where its program is.
    pub whereabouts: Whereabouts,
    /// The inputs that differ. Empty: the key is known.
    pub differences: Vec<Difference>,
}

impl fmt::Display for WhyMissed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.differences.is_empty() {
            f.write_str("all inputs are those of a known program")?;
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
        match self.whereabouts {
            Whereabouts::Elsewhere => f.write_str("; it was never in memory"),
            Whereabouts::InMemory => f.write_str("; it is in memory"),
            Whereabouts::Left(reason) => write!(f, "; it has left memory: {}", reason.name()),
            Whereabouts::OtherEnvironment => f.write_str("; it is of another environment, so it is never loaded"),
            Whereabouts::Banned => f.write_str("; it is banned because the process ended during its use"),
        }
    }
}

#[derive(Default)]
struct Described {
    material: Material,
    /// Increases with each described key.
    place: u64,
    whereabouts: Whereabouts,
}

/// A key, and the environment that it is in.
type Place = (u64, Key);

/// The materials of the keys that were described last.
#[derive(Default)]
pub struct Materials {
    most: usize,
    environment: u64,
    /// The inputs of the environment, which are part of every key.
    common: Material,
    last_place: u64,
    /// Bytes of all materials.
    bytes: u64,
    of: HashMap<Place, Described>,
    by_age: Lru<Place>,
}

impl Materials {
    /// Remember at most this number of keys.
    pub fn new(most: usize) -> Self {
        Self { most, ..Self::default() }
    }

    /// The limit of keys.
    pub fn most(&self) -> usize {
        self.most
    }

    /// Bytes of all materials.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Set the environment of all keys that are described from now on.
    pub fn set_environment(&mut self, environment: u64, common: Material) {
        (self.environment, self.common) = (environment, common);
    }

    /// Remember the inputs of `key`. Returns the material for the disk, if it is new. On an error nothing changes.
    pub fn describe(&mut self, key: &Key, material: &Material, is_cached: bool) -> Result<Option<Material>> {
        if self.most == 0 {
            return Ok(None);
        }
        let whole = self.whole(material)?;
        let known = self.of.get(&(self.environment, *key)).is_some_and(|known| known.material == whole);
        let for_disk = if known { None } else { Some(whole.try_clone()?) };
        let whereabouts = if is_cached { Whereabouts::InMemory } else { Whereabouts::Elsewhere };
        self.keep((self.environment, *key), whole, whereabouts)?;
        Ok(for_disk)
    }

    /// Remember a material from disk. A material that is known already is newer, and stays.
    pub fn recall(&mut self, environment: u64, key: &Key, material: Material, is_cached: bool) -> Result<()> {
        let place = (environment, *key);
        if self.of.len() >= self.most || self.of.contains_key(&place) {
            return Ok(());
        }
        let whereabouts = match is_cached {
            _ if environment != self.environment => Whereabouts::OtherEnvironment,
            true => Whereabouts::InMemory,
            false => Whereabouts::Elsewhere,
        };
        self.keep(place, material, whereabouts)
    }

    fn whole(&self, material: &Material) -> Result<Material> {
        let mut whole = material.try_clone()?;
        whole.append(&self.common)?;
        Ok(whole)
    }

    fn keep(&mut self, place: Place, material: Material, whereabouts: Whereabouts) -> Result<()> {
        self.of.try_reserve(1)?;
        self.by_age.touch(place)?;
        self.last_place += 1;
        let size = |described: Option<Described>| described.map_or(0, |old| old.material.bytes.len() as u64);
        self.bytes += material.bytes.len() as u64;
        self.bytes -= size(self.of.insert(place, Described { material, place: self.last_place, whereabouts }));
        while self.by_age.len() > self.most {
            let oldest = self.by_age.pop();
            self.bytes -= size(oldest.and_then(|oldest| self.of.remove(&oldest)));
        }
        Ok(())
    }

    /// Record that the program of a key is in memory, or left it.
    pub fn set_whereabouts(&mut self, key: &Key, to: Whereabouts) {
        if self.most > 0
            && let Some(described) = self.of.get_mut(&(self.environment, *key))
        {
            described.whereabouts = to;
        }
    }

    /// Compare a missed key with the known key that has the most inputs in common. Of several, the last described one.
    pub fn why_missed(&self, material: &Material) -> Result<Option<WhyMissed>> {
        let here = self.whole(material)?;
        let known = self.of.iter().map(|(place, there)| (there.material.in_common(&here), there.place, place, there));
        let Some((in_common, _, (_, key), there)) = known.max_by_key(|(in_common, place, ..)| (*in_common, *place))
        else {
            return Ok(None);
        };
        let differences = there.material.differences(&here)?;
        Ok(Some(WhyMissed { nearest: *key, in_common, whereabouts: there.whereabouts, differences }))
    }

    /// Bytes held, estimated.
    pub fn memory_used(&self) -> usize {
        let materials: usize = self.of.values().map(|described| described.material.bytes.capacity()).sum();
        materials
            + self.common.bytes.capacity()
            + self.of.capacity() * (size_of::<(Place, Described)>() + 1)
            + self.by_age.memory_used()
    }
}

impl Material {
    fn try_clone(&self) -> Result<Self> {
        let mut copy = Self::default();
        copy.append(self)?;
        Ok(copy)
    }
}
