//! Queries.

use std::ffi::c_char;

use hobgoblin_macros::{element, entry};

use super::create::hob_perception;
use super::image::hob_image;
use super::pipeline::hob_perception_pipeline_id;
use crate::base::{Result, Value, error};
use crate::ffi::base::guard::set_last_error;
use crate::ffi::base::out::Out;
use crate::ffi::base::result::hob_result;
use crate::ffi::base::structs::Versioned;
use crate::ffi::base::value::hob_value;
use crate::perception::Answer;

// == Experimental: Queries ==

/// Gets the value of a pipeline for the present frame, if the last frames agree on it.
/// `frames` is the number of frames that must agree, this one included, up to 64: 0 and 1 ask for no agreement. More
/// than hob_perception_desc.history + 1 makes the perception keep more frames, from the next one on. Computes what is
/// missing, also for past frames.
///
///     hob_value health_value;
///     if (hob_perception_query(eye, health, 3, &health_value) == HOB_RESULT_OK) react(health_value.number);
///
/// HOB_RESULT_NO_CONSENSUS: they do not agree, or not enough of them are known. HOB_RESULT_COGNITION_FAILED: see
/// hob_perception_get_failure. HOB_RESULT_NOT_FOUND: there is no such pipeline. HOB_RESULT_LIMIT_EXCEEDED: more than 64
/// frames, or they take more than hob_perception_desc.memory_limit, or than the host keeps
/// (hob_perception_desc.borrows_frames). Does not allocate, apart from the first computations for past frames.
///
/// Threads: exclusive. Callbacks: as hob_perception_begin_frame.
#[entry(exclusive, coded, quick = known(perception.perception.peek(pipeline.into(), frames), out_value), experimental)]
pub extern "C" fn hob_perception_query(
    perception: *mut hob_perception,
    pipeline: hob_perception_pipeline_id,
    frames: u32,
    out_value: *mut hob_value,
) -> hob_result {
    let answer = perception.with(|cell| {
        cell.calls.begin();
        cell.perception.query(pipeline.into(), frames)
    })?;
    Ok(written(answer, out_value))
}

/// Writes a value that is known.
fn known(value: Option<(Value, u64)>, out_value: Out<hob_value>) -> Option<hob_result> {
    let (value, _) = value?;
    out_value.write(value.into());
    Some(hob_result::Ok)
}

/// Gets the value of a pipeline for a past frame: `age` frames before the present one.
/// Computes it if it was not computed then. HOB_RESULT_LIMIT_EXCEEDED: so many past frames are not kept.
///
/// HOB_RESULT_NO_CONSENSUS: it cannot be known: the perception or all pipelines with these steps are younger, the
/// pipeline is not pure, or it has a tolerance. Other results as hob_perception_query. Threads: exclusive. Callbacks:
/// as hob_perception_begin_frame.
#[entry(exclusive, coded, experimental)]
pub extern "C" fn hob_perception_query_past(
    perception: *mut hob_perception,
    pipeline: hob_perception_pipeline_id,
    age: u32,
    out_value: *mut hob_value,
) -> hob_result {
    let answer = perception.with(|cell| {
        cell.calls.begin();
        cell.perception.query_past(pipeline.into(), age)
    })?;
    Ok(written(answer, out_value))
}

/// A question of hob_perception_query_many.
#[element(size = 16, last = reserved)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_perception_question {
    /// The pipeline.
    pub pipeline: hob_perception_pipeline_id,
    /// The number of frames that must agree.
    pub frames: u32,
    /// Must be 0.
    pub reserved: u32,
}

/// An answer of hob_perception_query_many.
#[element(size = 32, last = reserved)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_perception_answer {
    /// The value. All zero without HOB_RESULT_OK.
    pub value: hob_value,
    /// The first frame of the unbroken run of equal values. It may be later if older frames are not known.
    pub first_frame: u64,
    /// As the result of hob_perception_query.
    pub result: hob_result,
    /// 0.
    pub reserved: u32,
}

/// Gets the values of several pipelines: hob_perception_query for each question, in one call.
/// `question_stride` is sizeof(hob_perception_question), `answer_stride` sizeof(hob_perception_answer). `*out_count`
/// receives the number of answers, which is the number of questions. `answers` NULL asks only for that. If `capacity`
/// is too small, the result is HOB_RESULT_BUFFER_TOO_SMALL.
///
/// HOB_RESULT_OK also if questions have other results: see hob_perception_answer.result. Threads: exclusive. Callbacks:
/// as hob_perception_begin_frame.
#[entry(exclusive, experimental)]
pub extern "C" fn hob_perception_query_many(
    perception: *mut hob_perception,
    questions: *const hob_perception_question,
    question_stride: usize,
    question_count: usize,
    answers: *mut hob_perception_answer,
    answer_stride: usize,
    capacity: usize,
    out_count: *mut usize,
) -> hob_result {
    answers.fill_by_index(questions.len(), |place| {
        perception.with(|cell| {
            cell.calls.begin();
            for (at, question) in questions.iter().enumerate() {
                place(at, ask(cell.perception.query(question.pipeline.into(), question.frames)));
            }
            Ok(())
        })
    })
}

#[inline]
fn ask(answer: Result<Answer>) -> hob_perception_answer {
    let result = match answer.map(tell) {
        Ok(Ok((value, first_frame))) => {
            return hob_perception_answer { value: value.into(), first_frame, result: hob_result::Ok, reserved: 0 };
        }
        Ok(Err(code)) => code,
        Err(why) => crate::ffi::base::guard::report(&why),
    };
    hob_perception_answer { value: hob_value { words: [0; 2] }, first_frame: 0, result, reserved: 0 }
}

/// Writes the value of an answer, if it has one.
fn written(answer: Answer, out_value: Out<hob_value>) -> hob_result {
    match tell(answer) {
        Ok((value, _)) => {
            out_value.write(value.into());
            hob_result::Ok
        }
        Err(code) => code,
    }
}

/// The value of an answer, or the result code, with its sentence.
#[inline]
fn tell(answer: Answer) -> std::result::Result<(Value, u64), hob_result> {
    match answer {
        Answer::Value(value, first) => Ok((value, first)),
        other => Err(tell_why(other)),
    }
}

#[cold]
fn tell_why(answer: Answer) -> hob_result {
    let (code, sentence) = match answer {
        Answer::Value(..) => return hob_result::Ok,
        Answer::Differs => (hob_result::NoConsensus, "the last frames do not agree: ask again in the next frame"),
        Answer::Unknown => {
            (hob_result::NoConsensus, "not enough frames are known: begin a frame, or ask again in the next one")
        }
        Answer::Failed => {
            (hob_result::CognitionFailed, "a cognition of the pipeline failed: see hob_perception_get_failure")
        }
    };
    set_last_error(sentence);
    code
}

/// Gets the image of a pipeline for the present frame, as a view.
/// Computes it if it is missing. The view is valid until the next call on this perception that is not const.
///
///     hob_image mask = HOB_IMAGE_INIT;
///     if (hob_perception_get_image(eye, health_mask, &mask) == HOB_RESULT_OK) show(&mask);
///
/// HOB_RESULT_INVALID_ARGUMENT: its last step makes no image. Other results as hob_perception_query. Threads:
/// exclusive. Callbacks: as hob_perception_begin_frame.
#[entry(exclusive, coded, experimental)]
pub extern "C" fn hob_perception_get_image(
    perception: *mut hob_perception,
    pipeline: hob_perception_pipeline_id,
    out_image: *mut hob_image,
) -> hob_result {
    perception.with(|cell| {
        cell.calls.begin();
        let answer = cell.perception.query(pipeline.into(), 1)?;
        if let Err(code) = tell(answer) {
            return Ok(code);
        }
        let mut found = None;
        cell.perception.with_image(pipeline.into(), &mut |view| {
            let shape = view.shape();
            found = Some(hob_image {
                format: shape.format.into(),
                pixels: view.pixels().as_ptr().cast(),
                width: shape.width,
                height: shape.height,
                stride: view.stride(),
                chroma: if shape.format.has_chroma() { view.chroma().as_ptr().cast() } else { std::ptr::null() },
                chroma_stride: if shape.format.has_chroma() { view.chroma_stride() } else { 0 },
                ..hob_image::defaults()
            });
        })?;
        if let Some(found) = found {
            out_image.write(found);
            return Ok(hob_result::Ok);
        }
        Err(error!(InvalidArgument, "the last step of the pipeline makes no image: ask for its value"))
    })
}

/// Gets the reason why a pipeline failed, without a NUL.
/// Empty if it did not fail, or if the cognition gave no reason. `*out_size` receives the required size. `buffer` NULL
/// asks only for that. If `capacity` is too small, the result is HOB_RESULT_BUFFER_TOO_SMALL. HOB_RESULT_NOT_FOUND:
/// there is no such pipeline. Threads: shared.
#[entry(shared, experimental)]
pub extern "C" fn hob_perception_get_failure(
    perception: *const hob_perception,
    pipeline: hob_perception_pipeline_id,
    buffer: *mut c_char,
    capacity: usize,
    out_size: *mut usize,
) -> hob_result {
    buffer.text(perception.perception.failure(pipeline.into())?.as_str())
}
