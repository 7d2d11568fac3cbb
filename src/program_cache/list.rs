//! Lists the programs of memory and disk in order of their keys, a page at a time.

use super::key::Key;

/// Where a program is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// In memory.
    pub memory: bool,
    /// In the directory.
    pub disk: bool,
    /// In a bundle.
    pub bundle: bool,
}

/// A program of the list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Listed {
    /// Its key.
    pub key: Key,
    /// Where it is.
    pub places: Places,
    /// Bytes of data, reflection and keys of shaders.
    pub size: u64,
    /// Build time in microseconds.
    pub build_us: u64,
    /// Uses while it has been in memory; the put counts.
    pub uses: u32,
    /// Processes that used it, as written on disk; the put counts.
    pub recorded_uses: u32,
    /// Second of the last use that is written on disk, since 1970; 0: not on disk.
    pub last_used: u32,
    /// The group, in memory; 0 if it is not there.
    pub group: u32,
}

/// The programs with the least keys after a given one. It holds no more, whatever is added.
pub struct Page {
    after: Option<Key>,
    most: usize,
    listed: Vec<Listed>,
}

impl Page {
    /// A page for up to `most` programs.
    pub fn new(after: Option<Key>, most: usize) -> crate::base::Result<Self> {
        let mut listed = Vec::new();
        listed.try_reserve_exact(most)?;
        Ok(Self { after, most, listed })
    }

    /// The entry of a key, which is added if the page has room for it or it comes before the last entry.
    pub fn entry(&mut self, key: &Key) -> Option<&mut Listed> {
        if self.most == 0 || self.after.is_some_and(|after| *key <= after) {
            return None;
        }
        match self.listed.binary_search_by(|listed| listed.key.cmp(key)) {
            Ok(place) => self.listed.get_mut(place),
            Err(place) if place >= self.most => None,
            Err(place) => {
                self.listed.truncate(self.most - 1);
                self.listed.insert(place, Listed { key: *key, ..Listed::default() });
                self.listed.get_mut(place)
            }
        }
    }

    /// The programs in order of their keys.
    pub fn finish(self) -> Vec<Listed> {
        self.listed
    }
}
