//! The ban list: a JSON file, and the quarantine of a directory that games use.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use hobgoblin::pipeline::PipelineKey;
use hobgoblin::quarantine::{Options, Outcome, Quarantine, Token};
use hobgoblin::store::Secret;
use hobgoblin::store::io::{OsIo, share};
use same_file::Handle;
use serde::{Deserialize, Serialize};

use super::frames::Hello;
use crate::failure::{Failure, Result, cannot_read};
use crate::numbers::now;
use crate::outputs::{cannot_write, replace};

const VERSION: u32 = 1;

/// A banned pipeline.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Ban {
    /// 64 hexadecimal digits.
    pub pipeline: String,
    /// The driver that it is banned for: 16 hexadecimal digits.
    pub environment: String,
    pub driver: String,
    /// The reason of the last strike.
    pub why: String,
}

#[derive(Serialize, Deserialize)]
struct List {
    version: u32,
    bans: Vec<Ban>,
}

/// The directory of games.
pub struct Directory<'a> {
    pub path: &'a Path,
    /// Strikes that ban a pipeline there.
    pub ban_at: u32,
    pub secret: Option<Secret>,
}

/// The file of a ban list.
struct BanFile {
    path: PathBuf,
    bans: Vec<Ban>,
    /// Bans that are not in the file yet.
    added: Vec<Ban>,
}

/// The bans of a driver, and where they are written.
pub struct Bans {
    hello: Hello,
    file: Option<BanFile>,
    /// With the number of strikes that ban.
    quarantine: Option<(Quarantine, u32)>,
}

impl Bans {
    /// Open the file and the directory. The file may be missing.
    pub fn open(hello: &Hello, file: Option<&Path>, directory: Option<Directory<'_>>) -> Result<Self> {
        let file = match file {
            Some(path) => Some(BanFile { path: path.to_path_buf(), bans: read(path)?, added: Vec::new() }),
            None => None,
        };
        let quarantine = match directory {
            Some(directory) => Some((open_quarantine(&directory, hello)?, directory.ban_at)),
            None => None,
        };
        Ok(Self { hello: hello.clone(), file, quarantine })
    }

    /// Whether a pipeline was banned for this driver before. The file and the directory learn it from each other.
    pub fn has(&mut self, key: &PipelineKey) -> Result<bool> {
        let ban = self.ban(key, "banned in the directory");
        let in_file = self.file.as_ref().map(|file| file.bans.iter().any(|other| ban.is_of(other)));
        let in_directory =
            self.quarantine.as_ref().map(|(quarantine, _)| quarantine.is_banned(self.hello.environment, &key.0));
        match (in_file, in_directory) {
            (Some(true), Some(false)) => self.strike(key)?,
            (Some(false), Some(true)) => self.file.iter_mut().for_each(|file| file.added.push(ban.clone())),
            _ => {}
        }
        Ok(in_file == Some(true) || in_directory == Some(true))
    }

    fn ban(&self, key: &PipelineKey, why: &str) -> Ban {
        let (pipeline, environment, driver) = (key.to_string(), self.environment(), self.hello.driver.clone());
        Ban { pipeline, environment, driver, why: why.into() }
    }

    /// Ban a pipeline in the directory.
    fn strike(&self, key: &PipelineKey) -> Result<()> {
        let Some((quarantine, ban_at)) = &self.quarantine else { return Ok(()) };
        for _ in quarantine.strikes(self.hello.environment, &key.0)..*ban_at {
            quarantine.strike(self.hello.environment, &key.0)?;
        }
        Ok(())
    }

    fn environment(&self) -> String {
        format!("{:016x}", self.hello.environment)
    }

    /// Note a pipeline before it compiles: if the whole machine goes down with it, it has a strike.
    pub fn begin(&self, key: &PipelineKey) -> Option<Token> {
        self.quarantine.as_ref()?.0.begin(self.hello.environment, &key.0).ok()
    }

    /// End a note. A pipeline that is ready loses a strike.
    pub fn end(&self, token: Option<Token>, is_ready: bool) -> Result<()> {
        let outcome = if is_ready { Outcome::Ok } else { Outcome::Rejected };
        if let Some(((quarantine, _), token)) = self.quarantine.as_ref().zip(token) {
            quarantine.end(token, outcome)?;
        }
        Ok(())
    }

    /// Ban a pipeline. The list is complete on the disk when this returns.
    pub fn add(&mut self, key: &PipelineKey, why: &str) -> Result<Ban> {
        let ban = self.ban(key, why);
        self.strike(key)?;
        if let Some(file) = &mut self.file {
            file.added.push(ban.clone());
        }
        self.save()?;
        Ok(ban)
    }

    /// Add the new bans to the file, so that it exists without a ban, too.
    pub fn save(&mut self) -> Result<()> {
        match &mut self.file {
            Some(file) => file.merge(),
            None => Ok(()),
        }
    }
}

impl Ban {
    /// Whether both ban the same pipeline for the same driver.
    fn is_of(&self, other: &Self) -> bool {
        (&self.pipeline, &self.environment) == (&other.pipeline, &other.environment)
    }
}

impl BanFile {
    /// Write the new bans, and keep those that other replays have written meanwhile.
    fn merge(&mut self) -> Result<()> {
        let failed = |why: io::Error| cannot_write(&self.path, &why);
        let mut locked = lock(&self.path).map_err(failed)?;
        let mut bytes = Vec::new();
        locked.read_to_end(&mut bytes).map_err(failed)?;
        let mut bans = parse(&self.path, &bytes)?;
        bans.retain(|ban| !self.added.iter().any(|added| added.is_of(ban)));
        bans.extend(self.added.iter().cloned());
        bans.sort();
        let list = List { version: VERSION, bans };
        let json = serde_json::to_vec_pretty(&list).map_err(|why| failed(why.into()))?;
        if cfg!(unix) {
            // The lock stays with the old file: see `lock`.
            replace(&self.path, |to| to.write_all(&json).map_err(failed))?;
        } else {
            // A locked file cannot be replaced there.
            let written = locked.seek(SeekFrom::Start(0)).and_then(|_| locked.write_all(&json));
            written.and_then(|()| locked.set_len(json.len() as u64)).map_err(failed)?;
        }
        self.bans = list.bans;
        self.added.clear();
        Ok(())
    }
}

/// Open the file at `path`, or create it empty, and wait for its lock. If another process has replaced the file
/// meanwhile, that one is locked.
fn lock(path: &Path) -> io::Result<File> {
    loop {
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        match file.lock() {
            Err(why) if why.kind() != ErrorKind::Unsupported => return Err(why),
            _ => {}
        }
        let own = Handle::from_file(file.try_clone()?)?;
        match Handle::from_path(path) {
            Ok(there) if there == own => return Ok(file),
            Err(why) if why.kind() != ErrorKind::NotFound => return Err(why),
            _ => {}
        }
    }
}

fn read(path: &Path) -> Result<Vec<Ban>> {
    match fs::read(path) {
        Err(why) if why.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        read => parse(path, &read.map_err(|why| cannot_read(path, &why))?),
    }
}

/// The bans of a list. A file that was just created is an empty one.
fn parse(path: &Path, bytes: &[u8]) -> Result<Vec<Ban>> {
    if bytes.is_empty() {
        return Ok(Vec::new());
    }
    match serde_json::from_slice(bytes) {
        Ok(List { version: VERSION, bans }) => Ok(bans),
        Ok(List { version, .. }) => Err(Failure::File(format!(
            "the ban list '{}' has version {version}, and hob reads version {VERSION}: name another file",
            path.display()
        ))),
        Err(why) => Err(Failure::File(format!("'{}' is not a ban list: {why}; name another file", path.display()))),
    }
}

fn open_quarantine(directory: &Directory<'_>, hello: &Hello) -> Result<Quarantine> {
    let &Directory { path, ban_at, secret } = directory;
    if hello.environment == 0 {
        return Err(Failure::Usage(
            "the builder names no environment, and bans in a directory belong to one: let it send hob_environment_get_id"
                .into(),
        ));
    }
    if !path.is_dir() {
        return Err(Failure::Usage(format!("'{}' is not a directory: create it", path.display())));
    }
    let options = Options { ban_at, secret, ..Options::at(now()) };
    let quarantine = Quarantine::open_on(share(OsIo)?, &path.join("quarantine"), options)?;
    match quarantine.problem() {
        Some(why) => Err(Failure::File(format!("the quarantine of '{}': {why}", path.display()))),
        None => Ok(quarantine),
    }
}
