//! Experimental: Vision over a stream of frames, which looks only at what changed.
//!
//! ```c
//! // hob_result read_health(void *user_data, hob_cognition_call *call) {
//! //     call->value.number = digits_in(call->inputs[0].pixels, call->inputs[0].stride);
//! //     return HOB_RESULT_OK;
//! // }
//! hob_perception *eye = NULL;
//! if (hob_perception_create(NULL, &eye) != HOB_RESULT_OK) fail(hob_last_error());
//!
//! hob_cognition_desc cognition = HOB_COGNITION_DESC_INIT;
//! cognition.flags = HOB_COGNITION_PURE;             /* it runs only after a change in its region */
//! cognition.perceive = read_health;
//! hob_cognition_id reader;
//! hob_perception_add_cognition(eye, &cognition, &reader);
//!
//! hob_perception_step step = {reader, {90, 171, 48, 16}, NULL, 0, 0, 0};
//! hob_perception_pipeline_desc pipeline = HOB_PERCEPTION_PIPELINE_DESC_INIT;
//! pipeline.name = HOB_STR("health");
//! pipeline.steps = &step;
//! pipeline.step_count = 1;
//! hob_perception_pipeline_id health;
//! hob_perception_add_pipeline(eye, &pipeline, &health);
//!
//! /* for each frame: */
//! hob_frame frame = HOB_FRAME_INIT;
//! frame.pixels = pixels, frame.width = 320, frame.height = 200;
//! if (hob_perception_begin_frame(eye, &frame, NULL) != HOB_RESULT_OK) fail(hob_last_error());
//! hob_value value;                                  /* three frames must agree: */
//! if (hob_perception_query(eye, health, 3, &value) == HOB_RESULT_OK) react(value.number);
//! ```
//!
//! Terms:
//! - Cognition: an operation that computes a value or an image: a callback of the host, or a built-in one.
//! - Perception: a value or an image that a cognition computed, and the handle that manages all of them.
//! - Pipeline: cognitions one after the other. The first one reads the frame, or the results of other pipelines.
//! - Region: the rectangle of its input that a step reads. The step does not depend on other pixels.
//! - Graft: to take over the result of the last frame, because no pixel of the region changed.
//! - Prefetch: to compute pipelines when the frame begins, on several threads, before they are asked for.
//! - Consensus: a value counts only if the last frames agree on it.
//!
//! docs/perception.md has the details.

mod image;
mod create;
mod borrowed;
mod cognition;
mod operator;
mod pipeline;
mod host_cognition;
mod frame;
mod query;
mod statistics;
mod overlay;
