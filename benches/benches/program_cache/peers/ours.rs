//! The store of the program cache, with its defaults.

use std::path::Path;

use hobgoblin::store::io::{OsIo, share};
use hobgoblin::store::{Buffer, Name, Options, Store, Value};

use super::{Filled, Filling, Peer, sentence};
use crate::blobs::Blobs;

pub struct Ours;

const ENVIRONMENT: u64 = 7;

fn name(key: &[u8; 32]) -> Name {
    Name { kind: 1, environment: ENVIRONMENT, key: *key }
}

pub fn seconds() -> u64 {
    std::time::SystemTime::UNIX_EPOCH.elapsed().map_or(0, |span| span.as_secs())
}

fn open(directory: &Path) -> Result<Store, String> {
    share(OsIo).and_then(|io| Store::open(io, directory, Options::new(seconds))).map_err(sentence)
}

impl Peer for Ours {
    fn name(&self) -> &'static str {
        "ours"
    }

    fn about(&self) -> &'static str {
        "segments of 32 MiB; end: sync, seal"
    }

    fn has_batches(&self) -> bool {
        true
    }

    fn create(&self, directory: &Path) -> Result<Box<dyn Filling>, String> {
        Ok(Box::new(Open(open(directory)?)))
    }

    fn open(&self, directory: &Path) -> Result<Box<dyn Filled>, String> {
        Ok(Box::new(Reading { store: open(directory)?, buffer: Buffer::default() }))
    }
}

struct Open(Store);

impl Filling for Open {
    fn put_all(&mut self, blobs: &Blobs, batch: usize) -> Result<(), String> {
        let values: Vec<_> = blobs.iter().map(|(key, data)| Value { name: name(key), build_us: 1000, data }).collect();
        values.chunks(batch).try_for_each(|values| self.0.put_all(values, |_| ())).map_err(sentence)
    }

    fn finish(&mut self) -> Result<(), String> {
        self.0.seal().map_err(sentence)
    }
}

struct Reading {
    store: Store,
    buffer: Buffer,
}

impl Filled for Reading {
    fn count(&self) -> usize {
        self.store.statistics().values as usize
    }

    fn get(&mut self, key: &[u8; 32], visit: &mut dyn FnMut(&[u8])) -> Result<(), String> {
        let (_, value) = self.store.view(&name(key), &mut self.buffer).map_err(sentence)?.ok_or("lost")?;
        visit(value);
        Ok(())
    }

    fn each(&mut self, visit: &mut dyn FnMut(&[u8])) -> Result<(), String> {
        for name in self.store.names_in_place(ENVIRONMENT).map_err(sentence)? {
            self.get(&name.key, visit)?;
        }
        Ok(())
    }
}
