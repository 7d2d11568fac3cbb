//! LMDB, through heed.

use std::io::Write;
use std::path::Path;

use heed::types::Bytes;
use heed::{Database, Env, EnvFlags, EnvOpenOptions};

use super::{Filled, Filling, Peer, SEAL, seal, sentence, unseal};
use crate::blobs::Blobs;

pub struct Lmdb;

const MAP_BYTES: usize = 2 << 30;

type Values = Database<Bytes, Bytes>;

fn open(directory: &Path) -> Result<Env, String> {
    let mut options = EnvOpenOptions::new();
    options.map_size(MAP_BYTES);
    // SAFETY: no other code has these files; data in the kernel survives when the process is killed.
    unsafe { options.flags(EnvFlags::NO_SYNC).open(directory) }.map_err(sentence)
}

impl Peer for Lmdb {
    fn name(&self) -> &'static str {
        "LMDB"
    }

    fn about(&self) -> &'static str {
        "MDB_NOSYNC; values read where they are mapped, checked by XXH3; end: mdb_env_sync"
    }

    fn has_batches(&self) -> bool {
        true
    }

    fn create(&self, directory: &Path) -> Result<Box<dyn Filling>, String> {
        let env = open(directory)?;
        let mut transaction = env.write_txn().map_err(sentence)?;
        let values = env.create_database(&mut transaction, None).map_err(sentence)?;
        transaction.commit().map_err(sentence)?;
        Ok(Box::new(Open { env, values }))
    }

    fn open(&self, directory: &Path) -> Result<Box<dyn Filled>, String> {
        let env = open(directory)?;
        let transaction = env.read_txn().map_err(sentence)?;
        let values: Values = env.open_database(&transaction, None).map_err(sentence)?.ok_or("no database")?;
        let keys = values.iter(&transaction).map_err(sentence)?.remap_data_type::<heed::types::DecodeIgnore>();
        let count = keys.filter(Result::is_ok).count();
        drop(transaction);
        Ok(Box::new(Reading { transaction: env.clone().static_read_txn().map_err(sentence)?, values, count }))
    }
}

struct Open {
    env: Env,
    values: Values,
}

impl Filling for Open {
    fn put_all(&mut self, blobs: &Blobs, batch: usize) -> Result<(), String> {
        let all: Vec<_> = blobs.iter().collect();
        for some in all.chunks(batch) {
            let mut transaction = self.env.write_txn().map_err(sentence)?;
            for (key, value) in some {
                let fill = |space: &mut heed::ReservedSpace<'_>| {
                    space.write_all(&seal(value))?;
                    space.write_all(value)
                };
                self.values.put_reserved(&mut transaction, *key, SEAL + value.len(), fill).map_err(sentence)?;
            }
            transaction.commit().map_err(sentence)?;
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), String> {
        self.env.force_sync().map_err(sentence)
    }
}

struct Reading {
    transaction: heed::RoTxn<'static, heed::WithTls>,
    values: Values,
    count: usize,
}

impl Filled for Reading {
    fn count(&self) -> usize {
        self.count
    }

    fn get(&mut self, key: &[u8; 32], visit: &mut dyn FnMut(&[u8])) -> Result<(), String> {
        let sealed = self.values.get(&self.transaction, key).map_err(sentence)?.ok_or("lost")?;
        visit(unseal(sealed)?);
        Ok(())
    }

    fn each(&mut self, visit: &mut dyn FnMut(&[u8])) -> Result<(), String> {
        for pair in self.values.iter(&self.transaction).map_err(sentence)? {
            visit(unseal(pair.map_err(sentence)?.1)?);
        }
        Ok(())
    }
}
