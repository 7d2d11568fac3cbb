//! Requests while 10,000 pipelines are queued, on a virtual clock.

use super::super::{Entry, Mode, Options, Order, Outcome, Pace, Paces, PipelineKey, Precompiler, State};
use super::trace::BUILD_US;

const QUEUED: u32 = 10_000;

/// How long requested pipelines waited.
#[derive(Clone, Copy, Debug, Default)]
pub struct Waits {
    /// Jobs of pipelines that were not requested and started between a request and its job.
    pub overtaken: u32,
    /// Most builds of one worker that a request waited for, without its own.
    pub worst_builds: u32,
    /// The mean and the longest time from a request to the end of its build, in microseconds.
    pub mean_us: u64,
    pub worst_us: u64,
}

fn key(number: u32) -> PipelineKey {
    PipelineKey::of(&u64::from(number).to_le_bytes())
}

fn build_us(index: u32) -> u64 {
    BUILD_US[index as usize * 7 % BUILD_US.len()]
}

/// Request the pipelines at the end of the queue, one after the other, while these workers always have a job.
pub fn request_under_load(workers: usize, requests: u32) -> Waits {
    let pace = Pace { batch: 0, time_us: 0 };
    let paces = Paces { background: pace, ..Paces::default() };
    let options = Options { mode: Mode::Background, order: Order::File, paces, ..Options::default() };
    let precompiler = Precompiler::new(options).expect("memory");
    for number in 0..QUEUED {
        precompiler.add(&Entry { key: key(number), ..Entry::default() }).expect("memory");
    }
    precompiler.step(None);
    // The end of each running job, and the job.
    let mut running = Vec::new();
    let start = |now: u64, running: &mut Vec<_>| {
        let job = precompiler.take().expect("pipelines are queued");
        running.push((now + build_us(job.index), job));
        job.key
    };
    (0..workers).for_each(|_| _ = start(0, &mut running));
    let (mut waits, mut now, mut total_us) = (Waits::default(), 0, 0);
    for request in 0..requests {
        let wanted = key(QUEUED - 1 - request);
        let requested_at = now;
        assert_eq!(precompiler.request(&wanted), State::Queued);
        let (mut has_started, mut ended_before) = (false, 0);
        loop {
            let next = (0..running.len()).min_by_key(|&at| running[at].0).expect("workers run");
            let (end, job) = running.swap_remove(next);
            now = end;
            precompiler.finish(&job, Outcome::Ok, build_us(job.index)).expect("it runs");
            if job.key == wanted {
                start(now, &mut running);
                break;
            }
            ended_before += u32::from(!has_started);
            let started = start(now, &mut running);
            waits.overtaken += u32::from(!has_started && started != wanted);
            has_started |= started == wanted;
        }
        waits.worst_builds = waits.worst_builds.max(ended_before);
        waits.worst_us = waits.worst_us.max(now - requested_at);
        total_us += now - requested_at;
    }
    waits.mean_us = total_us / u64::from(requests.max(1));
    waits
}
