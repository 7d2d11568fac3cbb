//! The stores of programs, and the plan of loading ahead of need.
//!
//! The start-up set comes first. Then come the programs used last, as many as memory has room for, in disk order.

use std::collections::HashSet;

use super::value::kind;
use crate::base::{Result, sort_numbers, try_collect, try_push};
use crate::program_cache::key::{FoldKeys, Key};
use crate::store::{Name, Store};

/// A value, and the number of its source.
pub type Place = (usize, Name);

/// The stores. Source 0 is the directory's, and the bundles follow.
#[derive(Default)]
pub struct Sources {
    /// The directory's store, if it could be opened.
    pub own: Option<Store>,
    /// The first one was added first.
    pub bundles: Vec<Store>,
}

impl Sources {
    /// The store of a source.
    pub fn get(&self, source: usize) -> Option<&Store> {
        source.checked_sub(1).map_or(self.own.as_ref(), |bundle| self.bundles.get(bundle))
    }

    /// The store of a source, to read from.
    pub fn get_mut(&mut self, source: usize) -> Option<&mut Store> {
        source.checked_sub(1).map_or(self.own.as_mut(), |bundle| self.bundles.get_mut(bundle))
    }

    /// The numbers of all sources.
    pub fn numbers(&self) -> std::ops::RangeInclusive<usize> {
        usize::from(self.own.is_none())..=self.bundles.len()
    }

    /// Programs of a source to load ahead, the last one first. The start-up set comes before all others; of those, the
    /// programs used last, up to `room` bytes.
    pub fn programs(&self, source: usize, environment: u64, start_up: &[Key], room: u64) -> Result<Vec<Place>> {
        let Some(store) = self.get(source) else { return Ok(Vec::new()) };
        let mut is_first = HashSet::<Key, FoldKeys>::default();
        is_first.try_reserve(start_up.len())?;
        is_first.extend(start_up.iter().copied());
        let (mut places, mut latest) = (Vec::new(), Vec::new());
        for name in store.names_in_place(environment)? {
            let Some(meta) = store.meta(&name).filter(|_| name.kind == kind::PROGRAM) else { continue };
            try_push(&mut latest, (meta.last_used, meta.length))?;
            try_push(&mut places, (meta.last_used, (source, name)))?;
        }
        let oldest = oldest_with_room(&latest, room)?;
        let backwards = |first: bool| {
            let is_first = &is_first;
            let is_chosen = move |(used, place): &&(u32, Place)| {
                is_first.contains(&place.1.key) == first && (first || *used >= oldest)
            };
            places.iter().rev().filter(is_chosen).map(|(_, place)| *place)
        };
        try_collect(backwards(false).chain(backwards(true)))
    }

    /// Materials of all environments to read, the last one first: the `most` that were used last, in order of use.
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
        let mut order = try_collect(0..found.len() as u32)?;
        let used = |at: u32| found[at as usize].0;
        sort_numbers(&mut order, &mut |one, other| used(other).cmp(&used(one)));
        try_collect(order.iter().take(most).map(|&at| found[at as usize].1))
    }
}

/// The earliest time of use such that the programs used since then have at most `room` bytes together.
fn oldest_with_room(latest: &[(u32, u32)], room: u64) -> Result<u32> {
    let mut order = try_collect(0..latest.len() as u32)?;
    let used = |at: u32| latest[at as usize].0;
    sort_numbers(&mut order, &mut |one, other| used(other).cmp(&used(one)));
    let mut total = 0;
    for (used, length) in order.iter().map(|&at| latest[at as usize]) {
        total += u64::from(length);
        if total > room {
            return Ok(used);
        }
    }
    Ok(0)
}
