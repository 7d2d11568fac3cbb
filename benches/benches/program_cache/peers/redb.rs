//! redb. It has no durability level between none and fsync. This peer wraps its files to skip the fsync.

use std::fs::File;
use std::io;
use std::path::Path;

use redb::backends::FileBackend;
use redb::{Builder, Database, ReadOnlyTable, ReadableDatabase, ReadableTable, StorageBackend, TableDefinition};

use super::{Filled, Filling, Peer, SEAL, seal, sentence, unseal};
use crate::blobs::Blobs;

pub struct Redb;

const TABLE: TableDefinition<&[u8; 32], &[u8]> = TableDefinition::new("blobs");

#[derive(Debug)]
struct Unsynced(FileBackend);

impl StorageBackend for Unsynced {
    fn len(&self) -> io::Result<u64> {
        self.0.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.0.read(offset, out)
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        self.0.set_len(length)
    }

    fn sync_data(&self) -> io::Result<()> {
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.0.write(offset, data)
    }

    fn close(&self) -> io::Result<()> {
        self.0.close()
    }
}

fn open(directory: &Path) -> Result<(Database, File), String> {
    let mut options = File::options();
    options.read(true).write(true).create(true).truncate(false);
    let file = options.open(directory.join("cache.redb")).map_err(sentence)?;
    let own = file.try_clone().map_err(sentence)?;
    let backend = Unsynced(FileBackend::new(file).map_err(sentence)?);
    Ok((Builder::new().create_with_backend(backend).map_err(sentence)?, own))
}

impl Peer for Redb {
    fn name(&self) -> &'static str {
        "redb"
    }

    fn about(&self) -> &'static str {
        "1 GiB of cache, Durability::Immediate with the fsync left out, checked by XXH3; end: fsync"
    }

    fn has_batches(&self) -> bool {
        true
    }

    fn create(&self, directory: &Path) -> Result<Box<dyn Filling>, String> {
        let (database, file) = open(directory)?;
        Ok(Box::new(Open { database, file }))
    }

    fn open(&self, directory: &Path) -> Result<Box<dyn Filled>, String> {
        let (database, _) = open(directory)?;
        let table = database.begin_read().map_err(sentence)?.open_table(TABLE).map_err(sentence)?;
        let count = table.iter().map_err(sentence)?.filter(Result::is_ok).count();
        Ok(Box::new(Reading { _database: database, table, count }))
    }
}

struct Open {
    database: Database,
    file: File,
}

impl Filling for Open {
    fn put_all(&mut self, blobs: &Blobs, batch: usize) -> Result<(), String> {
        let all: Vec<_> = blobs.iter().collect();
        for some in all.chunks(batch) {
            let transaction = self.database.begin_write().map_err(sentence)?;
            {
                let mut table = transaction.open_table(TABLE).map_err(sentence)?;
                for (key, value) in some {
                    let mut space = table.insert_reserve(*key, SEAL + value.len()).map_err(sentence)?;
                    let space = space.as_mut();
                    space[..SEAL].copy_from_slice(&seal(value));
                    space[SEAL..].copy_from_slice(value);
                }
            }
            transaction.commit().map_err(sentence)?;
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), String> {
        self.file.sync_all().map_err(sentence)
    }
}

struct Reading {
    _database: Database,
    table: ReadOnlyTable<&'static [u8; 32], &'static [u8]>,
    count: usize,
}

impl Filled for Reading {
    fn count(&self) -> usize {
        self.count
    }

    fn get(&mut self, key: &[u8; 32], visit: &mut dyn FnMut(&[u8])) -> Result<(), String> {
        let value = self.table.get(key).map_err(sentence)?.ok_or("lost")?;
        visit(unseal(value.value())?);
        Ok(())
    }

    fn each(&mut self, visit: &mut dyn FnMut(&[u8])) -> Result<(), String> {
        for pair in self.table.iter().map_err(sentence)? {
            visit(unseal(pair.map_err(sentence)?.1.value())?);
        }
        Ok(())
    }
}
