// hobgoblin/perception.h: Experimental: Vision over a stream of frames, which looks only at what changed.
//
//     // hob_result read_health(void *user_data, hob_cognition_call *call) {
//     //     call->value.number = digits_in(call->inputs[0].pixels, call->inputs[0].stride);
//     //     return HOB_RESULT_OK;
//     // }
//     hob_perception *eye = NULL;
//     if (hob_perception_create(NULL, &eye) != HOB_RESULT_OK) fail(hob_last_error());
//
//     hob_cognition_desc cognition = HOB_COGNITION_DESC_INIT;
//     cognition.flags = HOB_COGNITION_PURE;             /* it runs only after a change in its region */
//     cognition.perceive = read_health;
//     hob_cognition_id reader;
//     hob_perception_add_cognition(eye, &cognition, &reader);
//
//     hob_perception_step step = {reader, {90, 171, 48, 16}, NULL, 0, 0, 0};
//     hob_perception_pipeline_desc pipeline = HOB_PERCEPTION_PIPELINE_DESC_INIT;
//     pipeline.name = HOB_STR("health");
//     pipeline.steps = &step;
//     pipeline.step_count = 1;
//     hob_perception_pipeline_id health;
//     hob_perception_add_pipeline(eye, &pipeline, &health);
//
//     /* for each frame: */
//     hob_frame frame = HOB_FRAME_INIT;
//     frame.pixels = pixels, frame.width = 320, frame.height = 200;
//     if (hob_perception_begin_frame(eye, &frame, NULL) != HOB_RESULT_OK) fail(hob_last_error());
//     hob_value value;                                  /* three frames must agree: */
//     if (hob_perception_query(eye, health, 3, &value) == HOB_RESULT_OK) react(value.number);
//
// Terms:
// - Cognition: an operation that computes a value or an image: a callback of the host, or a built-in one.
// - Perception: a value or an image that a cognition computed, and the handle that manages all of them.
// - Pipeline: cognitions one after the other. The first one reads the frame, or the results of other pipelines.
// - Region: the rectangle of its input that a step reads. The step does not depend on other pixels.
// - Graft: to take over the result of the last frame, because no pixel of the region changed.
// - Prefetch: to compute pipelines when the frame begins, on several threads, before they are asked for.
// - Consensus: a value counts only if the last frames agree on it.
//
// docs/perception.md has the details.
//
// Generated from src/ffi/perception; do not edit. MIT OR Apache-2.0.

#ifndef HOBGOBLIN_PERCEPTION_H
#define HOBGOBLIN_PERCEPTION_H

#include "base.h"
#include "executor.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- Experimental: Images -------------------------------------------------------------------------------------------

/// How pixels lie in memory.
/// The names give the order of the bytes.
typedef enum hob_pixel_format {
    /// In images: HOB_PIXEL_FORMAT_BGRX8. For hob_cognition_desc.image_format: the format of the first input.
    HOB_PIXEL_FORMAT_DEFAULT = 0,
    /// Blue, green, red, and a byte that is ignored.
    HOB_PIXEL_FORMAT_BGRX8 = 1,
    /// Red, green, blue, and a byte that is ignored.
    HOB_PIXEL_FORMAT_RGBX8 = 2,
    /// Blue, green, red, alpha. Alpha is ignored.
    HOB_PIXEL_FORMAT_BGRA8 = 3,
    /// Red, green, blue, alpha. Alpha is ignored.
    HOB_PIXEL_FORMAT_RGBA8 = 4,
    /// Blue, green, red.
    HOB_PIXEL_FORMAT_BGR8 = 5,
    /// Red, green, blue.
    HOB_PIXEL_FORMAT_RGB8 = 6,
    /// One byte of brightness.
    HOB_PIXEL_FORMAT_GRAY8 = 7,
    /// 16 bits in the machine's order: 5 of red, which are the highest, 6 of green, 5 of blue.
    HOB_PIXEL_FORMAT_RGB565 = 8,
    /// A plane of brightness; then, in `chroma`, one of half the width and height with pairs of U and V.
    HOB_PIXEL_FORMAT_NV12 = 9,
    /// One number of 32 bits in the machine's order: counts. Only images that cognitions make have it. Of the built-in
    /// cognitions only HOB_OPERATOR_CROP takes it.
    HOB_PIXEL_FORMAT_COUNT32 = 10,
} hob_pixel_format;

/// A rectangle of pixels.
typedef struct hob_rect {
    /// The first column.
    uint32_t x;
    /// The first row.
    uint32_t y;
    /// Number of columns.
    uint32_t width;
    /// Number of rows.
    uint32_t height;
} hob_rect;

/// An image in memory.
/// A width or height of 0 is an error, and so is `pixels` NULL.
typedef struct hob_image {
    /// sizeof(hob_image).
    uint32_t struct_size;
    /// Default HOB_PIXEL_FORMAT_BGRX8.
    hob_pixel_format format;
    /// The first pixel.
    const void *pixels;
    /// Number of columns: 1 to 32768.
    uint32_t width;
    /// Number of rows: 1 to 32768.
    uint32_t height;
    /// Bytes from one row to the next. Default 0: rows without gaps.
    size_t stride;
    /// For HOB_PIXEL_FORMAT_NV12: the first pair of colour differences. Otherwise NULL.
    const void *chroma;
    /// Bytes from one row of `chroma` to the next. Default 0: rows without gaps.
    size_t chroma_stride;
} hob_image;

// ---- Experimental: Create and destroy -------------------------------------------------------------------------------

/// A perception.
/// A handle: see "Handles" in base.h.
typedef struct hob_perception hob_perception;

/// Whether something is done.
typedef enum hob_perception_choice {
    /// If measurements say so.
    HOB_PERCEPTION_CHOICE_MEASURED = 0,
    /// Always.
    HOB_PERCEPTION_CHOICE_ALWAYS = 1,
    /// Never.
    HOB_PERCEPTION_CHOICE_NEVER = 2,
} hob_perception_choice;

/// The order in which the rows of regions are compared with those of the last frame.
typedef enum hob_compare_order {
    /// The order that found differences in the fewest rows.
    HOB_COMPARE_ORDER_MEASURED = 0,
    /// From the top to the bottom.
    HOB_COMPARE_ORDER_TOP_DOWN = 1,
    /// From both ends to the middle.
    HOB_COMPARE_ORDER_ENDS_IN = 2,
    /// From the middle to both ends.
    HOB_COMPARE_ORDER_MIDDLE_OUT = 3,
    /// By the reversed bits of the row's number.
    HOB_COMPARE_ORDER_BIT_REVERSED = 4,
} hob_compare_order;

/// Parameters of a perception.
typedef struct hob_perception_desc {
    /// sizeof(hob_perception_desc).
    uint32_t struct_size;
    /// Past frames whose pixels are kept, at most 63. Queries that ask for more frames raise it, unless
    /// `borrows_frames` is set. 0: the default, 2.
    uint32_t history;
    /// Limit of the bytes of kept frames. Default 0: no limit.
    uint64_t memory_limit;
    /// Whether results are taken over from the last frame where nothing changed. Default
    /// HOB_PERCEPTION_CHOICE_MEASURED: by the measured time of whole frames, queries included.
    hob_perception_choice graft;
    /// Whether pipelines are computed when a frame begins. Default HOB_PERCEPTION_CHOICE_MEASURED: those that were
    /// asked for in most of the last frames. For HOB_PERCEPTION_CHOICE_ALWAYS, all but those with HOB_PREFETCH_NEVER.
    hob_perception_choice prefetch;
    /// The order of compares. Default HOB_COMPARE_ORDER_MEASURED.
    hob_compare_order compare_order;
    /// Prefetch is omitted if few pipelines remain to be computed.
    /// Few are at most 1 / `prefetch_divisor` of the pipelines that are prefetched, or of the executor's threads; both
    /// divisions round down. 0: the default, 3. UINT32_MAX: it is never omitted.
    uint32_t prefetch_divisor;
    /// Share of a frame's steps that are computed again, to find wrong regions and flags: 0 to 1. Default 0.
    /// The results of a cognition with a wrong declaration are not taken over any more. With 0.02 each step is checked
    /// once in about 50 frames.
    double audit_share;
    /// 1: the seed's table chooses whether results are taken over. 0: accounts do; see balance.h. Default 0.
    uint32_t uses_table;
    /// 1: frames are borrowed, not copied (zero-copy). In each call, the pixels of the last `history` + 1 frames of the
    /// same size and format, the new one included, must be readable and unchanged. Rotate `history` + 1 buffers, or one
    /// more if the next frame is written while queries run. Default 0: frames are copied, and their memory may be
    /// reused after hob_perception_begin_frame. docs/perception.md has an example.
    uint32_t borrows_frames;
} hob_perception_desc;

/// Creates a perception without cognitions.
/// `desc` may be NULL: defaults. On success `*out_perception` is the caller's to destroy.
///
///     hob_perception *eye = NULL;
///     if (hob_perception_create(NULL, &eye) != HOB_RESULT_OK) fail(hob_last_error());
///
/// Threads: any.
HOB_NODISCARD HOB_EXPERIMENTAL_API hob_result hob_perception_create(
    const hob_perception_desc *desc, hob_perception **out_perception);

/// Destroys a perception with its cognitions; NULL is allowed.
/// Owned values are released, then each cognition's `user_data`. Inside its own callbacks the call does nothing, and
/// hob_last_error says so. Threads: no call on it may run on another thread.
HOB_EXPERIMENTAL_API void hob_perception_destroy(hob_perception *perception);

// ---- Experimental: Cognitions of the host ---------------------------------------------------------------------------

/// A cognition of a perception.
/// All zero is no cognition.
typedef struct hob_cognition_id {
    /// Its place, from 1 on; 0 is no cognition.
    uint32_t index1;
    /// Distinguishes it from earlier cognitions at that place.
    uint32_t generation;
} hob_cognition_id;

/// hob_cognition_desc.flags: the result depends only on the regions of its inputs, and on its parameters.
/// Without it the cognition runs in every frame in which its result is needed.
#define HOB_COGNITION_PURE 1

/// hob_cognition_desc.flags: the result does not depend on where the region is.
/// With HOB_COGNITION_PURE, the results of pixels that moved are taken over from their old place.
#define HOB_COGNITION_INVARIANT 2

/// hob_cognition_desc.flags: it makes an image.
#define HOB_COGNITION_IMAGE 4

/// hob_cognition_desc.flags: each pixel of its image depends only on the pixels of the inputs at the same place.
/// "The same place" is a square of `scale` times `scale` pixels, and `support` pixels around it. Then later steps run
/// only if pixels changed on which their own region depends. Such a cognition has no value: it is not passed on.
#define HOB_COGNITION_LOCAL 8

/// hob_cognition_desc.flags: the value is a handle of the host that the perception owns.
/// It is passed to `release_value` when no kept frame has it any more. It is not all zero, and each run makes another
/// one.
#define HOB_COGNITION_OWNED 16

/// The region of an input that a running cognition reads.
typedef struct hob_cognition_input {
    /// The first pixel of the region. NULL: the input has no image.
    const void *pixels;
    /// For HOB_PIXEL_FORMAT_NV12: its first pair of colour differences. Otherwise NULL.
    const void *chroma;
    /// Bytes from one row to the next.
    size_t stride;
    /// Bytes from one row of `chroma` to the next.
    size_t chroma_stride;
    /// The format of the pixels.
    hob_pixel_format format;
    /// Columns of the region.
    uint32_t width;
    /// Rows of the region.
    uint32_t height;
    /// Columns to the left of the region that can be read too. At most hob_cognition_desc.support, as all four.
    uint32_t left;
    /// Rows above it.
    uint32_t top;
    /// Columns to the right of it.
    uint32_t right;
    /// Rows below it.
    uint32_t bottom;
    /// Must be 0.
    uint32_t reserved;
} hob_cognition_input;

/// Inputs and results of a running cognition: the argument of hob_cognition_desc.perceive.
/// All pointers are valid during the call.
typedef struct hob_cognition_call {
    /// sizeof(hob_cognition_call) of the library.
    uint32_t struct_size;
    /// Number of inputs, at least 1.
    uint32_t input_count;
    /// Its inputs. A newer library's elements may be larger: go from one to the next by `input_stride`.
    const hob_cognition_input *inputs;
    /// Bytes from one input to the next.
    size_t input_stride;
    /// The values of the inputs; all zero for the frame.
    const hob_value *values;
    /// hob_perception_step.parameters.
    const void *parameters;
    /// Bytes of `parameters`.
    size_t parameters_size;
    /// The number of the frame, from 1 on. It may be a past one.
    uint64_t frame;
    /// An executor for loops inside the cognition: that of hob_perception_begin_frame. NULL: other cognitions use it
    /// now.
    const hob_executor *executor;
    /// The image to write, for HOB_COGNITION_IMAGE. Its bytes are not those of the last run. Otherwise NULL.
    void *image;
    /// Its plane of colour differences, for HOB_PIXEL_FORMAT_NV12. Otherwise NULL.
    void *image_chroma;
    /// Bytes from one row of `image` to the next.
    size_t image_stride;
    /// Bytes from one row of `image_chroma` to the next.
    size_t image_chroma_stride;
    /// The format of `image`.
    hob_pixel_format image_format;
    /// Columns of `image`.
    uint32_t image_width;
    /// Rows of `image`.
    uint32_t image_height;
    /// Bytes of `message`.
    uint32_t message_capacity;
    /// The value to write. At first all zero.
    hob_value value;
    /// For a failure: write the reason here, ended by NUL. At first empty.
    char *message;
} hob_cognition_call;

/// Parameters of a cognition.
typedef struct hob_cognition_desc {
    /// sizeof(hob_cognition_desc).
    uint32_t struct_size;
    /// HOB_COGNITION_ bits. Default 0.
    uint32_t flags;
    /// A name for messages. Default empty.
    hob_str name;
    /// Computes value and image. Must be set. HOB_RESULT_OK: they are written. Another result: it failed.
    /// Runs inside hob_perception_begin_frame and the queries: on their thread, and on threads of the executor. It may
    /// run on several threads at once, for different steps. It must not call its own perception.
    hob_result (*perceive)(void *user_data, hob_cognition_call *call);
    /// Passed to the callbacks.
    void *user_data;
    /// Called exactly once, when the perception is destroyed, after all other callbacks. May be NULL.
    void (*release)(void *user_data);
    /// Not 0 if two values mean the same. NULL: their bytes are compared. Runs on the thread of the call.
    uint32_t (*is_equal)(void *user_data, const hob_value *one, const hob_value *other);
    /// For HOB_COGNITION_OWNED: releases a value. Runs on the thread of the call, and in hob_perception_remove_pipeline
    /// and hob_perception_destroy.
    void (*release_value)(void *user_data, const hob_value *value);
    /// Pixels around its region that it also reads, where there are some. Default 0.
    uint32_t support;
    /// For HOB_COGNITION_LOCAL: pixels of the input, in each direction, for one pixel of the image. Default 0: 1.
    uint32_t scale;
    /// For HOB_COGNITION_IMAGE: its format. Default 0: that of the first input with an image.
    hob_pixel_format image_format;
    /// For HOB_COGNITION_IMAGE: its columns. Default 0: those of the region, divided by `scale` and rounded down. Must
    /// be 0 with HOB_COGNITION_LOCAL.
    uint32_t image_width;
    /// For HOB_COGNITION_IMAGE: its rows. Default 0: as `image_width`.
    uint32_t image_height;
    /// Expected duration of a run in nanoseconds, until one was measured at this size of frames. Default 0: not known.
    /// Prefetch then splits the steps over threads as well in the first frames as later. A past run of the host has it
    /// in hob_perception_pipeline_statistics.mean_ns.
    uint32_t cost_ns;
} hob_cognition_desc;

/// Adds a cognition of the host.
/// On success `*out_cognition` is its id, and `user_data` belongs to the perception.
///
///     hob_cognition_desc desc = HOB_COGNITION_DESC_INIT;
///     desc.name = HOB_STR("read health");
///     desc.flags = HOB_COGNITION_PURE;
///     desc.perceive = read_health;
///     if (hob_perception_add_cognition(eye, &desc, &reader) != HOB_RESULT_OK) fail(hob_last_error());
///
/// Threads: exclusive.
HOB_EXPERIMENTAL_API hob_result hob_perception_add_cognition(
    hob_perception *perception, const hob_cognition_desc *desc, hob_cognition_id *out_cognition);

// ---- Experimental: Built-in cognitions ------------------------------------------------------------------------------

/// A built-in cognition.
/// Padding and alpha are ignored. Only HOB_OPERATOR_CROP keeps them; in other images they are 255. Beyond the edges of
/// its region an image continues with the pixels of the edge. Images have the format of the input, unless a kind says
/// otherwise. Means in images are rounded to whole levels, halves up.
///
/// HOB_OPERATOR_DOWNSCALE, BOX, ERODE and DILATE do not take HOB_PIXEL_FORMAT_RGB565 and NV12, and HISTOGRAM not NV12.
typedef enum hob_operator {
    /// The region itself, as an image.
    HOB_OPERATOR_CROP = 0,
    /// Brightness by Rec. 601, as gray image: (77 red + 150 green + 29 blue + 128) / 256.
    HOB_OPERATOR_GRAY = 1,
    /// A gray image: 255 where `channel` is above `level`, 0 elsewhere.
    HOB_OPERATOR_THRESHOLD = 2,
    /// Of two inputs of the same size and format, a gray image: the largest difference of a channel. With
    /// HOB_OPERATOR_BINARY: 255 where it is above `level`, 0 elsewhere.
    HOB_OPERATOR_DIFFERENCE = 3,
    /// Each pixel is the mean of `factor` times `factor` pixels. Columns and rows that remain at the right and at the
    /// bottom are ignored.
    HOB_OPERATOR_DOWNSCALE = 4,
    /// Each pixel is the mean of a square with `radius` pixels on each side of the centre.
    HOB_OPERATOR_BOX = 5,
    /// Each channel is its minimum in such a square.
    HOB_OPERATOR_ERODE = 6,
    /// Each channel is its maximum in such a square.
    HOB_OPERATOR_DILATE = 7,
    /// An image of HOB_PIXEL_FORMAT_COUNT32 and width 256: how many pixels have each value. A row for gray, or rows for
    /// red, green and blue. `number` of its value is the number of pixels.
    HOB_OPERATOR_HISTOGRAM = 8,
    /// `number` of its value is the mean of `channel`, not rounded.
    HOB_OPERATOR_MEAN = 9,
    /// `number` of its value is the number of pixels whose `channel` is not 0.
    HOB_OPERATOR_COUNT_NON_ZERO = 10,
    /// Finds `image`. `words[0]` of its value has the place of its upper left pixel: x in the low half, y in the high
    /// one. They count from the upper left pixel of the region, not of the frame. `words[1]` has the sum of squared
    /// differences. Both all ones: not found. Of equal matches the first one in reading order is found. In a region
    /// that is smaller than `image` it fails.
    HOB_OPERATOR_TEMPLATE = 11,
    /// Reads a number by comparing `glyphs`, whose top row is that of the region. `integer` of its value is the number;
    /// -1: nothing was read. `words[1]` has the number of digits in its low half. In its high half is 256 times the
    /// mean difference of the worst digit, or with `correlation` 1000 times what the worst one lacks to 1. It does not
    /// count when values are compared.
    HOB_OPERATOR_GLYPHS = 12,
} hob_operator;

/// A channel of pixels.
typedef enum hob_channel {
    /// Brightness, as HOB_OPERATOR_GRAY computes it.
    HOB_CHANNEL_LUMA = 0,
    /// Red.
    HOB_CHANNEL_RED = 1,
    /// Green.
    HOB_CHANNEL_GREEN = 2,
    /// Blue.
    HOB_CHANNEL_BLUE = 3,
} hob_channel;

/// hob_operator_desc.flags: swap 0 and 255 of HOB_OPERATOR_THRESHOLD.
#define HOB_OPERATOR_INVERT 1

/// hob_operator_desc.flags: see HOB_OPERATOR_DIFFERENCE.
#define HOB_OPERATOR_BINARY 2

/// hob_operator_desc.flags: HOB_OPERATOR_TEMPLATE and HOB_OPERATOR_GLYPHS compare colours, not brightness.
#define HOB_OPERATOR_COLOR 4

/// hob_operator_desc.flags: the number of HOB_OPERATOR_GLYPHS ends at the right edge of the region.
/// Without it, it starts at the left edge.
#define HOB_OPERATOR_RIGHT 8

/// The picture of a digit, for HOB_OPERATOR_GLYPHS.
typedef struct hob_glyph {
    /// 0 to 9. A digit may have several pictures.
    uint32_t digit;
    /// Must be 0.
    uint32_t reserved;
    /// The picture. Widths may differ.
    const hob_image *image;
    /// A gray image of the same size: pixels with 0 are background, and not compared. NULL: all are compared.
    const hob_image *mask;
} hob_glyph;

/// Parameters of a built-in cognition.
/// A kind ignores the fields and flags that are for others, if they are in their ranges.
typedef struct hob_operator_desc {
    /// sizeof(hob_operator_desc).
    uint32_t struct_size;
    /// The operation. Default HOB_OPERATOR_CROP.
    hob_operator kind;
    /// A name for messages. Default empty: the name of `kind`.
    hob_str name;
    /// HOB_OPERATOR_ bits. Default 0.
    uint32_t flags;
    /// The channel of HOB_OPERATOR_THRESHOLD, MEAN and COUNT_NON_ZERO. Default HOB_CHANNEL_LUMA, the only one of
    /// HOB_PIXEL_FORMAT_GRAY8 and NV12.
    hob_channel channel;
    /// For HOB_OPERATOR_THRESHOLD, and for HOB_OPERATOR_DIFFERENCE with HOB_OPERATOR_BINARY: 0 to 255. Default 0.
    uint32_t level;
    /// For HOB_OPERATOR_BOX, ERODE and DILATE: 0 to 64. Default 0.
    uint32_t radius;
    /// For HOB_OPERATOR_DOWNSCALE: 1 to 64. Default 0: 1.
    uint32_t factor;
    /// For HOB_OPERATOR_GLYPHS: most digits, 1 to 18. Default 0: 18.
    uint32_t max_digits;
    /// For HOB_OPERATOR_TEMPLATE: the image to find; copied. Each side has at most 1024 pixels.
    const hob_image *image;
    /// For HOB_OPERATOR_TEMPLATE: the greatest sum of squared differences that counts as found. A low limit makes it
    /// faster. Default UINT64_MAX: the best match is always found.
    uint64_t limit;
    /// For HOB_OPERATOR_GLYPHS: 1 to 256 pictures of digits; copied.
    const hob_glyph *glyphs;
    /// Bytes from one glyph to the next: sizeof(hob_glyph). Default 0: its first released size.
    size_t glyph_stride;
    /// Number of glyphs.
    uint32_t glyph_count;
    /// For HOB_OPERATOR_GLYPHS: the greatest mean difference of a channel at which a glyph fits, 0 to 255. Default 0:
    /// it must be exact. For lossy video: 20 to 35; at a higher one, digits may be read that are not there. Ignored
    /// with `correlation`.
    uint32_t tolerance;
    /// For HOB_OPERATOR_GLYPHS: columns between two digits. Default 0.
    uint32_t spacing;
    /// For HOB_OPERATOR_GLYPHS: the least correlation of the pixels with a glyph at which it fits, 1 to 100 percent. A
    /// tint over the whole picture and a lower contrast do not matter to it: for lossy video, and games that flash, use
    /// 60 to 80. Default 0: glyphs fit by `tolerance`.
    uint32_t correlation;
} hob_operator_desc;

/// Adds a built-in cognition.
/// On success `*out_cognition` is its id.
///
///     hob_operator_desc desc = HOB_OPERATOR_DESC_INIT;
///     desc.kind = HOB_OPERATOR_THRESHOLD;
///     desc.level = 128;
///     if (hob_perception_add_operator(eye, &desc, &threshold) != HOB_RESULT_OK) fail(hob_last_error());
///
/// HOB_RESULT_INVALID_ARGUMENT: a parameter is out of its range. Threads: exclusive.
HOB_EXPERIMENTAL_API hob_result hob_perception_add_operator(
    hob_perception *perception, const hob_operator_desc *desc, hob_cognition_id *out_cognition);

// ---- Experimental: Pipelines ----------------------------------------------------------------------------------------

/// A pipeline of a perception.
/// All zero is no pipeline.
typedef struct hob_perception_pipeline_id {
    /// Its place, from 1 on; 0 is no pipeline.
    uint32_t index1;
    /// Distinguishes it from earlier pipelines at that place.
    uint32_t generation;
} hob_perception_pipeline_id;

/// Whether a pipeline is computed when a frame begins.
typedef enum hob_prefetch {
    /// If it was asked for in most of the last frames.
    HOB_PREFETCH_PROFILE = 0,
    /// Always.
    HOB_PREFETCH_ALWAYS = 1,
    /// Never: only when it is asked for.
    HOB_PREFETCH_NEVER = 2,
} hob_prefetch;

/// A step of a pipeline: a cognition, and what it reads.
typedef struct hob_perception_step {
    /// The cognition.
    hob_cognition_id cognition;
    /// The region that it reads, in the image of each input. All zero: the whole images. With HOB_PIXEL_FORMAT_NV12,
    /// `x` and `y` are even.
    hob_rect region;
    /// Bytes for hob_cognition_call.parameters; copied. May be NULL if `parameters_size` is 0.
    const void *parameters;
    /// Bytes of `parameters`: at most 1 MiB.
    size_t parameters_size;
    /// For a step that reads the frame: the largest difference of a channel that is no change, 0 to 255. Default 0. For
    /// lossy video. The step then sees the pixels of the last change, so that slow drift does not add up.
    uint32_t tolerance;
    /// Must be 0.
    uint32_t reserved;
} hob_perception_step;

/// Parameters of a pipeline.
typedef struct hob_perception_pipeline_desc {
    /// sizeof(hob_perception_pipeline_desc).
    uint32_t struct_size;
    /// Whether it is computed when a frame begins. Default HOB_PREFETCH_PROFILE.
    hob_prefetch prefetch;
    /// Its name, for messages and statistics. Default empty.
    hob_str name;
    /// The name of the state that it is part of, for statistics. Default empty.
    hob_str state;
    /// Pipelines whose results are the inputs of the first step. NULL: the frame. They may be removed before this one.
    const hob_perception_pipeline_id *inputs;
    /// Number of inputs: 0 to 8.
    uint32_t input_count;
    /// Number of steps: 1 to 64.
    uint32_t step_count;
    /// The steps. Each one reads the result of the step before it. Copied.
    const hob_perception_step *steps;
    /// Bytes from one step to the next: sizeof(hob_perception_step). Default 0: its first released size.
    size_t step_stride;
} hob_perception_pipeline_desc;

/// Adds a pipeline.
/// It can be asked for from the next frame on; until then queries give HOB_RESULT_NO_CONSENSUS. Equal steps at the
/// beginning of pipelines are computed once. On success `*out_pipeline` is its id.
///
///     hob_perception_step steps[2] = {0};
///     steps[0].cognition = threshold;
///     steps[0].region.x = 90, steps[0].region.y = 171, steps[0].region.width = 48, steps[0].region.height = 16;
///     steps[1].cognition = reader;
///     hob_perception_pipeline_desc desc = HOB_PERCEPTION_PIPELINE_DESC_INIT;
///     desc.name = HOB_STR("health");
///     desc.steps = steps;
///     desc.step_stride = sizeof steps[0];
///     desc.step_count = 2;
///     if (hob_perception_add_pipeline(eye, &desc, &health) != HOB_RESULT_OK) fail(hob_last_error());
///
/// HOB_RESULT_NOT_FOUND: there is no such cognition, or no such pipeline. A region outside of the frame is a failure of
/// this pipeline only, which its queries report. Threads: exclusive.
HOB_EXPERIMENTAL_API hob_result hob_perception_add_pipeline(
    hob_perception *perception, const hob_perception_pipeline_desc *desc, hob_perception_pipeline_id *out_pipeline);

/// Removes a pipeline, and the steps that only it has.
/// HOB_RESULT_NOT_FOUND: there is no such pipeline. Threads: exclusive. Callbacks: hob_cognition_desc.release_value.
HOB_EXPERIMENTAL_API hob_result hob_perception_remove_pipeline(
    hob_perception *perception, hob_perception_pipeline_id pipeline);

/// Sets whether a pipeline is computed when a frame begins.
/// HOB_RESULT_NOT_FOUND: there is no such pipeline. Threads: exclusive.
HOB_EXPERIMENTAL_API hob_result hob_perception_set_prefetch(
    hob_perception *perception, hob_perception_pipeline_id pipeline, hob_prefetch prefetch);

// ---- Experimental: The frame ----------------------------------------------------------------------------------------

/// Pixels that moved since the last frame.
typedef struct hob_frame_move {
    /// Where they were.
    hob_rect source;
    /// The first column where they are now.
    uint32_t x;
    /// The first row where they are now.
    uint32_t y;
} hob_frame_move;

/// Whether hob_frame.dirty is trusted.
typedef enum hob_frame_trust {
    /// No: the pixels outside of the rectangles are compared. No hint can make a result wrong.
    HOB_FRAME_TRUST_COMPARE = 0,
    /// Yes: the pixels outside of the rectangles count as unchanged. A part of them, another part in each frame, is
    /// compared: pixels that stay different without a hint are found within 32 frames, if results are taken over. After
    /// the first one everything is compared, and hob_perception_statistics.is_distrusted is 1. An error with
    /// hob_perception_desc.borrows_frames: there is no copy to compare with later.
    HOB_FRAME_TRUST_AUDIT = 1,
} hob_frame_trust;

/// A frame.
typedef struct hob_frame {
    /// sizeof(hob_frame).
    uint32_t struct_size;
    /// Default HOB_PIXEL_FORMAT_BGRX8.
    hob_pixel_format format;
    /// The first pixel. The pixels are read only during the call, unless hob_perception_desc.borrows_frames is set.
    const void *pixels;
    /// Number of columns: 1 to 32768.
    uint32_t width;
    /// Number of rows: 1 to 32768.
    uint32_t height;
    /// Bytes from one row to the next. Default 0: rows without gaps.
    size_t stride;
    /// For HOB_PIXEL_FORMAT_NV12: the first pair of colour differences. Otherwise NULL.
    const void *chroma;
    /// Bytes from one row of `chroma` to the next. Default 0: rows without gaps.
    size_t chroma_stride;
    /// Hints: rectangles that contain all changes since the last frame; see `trust`. NULL: not known.
    /// They may reach beyond the frame.
    const hob_rect *dirty;
    /// Hints: pixels that moved since the last frame. Each move is checked before it is used. May be NULL.
    const hob_frame_move *moves;
    /// Number of `dirty`. 0 with `dirty` not NULL: nothing changed. At most 65536.
    uint32_t dirty_count;
    /// Number of `moves`. At most 65536.
    uint32_t move_count;
    /// Whether `dirty` is trusted. Default HOB_FRAME_TRUST_COMPARE.
    hob_frame_trust trust;
    /// Must be 0.
    uint32_t reserved;
} hob_frame;

/// Begins a frame: compares its pixels with the last frame's, and computes pipelines in advance; see hob_prefetch.
/// `executor` may be NULL: only this thread computes. Cognitions of later queries get the executor too: it must stay
/// valid until the next frame. Another size or format than before begins anew: nothing is known of past frames.
///
///     hob_frame frame = HOB_FRAME_INIT;
///     frame.pixels = pixels, frame.width = 1920, frame.height = 1080;
///     if (hob_perception_begin_frame(eye, &frame, NULL) != HOB_RESULT_OK) fail(hob_last_error());
///
/// HOB_RESULT_OK also if cognitions fail: only the pipelines that need them are affected. HOB_RESULT_LIMIT_EXCEEDED:
/// the kept frames take more than hob_perception_desc.memory_limit. With
/// hob_perception_desc.borrows_frames, HOB_RESULT_INVALID_ARGUMENT also if `pixels` are those of a frame that must stay
/// unchanged. Does not allocate, apart from the first frames after a new pipeline, size or executor.
///
/// Threads: exclusive. Callbacks: those of the cognitions, in this thread's floating-point environment, `perceive` also
/// on threads of the executor. Inside them all calls on this perception return HOB_RESULT_BUSY, const ones too.
HOB_EXPERIMENTAL_API hob_result hob_perception_begin_frame(
    hob_perception *perception, const hob_frame *frame, const hob_executor *executor);

// ---- Experimental: Queries ------------------------------------------------------------------------------------------

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
HOB_EXPERIMENTAL_API hob_result hob_perception_query(
    hob_perception *perception, hob_perception_pipeline_id pipeline, uint32_t frames, hob_value *out_value);

/// Gets the value of a pipeline for a past frame: `age` frames before the present one.
/// Computes it if it was not computed then. HOB_RESULT_LIMIT_EXCEEDED: so many past frames are not kept.
///
/// HOB_RESULT_NO_CONSENSUS: it cannot be known: the perception or all pipelines with these steps are younger, the
/// pipeline is not pure, or it has a tolerance. Other results as hob_perception_query. Threads: exclusive. Callbacks:
/// as hob_perception_begin_frame.
HOB_EXPERIMENTAL_API hob_result hob_perception_query_past(
    hob_perception *perception, hob_perception_pipeline_id pipeline, uint32_t age, hob_value *out_value);

/// A question of hob_perception_query_many.
typedef struct hob_perception_question {
    /// The pipeline.
    hob_perception_pipeline_id pipeline;
    /// The number of frames that must agree.
    uint32_t frames;
    /// Must be 0.
    uint32_t reserved;
} hob_perception_question;

/// An answer of hob_perception_query_many.
typedef struct hob_perception_answer {
    /// The value. All zero without HOB_RESULT_OK.
    hob_value value;
    /// The first frame of the unbroken run of equal values. It may be later if older frames are not known.
    uint64_t first_frame;
    /// As the result of hob_perception_query.
    hob_result result;
    /// 0.
    uint32_t reserved;
} hob_perception_answer;

/// Gets the values of several pipelines: hob_perception_query for each question, in one call.
/// `question_stride` is sizeof(hob_perception_question), `answer_stride` sizeof(hob_perception_answer). `*out_count`
/// receives the number of answers, which is the number of questions. `answers` NULL asks only for that. If `capacity`
/// is too small, the result is HOB_RESULT_BUFFER_TOO_SMALL.
///
/// HOB_RESULT_OK also if questions have other results: see hob_perception_answer.result. Threads: exclusive. Callbacks:
/// as hob_perception_begin_frame.
HOB_EXPERIMENTAL_API hob_result hob_perception_query_many(
    hob_perception *perception, const hob_perception_question *questions, size_t question_stride, size_t question_count,
    hob_perception_answer *answers, size_t answer_stride, size_t capacity, size_t *out_count);

/// Gets the image of a pipeline for the present frame, as a view.
/// Computes it if it is missing. The view is valid until the next call on this perception that is not const.
///
///     hob_image mask = HOB_IMAGE_INIT;
///     if (hob_perception_get_image(eye, health_mask, &mask) == HOB_RESULT_OK) show(&mask);
///
/// HOB_RESULT_INVALID_ARGUMENT: its last step makes no image. Other results as hob_perception_query. Threads:
/// exclusive. Callbacks: as hob_perception_begin_frame.
HOB_EXPERIMENTAL_API hob_result hob_perception_get_image(
    hob_perception *perception, hob_perception_pipeline_id pipeline, hob_image *out_image);

/// Gets the reason why a pipeline failed, without a NUL.
/// Empty if it did not fail, or if the cognition gave no reason. `*out_size` receives the required size. `buffer` NULL
/// asks only for that. If `capacity` is too small, the result is HOB_RESULT_BUFFER_TOO_SMALL. HOB_RESULT_NOT_FOUND:
/// there is no such pipeline. Threads: shared.
HOB_EXPERIMENTAL_API hob_result hob_perception_get_failure(
    const hob_perception *perception, hob_perception_pipeline_id pipeline, char *buffer, size_t capacity,
    size_t *out_size);

// ---- Experimental: Statistics ---------------------------------------------------------------------------------------

/// Counts of a perception since it was created, unless a field says otherwise.
/// An answer: set struct_size, or begin with HOB_PERCEPTION_STATISTICS_INIT.
typedef struct hob_perception_statistics {
    /// sizeof(hob_perception_statistics).
    uint32_t struct_size;
    /// 1: a hint of hob_frame.dirty was wrong under HOB_FRAME_TRUST_AUDIT, and everything is compared since.
    uint32_t is_distrusted;
    /// Pipelines now.
    uint64_t pipelines;
    /// Different steps now: those that pipelines share count once.
    uint64_t steps;
    /// Pipelines that were computed when the present frame began.
    uint64_t prefetched;
    /// Threads that could compute them: those of the executor.
    uint64_t workers;
    /// Frames.
    uint64_t frames;
    /// Frames whose results could be taken over.
    uint64_t grafted_frames;
    /// Queries.
    uint64_t queries;
    /// Runs of cognitions.
    uint64_t runs;
    /// Runs when frames began; `runs` includes them.
    uint64_t prefetch_runs;
    /// Runs for past frames; `runs` includes them.
    uint64_t past_runs;
    /// Runs to find cognitions that depend on more than they declare.
    uint64_t audit_runs;
    /// Cognitions that were found so. The log hook gets the name of each.
    uint64_t findings;
    /// Pixels that built-in cognitions read, and runs of the host's.
    uint64_t operations;
    /// Results that were taken over because their regions did not change.
    uint64_t grafts;
    /// Results that were taken over because the results of the step before were equal.
    uint64_t cut_offs;
    /// Results that were taken over from another place, by a move.
    uint64_t moves;
    /// Regions of the present frame that did not change.
    uint64_t same_regions;
    /// Regions of the present frame that changed.
    uint64_t changed_regions;
    /// Bytes that were compared.
    uint64_t compared_bytes;
    /// Bytes that were copied to keep frames. 0 with hob_perception_desc.borrows_frames.
    uint64_t copied_bytes;
    /// Times that a frame of another size or format began anew, the first frame included.
    uint64_t restarts;
    /// Share of the frames that were compared in each order, from HOB_COMPARE_ORDER_TOP_DOWN on.
    double order_shares[4];
    /// Mean duration of a frame whose results could be taken over, with its queries, in milliseconds.
    double grafted_ms;
    /// Mean duration of another frame, with its queries, in milliseconds.
    double plain_ms;
    /// Mean duration of compare and copy, in milliseconds.
    double take_ms;
    /// Mean duration of prefetch, in milliseconds.
    double prefetch_ms;
    /// Mean duration of a frame's queries, in milliseconds.
    double query_ms;
    /// Bytes of memory held, without what values and `user_data` refer to.
    uint64_t memory_used;
} hob_perception_statistics;

/// Gets the counts of a perception.
/// Frames per second are 1000 / `grafted_ms`, and 1000 / `plain_ms`. Threads: shared.
HOB_EXPERIMENTAL_API hob_result hob_perception_get_statistics(
    const hob_perception *perception, hob_perception_statistics *out_statistics);

/// Counts of a pipeline since it was added.
/// An answer: set struct_size, or begin with HOB_PERCEPTION_PIPELINE_STATISTICS_INIT.
typedef struct hob_perception_pipeline_statistics {
    /// sizeof(hob_perception_pipeline_statistics).
    uint32_t struct_size;
    /// 1: it is computed when a frame begins.
    uint32_t is_prefetched;
    /// Queries.
    uint64_t queries;
    /// Different values in the kept frames, as far as they were computed.
    uint64_t variations;
    /// The first frame of the unbroken run of equal values. It may be later if older frames are not known. 0: it has no
    /// value.
    uint64_t first_frame;
    /// Mean duration of a run of its last step in nanoseconds. 0: not known.
    double mean_ns;
} hob_perception_pipeline_statistics;

/// Gets the counts of a pipeline.
/// HOB_RESULT_NOT_FOUND: there is no such pipeline. Threads: shared.
HOB_EXPERIMENTAL_API hob_result hob_perception_get_pipeline_statistics(
    const hob_perception *perception, hob_perception_pipeline_id pipeline,
    hob_perception_pipeline_statistics *out_statistics);

/// Saves all counts as JSON, without a NUL.
/// An object with the fields of hob_perception_statistics, apart from `struct_size`. Its "pipeline_statistics" is an
/// array of objects with "name", "state" and the fields of hob_perception_pipeline_statistics.
///
/// `*out_size` receives the required size. `buffer` NULL asks only for that. If `capacity` is too small, the result is
/// HOB_RESULT_BUFFER_TOO_SMALL. Threads: shared.
HOB_EXPERIMENTAL_API hob_result hob_perception_save_json(
    const hob_perception *perception, char *buffer, size_t capacity, size_t *out_size);

// ---- Experimental: Pictures for debugging ---------------------------------------------------------------------------

/// Draws over a picture of the present frame: an outline of each watched region, and counts.
/// `target` has the frame's size and HOB_PIXEL_FORMAT_BGRX8 or HOB_PIXEL_FORMAT_BGRA8. Its `pixels` are written to, so
/// pass a copy of the frame. Green: the region did not change. Red: it changed. Yellow: it did not change, and overlaps
/// a region that changed. docs/perception.md explains the counts.
///
///     hob_image picture = HOB_IMAGE_INIT;
///     picture.pixels = copy_of_frame, picture.width = 320, picture.height = 200;
///     if (hob_perception_draw_overlay(eye, &picture) == HOB_RESULT_OK) show(&picture);
///
/// HOB_RESULT_NOT_FOUND: there is no frame yet. HOB_RESULT_INVALID_ARGUMENT: `target` has another format or size. Does
/// not allocate. Threads: shared.
HOB_EXPERIMENTAL_API hob_result hob_perception_draw_overlay(const hob_perception *perception, const hob_image *target);

// ---- Initialisers ---------------------------------------------------------------------------------------------------
//
// HOB_X_INIT is a hob_x with the library's defaults and this header's size: `hob_x value = HOB_X_INIT;`
// hob_x_init does the same for other languages: `size` is sizeof(hob_x).

HOB_EXPERIMENTAL_API hob_result hob_image_init(hob_image *value, uint32_t size);
static inline hob_image hob_image_default(void) {
    hob_image value;
    (void)hob_image_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_IMAGE_INIT (hob_image_default())

HOB_EXPERIMENTAL_API hob_result hob_perception_desc_init(hob_perception_desc *value, uint32_t size);
static inline hob_perception_desc hob_perception_desc_default(void) {
    hob_perception_desc value;
    (void)hob_perception_desc_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_PERCEPTION_DESC_INIT (hob_perception_desc_default())

HOB_EXPERIMENTAL_API hob_result hob_cognition_call_init(hob_cognition_call *value, uint32_t size);
static inline hob_cognition_call hob_cognition_call_default(void) {
    hob_cognition_call value;
    (void)hob_cognition_call_init(&value, (uint32_t)sizeof(value));
    value.input_stride = sizeof(hob_cognition_input);
    return value;
}
#define HOB_COGNITION_CALL_INIT (hob_cognition_call_default())

HOB_EXPERIMENTAL_API hob_result hob_cognition_desc_init(hob_cognition_desc *value, uint32_t size);
static inline hob_cognition_desc hob_cognition_desc_default(void) {
    hob_cognition_desc value;
    (void)hob_cognition_desc_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_COGNITION_DESC_INIT (hob_cognition_desc_default())

HOB_EXPERIMENTAL_API hob_result hob_operator_desc_init(hob_operator_desc *value, uint32_t size);
static inline hob_operator_desc hob_operator_desc_default(void) {
    hob_operator_desc value;
    (void)hob_operator_desc_init(&value, (uint32_t)sizeof(value));
    value.glyph_stride = sizeof(hob_glyph);
    return value;
}
#define HOB_OPERATOR_DESC_INIT (hob_operator_desc_default())

HOB_EXPERIMENTAL_API hob_result hob_perception_pipeline_desc_init(hob_perception_pipeline_desc *value, uint32_t size);
static inline hob_perception_pipeline_desc hob_perception_pipeline_desc_default(void) {
    hob_perception_pipeline_desc value;
    (void)hob_perception_pipeline_desc_init(&value, (uint32_t)sizeof(value));
    value.step_stride = sizeof(hob_perception_step);
    return value;
}
#define HOB_PERCEPTION_PIPELINE_DESC_INIT (hob_perception_pipeline_desc_default())

HOB_EXPERIMENTAL_API hob_result hob_frame_init(hob_frame *value, uint32_t size);
static inline hob_frame hob_frame_default(void) {
    hob_frame value;
    (void)hob_frame_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_FRAME_INIT (hob_frame_default())

HOB_EXPERIMENTAL_API hob_result hob_perception_statistics_init(hob_perception_statistics *value, uint32_t size);
static inline hob_perception_statistics hob_perception_statistics_default(void) {
    hob_perception_statistics value;
    (void)hob_perception_statistics_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_PERCEPTION_STATISTICS_INIT (hob_perception_statistics_default())

HOB_EXPERIMENTAL_API hob_result hob_perception_pipeline_statistics_init(hob_perception_pipeline_statistics *value, uint32_t size);
static inline hob_perception_pipeline_statistics hob_perception_pipeline_statistics_default(void) {
    hob_perception_pipeline_statistics value;
    (void)hob_perception_pipeline_statistics_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_PERCEPTION_PIPELINE_STATISTICS_INIT (hob_perception_pipeline_statistics_default())

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // HOBGOBLIN_PERCEPTION_H
