//! Which pipeline compiles next, and the results so far.
//!
//! 1. Every pipeline compiles once, in as many builders as there are jobs.
//! 2. One that broke its builder compiles again, alone: in a fresh builder, while no other runs.
//! 3. One that broke that builder, too, is banned.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::time::Duration;

use futures_util::future::try_join_all;
use hobgoblin::pipeline::PipelineKey;
use tokio::time::sleep;

use super::bans::{Ban, Bans};
use super::builder::{Builder, Program};
use super::frames::{Answer, Hello};
use super::journal::{Event, Journal};
use crate::failure::{Failure, Result};
use crate::progress::Progress;

/// Builders that a pipeline breaks before it is banned.
const ATTEMPTS: usize = 2;
/// Attempts to start a builder after one broke: the driver may need a while to recover.
const STARTS: u32 = 5;
const PAUSE: Duration = Duration::from_millis(500);

/// A pipeline to compile.
pub struct Item {
    pub key: PipelineKey,
    pub kind: &'static str,
    /// Its frame to a builder.
    pub frame: Vec<u8>,
    strikes: usize,
}

impl Item {
    pub fn new(key: PipelineKey, kind: &'static str, frame: Vec<u8>) -> Self {
        Self { key, kind, frame, strikes: 0 }
    }
}

/// A pipeline that was compiled, or refused.
pub struct Compiled {
    pub key: PipelineKey,
    pub kind: &'static str,
    pub build_us: u64,
    /// Why the driver refused it. `None`: ready.
    pub refusal: Option<String>,
}

/// The results.
#[derive(Default)]
pub struct Results {
    pub compiled: Vec<Compiled>,
    pub banned: Vec<Ban>,
    /// Pipelines that were banned before, and not compiled.
    pub banned_before: u64,
    /// Results that an earlier run left in the state.
    pub resumed: u64,
    /// Pipelines that compiled at the second attempt.
    pub recovered: u64,
    /// Builders that broke.
    pub broken: u64,
}

/// The work that all jobs share.
pub struct Work {
    waiting: VecDeque<Item>,
    struck: VecDeque<Item>,
    pub results: Results,
    bans: Bans,
    journal: Journal,
    progress: Progress,
}

impl Work {
    /// Sort pipelines by their results in earlier runs.
    pub fn new(items: Vec<Item>, bans: Bans, journal: Journal, is_quiet: bool) -> Result<Self> {
        let progress = Progress::new("compiling", items.len() as u64, is_quiet);
        let (waiting, struck, results) = Default::default();
        let mut work = Self { waiting, struck, results, bans, journal, progress };
        for item in items {
            work.plan(item)?;
        }
        Ok(work)
    }

    fn plan(&mut self, mut item: Item) -> Result<()> {
        if self.bans.has(&item.key)? {
            self.results.banned_before += 1;
            return self.progress.step();
        }
        let mut last = String::new();
        for event in self.journal.earlier(&item.key).to_vec() {
            match event {
                Event::Strike { why } => (item.strikes, last) = (item.strikes + 1, why),
                done => {
                    self.results.resumed += 1;
                    self.keep(item, done);
                    return self.progress.step();
                }
            }
        }
        match item.strikes {
            0 => self.waiting.push_back(item),
            1..ATTEMPTS => self.struck.push_back(item),
            _ => self.ban(&item, &last)?,
        }
        Ok(())
    }

    fn keep(&mut self, item: Item, event: Event) {
        let (build_us, refusal) = match event {
            Event::Ready { build_us } => (build_us, None),
            Event::Failed { build_us, message } => (build_us, Some(message)),
            Event::Strike { .. } => return,
        };
        self.results.recovered += u64::from(item.strikes > 0);
        let Item { key, kind, .. } = item;
        self.results.compiled.push(Compiled { key, kind, build_us, refusal });
    }

    fn finish(&mut self, item: Item, answer: Answer) -> Result<()> {
        let event = Event::from(answer);
        self.journal.add(&item.key, event.clone())?;
        self.keep(item, event);
        self.progress.step()
    }

    fn strike(&mut self, mut item: Item, why: String) -> Result<()> {
        item.strikes += 1;
        self.results.broken += 1;
        if item.strikes >= ATTEMPTS {
            // First the ban: after a kill in between, the pipeline is banned again, and not lost.
            self.ban(&item, &why)?;
            return self.journal.add(&item.key, Event::Strike { why });
        }
        self.journal.add(&item.key, Event::Strike { why })?;
        self.struck.push_back(item);
        Ok(())
    }

    fn ban(&mut self, item: &Item, why: &str) -> Result<()> {
        let ban = self.bans.add(&item.key, why)?;
        self.results.banned.push(ban);
        self.progress.step()
    }
}

/// A fresh builder of the same driver.
async fn restart(program: &Program, hello: &Hello) -> Result<Builder> {
    let mut attempt = 1;
    loop {
        match Builder::start(program).await {
            Ok((builder, other)) if other.environment == hello.environment => return Ok(builder),
            Ok((builder, other)) => {
                builder.end().await;
                return Err(Failure::File(format!(
                    "the builder changed its environment from {:016x} to {:016x}: use one driver and device",
                    hello.environment, other.environment
                )));
            }
            Err(why) if attempt == STARTS => return Err(why),
            Err(_) => sleep(PAUSE).await,
        }
        attempt += 1;
    }
}

/// Compile a pipeline, noted in the quarantine meanwhile. The error says how the builder broke.
async fn compile(
    work: &RefCell<Work>,
    builder: &mut Builder,
    item: &Item,
) -> Result<std::result::Result<Answer, String>> {
    let token = work.borrow().bans.begin(&item.key);
    let answer = builder.compile(&item.frame, &item.key).await;
    work.borrow().bans.end(token, answer.as_ref().is_ok_and(|answer| answer.is_ready))?;
    Ok(answer)
}

/// Compile waiting pipelines in a builder, and in its successors after it broke.
async fn job(work: &RefCell<Work>, program: &Program, hello: &Hello, first: Option<Builder>) -> Result<()> {
    let mut current = first;
    loop {
        let Some(item) = work.borrow_mut().waiting.pop_front() else { break };
        let mut builder = match current.take() {
            Some(builder) => builder,
            None => restart(program, hello).await?,
        };
        match compile(work, &mut builder, &item).await? {
            Ok(answer) => {
                current = Some(builder);
                work.borrow_mut().finish(item, answer)?;
            }
            Err(why) => {
                builder.end().await;
                work.borrow_mut().strike(item, why)?;
            }
        }
    }
    if let Some(builder) = current {
        // Excess output after the last answer harms no pipeline.
        let _ = builder.finish().await;
    }
    Ok(())
}

/// Compile a pipeline in a builder of its own.
async fn compile_alone(work: &RefCell<Work>, program: &Program, hello: &Hello, item: Item) -> Result<()> {
    let mut builder = restart(program, hello).await?;
    let answer = match compile(work, &mut builder, &item).await? {
        Ok(answer) => builder.finish().await.map(|()| answer),
        Err(why) => {
            builder.end().await;
            Err(why)
        }
    };
    match answer {
        Ok(answer) => work.borrow_mut().finish(item, answer),
        Err(why) => work.borrow_mut().strike(item, why),
    }
}

/// Compile all pipelines. `first` is a builder that has exchanged hellos.
pub async fn compile_all(
    work: &RefCell<Work>,
    program: &Program,
    hello: &Hello,
    first: Builder,
    jobs: usize,
) -> Result<()> {
    let mut first = Some(first);
    let jobs = (0..jobs.max(1)).map(|_| job(work, program, hello, first.take()));
    try_join_all(jobs).await?;
    loop {
        let Some(item) = work.borrow_mut().struck.pop_front() else { break };
        compile_alone(work, program, hello, item).await?;
    }
    work.borrow_mut().bans.save()
}
