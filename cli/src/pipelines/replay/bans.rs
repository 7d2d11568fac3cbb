//! The ban list: a JSON file, and the quarantine of a directory that games use.

use std::path::{Path, PathBuf};

use hobgoblin::base::files::replace_file;
use hobgoblin::pipeline::PipelineKey;
use hobgoblin::quarantine::{Options, Outcome, Quarantine, Token};
use hobgoblin::store::Secret;
use hobgoblin::store::io::{OsIo, share};
use serde::{Deserialize, Serialize};

use super::frames::Hello;
use crate::failure::{Failure, Result, cannot_read};
use crate::numbers::now;

/// Strikes that ban a pipeline, as in a library with the default `ban_at`.
pub const BAN_AT: usize = 2;
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
struct File {
    version: u32,
    bans: Vec<Ban>,
}

/// The bans of a driver, and where they are written.
pub struct Bans {
    hello: Hello,
    file: Option<(PathBuf, Vec<Ban>)>,
    quarantine: Option<Quarantine>,
}

impl Bans {
    /// Open the file and the directory. Both may be missing.
    pub fn open(hello: &Hello, file: Option<&Path>, directory: Option<&Path>, secret: Option<Secret>) -> Result<Self> {
        let file = match file {
            Some(path) => Some((path.to_path_buf(), read(path)?)),
            None => None,
        };
        let quarantine = match directory {
            Some(directory) => Some(open_quarantine(directory, hello, secret)?),
            None => None,
        };
        Ok(Self { hello: hello.clone(), file, quarantine })
    }

    /// Whether a pipeline was banned for this driver before.
    pub fn has(&self, key: &PipelineKey) -> bool {
        let (pipeline, environment) = (key.to_string(), self.environment());
        let is_same = |ban: &Ban| ban.pipeline == pipeline && ban.environment == environment;
        let in_file = self.file.as_ref().is_some_and(|(_, bans)| bans.iter().any(is_same));
        let is_banned = |quarantine: &Quarantine| quarantine.is_banned(self.hello.environment, &key.0);
        in_file || self.quarantine.as_ref().is_some_and(is_banned)
    }

    fn environment(&self) -> String {
        format!("{:016x}", self.hello.environment)
    }

    /// Note a pipeline before it compiles: if the whole machine goes down with it, it has a strike.
    pub fn begin(&self, key: &PipelineKey) -> Option<Token> {
        self.quarantine.as_ref()?.begin(self.hello.environment, &key.0).ok()
    }

    /// End a note. A pipeline that is ready loses a strike.
    pub fn end(&self, token: Option<Token>, is_ready: bool) -> Result<()> {
        let outcome = if is_ready { Outcome::Ok } else { Outcome::Rejected };
        if let Some((quarantine, token)) = self.quarantine.as_ref().zip(token) {
            quarantine.end(token, outcome)?;
        }
        Ok(())
    }

    /// Ban a pipeline. The list is complete on the disk when this returns.
    pub fn add(&mut self, key: &PipelineKey, why: &str) -> Result<Ban> {
        let (pipeline, driver) = (key.to_string(), self.hello.driver.clone());
        let ban = Ban { pipeline, environment: self.environment(), driver, why: why.into() };
        if let Some(quarantine) = &self.quarantine {
            for _ in 0..BAN_AT {
                quarantine.strike(self.hello.environment, &key.0)?;
            }
        }
        if let Some((_, bans)) = &mut self.file {
            bans.retain(|other| (&other.pipeline, &other.environment) != (&ban.pipeline, &ban.environment));
            bans.push(ban.clone());
            bans.sort();
        }
        self.save()?;
        Ok(ban)
    }

    /// Write the file, so that it exists without a ban, too.
    pub fn save(&mut self) -> Result<()> {
        let Some((path, bans)) = &mut self.file else { return Ok(()) };
        let file = File { version: VERSION, bans: std::mem::take(bans) };
        let json = serde_json::to_vec_pretty(&file);
        *bans = file.bans;
        let json = json.map_err(|why| Failure::File(format!("cannot write the ban list: {why}")))?;
        Ok(replace_file(&path.display().to_string(), &json)?)
    }
}

fn read(path: &Path) -> Result<Vec<Ban>> {
    let bytes = match std::fs::read(path) {
        Err(why) if why.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        read => read.map_err(|why| cannot_read(path, &why))?,
    };
    match serde_json::from_slice(&bytes) {
        Ok(File { version: VERSION, bans }) => Ok(bans),
        Ok(File { version, .. }) => Err(Failure::File(format!(
            "the ban list '{}' has version {version}, and hob reads version {VERSION}: name another file",
            path.display()
        ))),
        Err(why) => Err(Failure::File(format!("'{}' is not a ban list: {why}; name another file", path.display()))),
    }
}

fn open_quarantine(directory: &Path, hello: &Hello, secret: Option<Secret>) -> Result<Quarantine> {
    if hello.environment == 0 {
        return Err(Failure::Usage(
            "the builder names no environment, and bans in a directory belong to one: let it send hob_environment_get_id"
                .into(),
        ));
    }
    if !directory.is_dir() {
        return Err(Failure::Usage(format!("'{}' is not a directory: create it", directory.display())));
    }
    let options = Options { ban_at: BAN_AT as u32, secret, ..Options::at(now()) };
    let quarantine = Quarantine::open_on(share(OsIo)?, &directory.join("quarantine"), options)?;
    match quarantine.problem() {
        Some(why) => Err(Failure::File(format!("the quarantine of '{}': {why}", directory.display()))),
        None => Ok(quarantine),
    }
}
