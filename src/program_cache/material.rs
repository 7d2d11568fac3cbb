//! Why a key was missed: which of the things that it was made from differ from what is known.
//!
//! A key is a digest and says nothing about itself. If the host turns it on, what each key was made from is remembered,
//! its environment included: short texts as they are, all else by digest. A miss is compared with the key that has most
//! in common. The disk keeps it too, so that a process that starts after the driver was updated can say just that.

use std::collections::HashMap;
use std::fmt;

use super::Key;
use super::lru::Lru;
use super::statistics::Reason;
use crate::base::{Result, Text, try_collect, try_to_vec};
use crate::fingerprint::Fingerprint;

/// Longest label; what is beyond is cut.
const LABEL: usize = 40;
/// Longest text that is remembered as it is.
const SHOWN: usize = 60;
/// Of a part, before its texts: their lengths, the number of its bytes, the beginning of their hash.
const HEAD: usize = 2 + 8 + 8;

/// A label in a sentence.
pub type Label = Text<LABEL>;
/// What stood behind a label, as far as it can be shown: the text itself, or how long it was and how its hash begins.
pub type Shown = Text<{ SHOWN + 4 }>;

/// What a key was made from: labels, and what is remembered of the bytes behind them. Its bytes are also what the disk
/// has; they are in `docs/formats.md`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Material {
    bytes: Vec<u8>,
}

/// Something that a key was made from.
#[derive(Clone, Copy, PartialEq)]
struct Part<'a> {
    label: &'a str,
    /// Empty if it is too long or no text.
    shown: &'a str,
    length: u64,
    digest: [u8; 8],
}

impl Material {
    /// Add a part: what it is in words that are its own within the key, such as "driver", and the bytes themselves. On an
    /// error nothing changed.
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

    /// Add all parts of another one.
    pub fn append(&mut self, other: &Self) -> Result<()> {
        self.bytes.try_reserve(other.bytes.len())?;
        self.bytes.extend_from_slice(&other.bytes);
        Ok(())
    }

    /// As the disk keeps it.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// From what the disk has; none if that is not a material.
    pub(super) fn decode(bytes: &[u8]) -> Result<Option<Self>> {
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

    /// What differs between this, which is known, and `here`, which was missed.
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

/// The first part of these bytes, and the rest; none if they do not begin with one.
fn split_part(bytes: &[u8]) -> Option<(Part<'_>, &[u8])> {
    let (head, rest) = bytes.split_at_checked(HEAD)?;
    let (label, rest) = rest.split_at_checked(usize::from(head[0]))?;
    let (shown, rest) = rest.split_at_checked(usize::from(head[1]))?;
    let (length, digest) = (u64::from_le_bytes(*head[2..].first_chunk()?), *head[10..].first_chunk()?);
    let (label, shown) = (std::str::from_utf8(label).ok()?, std::str::from_utf8(shown).ok()?);
    Some((Part { label, shown, length, digest }, rest))
}

/// A part that is not the same in two keys.
#[derive(Clone, Copy, Debug)]
pub struct Difference {
    /// Which part it is.
    pub label: Label,
    /// In the key that is known; none if that has no such part.
    pub there: Option<Shown>,
    /// In the key that was missed.
    pub here: Option<Shown>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |value: &Option<Shown>| value.unwrap_or_else(|| Text::format(format_args!("none")));
        write!(f, "{} (was {}, is {})", self.label, shown(&self.there), shown(&self.here))
    }
}

/// Where a program is of which the material is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Whereabouts {
    /// It was never in memory.
    #[default]
    Elsewhere,
    /// It is in memory.
    InMemory,
    /// It has left memory.
    Left(Reason),
    /// It is of another environment, and never loaded.
    OtherEnvironment,
    /// It is banned, and never loaded.
    Banned,
}

/// What is known of a miss. As text it is a sentence.
#[derive(Debug)]
pub struct WhyMissed {
    /// The key with most parts in common, of those known.
    pub nearest: Key,
    /// How many parts it has in common.
    pub in_common: usize,
    /// Where its program is.
    pub whereabouts: Whereabouts,
    /// What differs; nothing if it is the very same key.
    pub differences: Vec<Difference>,
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
        match self.whereabouts {
            Whereabouts::Elsewhere => f.write_str("; it was never in memory"),
            Whereabouts::InMemory => f.write_str("; it is in memory"),
            Whereabouts::Left(reason) => write!(f, "; it has left memory: {}", reason.name()),
            Whereabouts::OtherEnvironment => f.write_str("; it is of another environment, and never loaded"),
            Whereabouts::Banned => f.write_str("; it is banned since the process died of it, and never loaded"),
        }
    }
}

#[derive(Default)]
struct Described {
    material: Material,
    /// Grows with each one.
    place: u64,
    whereabouts: Whereabouts,
}

/// A key, and the environment that it is in.
type Place = (u64, Key);

/// The materials of the keys described last.
#[derive(Default)]
pub(super) struct Materials {
    most: usize,
    environment: u64,
    /// What is part of every key of the environment.
    common: Material,
    last_place: u64,
    of: HashMap<Place, Described>,
    by_age: Lru<Place>,
}

impl Materials {
    /// Remembers at most so many keys.
    pub fn of(most: usize) -> Self {
        Self { most, ..Self::default() }
    }

    /// Of how many keys it remembers the material.
    pub fn most(&self) -> usize {
        self.most
    }

    /// The environment of all keys that are described from here on.
    pub fn set_environment(&mut self, environment: u64, common: Material) {
        (self.environment, self.common) = (environment, common);
    }

    /// Remember what `key` was made from, beside the environment. What the disk should keep is given back, if it is news.
    /// On an error nothing changed.
    pub fn describe(&mut self, key: &Key, material: &Material, is_there: bool) -> Result<Option<Material>> {
        if self.most == 0 {
            return Ok(None);
        }
        let whole = self.whole(material)?;
        let known = self.of.get(&(self.environment, *key)).is_some_and(|known| known.material == whole);
        let news = if known { None } else { Some(whole.clone_checked()?) };
        let whereabouts = if is_there { Whereabouts::InMemory } else { Whereabouts::Elsewhere };
        self.keep((self.environment, *key), whole, whereabouts)?;
        Ok(news)
    }

    /// Remember what the disk had. What is known already is newer.
    pub fn recall(&mut self, environment: u64, key: &Key, material: Material, is_there: bool) -> Result<()> {
        let place = (environment, *key);
        if self.of.len() >= self.most || self.of.contains_key(&place) {
            return Ok(());
        }
        let whereabouts = match is_there {
            _ if environment != self.environment => Whereabouts::OtherEnvironment,
            true => Whereabouts::InMemory,
            false => Whereabouts::Elsewhere,
        };
        self.keep(place, material, whereabouts)
    }

    fn whole(&self, material: &Material) -> Result<Material> {
        let mut whole = material.clone_checked()?;
        whole.append(&self.common)?;
        Ok(whole)
    }

    fn keep(&mut self, place: Place, material: Material, whereabouts: Whereabouts) -> Result<()> {
        self.of.try_reserve(1)?;
        self.by_age.touch(place)?;
        self.last_place += 1;
        self.of.insert(place, Described { material, place: self.last_place, whereabouts });
        while self.by_age.len() > self.most {
            if let Some(oldest) = self.by_age.pop() {
                self.of.remove(&oldest);
            }
        }
        Ok(())
    }

    pub fn is_there(&mut self, key: &Key) {
        self.moved(key, Whereabouts::InMemory);
    }

    pub fn is_gone(&mut self, key: &Key, reason: Reason) {
        self.moved(key, Whereabouts::Left(reason));
    }

    fn moved(&mut self, key: &Key, to: Whereabouts) {
        if self.most > 0
            && let Some(described) = self.of.get_mut(&(self.environment, *key))
        {
            described.whereabouts = to;
        }
    }

    /// The known key that has most in common with one made from `material`, of several the one described last.
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

    pub fn memory_used(&self) -> usize {
        let materials: usize = self.of.values().map(|described| described.material.bytes.capacity()).sum();
        materials
            + self.common.bytes.capacity()
            + self.of.capacity() * (size_of::<(Place, Described)>() + 1)
            + self.by_age.memory_used()
    }
}

impl Material {
    fn clone_checked(&self) -> Result<Self> {
        let mut copy = Self::default();
        copy.append(self)?;
        Ok(copy)
    }
}
