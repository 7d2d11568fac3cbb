//! SQLite, through rusqlite, built from its bundled source.

use std::path::Path;

use rusqlite::{Connection, params};

use super::{Filled, Filling, Peer, sentence};
use crate::blobs::Blobs;

pub struct Sqlite;

const PUT: &str = "INSERT OR REPLACE INTO blobs(key, hash, value) VALUES(?1, ?2, ?3)";

fn open(directory: &Path) -> Result<Connection, String> {
    let connection = Connection::open(directory.join("cache.sqlite")).map_err(sentence)?;
    connection
        .execute_batch(
            "PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF; PRAGMA mmap_size=1073741824;
             CREATE TABLE IF NOT EXISTS blobs(key BLOB UNIQUE NOT NULL, hash INTEGER NOT NULL, value BLOB NOT NULL);",
        )
        .map_err(sentence)?;
    Ok(connection)
}

fn hash(value: &[u8]) -> i64 {
    twox_hash::XxHash3_64::oneshot(value).cast_signed()
}

impl Peer for Sqlite {
    fn name(&self) -> &'static str {
        "SQLite"
    }

    fn about(&self) -> &'static str {
        "WAL, synchronous=OFF, mmap_size=1 GiB, prepared statements, checked by XXH3; end: checkpoint, fsync"
    }

    fn has_batches(&self) -> bool {
        true
    }

    fn create(&self, directory: &Path) -> Result<Box<dyn Filling>, String> {
        Ok(Box::new(Open(open(directory)?, directory.join("cache.sqlite"))))
    }

    fn open(&self, directory: &Path) -> Result<Box<dyn Filled>, String> {
        let connection = open(directory)?;
        let count = {
            let mut keys = connection.prepare("SELECT key FROM blobs INDEXED BY sqlite_autoindex_blobs_1 ORDER BY key");
            let keys = keys.as_mut().map_err(sentence)?;
            let mut rows = keys.query([]).map_err(sentence)?;
            let mut count = 0;
            while rows.next().map_err(sentence)?.is_some() {
                count += 1;
            }
            count
        };
        Ok(Box::new(Reading { connection, count }))
    }
}

struct Open(Connection, std::path::PathBuf);

impl Filling for Open {
    fn put_all(&mut self, blobs: &Blobs, batch: usize) -> Result<(), String> {
        let all: Vec<_> = blobs.iter().collect();
        for some in all.chunks(batch) {
            let transaction = self.0.transaction().map_err(sentence)?;
            for (key, value) in some {
                let mut put = transaction.prepare_cached(PUT).map_err(sentence)?;
                put.execute(params![key.as_slice(), hash(value), value]).map_err(sentence)?;
            }
            transaction.commit().map_err(sentence)?;
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), String> {
        self.0.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).map_err(sentence)?;
        std::fs::File::open(&self.1).and_then(|file| file.sync_all()).map_err(sentence)
    }
}

struct Reading {
    connection: Connection,
    count: usize,
}

fn checked(row: &rusqlite::Row<'_>, visit: &mut dyn FnMut(&[u8])) -> Result<(), String> {
    let value = row.get_ref(1).map_err(sentence)?.as_blob().map_err(sentence)?;
    if row.get::<_, i64>(0).map_err(sentence)? != hash(value) {
        return Err("a value is damaged".into());
    }
    visit(value);
    Ok(())
}

impl Filled for Reading {
    fn count(&self) -> usize {
        self.count
    }

    fn get(&mut self, key: &[u8; 32], visit: &mut dyn FnMut(&[u8])) -> Result<(), String> {
        let get = self.connection.prepare_cached("SELECT hash, value FROM blobs WHERE key = ?1");
        let mut get = get.map_err(sentence)?;
        let mut rows = get.query([key.as_slice()]).map_err(sentence)?;
        checked(rows.next().map_err(sentence)?.ok_or("lost")?, visit)
    }

    fn each(&mut self, visit: &mut dyn FnMut(&[u8])) -> Result<(), String> {
        let mut all = self.connection.prepare("SELECT hash, value FROM blobs NOT INDEXED").map_err(sentence)?;
        let mut rows = all.query([]).map_err(sentence)?;
        while let Some(row) = rows.next().map_err(sentence)? {
            checked(row, visit)?;
        }
        Ok(())
    }
}
