//! A file for each blob, named by its key: written under a temporary name, then renamed.

use std::fs::{self, File};
use std::io::{IoSlice, Read, Write};
use std::path::{Path, PathBuf};

use super::{Filled, Filling, Peer, seal, sentence, unseal};
use crate::blobs::Blobs;

pub struct Files;

fn path(directory: &Path, key: &[u8; 32]) -> PathBuf {
    let mut name = String::with_capacity(64);
    for byte in key {
        let digit = |nibble: u8| char::from_digit(nibble.into(), 16).expect("four bits");
        name.extend([digit(byte >> 4), digit(byte & 15)]);
    }
    directory.join(name)
}

impl Peer for Files {
    fn name(&self) -> &'static str {
        "files"
    }

    fn about(&self) -> &'static str {
        "one file for each, written as a temporary one and renamed, checked by XXH3; end: syncfs"
    }

    fn has_batches(&self) -> bool {
        false
    }

    fn create(&self, directory: &Path) -> Result<Box<dyn Filling>, String> {
        Ok(Box::new(Open(directory.into())))
    }

    fn open(&self, directory: &Path) -> Result<Box<dyn Filled>, String> {
        let listed = fs::read_dir(directory).map_err(sentence)?;
        let paths = listed.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>().map_err(sentence)?;
        Ok(Box::new(Reading { directory: directory.into(), paths, bytes: Vec::new() }))
    }
}

struct Open(PathBuf);

fn write(directory: &Path, key: &[u8; 32], value: &[u8]) -> std::io::Result<()> {
    let fresh = directory.join("new");
    let seal = seal(value);
    let written = File::create(&fresh)?.write_vectored(&[IoSlice::new(&seal), IoSlice::new(value)])?;
    assert_eq!(written, seal.len() + value.len());
    fs::rename(fresh, path(directory, key))
}

impl Filling for Open {
    fn put_all(&mut self, blobs: &Blobs, _: usize) -> Result<(), String> {
        blobs.iter().try_for_each(|(key, value)| write(&self.0, key, value)).map_err(sentence)
    }

    fn finish(&mut self) -> Result<(), String> {
        rustix::fs::syncfs(File::open(&self.0).map_err(sentence)?).map_err(sentence)
    }
}

struct Reading {
    directory: PathBuf,
    paths: Vec<PathBuf>,
    bytes: Vec<u8>,
}

impl Reading {
    fn read(&mut self, path: &Path, visit: &mut dyn FnMut(&[u8])) -> Result<(), String> {
        self.bytes.clear();
        let mut file = File::open(path).map_err(sentence)?;
        file.read_to_end(&mut self.bytes).map_err(sentence)?;
        visit(unseal(&self.bytes)?);
        Ok(())
    }
}

impl Filled for Reading {
    fn count(&self) -> usize {
        self.paths.len()
    }

    fn get(&mut self, key: &[u8; 32], visit: &mut dyn FnMut(&[u8])) -> Result<(), String> {
        self.read(&path(&self.directory, key), visit)
    }

    fn each(&mut self, visit: &mut dyn FnMut(&[u8])) -> Result<(), String> {
        let paths = std::mem::take(&mut self.paths);
        let done = paths.iter().try_for_each(|path| self.read(path, visit));
        self.paths = paths;
        done
    }
}
