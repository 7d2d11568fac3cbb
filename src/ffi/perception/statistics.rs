//! Counts of a perception.

use std::ffi::c_char;
use std::fmt::{self, Write};

use hobgoblin_macros::{entry, versioned};

use super::create::hob_perception;
use super::host_cognition::HostCognition;
use super::pipeline::hob_perception_pipeline_id;
use crate::base::error;
use crate::base::json::{Room, Size, write_string};
use crate::ffi::base::result::hob_result;
use crate::ffi::base::structs::Versioned;
use crate::perception::Perception;

// == Experimental: Statistics ==

/// Counts of a perception since it was created, unless a field says otherwise.
/// An answer: set struct_size, or begin with HOB_PERCEPTION_STATISTICS_INIT.
#[versioned(size = 256, last = memory_used)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_perception_statistics {
    /// sizeof(hob_perception_statistics).
    pub struct_size: u32,
    /// 1: a hint of hob_frame.dirty was wrong under HOB_FRAME_TRUST_AUDIT, and everything is compared since.
    pub is_distrusted: u32,
    /// Pipelines now.
    pub pipelines: u64,
    /// Different steps now: those that pipelines share count once.
    pub steps: u64,
    /// Pipelines that were computed when the present frame began.
    pub prefetched: u64,
    /// Threads that could compute them: those of the executor.
    pub workers: u64,
    /// Frames.
    pub frames: u64,
    /// Frames whose results could be taken over.
    pub grafted_frames: u64,
    /// Queries.
    pub queries: u64,
    /// Runs of cognitions.
    pub runs: u64,
    /// Runs when frames began; `runs` includes them.
    pub prefetch_runs: u64,
    /// Runs for past frames; `runs` includes them.
    pub past_runs: u64,
    /// Runs to find cognitions that depend on more than they declare.
    pub audit_runs: u64,
    /// Cognitions that were found so. The log hook gets the name of each.
    pub findings: u64,
    /// Pixels that built-in cognitions read, and runs of the host's.
    pub operations: u64,
    /// Results that were taken over because their regions did not change.
    pub grafts: u64,
    /// Results that were taken over because the results of the step before were equal.
    pub cut_offs: u64,
    /// Results that were taken over from another place, by a move.
    pub moves: u64,
    /// Regions of the present frame that did not change.
    pub same_regions: u64,
    /// Regions of the present frame that changed.
    pub changed_regions: u64,
    /// Bytes that were compared.
    pub compared_bytes: u64,
    /// Bytes that were copied to keep frames. 0 with hob_perception_desc.borrows_frames.
    pub copied_bytes: u64,
    /// Times that a frame of another size or format began anew, the first frame included.
    pub restarts: u64,
    /// Share of the frames that were compared in each order, from HOB_COMPARE_ORDER_TOP_DOWN on.
    pub order_shares: [f64; 4],
    /// Mean duration of a frame whose results could be taken over, with its queries, in milliseconds.
    pub grafted_ms: f64,
    /// Mean duration of another frame, with its queries, in milliseconds.
    pub plain_ms: f64,
    /// Mean duration of compare and copy, in milliseconds.
    pub take_ms: f64,
    /// Mean duration of prefetch, in milliseconds.
    pub prefetch_ms: f64,
    /// Mean duration of a frame's queries, in milliseconds.
    pub query_ms: f64,
    /// Bytes of memory held, without what values and `user_data` refer to.
    pub memory_used: u64,
}

/// Gets the counts of a perception.
/// Frames per second are 1000 / `grafted_ms`, and 1000 / `plain_ms`. Threads: shared.
#[entry(shared, experimental)]
pub extern "C" fn hob_perception_get_statistics(
    perception: *const hob_perception,
    out_statistics: *mut hob_perception_statistics,
) -> hob_result {
    out_statistics.write(statistics_of(&perception.perception));
    Ok(())
}

fn statistics_of(core: &Perception<HostCognition>) -> hob_perception_statistics {
    let (counters, frames) = (core.counters(), core.frames().counters());
    let [grafted, plain] = core.frame_counts();
    let [grafted_seconds, plain_seconds] = core.frame_seconds();
    let mean_ms = |seconds: f64, count: u64| if count == 0 { 0.0 } else { seconds * 1e3 / count as f64 };
    let compared = frames.frames_by_order.iter().sum::<u64>().max(1) as f64;
    hob_perception_statistics {
        is_distrusted: frames.is_distrusted.into(),
        pipelines: core.pipeline_count() as u64,
        steps: core.step_count() as u64,
        prefetched: core.prefetched() as u64,
        workers: core.workers() as u64,
        frames: frames.frames,
        grafted_frames: grafted,
        queries: counters.queries,
        runs: counters.runs,
        prefetch_runs: counters.prefetch_runs,
        past_runs: counters.past_runs,
        audit_runs: counters.audit_runs,
        findings: core.accused().count() as u64,
        operations: counters.operations,
        grafts: counters.grafts,
        cut_offs: counters.cut_offs,
        moves: counters.moved,
        same_regions: frames.same_regions,
        changed_regions: frames.changed_regions,
        compared_bytes: frames.compared_bytes,
        copied_bytes: frames.copied_bytes,
        restarts: frames.restarts,
        order_shares: frames.frames_by_order.map(|count| count as f64 / compared),
        grafted_ms: mean_ms(grafted_seconds, grafted),
        plain_ms: mean_ms(plain_seconds, plain),
        take_ms: mean_ms(counters.take_seconds, frames.frames),
        prefetch_ms: mean_ms(counters.prefetch_seconds, frames.frames),
        query_ms: mean_ms(counters.query_seconds, frames.frames),
        memory_used: core.memory_used() as u64,
        ..hob_perception_statistics::defaults()
    }
}

/// Counts of a pipeline since it was added.
/// An answer: set struct_size, or begin with HOB_PERCEPTION_PIPELINE_STATISTICS_INIT.
#[versioned(size = 40, last = mean_ns)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_perception_pipeline_statistics {
    /// sizeof(hob_perception_pipeline_statistics).
    pub struct_size: u32,
    /// 1: it is computed when a frame begins.
    pub is_prefetched: u32,
    /// Queries.
    pub queries: u64,
    /// Different values in the kept frames, as far as they were computed.
    pub variations: u64,
    /// The first frame of the unbroken run of equal values. It may be later if older frames are not known. 0: it has no
    /// value.
    pub first_frame: u64,
    /// Mean duration of a run of its last step in nanoseconds. 0: not known.
    pub mean_ns: f64,
}

/// Gets the counts of a pipeline.
/// HOB_RESULT_NOT_FOUND: there is no such pipeline. Threads: shared.
#[entry(shared, experimental)]
pub extern "C" fn hob_perception_get_pipeline_statistics(
    perception: *const hob_perception,
    pipeline: hob_perception_pipeline_id,
    out_statistics: *mut hob_perception_pipeline_statistics,
) -> hob_result {
    let found = perception.perception.pipeline_counts(pipeline.into())?;
    out_statistics.write(hob_perception_pipeline_statistics {
        is_prefetched: found.is_prefetched.into(),
        queries: found.queries,
        variations: found.variations as u64,
        first_frame: found.first_frame,
        mean_ns: found.mean_ns.into(),
        ..hob_perception_pipeline_statistics::defaults()
    });
    Ok(())
}

/// Saves all counts as JSON, without a NUL.
/// An object with the fields of hob_perception_statistics, apart from `struct_size`. Its "pipeline_statistics" is an
/// array of objects with "name", "state" and the fields of hob_perception_pipeline_statistics.
///
/// `*out_size` receives the required size. `buffer` NULL asks only for that. If `capacity` is too small, the result is
/// HOB_RESULT_BUFFER_TOO_SMALL. Threads: shared.
#[entry(shared, experimental)]
pub extern "C" fn hob_perception_save_json(
    perception: *const hob_perception,
    buffer: *mut c_char,
    capacity: usize,
    out_size: *mut usize,
) -> hob_result {
    let core = &perception.perception;
    let mut size = Size(0);
    let _ = write_json(core, &mut size);
    buffer.fill(size.0, |bytes| {
        let mut room = Room { left: bytes };
        write_json(core, &mut room).map_err(|_| error!(BufferTooSmall, "the buffer is too small"))?;
        Ok(size.0)
    })
}

/// Writes fields of a struct as members of a JSON object.
macro_rules! write_fields {
    ($out:ident, $of:ident: $($name:ident)*) => {
        for (name, number) in [$((stringify!($name), $of.$name as f64)),*] {
            write!($out, "\"{name}\": {number}, ")?;
        }
    };
}

fn write_json(core: &Perception<HostCognition>, out: &mut dyn Write) -> fmt::Result {
    let of = statistics_of(core);
    out.write_char('{')?;
    write_fields!(out, of: is_distrusted pipelines steps prefetched workers frames grafted_frames queries runs
        prefetch_runs past_runs audit_runs findings operations grafts cut_offs moves same_regions changed_regions
        compared_bytes copied_bytes restarts grafted_ms plain_ms take_ms prefetch_ms query_ms memory_used);
    let [top_down, ends_in, middle_out, bit_reversed] = of.order_shares;
    write!(
        out,
        "\"order_shares\": [{top_down}, {ends_in}, {middle_out}, {bit_reversed}],\n\"pipeline_statistics\": ["
    )?;
    let mut before = "\n";
    core.each_pipeline(&mut |pipeline, of| {
        write!(out, "{before}{{")?;
        let is_prefetched = u8::from(of.is_prefetched);
        write_fields!(out, of: queries variations first_frame mean_ns);
        write!(out, "\"is_prefetched\": {is_prefetched}, \"name\": ")?;
        write_string(&pipeline.name, out)?;
        out.write_str(", \"state\": ")?;
        write_string(&pipeline.state, out)?;
        before = ",\n";
        out.write_char('}')
    })?;
    out.write_str("\n]}\n")
}
