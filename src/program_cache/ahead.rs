//! Where programs are read from, and which of them before anybody asks: the start-up set, then what was used last, as much
//! as memory has room for, in the order in which it lies on the disk.

use std::cmp::Reverse;
use std::collections::HashSet;

use super::Key;
use super::table::FoldKeys;
use super::value::kind;
use crate::base::{Result, try_collect, try_push};
use crate::store::{Name, Store};

/// A program or a material, and the source that has it.
pub(super) type Place = (usize, Name);

/// What can be read: the directory's store is source 0, bundles come after it.
#[derive(Default)]
pub(super) struct Sources {
    /// The directory's, if it could be opened.
    pub own: Option<Store>,
    pub bundles: Vec<Store>,
}

impl Sources {
    pub fn get(&self, source: usize) -> Option<&Store> {
        source.checked_sub(1).map_or(self.own.as_ref(), |bundle| self.bundles.get(bundle))
    }

    pub fn get_mut(&mut self, source: usize) -> Option<&mut Store> {
        source.checked_sub(1).map_or(self.own.as_mut(), |bundle| self.bundles.get_mut(bundle))
    }

    /// Numbers of all that there are.
    pub fn numbers(&self) -> std::ops::RangeInclusive<usize> {
        usize::from(self.own.is_none())..=self.bundles.len()
    }

    /// Programs of some of the sources that should be loaded, the last one first: `first` before all others, then those
    /// used last, of which `room` bytes are taken.
    pub fn programs(
        &self,
        numbers: impl Iterator<Item = usize>,
        environment: u64,
        first: &[Key],
        room: u64,
    ) -> Result<Vec<Place>> {
        let mut is_first = HashSet::<Key, FoldKeys>::default();
        is_first.try_reserve(first.len())?;
        is_first.extend(first.iter().copied());
        let (mut places, mut latest) = (Vec::new(), Vec::new());
        for source in numbers {
            let Some(store) = self.get(source) else { continue };
            for name in store.names_in_place(environment)? {
                let Some(meta) = store.meta(&name).filter(|_| name.kind == kind::PROGRAM) else { continue };
                try_push(&mut latest, (meta.last_used, meta.length))?;
                try_push(&mut places, (meta.last_used, (source, name)))?;
            }
        }
        let oldest = oldest_with_room(&mut latest, room);
        let backwards = |firsts: bool| {
            let is_first = &is_first;
            let of_these = move |(used, place): &&(u32, Place)| {
                is_first.contains(&place.1.key) == firsts && (firsts || *used >= oldest)
            };
            places.iter().rev().filter(of_these).map(|(_, place)| *place)
        };
        try_collect(backwards(false).chain(backwards(true)))
    }

    /// Materials of every environment that should be read, the last one first: the `most` that were used last, from the
    /// oldest on.
    pub fn materials(&self, most: usize) -> Result<Vec<Place>> {
        let mut found = Vec::new();
        for source in self.numbers() {
            let Some(store) = self.get(source) else { continue };
            for environment in store.environments()? {
                for meta in store.entries(environment).filter(|meta| meta.name.kind == kind::MATERIAL) {
                    try_push(&mut found, (meta.last_used, (source, meta.name)))?;
                }
            }
        }
        found.sort_unstable_by_key(|(used, _)| Reverse(*used));
        found.truncate(most);
        try_collect(found.iter().map(|(_, place)| *place))
    }
}

/// Since when programs must have been used so that those used later have no more than `room` bytes together.
fn oldest_with_room(latest: &mut [(u32, u32)], room: u64) -> u32 {
    latest.sort_unstable_by_key(|&(used, _)| Reverse(used));
    let mut total = 0;
    for &(used, length) in latest.iter() {
        total += u64::from(length);
        if total > room {
            return used;
        }
    }
    0
}
