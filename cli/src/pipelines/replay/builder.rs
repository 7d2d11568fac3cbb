//! A builder: a child process that compiles pipelines. It has a process group of its own, which ends with it.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::sleep;
use std::time::Duration;

use futures_util::future::try_join;
use hobgoblin::pipeline::PipelineKey;
#[cfg(windows)]
use process_wrap::tokio::JobObject;
#[cfg(unix)]
use process_wrap::tokio::ProcessGroup;
use process_wrap::tokio::{ChildWrapper, CommandWrap, KillOnDrop};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::frames::{self, Answer, Hello, Invalid, MOST_ANSWER};
use crate::failure::{Failure, Result};

/// Bytes of standard error that are kept, the last ones.
const MOST_ERRORS: usize = 2048;
/// Time for the rest of an answer after a builder has exited. A process that it started may hold its pipes open for ever.
const LAST_WORDS: Duration = Duration::from_millis(200);
/// Longest wait for a builder to exit after its input has ended, or after it was killed.
const GRACE: Duration = Duration::from_secs(2);

const CANNOT_START: &str = "cannot start the builder";

/// A builder that the operating system does not start.
pub fn cannot_start(program: &Path, why: &io::Error) -> Failure {
    let advice = "name an executable file, with its folder unless it is in the PATH";
    Failure::File(format!("{CANNOT_START} '{}': {why}; {advice}", program.display()))
}

/// How to start a builder.
pub struct Program {
    pub path: PathBuf,
    pub arguments: Vec<OsString>,
    /// The first frame to it.
    pub hello: Vec<u8>,
    /// Longest wait for an answer.
    pub limit: Duration,
}

/// A running builder. Dropping it kills its process group.
pub struct Builder {
    child: Box<dyn ChildWrapper>,
    input: Option<ChildStdin>,
    output: ChildStdout,
    errors: Arc<Mutex<Vec<u8>>>,
    /// Reads standard error until it ends.
    reading: JoinHandle<()>,
    limit: Duration,
}

/// Why a builder did not answer.
enum Silence {
    Ended,
    TimedOut,
    Broken(Invalid),
}

impl Builder {
    /// Start a builder, and exchange hellos.
    pub async fn start(program: &Program) -> Result<(Self, Hello)> {
        let mut builder = Self::spawn(program)?;
        let shown = program.path.display();
        let failed = |why: String| Failure::File(format!("the builder '{shown}' cannot be used: {why}"));
        let first = match builder.exchange(&program.hello).await {
            Ok(frame) => frames::read_hello(&frame).map_err(Silence::Broken),
            Err(silence) => Err(silence),
        };
        match first {
            Ok(hello) => Ok((builder, hello)),
            Err(Silence::Broken(Invalid::Refused(why))) => Err(failed(why)),
            Err(silence) => {
                let why = builder.explain(silence).await;
                builder.end().await;
                if let Some(at) = why.find(CANNOT_START) {
                    return Err(Failure::File(why[at..].into()));
                }
                Err(failed(format!("{why}; it must speak the protocol of docs/replay.md")))
            }
        }
    }

    fn spawn(program: &Program) -> Result<Self> {
        #[cfg(target_os = "linux")]
        let (path, arguments) = super::launch::command_line(&program.path, &program.arguments);
        #[cfg(not(target_os = "linux"))]
        let (path, arguments) = (&program.path, &program.arguments);
        let mut command = CommandWrap::with_new(path, |command| {
            command.args(arguments);
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        });
        command.wrap(KillOnDrop);
        #[cfg(unix)]
        command.wrap(ProcessGroup::leader());
        #[cfg(windows)]
        command.wrap(JobObject);
        let failed = |why: io::Error| cannot_start(&program.path, &why);
        let mut child = command.spawn().map_err(failed)?;
        let (input, output, errors) = (child.stdin().take(), child.stdout().take(), child.stderr().take());
        let (Some(output), Some(errors)) = (output, errors) else {
            return Err(failed(io::Error::other("it has no pipes")));
        };
        let kept = Arc::new(Mutex::new(Vec::new()));
        let reading = tokio::spawn(keep_errors(errors, kept.clone()));
        Ok(Self { child, input, output, errors: kept, reading, limit: program.limit })
    }

    /// Compile a pipeline. The error says how the builder broke; it must be ended then.
    pub async fn compile(&mut self, frame: &[u8], key: &PipelineKey) -> std::result::Result<Answer, String> {
        let answer = match self.exchange(frame).await {
            Ok(frame) => frames::read_answer(&frame, key).map_err(Silence::Broken),
            Err(silence) => Err(silence),
        };
        match answer {
            Ok(answer) => Ok(answer),
            Err(silence) => Err(self.explain(silence).await),
        }
    }

    /// Send a frame, and read its answer. Both at the same time, so that no full pipe blocks.
    async fn exchange(&mut self, frame: &[u8]) -> std::result::Result<Vec<u8>, Silence> {
        let Self { child, input, output, limit, .. } = self;
        let send = async {
            // After a failure the output ends, or has the reason.
            if let Some(input) = input {
                let _ = input.write_all(frame).await;
            }
            Ok(())
        };
        let exited = async {
            let _ = child.inner_mut().wait().await;
            tokio::time::sleep(LAST_WORDS).await;
        };
        tokio::select! {
            biased;
            both = try_join(send, read_frame(output)) => both.map(|((), answer)| answer),
            () = exited => Err(Silence::Ended),
            () = tokio::time::sleep(*limit) => Err(Silence::TimedOut),
        }
    }

    async fn explain(&mut self, silence: Silence) -> String {
        let why = match silence {
            Silence::TimedOut => format!("it did not answer within {} s", self.limit.as_secs_f64()),
            Silence::Broken(Invalid::Refused(why) | Invalid::Rubbish(why)) => why,
            Silence::Ended => match timeout(GRACE, self.child.inner_mut().wait()).await {
                Ok(Ok(status)) => {
                    let _ = timeout(GRACE, &mut self.reading).await;
                    format!("it ended before its answer with {status}")
                }
                _ => "it closed its pipes before its answer".into(),
            },
        };
        let errors = self.errors.lock().unwrap_or_else(PoisonError::into_inner);
        let errors = String::from_utf8_lossy(&errors);
        match errors.lines().map(frames::printable).rfind(|line| !line.is_empty()) {
            Some(last) => format!("{why}: {last}"),
            None => why,
        }
    }

    /// Let the builder exit, and check that its output ends. The error says how it went on.
    pub async fn finish(mut self) -> std::result::Result<(), String> {
        self.input = None;
        let mut more = [0];
        let ended = timeout(GRACE, self.output.read(&mut more)).await;
        let went_on = matches!(ended, Ok(Ok(1)));
        // A driver may need long to unload, or crash then: all pipelines have their results.
        let _ = timeout(GRACE, self.child.inner_mut().wait()).await;
        self.end().await;
        if went_on { Err("it wrote more than one answer".into()) } else { Ok(()) }
    }

    /// Kill the process group, and wait until its leader has exited.
    pub async fn end(mut self) {
        let _ = self.child.start_kill();
        // A process that is stuck in a driver cannot end: the operating system ends it later.
        let _ = timeout(GRACE, self.child.inner_mut().wait()).await;
    }
}

impl Drop for Builder {
    fn drop(&mut self) {
        let _ = self.child.start_kill();
        for _ in 0..50 {
            if !matches!(self.child.inner_mut().try_wait(), Ok(None)) {
                return;
            }
            sleep(Duration::from_millis(2));
        }
    }
}

/// A frame without its length.
async fn read_frame(output: &mut ChildStdout) -> std::result::Result<Vec<u8>, Silence> {
    let mut length = [0; 4];
    output.read_exact(&mut length).await.map_err(|_| Silence::Ended)?;
    let length = u32::from_le_bytes(length) as usize;
    if length > MOST_ANSWER {
        let why = format!("it answered rubbish: a frame of {length} bytes, of at most {MOST_ANSWER}");
        return Err(Silence::Broken(Invalid::Rubbish(why)));
    }
    let mut frame = vec![0; length];
    output.read_exact(&mut frame).await.map_err(|_| Silence::Ended)?;
    Ok(frame)
}

/// Read all of standard error, so that the builder never waits for it, and keep its end.
async fn keep_errors(mut errors: ChildStderr, kept: Arc<Mutex<Vec<u8>>>) {
    let mut piece = vec![0; 4096];
    while let Ok(count @ 1..) = errors.read(&mut piece).await {
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(&piece[..count]);
        let excess = kept.len().saturating_sub(MOST_ERRORS);
        kept.drain(..excess);
    }
}
