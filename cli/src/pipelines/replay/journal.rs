//! The state of a replay, so that a second run continues: one JSON value a line, written when it happens.
//!
//! A line that a kill cut off is dropped.

use std::collections::HashMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use hobgoblin::pipeline::{Identity, PipelineKey};
use serde::{Deserialize, Serialize};

use super::frames::Answer;
use crate::failure::{Failure, Result};

/// The first line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Head {
    hob_replay: u32,
    /// 16 hexadecimal digits.
    environment: String,
    project: String,
    format: String,
    api: u32,
}

const VERSION: u32 = 1;

/// An event of a pipeline.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "lowercase")]
pub enum Event {
    Ready { build_us: u64 },
    Failed { build_us: u64, message: String },
    Strike { why: String },
}

impl From<Answer> for Event {
    fn from(Answer { is_ready, build_us, message }: Answer) -> Self {
        if is_ready { Self::Ready { build_us } } else { Self::Failed { build_us, message } }
    }
}

#[derive(Serialize, Deserialize)]
struct Line {
    pipeline: String,
    #[serde(flatten)]
    event: Event,
}

/// The file of a state, and the events of earlier runs.
pub struct Journal {
    file: Option<(File, PathBuf)>,
    /// By the pipeline's hexadecimal key, in order.
    events: HashMap<String, Vec<Event>>,
}

impl Journal {
    /// Continue the file at `path`, or begin it. Without a path nothing is kept.
    pub fn open(path: Option<&Path>, identity: &Identity, environment: u64) -> Result<Self> {
        let Some(path) = path else { return Ok(Self { file: None, events: HashMap::new() }) };
        let failed = |why: io::Error| Failure::File(format!("cannot use the state '{}': {why}", path.display()));
        let mut file = OpenOptions::new().read(true).append(true).create(true).open(path).map_err(failed)?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => {
                return Err(failed(io::Error::other("another replay uses it: name another file")));
            }
            Err(TryLockError::Error(why)) if why.kind() != io::ErrorKind::Unsupported => return Err(failed(why)),
            _ => {}
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(failed)?;
        let text = String::from_utf8(bytes);
        let text = text.map_err(|_| failed(io::Error::other("it is not the state of a replay: name another file")))?;
        let head = Head {
            hob_replay: VERSION,
            environment: format!("{environment:016x}"),
            project: identity.project.clone(),
            format: identity.format.clone(),
            api: identity.api,
        };
        let whole = text.rfind('\n').map_or(0, |at| at + 1);
        if whole == 0 && !text.is_empty() && !text.starts_with("{\"hob_replay") {
            return Err(failed(io::Error::other("it is not the state of a replay: name another file")));
        }
        file.set_len(whole as u64).map_err(failed)?;
        file.seek(SeekFrom::End(0)).map_err(failed)?;
        let mut lines = text[..whole].lines();
        match lines.next() {
            None => append(&mut file, &head).map_err(failed)?,
            Some(line) => check_head(line, &head).map_err(|why| failed(io::Error::other(why)))?,
        }
        let mut events: HashMap<String, Vec<Event>> = HashMap::new();
        for line in lines {
            // Lines of a later version are skipped, and their pipelines compiled again.
            if let Ok(Line { pipeline, event }) = serde_json::from_str(line) {
                events.entry(pipeline).or_default().push(event);
            }
        }
        Ok(Self { file: Some((file, path.into())), events })
    }

    /// The events of a pipeline in earlier runs.
    pub fn earlier(&self, key: &PipelineKey) -> &[Event] {
        self.events.get(&key.to_string()).map_or(&[], Vec::as_slice)
    }

    /// Keep an event.
    pub fn add(&mut self, key: &PipelineKey, event: Event) -> Result<()> {
        let Some((file, path)) = &mut self.file else { return Ok(()) };
        let line = Line { pipeline: key.to_string(), event };
        append(file, &line).map_err(|why| Failure::File(format!("cannot write the state '{}': {why}", path.display())))
    }
}

fn append(file: &mut File, line: &impl Serialize) -> io::Result<()> {
    let mut bytes = serde_json::to_vec(line)?;
    bytes.push(b'\n');
    file.write_all(&bytes)
}

fn check_head(line: &str, own: &Head) -> std::result::Result<(), String> {
    let Ok(head) = serde_json::from_str::<Head>(line) else {
        return Err("it is not the state of a replay: name another file".into());
    };
    if head.hob_replay != VERSION {
        return Err(format!("it has version {}, and hob reads version {VERSION}: name another file", head.hob_replay));
    }
    if head.environment != own.environment {
        let (theirs, own) = (head.environment, &own.environment);
        return Err(format!("it belongs to the driver {theirs}, and the builder's is {own}: name another file"));
    }
    if head != *own {
        return Err(format!("it belongs to the project {} ({}): name another file", head.project, head.format));
    }
    Ok(())
}
